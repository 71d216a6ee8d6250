/* SPDX-License-Identifier: Apache-2.0 */
/* Opening what new documents are compared with, and describing the result; nigh/against.h has the order of calls. */
#include "nigh/against.h"

#include <string.h>

#include "base/status.h"
#include "corpus/against_options.h"
#include "corpus/against_parts.h"

nigh_status nigh__against_expect(const nigh_against *against, enum nigh__against_state state, const char *why,
                                 nigh_error *error) {
    if (against->state == state) return NIGH_OK;
    return nigh__fail(error, NIGH_EINVAL, "%s",
                      against->state == NIGH__AGAINST_BROKEN ? "after a failure it can only be closed" : why);
}

nigh_status nigh__against_tick(nigh_against *against, const char *stage, uint64_t done, uint64_t total,
                               nigh_error *error) {
    return nigh__progress_tick(&against->progress, stage, done, total) ? nigh__progress_cancelled(error) : NIGH_OK;
}

/* ------------------------------------------------------------------ opening -- */

static void set_radius(nigh_against *against) {
    const uint32_t width_bits = against->info.width_bits;
    uint32_t radius = against->options.radius;
    if (radius == NIGH__UNSET)
        radius = against->has_scheme ? nigh_default_radius(against->scheme, width_bits) : NIGH_ALL;
    else if (radius > width_bits)
        radius = width_bits;
    against->info.radius = radius;
}

nigh_status nigh__against_read_collection(nigh_against *against, nigh_error *error) {
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    nigh_collection_close(against->collection);
    against->collection = NULL;
    nigh_status status = nigh_collection_open(against->context, against->path, NULL, &against->collection, error);
    if (status != NIGH_OK) return status;
    nigh_collection_describe(against->collection, &against->held);
    status = nigh_signer_options_parse(nigh_collection_scheme(against->collection), &held, error);
    if (status != NIGH_OK && status != NIGH_ENOTFOUND) return status;
    against->has_scheme = status == NIGH_OK;
    against->scheme = held.scheme;
    against->copies = against->has_scheme && held.threshold > 0;
    against->info.threshold = against->copies ? held.threshold : 0;
    against->info.width_bits = against->held.width_bits;
    against->info.documents = against->held.documents;
    set_radius(against);
    return NIGH_OK;
}

/* How the chunks say that they were signed.  Where they do not, or are the caller's own, they count as simhash. */
static nigh_status read_chunks_scheme(nigh_against *against, nigh_error *error) {
    const char *scheme = nigh_chunks_scheme(against->chunks);
    nigh_signer_options held;
    nigh_signer_options_init(&held);
    against->has_scheme = true;
    against->scheme = NIGH_SCHEME_SIMHASH;
    const nigh_status status = scheme == NULL ? NIGH_ENOTFOUND : nigh_signer_options_parse(scheme, &held, error);
    if (status == NIGH_OK) against->scheme = held.scheme;
    return status == NIGH_ENOTFOUND ? NIGH_OK : status;
}

static nigh_status read_chunks(nigh_against *against, nigh_error *error) {
    const nigh_against_options *options = &against->options;
    nigh_chunks_options chunks_options;
    nigh_chunks_options_init(&chunks_options);
    nigh_chunks_info info = {.size = sizeof info};
    if (options->approximate || options->rotations != 0)
        return nigh__fail(error, NIGH_EINVAL, "approximate and rotations are for collections, not chunks");
    if (options->without_numbers)
        return nigh__fail(error, NIGH_EINVAL, "chunks are not loaded, with numbers or without_numbers");
    chunks_options.writable = options->add;
    nigh_status status = nigh_chunks_open(against->context, against->path, &chunks_options, &against->chunks, error);
    if (status == NIGH_OK) status = read_chunks_scheme(against, error);
    if (status != NIGH_OK) return status;
    nigh_chunks_describe(against->chunks, &info);
    against->info.documents = info.fingerprints;
    against->info.width_bits = 64;
    set_radius(against);
    return NIGH_OK;
}

nigh_status nigh__against_check_cost(const nigh_against *against, nigh_error *error) {
    nigh_signer_options held;
    nigh_signer_options asked;
    nigh_signer_options_init(&held);
    nigh_signer_options_init(&asked);
    if (against->collection == NULL ||
        nigh_signer_options_parse(nigh_collection_scheme(against->collection), &held, NULL) != NIGH_OK)
        return NIGH_OK; /* who needs the scheme will say what is wrong with it */
    nigh_error problem;
    held.width_bits = against->held.width_bits;
    asked.width_bits = against->asked_bits;
    asked.max_terms = against->asked_terms;
    const nigh_status status = nigh_signer_options_check(&held, &asked, &problem);
    if (status == NIGH_OK) return NIGH_OK;
    return nigh__because(error, problem.reason,
                         nigh__fail_at(error, status, against->path, NIGH_NO_OFFSET, "%s", problem.why));
}

/* What of a match is asked for. */
static nigh_status check_find(nigh_against_options *options, nigh_error *error) {
    if ((unsigned)options->find > NIGH_FIND_ANY)
        return nigh__fail(error, NIGH_EINVAL, "%d is no mode of finding", (int)options->find);
    if ((unsigned)options->model > NIGH_WEAK_LINEAR)
        return nigh__fail(error, NIGH_EINVAL, "%d is no model of weak bits", (int)options->model);
    if (options->without_numbers && (options->find != NIGH_FIND_ANY || options->method != NIGH_FINDER_PSM))
        return nigh__fail(error, NIGH_EINVAL, "without_numbers goes with the method 'psm' and any match");
    return NIGH_OK;
}

static nigh_status set_up(nigh_against *against, nigh_context *context, const char *path,
                          const nigh_against_options *options, nigh_error *error) {
    against->context = context;
    against->held.size = sizeof against->held;
    against->finder.size = sizeof against->finder;
    against->info.size = sizeof against->info;
    against->info.exact = 1;
    against->signing_before.size = sizeof against->signing_before;
    nigh_status status = nigh__options_copy(&nigh__against_options_shape, &against->options, options, error);
    if (status == NIGH_OK) status = check_find(&against->options, error);
    if (status != NIGH_OK) return status;
    nigh__progress_init(&against->progress, against->options.progress);
    if (against->options.signer != NULL) {
        against->asked_bits = against->options.signer->width_bits;
        against->asked_terms = against->options.signer->max_terms;
    }
    against->renamed.item_size = sizeof(struct nigh__renamed);
    against->names.item_size = 1;
    against->path = nigh__string_copy(context, path);
    if (options != NULL && against->options.temporary != NULL) {
        against->temporary = nigh__string_copy(context, against->options.temporary);
        if (against->temporary == NULL) return nigh__no_memory(error, "for a path");
    }
    against->options.temporary = against->temporary;
    against->there = nigh__alloc_zero(context, 2, sizeof *against->there);
    if (against->there == NULL) return nigh__no_memory(error, "for matches");
    against->earlier = against->there + 1;
    return against->path != NULL ? NIGH_OK : nigh__no_memory(error, "for a path");
}

static nigh_status open_with(nigh_context *context, const char *path, const nigh_against_options *options,
                             nigh_status (*read)(nigh_against *against, nigh_error *error), nigh_against **out,
                             nigh_error *error) {
    *out = NULL;
    nigh_against *against = nigh__alloc_zero(context, 1, sizeof *against);
    if (against == NULL) return nigh__no_memory(error, "for new documents");
    nigh_status status = set_up(against, context, path, options, error);
    if (status == NIGH_OK) status = read(against, error);
    if (status == NIGH_OK) {
        nigh__incoming_init(context, against->info.width_bits, &against->incoming);
        *out = against;
    } else {
        nigh_against_close(against);
    }
    return status;
}

nigh_status nigh_against_open(nigh_context *context, const char *path, const nigh_against_options *options,
                              nigh_against **out, nigh_error *error) {
    return open_with(context, path, options, nigh__copies_read, out, error);
}

nigh_status nigh_against_open_chunks(nigh_context *context, const char *path, const nigh_against_options *options,
                                     nigh_against **out, nigh_error *error) {
    return open_with(context, path, options, read_chunks, out, error);
}

void nigh_against_close(nigh_against *against) {
    if (against == NULL) return;
    nigh_context *context = against->context;
    nigh_signing_close(against->signing);
    nigh_dedup_free(against->dedup);
    nigh__free(context, against->match);
    nigh__array_release(context, &against->renamed);
    nigh__array_release(context, &against->names);
    nigh_writer_close(against->writer);
    nigh_signer_free(against->own_signer);
    nigh__free(against->context, against->keys);
    if (against->there != NULL) {
        nigh__match_store_release(against->there);
        nigh__match_store_release(against->earlier);
    }
    nigh__free(context, against->there);
    nigh__free(context, against->matched);
    nigh__free(context, against->added_as);
    nigh__incoming_release(&against->incoming);
    nigh_chunks_close(against->chunks);
    nigh_collection_close(against->collection);
    nigh__free(context, against->path);
    nigh__free(context, against->temporary);
    nigh__free(context, against);
}

/* ------------------------------------------------------------------ telling -- */

const nigh_collection *nigh_against_collection(const nigh_against *against) { return against->collection; }

nigh_chunks *nigh_against_chunks(const nigh_against *against) { return against->chunks; }

/* All but the matches themselves. */
static nigh_status look(const nigh_against *against, uint64_t number, nigh_against_document *found) {
    *found = (nigh_against_document){.size = sizeof *found, .added_as = NIGH_ALL_64};
    if (number >= against->incoming.count) return NIGH_END;
    const size_t index = (size_t)number;
    const nigh_document document = nigh__incoming_document(&against->incoming, index);
    found->id = document.id;
    found->id_length = document.id_length;
    found->there_count = nigh__match_store_count(against->there, index);
    found->earlier_count = nigh__match_store_count(against->earlier, index);
    found->unmatched = against->matched != NULL && !against->matched[index];
    if (against->added_as != NULL) {
        found->added_as = against->added_as[index];
        found->id_taken = found->unmatched && found->added_as == NIGH_ALL_64;
    }
    return NIGH_OK;
}

nigh_status nigh_against_look(const nigh_against *against, uint64_t number, nigh_against_document *out) {
    if (against->dedup != NULL) return nigh__copies_at(against, number, out);
    nigh_against_document found;
    const nigh_status status = look(against, number, &found);
    if (status == NIGH_OK) nigh__info_copy(out, &found, sizeof found);
    return status;
}

nigh_status nigh_against_at(const nigh_against *against, uint64_t number, nigh_against_document *out) {
    if (against->dedup != NULL) return nigh__copies_at(against, number, out);
    nigh_against_document found;
    nigh_status status = look(against, number, &found);
    const size_t index = (size_t)number;
    if (status == NIGH_OK)
        status = nigh__match_store_get(against->there, index, &found.there, &found.there_count, NULL);
    if (status == NIGH_OK)
        status = nigh__match_store_get(against->earlier, index, &found.earlier, &found.earlier_count, NULL);
    if (status == NIGH_OK) nigh__info_copy(out, &found, sizeof found);
    return status;
}

const char *nigh_against_scheme(const nigh_against *against) {
    if (against->chunks != NULL) return nigh_chunks_scheme(against->chunks);
    return against->collection == NULL ? NULL : nigh_collection_scheme(against->collection);
}

void nigh_against_describe(const nigh_against *against, nigh_against_info *out) {
    if (against->copies && against->kind != NIGH__INCOMING_SIGNATURES) {
        nigh__copies_describe(against, out);
        return;
    }
    nigh_against_info info = against->info;
    info.incoming = against->incoming.count;
    info.documents -= against->held.deleted;
    info.unmatched = against->matched == NULL ? 0 : info.incoming - info.there - info.repeated;
    info.texts = against->kind == NIGH__INCOMING_TEXTS;
    nigh__info_copy(out, &info, sizeof info);
}

void nigh_against_describe_finder(const nigh_against *against, nigh_finder_info *out) {
    nigh__info_copy(out, &against->finder, sizeof against->finder);
}

static void sum_up(nigh_signing_info *sum, const nigh_signing_info *info) {
    sum->signed_rows += info->signed_rows;
    sum->empty += info->empty;
    sum->reader.files += info->reader.files;
    sum->reader.records += info->reader.records;
    sum->reader.documents += info->reader.documents;
    sum->reader.missing += info->reader.missing;
    sum->reader.problems += info->reader.problems;
    sum->reader.binary += info->reader.binary;
    sum->reader.damaged += info->reader.damaged;
    sum->reader.skipped += info->reader.skipped;
    sum->reader.too_few_bytes += info->reader.too_few_bytes;
    sum->reader.too_few_words += info->reader.too_few_words;
    sum->reader.other_language += info->reader.other_language;
    sum->reader.bytes_read += info->reader.bytes_read;
    sum->reader.bytes_total += info->reader.bytes_total;
    sum->reader.bytes_text += info->reader.bytes_text;
}

void nigh_against_describe_signing(const nigh_against *against, nigh_signing_info *out) {
    nigh_signing_info sum = against->signing_before;
    nigh_dedup_info dedup = {.size = sizeof dedup};
    if (against->dedup != NULL) {
        nigh_dedup_describe(against->dedup, &dedup);
        sum.reader = dedup.reader;
        sum.signed_rows = dedup.documents;
    }
    nigh_signing_info last = {.size = sizeof last};
    if (against->signing != NULL) nigh_signing_describe(against->signing, &last);
    sum_up(&sum, &last);
    nigh__info_copy(out, &sum, sizeof sum);
}
