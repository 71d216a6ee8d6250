/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes nigh serve through a socketpair: what a client sends, byte for byte, or a body, where the first byte says for
 * which request.  Whatever comes is answered or the connection is closed, soon, and no answer is an error of the server
 * itself.  Nothing can be added, so each input meets the same collections.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "http_front.h"
#include "server.h"

#define MOST_BYTES 65536u
#define PATIENCE_MS 60000 /* of a whole request: an answer that takes longer is a finding */
#define SILENCE_MS 20     /* of what may be the beginning of a request: it may be waited for its rest */
#define DOCUMENTS 3u
#define ITS_OWN_FAULT "HTTP/1.1 500"

static const char *const bodies_for[] = {
    "POST /v1/collections/texts/search",    "POST /v1/collections/rows/search", "POST /v1/collections/texts/against",
    "POST /v1/collections/rows/against",    "POST /v1/collections/texts/dedup", "POST /v1/collections/rows/dedup",
    "POST /v1/collections/texts/documents",
};
#define BODIES_FOR (sizeof bodies_for / sizeof bodies_for[0])

/* ---------------------------------------------------------------- the server -- */

static nigh_status next_text(void *user, nigh_text *out, nigh_error *error) {
    static const char *const texts[DOCUMENTS] = {"the river flooded the old town", "a storm by the harbour at night",
                                                 "music of the last century on Sunday"};
    static const char *const ids[DOCUMENTS] = {"flood", "storm", "music"};
    size_t *at = user;
    (void)error;
    if (*at == DOCUMENTS) return NIGH_END;
    out->text = texts[*at];
    out->text_length = strlen(texts[*at]);
    out->id = ids[*at];
    out->id_length = strlen(ids[*at]);
    (*at)++;
    return NIGH_OK;
}

static nigh_status first_text(void *user, nigh_error *error) {
    (void)error;
    *(size_t *)user = 0;
    return NIGH_OK;
}

static void must(bool good, const char *what) {
    if (good) return;
    (void)fprintf(stderr, "cannot make %s\n", what);
    abort();
}

static void make_texts(nigh_context *context, const char *path) {
    size_t at = 0;
    nigh_source source;
    nigh_error error;
    nigh_source_init(&source);
    source.user = &at;
    source.next = next_text;
    source.rewind = first_text;
    must(nigh_index_source(context, path, &source, NULL, NULL, NULL, &error) == NIGH_OK, path);
}

static void make_rows(nigh_context *context, const char *path) {
    nigh_writer_options options;
    nigh_writer *writer = NULL;
    nigh_error error;
    nigh_writer_options_init(&options);
    options.width_bits = 64;
    must(nigh_writer_open(context, path, &options, &writer, &error) == NIGH_OK, path);
    for (uint64_t i = 0; i < DOCUMENTS; i++) {
        const uint64_t row = i * UINT64_C(0x9e3779b97f4a7c15);
        const nigh_document document = {.size = sizeof document, .signature = (const uint8_t *)&row};
        must(nigh_writer_add(writer, &document, &error) == NIGH_OK, path);
    }
    must(nigh_writer_commit(writer, NULL, &error) == NIGH_OK, path);
    nigh_writer_close(writer);
}

/* Runs until the process ends. */
static struct serve_server *start(void) {
    static const char *const paths[] = {"texts.nigh", "rows.nigh"};
    static struct serve_settings settings;
    static struct serve_server server;
    nigh_context *context = NULL;
    nigh_error error;
    must(nigh_context_new(NULL, &context, &error) == NIGH_OK, "a context");
    if (access(paths[0], F_OK) != 0) make_texts(context, paths[0]);
    if (access(paths[1], F_OK) != 0) make_rows(context, paths[1]);
    serve_settings_init(&settings);
    settings.paths = (struct serve_names){paths, sizeof paths / sizeof paths[0]};
    settings.listen = "127.0.0.1:0";
    settings.read_only = true;
    settings.max_body = MOST_BYTES / 2;
    settings.max_documents = 100;
    server.settings = &settings;
    server.context = context;
    must(serve_server_start(&server, &error) == NIGH_OK, "a server");
    return &server;
}

/* -------------------------------------------------------------------- a client -- */

/* False: the other side has closed. */
static bool send_all(int socket, const void *bytes, size_t length) {
    const char *at = bytes;
    while (length > 0) {
        const ssize_t sent = send(socket, at, length, MSG_NOSIGNAL);
        if (sent <= 0) return false;
        at += sent;
        length -= (size_t)sent;
    }
    return true;
}

static void send_body(int socket, const char *request, const uint8_t *body, size_t length) {
    char head[256];
    const int bytes =
        snprintf(head, sizeof head,
                 "%s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n", request, length);
    if (send_all(socket, head, (size_t)bytes)) (void)send_all(socket, body, length);
}

/* Whether something comes in time.  The fuzzer looks at its watch by a signal. */
static bool comes(int socket, int milliseconds) {
    struct pollfd ready = {.fd = socket, .events = POLLIN};
    int come;
    do come = poll(&ready, 1, milliseconds);
    while (come < 0 && errno == EINTR);
    return come == 1;
}

/* To the end, or until it has been silent for so long, where that may be. */
static void read_all(int socket, bool whole) {
    static char bytes[1 << 16];
    bool first = true;
    for (;;) {
        const bool more = comes(socket, whole ? PATIENCE_MS : SILENCE_MS);
        must(more || !whole, "an answer in time");
        if (!more) return;
        const ssize_t got = recv(socket, bytes, sizeof bytes, 0);
        if (got <= 0) return;
        if (first && got >= 12) must(memcmp(bytes, ITS_OWN_FAULT, 12) != 0, "an answer: it says 500");
        first = false;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct serve_server *server;
    int pair[2];
    if (server == NULL) server = start();
    if (size > MOST_BYTES) return 0;
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "a socketpair");
    must(serve_front_take(server, pair[1]), "a connection");
    const bool whole = size > 0 && data[0] < BODIES_FOR;
    if (whole)
        send_body(pair[0], bodies_for[data[0]], data + 1, size - 1);
    else
        (void)send_all(pair[0], data, size);
    read_all(pair[0], whole);
    (void)close(pair[0]);
    return 0;
}
