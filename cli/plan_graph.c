/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs are made one segment after the other, so that what all of them take adds up, and
 * the memory to make them is that of the largest.
 */
#include "plan_graph.h"

#include "size.h"

struct graph_cost {
    uint64_t bytes;       /* of the files; a search maps them */
    uint64_t build_bytes; /* of memory, besides the signatures */
};

static nigh_status predict(struct cli_job *job, const struct plan_extent *extent, struct graph_cost *cost) {
    nigh_status status = NIGH_OK;
    *cost = (struct graph_cost){0};
    for (uint32_t i = 0; i < extent->segments && status == NIGH_OK; i++) {
        uint64_t signatures;
        status = plan_extent_segment(job, extent, i, &signatures);
        if (status != NIGH_OK) break;
        const uint64_t building = nigh_graph_build_bytes(signatures, extent->width_bits, NULL);
        cost->bytes += nigh_graph_bytes(signatures, extent->width_bits, NULL);
        if (building > cost->build_bytes) cost->build_bytes = building;
    }
    return status;
}

static void print_table(struct cli_sink *out, const struct plan_extent *extent, const struct graph_cost *cost) {
    const uint64_t signatures = extent->signatures * ((extent->width_bits + 63) / 64 * sizeof(uint64_t));
    cli_sink_format(out, "%s of %u bits\n", cli_counted(extent->signatures, "signature", "signatures").text,
                    extent->width_bits);
    cli_sink_format(out, "  signatures    %7s  %5.0f bytes each\n", cli_size((double)signatures).text,
                    plan_extent_each(extent, signatures));
    cli_sink_format(out, "  graph         %7s  %5.0f at most, about; it is mapped from disk\n",
                    cli_size((double)cost->bytes).text, plan_extent_each(extent, cost->bytes));
    cli_sink_format(out, "  to make it    %7s  %5.0f of memory, besides the signatures\n",
                    cli_size((double)cost->build_bytes).text, plan_extent_each(extent, cost->build_bytes));
}

int plan_graph(struct cli_job *job, const struct plan_extent *extent, enum plan_output output) {
    struct graph_cost cost;
    const double started = cli_seconds();
    if (predict(job, extent, &cost) != NIGH_OK) return cli_fail(job);
    const unsigned long long bytes = cost.bytes;
    const unsigned long long building = cost.build_bytes;
    if (output == PLAN_TABLE) print_table(job->out, extent, &cost);
    if (output == PLAN_JSONL)
        cli_sink_format(job->out, "{\"bytes\":%llu,\"signature_bytes\":%.1f,\"build_bytes\":%llu}\n", bytes,
                        plan_extent_each(extent, cost.bytes), building);
    if (output == PLAN_TSV)
        cli_sink_format(job->out, "%llu\t%.1f\t%llu\n", bytes, plan_extent_each(extent, cost.bytes), building);
    if (!cli_sink_flush(job->out)) return cli_fail(job);
    job->stats.complete = true;
    job->stats.work_seconds = cli_seconds() - started;
    job->stats.documents = extent->signatures;
    cli_stats_count(&job->stats, "graph_bytes", cost.bytes);
    cli_stats_count(&job->stats, "graph_build_bytes", cost.build_bytes);
    return CLI_DONE;
}
