/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing the sample, and trying shapes on it. */
#include "terms/filter_trial.h"

#include "base/bytes.h"
#include "base/status.h"
#include "base/threads.h"
#include "base/word_sort.h"

#define SAMPLE_BLOCKS 256u
#define SAMPLE_TERMS 16384u
#define FEW_TERMS 4096u /* for fewer no thread is started */

/* -------------------------------------------------------------- drawing -- */

/* By number of the term in all blocks, its number in the sample; NIGH__UNRANKED: none. */
struct drawing {
    const struct nigh__blocks *blocks;
    struct nigh__filter_trial *trial;
    uint32_t *numbers;
    uint32_t sampled[SAMPLE_BLOCKS];
};

static uint32_t draw_term(struct drawing *drawing, uint32_t term, double weight) {
    struct nigh__filter_trial *trial = drawing->trial;
    if (drawing->numbers[term] == NIGH__UNRANKED) {
        const uint32_t number = trial->placed++;
        drawing->numbers[term] = number;
        trial->hashes[number] = drawing->blocks->hashes[term];
        trial->frequencies[number] = drawing->blocks->frequencies[term];
        trial->weights[number] = weight;
    }
    return drawing->numbers[term];
}

/*
 * With steps through the sum of the weights: a term as heavy as a step is met by one at least, and stands
 * for itself; a lighter one is met sometimes, and stands for a step.
 */
static void draw_terms(struct drawing *drawing, const double *weights) {
    const uint32_t terms = drawing->blocks->terms;
    double total = 0;
    for (uint32_t term = 0; term < terms; term++) total += weights[term];
    const double step = terms <= SAMPLE_TERMS ? 0 : total / SAMPLE_TERMS;
    double next = step / 2;
    double sum = 0;
    for (uint32_t term = 0; term < terms; term++) {
        if (weights[term] <= 0) continue;
        sum += weights[term];
        if (weights[term] >= step) (void)draw_term(drawing, term, weights[term]);
        if (sum < next) continue;
        if (weights[term] < step) (void)draw_term(drawing, term, step);
        while (next <= sum && step > 0) next += step;
    }
}

/*
 * Evenly from the blocks in the order of their lengths: of all there is, the length says most about how
 * often a block's filter errs.
 */
static nigh_status choose_blocks(struct drawing *drawing, nigh_error *error) {
    const struct nigh__blocks *blocks = drawing->blocks;
    const uint64_t count = blocks->blocks;
    const uint64_t sample = drawing->trial->sample.blocks;
    uint64_t *keys = nigh__alloc_large(blocks->context, count, sizeof *keys);
    uint64_t *scratch = nigh__alloc_large(blocks->context, count, sizeof *scratch);
    if (keys != NULL && scratch != NULL) {
        for (uint64_t block = 0; block < count; block++)
            keys[block] = (blocks->begins[block + 1] - blocks->begins[block]) << 32 | block;
        const uint64_t *sorted = nigh__words_sort(keys, scratch, count, 1, 1, drawing->trial->threads);
        for (uint64_t i = 0; i < sample; i++)
            drawing->sampled[i] = (uint32_t)sorted[(2 * i + 1) * count / (2 * sample)];
    }
    const bool made = keys != NULL && scratch != NULL;
    nigh__free(blocks->context, keys);
    nigh__free(blocks->context, scratch);
    return made ? NIGH_OK : nigh__no_memory(error, "to try filters");
}

static void draw_blocks(struct drawing *drawing) {
    const struct nigh__blocks *blocks = drawing->blocks;
    struct nigh__blocks *sample = &drawing->trial->sample;
    for (uint32_t i = 0; i < sample->blocks; i++) {
        const uint32_t block = drawing->sampled[i];
        drawing->trial->begins[i] = sample->postings;
        for (uint64_t p = blocks->begins[block]; p < blocks->begins[block + 1]; p++)
            drawing->trial->block_terms[sample->postings++] = draw_term(drawing, blocks->block_terms[p], 0);
    }
    drawing->trial->begins[sample->blocks] = sample->postings;
}

static uint64_t postings_of_sample(const struct drawing *drawing) {
    const uint64_t *begins = drawing->blocks->begins;
    uint64_t postings = 0;
    for (uint32_t i = 0; i < drawing->trial->sample.blocks; i++)
        postings += begins[drawing->sampled[i] + 1] - begins[drawing->sampled[i]];
    return postings;
}

/* Of heavy terms there can be as many as steps, and of light ones that are met. */
static nigh_status make_room(struct drawing *drawing, uint32_t hashes, nigh_error *error) {
    struct nigh__filter_trial *trial = drawing->trial;
    const nigh_context *context = trial->context;
    const uint64_t postings = postings_of_sample(drawing);
    const size_t terms = nigh__smaller(drawing->blocks->terms, 2 * (size_t)SAMPLE_TERMS + 2 + postings);
    trial->begins = nigh__alloc(context, (size_t)trial->sample.blocks + 1, sizeof *trial->begins);
    trial->block_terms = nigh__alloc(context, postings, sizeof *trial->block_terms);
    trial->hashes = nigh__alloc(context, terms, sizeof *trial->hashes);
    trial->frequencies = nigh__alloc(context, terms, sizeof *trial->frequencies);
    trial->weights = nigh__alloc(context, terms, sizeof *trial->weights);
    trial->positions.kinds = nigh__alloc(context, terms, 1);
    trial->positions.positions = nigh__alloc_large(context, terms * hashes, sizeof *trial->positions.positions);
    drawing->numbers = nigh__alloc_large(context, drawing->blocks->terms, sizeof *drawing->numbers);
    if (trial->begins == NULL || trial->block_terms == NULL || trial->hashes == NULL || trial->frequencies == NULL ||
        trial->weights == NULL || trial->positions.kinds == NULL || trial->positions.positions == NULL ||
        drawing->numbers == NULL)
        return nigh__no_memory(error, "to try filters");
    for (uint32_t term = 0; term < drawing->blocks->terms; term++) drawing->numbers[term] = NIGH__UNRANKED;
    return NIGH_OK;
}

/* Minima are made where the kind of filter has a use for them; ranks are the sample's numbers. */
static nigh_status make_minima(struct drawing *drawing, const struct nigh__filter_shape *shape,
                               struct nigh__progress *progress, nigh_error *error) {
    struct nigh__filter_trial *trial = drawing->trial;
    const struct nigh__blocks *blocks = drawing->blocks;
    if (shape->kind == NIGH_FILTER_BLOOM) return NIGH_OK;
    for (uint32_t term = 0; term < blocks->terms && shape->kind == NIGH_FILTER_HYBRID; term++)
        if (blocks->frequencies[term] > NIGH__TRIAL_MAX_THETA && blocks->frequencies[term] > shape->theta)
            drawing->numbers[term] = NIGH__UNRANKED;
    return nigh__minima_make(blocks, drawing->numbers, trial->placed, shape, 0, trial->threads, progress,
                             &trial->minima, error);
}

static void show_sample(struct nigh__filter_trial *trial) {
    trial->sample.begins = trial->begins;
    trial->sample.block_terms = trial->block_terms;
    trial->sample.hashes = trial->hashes;
    trial->sample.frequencies = trial->frequencies;
    trial->positions.terms = trial->placed;
}

nigh_status nigh__filter_trial_init(const struct nigh__blocks *blocks, const double *weights,
                                    const struct nigh__filter_shape *shape, uint32_t threads,
                                    struct nigh__progress *progress, struct nigh__filter_trial *out,
                                    nigh_error *error) {
    const uint32_t sample = blocks->blocks < SAMPLE_BLOCKS ? blocks->blocks : SAMPLE_BLOCKS;
    *out = (struct nigh__filter_trial){.context = blocks->context,
                                       .sample = {.context = blocks->context, .plan = blocks->plan, .blocks = sample},
                                       .all_blocks = blocks->blocks,
                                       .threads = nigh__threads_resolve(threads)};
    struct drawing drawing = {.blocks = blocks, .trial = out};
    nigh_status status = choose_blocks(&drawing, error);
    if (status == NIGH_OK) status = make_room(&drawing, shape->hashes, error);
    if (status == NIGH_OK) {
        draw_terms(&drawing, weights);
        out->sample.terms = out->placed;
        draw_blocks(&drawing);
        show_sample(out);
        status = make_minima(&drawing, shape, progress, error);
    }
    nigh__free(blocks->context, drawing.numbers);
    return status;
}

void nigh__filter_trial_release(struct nigh__filter_trial *trial) {
    const nigh_context *context = trial->context;
    if (context == NULL) return;
    nigh__minima_release(&trial->minima);
    nigh__free(context, trial->begins);
    nigh__free(context, trial->block_terms);
    nigh__free(context, trial->hashes);
    nigh__free(context, trial->frequencies);
    nigh__free(context, trial->weights);
    nigh__free(context, trial->positions.kinds);
    nigh__free(context, trial->positions.positions);
    *trial = (struct nigh__filter_trial){0};
}

/* --------------------------------------------------------------- trying -- */

static void place_term(struct nigh__filter_trial *trial, uint32_t term) {
    const struct nigh__filter_shape *shape = &trial->positions.shape;
    const enum nigh__term_kind kind = nigh__term_kind_of(shape, trial->frequencies[term], trial->all_blocks);
    uint32_t *out = trial->positions.positions + (size_t)term * shape->hashes;
    trial->positions.kinds[term] = (uint8_t)kind;
    if (kind == NIGH__TERM_SINGLE) return;
    if (kind == NIGH__TERM_HASHED || shape->kind == NIGH_FILTER_BLOOM)
        nigh__hashed_positions(shape, trial->hashes[term], out);
    else
        nigh__minima_positions(&trial->minima, term, shape->hashes, shape->bits, out);
}

static void place_range(void *user, uint32_t thread) {
    struct nigh__filter_trial *trial = user;
    const uint64_t terms = trial->placed;
    const uint64_t parts = terms < FEW_TERMS ? 1 : trial->threads;
    for (uint64_t term = terms * thread / parts; term < terms * (thread + 1) / parts; term++)
        place_term(trial, (uint32_t)term);
}

nigh_status nigh__filter_trial_run(struct nigh__filter_trial *trial, const struct nigh__filter_shape *shape,
                                   double *out, nigh_error *error) {
    struct nigh__filter_error measured;
    trial->positions.shape = *shape;
    nigh__threads_run(trial->placed < FEW_TERMS ? 1 : trial->threads, place_range, trial);
    nigh_status status = nigh__filter_error_measure(&trial->sample, &trial->positions, trial->sample.blocks, 0,
                                                    trial->weights, trial->threads, &measured, error);
    *out = measured.by_queries > measured.independent ? measured.by_queries : measured.independent;
    return status;
}
