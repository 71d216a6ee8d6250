/* SPDX-License-Identifier: Apache-2.0 */
/* Ids as one line of printable text, and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/escape.h"
#include "base/rng.h"

static void assert_escaped(const char *bytes, size_t length, const char *expected) {
    char out[256];
    char back[256];
    assert_int_equal(nigh_escape(bytes, length, out, sizeof out), strlen(expected));
    assert_string_equal(out, expected);
    assert_int_equal(nigh_unescape(out, strlen(out), back), length);
    assert_memory_equal(back, bytes, length);
}

static void test_forms(void **state) {
    (void)state;
    assert_escaped("", 0, "");
    assert_escaped("news/2026 \xc3\xa9", 12, "news/2026 \xc3\xa9");
    assert_escaped("a\tb", 3, "a\\tb");
    assert_escaped("a\nb\rc", 5, "a\\nb\\rc");
    assert_escaped("a\\tb", 4, "a\\\\tb");
    assert_escaped("\0\x1b[31m\x7f", 7, "\\x00\\x1b[31m\\x7f");
    assert_escaped("\xff\xc3", 2, "\\xff\\xc3");           /* no UTF-8 */
    assert_escaped("\xed\xa0\x80", 3, "\\xed\\xa0\\x80");  /* a surrogate */
    assert_escaped("\xc2\x9b\x31m", 4, "\\xc2\\x9b\x31m"); /* C1 */
    /* NOLINTNEXTLINE(misc-misleading-bidirectional): directions */
    assert_escaped("\xe2\x80\xae\xe2\x81\xa6", 6, "\\xe2\\x80\\xae\\xe2\\x81\\xa6");
    assert_escaped("\xe2\x80\xa8", 3, "\\xe2\\x80\\xa8"); /* a line ends */
    assert_escaped("\xd8\x9c", 2, "\\xd8\\x9c");
}

/* What begins no escape stands for itself: paths of other systems are often not escaped at all. */
static void test_lenient(void **state) {
    (void)state;
    static const struct {
        const char *text, *meant;
    } cases[] = {
        {"C:\\data\\", "C:\\data\\"}, {"\\x4", "\\x4"}, {"\\xzz", "\\xzz"}, {"\\x41\\X41", "A\\X41"}, {"\\", "\\"}};
    char out[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const size_t length = nigh_unescape(cases[i].text, strlen(cases[i].text), out);
        assert_int_equal(length, strlen(cases[i].meant));
        assert_memory_equal(out, cases[i].meant, length);
    }
}

/* Cut between characters, and never past the room. */
static void test_room(void **state) {
    (void)state;
    char out[8];
    for (size_t capacity = 0; capacity <= sizeof out; capacity++) {
        memset(out, '#', sizeof out);
        assert_int_equal(nigh_escape("a\tb\x01", 4, capacity == 0 ? NULL : out, capacity), 8);
        if (capacity > 0) assert_true(strlen(out) < capacity);
        for (size_t i = capacity; i < sizeof out; i++) assert_int_equal(out[i], '#');
        if (capacity == 3) assert_string_equal(out, "a");
        if (capacity == 8) assert_string_equal(out, "a\\tb");
    }
}

/* Any bytes come back, from a line without tabs and controls. */
static void test_any_bytes(void **state) {
    (void)state;
    struct nigh__rng rng = {5};
    for (size_t round = 0; round < 2000; round++) {
        char bytes[40];
        char out[161];
        char back[160];
        const size_t length = nigh__rng_next(&rng) % sizeof bytes;
        for (size_t i = 0; i < length; i++) bytes[i] = (char)nigh__rng_next(&rng);
        const size_t escaped = nigh_escape(bytes, length, out, sizeof out);
        assert_true(escaped <= 4 * length);
        for (size_t i = 0; i < escaped; i++) assert_true((unsigned char)out[i] >= ' ' && out[i] != 0x7f);
        assert_int_equal(nigh_unescape(out, escaped, back), length);
        assert_memory_equal(back, bytes, length);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_lenient),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_any_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
