/* SPDX-License-Identifier: Apache-2.0 */
/* Writing a vocabulary to a file of its own. */
#ifndef NIGH_CLI_VOCABULARY_FILE_H
#define NIGH_CLI_VOCABULARY_FILE_H

#include "common.h"

/* Whether `path` can become a file in one step; says what is wrong with it and `option`.  CLI_DONE, or the exit code.
 */
int cli_vocabulary_place(const struct cli_job *job, const char *option, const char *path);

/* Saves it in place of what is there, fills in *info, and counts; work began at `started`. */
nigh_status cli_vocabulary_save(struct cli_job *job, const nigh_vocabulary *vocabulary, const char *path,
                                double started, nigh_vocabulary_info *info);

#endif
