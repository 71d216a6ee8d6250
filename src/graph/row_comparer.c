/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/row_comparer.h"

uint32_t nigh__compare_rows(const struct nigh__row_comparer *comparer, const struct nigh__asked *asked,
                            const uint64_t *rows, uint32_t count, uint32_t words, uint32_t *distances) {
    if (asked->plane_count == 0) return comparer->hamming->rows(asked->query, rows, count, words, distances);
    uint32_t smallest = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        distances[i] =
            comparer->weighted->one(asked->query, asked->planes, asked->plane_count, rows + (size_t)i * words, words);
        if (distances[i] < smallest) smallest = distances[i];
    }
    return smallest;
}
