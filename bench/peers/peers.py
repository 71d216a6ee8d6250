# SPDX-License-Identifier: Apache-2.0
"""
nigh's Python package beside what one would take instead, as PyPI has it today.

De-duplicates each FILE of JSON lines (plain, .xz or .gz; of a FOLDER all *.jsonl, *.jsonl.xz and *.jsonl.gz) and some
megabytes of generated documents; and finds the nearest among generated signatures, TopSig signatures of the documents
and embeddings of them.  Each contender runs in an environment and a process of its own; what cannot be installed, or
does not end in time, is skipped, counted and said.  Exit 0 where nigh ran in every table.
"""

import argparse
import json
import shutil
import signal
import sys
import zlib
from pathlib import Path

import contest_nearest
import documents
import tables
from contest import Contest, figures, say
from contest_dedup import dedup

# -------------------------------------------------------------------- options --

USUAL = {  # and with --quick
    "megabytes": (1000, 1),
    "rows": (1_000_000, 2000),
    "embeddings": (20_000, 100),
    "queries": (1000, 50),
    "limit_seconds": (1800, 300),
}
TASKS = ["dedup", "clustered", "topsig", "minilm"]


def arguments():
    parser = argparse.ArgumentParser(prog="./run bench peers", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    whole = {"type": int, "metavar": "N"}
    names = {"type": lambda text: text.split(","), "metavar": "A,B"}
    parser.add_argument("inputs", nargs="*", metavar="FILE|FOLDER")
    parser.add_argument("--megabytes", **whole, help="of generated documents; 0: none (default 1000)")
    parser.add_argument("--documents", **whole, help="take the first N of each file (default: all)")
    parser.add_argument("--rows", **whole, help="of generated signatures (default 1000000)")
    parser.add_argument("--embeddings", **whole, help="documents to embed, which takes long, once (default 20000)")
    parser.add_argument("--queries", **whole, help="of each set (default 1000)")
    parser.add_argument("--k", **whole, default=10, help="how many nearest (default 10)")
    parser.add_argument("--threads", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2],
                        metavar="N,M", help="how many threads to use (default 1,2)")
    parser.add_argument("--only", **names, help="these contenders: nigh, rensa, datasketch, datatrove, text-dedup, "
                        "semhash, usearch, hnswlib, faiss, or one way of them such as 'faiss hnsw' (default: all)")
    parser.add_argument("--tasks", **names, default=TASKS, help="dedup, clustered, topsig, minilm (default: all)")
    parser.add_argument("--build-only", action="store_true", help="of the nearest: build what is searched, and keep it")
    parser.add_argument("--under", type=str.split, default=[], metavar="COMMAND",
                        help="run what is measured under this, such as a lock; not what is built before it")
    parser.add_argument("--limit-seconds", **whole, help="for one run of a contender (default 1800)")
    parser.add_argument("--cpu", action="store_true", help="tell searches by processor time: others share the machine")
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that all of it works")
    parser.add_argument("--work", default="build/bench/peers", help="where environments and data are kept")
    parser.add_argument("--build", default="build", help="where the tool was built")
    parser.add_argument("--join", nargs="+", metavar="FILE",
                        help="run nothing: tables of what earlier runs wrote by --json")
    parser.add_argument("--json", metavar="FILE", help="where to write every figure (default: peers.json in --work)")
    options = parser.parse_args()
    for name, sizes in USUAL.items():
        if getattr(options, name) is None:
            setattr(options, name, sizes[options.quick])
    return options


# ----------------------------------------------------------------- the documents --


def given_files(options):
    for given in map(Path, options.inputs):
        if not given.exists():
            sys.exit(f"there is no '{given}'")
        yield from [given] if given.is_file() else sorted(given.glob("*.jsonl*"))


def prepared(contest):
    """Those given, as all contenders read them, and a file that is generated."""
    options, given, generated = contest.options, [], []
    for path in given_files(options):
        into = contest.work / (path.name.partition(".jsonl")[0] + f"-{options.documents or 'all'}.jsonl")
        documents.prepare(path, into, options.documents)
        given.append(into)
    if options.megabytes and ("dedup" in options.tasks or not given and {"topsig", "minilm"} & set(options.tasks)):
        into = contest.work / f"generated-{options.megabytes}.jsonl"
        documents.generate(into, options.megabytes)
        generated.append(into)
    return given, generated


def joined(contest, paths):
    """One file of all, a document of each in turn."""
    if len(paths) == 1:
        return paths[0]
    names = "+".join(path.stem for path in paths)
    into = contest.work / f"{len(paths)}-files-{zlib.crc32(names.encode()):08x}.jsonl"
    if not into.exists():
        texts = [documents.read(path) for path in paths]
        places = range(max(map(len, texts)))
        documents.write_texts((some[place] for place in places for some in texts if place < len(some)), into)
    return into


def run(contest):
    given, generated = prepared(contest)
    tasks = contest.options.tasks
    for path in given + generated if "dedup" in tasks else []:
        dedup(contest, path)
    if "clustered" in tasks:
        contest_nearest.clustered(contest)
    for task in ("topsig", "minilm"):
        if task in tasks and (given or generated):
            getattr(contest_nearest, task)(contest, joined(contest, given or generated))


# ------------------------------------------------------------------- the result --


def finish(contest):
    rows = [row for table in contest.tables for row in table["rows"]]
    skipped = sum("skipped" in row for row in rows)
    for name, reason in contest.missing.items():
        print(f"skipped: {name}: {reason}")
        figures.lacking(name, reason)
    print(f"{len(rows) - skipped} measured, {skipped} skipped")
    say(f"every figure: {contest.json}")
    return all(any(row["contender"].startswith("nigh") and "skipped" not in row for row in table["rows"])
               for table in contest.tables if contest.wants("nigh"))


def show_joined(paths):
    """Tables of several runs as one; of what was measured twice the later file counts."""
    joined = {}
    for path in paths:
        for table in json.loads(Path(path).read_text(encoding="utf-8"))["tables"]:
            about, rows = joined.setdefault((table["task"], table["set"]), (table["about"], {}))
            rows.update(((row["contender"], row.get("threads")), row) for row in table["rows"])
    for (task, name), (about, rows) in joined.items():
        made = tables.dedup_table if task == "dedup" else tables.nearest_table
        print("\n".join(made(name, about, list(rows.values()))))


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tables.rate_by = "processor_rate" if options.cpu else "rate"
    if options.join:
        show_joined(options.join)
        return 0
    contest = Contest(options)
    try:
        run(contest)
    finally:
        shutil.rmtree(contest.scratch, ignore_errors=True)
    return 0 if finish(contest) else 1


if __name__ == "__main__":
    sys.exit(main())
