/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch of queries as one query after the other over rows that are still in
 * the first-level cache.  Every variant uses it for one query and for the ends
 * of blocks; those without a better way use it for all batches.
 */
#include "kernel/hamming_parts.h"

/* Half the usual first-level cache is 16 KB: one block in use and the one on its way here. */
#define BLOCK_BYTES 8192
#define BLOCK_ROWS 256

/* For one query: long enough that the ends of its places do not matter. */
#define STREAM_ROWS 4096

/* Looked at together where few are near; distances and so limits are small, and compared with a sign compilers know. */
#define TOGETHER 32

static bool none_below(const uint32_t *distances, uint32_t limit) {
    const int32_t bound = limit > INT32_MAX ? INT32_MAX : (int32_t)limit;
    int32_t below = 0;
    for (size_t i = 0; i < TOGETHER; i++) below |= (int32_t)distances[i] < bound ? -1 : 0;
    return below == 0;
}

static size_t collect(const uint32_t *distances, size_t count, uint32_t limit, uint32_t query, size_t first_row,
                      struct nigh__hit *hits) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i % TOGETHER == 0) {
            while (i + TOGETHER <= count && none_below(distances + i, limit)) i += TOGETHER;
            if (i == count) break;
        }
        if (distances[i] < limit) hits[found++] = (struct nigh__hit){query, (uint32_t)(first_row + i), distances[i]};
    }
    return found;
}

static size_t block_rows(size_t words) {
    size_t rows = BLOCK_BYTES / (words * sizeof(uint64_t));
    if (rows > BLOCK_ROWS) return BLOCK_ROWS;
    return rows == 0 ? 1 : rows;
}

/* One query.  Each block ends by asking for the beginning of the second place of the next, which nothing else does. */
static size_t stream_one(nigh__rows_function *stream, const void *query, const uint64_t *rows, size_t count,
                         size_t words, size_t first_row, uint32_t limit, struct nigh__hit *hits) {
    uint32_t distances[STREAM_ROWS];
    size_t found = 0;
    for (size_t done = 0; done < count; done += STREAM_ROWS) {
        const size_t some = count - done < STREAM_ROWS ? count - done : STREAM_ROWS;
        const uint64_t *next = rows + (done + some) * words;
        uint32_t smallest = stream(query, rows + done * words, some, words, distances);
        for (size_t place = 1; place < nigh__places(words); place++) /* what is next to these rows was asked for */
            nigh__ahead(next + place * (some / nigh__places(words)) * words, NIGH__AHEAD / nigh__places(words));
        if (smallest < limit) found += collect(distances, some, limit, 0, first_row + done, hits + found);
    }
    return found;
}

size_t nigh__batch_by_rows(const struct nigh__rows_functions *functions, const void *queries, size_t query_bytes,
                           size_t query_count, const uint64_t *rows, size_t count, size_t words, size_t first_row,
                           const uint32_t *limits, struct nigh__hit *hits) {
    if (query_count == 0) return 0;
    if (query_count == 1) return stream_one(functions->stream, queries, rows, count, words, first_row, limits[0], hits);
    uint32_t distances[BLOCK_ROWS];
    const size_t block = block_rows(words);
    const size_t share = (block * words * sizeof(uint64_t) + query_count - 1) / query_count;
    size_t found = 0;
    for (size_t done = 0; done < count; done += block) {
        const size_t some = count - done < block ? count - done : block;
        const uint64_t *here = rows + done * words;
        const char *next = (const char *)(here + some * words);
        for (size_t q = 0; q < query_count; q++) {
            nigh__ahead(next + q * share, share);
            uint32_t smallest = functions->rows((const char *)queries + q * query_bytes, here, some, words, distances);
            if (smallest < limits[q])
                found += collect(distances, some, limits[q], (uint32_t)q, first_row + done, hits + found);
        }
    }
    return found;
}
