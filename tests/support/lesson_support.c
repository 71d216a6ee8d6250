/* SPDX-License-Identifier: Apache-2.0 */
#include "support/lesson_support.h"
#include "learn/learn_options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"

static uint32_t draw(struct nigh__rng *rng, uint32_t count) { return (uint32_t)(nigh__rng_next(rng) % count); }

/* Counts of one row's features into `counts`; a class has a share of the features of its own. */
static void draw_row(const struct lesson_recipe *recipe, struct nigh__rng *rng, uint32_t class_number,
                     uint32_t *counts) {
    const uint32_t own = recipe->features / (recipe->classes + 1);
    memset(counts, 0, recipe->features * sizeof *counts);
    for (uint32_t k = 0; k < recipe->length; k++) {
        if (draw(rng, 100) < recipe->own_percent)
            counts[own * class_number + draw(rng, own)]++;
        else
            counts[draw(rng, recipe->features)]++;
    }
}

/* 1 + ln c, near enough. */
static double value_of(uint32_t count) {
    static const double values[] = {0, 1, 1.6931, 2.0986, 2.3863, 2.6094};
    return values[count < 5 ? count : 5];
}

static void fill_columns(struct nigh__lesson *lesson) {
    uint64_t *begins = calloc((size_t)lesson->features + 2, sizeof *begins);
    uint32_t *rows = malloc(lesson->begins[lesson->rows] * sizeof *rows);
    double *values = malloc(lesson->begins[lesson->rows] * sizeof *values);
    for (uint64_t i = 0; i < lesson->begins[lesson->rows]; i++) begins[lesson->columns[i] + 2]++;
    for (uint32_t f = 0; f < lesson->features; f++) begins[f + 2] += begins[f + 1];
    for (uint32_t row = 0; row < lesson->rows; row++) {
        for (uint64_t i = lesson->begins[row]; i < lesson->begins[row + 1]; i++) {
            const uint64_t at = begins[lesson->columns[i] + 1]++;
            rows[at] = row;
            values[at] = lesson->values[i];
        }
    }
    lesson->column_begins = begins;
    lesson->column_rows = rows;
    lesson->column_values = values;
}

static void fill_rows(struct made_lesson *made, const struct lesson_recipe *recipe, struct nigh__rng *rng) {
    struct nigh__lesson *lesson = &made->lesson;
    const size_t most = (size_t)recipe->rows * recipe->length;
    uint64_t *begins = calloc((size_t)recipe->rows + 1, sizeof *begins);
    uint64_t *class_begins = calloc((size_t)recipe->rows + 1, sizeof *class_begins);
    uint32_t *columns = calloc(most, sizeof *columns), *counts = malloc(recipe->features * sizeof *counts);
    uint32_t *classes = malloc((size_t)recipe->rows * 2 * sizeof *classes);
    double *values = malloc(most * sizeof *values);
    for (uint32_t row = 0; row < recipe->rows; row++) {
        const uint32_t first = row % recipe->classes, second = first + 1;
        made->true_classes[row] = first;
        draw_row(recipe, rng, first, counts);
        begins[row + 1] = begins[row];
        for (uint32_t f = 0; f < recipe->features; f++) {
            if (counts[f] == 0) continue;
            columns[begins[row + 1]] = f;
            values[begins[row + 1]++] = value_of(counts[f]);
        }
        class_begins[row + 1] = class_begins[row];
        if (draw(rng, 100) < recipe->bare_percent) continue;
        lesson->labelled++;
        classes[class_begins[row + 1]++] = first;
        if (draw(rng, 100) < recipe->two_percent && second < recipe->classes) classes[class_begins[row + 1]++] = second;
    }
    free(counts);
    lesson->begins = begins;
    lesson->columns = columns;
    lesson->values = values;
    lesson->class_begins = class_begins;
    lesson->row_classes = classes;
}

struct made_lesson *lesson_made(const nigh_context *context, const struct lesson_recipe *recipe) {
    struct made_lesson *made = calloc(1, sizeof *made);
    struct nigh__rng rng = {recipe->seed};
    nigh__options_defaults(&nigh__learn_options_shape, &made->options);
    made->options.width_bits = 32;
    made->options.iterations = 60;
    made->options.seed = recipe->seed;
    made->options.attraction_pairs = recipe->rows * 4;
    made->options.repulsion_pairs = recipe->rows * 8;
    made->true_classes = malloc(recipe->rows * sizeof *made->true_classes);
    nigh__progress_init(&made->progress, NULL);
    made->lesson = (struct nigh__lesson){.context = context,
                                         .options = &made->options,
                                         .threads = 1,
                                         .progress = &made->progress,
                                         .rows = recipe->rows,
                                         .features = recipe->features,
                                         .classes = recipe->classes};
    fill_rows(made, recipe, &rng);
    fill_columns(&made->lesson);
    uint64_t *hashes = malloc(recipe->features * sizeof *hashes);
    double *chi = malloc(recipe->features * sizeof *chi);
    for (uint32_t f = 0; f < recipe->features; f++) {
        hashes[f] = nigh__rng_next(&rng);
        chi[f] = draw(&rng, 1000) / 10.0;
    }
    made->lesson.hashes = hashes;
    made->lesson.chi = chi;
    return made;
}

static void discard(const void *memory) {
    void *own;
    memcpy(&own, &memory, sizeof own); /* the lesson shows them as constants */
    free(own);
}

void lesson_unmade(struct made_lesson *made) {
    const struct nigh__lesson *lesson = &made->lesson;
    discard(lesson->begins), discard(lesson->columns), discard(lesson->values);
    discard(lesson->column_begins), discard(lesson->column_rows), discard(lesson->column_values);
    discard(lesson->class_begins), discard(lesson->row_classes);
    discard(lesson->hashes), discard(lesson->chi);
    free(made->true_classes);
    free(made);
}

static uint64_t sign_row(const struct made_lesson *made, const double *weights, uint32_t row) {
    const struct nigh__lesson *lesson = &made->lesson;
    double sums[64] = {0};
    int8_t signs[64];
    for (uint64_t i = lesson->begins[row]; i < lesson->begins[row + 1]; i++) {
        nigh__lesson_signs(lesson->hashes[lesson->columns[i]], 64, signs);
        for (int j = 0; j < 64; j++) sums[j] += lesson->values[i] * weights[lesson->columns[i]] * signs[j];
    }
    uint64_t bits = 0;
    for (uint32_t j = 0; j < made->options.width_bits; j++) bits |= (uint64_t)(sums[j] > 0) << j;
    return bits;
}

static uint32_t count_bits(uint64_t bits) {
    uint32_t count = 0;
    for (; bits != 0; bits &= bits - 1) count++;
    return count;
}

double lesson_margin(const struct made_lesson *made, const double *weights) {
    const uint32_t rows = made->lesson.rows;
    uint64_t *signatures = malloc(rows * sizeof *signatures);
    double sums[2] = {0}, counts[2] = {0};
    for (uint32_t i = 0; i < rows; i++) signatures[i] = sign_row(made, weights, i);
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const int same = made->true_classes[i] == made->true_classes[j];
            sums[same] += count_bits(signatures[i] ^ signatures[j]);
            counts[same]++;
        }
    }
    free(signatures);
    return sums[0] / counts[0] - sums[1] / counts[1];
}
