/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scores of eight bits stay at 255.  With s slices and a top score of T a row may have
 * s T, and with great breadth most rows that matter have more than 255: the M best of
 * them would be the first M in the file.  So where more rows than M have come to 255,
 * the lists are read once more, and the scores of these rows alone are added up in 32
 * bits.  Where no more than M have, all of them are compared, and nothing is lost: this
 * is the case for every setting that is fast, so that bytes stay what is usual.
 *
 * Cost: 4 bytes a row, touched for rows of 255 only, and the postings a second time.
 */
#include "slices/slice_wide.h"

#include "base/assert.h"
#include "base/status.h"

struct wide {
    const struct nigh__slice_pick *pick;
    uint32_t *scores;         /* of each row; of those below 255, anything */
    struct nigh__array *keys; /* of uint64_t: what is missing to the highest score, then the row */
};

static nigh_status take_rows(struct wide *wide, nigh_error *error) {
    const nigh_context *context = wide->pick->scratch->context;
    size_t at = 0;
    for (bool more = true; more;) {
        const uint32_t *rows;
        size_t count;
        nigh_status status = nigh__slice_pick_from(wide->pick, NIGH__MAX_SCORE, &at, &rows, &count, &more, error);
        if (status != NIGH_OK) return status;
        uint64_t *keys = nigh__array_add(context, wide->keys, count);
        if (keys == NULL && count != 0) return nigh__no_memory(error, "for rows of high scores");
        for (size_t i = 0; i < count; i++) {
            wide->scores[rows[i]] = 0;
            keys[i] = rows[i];
        }
    }
    return NIGH_OK;
}

static nigh_status add_list(const struct wide *wide, const struct nigh__slices *slices,
                            const struct nigh__slice_list *list, nigh_error *error) {
    const uint8_t *bytes = wide->pick->scratch->scores;
    for (uint32_t i = 0; i < list->length; i++) {
        const uint32_t row = list->ids[i];
        if (row >= wide->pick->rows) return nigh__slice_lies_row(slices, list->ids + i, error);
        if (bytes[row] == NIGH__MAX_SCORE) wide->scores[row] += list->score;
    }
    return NIGH_OK;
}

/* The best first. */
static void sort_rows(const struct wide *wide, uint32_t most) {
    uint64_t *keys = wide->keys->data;
    for (size_t i = 0; i < wide->keys->count; i++) {
        const uint32_t score = wide->scores[(uint32_t)keys[i]];
        keys[i] |= (uint64_t)(score < most ? most - score : 0) << 32;
    }
    nigh__keys_sort(wide->pick->scratch->context, keys, wide->keys->count);
}

nigh_status nigh__slice_pick_wide(const struct nigh__slice_pick *pick, const struct nigh__slices *slices,
                                  const struct nigh__slice_lists *lists, uint32_t count, uint32_t most,
                                  const uint32_t **rows, uint32_t *next, nigh_error *error) {
    struct nigh__slice_scratch *scratch = pick->scratch;
    struct wide wide = {.pick = pick, .keys = &scratch->wide};
    uint32_t *best = nigh__slice_room(scratch->context, &scratch->ordered, count, sizeof *best, error);
    wide.scores = nigh__slice_room(scratch->context, &scratch->plain_scores, pick->rows, sizeof *wide.scores, error);
    if (best == NULL || wide.scores == NULL) return NIGH_ENOMEM;
    wide.keys->count = 0;
    nigh_status status = take_rows(&wide, error);
    for (size_t l = 0; l < lists->count && status == NIGH_OK; l++)
        status = add_list(&wide, slices, &lists->lists[l], error);
    if (status != NIGH_OK) return status;
    NIGH__ASSERT(wide.keys->count > count);
    sort_rows(&wide, most);
    const uint64_t *keys = wide.keys->data;
    for (uint32_t i = 0; i < count; i++) best[i] = (uint32_t)keys[i];
    *rows = best;
    *next = most - (uint32_t)(keys[count] >> 32);
    return NIGH_OK;
}
