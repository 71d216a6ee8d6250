/* SPDX-License-Identifier: Apache-2.0 */
#include "base/replacement.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"

#define TEMPORARY_NAMES 100

/*
 * Several processes may write one file at the same time.  A temporary file belongs to
 * who has it locked, from its making until it has its name; whoever finds one that nobody
 * has locked takes it for a leftover.  Between making and locking, another may have
 * removed it, and where a name leads may change between opening and removing.  So both
 * ask, once they have the lock, whether the name still leads to what they have locked.
 */
static bool is_named(const struct nigh__file *file, const char *path) {
    const nigh_file_system *files = file->context->files;
    return files->leads_to == NULL || files->leads_to(files->user, NIGH_NO_DIRECTORY, path, file->handle) == 0;
}

/* Removes a file of that name, if it is one and nobody has it locked.  All that can fail is memory. */
static nigh_status leftover_remove(const nigh_context *context, const char *path, nigh_error *error) {
    struct nigh__file file;
    const nigh_file_system *files = context->files;
    const nigh_status status = nigh__file_open(context, path, NIGH_OPEN_UPDATE, &file, error);
    if (status != NIGH_OK) return status == NIGH_ENOMEM ? status : NIGH_OK;
    if (files->lock(files->user, file.handle) == 0 && is_named(&file, path)) nigh__file_remove(context, path);
    nigh__file_release(&file);
    return NIGH_OK;
}

/*
 * *ours is false where another has taken it away meanwhile.  Locks need not work here: then others do not remove it,
 * and take another name.
 */
static nigh_status create_locked(const nigh_context *context, const char *path, struct nigh__file *out, bool *ours,
                                 nigh_error *error) {
    *ours = false;
    const nigh_status status = nigh__file_open(context, path, NIGH_OPEN_CREATE, out, error);
    if (status != NIGH_OK) return status;
    const int locked = context->files->lock(context->files->user, out->handle);
    *ours = locked != EWOULDBLOCK && is_named(out, path);
    if (!*ours) nigh__file_release(out);
    return NIGH_OK;
}

/* Creates the first of PATH.nigh.tmp, PATH.nigh.1.tmp, ... that is not there, or is a leftover. */
static nigh_status temporary_create(const nigh_context *context, struct nigh__replacement *replacement, size_t capacity,
                                    nigh_error *error) {
    nigh_error problem = {0};
    bool ours = false;
    for (unsigned attempt = 0; attempt < TEMPORARY_NAMES; attempt++) {
        if (attempt == 0)
            (void)snprintf(replacement->temporary, capacity, "%s.nigh.tmp", replacement->path);
        else
            (void)snprintf(replacement->temporary, capacity, "%s.nigh.%u.tmp", replacement->path, attempt);
        nigh_status status = leftover_remove(context, replacement->temporary, &problem);
        if (status == NIGH_OK)
            status = create_locked(context, replacement->temporary, &replacement->file, &ours, &problem);
        replacement->removable = status == NIGH_OK && ours;
        if (replacement->removable) return NIGH_OK;
        if (status != NIGH_OK && problem.system_errno != EEXIST) break;
    }
    if (problem.status == NIGH_OK)
        (void)nigh__fail_at(&problem, NIGH_EBUSY, replacement->path, NIGH_NO_OFFSET, "too many write it at once");
    if (error != NULL) *error = problem;
    return problem.status;
}

nigh_status nigh__replacement_open(const nigh_context *context, const char *path, struct nigh__replacement *out,
                                   nigh_error *error) {
    *out = (struct nigh__replacement){0};
    size_t capacity = strlen(path) + sizeof ".nigh.99.tmp";
    out->path = nigh__string_copy(context, path);
    out->temporary = nigh__alloc(context, capacity, 1);
    if (out->path == NULL || out->temporary == NULL) return nigh__no_memory(error, "for the name of a file");
    return temporary_create(context, out, capacity, error);
}

nigh_status nigh__replacement_finish(struct nigh__replacement *replacement, nigh_error *error) {
    const nigh_context *context = replacement->file.context;
    nigh_status status = replacement->passing ? NIGH_OK : nigh__file_sync(&replacement->file, error);
    if (status != NIGH_OK) return status;
    status = nigh__file_rename(context, replacement->temporary, replacement->path, error);
    nigh__file_release(&replacement->file); /* locked until it has its name: before, it would be taken for a leftover */
    if (status != NIGH_OK) return status;
    replacement->removable = false;
    return replacement->passing ? NIGH_OK : nigh__parent_sync(context, replacement->path, error);
}

void nigh__replacement_release(const nigh_context *context, struct nigh__replacement *replacement) {
    nigh__file_release(&replacement->file);
    if (replacement->removable) nigh__file_remove(context, replacement->temporary);
    nigh__free(context, replacement->path);
    nigh__free(context, replacement->temporary);
    *replacement = (struct nigh__replacement){0};
}

nigh_status nigh__file_replace(const nigh_context *context, const char *path, const void *bytes, size_t length,
                               nigh_error *error) {
    struct nigh__replacement replacement;
    nigh_status status = nigh__replacement_open(context, path, &replacement, error);
    if (status == NIGH_OK) status = nigh__file_write(&replacement.file, 0, bytes, length, error);
    if (status == NIGH_OK) status = nigh__replacement_finish(&replacement, error);
    nigh__replacement_release(context, &replacement);
    return status;
}
