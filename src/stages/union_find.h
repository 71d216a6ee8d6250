/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of many numbers belong together: union-find, in 8 bytes a number.  A word is the number above, or, of one that
 * has none above it, TOP and how many are below it; the smaller tree goes below the larger, so no way up is long.
 */
#ifndef NIGH_STAGES_UNION_FIND_H
#define NIGH_STAGES_UNION_FIND_H

#include "base/memory.h"

#define NIGH__FOREST_TOP (UINT64_C(1) << 63)

struct nigh__forest {
    uint64_t *words; /* owned */
    uint64_t count;
};

/* Each by itself.  False: out of memory. */
static inline bool nigh__forest_init(const nigh_context *context, uint64_t count, struct nigh__forest *out) {
    *out = (struct nigh__forest){.words = nigh__alloc_large(context, (size_t)count + 1, sizeof *out->words),
                                 .count = count};
    for (uint64_t i = 0; out->words != NULL && i < count; i++) out->words[i] = NIGH__FOREST_TOP | 1;
    return out->words != NULL;
}

static inline bool nigh__forest_is_top(const struct nigh__forest *forest, uint64_t number) {
    return (forest->words[number] & NIGH__FOREST_TOP) != 0;
}

/* The one at the top of a number's tree; the way up is halved for the next who asks. */
static inline uint64_t nigh__forest_find(struct nigh__forest *forest, uint64_t number) {
    while (!nigh__forest_is_top(forest, number)) {
        const uint64_t above = forest->words[number];
        if (!nigh__forest_is_top(forest, above)) forest->words[number] = forest->words[above];
        number = forest->words[number];
    }
    return number;
}

static inline uint64_t nigh__forest_size(const struct nigh__forest *forest, uint64_t top) {
    return forest->words[top] & ~NIGH__FOREST_TOP;
}

static inline void nigh__forest_join(struct nigh__forest *forest, uint64_t a, uint64_t b) {
    uint64_t x = nigh__forest_find(forest, a);
    uint64_t y = nigh__forest_find(forest, b);
    if (x == y) return;
    if (nigh__forest_size(forest, x) < nigh__forest_size(forest, y)) {
        const uint64_t other = x;
        x = y;
        y = other;
    }
    forest->words[x] += nigh__forest_size(forest, y);
    forest->words[y] = x;
}

#endif
