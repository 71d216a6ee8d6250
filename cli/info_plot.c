/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two histograms that the page of `nigh serve` shows, too (server/overview.c). One has the distances between any
 * two documents of a sample, which are hardly ever related. The other has the distance of each document of the sample
 * to its nearest in the whole collection, found by comparing all. If there are near-copies, the second has a hill at
 * the top that the first does not have:
 *
 *        bits  the nearest of each      any two
 *         0-1  ############       88    #             2
 *         2-3  ###                21    #            12
 *         ...
 *       30-31                           ########  9,120
 */
#define _POSIX_C_SOURCE 200809L

#include "info_plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "random.h"
#include "scheme_lines.h"

#define ROWS 24u    /* at most */
#define BAR 20u     /* characters of a bar */
#define DRAWS 1000u /* for each document that is wanted: most of them may be deleted */

/* ------------------------------------------------------------------ sample -- */

struct sample {
    uint64_t *numbers; /* of documents, ascending */
    uint8_t *rows;     /* their signatures */
    size_t bytes;      /* of one */
    uint32_t count;
};

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool is_drawn(const struct sample *sample, uint64_t number) {
    for (uint32_t i = 0; i < sample->count; i++)
        if (sample->numbers[i] == number) return true;
    return false;
}

/* All that live where there are no more than are wanted; else as many by the seed, each once. */
static void draw_numbers(struct sample *sample, const nigh_collection *collection, const nigh_collection_info *info,
                         uint32_t wanted, uint64_t seed) {
    const bool all = info->documents - info->deleted <= wanted;
    const uint64_t draws = all ? info->documents : (uint64_t)wanted * DRAWS;
    for (uint64_t i = 0; i < draws && sample->count < wanted; i++) {
        const uint64_t number = all ? i : cli_random_next(&seed) % info->documents;
        if (nigh_collection_lives(collection, number) && (all || !is_drawn(sample, number)))
            sample->numbers[sample->count++] = number;
    }
    qsort(sample->numbers, sample->count, sizeof *sample->numbers, by_number);
}

static nigh_status take_sample(struct cli_job *job, const nigh_collection *collection, const nigh_collection_info *info,
                               const struct cli_distances *asked, struct sample *sample) {
    sample->bytes = nigh_signature_bytes(info->width_bits);
    sample->numbers = malloc(asked->sampled * sizeof *sample->numbers);
    sample->rows = malloc(asked->sampled * sample->bytes);
    if (sample->numbers == NULL || sample->rows == NULL) {
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
        return NIGH_ENOMEM;
    }
    draw_numbers(sample, collection, info, asked->sampled, asked->seed);
    nigh_status status = NIGH_OK;
    for (uint32_t i = 0; i < sample->count && status == NIGH_OK; i++)
        status =
            nigh_collection_signature(collection, sample->numbers[i], sample->rows + i * sample->bytes, &job->error);
    return status;
}

/* --------------------------------------------------------------- measuring -- */

static void count_pairs(const nigh_context *context, const struct sample *sample, uint64_t *counts) {
    for (uint32_t a = 0; a < sample->count; a++)
        for (uint32_t b = a + 1; b < sample->count; b++)
            counts[nigh_distance(context, sample->rows + a * sample->bytes, sample->rows + b * sample->bytes,
                                 sample->bytes)]++;
}

/* Of two answers one at most is the document that asks. */
static nigh_status count_nearest(struct cli_job *job, const nigh_collection *collection, const struct sample *sample,
                                 uint64_t *counts) {
    nigh_search_options options;
    nigh_results *results = NULL;
    nigh_search_options_init(&options);
    options.method = NIGH_SEARCH_SCAN;
    options.k = 2;
    options.threads = job->threads;
    options.progress = &job->progress.report;
    const nigh_status status = nigh_search(collection, sample->rows, sample->count, &options, &results, &job->error);
    cli_progress_clear(&job->progress);
    for (uint32_t i = 0; status == NIGH_OK && i < sample->count; i++) {
        size_t count = 0;
        const nigh_match *matches = nigh_results_matches(results, i, &count);
        if (count > 1) counts[matches[matches[0].document == sample->numbers[i]].distance]++;
    }
    nigh_results_free(results);
    return status;
}

bool cli_distances_measure(struct cli_job *job, const nigh_collection *collection, const nigh_collection_info *info,
                           uint32_t sample_size, uint64_t seed, struct cli_distances *out) {
    struct sample sample = {.count = 0};
    *out = (struct cli_distances){.width_bits = info->width_bits, .sampled = sample_size, .seed = seed};
    out->documents = info->documents - info->deleted;
    out->near = cli_near_radius(collection, info->width_bits);
    out->pairs = calloc((size_t)info->width_bits + 1, sizeof *out->pairs);
    out->nearest = calloc((size_t)info->width_bits + 1, sizeof *out->nearest);
    nigh_status status = NIGH_ENOMEM;
    if (out->pairs == NULL || out->nearest == NULL)
        cli_set_error(job, NIGH_ENOMEM, "", "out of memory");
    else
        status = take_sample(job, collection, info, out, &sample);
    out->sampled = sample.count;
    if (status == NIGH_OK) count_pairs(job->context, &sample, out->pairs);
    if (status == NIGH_OK && sample.count > 0) status = count_nearest(job, collection, &sample, out->nearest);
    free(sample.numbers);
    free(sample.rows);
    return status == NIGH_OK;
}

void cli_distances_release(struct cli_distances *distances) {
    free(distances->pairs);
    free(distances->nearest);
    *distances = (struct cli_distances){.pairs = NULL};
}

/* ---------------------------------------------------------------- sentences -- */

static uint64_t count_within(const struct cli_distances *distances, const uint64_t *counts, uint32_t distance) {
    uint64_t count = 0;
    for (uint32_t d = 0; d <= distance && d <= distances->width_bits; d++) count += counts[d];
    return count;
}

/* The least distance within which so many of a thousand are. */
static uint32_t quantile(const struct cli_distances *distances, const uint64_t *counts, uint64_t thousandths) {
    const uint64_t all = count_within(distances, counts, distances->width_bits);
    uint64_t count = counts[0];
    uint32_t distance = 0;
    while (distance < distances->width_bits && count * 1000 < all * thousandths) count += counts[++distance];
    return distance;
}

/* The farthest distance within which at most one of a thousand pairs is; NIGH_ALL: there is none. */
static uint32_t unusual(const struct cli_distances *distances) {
    const uint64_t all = count_within(distances, distances->pairs, distances->width_bits);
    uint64_t count = 0;
    for (uint32_t d = 0; d < distances->width_bits; d++)
        if ((count += distances->pairs[d]) * 1000 > all) return d == 0 ? NIGH_ALL : d - 1;
    return distances->width_bits;
}

static double percent(uint64_t part, uint64_t whole) { return whole == 0 ? 0 : 100 * (double)part / (double)whole; }

static void print_meaning(struct cli_sink *out, const struct cli_distances *distances) {
    const uint64_t asked = count_within(distances, distances->nearest, distances->width_bits);
    const uint64_t pairs = count_within(distances, distances->pairs, distances->width_bits);
    const uint32_t rare = pairs < 1000 ? 0 : unusual(distances);
    cli_sink_format(out, "\n  Any two documents differ in %u bits in the median;\n  9 of 10 pairs in %u to %u.\n",
                    quantile(distances, distances->pairs, 500), quantile(distances, distances->pairs, 50),
                    quantile(distances, distances->pairs, 950));
    cli_sink_format(out, "  The nearest of a document differs in %u bits in the median.\n",
                    quantile(distances, distances->nearest, 500));
    if (rare == NIGH_ALL)
        cli_sink_text(out, "  More than 1 pair in 1,000 is equal: there are crowds of copies.\n");
    else if (pairs >= 1000)
        cli_sink_format(out,
                        "  At most 1 pair in 1,000 is within %u bits; %.1f%% of the documents\n"
                        "  have their nearest there.\n",
                        rare, percent(count_within(distances, distances->nearest, rare), asked));
    if (distances->near != NIGH_ALL)
        cli_sink_format(out, "  Near-copies are within %u bits: %.1f%% of the documents have one.\n", distances->near,
                        percent(count_within(distances, distances->nearest, distances->near), asked));
}

/* ------------------------------------------------------------------ drawing -- */

/* Whether the output is a terminal whose characters are UTF-8. */
static bool draws_blocks(const struct cli_sink *out) {
    const char *terminal = getenv("TERM");
    const char *names[] = {getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")};
    if (!isatty(out->descriptor) || terminal == NULL || strcmp(terminal, "dumb") == 0) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i] == NULL || *names[i] == '\0') continue;
        const char *set = strchr(names[i], '.');
        return set != NULL && (strncasecmp(set, ".utf-8", 6) == 0 || strncasecmp(set, ".utf8", 5) == 0);
    }
    return false;
}

/* BAR columns; what is not nothing can be seen. */
static void draw_bar(struct cli_sink *out, bool blocks, uint64_t count, uint64_t most) {
    static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589"};
    const unsigned parts = blocks ? 8 : 1;
    unsigned length = most == 0 ? 0 : (unsigned)((double)count / (double)most * BAR * parts + 0.5);
    if (count > 0 && length == 0) length = 1;
    for (unsigned i = 0; i < length / parts; i++) cli_sink_text(out, blocks ? "\u2588" : "#");
    cli_sink_text(out, blocks ? eighths[length % 8] : "");
    for (unsigned i = (length + parts - 1) / parts; i < BAR; i++) cli_sink_text(out, " ");
}

/* Distances of one row of the drawing: 1, 2, 4, ... */
static uint32_t step_of(uint32_t farthest) {
    uint32_t step = 1;
    while ((farthest + step) / step > ROWS) step *= 2;
    return step;
}

static uint64_t count_from(const struct cli_distances *distances, const uint64_t *counts, uint32_t from,
                           uint32_t step) {
    uint64_t count = 0;
    for (uint32_t d = from; d < from + step && d <= distances->width_bits; d++) count += counts[d];
    return count;
}

static void draw_row(struct cli_sink *out, const struct cli_distances *distances, bool blocks, uint32_t from,
                     uint32_t step, const uint64_t most[2]) {
    const uint64_t *const counts[] = {distances->nearest, distances->pairs};
    const uint32_t last = from + step - 1 < distances->width_bits ? from + step - 1 : distances->width_bits;
    char label[32];
    size_t columns = 2;
    while (columns > 0 && count_from(distances, counts[columns - 1], from, step) == 0) columns--;
    (void)snprintf(label, sizeof label, from == last ? "%u" : "%u-%u", from, last);
    cli_sink_format(out, "  %9s", label);
    for (size_t i = 0; i < columns; i++) {
        const uint64_t count = count_from(distances, counts[i], from, step);
        cli_sink_text(out, "  ");
        draw_bar(out, blocks, count, most[i]);
        cli_sink_format(out, i == 0 ? " %6s" : " %9s", count == 0 ? "" : cli_digits(count).text);
    }
    cli_sink_text(out, "\n");
}

void cli_distances_print(struct cli_sink *out, const struct cli_distances *distances) {
    const bool blocks = draws_blocks(out);
    uint64_t most[2] = {0, 0};
    uint32_t farthest = 0;
    cli_sink_format(out, "\ndistances in bits of %u: ", distances->width_bits);
    if (distances->sampled == distances->documents)
        cli_sink_format(out, "all %s\n", cli_counted(distances->documents, "document", "documents").text);
    else
        cli_sink_format(out, "%s of %s, drawn by --sample-seed %llu\n", cli_digits(distances->sampled).text,
                        cli_counted(distances->documents, "document", "documents").text,
                        (unsigned long long)distances->seed);
    if (distances->sampled < 2) {
        cli_sink_text(out, "  there are no two documents to compare\n");
        return;
    }
    for (uint32_t d = 0; d <= distances->width_bits; d++)
        if (distances->pairs[d] + distances->nearest[d] > 0) farthest = d;
    const uint32_t step = step_of(farthest);
    for (uint32_t from = 0; from <= farthest; from += step) {
        const uint64_t rows[] = {count_from(distances, distances->nearest, from, step),
                                 count_from(distances, distances->pairs, from, step)};
        for (size_t i = 0; i < 2; i++) most[i] = rows[i] > most[i] ? rows[i] : most[i];
    }
    cli_sink_format(out, "\n  %9s  %-27s  %s\n", "bits", "the nearest of each", "any two");
    for (uint32_t from = 0; from <= farthest; from += step) draw_row(out, distances, blocks, from, step, most);
    print_meaning(out, distances);
}

static void json_counts(struct cli_sink *out, const char *name, const uint64_t *counts, uint32_t width) {
    cli_sink_format(out, ",\"%s\":[", name);
    for (uint32_t d = 0; d <= width; d++)
        cli_sink_format(out, "%s%llu", d == 0 ? "" : ",", (unsigned long long)counts[d]);
    cli_sink_text(out, "]");
}

void cli_distances_json(struct cli_sink *out, const struct cli_distances *distances) {
    cli_sink_format(out, ",\"distances\":{\"sampled\":%u,\"seed\":%llu", distances->sampled,
                    (unsigned long long)distances->seed);
    if (distances->near != NIGH_ALL) cli_sink_format(out, ",\"near_copies_within\":%u", distances->near);
    json_counts(out, "nearest", distances->nearest, distances->width_bits);
    json_counts(out, "pairs", distances->pairs, distances->width_bits);
    cli_sink_text(out, "}");
}
