/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP by libmicrohttpd: connections, limits, permissions. Requests go to lanes, which return the answers. */
#ifndef NIGH_SERVER_HTTP_FRONT_H
#define NIGH_SERVER_HTTP_FRONT_H

#include "server.h"

/* Listens on server->settings->listen and puts the address into server->address. */
nigh_status serve_front_start(struct serve_server *server, nigh_error *error);

/* Takes over a connection that came in another way, such as one of a socketpair.  False: it is the caller's still. */
bool serve_front_take(struct serve_server *server, int socket);

/* Takes no more connections, and waits until all requests are answered, at most drain_ms. */
void serve_front_drain(struct serve_server *server);
/* Once nobody works on a request any more. */
void serve_front_end(struct serve_server *server);

#endif
