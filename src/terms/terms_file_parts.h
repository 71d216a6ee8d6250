/* SPDX-License-Identifier: Apache-2.0 */
/* What terms_file*.c, terms_write*.c and terms_check.c share: an open term signature file. */
#ifndef NIGH_TERMS_TERMS_FILE_PARTS_H
#define NIGH_TERMS_TERMS_FILE_PARTS_H

#include "base/bytes.h"
#include "base/file.h"
#include "collection/sections.h"
#include "terms/terms_file.h"
#include "terms/terms_format.h"

/* One part of a dictionary. */
struct nigh__terms_part {
    const uint64_t *hashes;
    const uint8_t *values; /* packed */
    uint64_t count;
    uint32_t values_a_term, bits_a_value;
};

struct nigh__terms_group_file {
    struct nigh__term_group shown;
    const nigh_context *context;
    uint64_t number;
    char *path; /* owned */
    struct nigh__terms_header header;
    struct nigh__section_entry table[NIGH__MAX_SECTIONS];
    struct nigh__section_entry sections[NIGH__TERMS_SECTIONS]; /* by type */
    char *lines;                                               /* owned */
    struct nigh__terms_figures figures;
    struct nigh__term_input *inputs; /* owned, as are their paths */
    char *input_bytes;
    nigh_text_reader_options reading;
    char *reading_bytes;        /* owned: its keys are there */
    const char **reading_lists; /* owned: its lists are there */
    const uint64_t *records, *id_offsets, *source_offsets;
    const uint32_t *sources;
    struct nigh__terms_part parts[3]; /* by enum nigh__term_kind */
};

struct nigh_terms {
    const nigh_context *context;
    char *path; /* owned */
    struct nigh__filter_shape shape;
    struct nigh__feature_plan plan;
    uint32_t block_terms;
    char analysis[256]; /* lines */
    struct nigh__terms_group_file **groups;
    uint32_t group_count;
    uint64_t documents, blocks;
    uint64_t sequence, next_number, damaged_manifests;
};

/* ------------------------------------------------------------ the lines */

/* Owned by the caller. */
nigh_status nigh__terms_lines_make(const nigh_context *context, const struct nigh__filter_shape *shape,
                                   const struct nigh__feature_plan *plan, uint32_t block_terms, char **out,
                                   nigh_error *error);
/* NIGH_ECORRUPT, NIGH_EVERSION; `path` and `offset` are for the error. */
nigh_status nigh__terms_lines_read(const nigh_context *context, const char *lines, const char *path, uint64_t offset,
                                   struct nigh_terms *out, nigh_error *error);

/* --------------------------------------------------------------- groups */

/* `wanted` NULL: any file that is a group.  Header, table, footer, lines, figures and inputs are checked. */
nigh_status nigh__terms_group_open(const struct nigh__file *directory, const char *name, uint64_t number,
                                   const struct nigh__manifest_entry *wanted, struct nigh__terms_group_file **out,
                                   nigh_error *error);
void nigh__terms_group_close(struct nigh__terms_group_file *group); /* accepts NULL */
nigh_status nigh__terms_cut(const struct nigh__terms_group_file *group, nigh_error *error);
nigh_status nigh__terms_corrupt(const struct nigh__terms_group_file *group, enum nigh__terms_section type,
                                uint64_t index, const char *why, nigh_error *error);

nigh_status nigh__terms_new(const nigh_context *context, const char *path, struct nigh_terms **out, nigh_error *error);
/* Makes a group one of the terms', which own it then; the first says shape and analysis. */
nigh_status nigh__terms_take(struct nigh_terms *terms, struct nigh__terms_group_file *group, nigh_error *error);
/* The newest state of a directory that is open.  `context` is that of the directory. */
nigh_status nigh__terms_open_in(const struct nigh__file *directory, struct nigh_terms **out, nigh_error *error);
nigh_status nigh__terms_group_check_sums(const struct nigh__terms_group_file *group, struct nigh__progress *progress,
                                         nigh_error *error);

/* --------------------------------------------------------------- packing */

/* Value `index` of packed ones; up to 7 bytes behind them are read. */
static inline uint32_t nigh__terms_unpack(const uint8_t *bytes, uint64_t index, uint32_t bits) {
    const uint64_t at = index * bits;
    return (uint32_t)(nigh__load64(bytes + at / 8) >> at % 8 & ((UINT64_C(1) << bits) - 1));
}

#endif
