/* SPDX-License-Identifier: Apache-2.0 */
/* Postings and the bits of their documents, brought together by sorting.  For more documents than memory has room for.
 */
#ifndef NIGH_STAGES_BUCKET_JOIN_H
#define NIGH_STAGES_BUCKET_JOIN_H

#include "stages/bucket_keys.h"
#include "stages/bucket_stream.h"

struct nigh__bucket_join {
    const nigh_staged *staged;
    const uint64_t *bases;
    uint32_t band;                     /* of the postings that are added */
    struct nigh__sorter *by_number;    /* of number, bucket, low half; owned */
    struct nigh__sorter *joined;       /* with bits, by bucket; owned */
    struct nigh__sorter_cursor wanted; /* of by_number */
    uint64_t number;                   /* whose bits are the next */
};

/* To be released, also after a failure. */
nigh_status nigh__bucket_join_init(const nigh_staged *staged, const uint64_t *bases, struct nigh__bucket_join *out,
                                   nigh_error *error);
void nigh__bucket_join_release(struct nigh__bucket_join *join);

nigh__posting_take nigh__bucket_join_add;
/* After all postings: bucket after bucket goes to `stream`, documents by their numbers. */
nigh_status nigh__bucket_join_compare(struct nigh__bucket_join *join, struct nigh__bucket_stream *stream,
                                      nigh_error *error);

#endif
