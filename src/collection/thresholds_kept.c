/* SPDX-License-Identifier: Apache-2.0 */
/* The thresholds of a collection's floats, so that the floats of a query become bits in the same way. */
#include <math.h>
#include <string.h>

#include "base/key_lines.h"
#include "base/memory.h"
#include "base/status.h"
#include "collection/collection.h"
#include "collection/scheme.h"
#include "signature/thresholds.h"

static nigh_status fail_corrupt(const struct nigh__segment *keeper, const char *why, nigh_error *error) {
    return nigh__segment_corrupt(keeper, NIGH__SECTION_THRESHOLDS, 0, why, error);
}

/* They must be those that the scheme names, one for each bit. */
static nigh_status parse_kept(const struct nigh_collection *collection, const struct nigh__segment *keeper,
                              nigh_binarise how, const uint8_t *bytes, size_t length, nigh_thresholds **out,
                              nigh_error *error) {
    if (length != collection->width_bits * sizeof(double))
        return fail_corrupt(keeper, "not as many thresholds as signatures have bits", error);
    nigh_status status = nigh__thresholds_make(collection->context, how, NULL, collection->width_bits, out, error);
    if (status != NIGH_OK) return status;
    memcpy((*out)->values, bytes, length);
    nigh__thresholds_settle(*out);
    for (uint32_t i = 0; i < (*out)->count && status == NIGH_OK; i++)
        if (isnan((*out)->values[i])) status = fail_corrupt(keeper, "a threshold that is not a number", error);
    if (status == NIGH_OK && !nigh__scheme_names(nigh_collection_scheme(collection),
                                                 nigh__attachment_key(NIGH__ATTACHMENT_THRESHOLDS), &(*out)->name))
        status = fail_corrupt(keeper, "not the thresholds that the scheme names", error);
    if (status == NIGH_OK) return NIGH_OK;
    nigh_thresholds_free(*out);
    *out = NULL;
    return status;
}

nigh_status nigh_collection_thresholds(const nigh_collection *collection, nigh_thresholds **out, nigh_error *error) {
    const char *name = nigh__key_lines_find(nigh_collection_scheme(collection), "binarise=");
    const struct nigh__segment *keeper = nigh__collection_keeper(collection, NIGH__ATTACHMENT_THRESHOLDS);
    const nigh_binarise how = name == NULL ? NIGH_BINARISE_NONE : nigh__binarise_by_name(name, strcspn(name, "\n"));
    uint8_t *bytes = NULL;
    size_t length = 0;
    *out = NULL;
    if (how == NIGH_BINARISE_SIGN) return nigh__thresholds_make(collection->context, how, NULL, 0, out, error);
    if (how == NIGH_BINARISE_NONE || keeper == NULL)
        return nigh__fail_at(error, NIGH_ENOTFOUND, collection->path, NIGH_NO_OFFSET, "it keeps no thresholds");
    nigh_status status = nigh__segment_attachment(keeper, NIGH__ATTACHMENT_THRESHOLDS, &bytes, &length, error);
    if (status == NIGH_OK) status = parse_kept(collection, keeper, how, bytes, length, out, error);
    nigh__free(collection->context, bytes);
    return status;
}
