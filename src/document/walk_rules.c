/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
/* Where the table of files is not the system's, there are no folders above the one that is walked. */
#include "document/walk_rules.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/escape.h"
#include "base/status.h"

#define MAX_IGNORE_FILE ((size_t)256 << 10) /* what is beyond does not count */

enum { IGNORE, GITIGNORE, KINDS };
static const char *const file_names[KINDS] = {".ignore", ".gitignore"};

/* The rules of one folder. */
struct folder {
    struct nigh__ignore rules[KINDS];
    size_t base; /* a path is relative to it from here on, */
    char *lead;  /* with this before it; owned, or NULL */
};

/* ---------------------------------------------------------- patterns given */

static bool patterns_add(const nigh_context *context, struct nigh__ignore *out, const char *const *list, size_t count) {
    nigh__ignore_init(out);
    for (size_t i = 0; i < count; i++)
        if (!nigh__ignore_add(context, out, list[i], strlen(list[i]))) return false;
    return true;
}

/* Where a set of characters ends that begins at '['; NULL: nowhere. */
static const char *set_end(const char *set) {
    set++;
    if (*set == '!' || *set == '^') set++;
    if (*set == ']') set++; /* the first is a character like others */
    return strchr(set, ']');
}

/* In a file of rules such a pattern matches nothing; who types one should know. */
static nigh_status patterns_check(const char *const *list, size_t count, nigh_error *error) {
    for (size_t i = 0; i < count; i++)
        for (const char *at = list[i]; *at != '\0'; at++) {
            if (*at == '\\' && at[1] != '\0')
                at++;
            else if (*at == '[' && (at = set_end(at)) == NULL)
                return nigh__fail(error, NIGH_EINVAL, "the pattern '%s' has a '[' without a ']'",
                                  nigh__shown(list[i], strlen(list[i])).text);
        }
    return NIGH_OK;
}

nigh_status nigh__walk_patterns_init(struct nigh__walk_patterns *out, const nigh_context *context,
                                     const nigh_text_reader_options *options, nigh_error *error) {
    *out = (struct nigh__walk_patterns){0};
    nigh_status status = options == NULL ? NIGH_OK : patterns_check(options->include, options->include_count, error);
    if (status == NIGH_OK && options != NULL) status = patterns_check(options->exclude, options->exclude_count, error);
    if (status != NIGH_OK) return status;
    if (options == NULL || (patterns_add(context, &out->include, options->include, options->include_count) &&
                            patterns_add(context, &out->exclude, options->exclude, options->exclude_count)))
        return NIGH_OK;
    return nigh__no_memory(error, "for patterns of names");
}

void nigh__walk_patterns_release(const nigh_context *context, struct nigh__walk_patterns *patterns) {
    nigh__ignore_release(context, &patterns->include);
    nigh__ignore_release(context, &patterns->exclude);
}

bool nigh__walk_patterns_refuse(const struct nigh__walk_patterns *patterns, const char *path, bool folder) {
    if (nigh__ignore_match(&patterns->exclude, path, folder) == NIGH__IGNORE_OUT) return true;
    if (folder || patterns->include.rules.count == 0) return false;
    return nigh__ignore_match(&patterns->include, path, false) != NIGH__IGNORE_OUT;
}

/* ------------------------------------------------------------ files of rules */

static void folder_release(const nigh_context *context, struct folder *folder) {
    for (size_t i = 0; i < KINDS; i++) nigh__ignore_release(context, &folder->rules[i]);
    nigh__free(context, folder->lead);
}

static nigh_status file_parse(const nigh_context *context, const struct nigh__file *file, struct nigh__ignore *out,
                              nigh_error *error) {
    uint64_t length = 0;
    nigh_status status = nigh__file_length(file, &length, error);
    if (status != NIGH_OK || length == 0) return status;
    const size_t used = length < MAX_IGNORE_FILE ? (size_t)length : MAX_IGNORE_FILE;
    char *text = nigh__alloc(context, used, 1);
    if (text == NULL) return nigh__no_memory(error, "for patterns of names");
    status = nigh__file_read(file, 0, text, used, error);
    if (status == NIGH_OK && !nigh__ignore_parse(context, out, text, used))
        status = nigh__no_memory(error, "for patterns of names");
    nigh__free(context, text);
    return status;
}

/* NIGH_END: there is no such file, or none that may be read, and no rules in it. */
static nigh_status file_open(const struct nigh__file *directory, const char *name, struct nigh__file *out,
                             nigh_error *error) {
    nigh_error why;
    nigh_status status = nigh__file_open_in(directory, name, NIGH_OPEN_REGULAR, out, &why);
    if (status == NIGH_OK) return NIGH_OK;
    if (status != NIGH_ENOMEM && why.system_errno != EIO && why.system_errno != EMFILE) return NIGH_END;
    if (error != NULL) *error = why;
    return status;
}

static nigh_status folder_read(const struct nigh__walk_rules *rules, const struct nigh__file *directory,
                               struct folder *out, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < KINDS && status == NIGH_OK && !rules->no_ignore; i++) {
        struct nigh__file file;
        status = file_open(directory, file_names[i], &file, error);
        if (status == NIGH_OK) {
            status = file_parse(rules->context, &file, &out->rules[i], error);
            nigh__file_release(&file);
        } else if (status == NIGH_END) {
            status = NIGH_OK;
        }
    }
    return status;
}

/* Takes `lead` over. */
static nigh_status folder_add(struct nigh__walk_rules *rules, const struct nigh__file *directory, size_t base,
                              char *lead, nigh_error *error) {
    struct folder folder = {.base = base, .lead = lead};
    for (size_t i = 0; i < KINDS; i++) nigh__ignore_init(&folder.rules[i]);
    nigh_status status = folder_read(rules, directory, &folder, error);
    struct folder *place = status == NIGH_OK ? nigh__array_add(rules->context, &rules->folders, 1) : NULL;
    if (place != NULL) {
        *place = folder;
        return NIGH_OK;
    }
    folder_release(rules->context, &folder);
    return status == NIGH_OK ? nigh__no_memory(error, "to walk a folder") : status;
}

/* -------------------------------------------------------- folders above it */

static bool has_git(const char *folder) {
    struct stat status;
    char path[PATH_MAX + 8];
    const int length = snprintf(path, sizeof path, "%s/.git", folder);
    return length > 0 && (size_t)length < sizeof path && stat(path, &status) == 0;
}

/* How many bytes of an absolute path lead to the folder with .git; 0: it is in no repository. */
static size_t repository_length(char *path) {
    size_t length = strlen(path);
    while (length > 0) {
        const char kept = path[length];
        path[length] = '\0';
        const bool found = has_git(path);
        path[length] = kept;
        if (found) return length;
        do length--;
        while (length > 0 && path[length] != '/');
    }
    return 0;
}

/* The folder that the first `length` bytes of `path` lead to. */
static nigh_status above_add(struct nigh__walk_rules *rules, char *path, size_t length, nigh_error *error) {
    struct nigh__file directory;
    char *lead = nigh__path_join(rules->context, path + length + 1, "");
    if (lead == NULL) return nigh__no_memory(error, "to walk a folder");
    path[length] = '\0';
    nigh_status status = nigh__file_open(rules->context, path, NIGH_OPEN_DIRECTORY, &directory, NULL);
    path[length] = '/';
    if (status != NIGH_OK) {
        nigh__free(rules->context, lead);
        return status == NIGH_ENOMEM ? nigh__no_memory(error, "to walk a folder") : NIGH_OK; /* not to be read */
    }
    status = folder_add(rules, &directory, 0, lead, error);
    nigh__file_release(&directory);
    return status;
}

static nigh_status above_read(struct nigh__walk_rules *rules, const char *path, nigh_error *error) {
    char *whole = rules->context->files == nigh_file_system_posix() ? realpath(path, NULL) : NULL;
    nigh_status status = NIGH_OK;
    if (whole == NULL) return NIGH_OK;
    const size_t end = strlen(whole);
    size_t length = repository_length(whole);
    while (status == NIGH_OK && length > 0 && length < end) {
        status = above_add(rules, whole, length, error);
        do length++;
        while (length < end && whole[length] != '/');
    }
    free(whole);
    rules->above = rules->folders.count;
    return status;
}

/* ------------------------------------------------------------------- walking */

nigh_status nigh__walk_rules_init(struct nigh__walk_rules *out, const nigh_context *context, const char *path,
                                  const nigh_text_reader_options *options, nigh_error *error) {
    *out = (struct nigh__walk_rules){.context = context,
                                     .folders = NIGH__ARRAY(struct folder),
                                     .path = NIGH__ARRAY(char),
                                     .hidden = options->hidden != 0,
                                     .no_ignore = options->no_ignore != 0};
    nigh_status status = nigh__walk_patterns_init(&out->patterns, context, options, error);
    if (status == NIGH_OK && !out->no_ignore) status = above_read(out, path, error);
    return status;
}

nigh_status nigh__walk_rules_enter(struct nigh__walk_rules *rules, const struct nigh__file *directory, size_t base,
                                   nigh_error *error) {
    return folder_add(rules, directory, base, NULL, error);
}

void nigh__walk_rules_leave(struct nigh__walk_rules *rules) {
    struct folder *folders = rules->folders.data;
    folder_release(rules->context, &folders[--rules->folders.count]);
}

void nigh__walk_rules_release(struct nigh__walk_rules *rules) {
    if (rules->context == NULL) return;
    while (rules->folders.count > 0) nigh__walk_rules_leave(rules);
    nigh__array_release(rules->context, &rules->folders);
    nigh__array_release(rules->context, &rules->path);
    nigh__walk_patterns_release(rules->context, &rules->patterns);
    rules->context = NULL;
}

/* What a folder above calls a path: its lead, and the path from the folder walked on.  NULL: out of memory. */
static const char *path_below(struct nigh__walk_rules *rules, const struct folder *folder, const char *path) {
    if (folder->lead == NULL) return path + folder->base;
    const struct folder *walked = (const struct folder *)rules->folders.data + rules->above;
    const char *rest = path + walked->base;
    const size_t head = strlen(folder->lead);
    const size_t tail = strlen(rest) + 1;
    rules->path.count = 0;
    char *text = nigh__array_add(rules->context, &rules->path, head + tail);
    if (text == NULL) return NULL;
    memcpy(text, folder->lead, head);
    memcpy(text + head, rest, tail);
    return text;
}

static nigh_status files_match(struct nigh__walk_rules *rules, const char *path, bool folder,
                               enum nigh__ignore_verdict *out, nigh_error *error) {
    const struct folder *folders = rules->folders.data;
    *out = NIGH__IGNORE_SILENT;
    for (size_t kind = 0; kind < KINDS; kind++) {
        for (size_t i = rules->folders.count; i > 0; i--) {
            if (folders[i - 1].rules[kind].rules.count == 0) continue;
            const char *below = path_below(rules, &folders[i - 1], path);
            if (below == NULL) return nigh__no_memory(error, "for a path");
            *out = nigh__ignore_match(&folders[i - 1].rules[kind], below, folder);
            if (*out != NIGH__IGNORE_SILENT) return NIGH_OK;
        }
    }
    return NIGH_OK;
}

nigh_status nigh__walk_rules_refuse(struct nigh__walk_rules *rules, const char *path, bool folder, bool *refused,
                                    nigh_error *error) {
    const struct folder *folders = rules->folders.data;
    const char *name = path + folders[rules->folders.count - 1].base;
    enum nigh__ignore_verdict verdict;
    *refused = nigh__walk_patterns_refuse(&rules->patterns, path + folders[rules->above].base, folder);
    if (*refused) return NIGH_OK;
    nigh_status status = files_match(rules, path, folder, &verdict, error);
    *refused = verdict == NIGH__IGNORE_OUT || (verdict == NIGH__IGNORE_SILENT && !rules->hidden && name[0] == '.');
    return status;
}
