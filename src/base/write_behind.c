/* SPDX-License-Identifier: Apache-2.0 */
/* Writing by a thread of its own; write_behind.h draws it. */
#include "base/write_behind.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/file.h"
#include "base/memory.h"
#include "base/status.h"

struct nigh__write_behind {
    const nigh_context *context;
    struct nigh__file *file;
    pthread_t thread;
    pthread_mutex_t lock;   /* of all that follows */
    pthread_cond_t given;   /* there is a piece, or `stop` */
    pthread_cond_t written; /* there is none any more */
    const uint8_t *bytes;   /* NULL: none */
    size_t length;
    uint64_t offset;
    bool stop;
    nigh_status status; /* once it is not NIGH_OK it stays */
    nigh_error error;
};

/* Called and returns with the lock held; not held while it writes. */
static void write_piece(struct nigh__write_behind *behind) {
    nigh_error error = {.status = NIGH_OK};
    nigh_status status = behind->status;
    pthread_mutex_unlock(&behind->lock);
    if (status == NIGH_OK)
        status = nigh__file_write(behind->file, behind->offset, behind->bytes, behind->length, &error);
    pthread_mutex_lock(&behind->lock);
    if (behind->status == NIGH_OK && status != NIGH_OK) behind->error = error;
    behind->status = status;
    behind->bytes = NULL;
    pthread_cond_signal(&behind->written);
}

static void *write_main(void *user) {
    struct nigh__write_behind *behind = user;
    pthread_mutex_lock(&behind->lock);
    for (;;) {
        while (behind->bytes == NULL && !behind->stop) pthread_cond_wait(&behind->given, &behind->lock);
        if (behind->bytes == NULL) break;
        write_piece(behind);
    }
    pthread_mutex_unlock(&behind->lock);
    return NULL;
}

static void destroy(struct nigh__write_behind *behind) {
    pthread_cond_destroy(&behind->written);
    pthread_cond_destroy(&behind->given);
    pthread_mutex_destroy(&behind->lock);
    nigh__free(behind->context, behind);
}

nigh_status nigh__write_behind_new(const nigh_context *context, struct nigh__file *file,
                                   struct nigh__write_behind **out, nigh_error *error) {
    struct nigh__write_behind *behind = nigh__alloc_zero(context, 1, sizeof *behind);
    *out = behind;
    if (behind == NULL) return nigh__no_memory(error, "to write behind");
    behind->context = context;
    behind->file = file;
    pthread_mutex_init(&behind->lock, NULL);
    pthread_cond_init(&behind->given, NULL);
    pthread_cond_init(&behind->written, NULL);
    if (pthread_create(&behind->thread, NULL, write_main, behind) == 0) return NIGH_OK;
    destroy(behind);
    *out = NULL;
    return NIGH_OK;
}

void nigh__write_behind_free(struct nigh__write_behind *behind) {
    if (behind == NULL) return;
    pthread_mutex_lock(&behind->lock);
    behind->stop = true;
    pthread_cond_signal(&behind->given);
    pthread_mutex_unlock(&behind->lock);
    pthread_join(behind->thread, NULL);
    destroy(behind);
}

/* Called and returns with the lock held. */
static nigh_status wait_written(struct nigh__write_behind *behind, nigh_error *error) {
    while (behind->bytes != NULL) pthread_cond_wait(&behind->written, &behind->lock);
    if (behind->status != NIGH_OK && error != NULL) *error = behind->error;
    return behind->status;
}

nigh_status nigh__write_behind_give(struct nigh__write_behind *behind, const uint8_t *bytes, size_t length,
                                    uint64_t offset, nigh_error *error) {
    pthread_mutex_lock(&behind->lock);
    const nigh_status status = wait_written(behind, error);
    if (status == NIGH_OK && length > 0) {
        behind->bytes = bytes;
        behind->length = length;
        behind->offset = offset;
        pthread_cond_signal(&behind->given);
    }
    pthread_mutex_unlock(&behind->lock);
    return status;
}

nigh_status nigh__write_behind_wait(struct nigh__write_behind *behind, nigh_error *error) {
    pthread_mutex_lock(&behind->lock);
    const nigh_status status = wait_written(behind, error);
    pthread_mutex_unlock(&behind->lock);
    return status;
}
