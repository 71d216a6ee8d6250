/* SPDX-License-Identifier: Apache-2.0 */
/* nigh dedup --work DIR: a deduplication in stages, by one process or by many. */
#ifndef NIGH_CLI_DEDUP_STAGES_H
#define NIGH_CLI_DEDUP_STAGES_H

#include "dedup_output.h"

/* Whether the options ask for stages. */
bool cli_dedup_is_staged(const struct dedup_values *values);

/* All of it; returns the exit code. */
int cli_dedup_stages(struct cli_job *job);

/* Of cmd_dedup.c: the library's options from those of the command line, in `deduper`.  CLI_DONE, or the exit code. */
int cli_dedup_make_options(struct deduper *deduper);

/* What a plan is for. */
struct cli_stage_inputs {
    const nigh_text_reader_options *reading;
    const char *const *paths;
    size_t count;
};

/* How many documents there are, by the first of them and the bytes that they take. */
struct cli_stage_sample {
    double documents;
    double text; /* bytes of one */
};
struct cli_stage_sample cli_dedup_sample(const struct cli_job *job, const struct cli_stage_inputs *inputs);

/* What a stage needs, as it is estimated. */
struct cli_stage_need {
    const char *name;
    uint32_t tasks;
    double memory;  /* bytes of one task */
    double disk;    /* bytes of all tasks */
    double seconds; /* of one task on a slow and busy machine: a limit and no forecast */
};

/* The stages, and "rewrite" as the last. */
#define CLI_STAGE_NEEDS (NIGH_STAGE_COUNT + 1)

struct cli_stage_plan {
    double documents;
    struct cli_stage_need needs[CLI_STAGE_NEEDS];
};

/* With so many bytes for sorting (0: no limit), and so many tasks that write what is kept. */
void cli_dedup_estimate(const struct cli_job *job, const nigh_staged *staged, const struct cli_stage_inputs *inputs,
                        uint64_t memory_bytes, uint32_t writers, struct cli_stage_plan *out);

/* Prints tasks, memory and disk of each stage. */
void cli_dedup_show_plan(struct cli_job *job, const nigh_staged *staged, const struct cli_stage_inputs *inputs,
                         const struct cli_stage_plan *plan);

/* Whether a name for the output asks for a part of each shard: "out-{}.jsonl". */
bool cli_dedup_in_parts(const char *output);

/*
 * Writes scripts for Slurm to the folder "slurm" of the work folder, one for each stage and one that submits them, and
 * runs that where --submit is given.  Returns the exit code.
 */
int cli_dedup_slurm(struct cli_job *job, const struct cli_stage_plan *plan);

#define CLI_SLURM_MEMORY 1000000000u /* bytes for sorting there, without --memory */

/*
 * Runs the tasks of a stage, those that are not done yet, in so many processes at a time, each with its share of the
 * threads and the memory.  CLI_DONE, or the exit code once all have ended.
 */
int cli_dedup_spawn_stage(struct cli_job *job, const nigh_staged *staged, nigh_stage stage);

#endif
