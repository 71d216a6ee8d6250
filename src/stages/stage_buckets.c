/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage buckets: postings of one band and key come together, and with them the bits of their documents.
 *
 *     1  keys are marked in a table, as in one run (candidates_bands.c), so that those that occur once are not sorted
 *     2  the others are sorted by id, and go by beside the bits of all documents
 *     3  with these they are sorted by band, key and id: bucket after bucket
 *
 * Of a bucket with few members all pairs are compared (buckets.c says how near they must be).  A crowd is passed on as
 * it comes by: it is not in memory, and what is decided of it needs the members that stay (crowd_lists.h).
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "dedup/candidates.h"
#include "dedup/crowd_lists.h"
#include "stages/stage_work.h"

#define SLOT_BITS_MIN 12u
#define SLOT_BITS_MAX 32u
#define SLOTS_OF_ONE 4u
#define RECENT_BITS 16u
#define JOINED_WORDS 8u /* of a record of bucket, low half, id, bits and features */
#define MEMBERS (NIGH__CROWD_MEMBERS + 1)

struct bucketing {
    const nigh_staged *staged;
    uint32_t shard;
    struct nigh__stage_writer *writer;
    const uint64_t *bases;
    uint32_t posting_words;
    uint64_t *table; /* pairs of words: bits of slots seen, and seen again */
    unsigned slot_bits;
    struct nigh__sorter *by_id;  /* of id, bucket, low half */
    struct nigh__sorter *joined; /* with bits, by bucket */
    struct nigh__sorter_cursor wanted;
    uint64_t document; /* whose bits are the next, in a file */
    /* The bucket at hand. */
    uint64_t bucket, low;
    uint64_t members; /* so many came by */
    uint64_t crowds;
    uint64_t ids[MEMBERS], features[MEMBERS];
    uint64_t rows[MEMBERS * NIGH__ROW_WORDS];
    uint32_t distances[MEMBERS];
    uint32_t radius;
    uint64_t most;    /* members that are all compared */
    double least;     /* as in dedup/buckets.h */
    uint64_t *recent; /* pairs written lately */
};

/* ------------------------------------------------------------- shared keys -- */

static uint64_t slot_of(const struct bucketing *bucketing, uint64_t bucket) {
    return nigh__mix(~bucket) >> (64 - bucketing->slot_bits);
}

static nigh_status mark_keys(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    const struct bucketing *bucketing = user;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *record = records + i * bucketing->posting_words;
        const uint64_t slot = slot_of(bucketing, record[0]);
        const uint64_t bit = UINT64_C(1) << (slot % 64);
        uint64_t *words = &bucketing->table[slot / 64 * 2];
        if (!nigh__id_fits(bucketing->staged, bucketing->bases, record[bucketing->posting_words - 1]))
            return nigh__staged_nonsense(bucketing->staged, NIGH_STAGE_POSTINGS, shard, error);
        words[1] |= words[0] & bit;
        words[0] |= bit;
    }
    return NIGH_OK;
}

static nigh_status add_shared(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    const struct bucketing *bucketing = user;
    const uint32_t words = bucketing->posting_words;
    nigh_status status = NIGH_OK;
    (void)shard;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *record = records + i * words;
        const uint64_t slot = slot_of(bucketing, record[0]);
        if ((bucketing->table[slot / 64 * 2 + 1] >> (slot % 64) & 1) == 0) continue;
        const uint64_t wanted[3] = {record[words - 1], record[0], words == 3 ? record[1] : 0};
        status = nigh__sorter_add(bucketing->by_id, wanted, 1, error);
    }
    return status;
}

/* Whether low halves count is the same for all. */
static nigh_status find_width(struct bucketing *bucketing, uint64_t *postings, nigh_error *error) {
    nigh_status status = NIGH_OK;
    *postings = 0;
    for (uint32_t i = 0; status == NIGH_OK && i < bucketing->staged->shards; i++) {
        struct nigh__stage_reader reader;
        uint64_t wide = 0;
        status = nigh__staged_read(bucketing->staged, NIGH_STAGE_POSTINGS, i, &reader, error);
        if (status == NIGH_OK) status = nigh__staged_info(&reader, NIGH__POSTINGS_INFO, &wide, 1, error);
        if (status == NIGH_OK) {
            bucketing->posting_words = wide != 0 ? 3 : 2;
            *postings += nigh__stage_words(&reader, NIGH__POSTINGS_POSTINGS + bucketing->shard) / (wide != 0 ? 3 : 2);
        }
        nigh__stage_reader_release(&reader);
    }
    return status;
}

static nigh_status make_table(struct bucketing *bucketing, uint64_t postings, nigh_error *error) {
    const nigh_staged *staged = bucketing->staged;
    const uint64_t most = staged->settled->options.memory_bytes / 8; /* bytes, four slots each */
    bucketing->slot_bits = SLOT_BITS_MIN;
    while (bucketing->slot_bits < SLOT_BITS_MAX && UINT64_C(1) << bucketing->slot_bits < postings * SLOTS_OF_ONE &&
           UINT64_C(1) << (bucketing->slot_bits - 1) <= most)
        bucketing->slot_bits++;
    bucketing->table = nigh__alloc_table(staged->context, (size_t)1 << (bucketing->slot_bits - 2), 1);
    bucketing->recent = nigh__alloc_table(staged->context, (size_t)2 << RECENT_BITS, sizeof *bucketing->recent);
    return bucketing->table == NULL || bucketing->recent == NULL ? nigh__no_memory(error, "to find candidates")
                                                                 : NIGH_OK;
}

static nigh_status select_shared(struct bucketing *bucketing, nigh_error *error) {
    const nigh_staged *staged = bucketing->staged;
    const uint32_t section = NIGH__POSTINGS_POSTINGS + bucketing->shard;
    uint64_t postings = 0;
    nigh_status status = find_width(bucketing, &postings, error);
    if (status == NIGH_OK) status = make_table(bucketing, postings, error);
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_POSTINGS, section, bucketing->posting_words, mark_keys, bucketing,
                                   error);
    if (status == NIGH_OK) status = nigh__staged_sorter(staged, 3, 3, false, 4, &bucketing->by_id, error);
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_POSTINGS, section, bucketing->posting_words, add_shared,
                                   bucketing, error);
    return status == NIGH_OK ? nigh__sorter_finish(bucketing->by_id, error) : status;
}

/* -------------------------------------------------------------------- bits -- */

/* All postings of one document get its bits. */
static nigh_status join_document(struct bucketing *bucketing, uint64_t id, const uint64_t *bits, nigh_error *error) {
    const uint64_t *wanted = NULL;
    nigh_status status;
    while ((status = nigh__sorter_peek(&bucketing->wanted, &wanted, error)) == NIGH_OK && wanted != NULL &&
           wanted[0] == id) {
        uint64_t record[JOINED_WORDS] = {wanted[1], wanted[2], id};
        memcpy(record + 3, bits, NIGH__BITS_WORDS * sizeof *bits);
        status = nigh__sorter_add(bucketing->joined, record, 1, error);
        if (status != NIGH_OK) break;
        bucketing->wanted.next++;
    }
    return status;
}

static nigh_status join_bits(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct bucketing *bucketing = user;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++)
        status = join_document(bucketing, nigh__id_make(shard, bucketing->document++), records + i * NIGH__BITS_WORDS,
                               error);
    return status;
}

static nigh_status join_all(struct bucketing *bucketing, nigh_error *error) {
    const nigh_staged *staged = bucketing->staged;
    const uint64_t *left = NULL;
    nigh_status status = nigh__staged_sorter(staged, JOINED_WORDS, 3, false, 4, &bucketing->joined, error);
    bucketing->wanted = (struct nigh__sorter_cursor){.sorter = bucketing->by_id, .words = 3};
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++) {
        bucketing->document = 0;
        status = nigh__staged_each_of(staged, NIGH_STAGE_SIGN, i, NIGH__SIGN_BITS, NIGH__BITS_WORDS, join_bits,
                                      bucketing, error);
    }
    if (status == NIGH_OK) status = nigh__sorter_peek(&bucketing->wanted, &left, error);
    if (status == NIGH_OK && left != NULL)
        status = nigh__staged_nonsense(staged, NIGH_STAGE_SIGN, (uint32_t)nigh__id_shard(left[0]), error);
    return status == NIGH_OK ? nigh__sorter_finish(bucketing->joined, error) : status;
}

/* ----------------------------------------------------------------- buckets -- */

static nigh_status put_pair(struct bucketing *bucketing, uint64_t a, uint64_t b, nigh_error *error) {
    const uint64_t pair[NIGH__PAIR_WORDS] = {a < b ? a : b, a < b ? b : a};
    const uint64_t both = nigh__mix(pair[0]) + pair[1];
    uint64_t *recent = &bucketing->recent[(nigh__mix(both) >> (64 - RECENT_BITS)) * 2];
    if (recent[0] == pair[0] && recent[1] == pair[1]) return NIGH_OK;
    memcpy(recent, pair, sizeof pair);
    return nigh__stage_add(bucketing->writer, NIGH__BUCKETS_PAIRS + nigh__stage_share(bucketing->staged, both), pair,
                           NIGH__PAIR_WORDS, error);
}

static nigh_status compare_all(struct bucketing *bucketing, nigh_error *error) {
    const struct nigh__hamming *hamming = bucketing->staged->context->hamming;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i + 1 < bucketing->members; i++) {
        const uint64_t *row = bucketing->rows + i * NIGH__ROW_WORDS;
        const size_t others = (size_t)bucketing->members - i - 1;
        if (hamming->rows(row, row + NIGH__ROW_WORDS, others, NIGH__ROW_WORDS, bucketing->distances) >
            bucketing->radius)
            continue;
        for (size_t j = i + 1; status == NIGH_OK && j < bucketing->members; j++)
            if (bucketing->distances[j - i - 1] <= bucketing->radius &&
                (bucketing->least == 0 || nigh__lengths_fit(bucketing->least, (uint32_t)bucketing->features[i],
                                                            (uint32_t)bucketing->features[j])))
                status = put_pair(bucketing, bucketing->ids[i], bucketing->ids[j], error);
    }
    return status;
}

static nigh_status put_member(struct bucketing *bucketing, uint64_t id, nigh_error *error) {
    const uint64_t words[NIGH__CROWD_WORDS] = {nigh__id_make(bucketing->shard, bucketing->crowds),
                                               bucketing->bucket >> 32, id};
    return nigh__stage_add(bucketing->writer, NIGH__BUCKETS_CROWDS, words, NIGH__CROWD_WORDS, error);
}

static nigh_status end_bucket(struct bucketing *bucketing, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (bucketing->members > bucketing->most)
        bucketing->crowds++;
    else
        status = compare_all(bucketing, error);
    bucketing->members = 0;
    return status;
}

static nigh_status add_member(struct bucketing *bucketing, const uint64_t *record, nigh_error *error) {
    const uint64_t place = bucketing->members++;
    if (place > bucketing->most) return put_member(bucketing, record[2], error);
    bucketing->ids[place] = record[2];
    bucketing->features[place] = record[3 + NIGH__ROW_WORDS];
    memcpy(bucketing->rows + place * NIGH__ROW_WORDS, record + 3, NIGH__ROW_WORDS * sizeof *record);
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; status == NIGH_OK && place == bucketing->most && i <= place; i++) /* now it is a crowd */
        status = put_member(bucketing, bucketing->ids[i], error);
    return status;
}

/* Whether a record is of the bucket at hand: where its low half is not known, any will do. */
static bool is_of_bucket(const struct bucketing *bucketing, const uint64_t *record) {
    return bucketing->members > 0 && record[0] == bucketing->bucket &&
           (bucketing->low == 0 || record[1] == bucketing->low);
}

static nigh_status compare_buckets(struct bucketing *bucketing, nigh_error *error) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status;
    while ((status = nigh__sorter_next(bucketing->joined, &records, &count, error)) == NIGH_OK) {
        for (size_t i = 0; status == NIGH_OK && i < count; i++) {
            const uint64_t *record = records + i * JOINED_WORDS;
            if (!is_of_bucket(bucketing, record)) {
                status = end_bucket(bucketing, error);
                bucketing->bucket = record[0];
                bucketing->low = record[1];
            }
            if (status == NIGH_OK) status = add_member(bucketing, record, error);
        }
        if (status != NIGH_OK) return status;
    }
    return status == NIGH_END ? end_bucket(bucketing, error) : status;
}

static void settle(struct bucketing *bucketing) {
    const nigh_dedup_options *options = &bucketing->staged->settled->options;
    bucketing->radius = nigh__crowd_find_radius(options->threshold);
    bucketing->most = nigh__smaller(options->bucket_budget, NIGH__CROWD_MEMBERS);
    bucketing->least = options->no_verify ? options->threshold : 0;
}

nigh_status nigh__stage_buckets(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                                nigh_error *error) {
    uint64_t *bases = NULL;
    struct bucketing *bucketing = nigh__alloc_zero(staged->context, 1, sizeof *bucketing);
    if (bucketing == NULL) return nigh__no_memory(error, "to find candidates");
    *bucketing = (struct bucketing){.staged = staged, .shard = shard, .writer = writer};
    settle(bucketing);
    nigh_status status = nigh__staged_bases(staged, &bases, error);
    bucketing->bases = bases;
    if (status == NIGH_OK) status = select_shared(bucketing, error);
    if (status == NIGH_OK) status = join_all(bucketing, error);
    if (status == NIGH_OK) status = compare_buckets(bucketing, error);
    nigh__sorter_free(bucketing->by_id);
    nigh__sorter_free(bucketing->joined);
    nigh__free(staged->context, bucketing->table);
    nigh__free(staged->context, bucketing->recent);
    nigh__free(staged->context, bases);
    nigh__free(staged->context, bucketing);
    return status;
}
