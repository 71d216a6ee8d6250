/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a deduplication knows, and its steps:
 *
 *     gather       read, hash, sign: a struct nigh__entry_document each, and keys    gather.c
 *     candidates   documents that share a key, few bits apart, of a fit length       candidates.c
 *     verify       read once more those in a candidate pair, compare their sets      verify.c
 *     cluster      which stay, and which go with whom                                cluster.c
 *
 * and then, as often as asked, pairs, kept records (dedup_write.c) and the report.
 */
#ifndef NIGH_DEDUP_DEDUPLICATION_H
#define NIGH_DEDUP_DEDUPLICATION_H

#include "base/memory.h"
#include "dedup/rereading.h"

struct nigh__duplicate {
    uint64_t number; /* of the record in the input */
    uint64_t text_length;
    double score; /* by which it is kept; higher is better */
    size_t id;    /* place in the ids */
    uint32_t id_length;
    uint32_t features; /* distinct ones; 0: empty */
    uint32_t copy_of;  /* the earliest document with the same text: itself where it is that */
    uint32_t kept;     /* the document kept for it */
    float similarity;  /* to that one */
    uint32_t distance; /* of the signatures to that one; NIGH_ALL: none */
};

struct nigh_dedup {
    nigh_context *context;
    nigh_dedup_options options;   /* complete; what they point to is ours, but for the progress */
    char *score_key, *temporary;  /* owned */
    struct nigh__source *source;  /* NULL: of signatures */
    struct nigh__array documents; /* of struct nigh__duplicate, in the order of the input */
    struct nigh__array ids;       /* of char */
    struct nigh__sorter *pairs;   /* alike: (first << 32 | second, similarity as float bits << 32 | distance); those
                                     of copies are not in it; NULL: not asked for */
    nigh_dedup_info info;
};

#endif
