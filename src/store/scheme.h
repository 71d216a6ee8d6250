/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scheme of a collection: how its signatures were made.  Text, one
 * "key=value" a line, sorted by key, so that equal schemes are equal bytes.
 */
#ifndef NIGH_STORE_SCHEME_H
#define NIGH_STORE_SCHEME_H

#include <stdbool.h>

#include "nigh.h"

/*
 * The canonical text for signatures of `width_bits` bits: the caller's lines
 * (NULL: "kind=signatures") and "bits=N", sorted.  *out is owned by the caller.
 */
nigh_status nigh__scheme_make(const nigh_context *context, uint32_t width_bits, const char *lines, char **out,
                              nigh_error *error);

/*
 * Whether the line "vocabulary=" of a scheme names this vocabulary; without such a
 * line any will do, and none.  `lines` may be NULL.
 */
bool nigh__scheme_names(const char *lines, const nigh_vocabulary *vocabulary);

/* Whether a text is what nigh__scheme_make() could have made for that width. */
bool nigh__scheme_sound(const char *text, uint32_t width_bits);

#endif
