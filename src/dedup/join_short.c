/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of rows of up to 64 bits, in memory: 28 bytes a row, whatever the radius.
 *
 *     rows     numbers    as they are sorted by the key of this table
 *     rows'    numbers'   where a pass of the sort moves them
 *     rest                of each row 32 bits behind the key: what is compared
 *
 * A table is two or three passes of a radix sort, a pass for `rest`, and then
 * buckets, which are where the key stays the same: 16 bits of 64 at radius 3, 150
 * rows of 10 million.  Each pair of a bucket costs a sixteenth of three instructions.
 *
 * Rows that are equal are found once the first table is sorted, by a small hash
 * table for each bucket, and from there on there is one of each, the one of the
 * lowest number.  Threads share the passes by rows, the comparisons by buckets.
 */
#include <string.h>

#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "dedup/join.h"

#define RADIX 256u
#define MOST_THREADS 16u
#define CHUNK 32768u         /* rows whose buckets a thread takes at once */
#define ROWS_A_THREAD 65536u /* fewer are not worth a thread */
#define READ_AT_ONCE 65536u
#define BYTES_A_ROW 28u

struct side {
    uint64_t *rows, *rows_spare;
    uint32_t *numbers, *numbers_spare;
    uint32_t *rest;
    size_t count;
};

struct shorts {
    struct nigh__join *join;
    struct side sides[2];
    uint32_t side_count;
    struct nigh__join_key key; /* of the table at hand */
    uint32_t table;

    /* A pass of the sort. */
    struct side *side;
    uint32_t shift, mask, threads;
    size_t places[MOST_THREADS][RADIX];

    atomic_size_t next;       /* chunk for a thread to take */
    struct nigh__array slots; /* uint32_t: of the hash table of a bucket */
};

uint64_t nigh__join_short_bytes(const struct nigh__join *join) { return (uint64_t)join->count * BYTES_A_ROW; }

/* Of a narrow row: keys lie within the word. */
static uint32_t key_of(const struct shorts *s, uint64_t row) {
    return (uint32_t)(row >> s->key.start) & (uint32_t)((UINT64_C(1) << s->key.bits) - 1);
}

/* ------------------------------------------------------------------ memory */

static nigh_status side_init(const struct nigh__join *join, size_t count, struct side *out, nigh_error *error) {
    const nigh_context *context = join->context;
    out->count = count;
    out->rows = nigh__alloc_table(context, count + 1, sizeof *out->rows);
    out->rows_spare = nigh__alloc_table(context, count + 1, sizeof *out->rows);
    out->numbers = nigh__alloc_table(context, count + 1, sizeof *out->numbers);
    out->numbers_spare = nigh__alloc_table(context, count + 1, sizeof *out->numbers);
    out->rest = nigh__alloc_table(context, count + NIGH__PAIRS_PADDING, sizeof *out->rest);
    if (out->rows == NULL || out->rows_spare == NULL || out->numbers == NULL || out->numbers_spare == NULL ||
        out->rest == NULL) {
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory to join %zu rows", count);
        return NIGH_ENOMEM;
    }
    return NIGH_OK;
}

static void side_release(const nigh_context *context, struct side *side) {
    nigh__free(context, side->rows);
    nigh__free(context, side->rows_spare);
    nigh__free(context, side->numbers);
    nigh__free(context, side->numbers_spare);
    nigh__free(context, side->rest);
}

static nigh_status side_read(const struct nigh__join *join, uint32_t first, struct side *side, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < side->count && status == NIGH_OK; i += READ_AT_ONCE) {
        const size_t part = side->count - i < READ_AT_ONCE ? side->count - i : READ_AT_ONCE;
        status = nigh__join_read(join, first + (uint32_t)i, part, side->rows + i, error);
    }
    for (size_t i = 0; i < side->count; i++) side->numbers[i] = first + (uint32_t)i;
    return status;
}

/* ----------------------------------------------------------------- sorting */

static void share_of(const struct shorts *s, uint32_t thread, size_t *from, size_t *to) {
    const size_t part = s->side->count / s->threads;
    *from = part * thread;
    *to = thread + 1 == s->threads ? s->side->count : *from + part;
}

static void count_share(void *user, uint32_t thread) {
    struct shorts *s = user;
    size_t from = 0;
    size_t to = 0;
    size_t counts[RADIX] = {0};
    share_of(s, thread, &from, &to);
    for (size_t i = from; i < to; i++) counts[s->side->rows[i] >> s->shift & s->mask]++;
    memcpy(s->places[thread], counts, sizeof counts);
}

static void move_share(void *user, uint32_t thread) {
    struct shorts *s = user;
    const struct side *side = s->side;
    const uint32_t shift = s->shift;
    const uint32_t mask = s->mask;
    size_t from = 0;
    size_t to = 0;
    size_t places[RADIX];
    memcpy(places, s->places[thread], sizeof places);
    share_of(s, thread, &from, &to);
    for (size_t i = from; i < to; i++) {
        const uint64_t row = side->rows[i];
        const size_t place = places[row >> shift & mask]++;
        side->rows_spare[place] = row;
        side->numbers_spare[place] = side->numbers[i];
    }
}

static void rest_share(void *user, uint32_t thread) {
    struct shorts *s = user;
    size_t from = 0;
    size_t to = 0;
    share_of(s, thread, &from, &to);
    for (size_t i = from; i < to; i++) s->side->rest[i] = nigh__join_rest(s->side->rows[i], s->key);
}

static void counts_to_places(struct shorts *s) {
    size_t place = 0;
    for (uint32_t v = 0; v < RADIX; v++) {
        for (uint32_t t = 0; t < s->threads; t++) {
            const size_t count = s->places[t][v];
            s->places[t][v] = place;
            place += count;
        }
    }
}

static void sort_pass(struct shorts *s, uint32_t shift, uint32_t bits) {
    struct side *side = s->side;
    s->shift = shift;
    s->mask = (1u << bits) - 1;
    nigh__threads_run(s->threads, count_share, s);
    counts_to_places(s);
    nigh__threads_run(s->threads, move_share, s);
    uint64_t *rows = side->rows;
    uint32_t *numbers = side->numbers;
    side->rows = side->rows_spare;
    side->numbers = side->numbers_spare;
    side->rows_spare = rows;
    side->numbers_spare = numbers;
}

static void choose_threads(struct shorts *s) {
    const size_t most = s->side->count / ROWS_A_THREAD + 1;
    s->threads = s->join->threads < MOST_THREADS ? s->join->threads : MOST_THREADS;
    if (s->threads > most) s->threads = (uint32_t)most;
}

static void sort_side(struct shorts *s, struct side *side) {
    s->side = side;
    choose_threads(s);
    for (uint32_t done = 0; done < s->key.bits;) {
        const uint32_t left = s->key.bits - done;
        const uint32_t bits = left <= 8 ? left : left <= 16 ? (left + 1) / 2 : (left + 2) / 3;
        sort_pass(s, s->key.start + done, bits);
        done += bits;
    }
}

static void fill_rest(struct shorts *s, struct side *side) {
    s->side = side;
    choose_threads(s);
    nigh__threads_run(s->threads, rest_share, s);
    memset(side->rest + side->count, 0, NIGH__PAIRS_PADDING * sizeof *side->rest);
}

/* ------------------------------------------------------------- equal rows */

static size_t bucket_end(const struct shorts *s, const struct side *side, size_t from) {
    const uint32_t key = key_of(s, side->rows[from]);
    size_t end = from + 1;
    while (end < side->count && key_of(s, side->rows[end]) == key) end++;
    return end;
}

/* Slots for twice as many rows, all empty: a power of two; NULL: no memory. */
static uint32_t *empty_slots(struct shorts *s, size_t rows, size_t *mask) {
    size_t count = 64;
    while (count < 2 * rows) count *= 2;
    s->slots.count = 0;
    uint32_t *slots = nigh__array_add(s->join->context, &s->slots, count);
    if (slots != NULL) memset(slots, 0xff, count * sizeof *slots);
    *mask = count - 1;
    return slots;
}

/* Whether the row is among those that were kept of this bucket, from `begin` on; else it is put among them. */
static bool is_known(const struct shorts *s, const struct side *side, uint32_t *slots, size_t mask, size_t begin,
                     size_t kept, uint64_t row, uint32_t *equal) {
    size_t slot = (size_t)nigh__mix(row ^ s->join->secret) & mask;
    for (; slots[slot] != UINT32_MAX; slot = (slot + 1) & mask) {
        const size_t place = begin + slots[slot];
        if (side->rows[place] != row) continue;
        *equal = side->numbers[place];
        return true;
    }
    slots[slot] = (uint32_t)(kept - begin);
    return false;
}

/* Keeps of equal rows the first. */
static nigh_status drop_equal(struct shorts *s, struct side *side, nigh_error *error) {
    struct nigh__join *join = s->join;
    size_t kept = 0;
    nigh_status status = NIGH_OK;
    for (size_t from = 0; from < side->count && status == NIGH_OK;) {
        const size_t end = bucket_end(s, side, from);
        const size_t begin = kept;
        size_t mask = 0;
        uint32_t *slots = end - from > 1 ? empty_slots(s, end - from, &mask) : NULL;
        if (end - from > 1 && slots == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for a bucket of rows");
        for (size_t i = from; i < end && status == NIGH_OK; i++) {
            const uint64_t row = side->rows[i];
            const uint32_t number = side->numbers[i];
            uint32_t equal = 0;
            if (slots != NULL && is_known(s, side, slots, mask, begin, kept, row, &equal)) {
                const uint64_t record = (uint64_t)equal << 32 | number;
                status = nigh__sorter_add(join->groups, &record, 1, error);
                continue;
            }
            side->rows[kept] = row;
            side->numbers[kept++] = number;
        }
        from = end;
    }
    side->count = kept;
    return status;
}

/* --------------------------------------------------------------- comparing */

static struct nigh__join_rows rows_of(const struct side *side, size_t from, size_t to) {
    return (struct nigh__join_rows){
        .numbers = side->numbers + from, .rows = side->rows + from, .rest = side->rest + from, .count = to - from};
}

/* The first row of a side whose key is not below this one. */
static size_t lower_bound(const struct shorts *s, const struct side *side, uint32_t key) {
    size_t low = 0;
    size_t high = side->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (key_of(s, side->rows[middle]) < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The buckets that begin among rows from .. to of the first side. */
static void join_chunk(struct shorts *s, struct nigh__join_worker *worker, size_t from, size_t to) {
    const struct side *first = &s->sides[0];
    const struct side *second = &s->sides[1];
    while (from > 0 && from < to && key_of(s, first->rows[from]) == key_of(s, first->rows[from - 1])) from++;
    size_t y = s->side_count == 2 && from < to ? lower_bound(s, second, key_of(s, first->rows[from])) : 0;
    for (size_t x = from; x < to && !nigh__join_failed(s->join);) {
        const size_t end = bucket_end(s, first, x);
        struct nigh__join_bucket bucket = {.first = rows_of(first, x, end), .table = s->table, .self = true};
        bucket.second = bucket.first;
        if (s->side_count == 2) {
            const uint32_t key = key_of(s, first->rows[x]);
            while (y < second->count && key_of(s, second->rows[y]) < key) y++;
            const bool agrees = y < second->count && key_of(s, second->rows[y]) == key;
            const size_t second_end = agrees ? bucket_end(s, second, y) : y;
            bucket.self = false;
            bucket.second = rows_of(second, y, second_end);
            y = second_end;
        }
        if (bucket.self ? bucket.first.count > 1 : bucket.second.count > 0) nigh__join_bucket(worker, &bucket);
        x = end;
    }
}

static void work(void *user, struct nigh__join_worker *worker) {
    struct shorts *s = user;
    const size_t count = s->sides[0].count;
    for (;;) {
        const size_t from = atomic_fetch_add_explicit(&s->next, CHUNK, memory_order_relaxed);
        if (from >= count || nigh__join_failed(s->join)) return;
        join_chunk(s, worker, from, count - from < CHUNK ? count : from + CHUNK);
    }
}

static nigh_status join_table(struct shorts *s, nigh_error *error) {
    struct nigh__join *join = s->join;
    nigh_status status = NIGH_OK;
    nigh__join_tick(join, "joining", s->table, join->blocks);
    s->key = nigh__join_block(join, s->table);
    for (uint32_t i = 0; i < s->side_count; i++) sort_side(s, &s->sides[i]);
    if (s->table == 0) {
        for (uint32_t i = 0; i < s->side_count && status == NIGH_OK; i++) {
            status = drop_equal(s, &s->sides[i], error);
            join->result.distinct += s->sides[i].count;
        }
    }
    for (uint32_t i = 0; i < s->side_count && status == NIGH_OK; i++) fill_rest(s, &s->sides[i]);
    if (status != NIGH_OK) return status;
    atomic_store(&s->next, 0);
    const size_t most = s->sides[0].count / CHUNK + 1;
    return nigh__join_run(join, work, s, join->threads < most ? join->threads : (uint32_t)most, error);
}

nigh_status nigh__join_short(struct nigh__join *join, nigh_error *error) {
    struct shorts s = {.join = join, .side_count = join->self ? 1 : 2, .slots = NIGH__ARRAY(uint32_t)};
    nigh_status status = side_init(join, join->split, &s.sides[0], error);
    if (status == NIGH_OK) status = side_read(join, 0, &s.sides[0], error);
    if (status == NIGH_OK && s.side_count == 2) status = side_init(join, join->count - join->split, &s.sides[1], error);
    if (status == NIGH_OK && s.side_count == 2) status = side_read(join, join->split, &s.sides[1], error);
    for (s.table = 0; s.table < join->blocks && status == NIGH_OK; s.table++) status = join_table(&s, error);
    for (uint32_t i = 0; i < s.side_count; i++) side_release(join->context, &s.sides[i]);
    nigh__array_release(join->context, &s.slots);
    return status;
}
