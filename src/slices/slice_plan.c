/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses how far a search goes; see slice_plan.h.
 *
 * The bound.  Over s slices, rows that were in no list of the rings 0 .. b are s (b + 1)
 * bits away or more.  So to be sure of every row nearer than `wanted` it takes the least
 * b for which s (b + 1) >= wanted, and of those seen all that may be nearer compared.
 * With the k-th distance D, ties and all, wanted is D + 1.
 *
 * The costs, S that of the scan.  A search to a breadth goes by lists only where lists
 * and postings are predicted to cost at most S, and reads postings for S at most: 2 S in
 * all, whatever the lists are like.  A certain one has half of that for each of its two
 * steps, compares no more rows than that allows, and then scans: again about 2 S.  So
 * has one for all within a radius, where it turns out that very many may be.
 */
#include "slices/slice_plan.h"

#include "base/options.h"
#include "scan/cost_model.h"

#define CERTAIN_BREADTH 1u  /* to begin with: it mostly tells how far to go */
#define MIN_CANDIDATES 200u /* where what they cost is what bounds them */

/* Whether probes are directed where there are lists. */
static bool is_directed(const nigh_search_options *options) {
    if (options->probe == NIGH_PROBE_DIRECTED) return true;
    return options->probe == NIGH_PROBE_AUTO && options->weights != NULL && options->stop == NIGH_STOP_BREADTH &&
           options->k != NIGH_ALL && options->breadth == NIGH__UNSET && options->admit == NIGH__UNSET &&
           options->method != NIGH_SEARCH_SLICES_PLAIN;
}

static uint64_t step_postings(const struct nigh__slice_plan *plan) {
    const uint64_t asked_for = plan->options->postings;
    const double share = nigh__slice_may_end_in_scan(plan->options) ? 0.5 : 1.0;
    if (asked_for != 0) return asked_for;
    return plan->bound ? NIGH_ALL_64 : 1 + (uint64_t)(share * plan->scan_cost / NIGH__COST_POSTING);
}

nigh_status nigh__slice_plan_init(struct nigh__slice_plan *plan, const nigh_search_options *options,
                                  const struct nigh__segment *segment, bool *any, nigh_error *error) {
    const bool asked_for = nigh__slices_asked_for(options);
    *plan = (struct nigh__slice_plan){.options = options, .segment = segment, .directed = is_directed(options)};
    *any = false;
    if (segment->signatures == 0) return NIGH_OK;
    nigh_status status = nigh__slices_find(segment, asked_for, &plan->slices, any, error);
    if (status != NIGH_OK || !*any) return status;
    if (plan->directed) {
        bool fitted;
        status = nigh__bit_costs_of_segment(segment, &plan->costs, &fitted, asked_for ? error : NULL);
        *any = status == NIGH_OK;
        if (!*any) return asked_for ? status : NIGH_OK;
    }
    const struct nigh__slicing *slicing = &plan->slices.slicing;
    plan->slice_count = options->slices < slicing->count ? options->slices : slicing->count;
    plan->max_breadth = slicing->most_bits;
    plan->bound = options->method == NIGH_SEARCH_SLICES_PLAIN || (asked_for && options->postings == NIGH_ALL_64);
    plan->scan_cost = nigh__scan_cost(segment->words, segment->signatures);
    plan->default_postings = step_postings(plan);
    return NIGH_OK;
}

/* ---------------------------------------------------------------------- the steps */

/* Rings that see every row nearer than `wanted`, at least in some slice; UINT32_MAX where none do. */
static uint32_t breadth_for(const struct nigh__slice_plan *plan, uint32_t wanted) {
    const uint32_t rings = wanted / plan->slice_count + (wanted % plan->slice_count != 0);
    const uint32_t breadth = rings == 0 ? 0 : rings - 1;
    if (plan->slice_count == plan->slices.slicing.count && breadth > plan->max_breadth) return plan->max_breadth;
    return breadth > plan->max_breadth ? UINT32_MAX : breadth;
}

/*
 * Rows to compare where all are that may be nearer than `wanted`: those with a score of s (b + 1) - wanted + 1 or more.
 * All scores together are known, so there cannot be many of a high one.
 */
static double compared_rows(const struct nigh__slice_plan *plan, const struct nigh__slice_step *step, double longer,
                            uint32_t wanted) {
    if (step->candidates != UINT32_MAX) return step->candidates;
    double scores = 0;
    for (uint32_t ring = 0; ring <= step->breadth; ring++)
        scores += longer * nigh__slice_postings(&plan->slices, plan->slice_count, ring);
    const double least = (double)plan->slice_count * (step->breadth + 1) - (double)wanted + 1;
    const double rows = least > 1 ? scores / least : scores;
    return rows < plan->segment->signatures ? rows : plan->segment->signatures;
}

/* Lists `longer` than if all were equally long, for rows nearer than `wanted`. */
static double step_cost(const struct nigh__slice_plan *plan, const struct nigh__slice_step *step, double longer,
                        uint32_t wanted) {
    double postings = longer * nigh__slice_postings(&plan->slices, plan->slice_count, step->breadth);
    if (postings > (double)step->postings) postings = (double)step->postings;
    return NIGH__COST_LIST * nigh__slice_lists(&plan->slices.slicing, plan->slice_count, step->breadth) +
           NIGH__COST_POSTING * postings + NIGH__COST_COMPARED_ROW * compared_rows(plan, step, longer, wanted);
}

static struct nigh__slice_query default_query(const struct nigh__slice_plan *plan) {
    struct nigh__slice_query defaults = {0};
    nigh__slice_defaults(&plan->slices, plan->options->k, &defaults);
    return defaults;
}

static uint32_t default_candidates(const struct nigh__slice_plan *plan, const struct nigh__slice_query *defaults) {
    const uint32_t rows = plan->segment->signatures;
    if (plan->options->candidates != NIGH__UNSET) return plan->options->candidates;
    if (plan->options->k == NIGH_ALL) return UINT32_MAX;
    return defaults->candidates < rows ? defaults->candidates : rows;
}

/* As many rows as are compared in half the time of the scan: where more may be nearer, the scan it is. */
static void bound_candidates(const struct nigh__slice_plan *plan, struct nigh__slice_step *step) {
    const uint32_t k = plan->options->k == NIGH_ALL ? 0 : plan->options->k;
    const double most = plan->scan_cost / 2 / NIGH__COST_COMPARED_ROW;
    if (plan->bound || step->candidates != UINT32_MAX) return;
    step->candidates = MIN_CANDIDATES > k ? MIN_CANDIDATES : k;
    if (most > step->candidates) step->candidates = (uint32_t)most;
}

static void set_breadth(const struct nigh__slice_plan *plan, struct nigh__slice_step *step, uint32_t breadth) {
    step->breadth = breadth;
    step->admit = plan->options->admit < breadth ? plan->options->admit : breadth;
}

/* Searches that may find out too late that the scan costs less have half as much for the lists. */
static double whole_cost(const struct nigh__slice_plan *plan, const struct nigh__slice_step *step, uint32_t limit) {
    const double cost = step_cost(plan, step, 1, limit);
    return nigh__slice_may_end_in_scan(plan->options) ? 2 * cost : cost;
}

/* With half of what the scan costs, and fewer rings where that is too little. */
static double first_certain(const struct nigh__slice_plan *plan, uint32_t limit, struct nigh__slice_step *step) {
    const bool known = plan->options->k == NIGH_ALL; /* all within the limit: it is known how far to go */
    if (known) {
        const uint32_t breadth = breadth_for(plan, limit == UINT32_MAX ? plan->segment->width_bits + 1 : limit);
        if (breadth == UINT32_MAX) return NIGH__COST_IMPOSSIBLE;
        step->candidates = UINT32_MAX;
        set_breadth(plan, step, breadth);
    }
    step->admit = step->breadth;
    const bool fixed = plan->bound || known || plan->options->breadth != NIGH__UNSET;
    double cost = whole_cost(plan, step, limit);
    while (!fixed && step->breadth > 0 && cost > plan->scan_cost) {
        step->admit = --step->breadth;
        cost = whole_cost(plan, step, limit);
    }
    bound_candidates(plan, step);
    return cost;
}

/* An answer that may be approximate, and has enough rows to find, reads what pays and not all that the scan allows. */
static void bound_postings(const struct nigh__slice_plan *plan, struct nigh__slice_step *step) {
    if (plan->bound || plan->options->postings != 0 || nigh__slice_may_end_in_scan(plan->options)) return;
    const uint64_t postings = nigh__slice_default_postings(&plan->slices, plan->slice_count, step->breadth);
    if (postings < step->postings) step->postings = postings;
}

/* Directed: so many look-ups, and so many postings. */
static double directed_step(const struct nigh__slice_plan *plan, struct nigh__slice_step *step) {
    const nigh_search_options *options = plan->options;
    if (options->postings == 0) step->postings = nigh__slice_default_budget(&plan->slices);
    step->probes = options->probes != 0 ? options->probes : nigh__slice_default_probes(&plan->slices, step->postings);
    if (step->probes > NIGH__DIRECTED_MAX_PROBES) step->probes = NIGH__DIRECTED_MAX_PROBES;
    double postings = (double)step->probes * plan->slices.rows / (double)(UINT64_C(1) << plan->max_breadth);
    if (postings > (double)step->postings) postings = (double)step->postings;
    return NIGH__COST_LIST * (double)step->probes + NIGH__COST_POSTING * postings +
           NIGH__COST_COMPARED_ROW * (double)step->candidates;
}

/* To the breadth that was asked for, or the default; where fewer rings prove all within the limit, these. */
static uint32_t first_breadth(const struct nigh__slice_plan *plan, uint32_t limit, uint32_t by_default) {
    const nigh_search_options *options = plan->options;
    if (options->stop == NIGH_STOP_SEEN) return 0;
    uint32_t breadth = options->stop == NIGH_STOP_CERTAIN ? CERTAIN_BREADTH : by_default;
    const uint32_t enough = limit == UINT32_MAX ? UINT32_MAX : breadth_for(plan, limit);
    if (enough < breadth) breadth = enough;
    if (options->breadth != NIGH__UNSET) breadth = options->breadth;
    return breadth < plan->max_breadth ? breadth : plan->max_breadth;
}

double nigh__slice_first_step(const struct nigh__slice_plan *plan, uint32_t limit, struct nigh__slice_step *out) {
    const struct nigh__slice_query defaults = default_query(plan);
    *out = (struct nigh__slice_step){.candidates = default_candidates(plan, &defaults),
                                     .postings = plan->default_postings};
    if (plan->directed) return directed_step(plan, out);
    set_breadth(plan, out, first_breadth(plan, limit, defaults.breadth));
    bound_postings(plan, out);
    if (plan->options->stop == NIGH_STOP_CERTAIN) return first_certain(plan, limit, out);
    const double cost = whole_cost(plan, out, limit);
    bound_candidates(plan, out);
    return cost;
}

/* ----------------------------------------------------------------------- after one */

bool nigh__slice_complete(const struct nigh__slice_plan *plan, const struct nigh__slice_answer *answer) {
    return answer->below > plan->segment->width_bits;
}

/* The last step before the scan: as far as it takes, if what the first met lets it cost less. */
static enum nigh__next next_certain(const struct nigh__slice_plan *plan, const struct nigh__slice_answer *answer,
                                    uint32_t wanted, struct nigh__slice_step *step) {
    const double expected = nigh__slice_postings(&plan->slices, plan->slice_count, step->breadth);
    const double longer = (double)answer->postings > expected && expected > 0 ? (double)answer->postings / expected : 1;
    const bool incomplete = answer->skipped != 0 && step->postings != NIGH_ALL_64;
    const uint32_t breadth = breadth_for(plan, wanted == UINT32_MAX ? plan->segment->width_bits + 1 : wanted);
    if (nigh__slice_complete(plan, answer) || answer->below >= wanted) return NIGH__NEXT_NOTHING;
    if (step->more || incomplete || breadth == UINT32_MAX) return NIGH__NEXT_SCAN;
    step->more = true;
    step->breadth = step->admit = breadth;
    step->candidates = UINT32_MAX;
    if (!plan->bound && step_cost(plan, step, longer, wanted) > plan->scan_cost / 2) return NIGH__NEXT_SCAN;
    bound_candidates(plan, step);
    return NIGH__NEXT_STEP;
}

/*
 * Whoever asks for all within a radius expects all of them.  Not found are those beyond the breadth, which is what one
 * chooses; but that more were to be compared than pays, or that lists were left out for their length, is no choice.
 */
static bool too_much_for_lists(const struct nigh__slice_plan *plan, const struct nigh__slice_answer *answer,
                               uint32_t wanted, const struct nigh__slice_step *step) {
    const nigh_search_options *options = plan->options;
    if (options->k != NIGH_ALL || plan->bound) return false;
    if (options->candidates == NIGH__UNSET && answer->compared >= step->candidates) return true;
    return options->postings == 0 && answer->skipped != 0 && answer->below < wanted;
}

uint32_t nigh__slice_most_breadth(const struct nigh__slice_plan *plan) {
    return plan->options->breadth < plan->max_breadth ? plan->options->breadth : plan->max_breadth;
}

enum nigh__next nigh__slice_next_step(const struct nigh__slice_plan *plan, const struct nigh__slice_answer *answer,
                                      bool seen, uint32_t wanted, struct nigh__slice_step *step) {
    const nigh_search_options *options = plan->options;
    if (options->stop == NIGH_STOP_CERTAIN) return next_certain(plan, answer, wanted, step);
    if (too_much_for_lists(plan, answer, wanted, step)) return NIGH__NEXT_SCAN;
    if (options->stop != NIGH_STOP_SEEN || seen) return NIGH__NEXT_NOTHING;
    if (step->breadth >= nigh__slice_most_breadth(plan)) return NIGH__NEXT_NOTHING;
    set_breadth(plan, step, step->breadth + 1);
    return NIGH__NEXT_STEP;
}
