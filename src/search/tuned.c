/* SPDX-License-Identifier: Apache-2.0 */
#include "search/tuned.h"

#include "base/options.h"
#include "collection/sidecar.h"
#include "graph/graph.h"
#include "graph/graph_use.h"
#include "search/tuning.h"
#include "sketch/sketch.h"
#include "slices/bit_costs.h"
#include "slices/slice_use.h"
#include "slices/slices.h"

/* Whether somebody has said how. */
static bool is_said(const nigh_search_options *options) {
    return options->method != NIGH_SEARCH_AUTO || options->stop != NIGH_STOP_BREADTH ||
           options->breadth != NIGH__UNSET || options->admit != NIGH__UNSET || options->candidates != NIGH__UNSET ||
           options->slices != NIGH__UNSET || options->postings != 0 || options->probe != NIGH_PROBE_AUTO ||
           options->probes != 0 || options->sketch_bits != NIGH__UNSET || options->effort != NIGH__UNSET ||
           options->patience != NIGH__UNSET;
}

/* Whether some segment has a file of the kind, and none has one that cannot be used. */
static bool has_sidecars(const nigh_collection *collection, uint32_t kind) {
    bool any = false;
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        if (collection->segments[s]->sidecar_problems[kind].status != NIGH_OK) return false;
        any = any || collection->segments[s]->sidecars[kind] != NULL;
    }
    return any;
}

/* As nigh_tuning.slice_width. */
static uint32_t widest_slices(const nigh_collection *collection) {
    struct nigh__slices slices;
    uint32_t widest = 0;
    for (uint32_t s = 0; s < collection->segment_count; s++) {
        const struct nigh__segment *segment = collection->segments[s];
        if (segment->sidecars[NIGH__SIDECAR_SLICES] == NULL) continue;
        if (nigh__slices_of_segment(segment, &slices, NULL) != NIGH_OK) continue;
        if (slices.slicing.most_bits > widest) widest = slices.slicing.most_bits;
    }
    return widest;
}

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

/* Whether what it was measured with is still there. */
static bool is_usable(const nigh_collection *collection, const nigh_search_options *options) {
    const nigh_tuning *tuning = &nigh__tuning_of(collection)->tuning;
    if (tuning->probe == NIGH_PROBE_DIRECTED && (options->weights == NULL || !has_sound_costs(collection)))
        return false;
    if (tuning->method == NIGH_SEARCH_GRAPH) return has_sidecars(collection, NIGH__SIDECAR_GRAPH);
    if (tuning->method != NIGH_SEARCH_SLICES) return true;
    return has_sidecars(collection, NIGH__SIDECAR_SLICES) && widest_slices(collection) == tuning->slice_width;
}

static bool is_for(const nigh_collection *collection, const nigh_search_options *options) {
    const struct nigh__tuning *tuning = nigh__tuning_of(collection);
    if (!tuning->tuned || is_said(options)) return false;
    if (options->masks != NULL || options->radius != NIGH_ALL || options->k > 2 * tuning->tuning.k) return false;
    return is_usable(collection, options);
}

static nigh_status check(const nigh_collection *collection, const nigh_search_options *options, nigh_error *error) {
    nigh_status status = nigh__sketch_options_check(options, error);
    if (status == NIGH_OK) status = nigh__slice_options_check(collection, options, error);
    if (status == NIGH_OK) status = nigh__graph_options_check(collection, options, error);
    return status;
}

/* A tuning is advice: one that this search cannot go by, whoever wrote it, is passed over. */
nigh_status nigh__search_settle(const nigh_collection *collection, nigh_search_options *options, nigh_error *error) {
    if (is_for(collection, options)) {
        nigh_search_options tuned = *options;
        nigh_tuning_apply(&nigh__tuning_of(collection)->tuning, &tuned);
        if (check(collection, &tuned, NULL) == NIGH_OK) {
            *options = tuned;
            return NIGH_OK;
        }
    }
    return check(collection, options, error);
}
