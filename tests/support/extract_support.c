/* SPDX-License-Identifier: Apache-2.0 */
#include "support/extract_support.h"
#include "document/document_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"

#define PREFIX "file\0own-id"
#define SOURCE_AT 0
#define ID_AT 5
#define BYTES_AT (sizeof PREFIX - 1)

void one_record_init(struct one_record *one, enum nigh__record_kind kind, const void *bytes, size_t length) {
    bool lines = kind == NIGH__RECORD_JSON || kind == NIGH__RECORD_TREC;
    size_t all = BYTES_AT + length;
    uint8_t *memory = malloc(all + NIGH__BATCH_PADDING);
    if (memory == NULL) abort();
    memcpy(memory, PREFIX, BYTES_AT);
    if (length > 0) memcpy(memory + BYTES_AT, bytes, length);
    memset(memory + all, '"', NIGH__BATCH_PADDING); /* what follows must not matter */
    *one = (struct one_record){.memory = memory};
    one->batch.bytes = (struct nigh__array){.data = memory, .count = all, .capacity = all, .item_size = 1};
    one->record = (struct nigh__record){.kind = kind,
                                        .bytes = BYTES_AT,
                                        .length = length,
                                        .id = ID_AT,
                                        .id_length = BYTES_AT - ID_AT,
                                        .source = SOURCE_AT,
                                        .number = 3,
                                        .offset = 1000,
                                        .line = lines ? 7 : 0};
}

void one_record_release(struct one_record *one) { free(one->memory); }

static char *copy(const char *bytes, size_t length) {
    char *out = malloc(length + 1);
    if (out == NULL) abort();
    memcpy(out, bytes, length);
    out[length] = '\0';
    return out;
}

struct extraction extract_with(const nigh_context *context, const nigh_text_reader_options *options,
                               enum nigh__record_kind kind, const void *bytes, size_t length) {
    nigh_text_reader_options defaults;
    nigh__options_defaults(&nigh__text_reader_options_shape, &defaults);
    struct extraction result = {.status = NIGH_OK};
    struct nigh__extractor *extractor;
    struct one_record one;
    nigh_error error = {0};
    nigh_text text = {.size = sizeof text};
    one_record_init(&one, kind, bytes, length);
    result.status = nigh__extractor_new(context, options != NULL ? options : &defaults, &extractor, &error);
    if (result.status == NIGH_OK)
        result.status = nigh__extract(extractor, &one.batch, &one.record, &text, &result.repaired, &error);
    if (result.status == NIGH_OK) {
        assert_int_equal(text.number, 3);
        assert_string_equal(text.source, "file");
        assert_int_equal(text.offset, 1000);
        result.text = copy(text.text, text.text_length);
        result.id = copy(text.id, text.id_length);
        result.text_length = text.text_length;
        result.id_length = text.id_length;
    } else if (result.status != NIGH_ENOTFOUND) {
        assert_int_equal(error.status, result.status);
        (void)nigh_error_format(&error, result.message, sizeof result.message);
    }
    nigh__extractor_free(extractor);
    one_record_release(&one);
    return result;
}

void extraction_release(struct extraction *extraction) {
    free(extraction->text);
    free(extraction->id);
}

void expect_text_of(enum nigh__record_kind kind, const void *bytes, size_t length, const char *text) {
    nigh_context *context = context_new();
    struct extraction result = extract_with(context, NULL, kind, bytes, length);
    assert_string_equal(result.message, "");
    if (text != NULL) assert_non_null(result.text);
    if (text != NULL) assert_string_equal(result.text, text);
    if (text != NULL) assert_int_equal(result.text_length, strlen(text));
    assert_int_equal(result.status, text == NULL ? NIGH_ENOTFOUND : NIGH_OK);
    extraction_release(&result);
    nigh_context_free(context);
}

void expect_text(enum nigh__record_kind kind, const char *bytes, const char *text) {
    expect_text_of(kind, bytes, strlen(bytes), text);
}

void expect_refused(enum nigh__record_kind kind, const char *bytes, nigh_status status, const char *message) {
    nigh_context *context = context_new();
    struct extraction result = extract_with(context, NULL, kind, bytes, strlen(bytes));
    assert_string_equal(result.message, message);
    assert_int_equal(result.status, status);
    extraction_release(&result);
    nigh_context_free(context);
}
