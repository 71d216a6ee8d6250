/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * The full check of one segment.  Opening has shown that sections lie inside
 * the file; here their bytes are compared with their checksums, and then with
 * each other, since a sound checksum only says that nobody was careless.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/memory.h"
#include "base/secret.h"
#include "base/status.h"
#include "collection/check_segment.h"
#include "collection/sections.h"
#include "collection/texts.h"
#include "collection/values.h"

#define TICK_EVERY 65536u

static struct nigh__sections sections_of(const struct nigh__segment *segment) {
    return (struct nigh__sections){.context = segment->context,
                                   .path = segment->path,
                                   .map = segment->map,
                                   .length = segment->length,
                                   .table = segment->table,
                                   .count = segment->header.section_count};
}

nigh_status nigh__segment_check_sums(const struct nigh__segment *segment, struct nigh__progress *progress,
                                     nigh_error *error) {
    const struct nigh__sections sections = sections_of(segment);
    return nigh__sections_check_sums(&sections, progress, error);
}

/*
 * The relations.  Each `walk` runs inside one guard and returns the index of
 * the first item that is wrong, or NO_PROBLEM.
 */
#define NO_PROBLEM UINT64_MAX

typedef uint64_t walk_function(const struct nigh__segment *segment, void *user);

static nigh_status run_walk(const struct nigh__segment *segment, walk_function *walk, void *user,
                            enum nigh__section_type type, const char *why, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    uint64_t problem = walk(segment, user);
    nigh__guard_leave(&guard);
    return problem == NO_PROBLEM ? NIGH_OK : nigh__segment_corrupt(segment, type, problem, why, error);
}

/* Starts ascend from 0 to the number of documents, and no row is without a document. */
static uint64_t walk_starts(const struct nigh__segment *segment, void *user) {
    (void)user;
    if (segment->group_starts[0] != 0) return 0;
    for (uint64_t row = 0; row < segment->signatures; row++)
        if (segment->group_starts[row] >= segment->group_starts[row + 1]) return row + 1;
    return segment->group_starts[segment->signatures] == segment->documents ? NO_PROBLEM : segment->signatures;
}

/* Documents ascend within a row, belong to it, and rows come in the order of their first documents. */
static uint64_t walk_groups(const struct nigh__segment *segment, void *user) {
    (void)user;
    uint64_t previous_first = 0;
    for (uint32_t row = 0; row < segment->signatures; row++) {
        uint32_t first;
        uint32_t count;
        if (!nigh__segment_group(segment, row, &first, &count)) return segment->group_starts[row];
        uint32_t before = 0;
        for (uint32_t i = first; i < first + count; i++) {
            uint32_t document = segment->group_documents[i];
            if (document >= segment->documents || segment->document_rows[document] != row) return i;
            if (i > first && document <= before) return i;
            if (i == first && row > 0 && document <= previous_first) return i;
            before = document;
        }
        previous_first = segment->group_documents[first];
    }
    return NO_PROBLEM;
}

static nigh_status check_groups(const struct nigh__segment *segment, struct nigh__progress *progress,
                                nigh_error *error) {
    if (nigh__progress_tick(progress, "checking groups", 0, 0)) return nigh__progress_cancelled(error);
    nigh_status status = run_walk(segment, walk_starts, NULL, NIGH__SECTION_GROUP_STARTS,
                                  "the starts of the groups are out of order", error);
    if (status != NIGH_OK) return status;
    return run_walk(segment, walk_groups, NULL, NIGH__SECTION_GROUP_DOCUMENTS,
                    "a group does not fit the rows of its documents", error);
}

/* The bits past the width are zero in the last word of a row. */
static uint64_t walk_padding(const struct nigh__segment *segment, void *user) {
    (void)user;
    if (segment->width_bits % 64 == 0) return NO_PROBLEM;
    for (uint64_t row = 0; row < segment->signatures; row++)
        if (!nigh__segment_padded(segment, row)) return row;
    return NO_PROBLEM;
}

nigh_status nigh__segment_check_padding(const struct nigh__segment *segment, nigh_error *error) {
    return run_walk(segment, walk_padding, NULL, NIGH__SECTION_SIGNATURES, NIGH__PADDING_SET, error);
}

static bool row_seen(const struct nigh__segment *segment, const struct nigh__hash_table *slots, uint64_t hash,
                     const uint64_t *row) {
    uint64_t cursor = nigh__hash_table_home(hash, slots->capacity);
    uint32_t other;
    while (nigh__hash_table_next(slots, hash, &cursor, &other))
        if (memcmp(segment->rows + (size_t)other * segment->words, row, (size_t)segment->words * 8) == 0) return true;
    return false;
}

/* Looks at one row.  Memory is taken outside the guard, so rows go one by one. */
static nigh_status row_repeats(const struct nigh__segment *segment, const struct nigh__hash_table *slots,
                               uint64_t secret, uint64_t index, uint64_t *hash, bool *repeats, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    const uint64_t *row = segment->rows + index * segment->words;
    *hash = nigh__hash_seeded(row, (size_t)segment->words * 8, secret);
    *repeats = row_seen(segment, slots, *hash, row);
    nigh__guard_leave(&guard);
    return NIGH_OK;
}

static nigh_status check_distinct_rows(const struct nigh__segment *segment, struct nigh__hash_table *slots,
                                       struct nigh__progress *progress, nigh_error *error) {
    const uint64_t secret = nigh__secret();
    for (uint32_t row = 0; row < segment->signatures; row++) {
        uint64_t hash = 0;
        bool repeats = false;
        nigh_status status = row_repeats(segment, slots, secret, row, &hash, &repeats, error);
        if (status != NIGH_OK) return status;
        if (repeats)
            return nigh__segment_corrupt(segment, NIGH__SECTION_SIGNATURES, row, "a signature is there twice", error);
        if (!nigh__hash_table_add(segment->context, slots, hash, row))
            return nigh__no_memory(error, "to check that signatures differ");
        if (row % TICK_EVERY == 0 && nigh__progress_tick(progress, "checking signatures", row, segment->signatures))
            return nigh__progress_cancelled(error);
    }
    return NIGH_OK;
}

/* Of masks, as of signatures. */
static uint64_t walk_masks(const struct nigh__segment *segment, void *user) {
    const uint32_t used = segment->width_bits % 64;
    (void)user;
    for (uint64_t row = 0; used != 0 && row < segment->signatures; row++)
        if (segment->masks[(row + 1) * segment->words - 1] >> used != 0) return row;
    return NO_PROBLEM;
}

static nigh_status check_signatures(const struct nigh__segment *segment, struct nigh__progress *progress,
                                    nigh_error *error) {
    nigh_status status = nigh__segment_check_padding(segment, error);
    if (status == NIGH_OK && segment->masks != NULL)
        status = run_walk(segment, walk_masks, NULL, NIGH__SECTION_MASKS, NIGH__PADDING_SET, error);
    if (status != NIGH_OK) return status;
    struct nigh__hash_table slots;
    if (!nigh__hash_table_init(segment->context, &slots))
        return nigh__no_memory(error, "to check that signatures differ");
    status = check_distinct_rows(segment, &slots, progress, error);
    nigh__hash_table_release(segment->context, &slots);
    return status;
}

/* Offsets ascend from 0 to the end of the bytes. */
struct offsets_walk {
    const uint64_t *offsets;
    uint64_t bytes_length;
    uint64_t shortest, longest;
};

static uint64_t walk_offsets(const struct nigh__segment *segment, void *user) {
    const struct offsets_walk *walk = user;
    if (walk->offsets[0] != 0) return 0;
    for (uint64_t i = 0; i < segment->documents; i++) {
        uint64_t begin = walk->offsets[i];
        uint64_t end = walk->offsets[i + 1];
        if (begin > end || end - begin < walk->shortest || end - begin > walk->longest) return i;
    }
    return walk->offsets[segment->documents] == walk->bytes_length ? NO_PROBLEM : segment->documents;
}

static uint64_t walk_id_bytes(const struct nigh__segment *segment, void *user) {
    (void)user;
    const bool any = (segment->header.incompatible & NIGH__FEATURE_ANY_IDS) != 0;
    uint64_t length = segment->sections[NIGH__SECTION_ID_BYTES].length;
    for (uint64_t i = 0; i < length; i++)
        if (segment->id_bytes[i] == '\0' || segment->id_bytes[i] == '\n' || segment->id_bytes[i] == '\t')
            return any ? NO_PROBLEM : i;
    return any ? 0 : NO_PROBLEM;
}

/* As many slots are taken as there are documents; so no entry is left once each document has one. */
static uint64_t walk_lookup_slots(const struct nigh__segment *segment, void *user) {
    (void)user;
    uint64_t slots = segment->sections[NIGH__SECTION_ID_LOOKUP].count;
    uint64_t taken = 0;
    for (uint64_t i = 0; i < slots; i++)
        if (segment->id_lookup[i] != 0 && ++taken > segment->documents) return i;
    return taken == segment->documents ? NO_PROBLEM : 0;
}

static nigh_status check_ids(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error) {
    if (segment->id_offsets == NULL && (segment->header.incompatible & NIGH__FEATURE_ANY_IDS) != 0)
        return nigh__fail_at(error, NIGH_ECORRUPT, segment->path, offsetof(struct nigh__segment_header, incompatible),
                             "says that ids are any bytes, and has no ids");
    if (segment->id_offsets == NULL) return NIGH_OK;
    struct offsets_walk offsets = {.offsets = segment->id_offsets,
                                   .bytes_length = segment->sections[NIGH__SECTION_ID_BYTES].length,
                                   .shortest = 1,
                                   .longest = NIGH_MAX_ID_LENGTH};
    nigh_status status =
        run_walk(segment, walk_offsets, &offsets, NIGH__SECTION_ID_OFFSETS, "the offset of an id is wrong", error);
    if (status == NIGH_OK)
        status =
            run_walk(segment, walk_id_bytes, NULL, NIGH__SECTION_ID_BYTES,
                     "ids hold a zero byte, a tab or a newline, and the header says otherwise, or the reverse", error);
    if (status == NIGH_OK)
        status = run_walk(segment, walk_lookup_slots, NULL, NIGH__SECTION_ID_LOOKUP,
                          "the id lookup does not have one entry a document", error);
    return status == NIGH_OK ? nigh__segment_check_lookup(segment, progress, error) : status;
}

static nigh_status check_metadata(const struct nigh__segment *segment, struct nigh__progress *progress,
                                  nigh_error *error) {
    (void)progress;
    if (segment->metadata_offsets == NULL) return NIGH_OK;
    struct offsets_walk offsets = {.offsets = segment->metadata_offsets,
                                   .bytes_length = segment->sections[NIGH__SECTION_METADATA_BYTES].length,
                                   .longest = NIGH_MAX_METADATA_LENGTH};
    return run_walk(segment, walk_offsets, &offsets, NIGH__SECTION_METADATA_OFFSETS, "the offset of metadata is wrong",
                    error);
}

/* Blocks ascend from 0 to the end of the bytes, and none is empty; behind the last is nothing but where it ends. */
static uint64_t walk_blocks(const struct nigh__segment *segment, void *user) {
    (void)user;
    const uint64_t last = segment->sections[NIGH__SECTION_TEXT_BLOCKS].count - 1;
    const struct nigh__text_block *blocks = segment->text_blocks;
    if (blocks[0].begin != 0 || blocks[0].offset != 0) return 0;
    for (uint64_t i = 0; i < last; i++)
        if (blocks[i].begin >= blocks[i + 1].begin || blocks[i].offset > blocks[i + 1].offset || blocks[i].zero != 0)
            return i;
    const struct nigh__text_block *end = &blocks[last];
    const bool sound = end->offset == segment->sections[NIGH__SECTION_TEXT_BYTES].length && end->checksum == 0 &&
                       end->codec == 0 && end->zero == 0;
    return sound ? NO_PROBLEM : last;
}

/* Texts go to the end of the last block. */
static uint64_t walk_texts(const struct nigh__segment *segment, void *user) {
    (void)user;
    const uint64_t last = segment->sections[NIGH__SECTION_TEXT_BLOCKS].count - 1;
    struct offsets_walk offsets = {.offsets = segment->text_offsets,
                                   .bytes_length = segment->text_blocks[last].begin,
                                   .longest = NIGH_MAX_TEXT_LENGTH};
    return walk_offsets(segment, &offsets);
}

static nigh_status check_texts(const struct nigh__segment *segment, struct nigh__progress *progress,
                               nigh_error *error) {
    if (segment->text_offsets == NULL) return NIGH_OK;
    nigh_status status = run_walk(segment, walk_blocks, NULL, NIGH__SECTION_TEXT_BLOCKS,
                                  "a block of texts does not fit those beside it", error);
    if (status == NIGH_OK)
        status =
            run_walk(segment, walk_texts, NULL, NIGH__SECTION_TEXT_OFFSETS, "the offset of a text is wrong", error);
    return status == NIGH_OK ? nigh__segment_check_texts(segment, progress, error) : status;
}

static nigh_status check_gaps(const struct nigh__segment *segment, struct nigh__progress *progress, nigh_error *error) {
    (void)progress;
    const struct nigh__sections sections = sections_of(segment);
    return nigh__sections_check_gaps(&sections, error);
}

nigh__segment_check *const nigh__segment_checks[] = {
    nigh__segment_check_sums,   check_gaps, check_groups, check_signatures, check_ids, check_metadata, check_texts,
    nigh__segment_check_values, NULL,
};
