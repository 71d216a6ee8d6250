/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
/* Starting a peer, and talking with it through two pipes. */
#include "peer_process.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure.h"

/* In the child: pipes become standard input and output. */
static _Noreturn void become(const char *path, char *const *arguments, const int in[2], const int out[2]) {
    if (dup2(in[0], STDIN_FILENO) < 0 || dup2(out[1], STDOUT_FILENO) < 0) _exit(127);
    (void)close(in[1]);
    (void)close(out[0]);
    (void)execv(path, arguments);
    _exit(127);
}

/* The next line of the peer's answers; lives until the one after it. */
static char *next_line(struct peer *peer) {
    if (getline(&peer->line, &peer->line_capacity, peer->from) < 0) measure_fail("the peer", "gave no answer");
    return peer->line;
}

bool peer_start(struct peer *peer, const char *self, const char *program, char *const *arguments) {
    *peer = (struct peer){0};
    const char *slash = strrchr(self, '/');
    char path[4096];
    (void)snprintf(path, sizeof path, "%.*s%s", slash == NULL ? 0 : (int)(slash - self + 1), self, program);
    if (access(path, X_OK) != 0) {
        (void)printf("%s is not built, so the peer is left out\n", program);
        measure_lacking(program, "not built: its library is not installed");
        return false;
    }
    int in[2];
    int out[2];
    if (pipe(in) != 0 || pipe(out) != 0) measure_fail(program, "no pipes");
    (void)fflush(stdout);
    /* Our ends are not for the peers started later: one that held them would keep this one from its end. */
    if (fcntl(in[1], F_SETFD, FD_CLOEXEC) != 0 || fcntl(out[0], F_SETFD, FD_CLOEXEC) != 0)
        measure_fail(program, "no pipes");
    peer->process = fork();
    if (peer->process < 0) measure_fail(program, "cannot be started");
    if (peer->process == 0) become(path, arguments, in, out);
    (void)close(in[0]);
    (void)close(out[1]);
    peer->to = fdopen(in[1], "w");
    peer->from = fdopen(out[0], "r");
    if (peer->to == NULL || peer->from == NULL || strncmp(next_line(peer), "ready ", 6) != 0)
        measure_fail(program, "did not get ready");
    return true;
}

double peer_search(struct peer *peer, uint32_t threads, size_t count, size_t k, uint32_t *distances) {
    char request[64];
    (void)snprintf(request, sizeof request, "%u %zu", threads, count);
    return peer_ask(peer, request, count * k, distances);
}

double peer_ask(struct peer *peer, const char *request, size_t distance_count, uint32_t *distances) {
    (void)fprintf(peer->to, "%s\n", request);
    (void)fflush(peer->to);
    char *at = next_line(peer);
    char *end = at;
    double seconds = strtod(at, &end);
    for (size_t i = 0; i < distance_count; i++) {
        at = end;
        distances[i] = (uint32_t)strtoul(at, &end, 10);
        if (end == at) measure_fail("the peer", "gave too few distances");
    }
    return seconds;
}

void peer_stop(struct peer *peer) {
    if (peer->process == 0) return;
    (void)fclose(peer->to); /* the end of its input ends it */
    (void)fclose(peer->from);
    (void)waitpid(peer->process, NULL, 0);
    free(peer->line);
    *peer = (struct peer){0};
}
