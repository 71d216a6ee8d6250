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
ORIGIN_MAGIC = b"NIGHCORI"


class FormatError(Exception):
    pass


def require(condition, offset, why):
    if not condition:
        raise FormatError("offset %d: %s" % (offset, why))


def checked(data, offset):
    """Whether 64 bytes end with the checksum of those before."""
    return struct.unpack_from("<Q", data, offset + 56)[0] == xxh3_64(data[offset : offset + 56])


def check_header(data):
    """Whether states say how long the origin is."""
    require(len(data) >= 64 and data[:8] == MAGIC, 0, "not a file of chunks")
    version, mark, _, incompatible, width, block = struct.unpack_from("<6I", data, 8)
    require(version == 1 and mark == 0x01020304, 8, "another version or endianness")
    require(checked(data, 0), 0, "checksum of the header")
    require(incompatible in (0, 1) and width == 64 and block == BLOCK, 20, "features, width or block")
    require(len(data) >= START, len(data), "the file ends within its header")
    return incompatible == 1


def read_state(data, has_origin):
    """Length, chunks, fingerprints and origin of the state that counts."""
    best = None
    for offset in (4096, 8192):
        sequence, length, chunks, fingerprints, origin = struct.unpack_from("<5Q", data, offset)
        origin = origin if has_origin else 0
        room = length - START - origin
        valid = checked(data, offset) and sequence > 0 and room >= 0 and length % 64 == 0 and origin % 64 == 0
        valid = valid and chunks <= fingerprints and chunks <= room // 64 and fingerprints <= room // 12
        if valid and (best is None or sequence > best[0]):
            best = (sequence, length, chunks, fingerprints, origin)
    require(best is not None, 4096, "no state is whole")
    require(len(data) >= best[1], len(data), "the file is shorter than its state says")
    return best[1:]


def read_origin(data, length):
    """Scheme, vocabulary and model as bytes; None where the file does not say."""
    if length == 0:
        return None
    require(length >= 64 and data[START : START + 8] == ORIGIN_MAGIC, START, "no origin begins here")
    require(checked(data, START), START, "checksum of the origin")
    lengths = struct.unpack_from("<3Q", data, START + 8)
    sums = struct.unpack_from("<3Q", data, START + 32)
    padded = [(size + 7) // 8 * 8 for size in lengths]
    require((64 + sum(padded) + 63) // 64 * 64 == length, START, "the length of the origin")
    require(1 <= lengths[0] <= 65536, START, "the length of the scheme")
    parts = []
    offset = START + 64
    for size, room, expected in zip(lengths, padded, sums):
        parts.append(data[offset : offset + size])
        require(xxh3_64(parts[-1]) == expected, offset, "checksum of a part of the origin")
        offset += room
    lines = parts[0].decode("utf-8", "replace").split("\n")
    keys = [line.partition("=")[0] for line in lines[:-1]]
    require(lines[-1] == "" and "bits=64" in lines and keys == sorted(set(keys)), START + 64, "the scheme")
    return parts


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


def read_file(path):
    """The origin of a file, and all chunks as lists of fingerprints in the order of their numbers."""
    with open(path, "rb") as file:
        data = file.read()
    length, chunks, fingerprints, origin = read_state(data, check_header(data))
    parts = read_origin(data, origin)
    found = []
    offset = START + origin
    total = 0
    for chunk in range(chunks):
        rows, offset = read_chunk(data, offset, chunk, total, length)
        found.append(rows)
        total += len(rows)
    require(offset == length and total == fingerprints, offset, "more or less than the state says")
    return parts, found


def read_chunks(path):
    return read_file(path)[1]
