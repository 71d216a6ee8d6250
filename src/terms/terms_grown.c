/* SPDX-License-Identifier: Apache-2.0 */
/* A table of files in which some files end where they ended when they were indexed. */
#include "terms/terms_grown.h"

#include <string.h>

#include "base/memory.h"
#include "base/status.h"

static const nigh_file_system *real(void) { return nigh_file_system_posix(); }

/* UINT64_MAX where the file is none of those. */
static uint64_t end_of(const struct nigh__grown *grown, nigh_file file) {
    for (size_t i = 0; i < grown->count; i++)
        if (grown->grown[i] && grown->handles[i] == file) return grown->inputs[i].size;
    return UINT64_MAX;
}

static int grown_open(void *user, nigh_file directory, const char *name, unsigned mode, nigh_file *out) {
    struct nigh__grown *grown = user;
    const int failed = real()->open(NULL, directory, name, mode, out);
    if (failed != 0 || directory != NIGH_NO_DIRECTORY) return failed;
    for (size_t i = 0; i < grown->count; i++)
        if (grown->grown[i] && strcmp(grown->inputs[i].path, name) == 0) grown->handles[i] = *out;
    return 0;
}

static int grown_close(void *user, nigh_file file) {
    struct nigh__grown *grown = user;
    for (size_t i = 0; i < grown->count; i++)
        if (grown->handles[i] == file) grown->handles[i] = NIGH_NO_DIRECTORY;
    return real()->close(NULL, file);
}

static int grown_read(void *user, nigh_file file, uint64_t offset, void *buffer, size_t length, size_t *moved) {
    const uint64_t end = end_of(user, file);
    *moved = 0;
    if (offset >= end) return 0;
    return real()->read(NULL, file, offset, buffer, length < end - offset ? length : (size_t)(end - offset), moved);
}

static int grown_length(void *user, nigh_file file, uint64_t *out) {
    const int failed = real()->length(NULL, file, out);
    const uint64_t end = end_of(user, file);
    if (failed == 0 && *out > end) *out = end;
    return failed;
}

nigh_status nigh__grown_init(const nigh_context *context, const struct nigh__term_input *inputs, size_t count,
                             struct nigh__grown *out, nigh_error *error) {
    *out = (struct nigh__grown){.context = context, .inputs = inputs, .count = count, .table = *real()};
    out->table.open = grown_open;
    out->table.close = grown_close;
    out->table.read = grown_read;
    out->table.length = grown_length;
    out->table.user = out;
    out->handles = nigh__alloc(context, count, sizeof *out->handles);
    out->grown = nigh__alloc_zero(context, count, sizeof *out->grown);
    if (out->handles == NULL || out->grown == NULL) return nigh__no_memory(error, "for a list of inputs");
    for (size_t i = 0; i < count; i++) out->handles[i] = NIGH_NO_DIRECTORY;
    return NIGH_OK;
}

void nigh__grown_add(struct nigh__grown *grown, size_t input) { grown->grown[input] = grown->any = true; }

void nigh__grown_release(struct nigh__grown *grown) {
    if (grown->context == NULL) return;
    nigh__free(grown->context, grown->handles);
    nigh__free(grown->context, grown->grown);
}
