/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short labelled documents of many classes, as a source: zipf_text.h's, whose topic is the label.  The same number
 * gives the same document on every machine, and none is kept, so that there may be millions of them.
 *
 *     a document   8 to 20 distinct words, 14 on average, half of them its topic's; classes by Zipf's law
 *     its part     "test" of one in ten, drawn; else "train"
 *
 * The Open Directory of the paper on S3H is like this: 2.4 million documents of 14 words, 6,000 classes, 862,050
 * different words.  2.4 million of these have 960,377.
 */
#ifndef NIGH_BENCH_TOPIC_TEXTS_H
#define NIGH_BENCH_TOPIC_TEXTS_H

#include <stdio.h>

#include "nigh.h"
#include "zipf_text.h"

#define TOPIC_TEXTS_LONGEST 4096u /* bytes of a document */

struct topic_texts {
    uint64_t documents;
    struct zipf_text zipf;

    uint64_t next; /* the number of the next document */
    struct zipf_document words;
    char text[TOPIC_TEXTS_LONGEST], label[16];
    void (*ended)(void *user); /* NULL, or told when the last has been read */
    void *user;
};

void topic_texts_init(struct topic_texts *texts, uint64_t documents, uint32_t classes, uint64_t seed);
void topic_texts_free(struct topic_texts *texts);

/* A reader of all of them, from the first on.  `texts` must outlive it; the caller closes it. */
nigh_text_reader *topic_texts_open(nigh_context *context, struct topic_texts *texts);

/* As JSON lines, with "id", "text", "label" and "part". */
void topic_texts_print(struct topic_texts *texts, FILE *out);

#endif
