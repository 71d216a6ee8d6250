/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* The operating system's files behind the table of nigh.h.  Calls that a signal interrupts are made again; a failed
 * sync never is, since the kernel may have dropped the very pages it failed to write. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nigh.h"

/* Linux moves at most this many bytes a call. */
#define MAX_BYTES ((size_t)1 << 30)

static int at(nigh_file directory) { return directory == NIGH_NO_DIRECTORY ? AT_FDCWD : (int)directory; }

/* A pipe in a collection would have us wait for its other end. */
static int refuse_irregular(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0) return errno;
    return S_ISREG(status.st_mode) ? 0 : S_ISDIR(status.st_mode) ? EISDIR : ENOTSUP;
}

static int posix_open(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out) {
    (void)user;
    int flags = O_CLOEXEC;
    if (mode == NIGH_OPEN_READ) flags |= O_RDONLY;
    if (mode == NIGH_OPEN_REGULAR) flags |= O_RDONLY | O_NONBLOCK;
    if (mode == NIGH_OPEN_UPDATE) flags |= O_RDWR | O_NONBLOCK;
    if (mode == NIGH_OPEN_CREATE) flags |= O_RDWR | O_CREAT | O_EXCL;
    if (mode == NIGH_OPEN_DIRECTORY) flags |= O_RDONLY | O_DIRECTORY;
    int fd;
    do fd = openat(at(directory), name, flags, 0666);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return errno;
    int failed = mode == NIGH_OPEN_REGULAR || mode == NIGH_OPEN_UPDATE ? refuse_irregular(fd) : 0;
    if (failed != 0) {
        (void)close(fd);
        return failed;
    }
    *out = fd;
    return 0;
}

static int posix_close(void *user, nigh_file file) {
    (void)user;
    return close((int)file) == 0 ? 0 : errno; /* also after EINTR the descriptor is gone */
}

/* Pipes have no positions; a reader that goes forwards does not need them. */
static ssize_t read_any(int fd, void *buffer, size_t length, off_t offset) {
    ssize_t moved = pread(fd, buffer, length, offset);
    return moved < 0 && errno == ESPIPE ? read(fd, buffer, length) : moved;
}

static int posix_read(void *user, nigh_file file, uint64_t offset, void *buffer, size_t length, size_t *moved) {
    (void)user;
    if (offset > INT64_MAX) return EOVERFLOW;
    if (length > MAX_BYTES) length = MAX_BYTES;
    ssize_t got;
    do got = read_any((int)file, buffer, length, (off_t)offset);
    while (got < 0 && errno == EINTR);
    if (got < 0) return errno;
    *moved = (size_t)got;
    return 0;
}

static int posix_write(void *user, nigh_file file, uint64_t offset, const void *bytes, size_t length, size_t *moved) {
    (void)user;
    if (offset > INT64_MAX) return EOVERFLOW;
    if (length > MAX_BYTES) length = MAX_BYTES;
    ssize_t put;
    do put = pwrite((int)file, bytes, length, (off_t)offset);
    while (put < 0 && errno == EINTR);
    if (put < 0) return errno;
    *moved = (size_t)put;
    return 0;
}

static int posix_length(void *user, nigh_file file, uint64_t *out) {
    (void)user;
    struct stat status;
    if (fstat((int)file, &status) != 0) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    /* What is no regular file has no length to rely on. */
    *out = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : UINT64_MAX;
    return 0;
}

static int posix_sync(void *user, nigh_file file) {
    (void)user;
    return fsync((int)file) == 0 ? 0 : errno;
}

static int posix_lock(void *user, nigh_file file) {
    (void)user;
    int result;
    do result = flock((int)file, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

static int posix_map(void *user, nigh_file file, uint64_t length, const void **out) {
    (void)user;
    if (length > SIZE_MAX) return ENOMEM;
    void *address = mmap(NULL, (size_t)length, PROT_READ, MAP_SHARED, (int)file, 0);
    if (address == MAP_FAILED) return errno;
    *out = address;
    return 0;
}

static int posix_unmap(void *user, const void *address, uint64_t length) {
    (void)user;
    void *writable;
    memcpy(&writable, &address, sizeof writable); /* munmap does not write, its prototype is older than const */
    return munmap(writable, (size_t)length) == 0 ? 0 : errno;
}

static int posix_rename(void *user, nigh_file directory, const char *from, const char *to) {
    (void)user;
    return renameat(at(directory), from, at(directory), to) == 0 ? 0 : errno;
}

/* For file systems that know no such rename: two names for a moment, which a crash may leave. */
static int link_new(int directory, const char *from, const char *to) {
    if (linkat(directory, from, directory, to, 0) == 0) return unlinkat(directory, from, 0) == 0 ? 0 : errno;
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
    if (faccessat(directory, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0) return EEXIST;
    return renameat(directory, from, directory, to) == 0 ? 0 : errno;
}

static int posix_rename_new(void *user, nigh_file directory, const char *from, const char *to) {
    (void)user;
#ifdef RENAME_NOREPLACE
    if (renameat2(at(directory), from, at(directory), to, RENAME_NOREPLACE) == 0) return 0;
    if (errno != EINVAL && errno != ENOSYS) return errno;
#endif
    return link_new(at(directory), from, to);
}

static int posix_remove(void *user, nigh_file directory, const char *name) {
    (void)user;
    if (unlinkat(at(directory), name, 0) == 0) return 0;
    if (errno != EISDIR) return errno;
    return unlinkat(at(directory), name, AT_REMOVEDIR) == 0 ? 0 : errno;
}

static int posix_make_directory(void *user, const char *path) {
    (void)user;
    return mkdir(path, 0777) == 0 ? 0 : errno;
}

static int posix_list(void *user, nigh_file file, int (*entry)(void *entry_user, const char *name), void *entry_user) {
    (void)user;
    int fd = openat((int)file, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* with a position of its own */
    if (fd < 0) return errno;
    DIR *directory = fdopendir(fd);
    if (directory == NULL) {
        int failed = errno;
        (void)close(fd);
        return failed;
    }
    int result = 0;
    while (result == 0) {
        errno = 0;
        const struct dirent *found = readdir(directory);
        if (found == NULL) {
            result = errno;
            break;
        }
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0) continue;
        result = entry(entry_user, found->d_name);
    }
    (void)closedir(directory);
    return result;
}

static int posix_truncate(void *user, nigh_file file, uint64_t length) {
    (void)user;
    if (length > INT64_MAX) return EOVERFLOW;
    int result;
    do result = ftruncate((int)file, (off_t)length);
    while (result != 0 && errno == EINTR);
    return result == 0 ? 0 : errno;
}

static int posix_leads_to(void *user, nigh_file directory, const char *name, nigh_file file) {
    struct stat named;
    struct stat opened;
    (void)user;
    if (fstatat(at(directory), name, &named, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? ESTALE : errno;
    if (fstat((int)file, &opened) != 0) return errno;
    return named.st_dev == opened.st_dev && named.st_ino == opened.st_ino ? 0 : ESTALE;
}

static const nigh_file_system posix_file_system = {
    .size = sizeof(nigh_file_system),
    .open = posix_open,
    .close = posix_close,
    .read = posix_read,
    .write = posix_write,
    .length = posix_length,
    .sync = posix_sync,
    .lock = posix_lock,
    .map = posix_map,
    .unmap = posix_unmap,
    .rename = posix_rename,
    .remove = posix_remove,
    .make_directory = posix_make_directory,
    .list = posix_list,
    .truncate = posix_truncate,
    .rename_new = posix_rename_new,
    .leads_to = posix_leads_to,
};

const nigh_file_system *nigh_file_system_posix(void) { return &posix_file_system; }
