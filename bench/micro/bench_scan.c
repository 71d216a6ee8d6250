/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * How fast the exact search is, against what it could be and against FAISS.
 *
 * Makes a collection of distinct generated signatures and maps it.  Then, in
 * one run: plain reading of the mapped rows by one core; nigh_search() for 1, 8
 * and 64 queries; and FAISS IndexBinaryFlat over the same rows and queries, at
 * the same number of threads.  All of them take turns, so that whatever else
 * the machine does hits all alike.  Recall is checked against the portable
 * kernel.  Then a table of all kernels and widths.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/hash.h"
#include "collection/collection.h"
#include "kernel/hamming.h"
#include "kernel_table.h"
#include "measure.h"
#include "nigh.h"
#include "peer_process.h"
#include "plain_read.h"
#include "seen.h"

#define K 10u
#define QUERIES 64u
#define BATCHES 3u
#define THREADS 2u /* 1 and this many */

static const size_t batches[BATCHES] = {1, 8, QUERIES};

struct bench {
    uint64_t rows;
    uint32_t bits;
    uint64_t seed;
    size_t runs;
    bool no_kernels;
    FILE *json;

    char folder[MEASURE_FOLDER];
    char collection_path[128];
    char queries_path[128];
    nigh_context *context;
    nigh_collection *collection;
    const struct nigh__segment *segment;
    uint8_t *queries;
    uint32_t *truth; /* QUERIES * K distances */
    struct peer peer;

    struct series read[PLAIN_READS];
    struct series ours[THREADS + 1][BATCHES]; /* by threads */
    struct series peers[THREADS + 1][BATCHES];
    double recall_ours[BATCHES];
    double recall_peer[BATCHES];
};

/* ------------------------------------------------------------------- the data */

/* Adds the first `rows` distinct documents of the generator; returns how many numbers it took. */
static uint64_t add_rows(const struct bench *bench, nigh_writer *writer, const nigh_generator_options *options) {
    nigh_error error;
    uint8_t signature[NIGH_MAX_WIDTH_BITS / 8];
    struct seen seen = {.mask = 1};
    while (seen.mask < bench->rows * 2) seen.mask = seen.mask * 2;
    seen.slots = measure_allocate(seen.mask, sizeof *seen.slots);
    seen.mask--;
    uint64_t number = 0;
    for (uint64_t added = 0; added < bench->rows; number++) {
        measure_must(nigh_generate(options, number, signature, &error), &error, "generating");
        if (seen_before(&seen, nigh__hash(signature, bench->bits / 8))) continue;
        const nigh_document document = {.size = sizeof(nigh_document), .signature = signature};
        measure_must(nigh_writer_add(writer, &document, &error), &error, "writing");
        added++;
    }
    free(seen.slots);
    return number;
}

static void make_queries(struct bench *bench, const nigh_generator_options *options) {
    nigh_error error;
    const size_t bytes = bench->bits / 8;
    bench->queries = measure_allocate(QUERIES, bytes);
    for (uint64_t q = 0; q < QUERIES; q++)
        measure_must(nigh_generate(options, options->count + q, bench->queries + q * bytes, &error), &error,
                     "generating");
    FILE *file = fopen(bench->queries_path, "wb");
    if (file == NULL || fwrite(bench->queries, bytes, QUERIES, file) != QUERIES || fclose(file) != 0)
        measure_fail(bench->queries_path, "cannot be written");
}

static void make_data(struct bench *bench) {
    nigh_error error;
    nigh_generator_options options;
    nigh_generator_options_init(&options);
    options.count = bench->rows * 2; /* a part of them are copies and left out */
    options.seed = bench->seed;
    options.width_bits = bench->bits;
    nigh_writer_options writing;
    nigh_writer_options_init(&writing);
    writing.width_bits = bench->bits;
    nigh_writer *writer;
    double start = measure_now();
    measure_must(nigh_writer_open(bench->context, bench->collection_path, &writing, &writer, &error), &error,
                 "writing");
    uint64_t numbers = add_rows(bench, writer, &options);
    measure_must(nigh_writer_commit(writer, NULL, &error), &error, "writing");
    nigh_writer_close(writer);
    make_queries(bench, &options);
    measure_must(nigh_collection_open(bench->context, bench->collection_path, NULL, &bench->collection, &error), &error,
                 "opening");
    if (bench->collection == NULL) exit(2); /* measure_must() has said why */
    bench->segment = bench->collection->segments[0];
    (void)printf("%u x %u bits, seed %" PRIu64 ", k = %u, %zu runs; made of %" PRIu64 " documents in %.1f s\n",
                 bench->segment->signatures, bench->bits, bench->seed, K, bench->runs, numbers, measure_now() - start);
}

static void remove_data(struct bench *bench) {
    nigh_collection_close(bench->collection);
    nigh_context_free(bench->context);
    measure_folder_remove(bench->folder);
    free(bench->queries);
    free(bench->truth);
}

/* ------------------------------------------------------------------ the truth */

static size_t matrix_bytes(const struct bench *bench) {
    return (size_t)bench->segment->signatures * bench->segment->words * 8;
}

/* The K smallest distances of each query, by the portable kernel and nothing else. */
static void find_truth(struct bench *bench) {
    const struct nigh__segment *segment = bench->segment;
    const struct nigh__hamming *portable = nigh__hamming_choose("generic");
    uint64_t query[NIGH_MAX_WIDTH_BITS / 64];
    uint32_t *distances = measure_allocate(segment->signatures, sizeof *distances);
    uint32_t *counts = measure_allocate(bench->bits + 65, sizeof *counts);
    bench->truth = measure_allocate(QUERIES, K * sizeof *bench->truth);
    for (size_t q = 0; q < QUERIES; q++) {
        memset(query, 0, sizeof query);
        memset(counts, 0, (bench->bits + 65) * sizeof *counts);
        memcpy(query, bench->queries + q * (bench->bits / 8), bench->bits / 8);
        (void)portable->rows(query, segment->rows, segment->signatures, segment->words, distances);
        for (uint32_t row = 0; row < segment->signatures; row++) counts[distances[row]]++;
        size_t rank = 0;
        for (uint32_t distance = 0; rank < K && distance < bench->bits + 65; distance++) {
            for (uint32_t i = 0; i < counts[distance] && rank < K; i++) bench->truth[q * K + rank++] = distance;
        }
    }
    free(distances);
    free(counts);
}

/* A returned item counts if it is at most as far as the true k-th. */
static double recall(const struct bench *bench, const uint32_t *distances, size_t count) {
    size_t good = 0;
    for (size_t q = 0; q < count; q++) {
        for (size_t i = 0; i < K; i++) good += distances[q * K + i] <= bench->truth[q * K + K - 1];
    }
    return (double)good / (double)(count * K);
}

/* -------------------------------------------------------------------- the runs */

static void run_read(struct bench *bench, size_t run) {
    for (size_t way = 0; way < PLAIN_READS; way++) {
        double seconds = plain_read(way, bench->segment->rows, matrix_bytes(bench));
        series_add(&bench->read[way], seconds);
        measure_json(bench->json, "scan", plain_read_name(way), 1, 0, run, seconds);
    }
}

static void run_ours(struct bench *bench, uint32_t threads, size_t batch, size_t run) {
    nigh_error error;
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.k = K;
    options.threads = threads;
    nigh_results *results;
    const size_t count = batches[batch];
    double start = measure_now();
    measure_must(nigh_search(bench->collection, bench->queries, count, &options, &results, &error), &error,
                 "searching");
    double seconds = measure_now() - start;
    series_add(&bench->ours[threads][batch], seconds);
    measure_json(bench->json, "scan", "nigh", threads, count, run, seconds);
    uint32_t distances[QUERIES * K];
    for (size_t q = 0; q < count; q++) {
        size_t found = 0;
        const nigh_match *matches = nigh_results_matches(results, q, &found);
        for (size_t i = 0; i < K; i++) distances[q * K + i] = i < found ? matches[i].distance : UINT32_MAX;
    }
    bench->recall_ours[batch] = recall(bench, distances, count);
    nigh_results_free(results);
}

static void run_peer(struct bench *bench, uint32_t threads, size_t batch, size_t run) {
    uint32_t distances[QUERIES * K];
    const size_t count = batches[batch];
    if (bench->peer.process == 0) return;
    double seconds = peer_search(&bench->peer, threads, count, K, distances);
    series_add(&bench->peers[threads][batch], seconds);
    measure_json(bench->json, "scan", "faiss", threads, count, run, seconds);
    bench->recall_peer[batch] = recall(bench, distances, count);
    (void)usleep(5000); /* its threads wait for work a while before they sleep */
}

/* The first round warms up: pages are mapped, clocks rise. */
static void run_all(struct bench *bench) {
    for (size_t run = 0; run < bench->runs; run++) {
        for (size_t batch = 0; batch < BATCHES; batch++) {
            run_read(bench, run);
            for (uint32_t threads = 1; threads <= THREADS; threads++) {
                run_ours(bench, threads, batch, run);
                run_peer(bench, threads, batch, run);
            }
        }
    }
}

static void start_peer(struct bench *bench, const char *self) {
    char offset[32];
    char rows[32];
    char bytes[32];
    char k[32];
    if (bench->bits % 64 != 0) {
        (void)printf("rows of this width have gaps, which the peer does not know: left out\n");
        return;
    }
    char *segment_path = bench->segment->path;
    (void)snprintf(offset, sizeof offset, "%" PRIu64, bench->segment->sections[NIGH__SECTION_SIGNATURES].offset);
    (void)snprintf(rows, sizeof rows, "%u", bench->segment->signatures);
    (void)snprintf(bytes, sizeof bytes, "%u", bench->bits / 8);
    (void)snprintf(k, sizeof k, "%u", K);
    char name[] = "peer_faiss";
    char *arguments[] = {name, segment_path, offset, rows, bytes, bench->queries_path, k, NULL};
    (void)peer_start(&bench->peer, self, name, arguments);
}

/* -------------------------------------------------------------------- the report */

static const struct series *best_read(const struct bench *bench) {
    const struct series *best = &bench->read[0];
    for (size_t way = 1; way < PLAIN_READS; way++) {
        if (series_median(&bench->read[way]) < series_median(best)) best = &bench->read[way];
    }
    return best;
}

static void report_read(const struct bench *bench) {
    const double gigabytes = (double)matrix_bytes(bench) / 1e9;
    (void)printf("\nplain reading of the mapped rows, one core    min ms  median ms   GB/s (median)\n");
    for (size_t way = 0; way < PLAIN_READS; way++) {
        double median = series_median(&bench->read[way]);
        (void)printf("  %-42s %7.2f %10.2f %10.2f%s\n", plain_read_name(way), series_minimum(&bench->read[way]) * 1e3,
                     median * 1e3, gigabytes / median,
                     &bench->read[way] == best_read(bench) ? "  <- the yardstick" : "");
    }
}

static void report_line(const struct bench *bench, const char *name, uint32_t threads, size_t batch,
                        const struct series *series, double found) {
    const double distances = (double)bench->segment->signatures * (double)batches[batch];
    const double median = series_median(series);
    (void)printf("%-6s %7u %8zu %9.2f %10.2f %11.1f %12.1f %9.3f\n", name, threads, batches[batch],
                 series_minimum(series) * 1e3, median * 1e3, (double)batches[batch] / median, distances / median / 1e6,
                 found);
}

static void report_search(const struct bench *bench) {
    (void)printf("\n       threads  queries    min ms  median ms  queries/s  M distances/s  recall@%u\n", K);
    for (uint32_t threads = 1; threads <= THREADS; threads++) {
        for (size_t batch = 0; batch < BATCHES; batch++) {
            report_line(bench, "nigh", threads, batch, &bench->ours[threads][batch], bench->recall_ours[batch]);
            if (bench->peer.process != 0)
                report_line(bench, "faiss", threads, batch, &bench->peers[threads][batch], bench->recall_peer[batch]);
        }
    }
}

/* By minimum and by median: the first is what the machine can do, the second what it did. */
static void report_ratio(const char *what, const struct series *slow, const struct series *fast, double factor,
                         double expected) {
    double by_minimum = series_minimum(slow) * factor / series_minimum(fast);
    double by_median = series_median(slow) * factor / series_median(fast);
    (void)printf("  %-52s %6.2f %8.2f   %5.2f  %s\n", what, by_minimum, by_median, expected,
                 by_median >= expected ? "yes" : "NO");
}

static void report_ratios(const struct bench *bench) {
    (void)printf("\nratios                                                  by min by median  expected\n");
    const struct series *one = &bench->ours[1][0];
    report_ratio("one query, share of the read bandwidth", best_read(bench), one, 1, 0.85);
    report_ratio("8 queries at once, to the rate of one", one, &bench->ours[1][1], 8, 2.5);
    report_ratio("64 queries at once, to the rate of one", one, &bench->ours[1][2], 64, 2.5);
    if (bench->peer.process == 0) return;
    for (uint32_t threads = 1; threads <= THREADS; threads++) {
        for (size_t batch = 0; batch < BATCHES; batch++) {
            char what[64];
            (void)snprintf(what, sizeof what, "FAISS, %u thread%s, %zu quer%s", threads, threads == 1 ? "" : "s",
                           batches[batch], batch == 0 ? "y" : "ies");
            report_ratio(what, &bench->peers[threads][batch], &bench->ours[threads][batch], 1, 4);
        }
    }
}

/* ------------------------------------------------------------------- the figures */

/* Queries a second, by the fastest run. */
static double rate(const struct series *series, size_t batch) {
    return series->runs == 0 ? 0 : (double)batches[batch] / series_minimum(series);
}

static void note(const struct bench *bench, uint32_t threads, size_t batch, double beside, const char *other) {
    char what[64];
    (void)snprintf(what, sizeof what, "%zu quer%s%s, %u thread%s", batches[batch], batch == 0 ? "y" : "ies",
                   batch == 0 ? "" : " at once", threads, threads == 1 ? "" : "s");
    measure_figure(&(struct measure_figure){.bench = "scan",
                                            .what = what,
                                            .unit = "queries/s",
                                            .value = rate(&bench->ours[threads][batch], batch),
                                            .beside = beside,
                                            .other = other,
                                            .quality = bench->recall_ours[batch]});
}

static void note_figures(const struct bench *bench) {
    const double one = rate(&bench->ours[1][0], 0);
    note(bench, 1, 0, 1 / series_minimum(best_read(bench)), "reading the rows");
    note(bench, 1, 1, one, "1 query");
    note(bench, 1, 2, one, "1 query");
    note(bench, 2, 2, rate(&bench->ours[1][2], 2), "1 thread");
    if (bench->peer.process == 0) return;
    for (size_t batch = 0; batch < BATCHES; batch += 2)
        note(bench, 1, batch, rate(&bench->peers[1][batch], batch), "FAISS flat");
}

/* ------------------------------------------------------------------- the options */

static const char usage[] =
    "usage: bench_scan [--rows N] [--bits N] [--seed N] [--runs N] [--json FILE] [--quick] [--no-kernels]\n"
    "  --rows N      signatures to search (default 1000000)\n"
    "  --bits N      width of a signature (default 1024)\n"
    "  --seed N      of the generated data (default 1)\n"
    "  --runs N      of each measurement (default 10, at most 1000)\n"
    "  --json FILE   append every run as a line of JSON\n"
    "  --quick       100000 rows and 3 runs: to see that it works\n"
    "  --no-kernels  without the table of kernels\n";

static void parse(struct bench *bench, int count, char **arguments) {
    uint64_t bits = bench->bits;
    uint64_t runs = bench->runs;
    const struct measure_option options[] = {
        {.name = "rows", .number = &bench->rows, .least = K, .most = 1000000000, .quick = 100000},
        {.name = "bits", .number = &bits, .least = 8, .most = NIGH_MAX_WIDTH_BITS},
        {.name = "seed", .number = &bench->seed, .most = UINT64_MAX},
        {.name = "runs", .number = &runs, .least = 1, .most = MEASURE_MAX_RUNS, .quick = 3},
        {.name = "json", .file = &bench->json},
        {.name = "no-kernels", .flag = &bench->no_kernels},
        {.name = NULL},
    };
    if (measure_parse(options, usage, count, arguments) != count) measure_usage(usage, 2);
    bench->bits = (uint32_t)bits / 8 * 8;
    bench->runs = (size_t)runs;
}

int main(int count, char **arguments) {
    static struct bench bench = {.rows = 1000000, .bits = 1024, .seed = 1, .runs = 10};
    parse(&bench, count, arguments);
    measure_folder_make(bench.folder);
    (void)snprintf(bench.collection_path, sizeof bench.collection_path, "%s/rows.nigh", bench.folder);
    (void)snprintf(bench.queries_path, sizeof bench.queries_path, "%s/queries", bench.folder);
    nigh_error error;
    measure_must(nigh_context_new(NULL, &bench.context, &error), &error, "starting");

    measure_print_host(stdout, nigh_context_kernel(bench.context));
    make_data(&bench);
    find_truth(&bench);
    start_peer(&bench, arguments[0]);
    run_all(&bench);
    report_read(&bench);
    report_search(&bench);
    report_ratios(&bench);
    note_figures(&bench);
    peer_stop(&bench.peer);
    if (!bench.no_kernels) kernel_table(bench.segment->rows, matrix_bytes(&bench), bench.runs, bench.json);
    if (bench.json != NULL) (void)fclose(bench.json);
    remove_data(&bench);
    return 0;
}
