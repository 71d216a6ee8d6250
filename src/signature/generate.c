/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signatures that behave like those of documents, out of nothing but a seed.
 *
 * Random bits are no test: in 1024 of them every document is 512 bits from
 * every other and there is nothing to find.  In real collections documents crowd
 * into topics of very different sizes, some are copies, and some belong nowhere.
 * So a signature is made on the way down a tree, each level flipping bits of the
 * one above:
 *
 *     64 super-topics         random
 *        topics               flip 1/4 of the super-topic's bits
 *           sub-topics        flip 3/16 of the topic's
 *              documents      flip 1/16 to 3/10, most about 1/6;
 *                             one in 17 flips 5/16 to 7/16 and is near nothing
 *
 * and then 12 in 100 documents are another, earlier one with 1 to 26 bits in 256
 * flipped, more often few than many, and 4 in 100 are an earlier one itself.
 *
 * Flipping with p and then with q is flipping with p + q - 2pq; in 1 - 2p this is
 * a product, so distances can be read off.  Two documents of one sub-topic that
 * flip 1/6 each differ in (1 - (2/3)^2) / 2 = .28 of the bits, 284 of 1024; of
 * two sub-topics of one topic in .41; of two topics of one super-topic in .48.
 * With a sub-topic full of documents the nearest is nearer than the typical one.
 * Measured, a million documents, 1024 bits, distance to the nearest other
 * document at each tenth of the documents:
 *
 *     stored     0   6  38 152 186 208 224 235 256 290 417
 *     held out   2  64 167 190 208 227 239 257 279 307 437
 *
 * with the rest of the collection at 512, deviation 16.  (Real signatures are
 * harder in one more way: some of their bits are mostly 0 or mostly 1.)
 *
 * Sizes of sub-topics.  Sub-topics come in octaves of 64, 128, 256, ..., and a
 * document falls into each octave with the same chance, within it into any
 * sub-topic.  So the share of the sub-topic of rank r is about 1 / (r + 64), Zipf's
 * law with a blunt head, and no logarithm is needed.  There are as many octaves as
 * keep the average near 50 documents; of a million, the largest sub-topics have
 * 2,000 and the smallest 15.
 *
 * A document is a pure function of the options and its number: every draw is a
 * hash of (seed, purpose, number), so any part of a collection can be made
 * anywhere, in any order.  Only integers are used, so it is the same on every
 * machine.  Words of a signature do not depend on how many there are: a narrow
 * signature is the beginning of the wide one.  A copy points to an earlier number,
 * so following copies ends.
 *
 * Cost is the coins: a word takes 1 + 2 + 4 + at most 8 random words.  SplitMix64
 * for all of them gave 2.0 M documents/s at 1024 bits; its multiplications are
 * what SSE2 does not have.  Eight xorshift generators side by side, which
 * compilers turn into vector code, gave 3.2 (gcc) to 4.1 M/s (clang).  Four lanes
 * or sixteen were slower.  Any 64 successive words of such a generator are
 * linearly independent at each bit, so a mask's probability is exact.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "base/status.h"
#include "signature/formats.h"

/* Sub-topics of the first octave; each further octave has twice as many. */
#define FIRST_OCTAVE_BITS 6
#define MOST_OCTAVES 24
#define SUB_TOPICS_A_TOPIC 16
#define SUPER_TOPICS 64

/* Shares are of 256: how many bits of the parent's signature a child flips. */
#define SHARE_SUPER_TOPIC 128
#define SHARE_TOPIC 64
#define SHARE_SUB_TOPIC 48
#define SHARE_NEAREST 16
#define SHARE_FAR 80

/* Of 1024 documents. */
#define NEAR_COPIES 123
#define EXACT_COPIES 41
#define FAR_DOCUMENTS 61

#define LANES 8 /* generators side by side */
#define LONGEST_CHAIN 16
#define MOST_WORDS (NIGH_MAX_WIDTH_BITS / 64)

/* What random words are for: no two purposes share theirs. */
enum purpose { SUPER_TOPIC, TOPIC, SUB_TOPIC, DOCUMENT, COPY, TOPIC_OF, SUPER_TOPIC_OF, PLACE, NATURE, SOURCE };

enum kind { ORIGINAL, NEAR_COPY, EXACT_COPY };

/* What a document is, all of it drawn from its number. */
struct nature {
    enum kind kind;
    uint32_t share;      /* flipped of its sub-topic's signature */
    uint32_t copy_share; /* flipped of its source's, by a near-copy */
};

struct generator {
    uint64_t seed; /* mixed */
    uint64_t count;
    uint64_t topics;
    uint32_t octaves;
    size_t words;
};

static uint64_t key(const struct generator *generator, enum purpose purpose, uint64_t number) {
    return nigh__mix(nigh__mix(generator->seed + (uint64_t)purpose) + number);
}

/*
 * Flips each bit with probability share / 256, 64 bits at once.  Reading the
 * share from its lowest set bit up, each step halves the chance so far (and) or
 * halves it and adds a half (or); bits below the lowest set one change nothing,
 * so round shares are cheap.
 */
static void flip(uint64_t *signature, size_t words, uint64_t first, uint32_t share) {
    uint64_t coins[LANES];
    for (size_t i = 0; i < LANES; i++) coins[i] = nigh__mix(first + i);
    for (size_t start = 0; start < words; start += LANES) {
        uint64_t mask[LANES] = {0};
        for (uint32_t bit = (uint32_t)__builtin_ctz(share); bit < 8; bit++) {
            uint64_t either = UINT64_C(0) - (share >> bit & 1);
            for (size_t i = 0; i < LANES; i++) {
                coins[i] ^= coins[i] << 13;
                coins[i] ^= coins[i] >> 7;
                coins[i] ^= coins[i] << 17;
                mask[i] = (mask[i] & coins[i]) | (either & (mask[i] ^ coins[i]));
            }
        }
        for (size_t i = 0; i < LANES; i++) signature[start + i] ^= mask[i];
    }
}

static void generator_init(const nigh_generator_options *options, struct generator *out) {
    *out = (struct generator){.seed = nigh__mix(options->seed), .count = options->count, .octaves = 1};
    while (out->octaves < MOST_OCTAVES && options->count >> (12 + out->octaves) != 0) out->octaves++;
    uint64_t sub_topics = ((UINT64_C(1) << out->octaves) - 1) << FIRST_OCTAVE_BITS;
    out->topics = sub_topics / SUB_TOPICS_A_TOPIC;
    out->words = (options->width_bits + 63) / 64;
}

/* `range` is at most 2^32; fairness to one part in 2^32 / range is enough here. */
static uint64_t draw_below(uint64_t random, uint64_t range) { return ((random >> 32) * range) >> 32; }

static struct nature nature_of(const struct generator *generator, uint64_t number) {
    uint64_t random = key(generator, NATURE, number);
    uint32_t lot = random & 1023;
    uint32_t a = random >> 10 & 31;
    uint32_t b = random >> 15 & 31;
    bool far = (random >> 20 & 1023) < FAR_DOCUMENTS;
    struct nature nature = {.kind = ORIGINAL};
    if (lot < NEAR_COPIES + EXACT_COPIES) nature.kind = lot < NEAR_COPIES ? NEAR_COPY : EXACT_COPY;
    bool held_out = number >= generator->count;
    if (number == 0 || (held_out && (nature.kind == EXACT_COPY || generator->count == 0))) nature.kind = ORIGINAL;
    nature.share = far ? SHARE_FAR + a : SHARE_NEAREST + a + b;
    nature.copy_share = 1 + (a < b ? a : b) * 25 / 31;
    return nature;
}

static void original_add(const struct generator *generator, uint64_t number, uint32_t share, uint64_t *signature) {
    uint64_t random = key(generator, PLACE, number);
    uint64_t octave = draw_below(random, generator->octaves);
    uint64_t octave_size = UINT64_C(1) << (FIRST_OCTAVE_BITS + octave);
    uint64_t sub_topic = octave_size - (UINT64_C(1) << FIRST_OCTAVE_BITS) + (random & (octave_size - 1));
    uint64_t topic = draw_below(key(generator, TOPIC_OF, sub_topic), generator->topics);
    uint64_t super_topic = draw_below(key(generator, SUPER_TOPIC_OF, topic), SUPER_TOPICS);
    flip(signature, generator->words, key(generator, SUPER_TOPIC, super_topic), SHARE_SUPER_TOPIC);
    flip(signature, generator->words, key(generator, TOPIC, topic), SHARE_TOPIC);
    flip(signature, generator->words, key(generator, SUB_TOPIC, sub_topic), SHARE_SUB_TOPIC);
    flip(signature, generator->words, key(generator, DOCUMENT, number), share);
}

/* Flips commute, so those of a chain of copies are added on the way to its original. */
static void document_add(const struct generator *generator, uint64_t number, uint64_t *signature) {
    struct nature nature = nature_of(generator, number);
    for (int links = 0; nature.kind != ORIGINAL && links < LONGEST_CHAIN; links++) {
        if (nature.kind == NEAR_COPY)
            flip(signature, generator->words, key(generator, COPY, number), nature.copy_share);
        uint64_t earlier = number < generator->count ? number : generator->count;
        number = key(generator, SOURCE, number) % earlier;
        nature = nature_of(generator, number);
    }
    original_add(generator, number, nature.share, signature);
}

nigh_status nigh_generate(const nigh_generator_options *options, uint64_t number, uint8_t *out, nigh_error *error) {
    nigh_generator_options known = NIGH_GENERATOR_OPTIONS_INIT;
    nigh_status status = nigh__options_copy(&known, sizeof known, options, error);
    if (status != NIGH_OK) return status;
    if (!nigh__width_valid(known.width_bits))
        return nigh__fail(error, NIGH_EINVAL, "a width of %" PRIu32 " bits; it must be a multiple of 8 up to %u",
                          known.width_bits, NIGH_MAX_WIDTH_BITS);
    struct generator generator;
    generator_init(&known, &generator);
    uint64_t signature[MOST_WORDS];
    memset(signature, 0, (size_t)nigh__round_up(generator.words, LANES) * sizeof signature[0]);
    document_add(&generator, number, signature);
    memcpy(out, signature, known.width_bits / 8);
    return NIGH_OK;
}
