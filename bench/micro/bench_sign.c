/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * How fast text becomes signatures.  The input is a file of real text, a document
 * a line, and the same as JSON lines.  All of nigh_signing is measured, from the
 * file to the rows, for three schemes, with one thread and with two; the counting
 * of words that topsig wants beforehand is a row of its own.  Then a profile: the
 * share of each stage.  The runs of all rows take turns.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "measure.h"
#include "nigh.h"
#include "stages.h"

#define THREADS 2u
#define SMALLEST 50e6 /* bytes of text that the expectations are meant for */

static const struct scheme {
    const char *name;
    nigh_scheme_kind kind;
    double expected; /* MB/s with one thread */
} schemes[] = {
    {"simhash 64", NIGH_SCHEME_SIMHASH, 180},
    {"topsig 1024", NIGH_SCHEME_TOPSIG, 120},
    {"minhash 256", NIGH_SCHEME_MINHASH, 150},
};

#define SCHEMES (sizeof schemes / sizeof schemes[0])

enum input { INPUT_LINES, INPUT_JSON, INPUTS };

static const char *const input_names[INPUTS] = {"lines", "JSON"};
static const nigh_text_format input_formats[INPUTS] = {NIGH_TEXT_LINES, NIGH_TEXT_JSONL};

struct bench {
    size_t runs;
    bool no_profile;
    bool processor_time; /* which says nothing about two threads */
    FILE *json;
    const char *paths[INPUTS];
    char json_path[128];
    char folder[MEASURE_FOLDER];
    uint64_t bytes; /* of text, without what JSON puts around it */
    nigh_context *context;
    nigh_vocabulary *vocabulary;
    nigh_signer *signers[SCHEMES];
    nigh_signing_info info;

    struct series signing[SCHEMES][INPUTS][THREADS + 1]; /* by threads */
    struct series counting[THREADS + 1];
    struct series reading; /* and splitting into records, nothing more */
    struct series stages[SCHEMES][INPUTS][STAGES];
};

/* ------------------------------------------------------------------- the data */

static void write_json_text(FILE *out, const nigh_text *text) {
    (void)fprintf(out, "{\"id\": \"%" PRIu64 "\", \"text\": ", text->number);
    measure_json_text(out, text->text, text->text_length);
    (void)fputs("}\n", out);
}

static nigh_text_reader *open_reader(struct bench *bench, enum input input) {
    nigh_error error;
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    nigh_text_reader *reader;
    options.format = input_formats[input];
    options.max_errors = NIGH_ALL_64;
    measure_must(nigh_text_reader_open(bench->context, &bench->paths[input], 1, &options, &reader, &error), &error,
                 "reading");
    return reader;
}

/* The same text as JSON, in a folder that goes away at the end. */
static void make_json(struct bench *bench) {
    nigh_error error;
    nigh_text text = {.size = sizeof text};
    nigh_status status;
    (void)snprintf(bench->json_path, sizeof bench->json_path, "%s/text.jsonl", bench->folder);
    bench->paths[INPUT_JSON] = bench->json_path;
    FILE *out = fopen(bench->json_path, "wb");
    if (out == NULL) measure_fail(bench->json_path, "cannot be written");
    nigh_text_reader *reader = open_reader(bench, INPUT_LINES);
    while ((status = nigh_text_reader_next(reader, &text, &error)) == NIGH_OK) {
        write_json_text(out, &text);
        bench->bytes += text.text_length + 1;
    }
    if (status != NIGH_END) measure_must(status, &error, "reading");
    nigh_text_reader_close(reader);
    if (fclose(out) != 0) measure_fail(bench->json_path, "cannot be written");
}

static double count_words(struct bench *bench, uint32_t threads, nigh_vocabulary **out) {
    nigh_error error;
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    nigh_vocabulary_options counting;
    nigh_vocabulary_options_init(&counting);
    counting.threads = threads;
    nigh_text_reader *reader = open_reader(bench, INPUT_LINES);
    double start = measure_now();
    measure_must(nigh_vocabulary_count(bench->context, &options, reader, &counting, out, &error), &error, "counting");
    double seconds = measure_now() - start;
    nigh_text_reader_close(reader);
    return seconds;
}

static void make_signers(struct bench *bench) {
    nigh_error error;
    (void)count_words(bench, 1, &bench->vocabulary);
    for (size_t i = 0; i < SCHEMES; i++) {
        nigh_signer_options options;
        nigh_signer_options_init(&options);
        options.scheme = schemes[i].kind;
        options.vocabulary = bench->vocabulary;
        measure_must(nigh_signer_new(bench->context, &options, &bench->signers[i], &error), &error, "signing");
    }
}

static void remove_data(struct bench *bench) {
    for (size_t i = 0; i < SCHEMES; i++) nigh_signer_free(bench->signers[i]);
    nigh_vocabulary_free(bench->vocabulary);
    nigh_context_free(bench->context);
    measure_folder_remove(bench->folder);
}

/* -------------------------------------------------------------------- the runs */

static void run_signing(struct bench *bench, size_t scheme, enum input input, uint32_t threads, size_t run) {
    nigh_error error;
    nigh_signing_options options;
    nigh_signing_options_init(&options);
    nigh_signing *signing;
    nigh_signed row = {.size = sizeof row};
    nigh_status status;
    char what[64];
    options.threads = threads;
    nigh_text_reader *reader = open_reader(bench, input);
    double start = measure_now();
    measure_must(nigh_signing_open(bench->signers[scheme], reader, &options, &signing, &error), &error, "signing");
    do {
        status = nigh_signing_next(signing, &row, &error);
    } while (status == NIGH_OK);
    double seconds = measure_now() - start;
    if (status != NIGH_END) measure_must(status, &error, "signing");
    bench->info = (nigh_signing_info){.size = sizeof(nigh_signing_info)};
    nigh_signing_describe(signing, &bench->info);
    nigh_signing_close(signing);
    nigh_text_reader_close(reader);
    series_add(&bench->signing[scheme][input][threads], seconds);
    (void)snprintf(what, sizeof what, "%s, %s", schemes[scheme].name, input_names[input]);
    measure_json(bench->json, "sign", what, threads, 0, run, seconds);
}

static void run_counting(struct bench *bench, uint32_t threads, size_t run) {
    nigh_vocabulary *vocabulary;
    double seconds = count_words(bench, threads, &vocabulary);
    nigh_vocabulary_free(vocabulary);
    series_add(&bench->counting[threads], seconds);
    measure_json(bench->json, "sign", "counting", threads, 0, run, seconds);
}

/* The first pass over the text, when the vocabulary was counted, has warmed up. */
static void run_all(struct bench *bench) {
    for (size_t run = 0; run < bench->runs; run++) {
        for (size_t scheme = 0; scheme < SCHEMES; scheme++) {
            for (uint32_t threads = 1; threads <= THREADS; threads++)
                run_signing(bench, scheme, INPUT_LINES, threads, run);
            run_signing(bench, scheme, INPUT_JSON, 1, run);
        }
        for (uint32_t threads = 1; threads <= THREADS; threads++) run_counting(bench, threads, run);
        series_add(&bench->reading, stages_run(bench->context, bench->signers[0], bench->paths[INPUT_LINES],
                                               input_formats[INPUT_LINES], STAGE_READ));
    }
}

static void run_stages(struct bench *bench) {
    for (size_t run = 0; run < bench->runs; run++) {
        for (size_t scheme = 0; scheme < SCHEMES; scheme++) {
            for (enum input input = 0; input < INPUTS; input++) {
                for (enum stage last = 0; last < STAGES; last++)
                    series_add(&bench->stages[scheme][input][last],
                               stages_run(bench->context, bench->signers[scheme], bench->paths[input],
                                          input_formats[input], last));
            }
        }
    }
}

/* -------------------------------------------------------------------- the report */

static double rate(const struct bench *bench, double seconds) {
    return seconds > 0 ? (double)bench->bytes / 1e6 / seconds : 0;
}

static void report_line(const struct bench *bench, const char *name, const char *input, uint32_t threads,
                        const struct series *series, double expected) {
    double median = series_median(series);
    (void)printf("%-12s %-6s %7u %9.1f %10.1f %9.1f %9.1f", name, input, threads, series_minimum(series) * 1e3,
                 median * 1e3, rate(bench, series_minimum(series)), rate(bench, median));
    if (expected > 0) (void)printf(" %9.0f  %s", expected, rate(bench, median) >= expected ? "yes" : "NO");
    (void)printf("\n");
}

static void report_signing(const struct bench *bench) {
    (void)printf("\n             input  threads    min ms  median ms  MB/s max    median  expected\n");
    for (size_t i = 0; i < SCHEMES; i++) {
        const struct scheme *scheme = &schemes[i];
        for (uint32_t threads = 1; threads <= THREADS; threads++)
            report_line(bench, scheme->name, "lines", threads, &bench->signing[i][INPUT_LINES][threads],
                        threads == 1 ? scheme->expected : 0);
        report_line(bench, scheme->name, "JSON", 1, &bench->signing[i][INPUT_JSON][1], 0);
    }
    for (uint32_t threads = 1; threads <= THREADS; threads++)
        report_line(bench, "counting", "lines", threads, &bench->counting[threads], 0);
}

static void report_ratios(const struct bench *bench) {
    (void)printf("\n2 threads to one                by min by median  expected\n");
    for (size_t i = 0; i <= SCHEMES; i++) {
        const struct series *one = i < SCHEMES ? &bench->signing[i][INPUT_LINES][1] : &bench->counting[1];
        const struct series *two = i < SCHEMES ? &bench->signing[i][INPUT_LINES][2] : &bench->counting[2];
        double by_median = series_median(one) / series_median(two);
        (void)printf("  %-28s %6.2f %8.2f   %6.2f  %s\n", i < SCHEMES ? schemes[i].name : "counting",
                     series_minimum(one) / series_minimum(two), by_median, 1.8, by_median >= 1.8 ? "yes" : "NO");
    }
}

/* What a stage takes more than those before it alone; noise may make that less than nothing. */
static double own_share(const struct series *stages, enum stage stage) {
    double before = stage == 0 ? 0 : series_minimum(&stages[stage - 1]);
    double own = series_minimum(&stages[stage]) - before;
    return own < 0 ? 0 : own / series_minimum(&stages[STAGES - 1]);
}

static void report_stages(const struct bench *bench) {
    (void)printf("\nshare of the time, one thread (by min)\n%-19s", "");
    for (enum stage stage = 0; stage < STAGES; stage++) (void)printf(" %12s", stage_name(stage));
    (void)printf("  MB/s\n");
    for (size_t i = 0; i < SCHEMES; i++) {
        for (enum input input = 0; input < INPUTS; input++) {
            (void)printf("%-12s %-6s", schemes[i].name, input_names[input]);
            for (enum stage stage = 0; stage < STAGES; stage++)
                (void)printf(" %11.1f%%", own_share(bench->stages[i][input], stage) * 100);
            (void)printf(" %6.1f\n", rate(bench, series_minimum(&bench->stages[i][input][STAGES - 1])));
        }
    }
}

static void report_data(const struct bench *bench) {
    nigh_vocabulary_info info = {.size = sizeof info};
    nigh_vocabulary_describe(bench->vocabulary, &info);
    (void)printf("%.1f MB of text in '%s', %zu runs; %" PRIu64 " documents, %" PRIu64 " words, %" PRIu64 " different\n",
                 (double)bench->bytes / 1e6, bench->paths[INPUT_LINES], bench->runs, info.documents, info.occurrences,
                 info.terms);
    if ((double)bench->bytes < SMALLEST)
        (void)printf("that is little text: the expectations are meant for %.0f MB and more\n", SMALLEST / 1e6);
}

static void report_memory(const struct bench *bench) {
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("\npeak memory %.1f MB, for all of these; malformed parts %" PRIu64
                 ", documents without words %" PRIu64 "\n",
                 (double)usage.ru_maxrss * 1024 / 1e6, bench->info.reader.problems, bench->info.empty);
}

/* ------------------------------------------------------------------- the figures */

static void note(const struct bench *bench, const char *what, const char *how, const struct series *series,
                 const struct series *beside, const char *other) {
    char name[64];
    (void)snprintf(name, sizeof name, "%s, %s", what, how);
    measure_figure(&(struct measure_figure){.bench = "sign",
                                            .what = name,
                                            .unit = "MB/s",
                                            .value = rate(bench, series_minimum(series)),
                                            .beside = rate(bench, series_minimum(beside)),
                                            .other = other});
}

static void note_figures(const struct bench *bench) {
    for (size_t i = 0; i <= SCHEMES; i++) {
        const char *name = i < SCHEMES ? schemes[i].name : "counting";
        const struct series *by_threads = i < SCHEMES ? bench->signing[i][INPUT_LINES] : bench->counting;
        note(bench, name, "1 thread", &by_threads[1], &bench->reading, "reading alone");
        if (!bench->processor_time) note(bench, name, "2 threads", &by_threads[2], &by_threads[1], "1 thread");
        if (i < SCHEMES) note(bench, name, "JSON lines", &bench->signing[i][INPUT_JSON][1], &by_threads[1], "lines");
    }
}

/* ------------------------------------------------------------------- the options */

static const char usage[] =
    "usage: bench_sign [--runs N] [--json FILE] [--quick] [--cpu] [--no-profile] [FILE]\n"
    "  FILE          text, a document a line (default: descriptions of Debian's packages, each text\n"
    "                several times up to 64 MB, as './run bench sign' makes them)\n"
    "  --runs N      of each measurement (default 7, at most 1000)\n"
    "  --json FILE   append every run as a line of JSON\n"
    "  --quick       1 run: to see that it works\n"
    "  --cpu         processor time: for one thread, where others use the machine too\n"
    "  --no-profile  without the shares of the stages\n";

static void parse(struct bench *bench, int count, char **arguments) {
    uint64_t runs = bench->runs;
    const struct measure_option options[] = {
        {.name = "runs", .number = &runs, .least = 1, .most = MEASURE_MAX_RUNS, .quick = 1},
        {.name = "json", .file = &bench->json},
        {.name = "cpu", .flag = &bench->processor_time},
        {.name = "no-profile", .flag = &bench->no_profile},
        {.name = NULL},
    };
    const int operand = measure_parse(options, usage, count, arguments);
    if (operand + 1 < count) measure_usage(usage, 2);
    if (operand < count) bench->paths[INPUT_LINES] = arguments[operand];
    bench->runs = (size_t)runs;
}

int main(int count, char **arguments) {
    static struct bench bench = {.runs = 7};
    static char beside[4096];
    const char *slash = strrchr(arguments[0], '/');
    (void)snprintf(beside, sizeof beside, "%.*stext/documents.txt", slash == NULL ? 0 : (int)(slash - arguments[0] + 1),
                   arguments[0]);
    bench.paths[INPUT_LINES] = beside;
    parse(&bench, count, arguments);
    if (bench.processor_time) measure_processor_time();
    measure_folder_make(bench.folder);
    nigh_error error;
    measure_must(nigh_context_new(NULL, &bench.context, &error), &error, "starting");

    measure_print_host(stdout, nigh_context_kernel(bench.context));
    make_json(&bench);
    make_signers(&bench);
    report_data(&bench);
    run_all(&bench);
    report_signing(&bench);
    if (!bench.processor_time) report_ratios(&bench);
    note_figures(&bench);
    report_memory(&bench);
    if (!bench.no_profile) run_stages(&bench);
    if (!bench.no_profile) report_stages(&bench);
    if (bench.json != NULL) (void)fclose(bench.json);
    remove_data(&bench);
    return 0;
}
