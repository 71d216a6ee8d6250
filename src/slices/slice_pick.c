/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the highest scores, out of a million.
 *
 * The kernel (kernel/scores.h) passes over the table and gives the rows of at least
 * some score.  Which score that must be to get a few more than are wanted, a sample of
 * the table tells.  Rows come in order, and of equal scores the first count; so
 * whenever the rows found fill the room there is, all but the best so many can go, and
 * from there on a row must score more than the last of these: whatever the scores are,
 * a pass takes about as long as reading the table.  Where the sample deceived and
 * too few are found, a second pass begins from 1.
 */
#include "slices/slice_pick.h"

#include <string.h>

#include "base/status.h"

#define SAMPLE_BLOCKS 96u   /* of NIGH__SCORES_BLOCK scores */
#define SPARE 512u          /* rows found beyond those wanted, before they are sorted out */
#define FROM_AT_ONCE 32768u /* rows that nigh__slice_pick_from() gives at a time */

#define LEVELS (NIGH__MAX_SCORE + 1)

static size_t blocks_end(uint32_t rows) {
    return ((size_t)rows + NIGH__SCORES_BLOCK - 1) / NIGH__SCORES_BLOCK * NIGH__SCORES_BLOCK;
}

static void count_levels(const uint8_t *scores, const uint32_t *rows, size_t count, uint32_t *levels) {
    memset(levels, 0, LEVELS * sizeof *levels);
    for (size_t i = 0; i < count; i++) levels[scores[rows[i]]]++;
}

/* The level at which the best so many end, and the room for rows of that level.  There are more than so many. */
static uint32_t level_of(const uint32_t *levels, size_t count, size_t *room) {
    uint32_t level = NIGH__MAX_SCORE;
    for (; level > 0 && levels[level] < count; level--) count -= levels[level];
    *room = count;
    return level;
}

/* Leaves the best `count` of rows that are in order; returns the least score of them. */
static uint32_t keep_best(const uint8_t *scores, uint32_t *rows, size_t *found, size_t count) {
    uint32_t levels[LEVELS];
    count_levels(scores, rows, *found, levels);
    size_t room;
    const uint32_t level = level_of(levels, count, &room);
    size_t kept = 0;
    for (size_t i = 0; i < *found; i++) {
        const uint32_t score = scores[rows[i]];
        const bool last = score == level && room != 0;
        rows[kept] = rows[i];
        kept += score > level || last;
        room -= last;
    }
    *found = kept;
    return level;
}

/* A score that somewhat more than so many rows should have. */
static uint32_t guess(const uint8_t *scores, size_t end, size_t count) {
    const size_t blocks = end / NIGH__SCORES_BLOCK;
    if (blocks < (size_t)8 * SAMPLE_BLOCKS) return 1;
    uint32_t levels[4][LEVELS];
    memset(levels, 0, sizeof levels);
    const size_t step = blocks / SAMPLE_BLOCKS;
    for (size_t b = 0; b < SAMPLE_BLOCKS; b++) {
        const uint8_t *block = scores + b * step * NIGH__SCORES_BLOCK;
        for (size_t i = 0; i < NIGH__SCORES_BLOCK; i += 4) {
            for (size_t j = 0; j < 4; j++) levels[j][block[i + j]]++;
        }
    }
    const size_t wanted = count * 3 / 2 * SAMPLE_BLOCKS / blocks + 6;
    size_t above = 0;
    uint32_t level = NIGH__MAX_SCORE;
    for (; level > 1; level--) {
        for (size_t j = 0; j < 4; j++) above += levels[j][level];
        if (above >= wanted) break;
    }
    return level;
}

/* The best `count` of the table, in order, where there are so many of at least `level`. */
static size_t pass(const struct nigh__slice_pick *pick, uint32_t level, size_t count, uint32_t *rows, size_t room) {
    const uint8_t *scores = pick->scratch->scores;
    const struct nigh__scores *kernel = pick->scratch->context->scores;
    const size_t end = blocks_end(pick->rows);
    size_t found = 0;
    for (size_t at = 0; at < end && level <= NIGH__MAX_SCORE;) {
        found += kernel->collect(scores, end, (uint8_t)level, &at, rows + found, room - found);
        if (found > count) level = keep_best(scores, rows, &found, count) + 1;
    }
    return found;
}

/* ------------------------------------------------------------ rows written down -- */

#define DIGIT_BITS 11u
#define DIGITS (1u << DIGIT_BITS)

/* The row that is the `count`-th of those with this score, in order; there are more.  By digits, highest first. */
static uint32_t row_at(const struct nigh__slice_pick *pick, const uint8_t *scores, uint32_t score, size_t count) {
    uint32_t counts[DIGITS];
    uint64_t prefix = 0;
    for (uint32_t shift = pick->rows >> 2 * DIGIT_BITS == 0 ? DIGIT_BITS : 2 * DIGIT_BITS;; shift -= DIGIT_BITS) {
        memset(counts, 0, sizeof counts);
        for (size_t i = 0; i < pick->touched_count; i++) {
            const uint32_t row = pick->touched[i];
            const bool counts_here = scores[i] == score && (uint64_t)row >> shift >> DIGIT_BITS == prefix;
            counts[row >> shift & (DIGITS - 1)] += counts_here;
        }
        uint32_t digit = 0;
        for (; digit + 1 < DIGITS && counts[digit] < count; digit++) count -= counts[digit];
        prefix = prefix << DIGIT_BITS | digit;
        if (shift == 0) return (uint32_t)prefix;
    }
}

/*
 * The best `count` of them, in no order; *next as of nigh__slice_picked.  Their scores lie all over a table that may be
 * far larger than any cache, so they are fetched once, into `scores`, which has room for them.
 */
static size_t pick_touched(const struct nigh__slice_pick *pick, size_t count, uint8_t *scores, uint32_t *rows,
                           uint32_t *next) {
    uint32_t levels[LEVELS] = {0};
    for (size_t i = 0; i < pick->touched_count; i++) {
        scores[i] = pick->scratch->scores[pick->touched[i]];
        levels[scores[i]]++;
    }
    uint32_t level = 0;
    uint32_t last = UINT32_MAX; /* row of that level */
    *next = 0;
    if (pick->touched_count > count) {
        size_t room;
        level = *next = level_of(levels, count, &room);
        if (levels[level] > room)
            last = room == 0 ? 0 : row_at(pick, scores, level, room);
        else
            for ((*next)--; *next > 0 && levels[*next] == 0;) (*next)--;
    }
    size_t found = 0;
    for (size_t i = 0; i < pick->touched_count && found < count; i++) {
        const uint32_t row = pick->touched[i];
        rows[found] = row;
        found += scores[i] > level || (scores[i] == level && row <= last);
    }
    return found;
}

/* ------------------------------------------------------------------------- best -- */

/* The best `count` of the whole table, in order. */
static size_t pick_table(const struct nigh__slice_pick *pick, size_t count, uint32_t *rows, size_t room,
                         uint32_t *next) {
    const uint8_t *scores = pick->scratch->scores;
    const uint32_t level = guess(scores, blocks_end(pick->rows), count + 1);
    size_t found = pass(pick, level, count + 1, rows, room);
    if (found <= count && level > 1) found = pass(pick, 1, count + 1, rows, room);
    *next = 0;
    if (found <= count) return found;
    /* One too many: of the least score, the last. */
    for (size_t i = 0, least = LEVELS; i < found; i++) {
        if (scores[rows[i]] > least) continue;
        least = *next = scores[rows[i]];
    }
    size_t last = found - 1;
    while (scores[rows[last]] != *next) last--;
    memmove(rows + last, rows + last + 1, (found - 1 - last) * sizeof *rows);
    return count;
}

/* Puts rows in the order of their scores, highest first; of equal scores they stay as they are. */
static void order(const uint8_t *scores, const uint32_t *rows, size_t count, uint32_t *ordered, size_t *ends) {
    uint32_t levels[LEVELS];
    count_levels(scores, rows, count, levels);
    size_t at[LEVELS];
    ends[LEVELS] = 0;
    for (uint32_t level = LEVELS; level-- > 0;) {
        at[level] = ends[level + 1];
        ends[level] = ends[level + 1] + levels[level];
    }
    for (size_t i = 0; i < count; i++) ordered[at[scores[rows[i]]]++] = rows[i];
}

nigh_status nigh__slice_pick_best(const struct nigh__slice_pick *pick, uint32_t count, struct nigh__slice_picked *out,
                                  nigh_error *error) {
    struct nigh__slice_scratch *scratch = pick->scratch;
    out->next = 0;
    size_t wanted = count < pick->rows ? count : pick->rows;
    if (pick->touched != NULL && pick->touched_count < wanted) wanted = pick->touched_count;
    const size_t room = pick->touched != NULL ? wanted + 1 : wanted + wanted / 2 + SPARE;
    uint32_t *rows = nigh__slice_room(scratch->context, &scratch->picked, room, sizeof *rows, error);
    uint32_t *ordered = nigh__slice_room(scratch->context, &scratch->ordered, wanted + 1, sizeof *rows, error);
    if (rows == NULL || ordered == NULL) return NIGH_ENOMEM;
    size_t found = 0;
    if (pick->touched != NULL) {
        uint8_t *scores =
            nigh__slice_room(scratch->context, &scratch->touched_scores, pick->touched_count + 1, 1, error);
        if (scores == NULL) return NIGH_ENOMEM;
        found = pick_touched(pick, wanted, scores, rows, &out->next);
    } else {
        found = pick_table(pick, wanted, rows, room, &out->next);
    }
    order(scratch->scores, rows, found, ordered, out->ends);
    out->rows = ordered;
    return NIGH_OK;
}

/* ------------------------------------------------------------------- all, clear -- */

nigh_status nigh__slice_pick_from(const struct nigh__slice_pick *pick, uint32_t score, size_t *at,
                                  const uint32_t **rows, size_t *count, bool *more, nigh_error *error) {
    struct nigh__slice_scratch *scratch = pick->scratch;
    const uint8_t *scores = scratch->scores;
    uint32_t *found = nigh__slice_room(scratch->context, &scratch->picked, FROM_AT_ONCE, sizeof *found, error);
    if (found == NULL) return NIGH_ENOMEM;
    *rows = found;
    *count = 0;
    if (pick->touched == NULL) {
        const size_t end = blocks_end(pick->rows);
        *count = scratch->context->scores->collect(scores, end, (uint8_t)score, at, found, FROM_AT_ONCE);
        *more = *at < end;
        return NIGH_OK;
    }
    for (; *at < pick->touched_count && *count < FROM_AT_ONCE; (*at)++) {
        if (scores[pick->touched[*at]] >= score) found[(*count)++] = pick->touched[*at];
    }
    *more = *at < pick->touched_count;
    return NIGH_OK;
}

void nigh__slice_pick_clear(const struct nigh__slice_pick *pick) {
    uint8_t *scores = pick->scratch->scores;
    if (pick->touched == NULL)
        memset(scores, 0, blocks_end(pick->rows));
    else
        for (size_t i = 0; i < pick->touched_count; i++) scores[pick->touched[i]] = 0;
    pick->scratch->dirty = false;
}
