/* SPDX-License-Identifier: Apache-2.0 */
/* A collection of two segments, for tests of what can stand beside them. */
#ifndef NIGH_TESTS_SIDECARED_H
#define NIGH_TESTS_SIDECARED_H

#include "support/support.h"

struct with_sidecar {
    nigh_context *context;
    char *scratch;
    char *path;           /* of the collection */
    char *first, *second; /* of the files that may stand beside the segments */
    struct recipe recipe;
};

/* So many documents in the first, and ten in the second; files are PREFIX-N. */
struct with_sidecar *with_sidecar_new(const char *prefix, uint64_t documents);
void with_sidecar_free(struct with_sidecar *with_sidecar);

/* Opens it; `segments` gets both, where not NULL. */
nigh_collection_info with_sidecar_describe(const struct with_sidecar *with_sidecar, nigh_segment_info *segments);

uint64_t file_length(const char *path);

#endif
