/* SPDX-License-Identifier: Apache-2.0 */
/* Memory comes from the context's allocator, and sizes are multiplied here, with care. */
#ifndef NIGH_BASE_MEMORY_H
#define NIGH_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"

#define NIGH__CACHE_LINE 64

/* count * size bytes, aligned to 16, not cleared; NULL where it overflows or there is none.  0 bytes give 1. */
void *nigh__alloc(const nigh_context *context, size_t count, size_t size);
/* The same, all zero. */
void *nigh__alloc_zero(const nigh_context *context, size_t count, size_t size);
/* The same as nigh__alloc, aligned to a power of two. */
void *nigh__alloc_aligned(const nigh_context *context, size_t count, size_t size, size_t alignment);
/*
 * All zero, for tables that are read here and there: aligned to cache lines, and
 * large ones to huge pages, which are asked for: a 16 MB table of small pages
 * misses the processor's memory of addresses with every step.
 */
void *nigh__alloc_table(const nigh_context *context, size_t count, size_t size);
/* The same, not cleared. */
void *nigh__alloc_large(const nigh_context *context, size_t count, size_t size);
void nigh__free(const nigh_context *context, void *pointer); /* accepts NULL */
char *nigh__string_copy(const nigh_context *context, const char *text);

/* What work may take where nobody says how much: half of what the machine has. */
uint64_t nigh__memory_usual(void);

/* Uses an allocator before there is a context. */
void *nigh__allocator_get(const nigh_allocator *allocator, size_t size, size_t alignment);
extern const nigh_allocator nigh__allocator_libc;

/*
 * A growing array of fixed-size items.  `data` moves when it grows.
 *
 *     struct nigh__array rows = NIGH__ARRAY(uint32_t);
 *     uint32_t *slot = nigh__array_add(context, &rows, 1);   NULL: out of memory
 */
struct nigh__array {
    void *data;
    size_t count;
    size_t capacity;
    size_t item_size;
};

#define NIGH__ARRAY(type) \
    { .item_size = sizeof(type) }

/* Room for `extra` more items, counted in; returns the first new one (not cleared) or NULL. */
void *nigh__array_add(const nigh_context *context, struct nigh__array *array, size_t extra);
/* Room for `count` items instead of those that were in it; otherwise the same. */
static inline void *nigh__array_room(const nigh_context *context, struct nigh__array *array, size_t count) {
    array->count = 0;
    return nigh__array_add(context, array, count);
}
void nigh__array_release(const nigh_context *context, struct nigh__array *array);
/* Adds bytes to an array of them; false: out of memory. */
bool nigh__bytes_append(const nigh_context *context, struct nigh__array *array, const void *bytes, size_t length);

#endif
