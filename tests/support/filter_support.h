/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of filters share: blocks of texts in memory. */
#ifndef NIGH_TESTS_FILTER_SUPPORT_H
#define NIGH_TESTS_FILTER_SUPPORT_H

#include "support/text_support.h"
#include "terms/positions.h"

/* Words as they stand, no language. */
struct nigh__feature_plan plain_words(void);
struct nigh__block_options block_options(uint32_t block_terms, uint32_t threads);

/* All documents of a text, one a line, as blocks; fails the test where they are more than one call gives. */
struct nigh__blocks *blocks_of_lines(nigh_context *context, const char *text, uint32_t block_terms);

/*
 * Lines in which words come in topics, some words are in most lines, and many in one line only; of 1 to `most`
 * words each.  To be freed.
 */
char *topic_lines(uint64_t seed, size_t count, uint32_t most);

#endif
