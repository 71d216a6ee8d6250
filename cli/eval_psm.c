/* SPDX-License-Identifier: Apache-2.0 */
/* nigh eval psm: how much the weights of bits help to find near-copies. */
#include <math.h>
#include <stdio.h>

#include "evaluator.h"

struct psm_values {
    struct eval_values base;
    struct cli_number probes;
    struct cli_number queries;
};

#define PLACE(field) offsetof(struct psm_values, field)

static const struct cli_option options[] = {
    CLI_NUMBER(0, "probes", PLACE(probes), "N", 1, 4096, "256", "try up to N combinations of bits"),
    CLI_NUMBER(0, "psm-queries", PLACE(queries), "N", 0, UINT32_MAX, "20000",
               "ask with at most N of the signatures that have a match; 0 takes all"),
    EVAL_PLOT_OPTION,
    EVAL_REPORT_OPTION,
    EVAL_OUTPUT_OPTION,
    EVAL_SIGNING_OPTIONS,
    EVAL_INPUT_OPTIONS,
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... INPUT...", NULL};

static const char *const description[] = {
    "Takes 64-bit simhashes with the weights of their bits, and every pair within 3 bits. Shows whether weights differ "
    "between documents as a normal distribution has it, on which their order stands; how many combinations "
    "of bits are tried until the right one comes, weakest first or at random, and which share of the matches k probes "
    "of a table of p leading bits find.",
    "--scheme takes simhash, which is the default, or a model.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "tsv: 'spread', how many standard deviations apart the weights of the first bit are in two documents, and the "
    "share of random pairs there, by quarters of a deviation; then 'bits', their number, pairs of each, and of all "
    "bits "
    "the mean farthest from 0, the least and the most deviation, the skewness farthest from 0, the least and the most "
    "kurtosis; then 'attempts', the model, flipped bits, matches, combinations, "
    "mean, median, 90th and 99th percentile; then "
    "'recall', the model, p, k, share of matches found, share of queries with one found. jsonl has the same by name.",
    NULL,
};
static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh eval psm --plot weak.svg texts.jsonl", "how much weak bits help"},
    {"nigh eval psm --report weak.html texts.jsonl", "the same as a page for a browser"},
    {NULL, NULL},
};

static const char *const models[] = {"gaussian", "linear", NULL};

/* 1, 4, 16, ...: the probes that are shown. */
static uint32_t next_probes(uint32_t probes, uint32_t factor) {
    return probes > UINT32_MAX / factor ? 0 : probes * factor;
}

/* ------------------------------------------------------------- for people -- */

static void table_attempts(struct cli_sink *out, const nigh_eval_weak_bits *weak) {
    nigh_eval_weak_attempts attempts = {.size = sizeof attempts};
    cli_sink_text(out, "attempts until the right bits of 64 are flipped\n"
                       " flips   matches  combinations  at random  weights        mean  median     90%     99%\n");
    for (uint32_t flips = 1; nigh_eval_weak_bits_attempts(weak, NIGH_WEAK_GAUSSIAN, flips, &attempts) == NIGH_OK;
         flips++) {
        for (int model = 0; models[model] != NULL; model++) {
            (void)nigh_eval_weak_bits_attempts(weak, (nigh_weak_model)model, flips, &attempts);
            cli_sink_format(out, " %5u  %8llu  %12llu  %9.1f  %-8s  %9.1f  %6llu  %6llu  %6llu\n", flips,
                            (unsigned long long)attempts.matches, (unsigned long long)attempts.combinations,
                            ((double)attempts.combinations + 1) / 2, models[model], attempts.mean,
                            (unsigned long long)attempts.median, (unsigned long long)attempts.percentile_90,
                            (unsigned long long)attempts.percentile_99);
        }
    }
}

static void table_recall(struct cli_sink *out, const nigh_eval_weak_bits *weak, const nigh_eval_weak_bits_info *info,
                         bool any) {
    nigh_eval_weak_recall recall = {.size = sizeof recall};
    cli_sink_format(out, "\n%s, by probes k of p leading bits\n",
                    any ? "queries for which any match is found" : "matches found, all");
    cli_sink_text(out, "   p  weights   k for .95");
    for (uint32_t k = 1; k != 0 && k <= info->probes; k = next_probes(k, 4)) cli_sink_format(out, "  k=%-4u", k);
    cli_sink_text(out, "\n");
    for (size_t p = 0; nigh_eval_weak_bits_recall(weak, NIGH_WEAK_GAUSSIAN, p, 1, &recall) == NIGH_OK; p++) {
        for (int model = 0; models[model] != NULL; model++) {
            (void)nigh_eval_weak_bits_recall(weak, (nigh_weak_model)model, p, 1, &recall);
            const uint32_t enough = any ? recall.probes_any : recall.probes_all;
            cli_sink_format(out, " %3u  %-8s", recall.prefix_bits, models[model]);
            if (enough > 0)
                cli_sink_format(out, "  %9u", enough);
            else
                cli_sink_text(out, "          -");
            for (uint32_t k = 1; k != 0 && k <= info->probes; k = next_probes(k, 4)) {
                (void)nigh_eval_weak_bits_recall(weak, (nigh_weak_model)model, p, k, &recall);
                cli_sink_format(out, "  %6.4f", any ? recall.any : recall.all);
            }
            cli_sink_text(out, "\n");
        }
    }
}

static void table_spread(struct cli_sink *out, const nigh_eval_weak_bits *weak) {
    nigh_eval_weak_spread spread = {.size = sizeof spread};
    if (nigh_eval_weak_bits_spread(weak, &spread) != NIGH_OK) return;
    cli_sink_format(out,
                    "weights of the first bit in two documents, %s: they differ by %.1f on average, deviation %.1f\n"
                    "            within 1, 2, 3 deviations  skewness  kurtosis\n"
                    " measured   %.4f, %.4f, %.4f     %8.3f  %8.3f\n"
                    " normal     0.6827, 0.9545, 0.9973        0.000     3.000\n",
                    cli_counted(spread.pairs, "pair", "pairs").text, spread.mean, spread.deviation, spread.within[0],
                    spread.within[1], spread.within[2], spread.skewness, spread.kurtosis);
    cli_sink_format(out,
                    "of %s, %s each: they differ by %.1f on average at most, deviation %.1f to %.1f, skewness up to "
                    "%.3f, kurtosis %.3f to %.3f\n\n",
                    cli_counted(spread.bits, "bit", "bits").text, cli_counted(spread.bit_pairs, "pair", "pairs").text,
                    spread.most_mean, spread.least_deviation, spread.most_deviation, spread.most_skewness,
                    spread.least_kurtosis, spread.most_kurtosis);
}

static void show_table(struct cli_sink *out, const nigh_eval_weak_bits *weak, const nigh_eval_weak_bits_info *info) {
    cli_sink_format(out, "%s, %s of 64 bits; %s within %u bits, of %s\n",
                    cli_counted(info->documents, "document", "documents").text,
                    cli_counted(info->distinct, "different signature", "different signatures").text,
                    cli_counted(info->pairs, "pair", "pairs").text, info->radius,
                    cli_counted(info->matched, "signature", "signatures").text);
    cli_sink_format(out, "%s, with %s\n\n", cli_counted(info->queries, "of them asks", "of them ask").text,
                    cli_counted(info->matches, "match", "matches").text);
    table_spread(out, weak);
    table_attempts(out, weak);
    table_recall(out, weak, info, false);
    table_recall(out, weak, info, true);
}

/* ----------------------------------------------------------- for programs -- */

static void line_attempts(struct cli_sink *out, bool tsv, const char *model, uint32_t flips,
                          const nigh_eval_weak_attempts *attempts) {
    cli_sink_format(out,
                    tsv ? "attempts\t%s\t%u\t%llu\t%llu\t%.3f\t%llu\t%llu\t%llu\n"
                        : "{\"weights\":\"%s\",\"flips\":%u,\"matches\":%llu,\"combinations\":%llu,\"mean\":%.3f,"
                          "\"median\":%llu,\"percentile_90\":%llu,\"percentile_99\":%llu}\n",
                    model, flips, (unsigned long long)attempts->matches, (unsigned long long)attempts->combinations,
                    attempts->mean, (unsigned long long)attempts->median, (unsigned long long)attempts->percentile_90,
                    (unsigned long long)attempts->percentile_99);
}

static void lines_recall(struct cli_sink *out, bool tsv, const nigh_eval_weak_bits *weak, int model,
                         const nigh_eval_weak_bits_info *info) {
    nigh_eval_weak_recall recall = {.size = sizeof recall};
    for (size_t p = 0; nigh_eval_weak_bits_recall(weak, (nigh_weak_model)model, p, 1, &recall) == NIGH_OK; p++) {
        for (uint32_t k = 1; k != 0 && k <= info->probes; k = next_probes(k, 2)) {
            (void)nigh_eval_weak_bits_recall(weak, (nigh_weak_model)model, p, k, &recall);
            cli_sink_format(out,
                            tsv ? "recall\t%s\t%u\t%u\t%.6f\t%.6f\n"
                                : "{\"weights\":\"%s\",\"prefix_bits\":%u,\"probes\":%u,\"all\":%.6f,\"any\":%.6f}\n",
                            models[model], recall.prefix_bits, k, recall.all, recall.any);
        }
    }
}

static void lines_spread(struct cli_sink *out, bool tsv, const nigh_eval_weak_bits *weak) {
    nigh_eval_weak_spread spread = {.size = sizeof spread};
    if (nigh_eval_weak_bits_spread(weak, &spread) != NIGH_OK) return;
    for (uint32_t bin = 0; bin < NIGH_EVAL_SPREAD_BINS; bin++)
        cli_sink_format(out, tsv ? "spread\t%.3f\t%.6f\n" : "{\"deviations\":%.3f,\"share\":%.6f}\n", bin / 4.0 - 4.875,
                        spread.shares[bin]);
    cli_sink_format(out,
                    tsv ? "bits\t%llu\t%llu\t%.3f\t%.3f\t%.3f\t%.4f\t%.4f\t%.4f\n"
                        : "{\"bits\":%llu,\"pairs\":%llu,\"most_mean\":%.3f,\"least_deviation\":%.3f,"
                          "\"most_deviation\":%.3f,\"most_skewness\":%.4f,\"least_kurtosis\":%.4f,"
                          "\"most_kurtosis\":%.4f}\n",
                    (unsigned long long)spread.bits, (unsigned long long)spread.bit_pairs, spread.most_mean,
                    spread.least_deviation, spread.most_deviation, spread.most_skewness, spread.least_kurtosis,
                    spread.most_kurtosis);
}

static void show_lines(struct cli_sink *out, bool tsv, const nigh_eval_weak_bits *weak,
                       const nigh_eval_weak_bits_info *info) {
    nigh_eval_weak_attempts attempts = {.size = sizeof attempts};
    lines_spread(out, tsv, weak);
    for (int model = 0; models[model] != NULL; model++)
        for (uint32_t flips = 1;
             nigh_eval_weak_bits_attempts(weak, (nigh_weak_model)model, flips, &attempts) == NIGH_OK; flips++)
            line_attempts(out, tsv, models[model], flips, &attempts);
    for (int model = 0; models[model] != NULL; model++) lines_recall(out, tsv, weak, model, info);
}

/* ------------------------------------------------------------------ a page -- */

/* What the charts are drawn from: a line for each prefix, by gaussian weights. */
struct drawn {
    const nigh_eval_weak_bits *weak;
    uint32_t probes;
    bool any;
    char names[16][16];
};

static const char *recall_name(const void *from, size_t line) { return ((const struct drawn *)from)->names[line]; }

/* By 1, 2, 4, ... probes. */
static bool recall_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct drawn *drawn = from;
    nigh_eval_weak_recall recall = {.size = sizeof recall};
    uint32_t k = 1;
    for (size_t i = 0; i < index && k != 0; i++) k = next_probes(k, 2);
    if (k == 0 || k > drawn->probes ||
        nigh_eval_weak_bits_recall(drawn->weak, NIGH_WEAK_GAUSSIAN, line, k, &recall) != NIGH_OK)
        return false;
    *out = (struct cli_chart_point){k, drawn->any ? recall.any : recall.all};
    return true;
}

/* The names of its lines, and how many. */
static size_t name_lines(struct drawn *drawn) {
    nigh_eval_weak_recall recall = {.size = sizeof recall};
    size_t lines = 0;
    while (lines < sizeof drawn->names / sizeof drawn->names[0] &&
           nigh_eval_weak_bits_recall(drawn->weak, NIGH_WEAK_GAUSSIAN, lines, 1, &recall) == NIGH_OK)
        (void)snprintf(drawn->names[lines++], sizeof drawn->names[0], "p = %u", recall.prefix_bits);
    return lines;
}

static const char *spread_name(const void *from, size_t line) {
    (void)from;
    return line == 0 ? "measured" : "normal";
}

/* The middle of each quarter of a deviation, and what a normal distribution has there. */
static bool spread_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    nigh_eval_weak_spread spread = {.size = sizeof spread};
    if (index >= NIGH_EVAL_SPREAD_BINS || nigh_eval_weak_bits_spread(from, &spread) != NIGH_OK) return false;
    const double at = (double)index / 4 - 4.875;
    *out = (struct cli_chart_point){at, line == 0 ? spread.shares[index] : 0.25 * 0.3989422804 * exp(-at * at / 2)};
    return true;
}

static void put_attempts(struct cli_sink *page, const nigh_eval_weak_bits *weak) {
    static const char *const columns[] = {
        "#bits that differ", "weights", "#matches", "#at random, mean", "#mean", "#median", "#90%", "#99%", NULL};
    nigh_eval_weak_attempts attempts = {.size = sizeof attempts};
    cli_sink_text(page, "<h2>Attempts until the right bits are flipped</h2>\n");
    cli_page_table(page, columns);
    for (uint32_t flips = 1; nigh_eval_weak_bits_attempts(weak, NIGH_WEAK_GAUSSIAN, flips, &attempts) == NIGH_OK;
         flips++) {
        for (int model = 0; models[model] != NULL; model++) {
            (void)nigh_eval_weak_bits_attempts(weak, (nigh_weak_model)model, flips, &attempts);
            cli_sink_text(page, "<tr>");
            cli_page_number(page, "%u", flips);
            cli_page_cell(page, models[model]);
            cli_page_number(page, "%s", cli_digits(attempts.matches).text);
            cli_page_number(page, "%.1f", ((double)attempts.combinations + 1) / 2);
            cli_page_number(page, "%.1f", attempts.mean);
            cli_page_number(page, "%s", cli_digits(attempts.median).text);
            cli_page_number(page, "%s", cli_digits(attempts.percentile_90).text);
            cli_page_number(page, "%s", cli_digits(attempts.percentile_99).text);
            cli_sink_text(page, "</tr>\n");
        }
    }
    cli_page_table_end(page);
}

static int write_page(struct evaluator *evaluator, const nigh_eval_weak_bits *weak,
                      const nigh_eval_weak_bits_info *info) {
    struct drawn all = {.weak = weak, .probes = info->probes};
    const size_t lines = name_lines(&all);
    struct drawn any = all;
    any.any = true;
    const struct cli_chart charts[] = {{.heading = "Matches found",
                                        .below = "probes of a table of p leading bits",
                                        .across = CLI_CHART_POWERS,
                                        .up = CLI_CHART_SHARE,
                                        .lines = lines,
                                        .from = &all,
                                        .name = recall_name,
                                        .point = recall_point},
                                       {.heading = "Queries for which any match is found",
                                        .below = "probes of a table of p leading bits",
                                        .across = CLI_CHART_POWERS,
                                        .up = CLI_CHART_SHARE,
                                        .lines = lines,
                                        .from = &any,
                                        .name = recall_name,
                                        .point = recall_point},
                                       {.heading = "How far weights of a bit lie apart, share of pairs",
                                        .below = "standard deviations",
                                        .lines = 2,
                                        .from = weak,
                                        .name = spread_name,
                                        .point = spread_point}};
    char name[100];
    cli_eval_name_inputs(evaluator, name, sizeof name);
    struct cli_sink *page = cli_eval_open_page(evaluator, "What the weights of bits are worth for near-copies", name);
    if (page == NULL) return cli_fail(evaluator->job);
    cli_sink_format(page, "<p>%s, %s of 64 bits; ", cli_counted(info->documents, "document", "documents").text,
                    cli_counted(info->distinct, "different signature", "different signatures").text);
    cli_sink_format(page, "%s within %u bits; ", cli_counted(info->pairs, "pair", "pairs").text, info->radius);
    cli_sink_format(page, "%s, with %s.</p>\n", cli_counted(info->queries, "signature asks", "signatures ask").text,
                    cli_counted(info->matches, "match", "matches").text);
    cli_sink_text(page, CLI_CHARTS_BEGIN);
    for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) cli_page_chart(page, &charts[i]);
    cli_sink_text(page, CLI_CHARTS_END);
    put_attempts(page, weak);
    return cli_eval_close_page(evaluator, page);
}

/* --------------------------------------------------------------------- run -- */

static int check(struct evaluator *evaluator) {
    const struct cli_job *job = evaluator->job;
    const struct cli_signing *signing = &evaluator->values->signing;
    if (signing->scheme != 0 && signing->scheme - 1 != NIGH_SCHEME_SIMHASH && signing->model == NULL)
        return cli_usage(job->command, "this goes by the weights of simhash, or of a model; there is no other --scheme "
                                       "for it");
    if (signing->bits.given && signing->bits.value != 64) return cli_usage(job->command, "this measures 64 bits");
    if (signing->model == NULL) evaluator->signer_options.scheme = NIGH_SCHEME_SIMHASH;
    return cli_eval_check_places(evaluator, NULL, 0);
}

static int plot(struct evaluator *evaluator, nigh_eval_weak_bits *weak) {
    const char *svg = NULL;
    size_t length = 0;
    char name[100];
    char title[200];
    cli_eval_name_inputs(evaluator, name, sizeof name);
    (void)snprintf(title, sizeof title, "Weak bits of simhash, 64 bits: %s", name);
    if (nigh_eval_weak_bits_plot(weak, title, &svg, &length, &evaluator->job->error) != NIGH_OK)
        return cli_fail(evaluator->job);
    return cli_eval_write_plot(evaluator, svg, length);
}

static int measure(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    const struct psm_values *values = job->values;
    nigh_eval_weak_bits_options measuring;
    nigh_eval_weak_bits_options_init(&measuring);
    nigh_eval_weak_bits_info info = {.size = sizeof info};
    nigh_eval_weak_bits *weak = NULL;
    measuring.queries = (uint32_t)values->queries.value;
    measuring.probes = (uint32_t)values->probes.value;
    measuring.threads = job->threads;
    measuring.progress = &job->progress.report;
    if (nigh_eval_weak_bits_measure(evaluator->documents, &measuring, &weak, &job->error) != NIGH_OK)
        return cli_fail(job);
    cli_progress_clear(&job->progress);
    nigh_eval_weak_bits_describe(weak, &info);
    if (values->base.output == CLI_EVAL_TABLE)
        show_table(job->out, weak, &info);
    else
        show_lines(job->out, values->base.output == CLI_EVAL_TSV, weak, &info);
    int code = values->base.plot == NULL ? CLI_DONE : plot(evaluator, weak);
    if (code == CLI_DONE && values->base.report != NULL) code = write_page(evaluator, weak, &info);
    nigh_eval_weak_bits_free(weak);
    cli_stats_count(&job->stats, "pairs", info.pairs);
    job->stats.queries = info.queries;
    if (code == CLI_DONE) cli_eval_summarise(evaluator);
    return code == CLI_DONE && info.pairs == 0 ? CLI_NOTHING : code;
}

static int run(struct cli_job *job) {
    static const struct eval_kind kind = {.reads = EVAL_WEIGHTED, .check = check, .measure = measure};
    return cli_eval_run(job, &kind);
}

const struct cli_command cmd_eval_psm = {
    .name = "eval psm",
    .summary = "how much the weights of bits help to find near-copies",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct psm_values),
    .run = run,
};
