/* SPDX-License-Identifier: Apache-2.0 */
/*
 * WARC:
 *
 *     WARC/1.0                            responses and conversions are documents;
 *     WARC-Type: response                 all else (requests, and resources, such as
 *     WARC-Target-URI: http://...         a crawler's own log) is passed over and
 *     Content-Length: 1234                takes no number
 *                                         an empty line, so many bytes, two more
 *
 * Crawlers differ, so lines may end in a bare newline, names may be in any case,
 * and values may be folded.  After something malformed the next line that begins
 * with "WARC/" is where reading goes on.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "document/split_parts.h"

#define MAGIC "WARC/"
#define MAGIC_LENGTH 5
#define HEAD_LIMIT ((size_t)64 << 10)

static const char no_kind[] = "";

struct value {
    const char *text;
    size_t length;
};

/* ------------------------------------------------------------------ moving */

/* Some way to the next record there may be, at the start of a line; then no longer lost. */
static nigh_status resume(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    if (!splitter->mid_line && nigh__feed_begins(feed, MAGIC, MAGIC_LENGTH)) {
        splitter->lost = false;
        return NIGH_OK;
    }
    nigh_status status = nigh__feed_more(feed, error);
    if (status != NIGH_OK) return status;
    const uint8_t *newline = memchr(feed->bytes, '\n', feed->length);
    splitter->mid_line = newline == NULL;
    return nigh__split_take(splitter, newline != NULL ? (size_t)(newline - feed->bytes) + 1 : feed->length, error);
}

static nigh_status blank_pass(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    for (;;) {
        nigh_status status = nigh__feed_more(feed, error);
        if (status != NIGH_OK) return status;
        size_t blank = 0;
        while (blank < feed->length && (feed->bytes[blank] == '\r' || feed->bytes[blank] == '\n')) blank++;
        status = nigh__split_take(splitter, blank, error);
        if (status != NIGH_OK || feed->length > 0) return status;
    }
}

/* The empty lines behind a record go with it, where it is wanted as it lies; what follows them is seen later. */
static nigh_status tail_take(struct nigh__splitter *splitter, nigh_error *error) {
    if (!splitter->raw.on) return NIGH_OK;
    nigh_status status = blank_pass(splitter, error);
    return status == NIGH_ENOMEM ? status : NIGH_OK;
}

/* ------------------------------------------------------------------ header */

/* Appends one line with its newline.  NIGH_ELIMIT: the header is too long. */
static nigh_status head_line(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    for (;;) {
        nigh_status status = nigh__feed_more(feed, error);
        if (status != NIGH_OK) return status;
        const uint8_t *newline = memchr(feed->bytes, '\n', feed->length);
        size_t part = newline != NULL ? (size_t)(newline - feed->bytes) + 1 : feed->length;
        if (part > HEAD_LIMIT - splitter->head.count) return NIGH_ELIMIT;
        char *copy = nigh__array_add(splitter->context, &splitter->head, part);
        if (copy == NULL) return nigh__no_memory(error, "for a WARC header");
        memcpy(copy, feed->bytes, part);
        status = nigh__split_take(splitter, part, error);
        if (newline != NULL || status != NIGH_OK) return status;
    }
}

static bool is_empty_line(const char *line, size_t length) { return length == 1 || (length == 2 && line[0] == '\r'); }

/* Reads the header up to its empty line, which is left out.  NIGH_ELIMIT; NIGH_EINVAL: another record begins in it. */
static nigh_status head_collect(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__array *head = &splitter->head;
    head->count = 0;
    for (;;) {
        size_t before = head->count;
        if (before != 0 && nigh__feed_begins(splitter->text, MAGIC, MAGIC_LENGTH)) return NIGH_EINVAL;
        nigh_status status = head_line(splitter, error);
        if (status != NIGH_OK) return status;
        if (is_empty_line((const char *)head->data + before, head->count - before)) {
            head->count = before;
            return NIGH_OK;
        }
    }
}

/* A line that begins with white space goes on with the value before it. */
static void head_unfold(struct nigh__array *head) {
    char *text = head->data;
    for (size_t i = 0; i + 1 < head->count; i++) {
        if (text[i] != '\n' || (text[i + 1] != ' ' && text[i + 1] != '\t')) continue;
        text[i] = ' ';
        if (i > 0 && text[i - 1] == '\r') text[i - 1] = ' ';
    }
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static struct value trim(const char *text, const char *end) {
    while (text < end && is_space(*text)) text++;
    while (end > text && is_space(end[-1])) end--;
    return (struct value){.text = text, .length = (size_t)(end - text)};
}

/* The first value of that name; text NULL: there is none. */
static struct value head_find(const struct nigh__array *head, const char *name) {
    const char *line = head->data;
    const char *end = line + head->count;
    size_t name_length = strlen(name);
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (stop == NULL) stop = end;
        const char *colon = memchr(line, ':', (size_t)(stop - line));
        if (colon != NULL) {
            struct value found = trim(line, colon);
            if (found.length == name_length && nigh__same_letters(found.text, name, name_length))
                return trim(colon + 1, stop);
        }
        line = stop < end ? stop + 1 : end;
    }
    return (struct value){.text = NULL};
}

static bool is_word(struct value value, const char *word) {
    return value.length == strlen(word) && nigh__same_letters(value.text, word, value.length);
}

static bool parse_length(struct value value, uint64_t *out) {
    *out = 0;
    for (size_t i = 0; i < value.length; i++) {
        if (value.text[i] < '0' || value.text[i] > '9') return false;
        if (!nigh__multiply64(*out, 10, out) || !nigh__add64(*out, (uint64_t)(value.text[i] - '0'), out)) return false;
    }
    return value.length > 0;
}

/* A media type without its parameters. */
static struct value media_type(struct value value) {
    const char *semicolon = value.text == NULL ? NULL : memchr(value.text, ';', value.length);
    return semicolon == NULL ? value : trim(value.text, semicolon);
}

/* What the record is; NIGH__RECORD_PROBLEM: no document. */
static enum nigh__record_kind head_kind(struct nigh__splitter *splitter) {
    const struct nigh__array *head = &splitter->head;
    struct value type = head_find(head, "WARC-Type");
    struct value media = media_type(head_find(head, "Content-Type"));
    bool conversion = is_word(type, "conversion");
    if (!conversion && !is_word(type, "response")) return NIGH__RECORD_PROBLEM;
    if (media.length == 0) {
        if (conversion) return NIGH__RECORD_TEXT;
        return nigh__feed_begins(splitter->text, "HTTP/", 5) ? NIGH__RECORD_HTTP : NIGH__RECORD_PROBLEM;
    }
    if (is_word(media, "application/http")) return conversion ? NIGH__RECORD_PROBLEM : NIGH__RECORD_HTTP;
    if (is_word(media, "text/html") || is_word(media, "application/xhtml+xml")) return NIGH__RECORD_HTML;
    if (is_word(media, "text/dns")) return NIGH__RECORD_PROBLEM;
    return media.length > 5 && nigh__same_letters(media.text, "text/", 5) ? NIGH__RECORD_TEXT : NIGH__RECORD_PROBLEM;
}

static struct value head_id(const struct nigh__array *head) {
    struct value id = head_find(head, "WARC-Target-URI");
    if (id.length == 0) id = head_find(head, "WARC-Record-ID");
    if (id.length > 2 && id.text[0] == '<' && id.text[id.length - 1] == '>') {
        id.text++;
        id.length -= 2;
    }
    return id;
}

/* ----------------------------------------------------------------- records */

/* Takes the content in. */
static nigh_status body_collect(struct nigh__splitter *splitter, uint64_t length, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    while (length > 0) {
        nigh_status status = nigh__feed_more(feed, error);
        if (status != NIGH_OK) return status;
        size_t part = feed->length < length ? feed->length : (size_t)length;
        status = nigh__pending_add(splitter, feed->bytes, part, error);
        if (status == NIGH_OK) status = nigh__split_take(splitter, part, error);
        if (status != NIGH_OK) return status;
        length -= part;
    }
    return NIGH_OK;
}

/* The file ends at a bad place: a problem at `offset`, and what there is of the record is not kept. */
static nigh_status cut_off(struct nigh__splitter *splitter, uint64_t offset, const char *why, nigh_error *error) {
    nigh_status put = nigh__split_lose_at(splitter, offset, why, error);
    return put == NIGH_OK ? NIGH_END : put;
}

/* A problem at `offset`, and on with `status` or, where the problem does not fit, its own. */
static nigh_status malformed(struct nigh__splitter *splitter, uint64_t offset, const char *why, nigh_status status,
                             nigh_error *error) {
    nigh_status put = nigh__split_problem_at(splitter, offset, why, error);
    return put == NIGH_OK ? status : put;
}

static nigh_status record_finish(struct nigh__splitter *splitter, enum nigh__record_kind kind, uint64_t offset,
                                 nigh_error *error) {
    struct nigh__place place = {.offset = offset};
    struct value id = head_id(&splitter->head);
    splitter->ordinal++;
    if (id.length == 0) return nigh__pending_finish_numbered(splitter, kind, splitter->ordinal, place, error);
    return nigh__pending_finish(splitter, kind, id.text, id.length, place, error);
}

static nigh_status fail_inside(struct nigh__splitter *splitter, uint64_t offset, nigh_status status,
                               nigh_error *error) {
    nigh__pending_lose(splitter); /* as in fail_passing() */
    if (status != NIGH_END) return status;
    return cut_off(splitter, offset, "the file ends inside this record", error);
}

/*
 * Where records are wanted as they lie, one that is no document is held until it is
 * whole, whatever it says its length is, unless that takes too much memory.
 */
static bool is_held(const struct nigh__splitter *splitter) {
    uint64_t taken = splitter->passing_length - splitter->passing;
    return splitter->raw.on && taken <= splitter->options.max_document_bytes;
}

static nigh_status fail_passing(struct nigh__splitter *splitter, nigh_status status, nigh_error *error) {
    const char *name = nigh__split_name(splitter);
    uint64_t offset = splitter->passing_from;
    if (splitter->raw.on && !is_held(splitter)) /* some of it has been given out */
        return nigh__because(
            error, NIGH_REASON_MAX_DOCUMENT,
            nigh__fail_at(error, NIGH_ELIMIT, name, offset, "the file ends inside a record too long to be held"));
    nigh__raw_discard(splitter); /* in a file with others it would swallow the beginning of the next */
    if (status != NIGH_END) return status;
    return cut_off(splitter, offset, "the file ends inside this record", error);
}

/* Passes over some of what is no document, however long it is. */
static nigh_status body_pass(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    nigh_status status = nigh__feed_more(feed, error);
    if (status != NIGH_OK) return fail_passing(splitter, status, error);
    size_t part = feed->length < splitter->passing ? feed->length : (size_t)splitter->passing;
    splitter->passing -= part;
    status = nigh__split_take(splitter, part, error);
    return status == NIGH_OK && splitter->passing == 0 ? tail_take(splitter, error) : status;
}

static nigh_status body_next(struct nigh__splitter *splitter, uint64_t offset, uint64_t length, nigh_error *error) {
    enum nigh__record_kind kind = head_kind(splitter);
    nigh_status status = nigh__pending_begin(splitter, error);
    if (status != NIGH_OK) return status;
    if (kind == NIGH__RECORD_PROBLEM) {
        splitter->passing = splitter->passing_length = length;
        splitter->passing_from = offset;
        if (length == 0) return tail_take(splitter, error);
        while (status == NIGH_OK && splitter->passing > 0 && is_held(splitter)) status = body_pass(splitter, error);
        return status;
    }
    if (splitter->pending.wanted && length > splitter->options.max_document_bytes) nigh__pending_set_over(splitter);
    status = body_collect(splitter, length, error);
    if (status != NIGH_OK) return fail_inside(splitter, offset, status, error);
    status = tail_take(splitter, error);
    return status == NIGH_OK ? record_finish(splitter, kind, offset, error) : status;
}

/* Why the header is of no use; `no_kind`: it is not, and *length is set. */
static const char *head_problem(struct nigh__array *head, uint64_t *length) {
    head_unfold(head);
    struct value value = head_find(head, "Content-Length");
    if (value.text == NULL) return "the record has no Content-Length";
    if (!parse_length(value, length)) return "the record's Content-Length is not a number";
    if (head_find(head, "WARC-Type").length == 0) return "the record has no WARC-Type";
    return no_kind;
}

/* From here on the next record is looked for. */
static nigh_status lose_way(struct nigh__splitter *splitter, uint64_t offset, const char *why, bool mid_line,
                            nigh_error *error) {
    splitter->lost = true;
    splitter->mid_line = mid_line;
    return malformed(splitter, offset, why, NIGH_OK, error);
}

static nigh_status record_next(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    uint64_t offset = feed->offset;
    uint64_t length = 0;
    const char *why = "no WARC record begins here";
    nigh_status status = nigh__raw_begin(splitter, error);
    if (status == NIGH_OK && nigh__feed_begins(feed, MAGIC, MAGIC_LENGTH)) {
        status = head_collect(splitter, error);
        if (status == NIGH_END) {
            nigh__raw_discard(splitter);
            return cut_off(splitter, offset, "the file ends inside the header of this record", error);
        }
        if (status == NIGH_ELIMIT)
            return lose_way(splitter, offset, "the header of this record is longer than 64 KiB", true, error);
        if (status == NIGH_EINVAL)
            return lose_way(splitter, offset, "another record begins inside this header", false, error);
        if (status == NIGH_OK) why = head_problem(&splitter->head, &length);
    }
    if (status != NIGH_OK) {
        nigh__raw_discard(splitter);
        return status;
    }
    return why == no_kind ? body_next(splitter, offset, length, error) : lose_way(splitter, offset, why, false, error);
}

/* On by a record, or by a part of what is none. */
static nigh_status step(struct nigh__splitter *splitter, nigh_error *error) {
    if (splitter->passing > 0) return body_pass(splitter, error);
    if (splitter->lost) return resume(splitter, error);
    nigh_status status = blank_pass(splitter, error);
    return status == NIGH_OK ? record_next(splitter, error) : status;
}

nigh_status nigh__split_warc(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__feed *feed = splitter->text;
    nigh_status status = NIGH_OK;
    if (feed->offset == 0 && nigh__feed_begins(feed, "\xef\xbb\xbf", 3)) status = nigh__split_take(splitter, 3, error);
    while (status == NIGH_OK && !nigh__split_full(splitter)) status = step(splitter, error);
    return status;
}
