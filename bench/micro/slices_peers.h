/* SPDX-License-Identifier: Apache-2.0 */
/* What a user would take instead of slice lists, each in a process of its own. */
#ifndef NIGH_BENCH_SLICES_PEERS_H
#define NIGH_BENCH_SLICES_PEERS_H

#include "slices_table.h"

/*
 * Adds every effort of FAISS MultiHash, IVF and HNSW and of hnswlib to the table, over
 * the files of its set; `self` is where this program lies.
 */
void slices_peers_measure(struct slices_table *table, const char *self, bool processor_time, size_t runs);

#endif
