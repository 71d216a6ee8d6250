/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The distance of every pair, and a sample of pairs at each distance.
 *
 *          i -->
 *      j   |\            a thread takes a strip of BLOCK rows j, which stay in the
 *      |   | \           cache, and holds every row i before them against it; the
 *      v   |==|          last strips are the longest and go first
 *          |   \
 *
 * The sample.  A pair (i, j) is one 64-bit number, and nigh__mix() a bijection, so
 * every pair gets a number of its own that looks random: the `sample` smallest at
 * a distance are an even draw without replacement, whichever thread met them
 * when, and the number alone tells the pair, for a bijection can be undone.
 */

#include "base/assert.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/status.h"
#include "eval/pairs.h"
#include "kernel/hamming.h"
#include "scan/nearest.h"

#define BLOCK 512u
#define PICKS_IN_ALL (UINT32_C(1) << 22) /* of one thread, over all distances, twice this at most */

/* The smallest numbers met at one distance; cut back to `most` when there are twice as many. */
struct picks {
    struct nigh__array numbers; /* of uint64_t */
    uint64_t limit;             /* greater ones are out */
};

struct worker {
    uint64_t *counts; /* as nigh_eval_pairs.pairs */
    struct picks *picks;
    uint32_t distances[BLOCK];
};

struct job {
    struct nigh__measuring *measuring;
    struct worker *workers;
    uint64_t seed;
    uint32_t most; /* picks at a distance */
    struct nigh__parallel parallel;
};

/* --------------------------------------------------------------- sample -- */

/* nigh__mix() undone: the same steps backwards, with the inverses of its factors modulo 2^64. */
static uint64_t unmix(uint64_t x) {
    x = (x ^ (x >> 31) ^ (x >> 62)) * UINT64_C(0x319642b2d24d8ec3);
    x = (x ^ (x >> 27) ^ (x >> 54)) * UINT64_C(0x96de1b173f119089);
    x = x ^ (x >> 30) ^ (x >> 60);
    return x - UINT64_C(0x9e3779b97f4a7c15);
}

static void cut_back(const nigh_context *context, struct picks *picks, uint32_t most) {
    uint64_t *numbers = picks->numbers.data;
    nigh__keys_sort(context, numbers, picks->numbers.count);
    if (picks->numbers.count <= most) return;
    picks->numbers.count = most;
    picks->limit = numbers[most - 1];
}

static bool pick(const nigh_context *context, struct picks *picks, uint64_t number, uint32_t most) {
    uint64_t *place = nigh__array_add(context, &picks->numbers, 1);
    if (place == NULL) return false;
    *place = number;
    if (most != NIGH_ALL && picks->numbers.count >= 2 * (size_t)most) cut_back(context, picks, most);
    return true;
}

/* ------------------------------------------------------------- counting -- */

/* Row i against rows [first, first + count) of the strip. */
static bool count_row(struct job *job, struct worker *worker, uint32_t i, uint32_t first, uint32_t count) {
    const nigh_eval_corpus *corpus = job->measuring->corpus;
    const nigh_context *context = corpus->context;
    (void)context->hamming->rows(nigh__corpus_row(corpus, i), nigh__corpus_row(corpus, first), count, corpus->words,
                                 worker->distances);
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t distance = worker->distances[k];
        const uint64_t number = nigh__mix(((uint64_t)i << 32 | (first + k)) ^ job->seed);
        nigh__histogram(worker->counts, corpus->width_bits, nigh__pair_length(corpus, i, first + k))[distance]++;
        if (number <= worker->picks[distance].limit && !pick(context, &worker->picks[distance], number, job->most))
            return false;
    }
    return true;
}

static bool count_strip(struct job *job, uint32_t thread, uint32_t begin) {
    const uint32_t documents = nigh__corpus_count(job->measuring->corpus);
    const uint32_t end = documents - begin < BLOCK ? documents : begin + BLOCK;
    uint64_t pairs = 0;
    for (uint32_t i = 0; i + 1 < end; i++) {
        const uint32_t first = i < begin ? begin : i + 1;
        if (!count_row(job, &job->workers[thread], i, first, end - first)) return false;
        pairs += end - first;
        if (i % 256 != 255 && i + 2 < end) continue;
        if (!nigh__parallel_did(&job->parallel, thread, pairs)) return true;
        pairs = 0;
    }
    return true;
}

static uint32_t strips_of(const struct job *job) {
    return (uint32_t)(((uint64_t)nigh__corpus_count(job->measuring->corpus) + BLOCK - 1) / BLOCK);
}

/* The last strip, which has the most pairs, first. */
static nigh_status count_strips(void *user, const struct nigh__items *items) {
    struct job *job = user;
    const uint32_t strips = strips_of(job);
    for (uint64_t i = items->first; i < items->end; i++)
        if (!count_strip(job, items->thread, (strips - 1 - (uint32_t)i) * BLOCK)) return NIGH_ENOMEM;
    return NIGH_OK;
}

static void sum_up(struct job *job) {
    nigh_eval_pairs *pairs = job->measuring->pairs;
    const size_t cells = (size_t)NIGH__LENGTHS * (pairs->width_bits + 1);
    for (uint32_t t = 0; t < job->measuring->threads; t++) {
        for (size_t i = 0; i < cells; i++) pairs->pairs[i] += job->workers[t].counts[i];
    }
}

/* -------------------------------------------------------------- cosines -- */

/* Brings the picks of all threads at a distance together in the first, sorted. */
static bool merge_picks(struct job *job, uint32_t distance) {
    const nigh_context *context = job->measuring->corpus->context;
    struct picks *all = &job->workers[0].picks[distance];
    for (uint32_t t = 1; t < job->measuring->threads; t++) {
        const struct nigh__array *more = &job->workers[t].picks[distance].numbers;
        uint64_t *place = more->count == 0 ? NULL : nigh__array_add(context, &all->numbers, more->count);
        if (place == NULL && more->count > 0) return false;
        for (size_t i = 0; i < more->count; i++) place[i] = ((const uint64_t *)more->data)[i];
    }
    cut_back(context, all, job->most);
    return true;
}

static void add_cosines(const struct job *job, uint32_t distance) {
    const struct nigh__array *picks = &job->workers[0].picks[distance].numbers;
    for (size_t i = 0; i < picks->count; i++) {
        NIGH__ASSERT(nigh__mix(unmix(((const uint64_t *)picks->data)[i])) == ((const uint64_t *)picks->data)[i]);
        const uint64_t pair = unmix(((const uint64_t *)picks->data)[i]) ^ job->seed;
        nigh__mean_add(&job->measuring->pairs->cosine[distance],
                       nigh__corpus_cosine(job->measuring->corpus, (uint32_t)(pair >> 32), (uint32_t)pair));
    }
}

static nigh_status take_cosines(void *user, const struct nigh__items *items) {
    struct job *job = user;
    for (uint64_t distance = items->first; distance < items->end; distance++) {
        if (!merge_picks(job, (uint32_t)distance)) return NIGH_ENOMEM;
        add_cosines(job, (uint32_t)distance);
        if (!nigh__parallel_did(&job->parallel, items->thread, 1)) break;
    }
    return NIGH_OK;
}

/* ------------------------------------------------------------------ job -- */

static bool workers_new(struct job *job) {
    const nigh_eval_pairs *pairs = job->measuring->pairs;
    const uint32_t distances = pairs->width_bits + 1;
    job->workers = nigh__alloc_zero(pairs->context, job->measuring->threads, sizeof *job->workers);
    for (uint32_t t = 0; job->workers != NULL && t < job->measuring->threads; t++) {
        struct worker *worker = &job->workers[t];
        worker->counts = nigh__alloc_zero(pairs->context, (size_t)NIGH__LENGTHS * distances, sizeof(uint64_t));
        worker->picks = nigh__alloc_zero(pairs->context, distances, sizeof(struct picks));
        if (worker->counts == NULL || worker->picks == NULL) return false;
        for (uint32_t d = 0; d < distances; d++)
            worker->picks[d] = (struct picks){.numbers = NIGH__ARRAY(uint64_t), .limit = UINT64_MAX};
    }
    return job->workers != NULL;
}

static void workers_free(struct job *job) {
    const nigh_eval_pairs *pairs = job->measuring->pairs;
    for (uint32_t t = 0; job->workers != NULL && t < job->measuring->threads; t++) {
        struct worker *worker = &job->workers[t];
        for (uint32_t d = 0; worker->picks != NULL && d <= pairs->width_bits; d++)
            nigh__array_release(pairs->context, &worker->picks[d].numbers);
        nigh__free(pairs->context, worker->picks);
        nigh__free(pairs->context, worker->counts);
    }
    nigh__free(pairs->context, job->workers);
}

static uint32_t most_picks(const nigh_eval_pairs_options *options, uint32_t width_bits) {
    const uint32_t most = PICKS_IN_ALL / (width_bits + 1);
    if (options->sample == 0) return NIGH_ALL;
    return options->sample < most ? options->sample : most;
}

static nigh_status count_pairs(struct job *job) {
    const uint64_t documents = nigh__corpus_count(job->measuring->corpus);
    nigh__parallel_stage(&job->parallel, "comparing", documents * (documents - 1) / 2);
    const nigh_status status = nigh__parallel_run(&job->parallel, strips_of(job), 1, count_strips, job, NULL);
    if (status == NIGH_OK) sum_up(job);
    return status;
}

static nigh_status measure_cosines(struct job *job) {
    const uint32_t distances = job->measuring->pairs->width_bits + 1;
    nigh__parallel_stage(&job->parallel, "measuring", distances);
    return nigh__parallel_run(&job->parallel, distances, 1, take_cosines, job, NULL);
}

nigh_status nigh__pairs_count(struct nigh__measuring *measuring, nigh_error *error) {
    struct job job = {.measuring = measuring,
                      .seed = nigh__mix(measuring->options.seed),
                      .most = most_picks(&measuring->options, measuring->pairs->width_bits),
                      .parallel = {.threads = measuring->threads, .progress = &measuring->progress}};
    nigh_status status = workers_new(&job) ? count_pairs(&job) : NIGH_ENOMEM;
    if (status == NIGH_OK) status = measure_cosines(&job);
    workers_free(&job);
    if (status == NIGH_ECANCELLED) return nigh__progress_cancelled(error);
    return status == NIGH_OK ? NIGH_OK : nigh__no_memory(error, "for the pairs");
}
