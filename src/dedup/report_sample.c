/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choosing takes a few passes over the documents in memory. Then the texts of at most a
 * hundred of them are read in one pass over the input, which extracts no others.
 */
#include "dedup/report_sample.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/progress.h"
#include "base/status.h"
#include "document/extract.h"
#include "document/split.h"
#include "document/utf8.h"

#define BATCH_BYTES ((size_t)256 << 10)
#define MAX_TYPICAL 1024u /* clusters larger than so many are not typical */
#define NO_PLACE SIZE_MAX

struct chosen {
    uint64_t kept;
    uint64_t documents;
    bool typical;
    uint64_t near[NIGH__SAMPLE_PAIRS]; /* members to show, the least alike first */
    unsigned near_count;
    uint64_t copy; /* one that is a copy; NIGH__NO_DOCUMENT: none */
    size_t others, other_count;
};

struct text {
    uint64_t document;
    size_t place, length; /* in the bytes; NO_PLACE: not read */
    bool cut;
};

static struct chosen *chosen_at(const struct nigh__sample *sample, size_t index) {
    return (struct chosen *)sample->chosen.data + index;
}

/* ------------------------------------------------------------------ choosing */

static nigh_status sizes_count(const nigh_dedup *dedup, struct nigh__sample *sample, nigh_error *error) {
    size_t count = dedup->documents.count;
    sample->sizes = nigh__alloc_zero(dedup->context, count, sizeof sample->sizes[0]);
    if (sample->sizes == NULL) return nigh__no_memory(error, "for the report");
    for (uint64_t i = 0; i < count; i++) sample->sizes[nigh__dedup_document(dedup, i)->kept]++;
    return NIGH_OK;
}

static nigh_status choose(struct nigh__sample *sample, uint64_t kept, bool typical, nigh_error *error) {
    struct chosen *slot = nigh__array_add(sample->context, &sample->chosen, 1);
    if (slot == NULL) return nigh__no_memory(error, "for the report");
    *slot =
        (struct chosen){.kept = kept, .documents = sample->sizes[kept], .typical = typical, .copy = NIGH__NO_DOCUMENT};
    return NIGH_OK;
}

/* The largest ones, of equals the earlier. */
static nigh_status choose_largest(const nigh_dedup *dedup, struct nigh__sample *sample, nigh_error *error) {
    uint64_t best[NIGH__SAMPLE_CLUSTERS];
    size_t count = 0;
    for (uint64_t i = 0; i < dedup->documents.count; i++) {
        if (sample->sizes[i] < 2) continue;
        if (count == NIGH__SAMPLE_CLUSTERS && sample->sizes[i] <= sample->sizes[best[count - 1]]) continue;
        size_t at = count < NIGH__SAMPLE_CLUSTERS ? count++ : count - 1;
        for (; at > 0 && sample->sizes[best[at - 1]] < sample->sizes[i]; at--) best[at] = best[at - 1];
        best[at] = i;
    }
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < count && status == NIGH_OK; i++) status = choose(sample, best[i], false, error);
    return status;
}

static bool is_chosen(const struct nigh__sample *sample, uint64_t kept) {
    for (size_t i = 0; i < sample->chosen.count; i++)
        if (chosen_at(sample, i)->kept == kept) return true;
    return false;
}

/* The size that most clusters have, the smaller of equals; 0: there is none. */
static uint64_t typical_size(const nigh_dedup *dedup, const struct nigh__sample *sample) {
    uint64_t counts[MAX_TYPICAL + 1] = {0};
    uint64_t best = 0;
    for (size_t i = 0; i < dedup->documents.count; i++)
        if (sample->sizes[i] >= 2 && sample->sizes[i] <= MAX_TYPICAL) counts[sample->sizes[i]]++;
    for (uint64_t size = 2; size <= MAX_TYPICAL; size++)
        if (counts[size] > counts[best]) best = size;
    return best;
}

static bool is_copy(const nigh_dedup *dedup, uint64_t a, uint64_t b) {
    return nigh__dedup_document(dedup, a)->copy_of == nigh__dedup_document(dedup, b)->copy_of;
}

/* By document: whether the cluster it is kept for has a member that is no copy of it. */
static bool *find_near(const nigh_dedup *dedup) {
    bool *near = nigh__alloc_zero(dedup->context, dedup->documents.count, sizeof near[0]);
    for (uint64_t i = 0; near != NULL && i < dedup->documents.count; i++) {
        uint64_t kept = nigh__dedup_document(dedup, i)->kept;
        if (!is_copy(dedup, i, kept)) near[kept] = true;
    }
    return near;
}

/* Those of the size that have (or not) near-copies, spread over the input; as many as are still wanted. */
static nigh_status choose_spread(const nigh_dedup *dedup, struct nigh__sample *sample, uint64_t size, const bool *near,
                                 bool wanted, size_t *left, nigh_error *error) {
    uint64_t there = 0, seen = 0, taken = 0;
    size_t count = dedup->documents.count;
    uint64_t most = *left;
    size_t before = sample->chosen.count;
    for (uint64_t i = 0; i < count; i++)
        there += sample->sizes[i] == size && near[i] == wanted && !is_chosen(sample, i);
    if (most > there) most = there;
    for (uint64_t i = 0; i < count && taken < most; i++) {
        if (sample->sizes[i] != size || near[i] != wanted || is_chosen(sample, i)) continue;
        if (seen++ < taken * there / most) continue;
        nigh_status status = choose(sample, i, true, error);
        if (status != NIGH_OK) return status;
        taken++;
    }
    *left -= sample->chosen.count - before;
    return NIGH_OK;
}

static nigh_status choose_typical(const nigh_dedup *dedup, struct nigh__sample *sample, nigh_error *error) {
    size_t left = NIGH__SAMPLE_CLUSTERS;
    uint64_t size = typical_size(dedup, sample);
    if (size == 0) return NIGH_OK;
    bool *near = find_near(dedup);
    if (near == NULL) return nigh__no_memory(error, "for the report");
    nigh_status status = choose_spread(dedup, sample, size, near, true, &left, error);
    if (status == NIGH_OK) status = choose_spread(dedup, sample, size, near, false, &left, error);
    nigh__free(dedup->context, near);
    return status;
}

/* ------------------------------------------------------------------- members */

/* One of the least alike, each text once. */
static void near_add(const nigh_dedup *dedup, struct chosen *chosen, uint64_t document) {
    const struct nigh__duplicate *own = nigh__dedup_document(dedup, document);
    unsigned count = chosen->near_count;
    for (unsigned i = 0; i < count; i++)
        if (is_copy(dedup, chosen->near[i], document)) return;
    unsigned at = count;
    while (at > 0 && nigh__dedup_document(dedup, chosen->near[at - 1])->similarity > own->similarity) at--;
    if (at == NIGH__SAMPLE_PAIRS) return;
    if (count < NIGH__SAMPLE_PAIRS) chosen->near_count = ++count;
    for (unsigned i = count - 1; i > at; i--) chosen->near[i] = chosen->near[i - 1];
    chosen->near[at] = document;
}

static void members_look(const nigh_dedup *dedup, struct nigh__sample *sample, const uint8_t *slots) {
    for (uint64_t i = 0; i < dedup->documents.count; i++) {
        uint64_t kept = nigh__dedup_document(dedup, i)->kept;
        if (slots[kept] == 0 || kept == i) continue;
        struct chosen *chosen = chosen_at(sample, slots[kept] - 1u);
        if (!is_copy(dedup, i, kept))
            near_add(dedup, chosen, i);
        else if (chosen->copy == NIGH__NO_DOCUMENT)
            chosen->copy = i;
    }
}

/* Where there is room, a copy is shown too. */
static void copies_show(struct nigh__sample *sample) {
    for (size_t i = 0; i < sample->chosen.count; i++) {
        struct chosen *chosen = chosen_at(sample, i);
        if (chosen->copy != NIGH__NO_DOCUMENT && chosen->near_count < NIGH__SAMPLE_PAIRS)
            chosen->near[chosen->near_count++] = chosen->copy;
    }
}

static bool is_shown(const struct chosen *chosen, uint64_t document) {
    for (unsigned i = 0; i < chosen->near_count; i++)
        if (chosen->near[i] == document) return true;
    return document == chosen->kept;
}

/* --------------------------------------------------------------------- texts */

static int text_compare(const void *a, const void *b) {
    uint64_t left = ((const struct text *)a)->document, right = ((const struct text *)b)->document;
    return (left > right) - (left < right);
}

static nigh_status text_want(struct nigh__sample *sample, uint64_t document, nigh_error *error) {
    struct text *text = nigh__array_add(sample->context, &sample->texts, 1);
    if (text == NULL) return nigh__no_memory(error, "for the report");
    *text = (struct text){.document = document, .place = NO_PLACE};
    return NIGH_OK;
}

/* A document is in one cluster, so each is wanted once. */
static nigh_status texts_want(struct nigh__sample *sample, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < sample->chosen.count && status == NIGH_OK; i++) {
        const struct chosen *chosen = chosen_at(sample, i);
        status = text_want(sample, chosen->kept, error);
        for (unsigned k = 0; k < chosen->near_count && status == NIGH_OK; k++)
            status = text_want(sample, chosen->near[k], error);
    }
    if (sample->texts.count > 1) qsort(sample->texts.data, sample->texts.count, sizeof(struct text), text_compare);
    return status;
}

static nigh_status text_keep(struct nigh__sample *sample, struct text *text, const nigh_text *found,
                             nigh_error *error) {
    text->place = sample->bytes.count;
    text->length = found->text_length;
    text->cut = found->text_length > NIGH__REPORT_MAX_COMPARED;
    if (text->cut) text->length = nigh__utf8_cut(found->text, NIGH__REPORT_MAX_TEXT);
    return nigh__bytes_append(sample->context, &sample->bytes, found->text, text->length)
               ? NIGH_OK
               : nigh__no_memory(error, "for the report");
}

/* Of one batch those that are wanted; *next is the first text not read yet. */
static nigh_status batch_read(const nigh_dedup *dedup, struct nigh__sample *sample, struct nigh__extractor *extractor,
                              const struct nigh__batch *batch, size_t *next, nigh_error *error) {
    for (size_t i = 0; i < batch->records.count && *next < sample->texts.count; i++) {
        const struct nigh__record *record = nigh__batch_record(batch, i);
        struct text *text = (struct text *)sample->texts.data + *next;
        if (record->number != nigh__dedup_document(dedup, text->document)->number) continue;
        nigh_text found;
        uint64_t repaired;
        nigh_error why;
        nigh_status status = record->kind == NIGH__RECORD_PROBLEM
                                 ? NIGH_EFORMAT
                                 : nigh__extract(extractor, batch, record, &found, &repaired, &why);
        if (status == NIGH_ENOMEM) return nigh__no_memory(error, "for the report");
        if (status != NIGH_OK)
            return nigh__fail_at(error, NIGH_ECORRUPT, nigh__batch_bytes(batch, record->source), NIGH_NO_OFFSET,
                                 "changed while it was being read");
        status = text_keep(sample, text, &found, error);
        if (status != NIGH_OK) return status;
        (*next)++;
    }
    return NIGH_OK;
}

static nigh_status input_read(const nigh_dedup *dedup, struct nigh__sample *sample, nigh_text_reader *reader,
                              struct nigh__extractor *extractor, struct nigh__batch *batch, nigh_error *error) {
    struct nigh__progress progress;
    struct nigh__splitter *splitter = nigh__text_reader_splitter(reader);
    nigh_text_reader_info info = {.size = sizeof info};
    size_t next = 0;
    nigh__progress_init(&progress, dedup->options.progress);
    while (next < sample->texts.count && batch->status == NIGH_OK) {
        nigh__splitter_fill(splitter, batch, BATCH_BYTES);
        nigh_status status = batch_read(dedup, sample, extractor, batch, &next, error);
        if (status != NIGH_OK) return status;
        nigh__splitter_describe(splitter, &info);
        if (nigh__reading_tick(&progress, "reading for the report", &info)) return nigh__progress_cancelled(error);
    }
    if (batch->status != NIGH_OK && batch->status != NIGH_END) {
        if (error != NULL) *error = batch->error;
        return batch->status;
    }
    if (next < sample->texts.count)
        return nigh__fail_at(error, NIGH_ECORRUPT, nigh__rereading_name(dedup->source), NIGH_NO_OFFSET,
                             "changed while it was being read");
    return NIGH_OK;
}

static nigh_status texts_read(nigh_dedup *dedup, struct nigh__sample *sample, nigh_error *error) {
    nigh_text_reader *reader = NULL;
    struct nigh__extractor *extractor = NULL;
    struct nigh__batch batch;
    if (dedup->source == NULL || sample->texts.count == 0) return NIGH_OK;
    nigh__batch_init(&batch);
    nigh_status status = nigh__rereading_open(dedup->source, &reader, error);
    if (status == NIGH_OK)
        status = nigh__extractor_new(dedup->context, nigh__text_reader_options(reader), &extractor, error);
    if (status == NIGH_OK) status = input_read(dedup, sample, reader, extractor, &batch, error);
    if (status == NIGH_OK) status = nigh__rereading_check(dedup->source, reader, error);
    nigh__extractor_free(extractor);
    nigh__batch_release(dedup->context, &batch);
    nigh_text_reader_close(reader);
    return status;
}

/* ------------------------------------------------------------------- showing */

/* A number for an id: signatures have no other. */
static nigh_status number_name(struct nigh__sample *sample, uint64_t document, struct nigh__report_text *out,
                               nigh_error *error) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, document);
    char *copy = nigh__alloc(sample->context, (size_t)length + 1, 1);
    char **slot = copy == NULL ? NULL : nigh__array_add(sample->context, &sample->names, 1);
    if (slot == NULL) {
        nigh__free(sample->context, copy);
        return nigh__no_memory(error, "for the report");
    }
    memcpy(copy, digits, (size_t)length + 1);
    *slot = copy;
    out->id = copy;
    out->id_length = (size_t)length;
    return NIGH_OK;
}

static nigh_status id_show(const nigh_dedup *dedup, struct nigh__sample *sample, uint64_t document,
                           struct nigh__report_text *out, nigh_error *error) {
    const struct nigh__duplicate *own = nigh__dedup_document(dedup, document);
    *out = (struct nigh__report_text){.text = ""};
    if (dedup->source == NULL) return number_name(sample, document, out, error);
    out->id = (const char *)dedup->ids.data + own->id;
    out->id_length = own->id_length;
    out->record = own->number + 1;
    out->bytes = own->text_length;
    return NIGH_OK;
}

static nigh_status text_show(const nigh_dedup *dedup, struct nigh__sample *sample, uint64_t document,
                             struct nigh__report_text *out, nigh_error *error) {
    struct text key = {.document = document};
    const struct text *text = bsearch(&key, sample->texts.data, sample->texts.count, sizeof key, text_compare);
    nigh_status status = id_show(dedup, sample, document, out, error);
    if (status != NIGH_OK || text == NULL || text->place == NO_PLACE || text->length == 0) return status;
    out->text = (const char *)sample->bytes.data + text->place;
    out->text_length = text->length;
    out->cut = text->cut;
    return NIGH_OK;
}

static nigh_status pair_show(const nigh_dedup *dedup, struct nigh__sample *sample, uint64_t kept, uint64_t document,
                             nigh_error *error) {
    struct nigh__report_pair pair = {0};
    const struct nigh__duplicate *own = nigh__dedup_document(dedup, document);
    nigh_status status = text_show(dedup, sample, kept, &pair.kept, error);
    if (status == NIGH_OK) status = text_show(dedup, sample, document, &pair.other, error);
    pair.copy = is_copy(dedup, kept, document);
    pair.similarity = pair.copy ? 1.0 : dedup->verified ? (double)own->similarity : -1.0;
    pair.distance = own->distance;
    struct nigh__report_pair *slot = status == NIGH_OK ? nigh__array_add(sample->context, &sample->pairs, 1) : NULL;
    if (status == NIGH_OK && slot == NULL) return nigh__no_memory(error, "for the report");
    if (slot != NULL) *slot = pair;
    return status;
}

/* Ids of members that have no pair, cluster by cluster. */
static nigh_status others_show(const nigh_dedup *dedup, struct nigh__sample *sample, const uint8_t *slots,
                               nigh_error *error) {
    size_t total = 0;
    for (size_t i = 0; i < sample->chosen.count; i++) {
        struct chosen *chosen = chosen_at(sample, i);
        chosen->others = total;
        total += chosen->documents < NIGH__REPORT_MAX_IDS ? chosen->documents : NIGH__REPORT_MAX_IDS;
    }
    struct nigh__report_text *others = nigh__array_add(sample->context, &sample->others, total);
    if (total > 0 && others == NULL) return nigh__no_memory(error, "for the report");
    for (uint64_t i = 0; i < dedup->documents.count; i++) {
        uint64_t kept = nigh__dedup_document(dedup, i)->kept;
        if (slots[kept] == 0) continue;
        struct chosen *chosen = chosen_at(sample, slots[kept] - 1u);
        if (is_shown(chosen, i) || chosen->other_count == NIGH__REPORT_MAX_IDS) continue;
        nigh_status status = id_show(dedup, sample, i, &others[chosen->others + chosen->other_count++], error);
        if (status != NIGH_OK) return status;
    }
    return NIGH_OK;
}

/* Pairs lie in one array, which moves while it grows: clusters point into it only when it is whole. */
static nigh_status clusters_show(const nigh_dedup *dedup, struct nigh__sample *sample, nigh_error *error) {
    nigh_status status = NIGH_OK;
    for (size_t i = 0; i < sample->chosen.count; i++) {
        const struct chosen *chosen = chosen_at(sample, i);
        for (unsigned k = 0; k < chosen->near_count && status == NIGH_OK; k++)
            status = pair_show(dedup, sample, chosen->kept, chosen->near[k], error);
    }
    size_t pair = 0;
    for (size_t i = 0; i < sample->chosen.count && status == NIGH_OK; i++) {
        const struct chosen *chosen = chosen_at(sample, i);
        struct nigh__report_cluster cluster = {
            .documents = chosen->documents, .pair_count = chosen->near_count, .other_count = chosen->other_count};
        status = text_show(dedup, sample, chosen->kept, &cluster.kept, error);
        if (cluster.pair_count > 0) cluster.pairs = (struct nigh__report_pair *)sample->pairs.data + pair;
        if (cluster.other_count > 0) cluster.others = (struct nigh__report_text *)sample->others.data + chosen->others;
        pair += cluster.pair_count;
        struct nigh__array *list = chosen->typical ? &sample->typical : &sample->largest;
        struct nigh__report_cluster *slot = nigh__array_add(sample->context, list, 1);
        if (slot == NULL) return nigh__no_memory(error, "for the report");
        *slot = cluster;
    }
    return status;
}

static nigh_status sample_fill(nigh_dedup *dedup, struct nigh__sample *sample, uint8_t *slots, nigh_error *error) {
    for (size_t i = 0; i < sample->chosen.count; i++) slots[chosen_at(sample, i)->kept] = (uint8_t)(i + 1);
    members_look(dedup, sample, slots);
    copies_show(sample);
    nigh_status status = texts_want(sample, error);
    if (status == NIGH_OK) status = texts_read(dedup, sample, error);
    if (status == NIGH_OK) status = others_show(dedup, sample, slots, error);
    return status == NIGH_OK ? clusters_show(dedup, sample, error) : status;
}

nigh_status nigh__sample_take(nigh_dedup *dedup, struct nigh__sample *out, nigh_error *error) {
    *out = (struct nigh__sample){.context = dedup->context,
                                 .chosen = NIGH__ARRAY(struct chosen),
                                 .texts = NIGH__ARRAY(struct text),
                                 .bytes = NIGH__ARRAY(char),
                                 .names = NIGH__ARRAY(char *),
                                 .pairs = NIGH__ARRAY(struct nigh__report_pair),
                                 .others = NIGH__ARRAY(struct nigh__report_text),
                                 .largest = NIGH__ARRAY(struct nigh__report_cluster),
                                 .typical = NIGH__ARRAY(struct nigh__report_cluster)};
    nigh_status status = sizes_count(dedup, out, error);
    if (status == NIGH_OK) status = choose_largest(dedup, out, error);
    if (status == NIGH_OK) status = choose_typical(dedup, out, error);
    if (status != NIGH_OK) return status;
    uint8_t *slots = nigh__alloc_zero(dedup->context, dedup->documents.count, 1);
    if (slots == NULL) return nigh__no_memory(error, "for the report");
    status = sample_fill(dedup, out, slots, error);
    nigh__free(dedup->context, slots);
    return status;
}

void nigh__sample_release(struct nigh__sample *sample) {
    const nigh_context *context = sample->context;
    char **names = sample->names.data;
    for (size_t i = 0; i < sample->names.count; i++) nigh__free(context, names[i]);
    struct nigh__array *const arrays[] = {&sample->chosen, &sample->texts,  &sample->bytes,   &sample->names,
                                          &sample->pairs,  &sample->others, &sample->largest, &sample->typical};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) nigh__array_release(context, arrays[i]);
    nigh__free(context, sample->sizes);
}
