/* SPDX-License-Identifier: Apache-2.0 */
/* Which documents of a segment satisfy an expression (search/where.h). */
#ifndef NIGH_SEARCH_WHERE_SELECT_H
#define NIGH_SEARCH_WHERE_SELECT_H

#include "collection/segment.h"
#include "search/where.h"

/* Removes those that do not from a bitmap.  NIGH_ECORRUPT where the segment lies; NIGH_EIO; NIGH_ENOMEM. */
nigh_status nigh__where_select(const struct nigh__where *where, const struct nigh__segment *segment,
                               uint64_t *documents, nigh_error *error);

#endif
