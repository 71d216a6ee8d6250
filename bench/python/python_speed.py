# SPDX-License-Identifier: Apache-2.0
"""What Python pays, beside C and the tool, measured in turns within one run.

Usage: python_speed.py BUILD [--megabytes N] [--rows N]

  one query     Collection.search() beside nigh_search(), of a collection so small that the call is most of it
  batch         the same for 1,000 queries at once
  dedup         nigh.dedup() of an Arrow table beside `nigh dedup` of the same texts as JSON lines, both on one thread:
                seconds of processor time, with reading; and what is kept, which must be the same
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

import numpy
import pyarrow

import nigh

sys.path[:0] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
import figures  # noqa: E402

TURNS = 5


def best(function, calls):
    """Microseconds a call, the best of many rounds: others use the machine too."""
    least = float("inf")
    for _ in range(25):
        started = time.perf_counter()
        for _ in range(calls):
            function()
        least = min(least, time.perf_counter() - started)
    return 1e6 * least / calls


def search(build, place, rows):
    """The least of some turns of each: the C program, and Python."""
    data = numpy.random.default_rng(1).integers(0, 256, (rows, 8), numpy.uint8)
    path = os.path.join(place, "rows.nigh")
    least = {}

    def note(name, value):
        least[name] = min(value, least.get(name, value))

    with nigh.Collection.create(path, data, progress=False) as collection:
        one, many = data[0], numpy.resize(data, (1000, 8))
        for _ in range(TURNS):
            said = subprocess.run([f"{build}/bench/call_cost", path], check=True, capture_output=True, text=True).stdout
            for line in said.splitlines():
                note("C " + line.split()[0], float(line.split()[1]))
            note("Python one", best(lambda: collection.search(one, k=10), 500))
            note("arrays", best(lambda: collection.search(one, k=10).documents, 500))
            note("Python batch", best(lambda: collection.search(many, k=10), 1) / 1000)
    print(f"{rows} rows of 64 bits, k = 10, one thread, microseconds a query")
    print(f"  one query    C {least['C one']:7.2f}   Python {least['Python one']:7.2f}   "
          f"{least['Python one'] - least['C one']:+.2f}; with an array of the answer {least['arrays']:.2f}")
    print(f"  1,000 at once C {least['C batch']:6.2f}   Python {least['Python batch']:7.2f}   "
          f"{least['Python batch'] / least['C batch']:.2f} times")
    for what in "one", "batch":
        name = "one query" if what == "one" else "of 1,000 queries at once, one"
        figures.note("python", name, least[f"Python {what}"], "us", beside=least[f"C {what}"], other="C", less=True)


def texts(megabytes):
    """Made of words, of which every fourth text is an earlier one with a few words changed."""
    chance = random.Random(1)
    words = [f"{a}{b}{c}" for a in "bdfgklmnprst" for b in ("a", "e", "io", "u") for c in ("n", "r", "st", "lm", "x", "t")]
    made, size = [], 0
    while size < megabytes * 1_000_000:
        text = chance.choices(words, k=200)
        if len(made) % 4 == 3:
            text = made[chance.randrange(len(made))].split()
            for _ in range(chance.randrange(12)):
                text[chance.randrange(200)] = chance.choice(words)
        made.append(" ".join(text))
        size += len(made[-1]) + 1
    return made, size


def processor_time(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def dedup(build, place, megabytes):
    """Each in turns."""
    made, size = texts(megabytes)
    path = os.path.join(place, "texts.jsonl")
    with open(path, "w") as file:
        file.writelines(json.dumps({"text": text}) + "\n" for text in made)
    table = pyarrow.table({"text": made})
    tool, ours, kept = [], [], set()
    for _ in range(TURNS):
        before = processor_time(resource.RUSAGE_CHILDREN)
        command = [f"{build}/nigh", "dedup", path, "--threads", "1", "--quiet", "-o", os.path.join(place, "kept.jsonl")]
        subprocess.run(command, check=True)
        tool.append(processor_time(resource.RUSAGE_CHILDREN) - before)
        with open(os.path.join(place, "kept.jsonl")) as file:
            kept.add(sum(1 for _ in file))
        before = processor_time(resource.RUSAGE_SELF)
        stays, _ = nigh.dedup(table, threads=1, progress=False)
        ours.append(processor_time(resource.RUSAGE_SELF) - before)
        kept.add(stays.num_rows)
    assert len(kept) == 1, kept
    print(f"de-duplication of {len(made):,} texts, {size / 1e6:.0f} MB, one thread, seconds of processor time, the least of {TURNS}")
    print(f"  nigh dedup of JSON lines  {min(tool):6.2f}   {size / 1e6 / min(tool):6.0f} MB/s")
    print(f"  nigh.dedup of a table     {min(ours):6.2f}   {size / 1e6 / min(ours):6.0f} MB/s   "
          f"{min(tool) / min(ours):.2f} of the tool's rate; both keep {kept.pop():,}")
    figures.note("python", "dedup of an Arrow table", size / 1e6 / min(ours), "MB/s", beside=size / 1e6 / min(tool),
                 other="the tool")


def main():
    parser = argparse.ArgumentParser(prog="./run bench python")
    parser.add_argument("build")
    parser.add_argument("--megabytes", type=int, default=40, help="of texts to de-duplicate (40)")
    parser.add_argument("--rows", type=int, default=100, help="of the collection that is searched (100)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        search(given.build, place, given.rows)
        sys.stdout.flush()
        dedup(given.build, place, given.megabytes)


main()
