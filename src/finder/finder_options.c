/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "finder/finder_options.h"

static const struct nigh__option finder_options_fields[] = {
    NIGH__OPTION(nigh_finder_options, width_bits, 0),   NIGH__OPTION(nigh_finder_options, radius, 3),
    NIGH__OPTION(nigh_finder_options, blocks, 0),       NIGH__OPTION(nigh_finder_options, leading, 0),
    NIGH__OPTION(nigh_finder_options, prefix_bits, 0),  NIGH__OPTION(nigh_finder_options, probes, 0),
    NIGH__OPTION(nigh_finder_options, rotations, 0),    NIGH__OPTION(nigh_finder_options, recall, 1.0),
    NIGH__OPTION(nigh_finder_options, memory_bytes, 0), NIGH__OPTION(nigh_finder_options, bucket_budget, 0),
    NIGH__OPTION(nigh_finder_options, threads, 0),
};
const struct nigh__options nigh__finder_options_shape = NIGH__OPTIONS(nigh_finder_options, finder_options_fields);
void nigh_finder_options_init(nigh_finder_options *options) {
    nigh__options_init(&nigh__finder_options_shape, options);
}

static const struct nigh__option find_options_fields[] = {
    NIGH__OPTION(nigh_find_options, threads, 0),
};
const struct nigh__options nigh__find_options_shape = NIGH__OPTIONS(nigh_find_options, find_options_fields);
void nigh_find_options_init(nigh_find_options *options) { nigh__options_init(&nigh__find_options_shape, options); }

const struct nigh__options nigh__chunks_options_shape = NIGH__OPTIONS_PLAIN(nigh_chunks_options);
void nigh_chunks_options_init(nigh_chunks_options *options) {
    nigh__options_init(&nigh__chunks_options_shape, options);
}

static const struct nigh__option batch_options_fields[] = {
    NIGH__OPTION(nigh_batch_options, radius, 3),  NIGH__OPTION(nigh_batch_options, blocks, 0),
    NIGH__OPTION(nigh_batch_options, leading, 0), NIGH__OPTION(nigh_batch_options, prefix_bits, 0),
    NIGH__OPTION(nigh_batch_options, probes, 0),  NIGH__OPTION(nigh_batch_options, recall, 1.0),
    NIGH__OPTION(nigh_batch_options, threads, 0), NIGH__OPTION(nigh_batch_options, bucket_budget, 0),
};
const struct nigh__options nigh__batch_options_shape = NIGH__OPTIONS(nigh_batch_options, batch_options_fields);
void nigh_batch_options_init(nigh_batch_options *options) { nigh__options_init(&nigh__batch_options_shape, options); }

static const struct nigh__option plan_options_fields[] = {
    NIGH__OPTION(nigh_plan_options, rows, 0),         NIGH__OPTION(nigh_plan_options, width_bits, 64),
    NIGH__OPTION(nigh_plan_options, radius, 3),       NIGH__OPTION(nigh_plan_options, recall, 1.0),
    NIGH__OPTION(nigh_plan_options, memory_bytes, 0), NIGH__OPTION(nigh_plan_options, queries, 0),
    NIGH__OPTION(nigh_plan_options, batch, 0),        NIGH__OPTION(nigh_plan_options, matches, 0.04),
    NIGH__OPTION_OPEN(nigh_plan_options, matched),
};
const struct nigh__options nigh__plan_options_shape = NIGH__OPTIONS(nigh_plan_options, plan_options_fields);
void nigh_plan_options_init(nigh_plan_options *options) { nigh__options_init(&nigh__plan_options_shape, options); }

static const struct nigh__option tables_options_fields[] = {
    NIGH__OPTION_OPEN(nigh_tables_options, radius),    NIGH__OPTION(nigh_tables_options, blocks, 0),
    NIGH__OPTION(nigh_tables_options, leading, 0),     NIGH__OPTION(nigh_tables_options, rotations, 0),
    NIGH__OPTION(nigh_tables_options, prefix_bits, 0), NIGH__OPTION(nigh_tables_options, probes, 0),
    NIGH__OPTION(nigh_tables_options, recall, 0.95),   NIGH__OPTION(nigh_tables_options, min_rows, 4096),
    NIGH__OPTION(nigh_tables_options, threads, 0),
};
const struct nigh__options nigh__tables_options_shape = NIGH__OPTIONS(nigh_tables_options, tables_options_fields);
void nigh_tables_options_init(nigh_tables_options *options) {
    nigh__options_init(&nigh__tables_options_shape, options);
}
