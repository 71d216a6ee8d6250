/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Probes in order of cost; see slice_probe.h.
 *
 * One at a time.  Let the bits of a slice be numbered in order of cost, 0, 1, 2, ...  A
 * set of bits that are flipped has two successors, the last number n replaced by n + 1,
 * and n + 1 appended; none costs less, each set but the empty one is the successor of
 * exactly one, and of equal costs the successor has the greater mask (finder/weak.c has
 * the proof).  So a heap that begins with the empty set of every slice, and gets the
 * successors of what is taken out, gives all in order.
 *
 * Many at once.  A heap takes 50 ns and more for each.  The sets up to a cost, in any
 * order, take 3: with the bits in order of cost one goes on adding bits until it is too
 * much.
 *
 *     {}  {0}  {0 1}  {0 1 2}  {0 2}  {1}  {1 2}  {2}      each after what it adds to
 *
 * To get the first so many, guess a cost, take all up to it, count them by cost, and
 * leave out those beyond.  The guess is what the query before needed; where it gives too
 * few or very many, another.  Where very many cost the same (of weights that are much
 * alike) no guess will do: then all that cost less, and of the others the first.  Where
 * even one slice has very many of them, the heap has to.
 */
#include "slices/slice_probe.h"

#include <string.h>

#include "base/status.h"
#include "scan/nearest.h"

#define FIRST_LIMIT (8u * NIGH__FLIP_UNIT)
#define MAX_LIMIT 0xffffu
#define STEP 8u /* of a guess */
#define SLACK (NIGH__FLIP_UNIT / 8)
#define SPARE 2048u
#define MANY(wanted) (2 * (wanted) + SPARE)     /* more are too many */
#define ROOM(wanted) (2 * MANY(wanted) + SPARE) /* twice, for those of one cost */

/* ------------------------------------------------------------------------ slices -- */

static void add_bit(struct nigh__probe_slice *slice, uint32_t bit, uint16_t cost) {
    uint32_t place = slice->bits++;
    for (; place > 0 && slice->costs[place - 1] > cost; place--) {
        slice->costs[place] = slice->costs[place - 1];
        slice->masks[place] = slice->masks[place - 1];
    }
    slice->costs[place] = cost;
    slice->masks[place] = UINT32_C(1) << bit;
}

void nigh__probe_slice_init(struct nigh__probe_slice *slice, const struct nigh__bit_costs *costs,
                            const uint8_t *weights, uint32_t bits) {
    uint32_t keep = 0;
    slice->bits = 0;
    for (uint32_t b = 0; b < bits; b++) {
        const struct nigh__bit_cost cost = costs->of[weights[b]];
        keep += cost.keep;
        add_bit(slice, b, cost.flip);
    }
    slice->keep = keep / (NIGH__KEEP_UNIT / NIGH__FLIP_UNIT);
}

/* -------------------------------------------------------------------------- heap -- */

struct node {
    uint64_t probe;
    uint32_t last;  /* number of the last bit */
    uint32_t count; /* of bits */
};

static bool put(const nigh_context *context, struct nigh__array *nodes, struct node node) {
    if (nigh__array_add(context, nodes, 1) == NULL) return false;
    struct node *heap = nodes->data;
    size_t place = nodes->count - 1;
    for (; place > 0 && node.probe < heap[(place - 1) / 2].probe; place = (place - 1) / 2)
        heap[place] = heap[(place - 1) / 2];
    heap[place] = node;
    return true;
}

static struct node take(struct nigh__array *nodes) {
    struct node *heap = nodes->data;
    const struct node top = heap[0];
    const struct node last = heap[--nodes->count];
    size_t place = 0;
    for (size_t child; (child = 2 * place + 1) < nodes->count; place = child) {
        if (child + 1 < nodes->count && heap[child + 1].probe < heap[child].probe) child++;
        if (last.probe <= heap[child].probe) break;
        heap[place] = heap[child];
    }
    heap[place] = last;
    return top;
}

nigh_status nigh__probe_heap_begin(const nigh_context *context, struct nigh__probe_heap *heap,
                                   const struct nigh__probe_slice *slices, uint32_t count, nigh_error *error) {
    heap->slices = slices;
    heap->nodes.item_size = sizeof(struct node);
    heap->nodes.count = 0;
    for (uint32_t s = 0; s < count; s++) {
        const struct node node = {.probe = nigh__probe(slices[s].keep, s, 0)};
        if (!put(context, &heap->nodes, node)) return nigh__no_memory(error, "for the probes of a query");
    }
    return NIGH_OK;
}

/* With the bit of this number as well. */
static uint64_t flipped(const struct nigh__probe_slice *slice, uint64_t probe, uint32_t number) {
    return (probe ^ slice->masks[number]) + ((uint64_t)slice->costs[number] << 48);
}

nigh_status nigh__probe_heap_next(const nigh_context *context, struct nigh__probe_heap *heap, uint64_t *probe,
                                  nigh_error *error) {
    if (heap->nodes.count == 0) return NIGH_END;
    const struct node top = take(&heap->nodes);
    const struct nigh__probe_slice *slice = &heap->slices[nigh__probe_slice(top.probe)];
    const uint32_t next = top.count == 0 ? 0 : top.last + 1;
    *probe = top.probe;
    if (next >= slice->bits) return NIGH_OK;
    const struct node appended = {.probe = flipped(slice, top.probe, next), .last = next, .count = top.count + 1};
    if (!put(context, &heap->nodes, appended)) return nigh__no_memory(error, "for the probes of a query");
    if (top.count == 0) return NIGH_OK;
    const uint64_t without = (top.probe ^ slice->masks[top.last]) - ((uint64_t)slice->costs[top.last] << 48);
    const struct node replaced = {.probe = flipped(slice, without, next), .last = next, .count = top.count};
    return put(context, &heap->nodes, replaced) ? NIGH_OK : nigh__no_memory(error, "for the probes of a query");
}

/* --------------------------------------------------------------------------- all -- */

/* Adds the sets of one slice that come before `beyond`, up to `end`; returns where it ended. */
static uint64_t *fill(const struct nigh__probe_slice *slice, uint64_t none, uint64_t beyond, uint64_t *out,
                      const uint64_t *end) {
    uint64_t sets[NIGH_MAX_SLICE_WIDTH + 1] = {none}; /* of one bit, of two, ...: each with one more than the last */
    uint32_t last[NIGH_MAX_SLICE_WIDTH + 1] = {0};    /* the bit that it has more */
    uint32_t depth = 0;
    uint32_t number = 0; /* the bit to add next */
    if (out < end) *out++ = none;
    while (out < end) {
        const uint64_t next = number < slice->bits ? flipped(slice, sets[depth], number) : UINT64_MAX;
        if (next < beyond) {
            *out++ = next;
            depth++;
            sets[depth] = next;
            last[depth] = number++;
        } else {
            if (depth == 0) break;
            number = last[depth--] + 1;
        }
    }
    return out;
}

size_t nigh__probe_all(const struct nigh__probe_slice *slices, uint32_t count, uint32_t cost, uint64_t *probes,
                       size_t room) {
    const uint64_t beyond = cost < MAX_LIMIT ? nigh__probe(cost + 1, 0, 0) : UINT64_MAX;
    const uint64_t *end = probes + room;
    uint64_t *out = probes;
    for (uint32_t s = 0; s < count; s++)
        if (slices[s].keep <= cost) out = fill(&slices[s], nigh__probe(slices[s].keep, s, 0), beyond, out, end);
    /* Full is taken for too many: nobody can tell. */
    return out == end ? room + 1 : (size_t)(out - probes);
}

/* ------------------------------------------------------------------------ choosing -- */

/* The `wanted`-th of them in order; there are as many. */
static uint64_t find_last(const nigh_context *context, const uint64_t *probes, size_t count, size_t wanted,
                          uint32_t *levels, uint32_t limit, uint64_t *room) {
    uint32_t least = limit;
    for (size_t i = 0; i < count; i++) {
        const uint32_t cost = nigh__probe_cost(probes[i]);
        if (cost < least) least = cost;
    }
    memset(levels + least, 0, (limit - least + 1) * sizeof *levels);
    for (size_t i = 0; i < count; i++) levels[nigh__probe_cost(probes[i])]++;
    uint32_t level = least;
    for (; levels[level] < wanted; level++) wanted -= levels[level];
    if (levels[level] == wanted) return nigh__probe(level, 0xffff, UINT32_MAX);
    size_t same = 0;
    for (size_t i = 0; i < count; i++) {
        room[same] = probes[i];
        same += nigh__probe_cost(probes[i]) == level;
    }
    nigh__keys_sort(context, room, same);
    return room[wanted - 1];
}

/* Leaves the first so many, in the order they are in. */
static void cut(const nigh_context *context, struct nigh__probe_chooser *chooser, uint32_t limit, size_t *count,
                size_t wanted) {
    uint64_t *probes = chooser->probes;
    if (*count == wanted) return;
    const uint64_t last = find_last(context, probes, *count, wanted, chooser->levels, limit, probes + *count);
    size_t kept = 0;
    for (size_t i = 0; i < *count; i++) {
        const uint64_t probe = probes[i];
        probes[kept] = probe;
        kept += probe <= last;
    }
    *count = kept;
    chooser->limit = nigh__probe_cost(last) + SLACK;
}

/* By slice first, and back again. */
static uint64_t turned(uint64_t probe) {
    return nigh__probe(nigh__probe_slice(probe), nigh__probe_cost(probe), nigh__probe_mask(probe));
}

static nigh_status choose_by_heap(const nigh_context *context, struct nigh__probe_chooser *chooser,
                                  const struct nigh__probe_slice *slices, uint32_t count, size_t wanted, size_t *found,
                                  nigh_error *error) {
    nigh_status status = nigh__probe_heap_begin(context, &chooser->heap, slices, count, error);
    for (*found = 0; status == NIGH_OK && *found < wanted; ++*found)
        status = nigh__probe_heap_next(context, &chooser->heap, &chooser->probes[*found], error);
    if (status != NIGH_OK) return status;
    for (size_t i = 0; i < wanted; i++) chooser->probes[i] = turned(chooser->probes[i]);
    nigh__keys_sort(context, chooser->probes, wanted);
    for (size_t i = 0; i < wanted; i++) chooser->probes[i] = turned(chooser->probes[i]);
    return NIGH_OK;
}

/*
 * Where up to a cost there are too few, and with those of the next too many: all of the one, and of the other the
 * first, which are those of the first slices, and of one slice the least masks.  False where that slice has too many.
 */
static bool choose_level(const nigh_context *context, struct nigh__probe_chooser *chooser,
                         const struct nigh__probe_slice *slices, uint32_t count, uint32_t level, size_t left,
                         size_t *found) {
    const uint64_t *end = chooser->probes + ROOM(chooser->room);
    uint64_t *out = chooser->probes;
    for (uint32_t s = 0; s < count; s++) {
        const uint32_t beyond = level + (left != 0);
        if (slices[s].keep >= beyond) continue;
        uint64_t *first = out;
        out = fill(&slices[s], nigh__probe(slices[s].keep, s, 0), nigh__probe(beyond, 0, 0), out, end);
        if (out == end) return false;
        size_t same = 0;
        for (const uint64_t *probe = first; probe < out; probe++) same += nigh__probe_cost(*probe) == level;
        if (left != 0 && same > left) {
            nigh__keys_sort(context, first, (size_t)(out - first));
            out -= same - left;
            same = left;
        }
        left -= left != 0 ? same : 0;
    }
    *found = (size_t)(out - chooser->probes);
    return true;
}

static nigh_status make_room(const nigh_context *context, struct nigh__probe_chooser *chooser, size_t wanted,
                             nigh_error *error) {
    if (chooser->levels == NULL) chooser->levels = nigh__alloc(context, MAX_LIMIT + 1, sizeof *chooser->levels);
    if (chooser->levels == NULL) return nigh__no_memory(error, "for the probes of a query");
    if (chooser->room >= wanted) return NIGH_OK;
    if (wanted > SIZE_MAX / 64) return nigh__no_memory(error, "for the probes of a query");
    nigh__free(context, chooser->probes);
    chooser->room = 0;
    chooser->probes = nigh__alloc_large(context, ROOM(wanted), sizeof *chooser->probes);
    if (chooser->probes == NULL) return nigh__no_memory(error, "for the probes of a query");
    chooser->room = wanted;
    return NIGH_OK;
}

/* Not more than there are. */
static size_t bounded(const struct nigh__probe_slice *slices, uint32_t count, size_t wanted) {
    uint64_t all = 0;
    for (uint32_t s = 0; s < count && all < wanted; s++) all += UINT64_C(1) << slices[s].bits;
    return all < wanted ? (size_t)all : wanted;
}

/* Another guess, from `low` on and below `many`: steps that double as long as they go one way, then halves. */
static uint32_t next_limit(uint32_t limit, uint32_t low, uint32_t many, uint32_t step) {
    if (many > MAX_LIMIT) return limit + step < MAX_LIMIT ? limit + step : MAX_LIMIT;
    if (low == 0) return limit > step ? limit - step : 0;
    return low + (many - low) / 2;
}

nigh_status nigh__probe_choose(const nigh_context *context, struct nigh__probe_chooser *chooser,
                               const struct nigh__probe_slice *slices, uint32_t count, size_t wanted,
                               const uint64_t **out, size_t *found, nigh_error *error) {
    wanted = bounded(slices, count, wanted);
    nigh_status status = make_room(context, chooser, wanted, error);
    if (status != NIGH_OK) return status;
    *out = chooser->probes;
    uint32_t low = 0; /* below this cost there are too few, so many: */
    size_t too_few = 0;
    uint32_t many = MAX_LIMIT + 1; /* up to this too many */
    uint32_t limit = chooser->limit == 0 ? FIRST_LIMIT : chooser->limit;
    for (uint32_t step = STEP; low < many; step *= 2) {
        *found = nigh__probe_all(slices, count, limit, chooser->probes, MANY(wanted));
        if (*found >= wanted && *found <= MANY(wanted)) {
            cut(context, chooser, limit, found, wanted);
            return NIGH_OK;
        }
        if (*found < wanted) {
            low = limit + 1;
            too_few = *found;
        } else
            many = limit;
        limit = next_limit(limit, low, many, step);
    }
    chooser->limit = low > 1 ? low - 1 : 1;
    if (choose_level(context, chooser, slices, count, many, wanted - too_few, found)) return NIGH_OK;
    return choose_by_heap(context, chooser, slices, count, wanted, found, error);
}

void nigh__probe_chooser_free(const nigh_context *context, struct nigh__probe_chooser *chooser) {
    nigh__free(context, chooser->probes);
    nigh__free(context, chooser->levels);
    nigh__array_release(context, &chooser->heap.nodes);
    *chooser = (struct nigh__probe_chooser){0};
}
