/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our own contenders.
 *
 * One collection serves all: what is built beside it stays with those who have it open,
 * so each opens it right after its lists or its graph were made, and the next may
 * replace them.
 */
#include <stdlib.h>
#include <string.h>

#include "topk_methods.h"

#define SLICES "slices, ball"
#define DIRECTED "slices, directed"
#define SKETCH "sketch scan"

static void say_built(const struct topk_contender *contender) {
    (void)printf("%s: built in %.1f s (cpu), %.0f bytes a signature\n", contender->method, contender->built.seconds,
                 contender->built.bytes);
    (void)fflush(stdout);
}

static struct topk_contender *add_opened(struct topk_table *table, const char *method, bool load) {
    struct topk_contender *contender = topk_table_contender(table, method);
    contender->ours = true;
    contender->collection = nearest_set_open(table->set, load);
    contender->built.bytes = table->set->bits / 8.0;
    return contender;
}

static struct topk_contender *add_ours(struct topk_table *table, const char *method) {
    return add_opened(table, method, false);
}

/* Whether it can be done at all: a method may not be there, or not for these queries. */
static void try_last(struct topk_table *table, struct topk_contender *contender) {
    uint32_t distances[NEAREST_K];
    struct nearest_pass pass;
    nigh_error error;
    const struct nearest_span one = {.count = 1};
    const struct topk_row *row = &table->rows[table->count - 1];
    if (nearest_search(table->set, contender->collection, &row->options, one, distances, &pass, &error) != NIGH_OK)
        (void)nigh_error_format(&error, contender->lacking, sizeof contender->lacking);
}

/* ---------------------------------------------------------- what compares them all -- */

static void add_scan(struct topk_table *table) {
    struct topk_contender *contender = add_ours(table, TOPK_SCAN);
    contender->exact = true;
    contender->at_once = 8;
    topk_table_add(table, 0)->options.method = NIGH_SEARCH_SCAN;
}

static void add_sketches(struct topk_table *table, uint32_t bits) {
    struct topk_contender *contender = add_ours(table, SKETCH);
    contender->built.bytes += bits / 8.0; /* made when it is first asked */
    for (uint32_t rung = 0; rung < 18; rung += 2) {
        struct topk_row *row = topk_table_add(table, 0);
        row->options.method = NIGH_SEARCH_SKETCH;
        row->options.sketch_bits = bits;
        row->options.candidates = topk_rung(50, rung);
        (void)snprintf(row->setting, sizeof row->setting, "%u bits, M %u", bits, row->options.candidates);
    }
    try_last(table, contender);
}

/* ---------------------------------------------------------------------- lists -- */

static void ball_settings(struct topk_table *table, uint32_t width) {
    static const uint32_t candidates[] = {100, 300, 1000, 3000};
    for (uint32_t breadth = 0; breadth <= 3; breadth++) {
        for (size_t c = 0; c < 4; c++) {
            struct topk_row *row = topk_table_add(table, breadth);
            row->options.method = NIGH_SEARCH_SLICES;
            row->options.probe = NIGH_PROBE_BALL;
            row->options.breadth = breadth;
            row->options.candidates = candidates[c];
            (void)snprintf(row->setting, sizeof row->setting, "w %u, i %u, M %u", width, breadth, candidates[c]);
        }
    }
}

static void directed_settings(struct topk_table *table, uint32_t width) {
    static const uint32_t candidates[] = {100, 300, 1000, 3000};
    for (uint32_t c = 0; c < 4; c++) {
        for (uint32_t rung = 0; rung <= 16; rung += 2) {
            struct topk_row *row = topk_table_add(table, c);
            row->options.method = NIGH_SEARCH_SLICES;
            row->options.probe = NIGH_PROBE_DIRECTED;
            row->options.probes = topk_rung(64, rung);
            row->options.candidates = candidates[c];
            (void)snprintf(row->setting, sizeof row->setting, "w %u, %u probes, M %u", width,
                           (unsigned)row->options.probes, candidates[c]);
        }
    }
}

/* Lists of one width, searched in either way. */
static void add_lists(struct topk_table *table, uint32_t width, bool ball, bool directed) {
    uint64_t bytes = 0;
    const double seconds = nearest_set_lists(table->set, width, 1, &bytes);
    for (int way = 0; way < 2; way++) {
        if (!(way == 0 ? ball : directed)) continue;
        struct topk_contender *contender = add_ours(table, way == 0 ? SLICES : DIRECTED);
        contender->built.seconds = seconds;
        contender->built.bytes += (double)bytes / (double)table->set->count;
        if (way == 0)
            ball_settings(table, width);
        else
            directed_settings(table, width);
        try_last(table, contender);
        say_built(contender);
    }
}

/* The usual width and some about it: narrow ones suit long lists, wide ones few candidates. */
static void add_slices(struct topk_table *table, const char *chosen) {
    const bool ball = topk_is_chosen(chosen, "slices");
    const bool directed = topk_is_chosen(chosen, "directed");
    const uint32_t usual = nigh_slices_default_width(table->set->count, table->set->bits);
    if (!ball && !directed) return;
    for (int more = -3; more <= 2; more += 2 + (more > -2)) { /* -3, -1, 2 */
        const int64_t width = (int64_t)usual + more;
        if (width < NIGH_MIN_SLICE_WIDTH || width > NIGH_MAX_SLICE_WIDTH) continue;
        add_lists(table, (uint32_t)width, ball, directed);
    }
}

/* ---------------------------------------------------------------------- graph -- */

static void add_walk(struct topk_table *table, uint32_t ladder, uint32_t effort, uint32_t patience) {
    struct topk_row *row = topk_table_add(table, ladder);
    row->options.method = NIGH_SEARCH_GRAPH;
    row->options.effort = effort;
    row->options.patience = patience;
    if (patience == (uint32_t)NIGH_DEFAULT)
        (void)snprintf(row->setting, sizeof row->setting, "effort %u", effort);
    else
        (void)snprintf(row->setting, sizeof row->setting, "effort %u, patience %u", effort, patience);
}

/* By effort alone; by patience, with an effort that would let it walk on. */
static void graph_settings(struct topk_table *table) {
    static const uint32_t efforts[] = {NEAREST_K, 32, 64, 128, 256, 512, 1024};
    for (uint32_t rung = 0; rung <= 16; rung++) add_walk(table, 0, topk_rung(NEAREST_K, rung), (uint32_t)NIGH_DEFAULT);
    for (uint32_t rung = 0; rung <= 16; rung++) add_walk(table, 1, topk_rung(NEAREST_K, rung), 0);
    for (uint32_t e = 0; e < sizeof efforts / sizeof efforts[0]; e++)
        for (uint32_t rung = 0; rung <= 18 && topk_rung(1, rung) <= efforts[e] / 2; rung++)
            if (rung != 1) add_walk(table, 2 + e, efforts[e], topk_rung(1, rung)); /* which is 1 too */
}

static nigh_status build_graph(const struct topk_table *table, nigh_graph_result *result, double *seconds,
                               nigh_error *error) {
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    options.threads = 1;
    options.min_rows = 1;
    options.rebuild = 1;
    const double start = measure_now();
    const nigh_status status =
        nigh_graph_build(table->set->context, table->set->collection_path, &options, result, error);
    *seconds = measure_now() - start;
    return status;
}

static void add_graph(struct topk_table *table, const char *chosen) {
    nigh_error error;
    nigh_graph_result result = {.size = sizeof result};
    double seconds;
    const nigh_status status = build_graph(table, &result, &seconds, &error);
    for (int load = 0; load < 2; load++) {
        if (!topk_is_chosen(chosen, load ? "loaded" : "graph")) continue;
        struct topk_contender *contender = add_opened(table, load ? TOPK_LOADED : TOPK_GRAPH, load);
        if (status != NIGH_OK) {
            (void)nigh_error_format(&error, contender->lacking, sizeof contender->lacking);
            continue;
        }
        contender->built.seconds = seconds;
        contender->built.bytes += (double)result.bytes / (double)table->set->count;
        graph_settings(table);
        try_last(table, contender);
        say_built(contender);
    }
    if (status == NIGH_OK)
        (void)printf("graph: %.1f edges a node, recall@10 of its neighbours %.3f\n",
                     (double)result.edges / (double)table->set->count, result.recall);
}

void topk_ours_add(struct topk_table *table, const char *chosen) {
    if (topk_is_chosen(chosen, "scan")) add_scan(table);
    for (uint32_t bits = 64; bits <= 256 && bits < table->set->bits; bits += 64)
        if (topk_is_chosen(chosen, "sketch")) add_sketches(table, bits);
    add_slices(table, chosen);
    if (topk_is_chosen(chosen, "graph") || topk_is_chosen(chosen, "loaded")) add_graph(table, chosen);
}
