/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index, files of signatures. The writer must know the width. An input tells it only
 * once it is open, and a hex file without lines never does. So the writer is opened with
 * the first input that knows the width.
 */
#include <string.h>

#include "indexing.h"
#include "signals.h"
#include "source.h"

static nigh_status open_writer(struct indexer *indexer) {
    nigh_writer_options writer_options;
    nigh_writer_options_init(&writer_options);
    struct cli_job *job = indexer->job;
    writer_options.width_bits = indexer->width_bits;
    writer_options.progress = &job->progress.report;
    writer_options.thresholds = indexer->thresholds;
    writer_options.merge = !indexer->values->no_merge;
    writer_options.replace = indexer->values->replace;
    return nigh_writer_open(job->context, indexer->path, &writer_options, &indexer->writer, &job->error);
}

/* Names the input and the row, which the writer cannot know. */
static int refuse_row(struct indexer *indexer, const struct cli_source *source, const nigh_document *document,
                      uint64_t row) {
    struct cli_job *job = indexer->job;
    if (job->error.status != NIGH_EEXISTS && job->error.status != NIGH_EMISMATCH && job->error.status != NIGH_EINVAL)
        return cli_fail(job);
    if (job->error.status == NIGH_EEXISTS && document->id != NULL)
        cli_error(job, "'%s', row %llu: the id '%s' already exists%s; nothing was added", source->name,
                  (unsigned long long)row, cli_shown(document->id, document->id_length).text,
                  job->error.reason == NIGH_REASON_OTHER_DOCUMENT ? ", with another signature" : "");
    else
        cli_error(job, "'%s', row %llu: %s; nothing was added", source->name, (unsigned long long)row, job->error.why);
    return CLI_ERROR;
}

static int add_rows(struct indexer *indexer, struct cli_source *source) {
    struct cli_job *job = indexer->job;
    uint64_t total = source->info.rows == UINT64_MAX ? 0 : source->info.rows;
    nigh_document document = {.size = sizeof document};
    for (uint64_t row = 1;; row++) {
        nigh_status status = nigh_signature_reader_next(source->reader, &document, &job->error);
        if (status == NIGH_END) return CLI_DONE;
        if (status != NIGH_OK) return cli_fail(job);
        if (nigh_writer_add(indexer->writer, &document, &job->error) != NIGH_OK)
            return refuse_row(indexer, source, &document, row);
        if (row % 1024 == 0) {
            cli_progress_update(&job->progress, row, total);
            if (cli_interrupted() != 0) return cli_fail(job);
        }
    }
}

static int add_input(struct indexer *indexer, size_t index) {
    struct cli_job *job = indexer->job;
    struct cli_source source;
    struct cli_source_options source_options = {.format = indexer->values->format,
                                                .width_bits = indexer->width_bits,
                                                .ids_path = indexer->values->ids,
                                                .peek = indexer->inputs.peeks[index],
                                                .thresholds = indexer->thresholds};
    nigh_status status = cli_source_open(job, indexer->inputs.paths[index], &source_options, &source);
    if (status != NIGH_OK) {
        int code = cli_fail(job);
        if (status == NIGH_EMISMATCH && !indexer->values->signing.bits.given && indexer->width_holder != NULL)
            cli_error(job, "'%s' holds signatures of %u bits", indexer->width_holder, indexer->width_bits);
        return code;
    }
    int code = CLI_DONE;
    if (indexer->width_bits == 0 && source.info.width_bits != 0) {
        indexer->width_bits = source.info.width_bits;
        indexer->width_holder = source.name;
    }
    if (indexer->writer == NULL && indexer->width_bits != 0 && open_writer(indexer) != NIGH_OK) code = cli_fail(job);
    cli_progress_begin(&job->progress, "reading", "documents");
    if (code == CLI_DONE && indexer->writer != NULL) code = add_rows(indexer, &source);
    cli_source_close(&source);
    return code;
}

int cli_index_signatures(struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    if (cli_reading_fits_signatures(job, &indexer->values->reading) != NIGH_OK) return cli_fail(job);
    if (indexer->values->keep_keys != NULL)
        return cli_usage(job->command, "--keep-keys is for documents; signatures have no keys");
    if (cli_index_thresholds(indexer) != CLI_DONE) return CLI_ERROR;
    for (size_t i = 0; i < indexer->inputs.count; i++) {
        int code = add_input(indexer, i);
        if (code != CLI_DONE) return code;
    }
    if (indexer->width_bits == 0)
        return cli_usage(job->command, "no input says how wide the signatures are; give --bits");
    if (indexer->writer == NULL && open_writer(indexer) != NIGH_OK) return cli_fail(job);
    if (cli_index_check_slices(indexer) != CLI_DONE) return CLI_ERROR;
    if (nigh_writer_commit(indexer->writer, &indexer->result.commit, &job->error) != NIGH_OK) return cli_fail(job);
    nigh_writer_close(indexer->writer); /* lists are made under a lock of their own */
    indexer->writer = NULL;
    return CLI_DONE;
}
