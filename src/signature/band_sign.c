/* SPDX-License-Identifier: Apache-2.0 */
/* Bits and keys of a document (see band_keys.h). A library without documents needs the keys, but not this file. */
#include <string.h>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/rng.h"
#include "signature/band_keys.h"
#include "signature/project.h"

void nigh__bands_sign(const struct nigh__projector *projector, const char *text, size_t length, uint32_t bands,
                      uint32_t rows, uint8_t *bits, uint8_t *keys) {
    if (projector != NULL) {
        nigh__project_bits(projector, bits);
        nigh__bands_make_keys(nigh__project_minima(projector), bands, rows, keys);
        return;
    }
    const uint64_t hash = nigh__hash(text, length);
    memset(bits, 0, NIGH__BAND_BITS / 8);
    for (uint32_t i = 0; i < bands; i++) nigh__store64(keys + i * sizeof(uint64_t), nigh__mix(hash + i) >> 32 << 32);
}
