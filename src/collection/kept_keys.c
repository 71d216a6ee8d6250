/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* The keys that a collection keeps, and what is under them: nigh_collection_key(), nigh_collection_value(). */
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/guard.h"
#include "base/hash.h"
#include "base/keep_keys.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/status.h"
#include "collection/collection.h"
#include "collection/selection.h"
#include "collection/values.h"

static nigh_status key_check(const nigh_collection *collection, uint32_t key, nigh_error *error) {
    const uint32_t count = nigh__keep_keys_count(nigh_collection_scheme(collection));
    if (key < count) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "there is no key %u: %u are kept", key, count);
}

nigh_status nigh_collection_value(const nigh_collection *collection, uint64_t document, uint32_t key, nigh_value *out,
                                  char *buffer, size_t capacity, nigh_error *error) {
    const struct nigh__segment *segment = NULL;
    struct nigh__value_column column;
    struct nigh__array room = NIGH__ARRAY(char);
    uint32_t within = 0;
    nigh_status status = key_check(collection, key, error);
    if (status == NIGH_OK) status = nigh__collection_locate(collection, document, &segment, &within, error);
    if (status == NIGH_OK) status = nigh__segment_column(segment, key, &column, error);
    if (status == NIGH_OK) status = nigh__segment_value(segment, &column, within, out, &room, error);
    if (status == NIGH_OK && out->type == NIGH_VALUE_TEXT) {
        if (capacity != 0) memcpy(buffer, out->text, out->length < capacity ? out->length : capacity);
        out->text = buffer;
    }
    nigh__array_release(collection->context, &room);
    return status;
}

/* ------------------------------------------------------------------ counting -- */

/* What stands for the distinct values of all segments: of a number itself, of a text a hash. */
struct distinct {
    struct nigh__array integers, reals, texts; /* of uint64_t */
    uint64_t documents;
};

struct visit {
    const struct nigh__segment *segment;
    const struct nigh__value_column *column;
    uint64_t *integers, *reals, *texts;
    uint64_t documents;
    uint32_t bad; /* a code whose value is malformed; 0: none */
};

/* There is room for as many of each type as the column said. */
static void put(uint64_t **at, uint64_t value) {
    NIGH__ASSERT(*at != NULL);
    *(*at)++ = value;
}

static uint64_t bits_of(double real) {
    uint64_t bits;
    memcpy(&bits, &real, sizeof bits);
    return bits;
}

/* Inside a guard. */
static void visit_values(struct visit *visit) {
    for (uint32_t code = 1; code <= nigh__column_values(visit->column) && visit->bad == 0; code++) {
        nigh_value value;
        if (!nigh__column_value(visit->column, code, &value)) {
            visit->bad = code;
            return;
        }
        if (value.type == NIGH_VALUE_INTEGER) put(&visit->integers, (uint64_t)value.integer);
        if (value.type == NIGH_VALUE_REAL) put(&visit->reals, bits_of(value.real));
        if (value.type == NIGH_VALUE_TEXT) put(&visit->texts, nigh__hash(value.text, value.length));
    }
    for (uint32_t i = 0; i < visit->segment->documents; i++)
        visit->documents += nigh__column_code(visit->column, i) != 0 && nigh__selection_has(visit->segment->living, i);
}

static nigh_status visit_guarded(struct visit *visit, nigh_error *error) {
    const struct nigh__segment *segment = visit->segment;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    visit_values(visit);
    nigh__guard_leave(&guard);
    if (visit->bad == 0) return NIGH_OK;
    return nigh__segment_corrupt(segment, NIGH__SECTION_VALUES,
                                 nigh__column_value_at(segment, visit->column, visit->bad), "a value is malformed",
                                 error);
}

static nigh_status count_segment(const struct nigh__segment *segment, uint32_t key, struct distinct *distinct,
                                 nigh_error *error) {
    const nigh_context *context = segment->context;
    struct nigh__value_column column;
    nigh_status status = nigh__segment_column(segment, key, &column, error);
    if (status != NIGH_OK || column.width == 0) return status;
    struct visit visit = {.segment = segment,
                          .column = &column,
                          .integers = nigh__array_add(context, &distinct->integers, column.integers),
                          .reals = nigh__array_add(context, &distinct->reals, column.reals),
                          .texts = nigh__array_add(context, &distinct->texts, column.texts)};
    const bool room = (visit.integers != NULL || column.integers == 0) && (visit.reals != NULL || column.reals == 0) &&
                      (visit.texts != NULL || column.texts == 0);
    status = room ? visit_guarded(&visit, error) : nigh__no_memory(error, "to count values");
    distinct->documents += visit.documents;
    return status;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t count_distinct(const struct nigh__array *array) {
    uint64_t *numbers = array->data;
    uint64_t count = 0;
    if (array->count > 1) qsort(numbers, array->count, sizeof *numbers, by_number);
    for (size_t i = 0; i < array->count; i++) count += i == 0 || numbers[i] != numbers[i - 1];
    return count;
}

nigh_status nigh_collection_key(const nigh_collection *collection, uint32_t key, nigh_key_info *out,
                                nigh_error *error) {
    struct distinct distinct = {
        .integers = NIGH__ARRAY(uint64_t), .reals = NIGH__ARRAY(uint64_t), .texts = NIGH__ARRAY(uint64_t)};
    nigh_key_info info = {.size = sizeof info};
    nigh_status status = key_check(collection, key, error);
    for (uint32_t s = 0; s < collection->segment_count && status == NIGH_OK; s++)
        status = count_segment(collection->segments[s], key, &distinct, error);
    if (status == NIGH_OK) {
        size_t length = 0;
        const char *name = nigh__keep_keys_name(nigh_collection_scheme(collection), key, &length);
        memcpy(info.name, name, length < sizeof info.name ? length : sizeof info.name - 1);
        info.integers = count_distinct(&distinct.integers);
        info.reals = count_distinct(&distinct.reals);
        info.texts = count_distinct(&distinct.texts);
        info.documents = distinct.documents;
        nigh__info_copy(out, &info, sizeof info);
    }
    nigh__array_release(collection->context, &distinct.integers);
    nigh__array_release(collection->context, &distinct.reals);
    nigh__array_release(collection->context, &distinct.texts);
    return status;
}
