#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds term signature files against the reader that was written from docs/format.md alone.

    NIGH=path/of/nigh python3 test_terms_reader.py

Makes files with the tool, in several times, and reads them here: the reader finds the same documents for every word,
and every bit, position and number of a block is what the document says of how they are made.
"""

import os
import random
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from terms_reader import MASK, PRIME, Terms, mix  # noqa: E402
from xxh3 import xxh3_64  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
WORK = "terms-reader-work"
FILE = os.path.join(WORK, "t.terms")
BLOCK = 4


def nigh(*arguments):
    command = [NIGH] + list(arguments)
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


def draw_lines(generator):
    """Lines of words, some frequent, most rare, some lines without any."""
    lines = []
    for _ in range(generator.randrange(5, 60)):
        count = generator.choice((0, 1, 3, 4, 5, 9, 20))
        lines.append(["w%d" % int(500 ** generator.random()) for _ in range(count)])
    return [["w0"]] + lines


def add(lines, name, *options):
    source = os.path.join(WORK, name)
    with open(source, "w") as file:
        file.writelines(" ".join(words) + " ...\n" for words in lines)
    result = nigh("terms", "index", "-q", "--format", "lines", FILE, source, *options)
    assert result.returncode == 0, result.stderr


def blocks_of(lines):
    """The hashes of each block, and the first block of each document."""
    blocks, firsts = [], [0]
    for words in lines:
        terms = [xxh3_64(word.encode()) for word in dict.fromkeys(words)]
        count = (len(terms) + BLOCK - 1) // BLOCK
        blocks += [terms[len(terms) * i // count : len(terms) * (i + 1) // count] for i in range(count)]
        firsts.append(len(blocks))
    return blocks, firsts


def functions(seed, count):
    """SplitMix64 started at mix(seed): its outputs are mix() of states that each are one step further."""
    outputs = [mix((mix(seed) + i * 0x9E3779B97F4A7C15) & MASK) for i in range(2 * count)]
    return [(1 + outputs[2 * j] % (PRIME - 1), outputs[2 * j + 1] % PRIME) for j in range(count)]


def expect_group(terms, number, lines, first_block):
    group = terms.groups[number]
    blocks, firsts = blocks_of(lines)
    assert group.first_blocks == firsts and group.blocks == len(blocks)
    lasts = {b - 1 for a, b in zip(firsts, firsts[1:]) if b > a}
    assert {b for b in range(group.row_bytes * 8) if group.is_last(b)} == lasts
    where = {}
    for block, hashes in enumerate(blocks):
        for term in hashes:
            where.setdefault(term, []).append(block)
    coefficients = functions(terms.seed, terms.hashes)
    for term, (kind, value) in group.terms.items():
        own = where[term]  # none but those of its documents
        if kind == "single":
            assert own == [value]
        if kind == "positions":
            least = [min((a * (first_block + d + 1) + c) % PRIME for d in own) for a, c in coefficients]
            assert value == [x % terms.bits for x in least]
    expected = set()
    for term, own in where.items():
        kind, value = terms.find(number, term)
        if kind == "positions":
            expected.update((position, block) for position in value for block in own)
    found = {(p, b) for p in range(terms.bits) for b in range(group.row_bytes * 8) if group.bit(p, b)}
    assert found == expected, "other bits than the terms set"
    return first_block + len(blocks)


def expect_answers(terms, words):
    ids = [name for group in terms.groups for name in group.names(7)]
    for word in words:
        result = nigh("terms", "search", "-q", FILE, word)
        expected = b"".join(ids[i] + b"\n" for i in terms.documents(xxh3_64(word.encode())))
        assert result.stdout == expected and result.returncode == (0 if expected else 1), word


def test_kind(kind, generator):
    shutil.rmtree(FILE, ignore_errors=True)
    options = ["--method", kind, "--block", str(BLOCK), "--language", "none", "--bits-per-term", "7"]
    times = [draw_lines(generator) for _ in range(3)]
    for i, lines in enumerate(times):
        add(lines, "%d.txt" % i, *(options if i == 0 else []))
    terms = Terms(FILE)
    assert terms.kind == kind and len(terms.groups) == len(times)
    first_block = 0
    for i, lines in enumerate(times):
        first_block = expect_group(terms, i, lines, first_block)
    words = sorted({word for lines in times for line in lines for word in line})
    expect_answers(terms, generator.sample(words, 25) + ["nowhere"])


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.mkdir(WORK)
    for kind in ("hybrid", "bloom", "coca"):
        test_kind(kind, random.Random(SEED))
    shutil.rmtree(WORK)
    return 0


if __name__ == "__main__":
    NIGH = os.environ.get("NIGH", "")
    if not NIGH:
        sys.exit("test_terms_reader: set NIGH to the path of the nigh tool")
    NIGH = os.path.abspath(NIGH)
    sys.exit(main())
