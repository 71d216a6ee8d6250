/* SPDX-License-Identifier: Apache-2.0 */
#include "columns/column_plan.h"

#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/memory.h"

#define HALF (NIGH__COLUMN_GROUP / 2)
#define LEAST_PLANES 8u

/* Where to look whether a block can be left: a check costs about half of what a group does. */
struct rhythm {
    uint32_t first, step; /* in groups */
};
static const struct rhythm by_bits = {4, 1};
static const struct rhythm by_weights = {3, 2};

/* Eight columns of one polarity, or some and padding. */
struct half {
    uint32_t offsets[HALF];
    uint32_t count;
};

/* A plan while it is made. */
struct planning {
    struct nigh__column_plan *plan;
    struct nigh__column_group *groups;
    const uint64_t *query;
    uint32_t width_bits;
    struct nigh__ranking_sums sums;
    struct rhythm rhythm;
    double counted;        /* so far */
    uint8_t doublings;     /* before the next group */
    bool open;             /* the last group has but one half */
    uint32_t unit;         /* of the plane at hand */
    struct half halves[2]; /* of each polarity, not full yet */
};

static bool bit_is_set(const uint64_t *words, uint32_t bit) { return (words[bit / 64] >> bit % 64 & 1) != 0; }

/* ---------------------------------------------------------------------- groups -- */

static void add_check(struct planning *planning, struct nigh__column_group *group) {
    const double share = planning->counted / planning->sums.whole;
    group->checked = 1;
    planning->plan->checks[planning->plan->check_count++] = (struct nigh__column_check){
        .unit = planning->unit,
        .counted = planning->counted,
        .deviation = sqrt((double)planning->sums.squares * share * (1 - share)),
    };
}

/* A group is full, or there is no more for it: is it checked? */
static void end_group(struct planning *planning) {
    const uint32_t number = planning->plan->groups.count; /* of this one, counted from 1 */
    struct nigh__column_group *group = &planning->groups[number - 1];
    planning->open = false;
    const struct rhythm rhythm = planning->rhythm;
    if (number >= rhythm.first && (number - rhythm.first) % rhythm.step == 0) add_check(planning, group);
}

/* A half becomes the second of the group at hand, or the first of the next. */
static void end_half(struct planning *planning, uint32_t polarity) {
    struct half *half = &planning->halves[polarity];
    const uint32_t padding = nigh__column_offset(planning->width_bits + polarity);
    planning->counted += (double)planning->unit * half->count;
    while (half->count < HALF) half->offsets[half->count++] = padding;
    half->count = 0;
    if (planning->open) {
        struct nigh__column_group *group = &planning->groups[planning->plan->groups.count - 1];
        memcpy(group->offsets + HALF, half->offsets, sizeof half->offsets);
        group->inverted |= (uint8_t)(polarity << 1);
        group->single = 0;
        end_group(planning);
        return;
    }
    struct nigh__column_group *group = &planning->groups[planning->plan->groups.count++];
    *group = (struct nigh__column_group){.inverted = (uint8_t)polarity, .single = 1, .doublings = planning->doublings};
    memcpy(group->offsets, half->offsets, sizeof half->offsets);
    memcpy(group->offsets + HALF, half->offsets, sizeof half->offsets); /* what is asked for ahead */
    planning->doublings = 0;
    planning->open = true;
}

static void add_column(struct planning *planning, uint32_t column) {
    const uint32_t polarity = bit_is_set(planning->query, column);
    struct half *half = &planning->halves[polarity];
    half->offsets[half->count++] = nigh__column_offset(column);
    if (half->count == HALF) end_half(planning, polarity);
}

/* The columns of one plane, in the order of the bits. */
static void add_plane(struct planning *planning, const uint64_t *plane) {
    for (uint32_t first = 0; first < planning->width_bits; first += 64) {
        const uint32_t bits = planning->width_bits - first;
        uint64_t left = plane == NULL ? UINT64_MAX : plane[first / 64];
        if (bits < 64) left &= (UINT64_C(1) << bits) - 1;
        for (; left != 0; left &= left - 1) add_column(planning, first + (uint32_t)__builtin_ctzll(left));
    }
    for (uint32_t polarity = 0; polarity < 2; polarity++)
        if (planning->halves[polarity].count > 0) end_half(planning, polarity);
    if (planning->open) end_group(planning);
}

static bool is_empty(const uint64_t *plane, size_t words) {
    for (size_t i = 0; i < words; i++)
        if (plane[i] != 0) return false;
    return true;
}

/* From the plane that counts most to the one that counts least of those that have any bit. */
static void add_planes(struct planning *planning, const uint64_t *planes, uint32_t plane_count) {
    const size_t words = (planning->width_bits + 63) / 64;
    for (uint32_t p = plane_count; p-- > 0;) {
        const uint64_t *plane = planes + p * words;
        if (planning->plan->groups.count > 0) planning->doublings++;
        if (is_empty(plane, words)) continue;
        planning->unit = 1u << p;
        planning->plan->unit = planning->unit;
        add_plane(planning, plane);
    }
}

/* ----------------------------------------------------------------------- plans -- */

/* How many groups there can be: each plane may end with one that is not full. */
static size_t most_groups(uint32_t width_bits, uint32_t plane_count) {
    const size_t planes = plane_count == 0 ? 1 : plane_count;
    return planes * (width_bits / NIGH__COLUMN_GROUP + 2);
}

static void set_planes(struct nigh__column_plan *plan) {
    const uint32_t most = plan->whole / plan->unit;
    plan->groups.planes = 32 - (uint32_t)__builtin_clz(most | 1);
    if (plan->groups.planes < LEAST_PLANES) plan->groups.planes = LEAST_PLANES;
    NIGH__ASSERT(plan->groups.planes <= NIGH__COLUMN_PLANES);
}

bool nigh__column_plan_init(struct nigh__column_plan *plan, const nigh_context *context, uint32_t width_bits,
                            const uint64_t *query, const uint64_t *planes, uint32_t plane_count) {
    const size_t room = most_groups(width_bits, plane_count);
    struct planning planning = {.plan = plan,
                                .query = query,
                                .width_bits = width_bits,
                                .sums = {.whole = width_bits, .squares = width_bits},
                                .rhythm = plane_count > 1 ? by_weights : by_bits,
                                .unit = 1};
    *plan = (struct nigh__column_plan){.context = context, .unit = 1};
    planning.groups = nigh__alloc(context, room, sizeof *planning.groups);
    plan->owned = planning.groups;
    plan->groups.groups = planning.groups;
    plan->checks = nigh__alloc(context, room, sizeof *plan->checks);
    if (planning.groups == NULL || plan->checks == NULL) return false;
    if (plane_count > 0) nigh__planes_sum(planes, plane_count, (width_bits + 63) / 64, &planning.sums);
    plan->whole = planning.sums.whole;
    if (plane_count == 0)
        add_plane(&planning, NULL);
    else
        add_planes(&planning, planes, plane_count);
    NIGH__ASSERT(plan->groups.count <= room);
    if (plan->groups.count > 0 && !planning.groups[plan->groups.count - 1].checked)
        add_check(&planning, &planning.groups[plan->groups.count - 1]);
    set_planes(plan);
    return true;
}

void nigh__column_plan_release(struct nigh__column_plan *plan) {
    if (plan->context == NULL) return;
    nigh__free(plan->context, plan->owned);
    nigh__free(plan->context, plan->checks);
}

uint32_t nigh__column_plan_bound(const struct nigh__column_plan *plan, uint32_t check, uint32_t most, double slack) {
    const struct nigh__column_check *at = &plan->checks[check];
    const uint32_t certain = most / at->unit;
    if (slack < 0 || check + 1 == plan->check_count || most >= plan->whole) return certain;
    const double share = (double)most / plan->whole;
    const double likely = share * at->counted + slack * sqrt(share * (1 - share)) * at->deviation;
    return likely / at->unit < certain ? (uint32_t)(likely / at->unit) : certain;
}
