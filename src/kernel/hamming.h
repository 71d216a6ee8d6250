/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hamming distance kernels: one entry per CPU variant, best first.  The
 * portable entry is the definition; all others must equal it bit for bit.
 * hamming.c says how they work and what they cost.
 */
#ifndef NIGH_KERNEL_HAMMING_H
#define NIGH_KERNEL_HAMMING_H

#include <stddef.h>
#include <stdint.h>

/* Queries that one call of `batch` takes. */
#define NIGH__BATCH_QUERIES 64u

/* A row that is near enough to a query. */
struct nigh__hit {
    uint32_t query;
    uint32_t row;
    uint32_t distance;
};

struct nigh__hamming {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /* Distance of two byte strings of any length up to 8,192, at any alignment. */
    uint32_t (*pair)(const uint8_t *a, const uint8_t *b, size_t bytes);

    /*
     * Distances of one query to `count` rows that lie one after the other, each
     * `words` 64-bit words (1 to 1,024); query and rows aligned to 8 bytes.
     * distances[i] is that of row i.  Returns the smallest, UINT32_MAX for no rows.
     */
    uint32_t (*rows)(const void *query, const uint64_t *rows, size_t count, size_t words, uint32_t *distances);

    /*
     * The scan: finds, for each of `query_count` queries (at most
     * NIGH__BATCH_QUERIES, one after the other as rows are), the rows nearer
     * than limits[query].  Reads each row from memory once and asks early for
     * what lies behind the rows, where a scan goes next.  `hits` has room for
     * query_count * count; returns how many there are.  Those of one query come
     * in the order of the rows.  Uses under 64 KB of stack and nothing else, so
     * that a fault may jump out of it.
     */
    size_t (*batch)(const uint64_t *queries, size_t query_count, const uint64_t *rows, size_t count, size_t words,
                    const uint32_t *limits, struct nigh__hit *hits);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__hamming *nigh__hamming_at(size_t index);

/* The best entry this CPU can run; or the one of that name, NULL where there is none or the CPU lacks it. */
const struct nigh__hamming *nigh__hamming_choose(const char *name);

#endif
