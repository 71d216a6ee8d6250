/* SPDX-License-Identifier: Apache-2.0 */
/* The contenders: our own methods and the peers, built and given the settings to be tried. */
#ifndef NIGH_BENCH_TOPK_METHODS_H
#define NIGH_BENCH_TOPK_METHODS_H

#include "topk_table.h"

#define TOPK_GRAPH "graph"
#define TOPK_LOADED "graph, loaded"
#define TOPK_SCAN "scan, 8 at once"
#define TOPK_WIDE_PEER "hnswlib M 32, efC 200"

/*
 * Adds those that `chosen` names, "scan,graph,hnswlib32", or all where it is NULL; `self`
 * is where this program lies.
 */
void topk_ours_add(struct topk_table *table, const char *chosen);
void topk_peers_add(struct topk_table *table, const char *chosen, const char *self, const char *keep);

/* Ends the program for a name there is not. */
void topk_methods_check(const char *chosen);
bool topk_is_chosen(const char *chosen, const char *name);
bool topk_peers_chosen(const char *chosen);

/* Rungs of a ladder: about 1.4 times the one before. */
uint32_t topk_rung(uint32_t first, uint32_t number);

#endif
