/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds in memory: making them from numbers, reading them from a file, and giving them out. */
#include "signature/thresholds.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/limits.h"
#include "base/memory.h"
#include "base/status.h"

static const char *const names[] = {NULL, "sign", "mean", "median", "file"};

const char *nigh__binarise_name(nigh_binarise how) {
    return (unsigned)how < sizeof names / sizeof names[0] ? names[how] : NULL;
}

nigh_binarise nigh__binarise_by_name(const char *name, size_t length) {
    for (unsigned i = 1; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0) return (nigh_binarise)i;
    return NIGH_BINARISE_NONE;
}

void nigh__thresholds_settle(nigh_thresholds *thresholds) {
    thresholds->name = nigh__hash(thresholds->values, thresholds->count * sizeof(double));
}

nigh_status nigh__thresholds_make(const nigh_context *context, nigh_binarise how, const double *values, uint32_t count,
                                  nigh_thresholds **out, nigh_error *error) {
    *out = NULL;
    nigh_thresholds *made = nigh__alloc_zero(context, 1, sizeof *made);
    if (made == NULL) return nigh__no_memory(error, "for thresholds");
    made->context = context;
    made->how = how;
    made->count = count;
    if (count != 0) {
        made->values = nigh__alloc_zero(context, count, sizeof *made->values);
        if (made->values == NULL) {
            nigh__free(context, made);
            return nigh__no_memory(error, "for thresholds");
        }
        if (values != NULL) memcpy(made->values, values, count * sizeof *values);
        nigh__thresholds_settle(made);
    }
    *out = made;
    return NIGH_OK;
}

nigh_status nigh_thresholds_new(nigh_context *context, const double *values, uint32_t count, nigh_thresholds **out,
                                nigh_error *error) {
    *out = NULL;
    if (values == NULL || count == 0) return nigh__fail(error, NIGH_EINVAL, "no thresholds");
    if (!nigh__width_valid(count))
        return nigh__fail(error, NIGH_EINVAL, "%" PRIu32 " thresholds; it must be from 1 to %u", count,
                          NIGH_MAX_WIDTH_BITS);
    for (uint32_t i = 0; i < count; i++)
        if (isnan(values[i]))
            return nigh__fail(error, NIGH_EINVAL, "threshold %" PRIu32 " is not a number (NaN)", i + 1);
    return nigh__thresholds_make(context, NIGH_BINARISE_FILE, values, count, out, error);
}

nigh_binarise nigh_thresholds_kind(const nigh_thresholds *thresholds) { return thresholds->how; }

const double *nigh_thresholds_values(const nigh_thresholds *thresholds, uint32_t *count) {
    *count = thresholds->count;
    return thresholds->values;
}

void nigh_thresholds_free(nigh_thresholds *thresholds) {
    if (thresholds == NULL) return;
    nigh__free(thresholds->context, thresholds->values);
    nigh__free(thresholds->context, thresholds);
}

struct nigh__thresholds_lines nigh__thresholds_lines(const nigh_thresholds *thresholds) {
    struct nigh__thresholds_lines lines;
    const int used =
        snprintf(lines.text, sizeof lines.text, "binarise=%s\nkind=signatures\n", nigh__binarise_name(thresholds->how));
    if (thresholds->count != 0)
        (void)snprintf(lines.text + used, sizeof lines.text - (size_t)used, "thresholds=%016" PRIx64 "\n",
                       thresholds->name);
    return lines;
}
