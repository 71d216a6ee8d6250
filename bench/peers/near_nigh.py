# SPDX-License-Identifier: Apache-2.0
"""nigh.Collection: the exact scan, and the graph."""

import os

import nigh

VARIANTS = {
    "scan": ("Collection.search(exact=True)", [None]),
    "graph": ("Collection.build('graph'), search(method='graph', effort=E)",
              [10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320, 640, 1280]),
}


class Index:
    def __init__(self, rows, variant, job):
        self.path = os.path.join(job["folder"], "rows.nigh")
        self.collection = nigh.Collection.create(self.path, rows, progress=False)
        if variant == "graph":
            self.collection.build("graph", min_rows=1, threads=job["build_threads"], progress=False)

    def search(self, queries, k, setting, threads):
        how = {"exact": True} if setting is None else {"method": "graph", "effort": setting}
        return self.collection.search(queries, k, threads=threads, **how).documents

    def stored_bytes(self):
        """What is searched lies in files, which are mapped."""
        return sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(self.path)
                   for name in names)
