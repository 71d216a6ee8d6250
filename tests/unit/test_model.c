/* SPDX-License-Identifier: Apache-2.0 */
/* Models as bytes: what is made, what comes back, and everything that is refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/exponential.h"
#include "base/hash.h"
#include "base/key_lines.h"
#include "base/memory.h"
#include "signature/model_parts.h"
#include "signature/simhash.h"
#include "support/model_support.h"
#include "support/support.h"

static const struct model_recipe recipes[] = {
    {.form = NIGH__MODEL_WEIGHTS, .width_bits = 72, .features = 9},
    {.form = NIGH__MODEL_COEFFICIENTS, .width_bits = 16, .features = 7},
    {.form = NIGH__MODEL_ANCHORS, .width_bits = 8, .features = 11, .anchors = 5},
};

#define FORMS (sizeof recipes / sizeof recipes[0])

/* ---------------------------------------------------------- what is made -- */

static void expect_equal(const nigh_model *a, const nigh_model *b) {
    size_t length, other_length;
    const void *bytes = nigh_model_bytes(a, &length);
    const void *other = nigh_model_bytes(b, &other_length);
    assert_int_equal(length, other_length);
    assert_memory_equal(bytes, other, length);
    assert_int_equal(nigh__model_name(a), nigh__model_name(b));
}

static void test_it_comes_back(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "m.model");
    for (size_t i = 0; i < FORMS; i++) {
        nigh_model *model = model_make(context, &recipes[i]);
        nigh_model *again = model_make(context, &recipes[i]);
        nigh_model *back;
        nigh_error error;
        size_t length;
        expect_equal(model, again);
        const void *bytes = nigh_model_bytes(model, &length);
        assert_ok(nigh_model_parse(context, bytes, length, &back, &error), &error);
        expect_equal(model, back);
        nigh_model_free(back);
        assert_ok(nigh_model_save(model, path, &error), &error);
        assert_ok(nigh_model_load(context, path, &back, &error), &error);
        expect_equal(model, back);
        nigh_model_free(back);
        nigh_model_free(again);
        nigh_model_free(model);
    }
    free(path);
    scratch_free(folder);
}

/* Byte by byte as the header draws it; this is the format. */
static void test_layout(void **state) {
    nigh_model *model = model_make(*state, &recipes[0]);
    static const char text[] = "documents=0\nfeatures=words\nlanguage=none\nmethod=none\nseed=0\nstemming=off\n"
                               "stop-words=in\n";
    size_t length;
    const uint8_t *bytes = nigh_model_bytes(model, &length);
    assert_memory_equal(bytes, "\x89NIGHL\r\n\1\0\0", 11);
    assert_int_equal(nigh__load32(bytes + 12), 0);
    assert_int_equal(nigh__load32(bytes + 16), NIGH_LEARN_S3H);
    assert_int_equal(nigh__load32(bytes + 20), 72);
    assert_int_equal(nigh__load32(bytes + 24), 9);
    assert_int_equal(nigh__load32(bytes + 28), 0);
    assert_int_equal(nigh__load32(bytes + 32), strlen(text));
    assert_int_equal(nigh__load32(bytes + 36), 18); /* "w0" to "w8" */
    assert_int_equal(nigh__load64(bytes + 40), 0);
    const uint64_t halves[2] = {nigh__hash(bytes, 48), nigh__hash(bytes + 56, length - 56)};
    assert_int_equal(nigh__load64(bytes + 48), nigh__hash(halves, 16));
    assert_int_equal(nigh__load64(bytes + 56), 0);
    assert_memory_equal(bytes + 64, text, strlen(text));
    const size_t hashes = 64 + (strlen(text) + 7) / 8 * 8, begins = hashes + 9 * sizeof(uint64_t), names = begins + 40;
    assert_int_equal(length, names + 24 + 24);
    for (size_t i = 0; i < 9; i++) {
        assert_int_equal(nigh__load32(bytes + begins + 4 * i), 2 * i);
        assert_int_equal(nigh__load64(bytes + hashes + 8 * i), nigh__hash(bytes + names + 2 * i, 2));
        if (i > 0) assert_true(nigh__load64(bytes + hashes + 8 * i - 8) < nigh__load64(bytes + hashes + 8 * i));
    }
    nigh_model_free(model);
}

/* The largest becomes 32,767, others in proportion, rounded. */
static void test_quantised(void **state) {
    for (size_t i = 0; i < 2; i++) {
        const struct model_recipe *recipe = &recipes[i];
        const uint32_t columns = i == 0 ? 1 : recipe->width_bits;
        nigh_model *model = model_make(*state, recipe);
        for (uint32_t j = 0; j < columns; j++) {
            double largest = 0;
            for (uint32_t f = 0; f < recipe->features; f++) largest = fmax(largest, fabs(model_number(recipe, f, j)));
            for (uint32_t f = 0; f < recipe->features; f++) {
                char name[16];
                (void)snprintf(name, sizeof name, "w%u", f);
                const uint32_t place = nigh__model_find(model, nigh__hash(name, strlen(name)));
                assert_true(place < recipe->features);
                const int16_t got =
                    i == 0 ? nigh__model_weights(model)[place] : nigh__model_coefficients_of(model, place)[j];
                const double wanted = model_number(recipe, f, j) / largest * 32767;
                assert_true(fabs(got - wanted) <= 0.5 + 1e-9);
            }
        }
        assert_int_equal(nigh__model_find(model, 12345), UINT32_MAX);
        nigh_model_free(model);
    }
}

static void test_described(void **state) {
    for (size_t i = 0; i < FORMS; i++) {
        const struct model_recipe *recipe = &recipes[i];
        nigh_model *model = model_make(*state, recipe);
        nigh_model_info info = {.size = sizeof info};
        nigh_model_describe(model, &info);
        size_t length;
        (void)nigh_model_bytes(model, &length);
        assert_int_equal(info.bytes, length);
        assert_int_equal(info.width_bits, recipe->width_bits);
        assert_int_equal(info.features, recipe->features);
        assert_int_equal(info.anchors, recipe->anchors);
        assert_int_equal(info.name, nigh__model_name(model));
        assert_non_null(strstr(info.lines, "features=words\n"));

        double before = HUGE_VAL, coefficients[1024];
        uint64_t hash_before = 0;
        nigh_model_feature feature = {.size = sizeof feature};
        nigh_error error;
        for (uint32_t f = 0; f < recipe->features; f++) {
            assert_int_equal(nigh_model_feature_at(model, f, &feature), NIGH_OK);
            assert_int_equal(feature.hash, nigh__hash(feature.text, feature.text_length));
            assert_true(fabs(feature.weight) <= before);
            if (fabs(feature.weight) == before) assert_true(feature.hash > hash_before);
            before = fabs(feature.weight);
            hash_before = feature.hash;
            nigh_status status = nigh_model_coefficients(model, f, coefficients, &error);
            if (recipe->form == NIGH__MODEL_ANCHORS) {
                assert_int_equal(status, NIGH_ENOTFOUND);
                continue;
            }
            assert_ok(status, &error);
            double square = 0;
            for (uint32_t j = 0; j < recipe->width_bits; j++) square += coefficients[j] * coefficients[j];
            assert_true(fabs(sqrt(square / recipe->width_bits) - fabs(feature.weight)) < 1e-6);
            for (uint32_t j = 0; i == 0 && j < recipe->width_bits; j++)
                assert_int_equal(coefficients[j] == feature.weight,
                                 nigh__simhash_block(feature.hash, j / 64) >> j % 64 & 1);
        }
        assert_int_equal(nigh_model_feature_at(model, recipe->features, &feature), NIGH_END);
        assert_int_equal(nigh_model_coefficients(model, recipe->features, coefficients, &error), NIGH_EINVAL);
        nigh_model_free(model);
    }
}

/* 254 letters and an umlaut of two bytes, which is left out whole; and what a terminal might obey. */
static void test_names(void **state) {
    char name[300];
    memset(name, 'a', 254);
    memcpy(name + 254, "\xc3\xbc and more", 11);
    const char *const names[] = {name, "\x1b[31m"};
    const uint64_t hashes[] = {2, 1};
    const double weights[] = {2, 1};
    const struct nigh__model_parts parts = {.method = NIGH_LEARN_S3H,
                                            .width_bits = 8,
                                            .plan = {.kind = NIGH_FEATURES_WORDS},
                                            .features = 2,
                                            .hashes = hashes,
                                            .names = names,
                                            .weights = weights};
    nigh_model *model;
    nigh_error error;
    nigh_model_feature feature = {.size = sizeof feature};
    assert_ok(nigh__model_make(*state, &parts, &model, &error), &error);
    assert_int_equal(nigh_model_feature_at(model, 0, &feature), NIGH_OK);
    assert_int_equal(feature.text_length, 254);
    assert_memory_equal(feature.text, name, 254);
    assert_int_equal(nigh_model_feature_at(model, 1, &feature), NIGH_OK);
    assert_int_equal(feature.text_length, 5);
    assert_memory_equal(feature.text, "?[31m", 5);
    nigh_model_free(model);
}

/* -------------------------------------------------------- what is not made -- */

static void expect_not_made(const nigh_context *context, const struct nigh__model_parts *parts, nigh_status wanted) {
    nigh_model *model;
    nigh_error error;
    assert_int_equal(nigh__model_make(context, parts, &model, &error), wanted);
    assert_null(model);
}

static void test_not_made(void **state) {
    static const double wrong[] = {NAN, INFINITY, -INFINITY};
    for (size_t form = 0; form < FORMS; form++) {
        struct nigh__model_parts parts = model_parts_make(&recipes[form]);
        double *numbers;
        const double *given = form == 0 ? parts.weights : form == 1 ? parts.coefficients : parts.omega;
        memcpy(&numbers, &given, sizeof numbers);
        for (size_t i = 0; i < 3; i++) {
            const double kept = numbers[3];
            numbers[3] = wrong[i];
            expect_not_made(*state, &parts, NIGH_EINVAL);
            numbers[3] = kept;
        }
        struct nigh__model_parts changed = parts;
        changed.features = 0;
        expect_not_made(*state, &changed, NIGH_EINVAL);
        changed = parts;
        changed.width_bits = 0;
        expect_not_made(*state, &changed, NIGH_EINVAL);
        changed.width_bits = 1025;
        expect_not_made(*state, &changed, NIGH_EINVAL);
        changed = parts;
        changed.lines = "seed=1\n";
        expect_not_made(*state, &changed, NIGH_EINVAL);
        changed.lines = "not a line";
        expect_not_made(*state, &changed, NIGH_EINVAL);
        uint64_t twins[11] = {0};
        changed = parts;
        changed.hashes = twins;
        expect_not_made(*state, &changed, NIGH_EINVAL);
        model_parts_free(&parts);
    }
}

static void test_anchors_not_made(void **state) {
    struct nigh__model_parts parts = model_parts_make(&recipes[2]);
    struct nigh__model_parts changed = parts;
    static const double deltas[] = {0, -1, NAN, INFINITY, 1e-200};
    for (size_t i = 0; i < 5; i++) {
        changed.delta_squared = deltas[i];
        expect_not_made(*state, &changed, NIGH_EINVAL);
    }
    changed = parts;
    changed.anchors = 0;
    expect_not_made(*state, &changed, NIGH_EINVAL);
    const uint32_t empty[] = {0, 3, 3, 6, 9, 12};
    changed = parts;
    changed.anchor_begins = empty;
    expect_not_made(*state, &changed, NIGH_EINVAL);
    const uint32_t far[15] = {11}, twice[15] = {0}, none[15] = {0};
    changed = parts;
    changed.anchor_features = far;
    expect_not_made(*state, &changed, NIGH_EINVAL);
    changed.anchor_features = twice;
    expect_not_made(*state, &changed, NIGH_EINVAL);
    changed = parts;
    changed.anchor_values = none;
    expect_not_made(*state, &changed, NIGH_EINVAL);
    model_parts_free(&parts);
}

/* All weights 0: a model that has collapsed is one still. */
static void test_zeros(void **state) {
    struct nigh__model_parts parts = model_parts_make(&recipes[0]);
    const double zeros[9] = {0};
    nigh_model *model;
    nigh_error error;
    struct nigh__model_parts changed = parts;
    changed.weights = zeros;
    assert_ok(nigh__model_make(*state, &changed, &model, &error), &error);
    for (uint32_t f = 0; f < 9; f++) assert_int_equal(nigh__model_weights(model)[f], 0);
    nigh_model_free(model);
    model_parts_free(&parts);
}

/* ------------------------------------------------------- what is refused -- */

/* Any bit that is not as it was, and any length that is not the whole, is noticed. */
static void test_damage(void **state) {
    for (size_t form = 0; form < FORMS; form++) {
        nigh_model *model = model_make(*state, &recipes[form]);
        nigh_model *none;
        nigh_error error;
        size_t length;
        const uint8_t *bytes = nigh_model_bytes(model, &length);
        uint8_t *copy = malloc(length + 8);
        memcpy(copy, bytes, length);
        memset(copy + length, 0, 8);
        for (size_t i = 0; i < length; i++) {
            copy[i] ^= (uint8_t)(1u << i % 8);
            nigh_status status = nigh_model_parse(*state, copy, length, &none, &error);
            assert_int_equal(status, i < 8 ? NIGH_EFORMAT : i < 12 ? NIGH_EVERSION : NIGH_ECORRUPT);
            assert_null(none);
            copy[i] = bytes[i];
        }
        for (size_t i = 0; i < length; i++)
            assert_int_equal(nigh_model_parse(*state, copy, i, &none, &error), i < 64 ? NIGH_EFORMAT : NIGH_ECORRUPT);
        for (size_t i = 1; i <= 8; i++)
            assert_int_equal(nigh_model_parse(*state, copy, length + i, &none, &error), NIGH_ECORRUPT);
        free(copy);
        nigh_model_free(model);
    }
}

/* A model in the making of someone who knows the checksum. */
struct forgery {
    nigh_context *context;
    uint8_t *bytes;
    const uint8_t *right;
    size_t length;
};

static void forged(struct forgery *f, size_t at, const void *bytes, size_t count, nigh_status wanted) {
    nigh_model *model;
    nigh_error error;
    memcpy(f->bytes + at, bytes, count);
    assert_int_equal(model_parse_forged(f->context, f->bytes, f->length, &model, &error), wanted);
    assert_int_equal(model == NULL, wanted != NIGH_OK);
    nigh_model_free(model);
    memcpy(f->bytes, f->right, f->length);
}

static void forged32(struct forgery *f, size_t at, uint32_t value) { forged(f, at, &value, 4, NIGH_ECORRUPT); }
static void forged64(struct forgery *f, size_t at, uint64_t value) { forged(f, at, &value, 8, NIGH_ECORRUPT); }
static void forged_double(struct forgery *f, size_t at, double value) { forged(f, at, &value, 8, NIGH_ECORRUPT); }

/* Weights say nothing of how many bits there are. */
static bool any_width(const struct forgery *f, uint32_t width) {
    return nigh__load32(f->right + MODEL_FORM) == NIGH__MODEL_WEIGHTS && width > 0 && width <= 1024;
}

static void forge_header(struct forgery *f) {
    for (size_t at = MODEL_FORM; at < MODEL_CHECKSUM; at += 4) {
        if (at == MODEL_METHOD) continue;
        const uint32_t now = nigh__load32(f->right + at);
        const uint32_t values[] = {0,
                                   1,
                                   2,
                                   3,
                                   7,
                                   8,
                                   12,
                                   1024,
                                   1032,
                                   4096,
                                   65537,
                                   INT32_MAX,
                                   UINT32_MAX,
                                   now + 1,
                                   now - 1,
                                   now + 8,
                                   now + (UINT32_C(1) << 31)};
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
            if (values[i] != now && !(at == MODEL_BITS && any_width(f, values[i]))) forged32(f, at, values[i]);
    }
    forged32(f, MODEL_METHOD, NIGH_LEARN_KLSH + 1);
    forged32(f, MODEL_METHOD, UINT32_MAX);
    uint32_t version = 3;
    forged(f, MODEL_VERSION, &version, 4, NIGH_EVERSION);
    version = 2; /* which says nothing that needs it */
    forged(f, MODEL_VERSION, &version, 4, NIGH_ECORRUPT);
}

static void forge_text(struct forgery *f) {
    const char *text = (const char *)f->right + MODEL_HEADER;
    const size_t words = (size_t)(strstr(text, "words") - text) + MODEL_HEADER;
    const size_t none = (size_t)(strstr(text, "=none\nmethod") - text) + MODEL_HEADER + 1;
    const size_t off = (size_t)(strstr(text, "off") - text) + MODEL_HEADER;
    forged(f, words, "wards", 5, NIGH_EVERSION);
    forged(f, none, "nine", 4, NIGH_EVERSION);
    forged(f, off, "on\n", 3, NIGH_ECORRUPT); /* an empty line */
    forged(f, off, "oof", 3, NIGH_EVERSION);
    forged(f, none - 9, "longuage", 8, NIGH_ECORRUPT); /* there is none then, and the order is wrong */
    forged(f, MODEL_HEADER, "", 1, NIGH_ECORRUPT);
    forged(f, MODEL_HEADER, "Documents", 9, NIGH_ECORRUPT);
    forged(f, MODEL_HEADER, "e", 1, NIGH_OK); /* what it was learned with may have any key */
}

static void forge_features(struct forgery *f, const struct nigh__model_layout *layout) {
    const size_t hashes = (size_t)layout->hashes, begins = (size_t)layout->name_begins, names = (size_t)layout->names;
    forged64(f, hashes + 8, nigh__load64(f->right + hashes));
    forged64(f, hashes, UINT64_MAX);
    forged32(f, begins, 1);
    forged32(f, begins + 8, UINT32_MAX);
    forged32(f, begins + 8, 0);
    forged(f, names + 1, "\n", 1, NIGH_ECORRUPT);
    forged(f, names + 1, "\x7f", 1, NIGH_ECORRUPT);
    forged(f, names + 1, "\xff", 1, NIGH_OK); /* what is no UTF-8 is for those who print it */
}

static void forge_anchors(struct forgery *f, const struct nigh__model_layout *layout) {
    const size_t begins = (size_t)layout->anchor_begins, postings = (size_t)layout->postings;
    forged32(f, begins, 1);
    forged32(f, begins + 4, 0);
    forged32(f, begins + 4, UINT32_MAX);
    forged32(f, begins + 20, 0);
    forged32(f, postings, 11);
    forged32(f, postings, UINT32_MAX);
    forged32(f, postings + 8, nigh__load32(f->right + postings));
    forged32(f, postings + 4, 0);
    forged32(f, postings + 4, 65536);
    const double wrong[] = {NAN, INFINITY, -INFINITY, 1e101, -1e101};
    for (size_t i = 0; i < 5; i++) {
        forged_double(f, (size_t)layout->delta, wrong[i]);
        forged_double(f, (size_t)layout->offsets, wrong[i]);
        forged_double(f, f->length - 8, wrong[i]);
    }
    forged_double(f, (size_t)layout->delta, 0);
    forged_double(f, (size_t)layout->delta, 1e-101);
}

static void test_forged(void **state) {
    for (size_t form = 0; form < FORMS; form++) {
        nigh_model *model = model_make(*state, &recipes[form]);
        struct forgery f = {.context = *state};
        f.right = nigh_model_bytes(model, &f.length);
        f.bytes = malloc(f.length);
        memcpy(f.bytes, f.right, f.length);
        const struct nigh__model_layout layout = nigh__model_lay_out(&model->shape);
        forged(&f, 0, "\x89", 1, NIGH_OK);
        forge_header(&f);
        forge_text(&f);
        forge_features(&f, &layout);
        if (form == 2) forge_anchors(&f, &layout);
        free(f.bytes);
        nigh_model_free(model);
    }
}

static void test_files(void **state) {
    char *folder = scratch_new();
    char *path = path_in(folder, "m.model");
    nigh_model *model;
    nigh_error error;
    assert_int_equal(nigh_model_load(*state, path, &model, &error), NIGH_ENOTFOUND);
    file_write_all(path, "", 0);
    assert_int_equal(nigh_model_load(*state, path, &model, &error), NIGH_EFORMAT);
    assert_non_null(strstr(error.file, "m.model"));
    assert_non_null(strstr(error.why, "not a model"));
    assert_null(model);
    assert_int_not_equal(nigh_model_load(*state, folder, &model, &error), NIGH_OK);
    free(path);
    scratch_free(folder);
}

/* ---------------------------------------------------------------- memory -- */

static void test_memory(void **state) {
    (void)state;
    for (size_t form = 0; form < FORMS; form++) {
        struct nigh__model_parts parts = model_parts_make(&recipes[form]);
        nigh_status status = NIGH_ENOMEM, parsed = NIGH_ENOMEM;
        for (uint64_t n = 0; status != NIGH_OK || parsed != NIGH_OK; n++) {
            struct faulty_memory memory = {.fail_at = UINT64_MAX};
            nigh_allocator allocator = faulty_memory_allocator(&memory);
            nigh_context *context = context_with(NULL, &allocator, NULL);
            nigh_model *model, *back = NULL, *whole;
            nigh_error error;
            size_t length;
            assert_ok(nigh__model_make(context, &parts, &whole, &error), &error);
            memory.fail_at = memory.calls + n;
            status = nigh__model_make(context, &parts, &model, &error);
            memory.fail_at = memory.calls + n;
            const void *bytes = nigh_model_bytes(whole, &length);
            parsed = nigh_model_parse(context, bytes, length, &back, &error);
            assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
            assert_true(parsed == NIGH_OK || parsed == NIGH_ENOMEM);
            assert_int_equal(model == NULL, status != NIGH_OK);
            assert_int_equal(back == NULL, parsed != NIGH_OK);
            nigh_model_free(model);
            nigh_model_free(back);
            nigh_model_free(whole);
            nigh_context_free(context);
            assert_int_equal(memory.live, 0);
            assert_true(n < 40);
        }
        model_parts_free(&parts);
    }
}

/* ----------------------------------------------------------- what it uses -- */

static void test_exponential(void **state) {
    (void)state;
    assert_true(nigh__exp(0) == 1);
    assert_true(nigh__exp(-701) == 0);
    assert_true(nigh__exp(-1e300) == 0);
    assert_true(nigh__exp(NAN) == 0);
    assert_true(nigh__exp(1e9) == nigh__exp(700));
    for (int i = -70000; i <= 70000; i++) {
        const double x = i / 100.0 + i * 1e-7;
        if (x < -700 || x > 700) continue;
        assert_true(fabs(nigh__exp(x) / exp(x) - 1) < 1e-13);
    }
    double x = 1e-12;
    for (int i = 0; i < 290; i++) { /* to nearly 1 */
        assert_true(fabs(nigh__exp(-x) - exp(-x)) < 4e-16);
        x *= 1.1;
    }
}

static void test_key_lines(void **state) {
    char *merged;
    nigh_error error;
    assert_true(nigh__key_lines_sound("", NULL));
    assert_true(nigh__key_lines_sound("a=1\nb=2\n", "b=2\n"));
    assert_false(nigh__key_lines_sound("a=1\nb=2\n", "b=3\n"));
    assert_false(nigh__key_lines_sound("b=1\na=2\n", NULL));
    assert_false(nigh__key_lines_sound("a=1\na=2\n", NULL));
    assert_false(nigh__key_lines_sound("a=1", NULL));
    assert_false(nigh__key_lines_sound("=1\n", NULL));
    assert_ok(nigh__key_lines_merge(*state, "c=3\na=1\n", "b=2\n", 100, "it", &merged, &error), &error);
    assert_string_equal(merged, "a=1\nb=2\nc=3\n");
    nigh__free(*state, merged);
    assert_int_equal(nigh__key_lines_merge(*state, "a=1\n", "a=2\n", 100, "it", &merged, &error), NIGH_EINVAL);
    assert_string_equal(error.why, "it has a key twice");
    assert_int_equal(nigh__key_lines_merge(*state, "a=1\n", "b=2\n", 7, "it", &merged, &error), NIGH_EINVAL);
    assert_string_equal(nigh__key_lines_find("aa=1\na=2\n", "a="), "2\n");
    assert_null(nigh__key_lines_find("aa=1\n", "a="));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_comes_back),    cmocka_unit_test(test_layout),    cmocka_unit_test(test_quantised),
        cmocka_unit_test(test_described),        cmocka_unit_test(test_names),     cmocka_unit_test(test_not_made),
        cmocka_unit_test(test_anchors_not_made), cmocka_unit_test(test_zeros),     cmocka_unit_test(test_damage),
        cmocka_unit_test(test_forged),           cmocka_unit_test(test_files),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_exponential),      cmocka_unit_test(test_key_lines),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
