/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking new documents. The first one decides what they are, texts or signatures: how they
 * are signed, what is known of their bits, and whether they may be added. Then the writer
 * is opened, and the collection is read again, because others may have added documents
 * before it was locked.
 */
#include "base/keep_keys.h"
#include "base/status.h"
#include "corpus/against_options.h"
#include "corpus/against_parts.h"
#include "document/split.h"
#include "nigh/corpus.h"
#include "signature/signer.h"

#define PSM_RECALL 0.95 /* where none is given */
#define TICK_TEXTS 64
#define TICK_ROWS 1024

/* ------------------------------------------------------------------- signing -- */

static nigh_status make_simhash_signer(nigh_against *against, nigh_error *error) {
    nigh_signer_options options;
    nigh_signer_options_init(&options);
    options.scheme = NIGH_SCHEME_SIMHASH;
    options.width_bits = 64;
    return nigh_signer_new(against->context, &options, &against->own_signer, error);
}

/* Of chunks: the caller's, or the one that they say, or where they do not the usual one. */
static nigh_status choose_chunks_signer(nigh_against *against, nigh_signer *signer, nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (signer == NULL && against->own_signer == NULL)
        status = nigh_chunks_scheme(against->chunks) != NULL
                     ? nigh_chunks_signer(against->chunks, &against->own_signer, error)
                     : make_simhash_signer(against, error);
    if (status != NIGH_OK) return status;
    against->signer = signer != NULL ? signer : against->own_signer;
    if (nigh_signer_width(against->signer) != 64)
        return nigh__fail(error, NIGH_EMISMATCH, "chunks hold signatures of 64 bits, and the signer makes %u",
                          nigh_signer_width(against->signer));
    against->scheme = nigh__signer_plan(against->signer)->scheme;
    if (against->options.radius == NIGH__UNSET) against->info.radius = nigh_default_radius(against->scheme, 64);
    return NIGH_OK;
}

static nigh_status choose_signer(nigh_against *against, nigh_signer *signer, nigh_error *error) {
    if (against->chunks != NULL) return choose_chunks_signer(against, signer, error);
    if (signer != NULL)
        return nigh__fail(error, NIGH_EINVAL, "the collection decides how documents are signed; give no signer");
    nigh_status status = nigh__against_check_cost(against, error);
    if (status == NIGH_OK && against->own_signer == NULL)
        status = nigh_collection_signer(against->collection, &against->own_signer, error);
    against->signer = against->own_signer;
    return status;
}

/* Chunks must say the same, or record it; signatures may be held against those of texts, but not added to them. */
static nigh_status declare(nigh_against *against, bool texts, nigh_error *error) {
    nigh_chunks_origin origin = {.size = sizeof origin};
    if (against->chunks == NULL || (!texts && !against->options.add)) return NIGH_OK;
    if (texts) {
        const struct nigh__signer_plan *plan = nigh__signer_plan(against->signer);
        origin.scheme = nigh_signer_scheme(against->signer);
        origin.vocabulary = nigh_vocabulary_attachment(plan->vocabulary);
        origin.model = nigh_model_attachment(plan->model);
    }
    return nigh_chunks_declare(against->chunks, &origin, error);
}

/* ------------------------------------------------------------------ settling -- */

static nigh_status check_radius(const nigh_against *against, nigh_error *error) {
    if (against->info.radius != NIGH_ALL) return NIGH_OK;
    const char *what = !against->has_scheme                     ? "signatures of your own"
                       : against->scheme == NIGH_SCHEME_LEARNED ? "learned signatures"
                                                                : "topsig signatures";
    return nigh__because(error, NIGH_REASON_NEEDS_RADIUS,
                         nigh__fail_at(error, NIGH_EINVAL, against->path, NIGH_NO_OFFSET, "holds %s", what));
}

/* Wide rows are found by their numbers. */
static nigh_status check_numbers(const nigh_against *against, nigh_error *error) {
    if (!against->options.without_numbers || against->info.width_bits == 64) return NIGH_OK;
    return nigh__fail_at(error, NIGH_EINVAL, against->path, NIGH_NO_OFFSET,
                         "holds signatures of %u bits; only rows of 64 bits are kept without numbers",
                         against->info.width_bits);
}

/* What the bits of the new ones are known by decides what may be missed. */
static nigh_status choose_recall(nigh_against *against, bool texts, nigh_error *error) {
    nigh_against_options *options = &against->options;
    const bool psm = options->method == NIGH_FINDER_PSM;
    const bool weighted = texts && against->scheme != NIGH_SCHEME_MINHASH;
    if (psm && !weighted)
        return nigh__because(error, NIGH_REASON_NEEDS_WEIGHTS,
                             nigh__fail(error, NIGH_EINVAL,
                                        "psm needs to know how sure each bit is, which %s cannot tell",
                                        texts ? "minhash" : "signatures"));
    if (!weighted)
        options->recall = 1;
    else if (options->recall < 0)
        options->recall = psm ? PSM_RECALL : 1;
    against->incoming.keep_weights =
        psm || (options->method == NIGH_FINDER_AUTO && options->recall < 1) ||
        (texts && options->add && against->collection != NULL && against->held.has_weights);
    return NIGH_OK;
}

nigh_status nigh__against_open_writer(nigh_against *against, nigh_error *error) {
    nigh_writer_options options;
    nigh_writer_options_init(&options);
    if (!against->options.add || against->chunks != NULL) return NIGH_OK;
    options.width_bits = against->info.width_bits;
    options.progress = against->options.progress;
    if (against->signer != NULL) {
        const struct nigh__signer_plan *plan = nigh__signer_plan(against->signer);
        options.scheme = nigh_signer_scheme(against->signer);
        options.vocabulary = nigh_vocabulary_attachment(plan->vocabulary);
        options.model = nigh_model_attachment(plan->model);
    }
    nigh_status status = nigh_writer_open(against->context, against->path, &options, &against->writer, error);
    if (status != NIGH_OK || against->collection == NULL) return status; /* or it is new */
    return nigh__against_read_collection(against, error);
}

nigh_status nigh__against_check_keys(const nigh_against *against, const nigh_text_reader_options *reading,
                                     nigh_error *error) {
    if (!against->options.add || against->collection == NULL) return NIGH_OK;
    return nigh__keep_keys_fit(against->context, against->path, nigh_collection_scheme(against->collection),
                               reading->keep_keys, reading->keep_key_count, error);
}

/* Before the first new one.  After a failure nothing can be taken, for half of it may have been done. */
static nigh_status settle(nigh_against *against, bool texts, nigh_signer *signer, nigh_error *error) {
    nigh_status status = texts ? choose_signer(against, signer, error) : NIGH_OK;
    if (status == NIGH_OK) status = declare(against, texts, error);
    if (status == NIGH_OK) status = choose_recall(against, texts, error);
    if (status == NIGH_OK) status = check_radius(against, error);
    if (status == NIGH_OK) status = check_numbers(against, error);
    if (status == NIGH_OK) status = nigh__against_open_writer(against, error);
    if (status != NIGH_OK) against->state = NIGH__AGAINST_BROKEN;
    return status;
}

/* What can be taken now; settles it where it is the first. */
static nigh_status begin(nigh_against *against, enum nigh__incoming_kind kind, nigh_signer *signer, nigh_error *error) {
    const bool texts = kind == NIGH__INCOMING_TEXTS;
    nigh_status status =
        nigh__against_expect(against, NIGH__AGAINST_TAKING, "no inputs can be given after comparing", error);
    if (status == NIGH_OK && !texts && against->collection == NULL && against->chunks == NULL)
        status = nigh__fail_at(error, NIGH_ENOTFOUND, against->path, NIGH_NO_OFFSET,
                               "there is no collection, and signatures do not make one");
    if (status == NIGH_OK && texts && against->copies)
        status = nigh__fail(error, NIGH_EINVAL, "near-copies need paths or a source that can be read again");
    if (status != NIGH_OK) return status;
    if (against->kind == NIGH__INCOMING_NONE) {
        status = settle(against, texts, signer, error);
        if (status == NIGH_OK) against->kind = kind;
        return status;
    }
    if (against->kind != kind) return nigh__fail(error, NIGH_EINVAL, "texts and signatures do not go together");
    if (signer != NULL && signer != against->signer)
        return nigh__fail(error, NIGH_EINVAL, "all texts are signed by one signer");
    return NIGH_OK;
}

/* --------------------------------------------------------------------- texts -- */

static nigh_status sign_all(nigh_against *against, nigh_error *error) {
    struct nigh__incoming *incoming = &against->incoming;
    nigh_signed row = {.size = sizeof row};
    nigh_signing_info info = {.size = sizeof info};
    for (;;) {
        nigh_status status = nigh_signing_next(against->signing, &row, error);
        if (status == NIGH_END) return NIGH_OK;
        if (status == NIGH_OK) status = nigh__incoming_add(incoming, row.document, error);
        if (status == NIGH_OK && incoming->count % TICK_TEXTS == 0) {
            nigh_signing_describe(against->signing, &info);
            status = nigh__against_tick(against, "reading", info.reader.bytes_read, info.reader.bytes_total, error);
        }
        if (status != NIGH_OK) return status;
    }
}

static void close_signing(nigh_against *against) {
    nigh_against_describe_signing(against, &against->signing_before);
    nigh_signing_close(against->signing);
    against->signing = NULL;
}

nigh_status nigh_against_take_texts(nigh_against *against, nigh_text_reader *reader, nigh_signer *signer,
                                    nigh_error *error) {
    nigh_signing_options options;
    nigh_signing_options_init(&options);
    nigh_status status = begin(against, NIGH__INCOMING_TEXTS, signer, error);
    if (status == NIGH_OK) status = nigh__against_check_keys(against, nigh__text_reader_options(reader), error);
    if (status != NIGH_OK) return status;
    options.threads = against->options.threads;
    options.keep_weights = against->incoming.keep_weights;
    options.snippet = against->options.add ? against->options.snippet : 0;
    options.limit = against->options.limit;
    options.progress = against->options.progress;
    close_signing(against);
    status = nigh_signing_open(against->signer, reader, &options, &against->signing, error);
    return status == NIGH_OK ? sign_all(against, error) : status;
}

/* ---------------------------------------------------------------- signatures -- */

static nigh_status take_rows(nigh_against *against, nigh_signature_reader *reader, uint64_t total, nigh_error *error) {
    struct nigh__incoming *incoming = &against->incoming;
    nigh_document document = {.size = sizeof document};
    for (;;) {
        nigh_status status = nigh_signature_reader_next(reader, &document, error);
        if (status == NIGH_END) return NIGH_OK;
        if (status == NIGH_OK) status = nigh__incoming_add(incoming, &document, error);
        if (status == NIGH_OK && incoming->count % TICK_ROWS == 0)
            status = nigh__against_tick(against, "reading", incoming->count, total, error);
        if (status != NIGH_OK) return status;
    }
}

nigh_status nigh_against_take_signatures(nigh_against *against, nigh_signature_reader *reader, nigh_error *error) {
    nigh_signature_info info = {.size = sizeof info};
    nigh_signature_reader_describe(reader, &info);
    nigh_status status = begin(against, NIGH__INCOMING_SIGNATURES, NULL, error);
    if (status != NIGH_OK) return status;
    if (info.width_bits != 0 && info.width_bits != against->info.width_bits)
        return nigh__fail_at(error, NIGH_EMISMATCH, against->path, NIGH_NO_OFFSET,
                             "holds signatures of %u bits, and these have %u", against->info.width_bits,
                             info.width_bits);
    return take_rows(against, reader, info.rows == UINT64_MAX ? 0 : info.rows, error);
}

nigh_status nigh_against_take(nigh_against *against, const nigh_document *document, nigh_error *error) {
    nigh_document known = {.size = sizeof known};
    nigh_status status = nigh__struct_copy(&known, sizeof known, document, error);
    if (status == NIGH_OK && known.signature == NULL)
        status = nigh__fail(error, NIGH_EINVAL, "a document without a signature");
    if (status == NIGH_OK) status = begin(against, NIGH__INCOMING_SIGNATURES, NULL, error);
    return status == NIGH_OK ? nigh__incoming_add(&against->incoming, &known, error) : status;
}

/* --------------------------------------------------------------------- inputs -- */

/* A reader of ours, which lives until close: the signing may read ahead. */
static nigh_status take_reader(nigh_against *against, nigh_status opened, nigh_text_reader *reader, nigh_error *error) {
    if (opened != NIGH_OK) return opened;
    nigh_status status = nigh_against_take_texts(against, reader, NULL, error);
    close_signing(against);
    nigh_text_reader_close(reader);
    return status;
}

nigh_status nigh_against_take_paths(nigh_against *against, const char *const *paths, size_t count,
                                    const nigh_text_reader_options *reading, nigh_error *error) {
    nigh_text_reader *reader = NULL;
    if (against->copies) return nigh__copies_take(against, paths, count, NULL, reading, error);
    const nigh_status status = nigh_text_reader_open(against->context, paths, count, reading, &reader, error);
    return take_reader(against, status, reader, error);
}

nigh_status nigh_against_take_source(nigh_against *against, const nigh_source *source,
                                     const nigh_text_reader_options *reading, nigh_error *error) {
    nigh_text_reader *reader = NULL;
    if (against->copies) return nigh__copies_take(against, NULL, 0, source, reading, error);
    const nigh_status status = nigh_text_reader_open_source(against->context, source, reading, &reader, error);
    return take_reader(against, status, reader, error);
}
