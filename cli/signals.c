/* SPDX-License-Identifier: Apache-2.0 */
/* See signals.h.  The flag is the only state that the handler touches; threads that read inputs look at it too. */
#define _POSIX_C_SOURCE 200809L

#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int caught;

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "or a handler could not touch it");

static void on_signal(int number) { atomic_store_explicit(&caught, number, memory_order_relaxed); }

/* Background jobs of a plain shell ignore SIGINT: they go on ignoring it. */
static void catch_signal(int number) {
    struct sigaction before;
    if (sigaction(number, NULL, &before) != 0 || before.sa_handler == SIG_IGN) return;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

void cli_signals_install(void) {
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    (void)sigaction(SIGPIPE, &ignore, NULL);
    (void)sigaction(SIGXFSZ, &ignore, NULL); /* a write beyond the limit then fails, and is cleaned up after */
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    catch_signal(SIGHUP);
}

int cli_interrupted(void) { return atomic_load_explicit(&caught, memory_order_relaxed); }
