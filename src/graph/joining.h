/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares nodes that are likely to be near, all with all, and offers each pair to both rows of neighbours.
 * Their signatures are copied together first, so that the kernel reads them from the cache and in a row: some 3
 * ns a pair of 1,024 bits.
 *
 * Most pairs that are near enough are known from before.  As a pair is always offered
 * both ways, one look at the row of the one node tells: if the other is in it neither
 * offer is worth making, for what is missing in a row has been pushed out of it.  A small
 * table of the row answers that for all who are compared with its node.  It can tell most
 * where that row reaches farther than the other's, so that nodes whose rows reach far
 * come first.
 *
 * Where rows have masks, each of the two sees the other in the bits that count for itself, and is offered that.
 */
#ifndef NIGH_GRAPH_JOINING_H
#define NIGH_GRAPH_JOINING_H

#include "graph/neighbours.h"
#include "graph/row_comparer.h"

/* What a thread compares with. */
struct nigh__joiner {
    uint32_t room;       /* nodes at once */
    uint32_t *nodes;     /* [room] in the order that they are compared in */
    uint64_t *keys;      /* [2 * room] to sort them */
    uint64_t *rows;      /* [room * words] */
    uint64_t *masks;     /* [room * words] where there are masks */
    uint32_t *distances; /* [room] */
    uint32_t *back;      /* [room] the same as the others see it, where there are masks */
    uint32_t *nearer;    /* [room] of both what tells whether one is near enough, where there are masks */
    uint32_t *limits;    /* [room] */
    uint32_t *near;      /* [room + padding] which of them are near enough */
    uint32_t *nodes_at;  /* [64 * words + 1] how many of them are at each distance */
    uint64_t *known; /* [NIGH__JOINER_KNOWN] neighbours of the node at hand, by a hash: its turn above the neighbour */
    uint64_t turn;   /* counts nodes, so that the table need not be cleared for each */
};

#define NIGH__JOINER_KNOWN 1024u

struct nigh__joining {
    const nigh_context *context;
    struct nigh__row_comparer comparer;
    const uint64_t *rows;  /* of all nodes */
    const uint64_t *masks; /* of all nodes, or NULL: which bits count for each (graph/graph_make.h) */
    uint32_t words;
    struct nigh__neighbours *neighbours;
    struct nigh__joiner *joiners; /* of each thread */
    uint32_t threads;
};

bool nigh__joining_make(const nigh_context *context, const uint64_t *rows, const uint64_t *masks, uint32_t words,
                        struct nigh__neighbours *neighbours, uint32_t threads, struct nigh__joining *out);
/* Room for so many nodes at once, for each thread. */
bool nigh__joining_room(struct nigh__joining *joining, uint32_t nodes);
void nigh__joining_release(struct nigh__joining *joining);

/*
 * Each of `count` different nodes with all others, where all their rows are empty yet, and no other thread offers them
 * anything.  The same as nigh__join() of all; who finds a place is chosen first, so that nobody is pushed out again.
 */
void nigh__join_first(const struct nigh__joining *joining, uint32_t thread, const uint32_t *nodes, uint32_t count);
/* Each of the first `active` nodes with all that come after it.  A node may be there twice. */
void nigh__join(const struct nigh__joining *joining, uint32_t thread, const uint32_t *given, uint32_t count,
                uint32_t active);

#endif
