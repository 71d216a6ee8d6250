/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A state for each part of the format that has to be read; all else is skipped
 * by its length.  What breaks the format is left to the library that unpacks it:
 * it refuses the same bytes, so there is nothing behind them to watch for.
 */
#include "document/xz_watch.h"

#include <string.h>

#define STREAM_HEADER 12
#define FOOTER 12
#define LZMA2 0x21

enum state { STREAM, PADDING, BLOCK_SIZE, BLOCK, CHUNK, CHUNK_HEAD, INDEX_COUNT, INDEX, LOST };

static void expect(struct nigh__xz_watch *watch, enum state state, size_t need) {
    watch->state = (int)state;
    watch->have = 0;
    watch->need = need;
}

void nigh__xz_watch_init(struct nigh__xz_watch *watch) {
    memset(watch, 0, sizeof *watch);
    expect(watch, STREAM, STREAM_HEADER);
}

static void stream_header(struct nigh__xz_watch *watch) {
    static const uint8_t sizes[16] = {0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64};
    watch->check = sizes[watch->part[7] & 15];
    expect(watch, BLOCK_SIZE, 1);
}

/* A number in bytes of 7 bits, the lowest first.  False: it does not end in time. */
static bool number(const uint8_t *bytes, size_t length, size_t *at, uint64_t *out) {
    *out = 0;
    for (unsigned shift = 0; *at < length && shift < 63; shift += 7) {
        uint8_t byte = bytes[(*at)++];
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

/* The dictionary by the one byte that stands for it: 4 KiB, 6 KiB, 8 KiB, 12 KiB, ... */
static uint64_t dictionary_size(uint8_t code) {
    code &= 63;
    return code >= 40 ? UINT32_MAX : (uint64_t)(2 | (code & 1)) << (code / 2 + 11);
}

/* The filters of a block; `part` holds its header from the byte behind its size. */
static void block_header(struct nigh__xz_watch *watch) {
    const uint8_t *bytes = watch->part;
    size_t length = watch->have;
    size_t at = 1;
    uint64_t value = 0;
    bool good = true;
    if ((bytes[0] & 0x40) != 0) good = number(bytes, length, &at, &value);
    if (good && (bytes[0] & 0x80) != 0) good = number(bytes, length, &at, &value);
    for (unsigned i = 0; good && i <= (bytes[0] & 3u); i++) {
        uint64_t id = 0;
        uint64_t size = 0;
        good = number(bytes, length, &at, &id) && number(bytes, length, &at, &size) && size <= length - at;
        if (!good) break;
        if (id == LZMA2 && size == 1) {
            uint64_t dictionary = dictionary_size(bytes[at]);
            if (dictionary > watch->dictionary) watch->dictionary = dictionary;
        }
        at += (size_t)size;
    }
    watch->length = 0;
    expect(watch, good ? CHUNK : LOST, 1);
}

/* A chunk's first byte: the end, bytes as they are, or packed ones with longer heads. */
static void chunk(struct nigh__xz_watch *watch) {
    uint8_t control = watch->part[0];
    watch->length++;
    if (control == 0) {
        watch->skip = (4 - watch->length % 4) % 4 + watch->check;
        expect(watch, BLOCK_SIZE, 1);
    } else if (control <= 2) {
        expect(watch, CHUNK_HEAD, 2);
    } else {
        expect(watch, control < 0x80 ? LOST : CHUNK_HEAD, control < 0xc0 ? 4 : 5);
    }
}

static void chunk_head(struct nigh__xz_watch *watch) {
    const uint8_t *size = watch->part + (watch->need == 2 ? 0 : 2);
    watch->skip = ((uint64_t)size[0] << 8 | size[1]) + 1;
    watch->length += watch->need + watch->skip;
    expect(watch, CHUNK, 1);
}

/* One byte more of the index: its count, then so many pairs of numbers. */
static void index_byte(struct nigh__xz_watch *watch) {
    size_t at = 0;
    uint64_t value;
    bool counting = watch->state == INDEX_COUNT;
    watch->length++;
    if (watch->part[watch->have - 1] >= 0x80) {
        if (++watch->need > 9) expect(watch, LOST, 1);
        return;
    }
    (void)number(watch->part, watch->have, &at, &value);
    watch->left = counting ? value * 2 : watch->left - 1;
    expect(watch, INDEX, 1);
    if (watch->left != 0) return;
    watch->skip = (4 - watch->length % 4) % 4 + 4 + FOOTER;
    expect(watch, PADDING, 1);
}

static void part_take(struct nigh__xz_watch *watch) {
    uint8_t first = watch->part[0];
    switch ((enum state)watch->state) {
    case STREAM:
        stream_header(watch);
        return;
    case PADDING: /* zeros, or the first byte of another stream */
        watch->have = first == 0 ? 0 : watch->have;
        if (first == 0) return;
        watch->state = STREAM;
        watch->need = STREAM_HEADER;
        return;
    case BLOCK_SIZE:
        watch->length = 1;
        if (first == 0)
            expect(watch, INDEX_COUNT, 1);
        else
            expect(watch, BLOCK, ((size_t)first + 1) * 4 - 1);
        return;
    case BLOCK:
        block_header(watch);
        return;
    case CHUNK:
        chunk(watch);
        return;
    case CHUNK_HEAD:
        chunk_head(watch);
        return;
    case INDEX_COUNT:
    case INDEX:
        index_byte(watch);
        return;
    case LOST:
        return;
    }
}

bool nigh__xz_watch_add(struct nigh__xz_watch *watch, const uint8_t *bytes, size_t length) {
    while (length > 0 && watch->state != LOST) {
        size_t part = watch->skip != 0 ? length : watch->need - watch->have;
        if (part > length) part = length;
        if (watch->skip != 0) {
            if (part > watch->skip) part = (size_t)watch->skip;
            watch->skip -= part;
        } else {
            memcpy(watch->part + watch->have, bytes, part);
            watch->have += part;
            if (watch->have == watch->need) part_take(watch);
        }
        bytes += part;
        length -= part;
    }
    return watch->dictionary <= NIGH__XZ_DICTIONARY;
}
