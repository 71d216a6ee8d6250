/* SPDX-License-Identifier: Apache-2.0 */
/* One place that decides whether reading goes on after something malformed. */
#include "document/tolerance.h"

#include <inttypes.h>

#include "base/status.h"

nigh_status nigh__tolerate(struct nigh__tolerance *tolerance, const nigh_error *problem, nigh_error *error) {
    const nigh_text_reader_options *options = tolerance->options;
    tolerance->problems++;
    if (options->strict) {
        if (error != NULL) *error = *problem;
        return problem->status;
    }
    if (options->problem != NULL) options->problem(options->user, problem);
    if (tolerance->problems <= options->max_errors) return NIGH_OK;
    return nigh__because(error, NIGH_REASON_MAX_ERRORS,
                         nigh__fail_at(error, NIGH_ELIMIT, problem->file, NIGH_NO_OFFSET,
                                       "more than %" PRIu64 " malformed parts in the input", options->max_errors));
}
