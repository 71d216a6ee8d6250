/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adding to a collection and deleting from it: the lock, the rules, the commit.
 *
 *     lock the directory          one writer; the lock dies with its process
 *     write and sync the segment  unknown to every reader; and what is deleted of others
 *     sync the directory          the segment's name is safe
 *     write manifest N+1 as .tmp, sync it
 *     rename it                   <- the commit: before it the old, after it the new
 *     sync the directory          the commit is safe; now success may be told
 *     remove what is not needed   manifests before N, leftovers of dead writers
 *
 * The manifest N stays as a spare.  A sync that fails ends the operation: the
 * kernel may have dropped the pages, so asking again would be told "all well"
 * about data that is gone.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/assert.h"
#include "base/escape.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/keep_keys.h"
#include "base/key_lines.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/progress.h"
#include "base/status.h"
#include "collection/collection.h"
#include "collection/collection_options.h"
#include "collection/header.h"
#include "collection/merge.h"
#include "collection/removal.h"
#include "collection/scheme.h"
#include "collection/segment_write.h"
#include "collection/state.h"
#include "collection/values.h"
#include "collection/writer.h"
#include "signature/thresholds.h"

enum state { OPEN, BROKEN, COMMITTED };

struct nigh_writer {
    nigh_context *context;
    char *path;                                   /* owned */
    char *scheme;                                 /* owned */
    bool own_signatures;                          /* the caller says nothing of how they were made */
    nigh_attachment kept[NIGH__ATTACHMENT_KINDS]; /* bytes NULL: none, or none that is not there already */
    uint32_t width_bits;
    enum state state;
    bool merge;                  /* after a commit */
    bool made_directory;         /* and must remove it, unless committed */
    struct nigh__file directory; /* holds the lock */
    nigh_collection *old;        /* what is there already; NULL: nothing */
    bool replaces;               /* documents whose ids are there */
    struct nigh__removal removal;
    uint64_t number;                      /* of the next file */
    struct nigh__segment_writer *segment; /* NULL: it is for deleting alone */
    bool takes_log;                       /* and may write while there is one */
    bool goes_on;                         /* and knows what is in it */
    bool keep_segment;                    /* a manifest that names it, and what is deleted, may be on the disk */
    bool has_ids;                         /* of the documents added */
    bool has_weights;                     /* of the documents added */
    bool has_masks;                       /* the same */
    bool has_text;                        /* the same */
    uint32_t key_count;                   /* the same */
    uint32_t keep_keys;                   /* that the scheme names: so many values, or none, does a document have */
    struct nigh__progress progress;
};

/* -------------------------------------------------------------------- open */

static bool deletes_alone(const struct nigh_writer *writer) { return writer->width_bits == 0; }

static nigh_status make_directory(struct nigh_writer *writer, nigh_error *error) {
    if (deletes_alone(writer)) return NIGH_OK;
    const nigh_file_system *files = writer->context->files;
    int failed = files->make_directory(files->user, writer->path);
    writer->made_directory = failed == 0;
    if (failed == 0 || failed == EEXIST) return NIGH_OK;
    return nigh__fail_system(error, failed, writer->path, "create");
}

/* Whether the keys to keep are those of what is there; where none are given they are. */
static bool keys_fit(const struct nigh_writer *writer) {
    const char *there = nigh_collection_scheme(writer->old);
    return nigh__keep_keys_count(writer->scheme) == 0 || nigh__keep_keys_same(writer->scheme, there);
}

/* Bits that the caller made may join those that were floats: who binarises by hand knows what is there. */
static nigh_status adopt_scheme(struct nigh_writer *writer, nigh_error *error) {
    const char *there = nigh_collection_scheme(writer->old);
    const char *kind = nigh__key_lines_find(there, "kind=");
    if (!writer->own_signatures || writer->old->width_bits != writer->width_bits || kind == NULL ||
        strncmp(kind, "signatures\n", 11) != 0 || !keys_fit(writer))
        return NIGH_OK;
    char *scheme = nigh__string_copy(writer->context, there);
    if (scheme == NULL) return nigh__no_memory(error, "for a scheme");
    nigh__free(writer->context, writer->scheme);
    writer->scheme = scheme;
    return NIGH_OK;
}

/* What is there must be of the same kind. */
static nigh_status fits_old(const struct nigh_writer *writer, nigh_error *error) {
    const struct nigh_collection *old = writer->old;
    if (old->segment_count >= NIGH__MAX_NEW_SEGMENTS)
        return nigh__fail_at(
            error, NIGH_ELIMIT, writer->path, NIGH_NO_OFFSET,
            "it has %u segments, one for each time documents were added, and more could not be opened; "
            "merge them first",
            old->segment_count);
    if (old->width_bits != writer->width_bits)
        return nigh__fail_at(error, NIGH_EMISMATCH, writer->path, NIGH_NO_OFFSET,
                             "the collection has %u bits, these signatures %u", old->width_bits, writer->width_bits);
    if (!keys_fit(writer))
        return nigh__fail_at(error, NIGH_EMISMATCH, writer->path, NIGH_NO_OFFSET, "it keeps the keys %s, and not %s",
                             nigh__keep_keys_shown(nigh_collection_scheme(old)).text,
                             nigh__keep_keys_shown(writer->scheme).text);
    if (strcmp(nigh_collection_scheme(old), writer->scheme) != 0)
        return nigh__fail_at(error, NIGH_EMISMATCH, writer->path, NIGH_NO_OFFSET,
                             "the collection's signatures were made by another scheme");
    return NIGH_OK;
}

/* One vocabulary, one model signs a whole collection: it comes with the first documents or not at all. */
static nigh_status attachment_fits(struct nigh_writer *writer, enum nigh__attachment kind, nigh_error *error) {
    if (writer->kept[kind].bytes == NULL) return NIGH_OK;
    const struct nigh__segment *keeper = nigh__collection_keeper(writer->old, kind);
    if (keeper == NULL && writer->old->documents == 0) return NIGH_OK;
    if (keeper == NULL)
        return nigh__fail_at(error, NIGH_EMISMATCH, writer->path, NIGH_NO_OFFSET,
                             "its documents were added without a %s; these have one", nigh__attachment_name(kind));
    nigh_status status = nigh__segment_keeps(keeper, kind, &writer->kept[kind], error);
    writer->kept[kind].bytes = NULL; /* kept already */
    return status;
}

static nigh_status open_old(struct nigh_writer *writer, nigh_error *error) {
    nigh_error problem = {.status = NIGH_OK};
    nigh_status status = nigh__collection_open_in(writer->context, &writer->directory, &writer->old, &problem);
    if (status == NIGH_OK) {
        NIGH__ASSERT(writer->old != NULL);
        status = nigh__collection_whole(writer->old, error);
        if (status != NIGH_OK || deletes_alone(writer)) return status;
        status = adopt_scheme(writer, error);
        if (status == NIGH_OK) status = fits_old(writer, error);
        for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS && status == NIGH_OK; kind++)
            status = attachment_fits(writer, kind, error);
        return status;
    }
    if (status == NIGH_ENOTFOUND && problem.system_errno == 0 && !deletes_alone(writer))
        return NIGH_OK; /* an empty place */
    if (error != NULL) *error = problem;
    return status;
}

/* Who takes the log looks, before anything is changed, whether it can be read; nobody else writes while there is one.
 */
static nigh_status settle_logs(const struct nigh_writer *writer, nigh_error *error) {
    const uint64_t next = writer->old == NULL ? 0 : writer->old->next_segment;
    bool left = false;
    if (!writer->takes_log) return nigh__logs_none(&writer->directory, next, error);
    const nigh_status status = nigh__logs_settle(&writer->directory, next, &left, error);
    if (status != NIGH_OK || !left || writer->goes_on) return status;
    const struct nigh__log_plan plan = nigh__writer_log_plan(writer);
    struct nigh__logs_told told;
    return nigh__logs_each(&writer->directory, &plan, NULL, NULL, &told, error);
}

static nigh_status begin_segment(struct nigh_writer *writer, nigh_error *error) {
    writer->keep_keys = nigh__keep_keys_count(writer->scheme);
    struct nigh__segment_plan plan = {.directory = &writer->directory,
                                      .number = writer->number++,
                                      .width_bits = writer->width_bits,
                                      .scheme = writer->scheme};
    memcpy(plan.kept, writer->kept, sizeof plan.kept);
    nigh_error problem = {.status = NIGH_OK};
    const nigh_status status = nigh__segment_writer_open(writer->context, &plan, &writer->segment, &problem);
    /* The directory that we have locked is there no more: who made it gave up, and removed it. */
    if (status == NIGH_ENOTFOUND && writer->old == NULL)
        return nigh__fail_at(error, NIGH_EBUSY, writer->path, NIGH_NO_OFFSET,
                             "another process was making it, and has given up; try again");
    if (status != NIGH_OK && error != NULL) *error = problem;
    return status;
}

/* Under the lock: what is there, and a segment to add to. */
static nigh_status prepare(struct nigh_writer *writer, nigh_error *error) {
    nigh_status status = open_old(writer, error);
    if (status == NIGH_OK) status = settle_logs(writer, error);
    if (status == NIGH_OK)
        status = nigh__state_free_number(&writer->directory, writer->old == NULL ? 1 : writer->old->next_segment,
                                         &writer->number, error);
    if (status == NIGH_OK) nigh__state_clear(&writer->directory, writer->old == NULL ? 0 : writer->old->next_segment);
    if (status == NIGH_OK) nigh__removal_init(&writer->removal, writer->old);
    if (status != NIGH_OK || deletes_alone(writer)) return status;
    return begin_segment(writer, error);
}

static nigh_status begin(struct nigh_writer *writer, nigh_error *error) {
    nigh_status status = make_directory(writer, error);
    if (status == NIGH_OK)
        status = nigh__directory_lock(writer->context, writer->path, NIGH__STORE_COLLECTION, &writer->directory, error);
    return status == NIGH_OK ? prepare(writer, error) : status;
}

/* A scheme that names one must name this one; one that it does not name may be any. */
static nigh_status attachment_sound(const char *scheme, enum nigh__attachment kind, const nigh_attachment *kept,
                                    nigh_error *error) {
    if (!nigh__scheme_names(scheme, nigh__attachment_key(kind), kept->bytes == NULL ? NULL : &kept->name))
        return nigh__fail(error, NIGH_EMISMATCH, "the scheme names another %s than the one given, or none is",
                          nigh__attachment_name(kind));
    if (kept->bytes == NULL) return NIGH_OK;
    if (kept->length == 0) return nigh__fail(error, NIGH_EINVAL, "a %s of no bytes", nigh__attachment_name(kind));
    if ((uint64_t)kept->length > NIGH__MAX_KEPT_LENGTH)
        return nigh__fail(error, NIGH_ELIMIT, "a %s of %zu bytes; 4 GiB are allowed", nigh__attachment_name(kind),
                          kept->length);
    return NIGH_OK;
}

static nigh_status options_sound(const nigh_writer_options *options, nigh_error *error) {
    nigh_status status = attachment_sound(options->scheme, NIGH__ATTACHMENT_VOCABULARY, &options->vocabulary, error);
    if (status == NIGH_OK) status = attachment_sound(options->scheme, NIGH__ATTACHMENT_MODEL, &options->model, error);
    if (status == NIGH_OK && options->width_bits != 0)
        status = nigh__width_check(NULL, NIGH_NO_OFFSET, options->width_bits, error);
    if (status != NIGH_OK || options->thresholds == NULL) return status;
    if (options->scheme != NULL)
        return nigh__fail(error, NIGH_EINVAL, "thresholds go with signatures of the caller's own, not with a scheme");
    const uint32_t count = options->thresholds->count;
    if (count == 0 || count == options->width_bits) return NIGH_OK;
    return nigh__fail(error, NIGH_EMISMATCH, "%u thresholds for signatures of %u bits", count, options->width_bits);
}

/* The lines, with those of the keys to keep where they do not have them. */
static nigh_status make_scheme(struct nigh_writer *writer, const nigh_writer_options *chosen, const char *lines,
                               nigh_error *error) {
    const nigh_context *context = writer->context;
    char *plain = NULL;
    char *keys = NULL;
    nigh_status status = nigh__scheme_make(context, chosen->width_bits, lines, &plain, error);
    if (status == NIGH_OK && nigh__keep_keys_are(plain, chosen->keep_keys, chosen->keep_key_count))
        writer->scheme = plain;
    else if (status == NIGH_OK)
        status = nigh__keep_keys_lines(context, chosen->keep_keys, chosen->keep_key_count, &keys, error);
    if (status == NIGH_OK && writer->scheme == NULL)
        status = nigh__key_lines_merge(context, plain, keys == NULL ? "" : keys, NIGH__MAX_SCHEME_LENGTH, "the scheme",
                                       &writer->scheme, error);
    if (writer->scheme != plain) nigh__free(context, plain);
    nigh__free(context, keys);
    return status;
}

/* What is kept with the documents, and the lines that say so. */
static nigh_status choose_scheme(struct nigh_writer *writer, const nigh_writer_options *chosen, nigh_error *error) {
    const nigh_thresholds *thresholds = chosen->thresholds;
    struct nigh__thresholds_lines lines;
    writer->kept[NIGH__ATTACHMENT_VOCABULARY] = chosen->vocabulary;
    writer->kept[NIGH__ATTACHMENT_MODEL] = chosen->model;
    writer->own_signatures = chosen->scheme == NULL && thresholds == NULL;
    if (thresholds != NULL) lines = nigh__thresholds_lines(thresholds);
    if (thresholds != NULL && thresholds->count != 0)
        writer->kept[NIGH__ATTACHMENT_THRESHOLDS] = (nigh_attachment){
            .bytes = thresholds->values, .length = thresholds->count * sizeof(double), .name = thresholds->name};
    return make_scheme(writer, chosen, thresholds != NULL ? lines.text : chosen->scheme, error);
}

nigh_status nigh__writer_open(nigh_context *context, const char *path, const nigh_writer_options *options,
                              bool takes_log, nigh_writer **out, nigh_error *error) {
    *out = NULL;
    nigh_writer_options chosen;
    nigh_status status = nigh__options_copy(&nigh__writer_options_shape, &chosen, options, error);
    if (status == NIGH_OK) status = options_sound(&chosen, error);
    if (status != NIGH_OK) return status;
    nigh_writer *writer = nigh__alloc_zero(context, 1, sizeof *writer);
    if (writer == NULL) return nigh__no_memory(error, "for a writer");
    writer->context = context;
    writer->width_bits = chosen.width_bits;
    writer->merge = chosen.merge != 0;
    writer->replaces = chosen.replace != 0;
    writer->takes_log = takes_log;
    nigh__progress_init(&writer->progress, chosen.progress);
    writer->path = nigh__string_copy(context, path);
    if (writer->path == NULL) status = nigh__no_memory(error, "for a path");
    if (status == NIGH_OK && !deletes_alone(writer)) status = choose_scheme(writer, &chosen, error);
    if (status == NIGH_OK) status = begin(writer, error);
    if (status == NIGH_OK)
        *out = writer;
    else
        nigh_writer_close(writer);
    return status;
}

nigh_status nigh_writer_open(nigh_context *context, const char *path, const nigh_writer_options *options,
                             nigh_writer **out, nigh_error *error) {
    return nigh__writer_open(context, path, options, false, out, error);
}

/* --------------------------------------------------------------------- add */

/* All documents of a collection have ids or none has; the first one decides. */
static nigh_status ids_agree(struct nigh_writer *writer, const nigh_document *document, nigh_error *error) {
    bool named = document->id != NULL;
    bool first = nigh__segment_writer_documents(writer->segment) == 0;
    bool before = writer->has_ids;
    if (first)
        before = writer->old != NULL && writer->old->documents != 0 ? nigh__collection_has_ids(writer->old) : named;
    if (named == before) {
        writer->has_ids = named;
        return NIGH_OK;
    }
    return nigh__fail_at(error, NIGH_EMISMATCH, writer->path, NIGH_NO_OFFSET,
                         named ? "its documents go by number; these have ids"
                               : "its documents have ids; these have none");
}

/* All documents of a commit have weights or none has; other commits may differ. */
static nigh_status weights_agree(struct nigh_writer *writer, const nigh_document *document, nigh_error *error) {
    bool weighted = document->weights != NULL;
    bool first = nigh__segment_writer_documents(writer->segment) == 0;
    if (first || weighted == writer->has_weights) {
        writer->has_weights = weighted;
        return NIGH_OK;
    }
    return nigh__fail_at(error, NIGH_EMISMATCH, writer->path, NIGH_NO_OFFSET,
                         weighted ? "the documents before it have no weights; this one has"
                                  : "the documents before it have weights; this one has none");
}

static nigh_status masks_agree(struct nigh_writer *writer, const nigh_document *document, nigh_error *error) {
    const bool masked = document->mask != NULL;
    if (masked) {
        const nigh_status status = nigh__signature_check(document->mask, writer->width_bits, error);
        if (status != NIGH_OK) return status;
    }
    if (nigh__segment_writer_documents(writer->segment) == 0) writer->has_masks = masked;
    if (masked == writer->has_masks) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EMISMATCH, writer->path, NIGH_NO_OFFSET,
                         "some documents come with a mask, and others without");
}

/* The same of texts and keys. */
static nigh_status texts_agree(struct nigh_writer *writer, const nigh_document *document, nigh_error *error) {
    const bool text = document->text != NULL;
    const uint32_t keys = document->keys == NULL ? 0 : document->key_count;
    if ((uint64_t)document->text_length > NIGH_MAX_TEXT_LENGTH)
        return nigh__fail(error, NIGH_EINVAL, "a text of %zu bytes; %u are allowed", document->text_length,
                          NIGH_MAX_TEXT_LENGTH);
    if (keys > NIGH_MAX_KEYS)
        return nigh__fail(error, NIGH_EINVAL, "%u keys of a document; %u are allowed", keys, NIGH_MAX_KEYS);
    if (nigh__segment_writer_documents(writer->segment) == 0) {
        writer->has_text = text;
        writer->key_count = keys;
    }
    if (text == writer->has_text && keys == writer->key_count) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EMISMATCH, writer->path, NIGH_NO_OFFSET,
                         "some documents come with their text or keys, and others without");
}

/* Whether it is the same document again or another one under its id, the signatures tell. */
static nigh_status fail_there(const struct nigh_writer *writer, const nigh_document *document, uint64_t existing,
                              nigh_error *error) {
    const size_t size = nigh__row_bytes(writer->width_bits);
    uint8_t *there = nigh__alloc(writer->context, size, 1);
    if (there == NULL) return nigh__no_memory(error, "for a signature");
    nigh_status status = nigh_collection_signature(writer->old, existing, there, error);
    const bool equal = status == NIGH_OK && memcmp(there, document->signature, size) == 0;
    nigh__free(writer->context, there);
    if (status != NIGH_OK) return status;
    (void)nigh__fail_at(error, NIGH_EEXISTS, writer->path, NIGH_NO_OFFSET, "a document '%s' already exists%s",
                        nigh__shown(document->id, document->id_length).text, equal ? "" : ", with another signature");
    return equal ? NIGH_EEXISTS : nigh__because(error, NIGH_REASON_OTHER_DOCUMENT, NIGH_EEXISTS);
}

/* The document of this id that is there; NULL in *segment where there is none, or it is deleted by now. */
static nigh_status find_there(const struct nigh_writer *writer, const char *id, size_t id_length,
                              struct nigh__removal_place *there, nigh_error *error) {
    *there = (struct nigh__removal_place){.segment = NULL};
    if (writer->old == NULL) return NIGH_OK;
    nigh_status status = nigh__collection_find_named(writer->old, id, id_length, &there->document, error);
    if (status == NIGH_OK) status = nigh__removal_find(&writer->removal, there, error);
    return status == NIGH_ENOTFOUND ? NIGH_OK : status;
}

/* *there is the one that it takes the place of. */
static nigh_status document_sound(struct nigh_writer *writer, const nigh_document *document,
                                  struct nigh__removal_place *there, nigh_error *error) {
    if (deletes_alone(writer))
        return nigh__fail(error, NIGH_EINVAL, "this writer was opened to delete, without the width of signatures");
    if (document->metadata_length > NIGH_MAX_METADATA_LENGTH)
        return nigh__fail(error, NIGH_EINVAL, "metadata of %zu bytes; %u are allowed", document->metadata_length,
                          NIGH_MAX_METADATA_LENGTH);
    if (document->signature == NULL) return nigh__fail(error, NIGH_EINVAL, "a document without a signature");
    nigh_status status = nigh__signature_check(document->signature, writer->width_bits, error);
    if (status == NIGH_OK) status = ids_agree(writer, document, error);
    if (status == NIGH_OK) status = weights_agree(writer, document, error);
    if (status == NIGH_OK) status = masks_agree(writer, document, error);
    if (status == NIGH_OK) status = texts_agree(writer, document, error);
    if (status == NIGH_OK) status = nigh__document_values_check(document, writer->keep_keys, error);
    if (status != NIGH_OK || document->id == NULL) return status;
    const char *problem = nigh__id_problem(document->id_length);
    if (problem != NULL) return nigh__fail(error, NIGH_EINVAL, "%s", problem);
    status = find_there(writer, document->id, document->id_length, there, error);
    if (status != NIGH_OK || there->segment == NULL || writer->replaces) return status;
    return fail_there(writer, document, there->document, error);
}

static nigh_status usable(const struct nigh_writer *writer, nigh_error *error) {
    if (writer->state == OPEN) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "the writer is at its end and can only be closed");
}

static bool recoverable(nigh_status status) {
    return status == NIGH_OK || status == NIGH_EEXISTS || status == NIGH_EINVAL || status == NIGH_EMISMATCH;
}

nigh_status nigh_writer_add(nigh_writer *writer, const nigh_document *document, nigh_error *error) {
    nigh_document known = {.size = sizeof known};
    nigh_status status = usable(writer, error);
    if (status != NIGH_OK) return status;
    status = nigh__struct_copy(&known, sizeof known, document, error);
    struct nigh__removal_place there = {.segment = NULL};
    if (status == NIGH_OK) status = document_sound(writer, &known, &there, error);
    if (status == NIGH_OK) status = nigh__removal_prepare(&writer->removal, &there, error);
    if (status == NIGH_OK) status = nigh__segment_writer_add(writer->segment, &known, error);
    if (status == NIGH_OK) nigh__removal_add(&writer->removal, &there);
    if (!recoverable(status)) writer->state = BROKEN;
    return status;
}

/* ------------------------------------------------------------------ delete */

nigh_status nigh_writer_delete(nigh_writer *writer, const char *id, size_t id_length, nigh_error *error) {
    struct nigh__removal_place there = {.segment = NULL};
    nigh_status status = usable(writer, error);
    if (status != NIGH_OK) return status;
    if (writer->old == NULL)
        return nigh__fail_at(error, NIGH_ENOTFOUND, writer->path, NIGH_NO_OFFSET, "no document '%s'",
                             nigh__shown(id, id_length).text);
    status = nigh_collection_find(writer->old, id, id_length, &there.document, error);
    if (status == NIGH_OK) status = nigh__removal_find(&writer->removal, &there, error);
    if (status == NIGH_OK && there.segment == NULL)
        return nigh__fail_at(error, NIGH_ENOTFOUND, writer->path, NIGH_NO_OFFSET, "document '%s' is deleted already",
                             nigh__shown(id, id_length).text);
    if (status == NIGH_OK) status = nigh__removal_prepare(&writer->removal, &there, error);
    if (status == NIGH_OK) nigh__removal_add(&writer->removal, &there);
    if (status != NIGH_OK && status != NIGH_ENOTFOUND) writer->state = BROKEN;
    return status;
}

/* ------------------------------------------------------------------ commit */

/* The new state: the old entries, with what is deleted of them now, and one more where `entry` is not NULL. */
static nigh_status next_manifest(const struct nigh_writer *writer, const struct nigh__manifest_entry *entry,
                                 struct nigh__manifest *out, nigh_error *error) {
    const struct nigh_collection *old = writer->old;
    const uint32_t before = old == NULL ? 0 : old->segment_count;
    if (before >= NIGH__MAX_SEGMENTS && entry != NULL)
        return nigh__fail_at(error, NIGH_ELIMIT, writer->path, NIGH_NO_OFFSET, "a collection has at most %u segments",
                             NIGH__MAX_SEGMENTS);
    if (old != NULL && old->sequence == UINT64_MAX)
        return nigh__fail_at(error, NIGH_ELIMIT, writer->path, NIGH_NO_OFFSET, "no manifest number is left");
    *out = (struct nigh__manifest){.header = {.incompatible = old == NULL ? 0 : old->features,
                                              .sequence = old == NULL ? 1 : old->sequence + 1,
                                              .next_segment = writer->number,
                                              .documents = old == NULL ? 0 : old->documents,
                                              .width_bits = old == NULL ? writer->width_bits : old->width_bits,
                                              .segment_count = before + (entry != NULL)}};
    out->entries = nigh__alloc(writer->context, (size_t)before + 1, sizeof *out->entries);
    if (out->entries == NULL) return nigh__no_memory(error, "for a manifest");
    for (uint32_t i = 0; i < before; i++) out->entries[i] = nigh__removal_entry(&writer->removal, i);
    if (entry == NULL) return NIGH_OK;
    out->entries[before] = (struct nigh__living_entry){.segment = *entry};
    out->header.documents += entry->documents;
    return NIGH_OK;
}

/*
 * Opens the new segment beside the old ones, which are open: what cannot be opened is not committed.  Where locks do
 * not work another writer may have taken it for a leftover; and the system may map no more files.
 */
static nigh_status segment_opens(const struct nigh_writer *writer, const struct nigh__manifest_entry *entry,
                                 nigh_error *error) {
    struct nigh__segment *segment;
    nigh_error problem = {.status = NIGH_OK};
    if (entry == NULL) return NIGH_OK;
    nigh_status status = nigh__segment_open(&writer->directory, entry, &segment, &problem);
    nigh__segment_close(segment);
    if (status == NIGH_ENOTFOUND || status == NIGH_ECORRUPT)
        return nigh__fail_at(error, NIGH_EBUSY, writer->path, NIGH_NO_OFFSET,
                             "another process has written meanwhile, which locks should prevent: nothing was added");
    if (problem.system_errno == ENOMEM)
        return nigh__fail_at(error, NIGH_ELIMIT, writer->path, NIGH_NO_OFFSET,
                             "it has %u segments, one for each time documents were added, and the system maps no more "
                             "(vm.max_map_count): nothing was added",
                             writer->old == NULL ? 0 : writer->old->segment_count);
    if (status != NIGH_OK && error != NULL) *error = problem;
    return status;
}

static nigh_status publish(struct nigh_writer *writer, const struct nigh__manifest_entry *entry, nigh_error *error) {
    struct nigh__manifest manifest = {.entries = NULL};
    nigh_status status = nigh__removal_write(&writer->removal, &writer->directory, &writer->number, error);
    if (status == NIGH_OK) status = next_manifest(writer, entry, &manifest, error);
    if (status == NIGH_OK) status = nigh__file_sync(&writer->directory, error);
    /* The name of a new collection must be safe too. */
    if (status == NIGH_OK && writer->old == NULL) status = nigh__parent_sync(writer->context, writer->path, error);
    if (status == NIGH_OK && nigh__progress_tick(&writer->progress, "committing", 0, 0))
        status = nigh__progress_cancelled(error);
    if (status == NIGH_OK) status = segment_opens(writer, entry, error);
    if (status == NIGH_OK)
        status =
            nigh__manifest_write(&writer->directory, NIGH__STORE_COLLECTION, &manifest, &writer->keep_segment, error);
    if (status == NIGH_OK) {
        nigh__segment_writer_close(writer->segment, true); /* its temporary files go before the tidying */
        writer->segment = NULL;
        nigh__state_tidy(&writer->directory, NIGH__STORE_COLLECTION, &manifest,
                         writer->old == NULL ? 0 : writer->old->next_segment);
    }
    if (status != NIGH_OK && writer->keep_segment) (void)nigh__because(error, NIGH_REASON_COMMITTED, status);
    nigh__manifest_release(writer->context, &manifest);
    return status;
}

/* The state before, what was added to it (`entry` NULL where that is nothing), and what is deleted of it. */
static void tell(const struct nigh_writer *writer, const struct nigh__manifest_entry *entry, uint32_t distinct,
                 nigh_commit *out) {
    const struct nigh_collection *old = writer->old;
    nigh_commit commit = {.size = sizeof commit, .width_bits = writer->width_bits, .deleted = writer->removal.count};
    if (old != NULL) {
        commit.width_bits = old->width_bits;
        commit.sequence = old->sequence;
        commit.documents = old->documents;
        commit.deleted_now = old->deleted + commit.deleted;
        for (uint32_t i = 0; i < old->segment_count; i++)
            commit.bytes += old->segments[i]->length + nigh__removal_entry(&writer->removal, i).deletions.file_length;
    }
    commit.first_document = commit.documents;
    if (entry != NULL) {
        commit.added = entry->documents;
        commit.distinct = distinct;
        commit.segment = entry->number;
        commit.documents += entry->documents;
        commit.bytes += entry->file_length;
    }
    if (entry != NULL || commit.deleted != 0) commit.sequence++;
    nigh__info_copy(out, &commit, sizeof commit);
}

/* Whether there is anything to be written in a new segment. */
static bool adds(const struct nigh_writer *writer) {
    if (writer->segment == NULL) return false;
    return writer->old == NULL || nigh__segment_writer_documents(writer->segment) != 0 ||
           writer->kept[NIGH__ATTACHMENT_VOCABULARY].bytes != NULL ||
           writer->kept[NIGH__ATTACHMENT_MODEL].bytes != NULL;
}

void nigh__commit_merged(nigh_commit *told, nigh_status status, const nigh_merge_result *result) {
    told->merge_status = (uint32_t)status;
    told->merged += result->parts;
    if (status != NIGH_OK || result->parts == 0) return;
    told->deleted_now = result->deleted;
    told->sequence = result->sequence;
    told->documents = result->documents;
    told->first_document = result->documents - told->added;
    told->bytes = result->total_bytes;
    told->segment = result->last_segment;
}

/* What was added is safe whatever becomes of this, so a failure is told and is none of the commit. */
static void merge(struct nigh_writer *writer, nigh_commit *told) {
    nigh_merge_result result = {.size = sizeof result};
    const nigh_status status =
        nigh__merge_tiers(writer->context, &writer->directory, &writer->progress.callback, &result, NULL);
    nigh__commit_merged(told, status, &result);
}

nigh_status nigh_writer_commit(nigh_writer *writer, nigh_commit *commit, nigh_error *error) {
    struct nigh__manifest_entry entry;
    uint32_t distinct = 0;
    nigh_status status = usable(writer, error);
    if (status != NIGH_OK) return status;
    writer->state = BROKEN;
    const bool added = adds(writer);
    if (added) {
        distinct = nigh__segment_writer_signatures(writer->segment);
        status = nigh__segment_writer_finish(writer->segment, &writer->progress, &entry, error);
    } else {
        nigh__segment_writer_close(writer->segment, false);
        writer->segment = NULL;
    }
    /* Else nothing is new: the state there is the state wanted. */
    if (status == NIGH_OK && (added || writer->removal.count != 0))
        status = publish(writer, added ? &entry : NULL, error);
    if (status != NIGH_OK) return status;
    writer->state = COMMITTED;
    nigh_commit told = {.size = sizeof told};
    tell(writer, added ? &entry : NULL, distinct, &told);
    if (writer->merge && (added || writer->removal.count != 0)) merge(writer, &told);
    if (commit != NULL) nigh__info_copy(commit, &told, sizeof told);
    return NIGH_OK;
}

void nigh_writer_close(nigh_writer *writer) {
    if (writer == NULL) return;
    nigh__segment_writer_close(writer->segment, writer->keep_segment);
    nigh__removal_release(&writer->removal, writer->keep_segment ? NULL : &writer->directory);
    nigh_collection_close(writer->old);
    bool unwanted = writer->made_directory && writer->state != COMMITTED && !writer->keep_segment;
    if (unwanted) nigh__file_remove(writer->context, writer->path);
    if (writer->directory.context != NULL) nigh__file_release(&writer->directory);
    nigh__free(writer->context, writer->path);
    nigh__free(writer->context, writer->scheme);
    nigh__free(writer->context, writer);
}

/* ------------------------------------------------------------- going on -- */

nigh_status nigh__writer_renew(nigh_writer *writer, nigh_error *error) {
    if (writer->state != COMMITTED) return nigh__fail(error, NIGH_EINVAL, "only a writer that has committed goes on");
    nigh__segment_writer_close(writer->segment, writer->keep_segment);
    nigh__removal_release(&writer->removal, NULL);
    nigh_collection_close(writer->old);
    writer->segment = NULL;
    writer->old = NULL;
    writer->state = BROKEN;
    writer->made_directory = writer->keep_segment = false;
    writer->has_ids = writer->has_weights = writer->has_text = false;
    writer->key_count = 0;
    writer->goes_on = true;
    const nigh_status status = prepare(writer, error);
    if (status == NIGH_OK) writer->state = OPEN;
    return status;
}

bool nigh__writer_committed(const nigh_writer *writer) { return writer->state == COMMITTED; }

uint64_t nigh__writer_number(const nigh_writer *writer) { return writer->number; }

void nigh__writer_spend(nigh_writer *writer, uint64_t log) {
    if (writer->number <= log) writer->number = log + 1;
}

nigh_collection *nigh__writer_collection(const nigh_writer *writer) { return writer->old; }

uint32_t nigh__writer_keep_keys(const nigh_writer *writer) { return writer->keep_keys; }

const struct nigh__file *nigh__writer_directory(const nigh_writer *writer) { return &writer->directory; }

struct nigh__log_plan nigh__writer_log_plan(const nigh_writer *writer) {
    const struct nigh_collection *old = writer->old;
    return (struct nigh__log_plan){.number = old == NULL ? 0 : old->next_segment,
                                   .first = old == NULL ? 0 : old->documents,
                                   .scheme = nigh__hash(writer->scheme, strlen(writer->scheme)),
                                   .width_bits = writer->width_bits};
}
