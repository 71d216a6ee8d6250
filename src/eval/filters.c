/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures filters, from reading documents to the rows of the table. For each kind and m / n the
 * best shape is searched for, and filters of that shape are made as nigh_terms_index() makes
 * them. Then errors are counted, queries are run, and bytes are added up.
 */
#include "eval/filters.h"

#include "base/clock.h"
#include "base/exponential.h"
#include "base/status.h"
#include "base/threads.h"
#include "eval/eval_options.h"
#include "terms/terms_format.h"
#include "terms/terms_options.h"
#include "text/plan.h"
#include "text/text_options.h"

#define USUAL_SAMPLE 2000u
#define USUAL_QUERIES 2000u
#define MAX_QUERIES 1000000u
#define USUAL_BLOCK 400u
#define USUAL_MEMORY (UINT64_C(4) << 30)
#define MAX_RATIO 64.0
#define LN_2 0.69314718055994530942

static const nigh_filter_kind kinds[] = {NIGH_FILTER_BLOOM, NIGH_FILTER_COCA, NIGH_FILTER_HYBRID};
#define KINDS (sizeof kinds / sizeof *kinds)

static const double usual_ratios[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

struct measurement {
    nigh_eval_filters_options options;
    nigh_terms_options terms;
    struct nigh__feature_plan plan;
    struct nigh__progress progress;
    struct nigh__blocks *blocks;
    struct nigh__filter_queries queries;
    nigh_eval_filters *result;
};

/* -------------------------------------------------------------- options -- */

static nigh_status check_options(const nigh_eval_filters_options *options, nigh_error *error) {
    if (options->ratio_count == 0) return nigh__fail(error, NIGH_EINVAL, "there is no number of bits to measure");
    for (size_t i = 0; i < options->ratio_count; i++)
        if (!(options->ratios[i] > 0 && options->ratios[i] <= MAX_RATIO))
            return nigh__fail(error, NIGH_EINVAL, "%g bits a term; more than 0 and at most 64 are possible",
                              options->ratios[i]);
    if (options->queries > MAX_QUERIES)
        return nigh__fail(error, NIGH_EINVAL, "%u queries; at most %u", options->queries, MAX_QUERIES);
    return NIGH_OK;
}

/* Of the terms' options the parts that make a shape are not used: they are what is searched for. */
static nigh_status take_terms(struct measurement *measurement, nigh_error *error) {
    nigh_terms_options *terms = &measurement->terms;
    nigh_signer_options analysis;
    nigh_status status = nigh__options_copy(&nigh__terms_options_shape, terms, measurement->options.terms, error);
    if (status == NIGH_OK) status = nigh__options_copy(&nigh__signer_options_shape, &analysis, terms->analysis, error);
    if (status != NIGH_OK) return status;
    analysis.scheme = NIGH_SCHEME_TOPSIG;
    if (terms->block_terms == 0) terms->block_terms = USUAL_BLOCK;
    if (terms->memory_bytes == 0) terms->memory_bytes = USUAL_MEMORY;
    terms->bits_per_term = 1;
    terms->false_positives = 0;
    terms->hashes = 0;
    terms->frequent_hashes = 0;
    terms->theta = 0;
    terms->kind = NIGH_FILTER_HYBRID;
    status = nigh__filter_options_check(terms, error);
    return status == NIGH_OK ? nigh__plan_features(&analysis, &measurement->plan, error) : status;
}

static nigh_status take_options(struct measurement *measurement, const nigh_eval_filters_options *given,
                                nigh_error *error) {
    nigh_eval_filters_options *options = &measurement->options;
    nigh_status status = nigh__options_copy(&nigh__eval_filters_options_shape, options, given, error);
    if (status != NIGH_OK) return status;
    if (options->ratios == NULL) {
        options->ratios = usual_ratios;
        options->ratio_count = sizeof usual_ratios / sizeof *usual_ratios;
    }
    if (options->sample == 0) options->sample = USUAL_SAMPLE;
    if (options->queries == 0) options->queries = USUAL_QUERIES;
    status = check_options(options, error);
    return status == NIGH_OK ? take_terms(measurement, error) : status;
}

/* --------------------------------------------------------------- theory -- */

/* (1 - e^(-k/ratio))^k at the k of which it is least. */
static double theory_of(double ratio) {
    double best = 1;
    for (uint32_t hashes = 1; hashes <= (uint32_t)MAX_RATIO; hashes++) {
        const double fill = 1 - nigh__exp(-(double)hashes / ratio);
        double error = 1;
        for (uint32_t i = 0; i < hashes; i++) error *= fill;
        if (error < best) best = error;
    }
    return best;
}

/* What any filter comes to at best that knows nothing of its terms: m > n lg(1 / error). */
static double bound_of(double ratio) { return nigh__exp(-LN_2 * ratio); }

/* ----------------------------------------------------------------- rows -- */

static void fill_errors(const struct nigh__filter_error *measured, nigh_eval_filters_row *row) {
    row->error = measured->mean;
    row->error_deviation = measured->deviation;
    row->error_least = measured->least;
    row->error_most = measured->most;
    row->weighted = measured->weighted;
    row->fill = measured->fill;
    for (size_t i = 0; i < 3; i++) row->error_quantiles[i] = measured->quantiles[i];
    for (size_t i = 0; i < 4; i++) row->error_by_frequency[i] = measured->by_frequency[i];
}

static nigh_status measure_shape(struct measurement *measurement, const struct nigh__filter_shape *shape,
                                 nigh_eval_filters_row *row, nigh_error *error) {
    const struct nigh__blocks *blocks = measurement->blocks;
    const uint32_t threads = measurement->terms.threads;
    struct nigh__positions *positions;
    struct nigh__filter_error measured = {0};
    double row_seconds = 0;
    const double began = nigh__clock();
    nigh_status status =
        nigh__positions_make(blocks, shape, 0, NULL, threads, &measurement->progress, &positions, error);
    if (status != NIGH_OK) return status;
    row->seconds = nigh__clock() - began;
    status = nigh__filter_error_measure(blocks, positions, measurement->options.sample, measurement->options.seed, NULL,
                                        threads, &measured, error);
    fill_errors(&measured, row);
    if (status == NIGH_OK)
        status = nigh__filter_queries_ask(&measurement->queries, blocks, positions, threads, &measurement->progress,
                                          row, &row_seconds, error);
    row->seconds += row_seconds;
    row->row_bytes = shape->bits * nigh__terms_row_bytes(blocks->blocks);
    row->dictionary_bytes = nigh__filter_dictionary_bytes(positions, blocks->blocks);
    nigh__positions_free(positions);
    return status;
}

static nigh_status measure_row(struct measurement *measurement, nigh_filter_kind kind, double ratio,
                               nigh_eval_filters_row *row, nigh_error *error) {
    struct nigh__filter_shape shape = {.kind = kind, .seed = measurement->plan.analysis.seed};
    nigh_terms_options options = measurement->terms;
    double expected;
    options.kind = kind;
    options.bits_per_term = ratio;
    nigh_status status =
        nigh__filter_choose(measurement->blocks, &options, &measurement->progress, &shape, &expected, error);
    if (status != NIGH_OK) return status;
    *row = (nigh_eval_filters_row){.size = sizeof(nigh_eval_filters_row)};
    row->kind = kind;
    row->ratio = ratio;
    row->hashes = shape.hashes;
    row->frequent_hashes = shape.frequent_hashes;
    row->theta = shape.theta;
    row->theory = theory_of(ratio);
    row->bound = bound_of(ratio);
    const nigh_eval_filters_info *info = &measurement->result->info;
    row->bound_words = nigh__filter_bound(ratio, info->entropy_words, info->block_terms, (double)info->terms);
    row->bound_pairs = nigh__filter_bound(ratio, info->entropy_pairs, info->block_terms, (double)info->terms);
    return measure_shape(measurement, &shape, row, error);
}

static nigh_status measure_rows(struct measurement *measurement, nigh_error *error) {
    nigh_eval_filters *result = measurement->result;
    const nigh_eval_filters_options *options = &measurement->options;
    const size_t count = KINDS * options->ratio_count;
    nigh_status status = NIGH_OK;
    result->ratio_count = options->ratio_count;
    for (size_t i = 0; i < count && status == NIGH_OK; i++) {
        nigh_eval_filters_row *row = nigh__array_add(result->context, &result->rows, 1);
        if (row == NULL) return nigh__no_memory(error, "for what was measured");
        status = measure_row(measurement, kinds[i / options->ratio_count], options->ratios[i % options->ratio_count],
                             row, error);
    }
    return status;
}

/* -------------------------------------------------------------- reading -- */

static nigh_status read_blocks(struct measurement *measurement, nigh_text_reader *reader, nigh_error *error) {
    const nigh_terms_options *terms = &measurement->terms;
    const struct nigh__block_options reading = {.plan = measurement->plan,
                                                .block_terms = terms->block_terms,
                                                .memory_bytes = terms->memory_bytes,
                                                .limit = terms->limit,
                                                .threads = nigh__threads_resolve(terms->threads),
                                                .progress = terms->progress};
    struct nigh__block_reader *block_reader;
    const nigh_context *context = measurement->result->context;
    nigh_status status = nigh__block_reader_open(context, reader, &reading, &block_reader, error);
    if (status != NIGH_OK) return status;
    status = nigh__block_reader_next(block_reader, &measurement->blocks, error);
    nigh__block_reader_close(block_reader);
    if (status == NIGH_END) {
        (void)nigh__fail(error, NIGH_EINVAL, "there are no documents to measure filters by");
        return NIGH_EINVAL;
    }
    if (status != NIGH_OK) return status;
    if (measurement->blocks->more)
        return nigh__fail(error, NIGH_ELIMIT,
                          "the words of more than %u documents take more than %llu MiB of memory: allow more, or "
                          "measure fewer documents",
                          measurement->blocks->documents, (unsigned long long)(terms->memory_bytes >> 20));
    if (measurement->blocks->postings == 0)
        return nigh__fail(error, NIGH_EINVAL, "no document has a word to measure filters by");
    return NIGH_OK;
}

static nigh_status fill_info(const struct measurement *measurement, nigh_error *error) {
    const struct nigh__blocks *blocks = measurement->blocks;
    nigh_eval_filters_info *info = &measurement->result->info;
    info->documents = blocks->documents;
    info->blocks = blocks->blocks;
    info->terms = blocks->terms;
    info->postings = blocks->postings;
    info->block_terms = (double)blocks->postings / blocks->blocks;
    info->text_bytes = blocks->reader.bytes_text;
    info->reader = blocks->reader;
    for (uint32_t term = 0; term < blocks->terms; term++) info->single += blocks->frequencies[term] == 1;
    const nigh_status status = nigh__filter_entropy(blocks, &info->entropy_words, &info->entropy_pairs, error);
    if (status != NIGH_OK) return status;
    return nigh__inverted_bytes(blocks, &info->inverted_bytes, &info->inverted_dictionary_bytes, error);
}

static nigh_status measure(struct measurement *measurement, nigh_text_reader *reader, nigh_error *error) {
    nigh_status status = read_blocks(measurement, reader, error);
    if (status == NIGH_OK) status = fill_info(measurement, error);
    if (status == NIGH_OK)
        status =
            nigh__filter_queries_draw(measurement->blocks, measurement->options.queries, measurement->options.seed,
                                      measurement->terms.threads, &measurement->progress, &measurement->queries, error);
    if (status == NIGH_OK) status = measure_rows(measurement, error);
    nigh__filter_queries_release(&measurement->queries);
    nigh__blocks_free(measurement->blocks);
    return status;
}

/* --------------------------------------------------------------- public -- */

nigh_status nigh_eval_filters_measure(nigh_context *context, nigh_text_reader *reader,
                                      const nigh_eval_filters_options *options, nigh_eval_filters **out,
                                      nigh_error *error) {
    *out = NULL;
    struct measurement measurement = {0};
    nigh_status status = take_options(&measurement, options, error);
    if (status != NIGH_OK) return status;
    nigh_eval_filters *result = nigh__alloc_zero(context, 1, sizeof *result);
    if (result == NULL) return nigh__no_memory(error, "to measure filters");
    *result = (nigh_eval_filters){.context = context,
                                  .info = {.size = sizeof(nigh_eval_filters_info)},
                                  .rows = NIGH__ARRAY(nigh_eval_filters_row),
                                  .svg = NIGH__ARRAY(char)};
    measurement.result = result;
    nigh__progress_init(&measurement.progress, measurement.terms.progress);
    status = measure(&measurement, reader, error);
    if (status == NIGH_OK)
        *out = result;
    else
        nigh_eval_filters_free(result);
    return status;
}

void nigh_eval_filters_describe(const nigh_eval_filters *filters, nigh_eval_filters_info *out) {
    nigh__info_copy(out, &filters->info, sizeof filters->info);
}

nigh_status nigh_eval_filters_at(const nigh_eval_filters *filters, size_t index, nigh_eval_filters_row *out) {
    if (index >= filters->rows.count) return NIGH_END;
    const nigh_eval_filters_row *row = (const nigh_eval_filters_row *)filters->rows.data + index;
    nigh__info_copy(out, row, sizeof *row);
    return NIGH_OK;
}

void nigh_eval_filters_free(nigh_eval_filters *filters) {
    if (filters == NULL) return;
    nigh__array_release(filters->context, &filters->rows);
    nigh__array_release(filters->context, &filters->svg);
    nigh__free(filters->context, filters);
}
