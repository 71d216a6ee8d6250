/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file "tuning" of a collection: how it is best searched, and what was measured of that;
 * and "tuning-ranked", the same for queries of which some bits count more than others, or not
 * at all.
 * Advice and no content: it may be lost or damaged and all documents are still there and
 * still found.
 *
 *      0  magic, version, endianness mark, compatible, incompatible      as of every file
 *     24  file length                          u64    256
 *     32  documents, sequence                  u64    of the collection when it was measured
 *     48  method, k                            u32    "tuning-ranked": 1 scan or 6 columns
 *     56  checksum                             u64    of bytes 0..55 and 64..255
 *     64  breadth, candidates, sketch bits, effort, patience, probe, slice width, queries   u32
 *     96  postings, probes, target bytes, memory bytes, queries         u64
 *    136  target recall, target cdr, target seconds                     f64
 *    160  recall, low, high; cdr, low, high                             f64
 *    208  median, 99th percentile                                       f64    seconds
 *    224  slack                                f64    of columns, below 0: none; else 0
 *    232  zeros
 */
#ifndef NIGH_SEARCH_TUNING_H
#define NIGH_SEARCH_TUNING_H

#include "collection/collection.h"

#define NIGH__TUNING_NAME "tuning"
#define NIGH__TUNING_TEMPORARY "tuning.tmp"
#define NIGH__TUNING_RANKED_NAME "tuning-ranked"
#define NIGH__TUNING_RANKED_TEMPORARY "tuning-ranked.tmp"
#define NIGH__TUNING_MAGIC "\x89NIGHU\r\n"
#define NIGH__TUNING_LENGTH 256u
#define NIGH__MAX_TUNED_K 65536u

/* What a collection was tuned to, read when it was opened. */
struct nigh__tuning {
    bool tuned;
    nigh_tuning tuning; /* where it is tuned */
    nigh_error problem; /* why it cannot be used; NIGH_OK where it can, or there is none */
};
extern const struct nigh__extra nigh__tuning_extra;
extern const struct nigh__extra nigh__tuning_ranked_extra;

/* `ranked`: for queries that do not count every bit once. */
const struct nigh__tuning *nigh__tuning_of(const nigh_collection *collection, bool ranked);

#endif
