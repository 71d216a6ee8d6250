/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of slice lists as the papers describe it: scores of 32 bits, all set to 0
 * for each query, lists read as they come, then every score looked at twice to find
 * the best M.  It is what slice_search.c must equal, and what its speed is measured
 * against; so it is kept simple, and has none of the other's ideas.
 *
 * Cost: 8 bytes a row moved for the scores alone, and for each list two reads that
 * wait for memory, one after the other.
 */
#include <string.h>

#include "base/assert.h"
#include "base/status.h"
#include "collection/selection.h"
#include "kernel/hamming.h"
#include "slices/slice_parts.h"
#include "slices/slice_search.h"

struct plain {
    struct nigh__slice_scratch *scratch;
    const struct nigh__slices *slices;
    const struct nigh__slice_query *query;
    enum nigh__scoring scoring;
    struct nigh__slice_answer *answer;
    uint32_t *scores; /* of each row */
    uint16_t *slack;  /* of each slice */
    uint64_t highest; /* lists of a higher rank are left out, */
    uint64_t left;    /* and lists of this one once no more than this are left of the budget */
};

static nigh_status walk(struct plain *plain, nigh__slice_visit *visit, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t ring = 0; status == NIGH_OK && ring <= plain->query->breadth; ring++)
        status = nigh__slice_walk(plain->scratch, plain->slices, plain->query, ring, visit, plain, error);
    return status;
}

/* ---------------------------------------------------------------------- budget -- */

/* Class, then length. */
static uint64_t rank_of(const struct plain *plain, const struct nigh__slice_visited *list) {
    const uint32_t class = nigh__slice_class(plain->slices->rows, plain->query->breadth, list->ring, list->length);
    return (uint64_t) class << 32 | list->length;
}

static nigh_status visit_to_measure(void *user, const struct nigh__slice_visited *list, nigh_error *error) {
    const struct plain *plain = user;
    uint64_t *slot = nigh__array_add(plain->scratch->context, &plain->scratch->best, 1);
    if (slot == NULL) return nigh__no_memory(error, "for the lengths of lists");
    *slot = rank_of(plain, list);
    return NIGH_OK;
}

/* Which lists are too long: takes those of the lowest ranks, as long as they fit. */
static nigh_status set_budget(struct plain *plain, nigh_error *error) {
    plain->highest = UINT64_MAX;
    if (plain->query->postings == NIGH_ALL_64) return NIGH_OK;
    plain->scratch->best.count = 0;
    nigh_status status = walk(plain, visit_to_measure, error);
    if (status != NIGH_OK) return status;
    uint64_t *ranks = plain->scratch->best.data;
    nigh__keys_sort(plain->scratch->context, ranks, plain->scratch->best.count);
    uint64_t left = plain->query->postings;
    plain->left = left;
    for (size_t i = 0; i < plain->scratch->best.count; i++) {
        const uint32_t length = (uint32_t)ranks[i];
        if (i == 0 || ranks[i] != ranks[i - 1]) plain->left = left; /* for all of this rank */
        if (length > left) {
            plain->highest = ranks[i];
            return NIGH_OK;
        }
        left -= length;
    }
    return NIGH_OK;
}

/* Whether a list is left out.  Of those that are just too long, the first ones fit; nothing is lost with an empty one.
 */
static bool too_long(struct plain *plain, const struct nigh__slice_visited *list) {
    const uint64_t rank = rank_of(plain, list);
    if (rank < plain->highest || list->length == 0) return false;
    if (rank > plain->highest || list->length > plain->left) return true;
    plain->left -= list->length;
    return false;
}

/* ---------------------------------------------------------------------- scores -- */

static nigh_status visit_to_score(void *user, const struct nigh__slice_visited *list, nigh_error *error) {
    struct plain *plain = user;
    const uint32_t bound_score = plain->query->breadth + 1 - list->ring;
    const uint32_t top = plain->scoring == NIGH__SCORE_BOUND ? nigh__slice_top(plain->query) : list->bits;
    const uint32_t score = top - list->ring;
    const bool admits = list->ring <= plain->query->admit;
    uint32_t *scores = plain->scores;
    plain->answer->lists++;
    if (too_long(plain, list)) {
        plain->answer->skipped++;
        if (plain->slack[list->slice] < bound_score) plain->slack[list->slice] = (uint16_t)bound_score;
        return NIGH_OK;
    }
    plain->answer->postings += list->length;
    for (uint32_t i = 0; i < list->length; i++) {
        const uint32_t row = list->ids[i];
        if (row >= plain->slices->rows) return nigh__slice_lies_row(plain->slices, list->ids + i, error);
        if (plain->query->allowed != NULL && !nigh__bitmap_has(plain->query->allowed, row)) continue;
        if (admits || scores[row] != 0) scores[row] += score;
    }
    return NIGH_OK;
}

/* A score as it counts: lists that lie, and name a row twice in a slice, make it no more than it can be. */
static uint32_t counted(const struct plain *plain, uint32_t score) {
    const bool bound = plain->scoring == NIGH__SCORE_BOUND;
    const uint32_t most =
        plain->query->slices * (bound ? nigh__slice_top(plain->query) : plain->slices->slicing.most_bits);
    return score < most ? score : most;
}

/*
 * The levels above `level` are candidates, and of it the first `room`.  *next is the
 * highest score left out.
 */
static nigh_status find_level(struct plain *plain, uint32_t *level, uint64_t *room, uint32_t *next, nigh_error *error) {
    const uint32_t most = counted(plain, UINT32_MAX);
    struct nigh__slice_room *levels = &plain->scratch->plain_levels;
    uint32_t *counts = nigh__slice_room(plain->scratch->context, levels, (size_t)most + 1, sizeof *counts, error);
    if (counts == NULL) return NIGH_ENOMEM;
    memset(counts, 0, ((size_t)most + 1) * sizeof *counts);
    for (uint32_t row = 0; row < plain->slices->rows; row++) {
        const uint32_t score = plain->scores[row];
        if (score == 0) continue;
        counts[counted(plain, score)]++;
        plain->answer->seen++;
    }
    *room = plain->query->candidates == UINT32_MAX ? UINT64_MAX : plain->query->candidates;
    for (*level = most; *level > 0 && counts[*level] <= *room; (*level)--) *room -= counts[*level];
    *next = *level;
    if (*level == 0) *room = 0; /* rows that were never seen are none */
    return NIGH_OK;
}

static nigh_status compare(struct plain *plain, const uint64_t *rows, uint32_t level, uint64_t room,
                           nigh_error *error) {
    const nigh_context *context = plain->scratch->context;
    const uint32_t words = nigh__row_words(plain->slices->slicing.width_bits);
    struct nigh__nearest *nearest = &plain->scratch->nearest;
    nearest->keys.count = 0;
    nearest->k = plain->query->k;
    nearest->limit = plain->query->limit;
    for (uint32_t row = 0; row < plain->slices->rows; row++) {
        if (plain->scores[row] < level) continue;
        const uint32_t score = counted(plain, plain->scores[row]);
        if (score == level && room == 0) continue;
        if (score == level) room--;
        uint32_t distance;
        (void)context->hamming->rows(plain->query->words, rows + (size_t)row * words, 1, words, &distance);
        plain->answer->compared++;
        if (!nigh__nearest_add(context, nearest, distance, row))
            return nigh__no_memory(error, "for what the search found");
    }
    return NIGH_OK;
}

/* -------------------------------------------------------------------- the whole -- */

/*
 * What a score of the papers is worth at most, as a score i + 1 - d.  Of what a slice can
 * add to both, (i + 1 - d) / (w - d) is greatest for d = 0.
 */
static uint32_t worth_of_paper_score(const struct plain *plain, uint32_t score) {
    const struct nigh__slicing *slicing = &plain->slices->slicing;
    const uint32_t least_bits = slicing->most_bits - (slicing->wide < plain->query->slices);
    const uint64_t worth = (uint64_t)score * (plain->query->breadth + 1) / least_bits;
    const bool any = plain->query->breadth >= least_bits;
    return any || worth > UINT32_MAX ? UINT32_MAX : (uint32_t)worth;
}

static nigh_status finish(struct plain *plain, uint32_t next, nigh_error *error) {
    const struct nigh__slice_query *query = plain->query;
    const struct nigh__array *found = &plain->scratch->nearest.keys;
    uint64_t *keys = nigh__array_add(plain->scratch->context, &plain->answer->keys, found->count);
    if (keys == NULL) return nigh__no_memory(error, "for what the search found");
    if (found->count != 0) memcpy(keys, found->data, found->count * sizeof *keys);
    nigh__keys_sort(plain->scratch->context, keys, found->count);
    const bool full = found->count != 0 && found->count == query->k;
    uint32_t slack = 0;
    for (uint32_t s = 0; s < query->slices; s++) slack += plain->slack[s];
    struct nigh__slice_query bounds = *query;
    if (plain->scoring == NIGH__SCORE_PAPER) {
        next = worth_of_paper_score(plain, next);
        bounds.top = query->breadth + 1;
    }
    plain->answer->below =
        nigh__slice_below(&bounds, slack, next, full ? nigh__key_distance(keys[found->count - 1]) : UINT32_MAX);
    return NIGH_OK;
}

/* Nothing seen, nothing found. */
static nigh_status begin(struct plain *plain, nigh_error *error) {
    const nigh_context *context = plain->scratch->context;
    const uint32_t rows = plain->slices->rows, slices = plain->query->slices;
    struct nigh__slice_answer *answer = plain->answer;
    answer->keys.count = 0;
    answer->below = 0;
    answer->lists = answer->postings = answer->skipped = answer->compared = answer->seen = 0;
    plain->scores = nigh__slice_room(context, &plain->scratch->plain_scores, rows, sizeof *plain->scores, error);
    if (plain->scores == NULL) return NIGH_ENOMEM;
    plain->slack = nigh__slice_room(context, &plain->scratch->slack, slices, sizeof *plain->slack, error);
    if (plain->slack == NULL) return NIGH_ENOMEM;
    memset(plain->scores, 0, rows * sizeof *plain->scores);
    memset(plain->slack, 0, slices * sizeof *plain->slack);
    return NIGH_OK;
}

/* The answer that the scores give. */
static nigh_status conclude(struct plain *plain, const uint64_t *rows, nigh_error *error) {
    uint32_t level = 0;
    uint32_t next = 0;
    uint64_t room = 0;
    plain->answer->keys.count = 0;
    plain->answer->seen = 0;
    nigh_status status = find_level(plain, &level, &room, &next, error);
    if (status == NIGH_OK) status = compare(plain, rows, level, room, error);
    return status == NIGH_OK ? finish(plain, next, error) : status;
}

nigh_status nigh__slice_search_plain(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                                     const uint64_t *rows, const struct nigh__slice_query *query,
                                     enum nigh__scoring scoring, struct nigh__slice_answer *answer, nigh_error *error) {
    struct plain plain = {.scratch = scratch, .slices = slices, .query = query, .scoring = scoring, .answer = answer};
    nigh_status status = begin(&plain, error);
    if (status == NIGH_OK) status = set_budget(&plain, error);
    if (status == NIGH_OK) status = walk(&plain, visit_to_score, error);
    return status == NIGH_OK ? conclude(&plain, rows, error) : status;
}

nigh_status nigh__slice_search_growing(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                                       const uint64_t *rows, const struct nigh__slice_query *query,
                                       nigh__slice_enough *enough, void *user, struct nigh__slice_answer *answer,
                                       uint32_t *breadth, nigh_error *error) {
    NIGH__ASSERT(query->postings == NIGH_ALL_64);
    struct nigh__slice_query now = *query;
    struct plain plain = {.scratch = scratch, .slices = slices, .query = &now, .scoring = NIGH__SCORE_PAPER};
    plain.answer = answer;
    plain.highest = UINT64_MAX; /* no budget */
    nigh_status status = begin(&plain, error);
    for (now.breadth = 0; status == NIGH_OK; now.breadth++) {
        now.admit = query->admit < now.breadth ? query->admit : now.breadth;
        *breadth = now.breadth;
        status = nigh__slice_walk(scratch, slices, &now, now.breadth, visit_to_score, &plain, error);
        if (status == NIGH_OK) status = conclude(&plain, rows, error);
        if (status != NIGH_OK || enough(user, now.breadth, answer) || now.breadth >= query->breadth) break;
    }
    return status;
}
