/* SPDX-License-Identifier: Apache-2.0 */
/* Learning, in a library that was built without.  absent.h says why this is here. */
#include "absent/absent.h"

nigh_status nigh_learn(nigh_context *context, nigh_text_reader *reader, const nigh_learn_options *options,
                       nigh_model **out, nigh_learn_result *result, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "learning");
}
