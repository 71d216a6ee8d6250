/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh_terms_search(): runs a query on all groups. The answers are documents that may satisfy it.
 * None that satisfies it is missing, because the words of a document set all bits that the query
 * looks at. Verified answers are exact.
 */
#include "base/clock.h"
#include "base/status.h"
#include "terms/terms_options.h"
#include "terms/terms_search_parts.h"
#include "terms/terms_verify.h"

struct nigh_terms_answer {
    const nigh_context *context;
    struct nigh__array documents; /* of uint64_t */
    nigh_terms_answer_info info;
};

/* What was found in a group, by numbers over all groups. */
static nigh_status take_group(const struct nigh__seeker *seeker, nigh_terms_answer *answer, nigh_error *error) {
    const uint32_t *found = seeker->all.data;
    if (seeker->all.count == 0) return NIGH_OK;
    uint64_t *out = nigh__array_add(answer->context, &answer->documents, seeker->all.count);
    if (out == NULL) return nigh__no_memory(error, "for answers");
    for (size_t i = 0; i < seeker->all.count; i++) out[i] = seeker->group->first_document + found[i];
    return NIGH_OK;
}

/* Words with a term that is in no dictionary.  A filter without one knows all words, so to say. */
static uint32_t count_unknown(const struct nigh__seeker *seeker) {
    const struct nigh__query *query = seeker->query;
    uint32_t unknown = 0;
    for (size_t w = 0; w < query->words.count; w++) {
        const struct nigh__query_word *word = nigh__query_word(query, w);
        const uint32_t *terms = nigh__query_terms(&query->word_terms, word->first_term);
        bool all = true;
        for (uint32_t i = 0; i < word->terms; i++) all &= seeker->sought[terms[i]].ever;
        unknown += !all;
    }
    return unknown;
}

static void tell(const struct nigh__seeker *seeker, nigh_terms_answer *answer) {
    answer->info.candidates = answer->documents.count;
    answer->info.blocks = seeker->blocks;
    answer->info.rows = seeker->rows_begun;
    answer->info.bytes = seeker->bytes_touched;
    answer->info.unknown = count_unknown(seeker);
    answer->info.stop_words = seeker->query->stop_words;
}

static nigh_status search_groups(const nigh_terms *terms, const struct nigh__query *query,
                                 const nigh_terms_query *asked, nigh_terms_answer *answer, nigh_error *error) {
    struct nigh__progress progress;
    struct nigh__seeker seeker;
    nigh__progress_init(&progress, asked->progress);
    nigh_status status = nigh__seeker_init(terms, query, &progress, &seeker, error);
    for (uint32_t group = 0; group < nigh__terms_groups(terms) && status == NIGH_OK; group++) {
        status = nigh__seeker_search(&seeker, group, error);
        if (status == NIGH_OK) status = take_group(&seeker, answer, error);
    }
    if (status == NIGH_OK) tell(&seeker, answer);
    nigh__seeker_release(&seeker);
    return status;
}

static void limit(nigh_terms_answer *answer, uint64_t most) {
    if (most != 0 && answer->documents.count > most) answer->documents.count = (size_t)most;
}

static nigh_status verify(const nigh_terms *terms, const struct nigh__query *query, const nigh_terms_query *asked,
                          nigh_terms_answer *answer, nigh_error *error) {
    const double begun = nigh__clock();
    nigh_status status = nigh__terms_verify(terms, query, asked, &answer->documents, error);
    answer->info.verify_seconds = nigh__clock() - begun;
    return status;
}

static nigh_status search(const nigh_terms *terms, const struct nigh__query *query, const nigh_terms_query *asked,
                          nigh_terms_answer *answer, nigh_error *error) {
    const double begun = nigh__clock();
    nigh_status status = search_groups(terms, query, asked, answer, error);
    answer->info.seconds = nigh__clock() - begun;
    if (status == NIGH_OK && asked->verify != 0) status = verify(terms, query, asked, answer, error);
    if (status == NIGH_OK && asked->verify == 0) limit(answer, asked->limit);
    answer->info.documents = answer->documents.count;
    return status;
}

static nigh_status understand(const nigh_terms *terms, const nigh_terms_query *asked, struct nigh__query *out,
                              nigh_error *error) {
    nigh_status status =
        nigh__query_parse(nigh__terms_context(terms), &nigh__terms_plan(terms)->analysis, asked->text, out, error);
    if (status == NIGH_OK && out->minus && asked->verify == 0)
        return nigh__because(error, NIGH_REASON_NEEDS_VERIFY,
                             nigh__fail(error, NIGH_EINVAL, "a filter cannot tell that a word is not there"));
    return status;
}

nigh_status nigh_terms_search(const nigh_terms *terms, const nigh_terms_query *query, nigh_terms_answer **out,
                              nigh_error *error) {
    *out = NULL;
    nigh_terms_query asked;
    nigh_status status = nigh__options_copy(&nigh__terms_query_shape, &asked, query, error);
    if (status != NIGH_OK) return status;
    const nigh_context *context = nigh__terms_context(terms);
    nigh_terms_answer *answer = nigh__alloc_zero(context, 1, sizeof *answer);
    if (answer == NULL) return nigh__no_memory(error, "for answers");
    *answer = (nigh_terms_answer){
        .context = context, .documents = NIGH__ARRAY(uint64_t), .info = {.size = sizeof(nigh_terms_answer_info)}};
    struct nigh__query understood;
    status = understand(terms, &asked, &understood, error);
    if (status == NIGH_OK) status = search(terms, &understood, &asked, answer, error);
    nigh__query_release(&understood);
    if (status == NIGH_OK)
        *out = answer;
    else
        nigh_terms_answer_free(answer);
    return status;
}

void nigh_terms_answer_describe(const nigh_terms_answer *answer, nigh_terms_answer_info *out) {
    nigh__info_copy(out, &answer->info, sizeof answer->info);
}

const uint64_t *nigh_terms_answer_documents(const nigh_terms_answer *answer, size_t *count) {
    *count = answer->documents.count;
    return answer->documents.data;
}

void nigh_terms_answer_free(nigh_terms_answer *answer) {
    if (answer == NULL) return;
    nigh__array_release(answer->context, &answer->documents);
    nigh__free(answer->context, answer);
}
