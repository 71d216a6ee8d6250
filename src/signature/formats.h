/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of signature files: their names, the endings they go by, and what their ids may hold. */
#ifndef NIGH_SIGNATURE_FORMATS_H
#define NIGH_SIGNATURE_FORMATS_H

#include <stdbool.h>

#include "nigh.h"

#define NIGH__MAX_ROW_BYTES (NIGH_MAX_WIDTH_BITS / 8)

/* Returns: the format a path's ending stands for, in either case; NIGH_FORMAT_AUTO for an ending of no format. */
nigh_signature_format nigh__format_by_ending(const char *path);
/* The same by endings that nothing but signatures has: .hex, not .txt. */
nigh_signature_format nigh__format_by_own_ending(const char *path);

/* Whether signatures may have this width: a multiple of 8 from 8 to NIGH_MAX_WIDTH_BITS. */
bool nigh__width_valid(uint64_t width_bits);

/*
 * An id travels through lines and tab-separated columns, so a tab in it is
 * refused with the rest.
 *
 * Returns: NULL, or what is wrong with the id, a constant.
 */
const char *nigh__id_problem(const char *id, size_t length);

#endif
