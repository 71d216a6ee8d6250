#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the library against the reader that was written from docs/format.md alone.

    NIGH=path/of/nigh python3 test_format_reader.py [TEST...]

Makes collections with the tool and reads them here, makes collections here and reads them with the tool, and damages
both: with wrong checksums, and with right ones over contents that contradict the document.  What one side refuses the
other must refuse.  Works in the current directory, in a folder that it removes at the end unless something failed.
"""

import os
import random
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import format_writer as writer  # noqa: E402
from format_reader import FormatError, open_collection  # noqa: E402
from siphash import siphash  # noqa: E402
from xxh3 import xxh3_64  # noqa: E402

SEED = int(os.environ.get("SEED", "1"))
VERBOSE = "VERBOSE" in os.environ  # print why things are refused
WORK = "format-reader-work"

# XXH3_64bits of pattern(length), computed with xxHash 0.8.1.
XXH3_KNOWN = (
    (0, 0x2D06800538D394C2),
    (1, 0xC44BDFF4074EECDB),
    (2, 0x1CA5CFA6A6D57DC2),
    (3, 0xA1C4A8259B827291),
    (4, 0xBB4E3D89EE0B271D),
    (5, 0xDAFB9806147DED6F),
    (8, 0x79D02238B80E37B1),
    (9, 0xF64CECC4271FF461),
    (16, 0x222E9AEAD6BDDD51),
    (17, 0x47AAD6B375EB4BBA),
    (64, 0x70A70E66815E67E5),
    (128, 0x421A9C905C6E66BA),
    (129, 0x9E2414800F83768A),
    (200, 0x20A87DB907CE74E4),
    (240, 0xB714C5FD22744964),
    (241, 0xBC424A2C480DD281),
    (255, 0x155BAA5891F7606F),
    (256, 0x2D040B1AB40F0D78),
    (1023, 0x3071307BAFA2F8F4),
    (1024, 0x1FD15E7D36F5E1BC),
    (1025, 0xFE08E5A874D23FD2),
    (1088, 0x0AC7CF3A6009BAB5),
    (1089, 0xB246626FDF150FCB),
    (4096, 0x84D9E7CE664C8217),
    (10000, 0x47A14DA2FA124276),
    (100003, 0x25BA638A3C66D20F),
)

passed = 0
failed = 0


def expect(condition, what, detail=""):
    global passed, failed
    if condition:
        passed += 1
        return
    failed += 1
    print("FAILED: %s%s" % (what, ": " + str(detail) if detail else ""))


# Running both sides.


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)


def nigh(*arguments):
    return run([NIGH] + list(arguments))


def reader(*arguments):
    return run([sys.executable, "-B", os.path.join(HERE, "format_reader.py")] + list(arguments))


def path(name):
    return os.path.join(WORK, name)


def said(result):
    message = (result.stderr or result.stdout)[:300].decode(errors="replace")
    return "exit %d: %s" % (result.returncode, message.strip())


def hex_line(name, signature):
    prefix = b"" if name is None else name + b"\t"
    return prefix + signature.hex().encode() + b"\n"


def index(collection, documents, *options):
    """One run of `nigh index` over documents (id or None, signature)."""
    source = collection + ".hex"
    writer.write_file(source, b"".join(hex_line(name, signature) for name, signature in documents))
    result = nigh("index", *options, collection, source)
    expect(result.returncode == 0, "index " + collection, said(result))


def escaped(name):
    """An id as docs/ids.md has it written."""
    written, at = [], 0
    plain = {9: b"\\t", 10: b"\\n", 13: b"\\r", 92: b"\\\\"}
    while at < len(name):
        size = next((n for n in (1, 2, 3, 4) if is_character(name[at : at + n])), 0)
        piece = name[at : at + max(size, 1)]
        if len(piece) == 1 and piece[0] in plain:
            written.append(plain[piece[0]])
        elif size == 0 or is_control(piece.decode()):
            written.extend(b"\\x%02x" % byte for byte in piece)
        else:
            written.append(piece)
        at += len(piece)
    return b"".join(written)


def is_character(piece):
    try:
        return len(piece.decode()) == 1
    except UnicodeDecodeError:
        return False


def is_control(character):
    code = ord(character)
    marks = (0x61C, 0x200E, 0x200F, 0x2028, 0x2029)
    return code < 32 or 127 <= code < 160 or code in marks or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069


def exported_line(name, signature):
    return hex_line(None if name is None else escaped(name), signature)


def expect_same_reading(collection, documents):
    """Reader, tool and `documents` agree; both checks are clean; every id is found."""
    expected = [(b"%d" % i if name is None else name, signature) for i, (name, signature) in enumerate(documents)]
    listed = reader(collection)
    lines = b"".join(hex_line(name, signature) for name, signature in expected)
    expect(listed.returncode == 0 and listed.stdout == lines, "read " + collection, said(listed))
    exported = nigh("export", collection, "--format", "hex", "-o", "-")
    lines = b"".join(exported_line(name, signature) for name, signature in documents)
    expect(exported.returncode == 0 and exported.stdout == lines, "export " + collection, said(exported))
    expect_accepted(collection, "check " + collection, len(documents))
    expect_found(collection, expected)


def expect_found(collection, expected):
    try:
        opened = open_collection(collection)
        numbers = (number for number, _, _ in opened.living())
        misses = [name for number, (name, _) in zip(numbers, expected) if opened.find(name) != number]
        expect(not misses, "find in " + collection, misses[:3])
        expect(opened.find(b"no such id") is None, "find what is not there in " + collection)
    except FormatError as error:
        expect(False, "find in " + collection, error)


def expect_accepted(collection, what, documents):
    ours = reader("--check", collection)
    expect(ours.returncode == 0 and ours.stdout == b"ok %d\n" % documents, what + " (reader)", said(ours))
    theirs = nigh("check", collection)
    expect(theirs.returncode == 0, what + " (nigh check)", said(theirs))


def expect_refused(collection, what):
    """Calls the reader without starting it: there are hundreds of these."""
    try:
        expect(False, what + " (reader)", "ok %d" % open_collection(collection).check())
    except (FormatError, FileNotFoundError) as error:
        if VERBOSE:
            print("%s: %s" % (what, error))
        expect(True, what)
    theirs = nigh("check", collection)
    if VERBOSE:
        print("%s: %s" % (what, said(theirs)))
    expect(theirs.returncode == 2 and theirs.stderr != b"", what + " (nigh check)", said(theirs))


# The checksum function.


def pattern(length):
    return bytes((i * 2654435761 >> 13) & 255 for i in range(length))


def test_xxh3():
    for length, value in XXH3_KNOWN:
        expect(xxh3_64(pattern(length)) == value, "xxh3 of %d bytes" % length)


def test_siphash():
    """The values of the paper and of the vectors published with it."""
    keys = (0x0706050403020100, 0x0F0E0D0C0B0A0908)
    for length, value in ((0, 0x726FDB47DD0E0E31), (8, 0x93F5F5799A932462), (15, 0xA129CA6149BE45E5)):
        expect(siphash(bytes(range(length)), *keys) == value, "siphash of %d bytes" % length)


# Collections of the tool.


def make_documents(rng, width, count, ids, distinct=None):
    pool = [rng.getrandbits(width).to_bytes((width + 7) // 8, "little") for _ in range(distinct or count)]
    signatures = pool if distinct is None else [rng.choice(pool) for _ in range(count)]
    return [(ids(i) if ids else None, signature) for i, signature in enumerate(signatures)]


def test_widths():
    rng = random.Random(SEED)
    for width in (8, 64, 72, 1000, 1024, 1, 7, 9, 63, 65, 1023):
        for ids in (None, lambda i: b"doc-%d" % i):
            documents = make_documents(rng, width, 50, ids)
            collection = path("width-%d-%s.nigh" % (width, "ids" if ids else "numbers"))
            index(collection, documents, "--bits", str(width))
            expect_same_reading(collection, documents)


def test_duplicates():
    rng = random.Random(SEED + 1)
    for distinct in (1, 7):
        documents = make_documents(rng, 64, 300, lambda i: b"%x" % (i * 7919), distinct)
        collection = path("duplicates-%d.nigh" % distinct)
        index(collection, documents)
        expect_same_reading(collection, documents)


def test_several_segments():
    rng = random.Random(SEED + 2)
    for ids in (None, lambda i: b"several/%d" % i):
        documents = make_documents(rng, 72, 90, ids, 40)
        collection = path("several-%s.nigh" % ("ids" if ids else "numbers"))
        for start, end in ((0, 1), (1, 40), (40, 41), (41, 90)):
            index(collection, documents[start:end])
        expect_same_reading(collection, documents)
        expect(len(open_collection(collection).segments) > 1, "several segments in " + collection)


def test_no_documents():
    collection = path("empty.nigh")
    index(collection, [], "--bits", "64")
    expect_same_reading(collection, [])
    documents = make_documents(random.Random(SEED + 3), 64, 5, lambda i: b"later%d" % i)
    index(collection, documents)
    expect_same_reading(collection, documents)


def test_foreign_ids():
    names = ["grüße", "文書", "a b  c", "😀", "é", "e\u0301", "#", "=", "0", "-1", "i" * 3000]
    names = [name.encode() for name in names] + [b"\xff\xfe", b"\x80", b"\xc3", b"\x01\x1b[0m", bytes(range(128, 256))]
    rng = random.Random(SEED + 4)
    documents = make_documents(rng, 64, len(names), lambda i: names[i])
    collection = path("foreign.nigh")
    index(collection, documents)
    expect_same_reading(collection, documents)


def test_many():
    rng = random.Random(SEED + 5)
    for ids in (None, lambda i: b"%08x" % (i * 2654435761 & 0xFFFFFFFF)):
        documents = make_documents(rng, 64, 2000, ids, 1500)
        collection = path("many-%s.nigh" % ("ids" if ids else "numbers"))
        index(collection, documents)
        expect_same_reading(collection, documents)


def test_golden():
    """Collections kept in tests/golden; NAME.hex beside NAME.nigh, where it is there, has what they must hold."""
    golden = os.path.normpath(os.path.join(HERE, os.pardir, "golden"))
    names = sorted(name for name in os.listdir(golden) if name.endswith(".nigh"))
    expect(names, "there are golden collections")
    for name in names:
        collection = os.path.join(golden, name)
        expected = collection[: -len(".nigh")] + ".hex"
        exported = nigh("export", collection, "--format", "hex", "-o", "-")
        expect(exported.returncode == 0, "export golden " + name, said(exported))
        if os.path.exists(expected):
            expect(exported.stdout == bytes(writer.read_file(expected)), "golden %s is as it was" % name)
        lines = exported.stdout.splitlines()
        pairs = [line.rpartition(b"\t") for line in lines]
        documents = [(before if tab else None, bytes.fromhex(digits.decode())) for before, tab, digits in pairs]
        expect_same_reading(collection, documents)
        expect_golden_extras(name, open_collection(collection))


# What "Keys" of the document says, for texts whose words need no spelling and the seed 0.

ALL = 2**64 - 1
ODD = 0x9E3779B97F4A7C15


def mix(x):
    x = (x + ODD) & ALL
    x = ((x ^ x >> 30) * 0xBF58476D1CE4E5B9) & ALL
    x = ((x ^ x >> 27) * 0x94D049BB133111EB) & ALL
    return x ^ x >> 31


def ngram_hashes(words, length):
    own = {word: xxh3_64(word) for word in set(words)}
    length = min(length, len(words))
    grams = {tuple(words[i : i + length]) for i in range(len(words) - length + 1)}
    hashes = []
    for gram in grams:
        result = 0
        for word in gram:
            result = mix(result ^ own[word])
        hashes.append(result)
    return hashes


def min_wise_hashes(hashes):
    found = []
    keys = [mix(value) >> 32 for value in hashes]
    for i in range(256):
        output = mix((mix(0) + i * ODD) & ALL)
        a, c = output & 0xFFFFFFFF | 1, output >> 32
        found.append(min((a * key + c) & 0xFFFFFFFF for key in keys))
    return found


def bits_of(minima):
    tops = [value * 0x9E3779B1 >> 31 & 1 for value in minima]
    return bytes(sum(tops[8 * i + j] << j for j in range(8)) for i in range(32))


def bands_of(threshold):
    """Bands and rows."""
    for rows in range(16, 2, -1):
        power = missed = 1.0
        for _ in range(rows):
            power *= threshold
        for _ in range(256 // rows):
            missed *= 1 - power
        if 1 - missed >= 0.994:
            return 256 // rows, rows
    return 128, 2


def keys_of(minima, bands, rows):
    keys = []
    for band in range(bands):
        own = minima[band * rows : (band + 1) * rows]
        added = [(value + mix(k)) & 0xFFFFFFFF for k, value in enumerate(own)]
        total = sum(added[k] * added[k + 1] for k in range(0, rows - 1, 2))
        if rows % 2 == 1:
            total += own[-1] * ODD
        keys.append((total * ODD & ALL) >> 32)
    return keys


def test_golden_texts():
    """Texts, bits and keys of tests/golden/test_texts_golden.c, made here by the document alone."""
    opened = open_collection(os.path.join(HERE, os.pardir, "golden", "v1-texts.nigh"))
    scheme = opened.segments[0].scheme.decode().splitlines()
    expect("threshold=800" in scheme and "features=ngrams:3" in scheme, "golden threshold", scheme)
    texts, keys = list(opened.texts()), list(opened.keys())
    signatures = [signature for _, signature, _ in opened.documents()]
    long_words = [b"word%d" % (i * i % 997) for i in range(12000)]
    expect(texts[3] == b" ".join(long_words), "a golden text past a block")
    expect(texts[0].startswith(b"It was the best of times,") and texts[5] == b"word", "golden texts", texts[5])
    bands, rows = bands_of(0.8)
    expect((bands, rows) == (32, 8), "bands of the threshold", (bands, rows))
    for number, words in ((3, long_words), (5, [b"word"])):
        minima = min_wise_hashes(ngram_hashes(words, 3))
        expect(signatures[number] == bits_of(minima), "golden bits of text %d" % number)
        expect(keys[number] == keys_of(minima, bands, rows), "golden keys of text %d" % number)
    expect(signatures[2] == bytes(32), "golden bits of a text without a feature")
    wanted = [mix(xxh3_64(texts[2]) + band & ALL) >> 32 for band in range(bands)]
    expect(texts[2] == b"..." and keys[2] == wanted, "golden keys of a text without a feature")
    shared = sum(a == b for a, b in zip(keys[0], keys[1]))
    expect(0 < shared < bands, "golden near-copies share keys", shared)


def firsts_of(opened):
    """The number in the collection of the first document of each row."""
    before = 0
    for segment in opened.segments:
        for row in range(segment.signatures):
            yield before + list(segment.rows).index(row)
        before += segment.documents


def golden_values(seed, number):
    """By the rule of recipe_values() in tests/support."""
    drawn = mix(seed + number)
    text = (b"en", b"de", b"", b"2024", "fr é".encode(), b"zu")[drawn % 6] if drawn >> 8 & 7 else None
    year = drawn >> 16 & 511 if drawn >> 11 & 3 else None
    quarter = number % 300 / 4
    third = {1: int(quarter) if quarter == int(quarter) else quarter, 2: text}.get(drawn >> 13 & 3)
    return [text, year, third]


def expect_golden_extras(name, opened):
    """Weights, vocabulary and model, by the rule of recipe_weights() in tests/support; seeds and the text are of the test."""
    if name == "v1-log.nigh":
        return  # all of it is in the log: test_log_reader.py
    keyed = [segment.id_key is not None for segment in opened.segments if segment.has_ids]
    expect(set(keyed) == ({name.startswith(("v1-keyed", "v1-padded", "v1-led", "v1-living"))} if keyed else set()), name + ": which has a key")
    if name in ("v1-learned.nigh", "v1-keyed.nigh"):
        expect(opened.vocabulary() == b"words\n", "golden vocabulary beside a model", opened.vocabulary())
        expect(opened.model() == b"to the store a model is bytes\n", "golden model", opened.model())
        return
    expect(opened.model() is None, name + " has no model")
    expect((opened.thresholds() is None) == (name != "v1-floats.nigh"), name + " has thresholds, or has none")
    if name == "v1-floats.nigh":
        wanted = struct.pack("<24d", *(i / 4 - 3 for i in range(24)))
        expect(opened.thresholds() == wanted, "golden thresholds", opened.thresholds())
        named = b"binarise=file\nbits=24\nkind=signatures\nthresholds=%016x\n" % xxh3_64(wanted)
        expect(opened.segments[0].scheme == named, "golden scheme of floats", opened.segments[0].scheme)
    if name != "v1-texts.nigh":
        expect(set(opened.texts()) == {None} and set(opened.keys()) == {None}, name + " has no texts and no keys")
    values = list(opened.values())
    if name == "v1-values.nigh":
        expect(opened.segments[0].keep_keys == [b"lang", b"year", b"a.b c"], "golden keys that are kept")
        expect(values == [golden_values(14, i) for i in range(len(opened))], "golden values", values[:4])
    else:
        expect(set(map(tuple, values)) == {()}, name + " keeps no keys")
    masks = [segment.mask(row) for segment in opened.segments for row in range(segment.signatures)]
    if name in ("v1-masked.nigh", "v1-led-masked.nigh"):
        rule = [sum(1 << bit for bit in range(44) if (12 + 31 * i + 7 * bit) % 3 != 0) for i in firsts_of(opened)]
        expect(masks == [mask.to_bytes(6, "little") for mask in rule], "golden masks")
    else:
        expect(set(masks) == {None}, name + " has no masks")
    seeds = {"v1-weighted.nigh": 3, "v1-tuned.nigh": 7, "v1-padded.nigh": 10, "v1-led-padded.nigh": 10, "v1-tuned-ranked.nigh": 11}
    if name != "v1-weighted.nigh":
        expect(opened.vocabulary() is None, name + " has no vocabulary")
    if name not in seeds:
        expect(set(opened.weights()) == {None}, name + " has no weights")
        return
    width = opened.manifest.width
    weights = [bytes((seeds[name] + 31 * i + 7 * bit) % 256 for bit in range(width)) for i in range(len(opened))]
    expect(list(opened.weights()) == weights, "golden weights of " + name)
    if name != "v1-weighted.nigh":
        return
    expect(opened.vocabulary() == b"to the store a vocabulary is bytes\n", "golden vocabulary", opened.vocabulary())


# Collections that are written here.

WIDTH = 72


def first_documents():
    """Ten documents with ids and metadata, of three signatures."""
    return [(b"first-%d" % i, bytes([i % 3 + 1] * 9), b"metadata " * ((i + 1) % 4)) for i in range(10)]


def second_documents():
    return [(b"second-%d" % i, bytes([i % 4] * 9), None) for i in range(5)]


def first_weights():
    return [bytes((i + 3 * bit) % 256 for bit in range(WIDTH)) for i in range(10)]


VOCABULARY = b"words\0and how often " * 5
MODEL = b"what was learned\0" * 3


# Of 8, 0, 20, 1, 0, 8 bytes and so on: with blocks of 16 bytes and more that is 0 to 2, 3 to 7, 8 and 9, which is empty.
TEXT_LENGTHS = (8, 0, 20, 1, 0)


def first_texts():
    return [bytes(97 + (i + k) % 26 for k in range(TEXT_LENGTHS[i % 5])) for i in range(9)] + [b""]


def first_keys():
    return [[1000 * i + band for band in range(3)] for i in range(10)]


def kept_sections(texts=None, keys=None):
    """Sections 14 to 17 of the first documents, or others."""
    texts = writer.text_sections(first_texts() if texts is None else texts, 16)
    return texts + [writer.key_section(first_keys() if keys is None else keys)]


def two_segments():
    first = writer.segment_bytes(
        first_documents(),
        WIDTH,
        weights=first_weights(),
        vocabulary=VOCABULARY,
        model=MODEL,
        more_sections=kept_sections(),
    )
    return [first, writer.segment_bytes(second_documents(), WIDTH)]


def write_tested(name, segments=None):
    collection = path(name)
    writer.write_collection(collection, WIDTH, two_segments() if segments is None else segments)
    return collection


def test_written_here():
    collection = write_tested("written.nigh")
    documents = first_documents() + second_documents()
    expect_same_reading(collection, [(name, signature) for name, signature, _ in documents])
    read = list(open_collection(collection).documents())
    expect(read == [(name, signature, more or b"") for name, signature, more in documents], "metadata")
    expect(list(open_collection(collection).weights()) == first_weights() + [None] * 5, "weights")
    expect(open_collection(collection).vocabulary() == VOCABULARY, "vocabulary")
    expect(open_collection(collection).model() == MODEL, "model")
    expect(list(open_collection(collection).texts()) == first_texts() + [None] * 5, "texts")
    expect(list(open_collection(collection).keys()) == first_keys() + [None] * 5, "keys")
    queries = [argument for name, _, _ in documents for argument in ("--id", name.decode())]
    searched = nigh("search", "-q", "--radius", "0", "--output", "tsv", collection, *queries)
    expect(searched.returncode == 0, "search by ids that were put into the lookup here", said(searched))


def test_later_versions():
    """Sections, features and files that version 1 does not know but must bear."""
    more = [(22, 3, b"abc"), (4000000000, 0, b""), (22, 1, b"\xff" * 100)]
    segment = writer.segment_bytes(first_documents(), WIDTH, more_sections=more, compatible_features=0x80000001)
    collection = write_tested("later.nigh", [segment])
    writer.write_file(os.path.join(collection, "manifest-00000000000000000002.tmp"), b"unfinished")
    for kind in ("ids", "metadata", "weights", "masks", "texts", "keys"):
        writer.write_file(os.path.join(collection, "segment-00000000000000000002.%s.tmp" % kind), b"unfinished")
    writer.write_file(writer.segment_path(collection, 7), b"not listed")
    manifest = writer.manifest_bytes(1, WIDTH, {1: segment}, compatible_features=0x40)
    writer.write_file(writer.manifest_path(collection, 1), manifest)
    expect_same_reading(collection, [(name, signature) for name, signature, _ in first_documents()])


def text_block(entry, field, code, value):
    """Sets a field of an entry of section 15 (from the end where negative); `value` may be a function of the old one."""

    def change(segment):
        _, offset, length = writer.sections_of(segment)[15]
        at = offset + field + (32 * entry if entry >= 0 else length + 32 * entry)
        old = struct.unpack_from("<" + code, segment, at)[0]
        struct.pack_into("<" + code, segment, at, value(old) if callable(value) else value)
        writer.mend_texts(segment)

    return change


def as_zstd(texts):
    """Sections 14 to 16 with one block, packed by the command."""
    joined = b"".join(texts)
    packed = subprocess.run(["zstd", "-q", "-c"], input=joined, stdout=subprocess.PIPE, check=True).stdout
    entries = writer.TEXT_BLOCK.pack(0, 0, xxh3_64(packed), 1, 0) + writer.TEXT_BLOCK.pack(len(joined), len(packed), 0, 0, 0)
    sections = writer.text_sections(texts, 1 << 30)
    return [sections[0], (15, 2, entries), (16, len(packed), packed)]


def test_texts_and_keys():
    """Those that this side makes, in every shape."""
    documents = first_documents()
    many = [(None, struct.pack("<IIB", i, 0, 0), None) for i in range(4096 + 7)]
    keys_of_many = [[i * 5 + band for band in range(5)] for i in range(len(many))]
    texts_of_many = [b"%d" % i * (i % 4) for i in range(len(many))]
    for what, own, texts, keys in (
        ("texts alone", documents, first_texts(), None),
        ("keys alone", documents, None, first_keys()),
        ("empty texts", documents, [b""] * 10, None),
        ("an empty text at the end of a block", documents, [b"x" * 16, b"", b"y" * 16, b""] + [b""] * 6, None),
        ("a key", documents, None, [[i] for i in range(10)]),
        ("128 keys", documents, None, [[i] * 128 for i in range(10)]),
        ("two blocks of keys", many, texts_of_many, keys_of_many),
    ):
        more = (writer.text_sections(texts, 16) if texts else []) + ([writer.key_section(keys)] if keys else [])
        segment = writer.segment_bytes(own, WIDTH, more_sections=more)
        collection = write_tested("kept-%s.nigh" % what.replace(" ", "-"), [segment])
        expect_accepted(collection, what, len(own))
        opened = open_collection(collection)
        expect(list(opened.texts()) == (texts or [None] * len(own)), what + ": texts")
        expect(list(opened.keys()) == (keys or [None] * len(own)), what + ": keys")
    texts = [b"packed " * 100] * 10
    segment = writer.segment_bytes(documents, WIDTH, more_sections=as_zstd(texts))
    collection = write_tested("packed.nigh", [segment])
    expect_accepted(collection, "texts packed by the command", 10)
    expect(list(open_collection(collection).texts()) == texts, "texts packed by the command are read")


def test_damaged_packed_texts():
    """Every change of packed bytes is found, also under a right checksum of the block: at least the lengths differ."""
    texts = [b"packed " * 100] * 10
    segment = writer.segment_bytes(first_documents(), WIDTH, more_sections=as_zstd(texts))
    original = write_tested("to-unpack.nigh", [segment])
    for what, change in (
        ("no magic", lambda segment: (poke(16, "B", 0, 0)(segment), writer.mend_texts(segment))),
        ("cut short", text_block(1, 8, "Q", lambda old: old - 1)),
        ("one byte more than it holds", text_block(1, 0, "Q", lambda old: old + 1)),
        ("one byte less than it holds", text_block(1, 0, "Q", lambda old: old - 1)),
        ("far more than it can hold", text_block(1, 0, "Q", 2**31)),
        ("not packed at all", text_block(0, 24, "I", 0)),
        ("packed in a later way", text_block(0, 24, "I", 2)),
        ("a wrong checksum", poke(15, "Q", 2, 1)),
    ):
        copy = copy_of(original)
        content = writer.read_file(writer.segment_path(copy, 1))
        change(content)
        last = struct.unpack_from("<Q", content, writer.sections_of(content)[15][1] + 32)[0]
        poke(14, "Q", -1, last)(content)  # the last text ends where the block does
        writer.write_file(writer.segment_path(copy, 1), content)
        writer.mend_collection(copy, 1)
        expect_refused(copy, "packed texts: " + what)


def test_limits():
    """The longest id and the longest metadata; one byte more is refused."""
    for what, limit, make in (
        ("id", 65535, lambda length: (b"i" * length, bytes(9), b"m")),
        ("metadata", 16 << 20, lambda length: (b"i", bytes(9), bytes(length))),
    ):
        collection = write_tested("longest-%s.nigh" % what, [writer.segment_bytes([make(limit)], WIDTH)])
        expect_accepted(collection, "longest " + what, 1)
        collection = write_tested("too-long-%s.nigh" % what, [writer.segment_bytes([make(limit + 1)], WIDTH)])
        expect_refused(collection, "too long " + what)


def test_empty_segments():
    """A segment without documents has no say in whether a collection has ids."""
    empty = writer.segment_bytes([], WIDTH)
    expect_same_reading(write_tested("empty-alone.nigh", [empty]), [])
    expect_same_reading(write_tested("no-segments.nigh", []), [])
    collection = write_tested("empty-between.nigh", [empty, two_segments()[1], empty])
    expect_same_reading(collection, [(name, signature) for name, signature, _ in second_documents()])
    weighted = writer.segment_bytes([], WIDTH, weights=[], vocabulary=VOCABULARY)
    collection = write_tested("empty-first.nigh", [empty, weighted, two_segments()[1]])
    expect_same_reading(collection, [(name, signature) for name, signature, _ in second_documents()])
    expect(open_collection(collection).vocabulary() == VOCABULARY, "a vocabulary before all documents")
    learned = writer.segment_bytes([], WIDTH, model=MODEL)
    collection = write_tested("empty-apart.nigh", [weighted, learned, two_segments()[1]])
    expect(open_collection(collection).vocabulary() == VOCABULARY, "a vocabulary in another segment than the model")
    expect(open_collection(collection).model() == MODEL, "a model in another segment than the vocabulary")
    expect_accepted(collection, "vocabulary and model apart", 5)


def test_space_between_sections():
    """Sections may lie further apart than they must, as long as zeros are between them."""
    segment = bytearray(two_segments()[1])
    at, offset, _ = writer.sections_of(segment)[2]
    for entry, start, _ in writer.sections_of(segment).values():
        if entry >= at:
            struct.pack_into("<Q", segment, entry + 8, start + 192)
    segment[offset:offset] = bytes(192)
    segment[-64:-64] = bytes(128)
    struct.pack_into("<Q", segment, 24, len(segment))
    struct.pack_into("<Q", segment, len(segment) - 56, len(segment))
    writer.mend_segment(segment)
    collection = write_tested("apart.nigh", [bytes(segment)])
    expect_same_reading(collection, [(name, signature) for name, signature, _ in second_documents()])


def test_spare_manifest():
    """A damaged manifest is passed over for the one before it when reading; checking does not pass over it."""
    # No model: 'nigh info' would look into it, and these bytes are none.
    segments = {1: writer.segment_bytes(first_documents(), WIDTH), 2: two_segments()[1]}
    collection = write_tested("spare.nigh", [segments[1]])
    writer.write_file(writer.segment_path(collection, 2), segments[2])
    newest = bytearray(writer.manifest_bytes(2, WIDTH, segments))
    writer.write_file(writer.manifest_path(collection, 2), newest)
    both = [(name, signature) for name, signature, _ in first_documents() + second_documents()]
    expect_same_reading(collection, both)
    newest[70] ^= 1
    writer.write_file(writer.manifest_path(collection, 2), newest)
    old_lines = b"".join(hex_line(name, signature) for name, signature in both[:10])
    listed = reader(collection)
    expect(listed.stdout == old_lines and listed.stderr != b"", "reader passes over a damaged manifest", said(listed))
    exported = nigh("export", collection, "--format", "hex", "-o", "-")
    expect(exported.stdout == old_lines, "export passes over a damaged manifest", said(exported))
    told = nigh("info", collection)
    expect(told.returncode == 0 and told.stderr != b"", "info tells of a damaged manifest", said(told))
    expect_refused(collection, "damaged newest manifest")
    newest[70] ^= 1
    writer.write_file(writer.manifest_path(collection, 2), newest)
    writer.write_file(writer.manifest_path(collection, 1), b"damaged")
    expect_refused(collection, "damaged spare manifest")


def test_newer_manifest_is_not_passed_over():
    for what, offset in (("version", 8), ("incompatible features", 20)):
        collection = write_tested("newer-%d.nigh" % offset)
        newest = bytearray(writer.manifest_bytes(2, WIDTH, dict(enumerate(two_segments(), 1))))
        newest[offset] ^= 2
        writer.mend_manifest(newest)
        writer.write_file(writer.manifest_path(collection, 2), newest)
        expect_refused(collection, "newer manifest: " + what)
        expect(reader(collection).returncode == 2, "reader stops at a newer manifest: " + what)
        exported = nigh("export", collection, "--format", "hex", "-o", "-")
        expect(exported.returncode == 2, "export stops at a newer manifest: " + what, said(exported))


def test_any_ids():
    """With the feature that says so an id may hold a tab, a newline or a zero byte."""
    documents = [(b"a\tb", bytes(9), None), (b"a\n", bytes(range(9)), None), (b"\0", bytes(9), None)]
    segment = writer.segment_bytes(documents, WIDTH, incompatible_features=1)
    collection = write_tested("any-ids.nigh", [segment])
    expect_accepted(collection, "any ids", 3)
    exported = nigh("export", collection, "--format", "hex", "-o", "-")
    names = [line.split(b"\t")[0] for line in exported.stdout.splitlines()]
    expect(names == [b"a\\tb", b"a\\n", b"\\x00"], "any ids: exported", said(exported))


def test_keyed_ids():
    """The id lookup by a key that follows from all ids."""
    documents = first_documents()
    collection = write_tested("keyed.nigh", [writer.segment_bytes(documents, WIDTH, keyed=True)])
    expect_same_reading(collection, [(name, signature) for name, signature, _ in documents])
    queries = [argument for name, _, _ in documents for argument in ("--id", name.decode())]
    searched = nigh("search", "-q", "--radius", "0", "--output", "tsv", collection, *queries)
    expect(searched.returncode == 0, "search by ids that were put into a keyed lookup here", said(searched))


def test_keyed_by_the_tool():
    collection = path("keyed-by-tool.nigh")
    index(collection, make_documents(random.Random(SEED + 9), 72, 30, lambda i: b"keyed-%d" % i))
    for segment in open_collection(collection).segments:
        expect(segment.id_key is not None, "the tool writes a key")


def test_not_a_collection():
    for name in ("nothing", "empty", "foreign"):
        collection = path(name + "-directory.nigh")
        if name != "nothing":
            os.mkdir(collection)
        if name == "foreign":
            writer.write_file(os.path.join(collection, "notes.txt"), b"notes\n")
        expect_refused(collection, "directory: " + name)


# Damage: a changed byte and wrong checksums.


def flips_of(segment):
    """Names and offsets that touch every part of a segment."""
    sections = writer.sections_of(segment)
    for offset in range(0, 64, 4):
        yield "header", offset
    for at, _, _ in sections.values():
        for field in (0, 4, 8, 16, 24, 32, 40):
            yield "section table", at + field
    yield "end of the table area", 4095
    for kind, (_, offset, length) in sections.items():
        for within in sorted({0, length // 2, length - 1} if length > 0 else ()):
            yield "section %d" % kind, offset + within
        if length % 64 != 0:
            yield "zeros after section %d" % kind, offset + length
    for offset in (0, 8, 16, 24, 63):
        yield "footer", len(segment) - 64 + offset


def test_changed_bytes():
    """In a collection of the tool and in one with metadata."""
    made = path("to-damage.nigh")
    index(made, make_documents(random.Random(SEED + 6), 72, 20, lambda i: b"damage-%d" % i, 12))
    for original in (made, write_tested("to-damage-too.nigh")):
        manifest_name = max(name for name in os.listdir(original) if name.startswith("manifest-"))
        segment_name = min(name for name in os.listdir(original) if name.startswith("segment-"))
        segment = writer.read_file(os.path.join(original, segment_name))
        for part, offset in flips_of(segment):
            expect_flip_refused(original, segment_name, offset, part)
        for offset in range(0, os.path.getsize(os.path.join(original, manifest_name)), 4):
            expect_flip_refused(original, manifest_name, offset, "manifest")


def copy_of(original):
    copy = path("copy.nigh")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(original, copy)
    return copy


def expect_flip_refused(original, name, offset, part):
    copy = copy_of(original)
    content = writer.read_file(os.path.join(copy, name))
    content[offset] ^= 1 << random.Random(offset).randrange(8)
    writer.write_file(os.path.join(copy, name), content)
    expect_refused(copy, "%s, changed byte %d of %s (%s)" % (original, offset, name, part))


def test_changed_lengths():
    original = write_tested("to-cut.nigh")
    for name in sorted(os.listdir(original)):
        whole = writer.read_file(os.path.join(original, name))
        for cut in (whole[:0], whole[:15], whole[:63], whole[:-1], whole[:-64], whole + b"\0", whole + bytes(64)):
            copy = copy_of(original)
            writer.write_file(os.path.join(copy, name), cut)
            expect_refused(copy, "%s of %d bytes, cut to %d" % (name, len(whole), len(cut)))
        copy = copy_of(original)
        os.remove(os.path.join(copy, name))
        expect_refused(copy, "%s is not there" % name)


# Damage with right checksums: contents that contradict the document.


def poke(section, code, item, value):
    """Sets item number `item` (from the end where negative) of a section of numbers."""

    def change(segment):
        _, offset, length = writer.sections_of(segment)[section]
        size = struct.calcsize("<" + code)
        place = offset + (item * size if item >= 0 else length + item * size)
        struct.pack_into("<" + code, segment, place, value)

    return change


def swap(section, first, second):
    """Swaps two u32 of a section."""

    def change(segment):
        _, offset, _ = writer.sections_of(segment)[section]
        a, b = offset + 4 * first, offset + 4 * second
        segment[a : a + 4], segment[b : b + 4] = segment[b : b + 4], segment[a : a + 4]

    return change


def in_header(offset, code, value):
    return lambda segment: struct.pack_into("<" + code, segment, offset, value)


def in_table(section, field, code, value):
    """Sets a field of the table entry of a section; `value` may be a function of the old one."""

    def change(segment):
        at = writer.sections_of(segment)[section][0] + field
        old = struct.unpack_from("<" + code, segment, at)[0]
        struct.pack_into("<" + code, segment, at, value(old) if callable(value) else value)

    return change


def lookup_change(how):
    """Changes the slots of section 8 as a list."""

    def change(segment):
        _, offset, length = writer.sections_of(segment)[8]
        slots = list(struct.unpack_from("<%dI" % (length // 4), segment, offset))
        how(slots)
        struct.pack_into("<%dI" % len(slots), segment, offset, *slots)

    return change


def first_used(slots):
    return next(at for at, slot in enumerate(slots) if slot != 0)


def clear_one(slots):
    slots[first_used(slots)] = 0


def use_one_more(slots):
    slots[slots.index(0)] = slots[first_used(slots)]


def beyond_the_last(slots):
    slots[first_used(slots)] = 11


def fill_all(slots):
    slots[:] = [slot or 1 for slot in slots]


def same_signature_twice(segment):
    _, offset, _ = writer.sections_of(segment)[2]
    segment[offset + 16 : offset + 32] = segment[offset : offset + 16]


def exchange_groups(segment):
    for within in range(3):
        swap(4, 4 + within, 7 + within)(segment)


def exchange_rows(segment):
    """Rows 1 and 2 change places everywhere, so that all agrees but the order."""
    exchange_groups(segment)
    for word in range(4):
        swap(2, 4 + word, 8 + word)(segment)
    for document in (1, 4, 7):
        swap(5, document, document + 1)(segment)


def scheme_change(old, new):
    def change(segment):
        _, offset, length = writer.sections_of(segment)[1]
        changed = bytes(segment[offset : offset + length]).replace(old, new)
        assert len(changed) == length
        segment[offset : offset + length] = changed

    return change


# The ten documents of the first segment: rows 0 1 2 0 1 2 0 1 2 0, so groups 0 3 6 9 | 1 4 7 | 2 5 8; 32 slots; ids of
# 7 bytes; metadata of 9, 18, 27, 0 bytes and so on, 135 together.
SEGMENT_LIES = (
    ("version 0", in_header(8, "I", 0)),
    ("version 2", in_header(8, "I", 2)),
    ("incompatible feature", in_header(20, "I", 0x100)),
    ("other endianness", in_header(12, "I", 0x04030201)),
    ("one document fewer", in_header(32, "Q", 9)),
    ("far more documents", in_header(32, "Q", 2**32 - 1)),
    ("one signature fewer", in_header(40, "Q", 2)),
    ("more signatures than documents", in_header(40, "Q", 11)),
    ("no signatures", in_header(40, "Q", 0)),
    ("other width", in_header(48, "I", 80)),
    ("width of one bit more", in_header(48, "I", 73)),
    ("one section fewer", in_header(52, "I", 11)),
    ("no sections", in_header(52, "I", 0)),
    ("85 sections", in_header(52, "I", 85)),
    ("section of type 0", in_table(10, 0, "I", 0)),
    ("a section twice", in_table(10, 0, "I", 7)),
    ("no document rows", in_table(5, 0, "I", 77)),
    ("ids without a lookup", in_table(8, 0, "I", 77)),
    ("ids without bytes", in_table(7, 0, "I", 77)),
    ("metadata offsets without bytes", in_table(10, 0, "I", 77)),
    ("metadata bytes without offsets", in_table(9, 0, "I", 77)),
    ("table entry: zero at 4", in_table(3, 4, "I", 1)),
    ("table entry: zero at 40", in_table(3, 40, "Q", 1)),
    ("section not at a multiple of 64", in_table(10, 8, "Q", lambda old: old + 8)),
    ("section over the header", in_table(1, 8, "Q", 4032)),
    ("section over the one before", in_table(5, 8, "Q", lambda old: old - 64)),
    ("section behind the end", in_table(12, 8, "Q", lambda old: old + 4096)),
    ("section at the end of all numbers", in_table(12, 8, "Q", 2**64 - 64)),
    ("section over the footer", in_table(12, 16, "Q", lambda old: old + 64)),
    ("section of endless length", in_table(12, 16, "Q", 2**64 - 1)),
    ("signatures: other count", in_table(2, 24, "Q", 4)),
    ("signatures: other length", in_table(2, 16, "Q", 40)),
    ("group starts: other count", in_table(3, 24, "Q", 3)),
    ("document rows: other count", in_table(5, 24, "Q", 11)),
    ("id bytes: count is not length", in_table(7, 24, "Q", 1)),
    ("id lookup: no power of two", in_table(8, 24, "Q", 31)),
    ("id lookup: too few slots", in_table(8, 24, "Q", 8)),
    ("metadata offsets: other count", in_table(9, 24, "Q", 10)),
    ("weights: other count", in_table(11, 24, "Q", 720)),
    ("weights: one document fewer", in_table(11, 24, "Q", 9)),
    ("weights: other length", in_table(11, 16, "Q", 719)),
    ("weights: one byte a document and bit, and one more", in_table(11, 16, "Q", 721)),
    ("vocabulary: count is not length", in_table(12, 24, "Q", 1)),
    ("vocabulary: twice", in_table(11, 0, "I", 12)),
    ("model: count is not length", in_table(13, 24, "Q", 1)),
    ("model: twice", in_table(12, 0, "I", 13)),
    ("weights: twice", in_table(12, 0, "I", 11)),
    ("scheme: other bits", scheme_change(b"bits=72", b"bits=80")),
    ("scheme: no bits", scheme_change(b"bits=72", b"bats=72")),
    ("scheme: not sorted", scheme_change(b"kind=", b"aind=")),
    ("scheme: no newline at the end", scheme_change(b"signatures\n", b"signaturess")),
    ("scheme: no equals sign", scheme_change(b"kind=", b"kinds")),
    ("scheme: zero byte", scheme_change(b"signatures\n", b"signature\0\n")),
    ("signatures: bit beyond the width", poke(2, "B", 9, 1)),
    ("signatures: last bit beyond the width", poke(2, "B", -1, 0x80)),
    ("signatures: one twice", same_signature_twice),
    ("group starts: first not 0", poke(3, "I", 0, 1)),
    ("group starts: last not d", poke(3, "I", -1, 9)),
    ("group starts: last beyond d", poke(3, "I", -1, 11)),
    ("group starts: empty group", poke(3, "I", 1, 0)),
    ("group starts: beyond d", poke(3, "I", 1, 4000000000)),
    ("group starts: one too far", poke(3, "I", 1, 5)),
    ("group documents: not ascending", swap(4, 1, 2)),
    ("group documents: in another group", swap(4, 5, 8)),
    ("group documents: groups of equal size exchanged", exchange_groups),
    ("signatures: not in the order of appearance", exchange_rows),
    ("group documents: beyond d", poke(4, "I", 3, 10)),
    ("group documents: one twice", poke(4, "I", 3, 6)),
    ("document rows: another row", poke(5, "I", 4, 2)),
    ("document rows: beyond n", poke(5, "I", 4, 3)),
    ("id offsets: first not 0", poke(6, "Q", 0, 1)),
    ("id offsets: last not the length", poke(6, "Q", -1, 69)),
    ("id offsets: last beyond the length", poke(6, "Q", -1, 71)),
    ("id offsets: not ascending", poke(6, "Q", 3, 7)),
    ("id offsets: empty id", poke(6, "Q", 3, 14)),
    ("id offsets: beyond the length", poke(6, "Q", 3, 2**63)),
    ("id bytes: tab", poke(7, "B", 5, 9)),
    ("id bytes: newline", poke(7, "B", 5, 10)),
    ("id bytes: zero byte", poke(7, "B", 5, 0)),
    ("id bytes: other id than in the lookup", poke(7, "B", 5, 65)),
    ("id lookup: a document is not there", lookup_change(clear_one)),
    ("id lookup: a document is there twice", lookup_change(use_one_more)),
    ("id lookup: beyond d", lookup_change(beyond_the_last)),
    ("id lookup: no empty slot", lookup_change(fill_all)),
    ("metadata offsets: first not 0", poke(9, "Q", 0, 1)),
    ("metadata offsets: last not the length", poke(9, "Q", -1, 134)),
    ("metadata offsets: not ascending", poke(9, "Q", 5, 0)),
    ("metadata offsets: beyond the length", poke(9, "Q", 5, 136)),
    ("texts: no blocks", in_table(15, 0, "I", 77)),
    ("texts: no offsets", in_table(14, 0, "I", 77)),
    ("texts: no bytes", in_table(16, 0, "I", 77)),
    ("text offsets: other count", in_table(14, 24, "Q", 10)),
    ("text offsets: first not 0", poke(14, "Q", 0, 1)),
    ("text offsets: last beyond the blocks", poke(14, "Q", -1, 59)),
    ("text offsets: last before their end", poke(14, "Q", -1, 57)),
    ("text offsets: not ascending", poke(14, "Q", 5, 1)),
    ("text offsets: beyond the blocks", poke(14, "Q", 5, 2**63)),
    ("text offsets: a text in two blocks", poke(14, "Q", 3, 29)),
    ("text blocks: other count", in_table(15, 24, "Q", 3)),
    ("text blocks: first begins late", text_block(0, 0, "Q", 1)),
    ("text blocks: first lies late", text_block(0, 8, "Q", 1)),
    ("text blocks: not ascending", text_block(1, 0, "Q", 0)),
    ("text blocks: beyond the texts", text_block(1, 0, "Q", 2**63)),
    ("text blocks: lie in no order", text_block(1, 8, "Q", 58)),
    ("text blocks: lie behind the bytes", text_block(1, 8, "Q", 2**63)),
    ("text blocks: as long as none can be", text_block(-1, 0, "Q", 2**32)),
    ("text blocks: wrong checksum", poke(15, "Q", 2, 1)),
    ("text blocks: packed, but not", text_block(0, 24, "I", 1)),
    ("text blocks: unknown codec", text_block(1, 24, "I", 2)),
    ("text blocks: not zero", text_block(1, 28, "I", 1)),
    ("text blocks: the end has a checksum", poke(15, "Q", -2, 1)),
    ("text blocks: the end has a codec", text_block(-1, 24, "I", 1)),
    ("text blocks: the end is not zero", text_block(-1, 28, "I", 1)),
    ("text blocks: the last ends before the bytes", text_block(-1, 8, "Q", lambda old: old - 1)),
    ("text bytes: another text than the checksum's", poke(16, "B", 3, 65)),
    ("keys: count is not length", in_table(17, 24, "Q", 10)),
    ("zeros: after the table", lambda segment: segment.__setitem__(4095, 1)),
    ("zeros: after a section", poke(1, "B", 40, 1)),
    ("zeros: before the footer", poke(12, "B", 100, 1)),
    ("footer: zeros", lambda segment: segment.__setitem__(-1, 1)),
    ("footer: file length", lambda segment: segment.__setitem__(-56, segment[-56] ^ 64)),
    ("footer: magic", lambda segment: segment.__setitem__(-57, 13)),
)


def test_lies_in_segments():
    original = write_tested("to-forge.nigh", two_segments()[:1])
    for what, change in SEGMENT_LIES:
        copy = copy_of(original)
        segment = writer.read_file(writer.segment_path(copy, 1))
        before = bytes(segment)
        change(segment)
        expect(bytes(segment) != before, "the forgery changes something: " + what)
        writer.write_file(writer.segment_path(copy, 1), segment)
        writer.mend_collection(copy, 1)
        expect_refused(copy, "segment, " + what)
    copy = copy_of(original)
    writer.mend_collection(copy, 1)
    expect_accepted(copy, "a mended copy without a forgery", 10)


# Segments that break one rule and no other, so that no other check can stand in for the one that is meant.


def segments_with_bad_ids():
    for what, name in (("tab", b"a\tb"), ("newline", b"a\n"), ("zero byte", b"\0b"), ("no byte", b"")):
        yield "id with " + what, writer.segment_bytes([(name, bytes(9), None)], WIDTH)
    documents = second_documents()
    ids = [name for name, _, _ in documents]
    before = [offset + 1 for offset in writer.offsets_of(ids)]
    joined = b"".join(ids)
    bytes_before = [(6, 6, writer.packed("Q", before)), (7, len(joined) + 1, b"?" + joined)]
    yield "id bytes before the first", writer.segment_bytes(documents, WIDTH, other_sections=bytes_before)
    bytes_after = [(7, len(joined) + 1, joined + b"?")]
    yield "id bytes after the last", writer.segment_bytes(documents, WIDTH, other_sections=bytes_after)
    slots = [(8, 24, writer.packed("I", writer.lookup_slots(ids, 24)))]
    yield "24 slots", writer.segment_bytes(documents, WIDTH, other_sections=slots)
    documents = first_documents()[:8]
    slots = [(8, 8, writer.packed("I", writer.lookup_slots([name for name, _, _ in documents], 8)))]
    yield "8 slots for 8 documents", writer.segment_bytes(documents, WIDTH, other_sections=slots)


def segments_with_bad_id_keys():
    documents = first_documents()
    ids = [name for name, _, _ in documents]
    key = writer.id_key(ids)
    other = struct.pack("<Q", key ^ 1)
    slots = [(8, 32, writer.packed("I", writer.lookup_slots(ids, 32, key ^ 1))), (18, 1, other)]
    yield "a key that is not that of the ids", writer.segment_bytes(documents, WIDTH, keyed=True, other_sections=slots)
    slots = [(8, 32, writer.packed("I", writer.lookup_slots(ids, 32)))]
    yield "a lookup without the key", writer.segment_bytes(documents, WIDTH, keyed=True, other_sections=slots)
    yield "a key that is not there", writer.segment_bytes(documents, WIDTH, incompatible_features=2)
    own = [(18, 1, struct.pack("<Q", key))]
    yield "a key that is not said", writer.segment_bytes(documents, WIDTH, more_sections=own)
    yield "two keys", writer.segment_bytes(documents, WIDTH, keyed=True, other_sections=[(18, 2, own[0][2] * 2)])
    nobody = writer.segment_bytes([(None, bytes(9), None)], WIDTH, more_sections=own, incompatible_features=2)
    yield "a key without ids", nobody


def segments_with_bad_metadata():
    documents = [(b"a", bytes(9), b"some"), (b"b", bytes(9), b"more")]
    before = [(9, 3, writer.packed("Q", [1, 5, 9])), (10, 9, b"?somemore")]
    yield "metadata bytes before the first", writer.segment_bytes(documents, WIDTH, other_sections=before)
    after = [(10, 9, b"somemore?")]
    yield "metadata bytes after the last", writer.segment_bytes(documents, WIDTH, other_sections=after)


def segments_with_bad_masks():
    documents = second_documents()
    rows = len({signature for _, signature, _ in documents})
    past = bytes(9) + b"\x01" + bytes(6)
    for what, masks in (
        ("of one signature too few", (20, rows - 1, bytes(16 * (rows - 1)))),
        ("of each document and one", (20, 6, bytes(16 * 6))),
        ("counted in bytes", (20, 16 * rows, bytes(16 * rows))),
        ("that are not padded", (20, rows, bytes(9 * rows))),
        ("with a bit past the width", (20, rows, bytes(16 * (rows - 1)) + past)),
    ):
        yield "masks " + what, writer.segment_bytes(documents, WIDTH, more_sections=[masks])


def segments_with_bad_weights():
    documents = second_documents()
    for what, weights in (
        ("of one document too few", (11, 4, bytes(4 * WIDTH))),
        ("of one document too many", (11, 6, bytes(6 * WIDTH))),
        ("counted in bytes", (11, 5 * WIDTH, bytes(5 * WIDTH))),
        ("a byte short", (11, 5, bytes(5 * WIDTH - 1))),
        ("a byte too long", (11, 5, bytes(5 * WIDTH + 1))),
        ("for whole words", (11, 5, bytes(5 * 128))),
        ("of nobody", (11, 0, b"")),
    ):
        yield "weights " + what, writer.segment_bytes(documents, WIDTH, more_sections=[weights])
    yield "vocabulary of no bytes", writer.segment_bytes(documents, WIDTH, vocabulary=b"")
    yield "vocabulary counted as one", writer.segment_bytes(documents, WIDTH, more_sections=[(12, 1, b"words")])
    twice = [(12, 5, b"words"), (12, 5, b"words")]
    yield "two vocabularies in a segment", writer.segment_bytes(documents, WIDTH, more_sections=twice)
    yield "model of no bytes", writer.segment_bytes(documents, WIDTH, model=b"")
    yield "model counted as one", writer.segment_bytes(documents, WIDTH, more_sections=[(13, 1, b"learned")])
    twice = [(13, 7, b"learned"), (13, 7, b"learned")]
    yield "two models in a segment", writer.segment_bytes(documents, WIDTH, more_sections=twice)


def segments_with_bad_texts():
    documents = second_documents()
    texts = [b"text %d" % i for i in range(5)]
    offsets, entries, joined = writer.text_sections(texts, 10)
    for what, sections in (
        ("none of the blocks", [offsets, (15, 0, b""), joined]),
        ("of one document too few", [(14, 5, offsets[2][:-8]), entries, joined]),
        ("of one document too many", writer.text_sections(texts + [b""], 10)),
        ("twice", [offsets, entries, joined, offsets]),
        ("without blocks", [offsets, joined]),
        ("without bytes", [offsets, entries]),
        ("without offsets", [entries, joined]),
        ("bytes behind the last", [offsets, entries, (16, joined[1] + 1, joined[2] + b"?")]),
        ("an empty block", [offsets, (15, entries[1] + 1, writer.TEXT_BLOCK.pack(0, 0, xxh3_64(b""), 0, 0) + entries[2]), joined]),
    ):
        yield "texts: " + what, writer.segment_bytes(documents, WIDTH, more_sections=sections)
    for what, count in (("none", 0), ("not for all", 9), ("one too many", 129 * 5)):
        keys = [(17, count, bytes(4 * count))]
        yield "keys: " + what, writer.segment_bytes(documents, WIDTH, more_sections=keys)
    yield "keys: of nobody", writer.segment_bytes([], WIDTH, more_sections=[(17, 5, bytes(20))])
    yield "keys: a byte short", writer.segment_bytes(documents, WIDTH, more_sections=[(17, 5, bytes(19))])
    yield "keys: twice", writer.segment_bytes(documents, WIDTH, more_sections=[(17, 5, bytes(20))] * 2)


def segments_with_bad_groups():
    documents = [(None, bytes(9), None), (None, bytes(9), None), (None, b"\1" * 9, None)]
    starts = [(3, 3, writer.packed("I", [1, 2, 3]))]
    yield "a document before the first group", writer.segment_bytes(documents, WIDTH, other_sections=starts)
    starts = [(3, 3, writer.packed("I", [0, 3, 3])), (5, 3, writer.packed("I", [0, 0, 0]))]
    yield "a group without documents", writer.segment_bytes(documents, WIDTH, other_sections=starts)


def segments_with_bad_tables():
    documents = second_documents()
    scheme = b"bits=72\nkind=signatures\n"
    again = [(1, len(scheme), scheme)]
    yield "the same scheme twice", writer.segment_bytes(documents, WIDTH, more_sections=again)
    yield "one more section of type 0", writer.segment_bytes(documents, WIDTH, more_sections=[(0, 3, b"abc")])
    long_scheme = b"bits=72\nlong=" + b"x" * (65537 - 14) + b"\n"
    yield "scheme of 65,537 bytes", writer.segment_bytes(documents, WIDTH, scheme=long_scheme)
    unknown = writer.segment_bytes(documents, WIDTH, more_sections=[(13, 8, b"unknown.")])
    at, offset, _ = writer.sections_of(unknown)[13]
    for what, new_offset, length in (
        ("section at an odd place", offset + 8, 0),
        ("section over another", 4096, 8),
        ("section over the header", 0, 64),
        ("section over the footer", len(unknown) - 64, 64),
        ("section behind the end", len(unknown), 0),
    ):
        segment = bytearray(unknown)
        segment[offset : offset + 8] = bytes(8)
        struct.pack_into("<QQ", segment, at + 8, new_offset, length)
        writer.mend_segment(segment)
        yield what, bytes(segment)
    segment = bytearray(writer.segment_bytes(documents, WIDTH))
    segment[-64:-64] = bytes(8)
    struct.pack_into("<Q", segment, 24, len(segment))
    struct.pack_into("<Q", segment, len(segment) - 56, len(segment))
    writer.mend_segment(segment)
    yield "file length no multiple of 64", bytes(segment)


def test_one_broken_rule():
    makers = (
        segments_with_bad_ids,
        segments_with_bad_id_keys,
        segments_with_bad_metadata,
        segments_with_bad_weights,
        segments_with_bad_masks,
        segments_with_bad_texts,
        segments_with_bad_groups,
        segments_with_bad_tables,
    )
    for make in makers:
        for what, segment in make():
            collection = path("one-rule.nigh")
            shutil.rmtree(collection, ignore_errors=True)
            writer.write_collection(collection, WIDTH, [segment])
            expect_refused(collection, "one rule broken: " + what)


# The manifest has two entries, at 64 and 96.
MANIFEST_LIES = (
    ("version 0", 8, "I", 0),
    ("version 2", 8, "I", 2),
    ("other endianness", 12, "I", 0x04030201),
    ("incompatible feature", 20, "I", 1),
    ("sequence not that of the name", 24, "Q", 2),
    ("next segment is in use", 32, "Q", 2),
    ("next segment 0", 32, "Q", 0),
    ("documents not the sum", 40, "Q", 16),
    ("other width", 48, "I", 80),
    ("width 0", 48, "I", 0),
    ("width of one bit more", 48, "I", 73),
    ("width too great", 48, "I", 65537),
    ("one segment fewer", 52, "I", 1),
    ("endless segments", 52, "I", 2**32 - 1),
    ("segment number 0", 64, "Q", 0),
    ("segment numbers do not ascend", 64, "Q", 2),
    ("segment number equal to the next", 96, "Q", 3),
    ("segment number beyond the next", 96, "Q", 2**63),
    ("other file length", 72, "Q", 8192),
    ("other number of documents", 80, "Q", 11),
    ("too many documents", 80, "Q", 2**32 - 1),
    ("other header checksum", 88, "Q", 1),
)


def test_lies_in_manifests():
    original = write_tested("to-forge-too.nigh")
    for what, offset, code, value in MANIFEST_LIES:
        copy = copy_of(original)
        manifest = writer.read_file(writer.manifest_path(copy, 1))
        struct.pack_into("<" + code, manifest, offset, value)
        if "documents" in what and offset == 80:
            struct.pack_into("<Q", manifest, 40, value + 5)
        writer.mend_manifest(manifest)
        writer.write_file(writer.manifest_path(copy, 1), manifest)
        expect_refused(copy, "manifest, " + what)
    copy = copy_of(original)
    os.rename(writer.manifest_path(copy, 1), writer.manifest_path(copy, 9))
    expect_refused(copy, "manifest under another name")
    collection = path("sequence-0.nigh")
    writer.write_collection(collection, WIDTH, two_segments(), sequence=0)
    expect_refused(collection, "manifest with sequence 0")
    copy = copy_of(original)
    shutil.copyfile(writer.segment_path(copy, 1), writer.segment_path(copy, 2))
    expect_refused(copy, "another segment under a name")


def test_one_broken_rule_of_manifests():
    """As above: nothing but the manifest's own rule can refuse these."""
    for width in (0, 65537, 65544, 2**32 - 1):
        collection = path("impossible-width-%d.nigh" % width)
        writer.write_collection(collection, width, [])
        expect_refused(collection, "a width of %d bits and no segments" % width)
    copy = copy_of(write_tested("to-reorder.nigh"))
    manifest = writer.read_file(writer.manifest_path(copy, 1))
    manifest[64:128] = manifest[96:128] + manifest[64:96]
    writer.mend_manifest(manifest)
    writer.write_file(writer.manifest_path(copy, 1), manifest)
    expect_refused(copy, "segments that are there, in descending order")
    copy = copy_of(path("to-reorder.nigh"))
    os.rename(writer.segment_path(copy, 1), writer.segment_path(copy, 0))
    manifest = writer.read_file(writer.manifest_path(copy, 1))
    manifest[64:72] = bytes(8)
    writer.mend_manifest(manifest)
    writer.write_file(writer.manifest_path(copy, 1), manifest)
    expect_refused(copy, "a segment 0 that is there")


def test_segments_that_disagree():
    first = writer.segment_bytes(first_documents(), WIDTH)
    empty = writer.segment_bytes([], WIDTH, vocabulary=VOCABULARY)
    learned = writer.segment_bytes([], WIDTH, model=MODEL)
    without_ids = [(None, signature, None) for _, signature, _ in second_documents()]
    with_id_of_first = second_documents() + [(b"first-3", bytes(9), None)]
    scheme = b"bits=72\nkind=others\n"
    cases = (
        ("ids in one only", writer.segment_bytes(without_ids, WIDTH)),
        ("an id in both", writer.segment_bytes(with_id_of_first, WIDTH)),
        ("an id twice in one", writer.segment_bytes(second_documents() + second_documents(), WIDTH)),
        ("other scheme", writer.segment_bytes(second_documents(), WIDTH, scheme=scheme)),
        ("other width", writer.segment_bytes([(b"x", bytes(10), None)], 80)),
        ("a vocabulary after documents", writer.segment_bytes(second_documents(), WIDTH, vocabulary=VOCABULARY)),
        ("a vocabulary alone after documents", empty),
        ("a model after documents", writer.segment_bytes(second_documents(), WIDTH, model=MODEL)),
        ("a model alone after documents", learned),
    )
    for number, (what, second) in enumerate(cases):
        collection = write_tested("disagree-%d.nigh" % number, [first, second])
        expect_refused(collection, "segments disagree: " + what)
    for what, one, other in (
        ("vocabulary", empty, writer.segment_bytes([], WIDTH, vocabulary=VOCABULARY + b"more")),
        ("model", learned, writer.segment_bytes([], WIDTH, model=MODEL + b"more")),
    ):
        collection = write_tested("two-of-a-%s.nigh" % what, [one, other])
        expect_refused(collection, "another %s in a later segment" % what)
        collection = write_tested("twice-a-%s.nigh" % what, [one, one])
        expect_accepted(collection, "the same %s once more" % what, 0)


def change_somewhere(rng, content, places):
    """Changes a byte or a number at one of the offsets `places`; small numbers, since those pass more bounds."""
    at = rng.choice(places)
    code, size = rng.choice((("B", 1), ("I", 4), ("Q", 8)))
    at = min(at // size * size, len(content) - size)
    old = struct.unpack_from("<" + code, content, at)[0]
    new = rng.choice((old ^ 1 << rng.randrange(8 * size), old + 1, old - 1, old + 64, 0, rng.randrange(12), -1))
    struct.pack_into("<" + code, content, at, new % 256**size)


def places_in_segment(rng, segment):
    """One offset in each part, so that small parts come up as often as large ones."""
    sections = writer.sections_of(segment).values()
    places = [offset + rng.randrange(length) for _, offset, length in sections]
    return places + [rng.randrange(64), 64 + rng.randrange(48 * len(sections)), len(segment) - 1 - rng.randrange(64)]


VALUED_SCHEME = b"bits=%d\nkeep-key=lang\nkeep-key.2=year\nkind=signatures\n" % WIDTH
VALUES = [(b"en", 2024), (b"de", 2.5), (None, 2024), (b"en", None), (b"", -3), (7, b"then"), (None, None), (b"en", 2024)]


def valued_segment():
    documents = [(b"valued-%d" % i, bytes([i % 3 + 1] * 9), None) for i in range(len(VALUES))]
    content = writer.values_bytes(VALUES)
    return writer.segment_bytes(documents, WIDTH, VALUED_SCHEME, more_sections=[(21, len(content), content)])


def test_values():
    """Written here, read by both; and what the tool finds by them."""
    collection = write_tested("valued.nigh", [valued_segment()])
    expect_accepted(collection, "values", len(VALUES))
    expect([tuple(row) for row in open_collection(collection).values()] == VALUES, "values as they were written")
    query = path("valued.hex")
    writer.write_file(query, b"0" * 18 + b"\n")
    for condition, wanted in (
        ("lang = en", {0, 3, 7}),
        ("lang != en", {1, 4, 5}),
        ("not lang = en", {1, 2, 4, 5, 6}),
        ("year >= 2.5 and not lang in (de, 7)", {0, 2, 7}),
        ("year < 2.5 or year = then", {4, 5}),
    ):
        found = nigh("search", collection, query, "--format", "hex", "-k", "20", "--output", "tsv", "--where", condition)
        ids = {line.split(b"\t")[1] for line in found.stdout.splitlines()}
        expect(ids == {b"valued-%d" % i for i in wanted}, "where " + condition, said(found))


def test_lies_in_values():
    """Chance, with checksums mended; both must say the same."""
    original = write_tested("lying-values.nigh", [valued_segment()])
    whole = writer.read_file(writer.segment_path(original, 1))
    _, offset, length = writer.sections_of(whole)[21]
    accepted = 0
    for number in range(200):
        rng = random.Random(SEED * 3000 + number)
        content = bytearray(whole)
        heads = [offset + rng.randrange(56)]
        change_somewhere(rng, content, heads + [offset + rng.randrange(length) for _ in range(3)])
        copy = copy_of(original)
        writer.write_file(writer.segment_path(copy, 1), content)
        writer.mend_collection(copy, 1)
        accepted += expect_same_verdict(copy, "change %d of values, seed %d" % (number, SEED))
    expect(0 < accepted < 200, "changes of values are neither all accepted nor all refused", accepted)
    documents = [(b"valued", bytes(9), None)]
    content = writer.values_bytes([(b"en", 1)])
    without = writer.segment_bytes(documents, WIDTH, more_sections=[(21, len(content), content)])
    expect_refused(write_tested("keyless.nigh", [without]), "values without keys to keep")
    none = writer.segment_bytes([], WIDTH, VALUED_SCHEME, more_sections=[(21, 56, writer.values_bytes([], 2))])
    expect_refused(write_tested("valueless.nigh", [none]), "values of no documents")
    fewer = writer.segment_bytes(documents, WIDTH, VALUED_SCHEME)
    expect_accepted(write_tested("unvalued.nigh", [fewer]), "keys to keep and no values", 1)


def test_random_lies():
    """Chance finds what the tables above forget.  Checksums are mended, so the verdict is about the contents."""
    documents = first_documents()[:6]
    weights = first_weights()[:6]
    more = kept_sections(first_texts()[:6], first_keys()[:6]) + [(19, 8, bytes(8)), (20, 3, bytes(48)), (22, 3, b"abc")]
    first = writer.segment_bytes(documents, WIDTH, weights=weights, vocabulary=VOCABULARY, model=MODEL, more_sections=more)
    segments = [first, two_segments()[1]]
    collection = path("random.nigh")
    accepted = 0
    for number in range(300):
        rng = random.Random(SEED * 1000 + number)
        shutil.rmtree(collection, ignore_errors=True)
        writer.write_collection(collection, WIDTH, segments)
        in_manifest = rng.randrange(5) == 0
        name = writer.manifest_path(collection, 1) if in_manifest else writer.segment_path(collection, 1)
        content = writer.read_file(name)
        places = range(len(content)) if in_manifest else places_in_segment(rng, content)
        change_somewhere(rng, content, places)
        if not in_manifest and rng.randrange(2) == 0:
            mend_texts_if_possible(content)
        writer.write_file(name, content)
        mend_what_can_be(collection)
        accepted += expect_same_verdict(collection, "random change %d, seed %d" % (number, SEED))
    expect(0 < accepted < 300, "random changes are neither all accepted nor all refused", accepted)


def mend_texts_if_possible(segment):
    try:
        writer.mend_texts(segment)
    except struct.error:  # the change made the table leave the file
        pass


def mend_what_can_be(collection):
    try:
        writer.mend_collection(collection, 1)
    except (OSError, struct.error):  # the change made the manifest name no segment, or the table leave the file
        manifest = writer.read_file(writer.manifest_path(collection, 1))
        writer.mend_manifest(manifest)
        writer.write_file(writer.manifest_path(collection, 1), manifest)


def expect_same_verdict(collection, what):
    """True where both accept, and then both read the same."""
    theirs = nigh("check", collection)
    try:
        opened = open_collection(collection)
        opened.check()
    except (FormatError, FileNotFoundError) as error:
        expect(theirs.returncode == 2, what, "the reader says: %s; nigh check says: %s" % (error, said(theirs)))
        return False
    expect(theirs.returncode == 0, what, "the reader accepts; nigh check says: " + said(theirs))
    exported = nigh("export", collection, "--format", "hex", "-o", "-")
    lines = b"".join(exported_line(name, signature) for name, signature, _ in opened.documents())
    expect(exported.stdout == lines, what + ", export", said(exported))
    return True


# Slice lists.


def write_sliced(name, slices, **options):
    """The collection of write_tested(), with slice lists for its first segment."""
    collection = write_tested(name)
    content = writer.slices_bytes(two_segments()[0], slices, **options)
    writer.write_file(writer.slices_path(collection, 1), content)
    return collection


def test_padding():
    """Bits of the last byte from the width on, where all checksums are right."""
    for width in (1, 7, 9, 63, 65):
        size = (width + 7) // 8
        for bit in range(8 * size):
            collection = path("padding-%d-%d.nigh" % (width, bit))
            signature = (1 << bit).to_bytes(size, "little")
            writer.write_collection(collection, width, [writer.segment_bytes([(None, signature, None)], width)])
            if bit < width:
                if bit + 1 == width:
                    expect_accepted(collection, "the last bit of %d" % width, 1)
            else:
                expect_refused(collection, "bit %d of %d" % (bit, width))


def test_uneven_slices():
    """Slices of 63 bits, of which the last has fewer, and of widths below that of the narrowest slice asked for."""
    golden = os.path.join(HERE, os.pardir, "golden", "v1-padded.nigh")
    opened = open_collection(golden)
    expect(sorted(opened.slices) == [1, 2] and not opened.damaged_slices, "padded lists", opened.damaged_slices)
    for number in (1, 2):
        segment = writer.read_file(writer.segment_path(golden, number))
        lists = writer.read_file(writer.slices_path(golden, number))
        # What bits cost by their weights does not follow from the rows.
        costs = [section for section in opened.slices[number].in_order if section.type == 2][0]
        more = [(2, costs.count, bytes(lists[costs.offset : costs.end]))]
        same = lists == writer.slices_bytes(segment, 8, more_sections=more)
        expect(same, "padded lists of segment %d" % number)
    expect(opened.slices[1].bits == [8] * 7 + [7], "slices of 63 bits", opened.slices[1].bits)
    rng = random.Random(SEED + 63)
    for width in (4, 5, 6, 7, 9, 13):
        values = rng.sample(range(2**width), 12)
        documents = [(None, value.to_bytes((width + 7) // 8, "little"), None) for value in values]
        segment = writer.segment_bytes(documents, width)
        possible = {-(-width // most) for most in range(4, min(28, width) + 1)}
        for slices in range(1, width + 1):
            collection = path("uneven-%d-%d.nigh" % (width, slices))
            writer.write_collection(collection, width, [segment])
            writer.write_file(writer.slices_path(collection, 1), writer.slices_bytes(segment, slices))
            what = "%d slices of %d bits" % (slices, width)
            if slices in possible:
                expect_accepted(collection, what, 12)
            else:
                expect_refused(collection, what)


def test_golden_slices():
    """The library's lists are those that this side makes, byte for byte."""
    collection = os.path.join(HERE, os.pardir, "golden", "v1-sliced.nigh")
    opened = open_collection(collection)
    expect(sorted(opened.slices) == [1, 2] and not opened.damaged_slices, "golden lists", opened.damaged_slices)
    for number in (1, 2):
        segment = writer.read_file(writer.segment_path(collection, number))
        same = writer.read_file(writer.slices_path(collection, number)) == writer.slices_bytes(segment, 11)
        expect(same, "golden lists of segment %d" % number)
    lists = opened.slices[1]
    row = lists.segment.row_number(3)
    expect(3 in lists.rows_with(0, row & 127) and 3 in lists.rows_with(10, row >> 66), "a row is in its lists")


def test_slices_written_here():
    """All numbers of slices there are, and none other."""
    possible = {-(-WIDTH // most) for most in range(4, 29)}
    for slices in range(1, 20):
        if -(-WIDTH // slices) > 14:
            continue  # lists of some megabytes, to no purpose
        collection = write_sliced("slices-%d.nigh" % slices, slices)
        if slices in possible:
            expect_accepted(collection, "%d slices" % slices, 15)
        else:
            expect_refused(collection, "%d slices" % slices)
    later = [(2, 3, b"abc"), (900, 0, b"")]
    expect_accepted(write_sliced("later-lists.nigh", 9, more_sections=later, compatible_features=6), "later lists", 15)
    many = [(kind, 0, b"") for kind in range(2, 17)]
    expect_accepted(write_sliced("many-sections.nigh", 9, more_sections=many), "16 sections", 15)
    expect_refused(write_sliced("too-many-sections.nigh", 9, more_sections=many + [(17, 0, b"")]), "17 sections")


def test_damaged_slices():
    """Checks find every change; reading goes on without the lists."""
    original = write_sliced("sliced.nigh", 11, more_sections=[(5, 3, b"abc")])
    expect_accepted(original, "slice lists before the damage", 15)
    name = os.path.basename(writer.slices_path(original, 1))
    content = writer.read_file(os.path.join(original, name))
    documents = [(name, signature) for name, signature, _ in first_documents() + second_documents()]
    places = list(range(0, 64, 3)) + list(range(64, 64 + 96, 4)) + [4000, 4095, 4096, 5000, len(content) - 100]
    for offset in places + [len(content) - 64 + i for i in (0, 8, 16, 24, 63)]:
        expect_flip_refused(original, name, offset, "slice lists")
    expect_still_read(path("copy.nigh"), documents)
    other = writer.slices_bytes(two_segments()[1], 11)
    for what, changed in (
        ("empty", b""),
        ("cut", content[:-64]),
        ("longer", content + bytes(64)),
        ("of another segment", other),
        ("a segment", two_segments()[0]),
    ):
        copy = copy_of(original)
        writer.write_file(os.path.join(copy, name), changed)
        expect_refused(copy, "slice lists: " + what)
        expect_still_read(copy, documents)


def expect_still_read(collection, documents):
    lines = b"".join(hex_line(name, signature) for name, signature in documents)
    listed = reader(collection)
    expect(listed.returncode == 0 and listed.stdout == lines, "read without lists", said(listed))
    exported = nigh("export", collection, "--format", "hex", "-o", "-")
    expect(exported.returncode == 0 and exported.stdout == lines, "export without lists", said(exported))


def test_lies_in_slices():
    """Any change of a number under right checksums is found: all of them follow from the signatures."""
    original = write_sliced("lying.nigh", 11, more_sections=[(5, 3, b"abc")])
    whole = writer.read_file(writer.slices_path(original, 1))
    accepted = 0
    for number in range(150):
        rng = random.Random(SEED * 2000 + number)
        content = bytearray(whole)
        places = [16, rng.randrange(64), 64 + rng.randrange(96), len(whole) - 1 - rng.randrange(64)]
        places += [4096 + rng.randrange(len(whole) - 4096 - 64) for _ in range(3)]
        change_somewhere(rng, content, places)
        writer.mend_slices(content)
        copy = copy_of(original)
        writer.write_file(writer.slices_path(copy, 1), content)
        accepted += expect_same_verdict(copy, "change %d of slice lists, seed %d" % (number, SEED))
    expect(0 < accepted < 150, "changes of lists are neither all accepted nor all refused", accepted)


def write_turned(name, **options):
    """A collection of two segments, the first with columns."""
    collection = path(name)
    writer.write_collection(collection, WIDTH, two_segments())
    writer.write_file(writer.columns_path(collection, 1), writer.columns_bytes(two_segments()[0], **options))
    return collection


def test_golden_columns():
    """The library's columns are those that this side makes, byte for byte."""
    collection = os.path.join(HERE, os.pardir, "golden", "v1-columns.nigh")
    opened = open_collection(collection)
    expect(sorted(opened.columns) == [1, 2] and not opened.damaged_slices, "golden columns", opened.damaged_slices)
    for number in (1, 2):
        segment = writer.read_file(writer.segment_path(collection, number))
        same = writer.read_file(writer.columns_path(collection, number)) == writer.columns_bytes(segment)
        expect(same, "golden columns of segment %d" % number)
    columns = opened.columns[1]
    expect(columns.section.count == 2, "golden columns have two super-blocks")
    row = columns.segment.row_number(1030)
    expect(all(columns.column(1, bit) >> 6 & 1 == row >> bit & 1 for bit in range(16)), "a row is in its columns")


def test_columns_written_here():
    """Of 1,024 rows alone; later sections are passed over."""
    expect_accepted(write_turned("columns.nigh"), "columns", 15)
    later = [(2, 3, b"abc"), (900, 0, b"")]
    expect_accepted(write_turned("later-columns.nigh", more_sections=later, compatible_features=6), "later columns", 15)
    for rows in (0, 512, 2048):
        expect_refused(write_turned("columns-%d.nigh" % rows, super_rows=rows), "super-blocks of %d rows" % rows)


def test_damaged_columns():
    """Checks find every change; reading goes on without the columns."""
    original = write_turned("turned.nigh", more_sections=[(5, 3, b"abc")])
    name = os.path.basename(writer.columns_path(original, 1))
    content = writer.read_file(os.path.join(original, name))
    documents = [(name, signature) for name, signature, _ in first_documents() + second_documents()]
    places = list(range(0, 64, 3)) + list(range(64, 64 + 96, 4)) + [4000, 4095, 4096, 5000, len(content) - 100]
    for offset in places + [len(content) - 64 + i for i in (0, 8, 16, 24, 63)]:
        expect_flip_refused(original, name, offset, "columns")
    expect_still_read(path("copy.nigh"), documents)
    other = writer.columns_bytes(two_segments()[1])
    lists = writer.slices_bytes(two_segments()[0], 11)
    for what, changed in (("empty", b""), ("cut", content[:-64]), ("of another segment", other), ("lists", lists)):
        copy = copy_of(original)
        writer.write_file(os.path.join(copy, name), changed)
        expect_refused(copy, "columns: " + what)
        expect_still_read(copy, documents)


def test_lies_in_columns():
    """Any change of a bit under right checksums is found: all of them follow from the signatures."""
    original = write_turned("lying-columns.nigh", more_sections=[(5, 3, b"abc")])
    whole = writer.read_file(writer.columns_path(original, 1))
    accepted = 0
    for number in range(100):
        rng = random.Random(SEED * 3000 + number)
        content = bytearray(whole)
        places = [16, rng.randrange(64), 64 + rng.randrange(96), len(whole) - 1 - rng.randrange(64)]
        places += [4096 + rng.randrange(len(whole) - 4096 - 64) for _ in range(3)]
        change_somewhere(rng, content, places)
        writer.mend_slices(content)
        copy = copy_of(original)
        writer.write_file(writer.columns_path(copy, 1), content)
        accepted += expect_same_verdict(copy, "change %d of columns, seed %d" % (number, SEED))
    expect(0 < accepted < 100, "changes of columns are neither all accepted nor all refused", accepted)


PERMUTED = (1, 4, 3, 3, 4, 1, 0, 0)
CHOSEN_PAIRS = (1, 6, 5, 2, 4, 2, 0, 0)
SORTED = (2, 2, 3, 3, 0, 0, 9, 0)


def write_tabled(name, facts, **options):
    """A collection of two segments, the first with tables."""
    collection = path(name)
    writer.write_collection(collection, WIDTH, two_segments())
    writer.write_file(writer.tables_path(collection, 1), writer.tables_bytes(two_segments()[0], facts, **options))
    return collection


def test_golden_tables():
    """The library's tables are those that this side makes, byte for byte."""
    for name, tables in (("v1-tables.nigh", 4), ("v1-sorted.nigh", 2)):
        collection = os.path.join(HERE, os.pardir, "golden", name)
        opened = open_collection(collection)
        expect(sorted(opened.tables) == [1, 2] and not opened.damaged_slices, name, opened.damaged_slices)
        for number in (1, 2):
            held = opened.tables[number]
            expect(held.tables == tables, "tables of %s" % name)
            facts = (held.form, tables, held.bits, held.radius, held.blocks, held.leading, held.probes, 0)
            segment = writer.read_file(writer.segment_path(collection, number))
            same = writer.read_file(writer.tables_path(collection, number)) == writer.tables_bytes(segment, facts)
            expect(same, "%s: tables of segment %d" % (name, number))


def test_tables_written_here():
    """Both forms; later sections are passed over; facts that cannot be are refused."""
    for i, facts in enumerate((PERMUTED, CHOSEN_PAIRS, SORTED)):
        expect_accepted(write_tabled("tables-%d.nigh" % i, facts), "tables %d" % i, 15)
        later = [(3, 3, b"abc"), (900, 0, b"")]
        more = write_tabled("later-tables-%d.nigh" % i, facts, more_sections=later, compatible_features=6)
        expect_accepted(more, "later tables %d" % i, 15)
        original = path("tables-%d.nigh" % i)
        for field in range(8):
            for lie in (0, 2, 7, 2**32 - 1):
                content = writer.read_file(writer.tables_path(original, 1))
                struct.pack_into("<I", content, 4096 + 4 * field, lie)
                writer.mend_slices(content)
                copy = copy_of(original)
                writer.write_file(writer.tables_path(copy, 1), content)
                expect_same_verdict(copy, "fact %d of tables %d: %d" % (field, i, lie))


def test_lies_in_tables():
    """Any change under right checksums is found: all of it follows from the signatures and the facts."""
    for which, facts in enumerate((PERMUTED, SORTED)):
        original = write_tabled("lying-tables-%d.nigh" % which, facts, more_sections=[(5, 3, b"abc")])
        whole = writer.read_file(writer.tables_path(original, 1))
        documents = [(name, signature) for name, signature, _ in first_documents() + second_documents()]
        accepted = 0
        for number in range(40):
            rng = random.Random(SEED * 4000 + number)
            content = bytearray(whole)
            places = [16, rng.randrange(64), 64 + rng.randrange(144), len(whole) - 1 - rng.randrange(64)]
            places += [4096 + rng.randrange(len(whole) - 4096 - 64) for _ in range(3)]
            change_somewhere(rng, content, places)
            writer.mend_slices(content)
            copy = copy_of(original)
            writer.write_file(writer.tables_path(copy, 1), content)
            accepted += expect_same_verdict(copy, "change %d of tables, seed %d" % (number, SEED))
            expect_still_read(copy, documents)
        expect(accepted < 40, "changes of tables are not all accepted", accepted)


def write_living(name, form, content, deleted, order=(1, 2)):
    """Two segments of these numbers, of the first of which documents are deleted, as `content` says."""
    collection = path(name)
    segments = dict(zip(order, two_segments()))
    gone = writer.deleted_bytes(segments[order[0]], form, content)
    shutil.rmtree(collection, ignore_errors=True)
    os.mkdir(collection)
    for number, segment in segments.items():
        writer.write_file(writer.segment_path(collection, number), segment)
    writer.write_file(writer.deleted_path(collection, 7), gone)
    manifest = writer.manifest_bytes(1, WIDTH, segments, deletions={order[0]: (7, gone, deleted)}, order=order)
    writer.write_file(writer.manifest_path(collection, 1), manifest)
    return collection


def test_deletions_written_here():
    """Both forms, of sets that are made here; segments in another order."""
    documents = len(first_documents())
    everything = len(first_documents() + second_documents())
    for deleted in ({0}, {documents - 1}, {1, 2, 3}, {0, 2, 4}, set(range(documents))):
        for form, content in enumerate((writer.runs_bytes(deleted), writer.bitmap_bytes(deleted, documents))):
            collection = write_living("deleted.nigh", form, content, len(deleted))
            expect_accepted(collection, "deleted %s" % sorted(deleted), everything - len(deleted))
    swapped = write_living("swapped.nigh", 0, writer.runs_bytes({1}), 1, order=(5, 2))
    expect_accepted(swapped, "segments that do not ascend", everything - 1)


def test_lies_in_deletions():
    """What cannot be, under right checksums."""
    n = len(first_documents())
    number = writer.number_bytes
    bits = writer.bitmap_bytes
    lies = {
        "a run past the end": (0, number(2 * (n - 1) + 1) + number(0), 2),
        "a run that touches": (0, number(0) + number(0), 2),
        "a number of too many bytes": (0, b"\x82\x00", 1),
        "a number without an end": (0, b"\x82", 1),
        "a number that is too great": (0, b"\xff" * 5 + b"\x01", 1),
        "no run": (0, b"", 1),
        "fewer than the manifest says": (0, writer.runs_bytes({1}), 2),
        "more than the manifest says": (0, writer.runs_bytes({1, 2}), 1),
        "a bit past the last": (1, bits({n}, 64), 1),
        "a short bitmap": (1, b"\x01", 1),
        "a form there is not": (2, b"\x01", 1),
    }
    for what, (form, content, deleted) in lies.items():
        expect_refused(write_living("lies.nigh", form, content, deleted), "deletions: " + what)


def test_damaged_deletions():
    """Nothing opens a collection of which it is not certain what is deleted."""
    original = write_living("to-damage.nigh", 0, writer.runs_bytes({1, 2, 5}), 3)
    name = os.path.basename(writer.deleted_path(original, 7))
    content = writer.read_file(os.path.join(original, name))
    places = list(range(0, 64, 3)) + list(range(64, 64 + 48, 4)) + [4000, 4096, 4097, len(content) - 100]
    for offset in places + [len(content) - 64 + i for i in (0, 8, 16, 24, 63)]:
        expect_flip_refused(original, name, offset, "deletions")
    other = writer.deleted_bytes(two_segments()[1], 0, writer.runs_bytes({1, 2, 5}))
    for what, changed in (("empty", b""), ("cut", content[:-64]), ("of another segment", other)):
        copy = copy_of(original)
        writer.write_file(os.path.join(copy, name), changed)
        expect_refused(copy, "deletions: " + what)
    copy = copy_of(original)
    os.remove(os.path.join(copy, name))
    expect_refused(copy, "deletions: missing")
    for kept in (copy, path("copy.nigh")):
        expect(nigh("export", kept, "-q", "-o", "-").returncode == 2, "export without certain deletions")


def test_deletions_of_the_tool():
    """What the tool deletes and replaces, in several commits, is what this side reads."""
    rng = random.Random(SEED)
    collection = path("living.nigh")
    there = {}
    for batch in range(3):
        documents = [(b"d%d" % (100 * batch + i), rng.randbytes(WIDTH // 8)) for i in range(100)]
        index(collection, documents)
        there.update(documents)
        gone = rng.sample(sorted(there), 40)
        result = nigh("delete", collection, *(name.decode() for name in gone))
        expect(result.returncode == 0, "delete", said(result))
        for name in gone:
            del there[name]
        changed = [(name, rng.randbytes(WIDTH // 8)) for name in rng.sample(sorted(there), 10)]
        index(collection, changed, "--replace")
        for name, signature in changed:
            del there[name]
            there[name] = signature
        opened = open_collection(collection)
        expect([(name, signature) for name, signature, _ in opened.documents()] == list(there.items()), "what lives")
        expect(opened.check() == len(there) and opened.find(gone[0]) is None, "a check of what lives")
        lines = b"".join(hex_line(name, signature) for name, signature in there.items())
        expect(nigh("export", "-q", collection, "-o", "-").stdout == lines, "export of what lives")


def test_errors_say_where():
    """The errors of the reader name the file and the offset."""
    copy = copy_of(write_tested("to-name.nigh"))
    segment = writer.read_file(writer.segment_path(copy, 1))
    _, offset, _ = writer.sections_of(segment)[5]
    struct.pack_into("<I", segment, offset + 16, 3)
    writer.write_file(writer.segment_path(copy, 1), segment)
    listed = reader(copy)
    where = b"segment-%020d at offset %d" % (1, offset + 16)
    expect(listed.returncode == 2 and where in listed.stderr, "errors name file and offset", said(listed))
    checked = reader("--check", copy)
    refused = checked.returncode == 2 and checked.stdout == b"" and checked.stderr != b""
    expect(refused, "the reader as a script refuses", said(checked))
    expect(nigh("export", copy, "--format", "hex", "-o", "-").returncode == 2, "export finds a row out of bounds")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    os.mkdir(WORK)
    for name, test in sorted(globals().items()):
        if name.startswith("test_") and (len(sys.argv) == 1 or name in sys.argv[1:]):
            test()
    print("%d passed, %d failed (seed %d)" % (passed, failed, SEED))
    if failed == 0:
        shutil.rmtree(WORK)
    return 1 if failed else 0


if __name__ == "__main__":
    NIGH = os.environ.get("NIGH", "")
    if not NIGH:
        sys.exit("test_format_reader: set NIGH to the path of the nigh tool")
    NIGH = os.path.abspath(NIGH)
    sys.exit(main())
