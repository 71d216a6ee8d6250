/* SPDX-License-Identifier: Apache-2.0 */
/* Permuted tables (Manku, Jain and Das Sarma, 2007).  tables.c draws them. */
#ifndef NIGH_FINDER_TABLES_H
#define NIGH_FINDER_TABLES_H

#include "base/progress.h"
#include "finder/lookup.h"

#define NIGH__MAX_BLOCKS 16u
#define NIGH__MAX_TABLES 128u

/* z choose x, or UINT32_MAX where that is more than NIGH__MAX_TABLES. */
uint32_t nigh__tables_count(uint32_t blocks, uint32_t leading);

/* 1 <= leading < blocks, and no more blocks than there are bits, nor more tables than can be. */
bool nigh__tables_possible(uint32_t width_bits, uint32_t blocks, uint32_t leading);

/* Bits of the direct index of each table: of the leading blocks' bits as many as pay for so many rows. */
uint32_t nigh__tables_index_bits(uint64_t rows, uint32_t width_bits, uint32_t blocks, uint32_t leading);

/* Memory that tables of so many rows take, without the rows themselves. */
uint64_t nigh__tables_bytes(uint64_t rows, uint32_t width_bits, uint32_t blocks, uint32_t leading);

/* How rows are cut, and how many bits of a choice the index has. */
struct nigh__tables_plan {
    uint32_t blocks, leading;
    uint32_t index_bits;
};

/* Where the parts of a table begin, in words of 4 bytes, after its starts; and how many it has in all. */
struct nigh__table_layout {
    uint64_t keys, numbers, words;
};

struct nigh__table_layout nigh__tables_layout_of(uint64_t rows, uint32_t index_bits);

struct nigh__tables; /* opaque; never changes once it is built */

/*
 * `rows` must outlive the tables.  1 <= leading < blocks <= width_bits and
 * NIGH__MAX_BLOCKS.  Exact up to a radius of blocks - leading.  While they are built,
 * each thread takes some more memory: 12 bytes for a row of every 2,000, or for each of
 * a crowd that shares its leading bits.  `progress` may be NULL.
 */
nigh_status nigh__tables_new(const nigh_context *context, const struct nigh__lookup_rows *rows, uint32_t blocks,
                             uint32_t leading, uint32_t threads, struct nigh__progress *progress,
                             struct nigh__tables **out, nigh_error *error);
void nigh__tables_free(const nigh_context *context, struct nigh__tables *tables); /* accepts NULL */

/*
 * The same tables one after the other, as nigh__tables_view() takes them; as many as there are threads are in memory
 * at a time.
 */
nigh_status nigh__tables_make(const nigh_context *context, const struct nigh__lookup_rows *rows,
                              const struct nigh__tables_plan *plan, uint32_t threads, struct nigh__progress *progress,
                              const struct nigh__table_sink *sink, nigh_error *error);

/* Tables that lie somewhere, such as in a mapped file: `out` has nigh__tables_view_bytes(), and owns nothing. */
size_t nigh__tables_view_bytes(const struct nigh__tables_plan *plan);
void nigh__tables_view(const nigh_context *context, const struct nigh__lookup_rows *rows,
                       const struct nigh__tables_plan *plan, const uint32_t *words, struct nigh__tables *out);

/* Adds to `found` and counts what it finished; acquires nothing but hits.  NIGH_OK or NIGH_ENOMEM. */
nigh_status nigh__tables_find(const struct nigh__tables *tables, const struct nigh__lookup *lookup,
                              struct nigh__found *found, nigh_error *error);

#endif
