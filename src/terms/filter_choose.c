/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing the shape of filters.  For given bits, k, and of hybrid the hashes of frequent terms and
 * theta, are searched for one after the other: from where such filters usually are best, by long
 * steps and then by short ones, as long as the error falls by more than a hundredth (what is less is chance, and
 * more hashes are a larger dictionary).  For a wanted error the least m / n is searched for by halving, in
 * quarters of a bit.  Each trial takes milliseconds (filter_trial.h), and there are some dozens, or some
 * hundreds for a wanted error.
 *
 * Everything is decided by sums, products and quotients of doubles in a fixed order, so that the
 * same documents give the same shape everywhere.
 */
#include <math.h>

#include "base/bytes.h"
#include "base/status.h"
#include "terms/filter_goal.h"
#include "terms/filter_trial.h"

#define USUAL_ERROR 0.01
#define MAX_RATIO 64.0
#define MAX_BLOCK_TERMS 1000000u /* a quarter of a bit for each is less than the most bits of a filter */
#define QUARTERS 4u
#define USUAL_RATIO 8.0 /* where the halving begins, and for documents without terms */
#define WORTHWHILE 0.99
#define FEW_HASHES 8u /* of hybrid: no search begins with fewer */
#define MAX_HASHES NIGH__FILTER_MAX_HASHES
#define LONG_STEP 4
#define SHORT_STEP 2    /* from what was best for nearly as many bits */
#define MAX_TRIALS 100u /* at one m / n; 20 to 40 are usual */

/* The searched, by steps of these numbers. */
enum coordinate { HASHES, FREQUENT_HASHES, THETA, COORDINATES };

/* About sqrt(2) from one to the next. */
static const uint32_t thetas[] = {
    3, 4, 6, 8, 10, 14, 20, 28, 40, 56, 80, 113, 160, 226, 320, 452, 640, 905, NIGH__TRIAL_MAX_THETA};
#define THETAS (sizeof thetas / sizeof *thetas)
#define USUAL_THETA 8u /* thetas[8]: 40 */

struct choosing {
    const struct nigh__blocks *blocks;
    struct nigh__filter_trial trial;
    struct nigh__filter_shape given; /* 0: to be found */
    struct nigh__progress *progress;
    double mean; /* terms of a block */
    uint32_t trials;
    uint64_t done; /* trials so far, for progress */
};

/* One point of the search. */
struct candidate {
    uint32_t at[COORDINATES]; /* hashes, frequent hashes, index of theta */
    double error;
};

/* -------------------------------------------------------------- options -- */

/* NaN is none of these. */
static bool within(double value, double least, double most) { return value >= least && value <= most; }

static nigh_status check_numbers(const nigh_terms_options *options, nigh_error *error) {
    if (options->block_terms > MAX_BLOCK_TERMS)
        return nigh__fail(error, NIGH_EINVAL, "blocks of %u words; at most %u", options->block_terms, MAX_BLOCK_TERMS);
    if (options->hashes > NIGH__FILTER_MAX_HASHES)
        return nigh__fail(error, NIGH_EINVAL, "%u hashes a term; at most %u", options->hashes,
                          (unsigned)NIGH__FILTER_MAX_HASHES);
    if (options->kind > NIGH_FILTER_HYBRID && (options->frequent_hashes != 0 || options->theta != 0))
        return nigh__fail(error, NIGH_EINVAL, "only hybrid filters treat frequent terms differently");
    const uint32_t most = options->hashes != 0 ? options->hashes : NIGH__FILTER_MAX_HASHES;
    if (options->frequent_hashes > most)
        return nigh__fail(error, NIGH_EINVAL, "%u hashes of a frequent term; others have %u at most",
                          options->frequent_hashes, most);
    return NIGH_OK;
}

nigh_status nigh__filter_options_check(const nigh_terms_options *options, nigh_error *error) {
    if (options->kind != NIGH_FILTER_AUTO && nigh_filter_kind_name(options->kind) == NULL)
        return nigh__fail(error, NIGH_EINVAL, "%d is no kind of filter", (int)options->kind);
    if (!within(options->bits_per_term, 0, MAX_RATIO))
        return nigh__fail(error, NIGH_EINVAL, "%g bits a term; more than 0 and at most 64 are possible",
                          options->bits_per_term);
    if (!within(options->false_positives, 0, 1) || options->false_positives == 1)
        return nigh__fail(error, NIGH_EINVAL, "a share of false positives of %g; it must be between 0 and 1",
                          options->false_positives);
    if (options->bits_per_term > 0 && options->false_positives > 0)
        return nigh__fail(error, NIGH_EINVAL, "both the bits of a term and the share of false positives are given");
    if ((unsigned)options->goal > NIGH_GOAL_QUERIES)
        return nigh__fail(error, NIGH_EINVAL, "%d is no goal", (int)options->goal);
    if ((options->goal == NIGH_GOAL_QUERIES) != (options->query_log != NULL))
        return nigh__fail(error, NIGH_EINVAL, "a query log goes with the goal of queries, and that with a query log");
    return check_numbers(options, error);
}

static void take_options(const nigh_terms_options *options, struct nigh__filter_shape *shape) {
    if (shape->hashes == 0) shape->hashes = options->hashes;
    if (shape->frequent_hashes == 0) shape->frequent_hashes = options->frequent_hashes;
    if (shape->theta == 0) shape->theta = options->theta;
}

/* --------------------------------------------------------------- search -- */

static double rounded(double value) { return floor(value + 0.5); }

/* At least 1, whatever the ratio; 0: more than there can be. */
static uint32_t bits_at(const struct choosing *choosing, double ratio) {
    const double bits = rounded(ratio * choosing->mean);
    if (bits > NIGH__FILTER_MAX_BITS) return 0;
    return bits < 1 ? 1 : (uint32_t)bits;
}

static uint32_t between(double value, uint32_t least, uint32_t most) {
    return value < least ? least : value > most ? most : (uint32_t)rounded(value);
}

static struct nigh__filter_shape shape_of(const struct choosing *choosing, uint32_t bits,
                                          const struct candidate *candidate) {
    struct nigh__filter_shape shape = choosing->given;
    shape.bits = bits;
    shape.hashes = candidate->at[HASHES];
    if (shape.kind != NIGH_FILTER_HYBRID) return shape;
    shape.frequent_hashes = candidate->at[FREQUENT_HASHES];
    if (shape.theta == 0) shape.theta = thetas[candidate->at[THETA]];
    return shape;
}

/*
 * Where filters of so many bits a term usually are best.  Of hybrid, not with few hashes: positions must take more
 * bits than the number of a block for terms of one block to be kept as such, and below that the error is a step higher.
 */
static struct candidate usual(const struct choosing *choosing, double ratio) {
    static const double a_bit[] = {[NIGH_FILTER_HYBRID] = 1.4, [NIGH_FILTER_BLOOM] = 0.69, [NIGH_FILTER_COCA] = 2.5};
    const struct nigh__filter_shape *given = &choosing->given;
    const bool hybrid = given->kind == NIGH_FILTER_HYBRID;
    struct candidate candidate = {.at = {[FREQUENT_HASHES] = 1, [THETA] = USUAL_THETA}};
    const uint32_t least = given->frequent_hashes > FEW_HASHES ? given->frequent_hashes : FEW_HASHES;
    candidate.at[HASHES] =
        given->hashes != 0 ? given->hashes : between(a_bit[given->kind] * ratio, hybrid ? least : 1, MAX_HASHES);
    if (hybrid)
        candidate.at[FREQUENT_HASHES] =
            given->frequent_hashes != 0 ? given->frequent_hashes : between(0.4 * ratio, 1, candidate.at[HASHES]);
    return candidate;
}

static bool is_free(const struct choosing *choosing, enum coordinate coordinate) {
    const struct nigh__filter_shape *given = &choosing->given;
    if (coordinate == HASHES) return given->hashes == 0;
    if (given->kind != NIGH_FILTER_HYBRID) return false;
    return coordinate == THETA ? given->theta == 0 : given->frequent_hashes == 0;
}

/* False where there is nothing in that direction. */
static bool step_to(const struct candidate *from, enum coordinate coordinate, int step, struct candidate *out) {
    const int64_t value = (int64_t)from->at[coordinate] + step;
    const int64_t least = coordinate == THETA ? 0 : coordinate == HASHES ? from->at[FREQUENT_HASHES] : 1;
    const int64_t most = coordinate == THETA    ? (int64_t)THETAS - 1
                         : coordinate == HASHES ? NIGH__FILTER_MAX_HASHES
                                                : from->at[HASHES];
    if (value < least || value > most) return false;
    *out = *from;
    out->at[coordinate] = (uint32_t)value;
    return true;
}

static nigh_status try_candidate(struct choosing *choosing, uint32_t bits, struct candidate *candidate,
                                 nigh_error *error) {
    const struct nigh__filter_shape shape = shape_of(choosing, bits, candidate);
    choosing->trials++;
    if (choosing->progress != NULL && nigh__progress_tick(choosing->progress, "choosing", ++choosing->done, 0))
        return nigh__progress_cancelled(error);
    return nigh__filter_trial_run(&choosing->trial, &shape, &candidate->error, error);
}

/* As far as it gets better, first one way, else the other. */
static nigh_status walk(struct choosing *choosing, uint32_t bits, enum coordinate coordinate, int step,
                        struct candidate *best, bool *moved, nigh_error *error) {
    for (int direction = 0; direction < 2; direction++, step = -step) {
        struct candidate next;
        bool better = false;
        while (choosing->trials < MAX_TRIALS && step_to(best, coordinate, step, &next)) {
            nigh_status status = try_candidate(choosing, bits, &next, error);
            if (status != NIGH_OK) return status;
            if (!(next.error < best->error * WORTHWHILE)) break;
            *best = next;
            better = true;
        }
        *moved = *moved || better;
        if (better) break;
    }
    return NIGH_OK;
}

/* From *best, by steps of `step` and shorter ones. */
static nigh_status search(struct choosing *choosing, double ratio, int step, struct candidate *best,
                          nigh_error *error) {
    const uint32_t bits = bits_at(choosing, ratio);
    choosing->trials = 0;
    nigh_status status = try_candidate(choosing, bits, best, error);
    for (; step > 0 && status == NIGH_OK; step /= 2) {
        bool moved = true;
        while (moved && status == NIGH_OK && choosing->trials < MAX_TRIALS) {
            moved = false;
            for (int c = HASHES; c < COORDINATES && status == NIGH_OK; c++)
                if (is_free(choosing, (enum coordinate)c))
                    status = walk(choosing, bits, (enum coordinate)c, step, best, &moved, error);
        }
    }
    return status;
}

/* Of hybrid from two places: with one hash fewer for frequent terms another theta is best, and no step leads there. */
static nigh_status search_afresh(struct choosing *choosing, double ratio, struct candidate *best, nigh_error *error) {
    *best = usual(choosing, ratio);
    struct candidate second = *best;
    nigh_status status = search(choosing, ratio, LONG_STEP, best, error);
    if (status != NIGH_OK || !is_free(choosing, FREQUENT_HASHES) || second.at[FREQUENT_HASHES] == 1) return status;
    second.at[FREQUENT_HASHES]--;
    status = search(choosing, ratio, LONG_STEP, &second, error);
    if (second.error < best->error) *best = second;
    return status;
}

/* --------------------------------------------------------------- target -- */

/* The most quarters of a bit that a term may have here. */
static uint32_t most_quarters(const struct choosing *choosing) {
    uint32_t quarters = (uint32_t)MAX_RATIO * QUARTERS;
    while (quarters > 1 && bits_at(choosing, (double)quarters / QUARTERS) == 0) quarters--;
    return quarters;
}

/* Doubles until the target is met: *enough are then enough, *few are not. */
static nigh_status bracket(struct choosing *choosing, double target, uint32_t *few, uint32_t *enough,
                           struct candidate *best, nigh_error *error) {
    const uint32_t most = most_quarters(choosing);
    *few = 0;
    *enough = (uint32_t)nigh__smaller((size_t)(USUAL_RATIO * QUARTERS), most);
    for (;;) {
        nigh_status status = search_afresh(choosing, (double)*enough / QUARTERS, best, error);
        if (status != NIGH_OK || best->error <= target) return status;
        if (*enough == most)
            return nigh__fail(error, NIGH_EINVAL,
                              "a share of false positives of %g takes more than %g bits a term; with these it is %.3g",
                              target, (double)most / QUARTERS, best->error);
        *few = *enough;
        *enough = (uint32_t)nigh__smaller((size_t)*enough * 2, most);
    }
}

/* What was best, for another m / n: hashes go with it. */
static struct candidate scaled(const struct choosing *choosing, const struct candidate *best, double factor) {
    struct candidate out = *best;
    const uint32_t least = choosing->given.kind == NIGH_FILTER_HYBRID ? FEW_HASHES : 1;
    if (is_free(choosing, FREQUENT_HASHES))
        out.at[FREQUENT_HASHES] = between(best->at[FREQUENT_HASHES] * factor, 1, best->at[FREQUENT_HASHES]);
    if (is_free(choosing, HASHES))
        out.at[HASHES] = between(best->at[HASHES] * factor,
                                 least > out.at[FREQUENT_HASHES] ? least : out.at[FREQUENT_HASHES], MAX_HASHES);
    return out;
}

static nigh_status search_target(struct choosing *choosing, double target, double *ratio, struct candidate *best,
                                 nigh_error *error) {
    uint32_t few, enough;
    nigh_status status = bracket(choosing, target, &few, &enough, best, error);
    while (status == NIGH_OK && enough - few > 1) {
        const uint32_t middle = few + (enough - few) / 2;
        struct candidate tried = scaled(choosing, best, (double)middle / enough);
        status = search(choosing, (double)middle / QUARTERS, SHORT_STEP, &tried, error);
        if (status != NIGH_OK) break;
        if (tried.error <= target) {
            enough = middle;
            *best = tried;
        } else {
            few = middle;
        }
    }
    *ratio = (double)enough / QUARTERS;
    return status;
}

/* -------------------------------------------------------------- outside -- */

static nigh_status choose(struct choosing *choosing, const nigh_terms_options *options,
                          struct nigh__filter_shape *shape, double *expected, nigh_error *error) {
    struct candidate best;
    double ratio = shape->bits != 0 ? shape->bits / choosing->mean : options->bits_per_term;
    nigh_status status = NIGH_OK;
    if (ratio > 0)
        status = search_afresh(choosing, ratio, &best, error);
    else
        status = search_target(choosing, options->false_positives > 0 ? options->false_positives : USUAL_ERROR, &ratio,
                               &best, error);
    if (status != NIGH_OK) return status;
    *shape = shape_of(choosing, bits_at(choosing, ratio), &best);
    *expected = best.error;
    return NIGH_OK;
}

/* Without a term there is nothing to choose by: what is usual, for blocks that are full. */
static nigh_status choose_blindly(const nigh_terms_options *options, struct nigh__filter_shape *shape, double *expected,
                                  nigh_error *error) {
    const double ratio = options->bits_per_term > 0 ? options->bits_per_term : USUAL_RATIO;
    const struct choosing choosing = {.given = *shape, .mean = options->block_terms == 0 ? 400 : options->block_terms};
    const struct candidate candidate = usual(&choosing, ratio);
    const uint32_t bits = bits_at(&choosing, ratio);
    *expected = -1;
    *shape = shape_of(&choosing, shape->bits != 0 ? shape->bits : bits != 0 ? bits : NIGH__FILTER_MAX_BITS, &candidate);
    return nigh__filter_shape_check(shape, error);
}

nigh_status nigh__filter_choose(const struct nigh__blocks *blocks, const nigh_terms_options *options,
                                struct nigh__progress *progress, struct nigh__filter_shape *shape, double *expected,
                                nigh_error *error) {
    nigh_status status = nigh__filter_options_check(options, error);
    if (status != NIGH_OK) return status;
    take_options(options, shape);
    if (blocks->postings == 0) return choose_blindly(options, shape, expected, error);
    struct choosing choosing = {
        .blocks = blocks, .given = *shape, .progress = progress, .mean = (double)blocks->postings / blocks->blocks};
    if (shape->bits == 0 && bits_at(&choosing, options->bits_per_term) == 0)
        return nigh__fail(error, NIGH_EINVAL, "%g bits a term are more than %u bits a filter", options->bits_per_term,
                          (unsigned)NIGH__FILTER_MAX_BITS);
    double *weights;
    status = nigh__goal_weights(blocks, options->goal, options->query_log, &weights, error);
    if (status != NIGH_OK) return status;
    struct nigh__filter_shape most = *shape;
    if (most.hashes == 0) most.hashes = NIGH__FILTER_MAX_HASHES;
    status = nigh__filter_trial_init(blocks, weights, &most, options->threads, progress, &choosing.trial, error);
    nigh__free(blocks->context, weights);
    if (status == NIGH_OK) status = choose(&choosing, options, shape, expected, error);
    nigh__filter_trial_release(&choosing.trial);
    return status == NIGH_OK ? nigh__filter_shape_check(shape, error) : status;
}
