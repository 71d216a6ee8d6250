/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of vocabularies share: places in the header, and making a vocabulary of bytes. */
#ifndef NIGH_TEXT_VOCABULARY_PARTS_H
#define NIGH_TEXT_VOCABULARY_PARTS_H

#include "text/vocabulary.h"

enum {
    VOCABULARY_VERSION = 8,
    VOCABULARY_KIND = 12,
    VOCABULARY_TEXT_LENGTH = 16,
    VOCABULARY_OCCURRENCES = 24,
    VOCABULARY_DOCUMENTS = 32,
    VOCABULARY_N = 40,
    VOCABULARY_CHECKSUM = 48,
    VOCABULARY_HEADER = 64,
};

/* A feature as it lies in an exact vocabulary. */
struct nigh__vocabulary_entry {
    uint64_t hash;
    struct nigh__occurrence found;
};

#define VOCABULARY_MAX_TEXT 4096u
#define VOCABULARY_MAX_LENGTH (UINT64_C(1) << 32) /* what a collection can keep */

uint64_t nigh__vocabulary_checksum(const uint8_t *bytes, size_t length);
nigh_status nigh__vocabulary_own(const nigh_context *context, uint8_t *bytes, size_t length, nigh_vocabulary **out,
                                 nigh_error *error);

/* The counter of a feature in a row of a sketch of n counters a row. */
size_t nigh__sketch_place(uint64_t hash, uint32_t row, uint64_t n);

/* What a vocabulary holds, as it lies. */
struct nigh__vocabulary_body {
    uint64_t n;
    const struct nigh__vocabulary_entry *entries; /* n of them; NULL: a sketch */
    const uint32_t *sketch;                       /* occurrences, then documents: each NIGH__VOCABULARY_ROWS * n */
};
struct nigh__vocabulary_body nigh__vocabulary_body(const nigh_vocabulary *vocabulary);

#endif
