/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, for reporting how long things took. Nothing that is decided or written depends on them. */
#ifndef NIGH_BASE_CLOCK_H
#define NIGH_BASE_CLOCK_H

#include <stdint.h>

/* Seconds since some moment, on a clock that only goes forward. */
double nigh__clock(void);
/* The same in nanoseconds, for what waits. */
uint64_t nigh__clock_ns(void);
/* Seconds that the processor has worked for this thread: other programs do not count, nor does waiting. */
double nigh__thread_clock(void);
/* Seconds that processors have worked for all threads of this process. */
double nigh__process_clock(void);

#endif
