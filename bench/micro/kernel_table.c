/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One thread, nothing but the kernel.  "Cache" scans the same 16 KB again and
 * again, "memory" all there is, so the first shows the arithmetic and the second
 * what is left of it.  The limits are those of a hard search: four deviations
 * below the mean distance of random rows, where hardly a row is a hit but none
 * can be left early.  Searches for near rows are faster in batches.
 */
#include "kernel_table.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "kernel/hamming.h"
#include "measure.h"

#define CACHED_BYTES 16384u
#define BATCH_BYTES ((size_t)64 << 20) /* more than caches hold; a batch over more would only take longer */
#define BLOCK_ROWS 4096u
#define HITS 32768u
#define MAX_WORDS 64u
#define SECONDS_A_CELL 0.5 /* slow kernels get fewer runs, but three */

struct setting {
    const struct nigh__hamming *kernel;
    size_t words;
    size_t queries;
    size_t bytes; /* scanned in one go */
    size_t repeat;
};

/* bits / 2 - 4 * sqrt(bits) / 2 */
static uint32_t hard_limit(size_t bits) {
    size_t root = 1;
    while (root * root < bits) root++;
    return (uint32_t)(bits / 2 - 2 * root);
}

/* One pass over the memory, in blocks as the search makes them. */
static double pass(const struct setting *setting, const uint64_t *memory, const uint64_t *queries,
                   struct nigh__hit *hits) {
    uint32_t limits[NIGH__BATCH_QUERIES];
    for (size_t q = 0; q < NIGH__BATCH_QUERIES; q++) limits[q] = hard_limit(setting->words * 64);
    const size_t rows = setting->bytes / 8 / setting->words;
    const size_t block = HITS / setting->queries < BLOCK_ROWS ? HITS / setting->queries : BLOCK_ROWS;
    double start = measure_now();
    for (size_t again = 0; again < setting->repeat; again++) {
        for (size_t row = 0; row < rows; row += block) {
            size_t some = rows - row < block ? rows - row : block;
            (void)setting->kernel->batch(queries, setting->queries, memory + row * setting->words, some, setting->words,
                                         limits, hits);
        }
    }
    return measure_now() - start;
}

/* Prints the median of M rows compared with a query in a second. */
static void cell(const struct setting *setting, const uint64_t *memory, size_t runs, FILE *json) {
    static struct nigh__hit hits[HITS];
    static uint64_t queries[NIGH__BATCH_QUERIES * MAX_WORDS];
    struct nigh__rng rng = {.state = 1};
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) queries[i] = nigh__rng_next(&rng);
    struct series series = {.runs = 0};
    char what[64];
    (void)snprintf(what, sizeof what, "%s %zu bits %s", setting->kernel->name, setting->words * 64,
                   setting->repeat > 1 ? "cache" : "memory");
    double spent = 0;
    for (size_t run = 0; run < runs && (run < 3 || spent < SECONDS_A_CELL); run++) {
        series_add(&series, pass(setting, memory, queries, hits));
        measure_json(json, "kernels", what, 1, setting->queries, run, series.seconds[run]);
        spent += series.seconds[run];
    }
    const size_t rows = setting->bytes / 8 / setting->words;
    double distances = (double)rows * (double)(setting->queries * setting->repeat);
    (void)printf(" %7.0f", distances / series_median(&series) / 1e6);
}

static void line(const struct nigh__hamming *kernel, size_t words, const uint64_t *memory, size_t bytes, size_t runs,
                 FILE *json) {
    static const size_t query_counts[] = {1, 8, 64};
    (void)printf("%-8s %6zu", kernel->name, words * 64);
    struct setting setting = {.kernel = kernel, .words = words};
    for (size_t where = 0; where < 2; where++) {
        for (size_t q = 0; q < 3; q++) {
            setting.queries = query_counts[q];
            setting.bytes = where == 0 ? CACHED_BYTES : q == 0 || bytes < BATCH_BYTES ? bytes : BATCH_BYTES;
            setting.repeat = where == 0 ? 1 + 4096 / setting.queries : 1;
            cell(&setting, memory, runs, json);
        }
        (void)printf(where == 0 ? "  |" : "\n");
    }
    (void)fflush(stdout);
}

void kernel_table(const void *memory, size_t bytes, size_t runs, FILE *json) {
    (void)printf("\nkernels, one thread, million distances a second (median of up to %zu)\n", runs);
    (void)printf("                 from the cache, queries   |  from memory, queries\n");
    (void)printf("kernel     bits       1       8      64  |       1       8      64\n");
    const struct nigh__hamming *kernel;
    for (size_t i = 0; (kernel = nigh__hamming_at(i)) != NULL; i++) {
        if ((kernel->needs & ~nigh__cpu_features()) != 0) {
            (void)printf("%-8s not on this CPU\n", kernel->name);
            continue;
        }
        for (size_t words = 1; words <= MAX_WORDS; words *= 2) line(kernel, words, memory, bytes, runs, json);
    }
}
