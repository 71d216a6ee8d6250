/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzz targets of all signature formats do with their input. */
#ifndef NIGH_TESTS_SIGNATURE_TARGET_H
#define NIGH_TESTS_SIGNATURE_TARGET_H

#define _POSIX_C_SOURCE 200112L /* posix_memalign */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fuzz/fuzz.h"
#include "support/signature_support.h"

/*
 * The large buffer of an input is kept for the next one: getting a megabyte anew
 * takes a hundred times longer than reading a small file.  It is still a block of
 * its own and of its exact size, so that a step past its end is seen.
 */
static struct {
    void *pointer;
    size_t size;
    int in_use;
} large;

static void *target_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    if (large.pointer != NULL && !large.in_use && size == large.size) {
        large.in_use = 1;
        return large.pointer;
    }
    void *pointer = NULL;
    if (posix_memalign(&pointer, alignment < sizeof(void *) ? sizeof(void *) : alignment, size) != 0) return NULL;
    if (large.pointer == NULL && size >= 1 << 20) {
        large.pointer = pointer;
        large.size = size;
        large.in_use = 1;
    }
    return pointer;
}

static void target_release(void *user, void *pointer) {
    (void)user;
    if (pointer != NULL && pointer == large.pointer)
        large.in_use = 0;
    else
        free(pointer);
}

static nigh_context *target_context(void) {
    static nigh_context *context;
    nigh_context_options options;
    nigh_context_options_init(&options);
    options.allocator = (nigh_allocator){.allocate = target_allocate, .release = target_release};
    if (context == NULL && nigh_context_new(&options, &context, NULL) != NIGH_OK) abort();
    return context;
}

static struct reading target_read_options(nigh_context *context, nigh_signature_reader_options *options,
                                          const uint8_t *data, size_t size, size_t chunk) {
    struct memory_source source = {.bytes = data, .length = size, .chunk = chunk, .fail_at = SIZE_MAX};
    nigh_stream stream = memory_source_stream(&source);
    nigh_signature_reader_options own = *options;
    own.stream = &stream;
    return read_signatures(context, "-", &own);
}

static struct reading target_read(nigh_context *context, nigh_signature_format format, uint32_t width_bits,
                                  const uint8_t *data, size_t size, size_t chunk) {
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.format = format;
    options.width_bits = width_bits;
    return target_read_options(context, &options, data, size, chunk);
}

/*
 * Reads the bytes as one format whole and in small pieces, which must come to
 * the same; then with a width asked for; then as whatever they may be.
 */
static int signature_target(nigh_signature_format format, const uint8_t *data, size_t size) {
    nigh_context *context = target_context();
    struct reading whole = target_read(context, format, 0, data, size, 0);
    struct reading pieces = target_read(context, format, 0, data, size, 1 + size % 7);
    if (whole.status != pieces.status || whole.rows != pieces.rows || whole.hash != pieces.hash) abort();
    if (strcmp(whole.message, pieces.message) != 0) abort();
    struct reading asked = target_read(context, format, 64, data, size, 0);
    if (asked.status == NIGH_END && asked.info.width_bits != 64) abort();
    struct reading padded = target_read(context, format, 63, data, size, 0);
    if (padded.status == NIGH_END && padded.info.width_bits != 63) abort();
    if (padded.status == NIGH_END && asked.status == NIGH_END && padded.hash != asked.hash) abort();
    (void)target_read(context, NIGH_FORMAT_AUTO, 0, data, size, 0);
    return 0;
}

#endif
