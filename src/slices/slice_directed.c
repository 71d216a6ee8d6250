/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lists a directed search reads.
 *
 *     1  the first `probes` of the order of slice_probe.h           looked up, 24 ahead
 *     2  of the lists found, in order of what an entry of them is worth, those that fit
 *        into the budget of postings                                 read
 *
 * What an entry is worth.  A list that a row near the query is in with probability P,
 * and that has L of all n rows, would speak for each of its rows with
 *
 *     ln(P / (L / n))  =  ln n  -  (cost + ln L)
 *
 * if bits were independent, and reading it would bring P for L entries.  They are not:
 * lists are long where documents are, those near the query too.  Measured with the length
 * to the power a, recall of the ten nearest:
 *
 *                                    postings   a = 0   1/4   1/2     1
 *     960,000 generated, w = 18         4,000    .906  .892          .768
 *                                      16,000    .945  .945          .907
 *     353,000 real texts, w = 16        4,000    .370  .401  .384
 *                                      16,000    .538  .562  .526
 *                                      64,000    .692  .689  .659
 *
 * So lists are taken by cost + ln(L + a look-up) / 4, the least first, which on real texts
 * helps where the budget is small, and leaves out first what holds much of everything.
 * Of equal worth the lower slice comes first, then the lower value of the slice.
 *
 * The score that a row gets from a list is ln n less that worth, in nats, rounded down,
 * and 1 more so that every entry counts; NIGH__DIRECTED_TOP at most.  Against 1 for each it
 * is worth a hundredth of the recall.
 */
#include <string.h>

#include "base/status.h"
#include "slices/slice_directed.h"

#define AHEAD 24u

/* Where the lists of a slice are. */
struct place {
    const uint32_t *starts, *ids;
    uint32_t value; /* of the query */
};

struct directing {
    struct nigh__slice_scratch *scratch;
    const struct nigh__slices *slices;
    const struct nigh__slice_query *query;
    struct nigh__probe_slice *sorted;
    struct place *places;
    const uint64_t *probes;
    size_t probe_count;
};

/* ln(number) in units of NIGH__FLIP_UNIT, rounded down or nearly; of 0 that of 1. */
uint32_t nigh__slice_ln(uint32_t number) {
    /* 64 ln(1 + i / 16) */
    static const uint8_t parts[16] = {0, 4, 8, 11, 14, 17, 20, 23, 26, 29, 31, 33, 36, 38, 40, 42};
    const uint32_t exponent = 31u - (uint32_t)__builtin_clz(number | 1);
    const uint32_t part = (number | (number == 0)) << (31 - exponent) >> 27 & 15;
    return (exponent * 2839 >> 6) + parts[part]; /* 64 ln 2 is 2839 / 64 */
}

static nigh_status prepare(struct directing *directing, nigh_error *error) {
    struct nigh__slice_scratch *scratch = directing->scratch;
    const struct nigh__slice_query *query = directing->query;
    const struct nigh__slices *slices = directing->slices;
    directing->sorted = nigh__slice_room(scratch->context, &scratch->probe_slices, query->slices,
                                         sizeof *directing->sorted + sizeof *directing->places, error);
    if (directing->sorted == NULL) return NIGH_ENOMEM;
    directing->places = (struct place *)(void *)(directing->sorted + query->slices);
    for (uint32_t s = 0; s < query->slices; s++) {
        const struct nigh__slice at = nigh__slicing_at(&slices->slicing, slices->rows, s);
        const uint32_t *starts = slices->numbers + at.starts;
        directing->places[s] = (struct place){
            .starts = starts,
            .ids = starts + (UINT64_C(1) << at.bits) + 1,
            .value = nigh__slice_value(query->words, at),
        };
        nigh__probe_slice_init(&directing->sorted[s], query->costs, query->weights + at.start, at.bits);
    }
    return nigh__probe_choose(scratch->context, &scratch->chooser, directing->sorted, query->slices,
                              query->probes < SIZE_MAX ? (size_t)query->probes : SIZE_MAX, &directing->probes,
                              &directing->probe_count, error);
}

/* -------------------------------------------------------------------------- looking */

static inline const uint32_t *start_of(const struct directing *directing, uint64_t probe) {
    const struct place *place = &directing->places[nigh__probe_slice(probe)];
    return place->starts + (place->value ^ nigh__probe_mask(probe));
}

static nigh_status find_lie(const struct directing *directing, nigh_error *error) {
    for (size_t i = 0; i < directing->probe_count; i++) {
        const uint32_t *start = start_of(directing, directing->probes[i]);
        if (start[0] > start[1] || start[1] > directing->slices->rows)
            return nigh__slice_lies_start(directing->slices, (uint64_t)(start - directing->slices->numbers), error);
    }
    return nigh__slice_lies_start(directing->slices, 0, error); /* it changes under us */
}

/* All lists of the probes that have something in them, with their worth as the score. */
static nigh_status look_up(const struct directing *directing, struct nigh__slice_lists *out, nigh_error *error) {
    const uint64_t *probes = directing->probes;
    const size_t count = directing->probe_count;
    const uint32_t rows = directing->slices->rows;
    struct nigh__slice_list *list = out->lists;
    bool wrong = false;
    for (size_t i = 0; i < AHEAD && i < count; i++) __builtin_prefetch(start_of(directing, probes[i]));
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(start_of(directing, probes[i + AHEAD]));
        const uint32_t *start = start_of(directing, probes[i]);
        const uint32_t first = start[0];
        const uint32_t length = start[1] - first;
        wrong |= (first > start[1]) | (start[1] > rows);
        list->ids = directing->places[nigh__probe_slice(probes[i])].ids + first;
        list->length = length;
        list->slice = (uint16_t)nigh__probe_slice(probes[i]);
        list->score = (uint16_t)nigh__directed_worth(nigh__probe_cost(probes[i]), length);
        list += length != 0;
        out->postings += length;
    }
    out->looks = count;
    out->count = (size_t)(list - out->lists);
    return wrong ? find_lie(directing, error) : NIGH_OK;
}

/* --------------------------------------------------------------------------- budget */

/* The worth of which some lists fit, but not all; *budget is what those worth more leave. */
static uint32_t worth_that_fits(const struct nigh__slice_lists *lists, uint64_t *sums, uint64_t *budget) {
    uint32_t least = NIGH__DIRECTED_WORTHS - 1;
    uint32_t most = 0;
    for (size_t i = 0; i < lists->count; i++) {
        const uint32_t worth = lists->lists[i].score;
        if (worth < least) least = worth;
        if (worth > most) most = worth;
    }
    memset(sums + least, 0, (most - least + 1) * sizeof *sums);
    for (size_t i = 0; i < lists->count; i++) sums[lists->lists[i].score] += lists->lists[i].length;
    for (; sums[least] <= *budget; least++) *budget -= sums[least];
    return least;
}

/* Leaves of the lists of a worth those that fit, by place; the others get the length 0. */
static void keep_some(const struct directing *directing, const struct nigh__slice_lists *lists, uint32_t worth,
                      uint64_t budget, uint64_t *places) {
    const uint32_t *numbers = directing->slices->numbers;
    size_t count = 0;
    for (size_t i = 0; i < lists->count; i++) {
        places[count] = (uint64_t)(lists->lists[i].ids - numbers) << 22 | i;
        count += lists->lists[i].score == worth;
    }
    nigh__keys_sort(directing->scratch->context, places, count);
    for (size_t i = 0; i < count; i++) {
        struct nigh__slice_list *list = &lists->lists[places[i] & (NIGH__DIRECTED_MAX_PROBES - 1)];
        if (list->length <= budget)
            budget -= list->length;
        else
            list->length = 0;
    }
}

static nigh_status leave_out(const struct directing *directing, struct nigh__slice_lists *out, nigh_error *error) {
    struct nigh__slice_scratch *scratch = directing->scratch;
    uint64_t budget = directing->query->postings;
    uint64_t *room = nigh__slice_room(scratch->context, &scratch->worths, NIGH__DIRECTED_WORTHS + out->count + 1,
                                      sizeof *room, error);
    if (room == NULL) return NIGH_ENOMEM;
    const uint32_t worth = worth_that_fits(out, room, &budget);
    keep_some(directing, out, worth, budget, room + NIGH__DIRECTED_WORTHS);
    size_t kept = 0;
    out->postings = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct nigh__slice_list list = out->lists[i];
        const bool read = list.score <= worth && list.length != 0;
        out->lists[kept] = list;
        kept += read;
        out->postings += read ? list.length : 0;
    }
    out->skipped = out->count - kept;
    out->count = kept;
    return NIGH_OK;
}

/* Worth becomes evidence. */
static void score(const struct directing *directing, struct nigh__slice_lists *out) {
    for (size_t i = 0; i < out->count; i++)
        out->lists[i].score = (uint16_t)nigh__directed_score(directing->slices->rows, out->lists[i].score);
}

nigh_status nigh__slice_lists_direct(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                                     const struct nigh__slice_query *query, struct nigh__slice_lists *out,
                                     nigh_error *error) {
    struct directing directing = {.scratch = scratch, .slices = slices, .query = query};
    *out = (struct nigh__slice_lists){0};
    nigh_status status = prepare(&directing, error);
    if (status != NIGH_OK) return status;
    const size_t room = directing.probe_count + 1 + NIGH__SLICE_LISTS_AHEAD;
    out->lists = nigh__slice_room(scratch->context, &scratch->lists, room, sizeof *out->lists, error);
    if (out->lists == NULL) return NIGH_ENOMEM;
    status = look_up(&directing, out, error);
    if (status == NIGH_OK && out->postings > query->postings) status = leave_out(&directing, out, error);
    if (status != NIGH_OK) return status;
    score(&directing, out);
    for (uint32_t i = 0; i < NIGH__SLICE_LISTS_AHEAD; i++)
        out->lists[out->count + i] = (struct nigh__slice_list){.ids = slices->numbers, .length = 1};
    /* A row that was not seen may be anywhere. */
    out->slack_sum = query->slices * (query->breadth + 1);
    return NIGH_OK;
}
