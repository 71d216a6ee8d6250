/* SPDX-License-Identifier: Apache-2.0 */
/*
 * These files are made one segment after the other, so their sizes add up, and the memory
 * needed is that of the largest.
 */
#include "plan_sidecar.h"

#include "size.h"

struct sidecar_cost {
    uint64_t bytes;       /* of the files; a search maps them */
    uint64_t build_bytes; /* of memory, besides the signatures */
};

static uint64_t graph_bytes(uint64_t signatures, uint32_t width_bits) {
    return nigh_graph_bytes(signatures, width_bits, NULL);
}

static uint64_t graph_build_bytes(uint64_t signatures, uint32_t width_bits) {
    return nigh_graph_build_bytes(signatures, width_bits, NULL);
}

const struct plan_sidecar plan_graph = {.title = "graph",
                                        .how_certain = " at most, about",
                                        .bytes = graph_bytes,
                                        .build_bytes = graph_build_bytes,
                                        .bytes_name = "graph_bytes",
                                        .build_name = "graph_build_bytes"};
const struct plan_sidecar plan_columns = {
    .title = "columns", .how_certain = "", .bytes = nigh_columns_bytes, .bytes_name = "column_bytes"};

static uint64_t table_bytes(uint64_t signatures, uint32_t width_bits) {
    return nigh_tables_bytes(signatures, width_bits, NULL);
}

const struct plan_sidecar plan_tables = {
    .title = "tables", .how_certain = "", .bytes = table_bytes, .bytes_name = "table_bytes"};

static nigh_status predict(struct cli_job *job, const struct plan_sidecar *planned, const struct plan_extent *extent,
                           struct sidecar_cost *cost) {
    nigh_status status = NIGH_OK;
    *cost = (struct sidecar_cost){0};
    for (uint32_t i = 0; i < extent->segments && status == NIGH_OK; i++) {
        uint64_t signatures;
        status = plan_extent_segment(job, extent, i, &signatures);
        if (status != NIGH_OK) break;
        cost->bytes += planned->bytes(signatures, extent->width_bits);
        if (planned->build_bytes == NULL) continue;
        const uint64_t building = planned->build_bytes(signatures, extent->width_bits);
        if (building > cost->build_bytes) cost->build_bytes = building;
    }
    return status;
}

static void print_table(struct cli_sink *out, const struct plan_sidecar *planned, const struct plan_extent *extent,
                        const struct sidecar_cost *cost) {
    const uint64_t signatures = extent->signatures * ((extent->width_bits + 63) / 64 * sizeof(uint64_t));
    cli_sink_format(out, "%s of %u bits\n", cli_counted(extent->signatures, "signature", "signatures").text,
                    extent->width_bits);
    cli_sink_format(out, "  signatures    %7s  %5.0f bytes each\n", cli_size((double)signatures).text,
                    plan_extent_each(extent, signatures));
    cli_sink_format(out, "  %-12s  %7s  %5.0f%s; mapped from disk\n", planned->title,
                    cli_size((double)cost->bytes).text, plan_extent_each(extent, cost->bytes), planned->how_certain);
    if (planned->build_bytes != NULL)
        cli_sink_format(out, "  to make it    %7s  %5.0f of memory, besides the signatures\n",
                        cli_size((double)cost->build_bytes).text, plan_extent_each(extent, cost->build_bytes));
}

/* Fields of jsonl and tsv: the last is there where it takes memory to make. */
static void print_fields(struct cli_sink *out, const struct plan_sidecar *planned, const struct plan_extent *extent,
                         const struct sidecar_cost *cost, bool json) {
    cli_sink_format(out, json ? "{\"bytes\":%llu,\"signature_bytes\":%.1f" : "%llu\t%.1f",
                    (unsigned long long)cost->bytes, plan_extent_each(extent, cost->bytes));
    if (planned->build_bytes != NULL)
        cli_sink_format(out, json ? ",\"build_bytes\":%llu" : "\t%llu", (unsigned long long)cost->build_bytes);
    cli_sink_text(out, json ? "}\n" : "\n");
}

int plan_sidecar(struct cli_job *job, const struct plan_sidecar *planned, const struct plan_extent *extent,
                 enum plan_output output) {
    struct sidecar_cost cost;
    const double started = cli_seconds();
    if (predict(job, planned, extent, &cost) != NIGH_OK) return cli_fail(job);
    if (output == PLAN_TABLE)
        print_table(job->out, planned, extent, &cost);
    else
        print_fields(job->out, planned, extent, &cost, output == PLAN_JSONL);
    if (!cli_sink_flush(job->out)) return cli_fail(job);
    job->stats.complete = true;
    job->stats.work_seconds = cli_seconds() - started;
    job->stats.documents = extent->signatures;
    cli_stats_count(&job->stats, planned->bytes_name, cost.bytes);
    if (planned->build_bytes != NULL) cli_stats_count(&job->stats, planned->build_name, cost.build_bytes);
    return CLI_DONE;
}
