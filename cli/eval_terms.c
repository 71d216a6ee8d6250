/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh eval terms: how often filters of words err, for each kind and number of bits a
 * word; what queries find in them; and how large they are beside an inverted index.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator.h"

#define MAX_RATIOS 64
#define KINDS 3
#define LENGTHS 4

/* In the order of nigh_filter_goal. */
static const char *const goal_names[] = {"uniform", "frequency", "queries:", NULL};

struct filters_values {
    struct eval_values base;
    struct cli_number block;
    struct cli_number queries_of;
    struct cli_number sample;
    const char *ratios;
    const char *query_log; /* the FILE of --goal queries:FILE */
    int goal;
};

#define PLACE(field) offsetof(struct filters_values, field)

static const struct cli_option options[] = {
    CLI_NUMBER(0, "block", PLACE(block), "N", 1, 1000000, "400",
               "cut documents into blocks of at most N different words"),
    CLI_TEXT(0, "ratios", PLACE(ratios), "LIST",
             "measure with each of these numbers of bits a word (default 1,2,3,4,5,6,7,8,9,10)"),
    CLI_NUMBER(0, "queries-of", PLACE(queries_of), "N", 1, 1000000, "2000", "ask N queries of each number of words"),
    CLI_CHOICE_OR_FILE(0, "goal", PLACE(goal), PLACE(query_log), "GOAL", goal_names, "uniform",
                       "choose k for few errors of every word alike, as the paper does, or of a word as often as "
                       "blocks have it, or as often as the queries of FILE ask for it, one query a line"),
    CLI_NUMBER(0, "sample", PLACE(sample), "N", 0, UINT32_MAX, NULL,
               "count errors over N blocks (default 2000); 0 takes all"),
    EVAL_SAMPLE_SEED_OPTION,
    EVAL_PLOT_OPTION,
    EVAL_REPORT_OPTION,
    EVAL_OUTPUT_OPTION,
    CLI_LANGUAGE_OPTIONS(EVAL_PLACE(signing)),
    CLI_SEED_OPTION(EVAL_PLACE(signing)),
    EVAL_INPUT_OPTIONS,
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... [--block N] [--ratios LIST] INPUT...", NULL};

static const char *const description[] = {
    "Cuts documents into blocks of words as 'nigh terms index' does, and makes filters of them: of each kind (Bloom, "
    "COCA, hybrid) and number of bits a word, with the k, and of hybrid the theta, that err least.",
    "Shows which share of all words a block's filter falsely contains: the mean, over blocks, and by how many blocks "
    "have a word; how many false blocks queries find; and the size of filters and dictionary, beside an inverted index "
    "of the same blocks.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "tsv: kind, bits a word, k, of hybrid the k of frequent words and theta, then the false positive error: its mean "
    "over blocks, standard deviation, least, most, 10%, median, 90%; the mean error for words of 1, 2 to 10, 11 to 100 "
    "and more blocks; false blocks of queries of 1, 2, 3 and 5 words, precision of the same (-1 where no block has so "
    "many words); the error with each word as often as blocks have it, what theory gives, the information-theoretic "
    "bound, share of bits set, bytes of rows and of the dictionary, seconds of making the filters; the least error of "
    "any filter that knows the frequencies of words, and of pairs; the error of queries of two words by the share of "
    "the blocks with either that have both (below .001, .01, .1, and above), and how many queries these are. The last "
    "line is the inverted index. jsonl has the same by name.",
    NULL,
};
static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh eval terms --block 100 --ratios 4,8 news.jsonl", "which filters fit these texts, and whether any do"},
    {"nigh eval terms --report terms.html news.jsonl", "the same as a page for a browser"},
    {NULL, NULL},
};

struct terms {
    struct evaluator *evaluator;
    struct cli_job *job;
    const struct filters_values *values;
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
    const struct filters_values *values = terms->values;
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
    terms->terms.memory_bytes = values->base.memory.value;
    terms->terms.limit = values->base.reading.limit.value;
    terms->terms.threads = terms->job->threads;
    terms->terms.progress = &terms->job->progress.report;
    terms->options.terms = &terms->terms;
    terms->options.ratios = terms->ratios;
    if (values->sample.given)
        terms->options.sample = values->sample.value == 0 ? UINT32_MAX : (uint32_t)values->sample.value;
    terms->options.queries = (uint32_t)values->queries_of.value;
    terms->options.seed = values->base.sample_seed.value;
    return true;
}

static int check(struct evaluator *evaluator) {
    const struct filters_values *values = evaluator->job->values;
    const struct cli_place query_log = {"--goal", values->query_log};
    return cli_eval_check_places(evaluator, &query_log, 1);
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

/* Of any filter, by what it is told of the words. */
static void table_bounds(const struct terms *terms) {
    struct cli_sink *out = terms->job->out;
    cli_sink_format(
        out,
        "\nthe least error of any filter: all blocks alike; knowing words, %.2f bits a word of a block; and "
        "pairs along a tree, %.2f\n %5s  %9s  %9s  %9s\n",
        terms->info.entropy_words / terms->info.block_terms, terms->info.entropy_pairs / terms->info.block_terms, "m/n",
        "alike", "words", "pairs");
    for (size_t i = 0; i < terms->options.ratio_count; i++) {
        const nigh_eval_filters_row row = row_at(terms, 0, i);
        cli_sink_format(out, " %5g  %9.6f  %9.6f  %9.6f\n", row.ratio, row.bound, row.bound_words, row.bound_pairs);
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

static void show_pairs(struct cli_sink *out, const nigh_eval_filters_row *row) {
    for (size_t i = 0; i < 4; i++) {
        if (row->queries_by_pair[i] == 0)
            cli_sink_format(out, "  %9s %6s", "-", "");
        else
            cli_sink_format(out, "  %9.6f %6u", row->error_by_pair[i], row->queries_by_pair[i]);
    }
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
    {"error of queries of 2 words, and how many, by the share of the blocks with either word that have both",
     "            -.001         .001-.01           .01-.1              .1-", show_pairs},
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
    table_bounds(terms);
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
                    tsv ? "\t%.9g\t%.9g\t%.9g\t%.6f\t%llu\t%llu\t%.3f\t%.9g\t%.9g"
                        : ",\"weighted\":%.9g,\"theory\":%.9g,\"bound\":%.9g,\"fill\":%.6f,\"bytes\":%llu,"
                          "\"dictionary_bytes\":%llu,\"seconds\":%.3f,\"bound_words\":%.9g,\"bound_pairs\":%.9g",
                    row->weighted, row->theory, row->bound, row->fill, (unsigned long long)row->row_bytes,
                    (unsigned long long)row->dictionary_bytes, row->seconds, row->bound_words, row->bound_pairs);
    show_list(out, tsv, "by_pair", row->error_by_pair, 4);
    double counts[4];
    for (size_t i = 0; i < 4; i++) counts[i] = row->queries_by_pair[i];
    show_list(out, tsv, "queries_by_pair", counts, 4);
    cli_sink_text(out, tsv ? "\n" : "}\n");
}

/* Filters, and at the end what does not err. */
static void show_rows(const struct terms *terms) {
    const bool tsv = terms->values->base.output == CLI_EVAL_TSV;
    nigh_eval_filters_row row = {.size = sizeof row};
    for (size_t i = 0; nigh_eval_filters_at(terms->result, i, &row) == NIGH_OK; i++)
        show_row(terms->job->out, tsv, nigh_filter_kind_name(row.kind), &row);
    nigh_eval_filters_row inverted = {.size = sizeof inverted};
    inverted.row_bytes = terms->info.inverted_bytes;
    inverted.dictionary_bytes = terms->info.inverted_dictionary_bytes;
    for (size_t i = 0; i < LENGTHS; i++) inverted.precision[i] = row.precision[i] < 0 ? -1 : 1;
    show_row(terms->job->out, tsv, "inverted", &inverted);
}

/* ------------------------------------------------------------------ a page -- */

#define ERROR_LINES (KINDS + 3u)

static const char *error_name(const void *from, size_t line) {
    static const char *const names[] = {"theory of Bloom", "bound of any filter", "bound, knowing words"};
    const struct terms *terms = from;
    return line < KINDS ? nigh_filter_kind_name(row_at(terms, line, 0).kind) : names[line - KINDS];
}

static bool error_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct terms *terms = from;
    if (index >= terms->options.ratio_count) return false;
    const nigh_eval_filters_row row = row_at(terms, line < KINDS ? line : 0, index);
    const double others[] = {row.theory, row.bound, row.bound_words};
    *out = (struct cli_chart_point){row.ratio, line < KINDS ? row.error : others[line - KINDS]};
    return true;
}

static const char *size_name(const void *from, size_t line) {
    return line < KINDS ? error_name(from, line) : "inverted index";
}

static bool size_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct terms *terms = from;
    if (index >= terms->options.ratio_count) return false;
    const nigh_eval_filters_row row = row_at(terms, line < KINDS ? line : 0, index);
    const uint64_t inverted = terms->info.inverted_bytes + terms->info.inverted_dictionary_bytes;
    *out = (struct cli_chart_point){row.ratio,
                                    (double)(line < KINDS ? row.row_bytes + row.dictionary_bytes : inverted) / 1e6};
    return true;
}

/* Of queries of two words: index 1. */
static bool precision_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct terms *terms = from;
    if (index >= terms->options.ratio_count) return false;
    const nigh_eval_filters_row row = row_at(terms, line, index);
    *out = (struct cli_chart_point){row.ratio, row.precision[1] < 0 ? NAN : row.precision[1]};
    return true;
}

static void put_filters(struct cli_sink *page, const struct terms *terms) {
    static const char *const columns[] = {
        "#bits a word",        "filter", "#k", "#error", "#least", "#median", "#most", "precision of 2 words",
        "#MB with dictionary", NULL};
    cli_sink_text(page, "<h2>The numbers</h2>\n");
    cli_page_table(page, columns);
    for (size_t i = 0; i < terms->options.ratio_count; i++) {
        for (size_t kind = 0; kind < KINDS; kind++) {
            const nigh_eval_filters_row row = row_at(terms, kind, i);
            cli_sink_text(page, "<tr>");
            cli_page_number(page, "%g", row.ratio);
            cli_page_cell(page, nigh_filter_kind_name(row.kind));
            cli_page_number(page, "%u", row.hashes);
            cli_page_number(page, "%.5f", row.error);
            cli_page_number(page, "%.5f", row.error_least);
            cli_page_number(page, "%.5f", row.error_quantiles[1]);
            cli_page_number(page, "%.5f", row.error_most);
            cli_page_bar(page, row.precision[1]);
            cli_page_number(page, "%.3f", (double)(row.row_bytes + row.dictionary_bytes) / 1e6);
            cli_sink_text(page, "</tr>\n");
        }
    }
    cli_page_table_end(page);
    cli_sink_text(page,
                  "<p class=\"hint\">Error: which share of all words a block's filter has falsely, in the mean over "
                  "blocks, at the best k.</p>\n");
}

static int write_page(const struct terms *terms) {
    const nigh_eval_filters_info *info = &terms->info;
    const struct cli_chart charts[] = {{.heading = "False positive error",
                                        .below = "bits a word",
                                        .up = CLI_CHART_POWERS,
                                        .lines = ERROR_LINES,
                                        .from = terms,
                                        .name = error_name,
                                        .point = error_point},
                                       {.heading = "Precision of queries of two words",
                                        .below = "bits a word",
                                        .up = CLI_CHART_SHARE,
                                        .lines = KINDS,
                                        .from = terms,
                                        .name = error_name,
                                        .point = precision_point},
                                       {.heading = "Megabytes, with the dictionary",
                                        .below = "bits a word",
                                        .lines = KINDS + 1,
                                        .from = terms,
                                        .name = size_name,
                                        .point = size_point}};
    char name[100];
    cli_eval_name_inputs(terms->evaluator, name, sizeof name);
    struct cli_sink *page = cli_eval_open_page(terms->evaluator, "How often filters of words err", name);
    if (page == NULL) return cli_fail(terms->job);
    cli_sink_format(page, "<p>%s, ", cli_counted(info->documents, "document", "documents").text);
    cli_sink_format(page, "%s of %.1f words in the mean; %s.</p>\n", cli_counted(info->blocks, "block", "blocks").text,
                    info->block_terms, cli_counted(info->terms, "different word", "different words").text);
    cli_sink_text(page, CLI_CHARTS_BEGIN);
    for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) cli_page_chart(page, &charts[i]);
    cli_sink_text(page, CLI_CHARTS_END);
    put_filters(page, terms);
    return cli_eval_close_page(terms->evaluator, page);
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
    nigh_status status = cli_reader_open(job, &terms->evaluator->inputs, &terms->values->base.reading,
                                         (nigh_text_format)terms->values->base.format, &problems, &reader);
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
    if (terms->values->base.output == CLI_EVAL_TABLE)
        show_table(terms);
    else
        show_rows(terms);
    int code = terms->values->base.plot == NULL ? CLI_DONE : plot(terms);
    if (code == CLI_DONE && terms->values->base.report != NULL) code = write_page(terms);
    evaluator->info.signed_rows = terms->info.documents;
    evaluator->info.reader = terms->info.reader;
    cli_stats_count(&job->stats, "blocks", terms->info.blocks);
    cli_stats_count(&job->stats, "terms", terms->info.terms);
    if (code == CLI_DONE) cli_eval_summarise(evaluator);
    return code;
}

static int measure(struct evaluator *evaluator) {
    struct terms *terms = calloc(1, sizeof *terms);
    if (terms == NULL) {
        cli_set_error(evaluator->job, NIGH_ENOMEM, "", "out of memory");
        return cli_fail(evaluator->job);
    }
    terms->evaluator = evaluator;
    terms->job = evaluator->job;
    terms->values = evaluator->job->values;
    nigh_terms_options_init(&terms->terms);
    nigh_eval_filters_options_init(&terms->options);
    terms->info = (nigh_eval_filters_info){.size = sizeof(nigh_eval_filters_info)};
    const int code = make_options(terms) ? run_terms(terms) : CLI_ERROR;
    nigh_eval_filters_free(terms->result);
    free(terms);
    return code;
}

static int run(struct cli_job *job) {
    static const struct eval_kind kind = {.reads = EVAL_INPUTS, .check = check, .measure = measure};
    return cli_eval_run(job, &kind);
}

const struct cli_command cmd_eval_terms = {
    .name = "eval terms",
    .summary = "how often filters of words err, and how large they are",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct filters_values),
    .run = run,
};
