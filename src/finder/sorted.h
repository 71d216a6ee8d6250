/* SPDX-License-Identifier: Apache-2.0 */
/* Probabilistic simhash matching (Sood, 2011): sorted tables, looked up by weak bits.  sorted.c draws them. */
#ifndef NIGH_FINDER_SORTED_H
#define NIGH_FINDER_SORTED_H

#include "base/progress.h"
#include "finder/lookup.h"
#include "finder/weak.h"

struct nigh__sorted_plan {
    uint32_t prefix_bits;
    uint32_t probes;    /* for each table */
    uint32_t rotations; /* tables */
    nigh_weak_model model;
    bool without_numbers; /* of 64-bit rows: hits give the row UINT32_MAX */
};

/* p as it pays for so many rows: about their logarithm. */
uint32_t nigh__sorted_prefix_bits(uint64_t rows);

/* Memory that the tables take; of rows of 64 bits they hold all, of others the rows are needed beside them. */
uint64_t nigh__sorted_bytes(uint64_t rows, uint32_t width_bits, const struct nigh__sorted_plan *plan);

/* Where the parts of a table begin, in words of 4 bytes, after its offsets; and how many it has in all. */
struct nigh__sorted_layout {
    uint64_t rows, numbers, words;
};

struct nigh__sorted_layout nigh__sorted_layout_of(uint64_t rows, uint32_t width_bits,
                                                  const struct nigh__sorted_plan *plan);

struct nigh__sorted; /* opaque; never changes once it is built */

/* `rows` must outlive it, but for rows of 64 bits, which are copied.  `progress` may be NULL. */
nigh_status nigh__sorted_new(const nigh_context *context, const struct nigh__lookup_rows *rows,
                             const struct nigh__sorted_plan *plan, uint32_t threads, struct nigh__progress *progress,
                             struct nigh__sorted **out, nigh_error *error);
void nigh__sorted_free(const nigh_context *context, struct nigh__sorted *sorted); /* accepts NULL */

/* The same tables one after the other, as nigh__sorted_view() takes them; one is in memory at a time. */
nigh_status nigh__sorted_make(const nigh_context *context, const struct nigh__lookup_rows *rows,
                              const struct nigh__sorted_plan *plan, uint32_t threads, struct nigh__progress *progress,
                              const struct nigh__table_sink *sink, nigh_error *error);

/* Tables that lie somewhere, such as in a mapped file: `out` has nigh__sorted_view_bytes(), and owns nothing. */
size_t nigh__sorted_view_bytes(void);
void nigh__sorted_view(const nigh_context *context, const struct nigh__lookup_rows *rows,
                       const struct nigh__sorted_plan *plan, const uint32_t *words, struct nigh__sorted *out);

/* Adds to `found`; the lookup has weights.  NIGH_OK or NIGH_ENOMEM. */
nigh_status nigh__sorted_find(const struct nigh__sorted *sorted, const struct nigh__lookup *lookup,
                              struct nigh__found *found, nigh_error *error);

#endif
