/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses which pairs are listed; pair_limit.h has the rules. */
#include "dedup/pair_limit.h"

#include "base/bytes.h"
#include "base/status.h"

static const uint32_t levels[NIGH__PAIR_LIMIT_LEVELS] = {NIGH__DEDUP_MANY_COPIES, 100, 10, 1};

static uint64_t size_of(const struct nigh__pair_limit *listing, uint64_t document) {
    return nigh__dedup_document(listing->dedup, document)->set_size;
}

/* Pairs inside the sets of equal features. */
static void count_sets(struct nigh__pair_limit *listing) {
    for (uint64_t i = 0; i < listing->dedup->documents.count; i++) {
        if (nigh__dedup_document(listing->dedup, i)->set_of != i) continue;
        const uint64_t size = size_of(listing, i);
        for (size_t level = 0; level < NIGH__PAIR_LIMIT_LEVELS; level++)
            listing->pairs[level] += nigh__copies_pairs(size, levels[level]);
    }
}

nigh_status nigh__pair_limit_init(const nigh_dedup *dedup, struct nigh__pair_limit *out, nigh_error *error) {
    *out = (struct nigh__pair_limit){
        .dedup = dedup,
        .document = NIGH__NO_DOCUMENT,
        .copies = levels[0],
        .degrees = nigh__alloc_zero(dedup->context, NIGH__PAIR_LIMIT_DEGREES, sizeof *out->degrees)};
    if (out->degrees == NULL) return nigh__no_memory(error, "to count pairs");
    count_sets(out);
    return NIGH_OK;
}

void nigh__pair_limit_release(struct nigh__pair_limit *listing) {
    if (listing->dedup != NULL) nigh__free(listing->dedup->context, listing->degrees);
    *listing = (struct nigh__pair_limit){0};
}

static void end_document(struct nigh__pair_limit *listing) {
    listing->degrees[nigh__smaller(listing->degree, NIGH__PAIR_LIMIT_DEGREES - 1)]++;
    listing->degree = 0;
}

void nigh__pair_limit_count(struct nigh__pair_limit *listing, uint64_t better, uint64_t worse) {
    const uint64_t x = size_of(listing, better);
    const uint64_t y = size_of(listing, worse);
    for (size_t level = 0; level < NIGH__PAIR_LIMIT_LEVELS; level++)
        listing->pairs[level] += (x > levels[level] ? 1 : x) * (y > levels[level] ? 1 : y);
    if (better != listing->document) end_document(listing);
    listing->document = better;
    listing->degree++;
}

/* Pairs that are given up where each document has at most so many. */
static uint64_t count_over(const struct nigh__pair_limit *listing, uint64_t window) {
    uint64_t over = 0;
    for (uint64_t i = window + 1; i < NIGH__PAIR_LIMIT_DEGREES; i++) over += (i - window) * listing->degrees[i];
    return over;
}

void nigh__pair_limit_choose(struct nigh__pair_limit *listing) {
    const uint64_t limit = listing->dedup->options.pairs_limit;
    size_t level = 0;
    end_document(listing);
    while (level + 1 < NIGH__PAIR_LIMIT_LEVELS && listing->pairs[level] > limit) level++;
    listing->copies = levels[level];
    listing->window = UINT64_MAX;
    if (listing->pairs[level] <= limit) return;
    uint64_t fits = 0;
    uint64_t over = NIGH__PAIR_LIMIT_DEGREES - 1;
    while (over - fits > 1) {
        const uint64_t middle = fits + (over - fits) / 2;
        *(listing->pairs[level] - nigh__smaller(count_over(listing, middle), listing->pairs[level]) <= limit ? &fits
                                                                                                             : &over) =
            middle;
    }
    listing->window = fits;
}
