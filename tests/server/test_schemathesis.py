#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tier: full
"""schemathesis against /openapi.json of a running server: no answer that is not described, none that is an error of
the server, nothing refused that the description allows, nothing taken that it forbids.

Skipped, with a reason, where PyPI is out of reach.  NIGH_EXAMPLES says how many cases an operation gets (100)."""

import os
import subprocess
import sys

from _serving import Server, nigh, text_of, write_lines

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.environ["NIGH_SOURCE_DIR"]

# Lines are refused one by one, within an answer of 200.  What fits the description may not fit the collection (422), or
# be about a document that is not there (404).
SETTINGS = """
[checks.positive_data_acceptance]
expected-statuses = ["2xx", 404, 422]

[[operations]]
include-name-regex = "(against|dedup|find-or-add|POST .*documents)$"
checks.negative_data_rejection.expected-statuses = [200, "4xx"]
"""


def environment():
    """A folder with schemathesis in it."""
    folder = os.path.join(os.environ.get("NIGH_BUILD_DIR", "."), "server-schemathesis")
    made = subprocess.run([os.path.join(SOURCE, "tools", "python-venv"), folder,
                           os.path.join(HERE, "requirements-schemathesis.txt")], capture_output=True, text=True)
    if made.returncode != 0:
        print((made.stdout + made.stderr).strip())
        print("skipped: schemathesis cannot be installed from PyPI")
        sys.exit(77)
    return folder


def main():
    folder = environment()
    write_lines("news.jsonl", [{"id": f"d{i}", "text": text_of(i)} for i in range(50)])
    nigh("index", "-q", "news.nigh", "news.jsonl")
    nigh("against", "-q", "--add", "copies.nigh", "news.jsonl")
    nigh("generate", "-q", "-n", "300", "--bits", "64", "-o", "rows.npy")
    nigh("index", "-q", "hashes.nigh", "rows.npy")
    with open("schemathesis.toml", "w", encoding="utf-8") as file:
        file.write(SETTINGS)
    with Server("news.nigh", "copies.nigh", "hashes.nigh", "--hold", "0") as server:
        done = subprocess.run(
            [os.path.join(folder, "bin", "schemathesis"), "run", server.address + "openapi.json", "--no-color",
             "--phases", "examples,coverage,fuzzing", "--max-examples", os.environ.get("NIGH_EXAMPLES", "100"),
             "--generation-deterministic", "--continue-on-failure", "--suppress-health-check", "all"],
            env={**os.environ, "SCHEMATHESIS_HOOKS": "_schemathesis_hooks", "PYTHONPATH": HERE})
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
