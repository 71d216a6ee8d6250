/* SPDX-License-Identifier: Apache-2.0 */
#include "text/plan.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/key_lines.h"
#include "base/options.h"
#include "base/status.h"
#include "text/language.h"

static const char *const feature_names[] = {"", "words", "ngrams", "chars", NULL};

static nigh_status plan_kind(const nigh_signer_options *options, struct nigh__feature_plan *plan, nigh_error *error) {
    nigh_feature_kind kind = options->features;
    if (kind == NIGH_FEATURES_AUTO)
        kind = options->scheme == NIGH_SCHEME_MINHASH ? NIGH_FEATURES_NGRAMS : NIGH_FEATURES_WORDS;
    uint32_t length = options->feature_length;
    uint32_t most = kind == NIGH_FEATURES_NGRAMS ? NIGH__MAX_NGRAM : kind == NIGH_FEATURES_CHARS ? NIGH__MAX_CHARS : 0;
    if (kind != NIGH_FEATURES_WORDS && kind != NIGH_FEATURES_NGRAMS && kind != NIGH_FEATURES_CHARS)
        return nigh__fail(error, NIGH_EINVAL, "there is no kind of features %d", (int)kind);
    if (length > most) {
        if (most == 0) return nigh__fail(error, NIGH_EINVAL, "words have no length to choose");
        return nigh__fail(error, NIGH_EINVAL, "features of %u are too long; at most %u", length, most);
    }
    if (length == 0 && kind == NIGH_FEATURES_NGRAMS) length = 3;
    if (length == 0 && kind == NIGH_FEATURES_CHARS) length = 5;
    plan->kind = kind;
    plan->length = length;
    return NIGH_OK;
}

/* One character is what every word has, so it goes by no name. */
static nigh_status plan_shortest(const nigh_signer_options *options, struct nigh__analysis *analysis,
                                 nigh_error *error) {
    const uint32_t least = options->min_word_length == NIGH__UNSET ? 0 : options->min_word_length;
    if (least > NIGH__MAX_MIN_WORD_LENGTH)
        return nigh__fail(error, NIGH_EINVAL, "words of %u characters at least; at most %u", least,
                          NIGH__MAX_MIN_WORD_LENGTH);
    analysis->min_word_length = least <= 1 ? 0 : least;
    return NIGH_OK;
}

static bool switched(int choice, bool automatic) { return choice < 0 ? automatic : choice != 0; }

nigh_status nigh__plan_features(const nigh_signer_options *options, struct nigh__feature_plan *out, nigh_error *error) {
    *out = (struct nigh__feature_plan){.repeats = options->scheme == NIGH_SCHEME_MINHASH};
    nigh_status status = plan_kind(options, out, error);
    if (status != NIGH_OK) return status;
    const char *language = options->language == NULL ? "en" : options->language;
    if (strcmp(language, "none") != 0) {
        out->analysis.language = nigh__language_find(language);
        if (out->analysis.language == NULL)
            return nigh__fail(error, NIGH_EINVAL, "there is no language '%.40s'", language);
    }
    bool words = out->kind == NIGH_FEATURES_WORDS;
    bool spoken = out->analysis.language != NULL;
    out->analysis.stemming = spoken && switched(options->stemming, words);
    out->analysis.stop_words = spoken && switched(options->stop_words, words);
    /* Whatever the language, it plays no part then: equal analyses shall have equal names. */
    if (!out->analysis.stemming && !out->analysis.stop_words) out->analysis.language = NULL;
    out->analysis.no_numbers = switched(options->no_numbers, false);
    out->analysis.seed = options->seed;
    return plan_shortest(options, &out->analysis, error);
}

bool nigh__plan_is_newer(const struct nigh__feature_plan *plan) {
    return plan->analysis.no_numbers || plan->analysis.min_word_length != 0;
}

static void write_lines(const struct nigh__feature_plan *plan, bool all, char *buffer, size_t capacity) {
    const struct nigh__analysis *analysis = &plan->analysis;
    char length[16] = "";
    char shortest[32] = "";
    const char *numbers = analysis->no_numbers ? "numbers=out\n" : all ? "numbers=in\n" : "";
    if (plan->kind != NIGH_FEATURES_WORDS) (void)snprintf(length, sizeof length, ":%u", plan->length);
    if (all || analysis->min_word_length != 0)
        (void)snprintf(shortest, sizeof shortest, "min-word-length=%u\n",
                       analysis->min_word_length == 0 ? 1 : analysis->min_word_length);
    (void)snprintf(buffer, capacity, "features=%s%s\nlanguage=%s\n%s%sseed=%" PRIu64 "\nstemming=%s\nstop-words=%s\n",
                   feature_names[plan->kind], length, analysis->language == NULL ? "none" : analysis->language->code,
                   shortest, numbers, analysis->seed, analysis->stemming ? "on" : "off",
                   analysis->stop_words ? "out" : "in");
}

void nigh__plan_lines(const struct nigh__feature_plan *plan, char *buffer, size_t capacity) {
    write_lines(plan, false, buffer, capacity);
}

void nigh__plan_all_lines(const struct nigh__feature_plan *plan, char *buffer, size_t capacity) {
    write_lines(plan, true, buffer, capacity);
}

static bool parse_switch(const char *value, const char *on, const char *off, int *out) {
    *out = strcmp(value, on) == 0;
    return *out || strcmp(value, off) == 0;
}

/* "words", "ngrams:3". */
static bool parse_features(const char *value, nigh_signer_options *options) {
    char name[16];
    size_t length = strcspn(value, ":");
    if (length >= sizeof name) return false;
    memcpy(name, value, length);
    name[length] = '\0';
    int kind = nigh__key_value_name(name, feature_names);
    if (kind < 0) return false;
    options->features = (nigh_feature_kind)kind;
    if (kind == NIGH_FEATURES_WORDS) return value[length] == '\0';
    return value[length] == ':' &&
           nigh__key_value_number32(value + length + 1, NIGH__MAX_CHARS, &options->feature_length) &&
           options->feature_length > 0;
}

static bool parse_language(const char *value, nigh_signer_options *options) {
    const struct nigh__language *language = nigh__language_find(value);
    options->language = language == NULL ? "none" : language->code;
    return language != NULL || strcmp(value, "none") == 0;
}

/* 1 is the default, which has no line. */
static bool parse_shortest(const char *value, nigh_signer_options *options) {
    return nigh__key_value_number32(value, NIGH__MAX_MIN_WORD_LENGTH, &options->min_word_length) &&
           options->min_word_length > 1;
}

enum nigh__plan_line nigh__plan_read_line(const char *key, const char *value, nigh_signer_options *options) {
    bool known = false;
    if (strcmp(key, "features") == 0)
        known = parse_features(value, options);
    else if (strcmp(key, "language") == 0)
        known = parse_language(value, options);
    else if (strcmp(key, "min-word-length") == 0)
        known = parse_shortest(value, options);
    else if (strcmp(key, "numbers") == 0)
        known = parse_switch(value, "out", "out", &options->no_numbers);
    else if (strcmp(key, "seed") == 0)
        known = nigh__key_value_number(value, UINT64_MAX, &options->seed);
    else if (strcmp(key, "stemming") == 0)
        known = parse_switch(value, "on", "off", &options->stemming);
    else if (strcmp(key, "stop-words") == 0)
        known = parse_switch(value, "out", "in", &options->stop_words);
    else
        return NIGH__PLAN_LINE_OTHER;
    return known ? NIGH__PLAN_LINE_READ : NIGH__PLAN_LINE_UNKNOWN_VALUE;
}

void nigh__plan_fill_options(const struct nigh__feature_plan *plan, nigh_signer_options *options) {
    const struct nigh__analysis *analysis = &plan->analysis;
    if (options->features == NIGH_FEATURES_AUTO) options->features = plan->kind;
    if (options->feature_length == 0 && options->features == plan->kind) options->feature_length = plan->length;
    if (options->language == NULL) options->language = analysis->language == NULL ? "none" : analysis->language->code;
    if (options->stemming < 0) options->stemming = analysis->stemming;
    if (options->stop_words < 0) options->stop_words = analysis->stop_words;
    if (options->min_word_length == NIGH__UNSET) options->min_word_length = analysis->min_word_length;
    if (options->no_numbers < 0) options->no_numbers = analysis->no_numbers;
    if (options->seed == 0) options->seed = analysis->seed;
}
