/* SPDX-License-Identifier: Apache-2.0 */
/* What the command took (time, memory, counters), as one JSON object for --stats. */
#ifndef NIGH_CLI_STATS_H
#define NIGH_CLI_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cli_job;

struct cli_counter {
    const char *name; /* a constant */
    uint64_t value;
};

struct cli_measure {
    const char *name; /* a constant */
    double value;
};

#define CLI_MAX_COUNTERS 40
#define CLI_MAX_MEASURES 6

struct cli_stats {
    bool complete;         /* the work ran to its end, so the numbers mean something */
    double started;        /* of the whole command */
    const char *work_name; /* "search_seconds"; NULL: "work_seconds" */
    double work_seconds;   /* without opening and loading */
    const char *also_name; /* of a part that is not work: "list_seconds"; NULL: there is none */
    double also_seconds;
    uint64_t documents;
    uint64_t queries;
    double rate; /* queries or documents a second of work */
    struct cli_counter counters[CLI_MAX_COUNTERS];
    unsigned counter_count;
    struct cli_measure measures[CLI_MAX_MEASURES];
    unsigned measure_count;
};

/* Counters are written in the order in which they were added. */
void cli_stats_count(struct cli_stats *stats, const char *name, uint64_t value);

/* The same for what is no count; they come after the counters, and what is no number as null. */
void cli_stats_measure(struct cli_stats *stats, const char *name, double value);

/* The work is complete: so many documents, their rate, and all counters. */
void cli_stats_close(struct cli_stats *stats, uint64_t documents, const struct cli_counter *counters, size_t count);

/* `amount` a second of work, 0 where no time passed. */
void cli_stats_rate(struct cli_stats *stats, uint64_t amount);

/* Writes to the FILE of --stats.  Returns false with a message said. */
bool cli_stats_write(struct cli_job *job);

#endif
