#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tier: full
# long: 1000
"""Usage: test_serve_kill.py [TIMES]

kill -9 of nigh serve under load, 25 times or as often as said: every document that was acknowledged is there, whether
it was found to be new or added as it is, and none whose deletion was."""

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
WORKERS = 4


class Told:
    """What the server acknowledged."""

    def __init__(self):
        self.added, self.deleted = [], []

    def find_or_add(self, server, connection, name, text):
        answer = server.post(SEEN + "/find-or-add", [{"id": name, "text": text}], connection=connection)
        if answer.status == 200 and answer.lines[0].get("new"):
            self.added.append(name)

    def add_then_delete(self, server, connection, name, text):
        """Adds it as it is, and deletes every second one."""
        answer = server.post(SEEN + "/documents", [{"id": name, "text": text}], connection=connection)
        if answer.status != 200 or not answer.lines[0].get("added"):
            return
        if int(name.rsplit("-", 1)[1]) % 2 == 1:
            self.added.append(name)
        elif server.ask("DELETE", f"{SEEN}/documents/{name}", connection=connection).status == 200:
            self.deleted.append(name)


def load(server, told, kill, worker, ending):
    """Until the server is gone: what it did not answer it did not promise."""
    take = told.add_then_delete if worker == WORKERS - 1 else told.find_or_add
    connection, count = server.connection(), 0
    while not ending.is_set():
        name = f"{kill}-{worker}-{count}"
        count += 1
        try:
            take(server, connection, name, text_of((kill * 8 + worker) * 100000 + count))
        except Exception:
            return


def kill_once(told, kill, seconds):
    server = Server("seen.nigh", "--visible", "50")
    ending = threading.Event()
    threads = [threading.Thread(target=load, args=(server, told, kill, worker, ending)) for worker in range(WORKERS)]
    for thread in threads:
        thread.start()
    time.sleep(seconds)
    server.process.send_signal(signal.SIGKILL)
    ending.set()
    for thread in threads:
        thread.join()
    server.process.wait()
    server.process.stdout.close()
    server.errors.close()


def main():
    seed = random.randrange(1 << 30)
    print(f"seed {seed}")
    chance, told = random.Random(seed), Told()
    write_lines("first.jsonl", [{"id": "first", "text": text_of(0)}])
    shutil.rmtree("seen.nigh", ignore_errors=True)
    nigh("against", "-q", "--add", "seen.nigh", "first.jsonl")
    for kill in range(KILLS):
        kill_once(told, kill, chance.uniform(0.02, 0.4))
    with open("nothing.jsonl", "w", encoding="utf-8"):
        pass
    nigh("against", "-q", "--add", "--stream", "seen.nigh", "nothing.jsonl")
    nigh("check", "-q", "seen.nigh")
    there = {line.split("\t")[0] for line in nigh("export", "-q", "seen.nigh", "--format", "hex", "-o", "-").splitlines()}
    lost = [name for name in told.added if name not in there]
    back = [name for name in told.deleted if name in there]
    if lost or back:
        raise SystemExit(f"{len(lost)} of {len(told.added)} acknowledged documents are lost: {json.dumps(lost[:5])}; "
                         f"{len(back)} of {len(told.deleted)} deleted ones are back: {json.dumps(back[:5])}")
    print(f"{KILLS} kills, {len(told.added)} acknowledged, none lost, {len(told.deleted)} deleted, none back")


if __name__ == "__main__":
    main()
