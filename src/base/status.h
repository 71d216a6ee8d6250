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

/* At a byte of a file; `offset` may be NIGH_NO_OFFSET. */
nigh_status nigh__fail_at(nigh_error *error, nigh_status status, const char *file, uint64_t offset, const char *format,
                          ...) NIGH__PRINTF(5, 6);

/* At a line of a text file, counting from 1. */
nigh_status nigh__fail_line(nigh_error *error, nigh_status status, const char *file, uint64_t line, const char *format,
                            ...) NIGH__PRINTF(5, 6);

/* The system refused: "cannot VERB: STRERROR".  ENOENT gives NIGH_ENOTFOUND, ENOMEM NIGH_ENOMEM, others NIGH_EIO. */
nigh_status nigh__fail_system(nigh_error *error, int system_errno, const char *file, const char *verb);

/*
 * Copies an options struct that may be older (shorter) or newer (longer) than
 * ours: `out` keeps its defaults where the caller's struct ends.  A longer one
 * is refused when a field we do not know is set.  NULL options leave `out` alone.
 */
nigh_status nigh__options_copy(void *out, size_t out_size, const void *options, nigh_error *error);

/* Fills a caller's info struct up to the size it declares. */
void nigh__info_copy(void *out, const void *info, size_t info_size);

#endif
