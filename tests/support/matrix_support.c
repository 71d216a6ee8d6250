/* SPDX-License-Identifier: Apache-2.0 */
/* Plain matrices as lessons. */
#include "support/matrix_support.h"
#include "learn/learn_options.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/support.h"

static void *must(size_t count, size_t size) {
    const size_t bytes = count * size;
    void *pointer = calloc(bytes == 0 ? 1 : bytes, 1);
    if (pointer == NULL) abort();
    return pointer;
}

/* One way of the matrix; `across` steps from one line to the next, `along` within a line. */
static void pack(const double *matrix, uint32_t lines, uint32_t length, size_t across, size_t along,
                 const uint64_t **begins_out, const uint32_t **places_out, const double **values_out) {
    uint64_t *begins = must((size_t)lines + 1, sizeof *begins), count = 0;
    uint32_t *places = must((size_t)lines * length, sizeof *places);
    double *values = must((size_t)lines * length, sizeof *values);
    for (uint32_t line = 0; line < lines; line++) {
        for (uint32_t i = 0; i < length; i++) {
            double value = matrix[line * across + i * along];
            if (value == 0) continue;
            places[count] = i;
            values[count++] = value;
        }
        begins[line + 1] = count;
    }
    *begins_out = begins;
    *places_out = places;
    *values_out = values;
}

static void add_classes(struct nigh__lesson *lesson, const uint32_t *classes) {
    uint64_t *begins = must((size_t)lesson->rows + 1, sizeof *begins), count = 0;
    uint32_t *row_classes = must(lesson->rows, sizeof *row_classes);
    for (uint32_t row = 0; row < lesson->rows; row++) {
        if (classes != NULL && classes[row] != UINT32_MAX) row_classes[count++] = classes[row];
        begins[row + 1] = count;
    }
    lesson->labelled = (uint32_t)count;
    lesson->class_begins = begins;
    lesson->row_classes = row_classes;
}

struct matrix_lesson *matrix_lesson_new(const nigh_context *context, const double *matrix, uint32_t rows,
                                        uint32_t features, const uint32_t *row_classes, uint32_t classes) {
    struct matrix_lesson *made = must(1, sizeof *made);
    nigh__options_defaults(&nigh__learn_options_shape, &made->options);
    made->options.width_bits = 8;
    made->options.seed = 7;
    made->options.attraction_pairs = 400;
    made->options.repulsion_pairs = 800;
    struct nigh__lesson *lesson = &made->lesson;
    *lesson = (struct nigh__lesson){.context = context, .options = &made->options, .threads = 1, .rows = rows};
    lesson->features = features;
    lesson->classes = classes;
    pack(matrix, rows, features, features, 1, &lesson->begins, &lesson->columns, &lesson->values);
    pack(matrix, features, rows, 1, features, &lesson->column_begins, &lesson->column_rows, &lesson->column_values);
    add_classes(lesson, row_classes);
    uint32_t *numbers = must(rows > features ? rows : features, sizeof *numbers);
    uint64_t *hashes = must(features, sizeof *hashes);
    for (uint32_t i = 0; i < rows || i < features; i++) numbers[i] = i;
    for (uint32_t i = 0; i < features; i++) hashes[i] = nigh__mix(i);
    lesson->documents = lesson->chosen = numbers;
    lesson->hashes = hashes;
    lesson->chi = must(features, sizeof(double));
    return made;
}

static void drop(const void *pointer) {
    void *changeable;
    memcpy(&changeable, &pointer, sizeof changeable);
    free(changeable);
}

void matrix_lesson_free(struct matrix_lesson *made) {
    const struct nigh__lesson *lesson = &made->lesson;
    const void *all[] = {lesson->begins,      lesson->columns,       lesson->values,       lesson->column_begins,
                         lesson->column_rows, lesson->column_values, lesson->class_begins, lesson->row_classes,
                         lesson->documents,   lesson->hashes,        lesson->chi};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) drop(all[i]);
    free(made);
}

double *topic_matrix(uint32_t rows, uint32_t features, uint32_t classes, uint64_t seed) {
    if (features == 0 || classes == 0) abort();
    struct nigh__rng rng = {.state = seed};
    double *matrix = must((size_t)rows * features, sizeof *matrix);
    for (uint32_t row = 0; row < rows; row++) {
        for (uint32_t feature = 0; feature < features; feature++) {
            uint64_t number = nigh__rng_next(&rng);
            uint64_t chance = feature % classes == row % classes ? 40 : 10; /* of 100 */
            if (number % 100 < chance) matrix[(size_t)row * features + feature] = 1 + (double)(number >> 40) * 0x1p-24;
        }
        matrix[(size_t)row * features + row % features] = 1.5; /* none is empty */
    }
    return matrix;
}

/* ----------------------------------------------------------- eigenvectors */

static void rotate(uint32_t order, double *matrix, double *vectors, uint32_t p, uint32_t q) {
    const size_t n = order;
    const double off = matrix[p * n + q];
    if (off == 0) return;
    const double theta = (matrix[q * n + q] - matrix[p * n + p]) / (2 * off);
    const double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    for (size_t k = 0; k < n; k++) {
        const double kp = matrix[k * n + p], kq = matrix[k * n + q];
        matrix[k * n + p] = c * kp - s * kq;
        matrix[k * n + q] = s * kp + c * kq;
    }
    for (size_t k = 0; k < n; k++) {
        const double pk = matrix[p * n + k], qk = matrix[q * n + k];
        matrix[p * n + k] = c * pk - s * qk;
        matrix[q * n + k] = s * pk + c * qk;
        const double vp = vectors[p * n + k], vq = vectors[q * n + k];
        vectors[p * n + k] = c * vp - s * vq;
        vectors[q * n + k] = s * vp + c * vq;
    }
}

static void swap(double *a, double *b) {
    const double kept = *a;
    *a = *b;
    *b = kept;
}

static void put_largest_at(uint32_t order, double *vectors, double *values, uint32_t place) {
    uint32_t best = place;
    for (uint32_t i = place + 1; i < order; i++) {
        if (values[i] > values[best]) best = i;
    }
    swap(&values[place], &values[best]);
    for (size_t k = 0; best != place && k < order; k++)
        swap(&vectors[(size_t)place * order + k], &vectors[(size_t)best * order + k]);
}

void jacobi(uint32_t order, double *matrix, double *vectors, double *values) {
    const size_t n = order;
    for (size_t i = 0; i < n * n; i++) vectors[i] = i / n == i % n;
    for (uint32_t sweep = 0; sweep < 30; sweep++) {
        for (uint32_t p = 0; p < order; p++) {
            for (uint32_t q = p + 1; q < order; q++) rotate(order, matrix, vectors, p, q);
        }
    }
    for (size_t i = 0; i < n; i++) values[i] = matrix[i * n + i];
    for (uint32_t i = 0; i < order; i++) put_largest_at(order, vectors, values, i);
}

double alignment(const double *a, const double *b, uint32_t order) {
    double sum = 0;
    for (uint32_t i = 0; i < order; i++) sum += a[i] * b[i];
    return fabs(sum);
}
