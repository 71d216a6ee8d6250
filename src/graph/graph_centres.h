/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The neighbourhoods that a query seems to belong to.  All groups are compared with it,
 * by their sketches, which lie one after the other; then the centres of the nearest
 * groups.  Included by src/search/graph_* alone.
 */
#ifndef NIGH_GRAPH_GRAPH_CENTRES_H
#define NIGH_GRAPH_GRAPH_CENTRES_H

#include "graph/graph_asked.h"
#include "graph/graph_parts.h"

/*
 * Nodes to begin from, nearest first: those of the nearest centres of the nearest groups, of each as many as `starts`
 * says; equally near ones go by number.  A node may be there twice, for it may be the nearest to two centres.  *count
 * is how many there are, 0 where the graph has no centres.
 */
nigh_status nigh__graph_centres(const struct nigh__graph_asked *asked, const struct nigh__graph *graph,
                                const struct nigh__graph_starts *starts, uint32_t nodes[NIGH__GRAPH_MAX_CENTRES],
                                uint32_t *count, nigh_error *error);

/*
 * The same for a walk that is lost: of nigh__graph_lost_groups(), and those that are as near as the last of them.
 * Where a query is near nothing, the group that it belongs to is not one of the few nearest, though its centre is.
 */
nigh_status nigh__graph_lost_centres(const struct nigh__graph_asked *asked, const struct nigh__graph *graph,
                                     const struct nigh__graph_starts *starts, uint32_t nodes[NIGH__GRAPH_MAX_CENTRES],
                                     uint32_t *count, nigh_error *error);

#endif
