/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * How fast near-duplicates of 64-bit fingerprints are found, and how many of them.
 *
 * Rows and queries come from the generator.  Of these queries 16% have a match, often
 * dozens; most of them are left out, so that 4% have one, and finding is measured rather
 * than writing out crowds.  In one run, on one core: permuted tables and probabilistic matching with
 * several settings, each with its memory, its time to build and its recall, finding
 * all and finding any; FAISS IndexBinaryMultiHash over the same rows; the join of all
 * rows with themselves; and batches against a file of sorted chunks, both ways.  What
 * is compared takes turns.  The truth is the tables', which is itself held against a
 * plain loop for some of the queries.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/threads.h"
#include "measure.h"
#include "nigh.h"
#include "peer_process.h"

#define BYTES 8u
#define BITS 64u
#define CHECKED 100u /* queries of which the truth is checked by a plain loop */
#define SETTINGS 10u
#define ONE_MATCHED_IN 25u /* queries */

struct setting {
    const char *name;
    nigh_finder_method method;
    uint32_t blocks, leading;
    uint32_t probes, rotations;
    nigh_weak_model model;
    double least_rate; /* queries a second that are expected at 10 million rows; 0: none */
};

static const struct setting settings[SETTINGS] = {
    {"tables 4 choose 1", NIGH_FINDER_TABLES, 4, 1, 0, 0, NIGH_WEAK_GAUSSIAN, 2.2e6},
    {"tables 5 choose 2", NIGH_FINDER_TABLES, 5, 2, 0, 0, NIGH_WEAK_GAUSSIAN, 0},
    {"tables 6 choose 3", NIGH_FINDER_TABLES, 6, 3, 0, 0, NIGH_WEAK_GAUSSIAN, 0},
    {"psm k 8", NIGH_FINDER_PSM, 0, 0, 8, 1, NIGH_WEAK_GAUSSIAN, 0},
    {"psm k 15", NIGH_FINDER_PSM, 0, 0, 15, 1, NIGH_WEAK_GAUSSIAN, 1.2e6},
    {"psm k 15 as (4.5)", NIGH_FINDER_PSM, 0, 0, 15, 1, NIGH_WEAK_LINEAR, 0},
    {"psm k 23", NIGH_FINDER_PSM, 0, 0, 23, 1, NIGH_WEAK_GAUSSIAN, 0},
    {"psm k 48", NIGH_FINDER_PSM, 0, 0, 48, 1, NIGH_WEAK_GAUSSIAN, 0.5e6},
    {"psm 2 tables, k 8", NIGH_FINDER_PSM, 0, 0, 8, 2, NIGH_WEAK_GAUSSIAN, 0.87e6},
    {"psm 3 tables, k 4", NIGH_FINDER_PSM, 0, 0, 4, 3, NIGH_WEAK_GAUSSIAN, 0},
};

struct bench {
    uint64_t rows;
    size_t queries;
    size_t batch; /* fingerprints of a chunk, and of a batch */
    size_t peer_queries;
    uint32_t radius; /* three, which the settings are for */
    uint64_t seed;
    size_t runs;
    FILE *json;

    char folder[64];
    char rows_path[128], queries_path[128], chunks_path[128];
    nigh_context *context;
    uint8_t *row_bytes;
    uint8_t *query_bytes;
    uint8_t *weights;
    size_t made;     /* queries, before most of those with a match are left out */
    uint32_t *truth; /* matches of each query */
    uint64_t matches, matched;
};

/* ------------------------------------------------------------------- the data -- */

struct making {
    const struct bench *bench;
    nigh_generator_options options;
    uint32_t threads;
};

static void make_share(void *user, uint32_t thread) {
    const struct making *making = user;
    const struct bench *bench = making->bench;
    nigh_error error;
    for (uint64_t i = thread; i < bench->rows; i += making->threads)
        measure_must(nigh_generate(&making->options, i, bench->row_bytes + i * BYTES, &error), &error, "generating");
    for (uint64_t q = thread; q < bench->made; q += making->threads)
        measure_must(nigh_generate_weighted(&making->options, bench->rows + q, bench->query_bytes + q * BYTES,
                                            bench->weights + q * BITS, &error),
                     &error, "generating");
}

static void write_file(const char *path, const uint8_t *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, length, file) != length || fclose(file) != 0)
        measure_fail(path, "cannot be written");
}

static void make_data(struct bench *bench) {
    struct making making = {.bench = bench, .options = NIGH_GENERATOR_OPTIONS_INIT, .threads = 2};
    making.options.count = bench->rows;
    making.options.seed = bench->seed;
    making.options.width_bits = BITS;
    making.options.weak_flips = 1;
    bench->row_bytes = measure_allocate(bench->rows, BYTES);
    bench->made = bench->queries + bench->queries / 4;
    bench->query_bytes = measure_allocate(bench->made, BYTES);
    bench->weights = measure_allocate(bench->made, BITS);
    bench->truth = measure_allocate(bench->made, sizeof *bench->truth);
    const double start = measure_now();
    nigh__threads_run(making.threads, make_share, &making);
    write_file(bench->rows_path, bench->row_bytes, (size_t)bench->rows * BYTES);
    (void)printf("%" PRIu64 " fingerprints of %u bits, %zu queries, radius %u, seed %" PRIu64 "; made in %.1f s\n",
                 bench->rows, BITS, bench->made, bench->radius, bench->seed, measure_now() - start);
}

/* ------------------------------------------------------------------- finders -- */

static nigh_finder *make_finder(const struct bench *bench, const struct setting *setting, nigh_finder_info *info) {
    nigh_error error;
    nigh_finder *finder = NULL;
    nigh_finder_options options = NIGH_FINDER_OPTIONS_INIT;
    options.method = setting->method;
    options.width_bits = BITS;
    options.radius = bench->radius;
    options.blocks = setting->blocks;
    options.leading = setting->leading;
    options.probes = setting->probes;
    options.rotations = setting->rotations;
    options.model = setting->model;
    options.without_numbers = setting->method == NIGH_FINDER_PSM && setting->rotations == 1;
    options.recall = setting->method == NIGH_FINDER_PSM ? 0.5 : 1;
    options.threads = 1;
    measure_must(nigh_finder_new(bench->context, bench->row_bytes, bench->rows, &options, &finder, &error), &error,
                 "building");
    nigh_finder_describe(finder, info);
    return finder;
}

static double find_some(const struct bench *bench, size_t count, const nigh_finder *finder, nigh_find_mode mode,
                        nigh_results **out) {
    nigh_error error;
    nigh_find_options options = NIGH_FIND_OPTIONS_INIT;
    options.mode = mode;
    options.weights = bench->weights;
    options.threads = 1;
    const double start = measure_now();
    measure_must(nigh_finder_find(finder, bench->query_bytes, count, &options, out, &error), &error, "finding");
    return measure_now() - start;
}

static double find(const struct bench *bench, const nigh_finder *finder, nigh_find_mode mode, nigh_results **out) {
    return find_some(bench, bench->queries, finder, mode, out);
}

/* Of some queries all rows are compared. */
static void check_truth(const struct bench *bench) {
    for (size_t q = 0; q < CHECKED && q < bench->queries; q++) {
        uint64_t query;
        uint32_t found = 0;
        memcpy(&query, bench->query_bytes + q * BYTES, BYTES);
        for (uint64_t i = 0; i < bench->rows; i++) {
            uint64_t row;
            memcpy(&row, bench->row_bytes + i * BYTES, BYTES);
            found += (uint32_t)__builtin_popcountll(row ^ query) <= bench->radius;
        }
        if (found != bench->truth[q]) measure_fail("the tables", "do not find what a plain loop finds");
    }
}

/* Keeps a query with a match only while they are one in 25; the others all, until there are enough. */
static void thin_queries(struct bench *bench, const nigh_results *results) {
    size_t kept = 0;
    for (size_t q = 0; q < bench->made && kept < bench->queries; q++) {
        size_t count = 0;
        (void)nigh_results_matches(results, q, &count);
        if (count > 0 && bench->matched * ONE_MATCHED_IN > kept) continue;
        memmove(bench->query_bytes + kept * BYTES, bench->query_bytes + q * BYTES, BYTES);
        memmove(bench->weights + kept * BITS, bench->weights + q * BITS, BITS);
        bench->truth[kept++] = (uint32_t)count;
        bench->matches += count;
        bench->matched += count > 0;
    }
    bench->queries = kept;
    if (bench->peer_queries > kept) bench->peer_queries = kept;
}

static void find_truth(struct bench *bench) {
    nigh_finder_info info = NIGH_FINDER_INFO_INIT;
    nigh_results *results = NULL;
    nigh_finder *finder = make_finder(bench, &settings[0], &info);
    (void)find_some(bench, bench->made, finder, NIGH_FIND_ALL, &results);
    thin_queries(bench, results);
    nigh_results_free(results);
    nigh_finder_free(finder);
    check_truth(bench);
    write_file(bench->queries_path, bench->query_bytes, bench->queries * BYTES);
    (void)printf("%" PRIu64 " distinct; of the queries %zu are kept, so that %" PRIu64
                 " (%.1f%%) have a match, %" PRIu64 " in all; a plain loop agrees on the first %u\n",
                 info.distinct, bench->queries, bench->matched, 100.0 * (double)bench->matched / (double)bench->queries,
                 bench->matches, CHECKED);
}

/* What was found of what there is: matches, or queries with a match. */
static double recall_of(const struct bench *bench, const nigh_results *results, nigh_find_mode mode) {
    uint64_t found = 0;
    uint64_t matched = 0;
    for (size_t q = 0; q < bench->queries; q++) {
        size_t count = 0;
        (void)nigh_results_matches(results, q, &count);
        if (count > bench->truth[q]) measure_fail("a finder", "found what is not there");
        found += count;
        matched += count > 0;
    }
    if (mode == NIGH_FIND_ALL) return bench->matches == 0 ? 1 : (double)found / (double)bench->matches;
    return bench->matched == 0 ? 1 : (double)matched / (double)bench->matched;
}

struct measured {
    nigh_finder_info info;
    struct series seconds[2]; /* all; any */
    double recall[2];
    double compared;
};

static struct measured measured[SETTINGS];

static void run_setting(const struct bench *bench, size_t index) {
    static const nigh_find_mode modes[2] = {NIGH_FIND_ALL, NIGH_FIND_ANY};
    struct measured *row = &measured[index];
    row->info = (nigh_finder_info)NIGH_FINDER_INFO_INIT;
    nigh_finder *finder = make_finder(bench, &settings[index], &row->info);
    for (size_t run = 0; run < bench->runs; run++) {
        for (size_t mode = 0; mode < 2; mode++) {
            nigh_results *results = NULL;
            nigh_results_info info = NIGH_RESULTS_INFO_INIT;
            const double seconds = find(bench, finder, modes[mode], &results);
            series_add(&row->seconds[mode], seconds);
            measure_json(bench->json, "neardup", settings[index].name, 1, bench->queries, run, seconds);
            row->recall[mode] = recall_of(bench, results, modes[mode]);
            nigh_results_describe(results, &info);
            if (mode == 0) row->compared = (double)info.distances / (double)bench->queries;
            nigh_results_free(results);
        }
    }
    nigh_finder_free(finder);
}

static void report_setting(const struct bench *bench, size_t index) {
    const struct measured *row = &measured[index];
    const double queries = (double)bench->queries;
    const double rate = queries / series_median(&row->seconds[0]);
    (void)printf("%-18s %6.1f %8.2f %8.2f %9.0f %9.0f %7.4f %9.0f %7.4f", settings[index].name,
                 (double)row->info.bytes / (double)bench->rows, row->info.build_seconds, row->compared,
                 queries / series_minimum(&row->seconds[0]), rate, row->recall[0],
                 queries / series_median(&row->seconds[1]), row->recall[1]);
    if (settings[index].least_rate > 0 && bench->rows == 10000000)
        (void)printf("  %s", rate >= 0.8 * settings[index].least_rate ? "yes" : "NO");
    (void)printf("\n");
}

static void run_settings(const struct bench *bench) {
    (void)printf("\n                    bytes    build compared ------- find all ---------- ---- find any ---  within "
                 "20%% of\n                      row  seconds  a query  q/s best    median  recall    median  recall"
                 "  the goal\n");
    for (size_t i = 0; i < SETTINGS; i++) {
        run_setting(bench, i);
        report_setting(bench, i);
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
    (void)snprintf(rows, sizeof rows, "%" PRIu64, bench->rows);
    (void)snprintf(radius, sizeof radius, "%u", bench->radius);
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
        truth += bench->truth[q];
    }
    free(found);
    const double rate = (double)bench->peer_queries / series_median(&seconds);
    const double ours = (double)bench->queries / series_median(&measured[0].seconds[0]);
    (void)printf(
        "FAISS MultiHash 4 x 16, %zu queries: %.0f/s, recall %.4f; the exact tables are %.0f times as fast  %s\n",
        bench->peer_queries, rate, truth == 0 ? 1.0 : (double)all / (double)truth, ours / rate,
        ours / rate >= 100 ? "yes" : "NO (100 expected)");
}

/* ---------------------------------------------------------------------- join -- */

static int count_pair(void *user, const nigh_pair *pair) {
    (void)pair;
    ++*(uint64_t *)user;
    return 0;
}

static void run_join(const struct bench *bench) {
    (void)printf("\njoin of all rows with themselves\n");
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct series seconds = {.runs = 0};
        nigh_join_result result = NIGH_JOIN_RESULT_INIT;
        for (size_t run = 0; run < bench->runs; run++) {
            nigh_error error;
            uint64_t pairs = 0;
            nigh_join_options options = NIGH_JOIN_OPTIONS_INIT;
            options.width_bits = BITS;
            options.radius = bench->radius;
            options.threads = threads;
            options.pair = count_pair;
            options.user = &pairs;
            options.temporary = bench->folder;
            const double start = measure_now();
            measure_must(nigh_join(bench->context, bench->row_bytes, bench->rows, NULL, 0, &options, &result, &error),
                         &error, "joining");
            series_add(&seconds, measure_now() - start);
            measure_json(bench->json, "neardup", "join", threads, 0, run, seconds.seconds[run]);
        }
        (void)printf("%u thread%s: %.2f s (median %.2f), %" PRIu64 " pairs and %" PRIu64
                     " more of equal rows, %.2f G comparisons, %u tables\n",
                     threads, threads == 1 ? " " : "s", series_minimum(&seconds), series_median(&seconds), result.pairs,
                     result.copies_untold, (double)result.compared / 1e9, result.tables);
    }
}

/* --------------------------------------------------------------------- batch -- */

struct batch_way {
    const char *name;
    nigh_finder_method method;
    nigh_find_mode mode;
    struct series seconds;
    uint64_t matches, matched;
};

static nigh_chunks *make_chunks(const struct bench *bench) {
    nigh_error error;
    nigh_chunks *chunks = NULL;
    nigh_chunks_options options = NIGH_CHUNKS_OPTIONS_INIT;
    options.writable = 1;
    measure_must(nigh_chunks_open(bench->context, bench->chunks_path, &options, &chunks, &error), &error,
                 "opening chunks");
    for (uint64_t at = 0; at < bench->rows; at += bench->batch) {
        const size_t count = bench->rows - at < bench->batch ? (size_t)(bench->rows - at) : bench->batch;
        measure_must(nigh_chunks_append(chunks, bench->row_bytes + at * BYTES, count, NULL, &error), &error,
                     "appending");
    }
    return chunks;
}

static void run_batch_way(const struct bench *bench, nigh_chunks *chunks, struct batch_way *way, size_t run) {
    nigh_error error;
    nigh_results *results = NULL;
    nigh_results_info info = NIGH_RESULTS_INFO_INIT;
    nigh_batch_options options = NIGH_BATCH_OPTIONS_INIT;
    options.method = way->method;
    options.mode = way->mode;
    options.radius = bench->radius;
    options.weights = bench->weights;
    options.probes = way->method == NIGH_FINDER_PSM ? 23 : 0;
    options.threads = 1;
    const double start = measure_now();
    measure_must(nigh_chunks_match(chunks, bench->query_bytes, bench->queries, &options, &results, &error), &error,
                 "matching");
    series_add(&way->seconds, measure_now() - start);
    measure_json(bench->json, "neardup", way->name, 1, bench->queries, run, way->seconds.seconds[run]);
    nigh_results_describe(results, &info);
    way->matches = info.matches;
    way->matched = 0;
    for (size_t q = 0; q < bench->queries; q++) {
        size_t count = 0;
        (void)nigh_results_matches(results, q, &count);
        way->matched += count > 0;
    }
    nigh_results_free(results);
}

static void run_batch(const struct bench *bench) {
    struct batch_way ways[] = {
        {.name = "tables F->Q", .method = NIGH_FINDER_TABLES, .mode = NIGH_FIND_ALL},
        {.name = "psm Q->F all, k 23", .method = NIGH_FINDER_PSM, .mode = NIGH_FIND_ALL},
        {.name = "psm Q->F any, k 23", .method = NIGH_FINDER_PSM, .mode = NIGH_FIND_ANY},
    };
    nigh_chunks *chunks = make_chunks(bench);
    for (size_t run = 0; run < bench->runs; run++)
        for (size_t i = 0; i < 3; i++) run_batch_way(bench, chunks, &ways[i], run);
    (void)printf("\na batch of %zu against a file of chunks of %zu\n", bench->queries, bench->batch);
    for (size_t i = 0; i < 3; i++) {
        const bool any = ways[i].mode == NIGH_FIND_ANY;
        (void)printf("%-20s %7.2f s (median %.2f), %.0f queries/s, recall %.4f, %.1f times the tables\n", ways[i].name,
                     series_minimum(&ways[i].seconds), series_median(&ways[i].seconds),
                     (double)bench->queries / series_median(&ways[i].seconds),
                     any ? (double)ways[i].matched / (double)bench->matched
                         : (double)ways[i].matches / (double)bench->matches,
                     series_median(&ways[0].seconds) / series_median(&ways[i].seconds));
    }
    nigh_chunks_close(chunks);
}

/* ------------------------------------------------------------------- options -- */

static _Noreturn void usage(int status) {
    (void)fprintf(status == 0 ? stdout : stderr,
                  "usage: bench_neardup [--rows N] [--queries N] [--batch N] [--seed N] [--runs N]\n"
                  "                     [--peer-queries N] [--json FILE] [--quick]\n"
                  "  --rows N          fingerprints to search (default 10000000; 60000000 needs 12 GB)\n"
                  "  --queries N       default 100000\n"
                  "  --batch N         fingerprints of a chunk (default 1000000)\n"
                  "  --peer-queries N  for FAISS, which is slow (default 2000; 0: leave it out)\n"
                  "  --runs N          of each measurement (default 5, at most %u)\n"
                  "  --json FILE       append every run as a line of JSON\n"
                  "  --quick           300000 rows and 2 runs: to see that it works\n",
                  MEASURE_MAX_RUNS);
    exit(status);
}

static void parse(struct bench *bench, int count, char **arguments) {
    enum { ROWS = 1, QUERIES, BATCH, SEED, RUNS, PEER, JSON, QUICK, HELP };
    static const struct option options[] = {
        {"rows", required_argument, NULL, ROWS},   {"queries", required_argument, NULL, QUERIES},
        {"batch", required_argument, NULL, BATCH}, {"seed", required_argument, NULL, SEED},
        {"runs", required_argument, NULL, RUNS},   {"peer-queries", required_argument, NULL, PEER},
        {"json", required_argument, NULL, JSON},   {"quick", no_argument, NULL, QUICK},
        {"help", no_argument, NULL, HELP},         {NULL, 0, NULL, 0},
    };
    for (int which; (which = getopt_long(count, arguments, "", options, NULL)) != -1;) {
        switch (which) {
        case ROWS:
            bench->rows = measure_number(optarg, 1000, 1000000000);
            break;
        case QUERIES:
            bench->queries = (size_t)measure_number(optarg, 1, 100000000);
            break;
        case BATCH:
            bench->batch = (size_t)measure_number(optarg, 1, 1000000000);
            break;
        case SEED:
            bench->seed = measure_number(optarg, 0, UINT64_MAX);
            break;
        case RUNS:
            bench->runs = (size_t)measure_number(optarg, 1, MEASURE_MAX_RUNS);
            break;
        case PEER:
            bench->peer_queries = (size_t)measure_number(optarg, 0, 1000000);
            break;
        case JSON:
            bench->json = fopen(optarg, "a");
            if (bench->json == NULL) measure_fail(optarg, "cannot be written");
            break;
        case QUICK:
            bench->rows = 300000;
            bench->batch = 100000;
            bench->runs = 2;
            break;
        case HELP:
            usage(0);
        default:
            usage(2);
        }
    }
    if (optind != count) usage(2);
    if (bench->peer_queries > bench->queries) bench->peer_queries = bench->queries;
}

static void remove_data(struct bench *bench) {
    char command[160];
    nigh_context_free(bench->context);
    (void)snprintf(command, sizeof command, "rm -rf '%s'", bench->folder);
    if (system(command) != 0) (void)fprintf(stderr, "bench: '%s' could not be removed\n", bench->folder);
    free(bench->row_bytes);
    free(bench->query_bytes);
    free(bench->weights);
    free(bench->truth);
    if (bench->json != NULL) (void)fclose(bench->json);
}

int main(int count, char **arguments) {
    static struct bench bench = {
        .rows = 10000000, .queries = 100000, .batch = 1000000, .peer_queries = 2000, .radius = 3, .seed = 1, .runs = 5};
    parse(&bench, count, arguments);
    const char *scratch = getenv("TMPDIR");
    (void)snprintf(bench.folder, sizeof bench.folder, "%.40s/nigh-bench-XXXXXX", scratch == NULL ? "/tmp" : scratch);
    if (mkdtemp(bench.folder) == NULL) measure_fail(bench.folder, "cannot be made");
    (void)snprintf(bench.rows_path, sizeof bench.rows_path, "%s/rows", bench.folder);
    (void)snprintf(bench.queries_path, sizeof bench.queries_path, "%s/queries", bench.folder);
    (void)snprintf(bench.chunks_path, sizeof bench.chunks_path, "%s/rows.chunks", bench.folder);
    nigh_error error;
    measure_must(nigh_context_new(NULL, &bench.context, &error), &error, "starting");
    measure_print_host(stdout, nigh_context_kernel(bench.context));
    make_data(&bench);
    find_truth(&bench);
    run_settings(&bench);
    run_peer(&bench, arguments[0]);
    run_join(&bench);
    run_batch(&bench);
    remove_data(&bench);
    return 0;
}
