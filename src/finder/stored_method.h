/* SPDX-License-Identifier: Apache-2.0 */
/* Tables in a file as a way to search (scan/method.h). */
#ifndef NIGH_FINDER_STORED_METHOD_H
#define NIGH_FINDER_STORED_METHOD_H

#include "scan/method.h"

extern const struct nigh__search_method nigh__table_method;

/* Whether a search within the radius misses nothing by the tables of a segment. */
bool nigh__stored_guarantees(const struct nigh__segment *segment, uint32_t radius);

#endif
