/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents of a caller's source, each a record like a whole file: it is text already,
 * and its id takes the place of the path.  Where the source is read several times, a
 * hash of every block of documents goes into the ledger, as the look of a file does.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "base/value.h"
#include "document/document_options.h"
#include "document/split_parts.h"
#include "document/utf8.h"

#define PRINT_DOCUMENTS 64u /* in a block: 8 bytes of the ledger for so many documents */

static const struct nigh__split_format source_format = {NIGH_TEXT_PLAIN, NIGH__RECORD_GIVEN, nigh__split_source, false};

/* The status is the caller's word; the error too, unless it was left as it was. */
static nigh_status source_failed(nigh_status status, const char *verb, nigh_error *error) {
    if (error->status == NIGH_OK) (void)nigh__fail(error, status, "the source could not be %s", verb);
    error->status = status;
    return status;
}

nigh_status nigh__split_source_open(struct nigh__splitter *splitter, const nigh_source *source, nigh_error *error) {
    nigh_status status = nigh__source_copy(&splitter->given, source, error);
    if (status != NIGH_OK) return status;
    const nigh_source *given = &splitter->given;
    splitter->format = &source_format;
    splitter->formats = 1u << (unsigned)NIGH_TEXT_PLAIN;
    if (given->documents != NIGH__UNSET_64) splitter->records_total = given->documents;
    nigh_error why = {0};
    status = given->rewind == NULL ? NIGH_OK : given->rewind(given->user, &why);
    if (status == NIGH_OK) return NIGH_OK;
    (void)source_failed(status, "rewound", &why);
    if (error != NULL) *error = why;
    return status;
}

/* ----------------------------------------------------------------- prints */

static nigh_status print_close(struct nigh__splitter *splitter, nigh_error *error) {
    if (splitter->ledger == NULL) return NIGH_OK;
    return nigh__ledger_file(splitter->ledger, splitter->printed++, NIGH__SOURCE_NAME, splitter->print, error);
}

/* All that decides on a document, also of those that another shard has. */
static nigh_status print_add(struct nigh__splitter *splitter, const nigh_text *text, nigh_error *error) {
    if (splitter->ledger == NULL) return NIGH_OK;
    splitter->print = nigh__hash_seeded(&text->score, sizeof text->score, splitter->print);
    splitter->print = nigh__hash_seeded(text->id, text->id_length, splitter->print);
    splitter->print = nigh__hash_seeded(text->text, text->text_length, splitter->print);
    return (splitter->records + 1) % PRINT_DOCUMENTS == 0 ? print_close(splitter, error) : NIGH_OK;
}

/* --------------------------------------------------------------- documents */

static nigh_status source_next(struct nigh__splitter *splitter, nigh_text *out, nigh_error *error) {
    *out = (nigh_text){.size = sizeof *out, .offset = NIGH_NO_OFFSET, .score = -(double)INFINITY};
    error->status = NIGH_OK;
    nigh_status status = splitter->given.next(splitter->given.user, out, error);
    return status == NIGH_OK || status == NIGH_END ? status : source_failed(status, "read", error);
}

/* As many as keys to keep, or none, and each of them sound: it is the caller's mistake where they are not. */
static nigh_status values_check(const struct nigh__splitter *splitter, nigh_text *text, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (text->values == NULL) text->value_count = 0;
    if (text->value_count != 0 && text->value_count != splitter->options.keep_key_count)
        return nigh__fail(error, NIGH_EINVAL, "a document with %u values, where %zu keys are kept", text->value_count,
                          splitter->options.keep_key_count);
    for (uint32_t i = 0; i < text->value_count && status == NIGH_OK; i++)
        status = nigh__value_check(&text->values[i], error);
    return status;
}

/* What is not there has no length; an id that is not there is that of the place, the number.  Whether it is. */
static bool text_complete(struct nigh__splitter *splitter, nigh_text *text) {
    if (text->text == NULL) text->text = "", text->text_length = 0;
    if (text->label == NULL) text->label = "", text->label_length = 0;
    if (text->part == NULL) text->part = "", text->part_length = 0;
    if (isnan(text->score)) text->score = -(double)INFINITY;
    const bool placed = text->id == NULL || text->id_length == 0;
    if (placed) {
        const struct nigh__digits *digits = &splitter->digits;
        nigh__digits_set(&splitter->digits, splitter->records);
        text->id = digits->text + digits->first;
        text->id_length = NIGH__ID_DIGITS - digits->first;
    }
    if (text->id_length > NIGH_MAX_ID_LENGTH) text->id_length = nigh__utf8_cut(text->id, NIGH_MAX_ID_LENGTH);
    return placed;
}

/* What messages call it: no longer than fits into one. */
static nigh_status name_set(struct nigh__splitter *splitter, const nigh_text *text, nigh_error *error) {
    const char *from = text->source != NULL ? text->source : text->id;
    size_t length = text->source != NULL ? strlen(text->source) : text->id_length;
    if (length >= sizeof error->file) length = sizeof error->file - 1;
    splitter->name.count = 0;
    splitter->source = SIZE_MAX;
    char *name = nigh__array_add(splitter->context, &splitter->name, length + 1);
    if (name == NULL) return nigh__no_memory(error, "for a name");
    memcpy(name, from, length);
    name[length] = '\0';
    return NIGH_OK;
}

/* Before the text, see struct nigh__given; the record begins behind it. */
static nigh_status given_add(struct nigh__splitter *splitter, const nigh_text *text, nigh_error *error) {
    if (!splitter->pending.wanted) return NIGH_OK;
    const struct nigh__given given = {.score = text->score,
                                      .label_length = text->label_length,
                                      .part_length = text->part_length,
                                      .values_length = nigh__values_size(text->values, text->value_count)};
    uint8_t *out =
        nigh__split_bytes(splitter, given.label_length + given.part_length + given.values_length + sizeof given);
    if (out == NULL) return nigh__no_memory(error, "for a batch of documents");
    memcpy(out, text->label, given.label_length);
    memcpy(out + given.label_length, text->part, given.part_length);
    out += given.label_length + given.part_length;
    nigh__values_pack(text->values, text->value_count, out);
    memcpy(out + given.values_length, &given, sizeof given);
    splitter->pending.begin = splitter->batch->bytes.count;
    return NIGH_OK;
}

static nigh_status document_add(struct nigh__splitter *splitter, const nigh_text *text, bool placed,
                                nigh_error *error) {
    const struct nigh__place place = {.offset = text->offset, .line = text->line};
    nigh_status status = name_set(splitter, text, error);
    if (status == NIGH_OK) status = nigh__pending_begin(splitter, error);
    if (status == NIGH_OK) status = given_add(splitter, text, error);
    if (status == NIGH_OK) status = nigh__pending_add(splitter, (const uint8_t *)text->text, text->text_length, error);
    if (status != NIGH_OK) return status;
    splitter->pending.placed = placed;
    return nigh__pending_finish(splitter, source_format.kind, text->id, text->id_length, place, error);
}

nigh_status nigh__split_source(struct nigh__splitter *splitter, nigh_error *error) {
    nigh_text text;
    nigh_status status = source_next(splitter, &text, error);
    if (status == NIGH_END) {
        status = print_close(splitter, error);
        return status == NIGH_OK ? NIGH_END : status;
    }
    if (status == NIGH_OK) status = values_check(splitter, &text, error);
    if (status != NIGH_OK) return status;
    const bool placed = text_complete(splitter, &text);
    splitter->bytes_read += text.text_length;
    status = print_add(splitter, &text, error);
    return status == NIGH_OK ? document_add(splitter, &text, placed, error) : status;
}
