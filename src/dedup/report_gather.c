/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/*
 * From a deduplication to the struct that report.c makes a page of: facts, two
 * histograms, and the clusters of report_sample.c.  Numbers are written without
 * printf's doubles, which look different in other locales.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/bytes.h"
#include "base/replacement.h"
#include "base/status.h"
#include "dedup/report_sample.h"

#define VALUE_SIZE 160
#define MAX_FACTS 20
#define MAX_BARS 64
#define WARNING_SIZE 400
#define SIZE_CLASSES 64     /* of clusters, by powers of two */
#define STEPS 50            /* of similarity: .02 each */
#define FEW_DISTANCES 40    /* more are put together */
#define LARGE_CLUSTER 1000u /* documents, and more than */
#define LARGE_SHARE 100u    /* one in so many: suspicious */

struct facts {
    struct nigh__report_fact list[MAX_FACTS];
    char values[MAX_FACTS][VALUE_SIZE];
    size_t count;
};

struct bars {
    struct nigh__report_bar list[MAX_BARS];
    char labels[MAX_BARS][48];
    size_t count;
};

struct histogram {
    uint64_t similarities[STEPS + 1]; /* the last: 1 exactly */
    uint64_t distances[NIGH_MAX_WIDTH_BITS + 1];
    uint64_t pairs, measured; /* that are no copies; of them with a distance */
};

struct page {
    nigh_dedup *dedup;
    struct nigh__sample sample;
    struct facts facts;
    struct bars sizes, distances, similarities;
    struct histogram *histogram;
    char warning[WARNING_SIZE];
    char caption[VALUE_SIZE];
    char title[2 * VALUE_SIZE];
};

/* ------------------------------------------------------------------- numbers */

/* 1234567 as "1,234,567", at the end of what is there. */
static void put_number(char *out, size_t capacity, uint64_t number) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    size_t used = strlen(out);
    for (int i = 0; i < length && used + 2 < capacity; i++) {
        if (i > 0 && (length - i) % 3 == 0) out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
}

/* With two decimals. */
static void put_decimal(char *out, size_t capacity, double value, const char *unit) {
    uint64_t hundredths = value > 0 ? (uint64_t)(value * 100 + 0.5) : 0;
    size_t used = strlen(out);
    (void)snprintf(out + used, capacity - used, "%" PRIu64 ".%02u%s", hundredths / 100, (unsigned)(hundredths % 100),
                   unit);
}

static void put_text(char *out, size_t capacity, const char *text) {
    size_t used = strlen(out);
    (void)snprintf(out + used, capacity - used, "%s", text);
}

/* --------------------------------------------------------------------- facts */

/* A new fact with an empty value, which is returned. */
static char *fact_add(struct facts *facts, const char *name) {
    size_t at = facts->count < MAX_FACTS ? facts->count++ : MAX_FACTS - 1;
    facts->values[at][0] = '\0';
    facts->list[at] = (struct nigh__report_fact){.name = name, .value = facts->values[at]};
    return facts->values[at];
}

static void fact_number(struct facts *facts, const char *name, uint64_t number) {
    put_number(fact_add(facts, name), VALUE_SIZE, number);
}

static void facts_method(struct facts *facts, const nigh_dedup *dedup) {
    static const char *const methods[] = {"minhash: bands of 256 min-wise hashes", "exact: a join that misses none",
                                          "simhash: signatures a few bits apart"};
    static const char *const rules[] = {"kept: whatever goes is alike to the document kept for it",
                                        "components: whatever pairs connect", "complete: all alike to each other"};
    static const char *const keeps[] = {"the first", "the longest", "the shortest", "the highest score"};
    const nigh_dedup_options *options = &dedup->options;
    char *method = fact_add(facts, "method");
    put_text(method, VALUE_SIZE, dedup->source == NULL ? "signatures a few bits apart" : methods[options->method]);
    if (dedup->verified) put_decimal(fact_add(facts, "Jaccard index, at least"), VALUE_SIZE, options->threshold, "");
    if (dedup->source == NULL || options->method == NIGH_DEDUP_SIMHASH)
        fact_number(facts, "bits that differ, at most", options->distance);
    put_text(fact_add(facts, "clusters"), VALUE_SIZE, rules[options->cluster]);
    put_text(fact_add(facts, "kept of a cluster"), VALUE_SIZE, keeps[options->keep]);
}

static void facts_input(struct facts *facts, const nigh_dedup *dedup) {
    const nigh_dedup_info *info = &dedup->info;
    if (dedup->source != NULL) {
        char *read = fact_add(facts, "read");
        put_decimal(read, VALUE_SIZE, (double)info->reader.bytes_read / 1e6, " MB with ");
        put_decimal(read, VALUE_SIZE, (double)info->reader.bytes_text / 1e6, " MB of text");
    }
    const uint64_t left_out = info->reader.too_few_bytes + info->reader.too_few_words + info->reader.other_language;
    if (left_out > 0) fact_number(facts, "documents left out, being too short or in another language", left_out);
    if (info->unread > 0) fact_number(facts, "records that are no documents, kept as they are", info->unread);
    if (info->lost > 0) fact_number(facts, "records that cannot be kept", info->lost);
    if (info->empty > 0) fact_number(facts, "documents too short to compare", info->empty);
}

static void facts_work(struct facts *facts, const nigh_dedup *dedup) {
    static const char *const stages[] = {"time: reading and signing", "time: finding candidates", "time: verifying",
                                         "time: clustering"};
    const nigh_dedup_info *info = &dedup->info;
    struct rusage usage;
    fact_number(facts, "candidate pairs", info->candidates);
    if (dedup->source != NULL) fact_number(facts, "pairs compared by text", info->verified);
    fact_number(facts, "pairs known to be alike", info->alike);
    for (size_t i = 0; i < 4 && info->seconds[0] > 0; i++) /* of stages nobody knows */
        put_decimal(fact_add(facts, stages[i]), VALUE_SIZE, info->seconds[i], " s");
    if (getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_maxrss > 0) /* in KiB */
        put_decimal(fact_add(facts, "memory of the process, at most"), VALUE_SIZE, (double)usage.ru_maxrss * 1024 / 1e6,
                    " MB");
    if (info->disk_bytes > 0)
        put_decimal(fact_add(facts, "temporary files"), VALUE_SIZE, (double)info->disk_bytes / 1e6, " MB");
}

/* ---------------------------------------------------------------- histograms */

static struct nigh__report_bar *bar_add(struct bars *bars, uint64_t count) {
    size_t at = bars->count < MAX_BARS ? bars->count++ : MAX_BARS - 1;
    bars->labels[at][0] = '\0';
    bars->list[at] = (struct nigh__report_bar){.label = bars->labels[at], .count = count};
    return &bars->list[at];
}

static void bar_range(struct bars *bars, uint64_t low, uint64_t high, uint64_t count) {
    (void)bar_add(bars, count);
    char *label = bars->labels[bars->count - 1];
    put_number(label, sizeof bars->labels[0], low);
    if (high == low) return;
    put_text(label, sizeof bars->labels[0], "\xe2\x80\x93");
    put_number(label, sizeof bars->labels[0], high);
}

/* 1, 2, 3-4, 5-8, ... documents. */
static void sizes_fill(struct bars *bars, const nigh_dedup *dedup, const uint64_t *sizes) {
    uint64_t counts[SIZE_CLASSES] = {0};
    size_t last = 0;
    for (size_t i = 0; i < dedup->documents.count; i++) {
        if (sizes[i] == 0) continue;
        size_t at = 0;
        while (((uint64_t)1 << at) < sizes[i]) at++;
        counts[at]++;
        if (at > last) last = at;
    }
    counts[0] += dedup->info.documents - dedup->documents.count; /* of stages: each is alone */
    if (dedup->info.documents == 0) return;
    for (size_t i = 0; i <= last; i++)
        bar_range(bars, i == 0 ? 1 : ((uint64_t)1 << (i - 1)) + 1, (uint64_t)1 << i, counts[i]);
}

static int pair_count(void *user, const nigh_dedup_pair *pair) {
    struct histogram *histogram = user;
    if (pair->copy) return 0;
    histogram->pairs++;
    if (pair->distance <= NIGH_MAX_WIDTH_BITS) {
        histogram->measured++;
        histogram->distances[pair->distance]++;
    }
    double similarity = pair->similarity < 0 ? 0 : pair->similarity > 1 ? 1 : pair->similarity;
    histogram->similarities[(size_t)(similarity * STEPS + 1e-6)]++; /* a float's .82 is a little less */
    return 0;
}

static void distances_by_bits(struct bars *bars, const struct histogram *histogram) {
    uint64_t least = NIGH_MAX_WIDTH_BITS, most = 0;
    for (uint64_t i = 0; i <= NIGH_MAX_WIDTH_BITS; i++) {
        if (histogram->distances[i] == 0) continue;
        if (i < least) least = i;
        most = i;
    }
    if (least > 3) least -= least % 2; /* from 0 where it begins near it */
    if (least <= 3) least = 0;
    uint64_t step = (most - least) / FEW_DISTANCES + 1;
    for (uint64_t low = least; low <= most; low += step) {
        uint64_t count = 0;
        for (uint64_t i = low; i < low + step && i <= most; i++) count += histogram->distances[i];
        bar_range(bars, low, low + step - 1, count);
    }
}

static void distances_by_similarity(struct bars *bars, const struct histogram *histogram) {
    size_t first = 0;
    while (first < STEPS && histogram->similarities[first] == 0) first++;
    for (size_t i = first; i <= STEPS; i++) {
        (void)bar_add(bars, histogram->similarities[i]);
        put_decimal(bars->labels[bars->count - 1], sizeof bars->labels[0], (double)i / STEPS, "");
    }
}

static nigh_status distances_fill(struct page *page, nigh_error *error) {
    struct histogram *histogram = page->histogram;
    nigh_status status = nigh_dedup_pairs(page->dedup, pair_count, histogram, NULL, error);
    if (status != NIGH_OK || histogram->pairs == 0) return status;
    bool bits = histogram->measured == histogram->pairs;
    if (bits)
        distances_by_bits(&page->distances, histogram);
    else
        distances_by_similarity(&page->distances, histogram);
    if (bits && page->dedup->verified) distances_by_similarity(&page->similarities, histogram);
    put_text(page->caption, sizeof page->caption,
             bits ? "bits that differ in a pair (exact copies left out)"
                  : "Jaccard index of a pair (exact copies left out)");
    return NIGH_OK;
}

/* ------------------------------------------------------------------ the page */

static void title_make(struct page *page) {
    const struct nigh__rereading *source = page->dedup->source;
    size_t count = source == NULL ? 0 : nigh__rereading_count(source);
    if (count == 0) put_text(page->title, sizeof page->title, source == NULL ? "signatures" : "documents");
    for (size_t i = 0; i < count && i < 3; i++) {
        const char *path = nigh__rereading_path(source, i);
        size_t length = strlen(path);
        if (i > 0) put_text(page->title, sizeof page->title, ", ");
        if (length > 80) put_text(page->title, sizeof page->title, "..."), path += length - 77;
        put_text(page->title, sizeof page->title, strcmp(path, "-") == 0 ? "standard input" : path);
    }
    if (count <= 3) return;
    put_text(page->title, sizeof page->title, " and ");
    put_number(page->title, sizeof page->title, count - 3);
    put_text(page->title, sizeof page->title, " more");
}

static void warning_make(struct page *page) {
    const nigh_dedup *dedup = page->dedup;
    const nigh_dedup_info *info = &dedup->info;
    char *out = page->warning;
    if (info->largest > LARGE_CLUSTER && info->largest > info->documents / LARGE_SHARE) {
        put_text(out, WARNING_SIZE, "One cluster has ");
        put_number(out, WARNING_SIZE, info->largest);
        put_text(out, WARNING_SIZE, " documents: look whether they are a template rather than copies. ");
    }
    if (info->truncated > 0) {
        put_number(out, WARNING_SIZE, info->truncated);
        put_text(out, WARNING_SIZE, " groups were too large to compare all of them: some pairs may be missing. ");
    }
    if (dedup->source != NULL && dedup->options.no_verify)
        put_text(out, WARNING_SIZE, "Nothing was verified by text: some of what goes may not be a near-copy. ");
}

/* By `keep`; of signatures the first stays whatever it says. */
static const char *why_kept(const nigh_dedup *dedup) {
    static const char *const whys[] = {"Kept, as it comes first in the input.", "Kept, as its text is the longest.",
                                       "Kept, as its text is the shortest.",
                                       "Kept, as its score is the highest, or it comes first of these."};
    return whys[dedup->source == NULL ? 0 : dedup->options.keep];
}

static nigh_status page_write(struct page *page, const char *path, nigh_error *error) {
    const nigh_dedup *dedup = page->dedup;
    const nigh_dedup_info *info = &dedup->info;
    const struct nigh__sample *sample = &page->sample;
    uint64_t gone = info->documents - info->kept;
    struct nigh__report report = {
        .title = page->title,
        .documents = info->documents,
        .kept = info->kept,
        .copies = info->copies,
        .near = gone > info->copies ? gone - info->copies : 0,
        .clusters = info->clusters,
        .warning = page->warning[0] == '\0' ? NULL : page->warning,
        .facts = page->facts.list,
        .fact_count = page->facts.count,
        .distances = page->distances.list,
        .distance_count = page->distances.count,
        .distance_caption = page->caption,
        .similarities = page->similarities.list,
        .similarity_count = page->similarities.count,
        .why = why_kept(dedup),
        .sizes = page->sizes.list,
        .size_count = page->sizes.count,
        .largest = sample->largest.data,
        .largest_count = sample->largest.count,
        .typical = sample->typical.data,
        .typical_count = sample->typical.count,
    };
    struct nigh__array html = NIGH__ARRAY(char);
    nigh_status status = nigh__report_make(dedup->context, &report, &html, error);
    if (status == NIGH_OK) status = nigh__file_replace(dedup->context, path, html.data, html.count, error);
    nigh__array_release(dedup->context, &html);
    return status;
}

static nigh_status page_fill(struct page *page, nigh_error *error) {
    nigh_status status = nigh__sample_take(page->dedup, &page->sample, error);
    if (status == NIGH_OK) status = distances_fill(page, error);
    if (status != NIGH_OK) return status;
    sizes_fill(&page->sizes, page->dedup, page->sample.sizes);
    facts_method(&page->facts, page->dedup);
    facts_input(&page->facts, page->dedup);
    facts_work(&page->facts, page->dedup);
    title_make(page);
    warning_make(page);
    return NIGH_OK;
}

nigh_status nigh_dedup_report(nigh_dedup *dedup, const char *path, nigh_error *error) {
    if (path == NULL) return nigh__fail(error, NIGH_EINVAL, "no path to write a report to");
    if (path[0] == '\0') return nigh__fail(error, NIGH_ENOTFOUND, "'': cannot create: the path is empty");
    const char *input = dedup->source == NULL ? NULL : nigh__rereading_around(dedup->source, path);
    if (input != NULL)
        return nigh__fail_at(error, NIGH_EINVAL, path, NIGH_NO_OFFSET, "is also an input, or in one: '%s'", input);
    struct page *page = nigh__alloc_zero(dedup->context, 1, sizeof *page);
    struct histogram *histogram = nigh__alloc_zero(dedup->context, 1, sizeof *histogram);
    nigh_status status = NIGH_OK;
    if (page == NULL || histogram == NULL) {
        status = nigh__no_memory(error, "for the report");
    } else {
        page->dedup = dedup;
        page->histogram = histogram;
        page->sample.context = dedup->context;
        status = page_fill(page, error);
        if (status == NIGH_OK) status = page_write(page, path, error);
        nigh__sample_release(&page->sample);
    }
    nigh__free(dedup->context, histogram);
    nigh__free(dedup->context, page);
    return status;
}
