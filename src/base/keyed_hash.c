/* SPDX-License-Identifier: Apache-2.0 */
/* SipHash by Aumasson and Bernstein (2012), from their paper. */
#include "base/keyed_hash.h"

#include <string.h>

#define WORD sizeof(uint64_t)

static uint64_t rotate(uint64_t x, unsigned bits) { return x << bits | x >> (64 - bits); }

static void sip_rounds(uint64_t v[4], int rounds) {
    for (int i = 0; i < rounds; i++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void take_word(uint64_t v[4], uint64_t word) {
    v[3] ^= word;
    sip_rounds(v, 2);
    v[0] ^= word;
}

void nigh__keyed_hasher_init(struct nigh__keyed_hasher *hasher, uint64_t low_key, uint64_t high_key) {
    *hasher = (struct nigh__keyed_hasher){
        .state = {low_key ^ UINT64_C(0x736f6d6570736575), high_key ^ UINT64_C(0x646f72616e646f6d),
                  low_key ^ UINT64_C(0x6c7967656e657261), high_key ^ UINT64_C(0x7465646279746573)}};
}

static void take_byte(struct nigh__keyed_hasher *hasher, uint8_t byte) {
    hasher->tail |= (uint64_t)byte << (hasher->length % WORD * 8);
    if (++hasher->length % WORD != 0) return;
    take_word(hasher->state, hasher->tail);
    hasher->tail = 0;
}

void nigh__keyed_hasher_add(struct nigh__keyed_hasher *hasher, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    for (; length > 0 && hasher->length % WORD != 0; length--) take_byte(hasher, *at++);
    for (; length >= WORD; length -= WORD, at += WORD, hasher->length += WORD) {
        uint64_t word;
        memcpy(&word, at, WORD);
        take_word(hasher->state, word);
    }
    for (; length > 0; length--) take_byte(hasher, *at++);
}

uint64_t nigh__keyed_hasher_value(const struct nigh__keyed_hasher *hasher) {
    uint64_t v[4];
    memcpy(v, hasher->state, sizeof v);
    take_word(v, hasher->tail | hasher->length << 56);
    v[2] ^= 0xff;
    sip_rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}
