/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates where scores of eight bits cannot tell them apart.  Included by slices/slice_* alone. */
#ifndef NIGH_SLICES_SLICE_WIDE_H
#define NIGH_SLICES_SLICE_WIDE_H

#include "slices/slice_lists.h"
#include "slices/slice_pick.h"

/*
 * Of the rows whose score has stayed at NIGH__MAX_SCORE, more than `count`, the best so
 * many by their whole scores, ties by row; *next is the highest score left out.  The
 * lists are those that the scores come from; a score is `most` at most, also where a
 * list lies and names a row twice.
 *
 * Lives:   *rows until the next search with this scratch.
 * Returns: NIGH_OK; NIGH_ENOMEM; NIGH_ECORRUPT where a list names a row that is not there.
 */
nigh_status nigh__slice_pick_wide(const struct nigh__slice_pick *pick, const struct nigh__slices *slices,
                                  const struct nigh__slice_lists *lists, uint32_t count, uint32_t most,
                                  const uint32_t **rows, uint32_t *next, nigh_error *error);

#endif
