/* SPDX-License-Identifier: Apache-2.0 */
/* Which document was the first with a given mark: a hash table of document numbers. */
#ifndef NIGH_DEDUP_SAME_H
#define NIGH_DEDUP_SAME_H

#include "dedup/pass.h"

struct nigh__same {
    const nigh_context *context;
    struct nigh__array marks;  /* of struct nigh__mark, of distinct ones */
    struct nigh__array firsts; /* of uint32_t, the document of each */
    uint64_t *slots;           /* half of a mark << 32 | 1 + an index into these; 0: empty */
    size_t slot_count;         /* a power of two */
};

void nigh__same_init(const nigh_context *context, struct nigh__same *same);
void nigh__same_release(struct nigh__same *same);

/* Asks memory for what a search for this mark will look at first. */
static inline void nigh__same_prefetch(const struct nigh__same *same, const struct nigh__mark *mark) {
    if (same->slot_count > 0) __builtin_prefetch(&same->slots[(size_t)mark->words[0] & (same->slot_count - 1)], 1);
}

/* *first is the first document that came with this mark, `document` itself where none did.  NIGH_OK, NIGH_ENOMEM. */
nigh_status nigh__same_find(struct nigh__same *same, const struct nigh__mark *mark, uint32_t document, uint32_t *first,
                            nigh_error *error);

#endif
