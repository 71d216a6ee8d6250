/* SPDX-License-Identifier: Apache-2.0 */
#include "support/analysis_support.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <libstemmer.h>
#include <utf8proc.h>

#include "base/hash.h"
#include "text/language.h"

static void pair_make(struct analysis_pair *pair) {
    if (nigh__speller_new(pair->context, &pair->analysis, &pair->speller, NULL) != NIGH_OK) abort();
    if (nigh__analyser_new(pair->context, &pair->analysis, &pair->analyser, NULL) != NIGH_OK) abort();
    if (nigh__spelling_init(pair->context, &pair->analysis, &pair->spelling, NULL) != NIGH_OK) abort();
}

void analysis_pair_init(struct analysis_pair *pair, nigh_context *context, const char *language, bool stemming,
                        bool stop_words) {
    *pair = (struct analysis_pair){.context = context};
    pair->analysis = (struct nigh__analysis){.stemming = stemming, .stop_words = stop_words, .seed = 7};
    if (strcmp(language, "none") != 0) pair->analysis.language = nigh__language_find(language);
    pair_make(pair);
}

void analysis_pair_init_without(struct analysis_pair *pair, nigh_context *context, const char *language,
                                bool no_numbers, uint32_t min_word_length) {
    analysis_pair_init(pair, context, language, true, true);
    analysis_pair_release(pair);
    pair->analysis.no_numbers = no_numbers;
    pair->analysis.min_word_length = min_word_length;
    pair_make(pair);
}

void analysis_pair_release(struct analysis_pair *pair) {
    nigh__speller_free(pair->speller);
    nigh__analyser_free(pair->analyser);
    nigh__spelling_release(&pair->spelling);
}

static char *copy_of(const char *bytes, size_t length) {
    char *copy = malloc(length + 1);
    if (copy == NULL) abort();
    memcpy(copy, bytes, length);
    copy[length] = 0;
    return copy;
}

char *analysis_spelled(struct analysis_pair *pair, const char *text, size_t length) {
    const char *spelled;
    size_t spelled_length;
    if (nigh__spell(pair->speller, text, length, &spelled, &spelled_length, NULL) != NIGH_OK) abort();
    return copy_of(spelled, spelled_length);
}

static bool spelling_agrees(struct analysis_pair *pair, const char *text, size_t length, const char *spelled) {
    const char *copied;
    size_t copied_length;
    if (nigh__spelling_find(&pair->spelling, text, length, &copied, &copied_length, NULL) != NIGH_OK) abort();
    return copied_length == strlen(spelled) && memcmp(copied, spelled, copied_length) == 0;
}

bool analysis_agrees(struct analysis_pair *pair, const char *text, size_t length, const char *spelled) {
    const char *const whole = spelled;
    const uint32_t *numbers;
    size_t count;
    if (nigh__analyse(pair->analyser, text, length, &numbers, &count, NULL) != NIGH_OK) abort();
    for (size_t i = 0; i < count; i++) {
        if (*spelled == 0 || numbers[i] == 0 || numbers[i] >= pair->analyser->terms) return false;
        size_t term = strcspn(spelled, " ");
        if (pair->analyser->hashes[numbers[i]] != nigh__hash_seeded(spelled, term, pair->analysis.seed)) return false;
        spelled += term + (spelled[term] == ' ');
    }
    return *spelled == 0 && spelling_agrees(pair, text, length, whole);
}

/* ----------------------------------------------------------------- by hand -- */

struct hand {
    struct sb_stemmer *stemmer;
    const char *stops[256]; /* by first byte */
    const struct nigh__analysis *analysis;
    char *out;
    size_t used, room;
    char *word; /* not given out yet */
    size_t length, last;
    bool digits, dense;
};

static void put(struct hand *hand, const char *bytes, size_t length) {
    if (hand->used + length + 2 > hand->room) {
        hand->room = 2 * (hand->used + length + 2);
        hand->out = realloc(hand->out, hand->room);
        if (hand->out == NULL) abort();
    }
    if (hand->used > 0) hand->out[hand->used++] = ' ';
    memcpy(hand->out + hand->used, bytes, length);
    hand->used += length;
}

/* Lists are sorted: words with the same first byte stand together. */
static void stop_words_index(struct hand *hand, const char *list) {
    while (*list != 0) {
        const unsigned char head = (unsigned char)*list;
        if (hand->stops[head] == NULL) hand->stops[head] = list;
        list += strcspn(list, " ");
        list += *list == ' ';
    }
}

static bool stops(const struct hand *hand, const char *word, size_t length) {
    const char *at = hand->stops[(unsigned char)*word];
    while (at != NULL && *at == *word) {
        size_t other = strcspn(at, " ");
        if (other == length && memcmp(at, word, length) == 0) return true;
        at += other + (at[other] == ' ');
    }
    return false;
}

/* Characters are counted by their first bytes; a number has nothing but N* and marks. */
static bool left_out(const struct hand *hand, const char *word, size_t length) {
    uint32_t characters = 0;
    bool number = hand->digits;
    if (hand->dense) return false;
    for (size_t at = 0; at < length; at++) characters += ((unsigned char)word[at] & 0xc0) != 0x80;
    for (size_t at = 0; at < length && number;) {
        int32_t code;
        at += (size_t)utf8proc_iterate((const utf8proc_uint8_t *)word + at, (utf8proc_ssize_t)(length - at), &code);
        number = utf8proc_category_string(code)[0] != 'L';
    }
    return characters < hand->analysis->min_word_length || (number && hand->analysis->no_numbers);
}

static void term_put(struct hand *hand, const char *word, size_t length) {
    if (stops(hand, word, length) || left_out(hand, word, length)) return;
    if (hand->stemmer != NULL && !hand->digits && !hand->dense) {
        const char *stem = (const char *)sb_stemmer_stem(hand->stemmer, (const sb_symbol *)word, (int)length);
        if (sb_stemmer_length(hand->stemmer) > 0) {
            put(hand, stem, (size_t)sb_stemmer_length(hand->stemmer));
            return;
        }
    }
    put(hand, word, length);
}

static void give(struct hand *hand) {
    size_t at = 0;
    while (at < hand->length) {
        size_t end = hand->length - at > 255 ? at + 255 : hand->length;
        while (end < hand->length && (hand->word[end] & 0xc0) == 0x80) end--;
        term_put(hand, hand->word + at, end - at);
        at = end;
    }
}

static void finish(struct hand *hand) {
    give(hand);
    hand->length = hand->last = 0;
    hand->digits = hand->dense = false;
}

/* Letters of Han, Kana, Hangul and Thai that are left after normalising; enough of them for the tests. */
static bool is_dense(int32_t c) {
    return (c >= 0xe00 && c < 0xe80) || (c >= 0x1100 && c < 0x1200) || c == 0x3005 || c == 0x3006 || c == 0x3007 ||
           (c >= 0x2e80 && c < 0x2fe0) || (c >= 0x3021 && c <= 0x302f) || (c >= 0x3031 && c <= 0x3035) ||
           (c >= 0x3038 && c <= 0x303c) || (c >= 0x3041 && c <= 0x30ff) || (c >= 0x3131 && c <= 0x318e) ||
           (c >= 0x31f0 && c < 0x3200) || (c >= 0x3400 && c < 0x4dc0) || (c >= 0x4e00 && c < 0xa000) ||
           (c >= 0xa960 && c < 0xa980) || (c >= 0xac00 && c < 0xd800) || (c >= 0xf900 && c < 0xfb00) ||
           (c >= 0xff66 && c <= 0xffdc) || c == 0x16fe2 || c == 0x16fe3 || c == 0x16ff0 || c == 0x16ff1 ||
           (c >= 0x1aff0 && c < 0x1b170) || (c >= 0x20000 && c < 0x3fffe);
}

static void character_take(struct hand *hand, int32_t code) {
    const char *category = utf8proc_category_string(code);
    char bytes[4];
    size_t length = (size_t)utf8proc_encode_char(code, (utf8proc_uint8_t *)bytes);
    bool letter = category[0] == 'L' || category[0] == 'N';
    bool dense = letter && is_dense(code);
    if (!letter && (category[0] != 'M' || hand->length == 0)) {
        finish(hand);
        return;
    }
    if (letter && dense != hand->dense) finish(hand);
    if (!dense && !hand->dense && hand->length + length > 255) finish(hand);
    if (dense) {
        if (hand->last > 0) {
            give(hand);
            memmove(hand->word, hand->word + hand->last, hand->length - hand->last);
            hand->length -= hand->last;
        }
        hand->last = hand->length;
        hand->dense = true;
    }
    hand->digits = hand->digits || (category[0] == 'N' && !dense);
    memcpy(hand->word + hand->length, bytes, length);
    hand->length += length;
}

/* Bytes that are no UTF-8 as U+FFFD; to be freed. */
static char *repaired(const char *text, size_t length, size_t *out_length) {
    char *out = malloc(3 * length + 1);
    if (out == NULL) abort();
    *out_length = 0;
    for (size_t at = 0; at < length;) {
        int32_t code;
        utf8proc_ssize_t step =
            utf8proc_iterate((const utf8proc_uint8_t *)text + at, (utf8proc_ssize_t)(length - at), &code);
        if (step <= 0) {
            code = 0xfffd;
            step = 1;
        }
        *out_length += (size_t)utf8proc_encode_char(code, (utf8proc_uint8_t *)out + *out_length);
        at += (size_t)step;
    }
    return out;
}

char *analysis_by_hand(const struct analysis_pair *pair, const char *text, size_t length) {
    size_t valid_length;
    char *valid = repaired(text, length, &valid_length);
    utf8proc_uint8_t *normal = NULL;
    utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | UTF8PROC_CASEFOLD |
                                UTF8PROC_IGNORE; /* what utf8proc_NFKC_Casefold() does, with NULs */
    utf8proc_ssize_t count =
        utf8proc_map((const utf8proc_uint8_t *)valid, (utf8proc_ssize_t)valid_length, &normal, options);
    if (count < 0) abort();
    struct hand hand = {.analysis = &pair->analysis, .word = malloc((size_t)count + 8)};
    if (hand.word == NULL) abort();
    if (pair->analysis.language != NULL && pair->analysis.stop_words)
        stop_words_index(&hand, pair->analysis.language->stop_words);
    if (pair->analysis.language != NULL && pair->analysis.stemming)
        hand.stemmer = sb_stemmer_new(pair->analysis.language->name, "UTF_8");
    for (utf8proc_ssize_t at = 0; at < count;) {
        int32_t code;
        at += utf8proc_iterate(normal + at, count - at, &code);
        character_take(&hand, code);
    }
    finish(&hand);
    char *terms = copy_of(hand.used > 0 ? hand.out : "", hand.used);
    if (hand.stemmer != NULL) sb_stemmer_delete(hand.stemmer);
    free(hand.out);
    free(hand.word);
    free(normal);
    free(valid);
    return terms;
}
