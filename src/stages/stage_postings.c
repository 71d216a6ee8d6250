/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage postings: the keys of a shard's documents, of those that are the first of their set and have features, go
 * to the tasks that will look at buckets.  A bucket is of one band and one high half of a key; low halves count, as in
 * one run (dedup/bands.c says why), where there are more than 2^26 such documents, and not for the first 2^26 of them.
 */
#include "base/status.h"
#include "dedup/bands.h"
#include "dedup/pass.h"
#include "signature/band_keys.h"
#include "stages/set_members.h"

struct posting {
    const nigh_staged *staged;
    uint32_t shard, bands;
    struct nigh__stage_writer *writer;
    uint64_t *later;                /* bits of documents that are not the first of their set */
    bool wide;                      /* low halves count, */
    uint64_t narrow;                /* but for so many documents */
    uint64_t number;                /* of the next first with features, among those of all shards */
    uint64_t document, documents;   /* the next, of so many */
    struct nigh__stage_reader keys; /* of the same file */
    const uint64_t *records;        /* keys of documents with features, */
    size_t left;                    /* so many at hand */
};

static nigh_status mark_later(void *user, uint64_t id, const struct nigh__set_ends *set, nigh_error *error) {
    struct posting *posting = user;
    (void)error;
    if (set->first != id) nigh__bit_set(posting->later, nigh__id_document(id));
    return NIGH_OK;
}

/* How many firsts with features come before those of our shard, and how many there are in all. */
static nigh_status count_firsts(struct posting *posting, uint64_t *all, nigh_error *error) {
    const nigh_staged *staged = posting->staged;
    const size_t words = (size_t)NIGH__COPIES_INFO_WORDS + staged->shards;
    uint64_t signed_ones[NIGH__SIGN_INFO_WORDS];
    uint64_t *later = nigh__alloc(staged->context, words, sizeof *later);
    nigh_status status = later == NULL ? nigh__no_memory(error, "to count documents") : NIGH_OK;
    *all = posting->number = 0;
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++) {
        status = nigh__staged_info_of(staged, NIGH_STAGE_SIGN, i, signed_ones, NIGH__SIGN_INFO_WORDS, error);
        if (status == NIGH_OK) status = nigh__staged_info_of(staged, NIGH_STAGE_COPIES, i, later, words, error);
        if (status != NIGH_OK) break;
        *all += signed_ones[NIGH__SIGN_SIGNED];
        posting->number += i < posting->shard ? signed_ones[NIGH__SIGN_SIGNED] : 0;
        for (uint32_t k = 0; k < staged->shards; k++) {
            *all -= later[NIGH__COPIES_INFO_WORDS + k];
            posting->number -= k < posting->shard ? later[NIGH__COPIES_INFO_WORDS + k] : 0;
        }
    }
    nigh__free(staged->context, later);
    return status;
}

static nigh_status next_keys(struct posting *posting, const uint64_t **keys, nigh_error *error) {
    if (posting->left == 0) {
        nigh_status status = nigh__stage_next(&posting->keys, posting->bands, &posting->records, &posting->left, error);
        if (status == NIGH_END) return nigh__staged_nonsense(posting->staged, NIGH_STAGE_SIGN, posting->shard, error);
        if (status != NIGH_OK) return status;
    }
    *keys = posting->records;
    posting->records += posting->bands;
    posting->left--;
    return NIGH_OK;
}

static nigh_status post(struct posting *posting, const uint64_t *keys, nigh_error *error) {
    const bool narrow = posting->number++ < posting->narrow;
    const uint64_t id = nigh__id_make(posting->shard, posting->document);
    nigh_status status = NIGH_OK;
    for (uint32_t band = 0; status == NIGH_OK && band < posting->bands; band++) {
        const uint64_t bucket = (uint64_t)band << 32 | keys[band] >> 32;
        const uint64_t low = narrow ? 0 : (uint32_t)keys[band];
        const uint64_t words[3] = {bucket, posting->wide ? low : id, id};
        status = nigh__stage_add(posting->writer, NIGH__POSTINGS_POSTINGS + nigh__stage_share(posting->staged, bucket),
                                 words, posting->wide ? 3 : 2, error);
    }
    return status;
}

static nigh_status take_bits(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct posting *posting = user;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++, posting->document++) {
        const uint64_t *keys = NULL;
        if (posting->document == posting->documents)
            return nigh__staged_nonsense(posting->staged, NIGH_STAGE_SIGN, shard, error);
        if (records[i * NIGH__BITS_WORDS + NIGH__ROW_WORDS] == 0) continue;
        status = next_keys(posting, &keys, error);
        if (status == NIGH_OK && !nigh__bit_is_set(posting->later, posting->document))
            status = post(posting, keys, error);
    }
    return status;
}

/* The documents of the shard, in order. */
static nigh_status post_all(struct posting *posting, nigh_error *error) {
    const nigh_staged *staged = posting->staged;
    const uint64_t info[1] = {posting->wide};
    nigh_status status = nigh__staged_read(staged, NIGH_STAGE_SIGN, posting->shard, &posting->keys, error);
    if (status != NIGH_OK) return status;
    nigh__stage_begin(&posting->keys, NIGH__SIGN_KEYS);
    status = nigh__staged_each_of(staged, NIGH_STAGE_SIGN, posting->shard, NIGH__SIGN_BITS, NIGH__BITS_WORDS, take_bits,
                                  posting, error);
    if (status == NIGH_OK) status = nigh__stage_add(posting->writer, NIGH__POSTINGS_INFO, info, 1, error);
    nigh__stage_reader_release(&posting->keys);
    return status;
}

nigh_status nigh__stage_postings(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                                 nigh_error *error) {
    const uint64_t most = staged->settled->narrow.keys / NIGH__BANDS_BLOCK * NIGH__BANDS_BLOCK;
    struct posting posting = {
        .staged = staged, .shard = shard, .bands = staged->settled->plan->bands, .writer = writer};
    uint64_t *bases = NULL;
    uint64_t all = 0;
    nigh_status status = nigh__staged_bases(staged, &bases, error);
    if (status == NIGH_OK) status = count_firsts(&posting, &all, error);
    posting.wide = all > most;
    posting.narrow = posting.wide ? most : UINT64_MAX;
    if (status == NIGH_OK) {
        posting.documents = bases[shard + 1] - bases[shard];
        posting.later = nigh__bits_new(staged->context, posting.documents, error);
        status =
            posting.later == NULL ? NIGH_ENOMEM : nigh__members_each(staged, bases, shard, mark_later, &posting, error);
    }
    if (status == NIGH_OK) status = post_all(&posting, error);
    nigh__free(staged->context, posting.later);
    nigh__free(staged->context, bases);
    return status;
}
