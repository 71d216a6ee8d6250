/* SPDX-License-Identifier: Apache-2.0 */
/* Which contenders are asked for, and the rungs of their ladders. */
#include "topk_methods.h"

#include <string.h>

static const char *const names[] = {"scan", "sketch", "slices", "directed", "graph", "loaded"};
static const char *const peer_names[] = {"flat", "ivf", "hnsw", "hnswlib16", "hnswlib32"};

#define NAMES (sizeof names / sizeof names[0])
#define PEER_NAMES (sizeof peer_names / sizeof peer_names[0])

static bool is_name(const char *name, const char *at, size_t length) {
    return strlen(name) == length && strncmp(name, at, length) == 0;
}

bool topk_is_chosen(const char *chosen, const char *name) {
    if (chosen == NULL) return true;
    for (const char *at = chosen; *at != '\0';) {
        const size_t part = strcspn(at, ",");
        if (is_name(name, at, part)) return true;
        at += part + (at[part] == ',');
    }
    return false;
}

bool topk_peers_chosen(const char *chosen) {
    for (size_t i = 0; i < PEER_NAMES; i++)
        if (topk_is_chosen(chosen, peer_names[i])) return true;
    return false;
}

void topk_methods_check(const char *chosen) {
    for (const char *at = chosen; at != NULL && *at != '\0';) {
        const size_t part = strcspn(at, ",");
        bool known = false;
        for (size_t i = 0; i < NAMES; i++) known = known || is_name(names[i], at, part);
        for (size_t i = 0; i < PEER_NAMES; i++) known = known || is_name(peer_names[i], at, part);
        if (!known) measure_fail(at, "begins with no method that is known");
        at += part + (at[part] == ',');
    }
}

/* sqrt(2) to the number, close enough, and in whole numbers. */
uint32_t topk_rung(uint32_t first, uint32_t number) {
    const uint64_t doubled = (uint64_t)first << (number / 2);
    return (uint32_t)(number % 2 == 0 ? doubled : (doubled * 181 + 64) / 128);
}
