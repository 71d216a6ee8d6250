/* SPDX-License-Identifier: Apache-2.0 */
#include "document_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ask.h"

/* Offsets in the room of a line, until the room has its place. */
struct places {
    size_t id, text, signature, metadata;
    bool has_id, has_text, has_signature, has_metadata;
};

struct reading {
    struct serve_request *request;
    const struct serve_snapshot *snapshot;
    struct serve_lines *lines;
    struct serve_json *json;
    struct places *places; /* of each line; owned */
    struct serve_line *line;
    struct places *place;
    bool crowded, many; /* why it ended: too much is in memory; more documents than are allowed */
};

static bool wrong(struct reading *reading, const char *why) {
    if (reading->line->why[0] == '\0') (void)snprintf(reading->line->why, sizeof reading->line->why, "%s", why);
    return false;
}

static size_t keep(struct reading *reading, const void *bytes, size_t length) {
    const size_t at = reading->lines->room.length;
    serve_text_add(&reading->lines->room, bytes, length);
    serve_text_add(&reading->lines->room, "", 1);
    return at;
}

static bool take_id(struct reading *reading, struct serve_value value) {
    const char *text = NULL;
    size_t length = 0;
    char number[24];
    uint64_t count = 0;
    if (serve_json_count(value, &count)) {
        length = (size_t)snprintf(number, sizeof number, "%" PRIu64, count);
        text = number;
    } else if (!serve_json_string(value, &text, &length)) {
        return wrong(reading, "\"id\" must be a string or a whole number");
    }
    if (length == 0 || length > NIGH_MAX_ID_LENGTH)
        return wrong(reading, "\"id\" is empty, or longer than 65,535 bytes");
    reading->place->id = keep(reading, text, length);
    reading->line->document.id_length = length;
    return reading->place->has_id = true;
}

static bool take_text(struct reading *reading, struct serve_value value) {
    const char *text = NULL;
    size_t length = 0;
    if (!reading->snapshot->texts) return wrong(reading, "this collection takes signatures, not texts");
    if (!serve_json_string(value, &text, &length)) return wrong(reading, "\"text\" must be a string");
    reading->place->text = keep(reading, text, length);
    reading->line->document.text_length = length;
    return reading->place->has_text = true;
}

static bool take_signature(struct reading *reading, struct serve_value value, bool base64) {
    const char *text = NULL;
    size_t length = 0;
    char why[120];
    const uint32_t bits = reading->snapshot->info.width_bits;
    struct serve_text *room = &reading->lines->room;
    if (reading->snapshot->texts) return wrong(reading, "this collection takes texts, not signatures");
    if (!serve_json_string(value, &text, &length)) return wrong(reading, "\"signature\" must be a string");
    if (!serve_text_reserve(room, nigh_signature_bytes(bits) + 1)) return wrong(reading, "out of memory");
    const char *bad = serve_read_signature(text, length, base64, bits, (uint8_t *)room->bytes + room->length);
    (void)snprintf(why, sizeof why, "\"signature\" %s, which are of %u bits", bad == NULL ? "" : bad, bits);
    if (bad != NULL) return wrong(reading, why);
    reading->place->signature = room->length;
    room->length += nigh_signature_bytes(bits);
    return reading->place->has_signature = true;
}

/* A string as it is, anything else as JSON. */
static bool take_metadata(struct reading *reading, struct serve_value value) {
    struct serve_text *room = &reading->lines->room;
    const char *text = NULL;
    size_t length = 0;
    reading->place->metadata = room->length;
    if (serve_json_string(value, &text, &length))
        serve_text_add(room, text, length);
    else
        serve_json_write(value, room);
    reading->line->document.metadata_length = room->length - reading->place->metadata;
    if (reading->line->document.metadata_length > NIGH_MAX_METADATA_LENGTH)
        return wrong(reading, "\"metadata\" is too long");
    return reading->place->has_metadata = true;
}

/* Other keys belong to others: a document may have any. */
static bool take_member(void *user, const char *key, size_t length, struct serve_value value) {
    struct reading *reading = user;
    if (key == NULL) return false;
    if (length == 2 && memcmp(key, "id", 2) == 0) return take_id(reading, value);
    if (length == 4 && memcmp(key, "text", 4) == 0) return take_text(reading, value);
    if (length == 9 && memcmp(key, "signature", 9) == 0) return take_signature(reading, value, false);
    if (length == 16 && memcmp(key, "signature_base64", 16) == 0) return take_signature(reading, value, true);
    if (length == 8 && memcmp(key, "metadata", 8) == 0 && !reading->snapshot->texts)
        return take_metadata(reading, value);
    return true;
}

static void check_line(struct reading *reading) {
    const struct places *place = reading->place;
    const struct serve_snapshot *snapshot = reading->snapshot;
    const bool numbered = !snapshot->info.has_ids && snapshot->info.documents > 0;
    if (reading->line->why[0] != '\0') return;
    if (snapshot->texts && !place->has_text) (void)wrong(reading, "\"text\" is missing");
    if (!snapshot->texts && !place->has_signature) (void)wrong(reading, "\"signature\" is missing");
    if (!place->has_id && (snapshot->texts || (!numbered && snapshot->info.documents > 0)))
        (void)wrong(reading, "\"id\" is missing");
    if (place->has_id && numbered) (void)wrong(reading, "documents of this collection go by number: leave out \"id\"");
    reading->line->good = reading->line->why[0] == '\0';
}

static void read_line(struct reading *reading, const char *text, size_t length) {
    struct serve_value root;
    size_t offset = 0;
    const char *why = serve_json_parse(reading->json, text, length, &root, &offset);
    if (why != NULL) {
        reading->line->offset = offset;
        (void)wrong(reading, why);
        return;
    }
    if (serve_json_kind(root) != SERVE_JSON_OBJECT)
        (void)wrong(reading, "a line must be an object");
    else
        serve_json_each(root, take_member, reading);
    check_line(reading);
}

/* Lines may be as short as two bytes, and what is noted of each is many times that: it is counted too. */
static bool grow(struct reading *reading) {
    struct serve_lines *lines = reading->lines;
    const size_t capacity = lines->capacity == 0 ? 16 : 2 * lines->capacity;
    const size_t more = (capacity - lines->capacity) * (sizeof *lines->items + sizeof *reading->places);
    reading->crowded = !serve_request_charge(reading->request, more);
    if (reading->crowded) return false;
    struct serve_line *items = realloc(lines->items, capacity * sizeof *items);
    if (items != NULL) lines->items = items;
    struct places *places = realloc(reading->places, capacity * sizeof *places);
    if (places != NULL) reading->places = places;
    if (items == NULL || places == NULL) return false;
    lines->capacity = capacity;
    return true;
}

static bool add_line(struct reading *reading, uint64_t number) {
    struct serve_lines *lines = reading->lines;
    reading->many = lines->count == reading->request->server->settings->max_documents;
    if (reading->many || ((lines->count == lines->capacity || reading->places == NULL) && !grow(reading))) return false;
    reading->line = &lines->items[lines->count];
    reading->place = &reading->places[lines->count++];
    *reading->line =
        (struct serve_line){.document.size = sizeof(nigh_document), .line = number, .offset = NIGH_NO_OFFSET};
    *reading->place = (struct places){.has_id = false};
    return true;
}

static bool is_blank(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (strchr(" \t\r", text[i]) == NULL || text[i] == '\0') return false;
    return true;
}

static bool read_all(struct reading *reading) {
    const char *at = reading->request->body.length == 0 ? "" : reading->request->body.bytes;
    const char *end = at + reading->request->body.length;
    reading->crowded = !serve_request_charge(reading->request, reading->request->body.length); /* for the room */
    if (reading->crowded) return false;
    for (uint64_t number = 1; at < end; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const size_t length = newline == NULL ? (size_t)(end - at) : (size_t)(newline - at);
        if (!is_blank(at, length)) {
            if (!add_line(reading, number)) return false;
            read_line(reading, at, length);
        }
        at += length + (newline != NULL);
    }
    return !reading->lines->room.failed;
}

/* Once the room stays where it is. */
static void set_pointers(struct serve_lines *lines, const struct places *places) {
    const char *room = lines->room.length == 0 ? "" : lines->room.bytes;
    for (size_t i = 0; i < lines->count; i++) {
        nigh_document *document = &lines->items[i].document;
        if (places[i].has_id) document->id = room + places[i].id;
        if (places[i].has_text) document->text = room + places[i].text;
        if (places[i].has_signature) document->signature = (const uint8_t *)room + places[i].signature;
        if (places[i].has_metadata) document->metadata = room + places[i].metadata;
        if (lines->items[i].good) lines->order[lines->good++] = i;
    }
}

static void give_up(const struct reading *reading) {
    const struct serve_problem problem = {
        .status = 413, .type = "too-large", .title = "The body is too large", .offset = NIGH_NO_OFFSET};
    if (reading->many)
        serve_problem(reading->request, &problem, "it has more documents than --max-documents allows");
    else if (reading->crowded)
        serve_problem_crowded(reading->request);
    else
        serve_problem_memory(reading->request);
}

bool serve_lines_read(struct serve_request *request, const struct serve_snapshot *snapshot, struct serve_lines *lines) {
    struct reading reading = {.request = request, .snapshot = snapshot, .lines = lines};
    *lines = (struct serve_lines){.items = NULL};
    reading.json = serve_json_new(request->server->settings->max_depth);
    bool good = reading.json != NULL && read_all(&reading);
    serve_json_free(reading.json);
    lines->order = calloc(lines->count + 1, sizeof *lines->order);
    good = good && lines->order != NULL;
    if (good && reading.places != NULL) set_pointers(lines, reading.places);
    free(reading.places);
    request->items = (uint32_t)lines->count;
    if (!good) {
        give_up(&reading);
        return false;
    }
    if (lines->count > 0) return true;
    serve_problem_field(request, "", "the body has no document: give a JSON object a line");
    return false;
}

void serve_lines_release(struct serve_lines *lines) {
    free(lines->items);
    free(lines->order);
    serve_text_release(&lines->room);
    *lines = (struct serve_lines){.items = NULL};
}

struct serve_line *serve_lines_good(const struct serve_lines *lines, uint64_t number) {
    return number < lines->good ? &lines->items[lines->order[number]] : NULL;
}

/* ----------------------------------------------------------------- source -- */

static nigh_status next_line(void *user, nigh_text *out, nigh_error *error) {
    struct serve_lines_source *source = user;
    (void)error;
    while (source->at < source->lines->count && !source->lines->items[source->at].good) source->at++;
    if (source->at == source->lines->count) return NIGH_END;
    const struct serve_line *line = &source->lines->items[source->at++];
    out->id = line->document.id;
    out->id_length = line->document.id_length;
    out->text = line->document.text;
    out->text_length = line->document.text_length;
    out->line = line->line;
    return NIGH_OK;
}

static nigh_status first_line(void *user, nigh_error *error) {
    struct serve_lines_source *source = user;
    (void)error;
    source->at = 0;
    return NIGH_OK;
}

nigh_source serve_lines_source(struct serve_lines_source *source) {
    nigh_source out;
    nigh_source_init(&out);
    out.user = source;
    out.next = next_line;
    out.rewind = first_line;
    out.documents = source->lines->good;
    return out;
}

/* ---------------------------------------------------------------- answers -- */

void serve_lines_put_bad(struct serve_text *out, const struct serve_line *line) {
    serve_text_format(out, "{\"line\":%" PRIu64 ",\"error\":", line->line);
    serve_text_json_word(out, line->why);
    if (line->offset != NIGH_NO_OFFSET) serve_text_format(out, ",\"offset\":%" PRIu64, line->offset);
    serve_text_put(out, "}\n");
}

void serve_lines_put_id(struct serve_text *out, const struct serve_line *line) {
    serve_text_format(out, "{\"line\":%" PRIu64, line->line);
    if (line->document.id == NULL) return;
    serve_text_put(out, ",\"id\":");
    serve_text_json(out, line->document.id, line->document.id_length);
}
