/* SPDX-License-Identifier: Apache-2.0 */
/* Writing values; values.h draws them.  Codes are given in the order in which values come, and sorted at the end. */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/keep_keys.h"
#include "base/memory.h"
#include "base/secret.h"
#include "base/status.h"
#include "collection/values.h"

/* A distinct value, in the order in which they came. */
struct entry {
    uint64_t bits; /* of a number; of a text where it begins */
    uint32_t length;
    uint32_t type;
};

struct column {
    struct nigh__array entries; /* of struct entry */
    struct nigh__array texts;   /* of char */
    struct nigh__array codes;   /* of uint32_t: the number of an entry and 1; 0: nothing */
    struct nigh__hash_table table;
};

struct nigh__values_writer {
    const nigh_context *context;
    uint64_t secret;
    uint32_t keys;
    struct column columns[NIGH_MAX_KEEP_KEYS];
};

static nigh_status no_memory(nigh_error *error) { return nigh__no_memory(error, "for the values of a segment"); }

nigh_status nigh__values_writer_new(const nigh_context *context, const char *scheme, struct nigh__values_writer **out,
                                    nigh_error *error) {
    const uint32_t keys = nigh__keep_keys_count(scheme);
    *out = NULL;
    if (keys == 0) return NIGH_OK;
    struct nigh__values_writer *writer = nigh__alloc_zero(context, 1, sizeof *writer);
    if (writer == NULL) return no_memory(error);
    writer->context = context;
    writer->secret = nigh__secret();
    writer->keys = keys;
    bool made = true;
    for (uint32_t i = 0; i < keys; i++) {
        struct column *column = &writer->columns[i];
        column->entries = (struct nigh__array)NIGH__ARRAY(struct entry);
        column->texts = (struct nigh__array)NIGH__ARRAY(char);
        column->codes = (struct nigh__array)NIGH__ARRAY(uint32_t);
        made = made && nigh__hash_table_init(context, &column->table);
    }
    if (made)
        *out = writer;
    else
        nigh__values_writer_free(writer);
    return made ? NIGH_OK : no_memory(error);
}

void nigh__values_writer_free(struct nigh__values_writer *writer) {
    if (writer == NULL) return;
    for (uint32_t i = 0; i < writer->keys; i++) {
        struct column *column = &writer->columns[i];
        nigh__array_release(writer->context, &column->entries);
        nigh__array_release(writer->context, &column->texts);
        nigh__array_release(writer->context, &column->codes);
        nigh__hash_table_release(writer->context, &column->table);
    }
    nigh__free(writer->context, writer);
}

/* ------------------------------------------------------------------ adding -- */

nigh_status nigh__document_values_check(const nigh_document *document, uint32_t keys, nigh_error *error) {
    const uint32_t count = document->values == NULL ? 0 : document->value_count;
    nigh_status status = NIGH_OK;
    if (count != 0 && count != keys)
        return nigh__fail(error, NIGH_EINVAL, "a document with %u values, where %u keys are kept", count, keys);
    for (uint32_t i = 0; i < count && status == NIGH_OK; i++) status = nigh__value_check(&document->values[i], error);
    return status;
}

static nigh_value value_of(const struct column *column, const struct entry *entry) {
    nigh_value value = {.type = (nigh_value_type)entry->type, .length = entry->length};
    if (entry->type == NIGH_VALUE_TEXT) value.text = (const char *)column->texts.data + entry->bits;
    if (entry->type == NIGH_VALUE_INTEGER) memcpy(&value.integer, &entry->bits, sizeof value.integer);
    if (entry->type == NIGH_VALUE_REAL) memcpy(&value.real, &entry->bits, sizeof value.real);
    return value;
}

static uint64_t hash_of(const nigh_value *value, uint64_t secret) {
    if (value->type == NIGH_VALUE_TEXT) return nigh__hash_seeded(value->text, value->length, secret);
    if (value->type == NIGH_VALUE_REAL) return nigh__hash_seeded(&value->real, sizeof value->real, ~secret);
    return nigh__hash_seeded(&value->integer, sizeof value->integer, secret);
}

static bool add_entry(const struct nigh__values_writer *writer, struct column *column, const nigh_value *value,
                      uint64_t hash) {
    struct entry entry = {.length = value->length, .type = (uint32_t)value->type};
    if (value->type == NIGH_VALUE_INTEGER) memcpy(&entry.bits, &value->integer, sizeof entry.bits);
    if (value->type == NIGH_VALUE_REAL) memcpy(&entry.bits, &value->real, sizeof entry.bits);
    if (value->type == NIGH_VALUE_TEXT) entry.bits = column->texts.count;
    if (value->type == NIGH_VALUE_TEXT &&
        !nigh__bytes_append(writer->context, &column->texts, value->text, value->length))
        return false;
    struct entry *place = nigh__array_add(writer->context, &column->entries, 1);
    if (place == NULL) return false;
    *place = entry;
    return nigh__hash_table_add(writer->context, &column->table, hash, (uint32_t)column->entries.count - 1);
}

/* The code of a value, which is added where it is new. */
static bool find_or_add(const struct nigh__values_writer *writer, struct column *column, const nigh_value *value,
                        uint32_t *code) {
    const uint64_t hash = hash_of(value, writer->secret);
    uint64_t cursor = nigh__hash_table_home(hash, column->table.capacity);
    uint32_t other = 0;
    while (nigh__hash_table_next(&column->table, hash, &cursor, &other)) {
        const nigh_value there = value_of(column, (const struct entry *)column->entries.data + other);
        *code = other + 1;
        if (nigh__value_order(&there, value) == 0) return true;
    }
    *code = (uint32_t)column->entries.count + 1;
    return add_entry(writer, column, value, hash);
}

nigh_status nigh__values_writer_add(struct nigh__values_writer *writer, const nigh_document *document,
                                    nigh_error *error) {
    if (writer == NULL) return NIGH_OK;
    const bool some = document->values != NULL && document->value_count == writer->keys;
    for (uint32_t i = 0; i < writer->keys; i++) {
        struct column *column = &writer->columns[i];
        const nigh_value value = some ? nigh__value_normal(document->values[i]) : (nigh_value){.type = NIGH_VALUE_NONE};
        uint32_t code = 0;
        if (value.type != NIGH_VALUE_NONE && !find_or_add(writer, column, &value, &code)) return no_memory(error);
        uint32_t *place = nigh__array_add(writer->context, &column->codes, 1);
        if (place == NULL) return no_memory(error);
        *place = code;
    }
    return NIGH_OK;
}

/* ----------------------------------------------------------------- sorting -- */

struct sorted {
    nigh_value value;
    uint32_t code; /* as they came */
};

static int by_value(const void *a, const void *b) {
    const struct sorted *x = a;
    const struct sorted *y = b;
    return nigh__value_order(&x->value, &y->value);
}

/* What is written of a column. */
struct laid_out {
    struct sorted *sorted; /* owned */
    uint32_t *new_codes;   /* owned: of codes as they came */
    struct nigh__values_head head;
    uint32_t width;
};

static void lay_out_release(const nigh_context *context, struct laid_out *out) {
    nigh__free(context, out->sorted);
    nigh__free(context, out->new_codes);
}

static bool lay_out(const nigh_context *context, const struct column *column, struct laid_out *out) {
    const struct entry *entries = column->entries.data;
    const uint32_t count = (uint32_t)column->entries.count;
    *out = (struct laid_out){.head = {.text_length = column->texts.count}};
    out->sorted = nigh__alloc(context, count, sizeof *out->sorted);
    out->new_codes = nigh__alloc_zero(context, (size_t)count + 1, sizeof *out->new_codes);
    if (out->sorted == NULL || out->new_codes == NULL) return false;
    for (uint32_t i = 0; i < count; i++) {
        out->sorted[i] = (struct sorted){.value = value_of(column, &entries[i]), .code = i + 1};
        out->head.integers += entries[i].type == NIGH_VALUE_INTEGER;
        out->head.reals += entries[i].type == NIGH_VALUE_REAL;
        out->head.texts += entries[i].type == NIGH_VALUE_TEXT;
    }
    if (count > 1) qsort(out->sorted, count, sizeof *out->sorted, by_value);
    for (uint32_t i = 0; i < count; i++) out->new_codes[out->sorted[i].code] = i + 1;
    out->width = nigh__values_code_width(count);
    return true;
}

/* ----------------------------------------------------------------- writing -- */

static nigh_status put(struct nigh__section_writer *sections, const void *bytes, size_t length, nigh_error *error) {
    return length == 0 ? NIGH_OK : nigh__output_add(&sections->output, bytes, length, error);
}

static nigh_status pad(struct nigh__section_writer *sections, uint64_t length, nigh_error *error) {
    static const uint8_t zeros[8];
    return put(sections, zeros, (size_t)(nigh__round_up(length, 8) - length), error);
}

static nigh_status put_texts(struct nigh__section_writer *sections, const struct laid_out *laid, nigh_error *error) {
    const uint32_t before = laid->head.integers + laid->head.reals;
    const uint32_t end = before + laid->head.texts;
    uint64_t offset = 0;
    nigh_status status = NIGH_OK;
    if (laid->head.texts == 0) return NIGH_OK;
    for (uint32_t i = before; i < end && status == NIGH_OK; i++) {
        status = put(sections, &offset, sizeof offset, error);
        offset += laid->sorted[i].value.length;
    }
    if (status == NIGH_OK) status = put(sections, &offset, sizeof offset, error);
    for (uint32_t i = before; i < end && status == NIGH_OK; i++)
        status = put(sections, laid->sorted[i].value.text, laid->sorted[i].value.length, error);
    return status == NIGH_OK ? pad(sections, offset, error) : status;
}

static nigh_status put_values(struct nigh__section_writer *sections, const struct laid_out *laid, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < laid->head.integers + laid->head.reals && status == NIGH_OK; i++) {
        const nigh_value *value = &laid->sorted[i].value;
        status = value->type == NIGH_VALUE_INTEGER ? put(sections, &value->integer, sizeof value->integer, error)
                                                   : put(sections, &value->real, sizeof value->real, error);
    }
    return status == NIGH_OK ? put_texts(sections, laid, error) : status;
}

static nigh_status put_codes(struct nigh__section_writer *sections, const struct column *column,
                             const struct laid_out *laid, nigh_error *error) {
    const uint32_t *codes = column->codes.data;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < column->codes.count && status == NIGH_OK; i++)
        status = put(sections, &laid->new_codes[codes[i]], laid->width, error);
    return status == NIGH_OK ? pad(sections, (uint64_t)column->codes.count * laid->width, error) : status;
}

static nigh_status write_all(const struct nigh__values_writer *writer, const struct laid_out *laid,
                             struct nigh__section_writer *sections, nigh_error *error) {
    const uint64_t keys = writer->keys;
    nigh_status status = nigh__section_begin(sections, NIGH__SECTION_VALUES, error);
    const uint64_t begin = nigh__output_length(&sections->output);
    if (status == NIGH_OK) status = put(sections, &keys, sizeof keys, error);
    for (uint32_t i = 0; i < writer->keys && status == NIGH_OK; i++)
        status = put(sections, &laid[i].head, sizeof laid[i].head, error);
    for (uint32_t i = 0; i < writer->keys && status == NIGH_OK; i++) {
        status = put_values(sections, &laid[i], error);
        if (status == NIGH_OK) status = put_codes(sections, &writer->columns[i], &laid[i], error);
    }
    if (status == NIGH_OK) nigh__section_end(sections, nigh__output_length(&sections->output) - begin);
    return status;
}

nigh_status nigh__values_writer_finish(struct nigh__values_writer *writer, struct nigh__section_writer *sections,
                                       nigh_error *error) {
    if (writer == NULL || writer->columns[0].codes.count == 0) return NIGH_OK;
    struct laid_out laid[NIGH_MAX_KEEP_KEYS] = {{.sorted = NULL}};
    bool made = true;
    for (uint32_t i = 0; i < writer->keys && made; i++) made = lay_out(writer->context, &writer->columns[i], &laid[i]);
    const nigh_status status = made ? write_all(writer, laid, sections, error) : no_memory(error);
    for (uint32_t i = 0; i < writer->keys; i++) lay_out_release(writer->context, &laid[i]);
    return status;
}
