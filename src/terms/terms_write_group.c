/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One group, section by section: rows, then what is known of documents, then the dictionary of
 * the terms that are new.  terms_format.h draws it.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "document/document_options.h"
#include "terms/terms_file_parts.h"
#include "terms/terms_write.h"
#include "terms/terms_write_rows.h"

struct group {
    struct nigh__section_writer *sections;
    const struct nigh__blocks *blocks;
    const struct nigh__positions *positions;
    uint64_t *entries; /* of the dictionary: hash and term, sorted */
    size_t entry_count;
};

static nigh_status section(struct group *group, uint32_t type, const void *bytes, uint64_t count, size_t item_size,
                           nigh_error *error) {
    return nigh__section_write(group->sections, type, bytes, count, item_size, error);
}

/* ------------------------------------------------------------- documents -- */

/* Documents that go by their source's name need none: in a folder of files nearly all. */
static bool named_by_source(const struct nigh__blocks *blocks, uint32_t document) {
    const char *name = blocks->source_names[blocks->source_numbers[document]];
    const uint64_t begin = blocks->id_begins[document];
    const size_t length = (size_t)(blocks->id_begins[document + 1] - begin);
    return strlen(name) == length && memcmp(name, blocks->ids + begin, length) == 0;
}

/* The sources that are left are numbered anew, in order; `numbers` by the old number: the new one + 1, or 0. */
static uint32_t number_sources(const struct nigh__blocks *blocks, uint32_t *numbers, uint32_t *of_documents) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < blocks->documents; i++) {
        uint32_t *number = &numbers[blocks->source_numbers[i]];
        of_documents[i] = NIGH__TERMS_NO_SOURCE;
        if (named_by_source(blocks, i)) continue;
        if (*number == 0) *number = ++kept;
        of_documents[i] = *number - 1;
    }
    return kept;
}

/* Offsets, then bytes; sources come up in the order of their numbers, old and new. */
static nigh_status write_names(struct group *group, const uint32_t *numbers, uint32_t kept, nigh_error *error) {
    const struct nigh__blocks *blocks = group->blocks;
    struct nigh__output *output = &group->sections->output;
    uint64_t offset = 0;
    nigh_status status = nigh__section_begin(group->sections, NIGH__TERMS_SOURCE_OFFSETS, error);
    if (status == NIGH_OK) status = nigh__output_add(output, &offset, sizeof offset, error);
    for (uint32_t i = 0; i < blocks->sources && status == NIGH_OK; i++) {
        if (numbers[i] == 0) continue;
        offset += strlen(blocks->source_names[i]);
        status = nigh__output_add(output, &offset, sizeof offset, error);
    }
    if (status != NIGH_OK) return status;
    nigh__section_end(group->sections, (uint64_t)kept + 1);
    status = nigh__section_begin(group->sections, NIGH__TERMS_SOURCE_BYTES, error);
    for (uint32_t i = 0; i < blocks->sources && status == NIGH_OK; i++)
        if (numbers[i] != 0)
            status = nigh__output_add(output, blocks->source_names[i], strlen(blocks->source_names[i]), error);
    if (status == NIGH_OK) nigh__section_end(group->sections, offset);
    return status;
}

static nigh_status write_sources(struct group *group, nigh_error *error) {
    const struct nigh__blocks *blocks = group->blocks;
    const nigh_context *context = blocks->context;
    uint32_t *numbers = nigh__alloc_zero(context, blocks->sources, sizeof *numbers);
    uint32_t *of_documents = nigh__alloc(context, blocks->documents, sizeof *of_documents);
    nigh_status status = NIGH_OK;
    if (numbers == NULL || of_documents == NULL) {
        status = nigh__no_memory(error, "to write a group of blocks");
    } else {
        const uint32_t kept = number_sources(blocks, numbers, of_documents);
        status = section(group, NIGH__TERMS_SOURCES, of_documents, blocks->documents, sizeof *of_documents, error);
        if (status == NIGH_OK) status = write_names(group, numbers, kept, error);
    }
    nigh__free(context, numbers);
    nigh__free(context, of_documents);
    return status;
}

static nigh_status write_documents(struct group *group, nigh_error *error) {
    const struct nigh__blocks *blocks = group->blocks;
    const uint64_t d = blocks->documents;
    nigh_status status =
        section(group, NIGH__TERMS_FIRST_BLOCKS, blocks->first_blocks, d + 1, sizeof blocks->first_blocks[0], error);
    if (status == NIGH_OK)
        status =
            section(group, NIGH__TERMS_RECORDS, blocks->record_numbers, d, sizeof blocks->record_numbers[0], error);
    if (status == NIGH_OK)
        status = section(group, NIGH__TERMS_ID_OFFSETS, blocks->id_begins, d + 1, sizeof blocks->id_begins[0], error);
    if (status == NIGH_OK) status = section(group, NIGH__TERMS_ID_BYTES, blocks->ids, blocks->id_begins[d], 1, error);
    return status == NIGH_OK ? write_sources(group, error) : status;
}

static nigh_status write_last_blocks(struct group *group, nigh_error *error) {
    const struct nigh__blocks *blocks = group->blocks;
    const size_t bytes = (size_t)nigh__terms_row_bytes(blocks->blocks);
    uint8_t *row = nigh__alloc_zero(blocks->context, bytes, 1);
    if (row == NULL) return nigh__no_memory(error, "to write a group of blocks");
    for (uint32_t i = 0; i < blocks->documents; i++) {
        if (blocks->first_blocks[i + 1] == blocks->first_blocks[i]) continue;
        const uint32_t last = blocks->first_blocks[i + 1] - 1;
        row[last / 8] = (uint8_t)(row[last / 8] | 1u << last % 8);
    }
    nigh_status status = section(group, NIGH__TERMS_LAST_BLOCKS, row, bytes, 1, error);
    nigh__free(blocks->context, row);
    return status;
}

/* "NAME=VALUE", with a zero byte behind it. */
static nigh_status write_setting(struct group *group, const char *name, const char *value, uint64_t *length,
                                 nigh_error *error) {
    struct nigh__output *output = &group->sections->output;
    nigh_status status = nigh__output_add(output, name, strlen(name), error);
    if (status == NIGH_OK) status = nigh__output_add(output, "=", 1, error);
    if (status == NIGH_OK) status = nigh__output_add(output, value, strlen(value) + 1, error);
    *length += strlen(name) + strlen(value) + 2;
    return status;
}

static nigh_status write_settings(struct group *group, const char *name, const char *const *values, size_t count,
                                  uint64_t *length, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < count && status == NIGH_OK; i++)
        status = write_setting(group, name, values[i], length, error);
    return status;
}

static bool has_folder(const struct nigh__terms_about *about) {
    for (size_t i = 0; i < about->input_count; i++)
        if (about->inputs[i].kind == NIGH__INPUT_FOLDER) return true;
    return false;
}

/* What not every input has: without folders and such keys there is nothing, as before there were these settings. */
static nigh_status write_more(struct group *group, const struct nigh__terms_about *about,
                              const nigh_text_reader_options *reading, uint64_t *length, nigh_error *error) {
    const char *without[3];
    size_t count = 0;
    if (!reading->hidden) without[count++] = "hidden";
    if (!reading->no_ignore) without[count++] = "ignored";
    if (!reading->follow) without[count++] = "links";
    nigh_status status =
        write_settings(group, "text-key", reading->more_text_keys, reading->more_text_key_count, length, error);
    if (status == NIGH_OK)
        status = write_settings(group, "include", reading->include, reading->include_count, length, error);
    if (status == NIGH_OK)
        status = write_settings(group, "exclude", reading->exclude, reading->exclude_count, length, error);
    if (status != NIGH_OK || !has_folder(about)) return status;
    return write_settings(group, "without", without, count, length, error);
}

static nigh_status write_reading(struct group *group, const struct nigh__terms_about *about, nigh_error *error) {
    const nigh_text_reader_options *reading = about->reading;
    nigh_text_reader_options defaults;
    nigh__options_defaults(&nigh__text_reader_options_shape, &defaults);
    if (reading == NULL) reading = &defaults;
    const struct nigh__terms_reading kept = {.max_document_bytes = reading->max_document_bytes,
                                             .max_expansion = reading->max_expansion,
                                             .max_expansion_free = reading->max_expansion_free,
                                             .max_members = reading->max_members,
                                             .max_depth = reading->max_depth,
                                             .format = (uint32_t)reading->format};
    const char *const keys[] = {reading->text_key == NULL ? "text" : reading->text_key,
                                reading->id_key == NULL ? "id" : reading->id_key};
    uint64_t length = sizeof kept;
    nigh_status status = nigh__section_begin(group->sections, NIGH__TERMS_READING, error);
    if (status == NIGH_OK) status = nigh__output_add(&group->sections->output, &kept, sizeof kept, error);
    for (size_t i = 0; i < 2 && status == NIGH_OK; i++) {
        const size_t bytes = strlen(keys[i]) + 1;
        length += bytes;
        status = nigh__output_add(&group->sections->output, keys[i], bytes, error);
    }
    if (status == NIGH_OK) status = write_more(group, about, reading, &length, error);
    if (status == NIGH_OK) nigh__section_end(group->sections, length);
    return status;
}

static nigh_status write_inputs(struct group *group, const struct nigh__terms_about *about, nigh_error *error) {
    struct nigh__output *output = &group->sections->output;
    uint64_t begin = 0;
    nigh_status status = nigh__section_begin(group->sections, NIGH__TERMS_INPUTS, error);
    for (size_t i = 0; i < about->input_count && status == NIGH_OK; i++) {
        const struct nigh__term_input *input = &about->inputs[i];
        const struct nigh__terms_input_entry entry = {.path_begin = begin,
                                                      .size = input->size,
                                                      .seconds = input->seconds,
                                                      .nanoseconds = input->nanoseconds,
                                                      .kind = (uint32_t)input->kind,
                                                      .print = input->print};
        status = nigh__output_add(output, &entry, sizeof entry, error);
        begin += strlen(input->path) + 1;
    }
    if (status != NIGH_OK) return status;
    nigh__section_end(group->sections, about->input_count);
    status = nigh__section_begin(group->sections, NIGH__TERMS_INPUT_BYTES, error);
    for (size_t i = 0; i < about->input_count && status == NIGH_OK; i++)
        status = nigh__output_add(output, about->inputs[i].path, strlen(about->inputs[i].path) + 1, error);
    if (status == NIGH_OK) nigh__section_end(group->sections, begin);
    return status;
}

/* ------------------------------------------------------------ dictionary -- */

/* Terms with positions from before have them there. */
static void gather_terms(struct group *group, uint64_t *entries) {
    for (uint32_t term = 0; term < group->blocks->terms; term++) {
        if (nigh__positions_known(group->positions, term)) continue;
        entries[2 * group->entry_count] = group->blocks->hashes[term];
        entries[2 * group->entry_count + 1] = term;
        group->entry_count++;
    }
}

/* Values one after the other from the lowest bit up. */
struct packer {
    struct nigh__output *output;
    uint64_t word;
    uint32_t used; /* bits of it, below 8 between two calls */
    uint64_t bytes;
};

static nigh_status pack(struct packer *packer, uint32_t value, uint32_t bits, nigh_error *error) {
    packer->word |= (uint64_t)value << packer->used;
    packer->used += bits;
    const uint32_t whole = packer->used / 8;
    nigh_status status = nigh__output_add(packer->output, &packer->word, whole, error);
    packer->word >>= whole * 8;
    packer->used %= 8;
    packer->bytes += whole;
    return status;
}

static nigh_status pack_end(struct packer *packer, nigh_error *error) {
    return packer->used == 0 ? NIGH_OK : pack(packer, 0, 8 - packer->used, error);
}

static nigh_status write_hashes(struct group *group, uint32_t type, enum nigh__term_kind kind, nigh_error *error) {
    uint64_t count = 0;
    nigh_status status = nigh__section_begin(group->sections, type, error);
    for (size_t i = 0; i < group->entry_count && status == NIGH_OK; i++) {
        if (group->positions->kinds[group->entries[2 * i + 1]] != kind) continue;
        status = nigh__output_add(&group->sections->output, &group->entries[2 * i], sizeof(uint64_t), error);
        count++;
    }
    if (status == NIGH_OK) nigh__section_end(group->sections, count);
    return status;
}

static nigh_status write_values(struct group *group, uint32_t type, enum nigh__term_kind kind, uint32_t values,
                                uint32_t bits, nigh_error *error) {
    struct packer packer = {.output = &group->sections->output};
    nigh_status status = nigh__section_begin(group->sections, type, error);
    for (size_t i = 0; i < group->entry_count && status == NIGH_OK; i++) {
        const uint32_t term = (uint32_t)group->entries[2 * i + 1];
        if (group->positions->kinds[term] != kind) continue;
        const uint32_t *own = nigh__positions_of(group->positions, term);
        for (uint32_t j = 0; j < values && status == NIGH_OK; j++) status = pack(&packer, own[j], bits, error);
    }
    if (status == NIGH_OK) status = pack_end(&packer, error);
    if (status == NIGH_OK) nigh__section_end(group->sections, packer.bytes);
    return status;
}

static nigh_status write_parts(struct group *group, nigh_error *error) {
    const struct nigh__filter_shape *shape = &group->positions->shape;
    nigh_status status = write_hashes(group, NIGH__TERMS_POSITION_HASHES, NIGH__TERM_POSITIONS, error);
    if (status == NIGH_OK)
        status = write_values(group, NIGH__TERMS_POSITION_VALUES, NIGH__TERM_POSITIONS, shape->hashes,
                              nigh__bits_of(shape->bits), error);
    if (status == NIGH_OK) status = write_hashes(group, NIGH__TERMS_FREQUENT_HASHES, NIGH__TERM_HASHED, error);
    if (status == NIGH_OK) status = write_hashes(group, NIGH__TERMS_SINGLE_HASHES, NIGH__TERM_SINGLE, error);
    if (status == NIGH_OK)
        status = write_values(group, NIGH__TERMS_SINGLE_BLOCKS, NIGH__TERM_SINGLE, 1,
                              nigh__bits_of(group->blocks->blocks), error);
    return status;
}

static nigh_status write_dictionary(struct group *group, uint32_t threads, nigh_error *error) {
    const struct nigh__blocks *blocks = group->blocks;
    const bool none = group->positions->shape.kind == NIGH_FILTER_BLOOM;
    const size_t room = none ? 0 : blocks->terms;
    uint64_t *entries = nigh__alloc_large(blocks->context, 2 * room, sizeof *entries);
    uint64_t *scratch = nigh__alloc_large(blocks->context, 2 * room, sizeof *entries);
    nigh_status status = NIGH_OK;
    if (entries == NULL || scratch == NULL) status = nigh__no_memory(error, "to write a group of blocks");
    if (status == NIGH_OK) {
        if (!none) gather_terms(group, entries);
        group->entries = nigh__words_sort(entries, scratch, group->entry_count, 2, 1, threads);
        status = write_parts(group, error);
    }
    nigh__free(blocks->context, entries);
    nigh__free(blocks->context, scratch);
    return status;
}

/* ----------------------------------------------------------------- whole -- */

static uint32_t most_blocks(const struct nigh__blocks *blocks) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < blocks->documents; i++) {
        const uint32_t own = blocks->first_blocks[i + 1] - blocks->first_blocks[i];
        if (own > most) most = own;
    }
    return most;
}

nigh_status nigh__terms_write_group(struct nigh__section_writer *sections, const char *lines,
                                    const struct nigh__blocks *blocks, const struct nigh__positions *positions,
                                    const struct nigh__terms_about *about, uint32_t threads,
                                    struct nigh__progress *progress, nigh_error *error) {
    struct group group = {.sections = sections, .blocks = blocks, .positions = positions};
    struct nigh__terms_figures figures = {.expected_error = about->expected_error, .most_blocks = most_blocks(blocks)};
    struct nigh__terms_header header = {.version = NIGH__FORMAT_VERSION,
                                        .endian_mark = NIGH__ENDIAN_MARK,
                                        .postings = blocks->postings,
                                        .documents = blocks->documents,
                                        .blocks = blocks->blocks,
                                        .filter_bits = positions->shape.bits};
    memcpy(header.magic, NIGH__TERMS_MAGIC, NIGH__MAGIC_SIZE);
    nigh_status status = nigh__terms_write_rows(sections, NIGH__TERMS_ROWS, blocks, positions, about->stripe_bytes,
                                                threads, progress, &figures.set_bits, error);
    if (status == NIGH_OK) status = section(&group, NIGH__TERMS_LINES, lines, strlen(lines), 1, error);
    if (status == NIGH_OK) status = section(&group, NIGH__TERMS_FIGURES, &figures, 1, sizeof figures, error);
    if (status == NIGH_OK) status = write_documents(&group, error);
    if (status == NIGH_OK) status = write_last_blocks(&group, error);
    if (status == NIGH_OK) status = write_inputs(&group, about, error);
    if (status == NIGH_OK) status = write_reading(&group, about, error);
    if (status == NIGH_OK && nigh__progress_tick(progress, "writing the dictionary", 0, 0))
        status = nigh__progress_cancelled(error);
    if (status == NIGH_OK) status = write_dictionary(&group, threads, error);
    header.section_count = sections->count;
    return status == NIGH_OK ? nigh__section_writer_finish(sections, &header, error) : status;
}
