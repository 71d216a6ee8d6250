/* SPDX-License-Identifier: Apache-2.0 */
/* nigh plan --graph, --columns and --tables: what a file beside each segment takes, on disk and while it is made. */
#ifndef NIGH_CLI_PLAN_SIDECAR_H
#define NIGH_CLI_PLAN_SIDECAR_H

#include "plan_extent.h"

/* What is planned. */
struct plan_sidecar {
    const char *title;       /* in the table */
    const char *how_certain; /* of the bytes, the same */
    uint64_t (*bytes)(uint64_t signatures, uint32_t width_bits);
    uint64_t (*build_bytes)(uint64_t signatures, uint32_t width_bits); /* NULL: next to nothing */
    const char *bytes_name, *build_name;                               /* in the statistics */
};

extern const struct plan_sidecar plan_graph;
extern const struct plan_sidecar plan_columns;
extern const struct plan_sidecar plan_tables;

/* Returns the exit code. */
int plan_sidecar(struct cli_job *job, const struct plan_sidecar *planned, const struct plan_extent *extent,
                 enum plan_output output);

#endif
