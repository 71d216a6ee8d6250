/* SPDX-License-Identifier: Apache-2.0 */
/* Components by union-find, whose roots are the best of their trees: nearly linear in the number of pairs. */
#include "dedup/cluster.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/status.h"

nigh_status nigh__clusters_init(const nigh_context *context, uint64_t count, struct nigh__clusters *out,
                                nigh_error *error) {
    *out = (struct nigh__clusters){.context = context, .count = count};
    out->kept = nigh__alloc(context, (size_t)count, sizeof *out->kept);
    if (out->kept == NULL) return nigh__no_memory(error, "for clusters");
    for (uint64_t i = 0; i < count; i++) out->kept[i] = i;
    return NIGH_OK;
}

void nigh__clusters_release(struct nigh__clusters *clusters) {
    if (clusters->context != NULL) nigh__free(clusters->context, clusters->kept);
    *clusters = (struct nigh__clusters){0};
}

/* The root of a tree, with the way to it halved. */
static uint64_t find_root(uint64_t *kept, uint64_t rank) {
    while (kept[rank] != rank) {
        NIGH__ASSERT(kept[rank] < rank); /* a root is the best of its tree */
        kept[rank] = kept[kept[rank]];
        rank = kept[rank];
    }
    return rank;
}

bool nigh__clusters_joined(struct nigh__clusters *clusters, uint64_t a, uint64_t b) {
    return find_root(clusters->kept, a) == find_root(clusters->kept, b);
}

void nigh__clusters_join(struct nigh__clusters *clusters, uint64_t a, uint64_t b) {
    NIGH__ASSERT(a < clusters->count && b < clusters->count);
    const uint64_t x = find_root(clusters->kept, a);
    const uint64_t y = find_root(clusters->kept, b);
    clusters->kept[x < y ? y : x] = x < y ? x : y;
}

void nigh__clusters_finish(struct nigh__clusters *clusters) {
    for (uint64_t i = 0; i < clusters->count; i++) clusters->kept[i] = find_root(clusters->kept, i);
}
