/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signature files that were cut, flipped and spliced at random.  None may crash
 * or hang, a file and a stream of single bytes must say the same, and a cut
 * binary file must never pass for a whole one.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/signature_support.h"
#include "support/support.h"

#define SEED UINT64_C(31415926)
#define DAMAGES 500

/* Whatever fails, the teardown says which damage it was. */
static uint64_t trial_seed;
static bool trial_going;

static uint64_t trial_begin(uint64_t number) {
    trial_seed = nigh__mix(SEED + number);
    trial_going = true;
    return trial_seed;
}

static int trial_report(void **state) {
    (void)state;
    if (trial_going) print_error("the seed was %" PRIu64 "\n", trial_seed);
    trial_going = false;
    return 0;
}

struct sample {
    const char *name;
    nigh_signature_format format;
    uint32_t width_bits; /* to ask for; raw needs it */
    struct memory_sink file;
};

static void sample_write(nigh_context *context, struct sample *sample, int has_ids) {
    nigh_signature_writer_options options;
    nigh_signature_writer_options_init(&options);
    nigh_stream stream = memory_sink_stream(&sample->file);
    options.format = sample->format;
    options.width_bits = 40;
    options.rows = 12;
    options.stream = &stream;
    nigh_signature_writer *writer;
    assert_int_equal(nigh_signature_writer_open(context, "-", &options, &writer, NULL), NIGH_OK);
    for (uint64_t i = 0; i < 12; i++) {
        uint64_t signature = nigh__mix(i);
        nigh_document document = {.size = sizeof(nigh_document), .signature = (const uint8_t *)&signature};
        if (has_ids) document.id = "a name";
        if (has_ids) document.id_length = 6;
        assert_int_equal(nigh_signature_writer_add(writer, &document, NULL), NIGH_OK);
    }
    assert_int_equal(nigh_signature_writer_finish(writer, NULL), NIGH_OK);
    nigh_signature_writer_close(writer);
}

static void topsig_make(struct sample *sample) {
    static const uint32_t header[] = {88, 2, 15, 40, 21, 0};
    static const char zeros[64];
    for (size_t i = 0; i < 6; i++) sink_u32(&sample->file, header[i]);
    sink_add(&sample->file, zeros, 64);
    for (uint64_t i = 0; i < 5; i++) {
        sink_add(&sample->file, "document-number\0", 16);
        sink_add(&sample->file, zeros, 32);
        uint64_t signature = nigh__mix(i);
        sink_add(&sample->file, &signature, 5);
    }
}

static void samples_make(nigh_context *context, struct sample samples[6]) {
    samples[0] = (struct sample){.name = "x.npy", .format = NIGH_FORMAT_NPY};
    samples[1] = (struct sample){.name = "x.u8bin", .format = NIGH_FORMAT_U8BIN};
    samples[2] = (struct sample){.name = "x.raw", .format = NIGH_FORMAT_RAW, .width_bits = 40};
    samples[3] = (struct sample){.name = "x.hex", .format = NIGH_FORMAT_HEX};
    samples[4] = (struct sample){.name = "ids.hex", .format = NIGH_FORMAT_HEX};
    samples[5] = (struct sample){.name = "x.sig", .format = NIGH_FORMAT_TOPSIG};
    for (int i = 0; i < 5; i++) sample_write(context, &samples[i], i == 4);
    topsig_make(&samples[5]);
}

static struct reading sample_read(nigh_context *context, const struct sample *sample, const uint8_t *bytes,
                                  size_t length) {
    struct reading streams[2];
    return read_damaged(context, sample->name, sample->format, sample->width_bits, bytes, length, streams);
}

static void test_cut(void **state) {
    struct sample samples[6];
    samples_make(*state, samples);
    for (size_t s = 0; s < 6; s++) {
        const struct sample *sample = &samples[s];
        struct reading whole = sample_read(*state, sample, sample->file.bytes, sample->file.length);
        assert_int_equal(whole.status, NIGH_END);
        for (size_t length = 0; length < sample->file.length; length++) {
            struct reading cut = sample_read(*state, sample, sample->file.bytes, length);
            if (cut.status == NIGH_END && (s < 2 || cut.rows > whole.rows))
                fail_msg("'%s' cut to %zu bytes passes for whole", sample->name, length);
            if (s < 2) assert_int_equal(cut.status, NIGH_EFORMAT);
        }
        free(sample->file.bytes);
    }
}

/* Changes some bits, or bytes, or copies a part over another. */
static void damage(struct nigh__rng *rng, uint8_t *bytes, size_t length) {
    uint64_t times = 1 + nigh__rng_next(rng) % 4;
    for (uint64_t i = 0; i < times; i++) {
        uint64_t random = nigh__rng_next(rng);
        size_t at = (size_t)((random >> 16) % length);
        if (i % 2 == 0 && length > 100 && random % 3 != 0) at %= 100; /* headers are where it hurts */
        if (random % 5 < 3)
            bytes[at] ^= (uint8_t)(1u << (random >> 8 & 7));
        else if (random % 5 == 3)
            bytes[at] = (uint8_t)(random >> 8);
        else
            memmove(bytes + at, bytes + at / 2, length - at < 16 ? length - at : 16);
    }
}

static void test_damage(void **state) {
    struct sample samples[6];
    samples_make(*state, samples);
    for (size_t s = 0; s < 6; s++) {
        const struct sample *sample = &samples[s];
        size_t length = sample->file.length;
        unsigned refused = 0;
        for (uint64_t i = 0; i < DAMAGES; i++) {
            struct nigh__rng rng = {trial_begin(s * DAMAGES + i)};
            uint8_t *bytes = malloc(length);
            assert_non_null(bytes);
            memcpy(bytes, sample->file.bytes, length);
            damage(&rng, bytes, length);
            struct reading result = sample_read(*state, sample, bytes, length);
            assert_true(result.status == NIGH_END || result.message[0] != '\0');
            refused += result.status != NIGH_END;
            free(bytes);
            trial_going = false;
        }
        if (s != 2 && refused == 0) fail_msg("no damage to '%s' was ever noticed", sample->name);
        free(sample->file.bytes);
    }
}

/* The same without being told the format; what is found may differ between file and stream, so each is read alone. */
static void test_damage_detected(void **state) {
    struct sample samples[6];
    samples_make(*state, samples);
    nigh_signature_reader_options options;
    nigh_signature_reader_options_init(&options);
    for (size_t s = 0; s < 6; s++) {
        for (uint64_t i = 0; i < DAMAGES; i++) {
            struct nigh__rng rng = {trial_begin((6 + s) * DAMAGES + i)};
            size_t length = 1 + (size_t)(nigh__rng_next(&rng) % samples[s].file.length);
            uint8_t *bytes = malloc(length);
            assert_non_null(bytes);
            memcpy(bytes, samples[s].file.bytes, length);
            damage(&rng, bytes, length);
            struct memory_source source = {.bytes = bytes, .length = length, .chunk = i % 3, .fail_at = SIZE_MAX};
            nigh_stream stream = memory_source_stream(&source);
            options.stream = &stream;
            struct reading result = read_signatures(*state, i % 2 == 0 ? "-" : samples[s].name, &options);
            assert_true(result.status == NIGH_END || result.message[0] != '\0');
            free(bytes);
            trial_going = false;
        }
        free(samples[s].file.bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),
        cmocka_unit_test_teardown(test_damage, trial_report),
        cmocka_unit_test_teardown(test_damage_detected, trial_report),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
