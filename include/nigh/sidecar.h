/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns, slice lists, tables and graphs: files beside the segments of a collection that make
 * searches of large ones fast.  They are made from the collection and can be made again at any time; no
 * document depends on them.
 */
#ifndef NIGH_PUBLIC_SIDECAR_H
#define NIGH_PUBLIC_SIDECAR_H

#include "nigh/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------- columns -- */

/*
 * The signatures stored by column.  A text touches few bits, and a search of columns reads only
 * those, for 512 signatures at a time, and only until it is clear that none of them is among the nearest: the
 * answer of the scan, several times as fast (NIGH_SEARCH_COLUMNS).
 * They are a second copy of the signatures in a file beside each segment, made from it and to
 * be made again at any time.
 */
typedef struct nigh_columns_options {
    size_t size;
    uint64_t min_rows; /* segments of fewer distinct signatures get none, and lose what they have */
    int rebuild;       /* non-zero: also if they are there and sound */
    int keep;          /* non-zero: segments that have columns keep them; they are not read */
    uint32_t threads;  /* 0: one a core; the bytes do not depend on it */
    const nigh_progress *progress;
} nigh_columns_options;

NIGH_API void nigh_columns_options_init(nigh_columns_options *options);

typedef struct nigh_columns_result {
    size_t size;
    uint32_t built;   /* segments that got columns */
    uint32_t kept;    /* that had them */
    uint32_t without; /* too small for any */
    uint64_t bytes;   /* of all columns of the collection now */
} nigh_columns_result;

/* As nigh_lists_build() and nigh_lists_remove(). */
NIGH_API nigh_status nigh_columns_build(nigh_context *context, const char *path, const nigh_columns_options *options,
                                        nigh_columns_result *result, nigh_error *error);
NIGH_API nigh_status nigh_columns_remove(nigh_context *context, const char *path, nigh_error *error);

/* The bytes of the columns of that many distinct signatures; 0 for an invalid width. */
NIGH_API uint64_t nigh_columns_bytes(uint64_t signatures, uint32_t width_bits);

/* ----------------------------------------------------------- slice lists -- */

/*
 * Inverted signature slice lists.  Each signature is cut into slices, and for each
 * value of each slice there is a list of the signatures that have it there; a search
 * looks up the query's slices, and those a few bits from them (see nigh_search()).
 * Lists are made from a collection and can be made again: they are in a file of their own beside each segment,
 * and a segment without lists is still searched, by comparing every signature.
 */
#define NIGH_MIN_SLICE_WIDTH 4u
#define NIGH_MAX_SLICE_WIDTH 28u

typedef struct nigh_lists_options {
    size_t size;
    uint32_t slice_width; /* bits; if they do not divide the width, some slices have one less.  0: by the number
                             of signatures, see nigh_slices_default_width() */
    uint64_t min_rows;    /* segments of fewer distinct signatures get none, and lose those they have */
    int rebuild;          /* non-zero: also if lists of this width are there and sound */
    int keep;             /* non-zero: segments that have lists keep them, of any width and size; they are not read */
    uint32_t threads;     /* 0: one a core; the bytes do not depend on it */
    const nigh_progress *progress;
} nigh_lists_options;

NIGH_API void nigh_lists_options_init(nigh_lists_options *options);

typedef struct nigh_lists_result {
    size_t size;
    uint32_t built;   /* segments that got lists */
    uint32_t kept;    /* that had them */
    uint32_t without; /* too small for any */
    uint64_t bytes;   /* of all lists of the collection now */
    uint64_t postings;
} nigh_lists_result;

/*
 * Gives the segments of a collection their slice lists.  Each file of lists appears
 * whole or not at all; readers that are open keep what they have.
 *
 * Threads: as a writer: one for a collection on the whole machine.
 * Returns: NIGH_OK; NIGH_EINVAL; NIGH_EBUSY while another writes; as
 *          nigh_collection_open(); NIGH_ENOMEM; NIGH_ECANCELLED.
 */
NIGH_API nigh_status nigh_lists_build(nigh_context *context, const char *path, const nigh_lists_options *options,
                                      nigh_lists_result *result, nigh_error *error);
/* Removes them all.  As nigh_lists_build(). */
NIGH_API nigh_status nigh_lists_remove(nigh_context *context, const char *path, nigh_error *error);

/* The number of slices of a signature at a slice width, and the bytes of the lists of that many signatures; 0 for an
 * invalid width. */
NIGH_API uint32_t nigh_slices_count(uint32_t width_bits, uint32_t slice_width);
NIGH_API uint64_t nigh_slices_bytes(uint64_t signatures, uint32_t width_bits, uint32_t slice_width);
/* The default width. */
NIGH_API uint32_t nigh_slices_default_width(uint64_t signatures, uint32_t width_bits);

/* ---------------------------------------------------------------- tables -- */

/*
 * Tables for near-copies: all documents within a few bits of a query, as a finder in memory
 * has them (nigh/finder.h), in a file beside each segment that is mapped and searched in place.  Permuted tables miss
 * nothing within their radius; nigh_search() with a `radius` up to it uses them.  Sorted tables take a third of the
 * space and find most: NIGH_SEARCH_TABLES uses them, and the queries need weights.  A segment has one form or the
 * other.
 */
typedef enum nigh_tables_form {
    NIGH_TABLES_PERMUTED = 0, /* the method 'tables' of finders */
    NIGH_TABLES_SORTED = 1    /* the method 'psm' */
} nigh_tables_form;

typedef struct nigh_tables_options {
    size_t size;
    nigh_tables_form form;
    uint32_t radius; /* permuted: nothing within it is missed; sorted: what `recall` is of.  NIGH_DEFAULT: see
                        nigh_tables_default_radius() */
    uint32_t blocks,
        leading;          /* permuted: z and x of nigh_finder_options; 0: the fewest tables that guarantee the radius */
    uint32_t rotations;   /* sorted: 1 to 3 tables; 0: 1 */
    uint32_t prefix_bits; /* sorted: 1 to 32; 0: by the number of signatures */
    uint32_t probes;      /* sorted: look-ups of a query in each table; 0: as many as `recall` needs */
    double recall;        /* sorted: share of the queries with a near-copy for which one is found; NIGH_DEFAULT: 0.95 */
    uint64_t min_rows;    /* segments of fewer distinct signatures get none, and lose those they have */
    int rebuild;          /* non-zero: also if tables of these settings are there and sound */
    int keep;             /* non-zero: segments that have tables keep them, of any settings; they are not read */
    uint32_t threads;     /* 0: one a core; the bytes do not depend on it */
    const nigh_progress *progress;
} nigh_tables_options;

NIGH_API void nigh_tables_options_init(nigh_tables_options *options);

typedef struct nigh_tables_result {
    size_t size;
    uint32_t built;   /* segments that got tables */
    uint32_t kept;    /* that had them */
    uint32_t without; /* too small for any */
    uint64_t bytes;   /* of all tables of the collection now */
} nigh_tables_result;

/* As nigh_lists_build() and nigh_lists_remove(); NIGH_EINVAL also for a radius that no tables guarantee. */
NIGH_API nigh_status nigh_tables_build(nigh_context *context, const char *path, const nigh_tables_options *options,
                                       nigh_tables_result *result, nigh_error *error);
NIGH_API nigh_status nigh_tables_remove(nigh_context *context, const char *path, nigh_error *error);

/* The bytes of the tables of that many distinct signatures; 0 for invalid options.  NULL: the default ones. */
NIGH_API uint64_t nigh_tables_bytes(uint64_t signatures, uint32_t width_bits, const nigh_tables_options *options);

/* The default radius: 3 of 64 bits, and the same share of other widths, at least 1. */
NIGH_API uint32_t nigh_tables_default_radius(uint32_t width_bits);

/* ----------------------------------------------------------------- graph -- */

/*
 * A graph of near neighbours.  Each distinct signature is a node, with edges to some of
 * those near it that lead in different directions; a search walks along them to ever
 * nearer nodes, from the middle of the neighbourhoods that seem nearest and from nodes
 * that share a slice with the query.  It is made from a collection and can be made
 * again, in a file of its own beside each segment, as slice lists are; the two do not
 * need each other.
 *
 * Any graph can answer queries with masks or weights, but edges that were found in all bits lead to few of
 * their nearest; see `masks`.
 *
 * The graph is the same for the same signatures and options, whatever the number of
 * threads.
 */
typedef struct nigh_graph_options {
    size_t size;
    uint32_t degree;     /* edges of a node, at most; 0: 48.  8 to 256 */
    uint32_t neighbours; /* near ones of each that edges are chosen from; 0: 40.  8 to 256 */
    uint32_t trees;      /* to find them by; 0: 12 */
    uint32_t passes;     /* at most, over neighbours of neighbours; 0: 6 */
    uint64_t seed;       /* of what is chosen at random */
    uint64_t min_rows;   /* segments of fewer distinct signatures get none, and lose what they have */
    int rebuild;         /* non-zero: also if one of these options is there and sound */
    int keep;            /* non-zero: segments that have one keep it, of any options and size; it is not read */
    uint32_t threads;    /* 0: one a core */
    const nigh_progress *progress;
    int masks; /* non-zero: neighbours are found in the bits that count for each document, if the segment keeps
                  masks or weights of these; for collections whose texts ask with masks.  Other segments: in all bits */
    uint32_t sample_step; /* with masks: every so-many-th signature is kept once more, for texts to begin from; 0: every
                             4th of 16,384 and more, fewer beyond two million.  At most 4,096 */
} nigh_graph_options;

NIGH_API void nigh_graph_options_init(nigh_graph_options *options);

typedef struct nigh_graph_result {
    size_t size;
    uint32_t built;   /* segments that got one */
    uint32_t kept;    /* that had one */
    uint32_t without; /* too small */
    uint64_t bytes;   /* of all graphs of the collection now */
    uint64_t edges;   /* of those built */
    double recall;    /* of those built: share of the ten nearest that are among the neighbours, over 200 nodes each */
    uint32_t masked;  /* of those built: whose neighbours were found in the bits that count */
} nigh_graph_result;

/* As nigh_lists_build() and nigh_lists_remove(). */
NIGH_API nigh_status nigh_graph_build(nigh_context *context, const char *path, const nigh_graph_options *options,
                                      nigh_graph_result *result, nigh_error *error);
NIGH_API nigh_status nigh_graph_remove(nigh_context *context, const char *path, nigh_error *error);

/* About how many bytes the graph of this many distinct signatures has, and how many building it needs besides the
 * signatures.
 */
NIGH_API uint64_t nigh_graph_bytes(uint64_t signatures, uint32_t width_bits, const nigh_graph_options *options);
NIGH_API uint64_t nigh_graph_build_bytes(uint64_t signatures, uint32_t width_bits, const nigh_graph_options *options);

#ifdef __cplusplus
}
#endif

#endif
