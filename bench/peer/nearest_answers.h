// SPDX-License-Identifier: Apache-2.0
//
// What the peers that look for nearest rows share: a clock, memory, an index that may be
// kept for the next time, and the loop that answers lines.
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

// "KIND FILE ROWS BYTES QUERIES K CLOCK KEPT"; a kind is a name and up to two numbers: "ivf-1024", "32-200"; what is
// kept is a file to find the index in or to leave it in, or "" for none.
struct nearest_job {
    std::string kind;          // the name
    std::vector<size_t> shape; // the numbers
    const char *rows_path;
    size_t rows, bytes, k;
    std::vector<uint8_t> queries;
    clockid_t clock; // "wall", or "cpu" for a machine that others use too
    std::string kept;

    explicit nearest_job(char **arguments)
        : rows_path(arguments[2]), rows(std::strtoull(arguments[3], nullptr, 10)),
          bytes(std::strtoull(arguments[4], nullptr, 10)), k(std::strtoull(arguments[6], nullptr, 10)),
          queries(read_rows(arguments[5], 0, SIZE_MAX)),
          clock(std::strcmp(arguments[7], "cpu") == 0 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC),
          kept(arguments[8]) {
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

// What a library makes of the rows.
class nearest_index {
  public:
    virtual ~nearest_index() = default;
    virtual void make(const std::vector<uint8_t> &rows) = 0;
    virtual void save(const char *path) = 0;
    virtual void load(const char *path) = 0;
    // Fills K distances a query; one of `bits` for none.
    virtual void search(const uint8_t *queries, size_t count, int effort, std::vector<int32_t> &distances) = 0;
};

// What making it took, also where that was an earlier time.
struct nearest_cost {
    double seconds, bytes;
};

inline nearest_cost make_index(const nearest_job &job, nearest_index &index) {
    const double before = resident_bytes();
    double took = 0;
    {
        const std::vector<uint8_t> rows = read_rows(job.rows_path, 0, job.rows * job.bytes);
        const double start = job.now();
        index.make(rows);
        took = job.now() - start;
    }
    return {took, resident_bytes() - before};
}

// Beside the kept index, and written after it, so that half of one is never taken for a whole.
inline std::string cost_path(const nearest_job &job) { return job.kept + ".cost"; }

inline bool load_index(const nearest_job &job, nearest_index &index, nearest_cost &cost) {
    FILE *file = std::fopen(cost_path(job).c_str(), "r");
    if (file == nullptr) return false;
    const bool known = std::fscanf(file, "%lf %lf", &cost.seconds, &cost.bytes) == 2;
    std::fclose(file);
    if (known) index.load(job.kept.c_str());
    return known;
}

// An hour of building is not to end at a folder that is not there.
inline void try_keeping(const nearest_job &job) {
    FILE *file = std::fopen(job.kept.c_str(), "w");
    if (file == nullptr) throw std::runtime_error("cannot write " + job.kept);
    std::fclose(file);
}

inline void keep_index(const nearest_job &job, nearest_index &index, const nearest_cost &cost) {
    index.save(job.kept.c_str());
    FILE *file = std::fopen(cost_path(job).c_str(), "w");
    if (file == nullptr || std::fprintf(file, "%.3f %.0f\n", cost.seconds, cost.bytes) < 0 || std::fclose(file) != 0)
        throw std::runtime_error("cannot write " + cost_path(job));
}

// All on one thread.
inline void answer_nearest(const nearest_job &job, nearest_index &index) {
    omp_set_num_threads(1);
    nearest_cost cost = {};
    if (job.kept.empty() || !load_index(job, index, cost)) {
        if (!job.kept.empty()) try_keeping(job);
        cost = make_index(job, index);
        if (!job.kept.empty()) keep_index(job, index, cost);
    }
    std::printf("ready %zu %.3f %.0f\n", job.query_count(), cost.seconds, cost.bytes);
    std::fflush(stdout);
    std::vector<int32_t> distances(job.query_count() * job.k);
    int effort = 0;
    size_t first = 0;
    size_t count = 0;
    while (std::scanf("%d %zu %zu", &effort, &first, &count) == 3 && first <= job.query_count() &&
           count <= job.query_count() - first) {
        const double start = job.now();
        index.search(job.queries.data() + first * job.bytes, count, effort, distances);
        std::printf("%.9f", job.now() - start);
        for (size_t i = 0; i < count * job.k; i++) std::printf(" %d", distances[i]);
        std::printf("\n");
        std::fflush(stdout);
    }
}

#endif
