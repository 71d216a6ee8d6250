/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * From rows to documents.  All that reads the map of a group is here: rows, and the first blocks of
 * documents.  Both are the file's, so they may say anything, and may be cut away while they are read:
 * each step runs under a guard, with its room taken beforehand, and believes no number.
 */
#include <string.h>

#include "base/bytes.h"
#include "base/guard.h"
#include "base/status.h"
#include "base/word_sort.h"
#include "collection/sections.h"
#include "kernel/rows.h"
#include "terms/terms_search_parts.h"

#define STRETCH ((size_t)1 << 20) /* bytes of rows between two looks at the clock */
#define SAMPLE_LINES 8u           /* of a row, for putting rows in order */
#define PROBE_BYTES 256u          /* a document looked up costs as much as so many bytes of a row read in sequence */
#define FIRST_STEP 4u             /* documents from one that has a bit to the next, to begin with */

/* What a step works on.  It changes only what is here, and what has been given room. */
struct step {
    struct nigh__seeker *seeker;
    struct nigh__sought_term *sought; /* of nigh__seek_sample() */
    size_t from, bytes;               /* of a stretch */
    uint8_t *bits;                    /* of that stretch: where they go, or whose documents are told */
    uint32_t *documents;
    size_t count;
    uint32_t block;
    bool any, first;
    uint32_t at;  /* the last document found: the next is not before it */
    uint32_t end; /* of its blocks */
};

typedef bool step_function(struct step *step); /* false: the file lies */

static nigh_status guarded(struct step *step, step_function *run, nigh_error *error) {
    const struct nigh__term_group *group = step->seeker->group;
    struct nigh__guard guard;
    nigh__guard_enter(&guard, group->map, group->map_length);
    if (NIGH__GUARD_FAULTED(&guard)) return nigh__sections_cut(group->path, error);
    const bool good = run(step);
    nigh__guard_leave(&guard);
    if (good) return NIGH_OK;
    return nigh__fail_at(error, NIGH_ECORRUPT, group->path, NIGH_NO_OFFSET,
                         "the blocks of its documents are not one after the other");
}

/* Documents are blocks. */
static bool is_same(const struct nigh__term_group *group) {
    return group->every_document_one_block && group->documents == group->blocks;
}

/* ------------------------------------------------------------- documents -- */

/* The blocks of a document.  False where they cannot be. */
static bool blocks_of(const struct nigh__term_group *group, uint32_t document, uint32_t *first, uint32_t *end) {
    if (is_same(group)) {
        *first = document;
        *end = document + 1;
        return true;
    }
    const volatile uint32_t *firsts = group->first_blocks; /* read once: others may write there */
    *first = firsts[document];
    *end = firsts[document + 1];
    return *first <= *end && *end <= group->blocks;
}

/* Where the document of a block is if all between have one block each, as most have; UINT32_MAX: it is not there. */
static uint32_t guess_document(const struct step *step, uint32_t block) {
    const struct nigh__term_group *group = step->seeker->group;
    const uint32_t *firsts = group->first_blocks;
    const uint32_t begin = firsts[step->at];
    const uint64_t guess = (uint64_t)step->at + (begin < block ? block - begin : 0);
    if (guess >= group->documents || firsts[guess] > block || firsts[guess + 1] <= block) return UINT32_MAX;
    return (uint32_t)guess;
}

/* The last document from step->at on that begins at the block or before it: by steps that double, then by halving. */
static uint32_t last_before(const struct step *step, uint32_t block) {
    const struct nigh__term_group *group = step->seeker->group;
    const uint32_t *firsts = group->first_blocks;
    uint32_t low = step->at;
    uint32_t high = group->documents; /* this one begins behind it */
    for (uint32_t ahead = FIRST_STEP; ahead < high - low; ahead *= 2) {
        if (firsts[low + ahead] > block) {
            high = low + ahead;
            break;
        }
        low += ahead;
    }
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (firsts[middle] <= block)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The document of a block, and where its blocks begin and end. */
static bool document_of(struct step *step, uint32_t block, uint32_t *first, uint32_t *end) {
    const struct nigh__term_group *group = step->seeker->group;
    if (block >= group->blocks || group->documents == 0) return false;
    const uint32_t guess = is_same(group) ? block : guess_document(step, block);
    step->at = guess != UINT32_MAX ? guess : last_before(step, block);
    return blocks_of(group, step->at, first, end) && *first <= block && block < *end;
}

/* ------------------------------------------------------------------ rows -- */

/* Counts bits of some lines of each row of a term. */
static bool sample(struct step *step) {
    const struct nigh__term_group *group = step->seeker->group;
    const struct nigh__rows *kernel = step->seeker->context->rows;
    struct nigh__sought_term *sought = step->sought;
    const uint64_t lines = group->row_bytes / NIGH__ROWS_LINE;
    const uint64_t taken = lines < SAMPLE_LINES ? lines : SAMPLE_LINES;
    for (uint32_t i = 0; i < sought->place.count; i++) {
        const uint8_t *row = group->rows + sought->place.positions[i] * group->row_bytes;
        sought->bits[i] = 0;
        for (uint64_t part = 0; part < taken; part++)
            sought->bits[i] += (uint32_t)kernel->count(row + (lines * (2 * part + 1)) / (2 * taken) * NIGH__ROWS_LINE,
                                                       NIGH__ROWS_LINE);
    }
    step->bytes = (size_t)(sought->place.count * taken * NIGH__ROWS_LINE);
    return true;
}

nigh_status nigh__seek_sample(struct nigh__seeker *seeker, struct nigh__sought_term *sought, nigh_error *error) {
    struct step step = {.seeker = seeker, .sought = sought};
    if (sought->measured) return NIGH_OK;
    nigh_status status = guarded(&step, sample, error);
    if (status != NIGH_OK) return status;
    sought->measured = true;
    seeker->bytes_touched += step.bytes;
    return NIGH_OK;
}

static void keys_sort(struct nigh__seeker *seeker, size_t count) {
    uint64_t *sorted = nigh__words_sort(seeker->keys, seeker->spare, count, 1, 1, 1);
    if (sorted == seeker->keys) return;
    seeker->spare = seeker->keys;
    seeker->keys = sorted;
}

/* Rows of terms, each once, into the keys: the number of bits in the sample above the position. */
static size_t gather_keys(struct nigh__seeker *seeker, const uint32_t *order, size_t terms) {
    size_t count = 0;
    size_t distinct = 0;
    for (size_t t = 0; t < terms; t++) {
        const struct nigh__sought_term *sought = &seeker->sought[order[t]];
        for (uint32_t i = 0; i < sought->place.count; i++)
            seeker->keys[count++] = (uint64_t)sought->bits[i] << 32 | sought->place.positions[i];
    }
    keys_sort(seeker, count);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || seeker->keys[i] != seeker->keys[i - 1]) seeker->keys[distinct++] = seeker->keys[i];
    return distinct;
}

void nigh__seek_rows(struct nigh__seeker *seeker, const uint32_t *order, size_t terms) {
    const struct nigh__term_group *group = seeker->group;
    seeker->row_count = gather_keys(seeker, order, terms);
    seeker->rows_begun += seeker->row_count;
    for (size_t i = 0; i < seeker->row_count; i++)
        seeker->rows[i] = group->rows + (uint32_t)seeker->keys[i] * group->row_bytes;
}

static bool intersect(struct step *step) {
    struct nigh__seeker *seeker = step->seeker;
    step->any |= seeker->context->rows->intersect(seeker->rows, seeker->row_count, step->from, step->bytes, step->bits,
                                                  &seeker->bytes_touched);
    return true;
}

static uint64_t longest_row(const nigh_terms *terms) {
    uint64_t longest = NIGH__ROWS_LINE;
    for (uint32_t i = 0; i < nigh__terms_groups(terms); i++) {
        const struct nigh__term_group *group = nigh__terms_group(terms, i);
        if (group->row_bytes > longest) longest = group->row_bytes;
    }
    return longest;
}

/* Room for a whole row. */
static nigh_status row_reserve(struct nigh__seeker *seeker, uint8_t **row, nigh_error *error) {
    if (*row == NULL)
        *row = nigh__alloc_aligned(seeker->context, (size_t)longest_row(seeker->terms), 1, NIGH__ROWS_LINE);
    return *row == NULL ? nigh__no_memory(error, "for a search of terms") : NIGH_OK;
}

static bool tick(const struct step *step) {
    return nigh__progress_tick(step->seeker->progress, "searching", step->from, step->seeker->group->row_bytes);
}

/* Blocks that have all rows at hand, in `bits`. */
static nigh_status intersect_all(struct step *step, nigh_error *error) {
    const uint64_t row_bytes = step->seeker->group->row_bytes;
    nigh_status status = row_reserve(step->seeker, &step->seeker->bits, error);
    for (uint64_t from = 0; from < row_bytes && status == NIGH_OK; from += STRETCH) {
        step->from = (size_t)from;
        step->bits = step->seeker->bits + from;
        step->bytes = nigh__smaller(STRETCH, (size_t)(row_bytes - from));
        status = guarded(step, intersect, error);
        if (status == NIGH_OK && tick(step)) status = nigh__progress_cancelled(error);
    }
    return status;
}

/* ----------------------------------------------------------------- first -- */

/*
 * Documents of the blocks in `bits`, each once, and in order: blocks of one begin where those of others end.  There is
 * room for as many as bits are set; those past the last block are not.
 */
static bool documents_of_bits(struct step *step) {
    const uint32_t blocks = step->seeker->group->blocks;
    for (size_t at = 0; at < step->bytes; at += 8) {
        const uint64_t base = ((uint64_t)step->from + at) * 8;
        for (uint64_t word = nigh__load64(step->bits + at); word != 0; word &= word - 1) {
            const uint64_t block = base + (uint64_t)__builtin_ctzll(word);
            const uint32_t before = step->end;
            uint32_t first;
            if (block < before) continue;
            if (block >= blocks) return true;
            if (!document_of(step, (uint32_t)block, &first, &step->end) || first < before) return false;
            step->documents[step->count++] = step->at;
        }
    }
    return true;
}

/* The same where documents are blocks. */
static bool blocks_of_bits(struct step *step) {
    const uint32_t blocks = step->seeker->group->blocks;
    uint32_t *out = step->documents + step->count;
    for (size_t at = 0; at < step->bytes; at += 8) {
        const uint64_t base = ((uint64_t)step->from + at) * 8;
        for (uint64_t word = nigh__load64(step->bits + at); word != 0; word &= word - 1)
            *out++ = (uint32_t)(base + (uint64_t)__builtin_ctzll(word));
    }
    while (out > step->documents && out[-1] >= blocks) out--;
    step->count = (size_t)(out - step->documents);
    return true;
}

/* Adds the documents of a stretch. */
static nigh_status tell_documents(struct step *step, nigh_error *error) {
    struct nigh__seeker *seeker = step->seeker;
    const uint64_t count = seeker->context->rows->count(step->bits, step->bytes);
    seeker->left.count = step->count;
    if (count == 0) return NIGH_OK;
    if (nigh__array_add(seeker->context, &seeker->left, (size_t)count) == NULL)
        return nigh__no_memory(error, "for a search of terms");
    step->documents = seeker->left.data;
    nigh_status status = guarded(step, is_same(seeker->group) ? blocks_of_bits : documents_of_bits, error);
    seeker->left.count = step->count;
    return status;
}

/* Piece by piece, so that what is left of a piece is still in the cache when its documents are told. */
nigh_status nigh__seek_first(struct nigh__seeker *seeker, nigh_error *error) {
    const uint64_t row_bytes = seeker->group->row_bytes;
    struct step step = {.seeker = seeker, .bits = seeker->piece};
    nigh_status status = NIGH_OK;
    seeker->left.count = 0;
    for (uint64_t from = 0; from < row_bytes && status == NIGH_OK; from += NIGH__SEEK_PIECE) {
        step.from = (size_t)from;
        step.bytes = nigh__smaller(NIGH__SEEK_PIECE, (size_t)(row_bytes - from));
        step.any = false;
        status = guarded(&step, intersect, error);
        if (status == NIGH_OK && step.any) status = tell_documents(&step, error);
        if (status == NIGH_OK && from % STRETCH == 0 && tick(&step)) status = nigh__progress_cancelled(error);
    }
    return status;
}

/* ---------------------------------------------------------------- closed -- */

/*
 * Moves the bits of a document's blocks to its last block.  Ones on all its blocks but the last are added to
 * its bits there: if one of these is set, and only then, the sum carries into the last block, and never out of it.
 *
 *     its blocks, last on the left      0 1 0 0        (and a bit of the last block stays)
 *     ones on all but the last        + 0 1 1 1
 *                                     = 1 0 1 1
 *
 * A sum may carry from one word to the next, where a document has blocks in both.
 */
static bool close_bits(struct step *step) {
    struct nigh__seeker *seeker = step->seeker;
    const struct nigh__term_group *group = seeker->group;
    uint64_t carry = 0;
    uint64_t any = 0;
    for (size_t at = 0; at < group->row_bytes; at += 8) {
        const uint64_t last = nigh__load64(group->last_blocks + at);
        const uint64_t bits = nigh__load64(seeker->bits + at);
        const uint64_t others = bits & ~last;
        const uint64_t sum = others + ~last;
        const uint64_t carried = sum + carry;
        carry = (sum < others) | (carried < sum);
        const uint64_t before = step->first ? UINT64_MAX : nigh__load64(seeker->closed + at);
        const uint64_t left = (carried | bits) & last & before;
        nigh__store64(seeker->closed + at, left);
        any |= left;
    }
    seeker->bytes_touched += group->row_bytes;
    step->any = any != 0;
    return true;
}

/* So few that looking them up is cheaper than reading rows in sequence. */
static bool are_few(const struct nigh__term_group *group, uint64_t documents) {
    const double blocks = (double)documents * group->blocks / group->documents; /* were they as many for each */
    return blocks * PROBE_BYTES < (double)group->row_bytes;
}

nigh_status nigh__seek_closed(struct nigh__seeker *seeker, bool first, bool last, bool *told, nigh_error *error) {
    struct step step = {.seeker = seeker, .first = first};
    seeker->left.count = 0;
    *told = true;
    nigh_status status = intersect_all(&step, error);
    if (status == NIGH_OK) status = row_reserve(seeker, &seeker->closed, error);
    if (status != NIGH_OK || !step.any) return status;
    status = guarded(&step, close_bits, error);
    if (status != NIGH_OK || !step.any) return status;
    step.from = 0;
    step.bits = seeker->closed;
    step.bytes = (size_t)seeker->group->row_bytes;
    *told = last || are_few(seeker->group, seeker->context->rows->count(step.bits, step.bytes));
    return *told ? tell_documents(&step, error) : NIGH_OK;
}

/* ------------------------------------------------------------------ more -- */

static bool block_has_rows(struct nigh__seeker *seeker, uint32_t block) {
    for (size_t i = 0; i < seeker->row_count; i++) {
        seeker->bytes_touched += NIGH__ROWS_LINE;
        if ((seeker->rows[i][block / 8] >> block % 8 & 1) == 0) return false;
    }
    return true;
}

static bool block_is_set(struct nigh__seeker *seeker, uint32_t block) {
    return (seeker->bits[block / 8] >> block % 8 & 1) != 0;
}

/* Keeps the documents that have a block of which `test` holds. */
static bool keep(struct step *step, bool (*test)(struct nigh__seeker *seeker, uint32_t block)) {
    size_t kept = 0;
    for (size_t i = 0; i < step->count; i++) {
        const uint32_t document = step->documents[i];
        uint32_t block;
        uint32_t end;
        if (!blocks_of(step->seeker->group, document, &block, &end)) return false;
        while (block < end && !test(step->seeker, block)) block++;
        if (block < end) step->documents[kept++] = document;
    }
    step->count = kept;
    return true;
}

static bool keep_by_rows(struct step *step) { return keep(step, block_has_rows); }
static bool keep_by_bits(struct step *step) { return keep(step, block_is_set); }

nigh_status nigh__seek_more(struct nigh__seeker *seeker, nigh_error *error) {
    struct step step = {.seeker = seeker, .documents = seeker->left.data, .count = seeker->left.count};
    const bool few = are_few(seeker->group, step.count);
    nigh_status status = few ? NIGH_OK : intersect_all(&step, error);
    if (status == NIGH_OK) status = guarded(&step, few ? keep_by_rows : keep_by_bits, error);
    seeker->left.count = step.count;
    return status;
}

/* ---------------------------------------------------------------- single -- */

static bool find_document(struct step *step) {
    uint32_t first;
    uint32_t end;
    if (!document_of(step, step->block, &first, &end)) return false;
    step->documents[step->count++] = step->at;
    return true;
}

nigh_status nigh__seek_block(struct nigh__seeker *seeker, uint32_t block, bool first, nigh_error *error) {
    uint32_t document = 0;
    struct step step = {.seeker = seeker, .documents = &document, .block = block};
    nigh_status status = guarded(&step, find_document, error);
    if (status != NIGH_OK) return status;
    if (!first) {
        const uint32_t *left = seeker->left.data; /* one: this is for words of a single block, which come first */
        if (seeker->left.count > 0 && left[0] != document) seeker->left.count = 0;
        return NIGH_OK;
    }
    seeker->left.count = 0;
    uint32_t *place = nigh__array_add(seeker->context, &seeker->left, 1);
    if (place == NULL) return nigh__no_memory(error, "for a search of terms");
    *place = document;
    return NIGH_OK;
}

static bool sum_blocks(struct step *step) {
    for (size_t i = 0; i < step->count; i++) {
        uint32_t first;
        uint32_t end;
        if (!blocks_of(step->seeker->group, step->documents[i], &first, &end)) return false;
        step->seeker->blocks += end - first;
    }
    return true;
}

nigh_status nigh__seek_blocks(struct nigh__seeker *seeker, nigh_error *error) {
    struct step step = {.seeker = seeker, .documents = seeker->all.data, .count = seeker->all.count};
    if (is_same(seeker->group)) {
        seeker->blocks += step.count;
        return NIGH_OK;
    }
    return guarded(&step, sum_blocks, error);
}
