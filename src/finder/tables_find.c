/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looks up permuted tables. A query waits for memory: for the start of its bucket, then
 * for its keys. It waits for all tables at once, and together with several other queries:
 *
 *     query q + 8    its buckets are known; their starts are asked for
 *     query q + 4    these are here; the keys are asked for
 *     query q        its keys are compared
 *     ...            rows whose key passed are verified a few dozen at once,
 *                    numbers asked for at first, then rows
 *
 * To take all queries through the first table, then all through the second, keeps less
 * memory in use at a time, but took 1.3 times as long for 10 million rows in ten tables,
 * and was no faster for 60 million: each look-up has more to note and to fetch again.
 *
 * Memory.  Of a query that needs one hit no more is kept.  Else all are, and a call ends
 * after the query with which they have become many.
 */
#include "finder/tables_parts.h"

#include "base/status.h"
#include "kernel/near.h"

#define RING 8u /* queries that wait for keys; a power of two, above KEYS_AHEAD */
#define STARTS_AHEAD 8u
#define KEYS_AHEAD 4u
#define KEYS_OF_LINE 16u    /* tables begin with a line */
#define MAX_KEYS_AHEAD 256u /* of a bucket; beyond, reading on is fast by itself */
#define PIECE 2048u         /* keys compared in one call */
#define CANDIDATES 64u      /* verified together */

/* A row whose key has passed. */
struct candidate {
    const uint32_t *number; /* in a table */
    uint32_t query;
};

struct walk {
    const struct nigh__tables *tables;
    const struct nigh__lookup *lookup;
    struct nigh__found *found;
    size_t hits_before; /* this call */
    size_t candidate_count;
    struct candidate candidates[CANDIDATES];
    uint32_t positions[PIECE];
    bool of_short; /* most buckets are */
    const uint32_t *starts[NIGH__MAX_TABLES];
    const uint32_t *keys[NIGH__MAX_TABLES];
    uint32_t asked[STARTS_AHEAD * NIGH__MAX_TABLES];   /* buckets of queries that wait for starts */
    struct nigh__bucket ring[RING * NIGH__MAX_TABLES]; /* and of those that wait for keys */
};

static const uint64_t *query_at(const struct walk *walk, size_t query) {
    return walk->lookup->queries + query * walk->tables->rows.words;
}

/* ------------------------------------------------------------- asking for memory */

/*
 * A processor works on some 250 instructions at once and waits for the first of them,
 * also for an address that it has to look up: the loops that ask for memory do little
 * else, so that many fit.
 */
static uint32_t *asked_of(struct walk *walk, size_t query) {
    return &walk->asked[query % STARTS_AHEAD * walk->tables->count];
}

static struct nigh__bucket *buckets_of(struct walk *walk, size_t query) {
    return &walk->ring[query % RING * walk->tables->count];
}

static void ask_for_starts(struct walk *walk, size_t query) {
    const uint32_t count = walk->tables->count;
    uint32_t *asked = asked_of(walk, query);
    for (uint32_t t = 0; t < count; t++) asked[t] = nigh__row_bucket(&walk->tables->tables[t], query_at(walk, query));
    for (uint32_t t = 0; t < count; t++) {
        __builtin_prefetch(walk->starts[t] + asked[t]);
        __builtin_prefetch(walk->starts[t] + asked[t] + 1); /* mostly the same line, which costs nothing */
    }
}

/* Of a short bucket the first line and the last are all. */
static void ask_for_keys(struct walk *walk, size_t query) {
    const uint32_t count = walk->tables->count;
    const uint32_t key = nigh__row_fold(query_at(walk, query), walk->tables->rows.words);
    const uint32_t *asked = asked_of(walk, query);
    struct nigh__bucket *buckets = buckets_of(walk, query);
    for (uint32_t t = 0; t < count; t++) {
        uint32_t begin;
        uint32_t end;
        nigh__bucket_read(walk->starts[t] + asked[t], walk->tables->rows.count, walk->found, &begin, &end);
        const uint32_t *keys = walk->keys[t] + begin;
        const uint32_t rows = end - begin;
        buckets[t] = (struct nigh__bucket){.keys = keys, .count = rows, .key = key};
        __builtin_prefetch(keys);
        __builtin_prefetch(keys + rows - (rows != 0));
    }
}

/*
 * The rest of a long bucket.  All of a query at once would fill the queue of misses: this is done between tables.
 * Inlined by force: gcc takes a call that only prefetches for one without effect, and drops it.
 */
static inline __attribute__((always_inline)) void ask_for_rest(const struct walk *walk,
                                                               const struct nigh__bucket *bucket) {
    const size_t ahead = bucket->count < MAX_KEYS_AHEAD ? bucket->count : MAX_KEYS_AHEAD;
    for (size_t k = KEYS_OF_LINE; !walk->of_short && k < ahead; k += KEYS_OF_LINE) __builtin_prefetch(bucket->keys + k);
}

/* ------------------------------------------------------------------- comparing */

/* The hit of the query that was found last, if it has one; else NULL. */
static struct nigh__hit *hit_of(const struct walk *walk, uint32_t query) {
    const struct nigh__array *hits = &walk->found->hits;
    if (hits->count == walk->hits_before) return NULL;
    struct nigh__hit *last = (struct nigh__hit *)hits->data + hits->count - 1;
    return last->query == query ? last : NULL;
}

/* False: no memory. */
static bool hit_add(struct walk *walk, const struct nigh__hit *hit) {
    if (walk->lookup->any || walk->lookup->first) {
        struct nigh__hit *best = hit_of(walk, hit->query);
        if (best != NULL && walk->lookup->first && hit->row < best->row) *best = *hit;
        if (best != NULL) return true;
    }
    struct nigh__hit *slot = nigh__array_add(walk->tables->context, &walk->found->hits, 1);
    if (slot != NULL) *slot = *hit;
    return slot != NULL;
}

/* Compares the rows that are waiting. */
static bool verify(struct walk *walk) {
    const struct nigh__lookup_rows *rows = &walk->tables->rows;
    const struct nigh__hamming *hamming = walk->tables->context->hamming;
    uint32_t numbers[CANDIDATES];
    for (size_t c = 0; c < walk->candidate_count; c++) {
        numbers[c] = nigh__number_read(walk->candidates[c].number, rows->count, walk->found);
        __builtin_prefetch(rows->words_of_rows + (size_t)numbers[c] * rows->words);
    }
    for (size_t c = 0; c < walk->candidate_count; c++) {
        const uint32_t query = walk->candidates[c].query;
        const uint64_t *row = rows->words_of_rows + (size_t)numbers[c] * rows->words;
        const uint32_t distance =
            hamming->pair((const uint8_t *)query_at(walk, query), (const uint8_t *)row, rows->words * sizeof(uint64_t));
        if (distance > walk->lookup->radius) continue;
        if (!hit_add(walk, &(struct nigh__hit){.query = query, .row = numbers[c], .distance = distance})) return false;
    }
    walk->found->compared += walk->candidate_count;
    walk->candidate_count = 0;
    return true;
}

static bool candidates_add(struct walk *walk, size_t query, const uint32_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (walk->candidate_count == CANDIDATES && !verify(walk)) return false;
        const uint32_t *number = numbers + walk->positions[i];
        __builtin_prefetch(number);
        walk->candidates[walk->candidate_count++] = (struct candidate){.number = number, .query = (uint32_t)query};
    }
    return true;
}

/* Goes through a bucket; in pieces, so that what passes fits into a small array. */
static bool compare_bucket(struct walk *walk, size_t query, uint32_t t) {
    const struct nigh__table *table = &walk->tables->tables[t];
    const struct nigh__bucket *bucket = &buckets_of(walk, query)[t];
    const uint32_t *numbers = table->numbers + (bucket->keys - table->keys);
    size_t left = bucket->count;
    if (left > walk->lookup->budget) {
        left = (size_t)walk->lookup->budget;
        walk->found->truncated++;
    }
    walk->found->compared += left;
    for (size_t at = 0; left != 0;) {
        const size_t piece = left < PIECE ? left : PIECE;
        const size_t passed = walk->tables->context->near->find(bucket->keys + at, piece, bucket->key,
                                                                walk->lookup->radius, walk->positions);
        if (passed != 0 && !candidates_add(walk, query, numbers + at, passed)) return false;
        at += piece;
        left -= piece;
    }
    return true;
}

/*
 * Which of some tables have to be gone through for this query: those with a key that
 * passes, and long ones.
 */
static uint64_t worth_comparing(struct walk *walk, const struct nigh__bucket *buckets, uint32_t count) {
    const uint64_t all = count < 64 ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
    if (!walk->of_short) return all;
    const uint64_t worth = walk->tables->context->near->worth(buckets, count, walk->lookup->radius);
    uint64_t rows = 0;
    for (uint32_t t = 0; t < count; t++) rows += worth >> t & 1 ? 0 : buckets[t].count;
    walk->found->compared += rows;
    return worth;
}

/* The tables of a query whose keys are here; of `any`, up to the first that has a hit. */
static bool compare_query(struct walk *walk, size_t query) {
    for (uint32_t first = 0; first < walk->tables->count; first += 64) {
        const uint32_t count = walk->tables->count - first < 64 ? walk->tables->count - first : 64;
        walk->found->probes += count;
        for (uint64_t left = worth_comparing(walk, buckets_of(walk, query) + first, count); left != 0;
             left &= left - 1) {
            const uint32_t t = (uint32_t)__builtin_ctzll(left);
            if (query + KEYS_AHEAD < walk->lookup->count)
                ask_for_rest(walk, buckets_of(walk, query + KEYS_AHEAD) + first + t);
            if (!compare_bucket(walk, query, first + t)) return false;
            if (!walk->lookup->any || walk->candidate_count == 0) continue;
            if (!verify(walk)) return false;
            if (hit_of(walk, (uint32_t)query) == NULL) continue;
            walk->found->probes -= count - 1 - t;
            return true;
        }
    }
    return true;
}

/* The first queries have nobody before them. */
static void begin(struct walk *walk) {
    const struct nigh__tables *tables = walk->tables;
    const struct nigh__lookup *lookup = walk->lookup;
    walk->candidate_count = 0;
    walk->of_short =
        tables->rows.count >> tables->index_bits < NIGH__SHORT_BUCKET && lookup->budget >= NIGH__SHORT_BUCKET;
    for (uint32_t t = 0; t < tables->count; t++) {
        walk->starts[t] = tables->tables[t].starts;
        walk->keys[t] = tables->tables[t].keys;
    }
    for (size_t q = 0; q < STARTS_AHEAD && q < lookup->count; q++) ask_for_starts(walk, q);
    for (size_t q = 0; q < KEYS_AHEAD && q < lookup->count; q++) ask_for_keys(walk, q);
}

/* From the first query to the last, or to the one with which hits have become many. */
static nigh_status walk_queries(void *user, nigh_error *error) {
    struct walk *walk = user;
    const size_t count = walk->lookup->count;
    begin(walk);
    bool fits = true;
    size_t q = 0;
    while (fits && q < count) {
        if (q + KEYS_AHEAD < count) ask_for_keys(walk, q + KEYS_AHEAD);
        if (q + STARTS_AHEAD < count) ask_for_starts(walk, q + STARTS_AHEAD);
        fits = compare_query(walk, q++);
        if (nigh__found_enough(walk->lookup, walk->found)) break;
    }
    walk->found->finished = q;
    return fits && verify(walk) ? NIGH_OK : nigh__no_memory(error, "for what was found");
}

nigh_status nigh__tables_find(const struct nigh__tables *tables, const struct nigh__lookup *lookup,
                              struct nigh__found *found, nigh_error *error) {
    struct walk walk;
    walk.tables = tables;
    walk.lookup = lookup;
    walk.found = found;
    walk.hits_before = found->hits.count;
    return nigh__lookup_run(lookup, walk_queries, &walk, error);
}
