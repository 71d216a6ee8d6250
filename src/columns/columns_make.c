/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Turning signatures on their side, 64 bits of 64 rows at a time: a square of bits is turned
 * by exchanging its quarters, the quarters of these, and so on.  Threads turn a few dozen
 * super-blocks at once into a buffer, which is then handed on in order.
 */
#include <string.h>

#include "base/guard.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/threads.h"
#include "columns/columns.h"

#define WINDOW_BYTES (UINT64_C(8) << 20)

struct making {
    const struct nigh__segment *segment;
    struct nigh__columns_layout layout;
    uint8_t *buffer;
    uint32_t first; /* super-block of the buffer */
    struct nigh__parallel parallel;
};

struct nigh__columns_layout nigh__columns_layout_of(uint32_t rows, uint32_t width_bits) {
    return (struct nigh__columns_layout){.rows = rows,
                                         .width_bits = width_bits,
                                         .supers = rows / NIGH__SUPER_ROWS + (rows % NIGH__SUPER_ROWS != 0),
                                         .super_bytes = (size_t)nigh__column_offset(width_bits + 2)};
}

static void turn_square(uint64_t square[64]) {
    uint64_t mask = UINT64_C(0x00000000ffffffff);
    for (uint32_t step = 32; step != 0; step >>= 1, mask ^= mask << step) {
        for (uint32_t i = 0; i < 64; i = (i + step + 1) & ~step) {
            const uint64_t exchanged = (square[i] >> step ^ square[i + step]) & mask;
            square[i] ^= exchanged << step;
            square[i + step] ^= exchanged;
        }
    }
}

/* 64 rows from number `row` on, of which those past the last are 0, to eight bytes of each column. */
static void turn_rows(const struct nigh__columns_layout *layout, const uint64_t *rows, uint64_t row, uint8_t *to) {
    const uint32_t words = nigh__row_words(layout->width_bits);
    const uint64_t left = row < layout->rows ? layout->rows - row : 0;
    const uint32_t count = left < 64 ? (uint32_t)left : 64;
    for (uint32_t word = 0; word < words; word++) {
        uint64_t square[64] = {0};
        for (uint32_t i = 0; i < count; i++) square[i] = rows[(row + i) * words + word];
        turn_square(square);
        for (uint32_t i = 0; i < 64 && 64 * word + i < layout->width_bits; i++)
            memcpy(to + nigh__column_offset(64 * word + i), &square[i], sizeof square[i]);
    }
}

void nigh__columns_turn(const struct nigh__columns_layout *layout, const uint64_t *rows, uint64_t super, uint8_t *to) {
    const uint32_t width = layout->width_bits;
    memset(to + nigh__column_offset(width), 0, nigh__column_offset(1));
    memset(to + nigh__column_offset(width + 1), 0xff, nigh__column_offset(1));
    for (uint32_t i = 0; i < NIGH__SUPER_ROWS; i += 64)
        turn_rows(layout, rows, super * NIGH__SUPER_ROWS + i, to + i / 8);
}

static nigh_status turn_some(void *user, const struct nigh__items *items) {
    struct making *making = user;
    const struct nigh__segment *segment = making->segment;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__segment_cut(segment, items->error);
    for (uint64_t i = items->first; i < items->end; i++)
        nigh__columns_turn(&making->layout, segment->rows, making->first + i,
                           making->buffer + i * making->layout.super_bytes);
    nigh__guard_leave(&guard);
    const uint64_t rows = (items->end - items->first) * NIGH__SUPER_ROWS;
    return nigh__parallel_did(&making->parallel, items->thread, rows) ? NIGH_OK : NIGH_ECANCELLED;
}

nigh_status nigh__columns_make(const struct nigh__segment *segment, uint32_t threads, struct nigh__progress *progress,
                               const struct nigh__columns_sink *sink, nigh_error *error) {
    struct making making = {
        .segment = segment,
        .layout = nigh__columns_layout_of(segment->signatures, segment->width_bits),
        .parallel = {.threads = nigh__threads_resolve(threads),
                     .progress = progress,
                     .stage = "turning signatures",
                     .total = segment->signatures},
    };
    const uint64_t fit = WINDOW_BYTES / making.layout.super_bytes + 1;
    const uint32_t window = fit < making.layout.supers ? (uint32_t)fit : making.layout.supers;
    making.buffer = nigh__alloc_aligned(segment->context, window, making.layout.super_bytes, NIGH__CACHE_LINE);
    if (making.buffer == NULL) return nigh__no_memory(error, "for columns");
    nigh_status status = NIGH_OK;
    for (uint32_t done = 0; done < making.layout.supers && status == NIGH_OK; done += window) {
        const uint32_t left = making.layout.supers - done;
        const uint32_t some = left < window ? left : window;
        making.first = done;
        status = nigh__parallel_run(&making.parallel, some, 1, turn_some, &making, error);
        if (status == NIGH_OK) status = sink->add(sink->user, making.buffer, some * making.layout.super_bytes, error);
    }
    nigh__free(segment->context, making.buffer);
    return status == NIGH_ECANCELLED ? nigh__progress_cancelled(error) : status;
}
