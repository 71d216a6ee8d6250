# SPDX-License-Identifier: Apache-2.0
"""Reads a term signature file, knowing nothing but docs/format.md.

It is slow and plain: bits are looked at one by one, terms are kept in a dict.
"""

import os
import re
import struct

from xxh3 import xxh3_64

MASK = 2**64 - 1
PRIME = 2**61 - 1


class FormatError(Exception):
    pass


def require(condition, why):
    if not condition:
        raise FormatError(why)


def mix(x):
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def bits_of(values):
    return (values - 1).bit_length() if values else 0


def read_head(data, magic, rest):
    """Checks what headers of groups and manifests have in common."""
    version, mark, _, incompatible = struct.unpack_from("<4I", data, 8)
    require(data[:8] == magic and version == 1 and mark == 0x01020304 and incompatible == 0, "another kind of file")
    checksum = struct.unpack_from("<Q", data, 56)[0]
    require(checksum == xxh3_64(data[:56] + data[64 : 64 + rest]), "checksum of a header")
    return checksum


class Group:
    def __init__(self, data, entry):
        _, length, documents, header_checksum = entry
        self.postings, self.documents, self.blocks, self.bits, count = struct.unpack_from("<Q4I", data, 32)
        require(read_head(data, b"\x89NIGHG\r\n", count * 48) == header_checksum, "not the file of the manifest")
        require(len(data) == length == struct.unpack_from("<Q", data, 24)[0], "another length")
        require(documents == self.documents, "another number of documents")
        self.sections = {}
        for i in range(count):
            kind, _, offset, size, items, checksum, _ = struct.unpack_from("<2I5Q", data, 64 + 48 * i)
            self.sections[kind] = (data[offset : offset + size], items)
            require(offset % 64 == 0 and checksum == xxh3_64(data[offset : offset + size]), "section %d" % kind)
        require(sorted(self.sections) == list(range(1, 20)), "other sections")
        self.lines = dict(line.split("=", 1) for line in self.sections[1][0].decode().splitlines())
        self.row_bytes = (self.blocks + 511) // 512 * 64
        require(self.sections[3][1] == self.bits and len(self.sections[3][0]) == self.bits * self.row_bytes, "rows")
        self.first_blocks = self.numbers(4, "I")
        self.read_dictionary()

    def numbers(self, kind, letter):
        data, count = self.sections[kind]
        return list(struct.unpack("<%d%s" % (count, letter), data))

    def packed(self, kind, count, width):
        whole = int.from_bytes(self.sections[kind][0], "little")
        require(len(self.sections[kind][0]) == (count * width + 7) // 8, "packed numbers of section %d" % kind)
        require(whole >> count * width == 0, "bits behind the last number")
        return [whole >> i * width & (1 << width) - 1 for i in range(count)]

    def read_dictionary(self):
        self.hashes = int(self.lines["hashes"])
        positions, hashed, single = (self.numbers(kind, "Q") for kind in (13, 15, 16))
        for part in (positions, hashed, single):
            require(part == sorted(set(part)), "hashes do not ascend")
        values = self.packed(14, len(positions) * self.hashes, bits_of(self.bits))
        blocks = self.packed(17, len(single), bits_of(self.blocks))
        self.terms = {h: ("positions", values[i * self.hashes : (i + 1) * self.hashes]) for i, h in enumerate(positions)}
        self.terms.update((h, ("hashed", None)) for h in hashed)
        self.terms.update((h, ("single", blocks[i])) for i, h in enumerate(single))
        require(len(self.terms) == len(positions) + len(hashed) + len(single), "a term twice")

    def bit(self, position, block):
        return self.sections[3][0][position * self.row_bytes + block // 8] >> block % 8 & 1

    def is_last(self, block):
        return self.sections[18][0][block // 8] >> block % 8 & 1

    def names(self, kind):
        offsets = self.numbers(kind, "Q")
        return [self.sections[kind + 1][0][a:b] for a, b in zip(offsets, offsets[1:])]


class Terms:
    def __init__(self, path):
        newest = max(name for name in os.listdir(path) if re.fullmatch("manifest-[0-9]{20}", name))
        with open(os.path.join(path, newest), "rb") as file:
            data = file.read()
        self.bits, count = struct.unpack_from("<2I", data, 48)
        read_head(data, b"\x89NIGHQ\r\n", 32 * count)
        self.groups = []
        for i in range(count):
            entry = struct.unpack_from("<4Q", data, 64 + 32 * i)
            with open(os.path.join(path, "terms-%020d" % entry[0]), "rb") as file:
                self.groups.append(Group(file.read(), entry))
        lines = self.groups[0].lines
        require(all(group.lines == lines for group in self.groups), "groups of another shape")
        self.kind, self.hashes, self.seed = lines["kind"], int(lines["hashes"]), int(lines["seed"])
        self.frequent_hashes = int(lines.get("frequent-hashes", 0))

    def hashed(self, term, count):
        return [mix(term ^ mix(self.seed + j)) % self.bits for j in range(count)]

    def find(self, number, term):
        """("positions", list), ("single", block), or None, for a hash in a group."""
        if self.kind == "bloom":
            return "positions", self.hashed(term, self.hashes)
        for back in range(number, -1, -1):
            kind, value = self.groups[back].terms.get(term, (None, None))
            if kind is None or (kind == "single" and back < number):
                continue
            return ("positions", self.hashed(term, self.frequent_hashes)) if kind == "hashed" else (kind, value)
        return None

    def documents(self, term):
        """Numbers of the documents that may have the term."""
        found, before = [], 0
        for number, group in enumerate(self.groups):
            place = self.find(number, term)
            for document in range(group.documents if place else 0):
                blocks = range(group.first_blocks[document], group.first_blocks[document + 1])
                if place[0] == "single":
                    has = place[1] in blocks
                else:
                    has = any(all(group.bit(p, block) for p in place[1]) for block in blocks)
                if has:
                    found.append(before + document)
            before += group.documents
        return found
