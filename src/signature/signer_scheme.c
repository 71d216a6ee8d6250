/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signer plans as lines of a scheme, and back.  A collection keeps these lines;
 * whoever adds to it or asks it later signs by them.  A key or value that is not
 * known was written by a newer nigh, and signing on would give other bits, so it
 * is refused.  "version" grows when the same options give other bits than before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/keep_keys.h"
#include "base/key_lines.h"
#include "base/memory.h"
#include "base/status.h"
#include "signature/model.h"
#include "signature/signer.h"
#include "text/plan.h"
#include "text/text_options.h"
#include "text/vocabulary.h"

#define SCHEME_VERSION 1
#define LINES_SIZE 8192 /* of keys there are 16 of 100 bytes at most, and as many to keep */

/* Of a scheme that nobody asked for.  Twice the widest that pays anywhere in docs/lab/ranking.md; and for a word of a
 * text that is cut into passages, a hundred times what passages of the usual length take. */
#define MAX_HELD_BITS 16384u
#define MAX_HELD_BITS_A_WORD 512u

static const char *const scheme_names[] = {"topsig", "simhash", "minhash", "learned", NULL};
static const char *const weight_names[] = {"none", "tf", "log", "tf-idf", "likelihood", NULL};
static const char *const split_names[] = {"none", "sentence", "hard", NULL};

/* -------------------------------------------------------------- writing -- */

static bool is_reading_key(const char *line) {
    return strncmp(line, "id-key=", 7) == 0 || strncmp(line, "text-key=", 9) == 0 ||
           strncmp(line, "text-key.", 9) == 0 || strncmp(line, NIGH__KEEP_KEY "=", strlen(NIGH__KEEP_KEY) + 1) == 0 ||
           strncmp(line, NIGH__KEEP_KEY ".", strlen(NIGH__KEEP_KEY) + 1) == 0;
}

/* The lines of keys that are among others; those that do not fit are left out. */
static void add_reading_keys(const char *from, char *lines) {
    while (from != NULL && *from != '\0') {
        const size_t used = strlen(lines);
        const size_t length = strcspn(from, "\n");
        if (is_reading_key(from) && length + 2 < LINES_SIZE - used)
            (void)snprintf(lines + used, LINES_SIZE - used, "%.*s\n", (int)length, from);
        from += length + (from[length] == '\n');
    }
}

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
    if (plan->threshold != 0)
        used += (size_t)snprintf(lines + used, LINES_SIZE - used, "threshold=%u\n", plan->threshold);
    if (plan->vocabulary != NULL)
        used += (size_t)snprintf(lines + used, LINES_SIZE - used, "vocabulary=%016" PRIx64 "\n",
                                 nigh__vocabulary_name(plan->vocabulary));
    if (plan->model != NULL)
        (void)snprintf(lines + used, LINES_SIZE - used, "model=%016" PRIx64 "\n", nigh__model_name(plan->model));
    add_reading_keys(plan->reading_keys, lines);
    return lines;
}

/* -------------------------------------------------------------- reading -- */

static bool parse_weights(const char *value, nigh_signer_options *options) {
    int kind = nigh__key_value_name(value, weight_names);
    options->weights = kind < 0 ? NIGH_WEIGHTS_AUTO : (nigh_weight_kind)kind;
    return kind >= 0;
}

/* In thousandths. */
static bool parse_threshold(const char *value, nigh_signer_options *options) {
    uint32_t thousandths = 0;
    if (!nigh__key_value_number32(value, 1000, &thousandths) || thousandths == 0) return false;
    options->threshold = thousandths / 1000.0;
    return true;
}

/* False for a key or a value that is not known. */
static bool parse_line(const char *key, const char *value, nigh_signer_options *options) {
    uint64_t ignored = 0;
    int found = 0;
    const enum nigh__plan_line analysis = nigh__plan_read_line(key, value, options);
    if (analysis != NIGH__PLAN_LINE_OTHER) return analysis == NIGH__PLAN_LINE_READ;
    if (strcmp(key, "kind") == 0) {
        found = nigh__key_value_name(value, scheme_names);
        options->scheme = (nigh_scheme_kind)found;
        return found >= 0;
    }
    if (strcmp(key, "split") == 0) {
        found = nigh__key_value_name(value, split_names);
        options->split = (nigh_split_kind)found;
        return found >= 0;
    }
    if (strcmp(key, "bits") == 0) return nigh__key_value_number32(value, NIGH_MAX_WIDTH_BITS, &options->width_bits);
    if (strcmp(key, "weights") == 0) return parse_weights(value, options);
    if (strcmp(key, "density") == 0) return nigh__key_value_number32(value, UINT32_MAX, &options->density);
    if (strcmp(key, "min-terms") == 0) return nigh__key_value_number32(value, UINT32_MAX, &options->min_terms);
    if (strcmp(key, "max-terms") == 0) return nigh__key_value_number32(value, UINT32_MAX, &options->max_terms);
    if (strcmp(key, "threshold") == 0) return parse_threshold(value, options);
    if (strcmp(key, "version") == 0) return nigh__key_value_number(value, SCHEME_VERSION, &ignored) && ignored > 0;
    return strcmp(key, "vocabulary") == 0 || strcmp(key, "model") == 0; /* their bytes are the caller's to find */
}

nigh_status nigh_signer_options_parse(const char *scheme, nigh_signer_options *options, nigh_error *error) {
    nigh_signer_options known;
    nigh__options_defaults(&nigh__signer_options_shape, &known);
    const char *kind = nigh__key_lines_find(scheme, "kind=");
    if (kind == NULL || strncmp(kind, "signatures\n", 11) == 0)
        return nigh__fail(error, NIGH_ENOTFOUND, "the signatures were not made from text by nigh");
    for (const char *line = scheme; *line != '\0'; line += *line == '\n') {
        char key[32];
        char value[128];
        if (!nigh__key_line_cut(line, key, sizeof key, value, sizeof value))
            return nigh__fail(error, NIGH_EFORMAT, "the scheme is not made of lines 'key=value'");
        if (is_reading_key(line)) known.reading_keys = scheme;
        if (!is_reading_key(line) && !parse_line(key, value, &known))
            return nigh__fail(error, NIGH_EVERSION, "the scheme says %s=%s, which this nigh does not know", key, value);
        line += strcspn(line, "\n");
    }
    nigh__info_copy(options, &known, sizeof known);
    return NIGH_OK;
}

nigh_status nigh_signer_options_check(const nigh_signer_options *held, const nigh_signer_options *asked,
                                      nigh_error *error) {
    const uint32_t bits = asked == NULL ? 0 : asked->width_bits;
    const uint32_t terms = asked == NULL ? 0 : asked->max_terms;
    if (held->width_bits > MAX_HELD_BITS && bits != held->width_bits)
        return nigh__because(error, NIGH_REASON_COSTLY_SCHEME,
                             nigh__fail(error, NIGH_ELIMIT, "its scheme makes signatures of %u bits (bits), above %u",
                                        held->width_bits, MAX_HELD_BITS));
    if (held->split != NIGH_SPLIT_NONE && held->max_terms != 0 && terms != held->max_terms &&
        held->width_bits / held->max_terms > MAX_HELD_BITS_A_WORD)
        return nigh__because(error, NIGH_REASON_COSTLY_SCHEME,
                             nigh__fail(error, NIGH_ELIMIT,
                                        "its scheme makes %u bits of every %u words (max-terms), above %u bits a word",
                                        held->width_bits, held->max_terms, MAX_HELD_BITS_A_WORD));
    return NIGH_OK;
}
