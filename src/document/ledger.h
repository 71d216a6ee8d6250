/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is written down while an input is read that will be read again: what each
 * file looked like, so that a change is noticed when the same file comes up in a
 * later pass, and the records of the first pass whose bytes no later one will have.
 */
#ifndef NIGH_DOCUMENT_LEDGER_H
#define NIGH_DOCUMENT_LEDGER_H

#include <pthread.h>

#include "base/memory.h"

struct nigh__ledger {
    const nigh_context *context;
    struct nigh__array files; /* of uint64_t: a print each, in the order in which they are opened */
    struct nigh__array lost;  /* of uint64_t: numbers of records, in any order */
    pthread_mutex_t lock;     /* of `lost`: several threads understand records */
    uint64_t passed;          /* records of the first pass that are nobody's: binary files of folders and archives */
    bool first;               /* pass: what is lost is noted */
    bool changed;             /* a print was another, whether or not anybody has heard of it */
};

void nigh__ledger_init(const nigh_context *context, struct nigh__ledger *out);
void nigh__ledger_release(struct nigh__ledger *ledger);

/* A hash of the path and of which file, how long and how old it is; 0: there is no such file. */
uint64_t nigh__ledger_print(const char *path);

/* File number `index` is opened: NIGH_ECORRUPT where another pass has found another print. */
nigh_status nigh__ledger_file(struct nigh__ledger *ledger, size_t index, const char *path, uint64_t print,
                              nigh_error *error);
nigh_status nigh__ledger_changed(const char *path, nigh_error *error);

/* A record is lost; once for each.  NULL for the ledger: nobody wants to know. */
nigh_status nigh__ledger_lose(struct nigh__ledger *ledger, uint64_t number, nigh_error *error);
/* How many of a number below `end` are. */
uint64_t nigh__ledger_lost(const struct nigh__ledger *ledger, uint64_t end);

#endif
