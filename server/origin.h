/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which web page a browser speaks for. Any page can send requests to 127.0.0.1, by its address or by a name of
 * its own that resolves to it (DNS rebinding). The Origin header reveals the former, the Host header the latter.
 */
#ifndef NIGH_SERVER_ORIGIN_H
#define NIGH_SERVER_ORIGIN_H

#include <stdbool.h>

#include "serve.h"

/* Whether the Host of a request is us: loopback, the address that is listened on, or one of `hosts`. */
bool serve_host_is_ours(const struct serve_settings *settings, const char *address, const char *host);

/*
 * Whether a request with this Origin (NULL: none, it comes from no page) may be answered: from the page of that host,
 * or one of `origins`; *foreign then says that it is another's, who must be told that he may read the answer.
 */
bool serve_origin_is_ours(const struct serve_settings *settings, const char *host, const char *origin, bool *foreign);

/* Whether only this machine can connect to an address, without its port. */
bool serve_is_loopback(const char *host, size_t length);

#endif
