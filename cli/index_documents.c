/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index, documents.  A new collection is signed as the options say, with the
 * word counts of a first pass where the weights need them; one that is there
 * already says itself how.
 */
#include <string.h>

#include "indexing.h"
#include "signals.h"

#define REPEATS_SHOWN 3

/* What it takes to sign: closed together. */
struct signing_tools {
    nigh_signer *signer;
    nigh_text_reader *reader;
    nigh_signing *signing;
    struct cli_problems problems;
};

static void close_tools(struct signing_tools *tools) {
    nigh_signing_close(tools->signing);
    nigh_text_reader_close(tools->reader);
    nigh_signer_free(tools->signer);
}

/* The collection's own vocabulary, or one for a new collection. */
static nigh_status get_vocabulary(struct indexer *indexer, const nigh_signer_options *options, nigh_vocabulary **out) {
    const struct index_values *values = indexer->values;
    struct cli_job *job = indexer->job;
    *out = NULL;
    if (indexer->before == NULL)
        return cli_vocabulary_get(job, &indexer->inputs, &values->reading, cli_text_format(values->format),
                                  &values->signing, options, out);
    if (!nigh_signer_needs_vocabulary(options)) return NIGH_OK;
    if (values->signing.vocabulary != NULL)
        return nigh_vocabulary_load(job->context, values->signing.vocabulary, out, &job->error);
    return nigh_collection_vocabulary(indexer->before, out, &job->error);
}

static nigh_status open_tools(struct indexer *indexer, nigh_signer_options *options, struct signing_tools *tools) {
    const struct index_values *values = indexer->values;
    struct cli_job *job = indexer->job;
    nigh_signing_options signing_options = NIGH_SIGNING_OPTIONS_INIT;
    nigh_writer_options writer_options = NIGH_WRITER_OPTIONS_INIT;
    signing_options.threads = job->threads;
    signing_options.keep_weights = values->keep_weights;
    signing_options.snippet = (uint32_t)values->snippet.value;
    signing_options.limit = values->reading.limit.value;
    nigh_status status = get_vocabulary(indexer, options, &indexer->vocabulary);
    options->vocabulary = indexer->vocabulary;
    if (status == NIGH_OK) status = nigh_signer_new(job->context, options, &tools->signer, &job->error);
    if (status != NIGH_OK) return status;
    writer_options.width_bits = nigh_signer_width(tools->signer);
    writer_options.scheme = nigh_signer_scheme(tools->signer);
    writer_options.vocabulary = indexer->vocabulary;
    writer_options.progress = &job->progress.report;
    status = nigh_writer_open(job->context, indexer->path, &writer_options, &indexer->writer, &job->error);
    if (status == NIGH_OK)
        status = cli_reader_open(job, &indexer->inputs, &values->reading, cli_text_format(values->format),
                                 &tools->problems, &tools->reader);
    if (status == NIGH_OK)
        status = nigh_signing_open(tools->signer, tools->reader, &signing_options, &tools->signing, &job->error);
    return status;
}

/* Crawls hold pages twice; the first of an id stays.  False where that is to be the end. */
static bool bear_repeat(struct indexer *indexer, const nigh_signed *row) {
    struct cli_job *job = indexer->job;
    int length = row->document.id_length < 200 ? (int)row->document.id_length : 200;
    indexer->repeated++;
    if (indexer->values->reading.strict) {
        cli_error(job, "'%s': the id '%.*s' is there already; nothing was added", row->source, length,
                  row->document.id);
        return false;
    }
    if (indexer->repeated <= REPEATS_SHOWN && !job->common->quiet)
        cli_error(job, "skipped: '%s': the id '%.*s' is there already%s", row->source, length, row->document.id,
                  indexer->repeated == REPEATS_SHOWN ? "; more such are counted, not shown" : "");
    return true;
}

static int add_documents(struct indexer *indexer, struct signing_tools *tools) {
    struct cli_job *job = indexer->job;
    nigh_signed row;
    cli_progress_begin(&job->progress, "signing", NULL);
    for (uint64_t seen = 1;; seen++) {
        nigh_status status = nigh_signing_next(tools->signing, &row, &job->error);
        if (status == NIGH_END) return CLI_DONE;
        if (status == NIGH_OK) status = nigh_writer_add(indexer->writer, &row.document, &job->error);
        if (status == NIGH_EEXISTS) {
            if (!bear_repeat(indexer, &row)) return CLI_ERROR;
        } else if (status != NIGH_OK) {
            return cli_fail(job);
        } else {
            indexer->added++;
        }
        if (seen % 64 != 0) continue;
        nigh_signing_describe(tools->signing, &indexer->info);
        cli_progress_update(&job->progress, indexer->info.reader.bytes_read, indexer->info.reader.bytes_total);
        if (cli_interrupted() != 0) return cli_fail(job);
    }
}

int cli_index_documents(struct indexer *indexer) {
    const struct index_values *values = indexer->values;
    struct cli_job *job = indexer->job;
    struct signing_tools tools = {0};
    nigh_signer_options options;
    const char *scheme = indexer->before == NULL ? NULL : nigh_collection_scheme(indexer->before);
    indexer->info = (nigh_signing_info)NIGH_SIGNING_INFO_INIT;
    if (values->ids != NULL) return cli_usage(job->command, "--ids is for signatures; documents have ids of their own");
    int code = cli_signer_options(job, &values->signing, scheme, &options);
    if (code != CLI_DONE) return code;
    code = open_tools(indexer, &options, &tools) == NIGH_OK ? add_documents(indexer, &tools) : cli_fail(job);
    if (tools.signing != NULL) nigh_signing_describe(tools.signing, &indexer->info);
    close_tools(&tools);
    if (code == CLI_DONE && indexer->added == 0 && indexer->before == NULL) {
        cli_error(job, "no document to index was found%s; '%s' was not made", cli_skipped(&indexer->info).text,
                  indexer->path);
        code = CLI_NOTHING;
    }
    return code;
}
