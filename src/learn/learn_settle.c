/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the options of learning, and fills in the defaults. */
#include <math.h>

#include "base/status.h"
#include "learn/learn_options.h"
#include "learn/lesson.h"
#include "signature/model.h"

#define MIN_KERNEL_WIDTH 1e-3
#define MAX_KERNEL_WIDTH 1e6

bool nigh__learn_counts(const nigh_learn_options *options) {
    const nigh_learn_method method = options->method;
    return options->count_values > 0 && (method == NIGH_LEARN_S3H || method == NIGH_LEARN_S3H_F ||
                                         method == NIGH_LEARN_SIMHASH || method == NIGH_LEARN_CHI);
}

bool nigh__learn_needs_labels(nigh_learn_method method) {
    return method != NIGH_LEARN_SIMHASH && method != NIGH_LEARN_KLSH;
}

static void fill(uint32_t *number, uint32_t usual) {
    if (*number == 0) *number = usual;
}

/* A switch that nobody set is as the paper's where that is asked for. */
static void settle(int *option, int as_paper) {
    if (*option < 0) *option = as_paper != 0;
}

/* The usual one is said by NIGH_DEFAULT alone. */
static bool is_lambda(double lambda) { return lambda > 0 || lambda == (double)NIGH_DEFAULT; }

static nigh_status check_numbers(const nigh_learn_options *options, nigh_error *error) {
    if (nigh_learn_method_name(options->method) == NULL)
        return nigh__fail(error, NIGH_EINVAL, "there is no learning method %d", (int)options->method);
    if (options->width_bits > NIGH__MODEL_MAX_BITS)
        return nigh__fail(error, NIGH_EINVAL, "a width of %u bits; a model has 1 to %u", options->width_bits,
                          NIGH__MODEL_MAX_BITS);
    if (options->max_features > NIGH__MODEL_MAX_FEATURES)
        return nigh__fail(error, NIGH_EINVAL, "%u features are too many; at most %u", options->max_features,
                          NIGH__MODEL_MAX_FEATURES);
    if (options->anchors > NIGH__MODEL_MAX_ANCHORS)
        return nigh__fail(error, NIGH_EINVAL, "%u anchors are too many; at most %u", options->anchors,
                          NIGH__MODEL_MAX_ANCHORS);
    if (options->anchor_sample > options->anchors)
        return nigh__fail(error, NIGH_EINVAL, "a sample of %u anchors out of %u", options->anchor_sample,
                          options->anchors);
    if (!isfinite(options->l1) || !isfinite(options->l2))
        return nigh__fail(error, NIGH_EINVAL, "lambdas must be finite numbers");
    if (!is_lambda(options->l1) || !is_lambda(options->l2))
        return nigh__fail(error, NIGH_EINVAL, "lambdas must be above 0");
    if (!(options->kernel_width >= MIN_KERNEL_WIDTH && options->kernel_width <= MAX_KERNEL_WIDTH))
        return nigh__fail(error, NIGH_EINVAL, "the width of a kernel is from 0.001 to 1,000,000");
    return NIGH_OK;
}

nigh_status nigh__learn_options_fill(const nigh_learn_options *options, nigh_learn_options *out, nigh_error *error) {
    nigh_learn_options known;
    nigh_status status = nigh__options_copy(&nigh__learn_options_shape, &known, options, error);
    if (status != NIGH_OK) return status;
    known.size = sizeof known;
    fill(&known.width_bits, 32);
    fill(&known.max_features, 10000);
    fill(&known.min_documents, 3);
    fill(&known.iterations, 60);
    fill(&known.attraction_pairs, 40000);
    fill(&known.repulsion_pairs, 80000);
    fill(&known.anchors, 500);
    fill(&known.anchor_sample, known.anchors < 50 ? known.anchors : 50);
    if (known.memory_bytes == 0) known.memory_bytes = NIGH__LEARN_MEMORY;
    settle(&known.count_contribution, known.as_paper);
    settle(&known.count_values, known.as_paper);
    settle(&known.paper_lambda, known.as_paper);
    *out = known;
    return check_numbers(out, error);
}
