/* SPDX-License-Identifier: Apache-2.0 */
#include "base/object_pool.h"

#include <pthread.h>

#include "base/assert.h"
#include "base/memory.h"

#define MAX 16u

struct nigh__object_pool {
    pthread_mutex_t lock;
    uint32_t users;
    uint32_t count;
    void *items[MAX];
    void (*free_item[MAX])(void *item);
};

struct nigh__object_pool *nigh__object_pool_new(const nigh_context *context) {
    struct nigh__object_pool *pool = nigh__alloc_zero(context, 1, sizeof *pool);
    if (pool == NULL) return NULL;
    pool->users = 1;
    if (pthread_mutex_init(&pool->lock, NULL) == 0) return pool;
    nigh__free(context, pool);
    return NULL;
}

static uint32_t add_users(struct nigh__object_pool *pool, int more) {
    (void)pthread_mutex_lock(&pool->lock);
    const uint32_t users = pool->users += (uint32_t)more;
    (void)pthread_mutex_unlock(&pool->lock);
    return users;
}

struct nigh__object_pool *nigh__object_pool_join(struct nigh__object_pool *pool) {
    (void)add_users(pool, 1);
    return pool;
}

void nigh__object_pool_free(const nigh_context *context, struct nigh__object_pool *pool) {
    if (pool == NULL || add_users(pool, -1) != 0) return;
    for (uint32_t i = 0; i < pool->count; i++) pool->free_item[i](pool->items[i]);
    (void)pthread_mutex_destroy(&pool->lock);
    nigh__free(context, pool);
}

void *nigh__object_pool_take(struct nigh__object_pool *pool) {
    (void)pthread_mutex_lock(&pool->lock);
    void *item = pool->count == 0 ? NULL : pool->items[--pool->count];
    (void)pthread_mutex_unlock(&pool->lock);
    return item;
}

void nigh__object_pool_give(struct nigh__object_pool *pool, void *item, void (*free_item)(void *item)) {
    NIGH__ASSERT(item != NULL && free_item != NULL);
    (void)pthread_mutex_lock(&pool->lock);
    const bool kept = pool->count < MAX;
    if (kept) {
        pool->items[pool->count] = item;
        pool->free_item[pool->count++] = free_item;
    }
    (void)pthread_mutex_unlock(&pool->lock);
    if (!kept) free_item(item);
}
