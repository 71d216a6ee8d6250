# SPDX-License-Identifier: Apache-2.0
"""
datasketch: a MinHash of each document; what the LSH has nothing for is kept and goes into it.

With all pairs, everything goes into it, and a pair is what it finds for each.  Sketches are made in as many processes
as there are threads to use.
"""

import datasketch
import documents
from contender import Found
from in_processes import mapped

HASHES = 128
CALL = "MinHashLSH(threshold=.8, num_perm=128), update_batch(shingles)"
VARIANTS = {"lsh": CALL, "pairs": CALL + ", all in it"}


def sketch(text):
    found = datasketch.MinHash(num_perm=HASHES)
    found.update_batch([shingle.encode() for shingle in documents.shingles(text)])
    return datasketch.LeanMinHash(found)


def dedup(job):
    texts = documents.read(job["documents"])
    index = datasketch.MinHashLSH(threshold=0.8, num_perm=HASHES)
    removed, pairs = set(), []
    for number, made in enumerate(mapped(sketch, texts, job["threads"])):
        near = index.query(made)
        if near:
            removed.add(number)
            pairs.extend((other, number) for other in near)
        if not near or job["variant"] == "pairs":
            index.insert(number, made, check_duplication=False)
    if job["variant"] == "pairs":
        return Found(pairs=pairs)
    documents.write_kept(job["documents"], job["output"], removed)
    return Found(removed=removed)
