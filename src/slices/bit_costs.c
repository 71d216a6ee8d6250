/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * Fitting the model of slices/bit_costs.h.
 *
 *     for some rows, evenly spread                     256, fewer of very many rows
 *         the ten nearest others, by comparing all     some 1.3 ns a row of 1,024 bits
 *         for each of these and each bit, by its weight:
 *             all += 1,  differing += whether it differs
 *
 * 256 rows of 1,024 bits are 2.6 million observations.  Shares are then made to descend
 * with the weight (pool adjacent violators: whatever rises is joined to what it rises
 * above), for what rises is chance; and weights that never occurred take what the next
 * lower one has.  Sums only are shared by threads, so their number does not matter.
 */
#include "slices/bit_costs.h"

#include <string.h>

#include "base/assert.h"
#include "base/guard.h"
#include "base/logarithm.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/status.h"
#include "base/threads.h"
#include "kernel/hamming.h"
#include "slices/slices.h"

#define MAX_SAMPLE 256u
#define MIN_SAMPLE 32u
#define MAX_WORDS (UINT64_C(1) << 33) /* compared in all: some half a second of a core */
#define NEAREST 10u
#define AT_ONCE 4096u /* rows */
#define MIN_SHARE (1.0 / (1 << 20))

/* -------------------------------------------------------------------- from counts */

static uint16_t rounded(double cost, double most) {
    if (!(cost > 0)) return 0;
    return (uint16_t)(cost < most ? cost + 0.5 : most);
}

static struct nigh__bit_cost cost_of(double share) {
    if (share < MIN_SHARE) share = MIN_SHARE;
    if (share > 0.5) share = 0.5;
    return (struct nigh__bit_cost){.flip = rounded(nigh__ln((1 - share) / share) * NIGH__FLIP_UNIT, NIGH__MAX_FLIP),
                                   .keep = rounded(-nigh__ln(1 - share) * NIGH__KEEP_UNIT, NIGH__MAX_KEEP)};
}

/* Weights from `first` on up to the next pool. */
struct pool {
    uint64_t differing, all;
    uint32_t first;
};

static bool rises(const struct pool *before, const struct pool *after) {
    return (double)after->differing * (double)before->all >= (double)before->differing * (double)after->all;
}

/* As if it had been seen once more, half differing: a share of 0 of few means little. */
static struct nigh__bit_cost pool_cost(const struct pool *pool) {
    return cost_of(((double)pool->differing + 0.5) / ((double)pool->all + 1));
}

void nigh__bit_costs_from(const struct nigh__bit_counts *counts, struct nigh__bit_costs *out) {
    struct pool pools[NIGH__BIT_COSTS];
    uint32_t count = 0;
    for (uint32_t w = 0; w < NIGH__BIT_COSTS; w++) {
        if (counts->all[w] == 0) continue;
        pools[count++] = (struct pool){.differing = counts->differing[w], .all = counts->all[w], .first = w};
        for (; count > 1 && rises(&pools[count - 2], &pools[count - 1]); count--) {
            pools[count - 2].differing += pools[count - 1].differing;
            pools[count - 2].all += pools[count - 1].all;
        }
    }
    if (count == 0) nigh__bit_costs_default(out);
    for (uint32_t p = 0; p < count; p++) {
        const uint32_t end = p + 1 < count ? pools[p + 1].first : NIGH__BIT_COSTS;
        for (uint32_t w = p == 0 ? 0 : pools[p].first; w < end; w++) out->of[w] = pool_cost(&pools[p]);
    }
}

/* Shares of the bits that differ, in 10,000ths, at every 16th weight: between generated (.48 to .02) and real texts. */
static const uint16_t default_shares[17] = {4700, 4200, 3800, 3350, 2950, 2600, 2250, 1950, 1700,
                                            1450, 1250, 1050, 900,  750,  650,  550,  450};

void nigh__bit_costs_default(struct nigh__bit_costs *out) {
    struct nigh__bit_cost at[17];
    for (uint32_t i = 0; i < 17; i++) at[i] = cost_of(default_shares[i] / 10000.0);
    for (uint32_t w = 0; w < 256; w++) {
        const struct nigh__bit_cost low = at[w / 16];
        const struct nigh__bit_cost high = at[w / 16 + 1];
        out->of[w].flip = (uint16_t)((low.flip * (16 - w % 16) + high.flip * (w % 16)) / 16);
        out->of[w].keep = (uint16_t)((low.keep * (16 - w % 16) + high.keep * (w % 16)) / 16);
    }
}

/* ------------------------------------------------------------------------- fitting */

struct fitting {
    const struct nigh__segment *segment;
    struct nigh__parallel parallel;
    uint32_t sample;
    struct counts {
        struct nigh__bit_counts bits;
        uint32_t distances[AT_ONCE];
    } * counts; /* of each thread */
};

struct nearest {
    uint32_t distance, row;
};

/* Keeps the nearest, of equally near ones the first; `count` of them so far. */
static void keep(struct nearest *nearest, uint32_t *count, uint32_t distance, uint32_t row) {
    if (*count == NEAREST && distance >= nearest[NEAREST - 1].distance) return;
    uint32_t place = *count < NEAREST ? (*count)++ : NEAREST - 1;
    for (; place > 0 && nearest[place - 1].distance > distance; place--) nearest[place] = nearest[place - 1];
    NIGH__ASSERT(place < *count && *count <= NEAREST);
    nearest[place] = (struct nearest){distance, row};
}

static uint32_t find_nearest(const struct nigh__segment *segment, uint32_t own, uint32_t *distances,
                             struct nearest *nearest) {
    const struct nigh__hamming *hamming = segment->context->hamming;
    const uint64_t *query = segment->rows + (size_t)own * segment->words;
    uint32_t count = 0;
    for (uint32_t at = 0; at < segment->signatures; at += AT_ONCE) {
        const uint32_t some = segment->signatures - at < AT_ONCE ? segment->signatures - at : AT_ONCE;
        const uint32_t least =
            hamming->rows(query, segment->rows + (size_t)at * segment->words, some, segment->words, distances);
        if (count == NEAREST && least >= nearest[NEAREST - 1].distance) continue;
        for (uint32_t i = 0; i < some; i++)
            if (at + i != own) keep(nearest, &count, distances[i], at + i);
    }
    return count;
}

/* Inside a guard. */
static void count_row(const struct nigh__segment *segment, uint32_t row, struct counts *counts) {
    struct nearest nearest[NEAREST];
    uint32_t first;
    uint32_t documents;
    if (!nigh__segment_group(segment, row, &first, &documents)) return; /* a search will say what is wrong */
    const uint32_t document = *(const volatile uint32_t *)&segment->group_documents[first];
    if (document >= segment->documents) return;
    const uint8_t *weights = segment->weights + (size_t)document * segment->width_bits;
    const uint64_t *own = segment->rows + (size_t)row * segment->words;
    const uint32_t count = find_nearest(segment, row, counts->distances, nearest);
    for (uint32_t n = 0; n < count; n++) {
        const uint64_t *other = segment->rows + (size_t)nearest[n].row * segment->words;
        for (uint32_t bit = 0; bit < segment->width_bits; bit++) {
            counts->bits.all[weights[bit]]++;
            counts->bits.differing[weights[bit]] += (own[bit / 64] ^ other[bit / 64]) >> bit % 64 & 1;
        }
    }
}

static bool count_guarded(const struct nigh__segment *segment, uint32_t row, struct counts *counts) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    count_row(segment, row, counts);
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status count_some(void *user, const struct nigh__items *items) {
    struct fitting *fitting = user;
    const struct nigh__segment *segment = fitting->segment;
    for (uint64_t at = items->first; at < items->end; at++) {
        const uint32_t row = (uint32_t)(at * segment->signatures / fitting->sample);
        if (!count_guarded(segment, row, &fitting->counts[items->thread]))
            return nigh__segment_cut(segment, items->error);
        if (!nigh__parallel_did(&fitting->parallel, items->thread, 1)) break;
    }
    return NIGH_OK;
}

static uint32_t sample_size(const struct nigh__segment *segment) {
    const uint64_t fits = MAX_WORDS / ((uint64_t)segment->signatures * segment->words);
    uint32_t sample = fits < MAX_SAMPLE ? (uint32_t)fits : MAX_SAMPLE;
    if (sample < MIN_SAMPLE) sample = MIN_SAMPLE;
    return sample < segment->signatures ? sample : segment->signatures;
}

static void add_up(struct fitting *fitting, uint32_t threads, struct nigh__bit_costs *out) {
    struct nigh__bit_counts *sum = &fitting->counts[0].bits;
    for (uint32_t t = 1; t < threads; t++) {
        const struct nigh__bit_counts *more = &fitting->counts[t].bits;
        for (uint32_t i = 0; i < NIGH__BIT_COSTS; i++) {
            sum->all[i] += more->all[i];
            sum->differing[i] += more->differing[i];
        }
    }
    nigh__bit_costs_from(sum, out);
}

nigh_status nigh__bit_costs_fit(const struct nigh__segment *segment, uint32_t threads, struct nigh__progress *progress,
                                struct nigh__bit_costs *out, nigh_error *error) {
    if (segment->weights == NULL || segment->signatures < 2) return NIGH_ENOTFOUND;
    struct fitting fitting = {.segment = segment, .sample = sample_size(segment)};
    threads = nigh__threads_resolve(threads);
    if (threads > fitting.sample) threads = fitting.sample;
    fitting.counts = nigh__alloc_zero(segment->context, threads, sizeof *fitting.counts);
    if (fitting.counts == NULL) return nigh__no_memory(error, "to fit the model of bits that differ");
    fitting.parallel = (struct nigh__parallel){.threads = threads, .progress = progress};
    nigh__parallel_stage(&fitting.parallel, "fitting probes", fitting.sample);
    const nigh_status status = nigh__parallel_run(&fitting.parallel, fitting.sample, 1, count_some, &fitting, error);
    if (status == NIGH_OK) add_up(&fitting, threads, out);
    nigh__free(segment->context, fitting.counts);
    return status;
}

/* ---------------------------------------------------------------------- as stored */

/* The first that cannot be; NIGH__BIT_COSTS where all can. */
static uint32_t first_lie(const struct nigh__bit_costs *costs) {
    for (uint32_t i = 0; i < NIGH__BIT_COSTS; i++) {
        const struct nigh__bit_cost cost = costs->of[i];
        if (cost.flip > NIGH__MAX_FLIP || cost.keep > NIGH__MAX_KEEP) return i;
    }
    return NIGH__BIT_COSTS;
}

/* What is copied is what is checked. */
static bool copy_guarded(const struct nigh__sidecar *sidecar, const void *section, struct nigh__bit_costs *out) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, sidecar->map, sidecar->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    memcpy(out, section, sizeof *out);
    nigh__guard_leave(&guard);
    return true;
}

nigh_status nigh__bit_costs_of_segment(const struct nigh__segment *segment, struct nigh__bit_costs *out, bool *fitted,
                                       nigh_error *error) {
    const struct nigh__sidecar *sidecar = segment->sidecars[NIGH__SIDECAR_SLICES];
    *fitted = nigh__sidecar_section_count(sidecar, NIGH__SECTION_BIT_COSTS) != 0;
    if (!*fitted) {
        nigh__bit_costs_default(out);
        return NIGH_OK;
    }
    const void *section =
        nigh__sidecar_section(sidecar, NIGH__SECTION_BIT_COSTS, NIGH__BIT_COSTS, sizeof out->of[0], error);
    if (section == NULL) return NIGH_ECORRUPT;
    if (!copy_guarded(sidecar, section, out)) return nigh__sidecar_cut(sidecar, error);
    const uint32_t lie = first_lie(out);
    if (lie == NIGH__BIT_COSTS) return NIGH_OK;
    return nigh__sidecar_corrupt(sidecar, NIGH__SECTION_BIT_COSTS, lie, sizeof out->of[0],
                                 "a bit costs more than any can", error);
}
