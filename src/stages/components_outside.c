/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Components by sorting.  Rounds of stars (star_rounds.h) give each document its label, the smallest of its component;
 * what has a document is sorted by it, and goes by beside the labels:
 *
 *     labels     2-2 | 4-2 | 5-5 | 7-2 | 8-5 ...
 *     pairs      2-4 | 4-7 | 5-8             each to the task of its label
 *     crowds     5, crowd 3 | 7, crowd 1     by its first member; then by crowd, in whose order members go by
 *
 * Which task a component goes to may differ from what a run in memory chooses; what comes of it does not.
 */
#include "stages/components_outside.h"

#include "base/status.h"
#include "stages/star_rounds.h"

struct sharing {
    const nigh_staged *staged;
    const uint64_t *bases;
    struct nigh__stage_writer *writer;
    struct nigh__sorter *edges;          /* of the first round, while they are added; not owned */
    struct nigh__sorter *labels;         /* owned, as the next two */
    struct nigh__sorter *pairs;          /* of two documents */
    struct nigh__sorter *firsts;         /* of crowds: first member, crowd */
    struct nigh__sorter *tasks;          /* of crowds: crowd, task */
    struct nigh__sorter_cursor labelled; /* of labels */
    struct nigh__sorter_cursor tasked;   /* of tasks */
    uint64_t crowd, first;               /* the crowd that goes by, and its first member */
    bool began;
};

#define RECORD_WORDS 2u /* of all sorters here */
#define SHARE 4u

static nigh_status nonsense(const struct sharing *sharing, nigh_stage stage, uint32_t shard, nigh_error *error) {
    return nigh__staged_nonsense(sharing->staged, stage, shard, error);
}

static nigh_status new_sorter(const nigh_staged *staged, struct nigh__sorter **out, nigh_error *error) {
    return nigh__staged_sorter(staged, RECORD_WORDS, RECORD_WORDS, false, SHARE, out, error);
}

static nigh_status add(struct nigh__sorter *sorter, uint64_t first, uint64_t second, nigh_error *error) {
    const uint64_t record[RECORD_WORDS] = {first, second};
    return nigh__sorter_add(sorter, record, 1, error);
}

static struct nigh__sorter_cursor cursor_of(struct nigh__sorter *sorter) {
    return (struct nigh__sorter_cursor){.sorter = sorter, .words = RECORD_WORDS};
}

/* ------------------------------------------------------------------- edges -- */

static bool fits(const struct sharing *sharing, uint64_t id) {
    return nigh__id_fits(sharing->staged, sharing->bases, id);
}

static nigh_status add_pairs(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    const struct sharing *sharing = user;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *pair = records + i * NIGH__PAIR_WORDS;
        if (!fits(sharing, pair[0]) || !fits(sharing, pair[1]) || pair[0] >= pair[1])
            return nonsense(sharing, NIGH_STAGE_PAIRS, shard, error);
        status = nigh__star_add(sharing->edges, pair[0], pair[1], error);
    }
    return status;
}

/* Members of one crowd come one after the other, and crowds by their numbers. */
static nigh_status begin_crowd(struct sharing *sharing, const uint64_t *record, uint32_t shard, bool *begins,
                               nigh_error *error) {
    *begins = !sharing->began || sharing->crowd != record[0];
    if (!fits(sharing, record[2]) || (sharing->began && sharing->crowd > record[0]))
        return nonsense(sharing, NIGH_STAGE_BUCKETS, shard, error);
    if (*begins) sharing->first = record[2];
    sharing->crowd = record[0];
    sharing->began = true;
    return NIGH_OK;
}

/* Member after member; `take` is told which begin a crowd. */
typedef nigh_status member_take(struct sharing *sharing, const uint64_t *record, bool begins, nigh_error *error);
static nigh_status take_members(struct sharing *sharing, uint32_t shard, const uint64_t *records, size_t count,
                                member_take *take, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *record = records + i * NIGH__CROWD_WORDS;
        bool begins = false;
        status = begin_crowd(sharing, record, shard, &begins, error);
        if (status == NIGH_OK) status = take(sharing, record, begins, error);
    }
    return status;
}

static nigh_status connect_member(struct sharing *sharing, const uint64_t *record, bool begins, nigh_error *error) {
    (void)begins;
    return nigh__star_add(sharing->edges, sharing->first, record[2], error);
}

static nigh_status add_crowds(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    return take_members(user, shard, records, count, connect_member, error);
}

static nigh_status each_pair(struct sharing *sharing, nigh__staged_take *take, nigh_error *error) {
    return nigh__staged_each(sharing->staged, NIGH_STAGE_PAIRS, NIGH__PAIRS_DISTINCT, NIGH__PAIR_WORDS, take, sharing,
                             error);
}

static nigh_status each_crowd(struct sharing *sharing, nigh__staged_take *take, nigh_error *error) {
    sharing->began = false;
    return nigh__staged_each(sharing->staged, NIGH_STAGE_BUCKETS, NIGH__BUCKETS_CROWDS, NIGH__CROWD_WORDS, take,
                             sharing, error);
}

static nigh_status feed(void *user, struct nigh__sorter *sorter, nigh_error *error) {
    struct sharing *sharing = user;
    sharing->edges = sorter;
    nigh_status status = each_pair(sharing, add_pairs, error);
    return status == NIGH_OK ? each_crowd(sharing, add_crowds, error) : status;
}

/* ------------------------------------------------------------------ labels -- */

/* The label of a document; they are asked for in order. */
static nigh_status find_label(struct sharing *sharing, uint64_t id, uint64_t *out, nigh_error *error) {
    const uint64_t *record = NULL;
    nigh_status status;
    while ((status = nigh__sorter_peek(&sharing->labelled, &record, error)) == NIGH_OK && record != NULL &&
           record[0] < id)
        sharing->labelled.next++;
    if (status != NIGH_OK) return status;
    if (record == NULL || record[0] != id) return nonsense(sharing, NIGH_STAGE_COMPONENTS, 0, error);
    *out = record[1];
    return NIGH_OK;
}

static nigh_status begin_labels(struct sharing *sharing, nigh_error *error) {
    sharing->labelled = cursor_of(sharing->labels);
    return nigh__sorter_rewind(sharing->labels, error);
}

/* Those that are not alone, shard by shard. */
static nigh_status list_needed(struct sharing *sharing, nigh_error *error) {
    const uint64_t *record = NULL;
    nigh_status status = begin_labels(sharing, error);
    while (status == NIGH_OK && (status = nigh__sorter_peek(&sharing->labelled, &record, error)) == NIGH_OK &&
           record != NULL) {
        const uint64_t words[NIGH__NEEDED_WORDS] = {record[0], nigh__stage_share(sharing->staged, record[1])};
        const uint32_t shard = (uint32_t)nigh__id_shard(record[0]);
        status =
            nigh__stage_add(sharing->writer, nigh__components_section(sharing->staged, NIGH__COMPONENTS_NEEDED, shard),
                            words, NIGH__NEEDED_WORDS, error);
        sharing->labelled.next++;
    }
    return status;
}

/* ------------------------------------------------------------------- pairs -- */

static nigh_status sort_pairs(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    const struct sharing *sharing = user;
    (void)shard;
    return nigh__sorter_add(sharing->pairs, records, count, error);
}

static nigh_status share_pairs(struct sharing *sharing, nigh_error *error) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = new_sorter(sharing->staged, &sharing->pairs, error);
    if (status == NIGH_OK) status = each_pair(sharing, sort_pairs, error);
    if (status == NIGH_OK) status = nigh__sorter_finish(sharing->pairs, error);
    if (status == NIGH_OK) status = begin_labels(sharing, error);
    while (status == NIGH_OK && (status = nigh__sorter_next(sharing->pairs, &records, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++) {
            const uint64_t *pair = records + i * NIGH__PAIR_WORDS;
            uint64_t label = 0;
            status = find_label(sharing, pair[0], &label, error);
            const uint32_t section = nigh__components_section(sharing->staged, NIGH__COMPONENTS_PAIRS,
                                                              nigh__stage_share(sharing->staged, label));
            if (status == NIGH_OK) status = nigh__stage_add(sharing->writer, section, pair, NIGH__PAIR_WORDS, error);
        }
    nigh__sorter_free(sharing->pairs);
    sharing->pairs = NULL;
    return status == NIGH_END ? NIGH_OK : status;
}

/* ------------------------------------------------------------------ crowds -- */

static nigh_status sort_first(struct sharing *sharing, const uint64_t *record, bool begins, nigh_error *error) {
    return begins ? add(sharing->firsts, record[2], record[0], error) : NIGH_OK;
}

static nigh_status sort_firsts(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    return take_members(user, shard, records, count, sort_first, error);
}

/* Which task each crowd goes to. */
static nigh_status find_tasks(struct sharing *sharing, nigh_error *error) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = nigh__sorter_finish(sharing->firsts, error);
    if (status == NIGH_OK) status = begin_labels(sharing, error);
    while (status == NIGH_OK && (status = nigh__sorter_next(sharing->firsts, &records, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++) {
            uint64_t label = 0;
            status = find_label(sharing, records[i * RECORD_WORDS], &label, error);
            if (status == NIGH_OK)
                status = add(sharing->tasks, records[i * RECORD_WORDS + 1], nigh__stage_share(sharing->staged, label),
                             error);
        }
    return status == NIGH_END ? nigh__sorter_finish(sharing->tasks, error) : status;
}

static nigh_status share_members(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct sharing *sharing = user;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t *record = records + i * NIGH__CROWD_WORDS;
        const uint64_t *tasked = NULL;
        status = nigh__sorter_peek(&sharing->tasked, &tasked, error);
        if (status == NIGH_OK && tasked != NULL && tasked[0] < record[0]) {
            sharing->tasked.next++;
            status = nigh__sorter_peek(&sharing->tasked, &tasked, error);
        }
        if (status != NIGH_OK) return status;
        if (tasked == NULL || tasked[0] != record[0]) return nonsense(sharing, NIGH_STAGE_BUCKETS, shard, error);
        const uint32_t section =
            nigh__components_section(sharing->staged, NIGH__COMPONENTS_CROWDS, (uint32_t)tasked[1]);
        status = nigh__stage_add(sharing->writer, section, record, NIGH__CROWD_WORDS, error);
    }
    return status;
}

static nigh_status share_crowds(struct sharing *sharing, nigh_error *error) {
    nigh_status status = new_sorter(sharing->staged, &sharing->firsts, error);
    if (status == NIGH_OK) status = new_sorter(sharing->staged, &sharing->tasks, error);
    if (status == NIGH_OK) status = each_crowd(sharing, sort_firsts, error);
    if (status == NIGH_OK) status = find_tasks(sharing, error);
    sharing->tasked = cursor_of(sharing->tasks);
    return status == NIGH_OK ? each_crowd(sharing, share_members, error) : status;
}

/* --------------------------------------------------------------------- all -- */

static nigh_status share(struct sharing *sharing, nigh_error *error) {
    struct nigh__star_done done = {.components = 0};
    nigh_status status = nigh__star_labels(sharing->staged, feed, sharing, &sharing->labels, &done, error);
    if (status == NIGH_OK) status = list_needed(sharing, error);
    if (status == NIGH_OK) status = share_pairs(sharing, error);
    if (status == NIGH_OK) status = share_crowds(sharing, error);
    const uint64_t info[NIGH__COMPONENTS_INFO_WORDS] = {
        [NIGH__COMPONENTS_COUNT] = done.components, [NIGH__COMPONENTS_LARGEST] = done.largest};
    return status == NIGH_OK
               ? nigh__stage_add(sharing->writer, NIGH__COMPONENTS_INFO, info, NIGH__COMPONENTS_INFO_WORDS, error)
               : status;
}

nigh_status nigh__components_outside(const nigh_staged *staged, const uint64_t *bases,
                                     struct nigh__stage_writer *writer, nigh_error *error) {
    struct sharing sharing = {.staged = staged, .bases = bases, .writer = writer};
    const nigh_status status = share(&sharing, error);
    nigh__sorter_free(sharing.labels);
    nigh__sorter_free(sharing.pairs);
    nigh__sorter_free(sharing.firsts);
    nigh__sorter_free(sharing.tasks);
    return status;
}
