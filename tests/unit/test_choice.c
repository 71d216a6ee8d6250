/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan: which settings it lists and in what order, that memory and comparisons
 * are those of the equations, and that the one it recommends is the fastest that fits.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "finder/choice.h"
#include "finder/finder_options.h"
#include "finder/sorted.h"
#include "finder/tables.h"
#include "support/support.h"

enum { MAX = NIGH__MAX_CHOICES };

static size_t plan(const nigh_plan_options *options, nigh_plan_row *rows) {
    nigh_error error;
    size_t count = 0;
    assert_ok(nigh_plan_finder(options, rows, MAX, &count, &error), &error);
    assert_true(count <= MAX);
    return count;
}

/* The row that is marked; fails where there are several.  NULL: none. */
static const nigh_plan_row *marked(const nigh_plan_row *rows, size_t count) {
    const nigh_plan_row *found = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!rows[i].recommended) continue;
        assert_null(found);
        assert_true(rows[i].fits);
        found = &rows[i];
    }
    return found;
}

static void test_names(void **state) {
    (void)state;
    assert_string_equal(nigh_finder_method_name(NIGH_FINDER_AUTO), "auto");
    assert_string_equal(nigh_finder_method_name(NIGH_FINDER_SCAN), "scan");
    assert_string_equal(nigh_finder_method_name(NIGH_FINDER_TABLES), "tables");
    assert_string_equal(nigh_finder_method_name(NIGH_FINDER_PSM), "psm");
    assert_null(nigh_finder_method_name((nigh_finder_method)4));
    assert_null(nigh_finder_method_name((nigh_finder_method)-1));
}

static void test_rows(void **state) {
    (void)state;
    nigh_plan_row rows[MAX];
    nigh_plan_options options;
    nigh__options_defaults(&nigh__plan_options_shape, &options);
    options.rows = 10000000;
    const size_t count = plan(&options, rows);
    assert_true(count >= 12);
    assert_int_equal(rows[0].method, NIGH_FINDER_SCAN);
    assert_true(rows[0].compared == 1e7);
    for (uint32_t leading = 1; leading <= 7; leading++) {
        const nigh_plan_row *row = &rows[leading];
        assert_int_equal(row->method, NIGH_FINDER_TABLES);
        assert_int_equal(row->leading, leading);
        assert_int_equal(row->blocks, leading + 3);
        assert_int_equal(row->tables, nigh__tables_count(leading + 3, leading));
        assert_true(row->recall == 1 && row->fits);
        assert_int_equal(row->bytes, nigh__tables_bytes(options.rows, 64, row->blocks, leading) + 8 * options.rows);
    }
    assert_true(rows[1].compared == 4 * 1e7 / 65536); /* (6.6) with L = 4 and xf/z = 16 */
    for (size_t i = 8; i < count; i++) {
        const nigh_plan_row *row = &rows[i];
        const struct nigh__sorted_plan sorted = {
            .prefix_bits = row->prefix_bits, .probes = row->probes, .rotations = row->rotations};
        assert_int_equal(row->method, NIGH_FINDER_PSM);
        assert_int_equal(row->bytes, nigh__sorted_bytes(options.rows, 64, &sorted));
        assert_true(row->recall >= 0.9 && row->recall <= 1 && !row->fits);
        const double compared = row->rotations * (double)row->probes * 1e7 / (double)(1u << row->prefix_bits);
        assert_true(row->compared == compared); /* (6.21) */
    }
    for (size_t i = 0; i < count; i++) assert_true(rows[i].query_seconds > 0 && rows[i].build_seconds > 0);
    assert_int_equal(marked(rows, count)->method, NIGH_FINDER_TABLES);
}

/* The fastest of those that fit, building included where queries are few. */
static void test_recommended(void **state) {
    (void)state;
    nigh_plan_row rows[MAX];
    static const uint64_t memories[] = {0, 20000000, 8000000, 7000000};
    static const uint64_t queries[] = {0, 1, 100000};
    static const double recalls[] = {1, 0.95};
    for (size_t i = 0; i < (size_t)4 * 3 * 2; i++) {
        nigh_plan_options options;
        nigh__options_defaults(&nigh__plan_options_shape, &options);
        options.rows = 1000000;
        options.memory_bytes = memories[i % 4];
        options.queries = queries[i / 4 % 3];
        options.recall = recalls[i / 12];
        const size_t count = plan(&options, rows);
        const nigh_plan_row *best = marked(rows, count);
        for (size_t j = 0; j < count; j++) {
            const bool fits = rows[j].recall >= options.recall &&
                              (options.memory_bytes == 0 || rows[j].bytes <= options.memory_bytes);
            assert_int_equal(rows[j].fits != 0, fits);
            if (!fits) continue;
            assert_non_null(best);
            const double share = options.queries == 0 ? 0 : 1 / (double)options.queries;
            assert_true(best->query_seconds + share * best->build_seconds <=
                        rows[j].query_seconds + share * rows[j].build_seconds);
        }
        /* The finder's own way to ask. */
        nigh_plan_row chosen;
        nigh_error error;
        if (best == NULL) {
            assert_int_equal(nigh__choose(&options, &chosen, &error), NIGH_ELIMIT);
            continue;
        }
        assert_ok(nigh__choose(&options, &chosen, &error), &error);
        assert_memory_equal(&chosen, best, sizeof chosen);
        assert_int_equal(nigh__predict(&options, &chosen, &error), NIGH_OK);
        assert_true(chosen.query_seconds == best->query_seconds && chosen.bytes == best->bytes);
    }
    nigh_plan_options options;
    nigh__options_defaults(&nigh__plan_options_shape, &options);
    options.rows = 1000000;
    options.queries = 1;
    assert_int_equal(marked(rows, plan(&options, rows))->method, NIGH_FINDER_SCAN);
    options.queries = 0;
    options.recall = 0.9;
    options.memory_bytes = 14000000;
    assert_int_equal(marked(rows, plan(&options, rows))->method, NIGH_FINDER_PSM);
}

static void test_other_widths(void **state) {
    (void)state;
    nigh_plan_row rows[MAX];
    static const struct {
        uint64_t rows;
        uint32_t width_bits, radius;
    } cases[] = {{1, 8, 0}, {1, 8, 8}, {2, 64, 0}, {100000, 256, 36}, {5000, 1024, 3}, {UINT32_MAX - 1, 65536, 65536}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nigh_plan_options options;
        nigh__options_defaults(&nigh__plan_options_shape, &options);
        options.rows = cases[i].rows;
        options.width_bits = cases[i].width_bits;
        options.radius = cases[i].radius;
        const size_t count = plan(&options, rows);
        assert_non_null(marked(rows, count));
        for (size_t j = 0; j < count; j++) {
            assert_true(rows[j].query_seconds > 0 && rows[j].recall > 0);
            if (rows[j].method != NIGH_FINDER_TABLES) continue;
            assert_true(rows[j].blocks - rows[j].leading >= cases[i].radius && rows[j].leading >= 1);
            assert_true(rows[j].blocks <= cases[i].width_bits);
        }
    }
}

/* Batches against a file: (6.13) to (6.20). */
static void test_batch(void **state) {
    (void)state;
    nigh_plan_row rows[MAX];
    nigh_costs costs = {.size = sizeof costs};
    nigh_plan_options options;
    nigh__options_defaults(&nigh__plan_options_shape, &options);
    nigh_costs_default(&costs);
    options.rows = 60000000;
    options.batch = 1000000;
    options.costs = &costs;
    const size_t count = plan(&options, rows);
    assert_true(count >= 10);
    assert_int_equal(rows[0].method, NIGH_FINDER_SCAN);
    assert_true(rows[1].compared == 4 * 6e7 / 65536); /* n m 2^(-xf/z) of 4 tables, for one of m */
    uint32_t psm = 0;
    for (size_t i = 0; i < count; i++) {
        assert_true(rows[i].query_seconds > 0 && rows[i].build_seconds > 0 && rows[i].bytes > 33 * options.batch);
        if (rows[i].method != NIGH_FINDER_PSM) continue;
        psm++;
        assert_int_equal(rows[i].rotations, 1);
        assert_true(rows[i].prefix_bits <= nigh__sorted_prefix_bits(options.batch));
        assert_true(rows[i].compared == rows[i].probes * 6e7 / (double)(1u << rows[i].prefix_bits));
        assert_true(rows[i].bytes > 16 * options.batch * rows[i].probes);
    }
    assert_true(psm >= 3);
    /* Twice the file takes twice the time; preparing the batch does not. */
    nigh_plan_row once = {.method = NIGH_FINDER_PSM, .prefix_bits = 17, .probes = 20, .rotations = 1};
    nigh_plan_row twice = once;
    nigh_plan_row thrice = once;
    nigh_error error;
    assert_ok(nigh__predict(&options, &once, &error), &error);
    options.rows *= 2;
    assert_ok(nigh__predict(&options, &twice, &error), &error);
    options.rows += 60000000;
    assert_ok(nigh__predict(&options, &thrice, &error), &error);
    assert_true(twice.query_seconds < 2 * once.query_seconds);
    assert_true(fabs((thrice.query_seconds - twice.query_seconds) / (twice.query_seconds - once.query_seconds) - 1) <
                1e-9);
    /* A slow disk is what takes the time, (6.15) and (6.20), the same for all that is not slower. */
    options.rows = 60000000;
    costs.read_bytes = 1e6;
    assert_int_equal(plan(&options, rows), count);
    assert_true(rows[1].query_seconds == 6e7 * 12 / 1e6 / 1e6);
    assert_true(rows[count - 1].query_seconds == rows[1].query_seconds);
    /* More rows than a finder holds, and a batch that is larger than the file. */
    costs.read_bytes = 500e6;
    options.rows = UINT64_C(10000000000);
    assert_non_null(marked(rows, plan(&options, rows)));
    options.rows = 10;
    assert_non_null(marked(rows, plan(&options, rows)));
}

/* What is found is charged for each match, and more the more tables there are. */
static void test_matches(void **state) {
    (void)state;
    nigh_plan_row rows[3][MAX];
    nigh_plan_options options;
    nigh__options_defaults(&nigh__plan_options_shape, &options);
    for (size_t batch = 0; batch < 2; batch++) {
        size_t count = 0;
        options.rows = 2000000;
        options.batch = batch * 500000;
        for (size_t i = 0; i < 3; i++) {
            options.matches = (double)i;
            count = plan(&options, rows[i]);
        }
        assert_int_equal(rows[0][1].tables, 4);
        assert_int_equal(rows[0][3].tables, 20);
        for (size_t i = 0; i < count; i++) {
            const double one = rows[1][i].query_seconds - rows[0][i].query_seconds;
            assert_true(one > 10e-9 && one < 20e-6);
            assert_int_equal(rows[0][i].probes, rows[2][i].probes);
            assert_true(fabs((rows[2][i].query_seconds - rows[0][i].query_seconds) / (2 * one) - 1) < 1e-6);
            assert_true(rows[2][i].build_seconds == rows[0][i].build_seconds);
        }
        assert_true(rows[1][3].query_seconds - rows[0][3].query_seconds >
                    1.5 * (rows[1][1].query_seconds - rows[0][1].query_seconds));
    }
}

/* No room for all: they are counted, and nothing is written past the end. */
/* The least and the most there can be: every prediction is a number, and a sane one. */
static void test_extremes(void **state) {
    (void)state;
    nigh_plan_row rows[MAX];
    static const uint64_t counts[] = {1, 2, 3, UINT32_MAX - 1, UINT64_C(1) << 32, UINT64_C(1) << 48};
    static const uint64_t batches[] = {0, 1, UINT32_MAX - 1};
    static const uint32_t radii[] = {0, 1, 3, 36, 64};
    for (size_t i = 0; i < (size_t)6 * 3 * 5 * 3; i++) {
        nigh_plan_options options;
        nigh__options_defaults(&nigh__plan_options_shape, &options);
        options.rows = counts[i % 6];
        options.batch = batches[i / 6 % 3];
        options.radius = radii[i / 18 % 5];
        if (options.batch == 0 && options.rows >= UINT32_MAX) continue;
        const double matches[] = {0, 1, (double)options.rows};
        options.matches = matches[i / 90];
        options.recall = 0.5;
        const size_t count = plan(&options, rows);
        for (size_t j = 0; j < count; j++) {
            const nigh_plan_row *row = &rows[j];
            assert_true(row->query_seconds > 0 && row->query_seconds < 1e16);
            assert_true(row->build_seconds >= 0 && row->build_seconds < 1e9);
            assert_true(row->compared > 0 && row->compared < 1e18);
            assert_true(row->recall > 0 && row->recall <= 1);
            assert_true(row->bytes > 0 && row->bytes <= UINT64_C(1000000000000000000));
        }
        assert_non_null(marked(rows, count));
    }
}

static void test_capacity(void **state) {
    (void)state;
    nigh_plan_row all[MAX];
    nigh_plan_row few[4];
    nigh_plan_options options;
    nigh__options_defaults(&nigh__plan_options_shape, &options);
    nigh_error error;
    size_t count = 0;
    options.rows = 1000000;
    const size_t total = plan(&options, all);
    memset(few, 0x5a, sizeof few);
    assert_ok(nigh_plan_finder(&options, few, 3, &count, &error), &error);
    assert_int_equal(count, total);
    assert_memory_equal(few, all, 3 * sizeof few[0]);
    for (size_t i = 0; i < sizeof few[3]; i++) assert_int_equal(((const uint8_t *)&few[3])[i], 0x5a);
    assert_ok(nigh_plan_finder(&options, NULL, 0, &count, &error), &error);
    assert_int_equal(count, total);
}

static void test_refused(void **state) {
    (void)state;
    const nigh_plan_options good = {.size = sizeof good, .rows = 10, .width_bits = 64, .radius = 3, .recall = 1};
    nigh_plan_options bad[15];
    nigh_error error;
    size_t count;
    for (size_t i = 0; i < 15; i++) bad[i] = good;
    bad[0].rows = 0;
    bad[1].rows = UINT32_MAX;
    bad[2].width_bits = 0;
    bad[3].width_bits = NIGH_MAX_WIDTH_BITS + 1;
    bad[4].radius = 65;
    bad[5].recall = 0;
    bad[6].recall = 1.5;
    bad[7].recall = (double)NAN;
    bad[8].mode = (nigh_find_mode)3;
    bad[9].batch = UINT32_MAX;
    bad[10].batch = 1;
    bad[10].width_bits = 128;
    bad[11].batch = 1;
    bad[11].rows = UINT64_MAX;
    bad[12].matches = -0.1;
    bad[13].matches = (double)NAN;
    bad[14].matched = 1.1;
    for (size_t i = 0; i < 15; i++) {
        nigh_plan_row row;
        assert_int_equal(nigh_plan_finder(&bad[i], &row, 1, &count, &error), NIGH_EINVAL);
        assert_int_equal(nigh__choose(&bad[i], &row, &error), NIGH_EINVAL);
        assert_int_equal(nigh__predict(&bad[i], &row, &error), NIGH_EINVAL);
    }
}

/* The more queries have a match, the less is looked up by who stops at it; who does not, looks up all. */
static void test_stopping(void **state) {
    (void)state;
    static const nigh_plan_row settings[] = {
        {.method = NIGH_FINDER_TABLES, .blocks = 5, .leading = 2},
        {.method = NIGH_FINDER_PSM, .prefix_bits = 23, .probes = 48, .rotations = 1},
        {.method = NIGH_FINDER_PSM, .prefix_bits = 23, .probes = 8, .rotations = 2}};
    nigh_plan_options options;
    nigh__options_defaults(&nigh__plan_options_shape, &options);
    options.rows = 10000000;
    options.matches = 0;
    for (size_t i = 0; i < 3; i++) {
        nigh_plan_row all = settings[i];
        nigh_plan_row none = settings[i];
        nigh_error error;
        options.mode = NIGH_FIND_ALL;
        options.matched = NIGH_DEFAULT;
        assert_ok(nigh__predict(&options, &all, &error), &error);
        options.mode = NIGH_FIND_ANY;
        options.matched = 0;
        assert_ok(nigh__predict(&options, &none, &error), &error);
        assert_true(none.compared == all.compared && none.query_seconds == all.query_seconds);
        double before = none.compared;
        for (int quarters = 1; quarters <= 4; quarters++) {
            nigh_plan_row some = settings[i];
            options.matched = quarters / 4.0;
            assert_ok(nigh__predict(&options, &some, &error), &error);
            assert_true(some.compared < before);
            before = some.compared;
        }
        assert_true(before < 0.5 * all.compared); /* all have one */
    }
}

/* Every constant is in some prediction, each of which grows with it in proportion. */
static void test_costs(void **state) {
    (void)state;
    nigh_costs costs = {.size = sizeof costs};
    nigh_costs_default(&costs);
    double *const constants[] = {&costs.compare, &costs.miss,      &costs.permute, &costs.enumerate, &costs.sort,
                                 &costs.fill,    &costs.scan_byte, &costs.query,   &costs.take,      &costs.whole,
                                 &costs.key,     &costs.visit,     &costs.load,    &costs.hit};
    nigh_plan_options options;
    nigh__options_defaults(&nigh__plan_options_shape, &options);
    options.rows = 3000000;
    options.costs = &costs;
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        const nigh_plan_row settings[] = {{.method = NIGH_FINDER_SCAN},
                                          {.method = NIGH_FINDER_TABLES, .blocks = 4, .leading = 1},
                                          {.method = NIGH_FINDER_PSM, .prefix_bits = 20, .probes = 20, .rotations = 2}};
        const double usual = *constants[i];
        bool used = false;
        assert_true(usual > 0);
        for (size_t j = 0; j < 6; j++) {
            double sums[3];
            nigh_error error;
            options.batch = j < 3 ? 0 : 1000000;
            for (int k = 0; k < 3; k++) {
                nigh_plan_row row = settings[j % 3];
                *constants[i] = usual * (1 + 1000 * k);
                assert_ok(nigh__predict(&options, &row, &error), &error);
                sums[k] = row.query_seconds + row.build_seconds;
            }
            const double first = sums[1] - sums[0];
            const double second = sums[2] - sums[1];
            assert_true(first >= 0 && second - first < 1e-6 * second + 1e-12 && first - second < 1e-6 * second + 1e-12);
            used = used || first > 0;
        }
        *constants[i] = usual;
        assert_true(used);
    }
    /* One that is shorter, as of an older caller: the rest is as usual. */
    nigh_plan_row rows[2][MAX];
    options.batch = 0;
    options.costs = NULL;
    const size_t count = plan(&options, rows[0]);
    costs.size = offsetof(nigh_costs, take);
    costs.take = 1e9;
    options.costs = &costs;
    assert_int_equal(plan(&options, rows[1]), count);
    assert_memory_equal(rows[0], rows[1], count * sizeof rows[0][0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),        cmocka_unit_test(test_rows),     cmocka_unit_test(test_recommended),
        cmocka_unit_test(test_other_widths), cmocka_unit_test(test_capacity), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_costs),        cmocka_unit_test(test_batch),    cmocka_unit_test(test_matches),
        cmocka_unit_test(test_extremes),     cmocka_unit_test(test_stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
