/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory unpacking xz takes is set by the file: each block names the
 * size of its dictionary, up to 4 GiB, and libarchive sets no limit.  So the
 * bytes are followed on their way to it, from header to header:
 *
 *     stream header | block header, LZMA2 chunks, check | ... | index | footer
 *
 * Nothing is unpacked here: chunks say how long they are.
 */
#ifndef NIGH_DOCUMENT_XZ_WATCH_H
#define NIGH_DOCUMENT_XZ_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NIGH__XZ_DICTIONARY (UINT64_C(128) << 20) /* the limit; xz -9 takes half of it */

struct nigh__xz_watch {
    int state;
    uint64_t skip;       /* bytes to pass over before the next that matter */
    uint8_t part[1024];  /* what is being put together; a block header is the longest */
    size_t have, need;   /* of it */
    unsigned check;      /* bytes behind each block */
    uint64_t length;     /* of the block's data, or of the index, so far */
    uint64_t left;       /* numbers in the index that are still to come */
    uint64_t dictionary; /* the largest seen */
};

void nigh__xz_watch_init(struct nigh__xz_watch *watch);
/* Follows the next bytes.  False: a block wants a dictionary over the limit. */
bool nigh__xz_watch_add(struct nigh__xz_watch *watch, const uint8_t *bytes, size_t length);

#endif
