/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Every pair within h bits, exactly.  The bits are cut into h + 1 blocks; rows that
 * differ in at most h bits agree in one of them whole.  So for each block in turn the
 * rows are sorted by it, and compared with those that have the same:
 *
 *     64 bits, h = 3   | 16 bits | 16 bits | 16 bits | 16 bits |
 *     table 0            ^^^^^^^                                  buckets of equal ^
 *     table 1                      ^^^^^^^
 *     ...
 *
 * A pair that agrees in several blocks is told in the first of them.  Of a block
 * longer than it takes to tell the rows apart only the beginning is sorted by.
 *
 * Where blocks are so short that buckets hold a large part of all rows, all pairs are
 * compared instead; an estimate of both decides, of which the answer does not depend.
 *
 * Cost, one core with AVX2: 10 million rows of 64 bits at h = 3 take 3 10^9 comparisons
 * in the buckets, a third of a second (36 instructions for 32 of them), and half a
 * second to bring the rows into the order of four tables.  A pair costs about 120 ns
 * more: it comes up in up to three tables, is told in one and sorted.
 *
 * join.h lists the parts.
 */
#include "join/join.h"

#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/secret.h"
#include "base/status.h"
#include "base/threads.h"
#include "collection/collection.h"
#include "collection/scheme.h"
#include "join/join_options.h"
#include "kernel/hamming.h"
#include "search/filter.h"

#define DEFAULT_BUDGET (UINT64_C(1) << 34)
#define DEFAULT_COPIES 1000u

/* -------------------------------------------------------------------- keys */

uint32_t nigh__join_useful_bits(uint64_t rows) {
    uint32_t bits = 1;
    while (bits < NIGH__JOIN_MAX_KEY_BITS && rows >> bits != 0) bits++;
    return bits;
}

struct nigh__join_key nigh__join_block(const struct nigh__join *join, uint32_t block) {
    if (join->all_pairs) return (struct nigh__join_key){.start = 0};
    const uint64_t width = join->width_bits;
    const uint32_t start = (uint32_t)(width * block / join->blocks);
    const uint32_t bits = (uint32_t)(width * (block + 1) / join->blocks) - start;
    return (struct nigh__join_key){.start = start, .bits = bits < join->key_bits ? bits : join->key_bits};
}

uint32_t nigh__join_part_bits(const struct nigh__join *join, struct nigh__join_key key, uint64_t rows) {
    const uint32_t bits = (join->width_bits - key.bits) / join->blocks;
    const uint32_t useful = nigh__join_useful_bits(rows);
    return bits < useful ? bits : useful;
}

/* Bits that do not go round the end. */
static uint32_t straight_bits(const uint64_t *row, uint32_t start, uint32_t bits) {
    const uint32_t shift = start % 64;
    uint64_t value = row[start / 64] >> shift;
    if (shift + bits > 64) value |= row[start / 64 + 1] << (64 - shift);
    return (uint32_t)(value & ((UINT64_C(1) << bits) - 1));
}

uint32_t nigh__join_bits(const uint64_t *row, uint32_t width_bits, struct nigh__join_key key) {
    if (key.bits == 0) return 0;
    if (key.start + key.bits <= width_bits) return straight_bits(row, key.start, key.bits);
    const uint32_t low = width_bits - key.start;
    return straight_bits(row, key.start, low) | straight_bits(row, 0, key.bits - low) << low;
}

/* ----------------------------------------------------------- state of a join */

void nigh__join_fail(struct nigh__join *join, nigh_status status, const nigh_error *error) {
    (void)pthread_mutex_lock(&join->lock);
    int none = NIGH_OK;
    if (atomic_compare_exchange_strong(&join->status, &none, (int)status) && join->error != NULL) *join->error = *error;
    (void)pthread_mutex_unlock(&join->lock);
}

bool nigh__join_failed(struct nigh__join *join) {
    return atomic_load_explicit(&join->status, memory_order_relaxed) != NIGH_OK;
}

void nigh__join_tick(struct nigh__join *join, const char *stage, uint64_t done, uint64_t total) {
    join->stage = stage;
    join->done = done;
    join->total = total;
    if (!nigh__progress_tick(&join->progress, stage, done, total)) return;
    nigh_error error = {.status = NIGH_OK};
    nigh_status status = nigh__progress_cancelled(&error);
    nigh__join_fail(join, status, &error);
}

struct shared_work {
    struct nigh__join *join;
    atomic_uint working; /* threads that have begun and not ended */
    void (*work)(void *user, struct nigh__join_worker *worker);
    void *user;
};

/* The calling thread has done its share: while others work on, it sees to cancelling. */
static void watch(struct shared_work *shared) {
    const struct timespec pause = {.tv_nsec = 1000000};
    while (shared->join->options.progress != NULL && atomic_load(&shared->working) > 1) {
        nigh__join_tick(shared->join, shared->join->stage, shared->join->done, shared->join->total);
        (void)nanosleep(&pause, NULL);
    }
}

static void work_alone(void *user, uint32_t thread) {
    struct shared_work *shared = user;
    atomic_fetch_add(&shared->working, 1);
    struct nigh__join_worker worker;
    nigh_error error = {.status = NIGH_OK};
    nigh_status status = nigh__join_worker_init(shared->join, &worker, &error);
    worker.first = thread == 0;
    if (status == NIGH_OK)
        shared->work(shared->user, &worker);
    else
        nigh__join_fail(shared->join, status, &error);
    if (status == NIGH_OK) (void)nigh__join_worker_flush(&worker);
    nigh__join_worker_release(&worker);
    if (thread == 0) watch(shared);
    atomic_fetch_sub(&shared->working, 1);
}

nigh_status nigh__join_run(struct nigh__join *join, void (*work)(void *user, struct nigh__join_worker *worker),
                           void *user, uint32_t threads, nigh_error *error) {
    struct shared_work shared = {.join = join, .work = work, .user = user};
    (void)error; /* it is kept by nigh__join_fail() */
    nigh__threads_run(threads, work_alone, &shared);
    return (nigh_status)atomic_load(&join->status);
}

/* ---------------------------------------------------------------- choosing */

/* Seconds do not matter here, only which is less. */
static bool tables_pay(const struct nigh__join *join) {
    const double rows = (double)join->count;
    const double pairs = join->self ? rows * rows / 2 : (double)join->split * (double)(join->count - join->split);
    const double pair = nigh__join_pair_cost(join);
    const double row = nigh__join_row_cost(join);
    const struct nigh__join_key key = nigh__join_block(join, 0);
    const double inside = pairs * pair / (double)(UINT64_C(1) << key.bits);
    const uint64_t bucket = join->count >> key.bits;
    const uint32_t part_bits = nigh__join_part_bits(join, key, bucket);
    const double divided = (double)join->blocks * (rows * row + inside / (double)(UINT64_C(1) << part_bits));
    return (double)join->blocks * (rows * row + (inside < divided ? inside : divided)) < pairs * pair;
}

static uint32_t bits_for(uint64_t value) { return value == 0 ? 0 : 64u - (uint32_t)__builtin_clzll(value); }

static void choose(struct nigh__join *join) {
    if (join->options.radius > join->width_bits) join->options.radius = join->width_bits;
    join->blocks = join->options.radius + 1;
    join->key_bits = nigh__join_useful_bits(join->count);
    join->narrow = join->words == 1 && join->options.radius <= NIGH__JOIN_NARROW_RADIUS;
    join->all_pairs = join->blocks > join->width_bits || !tables_pay(join);
    if (join->all_pairs) join->key_bits = 0;
    join->row_bits = bits_for(join->count);
    join->distance_bits = bits_for(join->options.radius);
    join->number_words = join->count <= join->narrow_count ? 1 : 2;
    const bool fits = join->number_words == 1 && 2 * join->row_bits + join->distance_bits <= 64;
    join->pair_words = fits ? 1 : join->number_words + 1;
}

/* --------------------------------------------------------------- the whole */

static nigh_status open_sorters(struct nigh__join *join, uint64_t memory, nigh_error *error) {
    struct nigh__sorter_options options = {.words = join->pair_words,
                                           .key_words = join->number_words,
                                           .memory_bytes = memory / 2,
                                           .temporary = join->options.temporary,
                                           .threads = join->threads};
    nigh_status status = nigh__sorter_new(join->context, &options, &join->pairs, error);
    options.words = join->number_words;
    options.memory_bytes = memory / 4;
    return status == NIGH_OK ? nigh__sorter_new(join->context, &options, &join->groups, error) : status;
}

static nigh_status join_rows(struct nigh__join *join, nigh_error *error) {
    const uint64_t memory = join->options.memory_bytes;
    const uint64_t needed = nigh__join_short_bytes(join);
    const bool small = join->number_words == 1 && join->count < UINT32_MAX;
    join->in_memory = join->words == 1 && !join->all_pairs && small && needed < memory - memory / 4;
    nigh_status status = open_sorters(join, join->in_memory ? memory - needed : memory / 2, error);
    if (status != NIGH_OK) return status;
    join->result.rows = join->count;
    join->result.tables = join->all_pairs ? 0 : join->blocks;
    status = join->in_memory ? nigh__join_short(join, error) : nigh__join_sorted(join, error);
    if (nigh__join_failed(join)) return (nigh_status)atomic_load(&join->status);
    if (status == NIGH_OK) status = nigh__join_give(join, error);
    if (join->pairs != NULL) join->result.disk_bytes += nigh__sorter_disk_bytes(join->pairs);
    join->result.disk_bytes += nigh__sorter_disk_bytes(join->groups);
    return status;
}

static nigh_status copy_options(const nigh_join_options *options, nigh_join_options *out, nigh_error *error) {
    nigh_status status = nigh__options_copy(&nigh__join_options_shape, out, options, error);
    if (out->memory_bytes == 0) out->memory_bytes = nigh__memory_usual();
    if (out->bucket_budget == 0) out->bucket_budget = DEFAULT_BUDGET;
    if (out->copies == 0) out->copies = DEFAULT_COPIES;
    return status;
}

/* The sides and the width are there. */
static nigh_status join_sides(struct nigh__join *join, nigh_join_result *result, nigh_error *error) {
    uint64_t count = 0;
    if (!nigh__add64(join->sides[0].count, join->sides[1].count, &count)) count = UINT64_MAX;
    nigh_status status = nigh__numbers_check(count, "rows", error);
    if (status != NIGH_OK) return status;
    if (pthread_mutex_init(&join->lock, NULL) != 0) return nigh__no_memory(error, "for a lock");
    join->words = (join->width_bits + 63) / 64;
    join->count = count;
    join->split = join->sides[0].count;
    join->threads = nigh__threads_resolve(join->options.threads);
    join->kernel = nigh__pairs_choose(join->context->hamming->name);
    join->secret = nigh__secret();
    join->error = error;
    nigh__progress_init(&join->progress, join->options.progress);
    join->stage = "joining";
    choose(join);
    status = join_rows(join, error);
    nigh__sorter_free(join->pairs);
    nigh__sorter_free(join->groups);
    (void)pthread_mutex_destroy(&join->lock);
    if (result != NULL) nigh__info_copy(result, &join->result, sizeof join->result);
    return status;
}

nigh_status nigh__join_from(nigh_context *context, const uint8_t *rows, uint64_t count, const uint8_t *others,
                            uint64_t other_count, uint64_t narrow_count, const nigh_join_options *options,
                            nigh_join_result *result, nigh_error *error) {
    struct nigh__join join = {.context = context,
                              .self = others == NULL,
                              .narrow_count = narrow_count,
                              .result = {.size = sizeof(nigh_join_result)}};
    nigh_status status = copy_options(options, &join.options, error);
    if (status != NIGH_OK) return status;
    join.width_bits = join.options.width_bits;
    status = nigh__width_allowed(join.width_bits, error);
    if (status != NIGH_OK) return status;
    if (rows == NULL && count > 0)
        return nigh__fail(error, NIGH_EINVAL, "no rows, though %llu were announced", (unsigned long long)count);
    status = nigh__padding_check(rows, count, join.width_bits, "row", error);
    if (status == NIGH_OK && others != NULL)
        status = nigh__padding_check(others, other_count, join.width_bits, "other row", error);
    if (status != NIGH_OK) return status;
    join.sides[0] = (struct nigh__join_side){.bytes = rows, .count = count};
    if (others != NULL) join.sides[1] = (struct nigh__join_side){.bytes = others, .count = other_count};
    return join_sides(&join, result, error);
}

nigh_status nigh_join(nigh_context *context, const uint8_t *rows, uint64_t count, const uint8_t *others,
                      uint64_t other_count, const nigh_join_options *options, nigh_join_result *result,
                      nigh_error *error) {
    return nigh__join_from(context, rows, count, others, other_count, NIGH__HALF_WORD_NUMBERS, options, result, error);
}

/* Rows of one scheme are comparable; an empty collection has none and fits any. */
static nigh_status same_scheme(const nigh_collection *a, const nigh_collection *b, nigh_error *error) {
    if (a->documents == 0 || b->documents == 0) return NIGH_OK;
    if (a->width_bits != b->width_bits)
        return nigh__fail(error, NIGH_EMISMATCH, "one collection has signatures of %u bits, the other of %u",
                          a->width_bits, b->width_bits);
    if (!nigh__scheme_same_bits(nigh_collection_scheme(a), nigh_collection_scheme(b)))
        return nigh__fail(error, NIGH_EMISMATCH, "the signatures of the two collections were made in different ways");
    return NIGH_OK;
}

static nigh_status side_init(struct nigh__join_side *side, const nigh_collection *collection, const nigh_filter *filter,
                             nigh_error *error) {
    side->collection = collection;
    if (filter != NULL && filter->collection != collection)
        return nigh__fail(error, NIGH_EINVAL, "the filter is of another collection, or of another opening of it");
    if (filter != NULL) return nigh__filter_numbers(filter, &side->numbers, &side->count, error);
    side->count = collection->documents - collection->deleted;
    return nigh__collection_living(collection, &side->numbers, error);
}

nigh_status nigh_collection_join(const nigh_collection *collection, const nigh_collection *other,
                                 const nigh_join_options *options, nigh_join_result *result, nigh_error *error) {
    struct nigh__join join = {.context = collection->context,
                              .self = other == NULL,
                              .narrow_count = NIGH__HALF_WORD_NUMBERS,
                              .result = {.size = sizeof(nigh_join_result)}};
    nigh_status status = copy_options(options, &join.options, error);
    if (status != NIGH_OK) return status;
    join.width_bits = collection->documents > 0 || other == NULL ? collection->width_bits : other->width_bits;
    if (join.options.width_bits != 0 && join.options.width_bits != join.width_bits)
        return nigh__fail(error, NIGH_EMISMATCH, "the collection has signatures of %u bits, not %u", join.width_bits,
                          join.options.width_bits);
    if (other != NULL) status = same_scheme(collection, other, error);
    if (status != NIGH_OK) return status;
    if (join.width_bits == 0) join.width_bits = 64; /* nothing was ever added */
    status = side_init(&join.sides[0], collection, join.options.filter, error);
    if (status == NIGH_OK && other != NULL) status = side_init(&join.sides[1], other, NULL, error);
    if (status == NIGH_OK) status = join_sides(&join, result, error);
    for (int side = 0; side < 2; side++) nigh__free(join.context, join.sides[side].numbers);
    return status;
}
