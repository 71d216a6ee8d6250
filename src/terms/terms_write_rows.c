/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From blocks to rows.  A block sets one bit in each of some hundred rows, which lie far apart; so
 * 512 blocks at a time set their bits in a tile, 64 bytes of every row, that stays in the cache,
 * and tiles are copied side by side into a stripe, which is written row by row:
 *
 *     tile            stripe of 3 tiles               file
 *     row 0 | 64 |    row 0 | 64 | 64 | 64 |   ==>    row 0 | .... stripe 0 | stripe 1 | ... |
 *     row 1 | 64 |    row 1 | 64 | 64 | 64 |          row 1 | .... stripe 0 | stripe 1 | ... |
 *
 * A stripe is 64 MB at most (or one tile), however many blocks there are; a group that is one
 * stripe is written in one piece.  Threads make tiles; which thread makes which changes nothing.
 * Cost: an access to memory for each term of each block, asked for ahead, and one in the cache
 * for each of its positions.
 */
#include "terms/terms_write_rows.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/threads.h"
#include "kernel/rows.h"
#include "terms/terms_format.h"

#define TILE_ROW 64u /* bytes of a row in a tile */
#define STRIPE_BYTES (UINT64_C(64) << 20)
#define READ_BACK ((size_t)1 << 20)
#define AHEAD 16u /* terms whose positions are asked for */

struct making {
    const struct nigh__blocks *blocks;
    const struct nigh__positions *positions;
    uint32_t bits; /* m: rows */
    uint32_t threads;
    uint32_t first_tile, tiles; /* of the stripe */
    uint8_t *stripe;            /* bits * tiles * TILE_ROW bytes */
    uint8_t *own;               /* a tile for each thread */
    uint64_t set_bits[NIGH__MAX_THREADS];
};

/* ----------------------------------------------------------------- tiles -- */

static void set_block(const struct making *making, uint8_t *tile, uint64_t block) {
    const struct nigh__blocks *blocks = making->blocks;
    const struct nigh__positions *positions = making->positions;
    const uint64_t end = blocks->begins[block + 1];
    const uint32_t byte = (uint32_t)(block % NIGH__TERMS_BLOCKS_A_TILE / 8);
    const uint32_t bit = (uint32_t)(block % 8);
    for (uint64_t i = blocks->begins[block]; i < end; i++) {
        if (i + AHEAD < blocks->postings)
            __builtin_prefetch(nigh__positions_of(positions, blocks->block_terms[i + AHEAD]));
        const uint32_t term = blocks->block_terms[i];
        const uint32_t count = nigh__positions_count(positions, term);
        const uint32_t *own = nigh__positions_of(positions, term);
        for (uint32_t j = 0; j < count; j++) {
            uint8_t *place = tile + (size_t)own[j] * TILE_ROW + byte;
            *place = (uint8_t)(*place | 1u << bit);
        }
    }
}

static void copy_tile(const struct making *making, const uint8_t *tile, uint32_t within) {
    const size_t stride = (size_t)making->tiles * TILE_ROW;
    uint8_t *to = making->stripe + (size_t)within * TILE_ROW;
    for (uint32_t row = 0; row < making->bits; row++)
        memcpy(to + row * stride, tile + (size_t)row * TILE_ROW, TILE_ROW);
}

static void make_tiles(void *user, uint32_t thread) {
    struct making *making = user;
    const size_t bytes = (size_t)making->bits * TILE_ROW;
    uint8_t *tile = making->own + thread * bytes;
    for (uint32_t within = thread; within < making->tiles; within += making->threads) {
        const uint64_t begin = ((uint64_t)making->first_tile + within) * NIGH__TERMS_BLOCKS_A_TILE;
        const uint64_t end = begin + NIGH__TERMS_BLOCKS_A_TILE;
        memset(tile, 0, bytes);
        for (uint64_t block = begin; block < end && block < making->blocks->blocks; block++)
            set_block(making, tile, block);
        making->set_bits[thread] += making->blocks->context->rows->count(tile, bytes);
        copy_tile(making, tile, within);
    }
}

/* --------------------------------------------------------------- stripes -- */

/* `start` is where row 0 begins in the file. */
static nigh_status write_stripe(const struct making *making, const struct nigh__file *file, uint64_t start,
                                uint64_t row_bytes, struct nigh__progress *progress, nigh_error *error) {
    const size_t length = (size_t)making->tiles * TILE_ROW;
    if (length == row_bytes) return nigh__file_write(file, start, making->stripe, length * making->bits, error);
    start += (uint64_t)making->first_tile * TILE_ROW;
    for (uint32_t row = 0; row < making->bits; row++) {
        nigh_status status =
            nigh__file_write(file, start + row * row_bytes, making->stripe + row * length, length, error);
        if (status != NIGH_OK) return status;
        if (nigh__progress_tick(progress, "writing rows", making->first_tile, row_bytes / TILE_ROW))
            return nigh__progress_cancelled(error);
    }
    return NIGH_OK;
}

/* Rows of several stripes are whole only in the file. */
static nigh_status hash_back(struct making *making, const struct nigh__file *file, uint64_t start, uint64_t length,
                             struct nigh__hasher *hasher, nigh_error *error) {
    for (uint64_t done = 0; done < length;) {
        const size_t part = (size_t)(length - done < READ_BACK ? length - done : READ_BACK);
        nigh_status status = nigh__file_read(file, start + done, making->stripe, part, error);
        if (status != NIGH_OK) return status;
        nigh__hasher_add(hasher, making->stripe, part);
        done += part;
    }
    return NIGH_OK;
}

static nigh_status write_stripes(struct making *making, struct nigh__section_writer *writer, uint64_t start,
                                 uint32_t tiles_a_stripe, struct nigh__progress *progress, nigh_error *error) {
    const uint64_t row_bytes = nigh__terms_row_bytes(making->blocks->blocks);
    const uint32_t all = (uint32_t)(row_bytes / TILE_ROW);
    for (uint32_t tile = 0; tile < all; tile += making->tiles) {
        making->first_tile = tile;
        making->tiles = all - tile < tiles_a_stripe ? all - tile : tiles_a_stripe;
        nigh__threads_run(making->threads, make_tiles, making);
        if (nigh__progress_tick(progress, "writing rows", tile, all)) return nigh__progress_cancelled(error);
        nigh_status status = write_stripe(making, writer->output.file, start, row_bytes, progress, error);
        if (status != NIGH_OK) return status;
    }
    const uint64_t length = row_bytes * making->bits;
    if (all > tiles_a_stripe) return hash_back(making, writer->output.file, start, length, writer->hasher, error);
    nigh__hasher_add(writer->hasher, making->stripe, (size_t)length);
    return NIGH_OK;
}

nigh_status nigh__terms_write_rows(struct nigh__section_writer *writer, uint32_t type,
                                   const struct nigh__blocks *blocks, const struct nigh__positions *positions,
                                   uint64_t stripe_bytes, uint32_t threads, struct nigh__progress *progress,
                                   uint64_t *set_bits, nigh_error *error) {
    *set_bits = 0;
    nigh_status status = nigh__section_begin(writer, type, error);
    if (status == NIGH_OK) status = nigh__output_flush(&writer->output, error);
    if (status != NIGH_OK) return status;
    const uint64_t row_bytes = nigh__terms_row_bytes(blocks->blocks);
    const uint64_t all = row_bytes / TILE_ROW;
    const uint64_t tile_bytes = (uint64_t)positions->shape.bits * TILE_ROW;
    if (stripe_bytes == 0 || stripe_bytes > STRIPE_BYTES) stripe_bytes = STRIPE_BYTES;
    uint64_t a_stripe = stripe_bytes / tile_bytes == 0 ? 1 : stripe_bytes / tile_bytes;
    if (a_stripe > all) a_stripe = all;
    struct making making = {.blocks = blocks, .positions = positions, .bits = positions->shape.bits};
    making.threads = nigh__threads_resolve(threads);
    if (making.threads > a_stripe) making.threads = a_stripe == 0 ? 1 : (uint32_t)a_stripe;
    const size_t room = (size_t)(a_stripe * tile_bytes);
    const nigh_context *context = writer->context;
    making.stripe = nigh__alloc_large(context, room < READ_BACK ? READ_BACK : room, 1);
    making.own = nigh__alloc_large(context, making.threads, (size_t)tile_bytes);
    if (making.stripe == NULL || making.own == NULL)
        status = nigh__no_memory(error, "to make rows of bits");
    else if (all > 0)
        status = write_stripes(&making, writer, writer->output.offset, (uint32_t)a_stripe, progress, error);
    nigh__free(context, making.stripe);
    nigh__free(context, making.own);
    if (status != NIGH_OK) return status;
    for (uint32_t i = 0; i < making.threads; i++) *set_bits += making.set_bits[i];
    writer->output.offset += row_bytes * positions->shape.bits;
    nigh__section_end(writer, positions->shape.bits);
    return NIGH_OK;
}
