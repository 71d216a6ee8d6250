/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh eval learned: how well each method of learning brings documents of one class
 * together, by bits, against references that learn nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "evaluator.h"

#define MAX_METHODS 16
#define MAX_WIDTHS 32
#define MAX_FEATURES 16
#define NAME_WIDTH 28
#define USUAL_WIDTH 32u /* of the paper's tables */

struct learned {
    struct evaluator *evaluator;
    struct cli_job *job;
    const struct eval_values *values;
    nigh_learn_options learning;
    nigh_eval_learned_options options;
    nigh_learn_method methods[MAX_METHODS];
    uint32_t widths[MAX_WIDTHS];
    uint32_t features[MAX_FEATURES];
    nigh_eval_learned *result;
    nigh_eval_learned_info info;
};

/* ----------------------------------------------------------------- options -- */

/* Numbers with commas between, each once.  False where it is not that. */
static bool parse_list(const char *text, uint32_t least, uint32_t most, uint32_t *out, size_t capacity, size_t *count) {
    *count = 0;
    for (const char *at = text;;) {
        char *end = NULL;
        const unsigned long number = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (end == NULL || number < least || number > most || *count == capacity) return false;
        for (size_t i = 0; i < *count; i++)
            if (out[i] == number) return false;
        out[(*count)++] = (uint32_t)number;
        if (*end == '\0') return true;
        if (*end != ',') return false;
        at = end + 1;
    }
}

static bool add_method(struct learned *learned, const char *name, size_t length) {
    for (int i = 0; nigh_learn_method_name((nigh_learn_method)i) != NULL; i++) {
        const char *known = nigh_learn_method_name((nigh_learn_method)i);
        if (strlen(known) != length || strncmp(known, name, length) != 0) continue;
        for (size_t k = 0; k < learned->options.method_count; k++)
            if (learned->methods[k] == (nigh_learn_method)i) return false;
        learned->methods[learned->options.method_count++] = (nigh_learn_method)i;
        return true;
    }
    return false;
}

/* --methods, or all there are. */
static bool choose_methods(struct learned *learned) {
    const char *list = learned->values->methods;
    char names[200] = "";
    for (int i = 0; nigh_learn_method_name((nigh_learn_method)i) != NULL && i < MAX_METHODS; i++) {
        const size_t used = strlen(names);
        (void)snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ",",
                       nigh_learn_method_name((nigh_learn_method)i));
    }
    for (const char *at = list == NULL ? names : list;;) {
        const size_t length = strcspn(at, ",");
        if (!add_method(learned, at, length)) {
            (void)cli_usage(learned->job->command, "--methods takes some of %s, each once, not '%s'", names, list);
            return false;
        }
        if (at[length] == '\0') return true;
        at += length + 1;
    }
}

static bool choose_widths(struct learned *learned) {
    const struct cli_number *bits = &learned->values->signing.bits;
    const char *list = learned->values->widths;
    char one[24];
    (void)snprintf(one, sizeof one, "%llu", (unsigned long long)bits->value);
    if (list == NULL) list = bits->given ? one : "8,16,24,32,40,48,56,64";
    bool sound = parse_list(list, 8, 1024, learned->widths, MAX_WIDTHS, &learned->options.width_count);
    for (size_t i = 0; sound && i < learned->options.width_count; i++) sound = learned->widths[i] % 8 == 0;
    if (!sound)
        (void)cli_usage(learned->job->command, "--%s takes multiples of 8 up to 1024 such as 16,32,64, not '%s'",
                        learned->values->widths == NULL ? "bits" : "widths", list);
    return sound;
}

static bool choose_features(struct learned *learned) {
    const char *list = learned->values->max_features == NULL ? "10000" : learned->values->max_features;
    if (parse_list(list, 1, 1u << 24, learned->features, MAX_FEATURES, &learned->options.feature_count)) return true;
    (void)cli_usage(learned->job->command, "--max-features takes numbers such as 10000 or 1000,3000,10000, not '%s'",
                    list);
    return false;
}

static bool choose_share(struct learned *learned) {
    const char *text = learned->values->labelled;
    char *end = NULL;
    if (text == NULL) return true;
    learned->options.labelled = strtod(text, &end);
    if (end != text && *end == '\0' && learned->options.labelled > 0 && learned->options.labelled <= 1) return true;
    (void)cli_usage(learned->job->command, "--labelled takes a number above 0 and up to 1, not '%s'", text);
    return false;
}

static bool make_options(struct learned *learned) {
    const struct eval_values *values = learned->values;
    const nigh_signer_options *signer = &learned->evaluator->signer_options;
    nigh_learn_options *learning = &learned->learning;
    nigh_eval_learned_options *options = &learned->options;
    if (!choose_methods(learned) || !choose_widths(learned) || !choose_features(learned) || !choose_share(learned) ||
        !cli_amount_number(learned->job, "--l2", values->l2, &learning->l2))
        return false;
    learning->language = signer->language;
    learning->features = signer->features;
    learning->feature_length = signer->feature_length;
    learning->stemming = signer->stemming;
    learning->stop_words = signer->stop_words;
    learning->seed = signer->seed;
    learning->iterations = (uint32_t)values->iterations.value;
    learning->min_documents = (uint32_t)values->min_documents.value;
    learning->as_paper = values->as_paper;
    learning->threads = learned->job->threads;
    learning->memory_bytes = values->memory.value;
    learning->limit = values->reading.limit.value;
    learning->progress = &learned->job->progress.report;
    options->learning = learning;
    options->methods = learned->methods;
    options->widths = learned->widths;
    options->features = learned->features;
    options->seeds = (uint32_t)values->seeds.value;
    options->radius = (uint32_t)values->radius.value;
    options->queries = values->ask.given ? (uint32_t)values->ask.value : 0;
    options->strip_headers = values->strip_headers;
    return true;
}

int cli_eval_check_learned(const struct cli_job *job, const struct eval_values *values) {
    const struct cli_signing *signing = &values->signing;
    if (signing->scheme != 0 || signing->weights != 0 || signing->vocabulary != NULL || signing->density.given)
        return cli_usage(job->command,
                         "learned measures its own signatures; leave --scheme, --weights, --vocabulary and --density "
                         "out");
    if (signing->bits.given && values->widths != NULL) return cli_usage(job->command, "give --bits or --widths");
    return CLI_DONE;
}

/* ------------------------------------------------------------- for people -- */

enum measure { MAP, PRECISION, RETURNED };

/* A value at a width, and how much it differs over the seeds. */
static void show_cell(struct cli_sink *out, const nigh_eval_learned_row *row, enum measure measure) {
    const double value = measure == MAP ? row->map : measure == PRECISION ? row->precision : row->returned;
    const double spread = measure == MAP ? row->map_spread : row->precision_spread;
    if (measure == RETURNED)
        cli_sink_format(out, "  %15.1f", value);
    else if (row->seeds > 1)
        cli_sink_format(out, "  %.4f +-%.4f", value, spread);
    else
        cli_sink_format(out, "  %15.4f", value);
}

/* Whether a row without bits has this measure: the list ranks nothing, the cosine returns all. */
static bool has_measure(const nigh_eval_learned_row *row, enum measure measure) {
    return row->width_bits != 0 || (measure == MAP) == (strncmp(row->method, "tf-idf", 6) == 0);
}

/* Rows of one number of features: methods by widths, inverted list and cosine. */
static size_t rows_of_features(const struct learned *learned) {
    return learned->options.method_count * learned->options.width_count + 2;
}

/* Methods by bits: rows of one number of features, from `first` on; what is without bits stands in the first column. */
static void table_measure(const struct learned *learned, size_t first, enum measure measure) {
    static const char *const headings[] = {"MAP over the full ranking (Figure 1)",
                                           "precision within the radius (Figure 2)",
                                           "documents returned within the radius (Figure 3)"};
    struct cli_sink *out = learned->job->out;
    nigh_eval_learned_row row = {.size = sizeof row};
    size_t column = 0;
    cli_sink_format(out, "\n%s, by bits\n %-*s", headings[measure], NAME_WIDTH, "");
    for (size_t w = 0; w < learned->options.width_count; w++) cli_sink_format(out, "  %15u", learned->widths[w]);
    cli_sink_text(out, "\n");
    for (size_t i = first; nigh_eval_learned_at(learned->result, i, &row) == NIGH_OK; i++) {
        const bool whole = strcmp(row.method, "tf-idf cosine, all features") == 0;
        if (i >= first + rows_of_features(learned) && !whole) continue;
        if (!has_measure(&row, measure)) continue;
        if (row.width_bits == 0) column = 0;
        if (column == 0) cli_sink_format(out, " %-*s", NAME_WIDTH, row.method);
        show_cell(out, &row, measure);
        column = row.width_bits == 0 || column + 1 >= learned->options.width_count ? 0 : column + 1;
        if (column == 0) cli_sink_text(out, "\n");
    }
}

/* The paper's tables have 32 bits; where that is not measured, the last width. */
static uint32_t table_width(const struct learned *learned) {
    for (size_t w = 0; w < learned->options.width_count; w++)
        if (learned->widths[w] == USUAL_WIDTH) return USUAL_WIDTH;
    return learned->widths[learned->options.width_count - 1];
}

static void table_distances(const struct learned *learned) {
    struct cli_sink *out = learned->job->out;
    nigh_eval_learned_row row = {.size = sizeof row};
    const uint32_t width = table_width(learned);
    cli_sink_format(out,
                    "\nat %u bits: mean distance within a class and between two (Tables 1 and 2), queries that find "
                    "nothing, and learning (Figure 4)\n",
                    width);
    cli_sink_format(out, " %-*s %9s  %7s  %7s  %7s  %6s  %10s  %9s  %9s  %9s\n", NAME_WIDTH, "", "features", "intra",
                    "inter", "delta", "empty", "iterations", "seconds", "MB", "signed/s");
    for (size_t i = 0; nigh_eval_learned_at(learned->result, i, &row) == NIGH_OK; i++) {
        if (row.width_bits != width) continue;
        cli_sink_format(out, " %-*s %9u  %7.3f  %7.3f  %7.3f  %6.4f  %10u  %9.3f  %9.1f  %9.0f\n", NAME_WIDTH,
                        row.method, row.features, row.intra, row.inter, row.inter - row.intra, row.empty,
                        row.iterations, row.seconds, (double)row.peak_bytes / 1e6, row.sign_rate);
    }
}

static void show_table(const struct learned *learned) {
    struct cli_sink *out = learned->job->out;
    const nigh_eval_learned_info *info = &learned->info;
    nigh_eval_learned_row row = {.size = sizeof row};
    const size_t block = rows_of_features(learned);
    cli_sink_format(out, "%s to learn from, %s of them without a label; %s; %s, %s\n",
                    cli_counted(info->documents, "document", "documents").text, cli_digits(info->unlabelled).text,
                    cli_counted(info->queries, "asks", "ask").text, cli_counted(info->classes, "class", "classes").text,
                    cli_counted(info->terms, "different feature", "different features").text);
    cli_sink_format(out, "radius %u; %s\n", info->radius,
                    cli_counted(learned->options.seeds, "seed", "seeds, with the standard deviation over them").text);
    for (size_t f = 0; f < learned->options.feature_count; f++) {
        if (nigh_eval_learned_at(learned->result, f * block, &row) != NIGH_OK) break;
        cli_sink_format(out, "\n%s chosen\n", cli_counted(row.features, "feature", "features").text);
        for (int measure = MAP; measure <= RETURNED; measure++)
            table_measure(learned, f * block, (enum measure)measure);
    }
    table_distances(learned);
}

/* ----------------------------------------------------------- for programs -- */

static void show_row(struct cli_sink *out, bool tsv, const nigh_eval_learned_row *row) {
    cli_sink_format(
        out,
        tsv ? "%s\t%u\t%u\t%u\t%.6f\t%.6f\t%.6f\t%.6f\t%.3f\t%.6f\t%.4f\t%.4f\t%.4f\t%llu\t%.0f\t%u\t%u\n"
            : "{\"method\":\"%s\",\"features\":%u,\"bits\":%u,\"seeds\":%u,\"map\":%.6f,\"map_spread\":%.6f,"
              "\"precision\":%.6f,\"precision_spread\":%.6f,\"returned\":%.3f,\"empty\":%.6f,\"intra\":%.4f,"
              "\"inter\":%.4f,\"seconds\":%.4f,\"peak_bytes\":%llu,\"sign_rate\":%.0f,\"iterations\":%u,\"collapsed\":%"
              "u}\n",
        row->method, row->features, row->width_bits, row->seeds, row->map, row->map_spread, row->precision,
        row->precision_spread, row->returned, row->empty, row->intra, row->inter, row->seconds,
        (unsigned long long)row->peak_bytes, row->sign_rate, row->iterations, row->collapsed);
}

/* --------------------------------------------------------------------- run -- */

static bool has_iterations(const char *method) { return strncmp(method, "s3h", 3) == 0; }

/* A model that has not moved from where learning starts, or gives all the same bits, measures no method. */
static void warn(const struct learned *learned) {
    nigh_eval_learned_row row = {.size = sizeof row};
    for (size_t i = 0; nigh_eval_learned_at(learned->result, i, &row) == NIGH_OK; i++) {
        if (row.width_bits > 0 && row.iterations == 0 && has_iterations(row.method))
            cli_error(learned->job,
                      "%s at %u bits has not learned anything under some seed: no step was better than "
                      "the weights it begins with",
                      row.method, row.width_bits);
        if (row.collapsed > 0)
            cli_error(learned->job, "%s at %u bits has collapsed under %u of %u seeds", row.method, row.width_bits,
                      row.collapsed, row.seeds);
    }
}

static int plot(const struct learned *learned) {
    const char *svg = NULL;
    size_t length = 0;
    char name[100];
    char title[300];
    cli_eval_name_inputs(learned->evaluator, name, sizeof name);
    (void)snprintf(title, sizeof title, "Learned signatures: %s, radius %u", name, learned->info.radius);
    if (nigh_eval_learned_plot(learned->result, title, &svg, &length, &learned->job->error) != NIGH_OK)
        return cli_fail(learned->job);
    return cli_eval_write_plot(learned->evaluator, svg, length);
}

static nigh_status measure_all(struct learned *learned) {
    struct cli_job *job = learned->job;
    struct cli_reading reading = learned->values->reading;
    struct cli_problems problems;
    nigh_text_reader *reader = NULL;
    if (reading.label_key == NULL) reading.label_key = "label";
    nigh_status status = cli_reader_open(job, &learned->evaluator->inputs, &reading,
                                         (nigh_text_format)learned->values->format, &problems, &reader);
    if (status == NIGH_OK)
        status = nigh_eval_learned_measure(job->context, reader, &learned->options, &learned->result, &job->error);
    nigh_text_reader_close(reader);
    cli_progress_clear(&job->progress);
    return status;
}

static int run_learned(struct learned *learned) {
    struct cli_job *job = learned->job;
    struct evaluator *evaluator = learned->evaluator;
    nigh_eval_learned_row row = {.size = sizeof row};
    if (measure_all(learned) != NIGH_OK) return cli_fail(job);
    nigh_eval_learned_describe(learned->result, &learned->info);
    if (learned->values->output == CLI_EVAL_TABLE) show_table(learned);
    for (size_t i = 0;
         learned->values->output != CLI_EVAL_TABLE && nigh_eval_learned_at(learned->result, i, &row) == NIGH_OK; i++)
        show_row(job->out, learned->values->output == CLI_EVAL_TSV, &row);
    warn(learned);
    const int code = learned->values->plot == NULL ? CLI_DONE : plot(learned);
    evaluator->info.signed_rows = learned->info.documents + learned->info.queries;
    evaluator->info.reader = learned->info.reader;
    job->stats.queries = learned->info.queries;
    cli_stats_count(&job->stats, "classes", learned->info.classes);
    if (code == CLI_DONE) cli_eval_summarise(evaluator);
    return code;
}

int cli_eval_learned(struct evaluator *evaluator) {
    struct learned *learned = calloc(1, sizeof *learned);
    if (learned == NULL) {
        cli_set_error(evaluator->job, NIGH_ENOMEM, "", "out of memory");
        return cli_fail(evaluator->job);
    }
    learned->evaluator = evaluator;
    learned->job = evaluator->job;
    learned->values = evaluator->values;
    nigh_learn_options_init(&learned->learning);
    nigh_eval_learned_options_init(&learned->options);
    learned->info = (nigh_eval_learned_info){.size = sizeof(nigh_eval_learned_info)};
    const int code = make_options(learned) ? run_learned(learned) : CLI_ERROR;
    nigh_eval_learned_free(learned->result);
    free(learned);
    return code;
}
