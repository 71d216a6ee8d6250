# SPDX-License-Identifier: Apache-2.0
"""
The process that one contender runs in, in its own environment:

    contender.py dedup JOB      JOB is a file of JSON; what was measured replaces it
    contender.py build JOB
    contender.py nearest JOB

A contender is a module of this folder.  For de-duplication it has

    VARIANTS                    name -> what it is called with, for the table
    dedup(job)                  reads job["documents"], writes what it keeps to job["output"] with job["threads"], and
                                gives Found

and for the nearest

    VARIANTS                    name -> (what it is called with, the settings to try from fast to thorough)
    build(rows, job)            builds with job["build_threads"], and stores it in job["index"], a folder
    Index(job)                  opens what lies there
    search(queries, k, setting, threads)    gives an array of row numbers, a row a query
    stored_bytes()              if what is searched lies in files; else it is told how the process grew

Building is a process of its own, whose result is kept: it takes long, and may be done while others use the machine.

Times are those of this one call, on the clock and of the processor, children included; starting Python and importing
is not in them.
"""

import dataclasses
import importlib
import json
import os
import resource
import sys
import time
from typing import Any, Optional


ENOUGH_SECONDS = 5  # for one setting
SHORT_SECONDS = 1  # as long as runs took less in all, there are more of them


@dataclasses.dataclass
class Found:
    removed: Any = None  # numbers of documents
    flagged: Any = None  # of a peer that says which have a near-copy, and not which should go
    clusters: Optional[list] = None  # each a list of numbers, for pairs
    pairs: Optional[list] = None  # (number, number)


def processor_seconds():
    own, children = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


class Clock:
    def __enter__(self):
        self.began, self.processor = time.perf_counter(), processor_seconds()
        return self

    def __exit__(self, *_):
        self.seconds = time.perf_counter() - self.began
        self.processor = processor_seconds() - self.processor


def resident_bytes():
    with open("/proc/self/statm", encoding="ascii") as numbers:
        return int(numbers.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ------------------------------------------------------------ de-duplication --


def run_dedup(module, job):
    with Clock() as clock:
        found = module.dedup(job)
    told = {name: value for name, value in vars(found).items() if value is not None}
    for name in {"removed", "flagged"} & set(told):
        told[name] = sorted(map(int, told[name]))
    return {**told, "seconds": clock.seconds, "processor": clock.processor, "call": module.VARIANTS[job["variant"]]}


# ------------------------------------------------------------------- nearest --


def recall_of(answers, rows, queries, farthest):
    """The share of k answers that are no farther than the k-th nearest: of ties any will do."""
    import numpy

    right = 0
    for query, numbers, limit in zip(queries, answers, farthest):
        numbers = numpy.unique(numbers[(numbers >= 0) & (numbers < len(rows))])
        distances = numpy.bitwise_count(rows[numbers] ^ query).sum(axis=1)
        right += int((distances <= limit).sum())
    return right / answers.size


def measure(index, queries, setting, threads, job):
    """The best of some runs, as others share the machine; of one where that takes long, of many that are short."""
    times, processor = [], []
    while sum(times) < (ENOUGH_SECONDS if len(times) < job["runs"] else SHORT_SECONDS):
        with Clock() as clock:
            answers = index.search(queries, job["k"], setting, threads)
        times.append(clock.seconds)
        processor.append(clock.processor)
    return answers, min(times), min(processor)


def run_build(module, job):
    import numpy

    rows = numpy.load(job["rows"])
    with Clock() as clock:
        module.build(rows, job)
    return {"build": clock.seconds, "build_processor": clock.processor, "build_threads": job["build_threads"]}


def run_nearest(module, job):
    import numpy

    rows, queries, farthest = (numpy.load(job[name]) for name in ("rows", "queries", "farthest"))
    before = resident_bytes()
    index = module.Index(job)
    grown = resident_bytes() - before
    points = []
    for threads in job["threads"]:
        for setting in module.VARIANTS[job["variant"]][1]:
            answers, seconds, processor = measure(index, queries, setting, threads, job)
            recall = recall_of(answers, rows, queries, farthest)
            points.append({"threads": threads, "setting": setting, "recall": recall, "rate": len(queries) / seconds,
                           "processor_rate": len(queries) * threads / max(processor, 1e-9)})
            if recall >= job["enough"] or seconds > job["longest"]:
                break
    kept = getattr(index, "stored_bytes", None)
    return {"points": points, "call": module.VARIANTS[job["variant"]][0],
            "index_bytes": grown if kept is None else kept()}


def main():
    kind, path = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        job = json.load(file)
    module = importlib.import_module(job["module"])
    measured = {"dedup": run_dedup, "build": run_build, "nearest": run_nearest}[kind](module, job)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(measured, file)


if __name__ == "__main__":
    main()
