/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models of anchors: how like a document is to each of some documents, and from that its
 * sums.  With x and the anchors x_i of length 1,
 *
 *     |x - x_i|^2 = 2 - 2 x.x_i,    k_i = exp(-(2 - 2 x.x_i) / delta^2),    W_j = offset_j + sum of k_i omega_ij
 *
 * Products x.x_i are sums of whole numbers before they are divided by the lengths, found
 * by the features of the document: of each feature the anchors that have it are listed.
 * The rest are doubles in one order, with a root as IEEE 754 has it and an exponential of
 * our own, so that all machines agree.
 *
 * Cost: the postings of the document's features, and anchors times bits.
 */
#include <math.h>
#include <string.h>

#include "base/exponential.h"
#include "base/memory.h"
#include "signature/model_parts.h"

#define BLOCK 8u

/* ----------------------------------------------------------- turning over -- */

/* By counting; anchors come in order, so they ascend within a feature. */
static void turn_over(nigh_model *model) {
    const uint32_t n = model->shape.features;
    uint32_t *begins = model->feature_begins;
    for (uint64_t i = 0; i < model->shape.postings; i++) begins[model->postings[i].other + 1]++;
    for (uint32_t f = 0; f < n; f++) begins[f + 1] += begins[f];
    /* begins[f] serves as the place of the feature's next posting, and ends up one feature further. */
    for (uint32_t anchor = 0; anchor < model->shape.anchors; anchor++)
        for (uint32_t i = model->anchor_begins[anchor]; i < model->anchor_begins[anchor + 1]; i++)
            model->by_feature[begins[model->postings[i].other]++] =
                (struct nigh__model_posting){.other = anchor, .value = model->postings[i].value};
    memmove(begins + 1, begins, (size_t)n * sizeof *begins);
    begins[0] = 0;
}

static void measure_anchors(nigh_model *model) {
    for (uint32_t anchor = 0; anchor < model->shape.anchors; anchor++) {
        uint64_t sum = 0;
        for (uint32_t i = model->anchor_begins[anchor]; i < model->anchor_begins[anchor + 1]; i++)
            sum += (uint64_t)model->postings[i].value * model->postings[i].value;
        model->anchor_norms[anchor] = sqrt((double)sum);
    }
}

bool nigh__model_turn_over(nigh_model *model) {
    if (model->shape.form != NIGH__MODEL_ANCHORS) return true;
    const nigh_context *context = model->context;
    model->feature_begins = nigh__alloc_zero(context, (size_t)model->shape.features + 1, sizeof *model->feature_begins);
    model->by_feature = nigh__alloc(context, (size_t)model->shape.postings, sizeof *model->by_feature);
    model->anchor_norms = nigh__alloc(context, model->shape.anchors, sizeof *model->anchor_norms);
    if (model->feature_begins == NULL || model->by_feature == NULL || model->anchor_norms == NULL) return false;
    turn_over(model);
    measure_anchors(model);
    return true;
}

/* ---------------------------------------------------------------- summing -- */

static double add_dots(const nigh_model *model, const uint32_t *features, const uint32_t *factors, size_t count,
                       uint64_t *dots) {
    uint64_t square = 0;
    memset(dots, 0, model->shape.anchors * sizeof *dots);
    for (size_t i = 0; i < count; i++) {
        const uint64_t t = factors[i];
        square += t * t;
        for (uint32_t k = model->feature_begins[features[i]]; k < model->feature_begins[features[i] + 1]; k++)
            dots[model->by_feature[k].other] += t * model->by_feature[k].value;
    }
    return sqrt((double)square);
}

/* The sums of eight bits, which stay in registers; each adds the anchors in order. */
static void add_block(const nigh_model *model, const double *likeness, uint32_t j, double *sums) {
    double block[BLOCK];
    memcpy(block, model->offsets + j, sizeof block);
    const double *omega = model->omega + j;
    for (uint32_t i = 0; i < model->shape.anchors; i++, omega += model->shape.width_bits)
        for (uint32_t k = 0; k < BLOCK; k++) block[k] += likeness[i] * omega[k];
    memcpy(sums, block, sizeof block);
}

/* One of those left over. */
static void add_bit(const nigh_model *model, const double *likeness, uint32_t j, double *sum) {
    const double *omega = model->omega + j;
    double value = model->offsets[j];
    for (uint32_t i = 0; i < model->shape.anchors; i++, omega += model->shape.width_bits) value += likeness[i] * *omega;
    *sum = value;
}

void nigh__model_sum_anchors(const nigh_model *model, const uint32_t *features, const uint32_t *factors, size_t count,
                             uint64_t *dots, double *likeness, double *sums) {
    const uint32_t width = model->shape.width_bits;
    const double norm = add_dots(model, features, factors, count, dots);
    for (uint32_t i = 0; i < model->shape.anchors; i++) {
        const double cosine = (double)dots[i] / (norm * model->anchor_norms[i]);
        likeness[i] = cosine < 1.0 ? nigh__exp((2.0 * cosine - 2.0) / model->delta_squared) : 1.0;
    }
    uint32_t j = 0;
    for (; j + BLOCK <= width; j += BLOCK) add_block(model, likeness, j, sums + j);
    for (; j < width; j++) add_bit(model, likeness, j, sums + j);
}
