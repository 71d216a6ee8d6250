/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs that are alike, every one of them.
 *
 * By cosine, at a threshold T.  Let features be in one order for all documents,
 * the commonest first, and cut each vector x in two: a head, as long as it can be
 * while its own length stays under T |x|, and a tail.
 *
 *     x   | the  of  for  data | kernel  spinlock |
 *          head, under T |x|    tail
 *
 * Two documents whose tails have no feature in common are not alike: let x be
 * the one whose tail begins later in the order.  All that both share then lies in
 * the head of x, so their product is at most |head of x| |y| < T |x| |y|.  So a
 * list, for each feature, of the documents that have it in their tail leads to
 * all candidates; and as tails are rare features, and short (at T = 0.9 a fifth of
 * the squared length), these are few.  For each the cosine is computed.  (The
 * idea is the prefix filter of similarity joins, with lengths as its bound.)
 */
#include "base/assert.h"
#include "base/parallel.h"
#include "base/status.h"
#include "eval/fields.h"
#include "eval/pairs.h"
#include "scan/nearest.h"

#define DOCUMENTS_AT_ONCE 64u /* few: some take a thousand times as long as others */
#define ROUNDING 1e-9         /* heads stay so far under their bound, for sums round */

struct worker {
    uint64_t *counts;  /* as nigh_eval_pairs.alike */
    double *vector;    /* the weights of one document by number; zeros between documents */
    uint32_t *checked; /* of each document, one past the last document it was held against */
};

struct job {
    struct nigh__parallel parallel;
    struct nigh__measuring *measuring;
    uint32_t *tails;     /* of each document, where its tail begins among its terms */
    size_t *starts;      /* of each feature, where its list begins */
    uint32_t *documents; /* the lists, each ascending */
    struct worker *workers;
};

/* ---------------------------------------------------------------- lists -- */

static uint32_t tail_of(const nigh_eval_corpus *corpus, uint32_t document, double threshold) {
    const struct nigh__entry *entry = nigh__corpus_entry(corpus, document);
    const uint64_t *terms = nigh__corpus_terms(corpus, document);
    const double bound = threshold * threshold * entry->norm * (1 - ROUNDING);
    double squares = 0;
    uint32_t head = 0;
    while (head < entry->term_count) {
        const double weight = nigh__term_weight(terms[head]);
        squares += weight * weight;
        if (squares >= bound) break;
        head++;
    }
    return head;
}

static bool lists_alloc(struct job *job, size_t listed) {
    const nigh_eval_corpus *corpus = job->measuring->corpus;
    job->documents = nigh__alloc(corpus->context, listed, sizeof *job->documents);
    return job->documents != NULL;
}

static bool lists_build(struct job *job) {
    const nigh_eval_corpus *corpus = job->measuring->corpus;
    const uint32_t documents = nigh__corpus_count(corpus);
    const uint32_t features = corpus->dictionary->count;
    job->tails = nigh__alloc(corpus->context, documents, sizeof *job->tails);
    job->starts = nigh__alloc_zero(corpus->context, (size_t)features + 2, sizeof *job->starts);
    if (job->tails == NULL || job->starts == NULL) return false;
    /* starts[f + 2] counts list f, then starts[f + 1] is where it begins, and at the end where it ended. */
    for (uint32_t d = 0; d < documents; d++) {
        const uint64_t *terms = nigh__corpus_terms(corpus, d);
        job->tails[d] = tail_of(corpus, d, job->measuring->options.alike);
        for (uint32_t i = job->tails[d]; i < nigh__corpus_entry(corpus, d)->term_count; i++)
            job->starts[(size_t)nigh__term_number(terms[i]) + 2]++;
    }
    for (size_t f = 2; f < (size_t)features + 2; f++) job->starts[f] += job->starts[f - 1];
    if (!lists_alloc(job, job->starts[(size_t)features + 1])) return false;
    for (uint32_t d = 0; d < documents; d++) {
        const uint64_t *terms = nigh__corpus_terms(corpus, d);
        for (uint32_t i = job->tails[d]; i < nigh__corpus_entry(corpus, d)->term_count; i++)
            job->documents[job->starts[(size_t)nigh__term_number(terms[i]) + 1]++] = d;
    }
    return true;
}

/* -------------------------------------------------------------- joining -- */

static void spread(const nigh_eval_corpus *corpus, struct worker *worker, uint32_t document, bool clear) {
    const uint64_t *terms = nigh__corpus_terms(corpus, document);
    for (uint32_t i = 0; i < nigh__corpus_entry(corpus, document)->term_count; i++)
        worker->vector[nigh__term_number(terms[i])] = clear ? 0 : nigh__term_weight(terms[i]);
}

/* The cosine with the document that is spread out; the sum is that of nigh__corpus_cosine() with zeros in it. */
static double cosine_with(const nigh_eval_corpus *corpus, const struct worker *worker, uint32_t a, uint32_t b) {
    const struct nigh__entry *entry = nigh__corpus_entry(corpus, b);
    const uint64_t *terms = nigh__corpus_terms(corpus, b);
    double product = 0;
    for (uint32_t i = 0; i < entry->term_count; i++)
        product += worker->vector[nigh__term_number(terms[i])] * nigh__term_weight(terms[i]);
    return nigh__cosine(product, nigh__corpus_entry(corpus, a)->norm, entry->norm);
}

/* Holds a document against those before it that share a feature of its tail. */
static void join_document(const struct job *job, struct worker *worker, uint32_t document) {
    const nigh_eval_corpus *corpus = job->measuring->corpus;
    const uint64_t *terms = nigh__corpus_terms(corpus, document);
    NIGH__ASSERT(job->tails[document] <= nigh__corpus_entry(corpus, document)->term_count);
    spread(corpus, worker, document, false);
    for (uint32_t i = job->tails[document]; i < nigh__corpus_entry(corpus, document)->term_count; i++) {
        const uint32_t feature = nigh__term_number(terms[i]);
        for (size_t k = job->starts[feature]; k < job->starts[(size_t)feature + 1]; k++) {
            const uint32_t other = job->documents[k];
            if (other >= document) break;
            if (worker->checked[other] == document + 1) continue;
            worker->checked[other] = document + 1;
            if (cosine_with(corpus, worker, document, other) < job->measuring->options.alike) continue;
            const uint32_t length = nigh__pair_length(corpus, document, other);
            nigh__histogram(worker->counts, corpus->width_bits,
                            length)[nigh__corpus_distance(corpus, document, other)]++;
        }
    }
    spread(corpus, worker, document, true);
}

static nigh_status join_documents(void *user, const struct nigh__items *items) {
    struct job *job = user;
    for (uint64_t document = items->first; document < items->end; document++) {
        join_document(job, &job->workers[items->thread], (uint32_t)document);
        if (!nigh__parallel_did(&job->parallel, items->thread, 1)) break;
    }
    return NIGH_OK;
}

static bool workers_new(struct job *job) {
    const nigh_eval_corpus *corpus = job->measuring->corpus;
    const size_t cells = (size_t)NIGH__LENGTHS * (corpus->width_bits + 1);
    job->workers = nigh__alloc_zero(corpus->context, job->measuring->threads, sizeof *job->workers);
    for (uint32_t t = 0; job->workers != NULL && t < job->measuring->threads; t++) {
        struct worker *worker = &job->workers[t];
        worker->counts = nigh__alloc_zero(corpus->context, cells, sizeof *worker->counts);
        worker->vector = nigh__alloc_zero(corpus->context, corpus->dictionary->count, sizeof *worker->vector);
        worker->checked = nigh__alloc_zero(corpus->context, corpus->entries.count, sizeof *worker->checked);
        if (worker->counts == NULL || worker->vector == NULL || worker->checked == NULL) return false;
    }
    return job->workers != NULL;
}

static void job_release(struct job *job) {
    const nigh_context *context = job->measuring->corpus->context;
    for (uint32_t t = 0; job->workers != NULL && t < job->measuring->threads; t++) {
        nigh__free(context, job->workers[t].counts);
        nigh__free(context, job->workers[t].vector);
        nigh__free(context, job->workers[t].checked);
    }
    nigh__free(context, job->workers);
    nigh__free(context, job->tails);
    nigh__free(context, job->starts);
    nigh__free(context, job->documents);
}

nigh_status nigh__pairs_join(struct nigh__measuring *measuring, nigh_error *error) {
    nigh_eval_pairs *pairs = measuring->pairs;
    struct job job = {.measuring = measuring,
                      .parallel = {.threads = measuring->threads, .progress = &measuring->progress}};
    nigh_status status = NIGH_OK;
    if (!lists_build(&job) || !workers_new(&job)) {
        status = nigh__no_memory(error, "to find pairs that are alike");
    } else {
        const uint32_t documents = nigh__corpus_count(measuring->corpus);
        nigh__parallel_stage(&job.parallel, "joining", documents);
        status = nigh__parallel_run(&job.parallel, documents, DOCUMENTS_AT_ONCE, join_documents, &job, error);
    }
    for (uint32_t t = 0; status == NIGH_OK && t < measuring->threads; t++) {
        for (size_t i = 0; i < (size_t)NIGH__LENGTHS * (pairs->width_bits + 1); i++)
            pairs->alike[i] += job.workers[t].counts[i];
    }
    job_release(&job);
    return status;
}

/* --------------------------------------------------------------- labels -- */

static nigh_status read_label(struct nigh__measuring *measuring, struct nigh__fields *fields, struct nigh__array *keys,
                              nigh_error *error) {
    const nigh_eval_corpus *corpus = measuring->corpus;
    double value = 0;
    uint32_t a = 0;
    uint32_t b = 0;
    if (fields->count != 3) return nigh__fields_fail(fields, error, "not ID, ID and VALUE with tabs between");
    if (!nigh__field_decimal(&fields->at[2], &value))
        return nigh__fields_fail(fields, error, "the value is not a number");
    if (value < measuring->options.alike) return NIGH_OK;
    if (!nigh__corpus_find(corpus, fields->at[0].text, fields->at[0].length, &a) ||
        !nigh__corpus_find(corpus, fields->at[1].text, fields->at[1].length, &b)) {
        measuring->pairs->labels_missing++;
        return NIGH_OK;
    }
    if (a == b) return nigh__fields_fail(fields, error, "a document paired with itself");
    uint64_t *key = nigh__array_add(corpus->context, keys, 1);
    if (key == NULL) return nigh__no_memory(error, "to find pairs that are alike");
    *key = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
    return NIGH_OK;
}

nigh_status nigh__pairs_label(struct nigh__measuring *measuring, nigh_error *error) {
    const nigh_eval_corpus *corpus = measuring->corpus;
    struct nigh__array keys = NIGH__ARRAY(uint64_t);
    struct nigh__fields fields;
    nigh_status status = nigh__fields_open(corpus->context, measuring->options.labels, "\t", &fields, error);
    while (status == NIGH_OK && (status = nigh__fields_next(&fields, error)) == NIGH_OK)
        status = read_label(measuring, &fields, &keys, error);
    nigh__fields_close(&fields);
    const uint64_t *pairs = keys.data;
    if (status == NIGH_END) nigh__keys_sort(corpus->context, keys.data, keys.count);
    for (size_t i = 0; status == NIGH_END && i < keys.count; i++) {
        const uint32_t a = (uint32_t)(pairs[i] >> 32);
        const uint32_t b = (uint32_t)pairs[i];
        if (i > 0 && pairs[i] == pairs[i - 1]) continue;
        nigh__histogram(measuring->pairs->alike, corpus->width_bits,
                        nigh__pair_length(corpus, a, b))[nigh__corpus_distance(corpus, a, b)]++;
    }
    nigh__array_release(corpus->context, &keys);
    return status == NIGH_END ? NIGH_OK : status;
}
