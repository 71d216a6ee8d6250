# SPDX-License-Identifier: Apache-2.0
"""A disk for nbdkit's Python plugin that records what is written to it, and when it is told to make that safe.

`image` is what the disk has at first, `log` gets a record for each call: an offset and a length (little-endian, 64
bits each) and the bytes; a flush is an offset of all ones and no bytes.  read_log() reads it again.
"""
import os
import struct

API_VERSION = 2
HEAD = struct.Struct("<QQ")
FLUSH = 2**64 - 1

disk = None
log = None


def config(key, value):
    global disk, log
    if key == "image":
        with open_file(value, "rb") as image:
            disk = bytearray(image.read())
    elif key == "log":
        log = os.open(value, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o666)


open_file = open  # the plugin's own `open` is below


def open(readonly):  # noqa: A001  the name that nbdkit calls
    return 1


def get_size(handle):
    return len(disk)


def can_write(handle):
    return True


def can_flush(handle):
    return True


def pread(handle, buffer, offset, flags):
    buffer[:] = disk[offset : offset + len(buffer)]


def pwrite(handle, buffer, offset, flags):
    disk[offset : offset + len(buffer)] = buffer
    os.write(log, HEAD.pack(offset, len(buffer)) + bytes(buffer))


def flush(handle, flags):
    os.write(log, HEAD.pack(FLUSH, 0))


def read_log(path):
    """A list of (end of the record in the file, offset, bytes); of a flush the bytes are None."""
    records = []
    with open_file(path, "rb") as recorded:
        while head := recorded.read(HEAD.size):
            offset, length = HEAD.unpack(head)
            data = None if offset == FLUSH else recorded.read(length)
            records.append((recorded.tell(), offset, data))
    return records
