/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "columns/column_scan.h"

#include <string.h>

#include "base/assert.h"
#include "base/context.h"
#include "base/guard.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "kernel/hamming.h"

#define APART 16u          /* super-blocks that are visited one after the other */
#define SUPERS_AT_ONCE 16u /* taken by a thread */
#define FEW 2u             /* queries that each ask for the columns of their own ahead */

/* One query on a thread. */
struct asking {
    struct nigh__nearest nearest;
    struct nigh__column_bound *bounds; /* of each check of its plan; owned */
    int64_t most;                      /* that the bounds are set to; -2: to nothing */
    int64_t reach;                     /* what may be as far in the super-block at hand; -1: nothing */
    uint64_t counted;
};

struct worker {
    struct asking *queries;
    struct nigh__hit *hits; /* of a super-block: room for all rows of all queries */
    size_t hit_count;
};

struct job {
    const struct nigh__column_scan *scan;
    const struct nigh__column_adder *kernel;
    struct worker *workers;
    _Atomic uint64_t *lasts; /* of each query the k-th key of the thread that is best off; NULL: each goes by its own */
    struct nigh__parallel parallel;
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
 * The same by what all threads have found: who comes after the k-th of any of them is none of the k nearest.  How much
 * is counted then depends on who is when where, and what is found does not; but for a slack, which leaves out by
 * chance, so that there each thread goes by its own.
 */
static int64_t reach_of(const struct job *job, const struct asking *asking, uint32_t q, uint32_t super) {
    const int64_t own = nigh__column_most(&asking->nearest, super);
    if (job->lasts == NULL) return own;
    const uint64_t last = atomic_load_explicit(&job->lasts[q], memory_order_relaxed);
    const int64_t all = last == UINT64_MAX ? own : most_before(last, super);
    return all < own ? all : own;
}

static void tell_last(const struct job *job, const struct asking *asking, uint32_t q) {
    const struct nigh__nearest *nearest = &asking->nearest;
    if (job->lasts == NULL || nearest->k == NIGH_ALL || nearest->keys.count < nearest->k) return;
    const uint64_t own = ((const uint64_t *)nearest->keys.data)[0];
    uint64_t last = atomic_load_explicit(&job->lasts[q], memory_order_relaxed);
    while (own < last && !atomic_compare_exchange_weak_explicit(&job->lasts[q], &last, own, memory_order_relaxed,
                                                                memory_order_relaxed)) {
    }
}

/* Of all planes there can be: a kernel may have more than the plan, and what carries must carry through these as well.
 */
static void set_bound(struct nigh__column_bound *bound, uint32_t greatest) {
    const uint32_t words = (1u << NIGH__COLUMN_PLANES) - 1 - greatest;
    for (uint32_t p = 0; p < NIGH__COLUMN_PLANES; p++) bound->words[p] = (words >> p & 1) != 0 ? UINT64_MAX : 0;
}

static void set_bounds(const struct nigh__column_scan *scan, uint32_t q, struct asking *asking, int64_t most) {
    const struct nigh__column_plan *plan = &scan->plans[q];
    const uint32_t reached = most < plan->whole ? (uint32_t)most : plan->whole;
    if (asking->most == most) return;
    asking->most = most;
    for (uint32_t c = 0; c < plan->check_count; c++)
        set_bound(&asking->bounds[c], nigh__column_plan_bound(plan, c, reached, scan->slack));
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

static void count_query(const struct job *job, struct worker *worker, uint32_t q, uint32_t super,
                        const uint8_t *ahead) {
    const struct nigh__columns *columns = job->scan->columns;
    const struct nigh__column_plan *plan = &job->scan->plans[q];
    const uint8_t *at = columns->data + super * columns->layout.super_bytes;
    struct nigh__column_counts counts;
    for (uint32_t b = 0; b < NIGH__SUPER_BLOCKS; b++) {
        const uint64_t first = (uint64_t)super * NIGH__SUPER_ROWS + (uint64_t)b * NIGH__COLUMN_ROWS;
        if (first >= columns->layout.rows) break;
        const size_t here = (size_t)b * NIGH__COLUMN_BYTES;
        if (plan->groups.count == 0)
            count_nothing(&counts);
        else if (job->kernel->count(at + here, ahead == NULL ? NULL : ahead + here, &plan->groups,
                                    worker->queries[q].bounds, &counts) == 0)
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
static bool count_super(const struct job *job, struct worker *worker, uint32_t first, uint32_t end, uint32_t super,
                        uint32_t next) {
    const struct nigh__columns *columns = job->scan->columns;
    const uint8_t *ahead = columns->data + next * columns->layout.super_bytes;
    const bool few = end - first <= FEW;
    struct nigh__guard guard;
    worker->hit_count = 0;
    for (uint32_t q = first; q < end; q++) {
        struct asking *asking = &worker->queries[q];
        asking->reach = reach_of(job, asking, q, super);
        if (asking->reach >= 0) set_bounds(job->scan, q, asking, asking->reach);
    }
    const struct nigh__sidecar *sidecar = columns->sidecar;
    nigh__guard_enter(&guard, sidecar == NULL ? NULL : sidecar->map, sidecar == NULL ? 0 : sidecar->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    for (uint32_t q = first; q < end; q++) {
        if (worker->queries[q].reach < 0) continue;
        if (!few) ask_for_share(ahead, columns->layout.super_bytes, q - first, end - first);
        count_query(job, worker, q, super, few && next != super ? ahead : NULL);
    }
    nigh__guard_leave(&guard);
    return true;
}

/* Queries first .. end - 1 in the super-block of a turn. */
static nigh_status take_turn(struct job *job, struct worker *worker, uint32_t first, uint32_t end, uint32_t turn) {
    const struct nigh__column_scan *scan = job->scan;
    const uint32_t supers = scan->columns->layout.supers;
    const uint32_t super = nigh__column_visit(supers, turn);
    const uint32_t next = turn + 1 < supers ? nigh__column_visit(supers, turn + 1) : super;
    if (!count_super(job, worker, first, end, super, next)) return NIGH_EIO;
    for (size_t h = 0; h < worker->hit_count; h++) {
        const struct nigh__hit *hit = &worker->hits[h];
        struct asking *asking = &worker->queries[hit->query];
        asking->counted++;
        if (!nigh__nearest_offer(scan->context, &asking->nearest, hit->distance, hit->row)) return NIGH_ENOMEM;
    }
    for (uint32_t q = first; q < end && worker->hit_count > 0; q++) tell_last(job, &worker->queries[q], q);
    return NIGH_OK;
}

/* ------------------------------------------------------------------------ sharing -- */

/* Those of the super-block of a turn; the last may have fewer. */
static uint64_t rows_of_turn(const struct nigh__column_scan *scan, uint32_t turn) {
    const uint64_t first = (uint64_t)nigh__column_visit(scan->columns->layout.supers, turn) * NIGH__SUPER_ROWS;
    const uint64_t left = scan->columns->layout.rows - first;
    return left < NIGH__SUPER_ROWS ? left : NIGH__SUPER_ROWS;
}

/* Items are turns, of all queries. */
static nigh_status scan_turns(void *user, const struct nigh__items *items) {
    struct job *job = user;
    struct worker *worker = &job->workers[items->thread];
    nigh_status status = NIGH_OK;
    for (uint64_t turn = items->first; turn < items->end && status == NIGH_OK; turn++) {
        const uint64_t rows = rows_of_turn(job->scan, (uint32_t)turn);
        status = take_turn(job, worker, 0, job->scan->query_count, (uint32_t)turn);
        if (!nigh__parallel_did(&job->parallel, items->thread, rows * job->scan->query_count)) break;
    }
    return status;
}

/* Items are queries, in all turns. */
static nigh_status scan_queries(void *user, const struct nigh__items *items) {
    struct job *job = user;
    struct worker *worker = &job->workers[items->thread];
    const uint32_t supers = job->scan->columns->layout.supers;
    nigh_status status = NIGH_OK;
    for (uint32_t turn = 0; turn < supers && status == NIGH_OK; turn++) {
        status = take_turn(job, worker, (uint32_t)items->first, (uint32_t)items->end, turn);
        const uint64_t rows = rows_of_turn(job->scan, turn);
        if (!nigh__parallel_did(&job->parallel, items->thread, rows * (items->end - items->first))) break;
    }
    return status;
}

static nigh_status share(struct job *job) {
    const struct nigh__column_scan *scan = job->scan;
    if (scan->slack < 0)
        return nigh__parallel_run(&job->parallel, scan->columns->layout.supers, SUPERS_AT_ONCE, scan_turns, job, NULL);
    NIGH__ASSERT(scan->threads > 0);
    const uint64_t at_once = (scan->query_count + scan->threads - 1) / scan->threads;
    return nigh__parallel_run(&job->parallel, scan->query_count, at_once, scan_queries, job, NULL);
}

/* ------------------------------------------------------------------------ workers -- */

static void worker_release(const struct nigh__column_scan *scan, struct worker *worker) {
    for (uint32_t q = 0; worker->queries != NULL && q < scan->query_count; q++) {
        nigh__nearest_release(scan->context, &worker->queries[q].nearest);
        nigh__free(scan->context, worker->queries[q].bounds);
    }
    nigh__free(scan->context, worker->queries);
    nigh__free(scan->context, worker->hits);
}

static bool worker_init(const struct nigh__column_scan *scan, struct worker *worker) {
    worker->hits = nigh__alloc(scan->context, (size_t)NIGH__SUPER_ROWS * scan->query_count, sizeof *worker->hits);
    worker->queries = nigh__alloc_zero(scan->context, scan->query_count, sizeof *worker->queries);
    if (worker->hits == NULL || worker->queries == NULL) return false;
    bool whole = true;
    for (uint32_t q = 0; q < scan->query_count; q++) {
        struct asking *asking = &worker->queries[q];
        nigh__nearest_init(&asking->nearest, scan->k, scan->limits[q]);
        asking->most = -2;
        if (scan->plans[q].check_count == 0) continue;
        asking->bounds = nigh__alloc(scan->context, scan->plans[q].check_count, sizeof *asking->bounds);
        whole = whole && asking->bounds != NULL;
    }
    return whole;
}

/* Where threads share the rows.  False: out of memory. */
static bool lasts_init(struct job *job) {
    const struct nigh__column_scan *scan = job->scan;
    if (scan->slack >= 0 || scan->threads == 1) return true;
    job->lasts = nigh__alloc(scan->context, scan->query_count, sizeof *job->lasts);
    for (uint32_t q = 0; job->lasts != NULL && q < scan->query_count; q++) atomic_init(&job->lasts[q], UINT64_MAX);
    return job->lasts != NULL;
}

/* The candidates of all threads for one query, sorted and cut. */
static bool merge(const struct nigh__column_scan *scan, const struct job *job, uint32_t q,
                  struct nigh__column_answer *found) {
    for (uint32_t t = 0; t < scan->threads; t++) {
        const struct asking *asking = &job->workers[t].queries[q];
        found->counted += asking->counted;
        if (asking->nearest.keys.count == 0) continue;
        uint64_t *slot = nigh__array_add(scan->context, &found->keys, asking->nearest.keys.count);
        if (slot == NULL) return false;
        memcpy(slot, asking->nearest.keys.data, asking->nearest.keys.count * sizeof *slot);
    }
    if (found->keys.count > 1) nigh__keys_sort(scan->context, found->keys.data, found->keys.count);
    if (scan->k != NIGH_ALL && found->keys.count > scan->k) found->keys.count = scan->k;
    return true;
}

nigh_status nigh__column_scan(const struct nigh__column_scan *scan, struct nigh__column_answer *found,
                              nigh_error *error) {
    if (scan->columns->layout.rows == 0 || scan->query_count == 0) return NIGH_OK;
    struct job job = {.scan = scan,
                      .kernel = nigh__column_adder_choose(scan->context->hamming->name),
                      .parallel = {.threads = scan->threads,
                                   .progress = scan->progress,
                                   .stage = "searching",
                                   .total = scan->progress_total,
                                   .done = scan->progress_done}};
    nigh_status status = NIGH_OK;
    job.workers = nigh__alloc_zero(scan->context, scan->threads, sizeof *job.workers);
    if (job.workers == NULL || !lasts_init(&job)) status = NIGH_ENOMEM;
    for (uint32_t t = 0; t < scan->threads && status == NIGH_OK; t++)
        if (!worker_init(scan, &job.workers[t])) status = NIGH_ENOMEM;
    if (status == NIGH_OK) status = share(&job);
    for (uint32_t q = 0; q < scan->query_count && status == NIGH_OK; q++)
        if (!merge(scan, &job, q, &found[q])) status = NIGH_ENOMEM;
    for (uint32_t t = 0; job.workers != NULL && t < scan->threads; t++) worker_release(scan, &job.workers[t]);
    nigh__free(scan->context, job.workers);
    nigh__free(scan->context, job.lasts);
    if (status == NIGH_ENOMEM) return nigh__no_memory(error, "to search columns");
    return status == NIGH_ECANCELLED ? nigh__progress_cancelled(error) : status;
}
