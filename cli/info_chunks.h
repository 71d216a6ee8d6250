/* SPDX-License-Identifier: Apache-2.0 */
/* `nigh info` of a file of chunks. */
#ifndef NIGH_CLI_INFO_CHUNKS_H
#define NIGH_CLI_INFO_CHUNKS_H

#include "common.h"

/* Shows the first operand.  *code: the exit code for a file of chunks; false: it is something else. */
bool cli_chunks_show(struct cli_job *job, bool json, int *code);

#endif
