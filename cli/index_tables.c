/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh index, tables of near-copies. Like slice lists, they are made once the documents are
 * committed, or later by the same command without an INPUT. Signatures of 64 to 128 bits are
 * mostly searched for near-copies, so by default a large collection of them gets permuted
 * tables, which miss nothing.
 */
#include <stdio.h>

#include "indexing.h"
#include "size.h"

/* Below this many signatures the scan answers a query of 64 bits in less than two microseconds. */
#define AUTO_ROWS 16384u
#define AUTO_LEAST_BITS 64u
#define AUTO_MOST_BITS 128u

static bool asked(const struct index_values *values) {
    return values->lists == CLI_LISTS_TABLES || values->lists == CLI_LISTS_SORTED;
}

int cli_index_check_tables(const struct cli_job *job) {
    const struct index_values *values = job->values;
    if (asked(values) && values->no_tables)
        return cli_usage(job->command, "--lists %s and --no-tables exclude each other", cli_list_names[values->lists]);
    if (values->radius.given && !asked(values))
        return cli_usage(job->command, "--radius goes with --lists tables or --lists sorted");
    if (values->rotations.given && values->lists != CLI_LISTS_SORTED)
        return cli_usage(job->command, "--rotations goes with --lists sorted");
    if ((values->blocks.given || values->leading.given) && values->lists != CLI_LISTS_TABLES)
        return cli_usage(job->command, "--blocks and --leading go with --lists tables");
    if (values->blocks.given != values->leading.given)
        return cli_usage(job->command, "--blocks and --leading go together");
    if (values->blocks.given && values->leading.value >= values->blocks.value)
        return cli_usage(job->command, "--leading must be below --blocks");
    return CLI_DONE;
}

static nigh_status make(struct cli_job *job, const char *path, nigh_tables_result *result) {
    const struct index_values *values = job->values;
    nigh_tables_options options;
    nigh_tables_options_init(&options);
    options.form = values->lists == CLI_LISTS_SORTED ? NIGH_TABLES_SORTED : NIGH_TABLES_PERMUTED;
    if (values->radius.given) options.radius = (uint32_t)values->radius.value;
    options.blocks = (uint32_t)values->blocks.value;
    options.leading = (uint32_t)values->leading.value;
    options.rotations = (uint32_t)values->rotations.value;
    options.min_rows = asked(values) ? 1 : AUTO_ROWS;
    options.keep = !asked(values);
    options.threads = job->threads;
    options.progress = &job->progress.report;
    const nigh_status status = nigh_tables_build(job->context, path, &options, result, &job->error);
    cli_progress_clear(&job->progress);
    return status;
}

/* "4 tables, nothing within 3 bits is missed", of the largest segment that has some. */
static nigh_status describe(struct cli_job *job, const char *path, char *out, size_t capacity) {
    nigh_collection *collection = NULL;
    nigh_segment_info largest = {.size = sizeof largest};
    nigh_segment_info segment = {.size = sizeof segment};
    const nigh_status status = nigh_collection_open(job->context, path, NULL, &collection, &job->error);
    if (status != NIGH_OK) return status;
    for (uint32_t s = 0; nigh_collection_segment(collection, s, &segment, NULL) == NIGH_OK; s++)
        if (segment.tables != 0 && segment.signatures >= largest.signatures) largest = segment;
    nigh_collection_close(collection);
    if (largest.table_form == NIGH_TABLES_SORTED)
        (void)snprintf(out, capacity, "%s of sorted signatures, %u look-ups a query",
                       cli_counted(largest.tables, "table", "tables").text, largest.tables * largest.table_probes);
    else
        (void)snprintf(out, capacity, "%s, by which nothing within %s is missed",
                       cli_counted(largest.tables, "table", "tables").text,
                       cli_counted(largest.table_radius, "bit", "bits").text);
    return NIGH_OK;
}

static int add_tables(struct cli_job *job, const char *path, bool added) {
    const struct index_values *values = job->values;
    const double started = cli_seconds();
    nigh_tables_result result = {.size = sizeof result};
    char what[256];
    if (make(job, path, &result) != NIGH_OK) {
        const int code = cli_fail(job);
        if (added)
            cli_error(job, "not all tables were made; 'nigh index %s --lists %s' makes them", path,
                      asked(values) ? cli_list_names[values->lists] : "tables");
        return code;
    }
    cli_stats_count(&job->stats, "table_bytes", result.bytes);
    if (result.built + result.kept > 0 && describe(job, path, what, sizeof what) != NIGH_OK) return cli_fail(job);
    if (result.built > 0)
        cli_note(job, "tables: of %s, %s: %s; %.2f s", cli_counted(result.built, "segment", "segments").text,
                 cli_size((double)result.bytes).text, what, cli_seconds() - started);
    else if (asked(values) && result.kept > 0)
        cli_note(job, "tables already exist: %s, %s", cli_size((double)result.bytes).text, what);
    else if (asked(values))
        cli_note(job, "tables: none, there are no signatures");
    return CLI_DONE;
}

static int remove_tables(struct cli_job *job, const char *path) {
    if (nigh_tables_remove(job->context, path, &job->error) != NIGH_OK) return cli_fail(job);
    cli_stats_count(&job->stats, "table_bytes", 0);
    cli_note(job, "tables: removed");
    return CLI_DONE;
}

/* Whether a collection has tables, also some that cannot be used. */
static bool has_tables(struct cli_job *job, const char *path) {
    nigh_collection *collection = NULL;
    nigh_collection_info info = {.size = sizeof info};
    if (nigh_collection_open(job->context, path, NULL, &collection, NULL) == NIGH_OK)
        nigh_collection_describe(collection, &info);
    nigh_collection_close(collection);
    return info.table_segments + info.damaged_tables > 0;
}

int cli_index_tables(struct cli_job *job, const char *path, bool added) {
    const struct index_values *values = job->values;
    if (asked(values)) return add_tables(job, path, added);
    const bool none = values->lists == CLI_LISTS_NONE && !added && has_tables(job, path);
    return values->no_tables || none ? remove_tables(job, path) : CLI_DONE;
}

/* Whether the signatures of a collection are made for finding near-copies within a few bits, or may be. */
static bool asks_for_copies(const char *scheme) {
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    if (nigh_signer_options_parse(scheme, &held, NULL) != NIGH_OK) return true; /* the user's own */
    return held.scheme == NIGH_SCHEME_SIMHASH || held.scheme == NIGH_SCHEME_LEARNED;
}

int cli_index_tables_auto(const struct indexer *indexer) {
    struct cli_job *job = indexer->job;
    const struct index_values *values = indexer->values;
    const uint32_t bits = indexer->result.commit.width_bits;
    if (values->lists != CLI_LISTS_AUTO || values->no_tables) return cli_index_tables(job, indexer->path, true);
    if (indexer->new_rows < AUTO_ROWS || bits < AUTO_LEAST_BITS || bits > AUTO_MOST_BITS) return CLI_DONE;
    nigh_collection *collection = NULL;
    if (nigh_collection_open(job->context, indexer->path, NULL, &collection, &job->error) != NIGH_OK)
        return cli_fail(job);
    const bool wanted = asks_for_copies(nigh_collection_scheme(collection));
    nigh_collection_close(collection);
    return wanted ? add_tables(job, indexer->path, true) : CLI_DONE;
}
