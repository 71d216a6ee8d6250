/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "sketch/sketches.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/guard.h"
#include "base/memory.h"
#include "base/status.h"

/* Of one segment, and gone with the last state that uses them. */
struct made {
    _Atomic uint32_t users;
    uint64_t *words;
};

struct nigh__sketches {
    const nigh_context *context;
    pthread_mutex_t lock;
    uint32_t segments;
    struct made *of[][NIGH__SKETCH_WORDS]; /* by segment and words - 1; NULL: nobody has asked yet */
};

static struct nigh__sketches *sketches_new(const nigh_context *context, uint32_t segments) {
    const size_t one = sizeof(struct made *[NIGH__SKETCH_WORDS]);
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

static void leave(const nigh_context *context, struct made *made) {
    if (made == NULL || atomic_fetch_sub(&made->users, 1) > 1) return;
    nigh__free(context, made->words);
    nigh__free(context, made);
}

static void sketches_close(const nigh_context *context, void *extra) {
    struct nigh__sketches *sketches = extra;
    if (sketches == NULL) return;
    for (uint32_t s = 0; s < sketches->segments; s++)
        for (uint32_t words = 0; words < NIGH__SKETCH_WORDS; words++) leave(context, sketches->of[s][words]);
    (void)pthread_mutex_destroy(&sketches->lock);
    nigh__free(context, sketches);
}

/* What was made of a segment, for the same segment in a newer state.  Under the lock of `had`. */
static void join(struct nigh__sketches *sketches, uint32_t to, const struct nigh__sketches *had, uint32_t from) {
    for (uint32_t words = 0; words < NIGH__SKETCH_WORDS; words++) {
        struct made *made = had->of[from][words];
        if (made != NULL) atomic_fetch_add(&made->users, 1);
        sketches->of[to][words] = made;
    }
}

static nigh_status sketches_again(const nigh_collection *newer, const nigh_collection *before, void *extra, void **out,
                                  nigh_error *error) {
    struct nigh__sketches *had = extra;
    struct nigh__sketches *sketches = sketches_new(newer->context, newer->segment_count);
    if (sketches == NULL) return nigh__no_memory(error, "for a collection");
    (void)pthread_mutex_lock(&had->lock);
    for (uint32_t i = 0; i < newer->segment_count; i++)
        for (uint32_t k = 0; k < before->segment_count; k++)
            if (newer->segments[i]->map == before->segments[k]->map) join(sketches, i, had, k);
    (void)pthread_mutex_unlock(&had->lock);
    *out = sketches;
    return NIGH_OK;
}

const struct nigh__extra nigh__sketches_extra = {
    .open = sketches_open, .close = sketches_close, .again = sketches_again};

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
                        struct made **out, nigh_error *error) {
    struct made *made = nigh__alloc_zero(context, 1, sizeof *made);
    nigh_status status = NIGH_ENOMEM;
    if (made != NULL) {
        atomic_init(&made->users, 1);
        made->words = nigh__alloc_large(context, segment->signatures, words * sizeof *made->words);
    }
    if (made == NULL || made->words == NULL)
        (void)nigh__fail(error, status, "no memory for sketches of %u signatures", segment->signatures);
    else
        status = copy(segment, words, made->words) ? NIGH_OK : nigh__segment_cut(segment, error);
    if (status == NIGH_OK)
        *out = made;
    else
        leave(context, made);
    return status;
}

nigh_status nigh__sketches_get(struct nigh__sketches *sketches, const struct nigh__segment *segment, uint32_t index,
                               uint32_t words, const uint64_t **out, nigh_error *error) {
    nigh_status status = NIGH_OK;
    (void)pthread_mutex_lock(&sketches->lock);
    struct made **place = &sketches->of[index][words - 1];
    if (*place == NULL) status = make(sketches->context, segment, words, place, error);
    *out = *place == NULL ? NULL : (*place)->words;
    (void)pthread_mutex_unlock(&sketches->lock);
    return status;
}
