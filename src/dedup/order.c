/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks documents by the rule of --keep. The rule becomes a number for each document; the
 * smaller number is better, and of equal numbers the earlier document. Numbers are sorted
 * as words.
 */
#include "dedup/order.h"

#include "base/bytes.h"
#include "base/status.h"
#include "base/word_sort.h"

/* Doubles as numbers in the same order; what is no number is the least, and both zeros are one. */
static uint64_t rank_double(double value) {
    if (value != value) return 0;
    const double plain = value + 0.0;
    const uint64_t bits = nigh__load64(&plain);
    return bits >> 63 ? ~bits : bits | UINT64_C(1) << 63;
}

uint64_t nigh__order_merit(nigh_keep_rule keep, uint64_t text_length, double score) {
    switch (keep) {
    case NIGH_KEEP_LONGEST:
        return ~text_length;
    case NIGH_KEEP_SHORTEST:
        return text_length;
    case NIGH_KEEP_SCORE:
        return ~rank_double(score);
    default:
        return 0;
    }
}

static uint64_t merit(const nigh_dedup *dedup, uint64_t document) {
    const bool scored = dedup->options.keep == NIGH_KEEP_SCORE;
    return nigh__order_merit(dedup->options.keep, nigh__dedup_document(dedup, document)->text_length,
                             scored ? ((const double *)dedup->scores.data)[document] : 0);
}

/* The best document of a set, and how good. */
static uint64_t find_best(const nigh_dedup *dedup, uint64_t first, uint64_t *value) {
    uint64_t best = first;
    *value = merit(dedup, first);
    for (uint64_t i = nigh__dedup_document(dedup, first)->next; i != NIGH__NO_DOCUMENT;
         i = nigh__dedup_document(dedup, i)->next) {
        const uint64_t other = merit(dedup, i);
        if (other >= *value) continue;
        *value = other;
        best = i;
    }
    return best;
}

/* A record (merit, best document, first document) for each set; returns how many. */
static uint64_t list_sets(const nigh_dedup *dedup, uint64_t *records) {
    const uint32_t words = 1 + dedup->pair_words;
    uint64_t count = 0;
    for (uint64_t i = 0; i < dedup->documents.count; i++) {
        if (nigh__dedup_document(dedup, i)->set_of != i) continue;
        uint64_t *record = &records[count++ * words];
        const uint64_t best = find_best(dedup, i, &record[0]);
        nigh__number_pair_pack(dedup->pair_words, best, i, record + 1);
    }
    return count;
}

/* Ranks from sorted records. */
static void rank_sorted(struct nigh__order *order, const uint64_t *sorted, uint32_t pair_words) {
    for (uint64_t r = 0; r < order->count; r++) {
        const struct nigh__number_pair set = nigh__number_pair_unpack(pair_words, sorted + r * (1 + pair_words) + 1);
        order->best[r] = set.first;
        order->first[r] = set.second;
        order->rank[set.second] = r;
    }
}

static nigh_status rank_by_merit(const nigh_dedup *dedup, struct nigh__order *order, nigh_error *error) {
    const nigh_context *context = dedup->context;
    const size_t documents = dedup->documents.count;
    const uint32_t words = 1 + dedup->pair_words;
    order->best = nigh__alloc_large(context, documents, sizeof *order->best);
    uint64_t *records = nigh__alloc_large(context, documents, words * sizeof *records);
    uint64_t *scratch = nigh__alloc_large(context, documents, words * sizeof *scratch);
    const bool room = order->best != NULL && records != NULL && scratch != NULL;
    if (room) {
        order->count = list_sets(dedup, records);
        const uint64_t *sorted =
            nigh__words_sort(records, scratch, (size_t)order->count, words, words, dedup->options.threads);
        rank_sorted(order, sorted, dedup->pair_words);
    }
    nigh__free(context, records);
    nigh__free(context, scratch);
    return room ? NIGH_OK : nigh__no_memory(error, "to order documents");
}

/* Where the first is kept, sets are in order already. */
static void rank_by_number(const nigh_dedup *dedup, struct nigh__order *order) {
    order->best = order->first;
    for (uint64_t i = 0; i < dedup->documents.count; i++) {
        if (nigh__dedup_document(dedup, i)->set_of != i) continue;
        order->rank[i] = order->count;
        order->first[order->count++] = i;
    }
}

void nigh__order_release(const nigh_context *context, struct nigh__order *order) {
    nigh__free(context, order->rank);
    nigh__free(context, order->first);
    if (order->best != order->first) nigh__free(context, order->best);
    *order = (struct nigh__order){0};
}

nigh_status nigh__order_init(const nigh_dedup *dedup, struct nigh__order *out, nigh_error *error) {
    const nigh_context *context = dedup->context;
    const size_t documents = dedup->documents.count;
    *out = (struct nigh__order){.rank = nigh__alloc_large(context, documents, sizeof *out->rank),
                                .first = nigh__alloc_large(context, documents, sizeof *out->first)};
    nigh_status status = NIGH_OK;
    if (out->rank == NULL || out->first == NULL)
        status = nigh__no_memory(error, "to order documents");
    else if (dedup->options.keep == NIGH_KEEP_FIRST)
        rank_by_number(dedup, out);
    else
        status = rank_by_merit(dedup, out, error);
    if (status != NIGH_OK) nigh__order_release(context, out);
    return status;
}
