/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which was the first with a given mark: a hash table of numbers, of documents or of
 * whatever else has a mark each.  The marks stay with the caller, in an array by number.
 */
#ifndef NIGH_DEDUP_SAME_H
#define NIGH_DEDUP_SAME_H

#include "dedup/pass.h"

struct nigh__same {
    const nigh_context *context;
    uint64_t *slots;   /* some of a mark << NIGH__NUMBER_BITS | 1 + the number that has it; 0: empty */
    size_t slot_count; /* a power of two */
    size_t used;
};

void nigh__same_init(const nigh_context *context, struct nigh__same *same);
void nigh__same_release(struct nigh__same *same);

/* Asks memory for what a search for this mark will look at first. */
static inline void nigh__same_prefetch(const struct nigh__same *same, const struct nigh__mark *mark) {
    if (same->slot_count > 0) __builtin_prefetch(&same->slots[(size_t)mark->words[0] & (same->slot_count - 1)], 1);
}

/*
 * *first is the first number that came with the mark of this one, itself where none did.
 * Numbers come from 0 on, one after the other; one that was not the first may come again,
 * with another mark.  NIGH_OK, NIGH_ENOMEM.
 */
nigh_status nigh__same_find(struct nigh__same *same, const struct nigh__mark *marks, uint64_t number, uint64_t *first,
                            nigh_error *error);

#endif
