/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TopSig (Geva and De Vries, 2011): each term stands for a sparse random vector
 * of +1 and -1, a document for the weighted sum of its terms, and a signature is
 * the signs.  Few nonzero places keep common terms from drowning rare ones in
 * noise, and make a term cheap.
 *
 * Definition.  Of `width` sums, a term of hash h touches 2 * half different ones,
 *
 *     half = max(1, width / (2 * density))          1,024 / (2 * 21) = 24
 *
 * The first half of its positions gets +w, the second half -w.  Positions come
 * from SplitMix64 whose state starts as nigh__mix(h).  Each output of 64 bits is
 * cut into parts from the low end, of 16 bits where the width is a power of two
 * and of 32 otherwise, and a part gives the position
 *
 *     (part * width) >> (16 or 32)
 *
 * unless the term has that position already, in which case the part is skipped.
 * With a power of two all positions are equally likely; otherwise they differ by
 * less than one in 65,536.
 *
 * The cache.  Drawing positions costs more than adding them, and text repeats its
 * words, so a bag can come with small numbers for its terms:
 *
 *     cache   | 24 plus | 24 minus | 24 plus | 24 minus | ...    16 bits each
 *               term 0               term 1
 *
 * A term has 96 bytes, which lie in two cache lines; memory that is all zero says
 * that a term is not there yet, for positions of a term are never equal.  Numbers
 * follow no order in a text, so the lines of a term are asked for while those
 * before it are added.  The cache grows with the numbers up to 2^18 terms or
 * 24 MiB, whichever comes first; terms beyond are drawn anew each time, which changes
 * nothing but the time.
 *
 * Cost.  Adding is bound by one store a cycle, 48 of them; reading positions four
 * at a time leaves the loads out of the way.  Measured on Zen 3, ns a term with 48
 * positions: 19 from the first-level cache; 31 where terms come by Zipf's law from
 * 2^18, and 77 where nothing is asked for ahead; 119 drawn anew.
 */
#include "signature/topsig.h"

#include <string.h>

#include "base/memory.h"
#include "base/rng.h"
#include "base/status.h"

#define TERMS_FIRST ((size_t)1024)
#define AHEAD 16u
#define PARTS_MAX 4u /* of one output */

static uint32_t half_of(uint32_t width_bits, uint32_t density) {
    const uint64_t half = width_bits / (UINT64_C(2) * (density == 0 ? NIGH__TOPSIG_DENSITY : density));
    return half == 0 ? 1 : (uint32_t)half;
}

nigh_status nigh__topsig_init(const nigh_context *context, struct nigh__topsig *topsig, uint32_t width_bits,
                              uint32_t density, nigh_error *error) {
    const uint32_t half = half_of(width_bits, density);
    const size_t limit = NIGH__TOPSIG_CACHE_BYTES / (2 * (size_t)half * sizeof(uint16_t));
    *topsig = (struct nigh__topsig){.width_bits = width_bits, .half = half};
    topsig->limit = limit < NIGH__TOPSIG_TERMS ? limit : NIGH__TOPSIG_TERMS;
    topsig->marks = nigh__alloc_zero(context, width_bits, sizeof *topsig->marks);
    topsig->fresh = nigh__alloc(context, 2 * half + PARTS_MAX, sizeof *topsig->fresh);
    if (topsig->marks != NULL && topsig->fresh != NULL) return NIGH_OK;
    nigh__topsig_release(context, topsig);
    return nigh__fail(error, NIGH_ENOMEM, "no memory to project %u bits", width_bits);
}

void nigh__topsig_release(const nigh_context *context, struct nigh__topsig *topsig) {
    nigh__free(context, topsig->marks);
    nigh__free(context, topsig->fresh);
    nigh__free(context, topsig->cache);
    *topsig = (struct nigh__topsig){0};
}

/* -------------------------------------------------------------------- positions */

static bool is_power_of_two(uint32_t x) { return (x & (x - 1)) == 0; }

/* A mark that no position has.  Marks of terms drawn before stay until the marks begin anew. */
static uint16_t new_mark(struct nigh__topsig *topsig) {
    if (++topsig->mark == 0) {
        memset(topsig->marks, 0, topsig->width_bits * sizeof *topsig->marks);
        topsig->mark = 1;
    }
    return topsig->mark;
}

/*
 * Draws the positions of a term into `fresh`.  A doubled one is overwritten by the
 * next; the last output may give a few too many, for which there is room.
 */
static void draw(struct nigh__topsig *topsig, uint64_t hash) {
    const uint64_t width = topsig->width_bits;
    const unsigned part_bits = is_power_of_two(topsig->width_bits) ? 16 : 32;
    const uint64_t part_mask = (UINT64_C(1) << part_bits) - 1;
    const uint32_t needed = 2 * topsig->half;
    const uint16_t mark = new_mark(topsig);
    uint16_t *restrict marks = topsig->marks;
    uint16_t *restrict fresh = topsig->fresh;
    struct nigh__rng rng = {.state = nigh__mix(hash)};
    for (uint32_t count = 0; count < needed;) {
        uint64_t bits = nigh__rng_next(&rng);
        for (unsigned used = 0; used < 64; used += part_bits) {
            const uint32_t position = (uint32_t)((bits & part_mask) * width >> part_bits);
            bits >>= part_bits;
            fresh[count] = (uint16_t)position;
            count += marks[position] != mark;
            marks[position] = mark;
        }
    }
}

/* ------------------------------------------------------------------------ cache */

static size_t term_bytes(const struct nigh__topsig *topsig) { return 2 * (size_t)topsig->half * sizeof(uint16_t); }

static uint16_t *cached(const struct nigh__topsig *topsig, size_t number) {
    return topsig->cache + number * 2 * topsig->half;
}

/* Room for at least `needed` terms, at least doubled so that growing stays cheap. */
static nigh_status cache_grow(const nigh_context *context, struct nigh__topsig *topsig, size_t needed,
                              nigh_error *error) {
    size_t capacity = topsig->capacity == 0 ? TERMS_FIRST : topsig->capacity;
    while (capacity < needed) capacity *= 2;
    if (capacity > topsig->limit) capacity = topsig->limit;
    uint16_t *grown = nigh__alloc_table(context, capacity, term_bytes(topsig));
    if (grown == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for the vectors of %zu terms", capacity);
    const size_t kept = topsig->capacity * term_bytes(topsig);
    if (kept > 0) memcpy(grown, topsig->cache, kept);
    nigh__free(context, topsig->cache);
    topsig->cache = grown;
    topsig->capacity = capacity;
    return NIGH_OK;
}

nigh_status nigh__topsig_prepare(const nigh_context *context, struct nigh__topsig *topsig, const struct nigh__bag *bag,
                                 nigh_error *error) {
    if (bag->numbers == NULL) return NIGH_OK;
    if (bag->generation != topsig->generation && topsig->capacity > 0)
        memset(topsig->cache, 0, topsig->capacity * term_bytes(topsig));
    topsig->generation = bag->generation;
    size_t needed = 0;
    for (size_t i = 0; i < bag->count; i++) {
        const size_t number = bag->numbers[i];
        if (number >= needed && number < topsig->limit) needed = number + 1;
    }
    return needed > topsig->capacity ? cache_grow(context, topsig, needed, error) : NIGH_OK;
}

/* ----------------------------------------------------------------------- adding */

#define INLINE static inline __attribute__((always_inline))

/* Reads four positions as one word; which of them is the first does not matter. */
INLINE void add_four(int32_t *sums, const uint16_t *positions, int32_t weight) {
    uint64_t four;
    memcpy(&four, positions, sizeof four);
    sums[four & 0xffff] += weight;
    sums[four >> 16 & 0xffff] += weight;
    sums[four >> 32 & 0xffff] += weight;
    sums[four >> 48] += weight;
}

/* The usual half, 24, is three turns of the first loop. */
INLINE void add_half(int32_t *sums, const uint16_t *positions, uint32_t count, int32_t weight) {
    uint32_t i = 0;
    for (; i + 8 <= count; i += 8) {
        add_four(sums, positions + i, weight);
        add_four(sums, positions + i + 4, weight);
    }
    for (; i < count; i++) sums[positions[i]] += weight;
}

INLINE void add_term(int32_t *sums, const uint16_t *positions, uint32_t half, uint32_t weight) {
    add_half(sums, positions, half, (int32_t)weight);
    add_half(sums, positions + half, half, -(int32_t)weight);
}

/* Inlined by force: gcc takes a call that only prefetches for one without effect, and drops it. */
INLINE void prefetch(const struct nigh__topsig *topsig, size_t number) {
    if (number >= topsig->capacity) return;
    const char *term = (const char *)cached(topsig, number);
    __builtin_prefetch(term);
    __builtin_prefetch(term + NIGH__CACHE_LINE);
}

/* The positions of a term with a number; drawn where the cache does not have them. */
static const uint16_t *positions_of(struct nigh__topsig *topsig, uint64_t hash, size_t number) {
    if (number >= topsig->capacity) {
        draw(topsig, hash);
        return topsig->fresh;
    }
    uint16_t *positions = cached(topsig, number);
    if (positions[0] == positions[1]) {
        draw(topsig, hash);
        memcpy(positions, topsig->fresh, term_bytes(topsig));
    }
    return positions;
}

static void add_numbered(struct nigh__topsig *topsig, const struct nigh__bag *bag, int32_t *sums) {
    for (size_t i = 0; i < bag->count && i < AHEAD; i++) prefetch(topsig, bag->numbers[i]);
    for (size_t i = 0; i < bag->count; i++) {
        if (i + AHEAD < bag->count) prefetch(topsig, bag->numbers[i + AHEAD]);
        const uint16_t *positions = positions_of(topsig, bag->hashes[i], bag->numbers[i]);
        add_term(sums, positions, topsig->half, bag->weights[i]);
    }
}

void nigh__topsig_add(struct nigh__topsig *topsig, const struct nigh__bag *bag, int32_t *sums) {
    if (bag->numbers != NULL) {
        add_numbered(topsig, bag, sums);
        return;
    }
    for (size_t i = 0; i < bag->count; i++) {
        draw(topsig, bag->hashes[i]);
        add_term(sums, topsig->fresh, topsig->half, bag->weights[i]);
    }
}
