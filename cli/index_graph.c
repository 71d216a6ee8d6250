/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index, graphs. Like slice lists, they are made once the documents are committed, or
 * later by the same command without an INPUT.
 */
#include <stdio.h>

#include "indexing.h"
#include "size.h"

/* A collection that cannot be opened says so when the graph is made. */
static bool asks_in_some_bits(struct cli_job *job, const char *path) {
    nigh_collection *collection = NULL;
    if (nigh_collection_open(job->context, path, NULL, &collection, NULL) != NIGH_OK) return false;
    const bool some = cli_asks_in_some_bits(nigh_collection_scheme(collection));
    nigh_collection_close(collection);
    return some;
}

static nigh_status make(struct cli_job *job, const char *path, nigh_graph_result *result) {
    nigh_graph_options options;
    nigh_graph_options_init(&options);
    options.min_rows = 1;
    options.masks = asks_in_some_bits(job, path);
    options.threads = job->threads;
    options.progress = &job->progress.report;
    const nigh_status status = nigh_graph_build(job->context, path, &options, result, &job->error);
    cli_progress_clear(&job->progress);
    return status;
}

static int add_graph(struct cli_job *job, const char *path, bool added) {
    const double started = cli_seconds();
    nigh_graph_result result = {.size = sizeof result};
    if (make(job, path, &result) != NIGH_OK) {
        const int code = cli_fail(job);
        if (added) cli_error(job, "not all graphs were made; 'nigh index %s --graph' makes them", path);
        return code;
    }
    cli_stats_count(&job->stats, "graph_bytes", result.bytes);
    cli_stats_count(&job->stats, "graph_edges", result.edges);
    if (result.built > 0)
        cli_note(job, "graph%s: of %s, %s, recall@10 %.3f; %.2f s", result.masked > 0 ? " of masks" : "",
                 cli_counted(result.built, "segment", "segments").text, cli_size((double)result.bytes).text,
                 result.recall, cli_seconds() - started);
    else if (result.kept > 0)
        cli_note(job, "graph already exists: %s", cli_size((double)result.bytes).text);
    else
        cli_note(job, "graph: none, there are no signatures");
    return CLI_DONE;
}

static int remove_graph(struct cli_job *job, const char *path) {
    if (nigh_graph_remove(job->context, path, &job->error) != NIGH_OK) return cli_fail(job);
    cli_stats_count(&job->stats, "graph_bytes", 0);
    cli_note(job, "graph: removed");
    return CLI_DONE;
}

int cli_index_graph(struct cli_job *job, const char *path, bool added) {
    const struct index_values *values = job->values;
    if (values->graph) return add_graph(job, path, added);
    return values->no_graph ? remove_graph(job, path) : CLI_DONE;
}
