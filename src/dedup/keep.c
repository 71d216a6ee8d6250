/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which documents stay. The rule: take documents one by one, best first, and compare each with those that stay
 * so far:
 *
 *     candidates   those that share a bucket with it, near enough by their bits: all in a
 *                  bucket that is no crowd, and in a crowd those of its list (crowd_lists.h)
 *     verdict      it goes with the first of them, by rank, that is alike; where none is, it
 *                  stays, and goes to the lists of its crowds
 *
 * So the verdict on a document depends on those before it that stay, and on nothing that comes later. Adding documents
 * day by day, and comparing each day with what stayed of the days before, gives the same result as taking all at once.
 *
 * It is done in waves of some thousand documents:
 *
 *     by several threads   each document of the wave against those that stayed before it
 *     in order             those that nobody was found for, against the wave's own
 *
 * A document found in the first step has a better rank than any found in the second, so the two steps together give
 * the verdict of one by one. Where a wave ends changes nothing.
 *
 * The rule COMPLETE is the same, but that a document must also be alike to all that went
 * with the one it goes with (complete.h).  A cluster may have grown since the first step: then it
 * is asked again in the second, and where it says no now, the document goes on to the next.
 * Clusters that said no before would say it again, for nobody leaves them.
 *
 * But a document may take only so many comparisons, and how many a cluster took of it in the first step depends on
 * where the wave began.  So that the verdict does not, the second step asks again from the first cluster on that was
 * asked, as if nobody had before.  Mostly that is the one that was found.  Where others said no before it, that is done
 * only for a document that could come to too many comparisons, as it could where half its budget is no more than
 *
 *     the sum, over the clusters it asked, of centres and members      all that one can take
 *     and all that went with somebody in this wave so far              by so much they may have grown
 */
#include "dedup/keep.h"

#include <stdlib.h>

#include "base/parallel.h"
#include "base/status.h"
#include "dedup/complete.h"
#include "dedup/crowd_lists.h"
#include "dedup/likeness.h"

#define WAVE_DOCUMENTS 2048u
#define WAVE_PAIRS ((size_t)1 << 20)
#define AT_ONCE 16u
#define WORTH_THREADS 64u

/* A document of the wave; its pairs and crowds end where those of the next begin. */
struct suspect {
    uint64_t rank;
    size_t pairs, crowds;
    uint64_t from;  /* ranks before that are out of the question */
    uint64_t found; /* the rank it goes with; NIGH__NO_DOCUMENT: none yet */
    float similarity;
    /* Of the rule COMPLETE. */
    uint64_t left;                     /* comparisons with other members; 0: no more, and it stays */
    uint64_t most;                     /* that the clusters asked so far could take; 0: none was asked */
    uint64_t first;                    /* of these */
    bool counts;                       /* it is asked in order from that on: what runs out is told */
    struct nigh__complete_place place; /* in the cluster */
};

/* Which of those that stay a document is held against. */
enum scope { BEFORE_WAVE, OF_WAVE, ALL };

/* One thread's own things. */
struct hand {
    struct nigh__sets_reader reader;
    struct nigh__array distances; /* of uint32_t */
    struct nigh__array found;     /* of uint64_t: candidates */
    uint64_t by_crowds;           /* candidates so far, counted once for each crowd */
    struct nigh__complete_asking asking;
};

struct wave {
    const struct nigh__keeping *keeping;
    struct nigh__crowd_lists crowd_lists;
    struct nigh__complete complete; /* of the rule COMPLETE; else of zeros */
    struct nigh__sorter_cursor pairs, members;
    struct nigh__array suspects; /* of struct suspect, and one more that ends the last */
    struct nigh__array betters;  /* of uint64_t: of pairs, the better ranks */
    struct nigh__array crowds;   /* of uint64_t */
    struct hand *hands;
    uint64_t begin; /* the first rank of the wave */
    uint64_t gone;  /* so many of the wave went with somebody */
    struct nigh__parallel parallel;
};

/* ----------------------------------------------------------------- filling -- */

/* Moves the records of a rank from a cursor to `out`; *next is the rank that comes then. */
static nigh_status take_records(const struct wave *wave, struct nigh__sorter_cursor *cursor, uint64_t rank,
                                struct nigh__array *out, uint64_t *next, nigh_error *error) {
    struct nigh__number_pair record;
    nigh_status status;
    while ((status = nigh__pair_peek(cursor, &record, error)) == NIGH_OK && record.first == rank && !cursor->ended) {
        uint64_t *place = nigh__array_add(wave->keeping->dedup->context, out, 1);
        if (place == NULL) return nigh__no_memory(error, "to verify");
        *place = record.second;
        cursor->next++;
    }
    *next = record.first;
    return status;
}

static nigh_status add_suspect(struct wave *wave, uint64_t rank, nigh_error *error) {
    struct suspect *suspect = nigh__array_add(wave->keeping->dedup->context, &wave->suspects, 1);
    if (suspect == NULL) return nigh__no_memory(error, "to verify");
    *suspect = (struct suspect){.rank = rank,
                                .pairs = wave->betters.count,
                                .crowds = wave->crowds.count,
                                .found = NIGH__NO_DOCUMENT,
                                .left = wave->keeping->dedup->options.bucket_budget};
    return NIGH_OK;
}

/* The next documents that have a candidate; none are left where there are no suspects. */
static nigh_status fill(struct wave *wave, nigh_error *error) {
    struct nigh__number_pair pair = {0, 0};
    struct nigh__number_pair member = {0, 0};
    wave->suspects.count = wave->betters.count = wave->crowds.count = 0;
    nigh_status status = nigh__pair_peek(&wave->pairs, &pair, error);
    if (status == NIGH_OK) status = nigh__pair_peek(&wave->members, &member, error);
    uint64_t by_pair = pair.first;
    uint64_t by_crowd = member.first;
    while (status == NIGH_OK && (!wave->pairs.ended || !wave->members.ended) && wave->suspects.count < WAVE_DOCUMENTS &&
           wave->betters.count < WAVE_PAIRS) {
        const uint64_t rank = by_pair < by_crowd ? by_pair : by_crowd;
        status = add_suspect(wave, rank, error);
        if (status == NIGH_OK) status = take_records(wave, &wave->pairs, rank, &wave->betters, &by_pair, error);
        if (status == NIGH_OK) status = take_records(wave, &wave->members, rank, &wave->crowds, &by_crowd, error);
    }
    if (status != NIGH_OK || wave->suspects.count == 0) return status;
    wave->begin = ((const struct suspect *)wave->suspects.data)->rank;
    return add_suspect(wave, UINT64_MAX, error);
}

/* ---------------------------------------------------------------- comparing -- */

static int compare_ranks(const void *left, const void *right) {
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static bool stays(const struct wave *wave, uint64_t rank) { return wave->keeping->clusters->kept[rank] == rank; }

static bool is_in(const struct wave *wave, enum scope scope, uint64_t rank) {
    return scope == ALL || (rank >= wave->begin) == (scope == OF_WAVE);
}

/* Candidates by pairs that stay. */
static nigh_status collect_pairs(const struct wave *wave, struct hand *hand, const struct suspect *suspect,
                                 enum scope scope, nigh_error *error) {
    const uint64_t *betters = wave->betters.data;
    for (size_t i = suspect[0].pairs; i < suspect[1].pairs; i++) {
        if (!is_in(wave, scope, betters[i]) || !stays(wave, betters[i])) continue;
        uint64_t *place = nigh__array_add(wave->keeping->dedup->context, &hand->found, 1);
        if (place == NULL) return nigh__no_memory(error, "to verify");
        *place = betters[i];
    }
    return NIGH_OK;
}

/* The same by crowds. */
static nigh_status collect_crowds(const struct wave *wave, struct hand *hand, const struct suspect *suspect,
                                  enum scope scope, nigh_error *error) {
    const uint64_t *crowds = wave->crowds.data;
    const struct nigh__comparer *comparer = wave->keeping->comparer;
    const uint64_t *row = nigh__gathered_row(comparer->gathered, comparer->order->first[suspect->rank]);
    nigh_status status = NIGH_OK;
    for (size_t i = suspect[0].crowds; status == NIGH_OK && i < suspect[1].crowds; i++) {
        const struct nigh__crowd_list *list = &wave->crowd_lists.lists[crowds[i]];
        status = nigh__crowd_lists_find(&wave->crowd_lists, crowds[i], row, scope == OF_WAVE ? list->settled : 0,
                                        scope == BEFORE_WAVE ? list->settled : list->ranks.count, &hand->distances,
                                        &hand->found, error);
    }
    return status;
}

static bool is_complete(const struct wave *wave) { return wave->complete.context != NULL; }

/* Whether it may go with one that it is alike to; half of what is left may be spent on that. */
static nigh_status ask_cluster(const struct wave *wave, struct hand *hand, struct suspect *suspect, uint64_t kept,
                               bool *admits, nigh_error *error) {
    const uint64_t allowed = suspect->left - suspect->left / 2;
    hand->asking.left = allowed;
    nigh_status status =
        nigh__complete_admits(&wave->complete, &hand->asking, kept, suspect->rank, &suspect->place, admits, error);
    suspect->left -= allowed - hand->asking.left;
    if (suspect->most == 0) suspect->first = kept;
    suspect->most += NIGH__COMPLETE_BALLS + suspect->place.population;
    if (suspect->counts && hand->asking.left == 0) nigh__complete_cut(&wave->complete, kept);
    return status;
}

/* Holds a document against one candidate. */
static nigh_status try_candidate(const struct wave *wave, struct hand *hand, struct suspect *suspect,
                                 uint64_t candidate, nigh_error *error) {
    struct nigh__comparison comparison;
    hand->asking.compared++;
    nigh_status status =
        nigh__compare(wave->keeping->comparer, &hand->reader, candidate, suspect->rank, false, &comparison, error);
    if (status != NIGH_OK || !comparison.alike) return status;
    bool admits = true;
    if (is_complete(wave)) {
        nigh__complete_begin(&wave->complete, candidate, suspect->rank, comparison.common, &suspect->place);
        status = ask_cluster(wave, hand, suspect, candidate, &admits, error);
    }
    if (status != NIGH_OK || !admits) return status;
    suspect->found = candidate;
    suspect->similarity = comparison.similarity;
    return NIGH_OK;
}

/* And against all of them, best first. */
static nigh_status try_candidates(const struct wave *wave, struct hand *hand, struct suspect *suspect,
                                  nigh_error *error) {
    uint64_t *found = hand->found.data;
    nigh_status status = NIGH_OK;
    if (hand->found.count > 1) qsort(found, hand->found.count, sizeof *found, compare_ranks);
    for (size_t i = 0; status == NIGH_OK && i < hand->found.count; i++) {
        if (found[i] < suspect->from || (i > 0 && found[i] == found[i - 1])) continue;
        status = try_candidate(wave, hand, suspect, found[i], error);
        if (suspect->found != NIGH__NO_DOCUMENT || suspect->left == 0) break;
    }
    return status;
}

static nigh_status judge(const struct wave *wave, struct hand *hand, struct suspect *suspect, enum scope scope,
                         nigh_error *error) {
    hand->found.count = 0;
    nigh_status status = collect_pairs(wave, hand, suspect, scope, error);
    const size_t by_pairs = hand->found.count;
    if (status == NIGH_OK) status = collect_crowds(wave, hand, suspect, scope, error);
    hand->by_crowds += hand->found.count - by_pairs;
    return status == NIGH_OK ? try_candidates(wave, hand, suspect, error) : status;
}

/* ----------------------------------------------------------------- deciding -- */

static nigh_status judge_some(void *user, const struct nigh__items *items) {
    struct wave *wave = user;
    struct suspect *suspects = wave->suspects.data;
    nigh_status status = NIGH_OK;
    for (uint64_t i = items->first; status == NIGH_OK && i < items->end; i++) {
        if (stays(wave, suspects[i].rank))
            status = judge(wave, &wave->hands[items->thread], &suspects[i], BEFORE_WAVE, items->error);
        if (!nigh__parallel_did(&wave->parallel, items->thread, 0)) break;
    }
    return status;
}

/* It goes. */
static nigh_status leave(struct wave *wave, const struct suspect *suspect, nigh_error *error) {
    const struct nigh__keeping *keeping = wave->keeping;
    nigh_dedup *dedup = keeping->dedup;
    const uint64_t *first = keeping->comparer->order->first;
    dedup->info.alike++;
    wave->gone++;
    keeping->clusters->kept[suspect->rank] = suspect->found;
    nigh__dedup_document(dedup, first[suspect->rank])->similarity = suspect->similarity;
    nigh_status status = NIGH_OK;
    if (is_complete(wave))
        status = nigh__complete_add(&wave->complete, &wave->hands[0].asking, suspect->found, suspect->rank,
                                    &suspect->place, error);
    if (status != NIGH_OK || !dedup->options.all_pairs) return status;
    return nigh__likeness_add(dedup, keeping->comparer->gathered, first[suspect->found], first[suspect->rank],
                              suspect->similarity, error);
}

/* It stays, and its crowds hear of it. */
static nigh_status stay(struct wave *wave, const struct suspect *suspect, nigh_error *error) {
    const struct nigh__comparer *comparer = wave->keeping->comparer;
    const uint64_t *crowds = wave->crowds.data;
    const uint64_t *row = nigh__gathered_row(comparer->gathered, comparer->order->first[suspect->rank]);
    nigh_status status = NIGH_OK;
    for (size_t i = suspect[0].crowds; status == NIGH_OK && i < suspect[1].crowds; i++)
        status = nigh__crowd_lists_add(&wave->crowd_lists, crowds[i], suspect->rank, row, error);
    return status;
}

/* The lists of the wave's crowds are what later waves begin with. */
static void settle_lists(struct wave *wave) {
    const uint64_t *crowds = wave->crowds.data;
    for (size_t i = 0; i < wave->crowds.count; i++) {
        struct nigh__crowd_list *list = &wave->crowd_lists.lists[crowds[i]];
        list->settled = list->ranks.count;
    }
}

/* Of the rule COMPLETE: goes on from the cluster that was found in the first step, if it was. */
static nigh_status judge_on(const struct wave *wave, struct suspect *suspect, nigh_error *error) {
    struct hand *hand = &wave->hands[0];
    if (suspect->found == NIGH__NO_DOCUMENT) return judge(wave, hand, suspect, OF_WAVE, error);
    if (suspect->place.population == nigh__complete_population(&wave->complete, suspect->found)) return NIGH_OK;
    bool admits = true;
    nigh_status status = ask_cluster(wave, hand, suspect, suspect->found, &admits, error);
    if (status != NIGH_OK || admits) return status;
    suspect->from = suspect->found + 1;
    suspect->found = NIGH__NO_DOCUMENT;
    return suspect->left == 0 ? NIGH_OK : judge(wave, hand, suspect, ALL, error);
}

/* Whether no cluster could have run out of comparisons, whenever it had been asked. */
static bool is_sure(const struct wave *wave, const struct suspect *suspect) {
    return suspect->most + wave->gone < wave->keeping->dedup->options.bucket_budget / 2;
}

static nigh_status judge_complete(const struct wave *wave, struct suspect *suspect, nigh_error *error) {
    const uint64_t budget = wave->keeping->dedup->options.bucket_budget;
    nigh_status status = NIGH_OK;
    suspect->counts = suspect->most == 0 || suspect->found == suspect->first;
    if (suspect->counts) suspect->left = budget;
    if (suspect->counts || is_sure(wave, suspect)) status = judge_on(wave, suspect, error);
    if (status != NIGH_OK || suspect->counts || is_sure(wave, suspect)) return status;
    suspect->counts = true;
    suspect->from = suspect->first;
    suspect->found = NIGH__NO_DOCUMENT;
    suspect->left = budget;
    return judge(wave, &wave->hands[0], suspect, ALL, error);
}

/* The second step for a document that may have been found one already: in order. */
static nigh_status judge_again(const struct wave *wave, struct suspect *suspect, nigh_error *error) {
    if (is_complete(wave)) return judge_complete(wave, suspect, error);
    return suspect->found == NIGH__NO_DOCUMENT ? judge(wave, &wave->hands[0], suspect, OF_WAVE, error) : NIGH_OK;
}

static nigh_status decide(struct wave *wave, nigh_error *error) {
    struct suspect *suspects = wave->suspects.data;
    const size_t count = wave->suspects.count - 1;
    wave->parallel.threads = count < WORTH_THREADS ? 1 : wave->keeping->threads;
    wave->gone = 0;
    atomic_store(&wave->parallel.done, wave->begin);
    nigh_status status = nigh__parallel_run(&wave->parallel, count, AT_ONCE, judge_some, wave, error);
    for (size_t i = 0; status == NIGH_OK && i < count; i++) {
        if (!stays(wave, suspects[i].rank)) continue; /* it goes with one that was there before */
        if (!nigh__parallel_did(&wave->parallel, 0, 0)) return nigh__progress_cancelled(error);
        status = judge_again(wave, &suspects[i], error);
        if (status == NIGH_OK)
            status = suspects[i].found == NIGH__NO_DOCUMENT ? stay(wave, &suspects[i], error)
                                                            : leave(wave, &suspects[i], error);
    }
    settle_lists(wave);
    return status;
}

/* -------------------------------------------------------------------- waves -- */

static nigh_status make_hands(struct wave *wave, nigh_error *error) {
    const nigh_context *context = wave->keeping->dedup->context;
    wave->hands = nigh__alloc_zero(context, wave->keeping->threads, sizeof *wave->hands);
    if (wave->hands == NULL) return nigh__no_memory(error, "to verify");
    for (uint32_t i = 0; i < wave->keeping->threads; i++) {
        nigh__sets_reader_init(&wave->hands[i].reader);
        wave->hands[i].asking.reader = &wave->hands[i].reader;
        wave->hands[i].distances = (struct nigh__array)NIGH__ARRAY(uint32_t);
        wave->hands[i].found = (struct nigh__array)NIGH__ARRAY(uint64_t);
    }
    return NIGH_OK;
}

static void release(struct wave *wave) {
    const nigh_context *context = wave->keeping->dedup->context;
    nigh_dedup_info *info = &wave->keeping->dedup->info;
    for (uint32_t i = 0; wave->hands != NULL && i < wave->keeping->threads; i++) {
        info->candidates += wave->hands[i].by_crowds;
        if (wave->keeping->dedup->verified) info->verified += wave->hands[i].asking.compared;
        nigh__sets_reader_release(context, &wave->hands[i].reader);
        nigh__array_release(context, &wave->hands[i].distances);
        nigh__array_release(context, &wave->hands[i].found);
    }
    nigh__free(context, wave->hands);
    info->truncated += wave->crowd_lists.truncated + nigh__complete_truncated(&wave->complete);
    nigh__crowd_lists_release(&wave->crowd_lists);
    nigh__complete_release(&wave->complete);
    nigh__array_release(context, &wave->suspects);
    nigh__array_release(context, &wave->betters);
    nigh__array_release(context, &wave->crowds);
}

static nigh_status run(struct wave *wave, nigh_error *error) {
    struct nigh__progress progress;
    nigh__progress_init(&progress, wave->keeping->dedup->options.progress);
    wave->parallel.progress = &progress;
    nigh__parallel_stage(&wave->parallel, "verifying", wave->keeping->clusters->count);
    for (;;) {
        nigh_status status = fill(wave, error);
        if (status != NIGH_OK || wave->suspects.count == 0) return status;
        status = decide(wave, error);
        if (status != NIGH_OK) return status;
    }
}

nigh_status nigh__keep(const struct nigh__keeping *keeping, nigh_error *error) {
    const nigh_dedup *dedup = keeping->dedup;
    const struct nigh__candidates *candidates = keeping->candidates;
    struct wave wave = {.keeping = keeping,
                        .pairs = {.sorter = candidates->deciding.by_worse, .words = dedup->pair_words},
                        .members = {.sorter = candidates->members, .words = 2},
                        .suspects = NIGH__ARRAY(struct suspect),
                        .betters = NIGH__ARRAY(uint64_t),
                        .crowds = NIGH__ARRAY(uint64_t),
                        .parallel = {.context = dedup->context, .threads = keeping->threads}};
    nigh_status status = nigh__crowd_lists_init(
        dedup->context, &candidates->taken, keeping->comparer->gathered->row_words,
        nigh__crowd_find_radius(dedup->options.threshold), dedup->options.bucket_budget, &wave.crowd_lists, error);
    if (status == NIGH_OK && dedup->options.cluster == NIGH_CLUSTER_COMPLETE)
        status = nigh__complete_init(keeping->comparer, keeping->clusters->count, &wave.complete, error);
    if (status == NIGH_OK) status = make_hands(&wave, error);
    if (status == NIGH_OK) status = run(&wave, error);
    release(&wave);
    return status;
}
