/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workers of the pipeline: after a very large document they begin anew, and where that fails so does the reading.
 * What is done comes out though there is no more to read yet.
 */
#define _POSIX_C_SOURCE 200809L
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "document/pipeline.h"
#include "support/support.h"

#define LARGE ((size_t)5 << 20)

struct office {
    nigh_context *context;
    _Atomic int made, freed;
    int most; /* workers that can be made */
};

struct worker {
    struct office *office;
    size_t largest; /* document it has seen */
};

static nigh_status worker_new(void *user, void **out, nigh_error *error) {
    struct office *office = user;
    struct worker *worker = calloc(1, sizeof *worker);
    *out = worker;
    worker->office = office;
    (void)error;
    return office->made++ < office->most ? NIGH_OK : NIGH_ENOMEM;
}

static void worker_free(void *user, void *given) {
    struct office *office = user;
    if (given != NULL) office->freed++;
    free(given);
}

/* What it remembers of documents before. */
static nigh_status work(void *given, const nigh_text *text, struct nigh__array *product, nigh_error *error) {
    struct worker *worker = given;
    (void)error;
    if (!nigh__bytes_append(worker->office->context, product, &worker->largest, sizeof worker->largest))
        return NIGH_ENOMEM;
    if (text->text_length > worker->largest) worker->largest = text->text_length;
    return NIGH_OK;
}

static char *write_lines(const char *folder) {
    char *path = path_in(folder, "lines.txt");
    char *large = malloc(LARGE);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_non_null(large);
    memset(large, 'x', LARGE);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(fwrite(large, LARGE, 1, file), 1);
        assert_true(fputs("\nsmall\n", file) >= 0);
    }
    assert_int_equal(fclose(file), 0);
    free(large);
    return path;
}

static nigh_status run(struct office *office, const char *path, uint32_t threads, int *documents) {
    const struct nigh__pipeline_work steps = {office, worker_new, worker_free, work, NULL};
    nigh_text_reader_options options;
    nigh_text_reader_options_init(&options);
    options.format = NIGH_TEXT_LINES;
    nigh_text_reader *reader;
    struct nigh__pipeline *pipeline = NULL;
    struct nigh__product product;
    nigh_error error;
    const char *const paths[] = {path};
    *documents = 0;
    assert_ok(nigh_text_reader_open(office->context, paths, 1, &options, &reader, &error), &error);
    nigh_status status = nigh__pipeline_open(reader, &steps, threads, NULL, &pipeline, &error);
    while (status == NIGH_OK) {
        status = nigh__pipeline_next(pipeline, &product, &error);
        if (status != NIGH_OK) break;
        size_t largest;
        assert_int_equal(product.length, sizeof largest);
        memcpy(&largest, product.bytes, sizeof largest);
        assert_true(largest < LARGE);
        ++*documents;
    }
    nigh__pipeline_close(pipeline);
    nigh_text_reader_close(reader);
    return status;
}

static void workers_begin_anew(void **state) {
    (void)state;
    char *scratch = scratch_new();
    char *path = write_lines(scratch);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct office office = {.context = context_new(), .most = 100};
        int documents;
        assert_int_equal(run(&office, path, threads, &documents), NIGH_END);
        assert_int_equal(documents, 6);
        assert_int_equal(office.made, threads + 3);
        assert_int_equal(office.freed, office.made);
        nigh_context_free(office.context);
    }
    free(path);
    scratch_free(scratch);
}

static void no_worker_is_no_memory(void **state) {
    (void)state;
    char *scratch = scratch_new();
    char *path = write_lines(scratch);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct office office = {.context = context_new(), .most = (int)threads + 1};
        int documents;
        assert_int_equal(run(&office, path, threads, &documents), NIGH_ENOMEM);
        assert_true(documents < 6);
        assert_int_equal(office.freed, office.made);
        nigh_context_free(office.context);
    }
    free(path);
    scratch_free(scratch);
}

/* ----------------------------------------------------------- slow input */

#define BATCHES 9
#define WAITS 20000 /* of a millisecond */

/* Gives a document, which fills a batch, only when those before it have come out. */
struct slow {
    char *text;
    int given;
    _Atomic int taken;
};

static nigh_status slow_next(void *user, nigh_text *out, nigh_error *error) {
    struct slow *slow = user;
    const struct timespec moment = {.tv_nsec = 1000000};
    (void)error;
    for (int i = 0; i < WAITS && slow->taken < slow->given; i++) (void)nanosleep(&moment, NULL);
    if (slow->taken < slow->given) return NIGH_EIO;
    if (slow->given == BATCHES) return NIGH_END;
    slow->given++;
    out->text = slow->text;
    out->text_length = LARGE / 8;
    return NIGH_OK;
}

static nigh_status run_slowly(struct office *office, struct slow *slow, uint32_t threads) {
    const struct nigh__pipeline_work steps = {office, worker_new, worker_free, work, NULL};
    nigh_source source;
    nigh_text_reader *reader;
    struct nigh__pipeline *pipeline = NULL;
    struct nigh__product product;
    nigh_error error;
    nigh_source_init(&source);
    source.user = slow;
    source.next = slow_next;
    assert_ok(nigh_text_reader_open_source(office->context, &source, NULL, &reader, &error), &error);
    nigh_status status = nigh__pipeline_open(reader, &steps, threads, NULL, &pipeline, &error);
    while (status == NIGH_OK) {
        status = nigh__pipeline_next(pipeline, &product, &error);
        slow->taken += status == NIGH_OK;
    }
    nigh__pipeline_close(pipeline);
    nigh_text_reader_close(reader);
    return status;
}

static void input_may_wait_for_output(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++) {
        struct office office = {.context = context_new(), .most = 100};
        struct slow slow = {.text = malloc(LARGE / 8)};
        assert_non_null(slow.text);
        memset(slow.text, 'x', LARGE / 8);
        assert_int_equal(run_slowly(&office, &slow, threads), NIGH_END);
        assert_int_equal(slow.taken, BATCHES);
        assert_int_equal(office.freed, office.made);
        free(slow.text);
        nigh_context_free(office.context);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(workers_begin_anew),
        cmocka_unit_test(no_worker_is_no_memory),
        cmocka_unit_test(input_may_wait_for_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
