/* SPDX-License-Identifier: Apache-2.0 */
/* Hints of nigh search: what would make it faster. */
#ifndef NIGH_CLI_SEARCH_HINTS_H
#define NIGH_CLI_SEARCH_HINTS_H

#include "common.h"

/* Notes that columns or tables would answer such queries much faster, where they would.  True: that was to be asked. */
bool cli_search_hint(struct cli_job *job, const nigh_collection *collection, uint32_t width_bits,
                     const nigh_search_options *asked);

/* The first operand, and those right behind it that are collections too, sound or not: no query can be one. */
size_t cli_search_count_collections(const struct cli_job *job);

#endif
