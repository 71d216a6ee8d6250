/* SPDX-License-Identifier: Apache-2.0 */
/* Which options a graph takes and refuses, its defaults, and walks of a batch. */
#include "graph/graph_method.h"

#include "base/options.h"
#include "base/status.h"
#include "columns/columns.h"
#include "graph/graph_sample.h"
#include "graph/graph_search.h"
#include "scan/cost_model.h"
#include "scan/nearest.h"
#include "scan/ranking.h"

#define MAX_BATCH 256u /* queries share nothing but the start of the threads, which counts where one takes 20 us */

/* Where nobody says: see graph_search.c for what they bring. */
#define DEFAULT_EFFORT 600u
#define EFFORT_FOR_ONE 2u /* of k, at least */
#define DEFAULT_PATIENCE 300u
#define MUCH_LESS 3.0 /* than an exact answer, for texts that ask */
#define CHANCE 4u     /* answers, by which those among some may lie farther out */
#define MOST_ALLOWED                                                                                 \
    10u /* where fewer than all but one node in so many may be answers, the scan is if it costs less \
         */

struct graph_segment {
    struct nigh__prepared base;
    struct nigh__graph graph;
    uint32_t effort, patience;
    uint32_t wanted;        /* the effort before it was widened for a selection */
    bool barred[MAX_BATCH]; /* queries of the batch whose answers lie too far out for the walk */
};

static const struct nigh__search_option options_taken[] = {
    NIGH__SEARCH_OPTION(effort),
    NIGH__SEARCH_OPTION(patience),
};

/* -------------------------------------------------------------------- the options */

static bool asked_for(const nigh_search_options *options) { return options->method == NIGH_SEARCH_GRAPH; }

static nigh_status check_numbers(const nigh_search_options *options, nigh_error *error) {
    if (options->effort == 0) return nigh__fail(error, NIGH_EINVAL, "effort must be at least 1");
    if (options->effort != NIGH__UNSET && options->k != NIGH_ALL && options->effort < options->k)
        return nigh__fail(error, NIGH_EINVAL, "an effort of %u cannot give %u documents", options->effort, options->k);
    if (!asked_for(options)) return NIGH_OK;
    if (options->k == NIGH_ALL)
        return nigh__fail(error, NIGH_EINVAL, "a graph finds the nearest, not all within a radius: give k");
    if (options->stop != NIGH_STOP_BREADTH)
        return nigh__fail(error, NIGH_EINVAL, "answers of a graph are never certain");
    return NIGH_OK;
}

/* The graph of a segment that can be used, or the failure of one that is asked for. */
static nigh_status find_graph(const struct nigh__segment *segment, const nigh_search_options *options,
                              struct nigh__graph *out, bool *any, nigh_error *error) {
    *any = false;
    if (segment->sidecars[NIGH__SIDECAR_GRAPH] == NULL)
        return asked_for(options) ? nigh__sidecar_problem(segment, NIGH__SIDECAR_GRAPH, error) : NIGH_OK;
    const nigh_status status = nigh__graph_of_segment(segment, out, asked_for(options) ? error : NULL);
    *any = status == NIGH_OK && out->nodes > 0;
    return asked_for(options) ? status : NIGH_OK;
}

static nigh_status check(const nigh_collection *collection, const nigh_search_options *options, nigh_error *error) {
    nigh_status status = check_numbers(options, error);
    bool found = !asked_for(options) || collection->documents == 0; /* there can be no graph of nothing */
    for (uint32_t s = 0; s < collection->segment_count && status == NIGH_OK && asked_for(options); s++) {
        struct nigh__graph graph;
        bool any;
        status = find_graph(collection->segments[s], options, &graph, &any, error);
        found = found || any;
    }
    if (status != NIGH_OK || found) return status;
    return nigh__because(error, NIGH_REASON_NO_GRAPH,
                         nigh__fail_at(error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET, "has no graph"));
}

static bool fits(const nigh_collection *collection, const nigh_tuning *tuning, const nigh_search_options *options) {
    (void)options;
    return tuning->method != NIGH_SEARCH_GRAPH || nigh__sidecars_sound(collection, NIGH__SIDECAR_GRAPH);
}

/* ---------------------------------------------------------------------- a segment */

static uint32_t default_effort(uint32_t k) {
    const uint64_t effort = (uint64_t)EFFORT_FOR_ONE * k;
    if (effort >= NIGH__UNSET) return NIGH__UNSET - 1;
    return effort > DEFAULT_EFFORT ? (uint32_t)effort : DEFAULT_EFFORT;
}

static uint32_t scaled(uint32_t number, const struct graph_segment *walked) {
    const uint64_t rows = nigh__prepared_rows(&walked->base);
    const uint64_t nodes = walked->graph.nodes;
    if (rows == 0) return number;
    const uint64_t more = ((uint64_t)number * (3 * nodes - 2 * rows) + rows - 1) / rows;
    return more < nodes ? (uint32_t)more : (uint32_t)nodes;
}

/*
 * Where some rows only may be answers, others are met on the way: of the E nearest, as many are answers as of all.  So
 * a walk keeps more in mind, and is as much more patient: with a share s of the nodes E (3 - 2 s) / s, for the answers
 * lie farther out, where neighbours know each other less.  With 100,000 generated signatures of 1,024 bits and E = 16
 * and 32, recall@10 is .986 and .992 of all, .987 and .994 where .9 of them may be answers, .994 and .994 where .7,
 * .988 and .991 where .5, .990 and .992 where .4 (300 queries); below that the scan costs less.  With E / s it was .988
 * for E = 32 where .5 may be.
 *
 * That is for answers that lie anywhere.  Where what is near a query is forbidden together, its answers lie behind
 * many forbidden nodes, and the query goes to the scan (is_barred()).  Without it a half of 960,000 signatures, those
 * nearest one place, had recall .913 to .947 for E = 20 to 200, where all have .976 to .988 (`bench_filter`).
 */
static void widen(struct graph_segment *walked) {
    const uint32_t effort = scaled(walked->effort, walked);
    if (effort > walked->effort) walked->effort = effort;
    const uint32_t patience = scaled(walked->patience, walked);
    if (patience > walked->patience) walked->patience = patience;
}

/* What texts look for is more scattered: where 300 steps gain nothing, one in a hundred of the nearest is yet to come.
 */
static uint32_t default_patience(const nigh_search_options *options) {
    return nigh__ranks_plainly(options) ? DEFAULT_PATIENCE : 0;
}

static nigh_status prepare(const struct nigh__prepared *base, struct nigh__prepared **out, nigh_error *error) {
    const nigh_search_options *options = base->options;
    struct nigh__graph graph;
    bool any;
    *out = NULL;
    if (options->stop != NIGH_STOP_BREADTH || options->k == NIGH_ALL) return NIGH_OK;
    const nigh_status status = find_graph(base->segment, options, &graph, &any, error);
    if (status != NIGH_OK || !any) return status;
    if (!nigh__ranks_plainly(options) && graph.facts.masks == 0 && !asked_for(options)) return NIGH_OK;
    struct graph_segment *walked = nigh__prepared_new(base, sizeof *walked, error);
    if (walked == NULL) return NIGH_ENOMEM;
    walked->base.bound = asked_for(options);
    walked->graph = graph;
    walked->effort = options->effort == NIGH__UNSET ? default_effort(options->k) : options->effort;
    walked->patience = options->patience == NIGH__UNSET ? default_patience(options) : options->patience;
    walked->wanted = walked->effort;
    if (base->selection != NULL) widen(walked);
    *out = &walked->base;
    return NIGH_OK;
}

/* Of texts that ask, a walk misses one of the nearest in twenty, and columns or the scan none: it must cost much less.
 */
static bool gains_enough(const struct graph_segment *walked, double cost) {
    const struct nigh__segment *segment = walked->base.segment;
    if (walked->base.bound || nigh__ranks_plainly(walked->base.options)) return true;
    const bool columns = segment->sidecars[NIGH__SIDECAR_COLUMNS] != NULL;
    const double exact =
        columns ? nigh__columns_cost(segment->signatures) : nigh__scan_cost(segment->words, segment->signatures);
    return MUCH_LESS * cost < exact;
}

/* Which texts begin with. */
static double sample_cost(const struct graph_segment *walked) {
    if (walked->graph.sample == NULL || nigh__ranks_plainly(walked->base.options)) return 0;
    return nigh__columns_cost(nigh__graph_sample_layout(&walked->graph, walked->base.segment->words).rows);
}

/* A walk ends after about twice its patience, if not before. */
static double estimate(struct nigh__prepared *prepared, uint32_t query, uint32_t limit) {
    const struct graph_segment *walked = (const struct graph_segment *)prepared;
    const uint32_t patience = walked->patience;
    const double cost =
        NIGH__COST_GRAPH_STEP * (patience != 0 && patience < walked->effort / 2 ? 2.0 * patience : walked->effort) +
        sample_cost(walked);
    (void)limit;
    if (!gains_enough(walked, cost)) return NIGH__COST_IMPOSSIBLE;
    if (prepared->selection == NULL ||
        nigh__prepared_rows(prepared) >= walked->graph.nodes - walked->graph.nodes / MOST_ALLOWED)
        return cost;
    return cost < nigh__scan_method.estimate(prepared, query, limit) ? cost : NIGH__COST_IMPOSSIBLE;
}

/* ------------------------------------------------------------------------- a walk */

/* One query on its way. */
struct task {
    const struct graph_segment *walked;
    struct nigh__graph_scratch *scratch;
    struct nigh__graph_query query;
    struct nigh__graph_answer found;
};

/* Inside guards. */
static nigh_status walk(void *user, nigh_error *error) {
    struct task *task = user;
    const struct nigh__segment *segment = task->walked->base.segment;
    return nigh__graph_search(task->scratch, &task->walked->graph, segment->rows, segment->words, &task->query,
                              &task->found, error);
}

/* Nothing that may be an answer is as near as almost any node has its nearest neighbour: as where a walk is lost. */
static bool is_far(const struct graph_segment *walked, const struct nigh__graph_query *query,
                   const struct nigh__graph_answer *found) {
    const uint64_t *keys = found->keys.data;
    const uint32_t nearest = found->keys.count == 0 ? query->limit : nigh__key_distance(keys[0]);
    return query->plane_count == 0 && walked->graph.facts.far != 0 && nearest > walked->graph.facts.far;
}

/*
 * Of all documents the k-th is the k-th of E nodes in mind.  Among some it may be as deep in a pool that is as much
 * larger, and a little for chance; what is deeper a walk misses more of.
 */
static bool is_barred(const struct graph_segment *walked, const struct nigh__graph_query *query,
                      const struct nigh__graph_answer *found) {
    const uint64_t deep = (uint64_t)walked->base.options->k + CHANCE;
    if (walked->base.selection == NULL) return false;
    return found->beyond || found->depth * walked->wanted > deep * walked->effort || is_far(walked, query, found);
}

static nigh_status take_query(struct nigh__prepared *prepared, const struct nigh__query_batch *batch, void *scratch,
                              uint32_t query, nigh_error *error) {
    struct graph_segment *walked = (struct graph_segment *)prepared;
    const struct nigh__segment *segment = prepared->segment;
    struct nigh__answer *answer = &batch->answers[query];
    answer->breadth = 0;
    walked->barred[query] = false;
    if (batch->limits[query] == 0) return NIGH_OK; /* nothing can be nearer than what there is */
    struct task task = {.walked = walked, .scratch = scratch, .found = {.keys = answer->keys}};
    const uint32_t planes = batch->planes.count;
    task.query = (struct nigh__graph_query){
        .words = batch->queries + (size_t)query * segment->words,
        .planes = planes == 0 ? NULL : batch->planes.words + (size_t)query * planes * segment->words,
        .plane_count = planes,
        .k = prepared->options->k,
        .limit = batch->limits[query],
        .effort = walked->effort,
        .patience = walked->patience,
        .allowed = nigh__prepared_allowed(prepared)};
    const nigh_status status = nigh__sidecar_guarded(segment, walked->graph.sidecar, walk, &task, error);
    answer->keys = task.found.keys;
    answer->distances = task.found.compared;
    answer->steps = task.found.steps;
    if (task.found.whole < segment->signatures) answer->below = 0;
    walked->barred[query] = status == NIGH_OK && is_barred(walked, &task.query, &task.found);
    return status;
}

static nigh_status new_scratch(const nigh_context *context, void **out, nigh_error *error) {
    struct nigh__graph_scratch *scratch = NULL;
    const nigh_status status = nigh__graph_scratch_new(context, &scratch, error);
    *out = scratch;
    return status;
}

static void free_scratch(void *scratch) { nigh__graph_scratch_free(scratch); }

static nigh_status run(struct nigh__prepared *prepared, const struct nigh__query_batch *batch, nigh_error *error) {
    const struct nigh__batch_work work = {.pool = nigh__graph_pool(prepared->collection),
                                          .scratch_new = new_scratch,
                                          .scratch_free = free_scratch,
                                          .take = take_query};
    return nigh__batch_share(batch, prepared, &work, error);
}

static enum nigh__next next(struct nigh__prepared *prepared, uint32_t query, uint32_t wanted) {
    (void)wanted;
    return ((const struct graph_segment *)prepared)->barred[query] ? NIGH__NEXT_SCAN : NIGH__NEXT_NOTHING;
}

const struct nigh__search_method nigh__graph_method = {
    .name = "graph",
    .asked_by = 1u << NIGH_SEARCH_GRAPH,
    .automatic = true,
    .options = options_taken,
    .option_count = sizeof options_taken / sizeof options_taken[0],
    .batch_queries = MAX_BATCH,
    .check = check,
    .fits = fits,
    .prepare = prepare,
    .estimate = estimate,
    .run = run,
    .next = next,
};
