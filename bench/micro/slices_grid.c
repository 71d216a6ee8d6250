/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of our own searches.
 *
 * For each slice width, breadth after breadth until the CDR is beyond what is asked for
 * or there is as much to read as there are rows, each with several numbers of candidates.  The papers' way gets
 * the same choice of everything, though of every other width only: it is slow.
 */
#include "slices_grid.h"

#include <stdlib.h>

#define LEAST_WIDTH 14u
#define MOST_WIDTH 20u
#define ENOUGH_CDR 0.992 /* the highest asked for, and a little */

static const uint32_t candidate_counts[] = {100, 300, 1000, 3000};

#define CANDIDATE_COUNTS (sizeof candidate_counts / sizeof candidate_counts[0])

/* ------------------------------------------------------------------ searching -- */

static void take_distances(const struct slices_set *set, const nigh_results *results, size_t first, size_t count,
                           uint32_t *distances) {
    for (size_t q = 0; q < count; q++) {
        size_t found = 0;
        const nigh_match *matches = nigh_results_matches(results, q, &found);
        for (size_t i = 0; i < SLICES_K; i++)
            distances[(first + q) * SLICES_K + i] = i < found ? matches[i].distance : set->bits;
    }
}

/* One run over all queries.  Returns how many of them were answered by scanning in spite of lists. */
static uint64_t run_once(const struct slices_set *set, const nigh_collection *collection,
                         const nigh_search_options *options, size_t at_once, struct slices_row *row,
                         uint32_t *distances) {
    nigh_error error;
    uint64_t scanned = 0;
    double seconds = 0;
    row->postings = 0;
    row->compared = 0;
    for (size_t first = 0; first < set->query_count; first += at_once) {
        const size_t count = set->query_count - first < at_once ? set->query_count - first : at_once;
        nigh_results *results = NULL;
        nigh_results_info info = NIGH_RESULTS_INFO_INIT;
        const double start = measure_now();
        measure_must(nigh_search(collection, set->queries + first * (set->bits / 8), count, options, &results, &error),
                     &error, "searching");
        seconds += measure_now() - start;
        nigh_results_describe(results, &info);
        row->postings += (double)info.postings / (double)set->query_count;
        row->compared += (double)info.distances / (double)set->query_count;
        scanned += info.scanned;
        take_distances(set, results, first, count, distances);
        nigh_results_free(results);
    }
    series_add(&row->seconds, seconds);
    return scanned;
}

bool slices_grid_search(const struct slices_set *set, const nigh_collection *collection,
                        const nigh_search_options *options, size_t at_once, size_t runs, struct slices_row *row) {
    nigh_search_options one = *options;
    one.k = SLICES_K;
    one.threads = 1;
    uint32_t *distances = measure_allocate(set->query_count, SLICES_K * sizeof *distances);
    uint64_t scanned = 0;
    for (size_t run = 0; run < runs && scanned == 0; run++)
        scanned = run_once(set, collection, &one, at_once == 0 ? set->query_count : at_once, row, distances);
    row->quality = slices_set_judge(set, distances);
    free(distances);
    return scanned == 0;
}

void slices_grid_warm_up(const struct slices_set *set, const nigh_collection *collection) {
    nigh_search_options options = NIGH_SEARCH_OPTIONS_INIT;
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
    nigh_search_options options = NIGH_SEARCH_OPTIONS_INIT;
    struct slices_row *row = slices_table_add(table, paper ? SLICES_PAPER : SLICES_OURS);
    options.method = paper ? NIGH_SEARCH_SLICES_PLAIN : NIGH_SEARCH_SLICES;
    options.breadth = breadth;
    options.candidates = candidates;
    (void)snprintf(row->setting, sizeof row->setting, "w %u, i %u, M %u", lists->width, breadth, candidates);
    row->build_seconds = lists->build_seconds;
    row->bytes = lists->bytes;
    if (!slices_grid_search(table->set, lists->collection, &options, 0, runs, row)) {
        options.postings = UINT64_MAX; /* it would rather scan, which has a row of its own */
        row->seconds.runs = 0;
        (void)slices_grid_search(table->set, lists->collection, &options, 0, runs, row);
    }
    slices_table_json(table, row);
}

/* Whether so many bits to either side still mean fewer lists and fewer postings than there are rows. */
static bool is_worth_it(const struct slices_set *set, uint32_t width, uint32_t breadth) {
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
    nigh_search_options options = NIGH_SEARCH_OPTIONS_INIT;
    options.method = NIGH_SEARCH_SCAN;
    struct slices_row *row = slices_table_add(table, SLICES_SCAN);
    row->bytes = table->set->bits / 8.0;
    (void)slices_grid_search(table->set, collection, &options, 8, runs, row);
    row->postings = -1;
    slices_table_json(table, row);
}

void slices_grid_measure(struct slices_table *table, size_t runs) {
    for (uint32_t width = LEAST_WIDTH; width <= MOST_WIDTH; width++) {
        uint64_t bytes = 0;
        struct lists lists = {.width = width};
        lists.build_seconds = slices_set_lists(table->set, width, 1, &bytes);
        lists.bytes = table->set->bits / 8.0 + (double)bytes / (double)table->set->count;
        nigh_collection *collection = slices_set_open(table->set);
        lists.collection = collection;
        slices_grid_warm_up(table->set, collection);
        measure_lists(table, &lists, false, runs);
        if (width % 2 == 0) measure_lists(table, &lists, true, 1);
        if (width == MOST_WIDTH) measure_scan(table, collection, runs);
        nigh_collection_close(collection);
    }
}
