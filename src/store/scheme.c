/* SPDX-License-Identifier: Apache-2.0 */
/* Making scheme texts canonical. */
#include "store/scheme.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "store/format.h"
#include "text/vocabulary.h"

#define MAX_LINES 256
#define DEFAULT_LINES "kind=signatures\n"

static size_t key_length(const char *line) { return strcspn(line, "=\n"); }

static int by_key(const void *a, const void *b) {
    const char *x = *(const char *const *)a;
    const char *y = *(const char *const *)b;
    size_t shorter = key_length(x) < key_length(y) ? key_length(x) : key_length(y);
    int order = strncmp(x, y, shorter);
    if (order != 0) return order;
    return (key_length(x) > key_length(y)) - (key_length(x) < key_length(y));
}

/* "key=value\n" with a key of lower-case letters, digits, dots and dashes, and a value without control bytes. */
static bool line_sound(const char *line) {
    size_t key = strspn(line, "abcdefghijklmnopqrstuvwxyz0123456789.-");
    if (key == 0 || line[key] != '=') return false;
    const char *at = line + key + 1;
    while ((unsigned char)*at >= ' ') at++;
    return *at == '\n';
}

/* Cuts `lines` into line starts; false where a line is malformed or there are too many. */
static bool collect_lines(const char *lines, const char **starts, size_t most, size_t *count) {
    while (*lines != '\0') {
        if (*count == most || !line_sound(lines)) return false;
        starts[(*count)++] = lines;
        lines += strcspn(lines, "\n") + 1;
    }
    return true;
}

static bool keys_ascend(const char **starts, size_t count) {
    for (size_t i = 1; i < count; i++)
        if (by_key(&starts[i - 1], &starts[i]) >= 0) return false;
    return true;
}

bool nigh__scheme_names(const char *lines, const nigh_vocabulary *vocabulary) {
    static const char key[] = "vocabulary=";
    for (const char *line = lines; line != NULL && *line != '\0'; line += *line == '\n') {
        size_t length = strcspn(line, "\n");
        if (strncmp(line, key, sizeof key - 1) == 0) {
            char name[32];
            if (vocabulary == NULL) return false;
            (void)snprintf(name, sizeof name, "%s%016" PRIx64, key, nigh__vocabulary_name(vocabulary));
            return strlen(name) == length && memcmp(name, line, length) == 0;
        }
        line += length;
    }
    return true;
}

struct bits_line {
    char text[32];
};

static struct bits_line bits_line(uint32_t width_bits) {
    struct bits_line line;
    (void)snprintf(line.text, sizeof line.text, "bits=%u\n", width_bits);
    return line;
}

bool nigh__scheme_sound(const char *text, uint32_t width_bits) {
    const char *starts[MAX_LINES];
    size_t count = 0;
    if (!collect_lines(text, starts, MAX_LINES, &count) || !keys_ascend(starts, count)) return false;
    struct bits_line bits = bits_line(width_bits);
    for (size_t i = 0; i < count; i++)
        if (strncmp(starts[i], bits.text, strlen(bits.text)) == 0) return true;
    return false;
}

nigh_status nigh__scheme_make(const nigh_context *context, uint32_t width_bits, const char *lines, char **out,
                              nigh_error *error) {
    *out = NULL;
    if (lines == NULL) lines = DEFAULT_LINES;
    const char *starts[MAX_LINES];
    size_t count = 0;
    struct bits_line bits = bits_line(width_bits);
    size_t length = strlen(lines) + strlen(bits.text);
    if (length > NIGH__MAX_SCHEME_LENGTH || !collect_lines(lines, starts, MAX_LINES - 1, &count))
        return nigh__fail(error, NIGH_EINVAL, "the scheme is not made of lines 'key=value'");
    starts[count++] = bits.text;
    qsort(starts, count, sizeof starts[0], by_key);
    if (!keys_ascend(starts, count)) return nigh__fail(error, NIGH_EINVAL, "the scheme has a key twice");

    char *text = nigh__alloc(context, length + 1, 1);
    if (text == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for a scheme");
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
