/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is compared with the nodes of a graph: a query, and which of its bits count
 * (kernel/weighted.h).
 *
 * Groups and centres have only the first words of a row, and sketches fewer still.  Planes
 * of a query are as long as a row each, so that of those a copy is made, cut to as many
 * words.  Included by src/graph/graph_* alone.
 */
#ifndef NIGH_GRAPH_GRAPH_ASKED_H
#define NIGH_GRAPH_GRAPH_ASKED_H

#include "graph/graph_parts.h"
#include "graph/graph_query.h"
#include "graph/row_comparer.h"

struct nigh__graph_asked {
    struct nigh__row_comparer comparer;
    const struct nigh__graph_query *query;
    uint32_t farthest;             /* distance that there can be */
    struct nigh__graph_share part; /* this and what follows are set where there are planes */
    uint64_t *sketch;              /* planes, sketch_words each */
    uint64_t *centre;              /* planes, centre_words each; behind those */
    size_t room;                   /* of both, in words; kept from one query to the next */
};

/* False: no memory for the copies.  `words` of a row. */
bool nigh__graph_asked_make(struct nigh__graph_asked *asked, const nigh_context *context,
                            const struct nigh__graph *graph, uint32_t words, const struct nigh__graph_query *query);
void nigh__graph_asked_release(struct nigh__graph_asked *asked, const nigh_context *context);

/* The distances to groups or centres one after the other, `words` each; returns the smallest, UINT32_MAX of none. */
uint32_t nigh__graph_asked_rows(const struct nigh__graph_asked *asked, const uint64_t *rows, uint32_t count,
                                uint32_t words, uint32_t *distances);

#endif
