/* SPDX-License-Identifier: Apache-2.0 */
/* What a file is, by its first bytes; its name counts only where they say nothing. */
#ifndef NIGH_DOCUMENT_SNIFF_H
#define NIGH_DOCUMENT_SNIFF_H

#include <stdbool.h>

#include "nigh.h"

enum nigh__container {
    NIGH__CONTAINER_NONE,
    NIGH__CONTAINER_GZIP,
    NIGH__CONTAINER_ZSTD,
    NIGH__CONTAINER_XZ,
    NIGH__CONTAINER_BZIP2,
    NIGH__CONTAINER_TAR,
    NIGH__CONTAINER_ZIP,
};

/* Compares ASCII letters without regard to case, in any locale. */
bool nigh__same_letters(const char *a, const char *b, size_t length);

/* Needs 512 bytes, where there are so many. */
enum nigh__container nigh__sniff_container(const uint8_t *bytes, size_t length);

static inline bool nigh__is_compression(enum nigh__container kind) {
    return kind >= NIGH__CONTAINER_GZIP && kind <= NIGH__CONTAINER_BZIP2;
}

/* The more bytes, the better; NIGH_TEXT_AUTO: it looks like no text at all.  Never lines: any text could be. */
nigh_text_format nigh__sniff_format(const uint8_t *bytes, size_t length, const char *name);

/* Whether it begins with the byte order mark of UTF-16 or UTF-32. */
bool nigh__sniff_wide(const uint8_t *bytes, size_t length);

#endif
