/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size of the alternative to filters: an inverted index, as small as it gets while it stays simple.
 *
 *     terms of one block    | hash, 8 bytes |   | block, ceil(log2 blocks) bits |
 *     others                | hash, 8 bytes |   | where the list begins, ceil(log2 bits of all lists) bits |
 *     a list                number of blocks less 1 in the gamma code, then the gaps in the code of Rice,
 *                           whose parameter b follows from that number: 2^b is at most 0.69 blocks / number
 *
 * A dense list comes to b = 0, and that is a row of bits.  The dictionary of filters has
 * hashes of the same 8 bytes, so that both know a word equally well.
 */
#include "base/status.h"
#include "eval/filters.h"

#define HASH_BITS 64u

static uint32_t floor_log2(uint64_t value) {
    uint32_t log = 0;
    while (value >>= 1) log++;
    return log;
}

static uint32_t rice_parameter(uint64_t blocks, uint64_t frequency) {
    return floor_log2(blocks * 69 / (frequency * 100));
}

/* Bits of the gaps of all terms in more than one block. */
static uint64_t sum_gaps(const struct nigh__blocks *blocks, uint32_t *next) {
    uint64_t bits = 0;
    for (uint32_t block = 0; block < blocks->blocks; block++) {
        for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++) {
            const uint32_t term = blocks->block_terms[i];
            if (blocks->frequencies[term] == 1) continue;
            const uint32_t parameter = rice_parameter(blocks->blocks, blocks->frequencies[term]);
            const uint32_t passed = block - next[term]; /* blocks without it */
            bits += (passed >> parameter) + 1 + parameter;
            next[term] = block + 1;
        }
    }
    return bits;
}

static uint64_t to_bytes(uint64_t bits) { return bits / 8 + (bits % 8 > 0); }

nigh_status nigh__inverted_bytes(const struct nigh__blocks *blocks, uint64_t *lists, uint64_t *dictionary,
                                 nigh_error *error) {
    uint32_t *next = nigh__alloc_table(blocks->context, blocks->terms, sizeof *next);
    if (next == NULL) return nigh__no_memory(error, "to count the bytes of an inverted index");
    uint64_t list_bits = sum_gaps(blocks, next);
    uint64_t singles = 0;
    nigh__free(blocks->context, next);
    for (uint32_t term = 0; term < blocks->terms; term++) {
        if (blocks->frequencies[term] == 1)
            singles++;
        else
            list_bits += 2 * floor_log2(blocks->frequencies[term] - 1) + 1;
    }
    *lists = to_bytes(list_bits + singles * nigh__bits_of(blocks->blocks));
    *dictionary = to_bytes((uint64_t)blocks->terms * HASH_BITS + (blocks->terms - singles) * nigh__bits_of(list_bits));
    return NIGH_OK;
}

uint64_t nigh__filter_dictionary_bytes(const struct nigh__positions *positions, uint32_t blocks) {
    const struct nigh__filter_shape *shape = &positions->shape;
    uint64_t counts[3] = {0};
    if (shape->kind == NIGH_FILTER_BLOOM) return 0;
    for (uint32_t term = 0; term < positions->terms; term++) counts[positions->kinds[term]]++;
    return to_bytes((uint64_t)positions->terms * HASH_BITS) +
           to_bytes(counts[NIGH__TERM_POSITIONS] * shape->hashes * nigh__bits_of(shape->bits)) +
           to_bytes(counts[NIGH__TERM_SINGLE] * nigh__bits_of(blocks));
}
