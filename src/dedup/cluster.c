/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Three ways from pairs to clusters, over ranks, of which 0 is the best:
 *
 *     KEPT         who has not gone with a better one when his turn comes stays, and whoever is
 *                  alike to him and not gone yet goes with him.  Pairs come by the better
 *                  rank, so all that decides about a rank has come before its own pairs,
 *                  and each pair is decided at once.  Of a chain a - b - c with a and c not
 *                  alike, a and c stay.
 *     COMPONENTS   union-find, whose roots are the best of their trees
 *     COMPLETE     in order, each joins the first cluster all of whose members are alike to
 *                  it; this takes all its pairs with better ones together, hence a sorter
 *
 * Each is linear, or nearly, in the number of pairs.
 */
#include "dedup/cluster.h"

#include "base/assert.h"
#include "base/memory.h"
#include "base/status.h"

nigh_status nigh__clusters_init(const nigh_context *context, nigh_cluster_rule rule, uint64_t count,
                                const struct nigh__sorter_options *sorting, struct nigh__clusters *out,
                                nigh_error *error) {
    *out = (struct nigh__clusters){.context = context, .rule = rule, .count = count, .pair_words = sorting->words};
    out->kept = nigh__alloc(context, (size_t)count, sizeof *out->kept);
    if (out->kept == NULL) return nigh__no_memory(error, "for clusters");
    for (uint64_t i = 0; i < count; i++) out->kept[i] = i;
    if (rule != NIGH_CLUSTER_COMPLETE) return NIGH_OK;
    nigh_status status = nigh__sorter_new(context, sorting, &out->alike, error);
    if (status != NIGH_OK) nigh__clusters_release(out);
    return status;
}

void nigh__clusters_release(struct nigh__clusters *clusters) {
    if (clusters->context != NULL) nigh__free(clusters->context, clusters->kept);
    nigh__sorter_free(clusters->alike);
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

bool nigh__clusters_ask(struct nigh__clusters *clusters, uint64_t a, uint64_t b) {
    switch (clusters->rule) {
    case NIGH_CLUSTER_KEPT:
        return clusters->kept[a] == a && clusters->kept[b] == b;
    case NIGH_CLUSTER_COMPONENTS:
        return find_root(clusters->kept, a) != find_root(clusters->kept, b);
    default:
        return true;
    }
}

nigh_status nigh__clusters_add(struct nigh__clusters *clusters, uint64_t a, uint64_t b, bool *joined,
                               nigh_error *error) {
    *joined = false;
    NIGH__ASSERT(a < b && b < clusters->count);
    if (clusters->rule == NIGH_CLUSTER_COMPLETE) {
        uint64_t record[2];
        nigh__number_pair_pack(clusters->pair_words, b, a, record);
        return nigh__sorter_add(clusters->alike, record, 1, error);
    }
    if (!nigh__clusters_ask(clusters, a, b)) return NIGH_OK;
    if (clusters->rule == NIGH_CLUSTER_KEPT) {
        clusters->kept[b] = a;
        *joined = true;
        return NIGH_OK;
    }
    const uint64_t x = find_root(clusters->kept, a);
    const uint64_t y = find_root(clusters->kept, b);
    clusters->kept[x < y ? y : x] = x < y ? x : y;
    return NIGH_OK;
}

/* -------------------------------------------------------------- complete -- */

struct completing {
    uint64_t *kept;
    uint64_t *sizes;   /* of a cluster, by the rank that stays */
    uint64_t *matches; /* members of a cluster that are alike to the rank at hand; 0 between ranks */
    uint64_t *better;  /* those it is alike to */
    size_t better_count;
    uint64_t rank; /* at hand */
};

/* Its pairs are all there: it joins the first cluster that is alike as a whole. */
static void decide(struct completing *completing) {
    uint64_t best = completing->rank;
    for (size_t i = 0; i < completing->better_count; i++) {
        const uint64_t cluster = completing->kept[completing->better[i]];
        completing->matches[cluster]++;
        if (cluster < best && completing->matches[cluster] == completing->sizes[cluster]) best = cluster;
    }
    for (size_t i = 0; i < completing->better_count; i++)
        completing->matches[completing->kept[completing->better[i]]] = 0;
    completing->better_count = 0;
    if (best == completing->rank) return;
    completing->kept[completing->rank] = best;
    completing->sizes[best]++;
}

static nigh_status complete(struct nigh__clusters *clusters, struct completing *completing, nigh_error *error) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = nigh__sorter_finish(clusters->alike, error);
    const uint32_t words = clusters->pair_words;
    for (uint64_t i = 0; i < clusters->count; i++) completing->sizes[i] = 1;
    while (status == NIGH_OK && (status = nigh__sorter_next(clusters->alike, &records, &count, error)) == NIGH_OK) {
        for (size_t i = 0; i < count; i++) {
            const struct nigh__number_pair pair = nigh__number_pair_unpack(words, records + i * words);
            NIGH__ASSERT(pair.first >= completing->rank && completing->better_count < clusters->count);
            if (pair.first != completing->rank) decide(completing);
            completing->rank = pair.first;
            completing->better[completing->better_count++] = pair.second;
        }
    }
    if (status != NIGH_END) return status;
    decide(completing);
    return NIGH_OK;
}

static nigh_status finish_complete(struct nigh__clusters *clusters, nigh_error *error) {
    struct completing completing = {
        .kept = clusters->kept,
        .sizes = nigh__alloc(clusters->context, (size_t)clusters->count, sizeof *completing.sizes),
        .matches = nigh__alloc_zero(clusters->context, (size_t)clusters->count, sizeof *completing.matches),
        .better = nigh__alloc(clusters->context, (size_t)clusters->count, sizeof *completing.better),
    };
    nigh_status status = completing.sizes == NULL || completing.matches == NULL || completing.better == NULL
                             ? nigh__no_memory(error, "for clusters")
                             : complete(clusters, &completing, error);
    nigh__free(clusters->context, completing.sizes);
    nigh__free(clusters->context, completing.matches);
    nigh__free(clusters->context, completing.better);
    return status;
}

nigh_status nigh__clusters_finish(struct nigh__clusters *clusters, nigh_error *error) {
    if (clusters->rule == NIGH_CLUSTER_COMPLETE) return finish_complete(clusters, error);
    if (clusters->rule == NIGH_CLUSTER_COMPONENTS)
        for (uint64_t i = 0; i < clusters->count; i++) clusters->kept[i] = find_root(clusters->kept, i);
    return NIGH_OK;
}
