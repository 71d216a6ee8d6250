/* SPDX-License-Identifier: Apache-2.0 */
/* The goal of a filter: a weight for each term says where errors should be few. */
#ifndef NIGH_TERMS_FILTER_GOAL_H
#define NIGH_TERMS_FILTER_GOAL_H

#include "terms/blocks.h"

/*
 * Weights by number of the term, owned by the caller.  NIGH_EINVAL where no term of the query log occurs
 * in the documents; as nigh__input_open() and nigh__input_peek() for the log.
 */
nigh_status nigh__goal_weights(const struct nigh__blocks *blocks, nigh_filter_goal goal, const char *query_log,
                               double **out, nigh_error *error);

#endif
