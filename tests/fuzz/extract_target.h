/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets of all kinds of records do with their input. */
#ifndef NIGH_TESTS_EXTRACT_TARGET_H
#define NIGH_TESTS_EXTRACT_TARGET_H

#include <stdlib.h>
#include <string.h>

#include "document/document_options.h"
#include "document/json.h"
#include "fuzz/fuzz.h"
#include "support/extract_support.h"

static void target_check(const nigh_text *text) {
    if (text->text_length == 0 || text->text_length > (1 << 20)) abort();
    if (!nigh__utf8_check(text->text, text->text_length)) abort();
    if (text->id_length == 0 || text->id_length > NIGH_MAX_ID_LENGTH) abort(); /* of any bytes: docs/ids.md */
}

/* Extracts one record twice with one extractor: valid text or a reason, and the same each time. */
static int extract_target(enum nigh__record_kind kind, const char *text_key, const uint8_t *data, size_t size) {
    static nigh_context *context;
    if (context == NULL && nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    nigh_text_reader_options options;
    nigh__options_defaults(&nigh__text_reader_options_shape, &options);
    options.text_key = text_key;
    options.max_document_bytes = 1 << 20;
    options.max_depth = 64;
    struct nigh__extractor *extractor;
    if (nigh__extractor_new(context, &options, &extractor, NULL) != NIGH_OK) abort();
    struct one_record one;
    one_record_init(&one, kind, data, size);
    size_t first_length = 0;
    nigh_status first = NIGH_OK;
    for (int round = 0; round < 2; round++) {
        nigh_text text = {.size = sizeof text};
        uint64_t repaired;
        nigh_error error = {0};
        nigh_status status = nigh__extract(extractor, &one.batch, &one.record, &text, &repaired, &error);
        if (status == NIGH_OK) target_check(&text);
        if (status != NIGH_OK && status != NIGH_ENOTFOUND && (error.status != status || error.why[0] == '\0')) abort();
        if (round == 1 && (status != first || text.text_length != first_length)) abort();
        first = status;
        first_length = text.text_length;
    }
    one_record_release(&one);
    nigh__extractor_free(extractor);
    return 0;
}

#endif
