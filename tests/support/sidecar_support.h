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

/* One kind of what stands beside segments, as the tests of failures need it. */
struct sidecar_kind {
    const char *file;                                                                 /* of the first segment */
    nigh_status (*build)(nigh_context *context, const char *path, nigh_error *error); /* anew */
    nigh_status (*remove)(nigh_context *context, const char *path, nigh_error *error);
    nigh_status (*search)(const nigh_collection *collection, const struct with_sidecar *with_sidecar, uint32_t threads,
                          nigh_error *error);               /* by it */
    uint64_t (*segments)(const nigh_collection_info *info); /* that have it */
    uint64_t (*damaged)(const nigh_collection_info *info);
    uint32_t cut; /* a file that is cut here is met by the search */
};

/* What the first segment's file must say. */
uint64_t with_sidecar_checksum(const struct with_sidecar *with_sidecar);

/* Someone cuts a file while it is searched: it and the segment are guarded, and the search after it is well. */
void with_sidecar_cut_short(const struct with_sidecar *with_sidecar, const struct sidecar_kind *kind);
/* Every allocation of a search fails in turn. */
void with_sidecar_search_without_memory(const struct with_sidecar *with_sidecar, const struct sidecar_kind *kind);
/* Every file call of making it anew and of removing it fails in turn, once and from then on. */
void with_sidecar_change_with_faults(const struct with_sidecar *with_sidecar, const struct sidecar_kind *kind);

#endif
