/* SPDX-License-Identifier: Apache-2.0 */
/* Signing by models: sums against the definition, signers, and collections that keep their model. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/logarithm.h"
#include "base/rng.h"
#include "signature/model_parts.h"
#include "signature/project.h"
#include "signature/simhash.h"
#include "support/model_support.h"
#include "support/support.h"
#include "support/text_support.h"
#include "text/language.h"

/* ------------------------------------------------- against the definition -- */

#define MAX 3000u

struct document {
    uint64_t hashes[MAX];
    uint32_t counts[MAX];
    uint32_t numbers[MAX];
    struct nigh__features features;
};

/* `count` of the names "w0", "w1", ..., of which the model knows the first; the rare one is there very often. */
static void draw_document(struct document *out, uint32_t count, uint32_t names, uint64_t seed, bool numbered) {
    struct nigh__rng rng = {.state = seed};
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        char name[16];
        at += 1 + (uint32_t)(nigh__rng_next(&rng) % 3);
        (void)snprintf(name, sizeof name, "w%u", at % names);
        out->hashes[i] = nigh__hash(name, strlen(name));
        out->numbers[i] = at % names + 1;
        out->counts[i] = 1 + (uint32_t)(nigh__rng_next(&rng) % 9 == 0 ? nigh__rng_next(&rng) % 100000 : 0);
        if (nigh__rng_next(&rng) % 50 == 0) out->counts[i] = UINT32_MAX;
    }
    out->features = (struct nigh__features){
        .hashes = out->hashes, .counts = out->counts, .numbers = numbered ? out->numbers : NULL, .count = count};
}

static uint32_t t_of(const nigh_model *model, uint32_t count) {
    if (nigh__model_weighting(model) == NIGH_WEIGHTS_TF) return 64 * (count < 511 ? count : 511);
    return (uint32_t)((1.0 + nigh__ln(count)) * 64 + 0.5);
}

/* Sums as the header of model.h has them; of anchors with the exponential of the C library. */
static void define_sums(const nigh_model *model, const struct nigh__features *features, double *sums, bool *any) {
    const uint32_t width = nigh__model_width(model);
    const enum nigh__model_form form = nigh__model_form(model);
    double *x = calloc(model->shape.features, sizeof *x);
    double square = 0;
    *any = false;
    for (uint32_t j = 0; j < width; j++) sums[j] = form == NIGH__MODEL_ANCHORS ? model->offsets[j] : 0;
    for (size_t i = 0; i < features->count; i++) {
        const uint32_t f = nigh__model_find(model, features->hashes[i]);
        if (f == UINT32_MAX) continue;
        const double t = t_of(model, features->counts[i]);
        *any = true;
        x[f] += t;
        square += t * t;
        for (uint32_t j = 0; j < width && form != NIGH__MODEL_ANCHORS; j++) {
            const bool one = (nigh__simhash_block(features->hashes[i], j / 64) >> j % 64 & 1) != 0;
            sums[j] += t * (form == NIGH__MODEL_COEFFICIENTS ? nigh__model_coefficients_of(model, f)[j]
                            : one                            ? nigh__model_weights(model)[f]
                                                             : -nigh__model_weights(model)[f]);
        }
    }
    for (uint32_t a = 0; a < model->shape.anchors; a++) {
        double dot = 0, own = 0;
        for (uint32_t i = model->anchor_begins[a]; i < model->anchor_begins[a + 1]; i++) {
            dot += x[model->postings[i].other] * model->postings[i].value;
            own += (double)model->postings[i].value * model->postings[i].value;
        }
        const double likeness = exp(-(2 - 2 * dot / sqrt(square) / sqrt(own)) / model->delta_squared);
        for (uint32_t j = 0; j < width; j++) sums[j] += likeness * model->omega[(size_t)a * width + j];
    }
    free(x);
}

/* 128 times a sum over the root mean square, rounded, at most 255; within 1, for what is right on the edge. */
static void expect_weights(const double *sums, uint32_t width, const uint8_t *weights) {
    double square = 0;
    for (uint32_t j = 0; j < width; j++) square += sums[j] * sums[j] / width;
    for (uint32_t j = 0; j < width; j++) {
        const double wanted = square == 0 ? 0 : fmin(255, floor(128 * fabs(sums[j]) / sqrt(square) + 0.5));
        assert_true(fabs(wanted - weights[j]) <= 1);
    }
}

static void expect_document(struct nigh__model_projector *projector, const nigh_model *model,
                            const struct nigh__features *features) {
    double sums[1024] = {0};
    uint8_t bits[128], weights[1024];
    bool any = false;
    nigh_error error;
    define_sums(model, features, sums, &any);
    nigh_status status = nigh__model_project(projector, features, &error);
    if (!any) {
        assert_int_equal(status, NIGH_ENOTFOUND);
        return;
    }
    assert_ok(status, &error);
    nigh__model_bits(projector, bits);
    nigh__model_bit_weights(projector, weights);
    for (uint32_t j = 0; j < nigh__model_width(model); j++) {
        if (fabs(sums[j]) < 1e-9 && sums[j] != 0) continue; /* of anchors: too near to tell */
        assert_int_equal(bits[j / 8] >> j % 8 & 1, sums[j] > 0);
    }
    for (size_t j = nigh__model_width(model); j % 8 != 0; j++) assert_int_equal(bits[j / 8] >> j % 8 & 1, 0);
    expect_weights(sums, nigh__model_width(model), weights);
}

static void run_model(nigh_context *context, const struct model_recipe *recipe) {
    static const uint32_t counts[] = {1, 2, 7, 15, 16, 17, 64, 65, 300, 1100, MAX};
    static struct document document;
    nigh_model *model = model_make(context, recipe);
    struct nigh__model_projector *projector;
    nigh_error error;
    assert_ok(nigh__model_projector_new(context, model, &projector, &error), &error);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        for (int numbered = 0; numbered < 2; numbered++) {
            draw_document(&document, counts[i], recipe->features * 2, i + 1, numbered);
            document.features.generation = (uint32_t)i / 3;
            expect_document(projector, model, &document.features);
        }
    }
    nigh__model_projector_free(projector);
    nigh_model_free(model);
}

static void test_sums(void **state) {
    (void)state;
    static const uint32_t widths[] = {8, 16, 24, 32, 40, 64, 72, 128, 200, 1024, 1, 9, 63, 1023};
    const char *kernel;
    int usable;
    for (size_t k = 0; (kernel = nigh_kernel_name(k, &usable)) != NULL; k++) {
        if (!usable) continue;
        nigh_context *context = context_with(NULL, NULL, kernel);
        for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
            for (uint32_t form = 0; form < 3; form++) {
                struct model_recipe recipe = {.form = form, .width_bits = widths[w], .features = 700};
                if (form == NIGH__MODEL_ANCHORS) recipe.anchors = 30;
                run_model(context, &recipe);
                recipe.counts = true;
                run_model(context, &recipe);
            }
        nigh_context_free(context);
    }
}

/* The largest numbers there can be, all of one sign, and more of them than 32 bits hold. */
static void test_largest(void **state) {
    static struct document document;
    for (uint32_t form = 0; form < 2; form++) {
        const struct model_recipe recipe = {.form = form, .width_bits = 32, .features = 2000};
        nigh_model *model = model_make(*state, &recipe);
        size_t length;
        const uint8_t *bytes = nigh_model_bytes(model, &length);
        uint8_t *copy = malloc(length);
        memcpy(copy, bytes, length);
        const struct nigh__model_layout layout = nigh__model_lay_out(&model->shape);
        for (size_t i = (size_t)layout.values; i < length; i += 2) memcpy(copy + i, "\x00\x80", 2); /* -32,768 */
        nigh_model *heavy;
        struct nigh__model_projector *projector;
        nigh_error error;
        assert_ok(model_parse_forged(*state, copy, length, &heavy, &error), &error);
        assert_ok(nigh__model_projector_new(*state, heavy, &projector, &error), &error);
        for (uint32_t i = 0; i < 2000; i++) {
            document.hashes[i] = heavy->hashes[i];
            document.counts[i] = UINT32_MAX;
        }
        document.features =
            (struct nigh__features){.hashes = document.hashes, .counts = document.counts, .count = 2000};
        expect_document(projector, heavy, &document.features);
        nigh__model_projector_free(projector);
        nigh_model_free(heavy);
        nigh_model_free(model);
        free(copy);
    }
}

/* What numbers meant is void with another generation. */
static void test_generations(void **state) {
    const struct model_recipe recipe = {.form = NIGH__MODEL_COEFFICIENTS, .width_bits = 64, .features = 20};
    nigh_model *model = model_make(*state, &recipe);
    struct nigh__model_projector *projector;
    nigh_error error;
    assert_ok(nigh__model_projector_new(*state, model, &projector, &error), &error);
    const uint32_t counts[] = {1}, numbers[] = {5};
    uint64_t hash = nigh__hash("w3", 2);
    struct nigh__features features = {.hashes = &hash, .counts = counts, .numbers = numbers, .count = 1};
    expect_document(projector, model, &features);
    hash = nigh__hash("w4", 2);
    features.generation = 1;
    expect_document(projector, model, &features);
    hash = 1;
    features.generation = 2;
    assert_int_equal(nigh__model_project(projector, &features, &error), NIGH_ENOTFOUND);
    features.count = 0;
    assert_int_equal(nigh__model_project(projector, &features, &error), NIGH_ENOTFOUND);
    nigh__model_projector_free(projector);
    nigh_model_free(model);
}

/* ---------------------------------------------------------------- signers -- */

static const char *const terms[] = {"quick", "brown", "fox", "jump", "lazi", "dog", "time", "age", "best", "worst"};

static nigh_model *english(const nigh_context *context, enum nigh__model_form form) {
    struct model_recipe recipe = {.form = form, .width_bits = 32, .features = 10, .names = terms};
    recipe.plan.analysis =
        (struct nigh__analysis){.language = nigh__language_find("en"), .stemming = true, .stop_words = true, .seed = 5};
    if (form == NIGH__MODEL_ANCHORS) recipe.anchors = 6;
    return model_make(context, &recipe);
}

static nigh_signer_options learned(const nigh_model *model) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    options.scheme = NIGH_SCHEME_LEARNED;
    options.model = model;
    return options;
}

static void sign(nigh_context *context, const nigh_signer_options *options, const char *text, uint8_t *signature,
                 uint8_t *weights) {
    nigh_signer *signer;
    nigh_error error;
    assert_ok(nigh_signer_new(context, options, &signer, &error), &error);
    assert_ok(nigh_signer_sign(signer, text, strlen(text), signature, weights, &error), &error);
    nigh_signer_free(signer);
}

static const char fox[] = "The quick brown foxes were jumping over a lazy dog, unseen before.";

/* Only words that the model knows count, each by its stem. */
static void test_signer(void **state) {
    for (uint32_t form = 0; form < 3; form++) {
        nigh_model *model = english(*state, form);
        nigh_signer_options options = learned(model);
        uint8_t a[4], b[4], weights[32], other_weights[32];
        sign(*state, &options, fox, a, weights);
        sign(*state, &options, "quick brown fox jumps lazy dogs", b, other_weights);
        assert_memory_equal(a, b, 4);
        assert_memory_equal(weights, other_weights, 32);
        sign(*state, &options, "the worst of times", b, NULL);
        assert_memory_not_equal(a, b, 4);
        nigh_signer *signer;
        nigh_error error;
        assert_ok(nigh_signer_new(*state, &options, &signer, &error), &error);
        assert_int_equal(nigh_signer_width(signer), 32);
        assert_int_equal(nigh_signer_sign(signer, "nothing known", 13, a, NULL, &error), NIGH_ENOTFOUND);
        assert_non_null(strstr(error.why, "that the model knows"));
        nigh_signer_free(signer);
        nigh_model_free(model);
    }
}

/* A scheme as a collection has it leads back to the same options. */
static void test_scheme(void **state) {
    nigh_model *model = english(*state, NIGH__MODEL_WEIGHTS);
    nigh_signer_options options = learned(model), read;
    nigh_signer_options_init(&read);
    nigh_signer *signer, *again;
    nigh_error error;
    char line[64];
    options.split = NIGH_SPLIT_HARD;
    options.max_terms = 9;
    assert_ok(nigh_signer_new(*state, &options, &signer, &error), &error);
    (void)snprintf(line, sizeof line, "model=%016llx\n", (unsigned long long)nigh__model_name(model));
    assert_non_null(strstr(nigh_signer_scheme(signer), line));
    assert_non_null(strstr(nigh_signer_scheme(signer), "kind=learned\n"));
    assert_non_null(strstr(nigh_signer_scheme(signer), "language=en\n"));
    assert_non_null(strstr(nigh_signer_scheme(signer), "seed=5\n"));
    assert_ok(nigh_signer_options_parse(nigh_signer_scheme(signer), &read, &error), &error);
    assert_int_equal(read.scheme, NIGH_SCHEME_LEARNED);
    assert_null(read.model);
    assert_int_equal(nigh_signer_new(*state, &read, &again, &error), NIGH_EINVAL);
    read.model = model;
    assert_false(nigh_signer_needs_vocabulary(&read));
    assert_ok(nigh_signer_new(*state, &read, &again, &error), &error);
    assert_string_equal(nigh_signer_scheme(signer), nigh_signer_scheme(again));
    nigh_signer_free(again);
    nigh_signer_free(signer);
    nigh_model_free(model);
}

static void refuse(nigh_context *context, const nigh_signer_options *options, nigh_status wanted, const char *why,
                   const char *and) {
    nigh_signer *signer;
    nigh_error error;
    assert_int_equal(nigh_signer_new(context, options, &signer, &error), wanted);
    assert_null(signer);
    if (strstr(error.why, why) == NULL || strstr(error.why, and) == NULL) fail_msg("%s", error.why);
}

/* What is asked for and what the model was learned with: the error says both. */
static void test_refused(void **state) {
    nigh_model *model = english(*state, NIGH__MODEL_COEFFICIENTS);
    const nigh_signer_options right = learned(model);
    nigh_signer_options options = right;
    options.model = NULL;
    refuse(*state, &options, NIGH_EINVAL, "needs a model", "");
    options = right;
    options.width_bits = 64;
    refuse(*state, &options, NIGH_EMISMATCH, "has 32 bits", "64");
    options = right;
    options.language = "de";
    refuse(*state, &options, NIGH_EMISMATCH, "language=en", "language=de");
    options.language = "none";
    refuse(*state, &options, NIGH_EMISMATCH, "language=en", "language=none");
    options = right;
    options.features = NIGH_FEATURES_NGRAMS;
    refuse(*state, &options, NIGH_EMISMATCH, "features=words", "features=ngrams:3");
    options = right;
    options.stemming = 0;
    refuse(*state, &options, NIGH_EMISMATCH, "stemming=on", "stemming=off");
    options = right;
    options.stop_words = 0;
    refuse(*state, &options, NIGH_EMISMATCH, "stop-words=out", "stop-words=in");
    options = right;
    options.seed = 6;
    refuse(*state, &options, NIGH_EMISMATCH, "seed=5", "seed=6");
    options = right;
    options.weights = NIGH_WEIGHTS_TF;
    refuse(*state, &options, NIGH_EINVAL, "weights", "");
    options = right;
    options.density = 3;
    refuse(*state, &options, NIGH_EINVAL, "density", "");
    options = right;
    options.width_bits = 32;
    options.language = "english";
    options.features = NIGH_FEATURES_WORDS;
    options.stemming = options.stop_words = 1;
    options.seed = 5;
    options.weights = NIGH_WEIGHTS_LOG;
    uint8_t signature[4];
    sign(*state, &options, fox, signature, NULL);
    nigh_model_free(model);
}

/* A document in a collection, found again by whoever opens it and knows nothing else. */
static void test_collection(void **state) {
    nigh_context *context = *state;
    char *folder = scratch_new();
    char *path = path_in(folder, "c.nigh");
    nigh_model *model = english(context, NIGH__MODEL_COEFFICIENTS), *other = english(context, NIGH__MODEL_WEIGHTS);
    nigh_signer_options options = learned(model);
    nigh_signer *signer;
    nigh_writer_options writing;
    nigh_writer_options_init(&writing);
    nigh_writer *writer;
    nigh_error error;
    uint8_t signature[4], again[4], weights[32];
    assert_ok(nigh_signer_new(context, &options, &signer, &error), &error);
    writing.width_bits = 32;
    writing.scheme = nigh_signer_scheme(signer);
    assert_int_equal(nigh_writer_open(context, path, &writing, &writer, &error), NIGH_EMISMATCH);
    assert_non_null(strstr(error.why, "another model"));
    writing.model = nigh_model_attachment(other);
    assert_int_equal(nigh_writer_open(context, path, &writing, &writer, &error), NIGH_EMISMATCH);
    writing.model = nigh_model_attachment(model);
    assert_ok(nigh_writer_open(context, path, &writing, &writer, &error), &error);
    assert_ok(nigh_signer_sign(signer, fox, strlen(fox), signature, weights, &error), &error);
    const nigh_document document = {.size = sizeof(nigh_document), .signature = signature, .weights = weights};
    assert_ok(nigh_writer_add(writer, &document, &error), &error);
    assert_ok(nigh_writer_commit(writer, NULL, &error), &error);
    nigh_writer_close(writer);
    nigh_signer_free(signer);

    nigh_collection *collection;
    nigh_collection_info info = {.size = sizeof info};
    nigh_model *kept;
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    size_t length;
    (void)nigh_model_bytes(model, &length);
    assert_int_equal(info.model_bytes, length);
    assert_int_equal(info.vocabulary_bytes, 0);
    assert_ok(nigh_collection_model(collection, &kept, &error), &error);
    assert_int_equal(nigh__model_name(kept), nigh__model_name(model));
    assert_ok(nigh_signer_options_parse(nigh_collection_scheme(collection), &options, &error), &error);
    options.model = kept;
    sign(context, &options, fox, again, NULL);
    assert_memory_equal(signature, again, 4);
    options.model = other;
    assert_ok(nigh_collection_check(context, path, NULL, NULL, &error), &error);
    nigh_collection_close(collection);
    nigh_model_free(kept);
    nigh_model_free(model);
    nigh_model_free(other);
    free(path);
    scratch_free(folder);
}

/* By any number of threads, with a text that has nothing to sign among them. */
static void test_signing(void **state) {
    nigh_context *context = *state;
    nigh_model *model = english(context, NIGH__MODEL_ANCHORS);
    const nigh_signer_options options = learned(model);
    nigh_signer *signer;
    nigh_error error;
    static const char lines[] = "the quick fox\nnothing\nworst of times\nthe age of the dog\n";
    assert_ok(nigh_signer_new(context, &options, &signer, &error), &error);
    for (uint32_t threads = 1; threads < 4; threads++) {
        struct text_input input;
        nigh_signing *signing;
        nigh_signing_options how;
        nigh_signing_options_init(&how);
        nigh_signed row = {.size = sizeof row};
        how.threads = threads;
        assert_ok(text_input_open(context, lines, NULL, &input, &error), &error);
        assert_ok(nigh_signing_open(signer, input.reader, &how, &signing, &error), &error);
        uint32_t rows = 0;
        static const char *const texts[] = {"the quick fox", "worst of times", "the age of the dog"};
        while (nigh_signing_next(signing, &row, &error) == NIGH_OK) {
            uint8_t alone[4];
            if (rows == 3) abort();
            sign(context, &options, texts[rows++], alone, NULL);
            assert_memory_equal(row.document->signature, alone, 4);
        }
        assert_int_equal(rows, 3);
        nigh_signing_close(signing);
        text_input_close(&input);
    }
    nigh_signer_free(signer);
    nigh_model_free(model);
}

static void test_memory(void **state) {
    (void)state;
    for (uint32_t form = 0; form < 3; form++) {
        nigh_status status = NIGH_ENOMEM;
        for (uint64_t n = 0; status != NIGH_OK; n++) {
            struct faulty_memory memory = {.fail_at = UINT64_MAX};
            nigh_allocator allocator = faulty_memory_allocator(&memory);
            nigh_context *context = context_with(NULL, &allocator, NULL);
            nigh_model *model = english(context, form);
            nigh_signer_options options = learned(model);
            nigh_signer *signer;
            nigh_error error;
            uint8_t signature[4];
            memory.fail_at = memory.calls + n;
            status = nigh_signer_new(context, &options, &signer, &error);
            if (status == NIGH_OK) status = nigh_signer_sign(signer, fox, strlen(fox), signature, NULL, &error);
            assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
            nigh_signer_free(signer);
            nigh_model_free(model);
            nigh_context_free(context);
            assert_int_equal(memory.live, 0);
            assert_true(n < 100);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums),       cmocka_unit_test(test_largest), cmocka_unit_test(test_generations),
        cmocka_unit_test(test_signer),     cmocka_unit_test(test_scheme),  cmocka_unit_test(test_refused),
        cmocka_unit_test(test_collection), cmocka_unit_test(test_signing), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
