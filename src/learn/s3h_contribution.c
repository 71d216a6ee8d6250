/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Feature contribution (Algorithm 1 of the paper): how far a feature speaks for a class,
 *
 *     nu_fc = (sum of x_f over documents of class c) / (the same over all classes)
 *
 * over labelled rows, a document of several classes counting once for each.  x is 1 + ln c, or c where
 * count_values asks for it, and of nu c where count_contribution does: nu is then Pr(class | feature),
 * the share of the feature's occurrences that are in documents of the class.  With s_f, the sum
 * over classes of nu_fc squared, which is what nu of a feature's own class is on average:
 *
 *     G_if = x_if * mean over the classes c of row i of nu_fc      labelled
 *     G_if = x_if * s_f                                            not labelled
 *     G_if = x_if                                                  not labelled, as the paper has it
 *
 * The paper takes unlabelled rows whole; then they are several times as long as the others,
 * outweigh them and take the quality away that more documents should bring.  Without feature
 * contribution ("s3h-f") G is the lesson's matrix.
 *
 * Cost.  One pass over the matrix by features, for then the nu of one feature are all that is
 * needed at a time: memory for the classes, not for classes times features.  The rows are filled along
 * the way: features ascend, and so do they within a row.
 */
#include "learn/s3h.h"

#include "base/status.h"

struct contribution {
    const struct nigh__lesson *lesson;
    bool as_paper;
    bool counts;       /* nu is of occurrences */
    double *of_class;  /* nu_fc of the feature at hand; 0 between features */
    uint32_t *touched; /* the classes where it is not 0 */
    uint32_t touched_count;
};

static bool is_labelled(const struct nigh__lesson *lesson, uint32_t row) {
    return lesson->class_begins[row] < lesson->class_begins[row + 1];
}

static void count(struct contribution *of, uint32_t class_number, double value) {
    if (of->of_class[class_number] == 0) of->touched[of->touched_count++] = class_number;
    of->of_class[class_number] += value;
}

/* x of a posting, by columns. */
static double value_at(const struct nigh__lesson *lesson, uint64_t at) {
    return nigh__learn_counts(lesson->options) ? (double)lesson->column_counts[at] : lesson->column_values[at];
}

/* The sums of a feature by classes; returns their total. */
static double count_feature(struct contribution *of, uint32_t feature) {
    const struct nigh__lesson *lesson = of->lesson;
    double total = 0;
    for (uint64_t at = lesson->column_begins[feature]; at < lesson->column_begins[feature + 1]; at++) {
        const uint32_t row = lesson->column_rows[at];
        const double value = of->counts ? (double)lesson->column_counts[at] : lesson->column_values[at];
        for (uint64_t k = lesson->class_begins[row]; k < lesson->class_begins[row + 1]; k++) {
            count(of, lesson->row_classes[k], value);
            total += value;
        }
    }
    return total;
}

/* Makes them nu; returns the sum of the squares, 0 where no labelled row has the feature. */
static double divide_feature(struct contribution *of, double total) {
    double share = 0;
    for (uint32_t i = 0; i < of->touched_count; i++) {
        double *nu = &of->of_class[of->touched[i]];
        *nu /= total;
        share += *nu * *nu;
    }
    return share;
}

static void forget_feature(struct contribution *of) {
    for (uint32_t i = 0; i < of->touched_count; i++) of->of_class[of->touched[i]] = 0;
    of->touched_count = 0;
}

static double factor_of(const struct contribution *of, uint32_t row, double share) {
    const struct nigh__lesson *lesson = of->lesson;
    if (!is_labelled(lesson, row)) return of->as_paper ? 1 : share;
    double sum = 0;
    const uint64_t begin = lesson->class_begins[row], end = lesson->class_begins[row + 1];
    for (uint64_t k = begin; k < end; k++) sum += of->of_class[lesson->row_classes[k]];
    return sum / (double)(end - begin);
}

/* One feature of G, by columns and, at the places where rows have got to, by rows. */
static void fill_feature(struct nigh__s3h *problem, struct contribution *of, uint32_t feature, uint64_t *places) {
    const struct nigh__lesson *lesson = problem->lesson;
    const double total = count_feature(of, feature);
    const double share = divide_feature(of, total);
    problem->shares[feature] = share;
    for (uint64_t at = lesson->column_begins[feature]; at < lesson->column_begins[feature + 1]; at++) {
        const uint32_t row = lesson->column_rows[at];
        const float value = (float)(value_at(lesson, at) * factor_of(of, row, share));
        problem->column_values[at] = value;
        problem->values[places[row]++] = value;
    }
    forget_feature(of);
}

/* G is the lesson's matrix. */
static void fill_plain(struct nigh__s3h *problem, uint32_t feature, uint64_t *places) {
    const struct nigh__lesson *lesson = problem->lesson;
    problem->shares[feature] = 1;
    for (uint64_t at = lesson->column_begins[feature]; at < lesson->column_begins[feature + 1]; at++) {
        problem->column_values[at] = (float)value_at(lesson, at);
        problem->values[places[lesson->column_rows[at]]++] = problem->column_values[at];
    }
}

static void measure(struct nigh__s3h *problem) {
    const struct nigh__lesson *lesson = problem->lesson;
    double sum = 0;
    for (uint64_t at = 0; at < lesson->begins[lesson->rows]; at++)
        sum += (double)problem->values[at] * (double)problem->values[at];
    problem->mean_square = lesson->rows == 0 ? 0 : sum / lesson->rows;
}

static void fill(struct nigh__s3h *problem, struct contribution *of, uint64_t *places) {
    const struct nigh__lesson *lesson = problem->lesson;
    for (uint32_t i = 0; i < lesson->rows; i++) places[i] = lesson->begins[i];
    for (uint32_t f = 0; f < lesson->features; f++)
        if (lesson->options->method == NIGH_LEARN_S3H_F)
            fill_plain(problem, f, places);
        else
            fill_feature(problem, of, f, places);
}

static nigh_status contribute(struct nigh__s3h *problem, nigh_error *error) {
    const struct nigh__lesson *lesson = problem->lesson;
    struct contribution of = {.lesson = lesson,
                              .as_paper = lesson->options->as_paper != 0,
                              .counts = lesson->options->count_contribution > 0};
    of.of_class = nigh__alloc_zero(lesson->context, lesson->classes, sizeof *of.of_class);
    of.touched = nigh__alloc(lesson->context, lesson->classes, sizeof *of.touched);
    uint64_t *places = nigh__alloc(lesson->context, lesson->rows, sizeof *places);
    const bool enough = of.of_class != NULL && of.touched != NULL && places != NULL;
    if (enough) fill(problem, &of, places);
    nigh__free(lesson->context, places);
    nigh__free(lesson->context, of.touched);
    nigh__free(lesson->context, of.of_class);
    return enough ? NIGH_OK : nigh__fail(error, NIGH_ENOMEM, "out of memory");
}

nigh_status nigh__s3h_contribute(struct nigh__s3h *problem, nigh_error *error) {
    const nigh_status status = contribute(problem, error);
    if (status == NIGH_OK) measure(problem);
    return status;
}
