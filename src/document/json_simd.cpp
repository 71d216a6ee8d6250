/* SPDX-License-Identifier: Apache-2.0 */
/* The C face of simdjson; json.h tells why.  Error codes only: nothing here throws. */
#define SIMDJSON_EXCEPTIONS 0
#include "document/json.h"

#include <cfloat>
#include <cstring>
#include <new>

#include <simdjson.h>

using simdjson::dom::element;
using simdjson::dom::element_type;

namespace {

constexpr size_t kept_capacity = size_t{4} << 20;
constexpr size_t least_capacity = size_t{64} << 10;
constexpr uint32_t deepest = 1000 * 1000;

/* Powers of two, so that lines that grow slowly do not ask for memory each time. */
size_t capacity_for(size_t length) noexcept {
    size_t capacity = least_capacity;
    while (capacity < length && capacity < kept_capacity) capacity *= 2;
    return capacity < length ? length : capacity;
}

const char *reason(simdjson::error_code code) noexcept {
    switch (code) {
    case simdjson::UTF8_ERROR:
        return "not JSON: bytes that are not UTF-8";
    case simdjson::STRING_ERROR:
        return "not JSON: a string with a bad escape";
    case simdjson::UNCLOSED_STRING:
        return "not JSON: a string without its end";
    case simdjson::UNESCAPED_CHARS:
        return "not JSON: a control character in a string";
    case simdjson::NUMBER_ERROR:
        return "not JSON: a malformed number";
    case simdjson::T_ATOM_ERROR:
    case simdjson::F_ATOM_ERROR:
    case simdjson::N_ATOM_ERROR:
        return "not JSON: neither true nor false nor null";
    case simdjson::EMPTY:
        return "not JSON: nothing there";
    default:
        return "not JSON: braces, brackets, commas or colons out of place";
    }
}

enum nigh__json_result result_of(simdjson::error_code code) noexcept {
    switch (code) {
    case simdjson::SUCCESS:
        return NIGH__JSON_OK;
    case simdjson::NUMBER_ERROR:
        return NIGH__JSON_NUMBER;
    case simdjson::DEPTH_ERROR:
        return NIGH__JSON_DEPTH;
    case simdjson::CAPACITY:
        return NIGH__JSON_LENGTH;
    case simdjson::MEMALLOC:
        return NIGH__JSON_MEMORY;
    default:
        return NIGH__JSON_BAD;
    }
}

/* at_key() would give the first of equal keys. */
bool find_last(simdjson::dom::object object, std::string_view key, element *out) noexcept {
    bool found = false;
    for (simdjson::dom::key_value_pair field : object) {
        if (field.key != key) continue;
        *out = field.value;
        found = true;
    }
    return found;
}

bool find(element at, const char *path, element *out) noexcept {
    for (;;) {
        simdjson::dom::object object;
        if (at.get(object) != simdjson::SUCCESS) return false;
        if (find_last(object, path, out)) return true;
        const char *dot = std::strchr(path, '.');
        if (dot == nullptr) return false;
        if (!find_last(object, std::string_view(path, static_cast<size_t>(dot - path)), &at)) return false;
        path = dot + 1;
    }
}

void describe_strings(simdjson::dom::array array, struct nigh__json_value *out) noexcept {
    out->type = NIGH__JSON_STRINGS;
    for (element item : array) {
        std::string_view text;
        if (item.get(text) != simdjson::SUCCESS) {
            out->type = NIGH__JSON_OTHER;
            return;
        }
        out->length += text.size() + 1;
    }
}

/* A value by itself; false: it is none of these. */
bool describe_scalar(element found, struct nigh__json_value *out) noexcept {
    std::string_view text;
    int64_t number = 0;
    if (found.get(text) == simdjson::SUCCESS) {
        out->type = NIGH__JSON_STRING;
        out->text = text.data();
        out->length = text.size();
    } else if (found.type() == element_type::UINT64 && found.get(out->magnitude) == simdjson::SUCCESS) {
        out->type = NIGH__JSON_INTEGER;
    } else if (found.type() == element_type::INT64 && found.get(number) == simdjson::SUCCESS) {
        out->type = NIGH__JSON_INTEGER;
        out->negative = number < 0;
        out->magnitude = number < 0 ? uint64_t{0} - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
    } else if (found.type() == element_type::DOUBLE && found.get(out->number) == simdjson::SUCCESS) {
        out->type = NIGH__JSON_REAL;
    } else {
        return false;
    }
    if (out->type == NIGH__JSON_INTEGER)
        out->number = out->negative ? -static_cast<double>(out->magnitude) : static_cast<double>(out->magnitude);
    return true;
}

bool visit_one(element found, bool (*visit)(void *, const struct nigh__json_value *), void *user) noexcept {
    struct nigh__json_value value {};
    value.type = NIGH__JSON_OTHER;
    if (found.is_null())
        value.type = NIGH__JSON_NULL;
    else if (found.get(value.truth) == simdjson::SUCCESS)
        value.type = NIGH__JSON_BOOLEAN;
    else
        (void)describe_scalar(found, &value);
    return visit(user, &value);
}

} // namespace

struct nigh__json {
    simdjson::dom::parser parser;
    element root;
    uint32_t max_depth;
    bool parsed;
};

struct nigh__json *nigh__json_new(uint32_t max_depth) {
    struct nigh__json *json = new (std::nothrow) nigh__json();
    if (json != nullptr) json->max_depth = max_depth > deepest ? deepest : max_depth;
    return json;
}

void nigh__json_free(struct nigh__json *json) { delete json; }

enum nigh__json_result nigh__json_parse(struct nigh__json *json, const char *line, size_t length, const char **why) {
    json->parsed = false;
    *why = "";
    size_t capacity = capacity_for(length);
    bool too_large = json->parser.capacity() > kept_capacity && capacity <= kept_capacity;
    if (too_large) json->parser = simdjson::dom::parser();
    if (json->parser.capacity() < length) {
        if (length > simdjson::SIMDJSON_MAXSIZE_BYTES) return NIGH__JSON_LENGTH;
        json->parser = simdjson::dom::parser(); /* the old memory goes before the new comes */
        simdjson::error_code code = json->parser.allocate(capacity, json->max_depth);
        if (code != simdjson::SUCCESS) return result_of(code);
    }
    simdjson::error_code code = json->parser.parse(line, length, false).get(json->root);
    json->parsed = code == simdjson::SUCCESS;
    if (code != simdjson::SUCCESS) *why = reason(code);
    return result_of(code);
}

void nigh__json_find(const struct nigh__json *json, const char *path, struct nigh__json_value *out) {
    *out = nigh__json_value{};
    element found;
    if (!json->parsed || !find(json->root, path, &found)) return;
    out->type = NIGH__JSON_OTHER;
    simdjson::dom::array array;
    if (found.get(array) == simdjson::SUCCESS)
        describe_strings(array, out);
    else if (found.get(out->truth) == simdjson::SUCCESS)
        out->type = NIGH__JSON_BOOLEAN;
    else
        (void)describe_scalar(found, out);
}

void nigh__json_visit(const struct nigh__json *json, const char *path,
                      bool (*visit)(void *user, const struct nigh__json_value *value), void *user) {
    element found;
    simdjson::dom::array array;
    if (!json->parsed || !find(json->root, path, &found)) return;
    if (found.get(array) != simdjson::SUCCESS) {
        (void)visit_one(found, visit, user);
        return;
    }
    for (element item : array)
        if (!visit_one(item, visit, user)) return;
}

void nigh__json_keys(const struct nigh__json *json,
                     void (*visit)(void *user, const char *key, size_t length, size_t text_length), void *user) {
    simdjson::dom::object object;
    if (!json->parsed || json->root.get(object) != simdjson::SUCCESS) return;
    for (simdjson::dom::key_value_pair field : object) {
        std::string_view text;
        const bool is_text = field.value.get(text) == simdjson::SUCCESS;
        visit(user, field.key.data(), field.key.size(), is_text ? text.size() : 0);
    }
}

/* An integer is made a real: of those there is one near any number, and what is refused is beyond them all. */
bool nigh__json_number(const char *text, size_t length, double *out) {
    constexpr size_t most = 4096; /* more digits say nothing, and nobody writes them */
    char copy[most + simdjson::SIMDJSON_PADDING] = {};
    if (length == 0 || length + 2 > most) return false;
    std::memcpy(copy, text, length);
    if (std::strpbrk(copy, ".eE") == nullptr) std::memcpy(copy + length, "e0", 2), length += 2;
    simdjson::dom::parser parser;
    simdjson::error_code code = parser.parse(copy, length, false).get(*out);
    if (code == simdjson::NUMBER_ERROR) *out = text[0] == '-' ? -DBL_MAX : DBL_MAX;
    return code == simdjson::SUCCESS || code == simdjson::NUMBER_ERROR;
}

void nigh__json_copy_strings(const struct nigh__json *json, const char *path, char *out) {
    element found;
    simdjson::dom::array array;
    if (!json->parsed || !find(json->root, path, &found) || found.get(array) != simdjson::SUCCESS) return;
    for (element item : array) {
        std::string_view text;
        if (item.get(text) != simdjson::SUCCESS) return;
        std::memcpy(out, text.data(), text.size());
        out[text.size()] = '\n';
        out += text.size() + 1;
    }
}

bool nigh__utf8_check(const char *bytes, size_t length) { return simdjson::validate_utf8(bytes, length); }
