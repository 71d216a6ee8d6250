/* SPDX-License-Identifier: Apache-2.0 */
/* Writing --stats; see stats.h. */
#define _DEFAULT_SOURCE

#include "stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common.h"

void cli_stats_count(struct cli_stats *stats, const char *name, uint64_t value) {
    if (stats->counter_count < CLI_MAX_COUNTERS) {
        stats->counters[stats->counter_count].name = name;
        stats->counters[stats->counter_count].value = value;
        stats->counter_count++;
    }
}

void cli_stats_measure(struct cli_stats *stats, const char *name, double value) {
    if (stats->measure_count < CLI_MAX_MEASURES)
        stats->measures[stats->measure_count++] = (struct cli_measure){.name = name, .value = value};
}

void cli_stats_rate(struct cli_stats *stats, uint64_t amount) {
    stats->rate = stats->work_seconds > 0 ? (double)amount / stats->work_seconds : 0;
}

void cli_stats_close(struct cli_stats *stats, uint64_t documents, const struct cli_counter *counters, size_t count) {
    stats->complete = true;
    stats->documents = documents;
    cli_stats_rate(stats, documents);
    for (size_t i = 0; i < count; i++) cli_stats_count(stats, counters[i].name, counters[i].value);
}

static uint64_t peak_bytes(void) {
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static void write_object(struct cli_sink *sink, const struct cli_job *job) {
    const struct cli_stats *stats = &job->stats;
    const char *work_name = stats->work_name != NULL ? stats->work_name : "work_seconds";
    const char *kernel = nigh_context_kernel(job->context);
    cli_sink_format(sink, "{\"command\":\"%s\",\"version\":\"%s\"", cli_command_family(job->command)->name,
                    nigh_version());
    cli_sink_format(sink, ",\"seconds\":%.6f", cli_seconds() - stats->started);
    cli_sink_format(sink, ",\"%s\":%.6f", work_name, stats->work_seconds);
    if (stats->also_name != NULL) cli_sink_format(sink, ",\"%s\":%.6f", stats->also_name, stats->also_seconds);
    cli_sink_format(sink, ",\"documents\":%llu", (unsigned long long)stats->documents);
    cli_sink_format(sink, ",\"queries\":%llu", (unsigned long long)stats->queries);
    cli_sink_format(sink, ",\"rate\":%.3f", stats->rate);
    cli_sink_format(sink, ",\"peak_bytes\":%llu", (unsigned long long)peak_bytes());
    cli_sink_format(sink, ",\"threads\":%u,\"kernel\":", job->threads);
    cli_sink_json(sink, kernel, strlen(kernel));
    for (unsigned i = 0; i < stats->counter_count; i++)
        cli_sink_format(sink, ",\"%s\":%llu", stats->counters[i].name, (unsigned long long)stats->counters[i].value);
    for (unsigned i = 0; i < stats->measure_count; i++) {
        const struct cli_measure *measure = &stats->measures[i];
        cli_sink_format(sink, isfinite(measure->value) ? ",\"%s\":%.9g" : ",\"%s\":null", measure->name,
                        measure->value);
    }
    cli_sink_text(sink, "}\n");
}

bool cli_stats_write(struct cli_job *job) {
    const char *path = job->common->stats;
    if (cli_sink_is_standard_output(path)) {
        write_object(job->out, job);
        return true; /* main looks at standard output when all is done */
    }
    struct cli_sink *sink = malloc(sizeof *sink);
    if (sink == NULL) {
        cli_error(job, "out of memory");
        return false;
    }
    bool done = cli_sink_open(sink, path);
    if (done) {
        write_object(sink, job);
        done = cli_sink_finish(sink);
    }
    if (!done) {
        cli_set_system_error(job, sink->error, path, "write");
        (void)cli_fail(job);
    }
    free(sink);
    return done;
}
