/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vocabularies as bytes: checked once when they come in, then read as they lie.
 */
#include "text/vocabulary.h"

#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/hash_places.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/replacement.h"
#include "base/rng.h"
#include "base/status.h"
#include "text/vocabulary_parts.h"

struct nigh_vocabulary {
    const nigh_context *context;
    uint8_t *bytes; /* owned, aligned to 8 */
    size_t length;
    char *analysis; /* owned */
    uint64_t n;
    uint64_t occurrences, documents;
    bool sketch;
    const struct nigh__vocabulary_entry *entries; /* exact: n of them, in `bytes` */
    const uint32_t *occurrences_of;               /* sketch: NIGH__VOCABULARY_ROWS * n, in `bytes` */
    const uint32_t *documents_of;
    struct nigh__hash_places places; /* exact: where to look for a hash */
};

/* -------------------------------------------------------------- checking -- */

uint64_t nigh__vocabulary_checksum(const uint8_t *bytes, size_t length) {
    return nigh__hash_around(bytes, length, VOCABULARY_CHECKSUM);
}

/* Bytes behind the analysis text that `n` entries take; false where that is absurd. */
static bool body_length(bool sketch, uint64_t n, uint64_t *out) {
    return nigh__multiply64(n, sketch ? NIGH__VOCABULARY_ROWS * 8u : 16u, out);
}

static const char *header_problem(const uint8_t *bytes, size_t length) {
    if (length < VOCABULARY_HEADER || memcmp(bytes, NIGH__VOCABULARY_MAGIC, 8) != 0) return "not a vocabulary";
    uint64_t body = 0;
    uint32_t kind = nigh__load32(bytes + VOCABULARY_KIND);
    uint64_t text = nigh__round_up(nigh__load32(bytes + VOCABULARY_TEXT_LENGTH), 8);
    if (kind > 1) return "a vocabulary of an unknown kind";
    if (text > VOCABULARY_MAX_TEXT) return "the analysis of a vocabulary is too long";
    if (!body_length(kind == 1, nigh__load64(bytes + VOCABULARY_N), &body) || body > length ||
        VOCABULARY_HEADER + text + body != length)
        return "a vocabulary of another length than it says";
    if (nigh__load64(bytes + VOCABULARY_CHECKSUM) != nigh__vocabulary_checksum(bytes, length))
        return "a vocabulary that fails its checksum";
    return NULL;
}

static const char *body_problem(const nigh_vocabulary *vocabulary) {
    if (vocabulary->sketch)
        return vocabulary->n == 0 || (vocabulary->n & (vocabulary->n - 1)) != 0 ? "a sketch of a wrong size" : NULL;
    if (!nigh__hash_places_ascend(vocabulary->entries, sizeof *vocabulary->entries, vocabulary->n))
        return "a vocabulary out of order";
    return NULL;
}

/* Finds its way in the bytes, which have the right length. */
static nigh_status lay_out(nigh_vocabulary *vocabulary, nigh_error *error) {
    const uint8_t *bytes = vocabulary->bytes;
    uint32_t text_length = nigh__load32(bytes + VOCABULARY_TEXT_LENGTH);
    vocabulary->sketch = nigh__load32(bytes + VOCABULARY_KIND) == 1;
    vocabulary->n = nigh__load64(bytes + VOCABULARY_N);
    vocabulary->occurrences = nigh__load64(bytes + VOCABULARY_OCCURRENCES);
    vocabulary->documents = nigh__load64(bytes + VOCABULARY_DOCUMENTS);
    vocabulary->analysis = nigh__alloc_zero(vocabulary->context, (size_t)text_length + 1, 1);
    if (vocabulary->analysis == NULL) return nigh__no_memory(error, "for a vocabulary");
    memcpy(vocabulary->analysis, bytes + VOCABULARY_HEADER, text_length);

    const uint8_t *body = bytes + VOCABULARY_HEADER + nigh__round_up(text_length, 8);
    if (vocabulary->sketch) {
        vocabulary->occurrences_of = (const uint32_t *)(const void *)body;
        vocabulary->documents_of = vocabulary->occurrences_of + vocabulary->n * NIGH__VOCABULARY_ROWS;
    } else {
        vocabulary->entries = (const struct nigh__vocabulary_entry *)(const void *)body;
    }
    const char *problem = body_problem(vocabulary);
    return problem == NULL ? NIGH_OK : nigh__fail(error, NIGH_ECORRUPT, "%s", problem);
}

static nigh_status find_places(nigh_vocabulary *vocabulary, nigh_error *error) {
    return nigh__hash_places_init(vocabulary->context, vocabulary->entries, sizeof *vocabulary->entries, vocabulary->n,
                                  &vocabulary->places)
               ? NIGH_OK
               : nigh__no_memory(error, "for a vocabulary");
}

/* Takes over `bytes`, also where it fails. */
nigh_status nigh__vocabulary_own(const nigh_context *context, uint8_t *bytes, size_t length, nigh_vocabulary **out,
                                 nigh_error *error) {
    *out = NULL;
    nigh_status status = NIGH_OK;
    const char *problem = header_problem(bytes, length);
    if (length >= VOCABULARY_HEADER && memcmp(bytes, NIGH__VOCABULARY_MAGIC, 8) == 0 &&
        nigh__load32(bytes + VOCABULARY_VERSION) != 1)
        status = nigh__fail(error, NIGH_EVERSION, "a vocabulary of version %u; this nigh knows 1",
                            nigh__load32(bytes + VOCABULARY_VERSION));
    else if (problem != NULL)
        status = nigh__fail(error, NIGH_ECORRUPT, "%s", problem);
    nigh_vocabulary *vocabulary = status == NIGH_OK ? nigh__alloc_zero(context, 1, sizeof *vocabulary) : NULL;
    if (vocabulary == NULL) {
        nigh__free(context, bytes);
        return status != NIGH_OK ? status : nigh__no_memory(error, "for a vocabulary");
    }
    *vocabulary = (nigh_vocabulary){.context = context, .bytes = bytes, .length = length};
    status = lay_out(vocabulary, error);
    if (status == NIGH_OK && !vocabulary->sketch) status = find_places(vocabulary, error);
    if (status != NIGH_OK) {
        nigh_vocabulary_free(vocabulary);
        return status;
    }
    *out = vocabulary;
    return NIGH_OK;
}

nigh_status nigh_vocabulary_parse(nigh_context *context, const void *bytes, size_t length, nigh_vocabulary **out,
                                  nigh_error *error) {
    *out = NULL;
    uint8_t *copy = nigh__alloc(context, length, 1);
    if (copy == NULL) return nigh__no_memory(error, "for a vocabulary");
    if (length > 0) memcpy(copy, bytes, length);
    return nigh__vocabulary_own(context, copy, length, out, error);
}

void nigh_vocabulary_free(nigh_vocabulary *vocabulary) {
    if (vocabulary == NULL) return;
    const nigh_context *context = vocabulary->context;
    nigh__free(context, vocabulary->bytes);
    nigh__free(context, vocabulary->analysis);
    nigh__hash_places_release(context, &vocabulary->places);
    nigh__free(context, vocabulary);
}

/* --------------------------------------------------------------- asking -- */

size_t nigh__sketch_place(uint64_t hash, uint32_t row, uint64_t n) {
    return (size_t)(row * n + (nigh__mix(hash + row) & (n - 1)));
}

static struct nigh__occurrence find_in_sketch(const nigh_vocabulary *vocabulary, uint64_t hash) {
    struct nigh__occurrence least = {UINT32_MAX, UINT32_MAX};
    for (uint32_t row = 0; row < NIGH__VOCABULARY_ROWS; row++) {
        size_t place = nigh__sketch_place(hash, row, vocabulary->n);
        if (vocabulary->occurrences_of[place] < least.occurrences)
            least.occurrences = vocabulary->occurrences_of[place];
        if (vocabulary->documents_of[place] < least.documents) least.documents = vocabulary->documents_of[place];
    }
    return least;
}

struct nigh__occurrence nigh__vocabulary_find(const nigh_vocabulary *vocabulary, uint64_t hash) {
    if (vocabulary->sketch) return find_in_sketch(vocabulary, hash);
    const uint64_t at = nigh__hash_places_find(&vocabulary->places, hash);
    return at == UINT64_MAX ? (struct nigh__occurrence){0, 0} : vocabulary->entries[at].found;
}

uint64_t nigh__vocabulary_occurrences(const nigh_vocabulary *vocabulary) { return vocabulary->occurrences; }
uint64_t nigh__vocabulary_documents(const nigh_vocabulary *vocabulary) { return vocabulary->documents; }
const char *nigh__vocabulary_analysis(const nigh_vocabulary *vocabulary) { return vocabulary->analysis; }
uint64_t nigh__vocabulary_name(const nigh_vocabulary *vocabulary) {
    return nigh__load64(vocabulary->bytes + VOCABULARY_CHECKSUM);
}

struct nigh__vocabulary_body nigh__vocabulary_body(const nigh_vocabulary *vocabulary) {
    return (struct nigh__vocabulary_body){
        .n = vocabulary->n, .entries = vocabulary->entries, .sketch = vocabulary->occurrences_of};
}

const void *nigh_vocabulary_bytes(const nigh_vocabulary *vocabulary, size_t *length) {
    *length = vocabulary->length;
    return vocabulary->bytes;
}

void nigh_vocabulary_describe(const nigh_vocabulary *vocabulary, nigh_vocabulary_info *out) {
    nigh_vocabulary_info info = {
        .size = out->size,
        .terms = vocabulary->sketch ? 0 : vocabulary->n,
        .occurrences = vocabulary->occurrences,
        .documents = vocabulary->documents,
        .bytes = vocabulary->length,
        .sketch = vocabulary->sketch,
    };
    nigh__info_copy(out, &info, sizeof info);
}

/* ---------------------------------------------------------------- files -- */

nigh_status nigh_vocabulary_load(nigh_context *context, const char *path, nigh_vocabulary **out, nigh_error *error) {
    *out = NULL;
    uint8_t *bytes = NULL;
    size_t length = 0;
    nigh_status status = nigh__file_load(context, path, VOCABULARY_MAX_LENGTH, "a vocabulary", &bytes, &length, error);
    if (status != NIGH_OK) return status;
    nigh_error inner;
    status = nigh__vocabulary_own(context, bytes, length, out, &inner);
    return status == NIGH_OK ? NIGH_OK : nigh__fail_at(error, status, path, NIGH_NO_OFFSET, "%s", inner.why);
}

nigh_status nigh_vocabulary_save(const nigh_vocabulary *vocabulary, const char *path, nigh_error *error) {
    return nigh__file_replace(vocabulary->context, path, vocabulary->bytes, vocabulary->length, error);
}
