// SPDX-License-Identifier: Apache-2.0
//
// What the peers share: rows read from a file, and a loop that answers lines, so that
// their runs can alternate with ours and their threads are their own.
//
// A peer says "ready N", N queries, once all is in memory.  To each line "THREADS
// COUNT" it answers "SECONDS" and what it found for the first COUNT queries.
#ifndef NIGH_BENCH_PEER_ANSWERS_H
#define NIGH_BENCH_PEER_ANSWERS_H

#include <omp.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

// At most `most` bytes of a file from an offset on; where there are none to be had, the end of the program.
inline std::vector<uint8_t> read_rows(const char *path, long offset, size_t most) {
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

// Answers lines until there are no more: search(count) is timed, print() writes what it found after a space each.
template <typename Search, typename Print> void answer_lines(size_t queries, Search search, Print print) {
    std::printf("ready %zu\n", queries);
    std::fflush(stdout);
    int threads = 0;
    size_t count = 0;
    while (std::scanf("%d %zu", &threads, &count) == 2 && count <= queries) {
        omp_set_num_threads(threads);
        const auto start = std::chrono::steady_clock::now();
        search(count);
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::printf("%.9f", took.count());
        print(count);
        std::printf("\n");
        std::fflush(stdout);
    }
}

// The whole of main(): `usage` names the program and so many arguments.
inline int run_peer(int count, char **arguments, int expected, const char *usage, void (*run)(char **arguments)) {
    if (count != expected + 1) {
        std::fprintf(stderr, "usage: %s\n", usage);
        return 2;
    }
    try {
        run(arguments);
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s: %s\n", arguments[0], error.what());
        return 2;
    }
}

#endif
