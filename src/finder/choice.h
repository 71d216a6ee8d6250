/* SPDX-License-Identifier: Apache-2.0 */
/* Which method and setting of a finder: the cost model.  choice.c has its equations. */
#ifndef NIGH_FINDER_CHOICE_H
#define NIGH_FINDER_CHOICE_H

#include "nigh.h"

#define NIGH__MAX_CHOICES 64u /* rows that nigh_plan_finder() gives at most */

/*
 * The row that nigh_plan_finder() recommends; faster where recall is 1, for what may
 * miss something is then not predicted.  NIGH_ELIMIT where nothing fits, NIGH_EINVAL.
 */
nigh_status nigh__choose(const nigh_plan_options *options, nigh_plan_row *out, nigh_error *error);

/*
 * Predicts one setting: of *row the method and what belongs to it are given, the rest
 * is filled in, but for recall, fits and recommended.  The setting is taken as it is.
 */
nigh_status nigh__predict(const nigh_plan_options *options, nigh_plan_row *row, nigh_error *error);

#endif
