/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * From documents to rows.  What is few is looked at: the documents that do not count where these are few, as of
 * deleted ones, and else those that do.  Each group is read once and no further than its first document that counts.
 */
#include "collection/selection.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/memory.h"
#include "base/status.h"

uint64_t nigh__bitmap_count(const uint64_t *bitmap, uint64_t bits) {
    uint64_t count = 0;
    for (size_t i = 0; i < nigh__bitmap_words(bits); i++) count += (uint64_t)__builtin_popcountll(bitmap[i]);
    return count;
}

uint64_t *nigh__bitmap_full(const nigh_context *context, uint64_t bits) {
    const size_t words = nigh__bitmap_words(bits);
    uint64_t *bitmap = nigh__alloc(context, words, sizeof *bitmap);
    if (bitmap == NULL || words == 0) return bitmap;
    memset(bitmap, 0xff, words * sizeof *bitmap);
    if (bits % 64 != 0) bitmap[words - 1] = (UINT64_C(1) << bits % 64) - 1;
    return bitmap;
}

/* ------------------------------------------------------------------ judging */

struct judging {
    const struct nigh__segment *segment;
    struct nigh__selection *selection;
    uint64_t *seen;  /* rows that were judged, where documents that count are looked at */
    uint64_t *moved; /* displaced rows: the first document that counts, above the row */
    size_t moved_count, room;
    uint32_t next; /* document to look at */
    enum nigh__section_type lie_section;
    uint64_t lie_at;
    const char *lie;
};

static bool lies(struct judging *judging, enum nigh__section_type section, uint64_t at, const char *why) {
    judging->lie_section = section;
    judging->lie_at = at;
    judging->lie = why;
    return false;
}

/* What becomes of a row.  False: the segment lies.  There is room for one more that is displaced. */
static bool judge(struct judging *judging, uint32_t row) {
    const struct nigh__segment *segment = judging->segment;
    struct nigh__selection *selection = judging->selection;
    uint32_t first = 0;
    uint32_t count = 0;
    if (!nigh__segment_group(segment, row, &first, &count))
        return lies(judging, NIGH__SECTION_GROUP_STARTS, row, "the documents of a signature lie outside their section");
    nigh__bitmap_remove(selection->rows, row);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t document = NIGH__ONCE(segment->group_documents[first + i]);
        if (document >= segment->documents)
            return lies(judging, NIGH__SECTION_GROUP_DOCUMENTS, first + i, "a document number is too large");
        if (!nigh__bitmap_has(selection->documents, document)) continue;
        if (i == 0)
            nigh__bitmap_add(selection->rows, row);
        else
            judging->moved[judging->moved_count++] = (uint64_t)document << 32 | row;
        return true;
    }
    return true;
}

/* Looks at a document: its row is judged where that was not done yet. */
static bool look(struct judging *judging, uint32_t document) {
    const struct nigh__segment *segment = judging->segment;
    const uint32_t row = NIGH__ONCE(segment->document_rows[document]);
    if (row >= segment->signatures)
        return lies(judging, NIGH__SECTION_DOCUMENT_ROWS, document, "a row number is too large");
    if (nigh__bitmap_has(judging->seen, row)) return true;
    nigh__bitmap_add(judging->seen, row);
    return judge(judging, row);
}

/* Documents from judging->next on, as long as there is room.  Inside a guard. */
static bool look_on(struct judging *judging, bool at_those_that_count) {
    const uint64_t *documents = judging->selection->documents;
    for (; judging->next < judging->segment->documents; judging->next++) {
        uint64_t word = documents[judging->next / 64];
        if (!at_those_that_count) word = ~word;
        if (word >> judging->next % 64 == 0) {
            judging->next |= 63;
            if (judging->next == UINT32_MAX) return true;
            continue;
        }
        if ((word >> judging->next % 64 & 1) == 0) continue;
        if (judging->moved_count == judging->room) return true;
        if (!look(judging, judging->next)) return false;
    }
    return true;
}

static bool look_guarded(struct judging *judging, bool at_those_that_count) {
    const struct nigh__segment *segment = judging->segment;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    (void)look_on(judging, at_those_that_count);
    nigh__guard_leave(&guard);
    return true;
}

/* ------------------------------------------------------------------- making */

#define FIRST_ROOM 1024u

/* Room for more rows that are displaced; outside the guard, which nothing may be allocated in. */
static bool more_room(struct judging *judging) {
    const nigh_context *context = judging->selection->context;
    const size_t room = judging->room == 0 ? FIRST_ROOM : 2 * judging->room;
    uint64_t *moved = nigh__alloc(context, room, sizeof *moved);
    if (moved == NULL) return false;
    if (judging->moved_count != 0) memcpy(moved, judging->moved, judging->moved_count * sizeof *moved);
    nigh__free(context, judging->moved);
    judging->moved = moved;
    judging->room = room;
    return true;
}

static nigh_status judge_all(struct judging *judging, bool at_those_that_count, nigh_error *error) {
    const struct nigh__segment *segment = judging->segment;
    while (judging->next < segment->documents) {
        if (judging->moved_count == judging->room && !more_room(judging))
            return nigh__no_memory(error, "for deleted documents");
        if (!look_guarded(judging, at_those_that_count)) return nigh__segment_cut(segment, error);
        if (judging->lie != NULL)
            return nigh__segment_corrupt(segment, judging->lie_section, judging->lie_at, judging->lie, error);
    }
    return NIGH_OK;
}

static int ascending(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static nigh_status take_moved(struct judging *judging, nigh_error *error) {
    struct nigh__selection *selection = judging->selection;
    selection->displaced = nigh__alloc(selection->context, judging->moved_count, sizeof *selection->displaced);
    if (selection->displaced == NULL) return nigh__no_memory(error, "for deleted documents");
    if (judging->moved_count > 1) qsort(judging->moved, judging->moved_count, sizeof *judging->moved, ascending);
    for (size_t i = 0; i < judging->moved_count; i++) selection->displaced[i] = (uint32_t)judging->moved[i];
    selection->displaced_count = (uint32_t)judging->moved_count;
    selection->row_count = (uint32_t)nigh__bitmap_count(selection->rows, judging->segment->signatures);
    return NIGH_OK;
}

static nigh_status find_rows(const struct nigh__segment *segment, struct nigh__selection *selection,
                             nigh_error *error) {
    const size_t row_words = nigh__bitmap_words(segment->signatures);
    const bool few = selection->document_count < segment->documents / 2;
    struct judging judging = {.segment = segment, .selection = selection};
    nigh_status status = NIGH_OK;
    judging.seen = nigh__alloc_zero(selection->context, row_words, sizeof *judging.seen);
    selection->rows = few ? nigh__alloc_zero(selection->context, row_words, sizeof *selection->rows)
                          : nigh__bitmap_full(selection->context, segment->signatures);
    if (judging.seen == NULL || selection->rows == NULL) status = nigh__no_memory(error, "for deleted documents");
    if (status == NIGH_OK) status = judge_all(&judging, few, error);
    if (status == NIGH_OK) status = take_moved(&judging, error);
    nigh__free(selection->context, judging.seen);
    nigh__free(selection->context, judging.moved);
    return status;
}

nigh_status nigh__selection_new(const struct nigh__segment *segment, uint64_t *documents, struct nigh__selection **out,
                                nigh_error *error) {
    struct nigh__selection *selection = nigh__alloc_zero(segment->context, 1, sizeof *selection);
    *out = NULL;
    if (selection == NULL) {
        nigh__free(segment->context, documents);
        return nigh__no_memory(error, "for deleted documents");
    }
    selection->context = segment->context;
    atomic_init(&selection->users, 1);
    selection->documents = documents;
    selection->document_count = (uint32_t)nigh__bitmap_count(documents, segment->documents);
    const nigh_status status = find_rows(segment, selection, error);
    if (status == NIGH_OK)
        *out = selection;
    else
        nigh__selection_free(selection);
    return status;
}

struct nigh__selection *nigh__selection_join(struct nigh__selection *selection) {
    if (selection != NULL) atomic_fetch_add(&selection->users, 1);
    return selection;
}

void nigh__selection_free(struct nigh__selection *selection) {
    if (selection == NULL || atomic_fetch_sub(&selection->users, 1) > 1) return;
    nigh__free(selection->context, selection->documents);
    nigh__free(selection->context, selection->rows);
    nigh__free(selection->context, selection->displaced);
    nigh__free(selection->context, selection);
}
