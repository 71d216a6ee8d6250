/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of the tool. */
#ifndef NIGH_CLI_TIMING_H
#define NIGH_CLI_TIMING_H

/* Seconds on a clock that only goes forward. */
double cli_seconds(void);
/* Seconds that the processor has worked for this thread. */
double cli_thread_seconds(void);

#endif
