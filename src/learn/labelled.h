/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents to learn from, in memory: of each its features with how often they occur,
 * its classes, and what it is for.  They are read once, by several threads, and come
 * out in the order of the input.
 *
 *     rows      | f:c f:c f:c | f:c | ...        of document d: begins[d] .. begins[d + 1)
 *     classes   | 3 | 3 7 | | ...                of document d: class_begins[d] .. ; none: not labelled
 *
 * Features are numbered as they first occur, and so are classes, by their names.
 */
#ifndef NIGH_LEARN_LABELLED_H
#define NIGH_LEARN_LABELLED_H

#include "base/memory.h"
#include "base/progress.h"
#include "text/feature.h"

struct nigh__count {
    uint32_t feature;
    uint32_t count;
};

enum nigh__part { NIGH__PART_TRAIN = 0, NIGH__PART_TEST = 1, NIGH__PART_OTHER = 2 };

struct nigh__labelled {
    const nigh_context *context;
    struct nigh__feature_plan plan;
    uint32_t documents;
    uint32_t features; /* different ones */
    uint32_t classes;
    const uint64_t *begins; /* documents + 1 */
    const struct nigh__count *counts;
    const uint64_t *class_begins;     /* documents + 1 */
    const uint32_t *document_classes; /* ascending within a document */
    const uint8_t *parts;             /* enum nigh__part of each document; TRAIN where the reader has no part_key */
    const uint64_t *hashes;           /* of features, by number */
    const char *const *class_names;   /* terminated */
    bool has_parts;                   /* some document said what it is for */
    char label_key[80];               /* where labels were looked for, for those who miss them; "": nowhere */
    nigh_text_reader_info reader;
    uint64_t empty; /* documents without a feature: they are not here */
    uint64_t bytes; /* of memory, all of this */

    const char *names; /* for nigh__labelled_feature_name(): all of them, and where that of each begins */
    const uint64_t *name_begins;
    const char *class_text; /* what class_names point to */
};

#define NIGH__LEARN_MEMORY (UINT64_C(4) << 30) /* memory_bytes where nobody says */

struct nigh__labelled_options {
    const nigh_learn_options *learning; /* analysis, seed, threads, memory_bytes, limit, progress */
    bool strip_headers;                 /* leave out what stands before the first empty line */
};

/* NIGH_ELIMIT over memory_bytes; NIGH_EINVAL; as nigh_text_reader_next(). */
nigh_status nigh__labelled_read(const nigh_context *context, nigh_text_reader *reader,
                                const struct nigh__labelled_options *options, struct nigh__labelled **out,
                                nigh_error *error);
void nigh__labelled_free(struct nigh__labelled *labelled); /* accepts NULL */

/*
 * The text of a feature as the analyser has it, terminated and cut to 255 bytes; that of ngrams has a
 * space between two.  Lives as long as `labelled`; any number of threads may ask.
 */
const char *nigh__labelled_feature_name(const struct nigh__labelled *labelled, uint32_t feature);

#endif
