/* SPDX-License-Identifier: Apache-2.0 */
#include "support/living_support.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

static const struct recipe recipe = {.width_bits = 64, .seed = 8, .distinct = 30, .ids = true, .metadata = true};

static nigh_status open_writer(nigh_context *context, const char *path, uint32_t width_bits, nigh_writer **out,
                               nigh_error *error) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    options.width_bits = width_bits;
    options.replace = 1;
    return nigh_writer_open(context, path, &options, out, error);
}

/* Deletes every document whose number leaves a rest; those that are gone already are none of ours. */
static nigh_status delete_some(nigh_writer *writer, uint32_t step, uint32_t rest, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t d = rest; d < LIVING_DOCUMENTS && status == NIGH_OK; d += step) {
        char id[RECIPE_MAX_TEXT];
        status = nigh_writer_delete(writer, id, recipe_id(&recipe, d, id), error);
        if (status == NIGH_ENOTFOUND) status = NIGH_OK;
    }
    return status;
}

/* Documents with the ids of some that are there, deleted or not, and the signatures of others. */
static nigh_status replace_some(nigh_writer *writer, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t d = 0; d < LIVING_DOCUMENTS && status == NIGH_OK; d += 4) {
        char id[RECIPE_MAX_TEXT];
        uint8_t signature[8];
        recipe_signature(&recipe, 1000 + d, signature);
        const nigh_document document = {
            .size = sizeof document, .signature = signature, .id = id, .id_length = recipe_id(&recipe, d, id)};
        status = nigh_writer_add(writer, &document, error);
    }
    return status;
}

nigh_status living_change(nigh_context *context, const char *path, uint32_t to, nigh_error *error) {
    nigh_writer *writer = NULL;
    nigh_status status = open_writer(context, path, to == 3 ? recipe.width_bits : 0, &writer, error);
    if (status == NIGH_OK)
        status = to == 3 ? replace_some(writer, error) : delete_some(writer, to == 1 ? 3 : 5, to, error);
    if (status == NIGH_OK) status = nigh_writer_commit(writer, NULL, error);
    nigh_writer_close(writer);
    return status;
}

void living_make(nigh_context *context, const char *path, uint32_t state) {
    nigh_error error;
    assert_ok(recipe_add(context, path, &recipe, 0, LIVING_DOCUMENTS / 2, &error), &error);
    assert_ok(recipe_add(context, path, &recipe, LIVING_DOCUMENTS / 2, LIVING_DOCUMENTS / 2, &error), &error);
    for (uint32_t to = 1; to <= state; to++) assert_ok(living_change(context, path, to, &error), &error);
}

char *living_contents(nigh_context *context, const char *path) {
    nigh_collection *collection;
    nigh_collection_info info = {.size = sizeof info};
    nigh_error error;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.damaged_manifests, 0);
    char *text = calloc((size_t)info.documents + 1, RECIPE_MAX_TEXT + 24);
    char *end = text;
    assert_non_null(text);
    for (uint64_t d = 0; d < info.documents; d++) {
        char id[RECIPE_MAX_TEXT];
        uint64_t signature;
        size_t length;
        if (!nigh_collection_lives(collection, d)) continue;
        assert_ok(nigh_collection_id(collection, d, id, sizeof id, &length, &error), &error);
        assert_ok(nigh_collection_signature(collection, d, (uint8_t *)&signature, &error), &error);
        end += sprintf(end, "%s %016" PRIx64 "\n", id, signature);
    }
    nigh_collection_close(collection);
    return text;
}
