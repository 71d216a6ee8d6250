/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "peek.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "signals.h"

/* A signal ends the wait for input, else it would only be seen at the next byte. */
int cli_read(int descriptor, void *buffer, size_t length, size_t *moved) {
    for (;;) {
        ssize_t count = read(descriptor, buffer, length);
        if (count >= 0) {
            *moved = (size_t)count;
            return 0;
        }
        if (errno != EINTR || cli_interrupted() != 0) return errno;
    }
}

#define PATIENCE_MS 100

/*
 * Signals reach one thread of the process, and it may not be the one that waits
 * for input here; so the wait is cut into pieces.
 */
static int read_patiently(struct cli_peek *peek, void *buffer, size_t length, size_t *moved) {
    struct pollfd waiting = {.fd = peek->descriptor, .events = POLLIN};
    for (;;) {
        int ready = poll(&waiting, 1, PATIENCE_MS);
        if (atomic_load(&peek->closing)) return ECANCELED;
        if (cli_interrupted() != 0) return EINTR;
        if (ready != 0) return cli_read(peek->descriptor, buffer, length, moved); /* what is wrong, read() says */
    }
}

void cli_peek_close(struct cli_peek *peek) { atomic_store(&peek->closing, true); }

void cli_peek_init(struct cli_peek *peek, int descriptor) {
    peek->descriptor = descriptor;
    atomic_init(&peek->closing, false);
    peek->ended = false;
    peek->error = 0;
    peek->begin = peek->end = 0;
}

void cli_peek_look(struct cli_peek *peek) {
    while (!peek->ended && peek->error == 0 && peek->end < sizeof peek->bytes &&
           memchr(peek->bytes, '\n', peek->end) == NULL) {
        size_t moved = 0;
        peek->error = read_patiently(peek, peek->bytes + peek->end, sizeof peek->bytes - peek->end, &moved);
        peek->ended = peek->error == 0 && moved == 0;
        peek->end += moved;
    }
}

static int peek_read(void *user, void *buffer, size_t length, size_t *moved) {
    struct cli_peek *peek = user;
    size_t held = peek->end - peek->begin;
    if (held > 0) {
        *moved = held < length ? held : length;
        memcpy(buffer, peek->bytes + peek->begin, *moved);
        peek->begin += *moved;
        return 0;
    }
    *moved = 0;
    if (peek->error != 0) return peek->error;
    return peek->ended ? 0 : read_patiently(peek, buffer, length, moved);
}

nigh_stream cli_peek_stream(struct cli_peek *peek) { return (nigh_stream){.user = peek, .read = peek_read}; }
