# SPDX-License-Identifier: Apache-2.0
"""
The nearest among signatures: generated ones, those of documents, and embeddings of them.

What a contender builds is kept in a folder, with what it took, for as long as the rows, its versions and how it is
called are the same; of the package that is measured, for as long as its library is the same file.
"""

import hashlib
import importlib.util
import json
import shutil
import subprocess
from pathlib import Path

import documents
import numpy
import tables
from contest import say
from environments import HERE, Missing, signs

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


# ----------------------------------------------------------- what is built once --


def made_of(peer, job):
    """What the stored index depends on, as a digest."""
    digest = hashlib.sha256((HERE / "requirements" / f"{peer}.txt").read_bytes())
    digest.update((HERE / f"{job['module']}.py").read_bytes())
    digest.update(Path(job["rows"]).read_bytes())
    if peer == "nigh":
        digest.update(Path(importlib.util.find_spec("nigh._core").origin).read_bytes())
    return digest.hexdigest()


def built(contest, peer, job):
    """What building took, and the folder; or why there is none."""
    folder = contest.work / "built" / f"{job['set']}-{peer}-{job['variant']}"
    told, of = folder / "built.json", made_of(peer, job)
    known = json.loads(told.read_text()) if told.exists() else {}
    if known.get("of") != of:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        known = contest.run("build", peer, {**job, "index": str(folder)})
        if "skipped" not in known:
            told.write_text(json.dumps({**known, "of": of}))
    return {name: value for name, value in known.items() if name != "of"}, str(folder)


def measured_by(contest, peer, job):
    building, folder = built(contest, peer, job)
    if "skipped" in building or contest.options.build_only:
        return {"points": [], "index_bytes": 0, "call": "", **building}
    building["build_peak_bytes"] = building.pop("peak_bytes")
    return {**building, **contest.run("nearest", peer, {**job, "index": folder})}


def nearest(contest, name, rows, queries, about):
    options = contest.options
    job = {**stored(contest, name, rows, queries), "set": name, "threads": options.threads, "k": options.k,
           "runs": RUNS, "enough": ENOUGH, "longest": LONGEST, "build_threads": max(options.threads),
           "width_bits": rows.shape[1] * 8}
    found = []
    for peer, module, variants in CONTENDERS:
        for variant in [variant for variant in variants if contest.wants(peer, variant)]:
            measured = measured_by(contest, peer, {**job, "module": module, "variant": variant})
            found.append({"contender": f"{peer} {variant}", "rows": len(rows), **measured})
    tables.nearest_note(name, found)
    contest.tell("nearest", name, about, found, tables.nearest_table(name, about, found))


# -------------------------------------------------------------------- the sets --


def different(rows):
    """Each once, in the order they come in: graphs that are built row by row are worse off with sorted ones."""
    return rows[numpy.sort(numpy.unique(rows, axis=0, return_index=True)[1])]


def clustered(contest):
    count, asked = contest.options.rows, contest.options.queries
    paths = {more: contest.work / f"generated-{count}{more}.npy" for more in ("", f"-{asked}-asked")}
    for more, path in paths.items():
        if not path.exists():
            wanted = ["--queries", str(asked)] if more else []
            subprocess.run([contest.tool, "generate", "-n", str(count), *wanted, "-o", path, "--quiet"], check=True)
    rows, queries = (numpy.load(path) for path in paths.values())
    rows = different(rows)
    about = f"{len(rows):,} different generated signatures of {rows.shape[1] * 8:,} bits, {len(queries):,} queries"
    nearest(contest, f"clustered-{count}", rows, queries, about)


def held_out(contest, rows):
    """Different rows in any order, and as many queries as are wanted, which are none of them."""
    rows = numpy.random.Generator(numpy.random.PCG64(1)).permutation(different(rows))
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
    try:
        bits = signs(contest.work, path, contest.options.embeddings, max(contest.options.threads))
    except Missing as reason:
        contest.missing["minilm"] = f"not installed: {reason}"
        say(f"no embeddings: {reason}")
        return
    rows, queries = held_out(contest, bits)
    about = f"all-MiniLM-L6-v2 of {len(rows):,} documents, the signs: 384 bits, {len(queries):,} others ask"
    nearest(contest, f"minilm-{len(bits)}-{path.stem}", rows, queries, about)
