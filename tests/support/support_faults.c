/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Files that fail and memory that runs out, on demand. */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "support/support.h"

static const nigh_file_system *real(void) { return nigh_file_system_posix(); }

/* 0, or the error this call is to give. */
static int fault(struct faulty_files *files, unsigned kind) {
    if ((files->kinds & kind) == 0) return 0;
    uint64_t call = __atomic_fetch_add(&files->calls, 1, __ATOMIC_RELAXED);
    if (call != files->fail_at && !(files->sticky && call > files->fail_at)) return 0;
    if (files->failed_kind == 0) files->failed_kind = kind;
    return files->error;
}

static int faulty_open(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out) {
    struct faulty_files *files = user;
    int failed = fault(files, FAULT_OPEN);
    if (failed == 0) failed = real()->open(NULL, directory, name, mode, out);
    if (failed == 0) files->open_files++;
    return failed;
}

static int faulty_close(void *user, nigh_file file) {
    struct faulty_files *files = user;
    files->open_files--;
    return real()->close(NULL, file);
}

static int faulty_read(void *user, nigh_file file, uint64_t offset, void *buffer, size_t length, size_t *moved) {
    int failed = fault(user, FAULT_READ);
    return failed != 0 ? failed : real()->read(NULL, file, offset, buffer, length, moved);
}

/* A write that fails for want of space has often written something: half of it here. */
static int faulty_write(void *user, nigh_file file, uint64_t offset, const void *bytes, size_t length, size_t *moved) {
    int failed = fault(user, FAULT_WRITE);
    if (failed != 0) (void)real()->write(NULL, file, offset, bytes, length / 2, moved);
    return failed != 0 ? failed : real()->write(NULL, file, offset, bytes, length, moved);
}

static int faulty_length(void *user, nigh_file file, uint64_t *out) {
    int failed = fault(user, FAULT_LENGTH);
    return failed != 0 ? failed : real()->length(NULL, file, out);
}

static int faulty_sync(void *user, nigh_file file) {
    int failed = fault(user, FAULT_SYNC);
    return failed != 0 ? failed : real()->sync(NULL, file);
}

static int faulty_lock(void *user, nigh_file file) {
    int failed = fault(user, FAULT_LOCK);
    return failed != 0 ? failed : real()->lock(NULL, file);
}

static int faulty_map(void *user, nigh_file file, uint64_t length, const void **out) {
    struct faulty_files *files = user;
    int failed = fault(files, FAULT_MAP);
    if (failed == 0) failed = real()->map(NULL, file, length, out);
    if (failed == 0) files->live_maps++;
    return failed;
}

static int faulty_unmap(void *user, const void *address, uint64_t length) {
    struct faulty_files *files = user;
    files->live_maps--;
    return real()->unmap(NULL, address, length);
}

static int faulty_rename_new(void *user, nigh_file directory, const char *from, const char *to) {
    int failed = fault(user, FAULT_RENAME);
    return failed != 0 ? failed : real()->rename_new(NULL, directory, from, to);
}

static int faulty_rename(void *user, nigh_file directory, const char *from, const char *to) {
    int failed = fault(user, FAULT_RENAME);
    return failed != 0 ? failed : real()->rename(NULL, directory, from, to);
}

static int faulty_remove(void *user, nigh_file directory, const char *name) {
    int failed = fault(user, FAULT_REMOVE);
    return failed != 0 ? failed : real()->remove(NULL, directory, name);
}

static int faulty_make_directory(void *user, const char *path) {
    int failed = fault(user, FAULT_MAKE);
    return failed != 0 ? failed : real()->make_directory(NULL, path);
}

static int faulty_list(void *user, nigh_file directory, int (*entry)(void *entry_user, const char *name),
                       void *entry_user) {
    int failed = fault(user, FAULT_LIST);
    return failed != 0 ? failed : real()->list(NULL, directory, entry, entry_user);
}

static int faulty_truncate(void *user, nigh_file file, uint64_t length) {
    int failed = fault(user, FAULT_TRUNCATE);
    return failed != 0 ? failed : real()->truncate(NULL, file, length);
}

void faulty_files_init(struct faulty_files *files) {
    *files = (struct faulty_files){.kinds = FAULT_ALL, .fail_at = UINT64_MAX, .error = EIO};
    files->table = (nigh_file_system){
        .size = sizeof(nigh_file_system),
        .user = files,
        .open = faulty_open,
        .close = faulty_close,
        .read = faulty_read,
        .write = faulty_write,
        .length = faulty_length,
        .sync = faulty_sync,
        .lock = faulty_lock,
        .map = faulty_map,
        .unmap = faulty_unmap,
        .rename = faulty_rename,
        .rename_new = faulty_rename_new,
        .remove = faulty_remove,
        .make_directory = faulty_make_directory,
        .list = faulty_list,
        .truncate = faulty_truncate,
    };
}

static void *faulty_allocate(void *user, size_t size, size_t alignment) {
    struct faulty_memory *memory = user;
    if (__atomic_fetch_add(&memory->calls, 1, __ATOMIC_RELAXED) == memory->fail_at) return NULL;
    if (alignment < sizeof(void *)) alignment = sizeof(void *);
    if (size > __atomic_load_n(&memory->largest, __ATOMIC_RELAXED))
        __atomic_store_n(&memory->largest, size, __ATOMIC_RELAXED);
    void *pointer = NULL;
    if (posix_memalign(&pointer, alignment, size) != 0) return NULL;
    __atomic_fetch_add(&memory->live, 1, __ATOMIC_RELAXED);
    return pointer;
}

static void faulty_release(void *user, void *pointer) {
    struct faulty_memory *memory = user;
    if (pointer != NULL) __atomic_fetch_sub(&memory->live, 1, __ATOMIC_RELAXED);
    free(pointer);
}

nigh_allocator faulty_memory_allocator(struct faulty_memory *memory) {
    return (nigh_allocator){.user = memory, .allocate = faulty_allocate, .release = faulty_release};
}

static void *measured_allocate(void *user, size_t size, size_t alignment) {
    struct measured_memory *memory = user;
    void *pointer = NULL;
    if (posix_memalign(&pointer, alignment < 16 ? 16 : alignment, size) != 0) return NULL;
    const size_t live = __atomic_add_fetch(&memory->live, malloc_usable_size(pointer), __ATOMIC_RELAXED);
    size_t peak = __atomic_load_n(&memory->peak, __ATOMIC_RELAXED);
    while (live > peak &&
           !__atomic_compare_exchange_n(&memory->peak, &peak, live, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return pointer;
}

static void measured_release(void *user, void *pointer) {
    struct measured_memory *memory = user;
    __atomic_sub_fetch(&memory->live, malloc_usable_size(pointer), __ATOMIC_RELAXED);
    free(pointer);
}

nigh_allocator measured_memory_allocator(struct measured_memory *memory) {
    return (nigh_allocator){.user = memory, .allocate = measured_allocate, .release = measured_release};
}
