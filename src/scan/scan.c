/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The exact scan, made so that memory is the limit and is read once.
 *
 *     rows    |=========|=========|=========|=========|===     chunks: a thread
 *              \                                                takes the next
 *               |--|--|--|--|--|                                blocks: one call
 *                 ^                                             of the kernel
 *                 all queries of the batch, while the block is in the cache
 *
 * The kernel (kernel/hamming.h) answers a block with hits: the rows that are
 * nearer than the query's limit.  For a search of the k nearest that is the
 * k-th distance so far, so that after the first few thousand rows a block
 * hardly ever has any, and keeping the best costs nothing.
 *
 * Ties.  A thread takes chunks in ascending order, so rows come to its
 * candidates ascending, and a row at the limit can be dropped: k rows at most
 * as far and with smaller numbers are there.  Whatever rows a thread happened
 * to get, its k best contain those of the k best of all that it has seen, and
 * the union of all threads' candidates, sorted and cut at k, is the answer.  So
 * the threads may share the rows as they like: the result is the same.
 *
 * The rows are mapped from a file that someone may cut short, so the kernel
 * runs inside a guard.  Inside it nothing is allocated: hits go to a buffer of
 * fixed size, and only outside are they added to the candidates.
 *
 * Blocks begin small and double, because the limits of a block are those from
 * before it: a first block of thousands of rows would make as many hits.
 */
#include "scan/scan.h"

#include <string.h>

#include "base/assert.h"
#include "base/guard.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/threads.h"
#include "kernel/weighted.h"
#include "scan/cost_model.h"

#define HITS 32768u            /* a thread's buffer, 384 KB, hardly touched */
#define BLOCK_BYTES 524288u    /* long enough for the call not to matter, short enough to stop soon */
#define BLOCK_STEP 64u         /* blocks are multiples of this many rows */
#define CHUNKS_A_THREAD 16u    /* for threads that are not equally fast */
#define WORDS_A_THREAD 1048576 /* below this many, another thread costs more than it saves */

struct worker {
    struct nigh__hit *hits;
    uint64_t *gathered; /* rows that are allowed, of a block with few; NULL where all are */
    uint32_t *numbers;  /* of these, in the block */
    uint32_t block;     /* rows of the next one */
    struct nigh__nearest nearest[NIGH__BATCH_QUERIES];
};

struct job {
    const struct nigh__scan *scan;
    struct worker *workers;
    uint32_t block_rows; /* at most */
    struct nigh__parallel parallel;
};

static size_t call_kernel(const struct nigh__scan *scan, const uint64_t *rows, size_t count, const uint32_t *limits,
                          struct nigh__hit *hits) {
    const struct nigh__hamming *hamming = scan->context->hamming;
    if (scan->planes.count == 0)
        return hamming->batch(scan->queries, scan->query_count, rows, count, scan->words, limits, hits);
    return nigh__weighted_choose(hamming->name)
        ->batch(scan->queries, &scan->planes, scan->query_count, rows, count, scan->words, limits, hits);
}

/* -------------------------------------------------------- rows that are allowed */

/* Up to 64 bits of a bitmap from row `at` on, and none from `end` on. */
static uint64_t bits_at(const uint64_t *bitmap, uint64_t at, uint64_t end) {
    const uint64_t word = bitmap[at / 64] >> at % 64;
    const uint64_t here = 64 - at % 64;
    return end - at < here ? word & ((UINT64_C(1) << (end - at)) - 1) : word;
}

/* The numbers of the rows of a block that are allowed; how many. */
static size_t list_allowed(const struct nigh__scan *scan, uint64_t first, size_t count, uint32_t *numbers) {
    size_t some = 0;
    for (uint64_t at = first; at < first + count; at = (at | 63) + 1)
        for (uint64_t bits = bits_at(scan->allowed, at, first + count); bits != 0; bits &= bits - 1)
            numbers[some++] = (uint32_t)(at - first) + (uint32_t)__builtin_ctzll(bits);
    return some;
}

static bool is_allowed(const struct nigh__scan *scan, uint32_t row) {
    return scan->allowed == NULL || (scan->allowed[row / 64] >> row % 64 & 1) != 0;
}

/* A block on its way through the kernel. */
struct block {
    uint64_t first;
    size_t count;
    bool few;    /* rows are allowed, so that these are copied together */
    size_t some; /* of them */
};

/* Which way costs less depends on nothing but the rows, and both give the same. */
static void plan_block(const struct nigh__scan *scan, const struct worker *worker, struct block *block) {
    block->few = false;
    if (scan->allowed == NULL) return;
    block->some = list_allowed(scan, block->first, block->count, worker->numbers);
    block->few =
        nigh__gather_cost(scan->words, (uint32_t)block->some) < nigh__scan_cost(scan->words, (uint32_t)block->count);
}

static size_t compare_block(const struct nigh__scan *scan, const struct block *block, const struct worker *worker,
                            const uint32_t *limits) {
    const uint64_t *rows = scan->rows + block->first * scan->words;
    if (!block->few) return call_kernel(scan, rows, block->count, limits, worker->hits);
    for (size_t i = 0; i < block->some; i++)
        memcpy(worker->gathered + i * scan->words, rows + (size_t)worker->numbers[i] * scan->words,
               scan->words * sizeof *rows);
    return block->some == 0 ? 0 : call_kernel(scan, worker->gathered, block->some, limits, worker->hits);
}

/* One call of the kernel.  False where the file was cut short under it. */
static bool read_block(const struct nigh__scan *scan, const struct block *block, const struct worker *worker,
                       const uint32_t *limits, size_t *found) {
    struct nigh__guard guard;
    if (scan->map_length == 0) {
        *found = compare_block(scan, block, worker, limits);
        return true;
    }
    nigh__guard_enter(&guard, scan->map, scan->map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    *found = compare_block(scan, block, worker, limits);
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status scan_block(const struct nigh__scan *scan, struct worker *worker, uint64_t first, size_t count) {
    uint32_t limits[NIGH__BATCH_QUERIES];
    struct block block = {.first = first, .count = count};
    for (size_t q = 0; q < scan->query_count; q++) limits[q] = worker->nearest[q].limit;
    size_t found = 0;
    plan_block(scan, worker, &block);
    if (!read_block(scan, &block, worker, limits, &found)) return NIGH_EIO;
    NIGH__ASSERT(found <= count * scan->query_count);
    for (size_t h = 0; h < found; h++) {
        const struct nigh__hit *hit = &worker->hits[h];
        const uint32_t row = (uint32_t)first + (block.few ? worker->numbers[hit->row] : hit->row);
        NIGH__ASSERT(hit->query < scan->query_count && hit->row < count && row < scan->count);
        if (is_allowed(scan, row) &&
            !nigh__nearest_add(scan->context, &worker->nearest[hit->query], hit->distance, row))
            return NIGH_ENOMEM;
    }
    return NIGH_OK;
}

static nigh_status scan_rows(void *user, const struct nigh__items *items) {
    struct job *job = user;
    struct worker *worker = &job->workers[items->thread];
    nigh_status status = NIGH_OK;
    for (uint64_t row = items->first, rows; row < items->end && status == NIGH_OK; row += rows) {
        rows = items->end - row < worker->block ? items->end - row : worker->block;
        status = scan_block(job->scan, worker, row, (size_t)rows);
        if (!nigh__parallel_did(&job->parallel, items->thread, rows * job->scan->query_count)) break;
        worker->block = worker->block * 2 < job->block_rows ? worker->block * 2 : job->block_rows;
    }
    return status;
}

/* ------------------------------------------------------------------- planning */

static uint32_t block_rows(const struct nigh__scan *scan) {
    uint32_t by_hits = HITS / (uint32_t)scan->query_count;
    uint32_t by_bytes = BLOCK_BYTES / (scan->words * (uint32_t)sizeof(uint64_t));
    uint32_t rows = by_hits < by_bytes ? by_hits : by_bytes;
    return rows < BLOCK_STEP ? BLOCK_STEP : rows - rows % BLOCK_STEP;
}

static uint32_t chunk_rows(const struct nigh__scan *scan, uint32_t threads, uint32_t block) {
    if (threads <= 1) return scan->count;
    uint32_t rows = scan->count / (threads * CHUNKS_A_THREAD);
    return rows < block ? block : rows - rows % BLOCK_STEP;
}

static uint32_t useful_threads(const struct nigh__scan *scan) {
    uint64_t words = (uint64_t)scan->count * scan->words * scan->query_count;
    uint64_t most = words / WORDS_A_THREAD + 1;
    return most < scan->threads ? (uint32_t)most : scan->threads;
}

/* -------------------------------------------------------------------- merging */

/* The candidates of all threads for one query, sorted and cut. */
static bool merge(const struct nigh__scan *scan, const struct worker *workers, uint32_t threads, size_t query,
                  struct nigh__array *found) {
    for (uint32_t t = 0; t < threads; t++) {
        const struct nigh__array *keys = &workers[t].nearest[query].keys;
        if (keys->count == 0) continue;
        uint64_t *slot = nigh__array_add(scan->context, found, keys->count);
        if (slot == NULL) return false;
        memcpy(slot, keys->data, keys->count * sizeof *slot);
    }
    if (found->count > 1) nigh__keys_sort(scan->context, found->data, found->count);
    if (scan->k != NIGH_ALL && found->count > scan->k) found->count = scan->k;
    return true;
}

static void workers_free(const struct nigh__scan *scan, struct worker *workers, uint32_t threads) {
    if (workers == NULL) return;
    for (uint32_t t = 0; t < threads; t++) {
        for (size_t q = 0; q < scan->query_count; q++) nigh__nearest_release(scan->context, &workers[t].nearest[q]);
        nigh__free(scan->context, workers[t].hits);
        nigh__free(scan->context, workers[t].gathered);
        nigh__free(scan->context, workers[t].numbers);
    }
    nigh__free(scan->context, workers);
}

/* Room for the rows of a block that are allowed. */
static bool room_to_gather(const struct nigh__scan *scan, struct worker *worker, uint32_t block) {
    if (scan->allowed == NULL) return true;
    worker->numbers = nigh__alloc(scan->context, block, sizeof *worker->numbers);
    worker->gathered =
        nigh__alloc_aligned(scan->context, (size_t)block * scan->words, sizeof *worker->gathered, NIGH__CACHE_LINE);
    return worker->numbers != NULL && worker->gathered != NULL;
}

static struct worker *workers_new(const struct nigh__scan *scan, uint32_t threads, uint32_t block) {
    struct worker *workers = nigh__alloc_zero(scan->context, threads, sizeof *workers);
    if (workers == NULL) return NULL;
    bool complete = true;
    for (uint32_t t = 0; t < threads; t++) {
        /* One more, which a kernel may write before it knows that the row is too far. */
        workers[t].hits = nigh__alloc(scan->context, (size_t)block * scan->query_count + 1, sizeof *workers[t].hits);
        if (workers[t].hits == NULL || !room_to_gather(scan, &workers[t], block)) complete = false;
        workers[t].block = BLOCK_STEP;
        for (size_t q = 0; q < scan->query_count; q++)
            nigh__nearest_init(&workers[t].nearest[q], scan->k, scan->limits[q]);
    }
    if (complete) return workers;
    workers_free(scan, workers, threads);
    return NULL;
}

nigh_status nigh__scan(const struct nigh__scan *scan, struct nigh__array *found, nigh_error *error) {
    if (scan->count == 0 || scan->query_count == 0) return NIGH_OK;
    NIGH__ASSERT(scan->query_count <= NIGH__BATCH_QUERIES && scan->words > 0 && scan->threads > 0);
    const uint32_t threads = useful_threads(scan);
    const uint32_t block = block_rows(scan);
    struct job job = {.scan = scan,
                      .block_rows = block,
                      .parallel = {.threads = threads,
                                   .progress = scan->progress,
                                   .stage = "searching",
                                   .total = scan->progress_total,
                                   .done = scan->progress_done}};
    job.workers = workers_new(scan, threads, block);
    if (job.workers == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory to search with %u threads", threads);
    nigh_status status =
        nigh__parallel_run(&job.parallel, scan->count, chunk_rows(scan, threads, block), scan_rows, &job, NULL);
    for (size_t q = 0; status == NIGH_OK && q < scan->query_count; q++) {
        if (!merge(scan, job.workers, threads, q, &found[q])) status = NIGH_ENOMEM;
    }
    workers_free(scan, job.workers, threads);
    if (status == NIGH_ENOMEM) return nigh__fail(error, status, "no memory for what the search found");
    if (status == NIGH_ECANCELLED) return nigh__progress_cancelled(error);
    return status;
}
