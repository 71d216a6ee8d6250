/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L

#include "origin.h"

#include <string.h>
#include <strings.h>

/* The name of "NAME:PORT", "[NAME]:PORT" or "NAME". */
static size_t name_length(const char *host) {
    const char *bracket = *host == '[' ? strchr(host, ']') : NULL;
    return bracket != NULL ? (size_t)(bracket - host) + 1 : strcspn(host, ":");
}

static bool is_name(const char *host, size_t length, const char *name) {
    return strlen(name) == length && strncasecmp(host, name, length) == 0;
}

bool serve_is_loopback(const char *host, size_t length) {
    if (is_name(host, length, "localhost") || is_name(host, length, "[::1]") || is_name(host, length, "::1"))
        return true;
    return length > 4 && strncmp(host, "127.", 4) == 0 && strspn(host, "0123456789.") >= length;
}

bool serve_host_is_ours(const struct serve_settings *settings, const char *address, const char *host) {
    if (host == NULL) return false;
    const size_t length = name_length(host);
    if (serve_is_loopback(host, length)) return true;
    const size_t own = name_length(address);
    if (own == length && strncasecmp(host, address, length) == 0) return true;
    for (size_t i = 0; i < settings->hosts.count; i++)
        if (is_name(host, length, settings->hosts.items[i])) return true;
    return false;
}

bool serve_origin_is_ours(const struct serve_settings *settings, const char *host, const char *origin, bool *foreign) {
    *foreign = false;
    if (origin == NULL) return true;
    const char *authority = strstr(origin, "://");
    if (authority != NULL && host != NULL && strcasecmp(authority + 3, host) == 0) return true;
    for (size_t i = 0; i < settings->origins.count && !*foreign; i++)
        *foreign = strcasecmp(settings->origins.items[i], origin) == 0;
    return *foreign;
}
