/* SPDX-License-Identifier: Apache-2.0 */
/* The socket to listen on: an address of our own, or the socket that systemd hands over. */
#ifndef NIGH_SERVER_LISTENING_H
#define NIGH_SERVER_LISTENING_H

#include <stdbool.h>

#include "nigh.h"

/* *out is the socket, `address` (of `capacity` bytes) how it is called; *beyond: others than this machine can connect.
 */
nigh_status serve_listen(const char *where, int *out, char *address, size_t capacity, bool *beyond, nigh_error *error);

#endif
