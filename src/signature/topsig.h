/* SPDX-License-Identifier: Apache-2.0 */
/* The sums of topsig; topsig.c has the definition. */
#ifndef NIGH_SIGNATURE_TOPSIG_H
#define NIGH_SIGNATURE_TOPSIG_H

#include "base/context.h"
#include "signature/bag.h"

#define NIGH__TOPSIG_DENSITY 21u

/* Terms that the cache may hold, and the bytes they may take. */
#define NIGH__TOPSIG_TERMS ((size_t)1 << 18)
#define NIGH__TOPSIG_CACHE_BYTES (NIGH__TOPSIG_TERMS * 96)

struct nigh__topsig {
    uint32_t width_bits;
    uint32_t half;   /* positions that get +w, and as many that get -w */
    uint16_t *marks; /* a position has the newest mark where the term being drawn has it already */
    uint16_t mark;
    uint16_t *fresh;     /* positions of a term that is not in the cache */
    uint16_t *cache;     /* 2 * half positions a term; a term whose first two are equal is not there */
    size_t capacity;     /* terms there is room for now */
    size_t limit;        /* terms there may be room for */
    uint32_t generation; /* of the terms in the cache */
};

/* `density` 0 is NIGH__TOPSIG_DENSITY.  What was acquired is released where it fails. */
nigh_status nigh__topsig_init(const nigh_context *context, struct nigh__topsig *topsig, uint32_t width_bits,
                              uint32_t density, nigh_error *error);
void nigh__topsig_release(const nigh_context *context, struct nigh__topsig *topsig);

/* Makes room in the cache for the terms of a bag, and empties it for a new generation. */
nigh_status nigh__topsig_prepare(const nigh_context *context, struct nigh__topsig *topsig, const struct nigh__bag *bag,
                                 nigh_error *error);

/* Adds features to width_bits sums; nigh__topsig_prepare() has seen them. */
void nigh__topsig_add(struct nigh__topsig *topsig, const struct nigh__bag *bag, int32_t *sums);

#endif
