/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signer plans as lines of a scheme, and back.  A collection keeps these lines;
 * whoever adds to it or asks it later signs by them.  A key or value that is not
 * known was written by a newer nigh, and signing on would give other bits, so it
 * is refused.  "version" grows when the same options give other bits than before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"
#include "signature/signer.h"
#include "text/language.h"
#include "text/plan.h"
#include "text/vocabulary.h"

#define SCHEME_VERSION 1
#define LINES_SIZE 1024

static const char *const scheme_names[] = {"topsig", "simhash", "minhash", NULL};
static const char *const weight_names[] = {"none", "tf", "log", "tf-idf", "likelihood", NULL};
static const char *const split_names[] = {"none", "sentence", "hard", NULL};
static const char *const feature_names[] = {"", "words", "ngrams", "chars", NULL};

/* -------------------------------------------------------------- writing -- */

char *nigh__signer_plan_lines(const struct nigh__signer_plan *plan) {
    char *lines = nigh__alloc_zero(plan->context, LINES_SIZE, 1);
    if (lines == NULL) return NULL;
    nigh__plan_lines(&plan->features, lines, LINES_SIZE);
    size_t used = strlen(lines);
    used += (size_t)snprintf(lines + used, LINES_SIZE - used, "kind=%s\nversion=%d\nweights=%s\n",
                             scheme_names[plan->scheme], SCHEME_VERSION, weight_names[plan->weights]);
    if (plan->density != 0) used += (size_t)snprintf(lines + used, LINES_SIZE - used, "density=%u\n", plan->density);
    if (plan->split != NIGH_SPLIT_NONE)
        used += (size_t)snprintf(lines + used, LINES_SIZE - used, "max-terms=%u\nmin-terms=%u\nsplit=%s\n",
                                 plan->max_terms, plan->min_terms, split_names[plan->split]);
    if (plan->vocabulary != NULL)
        (void)snprintf(lines + used, LINES_SIZE - used, "vocabulary=%016" PRIx64 "\n",
                       nigh__vocabulary_name(plan->vocabulary));
    return lines;
}

/* -------------------------------------------------------------- reading -- */

/* The index of `value` among the names, -1 where it is none. */
static int find_name(const char *const *names, const char *value) {
    for (int i = 0; names[i] != NULL; i++)
        if (names[i][0] != '\0' && strcmp(names[i], value) == 0) return i;
    return -1;
}

static bool parse_number(const char *value, uint64_t most, uint64_t *out) {
    uint64_t number = 0;
    if (*value == '\0') return false;
    for (; *value != '\0'; value++) {
        if (*value < '0' || *value > '9') return false;
        if (!nigh__multiply64(number, 10, &number) || !nigh__add64(number, (uint64_t)(*value - '0'), &number))
            return false;
    }
    *out = number;
    return number <= most;
}

static bool parse_number32(const char *value, uint32_t most, uint32_t *out) {
    uint64_t number = 0;
    if (!parse_number(value, most, &number)) return false;
    *out = (uint32_t)number;
    return true;
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
    int kind = find_name(feature_names, name);
    if (kind < 0) return false;
    options->features = (nigh_feature_kind)kind;
    if (kind == NIGH_FEATURES_WORDS) return value[length] == '\0';
    return value[length] == ':' && parse_number32(value + length + 1, NIGH__MAX_CHARS, &options->feature_length) &&
           options->feature_length > 0;
}

static bool parse_language(const char *value, nigh_signer_options *options) {
    const struct nigh__language *language = nigh__language_find(value);
    options->language = language == NULL ? "none" : language->code;
    return language != NULL || strcmp(value, "none") == 0;
}

static bool parse_weights(const char *value, nigh_signer_options *options) {
    int kind = find_name(weight_names, value);
    options->weights = kind < 0 ? NIGH_WEIGHTS_AUTO : (nigh_weight_kind)kind;
    return kind >= 0;
}

/* False for a key or a value that is not known. */
static bool parse_line(const char *key, const char *value, nigh_signer_options *options) {
    uint64_t ignored = 0;
    int found = 0;
    if (strcmp(key, "kind") == 0) {
        found = find_name(scheme_names, value);
        options->scheme = (nigh_scheme_kind)found;
        return found >= 0;
    }
    if (strcmp(key, "split") == 0) {
        found = find_name(split_names, value);
        options->split = (nigh_split_kind)found;
        return found >= 0;
    }
    if (strcmp(key, "bits") == 0) return parse_number32(value, NIGH_MAX_WIDTH_BITS, &options->width_bits);
    if (strcmp(key, "features") == 0) return parse_features(value, options);
    if (strcmp(key, "language") == 0) return parse_language(value, options);
    if (strcmp(key, "weights") == 0) return parse_weights(value, options);
    if (strcmp(key, "seed") == 0) return parse_number(value, UINT64_MAX, &options->seed);
    if (strcmp(key, "density") == 0) return parse_number32(value, UINT32_MAX, &options->density);
    if (strcmp(key, "min-terms") == 0) return parse_number32(value, UINT32_MAX, &options->min_terms);
    if (strcmp(key, "max-terms") == 0) return parse_number32(value, UINT32_MAX, &options->max_terms);
    if (strcmp(key, "stemming") == 0) return parse_switch(value, "on", "off", &options->stemming);
    if (strcmp(key, "stop-words") == 0) return parse_switch(value, "out", "in", &options->stop_words);
    if (strcmp(key, "version") == 0) return parse_number(value, SCHEME_VERSION, &ignored) && ignored > 0;
    return strcmp(key, "vocabulary") == 0; /* its bytes are the caller's to find */
}

/* Copies one "key=value" line apart; false where it is none. */
static bool cut_line(const char *line, char *key, size_t key_size, char *value, size_t value_size) {
    size_t length = strcspn(line, "\n");
    size_t at = strcspn(line, "=");
    if (at >= length || at >= key_size || length - at - 1 >= value_size) return false;
    memcpy(key, line, at);
    key[at] = '\0';
    memcpy(value, line + at + 1, length - at - 1);
    value[length - at - 1] = '\0';
    return true;
}

/* What the line "kind=" says; NULL where there is none. */
static const char *find_kind(const char *scheme) {
    for (const char *line = scheme; *line != '\0'; line += *line == '\n') {
        if (strncmp(line, "kind=", 5) == 0) return line + 5;
        line += strcspn(line, "\n");
    }
    return NULL;
}

nigh_status nigh_signer_options_parse(const char *scheme, nigh_signer_options *options, nigh_error *error) {
    nigh_signer_options known = NIGH_SIGNER_OPTIONS_INIT;
    const char *kind = find_kind(scheme);
    if (kind == NULL || strncmp(kind, "signatures\n", 11) == 0)
        return nigh__fail(error, NIGH_ENOTFOUND, "the signatures were not made from text by nigh");
    for (const char *line = scheme; *line != '\0'; line += *line == '\n') {
        char key[32];
        char value[128];
        if (!cut_line(line, key, sizeof key, value, sizeof value))
            return nigh__fail(error, NIGH_EFORMAT, "the scheme is not made of lines 'key=value'");
        if (!parse_line(key, value, &known))
            return nigh__fail(error, NIGH_EVERSION, "the scheme says %s=%s, which this nigh does not know", key, value);
        line += strcspn(line, "\n");
    }
    nigh__info_copy(options, &known, sizeof known);
    return NIGH_OK;
}
