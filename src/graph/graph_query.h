/* SPDX-License-Identifier: Apache-2.0 */
/* What is asked of a graph. */
#ifndef NIGH_GRAPH_GRAPH_QUERY_H
#define NIGH_GRAPH_GRAPH_QUERY_H

#include <stdint.h>

struct nigh__graph_query {
    const uint64_t *words;   /* of the query */
    const uint64_t *planes;  /* what counts in it (kernel/weighted.h), where plane_count is not 0 */
    uint32_t plane_count;    /* 0: every bit counts one */
    uint32_t k;              /* not NIGH_ALL */
    uint32_t limit;          /* only rows nearer than this are wanted; UINT32_MAX: any */
    uint32_t effort;         /* E, at least k */
    uint32_t patience;       /* 0: no such end */
    const uint64_t *allowed; /* NULL, or a bit for each row that may be an answer: a walk leads through all of them */
};

#endif
