/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scaling and building.  The time of a whole build has the writing of the file in it,
 * and waiting until it is safe on the disk; making alone, without keeping, is told beside it.
 */
#include "slices_series.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/progress.h"
#include "collection/collection.h"
#include "slices/slices.h"
#include "slices_grid.h"

#define MIN_DOCUMENTS (UINT64_C(1) << 18)

/* -------------------------------------------------------------------- scaling -- */

struct size_measured {
    uint64_t rows;
    double seconds; /* a query */
};

static struct size_measured measure_size(const struct slices_series *series, uint64_t documents) {
    struct nearest_set set;
    uint64_t bytes = 0;
    nigh_search_options options;
    nigh_search_options_init(&options);
    const struct nearest_wanted wanted = {.documents = documents, .queries = series->queries, .seed = series->seed};
    nearest_set_generate(&set, series->context, &wanted);
    nearest_set_place(&set, series->folder, false);
    const uint32_t width = nigh_slices_default_width(set.count, set.bits);
    const double build_seconds = nearest_set_lists(&set, width, 1, &bytes);
    nigh_collection *collection = nearest_set_open(&set, false);
    struct slices_table table = {.set = &set, .json = series->json};
    struct slices_row *row = slices_table_add(&table, "usual");
    (void)snprintf(row->setting, sizeof row->setting, "w %u", width);
    row->build_seconds = build_seconds;
    row->bytes = set.bits / 8.0 + (double)bytes / (double)set.count;
    options.method = NIGH_SEARCH_SLICES;
    slices_grid_warm_up(&set, collection);
    const bool by_lists = slices_grid_search(&set, collection, &options, 0, series->runs, row);
    slices_table_json(&table, row);
    const struct size_measured measured = {set.count, series_median(&row->seconds) / (double)set.query_count};
    (void)printf("%9" PRIu64 " %9" PRIu64 " %5u %9.1f %9.0f  %.4f  %.4f %9.0f %9.1f %8.2f%s\n", documents, set.count,
                 width, measured.seconds * 1e6, 1 / measured.seconds, row->quality.cdr, row->quality.recall,
                 row->postings, row->bytes, build_seconds, by_lists ? "" : "  by the scan");
    (void)fflush(stdout);
    nigh_collection_close(collection);
    slices_table_free(&table);
    nearest_set_free(&set);
    return measured;
}

void slices_series_scaling(const struct slices_series *series) {
    struct size_measured first = {0};
    struct size_measured last = {0};
    (void)printf("\ndocuments      rows width  us/query queries/s  CDR@10  recall  postings     bytes  build s\n");
    for (uint64_t documents = MIN_DOCUMENTS; documents <= series->most; documents *= 2) {
        last = measure_size(series, documents);
        if (first.rows == 0) first = last;
    }
    if (first.rows == 0 || first.rows == last.rows) return;
    const double grown = (double)last.rows / (double)first.rows;
    (void)printf("%.1f times the rows take %.2f times as long (expected: less than 4 for 64 times)\n", grown,
                 last.seconds / first.seconds);
    measure_figure(&(struct measure_figure){.bench = "slices",
                                            .what = "the most rows, times the time of the fewest",
                                            .unit = "times",
                                            .value = last.seconds / first.seconds,
                                            .beside = grown,
                                            .other = "times the rows",
                                            .less = true});
}

/* -------------------------------------------------------------------- building -- */

struct built {
    struct series making, whole; /* by the clock on the wall */
    double making_processor, whole_processor;
};

static nigh_status drop(void *user, const uint32_t *numbers, size_t count, nigh_error *error) {
    (void)numbers;
    (void)error;
    *(uint64_t *)user += count;
    return NIGH_OK;
}

/* Makes the lists and keeps none of them. */
static void make_only(const struct slices_series *series, const struct nigh__segment *segment, uint32_t width,
                      uint32_t threads) {
    nigh_error error;
    uint64_t made = 0;
    struct nigh__progress progress;
    const struct nigh__slices_sink sink = {.user = &made, .add = drop};
    nigh__progress_init(&progress, NULL);
    struct nigh__slices_job job = {.context = series->context,
                                   .rows = segment->rows,
                                   .count = segment->signatures,
                                   .threads = threads,
                                   .progress = &progress,
                                   .map = segment->map,
                                   .map_length = segment->length};
    if (!nigh__slicing_make(segment->width_bits, width, &job.slicing)) measure_fail("slices", "no such width");
    measure_must(nigh__slices_make(&job, &sink, &error), &error, "making lists");
    if (made != nigh__slicing_numbers(&job.slicing, job.count)) measure_fail("lists", "some are missing");
}

static void build_once(const struct slices_series *series, const struct nearest_set *set, uint32_t width,
                       uint32_t threads, struct built *built) {
    uint64_t bytes = 0;
    nigh_collection *collection = nearest_set_open(set, false);
    double start = measure_now();
    double processor = nigh__process_clock();
    make_only(series, collection->segments[0], width, threads);
    built->making_processor = nigh__process_clock() - processor;
    series_add(&built->making, measure_now() - start);
    nigh_collection_close(collection);
    processor = nigh__process_clock();
    start = measure_now();
    (void)nearest_set_lists(set, width, threads, &bytes);
    series_add(&built->whole, measure_now() - start);
    built->whole_processor = nigh__process_clock() - processor;
}

static void tell_opening(const struct slices_series *series, const struct nearest_set *set) {
    struct series opening = {.runs = 0};
    struct series asking = {.runs = 0};
    nigh_error error;
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_SLICES;
    options.threads = 1;
    for (size_t run = 0; run < series->runs; run++) {
        nigh_results *results = NULL;
        double start = measure_now();
        nigh_collection *collection = nearest_set_open(set, false);
        series_add(&opening, measure_now() - start);
        start = measure_now();
        measure_must(nigh_search(collection, set->queries, 1, &options, &results, &error), &error, "searching");
        series_add(&asking, measure_now() - start);
        nigh_results_free(results);
        nigh_collection_close(collection);
    }
    measure_json(series->json, "slices", "open", 1, 0, 0, series_median(&opening));
    (void)printf("opening it: %.2f ms (expected: under 50), and the first query after that %.2f ms\n",
                 series_median(&opening) * 1e3, series_median(&asking) * 1e3);
}

static void note_build(const struct nearest_set *set, uint32_t width, const struct built *built) {
    char what[64];
    (void)snprintf(what, sizeof what, "making lists of width %u, 2 threads", width);
    measure_figure(&(struct measure_figure){.bench = "slices",
                                            .what = what,
                                            .unit = "rows/s",
                                            .value = (double)set->count / series_minimum(&built[2].making),
                                            .beside = (double)set->count / series_minimum(&built[1].making),
                                            .other = "1 thread"});
}

void slices_series_build(const struct slices_series *series) {
    static const uint32_t widths[] = {16, 20};
    struct nearest_set set;
    const struct nearest_wanted wanted = {.documents = series->documents, .queries = 1, .seed = series->seed};
    nearest_set_generate(&set, series->context, &wanted);
    nearest_set_place(&set, series->folder, false);
    (void)printf("\n%" PRIu64 " rows; seconds by the clock on the wall (of the processor, last run)\n", set.count);
    (void)printf("width threads  making: best, median (cpu)   whole, safe on disk\n");
    for (size_t w = 0; w < 2; w++) {
        struct built built[3];
        memset(built, 0, sizeof built);
        for (size_t run = 0; run < series->runs; run++) {
            for (uint32_t threads = 1; threads <= 2; threads++) {
                build_once(series, &set, widths[w], threads, &built[threads]);
                measure_json(series->json, "slices", widths[w] == 16 ? "build 16" : "build 20", threads, 0, run,
                             built[threads].whole.seconds[run]);
            }
        }
        for (uint32_t threads = 1; threads <= 2; threads++)
            (void)printf("%5u %7u %8.2f %5.2f (%.2f) %11.2f %5.2f (%.2f)\n", widths[w], threads,
                         series_minimum(&built[threads].making), series_median(&built[threads].making),
                         built[threads].making_processor, series_minimum(&built[threads].whole),
                         series_median(&built[threads].whole), built[threads].whole_processor);
        (void)printf("      two threads are %.2f times as fast at making, %.2f in all (expected: 1.7)\n",
                     series_minimum(&built[1].making) / series_minimum(&built[2].making),
                     series_minimum(&built[1].whole) / series_minimum(&built[2].whole));
        note_build(&set, widths[w], built);
    }
    tell_opening(series, &set);
    nearest_set_free(&set);
}
