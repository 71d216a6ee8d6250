/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranks by the rule of what to keep.  A rule becomes a number, smaller is better,
 * and of equal ones the earlier document is better; numbers are sorted as words.
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

static uint64_t merit(const nigh_dedup *dedup, const struct nigh__duplicate *entry) {
    switch (dedup->options.keep) {
    case NIGH_KEEP_LONGEST:
        return ~entry->text_length;
    case NIGH_KEEP_SHORTEST:
        return entry->text_length;
    case NIGH_KEEP_SCORE:
        return ~rank_double(entry->score);
    default:
        return 0;
    }
}

/* The best document of a set, and how good. */
static uint32_t find_best(const nigh_dedup *dedup, uint32_t first, uint64_t *value) {
    uint32_t best = first;
    *value = merit(dedup, nigh__dedup_document(dedup, first));
    for (uint32_t i = nigh__dedup_document(dedup, first)->next; i != NIGH_ALL;
         i = nigh__dedup_document(dedup, i)->next) {
        const uint64_t other = merit(dedup, nigh__dedup_document(dedup, i));
        if (other >= *value) continue;
        *value = other;
        best = i;
    }
    return best;
}

/* A record (merit, best document, first document) for each set; returns how many. */
static uint32_t list_sets(const nigh_dedup *dedup, uint64_t *records) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < dedup->documents.count; i++) {
        if (nigh__dedup_document(dedup, i)->set_of != i) continue;
        uint64_t *record = &records[(size_t)count++ * 2];
        const uint32_t best = find_best(dedup, i, &record[0]);
        record[1] = (uint64_t)best << 32 | i;
    }
    return count;
}

void nigh__order_release(const nigh_context *context, struct nigh__order *order) {
    nigh__free(context, order->rank);
    nigh__free(context, order->first);
    nigh__free(context, order->best);
    *order = (struct nigh__order){0};
}

nigh_status nigh__order_init(const nigh_dedup *dedup, struct nigh__order *out, nigh_error *error) {
    const nigh_context *context = dedup->context;
    const size_t documents = dedup->documents.count;
    *out = (struct nigh__order){.rank = nigh__alloc(context, documents, sizeof *out->rank),
                                .first = nigh__alloc(context, documents, sizeof *out->first),
                                .best = nigh__alloc(context, documents, sizeof *out->best)};
    uint64_t *records = nigh__alloc(context, documents, 2 * sizeof *records);
    uint64_t *scratch = nigh__alloc(context, documents, 2 * sizeof *scratch);
    nigh_status status = NIGH_OK;
    if (out->rank == NULL || out->first == NULL || out->best == NULL || records == NULL || scratch == NULL) {
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory to order %zu documents", documents);
        status = NIGH_ENOMEM;
    } else {
        out->count = list_sets(dedup, records);
        const uint64_t *sorted = nigh__words_sort(records, scratch, out->count, 2, 2, 1);
        for (size_t i = 0; i < documents; i++) out->rank[i] = NIGH_ALL;
        for (uint32_t r = 0; r < out->count; r++) {
            out->first[r] = (uint32_t)sorted[(size_t)r * 2 + 1];
            out->best[r] = (uint32_t)(sorted[(size_t)r * 2 + 1] >> 32);
            out->rank[out->first[r]] = r;
        }
    }
    nigh__free(context, records);
    nigh__free(context, scratch);
    if (status != NIGH_OK) nigh__order_release(context, out);
    return status;
}
