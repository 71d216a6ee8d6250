/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing, and running what was chosen; see graph_use.h. */
#include "graph/graph_use.h"

#include "base/options.h"
#include "base/status.h"
#include "scan/query_crew.h"

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
    if (options->effort != NIGH__UNSET && options->k != NIGH_ALL && options->effort < options->k)
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
    if (segment->sidecars[NIGH__SIDECAR_GRAPH] == NULL) {
        const nigh_error *problem = &segment->sidecar_problems[NIGH__SIDECAR_GRAPH];
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
    return nigh__because(error, NIGH_REASON_NO_GRAPH,
                         nigh__fail_at(error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET, "has no graph"));
}

static uint32_t usual_effort(uint32_t k) {
    const uint64_t effort = (uint64_t)EFFORT_FOR_ONE * k;
    if (effort >= NIGH__UNSET) return NIGH__UNSET - 1;
    return effort > USUAL_EFFORT ? (uint32_t)effort : USUAL_EFFORT;
}

/* Of those who leave the choice to us. */
static bool pays(const struct nigh__graph_use *use) {
    const nigh_search_options *options = use->options;
    if (options->method != NIGH_SEARCH_AUTO || options->stop != NIGH_STOP_BREADTH || options->k == NIGH_ALL ||
        options->masks != NULL)
        return false;
    if (options->breadth != NIGH__UNSET || options->admit != NIGH__UNSET || options->candidates != NIGH__UNSET ||
        options->slices != NIGH__UNSET || options->postings != 0 || options->probe != NIGH_PROBE_AUTO ||
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
    use->effort = options->effort == NIGH__UNSET ? usual_effort(options->k) : options->effort;
    use->patience = options->patience == NIGH__UNSET ? USUAL_PATIENCE : options->patience;
    if (!demanded(options) && !pays(use)) return NIGH_OK;
    return get_graph(segment, options, &use->graph, any, error);
}

/* --------------------------------------------------------------------- the threads */

/* One query on its way. */
struct task {
    const struct nigh__graph_batch *batch;
    struct nigh__graph_scratch *scratch;
    uint32_t query;
};

/* Inside guards. */
static nigh_status search_one(void *user, nigh_error *error) {
    const struct task *task = user;
    const struct nigh__graph_batch *batch = task->batch;
    const uint32_t q = task->query;
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
    return nigh__graph_search(task->scratch, &use->graph, use->segment->rows, use->segment->words, &query,
                              &batch->answers[q], error);
}

static nigh_status take_one(void *user, uint32_t thread, uint32_t at, nigh_error *error) {
    const struct nigh__graph_batch *batch = user;
    const struct nigh__graph_use *use = batch->use;
    nigh_status status = NIGH_OK;
    if (batch->scratch[thread] == NULL) batch->scratch[thread] = nigh__object_pool_take(batch->pool);
    if (batch->scratch[thread] == NULL)
        status = nigh__graph_scratch_new(use->segment->context, &batch->scratch[thread], error);
    if (status != NIGH_OK) return status;
    struct task task = {.batch = batch, .scratch = batch->scratch[thread], .query = at};
    return nigh__sidecar_guarded(use->segment, use->graph.sidecar, search_one, &task, error);
}

nigh_status nigh__graph_batch_run(struct nigh__graph_batch *batch, nigh_error *error) {
    const struct nigh__query_crew crew = {.context = batch->use->segment->context,
                                          .count = batch->count,
                                          .threads = batch->threads,
                                          .user = batch,
                                          .take = take_one,
                                          .progress = batch->progress,
                                          .progress_done = batch->progress_done,
                                          .progress_total = batch->progress_total,
                                          .progress_each = batch->use->segment->signatures};
    return nigh__query_crew_run(&crew, error);
}
