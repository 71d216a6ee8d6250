/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "listening.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "origin.h"

#define FIRST_HANDED_OVER 3 /* as sd_listen_fds(3) has it */
#define BACKLOG 1024

static nigh_status refuse(nigh_error *error, const char *where, int system_errno, const char *why) {
    *error = (nigh_error){
        .status = system_errno == 0 ? NIGH_EINVAL : NIGH_EIO, .offset = NIGH_NO_OFFSET, .system_errno = system_errno};
    (void)snprintf(error->why, sizeof error->why, "cannot listen on '%s': %s", where,
                   system_errno == 0 ? why : strerror(system_errno));
    return error->status;
}

/* Splits "HOST:PORT"; `host` has room for all of it. */
static bool split(const char *where, char *host, size_t capacity, const char **port) {
    const char *colon = strrchr(where, ':');
    if (colon == NULL || colon == where || colon[1] == '\0') return false;
    size_t length = (size_t)(colon - where);
    if (length >= capacity || strspn(colon + 1, "0123456789") != strlen(colon + 1)) return false;
    if (*where == '[' && where[length - 1] == ']') {
        where++;
        length -= 2;
    }
    memcpy(host, where, length);
    host[length] = '\0';
    *port = colon + 1;
    return strtoul(*port, NULL, 10) <= 65535;
}

static int open_first(const struct addrinfo *list, int *failed) {
    for (const struct addrinfo *at = list; at != NULL; at = at->ai_next) {
        const int one = 1;
        const int opened = socket(at->ai_family, at->ai_socktype, at->ai_protocol);
        if (opened < 0) continue;
        (void)setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (bind(opened, at->ai_addr, at->ai_addrlen) == 0 && listen(opened, BACKLOG) == 0) return opened;
        *failed = errno;
        (void)close(opened);
    }
    return -1;
}

/* How the socket is called, by its own account: the port may have been 0. */
static bool tell_address(int opened, char *address, size_t capacity, bool *beyond) {
    struct sockaddr_storage name;
    socklen_t length = sizeof name;
    char host[128], port[16];
    if (getsockname(opened, (struct sockaddr *)&name, &length) != 0 ||
        getnameinfo((struct sockaddr *)&name, length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return false;
    *beyond = !serve_is_loopback(host, strlen(host));
    (void)snprintf(address, capacity, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
    return true;
}

static nigh_status take_over(int *out, char *address, size_t capacity, bool *beyond, nigh_error *error) {
    const char *count = getenv("LISTEN_FDS"), *process = getenv("LISTEN_PID");
    if (count == NULL || process == NULL || strtol(process, NULL, 10) != (long)getpid() || strcmp(count, "1") != 0)
        return refuse(error, "systemd", 0, "no socket was handed over, or more than one");
    *out = FIRST_HANDED_OVER;
    if (tell_address(*out, address, capacity, beyond)) return NIGH_OK;
    *beyond = false; /* a socket in the file system: its mode says who can connect */
    (void)snprintf(address, capacity, "localhost");
    return NIGH_OK;
}

nigh_status serve_listen(const char *where, int *out, char *address, size_t capacity, bool *beyond, nigh_error *error) {
    char host[256];
    const char *port = NULL;
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *list = NULL;
    int failed = 0;
    if (strcmp(where, "systemd") == 0) return take_over(out, address, capacity, beyond, error);
    if (!split(where, host, sizeof host, &port))
        return refuse(error, where, 0, "give ADDRESS:PORT, [ADDRESS]:PORT or 'systemd'");
    const int unknown = getaddrinfo(host, port, &hints, &list);
    if (unknown != 0) return refuse(error, where, 0, gai_strerror(unknown));
    *out = open_first(list, &failed);
    freeaddrinfo(list);
    if (*out < 0) return refuse(error, where, failed == 0 ? EADDRNOTAVAIL : failed, NULL);
    if (tell_address(*out, address, capacity, beyond)) return NIGH_OK;
    (void)close(*out);
    return refuse(error, where, errno, NULL);
}
