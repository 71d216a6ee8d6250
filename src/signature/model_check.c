/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models may come from anywhere. Sizes are checked before the bytes are interpreted, then
 * the checksum, and then everything that a loop will follow later, so that signing need
 * not check again.
 */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/key_lines.h"
#include "base/status.h"
#include "signature/model_parts.h"
#include "text/plan.h"
#include "text/text_options.h"

/* ---------------------------------------------------------------- sizes -- */

const char *nigh__model_shape_problem(const struct nigh__model_shape *shape) {
    const bool anchored = shape->form == NIGH__MODEL_ANCHORS;
    if (shape->form > NIGH__MODEL_ANCHORS) return "a model of an unknown form";
    if (shape->method > NIGH_LEARN_KLSH) return "a model by an unknown method";
    if (shape->width_bits == 0 || shape->width_bits > NIGH__MODEL_MAX_BITS)
        return "a model without bits, or with more than 1,024";
    if (shape->features == 0 || shape->features > NIGH__MODEL_MAX_FEATURES)
        return "a model without features, or with more than 16,777,216";
    if (anchored ? shape->anchors == 0 || shape->anchors > NIGH__MODEL_MAX_ANCHORS : shape->anchors != 0)
        return "a model with too few anchors, or too many";
    if (anchored ? shape->postings < shape->anchors || shape->postings > UINT32_MAX : shape->postings != 0)
        return "a model with too few features of anchors, or too many";
    if (shape->text_length > MODEL_MAX_TEXT) return "a model with too long a text";
    return NULL;
}

/* All sizes are within bounds by then: less than 2^37 bytes in all. */
struct nigh__model_layout nigh__model_lay_out(const struct nigh__model_shape *shape) {
    struct nigh__model_layout layout = {.text = MODEL_HEADER};
    const uint64_t n = shape->features, b = shape->width_bits, p = shape->anchors;
    layout.hashes = layout.text + nigh__round_up(shape->text_length, 8);
    layout.name_begins = layout.hashes + 8 * n;
    layout.names = layout.name_begins + nigh__round_up(4 * (n + 1), 8);
    const uint64_t body = layout.names + nigh__round_up(shape->names_length, 8);
    if (shape->form != NIGH__MODEL_ANCHORS) {
        layout.values = body;
        layout.length = body + nigh__round_up(2 * n * (shape->form == NIGH__MODEL_WEIGHTS ? 1 : b), 8);
        return layout;
    }
    layout.anchor_begins = body;
    layout.postings = body + nigh__round_up(4 * (p + 1), 8);
    layout.delta = layout.postings + 8 * shape->postings;
    layout.offsets = layout.delta + 8;
    layout.omega = layout.offsets + 8 * b;
    layout.length = layout.omega + 8 * p * b;
    return layout;
}

/* ----------------------------------------------------------------- text -- */

static nigh_status corrupt(const char *why, nigh_error *error) {
    (void)nigh__fail(error, NIGH_ECORRUPT, "%s", why);
    return NIGH_ECORRUPT;
}

/* One line of the analysis; where it is not there nothing is read. */
static nigh_status read_key(const char *lines, const char *name, nigh_signer_options *options, bool *found,
                            nigh_error *error) {
    char sought[32], key[32], value[64];
    (void)snprintf(sought, sizeof sought, "%s=", name);
    const char *at = nigh__key_lines_find(lines, sought);
    *found = at != NULL;
    if (at == NULL) return NIGH_OK;
    if (!nigh__key_line_cut(at - strlen(sought), key, sizeof key, value, sizeof value) ||
        nigh__plan_read_line(key, value, options) != NIGH__PLAN_LINE_READ)
        return nigh__fail(error, NIGH_EVERSION, "a model of %s that this nigh does not know", name);
    return NIGH_OK;
}

/* Of the first version readers pass over the keys that came later, so such a model must not have them. */
static nigh_status read_analysis(const nigh_model *model, struct nigh__feature_plan *plan, nigh_error *error) {
    static const char *const keys[] = {"features", "language", "seed", "stemming", "stop-words", NULL};
    static const char *const later[] = {"min-word-length", "numbers", NULL};
    const bool newer = model->shape.version == MODEL_NEWER_VERSION;
    bool found = false;
    nigh_signer_options options;
    nigh__options_defaults(&nigh__signer_options_shape, &options);
    options.scheme = NIGH_SCHEME_LEARNED;
    for (size_t i = 0; keys[i] != NULL; i++) {
        nigh_status status = read_key(model->lines, keys[i], &options, &found, error);
        if (status != NIGH_OK) return status;
        if (!found) return nigh__fail(error, NIGH_ECORRUPT, "a model that does not say of what %s", keys[i]);
    }
    for (size_t i = 0; later[i] != NULL && newer; i++) {
        nigh_status status = read_key(model->lines, later[i], &options, &found, error);
        if (status != NIGH_OK) return status;
    }
    return nigh__plan_features(&options, plan, error);
}

/* Whether the line of a key is exactly this one. */
static bool has_line(const char *lines, const char *key, const char *line, size_t length) {
    const char *found = nigh__key_lines_find(lines, key);
    return found != NULL && strncmp(found - strlen(key), line, length) == 0;
}

/* The lines of the plan must be there as we would write them: other words for the same would be another name. */
static bool says(const char *lines, const struct nigh__feature_plan *plan) {
    char expected[NIGH__PLAN_LINES_SIZE];
    nigh__plan_lines(plan, expected, sizeof expected);
    for (char *line = expected, *end; *line != '\0'; line = end + 1) {
        char key[32] = "";
        end = strchr(line, '\n');
        memcpy(key, line, strcspn(line, "=") + 1);
        if (!has_line(lines, key, line, (size_t)(end - line) + 1)) return false;
    }
    return true;
}

static nigh_status check_text(nigh_model *model, nigh_error *error) {
    if (strlen(model->lines) != model->shape.text_length || !nigh__key_lines_sound(model->lines, NULL))
        return corrupt("a model whose text is not made of lines 'key=value'", error);
    const bool newer = model->shape.version == MODEL_NEWER_VERSION;
    model->counts = newer && nigh__key_lines_find(model->lines, "values=") != NULL;
    if (model->counts && !has_line(model->lines, "values=", MODEL_COUNTS_LINE, strlen(MODEL_COUNTS_LINE)))
        return nigh__fail(error, NIGH_EVERSION, "a model of values that this nigh does not know");
    nigh_status status = read_analysis(model, &model->plan, error);
    if (status == NIGH_OK && newer != (model->counts || nigh__plan_is_newer(&model->plan)))
        return corrupt("a model of another version than it needs", error);
    if (status != NIGH_OK) return status;
    return says(model->lines, &model->plan) ? NIGH_OK : corrupt("a model whose analysis does not go together", error);
}

/* ------------------------------------------------------------- features -- */

static bool names_sound(const nigh_model *model) {
    const uint32_t *begins = model->name_begins;
    const uint32_t n = model->shape.features;
    if (begins[0] != 0 || begins[n] != model->shape.names_length) return false;
    for (uint32_t f = 0; f < n; f++)
        if (begins[f] > begins[f + 1] || begins[f + 1] - begins[f] > NIGH__MODEL_MAX_NAME) return false;
    for (uint32_t i = 0; i < model->shape.names_length; i++) {
        const unsigned char byte = (unsigned char)model->names[i];
        if (byte < ' ' || byte == 0x7f) return false;
    }
    return true;
}

/* -------------------------------------------------------------- anchors -- */

/* Features of an anchor ascend, so that none counts twice. */
static bool anchor_sound(const nigh_model *model, uint32_t first, uint32_t end) {
    const struct nigh__model_posting *postings = model->postings;
    for (uint32_t i = first; i < end; i++) {
        if (postings[i].other >= model->shape.features || (i > first && postings[i - 1].other >= postings[i].other))
            return false;
        if (postings[i].value == 0 || postings[i].value > NIGH__MODEL_MAX_VALUE) return false;
    }
    return true;
}

static bool anchors_sound(const nigh_model *model) {
    const uint32_t *begins = model->anchor_begins;
    const uint32_t p = model->shape.anchors;
    if (begins[0] != 0 || begins[p] != model->shape.postings) return false;
    for (uint32_t i = 0; i < p; i++) /* all are within bounds once they ascend */
        if (begins[i] >= begins[i + 1]) return false;
    for (uint32_t i = 0; i < p; i++)
        if (!anchor_sound(model, begins[i], begins[i + 1])) return false;
    return true;
}

/* Not a number compares as false. */
static bool numbers_sound(const double *numbers, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        if (!(numbers[i] >= -NIGH__MODEL_MAX_NUMBER && numbers[i] <= NIGH__MODEL_MAX_NUMBER)) return false;
    return true;
}

static bool kernel_sound(const nigh_model *model) {
    const uint64_t b = model->shape.width_bits;
    return model->delta_squared >= 1.0 / NIGH__MODEL_MAX_NUMBER && model->delta_squared <= NIGH__MODEL_MAX_NUMBER &&
           numbers_sound(model->offsets, b) && numbers_sound(model->omega, b * model->shape.anchors);
}

nigh_status nigh__model_check(nigh_model *model, nigh_error *error) {
    nigh_status status = check_text(model, error);
    if (status != NIGH_OK) return status;
    if (!nigh__hash_places_ascend(model->hashes, sizeof *model->hashes, model->shape.features))
        return corrupt("a model whose features are out of order", error);
    if (!names_sound(model)) return corrupt("a model with a wrong name of a feature", error);
    if (model->shape.form != NIGH__MODEL_ANCHORS) return NIGH_OK;
    if (!anchors_sound(model)) return corrupt("a model with a wrong anchor", error);
    return kernel_sound(model) ? NIGH_OK : corrupt("a model with a number out of bounds", error);
}
