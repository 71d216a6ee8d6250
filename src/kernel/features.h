/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kernels may use of this CPU.  A context is given a distance kernel by name, "avx2"
 * say, so that what runs on a smaller CPU can be seen on a larger one: then no other
 * kernel may ask for more than that.
 */
#ifndef NIGH_KERNEL_FEATURES_H
#define NIGH_KERNEL_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

/* Of this CPU (base/cpu.h), what goes with the distance kernel of that name; NULL: all.  With one that is not known,
 * nothing. */
uint32_t nigh__kernel_features(const char *name);

/*
 * Defines KERNEL_at() and KERNEL_choose() for the table `variants` of a file, best first; the last
 * needs nothing, so one is always found.  The name is that of the distance kernel.
 */
#define NIGH__KERNEL_CHOICE(kernel)                                                   \
    const struct kernel *kernel##_at(size_t index) {                                  \
        return index < sizeof variants / sizeof variants[0] ? variants[index] : NULL; \
    }                                                                                 \
    const struct kernel *kernel##_choose(const char *name) {                          \
        const uint32_t features = nigh__kernel_features(name);                        \
        const size_t last = sizeof variants / sizeof variants[0] - 1;                 \
        size_t i = 0;                                                                 \
        while (i < last && (variants[i]->needs & ~features) != 0) i++;                \
        NIGH__ASSERT((variants[i]->needs & ~features) == 0);                          \
        return variants[i];                                                           \
    }

#endif
