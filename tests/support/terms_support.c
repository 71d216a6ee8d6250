/* SPDX-License-Identifier: Apache-2.0 */
#include "support/terms_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/filter_support.h"
#include "support/support.h"

static const nigh_signer_options plain = {
    .size = sizeof(nigh_signer_options), .stemming = 0, .stop_words = 0, .language = "none", .seed = 5};

nigh_terms_options terms_options(nigh_filter_kind kind) {
    nigh_terms_options options;
    nigh_terms_options_init(&options);
    options.kind = kind;
    options.block_terms = 5;
    options.bits_per_term = 8;
    options.analysis = &plain;
    options.threads = 1;
    return options;
}

nigh_status terms_add_lines(nigh_context *context, const char *path, const char *input, const char *text,
                            const nigh_terms_options *options, nigh_terms_info *info, nigh_error *error) {
    const nigh_terms_options usual = terms_options(NIGH_FILTER_HYBRID);
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    reading.format = NIGH_TEXT_LINES;
    file_write_all(input, text, strlen(text));
    return nigh_terms_index(context, path, &input, 1, &reading, options == NULL ? &usual : options, info, error);
}

bool terms_block_has(const nigh_terms *terms, uint32_t group, uint32_t block, uint64_t hash) {
    const struct nigh__term_group *shown = nigh__terms_group(terms, group);
    struct nigh__term_place place;
    bool found;
    nigh_error error;
    assert_ok(nigh__terms_find(terms, group, hash, &found, &place, &error), &error);
    if (!found) return false;
    if (place.kind == NIGH__TERM_SINGLE) return place.block == block;
    for (uint32_t j = 0; j < place.count; j++)
        if ((shown->rows[place.positions[j] * shown->row_bytes + block / 8] >> block % 8 & 1) == 0) return false;
    return true;
}

static bool document_has(const nigh_terms *terms, uint64_t document, uint64_t hash) {
    const uint32_t group = nigh__terms_group_of(terms, document);
    const uint32_t within = (uint32_t)(document - nigh__terms_group(terms, group)->first_document);
    uint32_t begin, end, owner;
    nigh_error error;
    assert_ok(nigh__terms_first_block(terms, group, within, &begin, &error), &error);
    assert_ok(nigh__terms_first_block(terms, group, within + 1, &end, &error), &error);
    bool has = false;
    for (uint32_t block = begin; block < end; block++) {
        assert_ok(nigh__terms_document_of(terms, group, block, &owner, &error), &error);
        assert_int_equal(owner, within);
        has |= terms_block_has(terms, group, block, hash);
    }
    return has;
}

void terms_expect_lines(const nigh_terms *terms, const char *text) {
    struct nigh__featurer *featurer;
    struct nigh__features features;
    nigh_error error;
    assert_ok(nigh__featurer_new(nigh__terms_context(terms), nigh__terms_plan(terms), &featurer, &error), &error);
    uint64_t document = 0;
    for (const char *line = text; *line != '\0'; document++) {
        const size_t length = (size_t)(strchr(line, '\n') - line);
        assert_ok(nigh__featurer_find(featurer, line, length, &features, &error), &error);
        for (size_t i = 0; i < features.count; i++) assert_true(document_has(terms, document, features.hashes[i]));
        line += length + 1;
    }
    nigh_terms_info info = {.size = sizeof info};
    nigh_terms_describe(terms, &info);
    assert_int_equal(info.documents, document);
    nigh__featurer_free(featurer);
}

static nigh_status add_text(struct nigh__terms_writer *writer, const struct nigh__blocks *blocks, nigh_error *error) {
    static const struct nigh__term_input input = {
        .path = "input.txt", .kind = NIGH__INPUT_FILE, .size = 123, .seconds = 1000000000, .nanoseconds = 5};
    const struct nigh__terms_about about = {
        .block_terms = 5, .expected_error = 0.125, .inputs = &input, .input_count = 1};
    const struct nigh__filter_shape shape = {
        .kind = NIGH_FILTER_HYBRID, .bits = 41, .hashes = 6, .frequent_hashes = 2, .theta = 9, .seed = 5};
    const nigh_terms *terms = nigh__terms_writer_terms(writer);
    struct nigh__terms_knower knower = {.terms = terms, .error = {.status = NIGH_OK}};
    const struct nigh__known_positions known = {.user = &knower, .find = terms == NULL ? NULL : nigh__terms_known};
    struct nigh__positions *positions;
    struct nigh__progress progress;
    uint64_t first_block = 0;
    nigh__progress_init(&progress, NULL);
    for (uint32_t i = 0; terms != NULL && i < nigh__terms_groups(terms); i++)
        first_block += nigh__terms_group(terms, i)->blocks;
    nigh_status status = nigh__positions_make(blocks, &shape, first_block, &known, 1, &progress, &positions, error);
    if (status == NIGH_OK) status = nigh__terms_writer_add(writer, blocks, positions, &about, 1, &progress, error);
    nigh__positions_free(positions);
    return status;
}

nigh_status terms_write_texts(nigh_context *context, const char *path, const char *const *texts, size_t count,
                              nigh_error *error) {
    nigh_context *healthy = context_new();
    struct nigh__terms_writer *writer;
    struct nigh__progress progress;
    nigh__progress_init(&progress, NULL);
    nigh_status status = nigh__terms_writer_open(context, path, &writer, error);
    for (size_t i = 0; i < count && status == NIGH_OK; i++) {
        struct nigh__blocks *blocks = blocks_of_lines(healthy, texts[i], 5);
        status = add_text(writer, blocks, error);
        nigh__blocks_free(blocks);
    }
    if (status == NIGH_OK) status = nigh__terms_writer_commit(writer, &progress, error);
    nigh__terms_writer_close(writer);
    nigh_context_free(healthy);
    return status;
}

static void read_documents(const nigh_terms *terms, uint64_t documents) {
    char buffer[300];
    size_t length;
    uint64_t record;
    for (uint64_t i = 0; i < documents && i < 2000; i++) {
        (void)nigh_terms_id(terms, i, buffer, sizeof buffer, &length, NULL);
        (void)nigh__terms_origin(terms, i, &record, buffer, sizeof buffer, &length, NULL);
    }
    (void)nigh_terms_id(terms, documents, buffer, sizeof buffer, &length, NULL);
}

static void read_group(const nigh_terms *terms, uint32_t group) {
    const struct nigh__term_group *shown = nigh__terms_group(terms, group);
    struct nigh__term_place place;
    uint32_t ignored;
    bool found;
    for (uint32_t i = 0; i <= shown->documents && i < 2000; i++)
        (void)nigh__terms_first_block(terms, group, i, &ignored, NULL);
    for (uint32_t i = 0; i < shown->blocks && i < 2000; i++)
        (void)nigh__terms_document_of(terms, group, i, &ignored, NULL);
    /* Hashes that are there, if the file has any, and those that are not. */
    for (uint64_t at = 4096; at + 8 <= shown->map_length && at < 65536; at += 8) {
        uint64_t hash;
        memcpy(&hash, shown->map + at, sizeof hash);
        struct nigh__term_walk walk = {.hash = hash};
        (void)nigh__terms_walk(terms, group, &walk, &found, &place, NULL);
        if (nigh__terms_find(terms, group, hash + (at & 8), &found, &place, NULL) != NIGH_OK || !found) continue;
        if (place.kind == NIGH__TERM_SINGLE && place.block >= shown->blocks) abort();
        for (uint32_t j = 0; j < place.count; j++)
            if (place.positions[j] >= nigh__terms_shape(terms)->bits) abort();
    }
}

/* By words of the seeds, so that some are there; whatever comes of it ascends and is one of the documents. */
static void search(const nigh_terms *terms, uint64_t documents) {
    static const char *const queries[] = {"red",
                                          "red green",
                                          "blue",
                                          "lone OR green",
                                          "grey blue red OR w3",
                                          "red green blue grey cyan white lone",
                                          "c1 c2 OR c3 OR c4 c5 c6"};
    for (size_t q = 0; q < sizeof queries / sizeof queries[0]; q++) {
        nigh_terms_query query;
        nigh_terms_query_init(&query);
        nigh_terms_answer *answer;
        size_t count;
        query.text = queries[q];
        if (nigh_terms_search(terms, &query, &answer, NULL) != NIGH_OK) continue;
        const uint64_t *found = nigh_terms_answer_documents(answer, &count);
        for (size_t i = 0; i < count; i++)
            if (found[i] >= documents || (i > 0 && found[i] <= found[i - 1])) abort();
        nigh_terms_answer_free(answer);
    }
}

nigh_status terms_read_everything(nigh_context *context, const char *path, nigh_error *error) {
    nigh_terms *terms;
    (void)nigh_terms_check(context, path, NULL, NULL, NULL);
    nigh_status status = nigh_terms_open(context, path, NULL, &terms, error);
    if (status != NIGH_OK) return status;
    nigh_terms_info info = {.size = sizeof info};
    nigh_terms_describe(terms, &info);
    read_documents(terms, info.documents);
    for (uint32_t i = 0; i < info.groups; i++) read_group(terms, i);
    search(terms, info.documents);
    nigh_terms_close(terms);
    return NIGH_OK;
}
