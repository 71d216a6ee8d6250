/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shortest way from one row of words to another, after Myers (1986).
 *
 *           left words ->            A step right drops a word of the left text, a step
 *         +--+--+--+--+--+           down takes one of the right; diagonals are words that
 *     r   |\ |  |  |  |  |           both have, and free.  After d steps, the farthest point
 *     i   +--+--+--+--+--+           on each diagonal x - y = k is all that matters.  Such
 *     g   |  |\ |  |  |  |           fronts grow from both corners; where they meet, a
 *     h   +--+--+--+--+--+           shortest way passes, and the box falls into two that
 *     t   |  |  |  |\ |  |           are solved by themselves.
 *         +--+--+--+--+--+
 *
 * Two fronts and a flag for each word are all the memory.  The time of the whole
 * search grows with the square of the number of steps, so that texts that have
 * nothing in common would cost the most and show the least.  Hence after LIMIT
 * steps the farthest point of the first front is taken as it is: a way, if maybe
 * not the shortest.  Each such box costs LIMIT^2 and brings us LIMIT words ahead,
 * (words) * LIMIT in all.
 *
 * A word that two texts share by accident in the midst of a stretch that is
 * different ("the") tears it into pieces that nobody can read; it is counted as
 * different afterwards.  And of the places where a stretch that only one text has can
 * stand, as in
 *
 *     a b [. New words] .        a b . [New words .]
 *
 * the one is taken that begins and ends with lines and sentences.
 */
#include "dedup/report_diff.h"

#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/secret.h"
#include "base/status.h"
#include "document/utf8.h"
#include "text/unicode.h"

#define LIMIT 512
#define MAX_BYTES (UINT32_C(1) << 30)
#define MAX_STRAY 4u /* a longer stretch that is the same is no accident */
#define MAX_SLIDE 64
#define STRAY_SHARE 3u /* on both sides of it is so many times as much that differs */

/* ----------------------------------------------------------------- words -- */

/* Where the word that begins at `at` ends. */
static size_t word_end(const char *text, size_t length, size_t at, bool *letters) {
    size_t bytes = 0;
    enum nigh__letter_kind kind = nigh__letter_kind(nigh__utf8_read(text + at, length - at, &bytes));
    const bool dense = kind == NIGH__DENSE;
    *letters = kind != NIGH__SEPARATOR;
    at += bytes;
    while (at < length) {
        kind = nigh__letter_kind(nigh__utf8_read(text + at, length - at, &bytes));
        const bool goes_on = dense || !*letters ? kind == NIGH__MARK : kind != NIGH__SEPARATOR && kind != NIGH__DENSE;
        if (!goes_on) break;
        at += bytes;
    }
    return at;
}

static bool cut_words(const nigh_context *context, const char *text, size_t length, struct nigh__array *words) {
    size_t at = 0;
    while (at < length) {
        if (nigh__is_space(text[at])) {
            at++;
            continue;
        }
        struct nigh__diff_word *word = nigh__array_add(context, words, 1);
        if (word == NULL) return false;
        word->begin = (uint32_t)at;
        word->number = 0;
        at = word_end(text, length, at, &word->letters);
        word->end = (uint32_t)at;
    }
    return true;
}

/* Words by their text; a slot holds the number of a word, from 1, with the first place it was seen at. */
struct numbering {
    struct slot {
        const char *text;
        uint32_t length;
        uint32_t number;
    } * slots;
    size_t mask;
    uint64_t secret;
    uint32_t used;
};

static uint32_t number_of(struct numbering *numbering, const char *text, uint32_t length) {
    size_t at = (size_t)nigh__hash_seeded(text, length, numbering->secret) & numbering->mask;
    for (;; at = (at + 1) & numbering->mask) {
        struct slot *slot = &numbering->slots[at];
        if (slot->number == 0) *slot = (struct slot){text, length, ++numbering->used};
        if (slot->length == length && memcmp(slot->text, text, length) == 0) return slot->number;
    }
}

static void number_side(struct numbering *numbering, const char *text, const struct nigh__array *words) {
    struct nigh__diff_word *word = words->data;
    for (size_t i = 0; i < words->count; i++)
        word[i].number = number_of(numbering, text + word[i].begin, word[i].end - word[i].begin);
}

static bool number_words(const nigh_context *context, const char *left, const char *right, struct nigh__diff *diff) {
    const size_t words = diff->left.count + diff->right.count;
    size_t size = 16;
    while (size < words * 2) size *= 2;
    struct numbering numbering = {
        .slots = nigh__alloc_zero(context, size, sizeof(struct slot)), .mask = size - 1, .secret = nigh__secret()};
    if (numbering.slots == NULL) return false;
    number_side(&numbering, left, &diff->left);
    number_side(&numbering, right, &diff->right);
    nigh__free(context, numbering.slots);
    return true;
}

/* ------------------------------------------------------------------ ways -- */

struct box { /* left words [left, left_end), right words [right, right_end) */
    int32_t left, left_end, right, right_end;
};

struct front { /* the farthest `left` on each diagonal from `low` to `high`, every second one */
    int32_t *reach;
    int32_t low, high;
};

struct search {
    const char *left_text, *right_text;
    const struct nigh__diff_word *left, *right;
    int32_t left_count, right_count;
    bool *left_only, *right_only; /* a flag for each word */
    struct front forward, backward;
    struct nigh__array boxes; /* of struct box: still to be solved */
};

static bool same_word(const struct search *search, int32_t x, int32_t y) {
    return search->left[x].number == search->right[y].number;
}

/* Grows a front by one diagonal on both sides, or lets it shrink where it leaves the box; `outside` loses to any. */
static void front_widen(struct front *front, int32_t least, int32_t most, int32_t outside) {
    if (front->low > least) {
        front->low--;
        front->reach[front->low - 1] = outside;
    } else {
        front->low++;
    }
    if (front->high < most) {
        front->high++;
        front->reach[front->high + 1] = outside;
    } else {
        front->high--;
    }
}

static bool front_has(const struct front *front, int32_t diagonal) {
    return diagonal >= front->low && diagonal <= front->high;
}

/* One more step from the first corner.  True where the fronts meet, at *x on *diagonal. */
static bool step_forward(struct search *search, const struct box *box, bool odd, int32_t *diagonal, int32_t *meet) {
    struct front *front = &search->forward;
    front_widen(front, box->left - box->right_end, box->left_end - box->right, -1);
    for (int32_t d = front->high; d >= front->low; d -= 2) {
        const int32_t below = front->reach[d - 1];
        const int32_t above = front->reach[d + 1];
        int32_t x = below < above ? above : below + 1;
        while (x < box->left_end && x - d < box->right_end && same_word(search, x, x - d)) x++;
        front->reach[d] = x;
        if (odd && front_has(&search->backward, d) && search->backward.reach[d] <= x) {
            *diagonal = d;
            *meet = x;
            return true;
        }
    }
    return false;
}

/* The same from the last corner. */
static bool step_backward(struct search *search, const struct box *box, bool odd, int32_t *diagonal, int32_t *meet) {
    struct front *front = &search->backward;
    front_widen(front, box->left - box->right_end, box->left_end - box->right, INT32_MAX);
    for (int32_t d = front->high; d >= front->low; d -= 2) {
        const int32_t below = front->reach[d - 1];
        const int32_t above = front->reach[d + 1];
        int32_t x = below < above ? below : above - 1;
        while (x > box->left && x - d > box->right && same_word(search, x - 1, x - d - 1)) x--;
        front->reach[d] = x;
        if (!odd && front_has(&search->forward, d) && search->forward.reach[d] >= x) {
            *diagonal = d;
            *meet = x;
            return true;
        }
    }
    return false;
}

/* The point of the forward front that has the most words behind it. */
static void farthest(const struct search *search, const struct box *box, int32_t *diagonal, int32_t *meet) {
    int64_t best = -1;
    for (int32_t d = search->forward.high; d >= search->forward.low; d -= 2) {
        int32_t x = search->forward.reach[d];
        if (x > box->left_end) x = box->left_end;
        if (x - d > box->right_end) x = box->right_end + d;
        if ((int64_t)x * 2 - d <= best) continue;
        best = (int64_t)x * 2 - d;
        *diagonal = d;
        *meet = x;
    }
}

static int32_t between(int32_t value, int32_t least, int32_t most) {
    return value < least ? least : value > most ? most : value;
}

/* A point of a way through the box: left *x, right *y. */
static void find_middle(struct search *search, const struct box *box, int32_t *x, int32_t *y) {
    const int32_t first = box->left - box->right;
    const int32_t last = box->left_end - box->right_end;
    const bool odd = ((first - last) & 1) != 0;
    int32_t diagonal = first;
    *x = box->left;
    search->forward.low = search->forward.high = first;
    search->backward.low = search->backward.high = last;
    search->forward.reach[first] = box->left;
    search->backward.reach[last] = box->left_end;
    for (int step = 1;; step++) {
        if (step_forward(search, box, odd, &diagonal, x)) break;
        if (step_backward(search, box, odd, &diagonal, x)) break;
        if (step < LIMIT) continue;
        farthest(search, box, &diagonal, x);
        break;
    }
    /* A front may lie one step outside, where no way leads on. */
    *x = between(*x, box->left, box->left_end);
    *y = between(*x - diagonal, box->right, box->right_end);
}

/* Passes over what is the same at both ends. */
static void trim(const struct search *search, struct box *box) {
    while (box->left < box->left_end && box->right < box->right_end && same_word(search, box->left, box->right)) {
        box->left++;
        box->right++;
    }
    while (box->left < box->left_end && box->right < box->right_end &&
           same_word(search, box->left_end - 1, box->right_end - 1)) {
        box->left_end--;
        box->right_end--;
    }
}

static void mark_all(struct search *search, const struct box *box) {
    for (int32_t i = box->left; i < box->left_end; i++) search->left_only[i] = true;
    for (int32_t i = box->right; i < box->right_end; i++) search->right_only[i] = true;
}

static bool solve(const nigh_context *context, struct search *search) {
    struct box *next = nigh__array_add(context, &search->boxes, 1);
    if (next == NULL) return false;
    *next = (struct box){0, search->left_count, 0, search->right_count};
    while (search->boxes.count > 0) {
        struct box box = ((struct box *)search->boxes.data)[--search->boxes.count];
        trim(search, &box);
        if (box.left == box.left_end || box.right == box.right_end) {
            mark_all(search, &box);
            continue;
        }
        int32_t x = 0;
        int32_t y = 0;
        find_middle(search, &box, &x, &y);
        if ((x == box.left && y == box.right) || (x == box.left_end && y == box.right_end)) {
            mark_all(search, &box); /* does not happen; but a box must become smaller */
            continue;
        }
        next = nigh__array_add(context, &search->boxes, 2);
        if (next == NULL) return false;
        next[0] = (struct box){x, box.left_end, y, box.right_end};
        next[1] = (struct box){box.left, x, box.right, y};
    }
    return true;
}

/* ------------------------------------------------------------------ runs -- */

/* How many flags in a row are set from `at` on. */
static uint32_t marked(const bool *flags, int32_t count, int32_t at) {
    int32_t end = at;
    while (end < count && flags[end]) end++;
    return (uint32_t)(end - at);
}

static uint32_t shared(const struct search *search, int32_t x, int32_t y) {
    int32_t n = 0;
    while (x + n < search->left_count && y + n < search->right_count && !search->left_only[x + n] &&
           !search->right_only[y + n])
        n++;
    return (uint32_t)n;
}

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* Marks stretches that are the same by accident. */
static void drop_strays(struct search *search) {
    uint32_t before = 0; /* the difference that has just gone by */
    int32_t x = 0;
    int32_t y = 0;
    while (x < search->left_count || y < search->right_count) {
        const uint32_t left = marked(search->left_only, search->left_count, x);
        const uint32_t right = marked(search->right_only, search->right_count, y);
        before += larger(left, right);
        x += (int32_t)left;
        y += (int32_t)right;
        const uint32_t same = shared(search, x, y);
        const int32_t x_after = x + (int32_t)same;
        const int32_t y_after = y + (int32_t)same;
        const uint32_t after = larger(marked(search->left_only, search->left_count, x_after),
                                      marked(search->right_only, search->right_count, y_after));
        const bool stray =
            same <= MAX_STRAY && before >= same * STRAY_SHARE && after >= same * STRAY_SHARE && after > 0;
        if (stray) mark_all(search, &(struct box){x, x_after, y, y_after});
        before = stray ? before + same : 0;
        x = x_after;
        y = y_after;
    }
}

/* How far it may be worth to look. */
static int32_t nearest_few(int32_t words) { return between(words, 0, MAX_SLIDE); }

/* How good a place it is to begin or end before a word. */
static int edge_worth(const char *text, const struct nigh__diff_word *words, int32_t count, int32_t at) {
    if (at == 0 || at == count) return 5;
    const char before = text[words[at - 1].end - 1];
    int lines = 0;
    for (uint32_t i = words[at - 1].end; i < words[at].begin; i++) lines += text[i] == '\n' ? 1 : 0;
    if (lines > 1) return 5;
    if (before == '.' || before == '!' || before == '?') return 4;
    if (lines == 1) return 3;
    if (before == ',' || before == ';' || before == ':') return 2;
    return words[at].begin > words[at - 1].end ? 1 : 0;
}

struct stretch { /* words [begin, end) of one side that the other has not */
    const char *text;
    const struct nigh__diff_word *words;
    bool *flags;
    int32_t count, begin, end;
};

static int stretch_worth(const struct stretch *stretch, int32_t shift) {
    return edge_worth(stretch->text, stretch->words, stretch->count, stretch->begin + shift) +
           edge_worth(stretch->text, stretch->words, stretch->count, stretch->end + shift);
}

/* Moves a stretch to the best place within the words that are the same before and after it; returns how far. */
static int32_t slide(const struct stretch *stretch, int32_t before, int32_t after) {
    const struct nigh__diff_word *words = stretch->words;
    int32_t low = 0;
    int32_t high = 0;
    while (-low < before && words[stretch->begin + low - 1].number == words[stretch->end + low - 1].number) low--;
    while (high < after && words[stretch->begin + high].number == words[stretch->end + high].number) high++;
    int32_t best = 0;
    for (int32_t shift = low; shift <= high; shift++)
        if (stretch_worth(stretch, shift) > stretch_worth(stretch, best)) best = shift;
    for (int32_t i = stretch->begin; i < stretch->end; i++) stretch->flags[i] = false;
    for (int32_t i = stretch->begin; i < stretch->end; i++) stretch->flags[i + best] = true;
    return best;
}

/* Slides those that stand alone; one never reaches the next, so that runs stay apart. */
static void slide_all(struct search *search) {
    int32_t before = 0; /* words that are the same and have just gone by */
    int32_t x = 0;
    int32_t y = 0;
    while (x < search->left_count || y < search->right_count) {
        const int32_t left = (int32_t)marked(search->left_only, search->left_count, x);
        const int32_t right = (int32_t)marked(search->right_only, search->right_count, y);
        const int32_t same = (int32_t)shared(search, x + left, y + right);
        const bool ends = x + left + same == search->left_count && y + right + same == search->right_count;
        const int32_t room = nearest_few(ends ? same : same - 1);
        int32_t shift = 0;
        if (left > 0 && right == 0)
            shift = slide(
                &(struct stretch){search->left_text, search->left, search->left_only, search->left_count, x, x + left},
                before, room);
        if (right > 0 && left == 0)
            shift = slide(&(struct stretch){search->right_text, search->right, search->right_only, search->right_count,
                                            y, y + right},
                          before, room);
        before = nearest_few(same - shift - 1);
        x += left + same;
        y += right + same;
    }
}

static bool add_run(const nigh_context *context, struct nigh__array *runs, enum nigh__diff_kind kind, int32_t x,
                    int32_t y, uint32_t count) {
    if (count == 0) return true;
    struct nigh__diff_run *run = nigh__array_add(context, runs, 1);
    if (run == NULL) return false;
    *run = (struct nigh__diff_run){kind, (uint32_t)x, (uint32_t)y, count};
    return true;
}

static bool list_runs(const nigh_context *context, const struct search *search, struct nigh__array *runs) {
    int32_t x = 0;
    int32_t y = 0;
    while (x < search->left_count || y < search->right_count) {
        const uint32_t left = marked(search->left_only, search->left_count, x);
        if (!add_run(context, runs, NIGH__DIFF_LEFT, x, y, left)) return false;
        x += (int32_t)left;
        const uint32_t right = marked(search->right_only, search->right_count, y);
        if (!add_run(context, runs, NIGH__DIFF_RIGHT, x, y, right)) return false;
        y += (int32_t)right;
        const uint32_t same = shared(search, x, y);
        if (!add_run(context, runs, NIGH__DIFF_SAME, x, y, same)) return false;
        x += (int32_t)same;
        y += (int32_t)same;
    }
    return true;
}

/* `fronts` has room for two rows of one for each diagonal and a few more. */
static bool compare(const nigh_context *context, const char *left, const char *right, struct nigh__diff *diff,
                    bool *flags, int32_t *fronts) {
    const size_t room = diff->left.count + diff->right.count + 3;
    struct search search = {.left_text = left,
                            .right_text = right,
                            .left = diff->left.data,
                            .right = diff->right.data,
                            .left_count = (int32_t)diff->left.count,
                            .right_count = (int32_t)diff->right.count,
                            .left_only = flags,
                            .right_only = flags + diff->left.count,
                            .boxes = NIGH__ARRAY(struct box)};
    search.forward.reach = fronts + diff->right.count + 1; /* diagonals begin at -(right words) - 1 */
    search.backward.reach = search.forward.reach + room;
    bool done = solve(context, &search);
    if (done) {
        drop_strays(&search);
        slide_all(&search);
        done = list_runs(context, &search, &diff->runs);
    }
    nigh__array_release(context, &search.boxes);
    return done;
}

nigh_status nigh__diff_make(const nigh_context *context, const char *left, size_t left_length, const char *right,
                            size_t right_length, struct nigh__diff *out, nigh_error *error) {
    *out = (struct nigh__diff){.left = NIGH__ARRAY(struct nigh__diff_word),
                               .right = NIGH__ARRAY(struct nigh__diff_word),
                               .runs = NIGH__ARRAY(struct nigh__diff_run)};
    if (left_length >= MAX_BYTES || right_length >= MAX_BYTES)
        return nigh__fail(error, NIGH_ELIMIT, "a text is too long to be compared word by word");
    bool done = cut_words(context, left, left_length, &out->left) &&
                cut_words(context, right, right_length, &out->right) && number_words(context, left, right, out);
    if (done) {
        const size_t words = out->left.count + out->right.count;
        bool *flags = nigh__alloc_zero(context, words + 1, sizeof *flags);
        int32_t *fronts = nigh__alloc(context, (words + 3) * 2, sizeof *fronts);
        done = flags != NULL && fronts != NULL && compare(context, left, right, out, flags, fronts);
        nigh__free(context, flags);
        nigh__free(context, fronts);
    }
    if (done) return NIGH_OK;
    return nigh__no_memory(error, "to compare two texts");
}

void nigh__diff_release(const nigh_context *context, struct nigh__diff *diff) {
    nigh__array_release(context, &diff->left);
    nigh__array_release(context, &diff->right);
    nigh__array_release(context, &diff->runs);
}
