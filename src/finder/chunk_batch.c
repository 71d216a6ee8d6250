/* SPDX-License-Identifier: Apache-2.0 */
/* Takes matches: as a row in a list, or as the best of its query so far, which all threads see. */
#include "finder/chunk_batch.h"

bool nigh__chunk_hits_spill(const struct nigh__chunk_batch *batch, struct nigh__chunk_finds *finds) {
    struct nigh__chunk_spill *spill = batch->spill;
    if (finds->hits.count == 0) return true;
    (void)pthread_mutex_lock(&spill->lock);
    if (spill->status == NIGH_OK)
        spill->status = nigh__sorter_add(spill->sorter, finds->hits.data, finds->hits.count, &spill->error);
    const bool added = spill->status == NIGH_OK;
    (void)pthread_mutex_unlock(&spill->lock);
    finds->hits.count = 0;
    return added;
}

/* A match with all numbers of the row. */
static void hits_add(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t row,
                     uint32_t query, uint32_t distance, struct nigh__chunk_finds *finds) {
    const uint32_t begin = nigh__chunk_block_start(block, row);
    const uint32_t count = nigh__chunk_block_start(block, row + 1) - begin;
    struct nigh__chunk_hit *hits = nigh__array_add(batch->context, &finds->hits, count);
    finds->failed = finds->failed || hits == NULL;
    for (uint32_t i = 0; i < count && hits != NULL; i++)
        hits[i] = (struct nigh__chunk_hit){.query_distance = (uint64_t)query << 32 | distance,
                                           .number = block->first + block->numbers[begin + i]};
    if (batch->spill != NULL && finds->hits.count >= batch->spill->most && !nigh__chunk_hits_spill(batch, finds))
        finds->failed = true;
}

static void best_take(const struct nigh__chunk_batch *batch, uint32_t query, uint64_t best,
                      struct nigh__chunk_finds *finds) {
    uint64_t before = atomic_load_explicit(&batch->best[query], memory_order_relaxed);
    while (best < before) {
        if (!atomic_compare_exchange_weak_explicit(&batch->best[query], &before, best, memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        if (before != NIGH__CHUNK_NO_BEST) return;
        uint32_t *recent = nigh__array_add(batch->context, &finds->recent, 1);
        if (recent != NULL) *recent = query;
        finds->failed = finds->failed || recent == NULL;
        return;
    }
}

/* Equal rows stand in the order of their numbers, so the first is the lowest. */
void nigh__chunk_hit_add(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block, uint32_t row,
                         uint32_t query, uint32_t distance, struct nigh__chunk_finds *finds) {
    if (batch->options.mode == NIGH_FIND_ALL)
        hits_add(batch, block, row, query, distance, finds);
    else if (batch->options.mode == NIGH_FIND_ANY)
        best_take(batch, query, nigh__chunk_best(row, distance), finds);
    else
        best_take(batch, query, nigh__chunk_best(block->numbers[nigh__chunk_block_start(block, row)], distance), finds);
}
