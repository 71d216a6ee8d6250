/* SPDX-License-Identifier: Apache-2.0 */
/* nigh merge: merges the segments of a collection into one, without the deleted documents. */
#include "common.h"

struct merge_values {
    struct cli_common common;
    bool tiered;
};

static const struct cli_option options[] = {
    CLI_FLAG(0, "tiered", offsetof(struct merge_values, tiered),
             "merge only what 'nigh index' would merge by itself: segments of about the same size, once there are ten"),
    CLI_END,
};

static const char *const usage[] = {"[OPTION]... COLLECTION", NULL};

static const char *const description[] = {
    "Each 'nigh index' adds a segment to the collection, and a search visits every segment. This writes them as one, "
    "in their order. Deleted documents are left out, and their space comes back. Ids, metadata, weights, texts, "
    "vocabulary and model stay as they are. Slice lists, tables, a graph and columns are made again if the largest "
    "segment has them, which can take long.",
    "It is rarely needed: 'nigh index' merges ten segments of about the same size by itself, so a collection has few "
    "segments whatever its history. Segments that keep weights or texts are not merged with segments that do not.",
    "Readers are not disturbed. Those that are open keep the state they have, and the old files take space until the "
    "last of them has ended. The checksums of what is merged are verified first. While it runs the disk holds both the "
    "old segments and the new one. After an error the collection is as it was; after a kill, as it was or merged.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh merge corpus.nigh", "one segment, without deleted documents"},
    {"nigh merge --tiered corpus.nigh", "only what pays off"},
    {NULL, NULL},
};

static void count(struct cli_job *job, const nigh_merge_result *result) {
    struct cli_stats *stats = &job->stats;
    stats->complete = true;
    stats->documents = result->written;
    cli_stats_rate(stats, result->written);
    cli_stats_count(stats, "segments_before", result->before);
    cli_stats_count(stats, "segments", result->after);
    cli_stats_count(stats, "dropped", result->dropped);
    cli_stats_count(stats, "bytes_written", result->bytes);
    cli_stats_count(stats, "collection_documents", result->documents);
    cli_stats_count(stats, "collection_bytes", result->total_bytes);
}

static void summarise(struct cli_job *job, const char *path, const nigh_merge_result *result) {
    if (result->parts == 0) {
        cli_note(job, "'%s' has %s, and nothing to merge", path,
                 cli_counted(result->after, "segment", "segments").text);
        return;
    }
    cli_note(job, "'%s': %s became %s; %s written, %s dropped; %.2f s", path,
             cli_counted(result->before, "segment", "segments").text, cli_digits(result->after).text,
             cli_counted(result->written, "document", "documents").text,
             cli_counted(result->dropped, "deleted one", "deleted ones").text, job->stats.work_seconds);
}

static int run(struct cli_job *job) {
    if (job->operand_count != 1) return cli_usage(job->command, "give one COLLECTION, not %zu", job->operand_count);
    const char *path = job->operands[0];
    nigh_merge_options merging;
    nigh_merge_options_init(&merging);
    merging.tiered = ((const struct merge_values *)job->values)->tiered;
    merging.threads = job->threads;
    merging.progress = &job->progress.report;
    nigh_merge_result result = {.size = sizeof result};
    const double started = cli_seconds();
    const nigh_status status = nigh_merge(job->context, path, &merging, &result, &job->error);
    job->stats.work_seconds = cli_seconds() - started;
    cli_progress_clear(&job->progress);
    if (status != NIGH_OK) return cli_fail(job);
    count(job, &result);
    summarise(job, path, &result);
    return CLI_DONE;
}

const struct cli_command cmd_merge = {
    .name = "merge",
    .summary = "merge all segments of a collection, dropping deleted documents",
    .usage = usage,
    .description = description,
    .examples = examples,
    .options = options,
    .values_size = sizeof(struct merge_values),
    .run = run,
};
