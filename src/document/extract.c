/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a record to an id and text. Each format has its reader. What they share is here: making
 * ids where there are none, treating blank text as no text, limits, and adding the place of the
 * record to errors.
 */
#include "document/extract.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "base/value.h"
#include "document/charset.h"
#include "document/html.h"
#include "document/http.h"
#include "document/json.h"
#include "document/json_quote.h"
#include "document/kept_value.h"
#include "document/keys_there.h"
#include "document/ledger.h"
#include "document/trec_text.h"
#include "document/utf8.h"

#define MANY_LINES 100u                /* of a file that was taken as one document */
#define KEPT_BYTES (UINT32_C(4) << 20) /* of each buffer, after a large document */

struct nigh__extractor {
    const nigh_context *context;
    const char *text_key, *id_key;
    const char *score_key, *label_key, *part_key; /* NULL: none */
    const char *const *more_text_keys;
    size_t more_text_key_count;
    const char *const *keep_keys;
    uint32_t keep_key_count;
    nigh_value values[NIGH_MAX_KEEP_KEYS]; /* of the last document */
    uint64_t max_bytes;
    uint32_t max_depth;
    struct nigh__json *json;
    struct nigh__array text, title, converted, id, label, part;
    struct nigh__array http[2];
    struct nigh__html_elements elements;
    nigh_error remark; /* on the last document; its status NIGH_OK: none */
    bool told_keys;    /* of the first record without text */
    struct nigh__sieve *sieve;
    enum nigh__sieved sieved; /* the last document */
};

/* One record on its way; spans of length 0: nothing there. */
struct job {
    struct nigh__extractor *extractor;
    struct nigh__span record, id, text, label, part;
    size_t first_bad; /* in the record, or NIGH__NONE */
    bool has_large;   /* JSON: numbers that do not fit 64 bits are strings of their digits */
    bool columns;     /* JSON: numbers are texts */
    bool has_no_key;  /* JSON: nothing is under any key of the text */
    double score;
    nigh_error *error;
};

/* ------------------------------------------------------------- the object */

nigh_status nigh__extractor_new(const nigh_context *context, const nigh_text_reader_options *options,
                                struct nigh__extractor **out, nigh_error *error) {
    *out = NULL;
    struct nigh__extractor *extractor = nigh__alloc_zero(context, 1, sizeof *extractor);
    if (extractor == NULL) return nigh__fail(error, NIGH_ENOMEM, "out of memory");
    *extractor = (struct nigh__extractor){
        .context = context,
        .text_key = options->text_key != NULL ? options->text_key : "text",
        .id_key = options->id_key != NULL ? options->id_key : "id",
        .score_key = options->score_key,
        .label_key = options->label_key,
        .part_key = options->part_key,
        .more_text_keys = options->more_text_keys,
        .more_text_key_count = options->more_text_key_count,
        .keep_keys = options->keep_keys,
        .keep_key_count = (uint32_t)options->keep_key_count,
        .max_bytes = options->max_document_bytes,
        .max_depth = options->max_depth,
        .text = NIGH__ARRAY(char),
        .title = NIGH__ARRAY(char),
        .converted = NIGH__ARRAY(char),
        .id = NIGH__ARRAY(char),
        .label = NIGH__ARRAY(char),
        .part = NIGH__ARRAY(char),
        .http = {NIGH__ARRAY(char), NIGH__ARRAY(char)},
    };
    nigh__html_elements_init(&extractor->elements);
    nigh_status status = nigh__sieve_new(context, options, &extractor->sieve, error);
    if (status == NIGH_OK)
        *out = extractor;
    else
        nigh__extractor_free(extractor);
    return status;
}

#define BUFFERS 8

static void buffers_list(struct nigh__extractor *extractor, struct nigh__array *out[BUFFERS]) {
    struct nigh__array *list[BUFFERS] = {&extractor->text,  &extractor->title,   &extractor->converted,
                                         &extractor->id,    &extractor->http[0], &extractor->http[1],
                                         &extractor->label, &extractor->part};
    memcpy(out, list, sizeof list);
}

/* Empties the buffers, and gives back what only a large document needed. */
static void buffers_clear(struct nigh__extractor *extractor) {
    struct nigh__array *list[BUFFERS];
    buffers_list(extractor, list);
    for (size_t i = 0; i < BUFFERS; i++) {
        list[i]->count = 0;
        if (list[i]->capacity > KEPT_BYTES) nigh__array_release(extractor->context, list[i]);
    }
}

void nigh__extractor_free(struct nigh__extractor *extractor) {
    if (extractor == NULL) return;
    nigh__sieve_free(extractor->sieve);
    struct nigh__array *list[BUFFERS];
    buffers_list(extractor, list);
    for (size_t i = 0; i < BUFFERS; i++) nigh__array_release(extractor->context, list[i]);
    nigh__json_free(extractor->json);
    nigh__free(extractor->context, extractor);
}

static nigh_status fail_memory(struct job *job) { return nigh__fail(job->error, NIGH_ENOMEM, "out of memory"); }

static struct nigh__span array_span(const struct nigh__array *array) {
    return (struct nigh__span){array->count == 0 ? "" : array->data, array->count};
}

/* -------------------------------------------------------------- plain text */

/*
 * Makes bytes UTF-8, in place where they are, else in `converted`.  A mark
 * decides, then the label; without either they are UTF-8 where they can be, else
 * `otherwise`.  *first_bad counts from the beginning of the bytes.
 */
static nigh_status to_utf8(struct job *job, struct nigh__span *bytes, const struct nigh__charset *label,
                           const struct nigh__charset *otherwise, size_t *first_bad) {
    struct nigh__extractor *extractor = job->extractor;
    size_t mark;
    const struct nigh__charset *charset = nigh__charset_of_mark(bytes->text, bytes->length, &mark);
    struct nigh__span rest = {bytes->text + mark, bytes->length - mark};
    *first_bad = NIGH__NONE;
    if (charset == NULL) charset = label;
    if ((charset == NULL || charset == nigh__charset_utf8) && nigh__utf8_check(rest.text, rest.length)) {
        *bytes = rest;
        return NIGH_OK;
    }
    if (charset == NULL) charset = otherwise;
    extractor->converted.count = 0;
    nigh_status status =
        nigh__charset_convert(extractor->context, charset, rest.text, rest.length, &extractor->converted, first_bad);
    if (status == NIGH_ENOTFOUND) /* this system's iconv does not have it */
        status = nigh__charset_convert(extractor->context, otherwise, rest.text, rest.length, &extractor->converted,
                                       first_bad);
    if (status != NIGH_OK) return fail_memory(job);
    if (*first_bad != NIGH__NONE) *first_bad += mark;
    *bytes = array_span(&extractor->converted);
    return NIGH_OK;
}

static nigh_status text_extract(struct job *job) {
    job->text = job->record;
    return to_utf8(job, &job->text, NULL, nigh__charset_utf8, &job->first_bad);
}

/* -------------------------------------------------------------------- JSON */

static nigh_status json_failed(struct job *job, enum nigh__json_result result, const char *why) {
    if (result == NIGH__JSON_MEMORY) return fail_memory(job);
    if (result == NIGH__JSON_DEPTH)
        return nigh__fail(job->error, NIGH_ELIMIT, "nested deeper than %" PRIu32, job->extractor->max_depth);
    if (result == NIGH__JSON_LENGTH) return nigh__fail(job->error, NIGH_ELIMIT, "a line of more than 4 GiB");
    return nigh__fail(job->error, NIGH_EFORMAT, "%s", why);
}

/* Numbers that simdjson cannot hold are JSON all the same: they are read again as strings of their digits. */
static nigh_status json_parse(struct job *job, struct nigh__span line) {
    struct nigh__extractor *extractor = job->extractor;
    if (extractor->json == NULL) extractor->json = nigh__json_new(extractor->max_depth);
    if (extractor->json == NULL) return fail_memory(job);
    const char *why;
    enum nigh__json_result result = nigh__json_parse(extractor->json, line.text, line.length, &why);
    if (result == NIGH__JSON_NUMBER) {
        extractor->converted.count = 0;
        if (!nigh__json_quote_numbers(extractor->context, line.text, line.length, false, &extractor->converted))
            return fail_memory(job);
        size_t length = extractor->converted.count - NIGH__BATCH_PADDING;
        result = nigh__json_parse(extractor->json, extractor->converted.data, length, &why);
        job->has_large = true;
    }
    return result == NIGH__JSON_OK ? NIGH_OK : json_failed(job, result, why);
}

static nigh_status json_id(struct job *job) {
    struct nigh__json_value value;
    nigh__json_find(job->extractor->json, job->extractor->id_key, &value);
    if (value.type == NIGH__JSON_STRING) job->id = (struct nigh__span){value.text, value.length};
    if (value.type != NIGH__JSON_INTEGER) return NIGH_OK;
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%s%" PRIu64, value.negative ? "-" : "", value.magnitude);
    if (!nigh__bytes_append(job->extractor->context, &job->extractor->id, digits, (size_t)length))
        return fail_memory(job);
    job->id = array_span(&job->extractor->id);
    return NIGH_OK;
}

/* Adds what is under a key to the text, behind a line break where there is some already. */
static nigh_status json_text_add(struct job *job, const char *key) {
    struct nigh__extractor *extractor = job->extractor;
    struct nigh__array *text = &extractor->text;
    struct nigh__json_value value;
    nigh__json_find(extractor->json, key, &value);
    const bool listed = value.type == NIGH__JSON_STRINGS;
    job->has_no_key = job->has_no_key && value.type == NIGH__JSON_NONE;
    if (value.length == 0 || (value.type != NIGH__JSON_STRING && !listed)) return NIGH_OK;
    if (text->count > 0 && !nigh__bytes_append(extractor->context, text, "\n", 1)) return fail_memory(job);
    char *place = nigh__array_add(extractor->context, text, value.length);
    if (place == NULL) return fail_memory(job);
    if (listed)
        nigh__json_copy_strings(extractor->json, key, place);
    else
        memcpy(place, value.text, value.length);
    if (listed) text->count--; /* the last newline */
    return NIGH_OK;
}

/* Most often it is one text, which stays where it is. */
static nigh_status json_text(struct job *job) {
    struct nigh__extractor *extractor = job->extractor;
    struct nigh__json_value value;
    job->has_no_key = true;
    nigh__json_find(extractor->json, extractor->text_key, &value);
    if (value.type == NIGH__JSON_STRING && extractor->more_text_key_count == 0) {
        job->has_no_key = false;
        job->text = (struct nigh__span){value.text, value.length};
        return NIGH_OK;
    }
    nigh_status status = json_text_add(job, extractor->text_key);
    for (size_t i = 0; i < extractor->more_text_key_count && status == NIGH_OK; i++)
        status = json_text_add(job, extractor->more_text_keys[i]);
    job->text = array_span(&extractor->text);
    return status;
}

/* ------------------------------------------------------------------- score */

static void json_score(struct job *job) {
    struct nigh__json_value value;
    if (job->extractor->score_key == NULL) return;
    nigh__json_find(job->extractor->json, job->extractor->score_key, &value);
    if (value.type == NIGH__JSON_INTEGER || value.type == NIGH__JSON_REAL) job->score = value.number;
    if (value.type == NIGH__JSON_STRING &&
        (job->columns || (job->has_large && nigh__json_is_large(value.text, value.length))))
        (void)nigh__json_number(value.text, value.length, &job->score);
}

/* ------------------------------------------------------------------ labels */

/* What is under a key as lines of text. */
struct lines {
    const nigh_context *context;
    struct nigh__array *out;
    size_t count;
    bool has_real; /* a number that the parser does not keep as it was written: it was left out */
    nigh_status status;
    const char *why;
};

static bool lines_refuse(struct lines *lines, nigh_status status, const char *why) {
    lines->status = status;
    lines->why = why;
    return false;
}

/* Blank ones are none; control characters would look like the end of a line. */
static bool line_add(struct lines *lines, const char *text, size_t length) {
    if (nigh__is_blank(text, length)) return true;
    if (lines->count == NIGH__MAX_LABELS) return lines_refuse(lines, NIGH_ELIMIT, "more than 1,024 of them");
    const size_t newline = lines->count > 0;
    if (length > NIGH__MAX_LABEL_BYTES || lines->out->count + newline > NIGH__MAX_LABEL_BYTES - length)
        return lines_refuse(lines, NIGH_ELIMIT, "more than 65,536 bytes");
    lines->count++;
    char *place = nigh__array_add(lines->context, lines->out, newline + length);
    if (place == NULL) return lines_refuse(lines, NIGH_ENOMEM, "out of memory");
    place[0] = '\n';
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i];
        place[newline + i] = c < 0x20 || c == 0x7f ? ' ' : text[i];
    }
    return true;
}

static bool line_take(void *user, const struct nigh__json_value *value) {
    struct lines *lines = user;
    char digits[24];
    switch (value->type) {
    case NIGH__JSON_STRING:
        return line_add(lines, value->text, value->length);
    case NIGH__JSON_INTEGER:
        (void)snprintf(digits, sizeof digits, "%s%" PRIu64, value->negative ? "-" : "", value->magnitude);
        return line_add(lines, digits, strlen(digits));
    case NIGH__JSON_BOOLEAN:
        return value->truth ? line_add(lines, "true", 4) : line_add(lines, "false", 5);
    case NIGH__JSON_REAL:
        lines->has_real = true;
        return true;
    case NIGH__JSON_NONE:
    case NIGH__JSON_NULL:
        return true;
    case NIGH__JSON_STRINGS:
    case NIGH__JSON_OTHER:
        break;
    }
    return lines_refuse(lines, NIGH_EFORMAT, "neither a text, a number, a truth value nor a list of these");
}

static void lines_collect(struct lines *lines, const struct nigh__json *json, const char *key) {
    lines->count = lines->out->count = 0;
    lines->has_real = false;
    nigh__json_visit(json, key, line_take, lines);
}

/* All numbers of the line as strings of what is written, which leaves the parser with another line. */
static nigh_status numbers_quote(struct job *job, struct nigh__span line) {
    struct nigh__extractor *extractor = job->extractor;
    const char *why;
    extractor->converted.count = 0;
    if (!nigh__json_quote_numbers(extractor->context, line.text, line.length, true, &extractor->converted))
        return fail_memory(job);
    const size_t length = extractor->converted.count - NIGH__BATCH_PADDING;
    enum nigh__json_result result = nigh__json_parse(extractor->json, extractor->converted.data, length, &why);
    return result == NIGH__JSON_OK ? NIGH_OK : json_failed(job, result, why);
}

/* Of what is malformed a remark stays, and nothing else. */
static nigh_status lines_finish(struct job *job, const struct lines *lines, const char *key, struct nigh__span *out) {
    if (lines->status == NIGH_ENOMEM) return fail_memory(job);
    if (lines->status == NIGH_OK)
        *out = array_span(lines->out);
    else
        (void)nigh__fail(&job->extractor->remark, lines->status, "the value under '%.80s' cannot be used: %s", key,
                         lines->why);
    return NIGH_OK;
}

/* What is under `key`, in `buffer`. */
static nigh_status json_lines(struct job *job, struct nigh__span line, const char *key, struct nigh__array *buffer,
                              struct nigh__span *out) {
    struct nigh__extractor *extractor = job->extractor;
    struct lines lines = {.context = extractor->context, .out = buffer, .status = NIGH_OK};
    if (key == NULL) return NIGH_OK;
    lines_collect(&lines, extractor->json, key);
    if (lines.status == NIGH_OK && lines.has_real) {
        nigh_status status = numbers_quote(job, line);
        if (status != NIGH_OK) return status;
        lines_collect(&lines, extractor->json, key);
        status = json_parse(job, line);
        if (status != NIGH_OK) return status;
    }
    return lines_finish(job, &lines, key, out);
}

/* Of a text that is too long nothing is kept, and there is a remark. */
static void json_values(const struct job *job) {
    struct nigh__extractor *extractor = job->extractor;
    for (uint32_t i = 0; i < extractor->keep_key_count; i++) {
        const struct nigh__kept_place place = {
            .key = extractor->keep_keys[i], .columns = job->columns, .has_large = job->has_large};
        size_t too_long = 0;
        extractor->values[i] = nigh__kept_value(extractor->json, &place, &too_long);
        if (too_long != 0)
            (void)nigh__fail(&extractor->remark, NIGH_ELIMIT, "'%.80s' has %zu bytes, and is not kept: %u are allowed",
                             place.key, too_long, NIGH_MAX_VALUE_LENGTH);
    }
}

/* It says what a document is for, which is one thing. */
static void part_check(struct job *job, const char *key) {
    if (job->part.length == 0 || memchr(job->part.text, '\n', job->part.length) == NULL) return;
    job->part.length = 0;
    (void)nigh__fail(&job->extractor->remark, NIGH_EFORMAT, "'%.80s' is more than one text", key);
}

static nigh_status json_part(struct job *job, struct nigh__span line) {
    struct nigh__extractor *extractor = job->extractor;
    nigh_status status = json_lines(job, line, extractor->part_key, &extractor->part, &job->part);
    if (status == NIGH_OK) part_check(job, extractor->part_key);
    return status;
}

bool nigh__extract_remark(const struct nigh__extractor *extractor, const nigh_text *text, nigh_error *problem) {
    const nigh_error *remark = &extractor->remark;
    if (remark->status == NIGH_OK) return false;
    if (text->line != 0)
        (void)nigh__fail_line(problem, remark->status, text->source, text->line, "%s", remark->why);
    else
        (void)nigh__fail_at(problem, remark->status, text->source,
                            remark->reason == NIGH_REASON_ONE_DOCUMENT ? NIGH_NO_OFFSET : text->offset, "%s",
                            remark->why);
    problem->reason = remark->reason;
    return true;
}

static nigh_status json_extract(struct job *job) {
    struct nigh__span line = job->record;
    if (line.length >= 3 && memcmp(line.text, "\xef\xbb\xbf", 3) == 0) line.text += 3, line.length -= 3;
    if (nigh__is_blank(line.text, line.length)) return NIGH_OK;
    nigh_status status = json_parse(job, line);
    /* these first, for they may read the line anew, and the others look into what was read */
    if (status == NIGH_OK)
        status = json_lines(job, line, job->extractor->label_key, &job->extractor->label, &job->label);
    if (status == NIGH_OK) status = json_part(job, line);
    if (status == NIGH_OK) json_score(job);
    if (status == NIGH_OK) json_values(job);
    if (status == NIGH_OK) status = json_id(job);
    if (status == NIGH_OK) status = json_text(job);
    return status;
}

/* ------------------------------------------------------ a caller's document */

/* The same rules as for what is under a key of JSON. */
static nigh_status given_lines(struct job *job, struct nigh__span given, const char *what, struct nigh__array *buffer,
                               struct nigh__span *out) {
    struct lines lines = {.context = job->extractor->context, .out = buffer, .status = NIGH_OK};
    if (!nigh__utf8_check(given.text, given.length)) (void)lines_refuse(&lines, NIGH_EFORMAT, "it is not UTF-8");
    bool more = lines.status == NIGH_OK && given.length > 0;
    while (more) {
        const char *newline = memchr(given.text, '\n', given.length);
        const size_t length = newline == NULL ? given.length : (size_t)(newline - given.text);
        more = line_add(&lines, given.text, length) && newline != NULL;
        given.text += length + more;
        given.length -= length + more;
    }
    return lines_finish(job, &lines, what, out);
}

/* There are no marks at the beginning of a text that was never a file. */
static nigh_status given_text(struct job *job) {
    struct nigh__array *converted = &job->extractor->converted;
    job->text = job->record;
    if (nigh__utf8_check(job->text.text, job->text.length)) return NIGH_OK;
    if (!nigh__utf8_repair(job->extractor->context, job->text.text, job->text.length, converted, &job->first_bad))
        return fail_memory(job);
    job->text = array_span(converted);
    return NIGH_OK;
}

static nigh_status given_extract(struct job *job) {
    struct nigh__extractor *extractor = job->extractor;
    struct nigh__given given;
    const char *end = job->record.text - sizeof given;
    memcpy(&given, end, sizeof given);
    const struct nigh__span packed = {end - given.values_length, given.values_length};
    const struct nigh__span part = {packed.text - given.part_length, given.part_length};
    const struct nigh__span label = {part.text - given.label_length, given.label_length};
    uint32_t values = 0;
    job->score = given.score;
    if (!nigh__values_unpack((const uint8_t *)packed.text, packed.length, extractor->values, &values))
        return nigh__fail(job->error, NIGH_EFORMAT, "its values cannot be read");
    nigh_status status = given_lines(job, label, "label", &extractor->label, &job->label);
    if (status == NIGH_OK) status = given_lines(job, part, "part", &extractor->part, &job->part);
    if (status != NIGH_OK) return status;
    part_check(job, "part");
    return given_text(job);
}

/* ------------------------------------------------------------ HTML and HTTP */

/* NUL bytes mean nothing in a page. */
static bool nuls_remove(struct nigh__extractor *extractor, struct nigh__span *page) {
    if (page->length == 0 || memchr(page->text, '\0', page->length) == NULL) return true;
    struct nigh__array *converted = &extractor->converted;
    if (page->text != converted->data && !nigh__bytes_append(extractor->context, converted, page->text, page->length))
        return false;
    char *bytes = converted->data;
    size_t kept = 0;
    for (size_t i = 0; i < converted->count; i++)
        if (bytes[i] != '\0') bytes[kept++] = bytes[i];
    converted->count = kept;
    *page = array_span(converted);
    return true;
}

static nigh_status html_extract(struct job *job, struct nigh__span page, const struct nigh__charset *label) {
    struct nigh__extractor *extractor = job->extractor;
    size_t unimportant;
    if (label == NULL) label = nigh__html_meta_charset(page.text, page.length);
    nigh_status status = to_utf8(job, &page, label, nigh__charset_windows_1252, &unimportant);
    if (status != NIGH_OK) return status;
    if (!nuls_remove(extractor, &page)) return fail_memory(job);
    struct nigh__html_limits limits = {.max_depth = extractor->max_depth, .max_bytes = extractor->max_bytes};
    status = nigh__html_text(extractor->context, &extractor->elements, page.text, page.length, &limits,
                             &extractor->title, &extractor->text, job->error);
    job->text = array_span(&extractor->text);
    return status;
}

enum body_kind { BODY_OTHER, BODY_HTML, BODY_TEXT };

static enum body_kind body_kind(struct nigh__span type, struct nigh__span body) {
    if (nigh__span_is(type, "text/html") || nigh__span_is(type, "application/xhtml+xml")) return BODY_HTML;
    if (type.length > 5 && nigh__span_is((struct nigh__span){type.text, 5}, "text/")) return BODY_TEXT;
    if (type.length > 0) return BODY_OTHER;
    size_t at = 0;
    while (at < body.length && nigh__is_space(body.text[at])) at++;
    return at < body.length && body.text[at] == '<' ? BODY_HTML : BODY_TEXT;
}

static nigh_status http_extract(struct job *job) {
    struct nigh__extractor *extractor = job->extractor;
    struct nigh__http http;
    nigh_status status = nigh__http_parse(job->record.text, job->record.length, &http, job->error);
    if (status != NIGH_OK) return status;
    if (http.status < 200 || http.status > 299) return NIGH_ENOTFOUND;
    if (body_kind(http.type, http.body) == BODY_OTHER) return NIGH_ENOTFOUND; /* images need not be decoded */
    struct nigh__span body;
    status = nigh__http_body(extractor->context, &http, extractor->max_bytes, extractor->http, &body, job->error);
    if (status != NIGH_OK) return status;
    const struct nigh__charset *label = nigh__charset_find(http.charset.text, http.charset.length);
    if (body_kind(http.type, body) == BODY_HTML) return html_extract(job, body, label);
    size_t unimportant;
    job->text = body;
    return to_utf8(job, &job->text, label, nigh__charset_windows_1252, &unimportant);
}

static nigh_status trec_extract(struct job *job) {
    struct nigh__extractor *extractor = job->extractor;
    size_t unimportant;
    nigh_status status = to_utf8(job, &job->record, NULL, nigh__charset_windows_1252, &unimportant);
    if (status != NIGH_OK) return status;
    if (!nigh__trec_text(extractor->context, job->record.text, job->record.length, &extractor->text, &extractor->id))
        return fail_memory(job);
    job->text = array_span(&extractor->text);
    job->id = array_span(&extractor->id);
    return NIGH_OK;
}

/* ------------------------------------------------------------------- ends */

/* What a document without an id is known by: where it lies, and what it says. */
static nigh_status id_make(struct job *job, struct nigh__span place) {
    static const char digits[] = "0123456789abcdef";
    char text[NIGH__ID_TEXT_LENGTH] = {':'};
    uint64_t hash = nigh__hash(job->text.text, job->text.length) >> 16;
    struct nigh__array *out = &job->extractor->id;
    for (size_t i = NIGH__ID_TEXT_LENGTH; --i > 0; hash >>= 4) text[i] = digits[hash & 15];
    out->count = 0;
    if (!nigh__bytes_append(job->extractor->context, out, place.text, place.length) ||
        !nigh__bytes_append(job->extractor->context, out, text, NIGH__ID_TEXT_LENGTH))
        return fail_memory(job);
    job->id = array_span(out);
    return NIGH_OK;
}

static nigh_status record_extract(struct job *job, enum nigh__record_kind kind) {
    switch (kind) {
    case NIGH__RECORD_TEXT:
        return text_extract(job);
    case NIGH__RECORD_JSON:
        return json_extract(job);
    case NIGH__RECORD_HTML:
        return html_extract(job, job->record, NULL);
    case NIGH__RECORD_HTTP:
        return http_extract(job);
    case NIGH__RECORD_TREC:
        return trec_extract(job);
    case NIGH__RECORD_GIVEN:
        return given_extract(job);
    case NIGH__RECORD_PROBLEM:
    case NIGH__RECORD_GAP:
        break;
    }
    return nigh__fail(job->error, NIGH_EINVAL, "a problem holds no text");
}

/* A file of its own that is not understood cannot be written as {"id", "text"}; any other record can as it lies. */
static nigh_status note_loss(const struct nigh__batch *batch, const struct nigh__record *record, nigh_status status,
                             nigh_error *detail) {
    bool whole = record->format == NIGH_TEXT_PLAIN || record->format == NIGH_TEXT_HTML;
    if (!whole || (status != NIGH_EFORMAT && status != NIGH_ELIMIT)) return status;
    nigh_error why;
    if (nigh__ledger_lose(batch->ledger, record->number, &why) == NIGH_OK) return status;
    *detail = why;
    return NIGH_ENOMEM;
}

/* Of a file that was named and whose format nobody gave: whoever has a document a line may not know it was one. */
static void lines_remark(struct job *job, const struct nigh__record *record) {
    uint64_t lines = 0;
    const char *at = job->text.text;
    const char *end = at + job->text.length;
    if (!record->guessed || job->extractor->remark.status != NIGH_OK) return;
    for (; (at = memchr(at, '\n', (size_t)(end - at))) != NULL && at + 1 < end; at++) lines++;
    if (lines < MANY_LINES) return;
    (void)nigh__fail(&job->extractor->remark, NIGH_EFORMAT, "its %" PRIu64 " lines were read as one document",
                     lines + 1);
    job->extractor->remark.reason = NIGH_REASON_ONE_DOCUMENT;
}

/* Says the failure again, with the place of the record. */
static nigh_status fail_placed(nigh_error *error, nigh_status status, const nigh_error *detail, const char *source,
                               const struct nigh__record *record) {
    if (status == NIGH_ENOTFOUND) return status;
    if (record->line != 0) return nigh__fail_line(error, status, source, record->line, "%s", detail->why);
    return nigh__fail_at(error, status, source, record->offset, "%s", detail->why);
}

static nigh_status job_finish(struct job *job, struct nigh__span own_id, bool placed) {
    if (job->text.length > job->extractor->max_bytes)
        return nigh__fail(job->error, NIGH_ELIMIT, "more than %" PRIu64 " bytes of text", job->extractor->max_bytes);
    if (nigh__is_blank(job->text.text, job->text.length)) return NIGH_ENOTFOUND;
    if (job->id.length == 0 && placed) return id_make(job, own_id);
    if (job->id.length == 0) job->id = own_id;
    if (job->id.length > NIGH_MAX_ID_LENGTH) job->id.length = nigh__utf8_cut(job->id.text, NIGH_MAX_ID_LENGTH);
    return NIGH_OK;
}

enum nigh__sieved nigh__extract_sieved(const struct nigh__extractor *extractor) { return extractor->sieved; }

/* A document that is left out is none. */
static nigh_status job_sieve(struct job *job) {
    nigh_status status =
        nigh__sieve_judge(job->extractor->sieve, job->text.text, job->text.length, &job->extractor->sieved, job->error);
    return status == NIGH_OK && job->extractor->sieved != NIGH__SIEVED_NOT ? NIGH_ENOTFOUND : status;
}

/* Of a record that is no document: which keys there are instead of that of the text, once. */
static void tell_keys(const struct job *job, const char *source, const struct nigh__record *record, nigh_error *error) {
    struct nigh__extractor *extractor = job->extractor;
    error->reason = NIGH_REASON_NONE;
    if (!job->has_no_key || extractor->told_keys) return;
    nigh__keys_there_tell(extractor->json, extractor->text_key, source, record->line, error);
    extractor->told_keys = true;
}

/* The offset of the first byte that was not UTF-8, or of a record that was mended before; NIGH_NO_OFFSET: none. */
static uint64_t find_repaired(const struct job *job, const struct nigh__record *record) {
    if (job->first_bad == NIGH__NONE) return record->repaired ? record->offset : NIGH_NO_OFFSET;
    return job->first_bad + (record->offset != NIGH_NO_OFFSET ? record->offset : 0);
}

static nigh_text text_of(const struct job *job, const char *source, const struct nigh__record *record) {
    const struct nigh__extractor *extractor = job->extractor;
    return (nigh_text){.id = job->id.text,
                       .id_length = job->id.length,
                       .text = job->text.text,
                       .text_length = job->text.length,
                       .number = record->number,
                       .source = source,
                       .offset = record->offset,
                       .line = record->line,
                       .score = job->score,
                       .label = job->label.length == 0 ? NULL : job->label.text,
                       .label_length = job->label.length,
                       .part = job->part.length == 0 ? NULL : job->part.text,
                       .part_length = job->part.length,
                       .values = extractor->keep_key_count == 0 ? NULL : extractor->values,
                       .value_count = extractor->keep_key_count};
}

nigh_status nigh__extract(struct nigh__extractor *extractor, const struct nigh__batch *batch,
                          const struct nigh__record *record, nigh_text *out, uint64_t *repaired, nigh_error *error) {
    nigh_error detail;
    const char *source = nigh__batch_bytes(batch, record->source);
    struct nigh__span own_id = {nigh__batch_bytes(batch, record->id), record->id_length};
    struct job job = {.extractor = extractor,
                      .record = {nigh__batch_bytes(batch, record->bytes), record->length},
                      .text = {"", 0},
                      .first_bad = NIGH__NONE,
                      .columns = record->columns,
                      .score = -(double)INFINITY,
                      .error = &detail};
    *repaired = NIGH_NO_OFFSET;
    extractor->remark.status = NIGH_OK;
    extractor->sieved = NIGH__SIEVED_NOT;
    memset(extractor->values, 0, sizeof extractor->values);
    buffers_clear(extractor);
    nigh_status status = record_extract(&job, record->kind);
    if (status == NIGH_OK) status = job_finish(&job, own_id, record->placed);
    if (status == NIGH_OK) status = job_sieve(&job);
    if (status != NIGH_OK) status = note_loss(batch, record, status, &detail);
    if (status == NIGH_ENOTFOUND && error != NULL) tell_keys(&job, source, record, error);
    if (status != NIGH_OK) return fail_placed(error, status, &detail, source, record);
    lines_remark(&job, record);
    *repaired = find_repaired(&job, record);
    *out = text_of(&job, source, record);
    return NIGH_OK;
}
