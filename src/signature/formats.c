/* SPDX-License-Identifier: Apache-2.0 */
/* One row a format; everything that asks for a name or an ending asks here, so that no two places can disagree. */
#include "signature/formats.h"

#include <stdbool.h>
#include <string.h>

static const struct format {
    nigh_signature_format format;
    const char *name;
    const char *endings[4]; /* up to a NULL */
} formats[] = {
    {NIGH_FORMAT_AUTO, "auto", {NULL}},
    {NIGH_FORMAT_NPY, "npy", {".npy", NULL}},
    {NIGH_FORMAT_U8BIN, "u8bin", {".u8bin", NULL}},
    {NIGH_FORMAT_RAW, "raw", {".raw", NULL}},
    {NIGH_FORMAT_HEX, "hex", {".hex", ".txt", ".tsv", NULL}},
    {NIGH_FORMAT_TOPSIG, "topsig", {".sig", NULL}},
};

#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

const char *nigh_signature_format_name(nigh_signature_format format) {
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i].format == format) return formats[i].name;
    return NULL;
}

/* The C library's strcasecmp asks the locale; endings are ASCII. */
static bool ends_with(const char *path, size_t length, const char *ending) {
    size_t tail = strlen(ending);
    if (length <= tail) return false;
    for (size_t i = 0; i < tail; i++) {
        char letter = path[length - tail + i];
        if (letter >= 'A' && letter <= 'Z') letter = (char)(letter - 'A' + 'a');
        if (letter != ending[i]) return false;
    }
    return true;
}

nigh_signature_format nigh__format_by_ending(const char *path) {
    size_t length = strlen(path);
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        for (const char *const *ending = formats[i].endings; *ending != NULL; ending++)
            if (ends_with(path, length, *ending)) return formats[i].format;
    return NIGH_FORMAT_AUTO;
}

nigh_signature_format nigh__format_by_own_ending(const char *path) {
    for (size_t i = 0; i < FORMAT_COUNT; i++)
        if (formats[i].endings[0] != NULL && ends_with(path, strlen(path), formats[i].endings[0]))
            return formats[i].format;
    return NIGH_FORMAT_AUTO;
}
