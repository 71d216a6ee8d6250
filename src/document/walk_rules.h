/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is left out of folders and archives: by the given patterns, and in folders by .ignore and .gitignore files and
 * by names that begin with '.'. As in ripgrep, a line of .ignore overrides those of any .gitignore, a line of a
 * deeper folder overrides one of a folder above, and a name that a line keeps is not hidden. Files of the folders
 * above the one that is walked count up to the one that has .git, where there is one.
 */
#ifndef NIGH_DOCUMENT_WALK_RULES_H
#define NIGH_DOCUMENT_WALK_RULES_H

#include "base/file.h"
#include "document/ignore.h"

/* The patterns given; all zero: none. */
struct nigh__walk_patterns {
    struct nigh__ignore include, exclude;
};

nigh_status nigh__walk_patterns_init(struct nigh__walk_patterns *out, const nigh_context *context,
                                     const nigh_text_reader_options *options, nigh_error *error);
void nigh__walk_patterns_release(const nigh_context *context, struct nigh__walk_patterns *patterns);
/* Whether a file is left out, or a folder with all below it; `path` as in nigh__ignore_match(). */
bool nigh__walk_patterns_refuse(const struct nigh__walk_patterns *patterns, const char *path, bool folder);

struct nigh__walk_rules {
    const nigh_context *context;
    struct nigh__walk_patterns patterns;
    struct nigh__array folders; /* of struct folder: those above the one walked, it itself, and down */
    size_t above;               /* how many of them are above */
    struct nigh__array path;    /* of char: to match */
    bool hidden, no_ignore;
};

/* `path` is the folder to walk; nothing of it is read yet. */
nigh_status nigh__walk_rules_init(struct nigh__walk_rules *out, const nigh_context *context, const char *path,
                                  const nigh_text_reader_options *options, nigh_error *error);
void nigh__walk_rules_release(struct nigh__walk_rules *rules); /* accepts all zero */

/* Down into a folder, the one walked first, whose files have paths that are `base` bytes long without their names. */
nigh_status nigh__walk_rules_enter(struct nigh__walk_rules *rules, const struct nigh__file *directory, size_t base,
                                   nigh_error *error);
void nigh__walk_rules_leave(struct nigh__walk_rules *rules);

/* Whether `path`, of a name in the folder entered last, is left out. */
nigh_status nigh__walk_rules_refuse(struct nigh__walk_rules *rules, const char *path, bool folder, bool *refused,
                                    nigh_error *error);

#endif
