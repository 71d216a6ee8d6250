/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts as queries. Each is signed as the documents were. nigh_search() gets the
 * signatures and what it must know of them: which bits the words of a text touch, or, if
 * all bits count, how sure each bit is.
 */
#include <string.h>

#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/collection.h"
#include "corpus/corpus_signer.h"
#include "scan/results.h"
#include "search/search_options.h"
#include "signature/signer.h"

/* The texts of one call that have a word to search for, signed, one after the other. */
struct questions {
    const nigh_context *context;
    size_t bytes, bits;  /* of a signature */
    size_t count;        /* of texts */
    size_t asked;        /* of these, signed */
    bool *has_words;     /* of each text */
    uint8_t *signatures; /* owned, as all of these */
    uint8_t *weights;
    uint8_t *masks;
    bool masked;   /* some bits are left out */
    bool sure;     /* weights say something: not of minhash */
    bool sparse;   /* words touch some bits only: topsig */
    bool weighted; /* a ranking by weights is asked for */
};

static bool questions_init(struct questions *questions, const nigh_collection *collection, size_t count) {
    const nigh_context *context = collection->context;
    const size_t bytes = nigh__row_bytes(collection->width_bits);
    *questions = (struct questions){.context = context, .bytes = bytes, .bits = collection->width_bits, .count = count};
    questions->has_words = nigh__alloc_zero(context, count, sizeof *questions->has_words);
    questions->signatures = nigh__alloc(context, count, bytes);
    questions->weights = nigh__alloc(context, count, collection->width_bits);
    questions->masks = nigh__alloc(context, count, bytes);
    return questions->has_words != NULL && questions->signatures != NULL && questions->weights != NULL &&
           questions->masks != NULL;
}

static void questions_release(struct questions *questions) {
    nigh__free(questions->context, questions->has_words);
    nigh__free(questions->context, questions->signatures);
    nigh__free(questions->context, questions->weights);
    nigh__free(questions->context, questions->masks);
}

static bool are_zero(const uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (bytes[i] != 0) return false;
    return true;
}

static nigh_status sign_one(struct questions *questions, nigh_signer *signer, size_t index, const char *text,
                            size_t length, nigh_error *error) {
    uint8_t *weights = questions->weights + questions->asked * questions->bits;
    uint8_t *mask = questions->masks + questions->asked * questions->bytes;
    const nigh_status status = nigh_signer_sign(
        signer, text, length, questions->signatures + questions->asked * questions->bytes, weights, error);
    if (status == NIGH_ENOTFOUND) return NIGH_OK;
    if (status != NIGH_OK) return status;
    const bool partial = nigh_signer_mask(signer, weights, mask) != 0;
    if ((partial || questions->weighted) && are_zero(weights, questions->bits))
        return NIGH_OK; /* all documents would be equally near */
    questions->masked = questions->masked || partial;
    questions->has_words[index] = true;
    questions->asked++;
    return NIGH_OK;
}

static nigh_status sign_all(struct questions *questions, nigh_signer *signer, const char *const *texts,
                            const size_t *lengths, nigh_error *error) {
    nigh_status status = NIGH_OK;
    questions->sure = nigh__signer_plan(signer)->scheme != NIGH_SCHEME_MINHASH;
    questions->sparse = nigh__signer_plan(signer)->scheme == NIGH_SCHEME_TOPSIG;
    for (size_t i = 0; i < questions->count && status == NIGH_OK; i++)
        status = sign_one(questions, signer, i, texts[i], lengths != NULL ? lengths[i] : strlen(texts[i]), error);
    return status;
}

/* Results for all texts, of which some asked nothing and so have no match, exactly. */
static nigh_status spread(const struct questions *questions, nigh_results *found, nigh_results **out,
                          nigh_error *error) {
    nigh_results *all = nigh__results_new(questions->context, questions->count);
    bool whole = all != NULL && nigh__results_prove(all);
    for (size_t i = 0, next = 0; whole && i < questions->count; i++) {
        size_t count = 0;
        const nigh_match *matches = NULL;
        all->sums[i] = (struct nigh__ranking_sums){0};
        all->proofs[i] = (nigh_proof){.size = sizeof(nigh_proof), .exact = 1, .below = NIGH_ALL, .breadth = NIGH_ALL};
        if (questions->has_words[i]) {
            all->proofs[i] = found->proofs[next];
            all->sums[i] = found->sums[next];
            matches = nigh_results_matches(found, next++, &count);
        }
        all->exact_queries += all->proofs[i].exact != 0;
        whole = nigh__results_add(all, matches, count);
    }
    if (!whole) {
        nigh_results_free(all);
        return nigh__no_memory(error, "for the matches");
    }
    nigh__results_count(all, found);
    all->exact = all->exact_queries == questions->count;
    *out = all;
    return NIGH_OK;
}

/* Whether a method can. */
static bool ranks(nigh_search_method method) {
    return method == NIGH_SEARCH_AUTO || method == NIGH_SEARCH_SCAN || method == NIGH_SEARCH_COLUMNS ||
           method == NIGH_SEARCH_GRAPH;
}

/*
 * Whether nobody asks for what a weighted ranking has not.  It is the scheme that decides, not whether this text leaves
 * a bit untouched: an answer must not depend on what else is asked in the call.
 */
static bool may_weigh(const struct questions *questions, const nigh_search_options *asked) {
    return questions->sparse && !asked->all_bits && asked->radius == NIGH_ALL && ranks(asked->method) &&
           asked->probe != NIGH_PROBE_DIRECTED;
}

/* Weights rank better than masks do, and a radius is in bits unless somebody says otherwise. */
static nigh_status choose_ranking(const struct questions *questions, nigh_search_options *asked, nigh_error *error) {
    if (asked->rank == NIGH_RANK_WEIGHTED && !questions->sure)
        return nigh__fail(error, NIGH_EINVAL, "minhash bits have no weights to rank by");
    if (asked->rank == NIGH_RANK_AUTO && may_weigh(questions, asked)) asked->rank = NIGH_RANK_WEIGHTED;
    return NIGH_OK;
}

static nigh_status ask(const nigh_collection *collection, const struct questions *questions,
                       const nigh_search_options *options, nigh_results **out, nigh_error *error) {
    nigh_search_options asked = *options;
    nigh_results *found = NULL;
    asked.masks = questions->masked && !asked.all_bits ? questions->masks : NULL;
    asked.weights = questions->sure ? questions->weights : NULL;
    nigh_status status = choose_ranking(questions, &asked, error);
    if (status != NIGH_OK) return status;
    status = nigh_search(collection, questions->signatures, questions->asked, &asked, &found, error);
    if (status != NIGH_OK || questions->asked == questions->count) {
        *out = found;
        return status;
    }
    status = spread(questions, found, out, error);
    nigh_results_free(found);
    return status;
}

nigh_status nigh_search_texts(const nigh_collection *collection, const char *const *texts, const size_t *lengths,
                              size_t count, const nigh_search_options *options, nigh_results **out, nigh_error *error) {
    nigh_search_options known;
    struct questions questions;
    nigh_signer *signer = NULL;
    *out = NULL;
    nigh_status status = nigh__options_copy(&nigh__search_options_shape, &known, options, error);
    if (status == NIGH_OK && (known.masks != NULL || known.weights != NULL))
        status = nigh__fail(error, NIGH_EINVAL, "masks and weights are made from the texts; give none");
    if (status != NIGH_OK) return status;
    if (!questions_init(&questions, collection, count))
        status = nigh__fail(error, NIGH_ENOMEM, "no memory for %zu texts", count);
    questions.weighted = known.rank == NIGH_RANK_WEIGHTED;
    if (status == NIGH_OK) status = nigh__corpus_signer_take(collection, &signer, error);
    if (status == NIGH_OK) status = sign_all(&questions, signer, texts, lengths, error);
    nigh__corpus_signer_give(collection, signer);
    if (status == NIGH_OK) status = ask(collection, &questions, &known, out, error);
    questions_release(&questions);
    return status;
}

nigh_status nigh_search_text(const nigh_collection *collection, const char *text, const nigh_search_options *options,
                             nigh_results **out, nigh_error *error) {
    return nigh_search_texts(collection, &text, NULL, 1, options, out, error);
}
