/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh tune: measures which is the fastest way to search a collection that is good enough,
 * and stores it there for 'nigh search'.
 */
#include <stdlib.h>
#include <string.h>

#include "amount.h"
#include "common.h"
#include "documents.h"
#include "size.h"
#include "source.h"
#include "tune_page.h"
#include "tuning_lines.h"

struct tune_values {
    struct cli_common common;
    const char *recall, *cdr, *latency, *memory, *within;
    struct cli_number k, sample, seed;
    const char *queries;
    const char *report;
    struct cli_reading reading;
    int format;
    int output;
    bool all, build, dry_run, remove;
};

enum { OUTPUT_TABLE, OUTPUT_JSONL };
static const char *const output_names[] = {"table", "jsonl", NULL};

#define PLACE(field) offsetof(struct tune_values, field)
#define MAX_K 32768
#define WIDER 2u /* bits; other slice widths that --build tries */
#define MIN_QUERIES 40u

static const struct cli_option options[] = {
    CLI_TEXT(0, "target-recall", PLACE(recall), "SHARE",
             "find SHARE of the nearest, by distance; 0.95 if you give no target"),
    CLI_TEXT(0, "target-cdr", PLACE(cdr), "SHARE",
             "come this near in distance: 1 is nearest; better than recall if many documents are almost equally far"),
    CLI_TEXT(0, "latency", PLACE(latency), "TIME",
             "answer half of the queries within TIME, such as 500us or 2ms; without a target: the best quality in that "
             "time"),
    CLI_TEXT(0, "memory", PLACE(memory), "SIZE",
             "search within SIZE of memory (500M, 4G): the signatures, and the sketches, lists or graph beside them"),
    CLI_NUMBER('k', NULL, PLACE(k), "N", 1, MAX_K, "10", "for the N nearest documents of each query"),
    CLI_NUMBER(0, "sample", PLACE(sample), "N", MIN_QUERIES, 10000000, "1000",
               "measure with N documents, each left out of its own answer; with --queries, at most the first N"),
    CLI_TEXT(0, "queries", PLACE(queries), "FILE",
             "measure with the queries in FILE instead, documents or signatures; the tuning is then for queries of "
             "that kind"),
    CLI_CHOICE(0, "format", PLACE(format), "FORMAT", cli_input_formats, "auto",
               "the format of --queries; lines: a text a line"),
    CLI_NUMBER(0, "seed", PLACE(seed), "N", 0, NIGH_ALL_64, "1", "another seed, another sample"),
    CLI_TEXT(
        0, "within", PLACE(within), "SHARE",
        "if the sample cannot tell the quality within +-SHARE: store nothing, and say how many queries that takes"),
    CLI_FLAG(0, "build", PLACE(build),
             "first make slice lists of several widths (replacing existing ones) and a graph, to choose from; for "
             "texts that are ranked by weights, columns; they stay, whatever is chosen"),
    CLI_FLAG(0, "all", PLACE(all), "show every setting that was measured"),
    CLI_FLAG(0, "dry-run", PLACE(dry_run), "measure, and store nothing"),
    CLI_FLAG(0, "remove", PLACE(remove), "remove the stored tuning"),
    CLI_CHOICE(0, "output", PLACE(output), "FORM", output_names, "table", "the form of the answer"),
    CLI_TEXT(0, "report", PLACE(report), "FILE",
             "also write every setting that was measured to FILE, drawn as a page for a browser"),
    CLI_READING_OPTIONS(PLACE(reading)),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION", "--remove COLLECTION", NULL};

static const char *const description[] = {
    "Finds the fastest way to search a collection that finds enough, and stores it there: 'nigh search' then needs no "
    "options. The choices are: comparing every document; comparing sketches, the first bits of every signature, and "
    "then the most promising documents; and slice lists and a graph if the collection has them ('nigh index' makes "
    "them, or --build here). Texts and documents as queries on a topsig collection are ranked by weights, and have "
    "other choices: comparing every document, columns with and without slack, and a graph. Give some as --queries to "
    "tune for these; both tunings are stored beside each other.",
    "One half of a sample of queries, with exact answers, chooses: the setting must reach the target with a confidence "
    "of 99%. The other half shows what to expect, with a 95% interval. The choice depends on how fast this machine is; "
    "what a setting finds does not.",
    "The exit code is 1, and nothing is stored, if the targets cannot be met (the best possible is shown), or if the "
    "sample is too small for --within.",
    NULL,
};

static const char *const measure_paragraphs[] = {
    "Recall counts what was found no farther than the true k-th document. The cumulative distance ratio compares "
    "distances: with T the sum of those of the p nearest and D of the p that were found, it is the mean of T / D over "
    "p from 1 to k. It is better than recall if many documents are almost equally far.",
    "An interval is the mean over the queries +- 1.96 s / sqrt(n), where s counts one extra query that missed one of k "
    "documents, so that a sample without a miss does not count as proof. To be chosen, a setting must be above the "
    "target by 2.58 s / sqrt(n); if the other half shows that the target is missed after all, the choice is made again "
    "with twice that margin. Time is that of one query alone, on one thread.",
    "'nigh search' uses the tuning if no option says how to search, there is no --radius, and -k is at most twice that "
    "of the tuning. A tuning with --queries is for queries of that kind alone: signatures; documents and texts, for "
    "which it is known how sure each bit is; or those of them that are ranked by weights, as with topsig. After "
    "documents were added, 'nigh info' says whether to tune again.",
    NULL,
};

static const struct cli_section measure_section = {"MEASURES", measure_paragraphs};
static const struct cli_section *const details[] = {&measure_section, NULL};

static const struct cli_example examples[] = {
    {"nigh tune corpus.nigh", "find 95% of the nearest, as fast as possible"},
    {"nigh tune corpus.nigh --target-cdr 0.99 --build", "by distance ratio, with lists and a graph made for it"},
    {"nigh tune corpus.nigh --queries asked.jsonl --build", "for texts like those in a file"},
    {"nigh tune corpus.nigh --latency 1ms", "the best quality within a millisecond"},
    {"nigh tune corpus.nigh --target-recall 0.9 --memory 2G --dry-run", "only look"},
    {NULL, NULL},
};

struct tuning_job {
    struct cli_job *job;
    const struct tune_values *values;
    nigh_collection *collection;
    nigh_collection_info info;
    nigh_tune_options options;
    uint8_t *queries; /* and room for more */
    uint8_t *weights; /* of documents; NULL: there are none */
    size_t capacity;
    uint64_t silent; /* texts whose words cancel each other out, and that are left out */
    bool built;      /* lists, and a graph perhaps, or columns have been made */
    nigh_tuning tuning;
    nigh_tune_result result;
    struct cli_tune_page page;
};

/* ------------------------------------------------------------------ what is asked -- */

static bool parse_time(const struct cli_job *job, const char *text, double *out) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    char *end = NULL;
    if (text == NULL) return true;
    const double amount = strtod(text, &end);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (end == text || strcmp(end, units[i].name) != 0 || !(amount > 0 && amount < 1e9)) continue;
        *out = amount * units[i].seconds;
        return true;
    }
    (void)cli_usage(job->command, "--latency takes a time such as 500us, 2ms or 1s, not '%s'", text);
    return false;
}

static void report_tried(void *user, const nigh_tuning *tried) {
    struct tuning_job *tuning = user;
    struct cli_job *job = tuning->job;
    if (tuning->values->report != NULL) cli_tune_page_add(&tuning->page, tried);
    if (!tuning->values->all || tuning->values->output != OUTPUT_TABLE) return;
    cli_progress_clear(&job->progress);
    cli_sink_format(job->out, "  %-52s recall %.4f  CDR %.4f  %8s\n", cli_tuning_words(tried).text, tried->recall,
                    tried->cdr, cli_time(tried->median).text);
    (void)cli_sink_flush(job->out);
}

static bool set_options(struct tuning_job *tuning) {
    struct cli_job *job = tuning->job;
    const struct tune_values *values = tuning->values;
    nigh_tune_options *asked = &tuning->options;
    asked->k = (uint32_t)values->k.value;
    asked->sample = (uint32_t)values->sample.value;
    asked->seed = values->seed.value;
    asked->threads = job->threads;
    asked->progress = &job->progress.report;
    asked->tried = report_tried;
    asked->user = tuning;
    return cli_amount_share(job, "--target-recall", values->recall, &asked->recall) &&
           cli_amount_share(job, "--target-cdr", values->cdr, &asked->cdr) &&
           cli_amount_share(job, "--within", values->within, &asked->within) &&
           cli_amount_bytes(job, "--memory", values->memory, &asked->memory_bytes) &&
           parse_time(job, values->latency, &asked->seconds);
}

/* One query more, with how sure its bits are where `weights` is not NULL. */
static nigh_status add_query(struct tuning_job *tuning, const uint8_t *signature, const uint8_t *weights) {
    const size_t bytes = nigh_signature_bytes(tuning->info.width_bits);
    const size_t bits = tuning->info.width_bits;
    const size_t count = tuning->options.query_count;
    if (count == tuning->capacity) {
        tuning->capacity = count == 0 ? 64 : 2 * count;
        uint8_t *more = realloc(tuning->queries, tuning->capacity * bytes);
        uint8_t *sure = NULL;
        if (more != NULL) tuning->queries = more;
        if (weights != NULL) sure = realloc(tuning->weights, tuning->capacity * bits);
        if (sure != NULL) tuning->weights = sure;
        if (more == NULL || (weights != NULL && sure == NULL)) {
            cli_set_error(tuning->job, NIGH_ENOMEM, "", "out of memory");
            return NIGH_ENOMEM;
        }
    }
    memcpy(tuning->queries + count * bytes, signature, bytes);
    if (weights != NULL) memcpy(tuning->weights + count * bits, weights, bits);
    tuning->options.query_count++;
    return NIGH_OK;
}

static nigh_status read_signatures(struct tuning_job *tuning, struct cli_peek *peek) {
    const struct cli_source_options source_options = {.format = tuning->values->format,
                                                      .width_bits = tuning->info.width_bits,
                                                      .peek = peek,
                                                      .collection = tuning->collection};
    struct cli_job *job = tuning->job;
    struct cli_source source;
    nigh_document document = {.size = sizeof document};
    nigh_status status = cli_source_open(job, tuning->values->queries, &source_options, &source);
    if (status != NIGH_OK) return status;
    while (status == NIGH_OK && tuning->options.query_count < tuning->options.sample) {
        status = nigh_signature_reader_next(source.reader, &document, &job->error);
        if (status == NIGH_OK) status = add_query(tuning, document.signature, NULL);
    }
    cli_source_close(&source);
    return status == NIGH_END ? NIGH_OK : status;
}

static bool any_weight(const uint8_t *weights, uint32_t width_bits) {
    bool any = false;
    for (uint32_t i = 0; i < width_bits && !any; i++) any = weights[i] != 0;
    return any;
}

/* Topsig texts are ranked by the weights of their bits, as 'nigh search' does it. */
static nigh_status add_signed(struct tuning_job *tuning, nigh_signing *signing) {
    nigh_signed row = {.size = sizeof row};
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    nigh_status status =
        nigh_signer_options_parse(nigh_collection_scheme(tuning->collection), &held, &tuning->job->error);
    const bool unsure = held.scheme == NIGH_SCHEME_MINHASH; /* its weights say nothing */
    const bool ranked = held.scheme == NIGH_SCHEME_TOPSIG;
    if (ranked) tuning->options.rank = NIGH_RANK_WEIGHTED;
    while (status == NIGH_OK && tuning->options.query_count < tuning->options.sample) {
        status = nigh_signing_next(signing, &row, &tuning->job->error);
        if (status != NIGH_OK) break;
        if (ranked && !any_weight(row.document->weights, tuning->info.width_bits))
            tuning->silent++;
        else
            status = add_query(tuning, row.document->signature, unsure ? NULL : row.document->weights);
    }
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status read_documents(struct tuning_job *tuning, const struct cli_inputs *inputs) {
    struct cli_job *job = tuning->job;
    nigh_signer *signer = NULL;
    nigh_text_reader *reader = NULL;
    nigh_signing *signing = NULL;
    struct cli_problems problems;
    nigh_signing_options how;
    nigh_signing_options_init(&how);
    how.threads = job->threads;
    how.keep_weights = 1;
    how.whole = 1;
    how.limit = tuning->values->reading.limit.value;
    struct cli_reading reading = tuning->values->reading;
    reading.scheme = nigh_collection_scheme(tuning->collection);
    nigh_status status = nigh_collection_signer(tuning->collection, &signer, &job->error);
    if (status == NIGH_OK)
        status = cli_reader_open(job, inputs, &reading, cli_text_format(tuning->values->format), &problems, &reader);
    if (status == NIGH_OK) status = nigh_signing_open(signer, reader, &how, &signing, &job->error);
    if (status == NIGH_OK) status = add_signed(tuning, signing);
    cli_inputs_stop(inputs);
    nigh_signing_close(signing);
    nigh_text_reader_close(reader);
    nigh_signer_free(signer);
    return status;
}

/* At most --sample of the file that --queries names. */
static nigh_status read_queries(struct tuning_job *tuning) {
    struct cli_job *job = tuning->job;
    const char *paths[] = {tuning->values->queries};
    struct cli_inputs inputs = {0};
    bool one_kind = true;
    nigh_status status = NIGH_EINVAL;
    if (cli_inputs_open_paths(job, paths, 1, &inputs))
        status = cli_inputs_are_documents(job, &inputs, tuning->values->format, &one_kind)
                     ? read_documents(tuning, &inputs)
                     : read_signatures(tuning, inputs.peeks[0]);
    cli_inputs_release(&inputs);
    if (status == NIGH_OK && tuning->silent > 0)
        cli_note(job, "%s not taken: the words cancel each other out in every bit",
                 cli_counted(tuning->silent, "text is", "texts are").text);
    static const uint8_t none[1];
    tuning->options.queries = tuning->options.query_count == 0 ? none : tuning->queries;
    tuning->options.weights = tuning->weights;
    return status;
}

/* ---------------------------------------------------------------------- measuring -- */

static nigh_status reopen(struct tuning_job *tuning) {
    nigh_collection_close(tuning->collection);
    tuning->collection = NULL;
    return cli_collection_open(tuning->job, tuning->job->operands[0], NULL, &tuning->collection, &tuning->info);
}

static nigh_status measure(struct tuning_job *tuning, nigh_tuning *out, nigh_tune_result *result) {
    struct cli_job *job = tuning->job;
    *out = (nigh_tuning){.size = sizeof(nigh_tuning)};
    *result = (nigh_tune_result){.size = sizeof(nigh_tune_result)};
    nigh_status status = nigh_tune(tuning->collection, &tuning->options, out, result, &job->error);
    cli_progress_clear(&job->progress);
    return status;
}

/* Whether the second is to be preferred. */
static bool is_better(const struct tuning_job *tuning, const nigh_tuning *other, const nigh_tune_result *result) {
    const nigh_tune_options *asked = &tuning->options;
    const bool by_time = asked->recall <= 0 && asked->cdr <= 0 && asked->seconds > 0;
    if (result->met != tuning->result.met) return result->met != 0;
    if (result->met && !by_time) return other->median < tuning->tuning.median;
    if (asked->seconds > 0 && (other->median > asked->seconds || tuning->tuning.median > asked->seconds))
        return other->median < tuning->tuning.median;
    if (asked->recall <= 0 && asked->cdr > 0) return other->cdr > tuning->tuning.cdr;
    return other->recall > tuning->tuning.recall;
}

static nigh_status build_lists(struct tuning_job *tuning, uint32_t slice_width) {
    struct cli_job *job = tuning->job;
    nigh_lists_options lists;
    nigh_lists_options_init(&lists);
    lists.slice_width = slice_width;
    lists.min_rows = 1;
    lists.threads = job->threads;
    lists.progress = &job->progress.report;
    nigh_status status = nigh_lists_build(job->context, job->operands[0], &lists, NULL, &job->error);
    cli_progress_clear(&job->progress);
    tuning->built = tuning->built || status == NIGH_OK;
    return status == NIGH_OK ? reopen(tuning) : status;
}

/* The widest lists that there are; 0: none. */
static uint32_t slice_width(const nigh_collection *collection) {
    uint32_t widest = 0;
    nigh_segment_info info = {.size = sizeof info};
    for (uint32_t s = 0; nigh_collection_segment(collection, s, &info, NULL) == NIGH_OK; s++)
        if (info.slice_width > widest) widest = info.slice_width;
    return widest;
}

/*
 * Lists of one width after the other, also of that which there was, each against the best so far; in the end those of
 * the best are there.
 */
static nigh_status try_widths(struct tuning_job *tuning, uint32_t default_width, uint32_t before) {
    const bool other_before =
        before != default_width && before != default_width - WIDER && before != default_width + WIDER;
    const uint32_t widths[] = {default_width - WIDER, default_width + WIDER, other_before ? before : 0};
    uint32_t best = default_width;
    uint32_t built = default_width;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < sizeof widths / sizeof widths[0]; i++) {
        nigh_tuning other;
        nigh_tune_result result;
        if (nigh_slices_count(tuning->info.width_bits, widths[i]) == 0) continue;
        status = build_lists(tuning, widths[i]);
        if (status != NIGH_OK) break;
        built = widths[i];
        tuning->options.methods = 1u << NIGH_SEARCH_SLICES;
        status = measure(tuning, &other, &result);
        if (status == NIGH_ENOTFOUND)
            status = NIGH_OK; /* nothing of this width is within the limits */
        else if (status == NIGH_OK && is_better(tuning, &other, &result)) {
            tuning->tuning = other;
            tuning->result = result;
            best = widths[i];
        }
    }
    return status == NIGH_OK && built != best ? build_lists(tuning, best) : status;
}

/* What texts that are ranked by weights choose from. */
static nigh_status build_columns(struct tuning_job *tuning) {
    struct cli_job *job = tuning->job;
    nigh_columns_options columns;
    nigh_columns_options_init(&columns);
    columns.min_rows = 1;
    columns.keep = 1;
    columns.threads = job->threads;
    columns.progress = &job->progress.report;
    nigh_status status = nigh_columns_build(job->context, job->operands[0], &columns, NULL, &job->error);
    cli_progress_clear(&job->progress);
    tuning->built = status == NIGH_OK;
    if (status == NIGH_OK) status = reopen(tuning);
    return status == NIGH_OK ? measure(tuning, &tuning->tuning, &tuning->result) : status;
}

static nigh_status build_and_measure(struct tuning_job *tuning) {
    struct cli_job *job = tuning->job;
    const uint64_t queries =
        tuning->options.queries != NULL ? tuning->options.query_count : tuning->info.documents - tuning->info.deleted;
    if (queries < MIN_QUERIES) return measure(tuning, &tuning->tuning, &tuning->result); /* which says that */
    if (tuning->options.rank == NIGH_RANK_WEIGHTED) return build_columns(tuning);
    const uint32_t before = slice_width(tuning->collection);
    nigh_graph_options graph;
    nigh_graph_options_init(&graph);
    const uint32_t default_width = nigh_slices_default_width(tuning->info.signatures, tuning->info.width_bits);
    graph.keep = 1;
    graph.min_rows = 1;
    graph.threads = job->threads;
    graph.progress = &job->progress.report;
    nigh_status status = build_lists(tuning, default_width);
    if (status == NIGH_OK) status = nigh_graph_build(job->context, job->operands[0], &graph, NULL, &job->error);
    cli_progress_clear(&job->progress);
    if (status == NIGH_OK) status = reopen(tuning);
    if (status == NIGH_OK) status = measure(tuning, &tuning->tuning, &tuning->result);
    if (status == NIGH_OK && tuning->info.sliced_segments > 0) status = try_widths(tuning, default_width, before);
    return status;
}

/* ----------------------------------------------------------------------- the answer -- */

static void print_table(const struct tuning_job *tuning) {
    const nigh_tuning *told = &tuning->tuning;
    struct cli_sink *out = tuning->job->out;
    if (tuning->values->all) cli_sink_text(out, "\n");
    cli_sink_escaped(out, tuning->job->operands[0], strlen(tuning->job->operands[0]));
    cli_sink_format(out, "\n  %-13s %s\n", tuning->result.met ? "chosen" : "best", cli_tuning_words(told).text);
    cli_sink_format(out, "  recall        %.4f, from %.4f to %.4f\n", told->recall, told->recall_low,
                    told->recall_high);
    cli_sink_format(out, "  CDR           %.4f, from %.4f to %.4f\n", told->cdr, told->cdr_low, told->cdr_high);
    cli_sink_format(out, "  a query       %s; 99%% within %s\n", cli_time(told->median).text,
                    cli_time(told->percentile_99).text);
    cli_sink_format(out, "  memory        %s\n", cli_size((double)told->memory_bytes).text);
    cli_sink_format(out, "  measured      on %s that had no part in the choice; k = %u\n",
                    cli_counted(told->queries, "query", "queries").text, told->k);
}

static void print_json(const struct tuning_job *tuning, bool stored) {
    struct cli_sink *out = tuning->job->out;
    cli_sink_text(out, "{\"collection\":");
    cli_sink_json(out, tuning->job->operands[0], strlen(tuning->job->operands[0]));
    cli_sink_format(out, ",\"met\":%s,\"stored\":%s,", tuning->result.met ? "true" : "false",
                    stored ? "true" : "false");
    cli_tuning_json(out, &tuning->tuning);
    cli_sink_text(out, "}\n");
}

/* Why nothing is stored. */
static int say_unmet(struct tuning_job *tuning) {
    struct cli_job *job = tuning->job;
    if (!tuning->result.met)
        cli_error(job, "the targets cannot be met; the best is a recall of %.4f and a CDR of %.4f at %s a query",
                  tuning->tuning.recall, tuning->tuning.cdr, cli_time(tuning->tuning.median).text);
    else
        cli_error(job, "to tell it within +-%s takes a sample of %s", tuning->values->within,
                  cli_counted(tuning->result.needed, "query", "queries").text);
    return CLI_NOTHING;
}

/* Stores what is good enough, and shows what there is either way. */
static int finish(struct tuning_job *tuning) {
    struct cli_job *job = tuning->job;
    const bool good = tuning->result.met && tuning->result.needed == 0;
    const bool store = good && !tuning->values->dry_run;
    nigh_status status = NIGH_OK;
    if (store) status = nigh_tuning_store(job->context, job->operands[0], &tuning->tuning, &job->error);
    if (tuning->values->output == OUTPUT_JSONL)
        print_json(tuning, store && status == NIGH_OK);
    else
        print_table(tuning);
    const char *report = tuning->values->report;
    if (status == NIGH_OK && report != NULL &&
        !cli_tune_page_write(job, report, &tuning->page, &tuning->tuning, tuning->result.met, &tuning->options))
        status = job->error.status;
    if (status != NIGH_OK) (void)cli_sink_flush(job->out);
    if (status != NIGH_OK || !cli_sink_flush(job->out)) return cli_fail(job);
    if (!good) return say_unmet(tuning);
    static const char *const kinds[] = {
        "queries of any kind", "queries that are signatures", "queries that are documents or texts",
        "queries that are compared in some of their bits", "documents and texts, which are ranked by weights"};
    if (store)
        cli_note(job, "stored: 'nigh search' uses it for %s", kinds[tuning->tuning.asked]);
    else
        cli_note(job, "not stored; it would be for %s", kinds[tuning->tuning.asked]);
    return CLI_DONE;
}

/* Nothing was chosen, and yet the collection is not what it was. */
static void say_built(const struct tuning_job *tuning) {
    if (tuning->built && tuning->options.rank == NIGH_RANK_WEIGHTED)
        cli_note(tuning->job, "columns that --build made stay; 'nigh index' removes them: --no-columns");
    else if (tuning->built)
        cli_note(tuning->job, "lists and graph that --build made stay; 'nigh index' removes them: --lists none "
                              "--no-graph");
}

static int tune(struct tuning_job *tuning) {
    struct cli_job *job = tuning->job;
    const double started = cli_seconds();
    if (reopen(tuning) != NIGH_OK) return cli_fail(job);
    nigh_status status = tuning->values->queries == NULL ? NIGH_OK : read_queries(tuning);
    if (status == NIGH_OK)
        status = tuning->values->build ? build_and_measure(tuning) : measure(tuning, &tuning->tuning, &tuning->result);
    if (status == NIGH_ENOTFOUND && tuning->tuning.k == 0 && tuning->collection != NULL) {
        (void)cli_fail(job);
        return CLI_NOTHING; /* nothing is within the limits */
    }
    if (status != NIGH_OK) return cli_fail(job);
    const int code = finish(tuning);
    job->stats.work_seconds = cli_seconds() - started;
    job->stats.documents = tuning->info.documents;
    job->stats.queries = tuning->tuning.queries;
    job->stats.complete = code != CLI_ERROR;
    cli_stats_count(&job->stats, "settings", tuning->result.settings);
    return code;
}

static int forget(struct cli_job *job) {
    if (nigh_tuning_remove(job->context, job->operands[0], &job->error) != NIGH_OK) return cli_fail(job);
    cli_note(job, "'nigh search' uses its defaults");
    job->stats.complete = true;
    return CLI_DONE;
}

static int run(struct cli_job *job) {
    const struct tune_values *values = job->values;
    struct tuning_job tuning = {.job = job, .values = values};
    nigh_tune_options_init(&tuning.options);
    if (job->operand_count != 1) return cli_usage(job->command, "give one COLLECTION, not %zu", job->operand_count);
    if (values->build && values->dry_run) return cli_usage(job->command, "--build stores what it makes; not --dry-run");
    if (values->remove && (values->build || values->dry_run || values->report != NULL))
        return cli_usage(job->command, "--remove goes with nothing else");
    if (values->remove) return forget(job);
    const struct cli_place page = {"--report", values->report};
    const struct cli_place asked = {"--queries", values->queries};
    if (!cli_places_differ(job, &page, 1) || !cli_places_spare_inputs(job, &page, 1, 0) ||
        !cli_places_spare_files(job, &page, 1, &asked, 1) || !cli_places_outside(job, &page, 1, 0) ||
        !cli_places_writable(job, &page, 1))
        return CLI_ERROR;
    if (!set_options(&tuning)) return CLI_ERROR;
    const int code = tune(&tuning);
    if (code != CLI_DONE) say_built(&tuning);
    nigh_collection_close(tuning.collection);
    cli_tune_page_release(&tuning.page);
    free(tuning.queries);
    free(tuning.weights);
    return code;
}

const struct cli_command cmd_tune = {
    .name = "tune",
    .summary = "find the fastest way to search that is good enough",
    .usage = usage,
    .description = description,
    .details = details,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct tune_values),
    .run = run,
};
