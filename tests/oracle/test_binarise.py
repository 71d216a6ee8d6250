#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the bits that nigh makes of floats against struct and statistics of the standard library.

    NIGH=path/of/nigh python3 test_binarise.py

Writes .npy by hand, indexes it with --binarise and reads the bits back: sign, means, medians and thresholds of a file,
for every width of float, several inputs, few rows and many; and that a collection goes on with the thresholds it has.
"""

import itertools
import math
import os
import random
import shutil
import statistics
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from format_reader import open_collection  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
WORK = "binarise-work"
LETTERS = {2: "e", 4: "f", 8: "d"}
NUMBERS = itertools.count()


def path(name):
    return os.path.join(WORK, name)


def new(ending):
    return path("%d%s" % (next(NUMBERS), ending))


def run(*arguments):
    command = [NIGH] + list(arguments)
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


def nigh(*arguments):
    result = run(*arguments)
    assert result.returncode == 0, (arguments, result.stderr)
    return result.stdout.decode()


def refused(word, *arguments):
    result = run(*arguments)
    assert result.returncode == 2, (arguments, result.returncode, result.stdout)
    assert word in result.stderr.decode(), (word, result.stderr)
    assert result.stderr.count(b"\n") <= 2, result.stderr


def npy(rows, size, name=None, shape=None, descr=None, fortran=False):
    """Writes rows of floats of `size` bytes."""
    name = name or new(".npy")
    shape = shape or "(%d, %d)" % (len(rows), len(rows[0]))
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr or "<f%d" % size, fortran, shape)
    text = text.ljust(117) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        for row in rows:
            file.write(struct.pack("<%d%s" % (len(row), LETTERS[size]), *row))
    return name


def rounded(rows, size):
    """As the file has them."""
    forms = ["<%d%s" % (len(row), LETTERS[size]) for row in rows]
    return [struct.unpack(form, struct.pack(form, *row)) for form, row in zip(forms, rows)]


def some_rows(generator, count, columns):
    """Some columns are far from 0, some have few values, and some of them are 0 of both signs."""
    rows = []
    for _ in range(count):
        row = [generator.gauss(column % 5 - 2, 1) for column in range(columns)]
        row[0] = generator.choice((0.0, -0.0, 1.0))
        row[1] = generator.choice((-1.5, -1.25))
        row[2] = generator.gauss(0, 1e-4)  # of float16 many are subnormal
        row[3] = 7.0
        rows.append(row)
    return rows


def bits_of(rows, thresholds):
    out = []
    for row in rows:
        bits = [value > threshold for value, threshold in zip(row, thresholds)]
        out.append(bytes(sum(bit << i for i, bit in enumerate(bits[at : at + 8])) for at in range(0, len(bits), 8)))
    return out


def kept_bits(collection):
    return [signature for _, signature, _ in open_collection(collection).documents()]


def medians_of(rows):
    return [statistics.median(column) for column in zip(*rows)]


def expect_bits(collection, rows, thresholds):
    assert kept_bits(collection) == bits_of(rows, thresholds), "other bits"


def expect_kept(collection, thresholds):
    kept = struct.unpack("<%dd" % len(thresholds), open_collection(collection).thresholds())
    assert list(kept) == thresholds, ("other thresholds", kept, thresholds)


def test_all_kinds(generator, widths):
    for size, count, columns in itertools.product((2, 4, 8), (1, 2, 3, 40, 101), widths):
        rows = rounded(some_rows(generator, count, columns), size)
        source = npy(rows, size)
        collection = new(".nigh")
        nigh("index", "-q", collection, source, "--binarise", "sign")
        expect_bits(collection, rows, [0.0] * columns)
        assert open_collection(collection).thresholds() is None
        collection = new(".nigh")
        nigh("index", "-q", collection, source, "--binarise", "median")
        expect_kept(collection, medians_of(rows))
        expect_bits(collection, rows, medians_of(rows))
        given = [generator.gauss(0, 1) for _ in range(columns)]
        shape = generator.choice(("(1, %d)", "(%d,)")) % columns
        collection = new(".nigh")
        nigh("index", "-q", collection, source, "--binarise", npy([given], 8, shape=shape))
        expect_kept(collection, given)
        expect_bits(collection, rows, given)


def test_means(generator):
    """Of numbers whose sums are exact."""
    for size, count in itertools.product((4, 8), (1, 7, 300)):
        rows = [[generator.randrange(-4096, 4096) / 1024 for _ in range(16)] for _ in range(count)]
        collection = new(".nigh")
        nigh("index", "-q", collection, npy(rows, size), "--binarise", "mean")
        means = [math.fsum(column) / count for column in zip(*rows)]
        expect_kept(collection, means)
        expect_bits(collection, rows, means)
    rows = [[1e300] * 8, [1.0] * 8, [-1e300] * 8]  # the small one is not lost
    collection = new(".nigh")
    nigh("index", "-q", collection, npy(rows, 8), "--binarise", "mean")
    expect_kept(collection, [1 / 3] * 8)


def test_infinities():
    rows = [[math.inf] * 8, [-math.inf] * 8, [1.0] * 4 + [math.inf] * 4, [2.0] * 4 + [-math.inf] * 4]
    source = npy(rows, 4)
    collection = new(".nigh")
    nigh("index", "-q", collection, source, "--binarise", "median")
    expect_kept(collection, [1.5] * 4 + [0.0] * 4)
    refused("row 1, column 1: infinite", "index", new(".nigh"), source, "--binarise", "mean")


def test_several_inputs(generator):
    """Thresholds are of all inputs, of all widths; rows stand in the order of the inputs, whatever the threads."""
    parts = [rounded(some_rows(generator, count, 32), size) for size, count in ((4, 50), (8, 31), (2, 20))]
    rows = [row for part in parts for row in part]
    sources = [npy(part, size) for part, size in zip(parts, (4, 8, 2))]
    for threads in ("1", "2"):
        collection = new(".nigh")
        nigh("index", "-q", collection, *sources, "--binarise", "median", "--threads", threads)
        expect_kept(collection, medians_of(rows))
        expect_bits(collection, rows, medians_of(rows))


def test_remembered(generator):
    """What is added, asked and held against it later is cut at the same places."""
    rows = rounded(some_rows(generator, 200, 64), 4)
    more = rounded([[value + 1 for value in row] for row in some_rows(generator, 50, 64)], 4)
    thresholds = medians_of(rows)
    collection = new(".nigh")
    nigh("index", "-q", collection, npy(rows, 4), "--binarise", "median")
    nigh("index", "-q", collection, npy(more, 4))
    nigh("index", "-q", collection, npy(more, 4), "--binarise", "median")
    expect_kept(collection, thresholds)
    expect_bits(collection, rows + more + more, thresholds)

    # Packed by hand, they are the same rows.
    packed = new(".npy")
    text = ("{'descr': '|u1', 'fortran_order': False, 'shape': (%d, 8), }" % len(rows)).ljust(117) + "\n"
    with open(packed, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
        file.write(b"".join(bits_of(rows, thresholds)))
    queries = npy(rows, 4)
    answers = nigh("search", "-q", "--output", "tsv", collection, queries)
    assert answers == nigh("search", "-q", "--output", "tsv", collection, packed), "other answers to floats"
    assert nigh("against", "-q", "--radius", "3", "--output", "tsv", collection, queries) == nigh(
        "against", "-q", "--radius", "3", "--output", "tsv", collection, packed
    ), "others were held against it"
    nigh("index", "-q", collection, packed)
    expect_bits(collection, rows + more + more + rows, thresholds)
    nigh("against", "-q", "--radius", "0", "--add", collection, npy([[9.0] * 64, [-9.0] * 64], 4))
    assert kept_bits(collection)[-2:] == [b"\xff" * 8, b"\0" * 8], "added by against"
    nigh("check", "-q", collection)

    refused("was binarised by medians, not by sign", "index", collection, queries, "--binarise", "sign")
    refused("has 8 columns", "index", new(".nigh"), npy([[1.0] * 8], 4), "--binarise", npy([[1.0] * 16], 4))
    refused("not by medians", "index", indexed_by_hand(packed), queries, "--binarise", "median")

    # Two that were cut elsewhere have nothing to do with each other.
    same, other = new(".nigh"), new(".nigh")
    nigh("index", "-q", same, queries, "--binarise", npy([thresholds], 8))
    nigh("index", "-q", other, queries, "--binarise", "sign")
    assert run("pairs", "-q", "--radius", "0", collection, same).returncode == 0, "pairs of the same thresholds"
    refused("made in different ways", "pairs", "--radius", "0", collection, other)


def indexed_by_hand(packed):
    collection = new(".nigh")
    nigh("index", "-q", collection, packed)
    return collection


def test_refused(generator):
    good = [[1.0] * 8, [-1.0] * 8]
    refused("holds floats ('<f4'), not bits; 'nigh index --binarise sign'", "index", new(".nigh"), npy(good, 4))
    refused("row 2, column 3 is not a number (NaN)", "index", new(".nigh"),
            npy([good[0], [0.0, 0.0, math.nan] + [0.0] * 5], 4), "--binarise", "sign")
    refused("row 2, column 3 is not a number (NaN)", "index", new(".nigh"),
            npy([good[0], [0.0, 0.0, math.nan] + [0.0] * 5], 2), "--binarise", "median")
    refused("Fortran order", "index", new(".nigh"), npy(good, 4, fortran=True), "--binarise", "sign")
    refused("has 0 columns; it must be from 1 to 65536", "index", new(".nigh"), npy([], 4, shape="(0, 0)"),
            "--binarise", "sign")
    refused("signatures have 12 bits, 13 were asked for", "index", new(".nigh"), npy([[1.0] * 12], 4),
            "--binarise", "sign", "--bits", "13")
    refused("'>f4'; of floats nigh reads", "index", new(".nigh"), npy(good, 4, descr=">f4"), "--binarise", "sign")
    refused("two dimensions", "index", new(".nigh"), npy(good, 4, shape="(16,)"), "--binarise", "sign")
    refused("no row", "index", new(".nigh"), npy([], 4, shape="(0, 8)"), "--binarise", "mean")
    refused("file ends at byte", "index", new(".nigh"), npy(good, 4, shape="(3, 8)"), "--binarise", "mean")
    refused("one row of floats", "index", new(".nigh"), npy(good, 4), "--binarise", npy(good, 4))
    refused("cannot open", "index", new(".nigh"), npy(good, 4), "--binarise", path("none.npy"))
    refused("must be a file", "index", new(".nigh"), "-", "--format", "npy", "--binarise", "median")
    text = new(".txt")
    with open(text, "w") as file:
        file.write("not a row of floats, but words\n")
    refused("the inputs are documents", "index", new(".nigh"), text, "--binarise", "sign")


def main():
    global NIGH
    NIGH = os.path.abspath(os.environ["NIGH"])
    shutil.rmtree(WORK, ignore_errors=True)
    os.makedirs(WORK)
    print("seed", SEED)
    generator = random.Random(SEED)
    test_all_kinds(generator, (8, 24))
    test_all_kinds(random.Random(SEED + 63), (5, 63))
    test_means(generator)
    test_infinities()
    test_several_inputs(generator)
    test_remembered(generator)
    test_refused(generator)


if __name__ == "__main__":
    main()
