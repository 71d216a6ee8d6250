/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Searching a graph of near neighbours (graph/graph.h): one query, one segment.
 *
 *     seeds     nodes in the middle of the neighbourhoods that seem nearest
 *               (graph/graph_centres.h), and those that share a slice with the query, or
 *               some of them where they are many; the fewer, the smaller E
 *               (nigh__graph_starts, nigh__graph_seeds_taken)
 *     pool      the E nearest nodes met so far, of equally near ones those met first; a
 *               node that is not nearer than the E-th is forgotten
 *     step      the nearest of the pool whose edges were not followed yet, of equally
 *               near ones the one met last: the nodes at their other ends that were not
 *               met before are to be compared
 *     end       when all edges of the pool were followed, or after `patience` steps
 *               that changed nothing in the k best; but while the walk is lost, or fewer
 *               than k nodes were found, it goes on:
 *     lost      nothing found is as near as its nearest neighbour is to almost any node
 *               (facts.far), so that the seeds were of other parts of the graph, from
 *               which no edge leads on.  Seeds too are then, until it is found: the nodes
 *               of the nearest centres of many more groups, the more, the larger E, and
 *               that already after some steps, for later a long walk meets by luck what
 *               is no farther than that; nodes that differ from the query in one bit of a
 *               slice, or share one that was left out, of one slice after the other
 *     fewer     some evenly chosen nodes, and then all
 *
 * Nodes are first compared by their sketch, the first bits of the signature. A node whose sketch is clearly farther
 * than its share of the E-th distance is not looked at again (nigh__graph_sketch_limit).
 *
 * Memory is slow, and a walk that waited for every node would do nothing else. So it works in turns, and each turn
 * fetches ahead what the next one uses. A step is therefore chosen before the nodes of the last ones have been
 * compared; this is part of the definition:
 *
 *     turn t    1  some seeds, or some steps (nigh__graph_followed), all chosen before the
 *                  nodes of the first are looked at: new nodes are met
 *               2  the nodes that were left by sketch in turn t - 1 are compared whole
 *               3  the nodes met in turn t - 1 are compared by sketch
 *
 * Where not every bit counts (planes of the query), all distances are of those that do.  Seeds are then the nearest of
 * the sample (graph/graph_sample.h), or nodes of centres where there is none, a walk is never lost, and sketches have a
 * wider limit (nigh__graph_share); nodes that pass it are compared whole anew.
 *
 * Both ways of searching give the same keys, steps and counts, on every machine.  Nothing is proven of the answer,
 * unless all nodes were compared.
 */
#ifndef NIGH_GRAPH_GRAPH_SEARCH_H
#define NIGH_GRAPH_GRAPH_SEARCH_H

#include "base/memory.h"
#include "graph/graph.h"
#include "graph/graph_query.h"

static inline bool nigh__graph_allows(const struct nigh__graph_query *query, uint32_t row) {
    return query->allowed == NULL || (query->allowed[row / 64] >> row % 64 & 1) != 0;
}

/* `keys` as in struct nigh__slice_answer. */
struct nigh__graph_answer {
    struct nigh__array keys; /* uint64_t (scan/nearest.h), sorted: of rows, at most k */
    uint64_t seeds, steps;
    uint64_t compared; /* nodes, by their sketches or whole; groups and centres are not counted */
    uint64_t whole;    /* nodes whose distance is known: if all of the graph, the answer is exact */
    uint64_t depth;    /* nodes of the pool nearer than the last of k rows; all, where fewer were found */
    bool beyond; /* nodes left the pool, or were not looked at, that are nearer than it may be: nothing is exact */
};

/* What a thread works with; all memory that a search takes belongs to it, so that a fault may jump out of one. */
struct nigh__graph_scratch;

nigh_status nigh__graph_scratch_new(const nigh_context *context, struct nigh__graph_scratch **out, nigh_error *error);
void nigh__graph_scratch_free(struct nigh__graph_scratch *scratch); /* accepts NULL */

/*
 * The fast way, and the plain one that it must equal.  `rows` are the signatures of the segment.  Every number of the
 * graph is compared with its bound before it is used; a lie is NIGH_ECORRUPT.  The caller is inside guards for the
 * sidecar and the rows.
 */
nigh_status nigh__graph_search(struct nigh__graph_scratch *scratch, const struct nigh__graph *graph,
                               const uint64_t *rows, uint32_t words, const struct nigh__graph_query *query,
                               struct nigh__graph_answer *answer, nigh_error *error);
nigh_status nigh__graph_search_plain(const nigh_context *context, const struct nigh__graph *graph, const uint64_t *rows,
                                     uint32_t words, const struct nigh__graph_query *query,
                                     struct nigh__graph_answer *answer, nigh_error *error);

#endif
