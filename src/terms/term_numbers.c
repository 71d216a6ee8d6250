/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most three quarters full. */
#include "terms/term_numbers.h"

#include "base/assert.h"
#include "base/bytes.h"
#include "base/secret.h"

#define FIRST_BITS 10
#define AHEAD 16u

void nigh__term_numbers_init(const nigh_context *context, struct nigh__term_numbers *out) {
    *out = (struct nigh__term_numbers){.context = context, .secret = nigh__secret() | 1, .shift = 63};
}

void nigh__term_numbers_release(struct nigh__term_numbers *numbers) {
    if (numbers->context == NULL) return;
    nigh__free(numbers->context, numbers->cells);
    nigh__term_numbers_init(numbers->context, numbers);
}

/* The first bits of the product: on these alone all bits of the hash and of the secret have a say. */
static size_t place_of(const struct nigh__term_numbers *numbers, uint64_t hash) {
    return (size_t)((hash * numbers->secret) >> numbers->shift);
}

static struct nigh__term_cell *find_cell(const struct nigh__term_numbers *numbers, uint64_t hash) {
    NIGH__ASSERT(numbers->terms < numbers->cell_count); /* so there is a free cell */
    size_t at = place_of(numbers, hash);
    while (numbers->cells[at].frequency > 0 && numbers->cells[at].hash != hash)
        at = (at + 1) & (numbers->cell_count - 1);
    return &numbers->cells[at];
}

static unsigned bits_for(const struct nigh__term_numbers *numbers, size_t more) {
    unsigned bits = FIRST_BITS;
    while (((uint64_t)1 << bits) / 4 * 3 < (uint64_t)numbers->terms + more) bits++;
    return bits;
}

uint64_t nigh__term_numbers_bytes(const struct nigh__term_numbers *numbers, size_t more) {
    const uint64_t cells = (uint64_t)1 << bits_for(numbers, more);
    return (cells > numbers->cell_count ? cells : numbers->cell_count) * sizeof *numbers->cells;
}

bool nigh__term_numbers_reserve(struct nigh__term_numbers *numbers, size_t more) {
    const unsigned bits = bits_for(numbers, more);
    const size_t wanted = (size_t)1 << bits;
    if (wanted <= numbers->cell_count) return true;
    struct nigh__term_cell *const old = numbers->cells;
    const size_t old_count = numbers->cell_count;
    struct nigh__term_cell *cells = nigh__alloc_table(numbers->context, wanted, sizeof *cells);
    if (cells == NULL) return false;
    numbers->cells = cells;
    numbers->cell_count = wanted;
    numbers->shift = 64 - bits;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].frequency > 0) *find_cell(numbers, old[i].hash) = old[i];
    nigh__free(numbers->context, old);
    return true;
}

void nigh__term_numbers_add(struct nigh__term_numbers *numbers, const uint8_t *hashes, size_t count, uint32_t *out) {
    for (size_t i = 0; i < count; i++) {
        if (i + AHEAD < count)
            __builtin_prefetch(&numbers->cells[place_of(numbers, nigh__load64(hashes + (i + AHEAD) * 8))], 1);
        const uint64_t hash = nigh__load64(hashes + i * 8);
        struct nigh__term_cell *cell = find_cell(numbers, hash);
        if (cell->frequency == 0) *cell = (struct nigh__term_cell){.hash = hash, .number = numbers->terms++};
        cell->frequency++;
        out[i] = cell->number;
    }
}

uint32_t nigh__term_numbers_find(const struct nigh__term_numbers *numbers, uint64_t hash) {
    if (numbers->cell_count == 0) return UINT32_MAX;
    const struct nigh__term_cell *cell = find_cell(numbers, hash);
    return cell->frequency > 0 ? cell->number : UINT32_MAX;
}

void nigh__term_numbers_list(const struct nigh__term_numbers *numbers, uint64_t *hashes, uint32_t *frequencies) {
    for (size_t i = 0; i < numbers->cell_count; i++) {
        const struct nigh__term_cell *cell = &numbers->cells[i];
        if (cell->frequency == 0) continue;
        hashes[cell->number] = cell->hash;
        frequencies[cell->number] = cell->frequency;
    }
}
