# SPDX-License-Identifier: Apache-2.0
"""De-duplication of one file by all contenders, each judged by the exact truth."""

import os

import tables
import truth
from environments import Missing, model_of, static_vectors

# The name of an environment, the module, its variants that run with each number of threads, and those that run once.
CONTENDERS = [
    ("nigh", "dedup_nigh", ["default", "exact"], ["pairs"]),
    ("rensa", "dedup_rensa", ["lsh", "rho", "words"], ["pairs"]),
    ("datasketch", "dedup_datasketch", ["lsh"], ["pairs"]),
    ("datatrove", "dedup_datatrove", ["minhash"], []),
    ("text-dedup", "dedup_text_dedup", ["minhash"], []),
    ("semhash", "dedup_semhash", ["static"], []),
]


def job_of(contest, path, module, variant, threads):
    job = {"module": module, "variant": variant, "threads": threads, "documents": str(path), "set": path.stem,
           "output": str(contest.scratch / "kept.jsonl")}
    if module == "dedup_semhash":
        job["model"] = str(model_of(contest.work))
        job["static"] = str(static_vectors(contest.work, os.cpu_count()))
    return job


def row_of(contest, path, exact, name, module, variant, threads):
    row = {"contender": f"{name} {variant}", "threads": threads}
    try:
        measured = contest.run("dedup", name, job_of(contest, path, module, variant, threads))
    except Missing as reason:
        return {**row, "skipped": str(reason)}
    if "skipped" not in measured:
        megabytes = path.stat().st_size / 1e6
        row.update(quality=truth.judge(exact, measured), rate=megabytes / measured["seconds"],
                   processor_rate=megabytes / max(measured["processor"], 1e-9))
    return {**row, **measured}


def runs_of(contest):
    for name, module, each, once in CONTENDERS:
        for variant in each + once:
            if contest.wants(name, variant):
                for threads in contest.options.threads if variant in each else [max(contest.options.threads)]:
                    yield name, module, variant, threads


def dedup(contest, path):
    exact = truth.make(contest.tool, path, contest.work)
    rows = [row_of(contest, path, exact, *run) for run in runs_of(contest)]
    about = (f"{len(exact.groups):,} documents, {path.stat().st_size / 1e6:.1f} MB, {exact.texts:,} different, "
             f"{len(exact.keys):,} pairs alike (the peers' shingles differ for {exact.disagree:,})")
    tables.dedup_note(path.stem, rows)
    contest.tell("dedup", path.stem, about, rows, tables.dedup_table(path.stem, about, rows))
