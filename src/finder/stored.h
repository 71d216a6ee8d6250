/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of a segment in a file beside it, so that what is within a few bits of a query is found in a stored
 * collection as fast as among rows in memory, and nothing is built before the first answer.
 *
 *     facts     which form, and its numbers
 *     tables    one after the other, each as it lies in memory:
 *
 *     permuted (tables.c)   starts | keys | numbers
 *     sorted   (sorted.c)   offsets | rows, of 64 bits | numbers
 *
 * Each part begins with a cache line; words that are left over are 0.  The file is mapped and looked up where it
 * lies: struct nigh__tables and struct nigh__sorted are views, which own their memory or point into the map, and
 * tables_find.c and sorted_find.c do not know which.
 *
 * What is proven.  Permuted tables of z blocks, x of them leading, have every row within z - x bits of a query in one
 * of the buckets that it looks up: an answer within that radius is exact, for tables as they were written (`nigh
 * check` makes them anew and compares every byte).  The distance of every answer is computed from the rows of the
 * segment, and whatever number a table gives is compared with its bound, so that a damaged file can make an answer
 * poorer or refused, never wrong.  Sorted tables find most, and nothing is proven.
 *
 * Cost.  Four permuted tables of 64 bits take 32 bytes a row and 1 MB; a sorted one takes 12 bytes and a half.
 */
#ifndef NIGH_FINDER_STORED_H
#define NIGH_FINDER_STORED_H

#include "finder/sorted.h"
#include "finder/tables.h"

enum { NIGH__SECTION_TABLE_FACTS = 1, NIGH__SECTION_TABLES = 2 };
enum { NIGH__STORED_PERMUTED = 1, NIGH__STORED_SORTED = 2 };

struct nigh__stored_facts {
    uint32_t form;
    uint32_t tables;
    uint32_t index_bits; /* that a look-up goes by: of a choice of blocks, or of the prefix */
    uint32_t radius;     /* permuted: nothing so near is missed; sorted: what the probes were chosen for */
    uint32_t blocks;     /* permuted; else 0 */
    uint32_t leading;    /* the same */
    uint32_t probes;     /* sorted: look-ups in each table, where nobody says; else 0 */
    uint32_t zero;
};

_Static_assert(sizeof(struct nigh__stored_facts) == 32, "format");

extern const struct nigh__sidecar_kind nigh__tables_sidecar;

/* As nigh__sidecar_kind has them (finder/stored_build.c). */
uint32_t nigh__tables_parameter_like(const struct nigh__segment *like, const struct nigh__segment *segment);
nigh_status nigh__tables_write_like(const struct nigh__segment *like, const struct nigh__segment *segment,
                                    uint32_t threads, const nigh_progress *progress,
                                    struct nigh__sidecar_writer *writer, nigh_error *error);

/* As nigh_tables_build(), in a directory that the caller has locked. */
nigh_status nigh__tables_build_in(nigh_context *context, const struct nigh__file *directory,
                                  const nigh_tables_options *options, nigh_error *error);

struct nigh__stored {
    struct nigh__stored_facts facts;     /* checked, and out of anyone's reach */
    const uint32_t *words;               /* of all tables, inside the map */
    const struct nigh__sidecar *sidecar; /* where they lie */
};

/* The tables of a segment that has some; NIGH_ECORRUPT where they cannot be those of such a segment. */
nigh_status nigh__stored_of_segment(const struct nigh__segment *segment, struct nigh__stored *out, nigh_error *error);

/* Bytes of a table. */
uint64_t nigh__stored_table_bytes(const struct nigh__stored_facts *facts, uint64_t rows, uint32_t width_bits);

struct nigh__tables_plan nigh__stored_tables_plan(const struct nigh__stored_facts *facts);
struct nigh__sorted_plan nigh__stored_sorted_plan(const struct nigh__stored_facts *facts);

/* The rows of a segment as a finder has them: inside the map. */
struct nigh__lookup_rows nigh__stored_rows(const struct nigh__segment *segment);

/*
 * Makes the tables of a segment.  Beside what nigh__tables_make() or nigh__sorted_make() takes there is a copy of the
 * rows, for the file may change while they are counted and placed.  The bytes do not depend on the number of threads.
 */
nigh_status nigh__stored_make(const struct nigh__segment *segment, const struct nigh__stored_facts *facts,
                              uint32_t threads, struct nigh__progress *progress, const struct nigh__table_sink *sink,
                              nigh_error *error);

#endif
