/* SPDX-License-Identifier: Apache-2.0 */
/* The finder as src/search/ sees it: distinct rows and a method to search them. It never changes once it is made. */
#ifndef NIGH_FINDER_FINDER_H
#define NIGH_FINDER_FINDER_H

#include "finder/distinct.h"
#include "finder/sorted.h"
#include "finder/tables.h"

struct nigh_finder {
    const nigh_context *context;
    struct nigh__distinct distinct;
    struct nigh__tables *tables; /* of the method's own one is there, the others are NULL */
    struct nigh__sorted *sorted;
    uint32_t radius;
    uint64_t budget;
    bool without_numbers;
    nigh_finder_info info;
};

/* The rows as they were given, one after the other; there must be numbers, and room for info.rows of them. */
void nigh__finder_copy_rows(const nigh_finder *finder, uint8_t *out);

#endif
