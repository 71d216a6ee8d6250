/* SPDX-License-Identifier: Apache-2.0 */
/* What methods of search have in common: see scan/method.h. */
#include "scan/method.h"

#include "base/parallel.h"
#include "base/status.h"
#include "base/threads.h"
#include "collection/selection.h"

void *nigh__prepared_new(const struct nigh__prepared *base, size_t size, nigh_error *error) {
    struct nigh__prepared *prepared = nigh__alloc(base->segment->context, 1, size);
    if (prepared == NULL)
        (void)nigh__no_memory(error, "to search a segment with");
    else
        *prepared = *base;
    return prepared;
}

const uint64_t *nigh__prepared_allowed(const struct nigh__prepared *prepared) {
    return prepared->selection == NULL ? NULL : prepared->selection->rows;
}

uint32_t nigh__prepared_rows(const struct nigh__prepared *prepared) {
    return prepared->selection == NULL ? prepared->segment->signatures : prepared->selection->row_count;
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
    struct nigh__parallel parallel;
    void *scratch[NIGH__MAX_THREADS]; /* NULL: a thread has none yet */
};

static nigh_status get_scratch(struct shared_step *step, uint32_t thread, nigh_error *error) {
    const struct nigh__batch_work *work = step->work;
    void **scratch = &step->scratch[thread];
    if (*scratch == NULL) *scratch = nigh__object_pool_take(work->pool);
    if (*scratch != NULL) return NIGH_OK;
    return work->scratch_new(step->prepared->segment->context, scratch, error);
}

static nigh_status take_one(void *user, const struct nigh__items *items) {
    struct shared_step *step = user;
    const uint32_t thread = items->thread;
    nigh_status status = get_scratch(step, thread, items->error);
    if (status == NIGH_OK)
        status = step->work->take(step->prepared, step->batch, step->scratch[thread], step->batch->chosen[items->first],
                                  items->error);
    (void)nigh__parallel_did(&step->parallel, thread, step->prepared->segment->signatures);
    return status;
}

nigh_status nigh__batch_share(const struct nigh__query_batch *batch, struct nigh__prepared *prepared,
                              const struct nigh__batch_work *work, nigh_error *error) {
    struct shared_step step = {.batch = batch,
                               .prepared = prepared,
                               .work = work,
                               .parallel = {.context = prepared->segment->context,
                                            .threads = batch->threads,
                                            .progress = batch->progress,
                                            .stage = "searching",
                                            .total = batch->progress_total,
                                            .done = batch->progress_done}};
    const nigh_status status = nigh__parallel_run(&step.parallel, batch->count, 1, take_one, &step, error);
    for (uint32_t t = 0; t < batch->threads; t++)
        if (step.scratch[t] != NULL) nigh__object_pool_give(work->pool, step.scratch[t], work->scratch_free);
    return status;
}
