/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys whose values a collection keeps, as lines of its scheme. So all segments of a collection have the same keys,
 * and versions that do not know such lines cannot add to it.
 *
 *     keep-key=lang
 *     keep-key.2=year
 */
#ifndef NIGH_BASE_KEEP_KEYS_H
#define NIGH_BASE_KEEP_KEYS_H

#include "base/memory.h"

#define NIGH__KEEP_KEY "keep-key" /* that a line begins with */

/*
 * The lines, owned by the caller; NULL where there are no keys.  NIGH_EINVAL for keys that no line can hold (of no
 * bytes, of over 100, with control characters), that are there twice, or are too many.
 */
nigh_status nigh__keep_keys_lines(const nigh_context *context, const char *const *keys, size_t count, char **out,
                                  nigh_error *error);

/* How many a scheme has. */
uint32_t nigh__keep_keys_count(const char *scheme);
/* One of them, from 0, of *length bytes; it lies in the scheme. */
const char *nigh__keep_keys_name(const char *scheme, uint32_t index, size_t *length);
/* Its index, or their count where there is no such key. */
uint32_t nigh__keep_keys_find(const char *scheme, const char *name, size_t length);

/* Whether a scheme keeps these keys, in this order. */
bool nigh__keep_keys_are(const char *scheme, const char *const *keys, size_t count);

/*
 * Whether what is to be kept is what a collection keeps, whose scheme this is; no keys are those that are there.
 * NIGH_EMISMATCH, naming both, where it is not; as nigh__keep_keys_lines().
 */
nigh_status nigh__keep_keys_fit(const nigh_context *context, const char *path, const char *scheme,
                                const char *const *keys, size_t count, nigh_error *error);

/* Whether two schemes keep the same. */
bool nigh__keep_keys_same(const char *a, const char *b);

/* "lang, year", cut to what fits a message; "none". */
struct nigh__keys_shown {
    char text[128];
};
struct nigh__keys_shown nigh__keep_keys_shown(const char *scheme);

#endif
