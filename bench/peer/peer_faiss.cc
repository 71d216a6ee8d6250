// SPDX-License-Identifier: Apache-2.0
//
// FAISS IndexBinaryFlat over the rows of a file:
//
//     peer_faiss FILE OFFSET ROWS BYTES QUERIES K
//
// ROWS rows of BYTES bytes lie at OFFSET of FILE; QUERIES is a file of rows.  Answers
// lines (answers.h): what it found is the K distances of each query.

#include <faiss/IndexBinaryFlat.h>

#include "answers.h"

namespace {

void run(char **arguments) {
    using number = faiss::IndexBinary::idx_t;
    const size_t rows = std::strtoull(arguments[3], nullptr, 10);
    const size_t bytes = std::strtoull(arguments[4], nullptr, 10);
    const size_t k = std::strtoull(arguments[6], nullptr, 10);
    const std::vector<uint8_t> queries = read_rows(arguments[5], 0, SIZE_MAX);
    faiss::IndexBinaryFlat index(static_cast<number>(bytes * 8));
    {
        const std::vector<uint8_t> data = read_rows(arguments[1], std::strtol(arguments[2], nullptr, 10), rows * bytes);
        index.add(static_cast<number>(data.size() / bytes), data.data());
    }
    std::vector<int32_t> distances(queries.size() / bytes * k);
    std::vector<number> labels(distances.size());
    answer_lines(
        queries.size() / bytes,
        [&](size_t count) {
            index.search(static_cast<number>(count), queries.data(), static_cast<number>(k), distances.data(),
                         labels.data());
        },
        [&](size_t count) {
            for (size_t i = 0; i < count * k; i++) std::printf(" %d", distances[i]);
        });
}

} // namespace

int main(int count, char **arguments) {
    return run_peer(count, arguments, 6, "peer_faiss FILE OFFSET ROWS BYTES QUERIES K", run);
}
