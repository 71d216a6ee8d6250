/* SPDX-License-Identifier: Apache-2.0 */
/* Which options a search of slice lists takes, and which of them go together. */
#include "base/options.h"
#include "base/status.h"
#include "scan/ranking.h"
#include "slices/slice_plan.h"

static nigh_status check_stop(const nigh_search_options *options, nigh_error *error) {
    if ((unsigned)options->stop > NIGH_STOP_SEEN)
        return nigh__fail(error, NIGH_EINVAL, "there is no rule %u to end a search", (unsigned)options->stop);
    if (options->stop == NIGH_STOP_SEEN && options->method != NIGH_SEARCH_SLICES_PLAIN)
        return nigh__fail(error, NIGH_EINVAL,
                          "only a plain search of slice lists can end when its answers are seen everywhere");
    if (nigh__slices_asked_for(options) && !nigh__ranks_plainly(options))
        return nigh__fail(error, NIGH_EINVAL,
                          "slice lists cannot be searched in some of the bits only, nor by weights");
    return NIGH_OK;
}

static nigh_status check_probe(const nigh_search_options *options, nigh_error *error) {
    if ((unsigned)options->probe > NIGH_PROBE_DIRECTED)
        return nigh__fail(error, NIGH_EINVAL, "there is no way %u to probe slice lists", (unsigned)options->probe);
    if (options->probe != NIGH_PROBE_DIRECTED) return NIGH_OK;
    if (options->weights == NULL)
        return nigh__fail(error, NIGH_EINVAL, "directed probes need to know how sure each bit of a query is");
    if (options->breadth != NIGH__UNSET || options->admit != NIGH__UNSET)
        return nigh__fail(error, NIGH_EINVAL, "directed probes have no breadth");
    if (options->stop != NIGH_STOP_BREADTH || options->k == NIGH_ALL)
        return nigh__fail(error, NIGH_EINVAL,
                          "directed probes prove nothing: they cannot give certain answers, or all within a radius");
    if (options->method == NIGH_SEARCH_SLICES_PLAIN)
        return nigh__fail(error, NIGH_EINVAL, "the papers' search of slice lists knows no directed probes");
    if (!nigh__ranks_plainly(options))
        return nigh__fail(error, NIGH_EINVAL,
                          "slice lists cannot be searched in some of the bits only, nor by weights");
    return NIGH_OK;
}

static nigh_status check_numbers(const nigh_search_options *options, nigh_error *error) {
    const uint32_t breadth = options->breadth;
    if (breadth != NIGH__UNSET && breadth > NIGH_MAX_SLICE_WIDTH)
        return nigh__fail(error, NIGH_EINVAL, "a breadth of %u is more than the %u bits a slice may have", breadth,
                          NIGH_MAX_SLICE_WIDTH);
    if (options->admit != NIGH__UNSET && breadth != NIGH__UNSET && options->admit > breadth)
        return nigh__fail(error, NIGH_EINVAL, "signatures admitted up to %u bits, beyond the breadth of %u",
                          options->admit, breadth);
    if (options->candidates != NIGH__UNSET && options->k != NIGH_ALL && options->candidates < options->k)
        return nigh__fail(error, NIGH_EINVAL, "%u candidates cannot give %u documents", options->candidates,
                          options->k);
    if (options->candidates == 0) return nigh__fail(error, NIGH_EINVAL, "candidates must be at least 1");
    if (options->slices == 0) return nigh__fail(error, NIGH_EINVAL, "slices must be at least 1");
    return NIGH_OK;
}

nigh_status nigh__slices_find(const struct nigh__segment *segment, bool asked_for, struct nigh__slices *out, bool *any,
                              nigh_error *error) {
    *any = false;
    if (segment->sidecars[NIGH__SIDECAR_SLICES] == NULL)
        return asked_for ? nigh__sidecar_problem(segment, NIGH__SIDECAR_SLICES, error) : NIGH_OK;
    const nigh_status status = nigh__slices_of_segment(segment, out, asked_for ? error : NULL);
    *any = status == NIGH_OK;
    return asked_for ? status : NIGH_OK;
}

/* The widest slices and the most of them in any segment; 0 where there are none. */
struct widest {
    uint32_t bits, slices;
};

static nigh_status find_widest(const nigh_collection *collection, bool asked_for, struct widest *out,
                               nigh_error *error) {
    *out = (struct widest){0, 0};
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        struct nigh__slices slices;
        bool any;
        const nigh_status status = nigh__slices_find(collection->segments[s], asked_for, &slices, &any, error);
        if (status != NIGH_OK) return status;
        if (any && slices.slicing.most_bits > out->bits) out->bits = slices.slicing.most_bits;
        if (any && slices.slicing.count > out->slices) out->slices = slices.slicing.count;
    }
    return NIGH_OK;
}

static nigh_status check_lists(const nigh_collection *collection, const nigh_search_options *options,
                               nigh_error *error) {
    const bool asked_for = nigh__slices_asked_for(options);
    struct widest widest;
    const nigh_status status = find_widest(collection, asked_for, &widest, error);
    if (status != NIGH_OK) return status;
    if (widest.slices == 0) {
        if (!asked_for || collection->documents == 0) return NIGH_OK; /* none can have lists of nothing */
        return nigh__because(
            error, NIGH_REASON_NO_LISTS,
            nigh__fail_at(error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET, "has no slice lists"));
    }
    if (options->breadth != NIGH__UNSET && options->breadth > widest.bits)
        return nigh__fail(error, NIGH_EINVAL, "a breadth of %u is more than the %u bits of a slice", options->breadth,
                          widest.bits);
    if (options->slices != NIGH__UNSET && options->slices > widest.slices)
        return nigh__fail(error, NIGH_EINVAL, "%u slices asked for, and signatures are cut into %u", options->slices,
                          widest.slices);
    return NIGH_OK;
}

nigh_status nigh__slice_options_check(const nigh_collection *collection, const nigh_search_options *options,
                                      nigh_error *error) {
    nigh_status status = check_stop(options, error);
    if (status == NIGH_OK) status = check_probe(options, error);
    if (status == NIGH_OK) status = check_numbers(options, error);
    if (status == NIGH_OK) status = check_lists(collection, options, error);
    return status;
}

/* ---------------------------------------------------------------------- the tuning */

/* Whether every model of bits that differ is one. */
static bool has_sound_costs(const nigh_collection *collection) {
    struct nigh__bit_costs costs;
    bool fitted = false;
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        const struct nigh__segment *segment = collection->segments[s];
        if (segment->sidecars[NIGH__SIDECAR_SLICES] == NULL) continue;
        if (nigh__bit_costs_of_segment(segment, &costs, &fitted, NULL) != NIGH_OK) return false;
    }
    return true;
}

bool nigh__slices_fit_tuning(const nigh_collection *collection, const nigh_tuning *tuning,
                             const nigh_search_options *options) {
    struct widest widest;
    if (tuning->probe == NIGH_PROBE_DIRECTED && (options->weights == NULL || !has_sound_costs(collection)))
        return false;
    if (tuning->method != NIGH_SEARCH_SLICES) return true;
    if (!nigh__sidecars_sound(collection, NIGH__SIDECAR_SLICES)) return false;
    return find_widest(collection, false, &widest, NULL) == NIGH_OK && widest.bits == tuning->slice_width;
}
