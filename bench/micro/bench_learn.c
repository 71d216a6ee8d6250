/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What learning takes with many documents and classes, by how many there are, and what it brings: by default as many
 * as the Open Directory has in the paper on S3H (topic_texts.h), with its settings: all words, 32 bits, 800,000
 * pairs that attract and a million that repel.
 *
 *     training   each method with a quarter, half and all of the documents: processor time and memory
 *     lookup     documents that were kept out ask, by the library's own measuring: hash lookup by tables and by the
 *                scan, against inverted lists
 *
 * One thread, so that processor time is that of one who has the machine alone.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "measure.h"
#include "topic_texts.h"

#define MAX_METHODS 8u

struct bench {
    nigh_context *context;
    uint64_t documents, classes, steps, features, bits, attractions, repulsions, iterations, radius, ask, memory, seed;
    const char *methods;
    bool as_paper, print;
    nigh_learn_method chosen[MAX_METHODS];
    size_t method_count;
    struct topic_texts texts;
    double read; /* when the last document had been read */
};

/* ------------------------------------------------------------------- training -- */

static void note_end(void *user) {
    struct bench *bench = user;
    bench->read = measure_now();
}

static void fill_options(const struct bench *bench, nigh_learn_options *options) {
    nigh_learn_options_init(options);
    options->width_bits = (uint32_t)bench->bits;
    options->max_features = (uint32_t)bench->features;
    options->min_documents = 1;
    options->language = "none"; /* generated words have no language */
    options->attraction_pairs = (uint32_t)bench->attractions;
    options->repulsion_pairs = (uint32_t)bench->repulsions;
    options->iterations = (uint32_t)bench->iterations;
    options->as_paper = bench->as_paper;
    options->memory_bytes = bench->memory << 30;
    options->threads = 1;
    options->seed = bench->seed;
}

/* Learns from the first of the documents; returns the seconds without reading. */
static double train(struct bench *bench, uint64_t documents, nigh_learn_method method, double before) {
    nigh_learn_result result = {.size = sizeof result};
    nigh_learn_options options;
    nigh_model *model = NULL;
    nigh_model_info info = {.size = sizeof info};
    nigh_error error;
    fill_options(bench, &options);
    options.method = method;
    bench->texts.documents = documents;
    const double began = measure_now();
    nigh_text_reader *reader = topic_texts_open(bench->context, &bench->texts);
    measure_must(nigh_learn(bench->context, reader, &options, &model, &result, &error), &error, "learning");
    const double seconds = measure_now() - bench->read;
    nigh_text_reader_close(reader);
    nigh_model_describe(model, &info);
    (void)printf("  %-10s %10" PRIu64 " %8" PRIu64 " %9" PRIu64 " %8.1f %9.1f %5u %9.0f %9.1f",
                 nigh_learn_method_name(method), result.documents, result.classes, result.features, bench->read - began,
                 seconds, result.iterations, (double)result.peak_bytes / 1e6, (double)info.bytes / 1e6);
    if (before > 0)
        (void)printf("   x%.2f\n", seconds / before);
    else
        (void)printf("\n");
    (void)fflush(stdout);
    nigh_model_free(model);
    return seconds;
}

static void note_training(const struct bench *bench, size_t method, double seconds) {
    char what[64];
    (void)snprintf(what, sizeof what, "training, %s", nigh_learn_method_name(bench->chosen[method]));
    measure_figure(&(struct measure_figure){
        .bench = "learn", .what = what, .unit = "documents/s", .value = (double)bench->documents / seconds});
}

static void train_all(struct bench *bench) {
    (void)printf("\ntraining: %" PRIu64 " bits, processor time of one thread; the last column: times what half of the "
                 "documents took\n  %-10s %10s %8s %9s %8s %9s %5s %9s %9s\n",
                 bench->bits, "", "documents", "classes", "features", "read s", "learn s", "steps", "peak MB",
                 "model MB");
    for (size_t m = 0; m < bench->method_count; m++) {
        double before = 0;
        for (uint64_t step = bench->steps; step-- > 0;)
            before = train(bench, bench->documents >> step, bench->chosen[m], before);
        if (before > 0) note_training(bench, m, before);
    }
}

/* --------------------------------------------------------------------- lookup -- */

static void print_row(const nigh_eval_learned_row *row) {
    (void)printf("  %-28s %9u %9.4f %10.1f %6u %10.1f", row->method, row->features, row->precision, row->returned,
                 row->tables, row->lookup_seconds * 1e6);
    if (row->width_bits == 0)
        (void)printf(" %10s %10s %9.1f\n", "-", "-", (double)row->lookup_bytes / 1e6);
    else
        (void)printf(" %10.1f %10.2f %9.1f\n", row->scan_seconds * 1e6, 1e6 / row->sign_rate,
                     (double)row->lookup_bytes / 1e6);
}

/* Hash lookup beside comparing all, with the precision of what comes. */
static void note_lookup(const nigh_eval_learned_row *row) {
    char what[96];
    if (row->width_bits == 0) return;
    (void)snprintf(what, sizeof what, "lookup, %s", row->method);
    measure_figure(&(struct measure_figure){.bench = "learn",
                                            .what = what,
                                            .unit = "us",
                                            .value = row->lookup_seconds * 1e6,
                                            .beside = row->scan_seconds * 1e6,
                                            .other = "the scan",
                                            .quality = row->precision,
                                            .less = true});
}

static void look_up(struct bench *bench) {
    const uint32_t width = (uint32_t)bench->bits;
    nigh_eval_learned_row row = {.size = sizeof row};
    nigh_eval_learned_info info = {.size = sizeof info};
    nigh_eval_learned *learned = NULL;
    nigh_eval_learned_options options;
    nigh_learn_options learning;
    nigh_error error;
    fill_options(bench, &learning);
    nigh_eval_learned_options_init(&options);
    options.learning = &learning;
    options.methods = bench->chosen;
    options.method_count = bench->method_count;
    options.widths = &width;
    options.width_count = 1;
    options.seeds = 1;
    options.radius = (uint32_t)bench->radius;
    options.queries = (uint32_t)bench->ask;
    options.lookup = NIGH_EVAL_LOOKUP_ONLY;
    bench->texts.documents = bench->documents;
    nigh_text_reader *reader = topic_texts_open(bench->context, &bench->texts);
    measure_must(nigh_eval_learned_measure(bench->context, reader, &options, &learned, &error), &error, "looking up");
    nigh_text_reader_close(reader);
    nigh_eval_learned_describe(learned, &info);
    (void)printf("\nlookup within %u bits, %" PRIu64 " ask %" PRIu64 " documents of %" PRIu64
                 " classes: processor time "
                 "of a query; of the cosine the 10 best\n  %-28s %9s %9s %10s %6s %10s %10s %10s %9s\n",
                 info.radius, info.queries, info.documents, info.classes, "", "features", "precision", "returned",
                 "tables", "us", "scan us", "signing us", "MB");
    for (size_t i = 0; nigh_eval_learned_at(learned, i, &row) == NIGH_OK; i++) {
        print_row(&row);
        note_lookup(&row);
    }
    nigh_eval_learned_free(learned);
}

static void print_peak(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        (void)printf("peak memory of the process, all libraries' included: %.0f MB\n", (double)usage.ru_maxrss / 1024);
    (void)fflush(stdout);
}

/* -------------------------------------------------------------------- options -- */

static const char usage[] =
    "usage: bench_learn [--documents N] [--classes N] [--methods LIST] [--steps N] [--features N] [--bits N]\n"
    "                   [--attractions N] [--repulsions N] [--iterations N] [--as-paper] [--radius N] [--ask N]\n"
    "                   [--memory GB] [--seed N] [--print] [--quick]\n"
    "  --documents N    of which one in ten asks (default 2400000)\n"
    "  --classes N      default 6000\n"
    "  --methods LIST   those of 'nigh train' to measure (default s3h,codewords)\n"
    "  --steps N        learn from all documents, half of them, ..., N times (default 3; 0: look up only)\n"
    "  --features N     the best by chi-squared (default 16000000: all)\n"
    "  --attractions N, --repulsions N  pairs of s3h (default 800000 and 1000000)\n"
    "  --iterations N   default 60\n"
    "  --as-paper       s3h as published\n"
    "  --radius N       of the lookup (default 2)\n"
    "  --ask N          so many ask; 0: train only (default 1000)\n"
    "  --memory GB      that learning may take (default 16)\n"
    "  --print          write the documents as JSON lines instead, for 'nigh train' and 'nigh eval learned'\n"
    "  --quick          20000 documents of 50 classes: to see that it works\n";

static void choose_methods(struct bench *bench) {
    for (const char *at = bench->methods; at != NULL;) {
        const size_t length = strcspn(at, ",");
        int method = 0;
        const char *name;
        while ((name = nigh_learn_method_name((nigh_learn_method)method)) != NULL &&
               (strlen(name) != length || strncmp(name, at, length) != 0))
            method++;
        if (name == NULL || bench->method_count == MAX_METHODS) measure_usage(usage, 2);
        bench->chosen[bench->method_count++] = (nigh_learn_method)method;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
}

static void parse(struct bench *bench, int count, char **arguments) {
    const struct measure_option options[] = {
        {.name = "documents", .number = &bench->documents, .least = 1000, .most = UINT32_MAX - 1, .quick = 20000},
        {.name = "classes", .number = &bench->classes, .least = 2, .most = 60000, .quick = 50},
        {.name = "methods", .text = &bench->methods},
        {.name = "steps", .number = &bench->steps, .most = 10},
        {.name = "features", .number = &bench->features, .least = 1, .most = 1 << 24},
        {.name = "bits", .number = &bench->bits, .least = 8, .most = 1024},
        {.name = "attractions", .number = &bench->attractions, .least = 1, .most = UINT32_MAX, .quick = 40000},
        {.name = "repulsions", .number = &bench->repulsions, .least = 1, .most = UINT32_MAX, .quick = 80000},
        {.name = "iterations", .number = &bench->iterations, .least = 1, .most = 100000},
        {.name = "as-paper", .flag = &bench->as_paper},
        {.name = "radius", .number = &bench->radius, .least = 1, .most = 64},
        {.name = "ask", .number = &bench->ask, .most = 1000000, .quick = 200},
        {.name = "memory", .number = &bench->memory, .least = 1, .most = 1 << 20},
        {.name = "seed", .number = &bench->seed, .most = UINT64_MAX},
        {.name = "print", .flag = &bench->print},
        {.name = NULL},
    };
    if (measure_parse(options, usage, count, arguments) != count) measure_usage(usage, 2);
    choose_methods(bench);
}

int main(int count, char **arguments) {
    static struct bench bench = {.documents = 2400000,
                                 .classes = 6000,
                                 .steps = 3,
                                 .features = 16000000,
                                 .bits = 32,
                                 .attractions = 800000,
                                 .repulsions = 1000000,
                                 .iterations = 60,
                                 .radius = 2,
                                 .ask = 1000,
                                 .memory = 16,
                                 .seed = 1,
                                 .methods = "s3h,codewords"};
    nigh_error error;
    parse(&bench, count, arguments);
    topic_texts_init(&bench.texts, bench.documents, (uint32_t)bench.classes, bench.seed);
    if (bench.print) {
        topic_texts_print(&bench.texts, stdout);
    } else {
        measure_processor_time();
        measure_must(nigh_context_new(NULL, &bench.context, &error), &error, "starting");
        measure_print_host(stdout, nigh_context_kernel(bench.context));
        bench.texts.ended = note_end;
        bench.texts.user = &bench;
        if (bench.steps > 0) train_all(&bench);
        if (bench.ask > 0) look_up(&bench);
        print_peak();
        nigh_context_free(bench.context);
    }
    topic_texts_free(&bench.texts);
    return 0;
}
