/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The positions of positions.h.  First each term gets its kind, which says where its positions
 * come from: known from before, hashes, minima (minima.c), or none.  Then threads make them, each
 * for a range of terms.
 *
 * A term of one block is kept as that block's number where this takes fewer bits than positions,
 * ceil(log2 blocks) against k ceil(log2 m): nearly always, and then it sets no bit in any filter
 * and is never found where it is not.
 */
#include "terms/positions.h"

#include "base/bytes.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "terms/minima.h"

#define FEW_TERMS 4096u /* for fewer no thread is started */

void nigh__hashed_positions(const struct nigh__filter_shape *shape, uint64_t hash, uint32_t *out) {
    const uint32_t count = shape->kind == NIGH_FILTER_HYBRID ? shape->frequent_hashes : shape->hashes;
    for (uint32_t j = 0; j < count; j++)
        out[j] = (uint32_t)(nigh__mix(hash ^ nigh__mix(shape->seed + j)) % shape->bits);
}

uint32_t nigh__bits_of(uint64_t values) {
    uint32_t bits = 0;
    while (bits < 64 && (values - 1) >> bits != 0) bits++;
    return values == 0 ? 0 : bits;
}

enum nigh__term_kind nigh__term_kind_of(const struct nigh__filter_shape *shape, uint32_t frequency, uint64_t blocks) {
    if (shape->kind != NIGH_FILTER_HYBRID) return NIGH__TERM_POSITIONS;
    if (frequency == 1 && nigh__bits_of(blocks) < shape->hashes * nigh__bits_of(shape->bits)) return NIGH__TERM_SINGLE;
    return frequency > shape->theta ? NIGH__TERM_HASHED : NIGH__TERM_POSITIONS;
}

/* --------------------------------------------------------------- kinds -- */

struct placing {
    const struct nigh__blocks *blocks;
    struct nigh__positions *positions;
    uint32_t *ranks; /* of terms whose positions are minima */
    uint32_t ranked;
    struct nigh__minima minima;
    uint32_t threads;
};

static uint32_t *positions_at(const struct placing *placing, uint32_t term) {
    return placing->positions->positions + (size_t)term * placing->positions->shape.hashes;
}

/* What the caller knows: positions outside of the filter are those of a file that lies. */
static nigh_status take_known(struct placing *placing, const struct nigh__known_positions *known, uint32_t term,
                              bool *found, nigh_error *error) {
    const struct nigh__filter_shape *shape = &placing->positions->shape;
    enum nigh__term_kind kind = NIGH__TERM_POSITIONS;
    uint32_t own[NIGH__FILTER_MAX_HASHES] = {0};
    *found = known->find(known->user, placing->blocks->hashes[term], &kind, own);
    if (!*found) return NIGH_OK;
    if (kind != NIGH__TERM_POSITIONS && (kind != NIGH__TERM_HASHED || shape->kind != NIGH_FILTER_HYBRID))
        return nigh__fail(error, NIGH_ECORRUPT, "a term kept in a way that its filters do not know");
    const uint32_t count = kind == NIGH__TERM_HASHED ? shape->frequent_hashes : shape->hashes;
    for (uint32_t j = 0; j < count; j++) {
        if (own[j] >= shape->bits) return nigh__fail(error, NIGH_ECORRUPT, "a position past the end of a filter");
        positions_at(placing, term)[j] = own[j];
    }
    placing->positions->kinds[term] = (uint8_t)kind;
    uint8_t *bits = &placing->positions->known[term / 8];
    *bits = (uint8_t)(*bits | 1u << term % 8);
    return NIGH_OK;
}

static nigh_status sort_out(struct placing *placing, const struct nigh__known_positions *known, nigh_error *error) {
    const struct nigh__blocks *blocks = placing->blocks;
    const struct nigh__filter_shape *shape = &placing->positions->shape;
    for (uint32_t term = 0; term < blocks->terms; term++) {
        bool found = false;
        placing->ranks[term] = NIGH__UNRANKED;
        if (known != NULL && known->find != NULL) {
            nigh_status status = take_known(placing, known, term, &found, error);
            if (status != NIGH_OK) return status;
        }
        if (found) continue;
        const enum nigh__term_kind kind = nigh__term_kind_of(shape, blocks->frequencies[term], blocks->blocks);
        placing->positions->kinds[term] = (uint8_t)kind;
        if (kind == NIGH__TERM_POSITIONS && shape->kind != NIGH_FILTER_BLOOM) placing->ranks[term] = placing->ranked++;
    }
    return NIGH_OK;
}

/* -------------------------------------------------------------- placing -- */

static void place_term(const struct placing *placing, uint32_t term) {
    struct nigh__positions *positions = placing->positions;
    uint32_t *out = positions_at(placing, term);
    if (nigh__positions_known(positions, term)) return;
    if (placing->ranks[term] != NIGH__UNRANKED)
        nigh__minima_positions(&placing->minima, placing->ranks[term], positions->shape.hashes, positions->shape.bits,
                               out);
    else if (positions->kinds[term] != NIGH__TERM_SINGLE)
        nigh__hashed_positions(&positions->shape, placing->blocks->hashes[term], out);
}

static void place_range(void *user, uint32_t thread) {
    const struct placing *placing = user;
    const uint64_t terms = placing->positions->terms;
    const uint64_t end = terms * (thread + 1) / placing->threads;
    for (uint64_t term = terms * thread / placing->threads; term < end; term++) place_term(placing, (uint32_t)term);
}

/* A single term is in one block, so no two threads write to the same. */
static void place_singles(void *user, uint32_t thread) {
    const struct placing *placing = user;
    const struct nigh__blocks *blocks = placing->blocks;
    const uint64_t count = blocks->blocks;
    const uint64_t end = count * (thread + 1) / placing->threads;
    for (uint64_t block = count * thread / placing->threads; block < end; block++) {
        for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++) {
            const uint32_t term = blocks->block_terms[i];
            if (placing->positions->kinds[term] == NIGH__TERM_SINGLE) *positions_at(placing, term) = (uint32_t)block;
        }
    }
}

static nigh_status place(struct placing *placing, uint64_t first_block, struct nigh__progress *progress,
                         nigh_error *error) {
    const struct nigh__filter_shape *shape = &placing->positions->shape;
    nigh_status status = NIGH_OK;
    if (placing->ranked > 0)
        status = nigh__minima_make(placing->blocks, placing->ranks, placing->ranked, shape, first_block,
                                   placing->threads, progress, &placing->minima, error);
    if (status != NIGH_OK) return status;
    nigh__threads_run(placing->threads, place_range, placing);
    if (shape->kind == NIGH_FILTER_HYBRID) nigh__threads_run(placing->threads, place_singles, placing);
    return NIGH_OK;
}

/* -------------------------------------------------------------- outside -- */

static nigh_status positions_new(const struct nigh__blocks *blocks, const struct nigh__filter_shape *shape,
                                 struct placing *placing, nigh_error *error) {
    const nigh_context *context = blocks->context;
    struct nigh__positions *positions = nigh__alloc_zero(context, 1, sizeof *positions);
    placing->positions = positions;
    if (positions != NULL) {
        *positions = (struct nigh__positions){.context = context, .shape = *shape, .terms = blocks->terms};
        positions->kinds = nigh__alloc(context, blocks->terms, sizeof *positions->kinds);
        positions->positions =
            nigh__alloc_table(context, (size_t)blocks->terms * shape->hashes, sizeof *positions->positions);
        placing->ranks = nigh__alloc_large(context, blocks->terms, sizeof *placing->ranks);
        positions->known = nigh__alloc_zero(context, (size_t)blocks->terms / 8 + 1, 1);
    }
    if (positions != NULL && positions->kinds != NULL && positions->positions != NULL && placing->ranks != NULL &&
        positions->known != NULL)
        return NIGH_OK;
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory for the positions of %u terms", blocks->terms);
    return NIGH_ENOMEM;
}

nigh_status nigh__positions_make(const struct nigh__blocks *blocks, const struct nigh__filter_shape *shape,
                                 uint64_t first_block, const struct nigh__known_positions *known, uint32_t threads,
                                 struct nigh__progress *progress, struct nigh__positions **out, nigh_error *error) {
    *out = NULL;
    nigh_status status = nigh__filter_shape_check(shape, error);
    if (status != NIGH_OK) return status;
    struct placing placing = {.blocks = blocks,
                              .threads = blocks->terms < FEW_TERMS ? 1 : nigh__threads_resolve(threads)};
    status = positions_new(blocks, shape, &placing, error);
    if (status == NIGH_OK) status = sort_out(&placing, known, error);
    if (status == NIGH_OK) status = place(&placing, first_block, progress, error);
    nigh__minima_release(&placing.minima);
    nigh__free(blocks->context, placing.ranks);
    if (status == NIGH_OK)
        *out = placing.positions;
    else
        nigh__positions_free(placing.positions);
    return status;
}

void nigh__positions_free(struct nigh__positions *positions) {
    if (positions == NULL) return;
    const nigh_context *context = positions->context;
    nigh__free(context, positions->kinds);
    nigh__free(context, positions->known);
    nigh__free(context, positions->positions);
    nigh__free(context, positions);
}
