/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * An open term signature file: the groups of one manifest, in order, and what is asked of single
 * documents.  Numbers in a map can change under us, so each is copied out once, compared with
 * its bound, and used from the copy.
 */
#include "terms/terms_file.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/status.h"
#include "collection/collection_options.h"
#include "collection/directory.h"
#include "collection/state.h"
#include "terms/terms_file_parts.h"

/* ----------------------------------------------------------------- opening -- */

nigh_status nigh__terms_new(const nigh_context *context, const char *path, struct nigh_terms **out, nigh_error *error) {
    struct nigh_terms *terms = nigh__alloc_zero(context, 1, sizeof *terms);
    *out = terms;
    if (terms != NULL) {
        terms->context = context;
        terms->path = nigh__string_copy(context, path);
        if (terms->path != NULL) return NIGH_OK;
    }
    nigh_terms_close(terms);
    *out = NULL;
    return nigh__no_memory(error, "for a term signature file");
}

/* The parts of a group's dictionary are as long as its hashes and the shape say. */
static nigh_status take_parts(const struct nigh__filter_shape *shape, struct nigh__terms_group_file *group,
                              nigh_error *error) {
    static const struct {
        enum nigh__terms_section hashes, values;
    } sections[3] = {
        [NIGH__TERM_POSITIONS] = {NIGH__TERMS_POSITION_HASHES, NIGH__TERMS_POSITION_VALUES},
        [NIGH__TERM_HASHED] = {NIGH__TERMS_FREQUENT_HASHES, 0},
        [NIGH__TERM_SINGLE] = {NIGH__TERMS_SINGLE_HASHES, NIGH__TERMS_SINGLE_BLOCKS},
    };
    const uint32_t values[3] = {[NIGH__TERM_POSITIONS] = shape->hashes, [NIGH__TERM_SINGLE] = 1};
    const uint32_t bits[3] = {
        [NIGH__TERM_POSITIONS] = nigh__bits_of(shape->bits), [NIGH__TERM_SINGLE] = nigh__bits_of(group->header.blocks)};
    uint64_t all = 0;
    for (size_t i = 0; i < 3; i++) {
        const struct nigh__section_entry *hashes = &group->sections[sections[i].hashes];
        const struct nigh__section_entry *packed = &group->sections[sections[i].values]; /* of hashed: zeros */
        /* Hashes lie in the file, so their number times some hundred bits is far from the end of 64 bits. */
        if (packed->length != (hashes->count * values[i] * bits[i] + 7) / 8)
            return nigh__terms_corrupt(group, sections[i].values, 0, "not as many as there are terms", error);
        group->parts[i] = (struct nigh__terms_part){.hashes = (const void *)(group->shown.map + hashes->offset),
                                                    .values = group->shown.map + packed->offset,
                                                    .count = hashes->count,
                                                    .values_a_term = values[i],
                                                    .bits_a_value = bits[i]};
        all += hashes->count;
    }
    const bool none = shape->kind == NIGH_FILTER_BLOOM;
    if (all > UINT32_MAX || all > group->header.postings || (none && all != 0))
        return nigh__terms_corrupt(group, NIGH__TERMS_POSITION_HASHES, 0, "more terms than there can be", error);
    if (shape->kind == NIGH_FILTER_COCA && all != group->parts[NIGH__TERM_POSITIONS].count)
        return nigh__terms_corrupt(group, NIGH__TERMS_FREQUENT_HASHES, 0, "terms of another kind than the filters",
                                   error);
    group->shown.terms = (uint32_t)all;
    return NIGH_OK;
}

static nigh_status fits(struct nigh_terms *terms, const struct nigh__terms_group_file *group, nigh_error *error) {
    const uint64_t lines_at = group->sections[NIGH__TERMS_LINES].offset;
    if (terms->group_count == 0) {
        nigh_status status = nigh__terms_lines_read(terms->context, group->lines, group->path, lines_at, terms, error);
        if (status != NIGH_OK) return status;
    } else if (strcmp(group->lines, terms->groups[0]->lines) != 0) {
        return nigh__terms_corrupt(group, NIGH__TERMS_LINES, 0, "shape or analysis is not that of the other groups",
                                   error);
    }
    if (group->header.filter_bits != terms->shape.bits)
        return nigh__fail_at(error, NIGH_ECORRUPT, group->path, offsetof(struct nigh__terms_header, filter_bits),
                             "filters of %u bits, described as of %u", group->header.filter_bits, terms->shape.bits);
    if (terms->group_count >= NIGH__MAX_SEGMENTS)
        return nigh__fail_at(error, NIGH_ELIMIT, terms->path, NIGH_NO_OFFSET,
                             "a term signature file has at most %u groups", NIGH__MAX_SEGMENTS);
    return NIGH_OK;
}

nigh_status nigh__terms_take(struct nigh_terms *terms, struct nigh__terms_group_file *group, nigh_error *error) {
    nigh_status status = fits(terms, group, error);
    if (status == NIGH_OK) status = take_parts(&terms->shape, group, error);
    if (status != NIGH_OK) return status;
    if ((terms->group_count & (terms->group_count - 1)) == 0) { /* a power of two, or none: grows */
        struct nigh__terms_group_file **grown =
            nigh__alloc(terms->context, terms->group_count == 0 ? 1 : (size_t)terms->group_count * 2,
                        sizeof(struct nigh__terms_group_file *));
        if (grown == NULL) return nigh__no_memory(error, "for groups");
        if (terms->group_count != 0)
            memcpy(grown, terms->groups, terms->group_count * sizeof(struct nigh__terms_group_file *));
        nigh__free(terms->context, terms->groups);
        terms->groups = grown;
    }
    group->shown.first_document = terms->documents;
    group->shown.first_block = terms->blocks;
    terms->documents += group->header.documents;
    terms->blocks += group->header.blocks;
    terms->groups[terms->group_count++] = group;
    return NIGH_OK;
}

static void close_groups(struct nigh_terms *terms) {
    for (uint32_t i = 0; i < terms->group_count; i++) nigh__terms_group_close(terms->groups[i]);
    nigh__free(terms->context, terms->groups);
    terms->groups = NULL;
    terms->group_count = 0;
    terms->documents = terms->blocks = 0;
}

static nigh_status open_groups(struct nigh_terms *terms, const struct nigh__file *directory,
                               const struct nigh__manifest *manifest, nigh_error *error) {
    for (uint32_t i = 0; i < manifest->header.segment_count; i++) {
        struct nigh__terms_group_file *group;
        char name[NIGH__NAME_SIZE];
        nigh__terms_name(name, manifest->entries[i].segment.number, "");
        const struct nigh__manifest_entry *entry = &manifest->entries[i].segment;
        nigh_status status = nigh__terms_group_open(directory, name, entry->number, entry, &group, error);
        if (status != NIGH_OK) return status;
        status = nigh__terms_take(terms, group, error);
        if (status != NIGH_OK) {
            nigh__terms_group_close(group);
            return status;
        }
    }
    if (terms->group_count != 0 && terms->shape.bits == manifest->header.width_bits) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ECORRUPT, terms->path, NIGH_NO_OFFSET,
                         terms->group_count == 0 ? "the manifest names no group"
                                                 : "the manifest says other bits of a filter than the groups");
}

static nigh_status open_state(void *user, const struct nigh__file *directory, const struct nigh__manifest *manifest,
                              const struct nigh__listing *listing, nigh_error *error) {
    struct nigh_terms *terms = user;
    (void)listing;
    terms->sequence = manifest->header.sequence;
    terms->next_number = manifest->header.next_segment;
    nigh_status status = open_groups(terms, directory, manifest, error);
    if (status != NIGH_OK) close_groups(terms);
    return status;
}

nigh_status nigh__terms_open_in(const struct nigh__file *directory, struct nigh_terms **out, nigh_error *error) {
    nigh_status status = nigh__terms_new(directory->context, directory->path, out, error);
    if (status != NIGH_OK) return status;
    status = nigh__state_open(directory, NIGH__STORE_TERMS, open_state, *out, &(*out)->damaged_manifests, error);
    if (status == NIGH_OK) return NIGH_OK;
    nigh_terms_close(*out);
    *out = NULL;
    return status;
}

static nigh_status verify(const struct nigh_terms *terms, const nigh_progress *progress, nigh_error *error) {
    struct nigh__progress state;
    nigh__progress_init(&state, progress);
    for (uint32_t i = 0; i < terms->group_count; i++) {
        nigh_status status = nigh__terms_group_check_sums(terms->groups[i], &state, error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

nigh_status nigh_terms_open(nigh_context *context, const char *path, const nigh_open_options *options, nigh_terms **out,
                            nigh_error *error) {
    *out = NULL;
    nigh_open_options chosen;
    nigh_status status = nigh__options_copy(&nigh__open_options_shape, &chosen, options, error);
    if (status != NIGH_OK) return status;
    struct nigh__file directory;
    status = nigh__directory_open(context, path, NIGH__STORE_TERMS, &directory, error);
    if (status != NIGH_OK) return status;
    nigh_terms *terms = NULL;
    status = nigh__terms_open_in(&directory, &terms, error);
    nigh__file_release(&directory);
    if (terms != NULL && chosen.verify) status = verify(terms, chosen.progress, error);
    if (status == NIGH_OK)
        *out = terms;
    else
        nigh_terms_close(terms);
    return status;
}

void nigh_terms_close(nigh_terms *terms) {
    if (terms == NULL) return;
    close_groups(terms);
    nigh__free(terms->context, terms->path);
    nigh__free(terms->context, terms);
}

/* --------------------------------------------------------------- describing -- */

const struct nigh__filter_shape *nigh__terms_shape(const nigh_terms *terms) { return &terms->shape; }
const struct nigh__feature_plan *nigh__terms_plan(const nigh_terms *terms) { return &terms->plan; }
const nigh_context *nigh__terms_context(const nigh_terms *terms) { return terms->context; }
const char *nigh__terms_path(const nigh_terms *terms) { return terms->path; }
uint32_t nigh__terms_block_terms(const nigh_terms *terms) { return terms->block_terms; }
uint32_t nigh__terms_groups(const nigh_terms *terms) { return terms->group_count; }

const struct nigh__term_group *nigh__terms_group(const nigh_terms *terms, uint32_t group) {
    return &terms->groups[group]->shown;
}

static uint64_t section_bytes(const struct nigh__terms_group_file *group, uint32_t first, uint32_t last) {
    uint64_t bytes = 0;
    for (uint32_t type = first; type <= last; type++) bytes += group->sections[type].length;
    return bytes;
}

void nigh_terms_describe(const nigh_terms *terms, nigh_terms_info *out) {
    const struct nigh__filter_shape *shape = &terms->shape;
    nigh_terms_info info = {.kind = shape->kind,
                            .documents = terms->documents,
                            .blocks = terms->blocks,
                            .groups = terms->group_count,
                            .filter_bits = shape->bits,
                            .hashes = shape->hashes,
                            .frequent_hashes = shape->frequent_hashes,
                            .theta = shape->theta,
                            .block_terms = terms->block_terms,
                            .expected_error = terms->groups[0]->figures.expected_error,
                            .reader = {.size = sizeof(nigh_text_reader_info)}};
    double set = 0;
    memcpy(info.lines, terms->analysis, sizeof info.lines);
    for (uint32_t i = 0; i < terms->group_count; i++) {
        const struct nigh__terms_group_file *group = terms->groups[i];
        info.terms += group->shown.terms;
        info.postings += group->header.postings;
        info.bytes += group->header.file_length;
        info.row_bytes += group->sections[NIGH__TERMS_ROWS].length;
        info.document_bytes += section_bytes(group, NIGH__TERMS_FIRST_BLOCKS, NIGH__TERMS_INPUT_BYTES) +
                               section_bytes(group, NIGH__TERMS_LAST_BLOCKS, NIGH__TERMS_READING);
        info.dictionary_bytes += section_bytes(group, NIGH__TERMS_POSITION_HASHES, NIGH__TERMS_SINGLE_BLOCKS);
        set += (double)group->figures.set_bits;
    }
    if (info.blocks != 0) {
        info.bits_per_term = (double)shape->bits * (double)info.blocks / (double)info.postings;
        info.fill = set / ((double)shape->bits * (double)info.blocks);
    }
    nigh__info_copy(out, &info, sizeof info);
}

/* ---------------------------------------------------------------- documents -- */

uint32_t nigh__terms_group_of(const nigh_terms *terms, uint64_t document) {
    uint32_t low = 0;
    uint32_t high = terms->group_count;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (terms->groups[middle]->shown.first_document <= document)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static nigh_status locate(const struct nigh_terms *terms, uint64_t document,
                          const struct nigh__terms_group_file **group, uint32_t *within, nigh_error *error) {
    if (document >= terms->documents) {
        (void)nigh__fail(error, NIGH_EINVAL, "no document %" PRIu64 "; the file has %" PRIu64, document,
                         terms->documents);
        return NIGH_EINVAL;
    }
    *group = terms->groups[nigh__terms_group_of(terms, document)];
    *within = (uint32_t)(document - (*group)->shown.first_document);
    return NIGH_OK;
}

/* Copies text `index` of a pair of sections; false where it is misplaced, or has a zero byte.  Inside a guard. */
static bool copy_text(const struct nigh__terms_group_file *group, enum nigh__terms_section type,
                      const uint64_t *offsets, uint64_t index, char *buffer, size_t capacity, size_t *length) {
    const uint64_t begin = NIGH__ONCE(offsets[index]);
    const uint64_t end = NIGH__ONCE(offsets[index + 1]);
    if (begin > end || end > group->sections[type].length) return false;
    *length = (size_t)(end - begin);
    if (capacity == 0) return true;
    const size_t part = nigh__smaller(*length, capacity - 1);
    memcpy(buffer, group->shown.map + group->sections[type].offset + begin, part);
    buffer[part] = '\0';
    return memchr(buffer, '\0', part) == NULL;
}

static nigh_status read_text(const struct nigh__terms_group_file *group, enum nigh__terms_section type,
                             const uint64_t *offsets, uint64_t index, char *buffer, size_t capacity, size_t *length,
                             nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, group->shown.map, group->shown.map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__terms_cut(group, error);
    const bool sound = copy_text(group, type, offsets, index, buffer, capacity, length);
    nigh__guard_leave(&guard);
    if (sound) return NIGH_OK;
    return nigh__terms_corrupt(group, type - 1, index, "a name is malformed or misplaced", error);
}

nigh_status nigh_terms_id(const nigh_terms *terms, uint64_t document, char *buffer, size_t capacity, size_t *length,
                          nigh_error *error) {
    const struct nigh__terms_group_file *group = NULL;
    uint32_t within = 0;
    nigh_status status = locate(terms, document, &group, &within, error);
    if (status != NIGH_OK) return status;
    return read_text(group, NIGH__TERMS_ID_BYTES, group->id_offsets, within, buffer, capacity, length, error);
}

static bool copy_origin(const struct nigh__terms_group_file *group, uint32_t within, uint64_t *record,
                        uint32_t *source) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, group->shown.map, group->shown.map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    *record = NIGH__ONCE(group->records[within]);
    *source = NIGH__ONCE(group->sources[within]);
    nigh__guard_leave(&guard);
    return true;
}

nigh_status nigh__terms_origin(const nigh_terms *terms, uint64_t document, uint64_t *record, char *source,
                               size_t capacity, size_t *length, nigh_error *error) {
    const struct nigh__terms_group_file *group = NULL;
    uint32_t within = 0;
    uint32_t number;
    nigh_status status = locate(terms, document, &group, &within, error);
    if (status != NIGH_OK) return status;
    if (!copy_origin(group, within, record, &number)) return nigh__terms_cut(group, error);
    if (number == NIGH__TERMS_NO_SOURCE)
        return read_text(group, NIGH__TERMS_ID_BYTES, group->id_offsets, within, source, capacity, length, error);
    if (number >= group->sections[NIGH__TERMS_SOURCE_OFFSETS].count - 1)
        return nigh__terms_corrupt(group, NIGH__TERMS_SOURCES, within, "a source that is not there", error);
    return read_text(group, NIGH__TERMS_SOURCE_BYTES, group->source_offsets, number, source, capacity, length, error);
}

nigh_status nigh__terms_first_block(const nigh_terms *terms, uint32_t group, uint32_t document, uint32_t *out,
                                    nigh_error *error) {
    const struct nigh__terms_group_file *file = terms->groups[group];
    struct nigh__guard guard;
    nigh__guard_enter(&guard, file->shown.map, file->shown.map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__terms_cut(file, error);
    *out = NIGH__ONCE(file->shown.first_blocks[document]);
    nigh__guard_leave(&guard);
    if (*out <= file->header.blocks) return NIGH_OK;
    return nigh__terms_corrupt(file, NIGH__TERMS_FIRST_BLOCKS, document, "a block that is not there", error);
}

/* The last document whose first block is not behind the block: those without a block stand before it. */
static uint32_t find_document(const struct nigh__terms_group_file *file, uint32_t block) {
    uint32_t low = 0;
    uint32_t high = file->header.documents;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (NIGH__ONCE(file->shown.first_blocks[middle]) <= block)
            low = middle;
        else
            high = middle;
    }
    return low;
}

nigh_status nigh__terms_document_of(const nigh_terms *terms, uint32_t group, uint32_t block, uint32_t *out,
                                    nigh_error *error) {
    const struct nigh__terms_group_file *file = terms->groups[group];
    struct nigh__guard guard;
    nigh__guard_enter(&guard, file->shown.map, file->shown.map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__terms_cut(file, error);
    const uint32_t document = find_document(file, block);
    const bool sound = document < file->header.documents && NIGH__ONCE(file->shown.first_blocks[document]) <= block &&
                       block < NIGH__ONCE(file->shown.first_blocks[document + 1]);
    nigh__guard_leave(&guard);
    *out = document;
    if (sound) return NIGH_OK;
    return nigh__terms_corrupt(file, NIGH__TERMS_FIRST_BLOCKS, document, "a block that belongs to no document", error);
}
