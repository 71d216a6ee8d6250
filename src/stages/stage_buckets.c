/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage buckets: documents that share the key of a band, and which of them are near enough to be candidates.
 *
 * All buckets lie in a row, by band and high half of the key, and each task has a run of them.  Where the bits of all
 * documents fit into three quarters of the memory they are loaded, and band after band is sorted and compared, in 8
 * bytes a key that is shared; else the keys of all its bands get the bits of their documents by sorting.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "stages/bucket_join.h"

#define TOGETHER 512u
#define AHEAD 16u
#define KEY_BITS 32u

struct bucketing {
    const nigh_staged *staged;
    const uint64_t *bases;
    struct nigh__bucket_keys keys;
    uint32_t shard;
    struct nigh__stage_writer *writer;
    struct nigh__bucket_stream stream; /* of documents by their numbers among all */
    uint64_t begin, end;               /* buckets of the task */
    uint64_t *rows;                    /* bits of all documents; NULL: they do not fit */
    uint32_t *features;                /* and how many features they have, where that matters */
    uint64_t loaded;                   /* documents */
    uint32_t words;                    /* of a record of key, low half and number */
    struct nigh__sorter *sorter;
};

/* -------------------------------------------------------------- what is found -- */

/* The shard whose documents a number is among: the last that begins at it or before, and has any. */
static uint64_t id_of(const struct bucketing *bucketing, uint64_t number) {
    uint32_t begin = 0;
    uint32_t end = bucketing->staged->shards;
    while (end - begin > 1) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (bucketing->bases[middle] <= number)
            begin = middle;
        else
            end = middle;
    }
    return nigh__id_make(begin, number - bucketing->bases[begin]);
}

static nigh_status take_pair(void *user, const uint64_t numbers[2], nigh_error *error) {
    const struct bucketing *bucketing = user;
    const uint64_t pair[NIGH__PAIR_WORDS] = {id_of(bucketing, numbers[0]), id_of(bucketing, numbers[1])};
    const uint32_t task = nigh__stage_share(bucketing->staged, nigh__mix(pair[0]) + pair[1]);
    return nigh__stage_add(bucketing->writer, NIGH__BUCKETS_PAIRS + task, pair, NIGH__PAIR_WORDS, error);
}

static nigh_status take_member(void *user, uint64_t crowd, uint64_t bucket, uint64_t number, nigh_error *error) {
    const struct bucketing *bucketing = user;
    const uint64_t words[NIGH__CROWD_WORDS] = {nigh__id_make(bucketing->shard, crowd), bucket >> KEY_BITS,
                                               id_of(bucketing, number)};
    return nigh__stage_add(bucketing->writer, NIGH__BUCKETS_CROWDS, words, NIGH__CROWD_WORDS, error);
}

static nigh_status begin_stream(struct bucketing *bucketing, nigh_error *error) {
    const nigh_dedup *settled = bucketing->staged->settled;
    bucketing->stream =
        (struct nigh__bucket_stream){.user = bucketing,
                                     .take_pair = take_pair,
                                     .take_member = take_member,
                                     .least = settled->options.no_verify ? settled->options.threshold : 0};
    return nigh__bucket_stream_begin(&bucketing->stream, settled, error);
}

/* ------------------------------------------------------------------ the run -- */

/* The first bucket of a task. */
static uint64_t begin_of(const nigh_staged *staged, uint32_t shard) {
    const uint64_t bands = staged->settled->plan->bands;
    const uint64_t whole = (bands << KEY_BITS) / staged->shards;
    const uint64_t rest = (bands << KEY_BITS) % staged->shards;
    return whole * shard + (shard < rest ? shard : rest);
}

/* Keys of a band that are ours; false: none. */
static bool keys_of(const struct bucketing *bucketing, uint32_t band, uint32_t *least, uint32_t *most) {
    const uint64_t begin = (uint64_t)band << KEY_BITS;
    const uint64_t end = begin + (UINT64_C(1) << KEY_BITS);
    if (bucketing->end <= begin || bucketing->begin >= end) return false;
    *least = bucketing->begin <= begin ? 0 : (uint32_t)bucketing->begin;
    *most = bucketing->end >= end ? UINT32_MAX : (uint32_t)bucketing->end - 1;
    return true;
}

/* --------------------------------------------------------------------- rows -- */

static nigh_status load_rows(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct bucketing *bucketing = user;
    if (count > bucketing->bases[shard + 1] - bucketing->loaded)
        return nigh__staged_nonsense(bucketing->staged, NIGH_STAGE_SIGN, shard, error);
    for (size_t i = 0; i < count; i++, bucketing->loaded++) {
        const uint64_t *record = records + i * NIGH__BITS_WORDS;
        memcpy(bucketing->rows + bucketing->loaded * NIGH__ROW_WORDS, record, NIGH__ROW_WORDS * sizeof *record);
        if (bucketing->features != NULL) bucketing->features[bucketing->loaded] = (uint32_t)record[NIGH__ROW_WORDS];
    }
    return NIGH_OK;
}

/* Loads the bits where there is room for them. */
static nigh_status make_rows(struct bucketing *bucketing, nigh_error *error) {
    const nigh_staged *staged = bucketing->staged;
    const uint64_t documents = bucketing->bases[staged->shards];
    const bool counts = bucketing->stream.least > 0;
    const size_t row = NIGH__ROW_WORDS * sizeof(uint64_t);
    const uint64_t room = staged->settled->options.memory_bytes / 4 * 3;
    if (documents >= room / (row + (counts ? sizeof(uint32_t) : 0))) return NIGH_OK;
    bucketing->rows = nigh__alloc_large(staged->context, (size_t)documents + 1, row);
    if (counts) bucketing->features = nigh__alloc_large(staged->context, (size_t)documents + 1, sizeof(uint32_t));
    if (bucketing->rows == NULL || (counts && bucketing->features == NULL))
        return nigh__no_memory(error, "to find candidates");
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++) {
        status = nigh__staged_each_of(staged, NIGH_STAGE_SIGN, i, NIGH__SIGN_BITS, NIGH__BITS_WORDS, load_rows,
                                      bucketing, error);
        if (status == NIGH_OK && bucketing->loaded != bucketing->bases[i + 1])
            status = nigh__staged_nonsense(staged, NIGH_STAGE_SIGN, i, error);
    }
    return status;
}

/* ------------------------------------------------------------ with the rows -- */

static nigh_status add_postings(void *user, const struct nigh__posting *postings, size_t count, nigh_error *error) {
    const struct bucketing *bucketing = user;
    uint64_t records[2 * TOGETHER];
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i += TOGETHER) {
        const size_t part = nigh__smaller(count - i, TOGETHER);
        for (size_t k = 0; k < part; k++) {
            const struct nigh__posting *posting = &postings[i + k];
            uint64_t *record = &records[k * bucketing->words];
            record[0] = (uint64_t)posting->key << KEY_BITS | (bucketing->words == 1 ? posting->number : posting->low);
            if (bucketing->words == 2) record[1] = posting->number;
        }
        status = nigh__sorter_add(bucketing->sorter, records, part, error);
    }
    return status;
}

static inline uint64_t number_in(const uint64_t *record, uint32_t words) {
    return words == 1 ? (uint32_t)record[0] : record[1];
}

static nigh_status compare_records(struct bucketing *bucketing, uint32_t band, const uint64_t *records, size_t count,
                                   nigh_error *error) {
    const uint32_t words = bucketing->words;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *record = records + i * words;
        const uint64_t number = number_in(record, words);
        if (i + AHEAD < count)
            __builtin_prefetch(bucketing->rows + number_in(record + (size_t)AHEAD * words, words) * NIGH__ROW_WORDS);
        const struct nigh__bucket_member member = {.bucket = (uint64_t)band << KEY_BITS | record[0] >> KEY_BITS,
                                                   .low = words == 1 ? 0 : (uint32_t)record[0],
                                                   .id = number,
                                                   .row = bucketing->rows + number * NIGH__ROW_WORDS,
                                                   .features =
                                                       bucketing->features == NULL ? 0 : bucketing->features[number]};
        status = nigh__bucket_stream_add(&bucketing->stream, &member, error);
    }
    return status;
}

static nigh_status compare_band(struct bucketing *bucketing, uint32_t band, uint32_t least, uint32_t most,
                                nigh_error *error) {
    const nigh_dedup *settled = bucketing->staged->settled;
    struct nigh__sorter_options options = nigh__dedup_sorting(settled, bucketing->words, 4, settled->options.threads);
    const uint64_t *records = NULL;
    size_t count = 0;
    options.key_words = 1;
    options.key_bits = bucketing->words == 1 ? KEY_BITS : 0;
    nigh_status status = nigh__sorter_new(bucketing->staged->context, &options, &bucketing->sorter, error);
    if (status == NIGH_OK)
        status = nigh__bucket_keys_each(&bucketing->keys, band, least, most, add_postings, bucketing, error);
    if (status == NIGH_OK) status = nigh__sorter_finish(bucketing->sorter, error);
    while (status == NIGH_OK && (status = nigh__sorter_next(bucketing->sorter, &records, &count, error)) == NIGH_OK)
        status = compare_records(bucketing, band, records, count, error);
    nigh__sorter_free(bucketing->sorter);
    bucketing->sorter = NULL;
    return status == NIGH_END ? nigh__bucket_stream_end(&bucketing->stream, error) : status;
}

static nigh_status compare_bands(struct bucketing *bucketing, nigh_error *error) {
    nigh_status status = NIGH_OK;
    uint32_t least = 0;
    uint32_t most = 0;
    for (uint32_t band = 0; status == NIGH_OK && band < bucketing->staged->settled->plan->bands; band++)
        if (keys_of(bucketing, band, &least, &most)) status = compare_band(bucketing, band, least, most, error);
    return status;
}

/* --------------------------------------------------------- without the rows -- */

static nigh_status join_bands(struct bucketing *bucketing, nigh_error *error) {
    struct nigh__bucket_join join;
    uint32_t least = 0;
    uint32_t most = 0;
    nigh_status status = nigh__bucket_join_init(bucketing->staged, bucketing->bases, &join, error);
    for (uint32_t band = 0; status == NIGH_OK && band < bucketing->staged->settled->plan->bands; band++) {
        join.band = band;
        if (keys_of(bucketing, band, &least, &most))
            status = nigh__bucket_keys_each(&bucketing->keys, band, least, most, nigh__bucket_join_add, &join, error);
    }
    if (status == NIGH_OK) status = nigh__bucket_join_compare(&join, &bucketing->stream, error);
    nigh__bucket_join_release(&join);
    return status;
}

/* ----------------------------------------------------------------- the task -- */

static nigh_status find_candidates(struct bucketing *bucketing, nigh_error *error) {
    const uint64_t whole = UINT64_C(1) << KEY_BITS;
    const uint64_t own = bucketing->end - bucketing->begin;
    nigh_status status =
        nigh__bucket_keys_init(bucketing->staged, bucketing->bases, own < whole ? own : whole, &bucketing->keys, error);
    if (status == NIGH_OK) status = make_rows(bucketing, error);
    if (status != NIGH_OK) return status;
    bucketing->words = bucketing->keys.wide ? 2 : nigh__number_pair_words(bucketing->bases[bucketing->staged->shards]);
    return bucketing->rows != NULL ? compare_bands(bucketing, error) : join_bands(bucketing, error);
}

nigh_status nigh__stage_buckets(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                                nigh_error *error) {
    uint64_t *bases = NULL;
    struct bucketing *bucketing = nigh__alloc_zero(staged->context, 1, sizeof *bucketing);
    if (bucketing == NULL) return nigh__no_memory(error, "to find candidates");
    *bucketing = (struct bucketing){.staged = staged,
                                    .shard = shard,
                                    .writer = writer,
                                    .begin = begin_of(staged, shard),
                                    .end = begin_of(staged, shard + 1)};
    nigh_status status = nigh__staged_bases(staged, &bases, error);
    bucketing->bases = bases;
    if (status == NIGH_OK) status = begin_stream(bucketing, error);
    if (status == NIGH_OK) status = find_candidates(bucketing, error);
    nigh__bucket_keys_release(&bucketing->keys);
    nigh__bucket_stream_release(&bucketing->stream);
    nigh__free(staged->context, bucketing->rows);
    nigh__free(staged->context, bucketing->features);
    nigh__free(staged->context, bases);
    nigh__free(staged->context, bucketing);
    return status;
}
