/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing, and running what was chosen; see slice_use.h.
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
#include "slices/slice_use.h"

#include "base/options.h"
#include "base/status.h"
#include "scan/nearest.h"
#include "scan/query_crew.h"

#define CERTAIN_BREADTH 1u  /* to begin with: it mostly tells how far to go */
#define MIN_CANDIDATES 200u /* where what they cost is what bounds them */

/* Nanoseconds on a machine of 2020, one core; only their ratios matter. */
#define LIST_COST 25.0 /* to look up, however short */
#define POSTING_COST 2.0
#define COMPARED_COST 30.0 /* a row somewhere in memory */
#define SCANNED_COST 0.08  /* a word of a row, of a query among many */

/* -------------------------------------------------------------------- the options */

static bool by_lists(const nigh_search_options *options) {
    return options->method == NIGH_SEARCH_SLICES || options->method == NIGH_SEARCH_SLICES_PLAIN;
}

static nigh_status check_names(const nigh_search_options *options, nigh_error *error) {
    if ((unsigned)options->method > NIGH_SEARCH_GRAPH)
        return nigh__fail(error, NIGH_EINVAL, "there is no search method %u", (unsigned)options->method);
    if ((unsigned)options->stop > NIGH_STOP_SEEN)
        return nigh__fail(error, NIGH_EINVAL, "there is no rule %u to end a search", (unsigned)options->stop);
    if (options->stop == NIGH_STOP_SEEN && options->method != NIGH_SEARCH_SLICES_PLAIN)
        return nigh__fail(error, NIGH_EINVAL,
                          "only a plain search of slice lists can end when its answers are seen everywhere");
    if (by_lists(options) && options->masks != NULL)
        return nigh__fail(error, NIGH_EINVAL, "slice lists cannot be searched in some of the bits only");
    return NIGH_OK;
}

/* Whether probes are directed where there are lists. */
static bool is_directed(const nigh_search_options *options) {
    if (options->probe == NIGH_PROBE_DIRECTED) return true;
    return options->probe == NIGH_PROBE_AUTO && options->weights != NULL && options->masks == NULL &&
           options->stop == NIGH_STOP_BREADTH && options->k != NIGH_ALL && options->breadth == NIGH__UNSET &&
           options->admit == NIGH__UNSET && options->method != NIGH_SEARCH_SLICES_PLAIN;
}

static nigh_status check_probe(const nigh_search_options *options, nigh_error *error) {
    if ((unsigned)options->probe > NIGH_PROBE_DIRECTED)
        return nigh__fail(error, NIGH_EINVAL, "there is no way %u to probe slice lists", (unsigned)options->probe);
    if (options->probe != NIGH_PROBE_DIRECTED) return NIGH_OK;
    if (options->weights == NULL)
        return nigh__fail(error, NIGH_EINVAL, "directed probes need to know how sure each bit of a query is");
    if (options->breadth != NIGH__UNSET || options->admit != NIGH__UNSET)
        return nigh__fail(error, NIGH_EINVAL, "directed probes have no breadth");
    if (options->stop != NIGH_STOP_BREADTH || options->k == NIGH_ALL)
        return nigh__fail(error, NIGH_EINVAL,
                          "directed probes find some that are near and prove nothing: not for certain answers, nor "
                          "for all within a radius");
    if (options->method == NIGH_SEARCH_SLICES_PLAIN)
        return nigh__fail(error, NIGH_EINVAL, "the papers' search of slice lists knows no directed probes");
    if (options->masks != NULL)
        return nigh__fail(error, NIGH_EINVAL, "slice lists cannot be searched in some of the bits only");
    return NIGH_OK;
}

static nigh_status check_numbers(const nigh_search_options *options, nigh_error *error) {
    const uint32_t breadth = options->breadth;
    if (breadth != NIGH__UNSET && breadth > NIGH_MAX_SLICE_WIDTH)
        return nigh__fail(error, NIGH_EINVAL, "a breadth of %u is more than the %u bits a slice may have", breadth,
                          NIGH_MAX_SLICE_WIDTH);
    if (options->admit != NIGH__UNSET && breadth != NIGH__UNSET && options->admit > breadth)
        return nigh__fail(error, NIGH_EINVAL, "signatures admitted up to %u bits, beyond the breadth of %u",
                          options->admit, breadth);
    if (options->candidates != NIGH__UNSET && options->k != NIGH_ALL && options->candidates < options->k)
        return nigh__fail(error, NIGH_EINVAL, "%u candidates cannot give %u documents", options->candidates,
                          options->k);
    if (options->candidates == 0) return nigh__fail(error, NIGH_EINVAL, "candidates must be at least 1");
    if (options->slices == 0) return nigh__fail(error, NIGH_EINVAL, "slices must be at least 1");
    return NIGH_OK;
}

/* The widest and the most slices of any segment; 0 where there are none. */
static nigh_status check_lists(const nigh_collection *collection, const nigh_search_options *options,
                               nigh_error *error) {
    uint32_t most_bits = 0;
    uint32_t most_slices = 0;
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        const struct nigh__segment *segment = collection->segments[s];
        struct nigh__slices slices;
        if (segment->sidecars[NIGH__SIDECAR_SLICES] == NULL && by_lists(options) &&
            segment->sidecar_problems[NIGH__SIDECAR_SLICES].status != NIGH_OK) {
            if (error != NULL) *error = segment->sidecar_problems[NIGH__SIDECAR_SLICES];
            return segment->sidecar_problems[NIGH__SIDECAR_SLICES].status;
        }
        if (segment->sidecars[NIGH__SIDECAR_SLICES] == NULL) continue;
        const nigh_status status = nigh__slices_of_segment(segment, &slices, by_lists(options) ? error : NULL);
        if (status != NIGH_OK && by_lists(options)) return status;
        if (status != NIGH_OK) continue;
        if (slices.slicing.most_bits > most_bits) most_bits = slices.slicing.most_bits;
        if (slices.slicing.count > most_slices) most_slices = slices.slicing.count;
    }
    if (most_slices == 0) {
        if (!by_lists(options) || collection->documents == 0) return NIGH_OK; /* none can have lists of nothing */
        return nigh__because(
            error, NIGH_REASON_NO_LISTS,
            nigh__fail_at(error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET, "has no slice lists"));
    }
    if (options->breadth != NIGH__UNSET && options->breadth > most_bits)
        return nigh__fail(error, NIGH_EINVAL, "a breadth of %u is more than the %u bits of a slice", options->breadth,
                          most_bits);
    if (options->slices != NIGH__UNSET && options->slices > most_slices)
        return nigh__fail(error, NIGH_EINVAL, "%u slices asked for, and signatures are cut into %u", options->slices,
                          most_slices);
    return NIGH_OK;
}

nigh_status nigh__slice_options_check(const nigh_collection *collection, const nigh_search_options *options,
                                      nigh_error *error) {
    nigh_status status = check_names(options, error);
    if (status == NIGH_OK) status = check_probe(options, error);
    if (status == NIGH_OK) status = check_numbers(options, error);
    if (status == NIGH_OK) status = check_lists(collection, options, error);
    return status;
}

/* ---------------------------------------------------------------------- the steps */

/* Searches that may find out too late that the scan costs less have half as much for the lists. */
static bool may_end_in_scan(const nigh_search_options *options) {
    return options->stop == NIGH_STOP_CERTAIN || options->k == NIGH_ALL;
}

nigh_status nigh__slice_use_init(struct nigh__slice_use *use, const nigh_search_options *options,
                                 const struct nigh__segment *segment, bool *any, nigh_error *error) {
    *use = (struct nigh__slice_use){.options = options, .segment = segment};
    *any = false;
    if (segment->sidecars[NIGH__SIDECAR_SLICES] == NULL || segment->signatures == 0) return NIGH_OK;
    nigh_status status = nigh__slices_of_segment(segment, &use->slices, by_lists(options) ? error : NULL);
    use->directed = is_directed(options);
    bool fitted;
    if (status == NIGH_OK && use->directed)
        status = nigh__bit_costs_of_segment(segment, &use->costs, &fitted, by_lists(options) ? error : NULL);
    if (status != NIGH_OK) return by_lists(options) ? status : NIGH_OK;
    *any = true;
    use->slice_count = options->slices < use->slices.slicing.count ? options->slices : use->slices.slicing.count;
    use->most_breadth = use->slices.slicing.most_bits;
    use->bound_to =
        options->method == NIGH_SEARCH_SLICES_PLAIN || (by_lists(options) && options->postings == NIGH_ALL_64);
    use->scan_cost = SCANNED_COST * segment->words * segment->signatures;
    const double share = may_end_in_scan(options) ? 0.5 : 1.0;
    use->usual_postings =
        options->postings != 0 ? options->postings : 1 + (uint64_t)(share * use->scan_cost / POSTING_COST);
    if (use->bound_to) use->usual_postings = options->postings == 0 ? NIGH_ALL_64 : options->postings;
    return NIGH_OK;
}

/* Rings that see every row nearer than `wanted`, at least in some slice; UINT32_MAX where none do. */
static uint32_t breadth_for(const struct nigh__slice_use *use, uint32_t wanted) {
    const uint32_t rings = wanted / use->slice_count + (wanted % use->slice_count != 0);
    const uint32_t breadth = rings == 0 ? 0 : rings - 1;
    if (use->slice_count == use->slices.slicing.count && breadth > use->most_breadth) return use->most_breadth;
    return breadth > use->most_breadth ? UINT32_MAX : breadth;
}

/*
 * Rows to compare where all are that may be nearer than `wanted`: those with a score of s (b + 1) - wanted + 1 or more.
 * All scores together are known, so there cannot be many of a high one.
 */
static double compared_rows(const struct nigh__slice_use *use, const struct nigh__slice_step *step, double longer,
                            uint32_t wanted) {
    if (step->candidates != UINT32_MAX) return step->candidates;
    double scores = 0;
    for (uint32_t ring = 0; ring <= step->breadth; ring++)
        scores += longer * nigh__slice_postings(&use->slices, use->slice_count, ring);
    const double least = (double)use->slice_count * (step->breadth + 1) - (double)wanted + 1;
    const double rows = least > 1 ? scores / least : scores;
    return rows < use->segment->signatures ? rows : use->segment->signatures;
}

/* Lists `longer` than if all were equally long, for rows nearer than `wanted`. */
static double step_cost(const struct nigh__slice_use *use, const struct nigh__slice_step *step, double longer,
                        uint32_t wanted) {
    double postings = longer * nigh__slice_postings(&use->slices, use->slice_count, step->breadth);
    if (postings > (double)step->postings) postings = (double)step->postings;
    return LIST_COST * nigh__slice_lists(&use->slices.slicing, use->slice_count, step->breadth) +
           POSTING_COST * postings + COMPARED_COST * compared_rows(use, step, longer, wanted);
}

/* What is usual for these lists, where nobody says. */
static struct nigh__slice_query usual_query(const struct nigh__slice_use *use) {
    struct nigh__slice_query usual = {0};
    nigh__slice_usual(&use->slices, use->options->k, &usual);
    return usual;
}

static uint32_t usual_candidates(const struct nigh__slice_use *use, const struct nigh__slice_query *usual) {
    const uint32_t rows = use->segment->signatures;
    if (use->options->candidates != NIGH__UNSET) return use->options->candidates;
    if (use->options->k == NIGH_ALL) return UINT32_MAX;
    return usual->candidates < rows ? usual->candidates : rows;
}

/* As many rows as are compared in half the time of the scan: where more may be nearer, the scan it is. */
static void bound_candidates(const struct nigh__slice_use *use, struct nigh__slice_step *step) {
    const uint32_t k = use->options->k == NIGH_ALL ? 0 : use->options->k;
    const double most = use->scan_cost / 2 / COMPARED_COST;
    if (use->bound_to || step->candidates != UINT32_MAX) return;
    step->candidates = MIN_CANDIDATES > k ? MIN_CANDIDATES : k;
    if (most > step->candidates) step->candidates = (uint32_t)most;
}

static void set_breadth(const struct nigh__slice_use *use, struct nigh__slice_step *step, uint32_t breadth) {
    step->breadth = breadth;
    step->admit = use->options->admit < breadth ? use->options->admit : breadth;
}

/* With half of what the scan costs; fewer rings where that is too little, and the scan where it is for none. */
static struct nigh__slice_step first_certain(const struct nigh__slice_use *use, struct nigh__slice_step step,
                                             uint32_t limit) {
    if (use->options->k == NIGH_ALL) { /* all within the limit: it is known how far to go */
        const uint32_t breadth = breadth_for(use, limit == UINT32_MAX ? use->segment->width_bits + 1 : limit);
        step.candidates = UINT32_MAX;
        step.scan = breadth == UINT32_MAX;
        if (!step.scan) set_breadth(use, &step, breadth);
    }
    step.admit = step.breadth;
    while (!step.scan && !use->bound_to && step_cost(use, &step, 1, limit) > use->scan_cost / 2) {
        step.scan = use->options->k == NIGH_ALL || step.breadth == 0 || use->options->breadth != NIGH__UNSET;
        if (!step.scan) step.admit = --step.breadth;
    }
    bound_candidates(use, &step);
    return step;
}

/* An answer that may be approximate, and has enough rows to find, reads what pays and not all that the scan allows. */
static void bound_postings(const struct nigh__slice_use *use, struct nigh__slice_step *step) {
    if (use->bound_to || use->options->postings != 0 || may_end_in_scan(use->options)) return;
    const uint64_t usual = nigh__slice_usual_postings(&use->slices, use->slice_count, step->breadth);
    if (usual < step->postings) step->postings = usual;
}

/* Directed: so many look-ups, and so many postings, or the scan where that costs less. */
static struct nigh__slice_step directed_step(const struct nigh__slice_use *use) {
    const nigh_search_options *options = use->options;
    const struct nigh__slice_query usual = usual_query(use);
    struct nigh__slice_step step = {.candidates = usual_candidates(use, &usual), .postings = options->postings};
    if (step.postings == 0) step.postings = nigh__slice_usual_budget(&use->slices);
    step.probes = options->probes != 0 ? options->probes : nigh__slice_usual_probes(&use->slices, step.postings);
    if (step.probes > NIGH__DIRECTED_MAX_PROBES) step.probes = NIGH__DIRECTED_MAX_PROBES;
    double postings = (double)step.probes * use->slices.rows / (double)(UINT64_C(1) << use->most_breadth);
    if (postings > (double)step.postings) postings = (double)step.postings;
    const double cost =
        LIST_COST * (double)step.probes + POSTING_COST * postings + COMPARED_COST * (double)step.candidates;
    step.scan = options->method == NIGH_SEARCH_SCAN || (!use->bound_to && cost > use->scan_cost);
    return step;
}

struct nigh__slice_step nigh__slice_first_step(const struct nigh__slice_use *use, uint32_t limit) {
    const nigh_search_options *options = use->options;
    if (use->directed) return directed_step(use);
    const struct nigh__slice_query usual = usual_query(use);
    struct nigh__slice_step step = {.candidates = usual_candidates(use, &usual), .postings = use->usual_postings};
    uint32_t breadth = options->stop == NIGH_STOP_CERTAIN ? CERTAIN_BREADTH : usual.breadth;
    if (options->breadth != NIGH__UNSET) breadth = options->breadth;
    const uint32_t enough = limit == UINT32_MAX ? UINT32_MAX : breadth_for(use, limit);
    if (options->breadth == NIGH__UNSET && enough < breadth) breadth = enough;
    if (options->stop == NIGH_STOP_SEEN) breadth = 0;
    set_breadth(use, &step, breadth < use->most_breadth ? breadth : use->most_breadth);
    step.scan = options->method == NIGH_SEARCH_SCAN || options->masks != NULL;
    if (step.scan) return step;
    bound_postings(use, &step);
    if (options->stop == NIGH_STOP_CERTAIN) return first_certain(use, step, limit);
    const double most = may_end_in_scan(options) ? use->scan_cost / 2 : use->scan_cost;
    step.scan = !use->bound_to && step_cost(use, &step, 1, limit) > most;
    bound_candidates(use, &step);
    return step;
}

bool nigh__slice_complete(const struct nigh__slice_use *use, const struct nigh__slice_answer *answer) {
    return answer->below > use->segment->width_bits;
}

/* The last step before the scan: as far as it takes, if what the first met lets it cost less. */
static bool next_certain(const struct nigh__slice_use *use, const struct nigh__slice_answer *answer, uint32_t wanted,
                         struct nigh__slice_step *step) {
    const double expected = nigh__slice_postings(&use->slices, use->slice_count, step->breadth);
    const double longer = (double)answer->postings > expected && expected > 0 ? (double)answer->postings / expected : 1;
    const bool incomplete = answer->skipped != 0 && step->postings != NIGH_ALL_64;
    const uint32_t breadth = breadth_for(use, wanted == UINT32_MAX ? use->segment->width_bits + 1 : wanted);
    if (nigh__slice_complete(use, answer) || answer->below >= wanted) return false;
    step->scan = step->more || incomplete || breadth == UINT32_MAX;
    step->more = true;
    if (step->scan) return true;
    step->breadth = step->admit = breadth;
    step->candidates = UINT32_MAX;
    if (!use->bound_to) step->scan = step_cost(use, step, longer, wanted) > use->scan_cost / 2;
    bound_candidates(use, step);
    return true;
}

/*
 * Whoever asks for all within a radius expects all of them.  Not found are those beyond the breadth, which is what one
 * chooses; but that more were to be compared than pays, or that lists were left out for their length, is no choice.
 */
static bool too_much_for_lists(const struct nigh__slice_use *use, const struct nigh__slice_answer *answer,
                               uint32_t wanted, const struct nigh__slice_step *step) {
    const nigh_search_options *options = use->options;
    if (options->k != NIGH_ALL || use->bound_to) return false;
    if (options->candidates == NIGH__UNSET && answer->compared >= step->candidates) return true;
    return options->postings == 0 && answer->skipped != 0 && answer->below < wanted;
}

bool nigh__slice_next_step(const struct nigh__slice_use *use, const struct nigh__slice_answer *answer, bool seen,
                           uint32_t wanted, struct nigh__slice_step *step) {
    const nigh_search_options *options = use->options;
    if (options->stop == NIGH_STOP_CERTAIN) return next_certain(use, answer, wanted, step);
    if (too_much_for_lists(use, answer, wanted, step)) return step->scan = true;
    if (options->stop != NIGH_STOP_SEEN || seen) return false;
    const uint32_t most = options->breadth < use->most_breadth ? options->breadth : use->most_breadth;
    if (step->breadth >= most) return false;
    set_breadth(use, step, step->breadth + 1);
    return true;
}

/* --------------------------------------------------------------------- the threads */

/* One step on its way. */
struct task {
    const struct nigh__slice_batch *batch;
    struct nigh__slice_scratch *scratch;
    uint32_t query;
};

/* Whether the rows of an answer differ from the query in no slice by more than the breadth.  Inside a guard. */
static bool seen_everywhere(const struct nigh__slice_use *use, const uint64_t *words, uint32_t breadth,
                            const struct nigh__slice_answer *answer) {
    const uint64_t *keys = answer->keys.data;
    if (use->options->k != NIGH_ALL && answer->keys.count < use->options->k &&
        answer->keys.count < use->segment->signatures)
        return false;
    for (size_t i = 0; i < answer->keys.count; i++) {
        const uint64_t *row = use->segment->rows + (size_t)nigh__key_number(keys[i]) * use->segment->words;
        for (uint32_t s = 0; s < use->slice_count; s++) {
            const struct nigh__slice slice = nigh__slicing_at(&use->slices.slicing, use->slices.rows, s);
            const uint32_t differing = nigh__slice_value(row, slice) ^ nigh__slice_value(words, slice);
            if ((uint32_t)__builtin_popcount(differing) > breadth) return false;
        }
    }
    return true;
}

/* Inside guards. */
static nigh_status search_lists(void *user, nigh_error *error) {
    const struct task *task = user;
    const struct nigh__slice_batch *batch = task->batch;
    struct nigh__slice_scratch *scratch = task->scratch;
    const uint32_t q = task->query;
    const struct nigh__slice_use *use = batch->use;
    const struct nigh__slice_step *step = &batch->steps[q];
    struct nigh__slice_answer *answer = &batch->answers[q];
    const struct nigh__slice_query query = {
        .words = batch->queries + (size_t)q * use->segment->words,
        .k = use->options->k,
        .limit = batch->limits[q],
        .breadth = step->breadth,
        .admit = step->admit,
        .candidates = step->candidates,
        .slices = use->slice_count,
        .postings = step->postings,
        .top = may_end_in_scan(use->options) ? step->breadth + 1 : 0, /* what may be near before what is likely to be */
        .weights = step->probes == 0 ? NULL : batch->weights + (size_t)q * use->segment->width_bits,
        .costs = &use->costs,
        .probes = step->probes,
    };
    if (use->options->method != NIGH_SEARCH_SLICES_PLAIN)
        return nigh__slice_search(scratch, &use->slices, use->segment->rows, &query, answer, error);
    /* The scores of the papers choose other candidates; what is to be certain needs ours. */
    const enum nigh__scoring scoring = use->options->stop == NIGH_STOP_CERTAIN ? NIGH__SCORE_BOUND : NIGH__SCORE_PAPER;
    nigh_status status =
        nigh__slice_search_plain(scratch, &use->slices, use->segment->rows, &query, scoring, answer, error);
    if (status == NIGH_OK && use->options->stop == NIGH_STOP_SEEN)
        batch->seen[q] = seen_everywhere(use, query.words, step->breadth, answer);
    return status;
}

static nigh_status take_step(void *user, uint32_t thread, uint32_t at, nigh_error *error) {
    const struct nigh__slice_batch *batch = user;
    const struct nigh__slice_use *use = batch->use;
    const uint32_t q = batch->chosen[at];
    struct nigh__slice_answer *answer = &batch->answers[q];
    *answer = (struct nigh__slice_answer){.keys = answer->keys};
    answer->keys.count = 0;
    nigh_status status = NIGH_OK;
    if (batch->scratch[thread] == NULL) batch->scratch[thread] = nigh__object_pool_take(batch->pool);
    if (batch->scratch[thread] == NULL)
        status = nigh__slice_scratch_new(use->segment->context, &batch->scratch[thread], error);
    if (status != NIGH_OK) return status;
    struct task task = {.batch = batch, .scratch = batch->scratch[thread], .query = q};
    return nigh__sidecar_guarded(use->segment, use->slices.sidecar, search_lists, &task, error);
}

nigh_status nigh__slice_batch_run(struct nigh__slice_batch *batch, nigh_error *error) {
    const struct nigh__query_crew crew = {.context = batch->use->segment->context,
                                          .count = batch->count,
                                          .threads = batch->threads,
                                          .user = batch,
                                          .take = take_step,
                                          .progress = batch->progress,
                                          .progress_done = batch->progress_done,
                                          .progress_total = batch->progress_total,
                                          .progress_each = batch->use->segment->signatures};
    return nigh__query_crew_run(&crew, error);
}
