/* SPDX-License-Identifier: Apache-2.0 */
#include "eval_output.h"

#include <math.h>
#include <stdio.h>

#define CLASSES 5

const char *const cli_eval_output_names[] = {"table", "jsonl", "tsv", NULL};

/* ------------------------------------------------------------- for people -- */

static void table_row(struct cli_sink *out, const nigh_eval_pairs_row *row, bool best) {
    char cosine[16] = "-";
    if (row->cosine >= 0) (void)snprintf(cosine, sizeof cosine, "%.3f", row->cosine);
    cli_sink_format(out, "%c%8u  %14s  %7s  %11s  %14s  %9.4f  %6.4f  %6.4f\n", best ? '*' : ' ', row->distance,
                    cli_digits(row->pairs).text, cosine, cli_digits(row->alike).text,
                    cli_digits(row->pairs_within - row->alike_within).text, row->precision, row->recall, row->f1);
}

/* Whether a row tells something that the one shown last did not. */
static bool tells(const nigh_eval_pairs_row *row, const nigh_eval_pairs_row *last) {
    return fabs(row->precision - last->precision) >= 0.02 || fabs(row->recall - last->recall) >= 0.02;
}

/* All rows that tell something, up to where nothing alike is left. */
static void table_rows(struct cli_sink *out, const struct cli_eval_pairs *measured) {
    nigh_eval_pairs_row row = {.size = sizeof row};
    nigh_eval_pairs_row best = {.size = sizeof best};
    nigh_eval_pairs_row last = {.precision = -1};
    const bool has_best = nigh_eval_pairs_best(measured->pairs, NIGH_EVAL_LENGTH_ALL, &best) == NIGH_OK;
    cli_sink_text(out, " distance           pairs   cosine        alike   others within  precision  recall      F1\n");
    for (uint32_t d = 0; nigh_eval_pairs_at(measured->pairs, NIGH_EVAL_LENGTH_ALL, d, &row) == NIGH_OK; d++) {
        const bool is_best = has_best && d == best.distance;
        const bool is_last = row.alike > 0 && row.recall >= 1;
        if (row.pairs == 0 || (last.recall >= 1 && !is_best)) continue;
        if (!is_best && !is_last && !tells(&row, &last)) continue;
        table_row(out, &row, is_best);
        last = row;
    }
    if (has_best) cli_sink_text(out, "* the radius of the best F1\n");
}

static void table_classes(struct cli_sink *out, const struct cli_eval_pairs *measured) {
    cli_sink_text(out, "\n   words           pairs        alike   best radius  precision  recall      F1\n");
    for (int length = 1; length < CLASSES; length++) {
        nigh_eval_pairs_info info = {.size = sizeof info};
        nigh_eval_pairs_row best = {.size = sizeof best};
        nigh_eval_pairs_describe(measured->pairs, (nigh_eval_length_class)length, &info);
        cli_sink_format(out, " %7s  %14s  %11s", nigh_eval_length_class_name((nigh_eval_length_class)length),
                        cli_digits(info.pairs).text, cli_digits(info.alike).text);
        if (nigh_eval_pairs_best(measured->pairs, (nigh_eval_length_class)length, &best) == NIGH_OK)
            cli_sink_format(out, "  %12u  %9.4f  %6.4f  %6.4f\n", best.distance, best.precision, best.recall, best.f1);
        else
            cli_sink_text(out, "             -\n");
    }
    cli_sink_text(out, "words of the shorter text of a pair\n");
}

/* ----------------------------------------------------------- for programs -- */

static void line_of(struct cli_sink *out, enum cli_eval_output output, int length, const nigh_eval_pairs_row *row) {
    const char *name = nigh_eval_length_class_name((nigh_eval_length_class)length);
    char cosine[48];
    if (output == CLI_EVAL_TSV) {
        (void)snprintf(cosine, sizeof cosine, "%.6f\t%.6f", row->cosine, row->cosine_error);
        cli_sink_format(out, "%s\t%u\t%llu\t%llu\t%.6f\t%.6f\t%.6f\t%s\n", name, row->distance,
                        (unsigned long long)row->pairs, (unsigned long long)row->alike, row->precision, row->recall,
                        row->f1, row->cosine < 0 ? "\t" : cosine);
        return;
    }
    cli_sink_format(out, "{\"words\":\"%s\",\"distance\":%u,\"pairs\":%llu,\"alike\":%llu", name, row->distance,
                    (unsigned long long)row->pairs, (unsigned long long)row->alike);
    cli_sink_format(out, ",\"precision\":%.6f,\"recall\":%.6f,\"f1\":%.6f", row->precision, row->recall, row->f1);
    if (row->cosine >= 0)
        cli_sink_format(out, ",\"cosine\":%.6f,\"cosine_error\":%.6f", row->cosine, row->cosine_error);
    cli_sink_text(out, "}\n");
}

static void lines(struct cli_sink *out, enum cli_eval_output output, const nigh_eval_pairs *pairs) {
    for (int length = 0; length < CLASSES; length++) {
        nigh_eval_pairs_row row = {.size = sizeof row};
        for (uint32_t d = 0; nigh_eval_pairs_at(pairs, (nigh_eval_length_class)length, d, &row) == NIGH_OK; d++) {
            if (row.pairs > 0) line_of(out, output, length, &row);
        }
    }
}

/* ------------------------------------------------------------------ both -- */

void cli_eval_show_pairs(struct cli_sink *out, enum cli_eval_output output, const struct cli_eval_pairs *measured) {
    if (output != CLI_EVAL_TABLE) {
        lines(out, output, measured->pairs);
        return;
    }
    nigh_eval_pairs_info info = {.size = sizeof info};
    nigh_eval_pairs_describe(measured->pairs, NIGH_EVAL_LENGTH_ALL, &info);
    cli_sink_format(out, "%s of %u bits, %s; %s %s of %.4g or more\n\n",
                    cli_counted(info.documents, "document", "documents").text, info.width_bits,
                    cli_counted(info.pairs, "pair", "pairs").text,
                    cli_counted(info.alike, "is alike, with", "are alike, with").text,
                    measured->labelled ? "a label" : "a cosine", measured->alike);
    table_rows(out, measured);
    table_classes(out, measured);
}

void cli_eval_show_ranking(struct cli_sink *out, enum cli_eval_output output, const char *asking, bool first,
                           const nigh_eval_ranking *ranking) {
    const unsigned long long topics = ranking->topics;
    const unsigned long long rankings = ranking->rankings;
    if (output == CLI_EVAL_TSV) {
        cli_sink_format(out, "%s\t%llu\t%llu\t%.6f\t%.6f", asking, topics, rankings, ranking->map, ranking->precision);
        cli_sink_format(out, "\t%.6f\t%.6f\t%.6f\t%.6f", ranking->touched_map, ranking->touched_precision,
                        ranking->weighted_map, ranking->weighted_precision);
        cli_sink_format(out, "\t%.6f\t%.6f\n", ranking->vector_map, ranking->vector_precision);
    } else if (output == CLI_EVAL_JSONL) {
        cli_sink_format(out, "{\"queries\":\"%s\",\"topics\":%llu,\"rankings\":%llu", asking, topics, rankings);
        cli_sink_format(out, ",\"map\":%.6f,\"precision_at_10\":%.6f", ranking->map, ranking->precision);
        cli_sink_format(out, ",\"touched_map\":%.6f,\"touched_precision_at_10\":%.6f", ranking->touched_map,
                        ranking->touched_precision);
        cli_sink_format(out, ",\"weighted_map\":%.6f,\"weighted_precision_at_10\":%.6f", ranking->weighted_map,
                        ranking->weighted_precision);
        cli_sink_format(out, ",\"vector_map\":%.6f,\"vector_precision_at_10\":%.6f}\n", ranking->vector_map,
                        ranking->vector_precision);
    } else {
        if (first)
            cli_sink_text(
                out, "                                by distance      touched bits    weighted bits    features\n"
                     "queries      topics  rankings     MAP    P@10     MAP    P@10     MAP    P@10     MAP    P@10\n");
        cli_sink_format(out, "%-9s  %8llu  %8llu  %6.4f  %6.4f  %6.4f  %6.4f", asking, topics, rankings, ranking->map,
                        ranking->precision, ranking->touched_map, ranking->touched_precision);
        cli_sink_format(out, "  %6.4f  %6.4f  %6.4f  %6.4f\n", ranking->weighted_map, ranking->weighted_precision,
                        ranking->vector_map, ranking->vector_precision);
    }
}
