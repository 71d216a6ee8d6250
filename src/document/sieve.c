/* SPDX-License-Identifier: Apache-2.0 */
#include "document/sieve.h"

#include "base/memory.h"
#include "base/status.h"
#include "text/cutter.h"
#include "text/language_detector.h"
#include "text/unicode.h"

#define PIECE_CODES 256

struct nigh__sieve {
    const nigh_context *context;
    uint64_t min_bytes, min_words;
    struct nigh__language_detector *detector; /* NULL: any language */
    struct nigh__normaliser normaliser;
    struct nigh__cutter cutter;
    uint64_t words; /* of the text at hand, as far as they were counted */
};

bool nigh__sieve_wanted(const nigh_text_reader_options *options) {
    return options->min_bytes > 0 || options->min_words > 0 || options->only_language != NULL;
}

nigh_status nigh__sieve_check(const nigh_text_reader_options *options, nigh_error *error) {
    char codes[NIGH__DETECTABLE_SIZE];
    if (options->only_language == NULL || nigh__language_detectable(options->only_language) != NULL) return NIGH_OK;
    nigh__language_list_detectable(codes, sizeof codes);
    return nigh__fail(error, NIGH_EINVAL, "the language '%.40s' cannot be recognised; these can: %s",
                      options->only_language, codes);
}

static nigh_status word_take(void *user, const struct nigh__word *word, nigh_error *error) {
    struct nigh__sieve *sieve = user;
    (void)word;
    (void)error;
    return ++sieve->words < sieve->min_words ? NIGH_OK : NIGH_ELIMIT;
}

nigh_status nigh__sieve_new(const nigh_context *context, const nigh_text_reader_options *options,
                            struct nigh__sieve **out, nigh_error *error) {
    *out = NULL;
    if (!nigh__sieve_wanted(options)) return NIGH_OK;
    struct nigh__sieve *sieve = nigh__alloc_zero(context, 1, sizeof *sieve);
    if (sieve == NULL) return nigh__no_memory(error, "to leave out documents");
    sieve->context = context;
    sieve->min_bytes = options->min_bytes;
    sieve->min_words = options->min_words;
    nigh__normaliser_init(context, &sieve->normaliser);
    nigh__cutter_init(context, word_take, sieve, &sieve->cutter);
    nigh_status status = NIGH_OK;
    if (options->only_language != NULL)
        status = nigh__language_detector_new(context, nigh__language_detectable(options->only_language),
                                             &sieve->detector, error);
    if (status == NIGH_OK)
        *out = sieve;
    else
        nigh__sieve_free(sieve);
    return status;
}

void nigh__sieve_free(struct nigh__sieve *sieve) {
    if (sieve == NULL) return;
    nigh__language_detector_free(sieve->detector);
    nigh__normaliser_release(&sieve->normaliser);
    nigh__cutter_release(&sieve->cutter);
    nigh__free(sieve->context, sieve);
}

/* No further than it takes to know. */
static nigh_status words_count(struct nigh__sieve *sieve, const char *text, size_t length, nigh_error *error) {
    sieve->words = 0;
    nigh__cutter_reset(&sieve->cutter);
    nigh__normaliser_start(&sieve->normaliser, text, length);
    nigh_status status;
    do {
        const int32_t *codes;
        size_t count;
        status = nigh__normaliser_next(&sieve->normaliser, PIECE_CODES, &codes, &count, error);
        if (status == NIGH_OK) status = nigh__cutter_add(&sieve->cutter, codes, count, error);
    } while (status == NIGH_OK);
    if (status == NIGH_END) status = nigh__cutter_end(&sieve->cutter, error);
    return status == NIGH_ELIMIT ? NIGH_OK : status; /* there are enough */
}

nigh_status nigh__sieve_judge(struct nigh__sieve *sieve, const char *text, size_t length, enum nigh__sieved *out,
                              nigh_error *error) {
    enum nigh__language_verdict verdict = NIGH__LANGUAGE_UNSURE;
    nigh_status status = NIGH_OK;
    *out = NIGH__SIEVED_NOT;
    if (sieve == NULL) return NIGH_OK;
    if (length < sieve->min_bytes) {
        *out = NIGH__SIEVED_BYTES;
        return NIGH_OK;
    }
    if (sieve->min_words > 0) {
        status = words_count(sieve, text, length, error);
        if (sieve->words < sieve->min_words) *out = NIGH__SIEVED_WORDS;
    }
    if (status != NIGH_OK || *out != NIGH__SIEVED_NOT || sieve->detector == NULL) return status;
    status = nigh__language_detect(sieve->detector, text, length, &verdict, error);
    if (verdict == NIGH__LANGUAGE_OTHER) *out = NIGH__SIEVED_LANGUAGE;
    return status;
}

void nigh__sieve_count(enum nigh__sieved why, nigh_text_reader_info *info) {
    info->too_few_bytes += why == NIGH__SIEVED_BYTES;
    info->too_few_words += why == NIGH__SIEVED_WORDS;
    info->other_language += why == NIGH__SIEVED_LANGUAGE;
}
