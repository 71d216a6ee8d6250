# SPDX-License-Identifier: Apache-2.0
"""The nearest among signatures: generated ones, those of documents, and embeddings of them."""

import subprocess

import documents
import numpy
import tables
from contest import say
from environments import Missing, embedded

CONTENDERS = [
    ("nigh", "near_nigh", ["scan", "graph"]),
    ("usearch", "near_usearch", ["default", "wide"]),
    ("hnswlib", "near_hnswlib", ["floats"]),
    ("faiss", "near_faiss", ["flat", "ivf", "multihash", "hnsw"]),
]
RUNS = 3  # of which the best counts
ENOUGH = 0.99  # recall from which on nothing more thorough is tried
LONGEST = 60  # seconds for all queries, from which on neither


def farthest(rows, queries, k):
    """How far the k-th nearest of each query is, by comparing all: NumPy's own, not a contender's."""
    wide, found = rows.view(numpy.uint64), []
    for query in queries.view(numpy.uint64):
        distances = numpy.bitwise_count(wide ^ query).sum(axis=1, dtype=numpy.uint16)
        found.append(numpy.partition(distances, k - 1)[k - 1])
    return numpy.array(found)


def stored(contest, name, rows, queries):
    """The files that contenders read."""
    paths = {part: contest.work / f"{name}.{part}.npy" for part in ("rows", "queries", "farthest")}
    numpy.save(paths["rows"], rows)
    numpy.save(paths["queries"], queries)
    if not paths["farthest"].exists():
        numpy.save(paths["farthest"], farthest(rows, queries, contest.options.k))
    return {part: str(path) for part, path in paths.items()}


def nearest(contest, name, rows, queries, about):
    options = contest.options
    job = {**stored(contest, name, rows, queries), "set": name, "threads": options.threads, "k": options.k,
           "runs": RUNS, "enough": ENOUGH, "longest": LONGEST, "build_threads": max(options.threads)}
    found = []
    for peer, module, variants in CONTENDERS:
        for variant in variants if contest.wants(peer) else []:
            measured = contest.run("nearest", peer, {**job, "module": module, "variant": variant})
            found.append({"contender": f"{peer} {variant}", "rows": len(rows), **measured})
    contest.tell("nearest", name, about, found, tables.nearest_table(name, about, found, options.threads))


# -------------------------------------------------------------------- the sets --


def clustered(contest):
    count, asked = contest.options.rows, contest.options.queries
    paths = {more: contest.work / f"generated-{count}{more}.npy" for more in ("", f"-{asked}-asked")}
    for more, path in paths.items():
        if not path.exists():
            wanted = ["--queries", str(asked)] if more else []
            subprocess.run([contest.tool, "generate", "-n", str(count), *wanted, "-o", path, "--quiet"], check=True)
    rows, queries = (numpy.load(path) for path in paths.values())
    rows = numpy.unique(rows, axis=0)
    about = f"{len(rows):,} different generated signatures of {rows.shape[1] * 8:,} bits, {len(queries):,} queries"
    nearest(contest, f"clustered-{count}", rows, queries, about)


def held_out(contest, rows):
    """Different rows in any order, and as many queries as are wanted, which are none of them."""
    rows = numpy.random.Generator(numpy.random.PCG64(1)).permutation(numpy.unique(rows, axis=0))
    count = min(contest.options.queries, len(rows) // 10)
    return rows[count:].copy(), rows[:count].copy()


def topsig(contest, path):
    import nigh

    kept = contest.work / f"{path.stem}.topsig.npy"
    if not kept.exists():
        numpy.save(kept, nigh.topsig(list(dict.fromkeys(documents.read(path))), progress=False))
    rows, queries = held_out(contest, numpy.load(kept))
    about = f"TopSig signatures of 1,024 bits of {len(rows):,} documents, {len(queries):,} others ask"
    nearest(contest, f"topsig-{path.stem}", rows, queries, about)


def minilm(contest, path):
    count = contest.options.embeddings
    out = contest.work / f"{path.stem}.minilm-{count}.npy"
    try:
        bits = numpy.load(embedded(contest.work, out, "bits", path, count, max(contest.options.threads)))
    except Missing as reason:
        contest.missing["minilm"] = f"not installed: {reason}"
        say(f"no embeddings: {reason}")
        return
    rows, queries = held_out(contest, bits)
    about = f"all-MiniLM-L6-v2 of {len(rows):,} documents, the signs: 384 bits, {len(queries):,} others ask"
    nearest(contest, f"minilm-{count}-{path.stem}", rows, queries, about)
