/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Status texts from the one list, and the detail that goes with a failure. */
#include "base/status.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *nigh_status_text(nigh_status status) {
    switch (status) {
#define STATUS_TEXT(name, number, text) \
    case name:                          \
        return text;
        NIGH_STATUS_MAP(STATUS_TEXT)
#undef STATUS_TEXT
    }
    return "unknown status";
}

const char *nigh_status_name(nigh_status status) {
    switch (status) {
#define STATUS_NAME(name, number, text) \
    case name:                          \
        return #name;
        NIGH_STATUS_MAP(STATUS_NAME)
#undef STATUS_NAME
    }
    return "unknown status";
}

const char *nigh_reason_text(nigh_reason reason) {
    switch (reason) {
#define REASON_TEXT(name, number, text) \
    case name:                          \
        return text;
        NIGH_REASON_MAP(REASON_TEXT)
#undef REASON_TEXT
    }
    return "";
}

const char *nigh_reason_name(nigh_reason reason) {
    switch (reason) {
#define REASON_NAME(name, number, text) \
    case name:                          \
        return #name;
        NIGH_REASON_MAP(REASON_NAME)
#undef REASON_NAME
    }
    return "unknown reason";
}

/* Keeps the end of a path that is too long: that is the part that tells files apart. */
static void copy_path(char *out, size_t capacity, const char *path) {
    size_t length = strlen(path);
    if (length < capacity) {
        memcpy(out, path, length + 1);
        return;
    }
    memcpy(out, "...", 3);
    memcpy(out + 3, path + length - (capacity - 4), capacity - 3);
}

NIGH__PRINTF(6, 0)
static nigh_status fill(nigh_error *error, nigh_status status, const char *file, uint64_t offset, uint64_t line,
                        const char *format, va_list arguments) {
    if (error == NULL) return status;
    error->status = status;
    error->reason = NIGH_REASON_NONE;
    error->system_errno = 0;
    error->name_at = 0;
    memset(error->reserved, 0, sizeof error->reserved);
    error->offset = offset;
    error->line = line;
    error->file[0] = '\0';
    if (file != NULL) copy_path(error->file, sizeof error->file, file);
    (void)vsnprintf(error->why, sizeof error->why, format, arguments);
    return status;
}

#undef nigh__fail /* what analysers are told of them, see status.h */
#undef nigh__fail_at
#undef nigh__fail_line

nigh_status nigh__fail(nigh_error *error, nigh_status status, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)fill(error, status, NULL, NIGH_NO_OFFSET, 0, format, arguments);
    va_end(arguments);
    return status;
}

nigh_status nigh__fail_at(nigh_error *error, nigh_status status, const char *file, uint64_t offset, const char *format,
                          ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)fill(error, status, file, offset, 0, format, arguments);
    va_end(arguments);
    return status;
}

nigh_status nigh__fail_line(nigh_error *error, nigh_status status, const char *file, uint64_t line, const char *format,
                            ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)fill(error, status, file, NIGH_NO_OFFSET, line, format, arguments);
    va_end(arguments);
    return status;
}

nigh_status nigh__because(nigh_error *error, nigh_reason reason, nigh_status status) {
    if (error != NULL) error->reason = reason;
    return status;
}

/* strerror is not safe with threads. */
static const char *system_text(int system_errno, char *buffer, size_t capacity) {
    if (strerror_r(system_errno, buffer, capacity) != 0) (void)snprintf(buffer, capacity, "error %d", system_errno);
    return buffer;
}

nigh_status nigh__fail_system(nigh_error *error, int system_errno, const char *file, const char *verb) {
    nigh_status status = NIGH_EIO;
    if (system_errno == ENOENT) status = NIGH_ENOTFOUND;
    if (system_errno == ENOMEM) status = NIGH_ENOMEM;
    char text[128];
    (void)nigh__fail_at(error, status, file, NIGH_NO_OFFSET, "cannot %s: %s", verb,
                        system_text(system_errno, text, sizeof text));
    if (error != NULL) error->system_errno = system_errno;
    return status;
}

size_t nigh_error_format(const nigh_error *error, char *buffer, size_t capacity) {
    char place[640] = "";
    int used = 0;
    if (error->file[0] != '\0') {
        if (error->line != 0)
            (void)snprintf(place, sizeof place, "'%s', line %" PRIu64 ": ", error->file, error->line);
        else if (error->offset != NIGH_NO_OFFSET)
            (void)snprintf(place, sizeof place, "'%s', offset %" PRIu64 ": ", error->file, error->offset);
        else
            (void)snprintf(place, sizeof place, "'%s': ", error->file);
    }
    const char *why = error->why[0] != '\0' ? error->why : nigh_status_text(error->status);
    const char *hint = nigh_reason_text(error->reason);
    used = snprintf(buffer, capacity, "%s%s%s%s", place, why, *hint != '\0' ? "; " : "", hint);
    return used < 0 ? 0 : (size_t)used;
}
