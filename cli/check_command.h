/* SPDX-License-Identifier: Apache-2.0 */
/* What `nigh check` and `nigh terms check` share. */
#ifndef NIGH_CLI_CHECK_COMMAND_H
#define NIGH_CLI_CHECK_COMMAND_H

#include "common.h"
#include "option.h"

struct cli_check_values {
    struct cli_common common;
    bool tidy;
    bool repair;
};
extern const struct cli_option cli_check_options[];

/* nigh_collection_check(), nigh_terms_check(). */
typedef nigh_status cli_checker(nigh_context *context, const char *path, const nigh_check_options *options,
                                nigh_check_result *result, nigh_error *error);

/* Checks, shows each problem and a summary.  An exit code. */
int cli_check_run(struct cli_job *job, const char *path, cli_checker *check);

#endif
