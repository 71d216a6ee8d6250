/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bands.  Two sets of Jaccard index J agree in one smallest value with probability
 * J, in a band of r of them with J^r, and in one of b bands with 1 - (1 - J^r)^b.
 * Of 256 values, the more go into a band the fewer documents share one by chance,
 * and the fewer of those that are alike; so r is the largest, up to 16, with which
 * at least .994 of the pairs that are just alike share a band:
 *
 *     threshold   .95    .9     .85    .8     .75    .7     .6     .5     .4     .3
 *     rows         16    13     10      8      7      6      4      3      3      2
 *     bands        16    19     25     32     36     42     64     85     85    128
 *     found      .9999  .9962  .9958  .9972  .9942  .9948  .9999 1.0000  .9964 1.0000
 *
 * Below .2 not even two rows are enough: .95 at .15, .72 at .1.  Who looks for pairs as
 * little alike as that should take the method exact.
 *
 * The keys of documents are kept by bands, for one band is looked at at a time:
 *
 *     block   documents 0 1 2 ... | keys of band 0 ... | keys of band 1 ... | ...
 *
 * 4,096 documents each.  Strips of a block are a cache line longer than a power of
 * two, lest all bands of a document fall on the same lines of the cache.  Blocks beyond
 * the memory go to a nameless file, from which a strip is read at a time.
 *
 * A key is a sum of products of neighbours, a random number added to each (NH, of
 * Black and others, 1999), scrambled once: what two different bands have in common by
 * chance costs a comparison of bits and no more.
 */
#include "dedup/bands.h"

#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/status.h"

#define MAX_ROWS 16u
#define MIN_ROWS 2u
#define ENOUGH 0.994
#define ODD UINT64_C(0x9e3779b97f4a7c15)
#define STRIP (NIGH__BANDS_BLOCK + NIGH__CACHE_LINE / sizeof(uint32_t))

static nigh_status no_memory(nigh_error *error) {
    (void)nigh__fail(error, NIGH_ENOMEM, "no memory for keys of documents");
    return NIGH_ENOMEM;
}

/* ----------------------------------------------------------------- choosing -- */

static double power(double base, uint32_t exponent) {
    double result = 1;
    for (uint32_t i = 0; i < exponent; i++) result *= base;
    return result;
}

void nigh__bands_choose(double threshold, uint32_t *bands, uint32_t *rows) {
    *rows = MAX_ROWS;
    while (*rows > MIN_ROWS && 1 - power(1 - power(threshold, *rows), NIGH__DEDUP_BITS / *rows) < ENOUGH) (*rows)--;
    *bands = NIGH__DEDUP_BITS / *rows;
}

static inline __attribute__((always_inline)) void make_keys(const uint32_t *minima, uint32_t bands, uint32_t rows,
                                                            uint8_t *keys) {
    uint32_t added[MAX_ROWS];
    for (uint32_t i = 0; i < rows; i++) added[i] = (uint32_t)nigh__mix(i);
    for (uint32_t i = 0; i < bands; i++, minima += rows) {
        uint64_t sum = rows % 2 == 0 ? 0 : (uint64_t)minima[rows - 1] * ODD;
        for (uint32_t k = 0; k + 1 < rows; k += 2)
            sum += (uint64_t)(minima[k] + added[k]) * (minima[k + 1] + added[k + 1]);
        nigh__store32(keys + i * sizeof(uint32_t), (uint32_t)(sum * ODD >> 32));
    }
}

/* With the usual number of rows known to the compiler. */
void nigh__bands_make_keys(const uint32_t *minima, uint32_t bands, uint32_t rows, uint8_t *keys) {
    if (rows == 8)
        make_keys(minima, bands, 8, keys);
    else
        make_keys(minima, bands, rows, keys);
}

/* ------------------------------------------------------------------ keeping -- */

static size_t block_words(const struct nigh__bands *bands) { return (size_t)(bands->count + 1) * STRIP; }

void nigh__bands_init(const nigh_context *context, uint32_t bands, uint64_t memory_bytes, const char *temporary,
                      struct nigh__bands *out) {
    *out = (struct nigh__bands){
        .context = context, .temporary = temporary, .count = bands, .blocks = NIGH__ARRAY(uint32_t *)};
    out->most_blocks = memory_bytes / (block_words(out) * sizeof(uint32_t));
    if (out->most_blocks == 0) out->most_blocks = 1;
}

void nigh__bands_release(struct nigh__bands *bands) {
    if (bands->context == NULL) return;
    for (size_t i = 0; i < bands->blocks.count; i++) nigh__free(bands->context, ((uint32_t **)bands->blocks.data)[i]);
    nigh__array_release(bands->context, &bands->blocks);
    nigh__file_release(&bands->file);
    *bands = (struct nigh__bands){0};
}

static uint32_t *last_block(const struct nigh__bands *bands) {
    return ((uint32_t **)bands->blocks.data)[bands->blocks.count - 1];
}

/* The last block is full and there is no room for another: its bytes go to the file. */
static nigh_status write_block(struct nigh__bands *bands, nigh_error *error) {
    const size_t bytes = block_words(bands) * sizeof(uint32_t);
    nigh_status status =
        bands->file.open ? NIGH_OK : nigh__file_open_nameless(bands->context, bands->temporary, &bands->file, error);
    if (status == NIGH_OK)
        status = nigh__file_write(&bands->file, bands->file_blocks * bytes, last_block(bands), bytes, error);
    bands->file_blocks += status == NIGH_OK;
    return status;
}

static nigh_status next_block(struct nigh__bands *bands, nigh_error *error) {
    bands->used = 0;
    if (bands->blocks.count == bands->most_blocks) return write_block(bands, error);
    uint32_t *block = nigh__alloc_aligned(bands->context, block_words(bands), sizeof *block, NIGH__CACHE_LINE);
    uint32_t **place = block == NULL ? NULL : nigh__array_add(bands->context, &bands->blocks, 1);
    if (place == NULL) {
        nigh__free(bands->context, block);
        return no_memory(error);
    }
    for (size_t i = NIGH__BANDS_BLOCK; i < block_words(bands); i += STRIP) /* what is between strips is written, too */
        memset(block + i, 0, (STRIP - NIGH__BANDS_BLOCK) * sizeof *block);
    *place = block;
    return NIGH_OK;
}

nigh_status nigh__bands_add(struct nigh__bands *bands, uint32_t document, const uint8_t *keys, nigh_error *error) {
    if (bands->documents % NIGH__BANDS_BLOCK == 0) {
        nigh_status status = next_block(bands, error);
        if (status != NIGH_OK) return status;
    }
    uint32_t *place = last_block(bands) + bands->used++;
    *place = document;
    for (uint32_t i = 0; i < bands->count; i++) place[(i + 1) * STRIP] = nigh__load32(keys + i * sizeof *place);
    bands->documents++;
    return NIGH_OK;
}

/* ------------------------------------------------------------------ reading -- */

uint64_t nigh__bands_blocks(const struct nigh__bands *bands) { return bands->blocks.count + bands->file_blocks; }

/* Blocks are in memory but for those in the file, which come before the last. */
nigh_status nigh__bands_read(const struct nigh__bands *bands, uint32_t band, uint64_t block, struct nigh__strip *out,
                             nigh_error *error) {
    const uint64_t early = bands->blocks.count - 1;
    const bool last = block + 1 == nigh__bands_blocks(bands);
    out->count = last ? bands->used : NIGH__BANDS_BLOCK;
    if (block < early || last) {
        const uint32_t *words = ((uint32_t **)bands->blocks.data)[last ? early : block];
        out->documents = words;
        out->keys = words + (size_t)(band + 1) * STRIP;
        return NIGH_OK;
    }
    const uint64_t begin = (block - early) * block_words(bands);
    const uint64_t key = begin + (uint64_t)(band + 1) * STRIP;
    out->documents = out->room[0];
    out->keys = out->room[1];
    nigh_status status =
        nigh__file_read(&bands->file, begin * sizeof(uint32_t), out->room[0], sizeof out->room[0], error);
    if (status != NIGH_OK) return status;
    return nigh__file_read(&bands->file, key * sizeof(uint32_t), out->room[1], sizeof out->room[1], error);
}

uint64_t nigh__bands_disk_bytes(const struct nigh__bands *bands) {
    return bands->file_blocks * block_words(bands) * sizeof(uint32_t);
}
