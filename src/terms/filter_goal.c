/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weights of terms.  A query log is analysed as the documents were, a piece of whole lines at a
 * time; what queries do not look up in filters, "-word" and "OR", is made blank before.
 */
#include "terms/filter_goal.h"

#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "terms/term_numbers.h"

#define PIECE ((size_t)1 << 20)

struct asking {
    const struct nigh__blocks *blocks;
    struct nigh__term_numbers numbers;
    struct nigh__featurer *featurer;
    char *piece;
    double *weights;
    bool any;
};

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void blank_unasked(char *text, size_t length) {
    for (size_t begin = 0; begin < length;) {
        size_t end = begin;
        while (end < length && !is_blank(text[end])) end++;
        const bool is_or = end - begin == 2 && memcmp(text + begin, "OR", 2) == 0;
        const bool is_and =
            end - begin == 3 && (memcmp(text + begin, "AND", 3) == 0 || memcmp(text + begin, "NOT", 3) == 0);
        if (end > begin && (is_or || is_and || text[begin] == '-')) memset(text + begin, ' ', end - begin);
        begin = end + 1;
    }
}

static nigh_status take_piece(struct asking *asking, size_t length, nigh_error *error) {
    struct nigh__features features;
    blank_unasked(asking->piece, length);
    nigh_status status = nigh__featurer_find(asking->featurer, asking->piece, length, &features, error);
    if (status != NIGH_OK) return status;
    for (size_t i = 0; i < features.count; i++) {
        const uint32_t term = nigh__term_numbers_find(&asking->numbers, features.hashes[i]);
        if (term == UINT32_MAX) continue;
        asking->weights[term] += features.counts[i];
        asking->any = true;
    }
    return NIGH_OK;
}

/* Up to the last end of a line, if there is one and more may come. */
static size_t whole_lines(const uint8_t *bytes, size_t available) {
    if (available < PIECE) return available;
    size_t length = available;
    while (length > 0 && bytes[length - 1] != '\n') length--;
    return length > 0 ? length : available;
}

static nigh_status read_log(struct asking *asking, const char *path, nigh_error *error) {
    struct nigh__input input;
    nigh_status status = nigh__input_open(asking->blocks->context, path, NULL, &input, error);
    if (status != NIGH_OK) return status;
    while (status == NIGH_OK) {
        const uint8_t *bytes;
        size_t available = 0;
        status = nigh__input_peek(&input, PIECE, &bytes, &available, error);
        if (status != NIGH_OK || available == 0) break;
        if (available > PIECE) available = PIECE;
        const size_t length = whole_lines(bytes, available);
        memcpy(asking->piece, bytes, length);
        status = take_piece(asking, length, error);
        nigh__input_skip(&input, length);
    }
    nigh__input_release(&input);
    if (status == NIGH_OK && !asking->any)
        return nigh__fail_at(error, NIGH_EINVAL, path, NIGH_NO_OFFSET, "no word of these queries is in the documents");
    return status;
}

static nigh_status weigh_by_queries(const struct nigh__blocks *blocks, const char *path, double *weights,
                                    nigh_error *error) {
    const nigh_context *context = blocks->context;
    struct asking asking = {.blocks = blocks, .weights = weights, .piece = nigh__alloc(context, PIECE, 1)};
    uint32_t *numbers = nigh__alloc_large(context, blocks->terms, sizeof *numbers);
    nigh__term_numbers_init(context, &asking.numbers);
    nigh_status status = NIGH_OK;
    if (asking.piece == NULL || numbers == NULL || !nigh__term_numbers_reserve(&asking.numbers, blocks->terms))
        status = nigh__no_memory(error, "for the weights of terms");
    if (status == NIGH_OK) {
        nigh__term_numbers_add(&asking.numbers, (const uint8_t *)blocks->hashes, blocks->terms, numbers);
        status = nigh__featurer_new(context, &blocks->plan, &asking.featurer, error);
    }
    if (status == NIGH_OK) status = read_log(&asking, path, error);
    nigh__featurer_free(asking.featurer);
    nigh__term_numbers_release(&asking.numbers);
    nigh__free(context, numbers);
    nigh__free(context, asking.piece);
    return status;
}

nigh_status nigh__goal_weights(const struct nigh__blocks *blocks, nigh_filter_goal goal, const char *query_log,
                               double **out, nigh_error *error) {
    *out = NULL;
    double *weights = nigh__alloc_large(blocks->context, blocks->terms, sizeof *weights);
    if (weights == NULL) return nigh__no_memory(error, "for the weights of terms");
    for (uint32_t term = 0; term < blocks->terms; term++)
        weights[term] = goal == NIGH_GOAL_UNIFORM ? 1 : goal == NIGH_GOAL_FREQUENCY ? blocks->frequencies[term] : 0;
    nigh_status status = NIGH_OK;
    if (goal == NIGH_GOAL_QUERIES) status = weigh_by_queries(blocks, query_log, weights, error);
    if (status == NIGH_OK)
        *out = weights;
    else
        nigh__free(blocks->context, weights);
    return status;
}
