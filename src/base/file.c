/* SPDX-License-Identifier: Apache-2.0 */
/* Whole reads and writes with errors that name the file; paths; directories. */
#include "base/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/secret.h"
#include "base/status.h"

#define NAMELESS_TRIES 100u

/* Takes over `path`. */
static nigh_status open_at(const nigh_context *context, nigh_file directory, const char *name, char *path,
                           unsigned mode, struct nigh__file *out, nigh_error *error) {
    *out = (struct nigh__file){.context = context, .path = path};
    if (path == NULL) return nigh__no_memory(error, "for a path");
    int failed = context->files->open(context->files->user, directory, name, mode, &out->handle);
    if (failed != 0) {
        nigh_status status = nigh__fail_system(error, failed, path, mode == NIGH_OPEN_CREATE ? "create" : "open");
        nigh__file_release(out);
        return status;
    }
    out->open = true;
    return NIGH_OK;
}

nigh_status nigh__file_open(const nigh_context *context, const char *path, unsigned mode, struct nigh__file *out,
                            nigh_error *error) {
    return open_at(context, NIGH_NO_DIRECTORY, path, nigh__string_copy(context, path), mode, out, error);
}

nigh_status nigh__file_open_in(const struct nigh__file *directory, const char *name, unsigned mode,
                               struct nigh__file *out, nigh_error *error) {
    const nigh_context *context = directory->context;
    return open_at(context, directory->handle, name, nigh__path_join(context, directory->path, name), mode, out, error);
}

nigh_status nigh__file_open_nameless(const nigh_context *context, const char *folder, struct nigh__file *out,
                                     nigh_error *error) {
    nigh_error why = {.status = NIGH_OK};
    nigh_status status = NIGH_EIO;
    for (unsigned attempt = 0; attempt < NAMELESS_TRIES; attempt++) {
        char name[40];
        (void)snprintf(name, sizeof name, "nigh-%016" PRIx64 ".tmp", nigh__secret() + attempt);
        char *path = nigh__path_join(context, folder, name);
        if (path == NULL) return nigh__no_memory(error, "for the name of a temporary file");
        status = nigh__file_open(context, path, NIGH_OPEN_CREATE, out, &why);
        if (status == NIGH_OK) nigh__file_remove(context, path);
        nigh__free(context, path);
        if (status == NIGH_OK || why.system_errno != EEXIST) break;
    }
    if (status == NIGH_ENOTFOUND) status = why.status = NIGH_EIO;
    if (status != NIGH_OK && error != NULL) *error = why;
    return status;
}

nigh_status nigh__file_read(const struct nigh__file *file, uint64_t offset, void *buffer, size_t length,
                            nigh_error *error) {
    const nigh_file_system *files = file->context->files;
    uint8_t *target = buffer;
    while (length > 0) {
        size_t moved = 0;
        int failed = files->read(files->user, file->handle, offset, target, length, &moved);
        if (failed != 0) return nigh__fail_system(error, failed, file->path, "read");
        if (moved == 0 || moved > length)
            return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offset,
                                 "the file ends here; %zu more bytes expected", length);
        target += moved;
        offset += moved;
        length -= moved;
    }
    return NIGH_OK;
}

nigh_status nigh__file_write(const struct nigh__file *file, uint64_t offset, const void *bytes, size_t length,
                             nigh_error *error) {
    const nigh_file_system *files = file->context->files;
    const uint8_t *source = bytes;
    while (length > 0) {
        size_t moved = 0;
        int failed = files->write(files->user, file->handle, offset, source, length, &moved);
        if (failed == 0 && (moved == 0 || moved > length)) failed = EIO;
        if (failed != 0) return nigh__fail_system(error, failed, file->path, "write");
        source += moved;
        offset += moved;
        length -= moved;
    }
    return NIGH_OK;
}

nigh_status nigh__file_length(const struct nigh__file *file, uint64_t *out, nigh_error *error) {
    int failed = file->context->files->length(file->context->files->user, file->handle, out);
    return failed == 0 ? NIGH_OK : nigh__fail_system(error, failed, file->path, "read");
}

nigh_status nigh__file_sync(const struct nigh__file *file, nigh_error *error) {
    int failed = file->context->files->sync(file->context->files->user, file->handle);
    return failed == 0 ? NIGH_OK : nigh__fail_system(error, failed, file->path, "sync");
}

nigh_status nigh__file_map(const struct nigh__file *file, uint64_t length, const uint8_t **out, nigh_error *error) {
    const void *address = NULL;
    int failed = file->context->files->map(file->context->files->user, file->handle, length, &address);
    if (failed != 0) return nigh__fail_system(error, failed, file->path, "map");
    *out = address;
    return NIGH_OK;
}

void nigh__file_unmap(const nigh_context *context, const uint8_t *map, uint64_t length, bool loaded) {
    void *own;
    memcpy(&own, &map, sizeof own); /* shown as a constant to all who read */
    if (loaded)
        nigh__free(context, own);
    else if (map != NULL)
        (void)context->files->unmap(context->files->user, map, length);
}

struct nigh__map_users {
    _Atomic uint32_t count;
};

struct nigh__map_users *nigh__map_users_new(const nigh_context *context) {
    struct nigh__map_users *users = nigh__alloc(context, 1, sizeof *users);
    if (users != NULL) atomic_init(&users->count, 1);
    return users;
}

struct nigh__map_users *nigh__map_join(struct nigh__map_users *users) {
    atomic_fetch_add(&users->count, 1);
    return users;
}

void nigh__map_leave(const nigh_context *context, const uint8_t *map, uint64_t length, bool loaded,
                     struct nigh__map_users *users) {
    if (users != NULL && atomic_fetch_sub(&users->count, 1) > 1) return;
    nigh__free(context, users);
    nigh__file_unmap(context, map, length, loaded);
}

void nigh__file_release(struct nigh__file *file) {
    if (file->open) (void)file->context->files->close(file->context->files->user, file->handle);
    file->open = false;
    if (file->context != NULL) nigh__free(file->context, file->path);
    file->path = NULL;
}

static nigh_status rename_at(const nigh_context *context, nigh_file directory, const char *from, const char *to,
                             const char *path, nigh_error *error) {
    int failed = context->files->rename(context->files->user, directory, from, to);
    return failed == 0 ? NIGH_OK : nigh__fail_system(error, failed, path, "rename");
}

nigh_status nigh__file_load(const nigh_context *context, const char *path, uint64_t most, const char *what,
                            uint8_t **bytes, size_t *length, nigh_error *error) {
    struct nigh__file file;
    uint64_t whole = 0;
    *bytes = NULL;
    nigh_status status = nigh__file_open(context, path, NIGH_OPEN_REGULAR, &file, error);
    if (status != NIGH_OK) return status;
    status = nigh__file_length(&file, &whole, error);
    if (status == NIGH_OK && whole > most)
        status = nigh__fail_at(error, NIGH_EFORMAT, path, NIGH_NO_OFFSET, "too large for %s", what);
    if (status == NIGH_OK && (*bytes = nigh__alloc(context, (size_t)whole, 1)) == NULL)
        status = nigh__fail_at(error, NIGH_ENOMEM, path, NIGH_NO_OFFSET, "no memory for %s", what);
    if (status == NIGH_OK) status = nigh__file_read(&file, 0, *bytes, (size_t)whole, error);
    nigh__file_release(&file);
    *length = (size_t)whole;
    if (status == NIGH_OK) return NIGH_OK;
    nigh__free(context, *bytes);
    *bytes = NULL;
    return status;
}

nigh_status nigh__file_rename(const nigh_context *context, const char *from, const char *to, nigh_error *error) {
    return rename_at(context, NIGH_NO_DIRECTORY, from, to, from, error);
}

nigh_status nigh__file_rename_in(const struct nigh__file *directory, const char *from, const char *to,
                                 nigh_error *error) {
    return rename_at(directory->context, directory->handle, from, to, directory->path, error);
}

nigh_status nigh__file_rename_new_in(const struct nigh__file *directory, const char *from, const char *to,
                                     nigh_error *error) {
    const nigh_file_system *files = directory->context->files;
    if (files->rename_new == NULL) return nigh__file_rename_in(directory, from, to, error);
    const int failed = files->rename_new(files->user, directory->handle, from, to);
    if (failed == 0) return NIGH_OK;
    if (failed != EEXIST) return nigh__fail_system(error, failed, directory->path, "rename");
    return nigh__fail_at(error, NIGH_EBUSY, directory->path, NIGH_NO_OFFSET,
                         "another process has committed meanwhile, which locks should prevent: nothing was written");
}

void nigh__file_remove(const nigh_context *context, const char *path) {
    (void)context->files->remove(context->files->user, NIGH_NO_DIRECTORY, path);
}

void nigh__file_remove_in(const struct nigh__file *directory, const char *name) {
    const nigh_file_system *files = directory->context->files;
    (void)files->remove(files->user, directory->handle, name);
}

/* The length of the part of a path before its last name, 0 where there is none. */
static size_t parent_length(const char *path) {
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/') length--;
    while (length > 0 && path[length - 1] != '/') length--;
    while (length > 1 && path[length - 1] == '/') length--;
    return length;
}

nigh_status nigh__parent_sync(const nigh_context *context, const char *path, nigh_error *error) {
    size_t length = parent_length(path);
    char *parent = nigh__string_copy(context, length == 0 ? "." : path);
    if (parent == NULL) return nigh__no_memory(error, "for a path");
    if (length != 0) parent[length] = '\0';
    struct nigh__file directory;
    nigh_status status = nigh__file_open(context, parent, NIGH_OPEN_DIRECTORY, &directory, error);
    nigh__free(context, parent);
    if (status != NIGH_OK) return status;
    status = nigh__file_sync(&directory, error);
    nigh__file_release(&directory);
    return status;
}

char *nigh__path_join(const nigh_context *context, const char *directory, const char *name) {
    size_t head = strlen(directory);
    size_t tail = strlen(name);
    char *path = nigh__alloc(context, head + tail + 2, 1);
    if (path == NULL) return NULL;
    memcpy(path, directory, head);
    if (head != 0 && directory[head - 1] != '/') path[head++] = '/';
    memcpy(path + head, name, tail + 1);
    return path;
}
