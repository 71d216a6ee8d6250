/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * How fast near-duplicates of 64-bit fingerprints are found, and how many of them.
 *
 * In one run, on one core: permuted tables and probabilistic matching with several
 * settings, each with its memory, its time to build and its recall, finding all and
 * finding any; FAISS IndexBinaryMultiHash over the same rows; the join of all rows with
 * themselves; and batches against a file of sorted chunks, both ways.  What is compared
 * takes turns.  With --series the same for several numbers of rows: neardup_series.c;
 * with --first what stopping at the first match saves: neardup_first.c; with --figures
 * some of the paper's: neardup_figures.c; with --grow what adding rows in between costs:
 * neardup_grow.c.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fingerprints.h"
#include "neardup_figures.h"
#include "neardup_first.h"
#include "neardup_grow.h"
#include "neardup_series.h"
#include "peer_process.h"

#define SETTINGS 10u

static const struct finder_setting settings[SETTINGS] = {
    {.name = "tables 4 choose 1", .method = NIGH_FINDER_TABLES, .blocks = 4, .leading = 1, .least_rate = 2.2e6},
    {.name = "tables 5 choose 2", .method = NIGH_FINDER_TABLES, .blocks = 5, .leading = 2},
    {.name = "tables 6 choose 3", .method = NIGH_FINDER_TABLES, .blocks = 6, .leading = 3},
    {.name = "psm k 8", .method = NIGH_FINDER_PSM, .probes = 8, .rotations = 1},
    {.name = "psm k 15", .method = NIGH_FINDER_PSM, .probes = 15, .rotations = 1, .least_rate = 1.2e6},
    {.name = "psm k 15 as (4.5)", .method = NIGH_FINDER_PSM, .probes = 15, .rotations = 1, .model = NIGH_WEAK_LINEAR},
    {.name = "psm k 23", .method = NIGH_FINDER_PSM, .probes = 23, .rotations = 1},
    {.name = "psm k 48", .method = NIGH_FINDER_PSM, .probes = 48, .rotations = 1, .least_rate = 0.5e6},
    {.name = "psm 2 tables, k 8", .method = NIGH_FINDER_PSM, .probes = 8, .rotations = 2, .least_rate = 0.87e6},
    {.name = "psm 3 tables, k 4", .method = NIGH_FINDER_PSM, .probes = 4, .rotations = 3},
};

struct bench {
    struct fingerprints prints; /* of radius three, which the settings are for */
    uint64_t batch;             /* fingerprints of a chunk */
    uint64_t peer_queries;
    uint64_t runs;
    uint64_t largest; /* of the series */
    bool series, first, figures, grow, grow_choices;
    bool processor_time;
    FILE *json;

    char folder[MEASURE_FOLDER];
    char rows_path[128], queries_path[128], chunks_path[128];
};

/* ------------------------------------------------------------------- the data -- */

static void write_file(const char *path, const uint8_t *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        measure_fail(path, "cannot be written");
}

static void make_data(struct bench *bench) {
    struct fingerprints *prints = &bench->prints;
    nigh_finder_info info;
    const double start = measure_now();
    fingerprints_make(prints);
    (void)printf("%" PRIu64 " fingerprints of %u bits, %zu queries, radius %u, seed %" PRIu64 "; made in %.1f s\n",
                 prints->rows, FINGERPRINT_BITS, prints->made, prints->radius, prints->seed, measure_now() - start);
    nigh_finder *finder = fingerprints_finder(prints, &settings[0], &info);
    fingerprints_thin(prints, finder);
    nigh_finder_free(finder);
    const struct fingerprint_matches truth = fingerprints_truth(prints, prints->queries);
    (void)printf("%" PRIu64 " distinct; of the queries %zu are kept, so that %" PRIu64
                 " (%.1f%%) have a match, %" PRIu64 " in all; a plain loop agrees on the first %u\n",
                 info.distinct, prints->queries, truth.matched, 100.0 * (double)truth.matched / (double)prints->queries,
                 truth.matches, FINGERPRINTS_CHECKED);
    if (bench->peer_queries > prints->queries) bench->peer_queries = prints->queries;
    write_file(bench->rows_path, prints->row_bytes, (size_t)prints->rows * FINGERPRINT_BYTES);
    write_file(bench->queries_path, prints->query_bytes, prints->queries * FINGERPRINT_BYTES);
}

static void note(const char *what, const char *unit, double value, double beside, const char *other, double quality) {
    measure_figure(&(struct measure_figure){.bench = "neardup",
                                            .what = what,
                                            .unit = unit,
                                            .value = value,
                                            .beside = beside,
                                            .other = other,
                                            .quality = quality,
                                            .less = strcmp(unit, "s") == 0});
}

/* ------------------------------------------------------------------- finders -- */

struct measured {
    nigh_finder_info info;
    struct series seconds[2]; /* all; any */
    double recall[2];
    double compared;
};

static struct measured measured[SETTINGS];

static void run_setting(const struct bench *bench, size_t index) {
    static const nigh_find_mode modes[2] = {NIGH_FIND_ALL, NIGH_FIND_ANY};
    const struct fingerprints *prints = &bench->prints;
    struct measured *row = &measured[index];
    nigh_finder *finder = fingerprints_finder(prints, &settings[index], &row->info);
    for (size_t run = 0; run < bench->runs; run++) {
        for (size_t mode = 0; mode < 2; mode++) {
            nigh_results *results = NULL;
            nigh_results_info info = {.size = sizeof info};
            const double seconds = fingerprints_find(prints, prints->queries, finder, modes[mode], &results);
            series_add(&row->seconds[mode], seconds);
            measure_json(bench->json, "neardup", settings[index].name, 1, prints->queries, run, seconds);
            row->recall[mode] = fingerprints_recall(prints, prints->queries, results, modes[mode]);
            nigh_results_describe(results, &info);
            if (mode == 0) row->compared = (double)info.distances / (double)prints->queries;
            nigh_results_free(results);
        }
    }
    nigh_finder_free(finder);
}

static void report_setting(const struct bench *bench, size_t index) {
    const struct measured *row = &measured[index];
    const double queries = (double)bench->prints.queries;
    const double rate = queries / series_median(&row->seconds[0]);
    (void)printf("%-18s %6.1f %8.2f %8.2f %9.0f %9.0f %7.4f %9.0f %7.4f", settings[index].name,
                 (double)row->info.bytes / (double)bench->prints.rows, row->info.build_seconds, row->compared,
                 queries / series_minimum(&row->seconds[0]), rate, row->recall[0],
                 queries / series_median(&row->seconds[1]), row->recall[1]);
    if (settings[index].least_rate > 0 && bench->prints.rows == 10000000)
        (void)printf("  %s", rate >= 0.8 * settings[index].least_rate ? "yes" : "NO");
    (void)printf("\n");
}

/* Finding any match, as one does who asks whether it is there. */
static void note_setting(const struct bench *bench, size_t index) {
    const double exact = (double)bench->prints.queries / series_minimum(&measured[0].seconds[1]);
    const double rate = (double)bench->prints.queries / series_minimum(&measured[index].seconds[1]);
    const bool is_first = index == 0;
    if (!is_first && settings[index].least_rate == 0) return;
    char what[64];
    (void)snprintf(what, sizeof what, "any match, %s", settings[index].name);
    note(what, "queries/s", rate, is_first ? 0 : exact, settings[0].name, measured[index].recall[1]);
}

static void run_settings(const struct bench *bench) {
    (void)printf("\n                    bytes    build compared ------- find all ---------- ---- find any ---  within "
                 "20%% of\n                      row  seconds  a query  q/s best    median  recall    median  recall"
                 "  the goal\n");
    for (size_t i = 0; i < SETTINGS; i++) {
        run_setting(bench, i);
        report_setting(bench, i);
        note_setting(bench, i);
        (void)fflush(stdout);
    }
}

/* ---------------------------------------------------------------------- peer -- */

static void run_peer(const struct bench *bench, const char *self) {
    char rows[32];
    char radius[32];
    char bytes[] = "8";
    char hashes[] = "4";
    char bits[] = "16";
    char name[] = "peer_multihash";
    char rows_path[128];
    char queries_path[128];
    struct peer peer;
    (void)snprintf(rows, sizeof rows, "%" PRIu64, bench->prints.rows);
    (void)snprintf(radius, sizeof radius, "%u", bench->prints.radius);
    memcpy(rows_path, bench->rows_path, sizeof rows_path);
    memcpy(queries_path, bench->queries_path, sizeof queries_path);
    char *arguments[] = {name, rows_path, rows, bytes, queries_path, hashes, bits, radius, NULL};
    if (bench->peer_queries == 0 || !peer_start(&peer, self, name, arguments)) return;
    uint32_t *found = measure_allocate(bench->peer_queries, sizeof *found);
    struct series seconds = {.runs = 0};
    for (size_t run = 0; run < bench->runs; run++) {
        series_add(&seconds, peer_search(&peer, 1, bench->peer_queries, 1, found));
        measure_json(bench->json, "neardup", "faiss multihash", 1, bench->peer_queries, run, seconds.seconds[run]);
    }
    peer_stop(&peer);
    uint64_t all = 0;
    uint64_t truth = 0;
    for (size_t q = 0; q < bench->peer_queries; q++) {
        all += found[q];
        truth += bench->prints.truth[q];
    }
    free(found);
    const double rate = (double)bench->peer_queries / series_median(&seconds);
    const double ours = (double)bench->prints.queries / series_median(&measured[0].seconds[0]);
    (void)printf("FAISS MultiHash 4 x 16, %" PRIu64
                 " queries: %.0f/s, recall %.4f; the exact tables are %.0f times as fast  %s\n",
                 bench->peer_queries, rate, truth == 0 ? 1.0 : (double)all / (double)truth, ours / rate,
                 ours / rate >= 100 ? "yes" : "NO (100 expected)");
    note("all matches, tables 4 choose 1", "queries/s",
         (double)bench->prints.queries / series_minimum(&measured[0].seconds[0]),
         (double)bench->peer_queries / series_minimum(&seconds), "FAISS MultiHash", measured[0].recall[0]);
}

/* ---------------------------------------------------------------------- join -- */

static int count_pair(void *user, const nigh_pair *pair) {
    (void)pair;
    ++*(uint64_t *)user;
    return 0;
}

static void run_join(const struct bench *bench) {
    double one = 0; /* thread's seconds */
    (void)printf("\njoin of all rows with themselves\n");
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct series seconds = {.runs = 0};
        nigh_join_result result = {.size = sizeof result};
        for (size_t run = 0; run < bench->runs; run++) {
            nigh_error error;
            uint64_t pairs = 0;
            nigh_join_options options;
            nigh_join_options_init(&options);
            options.width_bits = FINGERPRINT_BITS;
            options.radius = bench->prints.radius;
            options.threads = threads;
            options.pair = count_pair;
            options.user = &pairs;
            options.temporary = bench->folder;
            const double start = measure_now();
            measure_must(nigh_join(bench->prints.context, bench->prints.row_bytes, bench->prints.rows, NULL, 0,
                                   &options, &result, &error),
                         &error, "joining");
            series_add(&seconds, measure_now() - start);
            measure_json(bench->json, "neardup", "join", threads, 0, run, seconds.seconds[run]);
        }
        (void)printf("%u thread%s: %.2f s (median %.2f), %" PRIu64 " pairs and %" PRIu64
                     " more of equal rows, %.2f G comparisons, %u tables\n",
                     threads, threads == 1 ? " " : "s", series_minimum(&seconds), series_median(&seconds), result.pairs,
                     result.copies_untold, (double)result.compared / 1e9, result.tables);
        note(threads == 1 ? "every pair, 1 thread" : "every pair, 2 threads", "s", series_minimum(&seconds), one,
             "1 thread", 0);
        one = series_minimum(&seconds);
    }
}

/* --------------------------------------------------------------------- batch -- */

struct batch_way {
    struct finder_setting setting;
    nigh_find_mode mode;
    struct series seconds;
    double recall;
};

static void run_batch_way(const struct bench *bench, nigh_chunks *chunks, struct batch_way *way, size_t run) {
    const struct fingerprints *prints = &bench->prints;
    nigh_results *results = NULL;
    series_add(&way->seconds, fingerprints_match(prints, prints->queries, chunks, &way->setting, way->mode, &results));
    measure_json(bench->json, "neardup", way->setting.name, 1, prints->queries, run, way->seconds.seconds[run]);
    way->recall = fingerprints_recall(prints, prints->queries, results, way->mode);
    nigh_results_free(results);
}

static void run_batch(const struct bench *bench) {
    const struct fingerprints *prints = &bench->prints;
    struct batch_way ways[] = {
        {.setting = {.name = "tables F->Q", .method = NIGH_FINDER_TABLES}, .mode = NIGH_FIND_ALL},
        {.setting = {.name = "psm Q->F all, k 23", .method = NIGH_FINDER_PSM, .probes = 23}, .mode = NIGH_FIND_ALL},
        {.setting = {.name = "psm Q->F any, k 23", .method = NIGH_FINDER_PSM, .probes = 23}, .mode = NIGH_FIND_ANY},
    };
    nigh_chunks *chunks = fingerprints_chunks(prints, bench->chunks_path, (size_t)bench->batch);
    for (size_t run = 0; run < bench->runs; run++)
        for (size_t i = 0; i < 3; i++) run_batch_way(bench, chunks, &ways[i], run);
    (void)printf("\na batch of %zu against a file of chunks of %" PRIu64 "\n", prints->queries, bench->batch);
    for (size_t i = 0; i < 3; i++) {
        const double median = series_median(&ways[i].seconds);
        (void)printf("%-20s %7.2f s (median %.2f), %.0f queries/s, recall %.4f, %.1f times the tables\n",
                     ways[i].setting.name, series_minimum(&ways[i].seconds), median, (double)prints->queries / median,
                     ways[i].recall, series_median(&ways[0].seconds) / median);
        note(ways[i].setting.name, "queries/s", (double)prints->queries / series_minimum(&ways[i].seconds),
             i == 0 ? 0 : (double)prints->queries / series_minimum(&ways[0].seconds), ways[0].setting.name,
             ways[i].recall);
    }
    nigh_chunks_close(chunks);
}

/* ------------------------------------------------------------------- options -- */

static const char usage[] =
    "usage: bench_neardup [--rows N] [--queries N] [--batch N] [--seed N] [--runs N]\n"
    "                     [--peer-queries N] [--json FILE] [--quick] [--cpu]\n"
    "       bench_neardup --series [--largest N] [--queries N] [--batch N] [--seed N] [--runs N]\n"
    "       bench_neardup --figures [--rows N] [--queries N] [--seed N] [--runs N] [--cpu]\n"
    "       bench_neardup --first [--rows N] [--queries N] [--seed N] [--runs N] [--cpu]\n"
    "       bench_neardup --grow | --grow-choices [--rows N] [--seed N] [--cpu]\n"
    "  --rows N          fingerprints to search (default 10000000; 60000000 needs 12 GB), or to add (default 1000000)\n"
    "  --queries N       default 100000\n"
    "  --batch N         fingerprints of a chunk (default 1000000); of the series, of a batch too\n"
    "  --peer-queries N  for FAISS, which is slow (default 2000; 0: leave it out)\n"
    "  --runs N          of each measurement (default 5, at most 1000)\n"
    "  --json FILE       append every run as a line of JSON\n"
    "  --quick           300000 rows and 2 runs: to see that it works\n"
    "  --cpu             processor time: where others use the machine too\n"
    "  --series          PSM against 4 and 10 tables for 1, 2, 5, 10, ... million rows, then batches by their\n"
    "                    size and that of the file; about three minutes\n"
    "  --figures         figures 5(b), 7(a), 7(b) and Table II of the PSM paper\n"
    "  --first           finding any one match against finding all, where 1, 12 and 90% of the queries have one\n"
    "  --grow            adding and asking in turn: a finder that grows against one that is made anew\n"
    "  --grow-choices    the same by what could be chosen of it\n"
    "  --largest N       number of rows of the series (default 20000000; 60000000 takes a quarter of an hour)\n";

static void parse(struct bench *bench, int count, char **arguments) {
    uint64_t queries = bench->prints.queries;
    const struct measure_option options[] = {
        {.name = "rows", .number = &bench->prints.rows, .least = 1000, .most = 1000000000, .quick = 300000},
        {.name = "queries", .number = &queries, .least = 1, .most = 100000000},
        {.name = "batch", .number = &bench->batch, .least = 1, .most = 1000000000, .quick = 100000},
        {.name = "seed", .number = &bench->prints.seed, .most = UINT64_MAX},
        {.name = "runs", .number = &bench->runs, .least = 1, .most = MEASURE_MAX_RUNS, .quick = 2},
        {.name = "peer-queries", .number = &bench->peer_queries, .most = 1000000},
        {.name = "json", .file = &bench->json},
        {.name = "cpu", .flag = &bench->processor_time},
        {.name = "series", .flag = &bench->series},
        {.name = "first", .flag = &bench->first},
        {.name = "figures", .flag = &bench->figures},
        {.name = "grow", .flag = &bench->grow},
        {.name = "grow-choices", .flag = &bench->grow_choices},
        {.name = "largest", .number = &bench->largest, .least = 1000, .most = 1000000000, .quick = 2000000},
        {.name = NULL},
    };
    if (measure_parse(options, usage, count, arguments) != count) measure_usage(usage, 2);
    bench->prints.queries = (size_t)queries;
    if (bench->prints.rows == 0) bench->prints.rows = bench->grow || bench->grow_choices ? 1000000 : 10000000;
}

static void run_one_size(struct bench *bench, const char *self) {
    make_data(bench);
    run_settings(bench);
    run_peer(bench, self);
    run_join(bench);
    run_batch(bench);
    fingerprints_free(&bench->prints);
}

/* All queries that are made, of which 16 of a hundred have a match; the usual ones for the figures. */
static void run_part(struct bench *bench) {
    struct fingerprints *prints = &bench->prints;
    nigh_finder_info info;
    fingerprints_make(prints);
    if (bench->first) prints->queries = prints->made;
    nigh_finder *finder = fingerprints_finder(prints, &settings[0], &info);
    if (bench->first)
        fingerprints_know(prints, finder);
    else
        fingerprints_thin(prints, finder);
    nigh_finder_free(finder);
    (void)printf("%" PRIu64 " fingerprints of %u bits, radius %u, seed %" PRIu64 "\n", prints->rows, FINGERPRINT_BITS,
                 prints->radius, prints->seed);
    if (bench->first)
        neardup_first(prints, bench->chunks_path, bench->runs, bench->json);
    else
        neardup_figures(prints, bench->runs);
    fingerprints_free(prints);
}

/* A query for each row, whether it has a match or not. */
static void run_grow(struct bench *bench) {
    struct fingerprints *prints = &bench->prints;
    prints->queries = (size_t)prints->rows;
    fingerprints_make(prints);
    if (bench->grow) neardup_grow(prints, bench->json);
    if (bench->grow_choices) neardup_grow_choices(prints, bench->json);
    fingerprints_free(prints);
}

static void run_series(const struct bench *bench) {
    const struct neardup_series series = {.context = bench->prints.context,
                                          .largest = bench->largest,
                                          .queries = bench->prints.queries,
                                          .batch = (size_t)bench->batch,
                                          .radius = bench->prints.radius,
                                          .seed = bench->prints.seed,
                                          .runs = bench->runs,
                                          .chunks_path = bench->chunks_path,
                                          .json = bench->json};
    neardup_series(&series);
}

int main(int count, char **arguments) {
    static struct bench bench = {.prints = {.queries = 100000, .radius = 3, .seed = 1},
                                 .batch = 1000000,
                                 .peer_queries = 2000,
                                 .runs = 5,
                                 .largest = 20000000};
    parse(&bench, count, arguments);
    if (bench.processor_time) measure_processor_time();
    measure_folder_make(bench.folder);
    (void)snprintf(bench.rows_path, sizeof bench.rows_path, "%s/rows", bench.folder);
    (void)snprintf(bench.queries_path, sizeof bench.queries_path, "%s/queries", bench.folder);
    (void)snprintf(bench.chunks_path, sizeof bench.chunks_path, "%s/rows.chunks", bench.folder);
    nigh_error error;
    measure_must(nigh_context_new(NULL, &bench.prints.context, &error), &error, "starting");
    measure_print_host(stdout, nigh_context_kernel(bench.prints.context));
    if (bench.series)
        run_series(&bench);
    else if (bench.first || bench.figures)
        run_part(&bench);
    else if (bench.grow || bench.grow_choices)
        run_grow(&bench);
    else
        run_one_size(&bench, arguments[0]);
    nigh_context_free(bench.prints.context);
    measure_folder_remove(bench.folder);
    if (bench.json != NULL) (void)fclose(bench.json);
    return 0;
}
