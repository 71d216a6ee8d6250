/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deduplication of documents: how they are read, as often as needed, and what is known of them once they were.  The
 * steps that signatures go through as well are in dedup.c.
 */
#include <math.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/secret.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "dedup/prefixes.h"
#include "dedup/sets.h"
#include "dedup/there.h"
#include "document/document_options.h"
#include "signature/band_keys.h"
#include "text/plan.h"
#include "text/text_options.h"

/* ------------------------------------------------------------------- plan -- */

/* Features of minhash, whatever scheme the caller's options name; of simhash the usual ones, for they only verify. */
static nigh_status plan_features(const nigh_dedup *dedup, const nigh_signer_options *signer,
                                 struct nigh__pass_plan *plan, nigh_error *error) {
    nigh_signer_options options;
    nigh__options_defaults(&nigh__signer_options_shape, &options);
    if (dedup->options.method != NIGH_DEDUP_SIMHASH) options = *signer;
    options.scheme = NIGH_SCHEME_MINHASH;
    nigh_status status = nigh__plan_features(&options, &plan->features, error);
    /* Distinct ones take a hash table and a quarter of the time, so only who must know how many there are has them. */
    plan->features.repeats = dedup->options.method != NIGH_DEDUP_EXACT && !dedup->options.no_verify;
    return status;
}

static nigh_status plan_simhash(nigh_dedup *dedup, const nigh_signer_options *signer, struct nigh__pass_plan *plan,
                                nigh_error *error) {
    nigh_signer_options options = *signer;
    if (options.scheme != NIGH_SCHEME_LEARNED) options.scheme = NIGH_SCHEME_SIMHASH;
    nigh_status status = nigh__signer_plan_make(dedup->context, &options, &plan->signer, error);
    if (status != NIGH_OK) return status;
    plan->width_bits = plan->signer.width_bits;
    if (dedup->options.distance == NIGH__UNSET)
        dedup->options.distance = nigh_default_radius(NIGH_SCHEME_SIMHASH, plan->width_bits);
    return NIGH_OK;
}

/* What the collection says that all are held against: one meaning of alike for both. */
static nigh_status follow_collection(nigh_dedup *dedup, nigh_signer_options *signer, nigh_error *error) {
    const nigh_collection *against = dedup->options.against;
    if (against == NULL || nigh_collection_scheme(against)[0] == '\0') return NIGH_OK;
    nigh_status status = nigh_signer_options_parse(nigh_collection_scheme(against), signer, error);
    if (status != NIGH_OK && status != NIGH_ENOTFOUND) return status;
    if (status == NIGH_ENOTFOUND || !(signer->threshold > 0))
        return nigh__because(error, NIGH_REASON_NOT_FOR_COPIES,
                             nigh__fail(error, NIGH_EMISMATCH, "the collection was not made for near-copies"));
    dedup->options.threshold = signer->threshold;
    return NIGH_OK;
}

static nigh_status make_plan(nigh_dedup *dedup, struct nigh__pass_plan *plan, nigh_error *error) {
    *plan = (struct nigh__pass_plan){
        .threads = dedup->options.threads, .secret = nigh__secret(), .texts = NIGH__ARRAY(struct nigh__mark)};
    nigh_signer_options signer;
    nigh_status status = nigh__options_copy(&nigh__signer_options_shape, &signer, dedup->options.signer, error);
    dedup->options.signer = NULL; /* the caller's, and not needed any more */
    if (status == NIGH_OK) status = follow_collection(dedup, &signer, error);
    if (status == NIGH_OK && signer.split != NIGH_SPLIT_NONE)
        status = nigh__fail(error, NIGH_EINVAL, "documents are compared whole, not by passages");
    if (status == NIGH_OK) status = plan_features(dedup, &signer, plan, error);
    if (status != NIGH_OK) return status;
    if (dedup->options.method == NIGH_DEDUP_SIMHASH) return plan_simhash(dedup, &signer, plan, error);
    if (dedup->options.method != NIGH_DEDUP_MINHASH) return NIGH_OK;
    plan->width_bits = NIGH__BAND_BITS;
    nigh__bands_choose(dedup->options.threshold, &plan->bands, &plan->band_rows);
    plan->keeps_empty = dedup->options.against != NULL;
    return nigh__there_check(dedup->options.against, plan->bands, !dedup->options.no_verify, error);
}

/* ----------------------------------------------------------------- source -- */

/* What is deduplicated: paths, or a source of the caller's. */
struct input {
    const char *const *paths;
    size_t count;
    const nigh_source *source; /* NULL: paths */
};

static nigh_status open_source(nigh_dedup *dedup, const struct input *input, const nigh_text_reader_options *reading,
                               nigh_error *error) {
    nigh_text_reader_options known;
    nigh_status status = nigh__options_copy(&nigh__text_reader_options_shape, &known, reading, error);
    if (status != NIGH_OK) return status;
    dedup->shard = known.shard;
    dedup->shards = known.shards;
    if (input->source != NULL) /* whose documents have scores without a key */
        return nigh__rereading_new_given(dedup->context, input->source, &known, &dedup->source, error);
    if (dedup->options.keep == NIGH_KEEP_SCORE) known.score_key = dedup->score_key;
    if (dedup->options.keep == NIGH_KEEP_SCORE && (known.score_key == NULL || known.score_key[0] == '\0'))
        return nigh__fail(error, NIGH_EINVAL, "keeping by score needs the key of the score");
    return nigh__rereading_new(dedup->context, input->paths, input->count, &known, dedup->temporary, &dedup->source,
                               error);
}

/* ------------------------------------------------------------------- steps -- */

static nigh_status find_candidates(struct nigh__candidates *candidates, struct nigh__gathered *gathered,
                                   nigh_dedup *dedup, struct nigh__pass_plan *plan, nigh_error *error) {
    if (dedup->options.method == NIGH_DEDUP_EXACT)
        return nigh__candidates_by_prefixes(candidates, gathered, dedup, plan, error);
    return nigh__candidates_by_bands(candidates, gathered, dedup, plan->threads, error);
}

/* What passes need. */
static void reading_free(nigh_dedup *dedup) {
    nigh__rereading_free(dedup->source);
    if (dedup->plan != NULL) nigh__pass_plan_release(dedup->context, dedup->plan);
    nigh__free(dedup->context, dedup->plan);
}

static const struct nigh__dedup_reading by_passes = {.find_candidates = find_candidates,
                                                     .read_sets = nigh__sets_read,
                                                     .free = reading_free,
                                                     .find_there = nigh__there_find,
                                                     .verify_there = nigh__there_verify};

/* Where a limit ended the reading, what threads have read beyond it does not count. */
static void count_lost(nigh_dedup *dedup) {
    const size_t count = dedup->documents.count;
    const bool limited = dedup->options.limit != 0 && count == dedup->options.limit;
    const uint64_t end = limited ? nigh__dedup_document(dedup, count - 1)->number : UINT64_MAX;
    dedup->info.lost = nigh__rereading_lost(dedup->source, end);
}

static void count_scored(nigh_dedup *dedup) {
    const double *scores = dedup->scores.data;
    for (size_t i = 0; i < dedup->scores.count; i++) dedup->info.scored += scores[i] > -(double)INFINITY;
}

/* By their hashes, which takes two words a document for a moment. */
static nigh_status count_repeated_ids(nigh_dedup *dedup, nigh_error *error) {
    const size_t count = dedup->documents.count;
    uint64_t *hashes = nigh__alloc_large(dedup->context, count + 1, sizeof *hashes);
    uint64_t *scratch = nigh__alloc_large(dedup->context, count + 1, sizeof *scratch);
    const bool room = hashes != NULL && scratch != NULL;
    for (size_t i = 0; room && i < count; i++) {
        const struct nigh__duplicate *document = nigh__dedup_document(dedup, i);
        hashes[i] = nigh__hash((const char *)dedup->ids.data + document->id, document->id_length);
    }
    const uint64_t *sorted = room ? nigh__words_sort(hashes, scratch, count, 1, 1, dedup->options.threads) : NULL;
    for (size_t i = 1; room && i < count; i++) dedup->info.repeated_ids += sorted[i] == sorted[i - 1];
    nigh__free(dedup->context, hashes);
    nigh__free(dedup->context, scratch);
    return room ? NIGH_OK : nigh__no_memory(error, "to compare ids");
}

/* Records of the shard that are neither documents nor lost, nor left out, nor binary files that nobody named. */
static void count_unread(nigh_dedup *dedup) {
    const nigh_text_reader_info *reader = &dedup->info.reader;
    const uint64_t left_out = reader->too_few_bytes + reader->too_few_words + reader->other_language;
    const uint64_t known = dedup->documents.count + dedup->info.lost + left_out + nigh__rereading_passed(dedup->source);
    uint64_t records = dedup->info.reader.records;
    if (dedup->shards != 0) records = records / dedup->shards + (records % dedup->shards > dedup->shard);
    if (dedup->options.limit == 0 && records > known) dedup->info.unread = records - known;
}

static nigh_status run(nigh_dedup *dedup, struct nigh__pass_plan *plan, nigh_error *error) {
    struct nigh__gathered gathered = {0};
    const double begin = nigh__clock();
    nigh_status status = nigh__gather(dedup, plan, &gathered, error);
    dedup->info.seconds[0] = nigh__clock() - begin;
    dedup->info.disk_bytes += nigh__rereading_copied(dedup->source);
    count_lost(dedup);
    count_scored(dedup);
    count_unread(dedup);
    if (status == NIGH_OK) status = count_repeated_ids(dedup, error);
    /* Better now than when all is done. */
    if (status == NIGH_OK && (dedup->options.will_write || dedup->options.will_annotate))
        status =
            nigh__dedup_check_formats(nigh__rereading_formats(dedup->source), dedup->options.will_annotate != 0, error);
    if (status == NIGH_OK) status = nigh__dedup_decide(dedup, plan, &gathered, error);
    nigh__gathered_release(dedup->context, &gathered);
    return status;
}

/* A deduplication of an input that nobody has read yet; *out is NULL where there is none to free. */
static nigh_status open_input(nigh_context *context, const struct input *input, const nigh_text_reader_options *reading,
                              const nigh_dedup_options *options, const struct nigh__dedup_narrow *narrow,
                              nigh_dedup **out, nigh_error *error) {
    nigh_dedup *dedup = NULL;
    nigh_status status = nigh__dedup_new(context, options, narrow, &dedup, error);
    *out = dedup;
    if (dedup == NULL) return status;
    dedup->reading = &by_passes;
    dedup->plan = nigh__alloc_zero(context, 1, sizeof *dedup->plan);
    if (status == NIGH_OK && dedup->plan == NULL) status = nigh__no_memory(error, "to deduplicate");
    if (status == NIGH_OK) status = make_plan(dedup, dedup->plan, error);
    if (status == NIGH_OK && (input->source != NULL || input->paths != NULL))
        status = open_source(dedup, input, reading, error);
    return status;
}

static nigh_status run_input(nigh_context *context, const struct input *input, const nigh_text_reader_options *reading,
                             const nigh_dedup_options *options, const struct nigh__dedup_narrow *narrow,
                             nigh_dedup **out, nigh_error *error) {
    nigh_dedup *dedup = NULL;
    nigh_status status = open_input(context, input, reading, options, narrow, &dedup, error);
    if (status == NIGH_OK) status = run(dedup, dedup->plan, error);
    *out = status == NIGH_OK ? dedup : NULL;
    if (status != NIGH_OK) nigh_dedup_free(dedup);
    return status;
}

nigh_status nigh__dedup_open(nigh_context *context, const char *const *paths, size_t count,
                             const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                             nigh_dedup **out, nigh_error *error) {
    const struct input input = {.paths = paths, .count = count};
    nigh_status status = open_input(context, &input, reading, options, &nigh__dedup_usual_narrow, out, error);
    if (status == NIGH_OK) return NIGH_OK;
    nigh_dedup_free(*out);
    *out = NULL;
    return status;
}

nigh_status nigh__dedup_run(nigh_context *context, const char *const *paths, size_t count,
                            const nigh_text_reader_options *reading, const nigh_dedup_options *options,
                            const struct nigh__dedup_narrow *narrow, nigh_dedup **out, nigh_error *error) {
    const struct input input = {.paths = paths, .count = count};
    *out = NULL;
    if (paths == NULL) return nigh__fail(error, NIGH_EINVAL, "no path to read documents from");
    return run_input(context, &input, reading, options, narrow, out, error);
}

nigh_status nigh_dedup_run(nigh_context *context, const char *const *paths, size_t count,
                           const nigh_text_reader_options *reading, const nigh_dedup_options *options, nigh_dedup **out,
                           nigh_error *error) {
    return nigh__dedup_run(context, paths, count, reading, options, &nigh__dedup_usual_narrow, out, error);
}

nigh_status nigh_dedup_source(nigh_context *context, const nigh_source *source, const nigh_text_reader_options *reading,
                              const nigh_dedup_options *options, nigh_dedup **out, nigh_error *error) {
    *out = NULL;
    if (source == NULL) return nigh__fail(error, NIGH_EINVAL, "no source to read documents from");
    const struct input input = {.source = source};
    return run_input(context, &input, reading, options, &nigh__dedup_usual_narrow, out, error);
}
