/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh terms index: makes a term signature file, or adds to it.  One that is there
 * says itself how it was made; what is asked for otherwise the library refuses before
 * a document is read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "amount.h"
#include "size.h"
#include "term_commands.h"

struct term_indexer {
    struct cli_job *job;
    const struct terms_values *values;
    const char *path;
    nigh_terms *before; /* NULL: it will be new */
    nigh_terms_info old;
    struct cli_inputs inputs;
    nigh_signer_options analysis;
    nigh_terms_options options;
};

static nigh_status look_before(struct term_indexer *indexer) {
    nigh_status status = cli_terms_open(indexer->job, indexer->path, &indexer->before, &indexer->old);
    return status == NIGH_ENOTFOUND ? NIGH_OK : status;
}

/* A number above 0 and up to `most`, or below it; `text` NULL leaves *out alone. */
static bool read_amount(const struct cli_job *job, const char *option, const char *text, double most, bool below,
                        double *out) {
    if (text == NULL) return true;
    char *end = NULL;
    const double value = strtod(text, &end);
    *out = value;
    if (end != text && *end == '\0' && value > 0 && (value < most || (value == most && !below))) return true;
    (void)cli_usage(job->command, "%s takes a number above 0 and %s %g, not '%s'", option, below ? "below" : "up to",
                    most, text);
    return false;
}

/* What is not asked for stays as it is there, or is the usual. */
static int make_analysis(struct term_indexer *indexer) {
    const struct cli_signing *signing = &indexer->values->signing;
    if (signing->language == NULL && signing->stemming == 0 && signing->stop_words == 0 && !signing->seed.given)
        return CLI_DONE;
    indexer->options.analysis = &indexer->analysis;
    const int code = cli_signer_options(indexer->job, signing, NULL, NULL, &indexer->analysis);
    indexer->analysis.features = NIGH_FEATURES_WORDS;
    return code;
}

/* The library takes 0 for "as it is there, or chosen". */
static int make_options(struct term_indexer *indexer) {
    struct cli_job *job = indexer->job;
    const struct terms_values *values = indexer->values;
    nigh_terms_options *options = &indexer->options;
    static const nigh_filter_goal goals[] = {NIGH_GOAL_FREQUENCY, NIGH_GOAL_UNIFORM, NIGH_GOAL_QUERIES};
    if (!read_amount(job, "--false-positives", values->false_positives, 1, true, &options->false_positives) ||
        !read_amount(job, "--bits-per-term", values->bits_per_term, 64, false, &options->bits_per_term) ||
        !cli_amount_bytes(job, "--memory", values->memory, &options->memory_bytes))
        return CLI_ERROR;
    options->kind = (nigh_filter_kind)values->method;
    options->block_terms = (uint32_t)values->block.value;
    options->hashes = (uint32_t)values->hashes.value;
    options->frequent_hashes = (uint32_t)values->frequent_hashes.value;
    options->theta = (uint32_t)values->theta.value;
    options->goal = goals[values->goal];
    options->query_log = values->query_log;
    options->limit = values->reading.limit.value;
    options->threads = job->threads;
    options->progress = &job->progress.report;
    return make_analysis(indexer);
}

static nigh_status index_inputs(struct term_indexer *indexer, nigh_terms_info *after) {
    struct cli_job *job = indexer->job;
    struct cli_problems problems;
    nigh_text_reader_options reading;
    nigh_stream stream = {0};
    if (!cli_inputs_open(job, 2, &indexer->inputs)) return NIGH_EIO;
    if (!cli_inputs_stream(job, &indexer->inputs, &stream)) return NIGH_EINVAL;
    cli_reader_options(job, &indexer->values->reading, (nigh_text_format)indexer->values->format, &problems, &reading);
    if (stream.read != NULL) reading.stream = &stream;
    const double started = cli_seconds();
    nigh_status status = nigh_terms_index(job->context, indexer->path, indexer->inputs.paths, indexer->inputs.count,
                                          &reading, &indexer->options, after, &job->error);
    job->stats.work_seconds = cli_seconds() - started;
    cli_progress_clear(&job->progress);
    cli_inputs_stop(&indexer->inputs);
    return status;
}

static void count_all(const struct term_indexer *indexer, const nigh_terms_info *after) {
    const nigh_text_reader_info *reader = &after->reader;
    const struct cli_counter counters[] = {
        {"file_documents", after->documents},
        {"file_blocks", after->blocks},
        {"file_bytes", after->bytes},
        {"row_bytes", after->row_bytes},
        {"dictionary_bytes", after->dictionary_bytes},
        {"terms", after->terms},
        {"postings", after->postings},
        {"groups", after->groups},
        {"filter_bits", after->filter_bits},
        {"hashes", after->hashes},
        {"files", reader->files},
        {"records", reader->records},
        {"missing_text", reader->missing},
        {"problems", reader->problems},
        {"bytes_read", reader->bytes_read},
        {"bytes_text", reader->bytes_text},
    };
    struct cli_stats *stats = &indexer->job->stats;
    cli_stats_close(stats, after->documents - indexer->old.documents, counters, sizeof counters / sizeof counters[0]);
    cli_stats_measure(stats, "bits_per_term", after->bits_per_term);
    cli_stats_measure(stats, "expected_error", after->expected_error);
    cli_stats_measure(stats, "fill", after->fill);
}

/* What was done in one line, and in a second what the file is. */
static void summarise(const struct term_indexer *indexer, const nigh_terms_info *after) {
    struct cli_job *job = indexer->job;
    const uint64_t added = after->documents - indexer->old.documents;
    nigh_signing_info skipped = {.size = sizeof skipped};
    skipped.reader = after->reader;
    count_all(indexer, after);
    if (indexer->before != NULL)
        cli_note(job, "added %s to '%s', which now has %s; %.2f s (%s/s)%s",
                 cli_counted(added, "document", "documents").text, indexer->path, cli_digits(after->documents).text,
                 job->stats.work_seconds, cli_digits((uint64_t)job->stats.rate).text, cli_skipped(&skipped).text);
    else
        cli_note(job, "made '%s' of %s; %.2f s (%s/s)%s", indexer->path,
                 cli_counted(added, "document", "documents").text, job->stats.work_seconds,
                 cli_digits((uint64_t)job->stats.rate).text, cli_skipped(&skipped).text);
    if (added == 0) return;
    char share[40] = "";
    if (after->bytes < after->reader.bytes_text && indexer->before == NULL)
        (void)snprintf(share, sizeof share, ", %.1f%% of the text",
                       100 * (double)after->bytes / (double)after->reader.bytes_text);
    cli_note(job, "%s, %.2f bits a term, expected error %s; %s%s", cli_filter_name(after->kind), after->bits_per_term,
             cli_error_share(after->expected_error).text, cli_size((double)after->bytes).text, share);
}

static int index_all(struct term_indexer *indexer) {
    struct cli_job *job = indexer->job;
    nigh_terms_info after = {.size = sizeof after};
    after.reader = (nigh_text_reader_info){.size = sizeof(nigh_text_reader_info)};
    if (look_before(indexer) != NIGH_OK) return cli_fail(job);
    const int code = make_options(indexer);
    if (code != CLI_DONE) return code;
    if (index_inputs(indexer, &after) != NIGH_OK) return cli_fail(job);
    summarise(indexer, &after);
    return CLI_DONE;
}

int cli_terms_index(struct cli_job *job) {
    struct term_indexer indexer = {.job = job, .values = job->values, .path = job->operands[1]};
    nigh_terms_options_init(&indexer.options);
    const int code = index_all(&indexer);
    nigh_terms_close(indexer.before);
    cli_inputs_release(&indexer.inputs);
    return code;
}
