/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What share of near-copies a number of probes finds.  There is no formula: it
 * depends on how the weights of one query lie to each other.  So near-copies are
 * drawn, always the same ones, and it is counted when each would be found.
 *
 *     weights      |N(0,1)| for each bit, in bytes as nigh_signer_sign() gives them
 *     near-copy    its sums are rho times those of the query and sqrt(1 - rho^2) times noise;
 *                  a bit flips where the sign does.  Drawn again where none flips, for equal
 *                  rows are always found, or more than `radius`
 *     rho          .80 to 1, the lower the likelier, in proportion to 1 - rho
 *     found        by probe r of a table: r combinations of the bits it leads with come before
 *                  the one that flipped.  Of several tables the first to find it counts
 *
 * So one drawing answers for every number of probes.  The error is that of the
 * samples, .005 at a recall of .95 and 2,048 samples, and that of the assumptions.
 *
 * The one that counts is how rho is spread.  What differs in 3 bits need not be a
 * near-copy: where documents crowd, some are neighbours that came so near by chance,
 * and their bits differ where they are surer.  There are the more of them, the farther
 * away one looks.  With rho even, as if all were near-copies, 22% of the matches have
 * one flip and 44% three; in real collections and in the generator's 9 to 11% and 60 to
 * 65%, and at each number of flips fewer are found.  With 1 - rho it is 11 and 58%, and
 * the recall that of queries for which one match is enough: of those of short texts,
 * the hardest, about as they are, of all others too low.  With (1 - rho)^2 it would be
 * 7 and 66%, and the recall that of all matches.  docs/lab/radius-search.md has the numbers.
 *
 * Counting the combinations before one is a walk over them that leaves a branch as
 * soon as it is too dear, so it takes about as many steps as it counts.
 *
 * Cost: about 4 ms for 64 bits, most of it for copies with too many flips.  Random numbers
 * are SplitMix64's, normal ones come from a table of quantiles; + - * / and sqrt
 * alone are used, so that every machine gets the same.
 */
#include "finder/recall.h"

#include <math.h>
#include <string.h>

#include "base/logarithm.h"
#include "base/rng.h"

#define SEED UINT64_C(0x9d3f1c6a5be28047)
#define QUANTILES 2048u
#define QUANTILE_BITS 11u
#define MIN_CORRELATION 0.80
#define MAX_SAMPLES 2048u
#define MIN_SAMPLES 256u
#define TRIED_BITS (UINT64_C(1) << 22) /* drawn at most, whatever the radius makes of them */
#define MAX_ROTATIONS 3u
#define MAX_WIDTH 4096u /* wider ones are drawn as this, with the radius in proportion */

/* ------------------------------------------------------- normal numbers -- */

/* Where the normal distribution reaches `share`, at least 1/2; Acklam's approximation, within 1.2e-9. */
static double quantile(double share) {
    if (share > 1 - 0.02425) {
        double q = sqrt(-2 * nigh__ln(1 - share));
        return -(((((-7.784894002430293e-03 * q - 3.223964580411365e-01) * q - 2.400758277161838e+00) * q -
                   2.549732539343734e+00) *
                      q +
                  4.374664141464968e+00) *
                     q +
                 2.938163982698783e+00) /
               ((((7.784695709041462e-03 * q + 3.224671290700398e-01) * q + 2.445134137142996e+00) * q +
                 3.754408661907416e+00) *
                    q +
                1);
    }
    double q = share - 0.5;
    double r = q * q;
    return (((((-3.969683028665376e+01 * r + 2.209460984245205e+02) * r - 2.759285104469687e+02) * r +
              1.383577518672690e+02) *
                 r -
             3.066479806614716e+01) *
                r +
            2.506628277459239e+00) *
           q /
           (((((-5.447609879822406e+01 * r + 1.615858368580409e+02) * r - 1.556989798598866e+02) * r +
              6.680131188771972e+01) *
                 r -
             1.328068155288572e+01) *
                r +
            1);
}

struct simulation {
    struct nigh__rng rng;
    uint32_t width_bits;
    uint32_t radius;
    uint32_t prefix_bits;
    uint32_t rotations;
    double spread;               /* of rho, below 1 */
    double normal[QUANTILES];    /* |N(0,1)|, each as likely */
    uint8_t weight[QUANTILES];   /* the same as bytes */
    uint32_t costs[256];         /* of a weight */
    uint8_t drawn[MAX_WIDTH];    /* weights of the query at hand */
    uint32_t flipped[MAX_WIDTH]; /* bits */
    uint32_t flips;
};

static double share_of(uint64_t random) { return (double)(random >> 11) * 0x1p-53; }

static void begin(struct simulation *simulation, nigh_weak_model model) {
    simulation->rng.state = SEED;
    for (uint32_t i = 0; i < QUANTILES; i++) {
        double normal = quantile(0.5 + (i + 0.5) / (2.0 * QUANTILES));
        double weight = 128 * normal + 0.5;
        simulation->normal[i] = normal;
        simulation->weight[i] = (uint8_t)(weight < UINT8_MAX ? weight : UINT8_MAX);
    }
    nigh__weak_costs(model, simulation->width_bits, simulation->costs);
    /*
     * Correlations so low that hardly a copy stays within the radius are not tried: a share of about
     * sqrt(2 (1 - rho)) / pi of the bits flips.
     */
    double flips = simulation->radius + 4 * sqrt(simulation->radius + 1.0) + 4;
    double angle = 3.141592653589793 * flips / simulation->width_bits;
    simulation->spread = 1 - MIN_CORRELATION;
    if (angle * angle / 2 < simulation->spread) simulation->spread = angle * angle / 2;
}

/* Draws a query and a copy of it; false where the copy is equal, or beyond the radius. */
static bool draw(struct simulation *simulation) {
    double share = share_of(nigh__rng_next(&simulation->rng));
    double other = share_of(nigh__rng_next(&simulation->rng));
    double correlation =
        1 - simulation->spread * (share > other ? share : other); /* the larger of two: in proportion */
    double noise = sqrt(1 - correlation * correlation);
    simulation->flips = 0;
    for (uint32_t i = 0; i < simulation->width_bits; i++) {
        uint64_t random = nigh__rng_next(&simulation->rng);
        uint32_t sum = (uint32_t)random % QUANTILES;
        uint32_t error = (uint32_t)(random >> QUANTILE_BITS) % QUANTILES;
        simulation->drawn[i] = simulation->weight[sum];
        /* Without a branch that nobody can foretell: the noise draws to the other side, and far enough. */
        uint32_t flips = (uint32_t)(random >> 63) &
                         (uint32_t)(noise * simulation->normal[error] > correlation * simulation->normal[sum]);
        simulation->flipped[simulation->flips] = i;
        simulation->flips += flips;
        if (simulation->flips > simulation->radius) return false;
    }
    return simulation->flips > 0 || simulation->radius == 0;
}

/* ------------------------------------------------------------------ rank -- */

/* Bits that a table leads with, the cheapest first. */
struct order {
    uint64_t costs[NIGH__MAX_PREFIX_BITS];
    uint32_t masks[NIGH__MAX_PREFIX_BITS];
    uint32_t count;
};

static void order_add(struct order *order, uint64_t cost, uint32_t mask) {
    uint32_t place = order->count++;
    for (; place > 0 && order->costs[place - 1] > cost; place--) {
        order->costs[place] = order->costs[place - 1];
        order->masks[place] = order->masks[place - 1];
    }
    order->costs[place] = cost;
    order->masks[place] = mask;
}

/* Combinations of at most `most` bits that come before one of this cost and mask; `enough` where there are more. */
static uint32_t count_before(const struct order *order, uint32_t most, uint64_t cost, uint32_t mask, uint32_t enough) {
    uint32_t chosen[NIGH__MAX_PREFIX_BITS + 1];
    uint64_t sums[NIGH__MAX_PREFIX_BITS + 1] = {0};
    uint32_t masks[NIGH__MAX_PREFIX_BITS + 1] = {0};
    uint32_t depth = 0;
    uint32_t next = 0;                      /* the bit to try at this depth */
    uint32_t before = cost > 0 || mask > 0; /* the empty one */
    while (before < enough) {
        bool fits = depth < most && next < order->count && sums[depth] + order->costs[next] <= cost;
        if (!fits && depth == 0) break;
        if (!fits) {
            next = chosen[depth--] + 1;
            continue;
        }
        depth++;
        chosen[depth] = next;
        sums[depth] = sums[depth - 1] + order->costs[next];
        masks[depth] = masks[depth - 1] | order->masks[next];
        before += sums[depth] < cost || masks[depth] < mask;
        next++;
    }
    return before < enough ? before : enough;
}

/* The probe, from 0, by which the table that leads with bit `first` finds the copy. */
static uint32_t rank_in(const struct simulation *simulation, uint32_t first, uint32_t enough) {
    struct order order = {.count = 0};
    uint64_t cost = 0;
    uint32_t mask = 0;
    uint32_t bits = simulation->prefix_bits;
    for (uint32_t i = 0; i < bits; i++) {
        uint32_t weight = simulation->drawn[(first + i) % simulation->width_bits];
        order_add(&order, simulation->costs[weight], UINT32_C(1) << i);
    }
    for (uint32_t i = 0; i < simulation->flips; i++) {
        uint32_t bit = simulation->flipped[i];
        uint32_t place = (bit + simulation->width_bits - first) % simulation->width_bits;
        if (place >= bits) continue;
        cost += simulation->costs[simulation->drawn[bit]];
        mask |= UINT32_C(1) << place;
    }
    return count_before(&order, simulation->radius < bits ? simulation->radius : bits, cost, mask, enough);
}

static uint32_t rank_of(const struct simulation *simulation) {
    uint32_t best = NIGH__MAX_PROBES;
    for (uint32_t i = 0; i < simulation->rotations && best > 0; i++)
        best = rank_in(simulation, i * simulation->width_bits / simulation->rotations, best);
    return best;
}

/* ----------------------------------------------------------------- curve -- */

static uint32_t within(uint32_t value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : value;
}

void nigh__recall_draw(uint32_t width_bits, uint32_t radius, uint32_t prefix_bits, uint32_t rotations,
                       nigh_weak_model model, struct nigh__recall_curve *out) {
    struct simulation simulation = {.width_bits = within(width_bits, 1, MAX_WIDTH), .radius = radius};
    if (width_bits > MAX_WIDTH)
        simulation.radius = (uint32_t)(((uint64_t)radius * MAX_WIDTH + width_bits - 1) / width_bits);
    simulation.radius = within(simulation.radius, 0, simulation.width_bits);
    simulation.prefix_bits = within(prefix_bits, 1, simulation.width_bits);
    simulation.prefix_bits = within(simulation.prefix_bits, 1, NIGH__MAX_PREFIX_BITS);
    simulation.rotations = within(rotations, 1, MAX_ROTATIONS);
    begin(&simulation, model);
    memset(out, 0, sizeof *out);
    uint64_t tries = TRIED_BITS / simulation.width_bits;
    for (uint64_t i = 0; out->samples < MAX_SAMPLES && (i < tries || out->samples < MIN_SAMPLES); i++) {
        if (!draw(&simulation)) continue;
        uint32_t rank = rank_of(&simulation);
        out->samples++;
        if (rank < NIGH__MAX_PROBES) out->found[rank]++;
    }
}

double nigh__recall_at(const struct nigh__recall_curve *curve, uint32_t probes) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < probes && i < NIGH__MAX_PROBES; i++) found += curve->found[i];
    return (double)found / curve->samples;
}

uint32_t nigh__recall_reach(const struct nigh__recall_curve *curve, double recall) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < NIGH__MAX_PROBES; i++) {
        found += curve->found[i];
        if ((double)found >= recall * curve->samples) return i + 1;
    }
    return 0;
}

double nigh__recall_expected(uint32_t width_bits, uint32_t radius, uint32_t prefix_bits, uint32_t probes,
                             uint32_t rotations, nigh_weak_model model) {
    struct nigh__recall_curve curve;
    nigh__recall_draw(width_bits, radius, prefix_bits, rotations, model, &curve);
    return nigh__recall_at(&curve, probes);
}

uint32_t nigh__recall_probes(uint32_t width_bits, uint32_t radius, uint32_t prefix_bits, double recall,
                             uint32_t rotations, nigh_weak_model model) {
    struct nigh__recall_curve curve;
    nigh__recall_draw(width_bits, radius, prefix_bits, rotations, model, &curve);
    return nigh__recall_reach(&curve, recall);
}
