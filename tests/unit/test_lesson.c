/* SPDX-License-Identifier: Apache-2.0 */
/* Lessons: chi-squared against its definition, the matrix both ways, labels that do not do, pairs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/logarithm.h"
#include "base/rng.h"
#include "kernel/projection.h"
#include "learn/learn_options.h"
#include "learn/lesson.h"
#include "signature/simhash.h"
#include "support/support.h"

/* ------------------------------------------------------- documents by hand */

#define MAX_FEATURES 600u
#define MAX_CLASSES 64u
#define MAX_DOCUMENTS 1000u

/* Labelled documents in arrays that grow by hand. */
struct made {
    struct nigh__labelled labelled;
    uint64_t begins[MAX_DOCUMENTS + 1], class_begins[MAX_DOCUMENTS + 1];
    struct nigh__count counts[MAX_DOCUMENTS * 20];
    uint32_t classes[MAX_DOCUMENTS * 4];
    uint8_t parts[MAX_DOCUMENTS];
    uint64_t hashes[MAX_FEATURES];
    const char *names[MAX_CLASSES];
};

static struct made *made_new(nigh_context *context, uint32_t features, uint32_t classes) {
    struct made *made = calloc(1, sizeof *made);
    assert_non_null(made);
    for (uint32_t f = 0; f < features; f++) made->hashes[f] = nigh__mix(f);
    for (uint32_t c = 0; c < classes; c++) made->names[c] = "class";
    made->labelled = (struct nigh__labelled){.context = context,
                                             .features = features,
                                             .classes = classes,
                                             .begins = made->begins,
                                             .counts = made->counts,
                                             .class_begins = made->class_begins,
                                             .document_classes = made->classes,
                                             .parts = made->parts,
                                             .hashes = made->hashes,
                                             .class_names = made->names};
    return made;
}

static void made_add_class(struct made *made, uint32_t class) {
    const uint32_t d = made->labelled.documents;
    made->classes[made->class_begins[d]++] = class;
}

static void made_add_feature(struct made *made, uint32_t feature, uint32_t count) {
    const uint32_t d = made->labelled.documents;
    made->counts[made->begins[d]++] = (struct nigh__count){feature, count};
}

/* Ends the document at hand: until then begins[documents] is where it ends. */
static void made_end(struct made *made, enum nigh__part part) {
    const uint32_t d = made->labelled.documents++;
    made->parts[d] = (uint8_t)part;
    made->begins[d + 1] = made->begins[d];
    made->class_begins[d + 1] = made->class_begins[d];
}

/* What made_add_*() leave is one document off: begins[d] is the end of d.  This puts it right. */
static const struct nigh__labelled *made_finish(struct made *made) {
    for (uint32_t d = made->labelled.documents; d > 0; d--) {
        made->begins[d] = made->begins[d - 1];
        made->class_begins[d] = made->class_begins[d - 1];
    }
    made->begins[0] = made->class_begins[0] = 0;
    return &made->labelled;
}

/* Some labelled twice or not at all, features that lean towards a class, and others. */
static struct made *made_random(nigh_context *context, uint64_t seed, uint32_t documents, uint32_t classes) {
    const uint32_t features = 300;
    struct made *made = made_new(context, features, classes);
    struct nigh__rng rng = {seed};
    for (uint32_t d = 0; d < documents; d++) {
        const uint32_t class = (uint32_t)(nigh__rng_next(&rng) % classes);
        const uint64_t kind = nigh__rng_next(&rng) % 10;
        if (kind > 1 && class > 0 && kind == 5) made_add_class(made, 0);
        if (kind > 1) made_add_class(made, class);
        bool taken[MAX_FEATURES] = {false};
        for (uint32_t i = 0; i < 10; i++) {
            uint32_t f = (uint32_t)(nigh__rng_next(&rng) % features);
            if (i < 4) f = (class * 5 + f % 7) % features;
            if (!taken[f]) made_add_feature(made, f, 1 + (uint32_t)(nigh__rng_next(&rng) % 3) * 200);
            taken[f] = true;
        }
        made_end(made, NIGH__PART_TRAIN);
    }
    (void)made_finish(made);
    return made;
}

static struct nigh__lesson *lesson_ok(const struct nigh__labelled *labelled, const nigh_learn_options *options,
                                      double share) {
    struct nigh__lesson *lesson;
    nigh_error error;
    assert_ok(nigh__lesson_make(labelled, options, share, &lesson, &error), &error);
    return lesson;
}

/* ------------------------------------------------------------- chi-squared */

static bool document_has(const struct nigh__labelled *l, uint32_t d, uint32_t feature) {
    for (uint64_t i = l->begins[d]; i < l->begins[d + 1]; i++)
        if (l->counts[i].feature == feature) return true;
    return false;
}

static bool document_is(const struct nigh__labelled *l, uint32_t d, uint32_t class) {
    for (uint64_t i = l->class_begins[d]; i < l->class_begins[d + 1]; i++)
        if (l->document_classes[i] == class) return true;
    return false;
}

/* From the table of two by two, over all classes; below 0: in too few labelled documents. */
static double plain_chi(const struct nigh__labelled *l, uint32_t feature, uint32_t least) {
    double best = 0, with = 0;
    for (uint32_t c = 0; c < l->classes; c++) {
        double a = 0, b = 0, n = 0, size = 0;
        for (uint32_t d = 0; d < l->documents; d++) {
            if (l->class_begins[d] == l->class_begins[d + 1]) continue;
            const bool has = document_has(l, d, feature), is = document_is(l, d, c);
            n++;
            size += is;
            a += has && is;
            b += has && !is;
        }
        with = a + b;
        const double other = n - with - (size - a), below = with * (n - with) * size * (n - size);
        const double apart = a * other - b * (size - a);
        if (below > 0) best = fmax(best, n * apart * apart / below);
    }
    return with < least ? -1 : best;
}

static void test_chi(void **state) {
    for (uint32_t classes = 2; classes <= 40; classes += 19) {
        struct made *made = made_random(*state, classes, 300, classes);
        nigh_learn_options options;
        nigh__options_defaults(&nigh__learn_options_shape, &options);
        options.max_features = 60;
        struct nigh__lesson *lesson = lesson_ok(&made->labelled, &options, 1);
        assert_int_equal(lesson->features, 60);
        double least = HUGE_VAL;
        for (uint32_t f = 0; f < lesson->features; f++) {
            const double chi = plain_chi(&made->labelled, lesson->chosen[f], 3);
            assert_true(fabs(chi - lesson->chi[f]) <= 1e-9 * (1 + chi));
            assert_true(lesson->hashes[f] == made->hashes[lesson->chosen[f]]);
            assert_true(f == 0 || lesson->chosen[f] > lesson->chosen[f - 1]);
            least = fmin(least, lesson->chi[f]);
        }
        for (uint32_t f = 0, next = 0; f < made->labelled.features; f++) {
            if (next < lesson->features && lesson->chosen[next] == f)
                next++;
            else
                assert_true(plain_chi(&made->labelled, f, 3) <= least * (1 + 1e-12));
        }
        nigh__lesson_free(lesson);
        free(made);
    }
}

/* Of two that are worth the same the first is taken; one in fewer documents is not. */
static void test_ties(void **state) {
    struct made *made = made_new(*state, 4, 2);
    for (uint32_t d = 0; d < 8; d++) {
        made_add_class(made, d % 2);
        if (d < 2) made_add_feature(made, 3, 1);
        made_add_feature(made, 2 - d % 2, 1);
        made_add_feature(made, 0, 1);
        made_end(made, NIGH__PART_TRAIN);
    }
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    options.max_features = 1;
    options.method = NIGH_LEARN_SIMHASH;
    struct nigh__lesson *lesson = lesson_ok(made_finish(made), &options, 1);
    assert_int_equal(lesson->features, 1);
    assert_int_equal(lesson->chosen[0], 1);
    nigh__lesson_free(lesson);
    /* the documents that have this one are all of one class */
    nigh_error error;
    options.method = NIGH_LEARN_S3H;
    assert_int_equal(nigh__lesson_make(&made->labelled, &options, 1, &lesson, &error), NIGH_EINVAL);
    assert_non_null(strstr(error_text(&error), "max_features"));
    options.max_features = 10;
    lesson = lesson_ok(&made->labelled, &options, 1);
    assert_int_equal(lesson->features, 3);
    nigh__lesson_free(lesson);
    options.min_documents = 2;
    lesson = lesson_ok(&made->labelled, &options, 1);
    assert_int_equal(lesson->features, 4);
    nigh__lesson_free(lesson);
    free(made);
}

/* ----------------------------------------------------------------- matrix */

static void expect_row(const struct nigh__labelled *l, const struct nigh__lesson *lesson, uint32_t row) {
    const uint32_t d = lesson->documents[row];
    uint64_t at = lesson->begins[row];
    for (uint32_t column = 0; column < lesson->features; column++) {
        for (uint64_t i = l->begins[d]; i < l->begins[d + 1]; i++) {
            if (l->counts[i].feature != lesson->chosen[column]) continue;
            assert_true(at < lesson->begins[row + 1]);
            assert_int_equal(lesson->columns[at], column);
            assert_true(lesson->values[at] == 1.0 + nigh__ln(l->counts[i].count));
            at++;
        }
    }
    assert_int_equal(at, lesson->begins[row + 1]);
}

/* The columns hold what the rows hold. */
static void expect_transposed(const struct nigh__lesson *lesson) {
    assert_int_equal(lesson->column_begins[lesson->features], lesson->begins[lesson->rows]);
    for (uint32_t column = 0; column < lesson->features; column++) {
        for (uint64_t i = lesson->column_begins[column]; i < lesson->column_begins[column + 1]; i++) {
            const uint32_t row = lesson->column_rows[i];
            uint64_t at = lesson->begins[row];
            while (at < lesson->begins[row + 1] && lesson->columns[at] != column) at++;
            assert_true(at < lesson->begins[row + 1]);
            assert_true(lesson->values[at] == lesson->column_values[i]);
            assert_true(fabs(lesson->values[at] - 1 - log(lesson->column_counts[i])) < 1e-9);
            assert_true(i == lesson->column_begins[column] || row > lesson->column_rows[i - 1]);
        }
    }
}

static void test_matrix(void **state) {
    struct made *made = made_random(*state, 9, 400, 5);
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    options.max_features = 50;
    for (uint32_t d = 0; d < 400; d += 3) made->parts[d] = NIGH__PART_TEST;
    made->labelled.has_parts = true;
    struct nigh__lesson *lesson = lesson_ok(&made->labelled, &options, 1);
    uint32_t labelled = 0;
    for (uint32_t row = 0; row < lesson->rows; row++) {
        expect_row(&made->labelled, lesson, row);
        assert_true(lesson->begins[row + 1] > lesson->begins[row]);
        const uint32_t d = lesson->documents[row];
        const uint64_t classes = lesson->class_begins[row + 1] - lesson->class_begins[row];
        assert_int_equal(made->parts[d], NIGH__PART_TRAIN);
        assert_int_equal(classes, made->class_begins[d + 1] - made->class_begins[d]);
        if (classes > 0)
            assert_memory_equal(lesson->row_classes + lesson->class_begins[row], made->classes + made->class_begins[d],
                                classes * sizeof(uint32_t));
        labelled += classes > 0;
    }
    assert_int_equal(lesson->labelled, labelled);
    expect_transposed(lesson);
    nigh__lesson_free(lesson);
    free(made);
}

static void test_threads(void **state) {
    struct made *made = made_random(*state, 4, 500, 30);
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    options.max_features = 100;
    options.threads = 1;
    struct nigh__lesson *one = lesson_ok(&made->labelled, &options, 0.5);
    options.threads = 4;
    struct nigh__lesson *four = lesson_ok(&made->labelled, &options, 0.5);
    assert_memory_equal(one->chosen, four->chosen, 100 * sizeof *one->chosen);
    assert_memory_equal(one->chi, four->chi, 100 * sizeof *one->chi);
    assert_int_equal(one->rows, four->rows);
    assert_memory_equal(one->values, four->values, one->begins[one->rows] * sizeof *one->values);
    nigh__lesson_free(one);
    nigh__lesson_free(four);
    free(made);
}

static void test_share(void **state) {
    struct made *made = made_random(*state, 6, 500, 4);
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    options.max_features = 300;
    struct nigh__lesson *all = lesson_ok(&made->labelled, &options, 1);
    struct nigh__lesson *some = lesson_ok(&made->labelled, &options, 0.25);
    assert_true(some->rows > all->labelled / 2); /* the others stay, without a label */
    assert_int_equal(some->labelled, (all->labelled + 3) / 4);
    options.seed = 1;
    struct nigh__lesson *others = lesson_ok(&made->labelled, &options, 0.25);
    assert_int_equal(others->labelled, some->labelled);
    assert_memory_not_equal(some->class_begins, others->class_begins, 100 * sizeof *some->class_begins);
    nigh__lesson_free(all);
    nigh__lesson_free(some);
    nigh__lesson_free(others);
    struct nigh__lesson *none;
    nigh_error error;
    assert_int_equal(nigh__lesson_make(&made->labelled, &options, 0, &none, &error), NIGH_EINVAL);
    assert_int_equal(nigh__lesson_make(&made->labelled, &options, (double)NAN, &none, &error), NIGH_EINVAL);
    free(made);
}

/* ------------------------------------------------------------------ labels */

/* Six documents, of the classes listed for each ("a", "ab", "": none), all with features 0 and 1. */
static void expect_labels(nigh_context *context, const char *const *lists, nigh_learn_method method,
                          const char *message) {
    struct made *made = made_new(context, 2, 4);
    for (uint32_t d = 0; d < 6; d++) {
        for (const char *at = lists[d]; *at != '\0'; at++) made_add_class(made, (uint32_t)(*at - 'a'));
        made_add_feature(made, 0, 1);
        made_add_feature(made, 1, 2);
        made_end(made, NIGH__PART_TRAIN);
    }
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    struct nigh__lesson *lesson = NULL;
    nigh_error error;
    options.method = method;
    nigh_status status = nigh__lesson_make(made_finish(made), &options, 1, &lesson, &error);
    if (message == NULL) {
        support_assert_ok(status, &error, "nigh__lesson_make", __FILE__, __LINE__);
        assert_int_equal(lesson->rows, 6);
    } else {
        assert_int_equal(status, NIGH_EINVAL);
        if (strstr(error_text(&error), message) == NULL) fail_msg("%s", error_text(&error));
    }
    nigh__lesson_free(lesson);
    free(made);
}

static void test_labels(void **state) {
    static const char *const none[6] = {"", "", "", "", "", ""}, *const one[6] = {"a", "a", "a", "", "a", "a"};
    static const char *const lone[6] = {"a", "b", "c", "d", "", ""}, *const all[6] = {"ab", "ac", "a", "a", "", "ad"};
    static const char *const good[6] = {"a", "a", "b", "c", "", "ab"};
    expect_labels(*state, none, NIGH_LEARN_S3H, "label_key");
    expect_labels(*state, one, NIGH_LEARN_CODEWORDS, "two classes");
    expect_labels(*state, lone, NIGH_LEARN_SSH, "in common");
    expect_labels(*state, all, NIGH_LEARN_CHI, "every labelled document");
    expect_labels(*state, good, NIGH_LEARN_S3H_F, NULL);
    expect_labels(*state, none, NIGH_LEARN_SIMHASH, NULL);
    expect_labels(*state, one, NIGH_LEARN_KLSH, NULL);
    expect_labels(*state, lone, NIGH_LEARN_KLSH, NULL);
}

/* Without classes, the features of the most documents. */
static void test_by_documents(void **state) {
    struct made *made = made_new(*state, 5, 0);
    for (uint32_t d = 0; d < 10; d++) {
        for (uint32_t f = 0; f < 5; f++)
            if (d < f * 2 + 1) made_add_feature(made, f, 1);
        made_end(made, NIGH__PART_TRAIN);
    }
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    options.method = NIGH_LEARN_SIMHASH;
    options.max_features = 2;
    struct nigh__lesson *lesson = lesson_ok(made_finish(made), &options, 1);
    assert_int_equal(lesson->features, 2);
    assert_int_equal(lesson->chosen[0], 3);
    assert_int_equal(lesson->chosen[1], 4);
    assert_int_equal(lesson->rows, 9);
    assert_true(lesson->chi[0] == 0);
    nigh__lesson_free(lesson);
    struct nigh__lesson *none;
    nigh_error error;
    options.min_documents = 11;
    assert_int_equal(nigh__lesson_make(&made->labelled, &options, 1, &none, &error), NIGH_EINVAL);
    options.min_documents = 3;
    options.memory_bytes = 100;
    assert_int_equal(nigh__lesson_make(&made->labelled, &options, 1, &none, &error), NIGH_ELIMIT);
    options.memory_bytes = 0;
    made->labelled.has_parts = true;
    memset(made->parts, NIGH__PART_TEST, 10);
    assert_int_equal(nigh__lesson_make(&made->labelled, &options, 1, &none, &error), NIGH_EINVAL);
    assert_non_null(strstr(error_text(&error), "train"));
    free(made);
}

static void test_options(void **state) {
    (void)state;
    nigh_learn_options options, filled;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    nigh_error error;
    assert_ok(nigh__learn_options_fill(NULL, &filled, &error), &error);
    assert_int_equal(filled.width_bits, 32);
    assert_int_equal(filled.max_features, 10000);
    assert_int_equal(filled.iterations, 60);
    assert_true(filled.l2 < 0);
    assert_true(filled.kernel_width == 0.5);
    assert_true(filled.count_contribution == 0 && filled.count_values == 0 && filled.paper_lambda == 0);
    options.width_bits = 1025;
    assert_int_equal(nigh__learn_options_fill(&options, &filled, &error), NIGH_EINVAL);
    options.width_bits = 1032;
    assert_int_equal(nigh__learn_options_fill(&options, &filled, &error), NIGH_EINVAL);
    options.width_bits = 1024;
    options.l1 = (double)NAN;
    assert_int_equal(nigh__learn_options_fill(&options, &filled, &error), NIGH_EINVAL);
    options.l1 = 0;
    assert_int_equal(nigh__learn_options_fill(&options, &filled, &error), NIGH_EINVAL);
    options.l1 = -0.5;
    assert_int_equal(nigh__learn_options_fill(&options, &filled, &error), NIGH_EINVAL);
    options.l1 = -1;
    options.l2 = 0;
    assert_int_equal(nigh__learn_options_fill(&options, &filled, &error), NIGH_EINVAL);
    options.l2 = -4;
    assert_int_equal(nigh__learn_options_fill(&options, &filled, &error), NIGH_EINVAL);
    options.l2 = -1;
    options.method = (nigh_learn_method)99;
    assert_int_equal(nigh__learn_options_fill(&options, &filled, &error), NIGH_EINVAL);
    assert_null(nigh_learn_method_name((nigh_learn_method)99));
    options.method = NIGH_LEARN_KLSH;
    options.anchors = 20;
    assert_ok(nigh__learn_options_fill(&options, &filled, &error), &error);
    assert_int_equal(filled.anchor_sample, 20);
    options.anchor_sample = 21;
    assert_int_equal(nigh__learn_options_fill(&options, &filled, &error), NIGH_EINVAL);
    assert_string_equal(nigh_learn_method_name(NIGH_LEARN_S3H_F), "s3h-f");
}

/* Published or not: all as as_paper says, but for those that say it themselves. */
static void test_switches(void **state) {
    (void)state;
    nigh_learn_options options, filled;
    nigh_error error;
    nigh_learn_options_init(&options);
    options.method = NIGH_LEARN_S3H;
    options.as_paper = 1;
    options.count_values = 0;
    assert_ok(nigh__learn_options_fill(&options, &filled, &error), &error);
    assert_true(filled.count_contribution == 1 && filled.count_values == 0 && filled.paper_lambda == 1);
    assert_false(nigh__learn_counts(&filled));
    options.as_paper = 0;
    options.count_values = 1;
    assert_ok(nigh__learn_options_fill(&options, &filled, &error), &error);
    assert_true(filled.count_contribution == 0 && filled.count_values == 1 && filled.paper_lambda == 0);
    assert_true(nigh__learn_counts(&filled));
    filled.method = NIGH_LEARN_CODEWORDS;
    assert_false(nigh__learn_counts(&filled));
    static const double wrong[] = {0, 0.0009, 1e7, (double)INFINITY, (double)NAN};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        options.kernel_width = wrong[i];
        assert_int_equal(nigh__learn_options_fill(&options, &filled, &error), NIGH_EINVAL);
    }
}

static void test_signs(void **state) {
    const nigh_context *context = *state;
    const struct nigh__projection *kernel = nigh__projection_choose(context->hamming->name);
    const uint64_t hash = nigh__mix(77);
    const uint32_t weight = 1;
    const struct nigh__bag bag = {.hashes = &hash, .weights = &weight, .count = 1};
    uint32_t ones[192] = {0};
    int8_t signs[192];
    nigh__simhash_add(kernel, &bag, 3, ones);
    nigh__lesson_signs(hash, 192, signs);
    for (int j = 0; j < 192; j++) assert_int_equal(signs[j], ones[j] == 1 ? 1 : -1);
}

/* ------------------------------------------------------------------- pairs */

static bool rows_share(const struct nigh__lesson *lesson, uint32_t a, uint32_t b) {
    for (uint64_t i = lesson->class_begins[a]; i < lesson->class_begins[a + 1]; i++)
        for (uint64_t j = lesson->class_begins[b]; j < lesson->class_begins[b + 1]; j++)
            if (lesson->row_classes[i] == lesson->row_classes[j]) return true;
    return false;
}

static void expect_pairs(const struct nigh__lesson *lesson, const struct nigh__pairing *pairing) {
    uint64_t attractions = 0, repulsions = 0;
    int64_t sum = 0;
    for (uint32_t row = 0; row < lesson->rows; row++) {
        for (uint64_t i = pairing->begins[row]; i < pairing->begins[row + 1]; i++) {
            const uint32_t other = pairing->others[i];
            assert_int_not_equal(other, row);
            assert_int_equal(rows_share(lesson, row, other), pairing->signs[i] == 1);
            attractions += pairing->signs[i] == 1;
            repulsions += pairing->signs[i] == -1;
            /* both ways the same: what one row adds the other takes away */
            sum += (row < other ? 1 : -1) * (int64_t)(nigh__mix(row ^ other) >> 20) * pairing->signs[i];
        }
    }
    assert_int_equal(attractions, pairing->attractions * 2);
    assert_int_equal(repulsions, pairing->repulsions * 2);
    assert_int_equal(sum, 0);
}

static void test_pairs(void **state) {
    nigh_context *context = *state;
    struct made *made = made_random(context, 8, 300, 6);
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    options.attraction_pairs = 500;
    options.repulsion_pairs = 700;
    struct nigh__lesson *lesson = lesson_ok(&made->labelled, &options, 1);
    struct nigh__pairing pairing, again, other;
    nigh_error error;
    assert_ok(nigh__pairing_make(lesson, &pairing, &error), &error);
    assert_int_equal(pairing.attractions, 500);
    assert_int_equal(pairing.repulsions, 700);
    expect_pairs(lesson, &pairing);
    assert_ok(nigh__pairing_make(lesson, &again, &error), &error);
    assert_memory_equal(pairing.others, again.others, 2400 * sizeof *pairing.others);
    assert_memory_equal(pairing.signs, again.signs, 2400);
    nigh__lesson_free(lesson);
    options.seed = 2;
    lesson = lesson_ok(&made->labelled, &options, 1);
    assert_ok(nigh__pairing_make(lesson, &other, &error), &error);
    assert_memory_not_equal(pairing.others, other.others, 2400 * sizeof *pairing.others);
    nigh__lesson_free(lesson);
    nigh__pairing_release(context, &pairing);
    nigh__pairing_release(context, &again);
    nigh__pairing_release(context, &other);
    free(made);
}

/* Any two share a class, though no class has all of them. */
static void test_no_repulsion(void **state) {
    static const uint32_t classes[3][2] = {{0, 1}, {1, 2}, {0, 2}};
    struct made *made = made_new(*state, 1, 3);
    for (uint32_t d = 0; d < 9; d++) {
        made_add_class(made, classes[d % 3][0]);
        made_add_class(made, classes[d % 3][1]);
        made_add_feature(made, 0, 1);
        made_end(made, NIGH__PART_TRAIN);
    }
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    struct nigh__lesson *lesson = lesson_ok(made_finish(made), &options, 1);
    struct nigh__pairing pairing;
    nigh_error error;
    assert_int_equal(nigh__pairing_make(lesson, &pairing, &error), NIGH_EINVAL);
    nigh__lesson_free(lesson);
    free(made);
}

static void test_no_memory(void **state) {
    (void)state;
    struct faulty_memory memory = {.fail_at = UINT64_MAX};
    nigh_allocator allocator = faulty_memory_allocator(&memory);
    nigh_context *context = context_with(NULL, &allocator, NULL);
    struct made *made = made_random(context, 3, 100, 4);
    nigh_learn_options options;
    nigh__options_defaults(&nigh__learn_options_shape, &options);
    const int64_t before = memory.live;
    options.threads = 1;
    nigh_status status = NIGH_ENOMEM;
    for (uint64_t fail_at = 0; status == NIGH_ENOMEM; fail_at++) {
        struct nigh__lesson *lesson;
        struct nigh__pairing pairing = {0};
        nigh_error error;
        memory.fail_at = memory.calls + fail_at;
        status = nigh__lesson_make(&made->labelled, &options, 1, &lesson, &error);
        if (status == NIGH_OK) status = nigh__pairing_make(lesson, &pairing, &error);
        assert_true(status == NIGH_OK || status == NIGH_ENOMEM);
        nigh__pairing_release(context, &pairing);
        nigh__lesson_free(lesson);
        assert_int_equal(memory.live, before);
    }
    memory.fail_at = UINT64_MAX;
    free(made);
    nigh_context_free(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chi),          cmocka_unit_test(test_ties),    cmocka_unit_test(test_matrix),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_share),   cmocka_unit_test(test_labels),
        cmocka_unit_test(test_by_documents), cmocka_unit_test(test_options), cmocka_unit_test(test_signs),
        cmocka_unit_test(test_switches),     cmocka_unit_test(test_pairs),   cmocka_unit_test(test_no_repulsion),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, context_setup, context_teardown);
}
