/* SPDX-License-Identifier: Apache-2.0 */
#include "plan_extent.h"

int plan_extent_open(struct cli_job *job, uint64_t signatures, uint32_t width_bits, struct plan_extent *extent) {
    nigh_collection_info info;
    *extent = (struct plan_extent){.segments = 1, .signatures = signatures, .width_bits = width_bits};
    if (job->operand_count == 0) {
        if (signatures < UINT32_MAX) return CLI_DONE;
        return cli_usage(job->command, "-n takes at most %u with --lists and --graph: more make several segments",
                         UINT32_MAX - 1);
    }
    if (cli_collection_open(job, job->operands[0], NULL, &extent->collection, &info) != NIGH_OK) return cli_fail(job);
    extent->segments = info.segments;
    extent->signatures = info.signatures;
    extent->width_bits = info.width_bits;
    return CLI_DONE;
}

void plan_extent_close(struct plan_extent *extent) { nigh_collection_close(extent->collection); }

double plan_extent_each(const struct plan_extent *extent, uint64_t bytes) {
    return extent->signatures == 0 ? 0 : (double)bytes / (double)extent->signatures;
}

nigh_status plan_extent_segment(struct cli_job *job, const struct plan_extent *extent, uint32_t index,
                                uint64_t *signatures) {
    nigh_segment_info segment = {.size = sizeof segment};
    segment.signatures = extent->signatures;
    nigh_status status = NIGH_OK;
    if (extent->collection != NULL) status = nigh_collection_segment(extent->collection, index, &segment, &job->error);
    *signatures = segment.signatures;
    return status;
}
