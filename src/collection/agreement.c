/* SPDX-License-Identifier: Apache-2.0 */
#include "collection/agreement.h"

#include <string.h>

#include "base/keep_keys.h"
#include "base/status.h"

static nigh_status compare_kept(const nigh_collection *first, const nigh_collection *other, nigh_error *error) {
    for (enum nigh__attachment kind = 0; kind < NIGH__ATTACHMENT_KINDS; kind++) {
        const struct nigh__segment *a = nigh__collection_keeper(first, kind);
        const struct nigh__segment *b = nigh__collection_keeper(other, kind);
        if (a == NULL && b == NULL) continue;
        if (a == NULL || b == NULL || !nigh__segment_keeps_as(a, b, kind))
            return nigh__fail_at(error, NIGH_EMISMATCH, other->path, NIGH_NO_OFFSET,
                                 "it keeps another %s than '%s'; sign all parts with one", nigh__attachment_name(kind),
                                 first->path);
    }
    return NIGH_OK;
}

static nigh_status compare_schemes(const nigh_collection *first, const nigh_collection *other, nigh_error *error) {
    if (other->width_bits != first->width_bits)
        return nigh__fail_at(error, NIGH_EMISMATCH, other->path, NIGH_NO_OFFSET, "it has %u bits, and '%s' %u",
                             other->width_bits, first->path, first->width_bits);
    if (!nigh__keep_keys_same(nigh_collection_scheme(other), nigh_collection_scheme(first)))
        return nigh__fail_at(error, NIGH_EMISMATCH, other->path, NIGH_NO_OFFSET,
                             "it keeps other keys than '%s': %s, not %s", first->path,
                             nigh__keep_keys_shown(nigh_collection_scheme(other)).text,
                             nigh__keep_keys_shown(nigh_collection_scheme(first)).text);
    if (strcmp(nigh_collection_scheme(other), nigh_collection_scheme(first)) != 0)
        return nigh__fail_at(error, NIGH_EMISMATCH, other->path, NIGH_NO_OFFSET,
                             "its signatures were made by another scheme than those of '%s'", first->path);
    if (first->documents != 0 && other->documents != 0 &&
        nigh__collection_has_ids(first) != nigh__collection_has_ids(other))
        return nigh__fail_at(error, NIGH_EMISMATCH, other->path, NIGH_NO_OFFSET,
                             "either it or '%s' has ids, and the other has none", first->path);
    return compare_kept(first, other, error);
}

/* The same segment twice: the same collection, or a copy. */
static nigh_status compare_segments(const nigh_collection *first, const nigh_collection *other, nigh_error *error) {
    for (uint32_t i = 0; i < first->segment_count; i++)
        for (uint32_t j = 0; j < other->segment_count; j++)
            if (first->segments[i]->header.checksum == other->segments[j]->header.checksum &&
                first->segments[i]->documents != 0)
                return nigh__fail_at(error, NIGH_EEXISTS, other->segments[j]->path, NIGH_NO_OFFSET,
                                     "this segment is in '%s' already", first->path);
    return NIGH_OK;
}

nigh_status nigh__collections_agree(const nigh_collection *first, const nigh_collection *other, nigh_error *error) {
    const nigh_status status = compare_segments(first, other, error);
    return status == NIGH_OK ? compare_schemes(first, other, error) : status;
}
