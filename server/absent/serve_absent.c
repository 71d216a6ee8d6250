/* SPDX-License-Identifier: Apache-2.0 */
/* Stands in for the server where it is left out of a build. */
#include "serve.h"

void serve_settings_init(struct serve_settings *settings) { *settings = (struct serve_settings){.log = -1}; }

bool serve_built(void) { return false; }

nigh_status serve_run(nigh_context *context, const struct serve_settings *settings, nigh_error *error) {
    (void)context;
    (void)settings;
    *error = (nigh_error){.status = NIGH_EUNSUPPORTED, .offset = NIGH_NO_OFFSET};
    return NIGH_EUNSUPPORTED;
}
