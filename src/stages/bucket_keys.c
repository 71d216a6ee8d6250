/* SPDX-License-Identifier: Apache-2.0 */
/* See bucket_keys.h. Which keys are handed out depends on the table; the result, bucket by bucket, does not. */
#include "stages/bucket_keys.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "dedup/bands.h"

#define SLOT_BITS_MIN 12u
#define SLOT_BITS_MAX 32u
#define SLOTS_OF_ONE 4u
#define TOGETHER 512u

/* ----------------------------------------------------------------- loading -- */

static nigh_status load_firsts(struct nigh__bucket_keys *keys, uint32_t shard, struct nigh__stage_reader *reader,
                               nigh_error *error) {
    uint64_t *words = keys->firsts + keys->places[shard];
    uint64_t left = keys->places[shard + 1] - keys->places[shard];
    const uint64_t *found = NULL;
    size_t count = 0;
    nigh_status status;
    nigh__stage_begin(reader, NIGH__POSTINGS_FIRSTS);
    while ((status = nigh__stage_next(reader, 1, &found, &count, error)) == NIGH_OK && count <= left) {
        memcpy(words, found, count * sizeof *words);
        words += count;
        left -= count;
    }
    if (status == NIGH_OK || (status == NIGH_END && left > 0))
        return nigh__staged_nonsense(keys->staged, NIGH_STAGE_POSTINGS, shard, error);
    return status == NIGH_END ? NIGH_OK : status;
}

static nigh_status load_shard(struct nigh__bucket_keys *keys, uint32_t shard, nigh_error *error) {
    struct nigh__stage_reader reader;
    uint64_t info[NIGH__POSTINGS_INFO_WORDS] = {0};
    nigh_status status = nigh__staged_read(keys->staged, NIGH_STAGE_POSTINGS, shard, &reader, error);
    if (status == NIGH_OK)
        status = nigh__staged_info(&reader, NIGH__POSTINGS_INFO, info, NIGH__POSTINGS_INFO_WORDS, error);
    if (status == NIGH_OK) status = load_firsts(keys, shard, &reader, error);
    nigh__stage_reader_release(&reader);
    keys->befores[shard] = info[NIGH__POSTINGS_BEFORE];
    keys->wide = info[NIGH__POSTINGS_WIDE] != 0;
    return status;
}

static nigh_status make_table(struct nigh__bucket_keys *keys, uint64_t postings, nigh_error *error) {
    const uint64_t most = keys->staged->settled->options.memory_bytes / 8; /* bytes, four slots each */
    keys->slot_bits = SLOT_BITS_MIN;
    while (keys->slot_bits < SLOT_BITS_MAX && UINT64_C(1) << keys->slot_bits < postings * SLOTS_OF_ONE &&
           UINT64_C(1) << (keys->slot_bits - 1) <= most)
        keys->slot_bits++;
    keys->table = nigh__alloc_table(keys->staged->context, (size_t)1 << (keys->slot_bits - 2), 1);
    return keys->table == NULL ? nigh__no_memory(error, "to find candidates") : NIGH_OK;
}

nigh_status nigh__bucket_keys_init(const nigh_staged *staged, const uint64_t *bases, uint64_t keys,
                                   struct nigh__bucket_keys *out, nigh_error *error) {
    const nigh_context *context = staged->context;
    const size_t shards = staged->shards;
    *out = (struct nigh__bucket_keys){.staged = staged, .bases = bases};
    out->narrow = staged->settled->narrow.keys / NIGH__BANDS_BLOCK * NIGH__BANDS_BLOCK;
    out->places = nigh__alloc_zero(context, shards + 1, sizeof *out->places);
    out->befores = nigh__alloc_zero(context, shards, sizeof *out->befores);
    if (out->places == NULL || out->befores == NULL) return nigh__no_memory(error, "to find candidates");
    for (size_t i = 0; i < shards; i++) out->places[i + 1] = out->places[i] + (bases[i + 1] - bases[i] + 63) / 64;
    out->firsts = nigh__alloc_large(context, (size_t)out->places[shards] + 1, sizeof *out->firsts);
    if (out->firsts == NULL) return nigh__no_memory(error, "to find candidates");
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < shards; i++) status = load_shard(out, i, error);
    const double share = (double)keys / (double)(UINT64_C(1) << 32);
    return status == NIGH_OK ? make_table(out, (uint64_t)((double)bases[shards] * share), error) : status;
}

void nigh__bucket_keys_release(struct nigh__bucket_keys *keys) {
    if (keys->staged == NULL) return;
    const nigh_context *context = keys->staged->context;
    nigh__free(context, keys->firsts);
    nigh__free(context, keys->places);
    nigh__free(context, keys->befores);
    nigh__free(context, keys->table);
    keys->staged = NULL;
}

/* ------------------------------------------------------------------- keys -- */

/* By other bits than the highest, which those of a task have in common. */
static inline uint32_t slot_of(uint32_t key, unsigned shift) { return key * UINT32_C(0x9e3779b1) >> shift; }

static nigh_status mark_strip(void *user, const struct nigh__key_strip *strip, nigh_error *error) {
    const struct nigh__bucket_keys *keys = user;
    const unsigned shift = SLOT_BITS_MAX - keys->slot_bits;
    const uint32_t range = keys->most - keys->least;
    uint64_t *table = keys->table;
    (void)error;
    for (size_t i = 0; i < strip->count; i++) {
        if (strip->keys[i] - keys->least > range) continue;
        const uint32_t slot = slot_of(strip->keys[i], shift);
        const uint64_t bit = UINT64_C(1) << (slot % 64);
        uint64_t *words = &table[(size_t)(slot / 64) * 2];
        words[1] |= words[0] & bit;
        words[0] |= bit;
    }
    return NIGH_OK;
}

/* The postings of some documents of a strip; returns how many. */
static size_t select_postings(struct nigh__bucket_keys *keys, const struct nigh__key_strip *strip, size_t begin,
                              size_t end, struct nigh__posting *out) {
    const unsigned shift = SLOT_BITS_MAX - keys->slot_bits;
    const uint32_t range = keys->most - keys->least;
    const uint64_t *firsts = keys->firsts + keys->places[strip->shard];
    const uint64_t base = keys->bases[strip->shard] + strip->document;
    size_t count = 0;
    for (size_t i = begin; i < end; i++) {
        const uint32_t key = strip->keys[i];
        const uint32_t slot = slot_of(key, shift);
        const bool first = nigh__bit_is_set(firsts, strip->document + i);
        const bool low = strip->low_keys != NULL && keys->number >= keys->narrow;
        out[count] = (struct nigh__posting){key, low ? strip->low_keys[i] : 0, base + i};
        const bool again = (keys->table[(size_t)(slot / 64) * 2 + 1] >> (slot % 64) & 1) != 0;
        count += (size_t)(first & again & (key - keys->least <= range));
        keys->number += first;
    }
    return count;
}

static nigh_status select_strip(void *user, const struct nigh__key_strip *strip, nigh_error *error) {
    struct nigh__bucket_keys *keys = user;
    struct nigh__posting postings[TOGETHER];
    nigh_status status = NIGH_OK;
    if (strip->document == 0) keys->number = keys->befores[strip->shard];
    for (size_t i = 0; status == NIGH_OK && i < strip->count; i += TOGETHER) {
        const size_t count = select_postings(keys, strip, i, nigh__smaller(i + TOGETHER, strip->count), postings);
        if (count > 0) status = keys->take(keys->user, postings, count, error);
    }
    return status;
}

nigh_status nigh__bucket_keys_each(struct nigh__bucket_keys *keys, uint32_t band, uint32_t least, uint32_t most,
                                   nigh__posting_take *take, void *user, nigh_error *error) {
    keys->least = least;
    keys->most = most;
    keys->take = take;
    keys->user = user;
    memset(keys->table, 0, (size_t)1 << (keys->slot_bits - 2));
    nigh_status status = nigh__strips_each(keys->staged, keys->bases, band, false, mark_strip, keys, error);
    if (status == NIGH_OK)
        status = nigh__strips_each(keys->staged, keys->bases, band, keys->wide, select_strip, keys, error);
    return status;
}
