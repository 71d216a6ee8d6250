/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ten nearest, by everything we have and by what a user would take instead, each
 * against each at equal quality.
 *
 * One core, processor time.  The scan, the sketch scan, slice lists by the ball and
 * directed, and the graph; FAISS flat, IVF and HNSW and hnswlib, each in a process of its
 * own.  For each recall@10 and CDR@10 that is asked for, the fastest setting of each on
 * one half of the queries is reported with what it does on the other.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "topk_measure.h"
#include "topk_methods.h"
#include "topk_plot.h"

struct bench {
    nigh_context *context;
    const char *set, *methods, *plot, *keep;
    uint64_t count; /* 0: all there are, or a million */
    uint64_t queries, seed, runs;
    bool all, markdown;
    FILE *json;
    char *const *paths;
    size_t path_count;
    char folder[MEASURE_FOLDER];
};

#define USUAL_COUNT 1000000u
#define MAX_WEIGHTED 2000000u /* generated documents whose weights are kept, a byte a bit */

/* ----------------------------------------------------------------------- goals -- */

/* What was expected of the graph before it was written. */
struct goal {
    const char *set;
    uint64_t min_rows, most_rows;
    enum topk_measure by;
    double quality;
    double times; /* the best peer's rate; 0: */
    double rate;  /* so many queries a second */
};

static const struct goal goals[] = {
    {"documents", 200000, UINT64_MAX, TOPK_RECALL, 0.90, 3, 0},
    {"documents", 200000, UINT64_MAX, TOPK_RECALL, 0.95, 3, 0},
    {"documents", 200000, UINT64_MAX, TOPK_CDR, 0.99, 3, 0},
    {"documents", 200000, UINT64_MAX, TOPK_CDR, 0.995, 5, 0},
    {"clustered", 900000, 1100000, TOPK_CDR, 0.99, 0, 40000},
    {"clustered", 900000, 1100000, TOPK_CDR, 0.95, 0, 75000},
    {"clustered", 9000000, 11000000, TOPK_CDR, 0.99, 0, 6000},
};

static void report_goal(const struct topk_table *table, const struct goal *goal) {
    const struct topk_row *row = topk_table_choose(table, TOPK_GRAPH, goal->by, goal->quality);
    const double rate = row == NULL ? 0 : topk_half_rate(&row->halves[TOPK_REPORTED]);
    const double peer = topk_table_best_peer(table, goal->by, goal->quality);
    (void)printf("graph, %s %.3f: %.0f queries/s", goal->by == TOPK_RECALL ? "recall" : "CDR", goal->quality, rate);
    if (goal->times == 0)
        (void)printf(", expected %.0f  %s\n", goal->rate, rate >= goal->rate ? "yes" : "NO");
    else if (peer > 0)
        (void)printf(", %.2f times the best peer's %.0f, expected %.0f  %s\n", rate / peer, peer, goal->times,
                     rate >= goal->times * peer ? "yes" : "NO");
    else
        (void)printf(", no peer to compare with\n");
}

static void report_goals(const struct topk_table *table) {
    (void)printf("\n");
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++) {
        const struct goal *goal = &goals[i];
        if (strcmp(goal->set, table->set->name) == 0 && table->set->count >= goal->min_rows &&
            table->set->count <= goal->most_rows)
            report_goal(table, goal);
    }
}

static const struct {
    enum topk_measure by;
    double quality;
    const char *what;
} noted[] = {{TOPK_RECALL, 0.90, "graph, recall .90"},
             {TOPK_RECALL, 0.95, "graph, recall .95"},
             {TOPK_RECALL, 0.98, "graph, recall .98"},
             {TOPK_CDR, 0.99, "graph, CDR .99"},
             {TOPK_CDR, 0.995, "graph, CDR .995"}};

static void note(const char *what, double rate, double beside, const char *other) {
    measure_figure(&(struct measure_figure){
        .bench = "topk", .what = what, .unit = "queries/s", .value = rate, .beside = beside, .other = other});
}

/* The graph at a quality that its name says, by the first half of the queries: beside the best peer where there is one,
 * and beside the scan. */
static void note_figures(const struct topk_table *table) {
    const struct topk_row *scan = topk_table_choose(table, TOPK_SCAN, TOPK_RECALL, 1);
    for (size_t i = 0; i < sizeof noted / sizeof noted[0]; i++) {
        const struct topk_row *row = topk_table_choose(table, TOPK_GRAPH, noted[i].by, noted[i].quality);
        if (row == NULL) continue;
        const double rate = topk_half_rate(&row->halves[TOPK_REPORTED]);
        const double peer = topk_table_best_peer(table, noted[i].by, noted[i].quality);
        if (peer > 0) note(noted[i].what, rate, peer, "the best peer");
        if (scan != NULL) note(noted[i].what, rate, topk_half_rate(&scan->halves[TOPK_REPORTED]), TOPK_SCAN);
    }
}

static const struct nearest_built *built_of(const struct topk_table *table, const char *method) {
    for (size_t i = 0; i < table->contender_count; i++)
        if (strcmp(table->contenders[i].method, method) == 0 && table->contenders[i].lacking[0] == '\0')
            return &table->contenders[i].built;
    return NULL;
}

static void note_built(const struct topk_table *table) {
    const struct nearest_built *graph = built_of(table, TOPK_GRAPH);
    const struct nearest_built *peer = built_of(table, TOPK_WIDE_PEER);
    if (graph == NULL) return;
    struct measure_figure figure = {.bench = "topk",
                                    .what = "graph, making",
                                    .unit = "s",
                                    .value = graph->seconds,
                                    .beside = peer == NULL ? 0 : peer->seconds,
                                    .other = TOPK_WIDE_PEER,
                                    .less = true};
    measure_figure(&figure);
    figure.what = "graph, space of a row";
    figure.unit = "bytes";
    figure.value = graph->bytes;
    figure.beside = peer == NULL ? 0 : peer->bytes;
    measure_figure(&figure);
}

/* ------------------------------------------------------------------------ sets -- */

static void make_set(const struct bench *bench, struct nearest_set *set) {
    struct nearest_wanted wanted = {.documents = bench->count,
                                    .queries = (size_t)bench->queries,
                                    .seed = bench->seed,
                                    .weak = strcmp(bench->set, "weak") == 0,
                                    .weights = bench->count <= MAX_WEIGHTED};
    const double start = measure_wall();
    if (strcmp(bench->set, "documents") == 0) {
        nearest_set_sign(set, bench->context, &wanted, bench->paths, bench->path_count);
    } else if (strcmp(bench->set, "signatures") == 0) {
        nearest_set_read(set, bench->context, &wanted, bench->paths[0]);
    } else {
        if (wanted.documents == 0) wanted.documents = USUAL_COUNT;
        if (strcmp(bench->set, "random") == 0)
            nearest_set_draw(set, bench->context, &wanted);
        else
            nearest_set_generate(set, bench->context, &wanted);
    }
    nearest_set_place(set, bench->folder, topk_peers_chosen(bench->methods));
    (void)printf("%s: %" PRIu64 " documents, %" PRIu64 " different signatures of %u bits besides %zu queries; "
                 "k = %u, one thread, processor time; made in %.1f s\n",
                 set->name, set->documents, set->count, set->bits, set->query_count, NEAREST_K, measure_wall() - start);
    (void)fflush(stdout);
}

static void measure_all(const struct bench *bench, const char *self) {
    struct nearest_set set;
    make_set(bench, &set);
    struct topk_table table = {.set = &set, .json = bench->json};
    topk_ours_add(&table, bench->methods);
    topk_peers_add(&table, bench->methods, self, bench->keep);
    topk_measure(&table, (size_t)bench->runs);
    topk_table_json(&table);
    if (bench->all) topk_table_print_all(&table);
    topk_table_print_built(&table);
    topk_table_print_chosen(&table);
    if (bench->markdown) topk_table_print_markdown(&table);
    topk_measure_threads(&table, (size_t)bench->runs);
    report_goals(&table);
    note_figures(&table);
    note_built(&table);
    if (bench->plot != NULL) topk_plot(&table, bench->plot);
    topk_table_free(&table);
    nearest_set_free(&set);
}

/* --------------------------------------------------------------------- options -- */

static const char usage[] =
    "usage: bench_topk [--set clustered|weak|random] [--count N] [OPTION...]\n"
    "       bench_topk --set documents FILE... | --set signatures FILE   [OPTION...]\n"
    "  --set NAME      clustered  of the generator, any bits flipped (default)\n"
    "                  weak       of the generator, the bits flipped that are least sure, as in real ones\n"
    "                  random     independent bits: nothing is near anything\n"
    "                  documents  of files, TopSig of 1,024 bits\n"
    "                  signatures of a file: hex, .npy, .u8bin\n"
    "  --count N       documents to make (default 1000000), or to take of the files at most\n"
    "  --queries N     held out (default 1000): half to choose settings by, half to report\n"
    "  --runs N        of each setting (default 3)\n"
    "  --methods LIST  of scan,sketch,slices,directed,graph,loaded,flat,ivf,hnsw,hnswlib16,hnswlib32 (default: all;\n"
    "                  the peers' graphs of a million take 2 to 10 minutes each); loaded: the graph out of memory\n"
    "                  instead of the mapped file\n"
    "  --keep FOLDER   that is there: what peers build is left in it, and found in it the next time\n"
    "  --seed N        of what is generated\n"
    "  --all           print every setting, not only the chosen\n"
    "  --markdown      print the chosen as a table for documents too\n"
    "  --plot FILE     queries/s by recall and by CDR, SVG\n"
    "  --json FILE     append every run as a line of JSON\n"
    "  --quick         50000 documents, 200 queries, 1 run: to see that it works\n";

static void parse(struct bench *bench, int count, char **arguments) {
    static const char *const sets[] = {"clustered", "weak", "random", "documents", "signatures"};
    const struct measure_option options[] = {
        {.name = "set", .text = &bench->set},
        {.name = "methods", .text = &bench->methods},
        {.name = "plot", .text = &bench->plot},
        {.name = "keep", .text = &bench->keep},
        {.name = "count", .number = &bench->count, .least = 1000, .most = 1000000000, .quick = 50000},
        {.name = "queries", .number = &bench->queries, .least = 2, .most = 1000000, .quick = 200},
        {.name = "seed", .number = &bench->seed, .most = UINT64_MAX},
        {.name = "runs", .number = &bench->runs, .least = 1, .most = MEASURE_MAX_RUNS, .quick = 1},
        {.name = "json", .file = &bench->json},
        {.name = "all", .flag = &bench->all},
        {.name = "markdown", .flag = &bench->markdown},
        {.name = NULL},
    };
    const int operands = measure_parse(options, usage, count, arguments);
    bench->paths = arguments + operands;
    bench->path_count = (size_t)(count - operands);
    size_t set = 0;
    while (set < 5 && strcmp(sets[set], bench->set) != 0) set++;
    const bool fits = set < 3 ? bench->path_count == 0 : set == 3 ? bench->path_count > 0 : bench->path_count == 1;
    if (set == 5 || !fits) measure_usage(usage, 2);
    topk_methods_check(bench->methods);
}

int main(int count, char **arguments) {
    static struct bench bench = {.set = "clustered", .queries = 1000, .seed = 1, .runs = 3};
    parse(&bench, count, arguments);
    measure_processor_time();
    measure_folder_make(bench.folder);
    nigh_error error;
    measure_must(nigh_context_new(NULL, &bench.context, &error), &error, "starting");
    measure_print_host(stdout, nigh_context_kernel(bench.context));
    measure_all(&bench, arguments[0]);
    nigh_context_free(bench.context);
    measure_folder_remove(bench.folder);
    if (bench.json != NULL) (void)fclose(bench.json);
    return 0;
}
