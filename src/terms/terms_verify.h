/* SPDX-License-Identifier: Apache-2.0 */
/* Reads documents again, to verify which satisfy a query. */
#ifndef NIGH_TERMS_TERMS_VERIFY_H
#define NIGH_TERMS_TERMS_VERIFY_H

#include "terms/terms_file.h"
#include "terms/terms_search_query.h"

/*
 * Keeps those of `documents` (of uint64_t, ascending) of which the query holds; with a limit, so many at most, the
 * first.  Of `asked`: reading, limit, threads and progress.  NIGH_ENOTFOUND or NIGH_EMISMATCH, naming the input, where
 * it is gone or not what it was; as nigh_text_reader_next().
 */
nigh_status nigh__terms_verify(const nigh_terms *terms, const struct nigh__query *query, const nigh_terms_query *asked,
                               struct nigh__array *documents, nigh_error *error);

#endif
