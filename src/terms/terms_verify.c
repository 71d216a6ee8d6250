/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Reading documents again.  A group knows its inputs and, for each document, the number of its record
 * in all of them.  They are read as when they were indexed, up to the last record that matters, and
 * only records that matter are looked into:
 *
 *     inputs      | a.jsonl | b.warc.gz | c/ |      must be what they were: size and time; a file may be longer
 *     records     0 . . 3 . . . 7 . . . . 12        . are split off and thrown away
 *                       |       |         |
 *     threads           terms -> holds?   -> one after the other: kept or not
 *
 * What has changed in spite of the same size and time, or is read with other keys, is noticed where a
 * document is no more, has another number of blocks, or has a word its filters do not.
 *
 * Cost: that of splitting the inputs; analysing the few that matter is little beside it.
 */
#include "terms/terms_verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/status.h"
#include "document/document_options.h"
#include "document/pipeline.h"
#include "terms/terms_grown.h"

#define TRIED_TERMS 16u   /* of a document: whether its filters have them */
#define SHOWN_BYTES 1024u /* of a name */

/* A term of the query. */
struct sought {
    uint64_t hash;
    uint32_t term;
};

struct verifying {
    const nigh_terms *terms;
    const struct nigh__query *query;
    struct sought *sought; /* its terms, by their hashes */
    nigh_context context;  /* a reader wants one that is not constant; this one's allocator and files are the same */
    nigh_text_reader_options reading;
    struct nigh__grown grown;     /* inputs of the group that are longer than they were */
    nigh_context reading_context; /* in which they are not */
    const nigh_terms_query *asked;
    uint32_t group; /* at hand */
    const uint64_t *documents;
    uint64_t *records; /* of each of these, ascending */
    size_t count;
};

struct verdict {
    bool holds;
    bool strange; /* it is not the document that was indexed */
};

/* ------------------------------------------------------------------ terms -- */

static int sought_compare(const void *a, const void *b) {
    const uint64_t x = ((const struct sought *)a)->hash;
    const uint64_t y = ((const struct sought *)b)->hash;
    return (x > y) - (x < y);
}

static void sort_sought(struct verifying *verifying) {
    const size_t count = verifying->query->hashes.count;
    for (size_t i = 0; i < count; i++)
        verifying->sought[i] = (struct sought){.hash = nigh__query_hashes(verifying->query)[i], .term = (uint32_t)i};
    qsort(verifying->sought, count, sizeof *verifying->sought, sought_compare);
}

/* ---------------------------------------------------------------- records -- */

/* Which of the documents has that record; `count`: none. */
static size_t find_record(const struct verifying *verifying, uint64_t record) {
    size_t low = 0;
    size_t high = verifying->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (verifying->records[middle] < record)
            low = middle + 1;
        else
            high = middle;
    }
    return low < verifying->count && verifying->records[low] == record ? low : verifying->count;
}

static bool wanted(void *user, uint64_t number) {
    const struct verifying *verifying = user;
    return find_record(verifying, number) < verifying->count;
}

static nigh_status fill_records(struct verifying *verifying, nigh_error *error) {
    const char *path = nigh__terms_group(verifying->terms, verifying->group)->path;
    char source[1]; /* nobody asks for it yet */
    size_t length;
    for (size_t i = 0; i < verifying->count; i++) {
        nigh_status status = nigh__terms_origin(verifying->terms, verifying->documents[i], &verifying->records[i],
                                                source, sizeof source, &length, error);
        if (status != NIGH_OK) return status;
        if (i > 0 && verifying->records[i] <= verifying->records[i - 1])
            return nigh__fail_at(error, NIGH_ECORRUPT, path, NIGH_NO_OFFSET, "the records of documents do not ascend");
    }
    return NIGH_OK;
}

/* The document is not there, or is another. */
static nigh_status fail_changed(const struct verifying *verifying, size_t index, nigh_error *error) {
    char source[SHOWN_BYTES] = "";
    size_t length;
    uint64_t record;
    nigh_status status = nigh__terms_origin(verifying->terms, verifying->documents[index], &record, source,
                                            sizeof source, &length, error);
    if (status != NIGH_OK) return status;
    const nigh_text_reader_options *before = nigh__terms_group(verifying->terms, verifying->group)->reading;
    if (before->max_document_bytes > verifying->reading.max_document_bytes ||
        before->max_depth > verifying->reading.max_depth)
        return nigh__because(
            error, NIGH_REASON_MAX_DOCUMENT,
            nigh__fail_at(error, NIGH_ELIMIT, source, NIGH_NO_OFFSET,
                          "record %llu was indexed with larger limits, of %llu bytes a document and %u levels",
                          (unsigned long long)record, (unsigned long long)before->max_document_bytes,
                          before->max_depth));
    return nigh__fail_at(error, NIGH_EMISMATCH, source, NIGH_NO_OFFSET,
                         "record %llu is not the document that was indexed, or is read with other keys",
                         (unsigned long long)record);
}

/* ------------------------------------------------------------------- work -- */

struct verify_worker {
    const struct verifying *verifying;
    struct nigh__featurer *featurer;
    bool *present; /* by term of the query */
};

static void worker_free(void *user, void *given) {
    const struct verifying *verifying = user;
    struct verify_worker *worker = given;
    if (worker == NULL) return;
    nigh__featurer_free(worker->featurer);
    nigh__free(&verifying->context, worker->present);
    nigh__free(&verifying->context, worker);
}

static nigh_status worker_new(void *user, void **out, nigh_error *error) {
    const struct verifying *verifying = user;
    struct verify_worker *worker = nigh__alloc_zero(&verifying->context, 1, sizeof *worker);
    *out = worker;
    if (worker == NULL) return nigh__no_memory(error, "to verify documents");
    worker->verifying = verifying;
    worker->present = nigh__alloc(&verifying->context, verifying->query->hashes.count, sizeof *worker->present);
    if (worker->present == NULL) return nigh__no_memory(error, "to verify documents");
    return nigh__featurer_new(&verifying->context, nigh__terms_plan(verifying->terms), &worker->featurer, error);
}

/* Which terms of the query the document has: both may be many, so each of the document is looked up. */
static void find_present(const struct verify_worker *worker, const struct nigh__features *features) {
    const struct verifying *verifying = worker->verifying;
    const size_t count = verifying->query->hashes.count;
    memset(worker->present, 0, count * sizeof *worker->present);
    for (size_t i = 0; i < features->count; i++) {
        const struct sought key = {.hash = features->hashes[i]};
        const struct sought *found = bsearch(&key, verifying->sought, count, sizeof key, sought_compare);
        if (found != NULL) worker->present[found->term] = true;
    }
}

static bool block_has(const struct nigh__term_group *group, const struct nigh__term_place *place, uint32_t block) {
    for (uint32_t i = 0; i < place->count; i++) {
        const uint8_t *row = group->rows + place->positions[i] * group->row_bytes;
        if ((row[block / 8] >> block % 8 & 1) == 0) return false;
    }
    return true;
}

static bool any_has(const struct nigh__term_group *group, const struct nigh__term_place *place, uint32_t first,
                    uint32_t end) {
    while (first < end && !block_has(group, place, first)) first++;
    return first < end;
}

/* Whether one of the blocks has all positions.  False also where the file was cut. */
static bool filters_have(const struct nigh__term_group *group, const struct nigh__term_place *place, uint32_t first,
                         uint32_t end) {
    if (place->kind == NIGH__TERM_SINGLE) return first <= place->block && place->block < end;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, group->map, group->map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    const bool has = any_has(group, place, first, end);
    nigh__guard_leave(&guard);
    return has;
}

/* Whether what was read can be what was indexed: as many blocks, and some of its terms are where they should be. */
static nigh_status compare(const struct verifying *verifying, uint64_t document, const struct nigh__features *features,
                           bool *strange, nigh_error *error) {
    const nigh_terms *terms = verifying->terms;
    const struct nigh__term_group *group = nigh__terms_group(terms, verifying->group);
    const uint32_t within = (uint32_t)(document - group->first_document);
    const size_t most = nigh__terms_block_terms(terms);
    uint32_t first = 0;
    uint32_t end = 0;
    nigh_status status = nigh__terms_first_block(terms, verifying->group, within, &first, error);
    if (status == NIGH_OK) status = nigh__terms_first_block(terms, verifying->group, within + 1, &end, error);
    *strange = first > end || features->count / most + (features->count % most > 0) != end - first;
    /* Of a file that has grown neither size nor time tell whether it is the same. */
    const size_t tried = verifying->grown.any ? features->count : nigh__smaller(features->count, TRIED_TERMS);
    for (size_t i = 0; i < tried && status == NIGH_OK && !*strange; i++) {
        struct nigh__term_place place;
        bool found = false;
        const uint64_t hash = features->hashes[features->count * i / tried];
        status = nigh__terms_find(terms, verifying->group, hash, &found, &place, error);
        *strange = status == NIGH_OK && !(found && filters_have(group, &place, first, end));
    }
    return status;
}

static nigh_status work(void *given, const nigh_text *text, struct nigh__array *product, nigh_error *error) {
    struct verify_worker *worker = given;
    const struct verifying *verifying = worker->verifying;
    struct nigh__features features;
    struct verdict verdict = {.strange = false};
    const size_t index = find_record(verifying, text->number);
    nigh_status status = nigh__featurer_find(worker->featurer, text->text, text->text_length, &features, error);
    if (status == NIGH_OK && index < verifying->count)
        status = compare(verifying, verifying->documents[index], &features, &verdict.strange, error);
    if (status != NIGH_OK) return status;
    find_present(worker, &features);
    verdict.holds = nigh__query_holds(verifying->query, worker->present);
    uint8_t *place = nigh__array_add(&verifying->context, product, sizeof verdict);
    if (place == NULL) return nigh__no_memory(error, "to verify documents");
    memcpy(place, &verdict, sizeof verdict);
    return NIGH_OK;
}

/* ----------------------------------------------------------------- groups -- */

/* Takes the verdicts as they come.  Kept documents go to `kept`, which may be where the documents are. */
static nigh_status take_verdicts(struct verifying *verifying, struct nigh__pipeline *pipeline, uint64_t *kept,
                                 size_t *kept_count, uint64_t most, nigh_error *error) {
    for (size_t next = 0; next < verifying->count && *kept_count < most; next++) {
        struct nigh__product product;
        struct verdict verdict;
        nigh_status status = nigh__pipeline_next(pipeline, &product, error);
        if (status == NIGH_END) return fail_changed(verifying, next, error);
        if (status != NIGH_OK) return status;
        memcpy(&verdict, product.bytes, sizeof verdict);
        if (verdict.strange || product.text.number != verifying->records[next])
            return fail_changed(verifying, next, error);
        if (verdict.holds) kept[(*kept_count)++] = verifying->documents[next];
    }
    return NIGH_OK;
}

static nigh_status look_at(struct verifying *verifying, const struct nigh__term_group *group, uint32_t index,
                           nigh_error *error) {
    const struct nigh__term_input *input = &group->inputs[index];
    const nigh_terms_query *asked = verifying->asked;
    bool grown = false;
    nigh_status status = NIGH_OK;
    if (input->kind != NIGH__INPUT_ONCE)
        status = nigh__term_input_allowed(&verifying->context, nigh__terms_path(verifying->terms), asked->roots,
                                          asked->root_count, input, error);
    if (status == NIGH_OK)
        status = nigh__term_input_check(&verifying->context, input, &verifying->reading, &grown, error);
    if (grown) nigh__grown_add(&verifying->grown, index);
    return status;
}

static nigh_status open_inputs(struct verifying *verifying, nigh_text_reader **out, nigh_error *error) {
    const struct nigh__term_group *group = nigh__terms_group(verifying->terms, verifying->group);
    const char **paths = nigh__alloc(&verifying->context, group->input_count, sizeof *paths);
    nigh_status status =
        nigh__grown_init(&verifying->context, group->inputs, group->input_count, &verifying->grown, error);
    if (paths == NULL) status = nigh__no_memory(error, "to verify documents");
    for (uint32_t i = 0; i < group->input_count && status == NIGH_OK; i++) {
        paths[i] = group->inputs[i].path;
        status = look_at(verifying, group, i, error);
    }
    verifying->reading_context = verifying->context;
    if (verifying->grown.any) verifying->reading_context.files = &verifying->grown.table;
    if (status == NIGH_OK)
        status = nigh_text_reader_open(&verifying->reading_context, paths, group->input_count, &verifying->reading, out,
                                       error);
    nigh__free(&verifying->context, paths);
    return status;
}

static nigh_status verify_group(struct verifying *verifying, uint64_t *kept, size_t *kept_count, uint64_t most,
                                nigh_error *error) {
    nigh_text_reader *reader = NULL;
    struct nigh__pipeline *pipeline = NULL;
    const struct nigh__pipeline_work steps = {verifying, worker_new, worker_free, work, wanted};
    nigh_status status = fill_records(verifying, error);
    if (status == NIGH_OK) status = open_inputs(verifying, &reader, error);
    if (status == NIGH_OK)
        status = nigh__pipeline_open(reader, &steps, verifying->asked->threads, verifying->asked->progress, &pipeline,
                                     error);
    if (status == NIGH_OK) status = take_verdicts(verifying, pipeline, kept, kept_count, most, error);
    nigh__pipeline_close(pipeline);
    nigh_text_reader_close(reader);
    nigh__grown_release(&verifying->grown);
    verifying->grown = (struct nigh__grown){.count = 0};
    return status;
}

/*
 * Limits are the caller's: a file that set its own would have none.  Problems were told when the documents were
 * indexed; one in a document that matters shows as it being no more.
 */
static nigh_status set_reading(struct verifying *verifying, nigh_error *error) {
    nigh_text_reader_options *reading = &verifying->reading;
    nigh_text_reader_options asked;
    const nigh_status status =
        nigh__options_copy(&nigh__text_reader_options_shape, &asked, verifying->asked->reading, error);
    *reading = *nigh__terms_group(verifying->terms, verifying->group)->reading;
    reading->follow = reading->follow && asked.follow; /* links lead out of the roots */
    reading->max_depth = asked.max_depth;
    reading->max_document_bytes = asked.max_document_bytes;
    reading->max_expansion = asked.max_expansion;
    reading->max_expansion_free = asked.max_expansion_free;
    reading->max_members = asked.max_members;
    if (asked.format != NIGH_TEXT_AUTO) reading->format = asked.format;
    if (asked.text_key != NULL) reading->text_key = asked.text_key;
    if (asked.id_key != NULL) reading->id_key = asked.id_key;
    reading->problem = NULL;
    reading->strict = 0;
    reading->max_errors = NIGH_ALL_64;
    reading->stream = NULL;
    reading->shard = reading->shards = 0;
    reading->score_key = reading->label_key = reading->part_key = NULL;
    return status;
}

/* How many of the documents are of the group of the first. */
static size_t count_in_group(const struct verifying *verifying, const uint64_t *documents, size_t count) {
    const struct nigh__term_group *group = nigh__terms_group(verifying->terms, verifying->group);
    size_t within = 1;
    while (within < count && documents[within] - group->first_document < group->documents) within++;
    return within;
}

nigh_status nigh__terms_verify(const nigh_terms *terms, const struct nigh__query *query, const nigh_terms_query *asked,
                               struct nigh__array *documents, nigh_error *error) {
    struct verifying verifying = {
        .terms = terms, .query = query, .context = *nigh__terms_context(terms), .asked = asked};
    uint64_t *all = documents->data;
    const uint64_t most = asked->limit == 0 ? UINT64_MAX : asked->limit;
    size_t kept = 0;
    nigh_status status = NIGH_OK;
    verifying.records = nigh__alloc(&verifying.context, documents->count, sizeof *verifying.records);
    verifying.sought = nigh__alloc(&verifying.context, query->hashes.count, sizeof *verifying.sought);
    if (verifying.records == NULL || verifying.sought == NULL)
        status = nigh__no_memory(error, "to verify documents");
    else
        sort_sought(&verifying);
    for (size_t at = 0; at < documents->count && kept < most && status == NIGH_OK; at += verifying.count) {
        verifying.group = nigh__terms_group_of(terms, all[at]);
        verifying.documents = all + at;
        verifying.count = count_in_group(&verifying, all + at, documents->count - at);
        status = set_reading(&verifying, error);
        if (status == NIGH_OK) status = verify_group(&verifying, all, &kept, most, error);
    }
    nigh__free(&verifying.context, verifying.records);
    nigh__free(&verifying.context, verifying.sought);
    documents->count = kept;
    return status;
}
