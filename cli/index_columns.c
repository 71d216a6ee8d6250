/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index, columns. Like slice lists, they are made once the documents are committed, or
 * later by the same command without an INPUT. Texts as queries compare only some of the bits,
 * which is what columns are good at; so by default a large collection of such texts gets
 * them.
 */
#include <stdio.h>

#include "indexing.h"
#include "size.h"

/* Below this many signatures the scan answers a text in less than a millisecond. */
#define AUTO_ROWS 32768u

static nigh_status make(struct cli_job *job, const char *path, bool asked, nigh_columns_result *result) {
    nigh_columns_options options;
    nigh_columns_options_init(&options);
    options.min_rows = asked ? 1 : AUTO_ROWS;
    options.keep = !asked;
    options.threads = job->threads;
    options.progress = &job->progress.report;
    const nigh_status status = nigh_columns_build(job->context, path, &options, result, &job->error);
    cli_progress_clear(&job->progress);
    return status;
}

static int add_columns(struct cli_job *job, const char *path, bool asked, bool added) {
    const double started = cli_seconds();
    nigh_columns_result result = {.size = sizeof result};
    if (make(job, path, asked, &result) != NIGH_OK) {
        const int code = cli_fail(job);
        if (added) cli_error(job, "not all columns were made; 'nigh index %s --columns' makes them", path);
        return code;
    }
    cli_stats_count(&job->stats, "column_bytes", result.bytes);
    if (result.built > 0)
        cli_note(job, "columns: of %s, %s; %.2f s", cli_counted(result.built, "segment", "segments").text,
                 cli_size((double)result.bytes).text, cli_seconds() - started);
    else if (asked && result.kept > 0)
        cli_note(job, "columns already exist: %s", cli_size((double)result.bytes).text);
    else if (asked)
        cli_note(job, "columns: none, there are no signatures");
    return CLI_DONE;
}

static int remove_columns(struct cli_job *job, const char *path) {
    if (nigh_columns_remove(job->context, path, &job->error) != NIGH_OK) return cli_fail(job);
    cli_stats_count(&job->stats, "column_bytes", 0);
    cli_note(job, "columns: removed");
    return CLI_DONE;
}

int cli_index_columns(struct cli_job *job, const char *path, bool added) {
    const struct index_values *values = job->values;
    if (values->columns) return add_columns(job, path, true, added);
    return values->no_columns ? remove_columns(job, path) : CLI_DONE;
}

bool cli_asks_in_some_bits(const char *scheme) {
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    return nigh_signer_options_parse(scheme, &held, NULL) == NIGH_OK && held.scheme == NIGH_SCHEME_TOPSIG;
}

int cli_index_columns_auto(const struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    const struct index_values *values = indexer->values;
    if (values->columns || values->no_columns) return cli_index_columns(job, indexer->path, true);
    if (!indexer->documents || indexer->new_rows < AUTO_ROWS) return CLI_DONE;
    nigh_collection *collection = NULL;
    if (nigh_collection_open(job->context, indexer->path, NULL, &collection, &job->error) != NIGH_OK)
        return cli_fail(job);
    const bool wanted = cli_asks_in_some_bits(nigh_collection_scheme(collection));
    nigh_collection_close(collection);
    return wanted ? add_columns(job, indexer->path, false, true) : CLI_DONE;
}
