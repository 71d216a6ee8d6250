/* SPDX-License-Identifier: Apache-2.0 */
/* nigh eval signatures: compares distances of signatures with what the texts have in common. */
#include <math.h>
#include <stdio.h>

#include "amount.h"
#include "evaluator.h"

#define CLASSES 5

struct signatures_values {
    struct eval_values base;
    struct cli_number sample;
    const char *cosine;
    const char *jaccard;
    const char *truth;
};

#define PLACE(field) offsetof(struct signatures_values, field)

static const struct cli_option options[] = {
    CLI_TEXT(0, "cosine", PLACE(cosine), "X",
             "pairs whose features have a cosine of X or more are alike (default 0.9)"),
    CLI_TEXT(
        0, "truth", PLACE(truth), "FILE",
        "take the pairs that are alike from FILE instead, lines ID<TAB>ID<TAB>JACCARD; pairs without a label count "
        "as not alike"),
    CLI_TEXT(0, "jaccard", PLACE(jaccard), "X", "with --truth: labels of X or more are alike (default 0.8)"),
    CLI_NUMBER(0, "sample", PLACE(sample), "N", 0, UINT32_MAX, "1000",
               "the mean cosine at a distance is that of at most N pairs, for cosines take long; 0 takes all pairs"),
    EVAL_SAMPLE_SEED_OPTION,
    EVAL_PLOT_OPTION,
    EVAL_REPORT_OPTION,
    EVAL_OUTPUT_OPTION,
    EVAL_SIGNING_OPTIONS,
    EVAL_INPUT_OPTIONS,
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... INPUT...", NULL};

static const char *const description[] = {
    "Signs all documents and compares every pair. For each distance it shows how many pairs have it, the mean cosine "
    "of their features (those that the signatures are made of, with the same weights), and the precision, recall and "
    "F1 of taking all pairs at this distance or nearer for alike. It also shows the best radius for texts of each "
    "length.",
    "Counts are exact. The time grows with the square of the number of documents: --limit takes the first ones.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "tsv: the words of the shorter text (all, 1-31, 32-127, 128-511, 512+), distance, pairs at it, alike ones of "
    "these, then precision, recall and F1 of this distance or nearer, then mean cosine and its standard error (empty "
    "where not of all lengths). Distances without a pair are left out. jsonl has the same by name.",
    NULL,
};
static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh eval signatures --scheme simhash --plot simhash.svg pages/", "which radius fits these pages"},
    {"nigh eval signatures --scheme simhash --report simhash.html pages/", "the same as a page for a browser"},
    {"nigh eval signatures --scheme minhash --truth pairs.tsv texts.jsonl", "how labelled pairs are found"},
    {NULL, NULL},
};

struct measured {
    const nigh_eval_pairs *pairs;
    bool labelled;
    double alike; /* the threshold */
};

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
static void table_rows(struct cli_sink *out, const struct measured *measured) {
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

static void table_classes(struct cli_sink *out, const struct measured *measured) {
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

static void show_pairs(struct cli_sink *out, enum cli_eval_output output, const struct measured *measured) {
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

/* --------------------------------------------------------------- a page -- */

/* What the charts are drawn from: up to `most`, the distance at the right edge. */
struct drawn {
    const nigh_eval_pairs *pairs;
    uint32_t most;
};

/* Of pairs of texts of that length; false: past the end. */
static bool row_at(const struct drawn *drawn, int length, size_t distance, nigh_eval_pairs_row *row) {
    *row = (nigh_eval_pairs_row){.size = sizeof *row};
    return distance <= drawn->most &&
           nigh_eval_pairs_at(drawn->pairs, (nigh_eval_length_class)length, (uint32_t)distance, row) == NIGH_OK;
}

static const char *quality_name(const void *from, size_t line) {
    static const char *const names[] = {"precision", "recall", "F1"};
    (void)from;
    return names[line];
}

static bool quality_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    nigh_eval_pairs_row row;
    if (!row_at(from, NIGH_EVAL_LENGTH_ALL, index, &row)) return false;
    *out = (struct cli_chart_point){(double)index, line == 0 ? row.precision : line == 1 ? row.recall : row.f1};
    return true;
}

static const char *count_name(const void *from, size_t line) {
    (void)from;
    return line == 0 ? "alike" : "others";
}

static bool count_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    nigh_eval_pairs_row row;
    if (!row_at(from, NIGH_EVAL_LENGTH_ALL, index, &row)) return false;
    *out = (struct cli_chart_point){(double)index, (double)(line == 0 ? row.alike : row.pairs - row.alike)};
    return true;
}

static const char *cosine_name(const void *from, size_t line) {
    (void)from, (void)line;
    return "mean cosine";
}

static bool cosine_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    nigh_eval_pairs_row row;
    (void)line;
    if (!row_at(from, NIGH_EVAL_LENGTH_ALL, index, &row)) return false;
    *out = (struct cli_chart_point){(double)index, row.cosine < 0 ? NAN : row.cosine};
    return true;
}

static const char *length_name(const void *from, size_t line) {
    (void)from;
    return nigh_eval_length_class_name((nigh_eval_length_class)(line + 1));
}

/* A class without pairs that are alike has no F1. */
static bool length_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct drawn *drawn = from;
    nigh_eval_pairs_info info = {.size = sizeof info};
    nigh_eval_pairs_row row;
    nigh_eval_pairs_describe(drawn->pairs, (nigh_eval_length_class)(line + 1), &info);
    if (info.alike == 0 || !row_at(from, (int)line + 1, index, &row)) return false;
    *out = (struct cli_chart_point){(double)index, row.f1};
    return true;
}

/* The farthest distance of any pair, and a little beyond that of any that is alike. */
static void find_ends(const nigh_eval_pairs *pairs, uint32_t *farthest, uint32_t *radius) {
    nigh_eval_pairs_row row = {.size = sizeof row};
    uint32_t alike = 1;
    *farthest = 1;
    for (uint32_t d = 1; nigh_eval_pairs_at(pairs, NIGH_EVAL_LENGTH_ALL, d, &row) == NIGH_OK; d++) {
        if (row.pairs > 0) *farthest = d;
        if (row.alike > 0) alike = d;
    }
    *radius = alike + alike / 4 + 2 < *farthest ? alike + alike / 4 + 2 : *farthest;
}

static void put_charts(struct cli_sink *page, const nigh_eval_pairs *pairs) {
    struct drawn near = {.pairs = pairs}, all = {.pairs = pairs};
    nigh_eval_pairs_row best = {.size = sizeof best};
    char mark[40] = "";
    find_ends(pairs, &all.most, &near.most);
    const bool has_best = nigh_eval_pairs_best(pairs, NIGH_EVAL_LENGTH_ALL, &best) == NIGH_OK;
    (void)snprintf(mark, sizeof mark, "best F1 at %u", best.distance);
    const struct cli_chart charts[] = {{.heading = "Precision, recall and F1",
                                        .below = "radius in bits",
                                        .up = CLI_CHART_SHARE,
                                        .lines = 3,
                                        .from = &near,
                                        .name = quality_name,
                                        .point = quality_point,
                                        .mark_says = has_best ? mark : NULL,
                                        .mark = best.distance},
                                       {.heading = "Pairs at each distance",
                                        .below = "distance in bits",
                                        .up = CLI_CHART_POWERS,
                                        .lines = 2,
                                        .from = &all,
                                        .name = count_name,
                                        .point = count_point},
                                       {.heading = "Mean cosine of the features",
                                        .below = "distance in bits",
                                        .up = CLI_CHART_SHARE,
                                        .lines = 1,
                                        .from = &all,
                                        .name = cosine_name,
                                        .point = cosine_point},
                                       {.heading = "F1, by the words of the shorter text",
                                        .below = "radius in bits",
                                        .up = CLI_CHART_SHARE,
                                        .lines = CLASSES - 1,
                                        .from = &near,
                                        .name = length_name,
                                        .point = length_point}};
    cli_sink_text(page, CLI_CHARTS_BEGIN);
    for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) cli_page_chart(page, &charts[i]);
    cli_sink_text(page, CLI_CHARTS_END);
}

static void put_classes(struct cli_sink *page, const nigh_eval_pairs *pairs) {
    static const char *const columns[] = {"words",     "#pairs", "#alike", "#best radius",
                                          "precision", "recall", "F1",     NULL};
    cli_sink_text(page,
                  "<h2>The best radius</h2>\n<p class=\"hint\">By the words of the shorter text of a pair.</p>\n");
    cli_page_table(page, columns);
    for (int length = 0; length < CLASSES; length++) {
        nigh_eval_pairs_info info = {.size = sizeof info};
        nigh_eval_pairs_row best = {.size = sizeof best, .precision = -1, .recall = -1, .f1 = -1};
        nigh_eval_pairs_describe(pairs, (nigh_eval_length_class)length, &info);
        const bool found = nigh_eval_pairs_best(pairs, (nigh_eval_length_class)length, &best) == NIGH_OK;
        cli_sink_text(page, "<tr>");
        cli_page_cell(page, nigh_eval_length_class_name((nigh_eval_length_class)length));
        cli_page_number(page, "%s", found ? cli_digits(best.distance).text : "-");
        cli_page_bar(page, best.precision);
        cli_page_bar(page, best.recall);
        cli_page_bar(page, best.f1);
        cli_page_number(page, "%s", cli_digits(info.pairs).text);
        cli_page_number(page, "%s", cli_digits(info.alike).text);
        cli_sink_text(page, "</tr>\n");
    }
    cli_page_table_end(page);
}

static int write_page(struct evaluator *evaluator, const struct measured *measured) {
    char name[100];
    nigh_eval_pairs_info info = {.size = sizeof info};
    cli_eval_name_inputs(evaluator, name, sizeof name);
    nigh_eval_pairs_describe(measured->pairs, NIGH_EVAL_LENGTH_ALL, &info);
    struct cli_sink *page = cli_eval_open_page(evaluator, "Which pairs of documents a radius finds", name);
    if (page == NULL) return cli_fail(evaluator->job);
    cli_sink_format(page, "<p>%s of %u bits by %s, %s; ", cli_counted(info.documents, "document", "documents").text,
                    info.width_bits, cli_scheme_name(evaluator->signer_options.scheme),
                    cli_counted(info.pairs, "pair", "pairs").text);
    cli_sink_format(page, "%s %s of %.4g or more.</p>\n",
                    cli_counted(info.alike, "is alike, with", "are alike, with").text,
                    measured->labelled ? "a label" : "a cosine", measured->alike);
    put_charts(page, measured->pairs);
    put_classes(page, measured->pairs);
    return cli_eval_close_page(evaluator, page);
}

/* -------------------------------------------------------------------- run -- */

static int check(struct evaluator *evaluator) {
    const struct cli_job *job = evaluator->job;
    const struct signatures_values *values = job->values;
    const struct cli_place truth = {"--truth", values->truth};
    evaluator->alike = values->truth == NULL ? 0.9 : 0.8;
    if (!cli_amount_share(job, "--cosine", values->cosine, &evaluator->alike)) return CLI_ERROR;
    if (!cli_amount_share(job, "--jaccard", values->jaccard, &evaluator->alike)) return CLI_ERROR;
    if (values->truth != NULL && values->cosine != NULL)
        return cli_usage(job->command, "--truth goes by labels, and leaves no --cosine to ask for");
    if (values->truth == NULL && values->jaccard != NULL) return cli_usage(job->command, "--jaccard goes with --truth");
    return cli_eval_check_places(evaluator, &truth, 1);
}

static int plot_pairs(struct evaluator *evaluator, nigh_eval_pairs *pairs) {
    const char *svg = NULL;
    size_t length = 0;
    char name[100];
    char title[200];
    cli_eval_name_inputs(evaluator, name, sizeof name);
    (void)snprintf(title, sizeof title, "%s, %u bits: %s", cli_scheme_name(evaluator->signer_options.scheme),
                   nigh_signer_width(evaluator->signer), name);
    if (nigh_eval_pairs_plot(pairs, title, &svg, &length, &evaluator->job->error) != NIGH_OK)
        return cli_fail(evaluator->job);
    return cli_eval_write_plot(evaluator, svg, length);
}

static int measure(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    const struct signatures_values *values = job->values;
    nigh_eval_pairs_options pairs_options;
    nigh_eval_pairs_options_init(&pairs_options);
    nigh_eval_pairs_info info = {.size = sizeof info};
    nigh_eval_pairs *pairs = NULL;
    pairs_options.alike = evaluator->alike;
    pairs_options.labels = values->truth;
    pairs_options.sample = (uint32_t)values->sample.value;
    pairs_options.seed = values->base.sample_seed.value;
    pairs_options.threads = job->threads;
    pairs_options.progress = &job->progress.report;
    if (nigh_eval_pairs_measure(evaluator->documents, &pairs_options, &pairs, &job->error) != NIGH_OK)
        return cli_fail(job);
    cli_progress_clear(&job->progress);
    const struct measured measured = {.pairs = pairs, .labelled = values->truth != NULL, .alike = evaluator->alike};
    show_pairs(job->out, (enum cli_eval_output)values->base.output, &measured);
    nigh_eval_pairs_describe(pairs, NIGH_EVAL_LENGTH_ALL, &info);
    if (info.labels_missing > 0)
        cli_note(job, "left out: %s of a document that is not there",
                 cli_counted(info.labels_missing, "label", "labels").text);
    cli_stats_count(&job->stats, "pairs", info.pairs);
    cli_stats_count(&job->stats, "alike", info.alike);
    int code = values->base.plot == NULL ? CLI_DONE : plot_pairs(evaluator, pairs);
    if (code == CLI_DONE && values->base.report != NULL) code = write_page(evaluator, &measured);
    nigh_eval_pairs_free(pairs);
    if (code == CLI_DONE) cli_eval_summarise(evaluator);
    return code == CLI_DONE && info.pairs == 0 ? CLI_NOTHING : code;
}

static int run(struct cli_job *job) {
    static const struct eval_kind kind = {.reads = EVAL_SIGNED, .check = check, .measure = measure};
    return cli_eval_run(job, &kind);
}

const struct cli_command cmd_eval_signatures = {
    .name = "eval signatures",
    .summary = "which pairs of documents a radius finds",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct signatures_values),
    .run = run,
};
