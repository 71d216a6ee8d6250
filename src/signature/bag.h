/* SPDX-License-Identifier: Apache-2.0 */
/* The distinct features of a document, as all schemes take them; signature/project.h says what they make of them. */
#ifndef NIGH_SIGNATURE_BAG_H
#define NIGH_SIGNATURE_BAG_H

#include <stddef.h>
#include <stdint.h>

/* Features that a bag may have: the room that sums of 31 bits leave for weights of at least 1. */
#define NIGH__BAG_MAX ((size_t)1 << 30)

struct nigh__bag {
    const uint64_t *hashes;
    const uint32_t *weights; /* 1/64 each, at least 1; NULL for minhash */
    const uint32_t *numbers; /* of terms, for a cache of what a term gives; NULL: there are none */
    size_t count;
    uint32_t generation; /* of the numbers: another one, and what they meant is void */
};

#endif
