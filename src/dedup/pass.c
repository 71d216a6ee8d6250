/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes over the documents.  What a thread makes of one travels as
 *
 *     struct nigh__mark of the text | what the step has appended
 */
#include "dedup/pass.h"

#include <string.h>

#include "base/hash.h"
#include "base/rng.h"
#include "base/status.h"
#include "document/pipeline.h"
#include "signature/band_keys.h"

#define AHEAD 8u /* documents */

struct pass {
    nigh_dedup *dedup;
    struct nigh__pass_plan *plan;
    const struct nigh__pass_step *step;
    const uint64_t *needed;                     /* by document, */
    const struct nigh__pass_expected *expected; /* or one by one; both NULL: all, for the first time */
    const uint64_t *wanted;                     /* the same by number of the record */
    uint64_t wanted_records;                    /* bits in it */
    uint64_t next;                              /* document */
    nigh_progress progress;
};

static nigh_status changed(nigh_error *error, const char *source) {
    if (source == NULL)
        (void)nigh__fail(error, NIGH_ECORRUPT, "the input changed while it was read");
    else
        (void)nigh__fail_at(error, NIGH_ECORRUPT, source, NIGH_NO_OFFSET, "the input changed while it was read");
    return NIGH_ECORRUPT;
}

void nigh__pass_plan_release(const nigh_context *context, struct nigh__pass_plan *plan) {
    nigh__array_release(context, &plan->texts);
}

/* -------------------------------------------------------------- working -- */

static void worker_free(void *user, void *given) {
    const struct pass *pass = user;
    struct nigh__pass_worker *worker = given;
    if (worker == NULL) return;
    nigh__featurer_free(worker->featurer);
    nigh__projector_free(worker->projector);
    nigh__signer_worker_free(worker->signer);
    nigh__free(pass->dedup->context, worker->words);
    nigh__free(pass->dedup->context, worker);
}

static nigh_status worker_new(void *user, void **out, nigh_error *error) {
    const struct pass *pass = user;
    const nigh_context *context = pass->dedup->context;
    struct nigh__pass_worker *worker = nigh__alloc_zero(context, 1, sizeof *worker);
    *out = worker;
    if (worker == NULL) return nigh__no_memory(error, "to read documents");
    worker->plan = pass->plan;
    worker->context = context;
    worker->step = pass->step;
    const struct nigh__feature_plan *features = &pass->plan->features;
    nigh_status status = nigh__featurer_new(context, features, &worker->featurer, error);
    if (status == NIGH_OK && pass->step->projects)
        status = nigh__projector_new(context, NIGH_SCHEME_MINHASH, pass->plan->width_bits, 0, features->analysis.seed,
                                     &worker->projector, error);
    if (status == NIGH_OK && pass->step->signs)
        status = nigh__signer_worker_new(&pass->plan->signer, &worker->signer, error);
    return status;
}

uint64_t *nigh__pass_words(struct nigh__pass_worker *worker, size_t count) {
    if (count <= worker->word_capacity) return worker->words;
    nigh__free(worker->context, worker->words);
    worker->word_capacity = 0;
    worker->words = nigh__alloc(worker->context, count, 2 * sizeof *worker->words);
    if (worker->words != NULL) worker->word_capacity = 2 * count;
    return worker->words;
}

struct nigh__mark nigh__pass_mark(const struct nigh__pass_plan *plan, const char *text, size_t length) {
    return (struct nigh__mark){{nigh__hash_seeded(text, length, plan->secret),
                                nigh__hash_seeded(text, length, nigh__mix(plan->secret ^ length))}};
}

static nigh_status work(void *given, const nigh_text *text, struct nigh__array *product, nigh_error *error) {
    struct nigh__pass_worker *worker = given;
    struct nigh__features features = {0};
    nigh_status status = worker->step->featureless
                             ? NIGH_OK
                             : nigh__featurer_find(worker->featurer, text->text, text->text_length, &features, error);
    if (status != NIGH_OK) return status;
    const struct nigh__mark mark = nigh__pass_mark(worker->plan, text->text, text->text_length);
    uint8_t *place = nigh__array_add(worker->context, product, sizeof mark);
    if (place == NULL) return nigh__no_memory(error, "to read documents");
    memcpy(place, &mark, sizeof mark);
    return worker->step->work(worker, text, &features, product, error);
}

static bool is_wanted(void *user, uint64_t number) {
    const struct pass *pass = user;
    return number < pass->wanted_records && nigh__bit_is_set(pass->wanted, number);
}

/* --------------------------------------------------------------- taking -- */

/* Ours to the caller: the pipeline says "reading" whatever the pass is for. */
static int report_stage(void *user, const char *stage, uint64_t done, uint64_t total) {
    const struct pass *pass = user;
    (void)stage;
    const nigh_progress *progress = pass->dedup->options.progress;
    return progress->report(progress->user, pass->step->stage, done, total);
}

static bool is_first(const struct pass *pass) { return pass->needed == NULL && pass->expected == NULL; }

/* The next that is expected must be this one. */
static nigh_status check_expected(struct pass *pass, const struct nigh__product *product, struct nigh__mark mark,
                                  nigh_error *error) {
    uint64_t number = 0;
    struct nigh__mark known = {{0}};
    nigh_status status = pass->expected->next(pass->expected->user, &number, &known, error);
    if (status != NIGH_OK) return status;
    if (number != product->text.number || memcmp(&known, &mark, sizeof mark) != 0)
        return changed(error, product->text.source);
    return NIGH_OK;
}

/* The document a product is of: the next one, or the next that is needed. */
static nigh_status find_document(struct pass *pass, const struct nigh__product *product, struct nigh__mark mark,
                                 nigh_error *error) {
    if (pass->expected != NULL) return check_expected(pass, product, mark, error);
    if (pass->needed == NULL) {
        struct nigh__mark *place = nigh__array_add(pass->dedup->context, &pass->plan->texts, 1);
        if (place == NULL) return nigh__no_memory(error, "to read documents");
        *place = mark;
        return NIGH_OK;
    }
    while (pass->next < pass->dedup->documents.count && !nigh__bit_is_set(pass->needed, pass->next)) pass->next++;
    if (pass->next == pass->dedup->documents.count ||
        nigh__dedup_document(pass->dedup, pass->next)->number != product->text.number)
        return changed(error, product->text.source);
    const struct nigh__mark *known = (const struct nigh__mark *)pass->plan->texts.data + pass->next;
    if (memcmp(known, &mark, sizeof mark) != 0) return changed(error, product->text.source);
    return NIGH_OK;
}

static nigh_status take_product(struct pass *pass, const struct nigh__product *product, nigh_error *error) {
    struct nigh__mark mark;
    memcpy(&mark, product->bytes, sizeof mark);
    nigh_status status = find_document(pass, product, mark, error);
    if (status != NIGH_OK) return status;
    return pass->step->take(pass->step->user, pass->next++, &product->text, product->bytes + sizeof mark,
                            product->length - sizeof mark, error);
}

/* How many products there will be; UINT64_MAX: all there are. */
static uint64_t count_expected(const struct pass *pass) {
    if (pass->expected != NULL) return pass->expected->count;
    if (pass->needed == NULL) return pass->dedup->options.limit == 0 ? UINT64_MAX : pass->dedup->options.limit;
    uint64_t count = 0;
    for (uint64_t i = 0; i < pass->dedup->documents.count; i++) count += nigh__bit_is_set(pass->needed, i);
    return count;
}

static nigh_status take_all(struct pass *pass, struct nigh__pipeline *pipeline, nigh_error *error) {
    const uint64_t expected = count_expected(pass);
    const struct nigh__pass_step *step = pass->step;
    struct nigh__product product;
    nigh_status status = NIGH_OK;
    for (uint64_t taken = 0; status == NIGH_OK && taken < expected; taken++) {
        status = nigh__pipeline_next(pipeline, &product, error);
        const uint8_t *ahead = step->prefetch == NULL ? NULL : nigh__pipeline_ahead(pipeline, AHEAD);
        if (ahead != NULL) step->prefetch(step->user, ahead + sizeof(struct nigh__mark));
        if (status == NIGH_OK) status = take_product(pass, &product, error);
    }
    if (status != NIGH_END) return status;
    return is_first(pass) ? NIGH_OK : changed(error, NULL);
}

static nigh_status run_pipeline(struct pass *pass, nigh_text_reader *reader, nigh_error *error) {
    const struct nigh__pipeline_work pipeline_work = {pass, worker_new, worker_free, work,
                                                      is_first(pass) ? NULL : is_wanted};
    const bool reports = pass->dedup->options.progress != NULL && pass->dedup->options.progress->report != NULL;
    struct nigh__pipeline *pipeline = NULL;
    pass->progress = (nigh_progress){report_stage, pass};
    nigh_text_reader_info info = {.size = sizeof info};
    nigh_text_reader_describe(reader, &info);
    nigh_status status = pass->step->begin == NULL ? NIGH_OK : pass->step->begin(pass->step->user, &info, error);
    if (status != NIGH_OK) return status;
    status = nigh__pipeline_open(reader, &pipeline_work, pass->plan->threads, reports ? &pass->progress : NULL,
                                 &pipeline, error);
    if (status != NIGH_OK) return status;
    status = take_all(pass, pipeline, error);
    if (is_first(pass)) {
        uint64_t empty = 0;
        pass->dedup->info.reader = (nigh_text_reader_info){.size = sizeof(nigh_text_reader_info)};
        nigh__pipeline_describe(pipeline, &pass->dedup->info.reader, &empty);
    }
    nigh__pipeline_close(pipeline); /* and now nobody reads ahead any more */
    if (status != NIGH_OK) nigh__rereading_explain(pass->dedup->source, error);
    return status == NIGH_OK ? nigh__rereading_check(pass->dedup->source, reader, error) : status;
}

/* Which records those documents are. */
static nigh_status mark_records(struct pass *pass, uint64_t **out, nigh_error *error) {
    const nigh_dedup *dedup = pass->dedup;
    const size_t count = dedup->documents.count;
    if (count > 0) pass->wanted_records = nigh__dedup_document(dedup, count - 1)->number + 1;
    uint64_t *wanted = nigh__bits_new(dedup->context, pass->wanted_records, error);
    pass->wanted = *out = wanted;
    if (wanted == NULL) return NIGH_ENOMEM;
    for (uint64_t i = 0; i < count; i++)
        if (nigh__bit_is_set(pass->needed, i)) nigh__bit_set(wanted, nigh__dedup_document(dedup, i)->number);
    return NIGH_OK;
}

nigh_status nigh__pass_sign(struct nigh__pass_worker *worker, const nigh_text *text,
                            const struct nigh__features *features, uint8_t *bits, uint8_t *keys, nigh_error *error) {
    const struct nigh__pass_plan *plan = worker->plan;
    const struct nigh__bag bag = {.hashes = features->hashes, .count = features->count};
    nigh_status status = bag.count == 0 ? NIGH_OK : nigh__project(worker->projector, &bag, error);
    if (status != NIGH_OK) return status;
    nigh__bands_sign(bag.count == 0 ? NULL : worker->projector, text->text, text->text_length, plan->bands,
                     plan->band_rows, bits, keys);
    return NIGH_OK;
}

static nigh_status run_pass(struct pass *pass, nigh_error *error) {
    nigh_text_reader *reader = NULL;
    nigh_status status = NIGH_OK;
    if (is_first(pass) || count_expected(pass) > 0) status = nigh__rereading_open(pass->dedup->source, &reader, error);
    if (status == NIGH_OK && reader != NULL) status = run_pipeline(pass, reader, error);
    nigh_text_reader_close(reader);
    return status;
}

nigh_status nigh__pass_run(nigh_dedup *dedup, struct nigh__pass_plan *plan, const struct nigh__pass_step *step,
                           const uint64_t *needed, nigh_error *error) {
    struct pass pass = {.dedup = dedup, .plan = plan, .step = step, .needed = needed};
    uint64_t *wanted = NULL;
    nigh_status status = needed == NULL ? NIGH_OK : mark_records(&pass, &wanted, error);
    if (status == NIGH_OK) status = run_pass(&pass, error);
    nigh__free(dedup->context, wanted);
    return status;
}

nigh_status nigh__pass_run_expected(nigh_dedup *dedup, struct nigh__pass_plan *plan, const struct nigh__pass_step *step,
                                    const struct nigh__pass_expected *expected, nigh_error *error) {
    struct pass pass = {.dedup = dedup,
                        .plan = plan,
                        .step = step,
                        .expected = expected,
                        .wanted = expected->wanted,
                        .wanted_records = expected->records};
    return run_pass(&pass, error);
}
