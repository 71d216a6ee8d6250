# SPDX-License-Identifier: Apache-2.0
"""Reads a file of chunks, knowing nothing but docs/format.md.

It is slow and plain, and checks all that the document demands; what a reader need not check it checks too.
"""

import struct

from xxh3 import xxh3_64

START = 12288
BLOCK = 262144
MAGIC = b"\x89NIGHC\r\n"
CHUNK_MAGIC = b"NIGHCHNK"


class FormatError(Exception):
    pass


def require(condition, offset, why):
    if not condition:
        raise FormatError("offset %d: %s" % (offset, why))


def checked(data, offset):
    """Whether 64 bytes end with the checksum of those before."""
    return struct.unpack_from("<Q", data, offset + 56)[0] == xxh3_64(data[offset : offset + 56])


def check_header(data):
    require(len(data) >= 64 and data[:8] == MAGIC, 0, "not a file of chunks")
    version, mark, _, incompatible, width, block = struct.unpack_from("<6I", data, 8)
    require(version == 1 and mark == 0x01020304, 8, "another version or endianness")
    require(checked(data, 0), 0, "checksum of the header")
    require(incompatible == 0 and width == 64 and block == BLOCK, 20, "features, width or block")
    require(len(data) >= START, len(data), "the file ends within its header")


def read_state(data):
    """Length, chunks and fingerprints of the state that counts."""
    best = None
    for offset in (4096, 8192):
        sequence, length, chunks, fingerprints = struct.unpack_from("<4Q", data, offset)
        room = length - START
        valid = checked(data, offset) and sequence > 0 and room >= 0 and length % 64 == 0
        valid = valid and chunks <= fingerprints and chunks <= room // 64 and fingerprints <= room // 12
        if valid and (best is None or sequence > best[0]):
            best = (sequence, length, chunks, fingerprints)
    require(best is not None, 4096, "no state is whole")
    require(len(data) >= best[1], len(data), "the file is shorter than its state says")
    return best[1:]


def read_block(data, offset, chunk, block, count):
    """Pairs of fingerprint and number, and the offset after them."""
    length = 16 + 8 * count + 4 * (count + count % 2) + 8
    require(struct.unpack_from("<QII", data, offset) == (chunk, block, count), offset, "another block")
    checksum = struct.unpack_from("<Q", data, offset + length - 8)[0]
    require(checksum == xxh3_64(data[offset : offset + length - 8]), offset, "checksum of the block")
    rows = struct.unpack_from("<%dQ" % count, data, offset + 16)
    numbers = struct.unpack_from("<%dI" % count, data, offset + 16 + 8 * count)
    return list(zip(rows, numbers)), offset + length


def read_chunk(data, start, chunk, first, end):
    """The fingerprints in the order in which they were appended, and the offset of the next chunk."""
    require(start % 64 == 0 and start + 64 <= end, start, "no room for a chunk")
    require(data[start : start + 8] == CHUNK_MAGIC and checked(data, start), start, "no chunk begins here")
    number, before, count, length = struct.unpack_from("<4Q", data, start + 8)
    require((number, before) == (chunk, first) and 1 <= count <= 2**32 - 2, start, "another chunk")
    require(start + length <= end, start, "longer than the file")
    pairs = []
    offset = start + 64
    while len(pairs) < count:
        some, offset = read_block(data, offset, chunk, len(pairs) // BLOCK, min(BLOCK, count - len(pairs)))
        pairs += some
    require(start + length == (offset + 63) // 64 * 64, start, "the length of the chunk")
    require(pairs == sorted(pairs), start, "not sorted by fingerprint and number")
    rows = {number: row for row, number in pairs}
    require(sorted(rows) == list(range(count)), start, "each number once")
    return [rows[number] for number in range(count)], start + length


def read_chunks(path):
    """All chunks of a file, as lists of fingerprints in the order of their numbers."""
    with open(path, "rb") as file:
        data = file.read()
    check_header(data)
    length, chunks, fingerprints = read_state(data)
    found = []
    offset = START
    total = 0
    for chunk in range(chunks):
        rows, offset = read_chunk(data, offset, chunk, total, length)
        found.append(rows)
        total += len(rows)
    require(offset == length and total == fingerprints, offset, "more or less than the state says")
    return found
