# SPDX-License-Identifier: Apache-2.0
# tier: long
"""Kills `nigh index` with SIGKILL at random moments of its run.

Whatever the moment, the collection must pass `nigh check` afterwards and hold
exactly the old documents or exactly the new ones.  Half of the rounds add to a
collection, half make a new one.  Rounds go on until KILLS (500) runs were hit
before they had ended; SEED sets the moments.  Then as many as a tenth of that
are hit while they make a graph, which must be whole or not there, and as many
while they merge, delete documents and put new ones in the place of others:
nothing may be lost, and the next writer leaves nothing over.
"""
import os
import random
import shutil
import signal
import subprocess
import sys
import time

NIGH = os.environ["NIGH"]
KILLS = int(os.environ.get("KILLS", "500"))
SEED = int(os.environ.get("SEED", "1"))
DOCUMENTS = 60000
BITS = 256


def nigh(*arguments):
    return subprocess.run([NIGH, *arguments], capture_output=True, check=False)


def make_input(path, prefix, count, rng):
    with open(path, "w", encoding="ascii") as out:
        for number in range(count):
            out.write(f"{prefix}{number}\t{rng.getrandbits(BITS):0{BITS // 4}x}\n")


def contents(collection):
    """What the collection holds, or None where nothing was ever committed."""
    done = nigh("export", collection, "--format", "hex", "-o", "-", "--quiet")
    if done.returncode == 0:
        return done.stdout
    message = done.stderr.decode()
    if "nothing was ever committed" in message or "No such file" in message:
        return None
    raise AssertionError(f"cannot be read: {message}")


def run_and_kill(arguments, delay):
    """Starts the tool and kills it after `delay` seconds; False where it had finished."""
    with subprocess.Popen([NIGH, *arguments], stderr=subprocess.DEVNULL) as process:
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        return process.wait() == -signal.SIGKILL


def graph_rounds(rng, kills):
    """Kills `nigh index --graph`.  Returns how often a graph was there afterwards; None: something was wrong."""
    before = contents("base.nigh")
    shutil.copytree("base.nigh", "graph.nigh")
    begin = time.monotonic()
    assert nigh("index", "graph.nigh", "--graph").returncode == 0
    seconds = time.monotonic() - begin
    killed = whole = number = 0
    while killed < kills and number < 10 * kills:
        number += 1
        shutil.rmtree("work.nigh", ignore_errors=True)
        shutil.copytree("base.nigh", "work.nigh")
        killed += run_and_kill(["index", "work.nigh", "--graph", "--quiet"], rng.uniform(0, seconds * 1.1))
        whole += any(name.startswith("graph-") and not name.endswith(".tmp") for name in os.listdir("work.nigh"))
        check = nigh("check", "work.nigh")
        again = nigh("index", "work.nigh", "--graph", "--quiet")
        if check.returncode != 0 or again.returncode != 0 or contents("work.nigh") != before:
            print(f"graph round {number} (SEED={SEED}): {check.stderr.decode()}{again.stderr.decode()}")
            return None
        if sorted(os.listdir("work.nigh")) != sorted(os.listdir("graph.nigh")):
            print(f"graph round {number} (SEED={SEED}): {os.listdir('work.nigh')}")
            return None
    print(f"{number} rounds with graphs, {seconds:.2f} s a run: {killed} killed, {whole} had one")
    return whole if killed >= kills else None


def merge_rounds(rng, kills):
    """Kills `nigh merge`.  Returns how often it had merged; None: something was wrong."""
    for number in range(6):
        make_input("part.hex", f"part{number}-", 10000, rng)
        assert nigh("index", "parts.nigh", "part.hex", "--no-merge").returncode == 0
    make_input("one.hex", "one", 1, rng)
    before = contents("parts.nigh")
    shutil.copytree("parts.nigh", "merged.nigh")
    begin = time.monotonic()
    assert nigh("merge", "merged.nigh").returncode == 0
    seconds = time.monotonic() - begin
    killed = merged = number = 0
    while killed < kills and number < 10 * kills:
        number += 1
        shutil.rmtree("work.nigh", ignore_errors=True)
        shutil.copytree("parts.nigh", "work.nigh")
        killed += run_and_kill(["merge", "work.nigh", "--quiet"], rng.uniform(0, seconds * 1.1))
        check = nigh("check", "work.nigh")
        same = contents("work.nigh") == before
        again = nigh("index", "work.nigh", "one.hex", "--no-merge", "--quiet")
        segments = sum(name.startswith("segment-") for name in os.listdir("work.nigh"))
        merged += segments == 2
        if check.returncode != 0 or again.returncode != 0 or not same or segments not in (2, 7):
            print(f"merge round {number} (SEED={SEED}): {check.stderr.decode()}{again.stderr.decode()}"
                  f"{'' if same else 'documents were lost; '}{os.listdir('work.nigh')}")
            return None
    print(f"{number} rounds with merges, {seconds:.2f} s a run: {killed} killed, {merged} were merged")
    return merged if killed >= kills else None


def living_rounds(rng, kills, name, arguments):
    """Kills a command that deletes documents of base.nigh, half of which are deleted already.  False: a mistake."""
    shutil.rmtree("half.nigh", ignore_errors=True)
    shutil.copytree("base.nigh", "half.nigh")
    assert nigh("delete", "half.nigh", "--ids", "half.ids").returncode == 0
    before = contents("half.nigh")
    shutil.rmtree("after.nigh", ignore_errors=True)
    shutil.copytree("half.nigh", "after.nigh")
    begin = time.monotonic()
    assert nigh(arguments[0], "after.nigh", *arguments[1:]).returncode == 0
    seconds = time.monotonic() - begin
    after = contents("after.nigh")
    killed = number = new = 0
    while killed < kills and number < 20 * kills:
        number += 1
        shutil.rmtree("work.nigh", ignore_errors=True)
        shutil.copytree("half.nigh", "work.nigh")
        hit = run_and_kill([arguments[0], "work.nigh", *arguments[1:], "--quiet"], rng.uniform(0, seconds * 1.1))
        now = contents("work.nigh")
        check = nigh("check", "work.nigh")
        if now not in (before, after) or (not hit and now != after) or check.returncode != 0:
            print(f"{name} round {number} (SEED={SEED}): {check.stderr.decode()}")
            return False
        killed += hit
        new += now == after
        if now == before:  # and a writer that comes after goes on as if nothing had happened
            assert nigh(arguments[0], "work.nigh", *arguments[1:]).returncode == 0
            assert contents("work.nigh") == after
    print(f"{number} rounds of {name}, {seconds:.2f} s a run: {killed} killed, {new} had the new state")
    return killed >= kills


def living(rng, kills):
    with open("half.ids", "w", encoding="ascii") as out:
        out.writelines(f"old{number}\n" for number in range(0, 2000, 2))
    with open("more.ids", "w", encoding="ascii") as out:
        out.writelines(f"old{number}\n" for number in range(1, 2000, 4))
    make_input("replaced.hex", "old", 20000, rng)
    return living_rounds(rng, kills, "deleting", ["delete", "--ids", "more.ids"]) and living_rounds(
        rng, kills, "replacing", ["index", "--replace", "replaced.hex"]
    )


def main():
    rng = random.Random(SEED)
    make_input("old.hex", "old", 2000, rng)
    make_input("new.hex", "new", DOCUMENTS, rng)
    assert nigh("index", "base.nigh", "old.hex").returncode == 0
    shutil.copytree("base.nigh", "full.nigh")
    begin = time.monotonic()
    assert nigh("index", "full.nigh", "new.hex").returncode == 0
    seconds = time.monotonic() - begin
    assert nigh("index", "alone.nigh", "new.hex").returncode == 0
    adding = (contents("base.nigh"), contents("full.nigh"))
    making = (None, contents("alone.nigh"))
    assert adding[0] and adding[1] and making[1]

    seen = {"old": 0, "new": 0, "killed": 0, "leftovers": 0}
    number = 0
    while seen["killed"] < KILLS and number < 10 * KILLS:
        number += 1
        old, new = adding if number % 2 == 0 else making
        shutil.rmtree("work.nigh", ignore_errors=True)
        if number % 2 == 0:
            shutil.copytree("base.nigh", "work.nigh")
        killed = run_and_kill(["index", "work.nigh", "new.hex", "--quiet"], rng.uniform(0, seconds * 1.1))
        now = contents("work.nigh")
        if now not in (old, new) or (not killed and now != new):
            print(f"round {number} (SEED={SEED}): neither the old nor the new content")
            return 1
        if now is not None:
            check = nigh("check", "work.nigh")
            if check.returncode != 0:
                print(f"round {number} (SEED={SEED}): {check.stderr.decode()}")
                return 1
        seen["killed"] += killed
        seen["new" if now == new else "old"] += 1
        seen["leftovers"] += killed and os.path.isdir("work.nigh") and now == old
        if number % 10 == 0:  # and a writer that comes after goes on as if nothing had happened
            after = nigh("index", "work.nigh", "new.hex", "--quiet")
            assert after.returncode == (2 if now == new else 0), after.stderr
            assert contents("work.nigh") == new
    print(f"{number} rounds, SEED={SEED}, {seconds:.2f} s a run: {seen}")
    if seen["killed"] < KILLS or seen["old"] == 0 or seen["new"] == 0:
        print("the kills did not fall into the runs: too little was tested")
        return 1
    if not living(rng, KILLS // 10):
        return 1
    return 1 if graph_rounds(rng, KILLS // 10) is None or merge_rounds(rng, KILLS // 10) is None else 0


if __name__ == "__main__":
    sys.exit(main())
