/* SPDX-License-Identifier: Apache-2.0 */
/* Which options the sketch scan takes and refuses, its defaults, and the scan of a batch. */
#include "sketch/sketch_method.h"

#include "base/options.h"
#include "base/status.h"
#include "scan/cost_model.h"
#include "scan/ranking.h"
#include "sketch/sketch.h"
#include "sketch/sketches.h"

#define DEFAULT_BITS 128u
#define MIN_CANDIDATES 256u
#define CANDIDATES_SHARE 256u /* one row of so many is compared */
#define CANDIDATES_FOR_ONE 10u

struct sketch_segment {
    struct nigh__prepared base;
    uint32_t sketch_words;
    uint32_t candidates;
};

static const struct nigh__search_option options_taken[] = {
    NIGH__SEARCH_OPTION(candidates),
    NIGH__SEARCH_OPTION(sketch_bits),
};

static nigh_status check(const nigh_collection *collection, const nigh_search_options *options, nigh_error *error) {
    (void)collection;
    const uint32_t bits = options->sketch_bits;
    if (bits != NIGH__UNSET && (bits == 0 || bits % 64 != 0 || bits > 64 * NIGH__SKETCH_WORDS))
        return nigh__fail(error, NIGH_EINVAL, "sketches of %u bits; they have 64, 128, 192 or 256", bits);
    if (options->method != NIGH_SEARCH_SKETCH) return NIGH_OK;
    if (!nigh__ranks_plainly(options))
        return nigh__fail(error, NIGH_EINVAL, "sketches cannot be searched in some of the bits only, nor by weights");
    if (options->k == NIGH_ALL)
        return nigh__fail(error, NIGH_EINVAL, "a search of sketches needs a k: how many documents at most");
    if (options->stop != NIGH_STOP_BREADTH)
        return nigh__fail(error, NIGH_EINVAL, "a search of sketches cannot go on until it is certain; scan instead");
    return NIGH_OK;
}

static uint32_t default_bits(uint32_t width_bits) { return width_bits <= 2 * DEFAULT_BITS ? 64 : DEFAULT_BITS; }

static uint32_t default_candidates(uint32_t rows, uint32_t k) {
    uint32_t candidates = rows / CANDIDATES_SHARE < MIN_CANDIDATES ? MIN_CANDIDATES : rows / CANDIDATES_SHARE;
    if (k > candidates / CANDIDATES_FOR_ONE)
        candidates = k < UINT32_MAX / CANDIDATES_FOR_ONE ? k * CANDIDATES_FOR_ONE : UINT32_MAX - 1;
    return candidates;
}

/* Where sketches would be whole signatures, or all rows candidates, the scan does less. */
static nigh_status prepare(const struct nigh__prepared *base, struct nigh__prepared **out, nigh_error *error) {
    const struct nigh__segment *segment = base->segment;
    uint32_t bits = base->options->sketch_bits;
    uint32_t candidates = base->options->candidates;
    if (bits == NIGH__UNSET) bits = default_bits(segment->width_bits);
    if (candidates == NIGH__UNSET) candidates = default_candidates(segment->signatures, base->options->k);
    *out = NULL;
    if (candidates >= segment->signatures || bits >= segment->width_bits) return NIGH_OK;
    struct sketch_segment *sketched = nigh__prepared_new(base, sizeof *sketched, error);
    if (sketched == NULL) return NIGH_ENOMEM;
    sketched->base.bound = true;
    sketched->sketch_words = bits / 64;
    sketched->candidates = candidates;
    *out = &sketched->base;
    return NIGH_OK;
}

static double estimate(struct nigh__prepared *prepared, uint32_t query, uint32_t limit) {
    const struct sketch_segment *sketched = (const struct sketch_segment *)prepared;
    (void)query;
    (void)limit;
    return nigh__scan_cost(sketched->sketch_words, prepared->segment->signatures) +
           NIGH__COST_COMPARED_ROW * sketched->candidates;
}

/* All queries of the batch: nobody has left any to the scan. */
static nigh_status scan_sketches(const struct sketch_segment *sketched, const struct nigh__query_batch *batch,
                                 struct nigh__sketch_answer *found, nigh_error *error) {
    const struct nigh__segment *segment = sketched->base.segment;
    const uint64_t *sketches = NULL;
    nigh_status status = nigh__sketches_get(nigh__sketches_of(sketched->base.collection), segment, segment->index,
                                            sketched->sketch_words, &sketches, error);
    if (status != NIGH_OK) return status;
    const struct nigh__sketch_scan scan = {
        .context = segment->context,
        .sketches = sketches,
        .sketch_words = sketched->sketch_words,
        .rows = segment->rows,
        .count = segment->signatures,
        .words = segment->words,
        .allowed = nigh__prepared_allowed(&sketched->base),
        .map = segment->map,
        .map_length = segment->length,
        .queries = batch->queries,
        .query_count = batch->size,
        .limits = batch->limits,
        .k = sketched->base.options->k,
        .candidates = sketched->candidates,
        .threads = batch->threads,
        .progress = batch->progress,
        .progress_done = batch->progress_done,
        .progress_total = batch->progress_total,
    };
    status = nigh__sketch_scan(&scan, found, error);
    return status == NIGH_EIO ? nigh__segment_cut(segment, error) : status;
}

static nigh_status run(struct nigh__prepared *prepared, const struct nigh__query_batch *batch, nigh_error *error) {
    struct nigh__sketch_answer found[NIGH__BATCH_QUERIES] = {{.below = 0}};
    for (uint32_t q = 0; q < batch->size; q++) found[q].keys = batch->answers[q].keys;
    const nigh_status status = scan_sketches((const struct sketch_segment *)prepared, batch, found, error);
    for (uint32_t q = 0; q < batch->size; q++) {
        struct nigh__answer *answer = &batch->answers[q];
        answer->keys = found[q].keys;
        answer->below = found[q].below;
        answer->breadth = 0;
        answer->distances = found[q].compared;
    }
    return status;
}

const struct nigh__search_method nigh__sketch_method = {
    .name = "sketch",
    .asked_by = 1u << NIGH_SEARCH_SKETCH,
    .options = options_taken,
    .option_count = sizeof options_taken / sizeof options_taken[0],
    .batch_queries = NIGH__BATCH_QUERIES,
    .check = check,
    .prepare = prepare,
    .estimate = estimate,
    .run = run,
};
