/* SPDX-License-Identifier: Apache-2.0 */
/* The page, its style and its script, and the description of the API: files of server/page/, built in. */
#ifndef NIGH_SERVER_SERVED_PAGE_H
#define NIGH_SERVER_SERVED_PAGE_H

#include "request.h"

struct serve_page_file {
    const char *path; /* of the request */
    const char *type;
    const unsigned char *bytes;
    size_t length;
};

/* Made by cmake/embed.cmake; ends with a path NULL. */
extern const struct serve_page_file serve_page_files[];

void serve_page_answer(struct serve_request *request);

#endif
