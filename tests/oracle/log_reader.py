# SPDX-License-Identifier: Apache-2.0
"""Reads the logs of a collection, written from docs/format.md alone.

    log = read_log(path, number, first, scheme, width)          log.documents, log.verdict
    logs = read_logs(folder, next_segment, first, scheme, width)  one after the other

The verdict is "whole", ("torn", bytes) or ("damaged", offset).
"""
import os
import struct

from xxh3 import xxh3_64

HEADER_SIZE = 64
HEAD_SIZE = 40
MAGIC = b"\x89NIGHL\r\n"
RECORD_MAGIC = 0x4452474E
MOST_BYTES = 1 << 30


class LogError(Exception):
    pass


class Record:
    def __init__(self, offset, end, length, kind, sequence, synced, content):
        self.offset, self.end, self.length, self.kind = offset, end, length, kind
        self.sequence, self.synced, self.content = sequence, synced, content


def unpack_values(packed):
    """The values of a document, of each key one: None, an int, a float or bytes."""
    at = 0
    while at < len(packed):
        kind, at = packed[at], at + 1
        size = {0: 0, 1: 8, 2: 8, 3: 2}.get(kind)
        if size is None or at + size > len(packed):
            raise LogError("a value is malformed")
        if kind == 3:
            size = struct.unpack_from("<H", packed, at)[0]
            at += 2
        value = packed[at:at + size]
        if len(value) != size:
            raise LogError("a value is cut short")
        yield value if kind == 3 else None if kind == 0 else struct.unpack("<q" if kind == 1 else "<d", value)[0]
        at += size


class Document:
    def __init__(self, content, width):
        flags, id_length, metadata_length, keys, text_length = struct.unpack_from("<IIIIQ", content)
        row = (width + 63) // 64 * 8
        weights = width if flags & 2 else 0
        rest = len(content) - (24 + row + weights + 4 * keys + id_length + metadata_length + text_length)
        if flags & ~15 or keys > 128 or rest < 0 or (rest > 0) != bool(flags & 8):
            raise LogError("the lengths of a document do not add up")
        at = 24
        self.signature = content[at:at + row]
        at += row + weights
        self.keys = struct.unpack_from(f"<{keys}I", content, at)
        at += 4 * keys
        self.id = content[at:at + id_length] if flags & 1 else None
        at += id_length
        self.metadata = content[at:at + metadata_length]
        at += metadata_length
        self.text = content[at:at + text_length] if flags & 4 else None
        self.values = list(unpack_values(content[at + text_length:]))


class Log:
    def __init__(self, data, number, first, scheme, width, end=None):
        self.data, self.number, self.first, self.width = data, number, first, width
        self.end = end  # the first of the log behind it
        self.documents = []
        self.verdict = "whole"
        if len(data) < HEADER_SIZE or xxh3_64(data[:56]) != struct.unpack_from("<Q", data, 56)[0]:
            self.judge(0, first)
            return
        self.require_header(scheme)
        at, sequence = HEADER_SIZE, first
        while at < len(data):
            record = self.record_at(at)
            if record is None or record.sequence != sequence:
                self.judge(at, sequence)
                return
            if record.kind != 1:
                raise LogError(f"a record of kind {record.kind}")
            self.documents.append(Document(record.content, width))
            at, sequence = record.end, sequence + 1
        if end is not None and sequence < end:
            self.verdict = ("damaged", at)

    def require_header(self, scheme):
        magic, version, mark, _, incompatible, number, first, checksum, width, zero = struct.unpack_from(
            "<8sIIIIQQQII", self.data)
        if magic != MAGIC or mark != 0x01020304 or version != 1 or incompatible != 0 or zero != 0:
            raise LogError("no log, or a newer one")
        if (number, first, checksum, width) != (self.number, self.first, xxh3_64(scheme), self.width):
            raise LogError("the log of another collection")

    def record_at(self, at):
        """The whole record at an offset, or None."""
        if at + HEAD_SIZE > len(self.data):
            return None
        magic, log, checksum, length, kind, sequence, synced = struct.unpack_from("<IIQIIQQ", self.data, at)
        end = (at + HEAD_SIZE + length + 7) // 8 * 8
        if magic != RECORD_MAGIC or log != self.number & 0xFFFFFFFF or length > MOST_BYTES or end > len(self.data) \
                or synced > sequence or sequence < self.first or xxh3_64(self.data[at + 16:end]) != checksum:
            return None
        return Record(at, end, length, kind, sequence, synced, self.data[at + HEAD_SIZE:at + HEAD_SIZE + length])

    def judge(self, at, sequence):
        """What is not whole at an offset: damaged, where a later record says that it was on the disk."""
        for offset in range(at // 8 * 8 + 8, len(self.data), 8):
            later = self.record_at(offset)
            if later is not None and later.sequence >= sequence and later.synced > sequence:
                self.verdict = ("damaged", at)
                return
        if self.end is not None and sequence < self.end:
            self.verdict = ("damaged", at)
            return
        self.verdict = ("torn", len(self.data) - at)


def read_log(path, number, first, scheme, width, end=None):
    with open(path, "rb") as file:
        return Log(file.read(), number, first, scheme, width, end)


def first_of(path):
    """The sequence that a log begins with; None where its header is not whole."""
    with open(path, "rb") as file:
        header = file.read(HEADER_SIZE)
    if len(header) < HEADER_SIZE or xxh3_64(header[:56]) != struct.unpack_from("<Q", header, 56)[0]:
        return None
    return struct.unpack_from("<Q", header, 32)[0]


def read_logs(folder, next_segment, first, scheme, width):
    numbers = sorted(int(name[4:]) for name in os.listdir(folder) if name.startswith("log-") and name[4:].isdigit())
    numbers = [number for number in numbers if number >= next_segment]
    paths = [f"{folder}/log-{number:020}" for number in numbers]
    logs = []
    for i, number in enumerate(numbers):
        end = first_of(paths[i + 1]) if i + 1 < len(paths) else None
        logs.append(read_log(paths[i], number, first, scheme, width, end))
        first += len(logs[-1].documents)
        if isinstance(logs[-1].verdict, tuple) and logs[-1].verdict[0] == "damaged":
            break
    return logs
