/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runs.  One after the other each contender goes through all of its settings, then
 * all do so again: what disturbs the machine for a while does not hit only one of them.
 */
#include "topk_measure.h"

#include <stdlib.h>
#include <string.h>

#include "topk_methods.h"

#define EXACT_QUERIES 64u /* of a half: who compares all rows is as fast and as good with any */

/* Beyond these a ladder is not climbed: more than any target, and half as fast as comparing all. */
#define ENOUGH_RECALL 0.995
#define ENOUGH_CDR 0.999
#define MIN_SHARE_OF_SCAN 0.5

static struct nearest_span span_of(const struct topk_table *table, const struct topk_contender *contender,
                                   size_t half) {
    const size_t middle = table->set->query_count / 2;
    struct nearest_span span = {.first = half == 0 ? 0 : middle,
                                .count = half == 0 ? middle : table->set->query_count - middle,
                                .at_once = contender->at_once};
    if (contender->exact && span.count > EXACT_QUERIES) span.count = EXACT_QUERIES;
    return span;
}

/* By lists, also where these cost more than the scan, which has a row of its own. */
static void search_ours(const struct topk_table *table, const struct topk_contender *contender, struct topk_row *row,
                        struct nearest_span span, uint32_t *distances, struct nearest_pass *pass) {
    nigh_error error;
    for (int again = 0; again < 2; again++) {
        measure_must(nearest_search(table->set, contender->collection, &row->options, span, distances, pass, &error),
                     &error, row->setting);
        if (pass->scanned == 0) return;
        row->options.postings = NIGH_ALL_64;
    }
}

static void run_half(struct topk_table *table, struct topk_row *row, size_t which, bool counts, uint32_t *distances) {
    struct topk_contender *contender = &table->contenders[row->contender];
    struct topk_half *half = &row->halves[which];
    const struct nearest_span span = span_of(table, contender, which);
    struct nearest_pass pass = {.compared = -1};
    if (contender->ours)
        search_ours(table, contender, row, span, distances, &pass);
    else
        pass.seconds = nearest_peer_search(&contender->process, row->effort, span, distances);
    if (!counts) return;
    series_add(&half->seconds, pass.seconds);
    half->queries = span.count;
    half->compared = pass.compared;
    half->quality = nearest_set_judge(table->set, span.first, span.count, distances);
}

/* ------------------------------------------------------------------- ladders -- */

static double scan_rate(const struct topk_table *table) {
    for (size_t i = 0; i < table->count; i++)
        if (table->rows[i].options.method == NIGH_SEARCH_SCAN) return topk_half_rate(&table->rows[i].halves[0]);
    return 0;
}

/* Who compared no more than one rung below has no more to see; directed, more lists serve to choose as many. */
static bool has_seen_all(const struct topk_table *table, size_t at) {
    const struct topk_row *row = &table->rows[at];
    if (!table->contenders[row->contender].ours || row->options.probe == NIGH_PROBE_DIRECTED || at == 0) return false;
    const struct topk_row *below = row - 1;
    return below->contender == row->contender && below->ladder == row->ladder &&
           row->halves[0].compared < 1.01 * below->halves[0].compared;
}

static bool is_last_rung(const struct topk_table *table, size_t at) {
    const struct topk_row *row = &table->rows[at];
    bool enough = true;
    for (size_t i = 0; i < TOPK_HALVES; i++) {
        const struct topk_half *half = &row->halves[i];
        enough = enough && half->quality.recall >= ENOUGH_RECALL && half->quality.cdr >= ENOUGH_CDR;
    }
    return enough || topk_half_rate(&row->halves[0]) < MIN_SHARE_OF_SCAN * scan_rate(table);
}

static void end_ladder(struct topk_table *table, size_t at) {
    const struct topk_row *last = &table->rows[at];
    for (size_t i = at + 1; i < table->count && table->rows[i].contender == last->contender; i++)
        if (table->rows[i].ladder == last->ladder) table->rows[i].ended = true;
}

/* ---------------------------------------------------------------------- runs -- */

static void run_contender(struct topk_table *table, size_t contender, size_t run, uint32_t *distances) {
    bool warm = run != 0;
    if (table->contenders[contender].lacking[0] != '\0') return;
    for (size_t i = 0; i < table->count; i++) {
        struct topk_row *row = &table->rows[i];
        if (row->contender != contender || row->ended) continue;
        if (!warm) run_half(table, row, TOPK_CHOOSING, false, distances); /* pages come into memory */
        warm = true;
        for (size_t half = 0; half < TOPK_HALVES; half++) run_half(table, row, half, true, distances);
        if (run == 0 && (is_last_rung(table, i) || has_seen_all(table, i))) end_ladder(table, i);
    }
}

void topk_measure(struct topk_table *table, size_t runs) {
    uint32_t *distances = measure_allocate(table->set->query_count, NEAREST_K * sizeof *distances);
    for (size_t run = 0; run < runs; run++) {
        (void)printf("run %zu of %zu ...\n", run + 1, runs);
        (void)fflush(stdout);
        for (size_t i = 0; i < table->contender_count; i++) run_contender(table, i, run, distances);
    }
    free(distances);
}

/* -------------------------------------------------------------------- threads -- */

#define THREADS_SECONDS 0.5 /* of a call, for threads to be worth starting */

/* Queries of the set, over and over. */
struct many {
    uint8_t *queries;
    size_t count;
};

static struct many repeat_queries(const struct nearest_set *set, double rate) {
    const size_t bytes = set->query_count * (set->bits / 8);
    const size_t times = 1 + (size_t)(THREADS_SECONDS * rate / (double)set->query_count);
    const struct many many = {measure_allocate(times, bytes), times * set->query_count};
    for (size_t i = 0; i < times; i++) memcpy(many.queries + i * bytes, set->queries, bytes);
    return many;
}

static double wall_seconds(const struct topk_table *table, const struct topk_row *row, const struct many *many,
                           uint32_t threads) {
    nigh_error error;
    nigh_results *results = NULL;
    nigh_search_options options = row->options;
    options.threads = threads;
    options.k = NEAREST_K;
    const double start = measure_wall();
    measure_must(nigh_search(table->contenders[row->contender].collection, many->queries, many->count, &options,
                             &results, &error),
                 &error, "searching");
    const double seconds = measure_wall() - start;
    nigh_results_free(results);
    return seconds;
}

void topk_measure_threads(const struct topk_table *table, size_t runs) {
    struct series one = {.runs = 0};
    struct series two = {.runs = 0};
    const struct topk_row *row = topk_table_choose(table, TOPK_GRAPH, TOPK_RECALL, 0.95);
    if (row == NULL) return;
    const struct many many = repeat_queries(table->set, topk_half_rate(&row->halves[TOPK_REPORTED]));
    for (size_t run = 0; run < runs; run++) {
        series_add(&one, wall_seconds(table, row, &many, 1));
        series_add(&two, wall_seconds(table, row, &many, 2));
    }
    (void)printf("\ngraph, %s, by the clock on the wall: %.0f queries/s with one thread, %.0f with two: %.2f times "
                 "(medians %.2f; expected: 1.8)\n",
                 row->setting, (double)many.count / series_minimum(&one), (double)many.count / series_minimum(&two),
                 series_minimum(&one) / series_minimum(&two), series_median(&one) / series_median(&two));
    measure_figure(&(struct measure_figure){.bench = "topk",
                                            .what = "graph, recall .95, 2 threads",
                                            .unit = "queries/s",
                                            .value = (double)many.count / series_minimum(&two),
                                            .beside = (double)many.count / series_minimum(&one),
                                            .other = "1 thread"});
    free(many.queries);
}
