/* SPDX-License-Identifier: Apache-2.0 */
/* Reads shard after shard; a file that has more or fewer documents than it says is refused. */
#include "stages/document_walk.h"

void nigh__document_walk_begin(const nigh_staged *staged, const uint64_t *bases, uint32_t first, uint32_t end,
                               struct nigh__document_walk *out) {
    *out = (struct nigh__document_walk){.staged = staged, .bases = bases, .shard = first, .end = end};
}

void nigh__document_walk_release(struct nigh__document_walk *walk) { nigh__record_cursor_release(&walk->cursor); }

static nigh_status end_shard(struct nigh__document_walk *walk, nigh_error *error) {
    uint64_t info[NIGH__SIGN_INFO_WORDS] = {0};
    const uint32_t shard = walk->shard++;
    nigh__record_cursor_release(&walk->cursor);
    if (walk->document != walk->bases[shard + 1])
        return nigh__staged_nonsense(walk->staged, NIGH_STAGE_SIGN, shard, error);
    nigh_status status = nigh__staged_info_of(walk->staged, NIGH_STAGE_SIGN, shard, info, NIGH__SIGN_INFO_WORDS, error);
    walk->number_base += info[NIGH__SIGN_RECORDS];
    return status;
}

/* The record of the next document. */
static nigh_status next_record(struct nigh__document_walk *walk, const uint64_t **record, nigh_error *error) {
    while (walk->shard < walk->end) {
        nigh_status status = NIGH_OK;
        if (walk->cursor.reader.context == NULL) {
            walk->document = walk->bases[walk->shard];
            status = nigh__record_cursor_open(walk->staged, NIGH_STAGE_SIGN, walk->shard, NIGH__SIGN_DOCS,
                                              NIGH__DOCUMENT_WORDS, &walk->cursor, error);
        }
        if (status == NIGH_OK) status = nigh__record_cursor_next(&walk->cursor, record, error);
        if (status == NIGH_OK && walk->document == walk->bases[walk->shard + 1])
            return nigh__staged_nonsense(walk->staged, NIGH_STAGE_SIGN, walk->shard, error);
        if (status != NIGH_END) return status;
        status = end_shard(walk, error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_END;
}

nigh_status nigh__document_walk_next(struct nigh__document_walk *walk, struct nigh__walked *out, nigh_error *error) {
    const uint64_t *record = NULL;
    nigh_status status = next_record(walk, &record, error);
    if (status != NIGH_OK) return status;
    *out = (struct nigh__walked){
        .document = walk->document++, .number = walk->number_base + record[0], .text = {{record[1], record[2]}}};
    return NIGH_OK;
}

nigh_status nigh__staged_met(const nigh_staged *staged, uint32_t first, uint32_t end, struct nigh__rereading_met *out,
                             nigh_error *error) {
    nigh_status status = NIGH_OK;
    *out = (struct nigh__rereading_met){0};
    for (uint32_t i = first; status == NIGH_OK && i < end; i++) {
        uint64_t info[NIGH__SIGN_INFO_WORDS] = {0};
        status = nigh__staged_info_of(staged, NIGH_STAGE_SIGN, i, info, NIGH__SIGN_INFO_WORDS, error);
        out->records += info[NIGH__SIGN_RECORDS];
        out->bytes_read += info[NIGH__SIGN_BYTES_READ];
        out->formats |= (unsigned)info[NIGH__SIGN_FORMATS];
    }
    return status;
}
