/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The best of what a search meets.  A candidate is one 64-bit key, its
 * distance above its number, so that the order "nearest first, ties by number"
 * is the order of the keys:
 *
 *     63            32 31             0
 *     |   distance    |    number     |      number: of a row or a document
 */
#ifndef NIGH_SCAN_NEAREST_H
#define NIGH_SCAN_NEAREST_H

#include <stdbool.h>

#include "base/memory.h"

static inline uint64_t nigh__key(uint32_t distance, uint32_t number) { return (uint64_t)distance << 32 | number; }
static inline uint32_t nigh__key_distance(uint64_t key) { return (uint32_t)(key >> 32); }
static inline uint32_t nigh__key_number(uint64_t key) { return (uint32_t)key; }

/* Sorts in place.  Where there is memory for it, by radix; else, and where there are few, by heap. */
void nigh__keys_sort(const nigh_context *context, uint64_t *keys, size_t count);

/*
 * The k smallest keys of those added.  Grows as they come, never beyond k, so
 * that a huge k costs nothing by itself.
 */
struct nigh__nearest {
    struct nigh__array keys; /* of uint64_t; a heap, greatest first, once there are k */
    uint32_t k;              /* NIGH_ALL: no limit */
    uint32_t limit;          /* candidates must be nearer than this */
};

void nigh__nearest_init(struct nigh__nearest *nearest, uint32_t k, uint32_t limit);
void nigh__nearest_release(const nigh_context *context, struct nigh__nearest *nearest);

/*
 * Adds a candidate.  Numbers must ascend from one call to the next: once there
 * are k, only a smaller distance gets in, and `limit` says which.
 * Returns false where memory ran out.
 */
bool nigh__nearest_add(const nigh_context *context, struct nigh__nearest *nearest, uint32_t distance, uint32_t number);

/* The same for numbers in any order: at the distance of the last of k, a smaller number gets in. */
bool nigh__nearest_offer(const nigh_context *context, struct nigh__nearest *nearest, uint32_t distance,
                         uint32_t number);

#endif
