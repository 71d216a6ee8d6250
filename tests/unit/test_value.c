/* SPDX-License-Identifier: Apache-2.0 */
/* Values: what is a number, which form it has, in which order they stand, and how they travel. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/keep_keys.h"
#include "base/value.h"
#include "support/support.h"

static nigh_value parse(const char *text) {
    nigh_value value;
    if (!nigh__number_parse(text, strlen(text), &value)) fail_msg("'%s' is no number", text);
    return value;
}

static void expect_integer(const char *text, int64_t integer) {
    const nigh_value value = parse(text);
    assert_int_equal(value.type, NIGH_VALUE_INTEGER);
    assert_true(value.integer == integer);
}

static void expect_real(const char *text, double real) {
    const nigh_value value = parse(text);
    assert_int_equal(value.type, NIGH_VALUE_REAL);
    assert_true(value.real == real);
}

static void numbers_are_those_of_json(void **state) {
    static const char *const none[] = {"",    "-",  "+1", "01",  ".5",         "5.",    "1e",   "1e+", "0x10",    "inf",
                                       "nan", "1 ", " 1", "1,5", "2024-01-01", "1.2.3", "1e5x", "--1", "Infinity"};
    nigh_value value;
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        if (nigh__number_parse(none[i], strlen(none[i]), &value)) fail_msg("'%s' is a number", none[i]);
    expect_integer("0", 0);
    expect_integer("-0", 0);
    expect_integer("2024", 2024);
    expect_integer("9223372036854775807", INT64_MAX);
    expect_integer("-9223372036854775808", INT64_MIN);
    expect_integer("2024.0", 2024);
    expect_integer("2.5e1", 25);
    expect_integer("1e18", INT64_C(1000000000000000000));
    expect_real("9223372036854775808", 9223372036854775808.0);
    expect_real("0.5", 0.5);
    expect_real("-2.5E-3", -0.0025);
    expect_real("1e999", 1.7976931348623157e308);
    expect_real("-1e999", -1.7976931348623157e308);
}

/* Whatever a program has set: the point is a point. */
static void numbers_do_not_go_by_the_locale(void **state) {
    (void)state;
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) (void)setlocale(LC_ALL, "de_DE");
    expect_real("1234.5", 1234.5);
    (void)setlocale(LC_ALL, "C");
}

static void numbers_compare_exactly(void **state) {
    static const char *const ascending[] = {"-1e300",
                                            "-9223372036854775809e1",
                                            "-9223372036854775808",
                                            "-9007199254740993",
                                            "-1.5",
                                            "-1",
                                            "-0.25",
                                            "0",
                                            "1e-300",
                                            "0.5",
                                            "1",
                                            "1.5",
                                            "9007199254740992",
                                            "9007199254740993",
                                            "9223372036854775806",
                                            "9223372036854775807",
                                            "9223372036854775808",
                                            "1e300"};
    const size_t count = sizeof ascending / sizeof ascending[0];
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            const nigh_value a = parse(ascending[i]);
            const nigh_value b = parse(ascending[j]);
            const int order = nigh__number_order(&a, &b);
            if ((order > 0) - (order < 0) != (i > j) - (i < j)) fail_msg("%s and %s", ascending[i], ascending[j]);
        }
}

static nigh_value text_value(const char *text) {
    return (nigh_value){.type = NIGH_VALUE_TEXT, .length = (uint32_t)strlen(text), .text = text};
}

static void dictionaries_have_one_order(void **state) {
    const nigh_value ascending[] = {parse("-3"),      parse("7"),      parse("-0.5"),
                                    parse("0.25"),    text_value(""),  text_value("a"),
                                    text_value("a "), text_value("b"), text_value("\xc3\xa9")};
    const size_t count = sizeof ascending / sizeof ascending[0];
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            const int order = nigh__value_order(&ascending[i], &ascending[j]);
            assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
        }
}

static void values_travel_packed(void **state) {
    nigh_context *context = context_new();
    struct nigh__array bytes = NIGH__ARRAY(uint8_t);
    const nigh_value values[] = {
        text_value("en"), parse("-5"), {.type = NIGH_VALUE_NONE}, parse("0.5"), text_value("")};
    nigh_value got[NIGH_MAX_KEEP_KEYS];
    uint32_t count = 0;
    (void)state;
    assert_true(nigh__values_append(context, &bytes, values, 5));
    assert_int_equal(bytes.count, nigh__values_size(values, 5));
    assert_true(nigh__values_unpack(bytes.data, bytes.count, got, &count));
    assert_int_equal(count, 5);
    for (uint32_t i = 0; i < 5; i++) assert_int_equal(nigh__value_order(&values[i], &got[i]), 0);
    /* Cut anywhere they are no values, but where one of them ends. */
    for (size_t length = 0; length < bytes.count; length++)
        if (nigh__values_unpack(bytes.data, length, got, &count)) assert_true(nigh__values_size(got, count) == length);
    ((uint8_t *)bytes.data)[0] = 9;
    assert_false(nigh__values_unpack(bytes.data, bytes.count, got, &count));
    nigh__array_release(context, &bytes);
    nigh_context_free(context);
}

/* Whole numbers as reals, and what is no number, are not what this library packs. */
static void only_normal_values_are_unpacked(void **state) {
    static const double reals[] = {2.0, -0.0, NAN, INFINITY};
    nigh_value got[NIGH_MAX_KEEP_KEYS];
    uint32_t count = 0;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        uint8_t bytes[9] = {NIGH_VALUE_REAL};
        memcpy(bytes + 1, &reals[i], sizeof reals[i]);
        assert_false(nigh__values_unpack(bytes, sizeof bytes, got, &count));
    }
    const uint8_t many[NIGH_MAX_KEEP_KEYS + 1] = {0};
    assert_true(nigh__values_unpack(many, NIGH_MAX_KEEP_KEYS, got, &count));
    assert_false(nigh__values_unpack(many, NIGH_MAX_KEEP_KEYS + 1, got, &count));
}

static void keys_are_lines(void **state) {
    static const char *const keys[] = {"lang", "page.year", "x=y"};
    static const char *const twice[] = {"a", "a"};
    static const char *const bad[] = {"", "a\tb"};
    nigh_context *context = context_new();
    nigh_error error;
    char *lines = NULL;
    size_t length = 0;
    (void)state;
    assert_ok(nigh__keep_keys_lines(context, keys, 3, &lines, &error), &error);
    assert_string_equal(lines, "keep-key=lang\nkeep-key.2=page.year\nkeep-key.3=x=y\n");
    assert_int_equal(nigh__keep_keys_count(lines), 3);
    assert_int_equal(nigh__keep_keys_find(lines, "page.year", 9), 1);
    assert_int_equal(nigh__keep_keys_find(lines, "page.yea", 8), 3);
    assert_true(strncmp(nigh__keep_keys_name(lines, 2, &length), "x=y\n", 4) == 0 && length == 3);
    assert_true(nigh__keep_keys_are(lines, keys, 3));
    assert_false(nigh__keep_keys_are(lines, keys, 2));
    assert_ok(nigh__keep_keys_fit(context, "c.nigh", lines, keys, 3, &error), &error);
    assert_ok(nigh__keep_keys_fit(context, "c.nigh", lines, NULL, 0, &error), &error);
    assert_int_equal(nigh__keep_keys_fit(context, "c.nigh", lines, keys + 1, 2, &error), NIGH_EMISMATCH);
    assert_string_equal(error.why, "it keeps the keys lang, page.year, x=y, and not page.year, x=y");
    assert_int_equal(nigh__keep_keys_fit(context, "c.nigh", lines, NULL, 1, &error), NIGH_EINVAL);
    assert_string_equal(nigh__keep_keys_shown(lines).text, "lang, page.year, x=y");
    assert_string_equal(nigh__keep_keys_shown("bits=64\n").text, "none");
    nigh__free(context, lines);
    assert_int_equal(nigh__keep_keys_lines(context, twice, 2, &lines, &error), NIGH_EINVAL);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(nigh__keep_keys_lines(context, bad + i, 1, &lines, &error), NIGH_EINVAL);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_json),
        cmocka_unit_test(numbers_do_not_go_by_the_locale),
        cmocka_unit_test(numbers_compare_exactly),
        cmocka_unit_test(dictionaries_have_one_order),
        cmocka_unit_test(values_travel_packed),
        cmocka_unit_test(only_normal_values_are_unpacked),
        cmocka_unit_test(keys_are_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
