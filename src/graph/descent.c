/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/descent.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"

#define NODES_AT_ONCE 1024u
#define FEW_NEW 1u       /* of a node, on average: then it ends */
#define SEEN_SLOTS 1024u /* to find a node that is twice in a list; a power of two */
#define SEEN_MOST 512u   /* longer lists are not looked through */

enum { NEW = 0, OLD = 1 };

struct descent {
    struct nigh__crew *crew;
    struct nigh__joining *joining;
    struct nigh__neighbours *neighbours;
    uint64_t seed;            /* of this pass */
    _Atomic uint32_t *totals; /* [2 * nodes] new and old ones, both ways */
    _Atomic uint32_t *chosen; /* [2 * nodes] of them, that take part */
    uint64_t *starts;         /* [2 * nodes + 1] of their lists */
    uint32_t *lists;
    uint32_t **gathered;       /* of each thread: a list without what is there twice */
    _Atomic uint64_t new_ones; /* in all rows */
};

/* ------------------------------------------------------------------------ choosing -- */

/* Whether `other` takes part in what `owner` brings together. */
static bool takes_part(const struct descent *descent, uint32_t owner, uint32_t other, uint32_t age) {
    const uint32_t most = age == NEW ? NIGH__DESCENT_NEW : NIGH__DESCENT_OLD;
    const uint32_t total = atomic_load_explicit(&descent->totals[2 * (size_t)owner + age], memory_order_relaxed);
    if (total <= most) return true;
    const uint64_t hash = nigh__mix(descent->seed ^ ((uint64_t)owner << 32 | other)) >> 32;
    return hash * total < (uint64_t)most << 32;
}

static void count_one(_Atomic uint32_t *counts, uint32_t node, uint32_t age) {
    atomic_fetch_add_explicit(&counts[2 * (size_t)node + age], 1, memory_order_relaxed);
}

/* The neighbours of some nodes, one after the other. */
struct stroll {
    const struct descent *descent;
    uint32_t node, end;
    uint32_t *entry, *last; /* the next of this node's; NULL before the first */
    uint32_t other, age;    /* of the one at hand, which is before `entry` */
};

static struct stroll stroll_over(const struct descent *descent, uint64_t first, uint64_t end) {
    return (struct stroll){.descent = descent, .node = (uint32_t)first, .end = (uint32_t)end};
}

/* False: there are no more. */
static inline bool stroll_on(struct stroll *stroll) {
    for (; stroll->node < stroll->end; stroll->node++) {
        if (stroll->entry == NULL) {
            stroll->entry = nigh__neighbours_ids(stroll->descent->neighbours, stroll->node);
            stroll->last = stroll->entry + stroll->descent->neighbours->k;
        }
        if (stroll->entry < stroll->last && (*stroll->entry & ~NIGH__NEW) != NIGH__NOBODY) {
            stroll->other = *stroll->entry & ~NIGH__NEW;
            stroll->age = (*stroll->entry & NIGH__NEW) != 0 ? NEW : OLD;
            stroll->entry++;
            return true;
        }
        stroll->entry = NULL;
    }
    return false;
}

static void count_all(void *user, uint32_t thread, uint64_t first, uint64_t end) {
    struct descent *descent = user;
    for (struct stroll at = stroll_over(descent, first, end); stroll_on(&at);) {
        count_one(descent->totals, at.node, at.age);
        count_one(descent->totals, at.other, at.age);
    }
    (void)nigh__crew_did(descent->crew, thread, 0);
}

static void count_chosen(void *user, uint32_t thread, uint64_t first, uint64_t end) {
    struct descent *descent = user;
    for (struct stroll at = stroll_over(descent, first, end); stroll_on(&at);) {
        if (takes_part(descent, at.node, at.other, at.age)) count_one(descent->chosen, at.node, at.age);
        if (takes_part(descent, at.other, at.node, at.age)) count_one(descent->chosen, at.other, at.age);
    }
    (void)nigh__crew_did(descent->crew, thread, 0);
}

/* Lists are filled from their ends; afterwards `chosen` is zero. */
static void put(struct descent *descent, uint32_t owner, uint32_t other, uint32_t age) {
    const size_t list = 2 * (size_t)owner + age;
    const uint32_t left = atomic_fetch_sub_explicit(&descent->chosen[list], 1, memory_order_relaxed);
    descent->lists[descent->starts[list] + left - 1] = other;
}

/* Those that their own node brings along are no longer new then. */
static void fill_lists(void *user, uint32_t thread, uint64_t first, uint64_t end) {
    struct descent *descent = user;
    for (struct stroll at = stroll_over(descent, first, end); stroll_on(&at);) {
        if (takes_part(descent, at.other, at.node, at.age)) put(descent, at.other, at.node, at.age);
        if (!takes_part(descent, at.node, at.other, at.age)) continue;
        put(descent, at.node, at.other, at.age);
        at.entry[-1] = at.other;
    }
    (void)nigh__crew_did(descent->crew, thread, 0);
}

/* Returns the longest list of a node, new and old. */
static uint32_t counts_to_starts(struct descent *descent) {
    const size_t nodes = descent->neighbours->nodes;
    uint64_t start = 0;
    uint64_t longest = 0;
    for (size_t node = 0; node < nodes; node++) {
        const uint64_t before = start;
        for (size_t list = 2 * node; list < 2 * node + 2; list++) {
            descent->starts[list] = start;
            start += atomic_load_explicit(&descent->chosen[list], memory_order_relaxed);
        }
        if (start - before > longest) longest = start - before;
    }
    descent->starts[2 * nodes] = start;
    return (uint32_t)longest;
}

/* ------------------------------------------------------------------------- joining -- */

/* Adds those of a list that are not there yet.  `seen` has their number in `gathered`, plus one. */
static uint32_t gather(uint16_t *seen, uint32_t *gathered, uint32_t count, const uint32_t *list, size_t length) {
    for (size_t i = 0; i < length; i++) {
        uint32_t slot = (uint32_t)((list[i] * UINT32_C(0x9e3779b1)) >> 22);
        while (seen[slot] != 0 && gathered[seen[slot] - 1] != list[i]) slot = (slot + 1) % SEEN_SLOTS;
        if (seen[slot] != 0) continue;
        gathered[count++] = list[i];
        seen[slot] = (uint16_t)count;
    }
    return count;
}

/* Two that have each other as neighbours are twice in both lists. */
static void join_node(struct descent *descent, uint32_t thread, uint32_t node) {
    const uint64_t *starts = descent->starts + 2 * (size_t)node;
    const uint32_t *list = descent->lists + starts[0];
    const size_t new_ones = (size_t)(starts[1] - starts[0]);
    const size_t all = (size_t)(starts[2] - starts[0]);
    if (new_ones == 0) return;
    if (all > SEEN_MOST) {
        nigh__join(descent->joining, thread, list, (uint32_t)all, (uint32_t)new_ones);
        return;
    }
    uint16_t seen[SEEN_SLOTS] = {0};
    uint32_t *gathered = descent->gathered[thread];
    const uint32_t active = gather(seen, gathered, 0, list, new_ones);
    const uint32_t count = gather(seen, gathered, active, list + new_ones, all - new_ones);
    nigh__join(descent->joining, thread, gathered, count, active);
}

static void fetch_ahead(const struct descent *descent, uint64_t node) {
    const uint64_t *starts = descent->starts + 2 * node;
    for (uint64_t i = starts[0]; i < starts[2]; i++) {
        const uint64_t *row = descent->joining->rows + (size_t)descent->lists[i] * descent->joining->words;
        __builtin_prefetch(row);
        __builtin_prefetch(row + 8);
    }
}

static void join_nodes(void *user, uint32_t thread, uint64_t first, uint64_t end) {
    struct descent *descent = user;
    for (uint64_t node = first; node < end; node++) {
        if (node + 1 < end) fetch_ahead(descent, node + 1);
        join_node(descent, thread, (uint32_t)node);
        if (node % 64 == 0 && !nigh__crew_did(descent->crew, thread, 0)) return;
    }
    (void)nigh__crew_did(descent->crew, thread, end - first);
}

static void count_new(void *user, uint32_t thread, uint64_t first, uint64_t end) {
    struct descent *descent = user;
    uint64_t count = 0;
    (void)thread;
    for (struct stroll at = stroll_over(descent, first, end); stroll_on(&at);) count += at.age == NEW;
    atomic_fetch_add_explicit(&descent->new_ones, count, memory_order_relaxed);
}

/* ------------------------------------------------------------------------- passes -- */

static bool share(struct descent *descent, nigh__crew_work *work) {
    return nigh__crew_run(descent->crew, descent->neighbours->nodes, NODES_AT_ONCE, work, descent);
}

static nigh_status choose(struct descent *descent) {
    const size_t counts = 2 * (size_t)descent->neighbours->nodes;
    memset(descent->totals, 0, counts * sizeof *descent->totals);
    memset(descent->chosen, 0, counts * sizeof *descent->chosen);
    if (!share(descent, count_all) || !share(descent, count_chosen)) return NIGH_ECANCELLED;
    const uint32_t longest = counts_to_starts(descent);
    descent->lists = nigh__alloc_large(descent->crew->context, (size_t)descent->starts[counts], sizeof *descent->lists);
    if (descent->lists == NULL || !nigh__joining_room(descent->joining, longest)) return NIGH_ENOMEM;
    return share(descent, fill_lists) ? NIGH_OK : NIGH_ECANCELLED;
}

static nigh_status make_pass(struct descent *descent) {
    nigh_status status = choose(descent);
    atomic_store(&descent->new_ones, 0);
    if (status == NIGH_OK && (!share(descent, join_nodes) || !share(descent, count_new))) status = NIGH_ECANCELLED;
    nigh__free(descent->crew->context, descent->lists);
    descent->lists = NULL;
    return status;
}

static bool descent_allocate(struct descent *descent) {
    const nigh_context *context = descent->crew->context;
    const size_t counts = 2 * (size_t)descent->neighbours->nodes;
    bool complete = true;
    descent->totals = nigh__alloc_large(context, counts, sizeof *descent->totals);
    descent->chosen = nigh__alloc_large(context, counts, sizeof *descent->chosen);
    descent->starts = nigh__alloc_large(context, counts + 1, sizeof *descent->starts);
    descent->gathered = nigh__alloc_zero(context, descent->crew->threads, sizeof *descent->gathered);
    for (uint32_t t = 0; descent->gathered != NULL && t < descent->crew->threads; t++) {
        descent->gathered[t] = nigh__alloc(context, SEEN_MOST, sizeof *descent->gathered[t]);
        if (descent->gathered[t] == NULL) complete = false;
    }
    return complete && descent->totals != NULL && descent->chosen != NULL && descent->starts != NULL &&
           descent->gathered != NULL;
}

static void descent_release(struct descent *descent) {
    const nigh_context *context = descent->crew->context;
    for (uint32_t t = 0; descent->gathered != NULL && t < descent->crew->threads; t++)
        nigh__free(context, descent->gathered[t]);
    nigh__free(context, descent->gathered);
    nigh__free(context, descent->totals);
    nigh__free(context, descent->chosen);
    nigh__free(context, descent->starts);
}

uint64_t nigh__descent_bytes(uint64_t nodes, uint32_t k) {
    const uint64_t most = NIGH__DESCENT_NEW + NIGH__DESCENT_OLD;
    const uint64_t all = 2 * (uint64_t)k;
    const uint64_t listed = all < most ? all : most;
    return nodes * (2 * (2 * sizeof(uint32_t) + sizeof(uint64_t)) + listed * sizeof(uint32_t));
}

nigh_status nigh__descend(struct nigh__crew *crew, struct nigh__joining *joining, uint32_t passes, uint64_t seed,
                          uint32_t *made) {
    struct descent descent = {.crew = crew, .joining = joining, .neighbours = joining->neighbours};
    const uint64_t nodes = joining->neighbours->nodes;
    nigh_status status = descent_allocate(&descent) ? NIGH_OK : NIGH_ENOMEM;
    nigh__crew_stage(crew, "refining", passes * nodes);
    *made = 0;
    for (bool go_on = true; go_on && status == NIGH_OK && *made < passes;) {
        descent.seed = nigh__mix(seed + *made);
        status = make_pass(&descent);
        ++*made;
        go_on = atomic_load(&descent.new_ones) >= FEW_NEW * nodes;
    }
    descent_release(&descent);
    return status;
}
