/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of the nearest that are known so far: who has a place in one, and putting it
 * there.  One entry per CPU variant, best first; the portable entry is the definition,
 * all others must equal it.
 */
#ifndef NIGH_KERNEL_OFFERS_H
#define NIGH_KERNEL_OFFERS_H

#include <stddef.h>
#include <stdint.h>

/* Rows have room for a multiple of so many; what is behind the last one stays as it is. */
#define NIGH__OFFER_LANES 16u
/* Places behind the last position that is found, which may be written to. */
#define NIGH__OFFER_PADDING 16u

#define NIGH__OFFER_MARK UINT32_C(0x80000000) /* beside an id; takes no part in the order */

enum nigh__offer_outcome {
    NIGH__OFFER_TOO_FAR, /* all that are there come before it */
    NIGH__OFFER_KNOWN,   /* it is there already */
    NIGH__OFFER_TAKEN,   /* it is there now, with a mark, and the last one is not */
};

struct nigh__offers {
    const char *name;
    uint32_t needs; /* set of NIGH__CPU_* */

    /*
     * Offers an id (without a mark) at a distance to a row of `count` (1 or more) ids and
     * their distances, which ascend by distance, those of one distance by id.
     */
    enum nigh__offer_outcome (*offer)(uint32_t *ids, uint16_t *distances, size_t count, uint32_t id, uint16_t distance);

    /*
     * The positions, ascending, of those of `count` distances that are at most `limit` or
     * at most as much as stands at the same position of `limits`.  Returns how many there are;
     * `positions` has room for all and NIGH__OFFER_PADDING more.
     */
    size_t (*within)(const uint32_t *distances, const uint32_t *limits, size_t count, uint32_t limit,
                     uint32_t *positions);
};

/* The entries of this build, best first; NULL past the end. */
const struct nigh__offers *nigh__offers_at(size_t index);

/*
 * The best entry that this CPU can run and that asks no more of it than the
 * distance kernel of that name does; NULL: the best.
 */
const struct nigh__offers *nigh__offers_choose(const char *name);

#endif
