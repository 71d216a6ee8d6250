/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass before signing that counts words, if weights need a vocabulary. Threads analyse
 * the documents; one, the caller's, adds the counts, in the order of the input.
 */
#include "base/memory.h"
#include "base/status.h"
#include "document/pipeline.h"
#include "text/plan.h"
#include "text/text_options.h"
#include "text/vocabulary.h"

struct counting {
    const nigh_context *context;
    struct nigh__feature_plan plan;
};

struct counter_worker {
    const nigh_context *context;
    struct nigh__featurer *featurer;
};

static nigh_status worker_new(void *user, void **worker, nigh_error *error) {
    const struct counting *counting = user;
    struct counter_worker *own = nigh__alloc_zero(counting->context, 1, sizeof *own);
    *worker = own;
    if (own == NULL) return nigh__no_memory(error, "to count terms");
    own->context = counting->context;
    return nigh__featurer_new(counting->context, &counting->plan, &own->featurer, error);
}

static void worker_free(void *user, void *worker) {
    const struct counting *counting = user;
    struct counter_worker *own = worker;
    if (own != NULL) nigh__featurer_free(own->featurer);
    nigh__free(counting->context, own);
}

/* The product of a document is its tallies; each is 16 bytes, so that all of them lie straight. */
static nigh_status work(void *worker, const nigh_text *text, struct nigh__array *product, nigh_error *error) {
    struct counter_worker *own = worker;
    struct nigh__features features;
    nigh_status status = nigh__featurer_find(own->featurer, text->text, text->text_length, &features, error);
    if (status != NIGH_OK) return status;
    if (features.count == 0) return NIGH_ENOTFOUND;
    uint8_t *place = nigh__array_add(own->context, product, features.count * sizeof(struct nigh__tally));
    if (place == NULL) return nigh__no_memory(error, "to count terms");
    struct nigh__tally *tallies = (struct nigh__tally *)(void *)place;
    for (size_t i = 0; i < features.count; i++)
        tallies[i] = (struct nigh__tally){.hash = features.hashes[i], .count = features.counts[i]};
    return NIGH_OK;
}

static nigh_status count_products(struct nigh__pipeline *pipeline, struct nigh__counter *counter,
                                  const nigh_vocabulary_options *options, nigh_error *error) {
    struct nigh__product product;
    nigh_status status = NIGH_OK;
    for (uint64_t counted = 0; options->limit == 0 || counted < options->limit; counted++) {
        status = nigh__pipeline_next(pipeline, &product, error);
        if (status != NIGH_OK) break;
        const struct nigh__tally *tallies = (const struct nigh__tally *)(const void *)product.bytes;
        status = nigh__counter_add(counter, tallies, product.length / sizeof *tallies, error);
        if (status != NIGH_OK) break;
    }
    return status == NIGH_END ? NIGH_OK : status;
}

nigh_status nigh_vocabulary_count(nigh_context *context, const nigh_signer_options *options, nigh_text_reader *reader,
                                  const nigh_vocabulary_options *counting, nigh_vocabulary **out, nigh_error *error) {
    *out = NULL;
    nigh_signer_options signer;
    nigh_vocabulary_options known;
    struct counting shared = {.context = context};
    struct nigh__counter *counter = NULL;
    struct nigh__pipeline *pipeline = NULL;
    char analysis[NIGH__PLAN_LINES_SIZE];
    nigh_status status = nigh__options_copy(&nigh__signer_options_shape, &signer, options, error);
    if (status == NIGH_OK) status = nigh__options_copy(&nigh__vocabulary_options_shape, &known, counting, error);
    if (status == NIGH_OK) status = nigh__plan_features(&signer, &shared.plan, error);
    if (status == NIGH_OK) status = nigh__counter_new(context, known.memory_bytes, &counter, error);
    shared.plan.repeats = false;
    const struct nigh__pipeline_work counting_work = {&shared, worker_new, worker_free, work, NULL};
    if (status == NIGH_OK)
        status = nigh__pipeline_open(reader, &counting_work, known.threads, known.progress, &pipeline, error);
    if (status == NIGH_OK) status = count_products(pipeline, counter, &known, error);
    if (status == NIGH_OK) {
        nigh__plan_lines(&shared.plan, analysis, sizeof analysis);
        status = nigh__counter_finish(counter, analysis, out, error);
    }
    nigh__pipeline_close(pipeline);
    nigh__counter_free(counter);
    return status;
}
