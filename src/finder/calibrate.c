/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures the constants of the cost model (finder/choice.c) on this machine, with the code that
 * they predict. Small finders are made and queried, and each time is put into its equation, in
 * which only one constant is not yet known.
 *
 *     rows      finder                     gives
 *     65,536    scan                       scan_byte
 *     4,096     tables, 4 and 56 of them   permute, query    in the cache
 *     16,384    tables of 4 leading bits   compare           in the cache, 1,024 rows a bucket
 *     4,096     psm, 15 and 48 probes      enumerate, whole  in the cache, 1 and 16 rows a bucket
 *     2^20      scan, 10 tables, psm       take, fill, miss, hit; sort
 *     65,536    a batch of as many, psm    key, visit        16 probes, 8 rows a bucket
 *               none: copied and checked   load
 *
 * Of the queries to the ten tables those without a match give `miss`, and the others,
 * which take longer by what they find, `hit`.  Few have a match among 4,096 rows.
 *
 * A time is the median of several, for other programs come in between; what noise
 * makes smaller than nothing is taken as a small share of the default constant.  The
 * disk is not measured, for nobody said where on it there is room for a file of ours:
 * read_bytes stays as it is by default, and what a batch searches is made in memory.
 */
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "finder/choice.h"
#include "finder/chunk_search.h"
#include "finder/finder_options.h"
#include "signature/signature_options.h"

#define MANY_ROWS (UINT32_C(1) << 20)
#define QUERIES 8192u
#define REPEATS 5u
#define BUILDS 3u
#define STEPS 11u
#define BATCH 65536u
#define BATCH_PREFIX 13u
#define BATCH_PROBES 16u
#define WIDTH 64u
#define RADIUS 3u

struct calibration {
    nigh_context *context;
    struct nigh__progress progress;
    uint64_t *rows;    /* MANY_ROWS */
    uint64_t *queries; /* QUERIES */
    uint8_t *weights;  /* WIDTH for each, and for those of a batch */
    uint32_t step;
    nigh_costs defaults;
    nigh_error *error;
};

/* What a constant is where noise has eaten it up. */
static double at_least(double measured, double defaults) { return measured > defaults / 20 ? measured : defaults / 20; }

static double median(double *values, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        double value = values[i];
        uint32_t place = i;
        for (; place > 0 && values[place - 1] > value; place--) values[place] = values[place - 1];
        values[place] = value;
    }
    return values[count / 2];
}

/* -------------------------------------------------------------- one finder -- */

/* Seconds that a finder takes: to be built, and for a query. */
struct timing {
    double build;
    double query;
    uint64_t batch; /* 0: none */
    double matches; /* of a query */
    nigh_finder_info info;
};

/* The queries from `first` on. */
static nigh_status time_queries(const struct calibration *calibration, const nigh_finder *finder, uint32_t first,
                                uint32_t queries, double *out) {
    double seconds[REPEATS];
    nigh_find_options options;
    nigh__options_defaults(&nigh__find_options_shape, &options);
    options.threads = 1;
    options.weights = calibration->weights;
    for (uint32_t i = 0; i < REPEATS; i++) {
        nigh_results *results;
        double started = nigh__thread_clock();
        nigh_status status = nigh_finder_find(finder, (const uint8_t *)(calibration->queries + first), queries,
                                              &options, &results, calibration->error);
        seconds[i] = nigh__thread_clock() - started;
        if (status != NIGH_OK) return status;
        nigh_results_free(results);
    }
    *out = median(seconds, REPEATS) / queries;
    return NIGH_OK;
}

/* Makes a finder, several times. */
static nigh_status time_building(struct calibration *calibration, uint32_t rows, const nigh_finder_options *given,
                                 nigh_finder **finder, struct timing *out) {
    nigh_finder_options options = *given;
    *finder = NULL;
    *out = (struct timing){.info = {.size = sizeof(nigh_finder_info)}};
    options.width_bits = WIDTH;
    options.radius = RADIUS;
    options.recall = options.method == NIGH_FINDER_PSM ? 0.5 : 1;
    options.approximate = 1;
    options.threads = 1;
    if (nigh__progress_tick(&calibration->progress, "measuring", calibration->step++, STEPS))
        return nigh__progress_cancelled(calibration->error);
    double seconds[BUILDS];
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < BUILDS && status == NIGH_OK; i++) {
        nigh_finder_free(*finder);
        *finder = NULL;
        double started = nigh__thread_clock();
        status = nigh_finder_new(calibration->context, (const uint8_t *)calibration->rows, rows, &options, finder,
                                 calibration->error);
        seconds[i] = nigh__thread_clock() - started;
    }
    if (status == NIGH_OK) out->build = median(seconds, BUILDS);
    if (status == NIGH_OK) nigh_finder_describe(*finder, &out->info);
    return status;
}

static nigh_status time_finder(struct calibration *calibration, uint32_t rows, const nigh_finder_options *options,
                               uint32_t queries, struct timing *out) {
    nigh_finder *finder;
    nigh_status status = time_building(calibration, rows, options, &finder, out);
    if (status == NIGH_OK && queries > 0) status = time_queries(calibration, finder, 0, queries, &out->query);
    nigh_finder_free(finder);
    return status;
}

static nigh_status time_tables(struct calibration *calibration, uint32_t rows, uint32_t blocks, uint32_t leading,
                               struct timing *out) {
    nigh_finder_options options;
    nigh__options_defaults(&nigh__finder_options_shape, &options);
    options.method = NIGH_FINDER_TABLES;
    options.blocks = blocks;
    options.leading = leading;
    return time_finder(calibration, rows, &options, QUERIES, out);
}

static nigh_status time_psm(struct calibration *calibration, uint32_t rows, uint32_t prefix_bits, uint32_t probes,
                            uint32_t queries, struct timing *out) {
    nigh_finder_options options;
    nigh__options_defaults(&nigh__finder_options_shape, &options);
    options.method = NIGH_FINDER_PSM;
    options.prefix_bits = prefix_bits;
    options.probes = probes;
    return time_finder(calibration, rows, &options, queries, out);
}

static nigh_status time_scan(struct calibration *calibration, uint32_t rows, uint32_t queries, struct timing *out) {
    nigh_finder_options options;
    nigh__options_defaults(&nigh__finder_options_shape, &options);
    options.method = NIGH_FINDER_SCAN;
    return time_finder(calibration, rows, &options, queries, out);
}

/* --------------------------------------------------------------- constants -- */

/* The setting of a finder as a row of a plan. */
static nigh_plan_row setting_of(const nigh_finder_info *info) {
    return (nigh_plan_row){.method = info->method,
                           .blocks = info->blocks,
                           .leading = info->leading,
                           .prefix_bits = info->prefix_bits,
                           .probes = info->probes,
                           .rotations = info->rotations};
}

/*
 * Sets *constant, one of `costs`, so that the model predicts what was measured.  Every
 * prediction is linear in every constant, so two of them, with 0 and with 1, tell it.
 */
static nigh_status solve(const struct calibration *calibration, const struct timing *timing, bool build,
                         nigh_costs *costs, double *constant, double defaults) {
    double predicted[2] = {0, 0};
    nigh_plan_options options;
    nigh__options_defaults(&nigh__plan_options_shape, &options);
    options.rows = timing->info.rows;
    options.width_bits = WIDTH;
    options.radius = RADIUS;
    options.costs = costs;
    options.batch = timing->batch;
    options.matches = timing->matches;
    for (int i = 0; i < 2; i++) {
        nigh_plan_row row = setting_of(&timing->info);
        *constant = i;
        nigh_status status = nigh__predict(&options, &row, calibration->error);
        if (status != NIGH_OK) return status;
        predicted[i] = build ? row.build_seconds : row.query_seconds;
    }
    double measured = build ? timing->build : timing->query;
    *constant = at_least((measured - predicted[0]) / (predicted[1] - predicted[0]), defaults);
    return NIGH_OK;
}

static nigh_status measure_scan(struct calibration *calibration, nigh_costs *costs) {
    struct timing timing;
    nigh_status status = time_scan(calibration, 65536, QUERIES / 8, &timing);
    if (status != NIGH_OK) return status;
    return solve(calibration, &timing, false, costs, &costs->scan_byte, calibration->defaults.scan_byte);
}

/* A query takes a fixed time and one for each table; a bucket of four rows is neither here nor there. */
static nigh_status measure_tables(struct calibration *calibration, nigh_costs *costs) {
    struct timing few;
    struct timing many;
    struct timing long_buckets;
    nigh_status status = time_tables(calibration, 4096, 4, 1, &few);
    if (status == NIGH_OK) status = time_tables(calibration, 4096, 8, 5, &many);
    if (status == NIGH_OK) status = time_tables(calibration, 16384, 16, 1, &long_buckets);
    if (status != NIGH_OK) return status;
    double tables = (double)many.info.tables - few.info.tables;
    costs->permute = at_least((many.query - few.query) / tables, calibration->defaults.permute);
    status = solve(calibration, &few, false, costs, &costs->query, calibration->defaults.query);
    if (status != NIGH_OK) return status;
    return solve(calibration, &long_buckets, false, costs, &costs->compare, calibration->defaults.compare);
}

static nigh_status measure_psm(struct calibration *calibration, nigh_costs *costs) {
    static const uint32_t probes[] = {15, 48};
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        struct timing timing;
        nigh_status status = time_psm(calibration, 4096, 12, probes[i], QUERIES, &timing);
        if (status == NIGH_OK)
            status = solve(calibration, &timing, false, costs, &costs->enumerate, calibration->defaults.enumerate);
        if (status != NIGH_OK) return status;
        sum += costs->enumerate;
    }
    costs->enumerate = sum / 2;
    struct timing long_buckets;
    nigh_status status = time_psm(calibration, 4096, 8, 15, QUERIES, &long_buckets);
    if (status != NIGH_OK) return status;
    return solve(calibration, &long_buckets, false, costs, &costs->whole, calibration->defaults.whole);
}

/* Puts the queries that have a match after those that have none: *strangers of them, *matches of the others. */
static nigh_status part_queries(const struct calibration *calibration, const nigh_finder *finder, uint32_t *strangers,
                                double *matches) {
    nigh_results *results;
    nigh_find_options options;
    nigh__options_defaults(&nigh__find_options_shape, &options);
    options.threads = 1;
    nigh_status status = nigh_finder_find(finder, (const uint8_t *)calibration->queries, QUERIES, &options, &results,
                                          calibration->error);
    if (status != NIGH_OK) return status;
    size_t all = 0;
    *strangers = 0;
    for (uint32_t i = 0; i < QUERIES; i++) {
        size_t found;
        (void)nigh_results_matches(results, i, &found);
        all += found;
        if (found > 0) continue;
        const uint64_t query = calibration->queries[i];
        calibration->queries[i] = calibration->queries[*strangers];
        calibration->queries[(*strangers)++] = query;
    }
    *matches = (double)all / (*strangers < QUERIES ? QUERIES - *strangers : 1);
    nigh_results_free(results);
    return NIGH_OK;
}

/* Ten tables: with queries that find nothing, and with such that find something. */
static nigh_status time_far_tables(struct calibration *calibration, struct timing *nothing, struct timing *something) {
    nigh_finder_options options;
    nigh__options_defaults(&nigh__finder_options_shape, &options);
    nigh_finder *finder;
    uint32_t strangers = 0;
    double matches = 0;
    options.method = NIGH_FINDER_TABLES;
    options.blocks = 5;
    options.leading = 2;
    nigh_status status = time_building(calibration, MANY_ROWS, &options, &finder, nothing);
    if (status == NIGH_OK) status = part_queries(calibration, finder, &strangers, &matches);
    if (status == NIGH_OK) status = time_queries(calibration, finder, 0, strangers, &nothing->query);
    *something = *nothing;
    something->matches = matches;
    if (status == NIGH_OK && strangers < QUERIES)
        status = time_queries(calibration, finder, strangers, QUERIES - strangers, &something->query);
    nigh_finder_free(finder);
    return status;
}

static nigh_status measure_far(struct calibration *calibration, nigh_costs *costs) {
    const nigh_costs *defaults = &calibration->defaults;
    struct timing scan;
    struct timing tables;
    struct timing hits = {0};
    struct timing psm;
    nigh_status status = time_scan(calibration, MANY_ROWS, 0, &scan);
    if (status == NIGH_OK) status = time_far_tables(calibration, &tables, &hits);
    if (status == NIGH_OK) status = time_psm(calibration, MANY_ROWS, 19, 1, 0, &psm);
    if (status == NIGH_OK) status = solve(calibration, &scan, true, costs, &costs->take, defaults->take);
    if (status == NIGH_OK) status = solve(calibration, &tables, true, costs, &costs->fill, defaults->fill);
    if (status == NIGH_OK) status = solve(calibration, &tables, false, costs, &costs->miss, defaults->miss);
    if (status == NIGH_OK && hits.matches > 0)
        status = solve(calibration, &hits, false, costs, &costs->hit, defaults->hit);
    if (status == NIGH_OK) status = solve(calibration, &psm, true, costs, &costs->sort, defaults->sort);
    return status;
}

/* ------------------------------------------------------------------- batches -- */

/* Seconds of a query of a batch: for preparing it, and for searching the chunk. */
static nigh_status time_batch(const struct calibration *calibration, const struct nigh__chunk_block *block,
                              double *preparing, double *searching) {
    struct nigh__chunk_finds finds = {.hits = {.item_size = sizeof(struct nigh__chunk_hit)}};
    struct nigh__chunk_batch batch = {
        .context = calibration->context, .queries = calibration->rows + BATCH, .count = BATCH};
    nigh__options_defaults(&nigh__batch_options_shape, &batch.options);
    batch.options.method = NIGH_FINDER_PSM;
    batch.options.radius = RADIUS;
    batch.options.weights = calibration->weights;
    batch.options.prefix_bits = BATCH_PREFIX;
    batch.options.probes = BATCH_PROBES;
    batch.options.threads = 1;
    double started = nigh__thread_clock();
    nigh_status status = nigh__chunk_batch_init(&batch, calibration->error);
    double prepared = nigh__thread_clock();
    if (status == NIGH_OK) nigh__chunk_batch_search(&batch, block, 0, block->count, &finds);
    *preparing = (prepared - started) / BATCH;
    *searching = (nigh__thread_clock() - prepared) / BATCH;
    if (finds.failed) status = nigh__no_memory(calibration->error, "for measuring");
    nigh__array_release(calibration->context, &finds.hits);
    nigh__chunk_batch_release(&batch);
    return status;
}

static nigh_status time_batches(const struct calibration *calibration, const struct nigh__chunk_block *block,
                                double *preparing, double *searching) {
    double prepared[REPEATS];
    double searched[REPEATS];
    for (uint32_t i = 0; i < REPEATS; i++) {
        nigh_status status = time_batch(calibration, block, &prepared[i], &searched[i]);
        if (status != NIGH_OK) return status;
    }
    *preparing = median(prepared, REPEATS);
    *searching = median(searched, REPEATS);
    return NIGH_OK;
}

/* What reading a row does beside waiting for the disk: copying, the checksum, and that rows ascend. */
static double time_load(uint64_t *to, const uint64_t *from) {
    double seconds[REPEATS];
    for (uint32_t i = 0; i < REPEATS; i++) {
        double started = nigh__thread_clock();
        memcpy(to, from, BATCH * sizeof *to);
        uint64_t sum = nigh__hash(to, BATCH * sizeof *to);
        for (uint32_t j = 1; j < BATCH; j++) sum += to[j - 1] > to[j];
        to[0] ^= sum; /* so that none of it is left out */
        seconds[i] = nigh__thread_clock() - started;
    }
    return 1.5 * median(seconds, REPEATS) / BATCH; /* 12 bytes of a row instead of 8 */
}

/* The chunk: rows in order, all of one number; `words` has room for three batches. */
static nigh_status measure_chunk(const struct calibration *calibration, uint64_t *words, nigh_costs *costs) {
    memcpy(words, calibration->rows, BATCH * sizeof *words);
    memset(words + (size_t)2 * BATCH, 0, BATCH * sizeof *words);
    const struct nigh__chunk_block block = {.rows = nigh__words_sort(words, words + BATCH, BATCH, 1, 1, 1),
                                            .numbers = (const uint32_t *)(const void *)(words + (size_t)2 * BATCH),
                                            .count = BATCH,
                                            .ends_chunk = true};
    struct timing timing = {.batch = BATCH,
                            .info = {.method = NIGH_FINDER_PSM,
                                     .rows = BATCH,
                                     .prefix_bits = BATCH_PREFIX,
                                     .probes = BATCH_PROBES,
                                     .rotations = 1}};
    double searching;
    nigh_status status = time_batches(calibration, &block, &timing.query, &searching);
    if (status != NIGH_OK) return status;
    nigh_costs alone = {.size = sizeof alone, .enumerate = costs->enumerate, .read_bytes = 1e30};
    status = solve(calibration, &timing, false, &alone, &alone.key, calibration->defaults.key);
    if (status != NIGH_OK) return status;
    timing.query += searching;
    alone.whole = costs->whole;
    alone.miss = costs->miss;
    status = solve(calibration, &timing, false, &alone, &alone.visit, calibration->defaults.visit);
    costs->key = alone.key;
    costs->visit = alone.visit;
    costs->load =
        at_least(time_load(block.rows == words ? words + BATCH : words, block.rows), calibration->defaults.load);
    return status;
}

static nigh_status measure_batch(struct calibration *calibration, nigh_costs *costs) {
    if (nigh__progress_tick(&calibration->progress, "measuring", calibration->step++, STEPS))
        return nigh__progress_cancelled(calibration->error);
    uint64_t *words = nigh__alloc(calibration->context, 3 * (size_t)BATCH, sizeof *words);
    nigh_status status = NIGH_ENOMEM;
    if (words == NULL)
        (void)nigh__no_memory(calibration->error, "for measuring");
    else
        status = measure_chunk(calibration, words, costs);
    nigh__free(calibration->context, words);
    return status;
}

/* Rows that crowd and repeat, as those of documents do: random ones would have shorter buckets and no copies. */
static nigh_status make_rows(const struct calibration *calibration) {
    nigh_generator_options options;
    nigh__options_defaults(&nigh__generator_options_shape, &options);
    nigh_status status = NIGH_OK;
    options.count = MANY_ROWS;
    options.width_bits = WIDTH;
    for (uint32_t i = 0; i < MANY_ROWS + QUERIES && status == NIGH_OK; i++) {
        uint64_t *row = i < MANY_ROWS ? &calibration->rows[i] : &calibration->queries[i - MANY_ROWS];
        status = nigh_generate(&options, i, (uint8_t *)row, calibration->error);
    }
    return status;
}

static nigh_status measure(struct calibration *calibration, nigh_costs *costs) {
    struct nigh__rng rng = {.state = 1};
    nigh_status status = make_rows(calibration);
    if (status != NIGH_OK) return status;
    /* Even instead of normal: listing combinations takes the same time. */
    for (uint32_t i = 0; i < BATCH * WIDTH; i++) calibration->weights[i] = (uint8_t)(nigh__rng_next(&rng) >> 56);
    status = measure_scan(calibration, costs);
    if (status == NIGH_OK) status = measure_tables(calibration, costs);
    if (status == NIGH_OK) status = measure_psm(calibration, costs);
    if (status == NIGH_OK) status = measure_far(calibration, costs);
    if (status == NIGH_OK) status = measure_batch(calibration, costs);
    return status;
}

nigh_status nigh_costs_measure(nigh_context *context, const nigh_progress *progress, nigh_costs *out,
                               nigh_error *error) {
    struct calibration calibration = {.context = context, .defaults = {.size = sizeof(nigh_costs)}, .error = error};
    nigh_costs_default(&calibration.defaults);
    nigh_costs costs = calibration.defaults;
    nigh__progress_init(&calibration.progress, progress);
    calibration.rows = nigh__alloc(context, MANY_ROWS, sizeof *calibration.rows);
    calibration.queries = nigh__alloc(context, QUERIES, sizeof *calibration.queries);
    calibration.weights = nigh__alloc(context, BATCH, WIDTH);
    nigh_status status = NIGH_ENOMEM;
    if (calibration.rows == NULL || calibration.queries == NULL || calibration.weights == NULL)
        (void)nigh__no_memory(error, "for measuring");
    else
        status = measure(&calibration, &costs);
    nigh__free(context, calibration.rows);
    nigh__free(context, calibration.queries);
    nigh__free(context, calibration.weights);
    if (status == NIGH_OK) nigh__info_copy(out, &costs, sizeof costs);
    return status;
}
