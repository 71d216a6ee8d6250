/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every pair of a Jaccard index of t or more.
 *
 * Two sets x and y of that index share at least t |x| features, and at least t |y|.
 * So among the |x| - ceil(t |x|) + 1 rarest features of x, its tail, there is one
 * that y has; and the rarest feature they share lies in both tails, for otherwise
 * one of them has too many features that the other lacks.  A list, for each feature,
 * of the sets that have it in their tail leads to all candidates.
 *
 *     x   | the of  of for  for data  data kernel | kernel spinlock  spinlock is |
 *          common features                         tail: rare ones
 *
 * Sets are taken by size, so that a list ascends by size too and those under t |x|
 * are passed over at once; and where the first shared feature is found at places i
 * and j, counted from the rare end, no more than min(|x| - i, |y| - j) can be shared,
 * which rules out most of the rest without looking at the sets.
 *
 * Cost: the candidates, a merge of two sets each, which are few where features are
 * rare; texts of one template with many fillings cost the most.
 */
#include "base/parallel.h"
#include "base/status.h"
#include "eval/duplicates.h"
#include "scan/nearest.h"

#define SETS_AT_ONCE 64u /* few: some take a thousand times as long as others */
#define ROUNDING 1e-9    /* bounds stay so far on the safe side, for products round */

struct place {
    uint32_t rank; /* of a set */
    uint32_t at;   /* counted from its rarest feature */
};

struct worker {
    struct nigh__array pairs; /* of uint64_t */
    uint32_t *checked;        /* of each rank, one past the last it was held against */
};

struct job {
    struct nigh__parallel parallel;
    struct nigh__judging *judging;
    uint32_t *ranked;     /* originals, the smaller sets first */
    size_t *starts;       /* of each feature, where its list begins */
    struct place *places; /* the lists, each ascending by rank */
    struct worker *workers;
};

/* ------------------------------------------------------------- originals -- */

nigh_status nigh__duplicates_originals(nigh_eval_duplicates *duplicates, nigh_error *error) {
    const nigh_eval_corpus *corpus = duplicates->corpus;
    const uint32_t documents = nigh__corpus_count(corpus);
    uint64_t *keys = nigh__alloc(corpus->context, documents, sizeof *keys);
    duplicates->documents = nigh__alloc(corpus->context, documents, sizeof *duplicates->documents);
    duplicates->originals = nigh__alloc(corpus->context, documents, sizeof *duplicates->originals);
    if (keys == NULL || duplicates->documents == NULL || duplicates->originals == NULL) {
        nigh__free(corpus->context, keys);
        return nigh__no_memory(error, "to find near-copies");
    }
    for (uint32_t d = 0; d < documents; d++)
        keys[d] = (nigh__corpus_entry(corpus, d)->text & ~(uint64_t)UINT32_MAX) | d;
    nigh__keys_sort(corpus->context, keys, documents);
    /* Documents whose hashes begin alike stand together, the earliest first; the first of each text is its original. */
    for (uint32_t begin = 0; begin < documents; begin++) {
        const uint32_t d = nigh__key_number(keys[begin]);
        duplicates->originals[d] = d;
        for (uint32_t i = begin; i-- > 0 && keys[i] >> 32 == keys[begin] >> 32;) {
            const uint32_t earlier = nigh__key_number(keys[i]);
            if (nigh__corpus_entry(corpus, earlier)->text != nigh__corpus_entry(corpus, d)->text) continue;
            duplicates->originals[d] = duplicates->originals[earlier];
            break;
        }
    }
    for (uint32_t d = 0; d < documents; d++) {
        const uint32_t first = duplicates->originals[d];
        if (first == d) duplicates->documents[duplicates->count] = d;
        duplicates->originals[d] = first == d ? duplicates->count++ : duplicates->originals[first];
    }
    nigh__free(corpus->context, keys);
    return NIGH_OK;
}

uint32_t nigh__original_find(const nigh_eval_duplicates *duplicates, uint64_t number) {
    const nigh_eval_corpus *corpus = duplicates->corpus;
    uint32_t begin = 0;
    uint32_t end = nigh__corpus_count(corpus);
    while (begin < end) {
        const uint32_t middle = begin + (end - begin) / 2;
        if (nigh__corpus_entry(corpus, middle)->number < number)
            begin = middle + 1;
        else
            end = middle;
    }
    if (begin == nigh__corpus_count(corpus) || nigh__corpus_entry(corpus, begin)->number != number)
        return NIGH__NO_ORIGINAL;
    return duplicates->originals[begin];
}

/* ---------------------------------------------------------------- jaccard -- */

static const uint64_t *terms_of(const nigh_eval_duplicates *duplicates, uint32_t original) {
    return nigh__corpus_terms(duplicates->corpus, duplicates->documents[original]);
}

static uint32_t size_of(const nigh_eval_duplicates *duplicates, uint32_t original) {
    return nigh__original(duplicates, original)->term_count;
}

double nigh__original_jaccard(const nigh_eval_duplicates *duplicates, uint32_t a, uint32_t b) {
    const uint64_t *terms_a = terms_of(duplicates, a);
    const uint64_t *terms_b = terms_of(duplicates, b);
    const uint32_t size_a = size_of(duplicates, a);
    const uint32_t size_b = size_of(duplicates, b);
    uint32_t shared = 0;
    for (uint32_t i = 0, j = 0; i < size_a && j < size_b;) {
        const uint32_t number_a = nigh__term_number(terms_a[i]);
        const uint32_t number_b = nigh__term_number(terms_b[j]);
        shared += number_a == number_b;
        i += number_a <= number_b;
        j += number_b <= number_a;
    }
    const double all = (double)size_a + (double)size_b - (double)shared;
    return all > 0 ? (double)shared / all : 1;
}

/* ------------------------------------------------------------------ lists -- */

/* How many of the rarest features of a set of this size lead to all its partners. */
static uint32_t tail_of(uint32_t size, double threshold) {
    const double least = threshold * size * (1 - ROUNDING);
    const uint32_t whole = (uint32_t)least;
    return size - whole - ((double)whole < least) + (size > 0);
}

static bool rank_by_size(struct job *job) {
    const nigh_eval_duplicates *duplicates = job->judging->duplicates;
    const nigh_context *context = duplicates->context;
    uint64_t *keys = nigh__alloc(context, duplicates->count, sizeof *keys);
    job->ranked = nigh__alloc(context, duplicates->count, sizeof *job->ranked);
    for (uint32_t o = 0; keys != NULL && o < duplicates->count; o++) keys[o] = nigh__key(size_of(duplicates, o), o);
    if (keys != NULL) nigh__keys_sort(context, keys, duplicates->count);
    for (uint32_t r = 0; keys != NULL && job->ranked != NULL && r < duplicates->count; r++)
        job->ranked[r] = nigh__key_number(keys[r]);
    const bool done = keys != NULL && job->ranked != NULL;
    nigh__free(context, keys);
    return done;
}

static bool lists_build(struct job *job) {
    const nigh_eval_duplicates *duplicates = job->judging->duplicates;
    const double threshold = job->judging->options.threshold;
    const size_t features = duplicates->corpus->dictionary->count;
    job->starts = nigh__alloc_zero(duplicates->context, features + 2, sizeof *job->starts);
    if (job->starts == NULL) return false;
    /* starts[f + 2] counts list f, then starts[f + 1] is where it begins, and at the end where it ended. */
    for (uint32_t r = 0; r < duplicates->count; r++) {
        const uint64_t *terms = terms_of(duplicates, job->ranked[r]);
        const uint32_t size = size_of(duplicates, job->ranked[r]);
        for (uint32_t i = 0; i < tail_of(size, threshold); i++)
            job->starts[(size_t)nigh__term_number(terms[size - 1 - i]) + 2]++;
    }
    for (size_t f = 2; f < features + 2; f++) job->starts[f] += job->starts[f - 1];
    job->places = nigh__alloc(duplicates->context, job->starts[features + 1], sizeof *job->places);
    if (job->places == NULL) return false;
    for (uint32_t r = 0; r < duplicates->count; r++) {
        const uint64_t *terms = terms_of(duplicates, job->ranked[r]);
        const uint32_t size = size_of(duplicates, job->ranked[r]);
        for (uint32_t i = 0; i < tail_of(size, threshold); i++)
            job->places[job->starts[(size_t)nigh__term_number(terms[size - 1 - i]) + 1]++] = (struct place){r, i};
    }
    return true;
}

/* ---------------------------------------------------------------- joining -- */

/* The first in a list that is not too small for a partner. */
static size_t list_begin(const struct job *job, size_t feature, double least) {
    size_t begin = job->starts[feature];
    size_t end = job->starts[feature + 1];
    while (begin < end) {
        const size_t middle = begin + (end - begin) / 2;
        if (size_of(job->judging->duplicates, job->ranked[job->places[middle].rank]) < least)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

static bool keep_if_near(const struct job *job, struct worker *worker, uint32_t a, uint32_t b) {
    const nigh_eval_duplicates *duplicates = job->judging->duplicates;
    if (nigh__original_jaccard(duplicates, a, b) < job->judging->options.threshold) return true;
    uint64_t *key = nigh__array_add(duplicates->context, &worker->pairs, 1);
    if (key == NULL) return false;
    *key = nigh__pair_key(a, b);
    return true;
}

/* Holds a set against those of lower rank that share a feature of both tails. */
static nigh_status join_set(const struct job *job, struct worker *worker, uint32_t rank) {
    const nigh_eval_duplicates *duplicates = job->judging->duplicates;
    const double threshold = job->judging->options.threshold;
    const uint32_t original = job->ranked[rank];
    const uint64_t *terms = terms_of(duplicates, original);
    const uint32_t size = size_of(duplicates, original);
    const double least = threshold * size * (1 - ROUNDING);
    for (uint32_t i = 0; i < tail_of(size, threshold); i++) {
        const size_t feature = nigh__term_number(terms[size - 1 - i]);
        for (size_t k = list_begin(job, feature, least); k < job->starts[feature + 1]; k++) {
            const struct place *place = &job->places[k];
            if (place->rank >= rank) break;
            if (worker->checked[place->rank] == rank + 1) continue;
            worker->checked[place->rank] = rank + 1;
            const uint32_t other = job->ranked[place->rank];
            const uint32_t other_size = size_of(duplicates, other);
            const uint32_t most = size - i < other_size - place->at ? size - i : other_size - place->at;
            if (most < threshold / (1 + threshold) * ((double)size + other_size) * (1 - ROUNDING)) continue;
            if (!keep_if_near(job, worker, original, other)) return NIGH_ENOMEM;
        }
    }
    return NIGH_OK;
}

static nigh_status join_sets(void *user, const struct nigh__items *items) {
    struct job *job = user;
    nigh_status status = NIGH_OK;
    for (uint64_t rank = items->first; rank < items->end && status == NIGH_OK; rank++) {
        status = join_set(job, &job->workers[items->thread], (uint32_t)rank);
        if (!nigh__parallel_did(&job->parallel, items->thread, 1)) break;
    }
    return status;
}

static bool workers_new(struct job *job) {
    const nigh_eval_duplicates *duplicates = job->judging->duplicates;
    job->workers = nigh__alloc_zero(duplicates->context, job->judging->threads, sizeof *job->workers);
    for (uint32_t t = 0; job->workers != NULL && t < job->judging->threads; t++) {
        job->workers[t].pairs = (struct nigh__array)NIGH__ARRAY(uint64_t);
        job->workers[t].checked = nigh__alloc_zero(duplicates->context, duplicates->count, sizeof(uint32_t));
        if (job->workers[t].checked == NULL) return false;
    }
    return job->workers != NULL;
}

/* All threads' pairs, sorted. */
static bool gather(struct job *job) {
    nigh_eval_duplicates *duplicates = job->judging->duplicates;
    for (uint32_t t = 0; t < job->judging->threads; t++) {
        const struct nigh__array *more = &job->workers[t].pairs;
        uint64_t *place =
            more->count == 0 ? NULL : nigh__array_add(duplicates->context, &duplicates->truth, more->count);
        if (place == NULL && more->count > 0) return false;
        for (size_t i = 0; i < more->count; i++) place[i] = ((const uint64_t *)more->data)[i];
    }
    nigh__keys_sort(duplicates->context, duplicates->truth.data, duplicates->truth.count);
    return true;
}

static void job_release(struct job *job) {
    const nigh_context *context = job->judging->duplicates->context;
    for (uint32_t t = 0; job->workers != NULL && t < job->judging->threads; t++) {
        nigh__array_release(context, &job->workers[t].pairs);
        nigh__free(context, job->workers[t].checked);
    }
    nigh__free(context, job->workers);
    nigh__free(context, job->ranked);
    nigh__free(context, job->starts);
    nigh__free(context, job->places);
}

nigh_status nigh__duplicates_truth(struct nigh__judging *judging, nigh_error *error) {
    struct job job = {.judging = judging, .parallel = {.threads = judging->threads, .progress = &judging->progress}};
    const uint32_t sets = judging->duplicates->count;
    nigh__parallel_stage(&job.parallel, "finding all pairs", sets);
    nigh_status status = NIGH_ENOMEM;
    if (rank_by_size(&job) && lists_build(&job) && workers_new(&job)) {
        status = nigh__parallel_run(&job.parallel, sets, SETS_AT_ONCE, join_sets, &job, NULL);
        if (status == NIGH_OK && !gather(&job)) status = NIGH_ENOMEM;
    }
    job_release(&job);
    if (status == NIGH_ECANCELLED) return nigh__progress_cancelled(error);
    return status == NIGH_OK ? NIGH_OK : nigh__no_memory(error, "to find near-copies");
}
