/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs that a deduplication reports. Either all that are alike, collected while they are
 * found; or a tree, made when it is asked for: for each document that goes, the pair with the
 * one that stays. Either way records
 *
 *     first and second, in one word or two | similarity as the bits of a float << 32 | distance
 *
 * go through a sorter.  A set of n documents gives n (n - 1) / 2 pairs; beyond 1,000
 * documents (or fewer: pair_limit.h) only n - 1, those with the first, and it is that first
 * which stands for it in pairs with other sets.
 */
#include "dedup/likeness.h"

#include "base/status.h"
#include "kernel/hamming.h"

uint32_t nigh__likeness_distance(const nigh_dedup *dedup, const struct nigh__gathered *gathered, uint64_t a,
                                 uint64_t b) {
    if (gathered->row_words == 0) return NIGH_ALL;
    return dedup->context->hamming->pair((const uint8_t *)nigh__gathered_row(gathered, a),
                                         (const uint8_t *)nigh__gathered_row(gathered, b),
                                         gathered->row_words * sizeof(uint64_t));
}

static nigh_status new_sorter(nigh_dedup *dedup, uint32_t threads, nigh_error *error) {
    struct nigh__sorter_options options = nigh__dedup_sorting(dedup, dedup->pair_words + 1, 8, threads);
    options.key_words = dedup->pair_words;
    return nigh__sorter_new(dedup->context, &options, &dedup->pairs, error);
}

static nigh_status add_pair(nigh_dedup *dedup, uint64_t a, uint64_t b, float similarity, uint32_t distance,
                            nigh_error *error) {
    const uint64_t low = a < b ? a : b;
    const uint64_t high = a < b ? b : a;
    uint64_t record[3];
    nigh__number_pair_pack(dedup->pair_words, low, high, record);
    record[dedup->pair_words] = nigh__likeness_pack(similarity, distance);
    return nigh__sorter_add(dedup->pairs, record, 1, error);
}

/* ------------------------------------------------------------- all pairs -- */

static uint64_t next_of(const nigh_dedup *dedup, uint64_t document) {
    return nigh__dedup_document(dedup, document)->next;
}

static uint64_t size_of(const nigh_dedup *dedup, uint64_t first) {
    return nigh__dedup_document(dedup, first)->set_size;
}

/* Of a times b pairs these are told; past the largest number there is nobody counts. */
static void count_untold(nigh_dedup *dedup, uint64_t a, uint64_t b, uint64_t told) {
    uint64_t all = 0;
    if (!nigh__multiply64(a, b, &all)) all = UINT64_MAX;
    const uint64_t more = all - told;
    dedup->untold += more < UINT64_MAX - dedup->untold ? more : UINT64_MAX - dedup->untold;
}

/* Pairs of one document with all that follow in its set. */
static nigh_status pair_rest(nigh_dedup *dedup, const struct nigh__gathered *gathered, uint64_t document,
                             nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint64_t other = next_of(dedup, document); status == NIGH_OK && other != NIGH__NO_DOCUMENT;
         other = next_of(dedup, other))
        status = add_pair(dedup, document, other, 1,
                          gathered == NULL ? 0 : nigh__likeness_distance(dedup, gathered, document, other), error);
    return status;
}

static nigh_status pair_set(nigh_dedup *dedup, const struct nigh__gathered *gathered, uint64_t first,
                            nigh_error *error) {
    const uint64_t size = size_of(dedup, first);
    if (size > dedup->copies_told) {
        count_untold(dedup, size % 2 == 0 ? size / 2 : size, size % 2 == 0 ? size - 1 : size / 2, size - 1);
        return pair_rest(dedup, gathered, first, error);
    }
    nigh_status status = NIGH_OK;
    for (uint64_t i = first; status == NIGH_OK && i != NIGH__NO_DOCUMENT; i = next_of(dedup, i))
        status = pair_rest(dedup, gathered, i, error);
    return status;
}

nigh_status nigh__likeness_begin(nigh_dedup *dedup, const struct nigh__gathered *gathered, uint32_t copies,
                                 uint32_t threads, nigh_error *error) {
    dedup->copies_told = copies;
    nigh_status status = new_sorter(dedup, threads, error);
    for (uint64_t i = 0; status == NIGH_OK && i < dedup->documents.count; i++)
        if (nigh__dedup_document(dedup, i)->set_of == i) status = pair_set(dedup, gathered, i, error);
    return status;
}

/* `distance` counts where nothing was gathered. */
static nigh_status add_sets(nigh_dedup *dedup, const struct nigh__gathered *gathered, uint64_t a, uint64_t b,
                            float similarity, uint32_t distance, nigh_error *error) {
    const uint64_t a_size = size_of(dedup, a);
    const uint64_t b_size = size_of(dedup, b);
    const bool one_a = a_size > dedup->copies_told;
    const bool one_b = b_size > dedup->copies_told;
    count_untold(dedup, a_size, b_size, (one_a ? 1 : a_size) * (one_b ? 1 : b_size));
    nigh_status status = NIGH_OK;
    for (uint64_t i = a; status == NIGH_OK && i != NIGH__NO_DOCUMENT; i = one_a ? NIGH__NO_DOCUMENT : next_of(dedup, i))
        for (uint64_t j = b; status == NIGH_OK && j != NIGH__NO_DOCUMENT;
             j = one_b ? NIGH__NO_DOCUMENT : next_of(dedup, j))
            status = add_pair(dedup, i, j, similarity,
                              gathered == NULL ? distance : nigh__likeness_distance(dedup, gathered, i, j), error);
    return status;
}

nigh_status nigh__likeness_add(nigh_dedup *dedup, const struct nigh__gathered *gathered, uint64_t a, uint64_t b,
                               float similarity, nigh_error *error) {
    return add_sets(dedup, gathered, a, b, similarity, 0, error);
}

nigh_status nigh__likeness_add_known(nigh_dedup *dedup, uint64_t a, uint64_t b, float similarity, uint32_t distance,
                                     nigh_error *error) {
    return add_sets(dedup, NULL, a, b, similarity, distance, error);
}

nigh_status nigh__likeness_finish(nigh_dedup *dedup, nigh_error *error) {
    nigh_status status = nigh__sorter_finish(dedup->pairs, error);
    dedup->info.disk_bytes += nigh__sorter_disk_bytes(dedup->pairs);
    return status;
}

/* ---------------------------------------------------------------- public -- */

static nigh_status make_tree(nigh_dedup *dedup, nigh_error *error) {
    nigh_status status = new_sorter(dedup, dedup->options.threads, error);
    for (uint64_t i = 0; status == NIGH_OK && i < dedup->documents.count; i++) {
        const struct nigh__duplicate *entry = nigh__dedup_document(dedup, i);
        if (entry->kept != i && (entry->kept & NIGH__THERE) == 0)
            status = add_pair(dedup, entry->kept, i, entry->similarity, entry->distance, error);
    }
    if (status == NIGH_OK) status = nigh__likeness_finish(dedup, error);
    if (status != NIGH_OK) {
        nigh__sorter_free(dedup->pairs);
        dedup->pairs = NULL;
    }
    return status;
}

static nigh_dedup_pair show_pair(const nigh_dedup *dedup, const uint64_t *record) {
    const struct nigh__number_pair documents = nigh__number_pair_unpack(dedup->pair_words, record);
    const uint64_t measures = record[dedup->pair_words];
    const struct nigh__duplicate *a = nigh__dedup_document(dedup, documents.first);
    const struct nigh__duplicate *b = nigh__dedup_document(dedup, documents.second);
    const bool sure = dedup->verified || a->set_of == b->set_of;
    return (nigh_dedup_pair){.first = documents.first,
                             .second = documents.second,
                             .similarity = sure ? (double)nigh__likeness_similarity(measures) : -1,
                             .distance = (uint32_t)measures,
                             .copy = a->copy_of == b->copy_of};
}

nigh_status nigh_dedup_pairs(nigh_dedup *dedup, int (*pair)(void *user, const nigh_dedup_pair *pair), void *user,
                             uint64_t *untold, nigh_error *error) {
    if (untold != NULL) *untold = dedup->untold;
    if (dedup->pairs_refused > 0)
        return nigh__fail(error, NIGH_ELIMIT,
                          "to list all pairs %llu are to be looked at, within crowds and without, for a limit of %llu; "
                          "stages list all or none",
                          (unsigned long long)dedup->pairs_refused, (unsigned long long)dedup->options.pairs_limit);
    nigh_status status = dedup->pairs == NULL ? make_tree(dedup, error) : NIGH_OK;
    if (status == NIGH_OK) status = nigh__sorter_rewind(dedup->pairs, error);
    const uint64_t *records = NULL;
    size_t count = 0;
    while (status == NIGH_OK && (status = nigh__sorter_next(dedup->pairs, &records, &count, error)) == NIGH_OK) {
        for (size_t i = 0; i < count; i++) {
            const nigh_dedup_pair shown = show_pair(dedup, records + i * (dedup->pair_words + 1));
            if (pair(user, &shown) != 0) return nigh__progress_cancelled(error);
        }
    }
    return status == NIGH_END ? NIGH_OK : status;
}
