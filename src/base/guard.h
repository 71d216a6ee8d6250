/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading mapped files that may shrink under us.  A read past the new end
 * raises SIGBUS; with the handler of nigh_fault_guard_install() in place the
 * thread comes back out of NIGH__GUARD_FAULTED instead:
 *
 *     struct nigh__guard guard;
 *     nigh__guard_enter(&guard, map, length);
 *     if (NIGH__GUARD_FAULTED(&guard)) return ... "the file was cut short while in use" ...
 *     ... read the mapping; no allocation, lock or call that keeps state ...
 *     nigh__guard_leave(&guard);
 *
 * Between enter and leave nothing may be acquired, for a fault jumps over it.
 * Locals that change in between and are read after a fault must be volatile.
 * Guards nest, innermost first.  Without the handler this costs a setjmp.
 */
#ifndef NIGH_BASE_GUARD_H
#define NIGH_BASE_GUARD_H

#include <setjmp.h>
#include <stdint.h>

struct nigh__guard {
    sigjmp_buf resume;
    const volatile uint8_t *start;
    const volatile uint8_t *end;
    struct nigh__guard *outer;
};

void nigh__guard_enter(struct nigh__guard *guard, const void *start, uint64_t length);
void nigh__guard_leave(struct nigh__guard *guard);

/*
 * False at first; true when control returns here after a fault, and the guard
 * is left then.  The whole condition of an `if`: C allows little else.
 */
#define NIGH__GUARD_FAULTED(guard) (sigsetjmp((guard)->resume, 0) != 0)

#endif
