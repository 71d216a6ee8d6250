/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * A file is made, opened, and asked one question after the other.  After each question as many bytes
 * as it touched are read from somewhere in the same rows, in sequence and for nothing: what the
 * memory gives at that moment, from rows that the question has not brought into the cache.
 */
#include "terms_ours.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "plain_read.h"
#include "terms/terms_file.h"

#define LARGE 65536.0 /* bytes: questions that read less take as long as looking their words up does */
#define TRIALS 64u    /* of each way to read */

struct asking {
    const struct terms_set *set;
    const struct terms_ours_options *options;
    nigh_terms *terms;
    const struct nigh__term_group *group; /* the largest */
    size_t way;                           /* of plain reading: the fastest */
    struct nigh__rng rng;
    double *seconds, *plain; /* runs of question 0, runs of question 1, ... */
    double *bytes;           /* of each question */
    struct terms_figures *figures;
};

static int compare_numbers(const void *a, const void *b) {
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double terms_quantile(double *values, size_t count, double share) {
    if (count == 0) return 0;
    qsort(values, count, sizeof *values, compare_numbers);
    const size_t at = (size_t)(share * (double)count);
    return values[at < count ? at : count - 1];
}

/* ---------------------------------------------------------------------- making -- */

static void build(const struct terms_set *set, const struct terms_ours_options *options, const char *path,
                  struct terms_figures *out) {
    nigh_error error;
    nigh_text_reader_options reading;
    nigh_text_reader_options_init(&reading);
    nigh_terms_options making;
    nigh_terms_options_init(&making);
    const char *const input = set->text_path;
    reading.format = NIGH_TEXT_LINES;
    making.kind = options->kind;
    making.goal = options->goal;
    making.block_terms = options->block_terms;
    making.bits_per_term = options->bits_per_term;
    making.memory_bytes = options->memory_bytes;
    making.threads = 1;
    out->info = (nigh_terms_info){.size = sizeof(nigh_terms_info)};
    const double start = measure_now();
    measure_must(nigh_terms_index(options->context, path, &input, 1, &reading, &making, &out->info, &error), &error,
                 "indexing");
    out->build_seconds = measure_now() - start;
    measure_json(options->json, "terms", options->name, 1, 0, 0, out->build_seconds);
}

/* --------------------------------------------------------------- plain reading -- */

static double read_somewhere(struct asking *asking, size_t way, uint64_t bytes) {
    const uint64_t all = asking->group->row_bytes * asking->figures->info.filter_bits;
    if (bytes > all) bytes = all;
    const uint64_t places = (all - bytes) / 64 + 1;
    const uint8_t *from = asking->group->rows + nigh__rng_next(&asking->rng) % places * 64;
    return plain_read(way, from, (size_t)bytes);
}

static void choose_way(struct asking *asking) {
    double best = 0;
    for (size_t way = 0; way < PLAIN_READS; way++) {
        double seconds = 0;
        for (size_t i = 0; i < TRIALS; i++) seconds += read_somewhere(asking, way, 1 << 20);
        if (way == 0 || seconds < best) {
            best = seconds;
            asking->way = way;
        }
    }
}

/* All of the rows once, so that none comes from the disk. */
static void warm(struct asking *asking) {
    for (uint32_t i = 0; i < nigh__terms_groups(asking->terms); i++) {
        const struct nigh__term_group *group = nigh__terms_group(asking->terms, i);
        (void)plain_read(0, group->rows, (size_t)(group->row_bytes * asking->figures->info.filter_bits));
        if (asking->group == NULL || group->row_bytes > asking->group->row_bytes) asking->group = group;
    }
}

/* ---------------------------------------------------------------------- asking -- */

/* Every true answer is among the documents; how many others are. */
static size_t judge(const struct terms_query *query, const uint64_t *documents, size_t count) {
    size_t at = 0;
    for (size_t i = 0; i < query->answer_count; i++, at++) {
        while (at < count && documents[at] < query->answers[i]) at++;
        if (at == count || documents[at] != query->answers[i])
            measure_fail("an answer", "is missing: a filter must not do that");
    }
    return count - query->answer_count;
}

static void ask(struct asking *asking, size_t number, size_t run) {
    const struct terms_query *query = &asking->set->queries[number];
    struct terms_figures *figures = asking->figures;
    nigh_terms_query asked;
    nigh_terms_query_init(&asked);
    nigh_terms_answer_info info = {.size = sizeof info};
    char text[TERMS_WORDS * (ZIPF_SPELLED + 1)];
    nigh_terms_answer *answer;
    nigh_error error;
    size_t count;
    terms_query_spell(query, text);
    asked.text = text;
    asked.threads = 1;
    const double start = measure_now();
    measure_must(nigh_terms_search(asking->terms, &asked, &answer, &error), &error, "searching");
    const size_t at = number * asking->options->runs + run;
    asking->seconds[at] = measure_now() - start;
    nigh_terms_answer_describe(answer, &info);
    asking->plain[at] = read_somewhere(asking, asking->way, info.bytes);
    if (run == 0) {
        const double share = 1 / (double)asking->set->options.queries;
        const uint64_t *documents = nigh_terms_answer_documents(answer, &count);
        const double wrong = (double)judge(query, documents, count);
        figures->rows += share * (double)info.rows;
        figures->bytes += share * (double)info.bytes;
        figures->candidates += share * (double)count;
        figures->wrong += share * wrong;
        figures->error += share * wrong / (double)(asking->set->options.documents - query->answer_count);
        asking->bytes[number] = (double)info.bytes;
    }
    nigh_terms_answer_free(answer);
}

static void sum_up(struct asking *asking) {
    const size_t queries = (size_t)asking->set->options.queries;
    const size_t runs = asking->options->runs;
    struct terms_figures *figures = asking->figures;
    double ours = 0;
    double plain = 0;
    double plain_bytes = 0;
    for (size_t q = 0; q < queries; q++) {
        const double seconds = terms_quantile(asking->seconds + q * runs, runs, 0.5);
        const double reading = terms_quantile(asking->plain + q * runs, runs, 0.5);
        figures->mean += seconds / (double)queries;
        figures->plain += reading / (double)queries;
        if (asking->bytes[q] >= LARGE) {
            ours += seconds;
            plain += reading;
            plain_bytes += asking->bytes[q];
        }
        asking->seconds[q] = seconds; /* its runs are behind it */
        measure_json(asking->options->json, "terms", asking->options->name, 1, 1, q, seconds);
    }
    figures->plain_share = ours == 0 ? 0 : plain / ours;
    figures->plain_bandwidth = plain == 0 ? 0 : plain_bytes / plain;
    figures->high = terms_quantile(asking->seconds, queries, 0.99);
    figures->median = terms_quantile(asking->seconds, queries, 0.5);
}

static void ask_all(const struct terms_set *set, const struct terms_ours_options *options, const char *path,
                    struct terms_figures *out) {
    const size_t queries = (size_t)set->options.queries;
    struct asking asking = {.set = set, .options = options, .rng = {set->options.seed}, .figures = out};
    nigh_error error;
    measure_must(nigh_terms_open(options->context, path, NULL, &asking.terms, &error), &error, "opening");
    nigh_terms_describe(asking.terms, &out->info);
    asking.seconds = measure_allocate(queries * options->runs, sizeof *asking.seconds);
    asking.plain = measure_allocate(queries * options->runs, sizeof *asking.plain);
    asking.bytes = measure_allocate(queries, sizeof *asking.bytes);
    warm(&asking);
    choose_way(&asking);
    for (size_t run = 0; run < options->runs; run++)
        for (size_t q = 0; q < queries; q++) ask(&asking, q, run);
    sum_up(&asking);
    free(asking.seconds);
    free(asking.plain);
    free(asking.bytes);
    nigh_terms_close(asking.terms);
}

void terms_ours_measure(const struct terms_set *set, const struct terms_ours_options *options,
                        struct terms_figures *out) {
    char path[MEASURE_FOLDER + 32];
    *out = (struct terms_figures){0};
    (void)snprintf(path, sizeof path, "%s/terms", set->options.folder);
    build(set, options, path, out);
    ask_all(set, options, path, out);
    measure_folder_remove(path);
}
