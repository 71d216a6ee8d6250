/* SPDX-License-Identifier: Apache-2.0 */
/* The context as the library sees it.  Never changes after it is made. */
#ifndef NIGH_BASE_CONTEXT_H
#define NIGH_BASE_CONTEXT_H

#include "nigh.h"

struct nigh__extensions; /* collection/extensions.h */
struct nigh__hamming;    /* kernel/hamming.h */
struct nigh__offers;     /* kernel/offers.h */
struct nigh__letters;    /* kernel/letters.h */
struct nigh__near;       /* kernel/near.h */
struct nigh__rows;       /* kernel/rows.h */
struct nigh__scores;     /* kernel/scores.h */

struct nigh_context {
    nigh_allocator allocator;
    const nigh_file_system *files;
    nigh_file_system older_files; /* where the table given is shorter than ours: `files`, the rest NULL */
    const struct nigh__hamming *hamming;
    const struct nigh__offers *offers;
    const struct nigh__letters *letters;
    const struct nigh__near *near;
    const struct nigh__scores *scores;
    const struct nigh__rows *rows;
    const struct nigh__extensions *extensions;
};

#endif
