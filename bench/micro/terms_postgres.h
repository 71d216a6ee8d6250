/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL's side of bench_terms: bench/peer/peer_postgres.py, and what it tells. */
#ifndef NIGH_BENCH_TERMS_POSTGRES_H
#define NIGH_BENCH_TERMS_POSTGRES_H

#include "terms_set.h"

struct terms_postgres_figures {
    double load_seconds, build_seconds;
    double index_bytes, table_bytes;
    /* Seconds of a question: all of it, of which reading the index, and processor time (negative: not known). */
    double median, high, mean, index_median, processor_mean;
    double candidates, wrong; /* rows that the index gave, and those of them that were not it: means */
};

/*
 * With bloom: contrib's bloom index of `length` bits a row and `hashes` a word; else GIN.  False, and says
 * why, where there is none.  Ends the program where a number of answers is not the true one.
 */
bool terms_postgres_measure(const struct terms_set *set, const char *self, bool bloom, uint32_t length, uint32_t hashes,
                            struct terms_postgres_figures *out);

#endif
