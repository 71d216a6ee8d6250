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
#include "measure.h"
#include "scan/ranking.h"

#define CACHED_BYTES 16384u
#define BATCH_BYTES ((size_t)64 << 20) /* more than caches hold; a batch over more would only take longer */
#define BLOCK_ROWS 4096u
#define HITS 32768u
#define MAX_WORDS 64u
#define SECONDS_A_CELL 0.5 /* slow kernels get fewer runs, but three */

/* What one measurement needs and its clock shall not see made. */
struct asked {
    uint64_t queries[NIGH__BATCH_QUERIES * MAX_WORDS];
    uint64_t planes[NIGH__BATCH_QUERIES * NIGH__PLANES * MAX_WORDS];
    uint32_t limits[NIGH__BATCH_QUERIES];
    struct nigh__hit hits[HITS];
};

/* What a bit of a short text counts: most are not touched, and few weigh much. */
static uint64_t some_level(struct nigh__rng *rng) {
    static const uint8_t levels[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 6, 8};
    return levels[nigh__rng_next(rng) % 16];
}

static void make_planes(uint64_t *planes, uint32_t count, size_t words, struct nigh__rng *rng) {
    memset(planes, 0, count * words * sizeof *planes);
    for (size_t bit = 0; bit < words * 64; bit++) {
        uint64_t level = some_level(rng);
        if (count == 1) level = level != 0;
        for (uint32_t p = 0; p < count; p++) planes[p * words + bit / 64] |= (level >> p & 1) << bit % 64;
    }
}

/* Four deviations below the mean of random rows: half the whole - 2 * the root of the squares. */
static uint32_t hard_limit(const struct nigh__ranking_sums *sums) {
    size_t root = 1;
    while (root * root < sums->squares) root++;
    return sums->whole / 2 > 2 * root ? (uint32_t)(sums->whole / 2 - 2 * root) : 0;
}

static void asked_make(struct asked *asked, const struct kernel_setting *setting) {
    struct nigh__rng rng = {.state = 1};
    const size_t words = setting->words;
    for (size_t i = 0; i < sizeof asked->queries / sizeof asked->queries[0]; i++)
        asked->queries[i] = nigh__rng_next(&rng);
    for (size_t q = 0; q < setting->queries; q++) {
        struct nigh__ranking_sums sums = {(uint32_t)words * 64, words * 64};
        uint64_t *planes = asked->planes + q * setting->plane_count * words;
        make_planes(planes, setting->plane_count, words, &rng);
        if (setting->plane_count != 0) nigh__planes_sum(planes, setting->plane_count, words, &sums);
        asked->limits[q] = hard_limit(&sums);
    }
}

/* One pass over the memory, in blocks as the search makes them. */
static double pass(const struct kernel_setting *setting, const uint64_t *memory, struct asked *asked) {
    const struct nigh__planes planes = {asked->planes, setting->plane_count};
    const size_t words = setting->words;
    const size_t rows = setting->bytes / 8 / words;
    const size_t block = HITS / setting->queries < BLOCK_ROWS ? HITS / setting->queries : BLOCK_ROWS;
    double start = measure_now();
    for (size_t again = 0; again < setting->repeat; again++) {
        for (size_t row = 0; row < rows; row += block) {
            size_t some = rows - row < block ? rows - row : block;
            if (setting->plane_count == 0)
                (void)setting->plain->batch(asked->queries, setting->queries, memory + row * words, some, words,
                                            asked->limits, asked->hits);
            else
                (void)setting->weighted->batch(asked->queries, &planes, setting->queries, memory + row * words, some,
                                               words, asked->limits, asked->hits);
        }
    }
    return measure_now() - start;
}

/* The median of M rows compared with a query in a second. */
static double rate_of(const struct kernel_setting *setting, const void *memory, size_t runs, FILE *json) {
    static struct asked asked;
    static const char *const kinds[] = {"", " masked", " planes", " planes", " weighted"};
    struct series series = {.runs = 0};
    char what[64];
    asked_make(&asked, setting);
    (void)snprintf(what, sizeof what, "%s%s %zu bits %s",
                   setting->plane_count == 0 ? setting->plain->name : setting->weighted->name,
                   kinds[setting->plane_count], setting->words * 64, setting->repeat > 1 ? "cache" : "memory");
    double spent = 0;
    for (size_t run = 0; run < runs && (run < 3 || spent < SECONDS_A_CELL); run++) {
        series_add(&series, pass(setting, memory, &asked));
        measure_json(json, "kernels", what, 1, setting->queries, run, series.seconds[run]);
        spent += series.seconds[run];
    }
    const size_t rows = setting->bytes / 8 / setting->words;
    return (double)rows * (double)(setting->queries * setting->repeat) / series_median(&series) / 1e6;
}

void kernel_rates(const struct kernel_setting *kind, const void *memory, size_t bytes, size_t runs, FILE *json,
                  double rates[2][KERNEL_BATCHES]) {
    static const size_t query_counts[KERNEL_BATCHES] = {1, 8, 64};
    struct kernel_setting setting = *kind;
    for (size_t where = 0; where < 2; where++) {
        for (size_t q = 0; q < KERNEL_BATCHES; q++) {
            setting.queries = query_counts[q];
            setting.bytes = where == 0 ? CACHED_BYTES : q == 0 || bytes < BATCH_BYTES ? bytes : BATCH_BYTES;
            setting.repeat = where == 0 ? 1 + 4096 / setting.queries : 1;
            rates[where][q] = rate_of(&setting, memory, runs, json);
        }
    }
}

void kernel_rates_print(double rates[2][KERNEL_BATCHES]) {
    for (size_t where = 0; where < 2; where++) {
        for (size_t q = 0; q < KERNEL_BATCHES; q++) (void)printf(" %7.0f", rates[where][q]);
        if (where == 0) (void)printf("  |");
    }
}

static void line(const struct nigh__hamming *kernel, size_t words, const void *memory, size_t bytes, size_t runs,
                 FILE *json) {
    const struct kernel_setting kind = {.plain = kernel, .words = words};
    double rates[2][KERNEL_BATCHES];
    kernel_rates(&kind, memory, bytes, runs, json, rates);
    (void)printf("%-8s %6zu", kernel->name, words * 64);
    kernel_rates_print(rates);
    (void)printf("\n");
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
