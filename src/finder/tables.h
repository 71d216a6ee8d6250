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

/* Bits of the direct index of each table: of the leading blocks' bits as many as pay for so many rows. */
uint32_t nigh__tables_index_bits(uint64_t rows, uint32_t width_bits, uint32_t blocks, uint32_t leading);

/* Memory that tables of so many rows take, without the rows themselves. */
uint64_t nigh__tables_bytes(uint64_t rows, uint32_t width_bits, uint32_t blocks, uint32_t leading);

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

/* Adds to `found` and counts what it finished.  NIGH_OK or NIGH_ENOMEM. */
nigh_status nigh__tables_find(const struct nigh__tables *tables, const struct nigh__lookup *lookup,
                              struct nigh__found *found, nigh_error *error);

#endif
