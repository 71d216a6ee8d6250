/* SPDX-License-Identifier: Apache-2.0 */
#include "request.h"

#include <string.h>

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t serve_percent_decode(char *text, size_t length) {
    size_t out = 0;
    for (size_t i = 0; i < length; i++) {
        const int high = text[i] == '%' && length - i > 2 ? hex_value(text[i + 1]) : -1;
        const int low = high >= 0 ? hex_value(text[i + 2]) : -1;
        if (low >= 0) {
            text[out++] = (char)(high << 4 | low);
            i += 2;
        } else {
            text[out++] = text[i];
        }
    }
    return out;
}

/* Where the value of NAME begins; NULL: it is not there. */
static const char *find_parameter(const struct serve_request *request, const char *name, size_t *length) {
    const size_t name_length = strlen(name);
    const char *at = request->query;
    while (at != NULL && *at != '\0') {
        const size_t whole = strcspn(at, "&");
        const size_t key = strcspn(at, "=&");
        if (key == name_length && memcmp(at, name, key) == 0) {
            *length = whole > key ? whole - key - 1 : 0;
            return whole > key ? at + key + 1 : at + key;
        }
        at += whole + (at[whole] == '&' ? 1 : 0);
    }
    return NULL;
}

bool serve_request_value(const struct serve_request *request, const char *name, char *out, size_t capacity) {
    size_t length = 0;
    const char *found = find_parameter(request, name, &length);
    if (found == NULL) return false;
    if (length >= capacity) length = capacity - 1;
    memcpy(out, found, length);
    out[serve_percent_decode(out, length)] = '\0';
    return true;
}

bool serve_request_flag(const struct serve_request *request, const char *name) {
    char value[8];
    if (!serve_request_value(request, name, value, sizeof value)) return false;
    return value[0] == '\0' || strcmp(value, "1") == 0 || strcmp(value, "true") == 0;
}
