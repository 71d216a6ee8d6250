/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seeds, where a walk begins: for each value of each of the first slices of a signature,
 * the nodes that have it. If there are very many, the list has 512 of them, evenly chosen,
 * because nodes that share a slice may be a crowd, texts of one template, that is in no
 * other list.
 */
#ifndef NIGH_GRAPH_GRAPH_SEEDS_H
#define NIGH_GRAPH_GRAPH_SEEDS_H

#include "base/parallel.h"
#include "graph/graph.h"

/* How many slices, how wide, and the longest list: into the facts. */
void nigh__seeds_shape(uint64_t nodes, uint32_t width_bits, struct nigh__graph_facts *facts);

/* The caller frees both, also after a failure.  NIGH_OK, NIGH_ECANCELLED or NIGH_ENOMEM, without a detail. */
nigh_status nigh__seeds_make(struct nigh__parallel *parallel, const uint64_t *rows, uint32_t nodes, uint32_t words,
                             const struct nigh__graph_facts *facts, uint32_t **starts, uint32_t **seeds,
                             uint64_t *count);

#endif
