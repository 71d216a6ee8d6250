/* SPDX-License-Identifier: Apache-2.0 */
#include "base/keep_keys.h"

#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "base/key_lines.h"
#include "base/status.h"

#define MAX_KEY 100u
#define MAX_LINE (MAX_KEY + 16u)

struct line_name {
    char text[16]; /* "keep-key.16=" */
};

static struct line_name line_name(uint32_t index) {
    struct line_name name;
    if (index == 0)
        (void)snprintf(name.text, sizeof name.text, NIGH__KEEP_KEY "=");
    else
        (void)snprintf(name.text, sizeof name.text, NIGH__KEEP_KEY ".%u=", index + 1);
    return name;
}

static nigh_status key_check(const char *const *keys, size_t index, nigh_error *error) {
    const char *key = keys == NULL ? NULL : keys[index];
    if (key == NULL || key[0] == '\0') return nigh__fail(error, NIGH_EINVAL, "an empty key to keep");
    if (strlen(key) > MAX_KEY)
        return nigh__fail(error, NIGH_EINVAL, "a key to keep has %zu bytes; %u are allowed", strlen(key), MAX_KEY);
    for (const char *at = key; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20)
            return nigh__fail(error, NIGH_EINVAL, "a key to keep has a control character: '%s'",
                              nigh__shown(key, strlen(key)).text);
    for (size_t i = 0; i < index; i++)
        if (strcmp(keys[i], key) == 0) return nigh__fail(error, NIGH_EINVAL, "the key '%s' is to be kept twice", key);
    return NIGH_OK;
}

nigh_status nigh__keep_keys_lines(const nigh_context *context, const char *const *keys, size_t count, char **out,
                                  nigh_error *error) {
    *out = NULL;
    if (count > NIGH_MAX_KEEP_KEYS)
        return nigh__fail(error, NIGH_EINVAL, "%zu keys to keep; %u are allowed", count, NIGH_MAX_KEEP_KEYS);
    for (size_t i = 0; i < count; i++) {
        const nigh_status status = key_check(keys, i, error);
        if (status != NIGH_OK) return status;
    }
    if (count == 0) return NIGH_OK;
    char *lines = nigh__alloc_zero(context, count, MAX_LINE);
    if (lines == NULL) return nigh__no_memory(error, "for the keys to keep");
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(lines + used, MAX_LINE, "%s%s\n", line_name(i).text, keys[i]);
    *out = lines;
    return NIGH_OK;
}

uint32_t nigh__keep_keys_count(const char *scheme) {
    uint32_t count = 0;
    while (count < NIGH_MAX_KEEP_KEYS && nigh__key_lines_find(scheme, line_name(count).text) != NULL) count++;
    return count;
}

const char *nigh__keep_keys_name(const char *scheme, uint32_t index, size_t *length) {
    const char *value = nigh__key_lines_find(scheme, line_name(index).text);
    if (value == NULL) value = "";
    *length = strcspn(value, "\n");
    return value;
}

uint32_t nigh__keep_keys_find(const char *scheme, const char *name, size_t length) {
    const uint32_t count = nigh__keep_keys_count(scheme);
    for (uint32_t i = 0; i < count; i++) {
        size_t its = 0;
        const char *key = nigh__keep_keys_name(scheme, i, &its);
        if (its == length && memcmp(key, name, length) == 0) return i;
    }
    return count;
}

bool nigh__keep_keys_are(const char *scheme, const char *const *keys, size_t count) {
    if (count != nigh__keep_keys_count(scheme)) return false;
    for (uint32_t i = 0; i < count; i++)
        if (nigh__keep_keys_find(scheme, keys[i], strlen(keys[i])) != i) return false;
    return true;
}

bool nigh__keep_keys_same(const char *a, const char *b) {
    const uint32_t count = nigh__keep_keys_count(a);
    if (count != nigh__keep_keys_count(b)) return false;
    for (uint32_t i = 0; i < count; i++) {
        size_t length = 0;
        const char *key = nigh__keep_keys_name(a, i, &length);
        if (nigh__keep_keys_find(b, key, length) != i) return false;
    }
    return true;
}

struct nigh__keys_shown nigh__keep_keys_shown(const char *scheme) {
    struct nigh__keys_shown shown = {.text = "none"};
    const uint32_t count = nigh__keep_keys_count(scheme);
    size_t used = 0;
    for (uint32_t i = 0; i < count && used < sizeof shown.text - 1; i++) {
        size_t length = 0;
        const char *key = nigh__keep_keys_name(scheme, i, &length);
        const int added =
            snprintf(shown.text + used, sizeof shown.text - used, "%s%.*s", i == 0 ? "" : ", ", (int)length, key);
        used += (size_t)added;
    }
    return shown;
}

nigh_status nigh__keep_keys_fit(const nigh_context *context, const char *path, const char *scheme,
                                const char *const *keys, size_t count, nigh_error *error) {
    char *given = NULL;
    nigh_status status = nigh__keep_keys_lines(context, keys, count, &given, error);
    if (status == NIGH_OK && count > 0 && !nigh__keep_keys_are(scheme, keys, count))
        status = nigh__fail_at(error, NIGH_EMISMATCH, path, NIGH_NO_OFFSET, "it keeps the keys %s, and not %s",
                               nigh__keep_keys_shown(scheme).text, nigh__keep_keys_shown(given).text);
    nigh__free(context, given);
    return status;
}
