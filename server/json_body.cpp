/* SPDX-License-Identifier: Apache-2.0 */
/* The C face of simdjson here; json_body.h tells why.  Error codes only: nothing throws. */
#define SIMDJSON_EXCEPTIONS 0
#include "json_body.h"

#include <cstring>
#include <new>
#include <simdjson.h>
#include <type_traits>

#include "json_place.h"

extern "C" {
#include "text_out.h"
}

using simdjson::dom::element;

static_assert(sizeof(element) == sizeof(serve_value) && std::is_trivially_copyable<element>::value,
              "a place in a document is two words");

struct serve_json {
    simdjson::dom::parser parser;
    uint32_t max_depth;
};

static element element_of(serve_value value) {
    element found;
    std::memcpy(static_cast<void *>(&found), &value, sizeof found);
    return found;
}

static serve_value value_of(const element &found) {
    serve_value value;
    std::memcpy(&value, static_cast<const void *>(&found), sizeof value);
    return value;
}

struct serve_json *serve_json_new(uint32_t max_depth) {
    serve_json *json = new (std::nothrow) serve_json;
    if (json != nullptr) json->max_depth = max_depth;
    return json;
}

void serve_json_free(struct serve_json *json) { delete json; }

static const char *reason(simdjson::error_code code) {
    switch (code) {
    case simdjson::CAPACITY:
    case simdjson::MEMALLOC:
        return "there is no memory to read it";
    case simdjson::DEPTH_ERROR:
        return "it is nested too deeply";
    case simdjson::UTF8_ERROR:
        return "it is not UTF-8";
    case simdjson::EMPTY:
        return "it is empty";
    case simdjson::UNCLOSED_STRING:
        return "a string has no end";
    case simdjson::NUMBER_ERROR:
        return "a number is malformed, or does not fit 64 bits";
    default:
        return "it is malformed";
    }
}

/* simdjson looks at all bytes at once; the first half of what is wrong is found by halving. */
static size_t place_of(const char *text, size_t length, simdjson::error_code code) {
    if (code != simdjson::UTF8_ERROR) return serve_json_place(text, length);
    size_t good = 0, bad = length;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        size_t end = middle;
        while (end > good && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) end--;
        if (end == good) break;
        if (simdjson::validate_utf8(text + good, end - good))
            good = end;
        else
            bad = end;
    }
    return good;
}

const char *serve_json_parse(struct serve_json *json, const char *text, size_t length, struct serve_value *root,
                             size_t *offset) {
    element found;
    *offset = 0;
    if (length == 0) return reason(simdjson::EMPTY); /* simdjson would copy from nowhere */
    simdjson::error_code code = json->parser.allocate(length < 64 ? 64 : length, json->max_depth);
    if (code == simdjson::SUCCESS) code = json->parser.parse(text, length, true).get(found);
    if (code != simdjson::SUCCESS) {
        *offset = place_of(text, length, code);
        return reason(code);
    }
    *root = value_of(found);
    return nullptr;
}

enum serve_json_kind serve_json_kind(struct serve_value value) {
    switch (element_of(value).type()) {
    case simdjson::dom::element_type::ARRAY:
        return SERVE_JSON_ARRAY;
    case simdjson::dom::element_type::OBJECT:
        return SERVE_JSON_OBJECT;
    case simdjson::dom::element_type::STRING:
        return SERVE_JSON_STRING;
    case simdjson::dom::element_type::BOOL:
        return SERVE_JSON_BOOLEAN;
    case simdjson::dom::element_type::NULL_VALUE:
        return SERVE_JSON_NULL;
    default:
        return SERVE_JSON_NUMBER;
    }
}

const char *serve_json_kind_name(enum serve_json_kind kind) {
    static const char *const names[] = {"null", "a boolean", "a number", "a string", "an array", "an object"};
    return names[kind];
}

bool serve_json_string(struct serve_value value, const char **text, size_t *length) {
    std::string_view found;
    if (element_of(value).get(found) != simdjson::SUCCESS) return false;
    *text = found.data();
    *length = found.size();
    return true;
}

bool serve_json_count(struct serve_value value, uint64_t *out) {
    return element_of(value).get(*out) == simdjson::SUCCESS;
}

bool serve_json_real(struct serve_value value, double *out) { return element_of(value).get(*out) == simdjson::SUCCESS; }

bool serve_json_boolean(struct serve_value value, bool *out) {
    return element_of(value).get(*out) == simdjson::SUCCESS;
}

void serve_json_each(struct serve_value value,
                     bool (*each)(void *user, const char *key, size_t length, struct serve_value value), void *user) {
    simdjson::dom::object object;
    simdjson::dom::array array;
    if (element_of(value).get(object) == simdjson::SUCCESS) {
        for (simdjson::dom::key_value_pair field : object)
            if (!each(user, field.key.data(), field.key.size(), value_of(field.value))) return;
    } else if (element_of(value).get(array) == simdjson::SUCCESS) {
        for (element item : array)
            if (!each(user, nullptr, 0, value_of(item))) return;
    }
}

size_t serve_json_size(struct serve_value value) {
    size_t size = 0;
    serve_json_each(
        value,
        [](void *user, const char *, size_t, struct serve_value) {
            ++*static_cast<size_t *>(user);
            return true;
        },
        &size);
    return size;
}

bool serve_json_member(struct serve_value value, const char *key, struct serve_value *out) {
    simdjson::dom::object object;
    bool found = false;
    if (element_of(value).get(object) != simdjson::SUCCESS) return false;
    for (simdjson::dom::key_value_pair field : object) {
        if (field.key != key) continue;
        *out = value_of(field.value);
        found = true;
    }
    return found;
}

namespace {
struct writing {
    serve_text *out;
    bool first;
};

bool write_one(void *user, const char *key, size_t length, struct serve_value value) {
    writing *state = static_cast<writing *>(user);
    if (!state->first) serve_text_put(state->out, ",");
    state->first = false;
    if (key != nullptr) {
        serve_text_json(state->out, key, length);
        serve_text_put(state->out, ":");
    }
    serve_json_write(value, state->out);
    return true;
}
} // namespace

/* Depth is bounded by that of the parser. */
void serve_json_write(struct serve_value value, struct serve_text *out) {
    const element found = element_of(value);
    const enum serve_json_kind kind = serve_json_kind(value);
    std::string_view text;
    writing state = {out, true};
    int64_t whole;
    uint64_t large;
    double real;
    bool truth;
    if (kind == SERVE_JSON_OBJECT || kind == SERVE_JSON_ARRAY) {
        serve_text_put(out, kind == SERVE_JSON_OBJECT ? "{" : "[");
        serve_json_each(value, write_one, &state);
        serve_text_put(out, kind == SERVE_JSON_OBJECT ? "}" : "]");
    } else if (found.get(text) == simdjson::SUCCESS) {
        serve_text_json(out, text.data(), text.size());
    } else if (found.get(truth) == simdjson::SUCCESS) {
        serve_text_put(out, truth ? "true" : "false");
    } else if (found.get(whole) == simdjson::SUCCESS) {
        serve_text_format(out, "%lld", static_cast<long long>(whole));
    } else if (found.get(large) == simdjson::SUCCESS) {
        serve_text_format(out, "%llu", static_cast<unsigned long long>(large));
    } else if (found.get(real) == simdjson::SUCCESS) {
        serve_text_format(out, "%.17g", real);
    } else {
        serve_text_put(out, "null");
    }
}

bool serve_json_is_utf8(const char *bytes, size_t length) { return simdjson::validate_utf8(bytes, length); }
