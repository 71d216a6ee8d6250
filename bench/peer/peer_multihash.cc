// SPDX-License-Identifier: Apache-2.0
//
// FAISS IndexBinaryMultiHash over the rows of a file: as many hashes of as many bits
// as cover a row, so that a range search is exact up to a radius of one less than the
// hashes, with no bits flipped.
//
//     peer_multihash FILE ROWS BYTES QUERIES HASHES BITS RADIUS
//
// Answers lines (answers.h): what it found is how many rows for each query.

#include <faiss/IndexBinaryHash.h>
#include <faiss/impl/AuxIndexStructures.h>

#include <memory>

#include "answers.h"

namespace {

void run(char **arguments) {
    using number = faiss::IndexBinary::idx_t;
    const size_t rows = std::strtoull(arguments[2], nullptr, 10);
    const size_t bytes = std::strtoull(arguments[3], nullptr, 10);
    const int radius = std::atoi(arguments[7]);
    const std::vector<uint8_t> queries = read_rows(arguments[4], 0, SIZE_MAX);
    faiss::IndexBinaryMultiHash index(static_cast<int>(bytes * 8), std::atoi(arguments[5]), std::atoi(arguments[6]));
    index.nflip = 0;
    {
        const std::vector<uint8_t> data = read_rows(arguments[1], 0, rows * bytes);
        index.add(static_cast<number>(data.size() / bytes), data.data());
    }
    std::unique_ptr<faiss::RangeSearchResult> result;
    answer_lines(
        queries.size() / bytes,
        [&](size_t count) {
            result = std::make_unique<faiss::RangeSearchResult>(count);
            // Its range is half open: distances below the radius.
            index.range_search(static_cast<number>(count), queries.data(), radius + 1, result.get());
        },
        [&](size_t count) {
            for (size_t i = 0; i < count; i++) std::printf(" %zu", result->lims[i + 1] - result->lims[i]);
        });
}

} // namespace

int main(int count, char **arguments) {
    return run_peer(count, arguments, 7, "peer_multihash FILE ROWS BYTES QUERIES HASHES BITS RADIUS", run);
}
