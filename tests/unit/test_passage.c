/* SPDX-License-Identifier: Apache-2.0 */
/* Passages: where they are cut, that they cover the text, that no word is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/analysis_support.h"
#include "support/support.h"
#include "text/passage.h"

/* The passages of a text with '|' between two; in a static buffer. */
static const char *cut(nigh_context *context, const char *text, nigh_split_kind split, size_t min, size_t max) {
    static char shown[2000];
    struct nigh__array passages = NIGH__ARRAY(struct nigh__passage);
    assert_int_equal(nigh__passages_find(context, text, strlen(text), split, min, max, &passages, NULL), NIGH_OK);
    const struct nigh__passage *passage = passages.data;
    size_t used = 0;
    for (size_t i = 0; i < passages.count; i++) {
        if (i > 0) shown[used++] = '|';
        memcpy(shown + used, text + passage[i].begin, passage[i].length);
        used += passage[i].length;
    }
    shown[used] = 0;
    nigh__array_release(context, &passages);
    return shown;
}

struct example {
    const char *text;
    const char *passages;
    size_t min, max;
};

static void test_hard(void **state) {
    static const struct example examples[] = {
        {"", "", 1, 2},
        {" . ", " . ", 1, 2},
        {"one", "one", 1, 2},
        {"one two", "one two", 1, 2},
        {"one two three", "one two |three", 1, 2},
        {"one two three four five", "one two |three four |five", 1, 2},
        {"one two three four five", "one two |three four five", 2, 2},
        {" one,  two;three-four ", " one,  two;|three-four ", 1, 2},
        {"one two (three) four. ", "one two |(three) four. ", 1, 2},
        {"one two \n\n- three", "one two \n\n|- three", 1, 2},
        {"the a of the a of", "the a of |the a of", 3, 3},
        {"\u6771\u4eac\u90fd\u5e02", "\u6771\u4eac\u90fd|\u5e02", 1, 2},
        {"\u6771\u4eac\u90fd\u5e02", "\u6771\u4eac\u90fd\u5e02", 2, 2},
        {"ab\u6771\u4eac"
         "cd",
         "ab|\u6771\u4eac|cd", 1, 1},
        {"soft\u00adhyphen e\u0301e x", "soft\u00adhyphen |e\u0301e |x", 1, 1},
        {"\ufdfa \ufdfa", "\ufdfa |\ufdfa", 1, 2}, /* a character of four words */
        {"one \xff\xfe two", "one |\xff\xfe two", 1, 1},
    };
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        assert_string_equal(cut(*state, examples[i].text, NIGH_SPLIT_HARD, examples[i].min, examples[i].max),
                            examples[i].passages);
    assert_string_equal(cut(*state, "one two three", NIGH_SPLIT_NONE, 1, 1), "one two three");
}

static void test_sentence(void **state) {
    static const struct example examples[] = {
        {"One two. Three four. Five six.", "One two. |Three four. |Five six.", 1, 3},
        {"One two. Three four. Five six.", "One two. Three four. |Five six.", 1, 4},
        {"One two. Three four. Five six.", "One two. Three four. |Five six.", 1, 5},
        {"One. Two three four five six", "One. |Two three four five |six", 1, 4},
        {"One. Two three four five six", "One. Two three four |five six", 2, 4},
        {"a b c d e f g", "a b c |d e f |g", 1, 3},
        {"Say \"one two.\" (Three four!) Five", "Say \"one two.\" |(Three four!) Five", 1, 4},
        {"see e.g. this one. Then two", "see e.g. this one. |Then two", 1, 5},
        {"version 3.14 is here. Next one is", "version 3.14 is here. |Next one is", 1, 6},
        {"no end here\n\nnew paragraph starts now", "no end here\n\n|new paragraph starts now", 1, 4},
        {"\u6771\u4eac\u3002\u90fd\u5e02\u3002\u6771\u4eac", "\u6771\u4eac\u3002\u90fd\u5e02\u3002|\u6771\u4eac", 1, 2},
        {"Really?! Yes indeed sir", "Really?! |Yes indeed sir", 1, 3},
        {"wait\u2026 Go on then", "wait\u2026 |Go on then", 1, 3},
    };
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        assert_string_equal(cut(*state, examples[i].text, NIGH_SPLIT_SENTENCE, examples[i].min, examples[i].max),
                            examples[i].passages);
}

static size_t words_of(struct analysis_pair *pair, const char *text, size_t length) {
    char *spelled = analysis_spelled(pair, text, length);
    size_t words = *spelled != 0;
    for (const char *at = spelled; *at != 0; at++) words += *at == ' ';
    free(spelled);
    return words;
}

/* On random texts: all is covered, and each passage but the last has as many words as it may. */
static void test_random(void **state) {
    static const char *const parts[] = {"word",          "a",       " ",      " ",      ". ",          "! ",   "Big",
                                        "\u00e9t\u00e9", "e\u0301", "\u6771", "\u4eac", "\xff",        "\n\n", "\u2014",
                                        "\u00ad",        "12",      "'",      "\u0301", "\u0e01\u0e31"};
    struct analysis_pair pair;
    analysis_pair_init(&pair, *state, "none", false, false);
    for (uint64_t number = 0; number < 3000; number++) {
        struct nigh__rng rng = {.state = number};
        char text[1200];
        size_t length = 0;
        for (size_t i = nigh__rng_next(&rng) % 150; i > 0; i--) {
            const char *part = parts[nigh__rng_next(&rng) % (sizeof parts / sizeof parts[0])];
            memcpy(text + length, part, strlen(part));
            length += strlen(part);
        }
        const size_t max = 1 + nigh__rng_next(&rng) % 12;
        const size_t min = 1 + nigh__rng_next(&rng) % max;
        const nigh_split_kind split = number % 2 == 0 ? NIGH_SPLIT_HARD : NIGH_SPLIT_SENTENCE;
        struct nigh__array passages = NIGH__ARRAY(struct nigh__passage);
        assert_int_equal(nigh__passages_find(*state, text, length, split, min, max, &passages, NULL), NIGH_OK);
        const struct nigh__passage *passage = passages.data;
        size_t end = 0;
        for (size_t i = 0; i < passages.count; i++) {
            assert_int_equal(passage[i].begin, end);
            end += passage[i].length;
            size_t words = words_of(&pair, text + passage[i].begin, passage[i].length);
            const bool is_last = i + 1 == passages.count;
            assert_true(is_last ? words < max + min : words <= max);
            if (!is_last && split == NIGH_SPLIT_HARD) assert_int_equal(words, max);
            if (passages.count > 1) assert_true(words >= min);
        }
        assert_int_equal(end, length);
        nigh__array_release(*state, &passages);
    }
    analysis_pair_release(&pair);
}

/* A sentence a word long, then none; nothing but separators; one endless word: all in linear time. */
static void test_linear(void **state) {
    const size_t length = 4000000;
    char *text = malloc(length);
    assert_non_null(text);
    struct nigh__array passages = NIGH__ARRAY(struct nigh__passage);
    memset(text, ' ', length);
    for (size_t i = 0; i < length; i += 40) memcpy(text + i, "A. B", 4);
    assert_int_equal(nigh__passages_find(*state, text, length, NIGH_SPLIT_SENTENCE, 1, 100000, &passages, NULL),
                     NIGH_OK);
    for (size_t i = 0; i < length; i += 2) memcpy(text + i, "a ", 2);
    memcpy(text, "A. ", 3);
    assert_int_equal(nigh__passages_find(*state, text, length, NIGH_SPLIT_SENTENCE, 1, 100000, &passages, NULL),
                     NIGH_OK);
    passages.count = 0;
    memset(text, 'a', length);
    assert_int_equal(nigh__passages_find(*state, text, length, NIGH_SPLIT_HARD, 10, 100, &passages, NULL), NIGH_OK);
    assert_int_equal(passages.count, (length + 25499) / 25500); /* pieces of 255 bytes */
    nigh__array_release(*state, &passages);
    free(text);
}

static void test_no_memory(void **state) {
    (void)state;
    bool failed = true;
    for (uint64_t fail_at = 0; failed; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        int64_t live = memory.live;
        struct nigh__array passages = NIGH__ARRAY(struct nigh__passage);
        memory.fail_at = memory.calls + fail_at;
        nigh_status status = nigh__passages_find(context, "one two. three", 14, NIGH_SPLIT_HARD, 1, 1, &passages, NULL);
        failed = memory.calls > memory.fail_at;
        assert_int_equal(status, failed ? NIGH_ENOMEM : NIGH_OK);
        nigh__array_release(context, &passages);
        assert_int_equal(memory.live, live);
        nigh_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hard),   cmocka_unit_test(test_sentence),  cmocka_unit_test(test_random),
        cmocka_unit_test(test_linear), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
