#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds files of chunks against the reader that was written from docs/format.md alone.

    NIGH=path/of/nigh python3 test_chunk_reader.py

Appends with the tool and reads here: the fingerprints of every chunk, in the order of their numbers.  Then damages the
file in many places: what the reader refuses the tool must refuse, and what one reads the other must read.
"""

import os
import random
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from chunk_reader import BLOCK, START, FormatError, read_chunks, read_file  # noqa: E402
from xxh3 import xxh3_64  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
WORK = "chunk-reader-work"
FILE = os.path.join(WORK, "seen.chunks")


def nigh(*arguments):
    command = [NIGH] + list(arguments)
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


def add(rows):
    """One append of all rows that are not there yet, in their order."""
    source = os.path.join(WORK, "rows.hex")
    with open(source, "wb") as file:
        file.write(b"".join(struct.pack("<Q", row).hex().encode() + b"\n" for row in rows))
    result = nigh("against", "-q", "--radius", "0", "--add", FILE, source)
    assert result.returncode < 2, result.stderr  # 1: all are new


def expect_same(expected):
    found = read_chunks(FILE)
    assert [len(rows) for rows in found] == [len(rows) for rows in expected], "chunks of other sizes"
    assert found == expected, "other fingerprints, or under other numbers"


def test_reading(generator):
    """Chunks of one fingerprint, an odd and an even number of them, and more than a block."""
    expected = []
    for count in (1, 2, 777, 3, BLOCK + 5, 64):
        rows = list({generator.getrandbits(64): None for _ in range(count)})
        if count == 2:
            rows = [2**64 - 1, 0]
        repeated = expected[0] + rows[:1] if expected else []
        add(rows + repeated)  # those are there already
        expected.append(rows)
        if count <= 777:
            expect_same(expected)
    expect_same(expected)


def tool_reads():
    """Whether the tool goes through the whole file."""
    source = os.path.join(WORK, "query.hex")
    with open(source, "wb") as file:
        file.write(b"0123456789abcdef\n")
    found = nigh("against", "-q", "--method", "scan", FILE, source).returncode < 2
    checked = nigh("check", "-q", FILE)
    assert found or checked.returncode == 2, "nigh check does not see what a search does"
    return found


def reader_reads():
    try:
        read_chunks(FILE)
        return True
    except FormatError:
        return False


def write(data):
    with open(FILE, "wb") as file:
        file.write(data)


def test_damage(generator):
    """Bytes of all parts that are not gaps; and fields of a state with a checksum that is right again."""
    os.remove(FILE)
    for count in (5, 8):
        add([generator.getrandbits(64) for _ in range(count)])
    with open(FILE, "rb") as file:
        good = file.read()
    places = list(range(0, 64, 5)) + list(range(4096, 4160, 9)) + list(range(START, len(good), 17))
    refused = 0
    for at in places:
        write(good[:at] + bytes([good[at] ^ 0x10]) + good[at + 1 :])
        assert tool_reads() == reader_reads(), "a byte changed at %d" % at
        refused += not reader_reads()
    assert refused > len(places) // 2
    fields = [(0, 0), (0, 2**64 - 1), (8, 64), (8, START), (16, 1), (16, 2**63), (24, 12), (24, 2**64 - 1)]
    for field, value in fields + [(32, 0), (32, 64), (32, 1), (32, 2**64 - 64)]:
        data = bytearray(good)
        for state in (4096, 8192):
            struct.pack_into("<Q", data, state + field, value)
            struct.pack_into("<Q", data, state + 56, xxh3_64(bytes(data[state : state + 56])))
        write(data)
        assert tool_reads() == reader_reads(), "%d at %d of the states" % (value, field)
    for length in (0, 63, 4096, START, len(good) - 64, len(good) - 1):
        write(good[:length] if length else b"x")
        assert tool_reads() is False and (not length or reader_reads() is False), "cut to %d" % length
    write(good + b"left over")
    assert tool_reads() and reader_reads()


def test_origin():
    """What is signed says so, with the vocabulary; a file of before says nothing."""
    documents = os.path.join(WORK, "documents.jsonl")
    vocabulary = os.path.join(WORK, "counts")
    with open(documents, "w", encoding="ascii") as file:
        for number in range(40):
            words = " ".join("word%d" % (number * step % 41) for step in range(1, 30))
            file.write('{"id":"%d","text":"%s"}\n' % (number, words))
    os.remove(FILE)
    made = nigh("sign", "-q", "--scheme", "simhash", "--weights", "tf-idf", "--make-vocabulary", vocabulary, documents)
    assert made.returncode == 0, made.stderr
    added = nigh("against", "-q", "--add", "--weights", "tf-idf", "--vocabulary", vocabulary, FILE, documents)
    assert added.returncode == 0, added.stderr
    (scheme, kept, model), chunks = read_file(FILE)
    assert b"kind=simhash\n" in scheme and b"weights=tf-idf\n" in scheme and b"vocabulary=" in scheme, scheme
    with open(vocabulary, "rb") as file:
        assert kept == file.read() and model == b"" and sum(map(len, chunks)) > 0
    golden = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden")
    parts, chunks = read_file(os.path.join(golden, "v1-silent.chunks"))
    assert parts is None and [len(rows) for rows in chunks] == [3, 2]
    with open(FILE, "rb") as file:
        good = file.read()
    for at in range(START, START + 64 + len(scheme) + len(kept), 97):
        write(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        assert not reader_reads()
        checked = nigh("check", FILE)
        assert checked.returncode == 2 and b"offset " in checked.stderr, "a byte changed at %d" % at
        found = nigh("against", "-q", FILE, documents)
        assert found.returncode == 2, "a byte changed at %d, and documents were signed" % at


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.mkdir(WORK)
    test_reading(random.Random(SEED))
    test_damage(random.Random(SEED))
    test_origin()
    shutil.rmtree(WORK)
    return 0


if __name__ == "__main__":
    NIGH = os.environ.get("NIGH", "")
    if not NIGH:
        sys.exit("test_chunk_reader: set NIGH to the path of the nigh tool")
    NIGH = os.path.abspath(NIGH)
    sys.exit(main())
