/* SPDX-License-Identifier: Apache-2.0 */
/* Which parts this library was built with.  cmake/NighParts.cmake says what belongs to each, and defines the numbers.
 */
#include "nigh.h"

#include <stddef.h>

static const struct part {
    const char *name;
    int built;
} parts[] = {{"documents", NIGH__WITH_DOCUMENTS},
             {"learning", NIGH__WITH_LEARNING},
             {"terms", NIGH__WITH_TERMS},
             {"evaluation", NIGH__WITH_EVALUATION}};

const char *nigh_part_name(size_t index, int *built) {
    if (index >= sizeof parts / sizeof parts[0]) return NULL;
    if (built != NULL) *built = parts[index].built;
    return parts[index].name;
}
