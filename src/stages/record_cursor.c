/* SPDX-License-Identifier: Apache-2.0 */
/* See record_cursor.h. */
#include "stages/record_cursor.h"

#include "base/assert.h"

nigh_status nigh__record_cursor_open(const nigh_staged *staged, nigh_stage stage, uint32_t shard, uint32_t section,
                                     uint32_t words, struct nigh__record_cursor *out, nigh_error *error) {
    *out = (struct nigh__record_cursor){.words = words};
    nigh_status status = nigh__staged_read(staged, stage, shard, &out->reader, error);
    if (status == NIGH_OK) nigh__stage_begin(&out->reader, section);
    return status;
}

void nigh__record_cursor_release(struct nigh__record_cursor *cursor) {
    nigh__stage_reader_release(&cursor->reader);
    cursor->left = 0;
}

nigh_status nigh__record_cursor_seek(struct nigh__record_cursor *cursor, uint64_t place, const uint64_t **record,
                                     nigh_error *error) {
    NIGH__ASSERT(place >= cursor->next);
    while (place - cursor->next >= cursor->left) {
        cursor->next += cursor->left;
        cursor->left = 0;
        nigh_status status = nigh__stage_next(&cursor->reader, cursor->words, &cursor->records, &cursor->left, error);
        if (status != NIGH_OK) return status;
    }
    const uint64_t passed = place - cursor->next;
    *record = cursor->records + passed * cursor->words;
    cursor->records = *record + cursor->words;
    cursor->left -= (size_t)passed + 1;
    cursor->next = place + 1;
    return NIGH_OK;
}

nigh_status nigh__record_cursor_next(struct nigh__record_cursor *cursor, const uint64_t **record, nigh_error *error) {
    return nigh__record_cursor_seek(cursor, cursor->next, record, error);
}
