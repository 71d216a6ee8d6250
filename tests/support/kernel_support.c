/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "support/kernel_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

void arena_init(struct arena *arena, size_t bytes, struct nigh__rng *rng) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    arena->mapped = (bytes + page - 1) / page * page + page;
    arena->start = mmap(NULL, arena->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(arena->start != MAP_FAILED);
    arena->end = arena->start + arena->mapped - page;
    for (uint8_t *at = arena->start; at < arena->end; at += 8) {
        uint64_t word = nigh__rng_next(rng);
        memcpy(at, &word, 8);
    }
    assert_int_equal(mprotect(arena->end, page, PROT_NONE), 0);
}

void arena_release(struct arena *arena) { (void)munmap(arena->start, arena->mapped); }

uint64_t *arena_words(const struct arena *arena, size_t count) {
    return (uint64_t *)(void *)(arena->end - count * sizeof(uint64_t));
}

void *allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    if (memory == NULL) abort();
    return memory;
}

size_t next_words(size_t words) {
    if (words < 70) return words + 1;
    return words < 128 ? 128 : words * 2;
}

uint32_t pick_limit(struct nigh__rng *rng, const uint32_t *distances, size_t count) {
    uint64_t choice = nigh__rng_next(rng) % 8;
    if (choice == 0 || count == 0) return UINT32_MAX;
    if (choice == 1) return 0;
    return distances[nigh__rng_next(rng) % count] + (uint32_t)(choice % 2);
}

void check_hits(const struct expected_hits *want, const struct nigh__hit *hits, size_t found) {
    size_t next[NIGH__BATCH_QUERIES] = {0};
    for (size_t h = 0; h < found; h++) {
        const uint32_t q = hits[h].query;
        assert_true(q < want->query_count);
        const uint32_t *of_query = want->distances + q * want->count;
        while (next[q] < want->count && of_query[next[q]] >= want->limits[q]) next[q]++;
        if (next[q] == want->count || hits[h].row != next[q] || hits[h].distance != of_query[next[q]])
            fail_msg("%s: %zu words, %zu rows, %zu queries: query %u got row %u at %u", want->kernel, want->words,
                     want->count, want->query_count, q, hits[h].row, hits[h].distance);
        next[q]++;
    }
    for (size_t q = 0; q < want->query_count; q++) {
        for (; next[q] < want->count; next[q]++) {
            if (want->distances[q * want->count + next[q]] < want->limits[q])
                fail_msg("%s: %zu words, %zu rows, %zu queries: query %zu misses row %zu", want->kernel, want->words,
                         want->count, want->query_count, q, next[q]);
        }
    }
}
