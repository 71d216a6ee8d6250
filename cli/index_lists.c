/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index, slice lists. They are made once the documents are committed, from the
 * collection as it is then. Whatever happens meanwhile, the documents are safe, and the
 * same command without an INPUT makes the lists later.
 */
#include <stdio.h>

#include "indexing.h"
#include "size.h"

/* Below this many signatures a scan is about as fast, and below this width slices tell little. */
#define AUTO_ROWS 65536u
#define AUTO_WIDTH_BITS 128u

const char *const cli_list_names[] = {"auto", "slices", "tables", "sorted", "none", NULL};

/* ------------------------------------------------------------------- what there is -- */

/* Lists of the collection as it is now. */
struct lists {
    nigh_collection_info info;
    uint32_t slices; /* 0: segments differ */
    uint32_t slice_width;
};

static nigh_status look(struct cli_job *job, const char *path, struct lists *out) {
    nigh_collection *collection = NULL;
    *out = (struct lists){.info = {.size = sizeof(nigh_collection_info)}};
    nigh_status status = nigh_collection_open(job->context, path, NULL, &collection, &job->error);
    if (status != NIGH_OK) return status;
    nigh_collection_describe(collection, &out->info);
    bool alike = true;
    for (uint32_t i = 0; i < out->info.segments && status == NIGH_OK; i++) {
        nigh_segment_info segment = {.size = sizeof segment};
        status = nigh_collection_segment(collection, i, &segment, &job->error);
        if (segment.slices == 0) continue;
        if (out->slices != 0 && out->slices != segment.slices) alike = false;
        out->slices = segment.slices;
        out->slice_width = segment.slice_width;
    }
    if (!alike) out->slices = 0;
    nigh_collection_close(collection);
    return status;
}

/* "64 slices of 16 bits", "52 slices of 20 and 19 bits", "of 3 segments". */
static void format_lists(const struct lists *lists, char *out, size_t capacity) {
    const uint32_t width = lists->slice_width;
    if (lists->slices == 0)
        (void)snprintf(out, capacity, "of %u segments", lists->info.sliced_segments);
    else if (lists->slices * width == lists->info.width_bits)
        (void)snprintf(out, capacity, "%u slices of %u bits", lists->slices, width);
    else
        (void)snprintf(out, capacity, "%u slices of %u and %u bits", lists->slices, width, width - 1);
}

static void tell(struct cli_job *job, const struct lists *lists, bool built) {
    char what[80];
    char seconds[40] = "";
    if (lists->info.sliced_segments == 0) {
        cli_note(job, "slice lists: none, there are no signatures");
        return;
    }
    format_lists(lists, what, sizeof what);
    if (built) (void)snprintf(seconds, sizeof seconds, "; %.2f s", job->stats.also_seconds);
    cli_note(job, "slice lists%s: %s, %s%s", built ? "" : " already exist", what,
             cli_size((double)lists->info.list_bytes).text, seconds);
}

/* --------------------------------------------------------------------------- making -- */

/* Counted also where there are none, so that whoever reads the statistics finds the same fields. */
static nigh_status count_lists(struct cli_job *job, const char *path, struct lists *lists) {
    nigh_status status = look(job, path, lists);
    if (status == NIGH_OK) cli_stats_count(&job->stats, "list_bytes", lists->info.list_bytes);
    return status;
}

static nigh_status make(struct cli_job *job, const char *path, nigh_lists_options *options, nigh_lists_result *result) {
    const double started = cli_seconds();
    options->threads = job->threads;
    options->progress = &job->progress.report;
    nigh_status status = nigh_lists_build(job->context, path, options, result, &job->error);
    cli_progress_clear(&job->progress);
    job->stats.also_seconds = cli_seconds() - started;
    return status;
}

static nigh_lists_options options_of(const struct index_values *values) {
    nigh_lists_options options;
    nigh_lists_options_init(&options);
    options.min_rows = values->lists == CLI_LISTS_AUTO ? AUTO_ROWS : 1;
    options.keep = values->lists == CLI_LISTS_AUTO;
    options.slice_width = (uint32_t)values->slice_width.value;
    return options;
}

int cli_index_check_slices(const struct indexer *indexer) {
    const struct cli_number *width = &indexer->values->slice_width;
    if (!width->given || width->value <= indexer->width_bits) return CLI_DONE;
    cli_error(indexer->job, "slices of %llu bits cannot be cut from signatures of %u; nothing was added",
              (unsigned long long)width->value, indexer->width_bits);
    return CLI_ERROR;
}

static int refuse(struct cli_job *job, const char *path) {
    int code = cli_fail(job);
    cli_error(job, "not all slice lists were made; 'nigh index %s --lists slices' makes them", path);
    return code;
}

int cli_index_lists(const struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    const struct index_values *values = indexer->values;
    nigh_lists_options options = options_of(values);
    nigh_lists_result result = {.size = sizeof result};
    struct lists lists;
    bool wanted = values->lists == CLI_LISTS_SLICES;
    if (values->lists == CLI_LISTS_AUTO)
        wanted = indexer->new_rows >= AUTO_ROWS && indexer->width_bits >= AUTO_WIDTH_BITS;
    job->stats.also_name = "list_seconds";
    if (wanted && make(job, indexer->path, &options, &result) != NIGH_OK) return refuse(job, indexer->path);
    if (count_lists(job, indexer->path, &lists) != NIGH_OK) return cli_fail(job);
    if (wanted) tell(job, &lists, result.built > 0);
    return CLI_DONE;
}

/* ------------------------------------------------------------------ without an INPUT -- */

static int remove_lists(struct cli_job *job, const char *path) {
    struct lists lists;
    if (look(job, path, &lists) != NIGH_OK) return cli_fail(job);
    const uint64_t bytes = lists.info.list_bytes;
    const bool some = lists.info.sliced_segments > 0 || lists.info.damaged_lists > 0;
    if (nigh_lists_remove(job->context, path, &job->error) != NIGH_OK) return cli_fail(job);
    if (count_lists(job, path, &lists) != NIGH_OK) return cli_fail(job);
    cli_note(job, some ? "slice lists: removed, %s" : "slice lists: there were none", cli_size((double)bytes).text);
    return CLI_DONE;
}

static int add_lists(struct cli_job *job, const char *path) {
    nigh_lists_options options = options_of(job->values);
    nigh_lists_result result = {.size = sizeof result};
    struct lists lists;
    if (make(job, path, &options, &result) != NIGH_OK) return cli_fail(job);
    if (count_lists(job, path, &lists) != NIGH_OK) return cli_fail(job);
    tell(job, &lists, result.built > 0);
    return CLI_DONE;
}

int cli_index_lists_only(struct cli_job *job) {
    const struct index_values *values = job->values;
    const char *path = job->operands[0];
    const double started = cli_seconds();
    if (values->lists != CLI_LISTS_SLICES && values->lists != CLI_LISTS_NONE)
        return CLI_DONE; /* index_tables.c has them */
    job->stats.also_name = "list_seconds";
    int code = values->lists == CLI_LISTS_NONE ? remove_lists(job, path) : add_lists(job, path);
    job->stats.complete = code == CLI_DONE;
    job->stats.work_seconds = cli_seconds() - started;
    return code;
}
