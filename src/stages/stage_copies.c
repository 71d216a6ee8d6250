/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stage copies: documents of one set of features, or without any of one text, come together by their marks.  Of
 * two or more the first stands for the others in the stages between, and the best is what is kept where the set is.
 *
 *     sorted   mark, text, id | mark, text, id | mark, another text, id | another mark ...
 *              `----- a set, of which the second is a copy ----------'
 *
 * Members go out as they come by, so that a million copies of one text take no memory.
 */
#include "base/status.h"
#include "dedup/order.h"
#include "stages/stage_work.h"

enum { MARK_0, MARK_1, TEXT, ID, MERIT };

struct copying {
    const nigh_staged *staged;
    struct nigh__stage_writer *writer;
    struct nigh__sorter *sorter;
    const uint64_t *bases;
    uint64_t *info;                  /* the copies, and of each shard how many are not the first of their set */
    uint64_t sets;                   /* written so far */
    uint64_t last[NIGH__MARK_WORDS]; /* the record before */
    uint64_t members;                /* of the set at hand, so far */
    uint64_t first, first_merit, best, best_merit;
};

static nigh_status add_marks(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    const struct copying *copying = user;
    for (size_t i = 0; i < count; i++)
        if (!nigh__id_fits(copying->staged, copying->bases, records[i * NIGH__MARK_WORDS + ID]))
            return nigh__staged_nonsense(copying->staged, NIGH_STAGE_SIGN, shard, error);
    return nigh__sorter_add(copying->sorter, records, count, error);
}

static nigh_status add_member(struct copying *copying, const uint64_t *record, nigh_error *error) {
    const uint64_t words[NIGH__MEMBER_WORDS] = {copying->sets, record[ID]};
    const uint32_t shard = (uint32_t)nigh__id_shard(record[ID]);
    copying->info[NIGH__COPIES_INFO_WORDS + shard] += record[MARK_1] & 1;
    return nigh__stage_add(copying->writer, NIGH__COPIES_MEMBERS + shard, words, NIGH__MEMBER_WORDS, error);
}

static nigh_status end_set(struct copying *copying, nigh_error *error) {
    if (copying->members < 2) return NIGH_OK;
    const uint64_t words[NIGH__SET_WORDS] = {copying->first, copying->best, copying->first_merit, copying->best_merit,
                                             copying->members};
    copying->info[NIGH__COPIES_INFO_WORDS + nigh__id_shard(copying->first)] -= copying->last[MARK_1] & 1;
    copying->sets++;
    return nigh__stage_add(copying->writer, NIGH__COPIES_SETS, words, NIGH__SET_WORDS, error);
}

static void begin_set(struct copying *copying, const uint64_t *record) {
    copying->members = 0;
    copying->first = copying->best = record[ID];
    copying->first_merit = copying->best_merit = record[MERIT];
}

/* Who is first, and who is best. */
static void weigh(struct copying *copying, const uint64_t *record) {
    if (record[ID] < copying->first) {
        copying->first = record[ID];
        copying->first_merit = record[MERIT];
    }
    if (!nigh__order_prefers(record[MERIT], record[ID], copying->best_merit, copying->best)) return;
    copying->best = record[ID];
    copying->best_merit = record[MERIT];
}

static nigh_status take_record(struct copying *copying, const uint64_t *record, nigh_error *error) {
    const bool same =
        copying->members > 0 && copying->last[MARK_0] == record[MARK_0] && copying->last[MARK_1] == record[MARK_1];
    nigh_status status = NIGH_OK;
    if (!same) {
        status = end_set(copying, error);
        begin_set(copying, record);
    } else {
        if (copying->members == 1) status = add_member(copying, copying->last, error);
        if (status == NIGH_OK) status = add_member(copying, record, error);
        copying->info[NIGH__COPIES_COPIES] += copying->last[TEXT] == record[TEXT];
    }
    weigh(copying, record);
    copying->members++;
    for (uint32_t i = 0; i < NIGH__MARK_WORDS; i++) copying->last[i] = record[i];
    return status;
}

static nigh_status find_sets(struct copying *copying, nigh_error *error) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = nigh__sorter_finish(copying->sorter, error);
    while (status == NIGH_OK && (status = nigh__sorter_next(copying->sorter, &records, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++)
            status = take_record(copying, records + i * NIGH__MARK_WORDS, error);
    return status == NIGH_END ? end_set(copying, error) : status;
}

nigh_status nigh__stage_copies(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                               nigh_error *error) {
    uint64_t *bases = NULL;
    const size_t words = (size_t)NIGH__COPIES_INFO_WORDS + staged->shards;
    struct copying copying = {.staged = staged, .writer = writer};
    copying.info = nigh__alloc_zero(staged->context, words, sizeof *copying.info);
    nigh_status status =
        copying.info == NULL ? nigh__no_memory(error, "to find copies") : nigh__staged_bases(staged, &bases, error);
    copying.bases = bases;
    if (status == NIGH_OK)
        status = nigh__staged_sorter(staged, NIGH__MARK_WORDS, ID + 1, false, 2, &copying.sorter, error);
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_SIGN, nigh__sign_marks(staged, shard), NIGH__MARK_WORDS,
                                   add_marks, &copying, error);
    if (status == NIGH_OK) status = find_sets(&copying, error);
    if (status == NIGH_OK) status = nigh__stage_add(writer, NIGH__COPIES_INFO, copying.info, words, error);
    nigh__sorter_free(copying.sorter);
    nigh__free(staged->context, bases);
    nigh__free(staged->context, copying.info);
    return status;
}
