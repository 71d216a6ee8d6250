/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of rows of up to 64 bits, in memory: 13 bytes a row, whatever the radius,
 * and a few hundred kilobytes a thread.
 *
 *     rows | numbers    by the upper 9 bits of the key, 512 parts: one pass over
 *                       the rows where the caller has them
 *     a part            sorted by the other bits of the key when a thread takes it,
 *                       in its cache, with 32 bits for each row beside it;
 *                       and compared, bucket by bucket, while it is there
 *     marks             rows that equal an earlier one, which no table has
 *
 * A bucket is where the key stays the same: 16 bits of 64 at radius 3, 150 rows of 10
 * million.
 *
 * Rows that are equal are found once the first table is divided, by a small hash
 * table for each bucket, and from there on there is one of each, the one of the
 * lowest number.  Threads share the passes by rows, all else by parts.
 */
#include <string.h>

#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "dedup/join.h"

#define PART_BITS 9u /* 512 places to write to at a time stay in the fastest cache */
#define PARTS (1u << PART_BITS)
#define MOST_THREADS 16u
#define ROWS_A_THREAD 65536u /* fewer are not worth a thread */
#define READ_AT_ONCE 1024u
/* The table, the marks, and a part: that may be all rows, in arrays of up to twice as many. */
#define BYTES_A_ROW (13u + 32u)

struct side {
    uint32_t first; /* number of its first row */
    size_t count;
    uint64_t *rows;
    uint32_t *numbers;
    size_t starts[PARTS], ends[PARTS];
};

struct shorts {
    struct nigh__join *join;
    struct side sides[2];
    uint32_t side_count;
    struct nigh__join_key key; /* of the table at hand */
    uint32_t table;
    uint32_t part_shift, part_mask; /* of a row: its part */
    uint32_t inner_bits;            /* of the key below these */
    uint8_t *marks;                 /* NIGH__JOIN_* of each row */

    struct side *side; /* that is divided */
    uint32_t threads;
    size_t places[MOST_THREADS][PARTS];

    atomic_uint next; /* part for a thread to take */
    uint64_t distinct;
};

/* A part in the order of its buckets. */
struct part {
    struct nigh__array rows, numbers, rest;
    struct nigh__array starts; /* size_t: of each bucket, and the end */
};

uint64_t nigh__join_short_bytes(const struct nigh__join *join) { return (uint64_t)join->count * BYTES_A_ROW; }

/* ------------------------------------------------------------------ memory */

static bool side_init(const struct nigh__join *join, uint32_t first, size_t count, struct side *out) {
    out->first = first;
    out->count = count;
    out->rows = nigh__alloc_large(join->context, count, sizeof *out->rows);
    out->numbers = nigh__alloc_large(join->context, count, sizeof *out->numbers);
    return out->rows != NULL && out->numbers != NULL;
}

static bool shorts_init(struct nigh__join *join, struct shorts *s) {
    s->join = join;
    s->side_count = join->self ? 1 : 2;
    s->marks = nigh__alloc_table(join->context, join->count, sizeof *s->marks);
    if (s->marks == NULL || !side_init(join, 0, join->split, &s->sides[0])) return false;
    return join->self || side_init(join, join->split, join->count - join->split, &s->sides[1]);
}

static void shorts_release(struct shorts *s) {
    const nigh_context *context = s->join->context;
    for (uint32_t i = 0; i < 2; i++) {
        nigh__free(context, s->sides[i].rows);
        nigh__free(context, s->sides[i].numbers);
    }
    nigh__free(context, s->marks);
    nigh__free(context, s);
}

static struct part part_init(void) {
    return (struct part){.rows = NIGH__ARRAY(uint64_t),
                         .numbers = NIGH__ARRAY(uint32_t),
                         .rest = NIGH__ARRAY(uint32_t),
                         .starts = NIGH__ARRAY(size_t)};
}

static void part_release(const nigh_context *context, struct part *part) {
    nigh__array_release(context, &part->rows);
    nigh__array_release(context, &part->numbers);
    nigh__array_release(context, &part->rest);
    nigh__array_release(context, &part->starts);
}

static void *fresh(const struct shorts *s, struct nigh__array *array, size_t count) {
    array->count = 0;
    return nigh__array_add(s->join->context, array, count);
}

static void no_memory(struct nigh__join *join, size_t rows) {
    nigh_error error;
    nigh_status status = nigh__fail(&error, NIGH_ENOMEM, "no memory to join %zu rows", rows);
    nigh__join_fail(join, status, &error);
}

/* ---------------------------------------------------------------- dividing */

static void share_of(const struct shorts *s, uint32_t thread, size_t *from, size_t *to) {
    const size_t part = s->side->count / s->threads;
    *from = part * thread;
    *to = thread + 1 == s->threads ? s->side->count : *from + part;
}

/* Some rows of the side from row `at` of it on; 0 with the failure kept. */
static size_t read_some(const struct shorts *s, size_t at, size_t to, uint64_t rows[READ_AT_ONCE]) {
    const size_t count = to - at < READ_AT_ONCE ? to - at : READ_AT_ONCE;
    nigh_error error = {.status = NIGH_OK};
    nigh_status status = nigh__join_read(s->join, s->side->first + (uint32_t)at, count, rows, &error);
    if (status == NIGH_OK) return count;
    nigh__join_fail(s->join, status, &error);
    return 0;
}

static void count_share(void *user, uint32_t thread) {
    struct shorts *s = user;
    size_t *counts = s->places[thread];
    uint64_t rows[READ_AT_ONCE];
    const uint32_t shift = s->part_shift;
    const uint32_t mask = s->part_mask;
    size_t from = 0;
    size_t to = 0;
    share_of(s, thread, &from, &to);
    memset(counts, 0, sizeof s->places[thread]);
    for (size_t count = 0; from < to; from += count) {
        count = read_some(s, from, to, rows);
        if (count == 0) return;
        const uint8_t *marks = s->marks + s->side->first + from;
        for (size_t i = 0; i < count; i++) counts[rows[i] >> shift & mask] += marks[i] != NIGH__JOIN_DROPPED;
    }
}

static void move_share(void *user, uint32_t thread) {
    struct shorts *s = user;
    const struct side *side = s->side;
    size_t *places = s->places[thread];
    uint64_t rows[READ_AT_ONCE];
    const uint32_t shift = s->part_shift;
    const uint32_t mask = s->part_mask;
    size_t from = 0;
    size_t to = 0;
    share_of(s, thread, &from, &to);
    for (size_t count = 0; from < to; from += count) {
        count = read_some(s, from, to, rows);
        if (count == 0) return;
        const uint32_t number = side->first + (uint32_t)from;
        for (size_t i = 0; i < count; i++) {
            if (s->marks[number + i] == NIGH__JOIN_DROPPED) continue;
            const size_t place = places[rows[i] >> shift & mask]++;
            side->rows[place] = rows[i];
            side->numbers[place] = number + (uint32_t)i;
        }
    }
}

static void counts_to_places(struct shorts *s) {
    size_t place = 0;
    for (uint32_t v = 0; v < PARTS; v++) {
        s->side->starts[v] = place;
        for (uint32_t t = 0; t < s->threads; t++) {
            const size_t count = s->places[t][v];
            s->places[t][v] = place;
            place += count;
        }
        s->side->ends[v] = place;
    }
}

static void divide_side(struct shorts *s, struct side *side) {
    const size_t most = side->count / ROWS_A_THREAD + 1;
    s->side = side;
    s->threads = s->join->threads < MOST_THREADS ? s->join->threads : MOST_THREADS;
    if (s->threads > most) s->threads = (uint32_t)most;
    nigh__threads_run(s->threads, count_share, s);
    counts_to_places(s);
    nigh__threads_run(s->threads, move_share, s);
}

static void divide(struct shorts *s) {
    s->key = nigh__join_block(s->join, s->table);
    const uint32_t part_bits = s->key.bits < PART_BITS ? s->key.bits : PART_BITS;
    s->inner_bits = s->key.bits - part_bits;
    s->part_shift = s->key.start + s->inner_bits;
    s->part_mask = (1u << part_bits) - 1;
    for (uint32_t i = 0; i < s->side_count; i++) divide_side(s, &s->sides[i]);
}

/* ------------------------------------------------------------------- parts */

/* Sorts the rows of a part by bucket; false with the failure kept. */
static bool sort_part(const struct shorts *s, const struct side *side, uint32_t number, struct part *out) {
    const size_t start = side->starts[number];
    const size_t count = side->ends[number] - start;
    const uint64_t *rows = side->rows + start;
    const uint32_t shift = s->key.start;
    const size_t buckets = (size_t)1 << s->inner_bits;
    const uint64_t mask = buckets - 1;
    uint64_t *to = fresh(s, &out->rows, count);
    uint32_t *numbers = fresh(s, &out->numbers, count);
    uint32_t *rest = fresh(s, &out->rest, count + NIGH__PAIRS_PADDING);
    size_t *starts = fresh(s, &out->starts, buckets + 2);
    if (to == NULL || numbers == NULL || rest == NULL || starts == NULL) {
        no_memory(s->join, count);
        return false;
    }
    /* Two further on than they belong: counted there, then moved along once by adding and once by filling. */
    memset(starts, 0, (buckets + 2) * sizeof *starts);
    for (size_t i = 0; i < count; i++) starts[(rows[i] >> shift & mask) + 2]++;
    for (size_t v = 2; v < buckets + 2; v++) starts[v] += starts[v - 1];
    for (size_t i = 0; i < count; i++) {
        const size_t place = starts[(rows[i] >> shift & mask) + 1]++;
        to[place] = rows[i];
        numbers[place] = side->numbers[start + i];
        rest[place] = nigh__join_rest(rows[i]);
    }
    memset(rest + count, 0, NIGH__PAIRS_PADDING * sizeof *rest);
    return true;
}

/* The next part for a thread; PARTS: no more. */
static uint32_t take_part(struct shorts *s, const struct nigh__join_worker *worker, const char *stage) {
    const uint32_t part = atomic_fetch_add_explicit(&s->next, 1, memory_order_relaxed);
    if (part > s->part_mask || nigh__join_failed(s->join)) return PARTS;
    if (worker->first) nigh__join_tick(s->join, stage, s->table, s->join->blocks);
    return part;
}

static nigh_status run_parts(struct shorts *s, void (*work)(void *user, struct nigh__join_worker *worker),
                             nigh_error *error) {
    const size_t most = s->sides[0].count / ROWS_A_THREAD + 1;
    atomic_store(&s->next, 0);
    return nigh__join_run(s->join, work, s, s->join->threads < most ? s->join->threads : (uint32_t)most, error);
}

/* ------------------------------------------------------------- equal rows */

struct dropping {
    struct shorts *s;
    struct part part;
    struct nigh__array slots;  /* uint32_t: of the hash table of a bucket */
    struct nigh__array groups; /* uint64_t: records of join->groups */
};

/* Slots for twice as many rows, all empty: a power of two; NULL: no memory. */
static uint32_t *empty_slots(struct dropping *d, size_t rows, size_t *mask) {
    size_t count = 64;
    while (count < 2 * rows) count *= 2;
    uint32_t *slots = fresh(d->s, &d->slots, count);
    if (slots != NULL) memset(slots, 0xff, count * sizeof *slots);
    *mask = count - 1;
    return slots;
}

/* Keeps of equal rows of a bucket the first, at `kept` of the table; returns what is kept then. */
static size_t drop_bucket(struct dropping *d, struct side *side, size_t from, size_t to, size_t kept) {
    struct shorts *s = d->s;
    const uint64_t *rows = d->part.rows.data;
    const uint32_t *numbers = d->part.numbers.data;
    const size_t begin = kept;
    size_t mask = 0;
    uint32_t *slots = empty_slots(d, to - from, &mask);
    for (size_t i = from; i < to && slots != NULL; i++) {
        size_t slot = (size_t)nigh__mix(rows[i] ^ s->join->secret) & mask;
        while (slots[slot] != UINT32_MAX && side->rows[begin + slots[slot]] != rows[i]) slot = (slot + 1) & mask;
        if (slots[slot] == UINT32_MAX) {
            slots[slot] = (uint32_t)(kept - begin);
            side->rows[kept] = rows[i];
            side->numbers[kept++] = numbers[i];
            continue;
        }
        uint64_t *record = nigh__array_add(s->join->context, &d->groups, 1);
        if (record == NULL) slots = NULL;
        if (slots == NULL) break;
        const uint32_t equal = side->numbers[begin + slots[slot]];
        *record = (uint64_t)equal << 32 | numbers[i];
        s->marks[equal] = NIGH__JOIN_HEAD;
        s->marks[numbers[i]] = NIGH__JOIN_DROPPED;
    }
    if (slots == NULL) no_memory(s->join, to - from);
    return kept;
}

static void drop_part(struct dropping *d, struct side *side, uint32_t number) {
    struct shorts *s = d->s;
    if (!sort_part(s, side, number, &d->part)) return;
    const size_t *starts = d->part.starts.data;
    size_t kept = side->starts[number];
    for (size_t v = 0; v < (size_t)1 << s->inner_bits && !nigh__join_failed(s->join); v++)
        kept = drop_bucket(d, side, starts[v], starts[v + 1], kept);
    side->ends[number] = kept;
}

static void drop_parts(void *user, struct nigh__join_worker *worker) {
    struct shorts *s = user;
    struct nigh__join *join = s->join;
    struct dropping d = {.s = s, .part = part_init(), .slots = NIGH__ARRAY(uint32_t), .groups = NIGH__ARRAY(uint64_t)};
    uint32_t part;
    while ((part = take_part(s, worker, "reading")) < PARTS) {
        nigh_error error = {.status = NIGH_OK};
        d.groups.count = 0;
        for (uint32_t i = 0; i < s->side_count; i++) drop_part(&d, &s->sides[i], part);
        (void)pthread_mutex_lock(&join->lock);
        for (uint32_t i = 0; i < s->side_count; i++) s->distinct += s->sides[i].ends[part] - s->sides[i].starts[part];
        nigh_status status = nigh__sorter_add(join->groups, d.groups.data, d.groups.count, &error);
        (void)pthread_mutex_unlock(&join->lock);
        if (status != NIGH_OK) nigh__join_fail(join, status, &error);
    }
    part_release(join->context, &d.part);
    nigh__array_release(join->context, &d.slots);
    nigh__array_release(join->context, &d.groups);
}

/* --------------------------------------------------------------- comparing */

static struct nigh__join_rows rows_of(const struct part *part, size_t bucket) {
    const size_t *starts = part->starts.data;
    if (starts == NULL) return (struct nigh__join_rows){0}; /* there is no bucket */
    const size_t from = starts[bucket];
    return (struct nigh__join_rows){.numbers = (const uint32_t *)part->numbers.data + from,
                                    .rows = (const uint64_t *)part->rows.data + from,
                                    .rest = (const uint32_t *)part->rest.data + from,
                                    .count = starts[bucket + 1] - from};
}

static void join_part(struct shorts *s, struct nigh__join_worker *worker, uint32_t number, struct part parts[2]) {
    for (uint32_t i = 0; i < s->side_count; i++) {
        if (s->sides[i].ends[number] == s->sides[i].starts[number]) return;
    }
    for (uint32_t i = 0; i < s->side_count; i++) {
        if (!sort_part(s, &s->sides[i], number, &parts[i])) return;
    }
    for (size_t v = 0; v < (size_t)1 << s->inner_bits && !nigh__join_failed(s->join); v++) {
        struct nigh__join_bucket bucket = {.first = rows_of(&parts[0], v), .table = s->table};
        bucket.self = s->side_count == 1;
        bucket.second = bucket.self ? bucket.first : rows_of(&parts[1], v);
        if (bucket.self ? bucket.first.count > 1 : bucket.first.count > 0 && bucket.second.count > 0)
            nigh__join_bucket(worker, &bucket);
    }
}

static void join_parts(void *user, struct nigh__join_worker *worker) {
    struct shorts *s = user;
    struct part parts[2] = {part_init(), part_init()};
    uint32_t part;
    while ((part = take_part(s, worker, "joining")) < PARTS) join_part(s, worker, part, parts);
    for (uint32_t i = 0; i < 2; i++) part_release(s->join->context, &parts[i]);
}

static nigh_status drop_equal(struct shorts *s, nigh_error *error) {
    divide(s);
    nigh_status status = run_parts(s, drop_parts, error);
    if (status != NIGH_OK) return status;
    s->join->result.distinct = s->distinct;
    return nigh__join_groups_load(s->join, s->marks, error);
}

nigh_status nigh__join_short(struct nigh__join *join, nigh_error *error) {
    struct shorts *s = nigh__alloc_zero(join->context, 1, sizeof *s);
    if (s == NULL || !shorts_init(join, s)) {
        if (s != NULL) shorts_release(s);
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory to join %u rows", join->count);
        return NIGH_ENOMEM;
    }
    nigh_status status = drop_equal(s, error);
    for (; s->table < join->blocks && status == NIGH_OK; s->table++) {
        if (s->table > 0) divide(s);
        status = run_parts(s, join_parts, error);
    }
    nigh__join_groups_unload(join);
    shorts_release(s);
    return status;
}
