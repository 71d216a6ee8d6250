/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The analyser equals the speller, and both equal what utf8proc makes of the
 * whole text, on texts of all kinds: random ones, and every character there is
 * between letters and punctuation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/analysis_support.h"
#include "support/support.h"
#include "text/unicode.h"

static void compare(struct analysis_pair *pair, const char *text, size_t length, uint64_t number) {
    char *spelled = analysis_spelled(pair, text, length);
    char *by_hand = analysis_by_hand(pair, text, length);
    if (strcmp(spelled, by_hand) != 0) {
        print_error("text %llu of %zu bytes\nspelled: %s\nby hand: %s\n", (unsigned long long)number, length, spelled,
                    by_hand);
        fail();
    }
    for (int time = 0; time < 2; time++) { /* at first sight, and from memory */
        if (!analysis_agrees(pair, text, length, spelled)) {
            print_error("text %llu of %zu bytes, time %d: the analyser differs from '%s'\n", (unsigned long long)number,
                        length, time, spelled);
            fail();
        }
    }
    free(spelled);
    free(by_hand);
}

/* ------------------------------------------------------------ random texts -- */

struct draft {
    struct nigh__rng rng;
    char bytes[6000];
    size_t length;
};

static uint32_t below(struct draft *draft, uint32_t limit) { return (uint32_t)(nigh__rng_next(&draft->rng) % limit); }

static void put_code(struct draft *draft, uint32_t code) {
    if (draft->length + 4 > sizeof draft->bytes || (code >= 0xd800 && code < 0xe000)) return;
    draft->length += nigh__utf8_write((int32_t)code, draft->bytes + draft->length);
}

static void put_text(struct draft *draft, const char *text) {
    size_t length = strlen(text);
    if (draft->length + length > sizeof draft->bytes) return;
    memcpy(draft->bytes + draft->length, text, length);
    draft->length += length;
}

static void put_ascii(struct draft *draft) { put_code(draft, below(draft, 128)); }

static void put_word(struct draft *draft) {
    static const char *const words[] = {"the",
                                        "Running",
                                        "cafés",
                                        "NAÏVE",
                                        "don’t",
                                        "word—dash",
                                        "“quoted”",
                                        "x86",
                                        "Ǆungla",
                                        "Straße",
                                        "ﬁne",
                                        "½",
                                        "№5",
                                        "привет",
                                        "Это",
                                        "ΣΊΣΥΦΟΣ",
                                        "東京都",
                                        "カタカナ",
                                        "한국어",
                                        "ภาษาไทย",
                                        "ｆｕｌｌ",
                                        "㌀",
                                        "ﷺ",
                                        "e\u0301",
                                        "a\u0323\u0307",
                                        "<\u0338",
                                        "=\u0338x",
                                        "soft\u00adhyphen",
                                        "zero\u200bwidth",
                                        "…",
                                        "İ",
                                        "ŉ"};
    put_text(draft, words[below(draft, sizeof words / sizeof words[0])]);
    if (below(draft, 4) != 0) put_text(draft, below(draft, 3) != 0 ? " " : "-");
}

/* Characters of blocks where normalising does the most. */
static void put_block(struct draft *draft) {
    static const uint32_t blocks[][2] = {{0x80, 0x250},     {0x300, 0x370},     {0x370, 0x530},     {0x5d0, 0x700},
                                         {0x900, 0xe00},    {0xe00, 0xf00},     {0x1100, 0x1200},   {0x1e00, 0x2100},
                                         {0x2460, 0x2500},  {0x3000, 0x3400},   {0xac00, 0xd7a4},   {0xf900, 0xfb50},
                                         {0xfb50, 0x10000}, {0x11000, 0x11a00}, {0x1d100, 0x1d800}, {0x1f100, 0x1f200},
                                         {0xe0000, 0xe0200}};
    const uint32_t *block = blocks[below(draft, sizeof blocks / sizeof blocks[0])];
    for (uint32_t i = below(draft, 6); i > 0; i--) put_code(draft, block[0] + below(draft, block[1] - block[0]));
}

static void put_marks(struct draft *draft) {
    put_code(draft, (uint32_t) "ae<=o> 1"[below(draft, 8)]);
    for (uint32_t i = below(draft, 5) == 0 ? 40 + below(draft, 400) : below(draft, 5); i > 0; i--)
        put_code(draft, 0x300 + below(draft, 0x50));
}

static void put_any(struct draft *draft) { put_code(draft, below(draft, 0x110000)); }

static void put_bytes(struct draft *draft) {
    for (uint32_t i = below(draft, 6); i > 0 && draft->length < sizeof draft->bytes; i--)
        draft->bytes[draft->length++] = (char)(0x80 + below(draft, 0x80));
}

/* East Asian letters and signs, and what may stand between them. */
static void put_dense(struct draft *draft) {
    static const uint32_t codes[] = {0x6771, 0x4eac, 0x90fd, 0xac00, 0xb098, 0x3042, 0x30ab, 0x30fc,  0x3005, 0x3007,
                                     0x3001, 0x3002, 0xff0c, 0xff01, 0xff1c, 0x338,  0x3099, 0xff21,  0xff11, 0x3000,
                                     0x2019, 0x2026, 0x30fb, 0x300c, 'a',    '1',    0xe9,   0x1100,  0x11a8, 0xfffd,
                                     0x3400, 0x9ff0, 0xff76, 0x301,  'K',    ' ',    0x200d, 0x20000, 0x2010, 0x2027};
    for (uint32_t i = 1 + below(draft, 12); i > 0; i--)
        put_code(draft, codes[below(draft, below(draft, 3) != 0 ? 12 : sizeof codes / sizeof codes[0])]);
}

static void put_long(struct draft *draft) {
    uint32_t kind = below(draft, 4);
    for (uint32_t i = 200 + below(draft, 400); i > 0; i--) {
        static const uint32_t first[] = {'a', 0xe0, 0x430, 0x4e00};
        put_code(draft, first[kind] + below(draft, 20));
        if (below(draft, 300) == 0) put_code(draft, 0x301);
    }
}

static void test_random(void **state) {
    static void (*const puts[])(struct draft *) = {put_ascii, put_word,  put_block, put_marks,
                                                   put_any,   put_bytes, put_dense, put_ascii};
    static const char *const languages[] = {"none", "en", "ru", "de", "en", "none", "en", "en"};
    static const uint32_t shortest[] = {0, 0, 0, 0, 0, 0, 3, 5};
    struct draft *draft = calloc(1, sizeof *draft);
    assert_non_null(draft);
    for (size_t language = 0; language < sizeof languages / sizeof languages[0]; language++) {
        struct analysis_pair pair;
        if (language < 5)
            analysis_pair_init(&pair, *state, languages[language], language != 3, language != 4);
        else
            analysis_pair_init_without(&pair, *state, languages[language], language != 7, shortest[language]);
        for (uint64_t number = 0; number < 1000; number++) {
            draft->rng.state = number * 1000 + language;
            draft->length = 0;
            uint32_t only = below(draft, 16); /* some texts are all of a kind */
            for (uint32_t i = below(draft, number % 50 == 0 ? 1500 : 40); i > 0; i--)
                puts[only < 8 ? only : below(draft, 8)](draft);
            if (below(draft, 20) == 0) put_long(draft);
            compare(&pair, draft->bytes, draft->length, number);
        }
        analysis_pair_release(&pair);
    }
    free(draft);
}

/* --------------------------------------------------------- every character -- */

/* Characters that are all alike: Han, Hangul syllables, private and unassigned ones. */
static bool is_ordinary(uint32_t code) {
    return (code >= 0x3400 && code < 0xa000) || (code >= 0xac00 && code < 0xf900) ||
           (code >= 0x12000 && code < 0x16000) || (code >= 0x17000 && code < 0x1b000) ||
           (code >= 0x20000 && code < 0xe0000) || code >= 0xe1000;
}

/* Each between letters, after punctuation, before an accent, at the ends, and twice. */
static void every_character(struct analysis_pair *pair) {
    static char text[1 << 16];
    size_t length = 0;
    for (uint32_t code = 0; code < 0x110000; code++) {
        if ((code >= 0xd800 && code < 0xe000) || (is_ordinary(code) && code % 64 != 0)) continue;
        static const char *const around[] = {"ab",      "cd ", "=",      "-x",     "\u0301 \u0338",
                                             "\u0338e", " ",   "\u30ab", "\u3099", "\n"};
        for (size_t i = 0; i < sizeof around / sizeof around[0]; i++) {
            length += nigh__utf8_write((int32_t)code, text + length);
            memcpy(text + length, around[i], strlen(around[i]));
            length += strlen(around[i]);
        }
        if (length < sizeof text - 256 && code != 0x10ffff) continue;
        compare(pair, text, length, code);
        length = 0;
    }
}

static void test_every_character(void **state) {
    struct analysis_pair pair;
    analysis_pair_init(&pair, *state, "en", true, true);
    every_character(&pair);
    analysis_pair_release(&pair);
    analysis_pair_init_without(&pair, *state, "none", true, 2);
    every_character(&pair);
    analysis_pair_release(&pair);
}

/* --------------------------------------------------------------- long texts -- */

/* Segments and words at every place around the ends of blocks and chunks. */
static void test_edges(void **state) {
    struct analysis_pair pair;
    analysis_pair_init(&pair, *state, "en", true, true);
    const size_t room = 40000;
    char *text = malloc(room);
    assert_non_null(text);
    static const char *const fillers[] = {" ", "a", "é", "ab ", "\u6771"};
    for (size_t filler = 0; filler < sizeof fillers / sizeof fillers[0]; filler++) {
        for (size_t length = 16384 - 70; length < 16384 + 70; length += filler == 3 ? 1 : 11) {
            for (size_t i = 0; i < room; i++) text[i] = fillers[filler][i % strlen(fillers[filler])];
            memcpy(text + length - 30, " running don’t wörter", 22);
            compare(&pair, text, length, filler);
            compare(&pair, text, length + 20000, filler);
        }
    }
    for (size_t length = 0; length < 200; length++) compare(&pair, text + 1, length, length);
    free(text);
    analysis_pair_release(&pair);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
