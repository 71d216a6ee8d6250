#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tier: full
"""The report of nigh dedup, and pages of search, tune and eval, in a real browser: see browse_report.mjs.  Skipped, with a reason, where there is none.

Pictures are left in the folder of the test, for people to look at."""

import json
import os
import subprocess
import sys

from _browser import browse, need_browser

DATA = os.path.join(os.environ["NIGH_SOURCE_DIR"], "examples", "data", "news.jsonl")
HOSTILE = '<script>window.hacked=1</script><img src=x onerror="window.hacked=1"> alert one two three four five six seven'


def nigh(*words):
    subprocess.run([os.environ["NIGH"], *words, "-q"], check=True, stdout=subprocess.DEVNULL)


def main():
    need_browser()
    with open(DATA, encoding="utf-8") as file:
        lines = file.read().splitlines()
    for number in range(2):
        lines.append(json.dumps({"id": f'"><img src=x onerror=alert({number})>', "text": HOSTILE + " eight nine" * number}))
    with open("in.jsonl", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    nigh("dedup", "in.jsonl", "--report", "report.html")
    nigh("index", "in.nigh", "in.jsonl")
    nigh("search", "in.nigh", "in.jsonl", "--text", "old bridge closed for repairs", "-k", "3", "--report", "search.html")
    nigh("generate", "-n", "3000", "--bits", "256", "-o", "rows.npy")
    nigh("index", "rows.nigh", "rows.npy")
    nigh("tune", "rows.nigh", "--report", "tune.html")
    nigh("eval", "signatures", "in.jsonl", "--scheme", "simhash", "--report", "signatures.html")
    nigh("eval", "nearest", "rows.nigh", "--ask", "20", "--report", "nearest.html")
    nigh("eval", "duplicates", "in.jsonl", "--report", "duplicates.html")
    nigh("eval", "terms", "in.jsonl", "--ratios", "1,2,4", "--report", "terms.html")
    pages = [os.path.abspath(f"{name}.html") for name in ("search", "tune", "signatures", "nearest", "duplicates", "terms")]
    return browse("browse_report.mjs", os.path.abspath("report.html"), os.getcwd(), *pages)


sys.exit(main())
