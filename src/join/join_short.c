/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of rows of up to 64 bits, in memory: 24 bytes a row, whatever the radius, and
 * a few hundred kilobytes a thread.
 *
 *     rows | numbers    by the upper 9 bits of the key, 512 parts.  Of the first table
 *                       the rows are read where the caller has them; every other is
 *                       divided out of the one before it
 *     a part            sorted by the other bits of the key when a thread takes it,
 *                       in its cache, and compared, bucket by bucket, while it is there
 *
 * A bucket is where the key stays the same: 16 bits of 64 at radius 3, 150 rows of 10
 * million.
 *
 * Rows that are equal are found once the first table is divided, by a small hash
 * table for each bucket, and from there on there is one of each, the one of the
 * lowest number.  Threads share the dividing by rows, all else by parts; the order of
 * the rows does not depend on how many there are.
 */
#include <string.h>

#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/word_sort.h"
#include "join/join.h"

#define PART_BITS 9u /* 512 places to write to at a time stay in the nearest caches */
#define PARTS (1u << PART_BITS)
#define MAX_THREADS 16u
#define ROWS_A_THREAD 65536u /* fewer are not worth a thread */
#define READ_AT_ONCE 1024u
#define LINE 8u /* rows of a cache line */
/* Two tables, what join_pairs.c keeps of groups, and a part: that may be all rows, with an eighth to spare. */
#define BYTES_A_ROW (24u + 3u + 14u)

/* Part v are the places from starts[v] to ends[v]. */
struct table {
    uint64_t *rows;
    uint32_t *numbers;
    size_t starts[PARTS], ends[PARTS];
};

struct side {
    uint32_t first; /* number of its first row */
    size_t count;
    struct table tables[2]; /* the one at hand and the one before it, in turn */
};

struct shorts {
    struct nigh__join *join;
    struct side sides[2];
    uint32_t side_count;
    struct nigh__join_key key; /* of the table at hand */
    uint32_t table;
    uint32_t part_shift, part_mask; /* of a row: its part */
    uint32_t inner_bits;            /* of the key below these */

    struct side *side; /* that is divided */
    uint32_t threads;
    size_t places[MAX_THREADS][PARTS];

    atomic_uint next; /* part for a thread to take */
    uint64_t distinct;
};

/* A part in the order of its buckets. */
struct part {
    const uint64_t *rows;
    const uint32_t *numbers;
    size_t *starts; /* of each bucket, and the end */
    struct nigh__array sorted_rows, sorted_numbers, bounds;
};

uint64_t nigh__join_short_bytes(const struct nigh__join *join) { return join->count * BYTES_A_ROW; }

static struct table *table_of(struct side *side, uint32_t table) { return &side->tables[table % 2]; }

/* ------------------------------------------------------------------ memory */

static bool side_init(const struct nigh__join *join, uint32_t first, size_t count, struct side *out) {
    out->first = first;
    out->count = count;
    for (uint32_t i = 0; i < 2; i++) {
        struct table *table = &out->tables[i];
        table->rows = nigh__alloc_large(join->context, count, sizeof *table->rows);
        table->numbers = nigh__alloc_large(join->context, count, sizeof *table->numbers);
        if (table->rows == NULL || table->numbers == NULL) return false;
    }
    return true;
}

static bool shorts_init(struct nigh__join *join, struct shorts *s) {
    s->join = join;
    s->side_count = join->self ? 1 : 2;
    if (!side_init(join, 0, (size_t)join->split, &s->sides[0])) return false;
    const size_t others = (size_t)(join->count - join->split);
    return join->self || side_init(join, (uint32_t)join->split, others, &s->sides[1]); /* in_memory: it fits */
}

static void shorts_release(struct shorts *s) {
    const nigh_context *context = s->join->context;
    for (uint32_t i = 0; i < 4; i++) {
        nigh__free(context, s->sides[i / 2].tables[i % 2].rows);
        nigh__free(context, s->sides[i / 2].tables[i % 2].numbers);
    }
    nigh__free(context, s);
}

static struct part part_init(void) {
    return (struct part){
        .sorted_rows = NIGH__ARRAY(uint64_t), .sorted_numbers = NIGH__ARRAY(uint32_t), .bounds = NIGH__ARRAY(size_t)};
}

static void part_release(const nigh_context *context, struct part *part) {
    nigh__array_release(context, &part->sorted_rows);
    nigh__array_release(context, &part->sorted_numbers);
    nigh__array_release(context, &part->bounds);
}

/* Room for `count` items, whatever was there; NULL: no memory.  Parts are about as large as each other. */
static void *fresh(const struct shorts *s, struct nigh__array *array, size_t count) {
    if (array->data != NULL && array->capacity >= count) return array->data;
    nigh__array_release(s->join->context, array);
    array->data = nigh__alloc(s->join->context, count + count / 8, array->item_size);
    array->capacity = array->data == NULL ? 0 : count + count / 8;
    return array->data;
}

static void no_memory(struct nigh__join *join, size_t rows) {
    nigh_error error;
    nigh_status status = nigh__fail(&error, NIGH_ENOMEM, "no memory to join %zu rows", rows);
    nigh__join_fail(join, status, &error);
}

/* ---------------------------------------------------------------- dividing */

/* A thread's share of the rows that a table is divided out of, some at a time. */
struct share {
    const struct table *from; /* the table before; NULL: the rows are the caller's */
    bool reads;               /* these are read, to where the second table will be */
    size_t at, end;           /* places of that table, or rows of the side */
    uint32_t part;            /* of that table */
    const uint64_t *rows;
    const uint32_t *numbers;
    uint32_t read_numbers[READ_AT_ONCE];
};

static void share_of(struct shorts *s, uint32_t thread, bool reads, struct share *out) {
    const size_t part = s->side->count / s->threads;
    out->from = s->table == 0 ? NULL : table_of(s->side, s->table - 1);
    out->reads = reads;
    out->at = part * thread;
    out->end = thread + 1 == s->threads ? s->side->count : out->at + part;
    out->part = 0;
}

/*
 * From the caller; 0 at the end, or with the failure kept.  A row is read once: should it change meanwhile, as that of
 * a file may, it would have no place if it were counted as it was and moved as it is.
 */
static size_t read_some(const struct shorts *s, struct share *share) {
    const size_t count = nigh__smaller(share->end - share->at, READ_AT_ONCE);
    const uint32_t first = s->side->first + (uint32_t)share->at;
    uint64_t *rows = table_of(s->side, 1)->rows + share->at;
    nigh_error error = {.status = NIGH_OK};
    if (count == 0) return 0;
    nigh_status status = share->reads ? nigh__join_read(s->join, first, count, rows, &error) : NIGH_OK;
    if (status != NIGH_OK) {
        nigh__join_fail(s->join, status, &error);
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) share->read_numbers[i] = first + i;
    share->rows = rows;
    share->numbers = share->read_numbers;
    share->at += count;
    return count;
}

/* The next rows of a share; 0: no more.  Behind a part there may be places of rows that were dropped. */
static size_t next_rows(const struct shorts *s, struct share *share) {
    if (share->from == NULL) return read_some(s, share);
    while (share->part < PARTS && share->from->ends[share->part] <= share->at) share->part++;
    if (share->part == PARTS) return 0;
    if (share->at < share->from->starts[share->part]) share->at = share->from->starts[share->part];
    if (share->at >= share->end) return 0;
    const size_t count = nigh__smaller(share->end, share->from->ends[share->part]) - share->at;
    share->rows = share->from->rows + share->at;
    share->numbers = share->from->numbers + share->at;
    share->at += count;
    return count;
}

static void count_share(void *user, uint32_t thread) {
    struct shorts *s = user;
    size_t *counts = s->places[thread];
    const uint32_t shift = s->part_shift;
    const uint32_t mask = s->part_mask;
    struct share share;
    share_of(s, thread, true, &share);
    memset(counts, 0, sizeof s->places[thread]);
    for (size_t count; (count = next_rows(s, &share)) > 0;) {
        for (size_t i = 0; i < count; i++) counts[share.rows[i] >> shift & mask]++;
    }
}

/*
 * Rows of a part that are still to be written: a cache line of them at a time, which is faster than one by one,
 * for there are more parts than the processor keeps lines of them at hand.  A row waits at its place modulo LINE.
 */
struct line {
    uint64_t rows[LINE];
    uint32_t numbers[LINE];
};

/* Writes what waits from place `from` up to `to`, which are of one line. */
static inline void write_line(const struct table *table, const struct line *line, size_t from, size_t to) {
    memcpy(table->rows + from, line->rows + from % LINE, (to - from) * sizeof *line->rows);
    memcpy(table->numbers + from, line->numbers + from % LINE, (to - from) * sizeof *line->numbers);
}

static void move_share(void *user, uint32_t thread) {
    struct shorts *s = user;
    const struct table *to = table_of(s->side, s->table);
    size_t *places = s->places[thread];
    const uint32_t shift = s->part_shift;
    const uint32_t mask = s->part_mask;
    struct share share;
    struct line lines[PARTS];
    size_t begins[PARTS];
    share_of(s, thread, false, &share);
    memcpy(begins, places, sizeof begins);
    for (size_t count; (count = next_rows(s, &share)) > 0;) {
        const uint64_t *rows = share.rows;
        const uint32_t *numbers = share.numbers;
        for (size_t i = 0; i < count; i++) {
            const size_t v = rows[i] >> shift & mask;
            const size_t place = places[v]++;
            struct line *line = &lines[v];
            line->rows[place % LINE] = rows[i];
            line->numbers[place % LINE] = numbers[i];
            if ((place + 1) % LINE != 0) continue;
            if (place + 1 - begins[v] >= LINE)
                write_line(to, line, place + 1 - LINE, place + 1);
            else
                write_line(to, line, begins[v], place + 1);
        }
    }
    for (uint32_t v = 0; v < PARTS; v++) {
        const size_t line = places[v] - places[v] % LINE;
        write_line(to, &lines[v], line > begins[v] ? line : begins[v], places[v]);
    }
}

static void counts_to_places(struct shorts *s) {
    struct table *table = table_of(s->side, s->table);
    size_t place = 0;
    for (uint32_t v = 0; v < PARTS; v++) {
        table->starts[v] = place;
        for (uint32_t t = 0; t < s->threads; t++) {
            const size_t count = s->places[t][v];
            s->places[t][v] = place;
            place += count;
        }
        table->ends[v] = place;
    }
}

static void divide_side(struct shorts *s, struct side *side) {
    const size_t most = side->count / ROWS_A_THREAD + 1;
    s->side = side;
    s->threads = s->join->threads < MAX_THREADS ? s->join->threads : MAX_THREADS;
    if (s->threads > most) s->threads = (uint32_t)most;
    nigh__threads_run(s->threads, count_share, s);
    if (nigh__join_failed(s->join)) return; /* rows that were not counted have no places */
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

/* Where bucket v of a part begins, at place v + 1 of out->starts, for the rows to be filled in from there; false with
 * the failure kept. */
static bool find_buckets(const struct shorts *s, const uint64_t *rows, size_t count, struct part *out) {
    const uint32_t shift = s->key.start;
    const size_t buckets = (size_t)1 << s->inner_bits;
    const uint64_t mask = buckets - 1;
    size_t *starts = fresh(s, &out->bounds, buckets + 2);
    out->starts = starts;
    if (starts == NULL) {
        no_memory(s->join, count);
        return false;
    }
    memset(starts, 0, (buckets + 2) * sizeof *starts);
    for (size_t i = 0; i < count; i++) starts[(rows[i] >> shift & mask) + 2]++;
    for (size_t v = 2; v < buckets + 2; v++) starts[v] += starts[v - 1];
    return true;
}

/* Sorts the rows of a part by bucket; false with the failure kept. */
static bool sort_part(const struct shorts *s, const struct table *table, uint32_t number, struct part *out) {
    const size_t start = table->starts[number];
    const size_t count = table->ends[number] - start;
    const uint64_t *rows = table->rows + start;
    const uint32_t *numbers = table->numbers + start;
    const uint32_t shift = s->key.start;
    const uint64_t mask = ((uint64_t)1 << s->inner_bits) - 1;
    uint64_t *to = fresh(s, &out->sorted_rows, count);
    uint32_t *to_numbers = fresh(s, &out->sorted_numbers, count);
    if (to == NULL || to_numbers == NULL) no_memory(s->join, count);
    if (to == NULL || to_numbers == NULL || !find_buckets(s, rows, count, out)) return false;
    /* What began at place v + 1 ends there once it is filled, and so begins at place v. */
    size_t *next = out->starts + 1;
    for (size_t i = 0; i < count; i++) {
        const size_t place = next[rows[i] >> shift & mask]++;
        to[place] = rows[i];
        to_numbers[place] = numbers[i];
    }
    out->rows = to;
    out->numbers = to_numbers;
    return true;
}

/* The same of a part that is sorted already, since rows of it were dropped. */
static bool take_sorted(const struct shorts *s, const struct table *table, uint32_t number, struct part *out) {
    const size_t start = table->starts[number];
    out->rows = table->rows + start;
    out->numbers = table->numbers + start;
    if (!find_buckets(s, out->rows, table->ends[number] - start, out)) return false;
    out->starts++;
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
static size_t drop_bucket(struct dropping *d, struct table *table, size_t from, size_t to, size_t kept) {
    struct shorts *s = d->s;
    const uint64_t *rows = d->part.rows;
    const uint32_t *numbers = d->part.numbers;
    const size_t begin = kept;
    size_t mask = 0;
    uint32_t *slots = empty_slots(d, to - from, &mask);
    for (size_t i = from; i < to && slots != NULL; i++) {
        size_t slot = (size_t)nigh__mix(rows[i] ^ s->join->secret) & mask;
        while (slots[slot] != UINT32_MAX && table->rows[begin + slots[slot]] != rows[i]) slot = (slot + 1) & mask;
        if (slots[slot] == UINT32_MAX) {
            slots[slot] = (uint32_t)(kept - begin);
            table->rows[kept] = rows[i];
            table->numbers[kept++] = numbers[i];
            continue;
        }
        uint64_t *record = nigh__array_add(s->join->context, &d->groups, 1);
        if (record == NULL) slots = NULL;
        if (slots == NULL) break;
        *record = (uint64_t)table->numbers[begin + slots[slot]] << 32 | numbers[i];
    }
    if (slots == NULL) no_memory(s->join, to - from);
    return kept;
}

static void drop_part(struct dropping *d, struct side *side, uint32_t number) {
    struct shorts *s = d->s;
    struct table *table = table_of(side, 0);
    if (!sort_part(s, table, number, &d->part)) return;
    const size_t *starts = d->part.starts;
    size_t kept = table->starts[number];
    for (size_t v = 0; v < (size_t)1 << s->inner_bits && !nigh__join_failed(s->join); v++)
        kept = drop_bucket(d, table, starts[v], starts[v + 1], kept);
    table->ends[number] = kept;
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
        for (uint32_t i = 0; i < s->side_count; i++)
            s->distinct += s->sides[i].tables[0].ends[part] - s->sides[i].tables[0].starts[part];
        nigh_status status = nigh__sorter_add(join->groups, d.groups.data, d.groups.count, &error);
        (void)pthread_mutex_unlock(&join->lock);
        if (status != NIGH_OK) nigh__join_fail(join, status, &error);
    }
    part_release(join->context, &d.part);
    nigh__array_release(join->context, &d.slots);
    nigh__array_release(join->context, &d.groups);
}

/* --------------------------------------------------------------- comparing */

/* Puts the rows of a bucket, which are `at` of a part, into the order of their numbers. */
static bool order_by_number(struct shorts *s, const struct part *part, const struct nigh__join_rows *at) {
    const nigh_context *context = s->join->context;
    uint64_t *rows = (uint64_t *)part->sorted_rows.data + (at->rows - part->rows);
    uint32_t *numbers = (uint32_t *)part->sorted_numbers.data + (at->numbers - part->numbers);
    uint64_t *keys = nigh__alloc(context, at->count, sizeof *keys);
    uint64_t *spare = nigh__alloc(context, at->count, sizeof *spare);
    const bool enough = keys != NULL && spare != NULL;
    for (size_t i = 0; enough && i < at->count; i++) keys[i] = (uint64_t)numbers[i] << 32 | i;
    if (enough) {
        const uint64_t *sorted = nigh__words_sort_bits(keys, spare, at->count, 1, 32, 1);
        uint64_t *moved = sorted == keys ? spare : keys;
        for (size_t i = 0; i < at->count; i++) {
            moved[i] = rows[(uint32_t)sorted[i]];
            numbers[i] = (uint32_t)(sorted[i] >> 32);
        }
        memcpy(rows, moved, at->count * sizeof *rows);
    } else {
        no_memory(s->join, at->count);
    }
    nigh__free(context, keys);
    nigh__free(context, spare);
    return enough;
}

static struct nigh__join_rows rows_of(const struct part *part, size_t bucket) {
    if (part->starts == NULL) return (struct nigh__join_rows){0}; /* there is no bucket */
    const size_t from = part->starts[bucket];
    return (struct nigh__join_rows){
        .numbers = part->numbers + from, .rows = part->rows + from, .count = part->starts[bucket + 1] - from};
}

static void join_bucket(struct shorts *s, struct nigh__join_worker *worker, const struct part parts[2], size_t number) {
    struct nigh__join_bucket bucket = {.first = rows_of(&parts[0], number), .table = s->table};
    bucket.self = s->side_count == 1;
    bucket.second = bucket.self ? bucket.first : rows_of(&parts[1], number);
    if (bucket.self ? bucket.first.count < 2 : bucket.first.count == 0 || bucket.second.count == 0) return;
    if (s->table > 0 && nigh__join_comparisons(&bucket) > (double)s->join->options.bucket_budget) {
        if (!order_by_number(s, &parts[0], &bucket.first)) return;
        if (!bucket.self && !order_by_number(s, &parts[1], &bucket.second)) return;
    }
    nigh__join_bucket(worker, &bucket);
}

static void join_part(struct shorts *s, struct nigh__join_worker *worker, uint32_t number, struct part parts[2]) {
    for (uint32_t i = 0; i < s->side_count; i++) {
        const struct table *table = table_of(&s->sides[i], s->table);
        if (table->ends[number] == table->starts[number]) return;
    }
    for (uint32_t i = 0; i < s->side_count; i++) {
        const struct table *table = table_of(&s->sides[i], s->table);
        const bool taken =
            s->table == 0 ? take_sorted(s, table, number, &parts[i]) : sort_part(s, table, number, &parts[i]);
        if (!taken) return;
    }
    for (size_t v = 0; v < (size_t)1 << s->inner_bits && !nigh__join_failed(s->join); v++)
        join_bucket(s, worker, parts, v);
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
    return nigh__join_groups_load(s->join, error);
}

nigh_status nigh__join_short(struct nigh__join *join, nigh_error *error) {
    struct shorts *s = nigh__alloc_zero(join->context, 1, sizeof *s);
    if (s == NULL || !shorts_init(join, s)) {
        if (s != NULL) shorts_release(s);
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory to join %llu rows", (unsigned long long)join->count);
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
