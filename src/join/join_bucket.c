/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs inside a bucket, whose rows agree in the key of its table.
 *
 * Small ones are compared all with all (join_compare.c).  Large ones are divided once
 * more, by the same idea as the tables: what differs in at most h of the bits that vary
 * inside the bucket agrees in one of h + 1 parts of these, so rows are sorted by each
 * part in turn and compared where they agree:
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
 * A bucket has a budget of comparisons.  One that is over is divided, and each of
 * its parts has its share, where they need more; what is over that is cut: each row
 * is compared with about so many of the following ones as the share has room for, and
 * the result says so.
 * What is cut depends on the order of the rows, so those of a bucket that is over the
 * budget come in the order of their numbers.  Sorting by a part keeps that order.
 */
#include <string.h>

#include "base/assert.h"
#include "base/rng.h"
#include "base/word_sort.h"
#include "join/join_bucket.h"

#define MORE_KEY_BITS 2u /* of a part, than tell its rows apart */
#define SAMPLE 4096u     /* rows of a side that show whether dividing pays */
#define PLACE_MASK NIGH__MAX_NUMBERS
#define MAX_CUT_QUERIES 64u /* that are cut together */

_Static_assert(NIGH__JOIN_MAX_KEY_BITS + MORE_KEY_BITS + NIGH__NUMBER_BITS <= 64, "a place fits beside a key");

/* What things take, in nanoseconds: only to choose between ways that find the same. */
#define NARROW_PAIR 0.06
#define WIDE_PAIR 0.15
#define WIDE_PAIR_WORD 0.09
#define SORTED_ROW 60.0
#define SORTED_ROW_WORD 4.0

double nigh__join_pair_cost(const struct nigh__join *join) {
    return join->narrow ? NARROW_PAIR : WIDE_PAIR + WIDE_PAIR_WORD * (double)join->words;
}

double nigh__join_row_cost(const struct nigh__join *join) { return SORTED_ROW + SORTED_ROW_WORD * (double)join->words; }

double nigh__join_comparisons(const struct nigh__join_bucket *bucket) {
    NIGH__ASSERT(!bucket->self || bucket->first.count == bucket->second.count);
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
    return (double)join->blocks * sorting + left * pair < 0.7 * nigh__join_comparisons(bucket) * pair;
}

/* Whether it would be, if all other bits varied as if by chance. */
static bool may_pay_to_divide(const struct nigh__join *join, const struct nigh__join_bucket *bucket,
                              struct nigh__join_key key) {
    const uint32_t bits = nigh__join_part_bits(join, key, rows_of(bucket));
    const double left = (double)join->blocks * nigh__join_comparisons(bucket) / (double)(UINT64_C(1) << bits);
    return pays_to_divide(join, bucket, left);
}

/* Adds to the bits that vary those in which rows of the set differ from the first one of the bucket. */
static bool add_varying(struct nigh__join_worker *worker, const struct nigh__join_rows *set, const uint64_t *first,
                        uint64_t *varying) {
    const uint32_t words = worker->join->words;
    for (size_t i = 0; i < set->count; i++) {
        const uint64_t *row = nigh__join_fetch(worker, set, i, 1, worker->query_rows);
        if (row == NULL) return false;
        for (uint32_t w = 0; w < words; w++) varying[w] |= row[w] ^ first[w];
    }
    return true;
}

static bool find_varying(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, uint64_t *varying) {
    const uint32_t words = worker->join->words;
    const uint64_t *first = nigh__join_fetch(worker, &bucket->first, 0, 1, worker->tile_rows);
    if (first == NULL) return false;
    memset(varying, 0, words * sizeof *varying);
    if (!add_varying(worker, &bucket->first, first, varying)) return false;
    return bucket->self || add_varying(worker, &bucket->second, first, varying);
}

/* Whether all rows agree in the key of an earlier table. */
static bool came_up_before(const struct nigh__join *join, const struct nigh__join_place *place,
                           const uint64_t *varying) {
    for (uint32_t t = 0; t < place->table; t++) {
        if (nigh__join_bits(varying, join->width_bits, nigh__join_block(join, t)) == 0) return true;
    }
    return false;
}

/* Cuts the bits that vary into parts of as many; false: there are too few. */
static bool cut_parts(const struct nigh__join *join, struct nigh__join_parts *parts) {
    uint64_t count = 0;
    for (uint32_t w = 0; w < join->words; w++) count += nigh__join_count_bits(parts->varying[w]);
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
static uint64_t part_hash(const struct nigh__join_parts *parts, uint32_t part, const uint64_t *row) {
    const uint32_t last = (parts->bounds[part + 1] - 1) / 64;
    uint64_t hash = 0;
    for (uint32_t w = parts->bounds[part] / 64; w <= last; w++)
        hash = nigh__mix(hash ^ (row[w] & nigh__join_part_mask(parts, part, w)));
    return hash & nigh__words_key_mask(parts->key_bits);
}

/* Hashes of a part of some rows evenly from a set. */
static bool sample_set(struct nigh__join_worker *worker, const struct nigh__join_rows *set, size_t count,
                       const struct nigh__join_place *place, uint64_t mark, uint64_t *keys) {
    for (size_t i = 0; i < count; i++) {
        const uint64_t *row = nigh__join_fetch(worker, set, set->count / count * i, 1, worker->query_rows);
        if (row == NULL) return false;
        keys[i] = part_hash(place->parts, place->part, row) | mark;
    }
    return true;
}

static size_t run_length(const uint64_t *keys, size_t from, size_t count) {
    size_t end = from + 1;
    while (end < count && keys[end] >> NIGH__NUMBER_BITS == keys[from] >> NIGH__NUMBER_BITS) end++;
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
                            struct nigh__join_place *place) {
    const size_t first = bucket->first.count < SAMPLE ? bucket->first.count : SAMPLE;
    const size_t others = bucket->second.count < SAMPLE ? bucket->second.count : SAMPLE;
    const size_t second = bucket->self ? 0 : others;
    const double all = bucket->self ? (double)first * (double)(first - 1) / 2 : (double)first * (double)second;
    uint64_t *keys = nigh__join_room(worker, NIGH__JOIN_FIRST_KEYS, first + second);
    uint64_t *spare = nigh__join_room(worker, NIGH__JOIN_SPARE_KEYS, first + second);
    double agreeing = 0;
    if (keys == NULL || spare == NULL) return -1;
    for (place->part = 0; place->part < worker->join->blocks; place->part++) {
        if (!sample_set(worker, &bucket->first, first, place, 0, keys) ||
            !sample_set(worker, &bucket->second, second, place, 1, keys + first))
            return -1;
        const uint64_t *sorted = nigh__words_sort_bits(keys, spare, first + second, 1, place->parts->key_bits, 1);
        agreeing += pairs_that_agree(sorted, first + second, bucket->self);
    }
    return agreeing / all * nigh__join_comparisons(bucket);
}

/* (hash of the part | place in the set), sorted, in one of the scratch arrays; NULL with the failure kept. */
static const uint64_t *sorted_keys(struct nigh__join_worker *worker, const struct nigh__join_rows *set,
                                   const struct nigh__join_place *place, enum nigh__join_scratch use) {
    uint64_t *keys = nigh__join_room(worker, use, set->count);
    uint64_t *spare = nigh__join_room(worker, NIGH__JOIN_SPARE_KEYS, set->count);
    if (keys == NULL || spare == NULL) return NULL;
    for (size_t i = 0; i < set->count; i++) {
        const uint64_t *row = nigh__join_fetch(worker, set, i, 1, worker->query_rows);
        if (row == NULL) return NULL;
        keys[i] = part_hash(place->parts, place->part, row) | i;
    }
    uint64_t *sorted = nigh__words_sort_bits(keys, spare, set->count, 1, place->parts->key_bits, 1);
    if (sorted != keys) memcpy(keys, sorted, set->count * sizeof *keys);
    return keys;
}

static uint32_t *gather_numbers(const struct nigh__join_rows *set, const uint64_t *keys, size_t count, uint32_t *out) {
    for (size_t i = 0; i < count; i++) out[i] = set->numbers[keys[i] & PLACE_MASK];
    return out;
}

static uint64_t *gather_wide_numbers(const struct nigh__join_rows *set, const uint64_t *keys, size_t count,
                                     uint64_t *out) {
    for (size_t i = 0; i < count; i++) out[i] = set->wide_numbers[keys[i] & PLACE_MASK];
    return out;
}

/* The rows that some keys stand for, side by side, in two scratch arrays from `use` on. */
static bool gather(struct nigh__join_worker *worker, const struct nigh__join_rows *set, const uint64_t *keys,
                   size_t count, enum nigh__join_scratch use, struct nigh__join_rows *out) {
    const struct nigh__join *join = worker->join;
    const bool narrow = join->words == 1;
    void *numbers = nigh__join_room(worker, use, count);
    uint64_t *rows = narrow ? nigh__join_room(worker, use + 1, count) : NULL;
    if (numbers == NULL || (narrow && rows == NULL)) return false;
    *out = (struct nigh__join_rows){.rows = rows, .count = count};
    if (join->in_memory)
        out->numbers = gather_numbers(set, keys, count, numbers);
    else
        out->wide_numbers = gather_wide_numbers(set, keys, count, numbers);
    for (size_t i = 0; narrow && i < count; i++) rows[i] = set->rows[keys[i] & PLACE_MASK];
    return true;
}

/* The same, of wide rows, with the rows themselves where they are not too many. */
static bool gather_wide(struct nigh__join_worker *worker, const struct nigh__join_rows *set, const uint64_t *keys,
                        enum nigh__join_scratch use, struct nigh__join_rows *out) {
    const uint32_t words = worker->join->words;
    if (worker->join->words == 1 || out->count > NIGH__JOIN_WIDE_TILE) return true;
    uint64_t *rows = nigh__join_room(worker, use + 1, out->count * words);
    if (rows == NULL) return false;
    for (size_t i = 0; i < out->count; i++) {
        const uint64_t *row = nigh__join_fetch(worker, set, keys[i] & PLACE_MASK, 1, worker->query_rows);
        if (row == NULL) return false;
        memcpy(rows + i * words, row, words * sizeof *rows);
    }
    out->rows = rows;
    return true;
}

/* Some rows of a set. */
static struct nigh__join_rows some_rows(const struct nigh__join *join, const struct nigh__join_rows *set, size_t from,
                                        size_t most) {
    struct nigh__join_rows some = *set;
    if (some.numbers != NULL) some.numbers += from;
    if (some.wide_numbers != NULL) some.wide_numbers += from;
    if (some.rows != NULL) some.rows += from * join->words;
    some.count = set->count - from < most ? set->count - from : most;
    return some;
}

/*
 * Rows with so many of the following ones as there is room for.  A few are taken together, with those that follow the
 * first of them, so that tiles are compared here too.
 */
static void compare_cut(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, double share,
                        const struct nigh__join_place *place) {
    const struct nigh__join *join = worker->join;
    const size_t first = bucket->first.count;
    const size_t second = bucket->second.count;
    const double room_for = share / (double)first;
    const size_t most = room_for < 1 ? 1 : room_for > (double)second ? second : (size_t)room_for;
    const size_t half = most < 2 ? 1 : most / 2;
    const size_t together = half < MAX_CUT_QUERIES ? half : MAX_CUT_QUERIES;
    worker->truncated++;
    for (size_t x = 0; x < first && !nigh__join_failed(worker->join); x += together) {
        struct nigh__join_bucket cut = {.self = bucket->self, .table = bucket->table};
        size_t y = (size_t)((double)x / (double)first * (double)second);
        if (y > second - most) y = second - most;
        cut.first = some_rows(join, &bucket->first, x, bucket->self ? most + 1 : together);
        cut.second = bucket->self ? cut.first : some_rows(join, &bucket->second, y, most);
        nigh__join_compare_in(worker, &cut, 0, cut.first.count < together ? cut.first.count : together, place);
    }
}

/* Some keys of each side, which agree. */
struct agreeing {
    const struct nigh__join_bucket *bucket;
    uint64_t *first_keys, *second_keys;
    size_t first, second;
    double share; /* of comparisons; negative: no limit */
};

static bool join_agreeing(struct nigh__join_worker *worker, const struct agreeing *a,
                          const struct nigh__join_place *place) {
    struct nigh__join_bucket inner = {.self = a->bucket->self, .table = a->bucket->table};
    inner.first.count = a->first;
    inner.second.count = inner.self ? a->first : a->second;
    const bool cut = a->share >= 0 && nigh__join_comparisons(&inner) > a->share;
    if (!gather(worker, &a->bucket->first, a->first_keys, a->first, NIGH__JOIN_NUMBERS, &inner.first)) return false;
    if (!gather_wide(worker, &a->bucket->first, a->first_keys, NIGH__JOIN_NUMBERS, &inner.first)) return false;
    if (inner.self) {
        inner.second = inner.first;
    } else {
        if (!gather(worker, &a->bucket->second, a->second_keys, a->second, NIGH__JOIN_SECOND_NUMBERS, &inner.second) ||
            !gather_wide(worker, &a->bucket->second, a->second_keys, NIGH__JOIN_SECOND_NUMBERS, &inner.second))
            return false;
    }
    if (cut)
        compare_cut(worker, &inner, a->share, place);
    else
        nigh__join_compare_in(worker, &inner, 0, inner.first.count, place);
    return !nigh__join_failed(worker->join);
}

/* The next keys of both sides that agree, from *x and *y on, which go past them; false: no more. */
static bool next_agreeing(const struct nigh__join_bucket *bucket, uint64_t *first, uint64_t *second, size_t *x,
                          size_t *y, struct agreeing *out) {
    const size_t second_count = bucket->self ? 0 : bucket->second.count;
    while (*x < bucket->first.count) {
        *out = (struct agreeing){.bucket = bucket, .first_keys = first + *x, .share = -1};
        const uint64_t value = first[*x] >> NIGH__NUMBER_BITS;
        out->first = run_length(first, *x, bucket->first.count);
        while (*y < second_count && second[*y] >> NIGH__NUMBER_BITS < value) (*y)++;
        if (*y < second_count && second[*y] >> NIGH__NUMBER_BITS == value) {
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
                      const struct nigh__join_place *place) {
    const struct nigh__join_rows *b = &bucket->second;
    if (sorted_keys(worker, &bucket->first, place, NIGH__JOIN_FIRST_KEYS) == NULL) return false;
    if (!bucket->self && sorted_keys(worker, b, place, NIGH__JOIN_SECOND_KEYS) == NULL) return false;
    if (!nigh__join_keep_on(worker, bucket, 0, rows_of(bucket) * 64)) return false;
    uint64_t *first = worker->scratch[NIGH__JOIN_FIRST_KEYS].data;
    uint64_t *second = worker->scratch[NIGH__JOIN_SECOND_KEYS].data;
    struct agreeing a;
    double needed = 0;
    for (size_t x = 0, y = 0; budget >= 0 && next_agreeing(bucket, first, second, &x, &y, &a);)
        needed += bucket->self ? (double)a.first * (double)(a.first - 1) / 2 : (double)a.first * (double)a.second;
    for (size_t x = 0, y = 0; next_agreeing(bucket, first, second, &x, &y, &a);) {
        if (needed > budget && budget >= 0)
            a.share = budget * (double)(a.first + a.second) / (double)place->parts->rows;
        if (!join_agreeing(worker, &a, place) || !nigh__join_keep_on(worker, bucket, 0, 64)) return false;
    }
    return true;
}

static uint64_t *all_places(struct nigh__join_worker *worker, size_t count, enum nigh__join_scratch use) {
    uint64_t *keys = nigh__join_room(worker, use, count);
    for (size_t i = 0; keys != NULL && i < count; i++) keys[i] = i;
    return keys;
}

/* A bucket that is over the budget and cannot be divided. */
static void cut_whole(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, double budget,
                      const struct nigh__join_place *place) {
    const size_t first = bucket->first.count;
    const size_t second = bucket->self ? 0 : bucket->second.count;
    struct agreeing all = {.bucket = bucket, .first = first, .second = second, .share = budget};
    all.first_keys = all_places(worker, first, NIGH__JOIN_FIRST_KEYS);
    all.second_keys = all_places(worker, second, NIGH__JOIN_SECOND_KEYS);
    if (all.first_keys == NULL || all.second_keys == NULL) return;
    (void)join_agreeing(worker, &all, place);
}

static void join_divided(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, double budget,
                         struct nigh__join_place *place) {
    const struct nigh__join *join = worker->join;
    for (place->part = 0; place->part < join->blocks; place->part++) {
        if (join->narrow) place->within = nigh__join_part_mask(place->parts, place->part, 0);
        if (!join_part(worker, bucket, budget < 0 ? -1 : budget / (double)join->blocks, place)) return;
        if (join->narrow) place->masks[place->mask_count++] = place->within;
    }
}

static void join_whole(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket,
                       const struct nigh__join_place *place) {
    const double budget = (double)worker->join->options.bucket_budget;
    if (nigh__join_comparisons(bucket) > budget)
        cut_whole(worker, bucket, budget, place);
    else
        nigh__join_compare_in(worker, bucket, 0, bucket->first.count, place);
}

/* A bucket so large that it is worth a look at the bits that vary. */
static void join_large(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket,
                       struct nigh__join_place *place) {
    const struct nigh__join *join = worker->join;
    const double budget = (double)join->options.bucket_budget;
    const bool over = nigh__join_comparisons(bucket) > budget;
    struct nigh__join_parts parts = {.rows = rows_of(bucket),
                                     .key_bits = nigh__join_useful_bits(rows_of(bucket)) + MORE_KEY_BITS};
    parts.varying = nigh__join_room(worker, NIGH__JOIN_VARYING, join->words);
    parts.bounds = nigh__join_room(worker, NIGH__JOIN_BOUNDS, (size_t)join->blocks + 1);
    if (parts.varying == NULL || parts.bounds == NULL || !find_varying(worker, bucket, parts.varying)) return;
    if (came_up_before(join, place, parts.varying)) return;
    bool divide = cut_parts(join, &parts);
    if (divide) {
        place->parts = &parts;
        const double left = estimate_left(worker, bucket, place);
        place->parts = NULL;
        if (left < 0) return;
        divide = over ? left < nigh__join_comparisons(bucket) : pays_to_divide(join, bucket, left);
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
    struct nigh__join_place place = nigh__join_place_in(join, bucket);
    const bool over = nigh__join_comparisons(bucket) > (double)join->options.bucket_budget;
    if (join->blocks > 1 && (over || may_pay_to_divide(join, bucket, place.key)))
        join_large(worker, bucket, &place);
    else
        join_whole(worker, bucket, &place);
}
