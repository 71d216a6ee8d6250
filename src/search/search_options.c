/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "search/search_options.h"

static const struct nigh__option search_options_fields[] = {
    NIGH__OPTION(nigh_search_options, k, 10),       NIGH__OPTION(nigh_search_options, radius, NIGH_ALL),
    NIGH__OPTION(nigh_search_options, threads, 0),  NIGH__OPTION_OPEN(nigh_search_options, breadth),
    NIGH__OPTION_OPEN(nigh_search_options, admit),  NIGH__OPTION_OPEN(nigh_search_options, candidates),
    NIGH__OPTION_OPEN(nigh_search_options, slices), NIGH__OPTION(nigh_search_options, postings, 0),
    NIGH__OPTION(nigh_search_options, probes, 0),   NIGH__OPTION_OPEN(nigh_search_options, sketch_bits),
    NIGH__OPTION_OPEN(nigh_search_options, effort), NIGH__OPTION_OPEN(nigh_search_options, patience),
    NIGH__OPTION_OPEN(nigh_search_options, slack),
};
const struct nigh__options nigh__search_options_shape = NIGH__OPTIONS(nigh_search_options, search_options_fields);
void nigh_search_options_init(nigh_search_options *options) {
    nigh__options_init(&nigh__search_options_shape, options);
}

static const struct nigh__option eval_truth_options_fields[] = {
    NIGH__OPTION(nigh_eval_truth_options, k, 10),
    NIGH__OPTION(nigh_eval_truth_options, threads, 0),
};
const struct nigh__options nigh__eval_truth_options_shape =
    NIGH__OPTIONS(nigh_eval_truth_options, eval_truth_options_fields);
void nigh_eval_truth_options_init(nigh_eval_truth_options *options) {
    nigh__options_init(&nigh__eval_truth_options_shape, options);
}

static const struct nigh__option tune_options_fields[] = {
    NIGH__OPTION(nigh_tune_options, k, 10),           NIGH__OPTION(nigh_tune_options, recall, 0),
    NIGH__OPTION(nigh_tune_options, cdr, 0),          NIGH__OPTION(nigh_tune_options, seconds, 0),
    NIGH__OPTION(nigh_tune_options, memory_bytes, 0), NIGH__OPTION(nigh_tune_options, within, 0),
    NIGH__OPTION(nigh_tune_options, sample, 1000),    NIGH__OPTION(nigh_tune_options, seed, 1),
    NIGH__OPTION(nigh_tune_options, methods, 0),      NIGH__OPTION(nigh_tune_options, threads, 0),
};
const struct nigh__options nigh__tune_options_shape = NIGH__OPTIONS(nigh_tune_options, tune_options_fields);
void nigh_tune_options_init(nigh_tune_options *options) { nigh__options_init(&nigh__tune_options_shape, options); }
