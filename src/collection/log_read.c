/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a log without trusting it; log.h says what is torn and what is damaged. */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/value.h"
#include "collection/directory.h"
#include "collection/header.h"
#include "collection/log.h"

#define WINDOW_BYTES (1u << 20)
#define HASHED_TIMES 16u /* in looking behind what is not whole, so often the file at most: a forged one must end */

/* --------------------------------------------------------------- reading -- */

/* [offset, offset + length) of the file, which has them. */
static nigh_status read_bytes(struct nigh__log_reader *reader, uint64_t offset, size_t length, const uint8_t **out,
                              nigh_error *error) {
    struct nigh__array *window = &reader->window;
    const bool there =
        offset >= reader->window_at && nigh__range_fits(offset - reader->window_at, length, window->count);
    if (!there) {
        const uint64_t left = reader->length - offset;
        const size_t wanted = length > WINDOW_BYTES ? length : WINDOW_BYTES;
        const size_t size = left < wanted ? (size_t)left : wanted;
        uint8_t *bytes = nigh__array_room(reader->file.context, window, size);
        if (bytes == NULL) return nigh__no_memory(error, "to read a log");
        reader->window_at = offset;
        const nigh_status status = nigh__file_read(&reader->file, offset, bytes, size, error);
        if (status != NIGH_OK) {
            window->count = 0;
            return status;
        }
    }
    *out = (const uint8_t *)window->data + (offset - reader->window_at);
    return NIGH_OK;
}

/* Whether a head says what it may, before its checksum is computed. */
static bool head_fits(const struct nigh__log_reader *reader, const struct nigh__log_head *head, uint64_t offset,
                      uint64_t *whole) {
    if (head->magic != NIGH__LOG_RECORD_MAGIC || head->log != (uint32_t)reader->plan.number ||
        head->length > NIGH__LOG_MAX_LENGTH || head->synced > head->sequence || head->sequence < reader->plan.first)
        return false;
    *whole = nigh__round_up(sizeof *head + (uint64_t)head->length, NIGH__LOG_ALIGNMENT);
    return nigh__range_fits(offset, *whole, reader->length);
}

/* The record at an offset; NIGH_END: there is none that is whole. */
static nigh_status record_at(struct nigh__log_reader *reader, uint64_t offset, struct nigh__log_record *out,
                             nigh_error *error) {
    const uint8_t *bytes = NULL;
    struct nigh__log_head head;
    uint64_t whole = 0;
    const size_t from = offsetof(struct nigh__log_head, length);
    if (!nigh__range_fits(offset, sizeof head, reader->length)) return NIGH_END;
    nigh_status status = read_bytes(reader, offset, sizeof head, &bytes, error);
    if (status != NIGH_OK) return status;
    memcpy(&head, bytes, sizeof head);
    if (!head_fits(reader, &head, offset, &whole)) return NIGH_END;
    status = read_bytes(reader, offset, (size_t)whole, &bytes, error);
    if (status != NIGH_OK) return status;
    reader->hashed += whole;
    if (nigh__hash(bytes + from, (size_t)whole - from) != head.checksum) return NIGH_END;
    *out = (struct nigh__log_record){.offset = offset,
                                     .end = offset + whole,
                                     .sequence = head.sequence,
                                     .synced = head.synced,
                                     .kind = head.kind,
                                     .length = head.length,
                                     .bytes = bytes + sizeof head};
    return NIGH_OK;
}

/* The first whole record from an offset on, of a sequence from `least` on. */
static nigh_status find_record(struct nigh__log_reader *reader, uint64_t offset, uint64_t least,
                               struct nigh__log_record *out, nigh_error *error) {
    for (; offset < reader->length; offset += NIGH__LOG_ALIGNMENT) {
        const nigh_status status = record_at(reader, offset, out, error);
        if (status == NIGH_OK && out->sequence >= least) return NIGH_OK;
        if (status != NIGH_OK && status != NIGH_END) return status;
        if (reader->hashed / HASHED_TIMES > reader->length)
            return nigh__fail_at(error, NIGH_ECORRUPT, reader->file.path, offset, "what follows is not a log");
    }
    return NIGH_END;
}

static nigh_status damaged(const struct nigh__log_reader *reader, uint64_t at, nigh_error *error) {
    return nigh__because(error, NIGH_REASON_DAMAGED_LOG,
                         nigh__fail_at(error, NIGH_ECORRUPT, reader->file.path, at,
                                       "a damaged record, which was on the disk before later ones were written"));
}

/* What is not whole at `at` was acknowledged, or it and all that follows was not. */
static nigh_status judge(struct nigh__log_reader *reader, uint64_t at, nigh_error *error) {
    struct nigh__log_record later;
    reader->hashed = 0;
    reader->dropped_records = 0;
    for (uint64_t offset = nigh__round_up(at + 1, NIGH__LOG_ALIGNMENT);; offset = later.end) {
        const nigh_status status = find_record(reader, offset, reader->sequence, &later, error);
        if (status == NIGH_END) break;
        if (status != NIGH_OK) return status;
        if (later.synced > reader->sequence) return damaged(reader, at, error);
        reader->dropped_records++;
    }
    if (reader->plan.end > reader->sequence) return damaged(reader, at, error);
    reader->dropped_bytes = reader->length - at;
    reader->at = reader->length;
    return NIGH_END;
}

nigh_status nigh__log_next(struct nigh__log_reader *reader, struct nigh__log_record *out, nigh_error *error) {
    if (reader->at >= reader->length)
        return reader->plan.end > reader->sequence ? damaged(reader, reader->at, error) : NIGH_END;
    const nigh_status status = record_at(reader, reader->at, out, error);
    if (status != NIGH_OK && status != NIGH_END) return status;
    if (status == NIGH_END || out->sequence != reader->sequence) return judge(reader, reader->at, error);
    reader->at = out->end;
    reader->sequence++;
    return NIGH_OK;
}

nigh_status nigh__log_skip(struct nigh__log_reader *reader, struct nigh__log_record *out, nigh_error *error) {
    reader->hashed = 0;
    const nigh_status status =
        find_record(reader, nigh__round_up(reader->at, NIGH__LOG_ALIGNMENT), reader->sequence, out, error);
    if (status != NIGH_OK) return status;
    reader->at = out->end;
    reader->sequence = out->sequence + 1;
    return NIGH_OK;
}

/* --------------------------------------------------------------- opening -- */

static nigh_status check_plan(const struct nigh__log_reader *reader, const struct nigh__log_header *header,
                              nigh_error *error) {
    const struct nigh__log_plan *plan = &reader->plan;
    const nigh_status status = nigh__features_check(reader->file.path, header->incompatible, 0, error);
    if (status != NIGH_OK) return status;
    if (header->number == plan->number && header->first == plan->first && header->scheme == plan->scheme &&
        header->width_bits == plan->width_bits)
        return NIGH_OK;
    return nigh__fail_at(error, NIGH_EMISMATCH, reader->file.path, 0,
                         "the log of another collection, or of another "
                         "state of it");
}

/* A header that is not whole is as a record that is not. */
static nigh_status check_header(struct nigh__log_reader *reader, nigh_error *error) {
    struct nigh__log_header header;
    const uint8_t *bytes = NULL;
    if (reader->length < sizeof header) return judge(reader, 0, error);
    nigh_status status = read_bytes(reader, 0, sizeof header, &bytes, error);
    if (status != NIGH_OK) return status;
    memcpy(&header, bytes, sizeof header);
    const bool whole = nigh__hash(&header, offsetof(struct nigh__log_header, checksum)) == header.checksum;
    if (!whole) return judge(reader, 0, error);
    status = nigh__header_check(reader->file.path, &header, NIGH__LOG_MAGIC, "log", error);
    if (status == NIGH_OK) status = check_plan(reader, &header, error);
    reader->at = sizeof header;
    return status;
}

nigh_status nigh__log_reader_open_any(const struct nigh__file *directory, const struct nigh__log_plan *plan,
                                      struct nigh__log_reader *out, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    nigh__log_name(name, plan->number, "");
    *out = (struct nigh__log_reader){.plan = *plan, .sequence = plan->first, .window = NIGH__ARRAY(uint8_t)};
    nigh_status status = nigh__file_open_in(directory, name, NIGH_OPEN_REGULAR, &out->file, error);
    if (status != NIGH_OK) return status;
    status = nigh__file_length(&out->file, &out->length, error);
    if (status == NIGH_OK) out->at = nigh__smaller(out->length, sizeof(struct nigh__log_header));
    if (status != NIGH_OK) nigh__log_reader_release(out);
    return status;
}

nigh_status nigh__log_reader_open(const struct nigh__file *directory, const struct nigh__log_plan *plan,
                                  struct nigh__log_reader *out, nigh_error *error) {
    nigh_status status = nigh__log_reader_open_any(directory, plan, out, error);
    if (status != NIGH_OK) return status;
    status = check_header(out, error);
    if (status == NIGH_END) status = NIGH_OK; /* torn before anything was acknowledged */
    if (status != NIGH_OK) nigh__log_reader_release(out);
    return status;
}

void nigh__log_reader_release(struct nigh__log_reader *reader) {
    if (reader->file.context == NULL) return;
    nigh__array_release(reader->file.context, &reader->window);
    nigh__file_release(&reader->file);
}

/* -------------------------------------------------------------- documents -- */

static nigh_status bad_document(const struct nigh__log_reader *reader, const struct nigh__log_record *record,
                                const char *why, nigh_error *error) {
    return nigh__because(error, NIGH_REASON_DAMAGED_LOG,
                         nigh__fail_at(error, NIGH_ECORRUPT, reader->file.path, record->offset, "%s", why));
}

static bool lengths_fit(const struct nigh__log_document *entry, const struct nigh__log_record *record,
                        uint32_t width_bits) {
    const uint32_t known = NIGH__LOG_HAS_ID | NIGH__LOG_HAS_WEIGHTS | NIGH__LOG_HAS_TEXT | NIGH__LOG_HAS_VALUES;
    const bool values = (entry->flags & NIGH__LOG_HAS_VALUES) != 0;
    const uint64_t before = nigh__log_before_text(entry, width_bits);
    return (entry->flags & ~known) == 0 && entry->key_count <= NIGH_MAX_KEYS && before <= record->length &&
           (values ? entry->text_length < record->length - before : entry->text_length == record->length - before) &&
           ((entry->flags & NIGH__LOG_HAS_ID) != 0 || entry->id_length == 0) &&
           ((entry->flags & NIGH__LOG_HAS_TEXT) != 0 || entry->text_length == 0);
}

/* False where its values cannot be unpacked. */
static bool show_document(const struct nigh__log_document *entry, const struct nigh__log_record *record,
                          uint32_t width_bits, struct nigh__log_room *room, nigh_document *out) {
    const uint8_t *at = record->bytes + sizeof *entry;
    *out = (nigh_document){.size = sizeof *out, .signature = at, .key_count = entry->key_count};
    at += (size_t)nigh__row_words(width_bits) * 8;
    if ((entry->flags & NIGH__LOG_HAS_WEIGHTS) != 0) {
        out->weights = at;
        at += width_bits;
    }
    if (entry->key_count != 0) {
        memcpy(room->keys, at, (size_t)entry->key_count * 4);
        out->keys = room->keys;
        at += (size_t)entry->key_count * 4;
    }
    if ((entry->flags & NIGH__LOG_HAS_ID) != 0) out->id = (const char *)at;
    out->id_length = entry->id_length;
    at += entry->id_length;
    if (entry->metadata_length != 0) out->metadata = at;
    out->metadata_length = entry->metadata_length;
    at += entry->metadata_length;
    if ((entry->flags & NIGH__LOG_HAS_TEXT) != 0) out->text = (const char *)at;
    out->text_length = (size_t)entry->text_length;
    at += entry->text_length;
    if ((entry->flags & NIGH__LOG_HAS_VALUES) == 0) return true;
    out->values = room->values;
    return nigh__values_unpack(at, (size_t)(record->bytes + record->length - at), room->values, &out->value_count);
}

nigh_status nigh__log_document(const struct nigh__log_reader *reader, const struct nigh__log_record *record,
                               struct nigh__log_room *room, nigh_document *out, nigh_error *error) {
    const uint32_t width_bits = reader->plan.width_bits;
    struct nigh__log_document entry;
    if (record->kind != NIGH__LOG_DOCUMENT)
        return nigh__fail_at(error, NIGH_EVERSION, reader->file.path, record->offset, "a record of kind %u",
                             record->kind);
    if (record->length < sizeof entry) return bad_document(reader, record, "a record too short for a document", error);
    memcpy(&entry, record->bytes, sizeof entry);
    if (!lengths_fit(&entry, record, width_bits))
        return bad_document(reader, record, "the lengths of a document do not add up", error);
    if (!show_document(&entry, record, width_bits, room, out))
        return bad_document(reader, record, "the values of a document are malformed", error);
    if (!nigh__padding_is_clear(out->signature, width_bits))
        return bad_document(reader, record, "a signature has bits past its width", error);
    if (out->id != NULL && nigh__id_problem(out->id_length) != NULL)
        return bad_document(reader, record, nigh__id_problem(out->id_length), error);
    if (out->metadata_length > NIGH_MAX_METADATA_LENGTH)
        return bad_document(reader, record, "metadata longer than is allowed", error);
    return NIGH_OK;
}
