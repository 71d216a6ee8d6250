/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast term signature files are made, and how fast they say which documents may have three words.
 *
 * On one core, with text of zipf_text.h and questions of three words of one document:
 *
 *     400 words   documents of 400 distinct words, a block each: bloom, coca and hybrid at the same bits a word;
 *                 with a star, hybrid for words as often as they occur
 *     beside it   fewer of them, for PostgreSQL 15 too: contrib's bloom index, and GIN
 *     32 words    documents of a word for each of 32 columns: all that a row of contrib's index can have
 *
 * Contrib's bloom index takes one value a column and 32 columns at most, and a word hashes differently in each.
 * So here a word has one column, by its number.  A document of 32 words is one row and a question one condition,
 * read in one go: what that index is for.  One of 400 words takes as many rows as its fullest column has words,
 * and the words of a question may be in different rows, so that they are asked for one by one.  Bits a word
 * and hashes are those of our Bloom filters.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "terms_ours.h"
#include "terms_postgres.h"

#define BLOCK_TERMS 400u
#define GOAL_BLOCKS 900000u /* what the goals are for */
#define PEER_HASHES 6u      /* the best for 8 bits a word */

static const struct contender {
    const char *name;
    nigh_filter_kind kind;
    nigh_filter_goal goal;
} contenders[] = {
    {"bloom", NIGH_FILTER_BLOOM, NIGH_GOAL_UNIFORM},
    {"coca", NIGH_FILTER_COCA, NIGH_GOAL_UNIFORM},
    {"hybrid", NIGH_FILTER_HYBRID, NIGH_GOAL_UNIFORM},
    {"hybrid *", NIGH_FILTER_HYBRID, NIGH_GOAL_FREQUENCY}, /* words of questions are frequent ones */
};

#define CONTENDERS (sizeof contenders / sizeof contenders[0])

struct bench {
    nigh_context *context;
    uint64_t blocks, peer_count, queries, peer_queries, bits, memory, runs, seed;
    uint64_t part; /* 0: all three */
    bool processor_time;
    FILE *json;
    char folder[MEASURE_FOLDER];
};

/* ---------------------------------------------------------------------- tables -- */

static void print_heading(void) {
    (void)printf("  %-8s %4s %8s %9s %9s %9s %9s %9s %7s %9s %10s %10s %9s %7s\n", "", "k", "MB/s", "rows MB",
                 "words MB", "median us", "99% us", "mean us", "rows", "KB read", "candidates", "wrong", "of others",
                 "reading");
}

static void print_ours(const struct terms_set *set, const char *name, const struct terms_figures *figures) {
    const nigh_terms_info *info = &figures->info;
    char hashes[16];
    (void)snprintf(hashes, sizeof hashes, info->kind == NIGH_FILTER_HYBRID ? "%u/%u" : "%u", info->hashes,
                   info->frequent_hashes);
    (void)printf("  %-8s %4s %8.1f %9.1f %9.1f %9.1f %9.1f %9.1f %7.1f %9.1f %10.2f %10.3f %9.1e %7.2f\n", name, hashes,
                 (double)set->text_bytes / figures->build_seconds / 1e6, (double)info->row_bytes / 1e6,
                 (double)info->dictionary_bytes / 1e6, figures->median * 1e6, figures->high * 1e6, figures->mean * 1e6,
                 figures->rows, figures->bytes / 1e3, figures->candidates, figures->wrong, figures->error,
                 figures->plain_share);
}

static void print_shape(const char *name, const struct terms_figures *figures) {
    (void)printf("  %s: %u groups, theta %u; plain reading of what was touched %.1f us a question, at %.1f GB/s\n",
                 name, figures->info.groups, figures->info.theta, figures->plain * 1e6, figures->plain_bandwidth / 1e9);
}

static void print_goals(const struct terms_set *set, const char *name, const struct terms_figures *figures) {
    const double rate = (double)set->text_bytes / figures->build_seconds / 1e6;
    if (set->options.documents < GOAL_BLOCKS || set->options.terms == 0) return;
    (void)printf("  %s: 1 ms or less a question  %s; within 20%% of plain reading  %s; made at 50 MB/s or more  %s\n",
                 name, figures->median <= 1e-3 ? "yes" : "NO", figures->plain_share >= 0.8 ? "yes" : "NO",
                 rate >= 50 ? "yes" : "NO");
}

static void print_postgres(const char *name, const struct terms_postgres_figures *peer) {
    (void)printf("  PostgreSQL %-5s loaded in %.1f s, indexed in %.1f s; index %.1f MB beside a table of %.1f MB\n"
                 "    ms a question: median %.3f, of which the index %.3f; 99%% %.3f; mean %.3f, processor %.3f\n"
                 "    rows that the index gave: %.1f a question, of which wrong and read in vain %.1f\n",
                 name, peer->load_seconds, peer->build_seconds, peer->index_bytes / 1e6, peer->table_bytes / 1e6,
                 peer->median * 1e3, peer->index_median * 1e3, peer->high * 1e3, peer->mean * 1e3,
                 peer->processor_mean * 1e3, peer->candidates, peer->wrong);
}

static void note(const char *what, const char *unit, double value, double beside, const char *other, bool less) {
    measure_figure(&(struct measure_figure){
        .bench = "terms", .what = what, .unit = unit, .value = value, .beside = beside, .other = other, .less = less});
}

/* Reading: of the questions that read much, the rate at which they do, beside plain reading of as many bytes. */
static void note_ours(const struct terms_set *set, const char *name, const struct terms_figures *figures) {
    char what[64];
    (void)snprintf(what, sizeof what, "%s, making", name);
    note(what, "MB/s", (double)set->text_bytes / figures->build_seconds / 1e6, 0, NULL, false);
    (void)snprintf(what, sizeof what, "%s, rows read by 3 words", name);
    note(what, "GB/s", figures->plain_bandwidth * figures->plain_share / 1e9, figures->plain_bandwidth / 1e9,
         "plain reading", false);
    (void)snprintf(what, sizeof what, "%s, 3 words", name);
    note(what, "us", figures->median * 1e6, 0, NULL, true);
}

/* ---------------------------------------------------------------------- peers -- */

/* By the clock on the wall its index alone is held against all of ours; of processor time there is only the whole. */
static void print_times(const struct bench *bench, const char *set_name, const struct terms_figures *ours,
                        const char *name, const struct terms_postgres_figures *peer) {
    const double index = peer->index_median / ours->median;
    const double whole = peer->median / ours->median;
    const double processor = peer->processor_mean / ours->mean;
    const double counts = bench->processor_time ? processor : index;
    if (bench->processor_time)
        (void)printf("  %s: %.0f times as fast by processor time", name, processor);
    else
        (void)printf("  %s: %.0f times as fast as its index alone, %.0f times as the whole", name, index, whole);
    (void)printf(" (expected: 20)  %s\n", counts >= 20 ? "yes" : "NO");
    char what[96];
    (void)snprintf(what, sizeof what, "%s, 3 of %s", name, set_name);
    note(what, "us", (bench->processor_time ? ours->mean : ours->median) * 1e6,
         (bench->processor_time ? peer->processor_mean : peer->median) * 1e6, "PostgreSQL bloom", true);
}

/* A row's bits for its words, as contrib wants them: a multiple of 16. */
static uint32_t row_length(const struct terms_set *set, uint64_t bits) {
    const double words = (double)set->postings / (double)set->table_rows;
    return ((uint32_t)(words * (double)bits) + 15) / 16 * 16;
}

static void measure_peers(const struct bench *bench, const char *set_name, const struct terms_set *set,
                          const char *self, const struct terms_figures *ours) {
    struct terms_postgres_figures peer;
    const uint32_t length = row_length(set, bench->bits);
    (void)printf("  PostgreSQL: %.1f rows a document, %u bits a row, %u hashes a word\n",
                 (double)set->table_rows / (double)set->options.documents, length, PEER_HASHES);
    if (!terms_postgres_measure(set, self, true, length, PEER_HASHES, &peer)) return;
    print_postgres("bloom", &peer);
    for (size_t i = 0; i < CONTENDERS; i++) print_times(bench, set_name, &ours[i], contenders[i].name, &peer);
    if (terms_postgres_measure(set, self, false, 0, 0, &peer)) print_postgres("GIN", &peer);
}

/* ------------------------------------------------------------------------ sets -- */

static void measure_set(const struct bench *bench, const char *name, const struct terms_set_options *options,
                        const char *self) {
    struct terms_figures figures[CONTENDERS];
    struct terms_set set;
    const double start = measure_now();
    terms_set_make(&set, options);
    (void)printf("\n%s: %" PRIu64 " documents, %.1f distinct words each, %.1f MB of text, made in %.1f s; %" PRIu64
                 " questions of %u words, %.1f answers each; %" PRIu64 " bits a word\n",
                 name, options->documents, (double)set.postings / (double)options->documents,
                 (double)set.text_bytes / 1e6, measure_now() - start, options->queries, TERMS_WORDS, set.answers,
                 bench->bits);
    print_heading();
    for (size_t i = 0; i < CONTENDERS; i++) {
        const struct terms_ours_options ours = {.context = bench->context,
                                                .name = contenders[i].name,
                                                .kind = contenders[i].kind,
                                                .goal = contenders[i].goal,
                                                .bits_per_term = (double)bench->bits,
                                                .block_terms = BLOCK_TERMS,
                                                .memory_bytes = bench->memory << 20,
                                                .runs = (size_t)bench->runs,
                                                .json = bench->json};
        terms_ours_measure(&set, &ours, &figures[i]);
        print_ours(&set, contenders[i].name, &figures[i]);
        (void)fflush(stdout);
    }
    for (size_t i = 0; i < CONTENDERS; i++) print_shape(contenders[i].name, &figures[i]);
    for (size_t i = 0; i < CONTENDERS; i++) print_goals(&set, contenders[i].name, &figures[i]);
    for (size_t i = 0; i < CONTENDERS && !options->peers; i++) note_ours(&set, contenders[i].name, &figures[i]);
    if (options->peers) measure_peers(bench, name, &set, self, figures);
    terms_set_free(&set);
}

static void measure_all(const struct bench *bench, const char *self) {
    struct terms_set_options options = {.documents = bench->blocks,
                                        .terms = BLOCK_TERMS,
                                        .queries = bench->queries,
                                        .seed = bench->seed,
                                        .folder = bench->folder};
    if (bench->part == 0 || bench->part == 1) measure_set(bench, "400 words", &options, self);
    if (bench->peer_count == 0) return;
    options.peers = true;
    options.queries = bench->peer_queries;
    options.documents = bench->peer_count < bench->blocks ? bench->peer_count : bench->blocks;
    if (bench->part == 0 || bench->part == 2) measure_set(bench, "400 words, beside PostgreSQL", &options, self);
    options.terms = 0;
    options.documents = bench->blocks;
    if (bench->part == 0 || bench->part == 3) measure_set(bench, "32 words, beside PostgreSQL", &options, self);
}

/* --------------------------------------------------------------------- options -- */

static const char usage[] =
    "usage: bench_terms [--blocks N] [--peer-count N] [--queries N] [--peer-queries N] [--bits N] [--memory MB]\n"
    "                   [--runs N] [--seed N] [--part N] [--json FILE] [--quick] [--cpu]\n"
    "  --blocks N        documents of 400 distinct words, 4 KB each (default 1000000: 4 GB in $TMPDIR)\n"
    "  --peer-count N    so many of them for PostgreSQL, and for us beside it (default 100000; 0: without it)\n"
    "  --queries N       default 1000\n"
    "  --peer-queries N  default 200\n"
    "  --bits N          of a filter for each word (default 8)\n"
    "  --memory MB       while indexing (default 8192)\n"
    "  --runs N          of each question (default 3)\n"
    "  --part N          1: 400 words; 2: beside PostgreSQL; 3: 32 words (default: all)\n"
    "  --json FILE       append every measurement as a line of JSON\n"
    "  --quick           5000 documents, 2000 for PostgreSQL: to see that it works\n"
    "  --cpu             processor time of ours: where others use the machine too\n";

static void parse(struct bench *bench, int count, char **arguments) {
    const struct measure_option options[] = {
        {.name = "blocks", .number = &bench->blocks, .least = 1000, .most = UINT64_C(1) << 30, .quick = 5000},
        {.name = "peer-count", .number = &bench->peer_count, .most = UINT64_C(1) << 30, .quick = 2000},
        {.name = "queries", .number = &bench->queries, .least = 1, .most = 1000000, .quick = 100},
        {.name = "peer-queries", .number = &bench->peer_queries, .least = 1, .most = 1000000, .quick = 20},
        {.name = "bits", .number = &bench->bits, .least = 1, .most = 64},
        {.name = "memory", .number = &bench->memory, .least = 64, .most = 1 << 20},
        {.name = "runs", .number = &bench->runs, .least = 1, .most = MEASURE_MAX_RUNS},
        {.name = "part", .number = &bench->part, .most = 3},
        {.name = "seed", .number = &bench->seed, .most = UINT64_MAX},
        {.name = "json", .file = &bench->json},
        {.name = "cpu", .flag = &bench->processor_time},
        {.name = NULL},
    };
    if (measure_parse(options, usage, count, arguments) != count) measure_usage(usage, 2);
}

int main(int count, char **arguments) {
    static struct bench bench = {.blocks = 1000000,
                                 .peer_count = 100000,
                                 .queries = 1000,
                                 .peer_queries = 200,
                                 .bits = 8,
                                 .memory = 8192,
                                 .runs = 3,
                                 .seed = 1};
    nigh_error error;
    parse(&bench, count, arguments);
    if (bench.processor_time) measure_processor_time();
    measure_folder_make(bench.folder);
    measure_must(nigh_context_new(NULL, &bench.context, &error), &error, "starting");
    measure_print_host(stdout, nigh_context_kernel(bench.context));
    measure_all(&bench, arguments[0]);
    nigh_context_free(bench.context);
    measure_folder_remove(bench.folder);
    if (bench.json != NULL) (void)fclose(bench.json);
    return 0;
}
