/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of libLBFGS that the library calls; see late.h.  The linker names one that is missing here. */
#include <lbfgs.h>

#include "late.h"

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): headers abbreviate */

#define LBFGS LATE_LIBLBFGS

LATE(LBFGS, lbfgsfloatval_t *, lbfgs_malloc, (int n), (n))
LATE_VOID(LBFGS, lbfgs_free, (lbfgsfloatval_t * x), (x))
LATE_VOID(LBFGS, lbfgs_parameter_init, (lbfgs_parameter_t * parameters), (parameters))
LATE(LBFGS, int, lbfgs,
     (int n, lbfgsfloatval_t *x, lbfgsfloatval_t *value, lbfgs_evaluate_t evaluate, lbfgs_progress_t progress,
      void *user, lbfgs_parameter_t *parameters),
     (n, x, value, evaluate, progress, user, parameters))
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
