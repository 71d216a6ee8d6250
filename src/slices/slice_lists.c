/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lists a search reads.
 *
 *     masks      000 001 010 100 ...                      of each slice
 *     starts     .....|........|....|......               one look for each, 24 ahead
 *     lists      { where, how many, what it scores }      those with something in them
 *
 * The starts of a slice are megabytes, and each look is at another place in them.  What
 * it costs is the wait for memory, a hundred nanoseconds or more; asked for 24 looks
 * before it is needed, it is a tenth of that.  Writing down what was found, instead of
 * reading each list at once, lets the lists be asked for ahead as well, leaves out
 * those without postings, and tells how many postings there are in all before the
 * first is read.
 *
 * Budget.  Where there are more postings than one wants to read, lists are left out:
 * first those that hold a good part of all rows, as stop words are; then those of the
 * last ring, then of the ring before it; of each kind the longest first, and of those
 * that are just too long the first fit.  Rings count more than lengths because a long
 * list near the query is long where the query's own neighbours are: on signatures of
 * 392,000 real texts (w = 14, i = 2, 200,000 of 990,000 postings), recall of the 10
 * nearest was .48 with the longest of all rings left out, .66 by rings.  And what a
 * list of the last ring could have added to a score is 1, so the bounds stay close.
 */
#include <string.h>

#include "base/status.h"
#include "slices/slice_lists.h"

#define AHEAD 24u

/* A place among all looks, in the order of slices. */
struct cursor {
    const uint32_t *starts; /* of the slice */
    const uint32_t *masks;
    size_t left; /* of the masks */
    uint32_t value;
    uint32_t slice;
};

struct gathering {
    struct nigh__slice_scratch *scratch;
    const struct nigh__slices *slices;
    const struct nigh__slice_query *query;
    const struct nigh__slice_masks *wide, *narrow;
};

static const struct nigh__slice_masks *masks_of(const struct gathering *gathering, uint32_t slice) {
    return slice < gathering->slices->slicing.wide ? gathering->wide : gathering->narrow;
}

/* The last ring that slices of this kind have. */
static uint32_t last_ring(const struct gathering *gathering, uint32_t bits) {
    return gathering->query->breadth < bits ? gathering->query->breadth : bits;
}

/* The beginning of a slice. */
static inline struct cursor cursor_at(const struct gathering *gathering, uint32_t slice) {
    const struct nigh__slice at = nigh__slicing_at(&gathering->slices->slicing, gathering->slices->rows, slice);
    const struct nigh__slice_masks *masks = masks_of(gathering, slice);
    return (struct cursor){.starts = gathering->slices->numbers + at.starts,
                           .masks = masks->masks,
                           .left = masks->ends[last_ring(gathering, at.bits)],
                           .value = nigh__slice_value(gathering->query->words, at),
                           .slice = slice};
}

/* Asks for the next start, wherever it is. */
static inline void cursor_ask(const struct gathering *gathering, struct cursor *cursor) {
    if (cursor->left == 0) {
        if (cursor->slice + 1 >= gathering->query->slices) return;
        *cursor = cursor_at(gathering, cursor->slice + 1);
    }
    __builtin_prefetch(cursor->starts + (cursor->value ^ *cursor->masks++));
    cursor->left--;
}

/* One ring of a slice.  *lies is set where a start cannot be right; what was written is then of no use. */
static inline struct nigh__slice_list *gather_ring(const struct gathering *gathering, struct cursor *asked,
                                                   struct cursor *now, size_t count, uint16_t score,
                                                   const uint32_t *ids, struct nigh__slice_list *list, uint64_t *sum,
                                                   bool *lies) {
    const uint32_t rows = gathering->slices->rows;
    const uint32_t *starts = now->starts;
    const uint32_t value = now->value;
    uint64_t total = 0;
    bool wrong = false;
    for (size_t m = 0; m < count; m++) {
        cursor_ask(gathering, asked);
        const uint32_t near = value ^ now->masks[m];
        const uint32_t first = starts[near];
        const uint32_t end = starts[near + 1];
        wrong |= (first > end) | (end > rows);
        const uint32_t length = end - first;
        list->ids = ids + first;
        list->length = length;
        list->slice = (uint16_t)now->slice;
        list->score = score;
        list += length != 0;
        total += length;
    }
    now->masks += count;
    *sum += total;
    *lies |= wrong;
    return list;
}

static struct nigh__slice_list *gather_slice(const struct gathering *gathering, struct cursor *asked, uint32_t slice,
                                             struct nigh__slice_list *list, uint64_t *sum, bool *lies) {
    struct cursor now = cursor_at(gathering, slice);
    const struct nigh__slice_masks *masks = masks_of(gathering, slice);
    const uint32_t bits = gathering->slices->slicing.most_bits - (slice >= gathering->slices->slicing.wide);
    const uint32_t *ids = now.starts + (UINT64_C(1) << bits) + 1;
    for (uint32_t ring = 0; ring <= last_ring(gathering, bits); ring++) {
        const size_t count = masks->ends[ring] - (ring == 0 ? 0 : masks->ends[ring - 1]);
        const uint16_t score = (uint16_t)(nigh__slice_top(gathering->query) - ring);
        list = gather_ring(gathering, asked, &now, count, score, ids, list, sum, lies);
    }
    return list;
}

static nigh_status visit(void *user, const struct nigh__slice_visited *list, nigh_error *error) {
    (void)user, (void)list, (void)error;
    return NIGH_OK;
}

/* Says where: looks once more, and slowly, for the start that cannot be right. */
static nigh_status find_lie(const struct gathering *gathering, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (uint32_t ring = 0; status == NIGH_OK && ring <= gathering->query->breadth; ring++)
        status = nigh__slice_walk(gathering->scratch, gathering->slices, gathering->query, ring, visit, NULL, error);
    return status != NIGH_OK ? status : nigh__slice_lies_start(gathering->slices, 0, error);
}

/* ---------------------------------------------------------------------- budget -- */

/* A list, and what decides whether it is left out. */
struct ranking {
    uint32_t top, rows, breadth;
};

static inline uint32_t class_of(const struct ranking *ranking, const struct nigh__slice_list *list) {
    return nigh__slice_class(ranking->rows, ranking->breadth, ranking->top - list->score, list->length);
}

static uint64_t postings_up_to(const struct ranking *ranking, const struct nigh__slice_lists *lists, uint32_t class,
                               uint32_t length) {
    uint64_t sum = 0;
    for (size_t i = 0; i < lists->count; i++) {
        const struct nigh__slice_list *list = &lists->lists[i];
        sum += list->length <= length && class_of(ranking, list) == class ? list->length : 0;
    }
    return sum;
}

/* The greatest length up to which all lists of a class fit.  Not all do. */
static uint32_t length_that_fits(const struct ranking *ranking, const struct nigh__slice_lists *lists, uint32_t class,
                                 uint64_t budget) {
    uint32_t fits = 0;
    uint32_t too_long = ranking->rows;
    while (too_long - fits > 1) {
        const uint32_t middle = fits + (too_long - fits) / 2;
        if (postings_up_to(ranking, lists, class, middle) <= budget)
            fits = middle;
        else
            too_long = middle;
    }
    return fits;
}

/* The class of which some fit, but not all; *budget is what the classes before it leave. */
static uint32_t class_that_fits(const struct ranking *ranking, const struct nigh__slice_lists *lists,
                                uint64_t *budget) {
    uint64_t sums[NIGH__SLICES_MAX_BREADTH + 2] = {0};
    for (size_t i = 0; i < lists->count; i++) sums[class_of(ranking, &lists->lists[i])] += lists->lists[i].length;
    uint32_t class = 0;
    for (; class <= ranking->breadth && sums[class] <= *budget; class ++) *budget -= sums[class];
    return class;
}

/* Of the lists of a class and length, leaves as many as fit: nearer rings first.  The others get the length 0. */
static void keep_some(const struct ranking *ranking, const struct nigh__slice_lists *lists, uint32_t class,
                      uint32_t length, uint64_t left) {
    for (uint32_t score = ranking->top; score >= ranking->top - ranking->breadth; score--) {
        for (size_t i = 0; i < lists->count; i++) {
            struct nigh__slice_list *list = &lists->lists[i];
            if (list->length != length || list->score != score || class_of(ranking, list) != class) continue;
            if (left >= length)
                left -= length;
            else
                list->length = 0;
        }
    }
}

/* Gives the lists that do not fit the length 0. */
static void choose(const struct ranking *ranking, const struct nigh__slice_lists *lists, uint64_t budget) {
    const uint32_t class = class_that_fits(ranking, lists, &budget);
    const uint32_t fits = length_that_fits(ranking, lists, class, budget);
    const uint64_t left = budget - postings_up_to(ranking, lists, class, fits);
    uint32_t next = UINT32_MAX; /* the shortest that do not all fit */
    for (size_t i = 0; i < lists->count; i++) {
        const uint32_t length = lists->lists[i].length;
        if (length > fits && length < next && class_of(ranking, &lists->lists[i]) == class) next = length;
    }
    for (size_t i = 0; i < lists->count; i++) {
        struct nigh__slice_list *list = &lists->lists[i];
        const uint32_t its_class = class_of(ranking, list);
        if (its_class > class || (its_class == class && list->length > next)) list->length = 0;
    }
    keep_some(ranking, lists, class, next, left);
}

static void leave_out(const struct gathering *gathering, struct nigh__slice_lists *out) {
    const struct nigh__slice_query *query = gathering->query;
    const struct ranking ranking = {
        .top = nigh__slice_top(query), .rows = gathering->slices->rows, .breadth = query->breadth};
    choose(&ranking, out, query->postings);
    uint16_t *slack = out->slack;
    size_t kept = 0;
    out->postings = 0;
    for (size_t i = 0; i < out->count; i++) {
        const struct nigh__slice_list list = out->lists[i];
        const uint16_t lost = (uint16_t)(query->breadth + 1 - (ranking.top - list.score)); /* i + 1 - d */
        if (list.length == 0 && slack[list.slice] < lost) slack[list.slice] = lost;
        out->postings += list.length;
        out->lists[kept] = list;
        kept += list.length != 0;
    }
    out->skipped = out->count - kept;
    out->count = kept;
    for (uint32_t s = 0; s < query->slices; s++) out->slack_sum += slack[s];
}

/* ------------------------------------------------------------------------- all -- */

/* Slices of both kinds, and the looks there are. */
static nigh_status prepare(struct gathering *gathering, uint64_t *looks, nigh_error *error) {
    const struct nigh__slicing *slicing = &gathering->slices->slicing;
    const struct nigh__slice_query *query = gathering->query;
    gathering->wide = nigh__slice_masks_of(gathering->scratch, slicing->most_bits, query->breadth, error);
    if (gathering->wide == NULL) return NIGH_ENOMEM;
    gathering->narrow = gathering->wide;
    const uint64_t wide = query->slices < slicing->wide ? query->slices : slicing->wide;
    *looks = wide * gathering->wide->ends[last_ring(gathering, slicing->most_bits)];
    if (wide == query->slices) return NIGH_OK;
    gathering->narrow = nigh__slice_masks_of(gathering->scratch, slicing->most_bits - 1, query->breadth, error);
    if (gathering->narrow == NULL) return NIGH_ENOMEM;
    *looks += (query->slices - wide) * gathering->narrow->ends[last_ring(gathering, slicing->most_bits - 1)];
    return NIGH_OK;
}

nigh_status nigh__slice_lists_gather(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                                     const struct nigh__slice_query *query, struct nigh__slice_lists *out,
                                     nigh_error *error) {
    struct gathering gathering = {.scratch = scratch, .slices = slices, .query = query};
    *out = (struct nigh__slice_lists){0};
    nigh_status status = prepare(&gathering, &out->looks, error);
    if (status != NIGH_OK) return status;
    out->slack = nigh__slice_room(scratch->context, &scratch->slack, query->slices, sizeof *out->slack, error);
    if (out->slack == NULL) return NIGH_ENOMEM;
    memset(out->slack, 0, query->slices * sizeof *out->slack);
    /* One more that is written before it is known to be empty, and some for those who read ahead. */
    const size_t room = (size_t)out->looks + 1 + NIGH__SLICE_LISTS_AHEAD;
    out->lists = nigh__slice_room(scratch->context, &scratch->lists, room, sizeof *out->lists, error);
    if (out->lists == NULL) return NIGH_ENOMEM;
    struct cursor asked = cursor_at(&gathering, 0);
    for (uint32_t i = 0; i < AHEAD; i++) cursor_ask(&gathering, &asked);
    struct nigh__slice_list *list = out->lists;
    bool lies = false;
    for (uint32_t slice = 0; slice < query->slices; slice++)
        list = gather_slice(&gathering, &asked, slice, list, &out->postings, &lies);
    out->count = (size_t)(list - out->lists);
    for (uint32_t i = 0; i < NIGH__SLICE_LISTS_AHEAD; i++)
        list[i] = (struct nigh__slice_list){.ids = slices->numbers, .length = 1};
    if (lies) return find_lie(&gathering, error);
    if (out->postings > query->postings) leave_out(&gathering, out);
    return NIGH_OK;
}
