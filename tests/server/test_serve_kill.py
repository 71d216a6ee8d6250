#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tier: full
# long: 1000
"""Usage: test_serve_kill.py [TIMES]

kill -9 of nigh serve under load, 25 times or as often as said: every document that was acknowledged is there."""

import json
import random
import shutil
import signal
import sys
import threading
import time

from _serving import Server, nigh, text_of, write_lines

KILLS = int(sys.argv[1]) if len(sys.argv) > 1 else 25
SEEN = "/v1/collections/seen"


def main():
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance = random.Random(seed)
    write_lines("first.jsonl", [{"id": "first", "text": text_of(0)}])
    shutil.rmtree("seen.nigh", ignore_errors=True)
    nigh("against", "-q", "--add", "seen.nigh", "first.jsonl")
    acknowledged, number = [], 0
    for kill in range(KILLS):
        server = Server("seen.nigh", "--visible", "50")
        ending = threading.Event()

        def add(worker, kill=kill, server=server, ending=ending):
            connection = server.connection()
            count = 0
            while not ending.is_set():
                name = f"{kill}-{worker}-{count}"
                count += 1
                body = [{"id": name, "text": text_of((kill * 8 + worker) * 100000 + count)}]
                try:
                    answer = server.post(SEEN + "/find-or-add", body, connection=connection)
                    if answer.status == 200 and answer.lines[0].get("new"):
                        acknowledged.append(name)
                except Exception:  # the server is gone; what it did not answer it did not promise
                    return

        threads = [threading.Thread(target=add, args=(worker,)) for worker in range(4)]
        for thread in threads:
            thread.start()
        time.sleep(chance.uniform(0.02, 0.4))
        server.process.send_signal(signal.SIGKILL)
        ending.set()
        for thread in threads:
            thread.join()
        server.process.wait()
        server.process.stdout.close()
        server.errors.close()
        number = len(acknowledged)
    with open("nothing.jsonl", "w", encoding="utf-8"):
        pass
    nigh("against", "-q", "--add", "--stream", "seen.nigh", "nothing.jsonl")
    nigh("check", "-q", "seen.nigh")
    there = {line.split("\t")[0] for line in nigh("export", "-q", "seen.nigh", "--format", "hex", "-o", "-").splitlines()}
    lost = [name for name in acknowledged if name not in there]
    if lost:
        raise SystemExit(f"{len(lost)} of {number} acknowledged documents are lost: {json.dumps(lost[:5])}")
    print(f"{KILLS} kills, {number} acknowledged, none lost")


if __name__ == "__main__":
    main()
