/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses the queries, the documents that are ranked, and what is relevant; and loops over
 * the queries. Scores are kept for each query and summed in their order, so that no thread
 * count changes a mean.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/status.h"
#include "eval/learned.h"

#define QUERIES_AT_ONCE 8u
#define TIMED_QUERIES 1000u /* by the clock, at most, */
#define TIMED_ROUNDS 3u     /* so often, for the first finds cold caches, */
#define LONG_ROUND 2.0      /* but not again after so many seconds */
#define ONE_TICKS_OF 16u

/* ------------------------------------------------------------------- trial -- */

static uint64_t classes_begin(const struct nigh__labelled *labelled, uint32_t document) {
    return labelled->class_begins[document];
}

static bool has_class(const struct nigh__labelled *labelled, uint32_t document) {
    return classes_begin(labelled, document) < classes_begin(labelled, document + 1);
}

/* Documents with a class that answers have. */
static bool is_asking(const struct nigh__trial *trial, uint32_t document) {
    const struct nigh__labelled *labelled = trial->labelled;
    if (labelled->parts[document] != NIGH__PART_TEST) return false;
    for (uint64_t i = classes_begin(labelled, document); i < classes_begin(labelled, document + 1); i++) {
        const uint32_t class = labelled->document_classes[i];
        if (trial->class_begins[class] < trial->class_begins[class + 1]) return true;
    }
    return false;
}

static void list_answers(struct nigh__trial *trial) {
    const struct nigh__labelled *labelled = trial->labelled;
    for (uint32_t d = 0; d < labelled->documents; d++) {
        if (labelled->parts[d] != NIGH__PART_TRAIN) continue;
        if (!has_class(labelled, d)) trial->unlabelled[trial->unlabelled_count++] = trial->answers;
        trial->answer_documents[trial->answers++] = d;
    }
}

/* Counting sort by class: first the counts, then each in its place, which moves the beginnings by one class. */
static void list_classes(struct nigh__trial *trial) {
    const struct nigh__labelled *labelled = trial->labelled;
    uint64_t *begins = trial->class_begins;
    for (uint32_t a = 0; a < trial->answers; a++) {
        const uint32_t d = trial->answer_documents[a];
        for (uint64_t i = classes_begin(labelled, d); i < classes_begin(labelled, d + 1); i++)
            begins[labelled->document_classes[i] + 2]++;
    }
    for (uint32_t class = 0; class < labelled->classes; class ++) begins[class + 2] += begins[class + 1];
    for (uint32_t a = 0; a < trial->answers; a++) {
        const uint32_t d = trial->answer_documents[a];
        for (uint64_t i = classes_begin(labelled, d); i < classes_begin(labelled, d + 1); i++)
            trial->class_answers[begins[labelled->document_classes[i] + 1]++] = a;
    }
}

static void list_queries(struct nigh__trial *trial, uint32_t most) {
    const struct nigh__labelled *labelled = trial->labelled;
    uint32_t count = 0;
    for (uint32_t d = 0; d < labelled->documents; d++)
        if (is_asking(trial, d)) trial->query_documents[count++] = d;
    trial->queries = most == 0 || most > count ? count : most;
    for (uint32_t q = 0; q < trial->queries; q++)
        trial->query_documents[q] = trial->query_documents[(uint64_t)q * count / trial->queries];
}

nigh_status nigh__trial_make(struct nigh__trial *trial, uint32_t most, nigh_error *error) {
    const struct nigh__labelled *labelled = trial->labelled;
    const uint64_t labels = labelled->class_begins[labelled->documents];
    trial->answer_documents = nigh__alloc(trial->context, labelled->documents, sizeof(uint32_t));
    trial->query_documents = nigh__alloc(trial->context, labelled->documents, sizeof(uint32_t));
    trial->unlabelled = nigh__alloc(trial->context, labelled->documents, sizeof(uint32_t));
    trial->class_begins = nigh__alloc_zero(trial->context, (size_t)labelled->classes + 2, sizeof(uint64_t));
    trial->class_answers = nigh__alloc(trial->context, labels, sizeof(uint32_t));
    if (trial->answer_documents == NULL || trial->query_documents == NULL || trial->unlabelled == NULL ||
        trial->class_begins == NULL || trial->class_answers == NULL)
        return nigh__no_memory(error, "to measure what was learned");
    list_answers(trial);
    list_classes(trial);
    list_queries(trial, most);
    if (trial->answers == 0) {
        (void)nigh__fail(error, NIGH_EINVAL, "there are no documents to learn from%s",
                         labelled->documents > 0 ? ": none is of the part \"train\"" : "");
        return NIGH_EINVAL;
    }
    if (labels == 0)
        return nigh__fail(error, NIGH_EINVAL, "none of %" PRIu32 " documents has a label%s%s%s", labelled->documents,
                          labelled->label_key[0] == '\0' ? " (label_key)" : " under '", labelled->label_key,
                          labelled->label_key[0] == '\0' ? "" : "'");
    if (trial->queries == 0)
        return nigh__fail(error, NIGH_EINVAL,
                          "no document asks: none of part \"test\" has a label that one of part \"train\" has");
    return NIGH_OK;
}

void nigh__trial_release(struct nigh__trial *trial) {
    nigh__free(trial->context, trial->answer_documents);
    nigh__free(trial->context, trial->query_documents);
    nigh__free(trial->context, trial->unlabelled);
    nigh__free(trial->context, trial->class_begins);
    nigh__free(trial->context, trial->class_answers);
}

uint32_t nigh__trial_mark(const struct nigh__trial *trial, uint32_t query, uint8_t mark, uint8_t *marks) {
    const struct nigh__labelled *labelled = trial->labelled;
    const uint32_t d = trial->query_documents[query];
    uint32_t count = 0;
    for (uint64_t i = classes_begin(labelled, d); i < classes_begin(labelled, d + 1); i++) {
        const uint32_t class = labelled->document_classes[i];
        for (uint64_t k = trial->class_begins[class]; k < trial->class_begins[class + 1]; k++) {
            const uint32_t answer = trial->class_answers[k];
            count += marks[answer] != mark;
            marks[answer] = mark;
        }
    }
    return count;
}

/* ------------------------------------------------------------------ asking -- */

struct job {
    const struct nigh__asking *asking;
    struct nigh__score *scores;
    uint8_t *scratch; /* of all threads */
    size_t stride;
    struct nigh__parallel parallel;
};

static nigh_status ask_some(void *user, const struct nigh__items *items) {
    struct job *job = user;
    nigh_status status = NIGH_OK;
    for (uint64_t q = items->first; status == NIGH_OK && q < items->end; q++)
        status = job->asking->ask(job->asking->user, job->scratch + items->thread * job->stride, (uint32_t)q,
                                  &job->scores[q], items->error);
    (void)nigh__parallel_did(&job->parallel, items->thread, items->end - items->first);
    return status;
}

static void sum_scores(const struct nigh__score *scores, uint32_t count, struct nigh__outcome *out) {
    uint64_t returned = 0;
    uint64_t empty = 0;
    uint64_t intra = 0;
    uint64_t inter = 0;
    uint64_t intra_pairs = 0;
    uint64_t inter_pairs = 0;
    double average_precision = 0;
    double precision = 0;
    for (uint32_t q = 0; q < count; q++) {
        average_precision += scores[q].average_precision;
        precision += scores[q].precision;
        returned += scores[q].returned;
        empty += scores[q].returned == 0;
        intra += scores[q].intra;
        inter += scores[q].inter;
        intra_pairs += scores[q].intra_pairs;
        inter_pairs += scores[q].inter_pairs;
    }
    out->map = average_precision / count;
    out->precision = precision / count;
    out->returned = (double)returned / count;
    out->empty = (double)empty / count;
    out->intra = intra_pairs == 0 ? 0 : (double)intra / (double)intra_pairs;
    out->inter = inter_pairs == 0 ? 0 : (double)inter / (double)inter_pairs;
}

nigh_status nigh__trial_ask(const struct nigh__asking *asking, struct nigh__outcome *out, nigh_error *error) {
    const struct nigh__trial *trial = asking->trial;
    nigh_status status = NIGH_OK;
    struct job job = {.asking = asking, .parallel = {.threads = trial->threads, .progress = trial->progress}};
    job.stride = (asking->scratch_bytes + NIGH__CACHE_LINE - 1) / NIGH__CACHE_LINE * NIGH__CACHE_LINE;
    job.scratch = nigh__alloc_table(trial->context, trial->threads, job.stride);
    job.scores = nigh__alloc_zero(trial->context, trial->queries, sizeof *job.scores);
    if (job.scratch == NULL || job.scores == NULL) {
        status = nigh__no_memory(error, "to measure what was learned");
    } else {
        nigh__parallel_stage(&job.parallel, asking->stage, trial->queries);
        status = nigh__parallel_run(&job.parallel, trial->queries, QUERIES_AT_ONCE, ask_some, &job, error);
        if (status == NIGH_OK) sum_scores(job.scores, trial->queries, out);
    }
    nigh__free(trial->context, job.scratch);
    nigh__free(trial->context, job.scores);
    return status;
}

/* ------------------------------------------------------------------ timing -- */

nigh_status nigh__trial_time(const struct nigh__trial *trial,
                             nigh_status (*query)(void *user, uint32_t number, nigh_error *error), void *user,
                             double *seconds, nigh_error *error) {
    const uint32_t count = trial->queries < TIMED_QUERIES ? trial->queries : TIMED_QUERIES;
    double took = 0;
    for (uint32_t round = 0; round < TIMED_ROUNDS && took < LONG_ROUND; round++) {
        nigh_status status = NIGH_OK;
        const double began = nigh__thread_clock();
        for (uint32_t i = 0; status == NIGH_OK && i < count; i++) {
            status = query(user, (uint32_t)((uint64_t)i * trial->queries / count), error);
            if (status == NIGH_OK && i % ONE_TICKS_OF == 0 && nigh__progress_tick(trial->progress, "timing", i, count))
                status = nigh__progress_cancelled(error);
        }
        if (status != NIGH_OK) return status;
        took = nigh__thread_clock() - began;
        if (round == 0 || took < *seconds * count) *seconds = took / count;
    }
    return NIGH_OK;
}

/* ------------------------------------------------------------------- seeds -- */

/* Of words and chars the hash of the text; of ngrams its words' hashes mixed, as text/feature.h has it. */
static uint64_t hash_name(const struct nigh__feature_plan *plan, const char *name, uint64_t seed) {
    if (plan->kind != NIGH_FEATURES_NGRAMS) return nigh__hash_seeded(name, strlen(name), seed);
    uint64_t hash = seed;
    for (const char *word = name; *word != '\0';) {
        const size_t length = strcspn(word, " ");
        hash = nigh__mix(hash ^ nigh__hash_seeded(word, length, seed));
        word += length + (word[length] == ' ');
    }
    return hash;
}

/* A name that is not the whole feature cannot be hashed again; its hash is mixed with the seed instead. */
nigh_status nigh__labelled_reseed(struct nigh__labelled *labelled, uint64_t seed, uint64_t *hashes, nigh_error *error) {
    const uint64_t before = labelled->plan.analysis.seed;
    for (uint32_t f = 0; f < labelled->features; f++) {
        const char *name = nigh__labelled_feature_name(labelled, f);
        if (name == NULL) return nigh__no_memory(error, "to measure what was learned");
        const bool whole = hash_name(&labelled->plan, name, before) == labelled->hashes[f];
        hashes[f] =
            whole ? hash_name(&labelled->plan, name, seed) : nigh__mix(labelled->hashes[f] ^ nigh__mix(seed ^ before));
    }
    return NIGH_OK;
}
