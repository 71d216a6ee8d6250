/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splitting long texts into passages.  A passage is a range of bytes of the text
 * that begins and ends between words; together passages cover the whole text, in
 * order, without overlap.  `hard` cuts after every max_terms words.  `sentence`
 * cuts after the last sentence that ends between min_terms and max_terms words,
 * and hard where none does.  A rest of fewer than min_terms words joins the
 * passage before it.  Words are counted as text/analysis.h has them, stop words
 * included.  A text without words is one passage, also an empty one; and a single
 * character that stands for more than max_terms words is not cut.
 */
#ifndef NIGH_TEXT_PASSAGE_H
#define NIGH_TEXT_PASSAGE_H

#include <stddef.h>

#include "base/memory.h"

struct nigh__passage {
    size_t begin, length;
};

/* Appends to `passages` (of struct nigh__passage).  NIGH_OK or NIGH_ENOMEM. */
nigh_status nigh__passages_find(const nigh_context *context, const char *text, size_t length, nigh_split_kind split,
                                size_t min_terms, size_t max_terms, struct nigh__array *passages, nigh_error *error);

#endif
