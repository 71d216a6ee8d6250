/* SPDX-License-Identifier: Apache-2.0 */
/* Words that two texts share and do not: the runs give back both texts, whatever they are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"
#include "dedup/report_diff.h"
#include "support/support.h"

/* Both sides are walked in order and to their end, and what is called the same is. */
static void expect_whole(const char *left, const char *right, const struct nigh__diff *diff) {
    const struct nigh__diff_word *a = diff->left.data;
    const struct nigh__diff_word *b = diff->right.data;
    const struct nigh__diff_run *runs = diff->runs.data;
    size_t x = 0;
    size_t y = 0;
    for (size_t i = 0; i < diff->runs.count; i++) {
        assert_true(runs[i].count > 0);
        assert_int_equal(runs[i].left, x);
        assert_int_equal(runs[i].right, y);
        if (i > 0) assert_int_not_equal(runs[i].kind, runs[i - 1].kind);
        if (i > 0 && runs[i].kind == NIGH__DIFF_LEFT) assert_int_equal(runs[i - 1].kind, NIGH__DIFF_SAME);
        for (size_t n = 0; n < runs[i].count && runs[i].kind == NIGH__DIFF_SAME; n++) {
            const size_t length = a[x + n].end - a[x + n].begin;
            assert_int_equal(length, b[y + n].end - b[y + n].begin);
            assert_memory_equal(left + a[x + n].begin, right + b[y + n].begin, length);
        }
        if (runs[i].kind != NIGH__DIFF_RIGHT) x += runs[i].count;
        if (runs[i].kind != NIGH__DIFF_LEFT) y += runs[i].count;
    }
    assert_int_equal(x, diff->left.count);
    assert_int_equal(y, diff->right.count);
}

/* Between words there is nothing but space. */
static void expect_words(const char *text, size_t length, const struct nigh__array *words) {
    const struct nigh__diff_word *word = words->data;
    size_t at = 0;
    for (size_t i = 0; i <= words->count; i++) {
        const size_t begin = i < words->count ? word[i].begin : length;
        assert_true(begin >= at);
        for (; at < begin; at++) assert_non_null(memchr(" \t\n\v\f\r", text[at], 6));
        if (i == words->count) break;
        assert_true(word[i].end > word[i].begin && word[i].end <= length);
        at = word[i].end;
    }
}

static void expect_diff(nigh_context *context, const char *left, size_t left_length, const char *right,
                        size_t right_length, struct nigh__diff *diff) {
    nigh_error error;
    assert_ok(nigh__diff_make(context, left, left_length, right, right_length, diff, &error), &error);
    expect_words(left, left_length, &diff->left);
    expect_words(right, right_length, &diff->right);
    expect_whole(left, right, diff);
}

static size_t put_run(char *out, const char *text, const struct nigh__diff_word *words, size_t count, char mark) {
    size_t used = 0;
    out[used++] = mark;
    for (size_t i = 0; i < count; i++) {
        const size_t length = words[i].end - words[i].begin;
        if (i > 0) out[used++] = ' ';
        memcpy(out + used, text + words[i].begin, length);
        used += length;
    }
    return used;
}

/* As "=same words-left only+right only". */
static void expect_runs(nigh_context *context, const char *left, const char *right, const char *expected) {
    struct nigh__diff diff;
    char text[1024];
    size_t used = 0;
    expect_diff(context, left, strlen(left), right, strlen(right), &diff);
    const struct nigh__diff_run *runs = diff.runs.data;
    for (size_t i = 0; i < diff.runs.count; i++) {
        const struct nigh__diff_word *words = runs[i].kind == NIGH__DIFF_RIGHT
                                                  ? (struct nigh__diff_word *)diff.right.data + runs[i].right
                                                  : (struct nigh__diff_word *)diff.left.data + runs[i].left;
        used += put_run(text + used, runs[i].kind == NIGH__DIFF_RIGHT ? right : left, words, runs[i].count,
                        "=-+"[runs[i].kind]);
    }
    text[used] = '\0';
    assert_string_equal(text, expected);
    nigh__diff_release(context, &diff);
}

static void test_small(void **state) {
    nigh_context *context = *state;
    expect_runs(context, "", "", "");
    expect_runs(context, " \n\t", "  ", "");
    expect_runs(context, "a b c", "", "-a b c");
    expect_runs(context, "", "a b c", "+a b c");
    expect_runs(context, "a b c", "a  b\nc", "=a b c");
    expect_runs(context, "one two three", "one 2 three", "=one-two+2=three");
    expect_runs(context, "one two", "two one", "-one=two+one");
    expect_runs(context, "same A same", "same B same", "=same-A+B=same");
    expect_runs(context, "end.", "end!", "=end-.+!");
}

static void test_words(void **state) {
    nigh_context *context = *state;
    expect_runs(context, "librte-acl23, x", "librte-bbdev23, x", "=librte --acl23+bbdev23=, x");
    expect_runs(context, "\u4eba\u4eba\u751f", "\u4eba\u6b7b\u751f", "=\u4eba-\u4eba+\u6b7b=\u751f");
    expect_runs(context, "caf\u00e9 cafe\u0301", "caf\u00e9 cafe", "=caf\u00e9-cafe\u0301+cafe");
    expect_runs(context, "\xff\xfe", "\xff", "=\xff-\xfe");
    expect_runs(context, "\xe4\xba", "\xe4\xba\xba", "-\xe4 \xba+\xe4\xba\xba");
}

/* Bytes that only begin a character end with the text, and nothing behind it is read. */
static void test_ends_of_text(void **state) {
    static const char bytes[] = "a \xf0\x9f\x8e\x89";
    for (size_t length = 0; length < sizeof bytes; length++) {
        char *exact = malloc(length == 0 ? 1 : length);
        struct nigh__diff diff;
        assert_non_null(exact);
        memcpy(exact, bytes, length);
        expect_diff(*state, exact, length, exact, length, &diff);
        assert_true(diff.runs.count <= 1);
        nigh__diff_release(*state, &diff);
        free(exact);
    }
}

static void test_accidents(void **state) {
    /* A word in common amid what is wholly different is no likeness; at an end, or beside little, it is one. */
    expect_runs(*state, "begin a b c the d e f end", "begin p q r the s t u end",
                "=begin-a b c the d e f+p q r the s t u=end");
    expect_runs(*state, "begin a the b end", "begin p the q end", "=begin-a+p=the-b+q=end");
    expect_runs(*state, "a b c the", "p q r the", "-a b c+p q r=the");
}

static void test_slides(void **state) {
    expect_runs(*state, "It works.", "It works. New words here.", "=It works .+New words here .");
    expect_runs(*state, "It works. New words here.", "It works.", "=It works .-New words here .");
    expect_runs(*state, "one\n\ntwo x y", "one\n\ntwo b\n\ntwo x y", "=one+two b=two x y");
    expect_runs(*state, "a a a", "a a a a a", "=a a a+a a");
}

static size_t random_text(struct nigh__rng *rng, char *out, size_t words, unsigned letters) {
    size_t used = 0;
    for (size_t i = 0; i < words; i++) {
        const unsigned word = (unsigned)(nigh__rng_next(rng) % letters);
        out[used++] = (char)('a' + word % 26);
        if (word >= 26) out[used++] = (char)('a' + word / 26 % 26);
        out[used++] = " .\n "[nigh__rng_next(rng) & 3];
    }
    return used;
}

/* Copies a text and changes some bytes to others, drops some, and doubles some. */
static size_t change_text(struct nigh__rng *rng, const char *text, size_t length, char *out) {
    size_t used = 0;
    for (size_t i = 0; i < length; i++) {
        const uint64_t what = nigh__rng_next(rng) % 60;
        if (what == 0) continue;
        out[used++] = what == 1 ? (char)nigh__rng_next(rng) : text[i];
        if (what == 2) out[used++] = text[i];
    }
    return used;
}

static void test_random(void **state) {
    struct nigh__rng rng = {.state = 4};
    for (int round = 0; round < 3000; round++) {
        char left[400] = {0};
        char right[800] = {0};
        struct nigh__diff diff;
        const unsigned letters = 1 + (unsigned)(nigh__rng_next(&rng) % 60);
        const size_t left_length = random_text(&rng, left, nigh__rng_next(&rng) % 100, letters);
        const size_t right_length = round % 2 == 0 ? change_text(&rng, left, left_length, right)
                                                   : random_text(&rng, right, nigh__rng_next(&rng) % 100, letters);
        expect_diff(*state, left, left_length, right, right_length, &diff);
        nigh__diff_release(*state, &diff);
    }
}

/* The longest row of words in common, by the table of all ways. */
static size_t longest_common(const struct nigh__diff *diff) {
    const struct nigh__diff_word *a = diff->left.data;
    const struct nigh__diff_word *b = diff->right.data;
    size_t row[64] = {0};
    for (size_t i = 0; i < diff->left.count; i++) {
        size_t corner = 0;
        for (size_t j = 0; j < diff->right.count; j++) {
            const size_t above = row[j + 1];
            const size_t match = a[i].number == b[j].number ? corner + 1 : 0;
            row[j + 1] = match > above ? match : above;
            if (row[j] > row[j + 1]) row[j + 1] = row[j];
            corner = above;
        }
    }
    return row[diff->right.count];
}

/* As short as can be where too little differs for words in common to be dropped: 3 + 1 + 1 + 3. */
static void test_shortest(void **state) {
    struct nigh__rng rng = {.state = 5};
    for (int round = 0; round < 3000; round++) {
        char left[128] = {0};
        char right[256] = {0};
        struct nigh__diff diff;
        const size_t left_length = random_text(&rng, left, nigh__rng_next(&rng) % 30, 40);
        const size_t right_length = change_text(&rng, left, left_length, right);
        expect_diff(*state, left, left_length, right, right_length, &diff);
        const struct nigh__diff_run *runs = diff.runs.data;
        size_t same = 0;
        for (size_t i = 0; i < diff.runs.count; i++) same += runs[i].kind == NIGH__DIFF_SAME ? runs[i].count : 0;
        const size_t differing = diff.left.count + diff.right.count - 2 * same;
        if (differing < 8 && diff.right.count < 63) assert_int_equal(same, longest_common(&diff));
        nigh__diff_release(*state, &diff);
    }
}

/* Texts that cost the most: they must not take seconds. */
static void test_hostile(void **state) {
    enum { BYTES = 4000 };
    struct nigh__rng rng = {.state = 6};
    char *left = malloc(BYTES);
    char *right = malloc(BYTES);
    assert_non_null(left);
    assert_non_null(right);
    for (int kind = 0; kind < 6; kind++) {
        struct nigh__diff diff;
        for (size_t i = 0; i < BYTES; i++) {
            const uint64_t random = nigh__rng_next(&rng);
            left[i] = kind == 0   ? '!'
                      : kind == 1 ? (char)('!' + random % 2)
                      : kind == 2 ? (char)('!' + random % 15)
                      : kind == 3 ? "ab "[i % 3]
                      : kind == 4 ? '\n'
                                  : (char)random;
            right[i] = kind == 0   ? '?'
                       : kind == 1 ? (char)('!' + (random >> 8) % 2)
                       : kind == 2 ? (char)('!' + (random >> 8) % 15)
                       : kind == 3 ? "ba "[i % 3]
                       : kind == 4 ? '!'
                                   : (char)(random >> 8);
        }
        expect_diff(*state, left, BYTES, right, BYTES, &diff);
        nigh__diff_release(*state, &diff);
    }
    free(left);
    free(right);
}

/* Texts of as many words of 7 letters, all different; crafted ones were chosen to collide in a table without a secret.
 */
enum { CRAFTED = 32768, CRAFTED_SLOTS = 131072 };

static void make_words(char *out, bool crafted) {
    uint64_t tried = 0;
    for (size_t i = 0; i < CRAFTED;) {
        char word[9];
        uint64_t rest = tried++;
        for (size_t j = 0; j < 7; j++, rest /= 26) word[j] = (char)('a' + rest % 26);
        word[7] = ' ';
        memcpy(out + i * 8, word, 8);
        if (!crafted || nigh__hash(word, 7) % CRAFTED_SLOTS < CRAFTED_SLOTS / 64) i++;
    }
}

static double diff_seconds(nigh_context *context, const char *text) {
    struct nigh__diff diff;
    const clock_t begin = clock();
    expect_diff(context, text, (size_t)CRAFTED * 8, text, (size_t)CRAFTED * 8, &diff);
    nigh__diff_release(context, &diff);
    return (double)(clock() - begin) / CLOCKS_PER_SEC;
}

static void test_crafted_words(void **state) {
    char *text = malloc((size_t)CRAFTED * 8);
    assert_non_null(text);
    make_words(text, false);
    const double usual = diff_seconds(*state, text);
    make_words(text, true);
    assert_true(diff_seconds(*state, text) < 5 * usual + 0.3);
    free(text);
}

static void test_no_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    const nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    const int64_t before = memory.live;
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t fail = 0; status != NIGH_OK; fail++) {
        struct nigh__diff diff;
        nigh_error error;
        assert_true(fail < 100);
        memory.fail_at = memory.calls + fail;
        status = nigh__diff_make(context, "a b c d e f", 11, "a x c y e z f", 13, &diff, &error);
        nigh__diff_release(context, &diff);
        if (status != NIGH_OK) assert_int_equal(status, NIGH_ENOMEM);
        assert_int_equal(memory.live, before);
    }
    memory.fail_at = UINT64_MAX;
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),     cmocka_unit_test(test_words),   cmocka_unit_test(test_ends_of_text),
        cmocka_unit_test(test_accidents), cmocka_unit_test(test_slides),  cmocka_unit_test(test_random),
        cmocka_unit_test(test_shortest),  cmocka_unit_test(test_hostile), cmocka_unit_test(test_crafted_words),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
