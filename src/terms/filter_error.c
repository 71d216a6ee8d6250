/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How often filters err.  Every term is tried on every sampled block, and that is many times
 * more than there are postings; so 64 blocks are tried at once, by the layout of the file itself:
 *
 *     rows[p]   bit b: the filter of block b has position p
 *     term      the AND of the rows of its positions, less the blocks that have it: false
 *
 * Work is cut into tasks, a group of 64 blocks and a range of terms each, whatever the number of
 * threads; tallies of tasks are summed in their order, so that sums of doubles are always the same.
 * Cost: about 10 ns a term and group.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "terms/positions.h"

#define GROUP 64u
#define RANGE ((uint32_t)1 << 15) /* terms of a task */
#define CLASSES 4u

/* Of one block. */
struct tally {
    uint64_t by_class[CLASSES];
    uint64_t weighted;
    double by_queries;
};

struct measuring {
    const struct nigh__blocks *blocks;
    const struct nigh__positions *positions;
    const double *weights;
    const uint32_t *sampled; /* blocks */
    uint32_t sample;
    uint32_t groups;
    uint32_t ranges;
    uint64_t *rows;        /* bits of a filter, for each group */
    uint64_t *masks;       /* RANGE for each thread */
    struct tally *tallies; /* GROUP for each task */
    double *fills;         /* of each sampled block */
};

/* What the sums are divided by. */
struct totals {
    double terms, postings, weights;
    double by_class[CLASSES];
    double by_count[NIGH__FILTER_MAX_HASHES + 1]; /* weights of terms with so many positions */
};

static uint32_t class_of(uint32_t frequency) { return frequency > 100 ? 3 : frequency > 10 ? 2 : frequency > 1; }

/* ----------------------------------------------------------------- rows -- */

static uint32_t group_size(const struct measuring *measuring, uint32_t group) {
    return (uint32_t)nigh__smaller(GROUP, measuring->sample - group * GROUP);
}

/* Returns how many bits are set. */
static uint64_t set_block(const struct measuring *measuring, uint32_t block, uint32_t bit, uint64_t *rows) {
    const struct nigh__blocks *blocks = measuring->blocks;
    uint64_t set = 0;
    for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++) {
        const uint32_t term = blocks->block_terms[i];
        const uint32_t *positions = nigh__positions_of(measuring->positions, term);
        const uint32_t count = nigh__positions_count(measuring->positions, term);
        for (uint32_t j = 0; j < count; j++) {
            NIGH__ASSERT(positions[j] < measuring->positions->shape.bits);
            uint64_t *row = &rows[positions[j]];
            set += ~*row >> bit & 1;
            *row |= UINT64_C(1) << bit;
        }
    }
    return set;
}

static nigh_status make_rows(void *user, const struct nigh__items *items) {
    const struct measuring *measuring = user;
    const uint32_t bits = measuring->positions->shape.bits;
    for (uint32_t group = (uint32_t)items->first; group < items->end; group++) {
        uint64_t *rows = measuring->rows + (size_t)group * bits;
        memset(rows, 0, bits * sizeof *rows);
        const uint32_t size = group_size(measuring, group);
        for (uint32_t b = 0; b < size; b++) {
            const uint64_t set = set_block(measuring, measuring->sampled[group * GROUP + b], b, rows);
            measuring->fills[group * GROUP + b] = (double)set / bits;
        }
    }
    return NIGH_OK;
}

/* ---------------------------------------------------------------- tasks -- */

/* Which of the group's blocks have each term of the range. */
static void make_masks(const struct measuring *measuring, uint32_t group, uint32_t begin, uint32_t count,
                       uint64_t *masks) {
    const struct nigh__blocks *blocks = measuring->blocks;
    const uint32_t size = group_size(measuring, group);
    memset(masks, 0, count * sizeof *masks);
    for (uint32_t b = 0; b < size; b++) {
        const uint32_t block = measuring->sampled[group * GROUP + b];
        for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++) {
            const uint32_t term = blocks->block_terms[i] - begin; /* one before it is now large */
            if (term < count) masks[term] |= UINT64_C(1) << b;
        }
    }
}

static uint64_t find_term(const struct measuring *measuring, const uint64_t *rows, uint32_t term) {
    const uint32_t *positions = nigh__positions_of(measuring->positions, term);
    const uint32_t count = nigh__positions_count(measuring->positions, term);
    uint64_t found = count == 0 ? 0 : UINT64_MAX; /* a single term is where it is, and nowhere else */
    for (uint32_t j = 0; j < count && found != 0; j++) found &= rows[positions[j]];
    return found;
}

static void tally_term(const struct measuring *measuring, uint32_t term, uint64_t errors, struct tally *tallies) {
    const uint32_t frequency = measuring->blocks->frequencies[term];
    const uint32_t class = class_of(frequency);
    const double weight = measuring->weights == NULL ? 0 : measuring->weights[term];
    for (; errors != 0; errors &= errors - 1) {
        struct tally *tally = &tallies[__builtin_ctzll(errors)];
        tally->by_class[class]++;
        tally->weighted += frequency;
        tally->by_queries += weight;
    }
}

static void do_task(const struct measuring *measuring, uint32_t task, uint64_t *masks) {
    NIGH__ASSERT(task / measuring->ranges < measuring->groups);
    const uint32_t group = task / measuring->ranges;
    const uint32_t begin = task % measuring->ranges * RANGE;
    const uint32_t count = (uint32_t)nigh__smaller(RANGE, measuring->blocks->terms - begin);
    const uint64_t *rows = measuring->rows + (size_t)group * measuring->positions->shape.bits;
    struct tally *tallies = measuring->tallies + (size_t)task * GROUP;
    make_masks(measuring, group, begin, count, masks);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t errors = find_term(measuring, rows, begin + i) & ~masks[i];
        if (errors != 0) tally_term(measuring, begin + i, errors, tallies);
    }
}

static nigh_status do_tasks(void *user, const struct nigh__items *items) {
    const struct measuring *measuring = user;
    uint64_t *masks = measuring->masks + (size_t)items->thread * RANGE;
    for (uint64_t task = items->first; task < items->end; task++) do_task(measuring, (uint32_t)task, masks);
    return NIGH_OK;
}

/* ----------------------------------------------------------------- sums -- */

static struct totals sum_totals(const struct measuring *measuring) {
    const struct nigh__blocks *blocks = measuring->blocks;
    struct totals totals = {.terms = blocks->terms};
    for (uint32_t term = 0; term < blocks->terms; term++) {
        const double weight = measuring->weights == NULL ? 1 : measuring->weights[term];
        totals.postings += blocks->frequencies[term];
        totals.weights += weight;
        totals.by_class[class_of(blocks->frequencies[term])]++;
        totals.by_count[nigh__positions_count(measuring->positions, term)] += weight;
    }
    return totals;
}

/* Of one block, as if positions were drawn independently: a term with c of them is found by fill^c. */
static double independent_error(const struct totals *totals, double fill) {
    double power = 1;
    double sum = 0;
    for (uint32_t count = 1; count <= NIGH__FILTER_MAX_HASHES; count++) {
        power *= fill;
        sum += totals->by_count[count] * power;
    }
    return totals->weights > 0 ? sum / totals->weights : 0;
}

static struct tally sum_tallies(const struct measuring *measuring, uint32_t sampled) {
    struct tally sum = {0};
    const uint32_t group = sampled / GROUP;
    for (uint32_t range = 0; range < measuring->ranges; range++) {
        const size_t task = (size_t)group * measuring->ranges + range;
        const struct tally *tally = &measuring->tallies[task * GROUP + sampled % GROUP];
        for (uint32_t c = 0; c < CLASSES; c++) sum.by_class[c] += tally->by_class[c];
        sum.weighted += tally->weighted;
        sum.by_queries += tally->by_queries;
    }
    return sum;
}

static double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

static int double_compare(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void find_quantiles(double *errors, uint32_t count, double *out) {
    static const uint64_t tenths[] = {1, 5, 9};
    qsort(errors, count, sizeof *errors, double_compare);
    for (size_t i = 0; i < 3; i++) out[i] = errors[count * tenths[i] / 10];
}

static void sum_up(const struct measuring *measuring, struct nigh__filter_error *out) {
    const struct totals totals = sum_totals(measuring);
    const double sample = measuring->sample;
    double squares = 0;
    out->least = 1;
    for (uint32_t i = 0; i < measuring->sample; i++) {
        const struct tally tally = sum_tallies(measuring, i);
        uint64_t errors = 0;
        for (uint32_t c = 0; c < CLASSES; c++) {
            errors += tally.by_class[c];
            out->by_frequency[c] += share((double)tally.by_class[c], totals.by_class[c]) / sample;
        }
        const double error = (double)errors / totals.terms;
        out->mean += error / sample;
        squares += error * error / sample;
        out->least = error < out->least ? error : out->least;
        out->most = error > out->most ? error : out->most;
        out->weighted += share((double)tally.weighted, totals.postings) / sample;
        out->by_queries += measuring->weights == NULL ? 0 : share(tally.by_queries, totals.weights) / sample;
        out->fill += measuring->fills[i] / sample;
        out->independent += independent_error(&totals, measuring->fills[i]) / sample;
        measuring->fills[i] = error; /* there is no more use for the fill */
    }
    find_quantiles(measuring->fills, measuring->sample, out->quantiles);
    const double variance = squares - out->mean * out->mean;
    out->deviation = variance > 0 ? sqrt(variance) : 0;
}

/* -------------------------------------------------------------- outside -- */

/* One from each of `sample` stretches of the blocks that are as long as each other. */
static void draw_sample(uint32_t blocks, uint32_t sample, uint64_t seed, uint32_t *out) {
    struct nigh__rng rng = {.state = nigh__mix(seed)};
    for (uint64_t i = 0; i < sample; i++) {
        const uint64_t begin = i * blocks / sample;
        const uint64_t end = (i + 1) * blocks / sample;
        out[i] = (uint32_t)(begin + nigh__rng_next(&rng) % (end - begin));
    }
}

static bool make_room(const nigh_context *context, uint32_t threads, struct measuring *measuring, uint32_t **sampled) {
    const size_t bits = measuring->positions->shape.bits;
    const size_t tasks = (size_t)measuring->groups * measuring->ranges;
    *sampled = nigh__alloc(context, measuring->sample, sizeof **sampled);
    measuring->sampled = *sampled;
    measuring->rows = nigh__alloc_large(context, bits * measuring->groups, sizeof *measuring->rows);
    measuring->masks = nigh__alloc_large(context, (size_t)threads * RANGE, sizeof *measuring->masks);
    measuring->tallies = nigh__alloc_zero(context, tasks * GROUP, sizeof *measuring->tallies);
    measuring->fills = nigh__alloc(context, measuring->sample, sizeof *measuring->fills);
    return *sampled != NULL && measuring->rows != NULL && measuring->masks != NULL && measuring->tallies != NULL &&
           measuring->fills != NULL;
}

nigh_status nigh__filter_error_measure(const struct nigh__blocks *blocks, const struct nigh__positions *positions,
                                       uint32_t sample, uint64_t seed, const double *weights, uint32_t threads,
                                       struct nigh__filter_error *out, nigh_error *error) {
    *out = (struct nigh__filter_error){0};
    if (blocks->blocks == 0 || sample == 0) return NIGH_OK;
    const nigh_context *context = blocks->context;
    struct measuring measuring = {.blocks = blocks, .positions = positions, .weights = weights};
    measuring.sample = sample < blocks->blocks ? sample : blocks->blocks;
    measuring.groups = (measuring.sample + GROUP - 1) / GROUP;
    measuring.ranges = (blocks->terms + RANGE - 1) / RANGE;
    const uint32_t asked = nigh__threads_resolve(threads);
    const uint32_t run = (uint32_t)nigh__smaller(asked, (size_t)measuring.groups * measuring.ranges);
    uint32_t *sampled = NULL;
    const bool room = make_room(context, run, &measuring, &sampled);
    if (room) {
        draw_sample(blocks->blocks, measuring.sample, seed, sampled);
        struct nigh__parallel parallel = {.threads = run};
        const uint64_t tasks = (uint64_t)measuring.groups * measuring.ranges;
        (void)nigh__parallel_run(&parallel, measuring.groups, 1, make_rows, &measuring, NULL);
        (void)nigh__parallel_run(&parallel, tasks, 1, do_tasks, &measuring, NULL);
        sum_up(&measuring, out);
    }
    nigh__free(context, sampled);
    nigh__free(context, measuring.rows);
    nigh__free(context, measuring.masks);
    nigh__free(context, measuring.tallies);
    nigh__free(context, measuring.fills);
    if (room) return NIGH_OK;
    return nigh__no_memory(error, "to measure filters");
}
