/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "peek.h"

#include <errno.h>
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

void cli_peek_init(struct cli_peek *peek, int descriptor) {
    peek->descriptor = descriptor;
    peek->ended = false;
    peek->error = 0;
    peek->begin = peek->end = 0;
}

void cli_peek_look(struct cli_peek *peek) {
    while (!peek->ended && peek->error == 0 && peek->end < sizeof peek->bytes &&
           memchr(peek->bytes, '\n', peek->end) == NULL) {
        size_t moved = 0;
        peek->error = cli_read(peek->descriptor, peek->bytes + peek->end, sizeof peek->bytes - peek->end, &moved);
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
    return peek->ended ? 0 : cli_read(peek->descriptor, buffer, length, moved);
}

nigh_stream cli_peek_stream(struct cli_peek *peek) { return (nigh_stream){.user = peek, .read = peek_read}; }
