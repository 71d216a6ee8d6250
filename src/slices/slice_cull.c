/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three rules for which rows that were seen need not be compared; none of them loses one of the k nearest.
 *
 * Let o be the optimistic distance of a row, d its distance and p its pessimistic one: o <= d <= p.
 *
 *     by pessimistic distances   (Chappell et al., 2013, 2.1; 2015, 5.2) rows with o > P are left out, P the k-th
 *                                least p of all rows
 *     by distances               rows are compared by o, the least first, all of one o together, and it ends where o
 *                                is more than D, the k-th least d of those compared so far
 *     by scores                  the same by the score of a search with T = i + 2, and the bound that a score gives
 *
 * Culling by pessimistic distances saves nothing beyond the second rule, which is that of slice_search.c where T =
 * i + 1.  Proof.  Suppose the second rule compares a row with o > P.  The k rows with p <= P have o <= p <= P, so each
 * has a smaller o than this row and was compared before it.  Their d are at most P as well, so by then D <= P < o, and
 * the rule had ended.  So whatever it compares has o <= P, which the first rule compares too.
 *
 * With T = i + 2 rows come by how likely they are, and of the sum D of the bits known to differ only D (i + 1) / T
 * counts in the bound, so the third rule may compare more than either.  What a search pays for that is bounded by M.
 */
#include "slices/slice_cull.h"

#include <string.h>

struct culling {
    const struct nigh__slice_query *query;
    const struct nigh__slice_known *known;
    uint32_t rows, ring;
    uint32_t most;     /* score */
    uint64_t *ends;    /* of rows by most - score: most + 2 */
    uint32_t *ordered; /* rows seen, the highest score first */
};

static uint64_t count_pessimistic(const struct culling *culling, uint32_t kth) {
    uint64_t count = 0;
    for (uint32_t row = 0; row < culling->rows; row++) {
        const struct nigh__slice_known *known = &culling->known[row];
        count +=
            known->slices != 0 && nigh__slice_known_optimistic(known, culling->query->slices, culling->ring) <= kth;
    }
    return count;
}

/* Lists that lie may name a row twice in a slice. */
static uint32_t place_of(const struct culling *culling, const struct nigh__slice_known *known, uint32_t top) {
    const uint32_t score = known->slices * top - known->distance;
    return score < culling->most ? culling->most - score : 0;
}

static void order_rows(struct culling *culling, uint32_t top) {
    memset(culling->ends, 0, ((size_t)culling->most + 2) * sizeof *culling->ends);
    for (uint32_t row = 0; row < culling->rows; row++)
        if (culling->known[row].slices != 0) culling->ends[place_of(culling, &culling->known[row], top) + 1]++;
    for (uint32_t place = 0; place <= culling->most; place++) culling->ends[place + 1] += culling->ends[place];
    for (uint32_t row = 0; row < culling->rows; row++)
        if (culling->known[row].slices != 0)
            culling->ordered[culling->ends[place_of(culling, &culling->known[row], top)]++] = row;
}

/* The k-th least distance of those counted; UINT32_MAX: there are fewer. */
static uint32_t kth_of(const uint32_t *counts, uint32_t distances, uint32_t k) {
    uint64_t sum = 0;
    for (uint32_t distance = 0; distance < distances; distance++) {
        sum += counts[distance];
        if (sum >= k) return distance;
    }
    return UINT32_MAX;
}

/* Best first, by scores of this T: rows compared until the bound of the next is beyond the k-th distance. */
static uint64_t count_best_first(struct culling *culling, uint32_t top) {
    uint32_t counts[NIGH_MAX_WIDTH_BITS + 1] = {0};
    struct nigh__slice_query bounds = *culling->query;
    uint32_t kth = UINT32_MAX;
    uint64_t at = 0;
    bounds.breadth = culling->ring;
    bounds.top = top;
    order_rows(culling, top);
    for (uint32_t place = 0; place <= culling->most; place++) {
        if (culling->ends[place] == at) continue;
        if (nigh__slice_optimistic(&bounds, 0, culling->most - place) > kth) break;
        for (; at < culling->ends[place]; at++) counts[culling->known[culling->ordered[at]].actual]++;
        kth = kth_of(counts, NIGH_MAX_WIDTH_BITS + 1, culling->query->k);
    }
    return at;
}

nigh_status nigh__slice_cull(struct nigh__slice_scratch *scratch, const struct nigh__slice_query *query,
                             const struct nigh__slice_known *known, uint32_t rows, uint32_t ring,
                             struct nigh__slice_ring *out, nigh_error *error) {
    struct culling culling = {.query = query, .known = known, .rows = rows, .ring = ring};
    const uint32_t usual = ring + 1 + NIGH__SLICE_DEFAULT_RISE;
    const size_t places = (size_t)query->slices * usual + 2;
    culling.ends = nigh__slice_room(scratch->context, &scratch->plain_levels, places, sizeof *culling.ends, error);
    culling.ordered = nigh__slice_room(scratch->context, &scratch->ordered, rows, sizeof *culling.ordered, error);
    if (culling.ends == NULL || culling.ordered == NULL) return NIGH_ENOMEM;
    out->by_pessimistic = count_pessimistic(&culling, out->pessimistic);
    culling.most = query->slices * (ring + 1);
    out->by_distance = count_best_first(&culling, ring + 1);
    culling.most = query->slices * usual;
    out->by_score = count_best_first(&culling, usual);
    return NIGH_OK;
}
