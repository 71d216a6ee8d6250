/* SPDX-License-Identifier: Apache-2.0 */
/* Steps of a batch over the slice lists of a segment, as slices/slice_plan.h has planned them. */
#include "slices/slice_method.h"

#include "kernel/hamming.h"
#include "scan/nearest.h"
#include "scan/ranking.h"
#include "slices/slice_plan.h"

static const struct nigh__search_option options_taken[] = {
    NIGH__SEARCH_OPTION(stop),       NIGH__SEARCH_OPTION(breadth), NIGH__SEARCH_OPTION(admit),
    NIGH__SEARCH_OPTION(candidates), NIGH__SEARCH_OPTION(slices),  NIGH__SEARCH_OPTION(postings),
    NIGH__SEARCH_OPTION(probe),      NIGH__SEARCH_OPTION(probes),
};

/* How one query of the batch goes. */
struct course {
    struct nigh__slice_step step;
    struct nigh__slice_answer found; /* its keys are given away */
    bool seen;                       /* its answers, in every slice; only where NIGH_STOP_SEEN asks */
};

struct sliced_segment {
    struct nigh__prepared base;
    struct nigh__slice_plan plan;
    struct course courses[NIGH__BATCH_QUERIES];
};

static nigh_status prepare(const struct nigh__prepared *base, struct nigh__prepared **out, nigh_error *error) {
    struct nigh__slice_plan plan;
    bool any = false;
    *out = NULL;
    if (!nigh__ranks_plainly(base->options)) return NIGH_OK;
    const nigh_status status = nigh__slice_plan_init(&plan, base->options, base->segment, &any, error);
    if (status != NIGH_OK || !any) return status;
    struct sliced_segment *sliced = nigh__prepared_new(base, sizeof *sliced, error);
    if (sliced == NULL) return NIGH_ENOMEM;
    sliced->plan = plan;
    sliced->plan.allowed = nigh__prepared_allowed(base);
    sliced->plan.allowed_rows = nigh__prepared_rows(base);
    sliced->plan.scan_cost = nigh__scan_method.estimate(&sliced->base, 0, 1);
    sliced->base.bound = plan.bound;
    *out = &sliced->base;
    return NIGH_OK;
}

static double estimate(struct nigh__prepared *prepared, uint32_t query, uint32_t limit) {
    struct sliced_segment *sliced = (struct sliced_segment *)prepared;
    return nigh__slice_first_step(&sliced->plan, limit, &sliced->courses[query].step);
}

/* ------------------------------------------------------------------------- a step */

/* One step on its way. */
struct task {
    const struct nigh__slice_plan *plan;
    const struct nigh__query_batch *batch;
    struct nigh__slice_scratch *scratch;
    struct course *course;
    uint32_t query;
};

/* Whether the rows of an answer differ from the query in no slice by more than the breadth.  Inside a guard. */
static bool seen_everywhere(const struct nigh__slice_plan *plan, const uint64_t *words, uint32_t breadth,
                            const struct nigh__slice_answer *answer) {
    const uint64_t *keys = answer->keys.data;
    if (plan->options->k != NIGH_ALL && answer->keys.count < plan->options->k &&
        answer->keys.count < plan->allowed_rows)
        return false;
    for (size_t i = 0; i < answer->keys.count; i++) {
        const uint64_t *row = plan->segment->rows + (size_t)nigh__key_number(keys[i]) * plan->segment->words;
        for (uint32_t s = 0; s < plan->slice_count; s++) {
            const struct nigh__slice slice = nigh__slicing_at(&plan->slices.slicing, plan->slices.rows, s);
            const uint32_t differing = nigh__slice_value(row, slice) ^ nigh__slice_value(words, slice);
            if ((uint32_t)__builtin_popcount(differing) > breadth) return false;
        }
    }
    return true;
}

static struct nigh__slice_query query_of(const struct task *task) {
    const struct nigh__slice_plan *plan = task->plan;
    const struct nigh__slice_step *step = &task->course->step;
    const size_t q = task->query;
    return (struct nigh__slice_query){
        .words = task->batch->queries + q * plan->segment->words,
        .k = plan->options->k,
        .limit = task->batch->limits[q],
        .breadth = step->breadth,
        .admit = step->admit,
        .candidates = step->candidates,
        .slices = plan->slice_count,
        .postings = step->postings,
        .allowed = plan->allowed,
        /* What may be near comes before what is likely to be. */
        .top = nigh__slice_may_end_in_scan(plan->options) ? step->breadth + 1 : 0,
        .weights = step->probes == 0 ? NULL : task->batch->weights + q * plan->segment->width_bits,
        .costs = &plan->costs,
        .probes = step->probes,
    };
}

static bool is_seen(void *user, uint32_t breadth, const struct nigh__slice_answer *answer) {
    const struct task *task = user;
    const uint64_t *words = task->batch->queries + (size_t)task->query * task->plan->segment->words;
    task->course->seen = seen_everywhere(task->plan, words, breadth, answer);
    return task->course->seen;
}

/* One ring after the other until the answers are seen everywhere: all steps in one. */
static nigh_status search_until_seen(struct task *task, nigh_error *error) {
    const struct nigh__slice_plan *plan = task->plan;
    struct nigh__slice_step *step = &task->course->step;
    struct nigh__slice_query query = query_of(task);
    query.breadth = nigh__slice_most_breadth(plan);
    query.admit = plan->options->admit;
    const nigh_status status = nigh__slice_search_growing(task->scratch, &plan->slices, plan->segment->rows, &query,
                                                          is_seen, task, &task->course->found, &step->breadth, error);
    step->admit = query.admit < step->breadth ? query.admit : step->breadth;
    return status;
}

/* Inside guards. */
static nigh_status search_lists(void *user, nigh_error *error) {
    struct task *task = user;
    const struct nigh__slice_plan *plan = task->plan;
    const struct nigh__slice_query query = query_of(task);
    struct nigh__slice_answer *found = &task->course->found;
    if (plan->options->method != NIGH_SEARCH_SLICES_PLAIN)
        return nigh__slice_search(task->scratch, &plan->slices, plan->segment->rows, &query, found, error);
    if (plan->options->stop == NIGH_STOP_SEEN && query.postings == NIGH_ALL_64) return search_until_seen(task, error);
    /* The scores of the papers choose other candidates; what is to be certain needs ours. */
    const enum nigh__scoring scoring = plan->options->stop == NIGH_STOP_CERTAIN ? NIGH__SCORE_BOUND : NIGH__SCORE_PAPER;
    const nigh_status status =
        nigh__slice_search_plain(task->scratch, &plan->slices, plan->segment->rows, &query, scoring, found, error);
    if (status == NIGH_OK && plan->options->stop == NIGH_STOP_SEEN)
        task->course->seen = seen_everywhere(plan, query.words, query.breadth, found);
    return status;
}

static nigh_status take_step(struct nigh__prepared *prepared, const struct nigh__query_batch *batch, void *scratch,
                             uint32_t query, nigh_error *error) {
    struct sliced_segment *sliced = (struct sliced_segment *)prepared;
    struct course *course = &sliced->courses[query];
    struct nigh__answer *answer = &batch->answers[query];
    if (batch->limits[query] == 0) { /* nothing can be nearer than what there is */
        course->found = (struct nigh__slice_answer){.below = UINT32_MAX};
        course->seen = true;
        return NIGH_OK;
    }
    course->found = (struct nigh__slice_answer){.keys = answer->keys};
    course->seen = false;
    struct task task = {.plan = &sliced->plan, .batch = batch, .scratch = scratch, .course = course, .query = query};
    const nigh_status status =
        nigh__sidecar_guarded(prepared->segment, sliced->plan.slices.sidecar, search_lists, &task, error);
    const struct nigh__slice_answer *found = &course->found;
    *answer = (struct nigh__answer){
        .keys = found->keys,
        .below = nigh__slice_complete(&sliced->plan, found) ? UINT32_MAX : found->below,
        .breadth = course->step.breadth,
        .distances = found->compared,
        .lists = found->lists,
        .postings = found->postings,
        .skipped_lists = found->skipped,
    };
    return status;
}

static nigh_status new_scratch(const nigh_context *context, void **out, nigh_error *error) {
    struct nigh__slice_scratch *scratch = NULL;
    const nigh_status status = nigh__slice_scratch_new(context, &scratch, error);
    *out = scratch;
    return status;
}

static void free_scratch(void *scratch) { nigh__slice_scratch_free(scratch); }

static nigh_status run(struct nigh__prepared *prepared, const struct nigh__query_batch *batch, nigh_error *error) {
    const struct nigh__batch_work work = {.pool = nigh__slices_pool(prepared->collection),
                                          .scratch_new = new_scratch,
                                          .scratch_free = free_scratch,
                                          .take = take_step};
    return nigh__batch_share(batch, prepared, &work, error);
}

static enum nigh__next next(struct nigh__prepared *prepared, uint32_t query, uint32_t wanted) {
    struct sliced_segment *sliced = (struct sliced_segment *)prepared;
    struct course *course = &sliced->courses[query];
    return nigh__slice_next_step(&sliced->plan, &course->found, course->seen, wanted, &course->step);
}

const struct nigh__search_method nigh__slice_method = {
    .name = "slices",
    .asked_by = 1u << NIGH_SEARCH_SLICES | 1u << NIGH_SEARCH_SLICES_PLAIN,
    .automatic = true,
    .options = options_taken,
    .option_count = sizeof options_taken / sizeof options_taken[0],
    .batch_queries = NIGH__BATCH_QUERIES,
    .check = nigh__slice_options_check,
    .fits = nigh__slices_fit_tuning,
    .prepare = prepare,
    .estimate = estimate,
    .run = run,
    .next = next,
};
