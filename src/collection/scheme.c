/* SPDX-License-Identifier: Apache-2.0 */
/* Making scheme texts canonical. */
#include "collection/scheme.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/keep_keys.h"
#include "base/key_lines.h"
#include "collection/format.h"

#define DEFAULT_LINES "kind=signatures\n"

bool nigh__scheme_names(const char *lines, const char *key, const uint64_t *name) {
    const char *value = lines == NULL ? NULL : nigh__key_lines_find(lines, key);
    if (value == NULL) return true;
    if (name == NULL) return false;
    char text[32];
    (void)snprintf(text, sizeof text, "%016" PRIx64 "\n", *name);
    return strncmp(value, text, strlen(text)) == 0;
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
    const struct bits_line bits = bits_line(width_bits);
    return nigh__key_lines_sound(text, bits.text);
}

nigh_status nigh__scheme_make(const nigh_context *context, uint32_t width_bits, const char *lines, char **out,
                              nigh_error *error) {
    const struct bits_line bits = bits_line(width_bits);
    return nigh__key_lines_merge(context, lines == NULL ? DEFAULT_LINES : lines, bits.text, NIGH__MAX_SCHEME_LENGTH,
                                 "the scheme", out, error);
}

/* The first line from here on that bits depend on: not those of keys, nor how thresholds came about that are named. */
static const char *line_of_bits(const char *line) {
    while (strncmp(line, "id-key=", 7) == 0 || strncmp(line, "text-key", 8) == 0 ||
           strncmp(line, "binarise=", 9) == 0 || strncmp(line, NIGH__KEEP_KEY, strlen(NIGH__KEEP_KEY)) == 0) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    return line;
}

bool nigh__scheme_same_bits(const char *a, const char *b) {
    for (;;) {
        a = line_of_bits(a);
        b = line_of_bits(b);
        const size_t length = strcspn(a, "\n");
        if (length != strcspn(b, "\n") || strncmp(a, b, length) != 0) return false;
        if (a[length] == '\0' || b[length] == '\0') return a[length] == b[length];
        a += length + 1;
        b += length + 1;
    }
}
