# SPDX-License-Identifier: Apache-2.0
"""SipHash-2-4 with 64 bits, from the paper by Aumasson and Bernstein."""

import struct

MASK = (1 << 64) - 1


def rotate(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def rounds(v, count):
    a, b, c, d = v
    for _ in range(count):
        a = (a + b) & MASK
        b = rotate(b, 13) ^ a
        a = rotate(a, 32)
        c = (c + d) & MASK
        d = rotate(d, 16) ^ c
        a = (a + d) & MASK
        d = rotate(d, 21) ^ a
        c = (c + b) & MASK
        b = rotate(b, 17) ^ c
        c = rotate(c, 32)
    return a, b, c, d


def siphash(data, low_key=0, high_key=0):
    v = (
        low_key ^ 0x736F6D6570736575,
        high_key ^ 0x646F72616E646F6D,
        low_key ^ 0x6C7967656E657261,
        high_key ^ 0x7465646279746573,
    )
    padded = data + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", padded):
        a, b, c, d = rounds((v[0], v[1], v[2], v[3] ^ word), 2)
        v = (a ^ word, b, c, d)
    a, b, c, d = rounds((v[0], v[1], v[2] ^ 255, v[3]), 4)
    return a ^ b ^ c ^ d
