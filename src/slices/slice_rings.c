/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What slice lists alone tell of distances, ring by ring, and which of the papers' rules
 * would end a search there.
 *
 *     pessimistic   what is known of a row, and all bits of the slices where it was not seen
 *     optimistic    what is known, and b + 1 bits for each of them, after ring b
 *
 * For measurements: a search that waited for either rule would read nearly all lists.
 */
#include <string.h>

#include "base/status.h"
#include "kernel/hamming.h"
#include "slices/slice_cull.h"
#include "slices/slice_parts.h"
#include "slices/slice_search.h"

struct rings {
    struct nigh__slice_scratch *scratch;
    const struct nigh__slices *slices;
    const struct nigh__slice_query *query;
    struct nigh__slice_known *known; /* of each row */
    bool compared;                   /* their true distances are there */
    struct nigh__slice_ring now;
};

static nigh_status visit(void *user, const struct nigh__slice_visited *list, nigh_error *error) {
    struct rings *rings = user;
    rings->now.lists++;
    rings->now.postings += list->length;
    for (uint32_t i = 0; i < list->length; i++) {
        const uint32_t row = list->ids[i];
        if (row >= rings->slices->rows) return nigh__slice_lies_row(rings->slices, list->ids + i, error);
        struct nigh__slice_known *known = &rings->known[row];
        if (known->slices == rings->query->slices) continue; /* a row that is in a slice twice: a lie */
        rings->now.seen += known->slices == 0;
        known->slices++;
        known->distance += list->ring;
        known->pessimistic -= list->bits - list->ring;
        rings->now.complete += known->slices == rings->query->slices;
    }
    return NIGH_OK;
}

/* The k best into scratch->nearest, sorted. */
static nigh_status find_best(struct rings *rings, nigh_error *error) {
    const nigh_context *context = rings->scratch->context;
    struct nigh__nearest *nearest = &rings->scratch->nearest;
    nearest->keys.count = 0;
    nearest->k = rings->query->k;
    nearest->limit = UINT32_MAX;
    for (uint32_t row = 0; row < rings->slices->rows; row++) {
        if (rings->known[row].pessimistic >= nearest->limit) continue;
        if (!nigh__nearest_add(context, nearest, rings->known[row].pessimistic, row))
            return nigh__no_memory(error, "for the best rows");
    }
    if (nearest->keys.count != 0) nigh__keys_sort(context, nearest->keys.data, nearest->keys.count);
    return NIGH_OK;
}

/* The least of all rows but the best: those of the same or a greater key. */
static uint32_t least_optimistic(const struct rings *rings, uint64_t last_key, uint32_t ring) {
    uint32_t least = UINT32_MAX;
    for (uint32_t row = 0; row < rings->slices->rows; row++) {
        const struct nigh__slice_known *known = &rings->known[row];
        if (nigh__key(known->pessimistic, row) <= last_key) continue;
        const uint32_t distance = nigh__slice_known_optimistic(known, rings->query->slices, ring);
        if (distance < least) least = distance;
    }
    return least;
}

static nigh_status judge(struct rings *rings, uint32_t ring, nigh_error *error) {
    nigh_status status = find_best(rings, error);
    if (status != NIGH_OK) return status;
    struct nigh__slice_ring *now = &rings->now;
    const struct nigh__array *best = &rings->scratch->nearest.keys;
    const uint64_t *keys = best->data;
    const bool enough = best->count != 0 && best->count == rings->query->k;
    now->pessimistic = enough ? nigh__key_distance(keys[best->count - 1]) : UINT32_MAX;
    now->optimistic = enough ? least_optimistic(rings, keys[best->count - 1], ring) : UINT32_MAX;
    now->certain = !enough || now->optimistic >= now->pessimistic;
    now->determined = true;
    for (size_t i = 0; i < best->count; i++)
        now->determined = now->determined && rings->known[nigh__key_number(keys[i])].slices == rings->query->slices;
    return NIGH_OK;
}

/* Nothing seen; with the true distances, which the rules of slice_cull.c need. */
static void begin(struct rings *rings, const uint64_t *rows) {
    const struct nigh__slices *slices = rings->slices;
    const uint32_t words = nigh__row_words(slices->slicing.width_bits);
    const struct nigh__slice end = nigh__slicing_at(&slices->slicing, slices->rows, rings->query->slices);
    for (uint32_t row = 0; row < slices->rows; row++) {
        rings->known[row] = (struct nigh__slice_known){.pessimistic = end.start};
        if (rings->compared)
            (void)rings->scratch->context->hamming->rows(rings->query->words, rows + (size_t)row * words, 1, words,
                                                         &rings->known[row].actual);
    }
}

nigh_status nigh__slice_rings(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                              const uint64_t *rows, const struct nigh__slice_query *query,
                              struct nigh__slice_ring *rings, nigh_error *error) {
    struct rings state = {.scratch = scratch, .slices = slices, .query = query, .compared = rows != NULL};
    state.known = nigh__slice_room(scratch->context, &scratch->plain_scores, slices->rows, sizeof *state.known, error);
    if (state.known == NULL) return NIGH_ENOMEM;
    begin(&state, rows);
    for (uint32_t ring = 0; ring <= query->breadth; ring++) {
        nigh_status status = nigh__slice_walk(scratch, slices, query, ring, visit, &state, error);
        if (status == NIGH_OK) status = judge(&state, ring, error);
        if (status == NIGH_OK && state.compared)
            status = nigh__slice_cull(scratch, query, state.known, slices->rows, ring, &state.now, error);
        if (status != NIGH_OK) return status;
        rings[ring] = state.now;
    }
    return NIGH_OK;
}
