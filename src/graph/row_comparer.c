/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/row_comparer.h"

uint32_t nigh__compare_rows(const struct nigh__row_comparer *comparer, const struct nigh__asked *asked,
                            const uint64_t *rows, uint32_t count, uint32_t words, uint32_t *distances) {
    if (asked->plane_count == 0) return comparer->hamming->rows(asked->query, rows, count, words, distances);
    return nigh__weighted_rows(comparer->weighted, asked, rows, count, words, distances);
}
