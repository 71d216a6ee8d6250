/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Words are cut at blanks and then analysed one by one, as documents are: a word may come to several
 * terms ("red-nosed") or to none (a stop word, a dash).  The plain speller does, since a query is short
 * and the tables of the fast analyser are not.
 *
 * What other engines have and this one has not (phrases, wildcards, brackets) is refused, never taken
 * for words: an answer to another question than the one that was asked would look like an answer.
 */
#include "terms/terms_search_query.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/status.h"

#define SHOWN 40u /* bytes of a word in an error */

/*
 * A word of more than NIGH__MAX_WORD_BYTES is cut into pieces nearly as long as that, which stemming makes a little
 * shorter.  Other long runs without blanks, as Chinese has them, come to terms of two characters.
 */
#define PIECE_BYTES 200u

struct parsing {
    struct nigh__query *query;
    const struct nigh__analysis *analysis;
    struct nigh__speller *speller;
    nigh_error *error;
    uint32_t first_word, first_term; /* of the choice at hand */
    uint32_t seen;                   /* words of it, with those not kept */
    bool minus;                      /* there is one in it */
    bool negated;                    /* a "NOT" stands before the next word */
    bool joined;                     /* an "AND" does */
};

struct word {
    const char *text;
    size_t length;
};

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static int shown(struct word word) { return (int)nigh__smaller(word.length, SHOWN); }

static bool is_word(struct word word, const char *text) {
    return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static bool has(struct word word, char c) { return memchr(word.text, c, word.length) != NULL; }

/* ------------------------------------------------------------------ terms -- */

static bool is_among(const uint32_t *numbers, size_t count, uint32_t number) {
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == number) return true;
    return false;
}

static bool number_add(struct nigh__query *query, struct nigh__array *numbers, uint32_t number) {
    uint32_t *place = nigh__array_add(query->context, numbers, 1);
    if (place != NULL) *place = number;
    return place != NULL;
}

/* False: out of memory. */
static bool hash_number(struct nigh__query *query, uint64_t hash, uint32_t *out) {
    const uint64_t *hashes = query->hashes.data;
    for (size_t i = 0; i < query->hashes.count; i++) {
        *out = (uint32_t)i;
        if (hashes[i] == hash) return true;
    }
    *out = (uint32_t)query->hashes.count;
    uint64_t *place = nigh__array_add(query->context, &query->hashes, 1);
    if (place != NULL) *place = hash;
    return place != NULL;
}

/* A term of the last word. */
static nigh_status term_add(struct parsing *parsing, struct word term, struct nigh__query_word *word) {
    struct nigh__query *query = parsing->query;
    uint32_t number;
    if (query->word_terms.count == NIGH__QUERY_MAX_TERMS)
        return nigh__fail(parsing->error, NIGH_EINVAL, "the query has more than %u words", NIGH__QUERY_MAX_TERMS);
    if (!hash_number(query, nigh__hash_seeded(term.text, term.length, parsing->analysis->seed), &number) ||
        !number_add(query, &query->word_terms, number))
        return nigh__no_memory(parsing->error, "for a query");
    word->terms++;
    const uint32_t *numbers = query->choice_terms.data;
    const uint32_t first = parsing->first_term;
    if (word->minus || (numbers != NULL && is_among(numbers + first, query->choice_terms.count - first, number)))
        return NIGH_OK;
    return number_add(query, &query->choice_terms, number) ? NIGH_OK : nigh__no_memory(parsing->error, "for a query");
}

/* The terms of a word, which stand in `spelled` with a space between two. */
static nigh_status terms_add(struct parsing *parsing, struct word given, struct word spelled,
                             struct nigh__query_word *word) {
    nigh_status status = NIGH_OK;
    for (size_t at = 0; at < spelled.length && status == NIGH_OK;) {
        const char *begin = spelled.text + at;
        const char *space = memchr(begin, ' ', spelled.length - at);
        const size_t length = space != NULL ? (size_t)(space - begin) : spelled.length - at;
        if (given.length > NIGH__MAX_WORD_BYTES && length > PIECE_BYTES)
            return nigh__fail(parsing->error, NIGH_EINVAL, "the word that begins with '%.*s' is longer than %u bytes",
                              shown(given), given.text, NIGH__MAX_WORD_BYTES);
        if (length > 0) status = term_add(parsing, (struct word){begin, length}, word);
        at += length + 1;
    }
    return status;
}

/* ------------------------------------------------------------------ words -- */

static bool has_quote(struct word word) {
    static const char *const quotes[] = {"\xe2\x80\x9c", "\xe2\x80\x9d", "\xe2\x80\x9e"}; /* of print */
    if (has(word, '"')) return true;
    for (size_t i = 0; i + 3 <= word.length; i++)
        for (size_t q = 0; q < 3; q++)
            if (memcmp(word.text + i, quotes[q], 3) == 0) return true;
    return false;
}

/* A character by which the word means something that there is not here; '\0': none. */
static char foreign_syntax(struct word word) {
    if (has(word, '*')) return '*';
    if (has(word, '|')) return '|';
    if (word.text[0] == '(') return '(';
    if (word.text[word.length - 1] == ')' && !has(word, '(')) return ')';
    if (word.text[0] == '!' && word.length > 1) return '!';
    return word.text[word.length - 1] == '~' ? '~' : '\0';
}

static nigh_status word_check(const struct parsing *parsing, struct word word) {
    if (has_quote(word))
        return nigh__fail(
            parsing->error, NIGH_EINVAL,
            "%.*s: phrases cannot be found, because positions of words are not kept; leave out the quotes", shown(word),
            word.text);
    const char syntax = foreign_syntax(word);
    if (syntax == '\0') return NIGH_OK;
    return nigh__fail(parsing->error, NIGH_EINVAL,
                      "'%.*s' has a '%c', which has no meaning here; there are words, OR, AND, and NOT or '-'",
                      shown(word), word.text, syntax);
}

static nigh_status word_add(struct parsing *parsing, struct word given) {
    struct nigh__query *query = parsing->query;
    const bool dash = given.length > 1 && given.text[0] == '-';
    struct nigh__query_word word = {.first_term = (uint32_t)query->word_terms.count, .minus = dash || parsing->negated};
    struct word spelled;
    parsing->negated = parsing->joined = false;
    if (dash) given = (struct word){given.text + 1, given.length - 1};
    nigh_status status = word_check(parsing, given);
    if (status == NIGH_OK)
        status =
            nigh__spell(parsing->speller, given.text, given.length, &spelled.text, &spelled.length, parsing->error);
    if (status == NIGH_OK) status = terms_add(parsing, given, spelled, &word);
    if (status != NIGH_OK) return status;
    parsing->seen++;
    parsing->minus |= word.minus;
    query->minus |= word.minus;
    query->stop_words += word.terms == 0;
    if (word.terms == 0) return NIGH_OK;
    struct nigh__query_word *place = nigh__array_add(query->context, &query->words, 1);
    if (place == NULL) return nigh__no_memory(parsing->error, "for a query");
    *place = word;
    return NIGH_OK;
}

/* All words up to an "OR" or the end have been seen. */
static nigh_status choice_end(struct parsing *parsing) {
    struct nigh__query *query = parsing->query;
    const struct nigh__query_choice choice = {.first_word = parsing->first_word,
                                              .words = (uint32_t)query->words.count - parsing->first_word,
                                              .first_term = parsing->first_term,
                                              .terms = (uint32_t)query->choice_terms.count - parsing->first_term};
    if (parsing->negated) return nigh__fail(parsing->error, NIGH_EINVAL, "'NOT' needs a word after it");
    if (parsing->joined) return nigh__fail(parsing->error, NIGH_EINVAL, "'AND' needs words on both sides");
    if (parsing->seen == 0) return nigh__fail(parsing->error, NIGH_EINVAL, "'OR' needs words on both sides");
    if (choice.terms == 0 && parsing->minus)
        return nigh__fail(
            parsing->error, NIGH_EINVAL,
            "beside words that must not be there, a query needs one that must be there, and that is kept");
    if (choice.terms == 0)
        return nigh__fail(parsing->error, NIGH_EINVAL,
                          "no word of the query, or of one side of an 'OR', is kept: all are stop words, or not words");
    struct nigh__query_choice *place = nigh__array_add(query->context, &query->choices, 1);
    if (place == NULL) return nigh__no_memory(parsing->error, "for a query");
    *place = choice;
    parsing->first_word = (uint32_t)query->words.count;
    parsing->first_term = (uint32_t)query->choice_terms.count;
    parsing->seen = 0;
    parsing->minus = false;
    return NIGH_OK;
}

/* "OR", "AND", "NOT", or a word. */
static nigh_status part_add(struct parsing *parsing, struct word word) {
    if (is_word(word, "OR")) return choice_end(parsing);
    if (is_word(word, "AND")) {
        if (parsing->negated) return nigh__fail(parsing->error, NIGH_EINVAL, "'NOT' needs a word after it");
        if (parsing->seen == 0 || parsing->joined)
            return nigh__fail(parsing->error, NIGH_EINVAL, "'AND' needs words on both sides");
        parsing->joined = true;
        return NIGH_OK;
    }
    if (!is_word(word, "NOT")) return word_add(parsing, word);
    if (parsing->negated) return nigh__fail(parsing->error, NIGH_EINVAL, "'NOT' needs a word after it");
    parsing->negated = true;
    return NIGH_OK;
}

static bool next_word(const char **at, const char *end, struct word *out) {
    while (*at < end && is_blank(**at)) (*at)++;
    out->text = *at;
    while (*at < end && !is_blank(**at)) (*at)++;
    out->length = (size_t)(*at - out->text);
    return out->length > 0;
}

static nigh_status parse(struct parsing *parsing, const char *text, size_t length) {
    struct word word;
    const char *const end = text + length;
    if (!next_word(&text, end, &word)) return nigh__fail(parsing->error, NIGH_EINVAL, "the query is empty");
    nigh_status status = NIGH_OK;
    do status = part_add(parsing, word);
    while (status == NIGH_OK && next_word(&text, end, &word));
    return status == NIGH_OK ? choice_end(parsing) : status;
}

/* ---------------------------------------------------------------- outside -- */

nigh_status nigh__query_parse(const nigh_context *context, const struct nigh__analysis *analysis, const char *text,
                              struct nigh__query *out, nigh_error *error) {
    *out = (struct nigh__query){.context = context,
                                .hashes = NIGH__ARRAY(uint64_t),
                                .word_terms = NIGH__ARRAY(uint32_t),
                                .choice_terms = NIGH__ARRAY(uint32_t),
                                .words = NIGH__ARRAY(struct nigh__query_word),
                                .choices = NIGH__ARRAY(struct nigh__query_choice)};
    const size_t length = text == NULL ? 0 : strnlen(text, NIGH__QUERY_MAX_BYTES + 1);
    if (length > NIGH__QUERY_MAX_BYTES)
        return nigh__fail(error, NIGH_EINVAL, "the query is longer than %u bytes", NIGH__QUERY_MAX_BYTES);
    struct parsing parsing = {.query = out, .analysis = analysis, .error = error};
    nigh_status status = nigh__speller_new(context, analysis, &parsing.speller, error);
    if (status == NIGH_OK) status = parse(&parsing, text == NULL ? "" : text, length);
    nigh__speller_free(parsing.speller);
    return status;
}

void nigh__query_release(struct nigh__query *query) {
    if (query->context == NULL) return;
    nigh__array_release(query->context, &query->hashes);
    nigh__array_release(query->context, &query->word_terms);
    nigh__array_release(query->context, &query->choice_terms);
    nigh__array_release(query->context, &query->words);
    nigh__array_release(query->context, &query->choices);
}

static bool word_holds(const struct nigh__query *query, const struct nigh__query_word *word, const bool *present) {
    const uint32_t *terms = nigh__query_terms(&query->word_terms, word->first_term);
    bool all = true;
    for (uint32_t i = 0; i < word->terms; i++) all &= present[terms[i]];
    return all != word->minus;
}

bool nigh__query_holds(const struct nigh__query *query, const bool *present) {
    for (size_t c = 0; c < query->choices.count; c++) {
        const struct nigh__query_choice *choice = nigh__query_choice(query, c);
        bool all = true;
        for (uint32_t w = 0; w < choice->words; w++)
            all &= word_holds(query, nigh__query_word(query, choice->first_word + w), present);
        if (all) return true;
    }
    return false;
}
