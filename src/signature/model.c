/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models as bytes: checked once when they come in (model_check.c), then read as they lie.
 */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/replacement.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "signature/model_parts.h"
#include "signature/simhash.h"

/* -------------------------------------------------------------- coming in -- */

uint64_t nigh__model_checksum(const uint8_t *bytes, size_t length) {
    return nigh__hash_around(bytes, length, MODEL_CHECKSUM);
}

static struct nigh__model_shape read_shape(const uint8_t *bytes) {
    return (struct nigh__model_shape){.version = nigh__load32(bytes + MODEL_VERSION),
                                      .form = nigh__load32(bytes + MODEL_FORM),
                                      .method = nigh__load32(bytes + MODEL_METHOD),
                                      .width_bits = nigh__load32(bytes + MODEL_BITS),
                                      .features = nigh__load32(bytes + MODEL_FEATURES),
                                      .anchors = nigh__load32(bytes + MODEL_ANCHORS),
                                      .text_length = nigh__load32(bytes + MODEL_TEXT_LENGTH),
                                      .names_length = nigh__load32(bytes + MODEL_NAMES_LENGTH),
                                      .postings = nigh__load64(bytes + MODEL_POSTINGS)};
}

static nigh_status check_header(const uint8_t *bytes, size_t length, nigh_error *error) {
    if (length < MODEL_HEADER || memcmp(bytes, NIGH__MODEL_MAGIC, 8) != 0)
        return nigh__fail(error, NIGH_EFORMAT, "not a model");
    const struct nigh__model_shape shape = read_shape(bytes);
    if (shape.version != MODEL_FIRST_VERSION && shape.version != MODEL_NEWER_VERSION)
        return nigh__fail(error, NIGH_EVERSION, "a model of version %u; this nigh knows %d and %d", shape.version,
                          MODEL_FIRST_VERSION, MODEL_NEWER_VERSION);
    const char *problem = nigh__model_shape_problem(&shape);
    if (problem == NULL && nigh__model_lay_out(&shape).length != length)
        problem = "a model of another length than it says";
    if (problem == NULL && nigh__load64(bytes + MODEL_CHECKSUM) != nigh__model_checksum(bytes, length))
        problem = "a model that fails its checksum";
    return problem == NULL ? NIGH_OK : nigh__fail(error, NIGH_ECORRUPT, "%s", problem);
}

/* Finds its way in the bytes, which have the right length. */
static void lay_over(nigh_model *model) {
    const struct nigh__model_layout layout = nigh__model_lay_out(&model->shape);
    const uint8_t *bytes = model->bytes;
    model->hashes = (const uint64_t *)(const void *)(bytes + layout.hashes);
    model->name_begins = (const uint32_t *)(const void *)(bytes + layout.name_begins);
    model->names = (const char *)bytes + layout.names;
    if (model->shape.form != NIGH__MODEL_ANCHORS) {
        model->values = (const int16_t *)(const void *)(bytes + layout.values);
        return;
    }
    model->anchor_begins = (const uint32_t *)(const void *)(bytes + layout.anchor_begins);
    model->postings = (const struct nigh__model_posting *)(const void *)(bytes + layout.postings);
    memcpy(&model->delta_squared, bytes + layout.delta, sizeof model->delta_squared);
    model->offsets = (const double *)(const void *)(bytes + layout.offsets);
    model->omega = (const double *)(const void *)(bytes + layout.omega);
}

static nigh_status copy_text(nigh_model *model, nigh_error *error) {
    const uint32_t length = model->shape.text_length;
    model->lines = nigh__alloc_zero(model->context, (size_t)length + 1, 1);
    if (model->lines == NULL) return nigh__no_memory(error, "for a model");
    memcpy(model->lines, model->bytes + MODEL_HEADER, length);
    return NIGH_OK;
}

/* What a feature weighs, squared; of coefficients and anchors summed over bits or anchors. */
static uint64_t energy_of(const nigh_model *model, uint32_t feature) {
    uint64_t sum = 0;
    if (model->shape.form == NIGH__MODEL_ANCHORS) {
        for (uint32_t i = model->feature_begins[feature]; i < model->feature_begins[feature + 1]; i++)
            sum += (uint64_t)model->by_feature[i].value * model->by_feature[i].value;
        return sum;
    }
    const uint32_t width = model->shape.form == NIGH__MODEL_WEIGHTS ? 1 : model->shape.width_bits;
    const int16_t *values = model->values + (size_t)feature * width;
    for (uint32_t j = 0; j < width; j++) sum += (uint64_t)((int64_t)values[j] * values[j]);
    return sum;
}

/* The heaviest first, and of equals that of the smaller hash. */
static nigh_status put_in_order(nigh_model *model, nigh_error *error) {
    const uint32_t n = model->shape.features;
    model->order = nigh__alloc(model->context, n, sizeof *model->order);
    uint64_t *records = nigh__alloc(model->context, (size_t)n * 4, sizeof *records); /* and as much to sort them */
    if (model->order == NULL || records == NULL) {
        nigh__free(model->context, records);
        return nigh__no_memory(error, "for a model");
    }
    for (uint32_t f = 0; f < n; f++) {
        records[(size_t)f * 2] = UINT64_MAX - energy_of(model, f);
        records[(size_t)f * 2 + 1] = f;
    }
    const uint64_t *sorted = nigh__words_sort(records, records + (size_t)n * 2, n, 2, 1, 1);
    for (uint32_t i = 0; i < n; i++) model->order[i] = (uint32_t)sorted[(size_t)i * 2 + 1];
    nigh__free(model->context, records);
    return NIGH_OK;
}

static nigh_status make_tables(nigh_model *model, nigh_error *error) {
    if (!nigh__hash_places_init(model->context, model->hashes, sizeof *model->hashes, model->shape.features,
                                &model->places) ||
        !nigh__model_turn_over(model))
        return nigh__no_memory(error, "for a model");
    return put_in_order(model, error);
}

nigh_status nigh__model_own(const nigh_context *context, uint8_t *bytes, size_t length, nigh_model **out,
                            nigh_error *error) {
    *out = NULL;
    nigh_status status = check_header(bytes, length, error);
    nigh_model *model = status == NIGH_OK ? nigh__alloc_zero(context, 1, sizeof *model) : NULL;
    if (model == NULL) {
        nigh__free(context, bytes);
        return status != NIGH_OK ? status : nigh__no_memory(error, "for a model");
    }
    *model = (nigh_model){.context = context, .bytes = bytes, .length = length, .shape = read_shape(bytes)};
    lay_over(model);
    status = copy_text(model, error);
    if (status == NIGH_OK) status = nigh__model_check(model, error);
    if (status == NIGH_OK) status = make_tables(model, error);
    if (status == NIGH_OK)
        *out = model;
    else
        nigh_model_free(model);
    return status;
}

nigh_status nigh_model_parse(nigh_context *context, const void *bytes, size_t length, nigh_model **out,
                             nigh_error *error) {
    *out = NULL;
    uint8_t *copy = nigh__alloc(context, length, 1);
    if (copy == NULL) return nigh__no_memory(error, "for a model");
    if (length > 0) memcpy(copy, bytes, length);
    return nigh__model_own(context, copy, length, out, error);
}

void nigh_model_free(nigh_model *model) {
    if (model == NULL) return;
    const nigh_context *context = model->context;
    nigh__hash_places_release(context, &model->places);
    nigh__free(context, model->bytes);
    nigh__free(context, model->lines);
    nigh__free(context, model->order);
    nigh__free(context, model->feature_begins);
    nigh__free(context, model->by_feature);
    nigh__free(context, model->anchor_norms);
    nigh__free(context, model);
}

/* ---------------------------------------------------------------- files -- */

nigh_status nigh_model_load(nigh_context *context, const char *path, nigh_model **out, nigh_error *error) {
    *out = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    nigh_status status = nigh__file_load(context, path, NIGH__MODEL_MAX_LENGTH, "a model", &bytes, &length, error);
    if (status != NIGH_OK) return status;
    nigh_error inner;
    status = nigh__model_own(context, bytes, length, out, &inner);
    return status == NIGH_OK ? NIGH_OK : nigh__fail_at(error, status, path, NIGH_NO_OFFSET, "%s", inner.why);
}

nigh_status nigh_model_save(const nigh_model *model, const char *path, nigh_error *error) {
    return nigh__file_replace(model->context, path, model->bytes, model->length, error);
}

const void *nigh_model_bytes(const nigh_model *model, size_t *length) {
    *length = model->length;
    return model->bytes;
}

/* --------------------------------------------------------------- asking -- */

enum nigh__model_form nigh__model_form(const nigh_model *model) { return (enum nigh__model_form)model->shape.form; }
const struct nigh__feature_plan *nigh__model_plan(const nigh_model *model) { return &model->plan; }
uint32_t nigh__model_width(const nigh_model *model) { return model->shape.width_bits; }

nigh_weight_kind nigh__model_weighting(const nigh_model *model) {
    return model->counts ? NIGH_WEIGHTS_TF : NIGH_WEIGHTS_LOG;
}
uint64_t nigh__model_name(const nigh_model *model) { return nigh__load64(model->bytes + MODEL_CHECKSUM); }
const int16_t *nigh__model_weights(const nigh_model *model) { return model->values; }

uint32_t nigh__model_find(const nigh_model *model, uint64_t hash) {
    const uint64_t found = nigh__hash_places_find(&model->places, hash);
    return found == UINT64_MAX ? UINT32_MAX : (uint32_t)found;
}

const int16_t *nigh__model_coefficients_of(const nigh_model *model, uint32_t feature) {
    return model->values + (size_t)feature * model->shape.width_bits;
}

void nigh_model_describe(const nigh_model *model, nigh_model_info *out) {
    const nigh_model_info info = {
        .size = out->size,
        .method = (nigh_learn_method)model->shape.method,
        .width_bits = model->shape.width_bits,
        .features = model->shape.features,
        .anchors = model->shape.anchors,
        .bytes = model->length,
        .name = nigh__model_name(model),
        .lines = model->lines,
    };
    nigh__info_copy(out, &info, sizeof info);
}

static double weight_of(const nigh_model *model, uint32_t feature) {
    if (model->shape.form == NIGH__MODEL_WEIGHTS) return model->values[feature];
    const uint32_t over =
        model->shape.form == NIGH__MODEL_COEFFICIENTS ? model->shape.width_bits : model->shape.anchors;
    return sqrt((double)energy_of(model, feature) / over);
}

nigh_status nigh_model_feature_at(const nigh_model *model, uint32_t index, nigh_model_feature *out) {
    if (index >= model->shape.features) return NIGH_END;
    const uint32_t feature = model->order[index];
    const uint32_t begin = model->name_begins[feature];
    const nigh_model_feature info = {
        .size = out->size,
        .text = model->names + begin,
        .text_length = model->name_begins[feature + 1] - begin,
        .hash = model->hashes[feature],
        .weight = weight_of(model, feature),
    };
    nigh__info_copy(out, &info, sizeof info);
    return NIGH_OK;
}

nigh_status nigh_model_coefficients(const nigh_model *model, uint32_t index, double *out, nigh_error *error) {
    if (index >= model->shape.features)
        return nigh__fail(error, NIGH_EINVAL, "no feature %u; the model has %u", index, model->shape.features);
    if (model->shape.form == NIGH__MODEL_ANCHORS)
        return nigh__fail(error, NIGH_ENOTFOUND, "features of a model of anchors have no coefficients");
    const uint32_t feature = model->order[index];
    for (uint32_t j = 0; j < model->shape.width_bits; j++) {
        if (model->shape.form == NIGH__MODEL_COEFFICIENTS) {
            out[j] = nigh__model_coefficients_of(model, feature)[j];
            continue;
        }
        const uint64_t block = nigh__simhash_block(model->hashes[feature], j / 64);
        out[j] = (block >> j % 64 & 1) != 0 ? model->values[feature] : -model->values[feature];
    }
    return NIGH_OK;
}

/* ------------------------------------------------------------------ names -- */

const char *nigh_learn_method_name(nigh_learn_method method) {
    static const char *const names[] = {"codewords", "s3h", "s3h-f", "simhash", "chi", "ssh", "klsh"};
    const size_t index = (size_t)method;
    return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}
