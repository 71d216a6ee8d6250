/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From labelled documents to a lesson: which documents to learn from, whether their labels
 * are good enough, which features, and the matrix by rows and by columns. By columns
 * first, going through the documents in order, so that rows ascend within a column; then
 * by rows, going through the columns in order, so that columns ascend within a row:
 * nothing is sorted.
 *
 * Memory: 28 bytes for each chosen feature of each row.
 */
#include "learn/lesson.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/logarithm.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/threads.h"
#include "learn/lesson_parts.h"
#include "signature/model.h"

#define SMALL_COUNTS 256u

/* A lesson with what it shows, to be written to and freed. */
struct own {
    struct nigh__lesson shown; /* first: a pointer to it is one to this */
    nigh_learn_options options;
    struct nigh__progress progress;
    struct nigh__choice choice;
    uint32_t *documents;
    uint64_t *begins, *column_begins, *class_begins;
    uint32_t *columns, *column_rows, *column_counts, *row_classes;
    double *values, *column_values;
    uint64_t *hashes;
};

nigh_status nigh__lesson_afford(const struct nigh__labelled *labelled, const nigh_learn_options *options, uint64_t more,
                                nigh_error *error) {
    uint64_t all;
    if (nigh__add64(labelled->bytes, more, &all) && all <= options->memory_bytes) return NIGH_OK;
    return nigh__fail(error, NIGH_ELIMIT,
                      "learning from %" PRIu32 " documents takes more than %" PRIu64
                      " MiB of memory: allow more, or learn from fewer documents",
                      labelled->documents, options->memory_bytes >> 20);
}

nigh_status nigh__lesson_allows(const struct nigh__lesson *lesson, uint64_t more, nigh_error *error) {
    const uint64_t limit = lesson->options->memory_bytes, needed = lesson->bytes + more;
    if (limit == 0 || needed <= limit) return NIGH_OK;
    (void)nigh__fail(error, NIGH_ELIMIT,
                     "learning by %s takes %" PRIu64 " MiB of memory, over the limit of %" PRIu64
                     " MiB: allow more, or take fewer features, bits or pairs",
                     nigh_learn_method_name(lesson->options->method), needed >> 20, limit >> 20);
    return NIGH_ELIMIT;
}

/* ----------------------------------------------------------------- pupils */

static bool has_class(const struct nigh__labelled *labelled, uint32_t document) {
    return labelled->class_begins[document + 1] > labelled->class_begins[document];
}

/* Those to learn from, and which have a label. */
static void pick_documents(struct nigh__pupils *pupils) {
    const struct nigh__labelled *labelled = pupils->labelled;
    for (uint32_t d = 0; d < labelled->documents; d++) {
        if (labelled->has_parts && labelled->parts[d] != NIGH__PART_TRAIN) continue;
        pupils->has_label[pupils->count] = has_class(labelled, d);
        pupils->with_label += pupils->has_label[pupils->count];
        pupils->documents[pupils->count++] = d;
    }
}

/* Exactly a share of the labels, rounded up, any choice of them as likely as another (Knuth's algorithm S). */
static void draw_labels(struct nigh__pupils *pupils, double share, uint64_t seed) {
    struct nigh__rng rng = {nigh__mix(seed ^ UINT64_C(0x6c6162656c73))};
    uint32_t left = pupils->with_label;
    uint32_t needed = (uint32_t)ceil(share * (double)left);
    for (uint32_t p = 0; p < pupils->count; p++) {
        if (pupils->has_label[p] == 0) continue;
        const bool kept = ((nigh__rng_next(&rng) >> 32) * left) >> 32 < needed;
        pupils->has_label[p] = kept;
        needed -= kept;
        left--;
    }
}

static void measure_classes(struct nigh__pupils *pupils) {
    const struct nigh__labelled *labelled = pupils->labelled;
    pupils->classes_used = pupils->classes_lone = pupils->largest_class = pupils->with_label = 0;
    for (uint32_t c = 0; c < labelled->classes; c++) pupils->class_sizes[c] = 0;
    for (uint32_t p = 0; p < pupils->count; p++) {
        const uint32_t d = pupils->documents[p];
        pupils->with_label += pupils->has_label[p];
        for (uint64_t i = labelled->class_begins[d]; pupils->has_label[p] && i < labelled->class_begins[d + 1]; i++)
            pupils->class_sizes[labelled->document_classes[i]]++;
    }
    for (uint32_t c = 0; c < labelled->classes; c++) {
        const uint32_t size = pupils->class_sizes[c];
        pupils->classes_used += size > 0;
        pupils->classes_lone += size == 1;
        if (size > pupils->class_sizes[pupils->largest_class]) pupils->largest_class = c;
    }
}

static nigh_status pupils_find(struct nigh__pupils *pupils, double share, uint64_t seed, nigh_error *error) {
    const struct nigh__labelled *labelled = pupils->labelled;
    pupils->documents = nigh__alloc(pupils->context, labelled->documents, sizeof *pupils->documents);
    pupils->has_label = nigh__alloc(pupils->context, labelled->documents, sizeof *pupils->has_label);
    pupils->class_sizes = nigh__alloc_zero(pupils->context, labelled->classes, sizeof *pupils->class_sizes);
    if (pupils->documents == NULL || pupils->has_label == NULL || pupils->class_sizes == NULL)
        return nigh__no_memory(error, "to learn from documents");
    pick_documents(pupils);
    if (share < 1) draw_labels(pupils, share, seed);
    measure_classes(pupils);
    return NIGH_OK;
}

static void pupils_release(struct nigh__pupils *pupils) {
    nigh__free(pupils->context, pupils->documents);
    nigh__free(pupils->context, pupils->has_label);
    nigh__free(pupils->context, pupils->class_sizes);
}

/* Whether there is something that labels can teach. */
static nigh_status check_labels(const struct nigh__pupils *pupils, nigh_error *error) {
    const struct nigh__labelled *labelled = pupils->labelled;
    if (pupils->with_label == 0 && labelled->label_key[0] != '\0')
        return nigh__fail(error, NIGH_EINVAL, "none of %" PRIu32 " documents has a label under '%s'", pupils->count,
                          labelled->label_key);
    if (pupils->with_label == 0)
        return nigh__fail(error, NIGH_EINVAL,
                          "none of %" PRIu32 " documents has a label: say where they are (label_key)", pupils->count);
    const char *largest = labelled->class_names[pupils->largest_class];
    if (pupils->classes_used == 1)
        return nigh__fail(error, NIGH_EINVAL, "all labels are '%.80s': learning takes two classes or more", largest);
    if (pupils->classes_lone == pupils->classes_used)
        return nigh__fail(error, NIGH_EINVAL, "no two of %" PRIu32 " labelled documents have a label in common",
                          pupils->with_label);
    if (pupils->class_sizes[pupils->largest_class] == pupils->with_label)
        return nigh__fail(error, NIGH_EINVAL,
                          "every labelled document has the label '%.80s', so there is nothing to tell apart", largest);
    return NIGH_OK;
}

/* The same once features are chosen, which some documents may have none of. */
static nigh_status check_those_left(const struct nigh__pupils *pupils, nigh_error *error) {
    nigh_error why;
    const nigh_status status = check_labels(pupils, &why);
    if (status == NIGH_OK) return NIGH_OK;
    return nigh__fail(error, status, "of documents with a chosen feature (max_features, min_documents): %.300s",
                      why.why);
}

/* ----------------------------------------------------------------- matrix */

static uint32_t count_chosen(const struct nigh__labelled *labelled, const struct nigh__choice *choice,
                             uint32_t document) {
    uint32_t count = 0;
    for (uint64_t i = labelled->begins[document]; i < labelled->begins[document + 1]; i++)
        count += choice->places[labelled->counts[i].feature] != NIGH__NOT_CHOSEN;
    return count;
}

/* Rows are the documents with a chosen feature; their classes come along.  What the others are labelled no longer
 * counts. */
static nigh_status lay_rows(struct own *own, struct nigh__pupils *pupils, uint64_t *postings, nigh_error *error) {
    const nigh_context *context = own->shown.context;
    const struct nigh__labelled *labelled = pupils->labelled;
    own->documents = nigh__alloc(context, pupils->count, sizeof *own->documents);
    own->begins = nigh__alloc(context, (size_t)pupils->count + 1, sizeof *own->begins);
    own->class_begins = nigh__alloc(context, (size_t)pupils->count + 1, sizeof *own->class_begins);
    own->row_classes = nigh__alloc(context, labelled->class_begins[labelled->documents], sizeof *own->row_classes);
    if (own->documents == NULL || own->begins == NULL || own->class_begins == NULL || own->row_classes == NULL)
        return nigh__no_memory(error, "to learn from documents");
    uint64_t classes = 0;
    *postings = 0;
    for (uint32_t p = 0; p < pupils->count; p++) {
        const uint32_t d = pupils->documents[p];
        const uint32_t chosen = count_chosen(labelled, &own->choice, d);
        if (chosen == 0) {
            pupils->has_label[p] = 0;
            continue;
        }
        const uint32_t row = own->shown.rows++;
        own->documents[row] = d;
        own->begins[row] = *postings;
        own->class_begins[row] = classes;
        *postings += chosen;
        for (uint64_t i = labelled->class_begins[d]; pupils->has_label[p] && i < labelled->class_begins[d + 1]; i++)
            own->row_classes[classes++] = labelled->document_classes[i];
    }
    NIGH__ASSERT(classes <= labelled->class_begins[labelled->documents]);
    own->begins[own->shown.rows] = *postings;
    own->class_begins[own->shown.rows] = classes;
    return NIGH_OK;
}

static void begin_columns(struct own *own, const struct nigh__labelled *labelled) {
    uint64_t *begins = own->column_begins;
    for (uint32_t row = 0; row < own->shown.rows; row++) {
        const uint32_t d = own->documents[row];
        for (uint64_t i = labelled->begins[d]; i < labelled->begins[d + 1]; i++) {
            const uint32_t column = own->choice.places[labelled->counts[i].feature];
            if (column != NIGH__NOT_CHOSEN) begins[column + 1]++;
        }
    }
    for (uint32_t f = 0; f < own->choice.count; f++) begins[f + 1] += begins[f];
}

static double value_of(const double *small, uint32_t count) {
    return count < SMALL_COUNTS ? small[count] : 1.0 + nigh__ln(count);
}

static void fill_columns(struct own *own, const struct nigh__labelled *labelled, uint64_t *next) {
    double small[SMALL_COUNTS] = {0};
    for (uint32_t c = 1; c < SMALL_COUNTS; c++) small[c] = 1.0 + nigh__ln(c);
    memcpy(next, own->column_begins, (size_t)own->choice.count * sizeof *next);
    for (uint32_t row = 0; row < own->shown.rows; row++) {
        const uint32_t d = own->documents[row];
        for (uint64_t i = labelled->begins[d]; i < labelled->begins[d + 1]; i++) {
            const uint32_t column = own->choice.places[labelled->counts[i].feature];
            if (column == NIGH__NOT_CHOSEN) continue;
            const uint64_t at = next[column]++;
            own->column_rows[at] = row;
            own->column_values[at] = value_of(small, labelled->counts[i].count);
            own->column_counts[at] = (uint32_t)nigh__smaller(labelled->counts[i].count, NIGH__MODEL_MAX_COUNT);
        }
    }
}

static void fill_rows(struct own *own, uint64_t *next) {
    memcpy(next, own->begins, (size_t)own->shown.rows * sizeof *next);
    for (uint32_t column = 0; column < own->choice.count; column++) {
        for (uint64_t i = own->column_begins[column]; i < own->column_begins[column + 1]; i++) {
            const uint64_t at = next[own->column_rows[i]]++;
            own->columns[at] = column;
            own->values[at] = own->column_values[i];
        }
    }
}

static nigh_status fill_matrix(struct own *own, const struct nigh__labelled *labelled, uint64_t postings,
                               nigh_error *error) {
    const nigh_context *context = own->shown.context;
    const size_t features = own->choice.count, rows = own->shown.rows;
    const size_t longer = features > rows ? features : rows;
    own->column_begins = nigh__alloc_zero(context, features + 1, sizeof *own->column_begins);
    own->columns = nigh__alloc_large(context, postings, sizeof *own->columns);
    own->values = nigh__alloc_large(context, postings, sizeof *own->values);
    own->column_rows = nigh__alloc_large(context, postings, sizeof *own->column_rows);
    own->column_values = nigh__alloc_large(context, postings, sizeof *own->column_values);
    own->column_counts = nigh__alloc_large(context, postings, sizeof *own->column_counts);
    own->hashes = nigh__alloc(context, features, sizeof *own->hashes);
    uint64_t *next = nigh__alloc(context, longer, sizeof *next);
    const bool enough = own->column_begins != NULL && own->columns != NULL && own->values != NULL &&
                        own->column_rows != NULL && own->column_values != NULL && own->column_counts != NULL &&
                        own->hashes != NULL && next != NULL;
    if (enough) {
        begin_columns(own, labelled);
        fill_columns(own, labelled, next);
        fill_rows(own, next);
        for (size_t f = 0; f < features; f++) own->hashes[f] = labelled->hashes[own->choice.features[f]];
    }
    nigh__free(context, next);
    return enough ? NIGH_OK : nigh__no_memory(error, "to learn from documents");
}

/* ----------------------------------------------------------------- ending */

static void show(struct own *own) {
    struct nigh__lesson *shown = &own->shown;
    shown->features = own->choice.count;
    shown->documents = own->documents;
    shown->begins = own->begins;
    shown->columns = own->columns;
    shown->values = own->values;
    shown->column_begins = own->column_begins;
    shown->column_rows = own->column_rows;
    shown->column_values = own->column_values;
    shown->column_counts = own->column_counts;
    shown->class_begins = own->class_begins;
    shown->row_classes = own->row_classes;
    shown->chosen = own->choice.features;
    shown->hashes = own->hashes;
    shown->chi = own->choice.chi;
}

/* What the matrix takes, with what is needed to fill it. */
static uint64_t matrix_bytes(const struct own *own, uint64_t postings) {
    const uint64_t rows = own->shown.rows, features = own->choice.count;
    return postings * 28 + rows * 28 + features * 36 + own->class_begins[rows] * 4;
}

static nigh_status make(struct own *own, struct nigh__pupils *pupils, double share, nigh_error *error) {
    const struct nigh__labelled *labelled = pupils->labelled;
    uint64_t postings = 0;
    nigh_status status = pupils_find(pupils, share, own->options.seed, error);
    if (status != NIGH_OK) return status;
    if (pupils->count == 0) {
        (void)nigh__fail(error, NIGH_EINVAL, "there are no documents to learn from%s",
                         labelled->documents > 0 ? ": none is of the part \"train\"" : "");
        return NIGH_EINVAL;
    }
    const bool needs_labels = nigh__learn_needs_labels(own->options.method);
    if (needs_labels) status = check_labels(pupils, error);
    if (status == NIGH_OK) status = nigh__choose_features(pupils, &own->options, &own->choice, error);
    if (status == NIGH_OK) status = lay_rows(own, pupils, &postings, error);
    if (status != NIGH_OK) return status;
    measure_classes(pupils);
    if (needs_labels) status = check_those_left(pupils, error);
    if (status != NIGH_OK) return status;
    own->shown.labelled = pupils->with_label;
    own->shown.classes_used = pupils->classes_used;
    own->shown.classes_lone = pupils->classes_lone;
    own->shown.class_most = pupils->classes_used == 0 ? 0 : pupils->class_sizes[pupils->largest_class];
    const uint64_t matrix = matrix_bytes(own, postings);
    own->shown.bytes = labelled->bytes + matrix;
    status = nigh__lesson_afford(labelled, &own->options, matrix, error);
    if (status == NIGH_OK) status = fill_matrix(own, labelled, postings, error);
    nigh__free(own->shown.context, own->choice.places);
    own->choice.places = NULL;
    show(own);
    return status;
}

nigh_status nigh__lesson_make(const struct nigh__labelled *labelled, const nigh_learn_options *options, double share,
                              struct nigh__lesson **out, nigh_error *error) {
    *out = NULL;
    nigh_learn_options known;
    nigh_status status = nigh__learn_options_fill(options, &known, error);
    if (status != NIGH_OK) return status;
    if (!(share > 0 && share <= 1)) return nigh__fail(error, NIGH_EINVAL, "a share of the labels is above 0, up to 1");
    struct own *own = nigh__alloc_zero(labelled->context, 1, sizeof *own);
    if (own == NULL) return nigh__no_memory(error, "to learn from documents");
    own->options = known;
    nigh__progress_init(&own->progress, known.progress);
    own->shown = (struct nigh__lesson){.context = labelled->context,
                                       .options = &own->options,
                                       .threads = nigh__threads_resolve(known.threads),
                                       .progress = &own->progress,
                                       .classes = labelled->classes};
    struct nigh__pupils pupils = {.context = labelled->context, .labelled = labelled, .threads = own->shown.threads};
    status = make(own, &pupils, share, error);
    pupils_release(&pupils);
    if (status == NIGH_OK)
        *out = &own->shown;
    else
        nigh__lesson_free(&own->shown);
    return status;
}

void nigh__lesson_free(struct nigh__lesson *lesson) {
    if (lesson == NULL) return;
    struct own *own = (struct own *)(void *)lesson;
    const nigh_context *context = lesson->context;
    void *const parts[] = {own->documents,     own->begins,      own->columns,       own->values,
                           own->column_begins, own->column_rows, own->column_values, own->class_begins,
                           own->row_classes,   own->hashes,      own->column_counts};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) nigh__free(context, parts[i]);
    nigh__choice_release(context, &own->choice);
    nigh__free(context, own);
}

void nigh__lesson_signs(uint64_t hash, uint32_t width_bits, int8_t *signs) {
    for (uint32_t bit = 0; bit < width_bits; bit++) {
        const uint64_t block = bit / 64;
        const uint64_t bits = block == 0 ? hash : nigh__mix(hash ^ block * UINT64_C(0x9e3779b97f4a7c15));
        signs[bit] = (bits >> (bit % 64) & 1) != 0 ? 1 : -1;
    }
}
