/* SPDX-License-Identifier: Apache-2.0 */
/* Options and their defaults; see base/options.h. */
#include "eval/eval_options.h"

static const struct nigh__option eval_corpus_options_fields[] = {
    NIGH__OPTION(nigh_eval_corpus_options, threads, 0),
    NIGH__OPTION(nigh_eval_corpus_options, limit, 0),
    NIGH__OPTION(nigh_eval_corpus_options, memory_bytes, 0),
};
const struct nigh__options nigh__eval_corpus_options_shape =
    NIGH__OPTIONS(nigh_eval_corpus_options, eval_corpus_options_fields);
void nigh_eval_corpus_options_init(nigh_eval_corpus_options *options) {
    nigh__options_init(&nigh__eval_corpus_options_shape, options);
}

static const struct nigh__option eval_pairs_options_fields[] = {
    NIGH__OPTION(nigh_eval_pairs_options, alike, 0.9),
    NIGH__OPTION(nigh_eval_pairs_options, sample, 1000),
    NIGH__OPTION(nigh_eval_pairs_options, seed, 0),
    NIGH__OPTION(nigh_eval_pairs_options, threads, 0),
};
const struct nigh__options nigh__eval_pairs_options_shape =
    NIGH__OPTIONS(nigh_eval_pairs_options, eval_pairs_options_fields);
void nigh_eval_pairs_options_init(nigh_eval_pairs_options *options) {
    nigh__options_init(&nigh__eval_pairs_options_shape, options);
}

const struct nigh__options nigh__eval_ranking_options_shape = NIGH__OPTIONS_PLAIN(nigh_eval_ranking_options);
void nigh_eval_ranking_options_init(nigh_eval_ranking_options *options) {
    nigh__options_init(&nigh__eval_ranking_options_shape, options);
}

static const struct nigh__option eval_duplicates_options_fields[] = {
    NIGH__OPTION(nigh_eval_duplicates_options, threshold, 0.8),
    NIGH__OPTION(nigh_eval_duplicates_options, limit, 0),
    NIGH__OPTION(nigh_eval_duplicates_options, memory_bytes, 0),
    NIGH__OPTION(nigh_eval_duplicates_options, threads, 0),
};
const struct nigh__options nigh__eval_duplicates_options_shape =
    NIGH__OPTIONS(nigh_eval_duplicates_options, eval_duplicates_options_fields);
void nigh_eval_duplicates_options_init(nigh_eval_duplicates_options *options) {
    nigh__options_init(&nigh__eval_duplicates_options_shape, options);
}

static const struct nigh__option eval_weak_bits_options_fields[] = {
    NIGH__OPTION(nigh_eval_weak_bits_options, radius, 3),
    NIGH__OPTION(nigh_eval_weak_bits_options, queries, 20000),
    NIGH__OPTION(nigh_eval_weak_bits_options, probes, 0),
    NIGH__OPTION(nigh_eval_weak_bits_options, threads, 0),
};
const struct nigh__options nigh__eval_weak_bits_options_shape =
    NIGH__OPTIONS(nigh_eval_weak_bits_options, eval_weak_bits_options_fields);
void nigh_eval_weak_bits_options_init(nigh_eval_weak_bits_options *options) {
    nigh__options_init(&nigh__eval_weak_bits_options_shape, options);
}

static const struct nigh__option eval_filters_options_fields[] = {
    NIGH__OPTION(nigh_eval_filters_options, sample, 0),
    NIGH__OPTION(nigh_eval_filters_options, queries, 0),
    NIGH__OPTION(nigh_eval_filters_options, seed, 0),
};
const struct nigh__options nigh__eval_filters_options_shape =
    NIGH__OPTIONS(nigh_eval_filters_options, eval_filters_options_fields);
void nigh_eval_filters_options_init(nigh_eval_filters_options *options) {
    nigh__options_init(&nigh__eval_filters_options_shape, options);
}

static const struct nigh__option eval_learned_options_fields[] = {
    NIGH__OPTION(nigh_eval_learned_options, seeds, 0),      NIGH__OPTION(nigh_eval_learned_options, radius, 0),
    NIGH__OPTION(nigh_eval_learned_options, queries, 0),    NIGH__OPTION(nigh_eval_learned_options, labelled, 0),
    NIGH__OPTION(nigh_eval_learned_options, references, 1),
};
const struct nigh__options nigh__eval_learned_options_shape =
    NIGH__OPTIONS(nigh_eval_learned_options, eval_learned_options_fields);
void nigh_eval_learned_options_init(nigh_eval_learned_options *options) {
    nigh__options_init(&nigh__eval_learned_options_shape, options);
}
