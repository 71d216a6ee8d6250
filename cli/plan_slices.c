/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh plan --lists slices.  Memory is s (n + 2^w) numbers: with wider slices there are
 * fewer of them, but each has twice the lists.  Below the width of least memory nothing
 * is gained; above it, memory buys shorter lists, and so a faster search.
 *
 * A search of breadth i reads, of each slice, the lists of all values up to i bits from
 * the query's: C(w, 0) + ... + C(w, i) of them, n / 2^w rows each if signatures were
 * evenly spread.
 */
#include "plan_slices.h"

#include <stdio.h>

#include "size.h"

#define BREADTHS 4
#define MAX_WIDTHS (NIGH_MAX_SLICE_WIDTH + 1)
#define FILE_BYTES 4160u /* of header, table and footer */
#define FILE_ALIGNMENT 64u

struct width_row {
    uint32_t width;
    uint32_t slices;
    uint64_t bytes;
    double length; /* of a list, on average */
    double lists[BREADTHS];
    double postings[BREADTHS];
    bool is_smallest;
    bool is_default;
};

struct widths {
    struct width_row rows[MAX_WIDTHS];
    size_t count;
};

/* -------------------------------------------------------------------- predicting -- */

static uint64_t file_bytes(uint64_t signatures, uint32_t width_bits, uint32_t width) {
    const uint64_t bytes = nigh_slices_bytes(signatures, width_bits, width);
    return (bytes + FILE_ALIGNMENT - 1) / FILE_ALIGNMENT * FILE_ALIGNMENT + FILE_BYTES;
}

static nigh_status add_up(struct cli_job *job, const struct plan_extent *extent, struct width_row *row) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < extent->segments && status == NIGH_OK; i++) {
        uint64_t signatures;
        status = plan_extent_segment(job, extent, i, &signatures);
        if (status == NIGH_OK && signatures > 0) row->bytes += file_bytes(signatures, extent->width_bits, row->width);
    }
    return status;
}

/* What `slices` of so many bits add to a search. */
static void add_slices(struct width_row *row, double signatures, uint32_t slices, uint32_t bits) {
    const double length = signatures / (double)(UINT64_C(1) << bits);
    double ring = 1; /* bits over i */
    double lists = 0;
    row->length += length * slices / row->slices;
    for (uint32_t i = 0; i < BREADTHS; i++) {
        lists += ring;
        ring = ring * (bits - i) / (i + 1);
        row->lists[i] += slices * lists;
        row->postings[i] += slices * lists * length;
    }
}

static struct width_row predict(const struct plan_extent *extent, uint32_t width) {
    struct width_row row = {.width = width, .slices = nigh_slices_count(extent->width_bits, width)};
    const uint32_t narrow = row.slices * width - extent->width_bits;
    add_slices(&row, (double)extent->signatures, row.slices - narrow, width);
    if (narrow > 0) add_slices(&row, (double)extent->signatures, narrow, width - 1);
    return row;
}

static nigh_status predict_all(struct cli_job *job, const struct plan_extent *extent, struct widths *widths) {
    const uint32_t default_width = nigh_slices_default_width(extent->signatures, extent->width_bits);
    const uint32_t default_count = nigh_slices_count(extent->width_bits, default_width);
    size_t smallest = 0;
    for (uint32_t width = NIGH_MIN_SLICE_WIDTH; width <= NIGH_MAX_SLICE_WIDTH; width++) {
        const uint32_t slices = nigh_slices_count(extent->width_bits, width);
        /* One bit more may lead to as many slices, which are then as narrow as before. */
        if (slices == 0 || slices == nigh_slices_count(extent->width_bits, width - 1)) continue;
        struct width_row *row = &widths->rows[widths->count];
        *row = predict(extent, width);
        row->is_default = slices == default_count;
        const nigh_status status = add_up(job, extent, row);
        if (status != NIGH_OK) return status;
        if (row->bytes < widths->rows[smallest].bytes) smallest = widths->count;
        widths->count++;
    }
    widths->rows[smallest].is_smallest = true;
    return NIGH_OK;
}

/* ---------------------------------------------------------------------- printing -- */

static const char *remark(const struct width_row *row) {
    if (row->is_smallest) return row->is_default ? "  usual, least memory" : "  least memory";
    return row->is_default ? "  usual" : "";
}

/* 0.06, 3.8, 123, 1.2K, 443K: the numbers are for comparing. */
static struct cli_digits rounded(double number) {
    static const char *const units[] = {"", "K", "M", "G", "T"};
    struct cli_digits digits;
    int unit = 0;
    for (; number >= 999.5 && unit < 4; unit++) number /= 1000;
    (void)snprintf(digits.text, sizeof digits.text, number < 9.95 ? "%.2g%s" : "%.0f%s", number, units[unit]);
    return digits;
}

static void print_table(struct cli_sink *out, const struct plan_extent *extent, const struct widths *widths) {
    cli_sink_text(out,
                  "                                bytes    rows   lists read at breadth rows in them at breadth\n");
    cli_sink_text(out, "  width  slices   memory  a signature  a list     0     1     2     3");
    cli_sink_text(out, "     0     1     2     3\n");
    for (size_t i = 0; i < widths->count; i++) {
        const struct width_row *row = &widths->rows[i];
        cli_sink_format(out, "%c %5u  %6u  %7s  %11.0f  %6s", row->is_default ? '*' : ' ', row->width, row->slices,
                        cli_size((double)row->bytes).text, plan_extent_each(extent, row->bytes),
                        rounded(row->length).text);
        for (int b = 0; b < BREADTHS; b++) cli_sink_format(out, " %5s", rounded(row->lists[b]).text);
        for (int b = 0; b < BREADTHS; b++) cli_sink_format(out, " %5s", rounded(row->postings[b]).text);
        cli_sink_format(out, "%s\n", remark(row));
    }
}

static void print_array(struct cli_sink *out, const char *name, const double *numbers) {
    cli_sink_format(out, ",\"%s\":[", name);
    for (int b = 0; b < BREADTHS; b++) cli_sink_format(out, "%s%.6g", b == 0 ? "" : ",", numbers[b]);
    cli_sink_text(out, "]");
}

static void print_jsonl(struct cli_sink *out, const struct plan_extent *extent, const struct widths *widths) {
    for (size_t i = 0; i < widths->count; i++) {
        const struct width_row *row = &widths->rows[i];
        cli_sink_format(out, "{\"slice_width\":%u,\"slices\":%u,\"bytes\":%llu,\"signature_bytes\":%.1f", row->width,
                        row->slices, (unsigned long long)row->bytes, plan_extent_each(extent, row->bytes));
        cli_sink_format(out, ",\"list_length\":%.6g", row->length);
        print_array(out, "lists", row->lists);
        print_array(out, "postings", row->postings);
        cli_sink_format(out, ",\"least_memory\":%s,\"usual\":%s}\n", row->is_smallest ? "true" : "false",
                        row->is_default ? "true" : "false");
    }
}

static void print_tsv(struct cli_sink *out, const struct plan_extent *extent, const struct widths *widths) {
    for (size_t i = 0; i < widths->count; i++) {
        const struct width_row *row = &widths->rows[i];
        cli_sink_format(out, "%u\t%u\t%llu\t%.1f\t%.6g", row->width, row->slices, (unsigned long long)row->bytes,
                        plan_extent_each(extent, row->bytes), row->length);
        for (int b = 0; b < BREADTHS; b++) cli_sink_format(out, "\t%.6g", row->lists[b]);
        for (int b = 0; b < BREADTHS; b++) cli_sink_format(out, "\t%.6g", row->postings[b]);
        cli_sink_format(out, "\t%d\t%d\n", row->is_smallest, row->is_default);
    }
}

/* --------------------------------------------------------------------------- run -- */

int plan_slices(struct cli_job *job, const struct plan_extent *extent, enum plan_output output) {
    struct widths widths = {.count = 0};
    const double started = cli_seconds();
    if (predict_all(job, extent, &widths) != NIGH_OK) return cli_fail(job);
    if (output == PLAN_TABLE) print_table(job->out, extent, &widths);
    if (output == PLAN_JSONL) print_jsonl(job->out, extent, &widths);
    if (output == PLAN_TSV) print_tsv(job->out, extent, &widths);
    if (!cli_sink_flush(job->out)) return cli_fail(job);
    job->stats.complete = true;
    job->stats.work_seconds = cli_seconds() - started;
    job->stats.documents = extent->signatures;
    cli_stats_count(&job->stats, "settings", widths.count);
    return CLI_DONE;
}
