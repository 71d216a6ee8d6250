/* SPDX-License-Identifier: Apache-2.0 */
/* Words against the stop words of all languages at once: a table from each to those that have it. */
#include "text/language_detector.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "text/cutter.h"
#include "text/unicode.h"

#define SLOTS 8192u /* for some 2,000 words */
#define PIECE_CODES 1024
#define LANGUAGES 32u

#define WHOLE 12u             /* what a stop word of one language alone counts */
#define AHEAD (WHOLE * 3 / 2) /* of another language, by so much */
#define FOREIGN_SHARE 12u     /* one word in so many, */
#define FOREIGN_LEAST 2u      /* and so many */
#define RUNNING_WORDS 100u    /* of so many words */
#define RUNNING_SHARE 20u     /* one in so many is a stop word */

struct slot {
    uint32_t print;     /* half of the hash of the word; */
    uint32_t languages; /* a bit for each that has it; 0: the slot is empty */
};

struct nigh__language_detector {
    const nigh_context *context;
    const struct nigh__language *language;
    size_t index; /* of the language */
    struct slot slots[SLOTS];
    struct nigh__normaliser normaliser;
    struct nigh__cutter cutter;
    /* Of the text at hand. */
    uint64_t words, foreign, stops;
    uint64_t scores[LANGUAGES];
};

/* ---------------------------------------------------------------- languages -- */

const struct nigh__language *nigh__language_detectable(const char *name) {
    const struct nigh__language *language = nigh__language_find(name);
    return language == NULL || language->stop_words[0] == '\0' ? NULL : language;
}

void nigh__language_list_detectable(char *out, size_t capacity) {
    const struct nigh__language *language;
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; (language = nigh__language_at(i)) != NULL && used < capacity; i++)
        if (language->stop_words[0] != '\0')
            used += (size_t)snprintf(out + used, capacity - used, "%s%s", used == 0 ? "" : ", ", language->code);
}

/* -------------------------------------------------------------------- table -- */

/* Where a word is, or would be: the table is never full. */
static struct slot *slot_find(struct nigh__language_detector *detector, uint64_t hash) {
    size_t at = hash % SLOTS;
    while (detector->slots[at].languages != 0 && detector->slots[at].print != hash >> 32) at = (at + 1) % SLOTS;
    return &detector->slots[at];
}

static void table_add(struct nigh__language_detector *detector, uint64_t hash, size_t language) {
    struct slot *slot = slot_find(detector, hash);
    slot->print = (uint32_t)(hash >> 32);
    slot->languages |= UINT32_C(1) << language;
}

static void table_fill(struct nigh__language_detector *detector) {
    const struct nigh__language *language;
    for (size_t i = 0; (language = nigh__language_at(i)) != NULL; i++) {
        NIGH__ASSERT(i < LANGUAGES);
        if (language == detector->language) detector->index = i;
        const char *list = language->stop_words;
        for (size_t length; (length = strcspn(list, " ")) > 0; list += length + (list[length] == ' '))
            table_add(detector, nigh__hash(list, length), i);
    }
}

/* -------------------------------------------------------------------- words -- */

static bool has_foreign_letter(const struct nigh__language *language, const struct nigh__word *word) {
    for (size_t at = 0, bytes; at < word->length; at += bytes) {
        char letter[NIGH__UTF8_MAX + 1] = "";
        const int32_t code = nigh__utf8_read(word->bytes + at, word->length - at, &bytes);
        if (code < 0x80 || nigh__letter_kind(code) == NIGH__MARK) continue;
        (void)nigh__utf8_write(code, letter);
        if (strstr(language->letters, letter) == NULL) return true;
    }
    return false;
}

static nigh_status word_take(void *user, const struct nigh__word *word, nigh_error *error) {
    struct nigh__language_detector *detector = user;
    (void)error;
    if (word->has_digits) return NIGH_OK;
    detector->words++;
    detector->foreign += has_foreign_letter(detector->language, word);
    uint32_t languages = slot_find(detector, nigh__hash(word->bytes, word->length))->languages;
    if (languages == 0) return NIGH_OK;
    detector->stops += languages >> detector->index & 1;
    const uint64_t part = WHOLE / (unsigned)__builtin_popcount(languages);
    for (; languages != 0; languages &= languages - 1) detector->scores[__builtin_ctz(languages)] += part;
    return NIGH_OK;
}

static enum nigh__language_verdict verdict(const struct nigh__language_detector *detector) {
    const uint64_t own = detector->scores[detector->index];
    uint64_t best = 0;
    for (size_t i = 0; i < LANGUAGES; i++)
        if (i != detector->index && detector->scores[i] > best) best = detector->scores[i];
    if (detector->foreign >= FOREIGN_LEAST && detector->foreign * FOREIGN_SHARE >= detector->words)
        return NIGH__LANGUAGE_OTHER;
    if (best > own + AHEAD) return NIGH__LANGUAGE_OTHER;
    if (detector->words >= RUNNING_WORDS && detector->stops * RUNNING_SHARE < detector->words)
        return NIGH__LANGUAGE_OTHER;
    return own > best ? NIGH__LANGUAGE_SAME : NIGH__LANGUAGE_UNSURE;
}

/* -------------------------------------------------------------------- whole -- */

nigh_status nigh__language_detector_new(const nigh_context *context, const struct nigh__language *language,
                                        struct nigh__language_detector **out, nigh_error *error) {
    *out = nigh__alloc_zero(context, 1, sizeof **out);
    if (*out == NULL) return nigh__no_memory(error, "to tell languages apart");
    (*out)->context = context;
    (*out)->language = language;
    table_fill(*out);
    nigh__normaliser_init(context, &(*out)->normaliser);
    nigh__cutter_init(context, word_take, *out, &(*out)->cutter);
    return NIGH_OK;
}

void nigh__language_detector_free(struct nigh__language_detector *detector) {
    if (detector == NULL) return;
    nigh__normaliser_release(&detector->normaliser);
    nigh__cutter_release(&detector->cutter);
    nigh__free(detector->context, detector);
}

nigh_status nigh__language_detect(struct nigh__language_detector *detector, const char *text, size_t length,
                                  enum nigh__language_verdict *out, nigh_error *error) {
    detector->words = detector->foreign = detector->stops = 0;
    memset(detector->scores, 0, sizeof detector->scores);
    nigh__cutter_reset(&detector->cutter);
    nigh__normaliser_start(&detector->normaliser, text, length < NIGH__DETECTED_BYTES ? length : NIGH__DETECTED_BYTES);
    nigh_status status;
    do {
        const int32_t *codes;
        size_t count;
        status = nigh__normaliser_next(&detector->normaliser, PIECE_CODES, &codes, &count, error);
        if (status == NIGH_OK) status = nigh__cutter_add(&detector->cutter, codes, count, error);
    } while (status == NIGH_OK);
    if (status == NIGH_END) status = nigh__cutter_end(&detector->cutter, error);
    *out = verdict(detector);
    return status;
}
