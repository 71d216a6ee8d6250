/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From documents to blocks.  Threads analyse the documents; one, the caller's, numbers their
 * terms, in the order of the input, so that nothing depends on the threads.  What a thread
 * makes of a document travels as
 *
 *     struct head | id | hashes of its distinct terms, in order, uint64_t each
 *
 * Numbering takes one access to memory a term, asked for ahead: some 20 ns, where finding the
 * term in the text took several times as long.
 *
 * Memory is counted as it grows, before it does: arrays double, so what is counted is what
 * they will have, and the old while it is copied.  A document that does not fit waits, as the
 * pipeline shows it, for the next call.
 */
#include "terms/blocks.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "document/pipeline.h"
#include "terms/term_numbers.h"

#define MAX_NUMBERS (UINT32_C(1) << 30) /* documents, blocks and terms, of each */
#define USUAL_MEMORY (UINT64_C(4) << 30)
#define USUAL_HASHES 16u
#define BYTES_A_HASH 10u /* of a term, for what comes after: positions, minima behind most of them, the dictionary */

struct head {
    uint32_t id_length;
    uint32_t terms;
};

/* Everything that grows. */
enum {
    BEGINS,
    BLOCK_TERMS,
    FIRST_BLOCKS,
    RECORD_NUMBERS,
    SOURCE_NUMBERS,
    ID_BEGINS,
    IDS,
    SOURCE_BEGINS,
    SOURCE_BYTES,
    ARRAYS
};

struct gathered {
    struct nigh__blocks shown; /* first: the caller has a pointer to it */
    struct nigh__array arrays[ARRAYS];
    struct nigh__term_numbers numbers;
    uint64_t *hashes;
    uint32_t *frequencies;
    const char **source_names;
};

struct nigh__block_reader {
    const nigh_context *context;
    struct nigh__block_options options;
    struct nigh__pipeline *pipeline;
    struct nigh__product product; /* that waits */
    bool waiting;
    uint64_t documents; /* taken so far */
};

/* -------------------------------------------------------------- working -- */

struct block_worker {
    const nigh_context *context;
    struct nigh__featurer *featurer;
};

static nigh_status worker_new(void *user, void **out, nigh_error *error) {
    const struct nigh__block_reader *reader = user;
    struct block_worker *worker = nigh__alloc_zero(reader->context, 1, sizeof *worker);
    *out = worker;
    if (worker == NULL) return nigh__no_memory(error, "for blocks of terms");
    worker->context = reader->context;
    return nigh__featurer_new(reader->context, &reader->options.plan, &worker->featurer, error);
}

static void worker_free(void *user, void *given) {
    const struct nigh__block_reader *reader = user;
    struct block_worker *worker = given;
    if (worker == NULL) return;
    nigh__featurer_free(worker->featurer);
    nigh__free(reader->context, worker);
}

static nigh_status work(void *given, const nigh_text *text, struct nigh__array *product, nigh_error *error) {
    struct block_worker *worker = given;
    struct nigh__features features;
    nigh_status status = nigh__featurer_find(worker->featurer, text->text, text->text_length, &features, error);
    if (status != NIGH_OK) return status;
    const struct head head = {.id_length = (uint32_t)nigh__smaller(text->id_length, NIGH_MAX_ID_LENGTH),
                              .terms = (uint32_t)features.count};
    const size_t bytes = features.count * sizeof *features.hashes;
    uint8_t *place = nigh__array_add(worker->context, product, sizeof head + head.id_length + bytes);
    if (place == NULL) return nigh__no_memory(error, "for blocks of terms");
    memcpy(place, &head, sizeof head);
    if (head.id_length > 0) memcpy(place + sizeof head, text->id, head.id_length);
    if (bytes > 0) memcpy(place + sizeof head + head.id_length, features.hashes, bytes);
    return NIGH_OK;
}

/* --------------------------------------------------------------- memory -- */

/* What a document adds to each array. */
struct addition {
    struct head head;
    const uint8_t *id, *hashes;
    const char *source;
    size_t source_length; /* with its end; 0: it is that of the document before */
    size_t items[ARRAYS];
};

/* The capacity that nigh__array_add() comes to. */
static uint64_t capacity_for(const struct nigh__array *array, size_t extra) {
    uint64_t capacity = array->capacity < 16 ? 16 : array->capacity;
    while (capacity < (uint64_t)array->count + extra) capacity *= 2;
    return capacity;
}

/* Bytes in use once the document is in, at the worst moment on the way. */
static uint64_t bytes_with(const struct gathered *gathered, const struct addition *addition, uint32_t hashes) {
    const uint64_t cells = nigh__term_numbers_bytes(&gathered->numbers, addition->head.terms);
    const uint64_t old_cells = gathered->numbers.cell_count * sizeof *gathered->numbers.cells;
    const uint64_t terms = (uint64_t)gathered->numbers.terms + addition->head.terms;
    uint64_t bytes = cells + terms * (hashes < USUAL_HASHES ? USUAL_HASHES : hashes) * BYTES_A_HASH;
    uint64_t copied = cells > old_cells ? old_cells : 0;
    for (size_t i = 0; i < ARRAYS; i++) {
        const struct nigh__array *array = &gathered->arrays[i];
        const uint64_t capacity = capacity_for(array, addition->items[i]);
        const uint64_t old = (uint64_t)array->capacity * array->item_size;
        bytes += capacity * array->item_size;
        if (capacity > array->capacity && old > copied) copied = old;
    }
    return bytes + copied;
}

static bool is_full(const struct nigh__block_reader *reader, const struct gathered *gathered,
                    const struct addition *addition) {
    if (gathered->shown.documents == 0) return false; /* one always fits */
    if (gathered->shown.documents >= MAX_NUMBERS ||
        (uint64_t)gathered->shown.blocks + addition->items[BEGINS] > MAX_NUMBERS ||
        (uint64_t)gathered->numbers.terms + addition->head.terms > MAX_NUMBERS)
        return true;
    return bytes_with(gathered, addition, reader->options.hashes) > reader->options.memory_bytes;
}

/* --------------------------------------------------------------- taking -- */

static void *array_at(struct gathered *gathered, size_t array) { return gathered->arrays[array].data; }

static bool same_source(struct gathered *gathered, const char *source) {
    const struct nigh__array *begins = &gathered->arrays[SOURCE_BEGINS];
    if (begins->count == 0) return false;
    const uint64_t last = ((const uint64_t *)begins->data)[begins->count - 1];
    return strcmp((const char *)array_at(gathered, SOURCE_BYTES) + last, source) == 0;
}

static struct addition plan_addition(const struct nigh__block_reader *reader, struct gathered *gathered) {
    struct addition addition;
    const struct nigh__product *product = &reader->product;
    memcpy(&addition.head, product->bytes, sizeof addition.head);
    addition.id = product->bytes + sizeof addition.head;
    addition.hashes = addition.id + addition.head.id_length;
    addition.source = product->text.source == NULL ? "" : product->text.source;
    addition.source_length = same_source(gathered, addition.source) ? 0 : strlen(addition.source) + 1;
    const size_t most = reader->options.block_terms;
    for (size_t i = 0; i < ARRAYS; i++) addition.items[i] = 1;
    addition.items[BEGINS] = addition.head.terms / most + (addition.head.terms % most > 0);
    addition.items[BLOCK_TERMS] = addition.head.terms;
    addition.items[IDS] = addition.head.id_length;
    addition.items[SOURCE_BEGINS] = addition.source_length > 0;
    addition.items[SOURCE_BYTES] = addition.source_length;
    return addition;
}

/* The last of begins, first blocks and id begins is where the next one goes on. */
static nigh_status add_document(struct nigh__block_reader *reader, struct gathered *gathered,
                                const struct addition *addition, nigh_error *error) {
    void *places[ARRAYS];
    for (size_t i = 0; i < ARRAYS; i++) {
        places[i] = nigh__array_add(reader->context, &gathered->arrays[i], addition->items[i]);
        if (places[i] == NULL) return nigh__no_memory(error, "for blocks of terms");
    }
    if (!nigh__term_numbers_reserve(&gathered->numbers, addition->head.terms))
        return nigh__no_memory(error, "for blocks of terms");
    struct nigh__blocks *shown = &gathered->shown;
    const uint64_t terms = addition->head.terms;
    const uint64_t blocks = addition->items[BEGINS];
    for (uint64_t i = 0; i < blocks; i++) ((uint64_t *)places[BEGINS])[i] = shown->postings + terms * (i + 1) / blocks;
    nigh__term_numbers_add(&gathered->numbers, addition->hashes, addition->head.terms, places[BLOCK_TERMS]);
    if (addition->source_length > 0) {
        *(uint64_t *)places[SOURCE_BEGINS] = gathered->arrays[SOURCE_BYTES].count - addition->source_length;
        memcpy(places[SOURCE_BYTES], addition->source, addition->source_length);
    }
    if (addition->head.id_length > 0) memcpy(places[IDS], addition->id, addition->head.id_length);
    shown->documents++;
    shown->blocks += (uint32_t)blocks;
    shown->postings += terms;
    shown->empty += terms == 0;
    *(uint32_t *)places[FIRST_BLOCKS] = shown->blocks;
    *(uint64_t *)places[ID_BEGINS] = gathered->arrays[IDS].count;
    *(uint64_t *)places[RECORD_NUMBERS] = reader->product.text.number;
    *(uint32_t *)places[SOURCE_NUMBERS] = (uint32_t)gathered->arrays[SOURCE_BEGINS].count - 1;
    return NIGH_OK;
}

/* Documents until memory is full, or there are no more. */
static nigh_status fill(struct nigh__block_reader *reader, struct gathered *gathered, nigh_error *error) {
    for (;;) {
        nigh_status status = NIGH_OK;
        if (!reader->waiting) {
            if (reader->options.limit != 0 && reader->documents == reader->options.limit) return NIGH_OK;
            status = nigh__pipeline_next(reader->pipeline, &reader->product, error);
            if (status == NIGH_END) return NIGH_OK;
            if (status != NIGH_OK) return status;
            reader->waiting = true;
        }
        const struct addition addition = plan_addition(reader, gathered);
        if (is_full(reader, gathered, &addition)) {
            gathered->shown.more = true;
            return NIGH_OK;
        }
        status = add_document(reader, gathered, &addition, error);
        if (status != NIGH_OK) return status;
        reader->waiting = false;
        reader->documents++;
    }
}

/* -------------------------------------------------------------- showing -- */

static nigh_status list_terms(struct gathered *gathered, nigh_error *error) {
    const nigh_context *context = gathered->shown.context;
    const uint32_t terms = gathered->numbers.terms;
    gathered->hashes = nigh__alloc_large(context, terms, sizeof *gathered->hashes);
    gathered->frequencies = nigh__alloc_large(context, terms, sizeof *gathered->frequencies);
    if (gathered->hashes == NULL || gathered->frequencies == NULL) return nigh__no_memory(error, "for blocks of terms");
    nigh__term_numbers_list(&gathered->numbers, gathered->hashes, gathered->frequencies);
    nigh__term_numbers_release(&gathered->numbers);
    gathered->shown.terms = terms;
    gathered->shown.hashes = gathered->hashes;
    gathered->shown.frequencies = gathered->frequencies;
    return NIGH_OK;
}

static nigh_status list_sources(struct gathered *gathered, nigh_error *error) {
    const size_t sources = gathered->arrays[SOURCE_BEGINS].count;
    const uint64_t *begins = array_at(gathered, SOURCE_BEGINS);
    gathered->source_names = nigh__alloc(gathered->shown.context, sources, sizeof *gathered->source_names);
    if (gathered->source_names == NULL) return nigh__no_memory(error, "for blocks of terms");
    for (size_t i = 0; i < sources; i++)
        gathered->source_names[i] = (const char *)array_at(gathered, SOURCE_BYTES) + begins[i];
    gathered->shown.sources = (uint32_t)sources;
    gathered->shown.source_names = gathered->source_names;
    return NIGH_OK;
}

static nigh_status show(struct nigh__block_reader *reader, struct gathered *gathered, nigh_error *error) {
    nigh_status status = list_terms(gathered, error);
    if (status == NIGH_OK) status = list_sources(gathered, error);
    struct nigh__blocks *shown = &gathered->shown;
    shown->begins = array_at(gathered, BEGINS);
    shown->block_terms = array_at(gathered, BLOCK_TERMS);
    shown->first_blocks = array_at(gathered, FIRST_BLOCKS);
    shown->record_numbers = array_at(gathered, RECORD_NUMBERS);
    shown->source_numbers = array_at(gathered, SOURCE_NUMBERS);
    shown->id_begins = array_at(gathered, ID_BEGINS);
    shown->ids = array_at(gathered, IDS);
    nigh__block_reader_describe(reader, &shown->reader);
    return status;
}

/* ----------------------------------------------------------------- outside -- */

static const size_t item_sizes[ARRAYS] = {
    [BEGINS] = sizeof(uint64_t),
    [BLOCK_TERMS] = sizeof(uint32_t),
    [FIRST_BLOCKS] = sizeof(uint32_t),
    [RECORD_NUMBERS] = sizeof(uint64_t),
    [SOURCE_NUMBERS] = sizeof(uint32_t),
    [ID_BEGINS] = sizeof(uint64_t),
    [IDS] = sizeof(char),
    [SOURCE_BEGINS] = sizeof(uint64_t),
    [SOURCE_BYTES] = sizeof(char),
};

/* Begins, first blocks and id begins have one more: they start with 0. */
static nigh_status gathered_new(const struct nigh__block_reader *reader, struct gathered **out, nigh_error *error) {
    struct gathered *gathered = nigh__alloc_zero(reader->context, 1, sizeof *gathered);
    *out = gathered;
    if (gathered == NULL) return nigh__no_memory(error, "for blocks of terms");
    gathered->shown.context = reader->context;
    gathered->shown.plan = reader->options.plan;
    nigh__term_numbers_init(reader->context, &gathered->numbers);
    for (size_t i = 0; i < ARRAYS; i++) gathered->arrays[i].item_size = item_sizes[i];
    uint64_t *begin = nigh__array_add(reader->context, &gathered->arrays[BEGINS], 1);
    uint32_t *first_block = nigh__array_add(reader->context, &gathered->arrays[FIRST_BLOCKS], 1);
    uint64_t *id_begin = nigh__array_add(reader->context, &gathered->arrays[ID_BEGINS], 1);
    if (begin == NULL || first_block == NULL || id_begin == NULL) return nigh__no_memory(error, "for blocks of terms");
    *begin = 0;
    *first_block = 0;
    *id_begin = 0;
    return NIGH_OK;
}

nigh_status nigh__block_reader_next(struct nigh__block_reader *reader, struct nigh__blocks **out, nigh_error *error) {
    *out = NULL;
    struct gathered *gathered;
    nigh_status status = gathered_new(reader, &gathered, error);
    if (status == NIGH_OK) status = fill(reader, gathered, error);
    if (status == NIGH_OK) status = gathered->shown.documents == 0 ? NIGH_END : show(reader, gathered, error);
    if (status == NIGH_OK)
        *out = &gathered->shown;
    else if (gathered != NULL)
        nigh__blocks_free(&gathered->shown);
    return status;
}

void nigh__blocks_free(struct nigh__blocks *blocks) {
    if (blocks == NULL) return;
    struct gathered *gathered = (struct gathered *)(void *)blocks;
    const nigh_context *context = blocks->context;
    for (size_t i = 0; i < ARRAYS; i++) nigh__array_release(context, &gathered->arrays[i]);
    nigh__term_numbers_release(&gathered->numbers);
    nigh__free(context, gathered->hashes);
    nigh__free(context, gathered->frequencies);
    nigh__free(context, gathered->source_names);
    nigh__free(context, gathered);
}

nigh_status nigh__block_reader_open(const nigh_context *context, nigh_text_reader *reader,
                                    const struct nigh__block_options *options, struct nigh__block_reader **out,
                                    nigh_error *error) {
    *out = NULL;
    if (options->block_terms == 0) return nigh__fail(error, NIGH_EINVAL, "blocks of no term");
    if (options->plan.kind != NIGH_FEATURES_WORDS) return nigh__fail(error, NIGH_EINVAL, "terms must be words");
    struct nigh__block_reader *made = nigh__alloc_zero(context, 1, sizeof *made);
    if (made == NULL) return nigh__no_memory(error, "for blocks of terms");
    made->context = context;
    made->options = *options;
    if (options->memory_bytes == 0) made->options.memory_bytes = USUAL_MEMORY;
    const struct nigh__pipeline_work steps = {made, worker_new, worker_free, work, NULL};
    nigh_status status =
        nigh__pipeline_open(reader, &steps, options->threads, options->progress, &made->pipeline, error);
    if (status != NIGH_OK) {
        nigh__block_reader_close(made);
        return status;
    }
    *out = made;
    return NIGH_OK;
}

void nigh__block_reader_describe(const struct nigh__block_reader *reader, nigh_text_reader_info *out) {
    uint64_t nothing; /* a document without a term is here, so this stays 0 */
    *out = (nigh_text_reader_info){.size = sizeof(nigh_text_reader_info)};
    nigh__pipeline_describe(reader->pipeline, out, &nothing);
}

void nigh__block_reader_close(struct nigh__block_reader *reader) {
    if (reader == NULL) return;
    nigh__pipeline_close(reader->pipeline);
    nigh__free(reader->context, reader);
}
