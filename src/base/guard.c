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
#include <ucontext.h>

#include "base/status.h"

static _Thread_local struct nigh__guard *volatile innermost;

static pthread_mutex_t install_lock = PTHREAD_MUTEX_INITIALIZER;
static struct sigaction previous; /* as at the first call, for good: a later handler may chain to ours */
static bool installed_before;

static void pass_on(int number, siginfo_t *info, void *machine) {
    bool sent = info->si_code <= 0; /* by a process, not by a fault */
    if ((previous.sa_flags & SA_SIGINFO) != 0) {
        previous.sa_sigaction(number, info, machine);
    } else if (previous.sa_handler == SIG_IGN && sent) {
        return;
    } else if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
        /* Returning runs a faulting read again, now with the default action: the process dies as it should. */
        (void)signal(number, SIG_DFL);
        if (sent) (void)raise(number);
    } else {
        previous.sa_handler(number);
    }
}

static void on_fault(int number, siginfo_t *info, void *machine) {
    const volatile uint8_t *address = info->si_addr;
    for (struct nigh__guard *guard = innermost; guard != NULL; guard = guard->outer) {
        if (address < guard->start || address >= guard->end) continue;
        innermost = guard->outer;
        /* A jump does not give back the mask of signals as a return would, and sanitizers block all of them here. */
        (void)pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)machine)->uc_sigmask, NULL);
        siglongjmp(guard->resume, 1);
    }
    pass_on(number, info, machine);
}

/* Returns 0 or an errno value. */
static int install(void) {
    struct sigaction present;
    if (sigaction(SIGBUS, NULL, &present) != 0) return errno;
    if ((present.sa_flags & SA_SIGINFO) != 0 && present.sa_sigaction == on_fault) return 0;
    if (!installed_before) previous = present;
    installed_before = true;
    struct sigaction action = {.sa_sigaction = on_fault};
    /* NODEFER: we leave by a jump, which does not unblock the signal. */
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    (void)sigemptyset(&action.sa_mask);
    return sigaction(SIGBUS, &action, NULL) == 0 ? 0 : errno;
}

nigh_status nigh_fault_guard_install(nigh_error *error) {
    (void)pthread_mutex_lock(&install_lock);
    int failed = install();
    (void)pthread_mutex_unlock(&install_lock);
    return failed == 0 ? NIGH_OK : nigh__fail_system(error, failed, NULL, "install a handler for SIGBUS");
}

void nigh__guard_enter(struct nigh__guard *guard, const void *start, uint64_t length) {
    guard->start = start;
    guard->end = length == 0 ? start : (const volatile uint8_t *)start + length; /* NULL may have no offset, even 0 */
    guard->outer = innermost;
    innermost = guard;
}

void nigh__guard_leave(struct nigh__guard *guard) { innermost = guard->outer; }
