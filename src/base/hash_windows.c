/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3 compiled in: over five bytes the call of a library takes as long as the hash. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/hash.h"

void nigh__hash_windows(const void *bytes, size_t window, size_t count, uint64_t seed, uint64_t *out) {
    const char *at = bytes;
    for (size_t i = 0; i < count; i++) out[i] = XXH3_64bits_withSeed(at + i, window, seed);
}
