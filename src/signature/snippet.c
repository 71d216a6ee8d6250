/* SPDX-License-Identifier: Apache-2.0 */
#include "signature/snippet.h"

#include <stdbool.h>

size_t nigh__snippet_make(const char *text, size_t length, char *out, size_t most) {
    size_t used = 0;
    bool space = false;
    for (size_t i = 0; i < length && used < most; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte <= ' ' || byte == 0x7f) {
            space = used > 0;
            continue;
        }
        if (space) out[used++] = ' ';
        space = false;
        if (used < most) out[used++] = (char)byte;
    }
    /* Not within a character: back to where one begins, unless it is whole. */
    size_t begin = used;
    while (begin > 0 && ((unsigned char)out[begin - 1] & 0xc0) == 0x80) begin--;
    if (begin > 0 && begin <= used && ((unsigned char)out[begin - 1] & 0x80) != 0) {
        unsigned char lead = (unsigned char)out[begin - 1];
        size_t need = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        if (used - (begin - 1) < need) used = begin - 1;
    }
    while (used > 0 && out[used - 1] == ' ') used--;
    return used;
}
