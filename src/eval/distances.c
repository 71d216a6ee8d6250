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
#include <stdatomic.h>

#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
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
    uint32_t most;             /* picks at a distance */
    _Atomic uint32_t blocks;   /* left to take */
    _Atomic uint32_t distance; /* the next whose cosines are taken */
    _Atomic uint64_t done;     /* pairs */
    _Atomic int status;
};

static void fail(struct job *job, nigh_status status) {
    int expected = NIGH_OK;
    (void)atomic_compare_exchange_strong(&job->status, &expected, (int)status);
}

static bool stopped(struct job *job) { return atomic_load_explicit(&job->status, memory_order_relaxed) != NIGH_OK; }

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

static bool count_strip(struct job *job, struct worker *worker, uint32_t thread, uint32_t begin) {
    struct nigh__measuring *measuring = job->measuring;
    const uint32_t documents = nigh__corpus_count(measuring->corpus);
    const uint32_t end = documents - begin < BLOCK ? documents : begin + BLOCK;
    uint64_t pairs = 0;
    for (uint32_t i = 0; i + 1 < end; i++) {
        const uint32_t first = i < begin ? begin : i + 1;
        if (!count_row(job, worker, i, first, end - first)) return false;
        pairs += end - first;
        if (i % 256 != 255 && i + 2 < end) continue;
        const uint64_t done = atomic_fetch_add_explicit(&job->done, pairs, memory_order_relaxed) + pairs;
        pairs = 0;
        if (thread == 0 &&
            nigh__progress_tick(&measuring->progress, "comparing", done, (uint64_t)documents * (documents - 1) / 2))
            fail(job, NIGH_ECANCELLED);
        if (stopped(job)) return true;
    }
    return true;
}

static void count_work(void *user, uint32_t thread) {
    struct job *job = user;
    for (;;) {
        uint32_t left = atomic_load_explicit(&job->blocks, memory_order_relaxed);
        while (left > 0 && !atomic_compare_exchange_weak(&job->blocks, &left, left - 1)) continue;
        if (left == 0 || stopped(job)) return;
        if (!count_strip(job, &job->workers[thread], thread, (left - 1) * BLOCK)) fail(job, NIGH_ENOMEM);
    }
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

static void cosine_work(void *user, uint32_t thread) {
    struct job *job = user;
    struct nigh__measuring *measuring = job->measuring;
    nigh_eval_pairs *pairs = measuring->pairs;
    for (;;) {
        const uint32_t distance = atomic_fetch_add_explicit(&job->distance, 1, memory_order_relaxed);
        if (distance > pairs->width_bits || stopped(job)) return;
        if (!merge_picks(job, distance)) {
            fail(job, NIGH_ENOMEM);
            return;
        }
        const struct nigh__array *picks = &job->workers[0].picks[distance].numbers;
        for (size_t i = 0; i < picks->count; i++) {
            const uint64_t pair = unmix(((const uint64_t *)picks->data)[i]) ^ job->seed;
            nigh__mean_add(&pairs->cosine[distance],
                           nigh__corpus_cosine(measuring->corpus, (uint32_t)(pair >> 32), (uint32_t)pair));
        }
        if (thread == 0 && nigh__progress_tick(&measuring->progress, "measuring", distance, pairs->width_bits))
            fail(job, NIGH_ECANCELLED);
    }
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

nigh_status nigh__pairs_count(struct nigh__measuring *measuring, nigh_error *error) {
    const uint32_t documents = nigh__corpus_count(measuring->corpus);
    struct job job = {.measuring = measuring,
                      .seed = nigh__mix(measuring->options.seed),
                      .most = most_picks(&measuring->options, measuring->pairs->width_bits),
                      .blocks = (uint32_t)(((uint64_t)documents + BLOCK - 1) / BLOCK)};
    if (!workers_new(&job)) fail(&job, NIGH_ENOMEM);
    if (!stopped(&job)) nigh__threads_run(measuring->threads, count_work, &job);
    if (!stopped(&job)) sum_up(&job);
    if (!stopped(&job)) nigh__threads_run(measuring->threads, cosine_work, &job);
    workers_free(&job);
    const nigh_status status = (nigh_status)atomic_load(&job.status);
    if (status == NIGH_ECANCELLED) return nigh__progress_cancelled(error);
    return status == NIGH_OK ? NIGH_OK : nigh__fail(error, status, "no memory for the pairs");
}
