/* SPDX-License-Identifier: Apache-2.0 */
/* The stage pairs: a pair that shares many bands was found by several tasks; this stage keeps it once. */
#include "base/status.h"
#include "stages/stage_work.h"

struct pairing {
    const nigh_staged *staged;
    const uint64_t *bases;
    struct nigh__sorter *sorter;
};

static nigh_status add_pairs(void *user, uint32_t shard, const uint64_t *records, size_t count, nigh_error *error) {
    const struct pairing *pairing = user;
    for (size_t i = 0; i < count; i++) {
        const uint64_t *pair = records + i * NIGH__PAIR_WORDS;
        if (pair[0] >= pair[1] || !nigh__id_fits(pairing->staged, pairing->bases, pair[0]) ||
            !nigh__id_fits(pairing->staged, pairing->bases, pair[1]))
            return nigh__staged_nonsense(pairing->staged, NIGH_STAGE_BUCKETS, shard, error);
    }
    return nigh__sorter_add(pairing->sorter, records, count, error);
}

static nigh_status put_pairs(const struct pairing *pairing, struct nigh__stage_writer *writer, nigh_error *error) {
    const uint64_t *records = NULL;
    size_t count = 0;
    nigh_status status = nigh__sorter_finish(pairing->sorter, error);
    while (status == NIGH_OK && (status = nigh__sorter_next(pairing->sorter, &records, &count, error)) == NIGH_OK)
        for (size_t i = 0; status == NIGH_OK && i < count; i++)
            status =
                nigh__stage_add(writer, NIGH__PAIRS_DISTINCT, records + i * NIGH__PAIR_WORDS, NIGH__PAIR_WORDS, error);
    return status == NIGH_END ? NIGH_OK : status;
}

nigh_status nigh__stage_pairs(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                              nigh_error *error) {
    uint64_t *bases = NULL;
    struct pairing pairing = {.staged = staged};
    nigh_status status = nigh__staged_bases(staged, &bases, error);
    pairing.bases = bases;
    if (status == NIGH_OK)
        status = nigh__staged_sorter(staged, NIGH__PAIR_WORDS, NIGH__PAIR_WORDS, true, 2, &pairing.sorter, error);
    if (status == NIGH_OK)
        status = nigh__staged_each(staged, NIGH_STAGE_BUCKETS, NIGH__BUCKETS_PAIRS + shard, NIGH__PAIR_WORDS, add_pairs,
                                   &pairing, error);
    if (status == NIGH_OK) status = put_pairs(&pairing, writer, error);
    nigh__sorter_free(pairing.sorter);
    nigh__free(staged->context, bases);
    return status;
}
