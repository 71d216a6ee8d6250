/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded before a program (LD_PRELOAD), kills it with SIGKILL before the file call whose number NIGH_KILL_AT says,
 * from 1 on, of those that change what is on the disk: a random moment that a seed brings back.  A write may be cut in
 * the middle.  NIGH_KILL_COUNT names a file that gets the number of calls, where the program comes to its end.  With
 * NIGH_NO_SYNC syncs do nothing and say that all is well.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_ulong calls;
static unsigned long kill_at;
static int no_sync;

__attribute__((constructor)) static void begin(void) {
    const char *at = getenv("NIGH_KILL_AT");
    kill_at = at == NULL ? 0 : strtoul(at, NULL, 10);
    no_sync = getenv("NIGH_NO_SYNC") != NULL;
}

__attribute__((destructor)) static void end(void) {
    const char *path = getenv("NIGH_KILL_COUNT");
    FILE *file = path == NULL ? NULL : fopen(path, "w");
    if (file == NULL) return;
    (void)fprintf(file, "%lu\n", atomic_load(&calls));
    (void)fclose(file);
}

static int is_the_one(void) { return atomic_fetch_add(&calls, 1) + 1 == kill_at; }

static void die_here(void) {
    if (is_the_one()) (void)raise(SIGKILL);
}

/* The next function of a name, of the type of `own`. */
#define NEXT(own, name) ((__typeof__(&(own)))dlsym(RTLD_NEXT, name))

static ssize_t write_some(const char *name, int fd, const void *bytes, size_t length, off_t offset) {
    ssize_t (*next)(int, const void *, size_t, off_t) = NEXT(pwrite, name);
    const int last = is_the_one();
    if (last && kill_at % 2 != 0) (void)next(fd, bytes, length / 2, offset);
    if (last) (void)raise(SIGKILL);
    return next(fd, bytes, length, offset);
}

/* The names of parameters are ours. NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t offset) {
    return write_some("pwrite", fd, bytes, length, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t offset) {
    return write_some("pwrite64", fd, bytes, length, offset);
}

int fsync(int fd) {
    die_here();
    return no_sync ? 0 : NEXT(fsync, "fsync")(fd);
}

int renameat(int from_directory, const char *from, int to_directory, const char *to) {
    die_here();
    return NEXT(renameat, "renameat")(from_directory, from, to_directory, to);
}

int renameat2(int from_directory, const char *from, int to_directory, const char *to, unsigned flags) {
    die_here();
    return NEXT(renameat2, "renameat2")(from_directory, from, to_directory, to, flags);
}

int unlinkat(int directory, const char *name, int flags) {
    die_here();
    return NEXT(unlinkat, "unlinkat")(directory, name, flags);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
