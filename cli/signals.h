/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: a closed pipe is an error code, Ctrl-C a flag that the work looks at. */
#ifndef NIGH_CLI_SIGNALS_H
#define NIGH_CLI_SIGNALS_H

/* Ignores SIGPIPE and catches SIGINT, SIGTERM and SIGHUP, where they are not ignored already. */
void cli_signals_install(void);

/* The signal that asked us to stop, or 0.  A second one ends the process at once. */
int cli_interrupted(void);

#endif
