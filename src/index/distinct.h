/* SPDX-License-Identifier: Apache-2.0 */
/* Equal rows kept once, with the numbers of all that were given.  Rows stand in the order of their first number. */
#ifndef NIGH_INDEX_DISTINCT_H
#define NIGH_INDEX_DISTINCT_H

#include "base/progress.h"
#include "index/lookup.h"

struct nigh__distinct {
    uint64_t *words_of_rows; /* as struct nigh__rows has them */
    uint32_t count;
    uint32_t words;
    uint32_t width_bits;
    uint32_t given;    /* rows before equal ones were found */
    uint32_t *starts;  /* the numbers of row r are from starts[r] to before starts[r + 1]; NULL: r itself */
    uint32_t *numbers; /* ascending for each row */
};

/*
 * `rows` are width_bits / 8 bytes each and fewer than 2^32 - 1.  Besides what it keeps it
 * takes 4 bytes a row and, for a time, a hash table of 11 to 22.
 *
 * Returns NIGH_OK, NIGH_ENOMEM, NIGH_ECANCELLED.
 */
nigh_status nigh__distinct_init(const nigh_context *context, struct nigh__distinct *distinct, const uint8_t *rows,
                                uint32_t count, uint32_t width_bits, struct nigh__progress *progress,
                                nigh_error *error);
void nigh__distinct_release(const nigh_context *context, struct nigh__distinct *distinct);

/* Gives the rows back and keeps their numbers. */
void nigh__distinct_drop_rows(const nigh_context *context, struct nigh__distinct *distinct);

/* Memory it holds; of the numbers alone without the rows. */
uint64_t nigh__distinct_bytes(const struct nigh__distinct *distinct, bool with_rows);

/* The numbers of a row, *count of them; *own is room for one. */
const uint32_t *nigh__distinct_numbers(const struct nigh__distinct *distinct, uint32_t row, uint32_t *own,
                                       uint32_t *count);

/* Copies rows of bytes to words, the unused bits 0. */
void nigh__distinct_copy(uint64_t *words_of_rows, uint32_t words, const uint8_t *rows, size_t count, size_t row_bytes);

#endif
