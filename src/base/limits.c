/* SPDX-License-Identifier: Apache-2.0 */
/* The one place that says no to a width or an id, so that signature files and collections refuse the same. */
#include "base/limits.h"

#include <string.h>

bool nigh__width_valid(uint64_t width_bits) {
    return width_bits != 0 && width_bits % 8 == 0 && width_bits <= NIGH_MAX_WIDTH_BITS;
}

const char *nigh__id_problem(size_t length) {
    if (length == 0) return "id is empty";
    if (length > NIGH_MAX_ID_LENGTH) return "id is longer than 65535 bytes";
    return NULL;
}

bool nigh__id_is_line(const char *id, size_t length) {
    return memchr(id, '\0', length) == NULL && memchr(id, '\n', length) == NULL && memchr(id, '\t', length) == NULL;
}
