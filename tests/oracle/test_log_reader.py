#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# needs: documents
"""Holds the library's logs against the reader that was written from docs/format.md alone.

Reads a log that was kept from version 1, and logs that the tool leaves when it is killed; then damages them, and what
the reader says (whole, torn, damaged at an offset) the tool must say too, and find the same documents.
"""
import glob
import json
import os
import random
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from format_reader import open_collection  # noqa: E402
from log_reader import read_logs  # noqa: E402
from xxh3 import xxh3_64  # noqa: E402

NIGH = os.environ["NIGH"]
SEED = int(os.environ.get("SEED", "1"))
FLIPS = 20
GOLDEN = os.path.join(HERE, "..", "golden", "v1-log.nigh")
GOLDEN_IDS = ["first", "second", "-:4:c2aa64663987", "ünï"]


def run(*arguments):
    return subprocess.run([NIGH, *arguments], capture_output=True, check=False)


def leave_log(place, lines, group):
    """The answers to all lines, each group read before the next is sent, and then a kill."""
    tool = subprocess.Popen([NIGH, "against", "-q", "--add", "--stream", place], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
    answers = []
    for at in range(0, len(lines), group):
        tool.stdin.write("".join(lines[at:at + group]).encode())
        tool.stdin.flush()
        for _ in lines[at:at + group]:
            answers.append(json.loads(tool.stdout.readline()))
    tool.kill()
    tool.wait()
    return answers


class Logs:
    """What several logs come to."""

    def __init__(self, logs):
        self.documents = [document for log in logs for document in log.documents]
        self.verdict = logs[-1].verdict


def read(place):
    """The logs of a collection, by our reader."""
    collection = open_collection(place)
    manifest = collection.manifest
    return Logs(read_logs(place, manifest.next_segment, manifest.documents, collection.segments[0].content(1),
                          manifest.width))


def ids(place):
    export = run("export", place, "-o", "-", "--format", "hex")
    return [line.split("\t")[0] for line in export.stdout.decode().splitlines()]


def hold(place, what):
    """The tool says of a log what we say."""
    log = read(place)
    check = run("check", "-q", place)
    shutil.rmtree("taken.nigh", ignore_errors=True)
    shutil.copytree(place, "taken.nigh")
    taken = run("against", "--add", "--stream", "taken.nigh", "/dev/null")
    if isinstance(log.verdict, tuple) and log.verdict[0] == "damaged":
        assert check.returncode == 2 and f"offset {log.verdict[1]}:" in check.stderr.decode(), (what, check.stderr)
        assert taken.returncode == 2, what
        return log
    assert check.returncode == 0 and taken.returncode == 0, (what, check.stderr, taken.stderr)
    dropped = log.verdict[1] if isinstance(log.verdict, tuple) else 0
    found = len(log.documents)
    if found or dropped:
        told = f"{found} document{'s' * (found != 1)}" + f"; {dropped:,} byte" * (dropped > 0)
        assert told in taken.stderr.decode(), (what, taken.stderr)
    assert ids("taken.nigh") == [document.id.decode() for document in log.documents], what
    return log


def test_golden():
    shutil.copytree(GOLDEN, "golden.nigh")
    log = hold("golden.nigh", "golden")
    assert log.verdict == "whole"
    assert [document.id.decode() for document in log.documents] == GOLDEN_IDS
    assert log.documents[1].text.decode() == "Something else altogether — naïve, and in other words"
    assert len(log.documents[0].keys) == 32 and log.documents[0].metadata.startswith(b"The quick brown fox")


def make_lines(rng, count):
    for i in range(count):
        words = " ".join(f"w{rng.randrange(50 if i % 5 == 0 else 10**6)}" for _ in range(rng.randrange(3, 30)))
        yield json.dumps({"id": f"d{i}", "text": words}) + "\n"


def test_left(rng, group):
    place = f"left{group}.nigh"
    answers = leave_log(place, list(make_lines(rng, 24)), group)
    log = hold(place, "left")
    assert log.verdict == "whole"
    assert [document.id.decode() for document in log.documents] == [a["id"] for a in answers if a["new"]]
    path = glob.glob(f"{place}/log-*")[0]
    with open(path, "rb") as file:
        data = file.read()
    for _ in range(FLIPS):
        damaged = bytearray(data)
        if rng.random() < 0.3:
            damaged = damaged[:rng.randrange(len(damaged))]
        else:
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        with open(path, "wb") as file:
            file.write(damaged)
        hold(place, "damaged")


def split_log(place, at):
    """As if the records from `at` on had gone to a second log.  Returns the path of the first."""
    path = glob.glob(f"{place}/log-*")[0]
    with open(path, "rb") as file:
        data = file.read()
    number, first = struct.unpack_from("<QQ", data, 24)
    records, offset = [], 64
    while offset < len(data):
        length, = struct.unpack_from("<I", data, offset + 16)
        end = (offset + 40 + length + 7) // 8 * 8
        records.append(bytearray(data[offset:end]))
        offset = end
    header = bytearray(data[:64])
    struct.pack_into("<QQ", header, 24, number + 16, first + at)
    struct.pack_into("<Q", header, 56, xxh3_64(bytes(header[:56])))
    for record in records[at:]:
        struct.pack_into("<I", record, 4, (number + 16) & 0xFFFFFFFF)
    with open(f"{place}/log-{number + 16:020}", "wb") as file:
        file.write(header + b"".join(records[at:]))
    with open(path, "wb") as file:
        file.write(data[:64] + b"".join(records[:at]))
    return path


def test_chain(rng):
    """Two logs are as one; and the first is whole, for there is a second."""
    place = "chain.nigh"
    leave_log(place, list(make_lines(rng, 24)), 5)
    before = [document.id for document in read(place).documents]
    path = split_log(place, 9)
    log = hold(place, "two logs")
    assert log.verdict == "whole" and [document.id for document in log.documents] == before
    second = sorted(glob.glob(f"{place}/log-*"))[1]
    for each in (path, second):
        with open(each, "rb") as file:
            data = file.read()
        for _ in range(FLIPS // 2):
            damaged = bytearray(data)
            if rng.random() < 0.5:
                damaged = damaged[:rng.randrange(len(damaged))]
            else:
                damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
            with open(each, "wb") as file:
                file.write(damaged)
            verdict = hold(place, "one of two is damaged").verdict
            assert each == second or verdict[0] == "damaged", verdict
        with open(each, "wb") as file:
            file.write(data)


def main():
    rng = random.Random(SEED)
    shutil.rmtree("log-reader-work", ignore_errors=True)
    os.mkdir("log-reader-work")
    os.chdir("log-reader-work")
    test_golden()
    for group in (1, 7):
        test_left(rng, group)
    test_chain(rng)
    print("ok")


if __name__ == "__main__":
    main()
