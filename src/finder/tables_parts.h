/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of permuted tables: what tables.c builds and tables_find.c reads. tables.c draws it. */
#ifndef NIGH_FINDER_TABLES_PARTS_H
#define NIGH_FINDER_TABLES_PARTS_H

#include "finder/tables.h"

#define NIGH__MAX_FIELDS (2 * NIGH__MAX_BLOCKS) /* of a block at most 32 bits count: two words */

/* Some bits of one word of a row, and where they go in the number of a bucket. */
struct nigh__bit_field {
    uint32_t word;
    uint32_t right;
    uint32_t mask; /* after moving right */
    uint32_t left;
};

struct nigh__table {
    const uint32_t *starts; /* rows of bucket b are from starts[b] to before starts[b + 1] */
    const uint32_t *keys;
    const uint32_t *numbers;
    uint32_t *own; /* the memory that these are in; NULL: somebody else's */
    uint32_t field_count;
    struct nigh__bit_field fields[NIGH__MAX_FIELDS];
};

struct nigh__tables {
    const nigh_context *context;
    struct nigh__lookup_rows rows;
    struct nigh__table_layout layout;
    uint32_t index_bits;
    uint32_t count;
    struct nigh__table tables[];
};

/* The key of a row. */
static inline uint32_t nigh__row_fold(const uint64_t *row, uint32_t words) {
    uint64_t all = row[0];
    for (uint32_t w = 1; w < words; w++) all ^= row[w];
    return (uint32_t)(all ^ all >> 32);
}

static inline uint32_t nigh__row_bucket(const struct nigh__table *table, const uint64_t *row) {
    uint32_t bucket = 0;
    for (uint32_t f = 0; f < table->field_count; f++) {
        const struct nigh__bit_field *field = &table->fields[f];
        bucket |= ((uint32_t)(row[field->word] >> field->right) & field->mask) << field->left;
    }
    return bucket;
}

#endif
