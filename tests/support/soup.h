/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Word soups: documents of made-up words, some of them copies and edited copies of
 * others, with what a program that knows nothing of the library says about which are
 * alike: three words in a row are a feature, compared as numbers.
 */
#ifndef NIGH_TESTS_SOUP_H
#define NIGH_TESTS_SOUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct soup_document {
    uint32_t *words;
    size_t count;
    uint64_t *features; /* sorted, distinct */
    size_t feature_count;
};

struct soup {
    struct soup_document *documents;
    size_t count;
};

/* `count` documents of up to `length` words, of which about `share` of 100 are made from an earlier one. */
void soup_init(struct soup *soup, size_t count, size_t length, unsigned share, uint64_t seed);
void soup_release(struct soup *soup);

/* Adds a document: words as numbers below 2^20; the i-th of `words`. */
void soup_add(struct soup *soup, const uint32_t *words, size_t count);

/* As lines of JSON with "id" and "text". */
void soup_write(const struct soup *soup, const char *path);

bool soup_same_text(const struct soup *soup, size_t a, size_t b);
double soup_jaccard(const struct soup *soup, size_t a, size_t b); /* of two without features 0 */

#endif
