/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of matches, one list for each new document. They need not fit into memory: the rest goes into a temporary
 * file without a name, and a list is read back when it is needed.
 *
 *     matches   | 0 0 0 | 2 2 | 3 3 3 3 | ...          the first ones in the file, the last in memory
 *     ends        3   3   5     9   ...                of each list
 */
#ifndef NIGH_CORPUS_MATCH_STORE_H
#define NIGH_CORPUS_MATCH_STORE_H

#include "base/file.h"
#include "base/memory.h"

struct nigh__match_store {
    const nigh_context *context;
    const char *temporary;   /* not owned */
    size_t room;             /* matches that stay in memory */
    struct nigh__array tail; /* nigh_match: those that are not in the file */
    struct nigh__file file;
    uint64_t in_file;
    uint64_t *ends;    /* of each list; NULL: there are no lists */
    uint32_t *list_of; /* of each new one, its list; owned; NULL: the one of its number */
    size_t lists;
    size_t begun;              /* lists that have begun: those before have ended */
    struct nigh__array loaded; /* nigh_match: the list asked for last, where it was read back */
};

/* For so many lists, all of them empty so far.  `temporary` must outlive it. */
nigh_status nigh__match_store_init(const nigh_context *context, const char *temporary, uint64_t memory_bytes,
                                   size_t lists, struct nigh__match_store *store, nigh_error *error);
void nigh__match_store_release(struct nigh__match_store *store); /* also one that is all zero */

/* More matches of a list; lists come in ascending order. */
nigh_status nigh__match_store_add(struct nigh__match_store *store, size_t list, const nigh_match *matches, size_t count,
                                  nigh_error *error);
/* After the last. */
void nigh__match_store_end(struct nigh__match_store *store);

/* How many matches a new one has, and all of them, which live until a list is asked for that is not empty. */
size_t nigh__match_store_count(const struct nigh__match_store *store, size_t index);
nigh_status nigh__match_store_get(struct nigh__match_store *store, size_t index, const nigh_match **out, size_t *count,
                                  nigh_error *error);

#endif
