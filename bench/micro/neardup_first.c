/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding all matches against finding any one, by how many queries have a match: many
 * queries in one call, one query a call, and a batch against a file of chunks.  What is
 * compared takes turns.  A probe is one look-up in one table.
 */
#include "neardup_first.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ALONE 20000u /* queries that are asked one a call */
#define MODES 2u

static const struct finder_setting settings[] = {
    {.name = "tables 4 choose 1", .method = NIGH_FINDER_TABLES, .blocks = 4, .leading = 1},
    {.name = "tables 5 choose 2", .method = NIGH_FINDER_TABLES, .blocks = 5, .leading = 2},
    {.name = "psm k 15", .method = NIGH_FINDER_PSM, .probes = 15, .rotations = 1},
    {.name = "psm k 48", .method = NIGH_FINDER_PSM, .probes = 48, .rotations = 1},
    {.name = "psm k 128", .method = NIGH_FINDER_PSM, .probes = 128, .rotations = 1},
    {.name = "psm 2 tables, k 8", .method = NIGH_FINDER_PSM, .probes = 8, .rotations = 2},
};
#define SETTINGS (sizeof settings / sizeof settings[0])

static const uint32_t shares[] = {1, 12, 90}; /* of a hundred */
#define SHARES (sizeof shares / sizeof shares[0])

static const nigh_find_mode modes[MODES] = {NIGH_FIND_ALL, NIGH_FIND_ANY};

/* Queries of which a share has a match, out of all that were made. */
struct chosen {
    struct fingerprints prints; /* with own queries */
    uint32_t share;
};

struct measured {
    struct series seconds[MODES];
    double probes[MODES], recall[MODES];
};

/* Takes queries with and without a match in turn, so that they mix as they should. */
static void choose(const struct fingerprints *all, uint32_t share, struct chosen *out) {
    out->share = share;
    out->prints = *all;
    struct fingerprints *prints = &out->prints;
    prints->query_bytes = measure_allocate(all->queries, FINGERPRINT_BYTES);
    prints->weights = measure_allocate(all->queries, FINGERPRINT_BITS);
    prints->truth = measure_allocate(all->queries, sizeof *prints->truth);
    prints->queries = 0;
    size_t next[2] = {0, 0};
    for (size_t i = 0;; i++) {
        const size_t wanted = (i + 1) * share / 100 > i * share / 100;
        size_t q = next[wanted];
        while (q < all->queries && (all->truth[q] > 0) != wanted) q++;
        if (q == all->queries) return;
        next[wanted] = q + 1;
        const size_t place = prints->queries++;
        memcpy(prints->query_bytes + place * FINGERPRINT_BYTES, all->query_bytes + q * FINGERPRINT_BYTES,
               FINGERPRINT_BYTES);
        memcpy(prints->weights + place * FINGERPRINT_BITS, all->weights + q * FINGERPRINT_BITS, FINGERPRINT_BITS);
        prints->truth[place] = all->truth[q];
    }
}

static void chosen_free(struct chosen *chosen) {
    free(chosen->prints.query_bytes);
    free(chosen->prints.weights);
    free(chosen->prints.truth);
}

/* The seconds of one query a call. */
static double find_alone(const struct fingerprints *prints, size_t count, const nigh_finder *finder,
                         nigh_find_mode mode) {
    double seconds = 0;
    struct fingerprints one = *prints;
    for (size_t q = 0; q < count; q++) {
        nigh_results *results = NULL;
        one.query_bytes = prints->query_bytes + q * FINGERPRINT_BYTES;
        one.weights = prints->weights + q * FINGERPRINT_BITS;
        seconds += fingerprints_find(&one, 1, finder, mode, &results);
        nigh_results_free(results);
    }
    return seconds;
}

static void note(const struct fingerprints *prints, const nigh_results *results, size_t mode, double seconds,
                 struct measured *out) {
    nigh_results_info info = {.size = sizeof info};
    nigh_results_describe(results, &info);
    series_add(&out->seconds[mode], seconds);
    out->probes[mode] = (double)info.probes / (double)prints->queries;
    out->recall[mode] = fingerprints_recall(prints, prints->queries, results, modes[mode]);
}

static void report(const struct chosen *chosen, const char *name, const struct measured *measured) {
    const double queries = (double)chosen->prints.queries;
    const double all = series_median(&measured->seconds[0]);
    const double any = series_median(&measured->seconds[1]);
    (void)printf("%3u%%  %-18s %8.1f %8.1f %6.2f %11.0f %11.0f %6.2f %8.4f", chosen->share, name, measured->probes[0],
                 measured->probes[1], measured->probes[0] / measured->probes[1], queries / all, queries / any,
                 all / any, measured->recall[1]);
}

static void run_finder(const struct chosen *chosen, const struct finder_setting *setting, const nigh_finder *finder,
                       uint64_t runs, FILE *json) {
    const struct fingerprints *prints = &chosen->prints;
    const size_t alone = prints->queries < ALONE ? prints->queries : ALONE;
    struct measured measured = {.probes = {0}};
    struct series one[MODES] = {{.runs = 0}};
    for (uint64_t run = 0; run < runs; run++) {
        for (size_t mode = 0; mode < MODES; mode++) {
            nigh_results *results = NULL;
            const double seconds = fingerprints_find(prints, prints->queries, finder, modes[mode], &results);
            note(prints, results, mode, seconds, &measured);
            measure_json(json, "neardup first", setting->name, 1, prints->queries, run, seconds);
            nigh_results_free(results);
            series_add(&one[mode], find_alone(prints, alone, finder, modes[mode]));
        }
    }
    report(chosen, setting->name, &measured);
    (void)printf(" %8.2f %8.2f %6.2f\n", 1e6 * series_median(&one[0]) / (double)alone,
                 1e6 * series_median(&one[1]) / (double)alone, series_median(&one[0]) / series_median(&one[1]));
    (void)fflush(stdout);
}

static void run_batch(const struct chosen *chosen, nigh_chunks *chunks, uint64_t runs) {
    static const struct finder_setting setting = {.name = "a file, psm k 48", .method = NIGH_FINDER_PSM, .probes = 48};
    const struct fingerprints *prints = &chosen->prints;
    struct measured measured = {.probes = {0}};
    for (uint64_t run = 0; run < runs; run++) {
        for (size_t mode = 0; mode < MODES; mode++) {
            nigh_results *results = NULL;
            const double seconds = fingerprints_match(prints, prints->queries, chunks, &setting, modes[mode], &results);
            note(prints, results, mode, seconds, &measured);
            nigh_results_free(results);
        }
    }
    report(chosen, setting.name, &measured);
    (void)printf("\n");
}

void neardup_first(struct fingerprints *prints, const char *chunks_path, uint64_t runs, FILE *json) {
    struct chosen chosen[SHARES];
    nigh_finder_info info;
    for (size_t i = 0; i < SHARES; i++) choose(prints, shares[i], &chosen[i]);
    (void)printf("\nqueries: %zu, %zu and %zu of which 1%%, 12%% and 90%% have a match\n", chosen[0].prints.queries,
                 chosen[1].prints.queries, chosen[2].prints.queries);
    (void)printf(
        "                          probes a query           many queries a call, q/s             one a call, us\n"
        "have                         all      any  saved         all         any  times   recall      all"
        "      any  times\n");
    for (size_t s = 0; s < SETTINGS; s++) {
        nigh_finder *finder = fingerprints_finder(prints, &settings[s], &info);
        for (size_t i = 0; i < SHARES; i++) run_finder(&chosen[i], &settings[s], finder, runs, json);
        nigh_finder_free(finder);
    }
    nigh_chunks *chunks = fingerprints_chunks(prints, chunks_path, (size_t)prints->rows / 8 + 1);
    for (size_t i = 0; i < SHARES; i++) run_batch(&chosen[i], chunks, runs);
    nigh_chunks_close(chunks);
    for (size_t i = 0; i < SHARES; i++) chosen_free(&chosen[i]);
}
