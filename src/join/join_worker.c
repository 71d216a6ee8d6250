/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The working memory of a thread of a join: space for the output of a kernel, scratch
 * arrays, and the pairs that it has found, which go to the sorter some thousands at a
 * time.
 */
#include "base/status.h"
#include "join/join_bucket.h"
#include "kernel/hamming.h"

#define FOUND 2048u /* pairs kept before they go to the sorter */
#define WIDE_TILE_BYTES (256u << 10)
#define MIN_WIDE_TILE 16u
#define WORK_A_TICK (1u << 22)
#define REST (NIGH__JOIN_NARROW_TILE + NIGH__PAIRS_PADDING)

uint32_t nigh__join_wide_tile(const struct nigh__join *join) {
    const uint32_t rows = WIDE_TILE_BYTES / (join->words * 8u);
    if (rows < MIN_WIDE_TILE) return MIN_WIDE_TILE;
    return rows < NIGH__JOIN_WIDE_TILE ? rows : NIGH__JOIN_WIDE_TILE;
}

nigh_status nigh__join_worker_init(struct nigh__join *join, struct nigh__join_worker *out, nigh_error *error) {
    const nigh_context *context = join->context;
    *out = (struct nigh__join_worker){.join = join, .rows = NIGH__ARRAY(uint64_t)};
    for (size_t i = 0; i < sizeof out->scratch / sizeof out->scratch[0]; i++) out->scratch[i].item_size = 8;
    out->scratch[NIGH__JOIN_NUMBERS].item_size = out->scratch[NIGH__JOIN_SECOND_NUMBERS].item_size =
        join->in_memory ? sizeof(uint32_t) : sizeof(uint64_t);
    out->scratch[NIGH__JOIN_BOUNDS].item_size = 4;
    out->found = nigh__alloc(context, FOUND, join->pair_words * sizeof *out->found);
    bool complete = out->found != NULL;
    if (join->narrow) {
        out->pair_hits = nigh__alloc(context, NIGH__JOIN_PAIR_HITS, sizeof *out->pair_hits);
        out->query_rest = nigh__alloc_aligned(context, REST, sizeof *out->query_rest, NIGH__CACHE_LINE);
        out->tile_rest = nigh__alloc_aligned(context, REST, sizeof *out->tile_rest, NIGH__CACHE_LINE);
        complete = complete && out->pair_hits != NULL && out->query_rest != NULL && out->tile_rest != NULL;
    } else {
        const size_t tile = nigh__join_wide_tile(join);
        out->hits = nigh__alloc(context, tile * NIGH__BATCH_QUERIES + 1, sizeof *out->hits);
        out->query_rows = nigh__alloc_aligned(context, NIGH__BATCH_QUERIES, (size_t)join->words * 8, NIGH__CACHE_LINE);
        out->tile_rows = nigh__alloc_aligned(context, tile, (size_t)join->words * 8, NIGH__CACHE_LINE);
        complete = complete && out->hits != NULL && out->query_rows != NULL && out->tile_rows != NULL;
    }
    return complete ? NIGH_OK : nigh__no_memory(error, "for joining");
}

void nigh__join_worker_release(struct nigh__join_worker *worker) {
    const nigh_context *context = worker->join->context;
    nigh__free(context, worker->pair_hits);
    nigh__free(context, worker->query_rest);
    nigh__free(context, worker->tile_rest);
    nigh__free(context, worker->hits);
    nigh__free(context, worker->query_rows);
    nigh__free(context, worker->tile_rows);
    nigh__free(context, worker->found);
    for (size_t i = 0; i < sizeof worker->scratch / sizeof worker->scratch[0]; i++)
        nigh__array_release(context, &worker->scratch[i]);
    nigh__array_release(context, &worker->rows);
}

bool nigh__join_worker_flush(struct nigh__join_worker *worker) {
    struct nigh__join *join = worker->join;
    nigh_error error = {.status = NIGH_OK};
    (void)pthread_mutex_lock(&join->lock);
    nigh_status status = nigh__sorter_add(join->pairs, worker->found, worker->found_count, &error);
    join->result.compared += worker->compared;
    join->result.truncated += worker->truncated;
    join->result.copies_untold += worker->untold;
    (void)pthread_mutex_unlock(&join->lock);
    worker->found_count = 0;
    worker->compared = 0;
    worker->truncated = 0;
    worker->untold = 0;
    if (status != NIGH_OK) nigh__join_fail(join, status, &error);
    return status == NIGH_OK;
}

bool nigh__join_emit(struct nigh__join_worker *worker, uint64_t a, uint64_t b, uint32_t distance) {
    const struct nigh__join *join = worker->join;
    nigh__join_pack(join, a, b, distance, worker->found + join->pair_words * worker->found_count++);
    return worker->found_count < FOUND || nigh__join_worker_flush(worker);
}

bool nigh__join_tell(struct nigh__join_worker *worker, uint64_t a, uint64_t b, uint32_t distance) {
    const struct nigh__join_groups *group = &worker->join->group;
    const uint64_t low = a < b ? a : b;
    const uint64_t high = a < b ? b : a;
    if (group->heads != NULL && (nigh__join_is_head(group, low) || nigh__join_is_head(group, high)))
        return nigh__join_emit_groups(worker, low, high, distance);
    return nigh__join_emit(worker, low, high, distance);
}

void *nigh__join_room(struct nigh__join_worker *worker, enum nigh__join_scratch use, size_t count) {
    struct nigh__array *array = &worker->scratch[use];
    array->count = 0;
    void *memory = nigh__array_add(worker->join->context, array, count);
    if (memory != NULL) return memory;
    nigh_error error;
    nigh_status status = nigh__fail(&error, NIGH_ENOMEM, "no memory for a bucket of %zu rows", count);
    nigh__join_fail(worker->join, status, &error);
    return NULL;
}

bool nigh__join_keep_on(struct nigh__join_worker *worker, const struct nigh__join_bucket *bucket, size_t at,
                        uint64_t work) {
    struct nigh__join *join = worker->join;
    worker->work += work;
    if (worker->first && worker->work >= WORK_A_TICK) {
        worker->work = 0;
        if (join->all_pairs)
            nigh__join_tick(join, "comparing", at, bucket->first.count);
        else
            nigh__join_tick(join, "joining", bucket->table, join->blocks);
    }
    return !nigh__join_failed(join);
}
