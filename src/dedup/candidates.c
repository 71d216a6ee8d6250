/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of candidate pairs. A pair that shares many bands is found in each of them: a table
 * of recent pairs keeps most of the repetitions from the sorter, which drops the rest.
 * There are two sorters, one for pairs that decide and one for pairs that are only listed;
 * they are read as one:
 *
 *     deciding   (0, 4)          (2, 9)  (3, 5)
 *     listed     (0, 4)  (0, 7)          (3, 5)  (3, 8)
 *     read       (0, 4)  (0, 7)  (2, 9)  (3, 5)  (3, 8)     (0, 7) and (3, 8) do not decide
 */
#include "dedup/candidates.h"

#include <string.h>

#include "base/rng.h"
#include "base/status.h"

#define RECENT_BITS 17u

/* ------------------------------------------------------------------ queues -- */

nigh_status nigh__pair_queue_init(const nigh_dedup *dedup, const struct nigh__order *order,
                                  const struct nigh__pair_sorters *sorters, pthread_mutex_t *lock,
                                  struct nigh__pair_queue *out, nigh_error *error) {
    out->order = order;
    out->sorters = *sorters;
    out->lock = lock;
    out->count = 0;
    out->words = dedup->pair_words;
    out->recent = nigh__alloc_table(dedup->context, (size_t)1 << RECENT_BITS, out->words * sizeof *out->recent);
    return out->recent == NULL ? nigh__no_memory(error, "for candidates") : NIGH_OK;
}

void nigh__pair_queue_release(const nigh_context *context, struct nigh__pair_queue *queue) {
    nigh__free(context, queue->recent);
    queue->recent = NULL;
}

/* The other rank first. */
static void turn_pairs(struct nigh__pair_queue *queue) {
    for (size_t i = 0; i < queue->count; i++) {
        uint64_t *record = &queue->pairs[i * queue->words];
        const struct nigh__number_pair pair = nigh__number_pair_unpack(queue->words, record);
        nigh__number_pair_pack(queue->words, pair.second, pair.first, record);
    }
}

nigh_status nigh__pair_queue_flush(struct nigh__pair_queue *queue, nigh_error *error) {
    const struct nigh__pair_sorters *sorters = &queue->sorters;
    nigh_status status = NIGH_OK;
    if (queue->lock != NULL) pthread_mutex_lock(queue->lock);
    if (sorters->by_better != NULL) status = nigh__sorter_add(sorters->by_better, queue->pairs, queue->count, error);
    if (sorters->by_worse != NULL) turn_pairs(queue);
    if (status == NIGH_OK && sorters->by_worse != NULL)
        status = nigh__sorter_add(sorters->by_worse, queue->pairs, queue->count, error);
    if (queue->lock != NULL) pthread_mutex_unlock(queue->lock);
    queue->count = 0;
    return status;
}

/* Whether the pair is among the recent ones; from now on it is.  No pair is 0, for they are two. */
static inline bool is_recent(struct nigh__pair_queue *queue, uint64_t first, uint64_t second) {
    const uint64_t known = first << 32 | second;
    uint64_t *recent = &queue->recent[nigh__mix(known) >> (64 - RECENT_BITS)];
    if (*recent == known) return true;
    *recent = known;
    return false;
}

/* The same of pairs of two words. */
static bool is_recent_wide(struct nigh__pair_queue *queue, uint64_t first, uint64_t second) {
    uint64_t *recent = &queue->recent[(nigh__mix(nigh__mix(first) + second) >> (64 - RECENT_BITS)) * 2];
    if (recent[0] == first && recent[1] == second) return true;
    nigh__number_pair_pack(2, first, second, recent);
    return false;
}

nigh_status nigh__pair_queue_add(struct nigh__pair_queue *queue, uint64_t a, uint64_t b, nigh_error *error) {
    const uint64_t first = a < b ? a : b;
    const uint64_t second = a < b ? b : a;
    if (queue->words == 1 ? is_recent(queue, first, second) : is_recent_wide(queue, first, second)) return NIGH_OK;
    const uint64_t x = queue->order->rank[a];
    const uint64_t y = queue->order->rank[b];
    nigh__number_pair_pack(queue->words, x < y ? x : y, x < y ? y : x, &queue->pairs[queue->count++ * queue->words]);
    return queue->count == NIGH__PAIRS_TOGETHER ? nigh__pair_queue_flush(queue, error) : NIGH_OK;
}

/* ------------------------------------------------------------------- lists -- */

static nigh_status new_sorter(const nigh_dedup *dedup, uint32_t threads, struct nigh__sorter **out, nigh_error *error) {
    struct nigh__sorter_options options = nigh__dedup_sorting(dedup, dedup->pair_words, 8, threads);
    options.unique = true;
    return nigh__sorter_new(dedup->context, &options, out, error);
}

/* A member of a crowd takes two words whatever its rank: there may be more crowds than documents. */
static nigh_status new_members(const nigh_dedup *dedup, uint32_t threads, struct nigh__sorter **out,
                               nigh_error *error) {
    const struct nigh__sorter_options options = nigh__dedup_sorting(dedup, 2, 8, threads);
    return nigh__sorter_new(dedup->context, &options, out, error);
}

nigh_status nigh__candidates_init(const nigh_dedup *dedup, const struct nigh__order *order,
                                  const struct nigh__there *there, uint32_t threads, struct nigh__candidates *out,
                                  nigh_error *error) {
    *out = (struct nigh__candidates){.dedup = dedup, .order = order, .there = there, .taken = NIGH__ARRAY(uint64_t)};
    const bool kept = dedup->options.cluster != NIGH_CLUSTER_COMPONENTS;
    const bool all = dedup->options.all_pairs;
    nigh_status status = NIGH_OK;
    if (kept) status = new_sorter(dedup, threads, &out->deciding.by_worse, error);
    if (status == NIGH_OK && kept) status = new_members(dedup, threads, &out->members, error);
    if (status == NIGH_OK && (all || !kept)) status = new_sorter(dedup, threads, &out->deciding.by_better, error);
    if (status == NIGH_OK && all) status = new_sorter(dedup, threads, &out->listed.by_better, error);
    if (status != NIGH_OK) nigh__candidates_release(out);
    return status;
}

/* All sorters, of which some may be NULL. */
#define SORTERS(candidates)                                                                                \
    {                                                                                                      \
        (candidates)->deciding.by_better, (candidates)->deciding.by_worse, (candidates)->listed.by_better, \
            (candidates)->members                                                                          \
    }
#define SORTER_COUNT 4u

void nigh__candidates_release(struct nigh__candidates *candidates) {
    struct nigh__sorter *const sorters[SORTER_COUNT] = SORTERS(candidates);
    for (size_t i = 0; i < SORTER_COUNT; i++) nigh__sorter_free(sorters[i]);
    if (candidates->dedup != NULL) nigh__array_release(candidates->dedup->context, &candidates->taken);
    *candidates = (struct nigh__candidates){.dedup = NULL};
}

static void begin_reading(struct nigh__candidates *candidates) {
    const uint32_t words = candidates->dedup->pair_words;
    candidates->cursors[0] = (struct nigh__sorter_cursor){.sorter = candidates->deciding.by_better, .words = words};
    candidates->cursors[1] = (struct nigh__sorter_cursor){.sorter = candidates->listed.by_better, .words = words};
}

nigh_status nigh__candidates_finish(struct nigh__candidates *candidates, nigh_error *error) {
    struct nigh__sorter *const sorters[SORTER_COUNT] = SORTERS(candidates);
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < SORTER_COUNT; i++)
        if (sorters[i] != NULL) status = nigh__sorter_finish(sorters[i], error);
    begin_reading(candidates);
    return status;
}

uint64_t nigh__candidates_disk_bytes(const struct nigh__candidates *candidates) {
    struct nigh__sorter *const sorters[SORTER_COUNT] = SORTERS(candidates);
    uint64_t bytes = 0;
    for (size_t i = 0; i < SORTER_COUNT; i++) bytes += sorters[i] == NULL ? 0 : nigh__sorter_disk_bytes(sorters[i]);
    return bytes;
}

nigh_status nigh__candidates_add_crowd(struct nigh__candidates *candidates, const uint64_t *documents, size_t count,
                                       uint64_t taken, nigh_error *error) {
    const uint64_t crowd = candidates->taken.count;
    uint64_t *place = nigh__array_add(candidates->dedup->context, &candidates->taken, 1);
    if (place == NULL) return nigh__no_memory(error, "for crowds");
    *place = taken;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t member[2] = {candidates->order->rank[documents[i]], crowd};
        status = nigh__sorter_add(candidates->members, member, 1, error);
    }
    return status;
}

/* ----------------------------------------------------------------- reading -- */

nigh_status nigh__pair_peek(struct nigh__sorter_cursor *cursor, struct nigh__number_pair *out, nigh_error *error) {
    const uint64_t *record = NULL;
    nigh_status status = nigh__sorter_peek(cursor, &record, error);
    *out = record == NULL ? (struct nigh__number_pair){UINT64_MAX, UINT64_MAX}
                          : nigh__number_pair_unpack(cursor->words, record);
    return status;
}

nigh_status nigh__candidates_next(struct nigh__candidates *candidates, struct nigh__number_pair *pair, bool *decides,
                                  nigh_error *error) {
    struct nigh__sorter_cursor *cursors = candidates->cursors;
    struct nigh__number_pair listed;
    nigh_status status = nigh__pair_peek(&cursors[0], pair, error);
    if (status == NIGH_OK) status = nigh__pair_peek(&cursors[1], &listed, error);
    if (status != NIGH_OK) return status;
    if (cursors[0].ended && cursors[1].ended) return NIGH_END;
    *decides = pair->first < listed.first || (pair->first == listed.first && pair->second <= listed.second);
    if (!*decides) *pair = listed;
    cursors[0].next += *decides;
    cursors[1].next += pair->first == listed.first && pair->second == listed.second;
    return NIGH_OK;
}

nigh_status nigh__candidates_rewind(struct nigh__candidates *candidates, nigh_error *error) {
    struct nigh__sorter *const sorters[] = {candidates->deciding.by_better, candidates->listed.by_better};
    nigh_status status = NIGH_OK;
    begin_reading(candidates);
    for (size_t i = 0; status == NIGH_OK && i < 2; i++)
        if (sorters[i] != NULL) status = nigh__sorter_rewind(sorters[i], error);
    return status;
}
