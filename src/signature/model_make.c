/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From what was learned to the bytes of a model.  Weights become whole numbers of 16
 * bits, so that sums are exact and alike on all machines: the largest becomes 32,767,
 * which is 3e-5 of it for the step, far below what changes a bit.  Only the sign of a
 * sum counts, so every bit may have a scale of its own.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/key_lines.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "signature/model_parts.h"
#include "text/plan.h"

#define LARGEST 32767.0

struct making {
    const nigh_context *context;
    const struct nigh__model_parts *parts;
    struct nigh__model_shape shape;
    struct nigh__model_layout layout;
    char *text;      /* owned */
    uint64_t *order; /* owned; { hash, number as given } by hash */
    uint32_t *place; /* owned; of each feature as given, in the file */
    uint8_t *bytes;  /* owned, until the model takes them */
};

static uint32_t given_at(const struct making *making, uint32_t place) {
    return (uint32_t)making->order[(size_t)place * 2 + 1];
}

/* ---------------------------------------------------------------- order -- */

static nigh_status sort_features(struct making *making, nigh_error *error) {
    const uint32_t n = making->parts->features;
    const nigh_context *context = making->context;
    uint64_t *records = nigh__alloc(context, (size_t)n * 4, sizeof *records);
    making->order = nigh__alloc(context, (size_t)n * 2, sizeof *making->order);
    making->place = nigh__alloc(context, n, sizeof *making->place);
    if (records == NULL || making->order == NULL || making->place == NULL) {
        nigh__free(context, records);
        return nigh__no_memory(error, "to make a model");
    }
    for (uint32_t f = 0; f < n; f++) {
        records[(size_t)f * 2] = making->parts->hashes[f];
        records[(size_t)f * 2 + 1] = f;
    }
    memcpy(making->order, nigh__words_sort(records, records + (size_t)n * 2, n, 2, 1, 1), (size_t)n * 16);
    nigh__free(context, records);
    for (uint32_t i = 0; i < n; i++) making->place[given_at(making, i)] = i;
    if (!nigh__hash_places_ascend(making->order, 16, n))
        return nigh__fail(error, NIGH_EINVAL, "two features have the same hash");
    return NIGH_OK;
}

/* ---------------------------------------------------------------- sizes -- */

/* As much of a name as is kept: whole characters. */
static size_t name_length(const char *name) {
    size_t length = 0;
    while (length <= NIGH__MODEL_MAX_NAME && name[length] != '\0') length++;
    if (length <= NIGH__MODEL_MAX_NAME) return length;
    length = NIGH__MODEL_MAX_NAME;
    while (length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80) length--;
    return length;
}

static nigh_status measure_names(struct making *making, nigh_error *error) {
    uint64_t length = 0;
    for (uint32_t f = 0; f < making->parts->features; f++) length += name_length(making->parts->names[f]);
    if (length > UINT32_MAX)
        return nigh__fail(error, NIGH_ELIMIT, "the names of the features are longer than a model can hold");
    making->shape.names_length = (uint32_t)length;
    return NIGH_OK;
}

static nigh_status measure(struct making *making, nigh_error *error) {
    const struct nigh__model_parts *parts = making->parts;
    const bool anchored = parts->form == NIGH__MODEL_ANCHORS;
    const bool newer = parts->counts || nigh__plan_is_newer(&parts->plan);
    char analysis[NIGH__PLAN_LINES_SIZE + sizeof MODEL_COUNTS_LINE];
    nigh__plan_lines(&parts->plan, analysis, NIGH__PLAN_LINES_SIZE);
    if (parts->counts) (void)memcpy(analysis + strlen(analysis), MODEL_COUNTS_LINE, sizeof MODEL_COUNTS_LINE);
    nigh_status status = nigh__key_lines_merge(making->context, analysis, parts->lines == NULL ? "" : parts->lines,
                                               MODEL_MAX_TEXT, "what a model says of itself", &making->text, error);
    if (status != NIGH_OK) return status;
    making->shape = (struct nigh__model_shape){.version = newer ? MODEL_NEWER_VERSION : MODEL_FIRST_VERSION,
                                               .form = parts->form,
                                               .method = parts->method,
                                               .width_bits = parts->width_bits,
                                               .features = parts->features,
                                               .anchors = anchored ? parts->anchors : 0,
                                               .text_length = (uint32_t)strlen(making->text),
                                               .postings = anchored ? parts->anchor_begins[parts->anchors] : 0};
    const char *problem = nigh__model_shape_problem(&making->shape);
    if (problem != NULL) return nigh__fail(error, NIGH_EINVAL, "%s", problem);
    status = measure_names(making, error);
    if (status != NIGH_OK) return status;
    making->layout = nigh__model_lay_out(&making->shape);
    if (making->layout.length > NIGH__MODEL_MAX_LENGTH)
        return nigh__fail(error, NIGH_ELIMIT, "a model of more than 4 GiB; fewer features or bits make it smaller");
    return NIGH_OK;
}

/* --------------------------------------------------------------- values -- */

/* The largest absolute value in each column; false where a number is none. */
static bool find_largest(const double *numbers, uint32_t rows, uint32_t columns, double *largest) {
    for (uint32_t j = 0; j < columns; j++) largest[j] = 0.0;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) {
            const double size = fabs(numbers[(size_t)i * columns + j]);
            if (!(size <= DBL_MAX)) return false;
            if (size > largest[j]) largest[j] = size;
        }
    return true;
}

/* Divided first, which is never more than 1, so that nothing overflows. */
static int16_t quantise(double number, double largest) {
    if (largest == 0.0) return 0;
    const double scaled = number / largest * LARGEST;
    return (int16_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

static nigh_status write_values(const struct making *making, nigh_error *error) {
    const struct nigh__model_parts *parts = making->parts;
    const bool weights = parts->form == NIGH__MODEL_WEIGHTS;
    const double *numbers = weights ? parts->weights : parts->coefficients;
    const uint32_t columns = weights ? 1 : parts->width_bits;
    int16_t *out = (int16_t *)(void *)(making->bytes + making->layout.values);
    double largest[NIGH__MODEL_MAX_BITS];
    if (!find_largest(numbers, parts->features, columns, largest))
        return nigh__fail(error, NIGH_EINVAL, "a weight of the model is not a number");
    for (uint32_t i = 0; i < parts->features; i++) {
        const double *row = numbers + (size_t)given_at(making, i) * columns;
        for (uint32_t j = 0; j < columns; j++) out[(size_t)i * columns + j] = quantise(row[j], largest[j]);
    }
    return NIGH_OK;
}

/* -------------------------------------------------------------- anchors -- */

/* By feature; a few tens or hundreds, mostly sorted already. */
static void sort_postings(struct nigh__model_posting *postings, size_t count) {
    for (size_t gap = count / 2; gap > 0; gap /= 2)
        for (size_t i = gap; i < count; i++) {
            const struct nigh__model_posting moved = postings[i];
            size_t at = i;
            for (; at >= gap && postings[at - gap].other > moved.other; at -= gap) postings[at] = postings[at - gap];
            postings[at] = moved;
        }
}

static nigh_status write_anchors(const struct making *making, nigh_error *error) {
    const struct nigh__model_parts *parts = making->parts;
    const struct nigh__model_layout *layout = &making->layout;
    struct nigh__model_posting *postings = (struct nigh__model_posting *)(void *)(making->bytes + layout->postings);
    for (uint32_t i = 0; i < parts->anchors; i++) {
        const uint32_t begin = parts->anchor_begins[i], end = parts->anchor_begins[i + 1];
        if (begin >= end || end > making->shape.postings)
            return nigh__fail(error, NIGH_EINVAL, "an anchor without features");
        for (uint32_t k = begin; k < end; k++) {
            if (parts->anchor_features[k] >= parts->features)
                return nigh__fail(error, NIGH_EINVAL, "an anchor with a feature that is none");
            postings[k].other = making->place[parts->anchor_features[k]];
            postings[k].value = parts->anchor_values[k];
        }
        sort_postings(postings + begin, end - begin);
    }
    memcpy(making->bytes + layout->anchor_begins, parts->anchor_begins, ((size_t)parts->anchors + 1) * 4);
    memcpy(making->bytes + layout->delta, &parts->delta_squared, sizeof(double));
    memcpy(making->bytes + layout->offsets, parts->offsets, parts->width_bits * sizeof(double));
    memcpy(making->bytes + layout->omega, parts->omega, (size_t)parts->anchors * parts->width_bits * sizeof(double));
    return NIGH_OK;
}

/* -------------------------------------------------------------- writing -- */

static void write_header(const struct making *making) {
    uint8_t *bytes = making->bytes;
    const struct nigh__model_shape *shape = &making->shape;
    memcpy(bytes, NIGH__MODEL_MAGIC, 8);
    nigh__store32(bytes + MODEL_VERSION, shape->version);
    nigh__store32(bytes + MODEL_FORM, shape->form);
    nigh__store32(bytes + MODEL_METHOD, shape->method);
    nigh__store32(bytes + MODEL_BITS, shape->width_bits);
    nigh__store32(bytes + MODEL_FEATURES, shape->features);
    nigh__store32(bytes + MODEL_ANCHORS, shape->anchors);
    nigh__store32(bytes + MODEL_TEXT_LENGTH, shape->text_length);
    nigh__store32(bytes + MODEL_NAMES_LENGTH, shape->names_length);
    nigh__store64(bytes + MODEL_POSTINGS, shape->postings);
    memcpy(bytes + making->layout.text, making->text, shape->text_length);
}

/* Control bytes, which a terminal might obey, become question marks. */
static void write_features(const struct making *making) {
    uint8_t *hashes = making->bytes + making->layout.hashes;
    uint8_t *begins = making->bytes + making->layout.name_begins;
    uint8_t *names = making->bytes + making->layout.names;
    uint32_t used = 0;
    for (uint32_t i = 0; i < making->shape.features; i++) {
        const char *name = making->parts->names[given_at(making, i)];
        const size_t length = name_length(name);
        nigh__store64(hashes + (size_t)i * 8, making->order[(size_t)i * 2]);
        nigh__store32(begins + (size_t)i * 4, used);
        for (size_t k = 0; k < length; k++) {
            const uint8_t byte = (uint8_t)name[k];
            names[used + k] = byte < ' ' || byte == 0x7f ? '?' : byte;
        }
        used += (uint32_t)length;
    }
    nigh__store32(begins + (size_t)making->shape.features * 4, used);
}

static nigh_status write_all(struct making *making, nigh_error *error) {
    making->bytes = nigh__alloc_zero(making->context, (size_t)making->layout.length, 1);
    if (making->bytes == NULL) return nigh__no_memory(error, "to make a model");
    write_header(making);
    write_features(making);
    return making->shape.form == NIGH__MODEL_ANCHORS ? write_anchors(making, error) : write_values(making, error);
}

/* What a reader would refuse is the fault of whoever gave it. */
static nigh_status become_model(struct making *making, nigh_model **out, nigh_error *error) {
    const size_t length = (size_t)making->layout.length;
    uint8_t *bytes = making->bytes;
    making->bytes = NULL;
    nigh__store64(bytes + MODEL_CHECKSUM, nigh__model_checksum(bytes, length));
    nigh_error problem;
    nigh_status status = nigh__model_own(making->context, bytes, length, out, &problem);
    if (status == NIGH_OK) return NIGH_OK;
    return nigh__fail(error, status == NIGH_ENOMEM ? NIGH_ENOMEM : NIGH_EINVAL, "%s", problem.why);
}

nigh_status nigh__model_make(const nigh_context *context, const struct nigh__model_parts *parts, nigh_model **out,
                             nigh_error *error) {
    *out = NULL;
    struct making making = {.context = context, .parts = parts};
    nigh_status status = measure(&making, error);
    if (status == NIGH_OK) status = sort_features(&making, error);
    if (status == NIGH_OK) status = write_all(&making, error);
    if (status == NIGH_OK) status = become_model(&making, out, error);
    nigh__free(context, making.text);
    nigh__free(context, making.order);
    nigh__free(context, making.place);
    nigh__free(context, making.bytes);
    return status;
}
