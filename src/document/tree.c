/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Walking goes by open directories, so that a folder moved meanwhile does no
 * harm.  The names of the folders on the way down are held, no others.
 */
#include "document/tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/status.h"

#define DEPTH 64

struct level {
    struct nigh__file directory;
    struct nigh__array text;  /* of char: the names, each terminated */
    struct nigh__array names; /* of const char *, sorted */
    size_t at;
    const nigh_context *context;
};

static void level_release(struct level *level) {
    nigh__array_release(level->context, &level->text);
    nigh__array_release(level->context, &level->names);
    nigh__file_release(&level->directory);
}

static int name_add(void *user, const char *name) {
    struct level *level = user;
    size_t size = strlen(name) + 1;
    char *copy = nigh__array_add(level->context, &level->text, size);
    if (copy == NULL || nigh__array_add(level->context, &level->names, 1) == NULL) return ENOMEM;
    memcpy(copy, name, size);
    return 0;
}

static int name_compare(const void *a, const void *b) {
    const char *const *left = a;
    const char *const *right = b;
    return strcmp(*left, *right);
}

/* The names are found only now, when their text no longer moves. */
static void names_sort(struct level *level) {
    const char *text = level->text.data;
    const char **names = level->names.data;
    for (size_t i = 0; i < level->names.count; i++) {
        names[i] = text;
        text += strlen(text) + 1;
    }
    if (level->names.count > 1) qsort(names, level->names.count, sizeof names[0], name_compare);
}

/* How long the path of a name in it is without the name; see nigh__path_join(). */
static size_t path_base(const struct nigh__file *directory) {
    const size_t length = strlen(directory->path);
    return length > 0 && directory->path[length - 1] == '/' ? length : length + 1;
}

/* Takes `directory` over, also when it fails. */
static nigh_status level_add(struct nigh__tree *tree, struct nigh__file *directory, nigh_error *error) {
    const nigh_context *context = tree->context;
    struct level level = {
        .directory = *directory, .text = NIGH__ARRAY(char), .names = NIGH__ARRAY(const char *), .context = context};
    nigh_status status = NIGH_OK;
    int failed = context->files->list(context->files->user, directory->handle, name_add, &level);
    if (failed != 0) status = nigh__fail_system(error, failed, directory->path, "list");
    if (status == NIGH_OK) status = nigh__walk_rules_enter(&tree->rules, directory, path_base(directory), error);
    struct level *slot = status == NIGH_OK ? nigh__array_add(context, &tree->levels, 1) : NULL;
    if (slot == NULL) {
        if (status == NIGH_OK) nigh__walk_rules_leave(&tree->rules);
        if (status == NIGH_OK) status = nigh__no_memory(error, "to walk a folder");
        level_release(&level);
        return status;
    }
    names_sort(&level);
    *slot = level;
    return NIGH_OK;
}

/* The table of files cannot tell a link from what it leads to; where it is not the system's, there are no links. */
static bool is_link(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && S_ISLNK(status.st_mode);
}

/* To open a pipe and close it again would end the program that writes to it. */
static bool is_special(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

/* Also one that may not be opened. */
static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

nigh_status nigh__path_look(const nigh_context *context, const char *path, enum nigh__path_kind *kind, uint64_t *length,
                            nigh_error *error) {
    *kind = NIGH__PATH_SPECIAL;
    *length = UINT64_MAX;
    if (is_special(path)) return NIGH_OK;
    struct nigh__file file;
    nigh_error why;
    nigh_status status = nigh__file_open(context, path, NIGH_OPEN_REGULAR, &file, &why);
    *kind = NIGH__PATH_FILE;
    if (status != NIGH_OK && why.system_errno == EISDIR) {
        *kind = NIGH__PATH_FOLDER;
        status = nigh__file_open(context, path, NIGH_OPEN_DIRECTORY, &file, &why);
    }
    if (status == NIGH_OK && *kind == NIGH__PATH_FILE) status = nigh__file_length(&file, length, &why);
    if (status != NIGH_OK && error != NULL) *error = why;
    nigh__file_release(&file);
    return status;
}

static struct level *level_last(struct nigh__tree *tree) {
    return tree->levels.count == 0 ? NULL : (struct level *)tree->levels.data + tree->levels.count - 1;
}

static void level_leave(struct nigh__tree *tree) {
    level_release(level_last(tree));
    tree->levels.count--;
    nigh__walk_rules_leave(&tree->rules);
}

nigh_status nigh__tree_open(struct nigh__tree *out, const nigh_context *context, const char *path,
                            const nigh_text_reader_options *options, nigh_error *error) {
    *out = (struct nigh__tree){.context = context,
                               .levels = NIGH__ARRAY(struct level),
                               .maximum = options->max_members,
                               .follow = options->follow != 0};
    struct nigh__file directory;
    nigh_status status = nigh__walk_rules_init(&out->rules, context, path, options, error);
    if (status == NIGH_OK) status = nigh__file_open(context, path, NIGH_OPEN_DIRECTORY, &directory, error);
    if (status == NIGH_OK) status = level_add(out, &directory, error);
    if (status != NIGH_OK) nigh__tree_close(out);
    return status;
}

/* ------------------------------------------------------------------ names */

/* What is passed over; NIGH_END. */
static nigh_status skip(struct nigh__tree *tree) {
    tree->skipped++;
    return NIGH_END;
}

/* A link to a folder that the walk is in would have no end. */
static bool is_circle(const struct nigh__tree *tree, const char *path) {
    struct stat link, status;
    const struct level *levels = tree->levels.data;
    if (stat(path, &link) != 0) return false;
    for (size_t i = 0; i < tree->levels.count; i++)
        if (stat(levels[i].directory.path, &status) == 0 && status.st_dev == link.st_dev &&
            status.st_ino == link.st_ino)
            return true;
    return false;
}

/* Whether a file has a name as those of collections and of term signature files have. */
static bool is_named_ours(const char *name) {
    static const char *const kinds[] = {"manifest-", "segment-", "terms-"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t length = strlen(kinds[i]);
        if (strncmp(name, kinds[i], length) == 0) return strspn(name + length, "0123456789") == 20;
    }
    return false;
}

/* NIGH_END: it is one.  Of what is being made the first bytes are not there yet, or are 0. */
static nigh_status manifest_seek(const struct level *level, const char *name) {
    static const char magic[] = "\x89NIGH"; /* those of collections and of term signature files go on differently */
    char first[sizeof magic - 1] = {0};
    uint64_t length = 0;
    struct nigh__file file;
    if (!is_named_ours(name)) return NIGH_OK;
    const nigh_status status = nigh__file_open_in(&level->directory, name, NIGH_OPEN_REGULAR, &file, NULL);
    if (status != NIGH_OK) return status == NIGH_ENOMEM ? status : NIGH_OK;
    const bool read = nigh__file_length(&file, &length, NULL) == NIGH_OK &&
                      (length < sizeof first || nigh__file_read(&file, 0, first, sizeof first, NULL) == NIGH_OK);
    nigh__file_release(&file);
    return read && (first[0] == 0 || memcmp(first, magic, sizeof first) == 0) ? NIGH_END : NIGH_OK;
}

/* NIGH_END: the folder gone into is a collection, or a term signature file. */
static nigh_status ours_seek(const struct level *level, nigh_error *error) {
    const char *const *names = level->names.data;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < level->names.count && status == NIGH_OK; i++) status = manifest_seek(level, names[i]);
    return status == NIGH_ENOMEM ? nigh__no_memory(error, "to walk a folder") : status;
}

static nigh_status descend(struct nigh__tree *tree, const struct level *level, const char *name, const char *path,
                           nigh_error *error) {
    struct nigh__file directory;
    if (tree->follow && is_link(path) && is_circle(tree, path)) return skip(tree);
    if (tree->levels.count >= DEPTH)
        return nigh__fail_at(error, NIGH_EFORMAT, path, NIGH_NO_OFFSET,
                             "folders are nested more than %d deep; what is in this one is skipped", DEPTH);
    nigh_status status = nigh__file_open_in(&level->directory, name, NIGH_OPEN_DIRECTORY, &directory, error);
    if (status == NIGH_OK) status = level_add(tree, &directory, error);
    if (status == NIGH_OK) status = ours_seek(level_last(tree), error);
    if (status != NIGH_END) return status;
    level_leave(tree);
    return skip(tree);
}

static nigh_status file_take(struct nigh__tree *tree, struct nigh__file *file, nigh_error *error) {
    if (++tree->files <= tree->maximum) return NIGH_OK;
    nigh_status status = nigh__because(error, NIGH_REASON_MAX_MEMBERS,
                                       nigh__fail_at(error, NIGH_ELIMIT, file->path, NIGH_NO_OFFSET,
                                                     "more than %" PRIu64 " files in a folder", tree->maximum));
    nigh__file_release(file);
    return status;
}

/* What a name is, and whether it is left out: NIGH_OK for a file, NIGH_END for what is passed over or gone into. */
static nigh_status name_take(struct nigh__tree *tree, const struct level *level, const char *name, const char *path,
                             struct nigh__file *out, nigh_error *error) {
    nigh_error why;
    bool refused = false;
    if (!tree->follow && is_link(path)) return skip(tree);
    const nigh_status opened = nigh__file_open_in(&level->directory, name, NIGH_OPEN_REGULAR, out, &why);
    if (opened == NIGH_ENOMEM) {
        if (error != NULL) *error = why;
        return opened;
    }
    const bool folder =
        opened != NIGH_OK && (why.system_errno == EISDIR || (why.system_errno == EACCES && is_folder(path)));
    nigh_status status = nigh__walk_rules_refuse(&tree->rules, path, folder, &refused, error);
    if (status != NIGH_OK || refused) {
        nigh__file_release(out);
        return status == NIGH_OK ? NIGH_END : status;
    }
    if (opened == NIGH_OK) return file_take(tree, out, error);
    if (why.system_errno == EISDIR) {
        status = descend(tree, level, name, path, error);
        return status == NIGH_OK ? NIGH_END : status;
    }
    if (why.system_errno == ENOTSUP || why.system_errno == ENXIO || why.system_errno == ENOENT) return skip(tree);
    if (error != NULL) *error = why;
    return opened;
}

static nigh_status name_open(struct nigh__tree *tree, const struct level *level, const char *name,
                             struct nigh__file *out, nigh_error *error) {
    char *path = nigh__path_join(tree->context, level->directory.path, name);
    if (path == NULL) return nigh__no_memory(error, "for a path");
    nigh_status status = name_take(tree, level, name, path, out, error);
    nigh__free(tree->context, path);
    return status;
}

nigh_status nigh__tree_next(struct nigh__tree *tree, struct nigh__file *out, nigh_error *error) {
    struct level *level;
    while ((level = level_last(tree)) != NULL) {
        if (level->at == level->names.count) {
            level_leave(tree);
            continue;
        }
        const char *name = ((const char **)level->names.data)[level->at++];
        nigh_status status = name_open(tree, level, name, out, error);
        if (status != NIGH_END) return status;
    }
    return NIGH_END;
}

void nigh__tree_close(struct nigh__tree *tree) {
    if (tree->context == NULL) return;
    while (level_last(tree) != NULL) level_leave(tree);
    nigh__array_release(tree->context, &tree->levels);
    nigh__walk_rules_release(&tree->rules);
    tree->context = NULL;
}
