# SPDX-License-Identifier: Apache-2.0
"""
hnswlib, whose Python package knows floats only: each bit is a float of 0 or 1, the squared distance of which is the
Hamming distance, in 32 times the memory.  So it takes part where that is not too much.
"""

import os

import hnswlib
import numpy

EF = [10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320, 640, 1280]
VARIANTS = {"floats": ("Index(space='l2'), M=32, ef_construction=200, bits as floats, ef", EF)}
MOST_FLOATS = 1_100_000_000
AT_ONCE = 10_000


def floats(rows):
    return numpy.unpackbits(rows, axis=1).astype(numpy.float32)


def path_in(job):
    return os.path.join(job["index"], "index.hnswlib")


def build(rows, job):
    if rows.size * 8 > MOST_FLOATS:
        raise MemoryError(f"bits would be {rows.size * 32 / 1e9:.1f} GB of floats")
    index = hnswlib.Index(space="l2", dim=rows.shape[1] * 8)
    index.init_index(max_elements=len(rows), ef_construction=200, M=32)
    for first in range(0, len(rows), AT_ONCE):
        index.add_items(floats(rows[first : first + AT_ONCE]), num_threads=job["build_threads"])
    index.save_index(path_in(job))


class Index:
    def __init__(self, job):
        self.index = hnswlib.Index(space="l2", dim=job["width_bits"])
        self.index.load_index(path_in(job))

    def search(self, queries, k, setting, threads):
        self.index.set_ef(setting)
        return self.index.knn_query(floats(queries), k=k, num_threads=threads)[0].astype("int64")
