// SPDX-License-Identifier: Apache-2.0
//
// FAISS IndexBinaryMultiHash over the rows of a file: as many hashes of as many bits
// as cover a row, so that a range search is exact up to a radius of one less than the
// hashes, with no bits flipped.  Answers lines, as peer_faiss does:
//
//     peer_multihash FILE ROWS BYTES QUERIES HASHES BITS RADIUS
//
// Says "ready N", N queries, once all is in memory.  To each line "THREADS COUNT" it
// answers "SECONDS" and how many rows it found for each of the COUNT queries.

#include <faiss/IndexBinaryHash.h>
#include <faiss/impl/AuxIndexStructures.h>
#include <omp.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace {

std::vector<uint8_t> read_file(const char *path, size_t most) {
    std::vector<uint8_t> bytes;
    FILE *file = std::fopen(path, "rb");
    if (file == nullptr) {
        std::perror(path);
        std::exit(2);
    }
    uint8_t buffer[1 << 16];
    for (size_t got; bytes.size() < most && (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;)
        bytes.insert(bytes.end(), buffer, buffer + got);
    std::fclose(file);
    if (bytes.size() > most) bytes.resize(most);
    return bytes;
}

int run(char **arguments) {
    using number = faiss::IndexBinary::idx_t;
    const size_t rows = std::strtoull(arguments[2], nullptr, 10);
    const size_t bytes = std::strtoull(arguments[3], nullptr, 10);
    const int radius = std::atoi(arguments[7]);
    const std::vector<uint8_t> queries = read_file(arguments[4], SIZE_MAX);
    faiss::IndexBinaryMultiHash index(static_cast<int>(bytes * 8), std::atoi(arguments[5]), std::atoi(arguments[6]));
    index.nflip = 0;
    {
        const std::vector<uint8_t> data = read_file(arguments[1], rows * bytes);
        index.add(static_cast<number>(data.size() / bytes), data.data());
    }
    const size_t most = queries.size() / bytes;
    std::printf("ready %zu\n", most);
    std::fflush(stdout);
    int threads = 0;
    size_t count = 0;
    while (std::scanf("%d %zu", &threads, &count) == 2 && count <= most) {
        omp_set_num_threads(threads);
        faiss::RangeSearchResult result(count);
        const auto start = std::chrono::steady_clock::now();
        // Its range is half open: distances below the radius.
        index.range_search(static_cast<number>(count), queries.data(), radius + 1, &result);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::printf("%.9f", took.count());
        for (size_t i = 0; i < count; i++) std::printf(" %zu", result.lims[i + 1] - result.lims[i]);
        std::printf("\n");
        std::fflush(stdout);
    }
    return 0;
}

} // namespace

int main(int count, char **arguments) {
    if (count != 8) {
        std::fprintf(stderr, "usage: peer_multihash FILE ROWS BYTES QUERIES HASHES BITS RADIUS\n");
        return 2;
    }
    try {
        return run(arguments);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "peer_multihash: %s\n", error.what());
        return 2;
    }
}
