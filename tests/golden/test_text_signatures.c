/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures of fixed texts, pinned to the bit: analysis, features, weights and
 * projection together.  Where one changes, collections signed before no longer
 * fit, so a change here is a new scheme version (signature/signer_scheme.c).
 * `test_text_signatures --make` prints the table `expected`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"
#include "support/text_support.h"

static const char *const texts[] = {
    "The quick brown fox jumps over the lazy dog.",
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness.",
    "Naïve cafés — don’t ﬁnd ™, e\xcc\x81té, ΑΘΗΝΑ 2½",
    "全文検索とは、文書を探すこと。",
    "ภาษาไทย and 한국어",
    "broken \xff\xfe bytes \xc3 in the middle\xe2\x82",
};

#define BASE .size = sizeof(nigh_signer_options), .stemming = -1, .stop_words = -1

static const nigh_signer_options schemes[] = {
    {BASE, .scheme = NIGH_SCHEME_SIMHASH},
    {BASE, .scheme = NIGH_SCHEME_SIMHASH, .width_bits = 128, .features = NIGH_FEATURES_NGRAMS, .seed = 7},
    {BASE, .scheme = NIGH_SCHEME_SIMHASH, .features = NIGH_FEATURES_CHARS, .weights = NIGH_WEIGHTS_TF},
    {BASE, .scheme = NIGH_SCHEME_SIMHASH, .language = "de", .weights = NIGH_WEIGHTS_TFIDF},
    {BASE, .scheme = NIGH_SCHEME_TOPSIG, .width_bits = 256},
    {BASE, .scheme = NIGH_SCHEME_TOPSIG, .width_bits = 128, .density = 2, .weights = NIGH_WEIGHTS_LOG},
    {BASE, .scheme = NIGH_SCHEME_MINHASH, .width_bits = 128},
    {BASE, .scheme = NIGH_SCHEME_SIMHASH, .min_word_length = 4, .no_numbers = 1},
};

#define TEXTS (sizeof texts / sizeof texts[0])
#define SCHEMES (sizeof schemes / sizeof schemes[0])
#define MAX_BYTES 32

static const char *const expected[SCHEMES][TEXTS] = {
    {"e3b258a082c62e80", "d0b0c257875484a5", "16a2387619a1030b", "8bca06ac25198447", "140080b804861813",
     "35716828ea2fed41"},
    {"019a8dbf3302a7b28206809e3a993df9", "004a1ed14e2415fd4b006b240414aeb3", "0eba0830a00b0163a1e6262a41aee24e",
     "b572b46e8728f126c935d754b5df6e10", "897b571bb82c98cceb143dc1942d4c15", "c6610ec128537cb29cafdc7acfff4d4d"},
    {"61ce18fb5918230f", "f7892a70b793e4a6", "641e20c2008c8690", "168bb281f330a416", "4c9d6146e5f8d860",
     "7380ac80a06c65f7"},
    {"e3925a8892860c86", "f1a3eb2e3bc49287", "17e0287400a10363", "8bca06ac25198447", "1d88a2bccc861833",
     "bde04303e8a3a34b"},
    {"001082ec20004804000800023800088000800010408004808000908000000090",
     "8006420800001002080210400000944000004200002082008120002005030405",
     "8140020000000081003800002080221220008012ca0012300310000901080000",
     "1040022060000004400008a200458461000814200530c0080000048402022212",
     "3080920000411005049a4040044008004c040440120002610201100408006008",
     "40020a0000000080084000000000200000000048008000000800140000000003"},
    {"d2a64d28b164441600d182c81aeb0cb0", "bb87db56f65891c0669f4a1c0d58100a", "10a5690f25476937a7464a5c0a121124",
     "5160cf2270ca92e0b2d0ab0aa439f02d", "c3302d941161a2663258aeb407678265", "1a482020e66a98259c8ac804121c0817"},
    {"3cb2d3933c07390c9cee72a8cf9b0555", "74cadee7363df7e80c713bcb12b3f6ed", "4a3162275cec676cbc705c259cefe085",
     "e0a6542d717c728c307023925e0c408d", "8e8b288245f4d98b4e2b9f8c4b478c21", "08fe9687808bb7456fd55c9b95c1b31e"},
    {"62f0702882462e2a", "74908b4e55c480e5", "b630087408ca0304", "8bca06ac25198447", "140080b804861813",
     "35716828ea2fed41"},
};

/* Words of the texts and others, for the schemes that weigh by a vocabulary. */
static nigh_vocabulary *count_words(nigh_context *context, const nigh_signer_options *options) {
    static const char corpus[] = "the quick fox\nthe best of times\nwisdom of the age\nein Fuchs\n한국어 cafés\n";
    nigh_vocabulary *vocabulary;
    struct text_input input;
    nigh_error error;
    assert_ok(text_input_open(context, corpus, NULL, &input, &error), &error);
    assert_ok(nigh_vocabulary_count(context, options, input.reader, NULL, &vocabulary, &error), &error);
    text_input_close(&input);
    return vocabulary;
}

static void sign_all(nigh_context *context, size_t scheme, char hex[TEXTS][2 * MAX_BYTES + 1]) {
    nigh_signer_options options = schemes[scheme];
    nigh_vocabulary *vocabulary = NULL;
    nigh_signer *signer;
    nigh_error error;
    if (nigh_signer_needs_vocabulary(&options)) vocabulary = count_words(context, &options);
    options.vocabulary = vocabulary;
    assert_ok(nigh_signer_new(context, &options, &signer, &error), &error);
    for (size_t i = 0; i < TEXTS; i++) {
        uint8_t signature[MAX_BYTES];
        assert_ok(nigh_signer_sign(signer, texts[i], strlen(texts[i]), signature, NULL, &error), &error);
        for (size_t byte = 0; byte < nigh_signer_width(signer) / 8; byte++)
            (void)snprintf(hex[i] + 2 * byte, 3, "%02x", signature[byte]);
    }
    nigh_signer_free(signer);
    nigh_vocabulary_free(vocabulary);
}

/* With every kernel that this CPU has. */
static void test_pinned(void **state) {
    (void)state;
    const char *kernel;
    int usable;
    for (size_t k = 0; (kernel = nigh_kernel_name(k, &usable)) != NULL; k++) {
        if (!usable) continue;
        nigh_context *context = context_with(NULL, NULL, kernel);
        for (size_t scheme = 0; scheme < SCHEMES; scheme++) {
            char hex[TEXTS][2 * MAX_BYTES + 1];
            sign_all(context, scheme, hex);
            for (size_t i = 0; i < TEXTS; i++) assert_string_equal(hex[i], expected[scheme][i]);
        }
        nigh_context_free(context);
    }
}

static void print_table(void) {
    nigh_context *context = context_new();
    for (size_t scheme = 0; scheme < SCHEMES; scheme++) {
        char hex[TEXTS][2 * MAX_BYTES + 1];
        sign_all(context, scheme, hex);
        printf("    {");
        for (size_t i = 0; i < TEXTS; i++) printf("%s\"%s\"", i == 0 ? "" : ",\n     ", hex[i]);
        printf("},\n");
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
