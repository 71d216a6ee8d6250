/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer writes, the reader reads: random shapes, every format, to files and through streams of any grain. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/signature_support.h"
#include "support/support.h"

#define SEED UINT64_C(20240917)
#define TRIALS 150

static uint64_t trial_seed;

/* Every failure of a trial names its seed. */
#define CHECK(condition)                                                                  \
    do {                                                                                  \
        if (!(condition)) fail_msg("%s, with the seed %" PRIu64, #condition, trial_seed); \
    } while (0)

struct shape {
    nigh_signature_format format;
    uint32_t width_bits; /* any: the last byte may be padded */
    size_t row_bytes;
    size_t rows;
    int has_ids;
};

static uint64_t below(struct nigh__rng *rng, uint64_t range) { return nigh__rng_next(rng) % range; }

static struct shape shape_draw(struct nigh__rng *rng) {
    struct shape shape;
    shape.format = (nigh_signature_format)(1 + below(rng, 4));
    shape.row_bytes = 1 + (size_t)below(rng, below(rng, 8) == 0 ? 8192 : 64);
    shape.width_bits = (uint32_t)(shape.row_bytes * 8 - (below(rng, 2) == 0 ? 0 : below(rng, 8)));
    shape.rows = (size_t)below(rng, 1 + 40000 / shape.row_bytes);
    shape.has_ids = shape.format == NIGH_FORMAT_HEX && below(rng, 2) == 1;
    return shape;
}

/* Any bytes an id may hold, but for a carriage return at its end, which lines cannot keep. */
static size_t id_draw(struct nigh__rng *rng, char *out) {
    size_t length = 1 + (size_t)below(rng, below(rng, 50) == 0 ? NIGH_MAX_ID_LENGTH : 20);
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)(1 + below(rng, 255));
        out[i] = (char)(c == '\n' || c == '\t' ? '_' : c);
    }
    return length;
}

/* Document `number` of a trial, the same each time it is asked for. */
static nigh_document document_make(const struct shape *shape, size_t number, uint8_t *signature, char *id) {
    struct nigh__rng rng = {nigh__mix(trial_seed + number)};
    for (size_t i = 0; i < shape->row_bytes; i++) signature[i] = (uint8_t)nigh__rng_next(&rng);
    padding_clear(signature, 1, shape->width_bits);
    nigh_document document = {.size = sizeof(nigh_document), .signature = signature};
    if (!shape->has_ids) return document;
    document.id = id;
    document.id_length = id_draw(&rng, id);
    return document;
}

static uint8_t signature_room[8192];
static char id_room[NIGH_MAX_ID_LENGTH];

static void write_all(nigh_context *context, const char *path, const struct shape *shape, const nigh_stream *stream) {
    nigh_signature_writer_options options;
    nigh_signature_writer_options_init(&options);
    options.format = shape->format;
    options.width_bits = shape->width_bits;
    options.rows = shape->rows;
    options.stream = stream;
    nigh_signature_writer *writer;
    CHECK(nigh_signature_writer_open(context, path, &options, &writer, NULL) == NIGH_OK);
    for (size_t i = 0; i < shape->rows; i++) {
        nigh_document document = document_make(shape, i, signature_room, id_room);
        CHECK(nigh_signature_writer_add(writer, &document, NULL) == NIGH_OK);
    }
    CHECK(nigh_signature_writer_finish(writer, NULL) == NIGH_OK);
    nigh_signature_writer_close(writer);
}

static void expect_all(nigh_context *context, const char *path, const struct shape *shape, const nigh_stream *stream) {
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    options.format = shape->format;
    options.width_bits = shape->width_bits;
    options.stream = stream;
    nigh_signature_reader *reader;
    nigh_signature_info info = {.size = sizeof info};
    nigh_document got = {.size = sizeof got};
    CHECK(nigh_signature_reader_open(context, path, &options, &reader, NULL) == NIGH_OK);
    nigh_signature_reader_describe(reader, &info);
    CHECK(info.width_bits == shape->width_bits);
    CHECK(info.rows == shape->rows || info.rows == UINT64_MAX);
    CHECK(info.has_ids == (shape->has_ids && shape->rows > 0));
    for (size_t i = 0; i < shape->rows; i++) {
        nigh_document wanted = document_make(shape, i, signature_room, id_room);
        CHECK(nigh_signature_reader_next(reader, &got, NULL) == NIGH_OK);
        CHECK(memcmp(got.signature, wanted.signature, shape->row_bytes) == 0);
        CHECK((got.id != NULL) == (wanted.id != NULL) && got.id_length == wanted.id_length);
        CHECK(wanted.id == NULL || got.id == NULL || memcmp(got.id, wanted.id, wanted.id_length) == 0);
    }
    CHECK(nigh_signature_reader_next(reader, &got, NULL) == NIGH_END);
    nigh_signature_reader_close(reader);
}

static void test_roundtrip(void **state) {
    struct nigh__rng rng = {SEED};
    nigh_context *context = *state;
    for (int trial = 0; trial < TRIALS; trial++) {
        trial_seed = nigh__rng_next(&rng);
        struct nigh__rng own = {trial_seed};
        struct shape shape = shape_draw(&own);
        struct memory_sink sink = {.chunk = (size_t)below(&own, 3) * 1000};
        nigh_stream out = memory_sink_stream(&sink);
        write_all(context, "-", &shape, &out);
        write_all(context, "file", &shape, NULL);
        struct bytes file = file_read_all("file");
        CHECK(file.length == sink.length);
        CHECK(sink.bytes == NULL || memcmp(file.data, sink.bytes, sink.length) == 0);
        free(file.data);
        expect_all(context, "file", &shape, NULL);
        struct memory_source source = {.bytes = sink.bytes,
                                       .length = sink.length,
                                       .chunk = (size_t)below(&own, 4) * 7 + (below(&own, 2) == 0 ? 1 : 0),
                                       .fail_at = SIZE_MAX};
        nigh_stream in = memory_source_stream(&source);
        expect_all(context, "-", &shape, &in);
        free(sink.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_roundtrip)};
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
