/* SPDX-License-Identifier: Apache-2.0 */
/* See bucket_compare.h. */
#include "stages/bucket_compare.h"

#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/status.h"
#include "dedup/candidates.h"

#define RECENT_BITS 16u

nigh_status nigh__bucket_comparison_init(const nigh_dedup *dedup, const struct nigh__bucket_takes *takes,
                                         struct nigh__bucket_comparison *out, nigh_error *error) {
    const nigh_dedup_options *options = &dedup->options;
    *out = (struct nigh__bucket_comparison){.context = dedup->context, .takes = *takes};
    out->radius = nigh__crowd_find_radius(options->threshold);
    out->most = nigh__smaller(options->bucket_budget, NIGH__CROWD_MEMBERS);
    out->least = options->no_verify ? options->threshold : 0;
    out->recent = nigh__alloc_table(dedup->context, (size_t)2 << RECENT_BITS, sizeof *out->recent);
    return out->recent == NULL ? nigh__no_memory(error, "to find candidates") : NIGH_OK;
}

void nigh__bucket_comparison_release(struct nigh__bucket_comparison *comparison) {
    if (comparison->context != NULL) nigh__free(comparison->context, comparison->recent);
    comparison->context = NULL;
}

static nigh_status put_pair(struct nigh__bucket_comparison *comparison, uint64_t a, uint64_t b, nigh_error *error) {
    const uint64_t both = nigh__mix(a) + b;
    uint64_t *recent = &comparison->recent[(nigh__mix(both) >> (64 - RECENT_BITS)) * 2];
    if (recent[0] == a && recent[1] == b) return NIGH_OK;
    recent[0] = a;
    recent[1] = b;
    return comparison->takes.pair(comparison->takes.user, a, b, error);
}

static nigh_status compare_rest(struct nigh__bucket_comparison *comparison, size_t member, nigh_error *error) {
    const struct nigh__hamming *hamming = comparison->context->hamming;
    const uint64_t *row = comparison->rows + member * NIGH__BUCKET_ROW_WORDS;
    const uint32_t *features = comparison->features;
    const size_t others = (size_t)comparison->members - member - 1;
    nigh_status status = NIGH_OK;
    if (hamming->rows(row, row + NIGH__BUCKET_ROW_WORDS, others, NIGH__BUCKET_ROW_WORDS, comparison->distances) >
        comparison->radius)
        return NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < others; i++) {
        const size_t other = member + 1 + i;
        if (comparison->distances[i] <= comparison->radius &&
            (comparison->least == 0 || nigh__lengths_fit(comparison->least, features[member], features[other])))
            status = put_pair(comparison, comparison->numbers[member], comparison->numbers[other], error);
    }
    return status;
}

static nigh_status put_member(struct nigh__bucket_comparison *comparison, uint64_t number, nigh_error *error) {
    return comparison->takes.member(comparison->takes.user, comparison->crowds, comparison->bucket >> 32, number,
                                    error);
}

nigh_status nigh__bucket_comparison_end(struct nigh__bucket_comparison *comparison, nigh_error *error) {
    const uint64_t members = comparison->members;
    nigh_status status = NIGH_OK;
    if (members > comparison->most)
        comparison->crowds++;
    else
        for (size_t i = 0; status == NIGH_OK && i + 1 < members; i++) status = compare_rest(comparison, i, error);
    comparison->members = 0;
    return status;
}

/* Whether a member is of the bucket at hand: where its low half is not known, any will do. */
static bool is_of_bucket(const struct nigh__bucket_comparison *comparison, const struct nigh__bucket_member *member) {
    return comparison->members > 0 && member->bucket == comparison->bucket &&
           (comparison->low == 0 || member->low == comparison->low);
}

nigh_status nigh__bucket_comparison_add(struct nigh__bucket_comparison *comparison,
                                        const struct nigh__bucket_member *member, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (!is_of_bucket(comparison, member)) {
        status = nigh__bucket_comparison_end(comparison, error);
        comparison->bucket = member->bucket;
        comparison->low = member->low;
    }
    if (status != NIGH_OK) return status;
    const uint64_t place = comparison->members++;
    if (place > comparison->most) return put_member(comparison, member->number, error);
    comparison->numbers[place] = member->number;
    comparison->features[place] = member->features;
    memcpy(comparison->rows + place * NIGH__BUCKET_ROW_WORDS, member->row,
           NIGH__BUCKET_ROW_WORDS * sizeof *member->row);
    for (uint64_t i = 0; status == NIGH_OK && place == comparison->most && i <= place; i++) /* now it is a crowd */
        status = put_member(comparison, comparison->numbers[i], error);
    return status;
}
