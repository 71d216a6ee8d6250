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
 * Equal queries are one, and so are equal rows of a block, so that crowds of equal ones
 * cost nothing but the results that they give.  Of a crowd that only shares a prefix, a
 * look-up compares no more than a budget, and many look-ups few of it (chunk_crowd.c).
 * With `any`, a look-up ends at its first hit.  With `first` and `any` there is one word
 * of a query for the best match yet, the same for all threads, and less is better: so it
 * does not matter who comes first.  A query that has a match before the rows of a prefix
 * is not looked up there, since with `any` the lowest row of a block counts: keys ascend,
 * so that a query with a match makes half of its look-ups in that block, and none later.
 *
 * Threads share the keys of psm, the queries of a scan, and the rows for tables; a
 * look-up is never divided, so that what is found does not depend on their number.  Nor
 * does what is compared, but for the look-ups that `any` saves.
 */
#include "finder/chunk_search.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/word_sort.h"
#include "finder/chunk_crowd.h"
#include "finder/few_bits.h"

#define BUCKET_BUDGET (UINT64_C(1) << 18)
#define TILE_ROWS 512u
#define SMALL_RANGE 24u
#define PIECE_ROWS 128u /* that are looked up in tables at a time, since what they hit has to be kept */
#define CROWD_ROWS 8u   /* the same while they hit much */
#define MANY_HITS 1024u

/* -------------------------------------------------------------- queries that differ */

/* Of psm, the weights of the prefix count too, since they say where a query looks: the bytes of such a record. */
static uint32_t record_bytes(const struct nigh__chunk_batch *batch) {
    return 8 + (batch->options.method == NIGH_FINDER_PSM ? batch->options.prefix_bits : 0);
}

static nigh_status distinct_make(struct nigh__chunk_batch *batch, nigh_error *error) {
    const uint32_t bytes = record_bytes(batch);
    struct nigh__progress nobody;
    nigh__progress_init(&nobody, NULL);
    if (bytes == 8)
        return nigh__distinct_init(batch->context, &batch->distinct, (const uint8_t *)batch->queries, batch->given, 64,
                                   &nobody, error);
    uint8_t *records = nigh__alloc(batch->context, batch->given, bytes);
    nigh_status status = NIGH_ENOMEM;
    for (size_t i = 0; records != NULL && i < batch->given; i++) {
        memcpy(records + i * bytes, &batch->queries[i], 8);
        memcpy(records + i * bytes + 8, batch->options.weights + i * 64 + (64 + 8 - bytes), bytes - 8);
    }
    if (records == NULL)
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory for %u queries", batch->given);
    else
        status =
            nigh__distinct_init(batch->context, &batch->distinct, records, batch->given, bytes * 8, &nobody, error);
    nigh__free(batch->context, records);
    return status;
}

/* Which query each given one is. */
static bool given_assign(struct nigh__chunk_batch *batch) {
    if (!nigh__distinct_collapsed(&batch->distinct)) return true;
    batch->of_given = nigh__alloc(batch->context, batch->given, sizeof *batch->of_given);
    if (batch->of_given == NULL) return false;
    for (uint32_t row = 0; row < batch->count; row++) {
        uint32_t own;
        uint32_t count;
        const uint32_t *numbers = nigh__distinct_numbers(&batch->distinct, row, &own, &count);
        for (uint32_t i = 0; i < count; i++) batch->of_given[numbers[i]] = row;
    }
    return true;
}

static bool queries_take(struct nigh__chunk_batch *batch) {
    const struct nigh__distinct *distinct = &batch->distinct;
    batch->queries = distinct->words_of_rows;
    if (distinct->words == 1) return true;
    batch->words = nigh__alloc(batch->context, batch->count, sizeof *batch->words);
    if (batch->words == NULL) return false;
    for (size_t i = 0; i < batch->count; i++) batch->words[i] = distinct->words_of_rows[i * distinct->words];
    nigh__distinct_drop_rows(batch->context, &batch->distinct);
    batch->queries = batch->words;
    return true;
}

static nigh_status queries_init(struct nigh__chunk_batch *batch, nigh_error *error) {
    nigh_status status = distinct_make(batch, error);
    if (status != NIGH_OK) return status;
    batch->count = batch->distinct.count;
    batch->answered = nigh__alloc_zero(batch->context, batch->count, 1);
    bool made = batch->answered != NULL && given_assign(batch) && queries_take(batch);
    if (made && batch->options.mode != NIGH_FIND_ALL) {
        batch->best = nigh__alloc(batch->context, batch->count, sizeof *batch->best);
        made = batch->best != NULL;
        for (uint32_t i = 0; made && i < batch->count; i++) atomic_init(&batch->best[i], NIGH__CHUNK_NO_BEST);
    }
    if (made) return NIGH_OK;
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory for %u queries", batch->given);
    return NIGH_ENOMEM;
}

/* ------------------------------------------------------------------ preparing psm */

static void keys_of_query(const struct nigh__chunk_batch *batch, uint32_t query, const uint32_t *masks, size_t count,
                          uint64_t *keys) {
    const uint64_t prefix = batch->queries[query] >> (64 - batch->options.prefix_bits);
    for (size_t i = 0; i < count; i++) keys[i] = (prefix ^ masks[i]) << 32 | query;
}

/* Bit 0 of a mask is the lowest of the prefix. */
static void prefix_costs(const struct nigh__chunk_batch *batch, uint32_t query, const uint32_t costs[256],
                         uint32_t bit_costs[NIGH__MAX_PREFIX_BITS]) {
    const uint32_t bits = batch->options.prefix_bits;
    uint32_t own;
    uint32_t count;
    const uint32_t given = nigh__distinct_numbers(&batch->distinct, query, &own, &count)[0];
    const uint8_t *weights = batch->options.weights + (size_t)given * 64 + (64 - bits);
    for (uint32_t i = 0; i < bits; i++) bit_costs[i] = costs[weights[i]];
}

/* Lists all keys; the scratch is for one query. */
static void keys_list(struct nigh__chunk_batch *batch, uint64_t *keys, uint32_t *masks, void *scratch,
                      size_t scratch_bytes) {
    const nigh_batch_options *options = &batch->options;
    struct nigh__weak_shape shape = {0};
    uint32_t costs[256];
    uint32_t bit_costs[NIGH__MAX_PREFIX_BITS];
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
        finds->found.compared += count;
        for (uint32_t i = 0; i < count && least <= radius; i++) {
            if (distances[i] > radius) continue;
            nigh__chunk_hit_add(batch, block, at + i, query, distances[i], finds);
            if (nigh__chunk_enough(batch, finds)) return;
        }
        at += count;
    }
}

static void compare_few(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t begin,
                        uint32_t end, uint32_t query, struct nigh__chunk_finds *finds) {
    const uint64_t word = batch->queries[query];
    finds->found.compared += end - begin;
    for (size_t at = begin;; at++) {
        at = nigh__next_near(block->rows, at, end, word, batch->options.radius);
        if (at == end) return;
        nigh__chunk_hit_add(batch, block, (uint32_t)at, query, (uint32_t)__builtin_popcountll(block->rows[at] ^ word),
                            finds);
        if (nigh__chunk_enough(batch, finds)) return;
    }
}

/* Where a look-up ends that would go from `row` to `after`; those before in the chunk count too. */
static uint32_t within_budget(const struct nigh__chunk_batch *batch, uint64_t prefix, uint32_t row, uint32_t after,
                              bool *truncated) {
    const uint64_t before = row == 0 && prefix == batch->prefix ? batch->carried : 0;
    const uint64_t budget = batch->options.bucket_budget;
    const uint64_t left = before < budget ? budget - before : 0;
    *truncated = after - row > left && before <= budget; /* else it was, in a block before */
    return after - row > left ? row + (uint32_t)left : after;
}

/* All keys of a prefix, up to `key_end`, with rows of it.  Returns the key after them. */
static size_t prefix_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, size_t key,
                            size_t key_end, uint32_t row, uint32_t after, struct nigh__chunk_finds *finds) {
    const uint64_t prefix = batch->keys[key] >> 32;
    bool truncated;
    const uint32_t end = within_budget(batch, prefix, row, after, &truncated);
    if (nigh__chunk_crowd_is(batch, prefix, end - row)) {
        const size_t behind = leap(batch->keys, key, key_end, (prefix + 1) << 32);
        nigh__chunk_crowd_search(batch, block, &(struct nigh__chunk_crowd){key, behind, row, end, truncated}, finds);
        return behind;
    }
    for (; key < key_end && batch->keys[key] >> 32 == prefix && !finds->failed; key++) {
        const uint32_t query = (uint32_t)batch->keys[key];
        if (nigh__chunk_settled(batch, query, row)) continue;
        finds->found.probes++;
        finds->found.truncated += truncated;
        if (end - row <= SMALL_RANGE)
            compare_few(batch, block, row, end, query, finds);
        else
            compare_many(batch, block, row, end, query, finds);
    }
    return key;
}

/* The first row behind those of a prefix. */
static uint32_t prefix_end(const struct nigh__chunk_block *block, uint32_t row, uint64_t prefix, uint32_t shift) {
    const uint64_t last = prefix << shift | ((UINT64_C(1) << shift) - 1);
    return last == UINT64_MAX ? block->count : (uint32_t)leap(block->rows, row, block->count, last + 1);
}

/* Keys from `key` to before `key_end`. */
static void psm_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, size_t key,
                       size_t key_end, struct nigh__chunk_finds *finds) {
    const uint32_t shift = 64 - batch->options.prefix_bits;
    uint32_t row = 0;
    while (key < key_end && !finds->failed) {
        const uint64_t prefix = batch->keys[key] >> 32;
        row = (uint32_t)leap(block->rows, row, block->count, prefix << shift);
        if (row == block->count) return;
        const uint64_t row_prefix = block->rows[row] >> shift;
        if (prefix != row_prefix) {
            key = leap(batch->keys, key, key_end, row_prefix << 32);
            continue;
        }
        const uint32_t after = prefix_end(block, row, prefix, shift);
        key = prefix_search(batch, block, key, key_end, row, after, finds);
        row = after;
    }
}

/* ------------------------------------------------------------- searching: tables, scan */

static nigh_status tables_init(struct nigh__chunk_batch *batch, nigh_error *error) {
    const nigh_batch_options *options = &batch->options;
    nigh_status status = nigh__chunk_deal_new(batch, error);
    if (status != NIGH_OK) return status;
    const struct nigh__lookup_rows rows = {batch->dealt == NULL ? batch->queries : batch->dealt, batch->count, 1, 64};
    return nigh__tables_new(batch->context, &rows, options->blocks, options->leading,
                            nigh__threads_resolve(options->threads), NULL, &batch->tables, error);
}

/* Row, query and distance as one word each, sorted: several tables find the same. */
static const uint64_t *hits_sort(const struct nigh__chunk_batch *batch, struct nigh__chunk_finds *finds) {
    const struct nigh__hit *hits = finds->found.hits.data;
    const size_t count = finds->found.hits.count;
    finds->words.count = 0;
    uint64_t *words = nigh__array_add(batch->context, &finds->words, 2 * count);
    if (words == NULL) return NULL;
    for (size_t i = 0; i < count; i++)
        words[i] = (uint64_t)hits[i].query << 40 | (uint64_t)hits[i].row << 8 | hits[i].distance;
    return nigh__words_sort(words, words + count, count, 1, 1, 1);
}

static void piece_take_all(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t begin,
                           struct nigh__chunk_finds *finds) {
    const uint64_t *words = hits_sort(batch, finds);
    finds->failed = words == NULL;
    for (size_t i = 0; i < finds->found.hits.count && !finds->failed; i++) {
        if (i > 0 && words[i] == words[i - 1]) continue;
        nigh__chunk_hit_add(batch, block, begin + (uint32_t)(words[i] >> 40), (uint32_t)(words[i] >> 8),
                            (uint32_t)(words[i] & 0xff), finds);
    }
}

static void piece_take_best(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                            uint32_t begin, struct nigh__chunk_finds *finds) {
    const struct nigh__hit *hits = finds->found.hits.data;
    for (size_t i = 0; i < finds->found.hits.count && !finds->failed; i++) {
        if (batch->answered[hits[i].row] == 0)
            nigh__chunk_hit_add(batch, block, begin + hits[i].query, hits[i].row, hits[i].distance, finds);
    }
}

/* The rows are the ones that are looked up here, and queries are found. */
static void piece_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t begin,
                         uint32_t end, struct nigh__chunk_finds *finds) {
    uint64_t dealt[PIECE_ROWS];
    if (batch->deal != NULL) nigh__chunk_deal(batch->deal, block->rows + begin, end - begin, dealt);
    const struct nigh__lookup lookup = {.queries = batch->deal == NULL ? block->rows + begin : dealt,
                                        .count = end - begin,
                                        .radius = batch->options.radius,
                                        .budget = nigh__chunk_crowd_budget(batch, block, batch->count)};
    finds->found.hits.count = 0;
    finds->failed = nigh__tables_find(batch->tables, &lookup, &finds->found, NULL) != NIGH_OK;
    if (finds->found.hits.count == 0 || finds->failed) return;
    if (batch->options.mode == NIGH_FIND_ALL)
        piece_take_all(batch, block, begin, finds);
    else
        piece_take_best(batch, block, begin, finds);
}

static void tables_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t begin,
                          uint32_t end, struct nigh__chunk_finds *finds) {
    uint32_t rows = PIECE_ROWS;
    for (uint32_t at = begin; at < end && !finds->failed; at += rows) {
        rows = finds->found.hits.count < MANY_HITS ? PIECE_ROWS : CROWD_ROWS;
        piece_search(batch, block, at, end - at < rows ? end : at + rows, finds);
    }
}

/* Queries from `begin` to before `end`. */
static void scan_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t begin,
                        uint32_t end, struct nigh__chunk_finds *finds) {
    const bool any = batch->options.mode == NIGH_FIND_ANY;
    for (uint32_t at = 0; at < block->count; at += TILE_ROWS) {
        const uint32_t tile = block->count - at < TILE_ROWS ? block->count : at + TILE_ROWS;
        for (uint32_t query = begin; query < end && !finds->failed; query++) {
            const bool found =
                any && atomic_load_explicit(&batch->best[query], memory_order_relaxed) != NIGH__CHUNK_NO_BEST;
            if (batch->answered[query] == 0 && !found) compare_many(batch, block, at, tile, query, finds);
        }
    }
}

/* ------------------------------------------------------------------------- the batch */

nigh_status nigh__chunk_batch_init(struct nigh__chunk_batch *batch, nigh_error *error) {
    batch->given = batch->count;
    batch->budget_default = batch->options.bucket_budget == 0;
    if (batch->budget_default) batch->options.bucket_budget = BUCKET_BUDGET;
    if (batch->count == 0) return NIGH_OK;
    nigh_status status = queries_init(batch, error);
    if (status != NIGH_OK) return status;
    if (batch->options.method == NIGH_FINDER_PSM) return psm_init(batch, error);
    if (batch->options.method == NIGH_FINDER_TABLES) return tables_init(batch, error);
    return NIGH_OK;
}

void nigh__chunk_batch_release(struct nigh__chunk_batch *batch) {
    nigh__tables_free(batch->context, batch->tables);
    nigh__free(batch->context, batch->deal);
    nigh__free(batch->context, batch->dealt);
    nigh__distinct_release(batch->context, &batch->distinct);
    nigh__free(batch->context, batch->of_given);
    nigh__free(batch->context, batch->words);
    nigh__free(batch->context, batch->best);
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

void nigh__chunk_batch_carry(struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block) {
    const uint64_t before = batch->carried;
    batch->carried = 0;
    if (batch->options.method != NIGH_FINDER_PSM || block->ends_chunk) return;
    const uint32_t shift = 64 - batch->options.prefix_bits;
    const uint64_t prefix = block->rows[block->count - 1] >> shift;
    const uint32_t begin = (uint32_t)leap(block->rows, 0, block->count, prefix << shift);
    batch->carried = block->count - begin + (begin == 0 && prefix == batch->prefix ? before : 0);
    batch->prefix = prefix;
}

/* Which of `count` things a part of a block's work begins with. */
static size_t share_of(size_t count, uint32_t part, uint32_t parts) {
    return count / parts * part + (size_t)((uint64_t)(count % parts) * part / parts);
}

void nigh__chunk_batch_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                              uint32_t begin, uint32_t end, struct nigh__chunk_finds *finds) {
    const uint32_t parts = block->count;
    if (batch->options.method == NIGH_FINDER_PSM)
        psm_search(batch, block, share_of(batch->key_count, begin, parts), share_of(batch->key_count, end, parts),
                   finds);
    else if (batch->options.method == NIGH_FINDER_TABLES)
        tables_search(batch, block, begin, end, finds);
    else
        scan_search(batch, block, (uint32_t)share_of(batch->count, begin, parts),
                    (uint32_t)share_of(batch->count, end, parts), finds);
}
