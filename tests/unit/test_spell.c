/* SPDX-License-Identifier: Apache-2.0 */
/* What a word is, by example. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/analysis_support.h"
#include "support/support.h"

struct example {
    const char *text;
    const char *terms;
};

static void pair_check(struct analysis_pair *pair, const struct example *examples, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char *spelled = analysis_spelled(pair, examples[i].text, strlen(examples[i].text));
        assert_string_equal(spelled, examples[i].terms);
        assert_true(analysis_agrees(pair, examples[i].text, strlen(examples[i].text), spelled));
        free(spelled);
    }
    analysis_pair_release(pair);
}

static void examples_check(void **state, const char *language, bool stemming, bool stop_words,
                           const struct example *examples, size_t count) {
    struct analysis_pair pair;
    analysis_pair_init(&pair, *state, language, stemming, stop_words);
    pair_check(&pair, examples, count);
}

#define CHECK(state, language, stemming, stop_words, examples) \
    examples_check(state, language, stemming, stop_words, examples, sizeof(examples) / sizeof(examples)[0])

static void test_words(void **state) {
    static const struct example examples[] = {
        {"", ""},
        {" \t\n.,;", ""},
        {"one", "one"},
        {"One two,three_four/five", "one two three four five"},
        {"don't x86-64 3.14", "don t x86 64 3 14"},
        {"Na\u00efve CAF\u00c9", "na\u00efve caf\u00e9"},
        {"cafe\u0301 Stra\u00dfe \ufb01ne", "caf\u00e9 strasse fine"},
        {"\u0301abc \u0301 x\u0301y", "abc x\u0301y"},
        {"a<\u0338b =\u0338\u0301c", "a b c"},
        {"2\u00d73\u00b2 \u00bd", "2 32 1 2"},
        {"soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"},
        {"caf\xe9 a\xff\xfe"
         "b \xc3",
         "caf a b"},
        {"a\ufffd"
         "b",
         "a b"},
        {"\u2018quoted\u2019 dash\u2014ed wait\u2026", "quoted dash ed wait"},
        {"\u041f\u0440\u0438\u0432\u0435\u0442, \u041c\u0418\u0420",
         "\u043f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440"},
        {"\u0661\u0662 \u2163", "\u0661\u0662 iv"},
    };
    CHECK(state, "none", true, true, examples);
}

static void test_dense(void **state) {
    static const struct example examples[] = {
        {"\u6771", "\u6771"},
        {"\u6771\u4eac", "\u6771\u4eac"},
        {"\u6771\u4eac\u90fd", "\u6771\u4eac \u4eac\u90fd"},
        {"\u6771 \u4eac\u3002\u90fd", "\u6771 \u4eac \u90fd"},
        {"\u6771\u30ab\u3042", "\u6771\u30ab \u30ab\u3042"},
        {"abc\u6771\u4eac"
         "12",
         "abc \u6771\u4eac 12"},
        {"3\u6708", "3 \u6708"},
        {"\uff76\uff9e\uff71", "\u30ac\u30a2"},                          /* half width */
        {"\u1112\u1161\u11ab\uad6d", "\ud55c\uad6d"},                    /* Hangul in parts */
        {"\u0e01\u0e31\u0e19\u0e2d", "\u0e01\u0e31\u0e19 \u0e19\u0e2d"}, /* a mark goes with its letter */
        {"\u6771\u0301\u4eac\u90fd", "\u6771\u0301\u4eac \u4eac\u90fd"},
        {"a\u0301\u6771\u0301", "\u00e1 \u6771\u0301"},
    };
    CHECK(state, "en", true, true, examples);
}

static void test_stems(void **state) {
    static const struct example stemmed[] = {
        {"The Na\u00efve caf\u00e9s, 2\u00d7", "na\u00efv caf\u00e9 2"},
        {"Running runs ran", "run run ran"},
        {"don't they're we'll", ""},
        {"houses4 4houses houses", "houses4 4houses hous"}, /* digits: as they are */
        {"doing things", "thing"},                          /* stop words before stems */
    };
    static const struct example unstopped[] = {{"The houses", "the hous"}};
    static const struct example unstemmed[] = {{"The houses are", "houses"}};
    static const struct example russian[] = {{"\u0438 \u043a\u043d\u0438\u0433\u0438", "\u043a\u043d\u0438\u0433"}};
    static const struct example german[] = {{"Die H\u00e4user, da\u00df", "haus"}};
    CHECK(state, "en", true, true, stemmed);
    CHECK(state, "en", true, false, unstopped);
    CHECK(state, "en", false, true, unstemmed);
    CHECK(state, "ru", true, true, russian);
    CHECK(state, "german", true, true, german);
}

/* A long word in pieces of 255 bytes at most, between characters. */
static void test_long(void **state) {
    struct analysis_pair pair;
    analysis_pair_init(&pair, *state, "none", false, false);
    static char text[1300];
    for (size_t i = 0; i < 600; i++) {
        text[2 * i] = '\xd0';
        text[2 * i + 1] = '\xb0';
    }
    char *spelled = analysis_spelled(&pair, text, 1200);
    assert_int_equal(strlen(spelled), 1200 + 4);
    assert_int_equal(strcspn(spelled, " "), 254);
    assert_true(analysis_agrees(&pair, text, 1200, spelled));
    free(spelled);
    memset(text, 'a', sizeof text);
    for (size_t length = 254; length < 260; length++) {
        spelled = analysis_spelled(&pair, text, length);
        assert_int_equal(strcspn(spelled, " "), length < 255 ? length : 255);
        assert_int_equal(strlen(spelled), length > 255 ? length + 1 : length);
        assert_true(analysis_agrees(&pair, text, length, spelled));
        free(spelled);
    }
    analysis_pair_release(&pair);
}

/* Every allocation fails once; nothing leaks, and afterwards all works. */
static void test_no_memory(void **state) {
    (void)state;
    static const char text[] = "Some words, \u00e9t\u00e9 \u6771\u4eac\u90fd a\u0323\u0301 and the rest";
    bool failed = true;
    for (uint64_t fail_at = 0; failed; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        int64_t live = memory.live;
        struct nigh__analysis analysis = {.seed = 1};
        struct nigh__speller *speller;
        const char *spelled;
        size_t length = 0;
        memory.fail_at = memory.calls + fail_at;
        nigh_status status = nigh__speller_new(context, &analysis, &speller, NULL);
        if (status == NIGH_OK) {
            status = nigh__spell(speller, text, sizeof text - 1, &spelled, &length, NULL);
            assert_int_equal(nigh__spell(speller, text, sizeof text - 1, &spelled, &length, NULL), NIGH_OK);
            assert_int_equal(length, 49);
        }
        failed = memory.calls > memory.fail_at;
        assert_int_equal(status, failed ? NIGH_ENOMEM : NIGH_OK);
        nigh__speller_free(speller);
        assert_int_equal(memory.live, live);
        nigh_context_free(context);
    }
}

/* Numbers have no letter; length is in characters, before stemming; runs without spaces are left alone. */
static void test_left_out(void **state) {
    static const struct example numbers[] = {
        {"in 1984 3.14 x86 2nd 80s \u0661\u0662", "x86 2nd 80s"},
        {"\u00bd 7\u0301 caf\u00e9", "caf\u00e9"},
        {"\u6771\u4eac 2024\u5e74", "\u6771\u4eac \u5e74"},
    };
    static const struct example lengths[] = {
        {"ox 12 up ages 123 \u00e9t\u00e9 \u00e9t", "age 123 \u00e9t\u00e9"},
        {"\u6771\u4eac \u90fd ab", "\u6771\u4eac \u90fd"},
    };
    struct analysis_pair pair;
    analysis_pair_init_without(&pair, *state, "en", true, 0);
    pair_check(&pair, numbers, sizeof numbers / sizeof numbers[0]);
    analysis_pair_init_without(&pair, *state, "en", false, 3);
    pair_check(&pair, lengths, sizeof lengths / sizeof lengths[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words), cmocka_unit_test(test_dense),     cmocka_unit_test(test_stems),
        cmocka_unit_test(test_long),  cmocka_unit_test(test_no_memory), cmocka_unit_test(test_left_out),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
