/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dictionary of all features, and cosines.  Weights are whole numbers of at
 * most 24 bits, so a product is exact in a double, and so is a sum of some
 * thousands: cosines hardly round, and never differ by machine.
 */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "base/word_sort.h"
#include "eval/corpus.h"
#include "scan/nearest.h"

void nigh__dictionary_free(const nigh_context *context, struct nigh__dictionary *dictionary) {
    if (dictionary == NULL) return;
    nigh__free(context, dictionary->hashes);
    nigh__free(context, dictionary->numbers);
    nigh__free(context, dictionary->by_number);
    nigh__free(context, dictionary);
}

/* Where a hash is among the dictionary's, which has it. */
static bool find_place(const struct nigh__dictionary *dictionary, uint64_t hash, uint32_t *place) {
    const uint32_t begin = dictionary->starts[hash >> 48];
    const uint32_t end = dictionary->starts[(hash >> 48) + 1];
    *place = begin + (uint32_t)nigh__words_find(dictionary->hashes + begin, end - begin, hash);
    return *place < dictionary->count && dictionary->hashes[*place] == hash;
}

bool nigh__dictionary_find(const struct nigh__dictionary *dictionary, uint64_t hash, uint32_t *number) {
    uint32_t place = 0;
    if (!find_place(dictionary, hash, &place)) return false;
    *number = dictionary->numbers[place];
    return true;
}

/* Sorted, each once. */
static nigh_status collect_hashes(const nigh_context *context, const struct nigh__array *terms,
                                  struct nigh__dictionary *dictionary, nigh_error *error) {
    uint64_t *hashes = nigh__alloc(context, terms->count, sizeof *hashes);
    size_t count = 0;
    if (hashes == NULL) return nigh__no_memory(error, "for the features");
    dictionary->hashes = hashes;
    if (terms->count > 0) memcpy(hashes, terms->data, terms->count * sizeof *hashes);
    nigh__keys_sort(context, hashes, terms->count);
    for (size_t i = 0; i < terms->count; i++) {
        if (i == 0 || hashes[i] != hashes[i - 1]) hashes[count++] = hashes[i];
    }
    if (count >= UINT32_MAX) return nigh__fail(error, NIGH_ELIMIT, "more than 2^32 different features");
    dictionary->count = (uint32_t)count;
    for (uint32_t i = 0, place = 0; i <= 65536; i++) {
        while (place < count && hashes[place] >> 48 < i) place++;
        dictionary->starts[i] = place;
    }
    return NIGH_OK;
}

/* The commonest first; of equally common ones the smaller hash. */
static nigh_status number_features(const nigh_context *context, const struct nigh__array *terms,
                                   struct nigh__dictionary *dictionary, nigh_error *error) {
    const uint64_t *hashes = terms->data;
    uint64_t *order = nigh__alloc(context, dictionary->count, sizeof *order);
    dictionary->numbers = nigh__alloc(context, dictionary->count, sizeof *dictionary->numbers);
    dictionary->by_number = order;
    if (order == NULL || dictionary->numbers == NULL) return nigh__no_memory(error, "for the features");
    for (uint32_t i = 0; i < dictionary->count; i++) order[i] = (uint64_t)UINT32_MAX << 32 | i;
    for (size_t i = 0; i < terms->count; i++) {
        uint32_t place = 0;
        if (find_place(dictionary, hashes[i], &place)) order[place] -= UINT64_C(1) << 32;
    }
    nigh__keys_sort(context, order, dictionary->count);
    for (uint32_t number = 0; number < dictionary->count; number++) {
        const uint32_t place = nigh__key_number(order[number]);
        dictionary->numbers[place] = number;
        order[number] = dictionary->hashes[place];
    }
    return NIGH_OK;
}

static void sort_vectors(nigh_eval_corpus *corpus, const uint32_t *weights) {
    struct nigh__entry *entries = corpus->entries.data;
    for (size_t d = 0; d < corpus->entries.count; d++) {
        struct nigh__entry *entry = &entries[d];
        uint64_t *terms = (uint64_t *)corpus->terms.data + entry->terms;
        for (uint32_t i = 0; i < entry->term_count; i++) {
            const uint32_t weight = weights[entry->terms + i];
            uint32_t number = 0;
            (void)nigh__dictionary_find(corpus->dictionary, terms[i], &number);
            terms[i] = (uint64_t)number << 32 | weight;
            entry->norm += (double)weight * (double)weight;
        }
        nigh__keys_sort(corpus->context, terms, entry->term_count);
    }
}

nigh_status nigh__vectors_build(nigh_eval_corpus *corpus, const struct nigh__array *weights, nigh_error *error) {
    struct nigh__dictionary *dictionary = nigh__alloc_zero(corpus->context, 1, sizeof *dictionary);
    if (dictionary == NULL) return nigh__no_memory(error, "for the features");
    corpus->dictionary = dictionary;
    nigh_status status = collect_hashes(corpus->context, &corpus->terms, dictionary, error);
    if (status == NIGH_OK) status = number_features(corpus->context, &corpus->terms, dictionary, error);
    if (status == NIGH_OK) sort_vectors(corpus, weights->data);
    return status;
}

/* -------------------------------------------------------------- cosines -- */

double nigh__cosine(double product, double norm_a, double norm_b) {
    const double length = sqrt(norm_a * norm_b);
    return product <= 0 ? 0 : product >= length ? 1 : product / length;
}

double nigh__corpus_cosine(const nigh_eval_corpus *corpus, uint32_t a, uint32_t b) {
    const struct nigh__entry *entry_a = nigh__corpus_entry(corpus, a);
    const struct nigh__entry *entry_b = nigh__corpus_entry(corpus, b);
    const uint64_t *terms_a = nigh__corpus_terms(corpus, a);
    const uint64_t *terms_b = nigh__corpus_terms(corpus, b);
    double product = 0;
    for (uint32_t i = 0, j = 0; i < entry_a->term_count && j < entry_b->term_count;) {
        const uint32_t number_a = nigh__term_number(terms_a[i]);
        const uint32_t number_b = nigh__term_number(terms_b[j]);
        if (number_a == number_b) product += nigh__term_weight(terms_a[i]) * nigh__term_weight(terms_b[j]);
        i += number_a <= number_b;
        j += number_b <= number_a;
    }
    return nigh__cosine(product, entry_a->norm, entry_b->norm);
}
