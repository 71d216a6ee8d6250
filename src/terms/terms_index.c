/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nigh_terms_index(): from inputs to groups of a term signature file.
 *
 *     lock            the writer, before anything is read
 *     read            as many blocks as memory holds
 *     choose          the shape, from the first blocks of a new file
 *     place           terms that groups before have positions for keep them, or documents would be lost
 *     write           a group; on with the next blocks
 *     commit          all groups at once
 */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "document/document_options.h"
#include "terms/terms_file_parts.h"
#include "terms/terms_options.h"
#include "text/plan.h"
#include "text/text_options.h"

#define USUAL_BLOCK_TERMS 400u
#define USUAL_MEMORY (UINT64_C(4) << 30)

struct indexing {
    nigh_context *context;
    const char *path;
    nigh_terms_options options;
    struct nigh__feature_plan plan;
    struct nigh__progress progress;
    nigh_text_reader *reader;
    nigh_text_reader_options reading; /* as was asked for */
    char **paths;                     /* of the inputs, as they are kept; owned */
    struct nigh__term_input *inputs;
    size_t input_count;
    struct nigh__terms_writer *writer;
    struct nigh__block_reader *blocks;
    struct nigh__filter_shape shape;
    uint32_t block_terms;
    bool fresh; /* the shape is yet to be chosen */
};

/* ---------------------------------------------------- what is there already -- */

static nigh_status differs(const struct indexing *indexing, const char *what, double held, double asked,
                           nigh_error *error) {
    return nigh__fail_at(error, NIGH_EMISMATCH, indexing->path, NIGH_NO_OFFSET,
                         "it has %s=%g; documents cannot be added with %s=%g", what, held, what, asked);
}

/* The first line in which two analyses differ. */
static nigh_status analysis_differs(const struct indexing *indexing, const char *held, const char *asked,
                                    nigh_error *error) {
    size_t held_length = strcspn(held, "\n");
    size_t asked_length = strcspn(asked, "\n");
    while (held_length == asked_length && memcmp(held, asked, held_length) == 0) {
        held += held_length + 1;
        asked += asked_length + 1;
        held_length = strcspn(held, "\n");
        asked_length = strcspn(asked, "\n");
    }
    return nigh__fail_at(error, NIGH_EMISMATCH, indexing->path, NIGH_NO_OFFSET,
                         "it has %.*s; documents cannot be added with %.*s", (int)held_length, held, (int)asked_length,
                         asked);
}

/* What the caller leaves open is as the file has it. */
static nigh_status analysis_fits(struct indexing *indexing, const struct nigh_terms *terms, nigh_error *error) {
    nigh_signer_options asked;
    char held[NIGH__PLAN_LINES_SIZE];
    char lines[NIGH__PLAN_LINES_SIZE];
    nigh_status status = nigh__options_copy(&nigh__signer_options_shape, &asked, indexing->options.analysis, error);
    if (status != NIGH_OK) return status;
    asked.scheme = NIGH_SCHEME_TOPSIG; /* of no account here, but for what it says of features */
    /* A language brings its own stemmer and stop words, so with one nothing of these is left open. */
    if (asked.language != NULL && asked.stemming < 0) asked.stemming = 1;
    if (asked.language != NULL && asked.stop_words < 0) asked.stop_words = 1;
    nigh__plan_fill_options(&terms->plan, &asked);
    status = nigh__plan_features(&asked, &indexing->plan, error);
    if (status != NIGH_OK) return status;
    nigh__plan_all_lines(&terms->plan, held, sizeof held);
    nigh__plan_all_lines(&indexing->plan, lines, sizeof lines);
    return strcmp(lines, held) == 0 ? NIGH_OK : analysis_differs(indexing, held, lines, error);
}

/* The ratio and the error asked for are those of a new file: they fit where they would have made this shape. */
static nigh_status goals_fit(const struct indexing *indexing, const struct nigh_terms *terms, nigh_error *error) {
    const nigh_terms_options *options = &indexing->options;
    const struct nigh__terms_group_file *first = terms->groups[0];
    const double mean =
        first->header.blocks == 0 ? terms->block_terms : (double)first->header.postings / first->header.blocks;
    const double ratio = terms->shape.bits / mean;
    if (options->bits_per_term != 0 && fabs(options->bits_per_term - ratio) * mean > 1)
        return differs(indexing, "bits-per-term", ratio, options->bits_per_term, error);
    const double expected = first->figures.expected_error;
    if (options->false_positives != 0 && expected >= 0 && options->false_positives < expected * 0.99)
        return differs(indexing, "false-positives", expected, options->false_positives, error);
    return NIGH_OK;
}

static nigh_status fits(struct indexing *indexing, const struct nigh_terms *terms, nigh_error *error) {
    const nigh_terms_options *options = &indexing->options;
    const struct nigh__filter_shape *shape = &terms->shape;
    if (options->kind != NIGH_FILTER_AUTO && options->kind != shape->kind)
        return nigh__fail_at(error, NIGH_EMISMATCH, indexing->path, NIGH_NO_OFFSET,
                             "it has filters of kind %s; documents cannot be added with kind %s",
                             nigh_filter_kind_name(shape->kind), nigh_filter_kind_name(options->kind));
    if (options->block_terms != 0 && options->block_terms != terms->block_terms)
        return differs(indexing, "block", terms->block_terms, options->block_terms, error);
    if (options->hashes != 0 && options->hashes != shape->hashes)
        return differs(indexing, "hashes", shape->hashes, options->hashes, error);
    if (options->frequent_hashes != 0 && options->frequent_hashes != shape->frequent_hashes)
        return differs(indexing, "frequent-hashes", shape->frequent_hashes, options->frequent_hashes, error);
    if (options->theta != 0 && options->theta != shape->theta)
        return differs(indexing, "theta", shape->theta, options->theta, error);
    nigh_status status = goals_fit(indexing, terms, error);
    if (status == NIGH_OK) status = analysis_fits(indexing, terms, error);
    indexing->shape = *shape;
    indexing->block_terms = terms->block_terms;
    return status;
}

static bool input_equal(const struct nigh__term_input *a, const struct nigh__term_input *b) {
    return a->kind != NIGH__INPUT_ONCE && a->kind == b->kind && strcmp(a->path, b->path) == 0 && a->size == b->size &&
           a->seconds == b->seconds && a->nanoseconds == b->nanoseconds && a->print == b->print;
}

static bool inputs_equal(const struct indexing *indexing, const struct nigh__term_group *group) {
    bool equal = group->input_count == indexing->input_count && group->input_count > 0;
    for (uint32_t i = 0; equal && i < group->input_count; i++)
        equal = input_equal(&group->inputs[i], &indexing->inputs[i]);
    return equal;
}

/* What was added is found twice if it is added twice: a command repeated after a failure must not do so unnoticed. */
static nigh_status inputs_are_new(const struct indexing *indexing, const nigh_terms *terms, nigh_error *error) {
    if (indexing->options.again || indexing->options.limit != 0 || indexing->reading.shards != 0) return NIGH_OK;
    for (uint32_t i = 0; i < nigh__terms_groups(terms); i++)
        if (inputs_equal(indexing, nigh__terms_group(terms, i)))
            return nigh__because(error, NIGH_REASON_INPUTS_THERE,
                                 nigh__fail_at(error, NIGH_EEXISTS, indexing->path, NIGH_NO_OFFSET,
                                               "has these inputs already, unchanged"));
    return NIGH_OK;
}

/* ------------------------------------------------------------------ opening -- */

static nigh_status plan_fresh(struct indexing *indexing, nigh_error *error) {
    nigh_signer_options asked;
    nigh_status status = nigh__options_copy(&nigh__signer_options_shape, &asked, indexing->options.analysis, error);
    asked.scheme = NIGH_SCHEME_TOPSIG;
    if (status == NIGH_OK) status = nigh__plan_features(&asked, &indexing->plan, error);
    if (status == NIGH_OK && indexing->plan.kind != NIGH_FEATURES_WORDS)
        status = nigh__fail(error, NIGH_EINVAL, "terms must be words");
    indexing->block_terms = indexing->options.block_terms == 0 ? USUAL_BLOCK_TERMS : indexing->options.block_terms;
    const nigh_filter_kind kind = indexing->options.kind;
    indexing->shape = (struct nigh__filter_shape){.kind = kind == NIGH_FILTER_AUTO ? NIGH_FILTER_HYBRID : kind,
                                                  .seed = indexing->plan.analysis.seed};
    indexing->fresh = true;
    return status;
}

static nigh_status open_inputs(struct indexing *indexing, const char *const *inputs, size_t count,
                               const nigh_text_reader_options *reading, nigh_error *error) {
    nigh_status status = nigh__options_copy(&nigh__text_reader_options_shape, &indexing->reading, reading, error);
    if (status == NIGH_OK)
        status = nigh_text_reader_open(indexing->context, inputs, count, reading, &indexing->reader, error);
    if (status != NIGH_OK) return status;
    indexing->inputs = nigh__alloc_zero(indexing->context, count, sizeof *indexing->inputs);
    indexing->paths = nigh__alloc_zero(indexing->context, count, sizeof *indexing->paths);
    indexing->input_count = count;
    if (indexing->inputs == NULL || indexing->paths == NULL) return nigh__no_memory(error, "for inputs");
    for (size_t i = 0; i < count && status == NIGH_OK; i++)
        status = nigh__term_input_path(indexing->context, inputs[i], &indexing->paths[i], error);
    if (status != NIGH_OK) return status;
    return nigh__term_inputs_look(indexing->context, (const char *const *)indexing->paths, count, &indexing->reading,
                                  indexing->inputs, error);
}

static nigh_status begin(struct indexing *indexing, const char *const *inputs, size_t count,
                         const nigh_text_reader_options *reading, nigh_error *error) {
    nigh_status status = nigh__filter_options_check(&indexing->options, error);
    if (status == NIGH_OK) status = plan_fresh(indexing, error);
    if (status == NIGH_OK) status = open_inputs(indexing, inputs, count, reading, error);
    if (status == NIGH_OK)
        status = nigh__terms_writer_open(indexing->context, indexing->path, &indexing->writer, error);
    if (status != NIGH_OK) return status;
    const nigh_terms *terms = nigh__terms_writer_terms(indexing->writer);
    indexing->fresh = terms == NULL;
    if (terms != NULL) status = fits(indexing, terms, error);
    if (terms != NULL && status == NIGH_OK) status = inputs_are_new(indexing, terms, error);
    if (status != NIGH_OK) return status;
    const uint64_t memory = indexing->options.memory_bytes == 0 ? USUAL_MEMORY : indexing->options.memory_bytes;
    const struct nigh__block_options block_options = {.plan = indexing->plan,
                                                      .block_terms = indexing->block_terms,
                                                      .memory_bytes = memory - memory / 8, /* the rest is for rows */
                                                      .hashes = indexing->fresh ? indexing->options.hashes
                                                                                : indexing->shape.hashes,
                                                      .limit = indexing->options.limit,
                                                      .threads = indexing->options.threads,
                                                      .progress = indexing->options.progress};
    return nigh__block_reader_open(indexing->context, indexing->reader, &block_options, &indexing->blocks, error);
}

/* ----------------------------------------------------------------- indexing -- */

static nigh_status place_terms(struct indexing *indexing, const struct nigh__blocks *blocks,
                               struct nigh__positions **out, nigh_error *error) {
    const nigh_terms *terms = nigh__terms_writer_terms(indexing->writer);
    struct nigh__terms_knower knower = {.terms = terms, .error = {.status = NIGH_OK}};
    const struct nigh__known_positions known = {.user = &knower, .find = terms == NULL ? NULL : nigh__terms_known};
    nigh_status status = nigh__positions_make(blocks, &indexing->shape, terms == NULL ? 0 : terms->blocks, &known,
                                              indexing->options.threads, &indexing->progress, out, error);
    if (status != NIGH_OK || knower.error.status == NIGH_OK) return status;
    nigh__positions_free(*out);
    *out = NULL;
    if (error != NULL) *error = knower.error;
    return knower.error.status;
}

static nigh_status add_group(struct indexing *indexing, const struct nigh__blocks *blocks, nigh_error *error) {
    const uint64_t memory = indexing->options.memory_bytes;
    struct nigh__terms_about about = {.block_terms = indexing->block_terms,
                                      .expected_error = -1,
                                      .inputs = indexing->inputs,
                                      .input_count = indexing->input_count,
                                      .reading = &indexing->reading,
                                      .stripe_bytes = memory / 8};
    nigh_status status = NIGH_OK;
    if (indexing->fresh)
        status = nigh__filter_choose(blocks, &indexing->options, &indexing->progress, &indexing->shape,
                                     &about.expected_error, error);
    if (status != NIGH_OK) return status;
    indexing->fresh = false;
    struct nigh__positions *positions;
    status = place_terms(indexing, blocks, &positions, error);
    if (status == NIGH_OK)
        status = nigh__terms_writer_add(indexing->writer, blocks, positions, &about, indexing->options.threads,
                                        &indexing->progress, error);
    nigh__positions_free(positions);
    return status;
}

/* Filters are made for words: a file of documents without any would be a bad one for all that are added. */
static nigh_status expect_words(const struct indexing *indexing, bool any, nigh_error *error) {
    const nigh_terms *terms = nigh__terms_writer_terms(indexing->writer);
    if (!any)
        return nigh__fail_at(error, NIGH_ENOTFOUND, indexing->path, NIGH_NO_OFFSET,
                             "no document to index was found; nothing was written");
    if (terms->blocks != 0) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ENOTFOUND, indexing->path, NIGH_NO_OFFSET,
                         "none of the documents has a word that is kept; nothing was written");
}

static nigh_status add_groups(struct indexing *indexing, nigh_error *error) {
    bool any = false;
    for (;;) {
        struct nigh__blocks *blocks;
        nigh_status status = nigh__block_reader_next(indexing->blocks, &blocks, error);
        if (status == NIGH_END) return expect_words(indexing, any, error);
        if (status != NIGH_OK) return status;
        status = add_group(indexing, blocks, error);
        nigh__blocks_free(blocks);
        if (status != NIGH_OK) return status;
        any = true;
    }
}

static void end(struct indexing *indexing) {
    nigh__block_reader_close(indexing->blocks);
    nigh__terms_writer_close(indexing->writer);
    nigh_text_reader_close(indexing->reader);
    nigh__free(indexing->context, indexing->inputs);
    for (size_t i = 0; i < indexing->input_count && indexing->paths != NULL; i++)
        nigh__free(indexing->context, indexing->paths[i]);
    nigh__free(indexing->context, indexing->paths);
}

static void describe(const struct indexing *indexing, nigh_terms_info *out) {
    nigh_terms_info info = {.size = sizeof info};
    const nigh_terms *terms = indexing->writer == NULL ? NULL : nigh__terms_writer_terms(indexing->writer);
    if (terms != NULL && terms->group_count != 0) nigh_terms_describe(terms, &info);
    info.reader = (nigh_text_reader_info){.size = sizeof(nigh_text_reader_info)};
    if (indexing->blocks != NULL) nigh__block_reader_describe(indexing->blocks, &info.reader);
    nigh__info_copy(out, &info, sizeof info);
}

nigh_status nigh_terms_index(nigh_context *context, const char *path, const char *const *inputs, size_t count,
                             const nigh_text_reader_options *reading, const nigh_terms_options *options,
                             nigh_terms_info *info, nigh_error *error) {
    struct indexing indexing = {.context = context, .path = path};
    nigh_status status = nigh__options_copy(&nigh__terms_options_shape, &indexing.options, options, error);
    if (status != NIGH_OK) return status;
    nigh__progress_init(&indexing.progress, indexing.options.progress);
    status = begin(&indexing, inputs, count, reading, error);
    if (status == NIGH_OK) status = add_groups(&indexing, error);
    if (status == NIGH_OK) status = nigh__terms_writer_commit(indexing.writer, &indexing.progress, error);
    if (info != NULL) describe(&indexing, info);
    end(&indexing);
    return status;
}
