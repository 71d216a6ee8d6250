/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The choice of a variant, and the portable one, which finds a place by halving.
 *
 * Where neighbours are made known to each other, much of what is offered to a row is there
 * already, and the rest belongs anywhere in it: there is nothing to guess, so the fewer
 * branches the better.  Of forty, halving takes six steps that wait for each other;
 * comparing all at once takes three registers.
 */
#include "kernel/offers.h"

#include "kernel/features.h"
#include "kernel/offers_parts.h"

/* How many of a row are nearer.  Halving without a branch. */
static size_t count_nearer(const uint16_t *distances, size_t count, uint16_t distance) {
    size_t place = 0;
    size_t left = count;
    while (left > 1) {
        const size_t half = left / 2;
        place += half & (0u - (size_t)(distances[place + half - 1] < distance));
        left -= half;
    }
    return place + (distances[place] < distance);
}

static enum nigh__offer_outcome offer(uint32_t *ids, uint16_t *distances, size_t count, uint32_t id,
                                      uint16_t distance) {
    return nigh__offers_put(ids, distances, count, count_nearer(distances, count, distance), id, distance);
}

static size_t within(const uint32_t *distances, const uint32_t *limits, size_t count, uint32_t limit,
                     uint32_t *positions) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t most = limits[i] > limit ? limits[i] : limit;
        positions[found] = (uint32_t)i;
        found += distances[i] <= most;
    }
    return found;
}

static const struct nigh__offers offers_generic = {.name = "generic", .needs = 0, .offer = offer, .within = within};

static const struct nigh__offers *const variants[] = {
#if defined(__x86_64__)
    &nigh__offers_avx512,
    &nigh__offers_avx2,
#endif
    &offers_generic,
};

NIGH__KERNEL_CHOICE(nigh__offers)
