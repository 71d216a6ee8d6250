/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which documents of a collection are alike to a new one.  Pairs come by the document
 * there, so that its text is unpacked and cut into features once, whoever asks, and blocks
 * of texts are unpacked in order.  Some thousand pairs at a time:
 *
 *     take         pairs of ranks that nobody was found for yet
 *     compare      by several threads, those of one document there by one of them
 *     note         in order: a rank goes with the first that is alike
 *
 * A later group holds later documents, so the first found is the first there is.  How many
 * pairs go together is fixed, so that the number of comparisons does not depend on threads.
 */
#include <string.h>

#include "base/hash.h"
#include "base/parallel.h"
#include "base/status.h"
#include "collection/collection.h"
#include "collection/texts.h"
#include "dedup/candidates.h"
#include "dedup/there.h"
#include "signature/band_keys.h"
#include "text/feature.h"

#define TOGETHER 8192u
#define AT_ONCE 16u

struct look {
    uint64_t there; /* document of the collection */
    uint64_t rank;
    struct nigh__comparison comparison;
};

/* One thread's own things. */
struct hand {
    struct nigh__sets_reader reader;
    struct nigh__featurer *featurer;
    struct nigh__text_cache texts;
    struct nigh__array words; /* of uint64_t: the set of the document at hand, and room to sort it */
};

struct verification {
    struct nigh__there *there;
    nigh_dedup *dedup;
    const struct nigh__comparer *comparer;
    uint64_t *kept;
    struct look *looks;
    size_t look_count;
    size_t *groups; /* where each document there begins among them, and their end */
    size_t group_count;
    struct hand *hands;
    uint32_t threads;
    struct nigh__parallel parallel;
};

/* ---------------------------------------------------------------- comparing -- */

/* The set of features of a document there, sorted and without repeats. */
static nigh_status read_set(const struct verification *verification, struct hand *hand, uint64_t document,
                            const uint64_t **set, size_t *count, nigh_error *error) {
    const nigh_context *context = verification->dedup->context;
    const struct nigh__segment *segment = NULL;
    struct nigh__features features;
    uint32_t within = 0;
    const char *text = NULL;
    size_t length = 0;
    nigh_status status = nigh__collection_locate(verification->there->collection, document, &segment, &within, error);
    if (status == NIGH_OK) status = nigh__segment_text(segment, within, &hand->texts, &text, &length, error);
    if (status == NIGH_OK) status = nigh__featurer_find(hand->featurer, text, length, &features, error);
    if (status != NIGH_OK) return status;
    uint64_t *words = nigh__array_room(context, &hand->words, 2 * (features.count + 1));
    if (words == NULL) return nigh__no_memory(error, "to verify");
    *set = nigh__set_make(&features, text, length, words, words + features.count + 1, count);
    return NIGH_OK;
}

static nigh_status compare_set(const struct verification *verification, struct hand *hand, const uint64_t *set,
                               size_t count, struct look *look, nigh_error *error) {
    const nigh_dedup *dedup = verification->dedup;
    const uint64_t document = verification->comparer->order->first[look->rank];
    const uint32_t other = nigh__dedup_document(dedup, document)->features;
    uint64_t common = 0;
    look->comparison = (struct nigh__comparison){.alike = false};
    if (!nigh__lengths_fit(dedup->options.threshold, (uint32_t)count, other)) return NIGH_OK;
    nigh_status status =
        nigh__sets_common_with(verification->comparer->sets, &hand->reader, document, set, count, &common, error);
    if (status != NIGH_OK) return status;
    look->comparison = nigh__comparison_of(dedup->options.threshold, count, other, common);
    return NIGH_OK;
}

static nigh_status compare_group(const struct verification *verification, struct hand *hand, size_t group,
                                 nigh_error *error) {
    struct look *look = &verification->looks[verification->groups[group]];
    const struct look *end = &verification->looks[verification->groups[group + 1]];
    const uint64_t *set = NULL;
    size_t count = 0;
    nigh_status status = read_set(verification, hand, look->there, &set, &count, error);
    for (; status == NIGH_OK && look < end; look++) status = compare_set(verification, hand, set, count, look, error);
    return status;
}

/* What the distance says, where texts are not asked. */
static nigh_status guess_group(const struct verification *verification, size_t group, nigh_error *error) {
    struct look *look = &verification->looks[verification->groups[group]];
    const struct look *end = &verification->looks[verification->groups[group + 1]];
    uint64_t row[NIGH__BAND_BITS / 64];
    nigh_status status = nigh_collection_signature(verification->there->collection, look->there, (uint8_t *)row, error);
    for (; status == NIGH_OK && look < end; look++) {
        const uint64_t document = verification->comparer->order->first[look->rank];
        const uint64_t *other = nigh__gathered_row(verification->comparer->gathered, document);
        const uint32_t distance =
            nigh_distance(verification->dedup->context, (const uint8_t *)row, (const uint8_t *)other, sizeof row);
        look->comparison.alike = true;
        look->comparison.similarity = 1 - 2 * (float)distance / (float)NIGH__BAND_BITS;
    }
    return status;
}

static nigh_status compare_some(void *user, const struct nigh__items *items) {
    struct verification *verification = user;
    nigh_status status = NIGH_OK;
    for (uint64_t i = items->first; status == NIGH_OK && i < items->end; i++) {
        status = verification->dedup->verified
                     ? compare_group(verification, &verification->hands[items->thread], (size_t)i, items->error)
                     : guess_group(verification, (size_t)i, items->error);
        if (!nigh__parallel_did(&verification->parallel, items->thread,
                                verification->groups[i + 1] - verification->groups[i]))
            break;
    }
    return status;
}

/* ----------------------------------------------------------------- deciding -- */

static bool is_found(const struct verification *verification, uint64_t rank) {
    return (verification->kept[rank] & NIGH__THERE) != 0;
}

static nigh_status settle(struct verification *verification, nigh_error *error) {
    nigh_dedup *dedup = verification->dedup;
    if (verification->look_count == 0) return NIGH_OK;
    verification->groups[verification->group_count] = verification->look_count;
    nigh_status status = nigh__parallel_run(&verification->parallel, verification->group_count, AT_ONCE, compare_some,
                                            verification, error);
    for (size_t i = 0; status == NIGH_OK && i < verification->look_count; i++) {
        const struct look *look = &verification->looks[i];
        if (!look->comparison.alike || is_found(verification, look->rank)) continue;
        verification->kept[look->rank] = NIGH__THERE | look->there;
        nigh__dedup_document(dedup, verification->comparer->order->first[look->rank])->similarity =
            look->comparison.similarity;
        dedup->info.alike++;
    }
    if (dedup->verified) dedup->info.verified += verification->look_count;
    verification->look_count = verification->group_count = 0;
    return status;
}

static nigh_status take_pair(struct verification *verification, const uint64_t *pair, nigh_error *error) {
    verification->dedup->info.candidates++;
    if (is_found(verification, pair[1])) return NIGH_OK;
    struct look *looks = verification->looks;
    const size_t count = verification->look_count;
    if (count == 0 || looks[count - 1].there != pair[0]) verification->groups[verification->group_count++] = count;
    looks[count] = (struct look){.there = pair[0], .rank = pair[1]};
    return ++verification->look_count == TOGETHER ? settle(verification, error) : NIGH_OK;
}

static nigh_status verify_all(struct verification *verification, nigh_error *error) {
    const uint64_t *pairs = NULL;
    size_t count = 0;
    struct nigh__progress progress;
    nigh_status status = NIGH_OK;
    nigh__progress_init(&progress, verification->dedup->options.progress);
    verification->parallel.progress = &progress;
    nigh__parallel_stage(&verification->parallel, "verifying", nigh__sorter_count(verification->there->pairs));
    while (status == NIGH_OK &&
           (status = nigh__sorter_next(verification->there->pairs, &pairs, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++) status = take_pair(verification, pairs + 2 * i, error);
    return status == NIGH_END ? settle(verification, error) : status;
}

/* ------------------------------------------------------------------- making -- */

static nigh_status make_hands(struct verification *verification, const struct nigh__feature_plan *features,
                              nigh_error *error) {
    const nigh_context *context = verification->dedup->context;
    verification->hands = nigh__alloc_zero(context, verification->threads, sizeof *verification->hands);
    verification->looks = nigh__alloc(context, TOGETHER, sizeof *verification->looks);
    verification->groups = nigh__alloc(context, TOGETHER + 1, sizeof *verification->groups);
    if (verification->hands == NULL || verification->looks == NULL || verification->groups == NULL)
        return nigh__no_memory(error, "to verify");
    for (uint32_t i = 0; i < verification->threads; i++) {
        nigh__sets_reader_init(&verification->hands[i].reader);
        nigh__text_cache_init(&verification->hands[i].texts);
        verification->hands[i].words = (struct nigh__array)NIGH__ARRAY(uint64_t);
    }
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < verification->threads; i++)
        status = nigh__featurer_new(context, features, &verification->hands[i].featurer, error);
    return status;
}

static void release(struct verification *verification) {
    const nigh_context *context = verification->dedup->context;
    for (uint32_t i = 0; verification->hands != NULL && i < verification->threads; i++) {
        nigh__sets_reader_release(context, &verification->hands[i].reader);
        nigh__text_cache_release(context, &verification->hands[i].texts);
        nigh__array_release(context, &verification->hands[i].words);
        nigh__featurer_free(verification->hands[i].featurer);
    }
    nigh__free(context, verification->hands);
    nigh__free(context, verification->looks);
    nigh__free(context, verification->groups);
}

nigh_status nigh__there_verify(struct nigh__there *there, nigh_dedup *dedup, const struct nigh__pass_plan *plan,
                               const struct nigh__comparer *comparer, uint64_t *kept, nigh_error *error) {
    if (there->pairs == NULL) return NIGH_OK;
    struct verification verification = {.there = there,
                                        .dedup = dedup,
                                        .comparer = comparer,
                                        .kept = kept,
                                        .threads = plan->threads,
                                        .parallel = {.context = dedup->context, .threads = plan->threads}};
    nigh_status status = make_hands(&verification, &plan->features, error);
    if (status == NIGH_OK) status = verify_all(&verification, error);
    release(&verification);
    dedup->info.truncated += there->truncated;
    return status;
}

nigh_status nigh__there_check(const nigh_collection *collection, uint32_t bands, bool verify, nigh_error *error) {
    if (collection == NULL || collection->documents == 0) return NIGH_OK;
    if (nigh__collection_key_count(collection) != bands || collection->width_bits != NIGH__BAND_BITS)
        return nigh__fail_at(error, NIGH_EMISMATCH, collection->path, NIGH_NO_OFFSET,
                             "was not made for near-copies: its documents have no keys");
    if (verify && !nigh__collection_has_texts(collection))
        return nigh__fail_at(error, NIGH_EMISMATCH, collection->path, NIGH_NO_OFFSET,
                             "keeps no texts that new ones could be compared with");
    return NIGH_OK;
}
