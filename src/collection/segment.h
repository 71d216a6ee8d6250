/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A segment, open for reading.  Opening checks the header, the table and the
 * footer, and that every section lies inside the file; it reads no section but
 * the scheme.  What sections say about each other (a row number, an offset) is
 * therefore checked where it is used, by the functions below, each of which
 * reads a number once, compares it with its bound, and only then follows it.
 */
#ifndef NIGH_COLLECTION_SEGMENT_H
#define NIGH_COLLECTION_SEGMENT_H

#include <stdbool.h>

#include "base/file.h"
#include "base/limits.h"
#include "collection/attachment.h"
#include "collection/extensions.h"
#include "collection/format.h"
#include "collection/id_key.h"

struct nigh__sidecar;   /* collection/sidecar.h */
struct nigh__selection; /* collection/selection.h */

struct nigh__segment {
    const nigh_context *context;
    char *path; /* for errors; owned.  The file itself is closed: the mapping keeps it */
    const uint8_t *map;
    uint64_t length;
    bool loaded;                   /* `map` is memory of our own (collection/loading.h) */
    bool known;                    /* a state before this one has been using the map */
    struct nigh__map_users *users; /* of the map; owned; NULL where it is loaded */
    uint64_t number;
    uint64_t first_document;                /* number of its document 0 in the collection */
    uint32_t index;                         /* among the segments of the collection */
    struct nigh__deletions_entry deletions; /* as the manifest names them; all zero: none of its documents is deleted */
    struct nigh__selection *living;         /* owned; NULL: all of its documents are */

    /* As in the file, checked, and out of anyone's reach. */
    struct nigh__segment_header header;
    struct nigh__section_entry table[NIGH__MAX_SECTIONS];

    uint32_t documents;
    uint32_t signatures; /* distinct */
    uint32_t width_bits;
    uint32_t words; /* a row, in 64-bit words */
    struct nigh__section_entry
        sections[NIGH__SECTION_KNOWN]; /* those of the table we know, by type; offset 0: not there */

    char *scheme; /* owned, terminated */
    struct nigh__id_key id_key;

    /* Inside the map.  Whoever reads here does so inside a guard (base/guard.h). */
    const uint64_t *rows;            /* signatures * words, 64-byte aligned */
    const uint32_t *group_starts;    /* signatures + 1 */
    const uint32_t *group_documents; /* documents */
    const uint32_t *document_rows;   /* documents */
    const uint64_t *id_offsets;      /* documents + 1, or NULL: named by number */
    const uint8_t *id_bytes;
    const uint32_t *id_lookup;
    const uint64_t *metadata_offsets; /* documents + 1, or NULL */
    const uint8_t *metadata_bytes;
    const uint8_t *weights; /* documents * width_bits, or NULL */
    const uint64_t *masks;  /* signatures * words, or NULL: the bits that count for the first document of each */
    const uint8_t *kept[NIGH__ATTACHMENT_KINDS]; /* or NULL */
    const uint64_t *text_offsets;                /* documents + 1, or NULL: it keeps no texts */
    const struct nigh__text_block *text_blocks;
    const uint8_t *text_bytes;
    const uint32_t *keys;  /* or NULL */
    const uint8_t *values; /* or NULL: no document has any (collection/values.h) */

    /* What stands beside it, by kind. */
    struct nigh__sidecar *sidecars[NIGH__SIDECAR_KINDS]; /* owned; NULL: there is none, or none that can be used: */
    nigh_error sidecar_problems[NIGH__SIDECAR_KINDS];    /* why; NIGH_OK where there simply is none */
};

/*
 * Opens the segment that a manifest names.  Any other file under its name is
 * refused, also a sound one.
 */
nigh_status nigh__segment_open(const struct nigh__file *directory, const struct nigh__manifest_entry *entry,
                               struct nigh__segment **out, nigh_error *error);
void nigh__segment_close(struct nigh__segment *segment); /* accepts NULL */

/*
 * For the state after a commit, which has most segments of the state before it (collection/maps.h).  Whether an open
 * segment is the one that a manifest names: numbers are given once, and the checksum is of the checksums of all in it.
 */
bool nigh__segment_is(const struct nigh__segment *segment, const struct nigh__manifest_entry *entry);
/* The same segment for one more, with nothing beside it yet.  No file is opened; `before` is not loaded. */
nigh_status nigh__segment_again(const struct nigh__file *directory, const struct nigh__segment *before,
                                struct nigh__segment **out, nigh_error *error);

/* What a manifest says of it, and of what is deleted of it. */
struct nigh__living_entry nigh__segment_entry(const struct nigh__segment *segment);

/* Lets all pointers into the map point into it once more: it is another. */
void nigh__segment_point(struct nigh__segment *segment);

/*
 * Opens what stands beside it, which is not open yet: segment->sidecars[kind->number],
 * or sidecar_problems[kind->number] where it cannot be used.  That is no failure; no memory is.
 * `before` is the same segment in a state before this one, or NULL.
 */
nigh_status nigh__segment_open_sidecar(const struct nigh__file *directory, const struct nigh__sidecar_kind *kind,
                                       const struct nigh__segment *before, struct nigh__segment *segment,
                                       nigh_error *error);

/* The error for a fault inside a guard. */
nigh_status nigh__segment_cut(const struct nigh__segment *segment, nigh_error *error);

/*
 * The documents of a row: group_documents[*first .. *first + *count).  Checked
 * against the section; false where the segment lies.  Inside a guard.
 */
bool nigh__segment_group(const struct nigh__segment *segment, uint32_t row, uint32_t *first, uint32_t *count);

/* Whether the bits of a row past the width are 0, as they must be.  Inside a guard. */
static inline bool nigh__segment_padded(const struct nigh__segment *segment, uint64_t row) {
    const uint64_t last = *(const volatile uint64_t *)&segment->rows[(row + 1) * segment->words - 1];
    return (last & ~nigh__last_word_mask(segment->width_bits)) == 0;
}
#define NIGH__PADDING_SET "bits past the width are set"

/* Where the id of a document lies in id_bytes; false where the segment lies.  Inside a guard. */
bool nigh__segment_id_range(const struct nigh__segment *segment, uint32_t document, uint64_t *start, uint64_t *length);

/*
 * These enter a guard themselves.  `document` counts within the segment and is
 * below segment->documents; the rest as nigh_collection_id() and its kin.
 */
nigh_status nigh__segment_id(const struct nigh__segment *segment, uint32_t document, char *buffer, size_t capacity,
                             size_t *length, nigh_error *error);
nigh_status nigh__segment_metadata(const struct nigh__segment *segment, uint32_t document, void *buffer,
                                   size_t capacity, size_t *length, nigh_error *error);
nigh_status nigh__segment_signature(const struct nigh__segment *segment, uint32_t document, uint8_t *out,
                                    nigh_error *error);

/* NIGH_ENOTFOUND, without a detail, where the segment has no weights. */
nigh_status nigh__segment_weights(const struct nigh__segment *segment, uint32_t document, uint8_t *out,
                                  nigh_error *error);

/*
 * A copy of the bytes it keeps of a kind, which agrees with their checksum; the caller
 * frees *bytes.  The segment keeps some.
 */
nigh_status nigh__segment_attachment(const struct nigh__segment *segment, enum nigh__attachment kind, uint8_t **bytes,
                                     size_t *length, nigh_error *error);
/* NIGH_OK where what the segment keeps is these bytes, NIGH_EMISMATCH where it is not. */
nigh_status nigh__segment_keeps(const struct nigh__segment *segment, enum nigh__attachment kind,
                                const nigh_attachment *wanted, nigh_error *error);

/* Whether two keep the same bytes of a kind, by their checksums; each keeps some. */
bool nigh__segment_keeps_as(const struct nigh__segment *a, const struct nigh__segment *b, enum nigh__attachment kind);

/* NIGH_ENOTFOUND, without a detail, where the segment has no document of that id. */
nigh_status nigh__segment_find(const struct nigh__segment *segment, const char *id, size_t id_length,
                               uint32_t *document, nigh_error *error);

/* The error for a lie that was found while reading the section `type`, at its item `index`. */
nigh_status nigh__segment_corrupt(const struct nigh__segment *segment, enum nigh__section_type type, uint64_t index,
                                  const char *why, nigh_error *error);

#endif
