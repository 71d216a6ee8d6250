/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/* Clock, series, host, options and files of the benchmarks. */
#include "measure.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"

static double (*measure_clock)(void) = nigh__clock;

void measure_processor_time(void) { measure_clock = nigh__process_clock; }

double measure_now(void) { return measure_clock(); }

double measure_wall(void) { return nigh__clock(); }

void series_add(struct series *series, double seconds) {
    if (series->runs < MEASURE_MAX_RUNS) series->seconds[series->runs++] = seconds;
}

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a;
    double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double series_minimum(const struct series *series) {
    double minimum = series->runs == 0 ? 0 : series->seconds[0];
    for (size_t i = 1; i < series->runs; i++) {
        if (series->seconds[i] < minimum) minimum = series->seconds[i];
    }
    return minimum;
}

double series_median(const struct series *series) {
    double sorted[MEASURE_MAX_RUNS];
    if (series->runs == 0) return 0;
    memcpy(sorted, series->seconds, series->runs * sizeof sorted[0]);
    qsort(sorted, series->runs, sizeof sorted[0], compare_seconds);
    return (sorted[(series->runs - 1) / 2] + sorted[series->runs / 2]) / 2;
}

/* The "model name" of /proc/cpuinfo; other systems have none and get "unknown CPU". */
static void cpu_name(char *out, size_t capacity) {
    (void)snprintf(out, capacity, "unknown CPU");
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL) return;
    char line[256];
    while (fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || value == NULL) continue;
        (void)snprintf(out, capacity, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    (void)fclose(file);
}

void measure_print_host(FILE *out, const char *kernel) {
    char name[128];
    cpu_name(name, sizeof name);
#if defined(__clang__)
    const char *compiler = "";
#else
    const char *compiler = "gcc ";
#endif
    (void)fprintf(out, "nigh %s, %s, %u cores, %s%s, kernel %s\n", nigh_version(), name, nigh__cpu_cores(), compiler,
                  __VERSION__, kernel);
}

void measure_json(FILE *out, const char *bench, const char *what, uint32_t threads, size_t queries, size_t run,
                  double seconds) {
    if (out == NULL) return;
    (void)fprintf(out,
                  "{\"bench\":\"%s\",\"what\":\"%s\",\"threads\":%u,\"queries\":%zu,\"run\":%zu,\"seconds\":%.9f}\n",
                  bench, what, threads, queries, run, seconds);
}

void measure_json_text(FILE *out, const char *text, size_t length) {
    (void)fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\')
            (void)fprintf(out, "\\%c", byte);
        else if (byte < ' ')
            (void)fprintf(out, "\\u%04x", byte);
        else
            (void)fputc(byte, out);
    }
    (void)fputc('"', out);
}

static void figure_text(FILE *out, const char *key, const char *text) {
    (void)fprintf(out, "\"%s\":", key);
    measure_json_text(out, text, strlen(text));
    (void)fputc(',', out);
}

/* Where figures go; NULL: nowhere. */
static FILE *figures_open(void) {
    const char *path = getenv("BENCH_FIGURES");
    if (path == NULL || path[0] == '\0') return NULL;
    FILE *out = fopen(path, "a");
    if (out == NULL) measure_fail(path, "cannot be written");
    return out;
}

static void figures_close(FILE *out) {
    if (fclose(out) != 0) measure_fail("the file of figures", "cannot be written");
}

static bool is_number(double value) { return value > 0 && !isinf(value); }

void measure_figure(const struct measure_figure *figure) {
    FILE *out = is_number(figure->value) ? figures_open() : NULL;
    if (out == NULL) return;
    (void)fputc('{', out);
    figure_text(out, "bench", figure->bench);
    figure_text(out, "what", figure->what);
    (void)fprintf(out, "\"value\":%.6g,", figure->value);
    if (figure->other != NULL && is_number(figure->beside)) {
        (void)fprintf(out, "\"beside\":%.6g,", figure->beside);
        figure_text(out, "other", figure->other);
    }
    if (figure->quality > 0) (void)fprintf(out, "\"quality\":%.4f,", figure->quality);
    figure_text(out, "unit", figure->unit);
    (void)fprintf(out, "\"less\":%s}\n", figure->less ? "true" : "false");
    figures_close(out);
}

void measure_lacking(const char *peer, const char *why) {
    FILE *out = figures_open();
    if (out == NULL) return;
    (void)fputc('{', out);
    figure_text(out, "lacking", peer);
    (void)fputs("\"why\":", out);
    measure_json_text(out, why, strlen(why));
    (void)fputs("}\n", out);
    figures_close(out);
}

void *measure_allocate(size_t count, size_t size) {
    void *memory = calloc(count == 0 ? 1 : count, size);
    if (memory == NULL) measure_fail("memory", "there is not enough");
    return memory;
}

_Noreturn void measure_fail(const char *what, const char *why) {
    (void)fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(2);
}

void measure_must(nigh_status status, const nigh_error *error, const char *what) {
    if (status == NIGH_OK) return;
    char text[1024];
    (void)nigh_error_format(error, text, sizeof text);
    measure_fail(what, text);
}

/* ------------------------------------------------------------------- options -- */

static uint64_t number_of(const char *text, uint64_t least, uint64_t most) {
    char *end = NULL;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text == '\0' || *text == '-' || *end != '\0' || value < least || value > most)
        measure_fail(text, "not a number that fits here");
    return value;
}

static void take_option(const struct measure_option *option, const char *value) {
    if (option->number != NULL) *option->number = number_of(value, option->least, option->most);
    if (option->flag != NULL) *option->flag = true;
    if (option->text != NULL) *option->text = value;
    if (option->file == NULL) return;
    *option->file = fopen(value, "a");
    if (*option->file == NULL) measure_fail(value, "cannot be written");
}

static void be_quick(const struct measure_option *options) {
    for (const struct measure_option *option = options; option->name != NULL; option++)
        if (option->quick != 0) *option->number = option->quick;
}

_Noreturn void measure_usage(const char *usage, int status) {
    (void)fputs(usage, status == 0 ? stdout : stderr);
    exit(status);
}

int measure_parse(const struct measure_option *options, const char *usage, int count, char **arguments) {
    enum { QUICK = 1, HELP, FIRST };
    struct option known[MEASURE_MAX_OPTIONS + 3] = {{"quick", no_argument, NULL, QUICK},
                                                    {"help", no_argument, NULL, HELP}};
    for (int i = 0; options[i].name != NULL; i++)
        known[i + 2] = (struct option){options[i].name, options[i].flag == NULL ? required_argument : no_argument, NULL,
                                       FIRST + i};
    for (int which; (which = getopt_long(count, arguments, "", known, NULL)) != -1;) {
        if (which == QUICK)
            be_quick(options);
        else if (which >= FIRST && which != '?')
            take_option(&options[which - FIRST], optarg);
        else
            measure_usage(usage, which == HELP ? 0 : 2);
    }
    return optind;
}

/* ---------------------------------------------------------------- the folder -- */

void measure_folder_make(char folder[MEASURE_FOLDER]) {
    const char *scratch = getenv("TMPDIR");
    (void)snprintf(folder, MEASURE_FOLDER, "%.40s/nigh-bench-XXXXXX", scratch == NULL ? "/tmp" : scratch);
    if (mkdtemp(folder) == NULL) measure_fail(folder, "cannot be made");
}

void measure_folder_remove(const char *folder) {
    char command[MEASURE_FOLDER + 16];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) (void)fprintf(stderr, "bench: '%s' could not be removed\n", folder);
}
