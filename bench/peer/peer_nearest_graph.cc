// SPDX-License-Identifier: Apache-2.0
//
// Nearest rows by hnswlib, 32 links and 200 candidates while building.  It has no
// Hamming space, so here is one, compiled for this very machine, as one would.  The
// effort is ef.
//
//     peer_nearest_graph "" FILE ROWS BYTES QUERIES K wall|cpu EFFORTS
//
// Answers lines (nearest_answers.h).

#include <hnswlib/hnswlib.h>

#include "nearest_answers.h"

namespace {

// Rows of a multiple of 8 bytes.
int hamming(const void *a, const void *b, const void *bytes) {
    const auto *x = static_cast<const char *>(a);
    const auto *y = static_cast<const char *>(b);
    const size_t words = *static_cast<const size_t *>(bytes) / 8;
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
    hnswlib::DISTFUNC<int> get_dist_func() override { return hamming; }
    void *get_dist_func_param() override { return &bytes; }

  private:
    size_t bytes;
};

void run(char **arguments) {
    const nearest_job job(arguments);
    hamming_space space(job.bytes);
    hnswlib::HierarchicalNSW<int> graph(&space, job.rows, 32, 200);
    answer_nearest(
        job,
        [&](const std::vector<uint8_t> &rows) {
            for (size_t i = 0; i < rows.size() / job.bytes; i++) graph.addPoint(rows.data() + i * job.bytes, i);
        },
        [&](size_t count, int effort, std::vector<int32_t> &distances) {
            graph.setEf(static_cast<size_t>(effort));
            for (size_t q = 0; q < count; q++) {
                auto found = graph.searchKnn(job.queries.data() + q * job.bytes, job.k);
                for (size_t i = job.k; i-- > 0;) {
                    distances[q * job.k + i] = i < found.size() ? found.top().first : job.bits();
                    if (i < found.size()) found.pop();
                }
            }
        });
}

} // namespace

int main(int count, char **arguments) {
    return run_peer(count, arguments, 8, "peer_nearest_graph \"\" FILE ROWS BYTES QUERIES K CLOCK EFFORTS", run);
}
