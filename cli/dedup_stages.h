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

/* Prints what each stage will need for these inputs: tasks, memory and disk. */
void cli_dedup_show_plan(struct deduper *deduper, const nigh_staged *staged, const nigh_text_reader_options *reading,
                         const char *const *paths, size_t count);

/*
 * Runs the tasks of a stage, those that are not done yet, in so many processes at a time, each with its share of the
 * threads and the memory.  CLI_DONE, or the exit code once all have ended.
 */
int cli_dedup_spawn_stage(struct cli_job *job, const nigh_staged *staged, nigh_stage stage);

#endif
