/* SPDX-License-Identifier: Apache-2.0 */
/* From documents to a term signature file: nothing is ever lost, whatever kind, group, thread or memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/filter_support.h"
#include "support/support.h"
#include "support/terms_support.h"

#define LINES 600u

struct fixture {
    nigh_context *context;
    char *scratch, *path, *input;
};

static int setup(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    f->context = context_new();
    f->scratch = scratch_new();
    f->path = path_in(f->scratch, "t.terms");
    f->input = path_in(f->scratch, "input.txt");
    *state = f;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    nigh_context_free(f->context);
    scratch_free(f->scratch);
    free(f->path);
    free(f->input);
    free(f);
    return 0;
}

static nigh_terms *open_terms(const struct fixture *f) {
    nigh_open_options options;
    nigh_open_options_init(&options);
    nigh_terms *terms;
    nigh_error error;
    options.verify = 1;
    assert_ok(nigh_terms_open(f->context, f->path, &options, &terms, &error), &error);
    assert_ok(nigh_terms_check(f->context, f->path, NULL, NULL, &error), &error);
    return terms;
}

static char *joined(const char *a, const char *b) {
    char *text = malloc(strlen(a) + strlen(b) + 1);
    assert_non_null(text);
    (void)sprintf(text, "%s%s", a, b);
    return text;
}

/* --------------------------------------------------------------------- tests */

static void test_every_word_is_found(void **state) {
    const struct fixture *f = *state;
    char *text = topic_lines(1, LINES, 20);
    for (nigh_filter_kind kind = NIGH_FILTER_HYBRID; kind <= NIGH_FILTER_COCA; kind++) {
        const nigh_terms_options options = terms_options(kind);
        nigh_terms_info info = {.size = sizeof info};
        nigh_error error;
        remove_tree(f->path);
        assert_ok(terms_add_lines(f->context, f->path, f->input, text, &options, &info, &error), &error);
        nigh_terms *terms = open_terms(f);
        terms_expect_lines(terms, text);
        assert_int_equal(info.kind, kind);
        assert_int_equal(info.groups, 1);
        assert_int_equal(info.documents, LINES);
        assert_int_equal(info.reader.documents, LINES);
        assert_int_equal(info.terms == 0, kind == NIGH_FILTER_BLOOM);
        assert_true(info.bits_per_term > 7 && info.bits_per_term < 9);
        assert_true(info.fill > 0.05 && info.fill < 0.75);
        assert_true(info.expected_error >= 0 && info.expected_error < 0.2);
        assert_int_equal(info.row_bytes, info.filter_bits * ((info.blocks + 511) / 512 * 64));
        nigh_terms_close(terms);
    }
    free(text);
}

/* The same words again, new ones, and ones that were in one block only: positions stay, and all is found. */
static void test_appending_loses_nothing(void **state) {
    const struct fixture *f = *state;
    char *first = topic_lines(1, LINES, 20);
    for (nigh_filter_kind kind = NIGH_FILTER_HYBRID; kind <= NIGH_FILTER_COCA; kind++) {
        const nigh_terms_options options = terms_options(kind);
        nigh_error error;
        char *all = joined(first, "");
        remove_tree(f->path);
        assert_ok(terms_add_lines(f->context, f->path, f->input, first, &options, NULL, &error), &error);
        for (uint64_t seed = 1; seed <= 4; seed++) {
            char *more = topic_lines(seed % 4, 100 * seed, 30);
            char *together = joined(all, more);
            assert_ok(terms_add_lines(f->context, f->path, f->input, more, &options, NULL, &error), &error);
            free(all);
            free(more);
            all = together;
        }
        nigh_terms *terms = open_terms(f);
        assert_int_equal(nigh__terms_groups(terms), 5);
        terms_expect_lines(terms, all);
        nigh_terms_close(terms);
        free(all);
    }
    free(first);
}

static void test_memory_makes_groups(void **state) {
    const struct fixture *f = *state;
    char *text = topic_lines(3, 4000, 20);
    nigh_terms_options options = terms_options(NIGH_FILTER_HYBRID);
    nigh_terms_info info = {.size = sizeof info};
    nigh_error error;
    options.memory_bytes = 1 << 20;
    assert_ok(terms_add_lines(f->context, f->path, f->input, text, &options, &info, &error), &error);
    assert_true(info.groups > 2);
    nigh_terms *terms = open_terms(f);
    terms_expect_lines(terms, text);
    nigh_terms_close(terms);
    free(text);
}

static void test_threads_change_nothing(void **state) {
    const struct fixture *f = *state;
    char *text = topic_lines(5, 5000, 30);
    char *digests[2];
    nigh_error error;
    for (uint32_t i = 0; i < 2; i++) {
        nigh_terms_options options = terms_options(NIGH_FILTER_HYBRID);
        options.threads = i == 0 ? 1 : 4;
        options.memory_bytes = 16 << 20;
        remove_tree(f->path);
        if (i == 0)
            assert_ok(terms_add_lines(f->context, f->path, f->input, text, &options, NULL, &error), &error);
        else { /* the file as it was: its time is kept */
            nigh_text_reader_options reading;
            nigh_text_reader_options_init(&reading);
            const char *input = f->input;
            reading.format = NIGH_TEXT_LINES;
            assert_ok(nigh_terms_index(f->context, f->path, &input, 1, &reading, &options, NULL, &error), &error);
        }
        digests[i] = tree_digest(f->path);
    }
    assert_string_equal(digests[0], digests[1]);
    free(digests[0]);
    free(digests[1]);
    free(text);
}

/* Rows that do not fit one stripe are the same rows. */
static void test_stripes_change_nothing(void **state) {
    const struct fixture *f = *state;
    char *text = topic_lines(5, 6000, 30);
    struct nigh__blocks *blocks = blocks_of_lines(f->context, text, 4);
    const struct nigh__filter_shape shape = {
        .kind = NIGH_FILTER_HYBRID, .bits = 77, .hashes = 9, .frequent_hashes = 3, .theta = 20, .seed = 5};
    struct nigh__positions *positions;
    struct nigh__progress progress;
    nigh_error error;
    char *digests[3];
    nigh__progress_init(&progress, NULL);
    assert_true(blocks->blocks > 3 * 512);
    assert_ok(nigh__positions_make(blocks, &shape, 0, NULL, 1, &progress, &positions, &error), &error);
    for (uint32_t i = 0; i < 3; i++) {
        const struct nigh__terms_about about = {
            .block_terms = 4, .expected_error = -1, .stripe_bytes = i == 0 ? 0 : i * 64 * 77 + 1};
        struct nigh__terms_writer *writer;
        remove_tree(f->path);
        assert_ok(nigh__terms_writer_open(f->context, f->path, &writer, &error), &error);
        assert_ok(nigh__terms_writer_add(writer, blocks, positions, &about, 3, &progress, &error), &error);
        assert_ok(nigh__terms_writer_commit(writer, &progress, &error), &error);
        nigh__terms_writer_close(writer);
        digests[i] = tree_digest(f->path);
    }
    nigh_terms *terms = open_terms(f);
    assert_string_equal(digests[0], digests[1]);
    assert_string_equal(digests[0], digests[2]);
    for (uint32_t block = 0; block < blocks->blocks; block++)
        for (uint64_t i = blocks->begins[block]; i < blocks->begins[block + 1]; i++)
            assert_true(terms_block_has(terms, 0, block, blocks->hashes[blocks->block_terms[i]]));
    nigh_terms_close(terms);
    for (uint32_t i = 0; i < 3; i++) free(digests[i]);
    nigh__positions_free(positions);
    nigh__blocks_free(blocks);
    free(text);
}

static void expect_refusal(const struct fixture *f, const nigh_terms_options *options, nigh_status status,
                           const char *held, const char *asked) {
    nigh_error error;
    char *before = tree_digest(f->path);
    assert_int_equal(terms_add_lines(f->context, f->path, f->input, "one two\n", options, NULL, &error), status);
    if (held != NULL && (strstr(error.why, held) == NULL || strstr(error.why, asked) == NULL))
        fail_msg("'%s' names not both '%s' and '%s'", error.why, held, asked);
    char *after = tree_digest(f->path);
    assert_string_equal(before, after);
    free(before);
    free(after);
}

static void test_documents_without_words(void **state) {
    const struct fixture *f = *state;
    const char *text = "alpha beta\n ... \n!!\nbeta gamma delta epsilon zeta eta theta\n--\n";
    nigh_terms_info info = {.size = sizeof info};
    nigh_error error;
    assert_ok(terms_add_lines(f->context, f->path, f->input, text, NULL, &info, &error), &error);
    assert_int_equal(info.documents, 5);
    assert_int_equal(info.blocks, 3);
    nigh_terms *terms = open_terms(f);
    terms_expect_lines(terms, text);
    assert_false(nigh__terms_group(terms, 0)->every_document_one_block);
    nigh_terms_close(terms);
    remove_tree(f->path);
    text = "--\n!!\n";
    assert_int_equal(terms_add_lines(f->context, f->path, f->input, text, NULL, &info, &error), NIGH_ENOTFOUND);
    assert_non_null(strstr(error.why, "none of the documents has a word"));
    assert_false(path_exists(f->path));
    assert_ok(terms_add_lines(f->context, f->path, f->input, "alpha\n", NULL, &info, &error), &error);
    assert_ok(terms_add_lines(f->context, f->path, f->input, text, NULL, &info, &error), &error);
    assert_int_equal(info.blocks, 1);
    assert_int_equal(info.documents, 3);
    terms = open_terms(f);
    terms_expect_lines(terms, "alpha\n--\n!!\n");
    assert_true(nigh__terms_group(terms, 1)->every_document_one_block);
    nigh_terms_close(terms);
}

/* Little memory: the first groups are of documents without words, and the words come after them. */
static void test_words_come_late(void **state) {
    const struct fixture *f = *state;
    static char text[20000];
    nigh_terms_info info = {.size = sizeof info};
    nigh_error error;
    for (size_t i = 0; i < 6000; i += 3) memcpy(text + i, "--\n", 3);
    memcpy(text + 6000, "alpha beta\n", 12);
    nigh_terms_options options = terms_options(NIGH_FILTER_HYBRID);
    options.memory_bytes = 40000;
    assert_ok(terms_add_lines(f->context, f->path, f->input, text, &options, &info, &error), &error);
    assert_true(info.groups > 1);
    nigh_terms *terms = open_terms(f);
    terms_expect_lines(terms, text);
    nigh_terms_close(terms);
}

/* Nothing is said of the file that is there: it knows itself. */
static void test_added_as_it_is(void **state) {
    const struct fixture *f = *state;
    nigh_error error;
    for (nigh_filter_kind kind = NIGH_FILTER_HYBRID; kind <= NIGH_FILTER_COCA; kind++) {
        nigh_terms_options options = terms_options(kind);
        nigh_terms_info info = {.size = sizeof info};
        assert_ok(terms_add_lines(f->context, f->path, f->input, "alpha beta\n", &options, &info, &error), &error);
        assert_non_null(strstr(info.lines, "language=none\n"));
        nigh_terms_options_init(&options);
        assert_ok(terms_add_lines(f->context, f->path, f->input, "beta gamma\n", &options, &info, &error), &error);
        assert_int_equal(info.kind, kind);
        assert_int_equal(info.block_terms, 5);
        assert_non_null(strstr(info.lines, "seed=5\n"));
        nigh_terms *terms = open_terms(f);
        terms_expect_lines(terms, "alpha beta\nbeta gamma\n");
        nigh_terms_close(terms);
        options.theta = 7;
        if (kind != NIGH_FILTER_HYBRID) expect_refusal(f, &options, NIGH_EMISMATCH, "theta=0", "theta=7");
        remove_tree(f->path);
    }
    /* And a new one is hybrid. */
    nigh_terms_info info = {.size = sizeof info};
    nigh_terms_options options;
    nigh_terms_options_init(&options);
    assert_ok(terms_add_lines(f->context, f->path, f->input, "alpha beta\n", &options, &info, &error), &error);
    assert_int_equal(info.kind, NIGH_FILTER_HYBRID);
}

/* The first input of a group, by how it was read. */
static nigh_status input_check(const struct fixture *f, const nigh_terms *terms, uint32_t group, nigh_error *error) {
    const struct nigh__term_group *shown = nigh__terms_group(terms, group);
    bool grown = false;
    return nigh__term_input_check(f->context, &shown->inputs[0], shown->reading, &grown, error);
}

static void test_ids_and_origins(void **state) {
    const struct fixture *f = *state;
    nigh_error error;
    char id[64], source[1024];
    size_t length;
    uint64_t record;
    assert_ok(terms_add_lines(f->context, f->path, f->input, "one two\nthree\n", NULL, NULL, &error), &error);
    assert_ok(terms_add_lines(f->context, f->path, f->input, "four\n", NULL, NULL, &error), &error);
    nigh_terms *terms = open_terms(f);
    assert_ok(nigh_terms_id(terms, 1, id, sizeof id, &length, &error), &error);
    assert_int_equal(length, strlen(id));
    assert_ok(nigh__terms_origin(terms, 1, &record, source, sizeof source, &length, &error), &error);
    assert_int_equal(record, 1);
    assert_string_equal(source, f->input);
    assert_ok(nigh__terms_origin(terms, 2, &record, source, sizeof source, &length, &error), &error);
    assert_int_equal(record, 0);
    assert_int_equal(nigh_terms_id(terms, 3, id, sizeof id, &length, &error), NIGH_EINVAL);
    /* The second input is the first one, changed. */
    assert_int_equal(nigh__terms_group(terms, 0)->input_count, 1);
    assert_int_equal(input_check(f, terms, 0, &error), NIGH_EMISMATCH);
    assert_ok(input_check(f, terms, 1, &error), &error);
    nigh_terms_close(terms);
}

static void test_a_folder_and_its_files(void **state) {
    const struct fixture *f = *state;
    char *folder = path_in(f->scratch, "folder");
    char *a = path_in(folder, "a.txt");
    char *b = path_in(folder, "b.txt");
    char source[1024];
    size_t length;
    uint64_t record;
    nigh_error error;
    const nigh_terms_options options = terms_options(NIGH_FILTER_HYBRID);
    const char *inputs[] = {folder};
    (void)nigh_file_system_posix()->make_directory(NULL, folder);
    file_write_all(a, "apple", 5);
    file_write_all(b, "banana", 6);
    assert_ok(nigh_terms_index(f->context, f->path, inputs, 1, NULL, &options, NULL, &error), &error);
    nigh_terms *terms = open_terms(f);
    assert_ok(nigh__terms_origin(terms, 1, &record, source, sizeof source, &length, &error), &error);
    assert_string_equal(source, b);
    const struct nigh__term_input *input = &nigh__terms_group(terms, 0)->inputs[0];
    assert_int_equal(input->kind, NIGH__INPUT_FOLDER);
    assert_int_equal(input->size, 11);
    assert_ok(input_check(f, terms, 0, &error), &error);
    file_write_all(b, "bananas", 7);
    assert_int_equal(input_check(f, terms, 0, &error), NIGH_EMISMATCH);
    remove_tree(folder);
    assert_int_equal(input_check(f, terms, 0, &error), NIGH_ENOTFOUND);
    nigh_terms_close(terms);
    free(folder);
    free(a);
    free(b);
}
/* ------------------------------------------------------------------ refusals */

static void test_options_that_do_not_fit(void **state) {
    const struct fixture *f = *state;
    char *text = topic_lines(1, LINES, 20);
    nigh_terms_options options = terms_options(NIGH_FILTER_HYBRID);
    nigh_signer_options analysis;
    nigh_signer_options_init(&analysis);
    nigh_error error;
    options.hashes = 10;
    options.frequent_hashes = 3;
    options.theta = 40;
    assert_ok(terms_add_lines(f->context, f->path, f->input, text, &options, NULL, &error), &error);
    assert_ok(terms_add_lines(f->context, f->path, f->input, text, &options, NULL, &error), &error);
    nigh_terms_options other = options;
    other.kind = NIGH_FILTER_COCA;
    other.frequent_hashes = other.theta = 0;
    expect_refusal(f, &other, NIGH_EMISMATCH, "hybrid", "coca");
    other = options;
    other.block_terms = 6;
    expect_refusal(f, &other, NIGH_EMISMATCH, "block=5", "block=6");
    other = options;
    other.hashes = 11;
    expect_refusal(f, &other, NIGH_EMISMATCH, "hashes=10", "hashes=11");
    other = options;
    other.frequent_hashes = 4;
    expect_refusal(f, &other, NIGH_EMISMATCH, "frequent-hashes=3", "frequent-hashes=4");
    other = options;
    other.theta = 41;
    expect_refusal(f, &other, NIGH_EMISMATCH, "theta=40", "theta=41");
    other = options;
    other.bits_per_term = 12;
    expect_refusal(f, &other, NIGH_EMISMATCH, "bits-per-term=", "bits-per-term=12");
    other = options;
    other.bits_per_term = 0;
    other.false_positives = 1e-9;
    expect_refusal(f, &other, NIGH_EMISMATCH, "false-positives=", "false-positives=1e-09");
    other = options;
    other.analysis = &analysis;
    analysis.language = "de";
    analysis.seed = 5;
    expect_refusal(f, &other, NIGH_EMISMATCH, NULL, NULL);
    analysis.language = NULL;
    analysis.seed = 6;
    expect_refusal(f, &other, NIGH_EMISMATCH, "seed=5", "seed=6");
    other.analysis = NULL; /* what is left open is as it is there */
    assert_ok(terms_add_lines(f->context, f->path, f->input, text, &other, NULL, &error), &error);
    free(text);
}

static void test_what_cannot_be(void **state) {
    const struct fixture *f = *state;
    nigh_terms_options options = terms_options(NIGH_FILTER_BLOOM);
    nigh_signer_options analysis;
    nigh_signer_options_init(&analysis);
    nigh_error error;
    options.bits_per_term = 65;
    expect_refusal(f, &options, NIGH_EINVAL, NULL, NULL);
    options = terms_options(NIGH_FILTER_BLOOM);
    options.hashes = 33;
    expect_refusal(f, &options, NIGH_EINVAL, NULL, NULL);
    options = terms_options(NIGH_FILTER_HYBRID);
    options.block_terms = 1000001;
    expect_refusal(f, &options, NIGH_EINVAL, "1000001", "1000000");
    options = terms_options((nigh_filter_kind)9);
    expect_refusal(f, &options, NIGH_EINVAL, NULL, NULL);
    options = terms_options(NIGH_FILTER_BLOOM);
    options.analysis = &analysis;
    analysis.features = NIGH_FEATURES_NGRAMS;
    expect_refusal(f, &options, NIGH_EINVAL, NULL, NULL);
    const char *gone = "/nowhere/at/all";
    options = terms_options(NIGH_FILTER_BLOOM);
    assert_int_equal(nigh_terms_index(f->context, f->path, &gone, 1, NULL, &options, NULL, &error), NIGH_ENOTFOUND);
    assert_false(path_exists(f->path));
    /* No document at all. */
    assert_int_equal(terms_add_lines(f->context, f->path, f->input, "", &options, NULL, &error), NIGH_ENOTFOUND);
    assert_false(path_exists(f->path));
}

static int stop(void *user, const char *stage, uint64_t done, uint64_t total) {
    (void)done;
    (void)total;
    const char *wanted = user;
    return wanted == NULL || strcmp(stage, wanted) == 0;
}

static void test_cancelled_leaves_nothing(void **state) {
    const struct fixture *f = *state;
    char *text = topic_lines(1, LINES, 20);
    nigh_terms_options options = terms_options(NIGH_FILTER_HYBRID);
    nigh_progress progress = {.report = stop};
    nigh_error error;
    options.progress = &progress;
    assert_int_equal(terms_add_lines(f->context, f->path, f->input, text, &options, NULL, &error), NIGH_ECANCELLED);
    assert_false(path_exists(f->path));
    free(text);
}

static void test_one_writer(void **state) {
    const struct fixture *f = *state;
    struct nigh__terms_writer *writer;
    nigh_error error;
    assert_ok(nigh__terms_writer_open(f->context, f->path, &writer, &error), &error);
    assert_int_equal(terms_add_lines(f->context, f->path, f->input, "a b\n", NULL, NULL, &error), NIGH_EBUSY);
    nigh__terms_writer_close(writer);
    assert_false(path_exists(f->path));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_word_is_found, setup, teardown),
        cmocka_unit_test_setup_teardown(test_appending_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_memory_makes_groups, setup, teardown),
        cmocka_unit_test_setup_teardown(test_threads_change_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_stripes_change_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_documents_without_words, setup, teardown),
        cmocka_unit_test_setup_teardown(test_words_come_late, setup, teardown),
        cmocka_unit_test_setup_teardown(test_added_as_it_is, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ids_and_origins, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_folder_and_its_files, setup, teardown),
        cmocka_unit_test_setup_teardown(test_options_that_do_not_fit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_cannot_be, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancelled_leaves_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_writer, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
