/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Term signature files on disk: a directory with the rules of collections (one manifest counts, files never
 * change, one rename is the commit), and a file for each group of blocks:
 *
 *     group    shape, analysis        what a query needs to know
 *              documents              ids, first blocks, sources and record numbers
 *              dictionary             terms that are new here: hashes, kinds, positions in ceil(log2 m) bits each
 *              rows                   m rows of ceil(blocks / 512) * 64 bytes: bit i of row p says whether
 *                                     the filter of block i has position p
 *
 * A query in a group takes the positions of a term from the group's own dictionary, or else from the
 * newest group before it that has positions for it; with neither, the term is nowhere in this group.
 * terms_format.h and docs/format.md have every byte.
 */
#ifndef NIGH_TERMS_TERMS_FILE_H
#define NIGH_TERMS_TERMS_FILE_H

#include "terms/positions.h"

/* An input as it was when it was read; a document's record number counts over all inputs of its group. */
enum nigh__term_input_kind {
    NIGH__INPUT_FILE = 0,
    NIGH__INPUT_FOLDER = 1,
    NIGH__INPUT_ONCE = 2 /* a stream, a pipe */
};
struct nigh__term_input {
    const char *path; /* absolute, where files are the system's; else as it was given */
    enum nigh__term_input_kind kind;
    uint32_t nanoseconds;
    uint64_t seconds, size; /* of a folder: size of all files, and no time; of what is read once: neither */
    uint64_t print;         /* of a folder: of names, sizes and times of the files in it */
};

/* A group, open.  What points into the map is checked for its place and size, not for its content. */
struct nigh__term_group {
    uint64_t first_document, first_block; /* of the groups before it, summed */
    uint32_t documents, blocks, terms;    /* terms: in its dictionary */
    uint64_t postings;
    uint64_t row_bytes;            /* of one row */
    const uint8_t *rows;           /* m of them */
    const uint32_t *first_blocks;  /* documents + 1; ascending if the file does not lie */
    bool every_document_one_block; /* then blocks and documents are the same but for those without a term */
    const uint8_t *last_blocks;    /* a row: which blocks are the last of their document, if the file does not lie */
    const struct nigh__term_input *inputs;
    uint32_t input_count;
    const nigh_text_reader_options *reading; /* keys, format and limits, with which they were read */
    /* For guards around reading the map, and for errors. */
    const char *path;
    const uint8_t *map;
    uint64_t map_length;
};

struct nigh_terms; /* opaque outside of terms_*.c: shape, groups, the directory */

const struct nigh__filter_shape *nigh__terms_shape(const nigh_terms *terms);
const struct nigh__feature_plan *nigh__terms_plan(const nigh_terms *terms);
const nigh_context *nigh__terms_context(const nigh_terms *terms);
const char *nigh__terms_path(const nigh_terms *terms); /* as it was opened by */
uint32_t nigh__terms_block_terms(const nigh_terms *terms);
uint32_t nigh__terms_groups(const nigh_terms *terms);
const struct nigh__term_group *nigh__terms_group(const nigh_terms *terms, uint32_t group);
/* The group of a document (of all groups), which is there. */
uint32_t nigh__terms_group_of(const nigh_terms *terms, uint64_t document);

/* Where a term is looked for in a group. */
struct nigh__term_place {
    enum nigh__term_kind kind;
    uint32_t count;                              /* of positions; 0 of a single one */
    uint32_t positions[NIGH__FILTER_MAX_HASHES]; /* sorted, without repeats */
    uint32_t block;                              /* of a single one: within the group */
};
/* False where the term is nowhere in the group.  NIGH_ECORRUPT where the file lies. */
nigh_status nigh__terms_find(const nigh_terms *terms, uint32_t group, uint64_t hash, bool *found,
                             struct nigh__term_place *out, nigh_error *error);

/*
 * The same for group 0, 1, 2, ... in this order, one dictionary looked up for each instead of all
 * before it:
 *
 *     struct nigh__term_walk walk = {.hash = hash};
 *     for each group: nigh__terms_walk(terms, group, &walk, &found, &place, error)
 */
struct nigh__term_walk {
    uint64_t hash;
    bool known; /* from a group before */
    struct nigh__term_place place;
};
nigh_status nigh__terms_walk(const nigh_terms *terms, uint32_t group, struct nigh__term_walk *walk, bool *found,
                             struct nigh__term_place *out, nigh_error *error);

/* The first block of a document of a group (of `documents`: the end), and the document of a block. */
nigh_status nigh__terms_first_block(const nigh_terms *terms, uint32_t group, uint32_t document, uint32_t *out,
                                    nigh_error *error);
nigh_status nigh__terms_document_of(const nigh_terms *terms, uint32_t group, uint32_t block, uint32_t *out,
                                    nigh_error *error);
/*
 * Where a document (of all groups) came from: the number of its record in all inputs of its group, and the source of
 * that (nigh_text.source), for messages; as nigh_terms_id() for buffer, capacity and length.
 */
nigh_status nigh__terms_origin(const nigh_terms *terms, uint64_t document, uint64_t *record, char *source,
                               size_t capacity, size_t *length, nigh_error *error);

/* ------------------------------------------------------------------- inputs */

/* What an input is kept by; owned by the caller. */
nigh_status nigh__term_input_path(const nigh_context *context, const char *path, char **out, nigh_error *error);
/* What inputs are now, read by complete options.  The paths are the caller's.  A path that is not there: as
 * nigh__path_look(). */
nigh_status nigh__term_inputs_look(const nigh_context *context, const char *const *paths, size_t count,
                                   const nigh_text_reader_options *reading, struct nigh__term_input *out,
                                   nigh_error *error);
/*
 * NIGH_ENOTFOUND where it is gone, NIGH_EMISMATCH where it is not what it was, or could be read once only: the error
 * names it.  A file of the system's that has become longer passes, and *grown is true.
 */
nigh_status nigh__term_input_check(const nigh_context *context, const struct nigh__term_input *input,
                                   const nigh_text_reader_options *reading, bool *grown, nigh_error *error);
/*
 * Whether an input lies below one of some folders, wherever links lead; count 0: below the folder that `path`, a term
 * signature file, is in.  NIGH_EMISMATCH where it does not.
 */
nigh_status nigh__term_input_allowed(const nigh_context *context, const char *path, const char *const *roots,
                                     size_t count, const struct nigh__term_input *input, nigh_error *error);

/* ------------------------------------------------------------------- writing */

struct nigh__terms_writer; /* opaque: locks the directory; nothing is visible before commit */

/* What a group says of itself beyond its blocks. */
struct nigh__terms_about {
    uint32_t block_terms;  /* most of a block, as was asked for */
    double expected_error; /* negative: not known */
    const struct nigh__term_input *inputs;
    size_t input_count;
    const nigh_text_reader_options *reading; /* NULL: as by default */
    uint64_t stripe_bytes;                   /* most for making rows; 0: as many as are of use */
};

nigh_status nigh__terms_writer_open(nigh_context *context, const char *path, struct nigh__terms_writer **out,
                                    nigh_error *error);
/* What is there, with the groups added so far; NULL: nothing yet.  The writer's. */
const nigh_terms *nigh__terms_writer_terms(const struct nigh__terms_writer *writer);
/* One group.  Rows are made here, 512 blocks at a time, so that they are in the cache while bits are set. */
nigh_status nigh__terms_writer_add(struct nigh__terms_writer *writer, const struct nigh__blocks *blocks,
                                   const struct nigh__positions *positions, const struct nigh__terms_about *about,
                                   uint32_t threads, struct nigh__progress *progress, nigh_error *error);
nigh_status nigh__terms_writer_commit(struct nigh__terms_writer *writer, struct nigh__progress *progress,
                                      nigh_error *error);
void nigh__terms_writer_close(struct nigh__terms_writer *writer); /* accepts NULL */

/* Positions of terms from the groups there are, for nigh__positions_make(); of `error` the first trouble. */
struct nigh__terms_knower {
    const nigh_terms *terms;
    nigh_error error; /* status NIGH_OK: none */
};
bool nigh__terms_known(void *knower, uint64_t hash, enum nigh__term_kind *kind, uint32_t *positions);

#endif
