/* SPDX-License-Identifier: Apache-2.0 */
/* How many of the ten nearest of some nodes, found by comparing them with all, are among their neighbours; and how far
 * these are. */
#ifndef NIGH_GRAPH_GRAPH_RECALL_H
#define NIGH_GRAPH_GRAPH_RECALL_H

#include "base/parallel.h"
#include "graph/graph.h"
#include "graph/neighbours.h"

#define NIGH__GRAPH_RECALL_NODES 200u

/* Of so many nodes, evenly chosen; into the facts.  A neighbour as near as the tenth is as good.  False: stopped. */
bool nigh__graph_measure(struct nigh__parallel *parallel, const uint64_t *rows, const uint64_t *masks, uint32_t words,
                         const struct nigh__neighbours *neighbours, struct nigh__graph_facts *facts);

/* What is far in this graph (facts->far), by the neighbours of all nodes.  False: no memory. */
bool nigh__graph_far(const nigh_context *context, const struct nigh__neighbours *neighbours, uint32_t words,
                     struct nigh__graph_facts *facts);

#endif
