/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting a vocabulary, a document after the other, in one table.  When the table would
 * outgrow its memory, all it holds is poured into a sketch, and counting goes on
 * there: the sketch is then as if it had been there from the beginning.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "base/secret.h"
#include "base/status.h"
#include "text/vocabulary_parts.h"

#define DEFAULT_MEMORY (UINT64_C(1) << 30)
#define FEWEST_TERMS 1024u
#define FIRST_BITS 11 /* a table for so many */
#define AHEAD 16

/* What a vocabulary, of at most VOCABULARY_MAX_LENGTH bytes, holds; and counters in a row of a sketch. */
#define MAX_TERMS ((VOCABULARY_MAX_LENGTH - (64u << 10)) / sizeof(struct nigh__vocabulary_entry))
#define MAX_COUNTERS ((size_t)1 << 26)

/*
 * Memory.  A table is at most 3/4 full and is doubled while its old half is still
 * there: 16 * (4/3 * 2) bytes and half as many again are 64 for each term.
 */
#define BYTES_A_TERM 64u

struct nigh__counter {
    const nigh_context *context;
    uint64_t memory_bytes;
    uint64_t most_terms;
    uint64_t secret;
    struct nigh__vocabulary_entry *entries; /* NULL once there is a sketch; of a free one the occurrences are 0 */
    size_t entry_count;                     /* a power of two */
    unsigned shift;                         /* 64 - log2 of it */
    size_t terms;
    uint32_t *sketch; /* occurrences, then documents: two times NIGH__VOCABULARY_ROWS * sketch_row */
    size_t sketch_row;
    uint64_t occurrences, documents;
};

nigh_status nigh__counter_new(const nigh_context *context, uint64_t memory_bytes, struct nigh__counter **out,
                              nigh_error *error) {
    *out = NULL;
    struct nigh__counter *counter = nigh__alloc_zero(context, 1, sizeof *counter);
    if (counter == NULL) return nigh__no_memory(error, "to count terms");
    counter->context = context;
    counter->memory_bytes = memory_bytes == 0 ? DEFAULT_MEMORY : memory_bytes;
    counter->most_terms = counter->memory_bytes / BYTES_A_TERM;
    if (counter->most_terms < FEWEST_TERMS) counter->most_terms = FEWEST_TERMS;
    if (counter->most_terms > MAX_TERMS) counter->most_terms = MAX_TERMS;
    counter->secret = nigh__secret() | 1;
    counter->entry_count = (size_t)1 << FIRST_BITS;
    counter->shift = 64 - FIRST_BITS;
    counter->entries = nigh__alloc_zero(context, counter->entry_count, sizeof *counter->entries);
    if (counter->entries == NULL) {
        nigh__counter_free(counter);
        return nigh__no_memory(error, "to count terms");
    }
    *out = counter;
    return NIGH_OK;
}

void nigh__counter_free(struct nigh__counter *counter) {
    if (counter == NULL) return;
    const nigh_context *context = counter->context;
    nigh__free(context, counter->entries);
    nigh__free(context, counter->sketch);
    nigh__free(context, counter);
}

static uint32_t add_up(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }

/* --------------------------------------------------------------- sketch -- */

static void sketch_add(struct nigh__counter *counter, uint64_t hash, struct nigh__occurrence more) {
    uint32_t *occurrences = counter->sketch;
    uint32_t *documents = counter->sketch + NIGH__VOCABULARY_ROWS * counter->sketch_row;
    for (uint32_t row = 0; row < NIGH__VOCABULARY_ROWS; row++) {
        size_t place = nigh__sketch_place(hash, row, counter->sketch_row);
        occurrences[place] = add_up(occurrences[place], more.occurrences);
        documents[place] = add_up(documents[place], more.documents);
    }
}

/* As many counters in a row as half of the memory holds. */
static size_t usual_row(const struct nigh__counter *counter) {
    size_t row = FEWEST_TERMS;
    while (row < MAX_COUNTERS && (uint64_t)row * 2 * NIGH__VOCABULARY_ROWS * 8 <= counter->memory_bytes / 2) row *= 2;
    return row;
}

/* The table goes when the counters are filled. */
static nigh_status pour_into_sketch(struct nigh__counter *counter, size_t row, nigh_error *error) {
    counter->sketch = nigh__alloc_zero(counter->context, row, (size_t)NIGH__VOCABULARY_ROWS * 8);
    if (counter->sketch == NULL) return nigh__no_memory(error, "to count terms");
    counter->sketch_row = row;
    for (size_t i = 0; i < counter->entry_count; i++)
        if (counter->entries[i].found.occurrences > 0)
            sketch_add(counter, counter->entries[i].hash, counter->entries[i].found);
    nigh__free(counter->context, counter->entries);
    counter->entries = NULL;
    return NIGH_OK;
}

/* ---------------------------------------------------------------- table -- */

/* The first bits of the product: on these alone all bits of the hash and of the secret have a say. */
static size_t place_of(const struct nigh__counter *counter, uint64_t hash) {
    return (size_t)((hash * counter->secret) >> counter->shift);
}

static struct nigh__vocabulary_entry *find_entry(struct nigh__counter *counter, uint64_t hash) {
    size_t at = place_of(counter, hash);
    while (counter->entries[at].found.occurrences > 0 && counter->entries[at].hash != hash)
        at = (at + 1) & (counter->entry_count - 1);
    return &counter->entries[at];
}

static nigh_status grow(struct nigh__counter *counter, nigh_error *error) {
    struct nigh__vocabulary_entry *old = counter->entries;
    size_t old_count = counter->entry_count;
    struct nigh__vocabulary_entry *entries = nigh__alloc_zero(counter->context, old_count * 2, sizeof *entries);
    if (entries == NULL) return nigh__no_memory(error, "to count terms");
    counter->entries = entries;
    counter->entry_count = old_count * 2;
    counter->shift--;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].found.occurrences > 0) *find_entry(counter, old[i].hash) = old[i];
    nigh__free(counter->context, old);
    return NIGH_OK;
}

/* Room for `more` new terms, or a sketch. */
static nigh_status make_room(struct nigh__counter *counter, size_t more, nigh_error *error) {
    nigh_status status = NIGH_OK;
    while (status == NIGH_OK && counter->terms + more > counter->entry_count / 4 * 3) status = grow(counter, error);
    return status;
}

static void table_add(struct nigh__counter *counter, uint64_t hash, struct nigh__occurrence more) {
    struct nigh__vocabulary_entry *entry = find_entry(counter, hash);
    counter->terms += entry->found.occurrences == 0;
    entry->hash = hash;
    entry->found.occurrences = add_up(entry->found.occurrences, more.occurrences);
    entry->found.documents = add_up(entry->found.documents, more.documents);
}

/* In pieces, so that a document of many new terms cannot grow the table far beyond what is allowed. */
#define PIECE 512u

static nigh_status add_piece(struct nigh__counter *counter, const struct nigh__tally *tallies, size_t count,
                             nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (counter->sketch == NULL) status = make_room(counter, count, error);
    if (status != NIGH_OK) return status;
    for (size_t i = 0; i < count; i++) {
        counter->occurrences += tallies[i].count;
        if (counter->sketch != NULL) {
            sketch_add(counter, tallies[i].hash, (struct nigh__occurrence){tallies[i].count, 1});
            continue;
        }
        if (i + AHEAD < count) __builtin_prefetch(&counter->entries[place_of(counter, tallies[i + AHEAD].hash)], 1);
        table_add(counter, tallies[i].hash, (struct nigh__occurrence){tallies[i].count, 1});
    }
    if (counter->sketch == NULL && counter->terms > counter->most_terms)
        return pour_into_sketch(counter, usual_row(counter), error);
    return NIGH_OK;
}

nigh_status nigh__counter_add(struct nigh__counter *counter, const struct nigh__tally *tallies, size_t count,
                              nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t done = 0; done < count && status == NIGH_OK; done += PIECE)
        status = add_piece(counter, tallies + done, count - done < PIECE ? count - done : PIECE, error);
    counter->documents++;
    return status;
}

/* --------------------------------------------------- what others counted -- */

static nigh_status add_entry(struct nigh__counter *counter, const struct nigh__vocabulary_entry *entry,
                             nigh_error *error) {
    if (entry->found.occurrences == 0) return NIGH_OK; /* nobody writes that, and a table takes it for free */
    if (counter->sketch != NULL) {
        sketch_add(counter, entry->hash, entry->found);
        return NIGH_OK;
    }
    nigh_status status = make_room(counter, 1, error);
    if (status == NIGH_OK) table_add(counter, entry->hash, entry->found);
    if (status == NIGH_OK && counter->terms > counter->most_terms)
        status = pour_into_sketch(counter, usual_row(counter), error);
    return status;
}

static nigh_status add_sketch(struct nigh__counter *counter, const struct nigh__vocabulary_body *body,
                              nigh_error *error) {
    nigh_status status = NIGH_OK;
    if (counter->sketch == NULL) status = pour_into_sketch(counter, (size_t)body->n, error);
    if (status == NIGH_OK && counter->sketch_row != body->n)
        status = nigh__fail(error, NIGH_EMISMATCH, "a sketch of %llu counters a row among others of %zu",
                            (unsigned long long)body->n, counter->sketch_row);
    if (status != NIGH_OK) return status;
    for (size_t i = 0; i < (size_t)body->n * 2 * NIGH__VOCABULARY_ROWS; i++)
        counter->sketch[i] = add_up(counter->sketch[i], body->sketch[i]);
    return NIGH_OK;
}

nigh_status nigh__counter_add_counted(struct nigh__counter *counter, const nigh_vocabulary *counted,
                                      nigh_error *error) {
    const struct nigh__vocabulary_body body = nigh__vocabulary_body(counted);
    nigh_status status = NIGH_OK;
    if (body.entries == NULL)
        status = add_sketch(counter, &body, error);
    else
        for (uint64_t i = 0; i < body.n && status == NIGH_OK; i++) status = add_entry(counter, &body.entries[i], error);
    if (status == NIGH_OK &&
        (!nigh__add64(counter->occurrences, nigh__vocabulary_occurrences(counted), &counter->occurrences) ||
         !nigh__add64(counter->documents, nigh__vocabulary_documents(counted), &counter->documents)))
        status = nigh__fail(error, NIGH_ELIMIT, "more documents or words than can be counted");
    return status;
}

/* --------------------------------------------------------------- finish -- */

/* Moves all terms to the front of the table. */
static void compact(struct nigh__counter *counter) {
    size_t kept = 0;
    for (size_t i = 0; i < counter->entry_count; i++)
        if (counter->entries[i].found.occurrences > 0) counter->entries[kept++] = counter->entries[i];
}

static int by_hash(const void *a, const void *b) {
    uint64_t x = ((const struct nigh__vocabulary_entry *)a)->hash;
    uint64_t y = ((const struct nigh__vocabulary_entry *)b)->hash;
    return (x > y) - (x < y);
}

static void write_table(struct nigh__counter *counter, uint8_t *body) {
    size_t n = counter->terms;
    compact(counter);
    qsort(counter->entries, n, sizeof *counter->entries, by_hash);
    memcpy(body, counter->entries, n * sizeof *counter->entries);
}

static void write_header(const struct nigh__counter *counter, const char *analysis, uint64_t n, uint8_t *bytes) {
    memcpy(bytes, NIGH__VOCABULARY_MAGIC, 8);
    nigh__store32(bytes + VOCABULARY_VERSION, 1);
    nigh__store32(bytes + VOCABULARY_KIND, counter->sketch != NULL);
    nigh__store32(bytes + VOCABULARY_TEXT_LENGTH, (uint32_t)strlen(analysis));
    nigh__store64(bytes + VOCABULARY_OCCURRENCES, counter->occurrences);
    nigh__store64(bytes + VOCABULARY_DOCUMENTS, counter->documents);
    nigh__store64(bytes + VOCABULARY_N, n);
    memcpy(bytes + VOCABULARY_HEADER, analysis, strlen(analysis));
}

nigh_status nigh__counter_finish(struct nigh__counter *counter, const char *analysis, nigh_vocabulary **out,
                                 nigh_error *error) {
    *out = NULL;
    const size_t n = counter->sketch != NULL ? counter->sketch_row : counter->terms;
    const size_t body = counter->sketch != NULL ? n * NIGH__VOCABULARY_ROWS * 8 : n * 16;
    const size_t head = VOCABULARY_HEADER + (size_t)nigh__round_up(strlen(analysis), 8);
    uint8_t *bytes = nigh__alloc(counter->context, head + body, 1);
    if (bytes == NULL) return nigh__no_memory(error, "to count terms");
    memset(bytes, 0, head);
    write_header(counter, analysis, n, bytes);
    if (counter->sketch != NULL)
        memcpy(bytes + head, counter->sketch, body);
    else
        write_table(counter, bytes + head);
    nigh__store64(bytes + VOCABULARY_CHECKSUM, nigh__vocabulary_checksum(bytes, head + body));
    return nigh__vocabulary_own(counter->context, bytes, head + body, out, error);
}
