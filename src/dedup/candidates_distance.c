/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates by signatures: crowds of near ones are paired first (crowds.c), and of the
 * others the join finds all pairs within the distance.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/status.h"
#include "dedup/candidates.h"
#include "dedup/crowds.h"
#include "join/join_options.h"

struct joining {
    struct nigh__pair_queue queue;
    const uint64_t *documents; /* by row */
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
                                 uint8_t *rows, uint64_t *documents) {
    const uint64_t *signed_ones = gathered->signed_ones.data;
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
    const size_t bytes = nigh__row_bytes(width_bits);
    uint8_t *rows = nigh__alloc(context, most, bytes);
    uint64_t *documents = nigh__alloc(context, most, sizeof *documents);
    struct joining joining = {.documents = documents};
    nigh_status status = NIGH_OK;
    if (rows == NULL || documents == NULL) status = nigh__no_memory(error, "for candidates");
    if (status == NIGH_OK)
        status = nigh__pair_queue_init(dedup, candidates->order, &candidates->deciding, NULL, &joining.queue, error);
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
