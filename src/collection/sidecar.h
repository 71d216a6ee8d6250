/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files beside a segment, with what can be made from it anew: slice lists, a graph, columns, tables.
 *
 *     segment-00000000000000000007     documents and signatures, the truth
 *     slices-00000000000000000007      lists of its signatures, derived
 *     graph-00000000000000000007       neighbours of its signatures, derived
 *     columns-00000000000000000007     its signatures on their side, derived
 *     tables-00000000000000000007      tables of its near-copies, derived
 *
 * A sidecar is not part of the state that a manifest names. It says which segment it belongs to by
 * the checksum in that segment's header. If that does not fit, or the sidecar is damaged, it is as
 * if the segment had none. So a sidecar can be added, made again with other parameters, or removed
 * at any time, and no document is ever copied or put at risk for it.
 *
 *     0   header, 64 bytes
 *    64   section table, 48 bytes an entry, zeros up to 4096
 *  4096   sections, each beginning at a multiple of 64, zeros between them
 * L - 64  footer, 64 bytes, as of a segment
 *
 * It is written as "slices-N.tmp", synced and renamed.  docs/format.md has every byte.
 */
#ifndef NIGH_COLLECTION_SIDECAR_H
#define NIGH_COLLECTION_SIDECAR_H

#include "base/file.h"
#include "base/progress.h"
#include "collection/extensions.h"
#include "collection/format.h"
#include "collection/segment.h"

#define NIGH__SIDECAR_MAGIC "\x89NIGHX\r\n"
#define NIGH__SIDECAR_SECTIONS 16u /* at most */

struct nigh__sidecar_header {
    uint8_t magic[NIGH__MAGIC_SIZE]; /*  0 */
    uint32_t version;                /*  8 */
    uint32_t endian_mark;            /* 12 */
    uint32_t compatible;             /* 16 */
    uint32_t incompatible;           /* 20 */
    uint64_t file_length;            /* 24 */
    uint64_t segment_checksum;       /* 32  at offset 56 of the segment it belongs to */
    uint32_t kind;                   /* 40  its number */
    uint32_t parameter;     /* 44  slices of slice lists; of a graph, the most edges of a node; of columns, rows of a
                               super-block; of tables, how many there are */
    uint32_t section_count; /* 48 */
    uint32_t zero;          /* 52 */
    uint64_t checksum;      /* 56  of bytes 0..55 and the table */
};

_Static_assert(sizeof(struct nigh__sidecar_header) == 64, "format");

struct nigh__sidecar {
    const nigh_context *context;
    char *path; /* for errors; owned */
    const uint8_t *map;
    uint64_t length;
    bool loaded;                        /* `map` is memory of our own (collection/loading.h) */
    bool known;                         /* a state before this one has been using the map */
    struct nigh__map_users *users;      /* of the map; owned; NULL where it is loaded */
    struct nigh__sidecar_header header; /* checked, and out of anyone's reach */
    struct nigh__section_entry table[NIGH__SIDECAR_SECTIONS];
};

/*
 * Opens the sidecar of a segment: header, table and footer are checked, sections are not
 * read.  NIGH_ENOTFOUND, without a detail, where there is none; NIGH_EMISMATCH where it
 * belongs to another segment.
 */
nigh_status nigh__sidecar_open(const struct nigh__file *directory, const struct nigh__segment *segment,
                               const struct nigh__sidecar_kind *kind, struct nigh__sidecar **out, nigh_error *error);
/* The same under a number that is not the segment's; one that is not there is then told as any other failure. */
nigh_status nigh__sidecar_open_numbered(const struct nigh__file *directory, const struct nigh__segment *segment,
                                        const struct nigh__sidecar_kind *kind, uint64_t number,
                                        struct nigh__sidecar **out, nigh_error *error);
void nigh__sidecar_close(struct nigh__sidecar *sidecar); /* accepts NULL */
/*
 * The same sidecar for one more, where the file of the segment's number still is the one that `before` has open, by
 * its header, whose checksum is of the checksums of all in it.  False: it is not, or there is no memory; then it is to
 * be opened as any other.
 */
bool nigh__sidecar_again(const struct nigh__file *directory, const struct nigh__segment *segment,
                         const struct nigh__sidecar_kind *kind, const struct nigh__sidecar *before,
                         struct nigh__sidecar **out);

/* A section of exactly `count` items, inside the map; NULL with the error where it is not there or of another size. */
const void *nigh__sidecar_section(const struct nigh__sidecar *sidecar, uint32_t type, uint64_t count, size_t item_size,
                                  nigh_error *error);

/* Copies a section of one item, so that it can be compared and used: the map may change. */
nigh_status nigh__sidecar_copy(const struct nigh__sidecar *sidecar, uint32_t type, void *out, size_t item_size,
                               nigh_error *error);

/* How many items a section says it has; 0 where it is not there. */
uint64_t nigh__sidecar_section_count(const struct nigh__sidecar *sidecar, uint32_t type);

/* Errors: for a fault inside a guard, and for a number in a section that cannot be right. */
nigh_status nigh__sidecar_cut(const struct nigh__sidecar *sidecar, nigh_error *error);
nigh_status nigh__sidecar_corrupt(const struct nigh__sidecar *sidecar, uint32_t type, uint64_t index, size_t item_size,
                                  const char *why, nigh_error *error);

/*
 * Calls body(user, error) inside guards (base/guard.h) for a segment and for what stands beside it: either file may be
 * cut short under us, and the error says which was.
 */
nigh_status nigh__sidecar_guarded(const struct nigh__segment *segment, const struct nigh__sidecar *sidecar,
                                  nigh_status (*body)(void *user, nigh_error *error), void *user, nigh_error *error);

/* Compares the checksums of all sections, and the gaps with zero. */
nigh_status nigh__sidecar_check_sums(const struct nigh__sidecar *sidecar, struct nigh__progress *progress,
                                     nigh_error *error);

/* A section held against what it should be, some bytes at a time. */
struct nigh__sidecar_comparison {
    const struct nigh__sidecar *sidecar;
    uint32_t type;       /* of the section */
    const uint8_t *held; /* its bytes */
    uint64_t done;
    const char *why; /* it is wrong where they differ */
};
nigh_status nigh__sidecar_compare(struct nigh__sidecar_comparison *comparison, const uint8_t *bytes, size_t length,
                                  nigh_error *error);

/* ---------------------------------------------------------------- writing */

struct nigh__sidecar_writer; /* opaque */

/* The directory is locked by the caller (nigh__directory_lock) and outlives the writer. */
nigh_status nigh__sidecar_writer_open(const struct nigh__file *directory, const struct nigh__segment *segment,
                                      const struct nigh__sidecar_kind *kind, uint32_t parameter,
                                      struct nigh__sidecar_writer **out, nigh_error *error);
/* The same for a file under a number of its own. */
nigh_status nigh__sidecar_writer_open_numbered(const struct nigh__file *directory, const struct nigh__segment *segment,
                                               const struct nigh__sidecar_kind *kind, uint64_t number,
                                               uint32_t parameter, struct nigh__sidecar_writer **out,
                                               nigh_error *error);
/* Sections one after the other, each in as many pieces as one likes. */
nigh_status nigh__sidecar_section_begin(struct nigh__sidecar_writer *writer, uint32_t type, nigh_error *error);
nigh_status nigh__sidecar_section_add(struct nigh__sidecar_writer *writer, const void *bytes, size_t length,
                                      nigh_error *error);
nigh_status nigh__sidecar_section_end(struct nigh__sidecar_writer *writer, uint64_t count, nigh_error *error);
/* Writes the rest and syncs the file, which is whole then but for its name.  *length is that of the file. */
nigh_status nigh__sidecar_writer_finish(struct nigh__sidecar_writer *writer, uint64_t *length, nigh_error *error);
/* Its header, once it is finished. */
const struct nigh__sidecar_header *nigh__sidecar_writer_header(const struct nigh__sidecar_writer *writer);
void nigh__sidecar_writer_close(struct nigh__sidecar_writer *writer); /* removes what is not finished; accepts NULL */

/* Gives one that is finished its name, in place of what had it.  Safe once the directory is synced. */
nigh_status nigh__sidecar_publish(const struct nigh__file *directory, uint64_t segment,
                                  const struct nigh__sidecar_kind *kind, nigh_error *error);
/* Or gives it up. */
void nigh__sidecar_discard(const struct nigh__file *directory, uint64_t segment, const struct nigh__sidecar_kind *kind);

/* Removes the sidecar of a segment, where there is one.  Safe once the directory is synced. */
nigh_status nigh__sidecar_remove(const struct nigh__file *directory, uint64_t segment,
                                 const struct nigh__sidecar_kind *kind, nigh_error *error);

#endif
