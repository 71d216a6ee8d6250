/* SPDX-License-Identifier: Apache-2.0 */
/* From text to terms, the plain way: normalises every character, stems every word, remembers nothing. */
#include <string.h>

#include "base/status.h"
#include "text/analysis.h"
#include "text/cutter.h"
#include "text/stem.h"

#define PIECE_CODES 1024

struct nigh__speller {
    const nigh_context *context;
    struct nigh__normaliser normaliser;
    struct nigh__cutter cutter;
    struct nigh__stemmer stemmer;
    struct nigh__array spelled; /* of char */
};

static nigh_status word_take(void *user, const struct nigh__word *word, nigh_error *error) {
    struct nigh__speller *speller = user;
    const char *term;
    size_t length;
    nigh_status status = nigh__stem(&speller->stemmer, word, &term, &length, error);
    if (status != NIGH_OK || length == 0) return status;
    const size_t space = speller->spelled.count > 0 ? 1 : 0;
    char *added = nigh__array_add(speller->context, &speller->spelled, space + length);
    if (added == NULL) return nigh__no_memory(error, "for the terms of a text");
    added[0] = ' ';
    memcpy(added + space, term, length);
    return NIGH_OK;
}

nigh_status nigh__speller_new(const nigh_context *context, const struct nigh__analysis *analysis,
                              struct nigh__speller **out, nigh_error *error) {
    *out = NULL;
    struct nigh__speller *speller = nigh__alloc_zero(context, 1, sizeof *speller);
    if (speller == NULL) return nigh__no_memory(error, "to analyse texts");
    speller->context = context;
    speller->spelled = (struct nigh__array)NIGH__ARRAY(char);
    nigh__normaliser_init(context, &speller->normaliser);
    nigh__cutter_init(context, word_take, speller, &speller->cutter);
    nigh_status status = nigh__stemmer_init(analysis, &speller->stemmer, error);
    if (status != NIGH_OK)
        nigh__speller_free(speller);
    else
        *out = speller;
    return status;
}

void nigh__speller_free(struct nigh__speller *speller) {
    if (speller == NULL) return;
    nigh__normaliser_release(&speller->normaliser);
    nigh__cutter_release(&speller->cutter);
    nigh__stemmer_release(&speller->stemmer);
    nigh__array_release(speller->context, &speller->spelled);
    nigh__free(speller->context, speller);
}

nigh_status nigh__spell(struct nigh__speller *speller, const char *text, size_t length, const char **spelled,
                        size_t *spelled_length, nigh_error *error) {
    speller->spelled.count = 0;
    nigh__cutter_reset(&speller->cutter);
    nigh__normaliser_start(&speller->normaliser, text, length);
    nigh_status status;
    do {
        const int32_t *codes;
        size_t count;
        status = nigh__normaliser_next(&speller->normaliser, PIECE_CODES, &codes, &count, error);
        if (status == NIGH_OK) status = nigh__cutter_add(&speller->cutter, codes, count, error);
    } while (status == NIGH_OK && speller->spelled.count < NIGH__MAX_SPELLED);
    if (status == NIGH_END || status == NIGH_OK) status = nigh__cutter_end(&speller->cutter, error);
    if (status != NIGH_OK) return status;
    *spelled = speller->spelled.count > 0 ? speller->spelled.data : "";
    *spelled_length = speller->spelled.count;
    return NIGH_OK;
}
