/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast slice lists find the ten nearest, and how near these are.
 *
 * On one core: our search over a grid of slice widths, breadths and numbers of
 * candidates, the papers' way of it, and the exact scan in batches of 8, over all rows;
 * then the same over fewer rows beside FAISS MultiHash, IVF and HNSW and hnswlib, whose
 * graphs take minutes to make.  For each CDR that is asked for, the table has the
 * fastest setting of each that reaches it.  --documents does so with signatures of real
 * texts; --scaling and --build are slices_series.c.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "slices_grid.h"
#include "slices_peers.h"
#include "slices_series.h"

struct bench {
    nigh_context *context;
    uint64_t count;      /* documents */
    uint64_t peer_count; /* rows; 0: no peers */
    uint64_t queries;
    uint64_t most;
    uint64_t seed;
    uint64_t runs;
    bool documents, scaling, build, all, processor_time;
    FILE *json;
    char *const *paths;
    size_t path_count;
    char folder[MEASURE_FOLDER];
};

/* ---------------------------------------------------------------------- tables -- */

static void report_goals(const struct slices_table *table, bool large) {
    static const double targets[] = {0.90, 0.95, 0.98, 0.99};
    (void)printf("\n");
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        const double ours = slices_table_rate(table, SLICES_OURS, targets[i]);
        const double paper = slices_table_rate(table, SLICES_PAPER, targets[i]);
        const double scan = slices_table_rate(table, SLICES_SCAN, targets[i]);
        (void)printf("CDR %.2f: ", targets[i]);
        if (ours == 0 || paper == 0) {
            (void)printf("not reached by %s\n", ours == 0 ? "ours" : "the papers' way");
            continue;
        }
        (void)printf("%.0f queries/s, %.1f times the papers' way", ours, ours / paper);
        if (large) (void)printf(" (expected: 6)  %s", ours >= 6 * paper ? "yes" : "NO");
        (void)printf("; %.1f times the scan", ours / scan);
        if (large && i == 3) (void)printf("; 2000 queries/s expected  %s", ours >= 2000 ? "yes" : "NO");
        (void)printf("\n");
    }
}

static void note_figures(const struct slices_table *table) {
    static const struct {
        double cdr;
        const char *what;
    } targets[] = {{0.95, "CDR .95"}, {0.99, "CDR .99"}};
    static const char *const others[] = {SLICES_PAPER, SLICES_SCAN};
    for (size_t t = 0; t < 2; t++) {
        char what[64];
        (void)snprintf(what, sizeof what, "%s, %" PRIu64 " rows", targets[t].what, table->set->count);
        for (size_t i = 0; i < 2; i++)
            measure_figure(&(struct measure_figure){.bench = "slices",
                                                    .what = what,
                                                    .unit = "queries/s",
                                                    .value = slices_table_rate(table, SLICES_OURS, targets[t].cdr),
                                                    .beside = slices_table_rate(table, others[i], targets[t].cdr),
                                                    .other = others[i]});
    }
}

static void measure_set(const struct bench *bench, const struct nearest_set *set, const char *self, bool peers) {
    struct slices_table table = {.set = set, .json = bench->json};
    (void)printf("\n%s: %" PRIu64 " rows of %u bits, %zu queries, k = %u, one thread%s\n", set->name, set->count,
                 set->bits, set->query_count, NEAREST_K, bench->processor_time ? ", processor time" : "");
    (void)fflush(stdout);
    slices_grid_measure(&table, (size_t)bench->runs);
    if (peers) slices_peers_measure(&table, self, bench->processor_time, (size_t)bench->runs);
    if (bench->all) slices_table_print_all(&table);
    slices_table_print_best(&table);
    report_goals(&table, !bench->documents && set->count >= 900000); /* what the goal is for */
    note_figures(&table);
    slices_table_free(&table);
}

static void measure_all(const struct bench *bench, const char *self) {
    struct nearest_set set;
    const double start = measure_now();
    const struct nearest_wanted wanted = {
        .documents = bench->documents ? 0 : bench->count, .queries = (size_t)bench->queries, .seed = bench->seed};
    if (bench->documents)
        nearest_set_sign(&set, bench->context, &wanted, bench->paths, bench->path_count);
    else
        nearest_set_generate(&set, bench->context, &wanted);
    (void)printf("%" PRIu64 " documents, %" PRIu64 " different signatures besides the queries; made in %.1f s\n",
                 set.documents, set.count, measure_now() - start);
    const bool peers_too = bench->peer_count >= set.count;
    nearest_set_place(&set, bench->folder, peers_too);
    measure_set(bench, &set, self, peers_too);
    if (!peers_too && bench->peer_count != 0) {
        struct nearest_set part;
        nearest_set_part(&part, &set, bench->peer_count);
        nearest_set_place(&part, bench->folder, true);
        measure_set(bench, &part, self, true);
        nearest_set_free(&part);
    }
    nearest_set_free(&set);
}

/* --------------------------------------------------------------------- options -- */

static const char usage[] =
    "usage: bench_slices [--count N] [--peer-count N] [--queries N] [--seed N] [--runs N] [--all]\n"
    "                    [--json FILE] [--quick] [--cpu] [--documents FILE...]\n"
    "       bench_slices --scaling [--most N] | --build [--count N]   [--queries N] [--runs N] ...\n"
    "  --count N       documents to generate (default 1000000)\n"
    "  --peer-count N  rows for the peers, and for us beside them (default 200000, of which their graphs\n"
    "                  take minutes to make: ten in all; 0: leave them out)\n"
    "  --queries N     default 400\n"
    "  --runs N        of each setting (default 3); the papers' way runs once\n"
    "  --all           print every setting, not only the best\n"
    "  --json FILE     append every run as a line of JSON\n"
    "  --quick         50000 documents, 20000 for peers, 1 run: to see that it works\n"
    "  --cpu           processor time: where others use the machine too\n"
    "  --documents     sign the documents of files instead, TopSig of 1,024 bits\n"
    "  --scaling       256K documents, twice as many, and so on up to --most (default 4M; 16M takes long)\n"
    "  --build         making lists with one and two threads, and opening\n";

static void parse(struct bench *bench, int count, char **arguments) {
    const struct measure_option options[] = {
        {.name = "count", .number = &bench->count, .least = 1000, .most = 1000000000, .quick = 50000},
        {.name = "peer-count", .number = &bench->peer_count, .most = 1000000000, .quick = 20000},
        {.name = "queries", .number = &bench->queries, .least = 1, .most = 1000000, .quick = 100},
        {.name = "most", .number = &bench->most, .least = 1, .most = 1000000000, .quick = UINT64_C(1) << 19},
        {.name = "seed", .number = &bench->seed, .most = UINT64_MAX},
        {.name = "runs", .number = &bench->runs, .least = 1, .most = MEASURE_MAX_RUNS, .quick = 1},
        {.name = "json", .file = &bench->json},
        {.name = "all", .flag = &bench->all},
        {.name = "cpu", .flag = &bench->processor_time},
        {.name = "documents", .flag = &bench->documents},
        {.name = "scaling", .flag = &bench->scaling},
        {.name = "build", .flag = &bench->build},
        {.name = NULL},
    };
    const int operands = measure_parse(options, usage, count, arguments);
    bench->paths = arguments + operands;
    bench->path_count = (size_t)(count - operands);
    if ((bench->path_count != 0) != bench->documents) measure_usage(usage, 2);
}

int main(int count, char **arguments) {
    static struct bench bench = {
        .count = 1000000, .peer_count = 200000, .queries = 400, .most = UINT64_C(1) << 22, .seed = 1, .runs = 3};
    parse(&bench, count, arguments);
    if (bench.processor_time && !bench.build) measure_processor_time();
    measure_folder_make(bench.folder);
    nigh_error error;
    measure_must(nigh_context_new(NULL, &bench.context, &error), &error, "starting");
    measure_print_host(stdout, nigh_context_kernel(bench.context));
    const struct slices_series series = {.context = bench.context,
                                         .folder = bench.folder,
                                         .documents = bench.count,
                                         .most = bench.most,
                                         .queries = (size_t)bench.queries,
                                         .runs = (size_t)bench.runs,
                                         .seed = bench.seed,
                                         .json = bench.json};
    if (bench.scaling) slices_series_scaling(&series);
    if (bench.build) slices_series_build(&series);
    if (!bench.scaling && !bench.build) measure_all(&bench, arguments[0]);
    nigh_context_free(bench.context);
    measure_folder_remove(bench.folder);
    if (bench.json != NULL) (void)fclose(bench.json);
    return 0;
}
