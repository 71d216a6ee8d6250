/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for evaluation, in a library built without it; see absent.h. */
#include "absent/absent.h"

nigh_status nigh_eval_corpus_new(nigh_signer *signer, nigh_text_reader *reader, const nigh_eval_corpus_options *options,
                                 nigh_eval_corpus **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "evaluation");
}

void nigh_eval_corpus_describe(const nigh_eval_corpus *evaluation, nigh_signing_info *out) {}

void nigh_eval_corpus_free(nigh_eval_corpus *evaluation) {}

const char *nigh_eval_length_class_name(nigh_eval_length_class length) { return NULL; }

nigh_status nigh_eval_pairs_measure(const nigh_eval_corpus *evaluation, const nigh_eval_pairs_options *options,
                                    nigh_eval_pairs **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "evaluation");
}

void nigh_eval_pairs_free(nigh_eval_pairs *pairs) {}

void nigh_eval_pairs_describe(const nigh_eval_pairs *pairs, nigh_eval_length_class length, nigh_eval_pairs_info *out) {}

nigh_status nigh_eval_pairs_at(const nigh_eval_pairs *pairs, nigh_eval_length_class length, uint32_t distance,
                               nigh_eval_pairs_row *out) {
    return nigh__absent(NULL, "evaluation");
}

nigh_status nigh_eval_pairs_best(const nigh_eval_pairs *pairs, nigh_eval_length_class length,
                                 nigh_eval_pairs_row *out) {
    return nigh__absent(NULL, "evaluation");
}

nigh_status nigh_eval_pairs_plot(nigh_eval_pairs *pairs, const char *title, const char **svg, size_t *length,
                                 nigh_error *error) {
    return nigh__absent(error, "evaluation");
}

nigh_status nigh_eval_ranking_measure(const nigh_eval_corpus *documents, const nigh_eval_ranking_options *options,
                                      nigh_eval_ranking *out, nigh_error *error) {
    return nigh__absent(error, "evaluation");
}

nigh_status nigh_eval_duplicates_measure(nigh_context *context, const char *const *paths, size_t count,
                                         const nigh_text_reader_options *reading,
                                         const nigh_eval_duplicates_options *options, nigh_eval_duplicates **out,
                                         nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "evaluation");
}

void nigh_eval_duplicates_free(nigh_eval_duplicates *duplicates) {}

void nigh_eval_duplicates_describe(const nigh_eval_duplicates *duplicates, nigh_eval_duplicates_info *out) {}

nigh_status nigh_eval_duplicates_at(const nigh_eval_duplicates *duplicates, size_t index,
                                    nigh_eval_duplicates_row *out) {
    return nigh__absent(NULL, "evaluation");
}

nigh_status nigh_eval_duplicates_band_at(const nigh_eval_duplicates *duplicates, size_t index,
                                         nigh_eval_duplicates_band *out) {
    return nigh__absent(NULL, "evaluation");
}

nigh_status nigh_eval_weak_bits_measure(const nigh_eval_corpus *evaluation, const nigh_eval_weak_bits_options *options,
                                        nigh_eval_weak_bits **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "evaluation");
}

void nigh_eval_weak_bits_free(nigh_eval_weak_bits *weak) {}

nigh_status nigh_eval_weak_bits_spread(const nigh_eval_weak_bits *weak, nigh_eval_weak_spread *out) {
    return nigh__absent(NULL, "evaluation");
}

void nigh_eval_weak_bits_describe(const nigh_eval_weak_bits *weak, nigh_eval_weak_bits_info *out) {}

nigh_status nigh_eval_weak_bits_attempts(const nigh_eval_weak_bits *weak, nigh_weak_model model, uint32_t flips,
                                         nigh_eval_weak_attempts *out) {
    return nigh__absent(NULL, "evaluation");
}

nigh_status nigh_eval_weak_bits_recall(const nigh_eval_weak_bits *weak, nigh_weak_model model, size_t index,
                                       uint32_t probes, nigh_eval_weak_recall *out) {
    return nigh__absent(NULL, "evaluation");
}

nigh_status nigh_eval_weak_bits_plot(nigh_eval_weak_bits *weak, const char *title, const char **svg, size_t *length,
                                     nigh_error *error) {
    return nigh__absent(error, "evaluation");
}

nigh_status nigh_eval_nearness_measure(const nigh_collection *collection, const uint8_t *queries, size_t count,
                                       const nigh_eval_truth *truth, const nigh_eval_truth_options *truth_options,
                                       const nigh_search_options *search, nigh_eval_nearness **out, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "evaluation");
}

void nigh_eval_nearness_describe(const nigh_eval_nearness *nearness, nigh_eval_nearness_info *out) {}

nigh_status nigh_eval_nearness_rank(const nigh_eval_nearness *nearness, uint32_t rank, double *dr, double *cdr,
                                    nigh_error *error) {
    return nigh__absent(error, "evaluation");
}

nigh_status nigh_eval_nearness_plot(nigh_eval_nearness *const *runs, const char *const *names, size_t count,
                                    const char *title, const char **svg, size_t *length, nigh_error *error) {
    return nigh__absent(error, "evaluation");
}

void nigh_eval_nearness_free(nigh_eval_nearness *nearness) {}

nigh_status nigh_eval_rings_measure(const nigh_collection *collection, const uint8_t *queries, size_t count, uint32_t k,
                                    uint32_t breadth, const nigh_progress *progress, nigh_eval_ring *rings,
                                    nigh_error *error) {
    return nigh__absent(error, "evaluation");
}
