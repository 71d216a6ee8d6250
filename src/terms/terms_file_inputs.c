/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
/*
 * Inputs, by absolute paths, so that they are found from everywhere, and as they are when they are indexed and when
 * documents of them are read again: by size and time, as make and rsync tell files that have changed, and of a folder
 * by those of all files in it, in order.  Neither device nor inode counts: a copy that kept its times is as good.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/status.h"
#include "document/tree.h"
#include "terms/terms_file.h"

struct look {
    uint64_t size, seconds;
    uint32_t nanoseconds;
};

/* The table of files has no such question; where it is not the system's, files are what their lengths are. */
static struct look look_at(const char *path, uint64_t length) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return (struct look){.size = length};
    return (struct look){.size = (uint64_t)status.st_size,
                         .seconds = (uint64_t)status.st_mtim.tv_sec,
                         .nanoseconds = (uint32_t)status.st_mtim.tv_nsec};
}

static uint64_t print_add(uint64_t print, const struct nigh__file *file, const struct look *look) {
    print = nigh__mix(print ^ nigh__hash(file->path, strlen(file->path)));
    print = nigh__mix(print ^ look->size);
    print = nigh__mix(print ^ look->seconds);
    return nigh__mix(print ^ look->nanoseconds);
}

static nigh_status look_at_folder(const nigh_context *context, const nigh_text_reader_options *reading,
                                  struct nigh__term_input *input, nigh_error *error) {
    struct nigh__tree tree;
    nigh_text_reader_options all = *reading;
    all.max_members = UINT64_MAX;
    nigh_status status = nigh__tree_open(&tree, context, input->path, &all, error);
    if (status != NIGH_OK) return status;
    for (;;) {
        struct nigh__file file;
        status = nigh__tree_next(&tree, &file, error);
        if (status == NIGH_EIO || status == NIGH_ENOTFOUND || status == NIGH_EFORMAT) continue; /* the reader tells */
        if (status != NIGH_OK) break;
        uint64_t length = 0;
        (void)nigh__file_length(&file, &length, NULL);
        const struct look look = look_at(file.path, length);
        input->print = print_add(input->print, &file, &look);
        input->size += look.size;
        nigh__file_release(&file);
    }
    nigh__tree_close(&tree);
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status look_at_input(const nigh_context *context, const char *path, const nigh_text_reader_options *reading,
                                 struct nigh__term_input *out, nigh_error *error) {
    enum nigh__path_kind kind = NIGH__PATH_SPECIAL;
    uint64_t length = 0;
    nigh_status status = NIGH_OK;
    if (strcmp(path, "-") != 0) status = nigh__path_look(context, path, &kind, &length, error);
    if (status != NIGH_OK) return status;
    *out = (struct nigh__term_input){.path = path, .kind = NIGH__INPUT_ONCE};
    if (kind == NIGH__PATH_SPECIAL) return NIGH_OK;
    out->kind = kind == NIGH__PATH_FOLDER ? NIGH__INPUT_FOLDER : NIGH__INPUT_FILE;
    if (kind == NIGH__PATH_FOLDER) return look_at_folder(context, reading, out, error);
    const struct look look = look_at(path, length);
    out->size = look.size;
    out->seconds = look.seconds;
    out->nanoseconds = look.nanoseconds;
    return NIGH_OK;
}

/* Where files are not the system's there is no folder that we are in. */
nigh_status nigh__term_input_path(const nigh_context *context, const char *path, char **out, nigh_error *error) {
    char here[PATH_MAX];
    *out = NULL;
    if (path[0] == '/' || strcmp(path, "-") == 0 || context->files != nigh_file_system_posix())
        *out = nigh__string_copy(context, path);
    else if (getcwd(here, sizeof here) == NULL)
        return nigh__fail_system(error, errno, path, "tell the folder of");
    else
        *out = nigh__path_join(context, strcmp(here, "/") == 0 ? "" : here, path);
    if (*out != NULL) return NIGH_OK;
    return nigh__no_memory(error, "for a path");
}

nigh_status nigh__term_inputs_look(const nigh_context *context, const char *const *paths, size_t count,
                                   const nigh_text_reader_options *reading, struct nigh__term_input *out,
                                   nigh_error *error) {
    for (size_t i = 0; i < count; i++) {
        nigh_status status = look_at_input(context, paths[i], reading, &out[i], error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

static bool has_grown(const nigh_context *context, const struct nigh__term_input *before,
                      const struct nigh__term_input *now) {
    return context->files == nigh_file_system_posix() && before->kind == NIGH__INPUT_FILE &&
           now->kind == NIGH__INPUT_FILE && now->size > before->size;
}

nigh_status nigh__term_input_check(const nigh_context *context, const struct nigh__term_input *input,
                                   const nigh_text_reader_options *reading, bool *grown, nigh_error *error) {
    *grown = false;
    if (input->kind == NIGH__INPUT_ONCE)
        return nigh__fail_at(error, NIGH_EMISMATCH, input->path, NIGH_NO_OFFSET,
                             "was read as a stream, and cannot be read again");
    struct nigh__term_input now;
    nigh_status status = look_at_input(context, input->path, reading, &now, error);
    if (status != NIGH_OK) return status;
    if (now.kind == input->kind && now.size == input->size && now.seconds == input->seconds &&
        now.nanoseconds == input->nanoseconds && now.print == input->print)
        return NIGH_OK;
    *grown = has_grown(context, input, &now);
    if (*grown) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EMISMATCH, input->path, NIGH_NO_OFFSET, "has changed since it was indexed");
}

/* ------------------------------------------------------------ allowed paths */

static bool has_dots(const char *path) {
    for (const char *at = strstr(path, ".."); at != NULL; at = strstr(at + 2, ".."))
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0')) return true;
    return false;
}

/* By their names alone, for paths without "..". */
static bool is_below(const char *path, const char *root) {
    size_t length = strlen(root);
    while (length > 0 && root[length - 1] == '/') length--;
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

/* Where a path leads; of one that is not there, the path itself, about which others will complain. */
static bool resolve(const nigh_context *context, const char *path, char out[PATH_MAX]) {
    if (context->files == nigh_file_system_posix() && realpath(path, out) != NULL) return true;
    if (has_dots(path) || strlen(path) >= PATH_MAX) return false;
    memcpy(out, path, strlen(path) + 1);
    return true;
}

static nigh_status is_allowed(const nigh_context *context, const char *real_path, const char *root, bool *allowed,
                              nigh_error *error) {
    char real_root[PATH_MAX];
    if (context->files == nigh_file_system_posix() && realpath(root, real_root) == NULL)
        return nigh__fail_system(error, errno, root, "open");
    if (context->files != nigh_file_system_posix()) (void)resolve(context, root, real_root);
    *allowed |= is_below(real_path, real_root);
    return NIGH_OK;
}

static nigh_status allowed_beside(const nigh_context *context, const char *path, const char *real_path, bool *allowed,
                                  nigh_error *error) {
    char *parent = nigh__path_join(context, path, "..");
    if (parent == NULL) return nigh__no_memory(error, "for a path");
    const nigh_status status = is_allowed(context, real_path, parent, allowed, error);
    nigh__free(context, parent);
    return status;
}

nigh_status nigh__term_input_allowed(const nigh_context *context, const char *path, const char *const *roots,
                                     size_t count, const struct nigh__term_input *input, nigh_error *error) {
    char real_path[PATH_MAX];
    nigh_status status = NIGH_OK;
    bool allowed = false;
    const bool resolved = resolve(context, input->path, real_path);
    if (resolved && count == 0) status = allowed_beside(context, path, real_path, &allowed, error);
    for (size_t i = 0; i < count && resolved && status == NIGH_OK; i++)
        status = is_allowed(context, real_path, roots[i], &allowed, error);
    if (status != NIGH_OK || allowed) return status;
    return nigh__because(error, NIGH_REASON_OUTSIDE_ROOTS,
                         nigh__fail_at(error, NIGH_EMISMATCH, input->path, NIGH_NO_OFFSET,
                                       "is outside of the folders whose files may be read again"));
}
