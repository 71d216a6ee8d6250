/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh_tune(): families of settings, in each of which one number buys quality for time.
 *
 *     family                       number
 *     graph, by patience           effort
 *     slices, by breadth           candidates
 *     slices directed, by cand.    probes
 *     sketches, by bits            candidates
 *     columns                      slack
 *     columns without a slack      none
 *     scan                         none
 *
 * Columns are for queries that do not count every bit once, and these have but the graph and the last three.
 *
 *     poor  poor   poor      good                  up by fours, to the first that will do,
 *      |-----|------|----|--|-|                    then halved (by ratio) back down
 *     16    64     256        1024
 *
 * The first families are those that are mostly fastest: the sooner something good is found, the
 * sooner all that is slower can be left.  Where only time is limited, the same steps look for the
 * last setting that keeps within it, and the best quality of all wins.
 *
 * The least of many settings that seem good enough is often one that was lucky, so the target must
 * be reached with more than half an interval to spare.  Should the other half of the queries still
 * say that it is not, all is done again with twice that margin.
 */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "collection/sidecar.h"
#include "columns/columns.h"
#include "graph/graph.h"
#include "search/search_options.h"
#include "search/tune.h"
#include "slices/slices.h"

#define USUAL_RECALL 0.95
#define STEP 4u
#define FINE 1.15 /* halving ends where two settings differ by less */
#define FIRST 64u
#define MAX_EFFORT 8192u
#define MAX_CANDIDATES 262144u
#define MAX_PROBES 262144u
#define MAX_BREADTH 4u
#define SLACK_PARTS 64u /* of a standard deviation */
#define MIN_SLACK (SLACK_PARTS / 8)
#define MAX_SLACK (4 * SLACK_PARTS)
#define MAX_FAMILIES 24u
#define STEPS_A_FAMILY 6u /* about, to tell how far it is */
#define MAX_NEEDED 1e15
#define FIRST_MARGIN 1.316 /* 2.58 / 1.96: with a confidence of 99 % instead of 95 */
#define MAX_ROUNDS 3
#define SLOWER 1.1 /* than the best so far: not worth measuring to the end; and what is exact may be so */

enum number { NO_NUMBER, EFFORT, CANDIDATES, PROBES, SLACK };

struct family {
    nigh_search_options search;
    enum number number;
    uint32_t least, most;
    uint64_t memory_bytes;
};

struct choice {
    bool any;
    nigh_search_options search;
    struct nigh__tune_measure measure;
    uint64_t memory_bytes;
};

struct tune {
    struct nigh__tuner tuner;
    struct family families[MAX_FAMILIES];
    size_t family_count;
    bool by_time;          /* no target of quality: the best within the time */
    struct choice best;    /* good enough */
    struct choice closest; /* the best quality within the limits */
    struct choice fastest; /* of all, for where nothing is within the time */
    uint32_t settings;
    uint32_t slice_width;
    uint64_t rows_bytes;
};

/* ----------------------------------------------------------------- the families */

static bool allowed(const struct tune *tune, nigh_search_method method) {
    const uint32_t methods = tune->tuner.options.methods;
    return methods == 0 || (methods >> (unsigned)method & 1) != 0;
}

static struct family *add_family(struct tune *tune, nigh_search_method method, enum number number, uint32_t most,
                                 uint64_t memory_bytes) {
    const uint64_t limit = tune->tuner.options.memory_bytes;
    const uint32_t least = tune->tuner.options.k + 1;
    if (tune->family_count == MAX_FAMILIES || (limit != 0 && memory_bytes > limit)) return NULL;
    struct family *family = &tune->families[tune->family_count++];
    *family = (struct family){
        .number = number, .least = least, .most = most < least ? least : most, .memory_bytes = memory_bytes};
    nigh__options_defaults(&nigh__search_options_shape, &family->search);
    family->search.method = method;
    return family;
}

/* With patience, and without; where bits count differently it gains nothing. */
static void add_graphs(struct tune *tune, uint64_t memory_bytes, bool ranked) {
    static const uint32_t patiences[] = {0, NIGH__UNSET};
    const size_t count = ranked ? 1 : sizeof patiences / sizeof patiences[0];
    for (size_t i = count; i-- > 0;) {
        struct family *family = add_family(tune, NIGH_SEARCH_GRAPH, EFFORT, MAX_EFFORT, memory_bytes);
        if (family != NULL) family->search.patience = patiences[i];
    }
}

static void add_slices(struct tune *tune, uint64_t memory_bytes) {
    static const uint32_t candidates[] = {300, 1000, 3000};
    const uint32_t k = tune->tuner.options.k;
    for (size_t i = 0; tune->tuner.weights != NULL && i < sizeof candidates / sizeof candidates[0]; i++) {
        struct family *family = add_family(tune, NIGH_SEARCH_SLICES, PROBES, MAX_PROBES, memory_bytes);
        if (family == NULL) continue;
        family->least = FIRST;
        family->search.probe = NIGH_PROBE_DIRECTED;
        family->search.candidates = candidates[i] < 10 * k ? 10 * k : candidates[i];
    }
    for (uint32_t breadth = 0; breadth <= MAX_BREADTH && breadth < tune->slice_width; breadth++) {
        struct family *family = add_family(tune, NIGH_SEARCH_SLICES, CANDIDATES, MAX_CANDIDATES, memory_bytes);
        if (family == NULL) continue;
        family->search.breadth = breadth;
        family->search.probe = NIGH_PROBE_BALL;
    }
}

/* With all rows for candidates it would be the scan. */
static void add_sketches(struct tune *tune, uint64_t rows_bytes, uint64_t rows) {
    const uint32_t width = tune->tuner.collection->width_bits;
    const uint32_t most = rows < MAX_CANDIDATES ? (uint32_t)rows : MAX_CANDIDATES;
    if (most <= tune->tuner.options.k + 1) return;
    for (uint32_t bits = 64; bits <= 256 && bits < width; bits += 64) {
        struct family *family = add_family(tune, NIGH_SEARCH_SKETCH, CANDIDATES, most, rows_bytes + rows * (bits / 8));
        if (family != NULL) family->search.sketch_bits = bits;
    }
}

/* What is exact comes first: it is often fast enough that no slack pays, which then is seen soon. */
static void add_columns(struct tune *tune, uint64_t memory_bytes) {
    (void)add_family(tune, NIGH_SEARCH_COLUMNS, NO_NUMBER, 0, memory_bytes);
    struct family *family = add_family(tune, NIGH_SEARCH_COLUMNS, SLACK, MAX_SLACK, memory_bytes);
    if (family == NULL) return;
    family->least = MIN_SLACK;
    family->most = MAX_SLACK;
}

/* The bytes of all files of each kind beside segments; 0 where there are none, or some cannot be used. */
static void find_sidecars(const nigh_collection *collection, uint64_t bytes[NIGH__SIDECAR_KINDS]) {
    for (unsigned kind = 0; kind < NIGH__SIDECAR_KINDS; kind++) {
        bool usable = true;
        bytes[kind] = 0;
        for (uint32_t s = 0; kind > 0 && s < collection->segment_count; s++) {
            const struct nigh__segment *segment = collection->segments[s];
            if (segment->sidecars[kind] != NULL) bytes[kind] += segment->sidecars[kind]->length;
            if (segment->sidecar_problems[kind].status != NIGH_OK) usable = false;
        }
        if (!usable) bytes[kind] = 0;
    }
}

/* What there is to choose from, and what it takes in memory. */
static void add_families(struct tune *tune) {
    const nigh_collection *collection = tune->tuner.collection;
    uint64_t bytes[NIGH__SIDECAR_KINDS];
    uint64_t rows = 0;
    for (uint32_t s = 0; s < collection->segment_count; s++) rows += collection->segments[s]->signatures;
    find_sidecars(collection, bytes);
    const uint64_t rows_bytes = rows * nigh__row_words(collection->width_bits) * sizeof(uint64_t);
    const bool ranked = nigh__tune_is_ranked(&tune->tuner.options);
    tune->rows_bytes = rows_bytes;
    if (ranked && bytes[NIGH__SIDECAR_COLUMNS] != 0 && allowed(tune, NIGH_SEARCH_COLUMNS))
        add_columns(tune, rows_bytes + bytes[NIGH__SIDECAR_COLUMNS]);
    if (bytes[NIGH__SIDECAR_GRAPH] != 0 && allowed(tune, NIGH_SEARCH_GRAPH))
        add_graphs(tune, rows_bytes + bytes[NIGH__SIDECAR_GRAPH], ranked);
    if (!ranked && bytes[NIGH__SIDECAR_SLICES] != 0 && allowed(tune, NIGH_SEARCH_SLICES))
        add_slices(tune, rows_bytes + bytes[NIGH__SIDECAR_SLICES]);
    if (!ranked && allowed(tune, NIGH_SEARCH_SKETCH)) add_sketches(tune, rows_bytes, rows);
    if (allowed(tune, NIGH_SEARCH_SCAN)) (void)add_family(tune, NIGH_SEARCH_SCAN, NO_NUMBER, 0, rows_bytes);
}

static void find_slice_width(struct tune *tune) {
    const nigh_collection *collection = tune->tuner.collection;
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        nigh_segment_info info = {.size = sizeof info};
        if (nigh_collection_segment(collection, s, &info, NULL) == NIGH_OK && info.slice_width > tune->slice_width)
            tune->slice_width = info.slice_width;
    }
}

/* ------------------------------------------------------------------- one setting */

static nigh_search_options setting_of(const struct family *family, uint32_t value) {
    nigh_search_options search = family->search;
    if (family->number == EFFORT) search.effort = value;
    if (family->number == CANDIDATES) search.candidates = value;
    if (family->number == PROBES) search.probes = value;
    if (family->number == SLACK) search.slack = (double)value / SLACK_PARTS;
    return search;
}

static nigh_tuned_queries asked_by(const nigh_tune_options *options) {
    if (options->rank == NIGH_RANK_WEIGHTED) return NIGH_TUNED_RANKED;
    if (options->masks != NULL) return NIGH_TUNED_MASKED;
    if (options->queries == NULL) return NIGH_TUNED_ANY;
    return options->weights == NULL ? NIGH_TUNED_PLAIN : NIGH_TUNED_WEIGHTED;
}

/* As a result of nigh_tune(). */
static nigh_tuning describe(const struct tune *tune, const struct choice *choice) {
    const nigh_tune_options *options = &tune->tuner.options;
    const struct nigh__tune_measure *measure = &choice->measure;
    return (nigh_tuning){.size = sizeof(nigh_tuning),
                         .method = choice->search.method,
                         .probe = choice->search.probe,
                         .k = options->k,
                         .breadth = choice->search.breadth,
                         .candidates = choice->search.candidates,
                         .sketch_bits = choice->search.sketch_bits,
                         .effort = choice->search.effort,
                         .patience = choice->search.patience,
                         .postings = choice->search.postings,
                         .probes = choice->search.probes,
                         .slice_width = tune->slice_width,
                         .target_recall = options->recall,
                         .target_cdr = options->cdr,
                         .target_seconds = options->seconds,
                         .target_bytes = options->memory_bytes,
                         .queries = measure->queries,
                         .recall = measure->recall.mean,
                         .recall_low = measure->recall.low,
                         .recall_high = measure->recall.high,
                         .cdr = measure->cdr.mean,
                         .cdr_low = measure->cdr.low,
                         .cdr_high = measure->cdr.high,
                         .median = measure->median,
                         .percentile_99 = measure->percentile_99,
                         .memory_bytes = choice->memory_bytes,
                         .documents = tune->tuner.collection->documents,
                         .sequence = tune->tuner.collection->sequence,
                         .asked = asked_by(options),
                         .slack = choice->search.slack};
}

static bool in_time(const struct tune *tune, const struct nigh__tune_measure *measure) {
    return tune->tuner.options.seconds <= 0 || measure->median <= tune->tuner.options.seconds;
}

/* Whether the quality of one is better; recall counts unless the only target is a CDR. */
static bool is_better(const struct tune *tune, const struct choice *a, const struct choice *b) {
    const bool by_cdr = tune->tuner.options.recall <= 0 && tune->tuner.options.cdr > 0;
    const double x = by_cdr ? a->measure.cdr.mean : a->measure.recall.mean;
    const double y = by_cdr ? b->measure.cdr.mean : b->measure.recall.mean;
    return x > y || (x >= y && a->measure.median < b->measure.median);
}

/* What is exact is worth a little time, or noise would choose what only happens to seem faster. */
static double time_of(const struct choice *choice) {
    return choice->measure.median / (nigh__tune_is_exact(&choice->search) ? SLOWER : 1);
}

/* Keeps what was measured where it is the best so far. */
static void consider(struct tune *tune, const struct choice *one) {
    if (!tune->fastest.any || one->measure.median < tune->fastest.measure.median) tune->fastest = *one;
    if (!in_time(tune, &one->measure)) return;
    if (!tune->closest.any || is_better(tune, one, &tune->closest)) tune->closest = *one;
    if (tune->by_time) {
        tune->best = tune->closest;
    } else if (!one->measure.slow && !one->measure.poor && nigh__tune_reached(&tune->tuner, &one->measure)) {
        if (!tune->best.any || time_of(one) < time_of(&tune->best)) tune->best = *one;
    }
}

/* Slower than this need not be measured to the end; 0: no limit. */
static double most_seconds(const struct tune *tune) {
    const double limit = tune->tuner.options.seconds;
    const double beaten = tune->best.any && !tune->by_time ? SLOWER * tune->best.measure.median : 0;
    return beaten > 0 && (limit <= 0 || beaten < limit) ? beaten : limit;
}

static nigh_status try_setting(struct tune *tune, const struct family *family, uint32_t value,
                               struct nigh__tune_measure *out, nigh_error *error) {
    struct choice one = {.any = true, .search = setting_of(family, value), .memory_bytes = family->memory_bytes};
    nigh_status status = nigh__tune_measure(&tune->tuner, NIGH__TUNE_CHOOSE, &one.search, most_seconds(tune),
                                            !tune->by_time, &one.measure, error);
    if (status != NIGH_OK) return status;
    *out = one.measure;
    tune->settings++;
    consider(tune, &one);
    if (tune->tuner.options.tried != NULL) {
        const nigh_tuning tried = describe(tune, &one);
        tune->tuner.options.tried(tune->tuner.options.user, &tried);
    }
    return NIGH_OK;
}

/* -------------------------------------------------------------------- one family */

/* Whether more would be more than is wanted. */
static bool is_enough(const struct tune *tune, const struct nigh__tune_measure *measure) {
    if (measure->slow) return true;
    return !tune->by_time && nigh__tune_reached(&tune->tuner, measure);
}

/* Slow and too poor: with less it would be poorer still, and there is something better. */
static bool is_vain(const struct tune *tune, const struct nigh__tune_measure *measure) {
    return measure->slow && tune->best.any && !tune->by_time && nigh__tune_hopeless(&tune->tuner.options, measure);
}

static uint32_t between(uint32_t low, uint32_t high) { return (uint32_t)sqrt((double)low * (double)high); }

static nigh_status search_family(struct tune *tune, const struct family *family, nigh_error *error) {
    struct nigh__tune_measure measure;
    uint32_t low = family->least - 1; /* too little */
    uint32_t high = family->least < FIRST ? FIRST : family->least;
    if (high > family->most) high = family->most;
    nigh_status status = try_setting(tune, family, high, &measure, error);
    while (status == NIGH_OK && !is_enough(tune, &measure) && high < family->most) {
        low = high;
        high = high < family->most / STEP ? high * STEP : family->most;
        status = try_setting(tune, family, high, &measure, error);
    }
    if (status != NIGH_OK || !is_enough(tune, &measure) || is_vain(tune, &measure)) return status;
    if (measure.slow && !tune->by_time && tune->best.any && low < family->least) return NIGH_OK; /* the least is slow */
    while (status == NIGH_OK && (double)high > FINE * (double)low && high - low > 1) {
        const uint32_t middle = between(low, high);
        if (middle <= low || middle >= high) break;
        status = try_setting(tune, family, middle, &measure, error);
        if (status != NIGH_OK || is_vain(tune, &measure)) return status;
        if (is_enough(tune, &measure))
            high = middle;
        else
            low = middle;
    }
    return status;
}

static nigh_status search_families(struct tune *tune, nigh_error *error) {
    nigh_status status = NIGH_OK;
    struct nigh__tune_measure ignored;
    tune->tuner.steps = tune->tuner.step + tune->family_count * STEPS_A_FAMILY * (tune->tuner.count / 2);
    for (size_t i = 0; status == NIGH_OK && i < tune->family_count; i++) {
        const struct family *family = &tune->families[i];
        if (family->number == NO_NUMBER)
            status = try_setting(tune, family, 0, &ignored, error);
        else
            status = search_family(tune, family, error);
    }
    return status;
}

/* -------------------------------------------------------------------- the outcome */

/* Queries that the sample would have to have. */
static uint64_t needed(const struct tune *tune, const struct nigh__tune_measure *measure) {
    const nigh_tune_options *options = &tune->tuner.options;
    const double recall = (measure->recall.high - measure->recall.low) / 2;
    const double cdr = (measure->cdr.high - measure->cdr.low) / 2;
    double half = options->cdr > 0 ? cdr : 0;
    if ((options->recall > 0 || options->cdr <= 0) && recall > half) half = recall;
    if (options->within <= 0 || half <= options->within) return 0;
    const double ratio = half / options->within;
    const double queries = (double)measure->queries * ratio * ratio;
    return 2 * (1 + (uint64_t)(queries < MAX_NEEDED ? queries : MAX_NEEDED));
}

static nigh_status nothing_to_choose(const struct tune *tune, nigh_error *error) {
    const uint64_t limit = tune->tuner.options.memory_bytes;
    if (limit != 0 && tune->rows_bytes > limit)
        return nigh__fail(error, NIGH_ENOTFOUND, "%llu bytes of memory are too few: the signatures alone take %llu",
                          (unsigned long long)limit, (unsigned long long)tune->rows_bytes);
    return nigh__fail(error, NIGH_ENOTFOUND, "none of the allowed ways can search this collection");
}

/* Chooses, and measures what was chosen on the other half.  False in *sound where that says that it is not enough. */
static nigh_status choose(struct tune *tune, struct choice *out, bool *sound, nigh_error *error) {
    tune->best.any = tune->closest.any = tune->fastest.any = false;
    nigh_status status = search_families(tune, error);
    if (status != NIGH_OK) return status;
    *out = tune->best.any ? tune->best : tune->closest;
    if (!out->any) *out = tune->fastest;
    if (!out->any) return nothing_to_choose(tune, error);
    status = nigh__tune_measure(&tune->tuner, NIGH__TUNE_REPORT, &out->search, 0, false, &out->measure, error);
    *sound = !tune->best.any || !nigh__tune_hopeless(&tune->tuner.options, &out->measure);
    return status;
}

static nigh_status find(struct tune *tune, nigh_tuning *out, nigh_tune_result *result, nigh_error *error) {
    struct choice chosen = {.any = false};
    bool sound = false;
    for (int round = 0; !sound && round < MAX_ROUNDS; round++) {
        tune->tuner.margin = round == 0 ? FIRST_MARGIN : 2 * tune->tuner.margin;
        const nigh_status status = choose(tune, &chosen, &sound, error);
        if (status != NIGH_OK) return status;
    }
    const nigh_tuning tuning = describe(tune, &chosen);
    const nigh_tune_result told = {
        .met = tune->best.any && sound, .needed = needed(tune, &chosen.measure), .settings = tune->settings};
    nigh__info_copy(out, &tuning, sizeof tuning);
    if (result != NULL) nigh__info_copy(result, &told, sizeof told);
    return NIGH_OK;
}

nigh_status nigh_tune(const nigh_collection *collection, const nigh_tune_options *options, nigh_tuning *out,
                      nigh_tune_result *result, nigh_error *error) {
    struct tune tune = {.tuner = {.collection = collection, .context = collection->context}};
    nigh_tune_options *chosen = &tune.tuner.options;
    nigh_status status = nigh__options_copy(&nigh__tune_options_shape, chosen, options, error);
    if (status != NIGH_OK) return status;
    if (chosen->recall <= 0 && chosen->cdr <= 0 && chosen->seconds <= 0) chosen->recall = USUAL_RECALL;
    tune.by_time = chosen->recall <= 0 && chosen->cdr <= 0;
    nigh__progress_init(&tune.tuner.progress, chosen->progress);
    status = nigh__tuner_init(&tune.tuner, error);
    if (status == NIGH_OK) {
        find_slice_width(&tune);
        add_families(&tune);
        status = find(&tune, out, result, error);
    }
    nigh__tuner_release(&tune.tuner);
    return status;
}
