/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for the evaluation of learned signatures, in a library built without it; see absent.h. */
#include "absent/absent.h"

nigh_status nigh_eval_learned_measure(nigh_context *context, nigh_text_reader *reader,
                                      const nigh_eval_learned_options *options, nigh_eval_learned **out,
                                      nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "evaluation of learning");
}

void nigh_eval_learned_describe(const nigh_eval_learned *learned, nigh_eval_learned_info *out) {}

nigh_status nigh_eval_learned_at(const nigh_eval_learned *learned, size_t index, nigh_eval_learned_row *out) {
    return nigh__absent(NULL, "evaluation of learning");
}

nigh_status nigh_eval_learned_plot(nigh_eval_learned *learned, const char *title, const char **svg, size_t *length,
                                   nigh_error *error) {
    return nigh__absent(error, "evaluation of learning");
}

void nigh_eval_learned_free(nigh_eval_learned *learned) {}
