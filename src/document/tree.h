/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Folders: the regular files below one, depth first, the names of each folder
 * sorted by their bytes.  walk_rules.h says which are left out.  Links are passed
 * over unless they are to be followed, and so are collections, term signature
 * files, and what is neither file nor folder.
 */
#ifndef NIGH_DOCUMENT_TREE_H
#define NIGH_DOCUMENT_TREE_H

#include "base/file.h"
#include "base/memory.h"
#include "document/walk_rules.h"

struct nigh__tree {
    const nigh_context *context;
    struct nigh__array levels; /* of struct level, from the root down to where the walk is */
    struct nigh__walk_rules rules;
    uint64_t files;   /* seen so far */
    uint64_t skipped; /* links and other things that are no files */
    uint64_t maximum;
    bool follow;
};

/* What a path leads to. */
enum nigh__path_kind { NIGH__PATH_FILE, NIGH__PATH_FOLDER, NIGH__PATH_SPECIAL };

/* Of a file also its length, UINT64_MAX where it has none.  Nothing is read, nor is a pipe opened. */
nigh_status nigh__path_look(const nigh_context *context, const char *path, enum nigh__path_kind *kind, uint64_t *length,
                            nigh_error *error);

/* Of the options, complete ones, max_members and what is about folders count; they are read during the call. */
nigh_status nigh__tree_open(struct nigh__tree *out, const nigh_context *context, const char *path,
                            const nigh_text_reader_options *options, nigh_error *error);
/*
 * Opens the next file.  NIGH_END after the last.  After NIGH_EIO, NIGH_ENOTFOUND
 * and NIGH_EFORMAT the next call goes on with what follows; not so after others.
 */
nigh_status nigh__tree_next(struct nigh__tree *tree, struct nigh__file *out, nigh_error *error);
void nigh__tree_close(struct nigh__tree *tree); /* accepts a closed one */

#endif
