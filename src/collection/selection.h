/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Some documents of a segment: those that live, or those among which a search looks.
 *
 * A row counts if one of its documents counts. Rows are in the order of their first documents, which makes ties come
 * out right (search/search.c). A selection can disturb this order: if the first document of a row does not count but a
 * later one does, the row belongs behind others that it stands before.
 *
 *     row      0: documents 0, 5     1: document 1     2: document 2          document 0 is deleted
 *     order    1, 2, 0
 *
 * So there are two kinds of rows. Those whose first document counts are in order among themselves, and every method
 * searches them as if there were no others. The few displaced ones are compared one by one, whatever the method.
 */
#ifndef NIGH_COLLECTION_SELECTION_H
#define NIGH_COLLECTION_SELECTION_H

#include "collection/segment.h"

struct nigh__selection {
    const nigh_context *context;
    _Atomic uint32_t users;  /* it goes with the last of them; nobody changes it */
    uint64_t *documents;     /* a bit for each that counts; none past the last */
    uint64_t *rows;          /* a bit for each row whose first document counts */
    uint32_t *displaced;     /* rows whose first does not and a later one does, in the order of the first that does */
    uint32_t document_count; /* that count */
    uint32_t row_count;      /* of `rows` */
    uint32_t displaced_count;
};

/* Words of a bitmap. */
static inline size_t nigh__bitmap_words(uint64_t bits) { return (size_t)((bits + 63) / 64); }
static inline bool nigh__bitmap_has(const uint64_t *bitmap, uint64_t bit) {
    return (bitmap[bit / 64] >> bit % 64 & 1) != 0;
}
static inline void nigh__bitmap_remove(uint64_t *bitmap, uint64_t bit) {
    bitmap[bit / 64] &= ~(UINT64_C(1) << bit % 64);
}
static inline void nigh__bitmap_add(uint64_t *bitmap, uint64_t bit) { bitmap[bit / 64] |= UINT64_C(1) << bit % 64; }
uint64_t nigh__bitmap_count(const uint64_t *bitmap, uint64_t bits);
/* One of `bits` ones, and zeros up to the end of the last word; NULL: no memory. */
uint64_t *nigh__bitmap_full(const nigh_context *context, uint64_t bits);

/* Whether a document of a segment, or of a row of it, counts.  A selection of NULL is of all. */
static inline bool nigh__selection_has(const struct nigh__selection *selection, uint32_t document) {
    return selection == NULL || nigh__bitmap_has(selection->documents, document);
}

/*
 * Of the documents in a bitmap, which it takes over, also where it fails.  Groups of rows are read as far as they
 * matter: NIGH_ECORRUPT where the segment lies.
 */
nigh_status nigh__selection_new(const struct nigh__segment *segment, uint64_t *documents, struct nigh__selection **out,
                                nigh_error *error);
struct nigh__selection *nigh__selection_join(struct nigh__selection *selection); /* for one more; accepts NULL */
void nigh__selection_free(struct nigh__selection *selection);                    /* accepts NULL */

#endif
