# SPDX-License-Identifier: Apache-2.0
"""XXH3 with 64 bits, seed 0 and the default secret, in plain Python.

Written from the public specification (xxhash_spec.md of the xxHash project), so that the reader beside it depends on
nothing that the library depends on.  Names follow the specification.  Only the loop over long inputs is written for
speed: Python's integers do not overflow, so a whole block is added up first and cut to 64 bits when it is scrambled.
"""

import struct
from operator import mul

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF

PRIME32_1 = 0x9E3779B1
PRIME32_2 = 0x85EBCA77
PRIME32_3 = 0xC2B2AE3D
PRIME64_1 = 0x9E3779B185EBCA87
PRIME64_2 = 0xC2B2AE3D27D4EB4F
PRIME64_3 = 0x165667B19E3779F9
PRIME64_4 = 0x85EBCA77C2B2AE63
PRIME64_5 = 0x27D4EB2F165667C5
PRIME_MX1 = 0x165667919E3779F9
PRIME_MX2 = 0x9FB21C651E98DF25

SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)

STRIPE = 64
STRIPES_PER_BLOCK = (len(SECRET) - STRIPE) // 8
BLOCK = STRIPE * STRIPES_PER_BLOCK


def words64(data, start, count):
    return struct.unpack_from("<%dQ" % count, data, start)


def rotate_left(x, bits):
    return ((x << bits) | (x >> (64 - bits))) & MASK64


def swap_bytes(x):
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def fold(product):
    """The two halves of a 128-bit product, one over the other."""
    return (product & MASK64) ^ (product >> 64)


def avalanche(x):
    x ^= x >> 37
    x = x * PRIME_MX1 & MASK64
    return x ^ x >> 32


def avalanche_xxh64(x):
    x ^= x >> 33
    x = x * PRIME64_2 & MASK64
    x ^= x >> 29
    x = x * PRIME64_3 & MASK64
    return x ^ x >> 32


def hash_empty():
    first, second = words64(SECRET, 56, 2)
    return avalanche_xxh64(first ^ second)


def hash_1_to_3(data):
    length = len(data)
    combined = data[-1] | length << 8 | data[0] << 16 | data[length >> 1] << 24
    first, second = struct.unpack_from("<2I", SECRET, 0)
    return avalanche_xxh64(first ^ second ^ combined)


def hash_4_to_8(data):
    length = len(data)
    first = struct.unpack_from("<I", data, 0)[0]
    last = struct.unpack_from("<I", data, length - 4)[0]
    left, right = words64(SECRET, 8, 2)
    value = left ^ right ^ (last | first << 32)
    value ^= rotate_left(value, 49) ^ rotate_left(value, 24)
    value = value * PRIME_MX2 & MASK64
    value ^= (value >> 35) + length
    value = value * PRIME_MX2 & MASK64
    return value ^ value >> 28


def hash_9_to_16(data):
    length = len(data)
    secret = words64(SECRET, 24, 4)
    low = secret[0] ^ secret[1] ^ words64(data, 0, 1)[0]
    high = secret[2] ^ secret[3] ^ words64(data, length - 8, 1)[0]
    return avalanche(length + swap_bytes(low) + high + fold(low * high) & MASK64)


def mix_step(data, start, secret_start):
    data_words = words64(data, start, 2)
    secret_words = words64(SECRET, secret_start, 2)
    return fold((data_words[0] ^ secret_words[0]) * (data_words[1] ^ secret_words[1]))


def hash_17_to_128(data):
    length = len(data)
    total = length * PRIME64_1
    for i in range((length - 1 >> 5) + 1):
        total += mix_step(data, i * 16, i * 32)
        total += mix_step(data, length - i * 16 - 16, i * 32 + 16)
    return avalanche(total & MASK64)


def hash_129_to_240(data):
    length = len(data)
    total = length * PRIME64_1
    for i in range(8):
        total += mix_step(data, i * 16, i * 16)
    total = avalanche(total & MASK64)
    for i in range(8, length >> 4):
        total += mix_step(data, i * 16, (i - 8) * 16 + 3)
    total += mix_step(data, length - 16, 119)
    return avalanche(total & MASK64)


# The secret as a block of stripes sees it: stripe n is combined with the 64 bytes from 8 n.
BLOCK_SECRET = int.from_bytes(b"".join(SECRET[8 * n : 8 * n + STRIPE] for n in range(STRIPES_PER_BLOCK)), "little")
LAST_SECRET = int.from_bytes(SECRET[len(SECRET) - 71 : len(SECRET) - 7], "little")
SCRAMBLE_SECRET = words64(SECRET, len(SECRET) - STRIPE, 8)
MERGE_SECRET = words64(SECRET, 11, 8)


def accumulate(accumulators, stripes, secret):
    """Adds whole stripes; `secret` has at least as many bytes as `stripes`.  The sums may exceed 64 bits."""
    length = len(stripes)
    keyed = (int.from_bytes(stripes, "little") ^ secret) & ((1 << 8 * length) - 1)
    halves = struct.unpack("<%dI" % (length // 4), keyed.to_bytes(length, "little"))
    words = words64(stripes, 0, length // 8)
    for i in range(8):
        accumulators[i ^ 1] += sum(words[i::8])
        accumulators[i] += sum(map(mul, halves[2 * i :: 16], halves[2 * i + 1 :: 16]))


def scramble(accumulators):
    for i in range(8):
        x = accumulators[i] & MASK64
        x ^= x >> 47
        x ^= SCRAMBLE_SECRET[i]
        accumulators[i] = x * PRIME32_1 & MASK64


def hash_long(data):
    length = len(data)
    accumulators = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]
    last_block = (length - 1) // BLOCK * BLOCK
    for start in range(0, last_block, BLOCK):
        accumulate(accumulators, data[start : start + BLOCK], BLOCK_SECRET)
        scramble(accumulators)
    whole_stripes = (length - last_block - 1) // STRIPE * STRIPE
    accumulate(accumulators, data[last_block : last_block + whole_stripes], BLOCK_SECRET)
    accumulate(accumulators, data[length - STRIPE :], LAST_SECRET)
    result = length * PRIME64_1
    for i in range(0, 8, 2):
        left = accumulators[i] & MASK64 ^ MERGE_SECRET[i]
        right = accumulators[i + 1] & MASK64 ^ MERGE_SECRET[i + 1]
        result += fold(left * right)
    return avalanche(result & MASK64)


def xxh3_64(data):
    """XXH3_64bits of a bytes object or of a memoryview of bytes."""
    length = len(data)
    if length > 240:
        return hash_long(data)
    if length > 128:
        return hash_129_to_240(data)
    if length > 16:
        return hash_17_to_128(data)
    if length > 8:
        return hash_9_to_16(data)
    if length > 3:
        return hash_4_to_8(data)
    if length > 0:
        return hash_1_to_3(data)
    return hash_empty()
