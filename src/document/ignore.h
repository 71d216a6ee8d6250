/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of names, as .gitignore files have them:
 *
 *     *.log      matches a name at any depth: '*' any characters but '/', '?' one, [a-z] one of these
 *     /build     with a '/' before its end, a path from the folder of the file on
 *     **         between two '/': any folders, also none; at the end everything below
 *     tmp/       matches folders alone
 *     !keep.log  what an earlier line left out is to stay; the last line that matches decides
 *
 * Matching takes time proportional to pattern times path, whatever the pattern: it may be a stranger's.
 */
#ifndef NIGH_DOCUMENT_IGNORE_H
#define NIGH_DOCUMENT_IGNORE_H

#include "base/memory.h"

struct nigh__ignore {
    struct nigh__array rules; /* of struct rule */
    struct nigh__array text;  /* of char: the patterns */
};

enum nigh__ignore_verdict { NIGH__IGNORE_SILENT, NIGH__IGNORE_OUT, NIGH__IGNORE_STAYS };

void nigh__ignore_init(struct nigh__ignore *out);
void nigh__ignore_release(const nigh_context *context, struct nigh__ignore *ignore);

/* One pattern, in which '!' and '#' are characters like others.  False: out of memory. */
bool nigh__ignore_add(const nigh_context *context, struct nigh__ignore *ignore, const char *pattern, size_t length);
/* All lines of a file.  False: out of memory. */
bool nigh__ignore_parse(const nigh_context *context, struct nigh__ignore *ignore, const char *text, size_t length);

/* `path` is relative to the folder of the file, without a '/' at either end. */
enum nigh__ignore_verdict nigh__ignore_match(const struct nigh__ignore *ignore, const char *path, bool folder);

#endif
