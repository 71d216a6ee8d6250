/* SPDX-License-Identifier: Apache-2.0 */
/* Conditions: what can be read, what they mean for one value, and what is said of those that cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/value.h"
#include "search/where.h"
#include "support/support.h"

#define SCHEME "bits=64\nkeep-key=lang\nkeep-key.2=year\nkeep-key.3=a b\nkind=signatures\n"

static void expect_problem(nigh_context *context, const char *expression, const char *why) {
    struct nigh__where where;
    nigh_error error;
    nigh_status status = nigh__where_parse(context, expression, &where, &error);
    if (status == NIGH_OK) status = nigh__where_bind(&where, SCHEME, &error);
    nigh__where_release(&where);
    if (status != NIGH_EINVAL) fail_msg("'%s' gives status %d", expression, status);
    if (strstr(error.why, why) == NULL) fail_msg("'%s' says '%s'", expression, error.why);
}

static void problems_have_a_column(void **state) {
    nigh_context *context = *state;
    expect_problem(context, "", "column 1 of the condition: a key is missing");
    expect_problem(context, "   ", "column 4 of the condition: a key is missing");
    expect_problem(context, "lang", "column 5 of the condition: one of = != < <= > >= in is missing");
    expect_problem(context, "lang = ", "column 8 of the condition: a value is missing");
    expect_problem(context, "lang == en", "column 7 of the condition: expected a value at '= en'");
    expect_problem(context, "lang = en year = 3", "column 11 of the condition: expected 'and' or 'or' at 'year = 3'");
    expect_problem(context, "(lang = en", "column 11 of the condition: 'and', 'or' or ')' is missing");
    expect_problem(context, "lang = en)", "column 10 of the condition: expected 'and' or 'or' at ')'");
    expect_problem(context, "lang in en", "column 9 of the condition: expected '(' and the values at 'en'");
    expect_problem(context, "lang in ()", "column 10 of the condition: expected a value at ')'");
    expect_problem(context, "lang in (a b)", "column 12 of the condition: expected ',' or ')' at 'b)'");
    expect_problem(context, "lang = 'en", "column 8 of the condition: a quote without its end");
    expect_problem(context, "not", "column 4 of the condition: a key is missing");
    expect_problem(context, "lang = and", "column 8 of the condition: expected a value at 'and'");
    expect_problem(context, "lang ! en", "column 6 of the condition: expected one of");
    expect_problem(context, "lang = en and tongue = de",
                   "column 15 of the condition: no key 'tongue' is kept; these are: lang, year, a b");
}

static void depth_and_length_have_limits(void **state) {
    nigh_context *context = *state;
    struct nigh__where where;
    nigh_error error;
    for (unsigned depth = NIGH__WHERE_DEPTH - 1; depth <= NIGH__WHERE_DEPTH; depth++) {
        char text[2 * NIGH__WHERE_DEPTH + 16] = {0};
        memset(text, '(', depth);
        memcpy(text + depth, "lang=en", 7);
        memset(text + depth + 7, ')', depth);
        const nigh_status status = nigh__where_parse(context, text, &where, &error);
        nigh__where_release(&where);
        assert_int_equal(status, depth < NIGH__WHERE_DEPTH ? NIGH_OK : NIGH_EINVAL);
    }
    char *text = malloc(NIGH__WHERE_LENGTH + 2);
    memset(text, ' ', NIGH__WHERE_LENGTH + 1);
    memcpy(text, "lang=en", 7);
    text[NIGH__WHERE_LENGTH + 1] = '\0';
    assert_int_equal(nigh__where_parse(context, text, &where, &error), NIGH_ELIMIT);
    nigh__where_release(&where);
    text[NIGH__WHERE_LENGTH] = '\0';
    assert_ok(nigh__where_parse(context, text, &where, &error), &error);
    nigh__where_release(&where);
    free(text);
}

/* "a=1 or b=2 and not c=3" as "a1 b2 c3 ! & |": names and values as they come. */
static void expect_steps(nigh_context *context, const char *expression, const char *wanted) {
    struct nigh__where where;
    nigh_error error;
    char got[512] = "";
    assert_ok(nigh__where_parse(context, expression, &where, &error), &error);
    const struct nigh__where_step *steps = where.steps.data;
    for (size_t i = 0; i < where.steps.count; i++) {
        const size_t used = strlen(got);
        const nigh_value *value = (const nigh_value *)where.values.data + steps[i].first;
        if (steps[i].kind != NIGH__WHERE_COMPARE)
            (void)snprintf(got + used, sizeof got - used, " %c", " !&|"[steps[i].kind]);
        else if (value->type == NIGH_VALUE_TEXT)
            (void)snprintf(got + used, sizeof got - used, " %.*s:%.*s", (int)steps[i].name_length, steps[i].name,
                           (int)value->length, value->text);
        else
            (void)snprintf(got + used, sizeof got - used, " %.*s%lld", (int)steps[i].name_length, steps[i].name,
                           (long long)value->integer);
    }
    assert_string_equal(got, wanted);
    nigh__where_release(&where);
}

static void and_goes_before_or(void **state) {
    nigh_context *context = *state;
    expect_steps(context, "a=1 or b=2 and not c=3", " a1 b2 c3 ! & |");
    expect_steps(context, "(a=1 or b=2) and not (c=3)", " a1 b2 | c3 ! &");
    expect_steps(context, "NOT a=1 AND b=2", " a1 ! b2 &");
    expect_steps(context, "not not a=1", " a1 ! !");
}

static void words_and_quotes(void **state) {
    nigh_context *context = *state;
    expect_steps(context, "a=2024-01-02", " a:2024-01-02"); /* a word that is no number */
    expect_steps(context, "a='12'", " a:12");
    expect_steps(context, "a=\"it's \\\"so\\\" \\\\ \\n\"", " a:it's \"so\" \\ \\n");
    expect_steps(context, "'a b'=x/y.z", " a b:x/y.z");
    expect_steps(context, "'and'='or'", " and:or"); /* quoted they mean nothing */
    expect_steps(context, "a\n=\t\xc3\xa9", " a:\xc3\xa9");
    expect_steps(context, "a=''", " a:");
}

struct judged {
    const char *expression;
    const char *yes, *no; /* values, as expressions write them, separated by spaces */
};

static nigh_value value_from(char *word) {
    nigh_value value;
    if (!nigh__number_parse(word, strlen(word), &value))
        value = (nigh_value){.type = NIGH_VALUE_TEXT, .length = (uint32_t)strlen(word), .text = word};
    return value;
}

static void judge_all(nigh_context *context, const char *expression, const char *words, bool wanted) {
    struct nigh__where where;
    nigh_error error;
    char copy[256];
    assert_ok(nigh__where_parse(context, expression, &where, &error), &error);
    (void)snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, " "); word != NULL; word = strtok(NULL, " ")) {
        const nigh_value value = value_from(word);
        if (nigh__where_holds(&where, where.steps.data, &value) != wanted) fail_msg("%s of %s", expression, word);
    }
    nigh__where_release(&where);
}

static void comparisons_mean_what_they_say(void **state) {
    static const struct judged all[] = {
        {"k = 5", "5 5.0 50e-1", "4 6 5.5 five -5"},
        {"k != 5", "4 5.5 five", "5 5.0"}, /* a text is not 5 */
        {"k < 5", "4 4.999 -1e300", "5 5.5 1e300 five"},
        {"k <= 5", "4 5 5.0", "5.0001 9 five 05"},
        {"k > 2.5", "3 2.6 1e300", "2 2.5 -3 x"},
        {"k >= 2.5", "3 2.5", "2 2.4 x"},
        {"k = en", "en", "de EN e eng 5"},
        {"k != en", "de EN e 5", "en"},
        {"k < en", "de eN e EN", "en eng fr 5"}, /* a number is not less than a text */
        {"k >= en", "en eng fr", "de 9"},
        {"k = '5'", "", "5 5.0"},
        {"k in (3, en, 2.5, de)", "3 3.0 en de 2.5", "4 fr 2 e"},
        {"k in (x)", "x", "y 1"},
        {"k > 9007199254740992", "9007199254740993", "9007199254740992 9007199254740991.5"},
        {"k = 9223372036854775807", "9223372036854775807", "9223372036854775806 9223372036854775808"},
    };
    nigh_context *context = *state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        judge_all(context, all[i].expression, all[i].yes, true);
        judge_all(context, all[i].expression, all[i].no, false);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(problems_have_a_column),
        cmocka_unit_test(depth_and_length_have_limits),
        cmocka_unit_test(and_goes_before_or),
        cmocka_unit_test(words_and_quotes),
        cmocka_unit_test(comparisons_mean_what_they_say),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
