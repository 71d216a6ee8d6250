/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Features and their counts.  Words are counted by the analyser's numbers, in a
 * table that they index: one random access a word, asked for ahead.  Other
 * features have only their hashes and go through a small hash table that is
 * emptied by a new stamp.
 */
#include "text/feature.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/secret.h"
#include "base/status.h"
#include "kernel/projection.h"
#include "text/spelling.h"

#define AHEAD 16
#define MANY_TERMS (4 * (size_t)NIGH__ANALYSER_TERMS) /* memory for more goes when the analyser forgets */

/* Where a feature of the text at hand stands in the output; void under another stamp. */
struct mark {
    uint32_t stamp;
    uint32_t slot;
};

struct cell {
    uint64_t hash;
    struct mark mark;
};

struct nigh__featurer {
    const nigh_context *context;
    const struct nigh__projection *kernel;
    struct nigh__feature_plan plan;
    struct nigh__analyser *analyser; /* of words and ngrams */
    struct nigh__spelling spelling;  /* of chars */
    uint32_t stamp;                  /* of this text */
    uint32_t generation;

    struct mark *marks; /* by number of the term */
    size_t mark_capacity;
    struct cell *cells; /* a hash table; a power of two, or 0 */
    size_t cell_count;
    unsigned cell_shift; /* 64 - log2 of the cells */
    uint64_t secret;     /* odd */

    uint64_t *hashes;
    uint32_t *counts;
    uint32_t *numbers;
    size_t capacity; /* of each of the three */
};

nigh_status nigh__featurer_new(const nigh_context *context, const struct nigh__feature_plan *plan,
                               struct nigh__featurer **out, nigh_error *error) {
    *out = NULL;
    struct nigh__featurer *featurer = nigh__alloc_zero(context, 1, sizeof *featurer);
    if (featurer == NULL) return nigh__no_memory(error, "for features");
    featurer->context = context;
    featurer->kernel = nigh__projection_choose(context->hamming->name);
    featurer->plan = *plan;
    featurer->secret = nigh__secret() | 1;
    nigh_status status = plan->kind == NIGH_FEATURES_CHARS
                             ? nigh__spelling_init(context, &plan->analysis, &featurer->spelling, error)
                             : nigh__analyser_new(context, &plan->analysis, &featurer->analyser, error);
    if (status != NIGH_OK) {
        nigh__featurer_free(featurer);
        return status;
    }
    *out = featurer;
    return NIGH_OK;
}

void nigh__featurer_free(struct nigh__featurer *featurer) {
    if (featurer == NULL) return;
    const nigh_context *context = featurer->context;
    nigh__analyser_free(featurer->analyser);
    nigh__spelling_release(&featurer->spelling);
    nigh__free(context, featurer->marks);
    nigh__free(context, featurer->cells);
    nigh__free(context, featurer->hashes);
    nigh__free(context, featurer->counts);
    nigh__free(context, featurer->numbers);
    nigh__free(context, featurer);
}

void nigh__featurer_listen(struct nigh__featurer *featurer, nigh__term_told *tell, void *user) {
    if (featurer->plan.kind != NIGH_FEATURES_WORDS) return;
    featurer->analyser->tell = tell;
    featurer->analyser->user = user;
}

static size_t grown(size_t capacity, size_t wanted) { return wanted > capacity * 2 ? wanted : capacity * 2; }

/* Room for `count` features; what one large text needed is given back. */
static nigh_status reserve(struct nigh__featurer *featurer, size_t count, nigh_error *error) {
    if (count <= featurer->capacity && (featurer->capacity <= MANY_TERMS || count > MANY_TERMS)) return NIGH_OK;
    const nigh_context *context = featurer->context;
    size_t capacity = count < featurer->capacity ? count : grown(featurer->capacity, count);
    nigh__free(context, featurer->hashes);
    nigh__free(context, featurer->counts);
    nigh__free(context, featurer->numbers);
    featurer->capacity = 0;
    featurer->hashes = nigh__alloc(context, capacity, sizeof *featurer->hashes);
    featurer->counts = nigh__alloc(context, capacity, sizeof *featurer->counts);
    featurer->numbers = nigh__alloc(context, capacity, sizeof *featurer->numbers);
    if (featurer->hashes == NULL || featurer->counts == NULL || featurer->numbers == NULL)
        return nigh__no_memory(error, "for features");
    featurer->capacity = capacity;
    return NIGH_OK;
}

/* A stamp that no mark has yet. */
static void next_stamp(struct nigh__featurer *featurer) {
    if (++featurer->stamp != 0) return;
    if (featurer->mark_capacity > 0) memset(featurer->marks, 0, featurer->mark_capacity * sizeof *featurer->marks);
    if (featurer->cell_count > 0) memset(featurer->cells, 0, featurer->cell_count * sizeof *featurer->cells);
    featurer->stamp = 1;
}

/* ---------------------------------------------------------------- words -- */

/* A mark for every term the analyser knows. */
static nigh_status reserve_marks(struct nigh__featurer *featurer, nigh_error *error) {
    const struct nigh__analyser *analyser = featurer->analyser;
    if (analyser->generation != featurer->generation) {
        featurer->generation = analyser->generation;
        if (featurer->mark_capacity > MANY_TERMS) {
            nigh__free(featurer->context, featurer->marks);
            featurer->marks = NULL;
            featurer->mark_capacity = 0;
        }
    }
    if (featurer->marks != NULL && analyser->terms <= featurer->mark_capacity) return NIGH_OK;
    size_t capacity = grown(featurer->mark_capacity, analyser->terms);
    struct mark *marks = nigh__alloc_table(featurer->context, capacity, sizeof *marks);
    if (marks == NULL) return nigh__no_memory(error, "for features");
    nigh__free(featurer->context, featurer->marks); /* of texts that are done */
    featurer->marks = marks;
    featurer->mark_capacity = capacity;
    return NIGH_OK;
}

/* Whether a word is new cannot be predicted, so nothing here branches on it. */
static size_t count_numbers(struct nigh__featurer *featurer, const uint32_t *terms, size_t count) {
    struct mark *const marks = featurer->marks;
    uint32_t *const counts = featurer->counts;
    uint32_t *const numbers = featurer->numbers;
    const uint32_t stamp = featurer->stamp;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(&marks[terms[i + AHEAD]], 1);
        struct mark mark = marks[terms[i]];
        const uint32_t seen = mark.stamp == stamp ? UINT32_MAX : 0;
        const uint32_t slot = (mark.slot & seen) | (found & ~seen);
        marks[terms[i]] = (struct mark){.stamp = stamp, .slot = slot};
        counts[slot] = (counts[slot] & seen) + 1;
        numbers[slot] = terms[i];
        found += ~seen & 1;
    }
    return found;
}

static void gather_hashes(struct nigh__featurer *featurer, const uint32_t *numbers, size_t count) {
    const uint64_t *const hashes = featurer->analyser->hashes;
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count) __builtin_prefetch(&hashes[numbers[i + AHEAD]]);
        featurer->hashes[i] = hashes[numbers[i]];
    }
}

static nigh_status find_words(struct nigh__featurer *featurer, const uint32_t *terms, size_t count,
                              struct nigh__features *out, nigh_error *error) {
    nigh_status status = reserve_marks(featurer, error);
    if (status == NIGH_OK) status = reserve(featurer, nigh__smaller(count, featurer->analyser->terms), error);
    if (status != NIGH_OK) return status;
    out->count = count_numbers(featurer, terms, count);
    NIGH__ASSERT(out->count <= count && out->count <= featurer->capacity);
    gather_hashes(featurer, featurer->numbers, out->count);
    out->numbers = featurer->numbers;
    out->generation = featurer->generation;
    out->total = count;
    return NIGH_OK;
}

/* -------------------------------------------------------------- ngrams -- */

static nigh_status reserve_cells(struct nigh__featurer *featurer, size_t count, nigh_error *error) {
    unsigned bits = 10;
    while ((size_t)1 << bits < count * 2) bits++;
    const size_t wanted = (size_t)1 << bits;
    if (wanted == featurer->cell_count || (wanted < featurer->cell_count && featurer->cell_count <= MANY_TERMS))
        return NIGH_OK;
    nigh__free(featurer->context, featurer->cells);
    featurer->cell_count = 0;
    featurer->cells = nigh__alloc_table(featurer->context, wanted, sizeof *featurer->cells);
    if (featurer->cells == NULL) return nigh__no_memory(error, "for features");
    featurer->cell_count = wanted;
    featurer->cell_shift = 64 - bits;
    return NIGH_OK;
}

/* Makes the hashes, which may repeat, distinct in place, and counts them. */
static size_t count_hashes(struct nigh__featurer *featurer, size_t count) {
    const size_t mask = featurer->cell_count - 1;
    uint32_t found = 0;
    for (size_t i = 0; i < count; i++) {
        const uint64_t hash = featurer->hashes[i];
        size_t at = (size_t)((hash * featurer->secret) >> featurer->cell_shift);
        while (featurer->cells[at].mark.stamp == featurer->stamp && featurer->cells[at].hash != hash)
            at = (at + 1) & mask;
        struct cell *cell = &featurer->cells[at];
        if (cell->mark.stamp != featurer->stamp) {
            *cell = (struct cell){.hash = hash, .mark = {.stamp = featurer->stamp, .slot = found}};
            featurer->hashes[found] = hash;
            featurer->counts[found++] = 0;
        }
        featurer->counts[cell->mark.slot]++;
    }
    return found;
}

/* The hashes of all features are there; counts them where that is wanted. */
static nigh_status finish_hashes(struct nigh__featurer *featurer, size_t count, struct nigh__features *out,
                                 nigh_error *error) {
    out->total = count;
    out->count = count;
    if (featurer->plan.repeats) {
        for (size_t i = 0; i < count; i++) featurer->counts[i] = 1;
        return NIGH_OK;
    }
    nigh_status status = reserve_cells(featurer, count, error);
    if (status == NIGH_OK) out->count = count_hashes(featurer, count);
    return status;
}

static nigh_status find_ngrams(struct nigh__featurer *featurer, const uint32_t *terms, size_t count,
                               struct nigh__features *out, nigh_error *error) {
    size_t length = nigh__smaller(featurer->plan.length, count);
    size_t features = nigh__smaller(count - length + (count > 0), NIGH__MAX_FEATURES);
    const size_t needed = nigh__smaller(count, features + length);
    nigh_status status = reserve(featurer, needed, error);
    if (status != NIGH_OK) return status;
    gather_hashes(featurer, terms, needed);
    featurer->kernel->grams(featurer->hashes, length, features, featurer->plan.analysis.seed, featurer->hashes);
    return finish_hashes(featurer, features, out, error);
}

/* --------------------------------------------------------------- chars -- */

static size_t character_length(unsigned char lead) { return lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4; }

static bool is_ascii(const char *text, size_t length) {
    unsigned char all = 0;
    for (size_t i = 0; i < length; i++) all |= (unsigned char)text[i];
    return all < 0x80;
}

/* Windows over characters of one byte; returns how many. */
static size_t hash_bytes(struct nigh__featurer *featurer, const char *spelled, size_t length) {
    const size_t window = nigh__smaller(featurer->plan.length, length);
    const size_t count = nigh__smaller(length - window + (length > 0), NIGH__MAX_FEATURES);
    nigh__hash_windows(spelled, window, count, featurer->plan.analysis.seed, featurer->hashes);
    return count;
}

/* Over any characters. */
static size_t hash_characters(struct nigh__featurer *featurer, const char *spelled, size_t length) {
    size_t end = 0;
    size_t found = 0;
    for (uint32_t k = 0; k < featurer->plan.length && end < length; k++)
        end += character_length((unsigned char)spelled[end]);
    for (size_t begin = 0; end <= length && length > 0;) {
        featurer->hashes[found++] = nigh__hash_seeded(spelled + begin, end - begin, featurer->plan.analysis.seed);
        if (end == length || found == NIGH__MAX_FEATURES) break;
        begin += character_length((unsigned char)spelled[begin]);
        end += character_length((unsigned char)spelled[end]);
    }
    return found;
}

static nigh_status find_chars(struct nigh__featurer *featurer, const char *text, size_t length,
                              struct nigh__features *out, nigh_error *error) {
    const char *spelled = NULL;
    size_t spelled_length = 0;
    nigh_status status = nigh__spelling_find(&featurer->spelling, text, length, &spelled, &spelled_length, error);
    if (status == NIGH_OK) status = reserve(featurer, nigh__smaller(spelled_length, NIGH__MAX_FEATURES), error);
    if (status != NIGH_OK) return status;
    const size_t found =
        (is_ascii(spelled, spelled_length) ? hash_bytes : hash_characters)(featurer, spelled, spelled_length);
    return finish_hashes(featurer, found, out, error);
}

/* ----------------------------------------------------------------- all -- */

nigh_status nigh__featurer_find(struct nigh__featurer *featurer, const char *text, size_t length,
                                struct nigh__features *out, nigh_error *error) {
    *out = (struct nigh__features){0};
    next_stamp(featurer);
    nigh_status status = NIGH_OK;
    if (featurer->plan.kind == NIGH_FEATURES_CHARS) {
        status = find_chars(featurer, text, length, out, error);
    } else {
        const uint32_t *terms = NULL;
        size_t count = 0;
        status = nigh__analyse(featurer->analyser, text, length, &terms, &count, error);
        if (status == NIGH_OK)
            status = (featurer->plan.kind == NIGH_FEATURES_WORDS ? find_words : find_ngrams)(featurer, terms, count,
                                                                                             out, error);
    }
    out->hashes = featurer->hashes;
    out->counts = featurer->counts;
    return status;
}
