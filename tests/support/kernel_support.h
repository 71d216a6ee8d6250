/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of distance kernels share: memory that ends where it may be read, widths, limits, and hits to compare. */
#ifndef NIGH_TESTS_KERNEL_SUPPORT_H
#define NIGH_TESTS_KERNEL_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "kernel/hamming.h"

/* Memory whose end is the end of what may be read. */
struct arena {
    uint8_t *start;
    uint8_t *end;
    size_t mapped;
};

/* At least `bytes`, random. */
void arena_init(struct arena *arena, size_t bytes, struct nigh__rng *rng);
void arena_release(struct arena *arena);

/* The last `count` words of it. */
uint64_t *arena_words(const struct arena *arena, size_t count);

/* Zeros; the analyzer does not know that a failed assertion ends the test. */
void *allocate(size_t count, size_t size);

/* 1 to 70 words, then 128, 256, 512, 1,024. */
size_t next_words(size_t words);

/* Limits below, at and above the distances that occur. */
uint32_t pick_limit(struct nigh__rng *rng, const uint32_t *distances, size_t count);

/* What a batch must find. */
struct expected_hits {
    const char *kernel;
    size_t words;
    size_t query_count;
    size_t count; /* rows */
    const uint32_t *limits;
    const uint32_t *distances; /* of each query those to all rows, one after the other */
};

/* The hits of all queries must be those of the definition; of each query, in the order of the rows. */
void check_hits(const struct expected_hits *want, const struct nigh__hit *hits, size_t found);

#endif
