/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the walk for a text begins: a sample of the nodes, stored as columns
 * (columns/columns.h).
 *
 *     node      0  1  2  3  4  5  6  7  8 ...
 *     sampled   x           x           x          every step-th: the 4th, or more apart where
 *                                                  that were more than half a million
 *
 * A centre says what most of a neighbourhood have, but a short text asks about a few words that
 * few of them may have: the nearest centres are often those of other words.  The nodes of a
 * sample have all of their own words.  As columns they are all compared in the time of one or
 * two hundred steps of a walk: of 733,000 signatures 183,000 in .25 ms.  Near nodes lie near
 * each other in the order of the graph, so that every step-th is from everywhere.
 *
 * Columns are as wide as rows of whole words, so that no width has to be known here.
 */
#ifndef NIGH_GRAPH_GRAPH_SAMPLE_H
#define NIGH_GRAPH_GRAPH_SAMPLE_H

#include "columns/column_scan.h"
#include "graph/graph.h"
#include "graph/graph_query.h"

/* How far apart sampled nodes are: as wanted, or where that is 0 the default, which is none (0) for few nodes. */
uint32_t nigh__graph_sample_step(uint32_t wanted, uint32_t nodes);

/* What the sample of `graph`, whose nodes and step are known, is made of rows in the order of the nodes; NULL: no
   memory.  The caller frees it. */
uint8_t *nigh__graph_sample_make(const nigh_context *context, const struct nigh__graph *graph, const uint64_t *rows,
                                 uint32_t words);

/* A search of columns. */
typedef nigh_status nigh__sample_scan(const struct nigh__column_scan *scan, struct nigh__column_answer *found,
                                      nigh_error *error);

/*
 * The sampled nodes that seem nearest to a query with planes (columns/column_plan.h: there is a slack), nearest first,
 * equally near ones by number: *count of them, at most `most`, which `nodes` has room for.  By nigh__column_scan or
 * nigh__column_scan_plain.
 */
nigh_status nigh__graph_sample_nearest(const nigh_context *context, const struct nigh__graph *graph, uint32_t words,
                                       const struct nigh__graph_query *query, nigh__sample_scan *scan, uint32_t most,
                                       uint32_t *nodes, uint32_t *count, nigh_error *error);

#endif
