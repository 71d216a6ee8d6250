/* SPDX-License-Identifier: Apache-2.0 */
/* Buffered writing that keeps its first error; see sink.h. */
#define _POSIX_C_SOURCE 200809L

#include "sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "place.h"
#include "signals.h"

void cli_sink_init(struct cli_sink *sink, int descriptor) {
    sink->descriptor = descriptor;
    sink->error = 0;
    sink->owned = false;
    sink->path = NULL;
    sink->target = NULL;
    sink->temporary = NULL;
    sink->used = 0;
}

#define TEMPORARY_NAMES 100

bool cli_sink_is_standard_output(const char *path) {
    return strcmp(path, "-") == 0 || cli_place_descriptor(path) == STDOUT_FILENO;
}

bool cli_sink_writes_through(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Others may remove what nobody has locked, and make it anew. */
static bool leads_to(const char *path, int descriptor) {
    struct stat named;
    struct stat opened;
    return lstat(path, &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_dev == opened.st_dev &&
           named.st_ino == opened.st_ino;
}

/* Ours, and locked, so that others know that we live; false where another has taken it away meanwhile. */
static bool lock_temporary(struct cli_sink *sink) {
    const bool others = flock(sink->descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!others && leads_to(sink->temporary, sink->descriptor)) return true;
    (void)close(sink->descriptor);
    sink->descriptor = -1;
    errno = EBUSY;
    return false;
}

/* Of a writer that was killed: nobody has it locked.  A link would lead to somebody's file. */
static void remove_leftover(const char *path) {
    const int descriptor = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat status;
    if (descriptor < 0) return;
    if (fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && flock(descriptor, LOCK_EX | LOCK_NB) == 0 &&
        leads_to(path, descriptor))
        (void)unlink(path);
    (void)close(descriptor);
}

/*
 * Creates the first of TARGET.nigh.tmp, TARGET.nigh.1.tmp, ... that is not there, as the library does
 * (src/base/replacement.h), and locks it, so that others know that we live.
 */
static void create_temporary(struct cli_sink *sink, size_t capacity, mode_t mode) {
    for (unsigned attempt = 0; attempt < TEMPORARY_NAMES; attempt++) {
        if (attempt == 0)
            snprintf(sink->temporary, capacity, "%s.nigh.tmp", sink->target);
        else
            snprintf(sink->temporary, capacity, "%s.nigh.%u.tmp", sink->target, attempt);
        remove_leftover(sink->temporary);
        sink->descriptor = open(sink->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (sink->descriptor < 0 && errno != EEXIST) return;
        if (sink->descriptor >= 0 && lock_temporary(sink)) return;
    }
}

/* For what is to be replaced at `end`, which keeps its mode. */
static void open_temporary(struct cli_sink *sink, const char *end) {
    struct stat before;
    bool there = stat(end, &before) == 0;
    size_t capacity = strlen(end) + sizeof ".nigh.99.tmp";
    sink->target = strdup(end);
    sink->temporary = malloc(capacity);
    if (sink->target == NULL || sink->temporary == NULL) {
        errno = ENOMEM;
        return;
    }
    create_temporary(sink, capacity, there ? before.st_mode & 0777 : 0666);
    /* The mask may have taken something away; a file system without modes has none to give. */
    if (there && sink->descriptor >= 0) (void)fchmod(sink->descriptor, before.st_mode & 0777);
}

static void forget_names(struct cli_sink *sink) {
    free(sink->target);
    free(sink->temporary);
    sink->target = NULL;
    sink->temporary = NULL;
}

/* A descriptor as it is, so that what is in a log stays; what is no file is never emptied. */
static void open_path(struct cli_sink *sink, const char *path) {
    struct stat status;
    char end[CLI_PATH_SIZE];
    int descriptor = cli_place_descriptor(path);
    if (descriptor >= 0)
        sink->descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    else if (stat(path, &status) == 0 && !S_ISREG(status.st_mode))
        sink->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    else if (cli_place_follow(path, end))
        open_temporary(sink, end);
}

bool cli_sink_open(struct cli_sink *sink, const char *path) {
    cli_sink_init(sink, -1);
    sink->path = path;
    if (*path == '\0') { /* "" with an ending would be a name */
        sink->error = ENOENT;
        return false;
    }
    open_path(sink, path);
    if (sink->descriptor < 0) {
        sink->error = errno;
        forget_names(sink);
        return false;
    }
    sink->owned = true;
    return true;
}

static void write_all(struct cli_sink *sink, const char *bytes, size_t length) {
    while (length > 0 && sink->error == 0) {
        ssize_t moved = write(sink->descriptor, bytes, length);
        if (moved < 0) {
            if (errno != EINTR || cli_interrupted() != 0) sink->error = errno;
            continue;
        }
        bytes += moved;
        length -= (size_t)moved;
    }
}

bool cli_sink_flush(struct cli_sink *sink) {
    write_all(sink, sink->bytes, sink->used);
    sink->used = 0;
    return sink->error == 0;
}

void cli_sink_bytes(struct cli_sink *sink, const char *bytes, size_t length) {
    if (length > CLI_SINK_SIZE - sink->used) {
        (void)cli_sink_flush(sink);
        if (length >= CLI_SINK_SIZE) {
            write_all(sink, bytes, length);
            return;
        }
    }
    memcpy(sink->bytes + sink->used, bytes, length);
    sink->used += length;
}

void cli_sink_text(struct cli_sink *sink, const char *text) { cli_sink_bytes(sink, text, strlen(text)); }

/* For short pieces: what passes 1 KB is cut. */
void cli_sink_format(struct cli_sink *sink, const char *format, ...) {
    char piece[1024];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(piece, sizeof piece, format, arguments);
    va_end(arguments);
    if (length > 0) cli_sink_bytes(sink, piece, (size_t)length < sizeof piece ? (size_t)length : sizeof piece - 1);
}

void cli_sink_number(struct cli_sink *sink, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    cli_sink_bytes(sink, digits + at, sizeof digits - at);
}

/* What the second byte may be after the first (Unicode, table 3-7): no overlong forms, surrogates, or past U+10FFFF. */
static bool second_byte_fits(unsigned char first, unsigned char second) {
    switch (first) {
    case 0xE0:
        return second >= 0xA0 && second <= 0xBF;
    case 0xED:
        return second >= 0x80 && second <= 0x9F;
    case 0xF0:
        return second >= 0x90 && second <= 0xBF;
    case 0xF4:
        return second >= 0x80 && second <= 0x8F;
    default:
        return second >= 0x80 && second <= 0xBF;
    }
}

size_t cli_utf8_length(const char *text, size_t length) {
    const unsigned char *bytes = (const unsigned char *)text;
    if (length == 0) return 0;
    size_t needed;
    if (bytes[0] < 0x80) return 1;
    if (bytes[0] >= 0xC2 && bytes[0] <= 0xDF)
        needed = 2;
    else if (bytes[0] >= 0xE0 && bytes[0] <= 0xEF)
        needed = 3;
    else if (bytes[0] >= 0xF0 && bytes[0] <= 0xF4)
        needed = 4;
    else
        return 0;
    if (length < needed || !second_byte_fits(bytes[0], bytes[1])) return 0;
    for (size_t i = 2; i < needed; i++) {
        if (bytes[i] < 0x80 || bytes[i] > 0xBF) return 0;
    }
    return needed;
}

size_t cli_utf8_whole(const char *text, size_t length) {
    for (size_t tail = 1; tail < 4 && tail <= length; tail++) {
        unsigned char byte = (unsigned char)text[length - tail];
        if (byte >= 0x80 && byte < 0xC0) continue; /* not the first of its character */
        size_t needed = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
        return needed > tail ? length - tail : length;
    }
    return length;
}

static const char replacement[] = "\xEF\xBF\xBD"; /* U+FFFD */

/* A control character that is not ASCII: JSON takes it as it is, a terminal would obey it.  All are below U+10000. */
static void json_wide_control(struct cli_sink *sink, const char *text, size_t length) {
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned value = bytes[0] & (length == 2 ? 0x1Fu : 0x0Fu);
    for (size_t i = 1; i < length; i++) value = value << 6 | (bytes[i] & 0x3Fu);
    cli_sink_format(sink, "\\u%04x", value);
}

static void json_character(struct cli_sink *sink, const char *text, size_t length) {
    unsigned char byte = (unsigned char)text[0];
    if (length == 0)
        cli_sink_text(sink, replacement);
    else if (length > 1 && nigh_escape(text, length, NULL, 0) != length)
        json_wide_control(sink, text, length);
    else if (length > 1)
        cli_sink_bytes(sink, text, length);
    else if (byte == '"' || byte == '\\')
        cli_sink_format(sink, "\\%c", byte);
    else if (byte == '\n')
        cli_sink_text(sink, "\\n");
    else if (byte == '\t')
        cli_sink_text(sink, "\\t");
    else if (byte < 0x20 || byte == 0x7F)
        cli_sink_format(sink, "\\u%04x", byte);
    else
        cli_sink_bytes(sink, text, 1);
}

void cli_sink_json(struct cli_sink *sink, const char *text, size_t length) {
    cli_sink_text(sink, "\"");
    for (size_t i = 0; i < length;) {
        size_t character = cli_utf8_length(text + i, length - i);
        json_character(sink, text + i, character);
        i += character > 0 ? character : 1;
    }
    cli_sink_text(sink, "\"");
}

void cli_sink_escaped(struct cli_sink *sink, const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        char shown[24];
        size_t character = cli_utf8_length(text + i, length - i);
        if (character == 0) character = 1;
        const size_t escaped = nigh_escape(text + i, character, shown, sizeof shown);
        cli_sink_bytes(sink, shown, escaped);
        i += character;
    }
}

static void sink_close(struct cli_sink *sink) {
    if (sink->owned && close(sink->descriptor) != 0 && sink->error == 0) sink->error = errno;
    sink->owned = false;
    sink->descriptor = -1;
}

bool cli_sink_sync(struct cli_sink *sink) {
    (void)cli_sink_flush(sink);
    if (sink->temporary != NULL && sink->error == 0 && fsync(sink->descriptor) != 0) sink->error = errno;
    return sink->error == 0;
}

void cli_sink_sync_folder(const char *target) {
    char folder[CLI_PATH_SIZE];
    const char *slash = strrchr(target, '/');
    (void)snprintf(folder, sizeof folder, "%.*s", slash == NULL ? 1 : (int)(slash - target) + 1,
                   slash == NULL ? "." : target);
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    (void)fsync(descriptor);
    (void)close(descriptor);
}

bool cli_sink_finish(struct cli_sink *sink) {
    (void)cli_sink_sync(sink);
    if (sink->temporary != NULL && sink->error == 0 && rename(sink->temporary, sink->target) != 0) sink->error = errno;
    if (sink->owned) sink_close(sink); /* locked until it has its name */
    if (sink->temporary != NULL && sink->error == 0) cli_sink_sync_folder(sink->target);
    if (sink->temporary != NULL && sink->error != 0) (void)unlink(sink->temporary);
    forget_names(sink);
    return sink->error == 0;
}

void cli_sink_abandon(struct cli_sink *sink) {
    sink->used = 0;
    if (sink->error == 0) sink->error = ECANCELED;
    (void)cli_sink_finish(sink);
}

static int stream_write(void *user, const void *bytes, size_t length, size_t *moved) {
    struct cli_sink *sink = user;
    cli_sink_bytes(sink, bytes, length);
    *moved = sink->error == 0 ? length : 0;
    return sink->error;
}

nigh_stream cli_sink_stream(struct cli_sink *sink) { return (nigh_stream){.user = sink, .write = stream_write}; }

void cli_sink_json_count(struct cli_sink *sink, const char *name, uint64_t value) {
    cli_sink_format(sink, ",\"%s\":%llu", name, (unsigned long long)value);
}
