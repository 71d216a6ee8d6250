/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The projector: one face for simhash, topsig and minhash.  What they share is
 * here: the memory, weights that are too heavy, and how sure a bit is.
 *
 * Heavy weights.  A sum is at most the total of all weights, and it has 31 bits.
 * Where the total does not fit, all weights lose their s lowest bits, for the
 * least s with
 *
 *     (total >> s) <= 2^31 - 1 - count
 *
 * and a weight that would vanish stays 1, which is what the count leaves room for.
 *
 * How sure.  A bit is the sign of a sum, and how far a sum is from 0 says how
 * much a document must change to turn it.  Sums of longer documents are larger
 * all over, so each is compared with the root of the mean of the squares:
 *
 *     q_j = min(255, floor(128 |W_j| / rms + 1/2))
 *
 * In whole numbers: the |W_j| are shifted left by one and the same number of
 * bits until the largest has 31; m is the mean of their squares and r its square
 * root, both rounded down, and q_j = floor((256 |W_j| + r) / (2 r)).  r has at
 * least 22 bits, so rounding it moves no weight but one on the very edge.
 */
#include "signature/project.h"

#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/hash.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"
#include "kernel/projection.h"
#include "signature/minhash.h"
#include "signature/simhash.h"
#include "signature/topsig.h"

#define PIECE 256u

struct nigh__projector {
    const nigh_context *context;
    const struct nigh__projection *kernel;
    nigh_scheme_kind scheme;
    uint32_t width_bits;
    uint32_t padded;  /* to whole groups */
    int32_t *sums;    /* of simhash and topsig, `padded` of them */
    uint32_t *minima; /* of minhash, the same */
    struct nigh__topsig topsig;
    struct nigh__minhash minhash;
};

/* -------------------------------------------------------------- making and ending */

static nigh_status values_init(struct nigh__projector *projector, nigh_error *error) {
    void *values = nigh__alloc_aligned(projector->context, projector->padded, sizeof(int32_t), NIGH__CACHE_LINE);
    if (values == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory to project %u bits", projector->width_bits);
    memset(values, 0, projector->padded * sizeof(int32_t));
    if (projector->scheme == NIGH_SCHEME_MINHASH)
        projector->minima = values;
    else
        projector->sums = values;
    return NIGH_OK;
}

static nigh_status projector_init(struct nigh__projector *projector, uint32_t density, uint64_t seed,
                                  nigh_error *error) {
    nigh_status status = values_init(projector, error);
    if (status != NIGH_OK) return status;
    if (projector->scheme == NIGH_SCHEME_TOPSIG)
        return nigh__topsig_init(projector->context, &projector->topsig, projector->width_bits, density, error);
    if (projector->scheme == NIGH_SCHEME_MINHASH)
        return nigh__minhash_init(projector->context, &projector->minhash, projector->padded, seed, error);
    return NIGH_OK;
}

static nigh_status check_shape(nigh_scheme_kind scheme, uint32_t width_bits, nigh_error *error) {
    const nigh_status status = nigh__width_allowed(width_bits, error);
    if (status != NIGH_OK) return status;
    if (scheme != NIGH_SCHEME_TOPSIG && scheme != NIGH_SCHEME_SIMHASH && scheme != NIGH_SCHEME_MINHASH)
        return nigh__fail(error, NIGH_EINVAL, "there is no scheme %d", (int)scheme);
    if (scheme == NIGH_SCHEME_TOPSIG && width_bits < 2) /* a term has a bit for and one against */
        return nigh__fail(error, NIGH_EINVAL, "a width of 1 bit; topsig needs 2 at least");
    return NIGH_OK;
}

nigh_status nigh__projector_new(const nigh_context *context, nigh_scheme_kind scheme, uint32_t width_bits,
                                uint32_t density, uint64_t seed, struct nigh__projector **out, nigh_error *error) {
    *out = NULL;
    nigh_status status = check_shape(scheme, width_bits, error);
    if (status != NIGH_OK) return status;
    struct nigh__projector *projector = nigh__alloc_zero(context, 1, sizeof *projector);
    if (projector == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory to project %u bits", width_bits);
    projector->context = context;
    projector->kernel = nigh__projection_choose(context->hamming->name);
    projector->scheme = scheme;
    projector->width_bits = width_bits;
    projector->padded = (width_bits + NIGH__PROJECTION_GROUP - 1) / NIGH__PROJECTION_GROUP * NIGH__PROJECTION_GROUP;
    NIGH__ASSERT(projector->padded >= width_bits && projector->padded - width_bits < NIGH__PROJECTION_GROUP);
    status = projector_init(projector, density, seed, error);
    if (status != NIGH_OK) {
        nigh__projector_free(projector);
        return status;
    }
    *out = projector;
    return NIGH_OK;
}

void nigh__projector_free(struct nigh__projector *projector) {
    if (projector == NULL) return;
    const nigh_context *context = projector->context;
    nigh__topsig_release(context, &projector->topsig);
    nigh__minhash_release(context, &projector->minhash);
    nigh__free(context, projector->sums);
    nigh__free(context, projector->minima);
    nigh__free(context, projector);
}

/* ------------------------------------------------------------------------ weights */

static uint64_t total_of(const uint32_t *weights, size_t count) {
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) total += weights[i];
    return total;
}

static unsigned shift_of(uint64_t total, size_t count) {
    unsigned shift = 0;
    while (total >> shift > (uint64_t)INT32_MAX - count) shift++;
    return shift;
}

static void shift_weights(const uint32_t *weights, size_t count, unsigned shift, uint32_t *out) {
    for (size_t i = 0; i < count; i++) out[i] = shift < 32 && weights[i] >> shift > 0 ? weights[i] >> shift : 1;
}

/* Features [at, at + count) of a bag. */
static struct nigh__bag part_of(const struct nigh__bag *bag, size_t at, size_t count) {
    struct nigh__bag part = *bag;
    part.hashes += at;
    part.weights += at;
    if (part.numbers != NULL) part.numbers += at;
    part.count = count;
    return part;
}

/* --------------------------------------------------------------------- projecting */

static void add(struct nigh__projector *projector, const struct nigh__bag *bag) {
    if (projector->scheme == NIGH_SCHEME_TOPSIG)
        nigh__topsig_add(&projector->topsig, bag, projector->sums);
    else
        nigh__simhash_add(projector->kernel, bag, projector->padded / 64, (uint32_t *)projector->sums);
}

/* Adds all features with lighter weights; returns their total. */
static uint64_t add_shifted(struct nigh__projector *projector, const struct nigh__bag *bag, unsigned shift) {
    uint64_t total = 0;
    uint32_t weights[PIECE];
    for (size_t at = 0; at < bag->count; at += PIECE) {
        struct nigh__bag part = part_of(bag, at, bag->count - at < PIECE ? bag->count - at : PIECE);
        shift_weights(part.weights, part.count, shift, weights);
        part.weights = weights;
        total += total_of(weights, part.count);
        add(projector, &part);
    }
    return total;
}

/* From the weights of the ones to those of the ones less those of the zeros, a group at a time. */
static void ones_to_sums(int32_t *sums, size_t count, uint32_t total) {
    for (size_t group = 0; group < count; group += NIGH__PROJECTION_GROUP) {
        for (size_t j = group; j < group + NIGH__PROJECTION_GROUP; j++)
            sums[j] = (int32_t)(2 * (uint32_t)sums[j] - total);
    }
}

static nigh_status project_sums(struct nigh__projector *projector, const struct nigh__bag *bag, nigh_error *error) {
    if (projector->scheme == NIGH_SCHEME_TOPSIG) {
        const nigh_status status = nigh__topsig_prepare(projector->context, &projector->topsig, bag, error);
        if (status != NIGH_OK) return status;
    }
    memset(projector->sums, 0, projector->padded * sizeof *projector->sums);
    uint64_t total = total_of(bag->weights, bag->count);
    const unsigned shift = shift_of(total, bag->count);
    if (shift == 0)
        add(projector, bag);
    else
        total = add_shifted(projector, bag, shift);
    if (projector->scheme == NIGH_SCHEME_SIMHASH) ones_to_sums(projector->sums, projector->padded, (uint32_t)total);
    return NIGH_OK;
}

nigh_status nigh__project(struct nigh__projector *projector, const struct nigh__bag *bag, nigh_error *error) {
    if (bag->count > NIGH__BAG_MAX)
        return nigh__fail(error, NIGH_ELIMIT, "a document of %zu features, more than %zu", bag->count, NIGH__BAG_MAX);
    if (projector->scheme != NIGH_SCHEME_MINHASH) return project_sums(projector, bag, error);
    memset(projector->minima, 0xff, projector->padded * sizeof *projector->minima);
    nigh__minhash_add(&projector->minhash, projector->kernel, bag->hashes, bag->count, projector->minima);
    return NIGH_OK;
}

/* ------------------------------------------------------------------- what it gives */

/* Whole bytes are made, so the last is that of a wider signature; of its bits those past the width are cleared. */
void nigh__project_bits(const struct nigh__projector *projector, uint8_t *signature) {
    const size_t bytes = nigh__row_bytes(projector->width_bits);
    if (projector->scheme == NIGH_SCHEME_MINHASH)
        projector->kernel->scramble(projector->minima, bytes, signature);
    else
        projector->kernel->signs(projector->sums, bytes, signature);
    signature[bytes - 1] &= nigh__last_byte_mask(projector->width_bits);
}

/* |sum| without a branch, for signs are as good as random. */
static uint32_t magnitude(int32_t sum) {
    const uint32_t negative = 0u - ((uint32_t)sum >> 31);
    return ((uint32_t)sum ^ negative) - negative;
}

/* floor(sqrt(x)), bit by bit from the highest. */
static uint64_t square_root(uint64_t x) {
    uint64_t root = 0;
    for (uint64_t bit = UINT64_C(1) << 31; bit != 0; bit >>= 1) {
        if ((root | bit) * (root | bit) <= x) root |= bit;
    }
    return root;
}

/* The mean of the squares of sums shifted to the left, rounded down.  The total may pass 64 bits, hence two halves. */
static uint64_t mean_square(const int32_t *sums, size_t count, unsigned shift) {
    uint64_t high = 0, low = 0;
    for (size_t j = 0; j < count; j++) {
        const uint64_t value = (uint64_t)magnitude(sums[j]) << shift;
        high += value * value >> 32;
        low += value * value & UINT32_MAX;
    }
    return (high / count << 32) + ((high % count << 32) + low) / count;
}

void nigh__weights_of_sums(const int32_t *sums, size_t count, uint8_t *weights) {
    uint32_t all = 0; /* bits of any; has as many as the largest */
    for (size_t j = 0; j < count; j++) all |= magnitude(sums[j]);
    if (all == 0) {
        memset(weights, 0, count);
        return;
    }
    unsigned shift = 0;
    while ((uint64_t)all << shift <= INT32_MAX / 2) shift++;
    const uint64_t root = square_root(mean_square(sums, count, shift));
    for (size_t j = 0; j < count; j++) {
        const uint64_t value = (uint64_t)magnitude(sums[j]) << shift;
        const uint64_t weight = (256 * value + root) / (2 * root);
        weights[j] = (uint8_t)(weight < UINT8_MAX ? weight : UINT8_MAX);
    }
}

void nigh__project_weights(const struct nigh__projector *projector, uint8_t *weights) {
    if (projector->scheme == NIGH_SCHEME_MINHASH)
        memset(weights, UINT8_MAX, projector->width_bits);
    else
        nigh__weights_of_sums(projector->sums, projector->width_bits, weights);
}

const int32_t *nigh__project_sums(const struct nigh__projector *projector) { return projector->sums; }

const uint32_t *nigh__project_minima(const struct nigh__projector *projector) { return projector->minima; }

void nigh__minhash_bands(const struct nigh__projector *projector, uint32_t bands, uint32_t rows, uint64_t *keys) {
    for (uint32_t b = 0; b < bands; b++)
        keys[b] = nigh__hash(projector->minima + (size_t)b * rows, rows * sizeof *projector->minima);
}
