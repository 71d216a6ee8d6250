/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms by their hashes, numbered from 0 in the order in which they first occur, and counted.
 * One cell holds everything about a term, so a term costs one access to memory, which is
 * prefetched; with base/hash_table.h it would cost two.
 */
#ifndef NIGH_TERMS_TERM_NUMBERS_H
#define NIGH_TERMS_TERM_NUMBERS_H

#include "base/memory.h"

struct nigh__term_cell {
    uint64_t hash;
    uint32_t number;
    uint32_t frequency; /* 0: the cell is free */
};

struct nigh__term_numbers {
    const nigh_context *context;
    struct nigh__term_cell *cells;
    size_t cell_count; /* a power of two, or 0 */
    unsigned shift;    /* 64 - log2 of it */
    uint64_t secret;   /* odd: who knows the hashes does not know the cells */
    uint32_t terms;
};

void nigh__term_numbers_init(const nigh_context *context, struct nigh__term_numbers *out);
void nigh__term_numbers_release(struct nigh__term_numbers *numbers);

/* Bytes of cells there must be for `more` terms on top; and makes them, or says that there is no memory. */
uint64_t nigh__term_numbers_bytes(const struct nigh__term_numbers *numbers, size_t more);
bool nigh__term_numbers_reserve(struct nigh__term_numbers *numbers, size_t more);

/* The numbers of `count` hashes (at any alignment), each counted once more.  There is room for all of them. */
void nigh__term_numbers_add(struct nigh__term_numbers *numbers, const uint8_t *hashes, size_t count, uint32_t *out);

/* UINT32_MAX: there is no such term. */
uint32_t nigh__term_numbers_find(const struct nigh__term_numbers *numbers, uint64_t hash);

/* Hashes and frequencies by number, each of `terms`. */
void nigh__term_numbers_list(const struct nigh__term_numbers *numbers, uint64_t *hashes, uint32_t *frequencies);

#endif
