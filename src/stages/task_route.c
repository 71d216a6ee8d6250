/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The task ROUTE: what is of one component goes to one task of VERIFY.  Everything is in the order of sets, so labels
 * go by beside the sets, then once more beside pairs, and beside members of crowds.
 */
#include <string.h>

#include "base/sorter.h"
#include "base/status.h"
#include "stages/task.h"

struct routing {
    struct nigh__sorter *labels, *pairs, *members; /* of sets; of set, crowd, band */
    struct nigh__sorter_cursor cursor;             /* of the labels */
    bool began;                                    /* sets came by */
    uint64_t set;                                  /* the last of them */
    bool has_set;
};

static nigh_status begin(nigh_task *task, nigh_error *error) {
    struct routing *routing = task->state = nigh__alloc_zero(task->context, 1, sizeof *routing);
    if (routing == NULL) return nigh__no_memory(error, "to bring components together");
    nigh_status status = nigh__task_sorter(task, NIGH__LABEL_WORDS, true, 3, &routing->labels, error);
    if (status == NIGH_OK) status = nigh__task_sorter(task, NIGH__TASK_PAIR_WORDS, true, 3, &routing->pairs, error);
    if (status == NIGH_OK) status = nigh__task_sorter(task, NIGH__TASK_CROWD_WORDS, false, 3, &routing->members, error);
    return status;
}

static void release(nigh_task *task) {
    struct routing *routing = task->state;
    nigh__sorter_free(routing->labels);
    nigh__sorter_free(routing->pairs);
    nigh__sorter_free(routing->members);
}

/* The label of a set, or NULL; sets are asked for in order, from the first after begin_labels(). */
static nigh_status find_label(struct routing *routing, uint64_t set, const uint64_t **out, nigh_error *error) {
    nigh_status status;
    while ((status = nigh__sorter_peek(&routing->cursor, out, error)) == NIGH_OK && *out != NULL && (*out)[0] < set)
        routing->cursor.next++;
    if (status == NIGH_OK && *out != NULL && (*out)[0] != set) *out = NULL;
    return status;
}

static nigh_status begin_labels(struct routing *routing, nigh_error *error) {
    routing->cursor = (struct nigh__sorter_cursor){.sorter = routing->labels, .words = NIGH__LABEL_WORDS};
    if (routing->began) return nigh__sorter_rewind(routing->labels, error);
    routing->began = true;
    return nigh__sorter_finish(routing->labels, error);
}

/* --------------------------------------------------------------------- sets -- */

static nigh_status put_candidate(nigh_task *task, const struct nigh__task_set *set, uint64_t component,
                                 nigh_error *error) {
    const uint32_t shard = nigh__task_share(task, component);
    const uint64_t needed[NIGH__NEEDED_DOCUMENT_WORDS] = {nigh__task_signed_number(set->first), set->set, shard};
    uint64_t words[NIGH__TASK_SET_WORDS];
    memcpy(words, set, sizeof words);
    task->counters[NIGH_COUNTER_CANDIDATES]++;
    nigh_status status = nigh__task_put(task, NIGH_RECORDS_CANDIDATES, shard, words, NIGH__TASK_SET_WORDS, error);
    if (status != NIGH_OK) return status;
    return nigh__task_put(task, NIGH_RECORDS_NEEDED, 0, needed, NIGH__NEEDED_DOCUMENT_WORDS, error);
}

static nigh_status add_sets(nigh_task *task, const uint64_t *words, size_t count, nigh_error *error) {
    struct routing *routing = task->state;
    struct nigh__task_set set;
    nigh_status status = routing->began ? NIGH_OK : begin_labels(routing, error);
    for (size_t i = 0; status == NIGH_OK && i < count; i += NIGH__TASK_SET_WORDS) {
        const uint64_t *label = NULL;
        memcpy(&set, words + i, sizeof set);
        if (nigh__task_set_shard(set.set) != task->options.shard || (routing->has_set && set.set <= routing->set))
            return nigh__task_nonsense(task, NIGH_RECORDS_SETS, error);
        routing->set = set.set;
        routing->has_set = true;
        status = find_label(routing, set.set, &label, error);
        if (status == NIGH_OK && label != NULL) status = put_candidate(task, &set, label[1], error);
    }
    return status;
}

static nigh_status add_members(nigh_task *task, const uint64_t *words, size_t count, nigh_error *error) {
    const struct routing *routing = task->state;
    nigh_status status = NIGH_OK;
    if (count % NIGH__TASK_CROWD_WORDS != 0) return nigh__task_nonsense(task, NIGH_RECORDS_CROWDS, error);
    for (size_t i = 0; status == NIGH_OK && i < count; i += NIGH__TASK_CROWD_WORDS) {
        const uint64_t member[NIGH__TASK_CROWD_WORDS] = {words[i + 2], words[i], words[i + 1]};
        status = nigh__task_sort(task, NIGH_RECORDS_CROWDS, routing->members, member, NIGH__TASK_CROWD_WORDS,
                                 NIGH__TASK_CROWD_WORDS, 0, error);
    }
    return status;
}

static nigh_status add(nigh_task *task, nigh_records kind, const uint64_t *words, size_t count, nigh_error *error) {
    const struct routing *routing = task->state;
    if (kind == NIGH_RECORDS_LABELS && !routing->began)
        return nigh__task_sort(task, kind, routing->labels, words, count, NIGH__LABEL_WORDS, 0, error);
    if (kind == NIGH_RECORDS_SETS && count % NIGH__TASK_SET_WORDS == 0) return add_sets(task, words, count, error);
    if (kind == NIGH_RECORDS_PAIRS)
        return nigh__task_sort(task, kind, routing->pairs, words, count, NIGH__TASK_PAIR_WORDS, 0, error);
    if (kind == NIGH_RECORDS_CROWDS) return add_members(task, words, count, error);
    return nigh__task_nonsense(task, kind, error);
}

/* ------------------------------------------------------------ pairs, crowds -- */

/* The task of VERIFY that decides about a set, which must have a label. */
static nigh_status find_shard(nigh_task *task, uint64_t set, nigh_records kind, uint32_t *out, nigh_error *error) {
    const uint64_t *label = NULL;
    nigh_status status = find_label(task->state, set, &label, error);
    if (status != NIGH_OK) return status;
    if (label == NULL) return nigh__task_nonsense(task, kind, error);
    *out = nigh__task_share(task, label[1]);
    return NIGH_OK;
}

static nigh_status route_pair(nigh_task *task, const uint64_t *pair, nigh_error *error) {
    uint32_t shard = 0;
    nigh_status status = find_shard(task, pair[0], NIGH_RECORDS_PAIRS, &shard, error);
    if (status != NIGH_OK) return status;
    return nigh__task_put(task, NIGH_RECORDS_PAIRS, shard, pair, NIGH__TASK_PAIR_WORDS, error);
}

static nigh_status route_member(nigh_task *task, const uint64_t *member, nigh_error *error) {
    const uint64_t words[NIGH__TASK_CROWD_WORDS] = {member[1], member[2], member[0]};
    uint32_t shard = 0;
    nigh_status status = find_shard(task, member[0], NIGH_RECORDS_CROWDS, &shard, error);
    if (status != NIGH_OK) return status;
    return nigh__task_put(task, NIGH_RECORDS_CROWDS, shard, words, NIGH__TASK_CROWD_WORDS, error);
}

static nigh_status finish(nigh_task *task, nigh_error *error) {
    struct routing *routing = task->state;
    nigh_status status = begin_labels(routing, error);
    if (status == NIGH_OK) status = nigh__task_each(task, routing->pairs, NIGH__TASK_PAIR_WORDS, route_pair, error);
    if (status == NIGH_OK) status = begin_labels(routing, error);
    if (status == NIGH_OK)
        status = nigh__task_each(task, routing->members, NIGH__TASK_CROWD_WORDS, route_member, error);
    return status;
}

const struct nigh__task_work nigh__task_route = {begin, add, finish, release};
