/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "collection/maps.h"

#include "base/guard.h"
#include "collection/sidecar.h"

#define PAGE 4096u /* bytes: where they are larger some are gone to more than once */

static void touch(const uint8_t *map, uint64_t length, bool known) {
    struct nigh__guard guard;
    if (known) return;
    nigh__guard_enter(&guard, map, length);
    if (NIGH__GUARD_FAULTED(&guard)) return;
    for (uint64_t at = 0; at < length; at += PAGE) (void)*(const volatile uint8_t *)(map + at);
    nigh__guard_leave(&guard);
}

void nigh__maps_touch(struct nigh__segment *const *segments, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const struct nigh__segment *segment = segments[i];
        touch(segment->map, segment->length, segment->loaded || segment->known);
        for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++) {
            const struct nigh__sidecar *sidecar = segment->sidecars[kind];
            if (sidecar != NULL) touch(sidecar->map, sidecar->length, sidecar->loaded || sidecar->known);
        }
    }
}
