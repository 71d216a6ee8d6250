/* SPDX-License-Identifier: Apache-2.0 */
#include "base/key_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/status.h"

#define MAX_LINES 256

static size_t key_length(const char *line) { return strcspn(line, "=\n"); }

static int by_key(const void *a, const void *b) {
    const char *x = *(const char *const *)a;
    const char *y = *(const char *const *)b;
    size_t shorter = key_length(x) < key_length(y) ? key_length(x) : key_length(y);
    int order = strncmp(x, y, shorter);
    if (order != 0) return order;
    return (key_length(x) > key_length(y)) - (key_length(x) < key_length(y));
}

static bool line_sound(const char *line) {
    size_t key = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789.-");
    if (key == 0 || line[key] != '=') return false;
    const char *at = line + key + 1;
    while ((unsigned char)*at >= ' ') at++;
    return *at == '\n';
}

/* Cuts a text into line starts; false where a line is malformed or there are too many. */
static bool collect_lines(const char *text, const char **starts, size_t *count) {
    while (*text != '\0') {
        if (*count == MAX_LINES || !line_sound(text)) return false;
        starts[(*count)++] = text;
        text += strcspn(text, "\n") + 1;
    }
    return true;
}

static bool keys_ascend(const char **starts, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (by_key(&starts[i - 1], &starts[i]) >= 0) return false;
    return true;
}

bool nigh__key_lines_sound(const char *text, const char *needed) {
    const char *starts[MAX_LINES];
    size_t count = 0;
    if (!collect_lines(text, starts, &count) || !keys_ascend(starts, count)) return false;
    bool found = needed == NULL;
    for (size_t i = 0; i < count && !found; i++) found = strncmp(starts[i], needed, strlen(needed)) == 0;
    return found;
}

nigh_status nigh__key_lines_merge(const nigh_context *context, const char *a, const char *b, size_t most,
                                  const char *what, char **out, nigh_error *error) {
    *out = NULL;
    const char *starts[MAX_LINES];
    size_t count = 0;
    const size_t length = strlen(a) + strlen(b);
    if (length > most || !collect_lines(a, starts, &count) || !collect_lines(b, starts, &count))
        return nigh__fail(error, NIGH_EINVAL, "%s is not made of lines 'key=value'", what);
    if (count > 0) qsort(starts, count, sizeof starts[0], by_key);
    if (!keys_ascend(starts, count)) return nigh__fail(error, NIGH_EINVAL, "%s has a key twice", what);

    char *text = nigh__alloc(context, length + 1, 1);
    if (text == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for the lines of %s", what);
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        size_t line = strcspn(starts[i], "\n") + 1;
        memcpy(text + used, starts[i], line);
        used += line;
    }
    text[used] = '\0';
    *out = text;
    return NIGH_OK;
}

bool nigh__key_line_cut(const char *line, char *key, size_t key_size, char *value, size_t value_size) {
    size_t length = strcspn(line, "\n");
    size_t at = strcspn(line, "=");
    if (at >= length || at >= key_size || length - at - 1 >= value_size) return false;
    memcpy(key, line, at);
    key[at] = '\0';
    memcpy(value, line + at + 1, length - at - 1);
    value[length - at - 1] = '\0';
    return true;
}

const char *nigh__key_lines_find(const char *text, const char *key) {
    for (const char *line = text; *line != '\0'; line += *line == '\n') {
        if (strncmp(line, key, strlen(key)) == 0) return line + strlen(key);
        line += strcspn(line, "\n");
    }
    return NULL;
}

bool nigh__key_value_number(const char *value, uint64_t most, uint64_t *out) {
    uint64_t number = 0;
    if (*value == '\0') return false;
    for (; *value != '\0'; value++) {
        if (*value < '0' || *value > '9') return false;
        if (!nigh__multiply64(number, 10, &number) || !nigh__add64(number, (uint64_t)(*value - '0'), &number))
            return false;
    }
    *out = number;
    return number <= most;
}

bool nigh__key_value_number32(const char *value, uint32_t most, uint32_t *out) {
    uint64_t number = 0;
    if (!nigh__key_value_number(value, most, &number)) return false;
    *out = (uint32_t)number;
    return true;
}

int nigh__key_value_name(const char *value, const char *const *names) {
    for (int i = 0; names[i] != NULL; i++)
        if (names[i][0] != '\0' && strcmp(names[i], value) == 0) return i;
    return -1;
}
