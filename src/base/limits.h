/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of the limits in nigh.h, widths of signatures and ids of documents, for all code that takes them in. */
#ifndef NIGH_BASE_LIMITS_H
#define NIGH_BASE_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "nigh.h"

/* Whether signatures may have this width: from 1 to NIGH_MAX_WIDTH_BITS. */
bool nigh__width_valid(uint64_t width_bits);

/* Returns: NIGH_OK, or NIGH_EINVAL where nigh__width_valid() says no. */
nigh_status nigh__width_allowed(uint64_t width_bits, nigh_error *error);

/*
 * The bytes of a signature.  Where the width is no multiple of 8 the last byte has padding, its
 * highest bits.  Padding is 0 everywhere, so that distances, hashes and comparisons of bytes and
 * words need not know of it; whatever comes from outside is refused where it is not.
 */
static inline size_t nigh__row_bytes(uint64_t width_bits) { return (size_t)(width_bits / 8) + (width_bits % 8 != 0); }

/* Of the last byte of a signature: the bits that count. */
static inline uint8_t nigh__last_byte_mask(uint64_t width_bits) { return (uint8_t)(0xff >> (8 - width_bits % 8) % 8); }

/* The same of the last 64-bit word. */
static inline uint64_t nigh__last_word_mask(uint64_t width_bits) {
    return width_bits % 64 == 0 ? UINT64_MAX : (UINT64_C(1) << width_bits % 64) - 1;
}

static inline bool nigh__padding_is_clear(const uint8_t *row, uint64_t width_bits) {
    return (row[nigh__row_bytes(width_bits) - 1] & (uint8_t)~nigh__last_byte_mask(width_bits)) == 0;
}

/* Returns: NIGH_OK, or NIGH_EINVAL where the padding of a signature is set. */
nigh_status nigh__signature_check(const uint8_t *signature, uint32_t width_bits, nigh_error *error);

/* Returns: NIGH_OK, or NIGH_EINVAL that names the first of `count` rows whose padding is set; `kind` is what they are.
 */
nigh_status nigh__padding_check(const uint8_t *rows, uint64_t count, uint32_t width_bits, const char *kind,
                                nigh_error *error);

/* Returns: NULL, or what is wrong with an id of that length, a constant. */
const char *nigh__id_problem(size_t length);

/* Whether there is no zero byte, tab or newline in it, as in all ids before these were allowed. */
bool nigh__id_is_line(const char *id, size_t length);

#endif
