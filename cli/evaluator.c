/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the commands of `nigh eval` have in common: checking options, opening inputs and,
 * for those that need it, reading and signing them. Then each measures.
 */
#include "evaluator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"

const char *const cli_eval_output_names[] = {"table", "jsonl", "tsv", NULL};

/* ----------------------------------------------------------------- options -- */

/* An exit code. */
static int check_inputs(const struct evaluator *evaluator) {
    const struct cli_job *job = evaluator->job;
    const struct eval_values *values = evaluator->values;
    if (job->operand_count == 0 && values->data.count == 0)
        return cli_usage(job->command, "no INPUT given; '-' is standard input");
    return cli_reading_fits(job, &values->reading) && cli_source_paths_fit(job, 0) ? CLI_DONE : CLI_ERROR;
}

int cli_eval_check_places(const struct evaluator *evaluator, const struct cli_place *files, size_t count) {
    struct cli_job *job = evaluator->job;
    const struct eval_values *values = evaluator->values;
    const struct cli_place places[] = {
        {"--plot", values->plot}, {"--report", values->report}, {"--stats", job->common->stats}};
    const struct cli_place models[] = {{"--vocabulary", values->signing.vocabulary},
                                       {"--scheme", values->signing.model}};
    struct cli_job data = *job; /* what --data names is read as the operands are */
    memcpy(&data.operands, &values->data.items, sizeof data.operands); /* they are not written to */
    data.operand_count = values->data.count;
    const bool fit = cli_places_differ(job, places, 2) && cli_places_spare_inputs(job, places, 2, 0) &&
                     cli_places_spare_files(job, places, 2, files, count) &&
                     cli_places_spare_files(job, places, 2, models, 2) && cli_places_outside(job, places, 2, 0) &&
                     cli_places_spare_inputs(&data, places, 3, 0) && cli_places_outside(&data, places, 3, 0) &&
                     cli_places_writable(job, places, 2);
    return fit ? CLI_DONE : CLI_ERROR;
}

/* ---------------------------------------------------------------- reading -- */

/* The operands, and what --data names. */
static bool open_documents(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    const struct cli_list *data = &evaluator->values->data;
    size_t count = job->operand_count;
    const char **paths = malloc((count + data->count) * sizeof *paths);
    if (paths == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return false;
    }
    for (size_t i = 0; i < count; i++) paths[i] = job->operands[i];
    for (size_t i = 0; i < data->count; i++) paths[count++] = data->items[i];
    const bool done = cli_inputs_open_paths(job, paths, count, &evaluator->inputs);
    free(paths);
    return done;
}

static nigh_status evaluate(struct evaluator *evaluator, const struct cli_inputs *inputs, uint64_t limit,
                            nigh_eval_corpus **out) {
    struct cli_job *job = evaluator->job;
    nigh_eval_corpus_options evaluation_options;
    nigh_eval_corpus_options_init(&evaluation_options);
    struct cli_problems problems;
    nigh_text_reader *reader = NULL;
    evaluation_options.threads = job->threads;
    evaluation_options.limit = limit;
    evaluation_options.memory_bytes = evaluator->values->memory.value;
    evaluation_options.keep_weights = evaluator->keep_weights;
    evaluation_options.progress = &job->progress.report;
    nigh_status status = cli_reader_open(job, inputs, &evaluator->values->reading,
                                         (nigh_text_format)evaluator->values->format, &problems, &reader);
    if (status == NIGH_OK)
        status = nigh_eval_corpus_new(evaluator->signer, reader, &evaluation_options, out, &job->error);
    nigh_text_reader_close(reader);
    cli_progress_clear(&job->progress);
    return status;
}

static nigh_status read_documents(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    nigh_signer_options *signer_options = &evaluator->signer_options;
    const struct eval_values *values = evaluator->values;
    nigh_status status = cli_model_get(job, values->signing.model, NULL, signer_options, &evaluator->model);
    if (status == NIGH_OK)
        status = cli_vocabulary_get(job, &evaluator->inputs, &values->reading, (nigh_text_format)values->format,
                                    &values->signing, signer_options, &evaluator->vocabulary);
    signer_options->vocabulary = evaluator->vocabulary;
    if (status == NIGH_OK) status = nigh_signer_new(job->context, signer_options, &evaluator->signer, &job->error);
    if (status == NIGH_OK)
        status = evaluate(evaluator, &evaluator->inputs, values->reading.limit.value, &evaluator->documents);
    if (status == NIGH_OK) nigh_eval_corpus_describe(evaluator->documents, &evaluator->info);
    return status;
}

bool cli_eval_read_file(struct evaluator *evaluator, const char *path, nigh_eval_corpus **out) {
    struct cli_inputs inputs;
    const bool done =
        cli_inputs_open_paths(evaluator->job, &path, 1, &inputs) && evaluate(evaluator, &inputs, 0, out) == NIGH_OK;
    cli_inputs_release(&inputs);
    return done;
}

/* ----------------------------------------------------------------- output -- */

void cli_eval_summarise(struct evaluator *evaluator) {
    struct cli_job *job = evaluator->job;
    cli_progress_clear(&job->progress);
    job->stats.work_seconds = cli_seconds() - evaluator->started;
    job->stats.complete = true;
    job->stats.documents = evaluator->info.signed_rows;
    cli_stats_rate(&job->stats, evaluator->info.signed_rows);
    cli_stats_signing(&job->stats, &evaluator->info);
    cli_note(job, "measured %s of %.1f MB of text; %.2f s (%s/s)%s",
             cli_counted(evaluator->info.signed_rows, "document", "documents").text,
             (double)evaluator->info.reader.bytes_text / 1e6, job->stats.work_seconds,
             cli_digits((uint64_t)job->stats.rate).text, cli_skipped(&evaluator->info).text);
}

void cli_eval_name_inputs(const struct evaluator *evaluator, char *name, size_t capacity) {
    const char *path = evaluator->inputs.paths[0];
    const char *slash = strrchr(path, '/');
    (void)snprintf(name, capacity, "%.40s%s", slash != NULL && slash[1] != '\0' ? slash + 1 : path,
                   evaluator->inputs.count > 1 ? " and others" : "");
}

int cli_eval_write_plot(struct evaluator *evaluator, const char *svg, size_t length) {
    struct cli_job *job = evaluator->job;
    const char *path = evaluator->values->plot;
    struct cli_sink *sink = malloc(sizeof *sink);
    if (sink == NULL) {
        cli_error(job, "out of memory");
        return CLI_ERROR;
    }
    int code = CLI_DONE;
    if (cli_sink_open(sink, path)) cli_sink_bytes(sink, svg, length);
    if (sink->error != 0 || !cli_sink_finish(sink)) {
        cli_set_system_error(job, sink->error, path, "write");
        if (sink->owned) cli_sink_abandon(sink);
        code = cli_fail(job);
    }
    free(sink);
    return code;
}

struct cli_sink *cli_eval_open_page(struct evaluator *evaluator, const char *what, const char *title) {
    struct cli_sink *page = NULL;
    return cli_page_open(evaluator->job, evaluator->values->report, what, title, &page) ? page : NULL;
}

int cli_eval_close_page(struct evaluator *evaluator, struct cli_sink *page) {
    return cli_page_close(evaluator->job, page, true) ? CLI_DONE : cli_fail(evaluator->job);
}

/* -------------------------------------------------------------------- run -- */

static int run_evaluator(struct evaluator *evaluator, const struct eval_kind *kind) {
    struct cli_job *job = evaluator->job;
    int code = kind->reads == EVAL_COLLECTION ? CLI_DONE : check_inputs(evaluator);
    if (code == CLI_DONE)
        code = cli_signer_options(job, &evaluator->values->signing, NULL, NULL, &evaluator->signer_options);
    if (code == CLI_DONE) code = kind->check(evaluator);
    if (code != CLI_DONE) return code;
    evaluator->keep_weights = kind->reads == EVAL_WEIGHTED;
    if (kind->reads != EVAL_COLLECTION && !open_documents(evaluator)) return cli_fail(job);
    if (kind->reads >= EVAL_SIGNED && read_documents(evaluator) != NIGH_OK) return cli_fail(job);
    return kind->measure(evaluator);
}

int cli_eval_run(struct cli_job *job, const struct eval_kind *kind) {
    struct evaluator evaluator = {
        .job = job, .values = job->values, .info = {.size = sizeof(nigh_signing_info)}, .started = cli_seconds()};
    const int code = run_evaluator(&evaluator, kind);
    nigh_eval_corpus_free(evaluator.documents);
    nigh_signer_free(evaluator.signer);
    nigh_vocabulary_free(evaluator.vocabulary);
    nigh_model_free(evaluator.model);
    cli_inputs_release(&evaluator.inputs);
    return code;
}
