/* SPDX-License-Identifier: Apache-2.0 */
/* Comparing two documents; see compare.h. */
#include "dedup/compare.h"

#include "dedup/candidates.h"
#include "dedup/likeness.h"

static nigh_status compare_sets(const struct nigh__comparer *comparer, struct nigh__sets_reader *reader, uint64_t a,
                                uint64_t b, bool measuring, struct nigh__comparison *out, nigh_error *error) {
    const nigh_dedup *dedup = comparer->dedup;
    const uint64_t a_count = nigh__dedup_document(dedup, a)->features;
    const uint64_t b_count = nigh__dedup_document(dedup, b)->features;
    uint64_t common = 0;
    if (!measuring && !nigh__lengths_fit(dedup->options.threshold, (uint32_t)a_count, (uint32_t)b_count))
        return NIGH_OK;
    nigh_status status = nigh__sets_common(comparer->sets, reader, a, b, &common, error);
    if (status != NIGH_OK) return status;
    *out = nigh__comparison_of(dedup->options.threshold, a_count, b_count, common);
    return NIGH_OK;
}

/* What the distance says: of MinHash bits half of those differ that could. */
static void guess(const struct nigh__comparer *comparer, uint64_t a, uint64_t b, struct nigh__comparison *out) {
    const nigh_dedup *dedup = comparer->dedup;
    const uint32_t distance = nigh__likeness_distance(dedup, comparer->gathered, a, b);
    const double share = (double)distance / (double)comparer->width_bits;
    const bool halves = dedup->reading != NULL && dedup->options.method == NIGH_DEDUP_MINHASH;
    const double similarity = 1 - (halves ? 2 : 1) * share;
    out->alike = !halves || nigh__lengths_fit(dedup->options.threshold, nigh__dedup_document(dedup, a)->features,
                                              nigh__dedup_document(dedup, b)->features);
    out->similarity = (float)(similarity < 0 ? 0 : similarity);
}

nigh_status nigh__compare(const struct nigh__comparer *comparer, struct nigh__sets_reader *reader, uint64_t better,
                          uint64_t worse, bool measuring, struct nigh__comparison *out, nigh_error *error) {
    const uint64_t a = comparer->order->first[better];
    const uint64_t b = comparer->order->first[worse];
    *out = (struct nigh__comparison){.alike = false};
    if (comparer->dedup->verified) return compare_sets(comparer, reader, a, b, measuring, out, error);
    guess(comparer, a, b, out);
    return NIGH_OK;
}
