/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs inside a bucket, whose rows agree in the key of its table.
 *
 * Small ones are compared all with all: narrow rows by 32 bits that are not the key,
 * sixteen at a time, and whole only where these differ in few; wide rows by the
 * distance kernel, 64 with a tile of others.  Large ones are divided once more, by
 * the same idea as the tables: what differs in at most h of the bits that vary inside
 * the bucket agrees in one of h + 1 parts of these, so rows are sorted by each part in
 * turn and compared where they agree:
 *
 *     the rows of a bucket   1011 0 00 1 0 1 01     . is a bit that all have in common
 *                            1011 1 00 0 0 0 01
 *     that vary              .... ^ .. ^ . ^ ..     and are cut into h + 1 parts
 *
 * A crowd that shares a prefix, however long, costs h + 1 sorts then, not its square.
 * Where parts do not tell rows apart, which a sample shows, all are compared once
 * instead.  Where all rows of a bucket agree in the key of an earlier table, that had
 * all pairs of it already, and there is nothing to do.
 *
 * A pair comes up wherever it agrees, and is told only there where it agrees first,
 * among the tables and then among the parts.
 *
 * A bucket has a budget of comparisons.  One that is over is divided, and each of
 * its parts has its share, where they need more; what is over that is cut: each row
 * is compared with about so many of the following ones as the share has room for, and
 * the result says so.
 * What is cut depends on the numbers of the rows and on nothing else.
 */
#include <string.h>

#include "base/rng.h"
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
#define SAMPLE 4096u         /* rows of a side that show whether dividing pays */
#define MOST_CUT_QUERIES 64u /* that are cut together */
#define WORK_A_TICK (1u << 22)

/* What things take, in nanoseconds: only to choose between ways that find the same. */
#define NARROW_PAIR 0.06
#define WIDE_PAIR 0.15
#define WIDE_PAIR_WORD 0.09
#define SORTED_ROW 60.0
#define SORTED_ROW_WORD 4.0

enum scratch {
    FIRST_KEYS,
    SECOND_KEYS,
    SPARE_KEYS,
    NUMBERS,
    ROWS,
    REST,
    SECOND_NUMBERS,
    SECOND_ROWS,
    SECOND_REST,
    VARYING,
    BOUNDS
};

/* The bits that vary inside a bucket; part p of them are those from bounds[p] up to bounds[p + 1]. */
struct parts {
    uint64_t *varying;
    uint32_t *bounds;
    uint64_t rows;     /* of the bucket */
    uint32_t key_bits; /* that rows are sorted by, of a hash of a part */
};

/* Where a pair was found: in a table, or inside a bucket of it in a part. */
struct place {
    uint32_t table;
    struct nigh__join_key key; /* of the table */
    const struct parts *parts; /* NULL: the bucket is not divided */
    uint32_t part;
    uint64_t within; /* of narrow rows: the bits of the part */
    /* Of narrow rows: where two agree in one of these, they came up before. */
    uint64_t masks[2 * (NIGH__JOIN_NARROW_RADIUS + 1)];
    uint32_t mask_count;
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
    out->scratch[BOUNDS].item_size = 4;
    out->found = nigh__alloc(context, FOUND, join->pair_words * sizeof *out->found);
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
    join->result.copies_untold += worker->untold;
    (void)pthread_mutex_unlock(&join->lock);
    worker->found_count = 0;
    worker->compared = 0;
    worker->truncated = 0;
    worker->untold = 0;
    if (status != NIGH_OK) nigh__join_fail(join, status, &error);
    return status == NIGH_OK;
}

bool nigh__join_emit(struct nigh__join_worker *worker, uint32_t a, uint32_t b, uint32_t distance) {
    const struct nigh__join *join = worker->join;
    nigh__join_pack(join, a, b, distance, worker->found + join->pair_words * worker->found_count++);
    return worker->found_count < FOUND || nigh__join_worker_flush(worker);
}

static bool emit(struct nigh__join_worker *worker, uint32_t a, uint32_t b, uint32_t distance) {
    const uint8_t *marks = worker->join->group.marks;
    const uint32_t low = a < b ? a : b;
    const uint32_t high = a < b ? b : a;
    if (marks != NULL && (marks[low] != NIGH__JOIN_ALONE || marks[high] != NIGH__JOIN_ALONE))
        return nigh__join_emit_groups(worker, low, high, distance);
    return nigh__join_emit(worker, low, high, distance);
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

/* After so much work, comparisons or the like, on row `at` of the bucket; false: nothing more is to be done. */
static bool keep_on(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t at,
                    uint64_t work) {
    struct nigh__join *join = worker->join;
    worker->work += work;
    if (worker->first && worker->work >= WORK_A_TICK) {
        worker->work = 0;
        if (join->all_pairs)
            nigh__join_tick(join, "comparing", at, bucket->first.count);
        else
            nigh__join_tick(join, "joining", bucket->table, join->blocks);
    }
    return !nigh__join_failed(join);
}

/* ---------------------------------------------------------------- comparing */

/* The bits of a part in word `w` of a row. */
static inline uint64_t part_mask(const struct parts *parts, uint32_t part, uint32_t w) {
    const uint32_t from = parts->bounds[part];
    const uint32_t to = parts->bounds[part + 1];
    uint64_t mask = parts->varying[w];
    if (w == from / 64) mask &= UINT64_MAX << from % 64;
    if (w == to / 64) mask &= ~(UINT64_MAX << to % 64);
    return mask;
}

static bool agree_in_part(const struct parts *parts, uint32_t part, const uint64_t *a, const uint64_t *b) {
    const uint32_t last = (parts->bounds[part + 1] - 1) / 64;
    uint64_t differing = 0;
    for (uint32_t w = parts->bounds[part] / 64; w <= last; w++) differing |= (a[w] ^ b[w]) & part_mask(parts, part, w);
    return differing == 0;
}

/* The bits of a key of a narrow row, which may go round the end. */
static uint64_t mask_of(const struct nigh__join *join, struct nigh__join_key key) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < key.bits; i++) mask |= UINT64_C(1) << (key.start + i) % join->width_bits;
    return mask;
}

static struct place place_in(const struct nigh__join *join, const struct nigh__join_bucket *bucket) {
    struct place place = {.table = bucket->table};
    place.key = nigh__join_block(join, bucket->table);
    for (uint32_t t = 0; join->narrow && t < bucket->table; t++)
        place.masks[place.mask_count++] = mask_of(join, nigh__join_block(join, t));
    return place;
}

static bool is_first_narrow(const struct place *place, uint64_t differing) {
    if ((differing & place->within) != 0) return false;
    for (uint32_t i = 0; i < place->mask_count; i++) {
        if ((differing & place->masks[i]) == 0) return false;
    }
    return true;
}

/* Whether this part brings the two together, and no table before this one nor a part before this one. */
static bool is_first(const struct nigh__join *join, const struct place *place, const uint64_t *a, const uint64_t *b) {
    for (uint32_t t = 0; t < place->table; t++) {
        const struct nigh__join_key key = nigh__join_block(join, t);
        if (nigh__join_bits(a, join->width_bits, key) == nigh__join_bits(b, join->width_bits, key)) return false;
    }
    if (place->parts == NULL) return true;
    for (uint32_t p = 0; p < place->part; p++) {
        if (agree_in_part(place->parts, p, a, b)) return false;
    }
    return agree_in_part(place->parts, place->part, a, b); /* not only in the hash of it */
}

/* Bits of a word, eight counts in its bytes added up at last: no CPU is asked for more than it may have. */
static uint32_t bits_of(uint64_t x) {
    x -= x >> 1 & UINT64_C(0x5555555555555555);
    x = (x & UINT64_C(0x3333333333333333)) + (x >> 2 & UINT64_C(0x3333333333333333));
    x = (x + (x >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
    return (uint32_t)(x * UINT64_C(0x0101010101010101) >> 56);
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
            const uint64_t differing = first->rows[x] ^ second->rows[y];
            const uint32_t distance = bits_of(differing);
            if (distance > join->options.radius || !is_first_narrow(place, differing)) continue;
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
            if (!keep_on(worker, bucket, x, queries * queries / 2)) return;
            task.self = false;
            y = x + queries;
        }
        for (; y < b->count; y += TILE) {
            task.rows = b->rest + y;
            task.row_count = b->count - y < TILE ? b->count - y : TILE;
            if (!compare_narrow(worker, a, x, b, y, &task, place)) return;
            worker->compared += queries * task.row_count;
            if (!keep_on(worker, bucket, x, queries * task.row_count)) return;
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
            if (!keep_on(worker, bucket, from, queries * count * worker->join->words)) return;
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
    const struct place place = place_in(worker->join, bucket);
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

/* Whether dividing is so much cheaper, once so many comparisons are left, that it is worth the uncertainty. */
static bool pays_to_divide(const struct nigh__join *join, const struct nigh__join_bucket *bucket, double left) {
    const double pair = nigh__join_pair_cost(join);
    const double sorting = (double)rows_of(bucket) * nigh__join_row_cost(join);
    return (double)join->blocks * sorting + left * pair < 0.7 * comparisons(bucket) * pair;
}

/* Whether it would be, if all other bits varied as if by chance. */
static bool may_pay_to_divide(const struct nigh__join *join, const struct nigh__join_bucket *bucket,
                              struct nigh__join_key key) {
    const uint32_t bits = nigh__join_part_bits(join, key, rows_of(bucket));
    const double left = (double)join->blocks * comparisons(bucket) / (double)(UINT64_C(1) << bits);
    return pays_to_divide(join, bucket, left);
}

/* Adds to the bits that vary those in which rows of the set differ from the first one of the bucket. */
static bool add_varying(struct nigh__join_worker *worker, const struct nigh__join_rows *set, const uint64_t *first,
                        uint64_t *varying) {
    const uint32_t words = worker->join->words;
    for (size_t i = 0; i < set->count; i++) {
        const uint64_t *row = wide_rows(worker, set, i, 1, worker->query_rows);
        if (row == NULL) return false;
        for (uint32_t w = 0; w < words; w++) varying[w] |= row[w] ^ first[w];
    }
    return true;
}

static bool find_varying(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, uint64_t *varying) {
    const uint32_t words = worker->join->words;
    const uint64_t *first = wide_rows(worker, &bucket->first, 0, 1, worker->tile_rows);
    if (first == NULL) return false;
    memset(varying, 0, words * sizeof *varying);
    if (!add_varying(worker, &bucket->first, first, varying)) return false;
    return bucket->self || add_varying(worker, &bucket->second, first, varying);
}

/* Whether all rows agree in the key of an earlier table. */
static bool came_up_before(const struct nigh__join *join, const struct place *place, const uint64_t *varying) {
    for (uint32_t t = 0; t < place->table; t++) {
        if (nigh__join_bits(varying, join->width_bits, nigh__join_block(join, t)) == 0) return true;
    }
    return false;
}

/* Cuts the bits that vary into parts of as many; false: there are too few. */
static bool cut_parts(const struct nigh__join *join, struct parts *parts) {
    uint64_t count = 0;
    for (uint32_t w = 0; w < join->words; w++) count += bits_of(parts->varying[w]);
    if (count < join->blocks) return false;
    uint64_t rank = 0;
    uint32_t part = 0;
    for (uint32_t bit = 0; part < join->blocks; bit++) {
        if ((parts->varying[bit / 64] >> bit % 64 & 1) == 0) continue;
        if (rank == count * part / join->blocks) parts->bounds[part++] = bit;
        rank++;
    }
    parts->bounds[part] = join->width_bits;
    return true;
}

/* The highest bits of a hash of a part of a row: the same everywhere, for what is cut depends on it. */
static uint64_t part_hash(const struct parts *parts, uint32_t part, const uint64_t *row) {
    const uint32_t last = (parts->bounds[part + 1] - 1) / 64;
    uint64_t hash = 0;
    for (uint32_t w = parts->bounds[part] / 64; w <= last; w++)
        hash = nigh__mix(hash ^ (row[w] & part_mask(parts, part, w)));
    return hash & nigh__words_key_mask(parts->key_bits);
}

/* Hashes of a part of some rows evenly from a set. */
static bool sample_set(struct nigh__join_worker *worker, const struct nigh__join_rows *set, size_t count,
                       const struct place *place, uint64_t mark, uint64_t *keys) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t *row = wide_rows(worker, set, set->count / count * i, 1, worker->query_rows);
        if (row == NULL) return false;
        keys[i] = part_hash(place->parts, place->part, row) | mark;
    }
    return true;
}

static size_t run_length(const uint64_t *keys, size_t from, size_t count) {
    size_t end = from + 1;
    while (end < count && keys[end] >> 32 == keys[from] >> 32) end++;
    return end - from;
}

/* How many pairs agree among sorted keys, of which the lowest bit is set in those of the second side. */
static double pairs_that_agree(const uint64_t *keys, size_t count, bool self) {
    double pairs = 0;
    for (size_t i = 0; i < count;) {
        const size_t run = run_length(keys, i, count);
        size_t seconds = 0;
        for (size_t k = i; k < i + run; k++) seconds += keys[k] & 1;
        pairs += self ? (double)run * (double)(run - 1) / 2 : (double)(run - seconds) * (double)seconds;
        i += run;
    }
    return pairs;
}

/* The comparisons that parts would leave, by a sample; negative with the failure kept. */
static double estimate_left(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket,
                            struct place *place) {
    const size_t first = bucket->first.count < SAMPLE ? bucket->first.count : SAMPLE;
    const size_t others = bucket->second.count < SAMPLE ? bucket->second.count : SAMPLE;
    const size_t second = bucket->self ? 0 : others;
    const double all = bucket->self ? (double)first * (double)(first - 1) / 2 : (double)first * (double)second;
    uint64_t *keys = room(worker, FIRST_KEYS, first + second);
    uint64_t *spare = room(worker, SPARE_KEYS, first + second);
    double agreeing = 0;
    if (keys == NULL || spare == NULL) return -1;
    for (place->part = 0; place->part < worker->join->blocks; place->part++) {
        if (!sample_set(worker, &bucket->first, first, place, 0, keys) ||
            !sample_set(worker, &bucket->second, second, place, 1, keys + first))
            return -1;
        const uint64_t *sorted = nigh__words_sort_bits(keys, spare, first + second, 1, place->parts->key_bits, 1);
        agreeing += pairs_that_agree(sorted, first + second, bucket->self);
    }
    return agreeing / all * comparisons(bucket);
}

/* (hash of the part | place in the set), sorted, in one of the scratch arrays; NULL with the failure kept. */
static const uint64_t *sorted_keys(struct nigh__join_worker *worker, const struct nigh__join_rows *set,
                                   const struct place *place, enum scratch use) {
    uint64_t *keys = room(worker, use, set->count);
    uint64_t *spare = room(worker, SPARE_KEYS, set->count);
    if (keys == NULL || spare == NULL) return NULL;
    for (size_t i = 0; i < set->count; i++) {
        const uint64_t *row = wide_rows(worker, set, i, 1, worker->query_rows);
        if (row == NULL) return NULL;
        keys[i] = part_hash(place->parts, place->part, row) | i;
    }
    uint64_t *sorted = nigh__words_sort_bits(keys, spare, set->count, 1, place->parts->key_bits, 1);
    if (sorted != keys) memcpy(keys, sorted, set->count * sizeof *keys);
    return keys;
}

/* The rows that some keys stand for, side by side, in three scratch arrays from `use` on. */
static bool gather(struct nigh__join_worker *worker, const struct nigh__join_rows *set, const uint64_t *keys,
                   size_t count, enum scratch use, struct nigh__join_rows *out) {
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
        rest[i] = nigh__join_rest(rows[i]);
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

/* Some rows of a set. */
static struct nigh__join_rows some_rows(const struct nigh__join *join, const struct nigh__join_rows *set, size_t from,
                                        size_t most) {
    struct nigh__join_rows some = *set;
    some.numbers += from;
    if (some.rows != NULL) some.rows += from * join->words;
    if (some.rest != NULL) some.rest += from;
    some.count = set->count - from < most ? set->count - from : most;
    return some;
}

/*
 * Rows with so many of the following ones as there is room for.  A few are taken together, with those that follow the
 * first of them, so that tiles are compared here too.
 */
static void compare_cut(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, double share,
                        const struct place *place) {
    const struct nigh__join *join = worker->join;
    const size_t first = bucket->first.count;
    const size_t second = bucket->second.count;
    const double room_for = share / (double)first;
    const size_t most = room_for < 1 ? 1 : room_for > (double)second ? second : (size_t)room_for;
    const size_t half = most < 2 ? 1 : most / 2;
    const size_t together = half < MOST_CUT_QUERIES ? half : MOST_CUT_QUERIES;
    worker->truncated++;
    for (size_t x = 0; x < first && !nigh__join_failed(worker->join); x += together) {
        struct nigh__join_bucket cut = {.self = bucket->self, .table = bucket->table};
        size_t y = (size_t)((double)x / (double)first * (double)second);
        if (y > second - most) y = second - most;
        cut.first = some_rows(join, &bucket->first, x, bucket->self ? most + 1 : together);
        cut.second = bucket->self ? cut.first : some_rows(join, &bucket->second, y, most);
        compare(worker, &cut, 0, cut.first.count < together ? cut.first.count : together, place);
    }
}

/* Some keys of each side, which agree. */
struct agreeing {
    const struct nigh__join_bucket *bucket;
    uint64_t *first_keys, *second_keys;
    size_t first, second;
    double share; /* of comparisons; negative: no limit */
};

static bool join_agreeing(struct nigh__join_worker *worker, const struct agreeing *a, const struct place *place) {
    struct nigh__join_bucket inner = {.self = a->bucket->self, .table = a->bucket->table};
    inner.first.count = a->first;
    inner.second.count = inner.self ? a->first : a->second;
    const bool cut = a->share >= 0 && comparisons(&inner) > a->share;
    if (cut) {
        uint64_t *spare = worker->scratch[SPARE_KEYS].data;
        order_by_number(&a->bucket->first, a->first_keys, a->first, spare);
        if (!inner.self) order_by_number(&a->bucket->second, a->second_keys, a->second, spare);
    }
    if (!gather(worker, &a->bucket->first, a->first_keys, a->first, NUMBERS, &inner.first)) return false;
    if (!gather_wide(worker, &a->bucket->first, a->first_keys, NUMBERS, &inner.first)) return false;
    if (inner.self) {
        inner.second = inner.first;
    } else {
        if (!gather(worker, &a->bucket->second, a->second_keys, a->second, SECOND_NUMBERS, &inner.second) ||
            !gather_wide(worker, &a->bucket->second, a->second_keys, SECOND_NUMBERS, &inner.second))
            return false;
    }
    if (cut)
        compare_cut(worker, &inner, a->share, place);
    else
        compare(worker, &inner, 0, inner.first.count, place);
    return !nigh__join_failed(worker->join);
}

/* The next keys of both sides that agree, from *x and *y on, which go past them; false: no more. */
static bool next_agreeing(const struct nigh__join_bucket *bucket, uint64_t *first, uint64_t *second, size_t *x,
                          size_t *y, struct agreeing *out) {
    const size_t second_count = bucket->self ? 0 : bucket->second.count;
    while (*x < bucket->first.count) {
        *out = (struct agreeing){.bucket = bucket, .first_keys = first + *x, .share = -1};
        const uint64_t value = first[*x] >> 32;
        out->first = run_length(first, *x, bucket->first.count);
        while (*y < second_count && second[*y] >> 32 < value) (*y)++;
        if (*y < second_count && second[*y] >> 32 == value) {
            out->second_keys = second + *y;
            out->second = run_length(second, *y, second_count);
        }
        *x += out->first;
        *y += out->second;
        if (bucket->self ? out->first > 1 : out->second > 0) return true;
    }
    return false;
}

/* One part of the bits that vary: what agrees in it. */
static bool join_part(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, double budget,
                      const struct place *place) {
    const struct nigh__join_rows *b = &bucket->second;
    if (sorted_keys(worker, &bucket->first, place, FIRST_KEYS) == NULL) return false;
    if (!bucket->self && sorted_keys(worker, b, place, SECOND_KEYS) == NULL) return false;
    if (room(worker, SPARE_KEYS, bucket->first.count > b->count ? bucket->first.count : b->count) == NULL) return false;
    if (!keep_on(worker, bucket, 0, rows_of(bucket) * 64)) return false;
    uint64_t *first = worker->scratch[FIRST_KEYS].data;
    uint64_t *second = worker->scratch[SECOND_KEYS].data;
    struct agreeing a;
    double needed = 0;
    for (size_t x = 0, y = 0; budget >= 0 && next_agreeing(bucket, first, second, &x, &y, &a);)
        needed += bucket->self ? (double)a.first * (double)(a.first - 1) / 2 : (double)a.first * (double)a.second;
    for (size_t x = 0, y = 0; next_agreeing(bucket, first, second, &x, &y, &a);) {
        if (needed > budget && budget >= 0)
            a.share = budget * (double)(a.first + a.second) / (double)place->parts->rows;
        if (!join_agreeing(worker, &a, place) || !keep_on(worker, bucket, 0, 64)) return false;
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
    (void)join_agreeing(worker, &all, place);
}

static void join_divided(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, double budget,
                         struct place *place) {
    const struct nigh__join *join = worker->join;
    for (place->part = 0; place->part < join->blocks; place->part++) {
        if (join->narrow) place->within = part_mask(place->parts, place->part, 0);
        if (!join_part(worker, bucket, budget < 0 ? -1 : budget / (double)join->blocks, place)) return;
        if (join->narrow) place->masks[place->mask_count++] = place->within;
    }
}

static void join_whole(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket,
                       const struct place *place) {
    const double budget = (double)worker->join->options.bucket_budget;
    if (comparisons(bucket) > budget)
        cut_whole(worker, bucket, budget, place);
    else
        compare(worker, bucket, 0, bucket->first.count, place);
}

/* A bucket so large that it is worth a look at the bits that vary. */
static void join_large(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, struct place *place) {
    const struct nigh__join *join = worker->join;
    const double budget = (double)join->options.bucket_budget;
    const bool over = comparisons(bucket) > budget;
    struct parts parts = {.rows = rows_of(bucket), .key_bits = nigh__join_useful_bits(rows_of(bucket)) + 2};
    parts.varying = room(worker, VARYING, join->words);
    parts.bounds = room(worker, BOUNDS, (size_t)join->blocks + 1);
    if (parts.varying == NULL || parts.bounds == NULL || !find_varying(worker, bucket, parts.varying)) return;
    if (came_up_before(join, place, parts.varying)) return;
    bool divide = cut_parts(join, &parts);
    if (divide) {
        place->parts = &parts;
        const double left = estimate_left(worker, bucket, place);
        place->parts = NULL;
        if (left < 0) return;
        divide = over ? left < comparisons(bucket) : pays_to_divide(join, bucket, left);
    }
    if (divide) {
        place->parts = &parts;
        join_divided(worker, bucket, over ? budget : -1, place);
        place->parts = NULL;
    } else {
        place->parts = NULL;
        place->part = 0;
        join_whole(worker, bucket, place);
    }
}

void nigh__join_bucket(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket) {
    const struct nigh__join *join = worker->join;
    struct place place = place_in(join, bucket);
    const bool over = comparisons(bucket) > (double)join->options.bucket_budget;
    if (join->blocks > 1 && (over || may_pay_to_divide(join, bucket, place.key)))
        join_large(worker, bucket, &place);
    else
        join_whole(worker, bucket, &place);
}
