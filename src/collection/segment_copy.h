/* SPDX-License-Identifier: Apache-2.0 */
/* Documents of a segment, whole, to be added to another. */
#ifndef NIGH_COLLECTION_SEGMENT_COPY_H
#define NIGH_COLLECTION_SEGMENT_COPY_H

#include "collection/segment.h"
#include "collection/segment_write.h"
#include "collection/texts.h"
#include "collection/values.h"

/* Room for one document after the other. */
struct nigh__segment_copier {
    const nigh_context *context;
    uint8_t *signature;          /* owned, as all that follows */
    uint8_t *mask;               /* as a signature */
    uint8_t *weights;            /* a byte a bit */
    struct nigh__array id;       /* of char */
    struct nigh__array metadata; /* of char */
    struct nigh__text_cache texts;
    struct nigh__array band_keys;             /* of uint32_t: those of a key block, NIGH__KEY_BLOCK a band */
    const struct nigh__segment *keys_segment; /* which block that is; NULL: none yet */
    uint32_t keys_block;
    uint32_t keys[NIGH_MAX_KEYS];                /* of the document at hand */
    const struct nigh__segment *columns_segment; /* whose columns are these; NULL: none yet */
    struct nigh__value_column columns[NIGH_MAX_KEEP_KEYS];
    nigh_value values[NIGH_MAX_KEEP_KEYS];              /* of the document at hand */
    struct nigh__array value_texts[NIGH_MAX_KEEP_KEYS]; /* of char: of these */
    uint32_t value_count;
};

nigh_status nigh__segment_copier_init(const nigh_context *context, uint32_t width_bits,
                                      struct nigh__segment_copier *out, nigh_error *error);
void nigh__segment_copier_release(struct nigh__segment_copier *copier);

/* Adds the living documents of `from`, in order.  *copied counts on. */
nigh_status nigh__segment_copy(struct nigh__segment_copier *copier, const struct nigh__segment *from,
                               struct nigh__segment_writer *to, struct nigh__progress *progress, uint64_t *copied,
                               uint64_t total, nigh_error *error);

#endif
