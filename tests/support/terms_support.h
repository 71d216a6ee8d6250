/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of term signature files share. */
#ifndef NIGH_TESTS_TERMS_SUPPORT_H
#define NIGH_TESTS_TERMS_SUPPORT_H

#include "terms/terms_file.h"

/* Documents, one a line, into a term signature file; `options` NULL: defaults with plain words in blocks of 5. */
nigh_status terms_add_lines(nigh_context *context, const char *path, const char *input, const char *text,
                            const nigh_terms_options *options, nigh_terms_info *info, nigh_error *error);

/* Options for tests: plain words, blocks of 5 terms, 8 bits a term, one thread. */
nigh_terms_options terms_options(nigh_filter_kind kind);

/*
 * Fails the test unless every word of line i is found in document i, in one of its blocks: no false negatives.
 * `text` is all lines in order of the documents.
 */
void terms_expect_lines(const nigh_terms *terms, const char *text);

/*
 * Lines as groups, one for each text, in one commit, with hybrid filters of a fixed shape; the same bytes always.
 * What `context` has no part in is made without it: it may fail.
 */
nigh_status terms_write_texts(nigh_context *context, const char *path, const char *const *texts, size_t count,
                              nigh_error *error);

/* Whether block `block` of a group may have a term. */
bool terms_block_has(const nigh_terms *terms, uint32_t group, uint32_t block, uint64_t hash);

/* Opens and reads everything there is, by every way there is; whatever it says, it must not crash. */
nigh_status terms_read_everything(nigh_context *context, const char *path, nigh_error *error);

#endif
