/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs inside a bucket, whose rows agree in the key of its table.
 *
 * Small ones are compared all with all: narrow rows by 32 bits that are not the key,
 * sixteen at a time, and whole only where these differ in few; wide rows by the
 * distance kernel, 64 with a tile of others.  Large ones are divided once more, by
 * the same idea as the tables: what differs in at most h of the other bits agrees in
 * one of h + 1 parts of these, so rows are sorted by each part in turn and compared
 * where they agree.  A crowd that shares a prefix costs h + 1 sorts then, not its
 * square.
 *
 * A pair comes up wherever it agrees, and is told only there where it agrees first,
 * among the tables and then among the parts.
 *
 * A bucket has a budget of comparisons.  One that is over is divided, and each of
 * its parts has its share; one that is over that is cut: each row is compared with
 * so many of the following ones as the share has room for, and the result says so.
 * What is cut depends on the numbers of the rows and on nothing else.
 */
#include <string.h>

#include "base/status.h"
#include "base/word_sort.h"
#include "dedup/join.h"
#include "kernel/hamming.h"

#define TILE 4096u                                      /* narrow rows */
#define PAIR_HITS (TILE * NIGH__PAIRS_QUERIES + 16384u) /* a step's, and room for many steps before */
#define FOUND 2048u                                     /* pairs kept before they go to the sorter */
#define WIDE_TILE_BYTES (256u << 10)
#define MOST_WIDE_TILE 1024u
#define LEAST_WIDE_TILE 16u

/* What things take, in nanoseconds: only to choose between ways that find the same. */
#define NARROW_PAIR 0.06
#define WIDE_PAIR 0.15
#define WIDE_PAIR_WORD 0.09
#define SORTED_ROW 60.0
#define SORTED_ROW_WORD 4.0

enum scratch { FIRST_KEYS, SECOND_KEYS, SPARE_KEYS, NUMBERS, ROWS, REST, SECOND_NUMBERS, SECOND_ROWS, SECOND_REST };

/* Where a pair was found: in a table, or inside a bucket of it in a part. */
struct place {
    uint32_t table;
    bool divided;
    struct nigh__join_key key; /* of the table */
    uint32_t part;
    uint64_t rows; /* of the bucket that was divided */
};

double nigh__join_pair_cost(const struct nigh__join *join) {
    return join->narrow ? NARROW_PAIR : WIDE_PAIR + WIDE_PAIR_WORD * (double)join->words;
}

double nigh__join_row_cost(const struct nigh__join *join) { return SORTED_ROW + SORTED_ROW_WORD * (double)join->words; }

/* ------------------------------------------------------------------ workers */

static uint32_t wide_tile(const struct nigh__join *join) {
    const uint32_t rows = WIDE_TILE_BYTES / (join->words * 8u);
    if (rows < LEAST_WIDE_TILE) return LEAST_WIDE_TILE;
    return rows < MOST_WIDE_TILE ? rows : MOST_WIDE_TILE;
}

nigh_status nigh__join_worker_init(struct nigh__join *join, struct nigh__join_worker *out, nigh_error *error) {
    const nigh_context *context = join->context;
    *out = (struct nigh__join_worker){.join = join, .rows = NIGH__ARRAY(uint64_t)};
    for (size_t i = 0; i < sizeof out->scratch / sizeof out->scratch[0]; i++) out->scratch[i].item_size = 8;
    out->scratch[NUMBERS].item_size = out->scratch[REST].item_size = 4;
    out->scratch[SECOND_NUMBERS].item_size = out->scratch[SECOND_REST].item_size = 4;
    out->found = nigh__alloc(context, FOUND, 2 * sizeof *out->found);
    bool complete = out->found != NULL;
    if (join->narrow) {
        out->pair_hits = nigh__alloc(context, PAIR_HITS, sizeof *out->pair_hits);
        complete = complete && out->pair_hits != NULL;
    } else {
        const size_t tile = wide_tile(join);
        out->hits = nigh__alloc(context, tile * NIGH__BATCH_QUERIES + 1, sizeof *out->hits);
        out->query_rows = nigh__alloc_aligned(context, NIGH__BATCH_QUERIES, (size_t)join->words * 8, NIGH__CACHE_LINE);
        out->tile_rows = nigh__alloc_aligned(context, tile, (size_t)join->words * 8, NIGH__CACHE_LINE);
        complete = complete && out->hits != NULL && out->query_rows != NULL && out->tile_rows != NULL;
    }
    return complete ? NIGH_OK : nigh__fail(error, NIGH_ENOMEM, "no memory for joining");
}

void nigh__join_worker_release(struct nigh__join_worker *worker) {
    const nigh_context *context = worker->join->context;
    nigh__free(context, worker->pair_hits);
    nigh__free(context, worker->hits);
    nigh__free(context, worker->query_rows);
    nigh__free(context, worker->tile_rows);
    nigh__free(context, worker->found);
    for (size_t i = 0; i < sizeof worker->scratch / sizeof worker->scratch[0]; i++)
        nigh__array_release(context, &worker->scratch[i]);
    nigh__array_release(context, &worker->rows);
}

bool nigh__join_worker_flush(struct nigh__join_worker *worker) {
    struct nigh__join *join = worker->join;
    nigh_error error = {.status = NIGH_OK};
    (void)pthread_mutex_lock(&join->lock);
    nigh_status status = nigh__sorter_add(join->pairs, worker->found, worker->found_count, &error);
    join->result.compared += worker->compared;
    join->result.truncated += worker->truncated;
    (void)pthread_mutex_unlock(&join->lock);
    worker->found_count = 0;
    worker->compared = 0;
    worker->truncated = 0;
    if (status != NIGH_OK) nigh__join_fail(join, status, &error);
    return status == NIGH_OK;
}

static bool emit(struct nigh__join_worker *worker, uint32_t a, uint32_t b, uint32_t distance) {
    uint64_t *record = worker->found + 2 * worker->found_count++;
    record[0] = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    record[1] = distance;
    return worker->found_count < FOUND || nigh__join_worker_flush(worker);
}

/* Room for `count` items in a scratch array, whatever was in it; NULL with the failure kept. */
static void *room(struct nigh__join_worker *worker, enum scratch use, size_t count) {
    struct nigh__array *array = &worker->scratch[use];
    array->count = 0;
    void *memory = nigh__array_add(worker->join->context, array, count);
    if (memory != NULL) return memory;
    nigh_error error;
    nigh_status status = nigh__fail(&error, NIGH_ENOMEM, "no memory for a bucket of %zu rows", count);
    nigh__join_fail(worker->join, status, &error);
    return NULL;
}

/* ---------------------------------------------------------------- comparing */

/* Whether no table before this one, nor a part before this one, brings the two together. */
static bool is_first(const struct nigh__join *join, const struct place *place, const uint64_t *a, const uint64_t *b) {
    for (uint32_t t = 0; t < place->table; t++) {
        const struct nigh__join_key key = nigh__join_block(join, t);
        if (nigh__join_bits(a, join->width_bits, key) == nigh__join_bits(b, join->width_bits, key)) return false;
    }
    for (uint32_t p = 0; place->divided && p < place->part; p++) {
        const struct nigh__join_key key = nigh__join_part(join, place->key, p, place->rows);
        if (nigh__join_bits(a, join->width_bits, key) == nigh__join_bits(b, join->width_bits, key)) return false;
    }
    return true;
}

/* The task's rows begin at these places of the two sets. */
static bool compare_narrow(struct nigh__join_worker *worker, const struct nigh__join_rows *first, size_t from,
                           const struct nigh__join_rows *second, size_t second_from, const struct nigh__pair_task *task,
                           const struct place *place) {
    struct nigh__join *join = worker->join;
    for (size_t next = 0; next < task->query_count;) {
        const size_t found = join->kernel->find(task, &next, worker->pair_hits, PAIR_HITS);
        for (size_t i = 0; i < found; i++) {
            const size_t x = from + worker->pair_hits[i].query;
            const size_t y = second_from + worker->pair_hits[i].row;
            const uint32_t distance = (uint32_t)__builtin_popcountll(first->rows[x] ^ second->rows[y]);
            if (distance > join->options.radius || !is_first(join, place, &first->rows[x], &second->rows[y])) continue;
            if (!emit(worker, first->numbers[x], second->numbers[y], distance)) return false;
        }
    }
    return !nigh__join_failed(join);
}

static void compare_narrow_range(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from,
                                 size_t to, const struct place *place) {
    const struct nigh__join_rows *a = &bucket->first;
    const struct nigh__join_rows *b = &bucket->second;
    for (size_t x = from; x < to; x += TILE) {
        const size_t queries = to - x < TILE ? to - x : TILE;
        struct nigh__pair_task task = {
            .queries = a->rest + x, .query_count = queries, .radius = worker->join->options.radius};
        size_t y = 0;
        if (bucket->self) { /* the tile with itself, then with what follows */
            task.rows = task.queries;
            task.row_count = queries;
            task.self = true;
            if (!compare_narrow(worker, a, x, b, x, &task, place)) return;
            worker->compared += queries * (queries - 1) / 2;
            task.self = false;
            y = x + queries;
        }
        for (; y < b->count; y += TILE) {
            task.rows = b->rest + y;
            task.row_count = b->count - y < TILE ? b->count - y : TILE;
            if (!compare_narrow(worker, a, x, b, y, &task, place)) return;
            worker->compared += queries * task.row_count;
        }
    }
}

/* Rows from .. from + count of a set, where they are or fetched into `room`; NULL with the failure kept. */
static const uint64_t *wide_rows(struct nigh__join_worker *worker, const struct nigh__join_rows *set, size_t from,
                                 size_t count, uint64_t *fetched) {
    struct nigh__join *join = worker->join;
    if (set->rows != NULL) return set->rows + from * join->words;
    nigh_error error = {.status = NIGH_OK};
    for (size_t i = 0; i < count; i++) {
        nigh_status status = nigh__join_read(join, set->numbers[from + i], 1, fetched + i * join->words, &error);
        if (status == NIGH_OK) continue;
        nigh__join_fail(join, status, &error);
        return NULL;
    }
    return fetched;
}

/* Some queries, numbered from x, with a tile of rows, numbered from y. */
static bool compare_wide(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket,
                         const uint64_t *queries, size_t x, size_t query_count, const uint64_t *tile, size_t y,
                         size_t count, const struct place *place) {
    struct nigh__join *join = worker->join;
    const uint32_t words = join->words;
    uint32_t limits[NIGH__BATCH_QUERIES];
    for (size_t q = 0; q < query_count; q++) limits[q] = join->options.radius + 1;
    const size_t found = join->context->hamming->batch(queries, query_count, tile, count, words, limits, worker->hits);
    worker->compared += query_count * count;
    for (size_t h = 0; h < found; h++) {
        const struct nigh__hit *hit = &worker->hits[h];
        if (bucket->self && y + hit->row <= x + hit->query) continue;
        if (!is_first(join, place, queries + (size_t)hit->query * words, tile + (size_t)hit->row * words)) continue;
        if (!emit(worker, bucket->first.numbers[x + hit->query], bucket->second.numbers[y + hit->row], hit->distance))
            return false;
    }
    return !nigh__join_failed(join);
}

static void compare_wide_range(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from,
                               size_t to, const struct place *place) {
    const struct nigh__join_rows *b = &bucket->second;
    const size_t tile_most = wide_tile(worker->join);
    for (size_t y = bucket->self ? from + 1 : 0; y < b->count; y += tile_most) {
        const size_t count = b->count - y < tile_most ? b->count - y : tile_most;
        const size_t end = bucket->self && to > y + count ? y + count : to;
        const uint64_t *tile = wide_rows(worker, b, y, count, worker->tile_rows);
        for (size_t x = from; x < end && tile != NULL; x += NIGH__BATCH_QUERIES) {
            const size_t queries = end - x < NIGH__BATCH_QUERIES ? end - x : NIGH__BATCH_QUERIES;
            const uint64_t *rows = wide_rows(worker, &bucket->first, x, queries, worker->query_rows);
            if (rows == NULL || !compare_wide(worker, bucket, rows, x, queries, tile, y, count, place)) return;
        }
        if (tile == NULL) return;
    }
}

static void compare(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from, size_t to,
                    const struct place *place) {
    if (worker->join->narrow)
        compare_narrow_range(worker, bucket, from, to, place);
    else
        compare_wide_range(worker, bucket, from, to, place);
}

void nigh__join_compare(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t from,
                        size_t to) {
    const struct place place = {.table = bucket->table};
    compare(worker, bucket, from, to, &place);
}

/* ----------------------------------------------------------------- dividing */

static double comparisons(const struct nigh__join_bucket *bucket) {
    const double n = (double)bucket->first.count;
    return bucket->self ? n * (n - 1) / 2 : n * (double)bucket->second.count;
}

static uint64_t rows_of(const struct nigh__join_bucket *bucket) {
    return bucket->first.count + (bucket->self ? 0 : bucket->second.count);
}

static bool can_divide(const struct nigh__join *join, struct nigh__join_key key) {
    return join->blocks > 1 && join->width_bits - key.bits >= join->blocks;
}

/* Whether dividing is so much cheaper that it is worth the uncertainty. */
static bool pays_to_divide(const struct nigh__join *join, const struct nigh__join_bucket *bucket,
                           struct nigh__join_key key) {
    const double pair = nigh__join_pair_cost(join);
    const double all = comparisons(bucket);
    const uint32_t bits = nigh__join_part(join, key, 0, rows_of(bucket)).bits;
    const double inside = all * pair / (double)(UINT64_C(1) << bits);
    const double sorting = (double)rows_of(bucket) * nigh__join_row_cost(join);
    return (double)join->blocks * (sorting + inside) < 0.7 * all * pair;
}

/* (key << 32 | place in the set), sorted, in one of the scratch arrays; NULL with the failure kept. */
static const uint64_t *sorted_keys(struct nigh__join_worker *worker, const struct nigh__join_rows *set,
                                   struct nigh__join_key key, enum scratch use) {
    const struct nigh__join *join = worker->join;
    uint64_t *keys = room(worker, use, set->count);
    uint64_t *spare = room(worker, SPARE_KEYS, set->count);
    if (keys == NULL || spare == NULL) return NULL;
    for (size_t i = 0; i < set->count; i++) {
        const uint64_t *row = wide_rows(worker, set, i, 1, worker->query_rows);
        if (row == NULL) return NULL;
        keys[i] = (uint64_t)nigh__join_bits(row, join->width_bits, key) << 32 | i;
    }
    uint64_t *sorted = nigh__words_sort(keys, spare, set->count, 1, 1, 1);
    if (sorted != keys) memcpy(keys, sorted, set->count * sizeof *keys);
    return keys;
}

/* The rows that some keys stand for, side by side, in three scratch arrays from `use` on. */
static bool gather(struct nigh__join_worker *worker, const struct nigh__join_rows *set, const uint64_t *keys,
                   size_t count, struct nigh__join_key key, enum scratch use, struct nigh__join_rows *out) {
    const struct nigh__join *join = worker->join;
    const bool narrow = join->words == 1;
    uint32_t *numbers = room(worker, use, count);
    uint64_t *rows = narrow ? room(worker, use + 1, count) : NULL;
    uint32_t *rest = narrow ? room(worker, use + 2, count + NIGH__PAIRS_PADDING) : NULL;
    if (numbers == NULL || (narrow && (rows == NULL || rest == NULL))) return false;
    for (size_t i = 0; i < count; i++) {
        const size_t place = (uint32_t)keys[i];
        numbers[i] = set->numbers[place];
        if (!narrow) continue;
        rows[i] = set->rows[place];
        rest[i] = nigh__join_rest(rows[i], key);
    }
    if (narrow) memset(rest + count, 0, NIGH__PAIRS_PADDING * sizeof *rest);
    *out = (struct nigh__join_rows){.numbers = numbers, .rows = rows, .rest = rest, .count = count};
    return true;
}

/* The same, of wide rows, with the rows themselves where they are not too many. */
static bool gather_wide(struct nigh__join_worker *worker, const struct nigh__join_rows *set, const uint64_t *keys,
                        enum scratch use, struct nigh__join_rows *out) {
    const uint32_t words = worker->join->words;
    if (worker->join->words == 1 || out->count > MOST_WIDE_TILE) return true;
    uint64_t *rows = room(worker, use + 1, out->count * words);
    if (rows == NULL) return false;
    for (size_t i = 0; i < out->count; i++) {
        const uint64_t *row = wide_rows(worker, set, (uint32_t)keys[i], 1, worker->query_rows);
        if (row == NULL) return false;
        memcpy(rows + i * words, row, words * sizeof *rows);
    }
    out->rows = rows;
    return true;
}

/* Puts keys of one bucket into the order of the rows' numbers. */
static void order_by_number(const struct nigh__join_rows *set, uint64_t *keys, size_t count, uint64_t *spare) {
    for (size_t i = 0; i < count; i++) keys[i] = (uint64_t)set->numbers[(uint32_t)keys[i]] << 32 | (uint32_t)keys[i];
    uint64_t *sorted = nigh__words_sort(keys, spare, count, 1, 1, 1);
    if (sorted != keys) memcpy(keys, sorted, count * sizeof *keys);
}

/* Each row with so many of the following ones as there is room for. */
static void compare_cut(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, double share,
                        const struct place *place) {
    const size_t first = bucket->first.count;
    const size_t second = bucket->second.count;
    const double room_for = share / (double)first;
    const size_t most = room_for < 1 ? 1 : room_for > (double)second ? second : (size_t)room_for;
    worker->truncated++;
    for (size_t x = 0; x < first && !nigh__join_failed(worker->join); x++) {
        struct nigh__join_bucket cut = *bucket;
        size_t y = bucket->self ? x + 1 : (size_t)((double)x / (double)first * (double)second);
        if (!bucket->self && y > second - most) y = second - most;
        if (y >= second) continue;
        cut.self = false;
        cut.second.numbers += y;
        if (cut.second.rows != NULL) cut.second.rows += y * worker->join->words;
        if (cut.second.rest != NULL) cut.second.rest += y;
        cut.second.count = second - y < most ? second - y : most;
        compare(worker, &cut, x, x + 1, place);
    }
}

/* Some keys of each side, which agree. */
struct agreeing {
    const struct nigh__join_bucket *bucket;
    uint64_t *first_keys, *second_keys;
    size_t first, second;
    double share; /* of comparisons; negative: no limit */
};

static bool join_agreeing(struct nigh__join_worker *worker, const struct agreeing *a, struct nigh__join_key key,
                          const struct place *place) {
    struct nigh__join_bucket inner = {.self = a->bucket->self, .table = a->bucket->table};
    inner.first.count = a->first;
    inner.second.count = inner.self ? a->first : a->second;
    const bool cut = a->share >= 0 && comparisons(&inner) > a->share;
    if (cut) {
        uint64_t *spare = worker->scratch[SPARE_KEYS].data;
        order_by_number(&a->bucket->first, a->first_keys, a->first, spare);
        if (!inner.self) order_by_number(&a->bucket->second, a->second_keys, a->second, spare);
    }
    if (!gather(worker, &a->bucket->first, a->first_keys, a->first, key, NUMBERS, &inner.first)) return false;
    if (!gather_wide(worker, &a->bucket->first, a->first_keys, NUMBERS, &inner.first)) return false;
    if (inner.self) {
        inner.second = inner.first;
    } else {
        if (!gather(worker, &a->bucket->second, a->second_keys, a->second, key, SECOND_NUMBERS, &inner.second) ||
            !gather_wide(worker, &a->bucket->second, a->second_keys, SECOND_NUMBERS, &inner.second))
            return false;
    }
    if (cut)
        compare_cut(worker, &inner, a->share, place);
    else
        compare(worker, &inner, 0, inner.first.count, place);
    return !nigh__join_failed(worker->join);
}

static size_t run_length(const uint64_t *keys, size_t from, size_t count) {
    size_t end = from + 1;
    while (end < count && keys[end] >> 32 == keys[from] >> 32) end++;
    return end - from;
}

/* One part of the other bits: what agrees in it. */
static bool join_part(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, double budget,
                      const struct place *place) {
    const struct nigh__join *join = worker->join;
    const struct nigh__join_key key = nigh__join_part(join, place->key, place->part, place->rows);
    const struct nigh__join_rows *b = &bucket->second;
    if (sorted_keys(worker, &bucket->first, key, FIRST_KEYS) == NULL) return false;
    if (!bucket->self && sorted_keys(worker, b, key, SECOND_KEYS) == NULL) return false;
    if (room(worker, SPARE_KEYS, bucket->first.count > b->count ? bucket->first.count : b->count) == NULL) return false;
    uint64_t *first = worker->scratch[FIRST_KEYS].data;
    uint64_t *second = worker->scratch[SECOND_KEYS].data;
    for (size_t x = 0, y = 0; x < bucket->first.count;) {
        struct agreeing a = {.bucket = bucket, .first_keys = first + x, .share = -1};
        const uint64_t value = first[x] >> 32;
        a.first = run_length(first, x, bucket->first.count);
        if (!bucket->self) {
            while (y < b->count && second[y] >> 32 < value) y++;
            a.second_keys = second + y;
            a.second = y < b->count && second[y] >> 32 == value ? run_length(second, y, b->count) : 0;
            y += a.second;
        }
        x += a.first;
        if (bucket->self ? a.first < 2 : a.second == 0) continue;
        if (budget >= 0) a.share = budget * (double)(a.first + a.second) / (double)place->rows / (double)join->blocks;
        if (!join_agreeing(worker, &a, key, place)) return false;
    }
    return true;
}

static uint64_t *all_places(struct nigh__join_worker *worker, size_t count, enum scratch use) {
    uint64_t *keys = room(worker, use, count);
    for (size_t i = 0; keys != NULL && i < count; i++) keys[i] = i;
    return keys;
}

/* A bucket that is over the budget and cannot be divided. */
static void cut_whole(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, double budget,
                      const struct place *place) {
    const size_t first = bucket->first.count;
    const size_t second = bucket->self ? 0 : bucket->second.count;
    struct agreeing all = {.bucket = bucket, .first = first, .second = second, .share = budget};
    all.first_keys = all_places(worker, first, FIRST_KEYS);
    all.second_keys = all_places(worker, second, SECOND_KEYS);
    if (all.first_keys == NULL || all.second_keys == NULL) return;
    if (room(worker, SPARE_KEYS, first > second ? first : second) == NULL) return;
    (void)join_agreeing(worker, &all, place->key, place);
}

void nigh__join_bucket(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket) {
    const struct nigh__join *join = worker->join;
    const struct nigh__join_key key = nigh__join_block(join, bucket->table);
    const double budget = (double)join->options.bucket_budget;
    const bool over = comparisons(bucket) > budget;
    struct place place = {.table = bucket->table, .key = key, .rows = rows_of(bucket), .divided = true};
    if (can_divide(join, key) && (over || pays_to_divide(join, bucket, key))) {
        for (place.part = 0; place.part < join->blocks; place.part++) {
            if (!join_part(worker, bucket, over ? budget : -1, &place)) return;
        }
        return;
    }
    place.divided = false;
    if (over)
        cut_whole(worker, bucket, budget, &place);
    else
        compare(worker, bucket, 0, bucket->first.count, &place);
}
