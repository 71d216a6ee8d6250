/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of features.  Blocks of 4 MiB, or of one set that is larger, hold them until
 * the limit is reached; all others go to the end of a file and are read by position:
 *
 *     place   block << 32 | word in the block
 *             IN_FILE     | word in the file
 *
 * Comparing two sets goes through both once, without a branch that cannot be foreseen.
 */
#include "dedup/sets.h"

#include <string.h>

#include "base/assert.h"
#include "base/status.h"

#define BLOCK_WORDS ((size_t)512 << 10)
#define IN_FILE (UINT64_C(1) << 63)

nigh_status nigh__sets_init(const nigh_dedup *dedup, uint64_t memory_bytes, struct nigh__sets *out, nigh_error *error) {
    *out = (struct nigh__sets){.dedup = dedup, .memory_bytes = memory_bytes, .blocks = NIGH__ARRAY(uint64_t *)};
    out->places = nigh__alloc(dedup->context, dedup->documents.count, sizeof *out->places);
    return out->places == NULL ? nigh__no_memory(error, "for features of documents") : NIGH_OK;
}

void nigh__sets_release(struct nigh__sets *sets) {
    if (sets->dedup == NULL) return;
    const nigh_context *context = sets->dedup->context;
    for (size_t i = 0; i < sets->blocks.count; i++) nigh__free(context, ((uint64_t **)sets->blocks.data)[i]);
    nigh__array_release(context, &sets->blocks);
    nigh__free(context, sets->places);
    if (sets->output.context != NULL) nigh__output_release(&sets->output);
    nigh__file_release(&sets->file);
    *sets = (struct nigh__sets){0};
}

/* --------------------------------------------------------------- adding -- */

static nigh_status open_file(struct nigh__sets *sets, nigh_error *error) {
    const nigh_context *context = sets->dedup->context;
    nigh_status status = nigh__file_open_nameless(context, sets->dedup->temporary, &sets->file, error);
    if (status != NIGH_OK) return status;
    return nigh__output_init(context, &sets->file, NULL, sets->file.path, &sets->output, error);
}

static nigh_status add_to_file(struct nigh__sets *sets, uint64_t document, const uint8_t *words, size_t count,
                               nigh_error *error) {
    nigh_status status = sets->file.open ? NIGH_OK : open_file(sets, error);
    if (status != NIGH_OK) return status;
    sets->places[document] = IN_FILE | sets->file_words;
    sets->file_words += count;
    return nigh__output_add(&sets->output, words, count * sizeof(uint64_t), error);
}

/* Begins a block that has room for so many words. */
static bool add_block(struct nigh__sets *sets, size_t words) {
    const nigh_context *context = sets->dedup->context;
    uint64_t *block = nigh__alloc_aligned(context, words, sizeof *block, NIGH__CACHE_LINE);
    uint64_t **place = block == NULL ? NULL : nigh__array_add(context, &sets->blocks, 1);
    if (place == NULL) {
        nigh__free(context, block);
        return false;
    }
    *place = block;
    sets->block_used = 0;
    sets->block_words = words;
    sets->memory_used += words * sizeof *block;
    return true;
}

nigh_status nigh__sets_add(struct nigh__sets *sets, uint64_t document, const uint8_t *words, nigh_error *error) {
    const size_t count = nigh__dedup_document(sets->dedup, document)->features;
    if (count > sets->block_words - sets->block_used) {
        const size_t wanted = count > BLOCK_WORDS ? count : BLOCK_WORDS;
        if (sets->memory_used + wanted * sizeof(uint64_t) > sets->memory_bytes)
            return add_to_file(sets, document, words, count, error);
        if (!add_block(sets, wanted)) return nigh__no_memory(error, "for features of documents");
    }
    const size_t block = sets->blocks.count - 1;
    sets->places[document] = (uint64_t)block << 32 | sets->block_used;
    memcpy(((uint64_t **)sets->blocks.data)[block] + sets->block_used, words, count * sizeof(uint64_t));
    sets->block_used += count;
    return NIGH_OK;
}

nigh_status nigh__sets_finish(struct nigh__sets *sets, nigh_error *error) {
    return sets->file.open ? nigh__output_flush(&sets->output, error) : NIGH_OK;
}

/* ------------------------------------------------------------ comparing -- */

void nigh__sets_reader_init(struct nigh__sets_reader *out) {
    *out = (struct nigh__sets_reader){{NIGH__ARRAY(uint64_t), NIGH__ARRAY(uint64_t)}};
}

void nigh__sets_reader_release(const nigh_context *context, struct nigh__sets_reader *reader) {
    for (size_t i = 0; i < 2; i++) nigh__array_release(context, &reader->words[i]);
}

static nigh_status find_set(const struct nigh__sets *sets, struct nigh__array *room, uint64_t document,
                            const uint64_t **out, nigh_error *error) {
    const uint64_t place = sets->places[document];
    if ((place & IN_FILE) == 0) {
        *out = ((uint64_t **)sets->blocks.data)[place >> 32] + (uint32_t)place;
        return NIGH_OK;
    }
    const size_t count = nigh__dedup_document(sets->dedup, document)->features;
    uint64_t *words = nigh__array_room(sets->dedup->context, room, count);
    if (words == NULL) return nigh__no_memory(error, "for features of documents");
    *out = words;
    return nigh__file_read(&sets->file, (place & ~IN_FILE) * sizeof *words, words, count * sizeof *words, error);
}

nigh_status nigh__sets_find(const struct nigh__sets *sets, struct nigh__sets_reader *reader, uint64_t document,
                            const uint64_t **out, nigh_error *error) {
    return find_set(sets, &reader->words[0], document, out, error);
}

uint64_t nigh__set_common(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count) {
    uint64_t common = 0;
    for (size_t i = 0, j = 0; i < a_count && j < b_count;) {
        const uint64_t x = a[i];
        const uint64_t y = b[j];
        NIGH__ASSERT((i == 0 || a[i - 1] < x) && (j == 0 || b[j - 1] < y));
        common += x == y;
        i += x <= y;
        j += y <= x;
    }
    return common;
}

nigh_status nigh__sets_common(const struct nigh__sets *sets, struct nigh__sets_reader *reader, uint64_t a, uint64_t b,
                              uint64_t *out, nigh_error *error) {
    const uint64_t *x = NULL;
    const uint64_t *y = NULL;
    nigh_status status = find_set(sets, &reader->words[0], a, &x, error);
    if (status == NIGH_OK) status = find_set(sets, &reader->words[1], b, &y, error);
    if (status == NIGH_OK)
        *out = nigh__set_common(x, nigh__dedup_document(sets->dedup, a)->features, y,
                                nigh__dedup_document(sets->dedup, b)->features);
    return status;
}

nigh_status nigh__sets_common_with(const struct nigh__sets *sets, struct nigh__sets_reader *reader, uint64_t document,
                                   const uint64_t *set, size_t count, uint64_t *out, nigh_error *error) {
    const uint64_t *own = NULL;
    nigh_status status = find_set(sets, &reader->words[0], document, &own, error);
    if (status == NIGH_OK)
        *out = nigh__set_common(own, nigh__dedup_document(sets->dedup, document)->features, set, count);
    return status;
}
