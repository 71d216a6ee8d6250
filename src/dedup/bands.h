/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of all documents, band by band.  bands.c says how. */
#ifndef NIGH_DEDUP_BANDS_H
#define NIGH_DEDUP_BANDS_H

#include "base/file.h"
#include "base/memory.h"

/* Documents of a block. */
#define NIGH__BANDS_BLOCK 4096u
/* So many documents, or fewer, have keys of 32 bits; bands.c says why. */
#define NIGH__BANDS_NARROW (UINT64_C(1) << 26)

struct nigh__bands {
    const nigh_context *context;
    const char *temporary;     /* a folder */
    uint32_t count;            /* of bands */
    uint32_t used;             /* documents in the last block */
    uint64_t documents;        /* in all */
    uint64_t end;              /* past the last of their numbers */
    uint64_t narrow_blocks;    /* the first of all, whose keys are of 32 bits */
    uint64_t memory_left;      /* bytes, for blocks */
    struct nigh__array blocks; /* of uint32_t *, each owned: those in memory */
    struct nigh__file file;
    uint64_t file_blocks;
};

/* A thread's room for what is read from the file. */
struct nigh__strip {
    const uint64_t *documents; /* ascending */
    const uint32_t *keys;      /* the high halves */
    const uint32_t *low_keys;  /* NULL: not known */
    size_t count;
    uint64_t document_room[NIGH__BANDS_BLOCK];
    uint32_t key_room[2][NIGH__BANDS_BLOCK];
};

void nigh__bands_init(const nigh_context *context, uint32_t bands, uint64_t memory_bytes, const char *temporary,
                      uint64_t narrow_documents, struct nigh__bands *out);
void nigh__bands_release(struct nigh__bands *bands);

/* The keys of a document, as they were made; documents come ascending. */
nigh_status nigh__bands_add(struct nigh__bands *bands, uint64_t document, const uint8_t *keys, nigh_error *error);

/* Of one band, the keys of a block of documents; the blocks are numbered from 0.  From any thread. */
uint64_t nigh__bands_blocks(const struct nigh__bands *bands);
nigh_status nigh__bands_read(const struct nigh__bands *bands, uint32_t band, uint64_t block, struct nigh__strip *out,
                             nigh_error *error);

/* Whether a key is more than its high half for some documents. */
bool nigh__bands_are_wide(const struct nigh__bands *bands);

uint64_t nigh__bands_disk_bytes(const struct nigh__bands *bands);

#endif
