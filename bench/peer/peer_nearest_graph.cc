// SPDX-License-Identifier: Apache-2.0
//
// Nearest rows by hnswlib.  It has no Hamming space, so here is one as good as one would
// make it: compiled for this very machine, and for rows of this very length, which
// takes a quarter of the time of a loop that does not.  The effort is ef.
//
//     peer_nearest_graph LINKS-CANDIDATES FILE ROWS BYTES QUERIES K wall|cpu KEPT
//
// M, and efConstruction: "16-100", "32-200".  Answers lines (nearest_answers.h).

#include <hnswlib/hnswlib.h>

#include <memory>

#include "nearest_answers.h"

namespace {

// Rows of so many words of 8 bytes; 0: of as many as `bytes` points to.
template <size_t Words> int hamming(const void *a, const void *b, const void *bytes) {
    const auto *x = static_cast<const char *>(a);
    const auto *y = static_cast<const char *>(b);
    const size_t words = Words != 0 ? Words : *static_cast<const size_t *>(bytes) / 8;
    int distance = 0;
    for (size_t i = 0; i < words; i++) {
        uint64_t left = 0;
        uint64_t right = 0;
        std::memcpy(&left, x + i * 8, 8);
        std::memcpy(&right, y + i * 8, 8);
        distance += __builtin_popcountll(left ^ right);
    }
    return distance;
}

class hamming_space : public hnswlib::SpaceInterface<int> {
  public:
    explicit hamming_space(size_t bytes) : bytes(bytes) {}
    size_t get_data_size() override { return bytes; }
    hnswlib::DISTFUNC<int> get_dist_func() override {
        return bytes == 128 ? hamming<16> : bytes == 32 ? hamming<4> : hamming<0>;
    }
    void *get_dist_func_param() override { return &bytes; }

  private:
    size_t bytes;
};

class layered_graph : public nearest_index {
  public:
    explicit layered_graph(const nearest_job &job) : job(job), space(job.bytes) {}

    void make(const std::vector<uint8_t> &rows) override {
        graph = std::make_unique<hnswlib::HierarchicalNSW<int>>(&space, job.rows, job.shape_or(0, 32),
                                                                job.shape_or(1, 200));
        for (size_t i = 0; i < rows.size() / job.bytes; i++) graph->addPoint(rows.data() + i * job.bytes, i);
    }
    void save(const char *path) override { graph->saveIndex(path); }
    void load(const char *path) override { graph = std::make_unique<hnswlib::HierarchicalNSW<int>>(&space, path); }
    void search(const uint8_t *queries, size_t count, int effort, std::vector<int32_t> &distances) override {
        graph->setEf(static_cast<size_t>(effort));
        for (size_t q = 0; q < count; q++) {
            auto found = graph->searchKnn(queries + q * job.bytes, job.k);
            for (size_t i = job.k; i-- > 0;) {
                distances[q * job.k + i] = i < found.size() ? found.top().first : job.bits();
                if (i < found.size()) found.pop();
            }
        }
    }

  private:
    const nearest_job &job;
    hamming_space space;
    std::unique_ptr<hnswlib::HierarchicalNSW<int>> graph;
};

void run(char **arguments) {
    const nearest_job job(arguments);
    layered_graph index(job);
    answer_nearest(job, index);
}

} // namespace

int main(int count, char **arguments) {
    return run_peer(count, arguments, 8, "peer_nearest_graph LINKS-CANDIDATES FILE ROWS BYTES QUERIES K CLOCK KEPT",
                    run);
}
