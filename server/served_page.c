/* SPDX-License-Identifier: Apache-2.0 */
#include "served_page.h"

#include <string.h>

#include "problem.h"
#include "route.h"

void serve_page_answer(struct serve_request *request) {
    for (const struct serve_page_file *file = serve_page_files; file->path != NULL; file++) {
        if (strcmp(file->path, request->route->path) != 0) continue;
        request->reply.fixed = (const char *)file->bytes;
        request->reply.fixed_length = file->length;
        serve_answer(request, file->type);
        return;
    }
}
