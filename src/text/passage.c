/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding passages.  The text is walked through in the smallest pieces that can
 * be normalised alone, while words are counted; between two words lies a gap:
 *
 *     ... the end."  (Then ...
 *                ^ ^ ^
 *                | | the next word; a sentence has ended, unless it is a small letter after a full stop
 *                | here a cut goes: after the first spaces, so that the bracket stays with its word
 *                the word before
 *
 * A walk goes on until there are more words than a passage may have, and the next
 * begins at the cut that was chosen.  What is read twice holds no end of a
 * sentence that could be chosen, so a text is read twice at most.
 */
#include "text/passage.h"

#include <stdbool.h>
#include <string.h>

#include <utf8proc.h>

#include "base/status.h"
#include "text/cutter.h"

/* How a sentence may end. */
enum ending {
    NO_END,
    MAYBE_END, /* a full stop, which abbreviations have too */
    SURE_END
};

struct gap {
    enum { BEFORE_SPACE, IN_SPACE, AFTER_SPACE } place;
    size_t cut;          /* where a passage would be cut */
    enum ending pending; /* a sign that ends a sentence if spaces follow */
    enum ending ended;
    unsigned newlines;
};

struct walk {
    const char *text;
    size_t length;
    struct nigh__normaliser normaliser;
    struct nigh__cutter cutter;
    size_t begin; /* of the passage */
    size_t words; /* in it so far, those given out */
    struct gap gap;
    size_t cut;          /* the last one that leaves no more than max_terms words; 0: none */
    size_t sentence_cut; /* the same, where a sentence ended; 0: none */
};

static nigh_status word_count(void *user, const struct nigh__word *word, nigh_error *error) {
    struct walk *walk = user;
    (void)word;
    (void)error;
    walk->words++;
    return NIGH_OK;
}

/* ------------------------------------------------------------------- gaps -- */

static bool is_space(int32_t code) {
    if (code < 0x80) return code == ' ' || (code >= '\t' && code <= '\r');
    utf8proc_category_t category = utf8proc_category(code);
    return category == UTF8PROC_CATEGORY_ZS || category == UTF8PROC_CATEGORY_ZL || category == UTF8PROC_CATEGORY_ZP;
}

/* Quotes and brackets may stand between the end of a sentence and the space. */
static bool is_closing(int32_t code) {
    if (code == '"' || code == '\'') return true;
    utf8proc_category_t category = utf8proc_category(code);
    return category == UTF8PROC_CATEGORY_PE || category == UTF8PROC_CATEGORY_PF || category == UTF8PROC_CATEGORY_PI;
}

/* Signs that end a sentence where spaces follow. */
static enum ending ending_of(int32_t code) {
    switch (code) {
    case '.':
        return MAYBE_END;
    case '!':
    case '?':
    case 0x0589: /* Armenian full stop */
    case 0x061f: /* Arabic question mark */
    case 0x06d4: /* Urdu full stop */
    case 0x0964: /* Devanagari danda */
    case 0x0965:
    case 0x2026: /* ellipsis */
    case 0x203c:
    case 0x2047:
    case 0x2048:
    case 0x2049:
        return SURE_END;
    default:
        return NO_END;
    }
}

/* Those of scripts without spaces end it at once. */
static bool is_wide_ending(int32_t code) {
    return code == 0x3002 || code == 0xff01 || code == 0xff0e || code == 0xff1f || code == 0xff61 || code == 0x2029;
}

/* Takes one more separating character, which ends at `end`. */
static void gap_add(struct gap *gap, int32_t code, size_t end) {
    if (is_wide_ending(code)) gap->ended = SURE_END;
    if (code == '\n' && ++gap->newlines == 2) gap->ended = SURE_END;
    const bool space = is_space(code);
    if (space && gap->pending > gap->ended) gap->ended = gap->pending;
    if (gap->place == IN_SPACE && !space) gap->place = AFTER_SPACE;
    if (gap->place == BEFORE_SPACE) {
        if (ending_of(code) != NO_END)
            gap->pending = ending_of(code);
        else if (!is_closing(code))
            gap->pending = NO_END;
        if (space) gap->place = IN_SPACE;
    }
    if (gap->place != AFTER_SPACE) gap->cut = end;
}

static bool sentence_ended(const struct gap *gap, int32_t next) {
    if (gap->ended != MAYBE_END) return gap->ended == SURE_END;
    return utf8proc_category(next) != UTF8PROC_CATEGORY_LL;
}

/* ------------------------------------------------------------------- walks -- */

/* Whether characters belong to no word; marks alone do not make one. */
static bool is_gap(const struct walk *walk, const int32_t *codes, size_t count) {
    bool open = walk->cutter.bytes.count > 0;
    for (size_t i = 0; i < count; i++) {
        enum nigh__letter_kind kind = nigh__letter_kind(codes[i]);
        if (kind == NIGH__SEPARATOR)
            open = false;
        else if (kind != NIGH__MARK || open)
            return false;
    }
    return true;
}

static nigh_status codes_count(struct walk *walk, const int32_t *codes, size_t count, nigh_error *error) {
    size_t end = walk->begin + walk->normaliser.end;
    if (is_gap(walk, codes, count)) {
        size_t bytes;
        const size_t begin = walk->begin + walk->normaliser.begin;
        if (count > 0) gap_add(&walk->gap, nigh__utf8_read(walk->text + begin, end - begin, &bytes), end);
    } else {
        walk->gap = (struct gap){.cut = end};
    }
    return nigh__cutter_add(&walk->cutter, codes, count, error);
}

/* Whether a character makes a pair of what is a lone one so far: still one word. */
static bool is_paired(const struct nigh__cutter *cutter, int32_t code) {
    return cutter->is_dense && cutter->last == 0 && nigh__letter_kind(code) == NIGH__DENSE;
}

/* Before a piece with words: whether the passage is to end by now, at one of the cuts noted. */
static bool cut_consider(struct walk *walk, const int32_t *codes, size_t count, size_t min_terms, size_t max_terms) {
    if (count == 0 || is_gap(walk, codes, count)) return false;
    if (nigh__letter_kind(codes[0]) != NIGH__SEPARATOR && !nigh__cutter_begins(&walk->cutter, codes[0])) return false;
    const size_t words = walk->words + nigh__cutter_pending(&walk->cutter);
    if (words == 0) return false;
    if (words <= max_terms || walk->cut == 0) {
        size_t bytes;
        const size_t begin = walk->begin + walk->normaliser.begin;
        int32_t next = nigh__utf8_read(walk->text + begin, walk->length - begin, &bytes);
        walk->cut = walk->gap.cut;
        if (words >= min_terms && words <= max_terms && sentence_ended(&walk->gap, next))
            walk->sentence_cut = walk->gap.cut;
    }
    return is_paired(&walk->cutter, codes[0]) ? words > max_terms : words >= max_terms;
}

static nigh_status walk_on(struct walk *walk, size_t min_terms, size_t max_terms, nigh_error *error) {
    walk->words = 0;
    walk->cut = walk->sentence_cut = 0;
    walk->gap = (struct gap){.cut = walk->begin};
    nigh__cutter_reset(&walk->cutter);
    nigh__normaliser_start(&walk->normaliser, walk->text + walk->begin, walk->length - walk->begin);
    for (;;) {
        const int32_t *codes;
        size_t count;
        nigh_status status = nigh__normaliser_next(&walk->normaliser, 1, &codes, &count, error);
        if (status == NIGH_OK && cut_consider(walk, codes, count, min_terms, max_terms)) return NIGH_OK;
        if (status == NIGH_OK) status = codes_count(walk, codes, count, error);
        if (status != NIGH_OK) return status;
    }
}

/* Where the passage ends that the walk has seen all of; the end of the text where it is no longer than it may be. */
static size_t passage_end(struct walk *walk, nigh_status status, nigh_split_kind split, size_t max_terms) {
    if (status == NIGH_END) {
        walk->words += nigh__cutter_pending(&walk->cutter);
        if (walk->words <= max_terms || walk->cut == 0) return walk->length;
    }
    return split == NIGH_SPLIT_SENTENCE && walk->sentence_cut != 0 ? walk->sentence_cut : walk->cut;
}

static nigh_status passage_add(const struct walk *walk, size_t end, bool joins, struct nigh__array *passages,
                               nigh_error *error) {
    struct nigh__passage *added;
    if (joins) {
        added = (struct nigh__passage *)passages->data + passages->count - 1;
        added->length = end - added->begin;
        return NIGH_OK;
    }
    added = nigh__array_add(walk->normaliser.context, passages, 1);
    if (added == NULL) return nigh__no_memory(error, "for the passages of a text");
    *added = (struct nigh__passage){.begin = walk->begin, .length = end - walk->begin};
    return NIGH_OK;
}

static nigh_status passages_add(struct walk *walk, nigh_split_kind split, size_t min_terms, size_t max_terms,
                                struct nigh__array *passages, nigh_error *error) {
    nigh_status status;
    do {
        status = walk_on(walk, min_terms, max_terms, error);
        if (status != NIGH_OK && status != NIGH_END) return status;
        size_t end = passage_end(walk, status, split, max_terms);
        bool joins = end == walk->length && walk->begin > 0 && walk->words < min_terms;
        status = passage_add(walk, end, joins, passages, error);
        walk->begin = end;
    } while (status == NIGH_OK && walk->begin < walk->length);
    return status;
}

nigh_status nigh__passages_find(const nigh_context *context, const char *text, size_t length, nigh_split_kind split,
                                size_t min_terms, size_t max_terms, struct nigh__array *passages, nigh_error *error) {
    struct walk walk = {.text = text, .length = length};
    nigh__normaliser_init(context, &walk.normaliser);
    nigh__cutter_init(context, word_count, &walk, &walk.cutter);
    if (max_terms == 0) max_terms = 1;
    if (min_terms > max_terms) min_terms = max_terms;
    if (min_terms == 0) min_terms = 1;
    nigh_status status = split == NIGH_SPLIT_NONE ? passage_add(&walk, length, false, passages, error)
                                                  : passages_add(&walk, split, min_terms, max_terms, passages, error);
    nigh__cutter_release(&walk.cutter);
    nigh__normaliser_release(&walk.normaliser);
    return status;
}
