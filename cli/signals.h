/* SPDX-License-Identifier: Apache-2.0 */
/* Signals: a closed pipe becomes an error code, Ctrl-C a flag that running work checks. */
#ifndef NIGH_CLI_SIGNALS_H
#define NIGH_CLI_SIGNALS_H

/* Ignores SIGPIPE and SIGXFSZ and catches SIGINT, SIGTERM and SIGHUP, where they are not ignored already. */
void cli_signals_install(void);

/*
 * The signal that asked us to stop, or 0.  Whoever has not stopped a second later is stopped where he is; a second
 * signal ends the process at once.
 */
int cli_interrupted(void);

/* A line to say, after "nigh: ", where the process is stopped so; it lives until the end. */
void cli_signals_say(const char *text);

/* From now on there is no such second: for work that ends in something worth waiting for. */
void cli_signals_wait(void);

#endif
