/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffered output to standard output or to a file of the user. A sink remembers the first
 * error with its errno, which stdio does not, so callers write freely and check once.
 *
 * A file that is new or regular is written as "PATH.tmp" ("PATH.1.tmp", ...
 * where that is there) and takes its name at finish, once it is on the disk,
 * with the mode of the one before; of a link that is so at its end.  Anything
 * else (a pipe, /dev/null, an open descriptor) is written through.
 */
#ifndef NIGH_CLI_SINK_H
#define NIGH_CLI_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nigh.h"

#define CLI_SINK_SIZE 65536

struct cli_sink {
    int descriptor;
    int error;        /* errno of the first failure; after it, nothing is written */
    bool owned;       /* the descriptor is closed at the end */
    const char *path; /* NULL: standard output */
    char *target;     /* what is replaced: the path, or where it leads; owned */
    char *temporary;  /* owned; NULL: written through */
    size_t used;
    char bytes[CLI_SINK_SIZE];
};

void cli_sink_init(struct cli_sink *sink, int descriptor);

/* False, with sink->error, where the file cannot be opened. */
bool cli_sink_open(struct cli_sink *sink, const char *path);

/* Whether `path` names something that a finished file cannot simply replace: no file, or a link. */
bool cli_sink_writes_through(const char *path);

/* "-", /dev/stdout and its kin. */
bool cli_sink_is_standard_output(const char *path);

void cli_sink_bytes(struct cli_sink *sink, const char *bytes, size_t length);
void cli_sink_text(struct cli_sink *sink, const char *text);
void cli_sink_format(struct cli_sink *sink, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_sink_number(struct cli_sink *sink, uint64_t number);

/* `text` as a JSON string, quotes included; bytes that are not UTF-8 become U+FFFD. */
void cli_sink_json(struct cli_sink *sink, const char *text, size_t length);
/* ,"NAME":VALUE */
void cli_sink_json_count(struct cli_sink *sink, const char *name, uint64_t value);

/* An id or a text as one line without tabs that a terminal can show, as nigh_escape() has it; nigh_unescape() reads it.
 */
void cli_sink_escaped(struct cli_sink *sink, const char *text, size_t length);

/* False where something could not be written, now or before. */
bool cli_sink_flush(struct cli_sink *sink);

/* Flushes, onto the disk where it is a file of ours: what is left for finish can hardly fail. */
bool cli_sink_sync(struct cli_sink *sink);

/* Lets the names in the folder of a file be on the disk. */
void cli_sink_sync_folder(const char *target);

/* Flushes, closes, and gives the file its name, on the disk; or, on failure or by abandon, leaves no file behind. */
bool cli_sink_finish(struct cli_sink *sink);
void cli_sink_abandon(struct cli_sink *sink);

/* For the library's writers; the stream's user is the sink. */
nigh_stream cli_sink_stream(struct cli_sink *sink);

/* Length of the UTF-8 character at text[0..length), 0 where there is none. */
size_t cli_utf8_length(const char *text, size_t length);

/* The length without the beginning of a character that was cut off at the end. */
size_t cli_utf8_whole(const char *text, size_t length);

#endif
