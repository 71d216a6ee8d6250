/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh eval terms: how often filters of words err, kind by kind and by bits a word, what
 * queries find in them, and how large they are beside an inverted index.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator.h"

#define MAX_RATIOS 64
#define KINDS 3
#define LENGTHS 4

const char *const cli_eval_goals[] = {"uniform", "frequency", "queries:", NULL};

struct terms {
    struct evaluator *evaluator;
    struct cli_job *job;
    const struct eval_values *values;
    nigh_terms_options terms;
    nigh_eval_filters_options options;
    double ratios[MAX_RATIOS];
    nigh_eval_filters *result;
    nigh_eval_filters_info info;
};

/* ----------------------------------------------------------------- options -- */

/* Numbers above 0 and up to 64 with commas between, ascending.  False where it is not that. */
static bool parse_ratios(struct terms *terms, const char *text) {
    size_t *count = &terms->options.ratio_count;
    for (const char *at = text;;) {
        char *end = NULL;
        const double ratio = *at >= '0' && *at <= '9' ? strtod(at, &end) : 0;
        if (end == NULL || !(ratio > 0 && ratio <= 64) || *count == MAX_RATIOS) return false;
        if (*count > 0 && ratio <= terms->ratios[*count - 1]) return false;
        terms->ratios[(*count)++] = ratio;
        if (*end == '\0') return true;
        if (*end != ',') return false;
        at = end + 1;
    }
}

static bool make_options(struct terms *terms) {
    const struct eval_values *values = terms->values;
    const char *ratios = values->ratios == NULL ? "1,2,3,4,5,6,7,8,9,10" : values->ratios;
    if (!parse_ratios(terms, ratios)) {
        (void)cli_usage(terms->job->command,
                        "--ratios takes ascending numbers above 0 and up to 64 such as 2,4,8, not '%s'", ratios);
        return false;
    }
    terms->terms.block_terms = (uint32_t)values->block.value;
    terms->terms.analysis = &terms->evaluator->signer_options;
    terms->terms.goal = (nigh_filter_goal)values->goal;
    terms->terms.query_log = values->query_log;
    terms->terms.memory_bytes = values->memory.value;
    terms->terms.limit = values->reading.limit.value;
    terms->terms.threads = terms->job->threads;
    terms->terms.progress = &terms->job->progress.report;
    terms->options.terms = &terms->terms;
    terms->options.ratios = terms->ratios;
    if (values->sample.given)
        terms->options.sample = values->sample.value == 0 ? UINT32_MAX : (uint32_t)values->sample.value;
    terms->options.queries = (uint32_t)values->queries_of.value;
    terms->options.seed = values->sample_seed.value;
    return true;
}

int cli_eval_check_terms(const struct cli_job *job, const struct eval_values *values) {
    const struct cli_signing *signing = &values->signing;
    if (signing->scheme != 0 || signing->bits.given || signing->weights != 0 || signing->vocabulary != NULL ||
        signing->density.given || (signing->features != NULL && strcmp(signing->features, "words") != 0))
        return cli_usage(job->command, "terms measures filters of words; leave --scheme, --bits, --features, "
                                       "--weights, --vocabulary and --density out");
    return CLI_DONE;
}

/* ------------------------------------------------------------- for people -- */

static nigh_eval_filters_row row_at(const struct terms *terms, size_t kind, size_t ratio) {
    nigh_eval_filters_row row = {.size = sizeof row};
    (void)nigh_eval_filters_at(terms->result, kind * terms->options.ratio_count + ratio, &row);
    return row;
}

static void table_errors(const struct terms *terms) {
    struct cli_sink *out = terms->job->out;
    cli_sink_format(out,
                    "\nfalse positive error, FP / |W| in the mean over blocks, at the best k (Figures 1, 2 and 4)\n"
                    " %5s  %9s  %9s  %9s  %14s  %14s  %24s\n",
                    "m/n", "MB", "bound", "theory", "bloom (k)", "coca (k)", "hybrid (k, often, theta)");
    for (size_t i = 0; i < terms->options.ratio_count; i++) {
        const nigh_eval_filters_row bloom = row_at(terms, 0, i);
        const nigh_eval_filters_row coca = row_at(terms, 1, i);
        const nigh_eval_filters_row hybrid = row_at(terms, 2, i);
        cli_sink_format(out, " %5g  %9.3f  %9.5f  %9.5f  %9.5f (%2u)  %9.5f (%2u)  %9.5f (%2u, %2u, %4u)\n",
                        bloom.ratio, (double)bloom.row_bytes / 1e6, bloom.bound, bloom.theory, bloom.error,
                        bloom.hashes, coca.error, coca.hashes, hybrid.error, hybrid.hashes, hybrid.frequent_hashes,
                        hybrid.theta);
    }
}

static void show_distribution(struct cli_sink *out, const nigh_eval_filters_row *row) {
    cli_sink_format(out, "  %9.5f  %9.5f  %9.5f  %9.5f  %9.5f  %9.5f  %9.5f  %9.3f", row->error, row->error_deviation,
                    row->error_least, row->error_quantiles[0], row->error_quantiles[1], row->error_quantiles[2],
                    row->error_most, row->fill);
}

static void show_frequencies(struct cli_sink *out, const nigh_eval_filters_row *row) {
    for (size_t i = 0; i < 4; i++) cli_sink_format(out, "  %9.5f", row->error_by_frequency[i]);
    cli_sink_format(out, "  %9.5f", row->weighted);
}

static void show_queries(struct cli_sink *out, const nigh_eval_filters_row *row) {
    for (size_t i = 0; i < LENGTHS; i++) {
        if (row->precision[i] < 0)
            cli_sink_format(out, "  %11s  %6s", "-", "-");
        else
            cli_sink_format(out, "  %11.2f  %6.4f", row->false_blocks[i], row->precision[i]);
    }
}

static void show_bytes(struct cli_sink *out, const nigh_eval_filters_row *row) {
    cli_sink_format(out, "  %9.3f  %10.3f  %9.3f", (double)row->row_bytes / 1e6, (double)row->dictionary_bytes / 1e6,
                    (double)(row->row_bytes + row->dictionary_bytes) / 1e6);
}

static const struct form {
    const char *heading, *columns;
    void (*show)(struct cli_sink *out, const nigh_eval_filters_row *row);
} forms[] = {
    {"its distribution over blocks (Figure 3)",
     "       mean  deviation      least        10%     median        90%       most       fill", show_distribution},
    {"the same for terms of 1, 2 to 10, 11 to 100 and more blocks; and every term as often as blocks have it",
     "          1       2-10     11-100       101-   weighted", show_frequencies},
    {"false blocks and precision of queries of 1, 2, 3 and 5 words of one block, in the mean",
     "    1: false  precis     2: false  precis     3: false  precis     5: false  precis", show_queries},
    {"megabytes", "       rows  dictionary        all", show_bytes},
};

static void table_of(const struct terms *terms, const struct form *form) {
    struct cli_sink *out = terms->job->out;
    cli_sink_format(out, "\n%s\n %5s  %-6s%s\n", form->heading, "m/n", "", form->columns);
    for (size_t i = 0; i < terms->options.ratio_count; i++) {
        for (size_t kind = 0; kind < KINDS; kind++) {
            const nigh_eval_filters_row row = row_at(terms, kind, i);
            cli_sink_format(out, " %5g  %-6s", row.ratio, nigh_filter_kind_name(row.kind));
            form->show(out, &row);
            cli_sink_text(out, "\n");
        }
    }
}

static void show_table(const struct terms *terms) {
    struct cli_sink *out = terms->job->out;
    const nigh_eval_filters_info *info = &terms->info;
    cli_sink_format(out, "%s, %s of %.1f words in the mean; %s, %s of them in one block; %s\n",
                    cli_counted(info->documents, "document", "documents").text,
                    cli_counted(info->blocks, "block", "blocks").text, info->block_terms,
                    cli_counted(info->terms, "different word", "different words").text, cli_digits(info->single).text,
                    cli_counted(info->postings, "posting", "postings").text);
    cli_sink_format(out, "an inverted index of the same blocks: %.3f MB, and its dictionary %.3f MB; no errors\n",
                    (double)info->inverted_bytes / 1e6, (double)info->inverted_dictionary_bytes / 1e6);
    table_errors(terms);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) table_of(terms, &forms[i]);
}

/* ----------------------------------------------------------- for programs -- */

static void show_list(struct cli_sink *out, bool tsv, const char *name, const double *values, size_t count) {
    if (!tsv) cli_sink_format(out, ",\"%s\":[", name);
    for (size_t i = 0; i < count; i++) {
        cli_sink_text(out, tsv ? "\t" : i == 0 ? "" : ",");
        cli_sink_format(out, "%.9g", values[i]);
    }
    if (!tsv) cli_sink_text(out, "]");
}

static void show_row(struct cli_sink *out, bool tsv, const char *kind, const nigh_eval_filters_row *row) {
    cli_sink_format(out,
                    tsv ? "%s\t%g\t%u\t%u\t%u\t%.9g\t%.9g\t%.9g\t%.9g"
                        : "{\"kind\":\"%s\",\"ratio\":%g,\"hashes\":%u,\"frequent_hashes\":%u,\"theta\":%u,"
                          "\"error\":%.9g,\"deviation\":%.9g,\"least\":%.9g,\"most\":%.9g",
                    kind, row->ratio, row->hashes, row->frequent_hashes, row->theta, row->error, row->error_deviation,
                    row->error_least, row->error_most);
    show_list(out, tsv, "quantiles", row->error_quantiles, 3);
    show_list(out, tsv, "by_frequency", row->error_by_frequency, 4);
    show_list(out, tsv, "false_blocks", row->false_blocks, LENGTHS);
    show_list(out, tsv, "precision", row->precision, LENGTHS);
    cli_sink_format(out,
                    tsv ? "\t%.9g\t%.9g\t%.9g\t%.6f\t%llu\t%llu\t%.3f\n"
                        : ",\"weighted\":%.9g,\"theory\":%.9g,\"bound\":%.9g,\"fill\":%.6f,\"bytes\":%llu,"
                          "\"dictionary_bytes\":%llu,\"seconds\":%.3f}\n",
                    row->weighted, row->theory, row->bound, row->fill, (unsigned long long)row->row_bytes,
                    (unsigned long long)row->dictionary_bytes, row->seconds);
}

/* Filters, and at the end what does not err. */
static void show_rows(const struct terms *terms) {
    const bool tsv = terms->values->output == CLI_EVAL_TSV;
    nigh_eval_filters_row row = {.size = sizeof row};
    for (size_t i = 0; nigh_eval_filters_at(terms->result, i, &row) == NIGH_OK; i++)
        show_row(terms->job->out, tsv, nigh_filter_kind_name(row.kind), &row);
    nigh_eval_filters_row inverted = {.size = sizeof inverted};
    inverted.row_bytes = terms->info.inverted_bytes;
    inverted.dictionary_bytes = terms->info.inverted_dictionary_bytes;
    for (size_t i = 0; i < LENGTHS; i++) inverted.precision[i] = row.precision[i] < 0 ? -1 : 1;
    show_row(terms->job->out, tsv, "inverted", &inverted);
}

/* --------------------------------------------------------------------- run -- */

static int plot(const struct terms *terms) {
    const char *svg = NULL;
    size_t length = 0;
    char name[100];
    char title[300];
    cli_eval_name_inputs(terms->evaluator, name, sizeof name);
    (void)snprintf(title, sizeof title, "Term filters: %s, blocks of %u words", name, terms->terms.block_terms);
    if (nigh_eval_filters_plot(terms->result, title, &svg, &length, &terms->job->error) != NIGH_OK)
        return cli_fail(terms->job);
    return cli_eval_write_plot(terms->evaluator, svg, length);
}

static nigh_status measure_all(struct terms *terms) {
    struct cli_job *job = terms->job;
    struct cli_problems problems;
    nigh_text_reader *reader = NULL;
    nigh_status status = cli_reader_open(job, &terms->evaluator->inputs, &terms->values->reading,
                                         (nigh_text_format)terms->values->format, &problems, &reader);
    if (status == NIGH_OK)
        status = nigh_eval_filters_measure(job->context, reader, &terms->options, &terms->result, &job->error);
    nigh_text_reader_close(reader);
    cli_progress_clear(&job->progress);
    return status;
}

static int run_terms(struct terms *terms) {
    struct cli_job *job = terms->job;
    struct evaluator *evaluator = terms->evaluator;
    if (measure_all(terms) != NIGH_OK) return cli_fail(job);
    nigh_eval_filters_describe(terms->result, &terms->info);
    if (terms->values->output == CLI_EVAL_TABLE)
        show_table(terms);
    else
        show_rows(terms);
    const int code = terms->values->plot == NULL ? CLI_DONE : plot(terms);
    evaluator->info.signed_rows = terms->info.documents;
    evaluator->info.reader = terms->info.reader;
    cli_stats_count(&job->stats, "blocks", terms->info.blocks);
    cli_stats_count(&job->stats, "terms", terms->info.terms);
    if (code == CLI_DONE) cli_eval_summarise(evaluator);
    return code;
}

int cli_eval_terms(struct evaluator *evaluator) {
    struct terms *terms = calloc(1, sizeof *terms);
    if (terms == NULL) {
        cli_set_error(evaluator->job, NIGH_ENOMEM, "", "out of memory");
        return cli_fail(evaluator->job);
    }
    terms->evaluator = evaluator;
    terms->job = evaluator->job;
    terms->values = evaluator->values;
    nigh_terms_options_init(&terms->terms);
    nigh_eval_filters_options_init(&terms->options);
    terms->info = (nigh_eval_filters_info){.size = sizeof(nigh_eval_filters_info)};
    const int code = make_options(terms) ? run_terms(terms) : CLI_ERROR;
    nigh_eval_filters_free(terms->result);
    free(terms);
    return code;
}
