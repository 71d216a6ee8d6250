# SPDX-License-Identifier: Apache-2.0
"""Runs contenders and remembers which cannot be had: what the two benchmarks share."""

import json
import os
import sys
import time
from pathlib import Path

from environments import HERE, Missing, contend, python_of

sys.path[:0] = [str(HERE.parent)]
import figures  # noqa: E402


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def versions():
    return sorted({line for path in (HERE / "requirements").glob("*.txt")
                   for line in path.read_text().splitlines() if "==" in line})


class Contest:
    def __init__(self, options):
        self.options = options
        self.work = Path(options.work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.scratch = self.work / f"scratch-{os.getpid()}"  # another run may use the same folder
        self.tool = Path(options.build).resolve() / "nigh"
        self.json = Path(options.json or self.work / "peers.json")
        self.told = {"machine": figures.machine(), "versions": versions()}
        self.missing = {}
        self.tables = []  # {"task", "set", "about", "rows"}

    def wants(self, name, variant=None):
        """Variants are asked for with their contender: "faiss hnsw"."""
        only = self.options.only
        if variant is None:
            return not only or any(wanted.split()[0] == name for wanted in only)
        return not only or bool({name, f"{name} {variant}"} & set(only))

    def python(self, name):
        """Of the package itself, the one this runs in."""
        if name == "nigh":
            return sys.executable
        if name not in self.missing:
            try:
                return python_of(self.work, name)
            except Missing as reason:
                self.missing[name] = f"not installed: {reason}"
        raise Missing(self.missing[name])

    def run(self, kind, name, job):
        """What was measured, or why it was not."""
        began = time.monotonic()
        try:
            job = {**job, "folder": str(self.scratch)}
            under = [] if kind == "build" else self.options.under
            measured = contend([*under, self.python(name)], kind, job, self.options.limit_seconds)
        except Missing as reason:
            measured = {"skipped": str(reason)}
        say(f"{kind} {job['set']} {name} {job['variant']} {job['threads']}: {time.monotonic() - began:.1f} s",
            measured.get("skipped", ""))
        return measured

    def tell(self, task, name, about, rows, lines):
        """Prints a table; all figures up to now are written too, as a later one may take long."""
        print("\n".join(lines), flush=True)
        load = os.getloadavg()[0]
        self.tables.append({"task": task, "set": name, "about": about, "load_after": load, "rows": rows})
        self.json.parent.mkdir(parents=True, exist_ok=True)
        found = {**self.told, "tables": self.tables, "missing": self.missing}
        self.json.write_text(json.dumps(found, indent=1) + "\n")
