/* SPDX-License-Identifier: Apache-2.0 */
/* What methods of search have in common: see scan/method.h. */
#include "scan/method.h"

#include "base/status.h"
#include "base/threads.h"
#include "scan/query_crew.h"

void *nigh__prepared_new(const struct nigh__prepared *base, size_t size, nigh_error *error) {
    struct nigh__prepared *prepared = nigh__alloc(base->segment->context, 1, size);
    if (prepared == NULL)
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory to search a segment with");
    else
        *prepared = *base;
    return prepared;
}

nigh_status nigh__sidecar_problem(const struct nigh__segment *segment, uint32_t kind, nigh_error *error) {
    const nigh_error *problem = &segment->sidecar_problems[kind];
    if (problem->status != NIGH_OK && error != NULL) *error = *problem;
    return problem->status;
}

bool nigh__sidecars_sound(const nigh_collection *collection, uint32_t kind) {
    bool any = false;
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        if (nigh__sidecar_problem(collection->segments[s], kind, NULL) != NIGH_OK) return false;
        any = any || collection->segments[s]->sidecars[kind] != NULL;
    }
    return any;
}

/* A step on its way. */
struct shared_step {
    const struct nigh__query_batch *batch;
    struct nigh__prepared *prepared;
    const struct nigh__batch_work *work;
    void *scratch[NIGH__MAX_THREADS]; /* NULL: a thread has none yet */
};

static nigh_status take_one(void *user, uint32_t thread, uint32_t at, nigh_error *error) {
    struct shared_step *step = user;
    const struct nigh__batch_work *work = step->work;
    void **scratch = &step->scratch[thread];
    if (*scratch == NULL) *scratch = nigh__object_pool_take(work->pool);
    if (*scratch == NULL) {
        const nigh_status status = work->scratch_new(step->prepared->segment->context, scratch, error);
        if (status != NIGH_OK) return status;
    }
    return work->take(step->prepared, step->batch, *scratch, step->batch->chosen[at], error);
}

nigh_status nigh__batch_share(const struct nigh__query_batch *batch, struct nigh__prepared *prepared,
                              const struct nigh__batch_work *work, nigh_error *error) {
    struct shared_step step = {.batch = batch, .prepared = prepared, .work = work};
    const struct nigh__query_crew crew = {.context = prepared->segment->context,
                                          .count = batch->count,
                                          .threads = batch->threads,
                                          .user = &step,
                                          .take = take_one,
                                          .progress = batch->progress,
                                          .progress_done = batch->progress_done,
                                          .progress_total = batch->progress_total,
                                          .progress_each = prepared->segment->signatures};
    const nigh_status status = nigh__query_crew_run(&crew, error);
    for (uint32_t t = 0; t < batch->threads; t++)
        if (step.scratch[t] != NULL) nigh__object_pool_give(work->pool, step.scratch[t], work->scratch_free);
    return status;
}
