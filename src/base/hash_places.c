/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash_places.h"

#include "base/bytes.h"
#include "base/memory.h"

static uint64_t hash_at(const struct nigh__hash_places *places, uint64_t index) {
    return nigh__load64(places->records + index * places->stride);
}

/* A bucket for every one or two hashes. */
bool nigh__hash_places_init(const nigh_context *context, const void *records, size_t stride, uint64_t count,
                            struct nigh__hash_places *out) {
    *out = (struct nigh__hash_places){.records = records, .stride = stride, .count = count};
    unsigned bits = 1;
    while (bits < 32 && UINT64_C(2) << bits < count) bits++;
    out->shift = 64 - bits;
    const uint64_t buckets = UINT64_C(1) << bits;
    out->starts = nigh__alloc(context, (size_t)buckets + 1, sizeof *out->starts);
    if (out->starts == NULL) return false;
    uint64_t at = 0;
    for (uint64_t bucket = 0; bucket < buckets; bucket++) {
        while (at < count && hash_at(out, at) >> out->shift < bucket) at++;
        out->starts[bucket] = at;
    }
    out->starts[buckets] = count;
    return true;
}

void nigh__hash_places_release(const nigh_context *context, struct nigh__hash_places *places) {
    nigh__free(context, places->starts);
    *places = (struct nigh__hash_places){.count = 0};
}

uint64_t nigh__hash_places_find(const struct nigh__hash_places *places, uint64_t hash) {
    uint64_t low = places->starts[hash >> places->shift];
    uint64_t high = places->starts[(hash >> places->shift) + 1];
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (hash_at(places, middle) < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low < places->count && hash_at(places, low) == hash ? low : UINT64_MAX;
}

bool nigh__hash_places_ascend(const void *records, size_t stride, uint64_t count) {
    const uint8_t *at = records;
    for (uint64_t i = 1; i < count; i++)
        if (nigh__load64(at + (i - 1) * stride) >= nigh__load64(at + i * stride)) return false;
    return true;
}
