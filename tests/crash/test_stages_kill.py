# SPDX-License-Identifier: Apache-2.0
"""Kills `nigh dedup --work` with SIGKILL at random moments, and runs it again.

Whatever the moment, the next run goes on from what was done, and the output is byte for byte that of a run that
nobody disturbed; no file of a stage that is there is ever bad.  KILLS (12) runs are hit; SEED sets the moments.
"""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time

NIGH = os.environ["NIGH"]
KILLS = int(os.environ.get("KILLS", "12"))
SEED = int(os.environ.get("SEED", "1"))
INPUTS = [f"in{i}.jsonl" for i in range(4)]


def make_inputs(rng):
    for number, name in enumerate(INPUTS):
        with open(name, "w", encoding="ascii") as out:
            for i in range(2500):
                which = rng.randrange(600)
                words = [f"t{which}w{k}" for k in range(60)]
                for _ in range(rng.randrange(5)):
                    words[rng.randrange(60)] = f"other{rng.randrange(10**9)}"
                out.write(json.dumps({"id": f"{number}-{i}", "text": " ".join(words)}) + "\n")


def read(name):
    with open(name, "rb") as file:
        return file.read()


def command(shards, processes):
    return [NIGH, "dedup", "--work", "work", "--shards", str(shards), "--processes", str(processes), *INPUTS, "-o",
            "out.jsonl", "--quiet"]


def run_and_kill(words, delay):
    """Starts it with all its children in a group of their own, and kills the group; False where it had finished."""
    with subprocess.Popen(words, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        time.sleep(delay)
        finished = process.poll() is not None
        if not finished:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return not finished


def main():
    rng = random.Random(SEED)
    make_inputs(rng)
    subprocess.run([NIGH, "dedup", *INPUTS, "-o", "plain.jsonl", "--quiet"], check=True)
    plain = read("plain.jsonl")
    kills = rounds = 0
    while kills < KILLS:
        rounds += 1
        shutil.rmtree("work", ignore_errors=True)
        words = command(rng.choice((1, 3, 5)), rng.choice((1, 2)))
        started = time.monotonic()
        subprocess.run(words, check=True)
        whole = time.monotonic() - started
        shutil.rmtree("work")
        if os.path.exists("out.jsonl"):
            os.remove("out.jsonl")
        for _ in range(3):
            kills += run_and_kill(words, rng.random() * whole)
            if os.path.exists("out.jsonl") and read("out.jsonl") != plain:
                print(f"seed {SEED}, round {rounds}: an output that is not whole")
                return 1
        done = subprocess.run(words, capture_output=True, check=False)
        if done.returncode != 0 or b"made again" in done.stderr or read("out.jsonl") != plain:
            print(f"seed {SEED}, round {rounds}: exit {done.returncode}, {done.stderr.decode()}")
            return 1
        left = [name for name in os.listdir("work") if ".tmp" in name]
        if left:
            print(f"seed {SEED}, round {rounds}: left over {left}")
            return 1
    print(f"{kills} of {3 * rounds} runs were killed")
    return 0


sys.exit(main())
