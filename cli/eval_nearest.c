/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh eval nearest: for one setting after the other, how near the answers of a search are
 * to the true nearest, and how long it takes. The truth is found once, by the scan, and
 * kept in a file beside the collection.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "evaluator.h"
#include "random.h"
#include "source.h"
#include "tuning_lines.h"

#define MAX_SETTINGS 64
#define MAX_EFFORT 1000000u

/* In the order of nigh_search_method, and of nigh_search_probe. */
static const char *const method_names[] = {"auto", "exact", "slices", "slices-plain", "sketch", "graph", NULL};
static const char *const probe_names[] = {"auto", "ball", "directed", NULL};

struct nearest_values {
    struct eval_values base;
    struct cli_number k;
    struct cli_number ask;
    struct cli_number candidates;
    struct cli_number slices;
    struct cli_number rings;
    struct cli_number patience;
    const char *queries;
    const char *breadth;
    const char *admit;
    const char *effort;
    const char *budget;
    int method;
    int probe;
    bool certain;
    bool no_cache;
};

#define PLACE(field) offsetof(struct nearest_values, field)

static const struct cli_option options[] = {
    CLI_NUMBER('k', NULL, PLACE(k), "N", 1, 65536, "10", "look for the N nearest documents of each query"),
    CLI_NUMBER(0, "ask", PLACE(ask), "N", 1, 1000000, "200",
               "run N queries: random documents of the collection, each left out of its own answer, or the first of "
               "--queries"),
    CLI_TEXT(0, "queries", PLACE(queries), "FILE", "use the signatures of FILE as queries, instead of documents"),
    EVAL_SAMPLE_SEED_OPTION,
    CLI_CHOICE(0, "method", PLACE(method), "METHOD", method_names, "auto", "how to search, as of 'nigh search'"),
    CLI_TEXT(0, "breadth", PLACE(breadth), "LIST",
             "for slices: measure each of these breadths, such as 0,1,3 or 0-4 (default: that of 'nigh search')"),
    CLI_TEXT(0, "admit", PLACE(admit), "LIST",
             "for slices: measure each of these limits; in lists beyond it, count only documents seen before"),
    CLI_NUMBER(0, "candidates", PLACE(candidates), "N", 1, UINT32_MAX - 1, NULL,
               "compare the N most promising documents, by lists or sketches (default: that of 'nigh search')"),
    CLI_TEXT(0, "effort", PLACE(effort), "LIST",
             "for the graph: measure each of these efforts, such as 50,100,400 (default: that of 'nigh search')"),
    CLI_NUMBER(0, "patience", PLACE(patience), "N", 0, UINT32_MAX - 1, NULL,
               "for the graph: end after N steps without a gain (default: that of 'nigh search')"),
    CLI_NUMBER(0, "slices", PLACE(slices), "N", 1, 16384, NULL, "for slices: use the first N slices only"),
    CLI_CHOICE(0, "probe", PLACE(probe), "WAY", probe_names, "auto",
               "for slices: which lists to read, all up to the breadth or the likeliest"),
    CLI_TEXT(0, "budget", PLACE(budget), "LIST",
             "for slices: with each of these budgets, such as 4K,16K or all (default: that of 'nigh search')"),
    CLI_FLAG(0, "certain", PLACE(certain),
             "for slices: go on until answers are exact, as --exact of 'nigh search' does"),
    CLI_NUMBER(0, "rings", PLACE(rings), "B", 0, NIGH_MAX_SLICE_WIDTH, NULL,
               "also show what the slice lists alone find after each ring up to B, and how many of the signatures seen "
               "would be compared, by the papers' pessimistic distances and by our rules"),
    CLI_FLAG(0, "no-cache", PLACE(no_cache), "do not keep the truth beside the collection, nor use it"),
    EVAL_PLOT_OPTION,
    EVAL_REPORT_OPTION,
    EVAL_OUTPUT_OPTION,
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION", NULL};

static const char *const description[] = {
    "Searches a collection, one query after the other on one thread, and compares with the true nearest documents. "
    "Shows the cumulative distance ratio CDR, the recall by distance and by id, the share of answers that are proven "
    "exact, the distance below which nothing is missed, and the time of a query. Lists of several values are measured "
    "in all combinations.",
    "The truth is found once, by comparing everything, and kept beside the collection as COLLECTION.truth-*.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "tsv: setting, CDR(k), recall by distance and by id, share of exact answers, mean distance below which nothing is "
    "missed, queries a second, mean, median, 90th and 99th percentile of their microseconds, lists, postings and "
    "signatures compared a query; then 'ring', its number, lists, postings, percent of the signatures seen, share of "
    "queries whose nearest have been seen in every slice, and are certain, and how many of the signatures seen are "
    "compared: all whose optimistic distance is at most the k-th pessimistic one; the least optimistic first while it "
    "is at most the k-th distance so far; the same by the scores of a search. jsonl has the same by name.",
    NULL,
};
static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh eval nearest --breadth 0-3 --plot nearest.svg corpus.nigh", "what slice lists find at each breadth"},
    {"nigh eval nearest --effort 20,50,100,400 --report nearest.html corpus.nigh",
     "what more effort in the graph brings, as a page for a browser"},
    {NULL, NULL},
};

struct setting {
    nigh_search_options options;
    char name[80];
    nigh_eval_nearness *nearness;
};

struct nearest {
    struct evaluator *evaluator;
    struct cli_job *job;
    const struct nearest_values *values;
    nigh_collection *collection;
    nigh_collection_info info;
    uint8_t *queries;
    uint8_t *weights; /* of the bits of each; NULL: not known */
    uint64_t *own;    /* NULL: queries from a file */
    size_t count;
    nigh_eval_truth_options truth_options;
    nigh_eval_truth *truth;
    struct setting settings[MAX_SETTINGS];
    size_t setting_count;
    nigh_eval_ring rings[NIGH_MAX_SLICE_WIDTH + 1]; /* of --rings */
};

static void out_of_memory(struct cli_job *job) { cli_set_error(job, NIGH_ENOMEM, "", "out of memory"); }

/* ---------------------------------------------------------------- settings -- */

#define MAX_NUMBERS 32

/* "3" or "0-4", each at most `max`, added to `out`.  What follows it, or NULL where it is neither. */
static const char *parse_range(const char *at, uint32_t max, uint32_t out[MAX_NUMBERS], size_t *count) {
    char *end = NULL;
    if (*at < '0' || *at > '9') return NULL;
    const unsigned long from = strtoul(at, &end, 10);
    unsigned long to = from;
    if (*end == '-') {
        at = end + 1;
        if (*at < '0' || *at > '9') return NULL;
        to = strtoul(at, &end, 10);
    }
    if (to < from || to > max || *count + (to - from) >= MAX_NUMBERS) return NULL;
    for (unsigned long i = from; i <= to; i++) out[(*count)++] = (uint32_t)i;
    return end;
}

/* "0,1,3" or "0-4", each at most `max`.  False with a message; NULL is the default. */
static bool parse_numbers(const struct cli_job *job, const char *name, const char *text, uint32_t max,
                          uint32_t out[MAX_NUMBERS], size_t *count) {
    *count = 0;
    if (text == NULL) {
        out[(*count)++] = (uint32_t)NIGH_DEFAULT;
        return true;
    }
    for (const char *at = text;; at++) {
        at = parse_range(at, max, out, count);
        if (at != NULL && *at == '\0') return true;
        if (at == NULL || *at != ',') break;
    }
    (void)cli_usage(job->command, "--%s takes numbers up to %u such as 0,1,3 or 0-4, not '%s'", name, max, text);
    return false;
}

/* "4K,16K,all".  False with a message; NULL is the default. */
static bool parse_budgets(const struct cli_job *job, const char *text, uint64_t out[MAX_NUMBERS], size_t *count) {
    *count = 0;
    out[0] = 0;
    for (const char *at = text; at != NULL && *count < MAX_NUMBERS;) {
        char one[32];
        const size_t length = strcspn(at, ",");
        (void)snprintf(one, sizeof one, "%.*s", length < sizeof one ? (int)length : (int)sizeof one, at);
        out[*count] = NIGH_ALL_64;
        if (strcmp(one, "all") != 0 && !cli_amount_count(job, "--budget", one, &out[*count])) return false;
        ++*count;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    if (*count == 0) *count = 1;
    if (text == NULL || *count < MAX_NUMBERS) return true;
    (void)cli_usage(job->command, "--budget takes at most 31 numbers");
    return false;
}

/* Adds ", effort 40" to the name. */
__attribute__((format(printf, 2, 3))) static void name_part(struct setting *setting, const char *format, ...) {
    va_list arguments;
    const size_t length = strlen(setting->name);
    va_start(arguments, format);
    (void)vsnprintf(setting->name + length, sizeof setting->name - length, format, arguments);
    va_end(arguments);
}

static void name_setting(struct setting *setting) {
    const nigh_search_options *search = &setting->options;
    name_part(setting, "%s", method_names[(int)search->method]);
    if (search->breadth != (uint32_t)NIGH_DEFAULT) name_part(setting, ", breadth %u", search->breadth);
    if (search->admit != (uint32_t)NIGH_DEFAULT) name_part(setting, ", admit %u", search->admit);
    if (search->probe != NIGH_PROBE_AUTO) name_part(setting, ", %s", probe_names[(int)search->probe]);
    if (search->postings != 0 && search->postings != NIGH_ALL_64)
        name_part(setting, ", budget %llu", (unsigned long long)search->postings);
    if (search->effort != (uint32_t)NIGH_DEFAULT) name_part(setting, ", effort %u", search->effort);
}

static bool add_setting(struct nearest *nearest, uint32_t breadth, uint32_t admit, uint32_t effort, uint64_t budget) {
    const struct nearest_values *values = nearest->values;
    if (breadth != (uint32_t)NIGH_DEFAULT && admit != (uint32_t)NIGH_DEFAULT && admit > breadth)
        return true; /* there is no such */
    if (nearest->setting_count == MAX_SETTINGS) {
        (void)cli_usage(nearest->job->command, "these are more than %d settings", MAX_SETTINGS);
        return false;
    }
    struct setting *setting = &nearest->settings[nearest->setting_count++];
    nigh_search_options_init(&setting->options);
    setting->options.method = (nigh_search_method)values->method;
    setting->options.stop = values->certain ? NIGH_STOP_CERTAIN : NIGH_STOP_BREADTH;
    setting->options.breadth = breadth;
    setting->options.admit = admit;
    setting->options.effort = effort;
    if (values->patience.given) setting->options.patience = (uint32_t)values->patience.value;
    if (values->candidates.given) setting->options.candidates = (uint32_t)values->candidates.value;
    if (values->slices.given) setting->options.slices = (uint32_t)values->slices.value;
    setting->options.postings = budget;
    setting->options.probe = (nigh_search_probe)values->probe;
    name_setting(setting);
    return true;
}

static bool make_settings(struct nearest *nearest) {
    uint32_t breadths[MAX_NUMBERS];
    uint32_t admits[MAX_NUMBERS];
    uint32_t efforts[MAX_NUMBERS];
    size_t breadth_count;
    size_t admit_count;
    size_t effort_count;
    uint64_t budgets[MAX_NUMBERS];
    size_t budget_count;
    const struct nearest_values *values = nearest->values;
    if (!parse_numbers(nearest->job, "breadth", values->breadth, NIGH_MAX_SLICE_WIDTH, breadths, &breadth_count) ||
        !parse_numbers(nearest->job, "admit", values->admit, NIGH_MAX_SLICE_WIDTH, admits, &admit_count) ||
        !parse_numbers(nearest->job, "effort", values->effort, MAX_EFFORT, efforts, &effort_count) ||
        !parse_budgets(nearest->job, values->budget, budgets, &budget_count))
        return false;
    for (size_t i = 0; i < breadth_count; i++)
        for (size_t j = 0; j < admit_count; j++)
            for (size_t l = 0; l < effort_count; l++)
                for (size_t b = 0; b < budget_count; b++)
                    if (!add_setting(nearest, breadths[i], admits[j], efforts[l], budgets[b])) return false;
    if (nearest->setting_count > 0) return true;
    (void)cli_usage(nearest->job->command, "no --breadth is as large as --admit");
    return false;
}

/* ----------------------------------------------------------------- queries -- */

static bool take_query(struct nearest *nearest, size_t *capacity, const uint8_t *signature) {
    const size_t bytes = nigh_signature_bytes(nearest->info.width_bits);
    if (nearest->count == *capacity) {
        uint8_t *more = realloc(nearest->queries, 2 * *capacity * bytes);
        if (more == NULL) {
            out_of_memory(nearest->job);
            return false;
        }
        nearest->queries = more;
        *capacity *= 2;
    }
    memcpy(nearest->queries + nearest->count++ * bytes, signature, bytes);
    return true;
}

/* As many as --ask says of the file that --queries names. */
static bool read_queries(struct nearest *nearest) {
    const struct cli_source_options source_options = {.width_bits = nearest->info.width_bits,
                                                      .collection = nearest->collection};
    struct cli_source source;
    size_t capacity = 64;
    nigh_document document = {.size = sizeof document};
    nigh_status status = cli_source_open(nearest->job, nearest->values->queries, &source_options, &source);
    if (status != NIGH_OK) return false;
    nearest->queries = malloc(capacity * nigh_signature_bytes(nearest->info.width_bits));
    if (nearest->queries == NULL) {
        out_of_memory(nearest->job);
        status = NIGH_ENOMEM;
    }
    while (status == NIGH_OK && nearest->count < nearest->values->ask.value) {
        status = nigh_signature_reader_next(source.reader, &document, &nearest->job->error);
        if (status == NIGH_OK && !take_query(nearest, &capacity, document.signature)) status = NIGH_ENOMEM;
    }
    cli_source_close(&source);
    return status == NIGH_OK || status == NIGH_END;
}

/* Documents of the collection, each left out of its own answer. */
static bool sample_queries(struct nearest *nearest) {
    const size_t bytes = nigh_signature_bytes(nearest->info.width_bits);
    const size_t bits = nearest->info.width_bits;
    uint64_t state = nearest->values->base.sample_seed.value;
    nearest->count = (size_t)nearest->values->ask.value;
    if (nearest->info.documents - nearest->info.deleted < 2) nearest->count = 0;
    nearest->queries = malloc((nearest->count + 1) * bytes);
    nearest->own = malloc((nearest->count + 1) * sizeof *nearest->own);
    if (nearest->info.has_weights) nearest->weights = malloc((nearest->count + 1) * bits);
    if (nearest->queries == NULL || nearest->own == NULL || (nearest->weights == NULL && nearest->info.has_weights)) {
        out_of_memory(nearest->job);
        return false;
    }
    for (size_t q = 0; q < nearest->count; q++) {
        do nearest->own[q] = cli_random_next(&state) % nearest->info.documents;
        while (!nigh_collection_lives(nearest->collection, nearest->own[q]));
        if (nigh_collection_signature(nearest->collection, nearest->own[q], nearest->queries + q * bytes,
                                      &nearest->job->error) != NIGH_OK)
            return false;
        if (nearest->weights != NULL &&
            nigh_collection_weights(nearest->collection, nearest->own[q], nearest->weights + q * bits,
                                    &nearest->job->error) != NIGH_OK)
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------- truth -- */

/* Beside the collection, by what it depends on; NULL: no memory. */
static char *cache_path(const struct nearest *nearest) {
    const char *collection = nearest->job->operands[0];
    size_t length = strlen(collection);
    while (length > 1 && collection[length - 1] == '/') length--;
    const size_t capacity = length + 100;
    char *path = malloc(capacity);
    if (path == NULL) return NULL;
    (void)snprintf(path, capacity, "%.*s.truth-%llu-of-%zu%s-%llu", (int)length, collection,
                   (unsigned long long)nearest->truth_options.k, nearest->count, nearest->own == NULL ? "-given" : "",
                   (unsigned long long)nearest->values->base.sample_seed.value);
    return path;
}

/* From the file, where there is one and it fits; else made, and kept there if that can be. */
static bool find_truth(struct nearest *nearest) {
    struct cli_job *job = nearest->job;
    nigh_status status = NIGH_ENOTFOUND;
    nearest->truth_options.k = (uint32_t)nearest->values->k.value;
    nearest->truth_options.own = nearest->own;
    nearest->truth_options.threads = job->threads;
    nearest->truth_options.progress = &job->progress.report;
    char *path = nearest->values->no_cache ? NULL : cache_path(nearest);
    if (path != NULL)
        status = nigh_eval_truth_load(nearest->collection, nearest->queries, nearest->count, &nearest->truth_options,
                                      path, &nearest->truth, &job->error);
    if (status != NIGH_OK && status != NIGH_ENOMEM) {
        status = nigh_eval_truth_new(nearest->collection, nearest->queries, nearest->count, &nearest->truth_options,
                                     &nearest->truth, &job->error);
        cli_progress_clear(&job->progress);
        if (status == NIGH_OK && path != NULL && nigh_eval_truth_save(nearest->truth, path, &job->error) != NIGH_OK)
            cli_note(job, "the truth could not be kept in '%s'", path);
    }
    free(path);
    return status == NIGH_OK;
}

/* ------------------------------------------------------------------ output -- */

static void show_heading(struct cli_sink *out, enum cli_eval_output output) {
    if (output == CLI_EVAL_TABLE)
        cli_sink_text(out, "                                     CDR  recall   by id  exact  below   queries/s     mean"
                           "      50%      90%      99% us       lists    postings  compared\n");
}

static void show_setting(struct cli_sink *out, enum cli_eval_output output, const struct setting *setting) {
    nigh_eval_nearness_info info = {.size = sizeof info};
    nigh_eval_nearness_describe(setting->nearness, &info);
    cli_sink_format(out,
                    output == CLI_EVAL_TABLE
                        ? " %-32s %.4f  %.4f  %.4f  %5.3f  %5.0f  %10.0f %8.1f %8.1f %8.1f %8.1f  %11.0f %11.0f %9.0f\n"
                    : output == CLI_EVAL_TSV
                        ? "%s\t%.6f\t%.6f\t%.6f\t%.4f\t%.1f\t%.1f\t%.2f\t%.2f\t%.2f\t%.2f\t%.1f\t%.1f\t%.1f\n"
                        : "{\"setting\":\"%s\",\"cdr\":%.6f,\"recall\":%.6f,\"recall_by_id\":%.6f,\"exact\":%.4f,"
                          "\"below\":%.1f,\"rate\":%.1f,\"mean_us\":%.2f,\"median_us\":%.2f,"
                          "\"percentile_90_us\":%.2f,\"percentile_99_us\":%.2f,\"lists\":%.1f,\"postings\":%.1f,"
                          "\"compared\":%.1f}\n",
                    setting->name, info.cdr, info.recall, info.recall_by_id, info.proven, info.below, 1 / info.seconds,
                    info.seconds * 1e6, info.median * 1e6, info.percentile_90 * 1e6, info.percentile_99 * 1e6,
                    info.lists, info.postings, info.distances);
}

static void show_ring(struct cli_sink *out, enum cli_eval_output output, uint32_t number, const nigh_eval_ring *ring) {
    cli_sink_format(out,
                    output == CLI_EVAL_TABLE ? " %4u  %11.0f  %11.0f  %7.2f%%  %10.3f  %7.3f  %11.1f  %11.1f  %11.1f\n"
                    : output == CLI_EVAL_TSV ? "ring\t%u\t%.1f\t%.1f\t%.4f\t%.4f\t%.4f\t%.1f\t%.1f\t%.1f\n"
                                             : "{\"ring\":%u,\"lists\":%.1f,\"postings\":%.1f,\"seen_percent\":%.4f,"
                                               "\"determined\":%.4f,\"certain\":%.4f,\"by_pessimistic\":%.1f,"
                                               "\"by_distance\":%.1f,\"by_score\":%.1f}\n",
                    number, ring->lists, ring->postings, 100 * ring->seen, ring->determined, ring->certain,
                    ring->by_pessimistic, ring->by_distance, ring->by_score);
}

static bool show_rings(struct nearest *nearest) {
    const uint32_t breadth = (uint32_t)nearest->values->rings.value;
    struct cli_job *job = nearest->job;
    if (nigh_eval_rings_measure(nearest->collection, nearest->queries, nearest->count, nearest->truth_options.k,
                                breadth, &job->progress.report, nearest->rings, &job->error) != NIGH_OK)
        return false;
    cli_progress_clear(&job->progress);
    if (nearest->values->base.output == CLI_EVAL_TABLE)
        cli_sink_text(job->out, "\n ring        lists     postings      seen  determined  certain  pessimistic     "
                                "distance        score\n");
    for (uint32_t b = 0; b <= breadth; b++)
        show_ring(job->out, (enum cli_eval_output)nearest->values->base.output, b, &nearest->rings[b]);
    return true;
}

static int plot(struct nearest *nearest) {
    nigh_eval_nearness *runs[MAX_SETTINGS];
    const char *names[MAX_SETTINGS];
    const char *svg = NULL;
    size_t length = 0;
    char title[200];
    for (size_t i = 0; i < nearest->setting_count; i++) {
        runs[i] = nearest->settings[i].nearness;
        names[i] = nearest->settings[i].name;
    }
    (void)snprintf(title, sizeof title, "%.80s: %llu documents of %u bits, %zu queries", nearest->job->operands[0],
                   (unsigned long long)nearest->info.documents, nearest->info.width_bits, nearest->count);
    if (nigh_eval_nearness_plot(runs, names, nearest->setting_count, title, &svg, &length, &nearest->job->error) !=
        NIGH_OK)
        return cli_fail(nearest->job);
    return cli_eval_write_plot(nearest->evaluator, svg, length);
}

/* ------------------------------------------------------------------ a page -- */

static nigh_eval_nearness_info describe(const struct nearest *nearest, size_t setting) {
    nigh_eval_nearness_info info = {.size = sizeof info};
    nigh_eval_nearness_describe(nearest->settings[setting].nearness, &info);
    return info;
}

static const char *setting_name(const void *from, size_t line) {
    return ((const struct nearest *)from)->settings[line].name;
}

static bool time_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const nigh_eval_nearness_info info = describe(from, line);
    *out = (struct cli_chart_point){info.median, info.recall};
    return index == 0;
}

static bool rank_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct nearest *nearest = from;
    double dr = 0, cdr = 0;
    const nigh_status status =
        nigh_eval_nearness_rank(nearest->settings[line].nearness, (uint32_t)index + 1, &dr, &cdr, NULL);
    *out = (struct cli_chart_point){(double)index + 1, cdr};
    return status == NIGH_OK;
}

static void put_settings(struct cli_sink *page, const struct nearest *nearest) {
    static const char *const columns[] = {"setting", "recall", "CDR",        "#by id",    "#proven exact",
                                          "#median", "#99%",   "#queries/s", "#compared", NULL};
    cli_page_table(page, columns);
    for (size_t i = 0; i < nearest->setting_count; i++) {
        const nigh_eval_nearness_info info = describe(nearest, i);
        cli_sink_text(page, "<tr>");
        cli_page_cell(page, nearest->settings[i].name);
        cli_page_bar(page, info.recall);
        cli_page_bar(page, info.cdr);
        cli_page_number(page, "%.4f", info.recall_by_id);
        cli_page_number(page, "%.1f%%", 100 * info.proven);
        cli_page_number(page, "%s", cli_time(info.median).text);
        cli_page_number(page, "%s", cli_time(info.percentile_99).text);
        cli_page_number(page, "%s", cli_digits((uint64_t)(1 / info.seconds)).text);
        cli_page_number(page, "%s", cli_digits((uint64_t)info.distances).text);
        cli_sink_text(page, "</tr>\n");
    }
    cli_page_table_end(page);
    cli_sink_text(page,
                  "<p class=\"hint\">Recall by distance: what is no farther than the true k-th. CDR: true distances "
                  "divided by those found, cumulated. Times are of one query after the other, on one "
                  "thread.</p>\n");
}

/* Of the signatures seen, how many a rule compares: a line for each rule. */
static const char *ring_rule(const void *from, size_t line) {
    static const char *const names[] = {"by the papers' pessimistic distances", "by distance", "by score"};
    (void)from;
    return names[line];
}

/* The value of a line, which lies at `place` in a ring. */
static bool ring_at(const struct nearest *nearest, size_t place, size_t index, struct cli_chart_point *out) {
    double value;
    if (index > nearest->values->rings.value) return false;
    memcpy(&value, (const char *)&nearest->rings[index] + place, sizeof value);
    *out = (struct cli_chart_point){(double)index, value};
    return true;
}

static bool ring_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    static const size_t places[] = {offsetof(nigh_eval_ring, by_pessimistic), offsetof(nigh_eval_ring, by_distance),
                                    offsetof(nigh_eval_ring, by_score)};
    return ring_at(from, places[line], index, out);
}

static const char *ring_share(const void *from, size_t line) {
    static const char *const names[] = {"signatures seen", "queries whose answer was seen in every slice",
                                        "queries whose answer is certain"};
    (void)from;
    return names[line];
}

static bool ring_share_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    static const size_t places[] = {offsetof(nigh_eval_ring, seen), offsetof(nigh_eval_ring, determined),
                                    offsetof(nigh_eval_ring, certain)};
    return ring_at(from, places[line], index, out);
}

static void put_ring_rows(struct cli_sink *page, const struct nearest *nearest) {
    static const char *const columns[] = {
        "#ring", "#lists", "seen", "seen in every slice", "certain", "#pessimistic", "#distance", "#score", NULL};
    cli_page_table(page, columns);
    for (uint32_t b = 0; b <= nearest->values->rings.value; b++) {
        const nigh_eval_ring *ring = &nearest->rings[b];
        cli_sink_text(page, "<tr>");
        cli_page_number(page, "%u", b);
        cli_page_number(page, "%s", cli_digits((uint64_t)ring->lists).text);
        cli_page_bar(page, ring->seen);
        cli_page_bar(page, ring->determined);
        cli_page_bar(page, ring->certain);
        cli_page_number(page, "%.1f", ring->by_pessimistic);
        cli_page_number(page, "%.1f", ring->by_distance);
        cli_page_number(page, "%.1f", ring->by_score);
        cli_sink_text(page, "</tr>\n");
    }
    cli_page_table_end(page);
}

static void put_rings(struct cli_sink *page, const struct nearest *nearest) {
    const struct cli_chart charts[] = {{.heading = "What the lists show by ring",
                                        .below = "bits from the query's slices",
                                        .up = CLI_CHART_SHARE,
                                        .lines = 3,
                                        .from = nearest,
                                        .name = ring_share,
                                        .point = ring_share_point},
                                       {.heading = "Signatures that would be compared",
                                        .below = "bits from the query's slices",
                                        .up = CLI_CHART_POWERS,
                                        .lines = 3,
                                        .from = nearest,
                                        .name = ring_rule,
                                        .point = ring_point}};
    cli_sink_text(page, "<h2>Ring by ring</h2>\n" CLI_CHARTS_BEGIN);
    for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) cli_page_chart(page, &charts[i]);
    cli_sink_text(page, CLI_CHARTS_END);
    put_ring_rows(page, nearest);
    cli_sink_text(page, "<p class=\"hint\">Means over the queries. A ring has the lists of all slices that differ in "
                        "so many bits from a slice of the query. The last three columns say how many of the "
                        "signatures seen would be compared, by the papers' pessimistic distances and by our "
                        "rules.</p>\n");
}

static int write_page(struct nearest *nearest) {
    const struct cli_chart charts[] = {{.heading = "Recall by the time of a query",
                                        .below = "median time",
                                        .across = CLI_CHART_SECONDS,
                                        .up = CLI_CHART_SHARE,
                                        .apart = true,
                                        .lines = nearest->setting_count,
                                        .from = nearest,
                                        .name = setting_name,
                                        .point = time_point},
                                       {.heading = "CDR by rank",
                                        .below = "rank",
                                        .up = CLI_CHART_SHARE,
                                        .lines = nearest->setting_count,
                                        .from = nearest,
                                        .name = setting_name,
                                        .point = rank_point}};
    struct cli_sink *page = cli_eval_open_page(
        nearest->evaluator, "How near searches come to the truth, and how fast, in", nearest->job->operands[0]);
    if (page == NULL) return cli_fail(nearest->job);
    cli_sink_format(page, "<p>%s of %u bits, %s different; ",
                    cli_counted(nearest->info.documents, "document", "documents").text, nearest->info.width_bits,
                    cli_digits(nearest->info.signatures).text);
    cli_sink_format(page, "%s%s; k = %u.</p>\n", cli_counted(nearest->count, "query", "queries").text,
                    nearest->own == NULL ? "" : ", documents left out of their own answers", nearest->truth_options.k);
    cli_sink_text(page, CLI_CHARTS_BEGIN);
    for (size_t i = 0; i < sizeof charts / sizeof *charts; i++) cli_page_chart(page, &charts[i]);
    cli_sink_text(page, CLI_CHARTS_END);
    put_settings(page, nearest);
    if (nearest->values->rings.given) put_rings(page, nearest);
    return cli_eval_close_page(nearest->evaluator, page);
}

/* --------------------------------------------------------------------- run -- */

static bool measure_settings(struct nearest *nearest) {
    struct cli_job *job = nearest->job;
    if (nearest->values->base.output == CLI_EVAL_TABLE)
        cli_sink_format(job->out, "%s of %u bits, %s different; %s%s; k = %u\n\n",
                        cli_counted(nearest->info.documents, "document", "documents").text, nearest->info.width_bits,
                        cli_digits(nearest->info.signatures).text, cli_counted(nearest->count, "query", "queries").text,
                        nearest->own == NULL ? "" : ", documents left out of their own answers",
                        nearest->truth_options.k);
    show_heading(job->out, (enum cli_eval_output)nearest->values->base.output);
    for (size_t i = 0; i < nearest->setting_count; i++) {
        struct setting *setting = &nearest->settings[i];
        setting->options.weights = nearest->weights;
        if (nigh_eval_nearness_measure(nearest->collection, nearest->queries, nearest->count, nearest->truth,
                                       &nearest->truth_options, &setting->options, &setting->nearness,
                                       &job->error) != NIGH_OK)
            return false;
        cli_progress_clear(&job->progress);
        show_setting(job->out, (enum cli_eval_output)nearest->values->base.output, setting);
        (void)cli_sink_flush(job->out);
    }
    return !nearest->values->rings.given || show_rings(nearest);
}

static int run_nearest(struct nearest *nearest) {
    struct cli_job *job = nearest->job;
    if (cli_collection_open(job, job->operands[0], NULL, &nearest->collection, &nearest->info) != NIGH_OK)
        return cli_fail(job);
    const bool asked = nearest->values->queries == NULL ? sample_queries(nearest) : read_queries(nearest);
    if (!asked) return cli_fail(job);
    if (nearest->count == 0) {
        cli_error(job, "there are no queries");
        return CLI_NOTHING;
    }
    if (!find_truth(nearest) || !measure_settings(nearest)) return cli_fail(job);
    int code = nearest->values->base.plot == NULL ? CLI_DONE : plot(nearest);
    if (code == CLI_DONE && nearest->values->base.report != NULL) code = write_page(nearest);
    job->stats.work_seconds = cli_seconds() - nearest->evaluator->started;
    job->stats.complete = true;
    job->stats.documents = nearest->info.documents;
    job->stats.queries = nearest->count;
    cli_stats_rate(&job->stats, nearest->count);
    return code;
}

static int check(struct evaluator *evaluator) {
    const struct cli_job *job = evaluator->job;
    const struct nearest_values *values = job->values;
    const struct cli_place queries = {"--queries", values->queries};
    if (job->operand_count != 1) return cli_usage(job->command, "give one COLLECTION, not %zu", job->operand_count);
    return cli_eval_check_places(evaluator, &queries, 1);
}

static int measure(struct evaluator *evaluator) {
    struct nearest *nearest = calloc(1, sizeof *nearest);
    if (nearest == NULL) {
        out_of_memory(evaluator->job);
        return cli_fail(evaluator->job);
    }
    nearest->evaluator = evaluator;
    nearest->job = evaluator->job;
    nearest->values = evaluator->job->values;
    nearest->info = (nigh_collection_info){.size = sizeof(nigh_collection_info)};
    nigh_eval_truth_options_init(&nearest->truth_options);
    const int code = make_settings(nearest) ? run_nearest(nearest) : CLI_ERROR;
    for (size_t i = 0; i < nearest->setting_count; i++) nigh_eval_nearness_free(nearest->settings[i].nearness);
    nigh_eval_truth_free(nearest->truth);
    nigh_collection_close(nearest->collection);
    free(nearest->queries);
    free(nearest->weights);
    free(nearest->own);
    free(nearest);
    return code;
}

static int run(struct cli_job *job) {
    static const struct eval_kind kind = {.reads = EVAL_COLLECTION, .check = check, .measure = measure};
    return cli_eval_run(job, &kind);
}

const struct cli_command cmd_eval_nearest = {
    .name = "eval nearest",
    .summary = "how well and how fast a search finds the nearest documents",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct nearest_values),
    .run = run,
};
