/* SPDX-License-Identifier: Apache-2.0 */
/* The minima of minima.h: which thread has which functions changes none of them. */
#include "terms/minima.h"

#include <stdatomic.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "kernel/hamming.h"
#include "kernel/lowest.h"

#define PRIME ((UINT64_C(1) << 61) - 1)
#define AHEAD_RANK 32u
#define MOST_ROWS 512u   /* of a block that are taken at once */
#define TICK_BLOCKS 256u /* between two looks at whether to go on */

__extension__ typedef unsigned __int128 wide;

struct function {
    uint64_t a, b;
};

struct making {
    const struct nigh__blocks *blocks;
    const uint32_t *ranks;
    struct nigh__minima *minima;
    const struct nigh__lowest *kernel;
    uint64_t first_block;
    struct nigh__progress *progress;
    atomic_bool cancelled;
    struct function functions[NIGH__FILTER_MAX_HASHES];
};

static void draw_functions(uint64_t seed, uint32_t count, struct function *out) {
    struct nigh__rng rng = {.state = nigh__mix(seed)};
    for (uint32_t j = 0; j < count; j++) {
        out[j].a = 1 + nigh__rng_next(&rng) % (PRIME - 1);
        out[j].b = nigh__rng_next(&rng) % PRIME;
    }
}

/* The prime is a power of two less one, so what is above 61 bits counts as if it stood below. */
static uint64_t value_of(struct function function, uint64_t block) {
    const wide sum = (wide)function.a * block + function.b;
    const uint64_t folded = ((uint64_t)sum & PRIME) + (uint64_t)(sum >> 61);
    return folded >= PRIME ? folded - PRIME : folded;
}

/* The first function of a part. */
static uint32_t part_begin(const struct nigh__minima *minima, uint32_t part) {
    return minima->hashes * part / minima->parts;
}

/* Terms of one block that have a rank come to know its values. */
static void take_block(const struct making *making, uint32_t block, const uint64_t *values, uint32_t width,
                       uint64_t *table) {
    const struct nigh__blocks *blocks = making->blocks;
    const uint32_t *const terms = blocks->block_terms;
    const uint32_t *const ranks = making->ranks;
    const uint64_t end = blocks->begins[block + 1];
    for (uint64_t i = blocks->begins[block]; i < end;) {
        uint32_t rows[MOST_ROWS];
        size_t count = 0;
        for (; i < end && count < MOST_ROWS; i++) {
            if (i + AHEAD_RANK < blocks->postings) __builtin_prefetch(&ranks[terms[i + AHEAD_RANK]]);
            rows[count] = ranks[terms[i]];
            count += rows[count] != NIGH__UNRANKED;
        }
        making->kernel->lower(table, width, rows, count, values);
    }
}

static void make_part(void *user, uint32_t part) {
    struct making *making = user;
    const struct nigh__minima *minima = making->minima;
    const uint32_t begin = part_begin(minima, part);
    const uint32_t width = part_begin(minima, part + 1) - begin;
    uint64_t *table = minima->values + (size_t)minima->ranked * begin;
    for (size_t i = 0; i < (size_t)minima->ranked * width; i++) table[i] = UINT64_MAX;
    for (uint32_t block = 0; block < making->blocks->blocks; block++) {
        if (block % TICK_BLOCKS == 0) {
            if (part == 0 && nigh__progress_tick(making->progress, "positions", block, making->blocks->blocks))
                atomic_store(&making->cancelled, true);
            if (atomic_load_explicit(&making->cancelled, memory_order_relaxed)) return;
        }
        uint64_t values[NIGH__FILTER_MAX_HASHES];
        for (uint32_t j = 0; j < width; j++)
            values[j] = value_of(making->functions[begin + j], making->first_block + block + 1);
        take_block(making, block, values, width, table);
    }
}

nigh_status nigh__minima_make(const struct nigh__blocks *blocks, const uint32_t *ranks, uint32_t ranked,
                              const struct nigh__filter_shape *shape, uint64_t first_block, uint32_t threads,
                              struct nigh__progress *progress, struct nigh__minima *out, nigh_error *error) {
    const uint32_t asked = nigh__threads_resolve(threads);
    struct nigh__progress nobody;
    nigh__progress_init(&nobody, NULL);
    *out = (struct nigh__minima){.context = blocks->context,
                                 .hashes = shape->hashes,
                                 .parts = asked < shape->hashes ? asked : shape->hashes,
                                 .ranked = ranked};
    if (first_block > PRIME - 1 - blocks->blocks) return nigh__fail(error, NIGH_ELIMIT, "too many blocks");
    out->values = nigh__alloc_large(blocks->context, (size_t)ranked * shape->hashes, sizeof *out->values);
    if (out->values == NULL) {
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory for the positions of %u terms", ranked);
        return NIGH_ENOMEM;
    }
    struct making making = {.blocks = blocks,
                            .ranks = ranks,
                            .minima = out,
                            .kernel = nigh__lowest_choose(blocks->context->hamming->name),
                            .first_block = first_block,
                            .progress = progress == NULL ? &nobody : progress};
    draw_functions(shape->seed, shape->hashes, making.functions);
    nigh__threads_run(out->parts, make_part, &making);
    if (!atomic_load(&making.cancelled)) return NIGH_OK;
    nigh__minima_release(out);
    return nigh__progress_cancelled(error);
}

void nigh__minima_release(struct nigh__minima *minima) {
    if (minima->context != NULL) nigh__free(minima->context, minima->values);
    minima->values = NULL;
}

/* value mod bits, by a product instead of a division: the quotient so found is at most two too small. */
static uint32_t reduce(uint64_t value, uint32_t bits, uint64_t inverse) {
    uint64_t rest = value - (uint64_t)((wide)value * inverse >> 64) * bits;
    while (rest >= bits) rest -= bits;
    return (uint32_t)rest;
}

void nigh__minima_positions(const struct nigh__minima *minima, uint32_t rank, uint32_t hashes, uint32_t bits,
                            uint32_t *out) {
    const uint64_t inverse = UINT64_MAX / bits;
    for (uint32_t part = 0; part < minima->parts; part++) {
        const uint32_t begin = part_begin(minima, part);
        const uint32_t end = part_begin(minima, part + 1);
        const uint64_t *row = minima->values + (size_t)minima->ranked * begin + (size_t)rank * (end - begin);
        for (uint32_t j = begin; j < end && j < hashes; j++) out[j] = reduce(row[j - begin], bits, inverse);
    }
}
