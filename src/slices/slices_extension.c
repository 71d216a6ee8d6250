/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a collection needs to know of slice lists: the files beside its segments, and the memory that one search leaves
 * for the next.
 */
#include "base/status.h"
#include "collection/collection.h"
#include "slices/slices.h"

static nigh_status fits(const struct nigh__segment *segment, nigh_error *error) {
    struct nigh__slices slices;
    return nigh__slices_of_segment(segment, &slices, error);
}

static void describe(const nigh_collection *collection, nigh_collection_info *info) {
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        const struct nigh__sidecar *lists = segment->sidecars[NIGH__SIDECAR_SLICES];
        if (segment->sidecar_problems[NIGH__SIDECAR_SLICES].status != NIGH_OK) info->damaged_lists++;
        if (lists == NULL) continue;
        info->sliced_segments++;
        info->fitted_segments += nigh__sidecar_section_count(lists, NIGH__SECTION_BIT_COSTS) != 0;
        info->list_bytes += lists->length;
    }
}

static void describe_segment(const struct nigh__segment *segment, nigh_segment_info *info) {
    struct nigh__slices slices;
    const struct nigh__sidecar *lists = segment->sidecars[NIGH__SIDECAR_SLICES];
    if (lists == NULL || nigh__slices_of_segment(segment, &slices, NULL) != NIGH_OK) return;
    info->slices = slices.slicing.count;
    info->slice_width = slices.slicing.most_bits;
    info->list_bytes = lists->length;
}

const struct nigh__sidecar_kind nigh__slices_sidecar = {.number = NIGH__SIDECAR_SLICES,
                                                        .prefix = "slices-",
                                                        .title = "slice lists",
                                                        .fits = fits,
                                                        .check = nigh__slices_check,
                                                        .parameter_like = nigh__slices_parameter_like,
                                                        .write_like = nigh__slices_write_like,
                                                        .describe = describe,
                                                        .describe_segment = describe_segment};

const struct nigh__extra nigh__slices_scratch = {
    .open = nigh__extra_pool_open, .close = nigh__extra_pool_close, .again = nigh__extra_pool_again};

struct nigh__object_pool *nigh__slices_pool(const nigh_collection *collection) {
    return nigh__collection_extra(collection, &nigh__slices_scratch);
}
