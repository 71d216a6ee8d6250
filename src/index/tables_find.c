/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up permuted tables.  A look-up waits for memory: for the start of its bucket,
 * then for the keys.  A line that was asked for early takes longer the more memory is in
 * use at a time, for addresses have to be looked up as well.  So all queries of a block go
 * through the first table, then all through the second: of 60 million rows 290 MB are in
 * use rather than 3 GB, and the lines of a query take 255 ns rather than 322.
 *
 *     table     0                    1
 *     query     0  1  2 ... 4095     0  1  2 ...
 *                  |--|--|--|
 *                   c  k  s        32 look-ups each: c are compared, of k the keys are
 *                                  asked for, of s the starts
 *
 * The look-ups are one sequence, which does not end where a table does: a single query
 * has the memory of all its tables under way at once.  Rows whose key passed are verified
 * a few dozen at once, numbers asked for at first, then rows.
 *
 * Hits come table by table and are put in the order of the queries when a block is done.
 * Where there are very many, the block ends before the query that it has come to: of the
 * queries before it nothing is lost, and the others are put off.  What was done for them is
 * wasted, so the next block is half as large, until one fits easily.
 */
#include "index/tables_parts.h"

#include <string.h>

#include "base/status.h"
#include "kernel/near.h"

#define MOST_OF_BLOCK 4096u /* queries */
#define STEP 32u            /* look-ups in one stage, at most 64 */
#define LAG 1u              /* steps from one stage to the next */
#define STEPS (2 * LAG + 1)
#define RING (STEP * STEPS)
#define REST_AHEAD 4u        /* look-ups before a long bucket is compared, all of it is asked for */
#define KEYS_OF_LINE 16u     /* tables begin with a line */
#define MOST_KEYS_AHEAD 256u /* of a bucket; beyond, reading on is fast by itself */
#define PIECE 2048u          /* keys compared in one call */
#define CANDIDATES 64u       /* verified together */
#define MANY_HITS (1u << 20) /* that a block may keep */
#define NO_ROW UINT32_MAX

/* What a query took.  Added up only for those that a block has finished, so that no block counts one twice. */
struct effort {
    uint64_t compared;
    uint32_t probes;
    uint32_t truncated;
};

/* A row whose key has passed. */
struct candidate {
    const uint32_t *number; /* in a table */
    uint32_t query;
};

/* Look-ups in the same stage: a part of the ring. */
struct step {
    size_t first;
    uint32_t count;
};

struct walk {
    const struct nigh__tables *tables;
    const struct nigh__lookup *lookup;
    struct nigh__found *found;
    bool of_short; /* most buckets are */
    bool single;   /* of each query one hit is kept, in `best` */
    /* the block */
    const uint64_t *queries;
    uint32_t size;           /* queries that the next block begins with at most */
    uint32_t count;          /* of its queries */
    uint32_t table, query;   /* the next look-up */
    struct nigh__array hits; /* of this block, by table */
    size_t candidate_count;
    struct candidate candidates[CANDIDATES];
    uint32_t positions[PIECE];
    /* look-ups under way, by their number */
    uint32_t of_table[RING], of_query[RING];
    const uint32_t *starts[RING];
    struct nigh__bucket buckets[RING];
    struct effort efforts[MOST_OF_BLOCK];
    struct nigh__hit best[MOST_OF_BLOCK];
    size_t places[MOST_OF_BLOCK];
};

static const uint64_t *query_at(const struct walk *walk, uint32_t query) {
    return walk->queries + (size_t)query * walk->tables->rows.words;
}

static bool answered(const struct walk *walk, uint32_t query) {
    return walk->lookup->any && walk->best[query].row != NO_ROW;
}

/* ------------------------------------------------------------------- look-ups */

/*
 * A processor works on some 250 instructions at once and waits for the first of them,
 * also for an address that it has to look up: the loops that ask for memory do little
 * else, so that many fit.
 */

/*
 * The next look-ups of a table, from number `first` on, with the starts asked for; returns
 * how many.
 */
static uint32_t list_some(struct walk *walk, size_t first, uint32_t most) {
    const struct nigh__table *table = &walk->tables->tables[walk->table];
    uint32_t some = 0;
    uint32_t query = walk->query;
    for (; query < walk->count && some < most; query++) {
        if (answered(walk, query)) continue;
        const uint64_t *words = query_at(walk, query);
        const uint32_t *starts = table->starts + nigh__row_bucket(table, words);
        walk->of_table[first + some] = walk->table;
        walk->of_query[first + some] = query;
        walk->starts[first + some] = starts;
        walk->buckets[first + some++].key = nigh__row_fold(words, walk->tables->rows.words);
        __builtin_prefetch(starts);
        if ((uintptr_t)starts % NIGH__CACHE_LINE == NIGH__CACHE_LINE - sizeof *starts) __builtin_prefetch(starts + 1);
    }
    walk->query = query < walk->count ? query : 0;
    walk->table += query >= walk->count;
    return some;
}

/* A step of look-ups; none where all tables are through.  With `any` it ends with the table, whose answers come first.
 */
static void list(struct walk *walk, struct step *step) {
    step->count = 0;
    while (step->count < STEP && walk->table < walk->tables->count) {
        step->count += list_some(walk, step->first + step->count, STEP - step->count);
        if (walk->lookup->any && step->count != 0) break;
    }
}

/* Of a short bucket the first line and the last are all. */
static void ask_for_keys(struct walk *walk, const struct step *step) {
    for (size_t at = step->first; at < step->first + step->count; at++) {
        const uint32_t *starts = walk->starts[at];
        const uint32_t *keys = walk->tables->tables[walk->of_table[at]].keys + starts[0];
        const uint32_t rows = starts[1] - starts[0];
        walk->buckets[at].keys = keys;
        walk->buckets[at].count = rows;
        __builtin_prefetch(keys);
        const uint32_t *last = keys + rows - (rows != 0);
        if (((uintptr_t)keys ^ (uintptr_t)last) >= NIGH__CACHE_LINE) __builtin_prefetch(last);
    }
}

/* The rest of a long bucket, a few before its turn: of all at once the queue of misses would be full. */
static void ask_for_rest(const struct walk *walk, const struct step *step, const struct step *next, uint32_t nth) {
    const struct step *which = nth < step->count ? step : next;
    nth -= nth < step->count ? 0 : step->count;
    if (nth >= which->count) return;
    const struct nigh__bucket *bucket = &walk->buckets[which->first + nth];
    const size_t ahead = bucket->count < MOST_KEYS_AHEAD ? bucket->count : MOST_KEYS_AHEAD;
    for (size_t k = KEYS_OF_LINE; k < ahead; k += KEYS_OF_LINE) __builtin_prefetch(bucket->keys + k);
}

/* ------------------------------------------------------------------ comparing */

/* False: no memory. */
static bool hit_add(struct walk *walk, uint32_t query, uint32_t row, uint32_t distance) {
    const struct nigh__hit hit = {.query = query, .row = row, .distance = distance};
    if (walk->single) {
        struct nigh__hit *best = &walk->best[query];
        if (best->row == NO_ROW || (!walk->lookup->any && row < best->row)) *best = hit;
        return true;
    }
    struct nigh__hit *slot = nigh__array_add(walk->tables->context, &walk->hits, 1);
    if (slot != NULL) *slot = hit;
    return slot != NULL;
}

/* Compares the rows that are waiting. */
static bool verify(struct walk *walk) {
    const struct nigh__rows *rows = &walk->tables->rows;
    const struct nigh__hamming *hamming = walk->tables->context->hamming;
    uint32_t numbers[CANDIDATES];
    for (size_t c = 0; c < walk->candidate_count; c++) {
        numbers[c] = *walk->candidates[c].number;
        __builtin_prefetch(rows->words_of_rows + (size_t)numbers[c] * rows->words);
    }
    for (size_t c = 0; c < walk->candidate_count; c++) {
        const uint32_t query = walk->candidates[c].query;
        const uint64_t *row = rows->words_of_rows + (size_t)numbers[c] * rows->words;
        const uint32_t distance =
            hamming->pair((const uint8_t *)query_at(walk, query), (const uint8_t *)row, rows->words * sizeof(uint64_t));
        walk->efforts[query].compared++;
        if (distance <= walk->lookup->radius && !hit_add(walk, query, numbers[c], distance)) return false;
    }
    walk->candidate_count = 0;
    return true;
}

static bool candidates_add(struct walk *walk, uint32_t query, const uint32_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (walk->candidate_count == CANDIDATES && !verify(walk)) return false;
        const uint32_t *number = numbers + walk->positions[i];
        __builtin_prefetch(number);
        walk->candidates[walk->candidate_count++] = (struct candidate){.number = number, .query = query};
    }
    return true;
}

/* Goes through a bucket; in pieces, so that what passes fits into a small array. */
static bool compare_bucket(struct walk *walk, size_t lookup) {
    const struct nigh__table *table = &walk->tables->tables[walk->of_table[lookup]];
    const struct nigh__bucket *bucket = &walk->buckets[lookup];
    const uint32_t *numbers = table->numbers + (bucket->keys - table->keys);
    size_t left = bucket->count;
    if (left > walk->lookup->budget) left = (size_t)walk->lookup->budget;
    for (size_t at = 0; left != 0;) {
        const size_t piece = left < PIECE ? left : PIECE;
        const size_t passed = walk->tables->context->near->find(bucket->keys + at, piece, bucket->key,
                                                                walk->lookup->radius, walk->positions);
        if (passed != 0 && !candidates_add(walk, walk->of_query[lookup], numbers + at, passed)) return false;
        at += piece;
        left -= piece;
    }
    return true;
}

/* Whose turn it is: not of a query that has its hit, or that the block has given up. */
static bool in_turn(const struct walk *walk, size_t lookup) {
    return walk->of_query[lookup] < walk->count && !answered(walk, walk->of_query[lookup]);
}

static void account(struct walk *walk, const struct step *step) {
    const uint64_t budget = walk->lookup->budget;
    for (size_t at = step->first; at < step->first + step->count; at++) {
        if (walk->lookup->any && !in_turn(walk, at)) continue;
        struct effort *effort = &walk->efforts[walk->of_query[at]];
        const uint32_t rows = walk->buckets[at].count;
        effort->probes++;
        effort->truncated += rows > budget;
        effort->compared += rows > budget ? budget : rows;
    }
}

/* Too many hits: what is left of the block is put off. */
static void give_up_rest(struct walk *walk, size_t lookup) {
    if (walk->of_query[lookup] + 1 < walk->count) walk->count = walk->of_query[lookup] + 1;
}

/* Look-ups whose keys are here: those with a key that passes, and long ones, are gone through.  False: no memory. */
static bool compare(struct walk *walk, const struct step *step, const struct step *next) {
    account(walk, step);
    uint64_t left = step->count < 64 ? (UINT64_C(1) << step->count) - 1 : UINT64_MAX;
    if (walk->of_short)
        left = walk->tables->context->near->worth(&walk->buckets[step->first], step->count, walk->lookup->radius);
    for (; left != 0; left &= left - 1) {
        const uint32_t nth = (uint32_t)__builtin_ctzll(left);
        const size_t at = step->first + nth;
        if (!walk->of_short) ask_for_rest(walk, step, next, nth + REST_AHEAD);
        if (!in_turn(walk, at)) continue;
        if (!compare_bucket(walk, at)) return false;
        if (walk->hits.count > MANY_HITS) give_up_rest(walk, at);
    }
    return !walk->lookup->any || verify(walk);
}

/* ---------------------------------------------------------------------- blocks */

/* All look-ups of a block, each step in every stage, until steps without look-ups have come through. */
static bool look_up(struct walk *walk) {
    struct step steps[STEPS];
    for (size_t i = 0; i < STEPS; i++) steps[i] = (struct step){.first = i * STEP};
    size_t empty = 0;
    for (size_t i = 0; empty <= 2 * LAG; i++) {
        struct step *listed = &steps[i % STEPS];
        list(walk, listed);
        empty = listed->count == 0 ? empty + 1 : 0;
        ask_for_keys(walk, &steps[(i + STEPS - LAG) % STEPS]);
        if (!compare(walk, &steps[(i + 1) % STEPS], &steps[(i + 2) % STEPS])) return false;
    }
    return verify(walk);
}

/* The hits of all queries of the block, one query after the other. */
static bool hits_deliver(struct walk *walk, uint32_t first) {
    const struct nigh__hit *hits = walk->single ? walk->best : walk->hits.data;
    const size_t count = walk->single ? walk->count : walk->hits.count;
    memset(walk->places, 0, walk->count * sizeof walk->places[0]);
    for (size_t i = 0; i < count; i++)
        if (hits[i].query < walk->count && hits[i].row != NO_ROW) walk->places[hits[i].query]++;
    size_t sum = 0;
    for (uint32_t q = 0; q < walk->count; q++) {
        const size_t some = walk->places[q];
        walk->places[q] = sum;
        sum += some;
    }
    struct nigh__hit *out = nigh__array_add(walk->tables->context, &walk->found->hits, sum);
    if (out == NULL) return sum == 0;
    for (size_t i = 0; i < count; i++) {
        if (hits[i].query >= walk->count || hits[i].row == NO_ROW) continue;
        struct nigh__hit *hit = &out[walk->places[hits[i].query]++];
        *hit = hits[i];
        hit->query += first;
    }
    return true;
}

static void block_begin(struct walk *walk, uint32_t first) {
    const size_t left = walk->lookup->count - first;
    walk->queries = walk->lookup->queries + (size_t)first * walk->tables->rows.words;
    walk->count = left < walk->size ? (uint32_t)left : walk->size;
    walk->table = walk->query = 0;
    walk->hits.count = 0;
    walk->candidate_count = 0;
    for (uint32_t q = 0; q < walk->count; q++) {
        walk->efforts[q] = (struct effort){0};
        walk->best[q] = (struct nigh__hit){.query = q, .row = NO_ROW};
    }
}

/* The queries from `first` on: as many as make a block.  False: no memory. */
static bool block_find(struct walk *walk, uint32_t first) {
    block_begin(walk, first);
    const uint32_t begun = walk->count;
    if (!look_up(walk) || !hits_deliver(walk, first)) return false;
    for (uint32_t q = 0; q < walk->count; q++) {
        walk->found->compared += walk->efforts[q].compared;
        walk->found->probes += walk->efforts[q].probes;
        walk->found->truncated += walk->efforts[q].truncated;
    }
    if (walk->count < begun)
        walk->size = (begun + 1) / 2;
    else if (walk->hits.count < MANY_HITS / 4 && walk->size <= MOST_OF_BLOCK / 2)
        walk->size *= 2;
    return true;
}

nigh_status nigh__tables_find(const struct nigh__tables *tables, const struct nigh__lookup *lookup,
                              struct nigh__found *found, nigh_error *error) {
    struct walk *walk = nigh__alloc(tables->context, 1, sizeof *walk);
    bool fits = walk != NULL;
    found->finished = 0;
    if (fits) {
        walk->tables = tables;
        walk->lookup = lookup;
        walk->found = found;
        walk->size = MOST_OF_BLOCK;
        walk->single = lookup->any || lookup->first;
        walk->of_short =
            tables->rows.count >> tables->index_bits < NIGH__SHORT_BUCKET && lookup->budget >= NIGH__SHORT_BUCKET;
        walk->hits = (struct nigh__array)NIGH__ARRAY(struct nigh__hit);
        while (fits && found->finished < lookup->count && !nigh__found_enough(lookup, found)) {
            fits = block_find(walk, (uint32_t)found->finished);
            found->finished += walk->count;
        }
        nigh__array_release(tables->context, &walk->hits);
        nigh__free(tables->context, walk);
    }
    if (fits) return NIGH_OK;
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory for what was found");
    return NIGH_ENOMEM;
}
