/* SPDX-License-Identifier: Apache-2.0 */
/* What was measured of searching a set, setting by setting, and the table of the best of each method. */
#ifndef NIGH_BENCH_SLICES_TABLE_H
#define NIGH_BENCH_SLICES_TABLE_H

#include "nearest_set.h"

struct slices_row {
    const char *method; /* a constant */
    char setting[48];
    struct series seconds; /* of all queries */
    struct nearest_quality quality;
    double postings, compared; /* a query; negative: not known */
    double build_seconds;
    double bytes; /* a row, itself included */
};

struct slices_table {
    const struct nearest_set *set;
    struct slices_row *rows;
    size_t count, capacity;
    FILE *json; /* NULL: none */
};

/* A row with nothing measured yet; it lives until the next is added. */
struct slices_row *slices_table_add(struct slices_table *table, const char *method);
void slices_table_free(struct slices_table *table);

/* Appends each run of a row as a line of JSON. */
void slices_table_json(const struct slices_table *table, const struct slices_row *row);

/* Every setting; or for each CDR of .90, .95, .98 and .99 the fastest of each method that reaches it. */
void slices_table_print_all(const struct slices_table *table);
void slices_table_print_best(const struct slices_table *table);

/* Queries a second of the fastest setting of a method that reaches a CDR; 0: none does. */
double slices_table_rate(const struct slices_table *table, const char *method, double cdr);

#endif
