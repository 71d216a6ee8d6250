#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# tier: full
# needs: documents
#
# Kills `nigh against --add --stream` again and again at random moments.  A client sends lines, reads answers, and after
# a kill goes on with the first line that was not answered.  Whatever was answered as new must be there, nothing may be
# there twice, and in the end the collection is what one `nigh dedup` of all lines keeps, to the document and its place.
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time

NIGH = os.environ["NIGH"]
KILLS = int(os.environ.get("NIGH_KILLS", "150"))
LINES = 12000
SEED = int(os.environ.get("NIGH_SEED", "1"))


def make_lines(rng):
    families = [[rng.randrange(10**6) for _ in range(40)] for _ in range(60)]
    for i in range(LINES):
        words = list(rng.choice(families)) if i % 3 == 0 else [rng.randrange(10**6) for _ in range(40)]
        for _ in range(rng.randrange(6)):
            words[rng.randrange(40)] = rng.randrange(10**6)
        yield json.dumps({"id": f"d{i}", "text": " ".join(f"w{w}" for w in words)}) + "\n"


def send(tool, lines):
    try:
        for line in lines:
            tool.stdin.write(line.encode())
        tool.stdin.close()
    except (BrokenPipeError, ValueError):
        pass


def stream(rng, place, lines, kill_after):
    """Sends the lines; returns the answers that came before the kill, and whether there was one."""
    tool = subprocess.Popen(
        [NIGH, "against", "-q", "--add", "--stream", "--group", str(rng.choice([1, 5, 50, 1024])), "--log-size",
         rng.choice(["8K", "60K", "64M"]), "--sync", rng.choice(["group", "group", "each", "never"]), place],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    sender = threading.Thread(target=send, args=(tool, lines))
    killer = threading.Timer(kill_after, tool.kill) if kill_after is not None else None
    sender.start()
    if killer:
        killer.start()
    answers = []
    for line in tool.stdout:
        if line.endswith(b"\n"):
            answers.append(json.loads(line))
    sender.join()
    code = tool.wait()
    if killer:
        killer.cancel()
    error = tool.stderr.read().decode()
    if code not in (0, -9):
        print(f"FAILED: exit {code}: {error}")
        sys.exit(1)
    return answers, code == -9


def main():
    rng = random.Random(SEED)
    lines = list(make_lines(rng))
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        place = f"{folder}/c.nigh"
        done, kills = 0, 0
        while done < len(lines):
            last = kills >= KILLS
            chunk = lines[done:] if last else lines[done:done + rng.randrange(1, 2 * LINES // KILLS)]
            answers, killed = stream(rng, place, chunk, None if last else rng.random() * 0.12)
            kills += killed
            for number, answer in enumerate(answers):
                name = f"d{done + number}"
                assert answer["id"] == name, answer
                told[name] = answer["cluster"]
            done += len(answers)
            if kills % 20 == 0 and os.path.exists(place):
                subprocess.run([NIGH, "check", "-q", place], check=True)
        print(f"{kills} kills, {done} lines")
        with open(f"{folder}/all.jsonl", "w") as out:
            out.writelines(lines)
        subprocess.run([NIGH, "dedup", "-q", f"{folder}/all.jsonl", "-o", f"{folder}/kept.jsonl", "--clusters",
                        f"{folder}/clusters.jsonl"], check=True)
        subprocess.run([NIGH, "against", "-q", "--add", "--stream", place, "/dev/null"], check=True)
        subprocess.run([NIGH, "check", "-q", place], check=True)
        with open(f"{folder}/clusters.jsonl") as clusters:
            for line in clusters:
                cluster = json.loads(line)
                if told[cluster["id"]] != cluster["cluster"]:
                    print("FAILED:", cluster, told[cluster["id"]])
                    sys.exit(1)
        export = subprocess.run([NIGH, "export", place, "-o", "-", "--format", "hex"], capture_output=True, check=True)
        ids = [line.split("\t")[0] for line in export.stdout.decode().splitlines()]
        with open(f"{folder}/kept.jsonl") as kept:
            if ids != [json.loads(line)["id"] for line in kept]:
                print("FAILED: the collection is not what dedup keeps")
                sys.exit(1)


main()
