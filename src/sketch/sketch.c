/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The sketch scan, in two passes shared by threads: sketches by blocks of rows, each for all
 * queries of the batch while it is in the cache; then whole rows by queries.
 *
 * Keeping the M best.  A heap would cost more than the scan, for M is in the thousands.
 * Sketch distances are small numbers, so they are counted instead: a pool holds
 *
 *     counts[d]    rows met at distance d            cut    the farthest that still matters
 *     kept         the sum up to the cut             keys   of rows, in the order met
 *
 * and once there are M nearer than the cut, the cut goes down.  A row at the cut is taken
 * only while there are fewer than M, later ones have greater numbers and lose the tie; so
 * what a pool holds up to its cut has the M best of all rows its thread has met, and `kept`
 * never reaches 2 M.  Keys beyond the cut are swept out once in a while.  The kernel is
 * given the cut as its limit, so that after the first blocks few rows come back.
 *
 * From pools to candidates: the counts of all threads are added, which says where the M-th
 * lies; rows nearer are taken, and of those as far as it the first, by number.  Taken in
 * the order of rows, they are also compared in that order, which memory likes.
 */
#include "sketch/sketch.h"

#include <string.h>

#include "base/assert.h"
#include "base/guard.h"
#include "base/parallel.h"
#include "base/status.h"
#include "collection/selection.h"
#include "sketch/sketches.h"

#define HITS 32768u /* a thread's buffer */
#define BLOCK_STEP 64u
#define FIRST_BLOCK 256u
#define CHUNKS_A_THREAD 16u
#define WORDS_A_THREAD 1048576u /* below this many, another thread costs more than it saves */
#define ROWS_AHEAD 16u
#define ROWS_AT_ONCE 512u
#define KEPT_KEYS(candidates) (4 * (uint64_t)(candidates) + SPARE_KEYS) /* a pool is swept before it has more */
#define SPARE_KEYS 1024u
#define MAX_KEYS (UINT64_C(1) << 23) /* of all pools at a time, where there is more than one query: 64 MB */
#define MAX_DISTANCE (64u * NIGH__SKETCH_WORDS)

struct pool {
    struct nigh__array keys; /* sketch distance and row */
    uint32_t counts[MAX_DISTANCE + 1];
    uint32_t cut;
    uint64_t kept;
    bool closed; /* nothing can be near enough */
};

struct worker {
    struct nigh__hit *hits;
    struct pool *pools; /* of each query */
    struct nigh__array chosen;
    uint32_t block; /* rows of the next one */
    uint32_t distances[ROWS_AT_ONCE];
};

struct job {
    const struct nigh__sketch_scan *scan;
    struct nigh__sketch_answer *answers;
    uint64_t *sketches; /* of the queries */
    struct worker *workers;
    uint32_t threads;
    uint32_t block_rows;
    uint64_t chunk_rows;
    struct nigh__parallel parallel;
};

/* ------------------------------------------------------------------------ pools */

static void pool_init(struct pool *pool, uint32_t limit, uint32_t bits) {
    memset(pool, 0, sizeof *pool);
    pool->keys = (struct nigh__array)NIGH__ARRAY(uint64_t);
    pool->closed = limit == 0;
    pool->cut = limit > bits ? bits : limit - !pool->closed;
}

/* What a row must be nearer than to be taken. */
static uint32_t pool_limit(const struct pool *pool, uint32_t candidates) {
    if (pool->closed) return 0;
    return pool->kept < candidates ? pool->cut + 1 : pool->cut;
}

static void pool_sweep(struct pool *pool) {
    uint64_t *keys = pool->keys.data;
    size_t left = 0;
    for (size_t i = 0; i < pool->keys.count; i++)
        if (nigh__key_distance(keys[i]) <= pool->cut) keys[left++] = keys[i];
    pool->keys.count = left;
}

/* False: out of memory. */
static bool pool_add(const nigh_context *context, struct pool *pool, uint32_t candidates, uint32_t distance,
                     uint32_t row) {
    if (distance >= pool_limit(pool, candidates)) return true; /* the block began with a greater limit */
    if (pool->keys.count >= KEPT_KEYS(candidates)) pool_sweep(pool);
    uint64_t *slot = nigh__array_add(context, &pool->keys, 1);
    if (slot == NULL) return false;
    *slot = nigh__key(distance, row);
    NIGH__ASSERT(distance <= pool->cut && pool->cut <= MAX_DISTANCE);
    pool->counts[distance]++;
    pool->kept++;
    while (pool->kept - pool->counts[pool->cut] >= candidates) {
        pool->kept -= pool->counts[pool->cut];
        pool->cut--;
    }
    return true;
}

/* --------------------------------------------------------------- over the sketches */

static nigh_status scan_block(struct job *job, struct worker *worker, uint64_t first, size_t count) {
    const struct nigh__sketch_scan *scan = job->scan;
    uint32_t limits[NIGH__BATCH_QUERIES];
    for (size_t q = 0; q < scan->query_count; q++) limits[q] = pool_limit(&worker->pools[q], scan->candidates);
    const size_t found =
        scan->context->hamming->batch(job->sketches, scan->query_count, scan->sketches + first * scan->sketch_words,
                                      count, scan->sketch_words, limits, worker->hits);
    NIGH__ASSERT(found <= count * scan->query_count);
    for (size_t h = 0; h < found; h++) {
        const struct nigh__hit *hit = &worker->hits[h];
        if (scan->allowed != NULL && !nigh__bitmap_has(scan->allowed, first + hit->row)) continue;
        if (!pool_add(scan->context, &worker->pools[hit->query], scan->candidates, hit->distance,
                      (uint32_t)(first + hit->row)))
            return NIGH_ENOMEM;
    }
    return NIGH_OK;
}

static nigh_status scan_sketches(void *user, const struct nigh__items *items) {
    struct job *job = user;
    struct worker *worker = &job->workers[items->thread];
    nigh_status status = NIGH_OK;
    for (uint64_t row = items->first, rows; row < items->end && status == NIGH_OK; row += rows) {
        rows = items->end - row < worker->block ? items->end - row : worker->block;
        status = scan_block(job, worker, row, (size_t)rows);
        if (!nigh__parallel_did(&job->parallel, items->thread, rows * job->scan->query_count)) break;
        worker->block = worker->block * 2 < job->block_rows ? worker->block * 2 : job->block_rows;
    }
    return status;
}

/* ------------------------------------------------------------------ the candidates */

/* The distance of the M-th best row of all threads, and how many of that distance are taken; UINT32_MAX: all rows. */
static uint32_t find_cut(const struct job *job, size_t query, uint64_t *ties) {
    uint64_t sum = 0;
    for (uint32_t distance = 0; distance <= MAX_DISTANCE; distance++) {
        uint64_t here = 0;
        for (uint32_t t = 0; t < job->threads; t++) {
            const struct pool *pool = &job->workers[t].pools[query];
            if (distance <= pool->cut) here += pool->counts[distance];
        }
        if (sum + here >= job->scan->candidates) {
            *ties = job->scan->candidates - sum;
            return distance;
        }
        sum += here;
    }
    *ties = UINT64_MAX;
    return UINT32_MAX;
}

/* A key whose order is that of rows, and back. */
static uint64_t by_row(uint64_t key) { return nigh__key(nigh__key_number(key), nigh__key_distance(key)); }

/* The rows to be compared whole, ascending, as keys in worker->chosen.  *below as in the answer. */
static bool choose(const struct job *job, struct worker *worker, size_t query, uint32_t *below) {
    struct nigh__array *chosen = &worker->chosen;
    uint64_t ties = 0;
    const uint32_t cut = find_cut(job, query, &ties);
    *below = cut;
    chosen->count = 0;
    for (uint32_t t = 0; t < job->threads; t++) {
        const struct nigh__array *keys = &job->workers[t].pools[query].keys;
        const uint64_t *from = keys->data;
        if (keys->count == 0) continue;
        uint64_t *to = nigh__array_add(job->scan->context, chosen, keys->count);
        if (to == NULL) return false;
        size_t some = 0;
        for (size_t i = 0; i < keys->count; i++)
            if (nigh__key_distance(from[i]) <= cut) to[some++] = by_row(from[i]);
        chosen->count -= keys->count - some;
    }
    uint64_t *rows = chosen->data;
    if (job->threads > 1 && chosen->count > 1) nigh__keys_sort(job->scan->context, rows, chosen->count);
    size_t left = 0;
    for (size_t i = 0; i < chosen->count; i++) {
        if (nigh__key_number(rows[i]) == cut) {
            if (ties == 0) continue;
            ties--;
        }
        rows[left++] = rows[i];
    }
    chosen->count = left;
    return true;
}

/* Distances of some rows, whole.  False where the file was cut short. */
static bool compare(const struct nigh__sketch_scan *scan, const uint64_t *query, const uint64_t *chosen, size_t count,
                    uint32_t *distances) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, scan->map, scan->map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    for (size_t i = 0; i < count + ROWS_AHEAD; i++) {
        if (i < count) {
            const char *ahead = (const char *)(scan->rows + (size_t)nigh__key_distance(chosen[i]) * scan->words);
            __builtin_prefetch(ahead);
            if (scan->words > 8) __builtin_prefetch(ahead + 64);
        }
        if (i < ROWS_AHEAD) continue;
        const uint64_t *row = scan->rows + (size_t)nigh__key_distance(chosen[i - ROWS_AHEAD]) * scan->words;
        (void)scan->context->hamming->rows(query, row, 1, scan->words, &distances[i - ROWS_AHEAD]);
    }
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status finish_query(const struct job *job, struct worker *worker, size_t query) {
    const struct nigh__sketch_scan *scan = job->scan;
    struct nigh__sketch_answer *answer = &job->answers[query];
    if (!choose(job, worker, query, &answer->below)) return NIGH_ENOMEM;
    const uint64_t *chosen = worker->chosen.data;
    const size_t count = worker->chosen.count;
    struct nigh__nearest nearest;
    nigh__nearest_init(&nearest, scan->k, scan->limits[query]);
    nearest.keys = answer->keys;
    nigh_status status = NIGH_OK;
    for (size_t done = 0; status == NIGH_OK && done < count; done += ROWS_AT_ONCE) {
        const size_t some = count - done < ROWS_AT_ONCE ? count - done : ROWS_AT_ONCE;
        if (!compare(scan, scan->queries + query * scan->words, chosen + done, some, worker->distances))
            status = NIGH_EIO;
        for (size_t i = 0; status == NIGH_OK && i < some; i++)
            if (!nigh__nearest_add(scan->context, &nearest, worker->distances[i], nigh__key_distance(chosen[done + i])))
                status = NIGH_ENOMEM;
    }
    answer->keys = nearest.keys;
    answer->compared = count;
    if (answer->keys.count > 1) nigh__keys_sort(scan->context, answer->keys.data, answer->keys.count);
    return status;
}

static nigh_status finish_queries(void *user, const struct nigh__items *items) {
    struct job *job = user;
    nigh_status status = NIGH_OK;
    for (uint64_t query = items->first; query < items->end && status == NIGH_OK; query++)
        status = finish_query(job, &job->workers[items->thread], (size_t)query);
    (void)nigh__parallel_did(&job->parallel, items->thread, 0);
    return status;
}

/* -------------------------------------------------------------------------- the job */

static void job_release(struct job *job) {
    const struct nigh__sketch_scan *scan = job->scan;
    for (uint32_t t = 0; job->workers != NULL && t < job->threads; t++) {
        struct worker *worker = &job->workers[t];
        for (size_t q = 0; worker->pools != NULL && q < scan->query_count; q++)
            nigh__array_release(scan->context, &worker->pools[q].keys);
        nigh__array_release(scan->context, &worker->chosen);
        nigh__free(scan->context, worker->pools);
        nigh__free(scan->context, worker->hits);
    }
    nigh__free(scan->context, job->workers);
    nigh__free(scan->context, job->sketches);
}

static bool worker_init(const struct job *job, struct worker *worker) {
    const struct nigh__sketch_scan *scan = job->scan;
    worker->chosen = (struct nigh__array)NIGH__ARRAY(uint64_t);
    worker->block = FIRST_BLOCK < job->block_rows ? FIRST_BLOCK : job->block_rows;
    /* One more, which a kernel may write before it knows that the row is too far. */
    worker->hits = nigh__alloc(scan->context, (size_t)job->block_rows * scan->query_count + 1, sizeof *worker->hits);
    worker->pools = nigh__alloc(scan->context, scan->query_count, sizeof *worker->pools);
    for (size_t q = 0; worker->pools != NULL && q < scan->query_count; q++)
        pool_init(&worker->pools[q], scan->limits[q], 64 * scan->sketch_words);
    return worker->hits != NULL && worker->pools != NULL;
}

static void job_plan(struct job *job) {
    const struct nigh__sketch_scan *scan = job->scan;
    const uint64_t words = (uint64_t)scan->count * scan->sketch_words * scan->query_count;
    const uint64_t useful = words / WORDS_A_THREAD + 1;
    job->threads = useful < scan->threads ? (uint32_t)useful : scan->threads;
    job->block_rows = HITS / (uint32_t)scan->query_count / BLOCK_STEP * BLOCK_STEP;
    job->chunk_rows = job->threads == 1 ? scan->count : scan->count / (job->threads * CHUNKS_A_THREAD);
    if (job->chunk_rows < job->block_rows) job->chunk_rows = job->block_rows;
    job->chunk_rows = (job->chunk_rows + BLOCK_STEP - 1) / BLOCK_STEP * BLOCK_STEP;
    job->parallel = (struct nigh__parallel){.threads = job->threads,
                                            .progress = scan->progress,
                                            .stage = "searching",
                                            .total = scan->progress_total,
                                            .done = scan->progress_done};
}

static bool job_init(struct job *job) {
    const struct nigh__sketch_scan *scan = job->scan;
    job_plan(job);
    job->sketches = nigh__alloc_aligned(scan->context, scan->query_count * scan->sketch_words, sizeof *job->sketches,
                                        NIGH__CACHE_LINE);
    job->workers = nigh__alloc_zero(scan->context, job->threads, sizeof *job->workers);
    bool complete = job->sketches != NULL && job->workers != NULL;
    for (size_t q = 0; complete && q < scan->query_count; q++)
        memcpy(job->sketches + q * scan->sketch_words, scan->queries + q * scan->words,
               scan->sketch_words * sizeof *job->sketches);
    for (uint32_t t = 0; complete && t < job->threads; t++) complete = worker_init(job, &job->workers[t]);
    return complete;
}

static nigh_status scan_part(const struct nigh__sketch_scan *scan, struct nigh__sketch_answer *answers,
                             nigh_error *error) {
    struct job job = {.scan = scan, .answers = answers};
    nigh_status status = NIGH_ENOMEM;
    if (job_init(&job)) {
        status = nigh__parallel_run(&job.parallel, scan->count, job.chunk_rows, scan_sketches, &job, NULL);
        if (status == NIGH_OK)
            status = nigh__parallel_run(&job.parallel, scan->query_count, 1, finish_queries, &job, NULL);
    }
    job_release(&job);
    if (status == NIGH_ENOMEM) (void)nigh__no_memory(error, "to search sketches with");
    if (status == NIGH_ECANCELLED) return nigh__progress_cancelled(error);
    return status;
}

/* As many queries as have room for their keys; no pool has more than there are rows. */
static size_t queries_at_once(const struct nigh__sketch_scan *scan) {
    uint64_t keys = KEPT_KEYS(scan->candidates) * scan->threads;
    if (keys > scan->count) keys = scan->count;
    const uint64_t fit = keys == 0 ? scan->query_count : MAX_KEYS / keys;
    if (fit >= scan->query_count) return scan->query_count;
    return fit == 0 ? 1 : (size_t)fit;
}

nigh_status nigh__sketch_scan(const struct nigh__sketch_scan *scan, struct nigh__sketch_answer *answers,
                              nigh_error *error) {
    NIGH__ASSERT(scan->sketch_words > 0 && scan->sketch_words <= NIGH__SKETCH_WORDS && scan->candidates > 0);
    const size_t at_once = queries_at_once(scan);
    nigh_status status = NIGH_OK;
    for (size_t first = 0; status == NIGH_OK && first < scan->query_count; first += at_once) {
        struct nigh__sketch_scan part = *scan;
        part.queries += first * scan->words;
        part.limits += first;
        part.query_count = scan->query_count - first < at_once ? scan->query_count - first : at_once;
        part.progress_done += (uint64_t)first * scan->count;
        status = scan_part(&part, answers + first, error);
    }
    return status;
}
