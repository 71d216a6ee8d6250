/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding and asking in turn.  One that is made anew is the same object with one part:
 * rows that came since are scanned, so that all ways find the same, but for psm, whose
 * probes depend on how many rows a part has.
 */
#include "neardup_grow.h"

#include <inttypes.h>

#include "finder/growing.h"

#define BATCH 1000u
#define ALL_PARTS UINT32_MAX /* for `larger`: nothing is too large to be made anew */

static const struct finder_setting settings[] = {
    {.name = "tables 4 choose 1", .method = NIGH_FINDER_TABLES, .blocks = 4, .leading = 1},
    {.name = "psm, recall .95", .method = NIGH_FINDER_PSM, .rotations = 1, .recall = 0.95},
};
#define SETTINGS (sizeof settings / sizeof settings[0])

struct growth {
    const char *name;           /* NULL: what the library does */
    uint32_t tail_most, larger; /* 0: the same */
};

static const struct growth growths[] = {
    {.name = "grows"},
    {.name = "anew every 100,000", .tail_most = 100000, .larger = ALL_PARTS},
    {.name = "anew every 10,000", .tail_most = 10000, .larger = ALL_PARTS},
    {.name = "anew every 1,000", .tail_most = 1000, .larger = ALL_PARTS},
};
#define GROWTHS (sizeof growths / sizeof growths[0])

struct grown {
    double add_seconds, find_seconds, worst_add;
    uint64_t matched;
    nigh_growing_info info;
};

static nigh_growing_finder *start(const struct fingerprints *prints, const struct finder_setting *setting,
                                  const struct growth *growth) {
    nigh_error error;
    nigh_growing_finder *finder = NULL;
    nigh_finder_options options;
    nigh_finder_options_init(&options);
    options.method = setting->method;
    options.width_bits = FINGERPRINT_BITS;
    options.radius = prints->radius;
    options.blocks = setting->blocks;
    options.leading = setting->leading;
    options.rotations = setting->rotations;
    if (setting->recall > 0) options.recall = setting->recall;
    options.threads = 1;
    measure_must(nigh_growing_finder_new(prints->context, &options, &finder, &error), &error, "starting");
    if (growth->tail_most != 0) finder->tail_most = growth->tail_most;
    if (growth->larger != 0) finder->larger = growth->larger;
    return finder;
}

static uint64_t ask(const struct fingerprints *prints, const nigh_growing_finder *finder, size_t first, size_t count) {
    nigh_error error;
    nigh_results *results = NULL;
    nigh_find_options options;
    uint64_t matched = 0;
    nigh_find_options_init(&options);
    options.mode = NIGH_FIND_ANY;
    options.threads = 1;
    options.weights = prints->weights + first * FINGERPRINT_BITS;
    measure_must(nigh_growing_finder_find(finder, prints->query_bytes + first * FINGERPRINT_BYTES, count, &options,
                                          &results, &error),
                 &error, "finding");
    for (size_t q = 0; q < count; q++) {
        size_t some;
        (void)nigh_results_matches(results, q, &some);
        matched += some > 0;
    }
    nigh_results_free(results);
    return matched;
}

static void grow(const struct fingerprints *prints, const struct finder_setting *setting, const struct growth *growth,
                 struct grown *out) {
    nigh_error error;
    nigh_growing_finder *finder = start(prints, setting, growth);
    *out = (struct grown){.info = {.size = sizeof out->info}};
    for (size_t at = 0; at + BATCH <= prints->rows; at += BATCH) {
        const double begun = measure_now();
        measure_must(nigh_growing_finder_add(finder, prints->row_bytes + at * FINGERPRINT_BYTES, BATCH, &error), &error,
                     "adding");
        const double added = measure_now();
        out->matched += ask(prints, finder, at, BATCH);
        out->find_seconds += measure_now() - added;
        out->add_seconds += added - begun;
        if (added - begun > out->worst_add) out->worst_add = added - begun;
    }
    nigh_growing_finder_describe(finder, &out->info);
    nigh_growing_finder_free(finder);
}

static void report(const struct fingerprints *prints, const char *method, const char *name, const struct grown *grown,
                   FILE *json) {
    const double rows = (double)prints->rows;
    measure_json(json, "neardup grow", name, 1, (size_t)prints->rows, 0, grown->add_seconds + grown->find_seconds);
    (void)printf("%-18s %-20s %9.2f %9.2f %9.2f %9.1f %9.1f %6u %8.1f %9" PRIu64 "\n", method, name,
                 1e6 * grown->add_seconds / rows, 1e6 * grown->find_seconds / rows,
                 grown->add_seconds + grown->find_seconds, 1e3 * grown->worst_add, (double)grown->info.built / rows,
                 grown->info.parts, (double)grown->info.bytes / rows, grown->matched);
    (void)fflush(stdout);
}

static void print_heading(const struct fingerprints *prints) {
    (void)printf("\n%" PRIu64 " rows, %u at a time, and a query for each, any match within %u bits\n"
                 "                                         add, us  find, us    all, s  most, ms   built, x  parts"
                 "  bytes/row   matched\n",
                 prints->rows, BATCH, prints->radius);
}

/* Rows a second, added and asked for. */
static double rate(const struct fingerprints *prints, const struct grown *grown) {
    return (double)prints->rows / (grown->add_seconds + grown->find_seconds);
}

void neardup_grow(const struct fingerprints *prints, FILE *json) {
    struct grown grown[GROWTHS];
    print_heading(prints);
    for (size_t s = 0; s < SETTINGS; s++) {
        for (size_t g = 0; g < GROWTHS; g++) {
            grow(prints, &settings[s], &growths[g], &grown[g]);
            report(prints, settings[s].name, growths[g].name, &grown[g], json);
        }
        measure_figure(&(struct measure_figure){.bench = "neardup",
                                                .what = settings[s].name,
                                                .unit = "rows/s",
                                                .value = rate(prints, &grown[0]),
                                                .beside = rate(prints, &grown[1]),
                                                .other = growths[1].name});
    }
}

void neardup_grow_choices(const struct fingerprints *prints, FILE *json) {
    static const uint32_t tails[] = {1000, 2000, 4000, 8000};
    static const uint32_t larger[] = {1, 2, 4, 8, 16};
    struct grown grown;
    print_heading(prints);
    for (size_t s = 0; s < SETTINGS; s++) {
        for (size_t t = 0; t < sizeof tails / sizeof tails[0]; t++) {
            for (size_t l = 0; l < sizeof larger / sizeof larger[0]; l++) {
                char name[64];
                const struct growth growth = {.tail_most = tails[t], .larger = larger[l]};
                (void)snprintf(name, sizeof name, "tail %u, larger %u", tails[t], larger[l]);
                grow(prints, &settings[s], &growth, &grown);
                report(prints, settings[s].name, name, &grown, json);
            }
        }
    }
}
