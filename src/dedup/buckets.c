/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside a bucket documents are compared by their 256 bits.  Those of two sets of
 * Jaccard index J differ in b p of b = 256 on average, p = (1 - J) / 2, with a spread
 * of sqrt(b p (1 - p)); those over 2.33 times the spread, one in a hundred at the
 * threshold and fewer above, are let go.  Lengths, too, tell pairs apart, but few that the
 * bits do not, and to know how many of its features a document has twice would take
 * longer than all this: lengths are looked at when sets are, or here where there will
 * be no verifying.
 *
 * In a small bucket all pairs are compared. The pairs of a crowd grow with the square of its size, and not all are
 * needed to decide which documents stay. The rules KEPT and COMPLETE compare each member with those that stay
 * (crowd_lists.h), which are known only once the better ones are decided; so these rules get the members instead of
 * pairs. For COMPONENTS they come best first, and some lead: each is compared with the leaders before it, and pairs
 * with the eight best that are near enough and with the nearest; whoever has no leader close by leads, too. In a crowd
 * within the budget any number may lead, so nobody who may stay is overlooked; beyond it 32 may, and those who have no
 * leader close by, and few near ones, are compared with a few neighbours in the order of their bits, which begins
 * elsewhere in each band. That is counted as truncated. A million of one template cost a million times a constant, and
 * nearly all find the one that is kept.
 *
 * If all pairs are wanted, those of crowds within the budget are compared as well, but only to list them: which
 * documents stay is decided by the same pairs in either case. Their number is known once all buckets have been seen,
 * because the sizes are kept. If there are too many, each member is compared with a window of the following ones
 * instead, and buckets no larger than the window are listed whole.
 */
#include "dedup/buckets.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "dedup/crowd_lists.h"
#include "dedup/there.h"
#include "kernel/hamming.h"
#include "signature/band_keys.h"

#define ROW_WORDS (NIGH__BAND_BITS / 64)
#define LEADERS 32u
#define FOLLOWED 8u
#define NEIGHBOURS 8u

nigh_status nigh__buckets_init(struct nigh__candidates *candidates, const struct nigh__gathered *gathered,
                               pthread_mutex_t *lock, struct nigh__buckets *out, nigh_error *error) {
    const nigh_dedup *dedup = candidates->dedup;
    const uint64_t budget = dedup->options.bucket_budget;
    out->dedup = dedup;
    out->candidates = candidates;
    out->gathered = gathered;
    out->order = candidates->order;
    out->radius = nigh__crowd_find_radius(dedup->options.threshold);
    out->least = dedup->verified ? 0 : dedup->options.threshold;
    out->most = nigh__smaller(budget, NIGH__CROWD_MEMBERS);
    out->members = (struct nigh__array)NIGH__ARRAY(uint64_t);
    out->sizes = (struct nigh__array)NIGH__ARRAY(uint64_t);
    out->rows = (struct nigh__array)NIGH__ARRAY(uint64_t);
    out->leaders = (struct nigh__array)NIGH__ARRAY(uint64_t);
    out->distances = (struct nigh__array)NIGH__ARRAY(uint32_t);
    out->words = (struct nigh__array)NIGH__ARRAY(uint64_t);
    nigh_status status = nigh__pair_queue_init(dedup, out->order, &candidates->deciding, lock, &out->deciding, error);
    if (status == NIGH_OK && candidates->listed.by_better != NULL)
        status = nigh__pair_queue_init(dedup, out->order, &candidates->listed, lock, &out->listed, error);
    return status;
}

void nigh__buckets_release(struct nigh__buckets *buckets) {
    if (buckets->dedup == NULL) return;
    const nigh_context *context = buckets->dedup->context;
    nigh__pair_queue_release(context, &buckets->deciding);
    nigh__pair_queue_release(context, &buckets->listed);
    nigh__array_release(context, &buckets->members);
    nigh__array_release(context, &buckets->sizes);
    nigh__array_release(context, &buckets->rows);
    nigh__array_release(context, &buckets->leaders);
    nigh__array_release(context, &buckets->distances);
    nigh__array_release(context, &buckets->words);
}

/* ---------------------------------------------------------------- comparing -- */

static uint32_t features_of(const struct nigh__buckets *buckets, uint64_t document) {
    return nigh__dedup_document(buckets->dedup, document)->features;
}

static uint32_t distance_of(const struct nigh__buckets *buckets, uint64_t a, uint64_t b) {
    const uint64_t *x = nigh__gathered_row(buckets->gathered, a);
    const uint64_t *y = nigh__gathered_row(buckets->gathered, b);
    return buckets->dedup->context->hamming->pair((const uint8_t *)x, (const uint8_t *)y, NIGH__BAND_BITS / 8);
}

/* Adds the pair where it is near and fit. */
static nigh_status consider(struct nigh__buckets *buckets, struct nigh__pair_queue *queue, uint64_t a, uint64_t b,
                            uint32_t distance, nigh_error *error) {
    if (distance > buckets->radius) return NIGH_OK;
    if (buckets->least > 0 && !nigh__lengths_fit(buckets->least, features_of(buckets, a), features_of(buckets, b)))
        return NIGH_OK;
    return nigh__pair_queue_add(queue, a, b, error);
}

/* The rows of the members, side by side. */
static nigh_status collect_rows(struct nigh__buckets *buckets, nigh_error *error) {
    const uint64_t *members = buckets->members.data;
    const size_t count = buckets->members.count;
    uint64_t *rows = nigh__array_room(buckets->dedup->context, &buckets->rows, count * ROW_WORDS);
    if (rows == NULL || nigh__array_room(buckets->dedup->context, &buckets->distances, count) == NULL)
        return nigh__no_memory(error, "to compare documents");
    for (size_t i = 0; i < count; i++)
        memcpy(rows + i * ROW_WORDS, nigh__gathered_row(buckets->gathered, members[i]), ROW_WORDS * sizeof *rows);
    return NIGH_OK;
}

/* Each member with the `window` that follow it, or fewer. */
static nigh_status compare_all(struct nigh__buckets *buckets, struct nigh__pair_queue *queue, uint64_t window,
                               nigh_error *error) {
    const uint64_t *members = buckets->members.data;
    const size_t count = buckets->members.count;
    if (count == 2)
        return consider(buckets, queue, members[0], members[1], distance_of(buckets, members[0], members[1]), error);
    nigh_status status = collect_rows(buckets, error);
    const uint64_t *rows = buckets->rows.data;
    uint32_t *distances = buckets->distances.data;
    for (size_t i = 0; status == NIGH_OK && i + 1 < count; i++) {
        const uint64_t *row = rows + i * ROW_WORDS;
        const size_t others = (size_t)nigh__smaller(count - i - 1, window);
        if (buckets->dedup->context->hamming->rows(row, row + ROW_WORDS, others, ROW_WORDS, distances) >
            buckets->radius)
            continue;
        for (size_t j = 0; status == NIGH_OK && j < others; j++)
            if (distances[j] <= buckets->radius)
                status = consider(buckets, queue, members[i], members[i + 1 + j], distances[j], error);
    }
    return status;
}

/* ------------------------------------------------------------------ crowds -- */

/* The members, best first. */
static nigh_status order_members(struct nigh__buckets *buckets, nigh_error *error) {
    uint64_t *members = buckets->members.data;
    const size_t count = buckets->members.count;
    uint64_t *words = nigh__array_room(buckets->dedup->context, &buckets->words, 2 * count);
    if (words == NULL) return nigh__no_memory(error, "to compare documents");
    for (size_t i = 0; i < count; i++) words[i] = buckets->order->rank[members[i]];
    const uint64_t *sorted = nigh__words_sort(words, words + count, count, 1, 1, 1);
    for (size_t i = 0; i < count; i++) members[i] = buckets->order->first[sorted[i]];
    return NIGH_OK;
}

/* How a member stands to its leaders. */
struct standing {
    bool close;   /* to one, so near that they are alike as good as surely */
    bool settled; /* that, or near enough to many */
};

/* Pairs a member with leaders. */
static nigh_status follow(struct nigh__buckets *buckets, uint64_t member, struct standing *standing,
                          nigh_error *error) {
    const uint64_t *leaders = buckets->leaders.data;
    uint32_t *distances = buckets->distances.data;
    const uint64_t *row = nigh__gathered_row(buckets->gathered, member);
    const uint32_t least =
        buckets->dedup->context->hamming->rows(row, buckets->rows.data, buckets->leaders.count, ROW_WORDS, distances);
    *standing = (struct standing){.close = least <= buckets->radius / 2};
    if (least > buckets->radius) return NIGH_OK;
    nigh_status status = NIGH_OK;
    uint32_t given = 0;
    bool nearest = false; /* among those given */
    for (size_t i = 0; status == NIGH_OK && i < buckets->leaders.count && (given < FOLLOWED || !nearest); i++) {
        if (distances[i] > buckets->radius || (given >= FOLLOWED && distances[i] > least)) continue;
        status = consider(buckets, &buckets->deciding, leaders[i], member, distances[i], error);
        nearest = nearest || distances[i] == least;
        given++;
    }
    standing->settled = standing->close || given >= FOLLOWED;
    return status;
}

static nigh_status add_leader(struct nigh__buckets *buckets, uint64_t member, nigh_error *error) {
    const nigh_context *context = buckets->dedup->context;
    uint64_t *leader = nigh__array_add(context, &buckets->leaders, 1);
    uint64_t *row = nigh__array_add(context, &buckets->rows, ROW_WORDS);
    if (leader == NULL || row == NULL || nigh__array_add(context, &buckets->distances, 1) == NULL)
        return nigh__no_memory(error, "to compare documents");
    *leader = member;
    memcpy(row, nigh__gathered_row(buckets->gathered, member), ROW_WORDS * sizeof *row);
    return NIGH_OK;
}

/* Members without a leader are compared with those next to them in the order of some of their bits. */
static nigh_status compare_neighbours(struct nigh__buckets *buckets, const uint64_t *members, size_t count,
                                      nigh_error *error) {
    const uint32_t pair_words = buckets->dedup->pair_words; /* of some bits, and the member */
    uint64_t *words = nigh__array_room(buckets->dedup->context, &buckets->words, 2 * count * pair_words);
    if (words == NULL) return nigh__no_memory(error, "to compare documents");
    const uint32_t word = buckets->band % ROW_WORDS;
    for (size_t i = 0; i < count; i++)
        nigh__number_pair_pack(pair_words, nigh__gathered_row(buckets->gathered, members[i])[word] >> 32, members[i],
                               words + i * pair_words);
    const uint64_t *sorted = nigh__words_sort(words, words + count * pair_words, count, pair_words, pair_words, 1);
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < count; i++) {
        const uint64_t a = nigh__number_pair_unpack(pair_words, sorted + i * pair_words).second;
        for (size_t j = i + 1; status == NIGH_OK && j < count && j <= i + NEIGHBOURS; j++) {
            const uint64_t b = nigh__number_pair_unpack(pair_words, sorted + j * pair_words).second;
            status = consider(buckets, &buckets->deciding, a, b, distance_of(buckets, a, b), error);
        }
    }
    return status;
}

static nigh_status compare_crowd(struct nigh__buckets *buckets, nigh_error *error) {
    nigh_status status = order_members(buckets, error);
    uint64_t *members = buckets->members.data;
    const size_t count = buckets->members.count;
    const bool over = count > buckets->dedup->options.bucket_budget;
    size_t alone = 0; /* members without a leader; they move to the front */
    buckets->leaders.count = 0;
    buckets->rows.count = 0;
    buckets->distances.count = 0;
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        const uint64_t member = members[i];
        struct standing standing;
        status = follow(buckets, member, &standing, error);
        if (!standing.settled) members[alone++] = member;
        if (status != NIGH_OK || standing.close || (over && buckets->leaders.count == LEADERS)) continue;
        status = add_leader(buckets, member, error);
    }
    buckets->truncated += over;
    return status == NIGH_OK && over ? compare_neighbours(buckets, members, alone, error) : status;
}

/* Its members go to whoever decides, in their order, behind so many that were there before. */
static nigh_status defer_crowd(struct nigh__buckets *buckets, uint64_t taken, nigh_error *error) {
    pthread_mutex_t *lock = buckets->deciding.lock;
    if (lock != NULL) pthread_mutex_lock(lock);
    nigh_status status =
        nigh__candidates_add_crowd(buckets->candidates, buckets->members.data, buckets->members.count, taken, error);
    if (lock != NULL) pthread_mutex_unlock(lock);
    return status;
}

/* ----------------------------------------------------------------- buckets -- */

/* Where all pairs are wanted, the sizes of crowds are kept. */
static nigh_status keep_size(struct nigh__buckets *buckets, size_t count, nigh_error *error) {
    if (buckets->listed.sorters.by_better == NULL || count > buckets->dedup->options.bucket_budget) return NIGH_OK;
    uint64_t *size = nigh__array_add(buckets->dedup->context, &buckets->sizes, 1);
    if (size == NULL) return nigh__no_memory(error, "to compare documents");
    *size = count;
    return NIGH_OK;
}

nigh_status nigh__buckets_compare(struct nigh__buckets *buckets, nigh_error *error) {
    const size_t count = buckets->members.count;
    const struct nigh__there *there = buckets->candidates->there;
    const uint64_t taken = there == NULL || count < 2 ? 0 : nigh__there_members(there, buckets->band, buckets->key);
    nigh_status status = NIGH_OK;
    if (count > buckets->most || taken > 0) {
        status = keep_size(buckets, count, error);
        if (status == NIGH_OK)
            status = buckets->candidates->members != NULL ? defer_crowd(buckets, taken, error)
                                                          : compare_crowd(buckets, error);
    } else if (count > 1) {
        status = compare_all(buckets, &buckets->deciding, UINT64_MAX, error);
    }
    buckets->members.count = 0;
    return status;
}

/* ----------------------------------------------------------------- listing -- */

uint64_t nigh__buckets_pairs(const struct nigh__buckets *buckets, uint64_t window) {
    const uint64_t *sizes = buckets->sizes.data;
    uint64_t pairs = 0;
    for (size_t i = 0; i < buckets->sizes.count; i++) {
        const uint64_t others = nigh__smaller(sizes[i] - 1, window);
        pairs += others * (sizes[i] - 1 - others) + others * (others + 1) / 2;
    }
    return pairs;
}

nigh_status nigh__buckets_list(struct nigh__buckets *buckets, uint64_t window, nigh_error *error) {
    const size_t count = buckets->members.count;
    nigh_status status = NIGH_OK;
    if (count > buckets->most && count <= buckets->dedup->options.bucket_budget) {
        status = order_members(buckets, error);
        if (status == NIGH_OK) status = compare_all(buckets, &buckets->listed, window, error);
    }
    buckets->members.count = 0;
    return status;
}

nigh_status nigh__buckets_finish(struct nigh__buckets *buckets, nigh_error *error) {
    nigh_status status = nigh__pair_queue_flush(&buckets->deciding, error);
    if (status == NIGH_OK && buckets->listed.sorters.by_better != NULL)
        status = nigh__pair_queue_flush(&buckets->listed, error);
    return status;
}
