/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text by Zipf's law, with topics: as many documents as are wanted, each of which can be made on
 * its own, the same on every machine.
 *
 *     document   words until so many are distinct; a topic, drawn by Zipf's law too
 *     word       half of them from the whole vocabulary, half from the topic's:
 *
 *     vocabulary | 0 1 .. 63 | 64 .. 127 | 128 .. 191 | ...     by rank
 *     a topic's  |   x       |         x |  x         | ...     one of each 64
 *
 * The chance of rank r is about 1 / (r + 20)^1.5: flat at the head, where a stop list would have taken
 * words away, and with a tail of which more than half of the words are in one document only.  Words of
 * a topic come together in documents, as they do in real text.  A word is spelled by its rank, the frequent
 * ones shorter, in a way that no stemmer changes: 5 letters on average.
 *
 * A document of 400 distinct words has 670 words, 4 KB, and takes some 30 us.
 */
#ifndef NIGH_BENCH_ZIPF_TEXT_H
#define NIGH_BENCH_ZIPF_TEXT_H

#include <stddef.h>
#include <stdint.h>

#define ZIPF_WORDS (UINT32_C(1) << 22) /* of the vocabulary */
#define ZIPF_SPELLED 12u               /* letters of a word, at most */
#define ZIPF_MAX_TERMS 1024u           /* of a document */

struct zipf_text {
    uint64_t seed;
    uint32_t terms;        /* distinct, of each document */
    uint32_t topics;       /* 4,096 unless set */
    double highest, width; /* of the distribution */
};

/* A document as it stands: words by rank, repeats and all. */
struct zipf_document {
    uint32_t *words; /* room for all of them; owned */
    size_t word_count, capacity;
    uint32_t terms[ZIPF_MAX_TERMS]; /* distinct, as they first come */
    uint32_t term_count;
    uint32_t topic;
    uint32_t cells[ZIPF_MAX_TERMS * 2]; /* of a hash table of them */
};

void zipf_text_init(struct zipf_text *text, uint64_t seed, uint32_t terms);

/* Document `number`; the room in *out is used again, and zeros at first. */
void zipf_text_document(const struct zipf_text *text, uint64_t number, struct zipf_document *out);
void zipf_document_free(struct zipf_document *document);

/* Spells a word; returns its letters. */
size_t zipf_word_spell(uint32_t word, char out[ZIPF_SPELLED]);

#endif
