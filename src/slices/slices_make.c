/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Making slice lists, several slices at a time (a group), each group in two steps:
 *
 *     1  threads share the rows     the values of the group's slices go from the rows to
 *                                   an array each: a row that is in the cache serves all.
 *                                   Meanwhile the calling thread hands over what the
 *                                   group before has given
 *     2  threads share the slices   values are counted, counts become starts, and ids
 *                                   are put where their values say
 *
 * Which thread does what changes nothing in the numbers.
 *
 * Step 2 would jump about in memory, twice a row: to the count, then to the list.  Where
 * these do not fit the cache the rows of a slice are first dealt out to buckets by the
 * highest bits of their values, in order, which writes to some hundred places one after
 * the other; and then each bucket, which does fit, is counted and filled on its own:
 *
 *     values    9 2 14 3 8 2 ...
 *     buckets   0..3: (2,row 1) (3,row 3) (2,row 5) | 4..7: | 8..11: (9,row 0) (8,row 4) | ...
 *     lists     2: 1 5   3: 3                               | 8: 4   9: 0
 *
 * Cost: reading the rows once a group, and some 10 ns a row and slice, at any number of
 * rows.  A million rows of 1024 bits take 0.7 s of one core at 16 bits, 0.5 s at 20.
 */
#include "base/assert.h"
#include "base/parallel.h"
#include "slices/slices.h"

#include <stdatomic.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/threads.h"

#define MAX_AT_ONCE 8u                  /* slices, where fewer threads than these share them */
#define FREE_BYTES (UINT64_C(64) << 20) /* for a group, beyond the bytes of the rows */
#define BLOCK_WORDS 4096u               /* of rows that are cut at once: what the first-level cache holds */
#define CHUNK_ROWS 65536u               /* a thread's share of the rows at a time */
#define ROWS_A_THREAD 8192u             /* fewer are not worth a thread */
#define COUNTS_BITS 11u                 /* values of a bucket: their counts are in the first-level cache, */
#define BUCKET_ROWS_BITS 14u            /* and its rows in the second */
#define MAX_BUCKET_BITS 11u             /* more places to write to than this are slow in themselves */

/*
 * Few lists or few rows: no buckets.  Measured, the time without them against that with them: 0.6 at 12 bits and a
 * million rows, 0.9 to 1.1 at 16 and 20; 2.1 or more at 22 bits and four or sixteen million.
 */
#define DIRECT_BITS 15u
#define DIRECT_ROWS (UINT32_C(1) << 18)

struct worker {
    uint64_t *dealt; /* a low part of a value and a row each, by bucket */
    uint32_t ends[1u << MAX_BUCKET_BITS];
};

struct group {
    uint32_t first, count; /* slices */
    uint64_t start;        /* of its numbers in the section */
};

struct maker {
    const struct nigh__slices_job *job;
    const struct nigh__slices_sink *sink;
    nigh_error *error;
    uint32_t threads;
    uint32_t group_size;
    struct group group, before; /* the one at hand, and one whose numbers are to be handed over */
    uint32_t *values;           /* of each slice at hand, one a row */
    uint32_t *numbers;          /* of the group, as in the section */
    struct worker *workers;
    _Atomic uint64_t next; /* row */
    _Atomic int status;    /* of the first failure; all then stop */
    atomic_bool cut;       /* that was rows which could not be read */
};

/* Whether it was the first. */
static bool fail(struct maker *maker, nigh_status status) {
    int expected = NIGH_OK;
    return atomic_compare_exchange_strong(&maker->status, &expected, (int)status);
}

static bool stopped(struct maker *maker) {
    return atomic_load_explicit(&maker->status, memory_order_relaxed) != NIGH_OK;
}

/* Slices count fully once their numbers are made. */
static void tick(struct maker *maker, uint32_t slices_done) {
    const struct nigh__slices_job *job = maker->job;
    if (job->progress == NULL) return;
    if (nigh__progress_tick(job->progress, "making lists", slices_done, job->slicing.count))
        (void)fail(maker, NIGH_ECANCELLED);
}

/* ----------------------------------------------------------- step 1: values -- */

static void cut_slice(const uint64_t *rows, uint32_t words, uint32_t count, struct nigh__slice slice,
                      uint32_t *values) {
    const uint64_t *at = rows + slice.start / 64;
    const uint32_t shift = slice.start % 64;
    const uint64_t mask = (UINT64_C(1) << slice.bits) - 1;
    if (shift + slice.bits <= 64)
        for (uint32_t row = 0; row < count; row++, at += words) values[row] = (uint32_t)(at[0] >> shift & mask);
    else
        for (uint32_t row = 0; row < count; row++, at += words)
            values[row] = (uint32_t)((at[0] >> shift | at[1] << (64 - shift)) & mask);
}

static void cut_rows(const struct maker *maker, uint32_t row, uint32_t end) {
    const struct nigh__slices_job *job = maker->job;
    const uint32_t words = nigh__row_words(job->slicing.width_bits);
    const uint32_t block = words < BLOCK_WORDS / 32 ? BLOCK_WORDS / words : 32;
    for (; row < end; row += block) {
        const uint32_t count = end - row < block ? end - row : block;
        const uint64_t *rows = job->rows + (size_t)row * words;
        for (uint32_t i = 0; i < maker->group.count; i++)
            cut_slice(rows, words, count, nigh__slicing_at(&job->slicing, job->count, maker->group.first + i),
                      maker->values + (size_t)i * job->count + row);
        if (end - row <= block) return;
    }
}

/* False where the file was cut short under it. */
static bool cut_rows_guarded(const struct maker *maker, uint32_t row, uint32_t end) {
    struct nigh__guard guard;
    if (maker->job->map == NULL) {
        cut_rows(maker, row, end);
        return true;
    }
    nigh__guard_enter(&guard, maker->job->map, maker->job->map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    cut_rows(maker, row, end);
    nigh__guard_leave(&guard);
    return true;
}

/* Hands over the group before, slice by slice. */
static void hand_over(struct maker *maker) {
    const struct nigh__slices_job *job = maker->job;
    const struct group *before = &maker->before;
    const uint32_t end = before->first + before->count;
    for (uint32_t slice = before->first; slice < end && !stopped(maker); slice++) {
        const uint64_t start = nigh__slicing_at(&job->slicing, job->count, slice).starts;
        const uint64_t after = nigh__slicing_at(&job->slicing, job->count, slice + 1).starts;
        NIGH__ASSERT(before->start <= start && start <= after);
        const nigh_status status = maker->sink->add(maker->sink->user, maker->numbers + (start - before->start),
                                                    (size_t)(after - start), maker->error);
        if (status != NIGH_OK) (void)fail(maker, status);
        tick(maker, end);
    }
}

static void read_values(void *user, uint32_t thread) {
    struct maker *maker = user;
    const uint32_t rows = maker->job->count;
    if (thread == 0) hand_over(maker);
    while (!stopped(maker)) {
        const uint64_t row = atomic_fetch_add_explicit(&maker->next, CHUNK_ROWS, memory_order_relaxed);
        if (row >= rows) return;
        const uint32_t end = rows - row < CHUNK_ROWS ? rows : (uint32_t)row + CHUNK_ROWS;
        if (!cut_rows_guarded(maker, (uint32_t)row, end) && fail(maker, NIGH_EIO)) atomic_store(&maker->cut, true);
        if (thread == 0) tick(maker, maker->group.first);
    }
}

/* ------------------------------------------------------------ step 2: lists -- */

/* The values and rows of a slice, and where its numbers go. */
struct filling {
    const uint32_t *values;
    uint32_t rows;
    uint32_t bits;
    uint32_t *starts; /* zero */
    uint32_t *ids;
};

/*
 * The start of value v is counted up at starts[v + 1] while its list is filled.  Then it
 * is where the list ends, and that is where the next one starts.
 */
static void counts_to_starts(uint32_t *starts, size_t values, uint32_t from) {
    for (size_t v = 1; v <= values; v++) {
        const uint32_t count = starts[v];
        starts[v] = from;
        from += count;
    }
}

static void fill_directly(const struct filling *filling) {
    uint32_t *counts = filling->starts + 1;
    for (uint32_t row = 0; row < filling->rows; row++) counts[filling->values[row]]++;
    counts_to_starts(filling->starts, (size_t)1 << filling->bits, 0);
    for (uint32_t row = 0; row < filling->rows; row++) filling->ids[counts[filling->values[row]]++] = row;
}

/* Afterwards worker->ends tells where each bucket ends. */
static void deal_out(const struct filling *filling, uint32_t low_bits, struct worker *worker) {
    const uint32_t low_mask = (UINT32_C(1) << low_bits) - 1;
    const uint32_t buckets = UINT32_C(1) << (filling->bits - low_bits);
    uint32_t *ends = worker->ends;
    memset(ends, 0, buckets * sizeof *ends);
    for (uint32_t row = 0; row < filling->rows; row++) ends[filling->values[row] >> low_bits]++;
    uint32_t start = 0;
    for (uint32_t bucket = 0; bucket < buckets; bucket++) {
        const uint32_t count = ends[bucket];
        ends[bucket] = start;
        start += count;
    }
    NIGH__ASSERT(start == filling->rows);
    for (uint32_t row = 0; row < filling->rows; row++) {
        const uint32_t value = filling->values[row];
        worker->dealt[ends[value >> low_bits]++] = (uint64_t)(value & low_mask) << 32 | row;
    }
}

static void fill_by_buckets(const struct filling *filling, uint32_t low_bits, struct worker *worker) {
    deal_out(filling, low_bits, worker);
    const uint32_t buckets = UINT32_C(1) << (filling->bits - low_bits);
    uint32_t first = 0;
    for (uint32_t bucket = 0; bucket < buckets; bucket++) {
        const uint32_t end = worker->ends[bucket];
        uint32_t *starts = filling->starts + ((size_t)bucket << low_bits);
        uint32_t *counts = starts + 1;
        for (uint32_t i = first; i < end; i++) counts[worker->dealt[i] >> 32]++;
        counts_to_starts(starts, (size_t)1 << low_bits, first);
        for (uint32_t i = first; i < end; i++) {
            const uint64_t dealt = worker->dealt[i];
            filling->ids[counts[dealt >> 32]++] = (uint32_t)dealt;
        }
        first = end;
    }
    NIGH__ASSERT(first == filling->rows);
}

/* Bits of a value that name its bucket; 0: none are needed. */
static uint32_t bucket_bits(uint32_t bits, uint32_t rows) {
    const uint32_t row_bits = 32u - (uint32_t)__builtin_clz(rows | 1);
    if (bits <= DIRECT_BITS || rows < DIRECT_ROWS) return 0;
    const uint32_t by_counts = bits - COUNTS_BITS;
    const uint32_t by_rows = row_bits - BUCKET_ROWS_BITS;
    const uint32_t high = by_counts > by_rows ? by_counts : by_rows;
    return high < MAX_BUCKET_BITS ? high : MAX_BUCKET_BITS;
}

static void fill_slice(const struct maker *maker, uint32_t index, struct worker *worker) {
    const struct nigh__slices_job *job = maker->job;
    NIGH__ASSERT(index < maker->group.count && maker->group.count <= maker->group_size);
    const struct nigh__slice slice = nigh__slicing_at(&job->slicing, job->count, maker->group.first + index);
    const size_t starts = ((size_t)1 << slice.bits) + 1;
    struct filling filling = {.values = maker->values + (size_t)index * job->count,
                              .rows = job->count,
                              .bits = slice.bits,
                              .starts = maker->numbers + (slice.starts - maker->group.start)};
    filling.ids = filling.starts + starts;
    memset(filling.starts, 0, starts * sizeof *filling.starts);
    const uint32_t high = bucket_bits(slice.bits, job->count);
    if (high == 0)
        fill_directly(&filling);
    else
        fill_by_buckets(&filling, slice.bits - high, worker);
}

static nigh_status fill_slices(void *user, const struct nigh__items *items) {
    struct maker *maker = user;
    for (uint32_t index = (uint32_t)items->first; index < items->end && !stopped(maker); index++) {
        fill_slice(maker, index, &maker->workers[items->thread]);
        if (items->thread == 0) tick(maker, maker->group.first + index + 1);
    }
    return NIGH_OK;
}

/* ------------------------------------------------------------------- the whole -- */

/*
 * Many slices at once are good for threads and for the cache; but making lists is to take no more memory than the
 * signatures do, and a bit: what the ids of a slice for each of a few threads need, and FREE_BYTES.
 */
static uint32_t slices_at_once(const struct nigh__slices_job *job, uint32_t threads) {
    const uint64_t row_bytes = UINT64_C(8) * nigh__row_words(job->slicing.width_bits);
    const uint32_t few = threads < MAX_AT_ONCE ? threads : MAX_AT_ONCE;
    const uint32_t wanted = threads > MAX_AT_ONCE ? threads : MAX_AT_ONCE;
    const uint64_t allowed = job->count * (row_bytes + UINT64_C(8) * few) + FREE_BYTES;
    const uint64_t needed = UINT64_C(8) * job->count + (UINT64_C(4) << job->slicing.most_bits);
    uint64_t most = allowed / needed;
    if (most > wanted) most = wanted;
    if (most > job->slicing.count) most = job->slicing.count;
    if (most > threads) most -= most % threads;
    return most == 0 ? 1 : (uint32_t)most;
}

static uint32_t useful_threads(const struct nigh__slices_job *job) {
    const uint32_t most = job->count / ROWS_A_THREAD + 1;
    const uint32_t asked = nigh__threads_resolve(job->threads);
    return asked < most ? asked : most;
}

static bool maker_allocate(struct maker *maker) {
    const struct nigh__slices_job *job = maker->job;
    const bool deals = bucket_bits(job->slicing.most_bits, job->count) != 0 ||
                       bucket_bits(job->slicing.most_bits - 1, job->count) != 0;
    const uint64_t numbers = nigh__slicing_at(&job->slicing, job->count, maker->group_size).starts; /* widest first */
    maker->values = nigh__alloc_large(job->context, (size_t)job->count * maker->group_size, sizeof *maker->values);
    maker->numbers = nigh__alloc_large(job->context, (size_t)numbers, sizeof *maker->numbers);
    maker->workers = nigh__alloc_zero(job->context, maker->threads, sizeof *maker->workers);
    if (maker->values == NULL || maker->numbers == NULL || maker->workers == NULL) return false;
    for (uint32_t t = 0; deals && t < maker->threads; t++) {
        maker->workers[t].dealt = nigh__alloc_large(job->context, job->count, sizeof *maker->workers[t].dealt);
        if (maker->workers[t].dealt == NULL) return false;
    }
    return true;
}

static void maker_release(struct maker *maker) {
    const nigh_context *context = maker->job->context;
    for (uint32_t t = 0; maker->workers != NULL && t < maker->threads; t++)
        nigh__free(context, maker->workers[t].dealt);
    nigh__free(context, maker->workers);
    nigh__free(context, maker->numbers);
    nigh__free(context, maker->values);
}

static void make_groups(struct maker *maker) {
    const struct nigh__slicing *slicing = &maker->job->slicing;
    for (uint32_t first = 0; first < slicing->count && !stopped(maker); first += maker->group.count) {
        const uint32_t left = slicing->count - first;
        maker->group = (struct group){.first = first,
                                      .count = left < maker->group_size ? left : maker->group_size,
                                      .start = nigh__slicing_at(slicing, maker->job->count, first).starts};
        atomic_store(&maker->next, 0);
        nigh__threads_run(maker->threads, read_values, maker);
        struct nigh__parallel parallel = {.threads = maker->threads};
        (void)nigh__parallel_run(&parallel, maker->group.count, 1, fill_slices, maker, NULL);
        maker->before = maker->group;
    }
    hand_over(maker);
}

nigh_status nigh__slices_make(const struct nigh__slices_job *job, const struct nigh__slices_sink *sink,
                              nigh_error *error) {
    struct maker maker = {.job = job, .sink = sink, .error = error, .threads = useful_threads(job)};
    maker.group_size = slices_at_once(job, maker.threads);
    if (maker.threads > maker.group_size) maker.threads = maker.group_size;
    nigh_status status = NIGH_OK;
    if (maker_allocate(&maker)) {
        make_groups(&maker);
        status = (nigh_status)atomic_load(&maker.status);
        if (status == NIGH_ECANCELLED) (void)nigh__progress_cancelled(error);
        if (atomic_load(&maker.cut)) (void)nigh__fail(error, NIGH_EIO, "signatures could not be read while in use");
    } else {
        status = nigh__no_memory(error, "to make slice lists");
    }
    maker_release(&maker);
    return status;
}
