/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The prefix filter (Chaudhuri, Ganti and Kaushik, 2006; Bayardo, Ma and Srikant,
 * 2007), with the positions of Xiao and others (2008).
 *
 * Put the features of all documents into one order.  Sets of n and m features with a
 * Jaccard index of t or more share t n of them at least, so of the n - ceil(t n) + 1
 * first ones of the one, its prefix, some feature is in the prefix of the other:
 * were it otherwise, too few would be left behind the prefixes to share.  The order
 * is rarest first, for then few documents share a feature of their prefixes:
 *
 *     document   rare ..................................... frequent
 *     3          [ 91 17 ] 4 60 8 22 1 5 2 3        n = 10, t = .9: a prefix of 2
 *     7          [ 17 33 ] 4 60 8 22 1 5 2 3        share 17: a candidate
 *
 * How frequent a feature is was counted in the first pass, in a table of bytes that
 * features share; what is the same for all documents is good enough for an order.  A
 * feature counted once is in one document and leads to no other; it takes its place in the
 * prefix and is not kept.  So most documents leave nothing behind at all.
 *
 * The other features are records, sorted, of two words or, past 2^32 documents, of three:
 *
 *     feature | length, 22 bits   document, 32 bits   position, 10 bits
 *     feature | length | document, 54 bits   position, 10 bits
 *
 * Of one feature those of similar length are paired, unless what is left behind the two
 * positions cannot be enough: at the first feature that two alike sets share, it is.
 *
 * A crowd, in which more documents than the budget have one rare feature, would take the
 * square of their number. Each of these documents is paired with the eight best that fit,
 * and with sixteen neighbours by length. This is counted as truncated, and only then may a
 * pair be missed.
 */
#include "dedup/prefixes.h"

#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/word_sort.h"

#define AHEAD 16u
#define COUNT_SHIFT 56u                      /* of a key: the count above, a hash below */
#define MAX_LENGTH ((UINT64_C(1) << 22) - 1) /* of a record; longer documents count as so long */
#define POSITION_BITS 10u
#define PLACE_BITS (32u + POSITION_BITS) /* of a document and a position, where records are of two words */
#define MAX_POSITION ((UINT64_C(1) << POSITION_BITS) - 1)
#define SLACK (1 - 1e-9) /* products of fractions may be a little off: never too strict */
#define TICK_EVERY 4096u
#define LEADERS 32u
#define FOLLOWED 8u
#define NEIGHBOURS 16u

/* A document that has the feature at hand in its prefix. */
struct member {
    uint64_t document;
    uint32_t length, position;
};

struct finding {
    const struct nigh__order *order;
    struct nigh__pair_queue queue;
    struct nigh__gathered *gathered;
    nigh_dedup *dedup;
    struct nigh__sorter *sorter; /* of records */
    uint32_t words;              /* of one */
    struct nigh__array members;  /* of struct member, of one feature */
    uint64_t key;                /* of that feature */
    struct nigh__progress progress;
    uint64_t done, until_tick;
};

/* ---------------------------------------------------------------- prefixes -- */

/* n - ceil(t n) + 1. */
static size_t prefix_length(size_t count, double threshold) {
    const double shared = threshold * (double)count * SLACK;
    size_t least = (size_t)shared;
    if ((double)least < shared) least++;
    return least > count ? 1 : count - least + 1;
}

/* The key of each feature: (count, hash); how many there are of each count goes to `histogram`. */
static void make_keys(const struct nigh__gathered *gathered, const struct nigh__features *features, uint64_t *keys,
                      size_t *histogram) {
    const size_t count = features->count;
    for (size_t i = 0; i < count; i++) {
        keys[i] = nigh__mix(features->hashes[i]);
        __builtin_prefetch(&gathered->counters[keys[i] >> gathered->counter_shift]);
    }
    for (size_t i = 0; i < count; i++) {
        const uint64_t counted = nigh__gathered_count(gathered, keys[i]);
        histogram[counted]++;
        keys[i] = counted << COUNT_SHIFT | (keys[i] & ((UINT64_C(1) << COUNT_SHIFT) - 1));
    }
}

/* Moves to the front all keys that may be among the `wanted` smallest; returns how many. */
static size_t select_rare(uint64_t *keys, size_t count, const size_t *histogram, size_t wanted) {
    uint64_t most = 0;
    for (size_t seen = histogram[0]; seen < wanted; seen += histogram[most]) most++;
    size_t selected = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t key = keys[i];
        keys[selected] = key;
        selected += key >> COUNT_SHIFT <= most;
    }
    return selected;
}

/* The words of a record after the first: the length, then the document and the position. */
static void pack_place(uint32_t words, uint64_t length, uint64_t place, uint64_t *out) {
    out[0] = words == 1 ? length << PLACE_BITS | place : length;
    if (words > 1) out[1] = place;
}

static struct member unpack_place(uint32_t words, const uint64_t *packed) {
    const uint64_t place = words == 1 ? packed[0] & ((UINT64_C(1) << PLACE_BITS) - 1) : packed[1];
    return (struct member){.document = place >> POSITION_BITS,
                           .length = (uint32_t)(words == 1 ? packed[0] >> PLACE_BITS : packed[0]),
                           .position = (uint32_t)(place & MAX_POSITION)};
}

/* The product: how many features come before, uint32_t; and the keys of the prefix behind them. */
static nigh_status work_prefix(struct nigh__pass_worker *worker, const nigh_text *text,
                               const struct nigh__features *features, struct nigh__array *product, nigh_error *error) {
    const struct finding *finding = worker->step->user;
    (void)text;
    size_t histogram[NIGH__FEATURE_COUNT_MAX + 1] = {0};
    uint64_t *keys = nigh__pass_words(worker, 2 * features->count);
    if (keys == NULL) return nigh__no_memory(error, "for rare features");
    make_keys(finding->gathered, features, keys, histogram);
    const size_t wanted = prefix_length(features->count, finding->dedup->options.threshold);
    const uint32_t unique = (uint32_t)nigh__smaller(histogram[0] + histogram[1], wanted);
    const size_t rest = wanted - unique;
    uint8_t *place = nigh__array_add(worker->context, product, sizeof unique + rest * sizeof *keys);
    if (place == NULL) return nigh__no_memory(error, "for rare features");
    memcpy(place, &unique, sizeof unique);
    if (rest == 0) return NIGH_OK;
    const size_t selected = select_rare(keys, features->count, histogram, wanted);
    const uint64_t *sorted = nigh__words_sort(keys, keys + features->count, selected, 1, 1, 1);
    memcpy(place + sizeof unique, sorted + unique, rest * sizeof *keys);
    return NIGH_OK;
}

static nigh_status take_prefix(void *user, uint64_t document, const nigh_text *text, const uint8_t *product,
                               size_t length, nigh_error *error) {
    struct finding *finding = user;
    (void)text;
    const uint64_t before = nigh__load32(product);
    const uint8_t *keys = product + sizeof(uint32_t);
    const size_t count = (length - sizeof(uint32_t)) / sizeof(uint64_t);
    const uint64_t features = nigh__dedup_document(finding->dedup, document)->features;
    const uint64_t shown = features < MAX_LENGTH ? features : MAX_LENGTH;
    uint64_t record[1 + 2];
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t position = before + i < MAX_POSITION ? before + i : MAX_POSITION;
        record[0] = nigh__load64(keys + i * 8);
        pack_place(finding->words - 1, shown, document << POSITION_BITS | position, record + 1);
        status = nigh__sorter_add(finding->sorter, record, 1, error);
    }
    return status;
}

/* ----------------------------------------------------------------- pairing -- */

/* Whether two records of one feature can be the first that two alike sets share. */
static bool can_be_alike(const struct finding *finding, const struct member *a, const struct member *b) {
    const double x_length = nigh__dedup_document(finding->dedup, a->document)->features;
    const double y_length = nigh__dedup_document(finding->dedup, b->document)->features;
    const double x_left = x_length - a->position;
    const double y_left = y_length - b->position;
    const double threshold = finding->dedup->options.threshold;
    return (x_left < y_left ? x_left : y_left) * (1 + threshold) >= threshold * (x_length + y_length) * SLACK;
}

/* Pairs one with those before it from `begin` on, which are shorter, as long as their length is fit. */
static nigh_status pair_member(struct finding *finding, size_t begin, size_t index, nigh_error *error) {
    const struct member *members = finding->members.data;
    const struct member own = members[index];
    const double least = own.length * finding->dedup->options.threshold * SLACK;
    nigh_status status = NIGH_OK;
    for (size_t i = index; status == NIGH_OK && i-- > begin && members[i].length >= least;)
        if (can_be_alike(finding, &members[i], &own))
            status = nigh__pair_queue_add(&finding->queue, members[i].document, own.document, error);
    return status;
}

static uint64_t rank_of(const struct finding *finding, const struct member *member) {
    return finding->order->rank[member->document];
}

/* The best members, best first; returns how many. */
static size_t choose_leaders(const struct finding *finding, struct member *leaders) {
    const struct member *members = finding->members.data;
    size_t count = 0;
    for (size_t i = 0; i < finding->members.count; i++) {
        const uint64_t rank = rank_of(finding, &members[i]);
        if (count == LEADERS && rank > rank_of(finding, &leaders[LEADERS - 1])) continue;
        size_t place = count < LEADERS ? count++ : LEADERS - 1;
        for (; place > 0 && rank_of(finding, &leaders[place - 1]) > rank; place--) leaders[place] = leaders[place - 1];
        leaders[place] = members[i];
    }
    return count;
}

static nigh_status follow(struct finding *finding, const struct member *leaders, size_t count,
                          const struct member *member, nigh_error *error) {
    nigh_status status = NIGH_OK;
    uint32_t followed = 0;
    for (size_t i = 0; status == NIGH_OK && i < count && followed < FOLLOWED; i++) {
        if (leaders[i].document == member->document || !can_be_alike(finding, &leaders[i], member)) continue;
        status = nigh__pair_queue_add(&finding->queue, leaders[i].document, member->document, error);
        followed++;
    }
    return status;
}

static nigh_status pair_crowd(struct finding *finding, nigh_error *error) {
    const struct member *members = finding->members.data;
    struct member leaders[LEADERS];
    const size_t count = choose_leaders(finding, leaders);
    nigh_status status = NIGH_OK;
    finding->dedup->info.truncated++;
    for (size_t i = 0; status == NIGH_OK && i < finding->members.count; i++) {
        status = follow(finding, leaders, count, &members[i], error);
        if (status == NIGH_OK) status = pair_member(finding, i < NEIGHBOURS ? 0 : i - NEIGHBOURS, i, error);
    }
    return status;
}

/* All of one feature are there. */
static nigh_status end_feature(struct finding *finding, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (finding->members.count > finding->dedup->options.bucket_budget)
        status = pair_crowd(finding, error);
    else
        for (size_t i = 1; status == NIGH_OK && i < finding->members.count; i++)
            status = pair_member(finding, 0, i, error);
    finding->members.count = 0;
    return status;
}

static nigh_status add_record(struct finding *finding, const uint64_t *record, nigh_error *error) {
    nigh_status status = record[0] == finding->key ? NIGH_OK : end_feature(finding, error);
    if (status != NIGH_OK) return status;
    finding->key = record[0];
    struct member *member = nigh__array_add(finding->dedup->context, &finding->members, 1);
    if (member == NULL) return nigh__no_memory(error, "for rare features");
    *member = unpack_place(finding->words - 1, record + 1);
    finding->done++;
    if (finding->until_tick-- != 0) return NIGH_OK;
    finding->until_tick = TICK_EVERY;
    if (nigh__progress_tick(&finding->progress, "finding", finding->done, nigh__sorter_count(finding->sorter)))
        return nigh__progress_cancelled(error);
    return NIGH_OK;
}

static nigh_status pair_all(struct finding *finding, nigh_error *error) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = nigh__sorter_finish(finding->sorter, error);
    while (status == NIGH_OK && (status = nigh__sorter_next(finding->sorter, &records, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++)
            status = add_record(finding, records + i * finding->words, error);
    if (status == NIGH_END) status = end_feature(finding, error);
    return status == NIGH_OK ? nigh__pair_queue_flush(&finding->queue, error) : status;
}

/* The first documents of their sets, but for those without a feature. */
static nigh_status read_prefixes(struct finding *finding, struct nigh__pass_plan *plan, nigh_error *error) {
    nigh_dedup *dedup = finding->dedup;
    const struct nigh__pass_step step = {.stage = "finding", .work = work_prefix, .take = take_prefix, .user = finding};
    uint64_t *needed = nigh__bits_new(dedup->context, dedup->documents.count, error);
    if (needed == NULL) return NIGH_ENOMEM;
    for (uint64_t i = 0; i < dedup->documents.count; i++) {
        const struct nigh__duplicate *entry = nigh__dedup_document(dedup, i);
        if (entry->set_of == i && entry->features > 0) nigh__bit_set(needed, i);
    }
    nigh_status status = nigh__pass_run(dedup, plan, &step, needed, error);
    nigh__free(dedup->context, needed);
    nigh__free(dedup->context, finding->gathered->counters);
    finding->gathered->counters = NULL;
    return status;
}

nigh_status nigh__candidates_by_prefixes(struct nigh__candidates *candidates, struct nigh__gathered *gathered,
                                         nigh_dedup *dedup, struct nigh__pass_plan *plan, nigh_error *error) {
    struct finding finding = {.order = candidates->order,
                              .gathered = gathered,
                              .dedup = dedup,
                              .words = 1 + dedup->pair_words,
                              .members = NIGH__ARRAY(struct member)};
    const struct nigh__sorter_options options = nigh__dedup_sorting(dedup, finding.words, 2, plan->threads);
    nigh__progress_init(&finding.progress, dedup->options.progress);
    nigh_status status =
        nigh__pair_queue_init(dedup, candidates->order, &candidates->deciding, NULL, &finding.queue, error);
    if (status == NIGH_OK) status = nigh__sorter_new(dedup->context, &options, &finding.sorter, error);
    if (status == NIGH_OK) status = read_prefixes(&finding, plan, error);
    if (status == NIGH_OK) status = pair_all(&finding, error);
    if (finding.sorter != NULL) dedup->info.disk_bytes += nigh__sorter_disk_bytes(finding.sorter);
    nigh__sorter_free(finding.sorter);
    nigh__pair_queue_release(dedup->context, &finding.queue);
    nigh__array_release(dedup->context, &finding.members);
    return status;
}
