/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Choosing, and running what was chosen; see graph_use.h. */
#include "search/graph_use.h"

#include <stdatomic.h>

#include "base/guard.h"
#include "base/status.h"
#include "base/threads.h"

/* Where nobody says: see graph_search.c for what they bring. */
#define USUAL_EFFORT 600u
#define EFFORT_FOR_ONE 2u /* of k, at least */
#define USUAL_PATIENCE 300u

/* Nanoseconds on a machine of 2020, one core; only their ratio matters. */
#define STEP_COST 600.0   /* the nodes of one */
#define SCANNED_COST 0.08 /* a word of a row, of a query among many */

/* -------------------------------------------------------------------- the options */

static bool demanded(const nigh_search_options *options) { return options->method == NIGH_SEARCH_GRAPH; }

static nigh_status check_numbers(const nigh_search_options *options, nigh_error *error) {
    if (options->effort == 0) return nigh__fail(error, NIGH_EINVAL, "effort must be at least 1");
    if (options->effort != NIGH_USUAL && options->k != NIGH_ALL && options->effort < options->k)
        return nigh__fail(error, NIGH_EINVAL, "an effort of %u cannot give %u documents", options->effort, options->k);
    if (!demanded(options)) return NIGH_OK;
    if (options->masks != NULL)
        return nigh__fail(error, NIGH_EINVAL, "a graph cannot be searched in some of the bits only");
    if (options->k == NIGH_ALL)
        return nigh__fail(error, NIGH_EINVAL, "a graph leads to the nearest, not to all within a radius: k is needed");
    if (options->stop != NIGH_STOP_BREADTH)
        return nigh__fail(error, NIGH_EINVAL, "what a graph leads to is never certain");
    return NIGH_OK;
}

/* One that can be used, or the failure of one that is demanded. */
static nigh_status get_graph(const struct nigh__segment *segment, const nigh_search_options *options,
                             struct nigh__graph *graph, bool *any, nigh_error *error) {
    *any = false;
    if (segment->annexes[NIGH__ANNEX_GRAPH] == NULL) {
        const nigh_error *problem = &segment->annex_problems[NIGH__ANNEX_GRAPH];
        if (!demanded(options) || problem->status == NIGH_OK) return NIGH_OK;
        if (error != NULL) *error = *problem;
        return problem->status;
    }
    const nigh_status status = nigh__graph_of_segment(segment, graph, demanded(options) ? error : NULL);
    *any = status == NIGH_OK && graph->nodes > 0;
    return demanded(options) ? status : NIGH_OK;
}

nigh_status nigh__graph_options_check(const nigh_collection *collection, const nigh_search_options *options,
                                      nigh_error *error) {
    nigh_status status = check_numbers(options, error);
    bool found = !demanded(options) || collection->documents == 0; /* there can be no graph of nothing */
    for (uint32_t s = 0; s < collection->segment_count && status == NIGH_OK && demanded(options); s++) {
        struct nigh__graph graph;
        bool any;
        status = get_graph(collection->segments[s], options, &graph, &any, error);
        found = found || any;
    }
    if (status != NIGH_OK || found) return status;
    return nigh__fail_at(
        error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET,
        "has no graph: add one ('nigh index COLLECTION --graph'), or search without ('--method auto')");
}

static uint32_t usual_effort(uint32_t k) {
    const uint64_t effort = (uint64_t)EFFORT_FOR_ONE * k;
    if (effort >= NIGH_USUAL) return NIGH_USUAL - 1;
    return effort > USUAL_EFFORT ? (uint32_t)effort : USUAL_EFFORT;
}

/* Of those who leave the choice to us. */
static bool pays(const struct nigh__graph_use *use) {
    const nigh_search_options *options = use->options;
    if (options->method != NIGH_SEARCH_AUTO || options->stop != NIGH_STOP_BREADTH || options->k == NIGH_ALL ||
        options->masks != NULL)
        return false;
    if (options->breadth != NIGH_USUAL || options->admit != NIGH_USUAL || options->candidates != NIGH_USUAL ||
        options->slices != NIGH_USUAL || options->postings != 0 || options->probe != NIGH_PROBE_AUTO ||
        options->probes != 0)
        return false; /* these speak of lists */
    /* It ends after about twice its patience, if not before. */
    const double steps = use->patience != 0 && use->patience < use->effort / 2 ? 2.0 * use->patience : use->effort;
    return STEP_COST * steps < SCANNED_COST * use->segment->words * use->segment->signatures;
}

nigh_status nigh__graph_use_init(struct nigh__graph_use *use, const nigh_search_options *options,
                                 const struct nigh__segment *segment, bool *any, nigh_error *error) {
    *use = (struct nigh__graph_use){.options = options, .segment = segment};
    *any = false;
    use->effort = options->effort == NIGH_USUAL ? usual_effort(options->k) : options->effort;
    use->patience = options->patience == NIGH_USUAL ? USUAL_PATIENCE : options->patience;
    if (!demanded(options) && !pays(use)) return NIGH_OK;
    return get_graph(segment, options, &use->graph, any, error);
}

/* --------------------------------------------------------------------- the threads */

struct job {
    const struct nigh__graph_batch *batch;
    _Atomic uint32_t next; /* query */
    _Atomic uint32_t done;
    _Atomic bool stop;
    struct failure {
        nigh_status status;
        uint32_t at; /* query: the first counts, whichever thread met it */
        nigh_error error;
    } * failures; /* of each thread */
};

static nigh_status search_one(const struct nigh__graph_batch *batch, struct nigh__graph_scratch *scratch, uint32_t q,
                              nigh_error *error) {
    const struct nigh__graph_use *use = batch->use;
    const struct nigh__graph_query query = {.words = batch->queries + (size_t)q * use->segment->words,
                                            .k = use->options->k,
                                            .limit = batch->limits[q],
                                            .effort = use->effort,
                                            .patience = use->patience};
    if (query.limit == 0) { /* nothing can be nearer than what there is */
        batch->answers[q] = (struct nigh__graph_answer){.keys = batch->answers[q].keys};
        batch->answers[q].keys.count = 0;
        return NIGH_OK;
    }
    return nigh__graph_search(scratch, &use->graph, use->segment->rows, use->segment->words, &query, &batch->answers[q],
                              error);
}

/* Both files may be cut short under us: two guards, one inside the other. */
static nigh_status search_guarded(const struct nigh__graph_batch *batch, struct nigh__graph_scratch *scratch,
                                  uint32_t q, nigh_error *error) {
    const struct nigh__segment *segment = batch->use->segment;
    const struct nigh__annex *annex = batch->use->graph.annex;
    struct nigh__guard rows;
    struct nigh__guard edges;
    nigh__guard_enter(&rows, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&rows)) return nigh__segment_cut(segment, error);
    nigh__guard_enter(&edges, annex->map, annex->length);
    if (NIGH__GUARD_FAULTED(&edges)) {
        nigh__guard_leave(&rows);
        return nigh__annex_cut(annex, error);
    }
    const nigh_status status = search_one(batch, scratch, q, error);
    nigh__guard_leave(&edges);
    nigh__guard_leave(&rows);
    return status;
}

static nigh_status take_one(struct job *job, uint32_t thread, uint32_t q, struct failure *failure) {
    const struct nigh__graph_batch *batch = job->batch;
    nigh_status status = NIGH_OK;
    failure->at = q;
    if (batch->scratch[thread] == NULL) batch->scratch[thread] = nigh__spares_take(batch->spares);
    if (batch->scratch[thread] == NULL)
        status = nigh__graph_scratch_new(batch->use->segment->context, &batch->scratch[thread], &failure->error);
    if (status == NIGH_OK) status = search_guarded(batch, batch->scratch[thread], q, &failure->error);
    const uint32_t done = atomic_fetch_add_explicit(&job->done, 1, memory_order_relaxed) + 1;
    if (status != NIGH_OK || thread != 0 || batch->progress == NULL) return status;
    const uint64_t distances = batch->progress_done + (uint64_t)done * batch->use->segment->signatures;
    if (nigh__progress_tick(batch->progress, "searching", distances, batch->progress_total))
        return nigh__progress_cancelled(&failure->error);
    return NIGH_OK;
}

static void work(void *user, uint32_t thread) {
    struct job *job = user;
    struct failure *failure = &job->failures[thread];
    while (!atomic_load_explicit(&job->stop, memory_order_relaxed)) {
        const uint32_t q = atomic_fetch_add_explicit(&job->next, 1, memory_order_relaxed);
        if (q >= job->batch->count) return;
        failure->status = take_one(job, thread, q, failure);
        if (failure->status == NIGH_OK) continue;
        atomic_store_explicit(&job->stop, true, memory_order_relaxed);
        return;
    }
}

nigh_status nigh__graph_batch_run(const struct nigh__graph_batch *batch, nigh_error *error) {
    if (batch->count == 0) return NIGH_OK;
    const nigh_context *context = batch->use->segment->context;
    const uint32_t threads = batch->count < batch->threads ? batch->count : batch->threads;
    struct job job = {.batch = batch, .failures = nigh__alloc_zero(context, threads, sizeof *job.failures)};
    if (job.failures == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory to search with %u threads", threads);
    nigh__threads_run(threads, work, &job);
    const struct failure *first = NULL;
    for (uint32_t t = 0; t < threads; t++) {
        const struct failure *failure = &job.failures[t];
        if (failure->status != NIGH_OK && (first == NULL || failure->at < first->at)) first = failure;
    }
    const nigh_status status = first == NULL ? NIGH_OK : first->status;
    if (first != NULL && error != NULL) *error = first->error;
    nigh__free(context, job.failures);
    return status;
}
