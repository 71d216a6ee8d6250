/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a log; log.h draws it. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/value.h"
#include "collection/directory.h"
#include "collection/log.h"

void nigh__log_remove(const struct nigh__file *directory, uint64_t number) {
    char name[NIGH__NAME_SIZE];
    nigh__log_name(name, number, "");
    nigh__file_remove_in(directory, name);
}

/* ---------------------------------------------------------------- making -- */

/* It is written with the first records, and safe with them. */
static bool add_header(struct nigh__log *log) {
    struct nigh__log_header header = {.version = NIGH__FORMAT_VERSION,
                                      .endian_mark = NIGH__ENDIAN_MARK,
                                      .number = log->plan.number,
                                      .first = log->plan.first,
                                      .scheme = log->plan.scheme,
                                      .width_bits = log->plan.width_bits};
    memcpy(header.magic, NIGH__LOG_MAGIC, NIGH__MAGIC_SIZE);
    header.checksum = nigh__hash(&header, offsetof(struct nigh__log_header, checksum));
    return nigh__bytes_append(log->directory->context, &log->pending, &header, sizeof header);
}

static nigh_status create(const struct nigh__file *directory, const char *suffix, struct nigh__log *log,
                          nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    nigh__log_name(name, log->plan.number, suffix);
    if (suffix[0] != '\0') nigh__file_remove_in(directory, name); /* left by one that died: the caller holds the lock */
    if (!add_header(log)) return nigh__no_memory(error, "for a log");
    return nigh__file_open_in(directory, name, NIGH_OPEN_CREATE, &log->file, error);
}

static nigh_status create_as(const struct nigh__file *directory, const struct nigh__log_plan *plan, const char *suffix,
                             struct nigh__log **out, nigh_error *error) {
    *out = NULL;
    struct nigh__log *log = nigh__alloc_zero(directory->context, 1, sizeof *log);
    if (log == NULL) return nigh__no_memory(error, "for a log");
    log->directory = directory;
    log->plan = *plan;
    log->next = log->synced = log->writing_end = plan->first;
    log->pending = log->writing = (struct nigh__array)NIGH__ARRAY(uint8_t);
    const nigh_status status = create(directory, suffix, log, error);
    if (status == NIGH_OK)
        *out = log;
    else
        nigh__log_close(log);
    return status;
}

nigh_status nigh__log_create(const struct nigh__file *directory, const struct nigh__log_plan *plan,
                             struct nigh__log **out, nigh_error *error) {
    return create_as(directory, plan, "", out, error);
}

void nigh__log_close(struct nigh__log *log) {
    if (log == NULL) return;
    const nigh_context *context = log->directory->context;
    if (log->file.open) nigh__file_release(&log->file);
    nigh__array_release(context, &log->pending);
    nigh__array_release(context, &log->writing);
    nigh__free(context, log);
}

uint64_t nigh__log_bytes(const struct nigh__log *log) { return log->offset + log->writing.count + log->pending.count; }

/* ---------------------------------------------------------------- adding -- */

static nigh_status usable(const struct nigh__log *log, nigh_error *error) {
    if (!log->broken) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EIO, log->file.path, NIGH_NO_OFFSET,
                         "writing to the log failed before, and what the disk has of it is not known");
}

/* Room for a record with its head, zeros at its end; NULL: out of memory. */
static uint8_t *begin_record(struct nigh__log *log, uint32_t length) {
    const size_t whole = (size_t)nigh__round_up(sizeof(struct nigh__log_head) + length, NIGH__LOG_ALIGNMENT);
    uint8_t *record = nigh__array_add(log->directory->context, &log->pending, whole);
    if (record != NULL) memset(record + whole - NIGH__LOG_ALIGNMENT, 0, NIGH__LOG_ALIGNMENT);
    return record;
}

static void seal_record(struct nigh__log *log, uint8_t *record, uint32_t kind, uint32_t length) {
    struct nigh__log_head head = {.magic = NIGH__LOG_RECORD_MAGIC,
                                  .log = (uint32_t)log->plan.number,
                                  .length = length,
                                  .kind = kind,
                                  .sequence = log->next++,
                                  .synced = log->synced};
    const size_t whole = (size_t)nigh__round_up(sizeof head + length, NIGH__LOG_ALIGNMENT);
    const size_t from = offsetof(struct nigh__log_head, length);
    memcpy(record, &head, sizeof head);
    head.checksum = nigh__hash(record + from, whole - from);
    memcpy(record, &head, sizeof head);
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t length) {
    if (length != 0) memcpy(at, bytes, length);
    return at + length;
}

static void put_document(const struct nigh__log *log, const struct nigh__log_document *entry,
                         const nigh_document *document, uint8_t *at) {
    const uint32_t width_bits = log->plan.width_bits;
    const size_t row = nigh__row_bytes(width_bits);
    const size_t padding = (size_t)nigh__row_words(width_bits) * 8 - row;
    at = put(at, entry, sizeof *entry);
    at = put(at, document->signature, row);
    memset(at, 0, padding);
    at = put(at + padding, document->weights, (entry->flags & NIGH__LOG_HAS_WEIGHTS) != 0 ? width_bits : 0);
    at = put(at, document->keys, (size_t)entry->key_count * 4);
    at = put(at, document->id, entry->id_length);
    at = put(at, document->metadata, entry->metadata_length);
    at = put(at, document->text, (size_t)entry->text_length);
    if ((entry->flags & NIGH__LOG_HAS_VALUES) != 0) nigh__values_pack(document->values, document->value_count, at);
}

nigh_status nigh__log_add(struct nigh__log *log, const nigh_document *document, nigh_error *error) {
    const size_t values = document->values == NULL ? 0 : nigh__values_size(document->values, document->value_count);
    const struct nigh__log_document entry = {
        .flags = (document->id != NULL ? NIGH__LOG_HAS_ID : 0) |
                 (document->weights != NULL ? NIGH__LOG_HAS_WEIGHTS : 0) |
                 (document->text != NULL ? NIGH__LOG_HAS_TEXT : 0) | (values != 0 ? NIGH__LOG_HAS_VALUES : 0),
        .id_length = document->id == NULL ? 0 : (uint32_t)document->id_length,
        .metadata_length = document->metadata == NULL ? 0 : (uint32_t)document->metadata_length,
        .key_count = document->keys == NULL ? 0 : document->key_count,
        .text_length = document->text == NULL ? 0 : document->text_length};
    const uint64_t length = nigh__log_before_text(&entry, log->plan.width_bits) + entry.text_length + values;
    nigh_status status = usable(log, error);
    if (status != NIGH_OK) return status;
    if (length > NIGH__LOG_MAX_LENGTH)
        return nigh__fail(error, NIGH_ELIMIT, "a document of %" PRIu64 " bytes; a record of the log holds %u", length,
                          NIGH__LOG_MAX_LENGTH);
    uint8_t *record = begin_record(log, (uint32_t)length);
    if (record == NULL) return nigh__no_memory(error, "for a log");
    put_document(log, &entry, document, record + sizeof(struct nigh__log_head));
    seal_record(log, record, NIGH__LOG_DOCUMENT, (uint32_t)length);
    return NIGH_OK;
}

/* --------------------------------------------------------------- writing -- */

bool nigh__log_begin(struct nigh__log *log) {
    if (log->pending.count == 0 || log->writing.count != 0) return false;
    const struct nigh__array empty = log->writing;
    log->writing = log->pending;
    log->pending = empty;
    log->writing_end = log->next;
    return true;
}

nigh_status nigh__log_write(struct nigh__log *log, bool sync, nigh_error *error) {
    nigh_status status = usable(log, error);
    if (status == NIGH_OK)
        status = nigh__file_write(&log->file, log->offset, log->writing.data, log->writing.count, error);
    if (status == NIGH_OK && sync) status = nigh__file_sync(&log->file, error);
    /* Once: a file whose name is not safe may be whole and gone. */
    if (status == NIGH_OK && sync && !log->name_safe) status = nigh__file_sync(log->directory, error);
    return status;
}

void nigh__log_end(struct nigh__log *log, nigh_status status, bool sync) {
    log->offset += log->writing.count;
    log->writing.count = 0;
    if (status != NIGH_OK) {
        log->broken = true;
    } else if (sync) {
        log->synced = log->writing_end;
        log->name_safe = true;
    }
}

nigh_status nigh__log_flush(struct nigh__log *log, bool sync, nigh_error *error) {
    if (!nigh__log_begin(log)) return usable(log, error);
    const nigh_status status = nigh__log_write(log, sync, error);
    nigh__log_end(log, status, sync);
    return status;
}

nigh_status nigh__log_finish(struct nigh__log *log, nigh_error *error) {
    nigh_status status = nigh__log_flush(log, true, error);
    if (status != NIGH_OK || log->synced == log->next) return status;
    status = nigh__log_write(log, true, error); /* nothing more, and the sync that was left to later */
    log->writing_end = log->next;
    nigh__log_end(log, status, true);
    return status;
}

/* -------------------------------------------------------------- repairing -- */

#define REPAIR_BYTES (1u << 20)

struct repair {
    struct nigh__log_reader reader;
    struct nigh__log *log;
    const struct nigh__log_losses *losses;
};

static void tell_lost(const struct repair *repair, uint64_t begin, uint64_t end, uint64_t records) {
    nigh_error problem;
    if (repair->losses->lost == NULL || (begin >= end && records == 0)) return;
    (void)nigh__fail_at(&problem, NIGH_ECORRUPT, repair->reader.file.path, begin,
                        "lost: %" PRIu64 " bytes, of %" PRIu64 " %s or more", end - begin, records,
                        records == 1 ? "document" : "documents");
    repair->losses->lost(repair->losses->user, &problem);
}

/* As it is, by the next sequence; each is as safe as those before it. */
static nigh_status save_record(struct repair *repair, const struct nigh__log_record *record, nigh_error *error) {
    struct nigh__log *log = repair->log;
    struct nigh__log_room room;
    nigh_document document;
    const nigh_status status = nigh__log_document(&repair->reader, record, &room, &document, error);
    if (status != NIGH_OK) return status;
    uint8_t *place = begin_record(log, record->length);
    if (place == NULL) return nigh__no_memory(error, "for a log");
    memcpy(place + sizeof(struct nigh__log_head), record->bytes, record->length);
    log->synced = log->next;
    seal_record(log, place, record->kind, record->length);
    return log->pending.count < REPAIR_BYTES ? NIGH_OK : nigh__log_flush(log, false, error);
}

static nigh_status save_all(struct repair *repair, nigh_error *error) {
    struct nigh__log_reader *reader = &repair->reader;
    struct nigh__log_record record;
    nigh_error problem = {.status = NIGH_OK};
    for (;;) {
        const uint64_t at = reader->at;
        const uint64_t sequence = reader->sequence;
        nigh_status status = nigh__log_next(reader, &record, &problem);
        if (status == NIGH_END) {
            tell_lost(repair, at, reader->length, at < reader->length ? reader->dropped_records : 0);
            return NIGH_OK;
        }
        if (status == NIGH_ECORRUPT) {
            status = nigh__log_skip(reader, &record, &problem);
            if (status == NIGH_ECORRUPT) status = NIGH_END;
            tell_lost(repair, at, status == NIGH_OK ? record.offset : reader->length,
                      status == NIGH_OK ? record.sequence - sequence : 1);
            if (status == NIGH_END) return NIGH_OK;
        }
        if (status == NIGH_OK) status = save_record(repair, &record, &problem);
        if (status == NIGH_ECORRUPT) { /* whole, and no document: forged, or written by who was broken */
            tell_lost(repair, record.offset, record.end, 1);
            status = NIGH_OK;
        }
        if (status == NIGH_OK) continue;
        if (error != NULL) *error = problem;
        return status;
    }
}

nigh_status nigh__log_repair(const struct nigh__file *directory, const struct nigh__log_plan *plan, uint64_t had,
                             const struct nigh__log_losses *losses, uint64_t *end, nigh_error *error) {
    struct repair repair = {.losses = losses};
    char name[NIGH__NAME_SIZE];
    char temporary[NIGH__NAME_SIZE];
    nigh__log_name(name, plan->number, "");
    nigh__log_name(temporary, plan->number, ".tmp");
    nigh_status status = nigh__log_reader_open_any(directory, plan, &repair.reader, error);
    if (status != NIGH_OK) return status;
    repair.reader.sequence = had;
    status = create_as(directory, plan, ".tmp", &repair.log, error);
    if (status == NIGH_OK) status = save_all(&repair, error);
    if (status == NIGH_OK) status = nigh__log_flush(repair.log, false, error);
    if (status == NIGH_OK) status = nigh__file_sync(&repair.log->file, error);
    if (status == NIGH_OK) status = nigh__file_rename_in(directory, temporary, name, error);
    if (status == NIGH_OK) status = nigh__file_sync(directory, error);
    if (status != NIGH_OK) nigh__file_remove_in(directory, temporary);
    *end = repair.log == NULL ? had : repair.log->next;
    nigh__log_close(repair.log);
    nigh__log_reader_release(&repair.reader);
    return status;
}
