/* SPDX-License-Identifier: Apache-2.0 */
/* The languages that libstemmer knows, and how a word is found among the stop words of one. */
#include "text/language.h"

#include <string.h>

#include "nigh.h"
#include "text/stop_words.h"

static const struct nigh__language languages[] = {
    {"ar", "arabic", "", ""},
    {"hy", "armenian", "", ""},
    {"eu", "basque", "", ""},
    {"ca", "catalan", "", ""},
    {"da", "danish", nigh__stop_words_danish, "æøåé"},
    {"nl", "dutch", nigh__stop_words_dutch, "ëïéèöü"},
    {"en", "english", nigh__stop_words_english, ""},
    {"fi", "finnish", nigh__stop_words_finnish, "äöåšž"},
    {"fr", "french", nigh__stop_words_french, "àâæçéèêëîïôœùûüÿ"},
    {"de", "german", nigh__stop_words_german, "äöü"},
    {"el", "greek", "", ""},
    {"hi", "hindi", "", ""},
    {"hu", "hungarian", "", ""},
    {"id", "indonesian", "", ""},
    {"ga", "irish", "", ""},
    {"it", "italian", nigh__stop_words_italian, "àèéìíîòóùú"},
    {"lt", "lithuanian", "", ""},
    {"ne", "nepali", "", ""},
    {"no", "norwegian", nigh__stop_words_norwegian, "æøåéòôê"},
    {"pt", "portuguese", nigh__stop_words_portuguese, "ãáàâçéêíóôõúü"},
    {"ro", "romanian", "", ""},
    {"ru", "russian", nigh__stop_words_russian, "абвгдежзийклмнопрстуфхцчшщъыьэюяё"},
    {"sr", "serbian", "", ""},
    {"es", "spanish", nigh__stop_words_spanish, "áéíñóúü"},
    {"sv", "swedish", nigh__stop_words_swedish, "åäöé"},
    {"ta", "tamil", "", ""},
    {"tr", "turkish", "", ""},
    {"yi", "yiddish", "", ""},
};

#define LANGUAGES (sizeof languages / sizeof languages[0])

const struct nigh__language *nigh__language_find(const char *name) {
    for (size_t i = 0; i < LANGUAGES; i++) {
        if (strcmp(name, languages[i].code) == 0 || strcmp(name, languages[i].name) == 0) return &languages[i];
    }
    return NULL;
}

const struct nigh__language *nigh__language_at(size_t index) { return index < LANGUAGES ? &languages[index] : NULL; }

const char *nigh_language_name(size_t index, const char **full) {
    if (index >= LANGUAGES) return NULL;
    if (full != NULL) *full = languages[index].name;
    return languages[index].code;
}

/* As strcmp, for words that end at a space or a NUL. */
static int word_compare(const char *entry, size_t entry_length, const char *word, size_t length) {
    int order = memcmp(entry, word, entry_length < length ? entry_length : length);
    if (order != 0) return order;
    return (entry_length > length) - (entry_length < length);
}

/* Halves the list again and again: from a byte in the middle to the word that it is part of. */
bool nigh__language_stops(const struct nigh__language *language, const char *word, size_t length) {
    const char *list = language->stop_words;
    size_t low = 0;
    size_t high = strlen(list);
    while (low < high) {
        size_t begin = low + (high - low) / 2;
        while (begin > low && list[begin - 1] != ' ') begin--;
        size_t end = begin + strcspn(list + begin, " ");
        int order = word_compare(list + begin, end - begin, word, length);
        if (order == 0) return true;
        if (order < 0)
            low = end + 1; /* past the space; past the list at its end, which ends the search too */
        else
            high = begin == 0 ? 0 : begin - 1;
    }
    return false;
}
