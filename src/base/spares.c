/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spares.h"

#include <pthread.h>

#include "base/memory.h"

#define MOST 16u

struct nigh__spares {
    pthread_mutex_t lock;
    uint32_t count;
    void *items[MOST];
    void (*free_item[MOST])(void *item);
};

struct nigh__spares *nigh__spares_new(const nigh_context *context) {
    struct nigh__spares *spares = nigh__alloc_zero(context, 1, sizeof *spares);
    if (spares == NULL) return NULL;
    if (pthread_mutex_init(&spares->lock, NULL) == 0) return spares;
    nigh__free(context, spares);
    return NULL;
}

void nigh__spares_free(const nigh_context *context, struct nigh__spares *spares) {
    if (spares == NULL) return;
    for (uint32_t i = 0; i < spares->count; i++) spares->free_item[i](spares->items[i]);
    (void)pthread_mutex_destroy(&spares->lock);
    nigh__free(context, spares);
}

void *nigh__spares_take(struct nigh__spares *spares) {
    (void)pthread_mutex_lock(&spares->lock);
    void *item = spares->count == 0 ? NULL : spares->items[--spares->count];
    (void)pthread_mutex_unlock(&spares->lock);
    return item;
}

void nigh__spares_give(struct nigh__spares *spares, void *item, void (*free_item)(void *item)) {
    (void)pthread_mutex_lock(&spares->lock);
    const bool kept = spares->count < MOST;
    if (kept) {
        spares->items[spares->count] = item;
        spares->free_item[spares->count++] = free_item;
    }
    (void)pthread_mutex_unlock(&spares->lock);
    if (!kept) free_item(item);
}
