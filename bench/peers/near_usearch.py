# SPDX-License-Identifier: Apache-2.0
"""usearch's graph over bits."""

import numpy
from usearch.index import Index as Graph

EF = [10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320, 640, 1280]
VARIANTS = {
    "default": ("Index(metric='hamming', dtype='b1'), expansion_search", EF),
    "wide": ("Index(metric='hamming', dtype='b1', connectivity=32, expansion_add=200), expansion_search", EF),
}
OPTIONS = {"wide": {"connectivity": 32, "expansion_add": 200}}


class Index:
    def __init__(self, rows, variant, job):
        self.index = Graph(ndim=rows.shape[1] * 8, metric="hamming", dtype="b1", **OPTIONS.get(variant, {}))
        self.index.add(numpy.arange(len(rows)), rows, threads=job["build_threads"])

    def search(self, queries, k, setting, threads):
        self.index.expansion_search = setting
        return self.index.search(queries, k, threads=threads).keys.astype("int64")
