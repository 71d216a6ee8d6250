# SPDX-License-Identifier: Apache-2.0
"""
rensa: its de-duplicator over shingles, and its fastest way, which flags what has a near-copy and does not say which
should stay: over shingles, and over plain words as its own documentation has it.

It reads no text, so that shingles are made in Python, by one thread.
"""

import documents
import rensa
from contender import Found

HASHES, SEED = 128, 42
RHO = "digest_matrix_from_token_sets_rho, RMinHashLSH(.8, 128, 8)"
VARIANTS = {
    "lsh": "RMinHashDeduplicator(.8, 128, use_lsh=True).add_pairs(shingles)",
    "pairs": "RMinHashLSH(.8, 128, 16).query_all(shingles), similarity .8",
    "rho": RHO + ", shingles: flags",
    "words": RHO + ", text.split(): flags",
}


def token_lists(job):
    cut = str.split if job["variant"] == "words" else lambda text: list(documents.shingles(text))
    return [cut(text) for text in documents.read(job["documents"])]


def all_pairs(tokens):
    sketches = rensa.RMinHash.from_token_sets(tokens, HASHES, SEED)
    index = rensa.RMinHashLSH(0.8, HASHES, 16)
    index.insert_many(sketches)
    return [(other, number) for number, near in enumerate(index.query_all(sketches)) for other in near
            if other < number and sketches[number].jaccard(sketches[other]) >= 0.8]


def dedup(job):
    tokens = token_lists(job)
    if job["variant"] == "pairs":
        return Found(pairs=all_pairs(tokens))
    if job["variant"] == "lsh":
        index = rensa.RMinHashDeduplicator(threshold=0.8, num_perm=HASHES, use_lsh=True)
        stays = index.add_pairs((str(number), found) for number, found in enumerate(tokens))
        removed = {number for number, kept in enumerate(stays) if not kept}
    else:
        matrix = rensa.RMinHash.digest_matrix_from_token_sets_rho(tokens, HASHES, SEED)
        flags = rensa.RMinHashLSH(0.8, HASHES, 8).query_duplicate_flags_matrix_one_shot(matrix)
        removed = {number for number, flag in enumerate(flags) if flag}
    documents.write_kept(job["documents"], job["output"], removed)
    return Found(removed=removed) if job["variant"] == "lsh" else Found(flagged=removed)
