/* SPDX-License-Identifier: Apache-2.0 */
/* nigh eval duplicates: how many of the near-copies each method finds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "amount.h"
#include "evaluator.h"

struct duplicates_values {
    struct eval_values base;
    const char *threshold;
    const char *labels;
    const char *temporary;
};

#define PLACE(field) offsetof(struct duplicates_values, field)

static const struct cli_option options[] = {
    CLI_TEXT(0, "threshold", PLACE(threshold), "X",
             "texts are near-copies if their sets of features have a Jaccard index of X or more (default 0.8)"),
    CLI_TEXT(0, "labels", PLACE(labels), "FILE",
             "also show which of these pairs 'nigh dedup' finds, lines ID<TAB>ID<TAB>JACCARD"),
    CLI_TEXT(0, "temporary", PLACE(temporary), "DIR", "the folder for temporary files (default $TMPDIR, else /tmp)"),
    EVAL_REPORT_OPTION,
    EVAL_OUTPUT_OPTION,
    CLI_FEATURE_OPTION(EVAL_PLACE(signing), "ngrams:3"),
    CLI_LANGUAGE_OPTIONS(EVAL_PLACE(signing)),
    CLI_SEED_OPTION(EVAL_PLACE(signing)),
    EVAL_INPUT_OPTIONS,
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... [--threshold X] [--labels FILE] INPUT...", NULL};

static const char *const description[] = {
    "Finds every pair of near-copies by comparing sets of features. Compares these with what 'nigh dedup' finds, and "
    "with what simhash, MinHash bits and MinHash LSH find without reading the texts. Exact copies are left out first.",
    "The inputs are read a dozen times, so they must be files.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "tsv: 'method', its name, bits, radius, recall, precision, F1, candidates, their precision, whether they are "
    "estimated, seconds for reading and signing, seconds for finding, bytes of memory, what it left out; then 'label', "
    "from, to, labelled pairs, alike ones, found ones, and both again with a threshold of 0.5. jsonl has the same by "
    "name.",
    NULL,
};
static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh eval duplicates texts.jsonl", "what each method finds"},
    {"nigh eval duplicates --report duplicates.html texts.jsonl", "the same as a page for a browser"},
    {NULL, NULL},
};

/* ------------------------------------------------------------- for people -- */

static void table_row(struct cli_sink *out, const nigh_eval_duplicates_row *row, uint64_t documents) {
    char bits[16] = "";
    char radius[16] = "";
    char candidates[48];
    if (row->width_bits > 0) (void)snprintf(bits, sizeof bits, "%u", row->width_bits);
    if (row->radius != NIGH_ALL) (void)snprintf(radius, sizeof radius, "%u", row->radius);
    (void)snprintf(candidates, sizeof candidates, "%s%s", row->estimated ? "~" : "", cli_digits(row->candidates).text);
    cli_sink_format(out, "%-27s  %4s  %6s  %6.4f  %9.4f  %6.4f", row->method, bits, radius, row->recall, row->precision,
                    row->f1);
    cli_sink_format(out, "  %13s  %10.2f  %7.4f  %7.2f  %7.2f  %7.1f\n", candidates,
                    documents == 0 ? 0.0 : (double)row->candidates / (double)documents, row->candidate_precision,
                    row->sign_seconds, row->find_seconds, (double)row->bytes / 1e6);
}

/* "0.9876", or a dash where there was nothing to find. */
struct share {
    char text[16];
};

static struct share share(uint64_t found, uint64_t all) {
    struct share share = {"-"};
    if (all > 0) (void)snprintf(share.text, sizeof share.text, "%.4f", (double)found / (double)all);
    return share;
}

static void table_bands(struct cli_sink *out, const nigh_eval_duplicates *duplicates, double threshold) {
    nigh_eval_duplicates_band band = {.size = sizeof band};
    if (nigh_eval_duplicates_band_at(duplicates, 0, &band) != NIGH_OK) return;
    cli_sink_format(out,
                    "\nlabelled pairs and 'nigh dedup'     threshold %4.2f             threshold 0.50\n"
                    "     label    pairs      alike    found  recall      alike    found  recall\n",
                    threshold);
    for (size_t i = 0; nigh_eval_duplicates_band_at(duplicates, i, &band) == NIGH_OK; i++)
        cli_sink_format(out, " %4.2f-%4.2f  %7llu    %7llu  %7llu  %6s    %7llu  %7llu  %6s\n", band.low, band.high,
                        (unsigned long long)band.pairs, (unsigned long long)band.alike, (unsigned long long)band.found,
                        share(band.found, band.alike).text, (unsigned long long)band.alike_wide,
                        (unsigned long long)band.found_wide, share(band.found_wide, band.alike_wide).text);
}

static void show_table(struct cli_sink *out, const nigh_eval_duplicates *duplicates,
                       const nigh_eval_duplicates_info *info, double threshold) {
    nigh_eval_duplicates_row row = {.size = sizeof row};
    bool estimated = false;
    cli_sink_format(out, "%s, %s left out; ", cli_counted(info->documents, "document", "documents").text,
                    cli_counted(info->copies, "exact copy", "exact copies").text);
    cli_sink_format(out, "%s a Jaccard index of %.4g or more (found in %.2f s)\n\n",
                    cli_counted(info->pairs, "pair has", "pairs have").text, threshold, info->truth_seconds);
    cli_sink_text(out,
                  "                                                                              candidates"
                  "                        seconds\n"
                  "method                       bits  radius  recall  precision      F1             all  a document"
                  "    right     sign     find       MB\n");
    for (size_t i = 0; nigh_eval_duplicates_at(duplicates, i, &row) == NIGH_OK; i++) {
        table_row(out, &row, info->documents);
        estimated = estimated || row.estimated;
    }
    if (estimated) cli_sink_text(out, "~ from a sample of the rows, and so are precision and seconds\n");
    table_bands(out, duplicates, threshold);
}

/* ----------------------------------------------------------- for programs -- */

static void tsv_row(struct cli_sink *out, const nigh_eval_duplicates_row *row) {
    cli_sink_format(out, "method\t%s\t%u\t", row->method, row->width_bits);
    if (row->radius != NIGH_ALL) cli_sink_format(out, "%u", row->radius);
    cli_sink_format(out, "\t%.6f\t%.6f\t%.6f\t%llu\t%.6f\t%d", row->recall, row->precision, row->f1,
                    (unsigned long long)row->candidates, row->candidate_precision, row->estimated != 0);
    cli_sink_format(out, "\t%.3f\t%.3f\t%llu\t%llu\n", row->sign_seconds, row->find_seconds,
                    (unsigned long long)row->bytes, (unsigned long long)row->truncated);
}

static void jsonl_row(struct cli_sink *out, const nigh_eval_duplicates_row *row) {
    cli_sink_format(out, "{\"method\":\"%s\"", row->method);
    if (row->width_bits > 0) cli_sink_format(out, ",\"bits\":%u", row->width_bits);
    if (row->radius != NIGH_ALL) cli_sink_format(out, ",\"radius\":%u", row->radius);
    cli_sink_format(out, ",\"recall\":%.6f,\"precision\":%.6f,\"f1\":%.6f,\"candidates\":%llu", row->recall,
                    row->precision, row->f1, (unsigned long long)row->candidates);
    cli_sink_format(out, ",\"candidate_precision\":%.6f,\"estimated\":%s,\"sign_seconds\":%.3f",
                    row->candidate_precision, row->estimated ? "true" : "false", row->sign_seconds);
    cli_sink_format(out, ",\"find_seconds\":%.3f,\"bytes\":%llu,\"truncated\":%llu}\n", row->find_seconds,
                    (unsigned long long)row->bytes, (unsigned long long)row->truncated);
}

static void line_band(struct cli_sink *out, bool tsv, const nigh_eval_duplicates_band *band) {
    cli_sink_format(out,
                    tsv ? "label\t%.2f\t%.2f\t%llu\t%llu\t%llu\t%llu\t%llu\n"
                        : "{\"label\":%.2f,\"to\":%.2f,\"pairs\":%llu,\"alike\":%llu,\"found\":%llu,\"alike_at_half\":%"
                          "llu,\"found_at_half\":%llu}\n",
                    band->low, band->high, (unsigned long long)band->pairs, (unsigned long long)band->alike,
                    (unsigned long long)band->found, (unsigned long long)band->alike_wide,
                    (unsigned long long)band->found_wide);
}

static void show_lines(struct cli_sink *out, bool tsv, const nigh_eval_duplicates *duplicates) {
    nigh_eval_duplicates_row row = {.size = sizeof row};
    nigh_eval_duplicates_band band = {.size = sizeof band};
    for (size_t i = 0; nigh_eval_duplicates_at(duplicates, i, &row) == NIGH_OK; i++)
        (tsv ? tsv_row : jsonl_row)(out, &row);
    for (size_t i = 0; nigh_eval_duplicates_band_at(duplicates, i, &band) == NIGH_OK; i++) line_band(out, tsv, &band);
}

/* ------------------------------------------------------------------ a page -- */

/* What the charts are drawn from. */
struct drawn {
    const nigh_eval_duplicates *duplicates;
    uint64_t documents;
    char thresholds[2][32];
};

static const char *threshold_name(const void *from, size_t line) {
    return ((const struct drawn *)from)->thresholds[line];
}

/* Recall of labelled pairs by the middle of their band. */
static bool band_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct drawn *drawn = from;
    nigh_eval_duplicates_band band = {.size = sizeof band};
    if (nigh_eval_duplicates_band_at(drawn->duplicates, index, &band) != NIGH_OK) return false;
    const uint64_t alike = line == 0 ? band.alike : band.alike_wide;
    const uint64_t found = line == 0 ? band.found : band.found_wide;
    *out = (struct cli_chart_point){(band.low + band.high) / 2, alike == 0 ? NAN : (double)found / (double)alike};
    return true;
}

static bool method_at(const struct drawn *drawn, size_t line, nigh_eval_duplicates_row *row) {
    *row = (nigh_eval_duplicates_row){.size = sizeof *row};
    return nigh_eval_duplicates_at(drawn->duplicates, line, row) == NIGH_OK;
}

/* Methods of one kind have a colour. */
static const char *const families[] = {"nigh dedup", "simhash", "MinHash bits", "MinHash LSH"};
#define FAMILIES (sizeof families / sizeof families[0])

static const char *family_name(const void *from, size_t line) {
    (void)from;
    return families[line];
}

static bool work_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct drawn *drawn = from;
    nigh_eval_duplicates_row row;
    if (!method_at(drawn, index, &row) || drawn->documents == 0) return false;
    *out = (struct cli_chart_point){(double)row.candidates / (double)drawn->documents, row.recall};
    if (strncmp(row.method, families[line], strlen(families[line])) != 0) out->up = NAN;
    return true;
}

/* "simhash of words, 64 bits, radius 3" */
static void name_row(const nigh_eval_duplicates_row *row, char *name, size_t capacity) {
    int length = snprintf(name, capacity, "%s", row->method);
    if (row->width_bits > 0) length += snprintf(name + length, capacity - (size_t)length, ", %u bits", row->width_bits);
    if (row->radius != NIGH_ALL) (void)snprintf(name + length, capacity - (size_t)length, ", radius %u", row->radius);
}

static void say_method(struct cli_sink *page, const void *from, size_t line, size_t index) {
    nigh_eval_duplicates_row row;
    char name[120];
    (void)line;
    if (!method_at(from, index, &row)) return;
    name_row(&row, name, sizeof name);
    cli_page_text(page, name, strlen(name));
    cli_sink_format(page, ": recall %.4f, precision %.4f", row.recall, row.precision);
}

static void put_methods(struct cli_sink *page, const struct drawn *drawn) {
    static const char *const columns[] = {"method",         "recall",   "precision", "F1", "#candidates a document",
                                          "#of them right", "#seconds", "#memory",   NULL};
    nigh_eval_duplicates_row row;
    char name[120];
    cli_page_table(page, columns);
    for (size_t i = 0; method_at(drawn, i, &row); i++) {
        name_row(&row, name, sizeof name);
        cli_sink_text(page, "<tr>");
        cli_page_cell(page, name);
        cli_page_bar(page, row.recall);
        cli_page_bar(page, row.precision);
        cli_page_bar(page, row.f1);
        cli_page_number(page, "%s%.2f", row.estimated ? "~" : "",
                        drawn->documents == 0 ? 0.0 : (double)row.candidates / (double)drawn->documents);
        cli_page_number(page, "%.4f", row.candidate_precision);
        cli_page_number(page, "%s%.2f", row.estimated ? "~" : "", row.sign_seconds + row.find_seconds);
        cli_page_number(page, "%.1f MB", (double)row.bytes / 1e6);
        cli_sink_text(page, "</tr>\n");
    }
    cli_page_table_end(page);
    cli_sink_text(page, "<p class=\"hint\">Candidates are the pairs that a method would have to look at, or takes at "
                        "their word. ~ is from a sample of the rows.</p>\n");
}

static int write_page(struct evaluator *evaluator, const nigh_eval_duplicates *duplicates,
                      const nigh_eval_duplicates_info *info) {
    struct drawn drawn = {.duplicates = duplicates, .documents = info->documents, .thresholds = {"", "threshold 0.5"}};
    const struct cli_chart work = {.heading = "Recall by work",
                                   .below = "candidates a document",
                                   .up = CLI_CHART_SHARE,
                                   .across = CLI_CHART_POWERS,
                                   .apart = true,
                                   .from = &drawn,
                                   .lines = FAMILIES,
                                   .name = family_name,
                                   .says = say_method,
                                   .point = work_point};
    const struct cli_chart labels = {.heading = "Labelled pairs that nigh dedup finds",
                                     .below = "label",
                                     .up = CLI_CHART_SHARE,
                                     .lines = 2,
                                     .from = &drawn,
                                     .name = threshold_name,
                                     .point = band_point};
    char name[100];
    (void)snprintf(drawn.thresholds[0], sizeof drawn.thresholds[0], "threshold %.4g", evaluator->alike);
    cli_eval_name_inputs(evaluator, name, sizeof name);
    struct cli_sink *page = cli_eval_open_page(evaluator, "What each way of finding near-copies finds", name);
    if (page == NULL) return cli_fail(evaluator->job);
    cli_sink_format(page, "<p>%s, %s left out; ", cli_counted(info->documents, "document", "documents").text,
                    cli_counted(info->copies, "exact copy", "exact copies").text);
    cli_sink_format(page, "%s a Jaccard index of %.4g or more.</p>\n",
                    cli_counted(info->pairs, "pair has", "pairs have").text, evaluator->alike);
    put_methods(page, &drawn);
    cli_sink_text(page, CLI_CHARTS_BEGIN);
    cli_page_chart(page, &work);
    cli_page_chart(page, &labels);
    cli_sink_text(page, CLI_CHARTS_END);
    return cli_eval_close_page(evaluator, page);
}

/* --------------------------------------------------------------------- run -- */

static int check(struct evaluator *evaluator) {
    const struct cli_job *job = evaluator->job;
    const struct duplicates_values *values = job->values;
    const struct cli_place labels = {"--labels", values->labels};
    evaluator->alike = 0.8;
    if (!cli_amount_share(job, "--threshold", values->threshold, &evaluator->alike)) return CLI_ERROR;
    for (size_t i = 0; i < job->operand_count; i++)
        if (strcmp(job->operands[i], "-") == 0)
            return cli_usage(job->command, "the inputs are read many times; standard input cannot be");
    return cli_eval_check_places(evaluator, &labels, 1);
}

static nigh_status find_duplicates(struct evaluator *evaluator, nigh_eval_duplicates **out) {
    struct cli_job *job = evaluator->job;
    const struct eval_values *values = evaluator->values;
    const struct duplicates_values *own = job->values;
    nigh_eval_duplicates_options measuring;
    nigh_eval_duplicates_options_init(&measuring);
    nigh_text_reader_options reading;
    struct cli_problems problems;
    cli_reader_options(job, &values->reading, (nigh_text_format)values->format, &problems, &reading);
    measuring.threshold = evaluator->alike;
    if (values->signing.features != NULL || cli_words_asked(&values->signing) || values->signing.seed.given)
        measuring.features = &evaluator->signer_options;
    measuring.labels = own->labels;
    measuring.limit = values->reading.limit.value;
    measuring.memory_bytes = values->memory.value;
    measuring.temporary = cli_temporary(own->temporary);
    measuring.threads = job->threads;
    measuring.progress = &job->progress.report;
    return nigh_eval_duplicates_measure(job->context, evaluator->inputs.paths, evaluator->inputs.count, &reading,
                                        &measuring, out, &job->error);
}

static int measure(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    const enum cli_eval_output output = (enum cli_eval_output)evaluator->values->output;
    nigh_eval_duplicates_info info = {.size = sizeof info};
    nigh_eval_duplicates *duplicates = NULL;
    for (size_t i = 0; i < evaluator->inputs.count; i++) {
        if (evaluator->inputs.peeks[i] == NULL) continue;
        cli_set_error(job, NIGH_EINVAL, evaluator->inputs.paths[i], "is read many times, which a pipe cannot be");
        return cli_fail(job);
    }
    if (find_duplicates(evaluator, &duplicates) != NIGH_OK) return cli_fail(job);
    cli_progress_clear(&job->progress);
    nigh_eval_duplicates_describe(duplicates, &info);
    evaluator->info = info.signing;
    if (output == CLI_EVAL_TABLE)
        show_table(job->out, duplicates, &info, evaluator->alike);
    else
        show_lines(job->out, output == CLI_EVAL_TSV, duplicates);
    if (info.labels_missing > 0)
        cli_note(job, "left out: %s of a document that is not there",
                 cli_counted(info.labels_missing, "label", "labels").text);
    cli_stats_count(&job->stats, "copies", info.copies);
    cli_stats_count(&job->stats, "pairs", info.pairs);
    const int code = evaluator->values->report == NULL ? CLI_DONE : write_page(evaluator, duplicates, &info);
    nigh_eval_duplicates_free(duplicates);
    if (code == CLI_DONE) cli_eval_summarise(evaluator);
    return code == CLI_DONE && info.pairs == 0 ? CLI_NOTHING : code;
}

static int run(struct cli_job *job) {
    static const struct eval_kind kind = {.reads = EVAL_INPUTS, .check = check, .measure = measure};
    return cli_eval_run(job, &kind);
}

const struct cli_command cmd_eval_duplicates = {
    .name = "eval duplicates",
    .summary = "what each method for near-copies finds",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct duplicates_values),
    .run = run,
};
