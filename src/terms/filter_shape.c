/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of filters by name, and which numbers a filter can have. */
#include "terms/filter_shape.h"

#include "base/status.h"

const char *nigh_filter_kind_name(nigh_filter_kind kind) {
    switch (kind) {
    case NIGH_FILTER_HYBRID:
        return "hybrid";
    case NIGH_FILTER_BLOOM:
        return "bloom";
    case NIGH_FILTER_COCA:
        return "coca";
    case NIGH_FILTER_AUTO:
        break;
    }
    return NULL;
}

nigh_status nigh__filter_shape_check(const struct nigh__filter_shape *shape, nigh_error *error) {
    if (nigh_filter_kind_name(shape->kind) == NULL)
        return nigh__fail(error, NIGH_EINVAL, "%d is no kind of filter", (int)shape->kind);
    if (shape->bits < 1 || shape->bits > NIGH__FILTER_MAX_BITS)
        return nigh__fail(error, NIGH_EINVAL, "a filter of %u bits; 1 to %u are possible", shape->bits,
                          (unsigned)NIGH__FILTER_MAX_BITS);
    if (shape->hashes < 1 || shape->hashes > NIGH__FILTER_MAX_HASHES)
        return nigh__fail(error, NIGH_EINVAL, "%u hashes a term; 1 to %u are possible", shape->hashes,
                          (unsigned)NIGH__FILTER_MAX_HASHES);
    if (shape->kind != NIGH_FILTER_HYBRID) return NIGH_OK;
    if (shape->frequent_hashes < 1 || shape->frequent_hashes > shape->hashes)
        return nigh__fail(error, NIGH_EINVAL, "%u hashes of a frequent term; 1 to the %u of others are possible",
                          shape->frequent_hashes, shape->hashes);
    if (shape->theta < 1) return nigh__fail(error, NIGH_EINVAL, "terms of more than no block are all terms");
    return NIGH_OK;
}
