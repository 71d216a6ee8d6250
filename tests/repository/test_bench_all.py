#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`./run bench all`: its table, what it marks beside an earlier run, and what it says of benchmarks that cannot run, fail or
do not end.  The benchmarks are made up, but for one in C that notes a figure as figures.py does.
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

SOURCE = Path(os.environ["NIGH_SOURCE_DIR"])
BUILD = Path(os.environ["NIGH_BUILD_DIR"])
sys.dont_write_bytecode = True
sys.path[:0] = [str(SOURCE / "bench")]
import figures  # noqa: E402

RUN = {"processor": "A", "cores": 2, "load": 0.5, "commit": "1234567", "date": "2026-01-01 00:00", "size": "quick"}


def figure(what, value, beside=None, quality=None, less=False, other="peer"):
    line = {"name": "scan", "bench": "scan", "what": what, "value": value, "unit": "q/s", "less": less}
    if beside:
        line.update(beside=beside, other=other)
    return dict(line, quality=quality) if quality else line


def kept(path, *noted, **run):
    lines = [{"run": {**RUN, **run}}, {"name": "scan", "state": "done", "seconds": 1, "processor_seconds": 1}, *noted]
    Path(path).write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def bench(*arguments):
    return subprocess.run([sys.executable, SOURCE / "bench" / "bench_all.py", *arguments], capture_output=True, text=True,
                          check=False)


def row(output, what):
    return next(line for line in output.splitlines() if f"  {what}  " in line).split()


def program(name, *lines):
    path = Path("made/bench") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(["#!/bin/sh", *lines, ""]), encoding="utf-8")
    path.chmod(0o755)


class Tables(unittest.TestCase):
    def test_ratio_is_how_many_times_as_good(self):
        kept("new", figure("more", 3000, 1500), figure("less", 2, 5, less=True), figure("alone", 0.25, quality=0.95))
        shown = bench("--show", "new")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(row(shown.stdout, "more"), ["scan", "more", "3,000", "q/s", "1,500", "peer", "2.00"])
        self.assertEqual(row(shown.stdout, "less"), ["scan", "less", "2", "q/s", "5", "peer", "2.50"])
        self.assertEqual(row(shown.stdout, "alone"), ["scan", "alone", "0.25", "q/s", "0.950"])

    def test_worse_is_marked(self):
        kept("old", figure("slower", 100), figure("later", 1, less=True), figure("noise", 100), figure("lost", 100, quality=0.95))
        kept("new", figure("slower", 80), figure("later", 2, less=True), figure("noise", 90), figure("lost", 100, quality=0.93))
        shown = bench("--show", "new", "--against", "old")
        self.assertEqual(shown.returncode, 1)
        self.assertEqual(row(shown.stdout, "slower")[-4:], ["100", "-20", "%", "WORSE"])
        self.assertEqual(row(shown.stdout, "later")[-4:], ["1", "-50", "%", "WORSE"])
        self.assertEqual(row(shown.stdout, "noise")[-3:], ["100", "-10", "%"])
        self.assertEqual(row(shown.stdout, "lost")[-2:], ["LESS", "QUALITY"])

    def test_a_slow_machine_is_not_marked(self):
        kept("old", figure("one", 100, 50))
        kept("new", figure("one", 50, 25))
        shown = bench("--show", "new", "--against", "old")
        self.assertEqual(shown.returncode, 0, shown.stdout)
        self.assertEqual(row(shown.stdout, "one")[-5:], ["100", "-50", "%", "+0", "%"])

    def test_of_another_machine_ratios_alone_count(self):
        kept("old", figure("alone", 100), figure("held", 100, 50), processor="B")
        kept("new", figure("alone", 10), figure("held", 200, 200))
        shown = bench("--show", "new", "--against", "old")
        self.assertEqual(shown.returncode, 1)
        self.assertEqual(row(shown.stdout, "alone")[-1], "100")
        self.assertEqual(row(shown.stdout, "held")[-4:], ["100", "-50", "%", "WORSE"])

    def test_what_came_and_went(self):
        kept("old", figure("both", 1), figure("then", 1, 2), {**figure("elsewhere", 1), "name": "live"})
        kept("new", figure("both", 1), figure("now", 1))
        shown = bench("--show", "new", "--against", "old")
        self.assertEqual(shown.returncode, 1)
        self.assertEqual(row(shown.stdout, "now")[-1], "new")
        self.assertIn("NO LONGER MEASURED: scan: then, beside peer", shown.stdout)
        self.assertNotIn("elsewhere", shown.stdout)  # that benchmark did not run
        kept("new", figure("both", 1), {"name": "scan", "lacking": "peer", "why": "not installed"})
        shown = bench("--show", "new", "--against", "old")
        self.assertEqual(shown.returncode, 0, shown.stdout)
        self.assertIn("scan: without peer: not installed", shown.stdout)

    def test_what_cannot_be_compared(self):
        kept("old", figure("one", 1), size="full")
        kept("new", figure("one", 1))
        Path("other").write_text('{"run": 1}\n{', encoding="utf-8")
        for arguments, word in ((("--against", "old"), "full size"), (("--against", "other"), "'other'"), (("--against", "none"), "'none'")):
            shown = bench("--show", "new", *arguments)
            self.assertEqual(shown.returncode, 1)
            self.assertIn(word, shown.stderr)
            self.assertNotIn("Traceback", shown.stderr)
        self.assertEqual(bench("--only", "scan,nothing").returncode, 2)


class Runs(unittest.TestCase):
    NOTE = """echo '{"bench":"x","what":"%s","value":2,"beside":1,"other":"peer","unit":"q/s","less":false}' >>"$BENCH_FIGURES" """

    def test_each_end(self):
        program("bench_scan", self.NOTE % "some", """echo '{"lacking":"FAISS","why":"not installed"}' >>"$BENCH_FIGURES" """)
        program("bench_filter", "echo no such thing here", "exit 77")
        program("bench_learn", "echo broken", "exit 3")
        done = bench("--quick", "--only", "scan,filter,learn,text,sign", "--build", "made", "--keep", "here/all.jsonl")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(row(done.stdout, "some")[-1], "2.00")
        for said in ("scan: without FAISS: not installed", "skipped: filter: no such thing here",
                     "failed: learn: broken", "skipped: text:", "skipped: sign: there is no text"):
            self.assertIn(said, done.stdout)
        self.assertEqual(Path("made/bench/all/filter.txt").read_text(), "no such thing here\n")
        self.assertEqual(bench("--show", "here/all.jsonl").stdout, done.stdout.rpartition("kept in")[0])

    def test_what_takes_too_long_is_ended(self):
        program("bench_live", self.NOTE % "early", "sleep 60")
        done = bench("--only", "live", "--build", "made", "--keep", "long.jsonl", "--limit-seconds", "4")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("failed: live: took longer than 4 s", done.stdout)
        self.assertEqual(row(done.stdout, "early")[-1], "2.00")

    def test_c_and_python_note_the_same(self):
        weighted = BUILD / "bench" / "bench_weighted"
        if not weighted.exists():
            self.skipTest("benchmarks are not built")
        os.environ["BENCH_FIGURES"] = os.path.realpath("noted")
        subprocess.run([weighted, "--bits", "64", "--megabytes", "1", "--runs", "1"], check=True, stdout=subprocess.DEVNULL)
        figures.note("weighted", 'a "name"\n', 3, "us", beside=2, other="C", less=True)
        lines = [json.loads(line) for line in Path("noted").read_text().splitlines()]
        self.assertEqual(len(lines), 3)
        self.assertEqual(lines[0].keys(), lines[-1].keys())
        self.assertEqual([line["what"] for line in lines], ["masked, 64 bits", "weighted, 64 bits", 'a "name"\n'])
        self.assertEqual([line["less"] for line in lines], [False, False, True])


if __name__ == "__main__":
    unittest.main()
