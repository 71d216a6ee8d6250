/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of candidates.  A pair that shares many bands is found in each: a table of
 * recent pairs holds most of these back from the sorter, which drops the rest.  Two
 * sorters, of what decides and of what is only listed, are read as one:
 *
 *     deciding   (0, 4)          (2, 9)  (3, 5)
 *     listed     (0, 4)  (0, 7)          (3, 5)  (3, 8)
 *     read       (0, 4)  (0, 7)  (2, 9)  (3, 5)  (3, 8)     (0, 7) and (3, 8) do not decide
 */
#include "dedup/candidates.h"

#include <string.h>

#include "base/rng.h"
#include "base/status.h"
#include "dedup/crowds.h"
#include "join/join_options.h"

#define RECENT_BITS 17u

static nigh_status no_memory(nigh_error *error) {
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory for candidates");
    return NIGH_ENOMEM;
}

/* ------------------------------------------------------------------ queues -- */

nigh_status nigh__pair_queue_init(const nigh_context *context, const struct nigh__order *order,
                                  struct nigh__sorter *sorter, pthread_mutex_t *lock, struct nigh__pair_queue *out,
                                  nigh_error *error) {
    out->order = order;
    out->sorter = sorter;
    out->lock = lock;
    out->count = 0;
    out->recent = nigh__alloc_table(context, (size_t)1 << RECENT_BITS, sizeof *out->recent);
    return out->recent == NULL ? no_memory(error) : NIGH_OK;
}

void nigh__pair_queue_release(const nigh_context *context, struct nigh__pair_queue *queue) {
    nigh__free(context, queue->recent);
    queue->recent = NULL;
}

nigh_status nigh__pair_queue_flush(struct nigh__pair_queue *queue, nigh_error *error) {
    if (queue->lock != NULL) pthread_mutex_lock(queue->lock);
    nigh_status status = nigh__sorter_add(queue->sorter, queue->pairs, queue->count, error);
    if (queue->lock != NULL) pthread_mutex_unlock(queue->lock);
    queue->count = 0;
    return status;
}

nigh_status nigh__pair_queue_add(struct nigh__pair_queue *queue, uint32_t a, uint32_t b, nigh_error *error) {
    const uint64_t known = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a; /* never 0: they are two */
    uint64_t *recent = &queue->recent[nigh__mix(known) >> (64 - RECENT_BITS)];
    if (*recent == known) return NIGH_OK;
    *recent = known;
    const uint64_t x = queue->order->rank[a];
    const uint64_t y = queue->order->rank[b];
    queue->pairs[queue->count++] = x < y ? x << 32 | y : y << 32 | x;
    return queue->count == NIGH__PAIRS_TOGETHER ? nigh__pair_queue_flush(queue, error) : NIGH_OK;
}

/* ------------------------------------------------------------------- lists -- */

nigh_status nigh__candidates_init(const nigh_dedup *dedup, const struct nigh__order *order, uint32_t threads,
                                  struct nigh__candidates *out, nigh_error *error) {
    *out = (struct nigh__candidates){.dedup = dedup, .order = order};
    const struct nigh__sorter_options options = {.words = 1,
                                                 .key_words = 1,
                                                 .unique = true,
                                                 .memory_bytes = dedup->options.memory_bytes / 8,
                                                 .temporary = dedup->temporary,
                                                 .threads = threads};
    nigh_status status = nigh__sorter_new(dedup->context, &options, &out->deciding, error);
    if (status == NIGH_OK && dedup->options.all_pairs)
        status = nigh__sorter_new(dedup->context, &options, &out->listed, error);
    if (status != NIGH_OK) nigh__candidates_release(out);
    return status;
}

void nigh__candidates_release(struct nigh__candidates *candidates) {
    nigh__sorter_free(candidates->deciding);
    nigh__sorter_free(candidates->listed);
    *candidates = (struct nigh__candidates){0};
}

nigh_status nigh__candidates_finish(struct nigh__candidates *candidates, nigh_error *error) {
    nigh_status status = nigh__sorter_finish(candidates->deciding, error);
    if (candidates->listed == NULL) {
        candidates->cursors[1].ended = true;
        return status;
    }
    return status == NIGH_OK ? nigh__sorter_finish(candidates->listed, error) : status;
}

uint64_t nigh__candidates_disk_bytes(const struct nigh__candidates *candidates) {
    return nigh__sorter_disk_bytes(candidates->deciding) +
           (candidates->listed == NULL ? 0 : nigh__sorter_disk_bytes(candidates->listed));
}

/* ----------------------------------------------------------------- reading -- */

/* The record the cursor is at; at the end one that is larger than all pairs. */
static nigh_status peek(struct nigh__pair_cursor *cursor, struct nigh__sorter *sorter, uint64_t *out,
                        nigh_error *error) {
    *out = UINT64_MAX;
    if (!cursor->ended && cursor->next == cursor->count) {
        nigh_status status = nigh__sorter_next(sorter, &cursor->records, &cursor->count, error);
        if (status != NIGH_OK && status != NIGH_END) return status;
        cursor->next = 0;
        cursor->ended = status == NIGH_END;
    }
    if (!cursor->ended) *out = cursor->records[cursor->next];
    return NIGH_OK;
}

nigh_status nigh__candidates_next(struct nigh__candidates *candidates, uint64_t *pair, bool *decides,
                                  nigh_error *error) {
    struct nigh__pair_cursor *cursors = candidates->cursors;
    uint64_t listed = UINT64_MAX;
    nigh_status status = peek(&cursors[0], candidates->deciding, pair, error);
    if (status == NIGH_OK) status = peek(&cursors[1], candidates->listed, &listed, error);
    if (status != NIGH_OK) return status;
    if (cursors[0].ended && cursors[1].ended) return NIGH_END;
    *decides = *pair <= listed;
    if (!*decides) *pair = listed;
    cursors[0].next += *decides;
    cursors[1].next += *pair == listed;
    return NIGH_OK;
}

nigh_status nigh__candidates_rewind(struct nigh__candidates *candidates, nigh_error *error) {
    candidates->cursors[0] = (struct nigh__pair_cursor){.ended = false};
    candidates->cursors[1] = (struct nigh__pair_cursor){.ended = candidates->listed == NULL};
    nigh_status status = nigh__sorter_rewind(candidates->deciding, error);
    if (status == NIGH_OK && candidates->listed != NULL) status = nigh__sorter_rewind(candidates->listed, error);
    return status;
}

/* --------------------------------------------------------------- distances -- */

struct joining {
    struct nigh__pair_queue queue;
    const uint32_t *documents; /* by row */
    nigh_status status;
    nigh_error error;
};

static int take_pair(void *user, const nigh_pair *pair) {
    struct joining *joining = user;
    joining->status = nigh__pair_queue_add(&joining->queue, joining->documents[pair->first],
                                           joining->documents[pair->second], &joining->error);
    return joining->status != NIGH_OK;
}

/* Side by side, the signatures of those that have one and are not gone, and who they are; returns how many. */
static size_t collect_signatures(const struct nigh__gathered *gathered, const uint64_t *gone, size_t bytes,
                                 uint8_t *rows, uint32_t *documents) {
    const uint32_t *signed_ones = gathered->signed_ones.data;
    size_t count = 0;
    for (size_t i = 0; i < gathered->signed_ones.count; i++) {
        if (nigh__bit_is_set(gone, i)) continue;
        documents[count] = signed_ones[i];
        memcpy(rows + count * bytes, nigh__gathered_row(gathered, signed_ones[i]), bytes);
        count++;
    }
    return count;
}

static nigh_status join(struct joining *joining, const uint8_t *rows, uint64_t count, nigh_dedup *dedup,
                        uint32_t width_bits, uint32_t threads, nigh_error *error) {
    nigh_join_options options;
    nigh__options_defaults(&nigh__join_options_shape, &options);
    nigh_join_result result = {.size = sizeof result};
    options.width_bits = width_bits;
    options.radius = dedup->options.distance;
    options.memory_bytes = dedup->options.memory_bytes / 2;
    options.temporary = dedup->temporary;
    options.copies = (uint32_t)(dedup->options.bucket_budget < UINT32_MAX ? dedup->options.bucket_budget : UINT32_MAX);
    options.threads = threads;
    options.pair = take_pair;
    options.user = joining;
    options.progress = dedup->options.progress;
    nigh_status status = nigh_join(dedup->context, rows, count, NULL, 0, &options, &result, error);
    /* Of a crowd with one signature only pairs with its first document were given: one such, at least. */
    dedup->info.truncated += result.truncated + (result.copies_untold > 0);
    dedup->info.disk_bytes += result.disk_bytes;
    if (joining->status != NIGH_OK && error != NULL)
        *error = joining->error; /* the join knows only that it was to stop */
    return joining->status != NIGH_OK ? joining->status : status;
}

/* All pairs of those that no crowd has taken. */
static nigh_status join_rest(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                             nigh_dedup *dedup, uint32_t width_bits, uint32_t threads, const uint64_t *gone,
                             nigh_error *error) {
    const nigh_context *context = dedup->context;
    const size_t most = gathered->signed_ones.count;
    const size_t bytes = width_bits / 8;
    uint8_t *rows = nigh__alloc(context, most, bytes);
    uint32_t *documents = nigh__alloc(context, most, sizeof *documents);
    struct joining joining = {.documents = documents};
    nigh_status status = rows == NULL || documents == NULL ? no_memory(error) : NIGH_OK;
    if (status == NIGH_OK)
        status = nigh__pair_queue_init(context, candidates->order, candidates->deciding, NULL, &joining.queue, error);
    if (status == NIGH_OK) {
        const size_t count = collect_signatures(gathered, gone, bytes, rows, documents);
        status = join(&joining, rows, count, dedup, width_bits, threads, error);
    }
    if (status == NIGH_OK) status = nigh__pair_queue_flush(&joining.queue, error);
    nigh__pair_queue_release(context, &joining.queue);
    nigh__free(context, documents);
    nigh__free(context, rows);
    return status;
}

nigh_status nigh__candidates_by_distance(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                                         nigh_dedup *dedup, uint32_t width_bits, uint32_t threads, nigh_error *error) {
    uint64_t *gone = nigh__bits_new(dedup->context, gathered->signed_ones.count, error);
    if (gone == NULL) return NIGH_ENOMEM;
    nigh_status status = nigh__crowds_find(candidates, gathered, dedup, width_bits, gone, error);
    if (status == NIGH_OK) status = join_rest(candidates, gathered, dedup, width_bits, threads, gone, error);
    nigh__free(dedup->context, gone);
    return status;
}
