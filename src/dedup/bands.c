/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The keys of all documents (signature/band_keys.h says what they are), by bands, for one
 * band is looked at at a time:
 *
 *     block   documents 0 1 2 ... | keys of band 0 ... | keys of band 1 ... | ...
 *     later   documents 0 1 2 ... | high halves of band 0 ... | ... | low halves of band 0 ... | ...
 *
 * 4,096 documents each.  Strips of a block are a cache line longer than a power of
 * two, lest all bands of a document fall on the same lines of the cache.  Blocks beyond
 * the memory go to a nameless file, from which a strip is read at a time.
 *
 * Keys are a third of the memory, and nobody knows in advance how many documents will come. So the
 * first 2^26 documents keep only the high halves of their keys. If no others follow, each meets 1 /
 * 64 others by chance in a band. If others follow, only one in 64 of them shares the high half of a
 * document whose low half is not known, and is compared for that reason.
 */
#include "dedup/bands.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/status.h"

#define STRIP (NIGH__BANDS_BLOCK + NIGH__CACHE_LINE / sizeof(uint32_t))
#define DOCUMENT_STRIPS 2u /* which hold the numbers of documents, uint64_t */

/* ------------------------------------------------------------------ keeping -- */

static bool is_narrow(const struct nigh__bands *bands, uint64_t block) { return block < bands->narrow_blocks; }

/* Words of a block, which is the so-manieth of all. */
static size_t block_words(const struct nigh__bands *bands, uint64_t block) {
    return (DOCUMENT_STRIPS + (size_t)bands->count * (is_narrow(bands, block) ? 1 : 2)) * STRIP;
}

void nigh__bands_init(const nigh_context *context, uint32_t bands, uint64_t memory_bytes, const char *temporary,
                      uint64_t narrow_documents, struct nigh__bands *out) {
    *out = (struct nigh__bands){.context = context,
                                .temporary = temporary,
                                .count = bands,
                                .narrow_blocks = narrow_documents / NIGH__BANDS_BLOCK,
                                .memory_left = memory_bytes,
                                .blocks = NIGH__ARRAY(uint32_t *)};
}

void nigh__bands_release(struct nigh__bands *bands) {
    if (bands->context == NULL) return;
    for (size_t i = 0; i < bands->blocks.count; i++) nigh__free(bands->context, ((uint32_t **)bands->blocks.data)[i]);
    nigh__array_release(bands->context, &bands->blocks);
    nigh__file_release(&bands->file);
    *bands = (struct nigh__bands){0};
}

/* Where the last block of those in memory is. */
static uint32_t **last_block(const struct nigh__bands *bands) {
    return (uint32_t **)bands->blocks.data + (bands->blocks.count - 1);
}

/* The place in the file of the first word of a block; those in memory but for the last come before all in the file. */
static uint64_t file_place(const struct nigh__bands *bands, uint64_t block) {
    const uint64_t first = bands->blocks.count - 1;
    const uint64_t narrow_end = bands->narrow_blocks > first ? bands->narrow_blocks : first;
    const uint64_t narrow = (block < narrow_end ? block : narrow_end) - first;
    return narrow * block_words(bands, 0) + (block - first - narrow) * block_words(bands, bands->narrow_blocks);
}

/* The last block is full and there is no room for another: its words go to the file. */
static nigh_status write_block(struct nigh__bands *bands, uint64_t block, nigh_error *error) {
    const size_t bytes = block_words(bands, block) * sizeof(uint32_t);
    nigh_status status =
        bands->file.open ? NIGH_OK : nigh__file_open_nameless(bands->context, bands->temporary, &bands->file, error);
    if (status == NIGH_OK)
        status = nigh__file_write(&bands->file, file_place(bands, block) * sizeof(uint32_t), *last_block(bands), bytes,
                                  error);
    bands->file_blocks += status == NIGH_OK;
    return status;
}

/* What is between strips is written to the file, too. */
static uint32_t *new_block(const struct nigh__bands *bands, size_t words) {
    const size_t gap = STRIP - NIGH__BANDS_BLOCK;
    uint32_t *block = nigh__alloc_aligned(bands->context, words, sizeof *block, NIGH__CACHE_LINE);
    if (block == NULL) return NULL;
    memset(block + (size_t)DOCUMENT_STRIPS * NIGH__BANDS_BLOCK, 0, DOCUMENT_STRIPS * gap * sizeof *block);
    for (size_t end = (DOCUMENT_STRIPS + 1) * STRIP; end <= words; end += STRIP)
        memset(block + (end - gap), 0, gap * sizeof *block);
    return block;
}

/* The last block of those in memory is free for another, whose keys may be wider. */
static nigh_status reuse_block(struct nigh__bands *bands, uint64_t block, nigh_error *error) {
    const size_t words = block_words(bands, block);
    if (block == 0 || words == block_words(bands, block - 1)) return NIGH_OK;
    uint32_t *wider = new_block(bands, words);
    if (wider == NULL) return nigh__no_memory(error, "for keys of documents");
    nigh__free(bands->context, *last_block(bands));
    *last_block(bands) = wider;
    return NIGH_OK;
}

static nigh_status next_block(struct nigh__bands *bands, nigh_error *error) {
    const uint64_t block = nigh__bands_blocks(bands);
    const size_t bytes = block_words(bands, block) * sizeof(uint32_t);
    bands->used = 0;
    if (bands->blocks.count > 0 && bytes > bands->memory_left) {
        nigh_status status = write_block(bands, block - 1, error);
        return status == NIGH_OK ? reuse_block(bands, block, error) : status;
    }
    uint32_t *fresh = new_block(bands, bytes / sizeof *fresh);
    uint32_t **place = fresh == NULL ? NULL : nigh__array_add(bands->context, &bands->blocks, 1);
    if (place == NULL) {
        nigh__free(bands->context, fresh);
        return nigh__no_memory(error, "for keys of documents");
    }
    bands->memory_left -= nigh__smaller(bytes, bands->memory_left);
    *place = fresh;
    return NIGH_OK;
}

nigh_status nigh__bands_add(struct nigh__bands *bands, uint64_t document, const uint8_t *keys, nigh_error *error) {
    if (bands->documents % NIGH__BANDS_BLOCK == 0) {
        nigh_status status = next_block(bands, error);
        if (status != NIGH_OK) return status;
    }
    NIGH__ASSERT(bands->used < NIGH__BANDS_BLOCK && bands->used == bands->documents % NIGH__BANDS_BLOCK);
    uint32_t *block = *last_block(bands);
    nigh__store64(block + (size_t)2 * bands->used, document);
    uint32_t *place = block + (size_t)DOCUMENT_STRIPS * STRIP + bands->used++;
    for (uint32_t i = 0; i < bands->count; i++, place += STRIP) *place = nigh__load32(keys + (size_t)i * 8 + 4);
    const bool narrow = is_narrow(bands, bands->documents / NIGH__BANDS_BLOCK);
    for (uint32_t i = 0; !narrow && i < bands->count; i++, place += STRIP) *place = nigh__load32(keys + (size_t)i * 8);
    bands->documents++;
    bands->end = document + 1;
    return NIGH_OK;
}

/* ------------------------------------------------------------------ reading -- */

uint64_t nigh__bands_blocks(const struct nigh__bands *bands) { return bands->blocks.count + bands->file_blocks; }

bool nigh__bands_are_wide(const struct nigh__bands *bands) { return nigh__bands_blocks(bands) > bands->narrow_blocks; }

/* Strips of a block in memory. */
static void show_strips(const struct nigh__bands *bands, const uint32_t *words, uint32_t band,
                        struct nigh__strip *out) {
    out->documents = (const uint64_t *)(const void *)words;
    out->keys = words + (size_t)(DOCUMENT_STRIPS + band) * STRIP;
    if (out->low_keys != NULL) out->low_keys = out->keys + (size_t)bands->count * STRIP;
}

/* Strips of a block in the file, from its word `begin` on. */
static nigh_status read_strips(const struct nigh__bands *bands, uint64_t begin, uint32_t band, struct nigh__strip *out,
                               nigh_error *error) {
    const uint64_t key = begin + (uint64_t)(DOCUMENT_STRIPS + band) * STRIP;
    const uint64_t low = key + (uint64_t)bands->count * STRIP;
    out->documents = out->document_room;
    out->keys = out->key_room[0];
    nigh_status status =
        nigh__file_read(&bands->file, begin * sizeof(uint32_t), out->document_room, sizeof out->document_room, error);
    if (status == NIGH_OK)
        status =
            nigh__file_read(&bands->file, key * sizeof(uint32_t), out->key_room[0], sizeof out->key_room[0], error);
    if (status == NIGH_OK && out->low_keys != NULL)
        status =
            nigh__file_read(&bands->file, low * sizeof(uint32_t), out->key_room[1], sizeof out->key_room[1], error);
    return status;
}

/* Blocks are in memory but for those in the file, which come before the last. */
nigh_status nigh__bands_read(const struct nigh__bands *bands, uint32_t band, uint64_t block, struct nigh__strip *out,
                             nigh_error *error) {
    NIGH__ASSERT(band < bands->count && block < nigh__bands_blocks(bands));
    const uint64_t early = bands->blocks.count - 1;
    const bool last = block + 1 == nigh__bands_blocks(bands);
    out->count = last ? bands->used : NIGH__BANDS_BLOCK;
    out->low_keys = is_narrow(bands, block) ? NULL : out->key_room[1];
    if (block >= early && !last) return read_strips(bands, file_place(bands, block), band, out, error);
    show_strips(bands, ((uint32_t **)bands->blocks.data)[last ? early : block], band, out);
    return NIGH_OK;
}

uint64_t nigh__bands_disk_bytes(const struct nigh__bands *bands) {
    if (bands->file_blocks == 0) return 0;
    return file_place(bands, bands->blocks.count - 1 + bands->file_blocks) * sizeof(uint32_t);
}
