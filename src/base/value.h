/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: what documents have under keys that are kept.  A number has one form: a whole number of 64 bits is an
 * integer, whatever it was written as, and any other is a real; so two values are equal where their types and their
 * bytes are.
 *
 * On their way from a reader to a segment the values of a document travel packed, one after the other:
 *
 *     type, a byte | integer: 8 bytes | real: 8 bytes | text: its length, 2 bytes, and its bytes
 */
#ifndef NIGH_BASE_VALUE_H
#define NIGH_BASE_VALUE_H

#include "base/memory.h"

/* A number as JSON writes it and nothing else; of more digits than fit the nearest there is.  False: it is none. */
bool nigh__number_parse(const char *text, size_t length, nigh_value *out);

/* The form that a number has; others are as they are. */
nigh_value nigh__value_normal(nigh_value value);
/* Of finite doubles alone: whether it is an integer of 64 bits, and which. */
bool nigh__real_is_integer(double real, int64_t *integer);

/* NIGH_OK, or NIGH_EINVAL for what is no value. */
nigh_status nigh__value_check(const nigh_value *value, nigh_error *error);

/* The order of dictionaries, of normal values: integers, reals, texts by their bytes.  Below 0, 0, above 0. */
int nigh__value_order(const nigh_value *a, const nigh_value *b);
/* Two normal numbers, by what they are worth; exact, also between an integer and a real. */
int nigh__number_order(const nigh_value *a, const nigh_value *b);

/* Bytes of values, packed. */
size_t nigh__values_size(const nigh_value *values, uint32_t count);
/* Puts them there. */
void nigh__values_pack(const nigh_value *values, uint32_t count, uint8_t *out);
/* Appends them to an array of bytes; false: out of memory. */
bool nigh__values_append(const nigh_context *context, struct nigh__array *array, const nigh_value *values,
                         uint32_t count);
/*
 * Unpacks exactly `length` bytes; texts lead into them.  `out` has room for NIGH_MAX_KEEP_KEYS.  False where they are
 * no values, or not in their normal form.
 */
bool nigh__values_unpack(const uint8_t *bytes, size_t length, nigh_value *out, uint32_t *count);

#endif
