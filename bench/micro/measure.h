/* SPDX-License-Identifier: Apache-2.0 */
/* What benchmarks share: a clock, series of runs with minimum and median, where they ran, and raw runs as JSON lines.
 */
#ifndef NIGH_BENCH_MEASURE_H
#define NIGH_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "nigh.h"

#define MEASURE_MAX_RUNS 1000u

/* Monotonic, in seconds. */
double measure_now(void);

/* From here on it counts the processor time of all threads: for one thread on a machine that others use too. */
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

/* Memory, or the end of the program. */
void *measure_allocate(size_t count, size_t size);

/* Says what failed, and ends the program: a benchmark has nobody to report to. */
_Noreturn void measure_fail(const char *what, const char *why);
void measure_must(nigh_status status, const nigh_error *error, const char *what); /* where it is not NIGH_OK */

/* The value of an option, or the end of the program. */
uint64_t measure_number(const char *text, uint64_t least, uint64_t most);

#endif
