/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of the highest scores.  Included by slices/slice_* alone. */
#ifndef NIGH_SLICES_SLICE_PICK_H
#define NIGH_SLICES_SLICE_PICK_H

#include "kernel/scores.h"
#include "slices/slice_parts.h"

/* The scores of a search, in the table of the scratch. */
struct nigh__slice_pick {
    struct nigh__slice_scratch *scratch;
    uint32_t rows;
    const uint32_t *touched; /* the rows with a score, in any order; NULL: not written down */
    size_t touched_count;
};

/* Inside the scratch. */
struct nigh__slice_picked {
    const uint32_t *rows;             /* highest score first, then in order */
    size_t ends[NIGH__MAX_SCORE + 2]; /* of those of each score; the next higher end before them */
    uint32_t next;                    /* the highest score of those left out; 0: only rows without one */
};

/* The best so many, of equal scores the first. */
nigh_status nigh__slice_pick_best(const struct nigh__slice_pick *pick, uint32_t count, struct nigh__slice_picked *out,
                                  nigh_error *error);

/*
 * All of at least this score (not 0), some at a time: *at is 0 before the first call, *more false after the last.  The
 * score may rise from one call to the next.
 */
nigh_status nigh__slice_pick_from(const struct nigh__slice_pick *pick, uint32_t score, size_t *at,
                                  const uint32_t **rows, size_t *count, bool *more, nigh_error *error);

/* All scores are 0 again. */
void nigh__slice_pick_clear(const struct nigh__slice_pick *pick);

#endif
