/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a search request. Every value is checked, and a wrong one is refused with its name. */
#include "ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "route.h"

#define USUAL_K 10u

bool serve_ask_is(const struct serve_request *request) {
    return request->route != NULL && request->route->place == SERVE_ASKING && request->route->answer == NULL;
}

void serve_ask_free(struct serve_ask *ask) {
    if (ask == NULL) return;
    for (uint32_t i = 0; i < ask->count; i++) free(ask->queries[i].row);
    free(ask->queries);
    free(ask->where);
    serve_json_free(ask->json);
    serve_snapshot_give(ask->snapshot);
    free(ask);
}

void serve_problem_json(struct serve_request *request, const char *why, size_t offset) {
    const struct serve_problem problem = {
        .status = 400, .type = "malformed", .title = "The body is not JSON", .offset = offset};
    serve_problem(request, &problem, "at byte %zu of the body: %s", offset, why);
}

void serve_problem_gone(struct serve_request *request) {
    const struct serve_problem problem = {
        .status = 410, .type = "gone", .title = "The collection was deleted", .offset = NIGH_NO_OFFSET};
    serve_problem(request, &problem, "its folder is not there any more");
}

/* ------------------------------------------------------------- signatures -- */

static int digit_of(char c, bool base64) {
    if (c >= '0' && c <= '9') return base64 ? c - '0' + 52 : c - '0';
    if (!base64) {
        c = (char)(c | 0x20);
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    }
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

const char *serve_read_signature(const char *text, size_t length, bool base64, uint32_t width_bits, uint8_t *out) {
    const size_t bytes = nigh_signature_bytes(width_bits);
    const unsigned step = base64 ? 6 : 4;
    uint32_t held = 0;
    unsigned bits = 0;
    size_t used = 0;
    while (base64 && length > 0 && text[length - 1] == '=') length--;
    for (size_t i = 0; i < length; i++) {
        const int digit = digit_of(text[i], base64);
        if (digit < 0) return base64 ? "has characters that are not base64" : "has characters that are not hex digits";
        held = held << step | (uint32_t)digit;
        bits += step;
        if (bits < 8) continue;
        bits -= 8;
        if (used == bytes) return "is longer than the signatures of the collection";
        out[used++] = (uint8_t)(held >> bits);
    }
    if (used < bytes || used == 0 || (!base64 && bits > 0)) return "is shorter than the signatures of the collection";
    if (width_bits % 8 != 0 && out[bytes - 1] >> width_bits % 8 != 0) return "has bits set past the width";
    return NULL;
}

nigh_status serve_find_document(const struct serve_snapshot *snapshot, const char *id, size_t length, uint64_t *number,
                                nigh_error *error) {
    char *plain = NULL;
    nigh_status status = nigh_collection_find(snapshot->collection, id, length, number, error);
    if (status != NIGH_ENOTFOUND || length == 0 || length > NIGH_MAX_ID_LENGTH || memchr(id, '\\', length) == NULL)
        return status;
    nigh_error again;
    plain = malloc(length);
    if (plain != NULL &&
        nigh_collection_find(snapshot->collection, plain, nigh_unescape(id, length, plain), number, &again) == NIGH_OK)
        status = NIGH_OK;
    free(plain);
    return status;
}

/* ---------------------------------------------------------------- reading -- */

/* What is being read: a query, or the whole. */
struct reading {
    struct serve_request *request;
    struct serve_ask *ask;
    char place[64]; /* a JSON pointer to the object, "" for the whole */
    bool asked;     /* it says what for */
    bool several;   /* "queries" was there */
    bool k_given;
    bool good;
};

static bool refuse(struct reading *reading, const char *key, const char *why) {
    char field[128];
    (void)snprintf(field, sizeof field, "%s/%s", reading->place, key);
    serve_problem_field(reading->request, field, "%s %s", field, why);
    reading->good = false;
    return false;
}

static struct serve_query *add_query(struct reading *reading, const char *key) {
    struct serve_ask *ask = reading->ask;
    if (reading->asked) {
        (void)refuse(reading, key, "is given beside another query; give one, or \"queries\"");
        return NULL;
    }
    if (ask->count == reading->request->server->settings->max_queries) {
        (void)refuse(reading, key, "is one query more than --max-queries allows");
        return NULL;
    }
    if (ask->count == ask->capacity) {
        const uint32_t capacity = ask->capacity == 0 ? 1 : 2 * ask->capacity;
        struct serve_query *moved = realloc(ask->queries, capacity * sizeof *moved);
        if (moved == NULL) {
            serve_problem_memory(reading->request);
            reading->good = false;
            return NULL;
        }
        ask->queries = moved;
        ask->capacity = capacity;
    }
    reading->asked = true;
    struct serve_query *query = &ask->queries[ask->count++];
    *query = (struct serve_query){.number = NIGH_ALL_64};
    return query;
}

static bool take_text(struct reading *reading, struct serve_value value) {
    const char *text = NULL;
    size_t length = 0;
    if (!serve_json_string(value, &text, &length)) return refuse(reading, "text", "must be a string");
    if (!reading->ask->snapshot->texts)
        return refuse(reading, "text",
                      "cannot be asked: this collection holds signatures; give \"signature\" or \"id\"");
    struct serve_query *query = add_query(reading, "text");
    if (query == NULL) return false;
    query->kind = SERVE_QUERY_TEXT;
    query->text = text;
    query->text_length = length;
    return true;
}

/* Room for a signature, its mask and its weights. */
static bool give_room(struct reading *reading, struct serve_query *query) {
    const uint32_t bits = reading->ask->snapshot->info.width_bits;
    query->kind = SERVE_QUERY_ROW;
    query->row = malloc(2 * nigh_signature_bytes(bits) + bits);
    if (query->row != NULL) return true;
    serve_problem_memory(reading->request);
    reading->good = false;
    return false;
}

static bool take_signature(struct reading *reading, const char *key, bool base64, struct serve_value value) {
    const char *text = NULL;
    size_t length = 0;
    if (!serve_json_string(value, &text, &length)) return refuse(reading, key, "must be a string");
    struct serve_query *query = add_query(reading, key);
    if (query == NULL || !give_room(reading, query)) return false;
    const uint32_t bits = reading->ask->snapshot->info.width_bits;
    const char *why = serve_read_signature(text, length, base64, bits, query->row);
    if (why == NULL) return true;
    char sentence[160];
    (void)snprintf(sentence, sizeof sentence, "%s, which are of %u bits", why, bits);
    return refuse(reading, key, sentence);
}

/* As a text would ask, where the collection keeps what it knows of the bits of its documents. */
static nigh_status load_stored(const struct serve_snapshot *snapshot, struct serve_query *query, nigh_error *error) {
    const size_t bytes = nigh_signature_bytes(snapshot->info.width_bits);
    uint8_t *mask = query->row + bytes, *weights = mask + bytes;
    nigh_status status = nigh_collection_signature(snapshot->collection, query->number, query->row, error);
    if (status != NIGH_OK || snapshot->signer == NULL || !snapshot->info.has_weights) return status;
    status = nigh_collection_weights(snapshot->collection, query->number, weights, error);
    if (status != NIGH_OK) return status;
    memset(mask, 0xff, bytes);
    (void)nigh_signer_mask(snapshot->signer, weights, mask);
    for (uint32_t i = 0; i < snapshot->info.width_bits; i++)
        if (weights[i] != 0) query->kind = SERVE_QUERY_WEIGHTED;
    return NIGH_OK;
}

static bool take_id(struct reading *reading, struct serve_value value) {
    const char *id = NULL;
    size_t length = 0;
    nigh_error error;
    if (!serve_json_string(value, &id, &length)) return refuse(reading, "id", "must be a string");
    struct serve_query *query = add_query(reading, "id");
    if (query == NULL || !give_room(reading, query)) return false;
    nigh_status status = serve_find_document(reading->ask->snapshot, id, length, &query->number, &error);
    if (status == NIGH_ENOTFOUND) return refuse(reading, "id", "is not there: no document has this id");
    if (status == NIGH_OK) status = load_stored(reading->ask->snapshot, query, &error);
    if (status == NIGH_OK) return true;
    serve_problem_error(reading->request, &error);
    reading->good = false;
    return false;
}

static bool take_number(struct reading *reading, const char *key, struct serve_value value, uint64_t least,
                        uint64_t most, uint32_t *out) {
    uint64_t number = 0;
    char why[96];
    (void)snprintf(why, sizeof why, "must be a whole number from %llu to %llu", (unsigned long long)least,
                   (unsigned long long)most);
    if (!serve_json_count(value, &number) || number < least || number > most) return refuse(reading, key, why);
    *out = (uint32_t)number;
    return true;
}

static bool take_flag(struct reading *reading, const char *key, struct serve_value value, bool *out) {
    return serve_json_boolean(value, out) || refuse(reading, key, "must be true or false");
}

static bool is_key(const char *key, size_t length, const char *name) {
    return key != NULL && strlen(name) == length && memcmp(key, name, length) == 0;
}

/* A member that says what for; false with reading->good still true: it is none of these. */
static bool take_question(struct reading *reading, const char *key, size_t length, struct serve_value value) {
    if (is_key(key, length, "text")) return take_text(reading, value);
    if (is_key(key, length, "id")) return take_id(reading, value);
    if (is_key(key, length, "signature")) return take_signature(reading, "signature", false, value);
    if (is_key(key, length, "signature_base64")) return take_signature(reading, "signature_base64", true, value);
    return false;
}

static bool unknown_key(struct reading *reading, const char *key, size_t length) {
    char name[48];
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < 40 ? length : 40), key);
    return refuse(reading, name, "is not known here");
}

static bool take_query_member(void *user, const char *key, size_t length, struct serve_value value) {
    struct reading *reading = user;
    return take_question(reading, key, length, value) || (reading->good && unknown_key(reading, key, length));
}

static bool take_query(void *user, const char *key, size_t length, struct serve_value value) {
    struct reading *whole = user;
    struct reading reading = {.request = whole->request, .ask = whole->ask, .good = true};
    (void)key;
    (void)length;
    (void)snprintf(reading.place, sizeof reading.place, "/queries/%u", whole->ask->count);
    if (serve_json_kind(value) != SERVE_JSON_OBJECT) {
        serve_problem_field(reading.request, reading.place, "%s must be an object", reading.place);
        reading.good = false;
    } else {
        serve_json_each(value, take_query_member, &reading);
    }
    if (reading.good && !reading.asked) (void)refuse(&reading, "text", "is missing; give it, \"id\" or \"signature\"");
    whole->good = reading.good;
    return reading.good;
}

static bool take_queries(struct reading *reading, struct serve_value value) {
    if (serve_json_kind(value) != SERVE_JSON_ARRAY) return refuse(reading, "queries", "must be an array");
    if (reading->asked) return refuse(reading, "queries", "stands beside another query");
    reading->asked = reading->several = true;
    serve_json_each(value, take_query, reading);
    return reading->good;
}

static bool take_where(struct reading *reading, struct serve_value value) {
    struct serve_ask *ask = reading->ask;
    const char *text = NULL;
    size_t length = 0;
    if (!serve_json_string(value, &text, &length)) return refuse(reading, "where", "must be a string");
    if (ask->where != NULL) return refuse(reading, "where", "is there twice");
    if (memchr(text, '\0', length) != NULL) return refuse(reading, "where", "has a character U+0000");
    ask->where = malloc(length + 1);
    if (ask->where == NULL) {
        serve_problem_memory(reading->request);
        reading->good = false;
        return false;
    }
    memcpy(ask->where, text, length);
    ask->where[length] = '\0';
    return true;
}

static bool take_option(struct reading *reading, const char *key, size_t length, struct serve_value value) {
    struct serve_ask *ask = reading->ask;
    const struct serve_settings *settings = reading->request->server->settings;
    if (is_key(key, length, "k")) {
        reading->k_given = true;
        return take_number(reading, "k", value, 1, settings->max_matches, &ask->k);
    }
    if (is_key(key, length, "radius"))
        return take_number(reading, "radius", value, 0, ask->snapshot->info.width_bits, &ask->radius);
    if (is_key(key, length, "exact")) return take_flag(reading, "exact", value, &ask->exact);
    if (is_key(key, length, "where")) return take_where(reading, value);
    if (is_key(key, length, "texts")) return take_flag(reading, "texts", value, &ask->texts);
    return unknown_key(reading, key, length);
}

static bool take_member(void *user, const char *key, size_t length, struct serve_value value) {
    struct reading *reading = user;
    if (is_key(key, length, "queries")) return take_queries(reading, value);
    if (take_question(reading, key, length, value)) return true;
    return reading->good && take_option(reading, key, length, value);
}

static bool read_body(struct reading *reading) {
    struct serve_request *request = reading->request;
    struct serve_ask *ask = reading->ask;
    struct serve_value root;
    size_t offset = 0;
    const char *why = serve_json_parse(ask->json, request->body.bytes, request->body.length, &root, &offset);
    if (why != NULL) {
        serve_problem_json(request, why, offset);
        return false;
    }
    if (serve_json_kind(root) != SERVE_JSON_OBJECT) {
        serve_problem_field(request, "", "the body must be an object, not %s",
                            serve_json_kind_name(serve_json_kind(root)));
        return false;
    }
    serve_json_each(root, take_member, reading);
    if (reading->good && !reading->asked)
        return refuse(reading, "text", "is missing; give it, \"id\", \"signature\" or \"queries\"");
    if (!reading->k_given && ask->radius != NIGH_ALL) ask->k = request->server->settings->max_matches;
    return reading->good;
}

bool serve_ask_read(struct serve_request *request) {
    struct serve_ask *ask = calloc(1, sizeof *ask);
    struct reading reading = {.request = request, .ask = ask, .good = true};
    request->ask = ask;
    if (ask != NULL) ask->json = serve_json_new(request->server->settings->max_depth);
    if (ask == NULL || ask->json == NULL) {
        serve_problem_memory(request);
        return false;
    }
    ask->k = USUAL_K;
    ask->radius = NIGH_ALL;
    ask->snapshot = serve_snapshot_take(request->book);
    if (ask->snapshot == NULL) {
        serve_problem_gone(request);
        return false;
    }
    const bool good = read_body(&reading);
    request->items = ask->count;
    return good;
}
