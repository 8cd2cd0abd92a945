/* Lets a program's disk be full for a while: what would make a file larger fails with ENOSPC, what writes over its bytes does not.

   DISK_FULL  the disk is full while a file of this name exists */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int is_full(int file, off_t end) {
    const char *path = getenv("DISK_FULL");
    struct stat status;
    // What the program says goes to another disk.
    if (file <= STDERR_FILENO || path == NULL || syscall(SYS_access, path, F_OK) != 0) return 0;
    if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode) || end <= status.st_size) return 0;
    errno = ENOSPC;
    return 1;
}

ssize_t write(int file, const void *bytes, size_t count) {
    off_t place = lseek(file, 0, SEEK_CUR);
    if (place >= 0 && is_full(file, place + (off_t)count)) return -1;
    return syscall(SYS_write, file, bytes, count);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t place) {
    if (is_full(file, place + (off_t)count)) return -1;
    return syscall(SYS_pwrite64, file, bytes, count, place);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off_t place) { return pwrite(file, bytes, count, place); }

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t place) {
    off_t end = place;
    for (int part = 0; part < count; part++) end += (off_t)parts[part].iov_len;
    if (is_full(file, end)) return -1;
    return syscall(SYS_pwritev, file, parts, count, (unsigned long)place, 0UL);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off_t place) { return pwritev(file, parts, count, place); }

int posix_fallocate(int file, off_t place, off_t count) {
    if (is_full(file, place + count)) return ENOSPC;
    return syscall(SYS_fallocate, file, 0, place, count) == 0 ? 0 : errno;
}

int posix_fallocate64(int file, off_t place, off_t count) { return posix_fallocate(file, place, count); }
