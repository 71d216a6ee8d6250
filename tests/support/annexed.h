/* SPDX-License-Identifier: Apache-2.0 */
/* A collection of two segments, for tests of what can stand beside them. */
#ifndef NIGH_TESTS_ANNEXED_H
#define NIGH_TESTS_ANNEXED_H

#include "support/support.h"

struct annexed {
    nigh_context *context;
    char *scratch;
    char *path;           /* of the collection */
    char *first, *second; /* of the files that may stand beside the segments */
    struct recipe recipe;
};

/* So many documents in the first, and ten in the second; files are PREFIX-N. */
struct annexed *annexed_new(const char *prefix, uint64_t documents);
void annexed_free(struct annexed *annexed);

/* Opens it; `segments` gets both, where not NULL. */
nigh_collection_info annexed_describe(const struct annexed *annexed, nigh_segment_info *segments);

uint64_t file_length(const char *path);

#endif
