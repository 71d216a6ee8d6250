/* SPDX-License-Identifier: Apache-2.0 */
/* nigh adopt: adds segments that were made elsewhere to a collection, unchanged. */
#include "common.h"

static const char *const usage[] = {"[OPTION]... COLLECTION OTHER...", NULL};

static const char *const description[] = {
    "Adds all documents of the OTHER collections to COLLECTION, which is made if it does not exist. Their files are "
    "copied as they are, with slice lists, tables, graphs and columns: nothing is signed or built again. OTHER stays "
    "as it is, and can be removed afterwards.",
    "So several machines can make one collection. All parts must be signed in the same way: with the same scheme and "
    "options and, if words are weighted, the same vocabulary. Count the words of each part with 'nigh sign "
    "--make-vocabulary', add up the counts with 'nigh vocabulary merge', and give the result to each 'nigh index' as "
    "--vocabulary.",
    "Every checksum of OTHER is verified first, and no id may occur twice. After an error COLLECTION is unchanged.",
    NULL,
};

static const struct cli_example examples[] = {
    {"nigh adopt all.nigh part-1.nigh part-2.nigh", "one collection of two"},
    {"nigh adopt all.nigh parts/*.nigh && nigh merge all.nigh", "and one segment, which is searched fastest"},
    {NULL, NULL},
};

static void count(struct cli_job *job, const nigh_adopt_result *result) {
    struct cli_stats *stats = &job->stats;
    stats->complete = true;
    stats->documents = result->adopted;
    cli_stats_rate(stats, result->adopted);
    cli_stats_count(stats, "segments", result->segments);
    cli_stats_count(stats, "bytes", result->bytes);
    cli_stats_count(stats, "collection_documents", result->documents);
}

static int run(struct cli_job *job) {
    nigh_adopt_options options;
    nigh_adopt_options_init(&options);
    nigh_adopt_result result = {.size = sizeof result};
    if (job->operand_count == 0) return cli_usage(job->command, "no COLLECTION given");
    if (job->operand_count == 1) return cli_usage(job->command, "no OTHER collection given");
    options.progress = &job->progress.report;
    const double started = cli_seconds();
    const nigh_status status = nigh_adopt(job->context, job->operands[0], (const char *const *)job->operands + 1,
                                          job->operand_count - 1, &options, &result, &job->error);
    job->stats.work_seconds = cli_seconds() - started;
    cli_progress_clear(&job->progress);
    if (status != NIGH_OK) return cli_fail(job);
    count(job, &result);
    cli_note(job, "'%s' took over %s in %s, and now has %s; %.2f s", job->operands[0],
             cli_counted(result.adopted, "document", "documents").text,
             cli_counted(result.segments, "segment", "segments").text, cli_digits(result.documents).text,
             job->stats.work_seconds);
    return CLI_DONE;
}

const struct cli_command cmd_adopt = {
    .name = "adopt",
    .summary = "add collections that were made elsewhere, as they are",
    .usage = usage,
    .description = description,
    .examples = examples,
    .values_size = sizeof(struct cli_common),
    .run = run,
};
