/* SPDX-License-Identifier: Apache-2.0 */
/* The formats of signature files: their names and the endings they go by. */
#ifndef NIGH_SIGNATURE_FORMATS_H
#define NIGH_SIGNATURE_FORMATS_H

#include "base/escape.h"
#include "nigh.h"

#define NIGH__MAX_ROW_BYTES (NIGH_MAX_WIDTH_BITS / 8)

/* A line of hex: an id, a tab, two digits a byte. */
#define NIGH__MAX_HEX_LINE (NIGH__MAX_ESCAPED_ID + 1 + (size_t)2 * NIGH__MAX_ROW_BYTES)

/* Returns: the format a path's ending stands for, in either case; NIGH_FORMAT_AUTO for an ending of no format. */
nigh_signature_format nigh__format_by_ending(const char *path);
/* The same by endings that nothing but signatures has: .hex, not .txt. */
nigh_signature_format nigh__format_by_own_ending(const char *path);

#endif
