/* SPDX-License-Identifier: Apache-2.0 */
/* Texts spelled from memory: as nigh__spell() spells them, after forgetting too, and where memory fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/analysis_support.h"
#include "support/support.h"
#include "text/spelling.h"

static void check(struct analysis_pair *pair, const char *text) {
    char *spelled = analysis_spelled(pair, text, strlen(text));
    assert_true(analysis_agrees(pair, text, strlen(text), spelled));
    free(spelled);
}

static void test_examples(void **state) {
    struct analysis_pair pair;
    analysis_pair_init(&pair, *state, "en", true, true);
    for (int time = 0; time < 2; time++) {
        check(&pair, "");
        check(&pair, "The cats and the CAT, running after a counterrevolutionary's sternocleidomastoidectomy");
        check(&pair, "\u6771\u4eac\u90fd caf\u00e9 \u6771\u4eac");
        check(&pair, "!!");
    }
    analysis_pair_release(&pair);
}

/* More terms than an analyser keeps, so that numbers begin again. */
static void test_forgetting(void **state) {
    struct analysis_pair pair;
    analysis_pair_init(&pair, *state, "none", false, false);
    const size_t words = NIGH__ANALYSER_TERMS + 1000;
    char *text = malloc(words * 8 + 1);
    assert_non_null(text);
    size_t used = 0;
    for (size_t i = 0; i < words; i++) {
        for (size_t k = i, digits = 0; digits < 6; digits++, k /= 20) text[used++] = (char)('a' + k % 20);
        text[used++] = ' ';
    }
    text[used] = 0;
    for (int time = 0; time < 3; time++) {
        check(&pair, text);
        check(&pair, "small texts after it");
    }
    analysis_pair_release(&pair);
    free(text);
}

/* Each allocation fails once; what is spelled after that is right. */
static void test_no_memory(void **state) {
    (void)state;
    static const char text[] = "some words and more words \u00e9t\u00e9";
    static const char expected[] = "some words and more words \u00e9t\u00e9";
    bool failed = true;
    for (uint64_t fail_at = 0; failed; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        const int64_t live = memory.live;
        const struct nigh__analysis analysis = {.seed = 1};
        struct nigh__spelling spelling;
        const char *spelled;
        size_t length;
        memory.fail_at = memory.calls + fail_at;
        nigh_status status = nigh__spelling_init(context, &analysis, &spelling, NULL);
        if (status == NIGH_OK) {
            status = nigh__spelling_find(&spelling, text, strlen(text), &spelled, &length, NULL);
            failed = status != NIGH_OK;
            if (failed)
                assert_int_equal(nigh__spelling_find(&spelling, text, strlen(text), &spelled, &length, NULL), NIGH_OK);
            assert_int_equal(length, strlen(expected));
            assert_memory_equal(spelled, expected, length);
        }
        nigh__spelling_release(&spelling);
        assert_int_equal(memory.live, live);
        nigh_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_forgetting),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
