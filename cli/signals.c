/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See signals.h. The handler touches nothing but the flag. Work checks it between documents, blocks or rows, and so
 * do threads that read inputs. That is nearly always soon enough. A single document or a slow disk may take longer;
 * then the alarm ends the process at once. This is as safe as a power cut: what was committed stays, and the next
 * writer removes the leftovers.
 */
#define _XOPEN_SOURCE 700

#include "signals.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define PATIENCE_MICROSECONDS 800000

static atomic_int caught;
static atomic_bool patient;
static _Atomic(const char *) last_words;

_Static_assert(ATOMIC_INT_LOCK_FREE == 2, "or a handler could not touch it");

static void on_signal(int number) {
    atomic_store_explicit(&caught, number, memory_order_relaxed);
    if (!atomic_load_explicit(&patient, memory_order_relaxed)) {
        const struct itimerval soon = {.it_value = {.tv_usec = PATIENCE_MICROSECONDS}};
        (void)setitimer(ITIMER_REAL, &soon, NULL);
    }
}

static void on_alarm(int number) {
    static const char text[] = "nigh: interrupted\n";
    (void)number;
    const char *more = atomic_load_explicit(&last_words, memory_order_relaxed);
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    if (more != NULL && (write(STDERR_FILENO, "nigh: ", 6) < 0 || write(STDERR_FILENO, more, strlen(more)) < 0 ||
                         write(STDERR_FILENO, "\n", 1) < 0))
        _exit(128 + SIGTERM);
    _exit(128 + atomic_load_explicit(&caught, memory_order_relaxed));
}

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
    struct sigaction alarmed = {.sa_handler = on_alarm};
    sigemptyset(&alarmed.sa_mask);
    (void)sigaction(SIGALRM, &alarmed, NULL);
    catch_signal(SIGINT);
    catch_signal(SIGTERM);
    catch_signal(SIGHUP);
}

void cli_signals_say(const char *text) { atomic_store_explicit(&last_words, text, memory_order_relaxed); }

void cli_signals_wait(void) { atomic_store_explicit(&patient, true, memory_order_relaxed); }

int cli_interrupted(void) { return atomic_load_explicit(&caught, memory_order_relaxed); }
