/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast texts are answered, and how many of the nearest are found.
 *
 * Documents are held out of a collection and ask it, whole or some words of them, on one
 * thread, one at a time and 64 together.  The first row is what a text cost before there were
 * weights and columns: every signature compared in the bits that it touches, by a loop of
 * popcounts.  All ways take turns in one run, and ratios are to that row.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"
#include "text_set.h"

#define K 10u
#define BATCH 64u

struct way {
    const char *name;
    const char *kernel; /* NULL: the best */
    nigh_search_method method;
    nigh_search_rank rank;
    double slack;
    uint32_t effort;
    bool noted; /* as a figure */
};

static const struct way ways[] = {
    {"scan, bits, popcounts", "popcnt", NIGH_SEARCH_SCAN, NIGH_RANK_BITS, -1, 0, false},
    {"scan, bits", NULL, NIGH_SEARCH_SCAN, NIGH_RANK_BITS, -1, 0, true},
    {"scan, weighted", NULL, NIGH_SEARCH_SCAN, NIGH_RANK_WEIGHTED, -1, 0, true},
    {"columns, bits, AVX2", "avx2", NIGH_SEARCH_COLUMNS, NIGH_RANK_BITS, -1, 0, false},
    {"columns, bits", NULL, NIGH_SEARCH_COLUMNS, NIGH_RANK_BITS, -1, 0, false},
    {"columns, weighted, AVX2", "avx2", NIGH_SEARCH_COLUMNS, NIGH_RANK_WEIGHTED, -1, 0, true},
    {"columns, weighted", NULL, NIGH_SEARCH_COLUMNS, NIGH_RANK_WEIGHTED, -1, 0, true},
    {"columns, slack 2", NULL, NIGH_SEARCH_COLUMNS, NIGH_RANK_WEIGHTED, 2, 0, false},
    {"columns, slack 1", NULL, NIGH_SEARCH_COLUMNS, NIGH_RANK_WEIGHTED, 1, 0, false},
    {"columns, slack 0.5", NULL, NIGH_SEARCH_COLUMNS, NIGH_RANK_WEIGHTED, 0.5, 0, false},
    {"graph, effort 100", NULL, NIGH_SEARCH_GRAPH, NIGH_RANK_WEIGHTED, -1, 100, false},
    {"graph, effort 300", NULL, NIGH_SEARCH_GRAPH, NIGH_RANK_WEIGHTED, -1, 300, true},
    {"graph, effort 600", NULL, NIGH_SEARCH_GRAPH, NIGH_RANK_WEIGHTED, -1, 600, false},
    {"graph, effort 1000", NULL, NIGH_SEARCH_GRAPH, NIGH_RANK_WEIGHTED, -1, 1000, true},
    {"graph, bits, effort 300", NULL, NIGH_SEARCH_GRAPH, NIGH_RANK_BITS, -1, 300, false},
};

#define WAYS (sizeof ways / sizeof ways[0])

struct bench {
    struct text_set set;
    uint64_t queries, runs, threads;
    bool graph;
    const char *only; /* NULL: all ways */
    nigh_context *context;
};

/* Those by a graph come last. */
static size_t ways_of(const struct bench *bench) {
    size_t count = 0;
    while (count < WAYS && (bench->graph || ways[count].method != NIGH_SEARCH_GRAPH)) count++;
    return count;
}

/* Ratios are to the first, which always runs. */
static bool wanted(const struct bench *bench, size_t way) {
    return way == 0 || bench->only == NULL || strstr(ways[way].name, bench->only) != NULL;
}

/* One way on one kind of query. */
struct outcome {
    double one, together; /* seconds a query, the least of the runs */
    double recall;
    double counted; /* distances that were computed to their end, a query */
};

static nigh_results *search(const struct way *way, const nigh_collection *collection,
                            const struct text_queries *queries, size_t first, size_t count, uint32_t threads) {
    nigh_search_options options;
    nigh_results *results = NULL;
    nigh_error error;
    nigh_search_options_init(&options);
    options.k = K;
    options.threads = threads;
    options.method = way->method;
    options.rank = way->rank;
    options.masks = queries->masks + first * 128;
    options.weights = queries->weights + first * 1024;
    if (way->slack >= 0) options.slack = way->slack;
    if (way->effort > 0) options.effort = way->effort;
    measure_must(nigh_search(collection, queries->signatures + first * 128, count, &options, &results, &error), &error,
                 way->name);
    return results;
}

/* The distances of the true answers; K of each query. */
static uint32_t *find_truth(const nigh_collection *collection, const struct text_queries *queries,
                            nigh_search_rank rank) {
    const struct way exact = {"truth", NULL, NIGH_SEARCH_SCAN, rank, -1, 0, false};
    uint32_t *truth = measure_allocate(queries->count * K, sizeof *truth);
    nigh_results *results = search(&exact, collection, queries, 0, queries->count, 0);
    for (size_t q = 0; q < queries->count; q++) {
        size_t count;
        const nigh_match *matches = nigh_results_matches(results, q, &count);
        for (size_t i = 0; i < K; i++) truth[q * K + i] = i < count ? matches[i].distance : UINT32_MAX;
    }
    nigh_results_free(results);
    return truth;
}

/* How many answers are as near as the true ones. */
static size_t count_found(const nigh_results *results, const uint32_t *truth, size_t queries) {
    size_t found = 0;
    for (size_t q = 0; q < queries; q++) {
        size_t count;
        const nigh_match *matches = nigh_results_matches(results, q, &count);
        for (size_t i = 0; i < count && i < K; i++) found += matches[i].distance <= truth[q * K + K - 1];
    }
    return found;
}

static void measure_way(const struct bench *bench, const struct way *way, const nigh_collection *collection,
                        const struct text_queries *queries, const uint32_t *truth, struct outcome *out) {
    size_t found = 0;
    uint64_t counted = 0;
    double started = measure_now();
    for (size_t q = 0; q < queries->count; q++) {
        nigh_results *results = search(way, collection, queries, q, 1, (uint32_t)bench->threads);
        nigh_results_info info = {.size = sizeof info};
        nigh_results_describe(results, &info);
        counted += info.distances;
        found += count_found(results, truth + q * K, 1);
        nigh_results_free(results);
    }
    const double one = (measure_now() - started) / (double)queries->count;
    started = measure_now();
    for (size_t q = 0; q < queries->count; q += BATCH) {
        const size_t some = queries->count - q < BATCH ? queries->count - q : BATCH;
        nigh_results_free(search(way, collection, queries, q, some, (uint32_t)bench->threads));
    }
    const double together = (measure_now() - started) / (double)queries->count;
    if (out->one == 0 || one < out->one) out->one = one;
    if (out->together == 0 || together < out->together) out->together = together;
    out->counted = (double)counted / (double)queries->count;
    out->recall = (double)found / (double)(queries->count * K);
}

/* Beside the first way: what one query takes, and one of 64 together. */
static void note_figures(const struct bench *bench, enum text_kind kind, const struct outcome *outcomes) {
    const char *asked = kind == TEXT_SHORT ? "3 to 12 words" : "whole documents";
    for (size_t w = 1; w < ways_of(bench); w++) {
        char what[96];
        if (!wanted(bench, w) || !ways[w].noted) continue;
        (void)snprintf(what, sizeof what, "%s, %s", asked, ways[w].name);
        struct measure_figure figure = {.bench = "text",
                                        .what = what,
                                        .unit = "ms",
                                        .value = outcomes[w].one * 1e3,
                                        .beside = outcomes[0].one * 1e3,
                                        .other = ways[0].name,
                                        .quality = outcomes[w].recall,
                                        .less = true};
        measure_figure(&figure);
        if (strcmp(ways[w].name, "columns, weighted") != 0) continue;
        (void)snprintf(what, sizeof what, "%s, %s, 64 together", asked, ways[w].name);
        figure.value = outcomes[w].together * 1e3;
        figure.beside = outcomes[0].together * 1e3;
        measure_figure(&figure);
    }
}

static void measure_kind(const struct bench *bench, nigh_collection **collections, enum text_kind kind) {
    struct text_queries queries;
    struct outcome outcomes[WAYS] = {{0}};
    text_queries_make(&queries, &bench->set, collections[0], kind);
    uint32_t *truths[] = {find_truth(collections[0], &queries, NIGH_RANK_BITS),
                          find_truth(collections[0], &queries, NIGH_RANK_WEIGHTED)};
    for (uint64_t run = 0; run < bench->runs; run++)
        for (size_t w = 0; w < ways_of(bench); w++)
            if (wanted(bench, w))
                measure_way(bench, &ways[w], collections[w], &queries, truths[ways[w].rank == NIGH_RANK_WEIGHTED],
                            &outcomes[w]);
    printf("\n%s: %zu queries, %.0f bits touched\n", kind == TEXT_SHORT ? "3 to 12 words" : "whole documents",
           queries.count, queries.touched);
    printf("%-26s %10s %8s %8s %10s %8s %10s\n", "", "recall@10", "one, ms", "times", "64, ms", "times", "distances");
    for (size_t w = 0; w < ways_of(bench); w++)
        if (wanted(bench, w))
            printf("%-26s %10.4f %8.3f %8.1f %10.3f %8.1f %10.0f\n", ways[w].name, outcomes[w].recall,
                   outcomes[w].one * 1e3, outcomes[0].one / outcomes[w].one, outcomes[w].together * 1e3,
                   outcomes[0].together / outcomes[w].together, outcomes[w].counted);
    note_figures(bench, kind, outcomes);
    free(truths[0]);
    free(truths[1]);
    text_queries_release(&queries);
}

static const char usage[] =
    "usage: bench_text [--collection PATH] [--every N] [--queries N] [--documents N] [--runs N] [--threads N] "
    "[--graph] [--only NAME] [INPUT...]\n"
    "  --collection PATH  made there, or used again where it is there (default: in a folder that is removed)\n"
    "  --every N          hold out one document in N (1000)\n"
    "  --queries N        ask with at most N of them (256)\n"
    "  --documents N      without an INPUT: so many by Zipf's law (1000000)\n"
    "  --graph            also by a graph of masks, which is made where there is none\n"
    "  --only NAME        of the other ways only those with NAME in their names\n";

int main(int count, char **arguments) {
    struct bench bench = {.set = {.documents = 1000000, .every = 1000}, .queries = 256, .runs = 3, .threads = 1};
    const char *path = NULL;
    char folder[MEASURE_FOLDER] = "";
    char inside[MEASURE_FOLDER + 16];
    const struct measure_option options[] = {
        {.name = "collection", .text = &path},
        {.name = "every", .number = &bench.set.every, .least = 2, .most = UINT32_MAX},
        {.name = "queries", .number = &bench.queries, .least = 1, .most = 100000, .quick = 32},
        {.name = "documents", .number = &bench.set.documents, .least = 1000, .most = UINT32_MAX - 1, .quick = 20000},
        {.name = "runs", .number = &bench.runs, .least = 1, .most = 100, .quick = 1},
        {.name = "graph", .flag = &bench.graph},
        {.name = "only", .text = &bench.only},
        {.name = "threads", .number = &bench.threads, .least = 1, .most = 256},
        {.name = NULL},
    };
    const int first = measure_parse(options, usage, count, arguments);
    nigh_error error;
    if (bench.threads == 1) measure_processor_time();
    if (path == NULL) {
        measure_folder_make(folder);
        (void)snprintf(inside, sizeof inside, "%s/text.nigh", folder);
        path = inside;
    }
    bench.set.path = path;
    bench.set.graph = bench.graph;
    bench.set.inputs = (const char *const *)(arguments + first);
    bench.set.input_count = (size_t)(count - first);
    bench.set.most = bench.queries;
    measure_must(nigh_context_new(NULL, &bench.context, &error), &error, "context");
    text_set_make(&bench.set, bench.context);
    nigh_context *contexts[WAYS] = {NULL};
    nigh_collection *collections[WAYS] = {NULL};
    nigh_collection_info info = {.size = sizeof info};
    for (size_t w = 0; w < ways_of(&bench); w++) {
        nigh_context_options with;
        nigh_context_options_init(&with);
        with.kernel = ways[w].kernel;
        measure_must(nigh_context_new(&with, &contexts[w], &error), &error, ways[w].name);
        measure_must(nigh_collection_open(contexts[w], path, NULL, &collections[w], &error), &error, path);
    }
    nigh_collection_describe(collections[0], &info);
    measure_print_host(stdout, nigh_context_kernel(bench.context));
    printf("%" PRIu64 " documents, %" PRIu64 " signatures, columns %.1f and graph %.1f bytes a signature\n",
           info.documents, info.signatures, (double)info.column_bytes / (double)info.signatures,
           (double)info.graph_bytes / (double)info.signatures);
    for (enum text_kind kind = TEXT_SHORT; kind < TEXT_KINDS; kind++) measure_kind(&bench, collections, kind);
    for (size_t w = 0; w < ways_of(&bench); w++) {
        nigh_collection_close(collections[w]);
        nigh_context_free(contexts[w]);
    }
    nigh_context_free(bench.context);
    text_set_release(&bench.set);
    if (folder[0] != '\0') measure_folder_remove(folder);
    return 0;
}
