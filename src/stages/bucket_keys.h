/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which keys of a band are shared.  Keys go by twice: the first time a table marks which were seen and seen again, as
 * in one run (dedup/candidates_bands.c), and the second time those that were seen again are handed out, with a few that
 * only share a slot of the table with another.
 */
#ifndef NIGH_STAGES_BUCKET_KEYS_H
#define NIGH_STAGES_BUCKET_KEYS_H

#include "stages/key_strips.h"

/* A posting: a document by its number among all. */
struct nigh__posting {
    uint32_t key, low; /* halves; a low one that does not count is 0 */
    uint64_t number;
};
typedef nigh_status nigh__posting_take(void *user, const struct nigh__posting *postings, size_t count,
                                       nigh_error *error);

struct nigh__bucket_keys {
    const nigh_staged *staged;
    const uint64_t *bases;
    uint64_t *firsts;  /* bits of all documents that are found by their keys, of each shard from a word on; owned */
    uint64_t *places;  /* of each shard, its first word; owned */
    uint64_t *befores; /* of each shard, how many such documents come before its own; owned */
    bool wide;         /* low halves count, */
    uint64_t narrow;   /* but for so many of these documents */
    uint64_t *table;   /* pairs of words: bits of slots seen, and seen again; owned */
    unsigned slot_bits;
    uint32_t least, most; /* the keys of the band that are ours */
    uint64_t number;      /* of the next of these documents, while they go by in order */
    nigh__posting_take *take;
    void *user;
};

/* For a task that has so many of the 2^32 keys of a band at most.  To be released, also after a failure. */
nigh_status nigh__bucket_keys_init(const nigh_staged *staged, const uint64_t *bases, uint64_t keys,
                                   struct nigh__bucket_keys *out, nigh_error *error);
void nigh__bucket_keys_release(struct nigh__bucket_keys *keys);

/* Of one band, the keys from `least` to `most`, both included; numbers ascend. */
nigh_status nigh__bucket_keys_each(struct nigh__bucket_keys *keys, uint32_t band, uint32_t least, uint32_t most,
                                   nigh__posting_take *take, void *user, nigh_error *error);

#endif
