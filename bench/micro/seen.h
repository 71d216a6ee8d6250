/* SPDX-License-Identifier: Apache-2.0 */
/* Signatures seen so far, by hash: copies would make fewer rows than asked for. */
#ifndef NIGH_BENCH_SEEN_H
#define NIGH_BENCH_SEEN_H

#include <stdbool.h>
#include <stdint.h>

struct seen {
    uint64_t *slots; /* zeros at first, more than will be seen */
    uint64_t mask;   /* a power of two less one: the last of them */
};

/* Whether it was, and from now on it has been. */
static inline bool seen_before(struct seen *seen, uint64_t hash) {
    if (hash == 0) hash = 1;
    for (uint64_t at = hash & seen->mask;; at = (at + 1) & seen->mask) {
        if (seen->slots[at] == hash) return true;
        if (seen->slots[at] != 0) continue;
        seen->slots[at] = hash;
        return false;
    }
}

#endif
