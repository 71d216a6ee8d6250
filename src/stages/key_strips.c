/* SPDX-License-Identifier: Apache-2.0 */
/* Strips of keys; key_strips.h draws them.  In memory they are a cache line longer, as in dedup/bands.c. */
#include "stages/key_strips.h"

#include "base/bytes.h"
#include "base/status.h"

#define ROOM (NIGH__STRIP_KEYS + NIGH__CACHE_LINE / sizeof(uint32_t))

/* ----------------------------------------------------------------- writing -- */

/* So many documents of all have no low halves, in whole strips. */
static uint64_t narrow_of_all(const nigh_staged *staged) {
    return staged->settled->narrow.keys / NIGH__STRIP_KEYS * NIGH__STRIP_KEYS;
}

/* And of a shard; 0 where it is not known yet how many come before its own. */
static uint64_t narrow_of(const nigh_staged *staged, uint32_t shard) {
    const uint64_t most = narrow_of_all(staged);
    uint64_t before = 0;
    for (uint32_t i = 0; i < shard && nigh__staged_range(staged, shard).first > 0; i++) {
        uint64_t documents = 0;
        nigh_error ignored = {0}; /* not there, or damaged: it may be made after this one */
        if (nigh__staged_info_of(staged, NIGH_STAGE_SIGN, i, &documents, 1, &ignored) != NIGH_OK) return 0;
        if (documents > most - before) return 0;
        before += documents;
    }
    return (most - before) / NIGH__STRIP_KEYS * NIGH__STRIP_KEYS;
}

nigh_status nigh__strip_writer_init(const nigh_staged *staged, uint32_t shard, struct nigh__stage_writer *writer,
                                    struct nigh__strip_writer *out, nigh_error *error) {
    *out = (struct nigh__strip_writer){.writer = writer,
                                       .context = staged->context,
                                       .bands = staged->settled->plan->bands,
                                       .narrow = narrow_of(staged, shard)};
    out->keys = nigh__alloc_table(staged->context, (size_t)2 * out->bands * ROOM, sizeof *out->keys);
    return out->keys == NULL ? nigh__no_memory(error, "for keys of documents") : NIGH_OK;
}

void nigh__strip_writer_release(struct nigh__strip_writer *strips) {
    if (strips->context != NULL) nigh__free(strips->context, strips->keys);
    strips->keys = NULL;
}

nigh_status nigh__strip_writer_finish(struct nigh__strip_writer *strips, nigh_error *error) {
    const bool lows = strips->documents > strips->narrow;
    const size_t words = (strips->used + 1) / 2;
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < strips->bands * (lows ? 2 : 1); i++) {
        uint32_t *strip = strips->keys + (size_t)i * ROOM;
        if (strips->used % 2 != 0) strip[strips->used] = 0;
        status =
            nigh__stage_add(strips->writer, NIGH__SIGN_KEYS + i, (const uint64_t *)(const void *)strip, words, error);
    }
    strips->used = 0;
    return status;
}

nigh_status nigh__strip_writer_add(struct nigh__strip_writer *strips, const uint8_t *keys, nigh_error *error) {
    uint32_t *high = strips->keys + strips->used;
    uint32_t *low = high + (size_t)strips->bands * ROOM;
    const bool lows = strips->documents >= strips->narrow;
    for (uint32_t i = 0; i < strips->bands; i++)
        high[i * ROOM] = keys == NULL ? 0 : nigh__load32(keys + (size_t)i * 8 + 4);
    for (uint32_t i = 0; lows && i < strips->bands; i++)
        low[i * ROOM] = keys == NULL ? 0 : nigh__load32(keys + (size_t)i * 8);
    strips->documents++;
    return ++strips->used == NIGH__STRIP_KEYS ? nigh__strip_writer_finish(strips, error) : NIGH_OK;
}

/* ----------------------------------------------------------------- reading -- */

/* A shard's file, of which the low halves are read by another handle. */
struct reading {
    struct nigh__stage_reader keys, lows;
    uint64_t narrow, documents;
};

static nigh_status read_strip(struct nigh__stage_reader *reader, uint32_t shard, size_t count, const uint32_t **out,
                              const nigh_staged *staged, nigh_error *error) {
    const uint64_t *words = NULL;
    size_t found = 0;
    nigh_status status = nigh__stage_next(reader, 0, &words, &found, error);
    if (status == NIGH_END || (status == NIGH_OK && found != (count + 1) / 2))
        return nigh__staged_nonsense(staged, NIGH_STAGE_SIGN, shard, error);
    *out = (const uint32_t *)(const void *)words;
    return status;
}

static nigh_status read_strips(const nigh_staged *staged, struct reading *reading, uint32_t shard,
                               nigh__strip_take *take, void *user, nigh_error *error) {
    const bool lows = reading->lows.context != NULL;
    nigh_status status = NIGH_OK;
    for (uint64_t i = 0; status == NIGH_OK && i < reading->documents; i += NIGH__STRIP_KEYS) {
        struct nigh__key_strip strip = {.shard = shard, .document = i};
        strip.count = nigh__smaller(NIGH__STRIP_KEYS, (size_t)(reading->documents - i));
        status = read_strip(&reading->keys, shard, strip.count, &strip.keys, staged, error);
        if (status == NIGH_OK && lows && i >= reading->narrow)
            status = read_strip(&reading->lows, shard, strip.count, &strip.low_keys, staged, error);
        if (status == NIGH_OK) status = take(user, &strip, error);
    }
    return status;
}

static nigh_status open_file(const nigh_staged *staged, uint32_t shard, uint32_t section,
                             struct nigh__stage_reader *out, nigh_error *error) {
    nigh_status status = nigh__staged_read(staged, NIGH_STAGE_SIGN, shard, out, error);
    if (status == NIGH_OK) nigh__stage_begin(out, section);
    return status;
}

/* Whether all low halves that count are there, if the first `narrow` documents of those from a number on have none. */
static bool has_lows(const nigh_staged *staged, uint64_t base, uint64_t narrow) {
    const uint64_t most = narrow_of_all(staged);
    return narrow <= most && base <= most - narrow;
}

nigh_status nigh__strips_each(const nigh_staged *staged, const uint64_t *bases, uint32_t band, bool lows,
                              nigh__strip_take *take, void *user, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; status == NIGH_OK && i < staged->shards; i++) {
        struct reading reading = {.documents = bases[i + 1] - bases[i]};
        uint64_t info[NIGH__SIGN_INFO_WORDS] = {0};
        if (reading.documents == 0) continue;
        if (lows) status = nigh__staged_info_of(staged, NIGH_STAGE_SIGN, i, info, NIGH__SIGN_INFO_WORDS, error);
        reading.narrow = info[NIGH__SIGN_NARROW];
        if (status == NIGH_OK && reading.narrow > 0 && !has_lows(staged, bases[i], reading.narrow))
            status = nigh__staged_nonsense(staged, NIGH_STAGE_SIGN, i, error);
        if (status == NIGH_OK) status = open_file(staged, i, NIGH__SIGN_KEYS + band, &reading.keys, error);
        if (status == NIGH_OK && lows)
            status = open_file(staged, i, NIGH__SIGN_KEYS + staged->settled->plan->bands + band, &reading.lows, error);
        if (status == NIGH_OK) status = read_strips(staged, &reading, i, take, user, error);
        nigh__stage_reader_release(&reading.keys);
        nigh__stage_reader_release(&reading.lows);
    }
    return status;
}
