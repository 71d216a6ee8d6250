// SPDX-License-Identifier: Apache-2.0
//
// FAISS IndexBinaryFlat over the rows of a file, as a program that answers
// lines, so that its runs can alternate with ours and its threads are its own:
//
//     peer_faiss FILE OFFSET ROWS BYTES QUERIES K
//
// ROWS rows of BYTES bytes lie at OFFSET of FILE; QUERIES is a file of rows.
// Says "ready N", N queries, once all is in memory.  To each line "THREADS
// COUNT" it answers "SECONDS" and the COUNT * K distances it found.

#include <faiss/IndexBinaryFlat.h>
#include <omp.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace {

std::vector<uint8_t> read_file(const char *path, long offset, size_t most) {
    std::vector<uint8_t> bytes;
    FILE *file = std::fopen(path, "rb");
    if (file == nullptr || std::fseek(file, offset, SEEK_SET) != 0) {
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
    const size_t rows = std::strtoull(arguments[3], nullptr, 10);
    const size_t bytes = std::strtoull(arguments[4], nullptr, 10);
    const long k = std::strtol(arguments[6], nullptr, 10);
    const std::vector<uint8_t> queries = read_file(arguments[5], 0, SIZE_MAX);
    faiss::IndexBinaryFlat index(static_cast<faiss::IndexBinary::idx_t>(bytes * 8));
    {
        const std::vector<uint8_t> data = read_file(arguments[1], std::strtol(arguments[2], nullptr, 10), rows * bytes);
        index.add(static_cast<faiss::IndexBinary::idx_t>(data.size() / bytes), data.data());
    }
    const size_t most = queries.size() / bytes;
    std::vector<int32_t> distances(most * static_cast<size_t>(k));
    std::vector<faiss::IndexBinary::idx_t> labels(distances.size());
    std::printf("ready %zu\n", most);
    std::fflush(stdout);
    int threads = 0;
    size_t count = 0;
    while (std::scanf("%d %zu", &threads, &count) == 2 && count <= most) {
        omp_set_num_threads(threads);
        const auto start = std::chrono::steady_clock::now();
        index.search(static_cast<faiss::IndexBinary::idx_t>(count), queries.data(), k, distances.data(), labels.data());
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::printf("%.9f", took.count());
        for (size_t i = 0; i < count * static_cast<size_t>(k); i++) std::printf(" %d", distances[i]);
        std::printf("\n");
        std::fflush(stdout);
    }
    return 0;
}

} // namespace

int main(int count, char **arguments) {
    if (count != 7) {
        std::fprintf(stderr, "usage: peer_faiss FILE OFFSET ROWS BYTES QUERIES K\n");
        return 2;
    }
    try {
        return run(arguments);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "peer_faiss: %s\n", error.what());
        return 2;
    }
}
