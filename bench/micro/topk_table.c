/* SPDX-License-Identifier: Apache-2.0 */
/* Settings, choosing among them, and the tables for people. */
#include "topk_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------- filling -- */

struct topk_contender *topk_table_contender(struct topk_table *table, const char *method) {
    if (table->contender_count == TOPK_MAX_CONTENDERS) measure_fail(method, "too many contenders");
    struct topk_contender *contender = &table->contenders[table->contender_count++];
    *contender = (struct topk_contender){.method = method};
    return contender;
}

struct topk_row *topk_table_add(struct topk_table *table, uint32_t ladder) {
    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 64 : table->capacity * 2;
        struct topk_row *more = realloc(table->rows, table->capacity * sizeof *more);
        if (more == NULL) measure_fail("memory", "there is not enough");
        table->rows = more;
    }
    struct topk_row *row = &table->rows[table->count++];
    memset(row, 0, sizeof *row);
    row->contender = table->contender_count - 1;
    row->ladder = ladder;
    nigh_search_options_init(&row->options);
    return row;
}

void topk_table_free(struct topk_table *table) {
    for (size_t i = 0; i < table->contender_count; i++) {
        nigh_collection_close(table->contenders[i].collection);
        peer_stop(&table->contenders[i].process);
    }
    free(table->rows);
    *table = (struct topk_table){0};
}

/* -------------------------------------------------------------------- choosing -- */

double topk_half_rate(const struct topk_half *half) {
    return half->seconds.runs == 0 ? 0 : (double)half->queries / series_minimum(&half->seconds);
}

double topk_half_median_rate(const struct topk_half *half) {
    return half->seconds.runs == 0 ? 0 : (double)half->queries / series_median(&half->seconds);
}

double topk_quality(struct nearest_quality quality, enum topk_measure by) {
    return by == TOPK_RECALL ? quality.recall : quality.cdr;
}

static const char *method_of(const struct topk_table *table, const struct topk_row *row) {
    return table->contenders[row->contender].method;
}

bool topk_table_is_first(const struct topk_table *table, size_t contender) {
    for (size_t i = 0; i < contender; i++)
        if (strcmp(table->contenders[i].method, table->contenders[contender].method) == 0) return false;
    return true;
}

const struct topk_row *topk_table_choose(const struct topk_table *table, const char *method, enum topk_measure by,
                                         double quality) {
    const struct topk_row *best = NULL;
    for (size_t i = 0; i < table->count; i++) {
        const struct topk_row *row = &table->rows[i];
        const struct topk_half *half = &row->halves[TOPK_CHOOSING];
        if (strcmp(method_of(table, row), method) != 0 || half->seconds.runs == 0) continue;
        if (topk_quality(half->quality, by) < quality) continue;
        if (best == NULL || topk_half_rate(half) > topk_half_rate(&best->halves[TOPK_CHOOSING])) best = row;
    }
    return best;
}

/* The best quality that a method came to on the first half. */
static double most_quality(const struct topk_table *table, const char *method, enum topk_measure by) {
    double most = 0;
    for (size_t i = 0; i < table->count; i++) {
        const struct topk_half *half = &table->rows[i].halves[TOPK_CHOOSING];
        if (strcmp(method_of(table, &table->rows[i]), method) != 0 || half->seconds.runs == 0) continue;
        if (topk_quality(half->quality, by) > most) most = topk_quality(half->quality, by);
    }
    return most;
}

double topk_table_best_peer(const struct topk_table *table, enum topk_measure by, double quality) {
    double most = 0;
    for (size_t i = 0; i < table->contender_count; i++) {
        if (table->contenders[i].ours) continue;
        const struct topk_row *row = topk_table_choose(table, table->contenders[i].method, by, quality);
        const double rate = row == NULL ? 0 : topk_half_rate(&row->halves[TOPK_REPORTED]);
        if (rate > most) most = rate;
    }
    return most;
}

/* ------------------------------------------------------------------- printing -- */

static void print_heading(void) {
    (void)printf("  %-24s %-32s %9s %9s  %6s  %6s %9s %7s %8s\n", "", "", "queries/s", "median", "CDR@10", "recall",
                 "compared", "bytes", "build s");
}

static void print_row(const struct topk_table *table, const struct topk_row *row) {
    const struct topk_contender *contender = &table->contenders[row->contender];
    const struct topk_half *half = &row->halves[TOPK_REPORTED];
    (void)printf("  %-24s %-32s %9.0f %9.0f  %.4f  %.4f ", contender->method, row->setting, topk_half_rate(half),
                 topk_half_median_rate(half), half->quality.cdr, half->quality.recall);
    if (half->compared < 0)
        (void)printf("%9s", "");
    else
        (void)printf("%9.0f", half->compared);
    (void)printf(" %7.0f %8.2f", contender->built.bytes, contender->built.seconds);
}

void topk_table_print_all(const struct topk_table *table) {
    (void)printf("\nEvery setting, on the second half of the queries\n");
    print_heading();
    for (size_t i = 0; i < table->count; i++) {
        if (table->rows[i].halves[TOPK_REPORTED].seconds.runs == 0) continue;
        print_row(table, &table->rows[i]);
        (void)printf("\n");
    }
}

void topk_table_print_built(const struct topk_table *table) {
    (void)printf("\n  %-24s %10s %15s\n", "built", "cpu s", "bytes/signature");
    for (size_t i = 0; i < table->contender_count; i++) {
        const struct topk_contender *contender = &table->contenders[i];
        if (contender->lacking[0] != '\0')
            (void)printf("  %-24s not available: %s\n", contender->method, contender->lacking);
        else
            (void)printf("  %-24s %10.2f %15.0f\n", contender->method, contender->built.seconds,
                         contender->built.bytes);
    }
}

static void print_target(const struct topk_table *table, enum topk_measure by, double quality) {
    const double peer = topk_table_best_peer(table, by, quality);
    (void)printf("\n%s@10 of %.3f or more on the first half: the fastest setting there of each, on the second\n",
                 by == TOPK_RECALL ? "recall" : "CDR", quality);
    print_heading();
    for (size_t i = 0; i < table->contender_count; i++) {
        const struct topk_contender *contender = &table->contenders[i];
        if (!topk_table_is_first(table, i) || contender->lacking[0] != '\0') continue;
        const struct topk_row *row = topk_table_choose(table, contender->method, by, quality);
        if (row == NULL) {
            (void)printf("  %-24s not reached: %.4f at most\n", contender->method,
                         most_quality(table, contender->method, by));
            continue;
        }
        print_row(table, row);
        if (peer > 0) (void)printf("  %5.2f x", topk_half_rate(&row->halves[TOPK_REPORTED]) / peer);
        (void)printf("\n");
    }
}

struct target {
    enum topk_measure by;
    double quality;
};

static const struct target targets[] = {{TOPK_RECALL, 0.90}, {TOPK_RECALL, 0.95}, {TOPK_RECALL, 0.98},
                                        {TOPK_CDR, 0.95},    {TOPK_CDR, 0.99},    {TOPK_CDR, 0.995}};

#define TARGETS (sizeof targets / sizeof targets[0])

void topk_table_print_chosen(const struct topk_table *table) {
    for (size_t i = 0; i < TARGETS; i++) print_target(table, targets[i].by, targets[i].quality);
    (void)printf("\nx: as fast as the best peer.  Settings are tried up to half the speed of the scan.\n");
}

/* --------------------------------------------------------------- for documents -- */

/* "16,384" */
static void print_grouped(double rate) {
    const uint64_t whole = (uint64_t)(rate + 0.5);
    if (whole >= 1000)
        (void)printf("%" PRIu64 ",%03" PRIu64, whole / 1000, whole % 1000);
    else
        (void)printf("%" PRIu64, whole);
}

static void print_cell(const struct topk_row *row) {
    if (row == NULL) {
        (void)printf(" not reached |");
        return;
    }
    const struct topk_half *half = &row->halves[TOPK_REPORTED];
    (void)printf(" ");
    print_grouped(topk_half_rate(half));
    (void)printf(" (%.3f, %.3f) |", half->quality.recall, half->quality.cdr);
}

/* Least and most of what the contenders of a method take. */
static void print_taken(const struct topk_table *table, const char *method) {
    struct nearest_built least = {HUGE_VAL, HUGE_VAL};
    struct nearest_built most = {0, 0};
    for (size_t i = 0; i < table->contender_count; i++) {
        const struct nearest_built *built = &table->contenders[i].built;
        if (strcmp(table->contenders[i].method, method) != 0) continue;
        least.bytes = fmin(least.bytes, built->bytes);
        most.bytes = fmax(most.bytes, built->bytes);
        most.seconds = fmax(most.seconds, built->seconds);
    }
    (void)printf(" %.0f", least.bytes);
    if (most.bytes > least.bytes) (void)printf(" to %.0f", most.bytes);
    (void)printf(" | %.*f s |\n", most.seconds < 10 ? 1 : 0, most.seconds);
}

void topk_table_print_markdown(const struct topk_table *table) {
    (void)printf("\n| queries/s (recall@10, CDR@10) |");
    for (size_t i = 0; i < TARGETS; i++)
        (void)printf(" %s %.*f |", targets[i].by == TOPK_RECALL ? "recall" : "CDR", targets[i].quality > 0.99 ? 3 : 2,
                     targets[i].quality);
    (void)printf(" bytes | build |\n|---|---|---|---|---|---|---|---:|---:|\n");
    for (size_t i = 0; i < table->contender_count; i++) {
        const struct topk_contender *contender = &table->contenders[i];
        if (!topk_table_is_first(table, i) || contender->lacking[0] != '\0') continue;
        (void)printf("| %s |", contender->method);
        for (size_t t = 0; t < TARGETS; t++)
            print_cell(topk_table_choose(table, contender->method, targets[t].by, targets[t].quality));
        print_taken(table, contender->method);
    }
}

/* ------------------------------------------------------------------------ JSON -- */

static void json_half(const struct topk_table *table, const struct topk_row *row, size_t which) {
    const struct topk_contender *contender = &table->contenders[row->contender];
    const struct topk_half *half = &row->halves[which];
    for (size_t run = 0; run < half->seconds.runs; run++)
        (void)fprintf(table->json,
                      "{\"bench\":\"topk\",\"set\":\"%s\",\"rows\":%" PRIu64 ",\"bits\":%u,\"what\":\"%s\","
                      "\"setting\":\"%s\",\"half\":%zu,\"threads\":1,\"queries\":%zu,\"run\":%zu,\"seconds\":%.9f,"
                      "\"cdr\":%.6f,\"recall\":%.6f,\"compared\":%.1f,\"bytes\":%.1f,\"build_seconds\":%.3f}\n",
                      table->set->name, table->set->count, table->set->bits, contender->method, row->setting, which,
                      half->queries, run, half->seconds.seconds[run], half->quality.cdr, half->quality.recall,
                      half->compared, contender->built.bytes, contender->built.seconds);
}

void topk_table_json(const struct topk_table *table) {
    if (table->json == NULL) return;
    for (size_t i = 0; i < table->count; i++)
        for (size_t half = 0; half < TOPK_HALVES; half++) json_half(table, &table->rows[i], half);
    (void)fflush(table->json);
}
