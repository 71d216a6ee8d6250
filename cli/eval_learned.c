/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh eval learned: how well each method of learning brings documents of one class
 * together, by bits, against references that learn nothing.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "evaluator.h"

#define MAX_METHODS 16
#define MAX_WIDTHS 32
#define MAX_FEATURES 16
#define NAME_WIDTH 28
#define PAPER_WIDTH 32u /* of its tables */

struct learned_values {
    struct eval_values base;
    struct cli_number ask;
    struct cli_number seeds;
    struct cli_number radius;
    struct cli_number iterations;
    struct cli_number min_documents;
    struct cli_number pairs_alike, pairs_different;
    struct cli_number anchors, anchor_sample;
    const char *methods;
    const char *widths;
    const char *max_features;
    const char *labelled;
    const char *l1;
    const char *l2;
    const char *kernel_width;
    int count_contribution;
    int count_values;
    int paper_lambda;
    int lookup;
    bool strip_headers;
    bool as_paper;
};

#define PLACE(field) offsetof(struct learned_values, field)

static const char *const lookup_names[] = {"off", "too", "only", NULL}; /* as nigh_eval_lookup numbers them */

static const struct cli_option options[] = {
    CLI_TEXT(0, "methods", PLACE(methods), "LIST",
             "the methods of 'nigh train' to measure, such as codewords,s3h (default all)"),
    CLI_TEXT(0, "widths", PLACE(widths), "LIST",
             "measure with each of these numbers of bits (default 8,16,24,32,40,48,56,64, or --bits)"),
    CLI_NUMBER(0, "bits", EVAL_PLACE(signing.bits), "N", 1, NIGH_MAX_WIDTH_BITS, NULL, "the same as --widths N"),
    CLI_TEXT(0, "max-features", PLACE(max_features), "LIST",
             "measure with each of these numbers of features, the most telling by chi-squared (default 10000)"),
    CLI_NUMBER(0, "seeds", PLACE(seeds), "N", 1, 1000, "3", "learn N times, each with another seed, and show means"),
    CLI_NUMBER(0, "seed", EVAL_PLACE(signing.seed), "N", 0, NIGH_ALL_64, NULL, "the first of the seeds (default 0)"),
    CLI_NUMBER(0, "radius", PLACE(radius), "BITS", 1, 1024, "3", "look up documents within BITS bits"),
    CLI_CHOICE(0, "lookup", PLACE(lookup), "WHEN", lookup_names, "off",
               "measure the time of a query: hash lookup by tables and by the scan, against inverted lists and the "
               "cosine over them; only: and leave out the ranking, for large collections"),
    CLI_NUMBER(0, "ask", PLACE(ask), "N", 1, 1000000, NULL, "use N of the query documents (default all)"),
    CLI_TEXT(0, "labelled", PLACE(labelled), "SHARE",
             "keep this share of the labels of training documents (default 1)"),
    CLI_FLAG(0, "strip-headers", PLACE(strip_headers),
             "leave out the lines before a text's first empty line, such as the headers of a message"),
    CLI_NUMBER(0, "iterations", PLACE(iterations), "N", 1, 100000, "60",
               "of codewords and s3h: end after N iterations"),
    CLI_NUMBER(0, "min-documents", PLACE(min_documents), "N", 1, UINT32_MAX, "3",
               "leave out features that fewer than N documents have"),
    CLI_NUMBER(0, "pairs-alike", PLACE(pairs_alike), "N", 1, UINT32_MAX, "40000",
               "of s3h and ssh: draw N pairs of documents that share a label"),
    CLI_NUMBER(0, "pairs-different", PLACE(pairs_different), "N", 1, UINT32_MAX, "80000",
               "of s3h and ssh: and N pairs that do not"),
    CLI_TEXT(0, "l1", PLACE(l1), "X",
             "of s3h and ssh: how much the spread of all documents counts beside the pairs (default: that of 'nigh "
             "train')"),
    CLI_TEXT(0, "l2", PLACE(l2), "X", "of s3h and codewords: what large weights cost (default: that of 'nigh train')"),
    CLI_FLAG(0, "as-paper", PLACE(as_paper), "of s3h and ssh: as in the papers, which is worse; see 'nigh train'"),
    CLI_CHOICE(0, "count-contribution", PLACE(count_contribution), "WHEN", cli_switch_names, "auto",
               "of s3h: contributions from counts; auto: with --as-paper"),
    CLI_CHOICE(0, "count-values", PLACE(count_values), "WHEN", cli_switch_names, "auto",
               "of s3h, simhash and chi: words by their counts; auto: with --as-paper"),
    CLI_CHOICE(0, "paper-lambda", PLACE(paper_lambda), "WHEN", cli_switch_names, "auto",
               "of s3h: --l2 in the scale of the paper, by default its 0.5; auto: with --as-paper"),
    CLI_NUMBER(0, "anchors", PLACE(anchors), "P", 2, 32000, "500", "for klsh: documents that others are compared with"),
    CLI_NUMBER(0, "anchor-sample", PLACE(anchor_sample), "T", 1, 32000, NULL,
               "for klsh: how many of these make a bit (default 50, or half of them if there are fewer)"),
    CLI_TEXT(0, "kernel-width", PLACE(kernel_width), "X", "for klsh: delta squared of its kernel (default 0.5)"),
    EVAL_PLOT_OPTION,
    EVAL_REPORT_OPTION,
    EVAL_OUTPUT_OPTION,
    CLI_TEXT(0, "label-key", EVAL_PLACE(reading.label_key), "KEY",
             "where the label is, a text or a number, or a list of them (default label)"),
    CLI_TEXT(0, "part-key", EVAL_PLACE(reading.part_key), "KEY",
             "the key that says what a document is for: those with \"train\" are learned from, those with \"test\" are "
             "queries; without it a random fifth are queries"),
    CLI_FEATURE_OPTION(EVAL_PLACE(signing), "words"),
    CLI_LANGUAGE_OPTIONS(EVAL_PLACE(signing)),
    EVAL_INPUT_OPTIONS,
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... [--label-key KEY] [--part-key KEY] INPUT...", NULL};

static const char *const description[] = {
    "Learns from labelled documents by each method of 'nigh train', signs the documents that it learned from and those "
    "that are queries, and ranks the former for each of the latter. A document is relevant if it shares a label.",
    "Shows mean average precision over the whole ranking, precision within --radius (0 where nothing is there) and the "
    "number of documents found there, mean distances within a class and between two, and the time and memory of "
    "learning; all are means over --seeds. Documents that cannot be signed are never found, and find nothing.",
    "For comparison there are the inverted list, which returns all documents that share a chosen feature, and the "
    "exact tf-idf cosine.",
    "--lookup shows what a query takes, in processor time, one after the other: from a signature to all within the "
    "radius, by tables of a finder and by comparing all; from the words of a document to all that share one, and to "
    "the 10 best by cosine, over inverted lists.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "tsv: method, features, bits (0 of a reference), seeds, MAP and its standard deviation over the seeds, precision "
    "within the radius and the same of it, documents returned, share of queries that find nothing, mean distance "
    "within a class and between two, seconds of learning, bytes of memory, documents signed a second, iterations of "
    "learning under the seed that had the fewest, seeds whose model has collapsed; with --lookup, else 0: seconds of "
    "a query by tables or lists, seconds by the scan, bytes of tables or lists, tables. jsonl has the same by name.",
    NULL,
};
static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh eval learned --part-key split --plot learned.svg news.jsonl", "which method of learning to use"},
    {"nigh eval learned --part-key split --report learned.html news.jsonl", "the same as a page for a browser"},
    {NULL, NULL},
};

struct learned {
    struct evaluator *evaluator;
    struct cli_job *job;
    const struct learned_values *values;
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
static bool parse_list(const char *text, uint32_t min, uint32_t max, uint32_t *out, size_t capacity, size_t *count) {
    *count = 0;
    for (const char *at = text;;) {
        char *end = NULL;
        const unsigned long number = *at >= '0' && *at <= '9' ? strtoul(at, &end, 10) : 0;
        if (end == NULL || number < min || number > max || *count == capacity) return false;
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
    const struct cli_number *bits = &learned->values->base.signing.bits;
    const char *list = learned->values->widths;
    char one[24];
    (void)snprintf(one, sizeof one, "%llu", (unsigned long long)bits->value);
    if (list == NULL) list = bits->given ? one : "8,16,24,32,40,48,56,64";
    bool sound = parse_list(list, 1, 1024, learned->widths, MAX_WIDTHS, &learned->options.width_count);
    if (!sound)
        (void)cli_usage(learned->job->command, "--%s takes numbers from 1 to 1024 such as 16,32,64, not '%s'",
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

static void set_learning(struct learned *learned) {
    const struct learned_values *values = learned->values;
    const nigh_signer_options *signer = &learned->evaluator->signer_options;
    nigh_learn_options *learning = &learned->learning;
    learning->language = signer->language;
    learning->features = signer->features;
    learning->feature_length = signer->feature_length;
    learning->stemming = signer->stemming;
    learning->stop_words = signer->stop_words;
    learning->min_word_length = signer->min_word_length;
    learning->no_numbers = signer->no_numbers;
    learning->seed = signer->seed;
    learning->iterations = (uint32_t)values->iterations.value;
    learning->min_documents = (uint32_t)values->min_documents.value;
    learning->attraction_pairs = (uint32_t)values->pairs_alike.value;
    learning->repulsion_pairs = (uint32_t)values->pairs_different.value;
    learning->anchors = (uint32_t)values->anchors.value;
    learning->anchor_sample = values->anchor_sample.given ? (uint32_t)values->anchor_sample.value : 0;
    learning->as_paper = values->as_paper;
    learning->count_contribution = cli_switch(values->count_contribution, -1);
    learning->count_values = cli_switch(values->count_values, -1);
    learning->paper_lambda = cli_switch(values->paper_lambda, -1);
    learning->threads = learned->job->threads;
    learning->memory_bytes = values->base.memory.value;
    learning->limit = values->base.reading.limit.value;
    learning->progress = &learned->job->progress.report;
}

static bool make_options(struct learned *learned) {
    const struct learned_values *values = learned->values;
    nigh_eval_learned_options *measuring = &learned->options;
    if (!choose_methods(learned) || !choose_widths(learned) || !choose_features(learned) ||
        !cli_amount_share(learned->job, "--labelled", values->labelled, &measuring->labelled) ||
        !cli_amount_positive(learned->job, "--l1", values->l1, &learned->learning.l1) ||
        !cli_amount_positive(learned->job, "--l2", values->l2, &learned->learning.l2) ||
        !cli_amount_positive(learned->job, "--kernel-width", values->kernel_width, &learned->learning.kernel_width))
        return false;
    set_learning(learned);
    measuring->learning = &learned->learning;
    measuring->methods = learned->methods;
    measuring->widths = learned->widths;
    measuring->features = learned->features;
    measuring->seeds = (uint32_t)values->seeds.value;
    measuring->radius = (uint32_t)values->radius.value;
    measuring->queries = values->ask.given ? (uint32_t)values->ask.value : 0;
    measuring->strip_headers = values->strip_headers;
    measuring->lookup = (nigh_eval_lookup)values->lookup;
    return true;
}

static int check(struct evaluator *evaluator) {
    const struct cli_job *job = evaluator->job;
    const struct learned_values *values = job->values;
    if (values->base.signing.bits.given && values->widths != NULL)
        return cli_usage(job->command, "give --bits or --widths");
    return cli_eval_check_places(evaluator, NULL, 0);
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
        if (learned->widths[w] == PAPER_WIDTH) return PAPER_WIDTH;
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

/* What a number is that there is none of. */
static void show_number(struct cli_sink *out, int width, int digits, bool is_there, double value) {
    if (is_there)
        cli_sink_format(out, "  %*.*f", width, digits, value);
    else
        cli_sink_format(out, "  %*s", width, "-");
}

static void table_lookup(const struct learned *learned) {
    struct cli_sink *out = learned->job->out;
    nigh_eval_learned_row row = {.size = sizeof row};
    cli_sink_format(
        out,
        "\nlookup within %u bits and inverted lists (of the cosine the 10 best): processor time of a query, "
        "one after the other\n %-*s %9s  %5s  %9s  %10s  %6s  %10s  %10s  %10s  %9s  %9s\n",
        learned->info.radius, NAME_WIDTH, "", "features", "bits", "precision", "returned", "tables", "us", "scan us",
        "signing us", "MB", "learned s");
    for (size_t i = 0; nigh_eval_learned_at(learned->result, i, &row) == NIGH_OK; i++) {
        const bool has_bits = row.width_bits != 0;
        cli_sink_format(out, " %-*s %9u", NAME_WIDTH, row.method, row.features);
        show_number(out, 5, 0, has_bits, row.width_bits);
        cli_sink_format(out, "  %9.4f  %10.1f", row.precision, row.returned);
        show_number(out, 6, 0, has_bits && row.tables > 0, row.tables);
        cli_sink_format(out, "  %10.2f", row.lookup_seconds * 1e6);
        show_number(out, 10, 2, has_bits, row.scan_seconds * 1e6);
        show_number(out, 10, 2, row.sign_rate > 0, 1e6 / row.sign_rate);
        cli_sink_format(out, "  %9.1f", (double)row.lookup_bytes / 1e6);
        show_number(out, 9, 2, has_bits, row.seconds);
        cli_sink_text(out, "\n");
    }
}

static void show_table(const struct learned *learned) {
    struct cli_sink *out = learned->job->out;
    const nigh_eval_learned_info *info = &learned->info;
    nigh_eval_learned_row row = {.size = sizeof row};
    const size_t block = rows_of_features(learned);
    const bool is_ranked = learned->options.lookup != NIGH_EVAL_LOOKUP_ONLY;
    cli_sink_format(out, "%s to learn from, %s of them without a label; %s; %s, %s\n",
                    cli_counted(info->documents, "document", "documents").text, cli_digits(info->unlabelled).text,
                    cli_counted(info->queries, "asks", "ask").text, cli_counted(info->classes, "class", "classes").text,
                    cli_counted(info->terms, "different feature", "different features").text);
    cli_sink_format(out, "radius %u; %s\n", info->radius,
                    cli_counted(learned->options.seeds, "seed", "seeds, with the standard deviation over them").text);
    for (size_t f = 0; f < learned->options.feature_count; f++) {
        if (nigh_eval_learned_at(learned->result, f * block, &row) != NIGH_OK) break;
        cli_sink_format(out, "\n%s chosen\n", cli_counted(row.features, "feature", "features").text);
        for (int measure = is_ranked ? MAP : PRECISION; measure <= RETURNED; measure++)
            table_measure(learned, f * block, (enum measure)measure);
    }
    if (is_ranked) table_distances(learned);
    if (learned->options.lookup != NIGH_EVAL_LOOKUP_OFF) table_lookup(learned);
}

/* ----------------------------------------------------------- for programs -- */

static void show_row(struct cli_sink *out, bool tsv, const nigh_eval_learned_row *row) {
    cli_sink_format(
        out,
        tsv ? "%s\t%u\t%u\t%u\t%.6f\t%.6f\t%.6f\t%.6f\t%.3f\t%.6f\t%.4f\t%.4f\t%.4f\t%llu\t%.0f\t%u\t%u\t%.9f\t%.9f\t%"
              "llu\t%u\n"
            : "{\"method\":\"%s\",\"features\":%u,\"bits\":%u,\"seeds\":%u,\"map\":%.6f,\"map_spread\":%.6f,"
              "\"precision\":%.6f,\"precision_spread\":%.6f,\"returned\":%.3f,\"empty\":%.6f,\"intra\":%.4f,"
              "\"inter\":%.4f,\"seconds\":%.4f,\"peak_bytes\":%llu,\"sign_rate\":%.0f,\"iterations\":%u,\"collapsed\":%"
              "u,"
              "\"lookup_seconds\":%.9f,\"scan_seconds\":%.9f,\"lookup_bytes\":%llu,\"tables\":%u}\n",
        row->method, row->features, row->width_bits, row->seeds, row->map, row->map_spread, row->precision,
        row->precision_spread, row->returned, row->empty, row->intra, row->inter, row->seconds,
        (unsigned long long)row->peak_bytes, row->sign_rate, row->iterations, row->collapsed, row->lookup_seconds,
        row->scan_seconds, (unsigned long long)row->lookup_bytes, row->tables);
}

/* ------------------------------------------------------------------ a page -- */

/* One measure of the rows of one number of features, from `first` on: methods, and what is without bits. */
struct drawn {
    const struct learned *learned;
    size_t first;
    enum measure measure;
    char names[MAX_METHODS + 2][32];
};

static const char *method_name(const void *from, size_t line) { return ((const struct drawn *)from)->names[line]; }

static double measured(const nigh_eval_learned_row *row, enum measure measure) {
    if (!has_measure(row, measure)) return NAN;
    return measure == MAP ? row->map : measure == PRECISION ? row->precision : row->returned;
}

/* What is without bits is as good at the first width as at the last. */
static bool method_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct drawn *drawn = from;
    const size_t widths = drawn->learned->options.width_count;
    const size_t methods = drawn->learned->options.method_count;
    const size_t place = line < methods ? line * widths + index : methods * widths + line - methods;
    nigh_eval_learned_row row = {.size = sizeof row};
    if (index >= widths || nigh_eval_learned_at(drawn->learned->result, drawn->first + place, &row) != NIGH_OK)
        return false;
    *out = (struct cli_chart_point){drawn->learned->widths[index], measured(&row, drawn->measure)};
    return true;
}

/* The names of its lines, and how many; false: there are no such rows. */
static bool name_lines(struct drawn *drawn, size_t *lines) {
    const size_t widths = drawn->learned->options.width_count;
    const size_t methods = drawn->learned->options.method_count;
    nigh_eval_learned_row row = {.size = sizeof row};
    for (*lines = 0; *lines < methods + 2; ++*lines) {
        const size_t place = *lines < methods ? *lines * widths : methods * widths + *lines - methods;
        if (nigh_eval_learned_at(drawn->learned->result, drawn->first + place, &row) != NIGH_OK) break;
        (void)snprintf(drawn->names[*lines], sizeof drawn->names[0], "%s", row.method);
    }
    return *lines > 0;
}

static void put_measures(struct cli_sink *page, const struct learned *learned, size_t first) {
    static const char *const headings[] = {"Mean average precision", "Precision within the radius",
                                           "Documents returned within the radius"};
    const bool is_ranked = learned->options.lookup != NIGH_EVAL_LOOKUP_ONLY;
    nigh_eval_learned_row row = {.size = sizeof row};
    struct drawn drawn = {.learned = learned, .first = first};
    size_t lines = 0;
    if (!name_lines(&drawn, &lines) || nigh_eval_learned_at(learned->result, first, &row) != NIGH_OK) return;
    cli_sink_format(page, "<h2>%s chosen</h2>\n" CLI_CHARTS_BEGIN,
                    cli_counted(row.features, "feature", "features").text);
    for (int measure = is_ranked ? MAP : PRECISION; measure <= RETURNED; measure++) {
        drawn.measure = (enum measure)measure;
        const struct cli_chart chart = {.heading = headings[measure],
                                        .below = "bits",
                                        .up = measure == RETURNED ? CLI_CHART_POWERS : CLI_CHART_SHARE,
                                        .lines = lines,
                                        .from = &drawn,
                                        .name = method_name,
                                        .point = method_point};
        cli_page_chart(page, &chart);
    }
    cli_sink_text(page, CLI_CHARTS_END);
}

static void put_distance(struct cli_sink *page, bool has_bits, double distance) {
    if (has_bits)
        cli_page_number(page, "%.2f", distance);
    else
        cli_page_number(page, "-");
}

static void put_rows(struct cli_sink *page, const struct learned *learned) {
    static const char *const columns[] = {"method",       "#features", "#bits",         "MAP",
                                          "precision",    "#returned", "#find nothing", "#within a class",
                                          "#between two", "#seconds",  "#memory",       NULL};
    nigh_eval_learned_row row = {.size = sizeof row};
    cli_sink_text(page, "<h2>The numbers</h2>\n");
    cli_page_table(page, columns);
    for (size_t i = 0; nigh_eval_learned_at(learned->result, i, &row) == NIGH_OK; i++) {
        const bool has_bits = row.width_bits != 0;
        cli_sink_text(page, "<tr>");
        cli_page_cell(page, row.method);
        cli_page_number(page, "%s", cli_digits(row.features).text);
        cli_page_number(page, "%s", has_bits ? cli_digits(row.width_bits).text : "-");
        cli_page_bar(page, has_measure(&row, MAP) ? row.map : -1);
        cli_page_bar(page, has_measure(&row, PRECISION) ? row.precision : -1);
        cli_page_number(page, "%.1f", row.returned);
        cli_page_number(page, "%.1f%%", 100 * row.empty);
        put_distance(page, has_bits, row.intra);
        put_distance(page, has_bits, row.inter);
        cli_page_number(page, "%.2f", row.seconds);
        cli_page_number(page, "%.1f MB", (double)row.peak_bytes / 1e6);
        cli_sink_text(page, "</tr>\n");
    }
    cli_page_table_end(page);
    cli_sink_format(page,
                    "<p class=\"hint\">Means over %s. Within a class and between two: mean distances. Seconds and "
                    "memory are of learning.</p>\n",
                    cli_counted(learned->options.seeds, "seed", "seeds").text);
}

static int write_page(const struct learned *learned) {
    const nigh_eval_learned_info *info = &learned->info;
    char name[100];
    cli_eval_name_inputs(learned->evaluator, name, sizeof name);
    struct cli_sink *page = cli_eval_open_page(learned->evaluator, "Learned signatures", name);
    if (page == NULL) return cli_fail(learned->job);
    cli_sink_format(page, "<p>%s to learn from; ", cli_counted(info->documents, "document", "documents").text);
    cli_sink_format(page, "%s; %s; radius %u.</p>\n", cli_counted(info->queries, "asks", "ask").text,
                    cli_counted(info->classes, "class", "classes").text, info->radius);
    for (size_t f = 0; f < learned->options.feature_count; f++)
        put_measures(page, learned, f * rows_of_features(learned));
    put_rows(page, learned);
    return cli_eval_close_page(learned->evaluator, page);
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
    struct cli_reading reading = learned->values->base.reading;
    struct cli_problems problems;
    nigh_text_reader *reader = NULL;
    if (reading.label_key == NULL) reading.label_key = "label";
    nigh_status status = cli_reader_open(job, &learned->evaluator->inputs, &reading,
                                         (nigh_text_format)learned->values->base.format, &problems, &reader);
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
    if (learned->values->base.output == CLI_EVAL_TABLE) show_table(learned);
    for (size_t i = 0;
         learned->values->base.output != CLI_EVAL_TABLE && nigh_eval_learned_at(learned->result, i, &row) == NIGH_OK;
         i++)
        show_row(job->out, learned->values->base.output == CLI_EVAL_TSV, &row);
    warn(learned);
    int code = learned->values->base.plot == NULL ? CLI_DONE : plot(learned);
    if (code == CLI_DONE && learned->values->base.report != NULL) code = write_page(learned);
    evaluator->info.signed_rows = learned->info.documents + learned->info.queries;
    evaluator->info.reader = learned->info.reader;
    job->stats.queries = learned->info.queries;
    cli_stats_count(&job->stats, "classes", learned->info.classes);
    if (code == CLI_DONE) cli_eval_summarise(evaluator);
    return code;
}

static int measure(struct evaluator *evaluator) {
    struct learned *learned = calloc(1, sizeof *learned);
    if (learned == NULL) {
        cli_set_error(evaluator->job, NIGH_ENOMEM, "", "out of memory");
        return cli_fail(evaluator->job);
    }
    learned->evaluator = evaluator;
    learned->job = evaluator->job;
    learned->values = evaluator->job->values;
    nigh_learn_options_init(&learned->learning);
    nigh_eval_learned_options_init(&learned->options);
    learned->info = (nigh_eval_learned_info){.size = sizeof(nigh_eval_learned_info)};
    const int code = make_options(learned) ? run_learned(learned) : CLI_ERROR;
    nigh_eval_learned_free(learned->result);
    free(learned);
    return code;
}

static int run(struct cli_job *job) {
    static const struct eval_kind kind = {.reads = EVAL_INPUTS, .check = check, .measure = measure};
    return cli_eval_run(job, &kind);
}

const struct cli_command cmd_eval_learned = {
    .name = "eval learned",
    .summary = "which method of learning brings documents of a class together",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct learned_values),
    .run = run,
};
