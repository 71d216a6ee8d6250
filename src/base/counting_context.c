/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block of counted memory begins with how much it is and where it began:
 *
 *     | ... | size, distance to the beginning | what was asked for |
 *     whole multiples of the alignment, 16 bytes at least
 */
#include "base/counting_context.h"

#include <string.h>

#include "base/context.h"
#include "base/memory.h"
#include "base/status.h"

struct label {
    uint64_t size;
    uint64_t before;
};

static void *count_allocate(void *user, size_t size, size_t alignment) {
    struct nigh__counting_context *counting = user;
    const size_t before = alignment < sizeof(struct label) ? sizeof(struct label) : alignment;
    const struct label label = {size, before};
    if (size > SIZE_MAX - before) return NULL;
    uint8_t *block = counting->below.allocate(counting->below.user, before + size, before);
    if (block == NULL) return NULL;
    memcpy(block + before - sizeof label, &label, sizeof label);
    const uint64_t live = atomic_fetch_add(&counting->live, size) + size;
    uint64_t peak = atomic_load(&counting->peak);
    while (peak < live && !atomic_compare_exchange_weak(&counting->peak, &peak, live)) continue;
    return block + before;
}

static void count_release(void *user, void *pointer) {
    struct nigh__counting_context *counting = user;
    struct label label;
    if (pointer == NULL) return;
    memcpy(&label, (uint8_t *)pointer - sizeof label, sizeof label);
    (void)atomic_fetch_sub(&counting->live, label.size);
    counting->below.release(counting->below.user, (uint8_t *)pointer - label.before);
}

nigh_status nigh__counting_context_init(struct nigh__counting_context *counting, const nigh_context *like,
                                        nigh_error *error) {
    const nigh_allocator allocator = {counting, count_allocate, count_release};
    *counting = (struct nigh__counting_context){.below = like->allocator};
    nigh_context *copy = nigh__allocator_get(&allocator, sizeof *copy, sizeof(void *));
    if (copy == NULL) return nigh__no_memory(error, "for a context");
    *copy = *like;
    copy->allocator = allocator;
    if (like->files == &like->older_files) copy->files = &copy->older_files;
    counting->context = copy;
    return NIGH_OK;
}

void nigh__counting_context_release(struct nigh__counting_context *counting) {
    if (counting->context != NULL) count_release(counting, counting->context);
    counting->context = NULL;
}
