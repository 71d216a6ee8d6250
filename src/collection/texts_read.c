/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Reading texts and keys.  A block is copied out of the map, compared with its checksum
 * and unpacked from the copy, so that nobody can change it on the way.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/texts.h"

/* A block ends with the first text past 64 KiB. */
#define MAX_BLOCK ((uint64_t)NIGH_MAX_TEXT_LENGTH + ((uint64_t)64 << 10))

static uint64_t count_of(const struct nigh__section_entry *sections, enum nigh__section_type type) {
    return sections[type].count;
}

bool nigh__texts_fit(const struct nigh__section_entry *sections, uint64_t documents) {
    const bool texts = sections[NIGH__SECTION_TEXT_OFFSETS].offset != 0;
    const bool keys = sections[NIGH__SECTION_KEYS].offset != 0;
    if (texts != (sections[NIGH__SECTION_TEXT_BLOCKS].offset != 0) ||
        texts != (sections[NIGH__SECTION_TEXT_BYTES].offset != 0))
        return false;
    if (texts && count_of(sections, NIGH__SECTION_TEXT_BLOCKS) == 0) return false;
    if (!keys) return true;
    const uint64_t count = count_of(sections, NIGH__SECTION_KEYS);
    return documents > 0 && count > 0 && count % documents == 0 && count / documents <= NIGH_MAX_KEYS;
}

/* ------------------------------------------------------------------ texts -- */

void nigh__text_cache_init(struct nigh__text_cache *cache) {
    *cache = (struct nigh__text_cache){.raw = NIGH__ARRAY(char), .packed = NIGH__ARRAY(char)};
}

void nigh__text_cache_release(const nigh_context *context, struct nigh__text_cache *cache) {
    nigh__array_release(context, &cache->raw);
    nigh__array_release(context, &cache->packed);
    cache->segment = NULL;
}

/* The block in which unpacked bytes begin; inside a guard.  Ends for any entries. */
static uint64_t find_block(const struct nigh__segment *segment, uint64_t begin) {
    uint64_t low = 0;
    uint64_t high = segment->sections[NIGH__SECTION_TEXT_BLOCKS].count - 1;
    while (low + 1 < high) {
        const uint64_t middle = low + (high - low) / 2;
        *(NIGH__ONCE(segment->text_blocks[middle].begin) <= begin ? &low : &high) = middle;
    }
    return low;
}

/* A block's entry, and where it ends. */
struct block {
    struct nigh__text_block entry;
    uint64_t length;        /* unpacked */
    uint64_t packed_length; /* as it lies */
};

/* Inside a guard.  False where the entries lie. */
static bool read_entry(const struct nigh__segment *segment, uint64_t index, struct block *out) {
    const uint64_t bytes = segment->sections[NIGH__SECTION_TEXT_BYTES].length;
    if (index + 1 >= segment->sections[NIGH__SECTION_TEXT_BLOCKS].count) return false;
    struct nigh__text_block next;
    memcpy(&out->entry, &segment->text_blocks[index], sizeof out->entry);
    memcpy(&next, &segment->text_blocks[index + 1], sizeof next);
    if (next.begin < out->entry.begin || next.offset < out->entry.offset || next.offset > bytes ||
        next.begin - out->entry.begin > MAX_BLOCK || out->entry.zero != 0)
        return false;
    out->length = next.begin - out->entry.begin;
    out->packed_length = next.offset - out->entry.offset;
    return out->entry.codec != NIGH__CODEC_NONE || out->length == out->packed_length;
}

/* Inside a guard: where the text lies, and in which block; an empty one is in none.  False where the sections lie. */
static bool find_text(const struct nigh__segment *segment, uint32_t document, const struct nigh__text_cache *cache,
                      uint64_t *begin, uint64_t *end, uint64_t *index, struct block *block) {
    *begin = NIGH__ONCE(segment->text_offsets[document]);
    *end = NIGH__ONCE(segment->text_offsets[document + 1]);
    if (*begin >= *end) return *begin == *end;
    if (cache->segment == segment && *begin >= cache->begin && *end - cache->begin <= cache->raw.count) {
        *index = cache->block;
        return true;
    }
    *index = find_block(segment, *begin);
    return read_entry(segment, *index, block) && block->entry.begin <= *begin &&
           *end - block->entry.begin <= block->length;
}

static nigh_status copy_packed(const struct nigh__segment *segment, const struct block *block,
                               struct nigh__text_cache *cache, nigh_error *error) {
    cache->packed.count = 0;
    char *packed = nigh__array_add(segment->context, &cache->packed, (size_t)block->packed_length);
    if (packed == NULL && block->packed_length > 0) return nigh__no_memory(error, "for a text");
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    if (block->packed_length > 0)
        memcpy(packed, segment->text_bytes + block->entry.offset, (size_t)block->packed_length);
    nigh__guard_leave(&guard);
    return NIGH_OK;
}

static nigh_status cannot_unpack(const struct nigh__segment *segment, uint64_t index, nigh_error *error) {
    return nigh__segment_corrupt(segment, NIGH__SECTION_TEXT_BLOCKS, index, "a block of texts cannot be unpacked",
                                 error);
}

/* Whether this build can unpack the block, and it can be as long as it says. */
static nigh_status check_codec(const struct nigh__segment *segment, uint64_t index, const struct block *block,
                               nigh_error *error) {
    const struct nigh__codec *codec = segment->context->extensions->codec;
    if (block->entry.codec == NIGH__CODEC_NONE) return NIGH_OK;
    if (block->entry.codec != codec->number)
        return nigh__fail_at(error, NIGH_EUNSUPPORTED, segment->path,
                             segment->sections[NIGH__SECTION_TEXT_BLOCKS].offset,
                             "its texts are packed in a way that this build cannot unpack");
    return block->length / codec->expansion > block->packed_length ? cannot_unpack(segment, index, error) : NIGH_OK;
}

static nigh_status unpack(const struct nigh__segment *segment, uint64_t index, const struct block *block,
                          struct nigh__text_cache *cache, nigh_error *error) {
    const struct nigh__codec *codec = segment->context->extensions->codec;
    const size_t length = (size_t)block->length;
    cache->raw.count = 0;
    char *raw = nigh__array_add(segment->context, &cache->raw, length);
    if (raw == NULL && length > 0) return nigh__no_memory(error, "for a text");
    if (block->entry.codec == NIGH__CODEC_NONE) {
        if (length > 0) memcpy(raw, cache->packed.data, length);
        return NIGH_OK;
    }
    return codec->unpack(raw, length, cache->packed.data, cache->packed.count) ? NIGH_OK
                                                                               : cannot_unpack(segment, index, error);
}

static nigh_status load_block(const struct nigh__segment *segment, uint64_t index, const struct block *block,
                              struct nigh__text_cache *cache, nigh_error *error) {
    cache->segment = NULL;
    nigh_status status = copy_packed(segment, block, cache, error);
    if (status != NIGH_OK) return status;
    if (nigh__hash(cache->packed.data, cache->packed.count) != block->entry.checksum)
        return nigh__segment_corrupt(segment, NIGH__SECTION_TEXT_BLOCKS, index, "a block of texts fails its checksum",
                                     error);
    status = check_codec(segment, index, block, error);
    if (status == NIGH_OK) status = unpack(segment, index, block, cache, error);
    if (status != NIGH_OK) return status;
    cache->segment = segment;
    cache->block = index;
    cache->begin = block->entry.begin;
    return NIGH_OK;
}

/* Where a text lies, looked up inside a guard. */
struct place {
    uint64_t begin, end;
    uint64_t index; /* of its block */
    struct block block;
};

static nigh_status locate_text(const struct nigh__segment *segment, uint32_t document,
                               const struct nigh__text_cache *cache, struct place *out, nigh_error *error) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    const bool sound = find_text(segment, document, cache, &out->begin, &out->end, &out->index, &out->block);
    nigh__guard_leave(&guard);
    if (sound) return NIGH_OK;
    return nigh__segment_corrupt(segment, NIGH__SECTION_TEXT_OFFSETS, document, "the offset of a text is wrong", error);
}

nigh_status nigh__segment_text(const struct nigh__segment *segment, uint32_t document, struct nigh__text_cache *cache,
                               const char **text, size_t *length, nigh_error *error) {
    struct place place = {.index = 0};
    nigh_status status = locate_text(segment, document, cache, &place, error);
    *text = "";
    *length = 0;
    if (status != NIGH_OK || place.begin == place.end) return status;
    if (cache->segment != segment || cache->block != place.index)
        status = load_block(segment, place.index, &place.block, cache, error);
    if (status != NIGH_OK) return status;
    *text = (const char *)cache->raw.data + (place.begin - cache->begin);
    *length = (size_t)(place.end - place.begin);
    return NIGH_OK;
}

/* ------------------------------------------------------------------- keys -- */

uint32_t nigh__segment_key_count(const struct nigh__segment *segment) {
    return segment->keys == NULL ? 0 : (uint32_t)(segment->sections[NIGH__SECTION_KEYS].count / segment->documents);
}

nigh_status nigh__segment_keys(const struct nigh__segment *segment, uint32_t band, uint32_t block, uint32_t *out,
                               uint32_t *count, nigh_error *error) {
    const uint32_t begin = block * NIGH__KEY_BLOCK;
    *count = (uint32_t)nigh__smaller(segment->documents - begin, NIGH__KEY_BLOCK);
    const uint64_t place = (uint64_t)begin * nigh__segment_key_count(segment) + (uint64_t)band * *count;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, error);
    memcpy(out, segment->keys + place, *count * sizeof *out);
    nigh__guard_leave(&guard);
    return NIGH_OK;
}

/* --------------------------------------------------------------- checking -- */

static nigh_status check_all(const struct nigh__segment *segment, struct nigh__text_cache *cache,
                             struct nigh__progress *progress, nigh_error *error) {
    for (uint32_t i = 0; i < segment->documents; i++) {
        const char *text = NULL;
        size_t length = 0;
        nigh_status status = nigh__segment_text(segment, i, cache, &text, &length, error);
        if (status != NIGH_OK) return status;
        if (i % NIGH__KEY_BLOCK == 0 && nigh__progress_tick(progress, "checking texts", i, segment->documents))
            return nigh__progress_cancelled(error);
    }
    return NIGH_OK;
}

nigh_status nigh__segment_check_texts(const struct nigh__segment *segment, struct nigh__progress *progress,
                                      nigh_error *error) {
    if (segment->text_offsets == NULL) return NIGH_OK;
    struct nigh__text_cache cache;
    nigh__text_cache_init(&cache);
    nigh_status status = check_all(segment, &cache, progress, error);
    nigh__text_cache_release(segment->context, &cache);
    return status;
}
