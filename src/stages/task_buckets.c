/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tasks between keys and pairs.  Postings are small, and most keys are of one set alone; so what is of two sets or
 * more is found by postings (SHARED), and only for these the bits go the way of the keys (ROWS), to be compared bucket
 * by bucket (BUCKETS).
 */
#include <string.h>

#include "base/bytes.h"
#include "base/sorter.h"
#include "base/status.h"
#include "stages/bucket_stream.h"
#include "stages/sparse_forest.h"
#include "stages/task.h"

#define FOUND_WORDS 2u /* band and key, set */
#define TOGETHER 256u

struct sorting {
    struct nigh__sorter *sorter;
    uint64_t last[FOUND_WORDS];
    uint64_t members; /* of the bucket at hand, so far */
    /* Of ROWS. */
    struct nigh__sorter_cursor wanted;
    bool began;
    uint64_t set; /* the last that came by */
};

/* A sorter in all of the memory; what the first words leave open does not matter. */
static nigh_status new_sorter(const nigh_task *task, uint32_t words, uint32_t key_words, struct nigh__sorter **out,
                              nigh_error *error) {
    struct nigh__sorter_options options = nigh__dedup_sorting(task->dedup, words, 1, 1);
    options.key_words = key_words;
    return nigh__sorter_new(task->context, &options, out, error);
}

static nigh_status new_sorting(nigh_task *task, uint32_t words, uint32_t key_words, nigh_error *error) {
    struct sorting *sorting = task->state = nigh__alloc_zero(task->context, 1, sizeof *sorting);
    if (sorting == NULL) return nigh__no_memory(error, "to find candidates");
    return new_sorter(task, words, key_words, &sorting->sorter, error);
}

static void release_sorting(nigh_task *task) { nigh__sorter_free(((struct sorting *)task->state)->sorter); }

/* ------------------------------------------------------------------- shared -- */

static nigh_status begin_shared(nigh_task *task, nigh_error *error) { return new_sorting(task, FOUND_WORDS, 1, error); }

static nigh_status add_postings(nigh_task *task, nigh_records kind, const uint64_t *words, size_t count,
                                nigh_error *error) {
    const struct sorting *sorting = task->state;
    if (kind != NIGH_RECORDS_POSTINGS || words[0] >= task->options.shards)
        return nigh__task_nonsense(task, kind, error);
    const uint64_t places = (UINT64_C(1) << NIGH__TASK_PLACE_BITS) - 1;
    uint64_t found[TOGETHER * FOUND_WORDS];
    nigh_status status = NIGH_OK;
    for (size_t i = 1; status == NIGH_OK && i < count; i += TOGETHER) {
        const size_t part = nigh__smaller(count - i, TOGETHER);
        for (size_t k = 0; k < part; k++) {
            found[k * FOUND_WORDS] = words[i + k] >> NIGH__TASK_PLACE_BITS;
            found[k * FOUND_WORDS + 1] = nigh__task_set_name((uint32_t)words[0], words[i + k] & places);
        }
        status = nigh__sorter_add(sorting->sorter, found, part, error);
    }
    return status;
}

static nigh_status request(nigh_task *task, const uint64_t *found, nigh_error *error) {
    const uint64_t words[NIGH__REQUEST_WORDS] = {found[1], found[0]};
    return nigh__task_put(task, NIGH_RECORDS_REQUESTS, nigh__task_set_shard(found[1]), words, NIGH__REQUEST_WORDS,
                          error);
}

/* The first of a bucket waits for the second. */
static nigh_status take_found(nigh_task *task, const uint64_t *found, nigh_error *error) {
    struct sorting *sorting = task->state;
    nigh_status status = NIGH_OK;
    if (found[0] != sorting->last[0]) sorting->members = 0;
    if (sorting->members == 1) status = request(task, sorting->last, error);
    if (status == NIGH_OK && sorting->members > 0) status = request(task, found, error);
    sorting->members++;
    memcpy(sorting->last, found, sizeof sorting->last);
    return status;
}

static nigh_status finish_shared(nigh_task *task, nigh_error *error) {
    return nigh__task_each(task, ((struct sorting *)task->state)->sorter, FOUND_WORDS, take_found, error);
}

const struct nigh__task_work nigh__task_shared = {begin_shared, add_postings, finish_shared, release_sorting};

/* --------------------------------------------------------------------- rows -- */

static nigh_status begin_rows(nigh_task *task, nigh_error *error) {
    return new_sorting(task, NIGH__REQUEST_WORDS, NIGH__REQUEST_WORDS, error);
}

/* All requests of one set get its bits. */
static nigh_status answer(nigh_task *task, const struct nigh__task_set *set, nigh_error *error) {
    struct sorting *sorting = task->state;
    const uint64_t *wanted = NULL;
    nigh_status status;
    while ((status = nigh__sorter_peek(&sorting->wanted, &wanted, error)) == NIGH_OK && wanted != NULL &&
           wanted[0] == set->set) {
        uint64_t joined[NIGH__JOINED_WORDS] = {wanted[1], set->set};
        memcpy(joined + 2, set->row, sizeof set->row);
        status = nigh__task_put(task, NIGH_RECORDS_JOINED, nigh__task_share(task, joined[0]), joined,
                                NIGH__JOINED_WORDS, error);
        if (status != NIGH_OK) break;
        sorting->wanted.next++;
    }
    return status;
}

static nigh_status answer_sets(nigh_task *task, const uint64_t *words, size_t count, nigh_error *error) {
    struct sorting *sorting = task->state;
    struct nigh__task_set set;
    nigh_status status = NIGH_OK;
    if (!sorting->began) status = nigh__sorter_finish(sorting->sorter, error);
    for (size_t i = 0; status == NIGH_OK && i < count; i += NIGH__TASK_SET_WORDS) {
        memcpy(&set, words + i, sizeof set);
        if (nigh__task_set_shard(set.set) != task->options.shard || (sorting->began && set.set <= sorting->set))
            return nigh__task_nonsense(task, NIGH_RECORDS_SETS, error);
        if (!sorting->began)
            sorting->wanted = (struct nigh__sorter_cursor){.sorter = sorting->sorter, .words = NIGH__REQUEST_WORDS};
        sorting->began = true;
        sorting->set = set.set;
        status = answer(task, &set, error);
    }
    return status;
}

static nigh_status add_rows(nigh_task *task, nigh_records kind, const uint64_t *words, size_t count,
                            nigh_error *error) {
    const struct sorting *sorting = task->state;
    if (kind == NIGH_RECORDS_REQUESTS && !sorting->began)
        return nigh__task_sort(task, kind, sorting->sorter, words, count, NIGH__REQUEST_WORDS, 0, error);
    if (kind != NIGH_RECORDS_SETS || count % NIGH__TASK_SET_WORDS != 0) return nigh__task_nonsense(task, kind, error);
    return answer_sets(task, words, count, error);
}

/* What was asked for must have come by. */
static nigh_status finish_rows(nigh_task *task, nigh_error *error) {
    struct sorting *sorting = task->state;
    const uint64_t *left = NULL;
    if (!sorting->began)
        return nigh__sorter_count(sorting->sorter) == 0 ? NIGH_OK
                                                        : nigh__task_nonsense(task, NIGH_RECORDS_REQUESTS, error);
    nigh_status status = nigh__sorter_peek(&sorting->wanted, &left, error);
    return status == NIGH_OK && left != NULL ? nigh__task_nonsense(task, NIGH_RECORDS_REQUESTS, error) : status;
}

const struct nigh__task_work nigh__task_rows = {begin_rows, add_rows, finish_rows, release_sorting};

/* ------------------------------------------------------------------ buckets -- */

struct bucketing {
    struct nigh__sorter *sorter;
    struct nigh__bucket_stream stream;
    struct nigh__sparse_forest forest;
    uint64_t crowd, first; /* at hand, and its first member */
    bool has_crowd;
};

static nigh_status take_pair(void *user, const uint64_t *pair, nigh_error *error) {
    nigh_task *task = user;
    struct bucketing *bucketing = task->state;
    nigh_status status = nigh__sparse_forest_join(&bucketing->forest, pair[0], pair[1], error);
    if (status != NIGH_OK) return status;
    return nigh__task_put(task, NIGH_RECORDS_PAIRS, nigh__task_set_shard(pair[0]), pair, NIGH__TASK_PAIR_WORDS, error);
}

static nigh_status take_member(void *user, uint64_t crowd, uint64_t bucket, uint64_t id, nigh_error *error) {
    nigh_task *task = user;
    struct bucketing *bucketing = task->state;
    const uint64_t words[NIGH__TASK_CROWD_WORDS] = {(uint64_t)task->options.shard << 40 | crowd, bucket >> 32, id};
    if (!bucketing->has_crowd || crowd != bucketing->crowd) bucketing->first = id;
    bucketing->has_crowd = true;
    bucketing->crowd = crowd;
    nigh_status status = nigh__sparse_forest_join(&bucketing->forest, bucketing->first, id, error);
    if (status != NIGH_OK) return status;
    return nigh__task_put(task, NIGH_RECORDS_CROWDS, nigh__task_set_shard(id), words, NIGH__TASK_CROWD_WORDS, error);
}

static nigh_status begin_buckets(nigh_task *task, nigh_error *error) {
    struct bucketing *bucketing = task->state = nigh__alloc_zero(task->context, 1, sizeof *bucketing);
    if (bucketing == NULL) return nigh__no_memory(error, "to find candidates");
    nigh__sparse_forest_init(task->context, &bucketing->forest);
    bucketing->stream.user = task;
    bucketing->stream.take_pair = take_pair;
    bucketing->stream.take_member = take_member;
    nigh_status status = nigh__bucket_stream_begin(&bucketing->stream, task->dedup, error);
    if (status != NIGH_OK) return status;
    return new_sorter(task, NIGH__JOINED_WORDS, 2, &bucketing->sorter, error);
}

static void release_buckets(nigh_task *task) {
    struct bucketing *bucketing = task->state;
    nigh__sorter_free(bucketing->sorter);
    nigh__bucket_stream_release(&bucketing->stream);
    nigh__sparse_forest_release(&bucketing->forest);
}

static nigh_status add_joined(nigh_task *task, nigh_records kind, const uint64_t *words, size_t count,
                              nigh_error *error) {
    const struct bucketing *bucketing = task->state;
    if (kind != NIGH_RECORDS_JOINED || count % NIGH__JOINED_WORDS != 0) return nigh__task_nonsense(task, kind, error);
    for (size_t i = 1; i < count; i += NIGH__JOINED_WORDS)
        if (nigh__task_set_shard(words[i]) >= task->options.shards) return nigh__task_nonsense(task, kind, error);
    return nigh__sorter_add(bucketing->sorter, words, count / NIGH__JOINED_WORDS, error);
}

static nigh_status take_joined(nigh_task *task, const uint64_t *joined, nigh_error *error) {
    struct bucketing *bucketing = task->state;
    const struct nigh__bucket_member member = {.bucket = joined[0], .id = joined[1], .row = joined + 2};
    return nigh__bucket_stream_add(&bucketing->stream, &member, error);
}

/* Each with the smallest that it is connected with here: few edges, whatever the pairs. */
static nigh_status put_edges(nigh_task *task, struct nigh__sparse_forest *forest, nigh_records kind,
                             nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < forest->numbers.count; i++) {
        const uint64_t number = ((const uint64_t *)forest->numbers.data)[i];
        const uint64_t words[2] = {number, nigh__sparse_forest_top(forest, i)};
        if (kind == NIGH_RECORDS_LABELS) {
            status = nigh__task_put(task, kind, nigh__task_set_shard(number), words, NIGH__LABEL_WORDS, error);
        } else if (words[0] != words[1]) {
            status = nigh__task_put(task, kind, 0, words, NIGH__EDGE_WORDS, error);
            task->counters[NIGH_COUNTER_EDGES]++;
        }
    }
    return status;
}

static nigh_status finish_buckets(nigh_task *task, nigh_error *error) {
    struct bucketing *bucketing = task->state;
    nigh_status status = nigh__task_each(task, bucketing->sorter, NIGH__JOINED_WORDS, take_joined, error);
    if (status == NIGH_OK) status = nigh__bucket_stream_end(&bucketing->stream, error);
    if (status == NIGH_OK) status = put_edges(task, &bucketing->forest, NIGH_RECORDS_EDGES, error);
    task->counters[NIGH_COUNTER_CROWDS] = bucketing->stream.crowds;
    return status;
}

const struct nigh__task_work nigh__task_buckets = {begin_buckets, add_joined, finish_buckets, release_buckets};

/* --------------------------------------------------------------- components -- */

static nigh_status begin_components(nigh_task *task, nigh_error *error) {
    struct nigh__sparse_forest *forest = task->state = nigh__alloc_zero(task->context, 1, sizeof *forest);
    if (forest == NULL) return nigh__no_memory(error, "to connect documents");
    nigh__sparse_forest_init(task->context, forest);
    return NIGH_OK;
}

static void release_components(nigh_task *task) { nigh__sparse_forest_release(task->state); }

static nigh_status add_edges(nigh_task *task, nigh_records kind, const uint64_t *words, size_t count,
                             nigh_error *error) {
    if (kind != NIGH_RECORDS_EDGES || count % NIGH__EDGE_WORDS != 0) return nigh__task_nonsense(task, kind, error);
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i += NIGH__EDGE_WORDS) {
        if (nigh__task_set_shard(words[i]) >= task->options.shards ||
            nigh__task_set_shard(words[i + 1]) >= task->options.shards)
            return nigh__task_nonsense(task, kind, error);
        status = nigh__sparse_forest_join(task->state, words[i], words[i + 1], error);
    }
    return status;
}

static nigh_status count_components(nigh_task *task, const struct nigh__sparse_forest *forest, nigh_error *error) {
    uint64_t *sizes = nigh__alloc_zero(task->context, forest->numbers.count + 1, sizeof *sizes);
    if (sizes == NULL) return nigh__no_memory(error, "to connect documents");
    const uint64_t *above = forest->above.data;
    for (size_t i = 0; i < forest->numbers.count; i++) {
        size_t top = i;
        while (above[top] != top) top = (size_t)above[top];
        task->counters[NIGH_COUNTER_COMPONENTS] += top == i;
        sizes[top]++;
        if (sizes[top] > task->counters[NIGH_COUNTER_LARGEST]) task->counters[NIGH_COUNTER_LARGEST] = sizes[top];
    }
    nigh__free(task->context, sizes);
    return NIGH_OK;
}

static nigh_status finish_components(nigh_task *task, nigh_error *error) {
    nigh_status status = put_edges(task, task->state, NIGH_RECORDS_LABELS, error);
    return status == NIGH_OK ? count_components(task, task->state, error) : status;
}

const struct nigh__task_work nigh__task_components = {begin_components, add_edges, finish_components,
                                                      release_components};
