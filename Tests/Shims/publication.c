/* Stands between a program and its C library, and writes down what the program does to the files of one directory, so
   that tests can tell in which order that was and what a power failure could have made of it. On request a call fails.

   PUBLICATION_DIRECTORY  the directory, absolute
   PUBLICATION_LOG        a line for each call: its name, the file, its number where it has one, its result (0 or an errno)
   PUBLICATION_FAULTS     such as "fsync:1:5 write:2:28+ write:1:short": the call's name, which of its kind, counted from
                          1, and the errno; with + all later ones too; "short" takes half of what is to be written
   PUBLICATION_SPACE      bytes that fit into the directory's files; the write that goes beyond takes what fits, and the
                          next one gets ENOSPC */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { DESCRIPTORS = 4096, NAME = 256 };

static char names[DESCRIPTORS][NAME];
static long written;

static const char *directory(void) { return getenv("PUBLICATION_DIRECTORY"); }

static void note(const char *call, const char *name, const char *detail, int result) {
    static int log = -1;
    char line[2 * NAME + 64];
    if (log < 0) {
        const char *path = getenv("PUBLICATION_LOG");
        if (path == NULL) return;
        log = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    }
    int length = snprintf(line, sizeof line, "%s %s %s %d\n", call, name, detail, result);
    syscall(SYS_write, log, line, (size_t)length);
}

/* The errno with which this call is to fail, -1 for a short write, or 0. */
static int fault(const char *call) {
    static struct { char call[16]; int count; } kinds[16];
    int count = 0;
    for (int kind = 0; kind < 16; kind++) {
        if (kinds[kind].call[0] == 0) strncpy(kinds[kind].call, call, sizeof kinds[kind].call - 1);
        if (strcmp(kinds[kind].call, call) == 0) {
            count = ++kinds[kind].count;
            break;
        }
    }
    char faults[1024] = "";
    const char *wanted = getenv("PUBLICATION_FAULTS");
    if (wanted != NULL) strncpy(faults, wanted, sizeof faults - 1);
    char *rest = NULL;
    for (char *word = strtok_r(faults, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        char *how = NULL, *name = strtok_r(word, ":", &how), *place = strtok_r(NULL, ":", &how);
        if (name == NULL || place == NULL || strcmp(name, call) != 0) continue;
        int first = atoi(place);
        if (count == first || (count > first && strchr(how, '+') != NULL))
            return strncmp(how, "short", 5) == 0 ? -1 : atoi(how);
    }
    return 0;
}

static const char *name_of(int descriptor) {
    if (descriptor < 0 || descriptor >= DESCRIPTORS || names[descriptor][0] == 0) return NULL;
    return names[descriptor];
}

/* The file's name when it is in the directory, "." for the directory itself, otherwise NULL. */
static const char *name_at(int folder, const char *path) {
    static __thread char whole[8192];
    const char *wanted = directory();
    if (wanted == NULL || path == NULL) return NULL;
    int is_itself = strcmp(path, ".") == 0;
    if (path[0] != '/') {
        if (name_of(folder) != NULL && strcmp(name_of(folder), ".") == 0 && !is_itself) return path;
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t length = folder < 0 ? -1 : readlink(link, whole, sizeof whole / 2);
        if (length < 0) return NULL;
        if (length == 1) length = 0;
        snprintf(whole + length, sizeof whole - (size_t)length, "%s%s", is_itself ? "" : "/", is_itself ? "" : path);
        path = whole;
    }
    size_t length = strlen(wanted);
    if (strncmp(path, wanted, length) != 0) return NULL;
    if (path[length] == 0) return ".";
    return path[length] == '/' ? path + length + 1 : NULL;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int open_at(int folder, const char *path, int flags, mode_t mode) {
    const char *name = name_at(folder, path);
    if (name == NULL) return (int)syscall(SYS_openat, folder, path, flags, mode);
    char detail[64];
    int creates = (flags & O_CREAT) != 0, failure = fault(creates ? "create" : "open");
    snprintf(detail, sizeof detail, "%s%o", flags & O_EXCL ? "new," : "", mode);
    int descriptor = -1;
    if (failure > 0) errno = failure;
    else descriptor = (int)syscall(SYS_openat, folder, path, flags, mode);
    int saved = errno;
    if (descriptor >= 0 && descriptor < DESCRIPTORS) strncpy(names[descriptor], name, NAME - 1);
    if (creates) note("create", name, detail, descriptor < 0 ? saved : 0);
    errno = saved;
    return descriptor;
}

#define MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, mode_t); \
        va_end(list); \
    }

int open(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_at(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE(flags) return open_at(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) {
    MODE(flags) return open_at(folder, path, flags | O_LARGEFILE, mode);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
    const char *name = name_of(descriptor);
    if (name == NULL) return syscall(SYS_write, descriptor, bytes, count);
    char detail[64];
    int failure = fault("write");
    const char *space = getenv("PUBLICATION_SPACE");
    size_t taken = count;
    if (failure < 0) taken = count > 1 ? count / 2 : count;
    if (space != NULL && written + (long)taken > atol(space)) {
        taken = (size_t)(atol(space) - written);
        if (taken == 0) failure = ENOSPC;
    }
    ssize_t result = -1;
    if (failure > 0) errno = failure;
    else result = syscall(SYS_write, descriptor, bytes, taken);
    int saved = errno;
    if (result > 0) written += result;
    snprintf(detail, sizeof detail, "%ld", (long)(result > 0 ? result : 0));
    note("write", name, detail, result < 0 ? saved : 0);
    errno = saved;
    return result;
}

ssize_t read(int descriptor, void *bytes, size_t count) {
    int failure = name_of(descriptor) != NULL ? fault("read") : 0;
    if (failure > 0) {
        errno = failure;
        return -1;
    }
    return syscall(SYS_read, descriptor, bytes, failure < 0 && count > 1 ? count / 2 : count);
}

static int synchronized(int descriptor, long call) {
    const char *name = name_of(descriptor);
    int failure = name != NULL ? fault("fsync") : 0, result = -1;
    if (failure > 0) errno = failure;
    else result = (int)syscall(call, descriptor);
    int saved = errno;
    if (name != NULL) note("fsync", name, "-", result < 0 ? saved : 0);
    errno = saved;
    return result;
}

int fsync(int descriptor) { return synchronized(descriptor, SYS_fsync); }
int fdatasync(int descriptor) { return synchronized(descriptor, SYS_fdatasync); }

int renameat(int from_folder, const char *from, int to_folder, const char *to) {
    const char *old_name = name_at(from_folder, from), *new_name = name_at(to_folder, to);
    int failure = new_name != NULL ? fault("rename") : 0, result = -1;
    if (failure > 0) errno = failure;
    else result = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, 0);
    int saved = errno;
    if (new_name != NULL) note("rename", old_name != NULL ? old_name : "?", new_name, result < 0 ? saved : 0);
    errno = saved;
    return result;
}

int rename(const char *from, const char *to) { return renameat(AT_FDCWD, from, AT_FDCWD, to); }

int unlinkat(int folder, const char *path, int flags) {
    const char *name = name_at(folder, path);
    int failure = name != NULL ? fault("unlink") : 0, result = -1;
    if (failure > 0) errno = failure;
    else result = (int)syscall(SYS_unlinkat, folder, path, flags);
    int saved = errno;
    if (name != NULL) note("unlink", name, "-", result < 0 ? saved : 0);
    errno = saved;
    return result;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int mkdirat(int folder, const char *path, mode_t mode) {
    const char *name = name_at(folder, path);
    int result = (int)syscall(SYS_mkdirat, folder, path, mode), saved = errno;
    if (name != NULL && result == 0) note("mkdir", name, "-", 0);
    errno = saved;
    return result;
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int close(int descriptor) {
    const char *name = name_of(descriptor);
    int failure = name != NULL ? fault("close") : 0;
    if (name != NULL) names[descriptor][0] = 0;
    int result = (int)syscall(SYS_close, descriptor);
    if (failure > 0) {
        errno = failure;
        return -1;
    }
    return result;
}
