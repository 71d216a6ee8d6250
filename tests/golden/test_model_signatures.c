/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Models of fixed numbers, their bytes pinned by their names, and signatures of fixed texts by
 * them, pinned to the bit, with the weights of the bits pinned by a hash.  Where one changes,
 * collections signed before no longer fit.  `test_model_signatures --make` prints the table `expected`.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "support/model_support.h"
#include "support/support.h"
#include "text/language.h"

static const char *const texts[] = {
    "The quick brown fox jumps over the lazy dog.",
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness.",
    "a dog a dog a dog and a wise fox",
};

static const char *const terms[] = {"quick", "brown", "fox",  "jump",  "lazi",    "dog",
                                    "time",  "age",   "best", "worst", "foolish", "wisdom"};

static const struct model_recipe recipes[] = {
    {.form = NIGH__MODEL_WEIGHTS, .width_bits = 32, .features = 12},
    {.form = NIGH__MODEL_WEIGHTS, .width_bits = 136, .features = 12, .variation = 1},
    {.form = NIGH__MODEL_COEFFICIENTS, .width_bits = 64, .features = 12},
    {.form = NIGH__MODEL_COEFFICIENTS, .width_bits = 40, .features = 12, .variation = 1},
    {.form = NIGH__MODEL_ANCHORS, .width_bits = 64, .features = 12, .anchors = 8},
    {.form = NIGH__MODEL_WEIGHTS, .width_bits = 32, .features = 12, .counts = true},
    {.form = NIGH__MODEL_WEIGHTS,
     .width_bits = 32,
     .features = 12}, /* of words of three characters or more: version 2 */
};

#define TEXTS (sizeof texts / sizeof texts[0])
#define MODELS (sizeof recipes / sizeof recipes[0])
#define MAX_BYTES 17

struct golden {
    uint64_t name; /* of the model */
    char bits[TEXTS][2 * MAX_BYTES + 1];
    uint64_t weights[TEXTS]; /* hashed */
};

static const struct golden expected[MODELS] = {
    {UINT64_C(0xecd9c58b80d453b4),
     {"dcba4b1d", "96b75aa8", "dcbf6f12"},
     {UINT64_C(0x6d89254573b3f59f), UINT64_C(0x1f76cfab7a0f7f1e), UINT64_C(0x6e85e7b8d80e2cfa)}},
    {UINT64_C(0x77c7f66e7eed145f),
     {"9b4c95701df9b3aee460febdf3c9b49a9c", "54b398a81f502cf13b47f6eedbd4146995", "234090edbeb991cd9a8af03031425dc47b"},
     {UINT64_C(0xf1d033bc255c2c13), UINT64_C(0x72f04fc17e1c49c3), UINT64_C(0x66c1d9d26c19921f)}},
    {UINT64_C(0xe1c3f12d15b1d27b),
     {"a16383f6dcf8e061", "3b62a473973d48ba", "ad668230082324e3"},
     {UINT64_C(0x5a9c2ba370a0037e), UINT64_C(0x528bd7ef06ae5817), UINT64_C(0x8e59c2cae9e3d97b)}},
    {UINT64_C(0x020891f62f577dff),
     {"645460dd37", "5d5bdbcce1", "34106bdc65"},
     {UINT64_C(0xc9530bf2c72ba353), UINT64_C(0xa28762b89a63fbe3), UINT64_C(0x1655a7f0294321b3)}},
    {UINT64_C(0x03b91092779fed6a),
     {"67b3cafff57c7491", "65f3cafff57c7411", "61b3cbfff57c7491"},
     {UINT64_C(0xa49c3f910c72eeaa), UINT64_C(0xfc807899145d183c), UINT64_C(0xb2c95ef2ecef42b8)}},
    {UINT64_C(0xb5b8e1cf939dc6ba),
     {"dcba4b1d", "86b75aa8", "dcbf6f12"},
     {UINT64_C(0x6d89254573b3f59f), UINT64_C(0x54830f51abcc5a0c), UINT64_C(0x9d408cdba1aedaa4)}},
    {UINT64_C(0x78cb9715a4733ff3),
     {"dcba4b1d", "96b75aa8", "dcbf6f12"},
     {UINT64_C(0x6d89254573b3f59f), UINT64_C(0x1f76cfab7a0f7f1e), UINT64_C(0x6e85e7b8d80e2cfa)}},
};

static struct golden sign_all(nigh_context *context, size_t which) {
    struct model_recipe recipe = recipes[which];
    recipe.names = terms;
    recipe.plan.analysis =
        (struct nigh__analysis){.language = nigh__language_find("en"), .stemming = true, .stop_words = true, .seed = 7};
    if (which == MODELS - 1) recipe.plan.analysis.min_word_length = 3;
    nigh_model *model = model_make(context, &recipe);
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    nigh_signer *signer;
    nigh_error error;
    struct golden golden = {.name = nigh__model_name(model)};
    options.scheme = NIGH_SCHEME_LEARNED;
    options.model = model;
    assert_ok(nigh_signer_new(context, &options, &signer, &error), &error);
    for (size_t i = 0; i < TEXTS; i++) {
        uint8_t signature[MAX_BYTES], weights[8 * MAX_BYTES];
        assert_ok(nigh_signer_sign(signer, texts[i], strlen(texts[i]), signature, weights, &error), &error);
        for (size_t byte = 0; byte < recipe.width_bits / 8; byte++)
            (void)snprintf(golden.bits[i] + 2 * byte, 3, "%02x", signature[byte]);
        golden.weights[i] = nigh__hash(weights, recipe.width_bits);
    }
    nigh_signer_free(signer);
    nigh_model_free(model);
    return golden;
}

/* With every kernel that this CPU has. */
static void test_pinned(void **state) {
    (void)state;
    const char *kernel;
    int usable;
    for (size_t k = 0; (kernel = nigh_kernel_name(k, &usable)) != NULL; k++) {
        if (!usable) continue;
        nigh_context *context = context_with(NULL, NULL, kernel);
        for (size_t which = 0; which < MODELS; which++) {
            const struct golden golden = sign_all(context, which);
            assert_int_equal(golden.name, expected[which].name);
            for (size_t i = 0; i < TEXTS; i++) {
                assert_string_equal(golden.bits[i], expected[which].bits[i]);
                assert_int_equal(golden.weights[i], expected[which].weights[i]);
            }
        }
        nigh_context_free(context);
    }
}

static void print_table(void) {
    nigh_context *context = context_new();
    for (size_t which = 0; which < MODELS; which++) {
        const struct golden golden = sign_all(context, which);
        printf("    {UINT64_C(0x%016" PRIx64 "), {", golden.name);
        for (size_t i = 0; i < TEXTS; i++) printf("%s\"%s\"", i == 0 ? "" : ", ", golden.bits[i]);
        printf("}, {");
        for (size_t i = 0; i < TEXTS; i++)
            printf("%sUINT64_C(0x%016" PRIx64 ")", i == 0 ? "" : ", ", golden.weights[i]);
        printf("}},\n");
    }
    nigh_context_free(context);
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--make") == 0) {
        print_table();
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_pinned)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
