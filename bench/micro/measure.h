/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What benchmarks share: a clock, series of runs with minimum and median, where they
 * ran, raw runs as JSON lines, options, and a folder for their files.
 */
#ifndef NIGH_BENCH_MEASURE_H
#define NIGH_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nigh.h"

#define MEASURE_MAX_RUNS 1000u

/* Monotonic, in seconds. */
double measure_now(void);

/* The same whatever comes next. */
double measure_wall(void);

/* From here on measure_now() counts the processor time of all threads: for one thread on a machine that others use too.
 */
void measure_processor_time(void);

struct series {
    double seconds[MEASURE_MAX_RUNS];
    size_t runs;
};

void series_add(struct series *series, double seconds);
double series_minimum(const struct series *series); /* 0 where there is no run */
double series_median(const struct series *series);

/* Prints CPU, cores, compiler and kernel: what a figure means nothing without. */
void measure_print_host(FILE *out, const char *kernel);

/* Appends {"bench":..,"what":..,"threads":..,"queries":..,"run":..,"seconds":..} where `out` is not NULL. */
void measure_json(FILE *out, const char *bench, const char *what, uint32_t threads, size_t queries, size_t run,
                  double seconds);

/* What is worth comparing from one change to the next; ./run bench all makes a table of these. */
struct measure_figure {
    const char *bench, *what, *unit;
    double value;
    double beside;     /* the same of a limit or a peer, in this run; 0: there is none */
    const char *other; /* its name; NULL: there is none */
    double quality;    /* recall, precision or F1, up to 1; 0: none of these */
    bool less;         /* smaller is better */
};

/* Appends it as a line of JSON to the file that $BENCH_FIGURES names, where it does. */
void measure_figure(const struct measure_figure *figure);
/* The same of a peer that is not here. */
void measure_lacking(const char *peer, const char *why);

/* A text between quotes, as JSON has it. */
void measure_json_text(FILE *out, const char *text, size_t length);

/* Memory, or the end of the program. */
void *measure_allocate(size_t count, size_t size);

/* Says what failed, and ends the program: a benchmark has nobody to report to. */
_Noreturn void measure_fail(const char *what, const char *why);
void measure_must(nigh_status status, const nigh_error *error, const char *what); /* where it is not NIGH_OK */

/* One of number, flag, file and text is set: where the value goes. */
struct measure_option {
    const char *name; /* without the dashes; NULL after the last */
    uint64_t *number; /* within least and most */
    uint64_t least, most;
    uint64_t quick; /* what --quick makes of the number; 0: nothing */
    bool *flag;
    FILE **file; /* opened for appending */
    const char **text;
};

#define MEASURE_MAX_OPTIONS 16u

/*
 * Reads "--name" and "--name value", in any order, up to the first operand, whose place
 * it gives back.  --help prints the usage; what is wrong ends the program.
 */
int measure_parse(const struct measure_option *options, const char *usage, int count, char **arguments);
_Noreturn void measure_usage(const char *usage, int status);

#define MEASURE_FOLDER 64u

/* Makes a folder in $TMPDIR or /tmp; removes one with all that is in it. */
void measure_folder_make(char folder[MEASURE_FOLDER]);
void measure_folder_remove(const char *folder);

#endif
