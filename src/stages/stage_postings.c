/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage postings: which documents of a shard are found by their keys, being the first of their set and having
 * features, and how many such documents come before them.  The keys themselves stay where they are, in strips of the
 * sign file (key_strips.h).  A bucket is of one band and one high half of a key; low halves count, as in one run
 * (dedup/bands.c says why), where there are more than 2^26 such documents, and not for the first 2^26 of them.
 */
#include "base/status.h"
#include "dedup/bands.h"
#include "stages/set_members.h"

struct posting {
    const nigh_staged *staged;
    uint32_t shard;
    uint64_t *bits; /* of documents, in whole words */
    uint64_t words, filled;
};

static nigh_status clear_later(void *user, uint64_t id, const struct nigh__set_ends *set, nigh_error *error) {
    struct posting *posting = user;
    (void)error;
    const uint64_t document = nigh__id_document(id);
    if (set->first != id) posting->bits[document / 64] &= ~(UINT64_C(1) << document % 64);
    return NIGH_OK;
}

/* How many firsts with features come before those of our shard, and how many there are in all. */
static nigh_status count_firsts(const struct posting *posting, uint64_t *before, uint64_t *all, nigh_error *error) {
    const nigh_staged *staged = posting->staged;
    const size_t words = (size_t)NIGH__COPIES_INFO_WORDS + staged->shards;
    uint64_t signed_ones[NIGH__SIGN_INFO_WORDS];
    uint64_t *later = nigh__alloc(staged->context, words, sizeof *later);
    nigh_status status = later == NULL ? nigh__no_memory(error, "to count documents") : NIGH_OK;
    *all = *before = 0;
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++) {
        status = nigh__staged_info_of(staged, NIGH_STAGE_SIGN, i, signed_ones, NIGH__SIGN_INFO_WORDS, error);
        if (status == NIGH_OK) status = nigh__staged_info_of(staged, NIGH_STAGE_COPIES, i, later, words, error);
        if (status != NIGH_OK) break;
        *all += signed_ones[NIGH__SIGN_SIGNED];
        *before += i < posting->shard ? signed_ones[NIGH__SIGN_SIGNED] : 0;
        for (uint32_t k = 0; k < staged->shards; k++) {
            *all -= later[NIGH__COPIES_INFO_WORDS + k];
            *before -= k < posting->shard ? later[NIGH__COPIES_INFO_WORDS + k] : 0;
        }
    }
    nigh__free(staged->context, later);
    return status;
}

static nigh_status take_featured(void *user, uint32_t shard, const uint64_t *words, size_t count, nigh_error *error) {
    struct posting *posting = user;
    if (count > posting->words - posting->filled)
        return nigh__staged_nonsense(posting->staged, NIGH_STAGE_SIGN, shard, error);
    for (size_t i = 0; i < count; i++) posting->bits[posting->filled++] = words[i];
    return NIGH_OK;
}

static nigh_status find_firsts(struct posting *posting, const uint64_t *bases, nigh_error *error) {
    const nigh_staged *staged = posting->staged;
    const uint64_t documents = bases[posting->shard + 1] - bases[posting->shard];
    posting->words = (documents + 63) / 64;
    posting->bits = nigh__bits_new(staged->context, documents, error);
    if (posting->bits == NULL) return NIGH_ENOMEM;
    nigh_status status = nigh__staged_each_of(staged, NIGH_STAGE_SIGN, posting->shard, NIGH__SIGN_FEATURED, 1,
                                              take_featured, posting, error);
    if (status == NIGH_OK && (posting->filled != posting->words ||
                              (documents % 64 != 0 && posting->bits[posting->words - 1] >> documents % 64 != 0)))
        status = nigh__staged_nonsense(staged, NIGH_STAGE_SIGN, posting->shard, error);
    if (status == NIGH_OK) status = nigh__members_each(staged, bases, posting->shard, clear_later, posting, error);
    return status;
}

nigh_status nigh__stage_postings(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                                 nigh_error *error) {
    const uint64_t most = staged->settled->narrow.keys / NIGH__BANDS_BLOCK * NIGH__BANDS_BLOCK;
    struct posting posting = {.staged = staged, .shard = shard};
    uint64_t *bases = NULL;
    uint64_t before = 0;
    uint64_t all = 0;
    nigh_status status = nigh__staged_bases(staged, &bases, error);
    if (status == NIGH_OK) status = count_firsts(&posting, &before, &all, error);
    if (status == NIGH_OK) status = find_firsts(&posting, bases, error);
    const uint64_t info[NIGH__POSTINGS_INFO_WORDS] = {all > most, before};
    if (status == NIGH_OK)
        status = nigh__stage_add(writer, NIGH__POSTINGS_INFO, info, NIGH__POSTINGS_INFO_WORDS, error);
    for (uint64_t i = 0; status == NIGH_OK && i < posting.words; i++)
        status = nigh__stage_add(writer, NIGH__POSTINGS_FIRSTS, &posting.bits[i], 1, error);
    nigh__free(staged->context, posting.bits);
    nigh__free(staged->context, bases);
    return status;
}
