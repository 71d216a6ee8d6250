/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * nigh_terms_check(): every manifest (collection/checking.c), every group the newest one names, byte for
 * byte and then for what its sections must say of each other.  The terms of the documents are not
 * kept, so that a bit of a row is right is known by the checksum alone.
 */
#include "base/guard.h"
#include "base/status.h"
#include "collection/checking.h"
#include "collection/directory.h"
#include "terms/terms_file_parts.h"

/* What a walk over sections ends with: where it is wrong, and why. */
struct finding {
    const char *why; /* NULL: nothing is */
    enum nigh__terms_section type;
    uint64_t index;
};

static struct finding found(enum nigh__terms_section type, uint64_t index, const char *why) {
    return (struct finding){.why = why, .type = type, .index = index};
}

static const struct finding nothing = {.why = NULL};

/* --------------------------------------------------------------- documents -- */

static struct finding walk_offsets(const struct nigh__terms_group_file *group, enum nigh__terms_section type,
                                   const uint64_t *offsets, uint64_t most) {
    const uint64_t count = group->sections[type].count;
    uint64_t last = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (offsets[i] < last || offsets[i] - last > most || (i == 0 && offsets[i] != 0))
            return found(type, i, "a name is misplaced");
        last = offsets[i];
    }
    return last == group->sections[type + 1].length ? nothing
                                                    : found(type, count - 1, "names do not end with their bytes");
}

static struct finding walk_blocks(const struct nigh__terms_group_file *group) {
    const uint32_t *first_blocks = group->shown.first_blocks;
    uint32_t most = 0;
    if (first_blocks[0] != 0) return found(NIGH__TERMS_FIRST_BLOCKS, 0, "the first block is not that of a document");
    for (uint64_t i = 0; i < group->header.documents; i++) {
        if (first_blocks[i + 1] < first_blocks[i])
            return found(NIGH__TERMS_FIRST_BLOCKS, i + 1, "blocks of documents are out of order");
        if (first_blocks[i + 1] - first_blocks[i] > most) most = first_blocks[i + 1] - first_blocks[i];
    }
    if (first_blocks[group->header.documents] != group->header.blocks)
        return found(NIGH__TERMS_FIRST_BLOCKS, group->header.documents, "blocks that belong to no document");
    return most == group->figures.most_blocks
               ? nothing
               : found(NIGH__TERMS_FIGURES, 0, "the largest number of blocks of a document is wrong");
}

/* The last blocks say the same as the first ones. */
static struct finding walk_last_blocks(const struct nigh__terms_group_file *group) {
    const uint8_t *bits = group->shown.last_blocks;
    uint64_t document = 0;
    for (uint64_t block = 0; block < group->shown.row_bytes * 8; block++) {
        while (document < group->header.documents && group->shown.first_blocks[document + 1] <= block) document++;
        const bool last = document < group->header.documents && group->shown.first_blocks[document + 1] == block + 1;
        if ((bits[block / 8] >> block % 8 & 1) != last)
            return found(NIGH__TERMS_LAST_BLOCKS, block / 8, "the last block of a document is wrong");
    }
    return nothing;
}

static struct finding walk_sources(const struct nigh__terms_group_file *group) {
    const uint64_t sources = group->sections[NIGH__TERMS_SOURCE_OFFSETS].count - 1;
    for (uint64_t i = 0; i < group->header.documents; i++)
        if (group->sources[i] >= sources && group->sources[i] != NIGH__TERMS_NO_SOURCE)
            return found(NIGH__TERMS_SOURCES, i, "a source that is not there");
    return walk_offsets(group, NIGH__TERMS_SOURCE_OFFSETS, group->source_offsets, UINT64_MAX);
}

static struct finding walk_documents(const struct nigh__terms_group_file *group) {
    struct finding finding = walk_blocks(group);
    if (finding.why == NULL) finding = walk_last_blocks(group);
    if (finding.why == NULL)
        finding = walk_offsets(group, NIGH__TERMS_ID_OFFSETS, group->id_offsets, NIGH_MAX_ID_LENGTH);
    return finding.why == NULL ? walk_sources(group) : finding;
}

/* -------------------------------------------------------------- dictionary -- */

static const struct {
    enum nigh__terms_section hashes, values;
} part_sections[] = {
    [NIGH__TERM_POSITIONS] = {NIGH__TERMS_POSITION_HASHES, NIGH__TERMS_POSITION_VALUES},
    [NIGH__TERM_HASHED] = {NIGH__TERMS_FREQUENT_HASHES, NIGH__TERMS_FREQUENT_HASHES},
    [NIGH__TERM_SINGLE] = {NIGH__TERMS_SINGLE_HASHES, NIGH__TERMS_SINGLE_BLOCKS},
};

static struct finding walk_part(const struct nigh__terms_group_file *group, enum nigh__term_kind kind) {
    const struct nigh__terms_part *part = &group->parts[kind];
    const uint32_t limit = kind == NIGH__TERM_SINGLE ? group->header.blocks : group->header.filter_bits;
    const uint64_t values = part->count * part->values_a_term;
    for (uint64_t i = 1; i < part->count; i++)
        if (part->hashes[i - 1] >= part->hashes[i])
            return found(part_sections[kind].hashes, i, "terms are out of order");
    for (uint64_t i = 0; i < values; i++)
        if (nigh__terms_unpack(part->values, i, part->bits_a_value) >= limit)
            return found(part_sections[kind].values, i * part->bits_a_value / 8, "a number that is too large");
    const uint64_t bits = values * part->bits_a_value;
    if (bits % 8 != 0 && part->values[bits / 8] >> bits % 8 != 0)
        return found(part_sections[kind].values, bits / 8, "bits behind the last number are not zero");
    return nothing;
}

/* A term is kept in one way. */
static struct finding walk_pair(const struct nigh__terms_group_file *group, enum nigh__term_kind a,
                                enum nigh__term_kind b) {
    uint64_t j = 0;
    for (uint64_t i = 0; i < group->parts[a].count; i++) {
        const uint64_t hash = group->parts[a].hashes[i];
        while (j < group->parts[b].count && group->parts[b].hashes[j] < hash) j++;
        if (j < group->parts[b].count && group->parts[b].hashes[j] == hash)
            return found(part_sections[b].hashes, j, "a term is there twice");
    }
    return nothing;
}

static struct finding walk_dictionary(const struct nigh__terms_group_file *group) {
    struct finding finding = nothing;
    for (enum nigh__term_kind kind = NIGH__TERM_POSITIONS; kind <= NIGH__TERM_SINGLE && finding.why == NULL; kind++)
        finding = walk_part(group, kind);
    if (finding.why == NULL) finding = walk_pair(group, NIGH__TERM_POSITIONS, NIGH__TERM_HASHED);
    if (finding.why == NULL) finding = walk_pair(group, NIGH__TERM_POSITIONS, NIGH__TERM_SINGLE);
    if (finding.why == NULL) finding = walk_pair(group, NIGH__TERM_HASHED, NIGH__TERM_SINGLE);
    return finding;
}

/* -------------------------------------------------------------------- rows -- */

/* Bits of the blocks there are, counted, and none behind them. */
static struct finding walk_rows(const struct nigh__terms_group_file *group) {
    const uint64_t row_bytes = group->shown.row_bytes;
    const uint64_t blocks = group->header.blocks;
    uint64_t set = 0;
    for (uint64_t row = 0; row < group->header.filter_bits && row_bytes > 0; row++) {
        const uint8_t *bytes = group->shown.rows + row * row_bytes;
        for (uint64_t at = 0; at < row_bytes; at += 8) {
            const uint64_t word = nigh__load64(bytes + at);
            const uint64_t left = at * 8 < blocks ? blocks - at * 8 : 0;
            if (left < 64 && word >> left != 0)
                return found(NIGH__TERMS_ROWS, row, "a bit of a block that is not there");
            set += (uint64_t)__builtin_popcountll(word);
        }
    }
    return set == group->figures.set_bits ? nothing
                                          : found(NIGH__TERMS_FIGURES, 0, "the number of bits that are set is wrong");
}

/* ------------------------------------------------------------------- whole -- */

typedef struct finding walk(const struct nigh__terms_group_file *group);

static nigh_status run_walk(const struct nigh__terms_group_file *group, walk *step, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, group->shown.map, group->shown.map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__terms_cut(group, error);
    const struct finding finding = step(group);
    nigh__guard_leave(&guard);
    if (finding.why == NULL) return NIGH_OK;
    return nigh__terms_corrupt(group, finding.type, finding.index, finding.why, error);
}

static bool check_group(struct nigh__checking *check, const struct nigh__terms_group_file *group) {
    static walk *const walks[] = {walk_documents, walk_dictionary, walk_rows};
    nigh_error problem;
    /* Where a checksum fails, what follows would say the same in other words. */
    if (nigh__terms_group_check_sums(group, &check->progress, &problem) != NIGH_OK)
        return nigh__checking_report(check, &problem);
    for (size_t i = 0; i < sizeof walks / sizeof *walks; i++) {
        if (run_walk(group, walks[i], &problem) != NIGH_OK && !nigh__checking_report(check, &problem)) return false;
        if (!nigh__progress_tick(&check->progress, "checking", i, 0)) continue;
        (void)nigh__progress_cancelled(&problem);
        return nigh__checking_report(check, &problem);
    }
    return true;
}

/* Each that can be opened becomes one of the terms', which say whether it fits those before it. */
static bool check_groups(struct nigh__checking *check, const struct nigh__manifest *manifest,
                         struct nigh_terms *terms) {
    for (uint32_t i = 0; i < manifest->header.segment_count; i++) {
        const struct nigh__manifest_entry *entry = &manifest->entries[i].segment;
        struct nigh__terms_group_file *group;
        nigh_error problem;
        char name[NIGH__NAME_SIZE];
        check->result.files++;
        nigh__terms_name(name, entry->number, "");
        nigh_status status = nigh__terms_group_open(check->directory, name, entry->number, entry, &group, &problem);
        if (status == NIGH_OK) {
            check->result.bytes += group->header.file_length;
            check->result.documents += group->header.documents;
            status = nigh__terms_take(terms, group, &problem);
            if (status != NIGH_OK) nigh__terms_group_close(group);
        }
        if (status != NIGH_OK ? !nigh__checking_report(check, &problem) : !check_group(check, group)) return false;
    }
    return true;
}

static void check_state(struct nigh__checking *check, const struct nigh__listing *listing,
                        const struct nigh__manifest *manifest) {
    struct nigh_terms *terms;
    nigh_error problem;
    (void)listing;
    nigh_status status = nigh__terms_new(check->context, check->directory->path, &terms, &problem);
    bool go_on = status == NIGH_OK ? check_groups(check, manifest, terms) : nigh__checking_report(check, &problem);
    nigh_terms_close(terms);
    /* The last word: the file as a reader would open it. */
    if (!go_on || check->result.problems != 0) return;
    if (nigh__terms_open_in(check->directory, &terms, &problem) != NIGH_OK)
        (void)nigh__checking_report(check, &problem);
    nigh_terms_close(terms);
}

nigh_status nigh_terms_check(nigh_context *context, const char *path, const nigh_check_options *options,
                             nigh_check_result *result, nigh_error *error) {
    return nigh__checking_run(context, path, NIGH__STORE_TERMS, options, check_state, result, error);
}
