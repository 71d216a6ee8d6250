/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the way from text to terms: the first byte chooses the analysis, the rest
 * is the text.  The analyser must agree with the speller, at first sight and from
 * memory, and passages must cover the text.
 */
#include <stdlib.h>

#include "fuzz/fuzz.h"
#include "support/analysis_support.h"
#include "text/passage.h"

#define CHOICES 6

/* They are kept from one input to the next: what one text taught must not change what another gives. */
static struct analysis_pair *pair_for(uint8_t choice) {
    static const struct {
        const char *language;
        bool stemming, stop_words;
    } choices[CHOICES] = {{"en", true, true},  {"none", false, false}, {"ru", true, true},
                          {"de", true, false}, {"fr", false, true},    {"tr", true, true}};
    static struct analysis_pair pairs[CHOICES];
    static nigh_context *context;
    if (context == NULL && nigh_context_new(NULL, &context, NULL) != NIGH_OK) abort();
    const unsigned index = choice % CHOICES;
    if (pairs[index].context == NULL)
        analysis_pair_init(&pairs[index], context, choices[index].language, choices[index].stemming,
                           choices[index].stop_words);
    return &pairs[index];
}

static void passages_check(const nigh_context *context, const char *text, size_t length, uint8_t choice) {
    struct nigh__array passages = NIGH__ARRAY(struct nigh__passage);
    const nigh_split_kind split = choice < 128 ? NIGH_SPLIT_SENTENCE : NIGH_SPLIT_HARD;
    if (nigh__passages_find(context, text, length, split, 1 + choice % 3, 1 + choice % 11, &passages, NULL) != NIGH_OK)
        abort();
    const struct nigh__passage *passage = passages.data;
    size_t end = 0;
    for (size_t i = 0; i < passages.count; i++) {
        if (passage[i].begin != end || (passage[i].length == 0 && length > 0)) abort();
        end += passage[i].length;
    }
    if (end != length) abort();
    nigh__array_release(context, &passages);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t choice = size > 0 ? data[0] : 0;
    const char *text = size > 0 ? (const char *)data + 1 : "";
    const size_t length = size > 0 ? size - 1 : 0;
    struct analysis_pair *pair = pair_for(choice);
    char *spelled = analysis_spelled(pair, text, length);
    if (!analysis_agrees(pair, text, length, spelled)) abort();
    if (!analysis_agrees(pair, text, length, spelled)) abort();
    if (length < 4096) { /* the plain way sorts accents slowly */
        char *by_hand = analysis_by_hand(pair, text, length);
        for (size_t i = 0; spelled[i] != 0 || by_hand[i] != 0; i++) {
            if (spelled[i] != by_hand[i]) abort();
        }
        free(by_hand);
    }
    free(spelled);
    passages_check(pair->context, text, length, choice);
    return 0;
}
