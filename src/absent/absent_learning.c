/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for learning, in a library built without it; see absent.h. */
#include "absent/absent.h"

nigh_status nigh_learn(nigh_context *context, nigh_text_reader *reader, const nigh_learn_options *options,
                       nigh_model **out, nigh_learn_result *result, nigh_error *error) {
    *out = NULL;
    return nigh__absent(error, "learning");
}
