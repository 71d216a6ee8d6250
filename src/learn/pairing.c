/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Draws pairs of labelled rows.  Attraction: any row, any of its classes, any other row
 * of that class.  Repulsion: any two rows that share no class; where most share one,
 * many draws fail, and so there is an end to trying.  Both count towards Np as drawn.
 */
#include <inttypes.h>
#include <string.h>

#include "base/rng.h"
#include "base/status.h"
#include "learn/lesson.h"

#define TRIES 64u /* for each pair that is wanted */

struct pair {
    uint32_t a, b;
};

struct drawing {
    const struct nigh__lesson *lesson;
    struct nigh__rng rng;
    uint32_t *labelled;      /* rows with a class */
    uint64_t *member_begins; /* of classes: classes + 1 */
    uint32_t *members;       /* their rows, ascending */
    struct pair *pairs;      /* attractions, then repulsions */
};

/* Any of `count`, each as likely, but for 2^-32. */
static uint32_t draw(struct drawing *drawing, uint32_t count) {
    return (uint32_t)(((nigh__rng_next(&drawing->rng) >> 32) * count) >> 32);
}

static uint32_t draw_row(struct drawing *drawing) {
    return drawing->labelled[draw(drawing, drawing->lesson->labelled)];
}

/* ---------------------------------------------------------------- members */

static void list_members(struct drawing *drawing) {
    const struct nigh__lesson *lesson = drawing->lesson;
    const uint64_t all = lesson->class_begins[lesson->rows];
    uint64_t *begins = drawing->member_begins;
    for (uint64_t i = 0; i < all; i++) begins[lesson->row_classes[i]]++;
    for (uint32_t c = 0; c < lesson->classes; c++) begins[c + 1] += begins[c];
    /* begins[c] is where c ends; from the last row on, each takes one off, until it is where c begins */
    uint32_t labelled = lesson->labelled;
    for (uint32_t row = lesson->rows; row-- > 0;) {
        for (uint64_t i = lesson->class_begins[row]; i < lesson->class_begins[row + 1]; i++)
            drawing->members[--begins[lesson->row_classes[i]]] = row;
        if (lesson->class_begins[row + 1] > lesson->class_begins[row]) drawing->labelled[--labelled] = row;
    }
}

static uint32_t place_of(const uint32_t *members, uint32_t count, uint32_t row) {
    uint32_t low = 0;
    for (uint32_t high = count; low < high;) {
        const uint32_t middle = low + (high - low) / 2;
        if (members[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---------------------------------------------------------------- drawing */

static bool draw_attraction(struct drawing *drawing, struct pair *out) {
    const struct nigh__lesson *lesson = drawing->lesson;
    const uint32_t row = draw_row(drawing);
    const uint64_t begin = lesson->class_begins[row];
    const uint32_t class =
        lesson->row_classes[begin + draw(drawing, (uint32_t)(lesson->class_begins[row + 1] - begin))];
    const uint32_t *members = drawing->members + drawing->member_begins[class];
    const uint32_t count = (uint32_t)(drawing->member_begins[class + 1] - drawing->member_begins[class]);
    if (count < 2) return false;
    const uint32_t other = draw(drawing, count - 1);
    *out = (struct pair){row, members[other + (other >= place_of(members, count, row))]};
    return true;
}

static bool share_class(const struct nigh__lesson *lesson, uint32_t a, uint32_t b) {
    uint64_t i = lesson->class_begins[a], j = lesson->class_begins[b];
    while (i < lesson->class_begins[a + 1] && j < lesson->class_begins[b + 1]) {
        if (lesson->row_classes[i] == lesson->row_classes[j]) return true;
        if (lesson->row_classes[i] < lesson->row_classes[j])
            i++;
        else
            j++;
    }
    return false;
}

static bool draw_repulsion(struct drawing *drawing, struct pair *out) {
    *out = (struct pair){draw_row(drawing), draw_row(drawing)};
    return !share_class(drawing->lesson, out->a, out->b);
}

static uint64_t draw_pairs(struct drawing *drawing, bool (*draw_one)(struct drawing *, struct pair *), uint32_t wanted,
                           struct pair *out) {
    uint64_t found = 0;
    for (uint64_t tries = (uint64_t)wanted * TRIES + 1024; tries > 0 && found < wanted; tries--)
        found += draw_one(drawing, &out[found]);
    return found;
}

/* ----------------------------------------------------------------- matrix */

/* Both ways, in the order drawn. */
static void fill(const struct drawing *drawing, uint64_t *next, struct nigh__pairing *out) {
    const uint64_t all = out->attractions + out->repulsions;
    const uint32_t rows = drawing->lesson->rows;
    for (uint64_t i = 0; i < all; i++) {
        out->begins[drawing->pairs[i].a + 1]++;
        out->begins[drawing->pairs[i].b + 1]++;
    }
    for (uint32_t row = 0; row < rows; row++) out->begins[row + 1] += out->begins[row];
    memcpy(next, out->begins, (size_t)rows * sizeof *next);
    for (uint64_t i = 0; i < all; i++) {
        const struct pair pair = drawing->pairs[i];
        const int8_t sign = i < out->attractions ? 1 : -1;
        const uint64_t a = next[pair.a]++, b = next[pair.b]++;
        out->others[a] = pair.b;
        out->others[b] = pair.a;
        out->signs[a] = out->signs[b] = sign;
    }
}

static nigh_status make_matrix(const struct drawing *drawing, struct nigh__pairing *out, nigh_error *error) {
    const nigh_context *context = drawing->lesson->context;
    const size_t all = (size_t)(out->attractions + out->repulsions) * 2;
    const size_t rows = drawing->lesson->rows;
    out->begins = nigh__alloc_zero(context, rows + 1, sizeof *out->begins);
    out->others = nigh__alloc(context, all, sizeof *out->others);
    out->signs = nigh__alloc(context, all, sizeof *out->signs);
    uint64_t *next = nigh__alloc(context, rows, sizeof *next);
    const bool enough = out->begins != NULL && out->others != NULL && out->signs != NULL && next != NULL;
    if (enough) fill(drawing, next, out);
    nigh__free(context, next);
    return enough ? NIGH_OK : nigh__no_memory(error, "for pairs of documents");
}

static nigh_status draw_all(struct drawing *drawing, struct nigh__pairing *out, nigh_error *error) {
    const nigh_learn_options *options = drawing->lesson->options;
    list_members(drawing);
    out->attractions = draw_pairs(drawing, draw_attraction, options->attraction_pairs, drawing->pairs);
    out->repulsions = draw_pairs(drawing, draw_repulsion, options->repulsion_pairs, drawing->pairs + out->attractions);
    if (out->attractions == 0)
        return nigh__fail(error, NIGH_EINVAL, "no two of %" PRIu32 " labelled documents with a label in common found",
                          drawing->lesson->labelled);
    if (out->repulsions == 0)
        return nigh__fail(error, NIGH_EINVAL, "no two of %" PRIu32 " labelled documents without a common label found",
                          drawing->lesson->labelled);
    return make_matrix(drawing, out, error);
}

uint64_t nigh__pairing_bytes(const struct nigh__lesson *lesson) {
    const uint64_t pairs = (uint64_t)lesson->options->attraction_pairs + lesson->options->repulsion_pairs;
    return pairs * (sizeof(struct pair) + 2 * (sizeof(uint32_t) + sizeof(int8_t))) +
           (uint64_t)lesson->rows * (2 * sizeof(uint64_t) + sizeof(uint32_t)) +
           (uint64_t)lesson->classes * sizeof(uint64_t) + lesson->class_begins[lesson->rows] * sizeof(uint32_t);
}

nigh_status nigh__pairing_make(const struct nigh__lesson *lesson, struct nigh__pairing *out, nigh_error *error) {
    const nigh_context *context = lesson->context;
    const size_t wanted = (size_t)lesson->options->attraction_pairs + lesson->options->repulsion_pairs;
    *out = (struct nigh__pairing){0};
    if (lesson->labelled == 0) return nigh__fail(error, NIGH_EINVAL, "no labelled document to draw pairs from");
    struct drawing drawing = {.lesson = lesson, .rng = {nigh__mix(lesson->options->seed ^ UINT64_C(0x7061697273))}};
    drawing.labelled = nigh__alloc(context, lesson->labelled, sizeof *drawing.labelled);
    drawing.member_begins = nigh__alloc_zero(context, (size_t)lesson->classes + 1, sizeof *drawing.member_begins);
    drawing.members = nigh__alloc(context, lesson->class_begins[lesson->rows], sizeof *drawing.members);
    drawing.pairs = nigh__alloc(context, wanted, sizeof *drawing.pairs);
    nigh_status status =
        drawing.labelled == NULL || drawing.member_begins == NULL || drawing.members == NULL || drawing.pairs == NULL
            ? nigh__no_memory(error, "for pairs of documents")
            : draw_all(&drawing, out, error);
    nigh__free(context, drawing.labelled);
    nigh__free(context, drawing.member_begins);
    nigh__free(context, drawing.members);
    nigh__free(context, drawing.pairs);
    if (status != NIGH_OK) nigh__pairing_release(context, out);
    return status;
}

void nigh__pairing_release(const nigh_context *context, struct nigh__pairing *pairing) {
    nigh__free(context, pairing->begins);
    nigh__free(context, pairing->others);
    nigh__free(context, pairing->signs);
    *pairing = (struct nigh__pairing){0};
}
