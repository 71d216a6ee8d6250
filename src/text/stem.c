/* SPDX-License-Identifier: Apache-2.0 */
/* Stop words and Snowball stemming, for the plain way and the fast one alike. */
#include "text/stem.h"

#include <string.h>

#include <libstemmer.h>

#include "base/hash.h"
#include "base/status.h"
#include "text/language.h"

static uint64_t *stop_word_of(struct nigh__stemmer *stemmer, uint64_t hash) { return stemmer->stop_bits + hash % 64; }

static uint64_t stop_bit_of(uint64_t hash) { return UINT64_C(1) << (hash >> 58); }

static void stop_words_note(struct nigh__stemmer *stemmer) {
    const char *list = stemmer->analysis.language->stop_words;
    for (size_t length; (length = strcspn(list, " ")) > 0; list += length + (list[length] == ' ')) {
        uint64_t hash = nigh__hash(list, length);
        *stop_word_of(stemmer, hash) |= stop_bit_of(hash);
    }
}

static bool is_stop_word(struct nigh__stemmer *stemmer, const struct nigh__word *word) {
    const struct nigh__analysis *analysis = &stemmer->analysis;
    if (analysis->language == NULL || !analysis->stop_words) return false;
    uint64_t hash = nigh__hash(word->bytes, word->length);
    return (*stop_word_of(stemmer, hash) & stop_bit_of(hash)) != 0 &&
           nigh__language_stops(analysis->language, word->bytes, word->length);
}

/* Both by characters, so the word is read only where one of the two is asked for. */
static bool is_left_out(const struct nigh__analysis *analysis, const struct nigh__word *word) {
    if ((!analysis->no_numbers && analysis->min_word_length <= 1) || word->is_dense) return false;
    uint32_t characters = 0;
    bool has_letter = !word->has_digits; /* without a digit there is nothing else that a word could begin with */
    for (size_t at = 0, bytes; at < word->length; at += bytes, characters++) {
        const int32_t code = nigh__utf8_read(word->bytes + at, word->length - at, &bytes);
        if (!has_letter) has_letter = nigh__letter_kind(code) == NIGH__LETTER;
    }
    return characters < analysis->min_word_length || (analysis->no_numbers && !has_letter);
}

nigh_status nigh__stemmer_init(const struct nigh__analysis *analysis, struct nigh__stemmer *out, nigh_error *error) {
    *out = (struct nigh__stemmer){.analysis = *analysis};
    if (analysis->language == NULL) return NIGH_OK;
    stop_words_note(out);
    if (!analysis->stemming) return NIGH_OK;
    out->snowball = sb_stemmer_new(analysis->language->name, "UTF_8");
    if (out->snowball == NULL)
        return nigh__fail(error, NIGH_ENOMEM, "no memory for the stemmer of %s", analysis->language->name);
    return NIGH_OK;
}

void nigh__stemmer_release(struct nigh__stemmer *stemmer) {
    if (stemmer->snowball != NULL) sb_stemmer_delete(stemmer->snowball);
    stemmer->snowball = NULL;
}

nigh_status nigh__stem(struct nigh__stemmer *stemmer, const struct nigh__word *word, const char **term, size_t *length,
                       nigh_error *error) {
    *term = word->bytes;
    *length = word->length;
    if (is_stop_word(stemmer, word) || is_left_out(&stemmer->analysis, word)) {
        *length = 0;
        return NIGH_OK;
    }
    if (stemmer->snowball == NULL || word->has_digits || word->is_dense) return NIGH_OK;
    const sb_symbol *stem = sb_stemmer_stem(stemmer->snowball, (const sb_symbol *)word->bytes, (int)word->length);
    if (stem == NULL) return nigh__no_memory(error, "to stem a word");
    if (sb_stemmer_length(stemmer->snowball) <= 0) return NIGH_OK; /* nothing left: rather the word than nothing */
    *term = (const char *)stem;
    *length = (size_t)sb_stemmer_length(stemmer->snowball);
    return NIGH_OK;
}
