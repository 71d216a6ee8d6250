/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What segments and sidecars have in common: a header of 64 bytes, a table, sections
 * that begin at multiples of 64 with zeros between them, and a footer.  Both headers
 * have the file's length at 24 and the checksum of header and table at 56; what else is
 * in them is up to their kind.
 */
#ifndef NIGH_COLLECTION_SECTIONS_H
#define NIGH_COLLECTION_SECTIONS_H

#include "base/file.h"
#include "base/progress.h"
#include "collection/format.h"

#define NIGH__TABLE_AT sizeof(struct nigh__segment_header)

/* ----------------------------------------------------------------- reading */

/* The length in the header against that of the file. */
nigh_status nigh__sections_length_check(const char *path, uint64_t length, uint64_t in_header, nigh_error *error);

/* The checksum at 56 of a header against its bytes and those of the table. */
nigh_status nigh__sections_head_check(const struct nigh__file *file, const void *header,
                                      const struct nigh__section_entry *table, uint32_t count, nigh_error *error);

/* Entry `index` of a table: where its section lies.  `end` is where the one before it ended, and is moved on. */
nigh_status nigh__sections_place_check(const char *path, const struct nigh__section_entry *entry, uint32_t index,
                                       uint64_t file_length, uint64_t *end, nigh_error *error);

/* Reads the footer and holds it against the header. */
nigh_status nigh__sections_footer_check(const struct nigh__file *file, uint64_t file_length, uint64_t header_checksum,
                                        nigh_error *error);

/* ---------------------------------------------------------------- checking */

/* An open file that passed the above. */
struct nigh__sections {
    const nigh_context *context;
    const char *path;
    const uint8_t *map;
    uint64_t length;
    const struct nigh__section_entry *table;
    uint32_t count;
};

/* The error for a fault inside a guard. */
nigh_status nigh__sections_cut(const char *path, nigh_error *error);
/* Reads every section and compares its checksum. */
nigh_status nigh__sections_check_sums(const struct nigh__sections *sections, struct nigh__progress *progress,
                                      nigh_error *error);
/* What lies between the parts is zero, so that no byte of the file is without a check. */
nigh_status nigh__sections_check_gaps(const struct nigh__sections *sections, nigh_error *error);

/* ----------------------------------------------------------------- writing */

/* Writes front to back but for header and table, which come last. */
struct nigh__section_writer {
    const nigh_context *context;
    struct nigh__output output; /* whoever writes a section adds its bytes here */
    struct nigh__hasher *hasher;
    struct nigh__section_entry table[NIGH__MAX_SECTIONS];
    uint32_t count;
};

/* The file is open, empty, and outlives the writer.  To be released, also after a failure. */
nigh_status nigh__section_writer_init(const nigh_context *context, struct nigh__file *file,
                                      struct nigh__section_writer *out, nigh_error *error);
nigh_status nigh__section_begin(struct nigh__section_writer *writer, uint32_t type, nigh_error *error);
void nigh__section_end(struct nigh__section_writer *writer, uint64_t count);
/* A whole section of items that are in memory. */
nigh_status nigh__section_write(struct nigh__section_writer *writer, uint32_t type, const void *items, uint64_t count,
                                size_t item_size, nigh_error *error);
/* Footer, header and table.  The 64 bytes of the header get their length at 24 and their checksum at 56. */
nigh_status nigh__section_writer_finish(struct nigh__section_writer *writer, void *header, nigh_error *error);
void nigh__section_writer_release(struct nigh__section_writer *writer); /* a struct of zeros is fine */

#endif
