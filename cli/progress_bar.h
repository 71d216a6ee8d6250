/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line on the terminal that says how far the work is, how fast it goes and
 * how long it will take.  Drawn only where standard error is a terminal, not
 * before the work has lasted a moment, and cleared before anything else is
 * printed.
 */
#ifndef NIGH_CLI_PROGRESS_BAR_H
#define NIGH_CLI_PROGRESS_BAR_H

#include <stdbool.h>
#include <stdint.h>

#include "nigh.h"

struct cli_progress {
    bool wanted;
    bool drawn; /* a line stands there now */
    char stage[64];
    const char *unit; /* "documents"; NULL: only the share is shown */
    double started;
    double redrawn;
    nigh_progress report; /* for the library: draws its stages, and stops it when we are interrupted */
};

void cli_progress_init(struct cli_progress *progress, bool quiet);

/* A new stage of work, such as "reading"; counts in `unit`. */
void cli_progress_begin(struct cli_progress *progress, const char *stage, const char *unit);

/* Other words for the stage at work, whose time goes on. */
void cli_progress_rename(struct cli_progress *progress, const char *stage);

/* Cheap enough for every thousandth row; `total` 0: unknown. */
void cli_progress_update(struct cli_progress *progress, uint64_t done, uint64_t total);

/* Takes the line away; the next update may draw it again. */
void cli_progress_clear(struct cli_progress *progress);

/* Columns of the terminal at `descriptor`, or 0 where it is none. */
unsigned cli_terminal_width(int descriptor);

#endif
