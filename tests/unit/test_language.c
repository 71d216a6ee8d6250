/* SPDX-License-Identifier: Apache-2.0 */
/* Languages: each has a stemmer, each list of stop words is in the form that is looked up. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libstemmer.h>
#include <cmocka.h>

#include "nigh.h"
#include "support/analysis_support.h"
#include "support/support.h"
#include "text/language.h"

static void test_names(void **state) {
    (void)state;
    size_t count = 0;
    const char *full;
    for (const char *code; (code = nigh_language_name(count, &full)) != NULL; count++) {
        assert_non_null(nigh__language_find(code));
        assert_ptr_equal(nigh__language_find(code), nigh__language_find(full));
        assert_string_equal(nigh__language_find(code)->code, code);
        struct sb_stemmer *stemmer = sb_stemmer_new(full, "UTF_8");
        assert_non_null(stemmer);
        sb_stemmer_delete(stemmer);
    }
    assert_true(count >= 20);
    assert_null(nigh_language_name(count + 1, NULL));
    assert_string_equal(nigh_language_name(0, NULL), "ar");
    assert_null(nigh__language_find("none"));
    assert_null(nigh__language_find(""));
    assert_null(nigh__language_find("English"));
    assert_string_equal(nigh__language_find("en")->name, "english");
}

/* All but "porter", an older stemmer of English, are there. */
static void test_complete(void **state) {
    (void)state;
    for (const char **name = sb_stemmer_list(); *name != NULL; name++) {
        if (strcmp(*name, "porter") != 0) assert_non_null(nigh__language_find(*name));
    }
}

static void list_check(nigh_context *context, const struct nigh__language *language, size_t *words) {
    struct analysis_pair pair;
    analysis_pair_init(&pair, context, "none", false, false);
    char *spelled = analysis_spelled(&pair, language->stop_words, strlen(language->stop_words));
    assert_string_equal(spelled, language->stop_words); /* normalised, single spaces */
    analysis_pair_release(&pair);
    const char *before = "";
    for (char *word = strtok(spelled, " "); word != NULL; word = strtok(NULL, " ")) {
        assert_true(strcmp(before, word) < 0);
        before = word;
        assert_true(nigh__language_stops(language, word, strlen(word)));
        char longer[64] = {0};
        memcpy(longer, word, strlen(word));
        longer[strlen(word)] = 'q';
        assert_false(nigh__language_stops(language, longer, strlen(word) + 1));
        (*words)++;
    }
    free(spelled);
}

static void test_stop_words(void **state) {
    static const char *const with[] = {"en", "de", "fr", "es", "it", "pt", "nl", "sv", "da", "no", "fi", "ru"};
    for (size_t i = 0; i < sizeof with / sizeof with[0]; i++) {
        size_t words = 0;
        list_check(*state, nigh__language_find(with[i]), &words);
        assert_in_range(words, 60, 320);
    }
    const struct nigh__language *english = nigh__language_find("en");
    static const char *const stopped[] = {"a", "the", "don", "t", "ll", "yourselves", "and"};
    static const char *const kept[] = {"", " ", "the and", "cat", "zebra", "0", "aa", "th", "them a", "\xff"};
    for (size_t i = 0; i < sizeof stopped / sizeof stopped[0]; i++)
        assert_true(nigh__language_stops(english, stopped[i], strlen(stopped[i])));
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++)
        assert_false(nigh__language_stops(english, kept[i], strlen(kept[i])));
    assert_false(nigh__language_stops(nigh__language_find("tr"), "a", 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_stop_words),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
