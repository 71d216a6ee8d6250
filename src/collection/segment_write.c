/* SPDX-License-Identifier: Apache-2.0 */
/* Building a segment file, front to back but for the header, which is written last. */
#include "collection/segment_write.h"

#include <string.h>

#include "base/bytes.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/hash_table.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/secret.h"
#include "base/status.h"
#include "collection/directory.h"
#include "collection/id_key.h"
#include "collection/sections.h"
#include "collection/spool.h"
#include "collection/texts.h"
#include "collection/values.h"

struct nigh__segment_writer {
    const nigh_context *context;
    const struct nigh__file *directory;
    char *scheme;                                 /* owned */
    nigh_attachment kept[NIGH__ATTACHMENT_KINDS]; /* not owned */
    uint64_t number;
    uint32_t width_bits;
    uint32_t words;
    uint32_t signatures;
    bool any_ids; /* an id is not a line: older versions must not read the segment */

    struct nigh__file file;
    struct nigh__section_writer sections;

    uint64_t *row;                        /* the signature in hand, padded; owned */
    uint64_t secret;                      /* of the hashes of rows and ids, which strangers choose */
    struct nigh__hash_table rows;         /* rows by their hash */
    struct nigh__hash_table names;        /* documents by the hash of their id */
    struct nigh__array row_of;            /* uint32_t, one a document */
    struct nigh__spool ids;               /* open once a document has an id */
    struct nigh__keyed_hasher ids_hasher; /* of their bytes; its value becomes the key of the lookup */
    struct nigh__spool metadata;          /* open once a document has any */
    struct nigh__spool weights;           /* open once a document has them */
    struct nigh__spool masks;             /* the same; one a row */
    struct nigh__texts_writer texts;
    struct nigh__values_writer *values; /* NULL: the scheme keeps no keys */
};

uint32_t nigh__segment_writer_documents(const struct nigh__segment_writer *writer) {
    return (uint32_t)writer->row_of.count;
}

uint32_t nigh__segment_writer_signatures(const struct nigh__segment_writer *writer) { return writer->signatures; }

/* -------------------------------------------------------------------- open */

static nigh_status create_file(struct nigh__segment_writer *writer, nigh_error *error) {
    char name[NIGH__NAME_SIZE];
    nigh__segment_name(name, writer->number, "");
    nigh_status status = nigh__file_open_in(writer->directory, name, NIGH_OPEN_CREATE, &writer->file, error);
    if (status == NIGH_OK) status = nigh__section_writer_init(writer->context, &writer->file, &writer->sections, error);
    if (status != NIGH_OK) return status;
    return nigh__section_begin(&writer->sections, NIGH__SECTION_SIGNATURES, error);
}

nigh_status nigh__segment_writer_open(const nigh_context *context, const struct nigh__segment_plan *plan,
                                      struct nigh__segment_writer **out, nigh_error *error) {
    *out = NULL;
    struct nigh__segment_writer *writer = nigh__alloc_zero(context, 1, sizeof *writer);
    if (writer == NULL) return nigh__no_memory(error, "for the documents of a segment");
    writer->context = context;
    writer->number = plan->number;
    writer->width_bits = plan->width_bits;
    writer->words = nigh__row_words(plan->width_bits);
    writer->row_of = (struct nigh__array)NIGH__ARRAY(uint32_t);
    writer->directory = plan->directory;
    nigh__texts_writer_init(context, plan->directory, plan->number, &writer->texts);
    memcpy(writer->kept, plan->kept, sizeof writer->kept);
    writer->scheme = nigh__string_copy(context, plan->scheme);
    writer->row = nigh__alloc_zero(context, writer->words, sizeof(uint64_t));
    writer->secret = nigh__secret();
    nigh__id_key_init(&writer->ids_hasher);
    bool slots = nigh__hash_table_init(context, &writer->rows) && nigh__hash_table_init(context, &writer->names);
    nigh_status status;
    if (writer->scheme == NULL || writer->row == NULL || !slots)
        status = nigh__no_memory(error, "for the documents of a segment");
    else
        status = create_file(writer, error);
    if (status == NIGH_OK) status = nigh__values_writer_new(context, plan->scheme, &writer->values, error);
    if (status == NIGH_OK)
        *out = writer;
    else
        nigh__segment_writer_close(writer, false);
    return status;
}

/* --------------------------------------------------------------------- add */

/* Whether it is the same document again or another one under its id, the signatures tell. */
static nigh_status fail_repeated(struct nigh__segment_writer *writer, const nigh_document *document, uint32_t other,
                                 nigh_error *error) {
    const size_t size = (size_t)writer->words * sizeof(uint64_t);
    const uint32_t row = ((const uint32_t *)writer->row_of.data)[other];
    bool equal;
    memcpy(writer->row, document->signature, nigh__row_bytes(writer->width_bits));
    nigh_status status = nigh__output_equals(&writer->sections.output, NIGH__SECTIONS_START + row * (uint64_t)size,
                                             writer->row, size, &equal, error);
    if (status != NIGH_OK) return status;
    (void)nigh__fail(error, NIGH_EEXISTS, "a document '%s' was added before%s",
                     nigh__shown(document->id, document->id_length).text, equal ? "" : ", with another signature");
    return equal ? NIGH_EEXISTS : nigh__because(error, NIGH_REASON_OTHER_DOCUMENT, NIGH_EEXISTS);
}

static nigh_status find_id(struct nigh__segment_writer *writer, const nigh_document *document, uint64_t hash,
                           nigh_error *error) {
    uint64_t cursor = nigh__hash_table_home(hash, writer->names.capacity);
    uint32_t other;
    while (nigh__hash_table_next(&writer->names, hash, &cursor, &other)) {
        bool equal;
        nigh_status status = nigh__spool_equals(&writer->ids, other, document->id, document->id_length, &equal, error);
        if (status != NIGH_OK) return status;
        if (equal) return fail_repeated(writer, document, other, error);
    }
    return NIGH_OK;
}

/* The row of the signature in writer->row, which is written if it is new. */
static nigh_status find_or_add_row(struct nigh__segment_writer *writer, uint32_t *row, nigh_error *error) {
    size_t size = (size_t)writer->words * sizeof(uint64_t);
    uint64_t hash = nigh__hash_seeded(writer->row, size, writer->secret);
    uint64_t cursor = nigh__hash_table_home(hash, writer->rows.capacity);
    while (nigh__hash_table_next(&writer->rows, hash, &cursor, row)) {
        bool equal;
        nigh_status status = nigh__output_equals(&writer->sections.output, NIGH__SECTIONS_START + *row * (uint64_t)size,
                                                 writer->row, size, &equal, error);
        if (status != NIGH_OK || equal) return status;
    }
    nigh_status status = nigh__output_add(&writer->sections.output, writer->row, size, error);
    if (status != NIGH_OK) return status;
    *row = writer->signatures++;
    return nigh__hash_table_add(writer->context, &writer->rows, hash, *row)
               ? NIGH_OK
               : nigh__no_memory(error, "for the documents of a segment");
}

static nigh_status open_spool(struct nigh__segment_writer *writer, struct nigh__spool *spool, const char *suffix,
                              nigh_error *error) {
    return nigh__spool_open(writer->directory, writer->number, suffix, spool, error);
}

static nigh_status add_id(struct nigh__segment_writer *writer, const nigh_document *document, uint64_t hash,
                          nigh_error *error) {
    nigh_status status = open_spool(writer, &writer->ids, ".ids.tmp", error);
    if (status == NIGH_OK) status = nigh__spool_add(&writer->ids, document->id, document->id_length, error);
    if (status != NIGH_OK) return status;
    nigh__keyed_hasher_add(&writer->ids_hasher, document->id, document->id_length);
    if (!nigh__id_is_line(document->id, document->id_length)) writer->any_ids = true;
    uint32_t number = nigh__segment_writer_documents(writer);
    return nigh__hash_table_add(writer->context, &writer->names, hash, number)
               ? NIGH_OK
               : nigh__no_memory(error, "for the documents of a segment");
}

/* The first document with metadata opens the spool; those before it get none. */
static nigh_status add_metadata(struct nigh__segment_writer *writer, const nigh_document *document, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (!writer->metadata.file.open) {
        if (document->metadata_length == 0) return NIGH_OK;
        status = open_spool(writer, &writer->metadata, ".metadata.tmp", error);
        for (uint32_t i = 0; status == NIGH_OK && i < nigh__segment_writer_documents(writer); i++)
            status = nigh__spool_add(&writer->metadata, NULL, 0, error);
    }
    if (status == NIGH_OK)
        status = nigh__spool_add(&writer->metadata, document->metadata, document->metadata_length, error);
    return status;
}

static nigh_status add_weights(struct nigh__segment_writer *writer, const nigh_document *document, nigh_error *error) {
    if (document->weights == NULL) return NIGH_OK;
    nigh_status status = open_spool(writer, &writer->weights, ".weights.tmp", error);
    if (status == NIGH_OK) status = nigh__spool_append(&writer->weights, document->weights, writer->width_bits, error);
    return status;
}

/* Of the first document of a row, padded as that is. */
static nigh_status add_mask(struct nigh__segment_writer *writer, const nigh_document *document, nigh_error *error) {
    static const uint8_t padding[sizeof(uint64_t)];
    const size_t bytes = nigh__row_bytes(writer->width_bits);
    if (document->mask == NULL) return NIGH_OK;
    nigh_status status = open_spool(writer, &writer->masks, ".masks.tmp", error);
    if (status == NIGH_OK) status = nigh__spool_append(&writer->masks, document->mask, bytes, error);
    if (status == NIGH_OK)
        status = nigh__spool_append(&writer->masks, padding, writer->words * sizeof(uint64_t) - bytes, error);
    return status;
}

nigh_status nigh__segment_writer_add(struct nigh__segment_writer *writer, const nigh_document *document,
                                     nigh_error *error) {
    if (nigh__segment_writer_documents(writer) >= NIGH__MAX_DOCUMENTS)
        return nigh__fail(error, NIGH_ELIMIT, "a segment holds at most %u documents", NIGH__MAX_DOCUMENTS);
    uint64_t hash = 0;
    nigh_status status = NIGH_OK;
    if (document->id != NULL) {
        hash = nigh__hash_seeded(document->id, document->id_length, writer->secret);
        status = find_id(writer, document, hash, error);
        if (status == NIGH_OK) status = add_id(writer, document, hash, error);
    }
    if (status == NIGH_OK) status = add_metadata(writer, document, error);
    if (status == NIGH_OK) status = add_weights(writer, document, error);
    if (status == NIGH_OK) status = nigh__texts_writer_add(&writer->texts, document, error);
    if (status == NIGH_OK) status = nigh__values_writer_add(writer->values, document, error);
    if (status != NIGH_OK) return status;

    memcpy(writer->row, document->signature, nigh__row_bytes(writer->width_bits)); /* what follows stays zero */
    uint32_t row;
    const uint32_t before = writer->signatures;
    status = find_or_add_row(writer, &row, error);
    if (status == NIGH_OK && writer->signatures != before) status = add_mask(writer, document, error);
    if (status != NIGH_OK) return status;
    uint32_t *slot = nigh__array_add(writer->context, &writer->row_of, 1);
    if (slot == NULL) return nigh__no_memory(error, "for the documents of a segment");
    *slot = row;
    return NIGH_OK;
}

/* ------------------------------------------------------------------ finish */

/* Documents sorted by row, by counting; within a row they stay in order. */
static void sort_by_row(const uint32_t *row_of, uint32_t documents, uint32_t rows, uint32_t *starts,
                        uint32_t *grouped) {
    memset(starts, 0, ((size_t)rows + 1) * sizeof *starts);
    for (uint32_t i = 0; i < documents; i++) starts[row_of[i] + 1]++;
    for (uint32_t row = 0; row < rows; row++) starts[row + 1] += starts[row];
    /* starts[row] serves as the place of the row's next document, and ends up one row further. */
    for (uint32_t i = 0; i < documents; i++) grouped[starts[row_of[i]]++] = i;
    memmove(starts + 1, starts, (size_t)rows * sizeof *starts);
    starts[0] = 0;
}

static nigh_status write_groups(struct nigh__segment_writer *writer, nigh_error *error) {
    uint32_t documents = nigh__segment_writer_documents(writer);
    const uint32_t *row_of = writer->row_of.data;
    uint32_t *starts = nigh__alloc(writer->context, (size_t)writer->signatures + 1, sizeof *starts);
    uint32_t *grouped = nigh__alloc(writer->context, documents, sizeof *grouped);
    nigh_status status = NIGH_OK;
    if (starts == NULL || grouped == NULL) {
        status = nigh__no_memory(error, "for the documents of a segment");
    } else {
        sort_by_row(row_of, documents, writer->signatures, starts, grouped);
        status = nigh__section_write(&writer->sections, NIGH__SECTION_GROUP_STARTS, starts,
                                     (uint64_t)writer->signatures + 1, 4, error);
    }
    if (status == NIGH_OK)
        status = nigh__section_write(&writer->sections, NIGH__SECTION_GROUP_DOCUMENTS, grouped, documents, 4, error);
    if (status == NIGH_OK)
        status = nigh__section_write(&writer->sections, NIGH__SECTION_DOCUMENT_ROWS, row_of, documents, 4, error);
    nigh__free(writer->context, starts);
    nigh__free(writer->context, grouped);
    return status;
}

/* The lookup as it is laid out on disk. */
struct lookup {
    struct nigh__id_key key;
    uint32_t *slots;
    uint64_t mask;
};

static void place_id(void *user, uint32_t document, const void *id, size_t length) {
    struct lookup *lookup = user;
    uint64_t at = nigh__hash_table_home(nigh__id_hash(&lookup->key, id, length), lookup->mask + 1);
    while (lookup->slots[at] != 0) at = (at + 1) & lookup->mask;
    lookup->slots[at] = document + 1;
}

/*
 * The table in memory is in the order of a secret; on disk it is in that of the key, which is known only now.  The
 * former goes before the latter comes: nothing is added any more.
 */
static nigh_status write_lookup(struct nigh__segment_writer *writer, const struct nigh__id_key *key,
                                nigh_error *error) {
    const uint64_t capacity = writer->names.capacity;
    nigh__hash_table_release(writer->context, &writer->names);
    struct lookup lookup = {.key = *key,
                            .slots = nigh__alloc_zero(writer->context, (size_t)capacity, sizeof(uint32_t)),
                            .mask = capacity - 1};
    if (lookup.slots == NULL) return nigh__no_memory(error, "for the ids of a segment");
    nigh_status status = nigh__spool_each(&writer->ids, place_id, &lookup, error);
    if (status == NIGH_OK)
        status = nigh__section_write(&writer->sections, NIGH__SECTION_ID_LOOKUP, lookup.slots, capacity,
                                     sizeof(uint32_t), error);
    nigh__free(writer->context, lookup.slots);
    return status;
}

static nigh_status write_ids(struct nigh__segment_writer *writer, nigh_error *error) {
    const struct nigh__array *offsets = &writer->ids.offsets;
    nigh__keyed_hasher_add(&writer->ids_hasher, offsets->data, offsets->count * offsets->item_size);
    const struct nigh__id_key key = {.keyed = true, .value = nigh__keyed_hasher_value(&writer->ids_hasher)};
    nigh_status status = nigh__spool_write_items(&writer->ids, &writer->sections, NIGH__SECTION_ID_OFFSETS,
                                                 NIGH__SECTION_ID_BYTES, error);
    if (status == NIGH_OK) status = write_lookup(writer, &key, error);
    if (status == NIGH_OK)
        status = nigh__section_write(&writer->sections, NIGH__SECTION_ID_KEY, &key.value, 1, sizeof key.value, error);
    return status;
}

static nigh_status write_sections(struct nigh__segment_writer *writer, struct nigh__progress *progress,
                                  nigh_error *error) {
    nigh__section_end(&writer->sections, writer->signatures);
    nigh_status status =
        nigh__section_write(&writer->sections, NIGH__SECTION_SCHEME, writer->scheme, strlen(writer->scheme), 1, error);
    if (status == NIGH_OK) status = write_groups(writer, error);
    if (status == NIGH_OK && nigh__progress_tick(progress, "writing", 1, 3)) status = nigh__progress_cancelled(error);
    if (status == NIGH_OK && writer->ids.file.open) status = write_ids(writer, error);
    if (status == NIGH_OK && nigh__progress_tick(progress, "writing", 2, 3)) status = nigh__progress_cancelled(error);
    if (status == NIGH_OK && writer->metadata.file.open)
        status = nigh__spool_write_items(&writer->metadata, &writer->sections, NIGH__SECTION_METADATA_OFFSETS,
                                         NIGH__SECTION_METADATA_BYTES, error);
    if (status == NIGH_OK && writer->weights.file.open)
        status =
            nigh__spool_write(&writer->weights, &writer->sections, NIGH__SECTION_WEIGHTS, writer->width_bits, error);
    if (status == NIGH_OK && writer->masks.file.open)
        status = nigh__spool_write(&writer->masks, &writer->sections, NIGH__SECTION_MASKS,
                                   writer->words * sizeof(uint64_t), error);
    if (status == NIGH_OK) status = nigh__texts_writer_finish(&writer->texts, &writer->sections, error);
    if (status == NIGH_OK) status = nigh__values_writer_finish(writer->values, &writer->sections, error);
    for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS && status == NIGH_OK; kind++)
        if (writer->kept[kind].bytes != NULL)
            status = nigh__section_write(&writer->sections, nigh__attachment_section(kind), writer->kept[kind].bytes,
                                         writer->kept[kind].length, 1, error);
    return status;
}

static nigh_status write_frame(struct nigh__segment_writer *writer, struct nigh__segment_header *header,
                               nigh_error *error) {
    *header = (struct nigh__segment_header){
        .version = NIGH__FORMAT_VERSION,
        .endian_mark = NIGH__ENDIAN_MARK,
        .incompatible =
            (writer->any_ids ? NIGH__FEATURE_ANY_IDS : 0) | (writer->ids.file.open ? NIGH__FEATURE_KEYED_IDS : 0),
        .documents = writer->row_of.count,
        .signatures = writer->signatures,
        .width_bits = writer->width_bits,
        .section_count = writer->sections.count,
    };
    memcpy(header->magic, NIGH__SEGMENT_MAGIC, NIGH__MAGIC_SIZE);
    return nigh__section_writer_finish(&writer->sections, header, error);
}

nigh_status nigh__segment_writer_finish(struct nigh__segment_writer *writer, struct nigh__progress *progress,
                                        struct nigh__manifest_entry *entry, nigh_error *error) {
    struct nigh__segment_header header;
    nigh_status status = write_sections(writer, progress, error);
    if (status == NIGH_OK) status = write_frame(writer, &header, error);
    if (status == NIGH_OK) status = nigh__file_sync(&writer->file, error);
    if (status != NIGH_OK) return status;
    *entry = (struct nigh__manifest_entry){.number = writer->number,
                                           .file_length = header.file_length,
                                           .documents = header.documents,
                                           .header_checksum = header.checksum};
    return NIGH_OK;
}

static void remove_file(const struct nigh__segment_writer *writer) {
    char name[NIGH__NAME_SIZE];
    nigh__segment_name(name, writer->number, "");
    nigh__file_remove_in(writer->directory, name);
}

void nigh__segment_writer_close(struct nigh__segment_writer *writer, bool keep) {
    if (writer == NULL) return;
    const nigh_context *context = writer->context;
    nigh__spool_release(&writer->ids);
    nigh__spool_release(&writer->metadata);
    nigh__spool_release(&writer->weights);
    nigh__spool_release(&writer->masks);
    nigh__texts_writer_release(&writer->texts);
    nigh__values_writer_free(writer->values);
    nigh__section_writer_release(&writer->sections);
    if (writer->file.open && !keep) remove_file(writer);
    if (writer->file.context != NULL) nigh__file_release(&writer->file);
    nigh__hash_table_release(context, &writer->rows);
    nigh__hash_table_release(context, &writer->names);
    nigh__array_release(context, &writer->row_of);
    nigh__free(context, writer->row);
    nigh__free(context, writer->scheme);
    nigh__free(context, writer);
}
