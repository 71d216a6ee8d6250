/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merges several vocabularies into one. Exact ones go first: a table can be poured into a sketch, but not a sketch
 * into a table.
 */
#include <string.h>

#include "base/status.h"
#include "text/text_options.h"
#include "text/vocabulary_parts.h"

static nigh_status check_parts(const nigh_vocabulary *const *parts, size_t count, nigh_error *error) {
    if (count == 0) return nigh__fail(error, NIGH_EINVAL, "no vocabulary to merge");
    for (size_t i = 1; i < count; i++)
        if (strcmp(nigh__vocabulary_analysis(parts[i]), nigh__vocabulary_analysis(parts[0])) != 0)
            return nigh__fail(error, NIGH_EMISMATCH, "vocabulary %zu was counted with another analysis than the first",
                              i + 1);
    return NIGH_OK;
}

nigh_status nigh_vocabulary_merge(nigh_context *context, const nigh_vocabulary *const *parts, size_t count,
                                  const nigh_vocabulary_options *options, nigh_vocabulary **out, nigh_error *error) {
    nigh_vocabulary_options chosen;
    struct nigh__counter *counter = NULL;
    *out = NULL;
    nigh_status status = nigh__options_copy(&nigh__vocabulary_options_shape, &chosen, options, error);
    if (status == NIGH_OK) status = check_parts(parts, count, error);
    if (status == NIGH_OK) status = nigh__counter_new(context, chosen.memory_bytes, &counter, error);
    for (int sketches = 0; sketches < 2; sketches++)
        for (size_t i = 0; i < count && status == NIGH_OK; i++)
            if ((nigh__vocabulary_body(parts[i]).entries == NULL) == sketches)
                status = nigh__counter_add_counted(counter, parts[i], error);
    if (status == NIGH_OK) status = nigh__counter_finish(counter, nigh__vocabulary_analysis(parts[0]), out, error);
    nigh__counter_free(counter);
    return status;
}
