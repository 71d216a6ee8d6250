/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes signatures that behave like those of documents, from nothing but a seed.
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
 *
 * Weights.  In the signatures of documents a bit is the sign of a sum, and a small
 * sum is the likely one to change its sign in a near-copy.  With `weak_flips` it is
 * so here too.  The sums of a sub-topic are normal, with the signs that the tree gave;
 * those of a document are r times its sub-topic's, or its source's, plus
 * sqrt(1 - r^2) times new ones, and with r = cos(pi s) a share s of the signs differ.
 * Documents near one another then differ in bits that are weak in both.
 *
 * Without, flips came first, and the weights are drawn to fit them.  Of two sums with
 * correlation r, one of w deviations has the other sign in the other document with
 * probability
 *
 *     T(w) = P(X > w r / sqrt(1 - r^2)) = P(X > w cot(pi s)),     X normal
 *
 * So a bit that this document flips has the weight w with a probability in
 * proportion to the normal density times T(w), another times 1 - T(w).  A source
 * that is a near-copy itself adds its own factor, up to three of them.  What others
 * flip of the same source is not known here, so these weights do not tell it.
 *
 * In both, exact copies have the weights of their source.
 */
#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/limits.h"
#include "base/normal.h"
#include "base/rng.h"
#include "base/status.h"
#include "signature/signature_options.h"

/* Sub-topics of the first octave; each further octave has twice as many. */
#define FIRST_OCTAVE_BITS 6
#define MAX_OCTAVES 24
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
#define MAX_WORDS (NIGH_MAX_WIDTH_BITS / 64)

#define WEIGHTS 256      /* kinds of */
#define WEIGHT_UNIT 128  /* that many are one deviation */
#define WEIGHING_LINKS 3 /* of a chain of copies count where weights are drawn to fit */

/* What random words are for: no two purposes share theirs. */
enum purpose { SUPER_TOPIC, TOPIC, SUB_TOPIC, DOCUMENT, COPY, TOPIC_OF, SUPER_TOPIC_OF, PLACE, NATURE, SOURCE, WEIGHT };

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
    bool weak_flips;
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
    while (out->octaves < MAX_OCTAVES && options->count >> (12 + out->octaves) != 0) out->octaves++;
    uint64_t sub_topics = ((UINT64_C(1) << out->octaves) - 1) << FIRST_OCTAVE_BITS;
    out->topics = sub_topics / SUB_TOPICS_A_TOPIC;
    out->words = (options->width_bits + 63) / 64;
    out->weak_flips = options->weak_flips != 0;
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

static uint64_t sub_topic_of(const struct generator *generator, uint64_t number) {
    uint64_t random = key(generator, PLACE, number);
    uint64_t octave = draw_below(random, generator->octaves);
    uint64_t octave_size = UINT64_C(1) << (FIRST_OCTAVE_BITS + octave);
    return octave_size - (UINT64_C(1) << FIRST_OCTAVE_BITS) + (random & (octave_size - 1));
}

static void sub_topic_add(const struct generator *generator, uint64_t sub_topic, uint64_t *signature) {
    uint64_t topic = draw_below(key(generator, TOPIC_OF, sub_topic), generator->topics);
    uint64_t super_topic = draw_below(key(generator, SUPER_TOPIC_OF, topic), SUPER_TOPICS);
    flip(signature, generator->words, key(generator, SUPER_TOPIC, super_topic), SHARE_SUPER_TOPIC);
    flip(signature, generator->words, key(generator, TOPIC, topic), SHARE_TOPIC);
    flip(signature, generator->words, key(generator, SUB_TOPIC, sub_topic), SHARE_SUB_TOPIC);
}

static uint64_t source_of(const struct generator *generator, uint64_t number) {
    uint64_t earlier = number < generator->count ? number : generator->count;
    return key(generator, SOURCE, number) % earlier;
}

/* Flips commute, so those of a chain of copies are added on the way to its original. */
static void document_add(const struct generator *generator, uint64_t number, uint64_t *signature) {
    struct nature nature = nature_of(generator, number);
    for (int links = 0; nature.kind != ORIGINAL && links < LONGEST_CHAIN; links++) {
        if (nature.kind == NEAR_COPY)
            flip(signature, generator->words, key(generator, COPY, number), nature.copy_share);
        number = source_of(generator, number);
        nature = nature_of(generator, number);
    }
    sub_topic_add(generator, sub_topic_of(generator, number), signature);
    flip(signature, generator->words, key(generator, DOCUMENT, number), nature.share);
}

/* ------------------------------------------------------------------------ weights */

/* What a document flips of those it is a copy of, the nearest first. */
struct links {
    uint64_t number; /* of the document itself; of an exact copy, its source */
    uint32_t count;
    double slope[WEIGHING_LINKS]; /* cot(pi s) */
    uint64_t flips[WEIGHING_LINKS][MAX_WORDS];
};

struct angle {
    double cosine, sine;
};

/* pi share / 256, by turning that often. */
static struct angle angle_of_share(uint32_t share) {
    const struct angle turn = {0.9999247018391445, 0.012271538285719925};
    struct angle angle = {1, 0};
    for (uint32_t i = 0; i < share; i++)
        angle = (struct angle){angle.cosine * turn.cosine - angle.sine * turn.sine,
                               angle.cosine * turn.sine + angle.sine * turn.cosine};
    return angle;
}

static void link_add(const struct generator *generator, uint64_t number, uint32_t share, struct links *links) {
    uint64_t *flips = links->flips[links->count];
    memset(flips, 0, (size_t)nigh__round_up(generator->words, LANES) * sizeof flips[0]);
    flip(flips, generator->words, key(generator, COPY, number), share);
    const struct angle angle = angle_of_share(share);
    links->slope[links->count++] = angle.cosine / angle.sine;
}

static void links_find(const struct generator *generator, uint64_t number, struct links *links) {
    links->number = number;
    links->count = 0;
    for (int steps = 0; steps < LONGEST_CHAIN && links->count < WEIGHING_LINKS; steps++) {
        struct nature nature = nature_of(generator, number);
        if (nature.kind == ORIGINAL) return;
        if (nature.kind == NEAR_COPY) link_add(generator, number, nature.copy_share, links);
        number = source_of(generator, number);
        if (links->count == 0) links->number = number;
    }
}

/* below[w]: how likely, of 2^32, a weight up to w is for a bit that is flipped by the links in `pattern`. */
static void weight_odds(const double *tail, const struct links *links, uint32_t pattern, uint32_t below[WEIGHTS]) {
    double odds[WEIGHTS];
    double sum = 0;
    for (int w = 0; w < WEIGHTS; w++) {
        const double low = nigh__normal_tail_at(tail, w == 0 ? 0 : (w - 0.5) / WEIGHT_UNIT);
        const double high = w == WEIGHTS - 1 ? 0 : nigh__normal_tail_at(tail, (w + 0.5) / WEIGHT_UNIT);
        double product = low - high;
        for (uint32_t link = 0; link < links->count; link++) {
            const double other =
                nigh__normal_tail_at(tail, links->slope[link] * (w == 0 ? 0.25 : (double)w) / WEIGHT_UNIT);
            product *= (pattern >> link & 1) != 0 ? other : 1 - other;
        }
        sum += product;
        odds[w] = sum;
    }
    for (int w = 0; w < WEIGHTS; w++) below[w] = (uint32_t)(odds[w] / sum * UINT32_MAX);
}

static uint8_t weight_draw(const uint32_t below[WEIGHTS], uint32_t random) {
    uint32_t weight = 0;
    for (uint32_t step = WEIGHTS / 2; step > 0; step /= 2) weight += below[weight + step - 1] < random ? step : 0;
    return (uint8_t)weight;
}

static void weights_draw(const struct generator *generator, uint32_t width_bits, uint64_t number, uint8_t *weights) {
    double tail[NIGH__TAIL_POINTS];
    struct links links;
    uint32_t below[1 << WEIGHING_LINKS][WEIGHTS];
    uint32_t known = 0; /* patterns whose odds are there */
    nigh__normal_tail(tail);
    links_find(generator, number, &links);
    const uint64_t first = key(generator, WEIGHT, links.number);
    for (uint32_t bit = 0; bit < width_bits; bit++) {
        uint32_t pattern = 0;
        for (uint32_t link = 0; link < links.count; link++)
            pattern |= (uint32_t)(links.flips[link][bit / 64] >> bit % 64 & 1) << link;
        if ((known >> pattern & 1) == 0) weight_odds(tail, &links, pattern, below[pattern]);
        known |= UINT32_C(1) << pattern;
        weights[bit] = weight_draw(below[pattern], (uint32_t)(nigh__mix(first + bit) >> 32));
    }
}

/* ------------------------------------------------------------- copies by weight */

/* A sum of four, near enough to normal; DEVIATION is 2^16 / sqrt(3). */
#define DEVIATION 37837

static int64_t normal_draw(uint64_t random) {
    return (int64_t)((random & 0xffff) + (random >> 16 & 0xffff) + (random >> 32 & 0xffff) + (random >> 48)) - 131070;
}

/* What is added on the way from a document, which is first, to its sub-topic. */
struct chain {
    uint64_t sub_topic;
    int count;
    uint64_t keys[LONGEST_CHAIN + 1];
    int64_t cosine[LONGEST_CHAIN + 1], sine[LONGEST_CHAIN + 1];
};

static void chain_add(struct chain *chain, uint64_t link_key, uint32_t share) {
    const struct angle angle = angle_of_share(share);
    chain->keys[chain->count] = link_key;
    chain->cosine[chain->count] = (int64_t)(angle.cosine * 65536);
    chain->sine[chain->count] = (int64_t)(angle.sine * 65536);
    chain->count++;
}

static void chain_find(const struct generator *generator, uint64_t number, struct chain *chain) {
    struct nature nature = nature_of(generator, number);
    chain->count = 0;
    for (int links = 0; nature.kind != ORIGINAL && links < LONGEST_CHAIN; links++) {
        if (nature.kind == NEAR_COPY) chain_add(chain, key(generator, COPY, number), nature.copy_share);
        number = source_of(generator, number);
        nature = nature_of(generator, number);
    }
    chain_add(chain, key(generator, DOCUMENT, number), nature.share);
    chain->sub_topic = sub_topic_of(generator, number);
}

/* The sum of a bit: negative where it is not the sub-topic's. */
static int64_t chain_sum(const struct chain *chain, uint64_t first, uint32_t bit) {
    int64_t sum = normal_draw(nigh__mix(first + bit));
    if (sum < 0) sum = -sum;
    for (int link = chain->count - 1; link >= 0; link--)
        sum = (sum * chain->cosine[link] + normal_draw(nigh__mix(chain->keys[link] + bit)) * chain->sine[link]) / 65536;
    return sum;
}

static void weak_document_add(const struct generator *generator, uint32_t width_bits, uint64_t number,
                              uint64_t *signature, uint8_t *weights) {
    struct chain chain;
    chain_find(generator, number, &chain);
    sub_topic_add(generator, chain.sub_topic, signature);
    const uint64_t first = key(generator, WEIGHT, chain.sub_topic);
    for (uint32_t bit = 0; bit < width_bits; bit++) {
        const int64_t sum = chain_sum(&chain, first, bit);
        signature[bit / 64] ^= (uint64_t)(sum < 0) << bit % 64;
        if (weights == NULL) continue;
        const int64_t weight = ((sum < 0 ? -sum : sum) * WEIGHT_UNIT + DEVIATION / 2) / DEVIATION;
        weights[bit] = (uint8_t)(weight < WEIGHTS ? weight : WEIGHTS - 1);
    }
}

nigh_status nigh_generate_weighted(const nigh_generator_options *options, uint64_t number, uint8_t *out,
                                   uint8_t *weights, nigh_error *error) {
    nigh_generator_options known;
    nigh_status status = nigh__options_copy(&nigh__generator_options_shape, &known, options, error);
    if (status != NIGH_OK) return status;
    status = nigh__width_allowed(known.width_bits, error);
    if (status != NIGH_OK) return status;
    struct generator generator;
    generator_init(&known, &generator);
    uint64_t signature[MAX_WORDS];
    memset(signature, 0, (size_t)nigh__round_up(generator.words, LANES) * sizeof signature[0]);
    if (generator.weak_flips)
        weak_document_add(&generator, known.width_bits, number, signature, weights);
    else
        document_add(&generator, number, signature);
    signature[generator.words - 1] &= nigh__last_word_mask(known.width_bits);
    memcpy(out, signature, nigh__row_bytes(known.width_bits));
    if (weights != NULL && !generator.weak_flips) weights_draw(&generator, known.width_bits, number, weights);
    return NIGH_OK;
}

nigh_status nigh_generate(const nigh_generator_options *options, uint64_t number, uint8_t *out, nigh_error *error) {
    return nigh_generate_weighted(options, number, out, NULL, error);
}
