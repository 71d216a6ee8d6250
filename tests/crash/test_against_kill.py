#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# tier: full
# needs: documents
#
# Kills `nigh against --add -o FILE --new FILE` 500 times at random moments.  Whatever was
# committed must be in a list once a run has come to its end: nothing is added and never
# told, nothing is told twice, and the collection is sound at any moment.
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

NIGH = os.environ["NIGH"]
KILLS = 500
MAX_BATCHES = 300
SEED = int(os.environ.get("NIGH_SEED", "1"))


def make_batches(folder, count):
    """Batches of documents, some of them near-copies, and what is new of each by the rule."""
    rng = random.Random(SEED)
    families = [[rng.randrange(10**6) for _ in range(40)] for _ in range(30)]
    for number in range(count):
        with open(f"{folder}/batch{number}.jsonl", "w") as out:
            for i in range(120):
                words = list(rng.choice(families)) if i % 3 == 0 else [rng.randrange(10**6) for _ in range(40)]
                for _ in range(rng.randrange(6)):
                    words[rng.randrange(40)] = rng.randrange(10**6)
                out.write(json.dumps({"id": f"b{number}-{i}", "text": " ".join(f"w{w}" for w in words)}) + "\n")


def run(folder, number):
    return subprocess.Popen(
        [NIGH, "against", "-q", "--add", f"{folder}/c.nigh", f"{folder}/batch{number}.jsonl",
         "-o", f"{folder}/records{number}", "--new", f"{folder}/ids{number}"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def told(folder, number):
    """Whether a run has come to its end: the lists are there, and none is pending."""
    return (all(os.path.exists(f"{folder}/{name}{number}") for name in ("records", "ids"))
            and not os.path.exists(f"{folder}/records{number}.pending"))


def report(failures):
    for failure in failures:
        print("FAILED:", failure)
    sys.exit(1 if failures else 0)


def main():
    rng = random.Random(SEED)
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        make_batches(folder, MAX_BATCHES)
        batches = 0
        kills = committed_before_told = 0
        began = time.monotonic()
        usual = 0.02  # seconds a run takes, as far as is known
        while kills < KILLS and batches < MAX_BATCHES:
            number = batches
            batches += 1
            done = False
            while not done:
                started = time.monotonic()
                process = run(folder, number)
                if kills < KILLS and rng.random() < 0.93:
                    # Half of them near the end, where names are given and the commit is made.
                    time.sleep(usual * (rng.random() if kills % 2 else 0.7 + 0.5 * rng.random()))
                    process.send_signal(signal.SIGKILL)
                    kills += 1
                _, errors = process.communicate()
                # Killed in the very last moment, after all was done, it has told its lists as well: none is pending.
                done = process.returncode == 0 or told(folder, number)
                if process.returncode == 0:
                    usual = 0.5 * usual + 0.5 * (time.monotonic() - started)
                committed_before_told += b"listed again" in errors
                if process.returncode not in (0, -signal.SIGKILL):
                    failures.append(f"batch {number}: exit {process.returncode}: {errors.decode()}")
                    done = True
                if rng.random() < 0.05 and os.path.exists(f"{folder}/c.nigh"):
                    check = subprocess.run([NIGH, "check", "-q", f"{folder}/c.nigh"], capture_output=True)
                    # Killed before its first commit, a collection is an empty folder.
                    if check.returncode != 0 and number > 0:
                        failures.append(f"batch {number}: check: {check.stderr.decode()}")
            if not told(folder, number):
                failures.append(f"batch {number}: it came to its end and a list is pending")
        if failures:
            report(failures)
        # All together, in order, is what one run over everything keeps.
        everything = f"{folder}/all.jsonl"
        with open(everything, "w") as out:
            for number in range(batches):
                out.write(open(f"{folder}/batch{number}.jsonl").read())
        subprocess.run([NIGH, "dedup", "-q", everything, "-o", f"{folder}/expected"], check=True)
        expected = open(f"{folder}/expected").read()
        records = "".join(open(f"{folder}/records{number}").read() for number in range(batches))
        ids = "".join(open(f"{folder}/ids{number}").read() for number in range(batches))
        if records != expected:
            failures.append("the lists of records, together, are not what one run over everything keeps")
        if ids.split() != [json.loads(line)["id"] for line in expected.splitlines()]:
            failures.append("the lists of ids, together, are not what one run over everything keeps")
        leftovers = [name for name in os.listdir(folder) if name.endswith((".tmp", ".pending"))]
        if kills < KILLS:
            failures.append(f"only {kills} of {KILLS} kills were in time")
        print(f"seed {SEED}: {kills} kills, {committed_before_told} runs that went on with a list, "
              f"{time.monotonic() - began:.0f} s, left over: {len(leftovers)}")
    report(failures)


main()
