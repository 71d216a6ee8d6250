/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of lines "key=value", sorted by key, so that equal ones are equal bytes: how the
 * signatures of a collection were made, what a model was learned with.  A key is made of
 * lower-case letters, digits, dots and dashes; a value has no control bytes.
 */
#ifndef NIGH_BASE_KEY_LINES_H
#define NIGH_BASE_KEY_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nigh.h"

/* Whether a text is made of such lines, sorted, no key twice; and has the line `needed` where that is not NULL. */
bool nigh__key_lines_sound(const char *text, const char *needed);

/*
 * All lines of two texts, sorted; owned by the caller.  NIGH_EINVAL, in words that begin with `what` ("the scheme"),
 * where one is no text of lines, is longer than `most` bytes with the other, or where a key is there twice.
 */
nigh_status nigh__key_lines_merge(const nigh_context *context, const char *a, const char *b, size_t most,
                                  const char *what, char **out, nigh_error *error);

/* Copies the line that a text begins with apart; false where it is none, or too long. */
bool nigh__key_line_cut(const char *line, char *key, size_t key_size, char *value, size_t value_size);

/* What stands behind "key=" (given with its '='), up to the end of the line; NULL where there is no such line. */
const char *nigh__key_lines_find(const char *text, const char *key);

/* A value that is a decimal number, no larger than `most`, and nothing else. */
bool nigh__key_value_number(const char *value, uint64_t most, uint64_t *out);
bool nigh__key_value_number32(const char *value, uint32_t most, uint32_t *out);
/* One of a list of names that ends with NULL; its index, -1 where it is none. */
int nigh__key_value_name(const char *value, const char *const *names);

#endif
