/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failing, with the reason.  Every function that can fail ends its bad paths
 * with one of these, so that a status never travels without its detail:
 *
 *     return nigh__fail_at(error, NIGH_ECORRUPT, path, offset, "section %u ends past the file", type);
 */
#ifndef NIGH_BASE_STATUS_H
#define NIGH_BASE_STATUS_H

#include <stdbool.h>

#include "nigh.h"

#define NIGH__PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))

/* No file is involved. */
nigh_status nigh__fail(nigh_error *error, nigh_status status, const char *format, ...) NIGH__PRINTF(3, 4);

/* "no memory WHAT", such as "for a path" or "to sort".  In sight of compilers, so that they know it never succeeds. */
static inline nigh_status nigh__no_memory(nigh_error *error, const char *what) {
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory %s", what);
    return NIGH_ENOMEM;
}

/* At a byte of a file; `offset` may be NIGH_NO_OFFSET. */
nigh_status nigh__fail_at(nigh_error *error, nigh_status status, const char *file, uint64_t offset, const char *format,
                          ...) NIGH__PRINTF(5, 6);

/* At a line of a text file, counting from 1. */
nigh_status nigh__fail_line(nigh_error *error, nigh_status status, const char *file, uint64_t line, const char *format,
                            ...) NIGH__PRINTF(5, 6);

/* The system refused: "cannot VERB: STRERROR".  ENOENT gives NIGH_ENOTFOUND, ENOMEM NIGH_ENOMEM, others NIGH_EIO. */
nigh_status nigh__fail_system(nigh_error *error, int system_errno, const char *file, const char *verb);

/* Analysers of one source at a time are told that failing never succeeds. */
#ifdef __clang_analyzer__
#define nigh__fail(error, status, ...) (nigh__fail(error, status, __VA_ARGS__), (status))
#define nigh__fail_at(error, status, ...) (nigh__fail_at(error, status, __VA_ARGS__), (status))
#define nigh__fail_line(error, status, ...) (nigh__fail_line(error, status, __VA_ARGS__), (status))
#endif

/* Adds the reason to a failure: `return nigh__because(error, NIGH_REASON_..., nigh__fail(error, ...));` */
nigh_status nigh__because(nigh_error *error, nigh_reason reason, nigh_status status);

#endif
