// SPDX-License-Identifier: Apache-2.0
//
// Nearest rows by FAISS: MultiHash with 64 hashes of 16 bits, or as many as a row has;
// IVF with as many lists as the root of the rows, rounded to a power of two; HNSW with
// 32 links.  The effort is nflip, nprobe, efSearch.
//
//     peer_nearest multihash|ivf|hnsw FILE ROWS BYTES QUERIES K wall|cpu EFFORTS
//
// Answers lines (nearest_answers.h).

#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHNSW.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/IndexBinaryIVF.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "nearest_answers.h"

namespace {

using number = faiss::IndexBinary::idx_t;

// Makes and asks an index whose effort set(effort) sets.
template <typename Set> void answer(const nearest_job &job, faiss::IndexBinary &index, Set set) {
    std::vector<number> labels(job.query_count() * job.k);
    answer_nearest(
        job,
        [&](const std::vector<uint8_t> &rows) {
            const auto count = static_cast<number>(rows.size() / job.bytes);
            if (!index.is_trained) index.train(count, rows.data());
            index.add(count, rows.data());
        },
        [&](size_t count, int effort, std::vector<int32_t> &distances) {
            set(effort);
            index.search(static_cast<number>(count), job.queries.data(), static_cast<number>(job.k), distances.data(),
                         labels.data());
            for (size_t i = 0; i < count * job.k; i++)
                if (labels[i] < 0) distances[i] = job.bits();
        });
}

void run(char **arguments) {
    const nearest_job job(arguments);
    const std::string kind = job.kind;
    if (kind == "multihash") {
        faiss::IndexBinaryMultiHash index(job.bits(), job.bits() / 16, 16);
        answer(job, index, [&](int effort) { index.nflip = effort; });
    } else if (kind == "ivf") {
        size_t lists = 1;
        while (lists * lists * 2 < job.rows) lists *= 2;
        faiss::IndexBinaryFlat quantizer(job.bits());
        faiss::IndexBinaryIVF index(&quantizer, static_cast<size_t>(job.bits()), lists);
        index.cp.max_points_per_centroid = index.cp.min_points_per_centroid; // all of them take a quarter of an hour
        answer(job, index, [&](int effort) { index.nprobe = static_cast<size_t>(effort); });
    } else if (kind == "hnsw") {
        faiss::IndexBinaryHNSW index(job.bits(), 32);
        answer(job, index, [&](int effort) { index.hnsw.efSearch = effort; });
    } else {
        throw std::invalid_argument("there is no such kind");
    }
}

} // namespace

int main(int count, char **arguments) {
    return run_peer(count, arguments, 8, "peer_nearest KIND FILE ROWS BYTES QUERIES K CLOCK EFFORTS", run);
}
