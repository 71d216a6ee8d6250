/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast masked and weighted distances are, beside plain ones: every kernel, one thread,
 * nothing but the kernel (kernel_table.c).  In the same run: how many times as fast as the
 * loop of popcnt (of additions, where a CPU has no popcnt), and as the plain distance.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "kernel_table.h"
#include "measure.h"

#define KINDS 3u /* plain, masked, weighted */
#define MAX_KERNELS 8u
#define MAX_WORDS 64u

static const uint32_t plane_counts[KINDS] = {0, 1, NIGH__PLANES};
static const char *const kind_names[KINDS] = {"plain", "masked", "weighted"};

struct bench {
    uint64_t megabytes;
    uint64_t bits; /* 0: all */
    uint64_t runs;
    bool wall;
    bool generic;
    FILE *json;
    uint64_t *memory;
    const struct nigh__hamming *kernels[MAX_KERNELS]; /* that run here */
    size_t kernel_count;
    double rates[MAX_KERNELS][KINDS][2][KERNEL_BATCHES];
};

/* What the others are compared with: the loop of popcnt, or the portable one where there is none. */
static size_t loop_kernel(const struct bench *bench) {
    size_t k = 0;
    while (k + 1 < bench->kernel_count && strcmp(bench->kernels[k]->name, "popcnt") != 0) k++;
    return k;
}

/* The portable one is the last, and left out unless it is asked for or there is no popcnt. */
static void choose_kernels(struct bench *bench) {
    const struct nigh__hamming *kernel;
    for (size_t i = 0; (kernel = nigh__hamming_at(i)) != NULL && bench->kernel_count < MAX_KERNELS; i++) {
        const bool last = nigh__hamming_at(i + 1) == NULL;
        if ((kernel->needs & ~nigh__cpu_features()) != 0) continue;
        const bool has_loop = i > 0 && strcmp(nigh__hamming_at(i - 1)->name, "popcnt") == 0;
        if (!last || bench->generic || !has_loop) bench->kernels[bench->kernel_count++] = kernel;
    }
}

static void make_memory(struct bench *bench) {
    struct nigh__rng rng = {.state = 7};
    const size_t words = (size_t)bench->megabytes << 17;
    bench->memory = measure_allocate(words, sizeof *bench->memory);
    for (size_t i = 0; i < words; i++) bench->memory[i] = nigh__rng_next(&rng);
}

static void keep_fastest(double best[2][KERNEL_BATCHES], double rates[2][KERNEL_BATCHES]) {
    for (size_t where = 0; where < 2; where++) {
        for (size_t q = 0; q < KERNEL_BATCHES; q++)
            if (rates[where][q] > best[where][q]) best[where][q] = rates[where][q];
    }
}

/* Kernels and kinds take turns, so that whatever else the machine does hits all alike. */
static void measure_width(struct bench *bench, size_t words) {
    memset(bench->rates, 0, sizeof bench->rates);
    for (size_t turn = 0; turn < bench->runs * bench->kernel_count * KINDS; turn++) {
        const size_t k = turn / KINDS % bench->kernel_count;
        const size_t kind = turn % KINDS;
        const struct kernel_setting setting = {.plain = bench->kernels[k],
                                               .weighted = nigh__weighted_choose(bench->kernels[k]->name),
                                               .plane_count = plane_counts[kind],
                                               .words = words};
        double rates[2][KERNEL_BATCHES];
        kernel_rates(&setting, bench->memory, (size_t)bench->megabytes << 20, 1, bench->json, rates);
        keep_fastest(bench->rates[k][kind], rates);
    }
}

/* From memory, to another kernel or kind. */
static void print_ratios(double rates[2][KERNEL_BATCHES], double others[2][KERNEL_BATCHES]) {
    (void)printf("  |");
    for (size_t q = 0; q < KERNEL_BATCHES; q++) (void)printf(" %5.2f", rates[1][q] / others[1][q]);
}

static void report_width(struct bench *bench, size_t words) {
    const size_t loop = loop_kernel(bench);
    (void)printf("\n%zu bits                 from the cache, queries   |    from memory, queries    | to %-7s loop  | "
                 "to plain\n",
                 words * 64, bench->kernels[loop]->name);
    (void)printf("kernel   counts         1       8      64  |       1       8      64  |     1     8    64  |     1  "
                 "   8    64\n");
    for (size_t k = 0; k < bench->kernel_count; k++) {
        for (size_t kind = 0; kind < KINDS; kind++) {
            (void)printf("%-8s %-8s", bench->kernels[k]->name, kind_names[kind]);
            kernel_rates_print(bench->rates[k][kind]);
            print_ratios(bench->rates[k][kind], bench->rates[loop][kind]);
            print_ratios(bench->rates[k][kind], bench->rates[k][0]);
            (void)printf("\n");
        }
    }
    (void)fflush(stdout);
}

/* The best kernel, from memory, 64 queries at once: masked and weighted distances beside plain ones. */
static void note_width(struct bench *bench, size_t words) {
    for (size_t kind = 1; kind < KINDS; kind++) {
        char what[64];
        (void)snprintf(what, sizeof what, "%s, %zu bits", kind_names[kind], words * 64);
        measure_figure(&(struct measure_figure){.bench = "weighted",
                                                .what = what,
                                                .unit = "M distances/s",
                                                .value = bench->rates[0][kind][1][KERNEL_BATCHES - 1],
                                                .beside = bench->rates[0][0][1][KERNEL_BATCHES - 1],
                                                .other = "plain distances"});
    }
}

static const char usage[] =
    "usage: bench_weighted [--bits N] [--megabytes N] [--runs N] [--json FILE] [--quick] [--generic] [--wall]\n"
    "  --bits N       width of a signature, a multiple of 64 to 4096 (default: 64, 256, 1024, 4096)\n"
    "  --megabytes N  of signatures to scan (default 128)\n"
    "  --runs N       of each measurement (default 10, at most 1000)\n"
    "  --json FILE    append every run as a line of JSON\n"
    "  --quick        16 megabytes and 3 runs: to see that it works\n"
    "  --generic      also the portable kernel, which takes as long as all others\n"
    "  --wall         by the clock on the wall, not by processor time\n";

static void parse(struct bench *bench, int count, char **arguments) {
    const struct measure_option options[] = {
        {.name = "bits", .number = &bench->bits, .least = 64, .most = (uint64_t)MAX_WORDS * 64},
        {.name = "megabytes", .number = &bench->megabytes, .least = 1, .most = 1 << 16, .quick = 16},
        {.name = "runs", .number = &bench->runs, .least = 1, .most = MEASURE_MAX_RUNS, .quick = 3},
        {.name = "json", .file = &bench->json},
        {.name = "generic", .flag = &bench->generic},
        {.name = "wall", .flag = &bench->wall},
        {.name = NULL},
    };
    if (measure_parse(options, usage, count, arguments) != count) measure_usage(usage, 2);
}

int main(int count, char **arguments) {
    static struct bench bench = {.megabytes = 128, .runs = 10};
    static const size_t widths[] = {1, 4, 16, 64};
    parse(&bench, count, arguments);
    if (!bench.wall) measure_processor_time();
    choose_kernels(&bench);
    measure_print_host(stdout, bench.kernels[0]->name);
    (void)printf("million distances a second, the fastest of %" PRIu64 " turns; one thread, by %s time\n", bench.runs,
                 bench.wall ? "wall" : "processor");
    make_memory(&bench);
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        const size_t words = bench.bits == 0 ? widths[i] : (size_t)bench.bits / 64;
        measure_width(&bench, words);
        report_width(&bench, words);
        note_width(&bench, words);
        if (bench.bits != 0) break;
    }
    free(bench.memory);
    if (bench.json != NULL) (void)fclose(bench.json);
    return 0;
}
