/* SPDX-License-Identifier: Apache-2.0 */
#include "support/model_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "signature/model_parts.h"
#include "support/support.h"

#define ANCHOR_FEATURES 3u

double model_number(const struct model_recipe *recipe, uint32_t feature, uint32_t bit) {
    const uint64_t mixed = nigh__mix(recipe->variation * 1000003 + (uint64_t)feature * 4099 + bit);
    return (double)(int64_t)(mixed >> 40) / (double)(1 << 23) - 1.0;
}

static double *numbers(const struct model_recipe *recipe, uint32_t rows, uint32_t columns) {
    double *out = malloc(((size_t)rows * columns + 1) * sizeof *out);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) out[(size_t)i * columns + j] = model_number(recipe, i, j);
    return out;
}

static void make_names(const struct model_recipe *recipe, struct nigh__model_parts *parts) {
    const char **names = malloc(recipe->features * sizeof *names);
    uint64_t *hashes = malloc(recipe->features * sizeof *hashes);
    for (uint32_t f = 0; f < recipe->features; f++) {
        char *name = malloc(32);
        (void)snprintf(name, 32, "w%u", f);
        if (recipe->names != NULL) (void)snprintf(name, 32, "%s", recipe->names[f]);
        names[f] = name;
        hashes[f] = nigh__hash_seeded(name, strlen(name), recipe->plan.analysis.seed);
    }
    parts->names = names;
    parts->hashes = hashes;
}

/* Anchor i has features i, 2 i + 1, ... , as far as they are different. */
static void make_anchors(const struct model_recipe *recipe, struct nigh__model_parts *parts) {
    if (recipe->features == 0) abort();
    uint32_t *begins = calloc((size_t)recipe->anchors + 1, sizeof *begins);
    uint32_t *features = malloc((size_t)recipe->anchors * ANCHOR_FEATURES * sizeof *features);
    uint32_t *values = malloc((size_t)recipe->anchors * ANCHOR_FEATURES * sizeof *values);
    for (uint32_t i = 0; i < recipe->anchors; i++) {
        const uint32_t first = begins[i];
        uint32_t used = first;
        for (uint32_t k = 0; k < ANCHOR_FEATURES; k++) {
            /* Not 0: seen above; the analyzer loses it. NOLINTNEXTLINE(clang-analyzer-core.DivideZero) */
            const uint32_t feature = ((i + 1) * (k + 1) + k) % recipe->features;
            bool there = false;
            for (uint32_t at = first; at < used; at++) there = there || features[at] == feature;
            if (there) continue;
            features[used] = feature;
            values[used++] = 64 + (i * 7 + k * 29) % 100;
        }
        begins[i + 1] = used;
    }
    parts->anchors = recipe->anchors;
    parts->anchor_begins = begins;
    parts->anchor_features = features;
    parts->anchor_values = values;
    parts->delta_squared = 0.5;
    parts->offsets = numbers(recipe, 1, recipe->width_bits);
    parts->omega = numbers(recipe, recipe->anchors, recipe->width_bits);
}

struct nigh__model_parts model_parts_make(const struct model_recipe *recipe) {
    struct nigh__model_parts parts = {.form = recipe->form,
                                      .method = recipe->form == NIGH__MODEL_ANCHORS        ? NIGH_LEARN_KLSH
                                                : recipe->form == NIGH__MODEL_COEFFICIENTS ? NIGH_LEARN_SSH
                                                                                           : NIGH_LEARN_S3H,
                                      .width_bits = recipe->width_bits,
                                      .plan = recipe->plan,
                                      .counts = recipe->counts,
                                      .lines = "method=none\ndocuments=0\n",
                                      .features = recipe->features};
    if (parts.plan.kind == NIGH_FEATURES_AUTO) parts.plan.kind = NIGH_FEATURES_WORDS;
    make_names(recipe, &parts);
    if (recipe->form == NIGH__MODEL_WEIGHTS) parts.weights = numbers(recipe, recipe->features, 1);
    if (recipe->form == NIGH__MODEL_COEFFICIENTS)
        parts.coefficients = numbers(recipe, recipe->features, recipe->width_bits);
    if (recipe->form == NIGH__MODEL_ANCHORS) make_anchors(recipe, &parts);
    return parts;
}

/* What was made here may be changed and freed here. */
static void discard(const void *pointer) {
    void *own;
    memcpy(&own, &pointer, sizeof own);
    free(own);
}

void model_parts_free(struct nigh__model_parts *parts) {
    for (uint32_t f = 0; f < parts->features; f++) discard(parts->names[f]);
    discard(parts->names);
    discard(parts->hashes);
    discard(parts->weights);
    discard(parts->coefficients);
    discard(parts->anchor_begins);
    discard(parts->anchor_features);
    discard(parts->anchor_values);
    discard(parts->offsets);
    discard(parts->omega);
}

nigh_model *model_make(const nigh_context *context, const struct model_recipe *recipe) {
    struct nigh__model_parts parts = model_parts_make(recipe);
    nigh_model *model;
    nigh_error error;
    assert_ok(nigh__model_make(context, &parts, &model, &error), &error);
    model_parts_free(&parts);
    return model;
}

nigh_status model_parse_forged(nigh_context *context, uint8_t *bytes, size_t length, nigh_model **out,
                               nigh_error *error) {
    if (length >= MODEL_HEADER) {
        const uint64_t checksum = nigh__model_checksum(bytes, length);
        memcpy(bytes + MODEL_CHECKSUM, &checksum, sizeof checksum);
    }
    return nigh_model_parse(context, bytes, length, out, error);
}
