/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a batch of queries finds its matches in a block of sorted fingerprints.
 *
 *     psm      every query's k likeliest prefixes, of all queries together, are sorted
 *              once; then each block is gone through beside them:
 *
 *                  keys   0013 q7 | 0013 q9 | 02a1 q7 | ...      prefix, query
 *                  rows   0013...  0013...  0047...  02a1...
 *
 *              Whichever is behind leaps forward, by doubling steps and then halving
 *              them, to where the other is; where prefixes are equal, queries are
 *              compared with rows.  Both are read in sequence, so nothing waits for
 *              memory, and a few rows beside a million keys take no longer than the
 *              other way round.
 *     tables   permuted tables of the queries, in which each fingerprint is looked up
 *     scan     all with all
 *
 * Threads share the rows of a block.
 */
#include "dedup/chunk_search.h"

#include "base/bytes.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/word_sort.h"
#include "index/few_bits.h"

#define BUCKET_BUDGET (UINT64_C(1) << 22)
#define TILE_ROWS 512u
#define SMALL_RANGE 24u

static void hit_add(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t row,
                    uint32_t query, uint32_t distance, struct nigh__chunk_finds *finds) {
    struct nigh__chunk_hit *hit = nigh__array_add(batch->context, &finds->hits, 1);
    finds->failed = finds->failed || hit == NULL;
    if (hit == NULL) return;
    hit->query_distance = (uint64_t)query << 32 | distance;
    hit->number = block->first + block->numbers[row];
}

/* ------------------------------------------------------------------ preparing psm */

static void keys_of_query(const struct nigh__chunk_batch *batch, uint32_t query, const uint32_t *masks, size_t count,
                          uint64_t *keys) {
    const uint64_t prefix = batch->queries[query] >> (64 - batch->options.prefix_bits);
    for (size_t i = 0; i < count; i++) keys[i] = (prefix ^ masks[i]) << 32 | query;
}

/* Bit 0 of a mask is the lowest of the prefix. */
static void prefix_costs(const struct nigh__chunk_batch *batch, uint32_t query, const uint32_t costs[256],
                         uint32_t bit_costs[NIGH__MOST_PREFIX_BITS]) {
    const uint32_t bits = batch->options.prefix_bits;
    const uint8_t *weights = batch->options.weights + (size_t)query * 64 + (64 - bits);
    for (uint32_t i = 0; i < bits; i++) bit_costs[i] = costs[weights[i]];
}

/* Lists all keys; the scratch is for one query. */
static void keys_list(struct nigh__chunk_batch *batch, uint64_t *keys, uint32_t *masks, void *scratch,
                      size_t scratch_bytes) {
    const nigh_batch_options *options = &batch->options;
    struct nigh__weak_shape shape = {0};
    uint32_t costs[256];
    uint32_t bit_costs[NIGH__MOST_PREFIX_BITS];
    const bool shaped = nigh__weak_shape_init(&shape, options->prefix_bits, options->radius, options->probes);
    nigh__weak_costs(options->model, 64, costs);
    for (uint32_t query = 0; query < batch->count; query++) {
        size_t count = shape.probes;
        prefix_costs(batch, query, costs, bit_costs);
        if (shaped)
            nigh__weak_shape_list(&shape, bit_costs, masks);
        else
            count = nigh__weak_list(bit_costs, options->prefix_bits, options->radius, options->probes, masks, scratch,
                                    scratch_bytes);
        keys_of_query(batch, query, masks, count, keys + batch->key_count);
        batch->key_count += count;
    }
}

static nigh_status psm_init(struct nigh__chunk_batch *batch, nigh_error *error) {
    const nigh_context *context = batch->context;
    const nigh_batch_options *options = &batch->options;
    const size_t scratch_bytes = nigh__weak_scratch(options->prefix_bits, options->radius, options->probes);
    uint64_t *keys = nigh__alloc(context, batch->count, (size_t)options->probes * sizeof *keys);
    uint64_t *others = nigh__alloc(context, batch->count, (size_t)options->probes * sizeof *others);
    uint32_t *masks = nigh__alloc(context, options->probes, sizeof *masks);
    void *scratch = nigh__alloc(context, scratch_bytes, 1);
    const bool ready = keys != NULL && others != NULL && masks != NULL && scratch != NULL;
    if (ready) {
        keys_list(batch, keys, masks, scratch, scratch_bytes);
        batch->keys = nigh__words_sort(keys, others, batch->key_count, 1, 1, nigh__threads_resolve(options->threads));
    }
    if (batch->keys != keys) nigh__free(context, keys);
    if (batch->keys != others) nigh__free(context, others);
    nigh__free(context, masks);
    nigh__free(context, scratch);
    if (ready) return NIGH_OK;
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory for the weak combinations of %u queries", batch->count);
    return NIGH_ENOMEM;
}

/* -------------------------------------------------------------------- searching: psm */

/* The first of [from, end) whose word is at least `value`; near `from` it is found soonest. */
static size_t leap(const uint64_t *words, size_t from, size_t end, uint64_t value) {
    size_t step = 1;
    size_t low = from; /* all before are less */
    while (low + step <= end && words[low + step - 1] < value) {
        low += step;
        step *= 2;
    }
    size_t high = step - 1 < end - low ? low + step - 1 : end; /* from here on none is less */
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (words[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void compare_many(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t begin,
                         uint32_t end, uint32_t query, struct nigh__chunk_finds *finds) {
    uint32_t distances[TILE_ROWS];
    const uint32_t radius = batch->options.radius;
    for (uint32_t at = begin; at < end;) {
        const uint32_t count = end - at < TILE_ROWS ? end - at : TILE_ROWS;
        const uint32_t least =
            batch->context->hamming->rows(&batch->queries[query], block->rows + at, count, 1, distances);
        for (uint32_t i = 0; i < count && least <= radius; i++) {
            if (distances[i] <= radius) hit_add(batch, block, at + i, query, distances[i], finds);
        }
        at += count;
    }
    finds->found.compared += end - begin;
}

static void compare_few(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t begin,
                        uint32_t end, uint32_t query, struct nigh__chunk_finds *finds) {
    const uint64_t word = batch->queries[query];
    finds->found.compared += end - begin;
    for (size_t at = begin;; at++) {
        at = nigh__next_near(block->rows, at, end, word, batch->options.radius);
        if (at == end) return;
        hit_add(batch, block, (uint32_t)at, query, (uint32_t)__builtin_popcountll(block->rows[at] ^ word), finds);
    }
}

static void psm_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t begin,
                       uint32_t end, struct nigh__chunk_finds *finds) {
    const uint32_t shift = 64 - batch->options.prefix_bits;
    size_t key = 0;
    uint32_t row = begin;
    while (row < end) {
        const uint64_t row_prefix = block->rows[row] >> shift;
        key = leap(batch->keys, key, batch->key_count, row_prefix << 32);
        if (key == batch->key_count) return;
        const uint64_t prefix = batch->keys[key] >> 32;
        if (prefix != row_prefix) {
            row = (uint32_t)leap(block->rows, row, end, prefix << shift);
            continue;
        }
        const uint64_t last = prefix << shift | ((UINT64_C(1) << shift) - 1);
        const uint32_t after = last == UINT64_MAX ? end : (uint32_t)leap(block->rows, row, end, last + 1);
        for (; key < batch->key_count && batch->keys[key] >> 32 == prefix && !finds->failed; key++) {
            const uint32_t query = (uint32_t)batch->keys[key];
            finds->found.probes++;
            if (batch->answered[query] != 0) continue;
            if (after - row <= SMALL_RANGE)
                compare_few(batch, block, row, after, query, finds);
            else
                compare_many(batch, block, row, after, query, finds);
        }
        row = after;
    }
}

/* ------------------------------------------------------------- searching: tables, scan */

static nigh_status tables_init(struct nigh__chunk_batch *batch, nigh_error *error) {
    const nigh_batch_options *options = &batch->options;
    struct nigh__progress nobody;
    nigh__progress_init(&nobody, NULL);
    nigh_status status = nigh__distinct_init(batch->context, &batch->distinct, (const uint8_t *)batch->queries,
                                             batch->count, 64, &nobody, error);
    if (status != NIGH_OK) return status;
    const struct nigh__rows rows = {batch->distinct.words_of_rows, batch->distinct.count, 1, 64};
    return nigh__tables_new(batch->context, &rows, options->blocks, options->leading,
                            nigh__threads_resolve(options->threads), &batch->tables, error);
}

static void tables_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t begin,
                          uint32_t end, struct nigh__chunk_finds *finds) {
    const struct nigh__lookup lookup = {
        .queries = block->rows + begin, .count = end - begin, .radius = batch->options.radius, .budget = BUCKET_BUDGET};
    finds->found.hits.count = 0;
    if (nigh__tables_find(batch->tables, &lookup, &finds->found, NULL) != NIGH_OK) finds->failed = true;
    const struct nigh__hit *hits = finds->found.hits.data;
    for (size_t i = 0; i < finds->found.hits.count && !finds->failed; i++) {
        uint32_t own;
        uint32_t count;
        const uint32_t *numbers = nigh__distinct_numbers(&batch->distinct, hits[i].row, &own, &count);
        for (uint32_t j = 0; j < count; j++) {
            if (batch->answered[numbers[j]] == 0)
                hit_add(batch, block, begin + hits[i].query, numbers[j], hits[i].distance, finds);
        }
    }
}

static void scan_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t begin,
                        uint32_t end, struct nigh__chunk_finds *finds) {
    for (uint32_t at = begin; at < end; at += TILE_ROWS) {
        const uint32_t tile = end - at < TILE_ROWS ? end : at + TILE_ROWS;
        for (uint32_t query = 0; query < batch->count && !finds->failed; query++) {
            if (batch->answered[query] == 0) compare_many(batch, block, at, tile, query, finds);
        }
    }
}

/* ------------------------------------------------------------------------- the batch */

nigh_status nigh__chunk_batch_init(struct nigh__chunk_batch *batch, nigh_error *error) {
    batch->answered = nigh__alloc_zero(batch->context, batch->count, 1);
    if (batch->answered == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for %u queries", batch->count);
    if (batch->count == 0) return NIGH_OK;
    if (batch->options.method == NIGH_FINDER_PSM) return psm_init(batch, error);
    if (batch->options.method == NIGH_FINDER_TABLES) return tables_init(batch, error);
    return NIGH_OK;
}

void nigh__chunk_batch_release(struct nigh__chunk_batch *batch) {
    nigh__tables_free(batch->context, batch->tables);
    nigh__distinct_release(batch->context, &batch->distinct);
    nigh__free(batch->context, batch->answered);
    nigh__free(batch->context, batch->keys);
}

/* Once a quarter of those that were left has been answered, so that all of it takes linear time. */
void nigh__chunk_batch_shrink(struct nigh__chunk_batch *batch) {
    const uint32_t left = batch->count - batch->keys_answered;
    if (batch->keys == NULL || batch->answered_count - batch->keys_answered < left / 4 + 1) return;
    size_t kept = 0;
    for (size_t i = 0; i < batch->key_count; i++) {
        batch->keys[kept] = batch->keys[i];
        kept += batch->answered[(uint32_t)batch->keys[i]] == 0;
    }
    batch->key_count = kept;
    batch->keys_answered = batch->answered_count;
}

void nigh__chunk_batch_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                              uint32_t begin, uint32_t end, struct nigh__chunk_finds *finds) {
    if (batch->options.method == NIGH_FINDER_PSM)
        psm_search(batch, block, begin, end, finds);
    else if (batch->options.method == NIGH_FINDER_TABLES)
        tables_search(batch, block, begin, end, finds);
    else
        scan_search(batch, block, begin, end, finds);
}
