/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file descriptor as a stream whose beginning can be looked at before it is read. This
 * is how the format of standard input is recognised.
 */
#ifndef NIGH_CLI_PEEK_H
#define NIGH_CLI_PEEK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "nigh.h"

#define CLI_PEEK_SIZE 65536

struct cli_peek {
    int descriptor;
    _Atomic bool closing; /* set from another thread: reading ends, also one that waits */
    bool ended;           /* while looking */
    int error;            /* errno while looking */
    size_t begin, end;
    char bytes[CLI_PEEK_SIZE];
};

void cli_peek_init(struct cli_peek *peek, int descriptor);

/* Reads ahead to the end of the first line, as far as the buffer goes: whoever writes slowly is not waited for. */
void cli_peek_look(struct cli_peek *peek);

/* What was looked at first, then the rest.  The stream's user is the peek. */
nigh_stream cli_peek_stream(struct cli_peek *peek);

/* read() that goes on after a signal unless we are to stop. */
int cli_read(int descriptor, void *buffer, size_t length, size_t *moved);

/* Ends what is read through a peek, also on a thread that waits for input; before its reader is closed. */
void cli_peek_close(struct cli_peek *peek);

#endif
