/* SPDX-License-Identifier: Apache-2.0 */
/* What every command works with: a job, and how to say things to people. */
#ifndef NIGH_CLI_COMMON_H
#define NIGH_CLI_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "command.h"
#include "nigh.h"
#include "place.h"
#include "progress_bar.h"
#include "sink.h"
#include "stats.h"
#include "timing.h"

enum {
    CLI_DONE = 0,
    CLI_NOTHING = 1, /* it worked, and found nothing */
    CLI_ERROR = 2,
    CLI_COMMITTED = 3, /* an error, after what was asked for was committed: repeating it may add it twice */
};

extern const char *const cli_find_names[]; /* of --find: by nigh_find_mode */

/* One run of one command. */
struct cli_job {
    const struct cli_command *command;
    const struct cli_common *common; /* the first member of the command's values */
    const void *values;
    char **operands;
    size_t operand_count;
    nigh_context *context; /* NULL for internal commands */
    uint32_t threads;      /* as asked, or one a core */
    struct cli_sink *out;  /* standard output */
    struct cli_progress progress;
    struct cli_stats stats;
    nigh_error error;    /* of the last call that failed */
    char committed[512]; /* what stays, whatever fails from here on; "": nothing yet */
};

/*
 * Runs a command on its arguments: parses them, makes the context, writes the
 * statistics.  Returns the exit code.
 */
int cli_job_run(const struct cli_command *command, int argc, char **argv, struct cli_sink *out);

/*
 * Opens a collection to read it, and says what it holds.  Warns where its newest
 * state cannot be read and the one before is shown.
 */
nigh_status cli_collection_open(struct cli_job *job, const char *path, const nigh_open_options *options,
                                nigh_collection **out, nigh_collection_info *info);
/* The same of one that is open. */
void cli_collection_look(struct cli_job *job, const char *path, const nigh_collection *collection,
                         nigh_collection_info *info);

/* Says which of the files beside the segments of the first operand cannot be used; `graphs` is what to call these. */
void cli_tell_damaged(struct cli_job *job, const nigh_collection_info *info, const char *graphs);

/* Says what job->error says and returns the exit code: quiet where the reader of our output has gone. */
int cli_fail(struct cli_job *job);

/* What a commit merged, where it did or could not; see 'nigh merge'. */
void cli_tell_merged(struct cli_job *job, const char *path, const nigh_commit *commit);

/*
 * From here on an error is one that comes after a commit: the exit code is CLI_COMMITTED, and the last line says this,
 * which should tell what was added to what.
 */
void cli_committed(struct cli_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* As nigh_error_format(), with the limits named as options. */
void cli_error_format(const nigh_error *error, char *line, size_t capacity);

/* Set job->error, for what the tool itself finds wrong or the system refuses it; `file` may be "". */
void cli_set_error(struct cli_job *job, nigh_status status, const char *file, const char *why);
void cli_set_system_error(struct cli_job *job, int system_errno, const char *file, const char *verb);

/* "nigh: ...", on standard error, control characters escaped. */
void cli_error(struct cli_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "nigh COMMAND: ..." and where help is; for wrong use.  `command` may be NULL.  Returns CLI_ERROR. */
int cli_usage(const struct cli_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The folder for temporary files: as given, else $TMPDIR, else /tmp. */
const char *cli_temporary(const char *given);

/* A closing line for people, on standard error unless --quiet. */
void cli_note(struct cli_job *job, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The beginning of an id as messages show it: escaped, and cut to what fits. */
struct cli_shown {
    char text[208];
};
struct cli_shown cli_shown(const char *id, size_t length);

/* 1234567 as "1,234,567". */
struct cli_digits {
    char text[32];
};
struct cli_digits cli_digits(uint64_t number);

/* "1 document", "2,000 documents". */
struct cli_counted {
    char text[64];
};
struct cli_counted cli_counted(uint64_t number, const char *one, const char *many);

#endif
