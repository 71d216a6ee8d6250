# SPDX-License-Identifier: Apache-2.0
"""usearch's graph over bits."""

import os

import numpy
from usearch.index import Index as Graph

EF = [10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320, 640, 1280]
VARIANTS = {
    "default": ("Index(metric='hamming', dtype='b1'), expansion_search", EF),
    "wide": ("Index(metric='hamming', dtype='b1', connectivity=32, expansion_add=200), expansion_search", EF),
}
OPTIONS = {"wide": {"connectivity": 32, "expansion_add": 200}}


def graph(job):
    return Graph(ndim=job["width_bits"], metric="hamming", dtype="b1", **OPTIONS.get(job["variant"], {}))


def path_in(job):
    return os.path.join(job["index"], "index.usearch")


def build(rows, job):
    index = graph(job)
    index.add(numpy.arange(len(rows)), rows, threads=job["build_threads"])
    index.save(path_in(job))


class Index:
    def __init__(self, job):
        self.index = graph(job)
        self.index.load(path_in(job))

    def search(self, queries, k, setting, threads):
        self.index.expansion_search = setting
        return self.index.search(queries, k, threads=threads).keys.astype("int64")
