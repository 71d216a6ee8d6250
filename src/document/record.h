/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: pieces of input that may be documents.  Reading is done in two steps,
 * so that the costly one can be shared among threads:
 *
 *     files, archives --split--> batch of records --extract--> id and text
 *                     one reader, in order          any thread, a record at a time
 *
 * Splitting finds where records begin and end and copies their bytes into a
 * batch; it never looks deeper than it must.  Extracting understands them: JSON,
 * HTML, HTTP, character sets.  A batch owns all that its records need, so it can
 * be handed to another thread.  What is malformed becomes a record too, of the
 * kind NIGH__RECORD_PROBLEM, so that problems come out in the order of the input.
 */
#ifndef NIGH_DOCUMENT_RECORD_H
#define NIGH_DOCUMENT_RECORD_H

#include <stdbool.h>

#include "base/memory.h"

enum nigh__record_kind {
    NIGH__RECORD_PROBLEM, /* `problem` says what was skipped; there are no bytes */
    NIGH__RECORD_TEXT,    /* text, UTF-8 unless it begins with another BOM */
    NIGH__RECORD_JSON,    /* one line of JSON, without its end */
    NIGH__RECORD_HTML,    /* a page, in any character set */
    NIGH__RECORD_HTTP,    /* an HTTP response: status line, headers, body */
    NIGH__RECORD_TREC,    /* what is between <DOC> and </DOC> */
    NIGH__RECORD_GIVEN,   /* a document of the caller's: its text, with struct nigh__given before it */
    NIGH__RECORD_GAP,     /* of records as they lie: what is none and has no number, such as empty lines */
};

struct nigh__record {
    enum nigh__record_kind kind;
    nigh_text_format format; /* of the text it is from; NIGH_TEXT_AUTO: of a problem before any was found out */
    size_t bytes, length;    /* place in the batch's bytes */
    size_t id, id_length;    /* place of the id: the path, the URI; in JSON and TREC used where there is no other */
    bool placed;             /* that id says where the record lies: extracting adds what its text is (extract.h) */
    size_t source;           /* place of a terminated name for messages: "FILE" or "ARCHIVE/MEMBER" */
    size_t problem;          /* index into the batch's problems */
    uint64_t number;         /* in all of the input, from 0 */
    uint64_t offset;         /* in the uncompressed source, or NIGH_NO_OFFSET */
    uint64_t line;           /* from 1; 0: not a text of lines */
    bool repaired;           /* bytes that are not UTF-8 were replaced already */
    bool columns;            /* made of the columns of a table, whose numbers are texts */
    bool guessed;            /* a file that was named itself, taken for one plain text */
};

/*
 * What a caller says of a document beside its id and text.  It lies right before the
 * bytes of the record, wherever that is:
 *
 *     label | part | values | struct nigh__given | text | id
 */
struct nigh__given {
    double score;
    size_t label_length, part_length;
    size_t values_length; /* packed (base/value.h) */
};

struct nigh__ledger;

struct nigh__batch {
    struct nigh__array records;  /* of struct nigh__record */
    struct nigh__array bytes;    /* of uint8_t; NIGH__BATCH_PADDING readable bytes follow the last */
    struct nigh__array problems; /* of nigh_error */
    nigh_status status; /* why the input ends after this batch: NIGH_OK (it does not), NIGH_END, or a failure */
    nigh_error error;   /* of that failure */
    struct nigh__ledger *ledger; /* NULL: none */
};

/*
 * Where a document has no id, that of its place ("k.jsonl:453") is not enough: the next input
 * may have another text there.  So ":" and 12 hexadecimal digits are added, the upper 48 bits of
 * the XXH3 of its text.  The same input gives the same ids, and two records with one text differ
 * in their place.
 */
#define NIGH__ID_TEXT_LENGTH 13u

#define NIGH__BATCH_KEEP ((size_t)4 << 20)
#define NIGH__BATCH_PADDING 64u /* simdjson reads so far past the end */

void nigh__batch_init(struct nigh__batch *batch);
void nigh__batch_clear(struct nigh__batch *batch); /* empties it; the memory stays */
/* Gives the memory of an empty batch back where one large document has made it grow. */
void nigh__batch_trim(const nigh_context *context, struct nigh__batch *batch);
void nigh__batch_release(const nigh_context *context, struct nigh__batch *batch);

static inline const struct nigh__record *nigh__batch_record(const struct nigh__batch *batch, size_t index) {
    return (const struct nigh__record *)batch->records.data + index;
}
static inline const char *nigh__batch_bytes(const struct nigh__batch *batch, size_t place) {
    return (const char *)batch->bytes.data + place;
}

#endif
