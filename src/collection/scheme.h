/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheme of a collection: how its signatures were made.  Text, one
 * "key=value" a line, sorted by key, so that equal schemes are equal bytes.
 */
#ifndef NIGH_COLLECTION_SCHEME_H
#define NIGH_COLLECTION_SCHEME_H

#include <stdbool.h>
#include <stdint.h>

#include "nigh.h"

/*
 * The canonical text for signatures of `width_bits` bits: the caller's lines
 * (NULL: "kind=signatures") and "bits=N", sorted.  *out is owned by the caller.
 */
nigh_status nigh__scheme_make(const nigh_context *context, uint32_t width_bits, const char *lines, char **out,
                              nigh_error *error);

/*
 * Whether the line `key` ("vocabulary=", "model=") of a scheme names what has this name;
 * without such a line anything will do, and nothing.  `lines` may be NULL; `name` NULL: there is nothing.
 */
bool nigh__scheme_names(const char *lines, const char *key, const uint64_t *name);

/* Whether signatures of two schemes can be compared: by which keys documents were read makes no difference, nor does
 * whether thresholds that are the same were measured or given. */
bool nigh__scheme_same_bits(const char *a, const char *b);

/* Whether a text is what nigh__scheme_make() could have made for that width. */
bool nigh__scheme_sound(const char *text, uint32_t width_bits);

#endif
