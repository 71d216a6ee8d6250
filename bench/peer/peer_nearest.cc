// SPDX-License-Identifier: Apache-2.0
//
// Nearest rows by FAISS: flat, every row; MultiHash with 64 hashes of 16 bits, or as
// many as a row has; IVF with so many lists, or the root of the rows, rounded to a power
// of two; HNSW with so many links.  The effort is nothing, nflip, nprobe, efSearch.
//
//     peer_nearest flat|multihash|ivf[-LISTS]|hnsw[-LINKS] FILE ROWS BYTES QUERIES K wall|cpu
//
// Answers lines (nearest_answers.h).

#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHNSW.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/IndexBinaryIVF.h>

#include <memory>

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
        [&](const uint8_t *queries, size_t count, int effort, std::vector<int32_t> &distances) {
            set(effort);
            index.search(static_cast<number>(count), queries, static_cast<number>(job.k), distances.data(),
                         labels.data());
            for (size_t i = 0; i < count * job.k; i++)
                if (labels[i] < 0) distances[i] = job.bits();
        });
}

void run(char **arguments) {
    const nearest_job job(arguments);
    if (job.kind == "flat") {
        faiss::IndexBinaryFlat index(job.bits());
        answer(job, index, [](int) {});
    } else if (job.kind == "multihash") {
        faiss::IndexBinaryMultiHash index(job.bits(), job.bits() / 16, 16);
        answer(job, index, [&](int effort) { index.nflip = effort; });
    } else if (job.kind == "ivf") {
        size_t lists = 1;
        while (lists * lists * 2 < job.rows) lists *= 2;
        lists = job.shape_or(0, lists);
        faiss::IndexBinaryFlat quantizer(job.bits());
        faiss::IndexBinaryIVF index(&quantizer, static_cast<size_t>(job.bits()), lists);
        index.cp.max_points_per_centroid = index.cp.min_points_per_centroid; // all of them take a quarter of an hour
        answer(job, index, [&](int effort) { index.nprobe = static_cast<size_t>(effort); });
    } else if (job.kind == "hnsw") {
        faiss::IndexBinaryHNSW index(job.bits(), static_cast<int>(job.shape_or(0, 32)));
        answer(job, index, [&](int effort) { index.hnsw.efSearch = effort; });
    } else {
        throw std::invalid_argument("there is no such kind");
    }
}

} // namespace

int main(int count, char **arguments) {
    return run_peer(count, arguments, 7, "peer_nearest KIND FILE ROWS BYTES QUERIES K CLOCK", run);
}
