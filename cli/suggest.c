/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nearest name by edit distance: letters changed, missing, extra, or two
 * neighbours swapped, each counting one.  Names are short, so a small table on
 * the stack does; longer words are not looked at.
 */
#include "suggest.h"

#include <string.h>

#define LONGEST 32

static unsigned least(unsigned a, unsigned b) { return a < b ? a : b; }

static unsigned edit_distance(const char *a, size_t a_length, const char *b, size_t b_length) {
    unsigned table[LONGEST + 1][LONGEST + 1];
    for (unsigned i = 0; i <= a_length; i++) table[i][0] = i;
    for (unsigned j = 0; j <= b_length; j++) table[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        for (size_t j = 1; j <= b_length; j++) {
            unsigned best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            best = least(best, least(table[i - 1][j], table[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = least(best, table[i - 2][j - 2] + 1);
            table[i][j] = best;
        }
    }
    return table[a_length][b_length];
}

const char *cli_suggest(const char *typed, const char *(*name_at)(const void *user, size_t index, bool *skip),
                        const void *user) {
    const char *nearest = NULL;
    size_t typed_length = strlen(typed);
    /* A third of the letters may be wrong; of one or two letters anything would be near anything. */
    unsigned nearest_distance = (unsigned)(typed_length + 2) / 3 + 1;
    if (typed_length < 2 || typed_length > LONGEST) return NULL;
    const char *name;
    bool skip = false;
    for (size_t i = 0; (name = name_at(user, i, &skip)) != NULL; i++) {
        size_t length = strlen(name);
        if (skip || length > LONGEST) continue;
        /* The beginning of a name is a good hint, however much is missing. */
        unsigned distance =
            strncmp(typed, name, typed_length) == 0 ? 1 : edit_distance(typed, typed_length, name, length);
        if (distance < nearest_distance) {
            nearest = name;
            nearest_distance = distance;
        }
    }
    return nearest;
}
