/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Near-copies by bands of min-wise hashes, the customary MinHash LSH: documents are
 * candidates where all hashes of one band agree, and nothing else is asked.
 *
 *     256 smallest values   | 8 | 8 | ... | 8 |   32 keys, each the hash of a band
 *
 * A pair of Jaccard index J agrees in one of b bands of r rows with 1 - (1 - J^r)^b.
 * Every candidate is counted once, at the first band in which it agrees.  Features are
 * in memory already, so the time for reading and hashing is that of the MinHash bits.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/status.h"
#include "eval/duplicates.h"
#include "scan/nearest.h"
#include "signature/project.h"

struct banding {
    uint32_t functions; /* min-wise hashes that are made */
    uint32_t bands, rows;
};

struct job {
    struct nigh__judging *judging;
    struct banding banding;
    struct nigh__counting_context counting;
    uint64_t *keys;  /* `bands` of each original */
    uint64_t *order; /* originals by the beginnings of their keys in one band */
    uint64_t candidates;
    double find_seconds;
};

static const uint64_t *keys_of(const struct job *job, uint32_t original) {
    return job->keys + (size_t)original * job->banding.bands;
}

/* The hashes of an original's features once more, from their numbers. */
static nigh_status sign_original(struct job *job, struct nigh__projector *projector, uint32_t original,
                                 struct nigh__array *hashes, nigh_error *error) {
    const nigh_eval_duplicates *duplicates = job->judging->duplicates;
    const struct nigh__entry *entry = nigh__original(duplicates, original);
    const uint64_t *terms = nigh__corpus_terms(duplicates->corpus, duplicates->documents[original]);
    hashes->count = 0;
    uint64_t *place = nigh__array_add(job->counting.context, hashes, entry->term_count);
    if (place == NULL) return nigh__no_memory(error, "for bands of hashes");
    for (uint32_t i = 0; i < entry->term_count; i++)
        place[i] = duplicates->corpus->dictionary->by_number[nigh__term_number(terms[i])];
    const struct nigh__bag bag = {.hashes = place, .count = entry->term_count};
    const nigh_status status = nigh__project(projector, &bag, error);
    if (status == NIGH_OK)
        nigh__minhash_bands(projector, job->banding.bands, job->banding.rows,
                            job->keys + (size_t)original * job->banding.bands);
    return status;
}

static nigh_status sign_all(struct job *job, nigh_error *error) {
    const nigh_eval_duplicates *duplicates = job->judging->duplicates;
    struct nigh__projector *projector = NULL;
    struct nigh__array hashes = NIGH__ARRAY(uint64_t);
    job->keys = nigh__alloc(job->counting.context, (size_t)duplicates->count * job->banding.bands, sizeof *job->keys);
    job->order = nigh__alloc(job->counting.context, duplicates->count, sizeof *job->order);
    if (job->keys == NULL || job->order == NULL) return nigh__no_memory(error, "for bands of hashes");
    nigh_status status = nigh__projector_new(job->counting.context, NIGH_SCHEME_MINHASH, job->banding.functions, 0,
                                             job->judging->signer.seed, &projector, error);
    for (uint32_t o = 0; status == NIGH_OK && o < duplicates->count; o++) {
        status = sign_original(job, projector, o, &hashes, error);
        if (status == NIGH_OK && nigh__progress_tick(&job->judging->progress, "hashing", o, duplicates->count))
            status = nigh__progress_cancelled(error);
    }
    nigh__projector_free(projector);
    nigh__array_release(job->counting.context, &hashes);
    return status;
}

/* ----------------------------------------------------------------- pairing -- */

/* Whether `band` is the first in which they agree. */
static bool first_agrees(const struct job *job, uint32_t a, uint32_t b, uint32_t band) {
    const uint64_t *keys_a = keys_of(job, a);
    const uint64_t *keys_b = keys_of(job, b);
    if (keys_a[band] != keys_b[band]) return false;
    for (uint32_t i = 0; i < band; i++)
        if (keys_a[i] == keys_b[i]) return false;
    return true;
}

static void pair_bucket(struct job *job, size_t begin, size_t end, uint32_t band) {
    for (size_t i = begin; i < end; i++)
        for (size_t j = i + 1; j < end; j++)
            job->candidates +=
                first_agrees(job, nigh__key_number(job->order[i]), nigh__key_number(job->order[j]), band);
}

static nigh_status pair_all(struct job *job, nigh_error *error) {
    const uint32_t count = job->judging->duplicates->count;
    const double start = nigh__clock();
    for (uint32_t band = 0; band < job->banding.bands; band++) {
        for (uint32_t o = 0; o < count; o++) job->order[o] = (keys_of(job, o)[band] & ~(uint64_t)UINT32_MAX) | o;
        nigh__keys_sort(job->counting.context, job->order, count);
        for (size_t begin = 0, end = 0; begin < count; begin = end) {
            while (end < count && job->order[end] >> 32 == job->order[begin] >> 32) end++;
            pair_bucket(job, begin, end, band);
            if (nigh__progress_tick(&job->judging->progress, "pairing", band, job->banding.bands))
                return nigh__progress_cancelled(error);
        }
    }
    job->find_seconds = nigh__clock() - start;
    return NIGH_OK;
}

static uint64_t count_right(const struct job *job) {
    const nigh_eval_duplicates *duplicates = job->judging->duplicates;
    const uint64_t *truth = duplicates->truth.data;
    uint64_t right = 0;
    for (size_t i = 0; i < duplicates->truth.count; i++) {
        const uint64_t *a = keys_of(job, (uint32_t)(truth[i] >> 32));
        const uint64_t *b = keys_of(job, (uint32_t)truth[i]);
        bool agrees = false;
        for (uint32_t band = 0; band < job->banding.bands; band++) agrees = agrees || a[band] == b[band];
        right += agrees;
    }
    return right;
}

static nigh_status add_banding(struct nigh__judging *judging, struct banding banding, nigh_error *error) {
    struct job job = {.judging = judging, .banding = banding};
    nigh_status status = nigh__counting_context_init(&job.counting, judging->duplicates->context, error);
    if (status != NIGH_OK) return status;
    status = sign_all(&job, error);
    if (status == NIGH_OK) status = pair_all(&job, error);
    nigh_eval_duplicates_row row = {.size = sizeof row};
    (void)snprintf(row.method, sizeof row.method, "MinHash LSH %u x %u of %u", banding.bands, banding.rows,
                   banding.functions);
    row.radius = NIGH_ALL;
    row.candidates = row.found = job.candidates;
    if (status == NIGH_OK) row.right = count_right(&job);
    row.sign_seconds = judging->minhash_seconds;
    row.find_seconds = job.find_seconds;
    row.bytes = atomic_load(&job.counting.peak);
    nigh__free(job.counting.context, job.keys);
    nigh__free(job.counting.context, job.order);
    nigh__counting_context_release(&job.counting);
    return status == NIGH_OK ? nigh__duplicates_add(judging->duplicates, row, error) : status;
}

nigh_status nigh__duplicates_lsh(struct nigh__judging *judging, nigh_error *error) {
    static const struct banding bandings[] = {{128, 9, 13}, {128, 16, 8}, {256, 32, 8}};
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < sizeof bandings / sizeof bandings[0]; i++)
        status = add_banding(judging, bandings[i], error);
    return status;
}
