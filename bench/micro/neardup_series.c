/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the paper's figures 7, 8(c), 8(d) and 10 show, on generated fingerprints:
 *
 *     7, 8   PSM that finds .95 of the queries that have a match, against 4 and 10
 *            tables, which find all: time of a query, and bytes, for a growing number
 *            of fingerprints in memory
 *     10(b)  a batch of queries against files of growing size
 *     10(a)  batches of growing size against one file
 *
 * Files are of chunks as large as the batch, as those of a crawler are; each batch is
 * run once, as it takes seconds.  PSM looks the queries up in the file (Q->F), for all
 * matches and for any one; tables are made of the queries, and the file is looked up in
 * them (F->Q), which cannot stop sooner.  Rows are made anew for each size: a part of a
 * larger set would have fewer near-copies.
 */
#include "neardup_series.h"

#include <inttypes.h>

#include "fingerprints.h"

#define RECALL 0.95
#define ONE_FILE 10000000u /* fingerprints of the file of 10(a), whose batches are parts of those of 10(b) */

static const struct finder_setting finders[] = {
    {.name = "4 tables", .method = NIGH_FINDER_TABLES, .blocks = 4, .leading = 1},
    {.name = "10 tables", .method = NIGH_FINDER_TABLES, .blocks = 5, .leading = 2},
    {.name = "PSM", .method = NIGH_FINDER_PSM, .rotations = 1, .recall = RECALL},
    {.name = "PSM, 2 tables", .method = NIGH_FINDER_PSM, .rotations = 2, .recall = RECALL},
};

#define FINDERS (sizeof finders / sizeof finders[0])

static const struct way {
    struct finder_setting setting;
    nigh_find_mode mode;
} ways[] = {
    {{.name = "tables F->Q", .method = NIGH_FINDER_TABLES}, NIGH_FIND_ALL},
    {{.name = "PSM Q->F all", .method = NIGH_FINDER_PSM, .recall = RECALL}, NIGH_FIND_ALL},
    {{.name = "PSM Q->F any", .method = NIGH_FINDER_PSM, .recall = RECALL}, NIGH_FIND_ANY},
};

#define WAYS (sizeof ways / sizeof ways[0])

/* Rows of the table of batches are kept until that of finders is printed: both come from the same data. */
struct batch_row {
    uint64_t rows;
    size_t batch;
    double seconds[WAYS];
    double recall[WAYS];
};

#define MAX_BATCH_ROWS 32u

struct run {
    const struct neardup_series *series;
    struct fingerprints prints;
    struct batch_row batches[MAX_BATCH_ROWS];
    size_t batch_count;
};

/* ------------------------------------------------------------------- finders -- */

static void run_mode(struct run *run, const nigh_finder *finder, const char *name, nigh_find_mode mode, double *rate,
                     double *recall) {
    const struct neardup_series *series = run->series;
    const struct fingerprints *prints = &run->prints;
    const size_t count = prints->queries < series->queries ? prints->queries : series->queries;
    struct series seconds = {.runs = 0};
    for (size_t i = 0; i < series->runs; i++) {
        nigh_results *results = NULL;
        series_add(&seconds, fingerprints_find(prints, count, finder, mode, &results));
        measure_json(series->json, "neardup series", name, 1, count, i, seconds.seconds[i]);
        *recall = fingerprints_recall(prints, count, results, mode);
        nigh_results_free(results);
    }
    *rate = (double)count / series_median(&seconds);
}

static void run_finder(struct run *run, const struct finder_setting *setting) {
    struct fingerprints *prints = &run->prints;
    nigh_finder_info info;
    double rate[2] = {0, 0};
    double recall[2] = {0, 0};
    char how[32] = "";
    nigh_finder *finder = fingerprints_finder(prints, setting, &info);
    if (setting == &finders[0]) fingerprints_thin(prints, finder);
    run_mode(run, finder, setting->name, NIGH_FIND_ALL, &rate[0], &recall[0]);
    run_mode(run, finder, setting->name, NIGH_FIND_ANY, &rate[1], &recall[1]);
    nigh_finder_free(finder);
    if (info.method == NIGH_FINDER_PSM) (void)snprintf(how, sizeof how, "%u:%u", info.prefix_bits, info.probes);
    (void)printf("%10.1f  %-14s %-7s %7.1f %8.2f %11.0f %7.3f %11.0f %7.3f\n", (double)prints->rows / 1e6,
                 setting->name, how, (double)info.bytes / (double)prints->rows, info.build_seconds, rate[0], recall[0],
                 rate[1], recall[1]);
    (void)fflush(stdout);
}

/* ------------------------------------------------------------------- batches -- */

static void run_batch(struct run *run, size_t batch) {
    const struct neardup_series *series = run->series;
    struct fingerprints *prints = &run->prints;
    if (run->batch_count == MAX_BATCH_ROWS) return;
    if (batch > prints->queries) batch = prints->queries;
    struct batch_row *row = &run->batches[run->batch_count++];
    *row = (struct batch_row){.rows = prints->rows, .batch = batch};
    nigh_chunks *chunks = fingerprints_chunks(prints, series->chunks_path, batch);
    for (size_t i = 0; i < WAYS; i++) {
        nigh_results *results = NULL;
        row->seconds[i] = fingerprints_match(prints, batch, chunks, &ways[i].setting, ways[i].mode, &results);
        measure_json(series->json, "neardup series", ways[i].setting.name, 1, batch, 0, row->seconds[i]);
        row->recall[i] = fingerprints_recall(prints, batch, results, ways[i].mode);
        nigh_results_free(results);
    }
    nigh_chunks_close(chunks);
}

static void report_batches(const struct run *run) {
    (void)printf("\nbatches against a file of chunks as large as they are (figure 10); seconds\n"
                 "  millions     batch  tables    -- PSM Q->F, all -------  -- PSM Q->F, any -------\n"
                 "   of file             F->Q      time  recall  speed-up    time  recall  speed-up\n");
    for (size_t i = 0; i < run->batch_count; i++) {
        const struct batch_row *row = &run->batches[i];
        (void)printf("%10.1f %9zu %7.2f", (double)row->rows / 1e6, row->batch, row->seconds[0]);
        for (size_t j = 1; j < WAYS; j++)
            (void)printf("   %7.2f %7.3f %9.1f", row->seconds[j], row->recall[j], row->seconds[0] / row->seconds[j]);
        (void)printf("\n");
    }
}

/* --------------------------------------------------------------------- sizes -- */

static void run_size(struct run *run, uint64_t rows) {
    static const size_t parts[3] = {30, 10, 3};
    const struct neardup_series *series = run->series;
    struct fingerprints *prints = &run->prints;
    const size_t batch = series->batch;
    *prints = (struct fingerprints){.context = series->context,
                                    .rows = rows,
                                    .seed = series->seed,
                                    .radius = series->radius,
                                    .queries = batch > series->queries ? batch : series->queries};
    fingerprints_make(prints);
    for (size_t i = 0; i < FINDERS; i++) run_finder(run, &finders[i]);
    if (rows == ONE_FILE)
        for (size_t i = 0; i < 3; i++) run_batch(run, batch / parts[i]);
    run_batch(run, batch);
    fingerprints_free(prints);
}

void neardup_series(const struct neardup_series *series) {
    static const uint64_t steps[3] = {1, 2, 5};
    static struct run run;
    run = (struct run){.series = series};
    const double start = measure_now();
    (void)printf(
        "radius %u, seed %" PRIu64 ", one thread; %zu queries of which 4%% have a match, medians of %" PRIu64
        " runs\n\n  millions  method         p:k       bytes    build ------ find all ------ ------ find any "
        "------\n   of rows                             row  seconds   queries/s  recall   queries/s  recall\n",
        series->radius, series->seed, series->queries, series->runs);
    uint64_t power = 1000000;
    for (size_t step = 0;; step = (step + 1) % 3) {
        const uint64_t rows = power * steps[step];
        if (rows >= series->largest) break;
        run_size(&run, rows);
        if (step == 2) power *= 10;
    }
    run_size(&run, series->largest);
    report_batches(&run);
    (void)printf("\n%.0f s\n", measure_now() - start);
}
