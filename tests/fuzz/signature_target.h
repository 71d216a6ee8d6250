/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets of all signature formats do with their input. */
#ifndef NIGH_TESTS_SIGNATURE_TARGET_H
#define NIGH_TESTS_SIGNATURE_TARGET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/fuzz.h"
#include "support/signature_support.h"

static struct reading target_read(nigh_context *context, nigh_signature_format format, uint32_t width_bits,
                                  const uint8_t *data, size_t size, size_t chunk) {
    struct memory_source source = {.bytes = data, .length = size, .chunk = chunk, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_signature_reader_options options = NIGH_SIGNATURE_READER_OPTIONS_INIT;
    options.format = format;
    options.width_bits = width_bits;
    options.stream = &stream;
    return read_signatures(context, "-", &options);
}

/*
 * Reads the bytes as one format whole and in small pieces, which must come to
 * the same; then with a width asked for; then as whatever they may be.
 */
static int signature_target(nigh_signature_format format, const uint8_t *data, size_t size) {
    static nigh_context *context;
    if (context == NULL && nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    struct reading whole = target_read(context, format, 0, data, size, 0);
    struct reading pieces = target_read(context, format, 0, data, size, 1 + size % 7);
    if (whole.status != pieces.status || whole.rows != pieces.rows || whole.hash != pieces.hash) abort();
    if (strcmp(whole.message, pieces.message) != 0) abort();
    struct reading asked = target_read(context, format, 64, data, size, 0);
    if (asked.status == NIGH_END && asked.info.width_bits != 64) abort();
    (void)target_read(context, NIGH_FORMAT_AUTO, 0, data, size, 0);
    return 0;
}

#endif
