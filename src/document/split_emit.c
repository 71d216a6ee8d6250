/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records into batches.  Every record and every problem takes one number, and a
 * shard is made of numbers, so that the shards of an input share it out exactly.
 * What is not of the shard is measured but never copied.
 */
#include <inttypes.h>
#include <string.h>

#include "base/status.h"
#include "document/split_parts.h"

#define ID_DIGITS NIGH__ID_DIGITS

uint8_t *nigh__split_bytes(struct nigh__splitter *splitter, size_t length) {
    struct nigh__array *bytes = &splitter->batch->bytes;
    if (length > SIZE_MAX - NIGH__BATCH_PADDING) return NULL;
    uint8_t *place = nigh__array_add(splitter->context, bytes, length + NIGH__BATCH_PADDING);
    if (place != NULL) bytes->count -= NIGH__BATCH_PADDING;
    return place;
}

static nigh_text_format format_now(const struct nigh__splitter *splitter) {
    const struct nigh__split_format *format = splitter->format;
    if (format == NULL) return NIGH_TEXT_AUTO;
    return format->makes_lines ? NIGH_TEXT_JSONL : format->format;
}

bool nigh__split_wanted(const struct nigh__splitter *splitter) {
    const nigh_text_reader_options *options = &splitter->options;
    if (options->shards != 0 && splitter->records % options->shards != options->shard) return false;
    return splitter->wanted == NULL || splitter->wanted(splitter->wanted_user, splitter->records);
}

/* The name goes into a batch once, before the first record that has it. */
static nigh_status source_add(struct nigh__splitter *splitter, nigh_error *error) {
    if (splitter->source != SIZE_MAX) return NIGH_OK;
    const char *name = nigh__split_name(splitter);
    size_t size = strlen(name) + 1;
    size_t place = splitter->batch->bytes.count;
    uint8_t *copy = nigh__split_bytes(splitter, size);
    if (copy == NULL) return nigh__no_memory(error, "for a batch of documents");
    memcpy(copy, name, size);
    splitter->source = place;
    return NIGH_OK;
}

/* ------------------------------------------------- records as they lie */

/* Empty lines one after the other are one gap: a file may have nothing else. */
static bool gap_extend(struct nigh__splitter *splitter, size_t begin, size_t end) {
    const struct nigh__array *records = &splitter->batch->records;
    if (records->count == 0) return false;
    struct nigh__record *last = (struct nigh__record *)records->data + (records->count - 1);
    const bool fits = last->kind == NIGH__RECORD_GAP && last->bytes + last->length == begin &&
                      splitter->format != NULL && splitter->format->next == nigh__split_lines;
    if (!fits) return false;
    last->length += end - begin;
    splitter->raw.begin = end;
    return true;
}

/* A gap goes with the record after it, so that every shard has its own. */
nigh_status nigh__raw_flush(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__raw *raw = &splitter->raw;
    if (!raw->on) return NIGH_OK;
    if (!nigh__split_wanted(splitter)) splitter->batch->bytes.count = raw->begin;
    size_t begin = raw->begin;
    size_t end = splitter->batch->bytes.count;
    if (end == begin || gap_extend(splitter, begin, end)) return NIGH_OK;
    nigh_status status = source_add(splitter, error);
    if (status != NIGH_OK) return status;
    raw->begin = splitter->batch->bytes.count;
    struct nigh__record *record = nigh__array_add(splitter->context, &splitter->batch->records, 1);
    if (record == NULL) return nigh__no_memory(error, "for a batch of documents");
    *record = (struct nigh__record){.kind = NIGH__RECORD_GAP,
                                    .format = format_now(splitter),
                                    .bytes = begin,
                                    .length = end - begin,
                                    .source = splitter->source,
                                    .number = UINT64_MAX,
                                    .offset = NIGH_NO_OFFSET};
    return NIGH_OK;
}

nigh_status nigh__raw_begin(struct nigh__splitter *splitter, nigh_error *error) {
    struct nigh__raw *raw = &splitter->raw;
    if (!raw->on) return NIGH_OK;
    nigh_status status = nigh__raw_flush(splitter, error);
    if (status == NIGH_OK) status = source_add(splitter, error);
    raw->discard = false;
    raw->begin = splitter->batch->bytes.count;
    return status;
}

nigh_status nigh__raw_keep(struct nigh__splitter *splitter, const uint8_t *bytes, size_t length, nigh_error *error) {
    if (splitter->raw.discard || length == 0) return NIGH_OK;
    uint8_t *copy = nigh__split_bytes(splitter, length);
    if (copy == NULL) return nigh__no_memory(error, "for a batch of documents");
    memcpy(copy, bytes, length);
    return NIGH_OK;
}

/* Nothing of what was taken since the last cut is kept, nor what follows up to the next. */
void nigh__raw_discard(struct nigh__splitter *splitter) {
    if (!splitter->raw.on) return;
    splitter->batch->bytes.count = splitter->raw.begin;
    splitter->raw.discard = true;
}

/* ------------------------------------------------------ the one pending */

/* Whole files have nothing but the document in them, so they are collected as always. */
static bool lies_in_batch(const struct nigh__splitter *splitter) {
    return !splitter->raw.on || splitter->format->makes_lines || splitter->format->next == nigh__split_whole;
}

nigh_status nigh__pending_begin(struct nigh__splitter *splitter, nigh_error *error) {
    bool wanted = nigh__split_wanted(splitter);
    nigh_status status = wanted ? source_add(splitter, error) : NIGH_OK;
    splitter->pending = (struct nigh__pending){.begin = splitter->batch->bytes.count, .wanted = wanted};
    if (!wanted) nigh__raw_discard(splitter);
    return status;
}

void nigh__pending_set_over(struct nigh__splitter *splitter) {
    splitter->pending.over = true;
    nigh__pending_lose(splitter);
}

/* One byte more than the limit is kept: it may be the carriage return at the end of a line. */
nigh_status nigh__pending_add(struct nigh__splitter *splitter, const uint8_t *bytes, size_t length, nigh_error *error) {
    struct nigh__pending *pending = &splitter->pending;
    if (length == 0) return NIGH_OK;
    pending->length += length;
    pending->last = bytes[length - 1];
    if (pending->over) return NIGH_OK;
    if (pending->length - 1 > splitter->options.max_document_bytes) nigh__pending_set_over(splitter);
    if (!pending->wanted || pending->over || !lies_in_batch(splitter)) return NIGH_OK;
    uint8_t *copy = nigh__split_bytes(splitter, length);
    if (copy == NULL) return nigh__no_memory(error, "for a batch of documents");
    memcpy(copy, bytes, length);
    return NIGH_OK;
}

void nigh__pending_shorten(struct nigh__splitter *splitter) {
    struct nigh__pending *pending = &splitter->pending;
    pending->length--;
    if (pending->wanted && !pending->over && lies_in_batch(splitter)) splitter->batch->bytes.count--;
}

void nigh__pending_drop(struct nigh__splitter *splitter) {
    if (lies_in_batch(splitter)) splitter->batch->bytes.count = splitter->pending.begin;
}

void nigh__pending_lose(struct nigh__splitter *splitter) {
    nigh__pending_drop(splitter);
    nigh__raw_discard(splitter);
}

/* ------------------------------------------------------------------- ids */

/* Numbers of lines come one after the other, and adding one to digits is cheaper than dividing for each. */
void nigh__digits_set(struct nigh__digits *digits, uint64_t number) {
    size_t i = digits->first;
    if (number == digits->number + 1 && digits->number != 0) {
        i = ID_DIGITS;
        while (i > digits->first && digits->text[i - 1] == '9') digits->text[--i] = '0';
    }
    if (i > digits->first) {
        digits->text[i - 1]++;
    } else {
        uint64_t rest = number;
        digits->first = ID_DIGITS;
        do digits->text[--digits->first] = (char)('0' + rest % 10);
        while ((rest /= 10) != 0);
    }
    digits->number = number;
}

nigh_status nigh__split_set_name(struct nigh__splitter *splitter, const char *member, nigh_error *error) {
    size_t file_length = strlen(splitter->file_name);
    size_t member_length = member == NULL ? 0 : 1 + strlen(member);
    size_t length = file_length + member_length;
    splitter->name.count = 0;
    splitter->source = SIZE_MAX;
    char *name = nigh__array_add(splitter->context, &splitter->name, length + 1);
    if (name == NULL) return nigh__no_memory(error, "for a name");
    memcpy(name, splitter->file_name, file_length);
    if (member != NULL) {
        name[file_length] = '/';
        memcpy(name + file_length + 1, member, member_length - 1);
    }
    name[length] = '\0';
    return NIGH_OK;
}

/* How much of the name an id of a place takes in: what is added to it must fit too. */
static size_t name_in_id(const struct nigh__splitter *splitter) {
    return nigh__smaller(splitter->name.count - 1, NIGH_MAX_ID_LENGTH - ID_DIGITS - 1 - NIGH__ID_TEXT_LENGTH);
}

/* A stream is another one each time; a file has its name. */
static bool is_stream(const struct nigh__splitter *splitter) { return strcmp(nigh__split_name(splitter), "-") == 0; }

/* -------------------------------------------------------------- finishing */

/* A record of the bytes that are pending and the id behind them. */
static nigh_status record_add(struct nigh__splitter *splitter, enum nigh__record_kind kind, size_t id_length,
                              struct nigh__place place, nigh_error *error) {
    struct nigh__batch *batch = splitter->batch;
    struct nigh__record *record = nigh__array_add(splitter->context, &batch->records, 1);
    if (record == NULL) return nigh__no_memory(error, "for a batch of documents");
    size_t id = batch->bytes.count - id_length;
    size_t begin = lies_in_batch(splitter) ? splitter->pending.begin : splitter->raw.begin;
    splitter->raw.begin = batch->bytes.count;
    *record = (struct nigh__record){
        .kind = kind,
        .format = format_now(splitter),
        .bytes = begin,
        .length = id - begin,
        .id = id,
        .id_length = id_length,
        .placed = splitter->pending.placed,
        .source = splitter->source,
        .number = splitter->records,
        .offset = place.offset,
        .line = place.line,
        .guessed = splitter->guessed,
        .repaired = splitter->pending.repaired,
        .columns = splitter->csv != NULL,
    };
    return NIGH_OK;
}

static nigh_status problem_over(struct nigh__splitter *splitter, struct nigh__place place, nigh_error *error) {
    nigh_error problem;
    const char *name = nigh__split_name(splitter);
    uint64_t limit = splitter->options.max_document_bytes;
    static const char format[] = "the document is longer than %" PRIu64 " bytes";
    if (place.line != 0)
        (void)nigh__fail_line(&problem, NIGH_ELIMIT, name, place.line, format, limit);
    else
        (void)nigh__fail_at(&problem, NIGH_ELIMIT, name, place.offset, format, limit);
    problem.reason = NIGH_REASON_MAX_DOCUMENT;
    nigh__pending_lose(splitter);
    return nigh__split_lose(splitter, &problem, error);
}

/* The line break that is put behind a record which becomes a line is none of the document. */
static bool is_over(const struct nigh__splitter *splitter) {
    const struct nigh__pending *pending = &splitter->pending;
    const uint64_t more = splitter->raw.on && splitter->format->makes_lines && pending->length > 0 ? 1 : 0;
    return pending->over || pending->length - more > splitter->options.max_document_bytes;
}

/* Whether the record ends here: it is not of the shard, or is over the limit. */
static bool finish_early(struct nigh__splitter *splitter, struct nigh__place place, nigh_status *status,
                         nigh_error *error) {
    *status = NIGH_OK;
    if (!splitter->pending.wanted) {
        splitter->records++;
        if (splitter->wanted != NULL) splitter->passed_over += splitter->pending.length;
    } else if (is_over(splitter)) {
        *status = problem_over(splitter, place, error);
    } else {
        return false;
    }
    return true;
}

nigh_status nigh__pending_finish(struct nigh__splitter *splitter, enum nigh__record_kind kind, const char *id,
                                 size_t id_length, struct nigh__place place, nigh_error *error) {
    nigh_status status;
    if (finish_early(splitter, place, &status, error)) return status;
    if (id_length > NIGH_MAX_ID_LENGTH) id_length = NIGH_MAX_ID_LENGTH;
    uint8_t *out = nigh__split_bytes(splitter, id_length);
    if (out == NULL) return nigh__no_memory(error, "for a batch of documents");
    memcpy(out, id, id_length);
    status = record_add(splitter, kind, id_length, place, error);
    splitter->records++;
    return status;
}

nigh_status nigh__pending_finish_numbered(struct nigh__splitter *splitter, enum nigh__record_kind kind, uint64_t number,
                                          struct nigh__place place, nigh_error *error) {
    nigh_status status;
    if (finish_early(splitter, place, &status, error)) return status;
    splitter->pending.placed = number != 0 || is_stream(splitter);
    struct nigh__digits *digits = &splitter->digits;
    size_t name_length = name_in_id(splitter);
    size_t digits_length = 0;
    if (number != 0) {
        nigh__digits_set(digits, number);
        digits_length = ID_DIGITS - digits->first;
    }
    size_t id_length = name_length + (number != 0 ? digits_length + 1 : 0);
    char *out = (char *)nigh__split_bytes(splitter, id_length);
    if (out == NULL) return nigh__no_memory(error, "for a batch of documents");
    memcpy(out, splitter->name.data, name_length);
    if (number != 0) {
        out[name_length] = ':';
        memcpy(out + name_length + 1, digits->text + digits->first, digits_length);
    }
    status = record_add(splitter, kind, id_length, place, error);
    splitter->records++;
    return status;
}

/* --------------------------------------------------------------- problems */

nigh_status nigh__split_problem(struct nigh__splitter *splitter, const nigh_error *problem, nigh_error *error) {
    struct nigh__batch *batch = splitter->batch;
    bool wanted = nigh__split_wanted(splitter);
    nigh_error copy = *problem;
    nigh_status status = nigh__raw_flush(splitter, error);
    uint64_t number = splitter->records++;
    if (!wanted || status != NIGH_OK) return status;
    status = source_add(splitter, error);
    splitter->raw.begin = batch->bytes.count;
    if (status != NIGH_OK) return status;
    nigh_error *kept = nigh__array_add(splitter->context, &batch->problems, 1);
    if (kept == NULL) return nigh__no_memory(error, "for a batch of documents");
    *kept = copy;
    struct nigh__record *record = nigh__array_add(splitter->context, &batch->records, 1);
    if (record == NULL) return nigh__no_memory(error, "for a batch of documents");
    *record = (struct nigh__record){
        .kind = NIGH__RECORD_PROBLEM,
        .format = format_now(splitter),
        .source = splitter->source,
        .problem = batch->problems.count - 1,
        .number = number,
        .offset = copy.offset,
        .line = copy.line,
    };
    return NIGH_OK;
}

nigh_status nigh__split_lose(struct nigh__splitter *splitter, const nigh_error *problem, nigh_error *error) {
    nigh_error copy = *problem; /* it may be `error` */
    nigh_status status =
        nigh__split_wanted(splitter) ? nigh__ledger_lose(splitter->ledger, splitter->records, error) : NIGH_OK;
    return status == NIGH_OK ? nigh__split_problem(splitter, &copy, error) : status;
}

nigh_status nigh__split_lose_at(struct nigh__splitter *splitter, uint64_t offset, const char *why, nigh_error *error) {
    nigh_error problem;
    (void)nigh__fail_at(&problem, NIGH_EFORMAT, nigh__split_name(splitter), offset, "%s", why);
    problem.reason = NIGH_REASON_LOST_INPUT;
    return nigh__split_lose(splitter, &problem, error);
}

nigh_status nigh__split_problem_at(struct nigh__splitter *splitter, uint64_t offset, const char *why,
                                   nigh_error *error) {
    nigh_error problem;
    (void)nigh__fail_at(&problem, NIGH_EFORMAT, nigh__split_name(splitter), offset, "%s", why);
    return nigh__split_problem(splitter, &problem, error);
}
