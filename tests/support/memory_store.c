/* SPDX-License-Identifier: Apache-2.0 */
#include "support/memory_store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIRECTORY MEMORY_STORE_FILES

/* ------------------------------------------------------------------- files */

struct memory_store_file *memory_store_find(struct memory_store *store, const char *name) {
    for (int i = 0; i < MEMORY_STORE_FILES; i++)
        if (strcmp(store->files[i].name, name) == 0) return &store->files[i];
    return NULL;
}

static void drop(struct memory_store_file *file) {
    file->name[0] = '\0';
    if (file->handles != 0) return;
    free(file->bytes);
    *file = (struct memory_store_file){.length = 0};
}

static struct memory_store_file *add(struct memory_store *store, const char *name) {
    for (int i = 0; i < MEMORY_STORE_FILES; i++) {
        struct memory_store_file *file = &store->files[i];
        if (file->name[0] != '\0' || file->handles != 0) continue;
        (void)snprintf(file->name, sizeof file->name, "%s", name);
        return file;
    }
    return NULL;
}

/* New bytes are zeros. */
static void resize(struct memory_store_file *file, size_t length) {
    uint8_t *bytes = realloc(file->bytes, length + 1);
    if (bytes == NULL) abort();
    if (length > file->length) memset(bytes + file->length, 0, length - file->length);
    file->bytes = bytes;
    file->length = length;
}

void memory_store_put(struct memory_store *store, const char *name, const uint8_t *bytes, size_t length) {
    struct memory_store_file *file = memory_store_find(store, name);
    if (file == NULL) file = add(store, name);
    if (file == NULL) abort();
    resize(file, length);
    if (length != 0) memcpy(file->bytes, bytes, length);
}

void memory_store_copy(const struct memory_store *from, struct memory_store *to) {
    for (int i = 0; i < MEMORY_STORE_FILES; i++)
        if (from->files[i].name[0] != '\0')
            memory_store_put(to, from->files[i].name, from->files[i].bytes, from->files[i].length);
}

static bool all_in(struct memory_store *a, struct memory_store *b) {
    for (int i = 0; i < MEMORY_STORE_FILES; i++) {
        const struct memory_store_file *one = &a->files[i];
        if (one->name[0] == '\0') continue;
        const struct memory_store_file *other = memory_store_find(b, one->name);
        if (other == NULL || other->length != one->length) return false;
        if (one->length != 0 && memcmp(other->bytes, one->bytes, one->length) != 0) return false;
    }
    return true;
}

bool memory_store_equal(struct memory_store *a, struct memory_store *b) { return all_in(a, b) && all_in(b, a); }

void memory_store_clear(struct memory_store *store) {
    for (int i = 0; i < MEMORY_STORE_FILES; i++) {
        store->files[i].handles = 0;
        drop(&store->files[i]);
    }
}

/* ------------------------------------------------------------------- table */

static int store_open(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out) {
    struct memory_store *store = user;
    *out = DIRECTORY;
    if (directory == NIGH_NO_DIRECTORY) return mode == NIGH_OPEN_DIRECTORY ? 0 : ENOENT;
    if (mode == NIGH_OPEN_DIRECTORY) return ENOTDIR;
    struct memory_store_file *file = memory_store_find(store, name);
    if (mode == NIGH_OPEN_CREATE && file != NULL) return EEXIST;
    if (mode != NIGH_OPEN_CREATE && file == NULL) return ENOENT;
    if (file == NULL) file = add(store, name);
    if (file == NULL) return ENOSPC;
    file->handles++;
    *out = file - store->files;
    return 0;
}

static int store_close(void *user, nigh_file handle) {
    struct memory_store *store = user;
    if (handle == DIRECTORY) return 0;
    struct memory_store_file *file = &store->files[handle];
    file->handles--;
    if (file->name[0] == '\0') drop(file);
    return 0;
}

static int store_read(void *user, nigh_file handle, uint64_t offset, void *buffer, size_t length, size_t *moved) {
    const struct memory_store_file *file = &((struct memory_store *)user)->files[handle];
    *moved = 0;
    if (offset >= file->length) return 0;
    *moved = length < file->length - offset ? length : (size_t)(file->length - offset);
    memcpy(buffer, file->bytes + offset, *moved);
    return 0;
}

static int store_write(void *user, nigh_file handle, uint64_t offset, const void *bytes, size_t length, size_t *moved) {
    struct memory_store_file *file = &((struct memory_store *)user)->files[handle];
    if (offset + length > file->length) resize(file, (size_t)offset + length);
    if (length != 0) memcpy(file->bytes + offset, bytes, length);
    *moved = length;
    return 0;
}

static int store_length(void *user, nigh_file handle, uint64_t *out) {
    if (handle == DIRECTORY) return EISDIR;
    *out = ((struct memory_store *)user)->files[handle].length;
    return 0;
}

static int do_nothing(void *user, nigh_file handle) {
    (void)user;
    (void)handle;
    return 0;
}

static int store_map(void *user, nigh_file handle, uint64_t length, const void **out) {
    const struct memory_store_file *file = &((struct memory_store *)user)->files[handle];
    if (length != file->length) abort(); /* the reader maps what it has measured */
    uint8_t *copy = aligned_alloc(64, ((size_t)length + 63) / 64 * 64);
    if (copy == NULL) return ENOMEM;
    memcpy(copy, file->bytes, (size_t)length);
    *out = copy;
    return 0;
}

static int store_unmap(void *user, const void *address, uint64_t length) {
    void *copy;
    (void)user;
    (void)length;
    memcpy(&copy, &address, sizeof copy);
    free(copy);
    return 0;
}

static int store_remove(void *user, nigh_file directory, const char *name) {
    struct memory_store_file *file = memory_store_find(user, name);
    if (directory == NIGH_NO_DIRECTORY) return 0; /* the directory itself, which is empty */
    if (file == NULL) return ENOENT;
    drop(file);
    return 0;
}

static int store_rename(void *user, nigh_file directory, const char *from, const char *to) {
    struct memory_store_file *file = memory_store_find(user, from);
    if (file == NULL) return ENOENT;
    (void)store_remove(user, directory, to);
    (void)snprintf(file->name, sizeof file->name, "%s", to);
    return 0;
}

static int store_make_directory(void *user, const char *path) {
    (void)user;
    (void)path;
    return EEXIST;
}

static int store_list(void *user, nigh_file directory, int (*entry)(void *entry_user, const char *name),
                      void *entry_user) {
    const struct memory_store *store = user;
    int failed = 0;
    (void)directory;
    for (int i = 0; i < MEMORY_STORE_FILES && failed == 0; i++)
        if (store->files[i].name[0] != '\0') failed = entry(entry_user, store->files[i].name);
    return failed;
}

static int store_truncate(void *user, nigh_file handle, uint64_t length) {
    resize(&((struct memory_store *)user)->files[handle], (size_t)length);
    return 0;
}

nigh_file_system memory_store_table(struct memory_store *store) {
    return (nigh_file_system){.size = sizeof(nigh_file_system),
                              .user = store,
                              .open = store_open,
                              .close = store_close,
                              .read = store_read,
                              .write = store_write,
                              .length = store_length,
                              .sync = do_nothing,
                              .lock = do_nothing,
                              .map = store_map,
                              .unmap = store_unmap,
                              .rename = store_rename,
                              .remove = store_remove,
                              .make_directory = store_make_directory,
                              .list = store_list,
                              .truncate = store_truncate};
}
