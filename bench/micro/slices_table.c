/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of measurements, and choosing among them. */
#include "slices_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const double targets[] = {0.90, 0.95, 0.98, 0.99};

#define TARGETS (sizeof targets / sizeof targets[0])

struct slices_row *slices_table_add(struct slices_table *table, const char *method) {
    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        struct slices_row *more = realloc(table->rows, table->capacity * sizeof *more);
        if (more == NULL) measure_fail("memory", "there is not enough");
        table->rows = more;
    }
    struct slices_row *row = &table->rows[table->count++];
    memset(row, 0, sizeof *row);
    row->method = method;
    row->postings = -1;
    row->compared = -1;
    return row;
}

void slices_table_free(struct slices_table *table) {
    free(table->rows);
    table->rows = NULL;
    table->count = table->capacity = 0;
}

static double rate_of(const struct slices_table *table, const struct slices_row *row) {
    return (double)table->set->query_count / series_median(&row->seconds);
}

void slices_table_json(const struct slices_table *table, const struct slices_row *row) {
    if (table->json == NULL) return;
    for (size_t run = 0; run < row->seconds.runs; run++)
        (void)fprintf(table->json,
                      "{\"bench\":\"slices\",\"set\":\"%s\",\"rows\":%" PRIu64
                      ",\"what\":\"%s\",\"setting\":\"%s\",\"threads\":1,\"queries\":%zu,\"run\":%zu,"
                      "\"seconds\":%.9f,\"cdr\":%.6f,\"recall\":%.6f,\"postings\":%.1f,\"compared\":%.1f,"
                      "\"bytes\":%.1f,\"build_seconds\":%.3f}\n",
                      table->set->name, table->set->count, row->method, row->setting, table->set->query_count, run,
                      row->seconds.seconds[run], row->quality.cdr, row->quality.recall, row->postings, row->compared,
                      row->bytes, row->build_seconds);
    (void)fflush(table->json);
}

/* ------------------------------------------------------------------- printing -- */

static void print_number(double number) {
    if (number < 0)
        (void)printf(" %9s", "");
    else
        (void)printf(" %9.0f", number);
}

static void print_row(const struct slices_table *table, const struct slices_row *row) {
    (void)printf("  %-16s %-28s %9.0f  %.4f  %.4f", row->method, row->setting, rate_of(table, row), row->quality.cdr,
                 row->quality.recall);
    print_number(row->postings);
    print_number(row->compared);
    (void)printf(" %7.0f %8.2f", row->bytes, row->build_seconds);
}

static void print_heading(void) {
    (void)printf("  %-16s %-28s %9s  %6s  %6s %9s %9s %7s %8s\n", "", "", "queries/s", "CDR@10", "recall", "postings",
                 "compared", "bytes", "build s");
}

void slices_table_print_all(const struct slices_table *table) {
    print_heading();
    for (size_t i = 0; i < table->count; i++) {
        print_row(table, &table->rows[i]);
        (void)printf("\n");
    }
}

/* -------------------------------------------------------------------- choosing -- */

/* The fastest that reaches the CDR; where none does, the nearest to it.  NULL: there is no such method. */
static const struct slices_row *best_of(const struct slices_table *table, const char *method, double cdr) {
    const struct slices_row *best = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct slices_row *row = &table->rows[i];
        if (strcmp(row->method, method) != 0) continue;
        const bool reaches = row->quality.cdr >= cdr;
        const bool reached = best != NULL && best->quality.cdr >= cdr;
        const bool better = reaches ? !reached || rate_of(table, row) > rate_of(table, best)
                                    : !reached && (best == NULL || row->quality.cdr > best->quality.cdr);
        if (better) best = row;
    }
    return best;
}

double slices_table_rate(const struct slices_table *table, const char *method, double cdr) {
    const struct slices_row *best = best_of(table, method, cdr);
    return best == NULL || best->quality.cdr < cdr ? 0 : rate_of(table, best);
}

/* Whether no row before it is of the same method. */
static bool is_first(const struct slices_table *table, size_t at) {
    for (size_t i = 0; i < at; i++)
        if (strcmp(table->rows[i].method, table->rows[at].method) == 0) return false;
    return true;
}

void slices_table_print_best(const struct slices_table *table) {
    for (size_t t = 0; t < TARGETS; t++) {
        (void)printf("\nCDR@10 of %.2f or more: the fastest setting of each\n", targets[t]);
        print_heading();
        for (size_t i = 0; i < table->count; i++) {
            if (!is_first(table, i)) continue;
            const struct slices_row *best = best_of(table, table->rows[i].method, targets[t]);
            if (best == NULL) continue;
            print_row(table, best);
            (void)printf("%s\n", best->quality.cdr < targets[t] ? "  NOT REACHED" : "");
        }
    }
}
