/* SPDX-License-Identifier: Apache-2.0 */
/* How the fingerprints of a file of chunks were made: saying it, and getting at what it keeps. */
#ifndef NIGH_FINDER_CHUNK_SCHEME_H
#define NIGH_FINDER_CHUNK_SCHEME_H

#include "finder/chunk_file.h"

/* A copy of the vocabulary or the model that it keeps; the caller frees *bytes.  NIGH_ENOTFOUND where it keeps none. */
nigh_status nigh__chunks_fetch(nigh_chunks *chunks, enum nigh__attachment kind, uint8_t **bytes, size_t *length,
                               nigh_error *error);

/* Of one that it keeps: an error that names its place. */
nigh_status nigh__chunks_kept_wrong(const nigh_chunks *chunks, enum nigh__attachment kind, nigh_status status,
                                    const char *why, nigh_error *error);

#endif
