/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crowds of queries and fingerprints that share the bits by which they are looked up,
 * and would all be compared with all.
 *
 *     psm      the bits in which the rows of a prefix vary are cut into h + 1 parts.
 *              What differs from a query in at most h bits agrees with it in one of
 *              them whole, so rows are put into buckets by each part in turn,
 *
 *                  rows that share 0013   0013 1011 0 01 10    . is a bit that all have
 *                                         0013 1011 1 01 00    in common
 *                  that vary              .... .... ^ .. ^.    cut into h + 1 parts
 *
 *              and queries are compared with those of theirs.  A match is told in the
 *              first part in which the two agree.
 *     tables   tables are made of blocks of bits.  The bits that are the same in the
 *              largest bucket of any block are dealt out to all blocks alike, in
 *              queries and rows; distances do not change, and each block has its share
 *              of bits that vary.
 *
 * Both find the same as before.  A crowd that is all within a few bits cannot be divided:
 * there, unless the caller has set a budget, a look-up has one by which a block costs
 * some 2^30 comparisons for each part or table, and beyond it the results say truncated.
 */
#include "finder/chunk_crowd.h"

#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/status.h"
#include "finder/few_bits.h"
#include "kernel/hamming.h"

#define MANY_QUERIES 64u
#define MANY_ROWS 4096u
#define MAX_KEY_BITS 16u
#define TILE_ROWS 512u
#define SMALL_RANGE 24u
#define BLOCK_COMPARISONS (UINT64_C(1) << 30)
#define MIN_BUDGET 4096u
#define BUDGET_SHARE 256u /* of all that could be compared, always */

uint64_t nigh__chunk_crowd_budget(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                                  uint64_t among) {
    if (!batch->budget_default) return batch->options.bucket_budget;
    const uint64_t least = MIN_BUDGET + among / BUDGET_SHARE;
    const uint64_t share = BLOCK_COMPARISONS / block->count;
    const uint64_t wanted = share < least ? least : share;
    return wanted < batch->options.bucket_budget ? wanted : batch->options.bucket_budget;
}

/* -------------------------------------------------------------------------- psm */

/* Where the keys of a prefix begin. */
static size_t keys_begin(const struct nigh__chunk_batch *batch, uint64_t prefix) {
    size_t low = 0;
    size_t high = batch->key_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (batch->keys[middle] >> 32 < prefix)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* By all keys of the batch, so that it does not matter which of them are this thread's. */
bool nigh__chunk_crowd_is(const struct nigh__chunk_batch *batch, uint64_t prefix, uint32_t rows) {
    if (rows < MANY_ROWS) return false;
    const size_t last = keys_begin(batch, prefix) + MANY_QUERIES - 1;
    return last < batch->key_count && batch->keys[last] >> 32 == prefix;
}

/* The rows of a crowd by one part of their bits. */
struct division {
    const uint64_t *masks; /* of the parts */
    uint32_t part, key_bits;
    uint32_t *starts;     /* of each bucket, and where the last ends */
    const uint32_t *rows; /* of the block, by bucket, ascending in each */
    const uint64_t *words;
    uint64_t budget;
};

static size_t bucket_of(const struct division *division, uint64_t word) {
    return (size_t)(nigh__mix(word & division->masks[division->part]) >> (64 - division->key_bits));
}

/*
 * The bits in which rows vary, dealt out to the parts one after the other; returns how
 * many parts there are.  Where parts would be so short that buckets hold most rows, there
 * is one without bits, in which all agree.
 */
static uint32_t masks_make(const struct nigh__chunk_block *block, const struct nigh__chunk_crowd *crowd, uint32_t parts,
                           uint64_t *masks) {
    uint64_t varying = 0;
    for (uint32_t i = crowd->row; i < crowd->row_end; i++) varying |= block->rows[i] ^ block->rows[crowd->row];
    const uint32_t bits = (uint32_t)__builtin_popcountll(varying) / parts;
    memset(masks, 0, parts * sizeof *masks);
    if (bits == 0 || parts >= UINT64_C(1) << (bits - 1)) return 1;
    for (uint32_t i = 0; varying != 0; i++, varying &= varying - 1) masks[i % parts] |= varying & (~varying + 1);
    return parts;
}

/* A counting sort. */
static void rows_divide(const struct nigh__chunk_block *block, const struct nigh__chunk_crowd *crowd,
                        struct division *division, uint32_t *rows, uint64_t *words) {
    uint32_t *starts = division->starts;
    const size_t buckets = (size_t)1 << division->key_bits;
    memset(starts, 0, (buckets + 1) * sizeof *starts);
    for (uint32_t i = crowd->row; i < crowd->row_end; i++) starts[bucket_of(division, block->rows[i])]++;
    uint32_t sum = 0;
    for (size_t i = 0; i <= buckets; i++) {
        const uint32_t count = starts[i];
        starts[i] = sum;
        sum += count;
    }
    for (uint32_t i = crowd->row; i < crowd->row_end; i++) {
        const uint32_t place = starts[bucket_of(division, block->rows[i])]++;
        rows[place] = i;
        words[place] = block->rows[i];
    }
    memmove(starts + 1, starts, buckets * sizeof *starts);
    starts[0] = 0;
}

/* Whether they agree in an earlier part. */
static bool is_told(const struct division *division, uint64_t difference) {
    for (uint32_t i = 0; i < division->part; i++)
        if ((difference & division->masks[i]) == 0) return true;
    return false;
}

/* One of the bucket that is near.  True: the look-up ends. */
static bool meet(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                 const struct division *division, size_t at, uint32_t query, struct nigh__chunk_finds *finds) {
    const uint64_t difference = division->words[at] ^ batch->queries[query];
    if (batch->options.mode == NIGH_FIND_ALL && is_told(division, difference)) return false;
    nigh__chunk_hit_add(batch, block, division->rows[at], query, (uint32_t)__builtin_popcountll(difference), finds);
    return nigh__chunk_enough(batch, finds);
}

/* Compares from `at` up to `end`, which are at most a tile. */
static bool tile_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                        const struct division *division, size_t at, size_t end, uint32_t query,
                        struct nigh__chunk_finds *finds) {
    uint32_t distances[TILE_ROWS];
    const uint32_t radius = batch->options.radius;
    const uint64_t word = batch->queries[query];
    finds->found.compared += end - at;
    if (end - at <= SMALL_RANGE) {
        while ((at = nigh__next_near(division->words, at, end, word, radius)) < end)
            if (meet(batch, block, division, at++, query, finds)) return true;
        return false;
    }
    const size_t count = end - at;
    if (batch->context->hamming->rows(&word, division->words + at, count, 1, distances) > radius) return false;
    for (size_t i = 0; i < count; i++)
        if (distances[i] <= radius && meet(batch, block, division, at + i, query, finds)) return true;
    return false;
}

static void look_up(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                    const struct division *division, uint32_t query, struct nigh__chunk_finds *finds) {
    const size_t bucket = bucket_of(division, batch->queries[query]);
    size_t end = division->starts[bucket + 1];
    const size_t begin = division->starts[bucket];
    if (end - begin > division->budget) {
        end = begin + (size_t)division->budget;
        finds->found.truncated++;
    }
    for (size_t at = begin; at < end; at += TILE_ROWS)
        if (tile_search(batch, block, division, at, nigh__smaller(at + TILE_ROWS, end), query, finds)) return;
}

static uint32_t useful_bits(uint32_t rows) {
    uint32_t bits = 1;
    while (bits < MAX_KEY_BITS && rows >> bits != 0) bits++;
    return bits;
}

void nigh__chunk_crowd_search(const struct nigh__chunk_batch *batch, const struct nigh__chunk_block *block,
                              const struct nigh__chunk_crowd *crowd, struct nigh__chunk_finds *finds) {
    uint64_t masks[64 + 1];
    const uint32_t count = crowd->row_end - crowd->row;
    const uint32_t parts = masks_make(block, crowd, batch->options.radius + 1, masks);
    finds->places.count = finds->rows.count = 0;
    uint32_t *starts = nigh__array_add(batch->context, &finds->places, ((size_t)1 << MAX_KEY_BITS) + 1 + count);
    uint64_t *words = nigh__array_add(batch->context, &finds->rows, count);
    finds->failed = starts == NULL || words == NULL;
    if (finds->failed) return;
    uint32_t *rows = starts + ((size_t)1 << MAX_KEY_BITS) + 1;
    struct division division = {.masks = masks,
                                .key_bits = useful_bits(count),
                                .starts = starts,
                                .rows = rows,
                                .words = words,
                                .budget = nigh__chunk_crowd_budget(batch, block, count)};
    for (; division.part < parts && !finds->failed; division.part++) {
        rows_divide(block, crowd, &division, rows, words);
        for (size_t key = crowd->key; key < crowd->key_end && !finds->failed; key++) {
            const uint32_t query = (uint32_t)batch->keys[key];
            if (nigh__chunk_settled(batch, query, crowd->row)) continue;
            if (division.part == 0) finds->found.probes++;
            if (division.part == 0) finds->found.truncated += crowd->truncated;
            look_up(batch, block, &division, query, finds);
        }
    }
}

/* ----------------------------------------------------------------------- tables */

struct nigh__chunk_deal {
    uint64_t places[8][256]; /* of each byte of a word, by its value: its bits, where they go */
};

void nigh__chunk_deal(const struct nigh__chunk_deal *deal, const uint64_t *words, size_t count, uint64_t *out) {
    for (size_t i = 0; i < count; i++) {
        uint64_t dealt = 0;
        for (uint32_t byte = 0; byte < 8; byte++) dealt |= deal->places[byte][words[i] >> (8 * byte) & 0xff];
        out[i] = dealt;
    }
}

/* Bits by which to look for a crowd: those of a block, or the first of them. */
struct part {
    uint32_t start, bits;
};

static struct part part_of(const struct nigh__chunk_batch *batch, uint32_t block) {
    const uint32_t blocks = batch->options.blocks;
    const uint32_t start = 64 * block / blocks;
    const uint32_t bits = 64 * (block + 1) / blocks - start;
    return (struct part){start, bits < MAX_KEY_BITS ? bits : MAX_KEY_BITS};
}

static size_t value_of(struct part part, uint64_t word) {
    return (size_t)(word >> part.start & ((UINT64_C(1) << part.bits) - 1));
}

/* The largest bucket of any block; returns how many queries are in it. */
static uint32_t largest_find(const struct nigh__chunk_batch *batch, uint32_t *counts, struct part *largest,
                             size_t *value) {
    uint32_t most = 0;
    for (uint32_t block = 0; block < batch->options.blocks; block++) {
        const struct part part = part_of(batch, block);
        memset(counts, 0, sizeof *counts << part.bits);
        for (uint32_t i = 0; i < batch->count; i++) counts[value_of(part, batch->queries[i])]++;
        for (size_t i = 0; i < (size_t)1 << part.bits; i++) {
            if (counts[i] <= most) continue;
            most = counts[i];
            *largest = part;
            *value = i;
        }
    }
    return most;
}

/* The bits, those that vary least in the bucket first. */
static void bits_order(const struct nigh__chunk_batch *batch, struct part part, size_t value, uint32_t *order) {
    uint64_t ones[64] = {0};
    uint64_t count = 0;
    for (uint32_t i = 0; i < batch->count; i++) {
        if (value_of(part, batch->queries[i]) != value) continue;
        count++;
        for (uint32_t bit = 0; bit < 64; bit++) ones[bit] += batch->queries[i] >> bit & 1;
    }
    for (uint32_t i = 0; i < 64; i++) {
        if (ones[i] > count - ones[i]) ones[i] = count - ones[i];
        uint32_t place = i;
        for (; place > 0 && ones[order[place - 1]] > ones[i]; place--) order[place] = order[place - 1];
        order[place] = i;
    }
}

/* One to each block in turn, as long as it has room, from its end: tables look at the beginning first. */
static void bits_deal(const struct nigh__chunk_batch *batch, const uint32_t *order, struct nigh__chunk_deal *deal) {
    const uint32_t blocks = batch->options.blocks;
    uint32_t dealt[NIGH__MAX_BLOCKS] = {0};
    uint32_t block = 0;
    for (uint32_t i = 0; i < 64; i++) {
        while (dealt[block] == 64 * (block + 1) / blocks - 64 * block / blocks) block = (block + 1) % blocks;
        const uint32_t to = 64 * (block + 1) / blocks - ++dealt[block];
        for (uint32_t byte = 0; byte < 256; byte++)
            deal->places[order[i] / 8][byte] |= (uint64_t)(byte >> (order[i] % 8) & 1) << to;
        block = (block + 1) % blocks;
    }
}

nigh_status nigh__chunk_deal_new(struct nigh__chunk_batch *batch, nigh_error *error) {
    if (batch->count < MANY_ROWS) return NIGH_OK;
    uint32_t order[64];
    struct part part = {0};
    size_t value = 0;
    uint32_t *counts = nigh__alloc(batch->context, (size_t)1 << MAX_KEY_BITS, sizeof *counts);
    bool made = counts != NULL;
    if (made && largest_find(batch, counts, &part, &value) >= MANY_ROWS + batch->count / BUDGET_SHARE) {
        batch->deal = nigh__alloc_zero(batch->context, 1, sizeof *batch->deal);
        batch->dealt = nigh__alloc(batch->context, batch->count, sizeof *batch->dealt);
        made = batch->deal != NULL && batch->dealt != NULL;
        if (made) {
            bits_order(batch, part, value, order);
            bits_deal(batch, order, batch->deal);
            nigh__chunk_deal(batch->deal, batch->queries, batch->count, batch->dealt);
        }
    }
    nigh__free(batch->context, counts);
    if (made) return NIGH_OK;
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory for %u queries", batch->given);
    return NIGH_ENOMEM;
}
