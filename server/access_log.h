/* SPDX-License-Identifier: Apache-2.0 */
/* A line of JSON for each request. It has the route and the collection, but no text, id or path of a user. */
#ifndef NIGH_SERVER_ACCESS_LOG_H
#define NIGH_SERVER_ACCESS_LOG_H

#include "request.h"

void serve_log_request(int descriptor, const struct serve_request *request, uint64_t microseconds, uint64_t bytes_out);

#endif
