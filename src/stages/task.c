/* SPDX-License-Identifier: Apache-2.0 */
/* The interface of tasks: options, records that go in, and records that come out, gathered by kind and shard. */
#include "stages/task.h"

#include <string.h>

#include "base/options.h"
#include "base/sorter.h"
#include "base/status.h"
#include "stages/stages_options.h"

#define CHUNK_WORDS_MAX 8192u
#define CHUNK_WORDS_MIN 512u
#define CHUNKS_WORDS (1u << 21) /* of all shards */

static const struct nigh__task_work *const works[] = {&nigh__task_sign,  &nigh__task_copies,   &nigh__task_shared,
                                                      &nigh__task_rows,  &nigh__task_buckets,  &nigh__task_components,
                                                      &nigh__task_route, &nigh__task_features, &nigh__task_verify};
#define WORKS (sizeof works / sizeof works[0])

/* ----------------------------------------------------------------- making -- */

static nigh_status check(const nigh_task *task, nigh_error *error) {
    const nigh_dedup_options *options = &task->dedup->options;
    const char *what = options->method != NIGH_DEDUP_MINHASH ? "another method than minhash"
                       : options->limit != 0                 ? "a limit of documents"
                       : options->all_pairs                  ? "a list of all pairs"
                       : options->against != NULL            ? "a collection to compare with"
                       : options->no_verify                  ? "not to verify"
                                                             : NULL;
    if (what != NULL) return nigh__fail(error, NIGH_EINVAL, "%s does not go with tasks", what);
    const nigh_task_options *own = &task->options;
    if (own->shards == 0 || own->shards > NIGH_MAX_SHARDS)
        return nigh__fail(error, NIGH_EINVAL, "%u shards; there may be 1 to %d", own->shards, NIGH_MAX_SHARDS);
    if (own->shard >= own->shards) return nigh__fail(error, NIGH_EINVAL, "shard %u of %u", own->shard, own->shards);
    return own->take == NULL ? nigh__fail(error, NIGH_EINVAL, "no function takes the records") : NIGH_OK;
}

static nigh_status make(nigh_task *task, const nigh_dedup_options *options, const nigh_task_options *own,
                        nigh_error *error) {
    nigh_status status = nigh__options_copy(&nigh__task_options_shape, &task->options, own, error);
    if (status == NIGH_OK) status = nigh__dedup_open(task->context, NULL, 0, NULL, options, &task->dedup, error);
    if (status == NIGH_OK) status = check(task, error);
    if (status != NIGH_OK) return status;
    task->dedup->plan->secret = task->options.secret;
    const size_t share = CHUNKS_WORDS / task->options.shards;
    task->chunk_words = share > CHUNK_WORDS_MAX ? CHUNK_WORDS_MAX : share < CHUNK_WORDS_MIN ? CHUNK_WORDS_MIN : share;
    return task->work->begin == NULL ? NIGH_OK : task->work->begin(task, error);
}

nigh_status nigh_task_new(nigh_context *context, nigh_task_kind kind, const nigh_dedup_options *options,
                          const nigh_task_options *task_options, nigh_task **out, nigh_error *error) {
    *out = NULL;
    if ((unsigned)kind >= WORKS) return nigh__fail(error, NIGH_EINVAL, "there is no task %d", (int)kind);
    nigh_task *task = nigh__alloc_zero(context, 1, sizeof *task);
    if (task == NULL) return nigh__no_memory(error, "for a task");
    task->context = context;
    task->kind = kind;
    task->work = works[kind];
    nigh_status status = make(task, options, task_options, error);
    if (status == NIGH_OK)
        *out = task;
    else
        nigh_task_free(task);
    return status;
}

void nigh_task_free(nigh_task *task) {
    if (task == NULL) return;
    nigh_context *context = task->context;
    if (task->state != NULL && task->work->release != NULL) task->work->release(task);
    nigh__free(context, task->state);
    nigh_dedup_free(task->dedup);
    for (size_t kind = 0; kind < NIGH_RECORDS_COUNT; kind++) {
        for (uint32_t i = 0; task->out[kind] != NULL && i < task->options.shards; i++)
            nigh__array_release(context, &task->out[kind][i]);
        nigh__free(context, task->out[kind]);
    }
    nigh__free(context, task);
}

/* ----------------------------------------------------------------- giving -- */

static nigh_status give(nigh_task *task, nigh_records kind, uint32_t shard, nigh_error *error) {
    struct nigh__array *words = &task->out[kind][shard];
    const size_t length = words->count * sizeof(uint64_t);
    words->count = 0;
    return task->options.take(task->options.user, kind, shard, words->data, length, error);
}

static struct nigh__array *room_of(nigh_task *task, nigh_records kind, uint32_t shard) {
    if (task->out[kind] == NULL) {
        task->out[kind] = nigh__alloc(task->context, task->options.shards, sizeof *task->out[kind]);
        for (uint32_t i = 0; task->out[kind] != NULL && i < task->options.shards; i++)
            task->out[kind][i] = (struct nigh__array)NIGH__ARRAY(uint64_t);
    }
    return task->out[kind] == NULL ? NULL : &task->out[kind][shard];
}

nigh_status nigh__task_put(nigh_task *task, nigh_records kind, uint32_t shard, const uint64_t *words, size_t count,
                           nigh_error *error) {
    struct nigh__array *room = room_of(task, kind, shard);
    const uint64_t header = task->options.shard;
    const size_t extra = room != NULL && kind == NIGH_RECORDS_POSTINGS && room->count == 0;
    uint64_t *place = room == NULL ? NULL : nigh__array_add(task->context, room, count + extra);
    if (place == NULL) return nigh__no_memory(error, "for records");
    if (extra > 0) *place++ = header;
    memcpy(place, words, count * sizeof *words);
    return room->count >= task->chunk_words ? give(task, kind, shard, error) : NIGH_OK;
}

static nigh_status give_all(nigh_task *task, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t kind = 0; kind < NIGH_RECORDS_COUNT; kind++)
        for (uint32_t i = 0; status == NIGH_OK && task->out[kind] != NULL && i < task->options.shards; i++)
            if (task->out[kind][i].count > 0) status = give(task, (nigh_records)kind, i, error);
    return status;
}

nigh_status nigh_task_finish(nigh_task *task, nigh_error *error) {
    nigh_status status = task->work->finish == NULL ? NIGH_OK : task->work->finish(task, error);
    if (status == NIGH_OK)
        status = nigh__task_put(task, NIGH_RECORDS_INFO, 0, task->counters, NIGH_TASK_COUNTERS, error);
    return status == NIGH_OK ? give_all(task, error) : status;
}

/* ------------------------------------------------------------------ taking -- */

nigh_status nigh__task_nonsense(const nigh_task *task, nigh_records kind, nigh_error *error) {
    return nigh__fail(error, NIGH_ECORRUPT, "a task of kind %d, shard %u, got invalid records of kind %d",
                      (int)task->kind, task->options.shard, (int)kind);
}

nigh_status nigh_task_add(nigh_task *task, nigh_records kind, const void *records, size_t length, nigh_error *error) {
    if (task->work->add == NULL || (unsigned)kind >= NIGH_RECORDS_COUNT)
        return nigh__fail(error, NIGH_EINVAL, "a task of kind %d takes no records of kind %d", (int)task->kind,
                          (int)kind);
    if (length % sizeof(uint64_t) != 0) return nigh__task_nonsense(task, kind, error);
    return length == 0 ? NIGH_OK : task->work->add(task, kind, records, length / sizeof(uint64_t), error);
}

/* ----------------------------------------------------------------- sorting -- */

nigh_status nigh__task_sorter(const nigh_task *task, uint32_t words, bool unique, uint64_t share,
                              struct nigh__sorter **out, nigh_error *error) {
    struct nigh__sorter_options options = nigh__dedup_sorting(task->dedup, words, share, 1);
    options.unique = unique;
    return nigh__sorter_new(task->context, &options, out, error);
}

nigh_status nigh__task_sort(const nigh_task *task, nigh_records kind, struct nigh__sorter *sorter,
                            const uint64_t *words, size_t count, size_t record_words, size_t set_at,
                            nigh_error *error) {
    if (count % record_words != 0) return nigh__task_nonsense(task, kind, error);
    for (size_t i = set_at; i < count; i += record_words)
        if (nigh__task_set_shard(words[i]) != task->options.shard) return nigh__task_nonsense(task, kind, error);
    return nigh__sorter_add(sorter, words, count / record_words, error);
}

nigh_status nigh__task_each(nigh_task *task, struct nigh__sorter *sorter, size_t record_words,
                            nigh__task_each_record *each, nigh_error *error) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = nigh__sorter_finish(sorter, error);
    while (status == NIGH_OK && (status = nigh__sorter_next(sorter, &records, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++) status = each(task, records + i * record_words, error);
    return status == NIGH_END ? NIGH_OK : status;
}
