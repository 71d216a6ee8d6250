/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
/*
 * The SIGBUS handler behind nigh_fault_guard_install().  The kernel delivers
 * SIGBUS to the thread that read, synchronously, so a jump out of the handler
 * lands in that thread's own stack.  The stack of guards is per thread; the
 * handler looks for the innermost one whose mapping holds the faulting address
 * and, where there is none, does what would have been done without us.
 */
#include "base/guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

#include "base/status.h"

static _Thread_local struct nigh__guard *volatile innermost;

static pthread_once_t install_once = PTHREAD_ONCE_INIT;
static int install_errno;
static struct sigaction previous;

static void pass_on(int number, siginfo_t *info, void *machine) {
    if ((previous.sa_flags & SA_SIGINFO) != 0) {
        previous.sa_sigaction(number, info, machine);
    } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
        /* Returning runs the faulting read again, now with the default action: the process dies as it should. */
        (void)signal(number, SIG_DFL);
    } else {
        previous.sa_handler(number);
    }
}

static void on_fault(int number, siginfo_t *info, void *machine) {
    const volatile uint8_t *address = info->si_addr;
    for (struct nigh__guard *guard = innermost; guard != NULL; guard = guard->outer) {
        if (address < guard->start || address >= guard->end) continue;
        innermost = guard->outer;
        siglongjmp(guard->resume, 1);
    }
    pass_on(number, info, machine);
}

static void install(void) {
    struct sigaction action = {.sa_sigaction = on_fault};
    /* NODEFER: we leave by a jump, which does not unblock the signal. */
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(SIGBUS, &action, &previous) != 0) install_errno = errno;
}

nigh_status nigh_fault_guard_install(nigh_error *error) {
    int failed = pthread_once(&install_once, install);
    if (failed == 0) failed = install_errno;
    return failed == 0 ? NIGH_OK : nigh__fail_system(error, failed, NULL, "install a handler for SIGBUS");
}

void nigh__guard_push(struct nigh__guard *guard, const void *start, uint64_t length) {
    guard->start = start;
    guard->end = (const volatile uint8_t *)start + length;
    guard->outer = innermost;
    innermost = guard;
}

void nigh__guard_leave(struct nigh__guard *guard) { innermost = guard->outer; }
