/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what queries find. Blocks are taken 512 at a time, as rows of bits that stay in the
 * cache, and all queries are run on these before the next blocks:
 *
 *     rows[p]   8 words: which of the 512 filters have position p
 *     query     the AND of the rows of its words
 *
 * The truth is found in the same way, by a filter that does not err: each queried word has a
 * position of its own, and other words have none. No block is left out by any filter, so what is
 * found and not true is false. Threads take tiles, and counts are whole numbers, so that nothing
 * depends on the threads.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "eval/filters.h"

#define TILE 512u /* blocks */
#define WORDS (TILE / 64)

const uint32_t nigh__query_lengths[NIGH__QUERY_LENGTHS] = {1, 2, 3, 5};

struct asking {
    const struct nigh__filter_queries *queries;
    const struct nigh__blocks *blocks;
    const struct nigh__positions *positions;
    uint32_t tiles;
    uint64_t *rows;   /* bits * WORDS for each thread */
    uint64_t *counts; /* of each query, for each thread */
    double *seconds;  /* of making rows, for each thread */
    struct nigh__parallel parallel;
};

/* --------------------------------------------------------------- asking -- */

static uint32_t tile_size(const struct asking *asking, uint32_t tile) {
    return (uint32_t)nigh__smaller(TILE, asking->blocks->blocks - (size_t)tile * TILE);
}

static void make_rows(const struct asking *asking, uint32_t tile, uint64_t *rows) {
    const struct nigh__blocks *blocks = asking->blocks;
    const uint32_t size = tile_size(asking, tile);
    memset(rows, 0, (size_t)asking->positions->shape.bits * WORDS * sizeof *rows);
    for (uint32_t b = 0; b < size; b++) {
        const uint64_t bit = UINT64_C(1) << b % 64;
        const size_t block = (size_t)tile * TILE + b;
        for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++) {
            const uint32_t term = blocks->block_terms[i];
            const uint32_t *positions = nigh__positions_of(asking->positions, term);
            const uint32_t count = nigh__positions_count(asking->positions, term);
            for (uint32_t j = 0; j < count; j++) rows[(size_t)positions[j] * WORDS + b / 64] |= bit;
        }
    }
}

/* All blocks of the tile, before anything is asked. */
static void find_all(uint32_t size, uint64_t *found) {
    for (uint32_t w = 0; w < WORDS; w++) {
        const uint32_t before = w * 64;
        found[w] = size <= before ? 0 : size >= before + 64 ? UINT64_MAX : (UINT64_C(1) << (size - before)) - 1;
    }
}

/* A term of one block is found there, and nowhere else. */
static void narrow_to(uint32_t block, uint32_t tile, uint64_t *found) {
    const bool here = block / TILE == tile;
    for (uint32_t w = 0; w < WORDS; w++) found[w] &= here && block % TILE / 64 == w ? UINT64_C(1) << block % 64 : 0;
}

/* Whether any is left. */
static bool narrow(const struct asking *asking, uint32_t tile, const uint64_t *rows, uint32_t term, uint64_t *found) {
    const uint32_t *positions = nigh__positions_of(asking->positions, term);
    const uint32_t count = nigh__positions_count(asking->positions, term);
    uint64_t any = 1;
    if (count == 0) narrow_to(positions[0], tile, found);
    for (uint32_t j = 0; j < count && any != 0; j++) {
        const uint64_t *row = rows + (size_t)positions[j] * WORDS;
        any = 0;
        for (uint32_t w = 0; w < WORDS; w++) any |= found[w] &= row[w];
    }
    return any != 0;
}

static uint32_t ask_query(const struct asking *asking, uint32_t tile, const uint64_t *rows, const uint32_t *terms,
                          uint32_t length) {
    uint64_t found[WORDS];
    uint32_t count = 0;
    find_all(tile_size(asking, tile), found);
    for (uint32_t i = 0; i < length; i++)
        if (!narrow(asking, tile, rows, terms[i], found)) return 0;
    for (uint32_t w = 0; w < WORDS; w++) count += (uint32_t)__builtin_popcountll(found[w]);
    return count;
}

static void ask_tile(const struct asking *asking, uint32_t tile, const uint64_t *rows, uint64_t *counts) {
    const uint32_t *terms = asking->queries->terms;
    for (uint32_t l = 0; l < NIGH__QUERY_LENGTHS; l++) {
        for (uint32_t q = 0; q < asking->queries->count[l]; q++) {
            *counts++ += ask_query(asking, tile, rows, terms, nigh__query_lengths[l]);
            terms += nigh__query_lengths[l];
        }
    }
}

static nigh_status ask_tiles(void *user, const struct nigh__items *items) {
    struct asking *asking = user;
    uint64_t *rows = asking->rows + (size_t)items->thread * asking->positions->shape.bits * WORDS;
    uint64_t *counts = asking->counts + (size_t)items->thread * asking->queries->total;
    for (uint64_t tile = items->first; tile < items->end; tile++) {
        const double began = nigh__clock();
        make_rows(asking, (uint32_t)tile, rows);
        asking->seconds[items->thread] += nigh__clock() - began;
        ask_tile(asking, (uint32_t)tile, rows, counts);
        if (!nigh__parallel_did(&asking->parallel, items->thread, 1)) break;
    }
    return NIGH_OK;
}

/* How many blocks each query finds, into queries->found; *seconds as if threads had shared the work evenly. */
static nigh_status ask(struct nigh__filter_queries *queries, const struct nigh__blocks *blocks,
                       const struct nigh__positions *positions, uint32_t threads, struct nigh__progress *progress,
                       double *seconds, nigh_error *error) {
    const nigh_context *context = blocks->context;
    struct asking asking = {.queries = queries, .blocks = blocks, .positions = positions};
    asking.tiles = (uint32_t)(((size_t)blocks->blocks + TILE - 1) / TILE);
    threads = (uint32_t)nigh__smaller(nigh__threads_resolve(threads), asking.tiles);
    asking.parallel = (struct nigh__parallel){.threads = threads, .progress = progress};
    asking.rows = nigh__alloc_large(context, (size_t)threads * positions->shape.bits * WORDS, sizeof *asking.rows);
    asking.counts = nigh__alloc_zero(context, (size_t)threads * queries->total, sizeof *asking.counts);
    asking.seconds = nigh__alloc_zero(context, threads, sizeof *asking.seconds);
    nigh_status status = NIGH_OK;
    *seconds = 0;
    if (asking.rows == NULL || asking.counts == NULL || asking.seconds == NULL) {
        status = nigh__no_memory(error, "to ask filters");
    } else {
        nigh__parallel_stage(&asking.parallel, "asking", asking.tiles);
        status = nigh__parallel_run(&asking.parallel, asking.tiles, 1, ask_tiles, &asking, error);
        memset(queries->found, 0, queries->total * sizeof *queries->found);
        for (uint32_t thread = 0; thread < threads; thread++) {
            *seconds += asking.seconds[thread] / threads;
            for (uint32_t q = 0; q < queries->total; q++)
                queries->found[q] += asking.counts[(size_t)thread * queries->total + q];
        }
    }
    nigh__free(context, asking.rows);
    nigh__free(context, asking.counts);
    nigh__free(context, asking.seconds);
    return status;
}

/* By how often the two words of a query come together. */
static void judge_pairs(const struct nigh__filter_queries *queries, const struct nigh__blocks *blocks,
                        nigh_eval_filters_row *row) {
    const uint32_t *terms = queries->terms + (size_t)queries->count[0] * nigh__query_lengths[0];
    const uint32_t first = queries->count[0];
    for (uint32_t q = first; q < first + queries->count[1]; q++, terms += nigh__query_lengths[1]) {
        const uint64_t both = queries->true_blocks[q];
        const double either = (double)blocks->frequencies[terms[0]] + blocks->frequencies[terms[1]] - (double)both;
        const double share = (double)both / either;
        const size_t class = share < .001 ? 0 : share < .01 ? 1 : share < .1 ? 2 : 3;
        if (both == blocks->blocks) continue; /* nothing to err about */
        row->queries_by_pair[class]++;
        row->error_by_pair[class] += (double)(queries->found[q] - both) / (double)(blocks->blocks - both);
    }
    for (size_t i = 0; i < 4; i++)
        if (row->queries_by_pair[i] > 0) row->error_by_pair[i] /= row->queries_by_pair[i];
}

nigh_status nigh__filter_queries_ask(struct nigh__filter_queries *queries, const struct nigh__blocks *blocks,
                                     const struct nigh__positions *positions, uint32_t threads,
                                     struct nigh__progress *progress, nigh_eval_filters_row *row, double *seconds,
                                     nigh_error *error) {
    nigh_status status = ask(queries, blocks, positions, threads, progress, seconds, error);
    if (status != NIGH_OK) return status;
    uint32_t q = 0;
    for (uint32_t l = 0; l < NIGH__QUERY_LENGTHS; l++) {
        const uint32_t count = queries->count[l];
        uint64_t wrong = 0;
        double precision = 0;
        for (const uint32_t end = q + count; q < end; q++) {
            wrong += queries->found[q] - queries->true_blocks[q];
            precision += (double)queries->true_blocks[q] / (double)queries->found[q];
        }
        row->false_blocks[l] = count == 0 ? -1 : (double)wrong / count;
        row->precision[l] = count == 0 ? -1 : precision / count;
    }
    judge_pairs(queries, blocks, row);
    return NIGH_OK;
}

/* -------------------------------------------------------------- drawing -- */

static bool among(const uint32_t *terms, uint32_t count, uint32_t term) {
    for (uint32_t i = 0; i < count; i++)
        if (terms[i] == term) return true;
    return false;
}

/* Different words of a block that has as many. */
static void draw_query(const struct nigh__blocks *blocks, uint32_t block, uint32_t length, struct nigh__rng *rng,
                       uint32_t *out) {
    const uint64_t begin = blocks->begins[block];
    const uint64_t size = blocks->begins[block + 1] - begin;
    for (uint32_t i = 0; i < length;) {
        const uint32_t term = blocks->block_terms[begin + nigh__rng_next(rng) % size];
        if (!among(out, i, term)) out[i++] = term;
    }
}

/* From each block that is long enough as likely as from any other. */
static uint32_t *draw_length(struct nigh__filter_queries *queries, const struct nigh__blocks *blocks, uint32_t l,
                             uint32_t count, uint64_t seed, uint32_t *eligible, uint32_t *out) {
    const uint32_t length = nigh__query_lengths[l];
    struct nigh__rng rng = {.state = nigh__mix(nigh__mix(seed) + length)};
    uint32_t choices = 0;
    for (uint32_t block = 0; block < blocks->blocks; block++)
        if (blocks->begins[block + 1] - blocks->begins[block] >= length) eligible[choices++] = block;
    queries->count[l] = choices == 0 ? 0 : count;
    queries->total += queries->count[l];
    for (uint32_t q = 0; q < queries->count[l]; q++, out += length)
        draw_query(blocks, eligible[nigh__rng_next(&rng) % choices], length, &rng, out);
    return out;
}

static nigh_status draw_all(struct nigh__filter_queries *queries, const struct nigh__blocks *blocks, uint32_t count,
                            uint64_t seed, size_t *words, nigh_error *error) {
    uint32_t *eligible = nigh__alloc_large(blocks->context, blocks->blocks, sizeof *eligible);
    if (eligible == NULL) return nigh__no_memory(error, "to ask filters");
    uint32_t *end = queries->terms;
    for (uint32_t l = 0; l < NIGH__QUERY_LENGTHS; l++)
        end = draw_length(queries, blocks, l, count, seed, eligible, end);
    nigh__free(blocks->context, eligible);
    *words = (size_t)(end - queries->terms);
    return NIGH_OK;
}

/* The filter that does not err. */
static nigh_status find_truth(struct nigh__filter_queries *queries, const struct nigh__blocks *blocks, size_t words,
                              uint32_t threads, struct nigh__progress *progress, nigh_error *error) {
    const nigh_context *context = blocks->context;
    struct nigh__positions exact = {.context = context, .terms = blocks->terms, .shape = {.hashes = 1}};
    double seconds;
    exact.kinds = nigh__alloc(context, blocks->terms, sizeof *exact.kinds);
    exact.positions = nigh__alloc_table(context, blocks->terms, sizeof *exact.positions);
    nigh_status status = NIGH_OK;
    if (exact.kinds == NULL || exact.positions == NULL) {
        status = nigh__no_memory(error, "to ask filters");
    } else {
        memset(exact.kinds, NIGH__TERM_SINGLE, blocks->terms);
        for (size_t i = 0; i < words; i++) {
            const uint32_t term = queries->terms[i];
            if (exact.kinds[term] == NIGH__TERM_POSITIONS) continue;
            exact.kinds[term] = NIGH__TERM_POSITIONS;
            exact.positions[term] = exact.shape.bits++;
        }
        status = ask(queries, blocks, &exact, threads, progress, &seconds, error);
        memcpy(queries->true_blocks, queries->found, queries->total * sizeof *queries->found);
    }
    nigh__free(context, exact.kinds);
    nigh__free(context, exact.positions);
    return status;
}

nigh_status nigh__filter_queries_draw(const struct nigh__blocks *blocks, uint32_t count, uint64_t seed,
                                      uint32_t threads, struct nigh__progress *progress,
                                      struct nigh__filter_queries *out, nigh_error *error) {
    *out = (struct nigh__filter_queries){.context = blocks->context};
    size_t most_words = 0;
    size_t words = 0;
    for (uint32_t l = 0; l < NIGH__QUERY_LENGTHS; l++) most_words += (size_t)count * nigh__query_lengths[l];
    out->terms = nigh__alloc_large(blocks->context, most_words, sizeof *out->terms);
    out->true_blocks = nigh__alloc(blocks->context, (size_t)count * NIGH__QUERY_LENGTHS, sizeof *out->true_blocks);
    out->found = nigh__alloc(blocks->context, (size_t)count * NIGH__QUERY_LENGTHS, sizeof *out->found);
    if (out->terms == NULL || out->true_blocks == NULL || out->found == NULL)
        return nigh__no_memory(error, "to ask filters");
    nigh_status status = draw_all(out, blocks, count, seed, &words, error);
    return status == NIGH_OK ? find_truth(out, blocks, words, threads, progress, error) : status;
}

void nigh__filter_queries_release(struct nigh__filter_queries *queries) {
    if (queries->context == NULL) return;
    nigh__free(queries->context, queries->terms);
    nigh__free(queries->context, queries->true_blocks);
    nigh__free(queries->context, queries->found);
}
