/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "base/secret.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"

/* Where the system has no randomness to give, the time and where the stack lies must do. */
uint64_t nigh__secret(void) {
    uint64_t secret;
    if (getentropy(&secret, sizeof secret) == 0) return secret;
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    return nigh__mix((uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)(uintptr_t)&now);
}
