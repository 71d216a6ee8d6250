#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads a collection of nigh, knowing nothing but docs/format.md.

This is the second opinion on the format: it shares no code with the library, so where the two read a collection
differently, the document or one of them is wrong.  It is written to be compared with the document section by section,
and holds whole files in memory.

    format_reader.py DIR            prints ID<TAB>hex for each document
    format_reader.py --check DIR    verifies every statement of the document and prints `ok DOCUMENTS`

Opening checks what "Reading with suspicion" lists for opening; numbers read later are compared with their bounds
before use; check() does the rest: all checksums, the sections against each other, and zeros wherever zeros belong.
"""

import argparse
import itertools
import math
import os
import re
import struct
import subprocess
import sys
from array import array
from bisect import bisect_right

from siphash import siphash
from xxh3 import xxh3_64

VERSION = 1
ENDIANNESS_MARK = 0x01020304
MANIFEST_MAGIC = b"\x89NIGHM\r\n"
SEGMENT_MAGIC = b"\x89NIGHS\r\n"
SIDECAR_MAGIC = b"\x89NIGHX\r\n"
FOOTER_MAGIC = b"NIGHEND\n"

HEADER_SIZE = 64  # of a manifest and of a segment alike
MANIFEST_ENTRY_SIZE = 32
LIVING_ENTRY_SIZE = 64
LIVING = 1  # incompatible feature of manifests
TABLE_ENTRY_SIZE = 48
SECTIONS_START = 4096
ALIGNMENT = 64
FOOTER_SIZE = 64

MAX_SEGMENTS = 65536
MAX_DOCUMENTS = 2**32 - 2
MAX_WIDTH = 65536
MAX_SECTIONS = 84
MAX_SIDECAR_SECTIONS = 16
MAX_SCHEME = 65536
MAX_ID = 65535
MAX_METADATA = 16 << 20
MAX_LOOKUP = 2**32
MAX_KEPT = 2**32  # bytes of a vocabulary or a model
MAX_TEXT = 2**31
MAX_TEXT_BLOCK = MAX_TEXT + 65536  # unpacked
MAX_KEYS = 128  # of a document
MAX_OF_A_BYTE = 32768  # that a byte packed by zstd becomes

SCHEME, SIGNATURES, GROUP_STARTS, GROUP_DOCUMENTS, DOCUMENT_ROWS = 1, 2, 3, 4, 5
ID_OFFSETS, ID_BYTES, ID_LOOKUP, METADATA_OFFSETS, METADATA_BYTES = 6, 7, 8, 9, 10
WEIGHTS, VOCABULARY, MODEL = 11, 12, 13
MASKS = 20
TEXT_OFFSETS, TEXT_BLOCKS, TEXT_BYTES, KEYS, ID_KEY = 14, 15, 16, 17, 18
THRESHOLDS = 19
VALUES = 21
MAX_KEEP_KEYS = 16
MAX_VALUE = 65535
TEXT_BLOCK_SIZE = 32  # of an entry of section 15
PLAIN, ZSTD = 0, 1  # codecs
KEY_BLOCK = 4096  # documents whose keys stand together
KEPT = (VOCABULARY, MODEL, THRESHOLDS)  # once in a collection, before all documents
SECTION_NAMES = {
    SCHEME: "scheme",
    SIGNATURES: "signatures",
    GROUP_STARTS: "group starts",
    GROUP_DOCUMENTS: "group documents",
    DOCUMENT_ROWS: "document rows",
    ID_OFFSETS: "id offsets",
    ID_BYTES: "id bytes",
    ID_LOOKUP: "id lookup",
    METADATA_OFFSETS: "metadata offsets",
    METADATA_BYTES: "metadata bytes",
    WEIGHTS: "weights",
    MASKS: "masks",
    VOCABULARY: "vocabulary",
    MODEL: "model",
    TEXT_OFFSETS: "text offsets",
    TEXT_BLOCKS: "text blocks",
    TEXT_BYTES: "text bytes",
    KEYS: "keys",
    ID_KEY: "id key",
    THRESHOLDS: "thresholds",
    VALUES: "values",
}
REQUIRED = (SCHEME, SIGNATURES, GROUP_STARTS, GROUP_DOCUMENTS, DOCUMENT_ROWS)
TOGETHER = (
    (ID_OFFSETS, ID_BYTES, ID_LOOKUP),
    (METADATA_OFFSETS, METADATA_BYTES),
    (TEXT_OFFSETS, TEXT_BLOCKS, TEXT_BYTES),
)

SLICES_KIND = 1
SLICE_LISTS = 1  # section of an sidecar
GRAPH_KIND = 2
GRAPH_ITEMS = {1: 64, 2: 4, 3: 4, 4: 4, 5: 4, 6: 4, 7: 8}  # bytes of an item, by section
CENTRE_ITEMS = {8: 8, 9: 4, 10: 8, 11: 4}  # of those that are there where there are centres
MAX_SAMPLE_STEP = 4096
MAX_SEED_BITS = 24
COLUMNS_KIND = 3
DELETIONS_KIND = 255
DELETED_SET = 1  # section of deletions
RUNS, BITMAP = 0, 1  # forms of the set
TABLES_KIND = 4
SUPER_BLOCKS = 1  # section of columns
SUPER_ROWS = 1024
MAX_DEGREE = 256
MIN_SLICE_BITS, MAX_SLICE_BITS = 4, 28

MANIFEST_NAME = re.compile(r"manifest-([0-9]{20})\Z")
ID_FORBIDDEN = re.compile(rb"[\0\t\n]")
ANY_IDS, KEYED_IDS = 1, 2  # incompatible features of segments


class FormatError(Exception):
    """A file is not as the document says; `offset` is where, or None where the file as a whole is meant."""

    def __init__(self, file, offset, message):
        where = "" if offset is None else " at offset %d" % offset
        super().__init__("%s%s: %s" % (file, where, message))
        self.file = file
        self.offset = offset
        self.message = message


class NewerVersion(FormatError):
    """A file that needs a newer reader: never passed over as damaged."""


class Missing(FormatError):
    """A segment that the manifest lists is not in the directory."""


class Bytes:
    """The bytes of one file, and the way to complain about them."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as stream:
            self.data = stream.read()

    def __len__(self):
        return len(self.data)

    def require(self, condition, offset, message):
        if not condition:
            raise FormatError(self.path, offset, message)

    def number(self, offset, size):
        self.require(offset + size <= len(self.data), offset, "the file ends here")
        return int.from_bytes(self.data[offset : offset + size], "little")

    def u32(self, offset):
        return self.number(offset, 4)

    def u64(self, offset):
        return self.number(offset, 8)

    def numbers(self, offset, count, size):
        """`count` numbers of `size` bytes as an array."""
        code = next(c for c in "ILQ" if array(c).itemsize == size)
        result = array(code)
        result.frombytes(self.data[offset : offset + count * size])
        if sys.byteorder == "big":
            result.byteswap()
        return result

    def checksum(self, start, length):
        return xxh3_64(self.data[start : start + length])

    def require_zeros(self, start, end):
        left = self.data[start:end].lstrip(b"\0")
        self.require(not left, end - len(left), "a byte that belongs to nothing is not zero")

    def require_beginning(self, magic):
        """Bytes 0 to 15, which keep their place in every version, so nothing else is looked at before them."""
        self.require(self.data[:8] == magic, 0, "wrong magic")
        self.require(self.u32(12) == ENDIANNESS_MARK, 12, "wrong endianness mark")
        version = self.u32(8)
        if version > VERSION:
            raise NewerVersion(self.path, 8, "version %d is newer than this reader (%d)" % (version, VERSION))
        self.require(version == VERSION, 8, "unknown version %d" % version)

    def require_header_checksum(self, more):
        """The checksum at 56, of the bytes before it and of the `more` bytes after it."""
        covered = self.data[:56] + self.data[HEADER_SIZE : HEADER_SIZE + more]
        self.require(self.u64(56) == xxh3_64(covered), 56, "wrong header checksum")

    def require_known_features(self, known=0):
        if self.u32(20) & ~known:
            raise NewerVersion(self.path, 20, "unknown incompatible features 0x%08x" % self.u32(20))


def require_width(file, offset, width):
    file.require(1 <= width <= MAX_WIDTH, offset, "impossible width %d" % width)


class ManifestEntry:
    def __init__(self, file, offset, living):
        self.offset = offset
        self.deletions = self.deletions_length = self.deleted = self.deletions_checksum = 0
        if living:
            self.deletions = file.u64(offset + 32)
            self.deletions_length = file.u64(offset + 40)
            self.deleted = file.u64(offset + 48)
            self.deletions_checksum = file.u64(offset + 56)
        self.number = file.u64(offset)
        self.file_length = file.u64(offset + 8)
        self.documents = file.u64(offset + 16)
        self.header_checksum = file.u64(offset + 24)


class Manifest:
    def __init__(self, path, sequence):
        file = Bytes(path)
        file.require_beginning(MANIFEST_MAGIC)
        segments = file.u32(52)
        file.require(segments <= MAX_SEGMENTS, 52, "too many segments: %d" % segments)
        self.living = bool(file.u32(20) & LIVING)
        size = LIVING_ENTRY_SIZE if self.living else MANIFEST_ENTRY_SIZE
        expected = HEADER_SIZE + size * segments
        file.require(len(file) == expected, None, "has %d bytes, not %d" % (len(file), expected))
        file.require_header_checksum(size * segments)
        file.require_known_features(LIVING)
        file.require(file.u64(24) == sequence, 24, "the sequence is not that of the file name")
        file.require(sequence >= 1, 24, "sequences begin at 1")
        self.path = path
        self.sequence = sequence
        self.next_segment = file.u64(32)
        self.documents = file.u64(40)
        self.width = file.u32(48)
        require_width(file, 48, self.width)
        self.entries = [ManifestEntry(file, HEADER_SIZE + size * i, self.living) for i in range(segments)]
        self.require_entries(file)

    def require_entries(self, file):
        previous = 0  # so that the first number is not 0
        numbers = set()
        for entry in self.entries:
            file.require(self.living or entry.number > previous, entry.offset, "segment numbers do not ascend")
            file.require(entry.number != 0 and entry.number not in numbers, entry.offset, "a number is 0 or twice there")
            numbers.add(entry.number)
            self.require_deletions(file, entry, numbers)
            file.require(entry.number < self.next_segment, entry.offset, "segment number not below the next segment")
            file.require(entry.documents <= MAX_DOCUMENTS, entry.offset + 16, "too many documents in a segment")
            previous = entry.number
        total = sum(entry.documents for entry in self.entries)
        file.require(self.documents == total, 40, "documents: %d, the entries say %d" % (self.documents, total))


    def require_deletions(self, file, entry, numbers):
        at = entry.offset + 32
        if entry.deletions == 0:
            nothing = entry.deletions_length == entry.deleted == entry.deletions_checksum == 0
            file.require(nothing, at, "something is said of no deletions")
            return
        file.require(entry.deletions < self.next_segment, at, "number of deletions not below the next segment")
        file.require(entry.deletions not in numbers, at, "a number is twice there")
        numbers.add(entry.deletions)
        file.require(1 <= entry.deleted <= entry.documents, at + 16, "an impossible number of deleted documents")


class Section:
    """An entry of the section table."""

    def __init__(self, file, table_offset):
        self.table_offset = table_offset
        self.type = file.u32(table_offset)
        self.offset = file.u64(table_offset + 8)
        self.length = file.u64(table_offset + 16)
        self.count = file.u64(table_offset + 24)
        self.checksum = file.u64(table_offset + 32)
        self.name = SECTION_NAMES.get(self.type, "type %d" % self.type)
        file.require(self.type != 0, table_offset, "section of type 0")
        file.require(file.u32(table_offset + 4) == 0, table_offset + 4, "not zero")
        file.require(file.u64(table_offset + 40) == 0, table_offset + 40, "not zero")

    @property
    def end(self):
        return self.offset + self.length


class Sectioned:
    """What segments and sidecars have in common; `file`, `table_entries` and `in_order` are set by them."""

    def require_length(self):
        file = self.file
        length = file.u64(24)
        least = SECTIONS_START + FOOTER_SIZE
        file.require(len(file) == length, 24, "has %d bytes, the header says %d" % (len(file), length))
        file.require(length >= least and length % ALIGNMENT == 0, 24, "impossible file length %d" % length)

    def require_table(self, offset, most, known_features=0):
        """The number of entries, and the checksum over header and table."""
        self.table_entries = self.file.u32(offset)
        self.file.require(self.table_entries <= most, offset, "too many sections: %d" % self.table_entries)
        self.file.require_header_checksum(TABLE_ENTRY_SIZE * self.table_entries)
        self.file.require_known_features(known_features)
        self.header_checksum = self.file.u64(56)

    def require_place(self, section, previous_end):
        where = section.table_offset + 8
        self.file.require(section.offset % ALIGNMENT == 0, where, section.name + ": offset not a multiple of 64")
        self.file.require(section.offset >= previous_end, where, section.name + ": begins before it may")
        limit = len(self.file) - FOOTER_SIZE
        self.file.require(section.end <= limit, where + 8, section.name + ": ends after the place of the footer")

    def require_footer(self):
        start = len(self.file) - FOOTER_SIZE
        self.file.require(self.file.data[start : start + 8] == FOOTER_MAGIC, start, "wrong footer magic")
        self.file.require(self.file.u64(start + 8) == len(self.file), start + 8, "wrong file length in the footer")
        same = self.file.u64(start + 16) == self.header_checksum
        self.file.require(same, start + 16, "wrong header checksum in the footer")
        self.file.require_zeros(start + 24, start + FOOTER_SIZE)

    def require_checksum(self, section):
        actual = self.file.checksum(section.offset, section.length)
        self.file.require(actual == section.checksum, section.offset, section.name + ": wrong checksum")

    def check_gaps(self):
        at = HEADER_SIZE + TABLE_ENTRY_SIZE * self.table_entries
        for section in self.in_order:
            self.file.require_zeros(at, section.offset)
            at = section.end
        self.file.require_zeros(at, len(self.file) - FOOTER_SIZE)


def unpack_zstd(packed):
    """The bytes that were packed, or None.  Python has no zstd of its own everywhere, so the command does it."""
    command = ["zstd", "--decompress", "--stdout", "--quiet", "--long=31"]
    result = subprocess.run(command, input=packed, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return result.stdout if result.returncode == 0 else None


class TextBlock:
    """An entry of section 15."""

    def __init__(self, file, at):
        self.begin = file.u64(at)
        self.offset = file.u64(at + 8)
        self.checksum = file.u64(at + 16)
        self.codec = file.u32(at + 24)
        self.zero = file.u32(at + 28)


class Segment(Sectioned):
    """One segment.  Document numbers in here count within it."""

    def __init__(self, path, entry, width):
        self.value_columns = None  # read when they are asked for
        self.path = path
        self.file = Bytes(path)
        self.require_header(entry, width)
        self.require_sections()
        self.require_footer()
        self.require_scheme()
        self.rows = self.numbers(DOCUMENT_ROWS, 4)
        self.has_ids = ID_OFFSETS in self.sections
        self.id_offsets = self.numbers(ID_OFFSETS, 8)
        self.id_lookup = self.numbers(ID_LOOKUP, 4)
        self.require_id_key()
        self.metadata_offsets = self.numbers(METADATA_OFFSETS, 8)
        self.text_offsets = self.numbers(TEXT_OFFSETS, 8)
        blocks = self.sections[TEXT_BLOCKS].count if TEXT_BLOCKS in self.sections else 0
        self.block_begins = [self.text_block(i).begin for i in range(blocks)]
        self.unpacked = (None, b"")  # the block that was unpacked last

    # Opening.

    def require_header(self, entry, width):
        file = self.file
        file.require_beginning(SEGMENT_MAGIC)
        self.require_length()
        self.require_table(52, MAX_SECTIONS, ANY_IDS | KEYED_IDS)
        self.documents = file.u64(32)
        self.signatures = file.u64(40)
        self.width = file.u32(48)
        file.require(self.documents <= MAX_DOCUMENTS, 32, "too many documents: %d" % self.documents)
        file.require(self.signatures <= self.documents, 40, "more signatures than documents")
        file.require(self.signatures > 0 or self.documents == 0, 40, "documents but no signatures")
        require_width(file, 48, self.width)
        file.require(self.width == width, 48, "the width is not the manifest's")
        file.require(self.header_checksum == entry.header_checksum, 56, "not the segment that the manifest names")
        file.require(len(file) == entry.file_length, 24, "the file length is not the manifest's")
        file.require(self.documents == entry.documents, 32, "the number of documents is not the manifest's")

    def require_sections(self):
        self.sections = {}
        self.in_order = []
        previous_end = SECTIONS_START
        for i in range(self.table_entries):
            section = Section(self.file, HEADER_SIZE + TABLE_ENTRY_SIZE * i)
            self.require_place(section, previous_end)
            self.require_count(section)
            self.in_order.append(section)
            previous_end = section.end
            if section.type in SECTION_NAMES:
                self.file.require(section.type not in self.sections, section.table_offset, section.name + ": twice")
                self.sections[section.type] = section
        for wanted in REQUIRED:
            self.file.require(wanted in self.sections, 52, "no section " + SECTION_NAMES[wanted])
        for group in TOGETHER:
            there = sum(wanted in self.sections for wanted in group)
            self.file.require(there in (0, len(group)), 52, SECTION_NAMES[group[0]] + ": only part of these sections")

    def require_count(self, section):
        """The count follows from the header, the length from the count."""
        row = self.row_size()
        d = self.documents
        item_and_count = {
            SIGNATURES: (row, self.signatures),
            GROUP_STARTS: (4, self.signatures + 1),
            GROUP_DOCUMENTS: (4, d),
            DOCUMENT_ROWS: (4, d),
            ID_OFFSETS: (8, d + 1),
            ID_LOOKUP: (4, None),
            METADATA_OFFSETS: (8, d + 1),
            WEIGHTS: (self.width, d),
            MASKS: (row, self.signatures),
            TEXT_OFFSETS: (8, d + 1),
            TEXT_BLOCKS: (TEXT_BLOCK_SIZE, None),
            KEYS: (4, None),
            ID_KEY: (8, 1),
        }
        if section.type not in SECTION_NAMES:
            return
        item, count = item_and_count.get(section.type, (1, None))
        where = section.table_offset + 24
        if section.type == SCHEME:
            self.file.require(section.count <= MAX_SCHEME, where, "scheme: too long")
        if section.type == ID_LOOKUP:
            c = section.count
            fits = c > d and c & (c - 1) == 0 and c <= MAX_LOOKUP
            self.file.require(fits, where, "id lookup: impossible number of slots %d" % c)
        if section.type in KEPT:
            fits = 1 <= section.count <= MAX_KEPT
            self.file.require(fits, where, "%s: %d bytes" % (section.name, section.count))
        if section.type == TEXT_BLOCKS:
            self.file.require(section.count >= 1, where, "text blocks: none, not even the end")
        if section.type == KEYS:
            c = section.count
            fits = d > 0 and c > 0 and c % d == 0 and c // d <= MAX_KEYS
            self.file.require(fits, where, "keys: %d of %d documents" % (c, d))
        self.file.require(count is None or section.count == count, where, section.name + ": wrong count")
        self.file.require(section.length == section.count * item, where - 8, section.name + ": wrong length")

    def require_id_key(self):
        """The key is there where the header says so, and only with ids."""
        keyed = bool(self.file.u32(20) & KEYED_IDS)
        self.file.require(keyed == (ID_KEY in self.sections), 20, "id key: said and not there, or the reverse")
        self.file.require(self.has_ids or not keyed, 20, "id key: without ids")
        if keyed:
            self.require_checksum(self.sections[ID_KEY])
        self.id_key = self.numbers(ID_KEY, 8)[0] if keyed else None

    def require_scheme(self):
        section = self.sections[SCHEME]
        self.require_checksum(section)
        self.scheme = bytes(self.content(SCHEME))
        self.file.require(b"\0" not in self.scheme, section.offset, "scheme: has a zero byte")
        self.file.require(self.scheme.endswith(b"\n"), section.offset, "scheme: does not end with a newline")
        pairs = [line.partition(b"=") for line in self.scheme[:-1].split(b"\n")]
        keys = [key for key, _, _ in pairs]
        well_formed = all(key and equals for key, equals, _ in pairs)
        self.file.require(well_formed, section.offset, "scheme: a line that is not key=value")
        ascending = all(a < b for a, b in zip(keys, keys[1:]))
        self.file.require(ascending, section.offset, "scheme: not sorted by key")
        values = {key: value for key, _, value in pairs}
        bits = values.get(b"bits")
        self.file.require(bits == b"%d" % self.width, section.offset, "scheme: bits is missing or not the width")
        names = [b"keep-key"] + [b"keep-key.%d" % number for number in range(2, MAX_KEEP_KEYS + 1)]
        self.keep_keys = [values[name] for name in itertools.takewhile(values.__contains__, names)]
        fits = VALUES not in self.sections or (self.keep_keys and self.documents > 0)
        self.file.require(fits, 52, "values: without keys to keep, or without documents")

    # Access.

    def row_size(self):
        return (self.width + 63) // 64 * 8

    def content(self, section_type):
        section = self.sections[section_type]
        return self.file.data[section.offset : section.end]

    def numbers(self, section_type, size):
        section = self.sections.get(section_type)
        return section and self.file.numbers(section.offset, section.count, size)

    def require_in(self, section_type, offset, condition, message):
        """Complains about the byte `offset` of a section."""
        section = self.sections[section_type]
        self.file.require(condition, section.offset + offset, "%s: %s" % (section.name, message))

    def signature(self, document):
        row = self.rows[document]
        self.require_in(DOCUMENT_ROWS, 4 * document, row < self.signatures, "row %d does not exist" % row)
        start = self.sections[SIGNATURES].offset + row * self.row_size()
        return self.file.data[start : start + (self.width + 7) // 8]

    def row_number(self, row):
        """The signature of a row as a number, bit 0 the lowest."""
        start = self.sections[SIGNATURES].offset + row * self.row_size()
        return int.from_bytes(self.file.data[start : start + self.row_size()], "little")

    def slice(self, offsets, offsets_type, bytes_type, document):
        start, end = offsets[document], offsets[document + 1]
        limit = self.sections[bytes_type].length
        in_order = start <= end <= limit
        self.require_in(offsets_type, 8 * document, in_order, "from %d to %d of %d" % (start, end, limit))
        base = self.sections[bytes_type].offset
        return self.file.data[base + start : base + end]

    def id(self, document):
        """The id of a document; only where the segment has ids."""
        result = self.slice(self.id_offsets, ID_OFFSETS, ID_BYTES, document)
        self.require_in(ID_OFFSETS, 8 * document, 1 <= len(result) <= MAX_ID, "an id of %d bytes" % len(result))
        bad = None if self.file.u32(20) & ANY_IDS else ID_FORBIDDEN.search(result)
        at = self.id_offsets[document] + (bad.start() if bad else 0)
        self.require_in(ID_BYTES, at, not bad, "a zero byte, a tab or a newline in an id")
        return result

    def metadata(self, document):
        if METADATA_OFFSETS not in self.sections:
            return b""
        result = self.slice(self.metadata_offsets, METADATA_OFFSETS, METADATA_BYTES, document)
        fits = len(result) <= MAX_METADATA
        self.require_in(METADATA_OFFSETS, 8 * document, fits, "metadata of %d bytes" % len(result))
        return result

    def weights(self, document):
        """A byte for each bit of the document's signature, or None where the segment has no weights."""
        if WEIGHTS not in self.sections:
            return None
        start = self.sections[WEIGHTS].offset + document * self.width
        return self.file.data[start : start + self.width]

    def text_block(self, number):
        """Entry `number` of section 15."""
        return TextBlock(self.file, self.sections[TEXT_BLOCKS].offset + TEXT_BLOCK_SIZE * number)

    def unpack_block(self, number):
        """The bytes of the texts of a block, once what its entries say is known to hold."""
        if self.unpacked[0] == number:
            return self.unpacked[1]
        block, following = self.text_block(number), self.text_block(number + 1)
        at = TEXT_BLOCK_SIZE * number
        length, packed_length = following.begin - block.begin, following.offset - block.offset
        in_order = length >= 0 and packed_length >= 0 and following.offset <= self.sections[TEXT_BYTES].length
        self.require_in(TEXT_BLOCKS, at, in_order and length <= MAX_TEXT_BLOCK, "a block of %d bytes" % length)
        self.require_in(TEXT_BLOCKS, at + 28, block.zero == 0, "not zero")
        start = self.sections[TEXT_BYTES].offset + block.offset
        packed = self.file.data[start : start + packed_length]
        self.require_in(TEXT_BLOCKS, at + 16, xxh3_64(packed) == block.checksum, "wrong checksum of a block")
        self.require_in(TEXT_BLOCKS, at + 24, block.codec in (PLAIN, ZSTD), "unknown codec %d" % block.codec)
        if block.codec == ZSTD:
            possible = length <= packed_length * MAX_OF_A_BYTE
            self.require_in(TEXT_BLOCKS, at, possible, "%d bytes cannot become %d" % (packed_length, length))
            unpacked = unpack_zstd(packed)
        else:
            unpacked = packed
        fits = unpacked is not None and len(unpacked) == length
        self.require_in(TEXT_BLOCKS, at, fits, "does not unpack to %d bytes" % length)
        self.unpacked = (number, unpacked)
        return unpacked

    def text(self, document):
        """The text of a document, or None where the segment has no texts."""
        if TEXT_OFFSETS not in self.sections:
            return None
        begin, end = self.text_offsets[document], self.text_offsets[document + 1]
        fits = begin <= end and end - begin <= MAX_TEXT
        self.require_in(TEXT_OFFSETS, 8 * document, fits, "a text from %d to %d" % (begin, end))
        if begin == end:
            return b""
        number = bisect_right(self.block_begins, begin) - 1
        inside = 0 <= number < len(self.block_begins) - 1 and end <= self.block_begins[number + 1]
        self.require_in(TEXT_OFFSETS, 8 * document, inside, "a text from %d to %d is in no block" % (begin, end))
        base = self.block_begins[number]
        return self.unpack_block(number)[begin - base : end - base]

    def keys(self, document):
        """The keys of a document, or None where the segment has none."""
        if KEYS not in self.sections:
            return None
        section = self.sections[KEYS]
        bands = section.count // self.documents
        first = document // KEY_BLOCK * KEY_BLOCK
        together = min(KEY_BLOCK, self.documents - first)
        places = (first * bands + band * together + document - first for band in range(bands))
        return [self.file.u32(section.offset + 4 * place) for place in places]

    def kept(self, kind):
        """The bytes of the vocabulary or the model, or None where it is not kept here."""
        if kind not in self.sections:
            return None
        self.require_checksum(self.sections[kind])
        return self.content(kind)

    def id_hash(self, name):
        return xxh3_64(name) if self.id_key is None else siphash(name, self.id_key)

    def find(self, wanted):
        """The number of the document with this id, or None."""
        slots = self.id_lookup
        begin = (self.id_hash(wanted) >> 32) % len(slots)
        for step in range(len(slots)):
            at = (begin + step) % len(slots)
            slot = slots[at]
            if slot == 0:
                return None
            self.require_in(ID_LOOKUP, 4 * at, slot <= self.documents, "document %d does not exist" % (slot - 1))
            if self.id(slot - 1) == wanted:
                return slot - 1
        self.require_in(ID_LOOKUP, 0, False, "no slot is empty")
        return None

    # Checking everything.

    def check(self):
        for section in self.in_order:
            self.require_checksum(section)
        self.check_gaps()
        self.check_signatures()
        self.check_masks()
        self.check_groups()
        if self.has_ids:
            self.check_offsets(self.id_offsets, ID_OFFSETS, ID_BYTES)
            self.check_lookup()
        self.check_any_ids()
        if METADATA_OFFSETS in self.sections:
            self.check_offsets(self.metadata_offsets, METADATA_OFFSETS, METADATA_BYTES)
            for document in range(self.documents):
                self.metadata(document)
        if TEXT_OFFSETS in self.sections:
            self.check_texts()
        if VALUES in self.sections:
            self.columns()

    def check_signatures(self):
        """Bits from the width on are zero and no signature is there twice."""
        size = self.row_size()
        used = (self.width + 7) // 8
        start = self.sections[SIGNATURES].offset
        seen = set()
        for row in range(self.signatures):
            at = start + row * size
            self.file.require_zeros(at + used, at + size)
            signature = self.file.data[at : at + used]
            padded = int.from_bytes(signature, "little") >> self.width == 0
            self.file.require(padded, at + used - 1, "signatures: bits from the width on are set")
            self.file.require(signature not in seen, at, "signatures: this one is there already")
            seen.add(signature)

    def check_masks(self):
        """Bits from the width on are zero."""
        size = self.row_size()
        for row in range(self.signatures if MASKS in self.sections else 0):
            at = self.sections[MASKS].offset + row * size
            mask = int.from_bytes(self.file.data[at : at + size], "little")
            self.file.require(mask >> self.width == 0, at, "masks: bits from the width on are set")

    def mask(self, row):
        """The bits that count for the first document of a row, as a signature, or None where that is not kept."""
        if MASKS not in self.sections:
            return None
        at = self.sections[MASKS].offset + row * self.row_size()
        return self.file.data[at : at + (self.width + 7) // 8]

    def columns(self):
        """The values of each key that is kept: a list of the distinct ones, and a list of codes, one a document."""
        section, file = self.sections[VALUES], self.file
        keys = len(self.keep_keys)
        self.require_in(VALUES, 0, section.length >= 8 + 24 * keys, "too short")
        self.require_in(VALUES, 0, file.u64(section.offset) == keys, "not of as many keys as the scheme names")
        at = 8 + 24 * keys
        result = []
        for key in range(keys):
            head = 8 + 24 * key
            counts = [file.u32(section.offset + head + 4 * i) for i in range(4)]
            texts_length = file.u64(section.offset + head + 16)
            self.require_in(VALUES, head, counts[3] == 0 and sum(counts) <= self.documents, "impossible counts")
            self.require_in(VALUES, head, counts[2] > 0 or texts_length == 0, "bytes of no text")
            column, at = self.column(head, counts[:3], texts_length, at)
            result.append(column)
        self.require_in(VALUES, at, at == section.length, "bytes behind the last key")
        return result

    def column(self, head, counts, texts_length, at):
        """The column whose values begin at `at` of the section; and where it ends."""
        section, data = self.sections[VALUES], self.file.data
        integers, reals, texts = counts
        total = integers + reals + texts
        width = 0 if total == 0 else 1 if total < 256 else 2 if total < 65536 else 4
        place = at
        numbers_end = at + 8 * (integers + reals)
        offsets_end = numbers_end + (8 * (texts + 1) if texts else 0)
        texts_end = offsets_end + -(-texts_length // 8) * 8
        end = texts_end + -(-width * self.documents // 8) * 8
        self.require_in(VALUES, head, end <= section.length, "values past the end of the section")
        start = section.offset
        values = list(struct.unpack_from("<%dq" % integers, data, start + place))
        for i, real in enumerate(struct.unpack_from("<%dd" % reals, data, start + place + 8 * integers)):
            whole = math.isfinite(real) and real == math.floor(real) and -(2**63) <= real < 2**63
            self.require_in(VALUES, place + 8 * (integers + i), math.isfinite(real) and not whole, "no real: %r" % real)
            values.append(real)
        offsets = struct.unpack_from("<%dQ" % (texts + 1 if texts else 0), data, start + numbers_end)
        for i in range(texts):
            fits = offsets[i] <= offsets[i + 1] <= texts_length and offsets[i + 1] - offsets[i] <= MAX_VALUE
            self.require_in(VALUES, numbers_end + 8 * i, fits, "a text misplaced")
            values.append(bytes(data[start + offsets_end + offsets[i] : start + offsets_end + offsets[i + 1]]))
        whole = not texts or (offsets[0] == 0 and offsets[-1] == texts_length)
        self.require_in(VALUES, numbers_end, whole, "texts do not fill their bytes")
        for part in (values[:integers], values[integers : integers + reals], values[integers + reals :]):
            ascending = all(a < b for a, b in zip(part, part[1:]))
            self.require_in(VALUES, place, ascending, "values out of order")
        self.file.require_zeros(start + offsets_end + texts_length, start + texts_end)
        self.file.require_zeros(start + texts_end + width * self.documents, start + end)
        codes = [
            int.from_bytes(data[start + texts_end + width * i : start + texts_end + width * (i + 1)], "little")
            for i in range(self.documents)
        ]
        seen = set(codes) - {0}
        self.require_in(VALUES, texts_end, seen == set(range(1, total + 1)), "codes are not those of the values")
        return (values, codes), end

    def values(self, document):
        """What it has under each key that is kept: an int, a float, bytes or None."""
        if VALUES not in self.sections:
            return [None] * len(self.keep_keys)
        if self.value_columns is None:
            self.value_columns = self.columns()
        return [values[codes[document] - 1] if codes[document] else None for values, codes in self.value_columns]

    def check_groups(self):
        """That every document is in the group of its row makes each be there once: there are as many places."""
        starts = self.numbers(GROUP_STARTS, 4)
        documents = self.numbers(GROUP_DOCUMENTS, 4)
        n = self.signatures
        self.require_in(GROUP_STARTS, 0, starts[0] == 0, "the first is %d" % starts[0])
        self.require_in(GROUP_STARTS, 4 * n, starts[n] == self.documents, "the last is %d" % starts[n])
        for row in range(n):
            self.require_in(GROUP_STARTS, 4 * row + 4, starts[row] < starts[row + 1], "does not ascend")
        first_before = -1
        for row in range(n):
            first = documents[starts[row]]
            self.require_in(GROUP_DOCUMENTS, 4 * starts[row], first > first_before, "not the order of appearance")
            first_before = first
            self.check_group(documents, row, starts[row], starts[row + 1])

    def check_group(self, documents, row, start, end):
        previous = -1
        for at in range(start, end):
            document = documents[at]
            self.require_in(GROUP_DOCUMENTS, 4 * at, document < self.documents, "no document %d" % document)
            self.require_in(GROUP_DOCUMENTS, 4 * at, document > previous, "does not ascend in its group")
            same = self.rows[document] == row
            self.require_in(DOCUMENT_ROWS, 4 * document, same, "is not the row of the document's group")
            previous = document

    def check_offsets(self, offsets, offsets_type, bytes_type):
        """The ends; what is between them is compared when the slices are taken."""
        last = self.documents
        length = self.sections[bytes_type].length
        self.require_in(offsets_type, 0, offsets[0] == 0, "the first is %d" % offsets[0])
        self.require_in(offsets_type, 8 * last, offsets[last] == length, "the last is %d" % offsets[last])

    def check_texts(self):
        """Blocks without gaps from the first byte to the last, and texts too; all of them can be unpacked."""
        last = self.sections[TEXT_BLOCKS].count - 1
        entries = [self.text_block(i) for i in range(last + 1)]
        end = entries[last]
        at = TEXT_BLOCK_SIZE * last
        begins = entries[0].begin == 0 and entries[0].offset == 0
        self.require_in(TEXT_BLOCKS, 0, begins, "the first does not begin at 0")
        ends = end.offset == self.sections[TEXT_BYTES].length
        self.require_in(TEXT_BLOCKS, at + 8, ends, "the last ends at %d" % end.offset)
        self.require_in(TEXT_BLOCKS, at + 16, end.checksum == end.codec == end.zero == 0, "the end: not zero")
        for i in range(last):
            in_order = entries[i].begin < entries[i + 1].begin and entries[i].offset <= entries[i + 1].offset
            self.require_in(TEXT_BLOCKS, TEXT_BLOCK_SIZE * i, in_order, "does not ascend")
        offsets = self.text_offsets
        d = self.documents
        self.require_in(TEXT_OFFSETS, 0, offsets[0] == 0, "the first is %d" % offsets[0])
        self.require_in(TEXT_OFFSETS, 8 * d, offsets[d] == end.begin, "the last is %d" % offsets[d])
        for document in range(d):
            self.text(document)

    def check_lookup(self):
        """Every document is found under its id, and no slot is used for anything else.  The key is that of the ids."""
        if self.id_key is not None:
            key = siphash(bytes(self.content(ID_BYTES)) + bytes(self.content(ID_OFFSETS)))
            self.require_in(ID_KEY, 0, key == self.id_key, "is not that of the ids")
        for at, slot in enumerate(self.id_lookup):
            self.require_in(ID_LOOKUP, 4 * at, slot <= self.documents, "document %d does not exist" % (slot - 1))
        used = len(self.id_lookup) - self.id_lookup.count(0)
        message = "%d slots are in use for %d documents" % (used, self.documents)
        self.require_in(ID_LOOKUP, 0, used == self.documents, message)
        for document in range(self.documents):
            found = self.find(self.id(document))
            self.require_in(ID_LOOKUP, 0, found == document, "document %d is not found under its id" % document)

    def check_any_ids(self):
        """The feature is set where an id needs it, and nowhere else."""
        ids = (self.id(document) for document in range(self.documents if self.has_ids else 0))
        needed = any(ID_FORBIDDEN.search(name) for name in ids)
        self.file.require(bool(self.file.u32(20) & ANY_IDS) == needed, 20, "any ids: said, and none is")


class Slices(Sectioned):
    """The slice lists of a segment."""

    kind = SLICES_KIND
    title = "slice lists"

    def __init__(self, path, segment):
        self.path = path
        self.segment = segment
        self.file = Bytes(path)
        self.require_header()
        self.require_sections()
        self.require_footer()
        self.require_slices()

    def require_header(self):
        file = self.file
        file.require_beginning(SIDECAR_MAGIC)
        self.require_length()
        self.require_table(48, MAX_SIDECAR_SECTIONS)
        file.require(file.u32(40) == self.kind, 40, "kind %d under the name of %s" % (file.u32(40), self.title))
        file.require(file.u32(52) == 0, 52, "not zero")
        file.require(file.u64(32) == self.segment.header_checksum, 32, "made from another segment")
        self.slices = file.u32(44)

    def require_sections(self):
        self.in_order = []
        previous_end = SECTIONS_START
        types = set()
        for i in range(self.table_entries):
            section = Section(self.file, HEADER_SIZE + TABLE_ENTRY_SIZE * i)
            section.name = "section %d" % section.type
            self.require_place(section, previous_end)
            self.file.require(section.type not in types, section.table_offset, section.name + ": twice")
            types.add(section.type)
            self.in_order.append(section)
            previous_end = section.end

    def require_slices(self):
        """That the signatures can be cut so, and that the section is as long as the lists then are."""
        width, count = self.segment.width, self.slices
        self.file.require(1 <= count <= width, 44, "%d slices of %d bits" % (count, width))
        most = max(-(-width // count), MIN_SLICE_BITS)
        fits = most <= min(MAX_SLICE_BITS, width) and -(-width // most) == count
        self.file.require(fits, 44, "%d slices of %d bits" % (count, width))
        self.bits = [width // count + (i < width % count) for i in range(count)]
        found = [section for section in self.in_order if section.type == SLICE_LISTS]
        self.file.require(found, 48, "no section 1")
        self.section = found[0]
        numbers = sum(2**bits + 1 + self.segment.signatures for bits in self.bits)
        where = self.section.table_offset
        self.file.require(self.section.count == numbers, where + 24, "section 1: wrong count")
        self.file.require(self.section.length == 4 * numbers, where + 16, "section 1: wrong length")

    def rows_with(self, number, value):
        """The rows whose slice `number` has this value, as the lists have them."""
        n = self.segment.signatures
        at = self.section.offset + 4 * sum(2**bits + 1 + n for bits in self.bits[:number])
        start, end = self.file.numbers(at + 4 * value, 2, 4)
        self.file.require(start <= end <= n, at + 4 * value, "starts: from %d to %d of %d" % (start, end, n))
        first = at + 4 * (2 ** self.bits[number] + 1)
        rows = self.file.numbers(first + 4 * start, end - start, 4)
        for i, row in enumerate(rows):
            self.file.require(row < n, first + 4 * (start + i), "row %d does not exist" % row)
        return rows

    def check(self):
        for section in self.in_order:
            self.require_checksum(section)
        self.check_gaps()
        at = self.section.offset
        first_bit = 0
        for bits in self.bits:
            at = self.check_slice(at, first_bit, bits)
            first_bit += bits
        self.file.require(first_bit == self.segment.width, 44, "the slices do not cover the signature")

    def check_slice(self, at, first_bit, bits):
        """Every row is in the list of its value, and there only: the lists together have as many places."""
        n = self.segment.signatures
        starts = self.file.numbers(at, 2**bits + 1, 4)
        first = at + 4 * len(starts)
        rows = self.file.numbers(first, n, 4)
        self.file.require(starts[0] == 0, at, "starts: the first is %d" % starts[0])
        for value in range(2**bits):
            where = at + 4 * (value + 1)
            self.file.require(starts[value] <= starts[value + 1] <= n, where, "starts: out of order")
            previous = -1
            for i in range(starts[value], starts[value + 1]):
                row = rows[i]
                self.file.require(previous < row < n, first + 4 * i, "rows: %d after %d of %d" % (row, previous, n))
                same = self.segment.row_number(row) >> first_bit & (2**bits - 1) == value
                self.file.require(same, first + 4 * i, "rows: row %d does not have the value %d" % (row, value))
                previous = row
        self.file.require(starts[-1] == n, at + 4 * 2**bits, "starts: the last is %d" % starts[-1])
        return first + 4 * n


def require_columns(file, at, width, rows):
    """That rows lie on their side from a place on, in super-blocks."""
    for first in range(0, len(rows), SUPER_ROWS):
        block = rows[first : first + SUPER_ROWS]
        wanted = [sum((row >> bit & 1) << i for i, row in enumerate(block)) for bit in range(width)]
        for number, column in enumerate(wanted + [0, 2**SUPER_ROWS - 1]):
            file.require(file.number(at, SUPER_ROWS // 8) == column, at, "column %d" % number)
            at += SUPER_ROWS // 8


class Graph(Slices):
    """The graph of near neighbours of a segment."""

    kind = GRAPH_KIND
    title = "a graph"

    def require_slices(self):
        """The facts, and that sections are as long as they then must be."""
        file, segment = self.file, self.segment
        self.degree = self.slices
        file.require(self.degree <= MAX_DEGREE, 44, "%d edges of a node" % self.degree)
        self.parts = {section.type: section for section in self.in_order}
        self.require_items(GRAPH_ITEMS)
        at = self.parts[1].offset
        self.seed_slices, self.seed_bits, self.longest, self.sketch_words = file.numbers(at, 4, 4)
        file.require(self.seed_bits <= MAX_SEED_BITS, at + 4, "seeds of %d bits" % self.seed_bits)
        file.require(self.seed_slices * self.seed_bits <= segment.width, at, "%d slices" % self.seed_slices)
        file.require(1 <= self.sketch_words <= -(-segment.width // 64), at + 12, "%d words" % self.sketch_words)
        file.require(file.u32(at + 36) <= file.u32(at + 32), at + 36, "more found than wanted")
        file.require(file.u32(at + 48) <= -(-segment.width // 64) * 64, at + 48, "far: %d bits" % file.u32(at + 48))
        self.centre_words = file.u32(at + 52)
        file.require(self.centre_words <= min(8, -(-segment.width // 64)), at + 52, "%d words" % self.centre_words)
        file.require(file.u32(at + 56) <= 1, at + 56, "masks: %d" % file.u32(at + 56))
        self.masks = file.u32(at + 56) == 1
        self.sample_step = file.u32(at + 60)
        file.require(self.sample_step <= MAX_SAMPLE_STEP, at + 60, "every %dth node" % self.sample_step)
        n = segment.signatures
        counts = {1: 1, 2: n, 3: n + 1, 5: (self.seed_slices << self.seed_bits) + 1, 7: n * self.sketch_words}
        if self.centre_words != 0:
            self.require_items(CENTRE_ITEMS)
            groups, centres = self.parts[9].count - 1, self.parts[11].count
            self.file.require(1 <= groups <= centres <= n, self.parts[9].offset, "%d groups" % groups)
            counts[8] = groups * self.centre_words
            counts[10] = centres * self.centre_words
        if self.sample_step != 0:
            self.sample_columns = -(-segment.width // 64) * 64
            self.require_items({12: SUPER_ROWS // 8 * (self.sample_columns + 2)})
            counts[12] = -(-len(range(0, n, self.sample_step)) // SUPER_ROWS)
        for kind, count in counts.items():
            part = self.parts[kind]
            file.require(part.count == count, part.table_offset + 24, "section %d: wrong count" % kind)

    def require_items(self, sizes):
        for kind, size in sizes.items():
            self.file.require(kind in self.parts, 48, "no section %d" % kind)
            part = self.parts[kind]
            right = part.length == size * part.count
            self.file.require(right, part.table_offset + 16, "section %d: wrong length" % kind)

    def part(self, kind):
        size = (GRAPH_ITEMS | CENTRE_ITEMS)[kind]
        return self.file.numbers(self.parts[kind].offset, self.parts[kind].count, size)

    def require_part(self, condition, kind, index, why):
        size = (GRAPH_ITEMS | CENTRE_ITEMS)[kind]
        self.file.require(condition, self.parts[kind].offset + size * index, why)

    def ranges(self, starts_kind, items_kind):
        """(list, first, end) of each."""
        starts, count = self.part(starts_kind), self.parts[items_kind].count
        self.require_part(starts[0] == 0, starts_kind, 0, "the first is %d" % starts[0])
        self.require_part(starts[-1] == count, starts_kind, len(starts) - 1, "the last is %d" % starts[-1])
        for i in range(len(starts) - 1):
            self.require_part(starts[i] <= starts[i + 1] <= count, starts_kind, i, "out of order")
            yield i, starts[i], starts[i + 1]

    def check(self):
        for section in self.in_order:
            self.require_checksum(section)
        self.check_gaps()
        n, words = self.segment.signatures, self.sketch_words
        order, edges, seeds, sketches = (self.part(kind) for kind in (2, 4, 6, 7))
        self.require_part(sorted(order) == list(range(n)), 2, 0, "not every row once")
        for node, first, end in self.ranges(3, 4):
            own = edges[first:end]
            sound = len(own) <= self.degree and len(set(own)) == len(own) and node not in own
            self.require_part(sound and all(other < n for other in own), 4, first, "edges of node %d" % node)
            sketch = sum(sketches[node * words + i] << 64 * i for i in range(words))
            right = self.segment.row_number(order[node]) & (2 ** (64 * words) - 1)
            self.require_part(sketch == right, 7, node * words, "sketch of node %d" % node)
        for number, first, end in self.ranges(5, 6):
            own = seeds[first:end]
            slice_start = (number >> self.seed_bits) * self.seed_bits
            sound = len(own) <= self.longest and all(a < b for a, b in zip(own, own[1:]))
            self.require_part(sound and all(node < n for node in own), 6, first, "seeds of list %d" % number)
            for node in own:
                value = self.segment.row_number(order[node]) >> slice_start & (2**self.seed_bits - 1)
                same = value == number & (2**self.seed_bits - 1)
                self.require_part(same, 6, first, "node %d is not of list %d" % (node, number))
        if self.centre_words != 0:
            nodes = self.part(11)
            for group, first, end in self.ranges(9, 11):
                self.require_part(all(node < n for node in nodes[first:end]), 11, first, "group %d" % group)
        if self.sample_step != 0:
            rows = [self.segment.row_number(row) for row in order[:: self.sample_step]]
            require_columns(self.file, self.parts[12].offset, self.sample_columns, rows)


class Columns(Slices):
    """The signatures of a segment on their side."""

    kind = COLUMNS_KIND
    title = "columns"

    def require_slices(self):
        """That super-blocks are as this page has them, and as many as the rows need."""
        segment = self.segment
        self.file.require(self.slices == SUPER_ROWS, 44, "super-blocks of %d rows" % self.slices)
        found = [section for section in self.in_order if section.type == SUPER_BLOCKS]
        self.file.require(found, 48, "no section 1")
        self.section = found[0]
        self.super_bytes = SUPER_ROWS // 8 * (segment.width + 2)
        count, where = -(-segment.signatures // SUPER_ROWS), self.section.table_offset
        self.file.require(self.section.count == count, where + 24, "section 1: wrong count")
        self.file.require(self.section.length == count * self.super_bytes, where + 16, "section 1: wrong length")

    def column(self, super_block, number):
        """One bit of 1,024 rows, as a number: bit i is that of row i."""
        at = self.section.offset + super_block * self.super_bytes + number * (SUPER_ROWS // 8)
        return self.file.number(at, SUPER_ROWS // 8)

    def check(self):
        for section in self.in_order:
            self.require_checksum(section)
        self.check_gaps()
        rows = [self.segment.row_number(row) for row in range(self.segment.signatures)]
        require_columns(self.file, self.section.offset, self.segment.width, rows)


class Deletions(Slices):
    """Which documents of a segment are deleted: `deleted` is the set of their numbers."""

    kind = DELETIONS_KIND
    title = "deletions"

    def __init__(self, path, entry, segment):
        super().__init__(path, segment)
        self.file.require(self.header_checksum == entry.deletions_checksum, 56, "not those that the manifest names")
        self.file.require(len(self.file) == entry.deletions_length, 24, "the file length is not the manifest's")
        self.file.require(len(self.deleted) == entry.deleted, self.section.offset, "not so many are deleted")

    def require_slices(self):
        """Unlike other files beside a segment this one is read whole, and every checksum compared, at once."""
        found = [section for section in self.in_order if section.type == DELETED_SET]
        self.file.require(found, 48, "no section 1")
        self.section = found[0]
        self.file.require(self.section.count == self.section.length, self.section.table_offset + 24, "wrong count")
        for section in self.in_order:
            self.require_checksum(section)
        self.check_gaps()
        self.file.require(self.slices in (RUNS, BITMAP), 44, "form %d of a set" % self.slices)
        data = self.file.data[self.section.offset : self.section.end]
        self.deleted = self.unpack_runs(data) if self.slices == RUNS else self.unpack_bitmap(data)

    def take_number(self, data, at):
        value = 0
        for place in range(5):
            self.require_in_set(at < len(data), at, "a number does not end")
            byte = data[at]
            at += 1
            value |= (byte & 127) << 7 * place
            if byte < 128:
                self.require_in_set(byte != 0 or place == 0, at - 1, "a number that is longer than it must be")
                return value, at
        return self.require_in_set(False, at, "a number of more than five bytes")

    def require_in_set(self, condition, at, message):
        self.file.require(condition, self.section.offset + at, message)

    def unpack_runs(self, data):
        deleted, end, at = set(), 0, 0
        while at < len(data):
            first, at = self.take_number(data, at)
            length = 1
            if first % 2 == 1:
                length, at = self.take_number(data, at)
                length += 2
            self.require_in_set(end == 0 or first // 2 > 0, at, "a run that touches the one before")
            begin = end + first // 2
            end = begin + length
            self.require_in_set(end <= self.segment.documents, at, "a run past the last document")
            deleted.update(range(begin, end))
        return deleted

    def unpack_bitmap(self, data):
        documents = self.segment.documents
        self.require_in_set(len(data) == -(-documents // 64) * 8, 0, "a bitmap of another size")
        bits = int.from_bytes(data, "little")
        self.require_in_set(bits >> documents == 0, 0, "a document past the last is deleted")
        return {document for document in range(documents) if bits >> document & 1}


class Tables(Slices):
    """The tables of a segment, for near-copies."""

    kind = TABLES_KIND
    title = "tables"

    def require_slices(self):
        """The facts, and that the tables are as long as they then must be."""
        file = self.file
        self.parts = {section.type: section for section in self.in_order}
        for kind in (1, 2):
            file.require(kind in self.parts, 48, "no section %d" % kind)
        facts, tables = self.parts[1], self.parts[2]
        file.require(facts.count == 1 and facts.length == 32, facts.table_offset + 16, "section 1: wrong length")
        self.form, self.tables, self.bits, self.radius, self.blocks, self.leading, self.probes, zero = file.numbers(
            facts.offset, 8, 4
        )
        at = facts.offset
        file.require(self.form in (1, 2), at, "form %d" % self.form)
        file.require(zero == 0, at + 28, "not zero")
        file.require(self.tables == self.slices, at + 4, "%d tables" % self.tables)
        self.require_permuted(at) if self.form == 1 else self.require_sorted(at)
        self.table_bytes = sum(self.padded(size) for _, size in self.sizes())
        file.require(tables.count == self.tables, tables.table_offset + 24, "section 2: wrong count")
        right = tables.length == self.tables * self.table_bytes
        file.require(right, tables.table_offset + 16, "section 2: wrong length")

    def require_permuted(self, at):
        file, width = self.file, self.segment.width
        file.require(2 <= self.blocks <= min(16, width), at + 16, "%d blocks" % self.blocks)
        file.require(1 <= self.leading < self.blocks, at + 20, "%d leading" % self.leading)
        self.choices = [
            choice for choice in range(2**self.blocks) if bin(choice).count("1") == self.leading
        ]
        file.require(self.tables == len(self.choices) <= 128, at + 4, "%d tables" % self.tables)
        file.require(self.bits <= min(30, width // self.blocks * self.leading), at + 8, "%d bits" % self.bits)
        file.require(self.radius == self.blocks - self.leading, at + 12, "radius %d" % self.radius)
        file.require(self.probes == 0, at + 24, "%d probes" % self.probes)

    def require_sorted(self, at):
        file, width = self.file, self.segment.width
        file.require(1 <= self.tables <= 3, at + 4, "%d tables" % self.tables)
        file.require(1 <= self.bits <= min(32, width), at + 8, "%d bits" % self.bits)
        file.require(self.radius <= width, at + 12, "radius %d" % self.radius)
        file.require(self.blocks == 0 and self.leading == 0, at + 16, "blocks of sorted tables")
        file.require(1 <= self.probes <= 4096, at + 24, "%d probes" % self.probes)

    @staticmethod
    def padded(size):
        return -(-size // 64) * 64

    def sizes(self):
        """The parts of a table: bytes of a number, and of all of them."""
        n = self.segment.signatures
        if self.form == 1:
            return [(4, 4 * (2**self.bits + 2)), (4, 4 * n), (4, 4 * n)]
        inline = [(8, 8 * n)] if self.segment.width == 64 else []
        return [(4, 4 * (2**self.bits + 1)), *inline, (4, 4 * n)]

    def bucket(self, table, row):
        """The number of the bits that a row is found by."""
        width = self.segment.width
        if self.form == 2:
            first = width * table // self.tables
            return sum((row >> (first + i) % width & 1) << i for i in range(self.bits))
        own = [i for i in range(self.blocks) if self.choices[table] >> i & 1]
        taken = []
        for nth, block in enumerate(own):
            share = self.bits // self.leading + (nth < self.bits % self.leading)
            taken += range(width * block // self.blocks, width * block // self.blocks + share)
        return sum((row >> bit & 1) << i for i, bit in enumerate(taken))

    @staticmethod
    def key(row):
        folded = 0
        while row:
            folded ^= row & 0xFFFFFFFF
            row >>= 32
        return folded

    def check(self):
        for section in self.in_order:
            self.require_checksum(section)
        self.check_gaps()
        for table in range(self.tables):
            self.check_table(table, self.parts[2].offset + table * self.table_bytes)

    def check_table(self, table, at):
        parts, places = [], []
        for size, length in self.sizes():
            places.append(at)
            parts.append(list(self.file.numbers(at, length // size, size)))
            self.file.require_zeros(at + length, at + self.padded(length))
            at += self.padded(length)
        n, starts, numbers = self.segment.signatures, parts[0], parts[-1]
        ends = [n, n] if self.form == 1 else [n]
        self.file.require(starts[0] == 0 and starts[-len(ends) :] == ends, places[0], "starts: their ends")
        self.file.require(sorted(numbers) == list(range(n)), places[-1], "not every row once")
        for value in range(2**self.bits):
            first, end = starts[value], starts[value + 1]
            self.file.require(first <= end <= n, places[0] + 4 * value, "starts: from %d to %d" % (first, end))
            own = numbers[first:end]
            self.file.require(own == sorted(own), places[-1] + 4 * first, "rows of bucket %d" % value)
            same = all(self.bucket(table, self.segment.row_number(row)) == value for row in own)
            self.file.require(same, places[-1] + 4 * first, "rows of bucket %d" % value)
        if len(parts) == 3:
            of_row = self.key if self.form == 1 else lambda row: row
            wanted = [of_row(self.segment.row_number(row)) for row in numbers]
            self.file.require(parts[1] == wanted, places[1], "keys or rows of table %d" % table)


class Collection:
    """A collection as its current manifest describes it.  `damaged` holds why newer manifests were passed over."""

    def __init__(self, directory, manifest, damaged):
        self.directory = directory
        self.manifest = manifest
        self.damaged = damaged
        self.segments = [self.open_segment(entry) for entry in manifest.entries]
        self.require_agreement()
        self.deleted = [self.open_deletions(*pair) for pair in zip(manifest.entries, self.segments)]
        self.slices = {}  # by number of the segment
        self.graphs = {}
        self.columns = {}
        self.tables = {}
        self.damaged_slices = []  # and graphs, columns and tables
        for entry, segment in zip(manifest.entries, self.segments):
            self.open_sidecar(self.slices, Slices, "slices", entry.number, segment)
            self.open_sidecar(self.graphs, Graph, "graph", entry.number, segment)
            self.open_sidecar(self.columns, Columns, "columns", entry.number, segment)
            self.open_sidecar(self.tables, Tables, "tables", entry.number, segment)

    def open_segment(self, entry):
        path = os.path.join(self.directory, "segment-%020d" % entry.number)
        try:
            return Segment(path, entry, self.manifest.width)
        except FileNotFoundError:
            raise Missing(path, None, "the manifest lists this segment, but it is not there") from None

    def open_deletions(self, entry, segment):
        """The documents of a segment that are deleted, without which nothing is to be read."""
        if entry.deletions == 0:
            return set()
        path = os.path.join(self.directory, "deleted-%020d" % entry.deletions)
        try:
            return Deletions(path, entry, segment).deleted
        except FileNotFoundError:
            raise Missing(path, None, "the manifest lists these deletions, but they are not there") from None

    def living(self):
        """Yields (number, segment, document) of every document that is not deleted, in order."""
        base = 0
        for segment, deleted in zip(self.segments, self.deleted):
            for document in range(segment.documents):
                if document not in deleted:
                    yield base + document, segment, document
            base += segment.documents

    def open_sidecar(self, those, kind, prefix, number, segment):
        """One that cannot be used is as good as none, and told of."""
        try:
            those[number] = kind(os.path.join(self.directory, "%s-%020d" % (prefix, number)), segment)
        except FileNotFoundError:
            pass
        except (FormatError, OSError) as error:
            self.damaged_slices.append(error)

    def require_agreement(self):
        """What the segments of a collection have in common: scheme, vocabulary, model, and whether documents have ids."""
        for segment in self.segments[1:]:
            same = segment.scheme == self.segments[0].scheme
            segment.file.require(same, segment.sections[SCHEME].offset, "scheme: not that of the first segment")
        with_documents = [segment for segment in self.segments if segment.documents > 0]
        self.has_ids = any(segment.has_ids for segment in with_documents)
        for segment in with_documents:
            segment.file.require(segment.has_ids == self.has_ids, 52, "ids: some segments have them, some do not")
        self.keepers = {kind: self.require_one_keeper(kind) for kind in KEPT}

    def require_one_keeper(self, kind):
        """The segment that keeps a vocabulary or a model, or None."""
        documents = 0
        keeper = None
        for segment in self.segments:
            if kind in segment.sections and keeper is not None:
                same = segment.kept(kind) == keeper.kept(kind)
                segment.require_in(kind, 0, same, "another one is there already")
            elif kind in segment.sections:
                segment.require_in(kind, 0, documents == 0, "documents are there before it")
                keeper = segment
            documents += segment.documents
        return keeper

    def __len__(self):
        return self.manifest.documents - sum(len(deleted) for deleted in self.deleted)

    def documents(self):
        """Yields (id, signature, metadata) of every document in order, all as bytes."""
        for number, segment, document in self.living():
            name = segment.id(document) if segment.has_ids else b"%d" % number
            yield name, segment.signature(document), segment.metadata(document)

    def weights(self):
        """Yields the weights of every document in order, None for those without."""
        for _, segment, document in self.living():
            yield segment.weights(document)

    def texts(self):
        """Yields the text of every document in order, None for those without."""
        for _, segment, document in self.living():
            yield segment.text(document)

    def keys(self):
        """Yields the keys of every document in order, None for those without."""
        for _, segment, document in self.living():
            yield segment.keys(document)

    def values(self):
        """Yields what every document in order has under each key that is kept."""
        for _, segment, document in self.living():
            yield segment.values(document)

    def vocabulary(self):
        """The bytes of the vocabulary, or None."""
        return self.keepers[VOCABULARY] and self.keepers[VOCABULARY].kept(VOCABULARY)

    def model(self):
        """The bytes of the model, or None."""
        return self.keepers[MODEL] and self.keepers[MODEL].kept(MODEL)

    def thresholds(self):
        """The bytes of the thresholds, or None."""
        return self.keepers[THRESHOLDS] and self.keepers[THRESHOLDS].kept(THRESHOLDS)

    def find(self, wanted):
        """The number in the collection of the document with this id, or None."""
        if not self.has_ids:
            number = int(wanted) if re.fullmatch(rb"0|[1-9][0-9]{0,19}", wanted) else None
            return number if number in {living for living, _, _ in self.living()} else None
        base = 0
        for segment, deleted in zip(self.segments, self.deleted):
            document = segment.find(wanted) if segment.documents > 0 else None
            if document is not None and document not in deleted:
                return base + document
            base += segment.documents
        return None

    def check(self):
        """Verifies everything, manifests that are not the current one too; returns the number of documents."""
        for sequence, path in manifest_paths(self.directory):
            try:
                Manifest(path, sequence)
            except FileNotFoundError:
                pass  # a writer has removed it since
        for segment in self.segments:
            segment.check()
        if self.damaged_slices:
            raise self.damaged_slices[0]
        beside = (self.slices, self.graphs, self.columns, self.tables)
        for sidecar in [sidecar for kind in beside for sidecar in kind.values()]:
            sidecar.check()
        seen = set()
        for _, segment, document in self.living() if self.has_ids else ():
            name = segment.id(document)
            at = 8 * document
            segment.require_in(ID_OFFSETS, at, name not in seen, "an id that is there already: %r" % name)
            seen.add(name)
        return len(self)


def manifest_paths(directory):
    """Sequence number and path of every manifest, the newest first."""
    matches = [MANIFEST_NAME.match(name) for name in os.listdir(directory)]
    found = [(int(match.group(1)), os.path.join(directory, match.group())) for match in matches if match]
    return sorted(found, reverse=True)


def read_current_manifest(directory):
    """The whole manifest with the highest sequence number, and why newer ones were passed over."""
    paths = manifest_paths(directory)
    if not paths:
        raise FormatError(directory, None, "not a collection: it has no manifest")
    damaged = []
    for sequence, path in paths:
        try:
            return Manifest(path, sequence), damaged
        except NewerVersion:
            raise
        except FormatError as error:
            damaged.append(error)
        except FileNotFoundError:
            pass  # a writer has removed it since
    raise damaged[0] if damaged else FormatError(directory, None, "all manifests have gone while reading")


def open_collection(directory):
    """Opens a collection.  Starts again where a writer has meanwhile removed a segment of the state it was reading."""
    manifest, damaged = read_current_manifest(directory)
    while True:
        try:
            return Collection(directory, manifest, damaged)
        except Missing:
            newer, damaged = read_current_manifest(directory)
            if newer.sequence <= manifest.sequence:
                raise
            manifest = newer


def main(arguments):
    parser = argparse.ArgumentParser(description="Reads a collection of nigh, knowing nothing but docs/format.md.")
    parser.add_argument("--check", action="store_true", help="verify everything and print `ok DOCUMENTS`")
    parser.add_argument("directory", metavar="DIR")
    options = parser.parse_args(arguments)
    try:
        collection = open_collection(options.directory)
        if options.check:
            print("ok %d" % collection.check())
            return 0
        for error in collection.damaged + collection.damaged_slices:
            print("format_reader: passed over: %s" % error, file=sys.stderr)
        for name, signature, _ in collection.documents():
            sys.stdout.buffer.write(name + b"\t" + signature.hex().encode() + b"\n")
        sys.stdout.buffer.flush()
        return 0
    except (FormatError, OSError) as error:
        print("format_reader: %s" % error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
