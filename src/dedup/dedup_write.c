/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes what is kept as it was in the input. The input is read once more, record by
 * record, without parsing the records, and a record is left out if its number is that of a
 * document that goes:
 *
 *     records    0   1   2   3   4   5   6 ...        documents 0, 1, 3, 4, 6
 *     written    0       2   3       5                of which 1, 4 and 6 go
 *
 * So everything that is not a document (records 2 and 5, empty lines, a crawler's notes)
 * stays where it was. Pages and plain files, which cannot be put into one file as they
 * are, become lines of JSON.
 *
 * Cost: one more pass over the input, at the speed of copying.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/progress.h"
#include "base/replacement.h"
#include "base/status.h"
#include "dedup/dedup_options.h"
#include "dedup/deduplication.h"
#include "document/extract.h"
#include "document/json_edit.h"
#include "document/pack.h"
#include "document/split.h"
#include "document/utf8.h"

#define BATCH_BYTES ((size_t)256 << 10)
#define BIT(format) (1u << (unsigned)(format))
#define AS_JSON (BIT(NIGH_TEXT_JSONL) | BIT(NIGH_TEXT_PLAIN) | BIT(NIGH_TEXT_HTML))
#define AS_LINES (BIT(NIGH_TEXT_JSONL) | BIT(NIGH_TEXT_LINES))

static const char mark[] = "\xef\xbb\xbf"; /* of UTF-8 */
static const char *const own_keys[] = {"nigh_cluster", "nigh_keep"};

struct writing {
    nigh_dedup *dedup;
    const char *path;
    bool annotate;
    nigh_text_reader *reader;
    struct nigh__extractor *extractor; /* of whole files; made where one is met */
    struct nigh__batch batch;
    struct nigh__array line; /* of char: of JSON, as it is written */
    struct nigh__pack pack;
    unsigned formats; /* met so far */
    nigh__dedup_verdict_next *ask;
    void *user;
    struct nigh__dedup_verdict verdict; /* on the next document, */
    bool left;                          /* if there is one */
    uint64_t next;                      /* its number among documents */
    uint64_t records;
};

/* ------------------------------------------------------------------- forms */

nigh_status nigh__dedup_check_formats(unsigned formats, bool annotate, nigh_error *error) {
    bool one = (formats & (formats - 1)) == 0;
    bool json = (formats & ~AS_JSON) == 0;
    if (!one && !json)
        return nigh__fail(error, NIGH_EINVAL,
                          "the inputs are of several forms that do not go into one file; write each by itself");
    if (annotate && !json)
        return nigh__fail(error, NIGH_EINVAL, "only JSON lines, plain files and pages can be annotated");
    return NIGH_OK;
}

static nigh_status meet_format(struct writing *writing, nigh_text_format format, nigh_error *error) {
    unsigned formats = writing->formats | BIT(format);
    if (format == NIGH_TEXT_AUTO || formats == writing->formats) return NIGH_OK;
    writing->formats = formats;
    return nigh__dedup_check_formats(formats, writing->annotate, error);
}

/* ----------------------------------------------------------------- records */

static nigh_status put(struct writing *writing, const char *bytes, size_t length, nigh_error *error) {
    return nigh__pack_add(&writing->pack, bytes, length, error);
}

/* As it lies; a last line that has no end gets one, for another file may follow. */
static nigh_status put_raw(struct writing *writing, const struct nigh__record *record, nigh_error *error) {
    const char *bytes = nigh__batch_bytes(&writing->batch, record->bytes);
    size_t length = record->length;
    bool lines = (BIT(record->format) & AS_LINES) != 0;
    bool ended = length == 0 || bytes[length - 1] == '\n' || (record->kind == NIGH__RECORD_GAP && !lines);
    nigh_status status = put(writing, bytes, length, error);
    if (status == NIGH_OK && lines && !ended) status = put(writing, "\n", 1, error);
    /* WARC files are compressed record by record, so that tools can go to any of them. */
    if (status == NIGH_OK && record->format == NIGH_TEXT_WARC) status = nigh__pack_cut(&writing->pack, error);
    return status;
}

/* The mark of UTF-8 stays where it is the first thing, and goes where it would come to lie inside. */
static nigh_status put_gap(struct writing *writing, const struct nigh__record *record, nigh_error *error) {
    const char *bytes = nigh__batch_bytes(&writing->batch, record->bytes);
    bool is_mark = record->length == 3 && memcmp(bytes, mark, 3) == 0;
    if (!is_mark) return put_raw(writing, record, error);
    return writing->pack.bytes == 0 ? put(writing, mark, 3, error) : NIGH_OK;
}

/* ------------------------------------------------------------------- JSON */

static bool line_text(struct writing *writing, const char *text) {
    return nigh__bytes_append(writing->dedup->context, &writing->line, text, strlen(text));
}

static bool line_string(struct writing *writing, const char *text, size_t length) {
    return nigh__json_put_string(writing->dedup->context, text, length, &writing->line);
}

/* "nigh_cluster":"ID","nigh_keep":true */
static bool line_annotation(struct writing *writing, uint64_t document) {
    const nigh_dedup *dedup = writing->dedup;
    const struct nigh__duplicate *own = nigh__dedup_document(dedup, document);
    const struct nigh__duplicate *kept = nigh__dedup_document(dedup, own->kept);
    const char *ids = dedup->ids.data;
    return line_text(writing, "\"nigh_cluster\":") && line_string(writing, ids + kept->id, kept->id_length) &&
           line_text(writing, own->kept == document ? ",\"nigh_keep\":true" : ",\"nigh_keep\":false");
}

/* A line of JSON with the two members added before its last brace, in place of those it has. */
static nigh_status put_annotated(struct writing *writing, const struct nigh__record *record, uint64_t document,
                                 nigh_error *error) {
    const char *bytes = nigh__batch_bytes(&writing->batch, record->bytes);
    size_t tail = 0;
    bool empty;
    writing->line.count = 0;
    bool good = nigh__json_open_object(writing->dedup->context, bytes, record->length, own_keys, 2, &writing->line,
                                       &tail, &empty) &&
                (empty || line_text(writing, ",")) && line_annotation(writing, document) &&
                nigh__bytes_append(writing->dedup->context, &writing->line, bytes + tail, record->length - tail);
    if (!good) return nigh__no_memory(error, "to write what is kept");
    const char *line = writing->line.data;
    if (line[writing->line.count - 1] != '\n' && !line_text(writing, "\n"))
        return nigh__no_memory(error, "to write what is kept");
    return put(writing, writing->line.data, writing->line.count, error);
}

static nigh_status extractor_make(struct writing *writing, nigh_error *error) {
    if (writing->extractor != NULL) return NIGH_OK;
    return nigh__extractor_new(writing->dedup->context, nigh__text_reader_options(writing->reader), &writing->extractor,
                               error);
}

/* Of a record that is no document: whether it has one that the options leave out. */
static nigh_status is_left_out(struct writing *writing, const struct nigh__record *record, bool *out,
                               nigh_error *error) {
    nigh_text text;
    uint64_t repaired;
    nigh_error why;
    *out = false;
    if (!nigh__sieve_wanted(nigh__text_reader_options(writing->reader))) return NIGH_OK;
    nigh_status status = extractor_make(writing, error);
    if (status != NIGH_OK) return status;
    if (nigh__extract(writing->extractor, &writing->batch, record, &text, &repaired, &why) == NIGH_ENOMEM)
        return nigh__no_memory(error, "to write what is kept");
    *out = nigh__extract_sieved(writing->extractor) != NIGH__SIEVED_NOT;
    return NIGH_OK;
}

/* A file of its own as {"id", "text"}; of a page without text, which is no document, the text is empty. */
static nigh_status put_whole(struct writing *writing, const struct nigh__record *record, bool is_document,
                             nigh_error *error) {
    nigh_text text;
    uint64_t repaired;
    nigh_error why;
    nigh_status status = extractor_make(writing, error);
    if (status != NIGH_OK) return status;
    status = nigh__extract(writing->extractor, &writing->batch, record, &text, &repaired, &why);
    if (status == NIGH_EFORMAT || status == NIGH_ELIMIT) { /* told and counted when it was first read */
        writing->records--;
        return NIGH_OK;
    }
    if (status != NIGH_OK && status != NIGH_ENOTFOUND) {
        if (error != NULL) *error = why;
        return status;
    }
    if (status == NIGH_ENOTFOUND && nigh__is_blank(nigh__batch_bytes(&writing->batch, record->bytes), record->length)) {
        writing->records--;
        return NIGH_OK; /* nothing is lost with it */
    }
    if (status == NIGH_ENOTFOUND)
        text = (nigh_text){
            .id = nigh__batch_bytes(&writing->batch, record->id), .id_length = record->id_length, .text = ""};
    writing->line.count = 0;
    bool good = line_text(writing, "{\"id\":") && line_string(writing, text.id, text.id_length) &&
                line_text(writing, ",\"text\":") && line_string(writing, text.text, text.text_length);
    if (good && writing->annotate && is_document)
        good = line_text(writing, ",") && line_annotation(writing, writing->next);
    if (!good || !line_text(writing, "}\n")) return nigh__no_memory(error, "to write what is kept");
    return put(writing, writing->line.data, writing->line.count, error);
}

/* ----------------------------------------------------------------- the pass */

/* Those of a deduplication that is in memory. */
static nigh_status next_in_memory(void *user, struct nigh__dedup_verdict *out, nigh_error *error) {
    const struct writing *writing = user;
    (void)error;
    if (writing->next == writing->dedup->documents.count) return NIGH_END;
    const struct nigh__duplicate *document = nigh__dedup_document(writing->dedup, writing->next);
    *out = (struct nigh__dedup_verdict){document->number, document->kept == writing->next};
    return NIGH_OK;
}

static nigh_status look_ahead(struct writing *writing, nigh_error *error) {
    const nigh_status status = writing->ask(writing->user, &writing->verdict, error);
    writing->left = status == NIGH_OK;
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status fail_changed(const char *source, nigh_error *error) {
    return nigh__fail_at(error, NIGH_ECORRUPT, source, NIGH_NO_OFFSET, "changed while it was being read");
}

/* A record with a number: kept unless it is of a document that goes, or that is left out. */
static nigh_status record_write(struct writing *writing, const struct nigh__record *record, nigh_error *error) {
    if (writing->left && writing->verdict.number < record->number)
        return fail_changed(nigh__batch_bytes(&writing->batch, record->source), error);
    bool is_document = writing->left && writing->verdict.number == record->number;
    bool keep = !is_document || writing->verdict.stays || writing->annotate;
    bool left_out = false;
    nigh_status status = is_document ? NIGH_OK : is_left_out(writing, record, &left_out, error);
    if (status != NIGH_OK || left_out) return status;
    if (keep) {
        writing->records++;
        if ((BIT(record->format) & (BIT(NIGH_TEXT_PLAIN) | BIT(NIGH_TEXT_HTML))) != 0)
            status = put_whole(writing, record, is_document, error);
        else if (writing->annotate && is_document)
            status = put_annotated(writing, record, writing->next, error);
        else
            status = put_raw(writing, record, error);
    }
    if (status != NIGH_OK || !is_document) return status;
    writing->next++;
    return look_ahead(writing, error);
}

/* Whether as many documents were read as were asked for, and the last of them is written. */
static bool is_done(const struct writing *writing) {
    const nigh_dedup *dedup = writing->dedup;
    return dedup->options.limit != 0 && dedup->documents.count >= dedup->options.limit && !writing->left;
}

static nigh_status batch_write(struct writing *writing, nigh_error *error) {
    for (size_t i = 0; i < writing->batch.records.count && !is_done(writing); i++) {
        const struct nigh__record *record = nigh__batch_record(&writing->batch, i);
        if (record->kind == NIGH__RECORD_PROBLEM) continue;
        nigh_status status = meet_format(writing, record->format, error);
        if (status == NIGH_OK)
            status = record->kind == NIGH__RECORD_GAP ? put_gap(writing, record, error)
                                                      : record_write(writing, record, error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

static nigh_status all_write(struct writing *writing, nigh_error *error) {
    struct nigh__progress progress;
    struct nigh__splitter *splitter = nigh__text_reader_splitter(writing->reader);
    nigh_text_reader_info info = {.size = sizeof info};
    struct nigh__batch *batch = &writing->batch;
    nigh__progress_init(&progress, writing->dedup->options.progress);
    do {
        nigh__splitter_fill(splitter, batch, BATCH_BYTES);
        nigh_status status = batch_write(writing, error);
        if (status != NIGH_OK) return status;
        nigh__splitter_describe(splitter, &info);
        if (nigh__reading_tick(&progress, "writing", &info)) return nigh__progress_cancelled(error);
    } while (batch->status == NIGH_OK && !is_done(writing));
    if (batch->status != NIGH_OK && batch->status != NIGH_END) {
        if (error != NULL) *error = batch->error;
        nigh__rereading_explain(writing->dedup->source, error);
        return batch->status;
    }
    if (writing->left) return fail_changed(nigh__rereading_name(writing->dedup->source), error);
    return nigh__rereading_check(writing->dedup->source, writing->reader, error);
}

static nigh_status pass_write(struct writing *writing, struct nigh__output *output, nigh_error *error) {
    nigh_dedup *dedup = writing->dedup;
    nigh__batch_init(&writing->batch);
    writing->line = (struct nigh__array)NIGH__ARRAY(char);
    nigh__pack_init(&writing->pack, nigh__pack_kind(writing->path), output);
    nigh_status status = nigh__rereading_open_raw(dedup->source, &writing->reader, error);
    if (status == NIGH_OK) status = look_ahead(writing, error);
    if (status == NIGH_OK) status = all_write(writing, error);
    if (status == NIGH_OK) status = nigh__pack_finish(&writing->pack, error);
    if (status == NIGH_OK) status = nigh__output_flush(output, error);
    nigh__pack_release(&writing->pack);
    nigh__array_release(dedup->context, &writing->line);
    nigh__batch_release(dedup->context, &writing->batch);
    nigh__extractor_free(writing->extractor);
    nigh_text_reader_close(writing->reader);
    return status;
}

/* ------------------------------------------------------------------ to where */

static nigh_status write_to_stream(struct writing *writing, const nigh_stream *stream, nigh_error *error) {
    struct nigh__output output;
    nigh_status status = nigh__output_init(writing->dedup->context, NULL, stream,
                                           writing->path != NULL ? writing->path : "the output", &output, error);
    if (status == NIGH_OK) status = pass_write(writing, &output, error);
    nigh__output_release(&output);
    return status;
}

static nigh_status write_to_file(struct writing *writing, nigh_error *error) {
    const nigh_context *context = writing->dedup->context;
    struct nigh__replacement replacement = {0};
    struct nigh__output output = {0};
    nigh_status status = nigh__replacement_open(context, writing->path, &replacement, error);
    if (status == NIGH_OK) status = nigh__output_init(context, &replacement.file, NULL, writing->path, &output, error);
    if (status == NIGH_OK && writing->dedup->options.threads > 1) status = nigh__output_write_behind(&output, error);
    if (status == NIGH_OK) status = pass_write(writing, &output, error);
    if (status == NIGH_OK) status = nigh__replacement_finish(&replacement, error);
    nigh__output_release(&output);
    nigh__replacement_release(context, &replacement);
    return status;
}

static nigh_status check_use(const nigh_dedup *dedup, const char *path, const nigh_dedup_write_options *options,
                             nigh_error *error) {
    if (dedup->source == NULL) return nigh__fail(error, NIGH_EINVAL, "signatures have no records that could be kept");
    if (options->stream != NULL && options->stream->write == NULL)
        return nigh__fail(error, NIGH_EINVAL, "a stream that cannot be written to");
    if (options->stream == NULL && path == NULL) return nigh__fail(error, NIGH_EINVAL, "no path to write to");
    if (options->stream == NULL && path[0] == '\0')
        return nigh__fail(error, NIGH_ENOTFOUND, "'': cannot create: the path is empty");
    const char *input = options->stream == NULL ? nigh__rereading_around(dedup->source, path) : NULL;
    if (input != NULL)
        return nigh__fail_at(error, NIGH_EINVAL, path, NIGH_NO_OFFSET, "is also an input, or in one: '%s'", input);
    return nigh__dedup_check_formats(nigh__rereading_formats(dedup->source), options->annotate != 0, error);
}

static nigh_status write_all(struct writing *writing, const nigh_dedup_write_options *options,
                             nigh_dedup_written *written, nigh_error *error) {
    nigh_dedup_write_options known;
    nigh_status status = nigh__options_copy(&nigh__dedup_write_options_shape, &known, options, error);
    if (status == NIGH_OK) status = check_use(writing->dedup, writing->path, &known, error);
    if (status != NIGH_OK) return status;
    writing->annotate = known.annotate != 0;
    status = known.stream != NULL ? write_to_stream(writing, known.stream, error) : write_to_file(writing, error);
    if (status != NIGH_OK || written == NULL) return status;
    nigh_dedup_written done = {.size = sizeof done, .records = writing->records, .bytes = writing->pack.bytes};
    nigh__info_copy(written, &done, sizeof done);
    return NIGH_OK;
}

nigh_status nigh_dedup_write(nigh_dedup *dedup, const char *path, const nigh_dedup_write_options *options,
                             nigh_dedup_written *written, nigh_error *error) {
    struct writing writing = {.dedup = dedup, .path = path, .ask = next_in_memory, .user = &writing};
    return write_all(&writing, options, written, error);
}

nigh_status nigh__dedup_write_verdicts(nigh_dedup *dedup, nigh__dedup_verdict_next *next, void *user, const char *path,
                                       const nigh_dedup_write_options *options, nigh_dedup_written *written,
                                       nigh_error *error) {
    struct writing writing = {.dedup = dedup, .path = path, .ask = next, .user = user};
    return write_all(&writing, options, written, error);
}
