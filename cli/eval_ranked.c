/* SPDX-License-Identifier: Apache-2.0 */
/* nigh eval ranked: rankings by signatures against the judgements of people. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator.h"
#include "page_chart.h"

struct ranked_values {
    struct eval_values base;
    const char *judgements;
    const char *queries;
};

#define PLACE(field) offsetof(struct ranked_values, field)

static const struct cli_option options[] = {
    CLI_TEXT(0, "judgements", PLACE(judgements), "FILE",
             "what is relevant: lines QUERY 0 DOCUMENT GRADE, as TREC has them; a grade above 0 is relevant"),
    CLI_TEXT(0, "queries", PLACE(queries), "FILE",
             "the topics, as documents whose ids are the queries of the judgements (default: only documents ask)"),
    EVAL_REPORT_OPTION,
    EVAL_OUTPUT_OPTION,
    EVAL_SIGNING_OPTIONS,
    EVAL_INPUT_OPTIONS,
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... --judgements FILE [--queries FILE] INPUT...", NULL};

static const char *const description[] = {
    "Ranks all documents for each topic, by the distance of signatures and by the cosine of features, and shows mean "
    "average precision (MAP) and precision at 10. Relevant documents are also taken as queries: each asks for the "
    "others of its topic. Ties go to the earlier document.",
    "Distances are measured in four ways: in all bits; in the bits that the query touches, each counting one ('nigh "
    "search --rank bits'); in these by their weights, from 0 to 8 (--rank weighted); and by the weights as they are "
    "before they become one of these, which shows what the rounding costs. Features are what signatures stand for, in "
    "full precision.",
    NULL,
};

static const char *const output_paragraphs[] = {
    "tsv: topics or documents as queries, topics that count, rankings made, MAP and precision at 10 by distance, by "
    "distance in the bits that the query touches, by the weighted distance, by features, and by unrounded weights. "
    "jsonl has the same by name.",
    NULL,
};
static const struct cli_section output_section = {"OUTPUT", output_paragraphs};
static const struct cli_section *const details[] = {&output_section, NULL};

static const struct cli_example examples[] = {
    {"nigh eval ranked --judgements qrels --queries topics.jsonl docs.jsonl", "MAP of topics, and of documents"},
    {"nigh eval ranked --judgements qrels --queries topics.jsonl --report ranked.html docs.jsonl",
     "the same as a page for a browser"},
    {NULL, NULL},
};

/* A line each. */
static void show_tsv(struct cli_sink *out, const char *asking, const nigh_eval_ranking *ranking) {
    cli_sink_format(out, "%s\t%llu\t%llu\t%.6f\t%.6f", asking, (unsigned long long)ranking->topics,
                    (unsigned long long)ranking->rankings, ranking->map, ranking->precision);
    cli_sink_format(out, "\t%.6f\t%.6f\t%.6f\t%.6f", ranking->touched_map, ranking->touched_precision,
                    ranking->weighted_map, ranking->weighted_precision);
    cli_sink_format(out, "\t%.6f\t%.6f\t%.6f\t%.6f\n", ranking->vector_map, ranking->vector_precision,
                    ranking->unrounded_map, ranking->unrounded_precision);
}

static void show_jsonl(struct cli_sink *out, const char *asking, const nigh_eval_ranking *ranking) {
    cli_sink_format(out, "{\"queries\":\"%s\",\"topics\":%llu,\"rankings\":%llu", asking,
                    (unsigned long long)ranking->topics, (unsigned long long)ranking->rankings);
    cli_sink_format(out, ",\"map\":%.6f,\"precision_at_10\":%.6f", ranking->map, ranking->precision);
    cli_sink_format(out, ",\"touched_map\":%.6f,\"touched_precision_at_10\":%.6f", ranking->touched_map,
                    ranking->touched_precision);
    cli_sink_format(out, ",\"weighted_map\":%.6f,\"weighted_precision_at_10\":%.6f", ranking->weighted_map,
                    ranking->weighted_precision);
    cli_sink_format(out, ",\"vector_map\":%.6f,\"vector_precision_at_10\":%.6f", ranking->vector_map,
                    ranking->vector_precision);
    cli_sink_format(out, ",\"unrounded_map\":%.6f,\"unrounded_precision_at_10\":%.6f}\n", ranking->unrounded_map,
                    ranking->unrounded_precision);
}

static void show_row(struct cli_sink *out, const char *asking, const nigh_eval_ranking *ranking) {
    cli_sink_format(out, "%-9s  %8llu  %8llu  %6.4f  %6.4f  %6.4f  %6.4f", asking, (unsigned long long)ranking->topics,
                    (unsigned long long)ranking->rankings, ranking->map, ranking->precision, ranking->touched_map,
                    ranking->touched_precision);
    cli_sink_format(out, "  %6.4f  %6.4f  %6.4f  %6.4f  %6.4f  %6.4f\n", ranking->weighted_map,
                    ranking->weighted_precision, ranking->unrounded_map, ranking->unrounded_precision,
                    ranking->vector_map, ranking->vector_precision);
}

/* One line a call; the first with its heading. */
static void show_ranking(struct cli_sink *out, enum cli_eval_output output, const char *asking, bool first,
                         const nigh_eval_ranking *ranking) {
    static void (*const show[])(struct cli_sink *, const char *, const nigh_eval_ranking *) = {
        [CLI_EVAL_TABLE] = show_row, [CLI_EVAL_JSONL] = show_jsonl, [CLI_EVAL_TSV] = show_tsv};
    if (output == CLI_EVAL_TABLE && first)
        cli_sink_text(
            out,
            "                               all bits        touched bits    weighted        unrounded       features\n"
            "queries      topics  rankings     MAP    P@10     MAP    P@10     MAP    P@10     MAP    P@10     MAP    "
            "P@10\n");
    show[output](out, asking, ranking);
}

/* ---------------------------------------------------------------- a page -- */

#define MOST_TOPICS 100000u          /* that the page looks at one by one */
#define MOST_TOPIC_ROWS ((size_t)10) /* of either end */
#define NAME_SHOWN 60u               /* bytes */

/* Average precision of one topic. */
struct topic {
    char name[NAME_SHOWN + 1];
    double bits, weighted, features;
};

/* What was measured: topics if there are some, and documents. */
struct ranked {
    const char *asking[2];
    nigh_eval_ranking ranking[2];
    struct topic *topics[2];
    size_t topic_count[2], room[2];
    size_t count;
    bool no_memory;
};

/* For nigh_eval_ranking_options.topic. */
static int keep_topic(void *user, const char *name, size_t length, const nigh_eval_ranking *figures) {
    struct ranked *ranked = user;
    struct topic **topics = &ranked->topics[ranked->count];
    size_t *count = &ranked->topic_count[ranked->count], *room = &ranked->room[ranked->count];
    if (*count == MOST_TOPICS) return 0;
    if (*count == *room) {
        struct topic *larger = realloc(*topics, (*room * 2 + 64) * sizeof *larger);
        ranked->no_memory = larger == NULL;
        if (larger == NULL) return 1;
        *topics = larger;
        *room = *room * 2 + 64;
    }
    struct topic *topic = &(*topics)[(*count)++];
    *topic = (struct topic){.bits = figures->map, .weighted = figures->weighted_map, .features = figures->vector_map};
    (void)snprintf(topic->name, sizeof topic->name, "%.*s", length < NAME_SHOWN ? (int)length : (int)NAME_SHOWN, name);
    return 0;
}

/* ---------------------------------------------------- topics, one by one -- */

/* What a topic gains from one ranking to another. */
struct comparison {
    const char *heading;
    double (*gain)(const struct topic *topic);
    int (*order)(const void *a, const void *b); /* the largest gain first, ties by name */
};

struct gains {
    const struct comparison *comparison;
    const struct topic *topics; /* in its order */
    size_t count;
};

static double gain_by_weights(const struct topic *topic) { return topic->weighted - topic->bits; }
static double gain_by_features(const struct topic *topic) { return topic->features - topic->weighted; }

static int by_gain(double (*gain)(const struct topic *), const struct topic *a, const struct topic *b) {
    const double of_a = gain(a), of_b = gain(b);
    return of_a < of_b ? 1 : of_a > of_b ? -1 : strcmp(a->name, b->name);
}

static int by_weights(const void *a, const void *b) { return by_gain(gain_by_weights, a, b); }
static int by_features(const void *a, const void *b) { return by_gain(gain_by_features, a, b); }

static const char *gain_name(const void *from, size_t line) {
    (void)line;
    return ((const struct gains *)from)->comparison->heading;
}

static bool gain_point(const void *from, size_t line, size_t index, struct cli_chart_point *out) {
    const struct gains *gains = from;
    (void)line;
    if (index >= gains->count) return false;
    *out = (struct cli_chart_point){(double)index + 1, gains->comparison->gain(&gains->topics[index])};
    return true;
}

static void gain_says(struct cli_sink *page, const void *from, size_t line, size_t index) {
    const struct gains *gains = from;
    const struct topic *topic = &gains->topics[index];
    (void)line;
    cli_page_text(page, topic->name, strlen(topic->name));
    cli_sink_format(page, ": %+.4f", gains->comparison->gain(topic));
}

static void draw_gains(struct cli_sink *page, const struct comparison *comparison, struct topic *topics, size_t count) {
    const struct gains gains = {comparison, topics, count};
    const struct cli_chart chart = {.heading = comparison->heading,
                                    .below = "topics, the largest gain first",
                                    .lines = 1,
                                    .from = &gains,
                                    .name = gain_name,
                                    .point = gain_point,
                                    .says = gain_says,
                                    .level_says = "",
                                    .level = 0};
    qsort(topics, count, sizeof *topics, comparison->order);
    cli_page_chart(page, &chart);
}

static void put_topic(struct cli_sink *page, const struct topic *topic) {
    cli_sink_text(page, "<tr>");
    cli_page_cell(page, topic->name);
    cli_page_bar(page, topic->bits);
    cli_page_bar(page, topic->weighted);
    cli_page_bar(page, topic->features);
    cli_page_number(page, "%+.4f", gain_by_weights(topic));
    cli_sink_text(page, "</tr>\n");
}

/* All topics, or those of both ends. */
static void put_topics(struct cli_sink *page, const struct topic *topics, size_t count) {
    static const char *const columns[] = {"topic", "all bits", "weighted", "features", "#gain by weights", NULL};
    const size_t left_out = count > 2 * MOST_TOPIC_ROWS ? count - 2 * MOST_TOPIC_ROWS : 0;
    cli_page_table(page, columns);
    for (size_t i = 0; i < count; i++)
        if (i < MOST_TOPIC_ROWS || i >= MOST_TOPIC_ROWS + left_out) put_topic(page, &topics[i]);
    cli_page_table_end(page);
    cli_sink_text(page, "<p class=\"hint\">Average precision of each topic, the largest gain by weights first. A gain "
                        "is a difference of two average precisions");
    if (left_out > 0) cli_sink_format(page, "; %s in between not shown", cli_counted(left_out, "topic", "topics").text);
    cli_sink_text(page, ".</p>\n");
}

static void put_gains(struct cli_sink *page, struct topic *topics, size_t count) {
    static const struct comparison features = {"Gain: features, against weighted bits", gain_by_features, by_features};
    static const struct comparison weights = {"Gain: weighted, against all bits", gain_by_weights, by_weights};
    cli_sink_text(page, CLI_CHARTS_BEGIN);
    draw_gains(page, &weights, topics, count);
    draw_gains(page, &features, topics, count);
    cli_sink_text(page, CLI_CHARTS_END);
    qsort(topics, count, sizeof *topics, by_weights);
    put_topics(page, topics, count);
}

static void put_ranking(struct cli_sink *page, const char *asking, const nigh_eval_ranking *ranking) {
    static const char *const columns[] = {"ranked by", "MAP", "precision at 10", "#MAP, against all bits", NULL};
    const struct {
        const char *name;
        double map, precision;
    } rows[] = {{"all bits", ranking->map, ranking->precision},
                {"bits that the query touches", ranking->touched_map, ranking->touched_precision},
                {"these, weighted", ranking->weighted_map, ranking->weighted_precision},
                {"weights, unrounded", ranking->unrounded_map, ranking->unrounded_precision},
                {"features", ranking->vector_map, ranking->vector_precision}};
    cli_sink_format(page, "<h2>%s as queries</h2>\n<p class=\"hint\">%s; %s; the mean over topics.</p>\n", asking,
                    cli_counted(ranking->topics, "topic", "topics").text,
                    cli_counted(ranking->rankings, "ranking", "rankings").text);
    cli_page_table(page, columns);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cli_sink_text(page, "<tr>");
        cli_page_cell(page, rows[i].name);
        cli_page_bar(page, rows[i].map);
        cli_page_bar(page, rows[i].precision);
        if (i == 0)
            cli_page_number(page, "%s", "");
        else
            cli_page_number(page, "%+.4f", rows[i].map - ranking->map);
        cli_sink_text(page, "</tr>\n");
    }
    cli_page_table_end(page);
}

static int write_page(struct evaluator *evaluator, struct ranked *ranked) {
    char name[100];
    cli_eval_name_inputs(evaluator, name, sizeof name);
    struct cli_sink *page = cli_eval_open_page(evaluator, "How good rankings are", name);
    if (page == NULL) return cli_fail(evaluator->job);
    cli_sink_format(page, "<p>%s, %u bits by %s, against the judgements of people.</p>\n",
                    cli_counted(evaluator->info.signed_rows, "document", "documents").text,
                    nigh_signer_width(evaluator->signer), cli_scheme_name(evaluator->signer_options.scheme));
    for (size_t i = 0; i < ranked->count; i++) {
        put_ranking(page, ranked->asking[i], &ranked->ranking[i]);
        if (ranked->topic_count[i] > 1) put_gains(page, ranked->topics[i], ranked->topic_count[i]);
    }
    return cli_eval_close_page(evaluator, page);
}

/* -------------------------------------------------------------------- run -- */

static int check(struct evaluator *evaluator) {
    const struct cli_job *job = evaluator->job;
    const struct ranked_values *values = job->values;
    const struct cli_place files[] = {{"--judgements", values->judgements}, {"--queries", values->queries}};
    if (values->judgements == NULL) return cli_usage(job->command, "no --judgements given");
    if (values->queries != NULL && strcmp(values->queries, "-") == 0)
        return cli_usage(job->command, "--queries takes a file, not standard input");
    return cli_eval_check_places(evaluator, files, 2);
}

/* False with job->error; `queries` NULL: documents ask. */
static bool rank(struct evaluator *evaluator, const nigh_eval_corpus *queries, struct ranked *ranked) {
    struct cli_job *job = evaluator->job;
    const struct ranked_values *values = job->values;
    nigh_eval_ranking_options ranking_options;
    nigh_eval_ranking_options_init(&ranking_options);
    nigh_eval_ranking ranking = {.size = sizeof ranking};
    ranking_options.judgements = values->judgements;
    ranking_options.queries = queries;
    ranking_options.progress = &job->progress.report;
    ranking_options.topic = values->base.report == NULL ? NULL : keep_topic;
    ranking_options.user = ranked;
    if (nigh_eval_ranking_measure(evaluator->documents, &ranking_options, &ranking, &job->error) != NIGH_OK) {
        if (ranked->no_memory) cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    cli_progress_clear(&job->progress);
    show_ranking(job->out, (enum cli_eval_output)values->base.output, queries == NULL ? "documents" : "topics",
                 ranked->count == 0, &ranking);
    if (ranking.missing > 0)
        cli_note(job, "%s: left out %s of a query or document that is not there, or has no words",
                 queries == NULL ? "documents" : "topics",
                 cli_counted(ranking.missing, "judgement", "judgements").text);
    job->stats.queries += ranking.rankings;
    ranked->asking[ranked->count] = queries == NULL ? "Documents" : "Topics";
    ranked->ranking[ranked->count++] = ranking;
    return true;
}

/* False with job->error. */
static bool rank_both(struct evaluator *evaluator, struct ranked *ranked) {
    const struct ranked_values *values = evaluator->job->values;
    nigh_eval_corpus *queries = NULL;
    bool done = true;
    if (values->queries != NULL) {
        done = cli_eval_read_file(evaluator, values->queries, &queries) && rank(evaluator, queries, ranked);
        nigh_eval_corpus_free(queries);
    }
    return done && rank(evaluator, NULL, ranked);
}

static int measure(struct evaluator *evaluator) {
    const struct ranked_values *values = evaluator->job->values;
    struct ranked ranked = {.count = 0};
    int code = rank_both(evaluator, &ranked) ? CLI_DONE : cli_fail(evaluator->job);
    if (code == CLI_DONE && values->base.report != NULL) code = write_page(evaluator, &ranked);
    if (code == CLI_DONE) {
        cli_eval_summarise(evaluator);
        if (ranked.ranking[0].topics + ranked.ranking[1].topics == 0) code = CLI_NOTHING;
    }
    for (size_t i = 0; i < 2; i++) free(ranked.topics[i]);
    return code;
}

static int run(struct cli_job *job) {
    static const struct eval_kind kind = {.reads = EVAL_WEIGHTED, .check = check, .measure = measure};
    return cli_eval_run(job, &kind);
}

const struct cli_command cmd_eval_ranked = {
    .name = "eval ranked",
    .summary = "how good rankings are, by human judgements",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct ranked_values),
    .run = run,
};
