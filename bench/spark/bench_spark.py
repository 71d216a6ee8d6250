#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""De-duplication on a Spark of two workers of one core each, beside two plain processes of nigh, and beside Spark's own
MinHashLSH and a MinHash in plain PySpark, as text-dedup had it.

Usage: bench_spark.py TOOL [--documents N] [--peer-documents N] [--partitions N] [--work FOLDER]

Documents are 40 words of a vocabulary of 50,000, the frequent ones often; of ten three are near-copies of an earlier
one that is none, with one word changed: a Jaccard index of .854 or more, by three words in a row.  Times are by the
clock; a row tells which share of the near-copies is found, and how much of what is found is not one.
"""

import argparse
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).parents[2] / "python" / "tests"), str(pathlib.Path(__file__).parents[1])]
import figures  # noqa: E402
from cluster import cluster  # noqa: E402
from pyspark.sql import functions as F  # noqa: E402

import nigh.spark  # noqa: E402

WORDS = 40


def make(folder, count, files=4):
    """JSON lines and Parquet of the same documents; and which are near-copies."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    chance = np.random.default_rng(count)
    words = np.array([f"w{number}" for number in range(50000)])
    drawn = (50000 * chance.random((count, WORDS)) ** 3).astype(np.int32)
    copied = chance.random(count) < 0.3
    copied[:10] = False
    later, first = np.flatnonzero(copied), np.flatnonzero(~copied)
    of = first[(np.searchsorted(first, later) * chance.random(len(later))).astype(np.int64)]
    drawn[later] = drawn[of]
    drawn[later, chance.integers(0, WORDS, len(later))] = chance.integers(0, 50000, len(later))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "table").mkdir(exist_ok=True)
    size = -(-count // files)
    for part in range(files):
        rows = range(part * size, min(count, (part + 1) * size))
        texts = [" ".join(line) for line in words[drawn[rows.start : rows.stop]].tolist()]
        with open(folder / f"{part}.jsonl", "w") as out:
            out.writelines(f'{{"id":"{n}","text":"{text}"}}\n' for n, text in zip(rows, texts))
        pq.write_table(pa.table({"id": list(rows), "text": texts}), folder / "table" / f"{part}.parquet")
    return set(later.tolist())


def timed(work):
    begin = time.monotonic()
    return work(), time.monotonic() - begin


def by_nigh(tool, folder):
    """Two processes, by stages; and one, plain, whose documents count."""
    inputs = sorted(str(path) for path in folder.glob("?.jsonl"))
    with tempfile.TemporaryDirectory(dir=folder) as work:
        staged = [tool, "dedup", "--quiet", "--work", work + "/w", "--shards", "4", "--processes", "2", "--threads", "1"]
        _, seconds = timed(lambda: subprocess.run([*staged, "-o", work + "/out.jsonl", *inputs], check=True))
    out = folder / "kept.jsonl"
    plain = [tool, "dedup", "--quiet", "--threads", "1", "-o", str(out), *inputs]
    _, one = timed(lambda: subprocess.run(plain, check=True))
    with open(out) as lines:
        return {int(json.loads(line)["id"]) for line in lines}, seconds, one


def by_spark(frame, partitions):
    run = nigh.spark._Run(frame, "text", "id", "first", None, partitions)
    run.settle(0.8, "kept", (None, None, None), 256 << 20, None)
    gone, seconds = timed(lambda: {row.number for row in run.matches().select("number").collect()})
    return gone, seconds, run.seconds


def by_mllib(frame):
    """Spark MLlib: sets of three words in a row, five tables of one hash each, pairs of a Jaccard index of .8 or more."""
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer

    words = RegexTokenizer(inputCol="text", outputCol="words", pattern=" ").transform(frame)
    grams = NGram(n=3, inputCol="words", outputCol="grams").transform(words)
    rows = HashingTF(inputCol="grams", outputCol="set", binary=True, numFeatures=1 << 20).transform(grams).cache()
    model = MinHashLSH(inputCol="set", outputCol="hashes", numHashTables=5, seed=1).fit(rows)
    pairs = model.approxSimilarityJoin(rows, rows, 0.2, "distance").filter("datasetA.id < datasetB.id")
    return {(row.a, row.b) for row in pairs.select(F.col("datasetA.id").alias("a"), F.col("datasetB.id").alias("b")).collect()}


def signatures(rows, bands=32, height=8):
    """As text-dedup: 256 permutations of 32-bit hashes in NumPy, and a key for each band."""
    import hashlib

    import numpy as np

    chance = np.random.RandomState(42)
    prime = (1 << 61) - 1
    a, b = (chance.randint(low, prime, 256, dtype=np.uint64) for low in (1, 0))
    for row in rows:
        words = row.text.split(" ")
        grams = {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}
        hashes = np.array([int.from_bytes(hashlib.sha1(gram.encode()).digest()[:4], "little") for gram in grams], np.uint64)
        least = ((np.outer(hashes, a) + b) % prime & 0xFFFFFFFF).min(axis=0)
        for band in range(bands):
            yield (band, least[band * height : (band + 1) * height].tobytes()), row.id


def by_pyspark(frame):
    """Pairs of the smallest of each band with the others, as text-dedup connects them; not verified."""
    groups = frame.rdd.mapPartitions(signatures).groupByKey(4)
    return set(groups.flatMap(lambda group: (lambda ids: [(ids[0], other) for other in ids[1:]])(sorted(group[1]))).distinct().collect())


def tell(name, count, seconds, gone, truth, more=""):
    """Also gives the share of the near-copies that are gone."""
    found = len(gone & truth) / len(truth)
    wrong = len(gone - truth) / max(1, len(gone))
    print(f"{name:28} {count:10,} {seconds:9.1f} s {count / seconds:12,.0f} /s {found:8.4f} {wrong:8.4f}  {more}", flush=True)
    return found


def note(what, rate, beside, other, found):
    figures.note("spark", f"de-duplication of {what}", rate, "documents/s", beside=beside, other=other, quality=found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--peer-documents", type=int, default=20_000)
    parser.add_argument("--partitions", type=int, help="default: one for each half a million documents, 8 at least")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path(tempfile.gettempdir()))
    given = parser.parse_args()
    given.partitions = given.partitions or max(8, -(-given.documents // 500_000))
    if shutil.which("java") is None:
        print("there is no Java here, which Spark needs")
        sys.exit(77)
    print(f"{'':28} {'documents':>10} {'time':>11} {'rate':>15} {'found':>8} {'wrong':>8}")
    with tempfile.TemporaryDirectory(dir=given.work) as place:
        compare(pathlib.Path(place), given)


def compare(folder, given):
    truth = make(folder / "all", given.documents)
    some = make(folder / "some", given.peer_documents)
    kept, two, one = by_nigh(given.tool, folder / "all")
    gone_here = set(range(given.documents)) - kept
    tell("nigh, two processes", given.documents, two, gone_here, truth)
    tell("nigh, one thread, plain", given.documents, one, gone_here, truth)
    with cluster(folder, **{"spark.shuffle.compress": "false"}) as spark:  # as docs/cluster.md says
        read = lambda name: spark.read.parquet(str(folder / name / "table"))
        by_spark(read("some"), given.partitions)  # what is compiled and started once
        for name, made, count in (("all", truth, given.documents), ("some", some, given.peer_documents)):
            gone, seconds, phases = by_spark(read(name), given.partitions)
            told = " ".join(f"{phase} {part:.1f}" for phase, part in phases.items())
            same = "" if name == "some" else ", as one process" if gone == gone_here else ", NOT as one process"
            found = tell("nigh.spark, two workers", count, seconds, gone, made, told + same)
            if name == "all":
                note("all", count / seconds, count / two, "nigh, two processes", found)
        for name, peer in (("Spark MLlib MinHashLSH", by_mllib), ("plain PySpark MinHash", by_pyspark)):
            pairs, taken = timed(lambda: peer(read("some")))
            tell(name, count, taken, {b for _, b in pairs}, some)
            note("some", count / seconds, count / taken, name, found)


if __name__ == "__main__":
    random.seed(1)
    main()
