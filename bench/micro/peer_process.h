/* SPDX-License-Identifier: Apache-2.0 */
/* A peer library in a process of its own, asked line by line. */
#ifndef NIGH_BENCH_PEER_PROCESS_H
#define NIGH_BENCH_PEER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

struct peer {
    pid_t process; /* 0: none */
    FILE *to;
    FILE *from;
    char *line; /* owned */
    size_t line_capacity;
};

/*
 * Starts `program` that lies beside this one, and waits until it is ready.
 * Returns false, and says why, where there is no such program.
 */
bool peer_start(struct peer *peer, const char *self, const char *program, char *const *arguments);

/* Searches; `distances` gets count * k.  Returns the seconds that the peer's own clock says. */
double peer_search(struct peer *peer, uint32_t threads, size_t count, size_t k, uint32_t *distances);

/* The same with a request of the peer's own kind, a line without its end, and so many distances to come. */
double peer_ask(struct peer *peer, const char *request, size_t distance_count, uint32_t *distances);

void peer_stop(struct peer *peer);

#endif
