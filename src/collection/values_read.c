/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Reading and checking values; values.h draws them.  Sizes are copied, compared with the section, and used as copied.
 */
#include <math.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/keep_keys.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/selection.h"
#include "collection/values.h"

static nigh_status corrupt(const struct nigh__segment *segment, uint64_t at, const char *why, nigh_error *error) {
    return nigh__segment_corrupt(segment, NIGH__SECTION_VALUES, at, why, error);
}

/* ------------------------------------------------------------------ columns -- */

/* The heads of all keys, as they were read. */
struct heads {
    uint64_t keys;
    struct nigh__values_head of[NIGH_MAX_KEEP_KEYS];
};

static nigh_status read_heads(const struct nigh__segment *segment, struct heads *out, nigh_error *error) {
    const uint64_t length = segment->sections[NIGH__SECTION_VALUES].length;
    const uint32_t keys = nigh__keep_keys_count(segment->scheme);
    const size_t bytes = keys * sizeof out->of[0];
    if (length < sizeof out->keys + bytes) return corrupt(segment, 0, "the values have the wrong size", error);
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    memcpy(&out->keys, segment->values, sizeof out->keys);
    memcpy(out->of, segment->values + sizeof out->keys, bytes);
    nigh__guard_leave(&guard);
    return out->keys == keys ? NIGH_OK : corrupt(segment, 0, "values of other keys than the scheme names", error);
}

/* Moves *at on by `count` items of `size` bytes, rounded up to 8; false where they end past the section. */
static bool pass(uint64_t *at, uint64_t count, uint64_t size, uint64_t length) {
    uint64_t bytes = 0;
    if (!nigh__multiply64(count, size, &bytes) || !nigh__range_fits(*at, bytes, length)) return false;
    *at += bytes;
    if (length - *at < nigh__round_up(*at, 8) - *at) return false;
    *at = nigh__round_up(*at, 8);
    return true;
}

/* The column that begins at *at, which is moved on to its end. */
static bool place_column(const struct nigh__segment *segment, const struct nigh__values_head *head, uint64_t *at,
                         struct nigh__value_column *out) {
    const uint64_t length = segment->sections[NIGH__SECTION_VALUES].length;
    const uint64_t values = (uint64_t)head->integers + head->reals + head->texts;
    if (head->zero != 0 || values > segment->documents || (head->texts == 0 && head->text_length != 0)) return false;
    *out = (struct nigh__value_column){.integers = head->integers,
                                       .reals = head->reals,
                                       .texts = head->texts,
                                       .width = nigh__values_code_width(values),
                                       .text_length = head->text_length};
    out->integer = (const int64_t *)(const void *)(segment->values + *at);
    if (!pass(at, head->integers, sizeof(int64_t), length)) return false;
    out->real = (const double *)(const void *)(segment->values + *at);
    if (!pass(at, head->reals, sizeof(double), length)) return false;
    if (head->texts != 0) out->text_offsets = (const uint64_t *)(const void *)(segment->values + *at);
    if (head->texts != 0 && !pass(at, (uint64_t)head->texts + 1, sizeof(uint64_t), length)) return false;
    out->text_bytes = (const char *)segment->values + *at;
    if (!pass(at, head->text_length, 1, length)) return false;
    out->codes = segment->values + *at;
    return pass(at, segment->documents, out->width, length);
}

nigh_status nigh__segment_column(const struct nigh__segment *segment, uint32_t key, struct nigh__value_column *out,
                                 nigh_error *error) {
    struct heads heads = {.keys = 0};
    *out = (struct nigh__value_column){.width = 0};
    if (segment->values == NULL) return NIGH_OK;
    const nigh_status status = read_heads(segment, &heads, error);
    if (status != NIGH_OK) return status;
    uint64_t at = sizeof heads.keys + heads.keys * sizeof heads.of[0];
    for (uint32_t i = 0; i < heads.keys; i++) {
        struct nigh__value_column column;
        if (!place_column(segment, &heads.of[i], &at, &column))
            return corrupt(segment, sizeof heads.keys + i * sizeof heads.of[0],
                           "the values of a key do not fit their section", error);
        if (i == key) *out = column;
    }
    if (at != segment->sections[NIGH__SECTION_VALUES].length)
        return corrupt(segment, at, "bytes behind the values of the last key", error);
    return NIGH_OK;
}

uint64_t nigh__column_code_at(const struct nigh__segment *segment, const struct nigh__value_column *column,
                              uint32_t document) {
    return (uint64_t)(column->codes - segment->values) + (uint64_t)document * column->width;
}

uint64_t nigh__column_value_at(const struct nigh__segment *segment, const struct nigh__value_column *column,
                               uint32_t code) {
    return (uint64_t)((const uint8_t *)column->integer - segment->values) + (uint64_t)(code - 1) * sizeof(uint64_t);
}

/* Integers, reals and the offsets of texts are 8 bytes each, one behind the other. */
bool nigh__column_value(const struct nigh__value_column *column, uint32_t code, nigh_value *out) {
    uint32_t index = code - 1;
    *out = (nigh_value){.type = NIGH_VALUE_INTEGER};
    if (index < column->integers) {
        out->integer = NIGH__ONCE(column->integer[index]);
        return true;
    }
    index -= column->integers;
    if (index < column->reals) {
        int64_t ignored = 0;
        out->type = NIGH_VALUE_REAL;
        out->real = NIGH__ONCE(column->real[index]);
        return isfinite(out->real) && !nigh__real_is_integer(out->real, &ignored);
    }
    index -= column->reals;
    if (index >= column->texts) return false;
    const uint64_t begin = NIGH__ONCE(column->text_offsets[index]);
    const uint64_t end = NIGH__ONCE(column->text_offsets[index + 1]);
    if (begin > end || end > column->text_length || end - begin > NIGH_MAX_VALUE_LENGTH) return false;
    *out = (nigh_value){.type = NIGH_VALUE_TEXT, .length = (uint32_t)(end - begin), .text = column->text_bytes + begin};
    return true;
}

/* ----------------------------------------------------------------- a document -- */

/* What is read inside a guard: of the text its place in the map. */
struct found {
    nigh_value value;
    uint32_t code;
    bool sound;
};

static nigh_status find_value(const struct nigh__segment *segment, const struct nigh__value_column *column,
                              uint32_t document, struct found *found, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    found->code = nigh__column_code(column, document);
    found->sound = found->code == 0 || nigh__column_value(column, found->code, &found->value);
    nigh__guard_leave(&guard);
    if (found->sound) return NIGH_OK;
    return corrupt(segment, nigh__column_code_at(segment, column, document), "the value of a document is wrong", error);
}

static nigh_status copy_text(const struct nigh__segment *segment, nigh_value *value, struct nigh__array *room,
                             nigh_error *error) {
    char *copy = nigh__array_room(segment->context, room, (size_t)value->length + 1);
    if (copy == NULL) return nigh__no_memory(error, "for a value");
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    memcpy(copy, value->text, value->length);
    nigh__guard_leave(&guard);
    value->text = copy;
    return NIGH_OK;
}

nigh_status nigh__segment_value(const struct nigh__segment *segment, const struct nigh__value_column *column,
                                uint32_t document, nigh_value *out, struct nigh__array *room, nigh_error *error) {
    struct found found = {.code = 0};
    *out = (nigh_value){.type = NIGH_VALUE_NONE};
    const nigh_status status = column->width == 0 ? NIGH_OK : find_value(segment, column, document, &found, error);
    if (status != NIGH_OK || found.code == 0) return status;
    *out = found.value;
    return out->type == NIGH_VALUE_TEXT ? copy_text(segment, out, room, error) : NIGH_OK;
}

/* -------------------------------------------------------------------- checking -- */

/* Inside a guard: the first code whose value is malformed, or not above the one before it; 0: none. */
static uint32_t first_bad_value(const struct nigh__value_column *column) {
    nigh_value before = {.type = NIGH_VALUE_NONE};
    for (uint32_t code = 1; code <= nigh__column_values(column); code++) {
        nigh_value value;
        if (!nigh__column_value(column, code, &value)) return code;
        if (code > 1 && nigh__value_order(&before, &value) >= 0) return code;
        before = value;
    }
    if (column->texts == 0) return 0;
    const bool whole = column->text_offsets[0] == 0 && column->text_offsets[column->texts] == column->text_length;
    return whole ? 0 : column->integers + column->reals + 1;
}

/* Inside a guard: the first document whose code there is not; the number of documents: none.  Marks those there are. */
static uint32_t first_bad_code(const struct nigh__segment *segment, const struct nigh__value_column *column,
                               uint64_t *seen) {
    for (uint32_t i = 0; i < segment->documents; i++) {
        const uint32_t code = nigh__column_code(column, i);
        if (code > nigh__column_values(column)) return i;
        if (code > 0) nigh__bitmap_add(seen, code - 1);
    }
    return segment->documents;
}

/* Inside a guard: whether what fills up the texts and the codes is zero. */
static bool padding_clear(const struct nigh__segment *segment, const struct nigh__value_column *column) {
    const uint8_t *texts = (const uint8_t *)column->text_bytes;
    const uint64_t codes = (uint64_t)segment->documents * column->width;
    uint8_t all = 0;
    for (uint64_t i = column->text_length; i < nigh__round_up(column->text_length, 8); i++) all |= texts[i];
    for (uint64_t i = codes; i < nigh__round_up(codes, 8); i++) all |= column->codes[i];
    return all == 0;
}

/* What a look at a column found. */
struct looked {
    uint32_t value, document;
    bool clear;
};

static nigh_status look(const struct nigh__segment *segment, const struct nigh__value_column *column, uint64_t *seen,
                        struct looked *out, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    out->value = first_bad_value(column);
    out->document = first_bad_code(segment, column, seen);
    out->clear = padding_clear(segment, column);
    nigh__guard_leave(&guard);
    return NIGH_OK;
}

static nigh_status check_column(const struct nigh__segment *segment, const struct nigh__value_column *column,
                                uint64_t *seen, nigh_error *error) {
    struct looked looked = {.value = 0};
    const uint32_t values = nigh__column_values(column);
    const nigh_status status = look(segment, column, seen, &looked, error);
    if (status != NIGH_OK) return status;
    if (looked.value != 0)
        return corrupt(segment, nigh__column_value_at(segment, column, looked.value),
                       "a value is malformed or out of order", error);
    if (looked.document != segment->documents)
        return corrupt(segment, nigh__column_code_at(segment, column, looked.document),
                       "the value of a document is wrong", error);
    if (!looked.clear)
        return corrupt(segment, nigh__column_code_at(segment, column, segment->documents),
                       "what fills up the values is not zero", error);
    for (uint32_t i = 0; i < values; i++)
        if (!nigh__bitmap_has(seen, i))
            return corrupt(segment, nigh__column_value_at(segment, column, i + 1), "a value that no document has",
                           error);
    return NIGH_OK;
}

nigh_status nigh__segment_check_values(const struct nigh__segment *segment, struct nigh__progress *progress,
                                       nigh_error *error) {
    const uint32_t keys = nigh__keep_keys_count(segment->scheme);
    nigh_status status = NIGH_OK;
    for (uint32_t key = 0; key < keys && status == NIGH_OK && segment->values != NULL; key++) {
        struct nigh__value_column column;
        if (nigh__progress_tick(progress, "checking values", key, keys)) return nigh__progress_cancelled(error);
        status = nigh__segment_column(segment, key, &column, error);
        if (status != NIGH_OK) return status;
        const size_t words = nigh__bitmap_words((uint64_t)nigh__column_values(&column) + 1);
        uint64_t *seen = nigh__alloc_zero(segment->context, words, sizeof *seen);
        status = seen == NULL ? nigh__no_memory(error, "to check values") : check_column(segment, &column, seen, error);
        nigh__free(segment->context, seen);
    }
    return status;
}
