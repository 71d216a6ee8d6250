/* SPDX-License-Identifier: Apache-2.0 */
/* Min-wise hashes in bands, and the keys of all documents, band by band.  bands.c says how. */
#ifndef NIGH_DEDUP_BANDS_H
#define NIGH_DEDUP_BANDS_H

#include "base/file.h"
#include "base/memory.h"

#define NIGH__DEDUP_BITS 256u      /* min-wise hashes, and bits, of a document */
#define NIGH__DEDUP_MAX_BANDS 128u /* for each has two rows at least */

/* Documents of a block. */
#define NIGH__BANDS_BLOCK 4096u

struct nigh__bands {
    const nigh_context *context;
    const char *temporary;     /* a folder */
    uint32_t count;            /* of bands */
    uint32_t used;             /* documents in the last block */
    uint64_t documents;        /* in all */
    uint64_t most_blocks;      /* in memory */
    struct nigh__array blocks; /* of uint32_t *, each owned: those in memory */
    struct nigh__file file;
    uint64_t file_blocks;
};

/* A thread's room for what is read from the file. */
struct nigh__strip {
    const uint32_t *documents; /* ascending */
    const uint32_t *keys;
    size_t count;
    uint32_t room[2][NIGH__BANDS_BLOCK];
};

/* How many bands of how many rows find nearly all sets whose Jaccard index is the threshold. */
void nigh__bands_choose(double threshold, uint32_t *bands, uint32_t *rows);

/* A key for each band. */
void nigh__bands_make_keys(const uint32_t *minima, uint32_t bands, uint32_t rows, uint8_t *keys);

void nigh__bands_init(const nigh_context *context, uint32_t bands, uint64_t memory_bytes, const char *temporary,
                      struct nigh__bands *out);
void nigh__bands_release(struct nigh__bands *bands);

/* The keys of a document, as they were made; documents come ascending. */
nigh_status nigh__bands_add(struct nigh__bands *bands, uint32_t document, const uint8_t *keys, nigh_error *error);

/* Of one band, the keys of a block of documents; the blocks are numbered from 0.  From any thread. */
uint64_t nigh__bands_blocks(const struct nigh__bands *bands);
nigh_status nigh__bands_read(const struct nigh__bands *bands, uint32_t band, uint64_t block, struct nigh__strip *out,
                             nigh_error *error);

uint64_t nigh__bands_disk_bytes(const struct nigh__bands *bands);

#endif
