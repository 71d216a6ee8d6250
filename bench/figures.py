# SPDX-License-Identifier: Apache-2.0
"""What benchmarks in Python share: figures for the table of ./run bench all, where they ran, and tables of text."""

import json
import os
import subprocess
import time
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent


def append(line):
    """Where $BENCH_FIGURES names a file; measure_figure() of bench/micro/measure.c writes the same."""
    path = os.environ.get("BENCH_FIGURES")
    if path:
        with open(path, "a", encoding="utf-8") as out:
            out.write(json.dumps(line) + "\n")


def note(bench, what, value, unit, *, beside=None, other=None, quality=None, less=False):
    """What is worth comparing from one change to the next.  `beside` is the same of `other`, a limit or a peer in this
    run; `quality` a recall, precision or F1; less: smaller is better."""
    figure = {"bench": bench, "what": what, "value": value}
    if beside:
        figure.update(beside=beside, other=other)
    if quality:
        figure.update(quality=quality)
    if value > 0:
        append({**figure, "unit": unit, "less": less})


def lacking(peer, why):
    """A peer that is not here."""
    append({"lacking": peer, "why": why})


def processor():
    """What /proc/cpuinfo says of the first."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
    except OSError:
        return {}
    return {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in text.splitlines())}


def machine():
    def git(*words):
        return subprocess.run(["git", "-C", SOURCE, *words], capture_output=True, text=True, check=False)

    changed = git("diff", "--quiet", "HEAD").returncode == 1
    return {"processor": processor().get("model name", "?"), "cores": os.cpu_count(),
            "load": round(os.getloadavg()[0], 2), "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
            "commit": git("rev-parse", "--short", "HEAD").stdout.strip() + "-changed" * changed}


def lines_of(heads, rows, left=None):
    """A table of text; the first and the last column begin at the left, or those of `left`."""
    left = {0, len(heads) - 1} if left is None else left
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    for row in [heads, *rows]:
        yield "  ".join(cell.ljust(width) if column in left else cell.rjust(width)
                        for column, (cell, width) in enumerate(zip(row, widths))).rstrip()
