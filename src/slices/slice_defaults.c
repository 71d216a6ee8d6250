/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The defaults of a search of slice lists.
 *
 * Breadth.  A row is found if it is seen in a few slices.  If a bit of the rows that are
 * wanted differs with probability p, a slice of w bits is within r bits with
 *
 *     P = sum over d <= r of (w over d) p^d (1 - p)^(w - d)
 *
 * so such a row is seen in s P slices on average, and the breadth is the least with
 * which that is 3.  On clustered signatures of 1,024 bits the tenth nearest of a million
 * has p = .27; the more there are, the nearer it is, a hundredth for each doubling.
 *
 * Measured there (960,000 distinct, k = 10, 200 queries, lists in memory, one core of a
 * shared Zen 3, the best of several runs of each query), breadth as chosen here:
 *
 *     w   r  s P    M     CDR    recall  queries/s
 *     14  1  5.6   1000   .993   .876    3,000
 *     15  1  4.0   1000   .992   .853    3,900
 *     16  2  9.9    300   .997   .922    2,100
 *     17  2  7.8   1000   .997   .923    1,900
 *     18  2  5.7   1000   .995   .901    2,400
 *     19  2  4.4   1000   .992   .863    2,100
 *     20  2  3.3   1000   .988   .830    2,300
 *
 * which is 10 to 14 times the plain version with the papers' scores, at the same CDR.
 *
 * Candidates.  1,000 instead of 300 bring three of a hundred more of the nearest for a
 * tenth of the time; 3,000 bring one more for a quarter.
 *
 * Postings.  On signatures of real texts lists are longer where queries are: of 1.2
 * million, w = 18, r = 2 reads 760,000 postings instead of 100,000.  With the longer
 * ones of the outer ring left out, at half as many postings as rows, a tenth of the time
 * is saved and recall falls from .82 to .78; so the budget lies at as many postings as
 * rows, unless lists that were all of one length would already have half of it.
 *
 * Directed probes (slice_directed.c): as many look-ups and the same budget.  They find as
 * much or more, and read half as much or less.  M = 1,000, of 960,000 generated
 * signatures with weights (w = 18) and 353,000 of real texts (w = 16):
 *
 *                            lists   postings     CDR  recall
 *     generated   ball       1,081      5,474   .9875    .850
 *                            9,768     41,253   .9977    .952
 *                 directed     333        990   .9894    .850
 *                            1,333      3,995   .9931    .906
 *                            5,333     15,999   .9972    .945
 *     real        ball       1,088     79,630   .9774    .615
 *                            8,768    327,186   .9922    .763
 *                 directed   3,200     15,886   .9776    .562
 *                            1,088     38,049   .9773    .606
 *                            8,800    212,266   .9928    .765
 *
 * A small budget makes few postings out of many look-ups, and a look-up costs as much as
 * twenty postings of a long list: on real texts that saves reading, not time.
 */
#include "slices/slice_parts.h"
#include "slices/slice_search.h"

#define SIGHTINGS 3.0
#define DEFAULT_CANDIDATES 1000u
#define CANDIDATES_FOR_ONE 10u
#define MIN_BUDGET 65536u

/* The share of bits in which the rows that are wanted differ from the query. */
static double expected_difference(uint32_t rows) {
    double difference = 0.47;
    for (; rows > 1; rows /= 2) difference -= 0.01;
    return difference;
}

/* The least breadth with which a row is seen often enough. */
static uint32_t default_breadth(uint32_t bits, uint32_t slices, double difference) {
    const double odds = difference / (1 - difference);
    double ring = slices; /* slices in which a row is seen in this ring */
    for (uint32_t i = 0; i < bits; i++) ring *= 1 - difference;
    double seen = ring;
    uint32_t breadth = 0;
    while (seen < SIGHTINGS && breadth < bits) {
        ring *= odds * (bits - breadth) / (breadth + 1);
        seen += ring;
        breadth++;
    }
    return breadth;
}

uint64_t nigh__slice_default_postings(const struct nigh__slices *slices, uint32_t slice_count, uint32_t breadth) {
    const double expected = 2 * nigh__slice_postings(slices, slice_count, breadth);
    const uint64_t least = slices->rows > MIN_BUDGET ? slices->rows : MIN_BUDGET;
    return expected > (double)least ? (uint64_t)expected : least;
}

void nigh__slice_defaults(const struct nigh__slices *slices, uint32_t k, struct nigh__slice_query *query) {
    const struct nigh__slicing *slicing = &slices->slicing;
    query->slices = slicing->count;
    query->breadth = default_breadth(slicing->most_bits, slicing->count, expected_difference(slices->rows));
    query->admit = query->breadth;
    query->candidates = DEFAULT_CANDIDATES;
    if (k > DEFAULT_CANDIDATES / CANDIDATES_FOR_ONE)
        query->candidates = k < UINT32_MAX / CANDIDATES_FOR_ONE ? k * CANDIDATES_FOR_ONE : UINT32_MAX - 1;
    query->postings = nigh__slice_default_postings(slices, query->slices, query->breadth);
}

uint64_t nigh__slice_default_budget(const struct nigh__slices *slices) {
    struct nigh__slice_query defaults = {0};
    nigh__slice_defaults(slices, 1, &defaults);
    return defaults.postings;
}

/* As many as the ball has, or as have so many postings if lists were of one length. */
uint64_t nigh__slice_default_probes(const struct nigh__slices *slices, uint64_t postings) {
    struct nigh__slice_query defaults = {0};
    nigh__slice_defaults(slices, 1, &defaults);
    const uint64_t lists = (uint64_t)nigh__slice_lists(&slices->slicing, defaults.slices, defaults.breadth);
    const uint64_t length = (uint64_t)slices->rows >> slices->slicing.most_bits;
    const uint64_t enough = length > 1 ? postings / length : postings;
    if (enough >= lists) return lists;
    return enough > defaults.slices ? enough : defaults.slices;
}
