/* SPDX-License-Identifier: Apache-2.0 */
/* From a caller's options to a plan for features, and to the lines that describe it. */
#ifndef NIGH_TEXT_PLAN_H
#define NIGH_TEXT_PLAN_H

#include "text/feature.h"

/* Defaults filled in, all checked.  NIGH_EINVAL for what makes no sense. */
nigh_status nigh__plan_features(const nigh_signer_options *options, struct nigh__feature_plan *out, nigh_error *error);

/* Room for what nigh__plan_lines() writes. */
#define NIGH__PLAN_LINES_SIZE 256u

/*
 * The plan as "key=value" lines, sorted by key: features, language, min-word-length,
 * numbers, seed, stemming, stop-words.  The third and the fourth are left out where no word
 * is: versions before these knew neither, and read such lines as ever.  Equal plans give
 * equal lines.
 */
void nigh__plan_lines(const struct nigh__feature_plan *plan, char *buffer, size_t capacity);
/* With all seven, for messages on what differs. */
void nigh__plan_all_lines(const struct nigh__feature_plan *plan, char *buffer, size_t capacity);
/* Whether it has one of the lines that may be left out. */
bool nigh__plan_is_newer(const struct nigh__feature_plan *plan);

/* One such line, into the options; OTHER: its key is none of the seven. */
enum nigh__plan_line { NIGH__PLAN_LINE_OTHER, NIGH__PLAN_LINE_READ, NIGH__PLAN_LINE_UNKNOWN_VALUE };
enum nigh__plan_line nigh__plan_read_line(const char *key, const char *value, nigh_signer_options *options);

/* Puts what a plan says where the options leave the choice open. */
void nigh__plan_fill_options(const struct nigh__feature_plan *plan, nigh_signer_options *options);

#endif
