/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking a graph as a method of search.  NIGH_SEARCH_GRAPH takes it wherever there is one;
 * NIGH_SEARCH_AUTO where nothing must be certain, k documents are wanted and not all within
 * a radius, no bits are masked, nothing is said about slice lists, and a walk is predicted
 * to cost less than the scan.
 */
#ifndef NIGH_GRAPH_GRAPH_METHOD_H
#define NIGH_GRAPH_GRAPH_METHOD_H

#include "scan/method.h"

extern const struct nigh__search_method nigh__graph_method;

#endif
