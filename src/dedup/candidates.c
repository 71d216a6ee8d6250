/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Candidates by bands.  Sorted, the keys lie in buckets, and in a bucket all pairs
 * are compared by their 256 bits:
 *
 *     band 0 | key 17, document 3 | key 17, document 9 | key 21, document 4 | ...
 *              `----- a bucket -----------------------'
 *
 * Two sets of Jaccard index J agree in one smallest value with probability J, in a
 * band of 8 with J^8, and in one of 32 bands with 1 - (1 - J^8)^32: .997 at J = .8.
 * Their bits differ in b p of b = 256 on average, p = (1 - J) / 2, with a spread of
 * sqrt(b p (1 - p)); those over 2.33 times the spread, one in a hundred at J = .8 and
 * fewer above, are let go.  Lengths, too, tell pairs apart, but few that the bits do not,
 * and to know how many of its features a document has twice would take longer than all
 * this: lengths are looked at when sets are, or here where there will be no verifying.
 *
 * A crowd, a bucket of more documents than the budget, would take the square of
 * its number.  Its best documents lead: each other is compared with up to 32 of these,
 * and pairs with the four best that are near enough and with the nearest; one that
 * has no leader close by, and few near ones, is compared with a few neighbours in the
 * order of its bits, which begins elsewhere in each band.  So a million of one template
 * cost a million times a constant, and nearly all find the one that is kept.  Where not
 * all pairs are asked for, that is all it takes, and 200 documents are a crowd.
 *
 * A pair that shares many bands is found in each.  A table of recent pairs holds
 * most of these back from the sorter, which drops the rest.
 */
#include "dedup/candidates.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "kernel/hamming.h"

#define ROW_WORDS (NIGH__DEDUP_BITS / 64)
#define RECENT_BITS 18u
#define LEADERS 32u
#define FOLLOWED 4u
#define CROWD 200u
#define NEIGHBOURS 8u
#define TICK_EVERY 4096u /* buckets */

/* ------------------------------------------------------------------ pairs -- */

nigh_status nigh__candidates_init(const nigh_dedup *dedup, const struct nigh__order *order, uint32_t threads,
                                  struct nigh__candidates *out, nigh_error *error) {
    *out = (struct nigh__candidates){.dedup = dedup, .order = order};
    if (!dedup->verified) out->least = dedup->options.threshold;
    const struct nigh__sorter_options options = {.words = 1,
                                                 .key_words = 1,
                                                 .unique = true,
                                                 .memory_bytes = dedup->options.memory_bytes / 8,
                                                 .temporary = dedup->temporary,
                                                 .threads = threads};
    out->recent = nigh__alloc_table(dedup->context, (size_t)1 << RECENT_BITS, sizeof *out->recent);
    if (out->recent == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for candidates");
    nigh_status status = nigh__sorter_new(dedup->context, &options, &out->sorter, error);
    if (status != NIGH_OK) nigh__candidates_release(out);
    return status;
}

void nigh__candidates_release(struct nigh__candidates *candidates) {
    if (candidates->dedup != NULL) nigh__free(candidates->dedup->context, candidates->recent);
    nigh__sorter_free(candidates->sorter);
    *candidates = (struct nigh__candidates){0};
}

nigh_status nigh__candidates_add(struct nigh__candidates *candidates, uint32_t a, uint32_t b, nigh_error *error) {
    const uint64_t x = candidates->order->rank[a];
    const uint64_t y = candidates->order->rank[b];
    const uint64_t pair = x < y ? x << 32 | y : y << 32 | x; /* never 0: the two are different */
    uint64_t *recent = &candidates->recent[nigh__mix(pair) >> (64 - RECENT_BITS)];
    if (*recent == pair) return NIGH_OK;
    *recent = pair;
    return nigh__sorter_add(candidates->sorter, &pair, 1, error);
}

uint32_t nigh__minhash_radius(uint32_t bits, double threshold) {
    const double b = bits;
    const double p = (1 - threshold) / 2;
    return (uint32_t)(b * p + 2.33 * sqrt(b * p * (1 - p)) + 0.5);
}

/* ---------------------------------------------------------------- buckets -- */

struct buckets {
    struct nigh__candidates *candidates;
    const struct nigh__gathered *gathered;
    nigh_dedup *dedup;
    uint32_t radius;
    uint64_t most;                /* members that are all compared */
    uint64_t key;                 /* of the bucket at hand */
    struct nigh__array members;   /* of uint32_t, its documents */
    struct nigh__array rows;      /* of uint64_t, ROW_WORDS each, of the members */
    struct nigh__array distances; /* of uint32_t */
    struct nigh__array words;     /* of uint64_t, for sorting a crowd */
    struct nigh__progress progress;
    uint64_t done, until_tick;
};

static nigh_status no_memory(nigh_error *error) {
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory to compare documents");
    return NIGH_ENOMEM;
}

/* `count` items of room, whatever was in it. */
static void *make_room(const struct buckets *buckets, struct nigh__array *array, size_t count) {
    array->count = 0;
    return nigh__array_add(buckets->dedup->context, array, count);
}

static uint32_t features_of(const struct buckets *buckets, uint32_t document) {
    return nigh__dedup_document(buckets->dedup, document)->features;
}

static uint32_t distance_of(const struct buckets *buckets, uint32_t a, uint32_t b) {
    const uint64_t *x = nigh__gathered_row(buckets->gathered, a);
    const uint64_t *y = nigh__gathered_row(buckets->gathered, b);
    return buckets->dedup->context->hamming->pair((const uint8_t *)x, (const uint8_t *)y, NIGH__DEDUP_BITS / 8);
}

/* Adds the pair where it is near and fit. */
static nigh_status consider(struct buckets *buckets, uint32_t a, uint32_t b, uint32_t distance, nigh_error *error) {
    if (distance > buckets->radius ||
        !nigh__lengths_fit(buckets->candidates->least, features_of(buckets, a), features_of(buckets, b)))
        return NIGH_OK;
    return nigh__candidates_add(buckets->candidates, a, b, error);
}

/* The rows of the members, side by side. */
static nigh_status collect_rows(struct buckets *buckets, nigh_error *error) {
    const uint32_t *members = buckets->members.data;
    const size_t count = buckets->members.count;
    uint64_t *rows = make_room(buckets, &buckets->rows, count * ROW_WORDS);
    if (rows == NULL || make_room(buckets, &buckets->distances, count) == NULL) return no_memory(error);
    for (size_t i = 0; i < count; i++)
        memcpy(rows + i * ROW_WORDS, nigh__gathered_row(buckets->gathered, members[i]), ROW_WORDS * sizeof *rows);
    return NIGH_OK;
}

static nigh_status compare_all(struct buckets *buckets, nigh_error *error) {
    const uint32_t *members = buckets->members.data;
    const size_t count = buckets->members.count;
    if (count == 2)
        return consider(buckets, members[0], members[1], distance_of(buckets, members[0], members[1]), error);
    nigh_status status = collect_rows(buckets, error);
    const uint64_t *rows = buckets->rows.data;
    uint32_t *distances = buckets->distances.data;
    for (size_t i = 0; status == NIGH_OK && i + 1 < count; i++) {
        const uint64_t *row = rows + i * ROW_WORDS;
        const size_t others = count - i - 1;
        if (buckets->dedup->context->hamming->rows(row, row + ROW_WORDS, others, ROW_WORDS, distances) >
            buckets->radius)
            continue;
        for (size_t j = 0; status == NIGH_OK && j < others; j++)
            if (distances[j] <= buckets->radius)
                status = consider(buckets, members[i], members[i + 1 + j], distances[j], error);
    }
    return status;
}

/* ------------------------------------------------------------------ crowds -- */

/* The members, best first. */
static nigh_status order_members(struct buckets *buckets, nigh_error *error) {
    uint32_t *members = buckets->members.data;
    const size_t count = buckets->members.count;
    uint64_t *words = make_room(buckets, &buckets->words, 2 * count);
    if (words == NULL) return no_memory(error);
    for (size_t i = 0; i < count; i++) words[i] = buckets->candidates->order->rank[members[i]];
    const uint64_t *sorted = nigh__words_sort(words, words + count, count, 1, 1, 1);
    for (size_t i = 0; i < count; i++) members[i] = buckets->candidates->order->first[sorted[i]];
    return NIGH_OK;
}

struct leaders {
    uint64_t rows[LEADERS * ROW_WORDS];
    uint32_t members[LEADERS];
    uint32_t count;
};

/* How a member stands to its leaders. */
struct standing {
    bool close;   /* to one, so near that they are alike as good as surely */
    bool settled; /* that, or near enough to many */
};

/* Pairs a member with leaders. */
static nigh_status follow(struct buckets *buckets, const struct leaders *leaders, uint32_t member,
                          struct standing *standing, nigh_error *error) {
    uint32_t distances[LEADERS];
    const uint64_t *row = nigh__gathered_row(buckets->gathered, member);
    const uint32_t least =
        buckets->dedup->context->hamming->rows(row, leaders->rows, leaders->count, ROW_WORDS, distances);
    *standing = (struct standing){.close = least <= buckets->radius / 2};
    if (least > buckets->radius) return NIGH_OK;
    nigh_status status = NIGH_OK;
    uint32_t given = 0;
    bool nearest = false; /* among those given */
    for (uint32_t i = 0; status == NIGH_OK && i < leaders->count && (given < FOLLOWED || !nearest); i++) {
        if (distances[i] > buckets->radius || (given >= FOLLOWED && distances[i] > least)) continue;
        status = consider(buckets, leaders->members[i], member, distances[i], error);
        nearest = nearest || distances[i] == least;
        given++;
    }
    standing->settled = standing->close || given >= FOLLOWED;
    return status;
}

/* Members without a leader are compared with those next to them in the order of some of their bits. */
static nigh_status compare_neighbours(struct buckets *buckets, const uint32_t *members, size_t count,
                                      nigh_error *error) {
    uint64_t *words = make_room(buckets, &buckets->words, 2 * count);
    if (words == NULL) return no_memory(error);
    const uint32_t word = (uint32_t)(buckets->key >> NIGH__DEDUP_KEY_BITS) % ROW_WORDS;
    for (size_t i = 0; i < count; i++)
        words[i] = (nigh__gathered_row(buckets->gathered, members[i])[word] & ~(uint64_t)UINT32_MAX) | members[i];
    const uint64_t *sorted = nigh__words_sort(words, words + count, count, 1, 1, 1);
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < count; i++) {
        const uint32_t a = (uint32_t)sorted[i];
        for (size_t j = i + 1; status == NIGH_OK && j < count && j <= i + NEIGHBOURS; j++) {
            const uint32_t b = (uint32_t)sorted[j];
            status = consider(buckets, a, b, distance_of(buckets, a, b), error);
        }
    }
    return status;
}

static nigh_status compare_crowd(struct buckets *buckets, nigh_error *error) {
    struct leaders leaders = {.count = 0};
    buckets->dedup->info.truncated += buckets->members.count > buckets->dedup->options.bucket_budget;
    nigh_status status = order_members(buckets, error);
    uint32_t *members = buckets->members.data;
    size_t alone = 0; /* members without a leader; they move to the front */
    for (size_t i = 0; status == NIGH_OK && i < buckets->members.count; i++) {
        const uint32_t member = members[i];
        struct standing standing;
        status = follow(buckets, &leaders, member, &standing, error);
        if (!standing.settled) members[alone++] = member;
        if (standing.close || leaders.count == LEADERS) continue;
        memcpy(&leaders.rows[leaders.count * ROW_WORDS], nigh__gathered_row(buckets->gathered, member),
               ROW_WORDS * sizeof(uint64_t));
        leaders.members[leaders.count++] = member;
    }
    return status == NIGH_OK ? compare_neighbours(buckets, members, alone, error) : status;
}

/* ------------------------------------------------------------------- bands -- */

static nigh_status end_bucket(struct buckets *buckets, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (buckets->members.count > buckets->most)
        status = compare_crowd(buckets, error);
    else if (buckets->members.count > 1)
        status = compare_all(buckets, error);
    buckets->members.count = 0;
    return status;
}

static bool is_cancelled(struct buckets *buckets, uint64_t total) {
    if (buckets->until_tick-- != 0) return false;
    buckets->until_tick = TICK_EVERY;
    return nigh__progress_tick(&buckets->progress, "finding", buckets->done, total);
}

static nigh_status add_record(struct buckets *buckets, uint64_t record, nigh_error *error) {
    const uint64_t key = record >> 32;
    nigh_status status = NIGH_OK;
    if (key != buckets->key) {
        if (buckets->members.count > 0) status = end_bucket(buckets, error);
        if (status == NIGH_OK && is_cancelled(buckets, nigh__sorter_count(buckets->gathered->keys)))
            status = nigh__progress_cancelled(error);
        buckets->key = key;
    }
    uint32_t *place = nigh__array_add(buckets->dedup->context, &buckets->members, 1);
    if (status == NIGH_OK && place == NULL) return no_memory(error);
    if (status != NIGH_OK) return status;
    *place = (uint32_t)record;
    buckets->done++;
    return NIGH_OK;
}

nigh_status nigh__candidates_by_bands(struct nigh__candidates *candidates, struct nigh__gathered *gathered,
                                      nigh_dedup *dedup, nigh_error *error) {
    struct buckets buckets = {.candidates = candidates,
                              .gathered = gathered,
                              .dedup = dedup,
                              .radius = nigh__minhash_radius(NIGH__DEDUP_BITS, dedup->options.threshold),
                              .key = UINT64_MAX,
                              .members = NIGH__ARRAY(uint32_t),
                              .rows = NIGH__ARRAY(uint64_t),
                              .distances = NIGH__ARRAY(uint32_t),
                              .words = NIGH__ARRAY(uint64_t)};
    const bool all = dedup->options.all_pairs || dedup->options.cluster == NIGH_CLUSTER_COMPLETE;
    buckets.most = all || dedup->options.bucket_budget < CROWD ? dedup->options.bucket_budget : CROWD;
    nigh__progress_init(&buckets.progress, dedup->options.progress);
    nigh_status status = nigh__sorter_finish(gathered->keys, error);
    const uint64_t *records = NULL;
    size_t count = 0;
    while (status == NIGH_OK && (status = nigh__sorter_next(gathered->keys, &records, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++) status = add_record(&buckets, records[i], error);
    if (status == NIGH_END) status = end_bucket(&buckets, error);
    nigh__array_release(dedup->context, &buckets.members);
    nigh__array_release(dedup->context, &buckets.rows);
    nigh__array_release(dedup->context, &buckets.distances);
    nigh__array_release(dedup->context, &buckets.words);
    return status;
}

/* --------------------------------------------------------------- distances -- */

struct joining {
    struct nigh__candidates *candidates;
    const uint32_t *documents; /* by row */
    nigh_status status;
    nigh_error error;
};

static int take_pair(void *user, const nigh_pair *pair) {
    struct joining *joining = user;
    joining->status = nigh__candidates_add(joining->candidates, joining->documents[pair->first],
                                           joining->documents[pair->second], &joining->error);
    return joining->status != NIGH_OK;
}

/* The signatures of those that have one, side by side. */
static uint8_t *collect_signatures(const struct nigh__gathered *gathered, const nigh_context *context, size_t bytes) {
    const uint32_t *documents = gathered->signed_ones.data;
    const size_t count = gathered->signed_ones.count;
    uint8_t *rows = nigh__alloc(context, count, bytes);
    for (size_t i = 0; rows != NULL && i < count; i++)
        memcpy(rows + i * bytes, nigh__gathered_row(gathered, documents[i]), bytes);
    return rows;
}

nigh_status nigh__candidates_by_distance(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                                         nigh_dedup *dedup, uint32_t width_bits, uint32_t threads, nigh_error *error) {
    struct joining joining = {.candidates = candidates, .documents = gathered->signed_ones.data};
    nigh_join_options options = NIGH_JOIN_OPTIONS_INIT;
    nigh_join_result result = NIGH_JOIN_RESULT_INIT;
    options.width_bits = width_bits;
    options.radius = dedup->options.distance;
    options.memory_bytes = dedup->options.memory_bytes / 2;
    options.temporary = dedup->temporary;
    options.threads = threads;
    options.pair = take_pair;
    options.user = &joining;
    options.progress = dedup->options.progress;
    uint8_t *rows = collect_signatures(gathered, dedup->context, width_bits / 8);
    if (rows == NULL) return no_memory(error);
    nigh_status status =
        nigh_join(dedup->context, rows, gathered->signed_ones.count, NULL, 0, &options, &result, error);
    nigh__free(dedup->context, rows);
    dedup->info.truncated += result.truncated;
    dedup->info.disk_bytes += result.disk_bytes;
    if (joining.status == NIGH_OK) return status;
    if (error != NULL) *error = joining.error; /* the join knows only that it was to stop */
    return joining.status;
}
