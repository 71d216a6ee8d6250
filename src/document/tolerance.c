/* SPDX-License-Identifier: Apache-2.0 */
/* The only place that decides whether reading goes on after a problem. */
#include "document/tolerance.h"

#include <inttypes.h>

#include "base/status.h"

static void count(struct nigh__tolerance *tolerance, const nigh_error *problem) {
    tolerance->malformed += nigh__is_malformed(problem);
    tolerance->binary += problem->reason == NIGH_REASON_NOT_TEXT;
    tolerance->damaged += problem->reason == NIGH_REASON_LOST_INPUT;
}

/* Whether this one problem ends the reading, whatever came before it. */
static bool is_end(const nigh_text_reader_options *options, const nigh_error *problem) {
    if (problem->reason == NIGH_REASON_NOT_TEXT || nigh__is_remark(problem)) return false;
    return options->strict || (problem->reason == NIGH_REASON_LOST_INPUT && !options->allow_loss);
}

nigh_status nigh__tolerate(struct nigh__tolerance *tolerance, const nigh_error *problem, nigh_error *error) {
    const nigh_text_reader_options *options = tolerance->options;
    count(tolerance, problem);
    if (is_end(options, problem)) {
        if (error != NULL) *error = *problem;
        return problem->status;
    }
    if (options->problem != NULL) options->problem(options->user, problem);
    if (tolerance->malformed <= options->max_errors) return NIGH_OK;
    return nigh__because(error, NIGH_REASON_MAX_ERRORS,
                         nigh__fail_at(error, NIGH_ELIMIT, problem->file, NIGH_NO_OFFSET,
                                       "more than %" PRIu64 " malformed parts in the input", options->max_errors));
}

void nigh__tolerance_miss(struct nigh__tolerance *tolerance, const nigh_error *why) {
    if (why->reason == NIGH_REASON_NO_KEY && tolerance->no_key.status == NIGH_OK) tolerance->no_key = *why;
}

void nigh__tolerance_end(struct nigh__tolerance *tolerance) {
    const nigh_text_reader_options *options = tolerance->options;
    if (!tolerance->has_keyed && tolerance->no_key.status != NIGH_OK && options->problem != NULL)
        options->problem(options->user, &tolerance->no_key);
    tolerance->has_keyed = true; /* once */
}

void nigh__tolerance_describe(const struct nigh__tolerance *tolerance, nigh_text_reader_info *info) {
    info->problems = tolerance->malformed;
    info->binary = tolerance->binary;
    info->damaged = tolerance->damaged;
}
