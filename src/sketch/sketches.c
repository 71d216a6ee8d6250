/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "sketch/sketches.h"

#include <pthread.h>

#include "base/guard.h"
#include "base/memory.h"
#include "base/status.h"

struct nigh__sketches {
    const nigh_context *context;
    pthread_mutex_t lock;
    uint32_t segments;
    uint64_t *of[][NIGH__SKETCH_WORDS]; /* by segment and words - 1; NULL: nobody has asked yet */
};

static struct nigh__sketches *sketches_new(const nigh_context *context, uint32_t segments) {
    const size_t one = sizeof(uint64_t *[NIGH__SKETCH_WORDS]);
    struct nigh__sketches *sketches = nigh__alloc_zero(context, 1, sizeof *sketches + segments * one);
    if (sketches == NULL) return NULL;
    sketches->context = context;
    sketches->segments = segments;
    if (pthread_mutex_init(&sketches->lock, NULL) == 0) return sketches;
    nigh__free(context, sketches);
    return NULL;
}

static nigh_status sketches_open(const nigh_context *context, uint32_t segments, const struct nigh__file *directory,
                                 void **out, nigh_error *error) {
    (void)directory;
    *out = sketches_new(context, segments);
    return *out == NULL ? nigh__no_memory(error, "for a collection") : NIGH_OK;
}

static void sketches_close(const nigh_context *context, void *extra) {
    struct nigh__sketches *sketches = extra;
    if (sketches == NULL) return;
    for (uint32_t s = 0; s < sketches->segments; s++)
        for (uint32_t words = 0; words < NIGH__SKETCH_WORDS; words++) nigh__free(context, sketches->of[s][words]);
    (void)pthread_mutex_destroy(&sketches->lock);
    nigh__free(context, sketches);
}

const struct nigh__extra nigh__sketches_extra = {.open = sketches_open, .close = sketches_close};

struct nigh__sketches *nigh__sketches_of(const nigh_collection *collection) {
    return nigh__collection_extra(collection, &nigh__sketches_extra);
}

/* False where the file was cut short meanwhile. */
static bool copy(const struct nigh__segment *segment, uint32_t words, uint64_t *to) {
    struct nigh__guard guard;
    nigh__guard_enter(&guard, segment->map, segment->length);
    if (NIGH__GUARD_FAULTED(&guard)) return false;
    for (uint32_t row = 0; row < segment->signatures; row++)
        for (uint32_t w = 0; w < words; w++)
            to[(size_t)row * words + w] = segment->rows[(size_t)row * segment->words + w];
    nigh__guard_leave(&guard);
    return true;
}

static nigh_status make(const nigh_context *context, const struct nigh__segment *segment, uint32_t words,
                        uint64_t **out, nigh_error *error) {
    uint64_t *made = nigh__alloc_large(context, segment->signatures, words * sizeof *made);
    if (made == NULL) {
        (void)nigh__fail(error, NIGH_ENOMEM, "no memory for sketches of %u signatures", segment->signatures);
        return NIGH_ENOMEM;
    }
    if (copy(segment, words, made)) {
        *out = made;
        return NIGH_OK;
    }
    nigh__free(context, made);
    return nigh__segment_cut(segment, error);
}

nigh_status nigh__sketches_get(struct nigh__sketches *sketches, const struct nigh__segment *segment, uint32_t index,
                               uint32_t words, const uint64_t **out, nigh_error *error) {
    nigh_status status = NIGH_OK;
    (void)pthread_mutex_lock(&sketches->lock);
    uint64_t **place = &sketches->of[index][words - 1];
    if (*place == NULL) status = make(sketches->context, segment, words, place, error);
    *out = *place;
    (void)pthread_mutex_unlock(&sketches->lock);
    return status;
}
