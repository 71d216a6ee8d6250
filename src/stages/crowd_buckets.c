/* SPDX-License-Identifier: Apache-2.0 */
#include "stages/crowd_buckets.h"

#include "base/bytes.h"
#include "base/status.h"

nigh_status nigh__crowd_buckets_begin(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                                      struct nigh__crowd_buckets *out, nigh_error *error) {
    const nigh_dedup *dedup = candidates->dedup;
    *out = (struct nigh__crowd_buckets){.crowd = 0};
    nigh_status status = nigh__buckets_init(candidates, gathered, NULL, &out->buckets, error);
    if (status != NIGH_OK) return status;
    out->named = nigh__alloc_zero(dedup->context, dedup->documents.count / 64 + 1, sizeof *out->named);
    return out->named == NULL ? nigh__no_memory(error, "for candidates") : NIGH_OK;
}

static const uint64_t *members_of(const struct nigh__crowd_buckets *crowds) { return crowds->buckets.members.data; }

static nigh_status end_crowd(struct nigh__crowd_buckets *crowds, nigh_error *error) {
    for (size_t i = 0; i < crowds->buckets.members.count; i++) crowds->named[members_of(crowds)[i] / 64] = 0;
    return crowds->listing ? nigh__buckets_list(&crowds->buckets, UINT64_MAX, error)
                           : nigh__buckets_compare(&crowds->buckets, error);
}

nigh_status nigh__crowd_buckets_again(struct nigh__crowd_buckets *crowds, uint64_t *pairs, nigh_error *error) {
    nigh_status status = end_crowd(crowds, error);
    crowds->listing = true;
    *pairs = nigh__buckets_pairs(&crowds->buckets, UINT64_MAX);
    return status;
}

bool nigh__crowd_buckets_fits(const struct nigh__crowd_buckets *crowds, uint64_t crowd, uint32_t band,
                              uint64_t document) {
    if (crowds->buckets.members.count == 0 || crowd != crowds->crowd) return true;
    return band == crowds->buckets.band && !nigh__bit_is_set(crowds->named, document);
}

nigh_status nigh__crowd_buckets_add(struct nigh__crowd_buckets *crowds, uint64_t crowd, uint32_t band,
                                    uint64_t document, nigh_error *error) {
    struct nigh__buckets *buckets = &crowds->buckets;
    if (buckets->members.count > 0 && crowd != crowds->crowd) {
        nigh_status status = end_crowd(crowds, error);
        if (status != NIGH_OK) return status;
    }
    crowds->crowd = crowd;
    buckets->band = band;
    uint64_t *place = nigh__array_add(buckets->dedup->context, &buckets->members, 1);
    if (place == NULL) return nigh__no_memory(error, "for candidates");
    *place = document;
    crowds->named[document / 64] |= UINT64_C(1) << (document % 64);
    return NIGH_OK;
}

nigh_status nigh__crowd_buckets_end(struct nigh__crowd_buckets *crowds, nigh_status status, nigh_dedup *dedup,
                                    nigh_error *error) {
    if (status == NIGH_OK) status = end_crowd(crowds, error);
    if (status == NIGH_OK) status = nigh__buckets_finish(&crowds->buckets, error);
    dedup->info.truncated += crowds->buckets.truncated;
    nigh__free(dedup->context, crowds->named);
    nigh__buckets_release(&crowds->buckets);
    return status;
}
