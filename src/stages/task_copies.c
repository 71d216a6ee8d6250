/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The task COPIES: documents of one set of features, or without any of one text, come together by their marks.  The
 * first stands for the others in the tasks between, and the best is what is kept where the set is.  What is sorted is
 * the mark, the number and where in memory the rest is; in order of their marks the sets get their names.
 *
 * Memory: 250 bytes a document of the shard, and 32 for sorting, which goes on in files.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/sorter.h"
#include "base/status.h"
#include "dedup/order.h"
#include "stages/task.h"

#define SORTED_WORDS 4u /* mark (2), number, record */
#define BLOCK_RECORDS 4096u

struct copying {
    size_t words;              /* of a record */
    struct nigh__array blocks; /* of uint64_t *, each owned */
    uint64_t records;          /* in them */
    struct nigh__sorter *sorter, *numbers;
    uint64_t last_number;
    bool has_number;
    uint64_t places; /* of sets so far */
    /* The set at hand, from `begin` to `end` in the sorted records. */
    uint64_t mark[2];
    struct nigh__array members; /* of uint64_t: records */
};

static uint64_t *record_at(const struct copying *copying, uint64_t record) {
    return ((uint64_t **)copying->blocks.data)[record / BLOCK_RECORDS] + record % BLOCK_RECORDS * copying->words;
}

static nigh_status begin(nigh_task *task, nigh_error *error) {
    struct copying *copying = task->state = nigh__alloc_zero(task->context, 1, sizeof *copying);
    if (copying == NULL) return nigh__no_memory(error, "to find copies");
    *copying = (struct copying){.words = NIGH__SIGNED_KEYS + (task->dedup->plan->bands + 1) / 2,
                                .blocks = NIGH__ARRAY(uint64_t *),
                                .members = NIGH__ARRAY(uint64_t)};
    nigh_status status = nigh__task_sorter(task, SORTED_WORDS, false, 2, &copying->sorter, error);
    return status == NIGH_OK ? nigh__task_sorter(task, 1, false, 4, &copying->numbers, error) : status;
}

static void release(nigh_task *task) {
    struct copying *copying = task->state;
    for (size_t i = 0; i < copying->blocks.count; i++)
        nigh__free(task->context, ((uint64_t **)copying->blocks.data)[i]);
    nigh__array_release(task->context, &copying->blocks);
    nigh__array_release(task->context, &copying->members);
    nigh__sorter_free(copying->sorter);
    nigh__sorter_free(copying->numbers);
}

/* Keeps a record; returns where, or NULL. */
static uint64_t *keep(nigh_task *task, struct copying *copying) {
    if (copying->records % BLOCK_RECORDS == 0) {
        uint64_t *block = nigh__alloc(task->context, BLOCK_RECORDS, copying->words * sizeof *block);
        uint64_t **place = block == NULL ? NULL : nigh__array_add(task->context, &copying->blocks, 1);
        if (place == NULL) {
            nigh__free(task->context, block);
            return NULL;
        }
        *place = block;
    }
    return record_at(copying, copying->records);
}

static nigh_status add(nigh_task *task, nigh_records kind, const uint64_t *words, size_t count, nigh_error *error) {
    struct copying *copying = task->state;
    if (kind == NIGH_RECORDS_NUMBERS) return nigh__sorter_add(copying->numbers, words, count, error);
    if (kind != NIGH_RECORDS_SIGNED || count % copying->words != 0) return nigh__task_nonsense(task, kind, error);
    nigh_status status = NIGH_OK;
    for (const uint64_t *end = words + count; status == NIGH_OK && words < end; words += copying->words) {
        uint64_t *place = keep(task, copying);
        if (place == NULL) return nigh__no_memory(error, "to find copies");
        memcpy(place, words, copying->words * sizeof *words);
        const uint64_t sorted[SORTED_WORDS] = {words[NIGH__SIGNED_MARK], words[NIGH__SIGNED_MARK + 1],
                                               words[NIGH__SIGNED_NUMBER], copying->records++};
        status = nigh__sorter_add(copying->sorter, sorted, 1, error);
    }
    task->counters[NIGH_COUNTER_DOCUMENTS] = copying->records;
    return status;
}

/* -------------------------------------------------------------------- a set -- */

static const uint64_t *find_best(const struct copying *copying) {
    const uint64_t *members = copying->members.data;
    const uint64_t *best = record_at(copying, members[0]);
    for (size_t i = 1; i < copying->members.count; i++) {
        const uint64_t *record = record_at(copying, members[i]);
        if (nigh__order_prefers(record[NIGH__SIGNED_MERIT], record[NIGH__SIGNED_NUMBER], best[NIGH__SIGNED_MERIT],
                                best[NIGH__SIGNED_NUMBER]))
            best = record;
    }
    return best;
}

static nigh_status put_members(nigh_task *task, const uint64_t *best, nigh_error *error) {
    struct copying *copying = task->state;
    const uint64_t *members = copying->members.data;
    const double similarity = 1;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < copying->members.count; i++) {
        const uint64_t *record = record_at(copying, members[i]);
        if (record == best) continue;
        const uint64_t match[NIGH__MATCH_WORDS] = {nigh__task_signed_number(record[NIGH__SIGNED_NUMBER]),
                                                   nigh__task_signed_number(best[NIGH__SIGNED_NUMBER]),
                                                   nigh__load64(&similarity)};
        status = nigh__task_put(task, NIGH_RECORDS_MATCHES, 0, match, NIGH__MATCH_WORDS, error);
    }
    return status;
}

static nigh_status put_postings(nigh_task *task, const uint64_t *first, uint64_t place, nigh_error *error) {
    uint32_t keys[2];
    nigh_status status = NIGH_OK;
    for (uint32_t band = 0; status == NIGH_OK && band < task->dedup->plan->bands; band++) {
        memcpy(keys, first + NIGH__SIGNED_KEYS + band / 2, sizeof keys);
        const uint64_t bucket = (uint64_t)band << 32 | keys[band % 2];
        const uint64_t posting = bucket << NIGH__TASK_PLACE_BITS | place;
        status = nigh__task_put(task, NIGH_RECORDS_POSTINGS, nigh__task_share(task, bucket), &posting, 1, error);
    }
    return status;
}

static nigh_status put_set(nigh_task *task, const uint64_t *best, nigh_error *error) {
    struct copying *copying = task->state;
    const uint64_t *first = record_at(copying, ((const uint64_t *)copying->members.data)[0]);
    const uint64_t place = copying->places++;
    if (place >> NIGH__TASK_PLACE_BITS != 0)
        return nigh__fail(error, NIGH_ELIMIT, "more than 2^25 documents in one shard; take more shards");
    struct nigh__task_set set = {.set = nigh__task_set_name(task->options.shard, place),
                                 .check = first[NIGH__SIGNED_CHECK],
                                 .first = first[NIGH__SIGNED_NUMBER],
                                 .best = best[NIGH__SIGNED_NUMBER],
                                 .first_merit = first[NIGH__SIGNED_MERIT],
                                 .best_merit = best[NIGH__SIGNED_MERIT],
                                 .features = first[NIGH__SIGNED_FEATURES]};
    uint64_t words[NIGH__TASK_SET_WORDS];
    memcpy(set.row, first + NIGH__SIGNED_ROW, sizeof set.row);
    memcpy(words, &set, sizeof words);
    nigh_status status =
        nigh__task_put(task, NIGH_RECORDS_SETS, task->options.shard, words, NIGH__TASK_SET_WORDS, error);
    return status == NIGH_OK ? put_postings(task, first, place, error) : status;
}

static nigh_status end_set(nigh_task *task, nigh_error *error) {
    struct copying *copying = task->state;
    if (copying->members.count == 0) return NIGH_OK;
    const uint64_t *best = find_best(copying);
    nigh_status status = put_members(task, best, error);
    if (status == NIGH_OK && (copying->mark[1] & 1) != 0) status = put_set(task, best, error);
    copying->members.count = 0;
    return status;
}

static nigh_status take_record(nigh_task *task, const uint64_t *record, nigh_error *error) {
    struct copying *copying = task->state;
    nigh_status status = NIGH_OK;
    if (record[0] != copying->mark[0] || record[1] != copying->mark[1]) status = end_set(task, error);
    memcpy(copying->mark, record, sizeof copying->mark);
    uint64_t *place = nigh__array_add(task->context, &copying->members, 1);
    if (place == NULL) return nigh__no_memory(error, "to find copies");
    *place = record[SORTED_WORDS - 1];
    return status;
}

/* ------------------------------------------------------------------ numbers -- */

static nigh_status take_number(nigh_task *task, const uint64_t *number, nigh_error *error) {
    struct copying *copying = task->state;
    (void)error;
    if (copying->has_number && *number == copying->last_number) {
        task->counters[NIGH_COUNTER_REPEATED]++;
        task->counters[NIGH_COUNTER_NUMBER] = nigh__task_signed_number(*number);
    }
    copying->has_number = true;
    copying->last_number = *number;
    return NIGH_OK;
}

static nigh_status finish(nigh_task *task, nigh_error *error) {
    struct copying *copying = task->state;
    nigh_status status = nigh__task_each(task, copying->numbers, 1, take_number, error);
    if (status == NIGH_OK) status = nigh__task_each(task, copying->sorter, SORTED_WORDS, take_record, error);
    if (status == NIGH_OK) status = end_set(task, error);
    task->counters[NIGH_COUNTER_SETS] = copying->places;
    return status;
}

const struct nigh__task_work nigh__task_copies = {begin, add, finish, release};
