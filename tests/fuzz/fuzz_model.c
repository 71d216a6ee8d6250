/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes models: bytes as they come, and with the checksum made right, so that what lies behind it is
 * reached.  One that is accepted describes itself and signs a document of its own features.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "signature/model_parts.h"

#define MAX_FEATURES 64u

static void describe(const nigh_model *model) {
    static double coefficients[NIGH__MODEL_MAX_BITS];
    nigh_model_feature feature = {.size = sizeof feature};
    size_t seen = 0;
    for (uint32_t i = 0; i < MAX_FEATURES && nigh_model_feature_at(model, i, &feature) == NIGH_OK; i++) {
        for (size_t k = 0; k < feature.text_length; k++) seen += feature.text[k] != '\0';
        (void)nigh_model_coefficients(model, i, coefficients, NULL);
        if (nigh__model_find(model, feature.hash) == UINT32_MAX) abort();
    }
    if (seen == SIZE_MAX) abort();
}

static void sign(nigh_context *context, const nigh_model *model) {
    struct nigh__model_projector *projector;
    uint32_t counts[MAX_FEATURES];
    uint64_t hashes[MAX_FEATURES];
    uint8_t bits[NIGH__MODEL_MAX_BITS / 8], weights[NIGH__MODEL_MAX_BITS];
    const uint32_t count = model->shape.features < MAX_FEATURES ? model->shape.features : MAX_FEATURES;
    for (uint32_t i = 0; i < count; i++) {
        hashes[i] = model->hashes[i];
        counts[i] = UINT32_MAX >> i % 32;
    }
    const struct nigh__features features = {.hashes = hashes, .counts = counts, .count = count};
    if (nigh__model_projector_new(context, model, &projector, NULL) != NIGH_OK) abort();
    if (nigh__model_project(projector, &features, NULL) != NIGH_OK) abort();
    nigh__model_bits(projector, bits);
    nigh__model_bit_weights(projector, weights);
    nigh__model_projector_free(projector);
}

static void try_bytes(nigh_context *context, const uint8_t *data, size_t size) {
    nigh_model *model = NULL;
    nigh_error error;
    if (nigh_model_parse(context, data, size, &model, &error) != NIGH_OK) return;
    describe(model);
    sign(context, model);
    nigh_model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static nigh_context *context;
    if (context == NULL && nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    try_bytes(context, data, size);
    if (size < MODEL_HEADER) return 0;
    uint8_t *mended = malloc(size);
    if (mended == NULL) return 0;
    memcpy(mended, data, size);
    uint64_t checksum = nigh__model_checksum(mended, size);
    memcpy(mended + MODEL_CHECKSUM, &checksum, sizeof checksum);
    try_bytes(context, mended, size);
    free(mended);
    return 0;
}
