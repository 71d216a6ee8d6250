/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document's features, labels and names, on any thread.
 *
 * Names.  Of words the analyser tells, where it finds one that it does not remember.
 * Others have to be spelled again, which costs several times what finding them does; so
 * a thread remembers which features it has named, in a small table in which the newer
 * takes the place of the older, and spells only a text that has one it does not
 * remember.  A thread meets documents in the order of the input, so the first document
 * of all to have a feature always comes with its name; those that come again are
 * passed over.
 */
#include "learn/labelled_parts.h"

#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "document/utf8.h"
#include "text/feature_name.h"

#define NAMED_BITS 18
#define MANY_NAMES ((size_t)4 << 20) /* bytes; memory for more is given back */

struct worker {
    const struct nigh__labelled_plan *plan;
    struct nigh__featurer *featurer;
    struct nigh__feature_namer namer;
    uint64_t *named;          /* hashes by their highest bits; 0: none */
    struct nigh__array names; /* of the document at hand, as in a product */
};

/* ------------------------------------------------------------------ names */

static uint64_t *named_place(const struct worker *worker, uint64_t hash) {
    return &worker->named[hash >> (64 - NAMED_BITS)];
}

static bool any_unnamed(const struct worker *worker, const struct nigh__features *features) {
    for (size_t i = 0; i < features->count; i++)
        if (*named_place(worker, features->hashes[i]) != features->hashes[i]) return true;
    return false;
}

static bool name_add(void *user, uint64_t hash, const char *name, size_t length) {
    struct worker *worker = user;
    uint64_t *place = named_place(worker, hash);
    if (*place == hash) return true;
    *place = hash;
    if (length > NIGH__LABELLED_MAX_NAME) length = nigh__utf8_cut(name, NIGH__LABELLED_MAX_NAME);
    uint8_t *out = nigh__array_add(worker->plan->context, &worker->names, sizeof hash + 1 + length);
    if (out == NULL) return false;
    nigh__store64(out, hash);
    out[sizeof hash] = (uint8_t)length;
    memcpy(out + sizeof hash + 1, name, length);
    return true;
}

static bool term_name_add(void *user, uint32_t number, uint64_t hash, const char *name, size_t length) {
    (void)number;
    return name_add(user, hash, name, length);
}

/* ---------------------------------------------------------------- workers */

static nigh_status worker_new(void *user, void **out, nigh_error *error) {
    const struct nigh__labelled_plan *plan = user;
    struct worker *worker = nigh__alloc_zero(plan->context, 1, sizeof *worker);
    *out = worker;
    if (worker == NULL) return nigh__no_memory(error, "for a labelled document");
    worker->plan = plan;
    worker->names = (struct nigh__array)NIGH__ARRAY(uint8_t);
    worker->named = nigh__alloc_table(plan->context, (size_t)1 << NAMED_BITS, sizeof *worker->named);
    if (worker->named == NULL) return nigh__no_memory(error, "for a labelled document");
    nigh_status status = nigh__feature_namer_init(plan->context, &plan->features, &worker->namer, error);
    if (status == NIGH_OK) status = nigh__featurer_new(plan->context, &plan->features, &worker->featurer, error);
    if (status == NIGH_OK) nigh__featurer_listen(worker->featurer, term_name_add, worker);
    return status;
}

static void worker_free(void *user, void *opaque) {
    const struct nigh__labelled_plan *plan = user;
    struct worker *worker = opaque;
    if (worker == NULL) return;
    nigh__featurer_free(worker->featurer);
    nigh__feature_namer_release(&worker->namer);
    nigh__array_release(plan->context, &worker->names);
    nigh__free(plan->context, worker->named);
    nigh__free(plan->context, worker);
}

/* --------------------------------------------------------------- products */

/* What follows the first empty line, or all where there is none. */
static const char *behind_headers(const char *text, size_t *length) {
    for (size_t at = 0; at < *length;) {
        const char *end = memchr(text + at, '\n', *length - at);
        if (end == NULL) break;
        const size_t line = (size_t)(end - text) - at;
        const bool empty = line == 0 || (line == 1 && text[at] == '\r');
        at += line + 1;
        if (!empty) continue;
        *length -= at;
        return text + at;
    }
    return text;
}

static bool is_word(const char *text, size_t length, const char *word) {
    size_t at = 0;
    while (at < length && word[at] != '\0' && (text[at] | 0x20) == word[at]) at++;
    return at == length && word[at] == '\0';
}

/* Whoever does not say is neither, unless nobody says: labelled.c sees to that. */
static uint32_t part_of(const nigh_text *text) {
    if (text->part == NULL) return NIGH__PART_SILENT;
    if (is_word(text->part, text->part_length, "train")) return NIGH__PART_TRAIN;
    if (is_word(text->part, text->part_length, "test")) return NIGH__PART_TEST;
    return NIGH__PART_OTHER;
}

static void put_counts(const struct nigh__features *features, uint8_t *out) {
    for (size_t i = 0; i < features->count; i++, out += NIGH__LABELLED_COUNT) {
        nigh__store64(out, features->hashes[i]);
        nigh__store32(out + 8, features->counts[i]);
    }
}

static nigh_status give(const struct worker *worker, const struct nigh__features *features, const nigh_text *text,
                        struct nigh__array *product, nigh_error *error) {
    const size_t labels = text->label == NULL ? 0 : text->label_length, names = worker->names.count;
    const size_t counts = features->count * NIGH__LABELLED_COUNT;
    if (features->count > UINT32_MAX || labels > UINT32_MAX || names > UINT32_MAX)
        return nigh__no_memory(error, "for a labelled document");
    uint8_t *out =
        nigh__array_add(worker->plan->product_context, product, NIGH__LABELLED_HEAD + counts + labels + names);
    if (out == NULL) return nigh__no_memory(error, "for a labelled document");
    nigh__store32(out, (uint32_t)features->count);
    nigh__store32(out + 4, (uint32_t)labels);
    nigh__store32(out + 8, (uint32_t)names);
    nigh__store32(out + 12, part_of(text));
    out += NIGH__LABELLED_HEAD;
    put_counts(features, out);
    if (labels > 0) memcpy(out + counts, text->label, labels);
    if (names > 0) memcpy(out + counts + labels, worker->names.data, names);
    return NIGH_OK;
}

static nigh_status work(void *opaque, const nigh_text *text, struct nigh__array *product, nigh_error *error) {
    struct worker *worker = opaque;
    const struct nigh__labelled_plan *plan = worker->plan;
    struct nigh__features features;
    const char *body = text->text;
    size_t length = text->text_length;
    if (plan->strip_headers) body = behind_headers(body, &length);
    if (worker->names.capacity > MANY_NAMES) nigh__array_release(plan->context, &worker->names);
    worker->names.count = 0;
    nigh_status status = nigh__featurer_find(worker->featurer, body, length, &features, error);
    if (status != NIGH_OK) return status;
    if (features.count == 0) return NIGH_ENOTFOUND;
    if (plan->features.kind != NIGH_FEATURES_WORDS && any_unnamed(worker, &features))
        status = nigh__feature_names(&worker->namer, body, length, name_add, worker, error);
    return status == NIGH_OK ? give(worker, &features, text, product, error) : status;
}

struct nigh__pipeline_work nigh__labelled_work(struct nigh__labelled_plan *plan) {
    return (struct nigh__pipeline_work){plan, worker_new, worker_free, work, NULL};
}
