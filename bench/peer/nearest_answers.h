// SPDX-License-Identifier: Apache-2.0
//
// What the peers that look for nearest rows share: a clock, memory, and the loop that
// answers lines.
//
// Such a peer says "ready N SECONDS BYTES": N queries, what making the index took, and
// how much larger the process grew by it.  To each line "EFFORT FIRST COUNT" it answers
// "SECONDS" and K distances for each of COUNT queries from the FIRST on.  All on one
// thread.
#ifndef NIGH_BENCH_PEER_NEAREST_ANSWERS_H
#define NIGH_BENCH_PEER_NEAREST_ANSWERS_H

#include <time.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <string>

#include "answers.h"

// "KIND FILE ROWS BYTES QUERIES K CLOCK"; a kind is a name and up to two numbers: "ivf-1024", "32-200"
struct nearest_job {
    std::string kind;          // the name
    std::vector<size_t> shape; // the numbers
    const char *rows_path;
    size_t rows, bytes, k;
    std::vector<uint8_t> queries;
    clockid_t clock; // "wall", or "cpu" for a machine that others use too

    explicit nearest_job(char **arguments)
        : rows_path(arguments[2]), rows(std::strtoull(arguments[3], nullptr, 10)),
          bytes(std::strtoull(arguments[4], nullptr, 10)), k(std::strtoull(arguments[6], nullptr, 10)),
          queries(read_rows(arguments[5], 0, SIZE_MAX)),
          clock(std::strcmp(arguments[7], "cpu") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC) {
        char *at = arguments[1];
        while (*at >= 'a' && *at <= 'z') kind += *at++;
        while (*at != '\0') {
            char *end = at;
            shape.push_back(std::strtoull(*at == '-' ? at + 1 : at, &end, 10));
            if (end == at) throw std::invalid_argument("there is no such kind");
            at = end;
        }
    }

    size_t shape_or(size_t number, size_t usual) const { return number < shape.size() ? shape[number] : usual; }

    size_t query_count() const { return queries.size() / bytes; }
    int bits() const { return static_cast<int>(bytes * 8); }

    double now() const {
        timespec time = {};
        clock_gettime(clock, &time);
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    }
};

// Bytes of this process that are in memory; 0 where the system does not say.
inline double resident_bytes() {
    long all = 0;
    long resident = 0;
    FILE *file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr) return 0;
    if (std::fscanf(file, "%ld %ld", &all, &resident) != 2) resident = 0;
    std::fclose(file);
    return static_cast<double>(resident) * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// make(rows) builds on one thread; search(queries, count, effort, distances) fills K a query, a distance of `bits` for
// none.
template <typename Make, typename Search> void answer_nearest(const nearest_job &job, Make make, Search search) {
    omp_set_num_threads(1);
    const double before = resident_bytes();
    double took = 0;
    {
        const std::vector<uint8_t> rows = read_rows(job.rows_path, 0, job.rows * job.bytes);
        const double start = job.now();
        make(rows);
        took = job.now() - start;
    }
    std::printf("ready %zu %.3f %.0f\n", job.query_count(), took, resident_bytes() - before);
    std::fflush(stdout);
    std::vector<int32_t> distances(job.query_count() * job.k);
    int effort = 0;
    size_t first = 0;
    size_t count = 0;
    while (std::scanf("%d %zu %zu", &effort, &first, &count) == 3 && first <= job.query_count() &&
           count <= job.query_count() - first) {
        const double start = job.now();
        search(job.queries.data() + first * job.bytes, count, effort, distances);
        std::printf("%.9f", job.now() - start);
        for (size_t i = 0; i < count * job.k; i++) std::printf(" %d", distances[i]);
        std::printf("\n");
        std::fflush(stdout);
    }
}

#endif
