/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "collection/maps.h"

#include "base/guard.h"
#include "collection/sidecar.h"

#define PAGE 4096u /* bytes: where they are larger some are gone to more than once */

/* ---------------------------------------------------------------- sharing -- */

static void share_segment(struct nigh__segment *newer, struct nigh__segment *before) {
    if (newer->loaded || before->loaded || !nigh__map_share(newer->context, &before->users, &newer->users)) return;
    nigh__file_unmap(newer->context, newer->map, newer->length, false);
    newer->map = before->map;
    nigh__segment_point(newer);
}

static void share_sidecar(struct nigh__sidecar *newer, struct nigh__sidecar *before) {
    if (newer == NULL || before == NULL || newer->loaded || before->loaded) return;
    if (newer->length != before->length || newer->header.checksum != before->header.checksum) return;
    if (!nigh__map_share(newer->context, &before->users, &newer->users)) return;
    nigh__file_unmap(newer->context, newer->map, newer->length, false);
    newer->map = before->map;
}

/* The same file: numbers are given once, and the checksum is of the checksums of all that is in it. */
static bool is_same(const struct nigh__segment *a, const struct nigh__segment *b) {
    return a->number == b->number && a->length == b->length && a->header.checksum == b->header.checksum;
}

void nigh__maps_share(nigh_collection *newer, const nigh_collection *before) {
    for (uint32_t i = 0; i < newer->segment_count; i++) {
        struct nigh__segment *segment = newer->segments[i];
        for (uint32_t k = 0; k < before->segment_count; k++) {
            struct nigh__segment *other = before->segments[k];
            if (!is_same(segment, other)) continue;
            share_segment(segment, other);
            for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++)
                share_sidecar(segment->sidecars[kind], other->sidecars[kind]);
            break;
        }
    }
}

/* --------------------------------------------------------------- touching -- */

static void touch(const uint8_t *map, uint64_t length, bool known) {
    struct nigh__guard guard;
    if (known) return;
    nigh__guard_enter(&guard, map, length);
    if (NIGH__GUARD_FAULTED(&guard)) return;
    for (uint64_t at = 0; at < length; at += PAGE) (void)*(const volatile uint8_t *)(map + at);
    nigh__guard_leave(&guard);
}

void nigh__maps_touch(const nigh_collection *collection) {
    for (uint32_t i = 0; i < collection->segment_count; i++) {
        const struct nigh__segment *segment = collection->segments[i];
        touch(segment->map, segment->length, segment->loaded || segment->users != NULL);
        for (unsigned kind = 1; kind < NIGH__SIDECAR_KINDS; kind++) {
            const struct nigh__sidecar *sidecar = segment->sidecars[kind];
            if (sidecar != NULL) touch(sidecar->map, sidecar->length, sidecar->loaded || sidecar->users != NULL);
        }
    }
}
