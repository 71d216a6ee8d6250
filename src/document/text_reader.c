/* SPDX-License-Identifier: Apache-2.0 */
/* The public reader: splits and extracts on the caller's thread, one document a call. */
#include <string.h>

#include "base/memory.h"
#include "base/options.h"
#include "base/status.h"
#include "document/extract.h"
#include "document/kept_reading.h"
#include "document/split.h"
#include "document/tolerance.h"

#define BATCH_BYTES ((size_t)256 << 10)

struct nigh_text_reader {
    const nigh_context *context;
    struct nigh__kept_options kept;
    struct nigh__splitter *splitter;
    struct nigh__extractor *extractor; /* made at the first document: nigh_signing has its own */
    struct nigh__tolerance tolerance;
    struct nigh__batch batch;
    size_t next; /* record of the batch */
    bool failed;
    nigh_text_reader_info info; /* what the splitter does not know */
};

const char *nigh_text_format_name(nigh_text_format format) {
    static const char *const names[] = {"auto", "plain", "lines", "jsonl", "html",
                                        "warc", "trec",  "json",  "csv",   "tsv"};
    size_t index = (size_t)format;
    return index < sizeof names / sizeof names[0] ? names[index] : NULL;
}

nigh_status nigh__text_reader_open(nigh_context *context, const char *const *paths, size_t count,
                                   const nigh_text_reader_options *options, const struct nigh__splitting *more,
                                   nigh_text_reader **out, nigh_error *error) {
    *out = NULL;
    if ((more == NULL || more->source == NULL) && (paths == NULL || count == 0))
        return nigh__fail(error, NIGH_EINVAL, "no path to read documents from");
    nigh_text_reader *reader = nigh__alloc_zero(context, 1, sizeof *reader);
    if (reader == NULL) return nigh__no_memory(error, "for a reader of documents");
    reader->context = context;
    nigh__batch_init(&reader->batch);
    reader->tolerance.options = &reader->kept.options;
    nigh_status status = nigh__kept_options_init(&reader->kept, context, options, error);
    if (status == NIGH_OK)
        status = nigh__splitter_open(context, paths, count, &reader->kept.options, more, &reader->splitter, error);
    if (status != NIGH_OK) {
        nigh_text_reader_close(reader);
        return status;
    }
    *out = reader;
    return NIGH_OK;
}

nigh_status nigh_text_reader_open(nigh_context *context, const char *const *paths, size_t count,
                                  const nigh_text_reader_options *options, nigh_text_reader **out, nigh_error *error) {
    return nigh__text_reader_open(context, paths, count, options, NULL, out, error);
}

nigh_status nigh_text_reader_open_source(nigh_context *context, const nigh_source *source,
                                         const nigh_text_reader_options *options, nigh_text_reader **out,
                                         nigh_error *error) {
    *out = NULL;
    if (source == NULL) return nigh__fail(error, NIGH_EINVAL, "no source to read documents from");
    const struct nigh__splitting more = {.source = source};
    return nigh__text_reader_open(context, NULL, 0, options, &more, out, error);
}

/* A problem is told before the document it was found in. */
static nigh_status text_give(nigh_text_reader *reader, const nigh_text *text, uint64_t repaired, nigh_error *error) {
    nigh_error problem;
    nigh_status status = NIGH_OK;
    if (repaired != NIGH_NO_OFFSET) {
        (void)nigh__fail_at(&problem, NIGH_EFORMAT, text->source, repaired, "bytes that are not UTF-8 were replaced");
        problem.reason = NIGH_REASON_REPAIRED;
        status = nigh__tolerate(&reader->tolerance, &problem, error);
    }
    if (status == NIGH_OK && nigh__extract_remark(reader->extractor, text, &problem))
        status = nigh__tolerate(&reader->tolerance, &problem, error);
    if (status != NIGH_OK) return status;
    reader->info.documents++;
    reader->info.bytes_text += text->text_length;
    return NIGH_OK;
}

/* Of one record: NIGH_OK: *out is a document; NIGH_END: there is none in it; a failure ends the reading. */
static nigh_status record_read(nigh_text_reader *reader, const struct nigh__record *record, nigh_text *out,
                               nigh_error *error) {
    nigh_error problem;
    nigh_text text = {0};
    uint64_t repaired = NIGH_NO_OFFSET;
    nigh_status status;
    if (record->kind == NIGH__RECORD_PROBLEM) {
        problem = ((const nigh_error *)reader->batch.problems.data)[record->problem];
        status = NIGH_EFORMAT;
    } else {
        status = nigh__extract(reader->extractor, &reader->batch, record, &text, &repaired, &problem);
    }
    switch (status) {
    case NIGH_OK:
        reader->tolerance.has_keyed |= record->kind == NIGH__RECORD_JSON;
        status = text_give(reader, &text, repaired, error);
        nigh__info_copy(out, &text, sizeof text);
        return status;
    case NIGH_ENOTFOUND:
        if (nigh__extract_sieved(reader->extractor) != NIGH__SIEVED_NOT) {
            reader->tolerance.has_keyed |= record->kind == NIGH__RECORD_JSON;
            nigh__sieve_count(nigh__extract_sieved(reader->extractor), &reader->info);
            return NIGH_END;
        }
        reader->info.missing++;
        nigh__tolerance_miss(&reader->tolerance, &problem);
        return NIGH_END;
    case NIGH_EFORMAT:
    case NIGH_ELIMIT:
        status = nigh__tolerate(&reader->tolerance, &problem, error);
        return status == NIGH_OK ? NIGH_END : status;
    default:
        if (error != NULL) *error = problem;
        return status;
    }
}

static nigh_status text_next(nigh_text_reader *reader, nigh_text *out, nigh_error *error) {
    struct nigh__batch *batch = &reader->batch;
    if (reader->extractor == NULL) {
        nigh_status status = nigh__extractor_new(reader->context, &reader->kept.options, &reader->extractor, error);
        if (status != NIGH_OK) return status;
    }
    for (;;) {
        while (reader->next < batch->records.count) {
            nigh_status status = record_read(reader, nigh__batch_record(batch, reader->next++), out, error);
            if (status != NIGH_END) return status;
        }
        if (batch->status != NIGH_OK) {
            if (batch->status == NIGH_END) nigh__tolerance_end(&reader->tolerance);
            if (batch->status != NIGH_END && error != NULL) *error = batch->error;
            return batch->status;
        }
        nigh__splitter_fill(reader->splitter, batch, BATCH_BYTES);
        reader->next = 0;
    }
}

nigh_status nigh_text_reader_next(nigh_text_reader *reader, nigh_text *out, nigh_error *error) {
    if (reader->failed) return nigh__fail(error, NIGH_EINVAL, "reading documents has failed before");
    nigh_status status = text_next(reader, out, error);
    if (status != NIGH_OK && status != NIGH_END) reader->failed = true;
    return status;
}

void nigh_text_reader_describe(const nigh_text_reader *reader, nigh_text_reader_info *out) {
    nigh_text_reader_info info = reader->info;
    nigh__splitter_describe(reader->splitter, &info);
    nigh__tolerance_describe(&reader->tolerance, &info);
    nigh__info_copy(out, &info, sizeof info);
}

void nigh_text_reader_close(nigh_text_reader *reader) {
    if (reader == NULL) return;
    const nigh_context *context = reader->context;
    nigh__batch_release(context, &reader->batch);
    nigh__extractor_free(reader->extractor);
    nigh__splitter_close(reader->splitter);
    nigh__kept_options_release(&reader->kept);
    nigh__free(context, reader);
}

struct nigh__splitter *nigh__text_reader_splitter(nigh_text_reader *reader) {
    return reader->splitter;
}
const nigh_text_reader_options *nigh__text_reader_options(const nigh_text_reader *reader) {
    return &reader->kept.options;
}
const nigh_context *nigh__text_reader_context(const nigh_text_reader *reader) { return reader->context; }
