/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands of `nigh terms` share.  Each has a file and a table of options of its own. */
#ifndef NIGH_CLI_TERM_COMMANDS_H
#define NIGH_CLI_TERM_COMMANDS_H

#include "documents.h"

/* What is wrong with a command that takes one FILE and got others.  An exit code. */
int cli_terms_check_one(const struct cli_job *job);

extern const struct cli_command cmd_terms_index;
extern const struct cli_command cmd_terms_search;
extern const struct cli_command cmd_terms_info;

/* What a term signature file holds, as `nigh terms info` and `nigh info` show it.  An exit code. */
int cli_terms_show(struct cli_job *job, const char *path, bool json);

/* As nigh_terms_open(), and says what it holds. */
nigh_status cli_terms_open(struct cli_job *job, const char *path, nigh_terms **out, nigh_terms_info *info);

/* "hybrid", also of what a newer version may have made. */
const char *cli_filter_name(nigh_filter_kind kind);

/* A share of errors as people read it: "0.0098", "below 0.000001"; a negative one is "not known". */
struct cli_error_share {
    char text[32];
};
struct cli_error_share cli_error_share(double share);

#endif
