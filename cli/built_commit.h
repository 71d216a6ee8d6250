/* SPDX-License-Identifier: Apache-2.0 */
/* Which commit the tool was built from, for `nigh --version`; cmake/write-commit.cmake writes it while building. */
#ifndef NIGH_CLI_BUILT_COMMIT_H
#define NIGH_CLI_BUILT_COMMIT_H

/* Forty hex digits, with ", with changes" behind them where the tree had some; or "unknown". */
extern const char cli_built_commit[];

#endif
