/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From text to terms, fast. Normalising and stemming a word takes a hundred times longer than
 * recognising it, and texts repeat their words. So words are looked up as they stand in the text,
 * and only new ones are normalised and stemmed.
 *
 *     text      The naïve caf\u00e9s, 2×       16 KB at a time
 *     kernel    the naïve cafés, 2×       lower case, and a bit for each byte: in a word or not
 *     segments  [the] [naïve] [cafés] [2×]     runs of such bytes, by their edges
 *     table     0  17  4  9               64 segments are asked for before the first is compared,
 *                                         so that memory answers many at once
 *
 * A segment is a longest run of ASCII letters, ASCII digits and bytes from 0x80
 * up.  The other bytes, ASCII punctuation and controls, separate, and normalising
 * one segment after the other is the same as normalising all of the text:
 *
 *   - Such a byte is a character by itself whatever surrounds it, also where
 *     bytes are no UTF-8.  It is taken apart into itself, is not ignored, and has
 *     combining class 0, so nothing is put in order across it.
 *   - It never joins a character before it.  After it only < = > join anything,
 *     U+0338, and give signs that separate too.  In the whole text that mark is
 *     gone, alone it begins a segment; and marks that begin one belong to no word.
 *   - Marks after it that are not joined follow a separator in the whole text and
 *     nothing in the segment: in both no word takes them.
 *   - What is inside a segment is then put in order and joined as in the text, for
 *     its first character that is no mark starts afresh in both.
 *
 * A to Z may be put into lower case before all else, for folding does no other
 * thing to them.  tests/property/test_analysis.c compares the two ways.
 */
#include <string.h>

#include "base/status.h"
#include "kernel/letters.h"
#include "text/analysis.h"
#include "text/cutter.h"
#include "text/stem.h"
#include "text/term_table.h"
#include "text/word_table.h"

#define CHUNK 16384u /* lower case, masks and edges stay in the first-level cache */
#define BLOCKS (CHUNK / NIGH__LETTER_BLOCK)
#define BATCH 64u
#define PIECE_CODES 256
#define SEPARATOR 3u /* bytes of a sign that separator_find() finds */

struct analyser {
    struct nigh__analyser known; /* what others see; first */
    const nigh_context *context;
    struct nigh__term_table terms;
    struct nigh__word_table words;
    struct nigh__stemmer stemmer;
    struct nigh__normaliser normaliser;
    struct nigh__cutter cutter;
    struct nigh__array numbers; /* of uint32_t: what is given out */
    struct nigh__letter_masks masks[BLOCKS];
    uint16_t edges[CHUNK + 2];                 /* where segments begin and end, by turns */
    uint8_t lower[CHUNK + NIGH__LETTER_BLOCK]; /* and room to read past the last word */
};

/* ------------------------------------------------------------ the long way -- */

static nigh_status word_take(void *user, const struct nigh__word *word, nigh_error *error) {
    struct analyser *analyser = user;
    const char *term;
    size_t length;
    nigh_status status = nigh__stem(&analyser->stemmer, word, &term, &length, error);
    if (status != NIGH_OK || length == 0) return status;
    uint32_t number;
    uint64_t hash = nigh__hash_seeded(term, length, analyser->stemmer.analysis.seed);
    status = nigh__term_table_find(&analyser->terms, hash, &number, error);
    if (status != NIGH_OK) return status;
    const struct nigh__analyser *known = &analyser->known;
    const bool told = known->tell == NULL || known->tell(known->user, number, hash, term, length);
    uint32_t *added = told ? nigh__array_add(analyser->context, &analyser->numbers, 1) : NULL;
    if (added == NULL) return nigh__no_memory(error, "for the terms of a text");
    *added = number;
    return NIGH_OK;
}

/* Any bytes. */
static nigh_status segment_spell(struct analyser *analyser, const char *text, size_t length, nigh_error *error) {
    nigh_status status;
    nigh__cutter_reset(&analyser->cutter);
    nigh__normaliser_start(&analyser->normaliser, text, length);
    do {
        const int32_t *codes;
        size_t count;
        status = nigh__normaliser_next(&analyser->normaliser, PIECE_CODES, &codes, &count, error);
        if (status == NIGH_OK) status = nigh__cutter_add(&analyser->cutter, codes, count, error);
    } while (status == NIGH_OK);
    return status == NIGH_END ? nigh__cutter_end(&analyser->cutter, error) : status;
}

/* A segment of lower case that is one word: nothing but ASCII, and not too long. */
static bool is_word(const uint8_t *segment, size_t length, bool *has_digits) {
    uint8_t all = 0;
    *has_digits = false;
    for (size_t i = 0; i < length; i++) {
        all |= segment[i];
        *has_digits = *has_digits || segment[i] <= '9';
    }
    return all < 0x80 && length <= NIGH__MAX_WORD_BYTES;
}

/* Room for what the short way gives out without asking. */
static nigh_status numbers_reserve(struct analyser *analyser, size_t more, nigh_error *error) {
    if (nigh__array_add(analyser->context, &analyser->numbers, more) == NULL)
        return nigh__no_memory(error, "for the terms of a text");
    analyser->numbers.count -= more;
    return NIGH_OK;
}

static nigh_status value_give(struct analyser *analyser, uint32_t value, nigh_error *error) {
    const uint32_t *list = &value;
    size_t count = value != 0;
    if (value >= NIGH__SEVERAL) {
        list = (const uint32_t *)analyser->words.lists.data + (value - NIGH__SEVERAL);
        count = *list++;
    }
    uint32_t *added = nigh__array_add(analyser->context, &analyser->numbers, count);
    if (added == NULL) return nigh__no_memory(error, "for the terms of a text");
    memcpy(added, list, count * sizeof *list);
    return NIGH_OK;
}

/*
 * Where the first of U+2010 to U+2027 begins: dashes, quotes, dots.  They separate
 * whatever they are taken apart into, join nothing, and their bytes mean no other
 * thing; so what is on either side may be looked at alone.  Most of a text's words
 * beyond ASCII are plain ones with such a sign.
 */
static size_t separator_find(const uint8_t *segment, size_t length) {
    for (size_t i = 0; i + SEPARATOR <= length; i++) {
        if (segment[i] == 0xe2 && segment[i + 1] == 0x80 && segment[i + 2] >= 0x90 && segment[i + 2] <= 0xa7) return i;
    }
    return length;
}

static nigh_status segment_give(struct analyser *analyser, const struct nigh__word_key *key, const uint8_t *segment,
                                size_t length, nigh_error *error);

static nigh_status segment_split(struct analyser *analyser, const uint8_t *segment, size_t length, size_t first,
                                 nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t at = 0, part = first; status == NIGH_OK;) {
        if (part > 0) {
            const struct nigh__word_key key = nigh__word_key(&analyser->words, segment + at, part);
            status = segment_give(analyser, &key, segment + at, part, error);
        }
        at += part + SEPARATOR;
        if (at >= length) break;
        part = separator_find(segment + at, length - at);
    }
    return status;
}

/* A segment that is not known yet: gives out its terms and remembers them. */
static nigh_status segment_learn(struct analyser *analyser, const struct nigh__word_key *key, const uint8_t *segment,
                                 size_t length, nigh_error *error) {
    const size_t before = analyser->numbers.count;
    struct nigh__word word = {.bytes = (const char *)segment, .length = length};
    nigh_status status;
    if (is_word(segment, length, &word.has_digits)) {
        status = word_take(analyser, &word, error);
    } else {
        const size_t separator = separator_find(segment, length);
        status = separator < length ? segment_split(analyser, segment, length, separator, error)
                                    : segment_spell(analyser, (const char *)segment, length, error);
    }
    if (status != NIGH_OK) return status;
    const uint32_t *numbers = (const uint32_t *)analyser->numbers.data + before;
    return nigh__word_table_add(&analyser->words, key, segment, length, numbers, analyser->numbers.count - before,
                                error);
}

/* Any segment, known or not. */
static nigh_status segment_give(struct analyser *analyser, const struct nigh__word_key *key, const uint8_t *segment,
                                size_t length, nigh_error *error) {
    uint32_t value;
    const size_t slot = nigh__word_slot(&analyser->words, *key);
    return nigh__word_table_find(&analyser->words, *key, slot, segment, length, &value)
               ? value_give(analyser, value, error)
               : segment_learn(analyser, key, segment, length, error);
}

/* ----------------------------------------------------------- the short way -- */

struct batch {
    struct nigh__word_key keys[BATCH];
    uint32_t slots[BATCH];
    unsigned shift; /* of the table that the slots are of */
};

static size_t edges_length(const uint16_t *edges) { return (size_t)(edges[1] - edges[0]); }

/* Asks for the entries of all segments before the first is needed.  The copy is one that no store can change. */
static void batch_ask(const struct analyser *analyser, const uint16_t *edges, size_t count, struct batch *batch) {
    const struct nigh__word_table words = analyser->words;
    batch->shift = words.shift;
    for (size_t i = 0; i < count; i++, edges += 2) {
        const struct nigh__word_key key = nigh__word_key(&words, analyser->lower + edges[0], edges_length(edges));
        const size_t slot = nigh__word_slot(&words, key);
        __builtin_prefetch(words.entries + slot);
        batch->keys[i] = key;
        batch->slots[i] = (uint32_t)slot;
    }
}

/* Gives out the terms of segments as long as each is known and has one term or none; returns how many that were. */
static size_t batch_take(struct analyser *analyser, const uint16_t *edges, const struct batch *batch, size_t first,
                         size_t count) {
    const struct nigh__word_table words = analyser->words;
    const bool grown = words.shift != batch->shift;
    uint32_t *number = (uint32_t *)analyser->numbers.data + analyser->numbers.count;
    size_t i = first;
    for (; i < count; i++) {
        const uint16_t *edge = edges + 2 * i;
        const size_t slot = grown ? nigh__word_slot(&words, batch->keys[i]) : batch->slots[i];
        uint32_t value;
        if (!nigh__word_table_find(&words, batch->keys[i], slot, analyser->lower + edge[0], edges_length(edge),
                                   &value) ||
            value >= NIGH__SEVERAL)
            break;
        *number = value;
        number += value != 0;
    }
    analyser->numbers.count = (size_t)(number - (uint32_t *)analyser->numbers.data);
    return i;
}

/* Up to BATCH segments, given by their edges. */
static nigh_status batch_resolve(struct analyser *analyser, const uint16_t *edges, size_t count, nigh_error *error) {
    struct batch batch;
    batch_ask(analyser, edges, count, &batch);
    for (size_t i = 0;; i++) {
        i = batch_take(analyser, edges, &batch, i, count);
        if (i == count) return NIGH_OK;
        nigh_status status =
            segment_give(analyser, &batch.keys[i], analyser->lower + edges[2 * i], edges_length(edges + 2 * i), error);
        if (status == NIGH_OK) status = numbers_reserve(analyser, CHUNK, error);
        if (status != NIGH_OK) return status;
    }
}

/* Fills the masks and the lower case of `length` bytes, with no word past their end. */
static void chunk_look(struct analyser *analyser, const char *text, size_t length) {
    const struct nigh__letters *letters = analyser->context->letters;
    const size_t blocks = length / NIGH__LETTER_BLOCK;
    const size_t rest = length % NIGH__LETTER_BLOCK;
    letters->look((const uint8_t *)text, blocks, analyser->lower, analyser->masks);
    if (rest == 0) return;
    uint8_t last[NIGH__LETTER_BLOCK] = {0};
    memcpy(last, text + blocks * NIGH__LETTER_BLOCK, rest);
    letters->look(last, 1, analyser->lower + blocks * NIGH__LETTER_BLOCK, analyser->masks + blocks);
}

/* Writes down where segments begin and end; returns how many edges: an odd number where the last one is open. */
static size_t chunk_edges(struct analyser *analyser, size_t blocks) {
    uint16_t *edge = analyser->edges;
    uint64_t before = 0;
    for (size_t block = 0; block < blocks; block++) {
        const uint64_t inside = analyser->masks[block].words | analyser->masks[block].high;
        uint64_t changes = inside ^ (inside << 1 | before);
        before = inside >> 63;
        const unsigned base = (unsigned)(block * NIGH__LETTER_BLOCK);
        for (; changes != 0; changes &= changes - 1) *edge++ = (uint16_t)(base + (unsigned)__builtin_ctzll(changes));
    }
    return (size_t)(edge - analyser->edges);
}

static bool is_inside(char c) {
    return (unsigned char)c >= 0x80 || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* A segment longer than a chunk. */
static nigh_status segment_long(struct analyser *analyser, const char *text, size_t length, size_t *used,
                                nigh_error *error) {
    *used = 0;
    while (*used < length && is_inside(text[*used])) (*used)++;
    return segment_spell(analyser, text, *used, error);
}

/* Takes the segments that end within the first CHUNK bytes of `length`; *used is how far that came. */
static nigh_status chunk_analyse(struct analyser *analyser, const char *text, size_t length, size_t *used,
                                 nigh_error *error) {
    *used = length < CHUNK ? length : CHUNK;
    chunk_look(analyser, text, *used);
    size_t edges = chunk_edges(analyser, (*used + NIGH__LETTER_BLOCK - 1) / NIGH__LETTER_BLOCK);
    if (edges % 2 != 0) {
        if (*used == length)
            analyser->edges[edges++] = (uint16_t)length; /* the text ends within a block's last word */
        else if (analyser->edges[--edges] == 0)
            return segment_long(analyser, text, length, used, error);
        else
            *used = analyser->edges[edges]; /* what is open comes again */
    }
    nigh_status status = numbers_reserve(analyser, CHUNK, error);
    for (size_t done = 0; status == NIGH_OK && done < edges; done += (size_t)2 * BATCH) {
        size_t count = (edges - done) / 2;
        status = batch_resolve(analyser, analyser->edges + done, count < BATCH ? count : BATCH, error);
    }
    return status;
}

/* ------------------------------------------------------------------- whole -- */

static void known_update(struct analyser *analyser) {
    analyser->known.hashes = analyser->terms.hashes.data;
    analyser->known.terms = (uint32_t)analyser->terms.hashes.count;
}

static nigh_status tables_init(struct analyser *analyser, nigh_error *error) {
    nigh_status status = nigh__term_table_init(analyser->context, &analyser->terms, error);
    if (status != NIGH_OK) return status;
    status = nigh__word_table_init(analyser->context, &analyser->words, error);
    if (status != NIGH_OK) nigh__term_table_release(&analyser->terms);
    known_update(analyser);
    return status;
}

static void tables_release(struct analyser *analyser) {
    nigh__term_table_release(&analyser->terms);
    nigh__word_table_release(&analyser->words);
    nigh__normaliser_release(&analyser->normaliser);
    nigh__cutter_release(&analyser->cutter);
    nigh__array_release(analyser->context, &analyser->numbers);
}

nigh_status nigh__analyser_new(const nigh_context *context, const struct nigh__analysis *analysis,
                               struct nigh__analyser **out, nigh_error *error) {
    *out = NULL;
    struct analyser *analyser = nigh__alloc_aligned(context, 1, sizeof *analyser, NIGH__CACHE_LINE);
    if (analyser == NULL) return nigh__no_memory(error, "to analyse texts");
    memset(analyser, 0, sizeof *analyser);
    analyser->context = context;
    analyser->numbers = (struct nigh__array)NIGH__ARRAY(uint32_t);
    nigh__normaliser_init(context, &analyser->normaliser);
    nigh__cutter_init(context, word_take, analyser, &analyser->cutter);
    nigh_status status = tables_init(analyser, error);
    if (status == NIGH_OK) status = nigh__stemmer_init(analysis, &analyser->stemmer, error);
    if (status != NIGH_OK)
        nigh__analyser_free(&analyser->known);
    else
        *out = &analyser->known;
    return status;
}

void nigh__analyser_free(struct nigh__analyser *known) {
    if (known == NULL) return;
    struct analyser *analyser = (struct analyser *)known;
    tables_release(analyser);
    nigh__stemmer_release(&analyser->stemmer);
    nigh__free(analyser->context, analyser);
}

/* Starts afresh, small; new numbers mean other terms. */
static nigh_status forget(struct analyser *analyser, nigh_error *error) {
    tables_release(analyser);
    analyser->known.generation++;
    return tables_init(analyser, error);
}

nigh_status nigh__analyse(struct nigh__analyser *known, const char *text, size_t length, const uint32_t **numbers,
                          size_t *count, nigh_error *error) {
    struct analyser *analyser = (struct analyser *)known;
    nigh_status status = NIGH_OK;
    analyser->numbers.count = 0;
    if (analyser->terms.slots == NULL || known->terms - 1 > NIGH__ANALYSER_TERMS) status = forget(analyser, error);
    for (size_t at = 0, used; status == NIGH_OK && at < length; at += used)
        status = chunk_analyse(analyser, text + at, length - at, &used, error);
    if (analyser->terms.slots != NULL) known_update(analyser);
    if (status != NIGH_OK) return status;
    static const uint32_t none = 0;
    *numbers = analyser->numbers.count > 0 ? analyser->numbers.data : &none;
    *count = analyser->numbers.count;
    return NIGH_OK;
}
