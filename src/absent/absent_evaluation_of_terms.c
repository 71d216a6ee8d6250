/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for the evaluation of term signature files, in a library built without it; see absent.h. */
#include "absent/absent.h"

nigh_status nigh_eval_filters_measure(nigh_context *context, nigh_text_reader *reader,
                                      const nigh_eval_filters_options *options, nigh_eval_filters **out,
                                      nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "evaluation of terms");
}

void nigh_eval_filters_describe(const nigh_eval_filters *filters, nigh_eval_filters_info *out) {}

nigh_status nigh_eval_filters_at(const nigh_eval_filters *filters, size_t index, nigh_eval_filters_row *out) {
    return nigh__absent(NULL, "evaluation of terms");
}

nigh_status nigh_eval_filters_plot(nigh_eval_filters *filters, const char *title, const char **svg, size_t *length,
                                   nigh_error *error) {
    return nigh__absent(error, "evaluation of terms");
}

void nigh_eval_filters_free(nigh_eval_filters *filters) {}
