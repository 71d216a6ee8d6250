/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a filter leaves of a graph's recall, in a collection that is large enough for the walk to be taken.
 *
 * Generated clusters of signatures with a graph, and searches for the ten nearest among a share of them: documents
 * drawn at random, and those nearest one place, which is harder, for what is near a query is then allowed or forbidden
 * together.  For each effort a line for all, and one for each share: recall by distance against a scan of the same
 * documents, milliseconds a query, how many queries were left to the scan.  The same effort must find no less among
 * some than among all: this says by how much it does not.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/rng.h"
#include "measure.h"
#include "nearest_search.h"
#include "nearest_set.h"

#define SEED 7u
#define NOTED_EFFORT 100u
#define NOTED_SHARE 0.01 /* fewer are compared one by one */

struct bench {
    uint64_t documents, queries;
    bool keeps; /* the folder is somebody's */
    struct nearest_set set;
    nigh_collection *collection;
    uint32_t *truth, *found;
    uint64_t *among, *keys;
    double worst; /* what was lost most, of recall */
};

static const double shares[] = {0.5, 0.1, 0.01, 0.001};
static const uint32_t efforts[] = {20, 50, 100, 200};

/* -------------------------------------------------------------- who is allowed -- */

static int by_size(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t distance_to(const struct bench *bench, const uint8_t *row, const uint8_t *place) {
    uint32_t distance = 0;
    for (uint32_t i = 0; i < bench->set.bits / 8; i++) distance += (uint32_t)__builtin_popcount(row[i] ^ place[i]);
    return distance;
}

/* The share of documents with the smallest keys: any, or the distance to the first query. */
static void allow(struct bench *bench, double share, bool together) {
    const uint64_t count = bench->set.count;
    const size_t bytes = bench->set.bits / 8;
    struct nigh__rng rng = {.state = SEED};
    for (uint64_t i = 0; i < count; i++) {
        bench->keys[i] = nigh__rng_next(&rng) >> 32;
        if (together)
            bench->keys[i] |= (uint64_t)distance_to(bench, bench->set.rows + i * bytes, bench->set.queries) << 32;
    }
    uint64_t *sorted = bench->keys + count;
    memcpy(sorted, bench->keys, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_size);
    const uint64_t limit = sorted[(uint64_t)(share * (double)count)];
    memset(bench->among, 0, (count / 64 + 1) * sizeof *bench->among);
    for (uint64_t i = 0; i < count; i++)
        if (bench->keys[i] < limit) bench->among[i / 64] |= UINT64_C(1) << i % 64;
}

/* ------------------------------------------------------------------- measuring -- */

static struct nearest_pass search(struct bench *bench, nigh_search_method method, uint32_t effort,
                                  const uint64_t *among, uint32_t *out) {
    const struct nearest_span span = {.count = bench->set.query_count};
    struct nearest_pass pass;
    nigh_search_options options;
    nigh_error error;
    nigh_search_options_init(&options);
    options.k = NEAREST_K;
    options.method = method;
    options.threads = 1;
    options.among = among;
    if (method == NIGH_SEARCH_GRAPH) options.effort = effort;
    if (method == NIGH_SEARCH_GRAPH) options.patience = 0;
    measure_must(nearest_search(&bench->set, bench->collection, &options, span, out, &pass, &error), &error, "search");
    return pass;
}

static double recall(const struct bench *bench) {
    uint64_t got = 0;
    const size_t count = bench->set.query_count * NEAREST_K;
    for (size_t i = 0; i < count; i++)
        got += bench->found[i] <= bench->truth[i / NEAREST_K * NEAREST_K + NEAREST_K - 1];
    return (double)got / (double)count;
}

/* Beside the same effort among all documents, which comes first. */
static void note(const char *what, double share, double milliseconds, double quality) {
    static double all;
    char name[64];
    if (share == 1) all = milliseconds;
    (void)snprintf(name, sizeof name, share == 1 ? "%s" : "%s, %g%%", what, share * 100);
    measure_figure(&(struct measure_figure){.bench = "filter",
                                            .what = name,
                                            .unit = "ms",
                                            .value = milliseconds,
                                            .beside = share == 1 ? 0 : all,
                                            .other = "among all",
                                            .quality = quality,
                                            .less = true});
}

static double measure(struct bench *bench, const char *what, double share, uint32_t effort, const uint64_t *among) {
    const double queries = (double)bench->set.query_count;
    const struct nearest_pass pass = search(bench, NIGH_SEARCH_GRAPH, effort, among, bench->found);
    const double here = recall(bench);
    printf("%6u   %-9s   %7.1f %%   %.4f   %8.3f ms   %9.0f   %7" PRIu64 "\n", effort, what, share * 100, here,
           pass.seconds / queries * 1e3, pass.compared, pass.scanned);
    (void)fflush(stdout);
    if (effort == NOTED_EFFORT && share >= NOTED_SHARE) note(what, share, pass.seconds / queries * 1e3, here);
    return here;
}

/* Every effort among one set of documents. */
static void measure_among(struct bench *bench, const char *what, double share, const uint64_t *among, double *whole) {
    const struct nearest_pass pass = search(bench, NIGH_SEARCH_SCAN, 0, among, bench->truth);
    printf("%6s   %-9s   %7.1f %%   %.4f   %8.3f ms\n", "scan", what, share * 100, 1.0,
           pass.seconds / (double)bench->set.query_count * 1e3);
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++) {
        const double here = measure(bench, what, share, efforts[i], among);
        if (among == NULL) whole[i] = here;
        if (whole[i] - here > bench->worst) bench->worst = whole[i] - here;
    }
}

static void measure_all(struct bench *bench) {
    double whole[sizeof efforts / sizeof *efforts] = {0};
    printf("effort   allowed       share      recall   a query       compared   by scan\n");
    measure_among(bench, "all", 1, NULL, whole);
    for (int together = 0; together < 2; together++) {
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
            allow(bench, shares[i], together != 0);
            measure_among(bench, together != 0 ? "together" : "any", shares[i], bench->among, whole);
        }
    }
    printf("\nrecall lost by a filter, at the same effort: %.4f at most\n", bench->worst);
}

/* ------------------------------------------------------------------------ main -- */

static bool is_there(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

/* In a folder that is kept, what an earlier run made of as many documents is used again. */
static void make(struct bench *bench, nigh_context *context, const char *folder) {
    const struct nearest_wanted wanted = {.documents = bench->documents, .queries = bench->queries, .seed = SEED};
    nigh_graph_options options;
    nigh_error error;
    nearest_set_generate(&bench->set, context, &wanted);
    (void)snprintf(bench->set.collection_path, NEAREST_PATH, "%s/%" PRIu64 ".nigh", folder, bench->documents);
    const bool there = bench->keeps && is_there(bench->set.collection_path);
    char place[NEAREST_PATH];
    memcpy(place, bench->set.collection_path, sizeof place);
    if (!there) nearest_set_place(&bench->set, folder, false);
    if (!there && bench->keeps && rename(bench->set.collection_path, place) != 0) measure_fail(place, "cannot be made");
    if (bench->keeps) memcpy(bench->set.collection_path, place, sizeof place);
    nigh_graph_options_init(&options);
    options.keep = 1;
    const double began = measure_now();
    measure_must(nigh_graph_build(context, bench->set.collection_path, &options, NULL, &error), &error, "make a graph");
    printf("%" PRIu64 " different signatures of %u bits, graph made in %.0f s; %zu queries, one thread\n\n",
           bench->set.count, bench->set.bits, measure_now() - began, bench->set.query_count);
    bench->collection = nearest_set_open(&bench->set, false);
    bench->truth = measure_allocate(bench->set.query_count * NEAREST_K, sizeof *bench->truth);
    bench->found = measure_allocate(bench->set.query_count * NEAREST_K, sizeof *bench->found);
    bench->among = measure_allocate(bench->set.count / 64 + 1, sizeof *bench->among);
    bench->keys = measure_allocate(bench->set.count, 2 * sizeof *bench->keys);
}

int main(int count, char **arguments) {
    static const char usage[] = "bench_filter [--documents N] [--queries N] [--folder KEEP] [--cpu] [--quick]";
    const char *kept = NULL;
    bool processor_time = false;
    struct bench bench = {.documents = 1000000, .queries = 300};
    const struct measure_option options[] = {
        {.name = "documents", .number = &bench.documents, .least = 2000, .most = 100000000, .quick = 20000},
        {.name = "queries", .number = &bench.queries, .least = 10, .most = 100000, .quick = 50},
        {.name = "folder", .text = &kept},
        {.name = "cpu", .flag = &processor_time},
        {.name = NULL},
    };
    char folder[MEASURE_FOLDER];
    nigh_context *context = NULL;
    nigh_error error;
    if (measure_parse(options, usage, count, arguments) < count) measure_usage(usage, 2);
    if (processor_time) measure_processor_time();
    measure_must(nigh_context_new(NULL, &context, &error), &error, "a context");
    bench.keeps = kept != NULL;
    if (kept == NULL)
        measure_folder_make(folder);
    else
        (void)snprintf(folder, sizeof folder, "%s", kept);
    measure_print_host(stdout, nigh_context_kernel(context));
    make(&bench, context, folder);
    measure_all(&bench);
    nigh_collection_close(bench.collection);
    nearest_set_free(&bench.set);
    free(bench.truth);
    free(bench.found);
    free(bench.among);
    free(bench.keys);
    if (!bench.keeps) measure_folder_remove(folder);
    nigh_context_free(context);
    return 0;
}
