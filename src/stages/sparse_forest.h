/* SPDX-License-Identifier: Apache-2.0 */
/* Which of some numbers, of any size, belong together: union-find over a table of the numbers that occur. */
#ifndef NIGH_STAGES_SPARSE_FOREST_H
#define NIGH_STAGES_SPARSE_FOREST_H

#include "base/memory.h"

struct nigh__sparse_forest {
    const nigh_context *context;
    uint64_t *table;            /* places in `numbers`, from 1; 0: free */
    uint64_t mask;              /* slots - 1 */
    struct nigh__array numbers; /* of uint64_t */
    struct nigh__array above;   /* of uint64_t: the place above it; its own: it is at the top, and the smallest */
};

void nigh__sparse_forest_init(const nigh_context *context, struct nigh__sparse_forest *out);
void nigh__sparse_forest_release(struct nigh__sparse_forest *forest); /* accepts one of zeros */

/* Two numbers belong together. */
nigh_status nigh__sparse_forest_join(struct nigh__sparse_forest *forest, uint64_t a, uint64_t b, nigh_error *error);

/* Of the so-manieth number, the smallest that it belongs together with. */
uint64_t nigh__sparse_forest_top(struct nigh__sparse_forest *forest, size_t place);

#endif
