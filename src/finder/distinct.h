/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Equal rows kept once, with the numbers of all that were given.  Rows stand in the
 * order of their first number.  distinct.c draws how the numbers are kept.
 */
#ifndef NIGH_FINDER_DISTINCT_H
#define NIGH_FINDER_DISTINCT_H

#include "base/progress.h"
#include "finder/lookup.h"

/* A set of numbers, and how many of it are below each word. */
struct nigh__ranked {
    uint64_t *words; /* NULL: none is kept */
    uint32_t *before;
    uint32_t word_count;
};

struct nigh__distinct {
    uint64_t *words_of_rows; /* as struct nigh__lookup_rows has them */
    uint32_t count;
    uint32_t words;
    uint32_t width_bits;
    uint32_t given;             /* rows before equal ones were found */
    struct nigh__ranked firsts; /* numbers that are the first of their row; none: all, number r is row r */
    uint32_t *samples;          /* of every 64th row: the word of `firsts` that it is in; and the last word */
    struct nigh__ranked groups; /* rows with several numbers */
    uint32_t group_count;
    uint32_t *starts;  /* the numbers of group g are from starts[g] to before starts[g + 1] */
    uint32_t *numbers; /* ascending for each group */
};

/*
 * `rows` are nigh__row_bytes(width_bits) bytes each and fewer than 2^32 - 1.  Besides what it keeps it
 * takes, for a time, 4 bytes a row and a hash table of 11 to 22.
 *
 * Returns NIGH_OK, NIGH_ENOMEM, NIGH_ECANCELLED.
 */
nigh_status nigh__distinct_init(const nigh_context *context, struct nigh__distinct *distinct, const uint8_t *rows,
                                uint32_t count, uint32_t width_bits, struct nigh__progress *progress,
                                nigh_error *error);
void nigh__distinct_release(const nigh_context *context, struct nigh__distinct *distinct);

/* Gives the rows back and keeps their numbers. */
void nigh__distinct_drop_rows(const nigh_context *context, struct nigh__distinct *distinct);

/* Gives back what tells the numbers; nobody may ask for them any more. */
void nigh__distinct_drop_numbers(const nigh_context *context, struct nigh__distinct *distinct);

/* Memory that rows and numbers take, while they are kept. */
uint64_t nigh__distinct_row_bytes(const struct nigh__distinct *distinct);
uint64_t nigh__distinct_number_bytes(const struct nigh__distinct *distinct);

/* Whether some rows were equal, so that rows are not numbers. */
static inline bool nigh__distinct_collapsed(const struct nigh__distinct *distinct) {
    return distinct->firsts.words != NULL;
}

/* The numbers of a row, *count of them; *own is room for one. */
const uint32_t *nigh__distinct_numbers(const struct nigh__distinct *distinct, uint32_t row, uint32_t *own,
                                       uint32_t *count);

/* Copies rows of bytes to words, the unused bits 0. */
void nigh__distinct_copy(uint64_t *words_of_rows, uint32_t words, const uint8_t *rows, size_t count, size_t row_bytes);

#endif
