/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The search of slice lists, fast.  slice_search.h says what it finds, this file how.
 *
 *     1  which lists, and how many postings in all         slice_lists.c
 *     2  scores: a byte a row, lists asked for 12 ahead     here
 *     3  the best M + 1 of them                             slice_pick.c
 *     4  these compared, best first, rows asked for ahead   here
 *
 * Bytes instead of 32 bits make the table of a million rows fit nearly into the
 * second-level cache, where a score is added in a nanosecond, and let a register
 * compare 32 or 64 at once.
 *
 * The table is all 0 between searches.  A search with few postings writes down which
 * rows it met (TOUCHED), looks at these alone, and sets these to 0 again; one with
 * many passes over the whole table twice, once to find the best, once to clear it.
 *
 * Why M + 1: the first that is left out says what is proven of the answer.  Rows are
 * compared by score, highest first, and once the optimistic distance of the next is
 * beyond the k-th so far, none of the rest can be an answer: for near copies that is
 * after a few.  Culling by pessimistic distances, as the papers have it, would save nothing
 * beyond that; slice_cull.c has the proof, and counts it.
 */
#include "slices/slice_search.h"

#include <string.h>

#include "base/status.h"
#include "collection/selection.h"
#include "kernel/hamming.h"
#include "slices/slice_directed.h"
#include "slices/slice_lists.h"
#include "slices/slice_pick.h"
#include "slices/slice_wide.h"

#define ROWS_AHEAD 12u
#define SMALL ((size_t)128 << 10) /* a larger table of scores is given */
#define PAGE ((size_t)2 << 20)    /* a huge page of its own, or more */
#define STAGED 1024u              /* ids that are added at once */
#define STEP 8u                   /* ids that are copied at once */
#define LONG 64u                  /* ids of a list that is not copied */
#define FIRST_CANDIDATES                                                                                          \
    1024u                  /* where all that may matter are to be compared: for a first idea of the k-th distance \
                            */
#define TOUCHED_SHARE 400u /* rows are written down where postings are fewer than one in so many rows */
#define SCORES_AHEAD 16    /* ids whose scores are asked for ahead, where the table is far larger than what is met */
#define BEST_SPARE 64u     /* keys beyond k, or k of them, before the best are picked out */

struct search {
    struct nigh__slice_scratch *scratch;
    const struct nigh__slices *slices;
    const struct nigh__slice_query *query;
    const uint64_t *rows;
    struct nigh__slice_lists lists;
    struct nigh__slice_pick pick;
    uint32_t words;
    uint64_t limit; /* keys must be less to be among the k nearest so far */
    bool added;     /* keys, since these were picked out */
    uint64_t compared;
};

/* ---------------------------------------------------------------------- scores -- */

static nigh_status prepare_scores(struct nigh__slice_scratch *scratch, uint32_t rows, nigh_error *error) {
    const size_t count = ((size_t)rows + NIGH__SCORES_BLOCK - 1) / NIGH__SCORES_BLOCK * NIGH__SCORES_BLOCK;
    if (scratch->scores == NULL || scratch->score_count < count) {
        nigh__free(scratch->context, scratch->scores);
        scratch->score_count = 0;
        scratch->scores = nigh__alloc_table(scratch->context, count < SMALL || count > PAGE ? count : PAGE, 1);
        if (scratch->scores == NULL) return nigh__fail(error, NIGH_ENOMEM, "no memory for the scores of %u rows", rows);
        scratch->score_count = count;
    } else if (scratch->dirty)
        memset(scratch->scores, 0, scratch->score_count);
    scratch->dirty = true;
    return NIGH_OK;
}

/* What an id does to the scores, known where this is compiled. */
enum { SATURATE = 1, TOUCH = 2, ONLY_SEEN = 4 };

/* What the ids of some lists are added to. */
struct adding {
    uint8_t *scores;
    uint32_t rows;
    uint32_t *touched; /* rows that had no score before, so many: */
    size_t touched_count;
};

#define INLINE static inline __attribute__((always_inline))

/* False where an id cannot be. */
INLINE bool add_ids(struct adding *adding, const uint32_t *ids, size_t count, uint32_t score, const int how) {
    uint8_t *const scores = adding->scores;
    const uint32_t rows = adding->rows;
    size_t met = adding->touched_count;
    for (const uint32_t *const end = ids + count; ids < end; ids++) {
        const uint32_t row = *ids;
        if (row >= rows) return false;
        if ((how & TOUCH) != 0 && end - ids > SCORES_AHEAD) __builtin_prefetch(scores + ids[SCORES_AHEAD], 1);
        const uint32_t before = scores[row];
        if ((how & ONLY_SEEN) != 0 && before == 0) continue;
        uint32_t after = before + score;
        if ((how & SATURATE) != 0 && after > NIGH__MAX_SCORE) after = NIGH__MAX_SCORE;
        scores[row] = (uint8_t)after;
        if ((how & TOUCH) != 0) {
            adding->touched[met] = row;
            met += before == 0;
        }
    }
    adding->touched_count = met;
    return true;
}

INLINE void ask_for_list(const struct nigh__slice_list *list) {
    __builtin_prefetch(list->ids);
    __builtin_prefetch(list->ids + list->length - 1);
}

/* Copies a short list, eight ids at a time, so that its length is nothing a processor has to guess. */
INLINE void stage(uint32_t *staged, const struct nigh__slice_list *list) {
    for (uint32_t i = 0; i < list->length; i += STEP) memcpy(staged + i, list->ids + i, STEP * sizeof *staged);
}

/* Adds some lists, those of scores between `least` and `most`.  False where an id cannot be. */
INLINE bool add_lists(const struct search *search, const struct nigh__slice_list *list,
                      const struct nigh__slice_list *const end, uint32_t least, uint32_t most, struct adding *adding,
                      const int how) {
    const uint32_t *const section_end =
        search->slices->numbers + nigh__slicing_numbers(&search->slices->slicing, search->slices->rows);
    uint32_t staged[STAGED + STEP];
    size_t count = 0;
    uint32_t score = 0; /* of those staged */
    for (; list < end; list++) {
        ask_for_list(list + NIGH__SLICE_LISTS_AHEAD);
        if (list->score < least || list->score > most) continue;
        if (list->score != score || count + list->length > STAGED) {
            if (!add_ids(adding, staged, count, score, how)) return false;
            count = 0;
            score = list->score;
        }
        if (list->length > LONG || section_end - list->ids < (ptrdiff_t)(LONG + STEP)) {
            if (!add_ids(adding, list->ids, list->length, score, how)) return false;
            continue;
        }
        stage(staged + count, list);
        count += list->length;
    }
    return add_ids(adding, staged, count, score, how);
}

/* The first list of those slices in which a score may have come to be too high for a byte. */
static const struct nigh__slice_list *first_to_saturate(const struct search *search) {
    const uint32_t safe = NIGH__MAX_SCORE / nigh__slice_top(search->query);
    const struct nigh__slice_list *lists = search->lists.lists;
    size_t low = 0;
    for (size_t high = search->lists.count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (lists[middle].slice < safe)
            low = middle + 1;
        else
            high = middle;
    }
    return lists + low;
}

static bool add_admitting(const struct search *search, uint32_t least, struct adding *adding) {
    const struct nigh__slice_list *const lists = search->lists.lists;
    const struct nigh__slice_list *const end = lists + search->lists.count;
    if (adding->touched != NULL) return add_lists(search, lists, end, least, UINT32_MAX, adding, SATURATE | TOUCH);
    const struct nigh__slice_list *const saturate = first_to_saturate(search);
    return add_lists(search, lists, saturate, least, UINT32_MAX, adding, 0) &&
           add_lists(search, saturate, end, least, UINT32_MAX, adding, SATURATE);
}

static bool add_only_seen(const struct search *search, uint32_t most, struct adding *adding) {
    const struct nigh__slice_list *const lists = search->lists.lists;
    return add_lists(search, lists, lists + search->lists.count, 0, most, adding, SATURATE | ONLY_SEEN);
}

/* Says where: looks once more for the id that cannot be. */
static nigh_status find_lie(const struct search *search, nigh_error *error) {
    const struct nigh__slice_lists *lists = &search->lists;
    for (size_t l = 0; l < lists->count; l++) {
        for (uint32_t i = 0; i < lists->lists[l].length; i++) {
            const uint32_t *id = lists->lists[l].ids + i;
            if (*id >= search->slices->rows) return nigh__slice_lies_row(search->slices, id, error);
        }
    }
    return nigh__slice_lies_row(search->slices, search->slices->numbers, error); /* it changes under us */
}

static void forget_table(const uint64_t *allowed, uint8_t *scores, uint32_t rows) {
    for (size_t word = 0; word < nigh__bitmap_words(rows); word++)
        for (uint64_t out = ~allowed[word]; out != 0; out &= out - 1) {
            const size_t row = 64 * word + (size_t)__builtin_ctzll(out);
            if (row < rows) scores[row] = 0;
        }
}

/* Rows that are not allowed have no score, as if no list had them. */
static void forget_others(const struct search *search, struct adding *adding) {
    const uint64_t *allowed = search->query->allowed;
    if (allowed == NULL) return;
    if (adding->touched == NULL) {
        forget_table(allowed, adding->scores, adding->rows);
        return;
    }
    size_t left = 0;
    for (size_t i = 0; i < adding->touched_count; i++) {
        const uint32_t row = adding->touched[i];
        adding->touched[left] = row;
        if (nigh__bitmap_has(allowed, row))
            left++;
        else
            adding->scores[row] = 0;
    }
    adding->touched_count = left;
}

/* Rings up to `admit`, then those beyond it. */
static nigh_status add_scores(struct search *search, nigh_error *error) {
    const uint32_t postings_share = search->slices->rows / TOUCHED_SHARE;
    uint32_t *touched = NULL;
    if (search->lists.postings < postings_share) {
        struct nigh__slice_room *room = &search->scratch->touched;
        touched = nigh__slice_room(search->scratch->context, room, postings_share, sizeof *touched, error);
        if (touched == NULL) return NIGH_ENOMEM;
    }
    nigh_status status = prepare_scores(search->scratch, search->slices->rows, error);
    if (status != NIGH_OK) return status;
    const uint32_t top = nigh__slice_top(search->query);
    const uint32_t least = top - search->query->admit;
    struct adding adding = {.scores = search->scratch->scores, .rows = search->slices->rows, .touched = touched};
    if (!add_admitting(search, least, &adding) ||
        (search->query->admit < search->query->breadth && !add_only_seen(search, least - 1, &adding)))
        return find_lie(search, error);
    forget_others(search, &adding);
    search->pick = (struct nigh__slice_pick){.scratch = search->scratch,
                                             .rows = search->slices->rows,
                                             .touched = touched,
                                             .touched_count = adding.touched_count};
    return NIGH_OK;
}

/* ------------------------------------------------------------------- comparing -- */

/* Leaves the k best of the keys so far, and says what the next must be. */
static void cut(struct search *search) {
    struct nigh__array *best = &search->scratch->best;
    if (!search->added || best->count < search->query->k) return;
    nigh__keys_sort(search->scratch->context, best->data, best->count);
    best->count = search->query->k;
    search->limit = ((const uint64_t *)best->data)[best->count - 1];
    search->added = false;
}

static bool add_key(struct search *search, uint64_t key) {
    struct nigh__array *best = &search->scratch->best;
    const size_t spare = search->query->k > BEST_SPARE ? search->query->k : BEST_SPARE;
    if (best->count >= spare && best->count - spare >= search->query->k) {
        cut(search);
        if (key >= search->limit) return true;
    }
    uint64_t *slot = nigh__array_add(search->scratch->context, best, 1);
    if (slot == NULL) return false;
    *slot = key;
    search->added = true;
    return true;
}

/* By force: a function that only asks for memory may be taken for one that does nothing. */
INLINE void ask_for_row(const struct search *search, uint32_t row) {
    const char *bytes = (const char *)(search->rows + (size_t)row * search->words);
    __builtin_prefetch(bytes);
    if (search->words > 8) __builtin_prefetch(bytes + 64);
}

static bool compare_rows(struct search *search, const uint32_t *rows, size_t count) {
    const struct nigh__hamming *hamming = search->scratch->context->hamming;
    for (size_t i = 0; i < count && i < ROWS_AHEAD; i++) ask_for_row(search, rows[i]);
    for (size_t i = 0; i < count; i++) {
        if (i + ROWS_AHEAD < count) ask_for_row(search, rows[i + ROWS_AHEAD]);
        uint32_t distance;
        (void)hamming->rows(search->query->words, search->rows + (size_t)rows[i] * search->words, 1, search->words,
                            &distance);
        const uint64_t key = nigh__key(distance, rows[i]);
        if (key < search->limit && !add_key(search, key)) return false;
    }
    search->compared += count;
    return true;
}

/* The least score of a row that may be among the answers, as things are: 1 to NIGH__MAX_SCORE. */
static uint32_t least_score(const struct search *search) {
    const uint64_t most = (uint64_t)search->query->slices * (search->query->breadth + 1);
    if (search->limit == 0) return NIGH__MAX_SCORE;
    /* The greatest distance that is still wanted. */
    const uint64_t near = (uint64_t)search->lists.slack_sum + nigh__key_distance(search->limit - 1);
    if (near >= most) return 1;
    const uint64_t rings = search->query->breadth + 1;
    const uint64_t least = ((most - near) * nigh__slice_top(search->query) + rings - 1) / rings;
    return least < NIGH__MAX_SCORE ? (uint32_t)least : NIGH__MAX_SCORE;
}

/* Rows that were picked, by score, as long as any may be an answer. */
static nigh_status compare_picked(struct search *search, const struct nigh__slice_picked *picked, nigh_error *error) {
    for (uint32_t level = NIGH__MAX_SCORE; level >= least_score(search); level--) {
        if (picked->ends[level] == picked->ends[level + 1]) continue;
        const size_t first = picked->ends[level + 1];
        if (!compare_rows(search, picked->rows + first, picked->ends[level] - first))
            return nigh__no_memory(error, "for what the search found");
        cut(search);
    }
    return NIGH_OK;
}

/* The best M, and the highest score left out for its place; by whole scores where eight bits do not tell which. */
static nigh_status compare_best(struct search *search, uint32_t *next, nigh_error *error) {
    const uint32_t candidates = search->query->candidates;
    const uint32_t most = search->query->slices * nigh__slice_top(search->query);
    struct nigh__slice_picked picked;
    const uint32_t *rows;
    nigh_status status = nigh__slice_pick_best(&search->pick, candidates, &picked, error);
    if (status != NIGH_OK) return status;
    *next = picked.next;
    if (*next < NIGH__MAX_SCORE) return compare_picked(search, &picked, error);
    status = nigh__slice_pick_wide(&search->pick, search->slices, &search->lists, candidates, most, &rows, next, error);
    if (status == NIGH_OK && !compare_rows(search, rows, candidates))
        status = nigh__no_memory(error, "for what the search found");
    return status;
}

/* All that may be among the answers: the best to know how near these must be, then anew whatever may be so near. */
static nigh_status compare_all(struct search *search, nigh_error *error) {
    struct nigh__slice_picked picked;
    const uint64_t first = search->query->k < FIRST_CANDIDATES ? FIRST_CANDIDATES : 2 * (uint64_t)search->query->k;
    if (search->query->k != NIGH_ALL && first < search->slices->rows) {
        nigh_status status = nigh__slice_pick_best(&search->pick, (uint32_t)first, &picked, error);
        if (status == NIGH_OK) status = compare_picked(search, &picked, error);
        if (status != NIGH_OK || picked.next < least_score(search)) return status;
    }
    search->scratch->best.count = 0;                                          /* those near enough come again */
    if (search->limit != nigh__key(search->query->limit, 0)) search->limit++; /* the k-th too */
    size_t at = 0;
    for (bool more = true; more;) {
        const uint32_t *rows;
        size_t count;
        nigh_status status =
            nigh__slice_pick_from(&search->pick, least_score(search), &at, &rows, &count, &more, error);
        if (status != NIGH_OK) return status;
        if (!compare_rows(search, rows, count)) return nigh__no_memory(error, "for what the search found");
        cut(search);
    }
    return NIGH_OK;
}

/* -------------------------------------------------------------------- the whole -- */

static nigh_status finish(struct search *search, uint32_t next, struct nigh__slice_answer *answer, nigh_error *error) {
    cut(search);
    const nigh_context *context = search->scratch->context;
    const struct nigh__array *best = &search->scratch->best;
    if (best->count != 0) {
        uint64_t *keys = nigh__array_add(context, &answer->keys, best->count);
        if (keys == NULL) return nigh__no_memory(error, "for what the search found");
        memcpy(keys, best->data, best->count * sizeof *keys);
        nigh__keys_sort(context, keys, best->count);
    }
    const uint64_t *keys = answer->keys.data;
    const bool full = best->count != 0 && best->count == search->query->k;
    answer->below = nigh__slice_below(search->query, search->lists.slack_sum, next,
                                      full ? nigh__key_distance(keys[best->count - 1]) : UINT32_MAX);
    return NIGH_OK;
}

/* A directed query scores as one of so many rings would; that nothing is proven, the slack says. */
static struct nigh__slice_query directed(const struct nigh__slice_query *query) {
    struct nigh__slice_query out = *query;
    out.top = NIGH__DIRECTED_TOP;
    out.breadth = out.admit = NIGH__DIRECTED_TOP - 1;
    return out;
}

nigh_status nigh__slice_search(struct nigh__slice_scratch *scratch, const struct nigh__slices *slices,
                               const uint64_t *rows, const struct nigh__slice_query *query,
                               struct nigh__slice_answer *answer, nigh_error *error) {
    const struct nigh__slice_query as_rings = directed(query);
    if (query->weights != NULL) query = &as_rings;
    struct search search = {.scratch = scratch,
                            .slices = slices,
                            .query = query,
                            .rows = rows,
                            .words = nigh__row_words(slices->slicing.width_bits),
                            .limit = nigh__key(query->limit, 0)};
    *answer = (struct nigh__slice_answer){.keys = answer->keys};
    answer->keys.count = 0;
    scratch->best.count = 0;
    nigh_status status = query->weights == NULL
                             ? nigh__slice_lists_gather(scratch, slices, query, &search.lists, error)
                             : nigh__slice_lists_direct(scratch, slices, query, &search.lists, error);
    if (status == NIGH_OK) status = add_scores(&search, error);
    uint32_t next = 0;
    if (status == NIGH_OK && query->candidates == UINT32_MAX)
        status = compare_all(&search, error);
    else if (status == NIGH_OK)
        status = compare_best(&search, &next, error);
    if (status != NIGH_OK) return status;
    nigh__slice_pick_clear(&search.pick);
    answer->lists = search.lists.looks;
    answer->postings = search.lists.postings;
    answer->skipped = search.lists.skipped;
    answer->compared = search.compared;
    return finish(&search, next, answer, error);
}
