/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the records of a section one by one, for sections that are read side by side. */
#ifndef NIGH_STAGES_RECORD_CURSOR_H
#define NIGH_STAGES_RECORD_CURSOR_H

#include "stages/stage_work.h"

struct nigh__record_cursor {
    struct nigh__stage_reader reader;
    uint32_t words;          /* of a record */
    const uint64_t *records; /* at hand, */
    size_t left;             /* so many */
    uint64_t next;           /* place of the first of them */
};

/* To be released, also after a failure. */
nigh_status nigh__record_cursor_open(const nigh_staged *staged, nigh_stage stage, uint32_t shard, uint32_t section,
                                     uint32_t words, struct nigh__record_cursor *out, nigh_error *error);
void nigh__record_cursor_release(struct nigh__record_cursor *cursor); /* accepts one of zeros */

/* The next record; it lives until the next call.  NIGH_END after the last. */
nigh_status nigh__record_cursor_next(struct nigh__record_cursor *cursor, const uint64_t **record, nigh_error *error);
/* The record at a place that no call has passed yet. */
nigh_status nigh__record_cursor_seek(struct nigh__record_cursor *cursor, uint64_t place, const uint64_t **record,
                                     nigh_error *error);

#endif
