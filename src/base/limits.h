/* SPDX-License-Identifier: Apache-2.0 */
/* What the limits of nigh.h allow: widths of signatures and ids of documents, for all that take one in. */
#ifndef NIGH_BASE_LIMITS_H
#define NIGH_BASE_LIMITS_H

#include <stdbool.h>

#include "nigh.h"

/* Whether signatures may have this width: a multiple of 8 from 8 to NIGH_MAX_WIDTH_BITS. */
bool nigh__width_valid(uint64_t width_bits);

/* Returns: NULL, or what is wrong with an id of that length, a constant. */
const char *nigh__id_problem(size_t length);

/* Whether there is no zero byte, tab or newline in it, as in all ids before these were allowed. */
bool nigh__id_is_line(const char *id, size_t length);

#endif
