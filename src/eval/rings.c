/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* What slice lists tell ring by ring, and when the stopping rules of the papers would stop. */
#include <string.h>

#include "base/limits.h"
#include "base/progress.h"
#include "base/status.h"
#include "collection/collection.h"
#include "slices/slice_search.h"

struct ringing {
    const nigh_collection *collection;
    struct nigh__slice_scratch *scratch;
    uint32_t k, breadth;
    uint64_t *words;                /* of the query */
    struct nigh__slice_ring *rings; /* of one segment */
    bool *determined, *certain;     /* of one query, in all segments so far */
    uint64_t signatures;
};

struct in_segment {
    const struct ringing *ringing;
    const struct nigh__segment *segment;
    struct nigh__slices slices;
    struct nigh__slice_query query;
};

/* Inside guards. */
static nigh_status look(void *user, nigh_error *error) {
    const struct in_segment *in = user;
    return nigh__slice_rings(in->ringing->scratch, &in->slices, in->segment->rows, &in->query, in->ringing->rings,
                             error);
}

/* The rings of one segment, by maps that may be cut short. */
static nigh_status segment_rings(const struct ringing *r, const struct nigh__segment *segment, nigh_error *error) {
    struct in_segment in = {.ringing = r, .segment = segment};
    if (segment->sidecars[NIGH__SIDECAR_SLICES] == NULL)
        return nigh__because(
            error, NIGH_REASON_NO_LISTS,
            nigh__fail_at(error, NIGH_ENOTFOUND, segment->path, NIGH_NO_OFFSET, "the segment has no slice lists"));
    nigh_status status = nigh__slices_of_segment(segment, &in.slices, error);
    if (status != NIGH_OK) return status;
    if (r->breadth > in.slices.slicing.most_bits)
        return nigh__fail(error, NIGH_EINVAL, "a breadth of %u, where slices have %u bits", r->breadth,
                          in.slices.slicing.most_bits);
    in.query = (struct nigh__slice_query){.words = r->words,
                                          .k = r->k,
                                          .limit = UINT32_MAX,
                                          .breadth = r->breadth,
                                          .admit = r->breadth,
                                          .slices = in.slices.slicing.count,
                                          .postings = NIGH_ALL_64};
    return nigh__sidecar_guarded(segment, in.slices.sidecar, look, &in, error);
}

static void add_segment(const struct ringing *r, nigh_eval_ring *out) {
    for (uint32_t b = 0; b <= r->breadth; b++) {
        out[b].lists += (double)r->rings[b].lists;
        out[b].postings += (double)r->rings[b].postings;
        out[b].seen += (double)r->rings[b].seen / (double)r->signatures;
        out[b].by_pessimistic += (double)r->rings[b].by_pessimistic;
        out[b].by_distance += (double)r->rings[b].by_distance;
        out[b].by_score += (double)r->rings[b].by_score;
        r->determined[b] = r->determined[b] && r->rings[b].determined;
        r->certain[b] = r->certain[b] && r->rings[b].certain;
    }
}

static nigh_status query_rings(const struct ringing *r, nigh_eval_ring *out, nigh_error *error) {
    memset(r->determined, true, ((size_t)r->breadth + 1) * sizeof *r->determined);
    memset(r->certain, true, ((size_t)r->breadth + 1) * sizeof *r->certain);
    for (uint32_t s = 0; s < r->collection->segment_count; s++) {
        if (r->collection->segments[s]->signatures == 0) continue;
        nigh_status status = segment_rings(r, r->collection->segments[s], error);
        if (status != NIGH_OK) return status;
        add_segment(r, out);
    }
    for (uint32_t b = 0; b <= r->breadth; b++) {
        out[b].determined += r->determined[b];
        out[b].certain += r->certain[b];
    }
    return NIGH_OK;
}

static nigh_status ring_all(struct ringing *r, const uint8_t *queries, size_t count, const nigh_progress *reporting,
                            nigh_eval_ring *out, nigh_error *error) {
    const size_t bytes = nigh__row_bytes(r->collection->width_bits);
    struct nigh__progress progress;
    nigh_status status = NIGH_OK;
    nigh__progress_init(&progress, reporting);
    memset(out, 0, ((size_t)r->breadth + 1) * sizeof *out);
    for (size_t q = 0; status == NIGH_OK && q < count; q++) {
        if (nigh__progress_tick(&progress, "looking at rings", q, count)) return nigh__progress_cancelled(error);
        memset(r->words, 0, nigh__row_words(r->collection->width_bits) * sizeof(uint64_t));
        memcpy(r->words, queries + q * bytes, bytes);
        status = query_rings(r, out, error);
    }
    for (uint32_t b = 0; b <= r->breadth; b++) {
        double *const means[] = {&out[b].lists,   &out[b].postings,       &out[b].seen,        &out[b].determined,
                                 &out[b].certain, &out[b].by_pessimistic, &out[b].by_distance, &out[b].by_score};
        for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) *means[i] /= (double)count;
    }
    return status;
}

nigh_status nigh_eval_rings_measure(const nigh_collection *collection, const uint8_t *queries, size_t count, uint32_t k,
                                    uint32_t breadth, const nigh_progress *progress, nigh_eval_ring *rings,
                                    nigh_error *error) {
    const nigh_context *context = collection->context;
    struct ringing r = {.collection = collection, .k = k, .breadth = breadth};
    if (count == 0 || k == 0) return nigh__fail(error, NIGH_EINVAL, "no queries, or a k of 0");
    if (breadth > NIGH_MAX_SLICE_WIDTH)
        return nigh__fail(error, NIGH_EINVAL, "a breadth of %u; %u is the most", breadth, NIGH_MAX_SLICE_WIDTH);
    for (uint32_t s = 0; s < collection->segment_count; s++) r.signatures += collection->segments[s]->signatures;
    r.words = nigh__alloc(context, nigh__row_words(collection->width_bits), sizeof(uint64_t));
    r.rings = nigh__alloc(context, (size_t)breadth + 1, sizeof *r.rings);
    r.determined = nigh__alloc(context, (size_t)breadth + 1, sizeof *r.determined);
    r.certain = nigh__alloc(context, (size_t)breadth + 1, sizeof *r.certain);
    nigh_status status = nigh__slice_scratch_new(context, &r.scratch, error);
    if (r.words == NULL || r.rings == NULL || r.determined == NULL || r.certain == NULL)
        status = nigh__no_memory(error, "to look at rings");
    if (status == NIGH_OK) status = ring_all(&r, queries, count, progress, rings, error);
    nigh__slice_scratch_free(r.scratch);
    nigh__free(context, r.words);
    nigh__free(context, r.rings);
    nigh__free(context, r.determined);
    nigh__free(context, r.certain);
    return status;
}
