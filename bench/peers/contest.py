# SPDX-License-Identifier: Apache-2.0
"""Runs contenders and remembers which cannot be had: what the two benchmarks share."""

import sys
import time
from pathlib import Path

from environments import Missing, contend, python_of


def say(*words):
    print(*words, file=sys.stderr, flush=True)


class Contest:
    def __init__(self, options):
        self.options = options
        self.work = Path(options.work).resolve()
        self.work.mkdir(parents=True, exist_ok=True)
        self.tool = Path(options.build).resolve() / "nigh"
        self.missing = {}
        self.tables = []  # {"task", "set", "about", "rows"}

    def wants(self, name):
        return not self.options.only or name in self.options.only

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
            job = {**job, "folder": str(self.work / "scratch")}
            measured = contend(self.python(name), kind, job, self.options.limit_seconds)
        except Missing as reason:
            measured = {"skipped": str(reason)}
        say(f"{kind} {job['set']} {name} {job['variant']} {job['threads']}: {time.monotonic() - began:.1f} s",
            measured.get("skipped", ""))
        return measured

    def tell(self, task, name, about, rows, lines):
        print("\n".join(lines), flush=True)
        self.tables.append({"task": task, "set": name, "about": about, "rows": rows})
