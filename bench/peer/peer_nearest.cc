// SPDX-License-Identifier: Apache-2.0
//
// Nearest rows by FAISS: flat, every row; MultiHash with 64 hashes of 16 bits, or as
// many as a row has; IVF with so many lists, or the root of the rows, rounded to a power
// of two; HNSW with so many links.  The effort is nothing, nflip, nprobe, efSearch.
//
//     peer_nearest flat|multihash|ivf[-LISTS]|hnsw[-LINKS] FILE ROWS BYTES QUERIES K wall|cpu KEPT
//
// Answers lines (nearest_answers.h).

#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHNSW.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/IndexBinaryIVF.h>
#include <faiss/index_io.h>

#include <memory>

#include "nearest_answers.h"

namespace {

using number = faiss::IndexBinary::idx_t;

std::unique_ptr<faiss::IndexBinary> make_lists(const nearest_job &job) {
    size_t lists = 1;
    while (lists * lists * 2 < job.rows) lists *= 2;
    auto quantizer = std::make_unique<faiss::IndexBinaryFlat>(job.bits());
    auto index = std::make_unique<faiss::IndexBinaryIVF>(quantizer.get(), static_cast<size_t>(job.bits()),
                                                         job.shape_or(0, lists));
    index->own_fields = true;
    (void)quantizer.release();
    index->cp.max_points_per_centroid = index->cp.min_points_per_centroid; // all of them take a quarter of an hour
    return index;
}

std::unique_ptr<faiss::IndexBinary> empty_index(const nearest_job &job) {
    if (job.kind == "flat") return std::make_unique<faiss::IndexBinaryFlat>(job.bits());
    if (job.kind == "multihash") return std::make_unique<faiss::IndexBinaryMultiHash>(job.bits(), job.bits() / 16, 16);
    if (job.kind == "ivf") return make_lists(job);
    if (job.kind == "hnsw")
        return std::make_unique<faiss::IndexBinaryHNSW>(job.bits(), static_cast<int>(job.shape_or(0, 32)));
    throw std::invalid_argument("there is no such kind");
}

void set_effort(faiss::IndexBinary &index, int effort) {
    if (auto *hashes = dynamic_cast<faiss::IndexBinaryMultiHash *>(&index)) hashes->nflip = effort;
    if (auto *lists = dynamic_cast<faiss::IndexBinaryIVF *>(&index)) lists->nprobe = static_cast<size_t>(effort);
    if (auto *graph = dynamic_cast<faiss::IndexBinaryHNSW *>(&index)) graph->hnsw.efSearch = effort;
}

class faiss_index : public nearest_index {
  public:
    explicit faiss_index(const nearest_job &job)
        : job(job), index(empty_index(job)), labels(job.query_count() * job.k) {}

    void make(const std::vector<uint8_t> &rows) override {
        const auto count = static_cast<number>(rows.size() / job.bytes);
        if (!index->is_trained) index->train(count, rows.data());
        index->add(count, rows.data());
    }
    void save(const char *path) override { faiss::write_index_binary(index.get(), path); }
    void load(const char *path) override { index.reset(faiss::read_index_binary(path)); }
    void search(const uint8_t *queries, size_t count, int effort, std::vector<int32_t> &distances) override {
        set_effort(*index, effort);
        index->search(static_cast<number>(count), queries, static_cast<number>(job.k), distances.data(), labels.data());
        for (size_t i = 0; i < count * job.k; i++)
            if (labels[i] < 0) distances[i] = job.bits();
    }

  private:
    const nearest_job &job;
    std::unique_ptr<faiss::IndexBinary> index;
    std::vector<number> labels;
};

void run(char **arguments) {
    const nearest_job job(arguments);
    faiss_index index(job);
    answer_nearest(job, index);
}

} // namespace

int main(int count, char **arguments) {
    return run_peer(count, arguments, 8, "peer_nearest KIND FILE ROWS BYTES QUERIES K CLOCK KEPT", run);
}
