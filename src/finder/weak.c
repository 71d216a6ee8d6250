/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Combinations of weak bits, the likeliest first.
 *
 * Let the bits be sorted by cost, of equal ones the lower position first, and number
 * them 0, 1, 2, ... in that order.  A combination is a list of numbers, ascending.
 * Its successors are
 *
 *     replace   the last number n by n + 1
 *     append    n + 1, where it has fewer than h numbers
 *
 * and the successor of the empty one is {0}:
 *
 *                          {}
 *                          {0}
 *                  {1}            {0 1}
 *              {2}     {1 2}   {0 2}    {0 1 2}
 *
 * Each combination but the empty one has exactly one predecessor.  Take the last
 * number n: if n - 1 is there too, or n = 0, it came by appending, from the list
 * without n; else by replacing, from the list with n - 1 instead.  So it is a tree, and
 * nothing comes twice.
 *
 * A successor comes later in the order (cost, mask).  Appending adds a cost of 0 or
 * more, and a bit to the mask.  Replacing adds the difference of two costs, 0 or more,
 * and where that is 0 the new bit has the higher position: a greater mask.  So a heap
 * that starts with the empty combination, and gets the successors of whatever is taken
 * out, always has the least of all that are left on top: whatever is left is in the
 * heap or comes after one that is.
 *
 * (The paper's function `next`, algorithm 2, keeps a heap of combinations for each size
 * instead.  It asks whether p[l-j] - p[l-j+1] is 2, of positions that ascend, so the
 * difference is negative: it has to be the other way round.)
 *
 * Cost: O(log k) for each; k combinations put 2k into the heap at most, and k + 1 are
 * in it at once.
 *
 * Few probes.  For the first 15 or 48 a heap takes longer than looking them up in the
 * table does.  But {0 3} cannot come before {0 2}, {1 2} or {3}: if a combination has k
 * others that precede it whatever the costs, it is not among the first k.  One precedes
 * another when it has no more numbers, and from the end each is at most the other's.
 * That leaves few: of three bits, for 15 probes 30, for 48 126.  Their sums are made
 * each from an earlier one, and the least k kept.
 */
#include "finder/weak.h"

#include <string.h>

#include "base/assert.h"
#include "base/logarithm.h"
#include "base/normal.h"

/* ------------------------------------------------------------------------ costs */

#define WEIGHT_UNIT 128.0 /* one deviation; see nigh_signer_sign() */
/*
 * cot(pi s) for the share s of bits that differ; signature/generate.c has the formula.  Measured on two million
 * generated documents with weak flips, 20 prefix bits: share of all matches within 3 bits that 15, 48 and 128 probes
 * find: slope 1 .830 .934 .979; 2 .828 .932 .977; 3 .826 .930 .976; 6 .819 .921 .971; the linear model .829 .934 .979.
 * Near zero all are alike; a steep slope takes strong bits for stronger than they are.
 */
#define GAUSSIAN_SLOPE 1.0
#define GAUSSIAN_UNIT 65536.0
#define LINEAR_UNIT 1048576.0

static uint32_t gaussian_cost(const double *tail, uint32_t weight) {
    const double flipped = nigh__normal_tail_at(tail, GAUSSIAN_SLOPE * weight / WEIGHT_UNIT);
    const double cost = nigh__ln((1 - flipped) / flipped) * GAUSSIAN_UNIT + 0.5;
    return cost > 0 ? (uint32_t)cost : 0;
}

/* |all W| is the deviation times the root of the width. */
static uint32_t linear_cost(uint32_t width_bits, uint32_t weight) {
    const double share = weight / WEIGHT_UNIT;
    double root = 1; /* by Newton's method; the C library's would do, but for another header */
    for (int i = 0; i < 40; i++) root = (root + width_bits / root) / 2;
    const double flipped = 1 - share / root;
    return (uint32_t)(-nigh__ln(flipped) * LINEAR_UNIT + 0.5);
}

void nigh__weak_costs(nigh_weak_model model, uint32_t width_bits, uint32_t costs[256]) {
    double tail[NIGH__TAIL_POINTS];
    nigh__normal_tail(tail);
    for (uint32_t w = 0; w < 256; w++)
        costs[w] = model == NIGH_WEAK_LINEAR ? linear_cost(width_bits, w) : gaussian_cost(tail, w);
}

/* ------------------------------------------------------------------------- heap */

struct combination {
    uint64_t cost;
    uint32_t mask;
    uint16_t last;  /* number of the last bit */
    uint16_t count; /* of bits */
};

struct nigh__weak_state {
    uint32_t bits, most;
    uint64_t room; /* combinations the heap has room for */
    uint64_t used;
    uint32_t costs[NIGH__MAX_PREFIX_BITS]; /* ascending */
    uint32_t masks[NIGH__MAX_PREFIX_BITS];
    struct combination heap[]; /* from 0; the least on top */
};

_Static_assert(sizeof(struct combination) == 16, "two a cache line and more");

size_t nigh__weak_scratch(uint32_t bits, uint32_t most, uint32_t probes) {
    (void)bits;
    (void)most;
    return sizeof(struct nigh__weak_state) + ((size_t)probes + 2) * sizeof(struct combination);
}

static bool before(const struct combination *a, const struct combination *b) {
    return a->cost != b->cost ? a->cost < b->cost : a->mask < b->mask;
}

static void sort_bits(const uint32_t *bit_costs, struct nigh__weak_state *state) {
    for (uint32_t i = 0; i < state->bits; i++) {
        uint32_t place = i;
        for (; place > 0 && state->costs[place - 1] > bit_costs[i]; place--) {
            state->costs[place] = state->costs[place - 1];
            state->masks[place] = state->masks[place - 1];
        }
        state->costs[place] = bit_costs[i];
        state->masks[place] = UINT32_C(1) << i;
    }
}

struct nigh__weak_state *nigh__weak_begin(const uint32_t *bit_costs, uint32_t bits, uint32_t most, void *scratch,
                                          size_t scratch_bytes) {
    struct nigh__weak_state *state = scratch;
    state->bits = bits;
    state->most = most;
    state->room = (scratch_bytes - sizeof *state) / sizeof(struct combination);
    state->used = 1;
    sort_bits(bit_costs, state);
    state->heap[0] = (struct combination){0};
    return state;
}

/* Puts `item` into the hole at `place`, or above it. */
static void lift(struct nigh__weak_state *state, uint64_t place, struct combination item) {
    while (place > 0 && before(&item, &state->heap[(place - 1) / 2])) {
        state->heap[place] = state->heap[(place - 1) / 2];
        place = (place - 1) / 2;
    }
    state->heap[place] = item;
}

/* Puts `item` into the hole on top, or below it. */
static void sink(struct nigh__weak_state *state, struct combination item) {
    uint64_t place = 0;
    for (;;) {
        uint64_t child = 2 * place + 1;
        if (child >= state->used) break;
        if (child + 1 < state->used && before(&state->heap[child + 1], &state->heap[child])) child++;
        if (before(&item, &state->heap[child])) break;
        state->heap[place] = state->heap[child];
        place = child;
    }
    state->heap[place] = item;
}

static struct combination replaced(const struct nigh__weak_state *state, struct combination from) {
    return (struct combination){.cost = from.cost - state->costs[from.last] + state->costs[from.last + 1],
                                .mask = from.mask ^ state->masks[from.last] ^ state->masks[from.last + 1],
                                .last = (uint16_t)(from.last + 1),
                                .count = from.count};
}

static struct combination appended(const struct nigh__weak_state *state, struct combination from, uint32_t number) {
    return (struct combination){.cost = from.cost + state->costs[number],
                                .mask = from.mask ^ state->masks[number],
                                .last = (uint16_t)number,
                                .count = (uint16_t)(from.count + 1)};
}

/* The top goes; one successor takes its place, a second comes in below. */
static bool advance(struct nigh__weak_state *state, struct combination top) {
    const uint32_t number = top.count == 0 ? 0 : top.last + 1u;
    const bool replace = top.count > 0 && number < state->bits;
    const bool append = number < state->bits && top.count < state->most;
    if (replace && append && state->used == state->room) return false;
    if (replace)
        sink(state, replaced(state, top));
    else if (append)
        sink(state, appended(state, top, number));
    else {
        state->used--;
        if (state->used > 0) sink(state, state->heap[state->used]);
    }
    if (replace && append) {
        state->used++;
        lift(state, state->used - 1, appended(state, top, number));
    }
    return true;
}

bool nigh__weak_next(struct nigh__weak_state *state, uint32_t *mask, uint64_t *cost) {
    if (state->used == 0) return false;
    const struct combination top = state->heap[0];
    if (!advance(state, top)) return false;
    NIGH__ASSERT(state->used == 0 || !before(&state->heap[0], &top));
    *mask = top.mask;
    *cost = top.cost;
    return true;
}

size_t nigh__weak_list(const uint32_t *bit_costs, uint32_t bits, uint32_t most, uint32_t probes, uint32_t *masks,
                       void *scratch, size_t scratch_bytes) {
    struct nigh__weak_state *state = nigh__weak_begin(bit_costs, bits, most, scratch, scratch_bytes);
    size_t count = 0;
    uint64_t cost;
    while (count < probes && nigh__weak_next(state, &masks[count], &cost)) count++;
    return count;
}

/* ------------------------------------------------------------------------ shape */

/* A combination as numbers, ascending; for 64 probes it has 6 at most, since its 2^count parts precede it. */
#define MAX_NUMBERS 6

struct numbers {
    uint8_t at[MAX_NUMBERS];
    uint32_t count;
};

/* Combinations of `count` numbers, each at most its place in `of` and below `limit`; stops counting at `enough`. */
static uint32_t count_below(const uint8_t *of, uint32_t count, uint32_t limit, uint32_t enough) {
    if (count == 0) return 1;
    const uint32_t highest = of[count - 1] < limit ? of[count - 1] + 1u : limit;
    uint32_t sum = 0;
    for (uint32_t last = count - 1; last < highest && sum < enough; last++)
        sum += count_below(of, count - 1, last, enough - sum);
    return sum;
}

/* How many come before it or are it, whatever the costs; `enough` may mean more. */
static uint32_t count_preceding(const struct numbers *numbers, uint32_t enough) {
    uint32_t sum = 0;
    for (uint32_t count = 0; count <= numbers->count && sum < enough; count++)
        sum += count_below(numbers->at + numbers->count - count, count, NIGH__MAX_PREFIX_BITS, enough - sum);
    return sum;
}

/* Adds all that continue the step `from`, breadth first by the caller: shape->steps grows while it walks over them. */
static bool continue_step(struct nigh__weak_shape *shape, struct numbers *all, uint32_t from, uint32_t most,
                          uint32_t wanted) {
    struct numbers next = all[from];
    const uint32_t begin = next.count == 0 ? 0 : next.at[next.count - 1] + 1u;
    if (next.count == most || next.count == MAX_NUMBERS) return true;
    next.count++;
    for (uint32_t number = begin; number < shape->bits; number++) {
        next.at[next.count - 1] = (uint8_t)number;
        if (count_preceding(&next, wanted + 1) > wanted) break; /* and so have all with a higher number */
        if (shape->steps == NIGH__SHAPE_MAX_STEPS) return false;
        all[shape->steps] = next;
        shape->parent[shape->steps] = (uint16_t)from;
        shape->rank[shape->steps] = (uint8_t)number;
        shape->steps++;
        if (number >= shape->ranks) shape->ranks = number + 1;
    }
    return true;
}

static uint32_t usual_cost(const struct numbers *numbers) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < numbers->count; i++) sum += 2 * numbers->at[i] + 3u;
    return sum;
}

/* Steps in the order in which they usually come, so that keeping the least seldom moves many. */
static void order_steps(struct nigh__weak_shape *shape, const struct numbers *all) {
    struct nigh__weak_shape old = *shape;
    uint16_t order[NIGH__SHAPE_MAX_STEPS];
    uint16_t place_of[NIGH__SHAPE_MAX_STEPS];
    for (uint32_t i = 0; i < shape->steps; i++) {
        uint32_t place = i;
        for (; place > 0 && usual_cost(&all[order[place - 1]]) > usual_cost(&all[i]); place--)
            order[place] = order[place - 1];
        order[place] = (uint16_t)i;
    }
    for (uint32_t i = 0; i < shape->steps; i++) place_of[order[i]] = (uint16_t)i;
    for (uint32_t i = 0; i < shape->steps; i++) {
        shape->rank[i] = old.rank[order[i]];
        shape->parent[i] = place_of[old.parent[order[i]]];
    }
}

bool nigh__weak_shape_init(struct nigh__weak_shape *shape, uint32_t bits, uint32_t most, uint32_t probes) {
    struct numbers all[NIGH__SHAPE_MAX_STEPS] = {{.count = 0}};
    if (probes == 0 || probes > NIGH__SHAPE_MAX_PROBES) return false;
    *shape = (struct nigh__weak_shape){.bits = bits, .steps = 1};
    for (uint32_t from = 0; from < shape->steps; from++)
        if (!continue_step(shape, all, from, most, probes)) return false;
    shape->probes = probes < shape->steps ? probes : shape->steps;
    order_steps(shape, all);
    return true;
}

/*
 * The weakest bits in order, as cost << 32 | mask.  Each bit's rank is how many come
 * before it: no branch that depends on the weights, which nothing could foresee.
 */
static void rank_bits(const struct nigh__weak_shape *shape, const uint32_t *bit_costs,
                      uint64_t ranked[NIGH__MAX_PREFIX_BITS]) {
    uint32_t keys[NIGH__MAX_PREFIX_BITS];
    const uint32_t bits = shape->bits;
    for (uint32_t i = 0; i < bits; i++) keys[i] = bit_costs[i] << 5 | i;
    for (uint32_t i = bits; i < NIGH__MAX_PREFIX_BITS; i++) keys[i] = UINT32_MAX >> 1;
    for (uint32_t i = 0; i < bits; i++) {
        uint32_t rank = 0;
        for (uint32_t j = 0; j < NIGH__MAX_PREFIX_BITS; j++) rank += (int32_t)keys[j] < (int32_t)keys[i];
        ranked[rank] = (uint64_t)bit_costs[i] << 32 | UINT32_C(1) << i;
    }
}

void nigh__weak_shape_list(const struct nigh__weak_shape *shape, const uint32_t *bit_costs, uint32_t *masks) {
    uint64_t ranked[NIGH__MAX_PREFIX_BITS];
    uint64_t sums[NIGH__SHAPE_MAX_STEPS];
    uint64_t least[NIGH__SHAPE_MAX_PROBES];
    rank_bits(shape, bit_costs, ranked);
    sums[0] = 0;
    least[0] = 0;
    uint32_t count = 1;
    for (uint32_t step = 1; step < shape->steps; step++) {
        const uint64_t sum = sums[shape->parent[step]] + ranked[shape->rank[step]];
        sums[step] = sum;
        if (count == shape->probes && sum > least[count - 1]) continue;
        uint32_t place = count < shape->probes ? count++ : count - 1;
        for (; place > 0 && least[place - 1] > sum; place--) least[place] = least[place - 1];
        least[place] = sum;
    }
    for (uint32_t i = 0; i < count; i++) masks[i] = (uint32_t)least[i];
}
