/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a spelled text, feature by feature; feature.h has the hashes' definition, which feature.c has too, but fast. */
#include "text/feature_name.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/status.h"

#define MANY_TERMS ((size_t)1 << 16) /* memory for more is given back */

struct term {
    size_t begin, end; /* in the spelled text */
    uint64_t hash;
};

nigh_status nigh__feature_namer_init(const nigh_context *context, const struct nigh__feature_plan *plan,
                                     struct nigh__feature_namer *namer, nigh_error *error) {
    *namer = (struct nigh__feature_namer){.context = context, .plan = plan, .terms = NIGH__ARRAY(struct term)};
    return nigh__speller_new(context, &plan->analysis, &namer->speller, error);
}

void nigh__feature_namer_release(struct nigh__feature_namer *namer) {
    if (namer->context == NULL) return;
    nigh__speller_free(namer->speller);
    nigh__array_release(namer->context, &namer->terms);
    namer->speller = NULL;
}

/* One space between two terms. */
static bool cut_terms(struct nigh__feature_namer *namer, const char *spelled, size_t length) {
    if (namer->terms.capacity > MANY_TERMS) nigh__array_release(namer->context, &namer->terms);
    namer->terms.count = 0;
    for (size_t begin = 0; begin < length;) {
        const char *space = memchr(spelled + begin, ' ', length - begin);
        const size_t end = space == NULL ? length : (size_t)(space - spelled);
        struct term *term = nigh__array_add(namer->context, &namer->terms, 1);
        if (term == NULL) return false;
        const uint64_t hash = nigh__hash_seeded(spelled + begin, end - begin, namer->plan->analysis.seed);
        *term = (struct term){.begin = begin, .end = end, .hash = hash};
        begin = end + 1;
    }
    return true;
}

/* Words are ngrams of one, but for their hash. */
static bool name_terms(struct nigh__feature_namer *namer, const char *spelled, nigh__feature_named named, void *user) {
    const struct nigh__feature_plan *plan = namer->plan;
    const bool words = plan->kind == NIGH_FEATURES_WORDS;
    const struct term *terms = namer->terms.data;
    const size_t count = namer->terms.count;
    const size_t length = words ? 1 : nigh__smaller(plan->length, count);
    for (size_t i = 0; i + length <= count && (words || i < NIGH__MAX_FEATURES) && length > 0; i++) {
        uint64_t hash = words ? terms[i].hash : plan->analysis.seed;
        for (size_t k = 0; k < length && !words; k++) hash = nigh__mix(hash ^ terms[i + k].hash);
        if (!named(user, hash, spelled + terms[i].begin, terms[i + length - 1].end - terms[i].begin)) return false;
    }
    return true;
}

static size_t character_length(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4; }

static bool name_characters(const struct nigh__feature_plan *plan, const char *spelled, size_t length,
                            nigh__feature_named named, void *user) {
    size_t end = 0;
    for (uint32_t k = 0; k < plan->length && end < length; k++) end += character_length((unsigned char)spelled[end]);
    size_t begin = 0;
    for (size_t found = 0; found < NIGH__MAX_FEATURES && end <= length && length > 0; found++) {
        const uint64_t hash = nigh__hash_seeded(spelled + begin, end - begin, plan->analysis.seed);
        if (!named(user, hash, spelled + begin, end - begin)) return false;
        if (end == length) break;
        begin += character_length((unsigned char)spelled[begin]);
        end += character_length((unsigned char)spelled[end]);
    }
    return true;
}

nigh_status nigh__feature_names(struct nigh__feature_namer *namer, const char *text, size_t length,
                                nigh__feature_named named, void *user, nigh_error *error) {
    const char *spelled = NULL;
    size_t spelled_length = 0;
    nigh_status status = nigh__spell(namer->speller, text, length, &spelled, &spelled_length, error);
    if (status != NIGH_OK) return status;
    const bool done = namer->plan->kind == NIGH_FEATURES_CHARS
                          ? name_characters(namer->plan, spelled, spelled_length, named, user)
                          : cut_terms(namer, spelled, spelled_length) && name_terms(namer, spelled, named, user);
    if (done) return NIGH_OK;
    return nigh__no_memory(error, "for the names of features");
}
