/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Rows by number.  A row of bytes becomes words, the last one filled up with zeros.
 * Of a collection a row is a document: its segment says which of the distinct
 * signatures it has, and nothing of that is trusted.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/limits.h"
#include "base/status.h"
#include "collection/collection.h"
#include "join/join.h"

static void read_bytes(const struct nigh__join *join, const uint8_t *bytes, uint64_t first, size_t count,
                       uint64_t *out) {
    const size_t row_bytes = nigh__row_bytes(join->width_bits);
    bytes += first * row_bytes;
    if (row_bytes == join->words * sizeof *out) {
        memcpy(out, bytes, count * row_bytes);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        uint64_t *row = out + i * join->words;
        row[join->words - 1] = 0;
        memcpy(row, bytes + i * row_bytes, row_bytes);
    }
}

/* The segment of a document, by halving. */
static const struct nigh__segment *segment_of(const nigh_collection *collection, uint64_t document) {
    uint32_t low = 0;
    uint32_t high = collection->segment_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (collection->segments[middle]->first_document <= document)
            low = middle;
        else
            high = middle;
    }
    return collection->segments[low];
}

/* Documents first .. first + count of a segment.  *bad is the first that has no row, or `count`. */
static bool copy_rows(const struct nigh__segment *segment, uint32_t first, size_t count, uint64_t *out, size_t *bad) {
    const uint32_t words = segment->words;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    *bad = count;
    for (size_t i = 0; i < count; i++) {
        const uint32_t row = *(const volatile uint32_t *)&segment->document_rows[first + i];
        if (row >= segment->signatures) {
            *bad = i;
            break;
        }
        memcpy(out + i * words, segment->rows + (uint64_t)row * words, words * sizeof *out);
        out[i * words + words - 1] &= nigh__last_word_mask(segment->width_bits);
    }
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status read_documents(const struct nigh__join *join, const nigh_collection *collection, uint64_t first,
                                  size_t count, uint64_t *out, nigh_error *error) {
    while (count > 0) {
        const struct nigh__segment *segment = segment_of(collection, first);
        const uint64_t inside = first - segment->first_document;
        const uint64_t left = segment->documents - inside;
        const size_t part = left < count ? (size_t)left : count;
        size_t bad = 0;
        if (!copy_rows(segment, (uint32_t)inside, part, out, &bad)) return nigh__segment_cut(segment, error);
        if (bad < part)
            return nigh__segment_corrupt(segment, NIGH__SECTION_DOCUMENT_ROWS, inside + bad,
                                         "a row number is too large", error);
        out += part * join->words;
        first += part;
        count -= part;
    }
    return NIGH_OK;
}

/* The same where some are deleted: those that follow each other at once. */
static nigh_status read_living(const struct nigh__join *join, const struct nigh__join_side *side, uint64_t first,
                               size_t count, uint64_t *out, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t done = 0, run; done < count && status == NIGH_OK; done += run) {
        const uint64_t *numbers = side->numbers + first + done;
        for (run = 1; done + run < count && numbers[run] == numbers[0] + run;) run++;
        status = read_documents(join, side->collection, numbers[0], run, out + done * join->words, error);
    }
    return status;
}

nigh_status nigh__join_read(const struct nigh__join *join, uint64_t first, size_t count, uint64_t *out,
                            nigh_error *error) {
    const bool second = first >= join->split;
    const struct nigh__join_side *side = &join->sides[second];
    const uint64_t inside = second ? first - join->split : first;
    if (side->numbers != NULL) return read_living(join, side, inside, count, out, error);
    if (side->collection != NULL) return read_documents(join, side->collection, inside, count, out, error);
    read_bytes(join, side->bytes, inside, count, out);
    return NIGH_OK;
}
