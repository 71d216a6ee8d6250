/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures and tables of the PSM paper (Sood, 2011) that no other benchmark has:
 *
 *     5(b)      queries a second by the bits p of the prefix, with as many probes as a
 *               recall of .95 takes
 *     7(a)      time to list the k likeliest combinations, by k, for two p; the paper has
 *               p = 21 and 34, ours has no more than 32 bits
 *     7(b)      rows that a query is compared with, by the number of tables
 *     Table II  all pairs of a thousand documents by Hamming distance of 64 bits, and by
 *               the cosine of their words; and what both take to store
 */
#include "neardup_figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "finder/recall.h"
#include "finder/weak.h"
#include "zipf_text.h"

#define RECALL 0.95
#define LISTED 100000u /* queries whose combinations are listed */
#define PAGES 1000u
#define PAGE_TERMS 400u

/* ------------------------------------------------------------ figures 5(b), 7(b) -- */

static double rate_of(const struct fingerprints *prints, const nigh_finder *finder, nigh_find_mode mode, uint64_t runs,
                      double *recall, double *compared) {
    struct series seconds = {.runs = 0};
    for (uint64_t run = 0; run < runs; run++) {
        nigh_results *results = NULL;
        nigh_results_info info = {.size = sizeof info};
        series_add(&seconds, fingerprints_find(prints, prints->queries, finder, mode, &results));
        nigh_results_describe(results, &info);
        *recall = fingerprints_recall(prints, prints->queries, results, mode);
        *compared = (double)info.distances / (double)prints->queries;
        nigh_results_free(results);
    }
    return (double)prints->queries / series_median(&seconds);
}

static void by_prefix(const struct fingerprints *prints, uint64_t runs) {
    uint32_t most = 1;
    while (prints->rows >> (most + 1) != 0) most++;
    (void)printf("\nfigure 5(b): p bits of the prefix, k for a recall of %.2f\n"
                 "   p     k   compared   all q/s   any q/s   recall of any\n",
                 RECALL);
    for (uint32_t p = most - 8; p <= most; p += 2) {
        const uint32_t k = nigh__recall_probes(FINGERPRINT_BITS, prints->radius, p, RECALL, 1, NIGH_WEAK_GAUSSIAN);
        const struct finder_setting setting = {
            .name = "psm", .method = NIGH_FINDER_PSM, .probes = k, .rotations = 1, .prefix_bits = p};
        nigh_finder_info info;
        double recall = 0;
        double compared = 0;
        nigh_finder *finder = fingerprints_finder(prints, &setting, &info);
        const double all = rate_of(prints, finder, NIGH_FIND_ALL, runs, &recall, &compared);
        const double looked_at = compared;
        const double any = rate_of(prints, finder, NIGH_FIND_ANY, runs, &recall, &compared);
        (void)printf("%4u %5u %10.1f %9.0f %9.0f   %.4f\n", p, k, looked_at, all, any, recall);
        (void)fflush(stdout);
        nigh_finder_free(finder);
    }
}

static void by_tables(const struct fingerprints *prints, uint64_t runs) {
    static const struct finder_setting settings[] = {
        {.name = "tables 4 choose 1", .method = NIGH_FINDER_TABLES, .blocks = 4, .leading = 1},
        {.name = "tables 5 choose 2", .method = NIGH_FINDER_TABLES, .blocks = 5, .leading = 2},
        {.name = "tables 6 choose 3", .method = NIGH_FINDER_TABLES, .blocks = 6, .leading = 3},
        {.name = "psm", .method = NIGH_FINDER_PSM, .rotations = 1, .recall = RECALL},
        {.name = "psm, 2 tables", .method = NIGH_FINDER_PSM, .rotations = 2, .recall = RECALL},
    };
    (void)printf("\nfigure 7(b): rows compared, by the number of tables\n"
                 "                     tables  bytes a row   compared   all q/s   recall\n");
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        nigh_finder_info info;
        double recall = 0;
        double compared = 0;
        nigh_finder *finder = fingerprints_finder(prints, &settings[i], &info);
        const double rate = rate_of(prints, finder, NIGH_FIND_ALL, runs, &recall, &compared);
        const uint32_t tables = settings[i].method == NIGH_FINDER_PSM ? info.rotations : info.tables;
        (void)printf("%-20s %6u %12.1f %10.1f %9.0f   %.4f\n", settings[i].name, tables,
                     (double)info.bytes / (double)prints->rows, compared, rate, recall);
        (void)fflush(stdout);
        nigh_finder_free(finder);
    }
}

/* ------------------------------------------------------------------ figure 7(a) -- */

/* Seconds for the combinations of so many queries; what they sum up to is used, so that nobody leaves them out. */
static double list_all(const struct fingerprints *prints, uint32_t bits, uint32_t probes, size_t count, uint64_t *sum) {
    uint32_t costs[256];
    uint32_t bit_costs[NIGH__MAX_PREFIX_BITS];
    uint32_t *masks = measure_allocate(probes, sizeof *masks);
    const size_t scratch_bytes = nigh__weak_scratch(bits, prints->radius, probes);
    void *scratch = measure_allocate(scratch_bytes, 1);
    nigh__weak_costs(NIGH_WEAK_GAUSSIAN, FINGERPRINT_BITS, costs);
    const double start = measure_now();
    for (size_t q = 0; q < count; q++) {
        const uint8_t *weights = prints->weights + q * FINGERPRINT_BITS;
        for (uint32_t i = 0; i < bits; i++) bit_costs[i] = costs[weights[i]];
        const size_t found = nigh__weak_list(bit_costs, bits, prints->radius, probes, masks, scratch, scratch_bytes);
        *sum += masks[found - 1];
    }
    const double seconds = measure_now() - start;
    free(masks);
    free(scratch);
    return seconds;
}

static void by_probes(const struct fingerprints *prints) {
    static const uint32_t probes[] = {1, 4, 16, 64, 256, 1024};
    const size_t count = prints->queries < LISTED ? prints->queries : LISTED;
    uint64_t sum = 0;
    (void)printf("\nfigure 7(a): seconds to list the k likeliest combinations for ten million fingerprints\n"
                 "     k     p = 21     p = 32\n");
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++)
        (void)printf("%6u %10.2f %10.2f\n", probes[i],
                     list_all(prints, 21, probes[i], count, &sum) * 1e7 / (double)count,
                     list_all(prints, 32, probes[i], count, &sum) * 1e7 / (double)count);
    if (sum == 0) (void)printf("nothing was flipped\n");
}

/* --------------------------------------------------------------------- Table II -- */

struct page {
    uint64_t fingerprint;
    uint32_t count;
    uint32_t terms[PAGE_TERMS]; /* ascending */
    float weights[PAGE_TERMS];  /* of length 1 */
};

static int ascending(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a;
    const uint32_t y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void page_weigh(const struct zipf_document *document, struct page *page) {
    double norm = 0;
    page->count = document->term_count;
    memcpy(page->terms, document->terms, page->count * sizeof *page->terms);
    qsort(page->terms, page->count, sizeof *page->terms, ascending);
    for (uint32_t t = 0; t < page->count; t++) {
        uint32_t times = 0;
        for (size_t w = 0; w < document->word_count; w++) times += document->words[w] == page->terms[t];
        page->weights[t] = (float)times;
        norm += (double)times * times;
    }
    for (uint32_t t = 0; t < page->count; t++) page->weights[t] /= (float)sqrt(norm);
}

static void page_sign(nigh_signer *signer, const struct zipf_document *document, char *text, struct page *page) {
    nigh_error error;
    size_t length = 0;
    for (size_t w = 0; w < document->word_count; w++) {
        length += zipf_word_spell(document->words[w], text + length);
        text[length++] = ' ';
    }
    measure_must(nigh_signer_sign(signer, text, length, (uint8_t *)&page->fingerprint, NULL, &error), &error,
                 "signing");
}

static void pages_make(nigh_context *context, struct page *pages) {
    struct zipf_text zipf;
    struct zipf_document document = {.words = NULL};
    nigh_signer_options options;
    nigh_signer *signer = NULL;
    nigh_error error;
    zipf_text_init(&zipf, 1, PAGE_TERMS);
    nigh_signer_options_init(&options);
    options.scheme = NIGH_SCHEME_SIMHASH;
    options.width_bits = FINGERPRINT_BITS;
    measure_must(nigh_signer_new(context, &options, &signer, &error), &error, "making a signer");
    for (uint32_t i = 0; i < PAGES; i++) {
        zipf_text_document(&zipf, i, &document);
        page_weigh(&document, &pages[i]);
        char *text = measure_allocate(document.word_count, ZIPF_SPELLED + 1);
        page_sign(signer, &document, text, &pages[i]);
        free(text);
    }
    nigh_signer_free(signer);
    zipf_document_free(&document);
}

static double cosine(const struct page *a, const struct page *b) {
    double sum = 0;
    for (uint32_t i = 0, j = 0; i < a->count && j < b->count;) {
        if (a->terms[i] == b->terms[j]) sum += (double)a->weights[i] * b->weights[j];
        const uint32_t x = a->terms[i];
        const uint32_t y = b->terms[j];
        i += x <= y;
        j += y <= x;
    }
    return sum;
}

static void all_pairs(nigh_context *context) {
    struct page *pages = measure_allocate(PAGES, sizeof *pages);
    double sum = 0;
    uint64_t bits = 0;
    size_t bytes = 0;
    pages_make(context, pages);
    double start = measure_now();
    for (uint32_t i = 0; i < PAGES; i++)
        for (uint32_t j = 0; j < i; j++) sum += cosine(&pages[i], &pages[j]);
    const double cosines = measure_now() - start;
    start = measure_now();
    for (uint32_t i = 0; i < PAGES; i++)
        for (uint32_t j = 0; j < i; j++)
            bits += (uint64_t)__builtin_popcountll(pages[i].fingerprint ^ pages[j].fingerprint);
    const double distances = measure_now() - start;
    for (uint32_t i = 0; i < PAGES; i++) bytes += pages[i].count * (sizeof *pages->terms + sizeof *pages->weights);
    const double pairs = PAGES * (PAGES - 1) / 2.0;
    (void)printf("\nTable II: all %.0f pairs of %u documents of %u different words\n"
                 "                    seconds   storage\n"
                 "Hamming distance   %8.4f %9u B   (mean %.2f bits)\n"
                 "cosine             %8.4f %9zu B   (mean %.3f)\n",
                 pairs, PAGES, PAGE_TERMS, distances, PAGES * FINGERPRINT_BYTES, (double)bits / pairs, cosines, bytes,
                 sum / pairs);
    free(pages);
}

void neardup_figures(const struct fingerprints *prints, uint64_t runs) {
    all_pairs(prints->context);
    by_probes(prints);
    by_prefix(prints, runs);
    by_tables(prints, runs);
}
