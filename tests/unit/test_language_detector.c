/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a text is in a language: a sentence of each against each, and texts that tell nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/support.h"
#include "text/language_detector.h"

static const struct {
    const char *code, *text;
} spoken[] = {
    {"da", "Den gamle mand gik ned til floden med sin hund, og der sad han hele dagen, fordi han ikke havde andet at "
           "g\u00f8re."},
    {"de", "Der alte Mann ging mit seinem Hund an den Fluss, und dort sa\u00df er den ganzen Tag, weil er nichts "
           "anderes zu tun hatte."},
    {"en",
     "The old man went down to the river with his dog, and there he sat all day, because he had nothing else to do."},
    {"es", "El viejo baj\u00f3 al r\u00edo con su perro y se qued\u00f3 sentado all\u00ed todo el d\u00eda, porque no "
           "ten\u00eda nada m\u00e1s que hacer."},
    {"fi", "Vanha mies meni koiransa kanssa joelle ja istui siell\u00e4 koko p\u00e4iv\u00e4n, koska h\u00e4nell\u00e4 "
           "ei ollut mit\u00e4\u00e4n muuta."},
    {"fr", "Le vieil homme est descendu \u00e0 la rivi\u00e8re avec son chien et il y est rest\u00e9 toute la "
           "journ\u00e9e, car il n\u2019avait rien d\u2019autre."},
    {"it", "Il vecchio scese al fiume con il suo cane e rimase seduto l\u00ec tutto il giorno, perch\u00e9 non aveva "
           "altro da fare."},
    {"nl",
     "De oude man ging met zijn hond naar de rivier en daar zat hij de hele dag, omdat hij niets anders te doen had."},
    {"no", "Den gamle mannen gikk ned til elva med hunden sin, og der satt han hele dagen, fordi han ikke hadde noe "
           "annet \u00e5 gj\u00f8re."},
    {"pt", "O velho desceu ao rio com o seu c\u00e3o e ficou ali sentado o dia todo, porque n\u00e3o tinha mais nada "
           "que fazer."},
    {"ru", "\u0421\u0442\u0430\u0440\u0438\u043a \u043f\u043e\u0448\u0451\u043b \u043a \u0440\u0435\u043a\u0435 "
           "\u0441\u043e \u0441\u0432\u043e\u0435\u0439 \u0441\u043e\u0431\u0430\u043a\u043e\u0439 \u0438 "
           "\u043f\u0440\u043e\u0441\u0438\u0434\u0435\u043b \u0442\u0430\u043c \u0432\u0435\u0441\u044c "
           "\u0434\u0435\u043d\u044c, \u043f\u043e\u0442\u043e\u043c\u0443 \u0447\u0442\u043e \u0435\u043c\u0443 "
           "\u043d\u0435\u0447\u0435\u0433\u043e \u0431\u044b\u043b\u043e \u0434\u0435\u043b\u0430\u0442\u044c."},
    {"sv", "Den gamle mannen gick ner till floden med sin hund, och d\u00e4r satt han hela dagen, eftersom han inte "
           "hade n\u00e5got annat att g\u00f6ra."},
};
#define SPOKEN (sizeof spoken / sizeof spoken[0])

static enum nigh__language_verdict judge(nigh_context *context, const char *code, const char *text) {
    struct nigh__language_detector *detector;
    enum nigh__language_verdict verdict;
    nigh_error error;
    assert_ok(nigh__language_detector_new(context, nigh__language_detectable(code), &detector, &error), &error);
    assert_ok(nigh__language_detect(detector, text, strlen(text), &verdict, &error), &error);
    nigh__language_detector_free(detector);
    return verdict;
}

static void test_each_against_each(void **state) {
    for (size_t asked = 0; asked < SPOKEN; asked++)
        for (size_t i = 0; i < SPOKEN; i++) {
            const enum nigh__language_verdict verdict = judge(*state, spoken[asked].code, spoken[i].text);
            const enum nigh__language_verdict right = asked == i ? NIGH__LANGUAGE_SAME : NIGH__LANGUAGE_OTHER;
            if (verdict != right) fail_msg("%s taken for %s: %d", spoken[i].code, spoken[asked].code, (int)verdict);
        }
}

/* Of languages without a list the letters tell, and of long texts that no stop word is there. */
static void test_others(void **state) {
    static const char *const others[] = {
        "Stary cz\u0142owiek poszed\u0142 ze swoim psem nad rzek\u0119 i siedzia\u0142 tam przez reszt\u0119 dnia",
        "\u6771\u4eac\u90fd\u306f\u65e5\u672c\u306e\u9996\u90fd\u3067\u3059",
        "\u03bf \u03b3\u03ad\u03c1\u03bf\u03c2 \u03ba\u03b1\u03b9 \u03b7 \u03b8\u03ac\u03bb\u03b1\u03c3\u03c3\u03b1",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(judge(*state, "en", others[i]), NIGH__LANGUAGE_OTHER);
    static const char swahili[] = "mzee alikwenda mtoni pamoja mbwa wake akaketi huko siku nzima kwa sababu hakuwa ";
    assert_int_equal(judge(*state, "en", swahili), NIGH__LANGUAGE_UNSURE);
    char text[9 * (sizeof swahili - 1) + 1] = "";
    for (size_t i = 0; i < 9; i++) memcpy(text + i * (sizeof swahili - 1), swahili, sizeof swahili);
    assert_int_equal(judge(*state, "en", text), NIGH__LANGUAGE_OTHER);
}

/* Too little to tell: nothing, a name, numbers, a word that many languages have, one word of another. */
static void test_unsure(void **state) {
    static const char *const texts[] = {"",   "1984 3.14 x86", "Krak\u00f3w", "shr 28 cts vs 50 cts",
                                        "in", "und",           "\xff\xfe"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        assert_int_equal(judge(*state, "en", texts[i]), NIGH__LANGUAGE_UNSURE);
    assert_int_equal(judge(*state, "en", "the M\u00fcller brothers and the r\u00e9sum\u00e9 of the other"),
                     NIGH__LANGUAGE_OTHER);
    assert_int_equal(judge(*state, "en", "the brothers M\u00fcller and the rest of the family were there"),
                     NIGH__LANGUAGE_SAME);
}

/* Only the beginning counts, so that a large text costs no more. */
static void test_beginning(void **state) {
    const size_t length = NIGH__DETECTED_BYTES + 100000;
    char *text = malloc(length + 1);
    assert_non_null(text);
    for (size_t i = 0; i < length; i++)
        text[i] = (i < NIGH__DETECTED_BYTES ? "this and that, " : "und das ist der ")[i % 15];
    text[length] = '\0';
    assert_int_equal(judge(*state, "en", text), NIGH__LANGUAGE_SAME);
    assert_int_equal(judge(*state, "de", text), NIGH__LANGUAGE_OTHER);
    free(text);
}

static void test_names(void **state) {
    (void)state;
    char codes[NIGH__DETECTABLE_SIZE];
    nigh__language_list_detectable(codes, sizeof codes);
    assert_string_equal(codes, "da, nl, en, fi, fr, de, it, no, pt, ru, es, sv");
    assert_ptr_equal(nigh__language_detectable("english"), nigh__language_detectable("en"));
    assert_null(nigh__language_detectable("hu")); /* there is a stemmer, but no list */
    assert_null(nigh__language_detectable("none"));
    assert_null(nigh__language_detectable(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_against_each), cmocka_unit_test(test_others), cmocka_unit_test(test_unsure),
        cmocka_unit_test(test_beginning),         cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
