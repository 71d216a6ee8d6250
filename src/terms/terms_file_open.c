/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Opening a group.  Header, table and footer are read into memory of our own, so that what was
 * checked cannot change afterwards; only then is the file mapped.  Of the sections those are
 * read that are small: the lines, the figures and the inputs.  The others are as long as the
 * counts demand, and what is in them is compared with its bound by whoever reads it.
 */
#include <stddef.h>
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/hash.h"
#include "base/status.h"
#include "collection/header.h"
#include "document/document_options.h"
#include "terms/terms_file_parts.h"

/* What is shared with segments stands at the same places. */
#define AT(field) (offsetof(struct nigh__terms_header, field) == offsetof(struct nigh__segment_header, field))
_Static_assert(AT(version) && AT(endian_mark) && AT(incompatible) && AT(file_length) && AT(checksum), "format");
#undef AT

nigh_status nigh__terms_cut(const struct nigh__terms_group_file *group, nigh_error *error) {
    return nigh__sections_cut(group->path, error);
}

nigh_status nigh__terms_corrupt(const struct nigh__terms_group_file *group, enum nigh__terms_section type,
                                uint64_t index, const char *why, nigh_error *error) {
    const struct nigh__section_entry *entry = &group->sections[type];
    const uint64_t item_size = entry->count == 0 ? 1 : entry->length / entry->count;
    return nigh__fail_at(error, NIGH_ECORRUPT, group->path, entry->offset + index * item_size, "%s", why);
}

/* ------------------------------------------------------------------- head -- */

static nigh_status check_wanted(const struct nigh__terms_group_file *group, const struct nigh__manifest_entry *wanted,
                                nigh_error *error) {
    const struct nigh__terms_header *header = &group->header;
    if (wanted == NULL || (wanted->file_length == header->file_length && wanted->documents == header->documents &&
                           wanted->header_checksum == header->checksum))
        return NIGH_OK;
    return nigh__fail_at(error, NIGH_ECORRUPT, group->path, 0, "not the file that the manifest names");
}

static nigh_status read_head(const struct nigh__file *file, struct nigh__terms_group_file *group, nigh_error *error) {
    struct nigh__terms_header *header = &group->header;
    uint64_t length = 0;
    nigh_status status = nigh__file_length(file, &length, error);
    if (status == NIGH_OK) status = nigh__file_read(file, 0, header, sizeof *header, error);
    if (status == NIGH_OK)
        status = nigh__header_check(file->path, header, NIGH__TERMS_MAGIC, "group of a term signature file", error);
    if (status == NIGH_OK) status = nigh__sections_length_check(file->path, length, header->file_length, error);
    if (status != NIGH_OK) return status;
    if (header->section_count > NIGH__MAX_SECTIONS)
        return nigh__fail_at(error, NIGH_ECORRUPT, file->path, offsetof(struct nigh__terms_header, section_count),
                             "too many sections");
    status = nigh__file_read(file, NIGH__TABLE_AT, group->table, header->section_count * sizeof group->table[0], error);
    if (status == NIGH_OK) status = nigh__sections_head_check(file, header, group->table, header->section_count, error);
    if (status == NIGH_OK) status = nigh__features_check(file->path, header->incompatible, 0, error);
    return status;
}

static nigh_status check_counts(const struct nigh__terms_group_file *group, nigh_error *error) {
    const struct nigh__terms_header *header = &group->header;
    const char *why = NULL;
    uint64_t at = offsetof(struct nigh__terms_header, filter_bits);
    if (header->filter_bits == 0 || header->filter_bits > NIGH__FILTER_MAX_BITS) why = "a filter of no such bits";
    if (why == NULL) at = offsetof(struct nigh__terms_header, documents);
    if (why == NULL && header->documents > NIGH__MAX_DOCUMENTS) why = "too many documents";
    if (why == NULL) at = offsetof(struct nigh__terms_header, blocks);
    if (why == NULL && (header->blocks == UINT32_MAX || header->blocks > header->postings ||
                        (header->blocks == 0) != (header->postings == 0)))
        why = "the blocks do not fit the postings";
    return why == NULL ? NIGH_OK : nigh__fail_at(error, NIGH_ECORRUPT, group->path, at, "%s", why);
}

static nigh_status check_table(struct nigh__terms_group_file *group, nigh_error *error) {
    uint64_t end = NIGH__SECTIONS_START;
    for (uint32_t i = 0; i < group->header.section_count; i++) {
        const struct nigh__section_entry *entry = &group->table[i];
        nigh_status status = nigh__sections_place_check(group->path, entry, i, group->header.file_length, &end, error);
        if (status != NIGH_OK) return status;
        if (entry->type >= NIGH__TERMS_SECTIONS) continue; /* of a later version */
        if (group->sections[entry->type].type != 0)
            return nigh__fail_at(error, NIGH_ECORRUPT, group->path, NIGH__TABLE_AT + i * sizeof *entry,
                                 "section %u is there twice", entry->type);
        group->sections[entry->type] = *entry;
    }
    return NIGH_OK;
}

/* ---------------------------------------------------------------- sections -- */

/* A section is there, of items of a size; of `count` of them, or of any number: UINT64_MAX. */
static nigh_status check_section(const struct nigh__terms_group_file *group, uint32_t type, uint64_t count,
                                 uint64_t item_size, nigh_error *error) {
    const struct nigh__section_entry *entry = &group->sections[type];
    uint64_t length;
    if (entry->type == 0)
        return nigh__fail_at(error, NIGH_ECORRUPT, group->path, NIGH__TABLE_AT, "section %u is missing", type);
    if (count == UINT64_MAX) count = entry->count;
    if (entry->count == count && nigh__multiply64(count, item_size, &length) && entry->length == length) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ECORRUPT, group->path, entry->offset, "section %u has the wrong size", type);
}

static nigh_status check_documents(const struct nigh__terms_group_file *group, nigh_error *error) {
    const uint64_t d = group->header.documents;
    const uint64_t any = UINT64_MAX;
    const struct {
        uint32_t type;
        uint64_t count, item_size;
    } expected[] = {{NIGH__TERMS_LINES, any, 1},
                    {NIGH__TERMS_FIGURES, 1, sizeof(struct nigh__terms_figures)},
                    {NIGH__TERMS_ROWS, group->header.filter_bits, nigh__terms_row_bytes(group->header.blocks)},
                    {NIGH__TERMS_FIRST_BLOCKS, d + 1, sizeof(uint32_t)},
                    {NIGH__TERMS_RECORDS, d, sizeof(uint64_t)},
                    {NIGH__TERMS_SOURCES, d, sizeof(uint32_t)},
                    {NIGH__TERMS_ID_OFFSETS, d + 1, sizeof(uint64_t)},
                    {NIGH__TERMS_ID_BYTES, any, 1},
                    {NIGH__TERMS_SOURCE_OFFSETS, any, sizeof(uint64_t)},
                    {NIGH__TERMS_SOURCE_BYTES, any, 1},
                    {NIGH__TERMS_INPUTS, any, sizeof(struct nigh__terms_input_entry)},
                    {NIGH__TERMS_INPUT_BYTES, any, 1},
                    {NIGH__TERMS_POSITION_HASHES, any, sizeof(uint64_t)},
                    {NIGH__TERMS_POSITION_VALUES, any, 1},
                    {NIGH__TERMS_FREQUENT_HASHES, any, sizeof(uint64_t)},
                    {NIGH__TERMS_SINGLE_HASHES, any, sizeof(uint64_t)},
                    {NIGH__TERMS_SINGLE_BLOCKS, any, 1},
                    {NIGH__TERMS_LAST_BLOCKS, nigh__terms_row_bytes(group->header.blocks), 1},
                    {NIGH__TERMS_READING, any, 1}};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        nigh_status status = check_section(group, expected[i].type, expected[i].count, expected[i].item_size, error);
        if (status != NIGH_OK) return status;
    }
    if (group->sections[NIGH__TERMS_SOURCE_OFFSETS].count == 0)
        return nigh__terms_corrupt(group, NIGH__TERMS_SOURCE_OFFSETS, 0, "sources without an end", error);
    return NIGH_OK;
}

/* A copy of a section that is small, compared with its checksum, with a zero byte behind it; owned by the caller. */
static nigh_status copy_section(const struct nigh__file *file, const struct nigh__terms_group_file *group,
                                enum nigh__terms_section type, char **out, nigh_error *error) {
    const struct nigh__section_entry *entry = &group->sections[type];
    const size_t length = (size_t)entry->length; /* within the file */
    *out = nigh__alloc(group->context, length + 1, 1);
    if (*out == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for a section of %zu bytes", length);
    (*out)[length] = '\0';
    nigh_status status = nigh__file_read(file, entry->offset, *out, length, error);
    if (status == NIGH_OK && nigh__hash(*out, length) != entry->checksum)
        status = nigh__fail_at(error, NIGH_ECORRUPT, group->path, entry->offset, "section %u fails its checksum",
                               (unsigned)type);
    if (status == NIGH_OK) return NIGH_OK;
    nigh__free(group->context, *out);
    *out = NULL;
    return status;
}

static nigh_status read_lines(const struct nigh__file *file, struct nigh__terms_group_file *group, nigh_error *error) {
    const uint64_t length = group->sections[NIGH__TERMS_LINES].length;
    if (length > NIGH__TERMS_MAX_LINES)
        return nigh__terms_corrupt(group, NIGH__TERMS_LINES, 0, "the description is too long", error);
    nigh_status status = copy_section(file, group, NIGH__TERMS_LINES, &group->lines, error);
    if (status == NIGH_OK && strlen(group->lines) != length)
        status = nigh__terms_corrupt(group, NIGH__TERMS_LINES, 0, "a zero byte in the description", error);
    return status;
}

static nigh_status read_figures(const struct nigh__file *file, struct nigh__terms_group_file *group,
                                nigh_error *error) {
    char *copy;
    nigh_status status = copy_section(file, group, NIGH__TERMS_FIGURES, &copy, error);
    if (status != NIGH_OK) return status;
    memcpy(&group->figures, copy, sizeof group->figures);
    nigh__free(group->context, copy);
    const struct nigh__terms_figures *figures = &group->figures;
    const bool sound = figures->expected_error <= 1 && figures->expected_error >= -1 &&
                       figures->most_blocks <= group->header.blocks &&
                       (figures->most_blocks == 0) == (group->header.blocks == 0) &&
                       figures->set_bits / group->header.filter_bits <= group->header.blocks && figures->zero[0] == 0 &&
                       figures->zero[1] == 0 && figures->zero[2] == 0;
    return sound ? NIGH_OK : nigh__terms_corrupt(group, NIGH__TERMS_FIGURES, 0, "impossible figures", error);
}

/* Path i is bytes[begin i .. begin i + 1), the last of which is zero. */
static bool make_inputs(struct nigh__terms_group_file *group, const struct nigh__terms_input_entry *entries) {
    const uint64_t length = group->sections[NIGH__TERMS_INPUT_BYTES].length;
    uint64_t next = 0;
    for (uint32_t i = 0; i < group->shown.input_count; i++) {
        const struct nigh__terms_input_entry *entry = &entries[i];
        if (entry->path_begin != next || next >= length || entry->kind > NIGH__INPUT_ONCE) return false;
        next += strlen(group->input_bytes + next) + 1;
        if (next > length) return false;
        group->inputs[i] = (struct nigh__term_input){.path = group->input_bytes + entry->path_begin,
                                                     .kind = (enum nigh__term_input_kind)entry->kind,
                                                     .nanoseconds = entry->nanoseconds,
                                                     .seconds = entry->seconds,
                                                     .size = entry->size,
                                                     .print = entry->print};
    }
    return next == length;
}

static nigh_status read_inputs(const struct nigh__file *file, struct nigh__terms_group_file *group, nigh_error *error) {
    char *entries = NULL;
    const uint64_t count = group->sections[NIGH__TERMS_INPUTS].count;
    if (count > UINT32_MAX) return nigh__terms_corrupt(group, NIGH__TERMS_INPUTS, 0, "too many inputs", error);
    nigh_status status = copy_section(file, group, NIGH__TERMS_INPUTS, &entries, error);
    if (status == NIGH_OK) status = copy_section(file, group, NIGH__TERMS_INPUT_BYTES, &group->input_bytes, error);
    if (status == NIGH_OK) {
        group->shown.input_count = (uint32_t)count;
        group->inputs = nigh__alloc_zero(group->context, (size_t)count, sizeof *group->inputs);
        if (group->inputs == NULL)
            status = nigh__no_memory(error, "for inputs");
        else if (!make_inputs(group, (const struct nigh__terms_input_entry *)(const void *)entries))
            status = nigh__terms_corrupt(group, NIGH__TERMS_INPUTS, 0, "an input is malformed", error);
    }
    nigh__free(group->context, entries);
    return status;
}

/* The value of a setting of that name; NULL: it is another. */
static const char *setting_value(const char *setting, const char *name) {
    const size_t length = strlen(name);
    return strncmp(setting, name, length) == 0 && setting[length] == '=' ? setting + length + 1 : NULL;
}

static bool make_without(nigh_text_reader_options *reading, const char *what) {
    if (strcmp(what, "hidden") == 0)
        reading->hidden = 0;
    else if (strcmp(what, "ignored") == 0)
        reading->no_ignore = 0;
    else if (strcmp(what, "links") == 0)
        reading->follow = 0;
    else
        return false;
    return true;
}

/* The settings of one name, which come one after the other, as a list; *setting goes behind them. */
static void make_list(struct nigh__terms_group_file *group, const char *name, const char **setting, const char *end,
                      size_t *used, const char *const **list, size_t *count) {
    const char *value;
    *list = (const char *const *)group->reading_lists + *used;
    *count = 0;
    while (*setting < end && (value = setting_value(*setting, name)) != NULL && value[0] != '\0') {
        group->reading_lists[(*used)++] = value;
        (*count)++;
        *setting = value + strlen(value) + 1;
    }
}

/* Behind the keys: texts "NAME=VALUE" in the order of write_more(), each with a zero byte behind it. */
static bool make_settings(struct nigh__terms_group_file *group, const char *setting, const char *end) {
    nigh_text_reader_options *reading = &group->reading;
    size_t used = 0;
    make_list(group, "text-key", &setting, end, &used, &reading->more_text_keys, &reading->more_text_key_count);
    make_list(group, "include", &setting, end, &used, &reading->include, &reading->include_count);
    make_list(group, "exclude", &setting, end, &used, &reading->exclude, &reading->exclude_count);
    while (setting < end) {
        const char *what = setting_value(setting, "without");
        if (what == NULL || !make_without(reading, what)) return false;
        setting = what + strlen(what) + 1;
    }
    return setting == end;
}

/* The keys stand behind the numbers, each with a zero byte behind it. */
static bool make_reading(struct nigh__terms_group_file *group) {
    const size_t length = (size_t)group->sections[NIGH__TERMS_READING].length;
    struct nigh__terms_reading kept;
    if (length < sizeof kept + 2) return false;
    memcpy(&kept, group->reading_bytes, sizeof kept);
    const char *text_key = group->reading_bytes + sizeof kept;
    const char *id_key = text_key + strlen(text_key) + 1; /* a copy has a zero byte behind it, so this is inside */
    if ((size_t)(id_key - group->reading_bytes) >= length) return false;
    if (kept.format > NIGH_TEXT_TSV) return false;
    nigh__options_defaults(&nigh__text_reader_options_shape, &group->reading);
    group->reading.format = (nigh_text_format)kept.format;
    group->reading.text_key = text_key;
    group->reading.id_key = id_key;
    group->reading.max_depth = kept.max_depth;
    group->reading.max_document_bytes = kept.max_document_bytes;
    group->reading.max_expansion = kept.max_expansion;
    group->reading.max_expansion_free = kept.max_expansion_free;
    group->reading.max_members = kept.max_members;
    group->reading.allow_loss = 1; /* what could be read then is what counts */
    group->reading.hidden = group->reading.no_ignore = group->reading.follow = 1; /* unless a setting says so */
    return make_settings(group, id_key + strlen(id_key) + 1, group->reading_bytes + length);
}

static nigh_status read_reading(const struct nigh__file *file, struct nigh__terms_group_file *group,
                                nigh_error *error) {
    nigh_status status = copy_section(file, group, NIGH__TERMS_READING, &group->reading_bytes, error);
    if (status != NIGH_OK) return status;
    size_t texts = 1; /* at most */
    for (uint64_t i = 0; i < group->sections[NIGH__TERMS_READING].length; i++) texts += group->reading_bytes[i] == '\0';
    group->reading_lists = nigh__alloc_zero(group->context, texts, sizeof *group->reading_lists);
    if (group->reading_lists == NULL) return nigh__no_memory(error, "for how inputs were read");
    if (make_reading(group)) return NIGH_OK;
    return nigh__terms_corrupt(group, NIGH__TERMS_READING, 0, "how inputs were read is malformed", error);
}

/* ----------------------------------------------------------------- opening -- */

static const void *section_at(const struct nigh__terms_group_file *group, enum nigh__terms_section type) {
    return group->shown.map + group->sections[type].offset;
}

static void show(struct nigh__terms_group_file *group) {
    struct nigh__term_group *shown = &group->shown;
    shown->documents = group->header.documents;
    shown->blocks = group->header.blocks;
    shown->postings = group->header.postings;
    shown->row_bytes = nigh__terms_row_bytes(group->header.blocks);
    shown->rows = section_at(group, NIGH__TERMS_ROWS);
    shown->first_blocks = section_at(group, NIGH__TERMS_FIRST_BLOCKS);
    shown->every_document_one_block = group->figures.most_blocks <= 1;
    shown->last_blocks = section_at(group, NIGH__TERMS_LAST_BLOCKS);
    shown->inputs = group->inputs;
    shown->reading = &group->reading;
    shown->path = group->path;
    group->records = section_at(group, NIGH__TERMS_RECORDS);
    group->sources = section_at(group, NIGH__TERMS_SOURCES);
    group->id_offsets = section_at(group, NIGH__TERMS_ID_OFFSETS);
    group->source_offsets = section_at(group, NIGH__TERMS_SOURCE_OFFSETS);
}

static nigh_status read_and_map(const struct nigh__file *file, const struct nigh__manifest_entry *wanted,
                                struct nigh__terms_group_file *group, nigh_error *error) {
    nigh_status status = read_head(file, group, error);
    if (status == NIGH_OK) status = check_counts(group, error);
    if (status == NIGH_OK) status = check_wanted(group, wanted, error);
    if (status == NIGH_OK) status = check_table(group, error);
    if (status == NIGH_OK)
        status = nigh__sections_footer_check(file, group->header.file_length, group->header.checksum, error);
    if (status == NIGH_OK) status = check_documents(group, error);
    if (status == NIGH_OK) status = read_lines(file, group, error);
    if (status == NIGH_OK) status = read_figures(file, group, error);
    if (status == NIGH_OK) status = read_inputs(file, group, error);
    if (status == NIGH_OK) status = read_reading(file, group, error);
    group->shown.map_length = group->header.file_length;
    if (status == NIGH_OK) status = nigh__file_map(file, group->shown.map_length, &group->shown.map, error);
    if (status == NIGH_OK) show(group);
    return status;
}

nigh_status nigh__terms_group_open(const struct nigh__file *directory, const char *name, uint64_t number,
                                   const struct nigh__manifest_entry *wanted, struct nigh__terms_group_file **out,
                                   nigh_error *error) {
    *out = NULL;
    struct nigh__terms_group_file *group = nigh__alloc_zero(directory->context, 1, sizeof *group);
    if (group == NULL) return nigh__no_memory(error, "for a group of a term signature file");
    group->context = directory->context;
    group->number = number;
    struct nigh__file file;
    nigh_status status = NIGH_ENOMEM;
    group->path = nigh__path_join(group->context, directory->path, name);
    if (group->path == NULL)
        (void)nigh__no_memory(error, "for a path");
    else
        status = nigh__file_open_in(directory, name, NIGH_OPEN_REGULAR, &file, error);
    if (status == NIGH_OK) {
        status = read_and_map(&file, wanted, group, error);
        nigh__file_release(&file);
    }
    if (status == NIGH_OK)
        *out = group;
    else
        nigh__terms_group_close(group);
    return status;
}

void nigh__terms_group_close(struct nigh__terms_group_file *group) {
    if (group == NULL) return;
    nigh__file_unmap(group->context, group->shown.map, group->shown.map_length, false);
    nigh__free(group->context, group->path);
    nigh__free(group->context, group->lines);
    nigh__free(group->context, group->inputs);
    nigh__free(group->context, group->input_bytes);
    nigh__free(group->context, group->reading_bytes);
    nigh__free(group->context, group->reading_lists);
    nigh__free(group->context, group);
}

nigh_status nigh__terms_group_check_sums(const struct nigh__terms_group_file *group, struct nigh__progress *progress,
                                         nigh_error *error) {
    const struct nigh__sections sections = {.context = group->context,
                                            .path = group->path,
                                            .map = group->shown.map,
                                            .length = group->shown.map_length,
                                            .table = group->table,
                                            .count = group->header.section_count};
    nigh_status status = nigh__sections_check_sums(&sections, progress, error);
    return status == NIGH_OK ? nigh__sections_check_gaps(&sections, error) : status;
}
