/* SPDX-License-Identifier: Apache-2.0 */
/* The search in one group: the order of the words, and the union of the choices. */
#include <string.h>

#include "base/status.h"
#include "kernel/rows.h"
#include "terms/terms_search_parts.h"

/* --------------------------------------------------------- making, freeing -- */

static size_t most_terms(const struct nigh__query *query) {
    size_t most = 0;
    for (size_t i = 0; i < query->choices.count; i++) {
        const struct nigh__query_choice *choice = nigh__query_choice(query, i);
        if (choice->terms > most) most = choice->terms;
    }
    return most;
}

nigh_status nigh__seeker_init(const nigh_terms *terms, const struct nigh__query *query, struct nigh__progress *progress,
                              struct nigh__seeker *out, nigh_error *error) {
    const nigh_context *context = nigh__terms_context(terms);
    const size_t most = most_terms(query);
    const size_t rows = most * NIGH__FILTER_MAX_HASHES;
    *out = (struct nigh__seeker){.terms = terms,
                                 .context = context,
                                 .query = query,
                                 .progress = progress,
                                 .left = NIGH__ARRAY(uint32_t),
                                 .all = NIGH__ARRAY(uint32_t),
                                 .both = NIGH__ARRAY(uint32_t)};
    out->sought = nigh__alloc_zero(context, query->hashes.count, sizeof *out->sought);
    out->piece = nigh__alloc_aligned(context, NIGH__SEEK_PIECE, 1, NIGH__ROWS_LINE);
    out->keys = nigh__alloc(context, rows, sizeof *out->keys);
    out->spare = nigh__alloc(context, rows, sizeof *out->spare);
    out->rows = nigh__alloc(context, rows, sizeof *out->rows);
    out->order = nigh__alloc(context, most, sizeof *out->order);
    if (out->sought == NULL || out->piece == NULL || out->keys == NULL || out->spare == NULL || out->rows == NULL ||
        out->order == NULL)
        return nigh__no_memory(error, "for a search of terms");
    for (size_t i = 0; i < query->hashes.count; i++) out->sought[i].walk.hash = nigh__query_hashes(query)[i];
    return NIGH_OK;
}

void nigh__seeker_release(struct nigh__seeker *seeker) {
    const nigh_context *context = seeker->context;
    if (context == NULL) return;
    nigh__free(context, seeker->sought);
    nigh__free(context, seeker->piece);
    nigh__free(context, seeker->bits);
    nigh__free(context, seeker->closed);
    nigh__free(context, seeker->keys);
    nigh__free(context, seeker->spare);
    nigh__free(context, seeker->rows);
    nigh__free(context, seeker->order);
    nigh__array_release(context, &seeker->left);
    nigh__array_release(context, &seeker->all);
    nigh__array_release(context, &seeker->both);
}

/* ------------------------------------------------------------------ terms -- */

/* Where all terms of the query are in the group. */
static nigh_status find_terms(struct nigh__seeker *seeker, uint32_t group, nigh_error *error) {
    for (size_t i = 0; i < seeker->query->hashes.count; i++) {
        struct nigh__sought_term *sought = &seeker->sought[i];
        nigh_status status =
            nigh__terms_walk(seeker->terms, group, &sought->walk, &sought->found, &sought->place, error);
        if (status != NIGH_OK) return status;
        sought->ever |= sought->found;
        sought->measured = false;
    }
    return NIGH_OK;
}

/* Whether a term is better looked for before another: a single block, then what has most positions. */
static bool comes_before(const struct nigh__sought_term *a, const struct nigh__sought_term *b) {
    const bool single = a->place.kind == NIGH__TERM_SINGLE;
    if (single != (b->place.kind == NIGH__TERM_SINGLE)) return single;
    return a->place.count > b->place.count;
}

/* Puts the terms of a choice in order; *single of them have a single block.  False where one is nowhere. */
static bool order_terms(struct nigh__seeker *seeker, const struct nigh__query_choice *choice, size_t *single) {
    const uint32_t *terms = nigh__query_terms(&seeker->query->choice_terms, choice->first_term);
    *single = 0;
    for (size_t i = 0; i < choice->terms; i++) {
        const struct nigh__sought_term *sought = &seeker->sought[terms[i]];
        if (!sought->found) return false;
        *single += sought->place.kind == NIGH__TERM_SINGLE;
        size_t at = i;
        for (; at > 0 && comes_before(sought, &seeker->sought[seeker->order[at - 1]]); at--)
            seeker->order[at] = seeker->order[at - 1];
        seeker->order[at] = terms[i];
    }
    return true;
}

/* ----------------------------------------------------------------- choice -- */

/* Documents that have the words of a single block each. */
static nigh_status seek_single(struct nigh__seeker *seeker, size_t single, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < single && status == NIGH_OK && (i == 0 || seeker->left.count > 0); i++) {
        status = nigh__seek_block(seeker, seeker->sought[seeker->order[i]].place.block, i == 0, error);
    }
    return status;
}

/* The rows of so many terms of the order. */
static nigh_status take_rows(struct nigh__seeker *seeker, size_t first, size_t terms, nigh_error *error) {
    for (size_t i = first; i < first + terms; i++) {
        nigh_status status = nigh__seek_sample(seeker, &seeker->sought[seeker->order[i]], error);
        if (status != NIGH_OK) return status;
    }
    nigh__seek_rows(seeker, seeker->order + first, terms);
    return NIGH_OK;
}

static nigh_status seek_at_once(struct nigh__seeker *seeker, size_t single, size_t terms, nigh_error *error) {
    nigh_status status = take_rows(seeker, single, terms - single, error);
    if (status != NIGH_OK) return status;
    return single == 0 ? nigh__seek_first(seeker, error) : nigh__seek_more(seeker, error);
}

/* Word by word: bits of documents first, and once few are left these themselves. */
static nigh_status seek_in_turn(struct nigh__seeker *seeker, size_t single, size_t terms, nigh_error *error) {
    bool told = single > 0;
    nigh_status status = NIGH_OK;
    for (size_t i = single; i < terms && status == NIGH_OK && !(told && seeker->left.count == 0); i++) {
        status = take_rows(seeker, i, 1, error);
        if (status != NIGH_OK) return status;
        status =
            told ? nigh__seek_more(seeker, error) : nigh__seek_closed(seeker, i == 0, i + 1 == terms, &told, error);
    }
    return status;
}

/* Documents of one choice, in `left`. */
static nigh_status seek_choice(struct nigh__seeker *seeker, const struct nigh__query_choice *choice,
                               nigh_error *error) {
    size_t single;
    seeker->left.count = 0;
    if (!order_terms(seeker, choice, &single)) return NIGH_OK;
    nigh_status status = seek_single(seeker, single, error);
    if (status == NIGH_OK && single < choice->terms && (single == 0 || seeker->left.count > 0)) {
        const bool at_once = seeker->group->every_document_one_block;
        status = at_once ? seek_at_once(seeker, single, choice->terms, error)
                         : seek_in_turn(seeker, single, choice->terms, error);
    }
    return status;
}

/* ---------------------------------------------------------------- choices -- */

static size_t merge(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, uint32_t *out) {
    size_t i = 0;
    size_t j = 0;
    size_t count = 0;
    while (i < a_count || j < b_count) {
        if (j == b_count || (i < a_count && a[i] < b[j])) {
            out[count++] = a[i++];
        } else {
            if (i < a_count && a[i] == b[j]) i++;
            out[count++] = b[j++];
        }
    }
    return count;
}

/* all = all or left; both ascending. */
static nigh_status unite(struct nigh__seeker *seeker, nigh_error *error) {
    struct nigh__array *from = seeker->all.count == 0 ? &seeker->left : &seeker->both;
    if (seeker->left.count == 0) return NIGH_OK;
    if (from == &seeker->both) {
        seeker->both.count = 0;
        uint32_t *out = nigh__array_add(seeker->context, &seeker->both, seeker->all.count + seeker->left.count);
        if (out == NULL) return nigh__no_memory(error, "for a search of terms");
        seeker->both.count = merge(seeker->all.data, seeker->all.count, seeker->left.data, seeker->left.count, out);
    }
    const struct nigh__array united = *from;
    *from = seeker->all;
    seeker->all = united;
    return NIGH_OK;
}

nigh_status nigh__seeker_search(struct nigh__seeker *seeker, uint32_t group, nigh_error *error) {
    seeker->group = nigh__terms_group(seeker->terms, group);
    seeker->all.count = 0;
    nigh_status status = find_terms(seeker, group, error);
    if (seeker->group->blocks == 0) return status;
    for (size_t i = 0; i < seeker->query->choices.count && status == NIGH_OK; i++) {
        status = seek_choice(seeker, nigh__query_choice(seeker->query, i), error);
        if (status == NIGH_OK) status = unite(seeker, error);
    }
    if (status == NIGH_OK && seeker->all.count > 0) status = nigh__seek_blocks(seeker, error);
    return status;
}
