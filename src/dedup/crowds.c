/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A join by distance gives all pairs, and m documents of one template have up to
 * m (m - 1) / 2 of them.  So crowds are taken out of it first: signatures with more
 * others near them than the budget.
 *
 * Signatures within h bits agree in one of h + 1 blocks, so most of a crowd share a
 * block, and only buckets of more rows than the budget are looked at; to count the
 * rows of all buckets is all it takes where there is no crowd.  Of such a bucket of m
 * rows some, 8 m / budget of them, are drawn by lot and compared with all:
 *
 *     drawn     x . . . x . . x . .           the rows of a bucket
 *     near x    o o   o     o o   o           more than the budget?  a crowd
 *
 * All near its members are within 2 h of x.  These rows are taken in the order of what
 * to keep, and each is paired with the 128 best that are near it, of those before it and
 * among the first 16,384: whoever stays is likely to be among the first.  A row that has
 * found 64 is gone from the join; the best, and those at the edge of the crowd, have
 * not, and stay, so that others find them.
 *
 * What is left has few rows with very many others near them, or the lot would have
 * fallen on one: the pairs of the join are about as many as its rows times the budget.
 * Where one crowd was found and the answer is cut anyway, an eighth of the budget makes a
 * crowd of the bucket.
 *
 * Cost: h + 1 times a few ns a row; for a row of a crowded bucket 1,024 comparisons at
 * most to find the crowds, and 16,384 in each, of which most need few.  Where few rows go,
 * since the budget is small or they are far from each other, crowds are found again and
 * again: a bucket has no more of them than make eight for each of its rows.
 */
#include "dedup/crowds.h"

#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "join/join.h"
#include "kernel/hamming.h"

#define MAX_KEY_BITS 16u
#define NUMBER_BITS (64u - MAX_KEY_BITS)
#define MIN_KEY_BITS 10u /* blocks shorter than that hold too much of everything: all rows are one bucket then */
#define DRAWN 8u         /* for so many rows as the budget */
#define MAX_DRAWN 1024u
#define NEXT_CROWD 8u /* a part of the budget */
#define MAX_CROWDS 8u /* of a bucket: that a row is looked at in, on average */
#define LEADERS 16384u
#define TILE 256u /* of leaders, compared at a time */
#define FOLLOWED 128u
#define ENOUGH 64u

_Static_assert(NIGH__NUMBER_BITS <= NUMBER_BITS, "a number fits beside a key");

struct search {
    nigh_dedup *dedup;
    const struct nigh__order *order;
    const struct nigh__gathered *gathered;
    struct nigh__pair_queue queue;
    uint32_t width_bits, row_words;
    uint64_t *gone;           /* from the join */
    uint64_t *counts;         /* of each key */
    struct nigh__array keys;  /* of uint64_t: key << NUMBER_BITS | number of the row, of the rows of large buckets */
    struct nigh__array which; /* of uint64_t: the numbers of the rows of the bucket at hand */
    struct nigh__array rows;  /* of uint64_t: these rows, side by side */
    struct nigh__array distances;
    uint32_t pair_words;        /* of a pair of numbers, as base/number_pair.h has it */
    struct nigh__array members; /* of pairs: rank and place in the bucket, of the crowd at hand */
    size_t member_count;
    struct nigh__array leaders; /* of uint64_t: the rows of the first of them */
    struct nigh__progress progress;
    uint64_t done;
};

static uint64_t budget_of(const struct search *search) { return search->dedup->options.bucket_budget; }

static uint64_t document_of(const struct search *search, uint64_t number) {
    return ((const uint64_t *)search->gathered->signed_ones.data)[number];
}

/* ------------------------------------------------------------------ a crowd -- */

static bool is_near(const struct search *search, uint32_t distance) {
    return distance <= search->dedup->options.distance;
}

/* The rows of the crowd round the one that was drawn, the best first; NULL: out of memory. */
static const uint64_t *order_members(struct search *search) {
    const uint32_t *distances = search->distances.data;
    const uint64_t *which = search->which.data;
    const uint32_t words = search->pair_words;
    uint64_t *members = nigh__array_room(search->dedup->context, &search->members, 2 * search->which.count * words);
    if (members == NULL) return NULL;
    size_t count = 0;
    for (size_t i = 0; i < search->which.count; i++)
        if (distances[i] <= 2 * (uint64_t)search->dedup->options.distance)
            nigh__number_pair_pack(words, search->order->rank[document_of(search, which[i])], i,
                                   members + count++ * words);
    search->member_count = count;
    return nigh__words_sort(members, members + count * words, count, words, words, 1);
}

static struct nigh__number_pair member_of(const struct search *search, const uint64_t *members, size_t member) {
    return nigh__number_pair_unpack(search->pair_words, members + member * search->pair_words);
}

/* Pairs a member with the first of the leaders before it that are near; returns with how many. */
static uint32_t follow(struct search *search, const uint64_t *members, size_t member, nigh_status *status,
                       nigh_error *error) {
    uint32_t distances[TILE];
    const size_t words = search->row_words;
    const struct nigh__number_pair own = member_of(search, members, member);
    const uint64_t *row = (const uint64_t *)search->rows.data + own.second * words;
    const uint64_t *leaders = search->leaders.data;
    const size_t end = nigh__smaller(member, LEADERS);
    uint32_t followed = 0;
    for (size_t i = 0; i < end; i++) {
        if (i % TILE == 0)
            (void)search->dedup->context->hamming->rows(row, leaders + i * words, nigh__smaller(end - i, TILE),
                                                        (uint32_t)words, distances);
        if (!is_near(search, distances[i % TILE])) continue;
        *status = nigh__pair_queue_add(&search->queue, search->order->first[member_of(search, members, i).first],
                                       search->order->first[own.first], error);
        if (++followed == FOLLOWED || *status != NIGH_OK) break;
    }
    return followed;
}

/* Drops from the bucket at hand the rows whose number is NIGH__NO_DOCUMENT. */
static void close_ranks(struct search *search) {
    const size_t words = search->row_words;
    uint64_t *which = search->which.data;
    uint64_t *rows = search->rows.data;
    size_t kept = 0;
    for (size_t i = 0; i < search->which.count; i++) {
        if (which[i] == NIGH__NO_DOCUMENT) continue;
        which[kept] = which[i];
        memmove(rows + kept * words, rows + i * words, words * sizeof *rows);
        kept++;
    }
    search->which.count = kept;
}

static nigh_status take_crowd(struct search *search, nigh_error *error) {
    const size_t words = search->row_words;
    const uint64_t *members = order_members(search);
    uint64_t *leaders = nigh__array_room(search->dedup->context, &search->leaders, LEADERS * words);
    uint64_t *which = search->which.data;
    if (members == NULL || leaders == NULL) return nigh__no_memory(error, "to find crowds");
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < search->member_count; i++) {
        const uint64_t place = member_of(search, members, i).second;
        if (i < LEADERS)
            memcpy(leaders + i * words, (const uint64_t *)search->rows.data + place * words, words * sizeof *leaders);
        if (follow(search, members, i, &status, error) < ENOUGH) continue;
        nigh__bit_set(search->gone, which[place]);
        which[place] = NIGH__NO_DOCUMENT;
    }
    close_ranks(search);
    search->dedup->info.truncated++;
    return status;
}

/* ---------------------------------------------------------------- a bucket -- */

static uint64_t count_near(const struct search *search) {
    const uint32_t *distances = search->distances.data;
    uint64_t near = 0;
    for (size_t i = 0; i < search->which.count; i++) near += is_near(search, distances[i]);
    return near;
}

static nigh_status search_rows(struct search *search, nigh_error *error) {
    const nigh_context *context = search->dedup->context;
    const uint64_t budget = budget_of(search);
    struct nigh__rng rng = {search->which.count};
    uint64_t lots = nigh__smaller(search->which.count / (budget / DRAWN + 1) + 1, MAX_DRAWN);
    uint64_t least = budget; /* a crowd has more members */
    uint64_t looks = MAX_CROWDS * (uint64_t)search->which.count;
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; status == NIGH_OK && i < lots && looks > 0 && search->which.count > least; i++) {
        const size_t drawn = (size_t)(nigh__rng_next(&rng) % search->which.count);
        const uint64_t *row = (const uint64_t *)search->rows.data + drawn * search->row_words;
        (void)context->hamming->rows(row, search->rows.data, search->which.count, search->row_words,
                                     search->distances.data);
        if (count_near(search) > least) {
            status = take_crowd(search, error);
            looks -= nigh__smaller(search->member_count, looks);
            least = budget / NEXT_CROWD > ENOUGH ? budget / NEXT_CROWD : budget;
            lots = MAX_DRAWN;
        }
        if (status == NIGH_OK && nigh__progress_tick(&search->progress, "finding", search->done, 0))
            status = nigh__progress_cancelled(error);
    }
    return status;
}

/* Rows by key and number, of one key. */
static nigh_status search_bucket(struct search *search, const uint64_t *keys, size_t count, nigh_error *error) {
    const size_t words = search->row_words;
    uint64_t *which = nigh__array_room(search->dedup->context, &search->which, count);
    uint64_t *rows = nigh__array_room(search->dedup->context, &search->rows, count * words);
    if (which == NULL || rows == NULL || nigh__array_room(search->dedup->context, &search->distances, count) == NULL)
        return nigh__no_memory(error, "to find crowds");
    size_t there = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t number = keys[i] & ((UINT64_C(1) << NUMBER_BITS) - 1);
        if (nigh__bit_is_set(search->gone, number)) continue;
        which[there] = number;
        memcpy(rows + there * words, nigh__gathered_row(search->gathered, document_of(search, number)),
               words * sizeof *rows);
        there++;
    }
    search->which.count = there;
    search->done += count;
    return there <= budget_of(search) ? NIGH_OK : search_rows(search, error);
}

/* ----------------------------------------------------------------- a table -- */

static uint32_t key_of(const struct search *search, uint64_t number, struct nigh__join_key key) {
    return nigh__join_bits(nigh__gathered_row(search->gathered, document_of(search, number)), search->width_bits, key);
}

/* Counts the rows of each bucket; returns how many are in large ones. */
static size_t count_keys(struct search *search, struct nigh__join_key key) {
    const size_t count = search->gathered->signed_ones.count;
    memset(search->counts, 0, sizeof *search->counts << key.bits);
    for (uint64_t i = 0; i < count; i++) search->counts[key_of(search, i, key)]++;
    size_t crowded = 0;
    for (size_t i = 0; i < (size_t)1 << key.bits; i++)
        if (search->counts[i] > budget_of(search)) crowded += search->counts[i];
    return crowded;
}

static nigh_status search_table(struct search *search, struct nigh__join_key key, nigh_error *error) {
    const size_t count = count_keys(search, key);
    if (count == 0) return NIGH_OK;
    uint64_t *keys = nigh__array_room(search->dedup->context, &search->keys, 2 * count);
    if (keys == NULL) return nigh__no_memory(error, "to find crowds");
    size_t filled = 0;
    for (uint64_t i = 0; i < search->gathered->signed_ones.count; i++) {
        const uint32_t value = key_of(search, i, key);
        if (search->counts[value] > budget_of(search)) keys[filled++] = (uint64_t)value << NUMBER_BITS | i;
    }
    const uint64_t *sorted = nigh__words_sort(keys, keys + count, count, 1, 1, 1);
    nigh_status status = NIGH_OK;
    for (size_t begin = 0, end; status == NIGH_OK && begin < count; begin = end) {
        end = begin + search->counts[sorted[begin] >> NUMBER_BITS];
        status = search_bucket(search, sorted + begin, end - begin, error);
    }
    return status;
}

static nigh_status search_tables(struct search *search, nigh_error *error) {
    const uint64_t width = search->width_bits;
    const uint64_t blocks = (uint64_t)search->dedup->options.distance + 1;
    if (width / blocks < MIN_KEY_BITS) return search_table(search, (struct nigh__join_key){.bits = 0}, error);
    nigh_status status = NIGH_OK;
    for (uint64_t block = 0; status == NIGH_OK && block < blocks; block++) {
        const uint32_t start = (uint32_t)(width * block / blocks);
        const uint32_t bits = (uint32_t)(width * (block + 1) / blocks) - start;
        status = search_table(search, (struct nigh__join_key){start, bits < MAX_KEY_BITS ? bits : MAX_KEY_BITS}, error);
    }
    return status;
}

static nigh_status search_all(struct search *search, struct nigh__candidates *candidates, nigh_error *error) {
    const nigh_context *context = search->dedup->context;
    search->counts = nigh__alloc(context, (size_t)1 << MAX_KEY_BITS, sizeof *search->counts);
    if (search->counts == NULL) return nigh__no_memory(error, "to find crowds");
    nigh_status status =
        nigh__pair_queue_init(search->dedup, candidates->order, &candidates->deciding, NULL, &search->queue, error);
    if (status == NIGH_OK) status = search_tables(search, error);
    return status == NIGH_OK ? nigh__pair_queue_flush(&search->queue, error) : status;
}

nigh_status nigh__crowds_find(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                              nigh_dedup *dedup, uint32_t width_bits, uint64_t *gone, nigh_error *error) {
    if (gathered->signed_ones.count <= dedup->options.bucket_budget) return NIGH_OK;
    const nigh_context *context = dedup->context;
    struct search search = {.dedup = dedup,
                            .order = candidates->order,
                            .gathered = gathered,
                            .width_bits = width_bits,
                            .row_words = gathered->row_words,
                            .gone = gone,
                            .pair_words = dedup->pair_words,
                            .keys = NIGH__ARRAY(uint64_t),
                            .rows = NIGH__ARRAY(uint64_t),
                            .which = NIGH__ARRAY(uint64_t),
                            .distances = NIGH__ARRAY(uint32_t),
                            .members = NIGH__ARRAY(uint64_t),
                            .leaders = NIGH__ARRAY(uint64_t)};
    nigh__progress_init(&search.progress, dedup->options.progress);
    nigh_status status = search_all(&search, candidates, error);
    nigh__pair_queue_release(context, &search.queue);
    nigh__array_release(context, &search.keys);
    nigh__array_release(context, &search.rows);
    nigh__array_release(context, &search.which);
    nigh__array_release(context, &search.distances);
    nigh__array_release(context, &search.members);
    nigh__array_release(context, &search.leaders);
    nigh__free(context, search.counts);
    return status;
}
