/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of our own searches.
 *
 * For each slice width, breadth after breadth until the CDR is beyond what is asked for
 * or there is as much to read as there are rows, each with several numbers of candidates.  The papers' way gets
 * the same choice of everything, though of every other width only: it is slow.
 */
#include "slices_grid.h"
#include "nearest_search.h"

#include <stdlib.h>

#define MIN_WIDTH 14u
#define MAX_WIDTH 20u
#define ENOUGH_CDR 0.992 /* the highest asked for, and a little */

static const uint32_t candidate_counts[] = {100, 300, 1000, 3000};

#define CANDIDATE_COUNTS (sizeof candidate_counts / sizeof candidate_counts[0])

/* ------------------------------------------------------------------ searching -- */

bool slices_grid_search(const struct nearest_set *set, const nigh_collection *collection,
                        const nigh_search_options *options, size_t at_once, size_t runs, struct slices_row *row) {
    nigh_search_options one = *options;
    one.threads = 1;
    uint32_t *distances = measure_allocate(set->query_count, NEAREST_K * sizeof *distances);
    const struct nearest_span all = {.count = set->query_count, .at_once = at_once};
    struct nearest_pass pass = {0};
    nigh_error error;
    for (size_t run = 0; run < runs && pass.scanned == 0; run++) {
        measure_must(nearest_search(set, collection, &one, all, distances, &pass, &error), &error, "searching");
        series_add(&row->seconds, pass.seconds);
    }
    row->postings = pass.postings;
    row->compared = pass.compared;
    row->quality = nearest_set_judge(set, 0, set->query_count, distances);
    free(distances);
    return pass.scanned == 0;
}

void slices_grid_warm_up(const struct nearest_set *set, const nigh_collection *collection) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    struct slices_row row = {.seconds = {.runs = 0}};
    options.method = NIGH_SEARCH_SLICES;
    options.breadth = 2;
    (void)slices_grid_search(set, collection, &options, 0, 1, &row);
}

/* ------------------------------------------------------------------- settings -- */

/* Lists of one width, open. */
struct lists {
    const nigh_collection *collection;
    uint32_t width;
    double build_seconds;
    double bytes; /* a row, itself included */
};

static void add_setting(struct slices_table *table, const struct lists *lists, bool paper, uint32_t breadth,
                        uint32_t candidates, size_t runs) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    struct slices_row *row = slices_table_add(table, paper ? SLICES_PAPER : SLICES_OURS);
    options.method = paper ? NIGH_SEARCH_SLICES_PLAIN : NIGH_SEARCH_SLICES;
    options.breadth = breadth;
    options.candidates = candidates;
    (void)snprintf(row->setting, sizeof row->setting, "w %u, i %u, M %u", lists->width, breadth, candidates);
    row->build_seconds = lists->build_seconds;
    row->bytes = lists->bytes;
    if (!slices_grid_search(table->set, lists->collection, &options, 0, runs, row)) {
        options.postings = NIGH_ALL_64; /* it would rather scan, which has a row of its own */
        row->seconds.runs = 0;
        (void)slices_grid_search(table->set, lists->collection, &options, 0, runs, row);
    }
    slices_table_json(table, row);
}

/* Whether so many bits to either side still mean fewer lists and fewer postings than there are rows. */
static bool is_worth_it(const struct nearest_set *set, uint32_t width, uint32_t breadth) {
    double values = 0; /* of a slice: width choose 0, 1, ..., breadth */
    double more = 1;
    for (uint32_t d = 0; d <= breadth; d++) {
        values += more;
        more = more * (width - d) / (d + 1);
    }
    const double lists = values * nigh_slices_count(set->bits, width);
    const double rows = (double)set->count;
    return lists < rows && lists * rows / (double)(UINT64_C(1) << width) < rows;
}

/* A breadth is the last if its fewest candidates are enough already. */
static void measure_lists(struct slices_table *table, const struct lists *lists, bool paper, size_t runs) {
    double least = 0;
    for (uint32_t breadth = 0; least < ENOUGH_CDR && is_worth_it(table->set, lists->width, breadth); breadth++) {
        double cdr = 0;
        for (size_t i = 0; i < CANDIDATE_COUNTS && cdr < ENOUGH_CDR; i++) {
            add_setting(table, lists, paper, breadth, candidate_counts[i], runs);
            const struct slices_row *row = &table->rows[table->count - 1];
            cdr = row->quality.cdr;
            if (i == 0) least = cdr;
            if (row->compared < 0.9 * candidate_counts[i]) break; /* there are no more */
        }
    }
}

static void measure_scan(struct slices_table *table, const nigh_collection *collection, size_t runs) {
    nigh_search_options options;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_SCAN;
    struct slices_row *row = slices_table_add(table, SLICES_SCAN);
    row->bytes = table->set->bits / 8.0;
    (void)slices_grid_search(table->set, collection, &options, 8, runs, row);
    row->postings = -1;
    slices_table_json(table, row);
}

void slices_grid_measure(struct slices_table *table, size_t runs) {
    for (uint32_t width = MIN_WIDTH; width <= MAX_WIDTH; width++) {
        uint64_t bytes = 0;
        struct lists lists = {.width = width};
        lists.build_seconds = nearest_set_lists(table->set, width, 1, &bytes);
        lists.bytes = table->set->bits / 8.0 + (double)bytes / (double)table->set->count;
        nigh_collection *collection = nearest_set_open(table->set, false);
        lists.collection = collection;
        slices_grid_warm_up(table->set, collection);
        measure_lists(table, &lists, false, runs);
        if (width % 2 == 0) measure_lists(table, &lists, true, 1);
        if (width == MAX_WIDTH) measure_scan(table, collection, runs);
        nigh_collection_close(collection);
    }
}
