/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A collection with texts and keys, kept from version 1 of the format.  Every later version must
 * read it, and this one must still sign fixed texts with the very same bits and keys: where one
 * changes, near-copies of what was added before are no longer found, so a change here is a new
 * scheme version (signature/signer_scheme.c).  What zstd makes of texts may change with zstd, so
 * the bytes of sections 15 and 16 are not pinned, and what they unpack to is.
 *
 * `test_texts_golden --make FOLDER` writes the collection anew, `--print` the table `expected`.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collection/collection.h"
#include "collection/texts.h"
#include "support/support.h"

#define NAME "v1-texts.nigh"
#define BANDS 32u
#define BITS_BYTES 32u
#define LONG_WORDS 12000u
#define LONG_SIZE ((size_t)LONG_WORDS * 8)

static const char scheme[] = "bits=256\n"
                             "features=ngrams:3\n"
                             "kind=minhash\n"
                             "language=none\n"
                             "seed=0\n"
                             "stemming=off\n"
                             "stop-words=in\n"
                             "threshold=800\n"
                             "version=1\n"
                             "weights=none\n";

static const char *const short_texts[] = {
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, "
    "it was the epoch of belief, it was the epoch of incredulity.",
    "It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness, "
    "it was the epoch of belief, it was the epoch of doubt.",
    "...", /* no feature: zeros, and keys of the text itself */
    NULL,  /* a long one, below: a block of its own */
    "Naïve cafés — don’t find ™, été, ΑΘΗΝΑ 2½; 全文検索とは、文書を探すこと。",
    "word",
};
#define TEXTS (sizeof short_texts / sizeof short_texts[0])
#define FIRST_COMMIT 4u

struct expected {
    const char *bits, *keys;
};

static const struct expected expected[TEXTS] = {
    {"71ceca66763de6e82c733b0b123376ec6154e16aaa9d83a5dfd7d550e7fcb03f",
     "22299fa02b03b39b52dc4426bb95bd2e8c61d20f8b91e7471abe3aa559961c50"
     "58851303e9f300ca413fbbc25e1d56b68a66d41f980477e6faf6e3487ce67573"
     "2afec0ad4ef95581fdf49ab56b74c0f2d84e3c3b52731682936ef3be823f5978"
     "5bda7972490a77bf8c0479ca34311067aab1c9698c0346f2bf6f3b06d120a2f0"},
    {"31c6ca67f63de2682c533b0b323376ec6354f14aaa9d83a7dfd7cd40e5fcb03f",
     "fb4b8b0257d1b16952dc442661d8c95839a719a38b91e74719d77dd05dbfbbf3"
     "58851303a3c905bb2fe761f15e1d56b6ab036b98980477e6faf6e348679d8f08"
     "3d4bfa3c4ef9558179d644f891de9199d84e3c3b52731682936ef3be1f35639c"
     "5bda7972490a77bf5c9a6718d511d776c2ad02408c0346f2166c83c7d120a2f0"},
    {"0000000000000000000000000000000000000000000000000000000000000000",
     "47fad831b946c96c8f37475a411c260d8d741a7f70c4d85b2e7a67d913eb22aa"
     "9bc681a9a3850c3917eb4a9cb73bae57c93388ec45880713b207891a05119916"
     "9bdc6ec4fd869aa84ccde058baffa464836c90825a6fe328b547ac34b345a837"
     "023a2c587cef9ffec64cfa72c4bec6f82217ce7bff4b60175dca8ab4e4c0d57f"},
    {"21150354fd93664872429a2d9f61dbc62ecb20d349b60c02c9734ebd65e6223a",
     "fb380656d30fd0e749181a2f211fe8e0e3f2a795c95baa113f12a1b2c16ae2f7"
     "108e07ae083d1aa1cb77589bb5aeae52dff02ec7a1940597220bd0904d66689b"
     "83fc63e132aed5b141f36c6d9e3a3933e55c5134778774f9a028105f6607f4f2"
     "81c8d11a084dfbe37b0ed0207c592dea315bb6d542868f7ee319a1f31e2a5da7"},
    {"e0277007787c628cb470351f5aad708d048b0f9a953c0299da7ea388a6844dbd",
     "48611af6ebd045efd277915f47374bc74b934528334416fe62c2b40687dcfb29"
     "ba0608efc47b1368ca017eb066a9dd24fd60ded1dfede0f5f4442b59bd6904a1"
     "4dafeac64d4803b8e697bb7d582a42e24f1e09cfd8d6a26521cfcacbb057f29e"
     "ea9989aa137f6f5bd99f46fd9ecad6c98bdb4d97ded261f38b28540819f4594a"},
    {"d2dec9cec535ba6c100eeafd654e189c26ecee4de84907ee8d69f3421c93ef75",
     "6f8a9d5f4fb047229da9eb7c3cdcff479d8b5bf62c385e138f172d1aaa8404e2"
     "8682e65c5f72f78ec7785e9005b716a70bf1b013829367bf419edfcfbacb66a8"
     "d81884e55462b50d8504025c4a3f2a3992fecdf89e456132d171e2de12d7977b"
     "bca6a57195a1784e20321eb77cca7b668845ca9e241fec2d886a39baf645b2c1"},
};

/* The texts, the long one made by rule; tests/oracle makes the same. */
static void make_texts(char *room, const char *texts[TEXTS]) {
    size_t used = 0;
    for (unsigned i = 0; i < LONG_WORDS; i++)
        used += (size_t)snprintf(room + used, LONG_SIZE - used, "%sword%u", i == 0 ? "" : " ", i * i % 997);
    for (size_t i = 0; i < TEXTS; i++) texts[i] = short_texts[i] == NULL ? room : short_texts[i];
}

/* ------------------------------------------------------------------- making */

static void index_lines(nigh_context *context, const char *path, const char *const *texts, size_t first, size_t count,
                        const nigh_signer_options *signer) {
    char *scratch = scratch_new();
    char *input = path_in(scratch, "texts.jsonl");
    char *lines = malloc(2 * LONG_SIZE);
    size_t used = 0;
    for (size_t i = first; i < first + count; i++)
        used +=
            (size_t)snprintf(lines + used, 2 * LONG_SIZE - used, "{\"id\":\"doc-%zu\",\"text\":\"%s\"}\n", i, texts[i]);
    file_write_all(input, lines, used);
    nigh_index_options options;
    nigh_index_options_init(&options);
    options.signer = signer;
    nigh_error error;
    const char *const inputs[] = {input};
    assert_ok(nigh_index_documents(context, path, inputs, 1, NULL, &options, NULL, &error), &error);
    free(lines);
    free(input);
    scratch_free(scratch);
}

/* Two commits; the second goes by the scheme that the first has left. */
static void make(nigh_context *context, const char *path) {
    char *room = malloc(LONG_SIZE);
    const char *texts[TEXTS];
    nigh_signer_options signer;
    make_texts(room, texts);
    nigh_signer_options_init(&signer);
    signer.scheme = NIGH_SCHEME_MINHASH;
    signer.width_bits = 8 * BITS_BYTES;
    signer.threshold = 0.8;
    index_lines(context, path, texts, 0, FIRST_COMMIT, &signer);
    index_lines(context, path, texts, FIRST_COMMIT, TEXTS - FIRST_COMMIT, NULL);
    free(room);
}

/* ------------------------------------------------------------------ reading */

static void hex_of_bits(const nigh_collection *collection, uint64_t document, char out[2 * BITS_BYTES + 1]) {
    uint8_t bits[BITS_BYTES];
    nigh_error error;
    assert_ok(nigh_collection_signature(collection, document, bits, &error), &error);
    for (size_t i = 0; i < BITS_BYTES; i++) (void)snprintf(out + 2 * i, 3, "%02x", bits[i]);
}

static void hex_of_keys(const nigh_collection *collection, uint64_t document, char out[8 * BANDS + 1]) {
    const struct nigh__segment *segment;
    uint32_t within;
    static uint32_t keys[NIGH__KEY_BLOCK];
    nigh_error error;
    assert_ok(nigh__collection_locate(collection, document, &segment, &within, &error), &error);
    assert_int_equal(nigh__segment_key_count(segment), BANDS);
    for (uint32_t band = 0; band < BANDS; band++) {
        uint32_t count;
        assert_ok(nigh__segment_keys(segment, band, 0, keys, &count, &error), &error);
        assert_in_range(within, 0, count - 1);
        (void)snprintf(out + (size_t)8 * band, 9, "%08x", keys[within]);
    }
}

static void expect_document(const nigh_collection *collection, uint64_t document, const char *text) {
    char bits[2 * BITS_BYTES + 1];
    char keys[8 * BANDS + 1];
    char *got = malloc(LONG_SIZE);
    size_t length;
    nigh_error error;
    hex_of_bits(collection, document, bits);
    hex_of_keys(collection, document, keys);
    assert_ok(nigh_collection_text(collection, document, got, LONG_SIZE, &length, &error), &error);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(got, text, length);
    assert_string_equal(bits, expected[document].bits);
    assert_string_equal(keys, expected[document].keys);
    free(got);
}

static void expect_golden(nigh_context *context, const char *path) {
    char *room = malloc(LONG_SIZE);
    const char *texts[TEXTS];
    nigh_collection *collection;
    nigh_collection_info info = {.size = sizeof info};
    nigh_error error;
    make_texts(room, texts);
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    nigh_collection_describe(collection, &info);
    assert_int_equal(info.documents, TEXTS);
    assert_true(info.has_texts);
    assert_int_equal(info.key_count, BANDS);
    assert_string_equal(nigh_collection_scheme(collection), scheme);
    for (uint64_t i = 0; i < TEXTS; i++) expect_document(collection, i, texts[i]);
    nigh_collection_close(collection);
    assert_ok(nigh_collection_check(context, path, NULL, NULL, &error), &error);
    free(room);
}

static void the_kept_collection_opens(void **state) {
    (void)state;
    const char *source = getenv("NIGH_SOURCE_DIR");
    if (source == NULL) fail_msg("NIGH_SOURCE_DIR is not set; run this through ctest");
    nigh_context *context = context_new();
    char *folder = path_in(source, "tests/golden");
    char *path = path_in(folder, NAME);
    expect_golden(context, path);
    free(path);
    free(folder);
    nigh_context_free(context);
}

/* With every kernel that this CPU has. */
static void bits_and_keys_are_the_same(void **state) {
    (void)state;
    const char *kernel;
    int usable;
    for (size_t k = 0; (kernel = nigh_kernel_name(k, &usable)) != NULL; k++) {
        if (!usable) continue;
        nigh_context *context = context_with(NULL, NULL, kernel);
        char *scratch = scratch_new();
        char *path = path_in(scratch, NAME);
        make(context, path);
        expect_golden(context, path);
        free(path);
        scratch_free(scratch);
        nigh_context_free(context);
    }
}

static void print_table(nigh_context *context) {
    char *scratch = scratch_new();
    char *path = path_in(scratch, NAME);
    nigh_collection *collection;
    nigh_error error;
    make(context, path);
    assert_ok(nigh_collection_open(context, path, NULL, &collection, &error), &error);
    printf("%s", nigh_collection_scheme(collection));
    for (uint64_t i = 0; i < TEXTS; i++) {
        char bits[2 * BITS_BYTES + 1];
        char keys[8 * BANDS + 1];
        hex_of_bits(collection, i, bits);
        hex_of_keys(collection, i, keys);
        printf("    {\"%s\",\n", bits);
        for (size_t at = 0; at < (size_t)8 * BANDS; at += 64)
            printf("     \"%.64s\"%s\n", keys + at, at + 64 == (size_t)8 * BANDS ? "}," : "");
    }
    nigh_collection_close(collection);
    free(path);
    scratch_free(scratch);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        nigh_context *context = context_new();
        if (argc == 3 && strcmp(argv[1], "--make") == 0) {
            char *path = path_in(argv[2], NAME);
            make(context, path);
            free(path);
        } else {
            print_table(context);
        }
        nigh_context_free(context);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kept_collection_opens),
        cmocka_unit_test(bits_and_keys_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
