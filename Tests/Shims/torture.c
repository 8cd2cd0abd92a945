// Fails the N-th fallible call of a process, for scripts/torture.
//
//   TORTURE_FAIL=N        the N-th call fails, counted from 1; 0 or unset: none
//   TORTURE_PERSIST=1     so do all later ones of the same kind
//   TORTURE_REPORT=FILE   gets a line: the number of calls, and which one failed
//
// Counted are calls that reach the kernel, and memory that the four wrapped C libraries ask for: a failure in Swift's own
// allocations ends the process, as it should. Calls inside the C library itself cannot be seen.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_long calls;
static long chosen;
static int persists;
static _Atomic(const char *) failed;
static char report[4096];

static int (*real_close)(int);
static ssize_t (*real_write)(int, const void *, size_t);

// The C library's own way, which asks for no memory.
extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);

__attribute__((constructor)) static void prepare(void) {
    const char *number = getenv("TORTURE_FAIL"), *persist = getenv("TORTURE_PERSIST"), *file = getenv("TORTURE_REPORT");
    if (file) snprintf(report, sizeof report, "%s", file);
    persists = persist && *persist == '1';
    atomic_store(&calls, 0);
    if (number) chosen = atol(number);
}

// Written when the call fails and once more at the end: not every process gets that far.
static void tell(void) {
    if (!*report) return;
    char line[256];
    const char *name = atomic_load(&failed);
    int length = snprintf(line, sizeof line, "%ld %s\n", atomic_load(&calls), name ? name : "none");
    int file = (int)syscall(SYS_openat, AT_FDCWD, report, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return;
    ssize_t ignored = syscall(SYS_write, file, line, (size_t)length);
    (void)ignored;
    syscall(SYS_close, file);
}

__attribute__((destructor)) static void finish(void) { tell(); }

static int fails(const char *name) {
    const char *before = atomic_load(&failed);
    long number = atomic_fetch_add(&calls, 1) + 1;
    if (before) return persists && strcmp(before, name) == 0;
    if (!chosen || number != chosen) return 0;
    atomic_store(&failed, name);
    tell();
    return 1;
}

#define REAL(type, name, ...)                                                                                          \
    static type (*real)(__VA_ARGS__);                                                                                  \
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, #name)

#define FAILING(type, name, error, parameters, arguments, ...)                                                         \
    type name parameters {                                                                                             \
        REAL(type, name, __VA_ARGS__);                                                                                 \
        if (fails(#name)) {                                                                                            \
            errno = error;                                                                                             \
            return -1;                                                                                                 \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }

FAILING(int, fsync, EIO, (int file), (file), int)
FAILING(int, fdatasync, EIO, (int file), (file), int)
FAILING(int, rename, EIO, (const char *from, const char *to), (from, to), const char *, const char *)
FAILING(int, socket, EMFILE, (int domain, int type, int protocol), (domain, type, protocol), int, int, int)
FAILING(int, connect, ECONNREFUSED, (int file, const struct sockaddr *address, socklen_t size), (file, address, size),
        int, const struct sockaddr *, socklen_t)
FAILING(int, poll, ENOMEM, (struct pollfd *files, nfds_t count, int time), (files, count, time), struct pollfd *,
        nfds_t, int)
/* What a peer has reset is gone for good. A pair of sockets inside the process has no name and cannot be reset. */
static void reset(int file) {
    struct sockaddr_storage peer;
    socklen_t size = sizeof peer;
    if (getpeername(file, (struct sockaddr *)&peer, &size) == 0 && size > sizeof peer.ss_family) shutdown(file, SHUT_RDWR);
}

#define RESETTING(name, parameters, arguments, ...)                                                                    \
    ssize_t name parameters {                                                                                          \
        REAL(ssize_t, name, __VA_ARGS__);                                                                              \
        if (fails(#name)) {                                                                                            \
            reset(file);                                                                                               \
            errno = ECONNRESET;                                                                                        \
            return -1;                                                                                                 \
        }                                                                                                              \
        return real arguments;                                                                                         \
    }

RESETTING(send, (int file, const void *bytes, size_t count, int flags), (file, bytes, count, flags), int, const void *,
          size_t, int)
RESETTING(sendto,
          (int file, const void *bytes, size_t count, int flags, const struct sockaddr *to, socklen_t size),
          (file, bytes, count, flags, to, size), int, const void *, size_t, int, const struct sockaddr *, socklen_t)
RESETTING(recv, (int file, void *bytes, size_t count, int flags), (file, bytes, count, flags), int, void *, size_t, int)
FAILING(ssize_t, getrandom, EAGAIN, (void *bytes, size_t count, unsigned flags), (bytes, count, flags), void *, size_t,
        unsigned)

int open(const char *path, int flags, ...) {
    REAL(int, open, const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (fails("open")) {
        errno = EMFILE;
        return -1;
    }
    return real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...) {
    REAL(int, openat, int, const char *, int, ...);
    va_list rest;
    va_start(rest, flags);
    mode_t mode = va_arg(rest, mode_t);
    va_end(rest);
    if (fails("openat")) {
        errno = EMFILE;
        return -1;
    }
    return real(folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode) {
    REAL(FILE *, fopen, const char *, const char *);
    if (fails("fopen")) {
        errno = EMFILE;
        return NULL;
    }
    return real(path, mode);
}

ssize_t write(int file, const void *bytes, size_t count) {
    if (!real_write) *(void **)&real_write = dlsym(RTLD_NEXT, "write");
    if (fails("write")) {
        errno = ENOSPC;
        return -1;
    }
    return real_write(file, bytes, count);
}

ssize_t read(int file, void *bytes, size_t count) {
    REAL(ssize_t, read, int, void *, size_t);
    if (fails("read")) {
        errno = EIO;
        return -1;
    }
    return real(file, bytes, count);
}

// The file is closed all the same, as Linux does.
int close(int file) {
    if (!real_close) *(void **)&real_close = dlsym(RTLD_NEXT, "close");
    int result = real_close(file);
    if (fails("close")) {
        errno = EIO;
        return -1;
    }
    return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *), void *argument) {
    REAL(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    // Swift's own threads are made by libdispatch, which ends the process when it gets none.
    Dl_info caller;
    if (dladdr(__builtin_return_address(0), &caller) && !strstr(caller.dli_fname, "libdispatch") && fails("pthread_create"))
        return EAGAIN;
    return real(thread, attributes, body, argument);
}

// Whether the caller is one of the C libraries that StoreLedger wraps; decided once for each address.
static int is_wrapped(const void *address) {
    static _Atomic(const void *) known[4096];
    static _Atomic char verdict[4096];
    size_t place = ((size_t)address >> 2) % 4096;
    if (atomic_load(&known[place]) == address) return atomic_load(&verdict[place]) == 1;
    Dl_info caller;
    int found = 0;
    if (dladdr(address, &caller) && caller.dli_fname) {
        static const char *const names[] = {"libcurl", "libpq", "libcrypto", "libssl", "libcsv"};
        for (size_t name = 0; name < sizeof names / sizeof *names; name++)
            if (strstr(caller.dli_fname, names[name])) found = 1;
    }
    atomic_store(&known[place], NULL);
    atomic_store(&verdict[place], (char)found);
    atomic_store(&known[place], address);
    return found;
}

void *malloc(size_t size) {
    if (is_wrapped(__builtin_return_address(0)) && fails("malloc")) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_malloc(size);
}

void *realloc(void *old, size_t size) {
    if (is_wrapped(__builtin_return_address(0)) && fails("realloc")) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(old, size);
}

void *calloc(size_t count, size_t size) {
    extern void *__libc_calloc(size_t, size_t);
    if (is_wrapped(__builtin_return_address(0)) && fails("calloc")) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_calloc(count, size);
}
