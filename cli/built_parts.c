/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linked library says which parts it has, so the tool is built from the same files whatever the parts are. The
 * server is not part of the library, and says itself whether it was built.
 */
#include "built_parts.h"

#include <string.h>

#include "serve.h"

#define SERVER "server"

bool cli_part_built(const char *name) {
    int built = name == NULL;
    if (name != NULL && strcmp(name, SERVER) == 0) return serve_built();
    const char *part;
    for (size_t i = 0; !built && (part = nigh_part_name(i, NULL)) != NULL; i++)
        if (strcmp(part, name) == 0) (void)nigh_part_name(i, &built);
    return built != 0;
}

void cli_parts_show(struct cli_sink *out) {
    const char *part;
    bool any = false;
    cli_sink_text(out, "parts    ");
    for (size_t i = 0; (part = nigh_part_name(i, NULL)) != NULL; i++) {
        if (!cli_part_built(part)) continue;
        cli_sink_format(out, " %s", part);
        any = true;
    }
    if (serve_built()) cli_sink_text(out, " " SERVER);
    cli_sink_text(out, any || serve_built() ? "\n" : " core only\n");
}
