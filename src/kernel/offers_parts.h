/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of offers.h that there are, and what they share.  Included by src/kernel/ alone. */
#ifndef NIGH_KERNEL_OFFERS_PARTS_H
#define NIGH_KERNEL_OFFERS_PARTS_H

#include <string.h>

#include "kernel/offers.h"

#if defined(__x86_64__)
extern const struct nigh__offers nigh__offers_avx512;
extern const struct nigh__offers nigh__offers_avx2;
#endif

/*
 * `place` is how many of the row are nearer: those as near come next.  Puts the id where
 * it belongs among them.
 */
static inline enum nigh__offer_outcome nigh__offers_put(uint32_t *ids, uint16_t *distances, size_t count, size_t place,
                                                        uint32_t id, uint16_t distance) {
    while (place < count && distances[place] == distance && (ids[place] & ~NIGH__OFFER_MARK) < id) place++;
    if (place == count) return NIGH__OFFER_TOO_FAR;
    if (distances[place] == distance && (ids[place] & ~NIGH__OFFER_MARK) == id) return NIGH__OFFER_KNOWN;
    memmove(ids + place + 1, ids + place, (count - place - 1) * sizeof *ids);
    memmove(distances + place + 1, distances + place, (count - place - 1) * sizeof *distances);
    ids[place] = id | NIGH__OFFER_MARK;
    distances[place] = distance;
    return NIGH__OFFER_TAKEN;
}

#endif
