/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/descent.h"

#include <string.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/rng.h"

#define NODES_AT_ONCE 1024u
#define FEW_NEW 2u       /* of a node, on average: then it ends */
#define SEEN_SLOTS 1024u /* to find a node that is twice in a list; a power of two */
#define SEEN_MAX 512u    /* longer lists are not looked through */

enum { NEW = 0, OLD = 1 };

struct descent {
    struct nigh__parallel *parallel;
    struct nigh__joining *joining;
    struct nigh__neighbours *neighbours;
    uint64_t seed;       /* of this pass */
    uint32_t *totals;    /* [2 * nodes] new and old ones, both ways */
    uint64_t *starts;    /* [2 * nodes + 1] of the lists of those that take part; before, how many, then their ends */
    uint32_t *lists;     /* before each a place that belongs to none */
    uint64_t room;       /* of all lists */
    uint32_t **gathered; /* of each thread: both lists of a node, without what is there twice */
    uint32_t longest;    /* that finds room there */
    _Atomic uint64_t new_ones; /* in all rows */
};

/* ------------------------------------------------------------------------ choosing -- */

static size_t list_of(uint32_t owner, uint32_t age) { return 2 * (size_t)owner + age; }

/*
 * 1 where `other` takes part in what `owner` brings together, as all do where there are no more than may; else 0.  It
 * is added, and not asked for: no processor could guess.
 */
static inline uint32_t takes_part(const struct descent *descent, uint32_t owner, uint32_t other, uint32_t age) {
    const uint64_t most = age == NEW ? NIGH__DESCENT_NEW : NIGH__DESCENT_OLD;
    const uint64_t hash = nigh__mix(descent->seed ^ ((uint64_t)owner << 32 | other)) >> 32;
    return hash * descent->totals[list_of(owner, age)] < most << 32;
}

/* Some of the nodes, whose lists are one thread's. */
struct owners {
    uint32_t first, count;
};

#define NO_OWNERS ((struct owners){0, 0})

static struct owners owners_of(const struct descent *descent, uint64_t part) {
    const uint64_t nodes = descent->neighbours->nodes;
    const uint64_t first = part * nodes / descent->parallel->threads;
    return (struct owners){(uint32_t)first, (uint32_t)((part + 1) * nodes / descent->parallel->threads - first)};
}

static bool is_owner(struct owners owners, uint32_t node) { return node - owners.first < owners.count; }

/* The neighbours of some nodes, one after the other, for the lists of the owners. */
struct stroll {
    const struct descent *descent;
    struct owners owners;
    uint32_t node, end;
    uint32_t *entry, *last; /* the next of this node's; NULL before the first */
    uint32_t other, age;    /* of the one at hand, which is before `entry` */
};

static struct stroll stroll_over(const struct descent *descent, struct owners owners, uint64_t first, uint64_t end) {
    return (struct stroll){.descent = descent, .owners = owners, .node = (uint32_t)first, .end = (uint32_t)end};
}

/* Inline, for gcc leaves out calls of what does nothing but fetch. */
#define FETCHES static inline __attribute__((always_inline))

/* What will be asked about the neighbours of the node that comes next: of owners, for the others are being written. */
FETCHES void fetch_lists(const struct stroll *stroll) {
    const struct descent *descent = stroll->descent;
    if (stroll->node + 1 >= stroll->end || stroll->owners.count == 0) return;
    const uint32_t *ids = nigh__neighbours_ids(descent->neighbours, stroll->node + 1);
    for (uint32_t i = 0; i < descent->neighbours->k; i++) {
        const uint32_t other = ids[i] & ~NIGH__NEW;
        if (!is_owner(stroll->owners, other)) continue;
        const size_t list = list_of(other, NEW);
        __builtin_prefetch(descent->totals + list);
        __builtin_prefetch(descent->starts + list);
    }
}

/* False: there are no more. */
static inline bool stroll_on(struct stroll *stroll) {
    for (; stroll->node < stroll->end; stroll->node++) {
        if (stroll->entry == NULL) {
            fetch_lists(stroll);
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

/* What is done with the neighbours of some nodes, for the lists of the owners. */
typedef void looking(struct descent *descent, struct owners owners, uint64_t first, uint64_t end);

struct looker {
    struct descent *descent;
    looking *look;
};

/* At the neighbours of all nodes, for one part of the owners after the other. */
static nigh_status look_at_all(void *user, const struct nigh__items *items) {
    const struct looker *looker = user;
    struct descent *descent = looker->descent;
    const uint64_t nodes = descent->neighbours->nodes;
    for (uint64_t part = items->first; part < items->end; part++) {
        const struct owners owners = owners_of(descent, part);
        for (uint64_t first = 0; first < nodes; first += NODES_AT_ONCE) {
            looker->look(descent, owners, first, nodes - first < NODES_AT_ONCE ? nodes : first + NODES_AT_ONCE);
            if (!nigh__parallel_did(descent->parallel, items->thread, 0)) return NIGH_OK;
        }
    }
    return NIGH_OK;
}

static void count_some(struct descent *descent, struct owners owners, uint64_t first, uint64_t end) {
    uint32_t *totals = descent->totals;
    for (struct stroll at = stroll_over(descent, owners, first, end); stroll_on(&at);) {
        if (is_owner(owners, at.node)) totals[list_of(at.node, at.age)]++;
        if (is_owner(owners, at.other)) totals[list_of(at.other, at.age)]++;
    }
}

static void choose_some(struct descent *descent, struct owners owners, uint64_t first, uint64_t end) {
    uint64_t *counts = descent->starts;
    for (struct stroll at = stroll_over(descent, owners, first, end); stroll_on(&at);) {
        if (is_owner(owners, at.node))
            counts[list_of(at.node, at.age)] += takes_part(descent, at.node, at.other, at.age);
        if (is_owner(owners, at.other))
            counts[list_of(at.other, at.age)] += takes_part(descent, at.other, at.node, at.age);
    }
}

/*
 * Lists are filled from their ends, which become their starts.  Each node is written down, and then counted or not; the
 * place before a list is for those that are not, when it is full.
 */
static inline void put(struct descent *descent, uint32_t owner, uint32_t other, uint32_t age) {
    uint64_t *start = &descent->starts[list_of(owner, age)];
    NIGH__ASSERT(*start > 0 && *start <= descent->room);
    descent->lists[*start - 1] = other;
    *start -= takes_part(descent, owner, other, age);
}

static void put_some(struct descent *descent, struct owners owners, uint64_t first, uint64_t end) {
    for (struct stroll at = stroll_over(descent, owners, first, end); stroll_on(&at);) {
        if (is_owner(owners, at.node)) put(descent, at.node, at.other, at.age);
        if (is_owner(owners, at.other)) put(descent, at.other, at.node, at.age);
    }
}

/* Those that their own node brings along are no longer new then. */
static nigh_status grow_old(void *user, const struct nigh__items *items) {
    struct descent *descent = user;
    for (struct stroll at = stroll_over(descent, NO_OWNERS, items->first, items->end); stroll_on(&at);)
        if (at.age == NEW && takes_part(descent, at.node, at.other, NEW) == 1) at.entry[-1] = at.other;
    (void)nigh__parallel_did(descent->parallel, items->thread, 0);
    return NIGH_OK;
}

/* Returns the longest list of a node, new and old. */
static uint32_t counts_to_ends(struct descent *descent) {
    const size_t lists = 2 * (size_t)descent->neighbours->nodes;
    uint64_t end = 0;
    uint64_t longest = 0;
    for (size_t list = 0; list < lists; list += 2) {
        const uint64_t both = descent->starts[list] + descent->starts[list + 1];
        if (both > longest) longest = both;
        for (size_t age = NEW; age <= OLD; age++) {
            end += 1 + descent->starts[list + age];
            descent->starts[list + age] = end;
        }
    }
    descent->starts[lists] = end + 1; /* as if there came another */
    return (uint32_t)longest;
}

static size_t list_length(const struct descent *descent, size_t list) {
    return (size_t)(descent->starts[list + 1] - 1 - descent->starts[list]);
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
    const size_t new_list = list_of(node, NEW);
    const size_t old_list = list_of(node, OLD);
    const size_t new_ones = list_length(descent, new_list);
    const size_t old_ones = list_length(descent, old_list);
    const uint32_t *list = descent->lists + descent->starts[new_list];
    const uint32_t *old = descent->lists + descent->starts[old_list];
    uint32_t *gathered = descent->gathered[thread];
    uint32_t active = (uint32_t)new_ones;
    uint32_t count = (uint32_t)(new_ones + old_ones);
    if (new_ones == 0) return;
    if (count > SEEN_MAX) {
        memcpy(gathered, list, new_ones * sizeof *gathered);
        memcpy(gathered + new_ones, old, old_ones * sizeof *gathered);
    } else {
        uint16_t seen[SEEN_SLOTS] = {0};
        active = gather(seen, gathered, 0, list, new_ones);
        count = gather(seen, gathered, active, old, old_ones);
    }
    nigh__join(descent->joining, thread, gathered, count, active);
}

FETCHES void fetch_list(const struct descent *descent, size_t list) {
    const uint32_t *nodes = descent->lists + descent->starts[list];
    const size_t length = list_length(descent, list);
    for (size_t i = 0; i < length; i++) {
        const uint64_t *row = descent->joining->rows + (size_t)nodes[i] * descent->joining->words;
        __builtin_prefetch(row);
        __builtin_prefetch(row + 8);
    }
}

/* The rows that come together next. */
FETCHES void fetch_ahead(const struct descent *descent, uint32_t node) {
    if (list_length(descent, list_of(node, NEW)) == 0) return;
    fetch_list(descent, list_of(node, NEW));
    fetch_list(descent, list_of(node, OLD));
}

static nigh_status join_nodes(void *user, const struct nigh__items *items) {
    struct descent *descent = user;
    for (uint64_t node = items->first; node < items->end; node++) {
        if (node + 1 < items->end) fetch_ahead(descent, (uint32_t)node + 1);
        join_node(descent, items->thread, (uint32_t)node);
        if (node % 64 == 0 && !nigh__parallel_did(descent->parallel, items->thread, 0)) return NIGH_OK;
    }
    (void)nigh__parallel_did(descent->parallel, items->thread, items->end - items->first);
    return NIGH_OK;
}

static nigh_status count_new(void *user, const struct nigh__items *items) {
    struct descent *descent = user;
    uint64_t count = 0;
    for (struct stroll at = stroll_over(descent, NO_OWNERS, items->first, items->end); stroll_on(&at);)
        count += at.age == NEW;
    atomic_fetch_add_explicit(&descent->new_ones, count, memory_order_relaxed);
    return NIGH_OK;
}

/* ------------------------------------------------------------------------- passes -- */

static bool share(struct descent *descent, nigh__parallel_work *work) {
    return nigh__parallel_run(descent->parallel, descent->neighbours->nodes, NODES_AT_ONCE, work, descent, NULL) ==
           NIGH_OK;
}

/* Each thread for its own share of the nodes. */
static bool share_owners(struct descent *descent, looking *look) {
    struct looker looker = {descent, look};
    return nigh__parallel_run(descent->parallel, descent->parallel->threads, 1, look_at_all, &looker, NULL) == NIGH_OK;
}

/* Room for all lists, and for the longest to be gathered; what there was is not kept. */
static bool make_room(struct descent *descent, uint64_t all, uint32_t longest) {
    const nigh_context *context = descent->parallel->context;
    if (all > descent->room) {
        nigh__free(context, descent->lists);
        descent->lists = nigh__alloc_large(context, (size_t)all, sizeof *descent->lists);
        descent->room = descent->lists == NULL ? 0 : all;
    }
    if (longest > descent->longest) {
        descent->longest = longest;
        for (uint32_t t = 0; t < descent->parallel->threads; t++) {
            nigh__free(context, descent->gathered[t]);
            descent->gathered[t] = nigh__alloc(context, longest, sizeof *descent->gathered[t]);
            if (descent->gathered[t] == NULL) return false;
        }
    }
    return descent->lists != NULL && nigh__joining_room(descent->joining, longest);
}

static nigh_status choose(struct descent *descent) {
    const size_t counts = 2 * (size_t)descent->neighbours->nodes;
    memset(descent->totals, 0, counts * sizeof *descent->totals);
    memset(descent->starts, 0, counts * sizeof *descent->starts);
    if (!share_owners(descent, count_some) || !share_owners(descent, choose_some)) return NIGH_ECANCELLED;
    const uint32_t longest = counts_to_ends(descent);
    if (!make_room(descent, descent->starts[counts], longest)) return NIGH_ENOMEM;
    return share_owners(descent, put_some) && share(descent, grow_old) ? NIGH_OK : NIGH_ECANCELLED;
}

static nigh_status make_pass(struct descent *descent) {
    nigh_status status = choose(descent);
    atomic_store(&descent->new_ones, 0);
    if (status == NIGH_OK && (!share(descent, join_nodes) || !share(descent, count_new))) status = NIGH_ECANCELLED;
    return status;
}

static bool descent_allocate(struct descent *descent) {
    const nigh_context *context = descent->parallel->context;
    const size_t counts = 2 * (size_t)descent->neighbours->nodes;
    descent->totals = nigh__alloc_large(context, counts, sizeof *descent->totals);
    descent->starts = nigh__alloc_large(context, counts + 1, sizeof *descent->starts);
    descent->gathered = nigh__alloc_zero(context, descent->parallel->threads, sizeof *descent->gathered);
    return descent->totals != NULL && descent->starts != NULL && descent->gathered != NULL;
}

static void descent_release(struct descent *descent) {
    const nigh_context *context = descent->parallel->context;
    for (uint32_t t = 0; descent->gathered != NULL && t < descent->parallel->threads; t++)
        nigh__free(context, descent->gathered[t]);
    nigh__free(context, descent->gathered);
    nigh__free(context, descent->lists);
    nigh__free(context, descent->totals);
    nigh__free(context, descent->starts);
}

uint64_t nigh__descent_bytes(uint64_t nodes, uint32_t k) {
    const uint64_t most = NIGH__DESCENT_NEW + NIGH__DESCENT_OLD;
    const uint64_t all = 2 * (uint64_t)k;
    const uint64_t listed = all < most ? all : most;
    return nodes * (2 * (sizeof(uint32_t) + sizeof(uint64_t)) + (listed + 2) * sizeof(uint32_t));
}

nigh_status nigh__descend(struct nigh__parallel *parallel, struct nigh__joining *joining, uint32_t passes,
                          uint64_t seed, uint32_t *made) {
    struct descent descent = {.parallel = parallel, .joining = joining, .neighbours = joining->neighbours};
    const uint64_t nodes = joining->neighbours->nodes;
    nigh_status status = descent_allocate(&descent) ? NIGH_OK : NIGH_ENOMEM;
    nigh__parallel_stage(parallel, "refining", passes * nodes);
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
