/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "columns/column_scan.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/assert.h"
#include "base/context.h"
#include "base/guard.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "kernel/hamming.h"

#define APART 16u       /* super-blocks that are visited one after the other */
#define LEAST_TURNS 8u  /* that a thread takes, */
#define MOST_TURNS 256u /* and */
#define TURN_SHARES 4u  /* of what is left a share, of so many for each thread */
#define FEW 2u          /* queries that each ask for the columns of their own ahead */

/* One query, and what all threads have found for it. */
struct asking {
    struct nigh__nearest nearest;
    uint64_t counted;
    pthread_mutex_t lock;  /* of both */
    _Atomic uint64_t last; /* the k-th key; UINT64_MAX: there are fewer */
};

/* The bounds of a query on a thread. */
struct bounding {
    struct nigh__column_bound *bounds; /* of each check of its plan; owned */
    int64_t most;                      /* that the bounds are set to; -2: to nothing */
    int64_t reach;                     /* what may be as far in the super-block at hand; -1: nothing */
};

/* A thread, on lines of its own: it writes here with every super-block. */
struct worker {
    _Alignas(NIGH__CACHE_LINE) struct bounding *boundings; /* of each query */
    struct nigh__hit *hits;                                /* of a super-block: room for all rows of all queries */
    size_t hit_count;
};

struct job {
    const struct nigh__column_scan *scan;
    const struct nigh__column_adder *kernel;
    struct asking *askings;
    struct worker *workers;
    _Alignas(NIGH__CACHE_LINE) struct nigh__parallel parallel; /* written by all threads, apart from what they read */
    _Atomic uint64_t turns_taken;
};

/* What is done at once: some blocks of a super-block, for some queries. */
struct piece {
    uint32_t first_query, end_query;
    uint32_t super;
    uint32_t next; /* super-block that the thread will count after it; the same: none */
    uint32_t first_block, end_block;
};

/* ------------------------------------------------------------------ in which order -- */

uint32_t nigh__column_visit(uint32_t supers, uint32_t turn) {
    const uint32_t whole = supers / APART;
    const uint32_t rest = supers % APART; /* this many lanes have one more */
    const uint32_t in_longer = rest * (whole + 1);
    if (turn < in_longer) return turn % (whole + 1) * APART + turn / (whole + 1);
    return (turn - in_longer) % whole * APART + rest + (turn - in_longer) / whole;
}

/* ------------------------------------------------------------------------- bounds -- */

/* How far a row of a super-block may be to come before the k-th key of some others. */
static int64_t most_before(uint64_t last, uint32_t super) {
    const bool before = (uint64_t)super * NIGH__SUPER_ROWS < nigh__key_number(last);
    return (int64_t)nigh__key_distance(last) - (before ? 0 : 1);
}

int64_t nigh__column_most(const struct nigh__nearest *nearest, uint32_t super) {
    if (nearest->k == NIGH_ALL || nearest->keys.count < nearest->k) return (int64_t)nearest->limit - 1;
    return most_before(((const uint64_t *)nearest->keys.data)[0], super);
}

/*
 * The same by what all threads have found so far.  How much is counted then depends on who is when where, and what is
 * found does not.
 */
static int64_t reach_of(const struct job *job, uint32_t q, uint32_t super) {
    const uint64_t last = atomic_load_explicit(&job->askings[q].last, memory_order_relaxed);
    return last == UINT64_MAX ? (int64_t)job->scan->limits[q] - 1 : most_before(last, super);
}

/* False: no memory. */
static bool offer(const struct nigh__column_scan *scan, struct asking *asking, const struct nigh__hit *hits,
                  size_t count) {
    struct nigh__nearest *nearest = &asking->nearest;
    bool whole = true;
    pthread_mutex_lock(&asking->lock);
    asking->counted += count;
    for (size_t h = 0; h < count && whole; h++)
        whole = nigh__nearest_offer(scan->context, nearest, hits[h].distance, hits[h].row);
    if (whole && nearest->keys.count == nearest->k)
        atomic_store_explicit(&asking->last, ((const uint64_t *)nearest->keys.data)[0], memory_order_relaxed);
    pthread_mutex_unlock(&asking->lock);
    return whole;
}

/* Hits of a query stand together. */
static bool offer_all(const struct job *job, const struct worker *worker) {
    bool whole = true;
    for (size_t from = 0, to; from < worker->hit_count && whole; from = to) {
        const uint32_t query = worker->hits[from].query;
        for (to = from + 1; to < worker->hit_count && worker->hits[to].query == query;) to++;
        whole = offer(job->scan, &job->askings[query], worker->hits + from, to - from);
    }
    return whole;
}

/* Of all planes there can be: a kernel may have more than the plan, and what carries must carry through these as well.
 */
static void set_bound(struct nigh__column_bound *bound, uint32_t greatest) {
    const uint32_t words = (1u << NIGH__COLUMN_PLANES) - 1 - greatest;
    for (uint32_t p = 0; p < NIGH__COLUMN_PLANES; p++) bound->words[p] = (words >> p & 1) != 0 ? UINT64_MAX : 0;
}

static void set_bounds(const struct nigh__column_scan *scan, uint32_t q, struct bounding *bounding) {
    const struct nigh__column_plan *plan = &scan->plans[q];
    const uint32_t reached = bounding->reach < plan->whole ? (uint32_t)bounding->reach : plan->whole;
    if (bounding->most == bounding->reach) return;
    bounding->most = bounding->reach;
    for (uint32_t c = 0; c < plan->check_count; c++)
        set_bound(&bounding->bounds[c], nigh__column_plan_bound(plan, c, reached, scan->slack));
}

/* -------------------------------------------------------------------- a super-block -- */

/* The rows of a block that are left, as hits. */
static void take_hits(const struct nigh__column_scan *scan, struct worker *worker,
                      const struct nigh__column_counts *counts, uint32_t query, uint64_t first_row) {
    const struct nigh__column_plan *plan = &scan->plans[query];
    const uint32_t rows = scan->columns->layout.rows;
    for (uint32_t word = 0; word < NIGH__COLUMN_ROWS / 64 && first_row + UINT64_C(64) * word < rows; word++) {
        const uint64_t allowed = scan->allowed == NULL ? UINT64_MAX : scan->allowed[first_row / 64 + word];
        for (uint64_t left = counts->left[word] & allowed; left != 0; left &= left - 1) {
            const uint32_t bit = (uint32_t)__builtin_ctzll(left);
            const uint64_t row = first_row + UINT64_C(64) * word + bit;
            if (row >= rows) return;
            uint32_t count = 0;
            for (uint32_t p = 0; p < plan->groups.planes; p++)
                count |= (uint32_t)(counts->planes[p][word] >> bit & 1) << p;
            worker->hits[worker->hit_count++] = (struct nigh__hit){query, (uint32_t)row, count * plan->unit};
        }
    }
}

/* A query of which nothing counts: every row is at distance 0. */
static void count_nothing(struct nigh__column_counts *counts) {
    memset(counts, 0, sizeof *counts), memset(counts->left, 0xff, sizeof counts->left);
}

static void count_query(const struct job *job, struct worker *worker, const struct piece *piece, uint32_t q,
                        const uint8_t *ahead) {
    const struct nigh__columns *columns = job->scan->columns;
    const struct nigh__column_plan *plan = &job->scan->plans[q];
    const uint8_t *at = columns->data + piece->super * columns->layout.super_bytes;
    struct nigh__column_counts counts;
    for (uint32_t b = piece->first_block; b < piece->end_block; b++) {
        const uint64_t first = (uint64_t)piece->super * NIGH__SUPER_ROWS + (uint64_t)b * NIGH__COLUMN_ROWS;
        if (first >= columns->layout.rows) break;
        const size_t here = (size_t)b * NIGH__COLUMN_BYTES;
        if (plan->groups.count == 0)
            count_nothing(&counts);
        else if (job->kernel->count(at + here, ahead == NULL ? NULL : ahead + here, &plan->groups,
                                    worker->boundings[q].bounds, &counts) == 0)
            continue;
        take_hits(job->scan, worker, &counts, q, first);
    }
}

/* Where many ask, each asks for a share of what comes next: together they need most of it. */
static void ask_for_share(const uint8_t *ahead, size_t bytes, uint32_t q, uint32_t count) {
    const size_t share = bytes / count + NIGH__COLUMN_BYTES;
    const size_t end = (q + 1) * share < bytes ? (q + 1) * share : bytes;
    for (size_t at = q * share; at < end; at += NIGH__COLUMN_BYTES) __builtin_prefetch(ahead + at, 0, 2);
}

/* False where the file was cut short. */
static bool count_piece(const struct job *job, struct worker *worker, const struct piece *piece) {
    const struct nigh__columns *columns = job->scan->columns;
    const uint8_t *ahead = columns->data + piece->next * columns->layout.super_bytes;
    const bool last = piece->next == piece->super;
    const uint32_t queries = piece->end_query - piece->first_query;
    struct nigh__guard guard;
    worker->hit_count = 0;
    for (uint32_t q = piece->first_query; q < piece->end_query; q++) {
        struct bounding *bounding = &worker->boundings[q];
        bounding->reach = reach_of(job, q, piece->super);
        if (bounding->reach >= 0) set_bounds(job->scan, q, bounding);
    }
    const struct nigh__sidecar *sidecar = columns->sidecar;
    nigh__guard_enter(&guard, sidecar == NULL ? NULL : sidecar->map, sidecar == NULL ? 0 : sidecar->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    for (uint32_t q = piece->first_query; q < piece->end_query; q++) {
        if (worker->boundings[q].reach < 0) continue;
        if (queries > FEW && !last) ask_for_share(ahead, columns->layout.super_bytes, q - piece->first_query, queries);
        count_query(job, worker, piece, q, queries > FEW || last ? NULL : ahead);
    }
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status take_piece(struct job *job, struct worker *worker, const struct piece *piece) {
    if (!count_piece(job, worker, piece)) return NIGH_EIO;
    return offer_all(job, worker) ? NIGH_OK : NIGH_ENOMEM;
}

/* ------------------------------------------------------------------------ sharing -- */

/* What is compared in a piece; of the last super-block there may be fewer rows, or none. */
static uint64_t distances_of(const struct nigh__column_scan *scan, const struct piece *piece) {
    const uint64_t first = (uint64_t)piece->super * NIGH__SUPER_ROWS + (uint64_t)piece->first_block * NIGH__COLUMN_ROWS;
    const uint64_t most = (uint64_t)(piece->end_block - piece->first_block) * NIGH__COLUMN_ROWS;
    if (first >= scan->columns->layout.rows) return 0;
    const uint64_t left = scan->columns->layout.rows - first;
    return (left < most ? left : most) * (piece->end_query - piece->first_query);
}

/* Items are queries, in the block that comes first: so all threads have bounds to begin with. */
static nigh_status scan_first_block(void *user, const struct nigh__items *items) {
    struct job *job = user;
    const struct piece piece = {
        .first_query = (uint32_t)items->first, .end_query = (uint32_t)items->end, .end_block = 1};
    const nigh_status status = take_piece(job, &job->workers[items->thread], &piece);
    (void)nigh__parallel_did(&job->parallel, items->thread, distances_of(job->scan, &piece));
    return status;
}

/* Turns of a thread: none where first is not less than end. */
struct turns {
    uint64_t first, end;
};

/* Many while there are many, for to take some costs as much as a turn does, and few in the end. */
static struct turns take_turns(struct job *job) {
    const uint64_t supers = job->scan->columns->layout.supers;
    uint64_t first = atomic_load_explicit(&job->turns_taken, memory_order_relaxed);
    uint64_t end;
    do {
        uint64_t some = (supers - first) / ((uint64_t)TURN_SHARES * job->scan->threads);
        if (some < LEAST_TURNS) some = LEAST_TURNS;
        if (some > MOST_TURNS) some = MOST_TURNS;
        end = supers - first < some ? supers : first + some;
    } while (!atomic_compare_exchange_weak_explicit(&job->turns_taken, &first, end, memory_order_relaxed,
                                                    memory_order_relaxed));
    return (struct turns){first, end};
}

/* All queries, some turns, and then those that follow. */
static nigh_status scan_some(struct job *job, uint32_t thread, struct turns turns, struct turns following,
                             uint64_t *distances) {
    const uint32_t supers = job->scan->columns->layout.supers;
    struct piece piece = {.end_query = job->scan->query_count, .end_block = NIGH__SUPER_BLOCKS};
    nigh_status status = NIGH_OK;
    for (uint64_t turn = turns.first; turn < turns.end && status == NIGH_OK; turn++) {
        const uint64_t next = turn + 1 < turns.end ? turn + 1 : following.first;
        piece.super = nigh__column_visit(supers, (uint32_t)turn);
        piece.next = next < supers ? nigh__column_visit(supers, (uint32_t)next) : piece.super;
        piece.first_block = turn == 0; /* the first was counted */
        status = take_piece(job, &job->workers[thread], &piece);
        *distances += distances_of(job->scan, &piece);
    }
    return status;
}

/*
 * Items are threads, which take turns until there are no more, of all queries.  Each takes its next ones before it
 * begins with some, so that it knows what to ask memory for.
 */
static nigh_status scan_turns(void *user, const struct nigh__items *items) {
    struct job *job = user;
    nigh_status status = NIGH_OK;
    for (struct turns turns = take_turns(job); turns.first < turns.end && status == NIGH_OK;) {
        const struct turns following = take_turns(job);
        uint64_t distances = 0; /* told once, for all threads write there */
        status = scan_some(job, items->thread, turns, following, &distances);
        if (!nigh__parallel_did(&job->parallel, items->thread, distances)) break;
        turns = following;
    }
    return status;
}

/* Items are queries, in all turns. */
static nigh_status scan_queries(void *user, const struct nigh__items *items) {
    struct job *job = user;
    const uint32_t supers = job->scan->columns->layout.supers;
    struct piece piece = {
        .first_query = (uint32_t)items->first, .end_query = (uint32_t)items->end, .end_block = NIGH__SUPER_BLOCKS};
    nigh_status status = NIGH_OK;
    for (uint32_t turn = 0; turn < supers && status == NIGH_OK; turn++) {
        piece.super = nigh__column_visit(supers, turn);
        piece.next = turn + 1 < supers ? nigh__column_visit(supers, turn + 1) : piece.super;
        status = take_piece(job, &job->workers[items->thread], &piece);
        if (!nigh__parallel_did(&job->parallel, items->thread, distances_of(job->scan, &piece))) break;
    }
    return status;
}

static nigh_status share(struct job *job) {
    const struct nigh__column_scan *scan = job->scan;
    NIGH__ASSERT(scan->threads > 0);
    const uint64_t at_once = (scan->query_count + scan->threads - 1) / scan->threads;
    if (scan->slack >= 0)
        return nigh__parallel_run(&job->parallel, scan->query_count, at_once, scan_queries, job, NULL);
    const nigh_status status =
        nigh__parallel_run(&job->parallel, scan->query_count, at_once, scan_first_block, job, NULL);
    if (status != NIGH_OK) return status;
    const uint32_t takes = (scan->columns->layout.supers + LEAST_TURNS - 1) / LEAST_TURNS;
    const uint32_t items = takes < scan->threads ? takes : scan->threads;
    return nigh__parallel_run(&job->parallel, items, 1, scan_turns, job, NULL);
}

/* --------------------------------------------------------------- queries and workers -- */

static void askings_free(const struct nigh__column_scan *scan, struct asking *askings) {
    for (uint32_t q = 0; askings != NULL && q < scan->query_count; q++) {
        nigh__nearest_release(scan->context, &askings[q].nearest);
        pthread_mutex_destroy(&askings[q].lock);
    }
    nigh__free(scan->context, askings);
}

/* NULL: no memory. */
static struct asking *askings_new(const struct nigh__column_scan *scan) {
    struct asking *askings = nigh__alloc_zero(scan->context, scan->query_count, sizeof *askings);
    for (uint32_t q = 0; askings != NULL && q < scan->query_count; q++) {
        nigh__nearest_init(&askings[q].nearest, scan->k, scan->limits[q]);
        pthread_mutex_init(&askings[q].lock, NULL);
        atomic_init(&askings[q].last, UINT64_MAX);
    }
    return askings;
}

static struct worker *workers_new(const struct nigh__column_scan *scan) {
    struct worker *workers = nigh__alloc_aligned(scan->context, scan->threads, sizeof *workers, NIGH__CACHE_LINE);
    if (workers != NULL) memset(workers, 0, scan->threads * sizeof *workers);
    return workers;
}

static void worker_release(const struct nigh__column_scan *scan, struct worker *worker) {
    for (uint32_t q = 0; worker->boundings != NULL && q < scan->query_count; q++)
        nigh__free(scan->context, worker->boundings[q].bounds);
    nigh__free(scan->context, worker->boundings);
    nigh__free(scan->context, worker->hits);
}

static bool worker_init(const struct nigh__column_scan *scan, struct worker *worker) {
    worker->hits = nigh__alloc(scan->context, (size_t)NIGH__SUPER_ROWS * scan->query_count, sizeof *worker->hits);
    worker->boundings = nigh__alloc_zero(scan->context, scan->query_count, sizeof *worker->boundings);
    if (worker->hits == NULL || worker->boundings == NULL) return false;
    bool whole = true;
    for (uint32_t q = 0; q < scan->query_count; q++) {
        struct bounding *bounding = &worker->boundings[q];
        bounding->most = -2;
        if (scan->plans[q].check_count == 0) continue;
        bounding->bounds = nigh__alloc(scan->context, scan->plans[q].check_count, sizeof *bounding->bounds);
        whole = whole && bounding->bounds != NULL;
    }
    return whole;
}

/* Sorted.  False: no memory. */
static bool take_answer(const struct nigh__column_scan *scan, const struct asking *asking,
                        struct nigh__column_answer *found) {
    const struct nigh__array *keys = &asking->nearest.keys;
    found->counted += asking->counted;
    if (keys->count == 0) return true;
    uint64_t *slot = nigh__array_add(scan->context, &found->keys, keys->count);
    if (slot == NULL) return false;
    memcpy(slot, keys->data, keys->count * sizeof *slot);
    nigh__keys_sort(scan->context, found->keys.data, found->keys.count);
    return true;
}

nigh_status nigh__column_scan(const struct nigh__column_scan *scan, struct nigh__column_answer *found,
                              nigh_error *error) {
    if (scan->columns->layout.rows == 0 || scan->query_count == 0) return NIGH_OK;
    struct job job = {.scan = scan,
                      .kernel = nigh__column_adder_choose(scan->context->hamming->name),
                      .askings = askings_new(scan),
                      .parallel = {.threads = scan->threads,
                                   .progress = scan->progress,
                                   .stage = "searching",
                                   .total = scan->progress_total,
                                   .done = scan->progress_done}};
    nigh_status status = NIGH_OK;
    job.workers = workers_new(scan);
    if (job.askings == NULL || job.workers == NULL) status = NIGH_ENOMEM;
    for (uint32_t t = 0; t < scan->threads && status == NIGH_OK; t++)
        if (!worker_init(scan, &job.workers[t])) status = NIGH_ENOMEM;
    if (status == NIGH_OK) status = share(&job);
    for (uint32_t q = 0; q < scan->query_count && status == NIGH_OK; q++)
        if (!take_answer(scan, &job.askings[q], &found[q])) status = NIGH_ENOMEM;
    for (uint32_t t = 0; job.workers != NULL && t < scan->threads; t++) worker_release(scan, &job.workers[t]);
    nigh__free(scan->context, job.workers);
    askings_free(scan, job.askings);
    if (status == NIGH_ENOMEM) return nigh__no_memory(error, "to search columns");
    return status == NIGH_ECANCELLED ? nigh__progress_cancelled(error) : status;
}
