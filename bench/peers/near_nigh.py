# SPDX-License-Identifier: Apache-2.0
"""nigh.Collection: the exact scan, and the graph."""

import os

import nigh

VARIANTS = {
    "scan": ("Collection.search(exact=True)", [None]),
    "graph": ("Collection.build('graph'), search(method='graph', effort=E)",
              [10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320, 640, 1280]),
}


def path_in(job):
    return os.path.join(job["index"], "rows.nigh")


def build(rows, job):
    with nigh.Collection.create(path_in(job), rows, progress=False) as collection:
        if job["variant"] == "graph":
            collection.build("graph", min_rows=1, threads=job["build_threads"], progress=False)


class Index:
    def __init__(self, job):
        self.path = path_in(job)
        self.collection = nigh.Collection(self.path)

    def search(self, queries, k, setting, threads):
        how = {"exact": True} if setting is None else {"method": "graph", "effort": setting}
        return self.collection.search(queries, k, threads=threads, **how).documents

    def stored_bytes(self):
        """What is searched lies in files, which are mapped."""
        return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(self.path)
                   for name in names)
