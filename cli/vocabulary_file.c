/* SPDX-License-Identifier: Apache-2.0 */
#include "vocabulary_file.h"

#include "place.h"

int cli_vocabulary_place(const struct cli_job *job, const char *option, const char *path) {
    if (cli_sink_is_standard_output(path))
        return cli_usage(job->command, "%s takes a file, not standard output", option);
    if (cli_sink_writes_through(path))
        return cli_usage(job->command, "%s takes a new or regular file, which '%s' is not", option, path);
    return CLI_DONE;
}

nigh_status cli_vocabulary_save(struct cli_job *job, const nigh_vocabulary *vocabulary, const char *path,
                                double started, nigh_vocabulary_info *info) {
    struct cli_stats *stats = &job->stats;
    const struct cli_mode mode = cli_mode_hold(path);
    const nigh_status status = nigh_vocabulary_save(vocabulary, path, &job->error);
    cli_mode_release(&mode);
    if (status != NIGH_OK) return status;
    cli_mode_restore(&mode, path);
    nigh_vocabulary_describe(vocabulary, info);
    stats->work_seconds = cli_seconds() - started;
    stats->complete = true;
    stats->documents = info->documents;
    cli_stats_rate(stats, info->documents);
    cli_stats_count(stats, "terms", info->terms);
    cli_stats_count(stats, "occurrences", info->occurrences);
    cli_stats_count(stats, "vocabulary_bytes", info->bytes);
    cli_stats_count(stats, "sketch", info->sketch != 0);
    return NIGH_OK;
}
