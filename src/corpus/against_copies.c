/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing new documents with a collection for near-copies. The deduplication decides,
 * with the collection's documents before all new ones (nigh_dedup_options.against); this
 * file turns its result into that of an against.
 */
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/status.h"
#include "corpus/against_parts.h"
#include "corpus/corpus_options.h"
#include "document/document_options.h"
#include "document/reading_keys.h"

#define USUAL_THRESHOLD 0.8

/* ----------------------------------------------------------------- opening -- */

/* How documents of a collection that is not there yet will be signed. */
static nigh_status plan_new(nigh_against *against, nigh_error *error) {
    nigh_signer *signer = NULL;
    nigh_signer_options_init(&against->new_signer);
    against->new_signer.scheme = NIGH_SCHEME_MINHASH;
    if (against->options.signer != NULL)
        nigh__info_copy(&against->new_signer, against->options.signer, against->options.signer->size);
    if (!(against->new_signer.threshold > 0)) against->new_signer.threshold = USUAL_THRESHOLD;
    nigh_status status = nigh_signer_new(against->context, &against->new_signer, &signer, error);
    if (status == NIGH_OK) against->info.width_bits = nigh_signer_width(signer);
    nigh_signer_free(signer);
    against->info.threshold = against->new_signer.threshold;
    against->has_scheme = true;
    against->scheme = NIGH_SCHEME_MINHASH;
    against->copies = true;
    return status;
}

nigh_status nigh__copies_read(nigh_against *against, nigh_error *error) {
    nigh_error problem = {.status = NIGH_OK};
    nigh_status status = nigh__against_read_collection(against, &problem);
    if (status == NIGH_ENOTFOUND && against->options.add) return plan_new(against, error);
    if (status != NIGH_OK && error != NULL) *error = problem;
    return status;
}

/* ------------------------------------------------------------------ taking -- */

/* The signer that the collection is, or will be, signed by. */
static nigh_status make_signer(nigh_against *against, nigh_error *error) {
    nigh_status status = nigh__against_check_cost(against, error);
    if (status != NIGH_OK) return status;
    status = against->collection != NULL
                 ? nigh_collection_signer(against->collection, &against->own_signer, error)
                 : nigh_signer_new(against->context, &against->new_signer, &against->own_signer, error);
    against->signer = against->own_signer;
    return status;
}

static void dedup_options(const nigh_against *against, nigh_dedup_options *out) {
    const nigh_against_options *options = &against->options;
    nigh_dedup_options_init(out);
    out->against = against->collection;
    out->signer = against->collection == NULL ? &against->new_signer : NULL;
    out->threshold = against->info.threshold;
    out->no_verify = options->no_verify;
    out->memory_bytes = options->memory_bytes;
    out->temporary = options->temporary;
    out->limit = options->limit;
    out->threads = options->threads;
    out->progress = options->progress;
}

static nigh_status run(nigh_against *against, const char *const *paths, size_t count, const nigh_source *source,
                       const nigh_text_reader_options *reading, nigh_error *error) {
    nigh_dedup_options options;
    dedup_options(against, &options);
    if (source != NULL) return nigh_dedup_source(against->context, source, reading, &options, &against->dedup, error);
    return nigh_dedup_run(against->context, paths, count, reading, &options, &against->dedup, error);
}

/* A new collection remembers by which keys it was read. */
static nigh_status choose_keys(nigh_against *against, const nigh_text_reader_options *given,
                               nigh_text_reader_options *out, nigh_error *error) {
    nigh_status status = nigh__options_copy(&nigh__text_reader_options_shape, out, given, error);
    if (status != NIGH_OK || against->collection != NULL) return status;
    status = nigh__reading_keys_lines(against->context, out, &against->keys, error);
    against->new_signer.reading_keys = against->keys;
    return status;
}

nigh_status nigh__copies_take(nigh_against *against, const char *const *paths, size_t count, const nigh_source *source,
                              const nigh_text_reader_options *reading, nigh_error *error) {
    nigh_status status =
        nigh__against_expect(against, NIGH__AGAINST_TAKING, "no inputs can be given after comparing", error);
    if (status != NIGH_OK) return status;
    if (against->kind != NIGH__INCOMING_NONE)
        return nigh__fail(error, NIGH_EINVAL, "inputs for near-copies can be given only once");
    nigh_text_reader_options by;
    status = choose_keys(against, reading, &by, error);
    if (status != NIGH_OK) return status;
    against->kind = NIGH__INCOMING_TEXTS;
    against->match = nigh__alloc(against->context, 1, sizeof *against->match);
    status = against->match == NULL ? nigh__no_memory(error, "for matches") : make_signer(against, error);
    if (status == NIGH_OK) status = nigh__against_open_writer(against, error);
    /* As those that are there were read; the writer may have opened the collection anew. */
    if (status == NIGH_OK && against->collection != NULL) by.scheme = nigh_collection_scheme(against->collection);
    if (status == NIGH_OK) status = nigh__against_check_keys(against, &by, error);
    if (status == NIGH_OK) status = run(against, paths, count, source, &by, error);
    if (status != NIGH_OK) against->state = NIGH__AGAINST_BROKEN;
    return status;
}

/* ----------------------------------------------------------------- telling -- */

static int compare_renamed(const void *key, const void *item) {
    const uint64_t number = *(const uint64_t *)key;
    const struct nigh__renamed *renamed = item;
    return number < renamed->number ? -1 : number > renamed->number;
}

/* The id it was added by. */
static void show_added(const nigh_against *against, uint64_t number, nigh_against_document *out) {
    const struct nigh__renamed *renamed = against->renamed.count == 0
                                              ? NULL
                                              : bsearch(&number, against->renamed.data, against->renamed.count,
                                                        sizeof(struct nigh__renamed), compare_renamed);
    out->added_as = against->added_as[number];
    out->added_id = out->id;
    out->added_id_length = out->id_length;
    out->id_taken = renamed != NULL;
    if (renamed == NULL) return;
    out->added_id = (const char *)against->names.data + renamed->name;
    out->added_id_length = renamed->length;
}

nigh_status nigh__copies_at(const nigh_against *against, uint64_t number, nigh_against_document *out) {
    nigh_against_document found = {.size = sizeof found, .added_as = NIGH_ALL_64};
    nigh_dedup_document document = {.size = sizeof document};
    if (nigh_dedup_at(against->dedup, number, &document) != NIGH_OK) return NIGH_END;
    const bool there = document.there != NIGH_ALL_64;
    found.id = document.id;
    found.id_length = document.id_length;
    found.unmatched = document.keep;
    found.similarity = document.keep ? 1 : against->options.no_verify ? -1 : document.similarity;
    if (there || !document.keep)
        *against->match =
            (nigh_match){.document = there ? document.there : document.cluster, .distance = document.distance};
    if (there) {
        found.there = against->match;
        found.there_count = 1;
    } else if (!document.keep) {
        found.earlier = against->match;
        found.earlier_count = 1;
    }
    if (document.keep && against->added_as != NULL) show_added(against, number, &found);
    nigh__info_copy(out, &found, sizeof found);
    return NIGH_OK;
}

void nigh__copies_describe(const nigh_against *against, nigh_against_info *out) {
    nigh_against_info info = against->info;
    nigh_dedup_info dedup = {.size = sizeof dedup};
    if (against->dedup != NULL) nigh_dedup_describe(against->dedup, &dedup);
    info.copies = 1;
    info.texts = 1;
    info.exact = 0;
    info.verified = !against->options.no_verify;
    info.documents -= against->held.deleted;
    info.incoming = dedup.documents;
    info.there = dedup.there;
    info.unmatched = dedup.kept;
    info.repeated = dedup.documents - dedup.there - dedup.kept;
    info.matches = info.there + info.repeated;
    info.truncated = dedup.truncated;
    info.lost = dedup.lost;
    info.radius = NIGH_ALL;
    nigh__info_copy(out, &info, sizeof info);
}

/* ------------------------------------------------------------------ adding -- */

struct adding {
    nigh_against *against;
    bool no_memory;
};

static bool note_renamed(nigh_against *against, const nigh_dedup_added *added) {
    struct nigh__renamed *renamed = nigh__array_add(against->context, &against->renamed, 1);
    if (renamed == NULL) return false;
    *renamed = (struct nigh__renamed){added->number, against->names.count, added->id_length};
    against->info.ids_taken++;
    return nigh__bytes_append(against->context, &against->names, added->id, added->id_length);
}

static void note_added(void *user, const nigh_dedup_added *added) {
    struct adding *adding = user;
    nigh_against *against = adding->against;
    against->added_as[added->number] = against->info.documents + against->info.added++;
    if (added->renamed && !note_renamed(against, added)) adding->no_memory = true;
}

nigh_status nigh__copies_add(nigh_against *against, nigh_error *error) {
    struct adding adding = {.against = against};
    nigh_dedup_info info = {.size = sizeof info};
    nigh_dedup_add_options options;
    nigh_dedup_describe(against->dedup, &info);
    against->added_as = nigh__alloc(against->context, (size_t)info.documents, sizeof *against->added_as);
    if (against->added_as == NULL) return nigh__no_memory(error, "to add new documents");
    for (uint64_t i = 0; i < info.documents; i++) against->added_as[i] = NIGH_ALL_64;
    nigh_dedup_add_options_init(&options);
    options.snippet = against->options.snippet;
    options.added = note_added;
    options.user = &adding;
    nigh_status status = nigh_dedup_add(against->dedup, against->writer, &options, error);
    return status == NIGH_OK && adding.no_memory ? nigh__no_memory(error, "to add new documents") : status;
}

nigh_status nigh_against_write(nigh_against *against, const char *path, const nigh_dedup_write_options *options,
                               nigh_dedup_written *written, nigh_error *error) {
    if (against->dedup == NULL)
        return nigh__fail(error, NIGH_EINVAL, "only documents that were compared as near-copies can be written");
    return nigh_dedup_write(against->dedup, path, options, written, error);
}
