/* SPDX-License-Identifier: Apache-2.0 */
/* Terms by their hashes: each new hash gets the next number, from 1. */
#ifndef NIGH_TEXT_TERM_TABLE_H
#define NIGH_TEXT_TERM_TABLE_H

#include "base/memory.h"

#define NIGH__MAX_TERMS (UINT32_C(1) << 30)

struct nigh__term_table {
    const nigh_context *context;
    struct nigh__array hashes; /* of uint64_t, by number; that of 0 means nothing */
    uint64_t *slots;           /* a number and half of the mixed hash; 0: empty */
    unsigned shift;            /* 64 - log2 of the number of slots */
    uint64_t multiplier;       /* odd and secret: who knows the hashes does not know the slots */
};

/* Returns NIGH_OK or NIGH_ENOMEM; after the latter it is as if released. */
nigh_status nigh__term_table_init(const nigh_context *context, struct nigh__term_table *table, nigh_error *error);
void nigh__term_table_release(struct nigh__term_table *table);

/* The number of a hash.  Returns NIGH_OK or NIGH_ENOMEM. */
nigh_status nigh__term_table_find(struct nigh__term_table *table, uint64_t hash, uint32_t *number, nigh_error *error);

#endif
