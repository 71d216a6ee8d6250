/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of made-up words, and the plain truth about them. */
#include "support/soup.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"

#define VOCABULARY 400u
#define WORD_BITS 20u

static int compare_words(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a;
    const uint64_t y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void find_features(struct soup_document *document) {
    const size_t count = document->count;
    const size_t features = count == 0 ? 0 : count < 3 ? 1 : count - 2;
    document->features = calloc(features + 1, sizeof *document->features);
    assert_non_null(document->features);
    for (size_t i = 0; i < features; i++)
        for (size_t k = 0; k < 3 && k < count; k++)
            document->features[i] = document->features[i] << WORD_BITS | (document->words[i + k] + 1);
    qsort(document->features, features, sizeof *document->features, compare_words);
    for (size_t i = 0; i < features; i++)
        if (i == 0 || document->features[i] != document->features[i - 1])
            document->features[document->feature_count++] = document->features[i];
}

void soup_add(struct soup *soup, const uint32_t *words, size_t count) {
    soup->documents = realloc(soup->documents, (soup->count + 1) * sizeof *soup->documents);
    assert_non_null(soup->documents);
    struct soup_document *document = &soup->documents[soup->count++];
    *document = (struct soup_document){.words = malloc((count + 1) * sizeof *words), .count = count};
    assert_non_null(document->words);
    if (count > 0) memcpy(document->words, words, count * sizeof *words);
    find_features(document);
}

/* Some words are much more frequent than others, as in any language. */
static uint32_t draw_word(struct nigh__rng *rng) {
    const uint64_t random = nigh__rng_next(rng);
    const uint32_t word = (uint32_t)(random % VOCABULARY);
    return random >> 63 ? word : word % 20;
}

/* A copy with some words changed, left out or put in; now and then with none. */
static size_t edit(const struct soup_document *from, uint32_t *words, size_t most, struct nigh__rng *rng) {
    const uint64_t rate = nigh__rng_next(rng) % 4 * 12; /* of 1,000 */
    size_t count = 0;
    for (size_t i = 0; i < from->count && count + 1 < most; i++) {
        const uint64_t dice = nigh__rng_next(rng) % 1000;
        if (dice < rate) continue;
        words[count++] = dice < 2 * rate ? draw_word(rng) : from->words[i];
        if (dice >= 2 * rate && dice < 3 * rate) words[count++] = draw_word(rng);
    }
    return count;
}

void soup_init(struct soup *soup, size_t count, size_t length, unsigned share, uint64_t seed) {
    struct nigh__rng rng = {.state = seed};
    *soup = (struct soup){0};
    uint32_t *words = malloc((length + 1) * sizeof *words);
    assert_non_null(words);
    for (size_t i = 0; i < count; i++) {
        size_t used = 0;
        if (i > 0 && nigh__rng_next(&rng) % 100 < share) {
            used = edit(&soup->documents[nigh__rng_next(&rng) % i], words, length, &rng);
        } else {
            used = (size_t)(nigh__rng_next(&rng) % length);
            for (size_t k = 0; k < used; k++) words[k] = draw_word(&rng);
        }
        soup_add(soup, words, used);
    }
    free(words);
}

void soup_release(struct soup *soup) {
    for (size_t i = 0; i < soup->count; i++) {
        free(soup->documents[i].words);
        free(soup->documents[i].features);
    }
    free(soup->documents);
    *soup = (struct soup){0};
}

void soup_write(const struct soup *soup, const char *path) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (size_t i = 0; i < soup->count; i++) {
        (void)fprintf(file, "{\"id\": \"d%zu\", \"score\": %zu, \"text\": \"", i, i * 7919 % 101);
        for (size_t k = 0; k < soup->documents[i].count; k++)
            (void)fprintf(file, "w%x%s", soup->documents[i].words[k], k % 10 == 9 ? ".  " : " ");
        (void)fputs(".\"}\n", file);
    }
    assert_int_equal(fclose(file), 0);
}

bool soup_same_text(const struct soup *soup, size_t a, size_t b) {
    const struct soup_document *x = &soup->documents[a];
    const struct soup_document *y = &soup->documents[b];
    return x->count == y->count && (x->count == 0 || memcmp(x->words, y->words, x->count * sizeof *x->words) == 0);
}

double soup_jaccard(const struct soup *soup, size_t a, size_t b) {
    const struct soup_document *x = &soup->documents[a];
    const struct soup_document *y = &soup->documents[b];
    size_t common = 0;
    for (size_t i = 0, j = 0; i < x->feature_count && j < y->feature_count;) {
        const uint64_t p = x->features[i];
        const uint64_t q = y->features[j];
        common += p == q;
        i += p <= q;
        j += q <= p;
    }
    const size_t both = x->feature_count + y->feature_count - common;
    return both == 0 ? 0 : (double)common / (double)both;
}
