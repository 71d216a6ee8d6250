/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE
/* Allocation through the context, with overflow checked in one place. */
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/bytes.h"

#define DEFAULT_ALIGNMENT 16
#define HUGE_PAGE ((size_t)2 << 20)
#define MEMORY_UNKNOWN (UINT64_C(1) << 30)

static void *libc_allocate(void *user, size_t size, size_t alignment) {
    (void)user;
    if (alignment <= DEFAULT_ALIGNMENT) return malloc(size);
    if (size > SIZE_MAX - alignment) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) & ~(alignment - 1));
}

static void libc_release(void *user, void *pointer) {
    (void)user;
    free(pointer);
}

const nigh_allocator nigh__allocator_libc = {.allocate = libc_allocate, .release = libc_release};

void *nigh__allocator_get(const nigh_allocator *allocator, size_t size, size_t alignment) {
    return allocator->allocate(allocator->user, size, alignment);
}

void *nigh__alloc_aligned(const nigh_context *context, size_t count, size_t size, size_t alignment) {
    size_t bytes;
    NIGH__ASSERT(alignment != 0 && (alignment & (alignment - 1)) == 0);
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    return nigh__allocator_get(&context->allocator, bytes == 0 ? 1 : bytes, alignment);
}

void *nigh__alloc(const nigh_context *context, size_t count, size_t size) {
    return nigh__alloc_aligned(context, count, size, DEFAULT_ALIGNMENT);
}

void *nigh__alloc_zero(const nigh_context *context, size_t count, size_t size) {
    void *pointer = nigh__alloc(context, count, size);
    if (pointer != NULL) memset(pointer, 0, count * size);
    return pointer;
}

/* Only advice: memory that cannot be had in huge pages is as good, but slower. */
static void advise_huge(void *pointer, size_t bytes) {
#ifdef MADV_HUGEPAGE
    (void)madvise(pointer, bytes & ~(HUGE_PAGE - 1), MADV_HUGEPAGE);
#else
    (void)pointer;
    (void)bytes;
#endif
}

void *nigh__alloc_large(const nigh_context *context, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return NULL;
    const bool huge = bytes >= HUGE_PAGE;
    void *pointer = nigh__alloc_aligned(context, bytes, 1, huge ? HUGE_PAGE : NIGH__CACHE_LINE);
    if (pointer != NULL && huge) advise_huge(pointer, bytes);
    return pointer;
}

void *nigh__alloc_table(const nigh_context *context, size_t count, size_t size) {
    void *pointer = nigh__alloc_large(context, count, size);
    if (pointer != NULL) memset(pointer, 0, count * size);
    return pointer;
}

void nigh__free(const nigh_context *context, void *pointer) {
    if (pointer != NULL) context->allocator.release(context->allocator.user, pointer);
}

char *nigh__string_copy(const nigh_context *context, const char *text) {
    size_t size = strlen(text) + 1;
    char *copy = nigh__alloc(context, size, 1);
    if (copy != NULL) memcpy(copy, text, size);
    return copy;
}

uint64_t nigh__memory_usual(void) {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    if (pages <= 0 || page <= 0) return MEMORY_UNKNOWN;
    return (uint64_t)pages * (uint64_t)page / 2;
}

/* At least doubles, so that n additions move 2n items at most; huge pages spare large ones most of the faults. */
static bool array_grow(const nigh_context *context, struct nigh__array *array, size_t needed) {
    size_t capacity = array->capacity < 16 ? 16 : array->capacity;
    while (capacity < needed) {
        if (capacity > SIZE_MAX / 2) return false;
        capacity *= 2;
    }
    const bool large = capacity >= HUGE_PAGE / array->item_size;
    void *data = (large ? nigh__alloc_large : nigh__alloc)(context, capacity, array->item_size);
    if (data == NULL) return false;
    if (array->data != NULL) memcpy(data, array->data, array->count * array->item_size);
    nigh__free(context, array->data);
    array->data = data;
    array->capacity = capacity;
    return true;
}

void *nigh__array_add(const nigh_context *context, struct nigh__array *array, size_t extra) {
    NIGH__ASSERT(array->item_size > 0 && array->count <= array->capacity);
    if (extra > SIZE_MAX - array->count) return NULL;
    size_t needed = array->count + extra;
    if ((needed > array->capacity || array->data == NULL) && !array_grow(context, array, needed)) return NULL;
    void *slot = (unsigned char *)array->data + array->count * array->item_size;
    array->count = needed;
    return slot;
}

void nigh__array_release(const nigh_context *context, struct nigh__array *array) {
    nigh__free(context, array->data);
    array->data = NULL;
    array->count = 0;
    array->capacity = 0;
}

bool nigh__bytes_append(const nigh_context *context, struct nigh__array *array, const void *bytes, size_t length) {
    if (length == 0) return true;
    void *place = nigh__array_add(context, array, length);
    if (place != NULL) memcpy(place, bytes, length);
    return place != NULL;
}
