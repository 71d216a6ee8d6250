/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop that threads share: each takes the next few items until there are no more.  Which
 * thread takes which is left to chance, so what comes out must not depend on it.
 *
 * Failures do not depend on it either.  Items are taken in order, and what has been taken is
 * done to its end; so where several fail, all below the lowest of them were done, and the
 * failure of that one counts.
 */
#ifndef NIGH_BASE_PARALLEL_H
#define NIGH_BASE_PARALLEL_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/progress.h"

/* Some items, and who does them. */
struct nigh__items {
    uint32_t thread;     /* below the number of threads; 0 is the one that called */
    uint64_t first, end; /* first < end */
    nigh_error *error;   /* for why it failed */
};

/* Does items first .. end - 1, in this order where one may fail. */
typedef nigh_status nigh__parallel_work(void *user, const struct nigh__items *items);

/* Threads, and how far they are; one after another may run many loops. */
struct nigh__parallel {
    const nigh_context *context;     /* for whoever works with it; here it is not used */
    uint32_t threads;                /* at least 1 */
    struct nigh__progress *progress; /* NULL: nobody asked */
    const char *stage;               /* for the progress, */
    uint64_t total;                  /* with what there is to do */
    uint32_t passes;                 /* over all of it; 0: one */
    _Atomic uint64_t done;           /* and what of it is done, in all passes */
    _Atomic bool cancelled;
};

/*
 * Does `items` items, at most `at_once` at a time; by fewer threads where there are fewer to take.
 *
 * Returns: NIGH_OK; what work() said of the lowest item that failed, with its error; else
 *          NIGH_ECANCELLED, and not all was done.  `error` may be NULL.
 */
nigh_status nigh__parallel_run(struct nigh__parallel *parallel, uint64_t items, uint64_t at_once,
                               nigh__parallel_work *work, void *user, nigh_error *error);

/* From here on, this is done: so much in all. */
void nigh__parallel_stage(struct nigh__parallel *parallel, const char *stage, uint64_t total);
/* So much more is done.  On thread 0 the caller hears of it; false once he has asked to stop. */
bool nigh__parallel_did(struct nigh__parallel *parallel, uint32_t thread, uint64_t more);

#endif
