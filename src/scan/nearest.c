/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heaps and sorting of keys.  The C library's qsort may allocate and knows
 * nothing of our allocator; and a search without a limit can return millions
 * of keys whose distances take few values, which a radix sort likes best.
 */
#include "scan/nearest.h"

#include <string.h>

#include "base/assert.h"

/* Below this many a heap sort is as fast. */
#define RADIX_FROM 512

/* Lets keys[0] of a heap, greatest first, sink to its place. */
static void sink(uint64_t *keys, size_t count) {
    uint64_t sinking = keys[0];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count) break;
        if (child + 1 < count && keys[child + 1] > keys[child]) child++;
        if (keys[child] <= sinking) break;
        keys[at] = keys[child];
        at = child;
    }
    keys[at] = sinking;
}

/* Lets keys[at] rise to its place. */
static void rise(uint64_t *keys, size_t at) {
    uint64_t rising = keys[at];
    while (at > 0 && keys[(at - 1) / 2] < rising) {
        keys[at] = keys[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    keys[at] = rising;
}

static void sort_by_heap(uint64_t *keys, size_t count) {
    for (size_t i = 1; i < count; i++) rise(keys, i);
    for (size_t left = count; left > 1; left--) {
        uint64_t greatest = keys[0];
        keys[0] = keys[left - 1];
        sink(keys, left - 1);
        keys[left - 1] = greatest;
    }
}

/* One pass over the byte at `shift`; stable.  False, and nothing done, where all keys have the same byte there. */
static bool radix_pass(const uint64_t *from, uint64_t *to, size_t count, unsigned shift) {
    size_t starts[256] = {0};
    for (size_t i = 0; i < count; i++) starts[(from[i] >> shift) & 255]++;
    if (starts[(from[0] >> shift) & 255] == count) return false;
    size_t sum = 0;
    for (size_t value = 0; value < 256; value++) {
        size_t next = sum + starts[value];
        starts[value] = sum;
        sum = next;
    }
    for (size_t i = 0; i < count; i++) to[starts[(from[i] >> shift) & 255]++] = from[i];
    return true;
}

static bool keys_ascend(const uint64_t *keys, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (keys[i] < keys[i - 1]) return false;
    return true;
}

void nigh__keys_sort(const nigh_context *context, uint64_t *keys, size_t count) {
    uint64_t *scratch = count < RADIX_FROM ? NULL : nigh__alloc(context, count, sizeof *keys);
    if (scratch == NULL) {
        sort_by_heap(keys, count);
        NIGH__ASSERT(keys_ascend(keys, count));
        return;
    }
    uint64_t *from = keys;
    uint64_t *to = scratch;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (!radix_pass(from, to, count, shift)) continue;
        uint64_t *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != keys) memcpy(keys, from, count * sizeof *keys);
    nigh__free(context, scratch);
    NIGH__ASSERT(keys_ascend(keys, count));
}

void nigh__nearest_init(struct nigh__nearest *nearest, uint32_t k, uint32_t limit) {
    *nearest = (struct nigh__nearest){.keys = NIGH__ARRAY(uint64_t), .k = k, .limit = limit};
}

void nigh__nearest_release(const nigh_context *context, struct nigh__nearest *nearest) {
    nigh__array_release(context, &nearest->keys);
}

/* Adds a key that belongs among those here. */
static bool place(const nigh_context *context, struct nigh__nearest *nearest, uint64_t key) {
    NIGH__ASSERT(nearest->k > 0 && nearest->keys.count <= nearest->k);
    uint64_t *keys = nearest->keys.data;
    if (nearest->k == NIGH_ALL || nearest->keys.count < nearest->k) {
        uint64_t *slot = nigh__array_add(context, &nearest->keys, 1);
        if (slot == NULL) return false;
        *slot = key;
        keys = nearest->keys.data;
        if (nearest->k != NIGH_ALL) rise(keys, nearest->keys.count - 1);
    } else {
        NIGH__ASSERT(key < keys[0]);
        keys[0] = key;
        sink(keys, nearest->keys.count);
    }
    if (nearest->keys.count == nearest->k) nearest->limit = nigh__key_distance(keys[0]);
    return true;
}

/* A later number at the same distance comes after all that are here, so that the limit says it all. */
bool nigh__nearest_add(const nigh_context *context, struct nigh__nearest *nearest, uint32_t distance, uint32_t number) {
    return distance >= nearest->limit || place(context, nearest, nigh__key(distance, number));
}

bool nigh__nearest_offer(const nigh_context *context, struct nigh__nearest *nearest, uint32_t distance,
                         uint32_t number) {
    const uint64_t key = nigh__key(distance, number);
    const bool full = nearest->k != NIGH_ALL && nearest->keys.count == nearest->k;
    const bool out = full ? key >= ((const uint64_t *)nearest->keys.data)[0] : distance >= nearest->limit;
    return out || place(context, nearest, key);
}
