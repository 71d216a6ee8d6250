/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     1  postings are sorted by document, and go by beside the bits of all documents
 *     2  with these they are sorted by bucket
 */
#include "stages/bucket_join.h"

#include <string.h>

#include "base/status.h"

#define WANTED_WORDS 3u
#define JOINED_WORDS 8u /* bucket, low half, number, bits and features */

nigh_status nigh__bucket_join_init(const nigh_staged *staged, const uint64_t *bases, struct nigh__bucket_join *out,
                                   nigh_error *error) {
    *out = (struct nigh__bucket_join){.staged = staged, .bases = bases};
    nigh_status status = nigh__staged_sorter(staged, WANTED_WORDS, WANTED_WORDS, false, 4, &out->by_number, error);
    if (status == NIGH_OK) status = nigh__staged_sorter(staged, JOINED_WORDS, 3, false, 4, &out->joined, error);
    return status;
}

void nigh__bucket_join_release(struct nigh__bucket_join *join) {
    nigh__sorter_free(join->by_number);
    nigh__sorter_free(join->joined);
    join->by_number = join->joined = NULL;
}

nigh_status nigh__bucket_join_add(void *user, const struct nigh__posting *postings, size_t count, nigh_error *error) {
    struct nigh__bucket_join *join = user;
    nigh_status status = NIGH_OK;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const struct nigh__posting *posting = &postings[i];
        const uint64_t wanted[WANTED_WORDS] = {posting->number, (uint64_t)join->band << 32 | posting->key,
                                               posting->low};
        status = nigh__sorter_add(join->by_number, wanted, 1, error);
    }
    return status;
}

/* All postings of one document get its bits. */
static nigh_status join_document(struct nigh__bucket_join *join, const uint64_t *bits, nigh_error *error) {
    const uint64_t *wanted = NULL;
    nigh_status status;
    while ((status = nigh__sorter_peek(&join->wanted, &wanted, error)) == NIGH_OK && wanted != NULL &&
           wanted[0] == join->number) {
        uint64_t record[JOINED_WORDS] = {wanted[1], wanted[2], wanted[0]};
        memcpy(record + 3, bits, NIGH__BITS_WORDS * sizeof *bits);
        status = nigh__sorter_add(join->joined, record, 1, error);
        if (status != NIGH_OK) break;
        join->wanted.next++;
    }
    return status;
}

static nigh_status take_bits(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    struct nigh__bucket_join *join = user;
    nigh_status status = NIGH_OK;
    if (count > join->bases[shard + 1] - join->number)
        return nigh__staged_nonsense(join->staged, NIGH_STAGE_SIGN, shard, error);
    for (size_t i = 0; status == NIGH_OK && i < count; i++, join->number++)
        status = join_document(join, records + i * NIGH__BITS_WORDS, error);
    return status;
}

static nigh_status join_all(struct nigh__bucket_join *join, nigh_error *error) {
    nigh_status status = nigh__sorter_finish(join->by_number, error);
    join->wanted = (struct nigh__sorter_cursor){.sorter = join->by_number, .words = WANTED_WORDS};
    for (uint32_t i = 0; status == NIGH_OK && i < join->staged->shards; i++) {
        join->number = join->bases[i];
        status = nigh__staged_each_of(join->staged, NIGH_STAGE_SIGN, i, NIGH__SIGN_BITS, NIGH__BITS_WORDS, take_bits,
                                      join, error);
        if (status == NIGH_OK && join->number != join->bases[i + 1])
            status = nigh__staged_nonsense(join->staged, NIGH_STAGE_SIGN, i, error);
    }
    return status == NIGH_OK ? nigh__sorter_finish(join->joined, error) : status;
}

nigh_status nigh__bucket_join_compare(struct nigh__bucket_join *join, struct nigh__bucket_stream *stream,
                                      nigh_error *error) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = join_all(join, error);
    while (status == NIGH_OK && (status = nigh__sorter_next(join->joined, &records, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++) {
            const uint64_t *record = records + i * JOINED_WORDS;
            const struct nigh__bucket_member member = {.bucket = record[0],
                                                       .low = (uint32_t)record[1],
                                                       .id = record[2],
                                                       .row = record + 3,
                                                       .features = (uint32_t)record[3 + NIGH__ROW_WORDS]};
            status = nigh__bucket_stream_add(stream, &member, error);
        }
    return status == NIGH_END ? nigh__bucket_stream_end(stream, error) : status;
}
