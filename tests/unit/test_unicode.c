/* SPDX-License-Identifier: Apache-2.0 */
/* Characters: UTF-8 that is and is not, normalising in the smallest pieces against utf8proc, kinds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>
#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"
#include "text/unicode.h"

#define OPTIONS (UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE)

static void test_utf8_every_character(void **state) {
    (void)state;
    for (int32_t code = 0; code < 0x110000; code++) {
        if (code >= 0xd800 && code < 0xe000) continue;
        char bytes[5];
        size_t length = nigh__utf8_write(code, bytes);
        size_t taken;
        assert_int_equal(nigh__utf8_read(bytes, length, &taken), code);
        assert_int_equal(taken, length);
        if (length == 1) continue;
        assert_int_equal(nigh__utf8_read(bytes, length - 1, &taken), NIGH__REPLACEMENT);
        assert_int_equal(taken, 1);
    }
}

/* Any four bytes are read as utf8proc reads them. */
static void test_utf8_any_bytes(void **state) {
    (void)state;
    struct nigh__rng rng = {.state = 1};
    for (int i = 0; i < 2000000; i++) {
        uint64_t random = nigh__rng_next(&rng);
        char bytes[4];
        for (int at = 0; at < 4; at++)
            bytes[at] = (char)((at == 0 ? 0xc0 : random >> 32 & 0x40) | (random >> 8 * at & 0xbf));
        size_t length = 1 + (size_t)(random >> 62);
        size_t taken;
        int32_t code = nigh__utf8_read(bytes, length, &taken);
        int32_t expected;
        utf8proc_ssize_t step = utf8proc_iterate((const utf8proc_uint8_t *)bytes, (utf8proc_ssize_t)length, &expected);
        assert_int_equal(code, step > 0 ? expected : NIGH__REPLACEMENT);
        assert_int_equal(taken, step > 0 ? step : 1);
    }
}

static void test_kinds(void **state) {
    (void)state;
    static const struct {
        int32_t code;
        enum nigh__letter_kind kind;
    } cases[] = {
        {'a', NIGH__LETTER},       {'7', NIGH__DIGIT},        {'_', NIGH__SEPARATOR},      {' ', NIGH__SEPARATOR},
        {0, NIGH__SEPARATOR},      {0xe9, NIGH__LETTER},      {0x301, NIGH__MARK},         {0x2c0, NIGH__LETTER},
        {0x660, NIGH__DIGIT},      {0x2163, NIGH__DIGIT},     {0x20dd, NIGH__MARK},        {0x903, NIGH__MARK},
        {0x4e00, NIGH__DENSE},     {0x3042, NIGH__DENSE},     {0x30fc, NIGH__DENSE},       {0xac00, NIGH__DENSE},
        {0xe01, NIGH__DENSE},      {0xe50, NIGH__DENSE},      {0x3007, NIGH__DENSE},       {0x20000, NIGH__DENSE},
        {0xe31, NIGH__MARK},       {0xe3f, NIGH__SEPARATOR},  {0x3002, NIGH__SEPARATOR},   {0x3099, NIGH__MARK},
        {0x30fb, NIGH__SEPARATOR}, {0x3105, NIGH__LETTER},    {0xe81, NIGH__LETTER},       {0xfffd, NIGH__SEPARATOR},
        {0x378, NIGH__SEPARATOR},  {0xe000, NIGH__SEPARATOR}, {0x10ffff, NIGH__SEPARATOR}, {0x1f600, NIGH__SEPARATOR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(nigh__letter_kind(cases[i].code), cases[i].kind);
}

/* Of every character, as its category says. */
static void test_kinds_every_character(void **state) {
    (void)state;
    for (int32_t code = 0; code < 0x110000; code++) {
        static const char kinds[] = {'S', 'L', 'D', 'M', 'L'};
        const char category = utf8proc_category_string(code)[0];
        const char expected = category == 'L' ? 'L' : category == 'M' ? 'M' : category == 'N' ? 'D' : 'S';
        const enum nigh__letter_kind kind = nigh__letter_kind(code);
        if (kind == NIGH__DENSE)
            assert_true(expected == 'L' || expected == 'D');
        else
            assert_int_equal(kinds[kind], expected);
    }
}

/* The whole text through pieces of `least` characters, as UTF-8; to be freed.  Pieces must follow one another. */
static char *normal_in_pieces(nigh_context *context, const char *text, size_t length, size_t least, size_t *pieces) {
    struct nigh__normaliser normaliser;
    nigh__normaliser_init(context, &normaliser);
    nigh__normaliser_start(&normaliser, text, length);
    struct nigh__array out = NIGH__ARRAY(char);
    const int32_t *codes;
    size_t count;
    size_t end = 0;
    *pieces = 0;
    while (nigh__normaliser_next(&normaliser, least, &codes, &count, NULL) == NIGH_OK) {
        assert_int_equal(normaliser.begin, end);
        assert_true(normaliser.end > end);
        end = normaliser.end;
        for (size_t i = 0; i < count; i++) {
            char bytes[NIGH__UTF8_MAX];
            size_t bytes_count = nigh__utf8_write(codes[i], bytes);
            char *added = nigh__array_add(context, &out, bytes_count);
            assert_non_null(added);
            memcpy(added, bytes, bytes_count);
        }
        (*pieces)++;
    }
    assert_int_equal(end, length);
    nigh__normaliser_release(&normaliser);
    char *added = nigh__array_add(context, &out, 1);
    assert_non_null(added);
    *added = 0;
    return out.data;
}

static void compare(nigh_context *context, const char *text, size_t length) {
    utf8proc_uint8_t *expected;
    assert_true(utf8proc_map((const utf8proc_uint8_t *)text, (utf8proc_ssize_t)length, &expected,
                             (utf8proc_option_t)OPTIONS) >= 0);
    static const size_t leasts[] = {1, 2, 7, 1000};
    for (size_t i = 0; i < sizeof leasts / sizeof leasts[0]; i++) {
        size_t pieces;
        char *normal = normal_in_pieces(context, text, length, leasts[i], &pieces);
        assert_string_equal(normal, (char *)expected);
        nigh__free(context, normal);
    }
    free(expected);
}

/* Every character, after one of every kind that joins what follows it. */
static void test_normal_every_pair(void **state) {
    static const int32_t before[] = {'a',    'e',    '<',     '=',     ' ',     0x3b1,   0x915,  0x9c7,
                                     0xb47,  0xbc6,  0xcc6,   0xd46,   0xdd9,   0x1025,  0x1100, 0xac00,
                                     0x1b05, 0x30ab, 0x11131, 0x11347, 0x114b9, 0x115b8, 0x11935};
    for (int32_t code = 1; code < 0x110000; code++) {
        if ((code >= 0xd800 && code < 0xe000) || (code >= 0x20000 && code < 0xe0000) || code >= 0xe1000) continue;
        if (((code >= 0x3400 && code < 0xa000) || (code >= 0xac00 && code < 0xf900)) && code % 16 != 0) continue;
        char text[256];
        size_t length = 0;
        for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
            length += nigh__utf8_write(before[i], text + length);
            length += nigh__utf8_write(code, text + length);
        }
        length += nigh__utf8_write(0x301, text + length);
        compare(*state, text, length);
    }
}

/* Characters of East Asia, all of them in a row, and each before a mark or a jamo that joins it. */
static void test_normal_east(void **state) {
    static const int32_t joining[] = {0, 0x3099, 0x309a, 0x11a8, 0x1161, 0x302a, 0xfe00, 0x301, 0x338};
    static char text[4 * 2 * (0x10000 - 0x2000)];
    for (size_t i = 0; i < sizeof joining / sizeof joining[0]; i++) {
        size_t length = 0;
        for (int32_t code = 0x2000; code < 0xffff; code++) {
            if (code >= 0xd800 && code < 0xe000) continue;
            length += nigh__utf8_write(code, text + length);
            if (joining[i] != 0) length += nigh__utf8_write(joining[i], text + length);
        }
        compare(*state, text, length);
    }
}

/* Pieces may begin with no character that a composed one can end with. */
static void test_boundaries(void **state) {
    size_t composed = 0;
    for (int32_t code = 0xa0; code < 0x110000; code++) {
        int32_t parts[32];
        int last = 0;
        if (code >= 0xd800 && code < 0xe000) continue;
        utf8proc_ssize_t count = utf8proc_decompose_char(code, parts, 32, UTF8PROC_DECOMPOSE, &last);
        if (count < 2 || (code >= 0xac00 && code < 0xd7a4 && code % 97 != 0)) continue;
        if (parts[count - 1] == 0x345) continue; /* the iota below: folding makes a letter of it */
        char text[16 * 4];
        size_t length = 0;
        for (utf8proc_ssize_t i = 0; i < count; i++) length += nigh__utf8_write(parts[i], text + length);
        size_t pieces;
        char *normal = normal_in_pieces(*state, text, length, 1, &pieces);
        assert_int_equal(pieces, 1);
        nigh__free(*state, normal);
        composed++;
    }
    assert_true(composed > 1000);
}

static void test_normal_examples(void **state) {
    static const char *const cases[][2] = {
        {"", ""},
        {"The Na\u00cfve CAF\u00c9", "the na\u00efve caf\u00e9"},
        {"E\u0301 o\u0323\u0302 o\u0302\u0323", "\u00e9 \u1ed9 \u1ed9"},
        {"\ufb01n \u2460 \u00bd Stra\u00dfe", "fin 1 1\u20442 strasse"},
        {"soft\u00adhyphen zero\u200bwidth \ufeffmark", "softhyphen zerowidth mark"},
        {"\u1112\u1161\u11ab \uff76\uff9e", "\ud55c \u30ac"},
        {"bad \xff\xc3(\xed\xa0\x80 byte", "bad \ufffd\ufffd(\ufffd\ufffd\ufffd byte"},
        {"<\u0338 \u0130", "\u226e i\u0307"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t pieces;
        char *normal = normal_in_pieces(*state, cases[i][0], strlen(cases[i][0]), 1, &pieces);
        assert_string_equal(normal, cases[i][1]);
        nigh__free(*state, normal);
    }
}

/* Marks in the worst order: equal to utf8proc where that ends, and linear where it would not. */
static void test_normal_many_marks(void **state) {
    const size_t marks = 1000000;
    char *text = malloc(1 + 2 * marks);
    assert_non_null(text);
    text[0] = 'a';
    for (size_t i = 0; i < marks; i++) {
        static const int32_t falling[] = {0x315, 0x301, 0x323, 0x327, 0x338};
        nigh__utf8_write(falling[i * 5 / marks], text + 1 + 2 * i);
    }
    size_t pieces;
    char *normal = normal_in_pieces(*state, text, 1 + 2 * marks, 1, &pieces);
    assert_int_equal(pieces, 1);
    nigh__free(*state, normal);
    for (size_t i = 0; i < 1000; i++) {
        static const int32_t falling[] = {0x315, 0x301, 0x323, 0x327, 0x338};
        nigh__utf8_write(falling[i / 200], text + 1 + 2 * i);
    }
    compare(*state, text, 1 + 2 * 1000);
    free(text);
}

static void test_no_memory(void **state) {
    (void)state;
    char text[200];
    for (size_t i = 0; i < sizeof text; i += 2) nigh__utf8_write(i < 100 ? 0x301 : 0x323, text + i);
    for (uint64_t fail_at = 0; fail_at < 5; fail_at++) {
        struct faulty_memory memory = {.fail_at = UINT64_MAX};
        nigh_allocator allocator = faulty_memory_allocator(&memory);
        nigh_context *context = context_with(NULL, &allocator, NULL);
        int64_t live = memory.live;
        struct nigh__normaliser normaliser;
        nigh__normaliser_init(context, &normaliser);
        nigh__normaliser_start(&normaliser, text, sizeof text);
        const int32_t *codes;
        size_t count;
        memory.fail_at = memory.calls + fail_at;
        nigh_error error;
        nigh_status status = nigh__normaliser_next(&normaliser, 1, &codes, &count, &error);
        assert_int_equal(status, memory.calls > memory.fail_at ? NIGH_ENOMEM : NIGH_OK);
        nigh__normaliser_release(&normaliser);
        assert_int_equal(memory.live, live);
        nigh_context_free(context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utf8_every_character),
        cmocka_unit_test(test_utf8_any_bytes),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_kinds_every_character),
        cmocka_unit_test(test_normal_every_pair),
        cmocka_unit_test(test_normal_east),
        cmocka_unit_test(test_boundaries),
        cmocka_unit_test(test_normal_examples),
        cmocka_unit_test(test_normal_many_marks),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
