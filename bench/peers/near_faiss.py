# SPDX-License-Identifier: Apache-2.0
"""FAISS's indexes of bits, as PyPI has them: compiled for several kinds of processors, the best of which is taken."""

import os

import faiss

LADDER = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512]
EF = [10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320, 640, 1280]
VARIANTS = {
    "flat": ("IndexBinaryFlat", [None]),
    "ivf": ("IndexBinaryIVF, 4 sqrt(n) lists at most 1,024, nprobe", LADDER),
    "hnsw": ("IndexBinaryHNSW(M=32), efSearch", EF),
    "multihash": ("IndexBinaryMultiHash, 16 hashes of log2(n) bits, nflip", [0, 1, 2]),
}


def ivf(rows, bits):
    lists = min(1024, 1 << int(4 * len(rows) ** 0.5).bit_length() - 1)
    quantizer = faiss.IndexBinaryFlat(bits)
    index = faiss.IndexBinaryIVF(quantizer, bits, lists)
    index.train(rows[:: max(1, len(rows) // (lists * 64))].copy())
    return index


def multihash(rows, bits):
    return faiss.IndexBinaryMultiHash(bits, 16, max(8, len(rows).bit_length() - 1))


def path_in(job):
    return os.path.join(job["index"], "index.faiss")


def build(rows, job):
    faiss.omp_set_num_threads(job["build_threads"])
    bits = rows.shape[1] * 8
    make = {"flat": lambda: faiss.IndexBinaryFlat(bits), "ivf": lambda: ivf(rows, bits),
            "hnsw": lambda: faiss.IndexBinaryHNSW(bits, 32), "multihash": lambda: multihash(rows, bits)}
    index = make[job["variant"]]()
    index.add(rows)
    faiss.write_index_binary(index, path_in(job))


class Index:
    def __init__(self, job):
        self.variant = job["variant"]
        self.index = faiss.read_index_binary(path_in(job))

    def search(self, queries, k, setting, threads):
        faiss.omp_set_num_threads(threads)
        if self.variant == "ivf":
            self.index.nprobe = setting
        elif self.variant == "hnsw":
            self.index.hnsw.efSearch = setting
        elif self.variant == "multihash":
            self.index.nflip = setting
        return self.index.search(queries, k)[1]
